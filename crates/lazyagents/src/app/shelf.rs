//! The sessions of all agents as the interface shows them: one line each, cleaned and ready, made beside the loop by the
//! thread that looks at the files. Plain data; the Sessions and the Usage tab read it.

use std::sync::Arc;

use agents::sessions::{Session, Snapshot};
use agents::text::Coverage;

/// Which session: the agent's id and the agent's own id of it.
pub type Key = (&'static str, String);

/// Everything that is known of all sessions at one moment.
#[derive(Debug, Default)]
pub struct Shelf {
    /// What the index says.
    pub snapshot: Arc<Snapshot>,
    /// A line for each of its sessions, in the same order: newest first.
    pub lines: Vec<SessionLine>,
    /// Every file was looked at; else this is what was known from before.
    pub complete: bool,
    /// Lines that could not be read, and in how many files.
    pub skipped: (u64, usize),
    /// What is wrong beside that, for people.
    pub problems: Vec<String>,
}

/// One session, in few words; all of them cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLine {
    /// Which one.
    pub key: Key,
    /// The agent's name.
    pub agent: &'static str,
    /// The name the person gave it, its title, or the first thing that was typed.
    pub title: String,
    /// It is the person's name.
    pub named: bool,
    /// The folder it was started in, shortened with `~`; empty when it is not known.
    pub cwd: String,
    /// The last part of that folder.
    pub folder: String,
    /// When it was last used, milliseconds since 1970.
    pub updated: Option<i64>,
    /// All its tokens.
    pub tokens: u64,
    /// An agent's process has it open now.
    pub live: bool,
    /// What a filter looks at, in lower case.
    pub hay: String,
}

impl Shelf {
    /// The place of a session.
    pub fn place(&self, key: &Key) -> Option<usize> {
        self.lines.iter().position(|line| line.key == *key)
    }

    /// What the index says of the session of a line.
    pub fn session(&self, line: usize) -> Option<&Session> {
        self.snapshot.sessions.get(line)
    }
}

/// How far the work beside the loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Files that are being read: done, of.
    pub files: Option<(usize, usize)>,
    /// How much the text store has.
    pub text: Option<Coverage>,
}

/// Sessions that a search found, a part of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Find {
    /// The session.
    pub key: Key,
    /// Matches in it.
    pub hits: u64,
    /// The first places: turn, who (a word), the words around, cleaned and on one line.
    pub excerpts: Vec<(u64, &'static str, String)>,
}

/// How a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindEnd {
    /// Sessions that were searched as they are now, and those that should be.
    pub searched: (u64, u64),
    /// There may be more than were asked for.
    pub more: bool,
    /// Why nothing could be searched, or what could not be read.
    pub problem: Option<String>,
}
