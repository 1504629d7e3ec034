//! The command palette: a line to type in, and the commands that match it, best first.
//! It never runs a command; it says which one was picked.
//! The frame around all tabs and the browser open it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;

use crate::edit::LineEdit;
use crate::fuzzy::Matcher;
use crate::paint::{Pen, put, put_fit, select_row, text_width};
use crate::theme::{Role, Theme};
use crate::widgets::list::ListState;
use crate::widgets::{input, layer};

/// Columns the palette takes where there are so many.
const WIDTH: u16 = 76;
/// Commands seen at once where there is room.
const ROWS: u16 = 12;

/// A command to pick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaletteItem {
    /// The name that is typed, such as `reload` or a plugin's `probe wipe-2` (clause C1).
    pub name: String,
    /// What it does.
    pub desc: String,
    /// A key that does the same, shown at the right; may be empty.
    pub key: String,
    /// The caller's own number for it.
    pub id: usize,
}

/// Why an item is in the list, and where; the order of the variants is the order in the list (clause C1, decided since).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Exact,
    Prefix,
    Name,
    Desc,
}

/// An item that matches what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Match {
    item: usize,
    tier: Tier,
    score: u32,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteOutcome {
    /// It stays open.
    Pending,
    /// The item with this `id` was picked.
    Picked(usize),
    /// It is to be closed.
    Closed,
}

/// An open palette.
#[derive(Debug, Default)]
pub struct Palette {
    /// The line being typed; call [`Palette::refresh`] after changing it from outside.
    pub edit: LineEdit,
    /// Cursor and offset in the matches.
    pub list: ListState,
    items: Vec<PaletteItem>,
    matches: Vec<Match>,
    matcher: Matcher,
}

/// Where the palette's parts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaletteLayout {
    /// The box with its border; a click outside closes the palette (clause K8).
    pub outer: Rect,
    /// The line being typed.
    pub input: Rect,
    /// The matches, one a row.
    pub list: Rect,
}

impl Palette {
    /// A palette with these commands, in the order in which they are shown while nothing is typed.
    pub fn new(items: Vec<PaletteItem>) -> Self {
        let mut palette = Self::default();
        palette.set_items(items);
        palette
    }

    /// Replaces the commands (a plugin's manifest arrived, clause R4); what was typed stays, and the selection stays on
    /// the same name where it still is.
    pub fn set_items(&mut self, items: Vec<PaletteItem>) {
        let name = self.selected().map(|item| item.name.clone());
        self.items = items;
        self.refresh();
        let place = self.matches.iter().position(|found| Some(&self.items[found.item].name) == name.as_ref());
        self.list.selected = place.unwrap_or(0);
    }

    /// The items that match, best first.
    pub fn matches(&self) -> impl ExactSizeIterator<Item = &PaletteItem> {
        self.matches.iter().map(|found| &self.items[found.item])
    }

    /// The item that enter would pick.
    pub fn selected(&self) -> Option<&PaletteItem> {
        self.matches.get(self.list.selected).map(|found| &self.items[found.item])
    }

    /// Inserts typed or pasted text (clause K8).
    pub fn paste(&mut self, text: &str) {
        self.edit.paste(text);
        self.refresh();
    }

    /// Does what a key means; `area` is the area that is drawn into.
    pub fn on_key(&mut self, name: &str, text: Option<&str>, area: Rect) -> PaletteOutcome {
        let len = self.matches.len();
        let height = usize::from(self.layout(area).list.height);
        match name {
            "esc" | "ctrl+c" | "ctrl+g" => return PaletteOutcome::Closed,
            "backspace" | "ctrl+h" if self.edit.is_empty() => return PaletteOutcome::Closed,
            "enter" => {
                return self.selected().map_or(PaletteOutcome::Pending, |item| PaletteOutcome::Picked(item.id));
            }
            "up" | "ctrl+p" => self.list.up(len, height),
            "down" | "ctrl+n" => self.list.down(len, height),
            "pgup" => self.list.page_up(len, height),
            "pgdown" => self.list.page_down(len, height),
            "tab" => self.complete(),
            _ => {
                let before = self.edit.text().to_owned();
                self.edit.on_key(name, text);
                if before != self.edit.text() {
                    self.refresh();
                }
            }
        }
        PaletteOutcome::Pending
    }

    /// Does what a click at `x`, `y` of the screen means: picks a row, closes from outside (clause K8).
    pub fn on_click(&mut self, x: u16, y: u16, area: Rect) -> PaletteOutcome {
        let layout = self.layout(area);
        if !layout.outer.contains((x, y).into()) {
            return PaletteOutcome::Closed;
        }
        let height = usize::from(layout.list.height);
        if layout.list.contains((x, y).into()) && self.list.click(y - layout.list.y, self.matches.len(), height) {
            return self.selected().map_or(PaletteOutcome::Pending, |item| PaletteOutcome::Picked(item.id));
        }
        PaletteOutcome::Pending
    }

    /// Moves the view by `delta` rows (the wheel).
    pub fn scroll(&mut self, delta: isize, area: Rect) {
        let height = usize::from(self.layout(area).list.height);
        self.list.scroll(delta, self.matches.len(), height);
    }

    /// Matches anew and goes back to the best one.
    pub fn refresh(&mut self) {
        let query = self.edit.text().trim().to_lowercase();
        self.matches.clear();
        for (index, item) in self.items.iter().enumerate() {
            let name = item.name.to_lowercase();
            let by_name = self.matcher.score(&query, &item.name);
            let (tier, score) = if query.is_empty() {
                // all are prefixed by nothing: the caller's order stays
                (Tier::Prefix, 0)
            } else if name == query {
                (Tier::Exact, 0)
            } else if name.starts_with(&query) {
                (Tier::Prefix, 0)
            } else if let Some(score) = by_name {
                (Tier::Name, score)
            } else if let Some(score) = self.matcher.score(&query, &item.desc) {
                (Tier::Desc, score)
            } else {
                continue;
            };
            self.matches.push(Match { item: index, tier, score });
        }
        self.matches.sort_by_key(|found| (found.tier, std::cmp::Reverse(found.score)));
        self.list = ListState::default();
    }

    /// Puts the selected name into the line, as shells do.
    fn complete(&mut self) {
        if let Some(name) = self.selected().map(|item| item.name.clone()) {
            self.edit.set(&name);
            self.refresh();
        }
    }

    /// Where everything goes: a box a third of the way down, its height that of the longest list, so that it does not
    /// jump while typing.
    pub fn layout(&self, area: Rect) -> PaletteLayout {
        let rows = u16::try_from(self.items.len()).unwrap_or(u16::MAX).clamp(1, ROWS);
        let outer = layer::centered(area, WIDTH, rows.saturating_add(3), 2);
        let inner = layer::inside(outer);
        let input = Rect { height: inner.height.min(1), ..inner };
        let list = Rect { y: inner.y + input.height, height: inner.height - input.height, ..inner };
        PaletteLayout { outer, input, list }
    }

    /// Draws the palette on top of what is in `area`.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let layout = self.layout(area);
        layer::open(buf, layout.outer, "", theme);
        input::draw(buf, layout.input, ": ", &self.edit, "a command", theme);
        if self.matches.is_empty() {
            let room = layout.list.width.saturating_sub(2);
            if layout.list.height > 0 && room > 0 {
                put_fit(buf, layout.list.x + 2, layout.list.y, room, "no command matches", theme.muted());
            }
            return;
        }
        let mut seen = self.list;
        let (len, height) = (self.matches.len(), usize::from(layout.list.height));
        seen.clamp(len, height);
        // drawing takes `&self`; one allocation a frame, and only while the palette is open
        let mut matcher = Matcher::new();
        let names = self.name_width(layout.list.width);
        for (y, index) in (layout.list.top()..layout.list.bottom()).zip(seen.visible(len, height)) {
            let row = Rect { y, height: 1, ..layout.list };
            self.draw_row(buf, row, index, names, &mut matcher, theme);
            if index == seen.selected {
                put(buf, row.x, y, 1, "▸", theme.accent().add_modifier(Modifier::BOLD));
                select_row(buf, row, theme);
            }
        }
    }

    /// Columns for the names: that of the longest, but no more than half of the row.
    fn name_width(&self, width: u16) -> u16 {
        let longest = self.items.iter().map(|item| text_width(&item.name)).max().unwrap_or(0);
        let most = width / 2;
        u16::try_from(longest.min(usize::from(most))).unwrap_or(width)
    }

    fn draw_row(&self, buf: &mut Buffer, row: Rect, index: usize, names: u16, matcher: &mut Matcher, theme: &Theme) {
        let Some(found) = self.matches.get(index) else { return };
        let item = &self.items[found.item];
        let query = self.edit.text().trim();
        let (x, right) = (row.x.saturating_add(2), row.right());
        if x >= right {
            return;
        }
        let key = u16::try_from(text_width(&item.key)).unwrap_or(u16::MAX);
        let desc_x = x.saturating_add(names).saturating_add(2);
        // the key is shown where name and a few words of the description stay readable
        let key_room = if key > 0 && desc_x.saturating_add(key).saturating_add(12) < right { key + 2 } else { 0 };
        // a name that is alone in its row may use all of it
        let name_room = if desc_x < right { names } else { right - x };
        let by_name = found.tier != Tier::Desc;
        let lit = if by_name { matcher.positions(query, &item.name).unwrap_or_default() } else { Vec::new() };
        draw_lit(buf, (x, row.y, name_room), &item.name, &lit, theme.style(Role::FgBright), theme);
        if desc_x < right {
            let lit = if by_name { Vec::new() } else { matcher.positions(query, &item.desc).unwrap_or_default() };
            draw_lit(
                buf,
                (desc_x, row.y, (right - desc_x).saturating_sub(key_room)),
                &item.desc,
                &lit,
                theme.dim(),
                theme,
            );
        }
        if key_room > 0 {
            put(buf, right - key, row.y, key, &item.key, theme.key());
        }
    }
}

/// Draws a text at column, row and room, with some clusters lit, cut with `…`.
fn draw_lit(buf: &mut Buffer, at: (u16, u16, u16), text: &str, lit: &[usize], style: Style, theme: &Theme) {
    let (x, y, room) = at;
    let whole = text_width(text) <= usize::from(room);
    let mut pen = Pen::new(buf, x, y, if whole { room } else { room.saturating_sub(1) });
    for (index, cluster) in text.graphemes(true).enumerate() {
        let style = if lit.binary_search(&index).is_ok() { style.patch(theme.matched()) } else { style };
        if !pen.write(cluster, style) {
            break;
        }
    }
    let used = pen.used();
    if !whole && room > 0 {
        put(buf, x.saturating_add(used), y, room - used, "…", style);
    }
}

#[cfg(test)]
mod tests;
