//! The reference pages, made from what the code itself uses: clap's commands, the list of actions, the registry of
//! agents, the types of the wire. It prints and writes nothing, and no command reaches it; `examples/reference.rs`
//! hands the pages to `cargo xtask docs`.

mod messages;

use std::fmt::Write as _;

use agents::adapter;
use clap::CommandFactory;
use sys::{Env, Failure};
use tui::theme::{Role, TOKENS, Theme};

use super::{Cli, schema};
use crate::app::actions::{self, ACTIONS, APP, FAILED, LIST, READER};
use crate::reserved;

/// The first line of every page.
const MADE: &str = "<!-- Made from the code by `cargo xtask docs`. What is changed here by hand is lost. -->\n\n";

/// Every page: its path below `docs/reference`, and its text.
pub fn pages() -> Vec<(String, String)> {
    let page = |file: &str, text: String| (file.to_owned(), format!("{MADE}{text}"));
    let mut pages = vec![
        page("cli.md", cli()),
        page("keys.md", keys()),
        page("config.md", config()),
        page("environment.md", environment()),
        page("exit-codes.md", exit_codes()),
        page("themes.md", themes()),
        page("agents.md", agents()),
        page("reserved.md", reserved()),
        page("messages.md", messages::page()),
    ];
    for (name, _, make) in schema::SCHEMAS {
        let text = serde_json::to_string_pretty(&make()).unwrap_or_default();
        pages.push((format!("schema/{name}.json"), text + "\n"));
    }
    pages
}

/// A table. Bars inside cells are escaped, line ends become blanks.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let clean = |cell: &String| cell.replace('|', "\\|").replace('\n', " ");
    let mut text = line(&head.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    text.push_str(&format!("|{}\n", "---|".repeat(head.len())));
    for row in rows {
        text.push_str(&line(&row.iter().map(clean).collect::<Vec<_>>()));
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
    let mut text = "# Commands\n\nQueries take `--json`; data goes to stdout, words for people to stderr. There is no colour when \
                    stdout is not a terminal, with `NO_COLOR`, or with `TERM=dumb`. What the codes mean is in \
                    [exit codes](exit-codes.md).\n\n"
        .to_owned();
    let said = |what: &str| if what.starts_with("lazyagents ") { code(what) } else { what.to_owned() };
    describe(&mut command, "lazyagents", 2, &mut text);
    text.push_str(
        "## `lazyagents <plugin> ...`\n\nThe plugin's own command: the program becomes `<plugin> ...`, with the same \
         terminal, the same process and its exit code. Every argument is the plugin's, `--help` and `--json` too.\n\n",
    );
    let known: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    let later = reserved::COMMANDS.iter().filter(|name| !known.contains(name));
    let _ = writeln!(text, "## Reserved\n\nNot in this version, and no plugin can be called so: {}.\n", codes(later));
    text.push_str("## Schemas\n\nWhat `lazyagents schema <name>` prints, also as files:\n\n");
    text.push_str(&table(
        &["name", "describes"],
        schema::SCHEMAS.iter().map(|(name, what, _)| vec![format!("[{name}](schema/{name}.json)"), said(what)]),
    ));
    text
}

fn describe(command: &mut clap::Command, path: &str, level: usize, text: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let _ = writeln!(text, "{} `{path}`\n\n{}.\n", "#".repeat(level), about.unwrap_or_default().trim_end_matches('.'));
    let _ = writeln!(text, "```\n{usage}\n```\n");
    let rows: Vec<_> =
        command.get_arguments().filter(|arg| level == 2 || arg.get_id() != "help").map(argument).collect();
    if !rows.is_empty() {
        text.push_str(&table(&["argument", "what"], rows));
        text.push('\n');
    }
    let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
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
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) if arg.is_required_set() => value(arg),
        (None, None) => format!("[{}]", value(arg).trim_matches(['<', '>'])),
    };
    let mut what = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    let choices: Vec<_> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if takes_value && !choices.is_empty() {
        let _ = write!(what, ": {}", codes(choices));
    }
    vec![code(name), what]
}

// ---- keys

fn keys() -> String {
    let mut text =
        "# Keys\n\nEvery action of the interface. Its id is what `tui.keys` in `config.yaml` calls it; the keys there \
                    replace these. What is both a key and a command works in the palette (`:`) too.\n\n"
            .to_owned();
    let scopes = [
        (APP, "Everywhere"),
        (LIST, "Lists of ours"),
        ("sessions", "Sessions"),
        (READER, "A transcript"),
        ("providers", "Providers"),
        ("hooks", "Hooks"),
        ("usage", "Usage"),
        ("agents", "Agents"),
        ("plugins", "Plugins"),
        (FAILED, "A plugin that failed"),
    ];
    for (scope, title) in scopes {
        let rows = ACTIONS.iter().filter(|action| action.scope == scope).map(|action| {
            let palette = action.palette.map(|name| code(format!(":{name}"))).unwrap_or_default();
            let keys = match action.keys {
                [first, .., last] if action.keys.len() > 3 => format!("{} to {}", code(first), code(last)),
                keys => codes(keys),
            };
            vec![keys, action.title.to_owned(), palette, code(action.id)]
        });
        let _ = writeln!(text, "## {title}\n\n{}", table(&["keys", "does", "palette", "id"], rows));
    }
    text.push_str(
        "`ctrl+c` quits on a tab of ours; while something is typed, asked or read it leaves that. It cannot be changed.\n\n",
    );
    let global: Vec<_> = ACTIONS.iter().flat_map(|action| action.keys).filter(|key| actions::global(key)).collect();
    let _ = writeln!(
        text,
        "## On a plugin's tab\n\nThe plugin gets every key but {} and `ctrl+c`, which quits. While its frame is capturing it \
         gets these too; a second `ctrl+c` within a second quits all the same.\n",
        codes(global)
    );
    text.push_str(
        "## How keys are written\n\nA printable key is its character: `a`, `A`, `!`. The others have names: `enter` `esc` `tab` \
         `space` `backspace` `up` `down` `left` `right` `home` `end` `pgup` `pgdown` `insert` `delete` `f1` to `f63`. \
         Modifiers go in front, in this order: `ctrl+` `alt+` `shift+` `meta+` `hyper+` `super+`; `shift+` only where no \
         text is typed (`shift+up`, `shift+tab`). Plugins are sent the same names.\n",
    );
    text
}

// ---- config.yaml

/// A key of `config.yaml`: its name, what may stand there, what it is when it does not, an example, and what it does.
/// A test holds this list and `config.rs` together.
struct Setting {
    key: &'static str,
    kind: &'static str,
    default: &'static str,
    example: &'static str,
    does: &'static str,
}

const SETTINGS: &[Setting] = &[
    Setting {
        key: "theme",
        kind: "text",
        default: "`midnight`",
        example: "theme: daylight",
        does: "the [theme](themes.md); `auto` follows the background of the terminal",
    },
    Setting {
        key: "libraryDir",
        kind: "text",
        default: "`skills` in the data folder",
        example: "libraryDir: ~/skills",
        does: "the library of skills; `~/` is the home folder, a relative path begins there; plugins are told of it",
    },
    Setting {
        key: "tui.startTab",
        kind: "text",
        default: "the first tab",
        example: "tui:\n  startTab: plugins",
        does: "the tab that is open at first",
    },
    Setting {
        key: "tui.tabs",
        kind: "list of texts",
        default: "`sessions`, `hooks`, plugins by file name, then `usage`, `agents`, `plugins`",
        example: "tui:\n  tabs: [agents, plugins]",
        does: "tabs in the wanted order; those that are not named follow in the usual order",
    },
    Setting {
        key: "tui.hidden",
        kind: "list of texts",
        default: "none",
        example: "tui:\n  hidden: [plugins]",
        does: "tabs that are not shown; a hidden plugin is not started, its command works",
    },
    Setting {
        key: "sessions.resumeIn",
        kind: "`here`, `window` or `pane`",
        default: "`here`",
        example: "sessions:\n  resumeIn: window",
        does: "where a session is opened again: in this terminal, or in a new window or pane of tmux or zellij",
    },
    Setting {
        key: "tui.mouse",
        kind: "`true` or `false`",
        default: "`true`",
        example: "tui:\n  mouse: false",
        does: "whether the mouse is ours; `false` leaves it to the terminal, for selecting text",
    },
    Setting {
        key: "tui.keys",
        kind: "map of an action's id to a key or a list of keys",
        default: "none",
        example: "tui:\n  keys: { plugins.restart: [R, f5], list.copy: c }",
        does: "[keys](keys.md) that replace an action's own; an empty list takes them away",
    },
    Setting {
        key: "usage.period",
        kind: "text",
        default: "everything",
        example: "usage:\n  period: 30d",
        does: "what `lazyagents usage` counts without `--since`: `today`, `7d`, `30d`, `90d`, `all`, or what else that takes",
    },
    Setting {
        key: "usage.view",
        kind: "text",
        default: "`daily`",
        example: "usage:\n  view: projects",
        does: "what the rows of `lazyagents usage` are when none is named",
    },
    Setting {
        key: "usage.prices",
        kind: "map of a model to its prices",
        default: "none",
        example: "usage:\n  prices:\n    my-model: { input: 1250000, output: 10000000, cacheRead: 125000, cacheWrite: 1562500, cacheWrite1h: 2500000 }",
        does: "prices in the place of those that come with the program: whole millionths of a dollar per million tokens; `input` \
               and `output` are needed, tokens of a kind without a price have no known cost",
    },
    Setting {
        key: "<plugin id>",
        kind: "anything",
        default: "none",
        example: "hello:\n  greeting: hi",
        does: "a plugin's section, handed to it whole",
    },
];

fn config() -> String {
    let mut text = "# Settings\n\nEvery key of `config.yaml`. All are optional, and a missing file is fine. Unknown keys are kept and \
                    not complained about. What they are for is told in [config.yaml](../config.md).\n\n"
        .to_owned();
    let row =
        |setting: &Setting| vec![code(setting.key), setting.kind.into(), setting.default.into(), setting.does.into()];
    text.push_str(&table(&["key", "is", "without it", "does"], SETTINGS.iter().map(row)));
    text.push_str("\n## Examples\n\n");
    for setting in SETTINGS {
        let _ = writeln!(text, "`{}`\n\n```yaml\n{}\n```\n", setting.key, setting.example);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

// ---- environment

/// Variables that are read, by subject: name and what it does. A test looks for more of them in the sources.
const READ: &[(&str, &[(&str, &str)])] = &[
    (
        "Folders",
        &[
            ("HOME", "the home folder; without it the one in the system's record of the user counts"),
            ("XDG_CONFIG_HOME", "in the place of `~/.config`"),
            ("XDG_DATA_HOME", "in the place of `~/.local/share`"),
            ("XDG_STATE_HOME", "in the place of `~/.local/state`"),
            ("XDG_CACHE_HOME", "in the place of `~/.cache`"),
            ("TMPDIR", "where the demo makes its home, in the place of `/tmp`"),
        ],
    ),
    (
        "Terminal",
        &[
            ("NO_COLOR", "anything but empty: no colours; bold, underline and reverse say what they would"),
            ("TERM", "`dumb`: no colours; with `256color`: 256; names of terminals with all colours are known"),
            ("COLORTERM", "`truecolor` or `24bit`: all colours"),
            ("TERM_PROGRAM", "some terminals with all colours are known by it"),
            ("WT_SESSION", "Windows Terminal: all colours"),
            ("TMUX", "a session is opened again in a window or pane of tmux, where that is wanted"),
            ("ZELLIJ", "the same with zellij"),
        ],
    ),
    (
        "Finding agents",
        &[
            ("PATH", "where programs are looked for first; relative folders are left out"),
            ("NVM_DIR", "in the place of `~/.nvm`"),
            ("NVM_BIN", "the node in use: looked at before the others of nvm"),
            ("FNM_DIR", "in the place of fnm's folders"),
            ("VOLTA_HOME", "in the place of `~/.volta`"),
            ("ASDF_DATA_DIR", "in the place of `~/.asdf`"),
            ("MISE_DATA_DIR", "in the place of mise's folder"),
            ("NPM_CONFIG_PREFIX", "where npm installs; `npm_config_prefix` too"),
            ("NPM_CONFIG_USERCONFIG", "in the place of `~/.npmrc`; `npm_config_userconfig` too"),
            ("BUN_INSTALL", "in the place of `~/.bun`"),
            ("PNPM_HOME", "in the place of pnpm's folders"),
            ("HOMEBREW_PREFIX", "where Homebrew is"),
            ("GOBIN", "where `go install` puts programs"),
            ("GOPATH", "`bin` below it, without `GOBIN`"),
        ],
    ),
    (
        "What tokens cost",
        &[
            ("ANTHROPIC_API_KEY", "set: Claude Code is paid per token; what is in it is not looked at"),
            ("ANTHROPIC_AUTH_TOKEN", "set: what Claude Code pays is not known; what is in it is not looked at"),
            ("ANTHROPIC_BASE_URL", "another endpoint than Anthropic's: what Claude Code pays is not known"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "set: Claude Code is on a subscription; what is in it is not looked at"),
            ("CLAUDE_CODE_USE_BEDROCK", "what Claude Code pays is not known; `_VERTEX` and `_FOUNDRY` too"),
            ("CODEX_API_KEY", "set: Codex is paid per token; what is in it is not looked at"),
            ("GOOGLE_GEMINI_BASE_URL", "set: what Gemini CLI pays is not known"),
        ],
    ),
    (
        "Asking for limits",
        &[
            (
                "ANTHROPIC_BASE_URL",
                "an address on this machine is asked in the place of Anthropic; any other is not asked",
            ),
            ("HTTPS_PROXY", "the proxy to go through, `ALL_PROXY` without it; in small letters too"),
            ("NO_PROXY", "hosts and domains that are asked without it; in small letters too"),
        ],
    ),
    ("The demo", &[("VISUAL", "the editor that its plugins may start"), ("EDITOR", "the same, without `VISUAL`")]),
    (
        "Windows",
        &[
            ("USERPROFILE", "the home folder"),
            ("APPDATA", "where settings are"),
            ("LOCALAPPDATA", "where data, state and cache are"),
            ("TEMP", "where the demo makes its home"),
            ("TMP", "the same, without `TEMP`"),
        ],
    ),
];

fn environment() -> String {
    let mut text = "# Environment\n\n`lazyagents` reads these variables, once, at start. An empty one counts as unset, and so does a \
                    relative path where a folder is meant.\n\n"
        .to_owned();
    for (subject, variables) in READ {
        let rows = variables.iter().map(|(name, does)| vec![code(name), (*does).to_owned()]);
        let _ = writeln!(text, "## {subject}\n\n{}", table(&["variable", "does"], rows));
    }
    let overrides = adapter::all().iter().map(|adapter| adapter.about()).filter(|about| !about.overrides.is_empty());
    let rows = overrides.map(|about| vec![about.name.to_owned(), codes(about.overrides)]);
    let _ = writeln!(
        text,
        "## Agents\n\nWhat an agent itself obeys is obeyed, as the agent obeys it.\n\n{}",
        table(&["agent", "variables"], rows)
    );
    let rows = [
        ("LAZYAGENTS_HOME", "the home folder"),
        ("LAZYAGENTS_CONFIG_DIR", "where `config.yaml` and `plugins/` are"),
        ("LAZYAGENTS_DATA_DIR", "where data is"),
        ("LAZYAGENTS_LIBRARY_DIR", "the library of skills"),
        ("LAZYAGENTS_PROTOCOL", "the version of the plugin protocol"),
    ];
    let protocol = wire::plugin::PROTOCOL;
    let _ = writeln!(
        text,
        "## Set for plugins\n\nPlugins, and the commands that they ask for, get the whole environment and these; without \
         slashes at the end, and the same as in `init`. `LAZYAGENTS_PROTOCOL` is `{protocol}`.\n\n{}",
        table(&["variable", "is"], rows.map(|(name, is)| vec![code(name), is.to_owned()]))
    );
    text.truncate(text.trim_end().len());
    text + "\n"
}

// ---- exit codes

fn exit_codes() -> String {
    let failed = Failure::new("").exit_code();
    let usage = Failure::usage("").exit_code();
    let cancelled = Failure::cancelled("").exit_code();
    let rows = [
        ("0".to_owned(), "done"),
        (failed.to_string(), "it could not be done; `doctor` found a problem; `plugins info` got no manifest"),
        (usage.to_string(), "the command line was not understood, or names a command that this version does not have"),
        (cancelled.to_string(), "the person said no"),
        ("128 + n".to_owned(), "the signal n (TERM, HUP, INT, QUIT), sent from outside, ended the interface"),
    ];
    let mut text = "# Exit codes\n\n".to_owned();
    text.push_str(&table(&["code", "means"], rows.map(|(number, means)| vec![code(number), means.to_owned()])));
    text.push_str(
        "\n`lazyagents <plugin> ...` has the plugin's own code; one that a signal ended ends `lazyagents` in the same way.\n\n\
         What is wrong is told on stderr, with the program's name in front and what to do below.\n",
    );
    text
}

// ---- themes

fn themes() -> String {
    let themes: Vec<_> = Theme::builtin_ids().into_iter().filter_map(Theme::builtin).collect();
    let mut text = "# Themes\n\nA theme has a colour for each role and one for each agent. `theme:` in `config.yaml` and `:theme <id>` in \
                    the palette choose one; `theme: auto` takes the dark or the light one, as the terminal says what its \
                    background is.\n\n"
        .to_owned();
    let kinds = themes.iter().map(|theme| {
        let kind = if theme.dark { "dark" } else { "light" };
        vec![code(&theme.id), format!("{kind}{}", if theme.id == Theme::default().id { ", the default" } else { "" })]
    });
    text.push_str(&table(&["theme", "is"], kinds));
    text.push_str(
        "\nPlugins get all of it in `init`: `theme.colors` has every token and every role below, as lower-case `#rrggbb`, \
         whatever the terminal can show. The sixteen colours that a plugin may name by number are `ansi.*`.\n\n## Roles\n\n",
    );
    let head: Vec<&str> = ["role", "token"].into_iter().chain(themes.iter().map(|theme| theme.id.as_str())).collect();
    let rows = Role::ALL.iter().map(|role| {
        let tokens = TOKENS.iter().filter(|(_, of)| of == role).map(|(token, _)| *token);
        let mut row = vec![code(role.name()), codes(tokens)];
        row.extend(themes.iter().map(|theme| code(theme.rgb(*role).to_hex())));
        row
    });
    text.push_str(&table(&head, rows));
    text.push_str("\n## Agents\n\n");
    let head: Vec<&str> = ["agent"].into_iter().chain(themes.iter().map(|theme| theme.id.as_str())).collect();
    let rows = adapter::all().iter().map(|adapter| adapter.about().id).map(|id| {
        let mut row = vec![code(id)];
        row.extend(themes.iter().map(|theme| code(theme.agent_rgb(id).to_hex())));
        row
    });
    text.push_str(&table(&head, rows));
    text
}

// ---- agents

fn agents() -> String {
    let mut text = "# Agents\n\nThe agents that are known, in the order in which plugins are told of them. One is installed when its program \
                    is found or its config folder is there. Its program is looked for on PATH, where its own installer puts \
                    it, and below nvm, fnm, Volta, asdf, mise, npm's prefix, Bun, pnpm, Yarn, Homebrew and the usual folders.\n\n"
        .to_owned();
    let rows = adapter::all().iter().map(|adapter| {
        let about = adapter.about();
        let tried = if about.tried { "yes" } else { "no: known from public documents only" };
        vec![
            code(about.id),
            about.name.to_owned(),
            codes(about.programs),
            codes(about.packages),
            codes(about.overrides),
            tried.to_owned(),
        ]
    });
    let head = ["id", "name", "program", "npm package", "variables it obeys", "tried with the real program"];
    text.push_str(&table(&head, rows));
    let home = "/home/dev";
    let env: Env = [("HOME", home)].into_iter().collect();
    let Some(around) = agents::Surroundings::of(&env) else { return text };
    let short = |path: &std::path::Path| code(path.display().to_string().replacen(home, "~", 1));
    let rows = adapter::all().iter().map(|adapter| {
        let places = adapter.places(&around);
        let own = places.managed_dir.as_deref().map_or_else(|| "none".to_owned(), short);
        let others = places.read_dirs.iter().filter(|dir| Some(*dir) != places.managed_dir.as_ref());
        let others: Vec<_> = others.map(|dir| short(dir)).collect();
        vec![adapter.about().name.to_owned(), short(&places.config_dir), own, others.join(" ")]
    });
    text.push_str("\n## Where they keep their things\n\nOn Linux, with no variable set:\n\n");
    text.push_str(&table(&["agent", "config folder", "own skill folder", "skill folders it reads too"], rows));
    text.push_str(
        "\n## Versions\n\nFrom the package.json beside the program where there is one, else from what the program prints for \
         `--version`, within 6 s, in an empty home and told not to update itself. The answer is remembered by path, size \
         and time of the file.\n",
    );
    text
}

// ---- reserved names

fn reserved() -> String {
    let tabs = reserved::TABS.iter().map(|id| {
        let here = matches!(*id, "agents" | "hooks" | "plugins" | "providers" | "sessions" | "usage");
        vec![code(id), if here { "yes" } else { "later" }.to_owned()]
    });
    let known = Cli::command();
    let commands = reserved::COMMANDS.iter().map(|name| {
        let here = known.get_subcommands().any(|command| command.get_name() == *name);
        vec![code(name), if here { "yes" } else { "later" }.to_owned()]
    });
    format!(
        "# Reserved names\n\nA plugin cannot be called like a tab, a command or a setting of lazyagents, also one that only a \
         later version has. Such a file is never run; `lazyagents plugins` and `lazyagents doctor` say so. The lists are \
         closed: nothing will be added to them.\n\n## Tabs\n\n{}\n## Commands\n\n{}\n## Settings\n\n{}\n",
        table(&["tab", "in this version"], tabs),
        table(&["command", "in this version"], commands),
        codes(reserved::CONFIG_KEYS)
    )
}

#[cfg(test)]
#[path = "reference/tests.rs"]
mod tests;
