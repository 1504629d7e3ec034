//! Names that belong to the program: its tabs, its commands, its config keys. A plugin can have none of them
//! (seed, first paragraph; clause D6). Data only; discovery, the command line and the docs call it.

/// Tabs of ours, in the default order, also those that later versions bring.
pub const TABS: [&str; 7] = ["skills", "sessions", "agents", "providers", "hooks", "usage", "plugins"];

/// Top-level commands. The list is closed: each one takes an id away from plugins (lazyagents.md, CLI).
pub const COMMANDS: [&str; 21] = [
    "tui",
    "list",
    "enable",
    "disable",
    "install",
    "remove",
    "adopt",
    "migrate-library",
    "skills",
    "sessions",
    "provider",
    "hooks",
    "usage",
    "agents",
    "plugins",
    "doctor",
    "completions",
    "schema",
    "history",
    "undo",
    "help",
];

/// Config keys of ours at the root of `config.yaml`, beside the tabs: a plugin of that id could have no section.
pub const CONFIG_KEYS: [&str; 3] = ["theme", "libraryDir", "tui"];

/// Why `id` cannot be a plugin's; `None` when it can.
pub fn why(id: &str) -> Option<&'static str> {
    if TABS.contains(&id) {
        Some("is a built-in tab")
    } else if COMMANDS.contains(&id) {
        Some("is a command of lazyagents")
    } else if CONFIG_KEYS.contains(&id) {
        Some("is a key of config.yaml")
    } else {
        None
    }
}
