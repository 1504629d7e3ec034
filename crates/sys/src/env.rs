//! The environment as a value. `main` captures it once and hands it down, so that a test or the demo
//! chooses another one without touching the process. It never changes the process' own environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A set of environment variables. Names are unique; order is by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
}

impl Env {
    /// The environment this process was started with.
    #[allow(clippy::disallowed_methods)]
    pub fn from_process() -> Self {
        let mut env = Self { vars: std::env::vars_os().collect() };
        // Without HOME the system's own record of the user counts, as it does for a shell's `~`.
        if let (None, Some(home)) = (env.get("HOME"), std::env::home_dir().filter(|home| home.is_absolute())) {
            env.set("HOME", home);
        }
        env
    }

    /// An environment with nothing in it.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The value of `name`; an empty value counts as unset (XDG base directory rule, seed D1).
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of `name` when it is valid UTF-8 and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(OsStr::to_str)
    }

    /// The value of `name` as an absolute path; a relative one counts as unset (XDG base directory rule).
    pub fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// True when `name` is present, even with an empty value (NO_COLOR asks for a non-empty one: use [`Env::get`]).
    pub fn has(&self, name: &str) -> bool {
        self.vars.contains_key(OsStr::new(name))
    }

    /// Sets or replaces one variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Removes one variable.
    pub fn remove(&mut self, name: &str) -> &mut Self {
        self.vars.remove(OsStr::new(name));
        self
    }

    /// All variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The person's home folder: `HOME` (`USERPROFILE` on Windows), absolute.
    pub fn home(&self) -> Option<PathBuf> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.absolute(name)
    }

    /// The folders of `PATH`, in order; empty entries are left out.
    pub fn path_dirs(&self) -> Vec<PathBuf> {
        let Some(path) = self.get("PATH") else { return Vec::new() };
        std::env::split_paths(path).filter(|dir| !dir.as_os_str().is_empty()).collect()
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self { vars: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_count_as_unset_and_relative_paths_are_ignored() {
        let env: Env = [("A", ""), ("B", "rel/x"), ("C", "/abs")].into_iter().collect();
        assert_eq!(env.get("A"), None);
        assert!(env.has("A"));
        assert_eq!(env.absolute("B"), None);
        assert_eq!(env.absolute("C"), Some(PathBuf::from("/abs")));
    }

    #[test]
    fn setting_twice_keeps_one_value() {
        let mut env = Env::empty();
        env.set("X", "1").set("X", "2");
        assert_eq!(env.iter().count(), 1);
        assert_eq!(env.text("X"), Some("2"));
    }
}
