//! What belongs to one session on disk, so that all of it can be put away together. Adapters say it, `manage` does it;
//! nothing is changed here.

use std::path::{Path, PathBuf};

use crate::adapter::Places;
use crate::read::all_in;

/// What has to happen so that an agent does not know a session any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Files and folders that are this session's alone; each one is there.
    pub paths: Vec<PathBuf>,
    /// The agent's own command that forgets the session, its name first, where files are not all that it keeps.
    pub command: Option<Vec<String>>,
    /// What has to be asked of the agent first, because it keeps the conversation in a database.
    pub exports: Vec<Export>,
    /// What still mentions the session afterwards, in words for people.
    pub stays: Vec<String>,
}

/// One conversation that the agent itself writes out and reads back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The agent's own id of the conversation.
    pub id: String,
    /// Where its id stands in what is printed (a JSON pointer): by it a whole answer is told from any other.
    pub id_at: &'static str,
    /// The command that prints it, its name first.
    pub export: Vec<String>,
    /// The command that reads it back; the file's path is its last argument.
    pub import: Vec<String>,
    /// The folder to start that in: it becomes the conversation's.
    pub folder: PathBuf,
}

impl Removal {
    /// Adds `path` when something is there (a link counts as itself).
    pub(crate) fn take(&mut self, path: PathBuf) {
        if std::fs::symlink_metadata(&path).is_ok() && !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    /// Adds everything in `folder` whose name starts with `prefix`.
    pub(crate) fn take_named(&mut self, folder: &Path, prefix: &str) {
        let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        all_in(folder).into_iter().filter(named).for_each(|path| self.take(path));
    }

    /// Leaves out what lies in another one of the paths, and puts them in order.
    pub(crate) fn tidied(mut self) -> Self {
        self.paths.sort();
        let mut outer: Vec<PathBuf> = Vec::with_capacity(self.paths.len());
        for path in self.paths {
            if !outer.iter().any(|known| path.starts_with(known)) {
                outer.push(path);
            }
        }
        self.paths = outer;
        self
    }
}

/// An id that may become part of a path or an argument of a command: it comes from a file, so it may be anything.
///
/// # Errors
/// In words for people, when it may not.
pub(crate) fn plain_id(id: &str) -> Result<&str, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !id.is_empty() && id.len() <= 200 && id.chars().all(plain) && !id.starts_with(['-', '.']) {
        Ok(id)
    } else {
        Err("its id is none that the agent would give".to_owned())
    }
}

/// True when `path` is below one of the folders that the agent keeps its things in.
pub fn within(places: &Places, path: &Path) -> bool {
    let below = |folder: &Path| path.starts_with(folder) && path != folder;
    let straight = path.is_absolute() && !path.components().any(|part| part == std::path::Component::ParentDir);
    straight && (below(&places.config_dir) || places.sessions.as_deref().is_some_and(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_a_path_or_an_option_is_none() {
        for good in ["3d41b5bd-323c-4072-927f-fee3519551f5", "ses_dd1e90b80ffekTrY1mLLHPVBtb", "a.b"] {
            assert!(plain_id(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "../x", "a/b", "a\\b", "--force", "-x", "a b", "a\n", "é", &"a".repeat(201)] {
            assert!(plain_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_what_is_the_agents_is_within() {
        let places = Places {
            config_dir: "/h/.claude".into(),
            sessions: Some("/h/.claude/projects".into()),
            ..Places::default()
        };
        for (path, is) in [
            ("/h/.claude/projects/p/a.jsonl", true),
            ("/h/.claude/tasks/a", true),
            ("/h/.claude", false),
            ("/h", false),
            ("/h/.claude/../x", false),
            ("x", false),
        ] {
            assert_eq!(within(&places, Path::new(path)), is, "{path}");
        }
    }

    #[test]
    fn what_lies_in_another_path_goes_with_it() {
        let removal = Removal { paths: vec!["/a/b/c".into(), "/a/b".into(), "/a/bc".into()], ..Removal::default() };
        assert_eq!(removal.tidied().paths, [PathBuf::from("/a/b"), PathBuf::from("/a/bc")]);
    }
}
