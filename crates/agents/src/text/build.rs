//! Fills the store: reads what is new, newest session first, on all cores (two at most), and commits often, so that it
//! may end at any moment and goes on from there. One process builds at a time; another one waits for it.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::Lock;

use super::chunk::{Chunk, Chunker};
use super::store::{self, Doc, DocKey, Docs, Store};
use super::{Conversation, Coverage, extract, slab};
use crate::sessions::{Kind, Numbering, Source};

/// Compressed bytes after which the writer commits.
const COMMIT: usize = 8 << 20;
/// Time after which the writer commits.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Chunks a reader collects before it hands them over.
const PART: usize = 8;
/// Chunks smaller than they should be that growing may leave behind; then the document is made anew.
const CRUMBS: u64 = 16;

/// One document to be read.
struct Job<'a> {
    conversation: &'a Conversation<'a>,
    /// The position of the conversation.
    of: usize,
    source: &'a Source,
    key: DocKey,
    grown: Option<Grown>,
}

/// Where a document that has grown goes on.
struct Grown {
    doc: Doc,
    resume: Resume,
}

/// What is needed to go on when a source has grown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Resume {
    /// The offset of the last piece's record, and how many pieces had it.
    offset: u64,
    pieces: u64,
    numbering: Numbering,
    /// The fingerprint of the beginning of the file, and of its end as it was.
    head: u64,
    tail: u64,
    /// Bytes in the document, and chunks; to know when it is crumbs.
    crumbs: u64,
}

/// What a reader tells the writer of a job.
enum Part {
    Chunks(usize, Vec<Chunk>),
    Done(usize, Box<Resume>),
    /// It cannot be read; it is tried again next time.
    Failed(usize),
}

impl Store {
    /// Reads everything of `conversations` that the store lacks, and drops what is not in `conversations` any more.
    /// Returns how much it has when it is finished or `cancel` is set, which is looked at at every piece. `progress`
    /// is called from this thread a few times a second. While another process builds, this one waits.
    ///
    /// # Errors
    /// When the database cannot be written (a full disk). What was committed stays.
    pub fn build(
        &mut self,
        conversations: &[Conversation<'_>],
        cancel: &AtomicBool,
        progress: &(dyn Fn(Coverage) + Sync),
    ) -> Result<Coverage, Failure> {
        let Some(_lock) = self.turn_to_build(conversations, cancel, progress) else {
            return Ok(self.state(conversations));
        };
        let filled = match fill(self.writer()?, conversations, u64::MAX, cancel, progress) {
            Err(error) if store::damaged(&error) => {
                self.discard();
                fill(self.writer()?, conversations, u64::MAX, cancel, progress)
            }
            other => other,
        };
        filled.map_err(|error| self.failure("write", &error))
    }

    /// As [`Store::build`], for about `time` and no longer: what a search adds while somebody reads its answer. It leaves
    /// sources of more than 8 MiB to [`Store::build`], because one that is not finished is begun again. Does nothing
    /// while another process builds.
    ///
    /// # Errors
    /// As [`Store::build`].
    pub fn grow(&mut self, conversations: &[Conversation<'_>], time: Duration) -> Result<Coverage, Failure> {
        const LARGEST: u64 = 8 << 20;
        let path = self.dir.join("text.lock");
        let Ok(_lock) = Lock::acquire(&path, Duration::ZERO, "lazyagents, reading transcripts") else {
            return Ok(self.state(conversations));
        };
        let cancel = AtomicBool::new(false);
        let db = self.writer()?;
        let filled = std::thread::scope(|scope| {
            let (done, waits) = sync_channel::<()>(0);
            let cancel = &cancel;
            scope.spawn(move || {
                // The sender goes when all is done.
                let _ = waits.recv_timeout(time);
                cancel.store(true, Ordering::Relaxed);
            });
            let filled = fill(db, conversations, LARGEST, cancel, &|_| {});
            drop(done);
            filled
        });
        filled.map_err(|error| self.failure("write", &error))
    }

    /// The lock of the one that builds; `None` when it was cancelled, or somebody else has built everything meanwhile.
    fn turn_to_build(
        &self,
        conversations: &[Conversation<'_>],
        cancel: &AtomicBool,
        progress: &(dyn Fn(Coverage) + Sync),
    ) -> Option<Lock> {
        let path = self.dir.join("text.lock");
        loop {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            if let Ok(lock) = Lock::acquire(&path, Duration::from_millis(300), "lazyagents, reading transcripts") {
                return Some(lock);
            }
            let state = self.state(conversations);
            progress(state);
            if state.complete() || !self.dir.is_dir() {
                return None;
            }
        }
    }
}

fn fill(
    mut db: Connection,
    conversations: &[Conversation<'_>],
    largest: u64,
    cancel: &AtomicBool,
    progress: &(dyn Fn(Coverage) + Sync),
) -> rusqlite::Result<Coverage> {
    let docs = store::docs(&db)?;
    let mut state = store::coverage(&docs, conversations);
    progress(state);
    let whole = store::is_whole(&db, conversations)?;
    if !whole {
        store::unset_whole(&db)?;
        drop_unknown(&mut db, &docs, conversations)?;
        tidy(&mut db)?;
    }
    let mut jobs = jobs(&db, &docs, conversations)?;
    jobs.retain(|job| job.source.size <= largest);
    drop(docs);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let cancelled = || cancel.load(Ordering::Relaxed) || stop.load(Ordering::Relaxed);
    let readers = std::thread::available_parallelism().map_or(1, |n| n.get().min(2));
    let result = std::thread::scope(|scope| {
        let (to, from) = sync_channel(4);
        for _ in 0..readers {
            let (to, jobs, next, cancelled) = (to.clone(), &jobs, &next, &cancelled);
            scope.spawn(move || read_jobs(jobs, next, &to, cancelled));
        }
        drop(to);
        let result = Writer::new(&mut db, &jobs).run(&from, &mut state, progress);
        stop.store(true, Ordering::Relaxed);
        // Readers that wait for room in the channel go on, see `stop` and end.
        drop(from);
        result
    });
    result?;
    let state = store::coverage(&store::docs(&db)?, conversations);
    if state.complete() && !whole {
        store::set_whole(&db, conversations)?;
    }
    progress(state);
    Ok(state)
}
/// Removes the documents that no conversation has any more, a few at a time.
fn drop_unknown(db: &mut Connection, docs: &Docs, conversations: &[Conversation<'_>]) -> rusqlite::Result<()> {
    let wanted: HashSet<DocKey> =
        conversations.iter().flat_map(|one| one.sources.iter().map(|source| DocKey::of(one, source))).collect();
    let unknown: Vec<i64> = docs.iter().filter(|(key, _)| !wanted.contains(key)).map(|(_, doc)| doc.id).collect();
    for some in unknown.chunks(100) {
        let transaction = db.transaction()?;
        some.iter().try_for_each(|id| store::forget(&transaction, *id))?;
        transaction.commit()?;
    }
    Ok(())
}

/// Takes filters apart that speak mostly of chunks that are gone.
fn tidy(db: &mut Connection) -> rusqlite::Result<()> {
    let chunks: HashMap<i64, u64> = store::docs(db)?.into_values().map(|doc| (doc.id, doc.chunks)).collect();
    let transaction = db.transaction()?;
    slab::tidy(&transaction, |spot| chunks.get(&spot.doc).is_some_and(|chunks| spot.seq.cast_unsigned() < *chunks))?;
    transaction.commit()
}

/// What has to be read, in order.
fn jobs<'a>(db: &Connection, docs: &Docs, conversations: &'a [Conversation<'a>]) -> rusqlite::Result<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for (of, conversation) in conversations.iter().enumerate() {
        for source in &conversation.sources {
            let key = DocKey::of(conversation, source);
            let doc = docs.get(&key);
            if doc.is_some_and(|doc| doc.fresh(source)) {
                continue;
            }
            let grown = match doc {
                Some(doc) if doc.done => grown(db, doc, source)?,
                _ => None,
            };
            jobs.push(Job { conversation, of, source, key, grown });
        }
    }
    Ok(jobs)
}

/// What to go on from, when `source` is the file that it was, only longer.
fn grown(db: &Connection, doc: &Doc, source: &Source) -> rusqlite::Result<Option<Grown>> {
    let (size, _, inode) = store::stamp(source);
    if source.kind != Kind::Lines || inode != doc.inode || size <= doc.size {
        return Ok(None);
    }
    let Some(resume) = store::resume(db, doc.id)? else { return Ok(None) };
    let Ok(resume) = serde_json::from_slice::<Resume>(&resume) else { return Ok(None) };
    let same = resume.crumbs < CRUMBS && prints(source, doc.size.cast_unsigned()) == Some((resume.head, resume.tail));
    Ok(same.then(|| Grown { doc: doc.clone(), resume }))
}

/// Fingerprints of the beginning of a file and of what is before `size`; `None` when it cannot be read.
fn prints(source: &Source, size: u64) -> Option<(u64, u64)> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    const LOOK: u64 = 1 << 10;
    let mut file = std::fs::File::open(&source.path).ok()?;
    let mut print = |at: u64, length: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at)).ok()?;
        (&mut file).take(length).read_to_end(&mut bytes).ok()?;
        Some(crate::sessions::Response::key(&bytes))
    };
    Some((print(0, LOOK.min(size))?, print(size.saturating_sub(LOOK), LOOK.min(size))?))
}

fn read_jobs(jobs: &[Job<'_>], next: &AtomicUsize, to: &SyncSender<Part>, cancelled: &(dyn Fn() -> bool + Sync)) {
    while !cancelled() {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(at) else { return };
        if let Some(last) = read(at, job, to, cancelled)
            && to.send(last).is_err()
        {
            return;
        }
    }
}

/// Reads one document; `None` when it was cancelled.
fn read(at: usize, job: &Job<'_>, to: &SyncSender<Part>, cancelled: &(dyn Fn() -> bool + Sync)) -> Option<Part> {
    let Some((head, tail)) = prints(job.source, job.source.size) else {
        return Some(Part::Failed(at));
    };
    let mut resume = job.grown.as_ref().map(|grown| grown.resume.clone()).unwrap_or_default();
    let from = resume.offset;
    // Pieces of the record where it goes on: they are told again.
    let mut known = if job.grown.is_some() { resume.pieces } else { 0 };
    let mut chunker = Chunker::new();
    let mut chunks = Vec::new();
    let mut ended = false;
    let told = job.conversation.tell(job.source, from, &mut |piece| {
        if cancelled() || ended {
            ended = true;
            return ControlFlow::Break(());
        }
        if piece.offset == from && known > 0 {
            known -= 1;
            return ControlFlow::Continue(());
        }
        resume.pieces = if resume.offset == piece.offset { resume.pieces + 1 } else { 1 };
        resume.offset = piece.offset;
        extract::text(&mut resume.numbering, &piece, &mut |turn, speaker, tool, text| {
            chunker.add(turn, speaker, tool, text, &mut |chunk| chunks.push(chunk));
        });
        if chunks.len() >= PART && to.send(Part::Chunks(at, std::mem::take(&mut chunks))).is_err() {
            ended = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if ended {
        return None;
    }
    if told.is_err() {
        return Some(Part::Failed(at));
    }
    chunker.end(&mut |chunk| chunks.push(chunk));
    if !chunks.is_empty() {
        to.send(Part::Chunks(at, chunks)).ok()?;
    }
    (resume.head, resume.tail) = (head, tail);
    resume.crumbs += u64::from(job.grown.is_some());
    Some(Part::Done(at, Box::new(resume)))
}

/// Writes what the readers hand over.
struct Writer<'a> {
    db: &'a mut Connection,
    jobs: &'a [Job<'a>],
    /// Documents that are being written: row and chunks so far.
    open: HashMap<usize, (i64, u64)>,
    /// Chunks that were written.
    added: usize,
}

impl<'a> Writer<'a> {
    fn new(db: &'a mut Connection, jobs: &'a [Job<'a>]) -> Self {
        Self { db, jobs, open: HashMap::new(), added: 0 }
    }

    fn run(
        &mut self,
        from: &Receiver<Part>,
        state: &mut Coverage,
        progress: &(dyn Fn(Coverage) + Sync),
    ) -> rusqlite::Result<()> {
        // Documents that a session still lacks.
        let mut left = HashMap::new();
        self.jobs.iter().for_each(|job| *left.entry(job.of).or_insert(0_u64) += 1);
        let mut loose = store::loose(self.db)?;
        while let Ok(part) = from.recv() {
            let end = sys::clock::now() + COMMIT_EVERY;
            let mut written = 0;
            self.db.execute_batch("BEGIN IMMEDIATE")?;
            let mut next = Some(part);
            let before = self.added;
            while let Some(part) = next.take() {
                if let Part::Done(at, _) = &part {
                    let job = &self.jobs[*at];
                    let rest = left.entry(job.of).or_insert(1);
                    *rest -= 1;
                    state.bytes += job.source.size;
                    state.sessions += u64::from(*rest == 0);
                }
                written += self.write(part)?;
                let wait = end.saturating_duration_since(sys::clock::now());
                if written < COMMIT && !wait.is_zero() {
                    next = from.recv_timeout(wait).ok();
                }
            }
            loose = slab::gather(self.db, loose + self.added - before)?;
            self.db.execute_batch("COMMIT")?;
            progress(*state);
        }
        Ok(())
    }

    /// Writes a part; returns about how many bytes.
    fn write(&mut self, part: Part) -> rusqlite::Result<usize> {
        match part {
            Part::Chunks(at, chunks) => {
                let (doc, mut seq) = self.row(at)?;
                let mut bytes = 0;
                for chunk in &chunks {
                    store::add(self.db, doc, seq, chunk)?;
                    bytes += chunk.packed.len() + chunk.filter.len();
                    seq += 1;
                }
                self.added += chunks.len();
                self.open.insert(at, (doc, seq));
                Ok(bytes)
            }
            Part::Done(at, resume) => {
                let (id, chunks) = self.row(at)?;
                self.open.remove(&at);
                let (size, mtime, inode) = store::stamp(self.jobs[at].source);
                let turns = resume.numbering.turns();
                let doc = Doc { id, size, mtime, inode, turns, chunks, done: true };
                let lines = self.jobs[at].source.kind == Kind::Lines;
                let resume = lines.then(|| serde_json::to_vec(&resume).unwrap_or_default());
                store::finish(self.db, &doc, resume.as_deref())?;
                Ok(200)
            }
            Part::Failed(at) => {
                if let Some((doc, _)) = self.open.remove(&at) {
                    store::forget(self.db, doc)?;
                }
                Ok(0)
            }
        }
    }

    /// The row of the job's document and where its next chunk goes.
    fn row(&mut self, at: usize) -> rusqlite::Result<(i64, u64)> {
        if let Some(open) = self.open.get(&at) {
            return Ok(*open);
        }
        let job = &self.jobs[at];
        let open = match &job.grown {
            Some(grown) => {
                // Until it is finished the old end counts: chunks behind it are written over.
                (grown.doc.id, grown.doc.chunks)
            }
            None => (store::begin(self.db, &job.key)?, 0),
        };
        self.open.insert(at, open);
        Ok(open)
    }
}
