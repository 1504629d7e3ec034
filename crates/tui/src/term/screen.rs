//! Where ratatui draws: turns changed cells into one run of bytes per frame. It never writes to the
//! terminal (`term` does, once a frame) and never asks it anything. Only `term` calls it.
//!
//! Ours rather than ratatui's crossterm backend because that one flushes at every cursor move, asks the
//! terminal for the cursor when clearing (an answer nobody reads), decides about NO_COLOR by itself, and
//! says the sixteen colours as `38;5;n`, which terminals with sixteen colours need not know.

use std::fmt::Write as _;
use std::io;

use ratatui::backend::{Backend, ClearType, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::style::{Color, Modifier};

/// Asks the terminal's size, in columns and rows.
pub(super) type Measure = Box<dyn Fn() -> (u16, u16) + Send>;

/// What a cell looks like beside its text.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    fg: Color,
    bg: Color,
    underline: Color,
    modifier: Modifier,
}

impl Look {
    const PLAIN: Self =
        Self { fg: Color::Reset, bg: Color::Reset, underline: Color::Reset, modifier: Modifier::empty() };
}

/// The attributes and their SGR numbers.
const ATTRIBUTES: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// A screen under construction.
pub(super) struct Screen {
    measure: Measure,
    /// What this frame changes.
    cells: String,
    /// Where the cursor is to be seen; `None`: hidden.
    cursor: Option<Position>,
    /// The cursor as the terminal has it.
    shown: Option<Position>,
}

impl Screen {
    /// An empty screen with a hidden cursor.
    pub(super) fn new(measure: Measure) -> Self {
        Self { measure, cells: String::new(), cursor: None, shown: None }
    }

    /// Nothing is known of the terminal's cursor any more: it is hidden first.
    pub(super) fn forget_cursor(&mut self) {
        self.cells.push_str("\x1b[?25l");
        self.shown = None;
    }

    /// The bytes of this frame, as one synchronized update (mode 2026) so that no terminal that knows it shows
    /// half a frame; empty when nothing changed.
    pub(super) fn take(&mut self) -> String {
        let cells = std::mem::take(&mut self.cells);
        if cells.is_empty() && self.cursor == self.shown {
            return cells;
        }
        let mut bytes = String::with_capacity(cells.len() + 48);
        bytes.push_str("\x1b[?2026h");
        if self.shown.is_some() {
            bytes.push_str("\x1b[?25l");
        }
        bytes.push_str(&cells);
        if let Some(Position { x, y }) = self.cursor {
            let _ = write!(bytes, "\x1b[{};{}H\x1b[?25h", u32::from(y) + 1, u32::from(x) + 1);
        }
        bytes.push_str("\x1b[?2026l");
        self.shown = self.cursor;
        bytes
    }

    fn move_to(&mut self, x: u16, y: u16, row_known: bool) {
        let (column, row) = (u32::from(x) + 1, u32::from(y) + 1);
        // Writing to a String cannot fail.
        let _ =
            if row_known { write!(self.cells, "\x1b[{column}G") } else { write!(self.cells, "\x1b[{row};{column}H") };
    }

    fn change_look(&mut self, from: Look, to: Look) {
        // Attributes cannot be taken away one by one in every terminal; all are, then the wanted ones are set.
        let restart = !(from.modifier - to.modifier).is_empty();
        let from = if restart { Look::PLAIN } else { from };
        let mut codes = String::new();
        if restart {
            codes.push_str("0;");
        }
        for (_, code) in ATTRIBUTES.iter().filter(|(held, _)| (to.modifier - from.modifier).contains(*held)) {
            let _ = write!(codes, "{code};");
        }
        if to.fg != from.fg {
            color(&mut codes, to.fg, 30);
        }
        if to.bg != from.bg {
            color(&mut codes, to.bg, 40);
        }
        if codes.pop().is_some() {
            let _ = write!(self.cells, "\x1b[{codes}m");
        }
        if to.underline != from.underline {
            underline(&mut self.cells, to.underline);
        }
    }
}

/// A colour as SGR numbers with a `;` behind; `base` is 30 for text, 40 for the background.
fn color(codes: &mut String, color: Color, base: u8) {
    let _ = match color {
        Color::Indexed(n) => write!(codes, "{};5;{n};", base + 8),
        Color::Rgb(r, g, b) => write!(codes, "{};2;{r};{g};{b};", base + 8),
        _ => match named(color) {
            None => write!(codes, "{};", base + 9),
            Some(n @ 0..=7) => write!(codes, "{};", base + n),
            Some(n) => write!(codes, "{};", base + 52 + n),
        },
    };
}

/// The colour of an underline, a sequence of its own with `:` inside: a terminal that does not know it drops
/// it whole instead of reading its numbers as attributes.
fn underline(bytes: &mut String, color: Color) {
    let _ = match color {
        Color::Indexed(n) => write!(bytes, "\x1b[58:5:{n}m"),
        Color::Rgb(r, g, b) => write!(bytes, "\x1b[58:2::{r}:{g}:{b}m"),
        _ => match named(color) {
            Some(n) => write!(bytes, "\x1b[58:5:{n}m"),
            None => write!(bytes, "\x1b[59m"),
        },
    };
}

/// The number of a named colour; `None` for the terminal's default.
fn named(color: Color) -> Option<u8> {
    Some(match color {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Reset | Color::Indexed(_) | Color::Rgb(..) => return None,
    })
}

impl Backend for Screen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut look = Look::PLAIN;
        let mut row = None;
        // The column the terminal's cursor is surely at. After anything but ASCII nobody is sure: terminals
        // disagree about emoji and ambiguous width, so the next cell is addressed (clause S12, report F3).
        let mut column = None;
        for (x, y, cell) in content {
            if row != Some(y) || column != Some(x) {
                self.move_to(x, y, row == Some(y));
            }
            let wanted = Look { fg: cell.fg, bg: cell.bg, underline: cell.underline_color, modifier: cell.modifier };
            if wanted != look {
                self.change_look(look, wanted);
                look = wanted;
            }
            self.cells.push_str(cell.symbol());
            row = Some(y);
            column = matches!(cell.symbol().as_bytes(), [b' '..=b'~']).then(|| x.saturating_add(1));
        }
        if look != Look::PLAIN {
            self.cells.push_str("\x1b[0m");
        }
        Ok(())
    }

    fn append_lines(&mut self, lines: u16) -> io::Result<()> {
        self.cells.extend(std::iter::repeat_n('\n', usize::from(lines)));
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.cursor = None;
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.cursor = self.cursor.or(Some(Position::ORIGIN));
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.cursor.unwrap_or(Position::ORIGIN))
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        // A hidden cursor has no place worth a move; a frame that shows it says so first.
        self.cursor = self.cursor.map(|_| position.into());
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.cells.push_str(match region {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        });
        Ok(())
    }

    fn size(&self) -> io::Result<Size> {
        let (width, height) = (self.measure)();
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::style::Style;
    use ratatui::text::{Line, Span};
    use ratatui::widgets::{Block, Paragraph};

    use super::*;

    fn terminal(columns: u16, rows: u16) -> Terminal<Screen> {
        Terminal::new(Screen::new(Box::new(move || (columns, rows)))).unwrap()
    }

    fn draw(terminal: &mut Terminal<Screen>, line: Line<'_>) -> String {
        terminal.draw(|frame| frame.render_widget(line, frame.area())).unwrap();
        terminal.backend_mut().take()
    }

    #[test]
    fn a_frame_is_one_synchronized_run_of_what_changed() {
        let mut terminal = terminal(8, 1);
        assert_eq!(draw(&mut terminal, "ab".into()), "\x1b[?2026h\x1b[1;1Hab\x1b[?2026l");
        assert_eq!(draw(&mut terminal, "ab".into()), "", "nothing changed, nothing is written");
        assert_eq!(draw(&mut terminal, "aXcd".into()), "\x1b[?2026h\x1b[1;2HXcd\x1b[?2026l");
        assert_eq!(draw(&mut terminal, "bXce".into()), "\x1b[?2026h\x1b[1;1Hb\x1b[4Ge\x1b[?2026l");
    }

    #[test]
    fn looks_change_only_as_much_as_needed() {
        let mut screen = terminal(9, 1);
        let line = Line::from(vec![
            Span::styled("a", Style::new().red().bold()),
            Span::styled("b", Style::new().light_blue().bold()),
            Span::styled("c", Style::new().light_blue().on_dark_gray()),
            Span::styled("d", Style::new().fg(Color::Indexed(200)).bg(Color::Rgb(1, 2, 3))),
            Span::styled("e", Style::new().underlined().underline_color(Color::Rgb(4, 5, 6))),
        ]);
        assert_eq!(
            draw(&mut screen, line),
            "\x1b[?2026h\x1b[1;1H\x1b[1;31ma\x1b[94mb\x1b[0;94;100mc\x1b[38;5;200;48;2;1;2;3md\
             \x1b[4;39;49m\x1b[58:2::4:5:6me\x1b[0m\x1b[?2026l"
        );
    }

    #[test]
    fn every_cell_after_a_doubtful_width_is_addressed() {
        let mut screen = terminal(9, 1);
        assert_eq!(draw(&mut screen, "a日b①c".into()), "\x1b[?2026h\x1b[1;1Ha日\x1b[4Gb①\x1b[6Gc\x1b[?2026l");
    }

    #[test]
    fn the_cursor_shows_where_the_frame_puts_it() {
        let mut terminal = terminal(5, 2);
        let mut frame = |cursor: Option<(u16, u16)>| {
            terminal
                .draw(|frame| {
                    if let Some(at) = cursor {
                        frame.set_cursor_position(at);
                    }
                })
                .unwrap();
            terminal.backend_mut().take()
        };
        assert_eq!(frame(None), "");
        assert_eq!(frame(Some((2, 1))), "\x1b[?2026h\x1b[2;3H\x1b[?25h\x1b[?2026l");
        assert_eq!(frame(Some((2, 1))), "");
        assert_eq!(frame(Some((0, 0))), "\x1b[?2026h\x1b[?25l\x1b[1;1H\x1b[?25h\x1b[?2026l");
        assert_eq!(frame(None), "\x1b[?2026h\x1b[?25l\x1b[?2026l");
    }

    #[test]
    fn tiny_and_odd_sizes_do_not_panic() {
        for (columns, rows) in [(1, 1), (2, 1), (1, 2), (1, 200), (300, 1)] {
            let mut terminal = terminal(columns, rows);
            for _ in 0..2 {
                let text = Paragraph::new("日本 👩‍💻 text").block(Block::bordered().title("①─"));
                terminal.draw(|frame| frame.render_widget(text, frame.area())).unwrap();
                terminal.backend_mut().take();
                let size = terminal.size().unwrap();
                terminal.resize(size.into()).unwrap();
            }
        }
    }
}
