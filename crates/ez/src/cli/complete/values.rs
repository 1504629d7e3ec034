//! Which words an argument takes: names of repositories and sessions, labels, plugins, settings. Each is read from the
//! state when asked for. Only `complete` calls it.

use std::path::{Path, PathBuf};

use clap::Arg;
use sys::Env;

use super::{Answer, Candidate};
use crate::cli::{schema, settings};
use crate::context::{Context, Globals};
use crate::hooks::plugins;
use crate::locate;
use crate::model::gitdir::GitDir;
use crate::store::Repo;

/// What stands in an argument's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nobody said; a test finds these.
    Unknown,
    /// A new name or any text: nothing is offered.
    Free,
    Files,
    Dirs,
    Repo,
    RepoLabel,
    Session,
    SessionLabel,
    EnvKey,
    Branch,
    Plugin,
    Hook,
    Trash,
    Setting,
    Root,
    View,
    Landing,
    Schema,
    Shell,
    Go,
}

impl Kind {
    /// The kind of one argument of the command `path`.
    pub(super) fn of(path: &str, arg: &Arg) -> Self {
        let id = arg.get_id().as_str();
        match (path, id) {
            ("remove" | "repo remove" | "repo info", "name") | (_, "target" | "repo") => Self::Repo,
            (_, "workspace") | ("config remove-root", _) => Self::Root,
            (_, "select_by") => Self::View,
            (_, "on_enter" | "on_create") => Self::Landing,
            (_, "cd_file" | "post_cmd_file") => Self::Files,
            (_, "dialect") | ("init-shell", _) => Self::Shell,
            (_, "start_dir" | "dir" | "path") => Self::Dirs,
            ("repo list", "label") | ("repo label add" | "repo label remove", "labels") => Self::RepoLabel,
            ("session label add" | "session label remove", "labels") => Self::SessionLabel,
            ("session new" | "session from-dirty" | "session register" | "plugin new", "name") => Self::Free,
            ("session rename", "new") | (_, "older" | "url" | "value") => Self::Free,
            ("session new", "start_point") => Self::Branch,
            ("session env set" | "session env unset", "key") => Self::EnvKey,
            ("session exec", "command") => Self::Files,
            ("plugin run", "hook") => Self::Hook,
            ("trash restore", _) => Self::Trash,
            ("config get" | "config set", "key") => Self::Setting,
            ("schema", _) => Self::Schema,
            ("go", _) => Self::Go,
            (_, "session" | "parent" | "old") => Self::Session,
            _ if path.starts_with("session ") && id == "name" => Self::Session,
            _ if path.starts_with("plugin ") && id == "name" => Self::Plugin,
            _ => Self::Unknown,
        }
    }
}

/// The words of this kind, where what was given so far counts.
pub(super) fn of(kind: Kind, arg: &Arg, given: &[(String, String)], env: Env) -> Answer {
    let possible: Vec<Candidate> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| Candidate {
            value: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
        })
        .collect();
    let paths = match kind {
        Kind::Files => "files",
        Kind::Dirs => "dirs",
        _ => "",
    };
    if !possible.is_empty() || !paths.is_empty() || matches!(kind, Kind::Free | Kind::Unknown) {
        return Answer { paths, candidates: possible };
    }
    let found = state(given, env).map(|state| state.words(kind)).unwrap_or_default();
    let fits = |word: &(String, String)| !word.0.is_empty() && !word.0.chars().any(char::is_control);
    let candidate = |(value, about): (String, String)| Candidate { value, about: sys::text::clean(&about) };
    let mut candidates: Vec<Candidate> = found.into_iter().filter(fits).map(candidate).collect();
    // The same name twice is one word.
    let mut seen = std::collections::HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.value.clone()));
    Answer { paths, candidates }
}

/// The state as it is for what was given.
struct State<'a> {
    context: Context,
    given: &'a [(String, String)],
}

fn given<'a>(given: &'a [(String, String)], id: &str) -> Option<&'a str> {
    given.iter().rev().find(|(name, _)| name == id).map(|(_, value)| value.as_str())
}

fn state(all: &[(String, String)], env: Env) -> Option<State<'_>> {
    let dir = given(all, "start_dir").map(PathBuf::from);
    let what = "completion".to_owned();
    let context = Context::load(env.clone(), Globals::default(), dir.as_deref(), what.clone())
        .or_else(|_| Context::without_config(env, Globals::default(), dir.as_deref(), what))
        .ok()?;
    Some(State { context, given: all })
}

fn plain(words: impl IntoIterator<Item = impl Into<String>>) -> Vec<(String, String)> {
    words.into_iter().map(|word| (word.into(), String::new())).collect()
}

impl State<'_> {
    fn repos(&self) -> Vec<Repo> {
        self.context.store.repos().unwrap_or_default()
    }

    fn repo(&self) -> Option<Repo> {
        locate::repo(&self.context, given(self.given, "repo")).ok()
    }

    fn sessions(&self) -> Vec<crate::store::Session> {
        self.repo().and_then(|repo| self.context.store.sessions(&repo.id).ok()).unwrap_or_default()
    }

    fn words(&self, kind: Kind) -> Vec<(String, String)> {
        match kind {
            Kind::Unknown | Kind::Free | Kind::Files | Kind::Dirs => Vec::new(),
            Kind::Repo => self.repo_words(),
            Kind::RepoLabel => {
                let state = |repo: &Repo| self.context.store.repo_state(&repo.id).unwrap_or_default();
                sorted(self.repos().iter().flat_map(|repo| state(repo).labels))
            }
            Kind::Session => {
                let about = |session: &crate::store::Session| session.path.clone().unwrap_or_default();
                self.sessions().into_iter().map(|session| (session.name.clone(), about(&session))).collect()
            }
            Kind::SessionLabel => sorted(self.sessions().into_iter().flat_map(|session| session.labels)),
            Kind::EnvKey => self.env_keys(),
            Kind::Branch => {
                let git = self.repo().and_then(|repo| GitDir::at(Path::new(&repo.path)));
                plain(git.and_then(|git| git.branches()).unwrap_or_default())
            }
            Kind::Plugin => self.plugin_words(),
            Kind::Hook => wire::hook::TABLE.iter().map(|row| (row.name.to_owned(), row.when.to_owned())).collect(),
            Kind::Trash => {
                let all = crate::ops::trash::list(&self.context);
                let twice = |name: &str| all.iter().filter(|entry| entry.name == name).count() > 1;
                all.iter()
                    .map(|entry| {
                        let about = format!("{} {}", entry.repo, entry.deleted_at);
                        (if twice(&entry.name) { entry.id.clone() } else { entry.name.clone() }, about)
                    })
                    .collect()
            }
            Kind::Setting => plain(settings::keys(&self.context.config)),
            Kind::Root => plain(self.context.config.workspace_roots.iter()),
            Kind::View => {
                let core = ["tree", "workspace", "repo", "owner", "label"].map(str::to_owned);
                let plugins = plugins::usable(&self.context);
                let own = plugins.iter().flat_map(|plugin| &plugin.manifest.views).map(|view| view.name.clone());
                plain(core.into_iter().chain(own))
            }
            Kind::Landing => {
                let plugins = plugins::usable(&self.context);
                let binds = plugins.iter().flat_map(|plugin| &plugin.manifest.binds).map(|bind| bind.name.clone());
                plain(["cd".to_owned(), "none".to_owned()].into_iter().chain(binds))
            }
            Kind::Schema => {
                schema::SCHEMAS.iter().map(|(name, what, _)| ((*name).to_owned(), (*what).to_owned())).collect()
            }
            Kind::Shell => plain(crate::shell::Shell::ALL.map(crate::shell::Shell::name)),
            Kind::Go => {
                let repos = self.repos();
                let sessions = repos.iter().flat_map(|repo| {
                    let all = self.context.store.sessions(&repo.id).unwrap_or_default();
                    all.into_iter().map(|session| (session.name, repo.name.clone()))
                });
                self.repo_words().into_iter().chain(sessions.collect::<Vec<_>>()).collect()
            }
        }
    }

    /// Names; the id where a name is there twice.
    fn repo_words(&self) -> Vec<(String, String)> {
        let repos = self.repos();
        let twice = |name: &str| repos.iter().filter(|repo| repo.name == name).count() > 1;
        let word = |repo: &Repo| if twice(&repo.name) { repo.id.clone() } else { repo.name.clone() };
        repos.iter().map(|repo| (word(repo), self.context.paths.short(Path::new(&repo.path)))).collect()
    }

    fn plugin_words(&self) -> Vec<(String, String)> {
        plugins::installed(&self.context)
            .into_iter()
            .map(|plugin| match plugin {
                Ok(plugin) => (plugin.name, plugin.manifest.description),
                Err(broken) => (broken.name, "broken".to_owned()),
            })
            .collect()
    }

    fn env_keys(&self) -> Vec<(String, String)> {
        let sessions = match given(self.given, "session") {
            Some(name) => self.sessions().into_iter().filter(|session| session.name == name).collect(),
            None => self.sessions(),
        };
        sorted(sessions.into_iter().flat_map(|session| session.env.into_keys()))
    }
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<(String, String)> {
    plain(words.collect::<std::collections::BTreeSet<_>>())
}
