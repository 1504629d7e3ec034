//! Who pays for Gemini CLI: the way of signing in that its settings name (agent-formats.md, Gemini CLI, Auth).

use crate::account::{Pays, settings};
use crate::adapter::{Places, Surroundings};

pub(super) fn pays(around: &Surroundings, places: &Places) -> Pays {
    // Another endpoint has prices of its own.
    if around.env().get("GOOGLE_GEMINI_BASE_URL").is_some() {
        return Pays::Unknown;
    }
    let settings = settings(&places.config_dir.join("settings.json")).unwrap_or_default();
    let way = settings.get("security").and_then(|security| security.get("auth")?.get("selectedType")?.as_str());
    match way {
        Some("gemini-api-key") => Pays::PerToken,
        Some(way) if way.starts_with("oauth") || way.starts_with("login-with") => Pays::Plan,
        _ => Pays::Unknown,
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
mod tests {
    use super::*;
    use crate::adapter::by_id;

    #[test]
    fn the_way_of_signing_in_decides() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".gemini")).unwrap();
        let told = |way: &str, variables: &[(&str, &str)]| {
            let text = format!(r#"{{"security":{{"auth":{{"selectedType":"{way}"}}}}}}"#);
            std::fs::write(home.path().join(".gemini/settings.json"), text).unwrap();
            let mut env: sys::Env = variables.iter().copied().collect();
            env.set("HOME", home.path());
            let around = Surroundings::of(&env).unwrap();
            let adapter = by_id("gemini-cli").unwrap();
            adapter.account(&around, &adapter.places(&around)).unwrap()
        };
        assert_eq!(told("gemini-api-key", &[]), Pays::PerToken);
        assert_eq!(told("gemini-api-key", &[("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")]), Pays::Unknown);
        assert_eq!(told("oauth-personal", &[]), Pays::Plan);
        assert_eq!(told("vertex-ai", &[]), Pays::Unknown);
    }
}
