//! What an agent is to the rest of the code: a declaration, its places in a given environment, and what can
//! be done with it. Nothing here knows one agent; the rooms below `adapters` do, and nothing outside them
//! does. Every other crate that wants to know of an agent calls this.

use std::path::{Path, PathBuf};

use serde::Serialize;
use sys::Env;

use crate::account::Pays;
use crate::adapters::REGISTRY;
use crate::hooks::Hooks;
use crate::limits::Limits;
use crate::provider::Provides;
use crate::read::tidy;
use crate::sessions::Reads;

/// Something an adapter can do beyond detection (json.md, `agents --json`, `can`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Skills can be enabled in its own folder.
    Skills,
    /// Its sessions can be listed and read.
    Sessions,
    /// A session can be opened again.
    Resume,
    /// A session can be deleted.
    Delete,
    /// Tokens can be counted.
    Usage,
    /// Its limits can be asked.
    Limits,
    /// How it is signed in can be told.
    Auth,
    /// A provider profile can be written into its settings.
    Providers,
    /// Hooks can be written into its settings.
    Hooks,
    /// Whether a session is open right now can be told.
    Live,
}

/// What never changes about an agent, declared once by its adapter.
#[derive(Debug)]
pub struct About {
    /// The id in commands, JSON and the plugin contract (lazyagents.md, Agents).
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The names of its program, the usual one first; empty when it has none on PATH.
    pub programs: &'static [&'static str],
    /// The npm packages that carry it, current one first (agent-formats.md, first table); empty when npm has none.
    pub packages: &'static [&'static str],
    /// What the names of its platform packages start with where that is not the package's own name
    /// (`opencode-linux-x64` belongs to `opencode-ai`).
    pub platforms: &'static [&'static str],
    /// Environment variables of its own that move its places (agent-formats.md, overrides).
    pub overrides: &'static [&'static str],
    /// Set while its `--version` is asked, so that asking neither updates it nor talks to the network.
    pub quiet: &'static [(&'static str, &'static str)],
    /// What this build can do beyond detection.
    pub can: &'static [Capability],
    /// False when no real program or file of it was seen by us (agent-formats.md, "From public docs only").
    pub tried: bool,
}

/// Where an agent keeps its things in one environment. All paths are absolute, none needs to exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder that holds its settings, overrides obeyed.
    pub config_dir: PathBuf,
    /// The variable that moved [`Places::config_dir`], when one did.
    pub moved_by: Option<&'static str>,
    /// The agent refuses to start when the folder named by [`Places::moved_by`] is missing (`CODEX_HOME`).
    pub must_exist: bool,
    /// Other folders whose existence also means that the agent was used here.
    pub marks: Vec<PathBuf>,
    /// Where we enable skills: its own folder. `None` when it has none.
    pub managed_dir: Option<PathBuf>,
    /// Every user-level skill folder it reads, in its order, [`Places::managed_dir`] included (agent-formats.md, Skills).
    pub read_dirs: Vec<PathBuf>,
    /// The folder or the database that holds its sessions; `None` when unknown or one per project.
    pub sessions: Option<PathBuf>,
    /// Folders where its own installer puts its program, besides PATH.
    pub program_dirs: Vec<PathBuf>,
    /// What is wrong with the overrides themselves, for people.
    pub warnings: Vec<String>,
}

/// One agent. A new one is a folder below `adapters` and one line in the registry.
pub trait Adapter: Sync {
    /// The declaration.
    fn about(&self) -> &'static About;
    /// Its places in these surroundings. Reads at most a settings file of the agent, never anything else.
    fn places(&self, around: &Surroundings) -> Places;
    /// Who its requests are billed to, as its files and its environment tell now; `None` when this build cannot tell.
    /// Secrets are looked at for being there, never kept.
    fn account(&self, around: &Surroundings, places: &Places) -> Option<Pays> {
        let _ = (around, places);
        None
    }
    /// How the limits of its account are told; `None` when this build cannot.
    fn limits(&self) -> Option<&dyn Limits> {
        None
    }
    /// How it is told which endpoint to use; `None` when this build cannot.
    fn provides(&self) -> Option<&dyn Provides> {
        None
    }
    /// How it runs commands on its events; `None` when it does not or this build cannot tell.
    fn hooks(&self) -> Option<&dyn Hooks> {
        None
    }
    /// How its conversations are read; `None` when this build cannot.
    fn reads(&self) -> Option<&dyn Reads> {
        None
    }
}

/// All adapters in the fixed order of clause A1; new ones are appended, never inserted.
pub fn all() -> &'static [&'static dyn Adapter] {
    REGISTRY
}

/// The adapter with this id.
pub fn by_id(id: &str) -> Option<&'static dyn Adapter> {
    REGISTRY.iter().copied().find(|adapter| adapter.about().id == id)
}

/// What an agent does with a leading `~/` in an override: only some expand it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tilde {
    /// Taken as it is; the shell has expanded it or nobody does.
    Literal,
    /// Expanded by the agent.
    Expanded,
}

/// The environment and the home folder that an agent started from here would see.
#[derive(Clone, Debug)]
pub struct Surroundings {
    env: Env,
    home: PathBuf,
}

impl Surroundings {
    /// The surroundings in `env`; `None` when it names no absolute home folder.
    pub fn of(env: &Env) -> Option<Self> {
        Some(Self { home: tidy(&env.home()?), env: env.clone() })
    }

    /// The environment.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// The home folder, absolute.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// `path` below the home folder.
    pub(crate) fn home_join(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    /// `~/.agents/skills`, the folder that most agents share.
    pub(crate) fn shared_skills(&self) -> PathBuf {
        self.home.join(".agents").join("skills")
    }

    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub(crate) fn xdg_config(&self) -> PathBuf {
        self.env.absolute("XDG_CONFIG_HOME").map_or_else(|| self.home.join(".config"), |dir| tidy(&dir))
    }

    /// `$XDG_DATA_HOME`, else `~/.local/share`.
    pub(crate) fn xdg_data(&self) -> PathBuf {
        self.env.absolute("XDG_DATA_HOME").map_or_else(|| self.home.join(".local/share"), |dir| tidy(&dir))
    }

    /// The folder that variable `name` names, or `None` when it is unset. A relative one is `None` too, with
    /// a warning: the agent takes it from the folder it is started in, so it has no place that could be shown.
    pub(crate) fn named(&self, name: &'static str, tilde: Tilde, warnings: &mut Vec<String>) -> Option<PathBuf> {
        let value = self.env.get(name)?;
        let path = match (tilde, value.to_str()) {
            (Tilde::Expanded, Some("~")) => self.home.clone(),
            (Tilde::Expanded, Some(text)) if text.starts_with("~/") => {
                self.home.join(text[2..].trim_start_matches('/'))
            }
            _ => PathBuf::from(value),
        };
        if path.is_absolute() {
            return Some(tidy(&path));
        }
        warnings.push(format!(
            "{name} is the relative path {}: the agent takes it from the folder it starts in, so the default is shown here",
            path.display()
        ));
        None
    }
}

impl Places {
    /// Places of an agent whose config folder is `default` unless variable `name` moves it, and whose own
    /// skills are in `skills` below it. The shape of most agents; the adapter adds what is its own.
    pub(crate) fn below(around: &Surroundings, name: &'static str, tilde: Tilde, default: &str) -> Self {
        let mut warnings = Vec::new();
        let moved = around.named(name, tilde, &mut warnings);
        let moved_by = moved.is_some().then_some(name);
        let config_dir = moved.unwrap_or_else(|| around.home_join(default));
        let skills = config_dir.join("skills");
        Self {
            moved_by,
            warnings,
            managed_dir: Some(skills.clone()),
            read_dirs: vec![skills],
            config_dir,
            ..Self::default()
        }
    }

    /// Adds a folder that it reads too; one that is there already keeps its place.
    pub(crate) fn reads(&mut self, dir: PathBuf) {
        if !self.read_dirs.contains(&dir) {
            self.read_dirs.push(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_the_contract_and_ids_are_unique() {
        let ids: Vec<_> = all().iter().map(|a| a.about().id).collect();
        assert_eq!(
            ids.join(" "),
            "claude-code codex gemini-cli opencode claude-desktop hermes-agent pi crush qwen-code copilot"
        );
        assert!(all().iter().all(|a| by_id(a.about().id).is_some()));
        assert!(by_id("claude").is_none());
    }

    #[test]
    fn what_no_real_program_showed_is_declared_untried() {
        let untried: Vec<_> = all().iter().map(|a| a.about()).filter(|a| !a.tried).map(|a| a.id).collect();
        assert_eq!(untried, ["claude-desktop", "hermes-agent", "crush"]);
    }
}
