//! Old contents, kept before they are replaced: what undo reads. It never touches the original and removes only
//! its own copies beyond the newest. Callers are those that write files of other programs (seed, Safety).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{fault, found, make_private_dir, mode_of, open_read, set_mode, sync_folder};
use crate::{Failure, clock};

/// Copies kept of one file: 20 (seed, Safety).
pub const KEEP: usize = 20;

/// Copies `path` (links followed) to `<dir>/<name>.<UTC time with ms>-<n>`, e.g.
/// `settings.json.20260301T120000.000Z-0`, with the file's mode; `dir` is made for its owner only. Then only the
/// newest `keep` (at least one) of that name stay, so files of the same name need folders of their own. `None`
/// when there is no such file.
///
/// # Errors
/// When the file cannot be read, is no regular file, or `dir` cannot be written. Old copies that cannot be
/// removed are left.
pub fn backup(path: &Path, dir: &Path, keep: usize) -> Result<Option<PathBuf>, Failure> {
    kept(path, dir, keep, true)
}

/// As [`backup`], but a power cut may take the copy along: for files of our own, which can be made again.
///
/// # Errors
/// As [`backup`].
pub(super) fn backup_whole(path: &Path, dir: &Path, keep: usize) -> Result<Option<PathBuf>, Failure> {
    kept(path, dir, keep, false)
}

fn kept(path: &Path, dir: &Path, keep: usize, lasting: bool) -> Result<Option<PathBuf>, Failure> {
    let mut source = match open_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io("read", path, &error)),
    };
    let Some(name) = path.file_name() else {
        return Err(Failure::new(format!("could not back up {}", path.display())).cause("it has no name"));
    };
    make_private_dir(dir)?;
    let copied = copy(&mut source, dir, &name.to_string_lossy(), lasting);
    let copied =
        copied.map_err(|error| Failure::io("back up", path, &error).cause(format!("into {}", dir.display())))?;
    prune(dir, &name.to_string_lossy(), keep.max(1));
    Ok(Some(copied))
}

/// Writes the copy under a temporary name first, so that what bears a backup's name is whole.
fn copy(source: &mut fs::File, dir: &Path, name: &str, lasting: bool) -> io::Result<PathBuf> {
    let mut temporary = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(dir)?;
    fault::point("a backup")?;
    io::copy(source, &mut temporary)?;
    set_mode(temporary.as_file(), mode_of(&source.metadata()?))?;
    if lasting {
        temporary.as_file().sync_all()?;
    }
    let stamp = jiff::Timestamp::try_from(clock::wall()).map_err(io::Error::other)?;
    let stamp = stamp.strftime("%Y%m%dT%H%M%S%.3fZ");
    let mut number = 0_u64;
    loop {
        let path = dir.join(format!("{name}.{stamp}-{number}"));
        match temporary.persist_noclobber(&path) {
            Ok(_) => {
                if lasting {
                    sync_folder(dir);
                }
                return Ok(path);
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => temporary = error.file,
            Err(error) => return Err(error.error),
        }
        number += 1;
    }
}

/// Removes all but the newest `keep` copies of `name`. Another process may do the same at this moment.
#[allow(clippy::disallowed_methods)] // the door itself
fn prune(dir: &Path, name: &str, keep: usize) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let entries: Vec<_> = entries.flatten().collect();
    // Half a copy of a process that was killed: nobody makes one for an hour.
    let hour_ago = clock::wall().checked_sub(Duration::from_secs(60 * 60));
    for entry in entries.iter().filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")) {
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        if written.zip(hour_ago).is_some_and(|(written, hour_ago)| written < hour_ago) {
            let _ = found(fs::remove_file(entry.path()));
        }
    }
    let mut copies: Vec<_> =
        entries.iter().filter_map(|entry| Some((age(entry.file_name().to_str()?, name)?, entry.path()))).collect();
    copies.sort();
    let surplus = copies.len().saturating_sub(keep);
    for (_, path) in copies.drain(..surplus) {
        let _ = found(fs::remove_file(path));
    }
}

/// The time and number in the name of a copy of `name`; `None` for any other file.
fn age(file: &str, name: &str) -> Option<(String, u64)> {
    let (stamp, number) = file.strip_prefix(name)?.strip_prefix('.')?.split_once('-')?;
    let shape: String = stamp.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    (shape == "00000000T000000.000Z").then_some((stamp.to_owned(), number.parse().ok()?))
}
