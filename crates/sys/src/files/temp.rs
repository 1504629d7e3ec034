//! Temporary trees that clean up after killed processes too: each holds a locked file while its process lives.
//! It never removes a tree of a living process, of another user, or behind a link. `lazyagents --demo` uses it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{make_dir, open_read, remove_tree};
use crate::{Failure, clock};

/// The file that is locked while the tree is in use.
const LOCK: &str = ".lock";

/// A tree without a lock file is either being made or was left by a process killed in that moment; which of the
/// two, only its age tells.
const MAKING: Duration = Duration::from_secs(600);

/// A folder of this process alone (0700), removed with all it holds when dropped. It holds a file `.lock`.
#[derive(Debug)]
pub struct TempTree {
    path: PathBuf,
    /// Held open and locked for the life of the tree.
    lock: Option<File>,
}

impl TempTree {
    /// Makes `<parent>/<prefix><random>`, with links in `parent` resolved; `parent` is made when missing.
    ///
    /// # Errors
    /// When `parent` cannot be written or its file system has no locks.
    #[allow(clippy::disallowed_methods)] // the door itself
    pub fn create(parent: &Path, prefix: &str) -> Result<Self, Failure> {
        make_dir(parent)?;
        let failed = |error: io::Error| Failure::io("make a temporary folder in", parent, &error);
        // The real path, since only one without `..` will be removed.
        let real = fs::canonicalize(parent).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir_in(real).map_err(failed)?;
        // Locked under another name first: a sweep must never see the lock file unlocked.
        let making = folder.path().join(".lock.new");
        let lock = File::create_new(&making).map_err(failed)?;
        lock.try_lock().map_err(io::Error::from).map_err(failed)?;
        fs::rename(&making, folder.path().join(LOCK)).map_err(failed)?;
        Ok(Self { path: folder.keep(), lock: Some(lock) })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what killed processes left: folders `<parent>/<prefix>…` that are ours, no links, and whose lock
    /// is not held. Returns how many went. What cannot be read or removed is left; an empty prefix fits nothing.
    pub fn sweep(parent: &Path, prefix: &str) -> usize {
        let Ok(entries) = fs::canonicalize(parent).and_then(fs::read_dir) else { return 0 };
        let named = |entry: &fs::DirEntry| {
            !prefix.is_empty() && entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes())
        };
        entries.flatten().filter(named).filter(|entry| sweep_one(&entry.path()).unwrap_or(false)).count()
    }
}

impl Drop for TempTree {
    fn drop(&mut self) {
        // Elsewhere the lock is kept until the tree is gone; Windows does not remove open files.
        if cfg!(windows) {
            self.lock = None;
        }
        let _ = remove_tree(&self.path);
    }
}

/// Removes one tree if its process is dead. The lock is held meanwhile, so that two sweeps do not meet.
fn sweep_one(path: &Path) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_dir() || !is_ours(&metadata) {
        return Ok(false);
    }
    let is_link = fs::symlink_metadata(path.join(LOCK)).is_ok_and(|metadata| metadata.is_symlink());
    if is_link {
        return Ok(false);
    }
    let lock = match open_read(&path.join(LOCK)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let age = clock::wall().duration_since(metadata.modified()?).unwrap_or_default();
            return Ok(age > MAKING && remove_tree(path).unwrap_or(false));
        }
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if cfg!(windows) {
        drop(lock);
        return Ok(remove_tree(path).unwrap_or(false));
    }
    let removed = remove_tree(path).unwrap_or(false);
    drop(lock);
    Ok(removed)
}

fn is_ours(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return metadata.is_dir();
}
