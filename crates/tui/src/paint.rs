//! Text onto cells: plugin content into exactly its area (clauses S8 to S12), and our own texts by cluster.
//! It never writes outside the area it is given, never wraps, and never splits a cluster.
//! Widgets, views and the plugin host call it; nothing else writes symbols into a buffer.

use std::borrow::Cow;

use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use sys::text::ansi;
use unicode_segmentation::UnicodeSegmentation;

use crate::theme::{Role, Theme};

/// A cell whose symbol is longer takes no further marks: thousands of them on one letter would slow every frame.
const MAX_SYMBOL: usize = 64;

/// The clusters of a text as they are drawn, with their columns: line breaks and tabs are one blank, other control
/// characters and direction overrides are gone. Everything here measures and draws by this one list, with the widths
/// that ratatui's own diff uses.
pub fn clusters(text: &str) -> impl Iterator<Item = (&str, u16)> {
    text.graphemes(true).filter_map(shown)
}

/// One cluster as it is drawn, with its columns; `None` when it is not.
fn shown(cluster: &str) -> Option<(&str, u16)> {
    if cluster.len() == 1 && !cluster.as_bytes()[0].is_ascii_control() {
        return Some((cluster, 1));
    }
    if matches!(cluster, "\n" | "\r\n" | "\t" | "\u{2028}" | "\u{2029}") {
        return Some((" ", 1));
    }
    if cluster.chars().any(|c| c.is_control() || turns(c)) {
        return None;
    }
    // a joiner or selector with nothing before it would change what it is put next to
    if cluster.starts_with(['\u{200d}', '\u{fe0e}', '\u{fe0f}']) {
        return None;
    }
    Some((cluster, cluster.cell_width()))
}

/// True for the characters that turn the direction of what follows, also beyond their own text.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns a text takes when drawn here.
pub fn text_width(text: &str) -> usize {
    clusters(text).map(|(_, width)| usize::from(width)).sum()
}

/// Columns a line of spans takes when drawn here.
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| text_width(&span.content)).sum()
}

/// The text if it fits into `width` columns, else its beginning with `…`; never wider than `width`.
pub fn fit(text: &str, width: u16) -> Cow<'_, str> {
    let width = usize::from(width);
    if text_width(text) <= width {
        return Cow::Borrowed(text);
    }
    if width == 0 {
        return Cow::Borrowed("");
    }
    let mut used = 1;
    let mut end = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        used += shown(cluster).map_or(0, |(_, columns)| usize::from(columns));
        if used > width {
            break;
        }
        end = start + cluster.len();
    }
    // a prefix of the text itself: clusters put together anew could join to other ones
    Cow::Owned(format!("{}…", &text[..end]))
}

/// Writes clusters from left to right into one row of a buffer, up to an end column.
pub(crate) struct Pen<'a> {
    buf: &'a mut Buffer,
    start: u16,
    x: u16,
    y: u16,
    end: u16,
    /// The column of the last cluster with a width, which later marks join.
    last: Option<u16>,
}

impl<'a> Pen<'a> {
    pub(crate) fn new(buf: &'a mut Buffer, x: u16, y: u16, max_width: u16) -> Self {
        let end = x.saturating_add(max_width).min(buf.area.right());
        Self { buf, start: x, x, y, end, last: None }
    }

    /// Columns written so far.
    pub(crate) fn used(&self) -> u16 {
        self.x - self.start
    }

    /// Writes as much of `text` as fits and says whether all of it did.
    pub(crate) fn write(&mut self, text: &str, style: Style) -> bool {
        for (cluster, width) in clusters(text) {
            if width == 0 {
                self.join(cluster);
            } else if width > self.end.saturating_sub(self.x) {
                self.blank_rest(style);
                return false;
            } else {
                self.place(cluster, width, style);
            }
        }
        true
    }

    fn place(&mut self, cluster: &str, width: u16, style: Style) {
        if let Some(cell) = self.buf.cell_mut((self.x, self.y)) {
            cell.set_symbol(cluster).set_style(style);
            // the columns a wide cluster covers: blank, in the same style, as ratatui's diff expects
            let mut covered = cell.clone();
            covered.set_symbol(" ");
            for x in self.x + 1..self.x + width {
                if let Some(cell) = self.buf.cell_mut((x, self.y)) {
                    *cell = covered.clone();
                }
            }
        }
        self.last = Some(self.x);
        self.x += width;
    }

    /// A cluster without a width joins the one before it, unless that would change how wide the terminal draws it.
    fn join(&mut self, cluster: &str) {
        let Some(cell) = self.last.and_then(|x| self.buf.cell_mut((x, self.y))) else { return };
        if cell.symbol().len() + cluster.len() > MAX_SYMBOL {
            return;
        }
        let joined = format!("{}{cluster}", cell.symbol());
        if joined.as_str().cell_width() == cell.symbol().cell_width() {
            cell.set_symbol(&joined);
        }
    }

    /// A wide cluster that would straddle the end leaves blanks, and nothing more is written (clause S12).
    fn blank_rest(&mut self, style: Style) {
        for x in self.x..self.end {
            if let Some(cell) = self.buf.cell_mut((x, self.y)) {
                cell.set_symbol(" ").set_style(style);
            }
        }
        self.end = self.x;
    }
}

/// Makes every cell of `area` (where it lies in the buffer) blank, in `style` alone.
pub fn fill(buf: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buf.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &mut buf[(x, y)];
            cell.reset();
            cell.set_style(style);
        }
    }
}

/// Like [`fill`], for something that lies on top of what is drawn already: a wide cluster that would reach into
/// `area` from the left is blanked, since ratatui would otherwise skip our first column. The one case in which a cell
/// outside is written.
pub fn cover(buf: &mut Buffer, area: Rect, style: Style) {
    let inside = area.intersection(buf.area);
    for y in inside.top()..inside.bottom() {
        let reach = (inside.left() - buf.area.left()).min(8);
        for back in 1..=reach {
            let cell = &mut buf[(inside.left() - back, y)];
            if cell.cell_width() > back {
                cell.set_symbol(" ");
            }
        }
    }
    fill(buf, area, style);
}

/// Draws one of our own texts at `x`, `y`, at most `max_width` columns of it and never beyond the buffer. The style
/// goes over what the cells have. Returns the columns used.
pub fn put(buf: &mut Buffer, x: u16, y: u16, max_width: u16, text: &str, style: Style) -> u16 {
    let mut pen = Pen::new(buf, x, y, max_width);
    pen.write(text, style);
    pen.used()
}

/// Like [`put`], but a text that does not fit ends in `…`.
pub fn put_fit(buf: &mut Buffer, x: u16, y: u16, max_width: u16, text: &str, style: Style) -> u16 {
    put(buf, x, y, max_width, &fit(text, max_width), style)
}

/// Draws a line of spans like [`put`], each in its style over `style`; cut with `…` where it does not fit.
pub fn put_line(buf: &mut Buffer, x: u16, y: u16, max_width: u16, line: &Line<'_>, style: Style) -> u16 {
    let style = style.patch(line.style);
    let whole = line_width(line) <= usize::from(max_width);
    let mut pen = Pen::new(buf, x, y, if whole { max_width } else { max_width.saturating_sub(1) });
    let mut last = style;
    for span in &line.spans {
        last = style.patch(span.style);
        if !pen.write(&span.content, last) {
            break;
        }
    }
    let used = pen.used();
    if whole || used >= max_width {
        return used;
    }
    used + put(buf, x.saturating_add(used), y, 1, "…", last)
}

/// Paints plugin content into exactly `area`: blank cells and margins in the theme's background (S8), each line clipped
/// to the width without wrapping (S9), lines beyond the height dropped (S10), nothing outside (S11), a wide cluster
/// that would straddle the edge blank (S12).
pub fn paint_lines(buf: &mut Buffer, area: Rect, lines: &[ansi::Line], theme: &Theme) {
    fill(buf, area, theme.base());
    let rows = area.top()..area.bottom();
    for (y, line) in rows.zip(lines) {
        let mut pen = Pen::new(buf, area.left(), y, area.width);
        for run in &line.0 {
            let style = theme.content_style(run.style);
            if !pen.write(&run.text, style) {
                break;
            }
        }
    }
}

/// Plugin or stderr content as a line of spans, for widgets that wrap and scroll.
pub fn to_line(line: &ansi::Line, theme: &Theme) -> Line<'static> {
    let plain = ansi::Style::default();
    let spans = line.0.iter().map(|run| {
        let mut style = theme.content_style(run.style);
        // what has no colour of its own takes that of the surface below, which need not be `ui.bg`
        if run.style.fg == plain.fg {
            style.fg = None;
        }
        if run.style.bg == plain.bg {
            style.bg = None;
        }
        ratatui::text::Span::styled(run.text.clone(), style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Turns drawn cells into a selected row: selection background and bold; plain, dim and muted text becomes bright,
/// other colours stay. Without colours the row is reversed.
pub fn select_row(buf: &mut Buffer, area: Rect, theme: &Theme) {
    let area = area.intersection(buf.area);
    let quiet = [Role::Fg, Role::FgDim, Role::FgMuted, Role::Border].map(|role| theme.color(role));
    let selected = theme.selected();
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &mut buf[(x, y)];
            let own = (!theme.mono() && !quiet.contains(&cell.fg)).then_some(cell.fg);
            cell.modifier.remove(Modifier::DIM);
            cell.set_style(selected);
            if let Some(fg) = own {
                cell.set_fg(fg);
            }
        }
    }
}

#[cfg(test)]
mod tests;
