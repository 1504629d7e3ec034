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
/// The scope of a transcript that is read.
pub const READER: &str = "reader";
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
    command(action("app.messages", APP, &[], "everything that was told here, to read again", ""), "messages"),
    command(action("app.undo", APP, &[], "undo the newest change; shown first", ""), "undo"),
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
    action("list.undo", LIST, &["z"], "undo the newest change; shown first", ""),
    action("list.back", LIST, &["esc"], "back; clears the filter", ""),
    action("sessions.resume", "sessions", &["enter"], "open it again in its agent", "resume"),
    action("sessions.resume-in", "sessions", &["alt+enter"], "the same, and choose where", ""),
    action("sessions.elsewhere", "sessions", &["R"], "open it again in another folder", ""),
    command(action("sessions.read", "sessions", &["v"], "read the transcript", "read"), "sessions read"),
    command(
        action("sessions.search", "sessions", &["F"], "search what was said in all of them", "search"),
        "sessions search",
    ),
    command(action("sessions.agent", "sessions", &["f"], "the next agent's only, then all", "agent"), "sessions agent"),
    command(action("sessions.group", "sessions", &["p"], "by project, or not", "project"), "sessions group"),
    command(action("sessions.sort", "sessions", &["s"], "sort by use, tokens, title", "sort"), "sessions sort"),
    command(action("sessions.name", "sessions", &["m"], "give it a name of your own", "name"), "sessions name"),
    command(
        action("sessions.command", "sessions", &["c"], "copy the command that opens it again", ""),
        "sessions command",
    ),
    command(
        action("sessions.export", "sessions", &["x"], "export it as Markdown, secrets masked", "export"),
        "sessions export",
    ),
    command(
        action("sessions.delete", "sessions", &["d"], "delete it, or those that are marked", "delete"),
        "sessions delete",
    ),
    action("sessions.mark", "sessions", &["space"], "mark it", "mark"),
    command(action("sessions.refresh", "sessions", &["r"], "look at all files again", ""), "sessions refresh"),
    action("providers.toggle", "providers", &["space"], "apply or clear it; asks with the differences", "on/off"),
    command(
        action("providers.agent", "providers", &["f"], "for the next agent alone, then for all", "agent"),
        "providers agent",
    ),
    command(action("providers.new", "providers", &["n"], "make a new profile", "new"), "providers new"),
    command(action("providers.edit", "providers", &["e"], "change it", "edit"), "providers edit"),
    command(action("providers.delete", "providers", &["d"], "remove the profile", "remove"), "providers remove"),
    command(action("providers.refresh", "providers", &["r"], "read all files again", ""), "providers refresh"),
    action("providers.detail", "providers", &["enter"], "show the detail", ""),
    action("hooks.toggle", "hooks", &["space"], "enable or disable it; asks with the differences", "on/off"),
    command(action("hooks.agent", "hooks", &["f"], "for the next agent alone, then for all", "agent"), "hooks agent"),
    command(action("hooks.new", "hooks", &["n"], "make a new one", "new"), "hooks new"),
    command(action("hooks.import", "hooks", &["i"], "import those of a plugin's folder", "import"), "hooks import"),
    command(
        action("hooks.switch", "hooks", &["s"], "switch a single command of it on or off", "switch"),
        "hooks switch",
    ),
    command(action("hooks.test", "hooks", &["t"], "run it as an agent would", "test"), "hooks test"),
    command(
        action("hooks.delete", "hooks", &["d"], "remove it everywhere; it goes to the trash", "remove"),
        "hooks remove",
    ),
    command(action("hooks.refresh", "hooks", &["r"], "read all files again", ""), "hooks refresh"),
    action("hooks.detail", "hooks", &["enter"], "show the detail", ""),
    command(
        action("usage.period", "usage", &["p"], "the next period: today, 7, 30, 90 days, all", "period"),
        "usage period",
    ),
    command(action("usage.agent", "usage", &["f"], "the next agent's only, then all", "agent"), "usage agent"),
    command(action("usage.view", "usage", &["v"], "by day, agent, project, model, block", "view"), "usage view"),
    command(
        action("usage.limits", "usage", &["L"], "ask the agents' services for the limits", "ask for limits"),
        "usage limits",
    ),
    command(action("usage.refresh", "usage", &["r"], "look at all files again", "look again"), "usage refresh"),
    action("usage.detail", "usage", &["enter"], "show the detail", ""),
    action("reader.up", READER, &["up", "k"], "up", ""),
    action("reader.down", READER, &["down", "j"], "down", ""),
    action("reader.page-up", READER, &["pgup", "ctrl+u"], "one page up", ""),
    action("reader.page-down", READER, &["pgdown", "ctrl+d"], "one page down", ""),
    action("reader.top", READER, &["home", "g"], "to the start", ""),
    action("reader.bottom", READER, &["end", "G"], "to the end", ""),
    action("reader.next-turn", READER, &["right", "l"], "next turn", ""),
    action("reader.previous-turn", READER, &["left", "h"], "previous turn", ""),
    action("reader.prompt", READER, &["p"], "to your next prompt", "your prompts"),
    action("reader.prompt-back", READER, &["P"], "to your prompt before", ""),
    action("reader.fold", READER, &["enter", "space"], "open or fold the turn's reasoning and tools", "open"),
    action("reader.folds", READER, &["a"], "open or fold all", "all"),
    action("reader.find", READER, &["/"], "search in this transcript", "search"),
    action("reader.next-match", READER, &["n"], "next turn that holds it", ""),
    action("reader.previous-match", READER, &["N"], "the one before", ""),
    action("reader.export", READER, &["x"], "export it as Markdown, secrets masked", "export"),
    action("reader.copy", READER, &["y"], "copy what the turn says", ""),
    action("reader.back", READER, &["esc"], "back to the list; q does it too", "list"),
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
