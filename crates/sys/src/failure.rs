//! What a person is told when something could not be done: what was tried, on which path, why, and what
//! to do. It never prints; `cli` of each program does, and picks the exit code from [`Kind`].

use std::fmt;
use std::path::Path;

/// Why a command ended without doing what was asked; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The thing could not be done: exit 1.
    Failed,
    /// The command line was not understood: exit 2.
    Usage,
    /// The person said no: exit 130.
    Cancelled,
}

/// One failure, for a person. `Display` is the one-line form; hints are separate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    /// `message` says what could not be done and where, without "Error:" and without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// A command line that was not understood (exit 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::new(message) }
    }

    /// The person said no (exit 130).
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self { kind: Kind::Cancelled, ..Self::new(message) }
    }

    /// An I/O error always with its path and what was tried, e.g. `("read", path, error)`.
    pub fn io(verb: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("could not {verb} {}", path.display())).cause(plain(error))
    }

    /// Adds why; the outermost cause first.
    #[must_use]
    pub fn cause(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Adds what the person can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What kind of ending this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What the person can do, in order.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// 1, 2 or 130.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Cancelled => 130,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The system's words without Rust's `(os error N)`.
pub fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(at) => text[..at].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_failures_name_verb_path_and_reason() {
        let error = std::io::Error::from_raw_os_error(2);
        let failure = Failure::io("read", Path::new("/x/y"), &error);
        assert_eq!(failure.to_string(), "could not read /x/y: no such file or directory");
        assert_eq!(failure.exit_code(), 1);
    }
}
