//! What is known of the place where each agent's settings name an endpoint: which values go where, and which environment
//! starts one session with it. Pure: values in, values out; nothing is read or written here. `manage` makes plans of it.

use std::path::PathBuf;

use serde_json::Value;
use sys::edit::{Format, Path};

use crate::adapter::{Places, Surroundings};

/// The name that our own entry has in files that keep several providers (lazyagents.md, Providers).
pub const OURS: &str = "lazyagents";

/// The name of our entry for one session. It is another one than [`OURS`]: agents lay what they are started with over
/// their settings, key by key, and the token of a profile that is applied would go to this one's endpoint.
pub const OURS_ONCE: &str = "lazyagents-run";

/// What is handed over as token to an endpoint that needs none, so that no other token goes there.
pub const NO_TOKEN: &str = "none";

/// The variable that a token of ours is handed over in, to agents that take the name of one.
pub const TOKEN_VARIABLE: &str = "LAZYAGENTS_TOKEN";

/// Where a token comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// There is none.
    None,
    /// It stands in the profile.
    Literal(String),
    /// The environment variable of this name holds it.
    Env(String),
    /// This command line prints it.
    Command(String),
    /// This file holds it.
    File(PathBuf),
}

impl std::fmt::Debug for Token {
    /// Where it comes from; never a token, also not in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Literal(_) => f.write_str("Literal(••••)"),
            Self::Env(name) => f.debug_tuple("Env").field(name).finish(),
            Self::Command(command) => f.debug_tuple("Command").field(command).finish(),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// The protocol that an endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's chat completions.
    Chat,
    /// Anthropic's messages.
    Anthropic,
}

/// What an agent is to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The profile's name.
    pub name: String,
    /// The endpoint.
    pub base_url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// What the endpoint speaks; the agent's usual without.
    pub wire: Option<Wire>,
    /// Its token.
    pub token: Token,
}

/// One value in one file of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// The file.
    pub path: PathBuf,
    /// What it is written in.
    pub format: Format,
    /// Where in it.
    pub at: Path,
    /// What is to stand there.
    pub value: Value,
    /// It holds a token: the file is for its owner only from then on, and the value is never shown.
    pub secret: bool,
    /// It is written only over something that stands there: it hides what would be taken instead of the profile's.
    pub hides: bool,
}

impl Spot {
    /// True when nothing has to be done there, given what stands there now.
    pub fn holds(&self, now: Option<&Value>) -> bool {
        now.map_or(self.hides, |now| *now == self.value)
    }
}

/// How one session is started with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Arguments that come before the person's own. Never a secret: others can see them.
    pub args: Vec<String>,
    /// Arguments of the same kind that stay out when the person gives one of these flags themselves.
    pub usual: Vec<(&'static [&'static str], Vec<String>)>,
    /// Flags that the person cannot give: ours would be dropped for them, and the session had another endpoint.
    pub taken: &'static [&'static str],
}

/// How an agent is told which endpoint to use. An error is a sentence that says why not, and what to do.
pub trait Provides: Sync {
    /// True when its settings have a place for an endpoint; else only [`Provides::run`] works.
    fn keeps(&self) -> bool {
        true
    }

    /// The values that its settings need. The first one tells whether the profile is in use.
    ///
    /// # Errors
    /// When its settings have no place for what is wanted.
    fn spots(&self, around: &Surroundings, places: &Places, wanted: &Wanted) -> Result<Vec<Spot>, String>;

    /// The values that must stand in its settings already for one session with a profile: no variable or argument says
    /// them.
    fn needs(&self, _places: &Places) -> Vec<Spot> {
        Vec::new()
    }

    /// The environment and arguments that start one session with it; the token in `wanted` is literal, or none.
    ///
    /// # Errors
    /// When it cannot be told so.
    fn run(&self, wanted: &Wanted) -> Result<Run, String>;
}

/// Files that hold values, one after the other.
pub(crate) struct Spots {
    spots: Vec<Spot>,
}

impl Spots {
    pub(crate) fn new() -> Self {
        Self { spots: Vec::new() }
    }

    /// Adds a value.
    pub(crate) fn put(&mut self, path: PathBuf, format: Format, at: Path, value: impl Into<Value>) -> &mut Self {
        self.spots.push(Spot { path, format, at, value: value.into(), secret: false, hides: false });
        self
    }

    /// Hides what stands there, if anything does.
    pub(crate) fn hide(&mut self, path: PathBuf, format: Format, at: Path) -> &mut Self {
        self.spots.push(Spot { path, format, at, value: "".into(), secret: false, hides: true });
        self
    }

    /// Adds a value that holds a token.
    pub(crate) fn secret(&mut self, path: PathBuf, format: Format, at: Path, value: impl Into<Value>) -> &mut Self {
        self.spots.push(Spot { path, format, at, value: value.into(), secret: true, hides: false });
        self
    }

    /// True when one stands at `at`.
    pub(crate) fn has(&self, at: &Path) -> bool {
        self.spots.iter().any(|spot| spot.at == *at)
    }

    /// All of them.
    pub(crate) fn done(self) -> Result<Vec<Spot>, String> {
        if self.spots.is_empty() {
            return Err("the profile says neither a base URL nor a model nor a token".to_owned());
        }
        Ok(self.spots)
    }
}

impl Wanted {
    /// The endpoint, for agents that need one.
    pub(crate) fn needs_url(&self, agent: &str) -> Result<&str, String> {
        self.base_url.as_deref().ok_or_else(|| format!("{agent} needs a base URL, and the profile has none"))
    }

    /// The model, for agents that need one.
    pub(crate) fn needs_model(&self, agent: &str) -> Result<&str, String> {
        self.model.as_deref().ok_or_else(|| format!("{agent} needs a model, and the profile has none"))
    }

    /// The token for one session. A profile with an endpoint of its own and no token gets [`NO_TOKEN`]: what the settings
    /// or the environment hold for another endpoint is not for this one.
    pub(crate) fn handed(&self) -> Option<&str> {
        self.literal().or(self.base_url.as_ref().map(|_| NO_TOKEN))
    }

    /// The endpoint for one session; empty, which is the agent's usual one, for a token without: it is not for the
    /// endpoint that the settings name.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        self.base_url.as_deref().or(self.literal().map(|_| ""))
    }

    /// The token itself.
    pub(crate) fn literal(&self) -> Option<&str> {
        match &self.token {
            Token::Literal(token) => Some(token),
            _ => None,
        }
    }
}

/// The command line that prints what is in a file, for agents that take a command and no file.
pub(crate) fn printing(path: &std::path::Path) -> String {
    format!("cat -- '{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

/// The words for a token that an agent's settings cannot take.
pub(crate) fn refuses(agent: &str, takes: &str) -> String {
    format!("{agent}'s settings take a token only {takes}; `lazyagents provider run` works with any profile")
}
