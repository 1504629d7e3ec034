//! What the Usage tab counts: a table for a period that ends now, and the tokens of each of its days. It reads no file.

use agents::sessions::Snapshot;
use agents::usage::{Costs, Query, View, table};
use jiff::tz::TimeZone;
use sys::clock;

use crate::app::usage::{Counted, Period};

/// The first instant of a period in this zone, milliseconds since 1970; `None` for everything.
pub fn begin(period: Period, zone: &TimeZone) -> Option<i64> {
    let now = jiff::Timestamp::try_from(clock::wall()).ok()?;
    let today = now.to_zoned_datetime(zone.clone()).date();
    let first = today.checked_sub(jiff::Span::new().days(period.days()? - 1)).ok()?;
    Some(zone.to_timestamp(first.at(0, 0, 0, 0)).ok()?.as_millisecond())
}

/// Counts.
pub fn count(
    snapshot: &Snapshot,
    view: View,
    agent: Option<&'static str>,
    period: Period,
    zone: &TimeZone,
    costs: &Costs,
) -> Counted {
    let now = jiff::Timestamp::try_from(clock::wall()).map_or(0, jiff::Timestamp::as_millisecond);
    let query = |view| Query {
        view,
        agents: agent.map(str::to_owned).into_iter().collect(),
        since: begin(period, zone),
        until: None,
        zone: zone.clone(),
        limit: None,
        now,
    };
    let mut counted = table(snapshot, &query(view), costs);
    let daily = if view == View::Daily { counted.clone() } else { table(snapshot, &query(View::Daily), costs) };
    if matches!(view, View::Daily | View::Blocks) {
        counted.rows.reverse();
    }
    let days = daily.rows.into_iter().filter(|row| row.key.parse::<jiff::civil::Date>().is_ok());
    Counted { days: filled(days.map(|row| (row.key, row.tokens.total())).collect()), table: counted }
}

/// The same with the days between on which nothing was counted; at most ten years of them.
fn filled(days: Vec<(String, u64)>) -> Vec<(String, u64)> {
    let date = |day: &(String, u64)| day.0.parse::<jiff::civil::Date>().ok();
    let (Some(first), Some(last)) = (days.first().and_then(date), days.last().and_then(date)) else { return days };
    let counts: std::collections::HashMap<&str, u64> = days.iter().map(|(day, count)| (day.as_str(), *count)).collect();
    let mut all = Vec::new();
    let mut day = first;
    while day <= last && all.len() < 3660 {
        let key = day.to_string();
        let count = counts.get(key.as_str()).copied().unwrap_or(0);
        all.push((key, count));
        match day.tomorrow() {
            Ok(next) => day = next,
            Err(_) => break,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_anything_are_there() {
        let days = filled(vec![("2026-02-27".into(), 3), ("2026-03-02".into(), 5)]);
        let expected = [("2026-02-27", 3), ("2026-02-28", 0), ("2026-03-01", 0), ("2026-03-02", 5)];
        assert_eq!(days, expected.map(|(day, count)| (day.to_owned(), count)));
        assert_eq!(filled(Vec::new()), Vec::new());
    }

    #[test]
    fn a_week_begins_six_days_ago_at_midnight_in_the_persons_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(5));
        let begin = jiff::Timestamp::from_millisecond(begin(Period::Week, &zone).unwrap()).unwrap();
        let begin = begin.to_zoned_datetime(zone.clone());
        let today = jiff::Timestamp::try_from(clock::wall()).unwrap().to_zoned_datetime(zone).date();
        assert_eq!((begin.hour(), today.since(begin.date()).unwrap().get_days()), (0, 6));
    }
}
