//! `lazyagents sessions`: the conversations of all agents: listed, shown, searched, named, opened again.

mod delete;
mod export;
mod trash;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use agents::sessions::rows::{Excerpt, Found, SessionRow, Turn};
use agents::sessions::{Session, Speaker};
use agents::text::{Hit, Query, Rest, Store};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;
use sys::text::{clean, clean_lines, human};
use sys::{Failure, clock, proc};

use super::out::table;
use super::{Out, short};
use crate::context::{Context, things};
use crate::history::{History, first_line};
use manage::aliases;

/// Arguments of `sessions`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    list: ListArgs,
    #[command(subcommand)]
    command: Option<Which>,
}

/// Which sessions.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only this agent's; may be given several times
    #[arg(long, value_name = "ID")]
    agent: Vec<String>,
    /// Only those started in this folder or below it
    #[arg(long)]
    here: bool,
    /// Only those started in DIR or below it
    #[arg(long, value_name = "DIR", conflicts_with = "here")]
    project: Option<PathBuf>,
    /// Only those used since then: 7d, 24h, 2w or a date
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Which {
    /// List them, the newest first (the same as no command)
    List(ListArgs),
    /// Show one: what was said, and by whom
    Show {
        /// Its id, the beginning of it, agent:id, or your name for it
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Find those in which words were said, in prompts, answers, and what tools were given and told
    Search {
        /// Words that all occur in one turn, "a phrase", and agent: project: since: role: tool:
        text: String,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Give one a name of your own, or take it away
    Alias {
        /// Its id, the beginning of it, agent:id, or your name for it
        id: String,
        /// The name; without it the name is taken away
        name: Option<String>,
    },
    /// Open one again in its agent, in the folder it was started in
    Resume {
        /// Its id, the beginning of it, agent:id, or your name for it
        id: String,
        /// Print the command instead
        #[arg(long)]
        print: bool,
    },
    /// Write one to a file: what was said, what tools were given and told, secrets masked
    Export(export::Args),
    /// Put some into the trash, with all that their agents keep of them
    Delete(delete::Args),
    /// What was deleted, for 30 days, and the way back
    Trash(trash::Args),
    /// Read everything that is new, so that searches are fast, and say what could not be read
    Index,
}

pub(super) use delete::Deleted;
pub(super) use export::Exported;
pub(super) use trash::TrashRow;

/// `sessions show --json` (json.md).
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Shown {
    #[serde(flatten)]
    row: SessionRow,
    /// What was said, in order; what sub-agents said comes behind it.
    turns: Vec<Turn>,
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        None => list(&args.list, context, out),
        Some(Which::List(given)) => list(&given.or(args.list), context, out),
        Some(Which::Show { id, json }) => show(&id, json || args.list.json, context, out),
        Some(Which::Search { text, list }) => search(&text, &list.or(args.list), context, out),
        Some(Which::Alias { id, name }) => alias(&id, name.as_deref(), context, out),
        Some(Which::Resume { id, print }) => resume(&id, print, context, out),
        Some(Which::Export(args)) => export::run(&args, context, out),
        Some(Which::Delete(args)) => delete::run(&args, context, out),
        Some(Which::Trash(args)) => trash::run(&args, context, out),
        Some(Which::Index) => index(context, out),
    }
}

impl ListArgs {
    /// These, and what was given before the sub-command.
    fn or(mut self, before: Self) -> Self {
        if self.agent.is_empty() {
            self.agent = before.agent;
        }
        if self.project.is_none() && !self.here {
            (self.project, self.here) = (before.project, before.here);
        }
        self.since = self.since.or(before.since);
        self.limit = self.limit.or(before.limit);
        self.json |= before.json;
        self
    }

    fn wanted<'h>(&self, history: &'h History) -> Result<Vec<&'h Session>, Failure> {
        for agent in &self.agent {
            known_agent(agent)?;
        }
        let since = self.since.as_deref().map(|text| since(text, &TimeZone::system())).transpose()?;
        let folder = match (&self.project, self.here) {
            (Some(dir), _) => Some(std::path::absolute(dir).unwrap_or_else(|_| dir.clone())),
            (None, true) => std::env::current_dir().ok(),
            (None, false) => None,
        };
        // An agent may have gone there by a link, or not.
        let real = folder.as_ref().and_then(|folder| folder.canonicalize().ok());
        let inside = |session: &&Session| match (&folder, &session.cwd) {
            (None, _) => true,
            (Some(folder), Some(cwd)) => {
                let cwd = Path::new(cwd);
                cwd.starts_with(folder) || real.as_ref().is_some_and(|real| cwd.starts_with(real))
            }
            (Some(_), None) => false,
        };
        let sessions = history.snapshot.sessions.iter();
        let sessions =
            sessions.filter(|session| self.agent.is_empty() || self.agent.iter().any(|a| a == session.agent));
        let sessions =
            sessions.filter(inside).filter(|session| since.is_none_or(|since| session.updated >= Some(since)));
        Ok(sessions.take(self.limit.unwrap_or(usize::MAX)).collect())
    }
}

pub(super) fn known_agent(id: &str) -> Result<(), Failure> {
    if agents::adapter::by_id(id).is_some() {
        return Ok(());
    }
    let ids: Vec<_> = agents::adapter::all().iter().map(|adapter| adapter.about().id).collect();
    Err(Failure::usage(format!("there is no agent {}", clean(id))).hint(format!("agents are: {}", ids.join(", "))))
}

/// `7d`, `24h`, `2w`, `30min`, or a date as the zone has it.
pub(super) fn since(text: &str, zone: &TimeZone) -> Result<i64, Failure> {
    let refused = || {
        Failure::usage(format!("{} is no time", clean(text)))
            .hint("7d, 24h, 2w, 30min, a date like 2026-11-30, or RFC 3339")
    };
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(at.as_millisecond());
    }
    if let Ok(date) = text.parse::<jiff::civil::Date>() {
        let start = zone.to_timestamp(date.at(0, 0, 0, 0)).map_err(|_| refused())?;
        return Ok(start.as_millisecond());
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: i64 = digits.parse().map_err(|_| refused())?;
    let unit = match &text[digits.len()..] {
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(refused()),
    };
    let now = jiff::Timestamp::try_from(clock::wall()).map_err(|_| refused())?;
    Ok(now.as_millisecond().saturating_sub(number.saturating_mul(unit)))
}

fn list(args: &ListArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let wanted = args.wanted(&history)?;
    if args.json {
        out.json(&Rows { history: &history, sessions: &wanted })?;
        // The process ends: giving back a hundred thousand pieces of memory one by one takes as long as reading them.
        std::mem::forget(history);
        return Ok(0);
    }
    let now = clock::wall();
    let short_ids = beginnings(&history);
    let rows: Vec<Vec<String>> =
        wanted.iter().map(|session| line(&history, session, context, now, short_ids)).collect();
    for line in table(&rows) {
        out.line(&line);
    }
    if rows.is_empty() {
        out.line("No sessions.");
    }
    told_skips(&history, out);
    Ok(0)
}

/// The rows of sessions, made one by one while they are written.
struct Rows<'a> {
    history: &'a History,
    sessions: &'a [&'a Session],
}

impl serde::Serialize for Rows<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.sessions.iter().map(|session| self.history.row(session)))
    }
}

/// How long the beginnings of ids have to be to tell all sessions apart: those of some agents begin with the time.
fn beginnings(history: &History) -> usize {
    const LEAST: usize = 8;
    let mut ids: Vec<&str> = history.snapshot.sessions.iter().map(|session| session.id.as_str()).collect();
    ids.sort_unstable();
    let common = |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(|pair| common(pair) + 1).max().unwrap_or(LEAST).max(LEAST)
}

fn line(
    history: &History,
    session: &Session,
    context: &Context,
    now: std::time::SystemTime,
    short_ids: usize,
) -> Vec<String> {
    let row = history.row(session);
    let millis = session.updated.and_then(|at| u64::try_from(at).ok());
    let at = millis.map(|at| std::time::UNIX_EPOCH + std::time::Duration::from_millis(at));
    let title = row.alias.or(row.title).unwrap_or_default();
    vec![
        clean(&session.id.chars().take(short_ids).collect::<String>()),
        session.agent.to_owned(),
        at.map_or_else(|| "-".to_owned(), |at| human::ago(at, now)),
        human::count(row.usage.total()),
        session.cwd.as_deref().map_or_else(|| "-".to_owned(), |cwd| short(context, Path::new(cwd))),
        clean(&first_line(&title)).chars().take(100).collect(),
    ]
}

/// What could not be read is said, never silently missing.
fn told_skips(history: &History, out: &mut Out) {
    let skipped = &history.snapshot.skipped;
    let lines: u64 = skipped.iter().map(|skip| skip.lines).sum();
    let files: std::collections::HashSet<&str> = skipped.iter().map(|skip| skip.path.as_str()).collect();
    if !skipped.is_empty() {
        out.say(&format!(
            "{} in {} could not be read; `lazyagents sessions index` says which",
            lines_of(lines),
            things(files.len(), "file")
        ));
    }
    for warning in history.library.warnings() {
        out.say(&clean(warning));
    }
}

fn lines_of(count: u64) -> String {
    format!("{} line{}", human::count(count), if count == 1 { "" } else { "s" })
}

fn index(context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let snapshot = &history.snapshot;
    out.line(&format!("indexed {} in {}", things(snapshot.sessions.len(), "session"), things(snapshot.files, "file")));
    for skip in &snapshot.skipped {
        let path = short(context, Path::new(&skip.path));
        out.line(&format!(
            "  {path}: {}: {}",
            if skip.lines == 0 { "nothing".to_owned() } else { lines_of(skip.lines) },
            clean(&skip.why)
        ));
    }
    for warning in history.library.warnings() {
        out.say(&clean(warning));
    }
    let mut store = Store::open(&history.dir);
    let covered = store.build(&history.conversations(), &AtomicBool::new(false), &|_| {})?;
    for warning in store.warnings() {
        out.say(&clean(warning));
    }
    out.line(&format!(
        "ready to be searched: {} of {}",
        human::count(covered.sessions),
        human::count(covered.of_sessions)
    ));
    Ok(0)
}

fn show(id: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let session = history.one(id)?;
    let row = history.row(session);
    if json {
        let mut turns = Vec::new();
        history.tell(session, &mut |turn| turns.push(turn))?;
        out.json(&Shown { row, turns })?;
        return Ok(0);
    }
    out.heading(&clean(row.alias.as_deref().or(row.title.as_deref()).unwrap_or(&session.id)));
    let folder = session.cwd.as_deref().map_or_else(|| "-".to_owned(), |cwd| short(context, Path::new(cwd)));
    out.line(&format!("{}  {folder}  {}", session.agent, clean(&row.models.join(", "))));
    history.tell(session, &mut |turn| say(&turn, out))?;
    Ok(0)
}

fn say(turn: &Turn, out: &mut Out) {
    let who = match (turn.role, &turn.subagent) {
        (_, Some(subagent)) => format!("sub-agent {}", clean(subagent)),
        (Speaker::User, None) => "you".to_owned(),
        (Speaker::Assistant, None) => turn.model.as_deref().map_or_else(|| "agent".to_owned(), clean),
        (Speaker::System, None) => "note".to_owned(),
    };
    out.line("");
    out.heading(&format!("── {who}{}", turn.at.as_deref().map(|at| format!("  {}", clean(at))).unwrap_or_default()));
    if !turn.text.is_empty() {
        out.line(clean_lines(&turn.text).trim_end());
    }
    for tool in &turn.tools {
        let mark = if tool.ok == Some(false) { "✗" } else { "▸" };
        out.line(&format!("  {mark} {} {}", clean(&tool.name), clean(&first_line(&tool.input))));
    }
}

fn search(text: &str, args: &ListArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let zone = TimeZone::system();
    let now = jiff::Timestamp::try_from(clock::wall()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let query = Query::parse(text, &now.to_zoned_datetime(zone)).map_err(Failure::usage)?;
    let history = History::load(context)?;
    let mut query = query;
    // The limit is that of what is found.
    query.limits.sessions = args.limit.unwrap_or(usize::MAX);
    let wanted = ListArgs { limit: None, ..args.clone() }.wanted(&history)?;
    let all = history.conversations();
    let by_id: HashMap<(&str, &str), &Session> =
        wanted.iter().map(|session| ((session.agent, session.id.as_str()), *session)).collect();
    let among: Vec<_> = all.into_iter().filter(|one| by_id.contains_key(&(one.agent, one.session))).collect();
    let mut store = Store::open(&history.dir);
    let mut found = Vec::new();
    let begun = clock::now();
    let outcome = store.search(&among, &query, Rest::Scan, &AtomicBool::new(false), &mut |hit| {
        let session = among.get(hit.conversation).and_then(|one| by_id.get(&(one.agent, one.session)));
        found.extend(session.map(|session| found_row(&history, session, hit)));
        ControlFlow::Continue(())
    });
    for problem in outcome.problems.iter().chain(store.warnings()) {
        out.say(&clean_lines(problem));
    }
    if args.json {
        out.json(&found)?;
    } else {
        print_found(&found, text, &history, out);
    }
    out.flush();
    // The answer is there. What the next one will not have to read from the files any more takes a little of the time
    // that this one took.
    if outcome.stored < outcome.searched && !outcome.ended_early {
        let time = (begun.elapsed() / 4).max(std::time::Duration::from_millis(50));
        if let Err(failure) = store.grow(&history.conversations(), time) {
            out.say(&clean_lines(&failure.to_string()));
        }
    }
    let code = u8::from(found.is_empty());
    std::mem::forget(history);
    Ok(code)
}

fn print_found(found: &[Found], text: &str, history: &History, out: &mut Out) {
    let short_ids = beginnings(history);
    for one in found {
        let title: String = clean(&first_line(one.title.as_deref().unwrap_or_default())).chars().take(100).collect();
        let id: String = one.id.chars().take(short_ids).collect();
        out.heading(&format!("{}  {}  {title}", clean(&id), one.agent));
        for excerpt in &one.excerpts {
            out.line(&format!("  {:>4}  {}", excerpt.turn, clean(&excerpt.text)));
        }
    }
    if found.is_empty() {
        out.say(&format!("{} was found in no session", clean(text)));
    }
}

fn found_row(history: &History, session: &Session, hit: Hit) -> Found {
    let row = history.row(session);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let excerpts = hit.excerpts.into_iter();
    let excerpts = excerpts.map(|found| Excerpt { turn: found.turn, role: found.role, text: words(&found.text) });
    Found { agent: row.agent, id: row.id, title: row.title, cwd: row.cwd, hits: hit.hits, excerpts: excerpts.collect() }
}

fn alias(id: &str, name: Option<&str>, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let session = history.one(id)?;
    let key = format!("{}:{}", session.agent, session.id);
    aliases::give(&context.paths.data, &key, name)?;
    match name {
        Some(name) => out.line(&format!("{} is called {name}", clean(&key))),
        None => out.line(&format!("{} has no name of yours", clean(&key))),
    }
    Ok(0)
}

fn resume(id: &str, print: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let history = History::load(context)?;
    let session = history.one(id)?;
    let row = history.row(session);
    let Some(command) = row.resume else {
        return Err(Failure::new(format!("{} cannot open a session again", session.agent)));
    };
    let folder = session.cwd.as_deref().map(PathBuf::from);
    if print {
        let folder = folder.as_deref().map(Path::to_string_lossy);
        out.line(&crate::history::command_line(&command, folder.as_deref()));
        return Ok(0);
    }
    let folder = folder.ok_or_else(|| Failure::new("the session does not say which folder it was started in"))?;
    if !folder.is_dir() {
        return Err(Failure::new(format!("the folder {} is gone", folder.display()))
            .hint(format!("make it again, or start the agent elsewhere yourself: {}", clean(&command.join(" ")))));
    }
    let spec = crate::resume::spec(&command, &folder, crate::config::ResumeIn::Here, &context.env)?;
    out.flush();
    match proc::replace(&spec)? {
        proc::Exit::Code(code) => Ok(u8::try_from(code).unwrap_or(1)),
        proc::Exit::Signal(signal) => Ok(128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))),
    }
}
