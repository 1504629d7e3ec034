//! Whatever happens to a folder of transcripts, an index that followed it says the same as one that is made anew.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::super::{Library, Snapshot};
use super::around;

/// Files that may be there: two agents, a sub-agent's own, and one whose name is that of a copy.
const FILES: [&str; 7] = [
    ".claude/projects/-w/one.jsonl",
    ".claude/projects/-w/two.jsonl",
    ".claude/projects/-v/three.jsonl",
    ".claude/projects/-w/one/subagents/agent-a1.jsonl",
    ".codex/sessions/2026/11/30/rollout-2026-11-30T20-00-00-01a22e16-9cd7-7550-bee2-612e3a8b2ecb.jsonl",
    ".codex/sessions/2026/11/29/rollout-2026-11-29T20-00-00-01a22e16-9cd7-7550-bee2-612e3a8b2ecc.jsonl",
    ".codex/archived_sessions/rollout-2026-11-29T20-00-00-01a22e16-9cd7-7550-bee2-612e3a8b2ecd.jsonl",
];

/// What may happen to one of them; numbers choose a line, a place or another file.
#[derive(Clone, Debug)]
enum Change {
    Append(u32),
    /// The first half of a line.
    Half(u32),
    /// Its other half, and more behind it.
    Complete(u32),
    Rewrite(Vec<u32>),
    Shrink(u32),
    Delete,
    Rename(usize),
    Copy(usize),
    Touch,
    /// The index looks.
    Look,
    /// A new process looks.
    Open,
}

fn change() -> impl Strategy<Value = (usize, Change)> {
    let one = prop_oneof![
        6 => any::<u32>().prop_map(Change::Append),
        1 => any::<u32>().prop_map(Change::Half),
        1 => any::<u32>().prop_map(Change::Complete),
        1 => proptest::collection::vec(any::<u32>(), 0..5).prop_map(Change::Rewrite),
        1 => any::<u32>().prop_map(Change::Shrink),
        1 => Just(Change::Delete),
        1 => (0..FILES.len()).prop_map(Change::Rename),
        2 => (0..FILES.len()).prop_map(Change::Copy),
        1 => Just(Change::Touch),
        4 => Just(Change::Look),
        2 => Just(Change::Open),
    ];
    (0..FILES.len(), one)
}

/// A line of the agent whose file it is. Few ids and few times, so that much is there twice.
fn line(file: usize, n: u32) -> String {
    let (id, output, at) = (n % 11, n / 11 % 5 + 1, n / 55 % 7);
    let time = format!("2026-11-{:02}T20:00:0{at}Z", 24 + at);
    if FILES[file].starts_with(".claude") {
        return match n / 400 % 9 {
            0 => format!(
                r#"{{"type":"user","message":{{"role":"user","content":"prompt {id}"}},"uuid":"u{n}","timestamp":"{time}","cwd":"/w{id}"}}"#
            ),
            1 => format!(r#"{{"type":"custom-title","customTitle":"title {id}","sessionId":"x"}}"#),
            2 => format!(r#"{{"type":"system","subtype":"compact_boundary","timestamp":"{time}","uuid":"u{n}"}}"#),
            3 => format!(
                r#"{{"type":"cost-state","modelUsage":{{"m{}":{{"inputTokens":{},"outputTokens":{}}}}}}}"#,
                id % 2,
                id * 5,
                n % 500
            ),
            4 => format!(r#"{{"type":"assistant","broken{n}"#),
            _ => format!(
                r#"{{"type":"assistant","message":{{"id":"msg{id}","role":"assistant","model":"m{}","content":[{{"type":"tool_use","id":"t{id}","name":"Bash","input":{{}}}}],"usage":{{"input_tokens":{at},"output_tokens":{output}}}}},"timestamp":"{time}","cwd":"/w"}}"#,
                n % 2
            ),
        };
    }
    match n / 400 % 8 {
        0 => {
            format!(r#"{{"timestamp":"{time}","type":"session_meta","payload":{{"id":"s{}","cwd":"/w{id}"}}}}"#, n % 3)
        }
        1 => format!(
            r#"{{"timestamp":"{time}","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{},"output_tokens":{}}}}}}}}}"#,
            n % 70,
            n % 90
        ),
        2 => format!(
            r#"{{"timestamp":"{time}","type":"event_msg","payload":{{"type":"user_message","message":"prompt {id}"}}}}"#
        ),
        3 => format!(r#"{{"timestamp":"{time}","type":"compacted","payload":{{"message":"{id}"}}}}"#),
        4 => format!(r#"{{"timestamp":"{time}","type":"turn_context","payload":{{"model":"gpt-{}"}}}}"#, n % 2),
        _ => format!(
            r#"{{"timestamp":"{time}","type":"token_usage_record","payload":{{"response_id":"r{id}","usage":{{"input_tokens":{at},"output_tokens":{output}}}}}}}"#
        ),
    }
}

struct World {
    dir: tempfile::TempDir,
    /// Each file that is touched has a time of its own.
    clock: u64,
    /// The other half of the line that a file ends with.
    halves: [Option<String>; FILES.len()],
    library: Library,
}

#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let library = Library::open(&dir.path().join("index"), &around(&dir.path().join("home")));
        Self { dir, clock: 0, halves: Default::default(), library }
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn path(&self, file: usize) -> PathBuf {
        self.home().join(FILES[file])
    }

    fn add(&mut self, file: usize, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut open = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        open.write_all(text.as_bytes()).unwrap();
        self.touch(file);
    }

    fn touch(&mut self, file: usize) {
        self.clock += 1;
        if let Ok(open) = File::options().append(true).open(self.path(file)) {
            open.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000 + self.clock)).unwrap();
        }
    }

    fn apply(&mut self, file: usize, change: &Change) {
        let path = self.path(file);
        match change {
            Change::Append(n) => self.add(file, &(line(file, *n) + "\n")),
            Change::Half(n) => {
                let whole = line(file, *n);
                let (half, rest) = whole.split_at(whole.len() / 2);
                self.add(file, half);
                self.halves[file] = Some(rest.to_owned());
            }
            Change::Complete(n) => {
                let rest = self.halves[file].take().unwrap_or_default();
                self.add(file, &format!("{rest}\n{}\n", line(file, *n)));
            }
            Change::Rewrite(lines) => {
                let text: String = lines.iter().map(|n| line(file, *n) + "\n").collect();
                let _ = fs::remove_file(&path);
                self.add(file, &text);
            }
            Change::Shrink(n) => {
                if let Ok(open) = File::options().write(true).open(&path) {
                    let length = open.metadata().unwrap().len();
                    open.set_len(length * u64::from(n % 100) / 100).unwrap();
                    self.touch(file);
                }
            }
            Change::Delete => drop(fs::remove_file(&path)),
            Change::Rename(to) | Change::Copy(to) => {
                let to = self.path(*to);
                if to == path || !path.exists() {
                    return;
                }
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                if matches!(change, Change::Rename(_)) {
                    fs::rename(&path, &to).unwrap();
                } else {
                    fs::copy(&path, &to).unwrap();
                }
            }
            Change::Touch => self.touch(file),
            Change::Look => drop(look(&mut self.library)),
            Change::Open => {
                self.library = Library::open(&self.dir.path().join("index"), &around(&self.home()));
                look(&mut self.library);
            }
        }
    }

    fn fresh(&self) -> Arc<Snapshot> {
        let dir = tempfile::tempdir().unwrap();
        look(&mut Library::open(dir.path(), &around(&self.home())))
    }
}

fn look(library: &mut Library) -> Arc<Snapshot> {
    let found = library.refresh(&AtomicBool::new(false), &|_| {});
    assert!(library.warnings().is_empty(), "{:?}", library.warnings());
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn an_index_that_followed_says_what_a_new_one_says(changes in proptest::collection::vec(change(), 1..60)) {
        let mut world = World::new();
        for (file, change) in &changes {
            world.apply(*file, change);
        }
        let fresh = world.fresh();
        prop_assert_eq!(&look(&mut world.library), &fresh, "the one that was open");
        let mut opened = Library::open(&world.dir.path().join("index"), &around(&world.home()));
        prop_assert_eq!(&opened.known(), &fresh, "what was kept");
        prop_assert_eq!(&look(&mut opened), &fresh, "one that is opened");
    }
}

#[test]
fn two_at_once_are_both_right_and_lose_nothing() {
    let mut world = World::new();
    for file in 0..FILES.len() {
        for n in 0..40 {
            world.add(file, &(line(file, n * 977 + u32::try_from(file).unwrap_or(0)) + "\n"));
        }
    }
    let index = world.dir.path().join("index");
    for round in 0..12 {
        let home = world.home();
        let fresh = world.fresh();
        let one = &|| look(&mut Library::open(&index, &around(&home)));
        std::thread::scope(|scope| {
            let looks: Vec<_> = (0..3).map(|_| scope.spawn(one)).collect();
            for found in looks {
                assert_eq!(found.join().expect("no panic"), fresh, "round {round}");
            }
        });
        assert_eq!(look(&mut Library::open(&index, &around(&home))), fresh);
        if round % 3 == 2 {
            fs_remove(&index, round);
        }
        world.add(
            round % FILES.len(),
            &(line(round % FILES.len(), 7_000 + u32::try_from(round).unwrap_or(0) * 31) + "\n"),
        );
    }
}

/// Takes one of the files of the index away while nobody looks.
#[allow(clippy::disallowed_methods)]
fn fs_remove(index: &Path, round: usize) {
    let mut files: Vec<_> = fs::read_dir(index).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.sort();
    let _ = fs::remove_file(&files[round % files.len()]);
}
