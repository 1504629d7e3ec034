//! The library: `<data>/hooks/<name>.json`, one hook each, and a folder `<name>` beside it with the scripts of a pack.
//! The files are the person's as well: what is not known in them stays. Reads only.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agents::hooks::Landing;
use agents::hooks::Rules;
use serde_json::{Map, Value, json};
use sys::Failure;
use sys::files;

/// The longest file of a hook that is read, bytes.
const LONGEST: usize = 4 << 20;

/// The longest name.
const NAME: usize = 64;

/// Commands of one hook, at most.
pub const MOST_COMMANDS: usize = 200;

/// What stands for the folder of a pack in its commands.
pub(super) const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}";

/// A hook: some commands under a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hook {
    /// Its name: that of its file.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it runs, and when.
    pub lines: Vec<Line>,
    /// Commands that are switched off, by their number from 1.
    pub off: BTreeSet<usize>,
    /// Where it was imported from.
    pub origin: Option<String>,
    /// Its file.
    pub path: PathBuf,
    /// The folder of its scripts, there or not.
    pub folder: PathBuf,
    /// A script of it asks for the folder by its variable.
    pub asks_root: bool,
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The event, by Claude's name where it has one, else by the agent's.
    pub event: String,
    /// Which tools or sources; `None` for all.
    pub matcher: Option<String>,
    /// The command line, for a shell.
    pub command: String,
    /// Seconds it may take; `None` leaves it to the agent.
    pub timeout: Option<u64>,
    /// The agent need not wait.
    pub is_async: bool,
}

impl Line {
    /// As the library's file has it.
    pub(super) fn value(&self) -> Value {
        let mut map = Map::new();
        map.insert("event".to_owned(), json!(self.event));
        if let Some(matcher) = &self.matcher {
            map.insert("matcher".to_owned(), json!(matcher));
        }
        map.insert("command".to_owned(), json!(self.command));
        if let Some(timeout) = self.timeout {
            map.insert("timeout".to_owned(), json!(timeout));
        }
        if self.is_async {
            map.insert("async".to_owned(), json!(true));
        }
        Value::Object(map)
    }
}

/// One command as an agent is to run it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Want {
    pub(super) number: usize,
    pub(super) landing: Landing,
    pub(super) command: String,
    pub(super) value: Value,
}

impl Hook {
    /// The command of `line` with the folder of the pack put in.
    pub fn command(&self, line: &Line) -> String {
        let folder = self.folder.to_string_lossy();
        let command = placed(&line.command, &folder);
        // A script that asks for the variable itself would find nothing: agents set it for their own plugins only.
        if self.asks_root && command != line.command {
            format!("export CLAUDE_PLUGIN_ROOT={}; {command}", quoted(&folder))
        } else {
            command
        }
    }

    /// What an agent with these rules is to run of it: each command that is on and has an event there.
    pub(super) fn wants(&self, rules: &Rules) -> Vec<Want> {
        let on = self.lines.iter().enumerate().filter(|(at, _)| !self.off.contains(&(at + 1)));
        let mut wants: Vec<Want> = Vec::new();
        for (at, line) in on {
            let Ok(landing) = rules.land(&line.event, line.matcher.as_deref()) else { continue };
            let command = self.command(line);
            let value = rules.element(&landing, &command, line.timeout, line.is_async);
            // The same command twice in a hook is one.
            if !wants.iter().any(|want| want.landing.event == landing.event && want.value == value) {
                wants.push(Want { number: at + 1, landing, command, value });
            }
        }
        wants
    }

    /// True when the agent has an event for one of its commands at least, on or off.
    pub fn fires(&self, rules: &Rules) -> bool {
        self.lines.iter().any(|line| rules.land(&line.event, line.matcher.as_deref()).is_ok())
    }
}

/// `text` with the folder put in for its variable, quoted as the place in the command line needs it.
fn placed(text: &str, folder: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    let (mut single, mut double) = (false, false);
    while !rest.is_empty() {
        let found = [ROOT, "$CLAUDE_PLUGIN_ROOT"].into_iter().find(|name| rest.starts_with(name));
        if let Some(name) = found.filter(|_| !single) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
            for c in folder.chars() {
                if !plain(c) && (!double || "\"$`\\".contains(c)) {
                    out.push('\\');
                }
                out.push(c);
            }
            rest = &rest[name.len()..];
            continue;
        }
        let mut chars = rest.chars();
        match chars.next() {
            Some('\'') if !double => single = !single,
            Some('"') if !single => double = !double,
            Some('\\') if !single => {
                out.push('\\');
                out.extend(chars.next());
                rest = chars.as_str();
                continue;
            }
            _ => {}
        }
        out.extend(rest.chars().next());
        rest = chars.as_str();
    }
    out
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Every hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// By name.
    pub hooks: Vec<Hook>,
    /// Files that are no hooks, and why: for people, cleaned.
    pub problems: Vec<String>,
}

impl Library {
    /// The hooks in our data folder.
    pub fn load(data: &Path) -> Self {
        let mut library = Self::default();
        let dir = folder(data);
        let Ok(entries) = std::fs::read_dir(&dir) else { return library };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match name(&stem).and_then(|()| read(data, &stem)) {
                Ok(hook) => library.hooks.push(hook),
                Err(failure) => library.problems.push(sys::text::clean(&failure.to_string())),
            }
        }
        library
    }

    /// The hook of that name.
    ///
    /// # Errors
    /// When there is none: the names that there are.
    pub fn get(&self, name: &str) -> Result<&Hook, Failure> {
        self.hooks.iter().find(|hook| hook.name == name).ok_or_else(|| {
            let names: Vec<_> = self.hooks.iter().map(|hook| hook.name.as_str()).collect();
            let shown = sys::text::clean(name);
            let failure = Failure::new(format!("there is no hook {shown} in the library"));
            let failure = match self.problems.iter().find(|problem| problem.contains(&format!("/{shown}.json"))) {
                Some(problem) => failure.cause(problem),
                None => failure,
            };
            if names.is_empty() {
                failure.hint("`lazyagents hooks add` makes one, `lazyagents hooks import` takes those of a plugin")
            } else {
                failure.hint(format!("there are: {}", names.join(", ")))
            }
        })
    }
}

/// The folder of the library.
pub(super) fn folder(data: &Path) -> PathBuf {
    data.join("hooks")
}

/// The file of a hook.
pub(super) fn file(data: &Path, name: &str) -> PathBuf {
    folder(data).join(format!("{name}.json"))
}

/// Refuses what is no name of a hook: names reach paths.
///
/// # Errors
/// When it has other than letters, digits, `.`, `_` and `-`, begins with none of the first two, or is too long.
pub fn name(name: &str) -> Result<(), Failure> {
    let fits = name.len() <= NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        && !name.ends_with('.');
    if fits {
        return Ok(());
    }
    Err(Failure::usage(format!("{} cannot be the name of a hook", sys::text::clean(name)))
        .hint("letters, digits, `.`, `_` and `-`, a letter or digit first, at most 64 of them"))
}

fn read(data: &Path, name: &str) -> Result<Hook, Failure> {
    let path = file(data, name);
    let bytes =
        files::read_bounded(&path, LONGEST)?.ok_or_else(|| Failure::new(format!("there is no {}", path.display())))?;
    let failed = |why: String| Failure::new(format!("could not understand {}", path.display())).cause(why);
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    let root = agents::hooks::parse(&text).map_err(failed)?;
    let mut hook = parse(&root).map_err(failed)?;
    hook.name = name.to_owned();
    hook.folder = folder(data).join(name);
    hook.asks_root = root.get("scripts_ask_root") == Some(&Value::Bool(true));
    hook.path = path;
    Ok(hook)
}

/// What a file of the library says.
fn parse(root: &Value) -> Result<Hook, String> {
    let text = |key: &str| root.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = root.get("hooks").and_then(Value::as_array).ok_or("it has no list `hooks`")?;
    if list.len() > MOST_COMMANDS {
        return Err(format!("it has more than {MOST_COMMANDS} commands"));
    }
    let lines: Result<Vec<Line>, String> =
        list.iter().enumerate().map(|(at, value)| line(value).map_err(|why| format!("hooks[{at}] {why}"))).collect();
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let off = root.get("off").and_then(Value::as_array).into_iter().flatten().filter_map(number).collect();
    let origin = root.get("origin").and_then(Value::as_str).map(str::to_owned);
    Ok(Hook { description: text("description"), lines: lines?, off, origin, ..Hook::default() })
}

fn line(value: &Value) -> Result<Line, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let event = text("event").filter(|event| !event.is_empty()).ok_or("has no event")?;
    let command = text("command").filter(|command| !command.trim().is_empty()).ok_or("has no command")?;
    let timeout = match value.get("timeout") {
        None | Some(Value::Null) => None,
        Some(timeout) => Some(timeout.as_u64().ok_or("has a timeout that is no whole number of seconds")?),
    };
    Ok(Line {
        event: event.to_owned(),
        matcher: text("matcher").filter(|matcher| !matcher.is_empty()).map(str::to_owned),
        command: command.to_owned(),
        timeout,
        is_async: value.get("async") == Some(&Value::Bool(true)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_pack_is_one_word_wherever_it_stands() {
        let folder = "/home/a b/$x's";
        assert_eq!(placed("${CLAUDE_PLUGIN_ROOT}/x.sh", "/home/dev"), "/home/dev/x.sh");
        assert_eq!(placed("$CLAUDE_PLUGIN_ROOT/x.sh -a", folder), "/home/a\\ b/\\$x\\'s/x.sh -a");
        assert_eq!(placed("\"${CLAUDE_PLUGIN_ROOT}/x.sh\"", folder), "\"/home/a b/\\$x's/x.sh\"");
        assert_eq!(placed("echo '${CLAUDE_PLUGIN_ROOT}'", folder), "echo '${CLAUDE_PLUGIN_ROOT}'");
        assert_eq!(placed("echo \\' é ${CLAUDE_PLUGIN_ROOT}", "/x"), "echo \\' é /x");
        let line = Line { command: "${CLAUDE_PLUGIN_ROOT}/x".to_owned(), ..Line::default() };
        let hook = Hook { folder: "/a b".into(), asks_root: true, ..Hook::default() };
        assert_eq!(hook.command(&line), "export CLAUDE_PLUGIN_ROOT='/a b'; /a\\ b/x");
    }

    #[test]
    fn names_stay_names() {
        for good in ["a", "notify-me", "Pack_2.1", "0"] {
            assert!(name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".x", "a/b", "a\\b", "-x", "é", "a b", "x.", "a\u{1b}[m", &"x".repeat(65)] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_placed_folder_comes_back_out_of_a_shell_word(folder in "/[a-z '\"$`\\\\é]{0,12}") {
            let words = agents::hooks::words(&placed("${CLAUDE_PLUGIN_ROOT}/x 1", &folder));
            // The backquote is left to the shell by the reader of words.
            if !folder.contains('`') {
                proptest::prop_assert_eq!(words.first().cloned(), Some(format!("{folder}/x")));
            }
        }
    }
}
