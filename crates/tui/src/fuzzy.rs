//! Fuzzy matching for the palette, filters and pickers; the only room that knows nucleo-matcher.
//! It never sorts by anything but the score and never looks at more of a query than its first 512 characters.
//! Widgets and views call it.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Utf32Str};
use unicode_segmentation::UnicodeSegmentation;

/// Scores are added up in 16 bits inside nucleo; this many characters cannot overflow them.
const MAX_QUERY: usize = 512;

/// A reusable matcher; it keeps nucleo's working memory (about 130 KiB) and the last query in prepared form.
///
/// A query is split at blanks, every word must occur in order of its letters, in any case, accents optional.
/// Positions count grapheme clusters, as `text.graphemes(true)` yields them.
pub struct Matcher {
    inner: nucleo_matcher::Matcher,
    query: String,
    atoms: Vec<Atom>,
    haystack: Vec<char>,
}

impl Default for Matcher {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Matcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Matcher").field("query", &self.query).finish_non_exhaustive()
    }
}

impl Matcher {
    /// A matcher with no query yet.
    pub fn new() -> Self {
        let inner = nucleo_matcher::Matcher::new(Config::DEFAULT);
        Self { inner, query: String::new(), atoms: Vec::new(), haystack: Vec::new() }
    }

    /// How well `text` matches, higher is better; `None` when it does not. An empty query matches all with 0.
    pub fn score(&mut self, query: &str, text: &str) -> Option<u32> {
        self.prepare(query);
        if self.atoms.is_empty() {
            return Some(0);
        }
        let haystack = reduced(text, &mut self.haystack);
        let inner = &mut self.inner;
        self.atoms
            .iter()
            .try_fold(0u32, |sum, atom| atom.score(haystack, inner).map(|score| sum.saturating_add(u32::from(score))))
    }

    /// Which grapheme clusters of `text` matched, ascending and without doubles; `None` when it does not match.
    pub fn positions(&mut self, query: &str, text: &str) -> Option<Vec<usize>> {
        self.prepare(query);
        let mut found = Vec::new();
        if !self.atoms.is_empty() {
            let haystack = reduced(text, &mut self.haystack);
            for atom in &self.atoms {
                atom.indices(haystack, &mut self.inner, &mut found)?;
            }
        }
        let mut found: Vec<usize> = found.into_iter().map(|i| i as usize).collect();
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// The items that match, best first and otherwise in their order, each with its index and score. An empty query
    /// keeps all in order.
    pub fn rank<'a>(&mut self, query: &str, items: impl Iterator<Item = &'a str>) -> Vec<(usize, u32)> {
        let mut ranked: Vec<(usize, u32)> =
            items.enumerate().filter_map(|(i, text)| Some((i, self.score(query, text)?))).collect();
        ranked.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
        ranked
    }

    /// Prepares the words of a query, once for as long as it stays the same.
    fn prepare(&mut self, query: &str) {
        if self.query == query {
            return;
        }
        self.query.clear();
        self.query.push_str(query);
        let head = query.char_indices().nth(MAX_QUERY).map_or(query, |(end, _)| &query[..end]);
        self.atoms = head
            .split_whitespace()
            .map(|word| {
                // an accent written as a second character must not make a needle that no plain text can match
                let word: String = firsts(word).collect();
                Atom::new(&word, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false)
            })
            .collect();
    }
}

/// The first character of each grapheme cluster, which is what nucleo compares.
fn firsts(text: &str) -> impl Iterator<Item = char> {
    text.graphemes(true).filter_map(|cluster| cluster.chars().next())
}

/// The text as nucleo wants it. `Utf32Str::new` would do, but where all first characters are ASCII and others are
/// not (`e` with a combining accent) it passes on the raw bytes, and positions are off.
fn reduced<'a>(text: &'a str, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
    if text.is_ascii() && !text.contains('\r') {
        return Utf32Str::Ascii(text.as_bytes());
    }
    buffer.clear();
    buffer.extend(firsts(text));
    Utf32Str::Unicode(buffer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_query_matches_all_in_order() {
        let mut matcher = Matcher::new();
        assert_eq!(matcher.rank("", ["b", "a", ""].into_iter()), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(matcher.rank("  ", ["b", "a"].into_iter()).len(), 2);
        assert_eq!(matcher.positions("", "abc"), Some(vec![]));
    }

    #[test]
    fn ranks_and_stays_stable() {
        let mut matcher = Matcher::new();
        let items = ["usage refresh", "reload", "skills update", "reload"];
        let ranked = matcher.rank("rel", items.into_iter());
        assert_eq!(ranked.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(matcher.score("xyz", "reload"), None);
        assert!(matcher.score("RELOAD", "reload").is_some());
        assert!(matcher.score("relo", "ReLoad").is_some());
    }

    #[test]
    fn words_match_in_any_order() {
        let mut matcher = Matcher::new();
        assert!(matcher.score("wipe probe", "probe wipe-2").is_some());
        assert_eq!(matcher.positions("wi pr", "probe wipe-2"), Some(vec![0, 1, 6, 7]));
        assert_eq!(matcher.score("wipe nope", "probe wipe-2"), None);
    }

    #[test]
    fn positions_count_clusters() {
        let mut matcher = Matcher::new();
        assert_eq!(matcher.positions("fix", "👩‍💻 fix"), Some(vec![2, 3, 4]));
        assert_eq!(matcher.positions("fe", "cafe\u{301}"), Some(vec![2, 3]));
        assert_eq!(matcher.positions("e\u{301}", "cafe"), Some(vec![3]));
        assert_eq!(matcher.positions("zu", "grüße zurück"), Some(vec![6, 7]));
        assert_eq!(matcher.positions("grüsse", "grüße"), None);
        assert_eq!(matcher.positions("grusse", "grüsse"), Some((0..6).collect()));
    }

    #[test]
    fn special_characters_are_only_characters() {
        let mut matcher = Matcher::new();
        assert!(matcher.score("!x", "a!x").is_some());
        assert!(matcher.score("^a", "ba").is_none());
        assert!(matcher.score("\\", "a\\b").is_some());
    }

    proptest! {
        #[test]
        fn never_panics(query in "\\PC{0,40}", text in ".{0,60}") {
            let mut matcher = Matcher::new();
            let score = matcher.score(&query, &text);
            let positions = matcher.positions(&query, &text);
            prop_assert_eq!(score.is_some(), positions.is_some());
            let clusters = text.graphemes(true).count();
            prop_assert!(positions.unwrap_or_default().iter().all(|i| *i < clusters));
        }

        #[test]
        fn a_text_matches_itself(text in "[ -~à-öø-ÿа-я漢-漹]{0,40}") {
            prop_assert!(Matcher::new().score(&text, &text).is_some());
        }
    }

    #[test]
    fn long_queries_do_not_overflow() {
        let long = "aB".repeat(4000);
        let mut matcher = Matcher::new();
        assert!(matcher.score(&long, &long).is_some());
        assert!(matcher.positions(&long, &long).is_some());
        assert!(matcher.score(&"a ".repeat(3000), &long).is_some());
    }
}
