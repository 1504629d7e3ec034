//! Copilot CLI is told of an endpoint by its environment only (its public docs, Using your own LLM models).

use super::Copilot;
use crate::adapter::{Places, Surroundings};
use crate::provider::{Provides, Run, Spot, Wanted, Wire};

impl Provides for Copilot {
    fn keeps(&self) -> bool {
        false
    }

    fn spots(&self, _around: &Surroundings, _places: &Places, _wanted: &Wanted) -> Result<Vec<Spot>, String> {
        Err("Copilot CLI takes an endpoint only from its environment; `lazyagents provider run` starts it with one"
            .to_owned())
    }

    fn run(&self, wanted: &Wanted) -> Result<Run, String> {
        let url = wanted.needs_url("Copilot CLI")?;
        let model = wanted.needs_model("Copilot CLI")?;
        let kind = if wanted.wire == Some(Wire::Anthropic) { "anthropic" } else { "openai" };
        let mut env = vec![
            ("COPILOT_PROVIDER_BASE_URL".to_owned(), url.to_owned()),
            ("COPILOT_PROVIDER_TYPE".to_owned(), kind.to_owned()),
            ("COPILOT_MODEL".to_owned(), model.to_owned()),
        ];
        if wanted.wire == Some(Wire::Responses) {
            env.push(("COPILOT_PROVIDER_WIRE_API".to_owned(), "responses".to_owned()));
        }
        if let Some(token) = wanted.handed() {
            env.push(("COPILOT_PROVIDER_API_KEY".to_owned(), token.to_owned()));
        }
        Ok(Run { env, ..Run::default() })
    }
}
