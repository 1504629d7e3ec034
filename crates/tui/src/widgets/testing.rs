//! For tests only: buffers as text, a map of the styles in them, and texts that break naive layouts.
//! It never draws anything itself.
//! The tests of this crate call it.

use std::fmt::Write as _;

use proptest::prelude::*;
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::paint;
use crate::theme::{Role, Theme};

/// A buffer as a screen of this theme starts.
pub(crate) fn blank(width: u16, height: u16, theme: &Theme) -> Buffer {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    paint::fill(&mut buf, Rect::new(0, 0, width, height), theme.base());
    buf
}

/// Draws into a fresh screen and returns it as text.
pub(crate) fn shot(width: u16, height: u16, theme: &Theme, draw: impl FnOnce(&mut Buffer, Rect)) -> String {
    let mut buf = blank(width, height, theme);
    draw(&mut buf, Rect::new(0, 0, width, height));
    show(&buf)
}

/// Like [`shot`], with the map of styles below.
pub(crate) fn styled_shot(width: u16, height: u16, theme: &Theme, draw: impl FnOnce(&mut Buffer, Rect)) -> String {
    let mut buf = blank(width, height, theme);
    draw(&mut buf, Rect::new(0, 0, width, height));
    format!("{}{}", show(&buf), styles(&buf, theme))
}

/// One line per row, ended by `|`; the cells a wide cluster covers are left out, as on a terminal.
pub(crate) fn show(buf: &Buffer) -> String {
    let mut out = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let mut x = buf.area.left();
        while x < buf.area.right() {
            let cell = &buf[(x, y)];
            out.push_str(cell.symbol());
            x += cell.cell_width().max(1);
        }
        out.push_str("|\n");
    }
    out
}

/// One letter per cell and style, `.` for the theme's base, and what the letters mean.
fn styles(buf: &Buffer, theme: &Theme) -> String {
    let mut seen: Vec<(Color, Color, Modifier)> = Vec::new();
    let base = (theme.color(Role::Fg), theme.color(Role::Bg), Modifier::empty());
    let mut out = String::from("\n");
    for y in buf.area.top()..buf.area.bottom() {
        for x in buf.area.left()..buf.area.right() {
            let cell = &buf[(x, y)];
            let style = (cell.fg, cell.bg, cell.modifier);
            // the colour of a blank says nothing
            let style = if cell.symbol() == " " { (base.0, style.1, style.2) } else { style };
            if style == base {
                out.push('.');
                continue;
            }
            let index = seen.iter().position(|known| *known == style).unwrap_or_else(|| {
                seen.push(style);
                seen.len() - 1
            });
            out.push(char::from(b'a' + u8::try_from(index % 26).unwrap()));
        }
        out.push('\n');
    }
    for (index, (fg, bg, modifier)) in seen.iter().enumerate() {
        let letter = char::from(b'a' + u8::try_from(index % 26).unwrap());
        writeln!(out, "{letter}: {} on {} {modifier:?}", name(*fg, theme), name(*bg, theme)).unwrap();
    }
    out
}

fn name(color: Color, theme: &Theme) -> String {
    if color == Color::Reset {
        return "default".to_owned();
    }
    let first = [Role::Accent, Role::Ok, Role::Warn, Role::Error];
    let role = first.iter().chain(Role::ALL).find(|role| theme.color(**role) == color);
    role.map_or_else(|| format!("{color:?}"), |role| role.name().to_owned())
}

/// What stands in every cell before a widget draws, to see what it leaves alone.
const SENTINEL: &str = "¤";

/// Draws into a part of a larger buffer and checks that nothing outside changed and that no wide cluster reaches out.
pub(crate) fn check_inside(area: Rect, draw: impl FnOnce(&mut Buffer, Rect)) {
    let whole = Rect::new(0, 0, area.right().saturating_add(3), area.bottom().saturating_add(3));
    let mut buf = Buffer::empty(whole);
    for cell in &mut buf.content {
        cell.set_symbol(SENTINEL);
    }
    draw(&mut buf, area);
    for y in 0..whole.height {
        let mut x = 0;
        while x < whole.width {
            let cell = &buf[(x, y)];
            let inside = area.contains((x, y).into());
            if !inside {
                assert_eq!(cell.symbol(), SENTINEL, "drew outside at {x},{y} of {area:?}");
            }
            let width = cell.cell_width().max(1);
            assert!(!inside || x + width <= area.right(), "{:?} reaches out of {area:?}", cell.symbol());
            for covered in x + 1..x + width {
                assert_eq!(buf[(covered, y)].symbol(), " ", "covered by {:?}", cell.symbol());
            }
            x += width;
        }
    }
}

/// Areas from nothing to large, also thin ones, at any offset.
pub(crate) fn areas() -> impl Strategy<Value = Rect> {
    let size = prop_oneof![Just((0u16, 0u16)), Just((1, 1)), Just((2, 1)), Just((1, 200)), (0u16..90, 0u16..30)];
    (size, 0u16..4, 0u16..4).prop_map(|((width, height), x, y)| Rect::new(x, y, width, height))
}

/// Texts with wide, joined, combining, right-to-left, invisible and control characters.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z ]{1,8}",
        2 => prop::sample::select(vec![
            "漢字", "👩‍💻", "🇧🇷", "⚠️", "①─", "e\u{301}", "\u{301}", "\u{200d}", "\u{fe0f}", "\u{200b}", "\u{202e}",
            "مرحبا", "ภาษาไทย", "ｶﾞ", "한국", "क्ष", "\n", "\t", "\r\n", "\u{1b}[31m", "\u{85}", "\u{2028}", "ﷺ", "—",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// The two themes and one of them without colours.
pub(crate) fn themes() -> Vec<Theme> {
    let mut themes: Vec<Theme> = Theme::builtin_ids().into_iter().filter_map(Theme::builtin).cloned().collect();
    themes.push(Theme::default().with_depth_none());
    themes
}

/// Lines in every style, for widgets that take any.
pub(crate) fn lines() -> impl Strategy<Value = Vec<ratatui::text::Line<'static>>> {
    let span = (texts(), any::<bool>()).prop_map(|(text, bold)| {
        let style = if bold { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        ratatui::text::Span::styled(text, style)
    });
    let line = prop::collection::vec(span, 0..3).prop_map(ratatui::text::Line::from);
    prop::collection::vec(line, 0..40)
}
