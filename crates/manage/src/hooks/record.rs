//! What we wrote into which agent's file: `<data>/hooks-enabled.json`. It holds fingerprints, so that a hook which was
//! changed since, or which somebody else wrote, is never taken for ours. Reads and makes values; the desk writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sys::edit::{Change, Step};
use sys::files::{self, Mode};
use sys::{Failure, edit};

use crate::plan::Act;

/// The longest file that is read, bytes.
const LONGEST: usize = 16 << 20;

/// All that we wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// By agent, by file.
    #[serde(default)]
    pub agents: BTreeMap<String, BTreeMap<PathBuf, Owned>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// What is ours in one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Owned {
    /// The file was not there before.
    #[serde(default)]
    pub made_file: bool,
    /// Keys that were not there before.
    #[serde(default)]
    pub made: Vec<edit::Path>,
    /// How maps and lists were written when nothing was in them.
    #[serde(default)]
    pub hollows: Vec<(edit::Path, String)>,
    /// What we wrote.
    #[serde(default)]
    pub entries: Vec<Mine>,
    /// Hooks that are enabled here, even while every command of one is switched off.
    #[serde(default)]
    pub enabled: BTreeSet<String>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// One element of an event's list that we wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mine {
    /// The hook of the library.
    pub hook: String,
    /// The agent's event.
    pub event: String,
    /// The fingerprint of the element.
    pub fingerprint: String,
}

impl Record {
    fn file(data: &Path) -> PathBuf {
        data.join("hooks-enabled.json")
    }

    /// What is remembered.
    ///
    /// # Errors
    /// When the file is there and cannot be read or understood.
    pub fn load(data: &Path) -> Result<Self, Failure> {
        let path = Self::file(data);
        let Some(bytes) = files::read_bounded(&path, LONGEST)? else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::new(format!("could not understand {}", path.display())).cause(error).hint(
                "it remembers which hooks in agents' files are ours; nothing was written. Mend it or move it away",
            )
        })
    }

    /// The step that writes it.
    pub(super) fn put(&self, data: &Path) -> Result<Act, Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Failure::new("could not write down which hooks are ours").cause(error))?;
        Ok(Act::Put { path: Self::file(data), bytes: format!("{text}\n").into_bytes(), mode: Mode::Private })
    }

    /// What is ours in a file.
    pub fn owned(&self, agent: &str, file: &Path) -> Option<&Owned> {
        self.agents.get(agent)?.get(file)
    }

    /// True for an element of an agent's file that we wrote.
    pub fn is_ours(&self, agent: &str, file: &Path, entry: &agents::hooks::Entry) -> bool {
        let same = |mine: &Mine, print: &str| mine.event == entry.event && mine.fingerprint == print;
        self.owned(agent, file).is_some_and(|owned| {
            let print = entry.fingerprint();
            owned.entries.iter().any(|mine| same(mine, print))
        })
    }

    /// True when a hook is enabled at an agent.
    pub fn is_enabled(&self, agent: &str, file: &Path, hook: &str) -> bool {
        self.owned(agent, file)
            .is_some_and(|owned| owned.enabled.contains(hook) || owned.entries.iter().any(|mine| mine.hook == hook))
    }

    pub(super) fn owned_mut(&mut self, agent: &str, file: &Path) -> &mut Owned {
        self.agents.entry(agent.to_owned()).or_default().entry(file.to_owned()).or_default()
    }

    /// Forgets files in which nothing is ours.
    pub(super) fn tidy(&mut self) {
        for files in self.agents.values_mut() {
            files.retain(|_, owned| !owned.entries.is_empty() || !owned.enabled.is_empty());
        }
        self.agents.retain(|_, files| !files.is_empty());
    }
}

impl Owned {
    /// Nothing of ours is in the file: what is remembered of how it was is old.
    pub(super) fn begin(&mut self, made_file: bool) {
        self.made_file = made_file;
        self.made.clear();
        self.hollows.clear();
    }

    /// True when `hook` wrote such an element.
    pub(super) fn has(&self, hook: &str, event: &str, fingerprint: &str) -> bool {
        self.entries.iter().any(|mine| mine.hook == hook && mine.event == event && mine.fingerprint == fingerprint)
    }

    /// Another hook of the library that wrote the same element.
    pub(super) fn shared(&self, hook: &str, event: &str, fingerprint: &str) -> Option<&str> {
        let same = |mine: &&Mine| mine.hook != hook && mine.event == event && mine.fingerprint == fingerprint;
        self.entries.iter().find(same).map(|mine| mine.hook.as_str())
    }

    pub(super) fn add(&mut self, hook: &str, event: &str, fingerprint: &str) {
        if !self.has(hook, event, fingerprint) {
            let mine = Mine { hook: hook.to_owned(), event: event.to_owned(), fingerprint: fingerprint.to_owned() };
            self.entries.push(mine);
        }
    }

    pub(super) fn forget(&mut self, hook: &str, event: &str, fingerprint: &str) {
        let gone = |mine: &Mine| mine.hook == hook && mine.event == event && mine.fingerprint == fingerprint;
        self.entries.retain(|mine| !gone(mine));
    }

    /// Remembers what the way back of a change to `at` tells: which keys it made, and how what was empty was written.
    pub(super) fn learn(&mut self, at: &[Step], undo: &[Change]) {
        for change in undo {
            // As far as it takes back what was made on the way.
            let (back, hollow) = match change {
                Change::Remove { at, hollow } => (at.as_slice(), hollow),
                Change::Withdraw { at, made, hollow } => (&at[..at.len().saturating_sub(*made).max(1)], hollow),
                _ => continue,
            };
            if let (Some(hollow), Some((_, container))) = (hollow, back.split_last()) {
                self.hollows.retain(|(path, _)| path != container);
                self.hollows.push((container.to_vec(), hollow.clone()));
            }
            for end in back.len()..=at.len() {
                let key = at.get(..end).filter(|path| matches!(path.last(), Some(Step::Key(_))));
                if let Some(key) = key.filter(|key| !self.made.iter().any(|made| made == key)) {
                    self.made.push(key.to_vec());
                }
            }
        }
    }

    pub(super) fn made_key(&self, path: &[Step]) -> bool {
        self.made.iter().any(|made| made == path)
    }

    pub(super) fn hollow(&self, container: &[Step]) -> Option<String> {
        self.hollows.iter().find(|(path, _)| path == container).map(|(_, text)| text.clone())
    }

    /// Forgets what is said of a key that is gone, and of what was in it.
    pub(super) fn unlearn(&mut self, path: &[Step]) {
        self.made.retain(|made| !made.starts_with(path));
        self.hollows.retain(|(container, _)| !container.starts_with(path));
    }
}
