//! `lazyagents sessions trash`: what was deleted, and the way back.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use sys::files::trash::{DAYS, Entry, Trash};
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::super::Out;
use super::super::interrupt::Interrupt;
use super::super::out::table;
use crate::context::{Context, things};

/// Arguments of `sessions trash`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
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
    /// Put one back where it was, exactly
    Restore {
        /// Its id in the trash, the session's id, the beginning of either, or agent:id
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// One row of `sessions trash --json`, and the answer of `sessions trash restore --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrashRow {
    /// Its id in the trash.
    id: String,
    /// When it was deleted, RFC 3339.
    at: String,
    /// When it goes for good, RFC 3339.
    until: String,
    /// The agent's id.
    agent: String,
    /// The session's id.
    session: String,
    /// What it was about.
    title: Option<String>,
    /// Where its files were.
    paths: Vec<String>,
    /// How many files.
    files: u64,
    /// Their bytes.
    bytes: u64,
    /// False for what a killed process left behind; it can be restored all the same.
    whole: bool,
}

impl From<&Entry> for TrashRow {
    fn from(entry: &Entry) -> Self {
        let (agent, session) = entry.what.key.split_once(':').unwrap_or_default();
        let life = jiff::SignedDuration::from_hours(24 * i64::from(DAYS));
        Self {
            id: entry.id.clone(),
            at: entry.at.to_string(),
            until: entry.at.checked_add(life).unwrap_or(entry.at).to_string(),
            agent: agent.to_owned(),
            session: session.to_owned(),
            title: Some(entry.what.title.clone()).filter(|title| !title.is_empty()),
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
    }
}

fn list(json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let trash = Trash::of(&context.paths.data);
    let now = clock::wall();
    let (_, problems) = trash.expire(now, DAYS)?;
    let listing = trash.list();
    for problem in problems.iter().chain(&listing.problems) {
        out.say(&clean(problem));
    }
    let sessions: Vec<&Entry> = listing.entries.iter().filter(|entry| entry.what.kind == "session").collect();
    if json {
        out.json(&sessions.into_iter().map(TrashRow::from).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let row = |entry: &&Entry| {
        let at = std::time::UNIX_EPOCH + Duration::from_secs(u64::try_from(entry.at.as_second()).unwrap_or(0));
        let note = if entry.whole { "" } else { "(not all of it: restore brings it together) " };
        vec![
            clean(&entry.id),
            human::ago(at, now),
            human::bytes(entry.bytes()),
            format!("{note}{}", clean(&entry.what.title).chars().take(100).collect::<String>()),
        ]
    };
    for line in table(&sessions.iter().map(row).collect::<Vec<_>>()) {
        out.line(&line);
    }
    if sessions.is_empty() {
        out.line("The trash holds no sessions.");
    }
    Ok(0)
}

fn restore(id: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let trash = Trash::of(&context.paths.data);
    let entry = trash.find(id).map_err(|failure| failure.hint("`lazyagents sessions trash` lists what is there"))?;
    let interrupt = Interrupt::catch()?;
    let restored = crate::undo::restore(context, &trash, &entry, &interrupt.cancel)?;
    if json {
        out.json(&TrashRow::from(&restored))?;
    } else {
        let files = things(usize::try_from(restored.files()).unwrap_or(usize::MAX), "file");
        out.line(&format!("{} is back ({files})", clean(&restored.what.key)));
    }
    Ok(0)
}
