//! Who pays for Claude Code. Its own order counts: what the environment and `settings.json` bring goes before what it was
//! signed in with. The credentials file is not opened: that it is there says enough.

use serde_json::{Map, Value};

use crate::account::{Pays, has, settings};
use crate::adapter::{Places, Surroundings};

/// The API that prices are those of.
pub(super) const HOME: &str = "https://api.anthropic.com";

pub(super) fn pays(around: &Surroundings, places: &Places) -> Pays {
    let own = settings(&places.config_dir.join("settings.json")).unwrap_or_default();
    let set = |name: &str| variable(around, &own, name);
    let elsewhere = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];
    let truthy = |name: &&str| set(name).is_some_and(|value| !matches!(value.as_str(), "0" | "false" | "no" | "off"));
    if elsewhere.iter().any(truthy) || base_url(around, &own).is_some() || set("ANTHROPIC_AUTH_TOKEN").is_some() {
        return Pays::Unknown;
    }
    if has(&own, "apiKeyHelper") || set("ANTHROPIC_API_KEY").is_some() {
        return Pays::PerToken;
    }
    if set("CLAUDE_CODE_OAUTH_TOKEN").is_some() {
        return Pays::Plan;
    }
    // An account of the console leaves a key here, a subscription does not.
    let state = settings(&state_file(around, places)).unwrap_or_default();
    if has(&state, "primaryApiKey") {
        return Pays::PerToken;
    }
    if places.config_dir.join(".credentials.json").is_file() || has(&state, "oauthAccount") {
        return Pays::Plan;
    }
    Pays::Unknown
}

/// `.claude.json`: inside the folder that the variable names, else beside the usual one (agent-formats.md, overrides).
fn state_file(around: &Surroundings, places: &Places) -> std::path::PathBuf {
    match places.moved_by {
        Some(_) => places.config_dir.join(".claude.json"),
        None => around.home_join(".claude.json"),
    }
}

/// The endpoint it talks to, when that is not its maker's.
pub(super) fn base_url(around: &Surroundings, own: &Map<String, Value>) -> Option<String> {
    variable(around, own, "ANTHROPIC_BASE_URL").filter(|url| url.trim_end_matches('/') != HOME)
}

/// A variable as it sees it: those in its settings are put over the environment.
fn variable(around: &Surroundings, own: &Map<String, Value>, name: &str) -> Option<String> {
    let own = own.get("env").and_then(|env| env.get(name)).and_then(Value::as_str);
    let value = own.map(str::to_owned).or_else(|| around.env().text(name).map(str::to_owned));
    value.filter(|value| !value.trim().is_empty())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
mod tests {
    use super::*;
    use crate::adapter::by_id;

    fn told(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Pays {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".claude")).unwrap();
        for (name, text) in files {
            std::fs::write(home.path().join(name), text).unwrap();
        }
        let mut env: sys::Env = variables.iter().copied().collect();
        env.set("HOME", home.path());
        let around = Surroundings::of(&env).unwrap();
        let adapter = by_id("claude-code").unwrap();
        adapter.account(&around, &adapter.places(&around)).unwrap()
    }

    const SIGNED_IN: (&str, &str) = (".claude/.credentials.json", "never read");

    #[test]
    fn a_key_pays_per_token_a_sign_in_does_not_and_other_endpoints_have_their_own_prices() {
        assert_eq!(told(&[], &[]), Pays::Unknown);
        assert_eq!(told(&[SIGNED_IN], &[]), Pays::Plan);
        assert_eq!(told(&[(".claude.json", r#"{"oauthAccount":{"x":1}}"#)], &[]), Pays::Plan);
        assert_eq!(told(&[(".claude.json", r#"{"oauthAccount":{"x":1},"primaryApiKey":"k"}"#)], &[]), Pays::PerToken);
        assert_eq!(told(&[SIGNED_IN], &[("ANTHROPIC_API_KEY", "k")]), Pays::PerToken);
        let helper = (".claude/settings.json", r#"{"apiKeyHelper":"/bin/key"}"#);
        assert_eq!(told(&[SIGNED_IN, helper], &[]), Pays::PerToken);
        assert_eq!(told(&[helper], &[("ANTHROPIC_BASE_URL", "https://gateway.example")]), Pays::Unknown);
        assert_eq!(told(&[helper], &[("ANTHROPIC_BASE_URL", "https://api.anthropic.com/")]), Pays::PerToken);
        assert_eq!(told(&[helper], &[("CLAUDE_CODE_USE_BEDROCK", "1")]), Pays::Unknown);
        let own = (".claude/settings.json", r#"{"env":{"ANTHROPIC_AUTH_TOKEN":"t"}}"#);
        assert_eq!(told(&[own], &[("ANTHROPIC_API_KEY", "k")]), Pays::Unknown);
        assert_eq!(told(&[SIGNED_IN, (".claude/settings.json", "{ garbage")], &[]), Pays::Plan);
    }
}
