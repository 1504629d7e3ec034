//! The rows of OpenCode's database (agent-formats.md, OpenCode), in the order of the conversations. A column that an
//! older version lacks reads as null. Tables with secrets (`account`, `credential`) are never asked for anything.

use std::collections::HashMap;
use std::ops::ControlFlow;

use rusqlite::{Connection, Row, types::ValueRef};

use crate::records::Record;
use crate::sqlite::columns;

/// A row of `session`.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) folder: String,
    pub(super) title: String,
    pub(super) created: Option<i64>,
    pub(super) updated: Option<i64>,
    pub(super) archived: bool,
}

/// A row of `message` that is being read, and what is known of its session.
pub(super) struct Message<'a> {
    pub(super) id: &'a str,
    pub(super) session: &'a str,
    pub(super) created: Option<i64>,
    pub(super) data: Record<'a>,
}

/// All sessions, oldest first.
pub(super) fn sessions(database: &Connection) -> rusqlite::Result<Vec<Session>> {
    let known = columns(database, "session")?;
    let names = ["id", "parent_id", "directory", "title", "time_created", "time_updated", "time_archived"];
    let wanted: Vec<&str> =
        names.iter().map(|name| if known.iter().any(|column| column == name) { name } else { "NULL" }).collect();
    let mut statement =
        database.prepare(&format!("SELECT {} FROM session ORDER BY time_created, id", wanted.join(", ")))?;
    let rows = statement.query_map([], |row| {
        Ok(Session {
            id: text(row, 0)?,
            parent: Some(text(row, 1)?).filter(|parent| !parent.is_empty()),
            folder: text(row, 2)?,
            title: text(row, 3)?,
            created: number(row, 4)?,
            updated: number(row, 5)?,
            archived: number(row, 6)?.is_some(),
        })
    })?;
    rows.collect()
}

/// The session at the root of each one: sub-agents hang below the conversation that started them. A parent that is
/// gone stands for itself.
pub(super) fn roots(sessions: &[Session]) -> HashMap<&str, &str> {
    let parents: HashMap<&str, &str> =
        sessions.iter().filter_map(|session| Some((session.id.as_str(), session.parent.as_deref()?))).collect();
    let root = |mut id| {
        // Bounded: a circle, which no real database has, ends somewhere on it.
        for _ in 0..64 {
            match parents.get(id) {
                Some(parent) => id = *parent,
                None => break,
            }
        }
        id
    };
    sessions.iter().map(|session| (session.id.as_str(), root(&session.id))).collect()
}

/// One step through the messages.
pub(super) enum Step<'a> {
    /// A message begins.
    Message(&'a Message<'a>),
    /// The next part of the message that began last.
    Part(&'a Message<'a>, Record<'a>),
    /// All parts of that message were handed out.
    End(&'a Message<'a>),
    /// A row whose data cannot be read.
    Bad(&'static str),
}

/// Goes through all messages with their parts, session by session, or through those of some sessions by time.
/// Memory for one message.
pub(super) fn walk(
    database: &Connection,
    only: Option<&[&str]>,
    each: &mut dyn FnMut(Step<'_>) -> ControlFlow<()>,
) -> rusqlite::Result<()> {
    const WHAT: &str = "SELECT m.id, m.session_id, m.time_created, m.data, p.data \
                        FROM message m LEFT JOIN part p ON p.message_id = m.id";
    let (text, names) = match only {
        None => (format!("{WHAT} ORDER BY m.session_id, m.time_created, m.id, p.id"), String::new()),
        Some(ids) => (
            format!(
                "{WHAT} WHERE m.session_id IN (SELECT value FROM json_each(?1)) ORDER BY m.time_created, m.id, p.id"
            ),
            serde_json::to_string(ids).unwrap_or_default(),
        ),
    };
    let mut statement = database.prepare(&text)?;
    let mut rows = match only {
        None => statement.query([])?,
        Some(_) => statement.query([names])?,
    };
    let mut row = rows.next()?;
    while let Some(first) = row {
        let (id, session, created) = (self::text(first, 0)?, self::text(first, 1)?, number(first, 2)?);
        let data = self::text(first, 3)?;
        let message = Record::parse(&data).map(|data| Message { id: &id, session: &session, created, data });
        let flow = match &message {
            Ok(message) => each(Step::Message(message)),
            Err(why) => each(Step::Bad(why)),
        };
        if flow.is_break() {
            return Ok(());
        }
        while let Some(next) = row.filter(|row| row.get_ref(0).is_ok_and(|value| same(value, &id))) {
            let part = self::text(next, 4)?;
            let flow = match (&message, Record::parse(&part)) {
                (Ok(message), Ok(part)) => each(Step::Part(message, part)),
                (_, Err(why)) if !part.is_empty() => each(Step::Bad(why)),
                _ => ControlFlow::Continue(()),
            };
            if flow.is_break() {
                return Ok(());
            }
            row = rows.next()?;
        }
        if let Ok(message) = &message
            && each(Step::End(message)).is_break()
        {
            return Ok(());
        }
    }
    Ok(())
}

fn same(value: ValueRef<'_>, id: &str) -> bool {
    matches!(value, ValueRef::Text(bytes) | ValueRef::Blob(bytes) if String::from_utf8_lossy(bytes) == id)
}

/// The text in a column; empty for what is none.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(at)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}

#[allow(clippy::cast_possible_truncation)]
fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<i64>> {
    Ok(match row.get_ref(at)? {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        _ => None,
    })
}
