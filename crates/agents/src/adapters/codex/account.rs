//! Who pays for Codex: `auth.json` says how it is signed in, `config.toml` whose endpoint it talks to. Of the secrets in
//! the first only their being there is looked at.

use std::path::Path;

use crate::account::{Pays, has, settings};
use crate::adapter::{Places, Surroundings};
use crate::read::small_file;

/// The largest `config.toml` that is looked into, bytes.
const LARGEST: u64 = 4 << 20;

pub(super) fn pays(around: &Surroundings, places: &Places) -> Pays {
    if elsewhere(&places.config_dir) {
        return Pays::Unknown;
    }
    // What `codex exec` takes before what it was signed in with.
    if around.env().get("CODEX_API_KEY").is_some() {
        return Pays::PerToken;
    }
    let Some(auth) = settings(&places.config_dir.join("auth.json")) else { return Pays::Unknown };
    match auth.get("auth_mode").and_then(|mode| mode.as_str()) {
        Some("apikey" | "apiKey" | "ApiKey") => Pays::PerToken,
        Some(mode) if mode.to_ascii_lowercase().starts_with("chatgpt") => Pays::Plan,
        Some(_) => Pays::Unknown,
        // Older versions wrote no mode: whoever has the tokens of an account uses them.
        None if has(&auth, "tokens") => Pays::Plan,
        None if has(&auth, "OPENAI_API_KEY") => Pays::PerToken,
        None => Pays::Unknown,
    }
}

/// Requests go to somebody whose prices are not OpenAI's: another provider, or the same one moved. What cannot be read is
/// taken for that too.
fn elsewhere(folder: &Path) -> bool {
    let path = folder.join("config.toml");
    if !path.exists() {
        return false;
    }
    let config = small_file(&path, LARGEST).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(config) = config.and_then(|text| text.parse::<toml::Table>().ok()) else { return true };
    let provider = config.get("model_provider").and_then(|provider| provider.as_str());
    provider.is_some_and(|provider| provider != "openai") || config.contains_key("openai_base_url")
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
mod tests {
    use super::*;
    use crate::adapter::by_id;

    fn told(files: &[(&str, &str)]) -> Pays {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".codex")).unwrap();
        for (name, text) in files {
            std::fs::write(home.path().join(".codex").join(name), text).unwrap();
        }
        let mut env = sys::Env::empty();
        env.set("HOME", home.path());
        let around = Surroundings::of(&env).unwrap();
        let adapter = by_id("codex").unwrap();
        adapter.account(&around, &adapter.places(&around)).unwrap()
    }

    #[test]
    fn the_mode_decides_and_another_provider_has_its_own_prices() {
        let key = ("auth.json", r#"{"auth_mode":"apikey","OPENAI_API_KEY":"k"}"#);
        assert_eq!(told(&[]), Pays::Unknown);
        assert_eq!(told(&[key]), Pays::PerToken);
        assert_eq!(
            told(&[("auth.json", r#"{"auth_mode":"chatgpt","OPENAI_API_KEY":"k","tokens":{"a":1}}"#)]),
            Pays::Plan
        );
        assert_eq!(told(&[("auth.json", r#"{"OPENAI_API_KEY":"k","tokens":null}"#)]), Pays::PerToken);
        assert_eq!(told(&[("auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"a":1}}"#)]), Pays::Plan);
        assert_eq!(told(&[("auth.json", "garbage")]), Pays::Unknown);
        assert_eq!(told(&[key, ("config.toml", "model = \"gpt-5\"\n")]), Pays::PerToken);
        assert_eq!(told(&[key, ("config.toml", "model_provider = \"openai\"\n")]), Pays::PerToken);
        assert_eq!(told(&[key, ("config.toml", "model_provider = \"local\"\n")]), Pays::Unknown);
        assert_eq!(told(&[key, ("config.toml", "not toml")]), Pays::Unknown);
    }
}
