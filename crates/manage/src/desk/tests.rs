#![allow(clippy::disallowed_methods)] // the world outside

use std::fs;

use proptest::prelude::*;
use sys::edit::Format;
use sys::files::fault::{self, Kind};
use sys::files::journal::{Undone, Way};
use sys::path;

use super::*;

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

    fn desk(&self) -> Desk {
        Desk::of(&self.path("data"), "a test")
    }

    fn edit(&self, name: &str, changes: Vec<Change>) -> Act {
        Act::Edit { path: self.path(name), format: Format::Json, changes, mode: Mode::Normal }
    }

    fn undo(&self, id: u64) -> Undone {
        let mut open = self.desk().journal().open("a test").unwrap();
        open.undo(id, Way::Exact, &mut |_, _, _| Ok(())).unwrap()
    }
}

fn set(key: &str, value: impl Into<serde_json::Value>) -> Change {
    Change::Set { at: path![key], value: value.into() }
}

fn plan(acts: Vec<Act>) -> Plan {
    Plan { what: "try it".to_owned(), acts, secrets: vec!["hush-hush-hush".to_owned()] }
}

#[test]
fn a_look_shows_the_difference_and_writes_nothing() {
    let world = World::new();
    world.file("s.json", "{\n  \"a\": 1\n}\n");
    let plan = plan(vec![world.edit("s.json", vec![set("a", 2), set("t", "hush-hush-hush")])]);
    let view = world.desk().look(&plan).unwrap();
    assert_eq!(view.parts[0].verb, "change");
    assert_eq!(view.parts[0].diff, ["@@ line 1", " {", "-  \"a\": 1", "+  \"a\": 2,", "+  \"t\": \"••••\"", " }"]);
    assert_eq!(world.text("s.json").unwrap(), "{\n  \"a\": 1\n}\n");
    assert!(!world.path("data").exists());
}

#[test]
fn two_edits_of_one_file_are_one_write() {
    let world = World::new();
    world.file("s.json", "{\"a\": 1}\n");
    let acts = vec![world.edit("s.json", vec![set("b", 2)]), world.edit("s.json", vec![set("c", 3)])];
    let done = world.desk().apply(&mut || Ok(plan(acts.clone()))).unwrap();
    assert_eq!(done.view.parts.len(), 1);
    assert_eq!(world.undo(done.id.unwrap()), Undone::Exactly);
    assert_eq!(world.text("s.json").unwrap(), "{\"a\": 1}\n");
}

#[test]
fn what_is_not_understood_is_refused_with_its_place_and_nothing_is_written() {
    let world = World::new();
    world.file("good.json", "{}");
    world.file("bad.json", "{\n  \"a\": [1,\n");
    let acts = vec![world.edit("good.json", vec![set("a", 1)]), world.edit("bad.json", vec![set("a", 1)])];
    let said = world.desk().apply(&mut || Ok(plan(acts.clone()))).unwrap_err();
    assert!(said.to_string().contains("bad.json: line "), "{said}");
    assert_eq!(world.text("good.json").unwrap(), "{}");
    world.file("bad.json", "{\"a\": \"\u{0}\u{80}\"}");
    fs::write(world.path("bad.json"), b"{\n\"a\": \"\xff\"}").unwrap();
    let said = world.desk().apply(&mut || Ok(plan(acts.clone()))).unwrap_err();
    assert!(said.to_string().contains("line 2 is not UTF-8"), "{said}");
}

#[test]
fn a_huge_file_is_refused_with_its_size() {
    let world = World::new();
    let path = world.file("s.json", "{}");
    fs::File::options().write(true).open(path).unwrap().set_len(200 << 20).unwrap();
    let act = world.edit("s.json", vec![set("a", 1)]);
    let said = world.desk().look(&plan(vec![act])).unwrap_err().to_string();
    assert!(said.contains("200 MiB") || said.contains("210 MB"), "{said}");
}

#[test]
fn what_the_person_agreed_to_is_what_is_done() {
    let world = World::new();
    world.file("s.json", "{\"a\": 1}");
    let plan = plan(vec![world.edit("s.json", vec![set("b", 2)])]);
    let seen = world.desk().look(&plan).unwrap();
    world.file("s.json", "{\"a\": 7}");
    let said = world.desk().apply_seen(Some(&seen), &mut || Ok(plan.clone())).unwrap_err();
    assert!(said.to_string().contains("since you looked"), "{said}");
    assert_eq!(world.text("s.json").unwrap(), "{\"a\": 7}");
    let seen = world.desk().look(&plan).unwrap();
    assert_eq!(world.desk().apply_seen(Some(&seen), &mut || Ok(plan.clone())).unwrap().id, Some(1));
}

#[test]
fn no_secret_is_in_the_history() {
    let world = World::new();
    let mut plan = plan(vec![world.edit("s.json", vec![set("b", 2)])]);
    plan.what = "apply hush-hush-hush".to_owned();
    world.desk().apply(&mut || Ok(plan.clone())).unwrap();
    assert_eq!(world.desk().journal().history().unwrap().entries[0].what, "apply ••••");
}

#[test]
fn a_full_disk_changes_nothing() {
    for at in 0..30 {
        let world = World::new();
        world.file("a.json", "{\"a\": 1}\n");
        world.file("b.json", "{\"b\": 1}\n");
        let acts = vec![world.edit("a.json", vec![set("x", 1)]), world.edit("b.json", vec![set("x", 1)])];
        fault::order(Some((at, Kind::Fail)));
        let done = world.desk().apply(&mut || Ok(plan(acts.clone())));
        fault::order(None);
        let both = (world.text("a.json").unwrap(), world.text("b.json").unwrap());
        match done {
            Ok(_) => assert!(both.0.contains('x') && both.1.contains('x'), "step {at}"),
            Err(failure) => {
                assert_eq!(both, ("{\"a\": 1}\n".to_owned(), "{\"b\": 1}\n".to_owned()), "step {at}: {failure}");
            }
        }
    }
}

/// Twenty writers of one file: each waits for its turn, and nothing of any is lost (report A13).
#[test]
fn many_at_once_lose_nothing() {
    let world = World::new();
    world.file("s.json", "{\"a\": 1}\n");
    std::thread::scope(|scope| {
        for number in 0..20 {
            let world = &world;
            scope.spawn(move || {
                let act = world.edit("s.json", vec![set(&format!("k{number}"), number)]);
                world.desk().apply(&mut || Ok(plan(vec![act.clone()]))).unwrap();
            });
        }
    });
    let value: serde_json::Value = serde_json::from_str(&world.text("s.json").unwrap()).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 21);
    assert_eq!(world.desk().journal().history().unwrap().entries.len(), 20);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-zé\\n\"]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the file holds and whatever is set: an undo gives back the very bytes.
    #[test]
    fn an_undo_is_byte_equal(document in prop::collection::btree_map("[a-d]", json(), 0..4), pretty: bool,
                             edits in prop::collection::vec(("[a-f]", json()), 1..4)) {
        let world = World::new();
        let map = serde_json::Value::Object(document.into_iter().collect());
        let text = if pretty { serde_json::to_string_pretty(&map) } else { serde_json::to_string(&map) }.unwrap();
        world.file("s.json", &text);
        let changes: Vec<Change> = edits.into_iter().map(|(key, value)| set(&key, value)).collect();
        let act = world.edit("s.json", changes);
        let done = world.desk().apply(&mut || Ok(plan(vec![act.clone()]))).unwrap();
        if let Some(id) = done.id {
            prop_assert_eq!(world.undo(id), Undone::Exactly);
        }
        prop_assert_eq!(world.text("s.json").unwrap(), text);
    }
}

// ---- killed processes

const AT: &str = "DESK_TEST_ABORT_AT";
const IN: &str = "DESK_TEST_FOLDER";

fn two_files(folder: &Path) -> Plan {
    let edit = |name: &str| Act::Edit {
        path: folder.join(name),
        format: Format::Json,
        changes: vec![set("x", 1)],
        mode: Mode::Normal,
    };
    Plan { what: "two files".to_owned(), acts: vec![edit("a.json"), edit("made/b.json")], secrets: Vec::new() }
}

/// The process that is killed: [`a_killed_process_leaves_nothing_half_done`] starts it.
#[test]
#[ignore = "it is a part of another test, which starts it"]
fn killed() {
    let (Some(at), Some(folder)) = (std::env::var(AT).ok(), std::env::var_os(IN)) else { return };
    let folder = PathBuf::from(folder);
    fault::order(Some((at.parse().unwrap(), Kind::Abort)));
    let desk = Desk::of(&folder.join("data"), "a test");
    match desk.journal().history().unwrap().entries.last() {
        // The second time it is killed while it undoes.
        Some(last) => {
            let mut open = desk.journal().open("a test").unwrap();
            open.undo(last.id, Way::Exact, &mut |_, _, _| Ok(())).unwrap();
        }
        None => {
            desk.apply(&mut || Ok(two_files(&folder))).unwrap();
        }
    }
}

/// True when the process was killed, false when it came to its end.
#[allow(clippy::unwrap_used)]
fn run_killed(world: &World, at: u64) -> bool {
    let mut env = sys::Env::from_process();
    env.set(AT, at.to_string());
    env.set(IN, world.dir.path().as_os_str());
    let spec = sys::proc::Spec {
        program: std::env::current_exe().unwrap().into(),
        args: ["--exact", "desk::tests::killed", "--ignored"].into_iter().map(Into::into).collect(),
        dir: None,
        env,
    };
    let limits =
        sys::proc::Limits { deadline: Some(std::time::Duration::from_secs(60)), output: 1 << 20, merged: true };
    let done = sys::proc::run(&spec, &limits, &sys::proc::Cancel::never()).unwrap();
    !done.exit.ok()
}

/// Everything below the folder but what is ours.
#[allow(clippy::unwrap_used)]
fn names(world: &World) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![world.dir.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path() == world.path("data") {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
            names.push(entry.path().strip_prefix(world.dir.path()).unwrap().display().to_string());
        }
    }
    names.sort();
    names
}

#[test]
fn a_killed_process_leaves_nothing_half_done() {
    let (mut at, mut killed) = (0, 0);
    loop {
        let world = World::new();
        world.file("a.json", "{\"a\": 1}\n");
        let ended = !run_killed(&world, at);
        // Each file is old or new, never half.
        let old = world.text("a.json").unwrap();
        assert!(old == "{\"a\": 1}\n" || old == "{\"a\": 1, \"x\": 1}\n", "{at}: {old}");
        // The next one settles it.
        drop(world.desk().journal().open("a test").unwrap());
        let both = (world.text("a.json").unwrap().contains('x'), world.text("made/b.json").is_some());
        assert_eq!(both.0, both.1, "{at}: {both:?}");
        let left = names(&world);
        assert_eq!(left, if both.0 { vec!["a.json", "made", "made/b.json"] } else { vec!["a.json"] }, "{at}");
        if ended {
            assert!(both.0);
            break;
        }
        let done = world.desk().apply(&mut || Ok(two_files(world.dir.path()))).unwrap();
        assert_eq!(done.id.is_some(), !both.0);
        killed += 1;
        at += 1;
    }
    assert!(killed > 8, "{killed}");
}

#[test]
fn a_killed_undo_comes_to_its_end() {
    let (mut at, mut killed) = (0, 0);
    loop {
        let world = World::new();
        world.file("a.json", "{\"a\": 1}\n");
        world.desk().apply(&mut || Ok(two_files(world.dir.path()))).unwrap();
        let ended = !run_killed(&world, at);
        let open = world.desk().journal().open("a test").unwrap();
        let state = open.history().entries[0].state;
        drop(open);
        let both = (world.text("a.json").unwrap().contains('x'), world.text("made/b.json").is_some());
        let done = state == sys::files::journal::State::Done;
        assert_eq!(both, (done, done), "{at}: {state:?}");
        if ended {
            assert!(!done);
            break;
        }
        killed += 1;
        at += 1;
    }
    assert!(killed > 3, "{killed}");
}
