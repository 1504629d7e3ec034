//! Every action of the interface, declared once: keys, words for help, footer and palette. Help, footer, palette,
//! the docs and the key map come from this list. Data only.

use tui::action::Action;

const fn action(
    id: &'static str,
    scope: &'static str,
    keys: &'static [&'static str],
    title: &'static str,
    hint: &'static str,
) -> Action {
    Action { id, scope, keys, title, hint, palette: None }
}

const fn command(mut action: Action, name: &'static str) -> Action {
    action.palette = Some(name);
    action
}

/// The scope of keys that mean the same everywhere; on a plugin's tab only the seed's ones count (clause K6).
pub const APP: &str = "app";
/// The scope of keys that mean the same on every tab of ours.
pub const LIST: &str = "list";
/// The scope of a plugin's tab that failed (clauses K9, B9).
pub const FAILED: &str = "failed";

/// The list.
pub const ACTIONS: &[Action] = &[
    command(action("app.help", APP, &["?"], "this help", "help"), "help"),
    action("app.palette", APP, &[":"], "every command, by name", "commands"),
    action("app.next", APP, &["tab"], "next tab", "next"),
    action("app.previous", APP, &["shift+tab"], "previous tab", ""),
    action("app.go", APP, &["1", "2", "3", "4", "5", "6", "7", "8", "9"], "tab 1 to 9", ""),
    command(action("app.reload", APP, &[], "reload; restart a failed plugin", ""), "reload"),
    command(action("app.suspend", APP, &["ctrl+z"], "suspend; `fg` comes back", ""), "suspend"),
    command(action("app.quit", APP, &["q"], "quit", "quit"), "quit"),
    action("list.up", LIST, &["up", "k"], "up", ""),
    action("list.down", LIST, &["down", "j"], "down", ""),
    action("list.page-up", LIST, &["pgup", "ctrl+u"], "one page up", ""),
    action("list.page-down", LIST, &["pgdown", "ctrl+d"], "one page down", ""),
    action("list.top", LIST, &["home", "g"], "first row", ""),
    action("list.bottom", LIST, &["end", "G"], "last row", ""),
    action("list.detail", LIST, &["right", "l"], "to the detail", ""),
    action("list.list", LIST, &["left", "h"], "back to the list", ""),
    action("list.detail-up", LIST, &["shift+up", "K"], "detail up", ""),
    action("list.detail-down", LIST, &["shift+down", "J"], "detail down", ""),
    action("list.filter", LIST, &["/"], "filter the list", "filter"),
    action("list.copy", LIST, &["y"], "copy the path", ""),
    action("list.back", LIST, &["esc"], "back; clears the filter", ""),
    command(action("agents.refresh", "agents", &["r"], "look for agents again", "look again"), "agents refresh"),
    action("agents.detail", "agents", &["enter"], "show the detail", ""),
    command(action("plugins.open", "plugins", &["enter"], "go to its tab", "open"), "plugins open"),
    command(action("plugins.restart", "plugins", &["r"], "restart it", "restart"), "plugins restart"),
    command(action("plugins.log", "plugins", &["o"], "its stderr log", "log"), "plugins log"),
    command(action("plugins.hide", "plugins", &["space"], "hide or show its tab", "hide/show"), "plugins hide"),
    action("failed.restart", FAILED, &["r"], "restart the plugin", "restart"),
    action("failed.log", FAILED, &["enter"], "its stderr log", "log"),
    action("failed.up", FAILED, &["up", "k"], "up", ""),
    action("failed.down", FAILED, &["down", "j"], "down", ""),
    action("failed.page-up", FAILED, &["pgup"], "one page up", ""),
    action("failed.page-down", FAILED, &["pgdown"], "one page down", ""),
    action("failed.top", FAILED, &["home", "g"], "to the start", ""),
    action("failed.bottom", FAILED, &["end", "G"], "to the end", ""),
];

/// The keys that the seed gives to the host while a plugin's tab is active and not capturing, and `ctrl+c`
/// (clause K6: nothing may be added).
pub fn global(key: &str) -> bool {
    matches!(key, "q" | "?" | ":" | "tab" | "shift+tab" | "ctrl+c") || matches!(key.as_bytes(), [b'1'..=b'9'])
}
