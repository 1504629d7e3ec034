//! The only writer: atomic replacement, locks, backups, temporary trees, removal; every failure names its path.
//! It never follows a link out of what it removes, never leaves half a file, and knows no file's format. Any
//! crate that changes the disk calls it; two exceptions are named in the architecture: the index and the log.

mod atomic;
mod backup;
mod draft;
mod exact;
mod lock;
mod moving;
mod temp;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path};

pub use atomic::{
    Mode, UPDATE_MAX, resolve, update, update_under, update_whole, write_atomic, write_disposable, write_new,
    write_whole,
};
pub use backup::{KEEP, backup};
pub use draft::Draft;
pub use exact::{copy_exact, link_missing, relocate, same_content, sync_disk};
pub use lock::{LOCK_WAIT, Lock};
pub use moving::{remove_empty_dir, rename};
pub use temp::TempTree;

use crate::Failure;

/// Makes the folder `path` and its parents; one that is there already is fine.
///
/// # Errors
/// When a part of the path is no folder or may not be written.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn make_dir(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::io("make the folder", path, &error))
}

/// As [`make_dir`], but folders that are made are for their owner only (0700).
///
/// # Errors
/// As [`make_dir`].
pub fn make_private_dir(path: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| Failure::io("make the folder", path, &error))
}

/// Empties `path` and writes `bytes` into it, without the care of [`write_atomic`]: for scratch files that another
/// program made and waits for, such as those of the shell wrapper.
///
/// # Errors
/// When it may not be written.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::io("write", path, &error))
}

/// Moves `from` to `to`, which must not be there; folders that `to` needs are made. On one file system only.
///
/// # Errors
/// When `from` is not there, `to` is, or the system refuses.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn move_to(from: &Path, to: &Path) -> Result<(), Failure> {
    make_dir(parent(to))?;
    if fs::symlink_metadata(to).is_ok() {
        return Err(Failure::new(format!("could not move {} to {}", from.display(), to.display()))
            .cause("something is there already"));
    }
    fs::rename(from, to).map_err(|error| Failure::io("move", from, &error).cause(format!("to {}", to.display())))
}

/// Copies the tree `from` to `to`, which is made: files with their modes and times (shared blocks where the file system can),
/// links as links, folders; sockets, devices and the like are left out. The number of bytes copied.
///
/// # Errors
/// When something cannot be read or written; what was copied stays.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn copy_tree(from: &Path, to: &Path) -> Result<u64, Failure> {
    let failed = |error: io::Error| Failure::io("copy", from, &error);
    let metadata = fs::symlink_metadata(from).map_err(failed)?;
    make_dir(parent(to))?;
    if metadata.is_symlink() {
        let target = fs::read_link(from).map_err(failed)?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, to).map_err(failed)?;
        #[cfg(not(unix))]
        drop(target);
        return Ok(0);
    }
    if metadata.is_file() {
        let copied = fs::copy(from, to).map_err(failed)?;
        // Where they cannot be set, the copy is as good as a new file. One that is written to meanwhile is newer than this.
        if let (Ok(modified), Ok(file)) = (metadata.modified(), fs::File::open(to)) {
            let _ = file.set_modified(modified);
        }
        return Ok(copied);
    }
    if !metadata.is_dir() {
        return Ok(0);
    }
    make_dir(to)?;
    let mut total = 0;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        total += copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(total)
}

/// Removes the file or the link `path`, never what a link points to. False when it was not there.
///
/// # Errors
/// When it is a folder or may not be removed.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn remove_file(path: &Path) -> Result<bool, Failure> {
    found(fs::remove_file(path)).map_err(|error| Failure::io("remove", path, &error))
}

/// Removes `path` and everything below it; links are removed, not followed. False when it was not there.
///
/// # Errors
/// When something in it may not be removed, and always for a path that is relative, holds `..` or has fewer than
/// two components: such a path is a mistake of the caller (`/`, `/home`), never a folder of ours.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn remove_tree(path: &Path) -> Result<bool, Failure> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    if names < 2 || !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(Failure::new(format!("will not remove {}", path.display()))
            .cause("only an absolute path of two or more folders, without .., can be removed with all it holds"));
    }
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => found(fs::remove_dir_all(path)),
        Ok(_) => found(fs::remove_file(path)),
        Err(error) => found(Err(error)),
    };
    removed.map_err(|error| Failure::io("remove", path, &error))
}

/// Adds one line at the end of `path` in one write, so that lines of several processes do not mix. Line ends
/// inside `line` become blanks; the file and its folders are made when missing (0600, for logs).
///
/// # Errors
/// When it is no regular file or may not be written.
pub fn append_line(path: &Path, line: &str) -> Result<(), Failure> {
    let mut text = line.replace(['\n', '\r'], " ");
    text.push('\n');
    make_dir(parent(path))?;
    open_append(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::io("write", path, &error))
}

/// Adds `bytes` at the end of the file `path`, which has to be there, without any fsync; where they begin. Who calls it
/// holds a lock, and what is added bears its own checksum: after a power cut it may be anything.
///
/// # Errors
/// When it is not there, is no regular file or may not be written.
pub fn append_disposable(path: &Path, bytes: &[u8]) -> Result<u64, Failure> {
    let failed = |error: io::Error| Failure::io("write", path, &error);
    let mut file = OpenOptions::new().append(true).open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(failed(not_regular()));
    }
    file.write_all(bytes).map_err(failed)?;
    Ok(meta.len())
}

/// The content of the regular file `path`, links followed; `None` when there is none.
///
/// # Errors
/// When it is longer than `max` bytes, is no regular file (a fifo or device is not waited for), or cannot be read.
pub fn read_bounded(path: &Path, max: usize) -> Result<Option<Vec<u8>>, Failure> {
    let (file, length) = match open_sized(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", path, &error)),
    };
    // With room for all of it and one byte more, the second read finds the end.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(max).min(max).saturating_add(1));
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::io("read", path, &error))?;
    if bytes.len() > max {
        let most = crate::text::human::bytes(limit - 1);
        return Err(Failure::new(format!("could not read {}", path.display())).cause(format!("longer than {most}")));
    }
    Ok(Some(bytes))
}

/// The last `max` bytes of the regular file `path`; `None` when there is none.
///
/// # Errors
/// When it is no regular file, or cannot be read.
pub fn read_tail(path: &Path, max: usize) -> Result<Option<Vec<u8>>, Failure> {
    use std::io::{Seek, SeekFrom};
    let failed = |error: io::Error| Failure::io("read", path, &error);
    let mut file = match open_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let max = u64::try_from(max).unwrap_or(u64::MAX);
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max))).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Opens a regular file to read, without waiting for a fifo's writer or a device.
fn open_read(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// As [`open_read`], with the file's length.
fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = unwaited(&mut options).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(not_regular()) }
}

/// Opens a regular file to write at its end; makes it (0600), but not its folder.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    regular(unwaited(&mut options).open(path)?)
}

#[cfg(unix)]
fn unwaited(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    open_flags(options, OFlags::NONBLOCK | OFlags::NOCTTY)
}

#[cfg(not(unix))]
fn unwaited(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn open_flags(options: &mut OpenOptions, flags: rustix::fs::OFlags) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is no regular file")
}

/// The folder of `path`; `.` for a bare name.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether something was there to be done; "not found" is no error.
fn found(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes renames in `folder` last over a power cut: those of [`write_whole`]. Not every file system can do that, and the
/// new content is in place already, so a failure is none of the caller's.
pub fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Permission bits, 0 where there are none.
#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> u32 {
    0
}

/// Sets permission bits of an open file; nothing where there are none.
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

#[cfg(test)]
mod tests;
