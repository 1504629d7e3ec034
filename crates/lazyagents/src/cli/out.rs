//! The only place of this program that prints and asks: data on stdout, words on stderr, and a closed pipe is quiet.
//! Everything that comes from outside has been cleaned before it gets here. Commands call it.

use std::io::{IsTerminal, Write};

use sys::{Env, Failure};

/// The two streams.
pub struct Out {
    stdout: std::io::BufWriter<std::io::Stdout>,
    closed: bool,
    /// Why the answer could not be written, unless its reader just went away.
    failed: Option<std::io::Error>,
    colour: bool,
}

impl Out {
    /// Colour only on a terminal and without NO_COLOR.
    pub fn new(env: &Env) -> Self {
        let stdout = std::io::stdout();
        let colour = stdout.is_terminal() && env.get("NO_COLOR").is_none() && env.text("TERM") != Some("dumb");
        Self { stdout: std::io::BufWriter::new(stdout), closed: false, failed: None, colour }
    }

    /// One line of data. After the reader has gone, nothing more is written and nobody is told.
    pub fn line(&mut self, text: &str) {
        if !self.closed {
            let written = writeln!(self.stdout, "{text}");
            self.note(written);
        }
    }

    /// A heading: bold on a terminal.
    pub fn heading(&mut self, text: &str) {
        if self.colour {
            self.line(&format!("\u{1b}[1m{text}\u{1b}[0m"));
        } else {
            self.line(text);
        }
    }

    /// Bytes as they are, for completions and schemas.
    pub fn bytes(&mut self, bytes: &[u8]) {
        if !self.closed {
            let written = self.stdout.write_all(bytes);
            self.note(written);
        }
    }

    /// A value as indented JSON, written while it is made.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let mut safe = Safe { waiting: Vec::with_capacity(2 * PIECE), out: self };
        // What the reader of stdout does not take is noted there, so that only the value itself can fail.
        serde_json::to_writer_pretty(&mut safe, value)
            .map_err(|error| Failure::new("could not write the answer as JSON").cause(error))?;
        safe.waiting.push(b'\n');
        safe.hand_on(0);
        Ok(())
    }

    /// True once the reader of stdout has gone: what takes long need not go on.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Somebody sits there: questions on stderr are seen, and stdin is a terminal.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// A question whose answer is no unless somebody says yes.
    pub fn confirm(&mut self, question: &str) -> bool {
        self.flush();
        let _ = write!(std::io::stderr(), "{} [y/N] ", sys::text::clean(question));
        let _ = std::io::stderr().flush();
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(0) | Err(_) => {
                // Nobody ended the question's line.
                let _ = writeln!(std::io::stderr());
                false
            }
            Ok(_) => matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"),
        }
    }

    /// Words for the person, on stderr, with the program's name in front.
    pub fn say(&mut self, text: &str) {
        self.flush();
        // Nobody to tell is no failure.
        let _ = writeln!(std::io::stderr(), "lazyagents: {text}");
    }

    /// A failure with its hints, on stderr.
    pub fn failure(&mut self, failure: &Failure) {
        self.say(&sys::text::clean_lines(&failure.to_string()));
        for hint in failure.hints() {
            let _ = writeln!(std::io::stderr(), "  {}", sys::text::clean_lines(hint));
        }
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) {
        if !self.closed {
            let written = self.stdout.flush();
            self.note(written);
        }
    }

    fn note(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            self.closed = true;
            self.failed = Some(error).filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
        }
    }

    /// Writes what is left, and says why the answer could not be written whole (a full disk).
    pub fn finish(&mut self) -> Option<Failure> {
        self.flush();
        let error = self.failed.take()?;
        Some(Failure::new("could not write the answer").cause(sys::failure::plain(&error)))
    }
}

/// Bytes of JSON that are made safe at once.
const PIECE: usize = 64 << 10;

/// Makes JSON safe for a terminal, piece by piece.
struct Safe<'o> {
    waiting: Vec<u8>,
    out: &'o mut Out,
}

impl Safe<'_> {
    /// Writes what waits, but for the last `keep` bytes.
    fn hand_on(&mut self, keep: usize) {
        let rest = self.waiting.split_off(self.waiting.len().saturating_sub(keep));
        // It is UTF-8: the pieces end at characters.
        let text = String::from_utf8_lossy(&self.waiting);
        self.out.bytes(sys::text::json_safe(&text).as_bytes());
        self.waiting.truncate(0);
        self.waiting.extend_from_slice(&rest);
    }
}

impl Write for Safe<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE {
            let begun = self.waiting.iter().rev().take(4).position(|byte| (*byte as i8) >= -0x40);
            // Behind the last byte that begins a character there may be the rest of it, or not.
            self.hand_on(begun.map_or(0, |after| after + 1));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A line of a diff: nothing of it is hidden.
pub(super) fn diff_line(line: &str) -> String {
    sys::text::spelled(line)
}

/// As [`table`], with every column but the first and the last `plain` ones aligned to the right, as numbers are.
pub(super) fn numbers(rows: &[Vec<String>], plain: usize) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut rows = rows.to_vec();
    for at in 1..columns.saturating_sub(plain) {
        let width = rows.iter().filter_map(|row| row.get(at)).map(|cell| sys::text::width(cell)).max().unwrap_or(0);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(at)) {
            let pad = width.saturating_sub(sys::text::width(cell));
            cell.insert_str(0, &" ".repeat(pad));
        }
    }
    table(&rows)
}

/// Columns of text, left-aligned, two blanks apart; the last column is not padded.
pub(super) fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|c| sys::text::width(c)).max().unwrap_or(0))
        .collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if at + 1 < row.len() {
                    let pad = widths.get(at).copied().unwrap_or(0).saturating_sub(sys::text::width(cell)) + 2;
                    line.extend(std::iter::repeat_n(' ', pad));
                }
            }
            line.trim_end().to_owned()
        })
        .collect()
}
