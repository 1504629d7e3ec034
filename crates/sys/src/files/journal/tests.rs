#![allow(clippy::disallowed_methods)] // the world outside

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::files::Mode;
use crate::files::fault::{self, Kind};
use crate::path;

struct World {
    dir: tempfile::TempDir,
}

#[allow(clippy::unwrap_used)]
impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn journal(&self) -> Journal {
        Journal::of(&self.path("data"))
    }

    fn open(&self) -> Open {
        self.journal().open("a test").unwrap()
    }

    /// The act that sets `key` of a JSON file.
    fn set(&self, name: &str, key: &str, value: i64) -> Act {
        let path = self.path(name);
        let old = fs::read(&path).ok();
        let text = String::from_utf8(old.clone().unwrap_or_default()).unwrap();
        let changes = vec![Change::Set { at: path![key], value: value.into() }];
        let done = crate::edit::apply(Format::Json, &text, &changes).unwrap();
        let edits = Some(Edits { format: Format::Json, changes, undo: done.undo });
        Act::Write { path, old, new: done.text.into_bytes(), mode: Mode::Normal, edits }
    }

    fn undo(&self, id: u64, way: Way) -> Result<Undone, Failure> {
        self.open().undo(id, way, &mut |_, _, _| Err(Failure::new("no command was expected")))
    }

    /// All files below the folder but ours, with contents and bits.
    fn snapshot(&self) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        let mut folders = vec![self.dir.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                if path == self.path("data") {
                    continue;
                }
                if metadata.is_symlink() {
                    all.push((path.clone(), format!("-> {}", fs::read_link(&path).unwrap().display())));
                } else if metadata.is_dir() {
                    all.push((path.clone(), "folder".to_owned()));
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    all.push((path, format!("{:o} {text}", metadata.permissions().mode())));
                }
            }
        }
        all.sort();
        all
    }
}

#[test]
fn a_change_is_done_whole_and_taken_back_whole() {
    let world = World::new();
    let settings = world.file("a/settings.json", "{\"x\": 1} // mine\n");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o640)).unwrap();
    world.file("b/old", "old");
    symlink("elsewhere", world.path("gone")).unwrap();
    let before = world.snapshot();
    let acts = vec![
        world.set("a/settings.json", "y", 2),
        world.set("new/deep/hooks.json", "z", 3),
        Act::Trash(world.path("b/old")),
        Act::Link { path: world.path("links/one"), to: "../b".into() },
        Act::Unlink { path: world.path("gone"), to: "elsewhere".into() },
    ];
    let id = world.open().run("all of it", acts).unwrap().unwrap();
    assert_eq!(id, 1);
    assert!(world.text("a/settings.json").unwrap().contains("\"y\": 2"));
    assert!(world.text("new/deep/hooks.json").is_some() && world.text("b/old").is_none());
    assert!(world.path("links/one").is_symlink() && !world.path("gone").is_symlink());
    let history = world.journal().history().unwrap();
    assert_eq!((history.entries.len(), history.skipped), (1, 0));
    assert!(world.journal().can_undo(&history.entries[0]));
    assert_eq!(history.entries[0].paths().len(), 5);
    assert_eq!(world.undo(1, Way::Exact).unwrap(), Undone::Exactly);
    assert_eq!(world.snapshot(), before);
    let said = world.undo(1, Way::Exact).unwrap_err().to_string();
    assert!(said.contains("undone already"), "{said}");
}

#[test]
fn nothing_to_change_writes_nothing() {
    let world = World::new();
    let path = world.file("s.json", "{\"x\": 1}\n");
    let before = fs::metadata(&path).unwrap();
    assert_eq!(world.open().run("again", vec![world.set("s.json", "x", 1)]).unwrap(), None);
    let after = fs::metadata(&path).unwrap();
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert!(!world.journal().file().exists());
}

#[test]
fn a_file_that_changed_since_the_plan_is_not_touched() {
    let world = World::new();
    world.file("s.json", "{}");
    let act = world.set("s.json", "x", 1);
    world.file("s.json", "{\"theirs\": true}");
    assert_eq!(world.open().run("late", vec![act]), Err(Stop::Changed(world.path("s.json"))));
    assert_eq!(world.text("s.json").unwrap(), "{\"theirs\": true}");
}

#[test]
fn an_undo_does_not_take_what_others_wrote_since() {
    let world = World::new();
    world.file("s.json", "{\n  \"mine\": 1\n}\n");
    let id = world.open().run("set x", vec![world.set("s.json", "x", 1)]).unwrap().unwrap();
    let ours = world.text("s.json").unwrap();
    let theirs = ours.replace("\"mine\": 1", "\"mine\": 1,\n  \"theirs\": 2");
    world.file("s.json", &theirs);
    let Undone::Since(since) = world.undo(id, Way::Exact).unwrap() else { panic!("it was undone") };
    assert_eq!(world.text("s.json").unwrap(), theirs, "nothing was done");
    assert_eq!(since[0].ours.as_deref(), Some(ours.as_bytes()));
    assert_eq!(since[0].now.as_deref(), Some(theirs.as_bytes()));
    assert!(matches!(world.undo(id, Way::Merge).unwrap(), Undone::Merged(Some(2))));
    assert_eq!(world.text("s.json").unwrap(), "{\n  \"mine\": 1,\n  \"theirs\": 2\n}\n");
    // The undo is a change like any other.
    assert_eq!(world.undo(2, Way::Exact).unwrap(), Undone::Exactly);
    assert_eq!(world.text("s.json").unwrap(), theirs);
}

#[test]
fn a_value_that_others_changed_since_is_theirs() {
    let world = World::new();
    world.file("s.json", "{}");
    let id = world.open().run("set x", vec![world.set("s.json", "x", 1)]).unwrap().unwrap();
    world.file("s.json", "{\"x\": 7}");
    let Undone::Since(since) = world.undo(id, Way::Exact).unwrap() else { panic!("it was undone") };
    assert_eq!(since[0].why.as_deref(), Some("x was changed since"));
    assert!(world.undo(id, Way::Merge).is_err());
    assert_eq!(world.text("s.json").unwrap(), "{\"x\": 7}");
}

#[test]
fn a_file_written_whole_that_was_changed_since_stays() {
    let world = World::new();
    let path = world.path("own.json");
    let act = Act::Write { path, old: None, new: b"{}".to_vec(), mode: Mode::Private, edits: None };
    let id = world.open().run("make it", vec![act]).unwrap().unwrap();
    assert_eq!(fs::metadata(world.path("own.json")).unwrap().permissions().mode() & 0o777, 0o600);
    world.file("own.json", "{\"more\": 1}");
    let Undone::Since(since) = world.undo(id, Way::Exact).unwrap() else { panic!("it was undone") };
    assert!(since[0].why.as_ref().unwrap().contains("as a whole"));
    assert!(world.undo(id, Way::Merge).is_err());
    assert_eq!(world.text("own.json").unwrap(), "{\"more\": 1}");
}

#[test]
fn links_are_written_through_and_stay() {
    let world = World::new();
    let target = world.file("dotfiles/settings.json", "{}\n");
    fs::create_dir_all(world.path("home")).unwrap();
    symlink(&target, world.path("home/settings.json")).unwrap();
    let id = world.open().run("through", vec![world.set("home/settings.json", "x", 1)]).unwrap().unwrap();
    assert!(world.path("home/settings.json").is_symlink());
    assert!(world.text("dotfiles/settings.json").unwrap().contains('x'));
    world.undo(id, Way::Exact).unwrap();
    assert_eq!(world.text("dotfiles/settings.json").unwrap(), "{}\n");
    assert!(world.path("home/settings.json").is_symlink());
}

/// Wherever a step fails: all is as it was, or all is done.
#[test]
fn whatever_step_fails_it_is_all_or_nothing() {
    let acts = |world: &World| {
        vec![
            world.set("a.json", "y", 2),
            world.set("made/b.json", "z", 3),
            Act::Trash(world.path("old")),
            Act::Link { path: world.path("links/one"), to: "../b".into() },
        ]
    };
    let begin = || {
        let world = World::new();
        world.file("a.json", "{\"x\": 1}\n");
        world.file("old/file", "old");
        world
    };
    let world = begin();
    fault::order(None);
    world.open().run("whole", acts(&world)).unwrap();
    let steps = fault::passed();
    let done = shapes(&world);
    assert!(steps > 8, "{steps}");
    for at in 0..steps {
        let world = begin();
        let acts = acts(&world);
        let before = world.snapshot();
        fault::order(Some((at, Kind::Fail)));
        let ran = world.open().run("whole", acts);
        fault::order(None);
        match ran {
            Ok(_) => assert_eq!(shapes(&world), done, "step {at}"),
            Err(Stop::Failed(failure)) => {
                assert_eq!(world.snapshot(), before, "step {at}: {failure}");
                assert!(!failure.hints().is_empty(), "step {at}: {failure}");
            }
            Err(other) => panic!("step {at}: {other:?}"),
        }
        // What is left in the journal is settled, and the next change works.
        world.open();
        assert!(
            world
                .journal()
                .history()
                .unwrap()
                .entries
                .iter()
                .all(|entry| { matches!(entry.state, State::Done | State::Failed) })
        );
    }
}

/// Names and contents without the folder they are in.
fn shapes(world: &World) -> Vec<(PathBuf, String)> {
    let root = world.dir.path().to_path_buf();
    let plain =
        |(path, text): (PathBuf, String)| (path.strip_prefix(&root).map(Path::to_path_buf).unwrap_or(path), text);
    world.snapshot().into_iter().map(plain).collect()
}

/// The undo of a change, wherever a step of it fails, can be asked for again and then comes to its end.
#[test]
fn a_failed_undo_can_be_done_again() {
    for at in 0..40 {
        let world = World::new();
        world.file("a.json", "{\"x\": 1}\n");
        world.file("old/file", "old");
        let before = world.snapshot();
        let acts = vec![world.set("a.json", "y", 2), Act::Trash(world.path("old"))];
        let id = world.open().run("whole", acts).unwrap().unwrap();
        let mut open = world.open();
        fault::order(Some((at, Kind::Fail)));
        let undone = open.undo(id, Way::Exact, &mut |_, _, _| Ok(()));
        fault::order(None);
        drop(open);
        if undone.is_err() && world.snapshot() != before {
            world.undo(id, Way::Exact).unwrap();
        }
        assert_eq!(world.snapshot(), before, "step {at}");
    }
}

#[test]
fn half_a_line_at_the_end_is_no_end() {
    let world = World::new();
    world.file("s.json", "{}");
    world.open().run("one", vec![world.set("s.json", "x", 1)]).unwrap();
    let mut text = fs::read_to_string(world.journal().file()).unwrap();
    text.push_str("{\"v\":1,\"entry\":{\"id\":2,");
    fs::write(world.journal().file(), text).unwrap();
    assert_eq!(world.open().run("two", vec![world.set("s.json", "x", 2)]).unwrap(), Some(2));
    let history = world.journal().history().unwrap();
    assert_eq!((history.entries.len(), history.skipped), (2, 1));
    assert_eq!(world.undo(2, Way::Exact).unwrap(), Undone::Exactly);
    assert_eq!(world.undo(1, Way::Exact).unwrap(), Undone::Exactly);
    assert_eq!(world.text("s.json").unwrap(), "{}");
}

#[test]
fn copies_beyond_the_newest_are_said_to_be_gone() {
    let world = World::new();
    world.file("s.json", "{}");
    for value in 0..25 {
        world.open().run("set", vec![world.set("s.json", "x", value)]).unwrap();
    }
    for id in (6..=25).rev() {
        assert_eq!(world.undo(id, Way::Exact).unwrap(), Undone::Exactly, "{id}");
    }
    let said = world.undo(5, Way::Exact).unwrap_err().to_string();
    assert!(said.contains("newest 20"), "{said}");
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_a_journal_or_counted(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        let history = store::read(&bytes);
        proptest::prop_assert!(history.entries.is_empty());
    }
}
