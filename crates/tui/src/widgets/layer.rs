//! The box of a layer (help, palette, question): a border, a heading, and what is inside.
//! It never decides where a layer lies on the screen; the widget that opens it does.
//! Widgets call it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::paint::{cover, put, put_fit};
use crate::theme::{Role, Theme};

/// What is inside the border of a layer. Where the border would leave less than a row of three columns, there is none.
pub fn inside(outer: Rect) -> Rect {
    if outer.width < 5 || outer.height < 3 {
        return outer;
    }
    Rect { x: outer.x + 1, y: outer.y + 1, width: outer.width - 2, height: outer.height - 2 }
}

/// A rectangle of at most this size in `area`, centred from left to right; of the free rows `below` stay below it for
/// each one above (1 is the middle, 2 a third of the way down).
pub fn centered(area: Rect, width: u16, height: u16, below: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / below.saturating_add(1).max(1);
    Rect { x, y, width, height }
}

/// Covers `outer` with the float surface, draws border and heading, and returns what is inside.
pub fn open(buf: &mut Buffer, outer: Rect, title: &str, theme: &Theme) -> Rect {
    let outer = outer.intersection(buf.area);
    cover(buf, outer, theme.surface(Role::Float));
    let inner = inside(outer);
    if inner == outer {
        return inner;
    }
    let style = theme.border(true);
    let (right, bottom) = (outer.right() - 1, outer.bottom() - 1);
    let bar = "─".repeat(usize::from(outer.width - 2));
    for (y, left_end, right_end) in [(outer.y, "╭", "╮"), (bottom, "╰", "╯")] {
        put(buf, outer.x, y, 1, left_end, style);
        put(buf, outer.x + 1, y, outer.width - 2, &bar, style);
        put(buf, right, y, 1, right_end, style);
    }
    for y in inner.top()..inner.bottom() {
        put(buf, outer.x, y, 1, "│", style);
        put(buf, right, y, 1, "│", style);
    }
    if !title.is_empty() && outer.width > 6 {
        let used = put_fit(buf, outer.x + 3, outer.y, outer.width - 6, title, theme.title());
        put(buf, outer.x + 2, outer.y, 1, " ", style);
        put(buf, outer.x + 3 + used, outer.y, 1, " ", style);
    }
    inner
}
