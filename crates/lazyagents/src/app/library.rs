//! Keeps the sessions of all agents at hand for the interface, beside the loop: one thread looks at the files, at the start
//! and whenever something may have changed while a tab shows them; one reads what was said into the text store; one
//! searches. What they find comes back as events. The driver starts and asks them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agents::Surroundings;
use agents::sessions::{Library, Session, Snapshot, Speaker, Watch};
use agents::text::{Hit, Query, Rest, Store};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use jiff::tz::TimeZone;
use sys::{clock, text};

use super::event::Event;
use super::shelf::{Find, FindEnd, SessionLine, Shelf};
use crate::context::Context;
use crate::history::{conversations, first_line};
use manage::aliases::{self, Aliases};

/// How often it is asked whether something changed, while somebody looks.
const LOOK: Duration = Duration::from_secs(2);

/// Looks without a sign of change until all files are looked at anyway: a new agent shows in no known folder.
const LOOKS: u32 = 30;

/// Sessions that one search gives, at most.
const FOUND: usize = 200;

/// Excerpts of one session.
const EXCERPTS: usize = 8;

enum Ask {
    /// Look at all files.
    Look,
    /// Somebody looks at what is found, or nobody does.
    Shown(bool),
}

/// The threads. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Sessions {
    asks: Sender<Ask>,
    ended: Arc<AtomicBool>,
    /// The newest search; set when it is to stop.
    search: Option<Arc<AtomicBool>>,
    dir: PathBuf,
    shown: bool,
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        self.stop_search();
    }
}

impl Sessions {
    /// Begins to look. `None` when no home folder is known or the system has no threads left.
    pub(super) fn start(context: &Arc<Context>, events: &Sender<Event>) -> Option<Self> {
        let around = Surroundings::of(&context.env)?;
        let dir = context.paths.data.join("index");
        let (asks, asked) = bounded(16);
        let sessions = Self { asks, ended: Arc::default(), search: None, dir: dir.clone(), shown: false };
        // The newest snapshot is read into the text store; while that goes on, a newer one waits, at most one.
        let (snapshots, wanted) = bounded::<Arc<Snapshot>>(1);
        let worker = Worker {
            context: Arc::clone(context),
            around,
            dir: dir.clone(),
            events: events.clone(),
            ended: Arc::clone(&sessions.ended),
            snapshots,
        };
        std::thread::Builder::new().name("sessions".into()).spawn(move || worker.run(&asked)).ok()?;
        let (events, ended) = (events.clone(), Arc::clone(&sessions.ended));
        std::thread::Builder::new()
            .name("texts".into())
            .spawn(move || read_texts(&wanted, &dir, &ended, &events))
            .ok()?;
        Some(sessions)
    }

    /// The same as [`Sessions::look`], for another thread.
    pub(super) fn looker(&self) -> impl FnOnce() + Send + 'static {
        let asks = self.asks.clone();
        move || {
            let _ = asks.try_send(Ask::Look);
        }
    }

    /// Looks at all files now.
    pub(super) fn look(&self) {
        // A full queue has a look in it already.
        let _ = self.asks.try_send(Ask::Look);
    }

    /// Says whether a tab that shows them is looked at.
    pub(super) fn shown(&mut self, shown: bool) {
        if self.shown != shown {
            self.shown = shown;
            let _ = self.asks.try_send(Ask::Shown(shown));
        }
    }

    fn stop_search(&mut self) {
        if let Some(search) = self.search.take() {
            search.store(true, Ordering::Relaxed);
        }
    }

    /// Searches what was said; the search before it ends. An empty text only ends it.
    pub(super) fn search(&mut self, number: u64, words: String, snapshot: Arc<Snapshot>, events: &Sender<Event>) {
        self.stop_search();
        if words.trim().is_empty() {
            return;
        }
        let cancel = Arc::new(AtomicBool::new(false));
        self.search = Some(Arc::clone(&cancel));
        let (dir, events) = (self.dir.clone(), events.clone());
        let work = move || search(number, &words, &snapshot, &dir, &cancel, &events);
        // Without a thread nothing is found, and the person sees that the search goes on.
        let _ = std::thread::Builder::new().name("search".into()).spawn(work);
    }
}

struct Worker {
    context: Arc<Context>,
    around: Surroundings,
    dir: PathBuf,
    events: Sender<Event>,
    ended: Arc<AtomicBool>,
    snapshots: Sender<Arc<Snapshot>>,
}

impl Worker {
    fn run(&self, asked: &Receiver<Ask>) {
        let mut library = Library::open(&self.dir, &self.around);
        // What was known the last time is there at once.
        let known = library.known();
        if !known.sessions.is_empty() && !self.tell(&known, &library, false) {
            return;
        }
        let mut snapshot = self.look(&mut library);
        let (mut watch, mut shown, mut quiet) = (Watch::of(&snapshot), false, 0);
        let mut live = agents::running::live(&self.around);
        loop {
            let ask = if shown { asked.recv_timeout(LOOK) } else { asked.recv().map_err(RecvTimeoutError::from) };
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            match ask {
                Ok(Ask::Shown(now)) => {
                    shown = now;
                    // It may have changed while nobody looked.
                    if !shown || !watch.changed() {
                        continue;
                    }
                }
                Ok(Ask::Look) => {}
                Err(RecvTimeoutError::Timeout) => {
                    quiet += 1;
                    let now = agents::running::live(&self.around);
                    if !watch.changed() && quiet < LOOKS {
                        if now != live {
                            live = now;
                            if !self.tell(&snapshot, &library, true) {
                                return;
                            }
                        }
                        continue;
                    }
                    live = now;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            quiet = 0;
            snapshot = self.look(&mut library);
            watch = Watch::of(&snapshot);
        }
    }

    fn look(&self, library: &mut Library) -> Arc<Snapshot> {
        let events = self.events.clone();
        let snapshot = library.refresh(&self.ended, &|progress| {
            // Told now and then; the last one says that it is done.
            if progress.done % 64 == 0 || progress.done == progress.files {
                let files = (progress.done < progress.files).then_some((progress.done, progress.files));
                let _ = events.try_send(Event::Files(files));
            }
        });
        self.tell(&snapshot, library, true);
        // One is waiting already, and will see what is newest in the files themselves.
        let _ = self.snapshots.try_send(Arc::clone(&snapshot));
        snapshot
    }

    /// False when nobody listens any more.
    fn tell(&self, snapshot: &Arc<Snapshot>, library: &Library, complete: bool) -> bool {
        let mut problems: Vec<String> = library.warnings().iter().map(|warning| text::clean(warning)).collect();
        let aliases = aliases::load(&self.context.paths.data).unwrap_or_else(|failure| {
            problems.push(failure.to_string());
            Aliases::new()
        });
        let live = agents::running::live(&self.around);
        let line = |session: &Session| {
            let key = (session.agent, session.id.clone());
            let live = live.contains(&key);
            line(&self.context, session, &aliases, live)
        };
        let mut files: Vec<&str> = snapshot.skipped.iter().map(|skip| skip.path.as_str()).collect();
        files.dedup();
        let shelf = Shelf {
            lines: snapshot.sessions.iter().map(line).collect(),
            skipped: (snapshot.skipped.iter().map(|skip| skip.lines).sum(), files.len()),
            snapshot: Arc::clone(snapshot),
            complete,
            problems,
        };
        self.events.send(Event::Shelf(Arc::new(shelf))).is_ok()
    }
}

/// The line of a session.
fn line(context: &Context, session: &Session, aliases: &Aliases, live: bool) -> SessionLine {
    let alias = aliases.get(&format!("{}:{}", session.agent, session.id));
    let title = alias.cloned().or_else(|| session.title.clone());
    let title = title.or_else(|| session.first_prompt.as_deref().map(first_line)).unwrap_or_default();
    let title: String = text::clean(&first_line(&title)).chars().take(300).collect();
    let cwd = session.cwd.as_deref().map(Path::new);
    let shown = cwd.map(|cwd| text::clean(&context.paths.short(cwd))).unwrap_or_default();
    let folder = cwd.and_then(Path::file_name).map(|name| text::clean(&name.to_string_lossy())).unwrap_or_default();
    let agent = agents::adapter::by_id(session.agent).map_or(session.agent, |adapter| adapter.about().name);
    let hay = format!("{} {agent} {title} {shown} {}", session.agent, session.models.join(" ")).to_lowercase();
    SessionLine {
        key: (session.agent, session.id.clone()),
        agent,
        title,
        named: alias.is_some(),
        cwd: shown,
        folder,
        updated: session.updated,
        tokens: session.usage().total(),
        live,
        hay,
    }
}

/// Reads what was said into the text store, newest first, and says how far it is.
fn read_texts(wanted: &Receiver<Arc<Snapshot>>, dir: &Path, ended: &AtomicBool, events: &Sender<Event>) {
    while let Ok(snapshot) = wanted.recv() {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let mut store = Store::open(dir);
        let built = store.build(&conversations(&snapshot, dir), ended, &|coverage| {
            let _ = events.try_send(Event::Texts(coverage));
        });
        let event = match built {
            Ok(coverage) => Event::Texts(coverage),
            Err(failure) => Event::Failed(failure.to_string()),
        };
        if ended.load(Ordering::Relaxed) || events.send(event).is_err() {
            return;
        }
    }
}

fn search(number: u64, words: &str, snapshot: &Snapshot, dir: &Path, cancel: &AtomicBool, events: &Sender<Event>) {
    let end = |end| Event::Found { number, found: Vec::new(), end: Some(end) };
    let now = jiff::Timestamp::try_from(clock::wall()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let query = match Query::parse(words, &now.to_zoned_datetime(TimeZone::system())) {
        Ok(query) => query,
        Err(why) => {
            let _ = events.send(end(FindEnd { problem: Some(text::clean(&why)), ..FindEnd::default() }));
            return;
        }
    };
    let mut query = query;
    query.limits.sessions = FOUND;
    query.limits.excerpts = EXCERPTS;
    let among = conversations(snapshot, dir);
    let store = Store::open(dir);
    let mut found = Vec::new();
    let outcome = store.search(&among, &query, Rest::Leave, cancel, &mut |hit| {
        let one = &among[hit.conversation];
        let agent = agents::adapter::by_id(one.agent).map(|adapter| adapter.about().id).unwrap_or_default();
        found.push(find((agent, one.session.to_owned()), hit));
        let tell = found.len() == 1 || found.len() >= 20;
        if tell && events.send(Event::Found { number, found: std::mem::take(&mut found), end: None }).is_err() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if cancel.load(Ordering::Relaxed) {
        return;
    }
    let end = FindEnd {
        searched: (outcome.searched, outcome.of),
        more: outcome.found >= FOUND as u64,
        problem: outcome.problems.first().map(|problem| text::clean(problem)),
    };
    let _ = events.send(Event::Found { number, found, end: Some(end) });
}

fn find(key: super::shelf::Key, hit: Hit) -> Find {
    let who = |role| match role {
        Speaker::User => "you",
        Speaker::Assistant => "agent",
        Speaker::System => "note",
    };
    let words = |words: &str| text::clean(&words.split_whitespace().collect::<Vec<_>>().join(" "));
    let excerpts = hit.excerpts.iter().map(|excerpt| (excerpt.turn, who(excerpt.role), words(&excerpt.text)));
    Find { key, hits: hit.hits, excerpts: excerpts.collect() }
}
