//! A file that grows until it is whole and only then has its name: for output that is too long to be held in memory.
//! It is for its owner only (0600), and what is not kept is removed. Callers are those of `files`.

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{make_private_dir, parent, resolve, sync_folder};
use crate::Failure;

/// A file in the making; dropped without [`Draft::keep`] it is gone.
#[derive(Debug)]
pub struct Draft {
    file: BufWriter<tempfile::NamedTempFile>,
    target: PathBuf,
}

impl Draft {
    /// Begins a file that shall be at `target`, in the same folder, which is made (0700) when missing.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        let target = resolve(target)?;
        let folder = parent(&target);
        make_private_dir(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
        let file = builder.tempfile_in(folder).map_err(|error| Failure::io("write", &target, &error))?;
        Ok(Self { file: BufWriter::new(file), target })
    }

    /// Gives it the first of the names that is free, written to the disk: `name(1)`, `name(2)` and so on, all in the folder
    /// that it was begun in. Gives the path and the number of bytes.
    ///
    /// # Errors
    /// When it cannot be written; nothing of ours stays then.
    pub fn keep_free(self, name: &dyn Fn(u64) -> PathBuf) -> Result<(PathBuf, u64), Failure> {
        let target = self.target;
        let failed = |error: io::Error| Failure::io("write", &target, &error);
        let mut file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let bytes = file.as_file().metadata().map_err(failed)?.len();
        let mut number = 1;
        loop {
            let path = name(number);
            match file.persist_noclobber(&path) {
                Ok(_) => {
                    sync_folder(parent(&path));
                    return Ok((path, bytes));
                }
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
                Err(error) => return Err(failed(error.error)),
            }
            number += 1;
        }
    }

    /// Gives it its name, written to the disk. With `replace` a regular file that is there goes; the number of bytes, or
    /// `None` when something is there and was not to be replaced.
    ///
    /// # Errors
    /// When it cannot be written, or what is there is no regular file; nothing of ours stays then.
    pub fn keep(self, replace: bool) -> Result<Option<u64>, Failure> {
        let target = self.target;
        let failed = |error: io::Error| Failure::io("write", &target, &error);
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let bytes = file.as_file().metadata().map_err(failed)?.len();
        if replace {
            if fs::symlink_metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(failed(super::not_regular()));
            }
            file.persist(&target).map_err(|error| failed(error.error))?;
        } else {
            match file.persist_noclobber(&target) {
                Ok(_) => {}
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(None),
                Err(error) => return Err(failed(error.error)),
            }
        }
        sync_folder(parent(&target));
        Ok(Some(bytes))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_name_when_it_is_whole_and_replaces_only_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/f");
        let names = || fs::read_dir(dir.path().join("new")).unwrap().count();
        let mut draft = Draft::create(&path).unwrap();
        draft.write_all(b"one").unwrap();
        assert!(!path.exists());
        assert_eq!(draft.keep(false).unwrap(), Some(3));
        #[cfg(unix)]
        assert_eq!(super::super::mode_of(&fs::metadata(&path).unwrap()), 0o600);
        let mut draft = Draft::create(&path).unwrap();
        draft.write_all(b"second").unwrap();
        assert_eq!(draft.keep(false).unwrap(), None);
        drop(Draft::create(&path).unwrap());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), ("one", 1));
        assert_eq!(Draft::create(&path).unwrap().keep(true).unwrap(), Some(0));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(Draft::create(&path).unwrap().keep(true).is_err());
        assert_eq!(names(), 1);
    }
}
