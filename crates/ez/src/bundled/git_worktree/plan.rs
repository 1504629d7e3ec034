//! Where a session's worktree is and what its branch is called: pure decisions about names, paths and the refs that
//! git told of. It starts nothing and reads no disk.
//! The hooks in the rooms beside it call it.

use std::path::{Component, Path, PathBuf};

use sys::Failure;

/// Where the worktrees of one repository are: `<parent of the repository>/.ez/<its folder's name>`.
#[derive(Debug)]
pub(super) struct Place {
    ez: PathBuf,
    name: PathBuf,
}

impl Place {
    /// The place of the repository at the absolute path `repo`.
    pub(super) fn of(repo: &Path) -> Result<Self, Failure> {
        let refused = |why: &str| Failure::new(format!("no worktrees for {}", repo.display())).cause(why);
        let (Some(parent), Some(name)) = (repo.parent(), repo.file_name()) else {
            return Err(refused("it has no parent folder"));
        };
        if !repo.is_absolute() || name == ".trash" {
            return Err(refused("its path is not absolute, or its name is .trash"));
        }
        Ok(Self { ez: parent.join(".ez"), name: PathBuf::from(name) })
    }

    /// The folder that holds this repository's worktrees.
    pub(super) fn base(&self) -> PathBuf {
        self.ez.join(&self.name)
    }

    /// The worktree of the session `name`, which may have inner `/`.
    pub(super) fn worktree(&self, name: &str) -> Result<PathBuf, Failure> {
        let safe = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0') && part != ".git";
        if !name.split('/').all(safe) {
            return Err(Failure::new(format!("no worktree for the session '{}'", sys::text::clean(name)))
                .cause("each part of its name must be the name of a folder"));
        }
        Ok(self.base().join(name))
    }

    /// Where the deleted worktree of session `id` goes; `n` counts up while one is there already.
    pub(super) fn trash(&self, id: &str, n: u32) -> PathBuf {
        let mut id: String =
            id.chars().map(|char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' }).collect();
        if id.is_empty() {
            id.push('_');
        }
        if n > 1 {
            id = format!("{id}-{n}");
        }
        self.ez.join(".trash").join(&self.name).join(id)
    }

    /// True for a path strictly below [`Place::base`], by its text alone.
    pub(super) fn holds(&self, path: &Path) -> bool {
        path.strip_prefix(self.base()).is_ok_and(|rest| {
            rest.components().next().is_some() && rest.components().all(|part| matches!(part, Component::Normal(_)))
        })
    }
}

/// The branch of the session `name`: the name itself where git can hold it, else the nearest name it can
/// (`feat x` -> `feat-x`). The rules are those of git-check-ref-format(1).
pub(super) fn branch(name: &str) -> String {
    let char = |char: char| match char {
        ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\' => '-',
        char if char.is_control() => '-',
        char => char,
    };
    let mut text: String = name.chars().map(char).collect();
    // What replaces a pair makes no new one: `-` is in neither.
    text = text.replace("@{", "-{").replace("..", "--");
    let parts: Vec<String> = text.split('/').filter(|part| !part.is_empty()).map(part).collect();
    match parts.join("/") {
        text if text.is_empty() || text == "@" || text == "HEAD" => format!("session-{}", text.replace('@', "at")),
        text => text,
    }
}

/// One part between slashes: no dot in front or at the end, no `.lock`, no dash in front.
fn part(part: &str) -> String {
    let mut text = part.to_owned();
    if text.starts_with('.') {
        text.replace_range(..1, "-");
    }
    if text.ends_with('.') {
        text.replace_range(text.len() - 1.., "-");
    }
    if text.ends_with(".lock") {
        text.replace_range(text.len() - 5..text.len() - 4, "-");
    }
    let bare = text.trim_start_matches('-');
    if bare.len() == text.len() {
        text
    } else if bare.is_empty() {
        "session".to_owned()
    } else {
        bare.to_owned()
    }
}

/// What git knows under the names that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Refs {
    /// The local branch exists; where it is checked out, if anywhere.
    pub(super) local: Option<Option<PathBuf>>,
    /// `refs/remotes/origin/<branch>` exists.
    pub(super) remote: bool,
    /// `refs/remotes/origin/main` or `.../master`, whichever exists, in this order.
    pub(super) main: Option<&'static str>,
}

/// The two names that origin's main branch may have.
const MAINS: [&str; 2] = ["refs/remotes/origin/main", "refs/remotes/origin/master"];

/// The format that [`Refs::read`] reads; NUL ends each field, so that a path may hold anything.
pub(super) const REF_FORMAT: &str = "--format=%(refname)%00%(worktreepath)%00";

impl Refs {
    /// The patterns to ask git for.
    pub(super) fn patterns(branch: &str) -> Vec<String> {
        let mut list = vec![format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}")];
        list.extend(MAINS.map(str::to_owned));
        list
    }

    /// By asking for each name; none when the local branch is there.
    pub(super) fn unless_local(branch: &str, is_there: impl Fn(&str) -> bool) -> Option<Self> {
        if is_there(&format!("refs/heads/{branch}")) {
            return None;
        }
        let remote = is_there(&format!("refs/remotes/origin/{branch}"));
        Some(Self { local: None, remote, main: MAINS.into_iter().find(|main| is_there(main)) })
    }

    /// Reads what git printed for [`REF_FORMAT`]. A pattern also matches refs below it; those are passed over.
    pub(super) fn read(out: &[u8], branch: &str) -> Self {
        let mut refs = Self::default();
        let fields: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
        let (local, remote) = (format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}"));
        let mut mains = [false; 2];
        for pair in fields.chunks_exact(2) {
            let name = String::from_utf8_lossy(pair[0]);
            let name = name.trim_start_matches('\n');
            if name == local {
                refs.local = Some((!pair[1].is_empty()).then(|| path(pair[1])));
            }
            refs.remote |= name == remote;
            for (found, main) in mains.iter_mut().zip(MAINS) {
                *found |= name == main;
            }
        }
        refs.main = mains.iter().zip(MAINS).find(|(found, _)| **found).map(|(_, main)| main);
        refs
    }
}

/// A path as git printed it.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// What the worktree starts from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The branch that is there.
    Existing,
    /// A new branch that follows `refs/remotes/origin/<branch>`.
    Track(String),
    /// A new branch at this commit or ref.
    At(String),
    /// A new branch at the HEAD of this folder, the parent session's worktree.
    ParentHead(PathBuf),
    /// A new branch at the repository's HEAD.
    Head,
}

/// Chooses the start (ez-behaviour.md 7, git-worktree). `parent` is the worktree of a parent session that is not the
/// default one, when it is there.
pub(super) fn start(refs: &Refs, branch: &str, start_point: Option<&str>, parent: Option<PathBuf>) -> Start {
    if refs.local.is_some() {
        Start::Existing
    } else if refs.remote {
        Start::Track(format!("refs/remotes/origin/{branch}"))
    } else if let Some(at) = start_point {
        Start::At(at.to_owned())
    } else if let Some(parent) = parent {
        Start::ParentHead(parent)
    } else if let Some(main) = refs.main {
        Start::At(main.to_owned())
    } else {
        Start::Head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_cannot_hold_become_ones_it_can() {
        for (name, expected) in [
            ("feat-a", "feat-a"),
            ("team/feat.x", "team/feat.x"),
            ("feat x", "feat-x"),
            ("a..b", "a--b"),
            ("it's \"q\"", "it's-\"q\""),
            ("-x", "x"),
            ("--", "session"),
            (".a/b.", "a/b-"),
            ("x.lock", "x-lock"),
            ("a@{b", "a-{b"),
            ("@", "session-at"),
            ("HEAD", "session-HEAD"),
            ("a//b/", "a/b"),
            ("zurück", "zurück"),
        ] {
            assert_eq!(branch(name), expected, "{name}");
        }
    }

    #[test]
    fn worktrees_stay_below_their_place() {
        let place = Place::of(Path::new("/ws/repo")).unwrap();
        assert_eq!(place.worktree("a/b c").unwrap(), Path::new("/ws/.ez/repo/a/b c"));
        for bad in ["", "/a", "a/", "../x", "a/../b", ".", "a//b", "a\0b", ".git", "x/.git"] {
            assert!(place.worktree(bad).is_err(), "{bad}");
        }
        assert_eq!(place.trash("0-a/../b", 1), Path::new("/ws/.ez/.trash/repo/0-a____b"));
        assert_eq!(place.trash("id", 2), Path::new("/ws/.ez/.trash/repo/id-2"));
        assert!(place.holds(Path::new("/ws/.ez/repo/a")) && !place.holds(Path::new("/ws/.ez/repo")));
        assert!(!place.holds(Path::new("/ws/.ez/repo/../x")) && !place.holds(Path::new("/ws/.ez/repo2/a")));
        assert!(Place::of(Path::new("/")).is_err() && Place::of(Path::new("rel/x")).is_err());
    }

    fn refs_of(remote: bool, main: Option<&'static str>) -> Refs {
        Refs { local: None, remote, main }
    }

    #[test]
    fn refs_are_read_whole_and_the_order_of_starts_is_the_contract() {
        let out = b"refs/heads/x\0/a\nb\0\nrefs/heads/x/y\0\0\nrefs/remotes/origin/master\0\0\n";
        let refs = Refs::read(out, "x");
        let expected = Refs { local: Some(Some("/a\nb".into())), remote: false, main: Some(MAINS[1]) };
        assert_eq!(refs, expected);
        let parent = || Some(PathBuf::from("/p"));
        assert_eq!(start(&refs, "x", Some("s"), parent()), Start::Existing);
        let refs = Refs { local: None, ..refs };
        assert_eq!(start(&refs, "x", Some("s"), parent()), Start::At("s".into()));
        assert_eq!(start(&refs, "x", None, parent()), Start::ParentHead("/p".into()));
        assert_eq!(start(&refs, "x", None, None), Start::At(MAINS[1].into()));
        assert_eq!(start(&Refs::default(), "x", None, None), Start::Head);
        let refs = Refs { remote: true, ..refs };
        assert_eq!(start(&refs, "x", Some("s"), None), Start::Track("refs/remotes/origin/x".into()));
        let among = |names: &'static [&str]| Refs::unless_local("x", move |name| names.contains(&name));
        assert_eq!(among(&["refs/remotes/origin/x", "refs/remotes/origin/main"]), Some(refs_of(true, Some(MAINS[0]))));
        assert_eq!(among(&["refs/heads/x/y", "refs/remotes/origin/master"]), Some(refs_of(false, Some(MAINS[1]))));
        assert_eq!(among(&["refs/heads/x"]), None);
    }
}
