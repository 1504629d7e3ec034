//! What a terminal shows, frozen: rows of text, cells with their colours, the cursor, the modes. It never changes and
//! knows nothing of processes. Conditions that tests wait for look at it.

use std::fmt;

pub use vt100::Color;

/// One cell of a [`Screen`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The grapheme in it; a blank when nothing was ever written there.
    pub text: String,
    /// The text's colour.
    pub fg: Color,
    /// The colour behind it.
    pub bg: Color,
    /// Bold is on.
    pub bold: bool,
    /// Dim is on.
    pub dim: bool,
    /// Italic is on.
    pub italic: bool,
    /// Underline is on.
    pub underline: bool,
    /// The two colours are swapped.
    pub inverse: bool,
    /// The grapheme takes this cell and the next one.
    pub wide: bool,
    /// The second half of a wide grapheme.
    pub continuation: bool,
}

/// The picture a terminal shows at one moment.
#[derive(Clone)]
pub struct Screen {
    picture: vt100::Screen,
    rows: u16,
    cols: u16,
}

impl Screen {
    /// `rows` and `cols` are the size the program was told; the emulator's own may be larger (never below 2x2).
    pub(crate) fn new(picture: vt100::Screen, rows: u16, cols: u16) -> Self {
        Self { picture, rows, cols }
    }

    /// Rows and columns.
    pub fn size(&self) -> (u16, u16) {
        (self.rows, self.cols)
    }

    /// All rows, without the blanks at their ends.
    pub fn lines(&self) -> Vec<String> {
        (0..self.rows).map(|row| self.line(row)).collect()
    }

    /// One row without the blanks at its end; empty below the screen.
    pub fn line(&self, row: u16) -> String {
        self.picture.rows(0, self.cols).nth(usize::from(row)).unwrap_or_default().trim_end().to_owned()
    }

    /// All rows, joined by newlines, without the blanks at their ends.
    pub fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// True when one row shows this text.
    pub fn has(&self, text: &str) -> bool {
        self.lines().iter().any(|line| line.contains(text))
    }

    /// Row and column (in cells) of the first place that shows this text.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        self.find_all(text).into_iter().next()
    }

    /// Row and column (in cells) of every place that shows this text, from the top left.
    pub fn find_all(&self, text: &str) -> Vec<(u16, u16)> {
        let mut found = Vec::new();
        for row in 0..self.rows {
            // Byte offsets in the row's text are not columns: remember which cell each byte came from.
            let mut line = String::new();
            let mut columns = Vec::new();
            for col in 0..self.cols {
                let Some(cell) = self.picture.cell(row, col).filter(|cell| !cell.is_wide_continuation()) else {
                    continue;
                };
                let contents = if cell.has_contents() { cell.contents() } else { " " };
                line.push_str(contents);
                columns.extend(std::iter::repeat_n(col, contents.len()));
            }
            found.extend(line.match_indices(text).filter_map(|(at, _)| Some((row, *columns.get(at)?))));
        }
        found
    }

    /// The cell at this place.
    ///
    /// # Panics
    /// When it is outside of the screen.
    #[track_caller]
    pub fn cell(&self, row: u16, col: u16) -> Cell {
        assert!(row < self.rows && col < self.cols, "no cell {row},{col} on {}x{}:\n{self}", self.rows, self.cols);
        let Some(cell) = self.picture.cell(row, col) else { panic!("no cell {row},{col}:\n{self}") };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        Cell {
            text: text.to_owned(),
            fg: cell.fgcolor(),
            bg: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
            wide: cell.is_wide(),
            continuation: cell.is_wide_continuation(),
        }
    }

    /// True while the alternate screen is shown.
    pub fn alternate(&self) -> bool {
        self.picture.alternate_screen()
    }

    /// Row and column of the cursor; `None` while it is hidden.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        (!self.picture.hide_cursor()).then(|| self.picture.cursor_position())
    }

    /// True while the program asks for the mouse in any form.
    pub fn mouse(&self) -> bool {
        self.picture.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    }

    /// True while the program asks for pastes to be bracketed.
    pub fn bracketed_paste(&self) -> bool {
        self.picture.bracketed_paste()
    }

    /// The emulator's picture, for what has no word here.
    pub fn raw(&self) -> &vt100::Screen {
        &self.picture
    }
}

/// Rows with their numbers between bars, as failure messages show them.
impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, line) in self.lines().iter().enumerate() {
            writeln!(f, "{row:2}|{line}|")?;
        }
        let alternate = if self.alternate() { "alternate" } else { "main" };
        match self.cursor() {
            Some((row, col)) => write!(f, "{alternate} screen, cursor at {row},{col}"),
            None => write!(f, "{alternate} screen, cursor hidden"),
        }
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
