//! Tables of tokens: by agent, day, folder, model and block of five hours, in the person's zone. It adds up what the index
//! counted and reads no file. The `cli` and the tabs of lazyagents call it.

mod costs;
mod prices;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub use costs::Costs;
pub use prices::{Model, Prices, Rates};

use crate::adapter::by_id;
use crate::sessions::rows::{UsageRow, UsageSum, UsageTable};
use crate::sessions::{Session, Slot, Snapshot, Tokens};

/// Milliseconds of a block (lazyagents.md, Usage: "current 5-hour block").
const BLOCK: i64 = 5 * 60 * 60 * 1000;
const HOUR: i64 = 60 * 60 * 1000;

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One for each agent.
    Agents,
    /// One for each day.
    Daily,
    /// One for each folder that sessions were started in.
    Projects,
    /// One for each model.
    Models,
    /// One for each agent's block of five hours, which begins with the full hour (UTC) of its first response; a pause of
    /// five hours ends it as well. Every agent has blocks of its own: their limits know nothing of each other.
    Blocks,
}

/// What is to be counted.
#[derive(Clone, Debug)]
pub struct Query {
    /// The rows.
    pub view: View,
    /// Only these agents; all when empty.
    pub agents: Vec<String>,
    /// The first instant, milliseconds since 1970. Responses without a time are in no span.
    pub since: Option<i64>,
    /// The first instant that is not counted any more.
    pub until: Option<i64>,
    /// Whose days these are.
    pub zone: TimeZone,
    /// The largest rows, or the latest days; the sum is that of all.
    pub limit: Option<usize>,
    /// When that is asked, milliseconds since 1970: the block that is not over yet is marked.
    pub now: i64,
}

/// The table.
pub fn table(snapshot: &Snapshot, query: &Query, costs: &Costs) -> UsageTable {
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    let mut total = Sum::default();
    let mut all: Vec<(&Session, &Slot)> = Vec::new();
    for session in &snapshot.sessions {
        if query.agents.is_empty() || query.agents.iter().any(|agent| agent == session.agent) {
            all.extend(session.slots.iter().map(|slot| (session, slot)));
        }
    }
    // Of everything: a block begins where it began, whatever is asked for.
    let blocks = if query.view == View::Blocks { blocks(&all) } else { BTreeMap::new() };
    for (session, slot) in all.iter().filter(|(_, slot)| within(slot, query)) {
        let cost = costs.of_slot(session, slot);
        total.add(slot, cost);
        sums.entry(key(session, slot, query, &blocks)).or_default().add(slot, cost);
    }
    let mut rows: Vec<UsageRow> = sums.into_iter().map(|(key, sum)| row(key, &sum, query)).collect();
    if !matches!(query.view, View::Daily | View::Blocks) {
        rows.sort_by(|a, b| b.tokens.total().cmp(&a.tokens.total()).then_with(|| a.key.cmp(&b.key)));
    }
    if let Some(limit) = query.limit {
        match query.view {
            View::Daily | View::Blocks => drop(rows.drain(..rows.len().saturating_sub(limit))),
            _ => rows.truncate(limit),
        }
    }
    UsageTable {
        since: query.since.and_then(|at| stamp(at, &query.zone)),
        until: query.until.and_then(|at| stamp(at, &query.zone)),
        timezone: query.zone.iana_name().unwrap_or("UTC").to_owned(),
        rows,
        total: UsageSum { tokens: total.tokens, cost_usd: total.dollars() },
        skipped: snapshot.skipped.clone(),
    }
}

/// Tokens, and what they cost as far as all of it is known.
struct Sum {
    tokens: Tokens,
    cost: Option<u64>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { tokens: Tokens::default(), cost: Some(0) }
    }
}

impl Sum {
    fn add(&mut self, slot: &Slot, cost: Option<u64>) {
        self.tokens.add(&slot.tokens);
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    }

    fn dollars(&self) -> Option<f64> {
        if self.tokens.is_empty() { None } else { self.cost.map(dollars) }
    }
}

/// Millionths of a dollar as dollars.
#[allow(clippy::cast_precision_loss)]
pub fn dollars(millionths: u64) -> f64 {
    millionths as f64 / 1e6
}

fn within(slot: &Slot, query: &Query) -> bool {
    match (slot.start, query.since, query.until) {
        (_, None, None) => true,
        (None, ..) => false,
        (Some(_), since, until) => {
            since.is_none_or(|since| slot.first >= since) && until.is_none_or(|until| slot.first < until)
        }
    }
}

/// What a row is of: a block's start (milliseconds; `None` without a time) and its agent, or the text of any other view.
type Key = (Option<i64>, String);

fn key(session: &Session, slot: &Slot, query: &Query, blocks: &Blocks) -> Key {
    let unknown = || "unknown".to_owned();
    let text = match query.view {
        View::Agents => session.agent.to_owned(),
        View::Projects => session.cwd.clone().unwrap_or_else(unknown),
        View::Models => slot.model.and_then(|model| session.models.get(model).cloned()).unwrap_or_else(unknown),
        View::Daily => slot.start.and_then(|start| day(start, &query.zone)).unwrap_or_else(unknown),
        View::Blocks => {
            let starts = blocks.get(session.agent).map(Vec::as_slice).unwrap_or_default();
            let at = starts.partition_point(|start| *start <= slot.first).checked_sub(1);
            let start = at.filter(|_| slot.start.is_some()).and_then(|at| starts.get(at)).copied();
            return (start, session.agent.to_owned());
        }
    };
    (None, text)
}

fn row((start, key): Key, sum: &Sum, query: &Query) -> UsageRow {
    let name = |id: &str| by_id(id).map_or_else(|| id.to_owned(), |adapter| adapter.about().name.to_owned());
    let mut row = UsageRow {
        key: key.clone(),
        label: key,
        tokens: sum.tokens,
        cost_usd: sum.dollars(),
        agent: None,
        ends: None,
        current: None,
    };
    match query.view {
        View::Agents => row.label = name(&row.key),
        View::Blocks => {
            let agent = std::mem::take(&mut row.key);
            let end = start.map(|start| start.saturating_add(BLOCK));
            row.key = start.and_then(|start| stamp(start, &query.zone)).unwrap_or_else(|| "unknown".to_owned());
            row.label = format!("{} {}", row.key, name(&agent));
            row.current = Some(start.zip(end).is_some_and(|(start, end)| (start..end).contains(&query.now)));
            row.ends = end.and_then(|end| stamp(end, &query.zone));
            row.agent = Some(agent);
        }
        View::Daily | View::Projects | View::Models => {}
    }
    row
}

/// Where the blocks of each agent begin, in order.
type Blocks = BTreeMap<&'static str, Vec<i64>>;

fn blocks(counted: &[(&Session, &Slot)]) -> Blocks {
    let mut times: BTreeMap<&'static str, Vec<(i64, i64)>> = BTreeMap::new();
    for (session, slot) in counted.iter().filter(|(_, slot)| slot.start.is_some()) {
        times.entry(session.agent).or_default().push((slot.first, slot.last));
    }
    times.into_iter().map(|(agent, times)| (agent, starts(times))).collect()
}

fn starts(mut times: Vec<(i64, i64)>) -> Vec<i64> {
    times.sort_unstable();
    let mut starts: Vec<i64> = Vec::new();
    let mut until = i64::MIN;
    let mut latest = i64::MIN;
    for (first, last) in times {
        if first >= until || first.saturating_sub(latest) >= BLOCK {
            let start = first.div_euclid(HOUR) * HOUR;
            starts.push(start);
            until = start.saturating_add(BLOCK);
        }
        latest = latest.max(last);
    }
    starts
}

/// The day of an instant in a zone, `YYYY-MM-DD`.
pub fn day(at: i64, zone: &TimeZone) -> Option<String> {
    let at = Timestamp::from_millisecond(at).ok()?;
    Some(at.to_zoned_datetime(zone.clone()).strftime("%F").to_string())
}

/// An instant in a zone, RFC 3339 with its offset.
pub fn stamp(at: i64, zone: &TimeZone) -> Option<String> {
    let at = Timestamp::from_millisecond(at).ok()?;
    Some(at.to_zoned_datetime(zone.clone()).strftime("%FT%T%:z").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::Role;

    fn slot(start: Option<&str>, output: u64) -> Slot {
        let at = start.map(|text| text.parse::<Timestamp>().unwrap().as_millisecond());
        let tokens = Tokens { output, requests: 1, ..Tokens::default() };
        let first = at.unwrap_or(0);
        Slot { role: Role::Main, model: Some(0), start: at, first, last: first, tokens, ..Slot::default() }
    }

    fn snapshot() -> Snapshot {
        let slots = vec![
            slot(Some("2026-11-30T22:45:00Z"), 1),
            slot(Some("2026-11-30T23:15:00Z"), 2),
            slot(Some("2026-12-01T04:15:00Z"), 4),
            slot(None, 8),
        ];
        let session =
            Session { agent: "codex", cwd: Some("/w".into()), models: vec!["m".into()], slots, ..Session::default() };
        Snapshot { sessions: vec![session], ..Snapshot::default() }
    }

    fn rows(view: View, zone: &str, since: Option<&str>) -> Vec<(String, u64)> {
        let since = since.map(|text| text.parse::<Timestamp>().unwrap().as_millisecond());
        let zone = TimeZone::get(zone).unwrap();
        let query = Query { view, agents: vec![], since, until: None, zone, limit: None, now: 0 };
        table(&snapshot(), &query, &Costs::default()).rows.into_iter().map(|row| (row.key, row.tokens.output)).collect()
    }

    #[test]
    fn days_are_those_of_the_zone_and_what_has_no_time_is_told_apart() {
        let utc = [("2026-11-30".into(), 3), ("2026-12-01".into(), 4), ("unknown".into(), 8)];
        assert_eq!(rows(View::Daily, "UTC", None), utc);
        let berlin = [("2026-11-30".into(), 1), ("2026-12-01".into(), 6), ("unknown".into(), 8)];
        assert_eq!(rows(View::Daily, "Europe/Berlin", None), berlin);
        assert_eq!(rows(View::Agents, "UTC", Some("2026-12-01T00:00:00Z")), [("codex".into(), 4)]);
        assert_eq!(rows(View::Models, "UTC", None), [("m".into(), 15)]);
        assert_eq!(rows(View::Projects, "UTC", None), [("/w".into(), 15)]);
    }

    #[test]
    fn a_block_begins_with_its_first_hour_and_ends_after_five() {
        let blocks = rows(View::Blocks, "UTC", Some("2026-01-01T00:00:00Z"));
        assert_eq!(blocks, [("2026-11-30T22:00:00+00:00".into(), 3), ("2026-12-01T04:00:00+00:00".into(), 4)]);
    }

    #[test]
    fn agents_have_blocks_of_their_own_and_the_one_that_is_not_over_is_marked() {
        let mut snapshot = snapshot();
        let slots = vec![slot(Some("2026-11-30T21:30:00Z"), 16), slot(Some("2026-12-01T02:15:00Z"), 32)];
        snapshot.sessions.push(Session { agent: "claude-code", slots, ..Session::default() });
        let table = |now: &str, agents: &[&str]| {
            let now = now.parse::<Timestamp>().unwrap().as_millisecond();
            let agents = agents.iter().map(|agent| (*agent).to_owned()).collect();
            let query =
                Query { view: View::Blocks, agents, since: None, until: None, zone: TimeZone::UTC, limit: None, now };
            let rows = table(&snapshot, &query, &Costs::default()).rows;
            let short = |row: &UsageRow| format!("{} {} {}", row.key, row.agent.as_deref().unwrap(), row.tokens.output);
            let current = rows.iter().filter(|row| row.current == Some(true)).map(short).collect::<Vec<_>>();
            (rows.iter().map(short).collect::<Vec<_>>(), current)
        };
        let claude = ["2026-11-30T21:00:00+00:00 claude-code 16", "2026-12-01T02:00:00+00:00 claude-code 32"];
        let codex = ["2026-11-30T22:00:00+00:00 codex 3", "2026-12-01T04:00:00+00:00 codex 4"];
        let (rows, current) = table("2026-12-01T06:59:59Z", &[]);
        assert_eq!(rows, ["unknown codex 8", claude[0], codex[0], claude[1], codex[1]]);
        assert_eq!(current, [claude[1], codex[1]]);
        assert_eq!(table("2026-12-01T07:00:00Z", &["claude-code"]), (claude.map(str::to_owned).to_vec(), vec![]));
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_none() {
        let mut snapshot = snapshot();
        let costs = Costs::of_agents(Prices::default(), ["codex"]);
        let query = Query {
            view: View::Daily,
            agents: vec![],
            since: None,
            until: None,
            zone: TimeZone::UTC,
            limit: None,
            now: 0,
        };
        let sums = |snapshot: &Snapshot| {
            let table = table(snapshot, &query, &costs);
            let rows = table.rows.iter().map(|row| row.cost_usd).collect::<Vec<_>>();
            (rows, table.total.cost_usd)
        };
        assert_eq!(sums(&snapshot), (vec![None; 3], None));
        snapshot.sessions[0].models = vec!["gpt-5".into(), "nobody-knows".into()];
        // 10 dollars per million tokens.
        assert_eq!(sums(&snapshot), (vec![Some(3e-5), Some(4e-5), None], None), "what has no time has no price");
        snapshot.sessions[0].slots.truncate(3);
        assert_eq!(sums(&snapshot), (vec![Some(3e-5), Some(4e-5)], Some(7e-5)));
        snapshot.sessions[0].slots[2].model = Some(1);
        assert_eq!(sums(&snapshot), (vec![Some(3e-5), None], None));
    }
}
