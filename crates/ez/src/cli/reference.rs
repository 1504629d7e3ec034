//! The reference pages of ez, made from what the code itself uses: clap's commands, the settings and keys, the table of
//! hooks, the types of the answers. It prints and writes nothing, and no command reaches it; `examples/reference.rs`
//! hands the pages to `cargo xtask docs`.

use std::fmt::Write as _;

use clap::CommandFactory;
use sys::Failure;
use wire::hook::{CONTEXTS, Field, OnError, Part, TABLE};

use super::settings::{Kind, SETTINGS};
use super::{Cli, schema};
use crate::browser::keys;
use crate::store::Config;

/// The first line of every page.
const MADE: &str = "<!-- Made from the code by `cargo xtask docs`. What is changed here by hand is lost. -->\n\n";

/// Every page: its path below `docs/reference`, and its text.
pub fn pages() -> Vec<(String, String)> {
    let page = |file: &str, text: String| (format!("ez/{file}"), format!("{MADE}{}\n", text.trim_end()));
    let mut pages = vec![
        page("cli.md", cli()),
        page("config.md", config()),
        page("protocol.md", protocol()),
        page("environment.md", environment()),
        page("exit-codes.md", exit_codes()),
        page("keys.md", keys()),
    ];
    for (name, _, make) in schema::SCHEMAS {
        let text = serde_json::to_string_pretty(&make()).unwrap_or_default();
        pages.push((format!("ez/schema/{name}.json"), text + "\n"));
    }
    pages
}

/// A table. Bars inside cells are escaped, line ends become blanks.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let clean = |cell: &String| cell.replace('|', "\\|").replace('\n', " ");
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.iter().map(clean).collect::<Vec<_>>().join(" | "));
    }
    text
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

fn codes<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(code).collect::<Vec<_>>().join(" ")
}

// ---- the command line

fn cli() -> String {
    let mut command = Cli::command();
    command.build();
    let mut text = "# Commands of ez\n\nQueries take `--json`; data goes to stdout, words for people to stderr. There is no \
                    colour when stdout is not a terminal, with `NO_COLOR`, or with `TERM=dumb`. What the codes mean is in \
                    [exit codes](exit-codes.md).\n\n"
        .to_owned();
    describe(&mut command, "ez", 2, &mut text);
    text.push_str("## Schemas\n\nWhat `ez schema <name>` prints, also as files:\n\n");
    text.push_str(&table(
        &["name", "describes"],
        schema::SCHEMAS.iter().map(|(name, what, _)| {
            let what = if what.starts_with("ez ") { codes(what.split(", ")) } else { (*what).to_owned() };
            vec![format!("[{name}](schema/{name}.json)"), what]
        }),
    ));
    text
}

fn describe(command: &mut clap::Command, path: &str, level: usize, text: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = writeln!(text, "{} `{path}`\n\n{}.\n\n```\n{usage}\n```\n", "#".repeat(level), about.trim_end_matches('.'));
    let also: Vec<_> = command.get_visible_aliases().map(str::to_owned).collect();
    if !also.is_empty() {
        let _ = writeln!(text, "Also: {}\n", codes(also));
    }
    let shown =
        |arg: &&clap::Arg| !arg.is_hide_set() && (level == 2 || !(arg.is_global_set() || arg.get_id() == "help"));
    let rows: Vec<_> = command.get_arguments().filter(shown).map(argument).collect();
    if !rows.is_empty() {
        let _ = writeln!(text, "{}", table(&["argument", "what"], rows));
    }
    if let Some(more) = command.get_after_help() {
        let lines = more.to_string();
        let example: Vec<&str> = lines.lines().skip(1).map(str::trim_start).collect();
        let _ = writeln!(text, "```sh\n{}\n```\n", example.join("\n"));
    }
    let names: Vec<_> =
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(|sub| sub.get_name().to_owned()).collect();
    for name in names.iter().filter(|name| level == 2 || *name != "help") {
        if let Some(sub) = command.find_subcommand_mut(name) {
            describe(sub, &format!("{path} {name}"), 3, text);
        }
    }
}

fn argument(arg: &clap::Arg) -> Vec<String> {
    let value = |arg: &clap::Arg| {
        let name = arg.get_value_names().and_then(|names| names.first()).map_or_else(String::new, ToString::to_string);
        format!("<{}>", name.to_lowercase())
    };
    let takes_value = arg.get_action().takes_values();
    let behind = if takes_value { format!(" {}", value(arg)) } else { String::new() };
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{behind}"),
        (None, Some(long)) => format!("--{long}{behind}"),
        (Some(short), None) => format!("-{short}{behind}"),
        (None, None) if arg.is_required_set() => value(arg),
        (None, None) => format!("[{}]", value(arg).trim_matches(['<', '>'])),
    };
    let mut what = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let choices: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if takes_value && !choices.is_empty() {
        let _ = write!(what, ": {}", codes(choices));
    }
    vec![code(name), what]
}

// ---- config.toml

fn config() -> String {
    let defaults = Config::default();
    let mut text =
        "# config.toml of ez\n\n`~/.config/ez/config.toml`; every key is optional. Commands that change it keep \
                    comments, order, and keys that they do not know. `ez config show --json` says what counts.\n\n## \
                    Settings\n\n"
            .to_owned();
    text.push_str(&table(
        &["key", "is", "default", "does"],
        SETTINGS.iter().map(|setting| {
            let default = match (setting.value)(&defaults) {
                serde_json::Value::Null => "none".to_owned(),
                serde_json::Value::Array(items) if items.is_empty() => "empty".to_owned(),
                serde_json::Value::String(text) if text.is_empty() => "empty".to_owned(),
                _ if setting.key == "session_name_stages" => "a kind, a ticket's prefix, its number".to_owned(),
                other => code(other),
            };
            vec![code(setting.key), setting.kind.words().to_owned(), default, setting.does.to_owned()]
        }),
    ));
    let lists: Vec<_> =
        SETTINGS.iter().filter(|setting| setting.kind == Kind::List).map(|setting| setting.key).collect();
    let _ = writeln!(
        text,
        "\n`ez config set` sets all but the lists ({}).\n\n## Keys\n\n`[keybinds]` maps an action to another key; an empty \
         text takes the key away. The actions are in [keys](keys.md).\n\n```toml\n[keybinds]\nnew_session = \
         \"ctrl-n\"\n```\n\n## Settings of plugins\n\n`[plugin_settings.<plugin>]` holds what a plugin declares \
         (`ez plugin info <plugin>`); `ez config set plugin_settings.<plugin>.<key> <value>` sets one.",
        codes(lists)
    );
    text
}

// ---- the hook protocol

fn protocol() -> String {
    let mut text = "# The hook protocol\n\nA plugin is asked once for each hook that its manifest lists: one line of JSON on \
                    stdin ([request](schema/request.json)), one JSON object on stdout ([response](schema/response.json)), \
                    words for people on stderr. How to write one is in [plugins of ez](../../ez-plugins.md).\n\n## \
                    Hooks\n\n"
        .to_owned();
    text.push_str(&table(
        &["hook", "when", "repository", "in the request", "an error"],
        TABLE.iter().map(|row| {
            let repo = if row.repo { "yes" } else { "a dummy" };
            let parts = codes(row.request.iter().map(|part| part_name(*part)));
            vec![code(row.name), row.when.to_owned(), repo.to_owned(), parts, error_words(row.on_error).to_owned()]
        }),
    ));
    text.push_str(
        "\n`repo` and `config` are always there, `session` and the contexts are `null` where they do not apply. The dummy \
         repository has empty `id` and `path`.\n\n## What counts of a response\n\n`success` decides: `false` is a failure, \
         with or without `error`. All other fields may be left out or null.\n\n",
    );
    let fields = [
        Field::SessionMutations,
        Field::RepoMutations,
        Field::ShellCommands,
        Field::PostShellCommands,
        Field::CdTarget,
        Field::View,
        Field::ResolvedName,
    ];
    let head: Vec<&str> = ["hook"].into_iter().chain(fields.map(field_name)).collect();
    text.push_str(&table(
        &head,
        TABLE.iter().map(|row| {
            let yes = |field: &Field| if row.response.contains(field) { "yes" } else { "" }.to_owned();
            [code(row.name)].into_iter().chain(fields.iter().map(yes)).collect()
        }),
    ));
    let _ = writeln!(
        text,
        "\n## manifest.toml\n\nIn the plugin's folder; as JSON its shape is [manifest](schema/manifest.json). `contexts` of \
         views and keys are the pickers {}.\n\n## Limits\n\nA plugin and all processes of its group are stopped after \
         `plugin_timeout` ({} s). What it prints is the last JSON object with a boolean `success`; noise around it is \
         passed over.",
        codes(CONTEXTS),
        Config::default().plugin_timeout
    );
    text
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Session => "session",
        Part::ViewContext => "view_context",
        Part::BindContext => "bind_context",
        Part::NameResolveContext => "name_resolve_context",
        Part::RenameContext => "rename_context",
    }
}

fn field_name(field: Field) -> &'static str {
    match field {
        Field::SessionMutations => "session_mutations",
        Field::RepoMutations => "repo_mutations",
        Field::ShellCommands => "shell_commands",
        Field::PostShellCommands => "post_shell_commands",
        Field::CdTarget => "cd_target",
        Field::View => "view_*",
        Field::ResolvedName => "resolved_name",
    }
}

fn error_words(policy: OnError) -> &'static str {
    match policy {
        OnError::Abort => "stops the operation, which is undone",
        OnError::Warn => "is a warning; the other plugins are still asked",
        OnError::Show => "is shown, and the picker comes back",
        OnError::Fallback => "means the candidate name",
    }
}

// ---- environment, exit codes, keys

const READ: &[(&str, &[(&str, &str)])] = &[
    (
        "Read",
        &[
            ("HOME", "the home folder; without it the one in the system's record of the user counts"),
            ("XDG_CONFIG_HOME", "in the place of `~/.config`"),
            ("XDG_DATA_HOME", "in the place of `~/.local/share`"),
            ("TMPDIR", "in the place of `/tmp`: the wrapper's files, the log of `--debug`"),
            ("PATH", "where git, fzf, tmux and zellij are looked for"),
            ("VISUAL, EDITOR", "the editor, when `editor` is not set"),
            ("SHELL", "whose start-up file `ez setup` offers to change"),
            ("NO_COLOR", "anything: no colours"),
            ("TERM", "`dumb`: no colours"),
            ("TMUX", "inside tmux its session says which session of ez is the current one"),
            ("ZELLIJ_SESSION_NAME", "the same, inside zellij"),
        ],
    ),
    (
        "Set for plugins",
        &[
            ("EZ_CONFIG_DIR", "the configuration folder"),
            ("EZ_BIN", "the program: in a shell `ez` is a function"),
            ("EZ_DEBUG", "`1` with `--debug`"),
            ("EZ_PLUGIN_DEBUG_LOG", "with `--debug`: a file that this run may write to"),
        ],
    ),
    (
        "Set in your shell",
        &[
            ("(the session's own)", "what `ez session env set` and plugins set, while you are in the session"),
            ("EZ_SAVED_<NAME>", "what a variable of the session hides; it comes back when you leave"),
            ("EZ_ADDED_<NAME>", "the session's variable hides nothing; it goes when you leave"),
        ],
    ),
];

fn environment() -> String {
    let mut text =
        "# Environment of ez\n\nVariables that would send git elsewhere (`GIT_DIR` and its kin) are taken out of \
                    everything that ez starts.\n\n"
            .to_owned();
    for (subject, variables) in READ {
        let rows = variables.iter().map(|(name, does)| vec![codes(name.split(", ")), (*does).to_owned()]);
        let _ = writeln!(text, "## {subject}\n\n{}", table(&["variable", "does"], rows));
    }
    text
}

fn exit_codes() -> String {
    let rows = [
        (0, "done; Esc out of the browser"),
        (Failure::new("").exit_code(), "it could not be done; `doctor` or `plugin check` found a problem"),
        (Failure::usage("").exit_code(), "the command line was not understood, or a picker had no terminal"),
        (Failure::cancelled("").exit_code(), "the person said no, or stopped it"),
    ];
    let mut text = "# Exit codes of ez\n\n".to_owned();
    text.push_str(&table(&["code", "means"], rows.map(|(number, means)| vec![code(number), means.to_owned()])));
    text.push_str(
        "\n`ez session exec` has the code of the command; with `--all` that of the last one that failed. The shell wrapper \
         keeps the code.\n\nWhat is wrong is told on stderr, with the program's name in front and what to do below.\n",
    );
    text
}

fn keys() -> String {
    let config = Config::default();
    let mut text = "# Keys of ez\n\nIn the pickers, as fzf writes keys. All can be changed under `[keybinds]` in \
                    [config.toml](config.md). Enter chooses, Esc goes back one level. A core key wins over a plugin's in \
                    the pickers that use it; `ez doctor` names the losers.\n\n"
        .to_owned();
    let pickers = [
        ("In every list", &keys::VIEWS[..]),
        ("Sessions", keys::actions("session")),
        ("Repositories", keys::actions("repo")),
        ("Folders", keys::actions("workspace")),
        ("Tree, on a session", keys::actions("tree")),
    ];
    for (title, actions) in pickers {
        let rows = actions.iter().map(|action| vec![code(config.key(action)), does(action).to_owned(), code(action)]);
        let _ = writeln!(text, "## {title}\n\n{}", table(&["key", "does", "action"], rows));
    }
    text.push_str("In the name builder `ctrl-p` goes back one step; without fzf `..` does.\n");
    text
}

/// What a core action does.
fn does(action: &str) -> &'static str {
    match action {
        "view_tree" => "everything as a tree",
        "view_workspace" => "the roots, then their folders",
        "view_repo" => "repositories",
        "view_owner" => "owners of the remote URLs, then their repositories",
        "view_label" => "labels, then what carries them",
        "new_session" => "a new session below the chosen one",
        "new_bare_session" => "a new session without a worktree",
        "session_from_dirty" => "moves uncommitted changes into a new session",
        "delete_session" => "says what goes, asks, deletes",
        "rename_session" => "another name",
        "edit_labels" => "labels: `a, b` adds, `-a` takes off",
        "cd_session" => "goes to the folder, without the session's variables",
        "sort_toggle" => "by last use, or by name",
        "note_open" => "the note in your editor",
        "note_cd" => "goes to the note's folder",
        "clone_repo" => "clones into the folder",
        "remove_repo" => "takes the repository off the list",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_described_and_every_setting_has_words() {
        for (action, _) in crate::store::config::KEYS {
            assert_ne!(does(action), "", "{action}");
        }
        assert!(SETTINGS.iter().all(|setting| !setting.does.is_empty()));
    }
}
