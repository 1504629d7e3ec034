//! The store from outside: what is searched in it is what is searched in the files, however it was built.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;

use super::*;
use crate::adapter::{Places, Surroundings};
use crate::sessions::{Facts, Kind, Piece, Reader, Said, Speaker};

/// An agent whose lines are `{"who":"user","text":"..."}`.
struct Plain;

impl Reads for Plain {
    fn sources(&self, _: &Surroundings, _: &Places, _: &mut dyn FnMut(Source)) {}

    fn reader(&self, _: &Source, _: Option<Facts>) -> Box<dyn Reader> {
        unreachable!("the text store reads no facts")
    }

    fn tell(
        &self,
        source: &Source,
        _: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let bytes = std::fs::read(&source.path).map_err(|error| error.to_string())?;
        let mut offset = from;
        for line in bytes[usize::try_from(from).unwrap()..].split_inclusive(|byte| *byte == b'\n') {
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            let speaker = if value["who"] == "user" { Speaker::User } else { Speaker::Assistant };
            let said = Said::Text(value["text"].as_str().unwrap().to_owned());
            let response = Some(offset.to_string());
            let piece = Piece { offset, at: None, speaker, subagent: None, model: None, response, tokens: None, said };
            if sink(piece).is_break() {
                break;
            }
            offset += line.len() as u64;
        }
        Ok(())
    }

    fn resume(&self, _: &str) -> Option<Vec<String>> {
        None
    }
}

fn write(path: &Path, texts: &[String]) {
    let lines: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| serde_json::json!({"who": if at % 2 == 0 { "user" } else { "it" }, "text": text}).to_string())
        .collect();
    let mut all = lines.join("\n");
    all.push('\n');
    sys::files::overwrite(path, all.as_bytes()).ok();
}

/// Sources of a folder, one session each, by name.
struct Shelf {
    dir: tempfile::TempDir,
    sources: Vec<Source>,
}

#[allow(clippy::unwrap_used)]
impl Shelf {
    fn new(sessions: &[Vec<String>]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (at, texts) in sessions.iter().enumerate() {
            let path = dir.path().join(format!("{at:03}.jsonl"));
            sys::files::write_atomic(&path, b"", sys::files::Mode::Private).unwrap();
            write(&path, texts);
        }
        let mut shelf = Self { dir, sources: Vec::new() };
        shelf.look();
        shelf
    }

    fn look(&mut self) {
        let mut paths: Vec<_> =
            std::fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        paths.sort();
        self.sources = paths.iter().map(|path| Source::at(path, Kind::Lines).unwrap()).collect();
    }

    fn conversations(&self) -> Vec<Conversation<'_>> {
        self.sources
            .iter()
            .map(|source| Conversation {
                agent: "plain",
                session: source.path.file_stem().unwrap().to_str().unwrap(),
                cwd: Some("/shop"),
                updated: Some(0),
                sources: vec![source],
                reads: &Plain,
                scratch: std::path::Path::new(""),
            })
            .collect()
    }

    fn store(&self) -> Store {
        Store::open(&self.dir.path().join("index"))
    }

    fn build(&self) -> Coverage {
        self.store().build(&self.conversations(), &AtomicBool::new(false), &|_| {}).unwrap()
    }

    fn find(&self, query: &Query, rest: Rest) -> (Vec<Hit>, Outcome) {
        let mut hits = Vec::new();
        let outcome = self.store().search(&self.conversations(), query, rest, &AtomicBool::new(false), &mut |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        });
        (hits, outcome)
    }

    fn count(&self, words: &str) -> usize {
        let hits = self.find(&query(words), Rest::Leave).0;
        assert_eq!(hits, self.find(&query(words), Rest::Scan).0, "{words}");
        hits.len()
    }
}

fn query(words: &str) -> Query {
    Query { words: words.split_whitespace().map(str::to_owned).collect(), ..Query::default() }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn words_of_one_turn_are_found_with_their_place() {
    let shelf = Shelf::new(&[
        texts(&["nothing", "the Quartz lantern", "lantern"]),
        texts(&["lantern", "quartz"]),
        texts(&["one", "two", "three quartz lanterns, a quartz lamp"]),
    ]);
    let before = shelf.find(&query("quartz lantern"), Rest::Scan).0;
    let (none, outcome) = shelf.find(&query("quartz"), Rest::Leave);
    assert_eq!((none.len(), outcome.searched, outcome.of), (0, 0, 3));
    assert!(shelf.build().complete());
    let (hits, outcome) = shelf.find(&query("quartz lantern"), Rest::Leave);
    assert_eq!(hits, before);
    assert_eq!((outcome.searched, outcome.of, outcome.found, outcome.ended_early), (3, 3, 2, false));
    let places: Vec<_> = hits.iter().map(|hit| (hit.conversation, hit.hits, hit.excerpts[0].turn)).collect();
    assert_eq!(places, [(0, 2, 1), (2, 3, 2)]);
    let excerpt = &hits[1].excerpts[0];
    let marked: Vec<_> = excerpt.matches.iter().map(|range| &excerpt.text[range.clone()]).collect();
    assert_eq!(marked, ["quartz", "lantern", "quartz"]);
    assert_eq!(shelf.count("Quartz"), 1);
}

#[test]
fn turns_are_counted_over_all_sources_of_a_conversation() {
    let shelf = Shelf::new(&[texts(&["one", "two", "three"]), texts(&["four", "quartz"])]);
    let mut both = shelf.conversations();
    let second = both.pop().unwrap();
    both[0].sources.extend(second.sources);
    let turn = || {
        let mut turns = Vec::new();
        let _ = shelf.store().search(&both, &query("quartz"), Rest::Scan, &AtomicBool::new(false), &mut |hit| {
            turns.push(hit.excerpts[0].turn);
            ControlFlow::Continue(())
        });
        turns
    };
    assert_eq!(turn(), [4]);
    assert!(shelf.store().build(&both, &AtomicBool::new(false), &|_| {}).unwrap().complete());
    assert_eq!(turn(), [4], "also when the store only lists what may hold the word");
}

#[test]
fn what_grows_is_added_what_is_rewritten_is_read_again_what_is_gone_is_dropped() {
    let mut shelf = Shelf::new(&[texts(&["alpha"]), texts(&["beta"]), texts(&["gamma"])]);
    shelf.build();
    let path = |name: &str| shelf.dir.path().join(name);
    let (grows, changes, goes) = (path("000.jsonl"), path("001.jsonl"), path("002.jsonl"));
    write(&grows, &texts(&["alpha", "delta", "alpha"]));
    write(&changes, &texts(&["epsilon and more"]));
    sys::files::remove_file(&goes).unwrap();
    shelf.look();
    assert!(!shelf.store().state(&shelf.conversations()).complete());
    assert!(shelf.build().complete());
    assert_eq!((shelf.count("beta"), shelf.count("gamma"), shelf.count("epsilon")), (0, 0, 1));
    let hit = &shelf.find(&query("alpha"), Rest::Leave).0[0];
    assert_eq!((hit.hits, hit.excerpts[1].turn), (2, 2));
}

#[test]
fn a_damaged_store_is_made_again() {
    let shelf = Shelf::new(&[texts(&["alpha"])]);
    shelf.build();
    let store = shelf.store().path();
    sys::files::overwrite(&store, &[b'x'; 9_000]).unwrap();
    assert_eq!(shelf.find(&query("alpha"), Rest::Scan).0.len(), 1);
    assert!(shelf.build().complete());
    assert_eq!(shelf.count("alpha"), 1);
}

#[test]
fn a_build_cut_off_anywhere_goes_on_to_the_same_end() {
    let sessions: Vec<_> = (0..40).map(|n| texts(&["same words", &format!("number{n}x")])).collect();
    let shelf = Shelf::new(&sessions);
    let cancel = AtomicBool::new(false);
    let calls = Mutex::new(0);
    // Cut off at the first, second, third ... report, until it is done.
    for cut in 1..100 {
        *calls.lock().unwrap() = 0;
        cancel.store(false, Ordering::Relaxed);
        let done = shelf.store().build(&shelf.conversations(), &cancel, &|_| {
            let mut calls = calls.lock().unwrap();
            *calls += 1;
            cancel.store(*calls >= cut, Ordering::Relaxed);
        });
        if done.unwrap().complete() {
            break;
        }
    }
    assert_eq!(shelf.count("same words"), 40);
    assert_eq!(shelf.count("number7x"), 1);
}

#[test]
fn a_store_grows_a_little_at_a_time_newest_first_to_the_same_end() {
    let sessions: Vec<_> =
        (0..60).map(|n| texts(&["same words", &format!("number{n}x {}", "x ".repeat(300))])).collect();
    let shelf = Shelf::new(&sessions);
    let mut had = 0;
    for _ in 0..1_000 {
        let now = shelf.store().grow(&shelf.conversations(), std::time::Duration::from_millis(10)).unwrap();
        assert!(now.sessions >= had, "what was there stays");
        had = now.sessions;
        // The first of the list come first: what is found has no gaps but where two readers were busy.
        let found: Vec<_> =
            shelf.find(&query("same words"), Rest::Leave).0.iter().map(|hit| hit.conversation).collect();
        assert_eq!(found.len() as u64, had);
        assert!(found.last().is_none_or(|last| *last < found.len() + 2), "{found:?}");
        if now.complete() {
            break;
        }
    }
    assert_eq!(shelf.count("same words"), 60);
    assert_eq!(shelf.count("number7x"), 1);
}

#[test]
fn two_builders_at_once_end_with_everything_once() {
    let sessions: Vec<_> = (0..60).map(|_| texts(&["twice or once"])).collect();
    let shelf = Shelf::new(&sessions);
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..2).map(|_| scope.spawn(|| shelf.build().complete())).collect();
        assert!(builds.into_iter().all(|build| build.join().unwrap()));
    });
    assert!(shelf.find(&query("once"), Rest::Leave).0.iter().all(|hit| hit.hits == 1));
    assert_eq!(shelf.count("once"), 60);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_store_finds_what_the_text_holds(
        sessions in proptest::collection::vec(proptest::collection::vec("[aAbSsſKk\u{212a}ß\"\\\\\n éÉe\u{301}日本]{1,60}", 1..5), 1..5),
        word in "[aAbsSkK\"\\\\éÉe日本]{1,4}",
    ) {
        let shelf = Shelf::new(&sessions);
        shelf.build();
        let exact = word.chars().any(char::is_uppercase);
        let finder = regex::RegexBuilder::new(&regex::escape(&word)).case_insensitive(!exact).build().unwrap();
        let wanted: Vec<_> = sessions
            .iter()
            .enumerate()
            .map(|(at, texts)| (at, texts.iter().map(|text| finder.find_iter(text).count() as u64).sum::<u64>()))
            .filter(|(_, hits)| *hits > 0)
            .collect();
        let query = Query { words: vec![word], ..Query::default() };
        for rest in [Rest::Leave, Rest::Scan] {
            let got: Vec<_> = shelf.find(&query, rest).0.iter().map(|hit| (hit.conversation, hit.hits)).collect();
            prop_assert_eq!(&got, &wanted);
        }
    }
}
