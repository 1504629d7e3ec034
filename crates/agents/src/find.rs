//! Finding an agent's program: PATH first, then its own installer's folder, then the managers. It only asks
//! what kind of file something is; it opens nothing, starts nothing and writes nothing. `detect` calls it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sys::Env;

use crate::adapter::Surroundings;
use crate::managers;
use crate::read::tidy;

/// How far to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Look outside the home folder too (Homebrew, `/usr/local/bin`). PATH is always looked at. Tests and the
    /// demo leave it off, so that they see nothing but their own home.
    pub system: bool,
    /// An empty folder that becomes HOME while a program is asked for its version, so that whatever it writes
    /// (Gemini, OpenCode and Copilot do) lands there; the caller makes and removes it. `None`: no program is run.
    pub scratch: Option<PathBuf>,
}

/// How a program was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// In a folder of PATH.
    Path,
    /// Where its own installer puts it.
    Own,
    /// Below this manager or place, not on PATH.
    Below(&'static str),
}

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path as it was found; what a person would start.
    pub path: PathBuf,
    /// The file it leads to, all links followed.
    pub resolved: PathBuf,
    /// How.
    pub via: Via,
}

/// A folder that may hold programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The folder, absolute.
    pub(crate) dir: PathBuf,
    /// What it is.
    pub(crate) via: Via,
}

impl Found {
    /// One sentence for the detail pane.
    pub fn words(&self) -> String {
        let path = self.path.display();
        let mut words = match self.via {
            Via::Path => format!("found on PATH at {path}"),
            Via::Own => format!("found where its installer puts it, at {path}"),
            Via::Below(place) => format!("not on PATH, found below {place} at {path}"),
        };
        if self.resolved != self.path {
            words.push_str(&format!(", which leads to {}", self.resolved.display()));
        }
        words
    }

    /// `env` with the program's folder in front of PATH unless it is on it: a node script found below nvm needs
    /// the node beside it. For running the program, not only for asking its version.
    pub fn env(&self, env: &Env) -> Env {
        let mut env = env.clone();
        let Some(dir) = self.path.parent().filter(|_| self.via != Via::Path) else { return env };
        let mut dirs = vec![dir.to_owned()];
        dirs.extend(env.path_dirs());
        if let Ok(path) = std::env::join_paths(dirs) {
            env.set("PATH", path);
        }
        env
    }
}

/// All folders to look in, in order: PATH, then (after the agent's own) the managers. Made once per detection.
pub(crate) struct Spots {
    path: Vec<Spot>,
    rest: Vec<Spot>,
}

impl Spots {
    /// The folders in these surroundings. Relative entries of PATH are left out: what they mean depends on the
    /// folder one is in, and a program in the current folder must not be started by a list.
    pub(crate) fn of(around: &Surroundings, search: &Search) -> Self {
        let mut seen = Vec::new();
        let mut once = |spots: Vec<Spot>| -> Vec<Spot> {
            let mut kept = Vec::new();
            for spot in spots {
                if !seen.contains(&spot.dir) {
                    seen.push(spot.dir.clone());
                    kept.push(spot);
                }
            }
            kept
        };
        let path = around.env().path_dirs().into_iter().filter(|dir| dir.is_absolute());
        let path = once(path.map(|dir| Spot { dir: tidy(&dir), via: Via::Path }).collect());
        Self { path, rest: once(managers::spots(around, search.system)) }
    }

    /// The first of `programs` found in PATH, in `own` or in a manager's folder.
    pub(crate) fn find(&self, programs: &[&str], own: &[PathBuf]) -> Option<Found> {
        let own: Vec<Spot> = own.iter().map(|dir| Spot { dir: dir.clone(), via: Via::Own }).collect();
        let spots = self.path.iter().chain(&own).chain(&self.rest);
        spots.flat_map(|spot| programs.iter().map(move |program| (spot, *program))).find_map(|(spot, program)| {
            let names = file_names(program);
            let path = names.into_iter().map(|name| spot.dir.join(name)).find(|path| is_program(path))?;
            let resolved = fs::canonicalize(&path).ok()?;
            Some(Found { path, resolved, via: spot.via })
        })
    }
}

/// What a program is called on disk.
fn file_names(program: &str) -> Vec<OsString> {
    if cfg!(windows) {
        [".exe", ".cmd", ".bat"].iter().map(|ext| OsString::from(format!("{program}{ext}"))).collect()
    } else {
        vec![OsString::from(program)]
    }
}

/// A regular file, links followed, that someone may execute. A folder, a FIFO or a dangling link is none.
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && may_execute(&meta))
}

#[cfg(unix)]
fn may_execute(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_execute(_: &fs::Metadata) -> bool {
    true
}
