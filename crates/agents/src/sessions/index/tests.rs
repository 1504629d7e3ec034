mod changes;

use std::fs;

use super::*;
use crate::sessions::Role;

#[allow(clippy::unwrap_used)]
fn around(home: &Path) -> Surroundings {
    let vars = [(std::ffi::OsString::from("HOME"), home.as_os_str().to_owned())];
    Surroundings::of(&sys::Env::from_iter(vars)).unwrap()
}

#[allow(clippy::unwrap_used)]
fn refreshed(library: &mut Library) -> Arc<Snapshot> {
    library.refresh(&AtomicBool::new(false), &|_| {})
}

fn response(id: &str, output: u64) -> String {
    format!(
        r#"{{"parentUuid":null,"type":"assistant","message":{{"id":"{id}","role":"assistant","model":"m","content":[],"usage":{{"input_tokens":1,"output_tokens":{output}}}}},"timestamp":"2026-11-30T20:00:00Z","cwd":"/w"}}"#
    ) + "\n"
}

#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
fn write(home: &Path, name: &str, text: &str) -> PathBuf {
    let path = home.join(".claude/projects/-w").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
#[allow(clippy::disallowed_methods)]
fn only_what_changed_is_read_and_it_says_the_same_as_everything_anew() {
    let dir = tempfile::tempdir().unwrap();
    let (home, index) = (dir.path().join("home"), dir.path().join("index"));
    let one = write(&home, "one.jsonl", &(response("a", 1) + &response("a", 120) + &response("b", 5)));
    // A copy of it that went on, and a last line that is only half there.
    let half = response("d", 7);
    write(&home, "two.jsonl", &(response("a", 120) + &response("b", 5) + &response("c", 9) + &half[..40]));
    let mut library = Library::open(&index, &around(&home));
    let first = refreshed(&mut library);
    let outputs = |snapshot: &Snapshot| {
        let mut all: Vec<_> = snapshot.sessions.iter().map(|s| (s.id.clone(), s.usage().output)).collect();
        all.sort();
        all
    };
    assert_eq!(outputs(&first), [("one".into(), 125), ("two".into(), 9)]);
    assert_eq!(outputs(&Library::open(&index, &around(&home)).known()), outputs(&first), "kept");
    // The half line is completed; the other file is rewritten and shrinks.
    write(&home, "two.jsonl", &(response("a", 120) + &response("b", 5) + &response("c", 9) + &half));
    fs::write(&one, response("a", 120)).unwrap();
    let mut again = Library::open(&index, &around(&home));
    let grown = refreshed(&mut again);
    assert_eq!(outputs(&grown), [("one".into(), 120), ("two".into(), 21)]);
    let mut fresh = Library::open(&dir.path().join("other"), &around(&home));
    assert_eq!(refreshed(&mut fresh).sessions, grown.sessions);
    // A session whose responses are all in a copy stays listed; a vanished file's goes.
    fs::remove_file(&one).unwrap();
    assert_eq!(outputs(&refreshed(&mut again)), [("two".into(), 141)]);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_damaged_index_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let (home, index) = (dir.path().join("home"), dir.path().join("index"));
    write(&home, "one.jsonl", &response("a", 3));
    refreshed(&mut Library::open(&index, &around(&home)));
    let file = index.join("sessions.bin");
    let whole = fs::read(&file).unwrap();
    for damage in [&b""[..], b"lazyagents index 2\n", &whole[..whole.len() - 1]] {
        fs::write(&file, damage).unwrap();
        let mut library = Library::open(&index, &around(&home));
        assert!(library.known().sessions.is_empty());
        assert_eq!(refreshed(&mut library).sessions[0].usage().output, 3);
    }
    // Facts that cannot be read back, when they are needed.
    let facts =
        fs::read_dir(&index).unwrap().flatten().find(|file| file.file_name().to_str().unwrap().starts_with("facts-"));
    let facts = facts.unwrap().path();
    fs::write(&facts, vec![7; fs::metadata(&facts).unwrap().len() as usize]).unwrap();
    write(&home, "one.jsonl", &(response("a", 3) + &response("b", 4)));
    assert_eq!(refreshed(&mut Library::open(&index, &around(&home))).sessions[0].usage().output, 7);
    fs::remove_file(
        fs::read_dir(&index)
            .unwrap()
            .flatten()
            .find(|file| file.file_name().to_str().unwrap().starts_with("facts-"))
            .unwrap()
            .path(),
    )
    .unwrap();
    assert_eq!(refreshed(&mut Library::open(&index, &around(&home))).sessions[0].usage().output, 7);
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "abc.jsonl", &response("a", 3));
    write(dir.path(), "abd.jsonl", &response("b", 3));
    let snapshot = refreshed(&mut Library::open(&dir.path().join("index"), &around(dir.path())));
    let ids = |given: &str| snapshot.find(given).iter().map(|session| session.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids("abc"), ["abc"]);
    assert_eq!(ids("ab").len(), 2);
    assert_eq!(ids("claude-code:abd"), ["abd"]);
    assert!(ids("codex:abd").is_empty() && ids("").is_empty());
    assert_eq!(snapshot.sessions[0].by_role().keys().copied().collect::<Vec<_>>(), [Role::Main]);
}

#[test]
#[cfg(unix)]
#[allow(clippy::disallowed_methods)]
fn what_cannot_be_read_for_a_moment_stays_and_is_not_written_again_and_again() {
    let dir = tempfile::tempdir().unwrap();
    let (home, index) = (dir.path().join("home"), dir.path().join("index"));
    let file = write(&home, "one.jsonl", &response("a", 3));
    let mut library = Library::open(&index, &around(&home));
    refreshed(&mut library);
    // A folder in its place: it is there, and no file.
    let written = || fs::metadata(index.join("sessions.bin")).unwrap().modified().unwrap();
    let before = written();
    write(&home, "two.jsonl/x", "");
    assert_eq!(refreshed(&mut library).sessions.len(), 1);
    assert_eq!(written(), before, "nothing has changed");
    // Rewritten with the same end: it is another file.
    let rewritten = response("other", 9) + &response("a", 3) + &response("a", 3);
    fs::write(&file, rewritten).unwrap();
    assert_eq!(refreshed(&mut library).sessions[0].usage().output, 12);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_packed_rollout_is_read_to_its_last_frame() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(".codex/archived_sessions");
    fs::create_dir_all(&folder).unwrap();
    let meta = r#"{"timestamp":"2026-11-30T20:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#;
    let count = r#"{"timestamp":"2026-11-30T20:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":7}}}}"#;
    let pack = |text: &str| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(text.as_bytes(), level)
    };
    // The line is cut between the frames.
    let (one, two) = count.split_at(40);
    let packed = [pack(&format!("{meta}\n{one}")), pack(&format!("{two}\n"))].concat();
    fs::write(folder.join("rollout-2026-11-30T20-00-00-01a22e16-9cd7-7550-bee2-612e3a8b2ecb.jsonl.zst"), packed)
        .unwrap();
    let snapshot = refreshed(&mut Library::open(&dir.path().join("index"), &around(dir.path())));
    let session = &snapshot.sessions[0];
    assert_eq!((session.usage().output, session.archived, session.cwd.as_deref()), (7, true, Some("/w")));
}
