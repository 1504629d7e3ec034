//! Where Qwen Code is told of an endpoint: `env`, `model.name` and the way of signing in, all in settings.json
//! (agent-formats.md, Qwen Code, Provider; its public docs, Settings).

use sys::edit::Format;
use sys::path;

use super::QwenCode;
use crate::adapter::{Places, Surroundings};
use crate::provider::{Provides, Run, Spot, Spots, Token, Wanted, Wire, refuses};

const URL: &str = "OPENAI_BASE_URL";
const TOKEN: &str = "OPENAI_API_KEY";
const MODEL: &str = "OPENAI_MODEL";

impl Provides for QwenCode {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        speaks(wanted)?;
        let file = || places.config_dir.join("settings.json");
        let mut spots = Spots::new();
        if let Some(url) = &wanted.base_url {
            spots.put(file(), Format::Json, path!["env", URL], url.as_str());
        }
        if let Some(model) = &wanted.model {
            spots.put(file(), Format::Json, path!["env", MODEL], model.as_str());
            spots.put(file(), Format::Json, path!["model", "name"], model.as_str());
        }
        match &wanted.token {
            Token::None => {}
            Token::Literal(token) => {
                spots.secret(file(), Format::Json, path!["env", TOKEN], token.as_str());
            }
            Token::Env(name) if name == TOKEN => {}
            Token::Env(_) | Token::Command(_) | Token::File(_) => {
                return Err(refuses("Qwen Code", "as it is, or from the variable OPENAI_API_KEY"));
            }
        }
        spots.put(file(), Format::Json, path!["security", "auth", "selectedType"], "openai");
        spots.done()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        speaks(wanted)?;
        let values = [(URL, wanted.endpoint()), (MODEL, wanted.model.as_deref()), (TOKEN, wanted.handed())];
        let env = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let mut run = Run { env: env.collect(), ..Run::default() };
        run.usual.push((&["--auth-type"], vec!["--auth-type".to_owned(), "openai".to_owned()]));
        // `model.name` of its settings wins over the variable (seen), and a flag that is given twice ends it (seen).
        run.usual.extend(wanted.model.iter().map(|model| {
            let flags: &[&str] = &["--model", "-m"];
            (flags, vec!["--model".to_owned(), model.clone()])
        }));
        Ok(run)
    }
}

fn speaks(wanted: &Wanted) -> Result<(), String> {
    match wanted.wire {
        None | Some(Wire::Chat) => Ok(()),
        Some(_) => {
            Err("Qwen Code speaks OpenAI's chat completions, and the profile says otherwise (wireApi)".to_owned())
        }
    }
}
