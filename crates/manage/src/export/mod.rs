//! A conversation as Markdown or JSON, written turn by turn: memory is that of the longest turn. Everything in it comes
//! from outside: escape codes are taken out, secrets masked, and Markdown can not be broken by it. It opens no file of an
//! agent; whoever tells the turns does. The command line calls it.

mod json;
mod markdown;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agents::sessions::rows::{SessionRow, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use sys::Failure;
use sys::files::Draft;
use sys::text::{clean, clean_lines};

use crate::mask::{Count, Masker};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// For people, and for other models.
    Markdown,
    /// The object of `sessions show --json`, with what was masked.
    Json,
}

impl Format {
    /// The ending of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// How many turns.
    pub turns: u64,
    /// The secrets that were masked; `None` when they were to be left in.
    pub masked: Option<Count>,
}

/// Writes one conversation into `to`: made, given the turns one by one, finished.
pub struct Exporter<'a> {
    to: &'a mut dyn Write,
    format: Format,
    masker: Option<Masker>,
    count: Count,
    turns: u64,
}

impl<'a> Exporter<'a> {
    /// Writes what stands before the turns. `masked` is what it should be unless the person has said otherwise.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn begin(to: &'a mut dyn Write, format: Format, masked: bool, row: &SessionRow) -> Result<Self, Failure> {
        let masker = masked.then(Masker::new).transpose()?;
        let mut exporter = Self { to, format, masker, count: Count::default(), turns: 0 };
        let row = exporter.row(row);
        let written = match format {
            Format::Markdown => markdown::head(exporter.to, &row),
            Format::Json => json::head(exporter.to, &row),
        };
        written.map_err(|error| failed(&error))?;
        Ok(exporter)
    }

    /// Writes the next turn.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn turn(&mut self, turn: Turn) -> Result<(), Failure> {
        let turn = self.cleaned(turn);
        self.turns += 1;
        let written = match self.format {
            Format::Markdown => markdown::turn(self.to, self.turns, &turn),
            Format::Json => json::turn(self.to, self.turns, &turn),
        };
        written.map_err(|error| failed(&error))
    }

    /// Writes what stands behind the turns. `at` is when this is.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn end(self, at: Timestamp) -> Result<Written, Failure> {
        let masked = self.masker.is_some().then_some(self.count);
        let written = match self.format {
            Format::Markdown => markdown::end(self.to, at, masked.as_ref()),
            Format::Json => json::end(self.to, at, masked.as_ref()),
        };
        written.and_then(|()| self.to.flush()).map_err(|error| failed(&error))?;
        Ok(Written { turns: self.turns, masked })
    }

    fn text(&mut self, text: &str) -> String {
        // Escape codes first: they may stand inside of a secret.
        let text = clean_lines(text);
        match &self.masker {
            Some(masker) => masker.mask(&text, &mut self.count),
            None => text,
        }
    }

    fn line(&mut self, text: &str) -> String {
        self.text(&clean(text))
    }

    fn cleaned(&mut self, turn: Turn) -> Turn {
        Turn {
            text: self.text(&turn.text),
            reasoning: turn.reasoning.map(|text| self.text(&text)),
            tools: turn
                .tools
                .into_iter()
                .map(|mut tool| {
                    tool.name = self.line(&tool.name);
                    tool.input = self.text(&tool.input);
                    tool.output = tool.output.map(|output| self.text(&output));
                    tool
                })
                .collect(),
            subagent: turn.subagent.map(|id| self.line(&id)),
            model: turn.model.map(|model| self.line(&model)),
            ..turn
        }
    }

    /// The row's texts repeat the first turn: their secrets are masked and not counted.
    fn row(&mut self, row: &SessionRow) -> SessionRow {
        let mut row = row.clone();
        for text in [&mut row.title, &mut row.first_prompt, &mut row.alias, &mut row.cwd].into_iter().flatten() {
            *text = self.text(text);
        }
        row.models = row.models.iter().map(|model| self.line(model)).collect();
        (row.id, row.path) = (self.line(&row.id), self.line(&row.path));
        row.resume = row.resume.map(|words| words.iter().map(|word| self.line(word)).collect());
        self.count = Count::default();
        row
    }
}

fn failed(error: &io::Error) -> Failure {
    Failure::new("could not write the export").cause(sys::failure::plain(error))
}

/// Where an export goes when nobody says: `<data>/exports/<day>-<agent>-<id>.<ending>`.
pub fn default_path(data: &Path, row: &SessionRow, format: Format) -> PathBuf {
    data.join("exports").join(default_name(row, format))
}

/// The name alone. Ids come from files, so only what may stand in a name is taken of one.
pub fn default_name(row: &SessionRow, format: Format) -> String {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(80).collect()
    };
    let day = row.started.as_deref().or(row.updated.as_deref()).and_then(|at| at.get(..10)).map(plain);
    let parts = [day.unwrap_or_default(), plain(&row.agent), plain(&row.id)];
    let name: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}.{}", name.join("-"), format.extension())
}

/// What may become of a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The name is ours to choose: `-2` and so on is added.
    Rename,
    /// It stays, and the export fails.
    Refuse,
    /// It goes.
    Replace,
}

/// Writes a file for its owner only (0600) through `write`: whole, or not at all. Gives where it is, how long, and what
/// `write` gave.
///
/// # Errors
/// Those of `write`; when the file is there and may not be replaced; when it cannot be written.
pub fn to_file<T>(
    path: &Path,
    taken: Taken,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<(PathBuf, u64, T), Failure> {
    let refused = |path: &Path| {
        Failure::new(format!("could not export to {}", path.display()))
            .cause("it is there already")
            .hint("name another file with -o, or replace it with --force")
    };
    if taken == Taken::Refuse && std::fs::symlink_metadata(path).is_ok() {
        return Err(refused(path));
    }
    let mut draft = Draft::create(path)?;
    let written = write(&mut draft)?;
    match taken {
        Taken::Replace | Taken::Refuse => match draft.keep(taken == Taken::Replace)? {
            Some(bytes) => Ok((path.to_owned(), bytes, written)),
            None => Err(refused(path)),
        },
        Taken::Rename => {
            let (at, bytes) = draft.keep_free(&|number| numbered(path, number))?;
            Ok((at, bytes, written))
        }
    }
}

/// `x.md`, `x-2.md`, `x-3.md` ...
fn numbered(path: &Path, number: u64) -> PathBuf {
    if number < 2 {
        return path.to_owned();
    }
    let (stem, ending) = (path.file_stem().unwrap_or_default(), path.extension().unwrap_or_default());
    path.with_file_name(format!("{}-{number}.{}", stem.to_string_lossy(), ending.to_string_lossy()))
}

#[cfg(test)]
mod tests;
