//! `lazyagents usage`: how many tokens it all took, counted once.

use std::time::Duration;

use agents::limits::LimitRow;
use agents::sessions::Fate;
use agents::sessions::rows::UsageTable;
use agents::usage::{Query, View, table as count};
use clap::ValueEnum;
use jiff::tz::TimeZone;
use sys::text::{clean, human};
use sys::{Failure, clock};

use super::out::{numbers, table};
use super::sessions::{known_agent, since};
use super::{Out, short};
use crate::context::Context;
use crate::history::History;
use crate::limits::{Wanted, tell};

/// Arguments of `usage`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What the rows are; without it those that `usage.view` in config.yaml names, else days
    #[arg(value_enum)]
    view: Option<Rows>,
    /// With explain: a session's id, the beginning of it, agent:id, or your name for it
    session: Option<String>,
    /// Only this agent; may be given several times
    #[arg(long, value_name = "ID")]
    agent: Vec<String>,
    /// Only since then: today, 7d, 30d, 90d, 24h, 2w, a date, or all; without it `usage.period` in config.yaml
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
    /// With limits: ask the agents' services now, where that is the only way to know
    #[arg(long)]
    refresh: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
    /// How much of each account's limits is used up, and when they begin anew
    Limits,
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
    let rows = args.view.unwrap_or_else(|| preferred(context, out));
    if rows == Rows::Explain {
        return explain(args, &zone, context, out);
    }
    if let Some(word) = &args.session {
        return Err(Failure::usage(format!("{} is too much: only explain takes a session", clean(word))));
    }
    for agent in &args.agent {
        known_agent(agent)?;
    }
    if rows == Rows::Limits {
        return limits(args, &zone, context, out);
    }
    let since = match args.since.as_deref() {
        Some(text) => start(text, &zone)?,
        None => usual(context, &zone, out),
    };
    let until = args.until.as_deref().map_or(Ok(None), |text| start(text, &zone))?;
    let view = match rows {
        Rows::Daily | Rows::Limits | Rows::Explain => View::Daily,
        Rows::Agents => View::Agents,
        Rows::Projects => View::Projects,
        Rows::Models => View::Models,
        Rows::Blocks => View::Blocks,
    };
    let history = History::load(context)?;
    let query = Query { view, agents: args.agent.clone(), since, until, zone, limit: args.limit, now: now()? };
    let told = count(&history.snapshot, &query, &history.costs);
    if args.json {
        out.json(&told)?;
        // The process ends: giving back a hundred thousand pieces of memory one by one takes as long as reading them.
        std::mem::forget(history);
        return Ok(0);
    }
    print(&told, view, &history, context, out);
    Ok(0)
}

/// The view that the person's config names, else days; one that there is not is said and not used.
fn preferred(context: &Context, out: &mut Out) -> Rows {
    let Some(name) = context.config.usage.view.as_deref() else { return Rows::Daily };
    let known = Rows::value_variants().iter().filter(|rows| !matches!(rows, Rows::Limits | Rows::Explain));
    let known: Vec<_> = known.filter_map(|rows| Some((rows.to_possible_value()?, *rows))).collect();
    if let Some((_, rows)) = known.iter().find(|(value, _)| value.matches(name, true)) {
        return *rows;
    }
    let names: Vec<_> = known.iter().map(|(value, _)| value.get_name()).collect();
    out.say(&format!(
        "config.yaml: usage.view is not used: there is no view {}, but {}",
        clean(name),
        names.join(", ")
    ));
    Rows::Daily
}

/// When the person's usual period begins; one that is no time is said and not used.
fn usual(context: &Context, zone: &TimeZone, out: &mut Out) -> Option<i64> {
    let text = context.config.usage.period.as_deref()?;
    start(text, zone).unwrap_or_else(|failure| {
        out.say(&format!("config.yaml: usage.period is not used: {failure}"));
        None
    })
}

/// When a period begins: that of [`since`], and `today` and `all`, which begins nowhere.
fn start(text: &str, zone: &TimeZone) -> Result<Option<i64>, Failure> {
    match text {
        "all" => Ok(None),
        "today" => {
            let today =
                jiff::Timestamp::from_millisecond(now()?).map_err(|_| no_clock())?.to_zoned_datetime(zone.clone());
            let midnight = zone.to_timestamp(today.date().at(0, 0, 0, 0)).map_err(|_| no_clock())?;
            Ok(Some(midnight.as_millisecond()))
        }
        _ => since(text, zone).map(Some),
    }
}

fn now() -> Result<i64, Failure> {
    Ok(jiff::Timestamp::try_from(clock::wall()).map_err(|_| no_clock())?.as_millisecond())
}

fn no_clock() -> Failure {
    Failure::new("the clock of this machine tells no time that can be counted with")
}

fn limits(args: &Args, zone: &TimeZone, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let wanted = Wanted { agents: args.agent.clone(), refresh: args.refresh };
    let told = tell(context, &wanted)?;
    if args.json {
        out.json(&told.rows)?;
    } else {
        print_limits(&told.rows, zone, now()?, out);
    }
    for line in told.warnings.iter().chain(&told.notes) {
        out.say(line);
    }
    Ok(u8::from(told.missing))
}

fn print_limits(limits: &[LimitRow], zone: &TimeZone, now: i64, out: &mut Out) {
    if limits.is_empty() {
        out.line("No limits are known.");
        return;
    }
    let millis = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    let short = |at: i64| agents::usage::stamp(at, zone).and_then(|text| Some(text.get(..16)?.replace('T', " ")));
    let span = |millis: i64| human::duration(Duration::from_millis(u64::try_from(millis).unwrap_or(0)));
    let mut rows = vec![["", "window", "used", "begins anew", "as of"].map(str::to_owned).to_vec()];
    for limit in limits {
        let name = agents::adapter::by_id(&limit.agent).map_or(limit.agent.as_str(), |adapter| adapter.about().name);
        let resets = limit.resets_at.as_deref().and_then(millis);
        let anew = match resets {
            None => "-".to_owned(),
            Some(at) if at <= now => format!("{} ago: what is used now is not known", span(now - at)),
            Some(at) => format!("in {}, {}", span(at - now), short(at).unwrap_or_default()),
        };
        let as_of = millis(&limit.as_of).and_then(short).unwrap_or_default();
        let was = if resets.is_some_and(|at| at <= now) { "was " } else { "" };
        let used = format!("{was}{:.1} %", limit.used_percent);
        rows.push(vec![name.to_owned(), clean(&limit.label), used, anew, as_of]);
    }
    for line in table(&rows) {
        out.line(&line);
    }
}

fn print(told: &UsageTable, view: View, history: &History, context: &Context, out: &mut Out) {
    if told.rows.is_empty() {
        out.line("Nothing was counted.");
        return;
    }
    // A column of nothing but unknowns tells nothing.
    let costs = told.rows.iter().map(|row| row.cost_usd).chain([told.total.cost_usd]).any(|cost| cost.is_some());
    let cells = |name: String, tokens: &agents::sessions::Tokens, cost: Option<f64>| {
        let counts = [tokens.total(), tokens.input, tokens.cache_read, tokens.cache_write, tokens.output];
        let mut row = vec![name];
        row.extend(counts.map(human::count));
        row.extend(costs.then(|| cost.map_or_else(|| "-".to_owned(), |cost| format!("$ {cost:.2}"))));
        row
    };
    let mut head = ["", "total", "input", "cache read", "cache write", "output"].map(str::to_owned).to_vec();
    head.extend(costs.then(|| "cost".to_owned()));
    let mut rows = vec![head];
    for row in &told.rows {
        let mut name = if view == View::Projects { short(context, row.key.as_ref()) } else { clean(&row.label) };
        if row.current == Some(true) {
            let until = row.ends.as_deref().and_then(|ends| ends.get(11..16)).unwrap_or_default();
            name.push_str(&format!("  now, until {until}"));
        }
        rows.push(cells(name, &row.tokens, row.cost_usd));
    }
    rows.push(cells("all".to_owned(), &told.total.tokens, told.total.cost_usd));
    for line in numbers(&rows, 0) {
        out.line(&line);
    }
    let prices = if costs { format!(", prices of {}", history.costs.prices_of()) } else { String::new() };
    out.line(&format!("days of {}{prices}", clean(&told.timezone)));
    let lines: u64 = told.skipped.iter().map(|skip| skip.lines).sum();
    if !told.skipped.is_empty() {
        out.say(&format!("{} lines could not be read; `lazyagents sessions index` says which", human::count(lines)));
    }
}

fn explain(args: &Args, zone: &TimeZone, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let Some(id) = &args.session else {
        return Err(Failure::usage("explain needs a session").hint("`lazyagents sessions` lists them"));
    };
    let mut history = History::load(context)?;
    let session = history.one(id)?.clone();
    let mut rows =
        vec![["time", "role", "model", "input", "cache read", "cache write", "output", ""].map(str::to_owned).to_vec()];
    history.library.explain(&session, &mut |path, response, model, fate| {
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
