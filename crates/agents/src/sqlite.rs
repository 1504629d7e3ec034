//! The only door to SQLite in the agents' own databases. It reads and never disturbs: no lock is taken, nothing is
//! made beside the database, nothing in it changes (reports C17, C19). The adapters call it.
//!
//! A database that nobody writes is opened in place as unchangeable. One with something in its write-ahead log, or
//! with a journal, is copied into a folder of ours first, and the copy is opened.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use sys::files::{TempTree, copy_tree};

use crate::sessions::{Kind, Source};

/// How often a reading is begun again because the database changed meanwhile.
const TRIES: usize = 4;

/// What the copies' folders are called.
const PREFIX: &str = "database-";

/// The database at `path` as a source: size and time of it and its write-ahead log together.
pub(crate) fn source(path: &Path) -> Option<Source> {
    let main = Source::at(path, Kind::Whole)?;
    Some(match Source::at(&beside(&real(path), "-wal"), Kind::Whole) {
        Some(log) => Source { size: main.size.saturating_add(log.size), mtime: main.mtime.max(log.mtime), ..main },
        None => main,
    })
}

/// Hands the database at `path` to `read` and gives back what that made of it. It is called again when the database
/// changed meanwhile, so it has to begin anew each time. `scratch` is where a copy may go; without one, what is in the
/// write-ahead log cannot be seen.
///
/// # Errors
/// In words for people, when the database is gone, damaged, or always being written to.
pub(crate) fn read<T>(
    path: &Path,
    scratch: Option<&Path>,
    mut read: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, String> {
    let mut why = String::new();
    let path = &real(path);
    for _ in 0..TRIES {
        let Some(before) = State::of(path) else { return Err(format!("{}: it is gone", path.display())) };
        let found = match (before.is_quiet(), scratch) {
            (false, Some(scratch)) => from_copy(path, &before, scratch, &mut read),
            _ => in_place(path).and_then(|database| read(&database)).map_err(|error| words(&error)),
        };
        match found {
            // A copy is whole or refused; what was read in place is only right when nobody wrote meanwhile.
            Ok(found) if !before.is_quiet() || State::of(path).as_ref() == Some(&before) => return Ok(found),
            Ok(_) => BUSY.clone_into(&mut why),
            Err(error) => why = error,
        }
    }
    Err(format!("{}: {why}", path.display()))
}

const BUSY: &str = "its program is writing to it right now; it is read again later";

fn words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => BUSY.to_owned(),
        Some(rusqlite::ErrorCode::NotADatabase) => "not a database that can be read".to_owned(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => "the database is damaged".to_owned(),
        _ => format!("the database cannot be read ({error})"),
    }
}

/// What the disk says of a database: two equal ones with nothing between them mean that nobody wrote.
#[derive(Debug, PartialEq, Eq)]
struct State {
    main: Source,
    log: Option<Source>,
    journal: Option<Source>,
    /// The beginning of the log, which says which round of writing it holds.
    header: Vec<u8>,
}

impl State {
    fn of(path: &Path) -> Option<Self> {
        let side = |ending| Source::at(&beside(path, ending), Kind::Whole).filter(|file| file.size > 0);
        let log = side("-wal");
        let mut header = Vec::new();
        if log.is_some() {
            File::open(beside(path, "-wal")).and_then(|log| log.take(32).read_to_end(&mut header)).ok()?;
        }
        Some(Self { main: Source::at(path, Kind::Whole)?, log, journal: side("-journal"), header })
    }

    /// All there is of it is in the database itself.
    fn is_quiet(&self) -> bool {
        self.log.is_none() && self.journal.is_none()
    }

    /// True when a copy made between `self` and `after` is whole. A log that only grew is no harm: of what was copied,
    /// SQLite takes the part that was written for good.
    fn holds(&self, after: &Self) -> bool {
        let log = match (&self.log, &after.log) {
            (Some(before), Some(after)) => before.inode == after.inode && before.size <= after.size,
            (None, None) => true,
            _ => false,
        };
        log && self.main == after.main && self.journal == after.journal && self.header == after.header
    }
}

/// The file behind a link: what SQLite makes is beside that.
fn real(path: &Path) -> PathBuf {
    let link = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    link.then(|| fs::canonicalize(path).ok()).flatten().unwrap_or_else(|| path.to_owned())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn in_place(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(uri(path), flags)?;
    harmless(&database)?;
    Ok(database)
}

/// A name that SQLite takes as it is, whatever is in the path.
fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

fn from_copy<T>(
    path: &Path,
    before: &State,
    scratch: &Path,
    read: &mut impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, String> {
    TempTree::sweep(scratch, PREFIX);
    let folder = TempTree::create(scratch, PREFIX).map_err(|failure| failure.to_string())?;
    let copy = folder.path().join("copy.db");
    for ending in ["", "-wal", "-journal"] {
        let from = beside(path, ending);
        if fs::metadata(&from).is_ok() {
            // With links resolved: a copy of a link would lead back to the original.
            let from = fs::canonicalize(&from).map_err(|error| error.to_string())?;
            copy_tree(&from, &beside(&copy, ending)).map_err(|failure| failure.to_string())?;
        }
    }
    if !State::of(path).is_some_and(|after| before.holds(&after)) {
        return Err(BUSY.to_owned());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(&copy, flags).map_err(|error| words(&error))?;
    harmless(&database).and_then(|()| read(&database)).map_err(|error| words(&error))
}

/// What a stranger's schema may not do.
fn harmless(database: &Connection) -> rusqlite::Result<()> {
    database.execute_batch("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")
}

/// The names of the columns of `table`; empty when there is no such table. `table` is ours, never from outside.
pub(crate) fn columns(database: &Connection, table: &'static str) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Lab {
        home: tempfile::TempDir,
        scratch: tempfile::TempDir,
    }

    impl Lab {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap(), scratch: tempfile::tempdir().unwrap() }
        }

        fn path(&self) -> PathBuf {
            self.home.path().join("a b%#?.db")
        }

        fn writer(&self, mode: &str) -> Connection {
            let writer = Connection::open(self.path()).unwrap();
            writer.pragma_update(None, "journal_mode", mode).unwrap();
            writer.execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n INTEGER);").unwrap();
            writer
        }

        fn sum(&self) -> Result<i64, String> {
            read(&self.path(), Some(self.scratch.path()), |database| {
                database.query_row("SELECT coalesce(sum(n), 0) FROM t", [], |row| row.get(0))
            })
        }

        fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
            let entries = fs::read_dir(self.home.path()).unwrap();
            entries.map(|entry| entry.unwrap().path()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
        }
    }

    #[test]
    fn what_is_only_in_the_log_is_seen_and_nothing_is_touched() {
        let lab = Lab::new();
        let writer = lab.writer("wal");
        writer.execute("INSERT INTO t VALUES (5)", []).unwrap();
        let before = lab.snapshot();
        assert_eq!(lab.sum(), Ok(5));
        assert_eq!(lab.snapshot(), before);
        writer.execute("INSERT INTO t VALUES (6)", []).unwrap();
        assert_eq!(lab.sum(), Ok(11));
        assert_eq!(fs::read_dir(lab.scratch.path()).unwrap().count(), 0, "the copies are gone");
    }

    #[test]
    fn a_writer_that_locks_everybody_out_is_no_hindrance() {
        for mode in ["wal", "delete"] {
            let lab = Lab::new();
            let writer = lab.writer(mode);
            writer.execute("INSERT INTO t VALUES (5)", []).unwrap();
            writer
                .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO t VALUES (1000);")
                .unwrap();
            let before = lab.snapshot();
            assert_eq!(lab.sum(), Ok(5), "{mode}");
            assert_eq!(lab.snapshot(), before, "{mode}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_log_of_a_linked_database_is_beside_what_the_link_leads_to() {
        let lab = Lab::new();
        let writer = lab.writer("wal");
        writer.execute("INSERT INTO t VALUES (5)", []).unwrap();
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("link.db");
        std::os::unix::fs::symlink(lab.path(), &link).unwrap();
        assert_eq!(source(&link).unwrap().size, source(&lab.path()).unwrap().size);
        let sum = |database: &Connection| database.query_row("SELECT sum(n) FROM t", [], |row| row.get(0));
        assert_eq!(read::<i64>(&link, Some(lab.scratch.path()), sum), Ok(5));
    }

    #[test]
    fn a_quiet_database_is_opened_where_it_lies() {
        let lab = Lab::new();
        drop(lab.writer("wal"));
        let before = lab.snapshot();
        assert_eq!(before.len(), 1, "closing removed the log");
        assert_eq!(lab.sum(), Ok(0));
        let sum = |database: &Connection| database.query_row("SELECT count(*) FROM t", [], |row| row.get(0));
        assert_eq!(read::<i64>(&lab.path(), None, sum), Ok(0));
        assert_eq!(lab.snapshot(), before);
    }

    #[test]
    fn what_is_no_database_is_said_in_words() {
        let lab = Lab::new();
        assert!(lab.sum().unwrap_err().ends_with("it is gone"));
        fs::write(lab.path(), "hello, I am a text and long enough to be read as one").unwrap();
        assert!(lab.sum().unwrap_err().ends_with("not a database that can be read"));
        assert_eq!(fs::read_dir(lab.home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_database_that_changes_while_it_is_read_is_read_again() {
        let lab = Lab::new();
        drop(lab.writer("delete"));
        let mut times = 0;
        let found = read(&lab.path(), None, |database| {
            times += 1;
            if times == 1 {
                let other = Connection::open(lab.path()).unwrap();
                other.execute("INSERT INTO t VALUES (1), (2)", []).unwrap();
            }
            database.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))
        });
        assert_eq!((found, times), (Ok(2), 2));
    }
}
