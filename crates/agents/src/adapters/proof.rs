//! What every adapter's reading has to keep to, tried on homes that the real programs left (`<agent>/fixtures`, with
//! what is true of them in `expected.json`). Tests only.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::adapter::{Adapter, Surroundings, by_id};
use crate::sessions::{Facts, Kind, Part, Piece, Reads, Role, Said, Source, Tokens};

/// One agent and the folder of its fixtures.
pub(crate) struct Proof {
    pub(crate) adapter: &'static dyn Adapter,
    pub(crate) fixtures: PathBuf,
}

/// A session as the rows show it, without what the index adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) cwd: Option<String>,
    pub(crate) title: Option<(u8, String)>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) models: Vec<String>,
    pub(crate) prompts: u64,
    pub(crate) tool_calls: u64,
    pub(crate) failed_tool_calls: u64,
    pub(crate) subagents: HashSet<String>,
    pub(crate) compactions: u64,
    pub(crate) roles: BTreeMap<Role, Tokens>,
    pub(crate) cost: u64,
}

impl Sum {
    pub(crate) fn tokens(&self) -> Tokens {
        self.roles.values().copied().sum()
    }
}

#[allow(clippy::unwrap_used, clippy::expect_used)]
impl Proof {
    pub(crate) fn of(id: &str, room: &str) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/adapters").join(room).join("fixtures");
        Self { adapter: by_id(id).unwrap(), fixtures }
    }

    pub(crate) fn reads(&self) -> &'static dyn Reads {
        self.adapter.reads().unwrap()
    }

    /// The sources in a home folder.
    pub(crate) fn sources(&self, home: &Path) -> Vec<Source> {
        self.sources_with(home, &[])
    }

    pub(crate) fn sources_with(&self, home: &Path, vars: &[(&str, &str)]) -> Vec<Source> {
        let home = [("HOME", home.to_str().unwrap())];
        let vars = home.iter().chain(vars).map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let around = Surroundings::of(&sys::Env::from_iter(vars)).unwrap();
        let mut found = Vec::new();
        self.reads().sources(&around, &self.adapter.places(&around), &mut |source| found.push(source));
        found
    }

    pub(crate) fn read(&self, source: &Source) -> Facts {
        match source.kind {
            Kind::Whole => {
                let scratch = tempfile::tempdir().unwrap();
                self.reads().read_whole(source, scratch.path()).unwrap()
            }
            _ => self.read_bytes(source, &std::fs::read(&source.path).unwrap()),
        }
    }

    pub(crate) fn read_bytes(&self, source: &Source, bytes: &[u8]) -> Facts {
        let mut reader = self.reads().reader(source, None);
        reader.lines(bytes, 0);
        reader.finish()
    }

    /// All sessions of a home folder, summed as the index does: a response counts once.
    pub(crate) fn sum(&self, home: &Path) -> BTreeMap<String, Sum> {
        let facts: Vec<Facts> = self.sources(home).iter().map(|source| self.read(source)).collect();
        self.sum_facts(&facts)
    }

    pub(crate) fn sum_facts(&self, facts: &[Facts]) -> BTreeMap<String, Sum> {
        // In the order of the sources: a response that a fork copied belongs to the first that has it.
        let mut sessions: Vec<(&str, Vec<&Part>)> = Vec::new();
        for part in facts.iter().flat_map(|facts| &facts.parts) {
            match sessions.iter_mut().find(|(id, _)| *id == part.session) {
                Some((_, parts)) => parts.push(part),
                None => sessions.push((&part.session, vec![part])),
            }
        }
        sessions.retain(|(_, parts)| parts.iter().any(|part| !part.aside && !part.subagent));
        let mut seen = HashSet::new();
        sessions.into_iter().map(|(id, parts)| (id.to_owned(), self.sum_parts(&parts, &mut seen))).collect()
    }

    fn sum_parts(&self, parts: &[&Part], seen: &mut HashSet<u64>) -> Sum {
        let settled = self.reads().settle(parts);
        let mut sum = Sum::default();
        for (at, part) in parts.iter().enumerate() {
            if !part.subagent {
                sum.cwd = sum.cwd.or_else(|| part.cwd.clone());
                sum.first_prompt = sum.first_prompt.or_else(|| part.first_prompt.as_ref().map(|p| p.text.clone()));
                sum.prompts += part.prompts;
                sum.tool_calls += part.tool_calls;
                sum.failed_tool_calls += part.failed_tool_calls;
                sum.compactions += part.compactions;
                if let Some(title) = &part.title
                    && sum.title.as_ref().is_none_or(|(rank, _)| *rank <= title.rank)
                {
                    sum.title = Some((title.rank, title.text.clone()));
                }
            }
            sum.subagents.extend(part.subagents.iter().cloned());
            for model in part.models.iter().filter(|model| !sum.models.contains(model)).collect::<Vec<_>>() {
                sum.models.push(model.clone());
            }
            let counted = !settled.instead_of.contains(&at);
            for (index, response) in part.responses.iter().enumerate().filter(|_| counted) {
                if settled.without.contains(&(at, index)) {
                    continue;
                }
                if response.key == 0 || seen.insert(response.key) {
                    sum.roles.entry(response.role).or_default().add(&response.tokens);
                    sum.cost += response.cost.unwrap_or(0);
                }
            }
        }
        for response in &settled.more {
            sum.roles.entry(response.role).or_default().add(&response.tokens);
        }
        sum
    }

    /// Everything said in the sources of a home, each from its beginning.
    pub(crate) fn told(&self, source: &Source, session: &str, from: u64) -> Vec<Piece> {
        let mut told = Vec::new();
        let sink = &mut |piece| {
            told.push(piece);
            ControlFlow::Continue(())
        };
        let scratch = tempfile::tempdir().unwrap();
        self.reads().tell_from(source, session, from, scratch.path(), sink).unwrap();
        told
    }

    /// The fixture homes say what `expected.json` says; `tokens` picks what the files record of a session.
    pub(crate) fn agrees(&self, tokens: fn(&Value) -> Vec<&Value>) {
        let text = std::fs::read_to_string(self.fixtures.join("expected.json")).unwrap();
        let truth: Value = serde_json::from_str(&text).unwrap();
        let mut sums = self.sum(&self.fixtures.join("home"));
        for want in truth["sessions"].as_array().unwrap().iter().filter(|want| want["on_disk"] != false) {
            let id = want["session_id"].as_str().unwrap();
            let sum = sums.remove(id).unwrap_or_else(|| panic!("{id} is not listed"));
            assert_eq!(sum.cwd.as_deref(), want["cwd"].as_str(), "{id}");
            let counts = [
                (sum.prompts, "n_user_prompts"),
                (sum.tool_calls, "tool_calls"),
                (sum.failed_tool_calls, "failed_tool_calls"),
                (sum.subagents.len() as u64, "sub_agents"),
            ];
            for (count, name) in counts {
                assert_eq!(Some(count), want[name].as_u64(), "{id}: {name}");
            }
            let prompt = sum.first_prompt.as_deref().unwrap_or_default().trim().trim_matches('"');
            let first = want["first_prompt"].as_str().unwrap();
            assert!(first.starts_with(prompt) && prompt.len() > 20, "{id}: {prompt:?}");
            for model in want["models"].as_array().unwrap() {
                let model = model.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
                assert!(sum.models.contains(&model), "{id}: {model} is not in {:?}", sum.models);
            }
            let kinds = |kind: &str| tokens(want).iter().map(|tokens| tokens[kind].as_u64().unwrap()).sum::<u64>();
            let got = sum.tokens();
            let got = [got.input, got.cache_read, got.cache_write, got.output];
            let output = kinds("output") + kinds("reasoning");
            assert_eq!(got, [kinds("input"), kinds("cache_read"), kinds("cache_write"), output], "{id}");
        }
        assert!(sums.is_empty(), "too many: {sums:?}");
    }

    fn line_sources(&self) -> Vec<(Source, Vec<u8>)> {
        let sources = self.sources(&self.fixtures.join("home")).into_iter().filter(|s| s.kind != Kind::Whole);
        sources.map(|source| (source.clone(), std::fs::read(&source.path).unwrap())).collect()
    }

    /// A file read in any steps, and gone on with from what was stored, says the same as when it is read in one go.
    pub(crate) fn steps_change_nothing(&self) {
        for (source, bytes) in self.line_sources() {
            self.same_in_steps(&source, &bytes, |end| end % 2 == 0);
            self.same_in_steps(&source, &bytes, |_| true);
            self.same_in_steps(&source, &bytes, |_| false);
        }
    }

    fn same_in_steps(&self, source: &Source, bytes: &[u8], stop: impl Fn(usize) -> bool) {
        let whole = self.read_bytes(source, bytes);
        let mut reader = self.reads().reader(source, None);
        let mut at = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            reader.lines(line, at as u64);
            at += line.len();
            if stop(at) {
                let stored = serde_json::to_vec(&reader.finish()).unwrap();
                reader = self.reads().reader(source, Some(serde_json::from_slice(&stored).unwrap()));
            }
        }
        assert_eq!(reader.finish(), whole, "{}", source.path.display());
    }

    /// Nothing that a file could hold is a danger, and reading it in steps still says the same.
    pub(crate) fn any_bytes_are_safe(&self) {
        self.any_whole_file_is_safe();
        let sources = self.line_sources();
        if sources.is_empty() {
            return;
        }
        let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
        let plan = (0..sources.len(), proptest::collection::vec((0.0..1.0_f64, change()), 1..6), 0.0..1.0_f64);
        runner
            .run(&plan, |(which, changes, stop)| {
                let (source, bytes) = &sources[which];
                let mut bytes = bytes.clone();
                for (place, change) in changes {
                    apply(&mut bytes, place, &change);
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
                let stop = (bytes.len() as f64 * stop) as usize;
                self.same_in_steps(source, &bytes, |end| end / 2_000 == stop / 2_000);
                self.tells_any_bytes(source, &bytes);
                Ok(())
            })
            .unwrap();
    }

    fn tells_any_bytes(&self, source: &Source, bytes: &[u8]) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(source.path.file_name().unwrap());
        std::io::Write::write_all(&mut std::fs::File::create_new(&path).unwrap(), bytes).unwrap();
        let source = Source::at(&path, source.kind).unwrap();
        let told = self.told(&source, "any", 0);
        if let Some(middle) = told.get(told.len() / 2) {
            let first = told.iter().position(|piece| piece.offset == middle.offset).unwrap();
            assert_eq!(self.told(&source, "any", middle.offset), told[first..]);
        }
    }

    /// A damaged document or database is read, or refused in words.
    fn any_whole_file_is_safe(&self) {
        let sources = self.sources(&self.fixtures.join("home")).into_iter().filter(|s| s.kind == Kind::Whole);
        let sources: Vec<_> = sources.map(|source| (std::fs::read(&source.path).unwrap(), source)).collect();
        if sources.is_empty() {
            return;
        }
        let mut runner = TestRunner::new(Config { cases: 100, failure_persistence: None, ..Config::default() });
        let plan = (0..sources.len(), proptest::collection::vec((0.0..1.0_f64, change()), 1..6));
        runner
            .run(&plan, |(which, changes)| {
                let (bytes, source) = &sources[which];
                let mut bytes = bytes.clone();
                changes.iter().for_each(|(place, change)| apply(&mut bytes, *place, change));
                let home = tempfile::tempdir().unwrap();
                let path = home.path().join(source.path.file_name().unwrap());
                std::io::Write::write_all(&mut std::fs::File::create_new(&path).unwrap(), &bytes).unwrap();
                let source = Source::at(&path, Kind::Whole).unwrap();
                if let Ok(facts) = self.reads().read_whole(&source, home.path()) {
                    for part in &facts.parts {
                        let sink = &mut |_| ControlFlow::Continue(());
                        drop(self.reads().tell_from(&source, &part.session, 0, home.path(), sink));
                    }
                }
                Ok(())
            })
            .unwrap();
    }

    /// Told again from any piece, the rest is the same; told twice, everything is.
    pub(crate) fn telling_restarts_anywhere(&self) {
        for source in self.sources(&self.fixtures.join("home")) {
            for session in self.read(&source).parts.iter().map(|part| &part.session) {
                let told = self.told(&source, session, 0);
                for (index, piece) in told.iter().enumerate() {
                    let first = told.iter().position(|other| other.offset == piece.offset).unwrap();
                    assert_eq!(self.told(&source, session, piece.offset), told[first..], "{index}");
                }
            }
        }
    }

    /// Every prompt is told, each once, by the person.
    pub(crate) fn prompts_are_told_once(&self) {
        let text = std::fs::read_to_string(self.fixtures.join("expected.json")).unwrap();
        let truth: Value = serde_json::from_str(&text).unwrap();
        let sources: Vec<(Source, Facts)> =
            self.sources(&self.fixtures.join("home")).into_iter().map(|s| (s.clone(), self.read(&s))).collect();
        for want in truth["sessions"].as_array().unwrap() {
            let id = want["session_id"].as_str().unwrap();
            let own = sources.iter().filter(|(_, facts)| facts.parts.iter().any(|part| part.session == id));
            let told = own.flat_map(|(source, _)| self.told(source, id, 0));
            let typed: Vec<String> = told
                .filter(|piece| piece.subagent.is_none() && piece.speaker == crate::sessions::Speaker::User)
                .filter_map(|piece| match piece.said {
                    Said::Text(text) => Some(text.trim().trim_matches('"').to_owned()),
                    _ => None,
                })
                .collect();
            let prompts: Vec<&str> =
                want["user_prompts"].as_array().unwrap().iter().map(|prompt| prompt.as_str().unwrap().trim()).collect();
            assert_eq!(typed, prompts, "{id}");
        }
    }
}

#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Put(Vec<u8>),
    Again(usize),
}

fn change() -> impl proptest::strategy::Strategy<Value = Change> {
    use proptest::prelude::*;
    let bad: Vec<&'static [u8]> = vec![
        b"\n",
        b"\"",
        b"{",
        b"}",
        b"\\ud800",
        b"\xff\xfe",
        b"\0\0\0\0",
        b"null",
        b"-1",
        b"1e999",
        b"[[[[",
        b"\xef\xbb\xbf",
        b"18446744073709551616",
        b"\n{\"type\":7}\n",
        b"\n[]\n",
        b"\n\"x\"\n",
        "\u{2028}".as_bytes(),
        b":{},",
        b"9999-99-99",
    ];
    prop_oneof![
        (1..400_usize).prop_map(Change::Cut),
        prop::sample::select(bad).prop_map(|bytes| Change::Put(bytes.to_vec())),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Change::Put),
        (1..3_000_usize).prop_map(Change::Again),
    ]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
fn apply(bytes: &mut Vec<u8>, place: f64, change: &Change) {
    let at = (bytes.len() as f64 * place) as usize;
    match change {
        Change::Cut(length) => drop(bytes.drain(at..(at + length).min(bytes.len()))),
        Change::Put(put) => drop(bytes.splice(at..at, put.iter().copied())),
        Change::Again(length) => {
            let again = bytes[at..(at + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, again);
        }
    }
}

/// The tests that every adapter has.
macro_rules! proofs {
    ($id:literal, $room:literal, $tokens:expr) => {
        #[allow(clippy::unwrap_used)]
        mod proofs {
            use crate::adapters::proof::Proof;

            #[test]
            fn the_real_homes_say_what_is_true() {
                Proof::of($id, $room).agrees($tokens);
            }

            #[test]
            fn steps_change_nothing() {
                Proof::of($id, $room).steps_change_nothing();
            }

            #[test]
            fn any_bytes_are_safe() {
                Proof::of($id, $room).any_bytes_are_safe();
            }

            #[test]
            fn telling_restarts_anywhere() {
                Proof::of($id, $room).telling_restarts_anywhere();
            }

            #[test]
            fn prompts_are_told_once() {
                Proof::of($id, $room).prompts_are_told_once();
            }
        }
    };
}
pub(crate) use proofs;
