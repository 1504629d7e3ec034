//! Moving a file or folder to another name, and removing a folder that has become empty. It never replaces
//! anything and never removes what is not empty. Callers are those of `files`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{make_dir, parent};
use crate::Failure;

/// Gives `from` the name `to`, whose folders are made; nothing may be there yet.
///
/// # Errors
/// When `to` exists, and when the system refuses: no `from`, no right to, or another file system.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = || Failure::new(format!("could not move {} to {}", from.display(), to.display()));
    if fs::symlink_metadata(to).is_ok() {
        return Err(failed().cause("something is there already"));
    }
    make_dir(parent(to))?;
    fs::rename(from, to).map_err(|error| failed().cause(crate::failure::plain(&error)))
}

/// Removes the folder `path` when it is empty. False when it is not, or is not there.
///
/// # Errors
/// When it is no folder or may not be removed.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn remove_empty_dir(path: &Path) -> Result<bool, Failure> {
    match fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(false),
        Err(error) => Err(Failure::io("remove", path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced_and_only_empty_folders_go() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("deep/er/b"));
        make_dir(&a.join("in")).unwrap();
        rename(&a, &b).unwrap();
        assert!(b.join("in").is_dir() && !a.exists());
        make_dir(&a).unwrap();
        assert!(rename(&a, &b).unwrap_err().to_string().ends_with("something is there already"));
        assert!(!remove_empty_dir(&b).unwrap() && remove_empty_dir(&a).unwrap() && !remove_empty_dir(&a).unwrap());
    }
}
