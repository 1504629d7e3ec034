//! `lazyagents sessions delete`: conversations go into the trash, after a list of exactly what goes and a question.

use agents::Surroundings;
use manage::delete::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use sys::files::journal::Journal;
use sys::files::trash::{self, Entry, Trash};
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::super::interrupt::Interrupt;
use super::super::{Out, short};
use crate::context::{Context, things};
use crate::history::{History, first_line};

/// Arguments of `sessions delete`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Their ids, the beginnings of them, agent:id, or your names for them
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Only say what would go
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One row of `sessions delete --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deleted {
    /// The agent's id.
    agent: String,
    /// The session's id.
    id: String,
    /// What it is about.
    title: Option<String>,
    /// What goes.
    paths: Vec<Path>,
    /// The agent's own command that forgets it, where files are not all that it keeps.
    command: Option<Vec<String>>,
    /// What still mentions it afterwards, in words.
    stays: Vec<String>,
    /// It is gone; false with --dry-run, and for those behind one that failed.
    deleted: bool,
    /// The id of what is in the trash; null when it was not deleted.
    trash: Option<String>,
}

/// One file or folder that goes.
#[derive(Debug, Serialize, JsonSchema)]
struct Path {
    /// Where it is.
    path: String,
    /// It is a folder.
    folder: bool,
    /// How many files it holds.
    files: u64,
    /// Their bytes.
    bytes: u64,
}

impl Deleted {
    fn of(plan: &Plan, entry: Option<&Entry>) -> Self {
        let path = |listed: &manage::delete::Listed| Path {
            path: listed.path.to_string_lossy().into_owned(),
            folder: listed.folder,
            files: listed.files,
            bytes: listed.bytes,
        };
        Self {
            agent: plan.agent.to_owned(),
            id: plan.id.clone(),
            title: Some(plan.title.clone()).filter(|title| !title.is_empty()),
            paths: plan.paths.iter().map(path).collect(),
            command: plan.removal.command.clone(),
            stays: plan.removal.stays.clone(),
            deleted: entry.is_some(),
            trash: entry.map(|entry| entry.id.clone()),
        }
    }
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let plans = plans(args, &history, &around)?;
    if args.dry_run && args.json {
        out.json(&plans.iter().map(|plan| Deleted::of(plan, None)).collect::<Vec<_>>())?;
        return Ok(0);
    }
    if !args.json || !args.yes {
        tell(&plans, context, args.json, out);
    }
    if args.dry_run {
        return Ok(0);
    }
    let sessions = things(plans.len(), "session");
    if !args.yes {
        if !out.can_ask() {
            return Err(Failure::new(format!("{sessions} would be deleted, and nobody is there to be asked"))
                .hint("nothing was deleted; agree with --yes, or look first with --dry-run"));
        }
        if !out.confirm(&format!("Put {sessions} into the trash?")) {
            return Err(Failure::cancelled("nothing was deleted"));
        }
    }
    let (entries, failure) = apply(&plans, &around, context, out)?;
    if args.json {
        let row = |(at, plan)| Deleted::of(plan, entries.get(at));
        out.json(&plans.iter().enumerate().map(row).collect::<Vec<_>>())?;
    } else {
        for entry in &entries {
            out.line(&format!("{} is in the trash as {}", clean(&entry.what.key), clean(&entry.id)));
        }
    }
    if let Some(failure) = failure {
        let done = things(entries.len(), "session");
        return Err(if plans.len() > 1 {
            failure.hint(format!("of {sessions}, {done} went into the trash before that one"))
        } else {
            failure
        });
    }
    if !args.json {
        out.line(&format!(
            "`lazyagents sessions trash restore <id>` brings it back, for {} days; so does `lazyagents undo`",
            trash::DAYS
        ));
    }
    Ok(0)
}

/// All plans or none: one session that cannot be deleted stops the others, too.
fn plans(args: &Args, history: &History, around: &Surroundings) -> Result<Vec<Plan>, Failure> {
    let mut plans: Vec<Plan> = Vec::new();
    for given in &args.sessions {
        let session = history.one(given)?;
        if plans.iter().any(|plan| plan.agent == session.agent && plan.id == session.id) {
            continue;
        }
        let row = history.row(session);
        let title = row.alias.or(row.title).unwrap_or_default();
        let plan = Plan::of(session, &first_line(&title), around, &history.dir);
        plans.push(plan.map_err(|failure| failure.hint("nothing was deleted"))?);
    }
    Ok(plans)
}

/// What goes: data when it is all that was asked for, else words beside a question.
fn tell(plans: &[Plan], context: &Context, beside: bool, out: &mut Out) {
    let mut lines = Vec::new();
    for plan in plans {
        lines.push(format!("{}  {}", clean(&plan.key()), clean(&plan.title)));
        for listed in &plan.paths {
            let files = things(usize::try_from(listed.files).unwrap_or(usize::MAX), "file");
            let inside = if listed.folder { format!("{files}, ") } else { String::new() };
            let end = if listed.folder { "/" } else { "" };
            let path = short(context, &listed.path);
            lines.push(format!("  {path}{end}  {inside}{}", human::bytes(listed.bytes)));
        }
        if let Some(command) = &plan.removal.command {
            let copies = plan.removal.exports.len();
            let first = match copies {
                0 => "once a copy is in the trash".to_owned(),
                _ => format!("once what it writes out ({}) is in the trash", things(copies, "conversation")),
            };
            lines.push(format!("  {first}: {}", clean(&command.join(" "))));
        }
        lines.extend(plan.removal.stays.iter().map(|stays| format!("  {}", clean(stays))));
    }
    for line in lines {
        if beside {
            out.say(&line);
        } else {
            out.line(&line);
        }
    }
}

/// What went into the trash, in the order of the plans, and why it ended there.
fn apply(
    plans: &[Plan],
    around: &Surroundings,
    context: &Context,
    out: &mut Out,
) -> Result<(Vec<Entry>, Option<Failure>), Failure> {
    // From here on an interrupt ends what runs in order, so that nothing is left half done.
    let interrupt = Interrupt::catch()?;
    let trash = Trash::of(&context.paths.data);
    let journal = Journal::of(&context.paths.data);
    let mut entries = Vec::new();
    for plan in plans {
        if interrupt.came() {
            return Ok((entries, Some(Failure::cancelled("it was interrupted"))));
        }
        match plan.apply(around, &trash, &interrupt.cancel) {
            Ok(entry) => {
                if let Err(failure) = manage::delete::remember(&journal, &entry) {
                    out.failure(&failure.hint("it is in the trash all the same"));
                }
                entries.push(entry);
            }
            Err(failure) => return Ok((entries, Some(failure))),
        }
    }
    // What is old goes on the way; what of it cannot be removed is tried again next time.
    let _ = trash.expire(clock::wall(), trash::DAYS);
    Ok((entries, None))
}
