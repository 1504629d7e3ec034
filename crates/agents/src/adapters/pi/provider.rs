//! Where Pi is told of an endpoint: one entry of ours in models.json, and the default provider and model in settings.json
//! (agent-formats.md, Pi; its public docs, Models).

use serde_json::json;
use sys::edit::Format;
use sys::path;

use super::Pi;
use crate::adapter::{Places, Surroundings};
use crate::provider::{OURS, Provides, Run, Spot, Spots, Token, Wanted, Wire, printing};

impl Provides for Pi {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        let (key, secret) = match &wanted.token {
            // It wants one even where the endpoint does not.
            Token::None => ("none".to_owned(), false),
            Token::Literal(token) => (token.clone(), true),
            Token::Env(name) => (name.clone(), false),
            // Its value resolution: what begins with `!` is a command that prints the key.
            Token::Command(command) => (format!("!{command}"), false),
            Token::File(path) => (format!("!{}", printing(path)), false),
        };
        let api = match wanted.wire {
            None | Some(Wire::Chat) => "openai-completions",
            Some(Wire::Responses) => "openai-responses",
            Some(Wire::Anthropic) => "anthropic-messages",
        };
        let (url, model) = (wanted.needs_url("Pi")?, wanted.needs_model("Pi")?);
        let entry = json!({ "baseUrl": url, "api": api, "apiKey": key, "models": [{ "id": model }] });
        let settings = || places.config_dir.join("settings.json");
        let models = places.config_dir.join("models.json");
        let mut spots = Spots::new();
        spots.put(settings(), Format::Json, path!["defaultProvider"], OURS);
        spots.put(settings(), Format::Json, path!["defaultModel"], model);
        // Value by value: what else the person has there is theirs.
        for name in ["baseUrl", "api", "apiKey", "models"] {
            let (at, value) = (path!["providers", OURS, name], entry[name].clone());
            if secret && name == "apiKey" {
                spots.secret(models.clone(), Format::Json, at, value);
            } else {
                spots.put(models.clone(), Format::Json, at, value);
            }
        }
        spots.done()
    }

    fn run(&self, _wanted: &Wanted) -> Result<Run, String> {
        Err("Pi takes an endpoint only from its models.json; `lazyagents provider apply` writes it there".to_owned())
    }
}
