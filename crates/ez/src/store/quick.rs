//! The fast way through the state files in the layout that we write: line by line, without a general parser. Anything
//! unexpected gives `None`, and the general parser decides; where this answers, that one would say the same (property
//! tests hold it). Pure; only `records` calls it.

use std::borrow::Cow;

use toml::{Table, Value};

use super::records::{Repo, RepoState, Session};

/// The repositories of an `index.toml`, if every line is one that we would write.
pub(super) fn repos(text: &str) -> Option<Vec<Repo>> {
    let mut found = Vec::new();
    let mut open: Option<(Repo, Seen)> = None;
    for line in text.lines() {
        match line {
            "" => {}
            "[[repos]]" => {
                close_repo(open.replace(Default::default()), &mut found)?;
            }
            _ => {
                let (key, value) = pair(line)?;
                let (repo, seen) = open.as_mut()?;
                seen.first(key)?;
                match key {
                    "id" => repo.id = value.text()?,
                    "path" => repo.path = value.text()?,
                    "name" => repo.name = value.text()?,
                    "registered_at" => repo.registered_at = value.text()?,
                    "is_git" => repo.is_git = value.flag()?,
                    _ => value.into_table(key, &mut repo.extra)?,
                }
            }
        }
    }
    close_repo(open, &mut found)?;
    Some(found)
}

fn close_repo(open: Option<(Repo, Seen)>, found: &mut Vec<Repo>) -> Option<()> {
    let Some((repo, seen)) = open else { return Some(()) };
    let whole = seen.has("id") && seen.has("path") && super::check_id(&repo.id).is_ok();
    whole.then(|| found.push(repo))
}

/// What a `repo.toml` says, if every line is one that we would write.
pub(super) fn repo_state(text: &str) -> Option<RepoState> {
    let mut state = RepoState::default();
    let mut seen = Seen::default();
    let mut lines = text.lines();
    let plugins = loop {
        match lines.next() {
            None => break false,
            Some("") => {}
            Some("[plugin_state]") => break true,
            Some(line) => {
                let (key, value) = pair(line)?;
                seen.first(key)?;
                match key {
                    "remote_url" => state.remote_url = Some(value.text()?),
                    "default_branch" => state.default_branch = Some(value.text()?),
                    "labels" => state.labels = value.texts()?,
                    "last_accessed" => state.last_accessed = Some(value.text()?),
                    "path" => state.path = Some(value.text()?),
                    "git_dir" => state.git_dir = Some(value.text()?),
                    "plugin_state" => return None,
                    _ => value.into_table(key, &mut state.extra)?,
                }
            }
        }
    };
    let mut own: Option<&mut Table> = None;
    for line in lines.filter(|line| plugins && !line.is_empty()) {
        if let Some(name) = line.strip_prefix("[plugin_state.").and_then(|rest| rest.strip_suffix(']')) {
            if !is_bare(name) || state.plugin_state.contains_key(name) {
                return None;
            }
            state.plugin_state.insert(name.to_owned(), Value::Table(Table::new()));
            own = state.plugin_state.get_mut(name).and_then(Value::as_table_mut);
        } else {
            let (key, value) = pair(line)?;
            value.into_table(key, own.as_deref_mut()?)?;
        }
    }
    Some(state)
}

#[derive(Clone, Copy)]
enum Part {
    Session,
    Env,
    State,
}

/// The sessions of a `sessions.toml`, if every line is one that we would write.
pub(super) fn sessions(text: &str) -> Option<Vec<Session>> {
    let mut found = Vec::new();
    let mut open: Option<(Session, Seen)> = None;
    let mut part = Part::Session;
    for line in text.lines() {
        match line {
            "" => continue,
            "[[sessions]]" => {
                close_session(open.replace(Default::default()), &mut found)?;
                part = Part::Session;
                continue;
            }
            "[sessions.env]" => {
                open.as_mut()?.1.first("env")?;
                part = Part::Env;
                continue;
            }
            "[sessions.plugin_state]" => {
                open.as_mut()?.1.first("plugin_state")?;
                part = Part::State;
                continue;
            }
            _ => {}
        }
        let (key, value) = pair(line)?;
        let (session, seen) = open.as_mut()?;
        match part {
            Part::Session => {
                seen.first(key)?;
                own(session, key, value)?;
            }
            Part::Env => {
                let value = match value {
                    Plain::Flag(flag) => flag.to_string(),
                    Plain::Other(Value::Integer(number)) => number.to_string(),
                    other => other.text()?,
                };
                if session.env.insert(key.to_owned(), value).is_some() {
                    return None;
                }
            }
            Part::State => value.into_table(key, &mut session.plugin_state)?,
        }
    }
    close_session(open, &mut found)?;
    Some(found)
}

fn own(session: &mut Session, key: &str, value: Plain) -> Option<()> {
    match key {
        "id" => session.id = value.text()?,
        "name" => session.name = value.text()?,
        "parent_id" => session.parent_id = Some(value.text()?),
        "path" => session.path = Some(value.text()?),
        "labels" => session.labels = value.texts()?,
        "created_at" => session.created_at = value.text()?,
        "is_default" => session.is_default = value.flag()?,
        "bare" => session.bare = value.flag()?,
        "last_accessed" => session.last_accessed = Some(value.text()?),
        // As values: the general parser knows what goes with them.
        "env" | "plugin_state" => return None,
        _ => value.into_table(key, &mut session.extra)?,
    }
    Some(())
}

fn close_session(open: Option<(Session, Seen)>, found: &mut Vec<Session>) -> Option<()> {
    let Some((session, seen)) = open else { return Some(()) };
    (seen.has("id") && seen.has("name")).then(|| found.push(session))
}

/// The keys of a block so far that have a field; those in `extra` are told apart by the table itself.
#[derive(Default)]
struct Seen(u16);

const FIELDS: [&str; 16] = [
    "id",
    "name",
    "path",
    "registered_at",
    "is_git",
    "remote_url",
    "default_branch",
    "labels",
    "last_accessed",
    "git_dir",
    "parent_id",
    "created_at",
    "is_default",
    "bare",
    "env",
    "plugin_state",
];

impl Seen {
    fn bit(key: &str) -> u16 {
        FIELDS.iter().position(|field| *field == key).map_or(0, |at| 1 << at)
    }

    fn has(&self, key: &str) -> bool {
        self.0 & Self::bit(key) != 0
    }

    /// `None` when the key is there already.
    fn first(&mut self, key: &str) -> Option<()> {
        let bit = Self::bit(key);
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new.then_some(())
    }
}

/// The value of a line.
enum Plain<'a> {
    Text(Cow<'a, str>),
    Flag(bool),
    Texts(Vec<String>),
    Other(Value),
}

impl Plain<'_> {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    fn flag(self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    fn texts(self) -> Option<Vec<String>> {
        match self {
            Self::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// `None` when the key is there already.
    fn into_table(self, key: &str, table: &mut Table) -> Option<()> {
        let value = match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Flag(flag) => Value::Boolean(flag),
            Self::Texts(texts) => Value::Array(texts.into_iter().map(Value::String).collect()),
            Self::Other(value) => value,
        };
        table.insert(key.to_owned(), value).is_none().then_some(())
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// `key = value` on one line, the key bare.
fn pair(line: &str) -> Option<(&str, Plain<'_>)> {
    let (key, rest) = line.split_at(line.find(' ')?);
    let value = rest.strip_prefix(" = ").filter(|_| is_bare(key))?;
    let simple = match value {
        "true" => Some(Plain::Flag(true)),
        "false" => Some(Plain::Flag(false)),
        _ => plain_string(value).map(|text| Plain::Text(Cow::Borrowed(text))).or_else(|| plain_strings(value)),
    };
    if let Some(value) = simple {
        return Some((key, value));
    }
    // One odd value does not make the whole file slow.
    let table: Table = toml::from_str(line).ok()?;
    let mut entries = table.into_iter();
    let (_, value) = entries.next().filter(|(name, _)| name == key)?;
    let value = match value {
        Value::String(text) => Plain::Text(Cow::Owned(text)),
        Value::Boolean(flag) => Plain::Flag(flag),
        other => Plain::Other(other),
    };
    entries.next().is_none().then_some((key, value))
}

/// A basic string without escapes.
fn plain_string(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.bytes().all(|b| b != b'"' && b != b'\\' && (b >= 0x20 || b == b'\t') && b != 0x7f);
    plain.then_some(inner)
}

/// An array of them. One that holds `", "` itself is cut into pieces that are no strings.
fn plain_strings(value: &str) -> Option<Plain<'_>> {
    let inner = value.strip_prefix('[')?.strip_suffix(']')?;
    if inner.is_empty() {
        return Some(Plain::Texts(Vec::new()));
    }
    let texts: Option<Vec<String>> = inner.split(", ").map(|item| plain_string(item).map(str::to_owned)).collect();
    texts.map(Plain::Texts)
}
