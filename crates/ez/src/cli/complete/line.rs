//! A line of bash up to the cursor, taken apart as bash does, without expanding or running anything; and words put back
//! with the quotes that their place needs. Pure; `complete` calls it.

/// The simple command at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its words before the cursor, the program first, without quotes.
    pub(super) before: Vec<String>,
    /// The word at the cursor up to it, without quotes.
    pub(super) current: String,
    /// The quote that is open at the cursor.
    quote: Option<char>,
    /// The word at the cursor as it was typed.
    raw: String,
}

impl Line {
    /// Takes the line apart. `None` when a quote was closed inside the word at the cursor: readline and we would not
    /// agree where it begins.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut line = Self::default();
        let (mut inside, mut closed) = (false, false);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (line.quote, c) {
                (None, ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>') => {
                    if inside {
                        line.before.push(std::mem::take(&mut line.current));
                    }
                    line.raw.clear();
                    (inside, closed) = (false, false);
                    if matches!(c, '\n' | ';' | '|' | '&' | '(') {
                        line.before.clear();
                    }
                    continue;
                }
                (None, '\'' | '"') => line.quote = Some(c),
                (Some(open), _) if open == c => {
                    line.quote = None;
                    closed = true;
                }
                (None, '\\') => {
                    line.raw.push(c);
                    if let Some(next) = chars.next() {
                        line.current.push(next);
                        line.raw.push(next);
                    }
                    inside = true;
                    continue;
                }
                (Some('"'), '\\') => {
                    line.raw.push(c);
                    if let Some(next) = chars.next() {
                        if !matches!(next, '"' | '\\' | '$' | '`') {
                            line.current.push(c);
                        }
                        line.current.push(next);
                        line.raw.push(next);
                    }
                    continue;
                }
                _ => line.current.push(c),
            }
            inside = true;
            line.raw.push(c);
        }
        (!closed).then_some(line)
    }

    /// `word` as it replaces what readline takes for the word at the cursor: in its open quote, or with backslashes and
    /// without what stands before the last of `breaks` (COMP_WORDBREAKS).
    pub(super) fn quoted(&self, word: &str, breaks: &str) -> String {
        // `--repo='a b`: readline takes what stands behind the quote.
        let behind = |quote: char| {
            let start = self.raw.find(quote).map_or("", |at| &self.raw[..at]).replace('\\', "");
            word.strip_prefix(&start).unwrap_or(word)
        };
        match self.quote {
            Some('\'') => behind('\'').replace('\'', r"'\''"),
            Some(quote) => {
                let mut text = String::new();
                for c in behind(quote).chars() {
                    if matches!(c, '"' | '\\' | '$' | '`') {
                        text.push('\\');
                    }
                    text.push(c);
                }
                text
            }
            None => {
                let full = escaped(word);
                let typed = self.raw.char_indices().rev().find(|(at, c)| {
                    breaks.contains(*c) && !self.raw[..*at].ends_with('\\') && matches!(c, ':' | '=' | '@')
                });
                let Some((_, c)) = typed else { return full };
                // As many breaks as were typed unescaped stand in front; in the word they may be escaped or not.
                let plain: String = self.raw.chars().filter(|other| *other != '\\').collect();
                let front = plain.rfind(c).map_or(0, |at| at + c.len_utf8());
                word.get(front..).map_or(full, escaped)
            }
        }
    }
}

/// A word that bash reads back as it is: everything that is not plainly harmless has a backslash in front.
fn escaped(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !"_./,+-%=".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_taken_apart_as_bash_does() {
        let line = Line::read("cd /x && ez session enter 'a b' -r \"re po").unwrap();
        assert_eq!(line.before, ["ez", "session", "enter", "a b", "-r"]);
        assert_eq!((line.current.as_str(), line.quote), ("re po", Some('"')));
        assert_eq!(Line::read(r"ez s enter a\ b").unwrap().current, "a b");
        assert_eq!(Line::read("ez s enter ").unwrap().before, ["ez", "s", "enter"]);
        assert_eq!(Line::read("ez s 'a'b"), None);
    }

    #[test]
    fn a_word_replaces_what_readline_takes_for_it() {
        let breaks = " \t\n\"'><=;|&(:";
        let quoted = |typed: &str, word: &str| Line::read(&format!("ez x {typed}")).unwrap().quoted(word, breaks);
        assert_eq!(quoted("", "it's $(x)"), r"it\'s\ \$\(x\)");
        assert_eq!(quoted("'it", "it's"), r"it'\''s");
        assert_eq!(quoted("\"a", "a$b"), r"a\$b");
        assert_eq!(quoted("a:", "a:b c"), r"b\ c");
        assert_eq!(quoted(r"a\:", "a:b"), r"a\:b");
        assert_eq!(quoted("--repo=ap", "--repo=api"), "api");
        assert_eq!(quoted("--repo='re ", "--repo=re po"), "re po");
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_back(word in "[ -~é]{1,20}") {
            let written = format!("ez {} ", escaped(&word));
            prop_assert_eq!(Line::read(&written).unwrap().before, vec!["ez".to_owned(), word]);
        }

        #[test]
        fn any_line_is_read_or_refused(text in any::<String>()) {
            if let Some(line) = Line::read(&text) {
                let _ = line.quoted("a:b", ":=");
            }
        }
    }
}
