//! Words into rows: styled lines wrapped by grapheme cluster to a width.
//! It never loses text but the blanks at a break and clusters wider than the whole row, and never draws.
//! Widgets call it, and views that need to know how many rows a text takes.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::paint::clusters;

/// A cluster, its columns and its style.
type Unit<'a> = (&'a str, u16, Style);

/// Wraps lines to `width` columns at blanks, or anywhere where a word is too long. An empty line stays one row; a width
/// of 0 gives no rows.
pub fn wrap(lines: &[Line<'_>], width: u16) -> Vec<Line<'static>> {
    if width == 0 {
        return Vec::new();
    }
    lines.iter().flat_map(|line| wrap_line(line, width)).collect()
}

/// Wraps plain text, whose `\n` end lines, in one style.
pub fn wrap_text(text: &str, width: u16, style: Style) -> Vec<Line<'static>> {
    let lines: Vec<Line<'_>> = text.lines().map(|line| Line::from(Span::styled(line, style))).collect();
    wrap(&lines, width)
}

fn wrap_line(line: &Line<'_>, width: u16) -> Vec<Line<'static>> {
    let units: Vec<Unit<'_>> = line
        .spans
        .iter()
        .flat_map(|span| {
            let style = line.style.patch(span.style);
            clusters(&span.content).map(move |(cluster, columns)| (cluster, columns, style))
        })
        .filter(|(_, columns, _)| *columns <= width)
        .collect();
    let mut rows = Vec::new();
    let mut start = 0;
    while start < units.len() {
        let end = fitting(&units, start, width);
        if end == units.len() {
            rows.push(join(&units[start..]));
            break;
        }
        match last_break(&units, start, end) {
            Some(at) => {
                rows.push(join(trimmed(&units[start..at])));
                start = at + units[at..].iter().take_while(|unit| unit.0 == " ").count();
            }
            None => {
                rows.push(join(&units[start..end]));
                start = end;
            }
        }
    }
    if rows.is_empty() {
        rows.push(Line::default());
    }
    rows
}

/// The end of the units from `start` on that fit into a row; marks without a width stay with what they belong to.
fn fitting(units: &[Unit<'_>], start: usize, width: u16) -> usize {
    let mut used = 0u16;
    let mut end = start;
    while let Some((_, columns, _)) = units.get(end) {
        used = used.saturating_add(*columns);
        if used > width {
            break;
        }
        end += 1;
    }
    end
}

/// The blank to break at: the last one up to `end` that has a word before it.
fn last_break(units: &[Unit<'_>], start: usize, end: usize) -> Option<usize> {
    let word = (start..end).find(|i| units[*i].0 != " ")?;
    (word + 1..=end).rev().find(|i| units[*i].0 == " ")
}

fn trimmed<'a, 'b>(units: &'b [Unit<'a>]) -> &'b [Unit<'a>] {
    let end = units.iter().rposition(|unit| unit.0 != " ").map_or(0, |last| last + 1);
    &units[..end]
}

/// Units of one style in a row become one span.
fn join(units: &[Unit<'_>]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (cluster, _, style) in units {
        match spans.last_mut() {
            Some(span) if span.style == *style => span.content.to_mut().push_str(cluster),
            _ => spans.push(Span::styled((*cluster).to_owned(), *style)),
        }
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::paint::line_width;
    use crate::widgets::testing::lines;

    fn rows(text: &str, width: u16) -> Vec<String> {
        wrap_text(text, width, Style::new()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn breaks_at_blanks() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(rows("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(rows("the   quick", 5), ["the", "quick"]);
        assert_eq!(rows("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(rows("", 5), Vec::<String>::new());
    }

    #[test]
    fn breaks_long_words_anywhere() {
        assert_eq!(rows("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(rows("  indented", 6), ["  inde", "nted"]);
        assert_eq!(rows("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(rows("👩‍💻👩‍💻", 3), ["👩‍💻", "👩‍💻"]);
        assert_eq!(rows("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
        assert_eq!(rows("a漢b", 1), ["a", "b"]);
        assert_eq!(rows("abc", 0), Vec::<String>::new());
    }

    #[test]
    fn styles_survive() {
        let bold = Style::new().add_modifier(ratatui::style::Modifier::BOLD);
        let line = Line::from(vec![Span::raw("one "), Span::styled("two three", bold)]);
        let rows = wrap(&[line], 8);
        assert_eq!(rows[0].spans, [Span::raw("one "), Span::styled("two", bold)]);
        assert_eq!(rows[1].spans, [Span::styled("three", bold)]);
    }

    proptest! {
        #[test]
        fn rows_fit_and_nothing_is_lost(lines in lines(), width in 2u16..30) {
            let rows = wrap(&lines, width);
            prop_assert!(rows.iter().all(|row| line_width(row) <= usize::from(width)));
            let text = |lines: &[Line<'_>]| -> String {
                let all = lines.iter().flat_map(|line| line.spans.iter());
                let shown: Vec<String> =
                    all.map(|span| clusters(&span.content).filter(|(_, w)| *w <= width).map(|(c, _)| c).collect()).collect();
                shown.concat().replace(' ', "")
            };
            prop_assert_eq!(text(&rows), text(&lines));
        }
    }
}
