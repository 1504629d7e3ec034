//! Claude Code keeps no limits on disk; its own `/usage` asks Anthropic for them with what it was signed in with, and so do
//! we, when we are told to. The credentials file is read in [`Limits::question`] and nowhere else; the token in it is used
//! as it is, never renewed: that would sign the person out.

use serde_json::{Map, Value};

use super::{ClaudeCode, account};
use crate::account::settings;
use crate::adapter::{Places, Surroundings};
use crate::limits::{Limit, LimitKind, Limits, Question, Secret, on_this_machine, percent};
use crate::records::instant;

/// What is asked, below the base address.
const WHERE: &str = "/api/oauth/usage";
/// The version of signing in that the service wants to be named.
const BETA: &str = "oauth-2025-04-20";
/// Windows of an answer that are looked at.
const WINDOWS: usize = 32;

impl Limits for ClaudeCode {
    fn asks(&self) -> bool {
        true
    }

    fn question(&self, around: &Surroundings, places: &Places, now: i64) -> Result<Option<Question>, String> {
        let own = settings(&places.config_dir.join("settings.json")).unwrap_or_default();
        let base = match account::base_url(around, &own) {
            None => account::HOME.to_owned(),
            Some(url) if on_this_machine(&url) => url.trim_end_matches('/').to_owned(),
            Some(_) => {
                return Err(
                    "it talks to another endpoint here (ANTHROPIC_BASE_URL), which is not told who you are".into()
                );
            }
        };
        let Some(file) = settings(&places.config_dir.join(".credentials.json")) else { return Ok(None) };
        let Some(signed_in) = file.get("claudeAiOauth").and_then(Value::as_object) else { return Ok(None) };
        let token = signed_in.get("accessToken").and_then(Value::as_str).and_then(Secret::new);
        let token = token.ok_or("what it was signed in with is not understood")?;
        if signed_in.get("expiresAt").and_then(Value::as_i64).is_some_and(|expires| expires <= now) {
            return Err(
                "what it was signed in with is no longer valid; it renews that itself when it is started".into()
            );
        }
        let headers = vec![("anthropic-beta", BETA.to_owned())];
        Ok(Some(Question { url: format!("{base}{WHERE}"), headers, token }))
    }

    fn answer(&self, body: &[u8], now: i64) -> Result<Vec<Limit>, &'static str> {
        let Ok(Value::Object(answer)) = serde_json::from_slice(body) else {
            return Err("an answer that is no JSON object");
        };
        let mut limits = flat(&answer, now);
        listed(&answer, now, &mut limits);
        if limits.is_empty() {
            return Err("an answer without limits");
        }
        limits.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.label.cmp(&b.label)));
        Ok(limits)
    }
}

/// `five_hour`, `seven_day`, and `seven_day_<model>`.
fn flat(answer: &Map<String, Value>, now: i64) -> Vec<Limit> {
    let window = |(key, value): (&String, &Value)| {
        let (kind, label) = match key.as_str() {
            "five_hour" => (LimitKind::Session, "5 h".to_owned()),
            "seven_day" => (LimitKind::Weekly, "7 d".to_owned()),
            key => (LimitKind::WeeklyModel, model(&capital(key.strip_prefix("seven_day_")?))),
        };
        limit(kind, label, value.get("utilization")?, value.get("resets_at"), now)
    };
    answer.iter().filter_map(window).take(WINDOWS).collect()
}

/// `limits`, which tells of models that have no name of their own above; what is known already stays.
fn listed(answer: &Map<String, Value>, now: i64, limits: &mut Vec<Limit>) {
    let list = answer.get("limits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for entry in list.iter().take(WINDOWS) {
        let (kind, label) = match entry.get("kind").and_then(Value::as_str) {
            Some("session") => (LimitKind::Session, "5 h".to_owned()),
            Some("weekly_all") => (LimitKind::Weekly, "7 d".to_owned()),
            Some("weekly_scoped") => {
                let scope = entry.get("scope").and_then(|scope| scope.get("model"));
                let name = scope.and_then(|model| {
                    model.get("display_name").and_then(Value::as_str).or_else(|| model.get("id")?.as_str())
                });
                let Some(name) = name else { continue };
                (LimitKind::WeeklyModel, model(&capital(name)))
            }
            _ => continue,
        };
        let Some(percent) = entry.get("percent") else { continue };
        let same = |known: &Limit| known.kind == kind && known.label.eq_ignore_ascii_case(&label);
        if !limits.iter().any(same) {
            limits.extend(limit(kind, label, percent, entry.get("resets_at"), now));
        }
    }
}

fn model(name: &str) -> String {
    format!("{name}, 7 d")
}

fn limit(kind: LimitKind, label: String, used: &Value, resets: Option<&Value>, now: i64) -> Option<Limit> {
    let used_percent = used.as_f64().and_then(percent)?;
    Some(Limit { kind, label, used_percent, resets_at: resets.and_then(Value::as_str).and_then(instant), as_of: now })
}

/// A name as people write it, cut where none is that long.
fn capital(name: &str) -> String {
    let name = name.replace('_', " ");
    let mut letters = name.chars().take(60);
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
mod tests {
    use super::*;
    use crate::adapter::by_id;

    fn shown(body: &str) -> Vec<String> {
        let limits = ClaudeCode.answer(body.as_bytes(), 7).unwrap();
        limits
            .iter()
            .map(|l| format!("{:?} {} {} {:?} {}", l.kind, l.label, l.used_percent, l.resets_at, l.as_of))
            .collect()
    }

    #[test]
    fn windows_by_their_own_keys() {
        let body = r#"{"five_hour":{"utilization":37.0,"resets_at":"2026-11-30T20:12:45.000000+00:00"},
            "seven_day":{"utilization":26,"resets_at":null},"seven_day_opus":null,
            "seven_day_sonnet":{"utilization":1.5,"resets_at":"soon"},"seven_day_breakdown":{"rows":[]},
            "extra_usage":{"is_enabled":false,"utilization":null},"iguana_necktie":null}"#;
        assert_eq!(
            shown(body),
            ["Session 5 h 37 Some(1796069565000) 7", "Weekly 7 d 26 None 7", "WeeklyModel Sonnet, 7 d 1.5 None 7",]
        );
    }

    #[test]
    fn the_list_adds_what_has_no_key() {
        let body = r#"{"five_hour":{"utilization":42.5},"seven_day":null,"seven_day_opus":{"utilization":33},"limits":[
            {"kind":"session","percent":1},{"kind":"weekly_all","percent":71,"scope":null},
            {"kind":"weekly_scoped","percent":2,"scope":{"model":{"id":null,"display_name":"opus"}}},
            {"kind":"weekly_scoped","percent":57,"scope":{"model":{"display_name":"Fable"}}},
            {"kind":"weekly_scoped","percent":null,"scope":{"model":{"display_name":"Ghost"}}},
            {"kind":"of_tomorrow","percent":3},7]}"#;
        assert_eq!(
            shown(body),
            [
                "Session 5 h 42.5 None 7",
                "Weekly 7 d 71 None 7",
                "WeeklyModel Fable, 7 d 57 None 7",
                "WeeklyModel Opus, 7 d 33 None 7",
            ]
        );
    }

    #[test]
    fn what_is_no_answer_is_said() {
        for body in [
            "",
            "{}",
            "[]",
            "null",
            "<html>",
            r#"{"five_hour":{"utilization":"9"}}"#,
            r#"{"five_hour":{"utilization":-1}}"#,
        ] {
            assert!(ClaudeCode.answer(body.as_bytes(), 7).is_err(), "{body}");
        }
    }

    fn asked(files: &[(&str, &str)], base: Option<&str>) -> Result<Option<Question>, String> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".claude")).unwrap();
        for (name, text) in files {
            std::fs::write(home.path().join(".claude").join(name), text).unwrap();
        }
        let mut env = sys::Env::empty();
        env.set("HOME", home.path());
        if let Some(base) = base {
            env.set("ANTHROPIC_BASE_URL", base);
        }
        let around = Surroundings::of(&env).unwrap();
        let adapter = by_id("claude-code").unwrap();
        adapter.limits().unwrap().question(&around, &adapter.places(&around), 1_000)
    }

    #[test]
    fn the_question_goes_to_its_maker_or_to_this_machine_and_never_with_an_old_token() {
        let good =
            (".credentials.json", r#"{"claudeAiOauth":{"accessToken":"tok","refreshToken":"r","expiresAt":1001}}"#);
        let question = asked(&[good], None).unwrap().unwrap();
        assert_eq!(question.url, "https://api.anthropic.com/api/oauth/usage");
        assert_eq!(question.token.reveal(), "tok");
        let stub = asked(&[good], Some("http://127.0.0.1:9/")).unwrap().unwrap();
        assert_eq!(stub.url, "http://127.0.0.1:9/api/oauth/usage");
        assert!(asked(&[good], Some("https://gateway.example")).unwrap_err().contains("ANTHROPIC_BASE_URL"));
        assert!(asked(&[good], Some("http://127.0.0.1.evil.example")).is_err());
        assert!(asked(&[(good.0, &good.1.replace("1001", "1000"))], None).unwrap_err().contains("no longer valid"));
        assert!(asked(&[(good.0, &good.1.replace("tok", "to\\nk"))], None).unwrap_err().contains("not understood"));
        for none in ["garbage", "{}", r#"{"claudeAiOauth":null}"#] {
            assert!(asked(&[(good.0, none)], None).unwrap().is_none());
        }
        assert!(asked(&[], None).unwrap().is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_answer_is_a_danger(bytes: Vec<u8>, text in "[{}\\[\\]\":,a-z_0-9.\\-]{0,120}") {
            for body in [&bytes[..], text.as_bytes(), format!("{{\"limits\":[{{\"kind\":\"weekly_scoped\",{text}}}]}}").as_bytes()] {
                if let Ok(limits) = ClaudeCode.answer(body, 7) {
                    proptest::prop_assert!(limits.iter().all(|limit| limit.used_percent >= 0.0) && limits.len() <= 2 * WINDOWS);
                }
            }
        }
    }
}
