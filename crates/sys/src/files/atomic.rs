//! Files that are either old or new, never half: replacement by rename, and locked read-modify-write. It never
//! replaces a link by a file and never changes who may read a file but to tighten it (reports A9, A11, A13).
//! Callers are those of `files`.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::{LOCK_WAIT, Lock, fault, make_dir, mode_of, not_regular, open_read, parent, set_mode, sync_folder};
use crate::Failure;

/// Links followed before a chain counts as a loop; the limit of Linux.
const MAX_LINKS: usize = 40;

/// Bytes [`update`] reads at most: 64 MiB.
pub const UPDATE_MAX: usize = 64 << 20;

/// Times [`update`] starts again because another program changed the file meanwhile.
const UPDATE_TRIES: usize = 5;

/// Who may read a file that is written; on Unix only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A new file gets 0644 (less the umask); an existing one keeps its mode.
    Normal,
    /// It holds a secret: a new file gets 0600, an existing one loses all but its owner's read and write bits.
    Private,
    /// A new file gets 0755 (less the umask); an existing one keeps its mode.
    Script,
    /// These permission bits, whatever the file had: what an undo brings back.
    Exactly(u32),
}

impl Mode {
    fn of_new(self) -> u32 {
        match self {
            Self::Normal => 0o644,
            Self::Private => 0o600,
            Self::Script => 0o755,
            Self::Exactly(bits) => bits,
        }
    }

    fn of_existing(self, old: u32) -> u32 {
        match self {
            Self::Normal | Self::Script => old,
            Self::Private => old & 0o600,
            Self::Exactly(bits) => bits,
        }
    }
}

/// The file that `path` stands for: the end of its chain of links, there or not. Folders on the way stay as
/// they are written.
///
/// # Errors
/// When more than 40 links follow each other, or one cannot be read.
pub fn resolve(path: &Path) -> Result<PathBuf, Failure> {
    let mut here = path.to_path_buf();
    for _ in 0..=MAX_LINKS {
        let to = match fs::symlink_metadata(&here) {
            Ok(metadata) if metadata.is_symlink() => fs::read_link(&here),
            Ok(_) => return Ok(here),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(here),
            Err(error) => Err(error),
        };
        let to = to.map_err(|error| Failure::io("read the link", path, &error))?;
        here = parent(&here).join(to);
    }
    Err(Failure::new(format!("could not follow {}", path.display())).cause("too many links, one after the other"))
}

/// Replaces the content of `path` at once: temporary file beside it, fsync, rename, fsync of the folder. A link
/// stays and its target is replaced; a missing target and missing folders are made. An existing file keeps its
/// mode (see [`Mode`]) and, as far as the system lets us, its owner. Nothing is written when the file holds
/// `bytes` already. True when the content or the mode was changed.
///
/// # Errors
/// When the path is no regular file or may not be written; no temporary file stays then.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: Mode) -> Result<bool, Failure> {
    write(path, bytes, mode, After::Lasting)
}

/// As [`write_atomic`] without the fsync of the folder: after a power cut the file is whole, but it may be the old one
/// (or not there yet). For a step of an operation that ends with a write that lasts, and takes its earlier ones along:
/// file systems keep the order of renames.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_whole(path: &Path, bytes: &[u8], mode: Mode) -> Result<bool, Failure> {
    write(path, bytes, mode, After::Whole)
}

/// As [`write_atomic`] without any fsync: readers see the old file or the new one, but after a power cut it may hold
/// anything. Only for what is disposable and bears its own checksum, such as an index.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_disposable(path: &Path, bytes: &[u8], mode: Mode) -> Result<bool, Failure> {
    write(path, bytes, mode, After::Anything)
}

/// Makes the file `path`, whose folders are made, with `bytes` in it, and waits until both are on the disk. For a file
/// that nobody looks for before we say so, such as the record of an operation: one fsync, where replacing takes two.
///
/// # Errors
/// When something is at `path` already or it may not be written; nothing of ours stays then.
pub fn write_new(path: &Path, bytes: &[u8], mode: Mode) -> Result<(), Failure> {
    make_dir(parent(path))?;
    let failed = |error: io::Error| Failure::io("write", path, &error);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode.of_new());
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|error| {
        drop(super::remove_file(path));
        failed(error)
    })
}

/// What a power cut right after a write leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// The new file.
    Lasting,
    /// The old or the new one.
    Whole,
    /// It is not waited for.
    Anything,
}

fn write(path: &Path, bytes: &[u8], mode: Mode, after: After) -> Result<bool, Failure> {
    let target = resolve(path)?;
    make_dir(parent(&target))?;
    write_resolved(&target, bytes, mode, after).map_err(|error| {
        let failure = Failure::io("write", path, &error);
        if target == path { failure } else { failure.cause(format!("it is a link to {}", target.display())) }
    })
}

fn write_resolved(target: &Path, bytes: &[u8], mode: Mode, after: After) -> io::Result<bool> {
    let old = match fs::metadata(target) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        Ok(_) => return Err(not_regular()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(old) = &old
        && after != After::Anything
        && holds(target, old, bytes)
    {
        return tighten(target, old, mode);
    }
    let folder = parent(target);
    let mut builder = tempfile::Builder::new();
    let prefix = temporary_prefix(target);
    builder.prefix(&prefix).suffix(TEMPORARY);
    // Beside an existing file the temporary one is closed to others until it has that file's mode.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(match old {
        Some(_) => 0o600,
        None => mode.of_new(),
    }));
    fault::point("making a file")?;
    let mut temporary = builder.tempfile_in(folder)?;
    fault::point("writing a file")?;
    temporary.write_all(bytes)?;
    if let Some(old) = &old {
        keep_owner(temporary.as_file(), old);
        set_mode(temporary.as_file(), mode.of_existing(mode_of(old)))?;
    }
    if after != After::Anything {
        temporary.as_file().sync_all()?;
    }
    fault::point("replacing a file")?;
    temporary.persist(target).map_err(|error| error.error)?;
    fault::point("after a file was replaced")?;
    if after == After::Lasting {
        sync_folder(folder);
    }
    Ok(true)
}

/// What the temporary files of [`write_atomic`] end with.
const TEMPORARY: &str = ".tmp";

/// What the temporary files for `target` begin with: its name, so that what a killed process left can be told from the
/// files of others.
fn temporary_prefix(target: &Path) -> String {
    let name: String = target.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    format!(".{name}.new-")
}

/// Removes what killed processes left of files that were to replace `target`. Whoever calls this holds the lock that
/// writers of `target` hold. What cannot be removed stays; it harms nobody.
pub fn sweep(target: &Path) {
    let prefix = temporary_prefix(target);
    for entry in fs::read_dir(parent(target)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(TEMPORARY) {
            let _ = super::remove_file(&entry.path());
        }
    }
}

/// True when the file holds exactly `bytes`; one that cannot be read counts as different.
fn holds(target: &Path, old: &Metadata, bytes: &[u8]) -> bool {
    if u64::try_from(bytes.len()) != Ok(old.len()) {
        return false;
    }
    let mut content = Vec::with_capacity(bytes.len());
    let Ok(file) = open_read(target) else { return false };
    file.take(old.len() + 1).read_to_end(&mut content).is_ok() && content == bytes
}

/// For a file with the right content: takes away what a secret may not have. True when there was something.
fn tighten(target: &Path, old: &Metadata, mode: Mode) -> io::Result<bool> {
    let (is, wanted) = (mode_of(old), mode.of_existing(mode_of(old)));
    if is == wanted {
        return Ok(false);
    }
    set_mode(&open_read(target)?, wanted)?;
    Ok(true)
}

/// Gives the new file to the old one's owner, so that a run as root does not lock the person out of their
/// settings. Anyone else may not give files away; then it stays ours.
fn keep_owner(file: &File, old: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let ours = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
        if !ours {
            let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    #[cfg(not(unix))]
    let _ = (file, old);
}

/// Reads `path`, lets `change` make new content of the old (`None`: there is no file) and writes that, under a
/// lock beside the file (`.<name>.lock`, which stays), so that no other process of ours comes between.
/// `change` returns `None` to leave the file as it is. A program that does not know our lock is noticed by
/// reading again before the write; then `change` runs anew. True when the file was changed.
///
/// # Errors
/// Those of `change`, of [`Lock::acquire`] within [`LOCK_WAIT`], of reading (at most [`UPDATE_MAX`] bytes) and
/// of [`write_atomic`]; and when the file changes each time.
pub fn update<F>(path: &Path, mode: Mode, change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    locked_update(path, mode, After::Lasting, change)
}

/// As [`update`] with the write of [`write_whole`].
///
/// # Errors
/// As [`update`].
pub fn update_whole<F>(path: &Path, mode: Mode, change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    locked_update(path, mode, After::Whole, change)
}

fn locked_update<F>(path: &Path, mode: Mode, after: After, change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    let target = resolve(path)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let beside = parent(&target).join(format!(".{name}.lock"));
    let what = format!("update of {}", path.display());
    let _held = Lock::acquire(&beside, LOCK_WAIT, &what)?;
    update_held(path, mode, after, change)
}

/// As [`update`], under a lock the caller holds: for files of other programs, whose folders are not ours to
/// leave lock files in, and for several files under one lock.
///
/// # Errors
/// As [`update`], but for the lock.
pub fn update_under<F>(_held: &Lock, path: &Path, mode: Mode, change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    update_held(path, mode, After::Lasting, change)
}

/// As [`update_under`] with the write of [`write_whole`].
///
/// # Errors
/// As [`update_under`].
pub(super) fn update_whole_under<F>(_held: &Lock, path: &Path, mode: Mode, change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    update_held(path, mode, After::Whole, change)
}

fn update_held<F>(path: &Path, mode: Mode, after: After, mut change: F) -> Result<bool, Failure>
where
    F: FnMut(Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>,
{
    for _ in 0..UPDATE_TRIES {
        let old = super::read_bounded(path, UPDATE_MAX)?;
        let Some(new) = change(old.as_deref())? else { return Ok(false) };
        if super::read_bounded(path, UPDATE_MAX)? == old {
            return write(path, &new, mode, after);
        }
    }
    Err(Failure::new(format!("could not change {}", path.display()))
        .cause("another program keeps changing it")
        .hint("close the program that uses it and try again"))
}
