//! The index: what every source of every agent says, kept between runs, so that only what changed is read and added up. It
//! writes disposable files of its own and nothing of the agents'. The `cli` and the tabs of lazyagents call it.

mod family;
mod merge;
mod news;
mod read;
mod store;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use merge::{Explained, Fate, SIZES, Session, SessionSource, Size, Slot};
use news::Change;
use read::Todo;
use serde::{Deserialize, Serialize};
use store::{Books, Disk, Entry, State};

use super::rows::SkippedRow;
use super::source::{Print, Source};
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    state: Option<State>,
    warnings: Vec<String>,
}

impl Library {
    /// The index in `dir`, which is made when it is first written.
    pub fn open(dir: &Path, around: &Surroundings) -> Self {
        Self { dir: dir.to_owned(), around: around.clone(), state: None, warnings: Vec::new() }
    }

    /// What the index says, without looking at any file.
    pub fn known(&mut self) -> Arc<Snapshot> {
        let dir = &self.dir;
        Arc::clone(&self.state.get_or_insert_with(|| State::load(dir)).snapshot)
    }

    /// What went wrong with the index itself; it works all the same.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Looks at every file and reads what changed since. A cancelled one keeps what it has read so far.
    pub fn refresh(&mut self, cancel: &AtomicBool, progress: &(dyn Fn(Progress) + Sync)) -> Arc<Snapshot> {
        let (looked, mut state) = self.look_and_load();
        let print = Print::of(looked.found.iter().map(|(adapter, source)| (adapter.about().id, "", source)));
        if state.failing || state.print != print {
            state = match self.update(state, &looked, cancel, progress) {
                Ok(state) => state,
                // Facts that cannot be read back: everything is read again.
                Err(Damaged) => {
                    self.update(State::empty(), &looked, cancel, progress).unwrap_or_else(|_| State::empty())
                }
            };
        }
        let snapshot = Arc::clone(&state.snapshot);
        self.state = Some(state);
        snapshot
    }

    /// Tells `each` what became of every response of the session: counted, or why not.
    pub fn explain(&mut self, session: &Session, each: &mut Explained<'_>) {
        let Some(state) = &mut self.state else { return };
        let at = state.snapshot.sessions.iter().position(|one| one.agent == session.agent && one.id == session.id);
        let Some(family) = at.and_then(|at| state.families.get(at)).copied() else { return };
        let books = state.books();
        let entries = books.entries.iter().filter(|entry| entry.family == family);
        let told: Vec<_> = entries.filter_map(|entry| Some((entry, books.facts(entry)?))).collect();
        let told: Vec<_> = told.iter().map(|(entry, facts)| (*entry, facts)).collect();
        merge::explain(&told, session, each);
    }

    /// What the disk has and what the index had, asked for side by side.
    fn look_and_load(&mut self) -> (Looked, State) {
        if let Some(state) = self.state.take() {
            return (self.look(), state);
        }
        std::thread::scope(|scope| {
            let loading = scope.spawn(|| State::load(&self.dir));
            let found = self.look();
            (found, loading.join().unwrap_or_else(|_| State::empty()))
        })
    }

    fn look(&self) -> Looked {
        let readers: Vec<_> = all().iter().copied().filter(|adapter| adapter.reads().is_some()).collect();
        let mut looked = Looked::default();
        std::thread::scope(|scope| {
            let looking: Vec<_> =
                readers.iter().map(|adapter| scope.spawn(|| look_at(*adapter, &self.around))).collect();
            for (thread, adapter) in looking.into_iter().zip(&readers) {
                match thread.join() {
                    Ok(sources) => looked.found.extend(sources),
                    Err(_) => looked.silent.push(adapter.about().id),
                }
            }
        });
        looked.found.sort_by(|(a, one), (b, other)| place(a.about().id, one).cmp(&place(b.about().id, other)));
        looked
    }

    /// Reads what changed and adds it up: of what did not change only what has something in common with it.
    fn update(
        &mut self,
        mut state: State,
        looked: &Looked,
        cancel: &AtomicBool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<State, Damaged> {
        let mut books = std::mem::take(state.books());
        let (mut kept, mut todo, mut touched) = (Vec::with_capacity(looked.found.len()), Vec::new(), HashSet::new());
        let mut old = std::mem::take(&mut books.entries).into_iter().peekable();
        // An agent that could not be looked at keeps what was known of it; elsewhere a file that is gone takes its entry
        // along.
        let mut lost = |entry: Entry, kept: &mut Vec<Entry>| {
            if looked.silent.contains(&entry.agent) {
                kept.push(entry);
            } else {
                touched.insert(entry.family);
            }
        };
        for (adapter, source) in &looked.found {
            let here = place(adapter.about().id, source);
            while let Some(entry) = old.next_if(|entry| place(entry.agent, &entry.source) < here) {
                lost(entry, &mut kept);
            }
            match old.next_if(|entry| place(entry.agent, &entry.source) == here) {
                Some(entry) if entry.is_of(source) => kept.push(entry),
                before => todo.push(Todo { adapter: *adapter, source: source.clone(), before }),
            }
        }
        old.for_each(|entry| lost(entry, &mut kept));
        let key = |entry: &Entry| (entry.agent, entry.source.path.clone());
        let mut before: HashMap<(&'static str, PathBuf), (u32, Option<String>)> = todo
            .iter()
            .filter_map(|todo| todo.before.as_ref())
            .map(|entry| (key(entry), (entry.family, entry.failed.clone())))
            .collect();
        let mut changed = Vec::new();
        for entry in self.read(todo, books.disk.as_ref(), cancel, progress) {
            match before.remove(&key(&entry)) {
                // It was not come to, or cannot be read, as before.
                Some((_, failed)) if entry.facts.is_none() && failed == entry.failed => kept.push(entry),
                Some((family, _)) => {
                    touched.insert(family);
                    changed.push(entry);
                }
                None => changed.push(entry),
            }
        }
        // The others have vanished meanwhile.
        touched.extend(before.into_values().map(|(family, _)| family));
        if changed.is_empty() && touched.is_empty() {
            kept.sort_by(|a, b| place(a.agent, &a.source).cmp(&place(b.agent, &b.source)));
            books.entries = kept;
            *state.books() = books;
            return Ok(state);
        }
        let mut state = add_up(state, books, kept, changed, touched)?;
        if let Err(failure) = state.save(&self.dir) {
            self.warnings.push(format!("the index could not be kept: {failure}"));
        }
        Ok(state)
    }

    fn read(
        &self,
        mut todo: Vec<Todo>,
        disk: Option<&Disk>,
        cancel: &AtomicBool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Vec<Entry> {
        // The largest ones first, so that no thread is left alone with one at the end.
        todo.sort_by_key(|todo| todo.source.size);
        let files = todo.len();
        let (todo, done, read) = (Mutex::new(todo), AtomicUsize::new(0), Mutex::new(Vec::new()));
        let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files).min(8);
        let work = || {
            let mut buffer = read::Buffer::default();
            let mut own = Vec::new();
            while !cancel.load(Ordering::Relaxed) {
                let Some(todo) = todo.lock().unwrap_or_else(PoisonError::into_inner).pop() else { break };
                own.extend(read::entry(todo, disk, &self.dir, &mut buffer));
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
        entries.extend(left.into_iter().filter_map(|todo| todo.before));
        entries
    }
}

/// Facts that cannot be read back.
#[derive(Debug)]
struct Damaged;

/// What all sources add up to when `changed` takes the place of what was known of them. `touched` are the families of
/// what changed or went; only they, and those that what changed now belongs to, are added up again.
fn add_up(
    mut state: State,
    mut books: Books,
    kept: Vec<Entry>,
    changed: Vec<Entry>,
    mut touched: HashSet<u32>,
) -> Result<State, Damaged> {
    let news = state.take_news();
    for entry in &changed {
        if let Some(facts) = &entry.facts {
            family::hashes(entry.agent, facts, |hash| touched.extend(books.keys.family(hash)));
        }
    }
    let (mut again, mut entries): (Vec<_>, Vec<_>) =
        kept.into_iter().partition(|entry| touched.contains(&entry.family));
    again.extend(changed);
    again.sort_by(|a, b| place(a.agent, &a.source).cmp(&place(b.agent, &b.source)));
    let first = entries.iter().map(|entry| entry.family).max().map_or(0, |last| last.saturating_add(1));
    let loaded = |entry: &Entry| match &entry.facts {
        Some(_) => Ok(None),
        None => books.facts(entry).map(Some).ok_or(Damaged),
    };
    let loaded: Vec<_> = again.iter().map(loaded).collect::<Result<_, _>>()?;
    let told = again
        .iter()
        .zip(&loaded)
        .filter_map(|(entry, loaded)| Some((entry, entry.facts.as_ref().or(loaded.as_ref())?)));
    let merged = merge::merge(&told.collect::<Vec<_>>(), first);
    again.iter_mut().zip(&merged.families).for_each(|(entry, family)| entry.family = *family);
    let change = Change {
        touched: touched.clone(),
        sessions: if news.is_some() { merged.sessions.clone() } else { Vec::new() },
        entries: again.iter().map(Entry::bare).collect(),
        keys: merged.keys.clone(),
    };
    books.keys.exchange(|family| touched.contains(&family), merged.keys);
    entries.extend(again);
    entries.sort_by(|a, b| place(a.agent, &a.source).cmp(&place(b.agent, &b.source)));
    let old = Arc::unwrap_or_clone(std::mem::take(&mut state.snapshot));
    let mut sessions: Vec<(Session, u32)> = old.sessions.into_iter().zip(state.families).collect();
    sessions.retain(|(_, family)| !touched.contains(family));
    sessions.extend(merged.sessions);
    merge::sort(&mut sessions);
    let (sessions, families) = sessions.into_iter().unzip();
    let snapshot = Snapshot { sessions, skipped: merge::skipped(&entries), files: entries.len() };
    books.entries = entries;
    let mut state = State::new(snapshot, families, books);
    state.note(news, change);
    Ok(state)
}

/// The order of sources: by agent and name, byte by byte.
fn place<'a>(agent: &'static str, source: &'a Source) -> (&'static str, &'a [u8]) {
    (agent, source.path.as_os_str().as_encoded_bytes())
}

/// The sources that there are, and the agents that could not be looked at.
#[derive(Default)]
struct Looked {
    found: Vec<(&'static dyn Adapter, Source)>,
    silent: Vec<&'static str>,
}

fn look_at(adapter: &'static dyn Adapter, around: &Surroundings) -> Vec<(&'static dyn Adapter, Source)> {
    let mut found = Vec::new();
    if let Some(reads) = adapter.reads() {
        reads.sources(around, &adapter.places(around), &mut |source| found.push((adapter, source)));
    }
    found
}
