//! Behaviour of the writer, each test in a folder of its own.

#![allow(clippy::disallowed_methods)] // tests lay out their folders themselves

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    mode_of(&fs::metadata(path).unwrap()) & 0o777
}

#[cfg(unix)]
fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(unix)]
use std::os::unix::fs::symlink;

#[test]
fn a_new_file_is_written_with_its_folders() {
    let dir = folder();
    let path = dir.path().join("a/b/c.json");
    assert!(write_atomic(&path, b"one", Mode::Normal).unwrap());
    assert_eq!(text(&path), "one");
    assert_eq!(names(path.parent().unwrap()), ["c.json"], "no temporary file stays");
}

#[test]
fn the_same_bytes_are_not_written_again() {
    let dir = folder();
    let path = dir.path().join("f");
    write_atomic(&path, b"one", Mode::Normal).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    assert!(!write_atomic(&path, b"one", Mode::Normal).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
    assert!(write_atomic(&path, b"two", Mode::Normal).unwrap());
    assert_eq!(text(&path), "two");
}

#[test]
#[cfg(unix)]
fn modes_are_kept_and_only_ever_tightened() {
    let dir = folder();
    let path = dir.path().join("f");
    write_atomic(&path, b"0", Mode::Normal).unwrap();
    assert_eq!(mode(&path) & !0o644, 0);
    for kept in [0o640, 0o755, 0o444, 0o600] {
        chmod(&path, kept);
        write_atomic(&path, format!("{kept:o}").as_bytes(), Mode::Normal).unwrap();
        assert_eq!(mode(&path), kept);
    }
    chmod(&path, 0o664);
    assert!(write_atomic(&path, b"token", Mode::Private).unwrap());
    assert_eq!(mode(&path), 0o600);
    chmod(&path, 0o644);
    assert!(write_atomic(&path, b"token", Mode::Private).unwrap(), "right content, but open to others");
    assert_eq!(mode(&path), 0o600);
    let (secret, script) = (dir.path().join("secret"), dir.path().join("script"));
    write_atomic(&secret, b"x", Mode::Private).unwrap();
    write_atomic(&script, b"x", Mode::Script).unwrap();
    assert_eq!(mode(&secret), 0o600);
    assert_eq!(mode(&script) & 0o700, 0o700);
}

/// Report A9: `settings.json` is a link into a folder of dotfiles.
#[test]
#[cfg(unix)]
fn a_link_stays_and_its_target_is_replaced() {
    let dir = folder();
    let (dotfiles, home) = (dir.path().join("dotfiles"), dir.path().join("home"));
    fs::create_dir(&dotfiles).unwrap();
    fs::create_dir(&home).unwrap();
    let target = dotfiles.join("settings.json");
    fs::write(&target, "old").unwrap();
    chmod(&target, 0o640);
    symlink("../dotfiles/settings.json", home.join("middle")).unwrap();
    let link = home.join("settings.json");
    symlink("middle", &link).unwrap();
    assert!(write_atomic(&link, b"new", Mode::Normal).unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(home.join("middle")).unwrap().is_symlink());
    assert_eq!((text(&target), mode(&target)), ("new".to_owned(), 0o640));
    assert_eq!(names(&dotfiles), ["settings.json"]);
}

#[test]
#[cfg(unix)]
fn a_missing_target_of_a_link_is_made() {
    let dir = folder();
    let link = dir.path().join("link");
    symlink("new/folder/file", &link).unwrap();
    write_atomic(&link, b"x", Mode::Normal).unwrap();
    assert_eq!(text(&dir.path().join("new/folder/file")), "x");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
#[cfg(unix)]
fn a_loop_of_links_is_a_failure() {
    let dir = folder();
    symlink("b", dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("b")).unwrap();
    let failure = write_atomic(&dir.path().join("a"), b"x", Mode::Normal).unwrap_err();
    assert!(failure.to_string().contains(dir.path().to_str().unwrap()), "{failure}");
    assert_eq!(names(dir.path()), ["a", "b"]);
}

/// Report A11: the whole folder is a link.
#[test]
#[cfg(unix)]
fn a_linked_folder_works() {
    let dir = folder();
    fs::create_dir(dir.path().join("real")).unwrap();
    symlink("real", dir.path().join("home")).unwrap();
    write_atomic(&dir.path().join("home/f"), b"x", Mode::Normal).unwrap();
    assert_eq!(text(&dir.path().join("real/f")), "x");
}

#[test]
fn what_is_no_file_is_refused_by_name() {
    let dir = folder();
    let path = dir.path().join("folder");
    fs::create_dir(&path).unwrap();
    let failure = write_atomic(&path, b"x", Mode::Normal).unwrap_err().to_string();
    assert!(failure.contains(path.to_str().unwrap()) && failure.contains("no regular file"), "{failure}");
    let below_a_file = dir.path().join("file/x");
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(write_atomic(&below_a_file, b"x", Mode::Normal).is_err());
    assert_eq!(names(dir.path()), ["file", "folder"]);
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_is_named_and_left_clean() {
    if rustix::process::geteuid().is_root() {
        return; // root may write everywhere
    }
    let dir = folder();
    let path = dir.path().join("f");
    fs::write(&path, "old").unwrap();
    chmod(dir.path(), 0o500);
    let failure = write_atomic(&path, b"new", Mode::Normal).unwrap_err().to_string();
    chmod(dir.path(), 0o700);
    assert!(failure.contains(path.to_str().unwrap()), "{failure}");
    assert_eq!((names(dir.path()), text(&path)), (vec!["f".to_owned()], "old".to_owned()));
}

/// Report A13: twenty at once lose nothing.
#[test]
fn updates_at_once_lose_nothing() {
    let dir = folder();
    let path = dir.path().join("list");
    std::thread::scope(|scope| {
        for number in 0..20 {
            let path = &path;
            scope.spawn(move || {
                let changed = update(path, Mode::Normal, |old| {
                    let mut new = old.unwrap_or_default().to_vec();
                    new.extend(format!("{number}\n").bytes());
                    Ok(Some(new))
                });
                assert!(changed.unwrap());
            });
        }
    });
    let mut numbers: Vec<u32> = text(&path).lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert_eq!(names(dir.path()), [".list.lock", "list"]);
}

#[test]
fn an_update_may_leave_the_file_or_fail() {
    let dir = folder();
    let path = dir.path().join("f");
    assert!(!update(&path, Mode::Normal, |old| Ok(old.map(<[u8]>::to_vec))).unwrap());
    assert!(!path.exists());
    let failure = update(&path, Mode::Normal, |_| Err(Failure::new("no"))).unwrap_err();
    assert_eq!(failure, Failure::new("no"));
}

#[test]
fn an_update_starts_again_when_another_program_wrote() {
    let dir = folder();
    let path = dir.path().join("f");
    let lock = Lock::acquire(&dir.path().join("lock"), LOCK_WAIT, "test").unwrap();
    let mut seen = Vec::new();
    let changed = update_under(&lock, &path, Mode::Normal, |old| {
        seen.push(old.map(<[u8]>::to_vec));
        if old.is_none() {
            fs::write(&path, "theirs").unwrap();
        }
        Ok(Some([old.unwrap_or_default(), b" ours"].concat()))
    });
    assert!(changed.unwrap());
    assert_eq!(seen, [None, Some(b"theirs".to_vec())]);
    assert_eq!(text(&path), "theirs ours");
    let mut count = 0;
    let failure = update_under(&lock, &path, Mode::Normal, |_| {
        count += 1;
        fs::write(&path, count.to_string()).unwrap();
        Ok(Some(Vec::new()))
    });
    assert!(failure.unwrap_err().to_string().contains(path.to_str().unwrap()));
}

#[test]
#[cfg(unix)]
fn a_lock_that_stays_held_names_its_holder() {
    let dir = folder();
    let path = dir.path().join("made/lock");
    let held = Lock::acquire(&path, Duration::ZERO, "lazyagents skills\x1b[31m enable x").unwrap();
    let failure = Lock::acquire(&path, Duration::from_millis(20), "second").unwrap_err().to_string();
    for part in [path.to_str().unwrap(), &std::process::id().to_string(), "(lazyagents skills enable x)"] {
        assert!(failure.contains(part), "{part} in {failure}");
    }
    drop(held);
    assert_eq!(text(&path), "", "the file stays, without an old name");
    Lock::acquire(&path, Duration::ZERO, "third").unwrap();
}

#[test]
fn a_lock_is_waited_for() {
    let dir = folder();
    let path = dir.path().join("lock");
    let held = Lock::acquire(&path, Duration::ZERO, "first").unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| Lock::acquire(&path, Duration::from_secs(60), "second").map(drop));
        drop(held);
        second.join().unwrap().unwrap();
    });
}

#[test]
#[cfg(unix)]
fn a_lock_file_that_is_a_link_is_refused() {
    let dir = folder();
    fs::write(dir.path().join("precious"), "content").unwrap();
    symlink("precious", dir.path().join("lock")).unwrap();
    assert!(Lock::acquire(&dir.path().join("lock"), Duration::ZERO, "x").is_err());
    assert_eq!(text(&dir.path().join("precious")), "content");
}

#[test]
fn the_newest_backups_of_a_file_stay() {
    let dir = folder();
    let (path, copies) = (dir.path().join("s.json"), dir.path().join("backups"));
    assert_eq!(backup(&path, &copies, 3).unwrap(), None);
    fs::create_dir(&copies).unwrap();
    for other in ["s.json", "s.json.bak", "s.json.20200101T000000.000Z-x", "t.20200101T000000.000Z-0"] {
        fs::write(copies.join(other), "").unwrap();
    }
    for old in ["20200101T000000.000Z-9", "20200101T000000.000Z-10"] {
        fs::write(copies.join(format!("s.json.{old}")), old).unwrap();
    }
    let mut made = Vec::new();
    for content in ["one", "two"] {
        fs::write(&path, content).unwrap();
        made.push(backup(&path, &copies, 3).unwrap().unwrap());
    }
    assert_eq!(made.iter().map(|path| text(path)).collect::<Vec<_>>(), ["one", "two"]);
    let all = names(&copies);
    assert_eq!(all.len(), 4 + 3, "{all:?}");
    assert!(all.contains(&"s.json.20200101T000000.000Z-10".to_owned()), "10 is newer than 9: {all:?}");
    backup(&path, &copies, 0).unwrap();
    assert_eq!(names(&copies).len(), 4 + 1, "the copy just made stays");
}

#[test]
#[cfg(unix)]
fn a_backup_has_the_mode_of_its_file() {
    let dir = folder();
    let path = dir.path().join("f");
    fs::write(&path, "x").unwrap();
    for kept in [0o600, 0o755] {
        chmod(&path, kept);
        let copy = backup(&path, &dir.path().join("b"), KEEP).unwrap().unwrap();
        assert_eq!(mode(&copy), kept);
    }
    assert_eq!(mode(&dir.path().join("b")), 0o700);
}

#[test]
fn removing_says_whether_something_was_there() {
    let dir = folder();
    let path = dir.path().join("f");
    fs::write(&path, "").unwrap();
    assert!(remove_file(&path).unwrap());
    assert!(!remove_file(&path).unwrap());
    assert!(remove_file(dir.path()).is_err());
    make_dir(&path.join("a/b")).unwrap();
    assert!(remove_tree(&path).unwrap());
    assert!(!remove_tree(&path).unwrap());
}

#[test]
fn trees_that_cannot_be_ours_are_not_removed() {
    for path in ["/", "/nowhere", "nowhere/at/all", "/nowhere/at/../../x", ""] {
        assert!(remove_tree(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
#[cfg(unix)]
fn removing_does_not_follow_links() {
    let dir = folder();
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("f"), "").unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    symlink(&precious, tree.join("link")).unwrap();
    symlink(&precious, dir.path().join("link")).unwrap();
    assert!(remove_tree(&tree).unwrap());
    assert!(remove_tree(&dir.path().join("link")).unwrap());
    assert_eq!(names(dir.path()), ["precious"]);
    assert_eq!(names(&precious), ["f"]);
}

#[test]
fn lines_are_added_one_by_one() {
    let dir = folder();
    let path = dir.path().join("logs/x.log");
    append_line(&path, "one").unwrap();
    append_line(&path, "two\nthree").unwrap();
    assert_eq!(text(&path), "one\ntwo three\n");
}

#[test]
fn reading_is_bounded() {
    let dir = folder();
    let path = dir.path().join("f");
    assert_eq!(read_bounded(&path, 3).unwrap(), None);
    fs::write(&path, "abc").unwrap();
    assert_eq!(read_bounded(&path, 3).unwrap(), Some(b"abc".to_vec()));
    let failure = read_bounded(&path, 2).unwrap_err().to_string();
    assert!(failure.contains(path.to_str().unwrap()) && failure.contains("longer than 2 B"), "{failure}");
    assert!(read_bounded(dir.path(), 9).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn a_fifo_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode as Bits, mknodat};
    let dir = folder();
    let path = dir.path().join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Bits::RUSR | Bits::WUSR, 0).unwrap();
    assert!(read_bounded(&path, 9).is_err());
    assert!(append_line(&path, "x").is_err());
    assert!(write_atomic(&path, b"x", Mode::Normal).is_err());
    assert!(backup(&path, &dir.path().join("b"), 1).is_err());
    assert!(Lock::acquire(&path, Duration::ZERO, "x").is_err());
}

#[test]
fn a_temporary_tree_goes_with_its_owner() {
    let dir = folder();
    let tree = TempTree::create(&dir.path().join("new/../new"), "demo-").unwrap();
    let path: PathBuf = tree.path().to_path_buf();
    fs::write(path.join("f"), "").unwrap();
    #[cfg(unix)]
    assert_eq!(mode(&path), 0o700);
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("demo-"));
    drop(tree);
    assert!(!path.exists());
}

#[test]
fn a_sweep_removes_only_the_dead() {
    let dir = folder();
    let living = TempTree::create(dir.path(), "demo-").unwrap();
    let making = dir.path().join("demo-making");
    let dead = dir.path().join("demo-dead");
    let other = dir.path().join("other-dead");
    for path in [&making, &dead, &other] {
        fs::create_dir(path).unwrap();
    }
    for path in [&dead, &other] {
        fs::write(path.join(".lock"), "").unwrap();
    }
    fs::write(dir.path().join("demo-file"), "").unwrap();
    #[cfg(unix)]
    symlink(&other, dir.path().join("demo-link")).unwrap();
    assert_eq!(TempTree::sweep(dir.path(), ""), 0);
    assert_eq!(TempTree::sweep(dir.path(), "demo-"), 1);
    assert!(living.path().join(".lock").exists() && making.exists() && other.join(".lock").exists());
    assert!(!dead.exists());
    // Killed before it had a lock file: only age tells.
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    fs::File::open(&making).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(TempTree::sweep(dir.path(), "demo-"), 1);
    assert!(!making.exists());
    assert_eq!(TempTree::sweep(&dir.path().join("missing"), "demo-"), 0);
}

#[test]
fn a_new_file_is_made_once_and_a_whole_one_replaces() {
    let dir = folder();
    let file = dir.path().join("a/b.json");
    write_new(&file, b"one", Mode::Private).unwrap();
    assert!(write_new(&file, b"two", Mode::Private).unwrap_err().to_string().contains("b.json"));
    assert_eq!(text(&file), "one");
    #[cfg(unix)]
    assert_eq!(mode(&file), 0o600);
    assert!(
        write_whole(&file, b"three", Mode::Normal).unwrap() && !write_whole(&file, b"three", Mode::Normal).unwrap()
    );
    update_whole(&file, Mode::Normal, |old| Ok(Some([old.unwrap(), b"!"].concat()))).unwrap();
    assert_eq!(text(&file), "three!");
    assert_eq!(names(file.parent().unwrap()), [".b.json.lock", "b.json"]);
}
