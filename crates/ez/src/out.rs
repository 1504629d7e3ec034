//! The only place of this program that prints and asks: data on stdout, words on stderr, a closed pipe is quiet.
//! Everything that comes from outside has been cleaned before it gets here, or is cleaned here. All rooms are handed it.

use std::io::{IsTerminal, Read, Write};

use sys::{Env, Failure, text};

/// The streams.
pub struct Out {
    stdout: std::io::BufWriter<std::io::Stdout>,
    closed: bool,
    colour: bool,
    /// Lines on stderr since [`Out::mark`].
    told: usize,
}

impl Out {
    /// Colour only on a terminal and without NO_COLOR.
    pub fn new(env: &Env) -> Self {
        let stdout = std::io::stdout();
        let colour = stdout.is_terminal() && env.get("NO_COLOR").is_none() && env.text("TERM") != Some("dumb");
        Self { stdout: std::io::BufWriter::new(stdout), closed: false, colour, told: 0 }
    }

    /// The data is read by a person, on a terminal.
    pub fn is_seen(&self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Turns colour off for good.
    pub fn plain(&mut self) {
        self.colour = false;
    }

    /// `text` in bold on a terminal.
    pub fn bold(&self, text: &str) -> String {
        if self.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// One line of data. After the reader has gone, nothing more is written and nobody is told.
    pub fn line(&mut self, text: &str) {
        self.closed = self.closed || writeln!(self.stdout, "{text}").is_err();
    }

    /// Bytes as they are, for completions and scripts.
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
        self.line(&text::json_safe(&text));
        Ok(())
    }

    /// A line for the person on stderr, as it is.
    pub fn note(&mut self, text: &str) {
        self.flush();
        let text = text::clean_lines(text);
        self.told += 1 + text.matches('\n').count();
        // Nobody to tell is no failure.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Words for the person on stderr, with the program's name in front.
    pub fn say(&mut self, text: &str) {
        self.note(&format!("ez: {text}"));
    }

    /// Something that went wrong without stopping us.
    pub fn warn(&mut self, text: &str) {
        self.note(&format!("Warning: {text}"));
    }

    /// A failure with its hints, on stderr.
    pub fn failure(&mut self, failure: &Failure) {
        self.say(&failure.to_string());
        for hint in failure.hints() {
            self.note(&format!("  {hint}"));
        }
    }

    /// What is told from here on can be taken back by [`Out::wipe`].
    pub fn mark(&mut self) {
        self.told = 0;
    }

    /// Takes what was told and asked since [`Out::mark`] off the terminal: it was declined, and nothing came of it.
    pub fn wipe(&mut self) {
        let lines = std::mem::take(&mut self.told);
        if lines > 0 && self.can_ask() {
            let _ = write!(std::io::stderr(), "\u{1b}[{lines}A\r\u{1b}[J");
        }
    }

    /// Somebody sits there: questions on stderr are seen, and stdin is a terminal.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks on stderr and reads one line from stdin, whatever stdin is; `None` at its end (ez.md, "Commands").
    pub fn ask(&mut self, question: &str) -> Option<String> {
        self.flush();
        let _ = write!(std::io::stderr(), "{} ", text::clean_lines(question));
        let _ = std::io::stderr().flush();
        let answer = read_line();
        self.told += 1 + question.matches('\n').count();
        if answer.is_none() {
            // Nobody ended the question's line.
            let _ = writeln!(std::io::stderr());
        }
        answer
    }

    /// A question whose answer is yes unless somebody says no; `None`, which is no, where nobody is there to answer.
    pub fn agree(&mut self, question: &str) -> Option<bool> {
        let answer = self.ask(&format!("{question} [Y/n]"))?;
        Some(!escaped(&answer) && !matches!(answer.trim().to_lowercase().as_str(), "n" | "no"))
    }

    /// A question whose answer is no unless somebody says yes. `None`: nobody was there to answer.
    pub fn confirm(&mut self, question: &str) -> Option<bool> {
        let answer = self.ask(&format!("{question} [y/N]"))?;
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
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

/// Esc, pressed at a question that takes a line: whoever presses it wants out.
fn escaped(answer: &str) -> bool {
    answer.trim() == "\u{1b}"
}

/// One line, byte by byte: what follows belongs to the next question or to a command that we start.
fn read_line() -> Option<String> {
    let mut input = unbuffered()?;
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match input.read(&mut byte) {
            Ok(0) if line.is_empty() => return None,
            Ok(0) => break,
            Ok(_) if byte[0] == b'\n' => break,
            Ok(_) if line.len() < 64 * 1024 => line.push(byte[0]),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    Some(line.strip_suffix('\r').map(str::to_owned).unwrap_or(line))
}

#[cfg(unix)]
fn unbuffered() -> Option<std::fs::File> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned().ok().map(std::fs::File::from)
}

#[cfg(not(unix))]
fn unbuffered() -> Option<std::io::Stdin> {
    Some(std::io::stdin())
}
