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
                match key {
                    "id" => seen.put(ID, &mut repo.id, value.text())?,
                    "path" => seen.put(SECOND, &mut repo.path, value.text())?,
                    "name" => seen.put(1 << 2, &mut repo.name, value.text())?,
                    "registered_at" => seen.put(1 << 3, &mut repo.registered_at, value.text())?,
                    "is_git" => seen.put(1 << 4, &mut repo.is_git, value.flag())?,
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
    (seen.needed() && super::check_id(&repo.id).is_ok()).then(|| found.push(repo))
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
                match key {
                    "remote_url" => seen.put(1, &mut state.remote_url, value.text().map(Some))?,
                    "default_branch" => seen.put(1 << 1, &mut state.default_branch, value.text().map(Some))?,
                    "labels" => seen.put(1 << 2, &mut state.labels, value.texts())?,
                    "last_accessed" => seen.put(1 << 3, &mut state.last_accessed, value.text().map(Some))?,
                    "path" => seen.put(1 << 4, &mut state.path, value.text().map(Some))?,
                    "git_dir" => seen.put(1 << 5, &mut state.git_dir, value.text().map(Some))?,
                    "plugin_state" => return None,
                    _ => value.into_table(key, &mut state.extra)?,
                }
            }
        }
    };
    let mut own: Option<&mut Table> = None;
    for line in lines.filter(|line| plugins && !line.is_empty()) {
        if let Some(name) = line.strip_prefix("[plugin_state.").and_then(|rest| rest.strip_suffix(']')) {
            if name.is_empty() || !name.bytes().all(is_bare) || state.plugin_state.contains_key(name) {
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
    // One of ours is hardly shorter; too much room costs nothing, growing copies everything.
    let mut found = Vec::with_capacity(text.len() / 256 + 1);
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
                open.as_mut()?.1.first(ENV)?;
                part = Part::Env;
                continue;
            }
            "[sessions.plugin_state]" => {
                open.as_mut()?.1.first(STATE)?;
                part = Part::State;
                continue;
            }
            _ => {}
        }
        let (key, value) = pair(line)?;
        let (session, seen) = open.as_mut()?;
        match part {
            Part::Session => own(session, seen, key, value)?,
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

fn own(session: &mut Session, seen: &mut Seen, key: &str, value: Plain) -> Option<()> {
    match key {
        "id" => seen.put(ID, &mut session.id, value.text()),
        "name" => seen.put(SECOND, &mut session.name, value.text()),
        "parent_id" => seen.put(1 << 2, &mut session.parent_id, value.text().map(Some)),
        "path" => seen.put(1 << 3, &mut session.path, value.text().map(Some)),
        "labels" => seen.put(1 << 4, &mut session.labels, value.texts()),
        "created_at" => seen.put(1 << 5, &mut session.created_at, value.text()),
        "is_default" => seen.put(1 << 6, &mut session.is_default, value.flag()),
        "bare" => seen.put(1 << 7, &mut session.bare, value.flag()),
        "last_accessed" => seen.put(1 << 8, &mut session.last_accessed, value.text().map(Some)),
        // As values: the general parser knows what goes with them.
        "env" | "plugin_state" => None,
        _ => value.into_table(key, &mut session.extra),
    }
}

fn close_session(open: Option<(Session, Seen)>, found: &mut Vec<Session>) -> Option<()> {
    let Some((session, seen)) = open else { return Some(()) };
    seen.needed().then(|| found.push(session))
}

/// The fields of a block that have been given so far, a bit each; those in `extra` are told apart by the table itself.
#[derive(Default)]
struct Seen(u16);

/// What a block cannot do without has the first bits.
const ID: u16 = 1;
const SECOND: u16 = 2;
const NEEDED: u16 = ID | SECOND;
/// The two tables of a session.
const ENV: u16 = 1 << 14;
const STATE: u16 = 1 << 15;

impl Seen {
    fn needed(&self) -> bool {
        self.0 & NEEDED == NEEDED
    }

    /// `None` when the field has been given already.
    fn first(&mut self, field: u16) -> Option<()> {
        let new = self.0 & field == 0;
        self.0 |= field;
        new.then_some(())
    }

    /// Gives a field its value; `None` when it has one, or this is none.
    fn put<T>(&mut self, field: u16, slot: &mut T, value: Option<T>) -> Option<()> {
        *slot = value?;
        self.first(field)
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

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// `key = value` on one line, the key bare.
fn pair(line: &str) -> Option<(&str, Plain<'_>)> {
    let (key, rest) = line.split_at(line.bytes().position(|byte| !is_bare(byte)).filter(|&end| end > 0)?);
    let value = rest.strip_prefix(" = ")?;
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
