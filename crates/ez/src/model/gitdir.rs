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

    /// The branch that is checked out; `None` for a detached HEAD, and where only git can tell ([`GitDir::reftable`]).
    pub fn branch(&self) -> Option<String> {
        let head = small(&self.dir.join("HEAD"))?;
        head.trim_end().strip_prefix("ref: refs/heads/").filter(|name| *name != ".invalid").map(str::to_owned)
    }

    /// Refs are in a format that only git reads.
    pub fn reftable(&self) -> bool {
        self.common.join("reftable").exists()
    }

    /// The commit of HEAD; `None` where there is none yet, and where only git can tell.
    pub fn tip(&self) -> Option<String> {
        let head = small(&self.dir.join("HEAD"))?;
        match head.trim_end().strip_prefix("ref: ") {
            Some(name) => self.commit(name),
            None => commit_id(&head),
        }
    }

    /// The commit of the ref with this full name; `None` where there is none, and where only git can tell.
    pub fn commit(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        // A ref may name another one, like origin/HEAD.
        for _ in 0..5 {
            if !name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
                return None;
            }
            let Some(text) = small(&self.common.join(&name)) else { return self.packed(&name) };
            match text.trim_end().strip_prefix("ref: ") {
                Some(other) => name = other.to_owned(),
                None => return commit_id(&text),
            }
        }
        None
    }

    fn packed(&self, name: &str) -> Option<String> {
        let packed = small(&self.common.join("packed-refs"))?;
        packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').and_then(commit_id))
    }

    /// True when a branch that work usually ends in (the one that the main checkout is on, main, master, or origin's)
    /// is at `commit`. False means nothing: only git knows all refs.
    pub fn is_main_at(&self, commit: &str, but: &str) -> bool {
        let head = small(&self.common.join("HEAD")).unwrap_or_default();
        let main = head.trim_end().strip_prefix("ref: ").filter(|name| name.starts_with("refs/heads/"));
        let usual = ["refs/heads/main", "refs/heads/master", "refs/remotes/origin/HEAD"];
        let usual = usual.into_iter().chain(["refs/remotes/origin/main", "refs/remotes/origin/master"]);
        main.into_iter()
            .chain(usual)
            .filter(|name| name.strip_prefix("refs/heads/") != Some(but))
            .any(|name| self.commit(name).as_deref() == Some(commit))
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
        if self.reftable() {
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

/// A commit's id as git's files hold it, SHA-1 or SHA-256.
fn commit_id(text: &str) -> Option<String> {
    let text = text.trim_end();
    let whole = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| text.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn commits_are_read_from_loose_and_packed_refs() {
        let home = testkit::Home::new();
        let top = home.path("repo");
        let put = |name: &str, text: &str| home.write(top.join(".git").join(name), text);
        for folder in ["objects", "refs"] {
            put(&format!("{folder}/x"), "");
        }
        put("HEAD", "ref: refs/heads/trunk\n");
        put("refs/heads/trunk", &format!("{ONE}\n"));
        put("refs/heads/broken", "\n");
        put(
            "packed-refs",
            &format!(
                "# pack-refs with: peeled\n{TWO} refs/heads/trunk\n{TWO} refs/tags/t\n^{ONE}\n{TWO} refs/remotes/origin/main\n"
            ),
        );
        put("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n");
        put("refs/heads/ring", "ref: refs/heads/ring\n");
        let git = GitDir::at(&top).unwrap();
        assert_eq!(git.tip().as_deref(), Some(ONE));
        for (name, commit) in [
            ("refs/heads/trunk", Some(ONE)),
            ("refs/tags/t", Some(TWO)),
            ("refs/remotes/origin/HEAD", Some(TWO)),
            ("refs/heads/broken", None),
            ("refs/heads/ring", None),
            ("refs/heads/none", None),
            ("refs/heads/../../HEAD", None),
            ("HEAD", None),
        ] {
            assert_eq!(git.commit(name).as_deref(), commit, "{name}");
        }
        assert!(git.is_main_at(ONE, "x") && git.is_main_at(TWO, "x") && !git.is_main_at(ONE, "trunk"));
        put("HEAD", &format!("{TWO}\n"));
        assert_eq!(git.tip().as_deref(), Some(TWO));
        // What a detached HEAD is at is kept by no branch.
        assert!(!git.is_main_at(ONE, "x"));
        assert_eq!((origin(&git.common), origin_head(&shared(&top)).as_deref()), (None, Some("main")));
    }

    #[test]
    fn what_a_worktree_shares_is_found_without_resolving() {
        let home = testkit::Home::new();
        home.write(home.path("repo/.git/worktrees/w/commondir"), "../..\n");
        home.write(home.path("w/.git"), format!("gitdir: {}\n", home.path("repo/.git/worktrees/w").display()));
        home.write(home.path("repo/.git/config"), "[remote \"origin\"]\n\turl = u\n");
        home.write(home.path("bare/HEAD"), "ref: refs/heads/main\n");
        assert_eq!(shared(&home.path("repo")), home.path("repo/.git"));
        assert_eq!(origin(&shared(&home.path("w"))).as_deref(), Some("u"));
        assert_eq!(shared(&home.path("bare")), home.path("bare"));
    }
}
