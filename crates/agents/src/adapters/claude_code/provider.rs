//! Where Claude Code is told of an endpoint: `env` of settings.json (agent-formats.md, Claude Code, Provider).

use sys::edit::Format;
use sys::path;

use super::ClaudeCode;
use crate::adapter::{Places, Surroundings};
use crate::provider::{Provides, Run, Spot, Spots, Token, Wanted, Wire};

const URL: &str = "ANTHROPIC_BASE_URL";
const TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
const MODEL: &str = "ANTHROPIC_MODEL";

impl Provides for ClaudeCode {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        speaks(wanted)?;
        let file = || places.config_dir.join("settings.json");
        let mut spots = Spots::new();
        if let Some(url) = &wanted.base_url {
            spots.put(file(), Format::Json, path!["env", URL], url.as_str());
        }
        if let Some(model) = &wanted.model {
            spots.put(file(), Format::Json, path!["env", MODEL], model.as_str());
        }
        match &wanted.token {
            Token::None => {}
            Token::Literal(token) => {
                spots.secret(file(), Format::Json, path!["env", TOKEN], token.as_str());
            }
            // It takes these from the environment by itself.
            Token::Env(name) if name == TOKEN || name == "ANTHROPIC_API_KEY" => {}
            // A command that prints the token is one of its own settings.
            Token::Env(name) => {
                spots.put(file(), Format::Json, path!["apiKeyHelper"], format!("printenv {name}"));
            }
            Token::Command(command) => {
                spots.put(file(), Format::Json, path!["apiKeyHelper"], command.as_str());
            }
            Token::File(path) => {
                let path = path.to_string_lossy().replace('\'', r"'\''");
                spots.put(file(), Format::Json, path!["apiKeyHelper"], format!("cat -- '{path}'"));
            }
        }
        spots.done()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        speaks(wanted)?;
        let mut run = Run::default();
        let values = [(URL, wanted.base_url.as_deref()), (MODEL, wanted.model.as_deref()), (TOKEN, wanted.literal())];
        run.env.extend(values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))));
        Ok(run)
    }
}

fn speaks(wanted: &Wanted) -> Result<(), String> {
    match wanted.wire {
        None | Some(Wire::Anthropic) => Ok(()),
        Some(_) => Err("Claude Code speaks Anthropic's messages, and the profile says otherwise (wireApi)".to_owned()),
    }
}
