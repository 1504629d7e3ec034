//! Where Claude Code is told of an endpoint: `env` of settings.json (agent-formats.md, Claude Code, Provider).

use serde_json::{Map, Value, json};
use sys::edit::Format;
use sys::path;

use super::ClaudeCode;
use crate::adapter::{Places, Surroundings};
use crate::provider::{Provides, Run, Spot, Spots, TOKEN_VARIABLE, Token, Wanted, Wire, printing};

const URL: &str = "ANTHROPIC_BASE_URL";
const TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
const KEY: &str = "ANTHROPIC_API_KEY";
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
            Token::Env(name) if name == TOKEN || name == KEY => {}
            // A command that prints the token is one of its own settings.
            Token::Env(name) => {
                spots.put(file(), Format::Json, path!["apiKeyHelper"], format!("printenv {name}"));
            }
            Token::Command(command) => {
                spots.put(file(), Format::Json, path!["apiKeyHelper"], command.as_str());
            }
            Token::File(path) => {
                spots.put(file(), Format::Json, path!["apiKeyHelper"], printing(path));
            }
        }
        // These win over the command, and would go to an endpoint that they are not for.
        if spots.has(&path!["apiKeyHelper"]) {
            spots.hide(file(), Format::Json, path!["env", TOKEN]).hide(file(), Format::Json, path!["env", KEY]);
        }
        spots.done()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        speaks(wanted)?;
        // `env` of its settings wins over its environment (seen: Claude Code 2 obeyed an applied profile and not the one
        // it was started with), and only `--settings` wins over that. The token is not in there: others see arguments.
        let mut run = Run { taken: &["--settings"], ..Run::default() };
        let mut env = Map::new();
        env.extend(wanted.endpoint().map(|url| (URL.to_owned(), url.into())));
        env.extend(wanted.model.as_deref().map(|model| (MODEL.to_owned(), model.into())));
        let mut settings = json!({});
        if let Some(token) = wanted.handed() {
            env.extend([TOKEN, KEY].map(|name| (name.to_owned(), "".into())));
            settings["apiKeyHelper"] = format!("printenv {TOKEN_VARIABLE}").into();
            run.env.push((TOKEN_VARIABLE.to_owned(), token.to_owned()));
        }
        settings["env"] = Value::Object(env);
        run.args.extend(["--settings".to_owned(), settings.to_string()]);
        Ok(run)
    }
}

fn speaks(wanted: &Wanted) -> Result<(), String> {
    match wanted.wire {
        None | Some(Wire::Anthropic) => Ok(()),
        Some(_) => Err("Claude Code speaks Anthropic's messages, and the profile says otherwise (wireApi)".to_owned()),
    }
}
