//! The line being typed, as it is drawn: the text, and a cursor that is seen without colour.
//! It never changes the line.
//! Palette, prompt and filters call it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::edit::LineEdit;
use crate::paint::put;
use crate::theme::{Role, Theme};

/// A line that is not being typed: no cursor.
pub fn draw_still(buf: &mut Buffer, area: Rect, prompt: &str, text: &str, theme: &Theme) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let used = put(buf, area.x, area.y, area.width, prompt, theme.accent());
    put(buf, area.x + used, area.y, area.width - used, text, theme.style(Role::Fg));
}

/// Draws `prompt` and the line into the first row of `area`, scrolled so that the cursor is seen; at the end of the text
/// the cursor is a `▏`. An empty line shows `hint` instead.
pub fn draw(buf: &mut Buffer, area: Rect, prompt: &str, edit: &LineEdit, hint: &str, theme: &Theme) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    // the prompt goes where it would leave no room to type
    let used = if area.width > 8 { put(buf, area.x, area.y, area.width, prompt, theme.accent()) } else { 0 };
    let (x, width) = (area.x + used, area.width - used);
    let (text, cursor) = edit.window(width);
    put(buf, x, area.y, width, text, theme.style(Role::FgBright));
    let at = x.saturating_add(cursor);
    if at >= area.right() {
        return;
    }
    match edit.under_cursor() {
        Some(cluster) => {
            put(buf, at, area.y, area.right() - at, cluster, theme.cursor());
        }
        None => {
            put(buf, at, area.y, 1, "▏", theme.style(Role::Cursor));
            if edit.is_empty() && width > 2 {
                put(buf, at + 1, area.y, width - 1, hint, theme.muted());
            }
        }
    }
}
