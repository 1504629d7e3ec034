//! One line of text being typed: a cursor that moves by grapheme cluster, the usual shell keys, clean pastes.
//! It never holds a line break or a control character, nor more than 4096 characters, and never draws.
//! Palette, prompt and filters use it.

use unicode_segmentation::UnicodeSegmentation;

use crate::paint::{clusters, text_width};

/// The most characters (code points) a line takes; what is typed beyond is dropped.
pub const MAX_CHARS: usize = 4096;

/// A line and its cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    /// A byte index, always at the border of a cluster.
    at: usize,
}

impl LineEdit {
    /// A line with this text (cleaned like a paste), the cursor at its end.
    pub fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.paste(text);
        line
    }

    /// What has been typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True while nothing has been typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The cursor: how many clusters are left of it.
    pub fn cursor(&self) -> usize {
        self.text[..self.at].graphemes(true).count()
    }

    /// Replaces everything and puts the cursor at the end.
    pub fn set(&mut self, text: &str) {
        *self = Self::new(text);
    }

    /// Empties the line.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Inserts at the cursor. Line breaks and tabs become one blank each, other control characters are dropped.
    pub fn insert(&mut self, text: &str) {
        let room = MAX_CHARS.saturating_sub(self.text.chars().count());
        let clean: String = text.graphemes(true).flat_map(clean).take(room).collect();
        self.text.insert_str(self.at, &clean);
        self.at += clean.len();
        self.snap();
    }

    /// Inserts a paste; trailing line breaks, which most copied lines have, are dropped.
    pub fn paste(&mut self, text: &str) {
        self.insert(text.trim_end_matches(['\n', '\r']));
    }

    /// Deletes the cluster left of the cursor.
    pub fn backspace(&mut self) {
        self.delete_to(self.before());
    }

    /// Deletes the cluster right of the cursor.
    pub fn delete(&mut self) {
        self.delete_to(self.after());
    }

    /// Does what a key of clause K1 means while typing, and says whether it meant anything: `left right home end
    /// backspace delete`, `ctrl+a ctrl+e` to the ends, `ctrl+u ctrl+k` delete to the ends, `ctrl+w alt+backspace`
    /// delete a word, `ctrl+left alt+left alt+b` and `ctrl+right alt+right alt+f` move by one, `ctrl+h` as backspace;
    /// anything with `text` is inserted.
    pub fn on_key(&mut self, name: &str, text: Option<&str>) -> bool {
        match name {
            "left" => self.at = self.before(),
            "right" => self.at = self.after(),
            "home" | "ctrl+a" => self.at = 0,
            "end" | "ctrl+e" => self.at = self.text.len(),
            "ctrl+left" | "alt+left" | "alt+b" => self.at = self.word_before(),
            "ctrl+right" | "alt+right" | "alt+f" => self.at = self.word_after(),
            "backspace" | "ctrl+h" | "shift+backspace" => self.backspace(),
            "delete" => self.delete(),
            "ctrl+u" => self.delete_to(0),
            "ctrl+k" => self.delete_to(self.text.len()),
            "ctrl+w" | "alt+backspace" | "ctrl+backspace" => self.delete_to(self.word_before()),
            _ => match text {
                Some(text) if !text.is_empty() => self.insert(text),
                _ => return false,
            },
        }
        true
    }

    /// The part of the line to draw in `width` columns so that the cursor is seen, and the cursor's column in it. The
    /// cursor's own column is part of `width`.
    pub fn window(&self, width: u16) -> (&str, u16) {
        let room = usize::from(width.max(1)) - 1;
        let left = &self.text[..self.at];
        // from the cursor to the left as far as it fits
        let mut start = self.at;
        let mut used = 0;
        for (index, cluster) in left.grapheme_indices(true).rev() {
            let columns = text_width(cluster);
            if used + columns > room {
                break;
            }
            used += columns;
            start = index;
        }
        (&self.text[start..], u16::try_from(used).unwrap_or(u16::MAX))
    }

    /// The cluster under the cursor; `None` at the end.
    pub fn under_cursor(&self) -> Option<&str> {
        clusters(&self.text[self.at..]).next().map(|(cluster, _)| cluster)
    }

    /// Deletes between the cursor and another place, and leaves the cursor between what remains.
    fn delete_to(&mut self, other: usize) {
        let (start, end) = (self.at.min(other), self.at.max(other));
        self.text.replace_range(start..end, "");
        self.at = start;
        self.snap();
    }

    /// What is now left and right of the cursor may have become one cluster; the cursor goes to its end.
    fn snap(&mut self) {
        let ends = self.text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len());
        let at = self.at;
        self.at = if at == 0 { 0 } else { ends.into_iter().find(|end| *end >= at).unwrap_or(self.text.len()) };
    }

    fn before(&self) -> usize {
        self.text[..self.at].grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
    }

    fn after(&self) -> usize {
        self.text[self.at..].graphemes(true).next().map_or(self.at, |cluster| self.at + cluster.len())
    }

    /// The start of the word left of the cursor, blanks between skipped.
    fn word_before(&self) -> usize {
        let mut start = self.at;
        let mut in_word = false;
        for (index, cluster) in self.text[..self.at].grapheme_indices(true).rev() {
            if is_blank(cluster) && in_word {
                break;
            }
            in_word |= !is_blank(cluster);
            start = index;
        }
        start
    }

    /// The end of the word right of the cursor, blanks between skipped.
    fn word_after(&self) -> usize {
        let mut end = self.at;
        let mut in_word = false;
        for cluster in self.text[self.at..].graphemes(true) {
            if is_blank(cluster) && in_word {
                break;
            }
            in_word |= !is_blank(cluster);
            end += cluster.len();
        }
        end
    }
}

fn is_blank(cluster: &str) -> bool {
    cluster.starts_with(char::is_whitespace)
}

/// A typed or pasted cluster as it may stand in a line.
fn clean(cluster: &str) -> impl Iterator<Item = char> {
    let blank = matches!(cluster, "\n" | "\r" | "\r\n" | "\t" | "\u{85}" | "\u{2028}" | "\u{2029}");
    let text = if blank { " " } else { cluster };
    text.chars().filter(|c| !c.is_control())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::texts;

    /// `|` stands for the cursor.
    fn line(marked: &str) -> LineEdit {
        let at = marked.find('|').unwrap();
        LineEdit { text: marked.replace('|', ""), at }
    }

    fn marked(line: &LineEdit) -> String {
        format!("{}|{}", &line.text[..line.at], &line.text[line.at..])
    }

    #[test]
    fn keys() {
        let table = [
            ("ab|c", "left", "a|bc"),
            ("|abc", "left", "|abc"),
            ("👩‍💻|", "left", "|👩‍💻"),
            ("ab|", "right", "ab|"),
            ("|e\u{301}b", "right", "e\u{301}|b"),
            ("ab|c", "home", "|abc"),
            ("ab|c", "ctrl+e", "abc|"),
            ("a|bc", "backspace", "|bc"),
            ("|abc", "backspace", "|abc"),
            ("🇧🇷|x", "ctrl+h", "|x"),
            ("a|🇧🇷x", "delete", "a|x"),
            ("one two|", "ctrl+w", "one |"),
            ("one two  |x", "alt+backspace", "one |x"),
            ("one|", "ctrl+w", "|"),
            ("one t|wo", "ctrl+u", "|wo"),
            ("one t|wo", "ctrl+k", "one t|"),
            ("one two|", "alt+left", "one |two"),
            ("one |two", "ctrl+left", "|one two"),
            ("|one two", "ctrl+right", "one| two"),
            ("one| two", "alt+f", "one two|"),
            ("one two|", "alt+right", "one two|"),
            ("grüße 漢字|", "ctrl+w", "grüße |"),
        ];
        for (before, key, after) in table {
            let mut edit = line(before);
            assert!(edit.on_key(key, None), "{key}");
            assert_eq!(marked(&edit), after, "{key} in {before}");
        }
    }

    #[test]
    fn typing() {
        let mut edit = LineEdit::default();
        for key in ["a", "!", "漢"] {
            assert!(edit.on_key(key, Some(key)));
        }
        assert!(edit.on_key("space", Some(" ")));
        assert_eq!(marked(&edit), "a!漢 |");
        assert_eq!(edit.cursor(), 4);
        for key in ["enter", "esc", "tab", "up", "ctrl+n", "f1"] {
            assert!(!edit.on_key(key, None), "{key}");
        }
        assert!(!edit.on_key("x", Some("")));
    }

    #[test]
    fn a_mark_typed_later_joins_its_letter() {
        let mut edit = line("e|x");
        edit.insert("\u{301}");
        assert_eq!(marked(&edit), "e\u{301}|x");
        let mut edit = line("|\u{301}x");
        edit.insert("e");
        assert_eq!(marked(&edit), "e\u{301}|x");
    }

    #[test]
    fn pastes_are_one_clean_line() {
        let mut edit = LineEdit::default();
        edit.paste("one\r\ntwo\tthree\u{1b}[31m\rfour\u{7}\r\n");
        assert_eq!(edit.text(), "one two three[31m four");
        edit.paste(&"x".repeat(10_000));
        assert_eq!(edit.text().chars().count(), MAX_CHARS);
        edit.insert("y");
        assert_eq!(edit.text().chars().count(), MAX_CHARS);
    }

    #[test]
    fn the_window_shows_the_cursor() {
        assert_eq!(line("abcdef|").window(4), ("def", 3));
        assert_eq!(line("abc|def").window(4), ("abcdef", 3));
        assert_eq!(line("|abcdef").window(4), ("abcdef", 0));
        assert_eq!(line("漢字|").window(4), ("字", 2));
        assert_eq!(line("漢字|").window(1), ("", 0));
        assert_eq!(line("ab|").window(0), ("", 0));
        assert_eq!(line("a|b").under_cursor(), Some("b"));
        assert_eq!(line("ab|").under_cursor(), None);
    }

    proptest! {
        #[test]
        fn any_keys_leave_a_clean_line(
            steps in prop::collection::vec((0usize..18, texts()), 0..40), width in 0u16..20,
        ) {
            let keys = [
                "left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "alt+left",
                "alt+right", "left", "right", "backspace",
            ];
            let mut edit = LineEdit::default();
            for (step, text) in steps {
                match keys.get(step) {
                    Some(key) => { edit.on_key(key, None); }
                    None if step % 2 == 0 => edit.insert(&text),
                    None => edit.paste(&text),
                }
                prop_assert!(!edit.text().chars().any(char::is_control));
                prop_assert!(edit.at == 0 || edit.text.grapheme_indices(true).any(|(i, c)| i + c.len() == edit.at));
                let (seen, column) = edit.window(width);
                prop_assert!(edit.text().ends_with(seen) && column < width.max(1));
            }
        }
    }
}
