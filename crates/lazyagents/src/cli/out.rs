//! The only place of this program that prints: data on stdout, words on stderr, and a closed pipe is quiet.
//! Everything that comes from outside has been cleaned before it gets here. Commands call it.

use std::io::{IsTerminal, Write};

use sys::{Env, Failure};

/// The two streams.
pub struct Out {
    stdout: std::io::BufWriter<std::io::Stdout>,
    closed: bool,
    colour: bool,
}

impl Out {
    /// Colour only on a terminal and without NO_COLOR.
    pub fn new(env: &Env) -> Self {
        let stdout = std::io::stdout();
        let colour = stdout.is_terminal() && env.get("NO_COLOR").is_none() && env.text("TERM") != Some("dumb");
        Self { stdout: std::io::BufWriter::new(stdout), closed: false, colour }
    }

    /// One line of data. After the reader has gone, nothing more is written and nobody is told.
    pub fn line(&mut self, text: &str) {
        self.closed = self.closed || writeln!(self.stdout, "{text}").is_err();
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
        self.closed = self.closed || self.stdout.write_all(bytes).is_err();
    }

    /// A value as indented JSON.
    ///
    /// # Errors
    /// When it has no JSON form.
    pub fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::new("could not write the answer as JSON").cause(error))?;
        self.line(&text);
        Ok(())
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
        self.closed = self.closed || self.stdout.flush().is_err();
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        self.flush();
    }
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
