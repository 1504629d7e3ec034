//! `lazyagents history` and `lazyagents undo`: every change to files of agents and of ours, and the way back.

use std::time::{Duration, UNIX_EPOCH};

use manage::desk::Part;
use schemars::JsonSchema;
use serde::Serialize;
use sys::files::journal::{Entry, Journal, State, Way};
use sys::files::trash::Trash;
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::interrupt::Interrupt;
use super::out::{diff_line, table};
use super::{Out, short};
use crate::context::Context;
use crate::undo::{self, Outcome};

mod trash;

pub(super) use trash::Row as TrashRow;

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(flatten)]
    list: ListArgs,
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Which {
    /// List the changes, the newest first (the same as no command)
    List(ListArgs),
    /// Take a change back (the same as `lazyagents undo`)
    Undo(UndoArgs),
    /// What was deleted, of every kind, and the way back
    Trash(trash::Args),
}

/// Arguments of `undo`.
#[derive(Debug, clap::Args)]
pub(super) struct UndoArgs {
    /// The number of the change in `history`; the newest that is not undone without it
    number: Option<u64>,
    /// Where a file was changed since by somebody else, take back only the values that the change touched
    #[arg(long)]
    merge: bool,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One row of `history --json` (json.md).
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    /// Its number, for `undo`.
    id: u64,
    /// When, RFC 3339.
    at: String,
    /// What was done.
    what: String,
    /// The files, links and folders it is about.
    paths: Vec<String>,
    /// It was taken back.
    undone: bool,
    /// The copies that an undo needs are there.
    can_undo: bool,
}

/// The answer of `undo --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UndoneRow {
    /// The number of the change.
    id: u64,
    /// What it was.
    what: String,
    /// It is taken back now; false with --dry-run, and when something stands in the way.
    undone: bool,
    /// Only the values it had touched were taken back: the rest of a file was changed since.
    merged: bool,
    /// What was changed, or would be.
    files: Vec<FileRow>,
    /// What was changed since by somebody else; `--merge` takes back what the change did to it.
    changed_since: Vec<SinceRow>,
}

/// One file of a change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileRow {
    /// Its path.
    path: String,
    /// What becomes of it: change, make, remove, trash, link, unlink, restore.
    verb: String,
    /// The lines of a unified diff.
    diff: Vec<String>,
}

/// One file that was changed since.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SinceRow {
    /// Its path.
    path: String,
    /// What others changed, as a unified diff; empty when it cannot be told.
    diff: Vec<String>,
    /// Why `--merge` cannot help; null when it can.
    why: Option<String>,
}

impl From<&Part> for FileRow {
    fn from(part: &Part) -> Self {
        Self { path: part.path.to_string_lossy().into_owned(), verb: part.verb.to_owned(), diff: part.diff.clone() }
    }
}

impl Row {
    fn of(journal: &Journal, entry: &Entry) -> Self {
        let mut paths: Vec<String> = Vec::new();
        for path in entry.paths() {
            let path = path.to_string_lossy().into_owned();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Self {
            id: entry.id,
            at: entry.at.to_string(),
            what: entry.what.clone(),
            paths,
            undone: matches!(entry.state, State::Undone | State::Undoing),
            can_undo: journal.can_undo(entry),
        }
    }
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match &args.command {
        None => list(&args.list, context, out),
        Some(Which::List(args)) => list(args, context, out),
        Some(Which::Undo(args)) => undo(args, context, out),
        Some(Which::Trash(args)) => trash::run(args, context, out),
    }
}

fn list(args: &ListArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let journal = Journal::of(&context.paths.data);
    let history = journal.history()?;
    if history.skipped > 0 {
        let (skipped, file) = (history.skipped, short(context, &journal.file()));
        out.say(&format!("{skipped} lines of {file} could not be read and are left out"));
    }
    // What failed was taken back at once: nothing of it is left.
    let entries = history.entries.iter().rev().filter(|entry| entry.state != State::Failed);
    let rows: Vec<(Row, &Entry)> =
        entries.take(args.limit.unwrap_or(usize::MAX)).map(|entry| (Row::of(&journal, entry), entry)).collect();
    if args.json {
        out.json(&rows.into_iter().map(|(row, _)| row).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let now = clock::wall();
    let lines = rows.iter().map(|(row, entry)| {
        let at = UNIX_EPOCH + Duration::from_secs(u64::try_from(entry.at.as_second()).unwrap_or(0));
        let state = match entry.state {
            State::Undone | State::Undoing => "undone",
            State::Begun => "not finished",
            State::Done | State::Failed if row.can_undo => "",
            State::Done | State::Failed => "copies gone",
        };
        vec![row.id.to_string(), human::ago(at, now), clean(&row.what), state.to_owned()]
    });
    for line in table(&lines.collect::<Vec<_>>()) {
        out.line(&line);
    }
    if rows.is_empty() {
        out.line("Nothing was changed yet.");
    }
    Ok(0)
}

/// `lazyagents undo [n]`.
pub(super) fn undo(args: &UndoArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if args.dry_run {
        return dry_run(args, context, out);
    }
    let interrupt = Interrupt::catch()?;
    let way = if args.merge { Way::Merge } else { Way::Exact };
    let outcome = undo::undo(context, args.number, way, &interrupt.cancel)?;
    let (code, row) = told(&outcome, !matches!(outcome, Outcome::Blocked { .. }));
    if args.json {
        out.json(&row)?;
        return Ok(code);
    }
    match &outcome {
        Outcome::Undone { entry, files, merged } => {
            let note = if *merged { " (only what it had touched; what others changed since stays)" } else { "" };
            out.line(&format!("undone: {}{note}", clean(&entry.what)));
            for part in files {
                out.line(&format!("  {} {}", part.verb, short(context, &part.path)));
            }
        }
        Outcome::Blocked { entry, .. } => {
            blocked(&row, context, out);
            let id = entry.id;
            let mut failure = Failure::new(format!("could not undo {id} ({})", clean(&entry.what)))
                .cause("what it changed was changed since by somebody else");
            failure = failure.hint("nothing was changed; the difference is above");
            if row.changed_since.iter().all(|since| since.why.is_none()) {
                failure = failure.hint(format!(
                    "`lazyagents undo {id} --merge` takes back only what it had touched and keeps the rest"
                ));
            }
            return Err(failure);
        }
    }
    Ok(code)
}

fn dry_run(args: &UndoArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let outcome = undo::look(context, args.number, args.merge)?;
    let (code, row) = told(&outcome, false);
    if args.json {
        out.json(&row)?;
        return Ok(code);
    }
    match &outcome {
        Outcome::Undone { entry, files, .. } => {
            out.line(&format!("would undo {}: {}", entry.id, clean(&entry.what)));
            for part in files {
                out.line(&format!("{} {}", part.verb, short(context, &part.path)));
                for line in &part.diff {
                    out.line(&format!("  {}", diff_line(line)));
                }
            }
        }
        Outcome::Blocked { .. } => blocked(&row, context, out),
    }
    Ok(code)
}

fn blocked(row: &UndoneRow, context: &Context, out: &mut Out) {
    for since in &row.changed_since {
        out.line(&format!("{} was changed since:", short(context, std::path::Path::new(&since.path))));
        for line in &since.diff {
            out.line(&format!("  {}", diff_line(line)));
        }
        if let Some(why) = &since.why {
            out.line(&format!("  what it did cannot be taken out: {}", clean(why)));
        }
    }
}

fn told(outcome: &Outcome, undone: bool) -> (u8, UndoneRow) {
    let (entry, files, since, merged) = match outcome {
        Outcome::Undone { entry, files, merged } => (entry, files.as_slice(), [].as_slice(), *merged),
        Outcome::Blocked { entry, since } => (entry, [].as_slice(), since.as_slice(), false),
    };
    let since_row = |since: &undo::Changed| SinceRow {
        path: since.path.to_string_lossy().into_owned(),
        diff: since.diff.clone(),
        why: since.why.clone(),
    };
    let row = UndoneRow {
        id: entry.id,
        what: entry.what.clone(),
        undone,
        merged,
        files: files.iter().map(FileRow::from).collect(),
        changed_since: since.iter().map(since_row).collect(),
    };
    (u8::from(!since.is_empty()), row)
}

/// The trash of our data folder.
fn the_trash(context: &Context) -> Trash {
    Trash::of(&context.paths.data)
}
