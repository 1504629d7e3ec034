use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

struct World {
    dir: tempfile::TempDir,
    trash: Trash,
}

impl World {
    #[allow(clippy::unwrap_used)]
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let trash = Trash::of(&dir.path().join("data"));
        Self { dir, trash }
    }

    #[allow(clippy::unwrap_used, clippy::disallowed_methods)]
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    #[allow(clippy::unwrap_used)]
    fn restore(&self, id: &str) -> Result<Entry, Failure> {
        self.trash.restore(id, &mut |_, _, _| Err(Failure::new("no command was expected")))
    }
}

fn what(key: &str) -> What {
    What { kind: "session".into(), key: key.into(), title: "t".into() }
}

#[allow(clippy::unwrap_used)]
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn what_is_put_there_comes_back_exactly() {
    let world = World::new();
    let a = world.file("home/p/a.jsonl", "one");
    world.file("home/p/a/sub/b.jsonl", "two");
    let folder = world.dir.path().join("home/p/a");
    let link = world.dir.path().join("home/p/link");
    symlink("a.jsonl", &link).unwrap();
    files::copy_exact(&a, &world.dir.path().join("copy")).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = fs::File::open(&a).unwrap();
    file.set_modified(old).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
    let paths = [a.clone(), folder.clone(), link.clone()];
    let entry = world.trash.put(what("x:1"), "1/../é1", &paths).unwrap();
    assert!(paths.iter().all(|path| fs::symlink_metadata(path).is_err()));
    assert!(entry.whole && entry.id.ends_with("Z-11"), "{}", entry.id);
    assert_eq!((entry.files(), entry.items[0].mode, entry.items[1].kind), (3, 0o640, ItemKind::Folder));
    assert_eq!(fs::metadata(world.trash.dir()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(world.trash.list().entries, std::slice::from_ref(&entry));
    // The folder it was in may be gone by now.
    files::remove_tree(&world.dir.path().join("home")).unwrap();
    assert_eq!(world.restore(&entry.id).unwrap(), entry);
    let meta = fs::metadata(&a).unwrap();
    assert_eq!((meta.modified().unwrap(), meta.permissions().mode() & 0o777), (old, 0o640));
    assert_eq!((text(&a).as_str(), text(&folder.join("sub/b.jsonl")).as_str()), ("one", "two"));
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("a.jsonl"));
    assert!(world.trash.list().entries.is_empty());
}

#[test]
fn a_step_that_fails_takes_the_others_back() {
    let world = World::new();
    let a = world.file("home/a", "one");
    let failure = world.trash.put(what("x:1"), "1", &[a.clone(), world.dir.path().join("home/none")]).unwrap_err();
    assert!(failure.to_string().contains("home/none"), "{failure}");
    assert_eq!(failure.hints(), ["nothing was deleted"]);
    assert_eq!(text(&a), "one");
    assert!(world.trash.list().entries.is_empty());
}

#[test]
fn nothing_is_restored_over_something() {
    let world = World::new();
    let (a, b) = (world.file("home/a", "one"), world.file("home/b", "two"));
    let entry = world.trash.put(what("x:1"), "1", &[a.clone(), b.clone()]).unwrap();
    world.file("home/b", "newer");
    let failure = world.restore(&entry.id).unwrap_err();
    assert!(failure.to_string().contains("something is at its place already"), "{failure}");
    assert!(!a.exists() && text(&b) == "newer");
    files::remove_file(&b).unwrap();
    world.restore(&entry.id).unwrap();
    assert_eq!((text(&a).as_str(), text(&b).as_str()), ("one", "two"));
}

#[test]
fn what_a_killed_process_left_is_listed_and_put_back() {
    let world = World::new();
    let (a, b) = (world.file("home/a", "one"), world.file("home/b", "two"));
    let mut filling = world.trash.begin(what("x:1"), "1").unwrap();
    filling.take(&a).unwrap();
    // Named, and then killed before it was moved.
    let item = filling.item(&b).unwrap();
    filling.note(item).unwrap();
    drop(filling);
    let entry = world.trash.list().entries.remove(0);
    assert!(!entry.whole && entry.items.len() == 2);
    world.restore(&entry.id).unwrap();
    assert_eq!((text(&a).as_str(), text(&b).as_str()), ("one", "two"));
}

#[test]
fn what_a_killed_process_left_is_not_dropped_for_something_newer() {
    let world = World::new();
    let (a, b) = (world.file("home/a", "one"), world.file("home/b", "two"));
    let mut filling = world.trash.begin(what("x:1"), "1").unwrap();
    filling.take(&a).unwrap();
    filling.copy(&b).unwrap();
    drop(filling);
    let entry = world.trash.list().entries.remove(0);
    world.file("home/a", "newer");
    assert!(world.restore(&entry.id).unwrap_err().to_string().contains("something is at its place already"));
    assert_eq!((text(&a).as_str(), world.trash.list().entries.len()), ("newer", 1));
    files::remove_file(&a).unwrap();
    world.restore(&entry.id).unwrap();
    assert_eq!((text(&a).as_str(), text(&b).as_str()), ("one", "two"));
}

#[test]
fn copies_wait_until_their_owner_has_removed_the_rest() {
    let world = World::new();
    let (a, b) = (world.file("home/a", "one"), world.file("home/b", "two"));
    let mut filling = world.trash.begin(what("x:1"), "1").unwrap();
    filling.copy(&a).unwrap();
    filling.copy(&b).unwrap();
    files::remove_file(&a).unwrap();
    world.file("home/b", "two and more");
    filling.take_rest().unwrap();
    let entry = filling.finish().unwrap();
    assert!(!a.exists() && !b.exists());
    world.restore(&entry.id).unwrap();
    assert_eq!((text(&a).as_str(), text(&b).as_str()), ("one", "two and more"));
}

#[test]
fn an_undone_entry_brings_back_what_its_owner_removed() {
    let world = World::new();
    let (a, b) = (world.file("home/a", "one"), world.file("home/b", "two"));
    let mut filling = world.trash.begin(what("x:1"), "1").unwrap();
    filling.copy(&a).unwrap();
    filling.copy(&b).unwrap();
    files::remove_file(&a).unwrap();
    let failure = filling.undo(Failure::new("it failed"));
    assert_eq!((failure.to_string().as_str(), failure.hints()), ("it failed", &["nothing was deleted".to_owned()][..]));
    assert_eq!((text(&a).as_str(), text(&b).as_str()), ("one", "two"));
    assert!(world.trash.list().entries.is_empty());
}

#[test]
fn an_export_is_read_back_by_its_command_or_stays() {
    let world = World::new();
    let mut filling = world.trash.begin(what("x:1"), "1").unwrap();
    let words = vec!["agent".to_owned(), "import".to_owned()];
    filling.keep("s.json", b"{}", words.clone(), world.dir.path()).unwrap();
    let entry = filling.finish().unwrap();
    let failure = world.restore(&entry.id).unwrap_err();
    assert!(failure.hints()[0].ends_with(&entry.id));
    let mut seen = None;
    let restored = world.trash.restore(&entry.id, &mut |words, folder, file| {
        seen = Some((words.to_vec(), folder.to_owned(), text(file)));
        Ok(())
    });
    restored.unwrap();
    assert_eq!(seen, Some((words, world.dir.path().to_owned(), "{}".to_owned())));
    assert!(world.trash.list().entries.is_empty());
}

#[test]
fn old_entries_go_and_young_ones_stay() {
    let world = World::new();
    let entry = world.trash.put(what("x:1"), "1", &[world.file("home/a", "one")]).unwrap();
    let days = |days: u64| clock::wall() + Duration::from_secs(days * 24 * 60 * 60);
    assert_eq!(world.trash.expire(days(29), DAYS).unwrap(), (0, Vec::new()));
    assert_eq!(world.trash.list().entries, [entry]);
    assert_eq!(world.trash.expire(days(31), DAYS).unwrap(), (1, Vec::new()));
    assert!(world.trash.list().entries.is_empty());
    assert_eq!(Trash::of(Path::new("/nowhere")).expire(days(31), DAYS).unwrap(), (0, Vec::new()));
}

#[test]
fn entries_are_found_by_id_its_beginning_and_key() {
    let world = World::new();
    let one = world.trash.put(what("x:1"), "one", &[world.file("home/a", "one")]).unwrap();
    let two = world.trash.put(what("x:2"), "two", &[world.file("home/b", "two")]).unwrap();
    assert_eq!(world.trash.find(&one.id).unwrap(), one);
    assert_eq!(world.trash.find("x:2").unwrap(), two);
    assert_eq!(world.trash.find(&two.id[..two.id.len() - 1]).unwrap(), two);
    assert_eq!((world.trash.find("1").unwrap(), world.trash.find("x:1").unwrap()), (one.clone(), one));
    assert!(world.trash.find("x:").unwrap_err().to_string().contains("may be several"));
    assert!(world.trash.find("20").unwrap_err().to_string().contains("may be several"));
    assert!(world.trash.find("").is_err() && world.trash.find("x:3").is_err());
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_manifest_that_points_elsewhere_moves_nothing() {
    let world = World::new();
    let precious = world.file("precious", "content");
    let entry = world.trash.put(what("x:1"), "1", &[world.file("home/a", "one")]).unwrap();
    let file = world.trash.dir().join(&entry.id).join(MANIFEST);
    let good = text(&file);
    for (from, to) in [
        ("files/0-a", "files/../../../precious"),
        ("files/0-a", "/etc/passwd"),
        ("files/0-a", "files/.."),
        ("\"version\": 1", "\"version\": 2"),
        (entry.id.as_str(), "other"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&file, good.replace(from, to)).unwrap();
        assert!(world.restore(&entry.id).is_err(), "{to}");
        assert_eq!(world.trash.list().problems.len(), 1);
    }
    for id in ["../data", "..", "", "a/b", ".lock"] {
        assert!(world.restore(id).is_err(), "{id}");
    }
    assert_eq!(text(&precious), "content");
    fs::write(&file, good).unwrap();
    world.restore(&entry.id).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_no_text_comes_back() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let path = world.dir.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
    #[allow(clippy::disallowed_methods)]
    fs::write(&path, "one").unwrap();
    let entry = world.trash.put(what("x:1"), "1", std::slice::from_ref(&path)).unwrap();
    world.restore(&entry.id).unwrap();
    assert_eq!(text(&path), "one");
}
