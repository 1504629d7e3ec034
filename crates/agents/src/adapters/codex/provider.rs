//! Where Codex is told of an endpoint: `model_provider`, `model` and one entry of ours in config.toml (agent-formats.md,
//! Codex, Provider). A token never stands in the file: the entry names a variable.

use serde_json::{Map, Value};
use sys::edit::Format;
use sys::path;

use super::Codex;
use crate::adapter::{Places, Surroundings};
use crate::provider::{OURS, OURS_ONCE, Provides, Run, Spot, Spots, TOKEN_VARIABLE, Token, Wanted, Wire, refuses};

impl Provides for Codex {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        let variable = match &wanted.token {
            Token::None => None,
            Token::Env(name) => Some(name.as_str()),
            Token::Literal(_) | Token::Command(_) | Token::File(_) => {
                return Err(refuses("Codex", "from an environment variable (--env-key NAME)"));
            }
        };
        let entry = entry(wanted, variable)?;
        let file = || places.config_dir.join("config.toml");
        let mut spots = Spots::new();
        spots.put(file(), Format::Toml, path!["model_provider"], OURS);
        if let Some(model) = &wanted.model {
            spots.put(file(), Format::Toml, path!["model"], model.as_str());
        }
        // Value by value: what else the person has in that table is theirs.
        for (key, value) in entry {
            spots.put(file(), Format::Toml, path!["model_providers", OURS, key.as_str()], value);
        }
        spots.done()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        let variable = wanted.literal().map(|_| TOKEN_VARIABLE);
        let mut run = Run::default();
        let mut set = |key: &str, value: &str| {
            // A JSON text without odd characters is a TOML text as well.
            run.args.extend(["-c".to_owned(), format!("{key}={}", Value::String(value.to_owned()))]);
        };
        set("model_provider", OURS_ONCE);
        if let Some(model) = &wanted.model {
            set("model", model);
        }
        for (key, value) in entry(wanted, variable)? {
            set(&format!("model_providers.{OURS_ONCE}.{key}"), value.as_str().unwrap_or_default());
        }
        if let Some(token) = wanted.literal() {
            run.env.push((TOKEN_VARIABLE.to_owned(), token.to_owned()));
        }
        Ok(run)
    }
}

fn entry(wanted: &Wanted, variable: Option<&str>) -> Result<Map<String, Value>, String> {
    let url = wanted.needs_url("Codex")?;
    if !matches!(wanted.wire, None | Some(Wire::Responses)) {
        return Err("Codex speaks OpenAI's Responses only, and the profile says otherwise (wireApi)".to_owned());
    }
    let mut entry = Map::new();
    entry.insert("name".to_owned(), wanted.name.as_str().into());
    entry.insert("base_url".to_owned(), url.into());
    if let Some(variable) = variable {
        entry.insert("env_key".to_owned(), variable.into());
    }
    entry.insert("wire_api".to_owned(), "responses".into());
    Ok(entry)
}
