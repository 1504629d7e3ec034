//! Where this project keeps things: pure functions of the environment. It never touches the disk.

use std::path::{Path, PathBuf};

use crate::{Env, Failure};

/// The folders of one program of ours. All are absolute and without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The person's home folder.
    pub home: PathBuf,
    /// `<config home>/<program>` (seed D1: `$XDG_CONFIG_HOME`, else `~/.config`, on every Unix).
    pub config: PathBuf,
    /// `<data home>/<program>`.
    pub data: PathBuf,
    /// `<cache home>/<program>`: disposable.
    pub cache: PathBuf,
    /// `<state home>/<program>`: logs.
    pub state: PathBuf,
}

impl Paths {
    /// The folders of `program` in `env`.
    ///
    /// # Errors
    /// When `env` names no absolute home folder.
    pub fn of(program: &str, env: &Env) -> Result<Self, Failure> {
        let Some(home) = env.home() else {
            return Err(Failure::new("no home folder is known: HOME is not set to an absolute path")
                .hint("set HOME and try again"));
        };
        let home = tidy(&home);
        let base = |var: &str, windows_var: &str, fallback: &str| {
            let base = if cfg!(windows) { env.absolute(windows_var) } else { env.absolute(var) };
            tidy(&base.unwrap_or_else(|| home.join(fallback)).join(program))
        };
        Ok(Self {
            config: base("XDG_CONFIG_HOME", "APPDATA", ".config"),
            data: base("XDG_DATA_HOME", "LOCALAPPDATA", ".local/share"),
            cache: base("XDG_CACHE_HOME", "LOCALAPPDATA", ".cache"),
            state: base("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state"),
            home,
        })
    }

    /// `~/x` as an absolute path below this home; anything else as it is.
    pub fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        }
    }

    /// `path` for people: `~` stands for the home folder.
    pub fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.home) {
            Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

/// Without trailing or doubled slashes (seed V1: no trailing slashes), `.` removed; `..` and links stay as they are.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs.iter().map(|(n, v)| (*n, *v)).collect()
    }

    #[test]
    #[cfg(unix)]
    fn xdg_variables_win_and_relative_or_empty_ones_do_not() {
        let p =
            Paths::of("x", &env(&[("HOME", "/h/"), ("XDG_CONFIG_HOME", "/c//d/"), ("XDG_DATA_HOME", "rel")])).unwrap();
        assert_eq!(p.home, Path::new("/h"));
        assert_eq!(p.config.to_str(), Some("/c/d/x"));
        assert_eq!(p.data.to_str(), Some("/h/.local/share/x"));
        let p = Paths::of("x", &env(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "")])).unwrap();
        assert_eq!(p.config.to_str(), Some("/h/.config/x"));
        assert!(Paths::of("x", &env(&[("HOME", "rel")])).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn tilde_goes_both_ways() {
        let p = Paths::of("x", &env(&[("HOME", "/h")])).unwrap();
        assert_eq!(p.expand("~/a/b"), Path::new("/h/a/b"));
        assert_eq!(p.expand("~"), Path::new("/h"));
        assert_eq!(p.expand("~user/a"), Path::new("~user/a"));
        assert_eq!(p.short(Path::new("/h/a")), "~/a");
        assert_eq!(p.short(Path::new("/hx/a")), "/hx/a");
    }
}
