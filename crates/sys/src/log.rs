//! A program's own log file: lines with time and level, and the stderr of plugins as it came, rotated by size.
//! It never fails its program: a log that cannot be written is silent and says so only when asked, by
//! [`Log::problem`]. Any room may hold a [`Log`]; it is the exception named in the architecture's rule on writers.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Failure, clock, files, text};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something asked for could not be done.
    Error,
    /// Something is not as it should be, and the program went on.
    Warn,
    /// What happened.
    Info,
    /// What a developer needs.
    Debug,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
        }
    }
}

/// A log file. Clones write to the same one; several processes may, too.
#[derive(Clone, Debug)]
pub struct Log {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    /// `None` for a log that goes nowhere.
    path: Option<PathBuf>,
    max_bytes: u64,
    keep: usize,
    problem: Option<Failure>,
}

impl Log {
    /// A log at `path`, made with its folders (file 0600) at the first write. When it would grow beyond
    /// `max_bytes` it becomes `path.1`, that `path.2` and so on; `keep` files stay, `path` itself included
    /// (at least one).
    pub fn open(path: &Path, max_bytes: u64, keep: usize) -> Self {
        Self::of(Some(path.to_path_buf()), max_bytes, keep)
    }

    /// A log that keeps nothing, for tests and for homes without a place for logs.
    pub fn off() -> Self {
        Self::of(None, 0, 1)
    }

    fn of(path: Option<PathBuf>, max_bytes: u64, keep: usize) -> Self {
        let inner = Inner { path, max_bytes: max_bytes.max(1), keep: keep.max(1), problem: None };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Adds `<RFC 3339 time in UTC> <LEVEL> <text>`; `text` is cleaned to one line.
    pub fn line(&self, level: Level, text: &str) {
        let time = jiff::Timestamp::try_from(clock::wall()).unwrap_or_default();
        let line = format!("{time:.3} {} {}\n", level.name(), text::clean(text));
        self.lock().append(line.as_bytes());
    }

    /// Adds `bytes` as they are: the stderr of plugins. Nothing is cleaned, so whoever shows the file cleans it.
    pub fn raw(&self, bytes: &[u8]) {
        self.lock().append(bytes);
    }

    /// Why the last write failed; `None` when it worked or nothing was written yet.
    pub fn problem(&self) -> Option<Failure> {
        self.lock().problem.clone()
    }

    /// A panic in another thread leaves nothing half done here that matters to a log.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn append(&mut self, bytes: &[u8]) {
        let Some(path) = &self.path else { return };
        // A piece fits into one file, so a flood rotates instead of growing one file without end.
        let most = usize::try_from(self.max_bytes).unwrap_or(usize::MAX);
        let written = bytes.chunks(most).try_for_each(|piece| self.write(path, piece));
        self.problem = written.err().map(|error| Failure::io("write the log", path, &error));
    }

    /// The file is opened for each write: another process may have rotated or removed it meanwhile, and logs
    /// are written seldom enough.
    fn write(&self, path: &Path, piece: &[u8]) -> io::Result<()> {
        let mut file = match files::open_append(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::make_dir(path.parent().unwrap_or(path)).map_err(io::Error::other)?;
                files::open_append(path)?
            }
            opened => opened?,
        };
        let length = file.metadata()?.len();
        let added = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if length > 0 && length.saturating_add(added) > self.max_bytes && self.rotate(path, &file)? {
            file = files::open_append(path)?;
        }
        file.write_all(piece)
    }

    /// Moves every file one number up. False when another process is doing that: its lock on the full file, and
    /// a look at whether that still bears the name, keep two from moving one after the other.
    #[allow(clippy::disallowed_methods)] // the log is a named exception to "only sys::files renames"
    fn rotate(&self, path: &Path, full: &File) -> io::Result<bool> {
        // A file system without locks is no reason to grow without end.
        if let Err(TryLockError::WouldBlock) = full.try_lock() {
            return Ok(false);
        }
        if !is_same_file(path, full) {
            return Ok(true);
        }
        if self.keep == 1 {
            full.set_len(0)?;
            return Ok(false);
        }
        for number in (1..self.keep).rev() {
            let from = if number == 1 { path.to_path_buf() } else { numbered(path, number - 1) };
            match fs::rename(from, numbered(path, number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }
}

/// `<path>.<number>`
fn numbered(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Whether `path` still names the open file.
fn is_same_file(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        fs::metadata(path).map(id).ok() == file.metadata().map(id).ok()
    }
    // Unknown elsewhere; at worst two processes rotate one after the other.
    #[cfg(not(unix))]
    {
        let _ = (path, file);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn lines_have_time_level_and_clean_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/x.log");
        let log = Log::open(&path, 1000, 3);
        log.line(Level::Warn, "a\x1b[31mb\nc");
        let text = text_of(&path);
        let (time, rest) = text.split_once(' ').unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
        assert_eq!(rest, "WARN ab c\n");
        assert_eq!(log.problem(), None);
    }

    #[test]
    fn a_full_log_moves_on_and_the_oldest_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        let log = Log::open(&path, 4, 3);
        for piece in ["aa", "bb", "cc", "dddd", "e"] {
            log.raw(piece.as_bytes());
        }
        assert_eq!(text_of(&path), "e");
        assert_eq!(text_of(&numbered(&path, 1)), "dddd");
        assert_eq!(text_of(&numbered(&path, 2)), "cc");
        assert!(!numbered(&path, 3).exists());
    }

    #[test]
    fn a_flood_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        Log::open(&path, 10, 2).raw(&[b'x'; 95]);
        assert_eq!((text_of(&path).len(), text_of(&numbered(&path, 1)).len()), (5, 10));
        let single = dir.path().join("y.log");
        Log::open(&single, 10, 1).raw(&[b'y'; 95]);
        assert_eq!(text_of(&single).len(), 5);
        assert!(!numbered(&single, 1).exists());
    }

    #[test]
    fn clones_and_other_logs_of_the_same_file_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.log");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                // Not a clone: as another process would open it.
                let log = Log::open(&path, 64, 40);
                let clone = log.clone();
                scope.spawn(move || (0..20).for_each(|_| log.raw(b"12345678")));
                scope.spawn(move || (0..20).for_each(|_| clone.raw(b"12345678")));
            }
        });
        let total: usize = (1..40).map(|number| text_of(&numbered(&path, number)).len()).sum();
        assert_eq!(total + text_of(&path).len(), 4 * 2 * 20 * 8);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_silent_and_tells() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(dir.path(), 1000, 3);
        log.line(Level::Info, "lost");
        let problem = log.problem().unwrap().to_string();
        assert!(problem.contains(dir.path().to_str().unwrap()), "{problem}");
        let off = Log::off();
        off.raw(b"x");
        assert_eq!(off.problem(), None);
    }
}
