//! Where OpenCode is told of an endpoint: one entry of ours below `provider` of its config, and `model` (its public docs,
//! Providers).

use serde_json::{Value, json};
use sys::edit::Format;
use sys::path;

use super::OpenCode;
use crate::adapter::{Places, Surroundings};
use crate::provider::{OURS, OURS_ONCE, Provides, Run, Spot, Spots, TOKEN_VARIABLE, Token, Wanted, Wire, refuses};

impl Provides for OpenCode {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        let (key, secret) = match &wanted.token {
            Token::None => (None, false),
            Token::Literal(token) => (Some(token.clone()), true),
            Token::Env(name) => (Some(format!("{{env:{name}}}")), false),
            Token::File(path) => (Some(format!("{{file:{}}}", path.display())), false),
            Token::Command(_) => {
                return Err(refuses("OpenCode", "as it is, from an environment variable or from a file"));
            }
        };
        let (entry, model) = (entry(wanted, key)?, model(wanted, OURS)?);
        // The one that is there is the one that is read.
        let named = |name: &str| places.config_dir.join(name);
        let file = [named("opencode.jsonc"), named("opencode.json")].into_iter().find(|path| path.exists());
        let file = file.unwrap_or_else(|| named("opencode.json"));
        let mut spots = Spots::new();
        spots.put(file.clone(), Format::Json, path!["model"], model);
        // Value by value: what else the person has there is theirs.
        for key in ["npm", "name"] {
            spots.put(file.clone(), Format::Json, path!["provider", OURS, key], entry[key].clone());
        }
        let options = |key: &str| path!["provider", OURS, "options", key];
        spots.put(file.clone(), Format::Json, options("baseURL"), entry["options"]["baseURL"].clone());
        match (entry["options"].get("apiKey").cloned(), secret) {
            (None, _) => {}
            (Some(key), true) => {
                spots.secret(file.clone(), Format::Json, options("apiKey"), key);
            }
            (Some(key), false) => {
                spots.put(file.clone(), Format::Json, options("apiKey"), key);
            }
        }
        let name = wanted.needs_model("OpenCode")?;
        let at = path!["provider", OURS, "models", name, "name"];
        spots.put(file, Format::Json, at, name);
        spots.done()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        let key = wanted.literal().map(|_| format!("{{env:{TOKEN_VARIABLE}}}"));
        let config = json!({ "model": model(wanted, OURS_ONCE)?, "provider": { OURS_ONCE: entry(wanted, key)? } });
        let mut env = vec![("OPENCODE_CONFIG_CONTENT".to_owned(), config.to_string())];
        if let Some(token) = wanted.literal() {
            env.push((TOKEN_VARIABLE.to_owned(), token.to_owned()));
        }
        Ok(Run { env, ..Run::default() })
    }
}

fn model(wanted: &Wanted, ours: &str) -> Result<String, String> {
    Ok(format!("{ours}/{}", wanted.needs_model("OpenCode")?))
}

fn entry(wanted: &Wanted, key: Option<String>) -> Result<Value, String> {
    let package = match wanted.wire {
        None | Some(Wire::Chat) => "@ai-sdk/openai-compatible",
        Some(Wire::Responses) => "@ai-sdk/openai",
        Some(Wire::Anthropic) => "@ai-sdk/anthropic",
    };
    let mut options = json!({ "baseURL": wanted.needs_url("OpenCode")? });
    if let Some(key) = key {
        options["apiKey"] = key.into();
    }
    let model = wanted.needs_model("OpenCode")?;
    Ok(json!({ "npm": package, "name": wanted.name, "options": options, "models": { model: { "name": model } } }))
}
