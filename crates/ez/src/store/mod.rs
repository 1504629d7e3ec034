//! The state on disk: which repositories there are, what is known of each, and their sessions. Readers never wait;
//! every change is a fresh read, a change and an atomic write under a lock that is held for moments and never while a
//! plugin runs. A damaged file is named and never taken for empty. Every room of `ez` that keeps something calls it.

pub mod config;
mod each;
mod emit;
mod fields;
mod quick;
mod records;

use std::path::{Path, PathBuf};

use sys::files::{self, Mode};
use sys::{Failure, Paths, clock};

pub use config::{CLOSED, Config, KEYS, Selector, Stage, StageKind};
pub use each::of_each;
pub use records::{Blocks, Repo, RepoState, Session};

/// Bytes read of a state file.
const MAX: usize = 64 << 20;

/// The folders of the state.
#[derive(Clone, Debug)]
pub struct Store {
    /// The configuration root.
    pub root: PathBuf,
    /// The data root.
    pub data: PathBuf,
}

/// The time now, as the files hold it.
pub fn stamp() -> String {
    jiff::Timestamp::try_from(clock::wall()).map_or_else(|_| String::new(), |time| format!("{time:.9}"))
}

/// Refuses an id that could leave its folder.
///
/// # Errors
/// When it is empty, only dots, or holds a separator or control character.
pub fn check_id(id: &str) -> Result<(), Failure> {
    let bad = id.is_empty()
        || id.chars().all(|c| c == '.')
        || id.chars().any(|c| matches!(c, '/' | '\\') || c.is_control())
        || id.len() > 255;
    if bad { Err(Failure::new(format!("the repository id {id:?} is not valid"))) } else { Ok(()) }
}

/// A file's text. `None`: there is none. An empty file that exists was cut short by somebody, it is not "nothing".
fn read(path: &Path) -> Result<Option<String>, Failure> {
    let Some(bytes) = files::read_bounded(path, MAX)? else { return Ok(None) };
    let content = String::from_utf8(bytes).map_err(|error| damaged(path, &Failure::new(error.to_string())))?;
    not_blank(path, &content)?;
    Ok(Some(content))
}

fn text<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    let content = std::str::from_utf8(bytes).map_err(|error| damaged(path, &Failure::new(error.to_string())))?;
    not_blank(path, content)?;
    Ok(content)
}

fn not_blank(path: &Path, content: &str) -> Result<(), Failure> {
    if content.trim_start().is_empty() {
        return Err(damaged(path, &Failure::new("it is empty")));
    }
    Ok(())
}

fn damaged(path: &Path, why: &Failure) -> Failure {
    Failure::new(format!("{} is damaged", path.display()))
        .cause(why)
        .hint("mend it by hand, or let `ez doctor --fix` set it aside (nothing is thrown away)")
}

impl Store {
    /// The store of these folders.
    pub fn new(paths: &Paths) -> Self {
        Self { root: paths.config.clone(), data: paths.data.clone() }
    }

    /// `config.toml`.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// `repos/index.toml`.
    pub fn index_file(&self) -> PathBuf {
        self.root.join("repos/index.toml")
    }

    /// The folder of one repository's state.
    pub fn repo_dir(&self, id: &str) -> PathBuf {
        self.root.join("repos").join(id)
    }

    /// `repos/<id>/sessions.toml`.
    pub fn sessions_file(&self, id: &str) -> PathBuf {
        self.repo_dir(id).join("sessions.toml")
    }

    /// `repos/<id>/repo.toml`.
    pub fn repo_file(&self, id: &str) -> PathBuf {
        self.repo_dir(id).join("repo.toml")
    }

    /// The notes folder of a session.
    pub fn notes_dir(&self, repo: &str, session: &str) -> PathBuf {
        self.data.join("repos").join(repo).join("notes").join(session)
    }

    /// All repositories, in the order they were added.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read.
    pub fn repos(&self) -> Result<Vec<Repo>, Failure> {
        let path = self.index_file();
        let Some(text) = read(&path)? else { return Ok(Vec::new()) };
        Ok(Blocks::<Repo>::read(&text).map_err(|why| damaged(&path, &why))?.items)
    }

    /// Changes the list of repositories under its lock.
    ///
    /// # Errors
    /// Those of `change`, of reading and of writing.
    pub fn update_repos<T>(&self, mut change: impl FnMut(&mut Vec<Repo>) -> Result<T, Failure>) -> Result<T, Failure> {
        let path = self.index_file();
        let read = |old: Option<&str>| old.map_or_else(|| Ok(Blocks::default()), Blocks::<Repo>::read);
        update(&path, After::Lasting, read, |blocks| change(&mut blocks.items), Blocks::<Repo>::write)
    }

    /// What is known of a repository.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read.
    pub fn repo_state(&self, id: &str) -> Result<RepoState, Failure> {
        let path = self.repo_file(id);
        let Some(text) = read(&path)? else { return Ok(RepoState::default()) };
        RepoState::read(&text).map_err(|why| damaged(&path, &why))
    }

    /// Changes what is known of a repository under its lock.
    ///
    /// # Errors
    /// Those of `change`, of reading and of writing.
    pub fn update_repo_state<T>(
        &self,
        id: &str,
        change: impl FnMut(&mut RepoState) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let read = |old: Option<&str>| old.map_or_else(|| Ok(RepoState::default()), RepoState::read);
        update(&self.repo_file(id), After::Lasting, read, change, RepoState::write)
    }

    /// The sessions of a repository, in the file's order.
    ///
    /// # Errors
    /// When the file is damaged or cannot be read.
    pub fn sessions(&self, id: &str) -> Result<Vec<Session>, Failure> {
        let path = self.sessions_file(id);
        let Some(text) = read(&path)? else { return Ok(Vec::new()) };
        Ok(Blocks::<Session>::read(&text).map_err(|why| damaged(&path, &why))?.items)
    }

    /// Changes the sessions of a repository under their lock, on a fresh read.
    ///
    /// # Errors
    /// Those of `change`, of reading and of writing.
    pub fn update_sessions<T>(
        &self,
        id: &str,
        change: impl FnMut(&mut Vec<Session>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.write_sessions(id, After::Lasting, change)
    }

    /// As [`Store::update_sessions`], for a step of an operation that writes them again or calls [`Store::settle`] before
    /// it ends: until then a power cut leaves the old list or the new one.
    ///
    /// # Errors
    /// As [`Store::update_sessions`].
    pub fn begin_sessions<T>(
        &self,
        id: &str,
        change: impl FnMut(&mut Vec<Session>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.write_sessions(id, After::Whole, change)
    }

    /// What has been written of a repository lasts from here on.
    pub fn settle(&self, id: &str) {
        files::sync_folder(&self.repo_dir(id));
    }

    fn write_sessions<T>(
        &self,
        id: &str,
        after: After,
        mut change: impl FnMut(&mut Vec<Session>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let read = |old: Option<&str>| old.map_or_else(|| Ok(Blocks::default()), Blocks::<Session>::read);
        update(&self.sessions_file(id), after, read, |blocks| change(&mut blocks.items), Blocks::<Session>::write)
    }

    /// Changes one session under the lock; `None` when it is no longer there.
    ///
    /// # Errors
    /// As [`Store::update_sessions`].
    pub fn update_session<T>(
        &self,
        repo: &str,
        session: &str,
        mut change: impl FnMut(&mut Session) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.update_sessions(repo, |sessions| {
            sessions.iter_mut().find(|found| found.id == session).map(&mut change).transpose()
        })
    }
}

/// What a power cut right after a write leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// What was written.
    Lasting,
    /// That, or what was there before.
    Whole,
}

/// Read, change, write, under the file's lock; nothing is written when nothing changed.
fn update<B, T>(
    path: &Path,
    after: After,
    parse: impl Fn(Option<&str>) -> Result<B, Failure>,
    mut change: impl FnMut(&mut B) -> Result<T, Failure>,
    write: impl Fn(&B) -> String,
) -> Result<T, Failure>
where
    B: Clone + PartialEq,
{
    let mut answer = None;
    let step = |old: Option<&[u8]>| {
        let old = old.map(|bytes| text(path, bytes)).transpose()?;
        let mut content = parse(old).map_err(|why| damaged(path, &why))?;
        let before = old.is_some().then(|| content.clone());
        answer = Some(change(&mut content)?);
        if before.as_ref() == Some(&content) {
            return Ok(None);
        }
        let written = write(&content);
        // Nothing is written that could not be read again.
        parse(Some(&written)).map_err(|why| {
            Failure::new(format!("could not change {}", path.display()))
                .cause(format!("what would stand there could not be read again: {why}"))
                .hint("nothing was changed")
        })?;
        Ok(Some(written.into_bytes()))
    };
    match after {
        After::Lasting => files::update(path, Mode::Normal, step)?,
        After::Whole => files::update_whole(path, Mode::Normal, step)?,
    };
    answer.ok_or_else(|| Failure::new(format!("could not change {}", path.display())))
}
