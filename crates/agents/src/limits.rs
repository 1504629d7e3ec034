//! How much of an account's limits is used up: what an agent's files tell, and the one question that its own service has to
//! be asked. Nothing here asks: it makes the question and reads the answer; who asks is `lazyagents::limits`.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::adapter::{Places, Surroundings};

/// The length of a window that a limit counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Some hours.
    Session,
    /// A week, or what a plan has in its place.
    Weekly,
    /// The same, of one model alone.
    WeeklyModel,
}

/// One window as it was at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The window.
    pub kind: LimitKind,
    /// The same for people, with the model where it is of one alone. From outside: cleaned by whoever shows it.
    pub label: String,
    /// How much is used up, percent; finite and not below 0, but maybe above 100.
    pub used_percent: f64,
    /// When it begins anew, milliseconds since 1970.
    pub resets_at: Option<i64>,
    /// When that was so, milliseconds since 1970.
    pub as_of: i64,
}

/// One row of `usage limits --json` (json.md).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LimitRow {
    /// The agent's id.
    pub agent: String,
    /// The window.
    pub kind: LimitKind,
    /// The same for people.
    pub label: String,
    /// How much was used up, percent.
    pub used_percent: f64,
    /// When the window begins anew, RFC 3339; null when not told.
    pub resets_at: Option<String>,
    /// When that was so, RFC 3339.
    pub as_of: String,
    /// It may be so no more: the window has begun anew since, or newer figures would have to be asked for, or were in vain.
    pub stale: bool,
}

impl Limit {
    /// The window that was told of has ended; what is used of the next one is not known.
    pub fn over(&self, now: i64) -> bool {
        self.resets_at.is_some_and(|resets| resets <= now)
    }

    /// The row; `old` when newer figures were asked for in vain, `now` in milliseconds since 1970.
    pub fn row(&self, agent: &str, old: bool, now: i64) -> LimitRow {
        let stamp = |at: i64| Timestamp::from_millisecond(at).ok().map(|at| at.strftime("%FT%TZ").to_string());
        LimitRow {
            agent: agent.to_owned(),
            kind: self.kind,
            label: self.label.clone(),
            used_percent: self.used_percent,
            resets_at: self.resets_at.and_then(stamp),
            as_of: stamp(self.as_of).unwrap_or_default(),
            stale: old || self.over(now),
        }
    }
}

/// What an adapter knows of its agent's limits.
pub trait Limits: Sync {
    /// What its files tell, the newest of each window; nothing is asked of anybody.
    fn recorded(&self, around: &Surroundings, places: &Places) -> Vec<Limit> {
        let _ = (around, places);
        Vec::new()
    }

    /// The agent's own service knows them, and nothing on this machine does.
    fn asks(&self) -> bool {
        false
    }

    /// What its service is to be asked, `None` when it is not signed in so that there are limits. `now` in milliseconds
    /// since 1970. Only this reads the agent's credentials, and only when it is called.
    ///
    /// # Errors
    /// In words for people, when it must not be asked like that. Never with a part of the secret.
    fn question(&self, around: &Surroundings, places: &Places, now: i64) -> Result<Option<Question>, String> {
        let _ = (around, places, now);
        Ok(None)
    }

    /// Understands the service's answer, which came at `now`.
    ///
    /// # Errors
    /// In words for people, when there are no limits in it.
    fn answer(&self, body: &[u8], now: i64) -> Result<Vec<Limit>, &'static str> {
        let _ = (body, now);
        Err("an answer that nobody asked for")
    }
}

/// A GET to an agent's own service.
#[derive(Debug)]
pub struct Question {
    /// The whole address, without anything secret.
    pub url: String,
    /// Headers, without anything secret.
    pub headers: Vec<(&'static str, String)>,
    /// The bearer token.
    pub token: Secret,
}

/// A text that is never shown, not even by mistake: it has no `Display`, and its `Debug` says nothing.
pub struct Secret(String);

impl Secret {
    /// Keeps `text`; `None` when it could not stand in a header: empty, longer than 16 KiB, or not visible ASCII.
    pub fn new(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= 16 << 10 && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    /// The text, for the header that it is for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// True for an address on this machine: `http://127.0.0.1:...`, `localhost`, `[::1]`, and the same with https. There a
/// secret may go without encryption, because nobody else hears it.
pub fn on_this_machine(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

/// A number of percent that can be shown.
pub(crate) fn percent(number: f64) -> Option<f64> {
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_and_fits_into_a_header() {
        let secret = Secret::new("tok-en").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret");
        let question = Question { url: "u".into(), headers: vec![], token: secret };
        assert!(!format!("{question:?}").contains("tok-en"));
        for bad in ["", "a b", "a\nX-Evil: 1", "é", &"x".repeat(20_000)] {
            assert!(Secret::new(bad).is_none());
        }
    }

    #[test]
    fn only_this_machine_is_this_machine() {
        for url in ["http://127.0.0.1:8080", "http://localhost/x", "https://[::1]:1/", "http://[::1]"] {
            assert!(on_this_machine(url), "{url}");
        }
        for url in [
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example/",
            "http://evil.example#@localhost",
            "http://127.0.0.1:80@evil.example",
            "http://localhost:x@evil.example",
            "ftp://localhost",
            "localhost",
            "",
        ] {
            assert!(!on_this_machine(url), "{url}");
        }
    }

    #[test]
    fn a_window_that_has_begun_anew_is_stale() {
        let limit = Limit {
            kind: LimitKind::WeeklyModel,
            label: "Opus".into(),
            used_percent: 12.5,
            resets_at: Some(1_796_069_565_000),
            as_of: 1_796_069_000_000,
        };
        let row = limit.row("codex", false, 1_796_069_564_999);
        assert_eq!((row.resets_at.as_deref(), row.stale), (Some("2026-11-30T20:12:45Z"), false));
        assert!(limit.row("codex", false, 1_796_069_565_000).stale && limit.row("codex", true, 0).stale);
        let json = serde_json::to_value(row).unwrap();
        assert_eq!(json["kind"], "weekly_model");
    }
}
