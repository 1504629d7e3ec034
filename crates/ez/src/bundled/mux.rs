//! What tmux and zellij share: one word for a shell that is not known, and the sessions of all repositories as
//! `$EZ_BIN session list --all --json` tells them (a view's request names no repository).
//! Both plugins call it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sys::{Env, Failure};

use super::request::Session;
use super::tool::{GIT_LOCATION, Tool, args};
use crate::shell::held;

/// `text` as one word that sh, bash, zsh and fish read alike: a post command runs in the person's own shell, and the
/// request does not say which that is. Within single quotes only a backslash means something (to fish), so that and
/// the quote itself stand outside, escaped. PowerShell reads it too when `text` has neither.
pub(super) fn word(text: &str) -> String {
    let mut word = String::from("'");
    for char in text.chars() {
        match char {
            '\'' | '\\' => word.extend(['\'', '\\', char, '\'']),
            char => word.push(char),
        }
    }
    word + "'"
}

/// The last part of a repository's path; `repo` where there is none.
pub(super) fn base_name(repo: &Path) -> String {
    repo.file_name().map_or_else(|| "repo".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A session and the repository it belongs to.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) repo_id: String,
    pub(super) repo: PathBuf,
    pub(super) session: Session,
}

impl Listed {
    /// Where its programs start: its own folder, else the repository's.
    pub(super) fn folder(&self) -> &Path {
        folder(&self.session, &self.repo)
    }
}

/// The session's folder when it is there, else the repository's.
pub(super) fn folder<'a>(session: &'a Session, repo: &'a Path) -> &'a Path {
    session.path.as_deref().filter(|path| path.is_dir()).unwrap_or(repo)
}

/// The variables that only a plugin of ez is to see.
const PLUGIN_ONLY: [&str; 5] = ["EZ_BIN", "EZ_CONFIG_DIR", "EZ_DEBUG", "EZ_PLUGIN_DEBUG_LOG", "EZ_PLUGIN_TIMEOUT"];

/// The environment that a multiplexer's server may keep, and hand to every pane of every session for as long as it
/// lives: nothing of the hook that happened to start it, of a git hook around that, or of the session that the person
/// was in (what that hid comes back).
pub(super) fn lasting(env: &Env) -> Env {
    let mut lasting = env.clone();
    for name in PLUGIN_ONLY.iter().chain(&GIT_LOCATION) {
        lasting.remove(name);
    }
    for key in held(env) {
        let (saved, added) = (format!("EZ_SAVED_{key}"), format!("EZ_ADDED_{key}"));
        match env.iter().find(|(name, _)| *name == saved.as_str()) {
            Some((_, value)) => lasting.set(&key, value),
            None => lasting.remove(&key),
        };
        lasting.remove(&saved).remove(&added);
    }
    lasting
}

/// All sessions of all repositories, by the program that asked.
pub(super) fn listed(env: &Env) -> Result<Vec<Listed>, Failure> {
    let mut tool = Tool::program(env.get("EZ_BIN").unwrap_or_else(|| "ez".as_ref()), env);
    // A git hook's repository is none of that command's business.
    for name in GIT_LOCATION {
        tool.env().remove(name);
    }
    let out = tool.must("list the sessions", None, &args!("session", "list", "--all", "--json"))?;
    let repos: Vec<Value> = serde_json::from_slice(&out)
        .map_err(|error| Failure::new("could not read the list of sessions").cause(error))?;
    let mut list = Vec::new();
    for repo in &repos {
        let text = |key: &str| repo.get(key).and_then(Value::as_str).unwrap_or_default();
        let sessions = repo.get("sessions").and_then(Value::as_array);
        list.extend(sessions.into_iter().flatten().map(|session| Listed {
            repo_id: text("id").to_owned(),
            repo: PathBuf::from(text("path")),
            session: Session::of(session),
        }));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_plain_where_it_can_be() {
        assert_eq!(word("=repo/a b"), "'=repo/a b'");
        assert_eq!(word(r"it's \x"), r"'it'\''s '\\'x'");
        assert_eq!(base_name(Path::new("/ws/re po")), "re po");
        assert_eq!(base_name(Path::new("/")), "repo");
    }

    #[test]
    fn a_server_keeps_nothing_of_the_moment_it_was_started_in() {
        let env = |pairs: &[(&str, &str)]| -> Env { pairs.iter().copied().collect() };
        let before =
            env(&[("A", "new"), ("EZ_SAVED_A", "old"), ("B", "b"), ("EZ_ADDED_B", "1"), ("EZ_BIN", "/ez"), ("C", "")]);
        let mut hooked = before.clone();
        hooked.set("GIT_DIR", "/x/.git");
        assert_eq!(lasting(&hooked), env(&[("A", "old"), ("C", "")]));
    }
}
