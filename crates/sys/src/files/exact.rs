//! Trees that change place, whole: by rename, or across file systems as a copy that is compared before the original goes.
//! It never replaces anything and never follows a link. Callers are those of `files`, for trash and restore.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::{fault, make_dir, mode_of, open_read, parent, remove_tree, set_mode, sync_folder};
use crate::Failure;

/// Moves the file, link or folder `from` to `to`, which must not be there; folders that `to` needs are made. On one file
/// system it is renamed; else copied with modes and times, compared byte for byte, and only then removed.
///
/// # Errors
/// When `from` is not there, `to` is, or the system refuses. Then `from` is as it was and nothing is left at `to`; when
/// only the removal of `from` failed, what was not yet removed of it stays and so does the copy, and the failure says so.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn relocate(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = || Failure::new(format!("could not move {} to {}", from.display(), to.display()));
    if fs::symlink_metadata(to).is_ok() {
        return Err(failed().cause("something is there already"));
    }
    make_dir(parent(to))?;
    fault::point("a move").map_err(|error| failed().cause(error))?;
    match fs::rename(from, to) {
        Ok(()) => {
            sync_folder(parent(to));
            sync_folder(parent(from));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::CrossesDevices => across(from, to),
        Err(error) => Err(failed().cause(crate::failure::plain(&error))),
    }
}

fn across(from: &Path, to: &Path) -> Result<(), Failure> {
    copy_exact(from, to)?;
    remove_tree(from).map(drop).map_err(|failure| failure.hint(format!("a whole copy of it is at {}", to.display())))
}

/// Copies the file, link or folder `from` to `to`, which must not be there, with permission bits and times of change, and
/// compares what was written with the original.
///
/// # Errors
/// When something cannot be read or written, is neither file, folder nor link, or changed meanwhile. Nothing is left at
/// `to` then.
pub fn copy_exact(from: &Path, to: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(Failure::new(format!("could not copy {} to {}", from.display(), to.display()))
            .cause("something is there already"));
    }
    make_dir(parent(to))?;
    copy(from, to).inspect_err(|_| {
        // What is left of a copy is of no use; the original is whole.
        let _ = remove_tree(to);
    })?;
    sync_folder(parent(to));
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io("copy", from, &error).cause(format!("to {}", to.display()));
    let metadata = fs::symlink_metadata(from).map_err(failed)?;
    if metadata.is_symlink() {
        return link(from, to).map_err(failed);
    }
    if metadata.is_file() {
        return copy_file(from, to).map_err(failed);
    }
    if !metadata.is_dir() {
        return Err(failed(io::Error::new(ErrorKind::InvalidInput, "it is neither a file, a folder nor a link")));
    }
    super::make_private_dir(to)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    #[cfg(unix)]
    File::open(to).and_then(|folder| stamp(&folder, &metadata)).map_err(failed)?;
    Ok(())
}

/// Gives every file of the tree `from` a second name below `to`, for files that nobody writes in place; a copy as
/// [`copy_exact`] makes it where the file system has no second names or is another one. Links are made anew, sockets and
/// the like are left out, and what is at `to` already stays as it is: only what is missing comes.
///
/// # Errors
/// When something cannot be read or made; what was made stays.
#[allow(clippy::disallowed_methods)] // the door itself
pub fn link_missing(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io("copy", from, &error).cause(format!("to {}", to.display()));
    let metadata = fs::symlink_metadata(from).map_err(failed)?;
    let there = fs::symlink_metadata(to).ok();
    if !metadata.is_dir() {
        if there.is_some() || !(metadata.is_file() || metadata.is_symlink()) {
            return Ok(());
        }
        make_dir(parent(to))?;
        if metadata.is_file() && fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        return copy_exact(from, to);
    }
    match there {
        Some(there) if !there.is_dir() => return Ok(()),
        Some(_) => {}
        None => {
            make_dir(to)?;
            #[cfg(unix)]
            File::open(to).and_then(|folder| set_mode(&folder, mode_of(&metadata) | 0o700)).map_err(failed)?;
        }
    }
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        link_missing(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// True when both are files with the same bytes, or links to the same place.
///
/// # Errors
/// When one cannot be read.
pub fn same_content(one: &Path, other: &Path) -> Result<bool, Failure> {
    let look = |path: &Path| fs::symlink_metadata(path).map_err(|error| Failure::io("read", path, &error));
    let (a, b) = (look(one)?, look(other)?);
    if a.is_symlink() && b.is_symlink() {
        return Ok(fs::read_link(one).ok() == fs::read_link(other).ok());
    }
    if !a.is_file() || !b.is_file() || a.len() != b.len() {
        return Ok(false);
    }
    let open = |path: &Path| open_read(path).map_err(|error| Failure::io("read", path, &error));
    same(&mut open(one)?, &mut open(other)?).map_err(|error| Failure::io("read", one, &error))
}

/// Waits until what was written on the file system of `folder` is on its disk: one wait for a whole tree of copies.
pub fn sync_disk(folder: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(folder) = File::open(folder) {
        let _ = rustix::fs::syncfs(&folder);
    }
    #[cfg(not(target_os = "linux"))]
    sync_folder(folder);
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::new(ErrorKind::Unsupported, "it is a link"))
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open_read(from)?;
    let metadata = source.metadata()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()?;
    if !same(&mut open_read(from)?, &mut open_read(to)?)? {
        return Err(io::Error::other("it changed while it was copied"));
    }
    stamp(&copy, &metadata)
}

fn same(one: &mut File, other: &mut File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let count = one.read(&mut a)?;
        if count == 0 {
            return Ok(other.read(&mut b)? == 0);
        }
        match other.read_exact(&mut b[..count]) {
            Ok(()) if a[..count] == b[..count] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

fn stamp(file: &File, metadata: &Metadata) -> io::Result<()> {
    set_mode(file, mode_of(metadata))?;
    file.set_modified(metadata.modified()?)
}

#[cfg(all(test, unix))]
#[allow(clippy::disallowed_methods, clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::time::{Duration, SystemTime};

    use super::*;

    fn tree(at: &Path) {
        fs::create_dir_all(at.join("in/empty")).unwrap();
        fs::write(at.join("in/f"), "text").unwrap();
        fs::set_permissions(at.join("in/f"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("in/f", at.join("link")).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::open(at.join("in/f")).unwrap().set_modified(old).unwrap();
        File::open(at.join("in")).unwrap().set_modified(old).unwrap();
    }

    fn is_tree(at: &Path) -> bool {
        let meta = fs::metadata(at.join("in/f")).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!((meta.permissions().mode() & 0o777, meta.modified().unwrap()), (0o640, old));
        assert_eq!(fs::metadata(at.join("in")).unwrap().modified().unwrap(), old);
        fs::read_link(at.join("link")).unwrap() == Path::new("in/f") && at.join("in/empty").is_dir()
    }

    #[test]
    fn a_copy_and_a_move_have_modes_times_and_links_and_replace_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b, c) = (dir.path().join("a"), dir.path().join("deep/b"), dir.path().join("c"));
        tree(&a);
        copy_exact(&a, &b).unwrap();
        assert!(is_tree(&a) && is_tree(&b));
        assert!(copy_exact(&a, &b).is_err() && relocate(&a, &b).is_err());
        relocate(&b, &c).unwrap();
        assert!(is_tree(&c) && !b.exists());
        // As between two file systems.
        across(&c, &b).unwrap();
        assert!(is_tree(&b) && !c.exists());
    }

    #[test]
    fn only_what_is_missing_is_linked() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        tree(&a);
        fs::create_dir_all(b.join("in")).unwrap();
        fs::write(b.join("in/f"), "mine").unwrap();
        link_missing(&a, &b).unwrap();
        sync_disk(&b);
        assert_eq!(fs::read(b.join("in/f")).unwrap(), b"mine");
        assert!(b.join("in/empty").is_dir() && same_content(&a.join("link"), &b.join("link")).unwrap());
        assert!(!same_content(&a.join("in/f"), &b.join("in/f")).unwrap());
        fs::remove_file(b.join("in/f")).unwrap();
        link_missing(&a, &b).unwrap();
        assert!(is_tree_without_folder_times(&b) && same_content(&a.join("in/f"), &b.join("in/f")).unwrap());
    }

    fn is_tree_without_folder_times(at: &Path) -> bool {
        let meta = fs::metadata(at.join("in/f")).unwrap();
        meta.permissions().mode() & 0o777 == 0o640 && fs::read_link(at.join("link")).unwrap() == Path::new("in/f")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_move_between_file_systems_is_whole() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
        if fs::metadata(other.path()).unwrap().dev() == fs::metadata(dir.path()).unwrap().dev() {
            return; // There is only one.
        }
        let (a, b) = (dir.path().join("a"), other.path().join("b"));
        tree(&a);
        relocate(&a, &b).unwrap();
        assert!(is_tree(&b) && !a.exists());
    }

    #[test]
    fn what_cannot_be_copied_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        tree(&a);
        let _socket = std::os::unix::net::UnixListener::bind(a.join("in/socket")).unwrap();
        let failure = across(&a, &b).unwrap_err().to_string();
        assert!(failure.contains("in/socket"), "{failure}");
        assert!(!b.exists() && a.join("in/f").exists());
    }
}
