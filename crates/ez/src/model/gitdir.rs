//! Finding git's folders by looking, without starting git: which repository a folder belongs to, and what a few small
//! files say (HEAD, packed-refs, config, a worktree's lock). It never writes and gives "unknown" where it is not sure.
//! Identity of repositories, the current one, and previews call it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sys::files;

/// A git repository or worktree as found from a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDir {
    /// The worktree's top folder; the repository itself when it is bare.
    pub top: PathBuf,
    /// Git's folder of this worktree.
    pub dir: PathBuf,
    /// Git's folder that all worktrees share, canonical.
    pub common: PathBuf,
    /// There is no worktree.
    pub bare: bool,
}

fn small(path: &Path) -> Option<String> {
    let bytes = files::read_bounded(path, 16 << 20).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// True for a folder that looks like git's own (the three things git itself looks for).
fn is_git_folder(dir: &Path) -> bool {
    (dir.join("HEAD").is_file() || dir.join("HEAD").is_symlink())
        && (dir.join("objects").is_dir() || dir.join("commondir").is_file())
        && (dir.join("refs").is_dir() || dir.join("commondir").is_file())
}

impl GitDir {
    /// The repository whose top folder is exactly `folder`.
    pub fn at(folder: &Path) -> Option<Self> {
        let dot = folder.join(".git");
        let (dir, bare) = if dot.is_dir() {
            (dot, false)
        } else if dot.is_file() {
            let text = small(&dot)?;
            let target = text.strip_prefix("gitdir:")?.trim_end_matches(['\n', '\r']).trim_start();
            (folder.join(target), false)
        } else {
            (folder.to_path_buf(), true)
        };
        if !is_git_folder(&dir) {
            return None;
        }
        let dir = dir.canonicalize().ok()?;
        let common = match small(&dir.join("commondir")) {
            Some(text) => dir.join(text.trim_end_matches(['\n', '\r'])).canonicalize().ok()?,
            None => dir.clone(),
        };
        Some(Self { top: folder.canonicalize().ok()?, dir, common, bare })
    }

    /// The innermost repository that `folder` is in.
    pub fn around(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().find_map(Self::at)
    }

    /// The main worktree's folder (or the bare repository) that this one belongs to.
    pub fn main(&self) -> PathBuf {
        if self.common.file_name().is_some_and(|name| name == ".git")
            && let Some(parent) = self.common.parent()
        {
            return parent.to_path_buf();
        }
        if self.dir == self.common { self.top.clone() } else { self.common.clone() }
    }

    /// Device and inode of the shared folder: they stay when it is moved on its disk.
    pub fn identity(&self) -> Option<String> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let metadata = std::fs::metadata(&self.common).ok()?;
            Some(format!("{}:{}", metadata.dev(), metadata.ino()))
        }
        #[cfg(not(unix))]
        None
    }

    /// The branch that is checked out; `None` for a detached HEAD.
    pub fn branch(&self) -> Option<String> {
        let head = small(&self.dir.join("HEAD"))?;
        head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// Why this worktree is locked; the reason may be empty.
    pub fn locked(&self) -> Option<String> {
        if self.dir == self.common {
            return None;
        }
        small(&self.dir.join("locked")).map(|text| text.trim().to_owned())
    }

    /// The names of all local branches; `None` when refs are kept in a way that this does not read.
    pub fn branches(&self) -> Option<BTreeSet<String>> {
        if self.common.join("reftable").exists() {
            return None;
        }
        let mut found = BTreeSet::new();
        loose(&self.common.join("refs/heads"), "", &mut found, 0);
        for line in small(&self.common.join("packed-refs")).unwrap_or_default().lines() {
            let name = line.split_once(' ').and_then(|(_, name)| name.strip_prefix("refs/heads/"));
            found.extend(name.map(str::to_owned));
        }
        Some(found)
    }

    /// As [`origin`], of this repository.
    pub fn origin(&self) -> Option<String> {
        origin(&self.common)
    }

    /// As [`origin_head`], of this repository.
    pub fn origin_head(&self) -> Option<String> {
        origin_head(&self.common)
    }
}

/// The git folder that the repository at `folder` shares with its worktrees, as it is written: for looking into it,
/// where a [`GitDir`], which asks the disk a dozen times, would be too slow.
pub fn shared(folder: &Path) -> PathBuf {
    let dot = folder.join(".git");
    let dir = match dot.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => {
            match small(&dot).as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
                Some(target) => folder.join(target.trim_end_matches(['\n', '\r']).trim_start()),
                None => dot,
            }
        }
        Ok(_) => dot,
        Err(_) => folder.to_path_buf(),
    };
    match small(&dir.join("commondir")) {
        Some(text) => dir.join(text.trim_end_matches(['\n', '\r'])),
        None => dir,
    }
}

/// The `url` of `origin` in the repository's own config; `None` when it is not there or set in another file.
pub fn origin(common: &Path) -> Option<String> {
    let config = small(&common.join("config"))?;
    let mut inside = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.eq_ignore_ascii_case("[remote \"origin\"]");
        } else if inside
            && let Some((name, url)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case("url")
        {
            return Some(url.trim().trim_matches('"').to_owned());
        }
    }
    None
}

/// The branch that `origin/HEAD` names.
pub fn origin_head(common: &Path) -> Option<String> {
    let head = small(&common.join("refs/remotes/origin/HEAD"))?;
    head.trim_end().strip_prefix("ref: refs/remotes/origin/").map(str::to_owned)
}

fn loose(dir: &Path, prefix: &str, found: &mut BTreeSet<String>, depth: usize) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().map(|name| format!("{prefix}{name}")) else { continue };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth < 50 {
                loose(&entry.path(), &format!("{name}/"), found, depth + 1);
            }
        } else if !name.ends_with(".lock") {
            found.insert(name);
        }
    }
}
