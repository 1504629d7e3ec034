//! `lazyagents sessions export`: a conversation as a file of the person's own.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use agents::sessions::Session;
use agents::sessions::rows::SessionRow;
use manage::export::{Exporter, Format, Taken, Written, default_name, default_path, to_file};
use manage::mask::Count;
use schemars::JsonSchema;
use serde::Serialize;
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::super::{Out, short};
use crate::context::{Context, things};
use crate::history::History;

/// Arguments of `sessions export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its id, the beginning of it, agent:id, or your name for it
    session: String,
    /// As what
    #[arg(long, value_enum, default_value = "md")]
    format: As,
    /// Where to, a file or a folder; - is stdout; without it a new file in the folder of exports
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE when it is there
    #[arg(long)]
    force: bool,
    /// Leave keys, tokens and passwords in
    #[arg(long)]
    no_mask: bool,
    /// Say as JSON where it is and what was masked
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum As {
    /// Markdown
    Md,
    /// The object of `sessions show --json`, with what was masked
    Json,
}

/// `sessions export --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// The agent's id.
    agent: String,
    /// The session's id.
    id: String,
    /// The file.
    path: String,
    /// What it is.
    format: Format,
    /// Its length.
    bytes: u64,
    /// How many turns are in it.
    turns: u64,
    /// What was masked; null when secrets were to be left in.
    masked: Option<Masked>,
}

/// Secrets that were replaced.
#[derive(Debug, Serialize, JsonSchema)]
struct Masked {
    /// How many.
    total: u64,
    /// How many of each kind.
    kinds: std::collections::BTreeMap<String, u64>,
}

impl From<&Count> for Masked {
    fn from(count: &Count) -> Self {
        let kinds = count.kinds().iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect();
        Self { total: count.total(), kinds }
    }
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let format = match args.format {
        As::Md => Format::Markdown,
        As::Json => Format::Json,
    };
    let to_stdout = args.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if to_stdout && (args.json || args.force) {
        return Err(Failure::usage("with -o - the export itself is printed: --json and --force say nothing then"));
    }
    let history = History::load(context)?;
    let session = history.one(&args.session)?;
    let row = history.row(session);
    let masked = !args.no_mask;
    if to_stdout {
        let written = write(&history, session, &row, format, masked, &mut Pipe(out));
        // A reader that went away had enough, which is no failure; a full disk is one that `Out` tells.
        if out.is_closed() {
            return Ok(0);
        }
        if let Some(count) = written?.masked.filter(|count| count.total() > 0) {
            out.say(&told(&count));
        }
        return Ok(0);
    }
    let (path, taken) = match &args.output {
        Some(path) if path.is_dir() => (path.join(default_name(&row, format)), Taken::Rename),
        Some(path) if args.force => (path.clone(), Taken::Replace),
        Some(path) => (path.clone(), Taken::Refuse),
        None => (default_path(&context.paths.data, &row, format), Taken::Rename),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    let (path, bytes, written) = to_file(&path, taken, |to| write(&history, session, &row, format, masked, to))?;
    if args.json {
        out.json(&Exported {
            agent: row.agent,
            id: row.id,
            path: path.to_string_lossy().into_owned(),
            format,
            bytes,
            turns: written.turns,
            masked: written.masked.as_ref().map(Masked::from),
        })?;
        return Ok(0);
    }
    let turns = things(usize::try_from(written.turns).unwrap_or(usize::MAX), "turn");
    out.line(&format!("{}  {turns}, {}", short(context, &path), human::bytes(bytes)));
    out.line(&written.masked.map_or_else(|| "secrets were left in".to_owned(), |count| told(&count)));
    Ok(0)
}

fn told(count: &Count) -> String {
    if count.total() == 0 {
        return "no secrets of known shapes were found".to_owned();
    }
    let kinds: Vec<String> = count.kinds().iter().map(|(kind, n)| format!("{kind}: {n}")).collect();
    let total = things(usize::try_from(count.total()).unwrap_or(usize::MAX), "secret");
    format!("{total} masked ({})", clean(&kinds.join(", ")))
}

/// stdout as a writer that ends when its reader has gone.
struct Pipe<'a>(&'a mut Out);

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.bytes(bytes);
        if self.0.is_closed() { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush();
        Ok(())
    }
}

fn write(
    history: &History,
    session: &Session,
    row: &SessionRow,
    format: Format,
    masked: bool,
    to: &mut dyn Write,
) -> Result<Written, Failure> {
    let mut exporter = Exporter::begin(to, format, masked, row)?;
    let mut failed = None;
    history.tell_nested(session, &mut |turn| match exporter.turn(turn) {
        Ok(()) => ControlFlow::Continue(()),
        Err(failure) => {
            failed = Some(failure);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(failure) => Err(failure),
        None => exporter.end(jiff::Timestamp::try_from(clock::wall()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)),
    }
}
