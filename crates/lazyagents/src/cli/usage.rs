//! `lazyagents usage`: how many tokens it all took, counted once.

use agents::sessions::Fate;
use agents::sessions::rows::UsageTable;
use agents::usage::{Query, View, table as count};
use jiff::tz::TimeZone;
use sys::Failure;
use sys::text::{clean, human};

use super::out::{numbers, table};
use super::sessions::{known_agent, since};
use super::{Out, short};
use crate::context::Context;
use crate::history::History;

/// Arguments of `usage`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the rows are
    #[arg(value_enum, default_value = "daily")]
    view: Rows,
    /// With explain: a session's id, the beginning of it, agent:id, or your name for it
    session: Option<String>,
    /// Only this agent; may be given several times
    #[arg(long, value_name = "ID")]
    agent: Vec<String>,
    /// Only since then: 7d, 24h, 2w or a date
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Whose days: a zone like Europe/Berlin; else the system's
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Rows {
    /// A row for each day
    Daily,
    /// A row for each agent
    Agents,
    /// A row for each folder
    Projects,
    /// A row for each model
    Models,
    /// A row for each block of five hours
    Blocks,
    /// What was counted of one session, record by record, and what was not, and why
    Explain,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let zone = match &args.timezone {
        Some(name) => TimeZone::get(name).map_err(|_| {
            Failure::usage(format!("there is no time zone {}", clean(name))).hint("e.g. Europe/Berlin, UTC")
        })?,
        None => TimeZone::system(),
    };
    if args.view == Rows::Explain {
        return explain(args, &zone, context, out);
    }
    if let Some(word) = &args.session {
        return Err(Failure::usage(format!("{} is too much: only explain takes a session", clean(word))));
    }
    for agent in &args.agent {
        known_agent(agent)?;
    }
    let time = |text: &Option<String>| text.as_deref().map(|text| since(text, &zone)).transpose();
    let (since, until) = (time(&args.since)?, time(&args.until)?);
    let view = match args.view {
        Rows::Daily | Rows::Explain => View::Daily,
        Rows::Agents => View::Agents,
        Rows::Projects => View::Projects,
        Rows::Models => View::Models,
        Rows::Blocks => View::Blocks,
    };
    let history = History::load(context)?;
    let query = Query { view, agents: args.agent.clone(), since, until, zone, limit: args.limit };
    let told = count(&history.snapshot, &query);
    if args.json {
        out.json(&told)?;
        return Ok(0);
    }
    print(&told, view, context, out);
    Ok(0)
}

fn print(told: &UsageTable, view: View, context: &Context, out: &mut Out) {
    if told.rows.is_empty() {
        out.line("Nothing was counted.");
        return;
    }
    let cells = |name: String, tokens: &agents::sessions::Tokens, cost: Option<f64>| {
        let counts = [tokens.total(), tokens.input, tokens.cache_read, tokens.cache_write, tokens.output];
        let mut row = vec![name];
        row.extend(counts.map(human::count));
        row.push(cost.map_or_else(|| "$ -".to_owned(), |cost| format!("$ {cost:.2}")));
        row
    };
    let mut rows =
        vec![["", "total", "input", "cache read", "cache write", "output", "cost"].map(str::to_owned).to_vec()];
    for row in &told.rows {
        let name = if view == View::Projects { short(context, row.key.as_ref()) } else { clean(&row.label) };
        rows.push(cells(name, &row.tokens, row.cost_usd));
    }
    rows.push(cells("all".to_owned(), &told.total.tokens, told.total.cost_usd));
    for line in numbers(&rows, 0) {
        out.line(&line);
    }
    out.line(&format!("days of {}", clean(&told.timezone)));
    let lines: u64 = told.skipped.iter().map(|skip| skip.lines).sum();
    if !told.skipped.is_empty() {
        out.say(&format!("{} lines could not be read; `lazyagents sessions index` says which", human::count(lines)));
    }
}

fn explain(args: &Args, zone: &TimeZone, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let Some(id) = &args.session else {
        return Err(Failure::usage("explain needs a session").hint("`lazyagents sessions` lists them"));
    };
    let history = History::load(context)?;
    let session = history.one(id)?;
    let mut rows =
        vec![["time", "role", "model", "input", "cache read", "cache write", "output", ""].map(str::to_owned).to_vec()];
    history.library.explain(session, &mut |path, response, model, fate| {
        let why = match &fate {
            Fate::Counted => format!("counted  {}:{}", short(context, path), response.offset),
            Fate::Elsewhere(first) => format!("the same response is in {}", short(context, first)),
            Fate::Replaced => "another file tells the same better".to_owned(),
        };
        let at = response.at.and_then(|at| agents::usage::stamp(at, zone)).unwrap_or_else(|| "unknown".to_owned());
        let tokens = &response.tokens;
        let mut row = vec![at, format!("{:?}", response.role).to_lowercase(), clean(model.unwrap_or("-"))];
        row.extend([tokens.input, tokens.cache_read, tokens.cache_write, tokens.output].map(|count| count.to_string()));
        row.push(why);
        rows.push(row);
    });
    for line in table(&rows) {
        out.line(&line);
    }
    Ok(0)
}
