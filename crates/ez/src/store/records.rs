//! What the store's files hold, and how each is read and written: index.toml, repo.toml, sessions.toml in the layout of
//! ez-behaviour.md, 1. Keys that this version does not know survive. Pure; `store` does the reading and writing.

use std::collections::BTreeMap;
use std::fmt::Write;

use sys::Failure;
use toml::{Table, Value};

use super::emit;
use super::fields::Fields;

/// One block of `repos/index.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repo {
    /// `<parent>-<name>`, with `-2` and so on when taken; never changes.
    pub id: String,
    /// The canonical folder.
    pub path: String,
    /// The last component of the path.
    pub name: String,
    /// RFC 3339.
    pub registered_at: String,
    /// git says that it is a repository.
    pub is_git: bool,
    /// Keys of another version.
    pub extra: Table,
}

/// `repos/<id>/repo.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepoState {
    /// The URL of `origin` when it was last looked at.
    pub remote_url: Option<String>,
    /// The branch new work starts from.
    pub default_branch: Option<String>,
    /// Sorted.
    pub labels: Vec<String>,
    /// RFC 3339.
    pub last_accessed: Option<String>,
    /// One table a plugin.
    pub plugin_state: Table,
    /// The folder this state belongs to, so that a folder added again finds it and another one does not.
    pub path: Option<String>,
    /// Device and inode of the git folder: it is the same repository after a move.
    pub git_dir: Option<String>,
    /// Keys of another version.
    pub extra: Table,
}

/// One block of `repos/<id>/sessions.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// A UUID.
    pub id: String,
    /// Its name; old files may hold any text.
    pub name: String,
    /// The parent's id.
    pub parent_id: Option<String>,
    /// Its folder.
    pub path: Option<String>,
    /// Sorted.
    pub labels: Vec<String>,
    /// RFC 3339.
    pub created_at: String,
    /// The repository's own folder.
    pub is_default: bool,
    /// Made without a worktree.
    pub bare: bool,
    /// RFC 3339.
    pub last_accessed: Option<String>,
    /// Variables, exported on enter.
    pub env: BTreeMap<String, String>,
    /// One map that all plugins share.
    pub plugin_state: Table,
    /// Keys of another version.
    pub extra: Table,
}

fn table(text: &str) -> Result<Fields, Failure> {
    let table = toml::from_str(text).map_err(|error| Failure::new(error.to_string().trim_end().to_owned()))?;
    Ok(Fields { table })
}

fn text(out: &mut String, name: &str, content: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{name} = {}", emit::string(content));
}

fn optional(out: &mut String, name: &str, content: Option<&String>) {
    if let Some(content) = content {
        text(out, name, content);
    }
}

fn texts(out: &mut String, name: &str, items: &[String]) {
    let items: Vec<_> = items.iter().map(|item| emit::string(item)).collect();
    let _ = writeln!(out, "{name} = [{}]", items.join(", "));
}

/// Keys at the top of a file that no field stands for: kept before the first block.
fn head(extra: &Table) -> String {
    let mut out = String::new();
    emit::rest(&mut out, extra);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// A file of blocks: the blocks, and keys of another version beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks<T> {
    /// In the file's order.
    pub items: Vec<T>,
    /// Keys of another version.
    pub extra: Table,
}

impl Blocks<Repo> {
    /// Reads `index.toml`.
    ///
    /// # Errors
    /// When it is no TOML or a key has another type.
    pub fn read(content: &str) -> Result<Self, Failure> {
        if let Some(items) = super::quick::repos(content) {
            return Ok(Self { items, extra: Table::new() });
        }
        Self::read_slowly(content)
    }

    /// [`Blocks::read`] by the general parser alone.
    fn read_slowly(content: &str) -> Result<Self, Failure> {
        let mut file = table(content)?;
        let mut items = Vec::new();
        for mut block in file.blocks("repos")? {
            let repo = Repo {
                id: block.needed("id")?,
                path: block.needed("path")?,
                name: block.text("name")?.unwrap_or_default(),
                registered_at: block.text("registered_at")?.unwrap_or_default(),
                is_git: block.flag("is_git")?,
                extra: block.table,
            };
            super::check_id(&repo.id)?;
            items.push(repo);
        }
        Ok(Self { items, extra: file.table })
    }

    /// Writes `index.toml`.
    pub fn write(&self) -> String {
        if self.items.is_empty() {
            return format!("{}repos = []\n", head(&self.extra));
        }
        let mut out = head(&self.extra);
        for (at, repo) in self.items.iter().enumerate() {
            out.push_str(if at == 0 { "[[repos]]\n" } else { "\n[[repos]]\n" });
            text(&mut out, "id", &repo.id);
            text(&mut out, "path", &repo.path);
            text(&mut out, "name", &repo.name);
            text(&mut out, "registered_at", &repo.registered_at);
            let _ = writeln!(out, "is_git = {}", repo.is_git);
            emit::rest(&mut out, &repo.extra);
        }
        out
    }
}

impl RepoState {
    /// Reads `repo.toml`.
    ///
    /// # Errors
    /// When it is no TOML or a key has another type.
    pub fn read(content: &str) -> Result<Self, Failure> {
        super::quick::repo_state(content).map_or_else(|| Self::read_slowly(content), Ok)
    }

    /// [`RepoState::read`] by the general parser alone.
    fn read_slowly(content: &str) -> Result<Self, Failure> {
        let mut file = table(content)?;
        Ok(Self {
            remote_url: file.text("remote_url")?,
            default_branch: file.text("default_branch")?,
            labels: file.texts("labels")?,
            last_accessed: file.text("last_accessed")?,
            plugin_state: file.table("plugin_state")?,
            path: file.text("path")?,
            git_dir: file.text("git_dir")?,
            extra: file.table,
        })
    }

    /// Writes `repo.toml`.
    pub fn write(&self) -> String {
        let mut out = String::new();
        optional(&mut out, "remote_url", self.remote_url.as_ref());
        optional(&mut out, "default_branch", self.default_branch.as_ref());
        texts(&mut out, "labels", &self.labels);
        optional(&mut out, "last_accessed", self.last_accessed.as_ref());
        optional(&mut out, "path", self.path.as_ref());
        optional(&mut out, "git_dir", self.git_dir.as_ref());
        emit::rest(&mut out, &self.extra);
        out.push_str("\n[plugin_state]\n");
        // What is no table comes first: below a section's header it would belong to that one.
        for (plugin, state) in self.plugin_state.iter().filter(|(_, state)| !state.is_table()) {
            emit::line(&mut out, plugin, state);
        }
        for (plugin, state) in &self.plugin_state {
            if let Value::Table(state) = state {
                emit::section(&mut out, &format!("plugin_state.{}", emit::key(plugin)), state);
            }
        }
        out
    }
}

impl Blocks<Session> {
    /// Reads `sessions.toml`.
    ///
    /// # Errors
    /// When it is no TOML or a key has another type.
    pub fn read(content: &str) -> Result<Self, Failure> {
        if let Some(items) = super::quick::sessions(content) {
            return Ok(Self { items, extra: Table::new() });
        }
        Self::read_slowly(content)
    }

    /// [`Blocks::read`] by the general parser alone.
    fn read_slowly(content: &str) -> Result<Self, Failure> {
        let mut file = table(content)?;
        let mut items = Vec::new();
        for block in file.blocks("sessions")? {
            items.push(Session::of(block)?);
        }
        Ok(Self { items, extra: file.table })
    }

    /// Writes `sessions.toml`.
    pub fn write(&self) -> String {
        if self.items.is_empty() {
            return format!("{}sessions = []\n", head(&self.extra));
        }
        let mut out = head(&self.extra);
        for (at, session) in self.items.iter().enumerate() {
            out.push_str(if at == 0 { "[[sessions]]\n" } else { "\n[[sessions]]\n" });
            session.write(&mut out);
        }
        out
    }
}

impl Session {
    fn of(mut block: Fields) -> Result<Self, Failure> {
        Ok(Self {
            id: block.needed("id")?,
            name: block.needed("name")?,
            parent_id: block.text("parent_id")?,
            path: block.text("path")?,
            labels: block.texts("labels")?,
            created_at: block.text("created_at")?.unwrap_or_default(),
            is_default: block.flag("is_default")?,
            bare: block.flag("bare")?,
            last_accessed: block.text("last_accessed")?,
            env: block.env("env")?,
            plugin_state: block.table("plugin_state")?,
            extra: block.table,
        })
    }

    fn write(&self, out: &mut String) {
        text(out, "id", &self.id);
        text(out, "name", &self.name);
        optional(out, "parent_id", self.parent_id.as_ref());
        optional(out, "path", self.path.as_ref());
        texts(out, "labels", &self.labels);
        text(out, "created_at", &self.created_at);
        let _ = writeln!(out, "is_default = {}\nbare = {}", self.is_default, self.bare);
        optional(out, "last_accessed", self.last_accessed.as_ref());
        emit::rest(out, &self.extra);
        let env: Table = self.env.iter().map(|(k, v)| (k.clone(), Value::String(v.clone()))).collect();
        emit::section(out, "sessions.env", &env);
        emit::section(out, "sessions.plugin_state", &self.plugin_state);
    }

    /// The session as one TOML text, for records and the trash.
    pub fn to_text(&self) -> String {
        Blocks { items: vec![self.clone()], extra: Table::new() }.write()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_layout_that_awk_scripts_read() {
        let session = Session {
            id: "u1".into(),
            name: "q\"uote\\".into(),
            created_at: "2026-01-01T00:00:00Z".into(),
            env: [("A".into(), "it's".into())].into(),
            ..Session::default()
        };
        let blocks = Blocks { items: vec![session.clone(), session], extra: Table::new() };
        let written = blocks.write();
        let one = "[[sessions]]\nid = \"u1\"\nname = \"q\\\"uote\\\\\"\nlabels = []\n\
                   created_at = \"2026-01-01T00:00:00Z\"\nis_default = false\nbare = false\n\n\
                   [sessions.env]\nA = \"it's\"\n\n[sessions.plugin_state]\n";
        assert_eq!(written, format!("{one}\n{one}"));
        assert_eq!(Blocks::<Session>::read(&written).unwrap(), blocks);
    }

    #[test]
    fn unknown_keys_survive_everywhere() {
        let text = "version = 3\n\n[[repos]]\nid = \"a-b\"\npath = \"/a/b\"\ncolour = { r = 1 }\n";
        let read = Blocks::<Repo>::read(text).unwrap();
        let again = Blocks::<Repo>::read(&read.write()).unwrap();
        assert_eq!(read, again);
        assert!(again.extra.contains_key("version") && again.items[0].extra.contains_key("colour"));
        let text = "zzz = 1\n[plugin_state.p]\nk = [1, { a = \"b\" }]\n[future]\nx = 1\n";
        let read = RepoState::read(text).unwrap();
        assert_eq!(RepoState::read(&read.write()).unwrap(), read);
    }

    #[test]
    fn an_id_never_leaves_its_folder() {
        assert!(Blocks::<Repo>::read("[[repos]]\nid = \"../x\"\npath = \"/x\"\n").is_err());
    }

    proptest! {
        #[test]
        fn any_session_comes_back(name in any::<String>(), path in any::<Option<String>>(), key in any::<String>(),
                                  value in any::<String>(), number in any::<i64>()) {
            let session = Session {
                id: "i".into(), name, path, env: [(key.clone(), value)].into(),
                plugin_state: [(key, Value::Integer(number))].into_iter().collect(), ..Session::default()
            };
            let blocks = Blocks { items: vec![session], extra: Table::new() };
            let written = blocks.write();
            prop_assert_eq!(Blocks::<Session>::read_slowly(&written).unwrap(), blocks.clone());
            prop_assert_eq!(Blocks::<Session>::read(&written).unwrap(), blocks);
        }

        #[test]
        fn the_fast_way_says_what_the_general_one_says(lines in proptest::collection::vec(
            prop_oneof![
                Just("[[sessions]]".to_owned()), Just("[sessions.env]".to_owned()), Just("[sessions.plugin_state]".to_owned()),
                Just("id = \"a\"".to_owned()), Just("name = \"b\"".to_owned()), Just(String::new()),
                Just("x = '''".to_owned()), Just("a.b = 1".to_owned()), Just("env = {}".to_owned()), Just("\"q\".r = 1".to_owned()),
                Just("x = [".to_owned()), Just("]".to_owned()), Just("bare = true".to_owned()), Just("[other]".to_owned()),
                Just("name = \"\"\"".to_owned()), Just("labels = [\"x\"] # c".to_owned()), "[a-z\" =.#]{0,12}",
            ], 0..12)) {
            let text = lines.join("\n");
            if let Some(items) = super::super::quick::sessions(&text) {
                let slow = Blocks::<Session>::read_slowly(&text);
                prop_assert_eq!(slow.map(|blocks| blocks.items), Ok(items), "{}", text);
            }
        }

        #[test]
        fn so_it_does_of_repositories(lines in proptest::collection::vec(
            prop_oneof![
                Just("[[repos]]".to_owned()), Just("id = \"a\"".to_owned()), Just("path = \"/b\"".to_owned()),
                Just("is_git = true".to_owned()), Just("name = 1".to_owned()), Just("name = \"q\\\"\"".to_owned()),
                Just("x = [\"a, b\", \"c\"]".to_owned()), Just("id = \"..\"".to_owned()), Just(String::new()),
                Just("[plugin_state]".to_owned()), Just("[plugin_state.p]".to_owned()), Just("[plugin_state.q]".to_owned()),
                Just("labels = [\"x\", \"y\"]".to_owned()), Just("labels = [\"x\", ]".to_owned()),
                Just("remote_url = \"u\"".to_owned()), Just("p = \"v\"".to_owned()), Just("a.b = 1".to_owned()),
                Just("plugin_state = {}".to_owned()), Just("last_accessed = 2026-01-01".to_owned()), "[a-z\" =.#]{0,12}",
            ], 0..10)) {
            let text = lines.join("\n");
            if let Some(items) = super::super::quick::repos(&text) {
                let slow = Blocks::<Repo>::read_slowly(&text);
                prop_assert_eq!(slow.map(|blocks| blocks.items), Ok(items), "{}", text);
            }
            if let Some(state) = super::super::quick::repo_state(&text) {
                prop_assert_eq!(RepoState::read_slowly(&text), Ok(state), "{}", text);
            }
        }

        #[test]
        fn what_a_repository_keeps_comes_back(url in any::<String>(), labels in any::<Vec<String>>(), plugin in any::<String>(),
                                              key in any::<String>(), value in any::<String>(), number in any::<i64>()) {
            let own: Table = [(key.clone(), Value::String(value)), ("n".to_owned(), Value::Integer(number))].into_iter().collect();
            let mut plugin_state = Table::new();
            plugin_state.insert(plugin, Value::Table(own));
            plugin_state.insert("no table".to_owned(), Value::Integer(number));
            let state = RepoState { remote_url: Some(url), labels, plugin_state, ..RepoState::default() };
            let back = RepoState::read(&state.write());
            prop_assert_eq!(back.as_ref().map(|back| &back.plugin_state), Ok(&state.plugin_state));
            prop_assert_eq!(back, Ok(state));
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = (Blocks::<Session>::read(&text), Blocks::<Repo>::read(&text), RepoState::read(&text));
        }
    }
}
