//! The help layer: groups of keys in as many columns as fit, scrolled together, over the whole body.
//! It never knows which keys exist; host and plugins hand their groups in (clause N4).
//! The frame around all tabs and the browser call it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::paint::{fit, line_width, text_width};
use crate::theme::{Role, Theme};
use crate::widgets::layer;
use crate::widgets::scroll_text::{self, ScrollState};
use crate::widgets::wrap::wrap_text;

/// Columns a column of help needs at least.
const COLUMN: u16 = 38;
/// Blank columns between two of them.
const GAP: u16 = 3;
/// The most columns the names of keys take (clause N4).
const KEYS: usize = 20;

/// A group of keys under a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HelpGroup {
    /// The heading, such as `Everywhere` or a plugin's title.
    pub title: String,
    /// Keys and what they do.
    pub keys: Vec<(String, String)>,
}

/// How many rows there are and how many are seen in `area`: what [`ScrollState`] wants to know.
pub fn extent(groups: &[HelpGroup], area: Rect, theme: &Theme) -> (usize, usize) {
    let inner = body(area);
    (rows(groups, inner.width, theme).len(), usize::from(inner.height))
}

/// Draws help over all of `area`, with a border and its own heading.
pub fn draw(buf: &mut Buffer, area: Rect, heading: &str, groups: &[HelpGroup], state: &ScrollState, theme: &Theme) {
    let area = area.intersection(buf.area);
    layer::open(buf, area, heading, theme);
    let inner = body(area);
    let rows = rows(groups, inner.width, theme);
    scroll_text::draw_rows(buf, inner, &rows, state, "", theme);
}

/// What is inside border and margins.
fn body(area: Rect) -> Rect {
    let inner = layer::inside(area);
    if inner.width < 20 {
        return inner;
    }
    Rect { x: inner.x + 2, width: inner.width - 4, ..inner }
}

/// All rows of help at this width: the columns side by side.
fn rows(groups: &[HelpGroup], width: u16, theme: &Theme) -> Vec<Line<'static>> {
    if width == 0 {
        return Vec::new();
    }
    let most = ((width + GAP) / (COLUMN + GAP)).clamp(1, 3).min(u16::try_from(groups.len()).unwrap_or(3).max(1));
    let each = |count: u16| (width - GAP * (count - 1)) / count;
    // Fewer columns where a description would be broken into rows.
    let needed = groups.iter().map(needed).max().unwrap_or(0);
    let fits = |count: &u16| needed <= usize::from(each(*count));
    let count = (1..=most).rev().find(fits).unwrap_or(1);
    let each = each(count);
    let blocks: Vec<Vec<Line<'static>>> = groups.iter().map(|group| block(group, each, theme)).collect();
    let columns = split(blocks, usize::from(count));
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    (0..height)
        .map(|y| {
            let mut line = Line::default();
            for column in &columns {
                let start = line_width(&line);
                if let Some(row) = column.get(y) {
                    line.spans.extend(row.spans.iter().cloned());
                }
                let end = start + usize::from(each + GAP);
                line.spans.push(Span::raw(" ".repeat(end.saturating_sub(line_width(&line)))));
            }
            // the last column needs no filling
            line.spans.pop();
            line
        })
        .collect()
}

/// Columns that a group takes when no description is broken.
fn needed(group: &HelpGroup) -> usize {
    let widest = |part: fn(&(String, String)) -> &String| {
        group.keys.iter().map(|pair| text_width(part(pair))).max().unwrap_or(0)
    };
    widest(|pair| &pair.0).min(KEYS) + 2 + widest(|pair| &pair.1)
}

/// Distributes groups over columns in their order, so that the longest column is as short as possible.
fn split(blocks: Vec<Vec<Line<'static>>>, count: usize) -> Vec<Vec<Line<'static>>> {
    let total: usize = blocks.iter().map(|block| block.len() + 1).sum();
    let longest = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let needed = |limit: usize| {
        let mut columns = 1;
        let mut used = 0;
        for block in &blocks {
            let more = block.len() + usize::from(used > 0);
            if used > 0 && used + more > limit {
                columns += 1;
                used = block.len();
            } else {
                used += more;
            }
        }
        columns
    };
    let limit = (longest..=total).find(|limit| needed(*limit) <= count).unwrap_or(total);
    let mut columns: Vec<Vec<Line<'static>>> = vec![Vec::new()];
    for block in blocks {
        let last = columns.len() - 1;
        if !columns[last].is_empty() && columns[last].len() + 1 + block.len() > limit {
            columns.push(block);
        } else {
            let column = &mut columns[last];
            if !column.is_empty() {
                column.push(Line::default());
            }
            column.extend(block);
        }
    }
    columns
}

/// One group: its heading, then a row a key, the description wrapped beside it.
fn block(group: &HelpGroup, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut out = vec![Line::from(Span::styled(fit(&group.title, width).into_owned(), theme.title()))];
    let widest = group.keys.iter().map(|(key, _)| text_width(key)).max().unwrap_or(0).min(KEYS);
    let keys = widest.min(usize::from(width / 2)).max(1);
    let indent = keys + 2;
    let rest = width.saturating_sub(u16::try_from(indent).unwrap_or(u16::MAX)).max(1);
    for (key, description) in &group.keys {
        let mut head = Line::default();
        if text_width(key) <= keys {
            head.spans.push(Span::styled(key.clone(), theme.key()));
            head.spans.push(Span::raw(" ".repeat(indent - text_width(key))));
        } else {
            // a long name gets rows of its own, so that all of it can be read
            out.extend(wrap_text(key, width, theme.key()));
            head.spans.push(Span::raw(" ".repeat(indent)));
        }
        let mut lines = wrap_text(description, rest, theme.style(Role::Fg)).into_iter();
        head.spans.extend(lines.next().unwrap_or_default().spans);
        out.push(head);
        for line in lines {
            let mut spans = vec![Span::raw(" ".repeat(indent))];
            spans.extend(line.spans);
            out.push(Line::from(spans));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, shot, styled_shot, texts, themes};

    fn group(title: &str, keys: &[(&str, &str)]) -> HelpGroup {
        let keys = keys.iter().map(|(key, word)| ((*key).to_owned(), (*word).to_owned())).collect();
        HelpGroup { title: title.to_owned(), keys }
    }

    fn groups() -> Vec<HelpGroup> {
        vec![
            group(
                "Everywhere",
                &[
                    ("tab shift+tab", "next and previous tab"),
                    ("1-9", "tab N"),
                    (":", "commands of every tab and plugin"),
                    ("/", "filter"),
                    ("?", "this help"),
                    ("esc", "one level back"),
                    ("q", "quit"),
                ],
            ),
            group("Lists", &[("↑ ↓ j k", "move"), ("g G", "first, last"), ("pgup pgdown", "a screen")]),
            group("Skills", &[("space", "enable or disable for the selected agent"), ("i", "install")]),
            group(
                "漢字 plugin",
                &[("ctrl+alt+shift+super+x", "説明 説明 説明 説明 説明 説明 説明 説明 説明"), ("", "")],
            ),
        ]
    }

    #[test]
    fn looks() {
        let theme = Theme::default();
        let mut out = String::new();
        for (width, height, offset) in
            [(130, 14, 0), (90, 18, 0), (40, 12, 0), (40, 12, 6), (24, 8, 0), (12, 6, 0), (4, 3, 0), (1, 1, 0)]
        {
            out += &format!("{width}x{height} from {offset}\n");
            let state = ScrollState { offset };
            out += &shot(width, height, &theme, |buf, area| draw(buf, area, "Keys", &groups(), &state, &theme));
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let state = ScrollState::default();
        let all: Vec<String> = themes()
            .iter()
            .map(|theme| styled_shot(50, 6, theme, |buf, area| draw(buf, area, "Keys", &groups(), &state, theme)))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn every_word_can_be_reached_at_40x12() {
        let theme = Theme::default();
        let area = Rect::new(0, 0, 40, 12);
        let (total, height) = extent(&groups(), area, &theme);
        let mut state = ScrollState::default();
        let mut seen = String::new();
        for _ in 0..=total {
            seen += &shot(40, 12, &theme, |buf, area| draw(buf, area, "Keys", &groups(), &state, &theme));
            state.down(total, height);
        }
        for word in ["quit", "last", "install", "screen", "previous"] {
            assert!(seen.contains(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_help_stays_inside(
            area in areas(), offset in any::<usize>(), heading in texts(),
            groups in prop::collection::vec((texts(), prop::collection::vec((texts(), texts()), 0..6)), 0..6),
        ) {
            let groups: Vec<HelpGroup> =
                groups.into_iter().map(|(title, keys)| HelpGroup { title, keys }).collect();
            let state = ScrollState { offset };
            let theme = Theme::default();
            let (total, _) = extent(&groups, area, &theme);
            prop_assert!(area.is_empty() || groups.is_empty() || total > 0);
            check_inside(area, |buf, area| draw(buf, area, &heading, &groups, &state, &theme));
        }
    }
}
