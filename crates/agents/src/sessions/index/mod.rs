//! The index: what every source of every agent says, kept between runs, so that only what changed is read. It writes one
//! disposable file of its own and nothing of the agents'. The `cli` and the tabs of lazyagents call it.

mod merge;
mod read;
mod store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use merge::{Explained, Fate, SIZES, Session, SessionSource, Size, Slot};
use store::Entry;

use super::rows::SkippedRow;
use super::source::Source;
use crate::adapter::{Adapter, Surroundings, all};

/// How far a [`Library::refresh`] is. Called from several threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files that have to be read.
    pub files: usize,
    /// Files that have been read.
    pub done: usize,
}

/// What the index knows at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Every session, the newest first.
    pub sessions: Vec<Session>,
    /// What could not be read, by file.
    pub skipped: Vec<SkippedRow>,
    /// How many files hold sessions.
    pub files: usize,
}

impl Snapshot {
    /// The sessions that `given` may mean: an id, the unique beginning of one, or `agent:id`.
    pub fn find(&self, given: &str) -> Vec<&Session> {
        let (agent, id) = match given.split_once(':') {
            Some((agent, id)) if all().iter().any(|known| known.about().id == agent) => (Some(agent), id),
            _ => (None, given),
        };
        let of_agent = |session: &&Session| agent.is_none_or(|agent| session.agent == agent);
        let exact: Vec<_> = self.sessions.iter().filter(of_agent).filter(|session| session.id == id).collect();
        if !exact.is_empty() || id.is_empty() {
            return exact;
        }
        self.sessions.iter().filter(of_agent).filter(|session| session.id.starts_with(id)).collect()
    }
}

/// The index on disk. Opening never fails: one that is missing, damaged or of another version is made anew.
#[derive(Debug)]
pub struct Library {
    dir: PathBuf,
    around: Surroundings,
    /// Nothing before it was needed.
    entries: Option<Vec<Entry>>,
    warnings: Vec<String>,
}

impl Library {
    /// The index in `dir`, which is made when it is first written.
    pub fn open(dir: &Path, around: &Surroundings) -> Self {
        Self { dir: dir.to_owned(), around: around.clone(), entries: None, warnings: Vec::new() }
    }

    /// What the index says, without looking at any file.
    pub fn known(&mut self) -> Arc<Snapshot> {
        let dir = &self.dir;
        Arc::new(merge::merge(self.entries.get_or_insert_with(|| store::load(dir))))
    }

    /// What went wrong with the index itself; it works all the same.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Looks at every file and reads what changed since. A cancelled one keeps what it has read so far.
    pub fn refresh(&mut self, cancel: &AtomicBool, progress: &(dyn Fn(Progress) + Sync)) -> Arc<Snapshot> {
        let ((found, silent), entries) = self.look_and_load();
        let mut old: HashMap<(&'static str, PathBuf), Entry> =
            entries.into_iter().map(|entry| ((entry.agent, entry.source.path.clone()), entry)).collect();
        let mut kept = Vec::with_capacity(found.len());
        let mut todo = Vec::new();
        for (adapter, source) in found {
            match old.remove(&(adapter.about().id, source.path.clone())) {
                Some(entry) if entry.is_of(&source) => kept.push(entry),
                entry => todo.push((adapter, source, entry)),
            }
        }
        // An agent that could not be looked at keeps what was known of it; elsewhere a file that is gone takes its entry
        // along.
        let unseen = old.extract_if(|(agent, _), _| silent.contains(agent)).map(|(_, entry)| entry);
        kept.extend(unseen);
        let read = self.read(todo, cancel, progress);
        let changed = !old.is_empty() || read.iter().any(|entry| entry.failed.is_none());
        kept.extend(read);
        kept.sort_by(|a, b| (a.agent, &a.source.path).cmp(&(b.agent, &b.source.path)));
        if changed && let Err(failure) = store::save(&self.dir, &kept) {
            self.warnings.push(format!("the index could not be kept: {failure}"));
        }
        self.entries = Some(kept);
        self.known()
    }

    /// Tells `each` what became of every response of the session: counted, or why not.
    pub fn explain(&self, session: &Session, each: &mut Explained<'_>) {
        merge::explain(self.entries.as_deref().unwrap_or_default(), session, each);
    }

    /// What the disk has and what the index had, asked for side by side.
    fn look_and_load(&mut self) -> (Looked, Vec<Entry>) {
        if let Some(entries) = self.entries.take() {
            return (self.look(), entries);
        }
        std::thread::scope(|scope| {
            let loading = scope.spawn(|| store::load(&self.dir));
            let found = self.look();
            (found, loading.join().unwrap_or_default())
        })
    }

    fn look(&self) -> Looked {
        let readers: Vec<_> = all().iter().copied().filter(|adapter| adapter.reads().is_some()).collect();
        let (mut found, mut silent) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            let looking: Vec<_> =
                readers.iter().map(|adapter| scope.spawn(|| look_at(*adapter, &self.around))).collect();
            for (thread, adapter) in looking.into_iter().zip(&readers) {
                match thread.join() {
                    Ok(sources) => found.extend(sources),
                    Err(_) => silent.push(adapter.about().id),
                }
            }
        });
        (found, silent)
    }

    fn read(
        &self,
        mut todo: Vec<(&'static dyn Adapter, Source, Option<Entry>)>,
        cancel: &AtomicBool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Vec<Entry> {
        // The largest ones first, so that no thread is left alone with one at the end.
        todo.sort_by_key(|(_, source, _)| source.size);
        let files = todo.len();
        let (todo, done, read) = (Mutex::new(todo), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files).min(8);
        let work = || {
            let mut buffer = read::Buffer::default();
            let mut own = Vec::new();
            while !cancel.load(Ordering::Relaxed) {
                let Some((adapter, source, entry)) = todo.lock().unwrap_or_else(PoisonError::into_inner).pop() else {
                    break;
                };
                own.extend(read::entry(adapter, source, entry, &self.dir, &mut buffer));
                progress(Progress { files, done: done.fetch_add(1, Ordering::Relaxed) + 1 });
            }
            read.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
        };
        if workers < 2 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(work);
                }
            });
        }
        let mut entries = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What a cancelled run did not come to is as it was.
        let left = todo.into_inner().unwrap_or_else(PoisonError::into_inner);
        entries.extend(left.into_iter().filter_map(|(_, _, entry)| entry));
        entries
    }
}

/// The sources that there are, and the agents that could not be looked at.
type Looked = (Vec<(&'static dyn Adapter, Source)>, Vec<&'static str>);

fn look_at(adapter: &'static dyn Adapter, around: &Surroundings) -> Vec<(&'static dyn Adapter, Source)> {
    let mut found = Vec::new();
    if let Some(reads) = adapter.reads() {
        reads.sources(around, &adapter.places(around), &mut |source| found.push((adapter, source)));
    }
    found
}
