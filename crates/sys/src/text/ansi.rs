//! One fold over escape-laden text: SGR becomes style runs, everything else that is not text goes
//! (seed, "view is text with \n"; clauses S1 to S12). Nothing behind this line is untrusted; it never draws.
//! The plugin host calls it for views, and whatever shows coloured output of other programs.

use unicode_segmentation::GraphemeCursor;

use super::scan::{Piece, Scanner};
use super::{MAX_CLUSTER, cluster_width, sgr};

/// A colour as SGR names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// 0 to 15: the theme's sixteen; 16 to 255: the fixed cube and greys.
    Indexed(u8),
    /// 24 bits.
    Rgb(u8, u8, u8),
}

/// Text attributes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attrs(pub u16);

impl Attrs {
    /// SGR 1.
    pub const BOLD: Self = Self(1);
    /// SGR 2.
    pub const DIM: Self = Self(2);
    /// SGR 3.
    pub const ITALIC: Self = Self(4);
    /// SGR 4 and 21.
    pub const UNDERLINE: Self = Self(8);
    /// SGR 5 and 6.
    pub const BLINK: Self = Self(16);
    /// SGR 7.
    pub const REVERSE: Self = Self(32);
    /// SGR 8.
    pub const HIDDEN: Self = Self(64);
    /// SGR 9.
    pub const STRIKE: Self = Self(128);

    /// True when all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and the bits of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These without the bits of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// The style of a run; `None` is the theme's own text or background (clause S8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// Text colour.
    pub fg: Option<Color>,
    /// Background colour.
    pub bg: Option<Color>,
    /// Attributes.
    pub attrs: Attrs,
}

/// Text of one style, free of control characters and escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The text.
    pub text: String,
    /// Its style.
    pub style: Style,
}

/// One line; a wide character is never split over runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(pub Vec<Run>);

impl Line {
    /// The text of all runs.
    pub fn text(&self) -> String {
        self.0.iter().map(|run| run.text.as_str()).collect()
    }

    /// Columns the line takes.
    pub fn width(&self) -> usize {
        self.0.iter().map(|run| super::width(&run.text)).sum()
    }
}

/// Columns a tab takes, wherever it stands (clause S5).
const TAB: usize = 4;

/// Folds `view` into at most `max_lines` lines of at most `max_width` columns each.
///
/// Lines are those of [`str::lines`]: a `\n` at the very end opens no further line. Style starts plain on
/// every line (clause S1). A cluster that would straddle the right edge becomes blanks (clause S12); marks
/// with nothing before them on the line are dropped. The work is proportional to what is kept plus the
/// escapes before it: the rest of a full line is only searched for its end, and nothing is read behind the
/// last line (clauses S9, S10). It never fails.
pub fn fold(view: &str, max_lines: usize, max_width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut scanner = Scanner::new(view);
    while lines.len() < max_lines && !scanner.is_at_end() {
        lines.push(fold_line(&mut scanner, max_width));
    }
    lines
}

/// One line; `scanner` stands behind its line end afterwards.
fn fold_line(scanner: &mut Scanner<'_>, max_width: usize) -> Line {
    let mut builder = Builder::new(max_width);
    let mut style = Style::default();
    while !builder.is_full() {
        match scanner.next() {
            None | Some(Piece::Newline) => return builder.finish(),
            Some(Piece::Sgr(parameters)) => sgr::apply(&mut style, parameters),
            Some(Piece::Tab) => (0..TAB).for_each(|_| builder.push(' ', style)),
            Some(Piece::Char(c)) => builder.push(c, style),
        }
    }
    scanner.skip_line();
    builder.finish()
}

/// Puts characters together to grapheme clusters and clusters to runs. Segmentation looks at the text without
/// its escapes, so an SGR between a letter and its mark does not part them; the first character's style counts.
struct Builder {
    line: Line,
    used: usize,
    max_width: usize,
    /// The cluster that may still grow, its style and its number of scalars.
    cluster: String,
    style: Style,
    scalars: usize,
    /// Scalars in the last cell of the line, where zero-width clusters join.
    last_cell: usize,
}

impl Builder {
    fn new(max_width: usize) -> Self {
        let (line, cluster, style) = (Line::default(), String::new(), Style::default());
        Self { line, used: 0, max_width, cluster, style, scalars: 0, last_cell: 0 }
    }

    fn is_full(&self) -> bool {
        self.used >= self.max_width
    }

    /// Adds a character to the open cluster, or closes that and opens the next.
    fn push(&mut self, c: char, style: Style) {
        if self.is_full() {
            return;
        }
        if self.joins(c) {
            if self.scalars < MAX_CLUSTER {
                self.cluster.push(c);
                self.scalars += 1;
                return;
            }
            // Beyond the limit marks are dropped; what has a width of its own is text and starts a cluster.
            if cluster_width(c.encode_utf8(&mut [0; 4])) == 0 {
                return;
            }
        }
        self.close();
        self.cluster.push(c);
        self.scalars = 1;
        self.style = style;
    }

    /// True when there is no cluster border before `c`.
    fn joins(&mut self, c: char) -> bool {
        let Some(last) = self.cluster.as_bytes().last() else { return false };
        if c.is_ascii() && last.is_ascii() {
            return false;
        }
        let border = self.cluster.len();
        self.cluster.push(c);
        let is_border = GraphemeCursor::new(border, self.cluster.len(), true).is_boundary(&self.cluster, 0);
        self.cluster.truncate(border);
        is_border == Ok(false)
    }

    /// Moves the open cluster into the line, if it fits.
    fn close(&mut self) {
        let cells = cluster_width(&self.cluster);
        let left = self.max_width - self.used;
        if cells == 0 {
            self.join_last_cell();
        } else if cells > left {
            self.append(&" ".repeat(left), left);
        } else {
            let cluster = std::mem::take(&mut self.cluster);
            self.append(&cluster, cells);
            self.cluster = cluster;
            self.last_cell = self.scalars;
        }
        self.cluster.clear();
        self.scalars = 0;
    }

    /// Zero-width text belongs to the cell before it (clause S12); with none before it, it goes.
    fn join_last_cell(&mut self) {
        if let Some(run) = self.line.0.last_mut()
            && self.last_cell + self.scalars <= MAX_CLUSTER
        {
            run.text.push_str(&self.cluster);
            self.last_cell += self.scalars;
        }
    }

    fn append(&mut self, text: &str, cells: usize) {
        self.used += cells;
        match self.line.0.last_mut() {
            Some(run) if run.style == self.style => run.text.push_str(text),
            _ => self.line.0.push(Run { text: text.to_owned(), style: self.style }),
        }
    }

    fn finish(mut self) -> Line {
        if !self.is_full() {
            self.close();
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of all lines of a wide and high enough screen.
    fn text(view: &str) -> String {
        let lines: Vec<String> = fold(view, 100, 1000).iter().map(Line::text).collect();
        lines.join("\n")
    }

    fn check(table: &[(&str, &str)]) {
        for (view, shown) in table {
            assert_eq!(text(view), *shown, "{view:?}");
        }
    }

    fn fg(index: u8) -> Style {
        Style { fg: Some(Color::Indexed(index)), ..Style::default() }
    }

    fn run(text: &str, style: Style) -> Run {
        Run { text: text.to_owned(), style }
    }

    #[test]
    fn s1_sgr_makes_runs_and_ends_with_the_line() {
        let lines = fold("a\x1b[31mb\x1b[32m\x1b[31mc\x1b[md\x1b[31m\ne", 9, 9);
        let plain = Style::default();
        assert_eq!(lines[0].0, [run("a", plain), run("bc", fg(1)), run("d", plain)]);
        assert_eq!(lines[1].0, [run("e", plain)]);
        assert_eq!(fold("\u{9b}31mx", 1, 9)[0].0, [run("x", fg(1))]);
    }

    #[test]
    fn s2_other_control_sequences_go() {
        check(&[
            ("aa\x1b[2Jbb\x1b[Hcc\x1b[10;20Hdd\x1b[?25lgg\x1b[sh\x1b[1;5rkk", "aabbccddgghkk"),
            ("a\x1b[3 qb\x1b[!pc\x1b[1$}d", "abcd"),
            ("a\u{9b}2Jb", "ab"),
        ]);
    }

    #[test]
    fn s2_unfinished_sequences_end_where_they_cannot_go_on() {
        check(&[
            ("one\x1b[3\ntwo\x1b[38;2;1\nthree\x1b\nfour\x1b[", "one\ntwo\nthree\nfour"),
            ("a\x1b[3éb", "aéb"),
            ("a\x1b[3\x071mb", "a1mb"),
            ("a\x1b[3\x1b[1mb", "ab"),
            ("a\x1b", "a"),
            ("a\x1béb", "aéb"),
            ("a\x1b\x1b[31mb", "ab"),
            ("a\x1b(\nb", "a\nb"),
            ("a\x1b\tb", "a    b"),
        ]);
    }

    #[test]
    fn s3_osc_goes_with_its_payload_and_link_text_stays() {
        check(&[
            ("p\x1b]0;EVIL\x07q\x1b]52;c;RVZ=\x07r\x1b]8;;http://e/\x1b\\link\x1b]8;;\x1b\\s", "pqrlinks"),
            ("a\x1b]0;never ended\nb", "a\nb"),
            ("a\x1b]0;never ended", "a"),
            ("a\u{9d}0;t\u{9c}b", "ab"),
            ("a\x1b]0;t\x1b[31mu\x07b", "ab"),
        ]);
    }

    #[test]
    fn s4_control_characters_go() {
        let c0: String = (0..32_u8).map(char::from).filter(|c| !"\n\t\x1b".contains(*c)).collect();
        let c1: String = ('\u{80}'..='\u{9f}').flat_map(|c| [c, 'x']).collect();
        assert_eq!(text(&format!("a{c0}\u{7f}b")), "ab");
        assert_eq!(text(&c1), "x".repeat(32), "a C1 character goes alone when nothing of its own follows");
        check(&[("a\r\nb\rc\r", "a\nbc"), ("a\u{202e}b\u{2066}c\u{2069}d\u{feff}e\u{2028}f\u{2029}g", "abcdefg")]);
    }

    #[test]
    fn s5_a_tab_is_four_blanks() {
        check(&[("a\tb", "a    b"), ("\t\tx", "        x")]);
        assert_eq!(fold("ab\tc", 1, 4)[0].text(), "ab  ");
    }

    #[test]
    fn s6_strings_go_with_their_payload() {
        check(&[
            ("a\x1bPq#0\x07payload\x1b\\b", "ab"),
            ("a\x1bXsos\x1b\\b\x1b^pm\x1b\\c\x1b_apc\x1b\\d", "abcd"),
            ("a\u{90}dcs\u{9c}b\u{98}s\x1b\\c\u{9e}p\u{9c}d\u{9f}q\u{9c}e", "abcde"),
            ("a\x1bPnever\nb", "a\nb"),
            ("a\x1b(Bb\x1b#8c\x1b7d\x1b=e\x1b%/Gf\x1b\\g", "abcdefg"),
        ]);
    }

    #[test]
    fn s7_private_sequences_ending_in_m_are_no_sgr() {
        for sequence in ["\x1b[>4;2m", "\x1b[?4m", "\x1b[4 m", "\x1b[<1m", "\x1b[=1m"] {
            let lines = fold(&format!("a{sequence}b"), 1, 9);
            assert_eq!(lines[0].0, [run("ab", Style::default())], "{sequence:?}");
        }
    }

    #[test]
    fn s9_s12_lines_are_clipped_in_cells() {
        let table = [
            ("abcdef", 3, "abc"),
            ("abc", 0, ""),
            ("a界界", 4, "a界 "),
            ("界", 1, " "),
            ("abe\u{301}\u{302}cd", 3, "abe\u{301}\u{302}"),
            ("ab\u{200b}c", 2, "ab"),
            ("a👩\u{200d}💻b", 3, "a👩\u{200d}💻"),
            ("a👩\u{200d}💻b", 2, "a "),
            ("🇧🇷🇧🇷", 3, "🇧🇷 "),
            ("\u{301}a", 2, "a"),
            ("a\u{200b}\u{fe0f}b", 2, "a\u{200b}\u{fe0f}b"),
        ];
        for (view, columns, shown) in table {
            assert_eq!(fold(view, 1, columns).first().map(Line::text).unwrap_or_default(), shown, "{view:?}");
        }
    }

    #[test]
    fn s12_a_mark_joins_its_letter_over_a_style_change() {
        let lines = fold("e\x1b[31m\u{301}x", 1, 9);
        assert_eq!(lines[0].0, [run("e\u{301}", Style::default()), run("x", fg(1))]);
        let lines = fold("a\x1b[44m界", 1, 2);
        assert_eq!(lines[0].0[1], run(" ", Style { bg: Some(Color::Indexed(4)), ..Style::default() }));
    }

    #[test]
    fn s10_only_the_first_lines_are_read() {
        assert_eq!(fold("a\nb\nc", 2, 9).len(), 2);
        assert_eq!(fold("a\n\nb", 9, 9).iter().map(Line::text).collect::<Vec<_>>(), ["a", "", "b"]);
        assert_eq!(fold("a\n", 9, 9).len(), 1);
        assert!(fold("", 9, 9).is_empty());
        assert!(fold("a", 0, 9).is_empty());
        // What was not read is not cleaned either: the scanner stops behind the line end.
        let mut scanner = Scanner::new("abcdef\x1b[31m\nrest\x1b[0m");
        fold_line(&mut scanner, 2);
        assert_eq!(scanner.next(), Some(Piece::Char('r')));
    }

    #[test]
    fn a_hostile_cluster_is_cut() {
        let marks = "\u{301}".repeat(10_000);
        let shown = text(&format!("a{marks}b\u{200b}{marks}c"));
        assert!(shown.chars().count() <= 3 * MAX_CLUSTER, "{}", shown.chars().count());
        assert_eq!(shown.replace(['\u{301}', '\u{200b}'], ""), "abc");
        // Characters with a width of their own are text, however they are joined: none is lost.
        let joined = text(&"👩\u{200d}".repeat(300));
        assert_eq!(joined.chars().filter(|c| *c == '👩').count(), 300);
    }
}
