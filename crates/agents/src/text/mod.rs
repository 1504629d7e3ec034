//! The text store: what people and agents said, compressed and ready to be searched, and the search over it and over
//! the files it does not have yet. It never writes anything but its own disposable database and draws nothing.
//! `lazyagents` calls it for `sessions search`, `sessions index` and the search of the Sessions tab.
//!
//! The way of a text: [`Reads::tell`] gives pieces → `extract` turns them into entries (turn, speaker, tool, text) in
//! chunks of about 64 KiB → `chunk` compresses each and makes a filter of its trigrams → `store` keeps them, newest
//! session first, and `slab` turns many filters on their side. A search asks them, unpacks what may match, and compares
//! for real.

mod build;
mod chunk;
mod extract;
mod find;
mod fold;
mod query;
mod raw;
mod slab;
mod store;

pub use find::{Excerpt, Hit, Outcome, Rest};
pub use query::{Limits, Query};
pub use store::Store;

use std::ops::ControlFlow;
use std::path::Path;

use crate::sessions::{Piece, Reads, Source};

/// One conversation as the store wants it. Lists of them are in the order in which they are read and found: newest
/// first.
#[derive(Clone)]
pub struct Conversation<'a> {
    /// The agent's id.
    pub agent: &'a str,
    /// The agent's id of the session.
    pub session: &'a str,
    /// The folder it was started in.
    pub cwd: Option<&'a str>,
    /// Its last record, milliseconds since 1970.
    pub updated: Option<i64>,
    /// The sources that tell it, in the order in which its turns are counted.
    pub sources: Vec<&'a Source>,
    /// How they are read.
    pub reads: &'a dyn Reads,
    /// A folder of ours for the copy of a database that its agent writes right now.
    pub scratch: &'a Path,
}

impl Conversation<'_> {
    fn tell(&self, source: &Source, from: u64, sink: &mut dyn FnMut(Piece) -> ControlFlow<()>) -> Result<(), String> {
        self.reads.tell_from(source, self.session, from, self.scratch, sink)
    }
}

/// How much of everything is in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Sessions whose every source is in the store as it is now.
    pub sessions: u64,
    /// All sessions.
    pub of_sessions: u64,
    /// Bytes of sources in the store.
    pub bytes: u64,
    /// Bytes of all sources.
    pub of_bytes: u64,
}

impl Coverage {
    /// True when nothing is missing.
    pub fn complete(&self) -> bool {
        self.sessions == self.of_sessions
    }
}

#[cfg(test)]
mod tests;
