//! Codex writes the limits that come with every response into its rollouts (agent-formats.md, Codex, "Rate limits"); the
//! newest ones there are what its own `/status` shows. Nobody is asked.

use std::collections::BTreeMap;

use memchr::memmem;

use super::Codex;
use crate::adapter::{Places, Surroundings};
use crate::limits::{Limit, LimitKind, Limits, percent};
use crate::records::{Record, lines};
use crate::sessions::{Kind, Reads, Source};

/// Rollouts that are looked at, the newest ones.
const FILES: usize = 20;
/// Bytes at the end of each; a whole turn has room in the second one.
const TAILS: [usize; 2] = [1 << 20, 16 << 20];
/// The mark of a record with limits.
const MARK: &[u8] = b"\"rate_limits\":{";
/// The limit that is not of one model.
const GENERAL: &str = "codex";
const DAY: i64 = 24 * 60;

impl Limits for Codex {
    fn recorded(&self, around: &Surroundings, places: &Places) -> Vec<Limit> {
        let mut rollouts: Vec<Source> = Vec::new();
        self.sources(around, places, &mut |source| rollouts.push(source));
        // One that is packed is an old one.
        rollouts.retain(|source| source.kind == Kind::Lines);
        rollouts.sort_by(|a, b| b.mtime.cmp(&a.mtime).then_with(|| b.path.cmp(&a.path)));
        let mut newest: Newest = BTreeMap::new();
        for rollout in rollouts.iter().take(FILES) {
            for tail in TAILS {
                let Ok(Some(bytes)) = sys::files::read_tail(&rollout.path, tail) else { break };
                if gather(&bytes, &mut newest) || bytes.len() < tail {
                    break;
                }
            }
        }
        newest.into_values().flat_map(|(_, limits)| limits).collect()
    }
}

/// The newest limits by their id, the general ones first.
type Newest = BTreeMap<(bool, String), (i64, Vec<Limit>)>;

/// Takes what the end of a rollout tells, if that is newer. True when it tells something.
fn gather(bytes: &[u8], newest: &mut Newest) -> bool {
    let mut told = false;
    for at in memmem::rfind_iter(bytes, MARK) {
        let from = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        let to = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        let Some((id, as_of, limits)) = record(&bytes[from..to]) else { continue };
        told = true;
        let known = newest.entry((id != GENERAL, id)).or_insert((i64::MIN, Vec::new()));
        if as_of > known.0 {
            *known = (as_of, limits);
        }
    }
    told
}

/// The id, time and windows of one record; `None` when it is another one, or tells of no window.
fn record(line: &[u8]) -> Option<(String, i64, Vec<Limit>)> {
    let text = lines::decode(line).ok()??;
    let record = Record::parse(&text).ok()?;
    let payload = record.object("payload").filter(|payload| payload.is("type", "token_count"))?;
    let rates = payload.object("rate_limits")?;
    let as_of = record.time("timestamp")?;
    let id = rates.text("limit_id").map_or_else(|| GENERAL.to_owned(), std::borrow::Cow::into_owned);
    let model =
        (id != GENERAL).then(|| rates.text("limit_name").map_or_else(|| id.clone(), std::borrow::Cow::into_owned));
    let windows = [("primary", LimitKind::Session), ("secondary", LimitKind::Weekly)];
    let limits = windows.into_iter().filter_map(|(name, usual)| {
        let window = rates.object(name)?;
        let minutes = window.known_count("window_minutes").and_then(|count| i64::try_from(count).ok());
        let kind = match minutes
            .map_or(usual, |minutes| if minutes <= DAY { LimitKind::Session } else { LimitKind::Weekly })
        {
            LimitKind::Weekly if model.is_some() => LimitKind::WeeklyModel,
            kind => kind,
        };
        let span =
            minutes.map_or_else(|| if kind == LimitKind::Session { "session" } else { "weekly" }.to_owned(), span);
        Some(Limit {
            kind,
            label: model.as_ref().map_or_else(|| span.clone(), |model| format!("{model}, {span}")),
            used_percent: window.number("used_percent").and_then(percent)?,
            resets_at: resets(&window, as_of),
            as_of,
        })
    });
    let limits: Vec<_> = limits.collect();
    (!limits.is_empty()).then_some((id, as_of, limits))
}

/// Seconds since 1970, or in older versions from the record on.
fn resets(window: &Record<'_>, as_of: i64) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)]
    let seconds = |key: &str| window.number(key).filter(|count| (0.0..1e15).contains(count)).map(|count| count as i64);
    let at = match seconds("resets_at") {
        Some(at) => at.checked_mul(1000),
        None => seconds("resets_in_seconds")?.checked_mul(1000)?.checked_add(as_of),
    };
    // Beyond that it is no time.
    at.filter(|at| *at < 7_258_118_400_000)
}

/// A window's length for people.
fn span(minutes: i64) -> String {
    match minutes {
        minutes if minutes % DAY == 0 && minutes > 0 => format!("{} d", minutes / DAY),
        minutes if minutes % 60 == 0 && minutes > 0 => format!("{} h", minutes / 60),
        minutes => format!("{minutes} min"),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
mod tests {
    use super::*;
    use crate::adapter::by_id;

    fn line(second: u8, rates: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-11-30T20:12:{second:02}.000Z\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"token_count\",\"info\":null,\"rate_limits\":{rates}}}}}\n"
        )
    }

    fn shown(newest: &Newest) -> Vec<String> {
        let limits = newest.values().flat_map(|(_, limits)| limits);
        limits.map(|l| format!("{:?} {} {} {:?}", l.kind, l.label, l.used_percent, l.resets_at)).collect()
    }

    #[test]
    fn the_newest_record_counts_and_a_models_own_limits_are_told_apart() {
        let general = r#"{"limit_id":"codex","limit_name":null,"primary":{"used_percent":13.5,"window_minutes":300,"resets_at":1796078563},"secondary":{"used_percent":5.0,"window_minutes":10080,"resets_at":1796469563}}"#;
        let model = r#"{"limit_id":"codex_other","limit_name":"GPT-5.3-Codex-Spark","primary":{"used_percent":1,"window_minutes":300},"secondary":{"used_percent":2,"window_minutes":10080}}"#;
        let later = general.replace("13.5", "17.5");
        let text = [line(1, general), line(3, &later), line(2, general), line(1, model), line(4, "null")].concat();
        let mut newest = Newest::new();
        assert!(gather(text.as_bytes(), &mut newest));
        assert_eq!(
            shown(&newest),
            [
                "Session 5 h 17.5 Some(1796078563000)",
                "Weekly 7 d 5 Some(1796469563000)",
                "Session GPT-5.3-Codex-Spark, 5 h 1 None",
                "WeeklyModel GPT-5.3-Codex-Spark, 7 d 2 None",
            ]
        );
    }

    #[test]
    fn older_records_and_broken_ones() {
        let old = r#"{"primary":{"used_percent":4,"window_minutes":299,"resets_in_seconds":60},"secondary":{"used_percent":-1}}"#;
        let mut newest = Newest::new();
        gather(line(5, old).as_bytes(), &mut newest);
        assert_eq!(shown(&newest), ["Session 299 min 4 Some(1796069585000)"]);
        for text in [
            &line(1, "{}"),
            "\"rate_limits\":{",
            "{\"rate_limits\":{\"primary\":1}}\n",
            &line(1, r#"{"primary":{"used_percent":"x"}}"#),
            // What somebody said is no record.
            r#"{"timestamp":"2026-11-30T20:12:01Z","type":"event_msg","payload":{"type":"agent_message","rate_limits":{"primary":{"used_percent":1}}}}"#,
        ] {
            assert!(!gather(text.as_bytes(), &mut Newest::new()), "{text}");
        }
    }

    #[test]
    fn the_newest_rollouts_of_a_home_are_read() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".codex/sessions/2026/11/30");
        std::fs::create_dir_all(&folder).unwrap();
        let mut env = sys::Env::empty();
        env.set("HOME", home.path());
        let around = Surroundings::of(&env).unwrap();
        let adapter = by_id("codex").unwrap();
        let recorded = || adapter.limits().unwrap().recorded(&around, &adapter.places(&around));
        assert_eq!(recorded(), []);
        let rates = |used: u8| format!(r#"{{"primary":{{"used_percent":{used},"window_minutes":300}}}}"#);
        // A long text behind the record, and a newer record in the file that was written before.
        let long = format!("{{\"x\":\"{}\"}}\n", "y".repeat(2 << 20));
        std::fs::write(folder.join("rollout-a.jsonl"), line(9, &rates(9))).unwrap();
        std::fs::write(folder.join("rollout-b.jsonl"), line(8, &rates(8)) + &long).unwrap();
        assert_eq!(recorded().iter().map(|limit| limit.used_percent).collect::<Vec<_>>(), [9.0]);
        std::fs::remove_file(folder.join("rollout-a.jsonl")).unwrap();
        assert_eq!(recorded().iter().map(|limit| limit.used_percent).collect::<Vec<_>>(), [8.0]);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_can_break_it(before: Vec<u8>, rates in "[{}\\[\\]\":,a-z_0-9.\\-]{0,80}", after: Vec<u8>) {
            let bytes = [&before[..], line(1, &format!("{{{rates}")).as_bytes(), &after].concat();
            let mut newest = Newest::new();
            gather(&bytes, &mut newest);
            proptest::prop_assert!(newest.values().flat_map(|(_, limits)| limits).all(|limit| limit.used_percent >= 0.0));
        }
    }
}
