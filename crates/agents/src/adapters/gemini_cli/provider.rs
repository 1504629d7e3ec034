//! Where Gemini CLI is told of an endpoint: variables in its `.env`, and the way of signing in that uses them
//! (agent-formats.md, Gemini CLI, Auth).

use sys::edit::Format;
use sys::path;

use super::GeminiCli;
use crate::adapter::{Places, Surroundings};
use crate::provider::{Provides, Run, Spot, Spots, Token, Wanted, refuses};

const URL: &str = "GOOGLE_GEMINI_BASE_URL";
const TOKEN: &str = "GEMINI_API_KEY";
const MODEL: &str = "GEMINI_MODEL";

impl Provides for GeminiCli {
    fn spots(&self, _around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        speaks(wanted)?;
        let file = || places.config_dir.join(".env");
        let mut spots = Spots::new();
        if let Some(url) = &wanted.base_url {
            spots.put(file(), Format::Env, path![URL], url.as_str());
        }
        if let Some(model) = &wanted.model {
            spots.put(file(), Format::Env, path![MODEL], model.as_str());
        }
        match &wanted.token {
            Token::None => {}
            Token::Literal(token) => {
                spots.secret(file(), Format::Env, path![TOKEN], token.as_str());
            }
            Token::Env(name) if name == TOKEN => {}
            Token::Env(_) | Token::Command(_) | Token::File(_) => {
                return Err(refuses("Gemini CLI", "as it is, or from the variable GEMINI_API_KEY"));
            }
        }
        sign_in(&mut spots, places);
        spots.done()
    }

    fn needs(&self, places: &Places) -> Vec<Spot> {
        // Without it a session with a base URL ends with "Invalid auth method selected" (seen), and with another way of
        // signing in it would go to Google with the person's account.
        let mut spots = Spots::new();
        sign_in(&mut spots, places);
        spots.done().unwrap_or_default()
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        speaks(wanted)?;
        let values = [(URL, wanted.endpoint()), (MODEL, wanted.model.as_deref()), (TOKEN, wanted.handed())];
        let env = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        Ok(Run { env: env.collect(), ..Run::default() })
    }
}

fn sign_in(spots: &mut Spots, places: &Places) {
    let settings = places.config_dir.join("settings.json");
    spots.put(settings, Format::Json, path!["security", "auth", "selectedType"], "gemini-api-key");
}

fn speaks(wanted: &Wanted) -> Result<(), String> {
    match wanted.wire {
        None => Ok(()),
        Some(_) => Err("Gemini CLI speaks Google's protocol only; leave wireApi out for it".to_owned()),
    }
}
