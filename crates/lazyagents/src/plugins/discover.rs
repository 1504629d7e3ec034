//! Which files in the plugins folder are plugins, and why the others are not (clauses D1 to D8). It reads one
//! folder, once, and runs nothing. The command line and the app call it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sys::{proc, text};

use crate::reserved;

/// A plugin that may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// The file name without its extension (clause D3).
    pub id: String,
    /// The file name, cleaned, for people.
    pub file: String,
    /// The executable.
    pub path: PathBuf,
}

/// A file that is no plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The file name, cleaned, for people.
    pub file: String,
    /// Why, as the end of a sentence.
    pub reason: String,
}

impl Ignored {
    /// The one-line warning (clause D7).
    pub fn warning(&self) -> String {
        format!("plugin {} ignored: {}", self.file, self.reason)
    }
}

/// What is in the plugins folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// The folder.
    pub dir: PathBuf,
    /// In byte order of the file names.
    pub plugins: Vec<Plugin>,
    /// In byte order of the file names.
    pub ignored: Vec<Ignored>,
    /// Folders, dangling links and the like: skipped without a warning (clause D2), listed when asked for.
    pub silent: Vec<Ignored>,
    /// The folder could not be read.
    pub problem: Option<String>,
}

impl Discovery {
    /// All warnings, one line each.
    pub fn warnings(&self) -> Vec<String> {
        self.problem.iter().cloned().chain(self.ignored.iter().map(Ignored::warning)).collect()
    }

    /// All that is no plugin: with a warning, then without.
    pub fn passed_over(&self) -> impl Iterator<Item = &Ignored> {
        self.ignored.iter().chain(&self.silent)
    }

    /// The plugin with this id.
    pub fn find(&self, id: &str) -> Option<&Plugin> {
        self.plugins.iter().find(|plugin| plugin.id == id)
    }
}

/// Looks into `dir`. A missing folder holds no plugins and is no problem (clause D1).
pub fn discover(dir: &Path) -> Discovery {
    let mut found = Discovery { dir: dir.to_owned(), ..Discovery::default() };
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return found,
        Err(error) => {
            found.problem = Some(text::clean(&sys::Failure::io("read the plugins folder", dir, &error).to_string()));
            return found;
        }
    };
    let mut names: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.file_name())).collect();
    names.sort_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    let mut taken = BTreeSet::new();
    for name in names {
        let path = dir.join(&name);
        // Folders, fifos, sockets, devices and dangling links are skipped silently (clause D2).
        let file = text::clean(&name.to_string_lossy());
        if let Some(reason) = no_file(&path) {
            found.silent.push(Ignored { file, reason: reason.to_owned() });
            continue;
        }
        match judge(&name, &path, &taken) {
            Ok(id) => {
                taken.insert(id.clone());
                found.plugins.push(Plugin { id, file, path });
            }
            Err(reason) => found.ignored.push(Ignored { file, reason }),
        }
    }
    found
}

/// Why `path` is no regular file, links followed; `None` when it is one.
fn no_file(path: &Path) -> Option<&'static str> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => None,
        Ok(meta) if meta.is_dir() => Some("it is a folder; plugins are files of the plugins folder itself"),
        Ok(_) => Some("it is no regular file"),
        Err(_) if path.is_symlink() => Some("it is a link that leads nowhere"),
        Err(_) => Some("it cannot be looked at"),
    }
}

/// The id of a regular file, or why it is no plugin. The order of the checks is clause D5's.
fn judge(name: &OsStr, path: &Path, taken: &BTreeSet<String>) -> Result<String, String> {
    if !proc::is_executable(path) {
        return Err("it is not executable (chmod +x makes it a plugin)".to_owned());
    }
    let Some(id) = name.to_str().map(id_of).filter(|id| is_id(id)) else {
        return Err(
            "its name without extension is no id (a-z, 0-9, _ and -, at most 32, not starting with _ or -)".to_owned()
        );
    };
    if taken.contains(id) {
        return Err(format!("the id {id} is already taken by another file"));
    }
    match reserved::why(id) {
        Some(why) => Err(format!("the id {id} is reserved, it {why}")),
        None => Ok(id.to_owned()),
    }
}

/// The file name without its last extension (clause D3).
fn id_of(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(id, _)| id)
}

/// `^[a-z0-9][a-z0-9_-]{0,31}$` (seed; clause D4).
pub fn is_id(id: &str) -> bool {
    id.len() <= 32 && wire::plugin::Command::is_name(id)
}

#[cfg(all(test, unix))]
#[allow(clippy::disallowed_methods, clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder(files: &[(&str, u32)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in files {
            let path = dir.path().join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode)).unwrap();
        }
        dir
    }

    fn ids(found: &Discovery) -> Vec<&str> {
        found.plugins.iter().map(|plugin| plugin.id.as_str()).collect()
    }

    #[test]
    fn d3_d4_ids_come_from_file_names() {
        let long = ["a".repeat(32), "b".repeat(33)];
        let dir = folder(&[
            (long[0].as_str(), 0o755),
            (long[1].as_str(), 0o755),
            ("foo.", 0o755),
            ("a.b.sh", 0o755),
            (".env", 0o755),
            ("Upper", 0o755),
            ("-dash", 0o755),
            ("9_x-y.py", 0o100),
            ("nl\n", 0o755),
        ]);
        let found = discover(dir.path());
        assert_eq!(ids(&found), ["9_x-y", long[0].as_str(), "foo"]);
        assert_eq!(found.ignored.len(), 6);
        assert!(found.warnings().iter().all(|w| w.contains(" ignored: ") && !w.contains('\n')));
    }

    #[test]
    fn d5_the_first_file_wins_and_a_refused_one_takes_no_id() {
        let dir = folder(&[("hello", 0o644), ("hello.py", 0o755), ("hello.sh", 0o755)]);
        let found = discover(dir.path());
        assert_eq!(found.plugins[0].file, "hello.py");
        let warnings = found.warnings();
        assert!(warnings[0].starts_with("plugin hello ignored: it is not executable"));
        assert_eq!(warnings[1], "plugin hello.sh ignored: the id hello is already taken by another file");
    }

    #[test]
    fn d6_every_reserved_name_is_refused() {
        let names: Vec<_> = reserved::TABS.iter().chain(&reserved::COMMANDS).map(|n| (*n, 0o755)).collect();
        let dir = folder(&names);
        let found = discover(dir.path());
        assert!(found.plugins.is_empty());
        assert!(
            found.warnings().contains(
                &"plugin doctor ignored: the id doctor is reserved, it is a command of lazyagents".to_owned()
            )
        );
    }

    #[test]
    fn d1_d2_what_is_no_file_is_silent_and_links_are_followed() {
        let dir = folder(&[("real", 0o755)]);
        let path = dir.path();
        std::fs::create_dir(path.join("folder")).unwrap();
        symlink(path.join("gone"), path.join("dangling")).unwrap();
        symlink(path.join("real"), path.join("linked")).unwrap();
        let found = discover(path);
        assert_eq!(ids(&found), ["linked", "real"]);
        assert!(found.warnings().is_empty());
        let silent: Vec<_> = found.silent.iter().map(|file| file.file.as_str()).collect();
        assert_eq!(silent, ["dangling", "folder"]);
        assert_eq!(discover(&path.join("no/such")).warnings(), Vec::<String>::new());
        let not_a_folder = discover(&path.join("real"));
        assert_eq!((not_a_folder.plugins.len(), not_a_folder.warnings().len()), (0, 1));
    }
}
