//! What changed since `sessions.bin` was written, in a small file beside it (`news.bin`): one line more in one conversation
//! costs a few kilobytes and not all that is known. Pure.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::family::Keys;
use super::merge::{self, Session};
use super::store::{Entry, Place};
use crate::sessions::rows::SkippedRow;
use crate::sessions::source::Print;

/// Families in it, at most; then everything is written.
const MOST: usize = 200;

/// What changed since.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct News {
    /// Of which file that is.
    pub(super) of: u64,
    pub(super) print: Print,
    pub(super) failing: bool,
    /// Families of that file that are not as they were.
    gone: HashSet<u32>,
    /// What is there instead: sessions with their families, sources, and keys.
    sessions: Vec<(Session, u32)>,
    entries: Vec<Entry>,
    keys: Keys,
    /// All that was left out, and how many sources there are.
    pub(super) skipped: Vec<SkippedRow>,
    pub(super) files: usize,
}

/// One change: the families that are not as they were, and what is there instead.
pub(super) struct Change {
    pub(super) touched: HashSet<u32>,
    pub(super) sessions: Vec<(Session, u32)>,
    pub(super) entries: Vec<Entry>,
    pub(super) keys: Keys,
}

impl News {
    /// None yet.
    pub(super) fn none(of: u64, print: Print) -> Self {
        Self {
            of,
            print,
            failing: false,
            gone: HashSet::new(),
            sessions: Vec::new(),
            entries: Vec::new(),
            keys: Keys::default(),
            skipped: Vec::new(),
            files: 0,
        }
    }

    /// True when nothing changed.
    pub(super) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.entries.is_empty()
    }

    /// Adds a change. False when it becomes too much for a small file.
    pub(super) fn add(&mut self, change: Change) -> bool {
        let Change { touched, sessions, entries, keys } = change;
        self.sessions.retain(|(_, family)| !touched.contains(family));
        self.sessions.extend(sessions);
        self.entries.retain(|entry| !touched.contains(&entry.family));
        self.entries.extend(entries);
        self.keys.exchange(|family| touched.contains(&family), keys);
        self.gone.extend(touched);
        self.gone.len() <= MOST && self.sessions.len() <= MOST && self.entries.len() <= MOST
    }

    /// Says where the facts of its sources are.
    pub(super) fn place(&mut self, of: impl Fn(&Entry) -> Option<Place>) {
        for entry in &mut self.entries {
            entry.place = of(entry);
        }
    }

    /// Puts its sessions in the place of those that are not as they were.
    pub(super) fn sessions(&self, sessions: &mut Vec<(Session, u32)>) {
        sessions.retain(|(_, family)| !self.gone.contains(family));
        sessions.extend(self.sessions.iter().cloned());
        merge::sort(sessions);
    }

    /// The same for the sources and the keys.
    pub(super) fn books(&self, entries: &mut Vec<Entry>, keys: &mut Keys) {
        entries.retain(|entry| !self.gone.contains(&entry.family));
        entries.extend(self.entries.iter().map(Entry::bare));
        keys.exchange(|family| self.gone.contains(&family), self.keys.clone());
    }
}
