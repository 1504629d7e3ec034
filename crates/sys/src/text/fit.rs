//! Text fitted into columns: cut, shortened in the middle, wrapped; always by grapheme cluster and in cells. It
//! never cleans: give it clean text. Anyone who draws or prints calls it.

use unicode_segmentation::UnicodeSegmentation;

use super::{cluster_width, width};

/// `text` in at most `columns` columns; when something had to go it ends in `…`. Empty for 0 columns.
pub fn clip(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut cut = text[..head(text, room)].to_owned();
    cut.push('…');
    cut
}

/// `text` in at most `columns` columns with both ends kept and `…` between, for paths; the end gets the odd cell.
pub fn elide_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let front = &text[..head(text, room / 2)];
    let back = &text[tail(text, room - room / 2)..];
    format!("{front}…{back}")
}

/// The first `chars` code points of `text` (it may part a cluster: for limits of formats, not for columns).
pub fn take(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// Wraps at blanks to `columns` columns (0 counts as 1). Line ends of `text` stay, so do empty lines and the
/// blanks a line starts with; the blanks at a break go; words longer than a line are parted. Only a cluster
/// wider than `columns` makes a line wider than that.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        wrap_line(line, columns.max(1), &mut lines);
    }
    lines
}

/// One line of [`wrap`]: `gap` is the blanks that are only written if the next word stays on this line.
fn wrap_line(text: &str, columns: usize, lines: &mut Vec<String>) {
    let (mut line, mut used, mut gap) = (String::new(), 0, "");
    for piece in pieces(text) {
        if piece.starts_with(is_blank) {
            gap = piece;
            continue;
        }
        let (gap_cells, cells) = (width(gap), width(piece));
        // A line's own indent stays as long as it leaves room for something.
        let fits = used + gap_cells + cells <= columns || (used == 0 && gap_cells < columns && cells > columns);
        if fits {
            line.push_str(gap);
            used += gap_cells;
        } else if used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        gap = "";
        for cluster in piece.graphemes(true) {
            let cells = cluster_width(cluster);
            if used + cells > columns && used > 0 {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(cluster);
            used += cells;
        }
    }
    lines.push(line);
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Runs of blanks and runs of anything else, in turn.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = is_blank(rest.chars().next()?);
        let end = rest.find(|c| is_blank(c) != blank).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// Byte length of the longest start of `text` that fits into `columns`.
fn head(text: &str, columns: usize) -> usize {
    fitting(text.graphemes(true), columns)
}

/// Byte offset of the longest end of `text` that fits into `columns`.
fn tail(text: &str, columns: usize) -> usize {
    text.len() - fitting(text.graphemes(true).rev(), columns)
}

fn fitting<'a>(clusters: impl Iterator<Item = &'a str>, columns: usize) -> usize {
    let (mut bytes, mut used) = (0, 0);
    for cluster in clusters {
        used += cluster_width(cluster);
        if used > columns {
            break;
        }
        bytes += cluster.len();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipping_says_that_something_went() {
        let table = [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("界界", 3, "界…"),
            ("界界", 2, "…"),
            ("ab", 0, ""),
            ("ab", 1, "…"),
            ("e\u{301}xyz", 2, "e\u{301}…"),
        ];
        for (text, columns, shown) in table {
            assert_eq!(clip(text, columns), shown, "{text:?} in {columns}");
        }
    }

    #[test]
    fn paths_keep_both_ends() {
        assert_eq!(elide_middle("~/work/project/src/main.rs", 15), "~/work/…main.rs");
        assert_eq!(elide_middle("short", 5), "short");
        assert_eq!(elide_middle("abcdef", 2), "…f");
        assert_eq!(elide_middle("abcdef", 1), "…");
        assert_eq!(elide_middle("abcdef", 0), "");
    }

    #[test]
    fn wrapping_breaks_at_blanks() {
        let table: [(&str, usize, &[&str]); 10] = [
            ("one two three", 7, &["one two", "three"]),
            ("one   two", 7, &["one", "two"]),
            ("abcdefgh ij", 3, &["abc", "def", "gh", "ij"]),
            ("a\n\nb", 9, &["a", "", "b"]),
            ("", 9, &[""]),
            ("  in dent", 6, &["  in", "dent"]),
            ("    at abcdefghij", 6, &["    at", "abcdef", "ghij"]),
            ("  abcdefgh", 4, &["  ab", "cdef", "gh"]),
            ("ab", 0, &["a", "b"]),
            ("界界a", 3, &["界", "界a"]),
        ];
        for (text, columns, lines) in table {
            assert_eq!(wrap(text, columns), lines, "{text:?} in {columns}");
        }
    }

    #[test]
    fn a_cluster_wider_than_the_line_is_not_lost() {
        assert_eq!(wrap("a界b", 1), ["a", "界", "b"]);
    }

    #[test]
    fn taking_counts_code_points() {
        assert_eq!(take("e\u{301}界x", 3), "e\u{301}界");
        assert_eq!(take("ab", 9), "ab");
    }
}
