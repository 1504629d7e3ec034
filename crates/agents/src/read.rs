//! Bounded looks at the disk for detection. It never opens anything but regular files, never lists more
//! than [`LIST`] entries and never writes. The other rooms of this crate call it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Entries of one folder that are looked at; a folder with more is not a version manager's.
pub(crate) const LIST: usize = 500;

/// The bytes of a regular file of at most `max` bytes. `None` when it is missing, larger, unreadable or not
/// a regular file: a FIFO or a device would block, so the kind is asked before anything is opened.
pub(crate) fn small_file(path: &Path, max: u64) -> Option<Vec<u8>> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > max {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// At most the first `max` bytes of a regular file, whatever its size; `None` as for [`small_file`].
pub(crate) fn head(path: &Path, max: u64) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The names in a folder, at most [`LIST`], sorted so that two runs agree. Empty when it cannot be listed.
pub(crate) fn names_in(dir: &Path) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<OsString> = entries.take(LIST).filter_map(|e| e.ok().map(|e| e.file_name())).collect();
    names.sort();
    names
}

/// What is in a folder, however much that is, sorted so that two runs agree. Empty when it cannot be listed.
pub(crate) fn all_in(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths
}

/// The entries of a folder, however many there are, sorted by name so that two runs agree. Empty when it cannot be listed.
/// They hold the folder open, so they are not to be kept.
pub(crate) fn entries_in(dir: &Path) -> Vec<(OsString, fs::DirEntry)> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut entries: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| (entry.file_name(), entry))).collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries
}

/// True when an entry of a folder may be a folder itself, or a link to one.
pub(crate) fn may_be_dir(entry: &fs::DirEntry) -> bool {
    !entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// True when the name of `path` ends with `.ext`.
pub(crate) fn has_ext(path: &Path, ext: &str) -> bool {
    path.extension().is_some_and(|found| found == ext)
}

/// True when `path` is a folder, links followed.
pub(crate) fn is_dir(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Where `path` really is: the longest part that exists with links resolved, and the rest as it was. So two
/// folders that will be one once they exist already compare equal.
pub(crate) fn true_path(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(real) = fs::canonicalize(at) {
            return rest.iter().rev().fold(real, |real, name| real.join(name));
        }
        match (at.file_name(), at.parent()) {
            (Some(name), Some(parent)) => {
                rest.push(name.to_owned());
                at = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

/// Without doubled or trailing slashes and without `.` (seed V1); `..` and links stay as they are.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::io::Write::write_all(&mut File::options().create(true).append(true).open(&file).unwrap(), b"12345")
            .unwrap();
        assert_eq!(small_file(&file, 5).as_deref(), Some(&b"12345"[..]));
        assert_eq!(small_file(&file, 4), None);
        assert_eq!(head(&file, 2).as_deref(), Some(&b"12"[..]));
        assert_eq!(small_file(dir.path(), 100), None);
        assert_eq!(small_file(&dir.path().join("none"), 100), None);
    }

    #[test]
    #[cfg(unix)]
    fn true_path_resolves_what_exists_and_keeps_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        std::os::unix::fs::symlink(&real, real.join("link")).unwrap();
        assert_eq!(true_path(&real.join("link/a/b")), real.join("a/b"));
        assert_eq!(tidy(Path::new("/a//b/./c/")).to_str(), Some("/a/b/c"));
    }
}
