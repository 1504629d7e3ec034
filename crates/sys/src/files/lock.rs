//! One lock between processes and threads: an advisory lock of the system on a file that stays. The system gives
//! it back when its holder dies, so it never has to be broken by hand. Callers are those of `files`, for
//! everything that reads, decides and writes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{make_dir, parent, regular};
use crate::text::human;
use crate::{Failure, clock, text};

/// How long a command waits for another one of ours: 10 s.
pub const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Pauses between two tries: doubled from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(20);

/// Bytes read of what the holder wrote about itself.
const HOLDER_MAX: u64 = 512;

/// A held lock; given back when dropped. It is not re-entrant: a second one on the same file, even in the
/// same thread, waits for the first.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits up to `wait` for the lock file `path`, which is made with its folders and stays. `what` tells
    /// others who holds it, e.g. "lazyagents skills enable x"; it is written into the file behind the pid.
    ///
    /// # Errors
    /// When `wait` is over (the failure names the holder's pid and command), and when the file cannot be
    /// opened or the file system has no locks.
    pub fn acquire(path: &Path, wait: Duration, what: &str) -> Result<Self, Failure> {
        make_dir(parent(path))?;
        let failed = |error: io::Error| Failure::io("lock", path, &error);
        let mut file = open(path).map_err(failed)?;
        // `None` is a time no clock reaches.
        let end = clock::now().checked_add(wait);
        let mut pause = FIRST_PAUSE;
        loop {
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => break,
                // Its last holder has removed it: what is locked is nobody's any more.
                Ok(()) => {
                    file = open(path).map_err(failed)?;
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let left = end.map_or(LAST_PAUSE, |end| end.saturating_duration_since(clock::now()));
            if left.is_zero() {
                return Err(held(path, wait, &mut file));
            }
            // The system has no lock with a deadline, so this polls. The channel never delivers before its time.
            let _ = crossbeam_channel::after(pause.min(left)).recv();
            pause = (pause * 2).min(LAST_PAUSE);
        }
        // Only to tell others; without it the lock holds as well.
        let _ = note(&mut file, what);
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// The lock file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it back and removes its file, for a lock that comes and goes with one piece of work. Who opened the file
    /// before that finds it gone and opens a new one.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn remove(self) -> Result<(), Failure> {
        super::remove_file(&self.path).map(drop)
    }
}

/// The open file is the one that the path names now.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// There an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

impl Drop for Lock {
    fn drop(&mut self) {
        // No old name may stand there when the next holder has not yet written its own. Closing unlocks.
        let _ = self.file.set_len(0);
    }
}

/// A link is refused: what it points to would be emptied.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        super::open_flags(&mut options, OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW);
    }
    regular(options.open(path)?)
}

fn note(file: &mut File, what: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{} {}\n", std::process::id(), text::clean(what)).as_bytes())
}

/// The failure of a lock that did not come free, with what its holder wrote.
fn held(path: &Path, wait: Duration, file: &mut File) -> Failure {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(HOLDER_MAX).read_to_end(&mut bytes));
    let note = read.map(|_| text::clean(&String::from_utf8_lossy(&bytes))).unwrap_or_default();
    let failure = Failure::new(format!("could not lock {}", path.display()));
    let waited = human::duration(wait);
    match note.split_once(' ').unwrap_or((&note, "")) {
        ("", _) => failure.cause(format!("another process holds it (waited {waited})")).hint("try again later"),
        (pid, what) => failure
            .cause(format!("process {pid} ({what}) holds it (waited {waited})"))
            .hint(format!("try again when process {pid} has ended")),
    }
}
