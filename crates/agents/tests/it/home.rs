//! An invented home: files, programs, links, packages. It never looks outside its temporary folder. The tests
//! beside it use it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use agents::{Detected, Search, VersionCache, detect_all, detect_places};
use sys::Env;
use tempfile::TempDir;

/// A temporary folder with `home` and `scratch` in it.
pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("home")).unwrap();
        fs::create_dir_all(dir.path().join("scratch")).unwrap();
        Self { dir }
    }

    /// `path` in the home; an absolute one as it is.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let home = fs::canonicalize(self.dir.path()).unwrap().join("home");
        if path.is_empty() { home } else { home.join(path) }
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("scratch")
    }

    pub(crate) fn folder(&self, path: &str) -> PathBuf {
        let at = self.at(path);
        fs::create_dir_all(&at).unwrap();
        at
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(&at, text).unwrap();
        at
    }

    pub(crate) fn program(&self, path: &str, text: &str) -> PathBuf {
        let at = self.file(path, text);
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
        at
    }

    /// A link at `path` to `target`, as written.
    pub(crate) fn link(&self, path: &str, target: &str) -> PathBuf {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(target, &at).unwrap();
        at
    }

    /// A package below a `node_modules`, with one program in it.
    pub(crate) fn package(&self, modules: &str, name: &str, version: &str, script: &str) {
        let json = format!(r#"{{"name":"{name}","version":"{version}"}}"#);
        self.file(&format!("{modules}/{name}/package.json"), &json);
        self.program(&format!("{modules}/{name}/{script}"), "#!/usr/bin/env node\n");
    }

    /// HOME, an empty PATH, and `pairs`; `~` at the start of a value is this home.
    pub(crate) fn env(&self, pairs: &[(&str, &str)]) -> Env {
        let mut env: Env = [("HOME", self.at(""))].into_iter().collect();
        for (name, value) in pairs {
            let value = value.replace('~', self.at("").to_str().unwrap());
            env.set(*name, value);
        }
        env
    }

    pub(crate) fn search(&self) -> Search {
        Search { system: false, scratch: Some(self.scratch()) }
    }

    /// Places only.
    pub(crate) fn places(&self, pairs: &[(&str, &str)]) -> Vec<Detected> {
        detect_places(&self.env(pairs), &self.search())
    }

    /// With versions; the second value lists what was asked. A program answers with the text in `answers`.
    pub(crate) fn detect(
        &self,
        pairs: &[(&str, &str)],
        cache: &mut VersionCache,
        answers: &[(&str, &str)],
    ) -> (Vec<Detected>, Vec<PathBuf>) {
        let asked = Mutex::new(Vec::new());
        let probe = |program: &Path, _: &Env| {
            asked.lock().unwrap().push(program.to_owned());
            let name = program.file_name().unwrap().to_str().unwrap();
            answers.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_bytes().to_vec())
        };
        let agents = detect_all(&self.env(pairs), &self.search(), cache, &probe);
        let mut asked = asked.into_inner().unwrap();
        asked.sort();
        (agents, asked)
    }

    /// Everything below the home: path, kind and mode, time, content.
    pub(crate) fn picture(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut open = vec![self.at("")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                out.push(format!("{} {:o} {} {:?}", path.display(), meta.mode(), meta.mtime_nsec(), content));
                if meta.is_dir() {
                    open.push(path);
                }
            }
        }
        out.sort();
        out
    }
}

/// The row of one agent.
pub(crate) fn of<'a>(agents: &'a [Detected], id: &str) -> &'a Detected {
    agents.iter().find(|agent| agent.id == id).unwrap()
}
