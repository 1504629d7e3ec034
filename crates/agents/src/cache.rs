//! What `--version` answered before, so that no program is asked twice (public-reports.md, E7). It is a pure
//! value: the caller loads and stores the file, a damaged one is an empty one. `detect` asks and fills it.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Answers kept; the oldest goes first.
pub const ENTRIES: usize = 200;
/// Tries without an answer after which a program is left alone until its file changes.
pub const TRIES: u8 = 3;
/// The layout of the JSON; another one is read as empty.
const LAYOUT: u32 = 1;
/// A cache file larger than this is read as empty.
const BYTES_MAX: usize = 1 << 20;

/// One file as it was when it was asked. Another size or time is another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// The program, all links followed.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its modification time in nanoseconds since 1970.
    pub mtime_ns: u64,
}

impl Key {
    /// The key of a file. `None` when it is gone, when its path is not UTF-8 or its time is before 1970: then
    /// nothing is remembered of it.
    pub fn of(program: &Path) -> Option<Self> {
        let meta = fs::metadata(program).ok()?;
        let since = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self {
            path: program.to_str()?.to_owned(),
            size: meta.len(),
            mtime_ns: u64::try_from(since.as_nanos()).ok()?,
        })
    }
}

/// What is remembered of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It said this number.
    Number(String),
    /// It was asked [`TRIES`] times, or answered, without a number: it is not asked again.
    Silent,
    /// It has to be asked.
    Ask,
}

/// What came of asking a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This number.
    Number(String),
    /// It ended and printed no number.
    NoNumber,
    /// It could not be started or did not end in time.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    key: Key,
    number: Option<String>,
    tries: u8,
}

#[derive(Serialize, Deserialize)]
struct File {
    layout: u32,
    entries: Vec<Entry>,
}

/// The answers, oldest first, at most [`ENTRIES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionCache {
    entries: Vec<Entry>,
}

impl VersionCache {
    /// A cache from the bytes of its file. Garbage, another layout or more than 1 MiB give an empty one.
    pub fn from_json(bytes: &[u8]) -> Self {
        if bytes.len() > BYTES_MAX {
            return Self::default();
        }
        match serde_json::from_slice::<File>(bytes) {
            Ok(file) if file.layout == LAYOUT => {
                let mut cache = Self { entries: file.entries };
                cache.entries.retain(|entry| entry.number.as_deref().is_none_or(is_number));
                cache.trim();
                cache
            }
            _ => Self::default(),
        }
    }

    /// The bytes to store.
    pub fn to_json(&self) -> Vec<u8> {
        let file = File { layout: LAYOUT, entries: self.entries.clone() };
        // Strings and numbers only: this cannot fail, and an empty file reads as an empty cache.
        serde_json::to_vec_pretty(&file).unwrap_or_default()
    }

    /// What is known of the program with this key.
    pub fn get(&self, key: &Key) -> Memory {
        match self.entries.iter().find(|entry| entry.key == *key) {
            Some(Entry { number: Some(number), .. }) => Memory::Number(number.clone()),
            Some(entry) if entry.tries >= TRIES => Memory::Silent,
            _ => Memory::Ask,
        }
    }

    /// Remembers an answer; what was known of the same path goes.
    pub fn put(&mut self, key: Key, answer: &Answer) {
        let before = self.entries.iter().find(|entry| entry.key == key).map_or(0, |entry| entry.tries);
        let (number, tries) = match answer {
            Answer::Number(number) => (Some(number.clone()), 0),
            Answer::NoNumber => (None, TRIES),
            Answer::Nothing => (None, before.saturating_add(1)),
        };
        self.entries.retain(|entry| entry.key.path != key.path);
        self.entries.push(Entry { key, number, tries });
        self.trim();
    }

    fn trim(&mut self) {
        let over = self.entries.len().saturating_sub(ENTRIES);
        self.entries.drain(..over);
    }
}

/// The file is disposable but not trusted: what it says is shown, so it has to be what we write.
fn is_number(text: &str) -> bool {
    crate::version::number_in(text.as_bytes()).is_some_and(|number| number == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str, size: u64) -> Key {
        Key { path: path.into(), size, mtime_ns: 7 }
    }

    #[test]
    fn answers_survive_the_file_and_a_changed_program_is_asked_again() {
        let mut cache = VersionCache::default();
        cache.put(key("/a", 1), &Answer::Number("1.2.3".into()));
        let cache = VersionCache::from_json(&cache.to_json());
        assert_eq!(cache.get(&key("/a", 1)), Memory::Number("1.2.3".into()));
        assert_eq!(cache.get(&key("/a", 2)), Memory::Ask);
        assert_eq!(cache.get(&Key { mtime_ns: 8, ..key("/a", 1) }), Memory::Ask);
    }

    #[test]
    fn a_program_that_never_answers_is_left_alone() {
        let mut cache = VersionCache::default();
        for _ in 0..TRIES {
            assert_eq!(cache.get(&key("/a", 1)), Memory::Ask);
            cache.put(key("/a", 1), &Answer::Nothing);
        }
        assert_eq!(cache.get(&key("/a", 1)), Memory::Silent);
        cache.put(key("/b", 1), &Answer::NoNumber);
        assert_eq!(cache.get(&key("/b", 1)), Memory::Silent);
    }

    #[test]
    fn it_stays_small() {
        let mut cache = VersionCache::default();
        for n in 0..ENTRIES + 20 {
            cache.put(key(&format!("/{n}"), 1), &Answer::Number("1.2.3".into()));
        }
        assert_eq!(cache.entries.len(), ENTRIES);
        assert_eq!(cache.get(&key("/0", 1)), Memory::Ask);
    }

    #[test]
    fn garbage_is_an_empty_cache() {
        let esc =
            br#"{"layout":1,"entries":[{"path":"/a","size":1,"mtime_ns":7,"number":"\u001b[31m1.2.3","tries":0}]}"#;
        for bytes in [&b""[..], b"{", b"[]", b"null", br#"{"layout":2,"entries":[]}"#, br#"{"layout":1}"#, esc, b"\xff"]
        {
            assert_eq!(VersionCache::from_json(bytes), VersionCache::default());
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3_000))]
        #[test]
        fn no_bytes_can_break_it(bytes: Vec<u8>) {
            VersionCache::from_json(&bytes);
        }
    }
}
