//! Lists and tables: a cursor and an offset as plain data, columns laid out by width, only visible rows built.
//! It never holds the rows, sorts or filters them; the caller's closure makes the row of an index when it is seen.
//! Views call it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::paint::{fill, line_width, put, put_fit, put_line, select_row, text_width};
use crate::theme::{Role, Theme};
use crate::widgets::wrap::wrap_text;

/// Columns before the first column: the cursor `▸` and the mark of a multi-selection.
pub const GUTTER: u16 = 2;
/// Blank columns between two columns.
const GAP: u16 = 2;

/// Which row is selected and which is the first one seen. `len` below is the number of rows, `height` the rows that can
/// be seen ([`TableLayout::body`]); moves keep the selection within both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListState {
    /// Index of the selected row; meaningless in an empty list.
    pub selected: usize,
    /// Index of the first visible row.
    pub offset: usize,
}

impl ListState {
    /// Brings both numbers back into what there is: call it when rows or size changed. Drawing does so by itself.
    pub fn clamp(&mut self, len: usize, height: usize) {
        self.selected = self.selected.min(len.saturating_sub(1));
        let height = height.max(1);
        self.offset = self.offset.min(len.saturating_sub(height));
        self.offset = self.offset.clamp((self.selected + 1).saturating_sub(height), self.selected);
    }

    /// Selects a row and brings it into view.
    pub fn select(&mut self, index: usize, len: usize, height: usize) {
        self.selected = index;
        self.clamp(len, height);
    }

    /// One row up; stays at the first.
    pub fn up(&mut self, len: usize, height: usize) {
        self.select(self.selected.saturating_sub(1), len, height);
    }

    /// One row down; stays at the last.
    pub fn down(&mut self, len: usize, height: usize) {
        self.select(self.selected.saturating_add(1), len, height);
    }

    /// One screen up, less one row to read on from.
    pub fn page_up(&mut self, len: usize, height: usize) {
        let page = height.saturating_sub(1).max(1);
        self.offset = self.offset.saturating_sub(page);
        self.select(self.selected.saturating_sub(page), len, height);
    }

    /// One screen down, less one row to read on from.
    pub fn page_down(&mut self, len: usize, height: usize) {
        let page = height.saturating_sub(1).max(1);
        self.offset = self.offset.saturating_add(page);
        self.select(self.selected.saturating_add(page), len, height);
    }

    /// The first row.
    pub fn top(&mut self) {
        *self = Self::default();
    }

    /// The last row.
    pub fn bottom(&mut self, len: usize, height: usize) {
        self.select(usize::MAX, len, height);
    }

    /// Selects the row at `row` rows below the first visible one, and says whether there is one.
    pub fn click(&mut self, row: u16, len: usize, height: usize) -> bool {
        self.clamp(len, height);
        let index = self.offset.saturating_add(usize::from(row));
        if index >= len || usize::from(row) >= height {
            return false;
        }
        self.selected = index;
        true
    }

    /// Moves the view by `delta` rows (the wheel); the selection moves only as far as needed to stay in view.
    pub fn scroll(&mut self, delta: isize, len: usize, height: usize) {
        self.clamp(len, height);
        let height = height.max(1);
        self.offset = self.offset.saturating_add_signed(delta).min(len.saturating_sub(height));
        let last = (self.offset + height - 1).min(len.saturating_sub(1));
        self.selected = self.selected.clamp(self.offset, last.max(self.offset));
        self.clamp(len, height);
    }

    /// The rows that are seen.
    pub fn visible(&self, len: usize, height: usize) -> Range<usize> {
        let mut state = *self;
        state.clamp(len, height);
        state.offset..state.offset.saturating_add(height).min(len)
    }

    /// Does what a key of clause K1 means in every list (`up k down j pgup pgdown home g end G`), and says whether it
    /// meant anything.
    pub fn on_key(&mut self, name: &str, len: usize, height: usize) -> bool {
        match name {
            "up" | "k" => self.up(len, height),
            "down" | "j" => self.down(len, height),
            "pgup" => self.page_up(len, height),
            "pgdown" => self.page_down(len, height),
            "home" | "g" => self.top(),
            "end" | "G" => self.bottom(len, height),
            _ => return false,
        }
        true
    }
}

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Exactly so many columns.
    Fixed(u16),
    /// At least so many, and a share of what is left when no column is flexible.
    Min(u16),
    /// A share of what is left, by weight, and at least `min`.
    Flex {
        /// The least it needs.
        min: u16,
        /// Its weight among the flexible columns; 0 counts as 1.
        weight: u16,
    },
}

/// Which side the text of a column keeps to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Words.
    #[default]
    Left,
    /// Numbers.
    Right,
    /// Symbols.
    Center,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading; may be empty.
    pub title: String,
    /// How wide it is.
    pub width: Width,
    /// Where its text stands.
    pub align: Align,
    /// In a narrow list the columns with the highest number go first; 0 stays, cut if it must be.
    pub drop: u8,
}

impl Column {
    /// A left-aligned column that stays.
    pub fn new(title: &str, width: Width) -> Self {
        Self { title: title.to_owned(), width, align: Align::Left, drop: 0 }
    }

    /// The same with another alignment.
    pub fn align(mut self, align: Align) -> Self {
        self.align = align;
        self
    }

    /// The same with another rank in being dropped.
    pub fn drop(mut self, drop: u8) -> Self {
        self.drop = drop;
        self
    }
}

/// A row, built when it is seen.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// One line a column; missing ones are blank.
    pub cells: Vec<Line<'static>>,
    /// Part of a multi-selection: a `*` in the gutter.
    pub marked: bool,
    /// A heading between rows: its first cell is drawn across the list as `── text ──`.
    pub heading: bool,
}

impl Row {
    /// A row of these cells.
    pub fn new<L: Into<Line<'static>>>(cells: impl IntoIterator<Item = L>) -> Self {
        Self { cells: cells.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

/// Where a table's parts are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableLayout {
    /// The row of headings, if there is one.
    pub header: Option<Rect>,
    /// Where the rows are.
    pub body: Rect,
    /// The columns shown: from and to (absolute), and the index of the column.
    pub columns: Vec<(Range<u16>, usize)>,
}

impl TableLayout {
    /// How many rows can be seen, for the moves of [`ListState`].
    pub fn height(&self) -> usize {
        usize::from(self.body.height)
    }

    /// Which row below the first visible one a click at `x`, `y` means, for [`ListState::click`].
    pub fn row_at(&self, x: u16, y: u16) -> Option<u16> {
        self.body.contains((x, y).into()).then(|| y - self.body.y)
    }

    /// The column whose heading is at `x`, `y`, for sorting.
    pub fn heading_at(&self, x: u16, y: u16) -> Option<usize> {
        let header = self.header?;
        if !header.contains((x, y).into()) {
            return None;
        }
        self.columns.iter().find(|(range, _)| range.contains(&x)).map(|(_, index)| *index)
    }
}

/// Lays a table out. There is a row of headings when a column has one and at least three rows are there.
pub fn layout(columns: &[Column], area: Rect) -> TableLayout {
    let headings = columns.iter().any(|column| !column.title.is_empty());
    let header = (headings && area.height >= 3).then_some(Rect { height: 1, ..area });
    let top = u16::from(header.is_some());
    let body = Rect { y: area.y.saturating_add(top), height: area.height - top, ..area };
    TableLayout { header, body, columns: place(columns, area) }
}

/// The columns that fit, from left to right.
fn place(columns: &[Column], area: Rect) -> Vec<(Range<u16>, usize)> {
    let gutter = GUTTER.min(area.width);
    let room = usize::from(area.width - gutter);
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let least = |shown: &[usize]| {
        let gaps = usize::from(GAP) * shown.len().saturating_sub(1);
        gaps + shown.iter().map(|i| usize::from(least(columns[*i].width))).sum::<usize>()
    };
    while least(&shown) > room {
        // of equal rank the rightmost goes first
        let victim = shown.iter().copied().filter(|i| columns[*i].drop > 0).max_by_key(|i| (columns[*i].drop, *i));
        let Some(victim) = victim else { break };
        shown.retain(|i| *i != victim);
    }
    let spare = room.saturating_sub(least(&shown));
    let widths = share(columns, &shown, spare);
    let mut x = area.x.saturating_add(gutter);
    let mut out = Vec::with_capacity(shown.len());
    for (index, width) in shown.into_iter().zip(widths) {
        let until = x.saturating_add(width).min(area.right());
        out.push((x.min(area.right())..until, index));
        x = until.saturating_add(GAP).min(area.right());
    }
    out
}

fn least(width: Width) -> u16 {
    match width {
        Width::Fixed(n) | Width::Min(n) | Width::Flex { min: n, .. } => n,
    }
}

/// Gives every column its least width and the flexible ones their part of `spare`; the last of them takes the rest.
fn share(columns: &[Column], shown: &[usize], spare: usize) -> Vec<u16> {
    let any_flex = shown.iter().any(|i| matches!(columns[*i].width, Width::Flex { .. }));
    let weight = |i: usize| match columns[i].width {
        Width::Flex { weight, .. } => usize::from(weight.max(1)),
        Width::Min(_) if !any_flex => 1,
        _ => 0,
    };
    let mut weights: usize = shown.iter().map(|i| weight(*i)).sum();
    let mut spare = spare;
    let mut out = Vec::with_capacity(shown.len());
    for &i in shown {
        let part = (spare * weight(i)).checked_div(weights).unwrap_or(0);
        spare -= part;
        weights -= weight(i);
        out.push(least(columns[i].width).saturating_add(u16::try_from(part).unwrap_or(u16::MAX)));
    }
    out
}

/// A table to draw; plain references, made anew for each frame.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// How many rows there are.
    pub len: usize,
    /// Makes the row of an index below `len`; called for visible rows only.
    pub rows: &'a dyn Fn(usize) -> Row,
    /// What stands there when there are no rows: the one thing to do.
    pub empty: &'a str,
    /// False while another pane has the keys: the selection is shown without the bar.
    pub focused: bool,
}

impl std::fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("columns", &self.columns).field("len", &self.len).finish_non_exhaustive()
    }
}

/// Draws a table into exactly `area`.
pub fn draw(buf: &mut Buffer, area: Rect, table: &Table<'_>, state: &ListState, theme: &Theme) {
    let area = area.intersection(buf.area);
    fill(buf, area, theme.base());
    if area.is_empty() {
        return;
    }
    let layout = layout(table.columns, area);
    if table.len == 0 {
        draw_empty(buf, area, table.empty, theme);
        return;
    }
    if let Some(header) = layout.header {
        for (range, index) in &layout.columns {
            let column = &table.columns[*index];
            let width = range.end - range.start;
            let used = u16::try_from(text_width(&column.title)).unwrap_or(u16::MAX).min(width);
            let x = range.start + lead(column.align, width, used);
            put_fit(buf, x, header.y, range.end - x, &column.title, theme.muted());
        }
    }
    let mut seen = *state;
    seen.clamp(table.len, layout.height());
    for (y, index) in (layout.body.top()..layout.body.bottom()).zip(seen.visible(table.len, layout.height())) {
        let row = (table.rows)(index);
        let selected = index == seen.selected;
        draw_row(buf, Rect { y, height: 1, ..layout.body }, &row, &layout, table, theme);
        if selected {
            put(buf, area.x, y, 1, "▸", theme.accent().add_modifier(Modifier::BOLD));
            if table.focused {
                select_row(buf, Rect { y, height: 1, ..area }, theme);
            }
        }
    }
}

fn draw_row(buf: &mut Buffer, area: Rect, row: &Row, layout: &TableLayout, table: &Table<'_>, theme: &Theme) {
    if row.heading {
        let x = area.x + GUTTER.min(area.width);
        let mut line = Line::from(vec![ratatui::text::Span::raw("── ")]);
        line.spans.extend(row.cells.first().into_iter().flat_map(|cell| cell.spans.iter().cloned()));
        line.spans.push(ratatui::text::Span::raw(" ──"));
        put_line(buf, x, area.y, area.right() - x, &line, theme.muted());
        return;
    }
    if row.marked && area.width > 1 {
        put(buf, area.x + 1, area.y, 1, "*", theme.style(Role::AccentAlt).add_modifier(Modifier::BOLD));
    }
    for (range, index) in &layout.columns {
        let Some(cell) = row.cells.get(*index) else { continue };
        let width = range.end - range.start;
        let used = u16::try_from(line_width(cell)).unwrap_or(u16::MAX).min(width);
        let x = range.start + lead(table.columns[*index].align, width, used);
        put_line(buf, x, area.y, range.end - x, cell, theme.style(Role::Fg));
    }
}

/// Blank columns before a text of `used` columns in a column of `width`.
fn lead(align: Align, width: u16, used: u16) -> u16 {
    let rest = width.saturating_sub(used);
    match align {
        Align::Left => 0,
        Align::Right => rest,
        Align::Center => rest / 2,
    }
}

/// The one thing to do, a third of the way down and centred.
fn draw_empty(buf: &mut Buffer, area: Rect, text: &str, theme: &Theme) {
    let margin = if area.width > 20 { 4 } else { 0 };
    let width = area.width - margin;
    let lines = wrap_text(text, width, theme.dim());
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let top = area.y + area.height.saturating_sub(rows) / 3;
    for (y, line) in (top..area.bottom()).zip(&lines) {
        let used = u16::try_from(line_width(line)).unwrap_or(u16::MAX).min(width);
        put_line(buf, area.x + margin / 2 + (width - used) / 2, y, width, line, theme.dim());
    }
}

#[cfg(test)]
mod tests;
