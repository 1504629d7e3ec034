//! The database of the text store: documents (one source of one session each), their chunks and filters. It is
//! disposable: another layout is another file, a damaged one is thrown away. SQLite in WAL mode makes it safe with
//! several processes: one writes (it holds a lock file), all read.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use sys::{Failure, files};

use super::chunk::Chunk;
use super::{Conversation, Coverage, slab};
use crate::sessions::Source;
use crate::sessions::source::Print;

/// The layout of the database and what is extracted; raised whenever either changes.
const LAYOUT: u32 = 2;

/// What people and agents said, ready to be searched. Cheap to make: it opens the database when it is asked something.
#[derive(Debug)]
pub struct Store {
    pub(super) dir: PathBuf,
    warnings: Vec<String>,
}

/// What identifies a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DocKey {
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) path: Vec<u8>,
}

impl DocKey {
    pub(super) fn of(conversation: &Conversation<'_>, source: &Source) -> Self {
        Self {
            agent: conversation.agent.to_owned(),
            session: conversation.session.to_owned(),
            path: source.path.as_os_str().as_encoded_bytes().to_vec(),
        }
    }
}

/// A document as the database has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Doc {
    pub(super) id: i64,
    pub(super) size: i64,
    pub(super) mtime: i64,
    pub(super) inode: i64,
    /// Turns in it.
    pub(super) turns: u64,
    /// Chunks in it.
    pub(super) chunks: u64,
    /// False while it is being written: never searched.
    pub(super) done: bool,
}

impl Doc {
    /// True when `source` is as it was when it was read.
    pub(super) fn fresh(&self, source: &Source) -> bool {
        self.done && self.stamp() == stamp(source)
    }

    fn stamp(&self) -> (i64, i64, i64) {
        (self.size, self.mtime, self.inode)
    }
}

/// Size, time and number of a source as the database keeps them.
pub(super) fn stamp(source: &Source) -> (i64, i64, i64) {
    let mtime = i64::try_from(source.mtime).unwrap_or(i64::MAX);
    (i64::try_from(source.size).unwrap_or(i64::MAX), mtime, source.inode.cast_signed())
}

/// All documents of the database.
pub(super) type Docs = HashMap<DocKey, Doc, BuildHasherDefault<Mix>>;

/// Hashes names eight bytes at a time: there are thousands of long ones for every search, and they are the person's own.
#[derive(Debug, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut mix = |word: u64| self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| mix(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| mix(u64::from(*byte)));
    }
}

impl Store {
    /// The store in the folder `dir`, which is made. Never fails: what is wrong is in [`Store::warnings`], and then
    /// every search reads the files themselves.
    pub fn open(dir: &Path) -> Self {
        let mut store = Self { dir: dir.to_owned(), warnings: Vec::new() };
        if let Err(failure) = files::make_private_dir(dir) {
            store.warnings.push(format!("no text store: {failure}"));
            return store;
        }
        for layout in 0..LAYOUT {
            remove(&dir.join(name(layout)));
        }
        if let Err(why) = store.writer() {
            store.warnings.push(format!("no text store: {why}"));
        }
        store
    }

    /// What is wrong with the store itself, for people.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How much of `conversations` is in the store as it is now.
    pub fn state(&self, conversations: &[Conversation<'_>]) -> Coverage {
        let docs = self.reader().and_then(|db| docs(&db).ok()).unwrap_or_default();
        coverage(&docs, conversations)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(name(LAYOUT))
    }

    /// A connection that reads; `None` when there is no store or it cannot be read.
    pub(super) fn reader(&self) -> Option<Connection> {
        let path = self.path();
        let db = path.is_file().then(|| connect(&path)).and_then(Result::ok)?;
        db.pragma_update(None, "query_only", true).ok()?;
        Some(db)
    }

    /// A connection that writes, with the tables there; a damaged database is made anew.
    pub(super) fn writer(&self) -> Result<Connection, Failure> {
        let path = self.path();
        let prepared = connect(&path).and_then(|db| prepare(&db).map(|()| db));
        match prepared {
            Ok(db) => Ok(db),
            Err(error) if damaged(&error) => {
                remove(&path);
                connect(&path).and_then(|db| prepare(&db).map(|()| db)).map_err(|error| self.failure("make", &error))
            }
            Err(error) => Err(self.failure("open", &error)),
        }
    }

    /// Throws the database away.
    pub(super) fn discard(&self) {
        remove(&self.path());
    }

    pub(super) fn failure(&self, verb: &str, error: &rusqlite::Error) -> Failure {
        Failure::new(format!("could not {verb} the text store {}", self.path().display()))
            .cause(error)
            .hint("it can be deleted; it is made again from the agents' own files")
    }
}

fn name(layout: u32) -> String {
    format!("text-{layout}.sqlite")
}

fn remove(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // Disposable: what cannot be removed now is tried again next time.
        let _ = files::remove_file(Path::new(&name));
    }
}

/// True for errors that a new file cures.
pub(super) fn damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    match error {
        rusqlite::Error::SqliteFailure(error, message) => {
            matches!(error.code, DatabaseCorrupt | NotADatabase)
                || message
                    .as_deref()
                    .is_some_and(|text| text.contains("no such column") || text.contains("no such table"))
        }
        rusqlite::Error::SqlInputError { msg, .. } => msg.contains("no such column") || msg.contains("no such table"),
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..) => true,
        _ => false,
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.busy_timeout(Duration::from_secs(5))?;
    db.pragma_update(None, "cache_size", -4_000)?;
    Ok(db)
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    let ready: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if ready == i64::from(LAYOUT) {
        return db.pragma_update(None, "synchronous", "normal");
    }
    db.pragma_update(None, "page_size", 8_192)?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "normal")?;
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS doc(id INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, session TEXT NOT NULL,
            path BLOB NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL,
            turns INTEGER NOT NULL, chunks INTEGER NOT NULL, done INTEGER NOT NULL, resume BLOB,
            UNIQUE(agent, session, path));
         CREATE TABLE IF NOT EXISTS filter(doc INTEGER NOT NULL, seq INTEGER NOT NULL, first INTEGER NOT NULL,
            last INTEGER NOT NULL, bits BLOB NOT NULL, PRIMARY KEY(doc, seq)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS chunk(doc INTEGER NOT NULL, seq INTEGER NOT NULL, packed BLOB NOT NULL,
            PRIMARY KEY(doc, seq)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS whole(print BLOB NOT NULL);
         {}
         PRAGMA user_version = {LAYOUT};
         COMMIT;",
        slab::TABLES
    ))
}

/// Tells lists of conversations apart.
fn print(conversations: &[Conversation<'_>]) -> Vec<u8> {
    let sources =
        conversations.iter().flat_map(|one| one.sources.iter().map(|source| (one.agent, one.session, *source)));
    Print::of(sources).bytes()
}

/// Notes that the database has exactly these conversations, each as it is now.
pub(super) fn set_whole(db: &Connection, conversations: &[Conversation<'_>]) -> rusqlite::Result<()> {
    unset_whole(db)?;
    db.execute("INSERT INTO whole VALUES(?1)", [print(conversations)]).map(drop)
}

/// Notes that it may not have them any more; before anything is changed.
pub(super) fn unset_whole(db: &Connection) -> rusqlite::Result<()> {
    db.execute("DELETE FROM whole", []).map(drop)
}

/// True when it has exactly these, each as it is now.
pub(super) fn is_whole(db: &Connection, conversations: &[Conversation<'_>]) -> rusqlite::Result<bool> {
    let noted = db.query_row("SELECT print FROM whole", [], |row| row.get::<_, Vec<u8>>(0)).optional()?;
    Ok(noted.is_some_and(|noted| noted == print(conversations)))
}

/// Turns in a document; `None` when there is no such one.
pub(super) fn turns(db: &Connection, key: &DocKey) -> rusqlite::Result<Option<u64>> {
    let mut get =
        db.prepare_cached("SELECT turns FROM doc WHERE agent = ?1 AND session = ?2 AND path = ?3 AND done")?;
    let turns = get.query_row(params![key.agent, key.session, key.path], |row| row.get::<_, i64>(0));
    Ok(turns.optional()?.map(i64::cast_unsigned))
}

/// Filters that are in no slab yet.
pub(super) fn loose(db: &Connection) -> rusqlite::Result<usize> {
    let count: i64 = db.query_row("SELECT count(*) FROM filter", [], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// True when the database has `doc` as it was when it was listed.
pub(super) fn same(db: &Connection, doc: &Doc) -> rusqlite::Result<bool> {
    let mut get = db.prepare_cached("SELECT size, mtime, inode, chunks, done FROM doc WHERE id = ?1")?;
    let now = get.query_row([doc.id], |row| {
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get::<_, i64>(3)?.cast_unsigned(), row.get(4)?))
    });
    Ok(now.optional()? == Some((doc.stamp(), doc.chunks, doc.done)))
}

/// All documents.
pub(super) fn docs(db: &Connection) -> rusqlite::Result<Docs> {
    let mut get = db.prepare(&format!("SELECT {DOC} FROM doc"))?;
    let rows = get.query_map([], doc)?;
    rows.collect()
}

/// Those of the documents whose numbers are `ids`.
pub(super) fn docs_of<'a>(db: &Connection, ids: impl Iterator<Item = &'a i64>) -> rusqlite::Result<Docs> {
    let mut get = db.prepare(&format!("SELECT {DOC} FROM doc WHERE id = ?1"))?;
    ids.filter_map(|id| get.query_row([id], doc).optional().transpose()).collect()
}

const DOC: &str = "agent, session, path, id, size, mtime, inode, turns, chunks, done";

fn doc(row: &rusqlite::Row<'_>) -> rusqlite::Result<(DocKey, Doc)> {
    let key = DocKey { agent: row.get(0)?, session: row.get(1)?, path: row.get(2)? };
    let doc = Doc {
        id: row.get(3)?,
        size: row.get(4)?,
        mtime: row.get(5)?,
        inode: row.get(6)?,
        turns: row.get::<_, i64>(7)?.cast_unsigned(),
        chunks: row.get::<_, i64>(8)?.cast_unsigned(),
        done: row.get(9)?,
    };
    Ok((key, doc))
}

/// How much of `conversations` is fresh in `docs`.
pub(super) fn coverage(docs: &Docs, conversations: &[Conversation<'_>]) -> Coverage {
    let mut coverage = Coverage::default();
    for conversation in conversations {
        let mut all = true;
        for source in &conversation.sources {
            let fresh = docs.get(&DocKey::of(conversation, source)).is_some_and(|doc| doc.fresh(source));
            coverage.of_bytes += source.size;
            coverage.bytes += if fresh { source.size } else { 0 };
            all &= fresh;
        }
        coverage.of_sessions += 1;
        coverage.sessions += u64::from(all);
    }
    coverage
}

/// The row of a document, empty and unfinished; what it had before is gone.
pub(super) fn begin(db: &Connection, key: &DocKey) -> rusqlite::Result<i64> {
    let known = db
        .prepare_cached("SELECT id FROM doc WHERE agent = ?1 AND session = ?2 AND path = ?3")?
        .query_row(params![key.agent, key.session, key.path], |row| row.get::<_, i64>(0))
        .optional()?;
    if let Some(id) = known {
        forget(db, id)?;
    }
    db.prepare_cached("INSERT INTO doc VALUES(NULL, ?1, ?2, ?3, 0, 0, 0, 0, 0, 0, NULL)")?.execute(params![
        key.agent,
        key.session,
        key.path
    ])?;
    Ok(db.last_insert_rowid())
}

/// Removes a document with all it has.
pub(super) fn forget(db: &Connection, id: i64) -> rusqlite::Result<()> {
    for sql in
        ["DELETE FROM chunk WHERE doc = ?1", "DELETE FROM filter WHERE doc = ?1", "DELETE FROM doc WHERE id = ?1"]
    {
        db.prepare_cached(sql)?.execute([id])?;
    }
    Ok(())
}

/// Adds a chunk at position `seq`.
pub(super) fn add(db: &Connection, doc: i64, seq: u64, chunk: &Chunk) -> rusqlite::Result<()> {
    let (first, last) = (chunk.turns.0.cast_signed(), chunk.turns.1.cast_signed());
    db.prepare_cached("INSERT OR REPLACE INTO filter VALUES(?1, ?2, ?3, ?4, ?5)")?.execute(params![
        doc,
        seq.cast_signed(),
        first,
        last,
        chunk.filter
    ])?;
    db.prepare_cached("INSERT OR REPLACE INTO chunk VALUES(?1, ?2, ?3)")?.execute(params![
        doc,
        seq.cast_signed(),
        chunk.packed
    ])?;
    Ok(())
}

/// Marks a document as finished. `resume` is what is needed to go on when its source grows.
pub(super) fn finish(db: &Connection, doc: &Doc, resume: Option<&[u8]>) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE doc SET size = ?2, mtime = ?3, inode = ?4, turns = ?5, chunks = ?6, done = 1, resume = ?7 WHERE id = ?1",
    )?
    .execute(params![
        doc.id,
        doc.size,
        doc.mtime,
        doc.inode,
        doc.turns.cast_signed(),
        doc.chunks.cast_signed(),
        resume
    ])?;
    Ok(())
}

/// What [`finish`] was given.
pub(super) fn resume(db: &Connection, id: i64) -> rusqlite::Result<Option<Vec<u8>>> {
    db.prepare_cached("SELECT resume FROM doc WHERE id = ?1")?.query_row([id], |row| row.get(0))
}
