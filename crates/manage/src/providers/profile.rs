//! The profiles themselves: `providers.json`, for its owner only. Keys that this version does not know stay.

use std::path::{Path, PathBuf};

use agents::provider::{Token, Wanted, Wire};
use serde_json::{Map, Value};
use sys::edit::{self, Change, Format, Step};
use sys::files::read_bounded;
use sys::proc::{self, Cancel, Limits};
use sys::text::clean;
use sys::{Env, Failure, path};

use super::check_name;

/// The longest file of profiles that is read, bytes.
const MAX: usize = 4 << 20;
/// The longest token, bytes: a line, not a file.
const LONGEST_TOKEN: usize = 64 << 10;
/// How long a command may take to print a token.
const COMMAND_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);

/// One profile.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The endpoint.
    pub base_url: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The token itself.
    pub token: Option<String>,
    /// The environment variable that holds the token.
    pub env_key: Option<String>,
    /// `responses`, `chat` or `anthropic`: what the endpoint speaks.
    pub wire_api: Option<String>,
    /// The command that prints the token.
    pub token_command: Option<String>,
    /// The file that holds the token.
    pub token_file: Option<PathBuf>,
}

impl std::fmt::Debug for Profile {
    /// Never the token, also not in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profile").field("name", &self.name).field("source", &self.source()).finish_non_exhaustive()
    }
}

/// Where a profile's token comes from, in words for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It has none.
    None,
    /// In `providers.json`.
    Literal,
    /// From a variable.
    Env,
    /// From a command.
    Command,
    /// From a file.
    File,
}

/// The file of profiles.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    /// In the file's order.
    pub list: Vec<Profile>,
    /// What in it is not understood, a line each.
    pub problems: Vec<String>,
    /// The list stands at the root rather than below `profiles`.
    bare: bool,
}

impl Profiles {
    /// Reads the file; a missing one has no profiles.
    ///
    /// # Errors
    /// When it cannot be read, or is no JSON; with line and column.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let failed = |why: String| Failure::new(format!("could not read {}", path.display())).cause(why);
        let bytes = read_bounded(path, MAX)?.unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let values = edit::values(Format::Json, &text).map_err(|doubt| failed(doubt.to_string()))?;
        let bare = values.is_array();
        let list = if bare { Some(&values) } else { values.get("profiles") };
        let mut profiles = Self { bare, ..Self::default() };
        match list {
            None => {}
            Some(Value::Array(list)) => {
                for (at, value) in list.iter().enumerate() {
                    let profile = Profile::of(value);
                    if let Err(failure) = profile.check() {
                        profiles.problems.push(format!("profile {}: {failure}", at + 1));
                    }
                    profiles.list.push(profile);
                }
            }
            Some(_) => return Err(failed("`profiles` is no list".to_owned())),
        }
        Ok(profiles)
    }

    /// Where the list stands.
    pub(super) fn root(&self) -> Vec<Step> {
        if self.bare { Vec::new() } else { path!["profiles"] }
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// When there is none; with the names that there are.
    pub fn one(&self, name: &str) -> Result<&Profile, Failure> {
        self.list.iter().find(|profile| profile.name == name).ok_or_else(|| self.unknown(name))
    }

    pub(super) fn unknown(&self, name: &str) -> Failure {
        let failure = Failure::new(format!("there is no profile {}", clean(name)));
        if self.list.is_empty() {
            return failure.hint("`lazyagents provider add` makes one");
        }
        let names: Vec<String> = self.list.iter().map(|profile| clean(&profile.name)).collect();
        failure.hint(format!("there are: {}", names.join(", ")))
    }
}

impl Profile {
    fn of(value: &Value) -> Self {
        let text =
            |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            name: text("name").unwrap_or_default(),
            base_url: text("baseUrl"),
            model: text("model"),
            token: text("token"),
            env_key: text("envKey"),
            wire_api: text("wireApi"),
            token_command: text("tokenCommand"),
            token_file: text("tokenFile").map(PathBuf::from),
        }
    }

    /// Its keys and values, as the file has them.
    fn fields(&self) -> [(&'static str, Option<String>); 8] {
        [
            ("name", Some(self.name.clone())),
            ("baseUrl", self.base_url.clone()),
            ("model", self.model.clone()),
            ("token", self.token.clone()),
            ("envKey", self.env_key.clone()),
            ("wireApi", self.wire_api.clone()),
            ("tokenCommand", self.token_command.clone()),
            ("tokenFile", self.token_file.as_ref().map(|path| path.to_string_lossy().into_owned())),
        ]
    }

    pub(super) fn to_value(&self) -> Value {
        let some = self.fields().into_iter().filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?))));
        Value::Object(some.collect::<Map<_, _>>())
    }

    /// What makes the profile at `place` be this one; keys that are not ours stay.
    pub(super) fn changes(&self, place: &[Step]) -> Vec<Change> {
        let one = |(key, value): (&str, Option<String>)| {
            let mut at = place.to_vec();
            at.push(key.into());
            match value {
                Some(value) => Change::Set { at, value: value.into() },
                None => Change::Remove { at, hollow: None },
            }
        };
        self.fields().into_iter().map(one).collect()
    }

    /// Refuses what an agent would stumble over.
    ///
    /// # Errors
    /// With what is wrong, and for a character in a text where it stands.
    pub fn check(&self) -> Result<(), Failure> {
        check_name(&self.name)?;
        for (key, value) in self.fields() {
            let Some(value) = value else { continue };
            let odd = |c: char| sys::text::is_hidden(c) || matches!(c, '“' | '”' | '‘' | '’' | '„' | '«' | '»');
            if let Some(at) =
                value.chars().position(|c| odd(c) || key != "tokenCommand" && key != "tokenFile" && c == '"')
            {
                let c = value.chars().nth(at).unwrap_or_default();
                return Err(Failure::usage(format!("{key} cannot be written"))
                    .cause(format!("character {} is {:?}, which no endpoint has", at + 1, c))
                    .hint("a text that was copied from a page may have quotes of print in it"));
            }
        }
        if let Some(url) = &self.base_url {
            let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || rest.contains(char::is_whitespace)) {
                return Err(Failure::usage(format!("{} is no base URL", clean(url)))
                    .hint("it begins with https:// or http:// and has no blanks"));
            }
            let (host, query) = url.split_once('?').unwrap_or((url, ""));
            let secret = |name: &str| super::super::diff::is_secret_name(name);
            let host = host.split("://").nth(1).unwrap_or_default().split('/').next().unwrap_or_default();
            if host.contains('@') || query.split('&').any(|pair| secret(pair.split('=').next().unwrap_or_default())) {
                return Err(Failure::usage("a base URL must not hold a password or a key")
                    .hint("others would see it in lists and in arguments; give it as the token"));
            }
        }
        if let Some(name) = &self.env_key {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(Failure::usage(format!("{} is no name of a variable", clean(name)))
                    .hint("--env-key takes the name, as in MY_TOKEN, not the token"));
            }
        }
        if let Some(path) = self.token_file.as_ref().filter(|path| !path.is_absolute() && !path.starts_with("~")) {
            return Err(Failure::usage(format!("{} is no whole path", clean(&path.to_string_lossy())))
                .hint("an agent reads it wherever it is started: begin with / or ~/"));
        }
        self.wire()?;
        Ok(())
    }

    fn wire(&self) -> Result<Option<Wire>, Failure> {
        match self.wire_api.as_deref() {
            None => Ok(None),
            Some("responses") => Ok(Some(Wire::Responses)),
            Some("chat") => Ok(Some(Wire::Chat)),
            Some("anthropic") => Ok(Some(Wire::Anthropic)),
            Some(other) => Err(Failure::usage(format!("{} is no wire API", clean(other)))
                .hint("there are: responses, chat, anthropic")),
        }
    }

    /// Where its token comes from.
    pub fn source(&self) -> Source {
        match self {
            Self { env_key: Some(_), .. } => Source::Env,
            Self { token_command: Some(_), .. } => Source::Command,
            Self { token_file: Some(_), .. } => Source::File,
            Self { token: Some(_), .. } => Source::Literal,
            _ => Source::None,
        }
    }

    /// What an agent is to use.
    pub fn wanted(&self) -> Wanted {
        let token = match (&self.env_key, &self.token_command, &self.token_file, &self.token) {
            (Some(name), ..) => Token::Env(name.clone()),
            (_, Some(command), ..) => Token::Command(command.clone()),
            (_, _, Some(file), _) => Token::File(file.clone()),
            (.., Some(token)) => Token::Literal(token.clone()),
            _ => Token::None,
        };
        Wanted {
            name: self.name.clone(),
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            wire: self.wire().ok().flatten(),
            token,
        }
    }
}

/// A profile with its token at hand, for one session: read from where it says.
///
/// # Errors
/// When the variable is not set, the file cannot be read, or the command fails. The failure never says what was read.
pub fn token_of(profile: &Profile, env: &Env, home: &Path) -> Result<Wanted, Failure> {
    let mut wanted = profile.wanted();
    let failed = || Failure::new(format!("could not get the token of {}", clean(&profile.name)));
    let token = match &wanted.token {
        Token::None => return Ok(wanted),
        Token::Literal(token) => token.clone(),
        Token::Env(name) => match env.text(name).filter(|value| !value.is_empty()) {
            Some(value) => value.to_owned(),
            None => return Err(failed().cause(format!("the variable {name} is not set"))),
        },
        Token::File(path) => {
            let path = match path.strip_prefix("~") {
                Ok(below) => home.join(below),
                Err(_) => path.clone(),
            };
            let bytes = read_bounded(&path, LONGEST_TOKEN)?
                .ok_or_else(|| failed().cause(format!("there is no {}", path.display())))?;
            String::from_utf8(bytes).map_err(|_| failed().cause(format!("{} is not UTF-8", path.display())))?
        }
        Token::Command(command) => {
            let spec = proc::Spec {
                program: "/bin/sh".into(),
                args: vec!["-c".into(), command.into()],
                dir: Some(home.to_path_buf()),
                env: env.clone(),
            };
            let limits = Limits { deadline: Some(COMMAND_WITHIN), output: LONGEST_TOKEN, merged: false };
            let done = proc::run(&spec, &limits, &Cancel::never())?;
            if done.timed_out || !done.exit.ok() {
                let why = if done.timed_out { "it did not end in time".to_owned() } else { done.exit.to_string() };
                return Err(failed().cause(format!("`{}`: {why}", clean(command))));
            }
            String::from_utf8(done.stdout).map_err(|_| failed().cause("what its command printed is not UTF-8"))?
        }
    };
    let token = token.trim().to_owned();
    if token.is_empty() {
        return Err(failed().cause("it is empty"));
    }
    if token.contains(|c: char| c.is_control()) {
        return Err(failed().cause("it has several lines, or characters that no token has"));
    }
    wanted.token = Token::Literal(token);
    Ok(wanted)
}
