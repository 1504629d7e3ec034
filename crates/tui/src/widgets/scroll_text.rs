//! Text that is longer than its pane: wrapped to the width, scrolled by rows, with a word on how much follows.
//! It never keeps the text; the state is one number, and every row can be reached.
//! Details, help, diffs and dead plugins' errors are drawn with it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::paint::{fill, put_fit, put_line, text_width};
use crate::theme::Theme;
use crate::widgets::wrap::wrap;

/// How far a text is scrolled. `total` below is the number of wrapped rows, `height` that of the pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollState {
    /// The first row that is seen.
    pub offset: usize,
}

impl ScrollState {
    /// Brings the offset back into what there is. Drawing does so by itself.
    pub fn clamp(&mut self, total: usize, height: usize) {
        self.offset = self.offset.min(total.saturating_sub(height.max(1)));
    }

    /// Scrolls by rows, up when negative (keys and the wheel).
    pub fn scroll(&mut self, delta: isize, total: usize, height: usize) {
        self.clamp(total, height);
        self.offset = self.offset.saturating_add_signed(delta);
        self.clamp(total, height);
    }

    /// One row up.
    pub fn up(&mut self, total: usize, height: usize) {
        self.scroll(-1, total, height);
    }

    /// One row down.
    pub fn down(&mut self, total: usize, height: usize) {
        self.scroll(1, total, height);
    }

    /// One screen up, less the row that the marker takes and one to read on from.
    pub fn page_up(&mut self, total: usize, height: usize) {
        self.scroll(-page(height), total, height);
    }

    /// One screen down, less the row that the marker takes and one to read on from.
    pub fn page_down(&mut self, total: usize, height: usize) {
        self.scroll(page(height), total, height);
    }

    /// The first row.
    pub fn top(&mut self) {
        self.offset = 0;
    }

    /// The last rows.
    pub fn bottom(&mut self, total: usize, height: usize) {
        self.offset = usize::MAX;
        self.clamp(total, height);
    }

    /// Does what a key of clause K1 means in every text (`up k down j pgup pgdown space home g end G`), and says whether
    /// it meant anything.
    pub fn on_key(&mut self, name: &str, total: usize, height: usize) -> bool {
        match name {
            "up" | "k" => self.up(total, height),
            "down" | "j" => self.down(total, height),
            "pgup" => self.page_up(total, height),
            "pgdown" | "space" => self.page_down(total, height),
            "home" | "g" => self.top(),
            "end" | "G" => self.bottom(total, height),
            _ => return false,
        }
        true
    }
}

fn page(height: usize) -> isize {
    isize::try_from(height.saturating_sub(2).max(1)).unwrap_or(isize::MAX)
}

/// Wraps `lines` to the area and draws them; see [`draw_rows`].
pub fn draw(buf: &mut Buffer, area: Rect, lines: &[Line<'_>], state: &ScrollState, more_hint: &str, theme: &Theme) {
    let rows = wrap(lines, area.intersection(buf.area).width);
    draw_rows(buf, area, &rows, state, more_hint, theme);
}

/// Draws rows that are wrapped already into exactly `area`, on the surface that is there. When more follow, the last row
/// of the area says how many, with `more_hint` (a key such as `shift+↓`, may be empty); an area of one row has no room
/// for that.
pub fn draw_rows(buf: &mut Buffer, area: Rect, rows: &[Line<'_>], state: &ScrollState, more_hint: &str, theme: &Theme) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let height = usize::from(area.height);
    let mut state = *state;
    state.clamp(rows.len(), height);
    let left = rows.len() - state.offset;
    let marker = left > height && height > 1;
    let seen = if marker { height - 1 } else { height };
    for (y, row) in (area.top()..area.bottom()).zip(rows.iter().skip(state.offset).take(seen)) {
        put_line(buf, area.x, y, area.width, row, theme.style(crate::theme::Role::Fg));
    }
    if marker {
        draw_marker(buf, area, left - seen, more_hint, theme);
    }
}

/// Fills an area with a surface first; for panes that are not part of a layer.
pub fn draw_pane(
    buf: &mut Buffer,
    area: Rect,
    lines: &[Line<'_>],
    state: &ScrollState,
    more_hint: &str,
    theme: &Theme,
) {
    fill(buf, area, theme.base());
    draw(buf, area, lines, state, more_hint, theme);
}

fn draw_marker(buf: &mut Buffer, area: Rect, more: usize, hint: &str, theme: &Theme) {
    let line = if more == 1 { "line" } else { "lines" };
    let words = format!("↓ {more} more {line}");
    let long = if hint.is_empty() { words.clone() } else { format!("{words}   {hint}") };
    let width = usize::from(area.width);
    // the longest form that fits, and at least the arrow
    let forms = [long, words, format!("↓ {more}")];
    let text = forms.iter().find(|form| text_width(form) <= width).map_or("↓", String::as_str);
    let used = u16::try_from(text_width(text)).unwrap_or(u16::MAX).min(area.width);
    put_fit(buf, area.right() - used, area.bottom() - 1, used, text, theme.muted());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::text::Span;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, lines, shot, styled_shot, themes};

    fn text(theme: &Theme) -> Vec<Line<'static>> {
        vec![
            Line::from(vec![Span::styled("pdf", theme.title())]),
            Line::from("Read, fill and split PDF files."),
            Line::default(),
            Line::from(vec![Span::styled("source   ", theme.dim()), "owner/skills · pdf @ main".into()]),
            Line::from(vec![Span::styled("codex    ", theme.dim()), "● enabled   ~/.codex/skills/pdf".into()]),
            Line::from("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字"),
            Line::from("lint     no problems"),
        ]
    }

    #[test]
    fn looks() {
        let theme = Theme::default();
        let lines = text(&theme);
        let mut out = String::new();
        for (width, height, offset) in
            [(40, 9, 0), (40, 5, 0), (40, 5, 1), (40, 5, 2), (40, 5, 99), (24, 5, 2), (12, 4, 0), (4, 3, 0), (1, 2, 0)]
        {
            out += &format!("{width}x{height} from {offset}\n");
            let state = ScrollState { offset };
            out += &shot(width, height, &theme, |buf, area| draw_pane(buf, area, &lines, &state, "shift+↓", &theme));
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let state = ScrollState::default();
        let all: Vec<String> = themes()
            .iter()
            .map(|theme| styled_shot(40, 4, theme, |buf, area| draw_pane(buf, area, &text(theme), &state, "", theme)))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn moves() {
        let moved = |offset: usize, key: &str| {
            let mut state = ScrollState { offset };
            assert!(state.on_key(key, 20, 6));
            state.offset
        };
        assert_eq!(moved(0, "up"), 0);
        assert_eq!(moved(0, "down"), 1);
        assert_eq!(moved(14, "j"), 14);
        assert_eq!(moved(0, "pgdown"), 4);
        assert_eq!(moved(4, "pgup"), 0);
        assert_eq!(moved(3, "end"), 14);
        assert_eq!(moved(3, "g"), 0);
        assert_eq!(moved(99, "up"), 13);
        assert!(!ScrollState::default().on_key("x", 20, 6));
    }

    #[test]
    fn every_row_can_be_reached() {
        let theme = Theme::default();
        let rows: Vec<Line<'static>> = (0..30).map(|i| Line::from(format!("row{i:02}"))).collect();
        for height in 1..8u16 {
            let mut seen = String::new();
            for offset in 0..30 {
                let state = ScrollState { offset };
                seen += &shot(8, height, &theme, |buf, area| draw_pane(buf, area, &rows, &state, "", &theme));
            }
            assert!((0..30).all(|i| seen.contains(&format!("row{i:02}"))), "height {height}");
        }
    }

    proptest! {
        #[test]
        fn any_text_stays_inside(area in areas(), lines in lines(), offset in any::<usize>()) {
            let state = ScrollState { offset };
            check_inside(area, |buf, area| draw_pane(buf, area, &lines, &state, "shift+↓", &Theme::default()));
        }
    }
}
