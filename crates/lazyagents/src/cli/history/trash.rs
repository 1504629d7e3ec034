//! `lazyagents history trash`: everything that was deleted, of every kind; it is put back or emptied.

use std::time::{Duration, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use sys::files::trash::{DAYS, Entry};
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::super::Out;
use super::super::interrupt::Interrupt;
use super::super::out::table;
use super::the_trash;
use crate::context::{Context, things};
use crate::undo;

/// Arguments of `history trash`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in super::super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, clap::Subcommand)]
enum Which {
    /// List what is in it, the newest first (the same as no command)
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Put something back where it was, exactly
    Restore {
        /// Its id in the trash, what it was called, or the beginning of either
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what is in it for good, now rather than after 30 days
    Empty {
        /// Only what was deleted more than so many days ago
        #[arg(long, value_name = "DAYS", default_value_t = 0)]
        older: u32,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// One row of `history trash --json`, and the answer of `history trash restore --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct Row {
    /// Its id in the trash.
    id: String,
    /// When it was deleted, RFC 3339.
    at: String,
    /// When it goes for good, RFC 3339.
    until: String,
    /// `session`, `change`, or what later versions put there.
    kind: String,
    /// What it was called: `codex:<id>` of a session, else the change's own words.
    key: String,
    /// What it was about.
    title: String,
    /// Where its files were.
    paths: Vec<String>,
    /// How many files.
    files: u64,
    /// Their bytes.
    bytes: u64,
    /// False for what a killed process left behind; it can be restored all the same.
    whole: bool,
}

impl From<&Entry> for Row {
    fn from(entry: &Entry) -> Self {
        let life = jiff::SignedDuration::from_hours(24 * i64::from(DAYS));
        Self {
            id: entry.id.clone(),
            at: entry.at.to_string(),
            until: entry.at.checked_add(life).unwrap_or(entry.at).to_string(),
            kind: entry.what.kind.clone(),
            key: entry.what.key.clone(),
            title: entry.what.title.clone(),
            paths: entry.items.iter().map(|item| item.path.to_string_lossy().into_owned()).collect(),
            files: entry.files(),
            bytes: entry.bytes(),
            whole: entry.whole,
        }
    }
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match &args.command {
        None => list(args.json, context, out),
        Some(Which::List { json }) => list(*json, context, out),
        Some(Which::Restore { id, json }) => restore(id, *json, context, out),
        Some(Which::Empty { older, yes }) => empty(*older, *yes, context, out),
    }
}

fn list(json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let listing = the_trash(context).list();
    for problem in &listing.problems {
        out.say(&clean(problem));
    }
    if json {
        out.json(&listing.entries.iter().map(Row::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let now = clock::wall();
    let row = |entry: &Entry| {
        let at = UNIX_EPOCH + Duration::from_secs(u64::try_from(entry.at.as_second()).unwrap_or(0));
        let note = if entry.whole { "" } else { "(not all of it: restore brings it together) " };
        let title: String = clean(&entry.what.title).chars().take(100).collect();
        vec![
            clean(&entry.id),
            clean(&entry.what.kind),
            human::ago(at, now),
            human::bytes(entry.bytes()),
            format!("{note}{title}"),
        ]
    };
    for line in table(&listing.entries.iter().map(row).collect::<Vec<_>>()) {
        out.line(&line);
    }
    if listing.entries.is_empty() {
        out.line("The trash is empty.");
    }
    Ok(0)
}

fn restore(id: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let trash = the_trash(context);
    let entry = trash.find(id).map_err(|failure| failure.hint("`lazyagents history trash` lists what is there"))?;
    let interrupt = Interrupt::catch()?;
    let restored = undo::restore(context, &trash, &entry, &interrupt.cancel)?;
    if json {
        out.json(&Row::from(&restored))?;
    } else {
        let files = things(usize::try_from(restored.files()).unwrap_or(usize::MAX), "file");
        out.line(&format!("{} is back ({files})", clean(&restored.what.key)));
    }
    Ok(0)
}

fn empty(older: u32, yes: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let trash = the_trash(context);
    let now = clock::wall();
    let limit = now.checked_sub(Duration::from_secs(u64::from(older) * 24 * 60 * 60));
    let limit = limit.and_then(|limit| jiff::Timestamp::try_from(limit).ok());
    let goes: Vec<Entry> =
        trash.list().entries.into_iter().filter(|entry| limit.is_some_and(|limit| entry.at < limit)).collect();
    if goes.is_empty() {
        out.line("Nothing to remove.");
        return Ok(0);
    }
    let bytes = human::bytes(goes.iter().map(Entry::bytes).sum());
    let count = things(goes.len(), "entry").replace("entrys", "entries");
    if !yes {
        if !out.can_ask() {
            return Err(Failure::new(format!(
                "{count} ({bytes}) would be removed for good, and nobody is there to be asked"
            ))
            .hint("nothing was removed; agree with --yes"));
        }
        if !out.confirm(&format!("Remove {count} ({bytes}) for good?")) {
            return Err(Failure::cancelled("nothing was removed"));
        }
    }
    let (gone, problems) = trash.expire(now, older)?;
    for problem in &problems {
        out.say(&clean(problem));
    }
    let gone = things(usize::try_from(gone).unwrap_or(usize::MAX), "entry").replace("entrys", "entries");
    out.line(&format!("removed {gone}"));
    Ok(u8::from(!problems.is_empty()))
}
