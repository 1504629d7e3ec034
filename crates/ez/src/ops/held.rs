//! Uncommitted work as a commit: it is made beside the folder, which stays as it is; put into another folder, compared
//! with what is there, and only then taken out of the old one, each file only while it is what was held. from-dirty and
//! its undoing call it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sys::Failure;
use sys::files::{self, TempTree};

use crate::git::{self, Git};
use crate::model::gitdir::GitDir;

/// A file's name as git gives it: bytes, from the folder's top.
type Name = Vec<u8>;
/// A file's kind and the id of what it holds; none where there is no such file.
type State = Option<(String, String)>;

/// Uncommitted work as git holds it, the way a stash does: `git stash apply <commit>` brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The commit: the files' tree, with the parents HEAD, the index and, where there are any, untracked files.
    pub commit: String,
    /// What it holds.
    pub work: Work,
}

/// The uncommitted work of a folder, as trees: equal ones are equal work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The commit it stands on.
    pub head: String,
    /// That commit's tree.
    clean: String,
    staged: String,
    tracked: String,
    untracked: Option<String>,
}

/// How a folder compares with what is held.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Files that are not as held.
    pub other: Vec<String>,
    /// What is staged is as held.
    pub staged: bool,
}

impl Work {
    /// Looks at all that is uncommitted in `git`'s folder; nothing there changes. Left out are ignored files, links to the
    /// main checkout, and repositories within this one.
    ///
    /// # Errors
    /// When git cannot: no commit yet, a conflict, a file that cannot be read.
    pub fn of(git: &Git) -> Result<Self, Failure> {
        let Some([head, clean]) = revs(git, ["HEAD^{commit}", "HEAD^{tree}"]) else {
            return Err(Failure::new(format!("{} has no commit yet", git.dir().display()))
                .hint("make a first commit; changes need something to stand on"));
        };
        // Not by `git stash create`, which keeps a file that a folder has taken the place of, and knows no entry of
        // `git add -N`. The copy keeps what git knows of the files, so that it reads none again, and its time, by which
        // git tells which ones it has to.
        let (kept, other) = other_index(git)?;
        let index = git.line(&["rev-parse", "--git-path", "index"]).unwrap_or_default();
        let index = git.dir().join(index);
        if index.exists() {
            files::copy_tree(&index, &kept.path().join("index"))?;
        }
        let tree = |git: &Git| git.text(&["write-tree"]).map(|id| id.trim().to_owned());
        let staged = tree(&other)?;
        other.text(&["add", "--update", "--", "."])?;
        let tracked = tree(&other)?;
        Ok(Self { head, clean, staged, tracked, untracked: untracked(git)? })
    }

    /// Each file that is not as in HEAD, and how it is held. Submodules are not among them: a commit of this repository
    /// cannot hold what is in one.
    ///
    /// # Errors
    /// When git fails.
    pub fn files(&self, git: &Git) -> Result<BTreeMap<Name, State>, Failure> {
        let mut found = BTreeMap::new();
        for (name, _, new) in differences(git, &self.clean, &self.tracked)? {
            found.insert(name, new);
        }
        // Staged, and then taken back in the folder alone.
        for (name, old, _) in differences(git, &self.clean, &self.staged)? {
            found.entry(name).or_insert(old);
        }
        if let Some(untracked) = &self.untracked {
            for (name, state) in entries(git, untracked)? {
                found.insert(name, Some(state));
            }
        }
        Ok(found)
    }

    fn all(&self, git: &Git) -> Result<BTreeMap<Name, (String, String)>, Failure> {
        let mut all = entries(git, &self.tracked)?;
        if let Some(untracked) = &self.untracked {
            all.extend(entries(git, untracked)?);
        }
        Ok(all)
    }
}

impl Held {
    /// Makes a commit of all that is uncommitted in `git`'s folder, which stays as it is.
    ///
    /// # Errors
    /// As [`Work::of`].
    pub fn make(git: &Git, message: &str) -> Result<Self, Failure> {
        let work = Work::of(git)?;
        let mut parents = vec![work.head.clone(), commit_tree(git, &work.staged, &[&work.head], "index")?];
        if let Some(untracked) = &work.untracked {
            parents.push(commit_tree(git, untracked, &[], "untracked files")?);
        }
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        let commit = commit_tree(git, &work.tracked, &parents, message)?;
        Ok(Self { commit, work })
    }

    /// What `commit` holds; none when it is not there.
    pub fn of(git: &Git, commit: &str) -> Option<Self> {
        let rev = |rest: &str| format!("{commit}{rest}");
        let all = ["^{commit}", "^1^{commit}", "^1^{tree}", "^2^{tree}", "^{tree}"].map(rev);
        let [commit, head, clean, staged, tracked] = revs(git, all.each_ref().map(String::as_str))?;
        let untracked = revs(git, [&rev("^3^{tree}")]).map(|[tree]| tree);
        Some(Self { commit, work: Work { head, clean, staged, tracked, untracked } })
    }

    /// The folder holds exactly this.
    pub fn is_in(&self, git: &Git) -> bool {
        Work::of(git).is_ok_and(|now| now == self.work)
    }

    /// Puts it into a folder that has no changes at these files; what was staged is staged where that can be.
    ///
    /// # Errors
    /// When git cannot apply it.
    pub fn put(&self, git: &Git) -> Result<(), Failure> {
        let Work { head, clean, staged, tracked, untracked } = &self.work;
        if [tracked, staged] != [clean, clean] {
            let index = format!("{}^2", self.commit);
            let stash = commit_tree(git, tracked, &[head, &index], "ez: changes")?;
            let apply = ["stash", "apply", "--quiet", "--index", &stash];
            if let Err(failure) = git.text(&apply) {
                // The index could not be kept apart; the changes themselves matter more.
                if !git.text(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
                    return Err(failure);
                }
                git.text(&["stash", "apply", "--quiet", &stash])?;
            }
        }
        let Some(untracked) = untracked else { return Ok(()) };
        // One that is there already is compared afterwards, never written over.
        let missing: Vec<Name> = entries(git, untracked)?
            .into_keys()
            .filter(|name| git.dir().join(git::path(name)).symlink_metadata().is_err())
            .collect();
        let (_kept, other) = other_index(git)?;
        other.text(&["read-tree", untracked])?;
        other.fed(&["checkout-index", "--quiet", "-z", "--stdin"], &nul(&missing)).map(drop)
    }

    /// Looks whether the folder has all of it. What it has beyond is not looked at.
    ///
    /// # Errors
    /// When git fails.
    pub fn compare(&self, git: &Git) -> Result<Compared, Failure> {
        let now = Work::of(git)?;
        let all = now.all(git)?;
        let mut main = None;
        let differs = |name: &Name, state: &State, main: &mut Option<PathBuf>| {
            all.get(name) != state.as_ref() && !git.links_to_main(git::path(name), main)
        };
        let other = self.work.files(git)?.into_iter().filter(|(name, state)| differs(name, state, &mut main));
        let other = other.map(|(name, _)| shown(&name)).collect();
        Ok(Compared { other, staged: now.staged == self.work.staged })
    }

    /// Takes it out of a folder: each file that is as it is held is as in HEAD afterwards, or gone where that has none.
    /// Those that are not, because somebody has changed them since, because they may not be removed, or because HEAD has
    /// moved on, stay; their names.
    ///
    /// # Errors
    /// When git fails; what has been taken out by then is held as well.
    pub fn take(&self, git: &Git) -> Result<Vec<String>, Failure> {
        let files = self.work.files(git)?;
        let names = || files.keys().map(|name| shown(name)).collect();
        let stamps: BTreeMap<&Name, Stamp> = files.keys().map(|name| (name, stamp(git, name))).collect();
        let now = Work::of(git)?;
        if now.head != self.work.head {
            return Ok(names());
        }
        let (all, index) = (now.all(git)?, entries(git, &now.staged)?);
        let (clean, staged) = (entries(git, &self.work.clean)?, entries(git, &self.work.staged)?);
        let dirty: BTreeSet<Name> = differences(git, &self.work.clean, &self.work.tracked)?
            .into_iter()
            .chain(differences(git, &self.work.clean, &self.work.staged)?)
            .map(|(name, ..)| name)
            .collect();
        let same = |name: &Name, state: &State| {
            // Wherever a killed git has stopped: what is held or in HEAD is lost to nobody.
            let (file, entry) = (all.get(name), index.get(name));
            (file == state.as_ref() || file == clean.get(name))
                && [staged.get(name), state.as_ref(), clean.get(name)].contains(&entry)
                && stamps.get(name) == Some(&stamp(git, name))
        };
        let mut tracked = Vec::new();
        for (name, state) in &files {
            if !same(name, state) {
                continue;
            }
            if dirty.contains(name) {
                tracked.push(name.clone());
            } else {
                remove(git, name);
            }
        }
        if !tracked.is_empty() {
            let args = ["--literal-pathspecs", "restore", "--quiet", "--staged", "--worktree", "--source"];
            let more = [self.work.head.as_str(), "--pathspec-from-file=-", "--pathspec-file-nul"];
            // What it could not do is among what is left.
            let _ = git.fed(&[&args[..], &more[..]].concat(), &nul(&tracked));
        }
        let left = Work::of(git)?.files(git)?;
        Ok(files.keys().filter(|name| left.contains_key(*name)).map(|name| shown(name)).collect())
    }
}

/// Tracked files with changes that git was told not to look for (assume-unchanged, skip-worktree), as names.
///
/// # Errors
/// When git fails.
pub fn hidden(git: &Git) -> Result<Vec<String>, Failure> {
    let list = git.bytes(&["ls-files", "-v", "-z"])?;
    // git-ls-files(1): lower case for assume-unchanged, `S` for skip-worktree.
    let flagged = list.split(|byte| *byte == 0).filter_map(|entry| match entry {
        [tag, b' ', name @ ..] if tag.is_ascii_lowercase() || *tag == b'S' => Some(name.to_vec()),
        _ => None,
    });
    let there: Vec<Name> = flagged
        .filter(|name| git.dir().join(git::path(name)).symlink_metadata().is_ok_and(|is| !is.is_dir()))
        .collect();
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let (_kept, other) = other_index(git)?;
    other.fed(&["update-index", "-z", "--add", "--stdin"], &nul(&there))?;
    let staged = |git: &Git| git.bytes(&["ls-files", "-s", "-z"]).map(|bytes| index_entries(&bytes));
    let (index, now) = (staged(git)?, staged(&other)?);
    // Whether a file may be run is not always for the disk to say.
    let differs = |name: &&Name| match (index.get(*name), now.get(*name)) {
        (Some(index), Some(now)) => index.1 != now.1 || index.0.get(..3) != now.0.get(..3),
        _ => true,
    };
    Ok(there.iter().filter(differs).map(|name| shown(name)).collect())
}

/// What a folder is in the middle of, and how to end that; a commit of its files would lose it.
pub fn in_progress(folder: &Path) -> Option<(&'static str, &'static str)> {
    let dir = GitDir::at(folder)?.dir;
    let states = [
        ("MERGE_HEAD", "a merge", "commit it, or `git merge --abort`"),
        ("rebase-merge", "a rebase", "`git rebase --continue` or `--abort`"),
        ("rebase-apply", "a rebase or `git am`", "`git rebase --continue` or `--abort` (`git am --abort`)"),
        ("CHERRY_PICK_HEAD", "a cherry-pick", "`git cherry-pick --continue` or `--abort`"),
        ("REVERT_HEAD", "a revert", "`git revert --continue` or `--abort`"),
        ("sequencer", "a cherry-pick or revert", "`git cherry-pick --continue` or `--quit`"),
        ("BISECT_LOG", "a bisect", "`git bisect reset`"),
    ];
    let found = states.into_iter().find(|(file, ..)| dir.join(file).symlink_metadata().is_ok());
    found.map(|(_, what, how)| (what, how))
}

/// A tree of the untracked files that are not ignored.
fn untracked(git: &Git) -> Result<Option<String>, Failure> {
    let list = git.bytes(&["ls-files", "-z", "--others", "--exclude-standard"])?;
    let mut main = None;
    let names: Vec<Name> = list
        .split(|byte| *byte == 0)
        // A repository within this one ends in `/`.
        .filter(|name| !name.is_empty() && !name.ends_with(b"/"))
        .filter(|name| !git.links_to_main(git::path(name), &mut main))
        .map(<[u8]>::to_vec)
        .collect();
    if names.is_empty() {
        return Ok(None);
    }
    let (_kept, other) = other_index(git)?;
    other.fed(&["update-index", "-z", "--add", "--stdin"], &nul(&names))?;
    other.line(&["write-tree"]).map(Some).ok_or_else(|| Failure::new("git wrote no tree of the untracked files"))
}

/// git with an index of its own, for as long as the folder is kept.
fn other_index(git: &Git) -> Result<(TempTree, Git), Failure> {
    let gone = || Failure::new(format!("{} is no git repository", git.dir().display()));
    let folder = GitDir::at(git.dir()).ok_or_else(gone)?.dir;
    TempTree::sweep(&folder, "ez-index-");
    let kept = TempTree::create(&folder, "ez-index-")?;
    let other = git.with_index(&kept.path().join("index"));
    Ok((kept, other))
}

/// The ids of these revisions; none unless git knows all of them.
fn revs<const N: usize>(git: &Git, revs: [&str; N]) -> Option<[String; N]> {
    let mut args = vec!["rev-parse"];
    args.extend(revs);
    let ids: Vec<String> = git.text(&args).ok()?.lines().map(str::to_owned).collect();
    ids.try_into().ok()
}

fn commit_tree(git: &Git, tree: &str, parents: &[&str], message: &str) -> Result<String, Failure> {
    // Nobody has to have told git who they are for this.
    let mut args = vec!["-c", "user.name=ez", "-c", "user.email=ez@localhost", "commit-tree", tree, "-m", message];
    for parent in parents {
        args.extend(["-p", parent]);
    }
    let made = git.text(&args)?;
    Ok(made.trim().to_owned())
}

/// Files whose state differs between two trees, with both states.
fn differences(git: &Git, from: &str, to: &str) -> Result<Vec<(Name, State, State)>, Failure> {
    let raw = git.bytes(&["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", from, to])?;
    let mut fields = raw.split(|byte| *byte == 0);
    let mut found = Vec::new();
    // git-diff(1), "Raw output format": `:<mode> <mode> <id> <id> <status>`, NUL, the name, NUL.
    while let (Some(what), Some(name)) = (fields.next(), fields.next()) {
        let what = String::from_utf8_lossy(what);
        let [old_mode, new_mode, old, new] = what.trim_start_matches(':').split(' ').take(4).collect::<Vec<_>>()[..]
        else {
            continue;
        };
        if [old_mode, new_mode].contains(&LINK_TO_COMMIT) {
            continue;
        }
        let state = |mode: &str, id: &str| (mode != "000000").then(|| (mode.to_owned(), id.to_owned()));
        found.push((name.to_vec(), state(old_mode, old), state(new_mode, new)));
    }
    Ok(found)
}

/// The mode of a submodule.
const LINK_TO_COMMIT: &str = "160000";

/// All files of a tree.
fn entries(git: &Git, tree: &str) -> Result<BTreeMap<Name, (String, String)>, Failure> {
    // `<mode> <type> <id>`, tab, the name.
    let list = git.bytes(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
    let entry = |line: &[u8]| {
        let (what, name) = split(line)?;
        let mut words = what.split(' ');
        let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
        (mode != LINK_TO_COMMIT).then(|| (name, (mode.to_owned(), id.to_owned())))
    };
    Ok(list.split(|byte| *byte == 0).filter_map(entry).collect())
}

/// The lines of `git ls-files -s`: `<mode> <id> <stage>`, tab, the name.
fn index_entries(list: &[u8]) -> BTreeMap<Name, (String, String)> {
    let entry = |line: &[u8]| {
        let (what, name) = split(line)?;
        let mut words = what.split(' ');
        Some((name, (words.next()?.to_owned(), words.next()?.to_owned())))
    };
    list.split(|byte| *byte == 0).filter_map(entry).collect()
}

fn split(line: &[u8]) -> Option<(String, Name)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let what = String::from_utf8_lossy(line.get(..tab)?).into_owned();
    Some((what, line.get(tab + 1..)?.to_vec()))
}

fn nul(names: &[Name]) -> Vec<u8> {
    names.iter().flat_map(|name| name.iter().copied().chain([0])).collect()
}

fn shown(name: &[u8]) -> String {
    sys::text::clean(&String::from_utf8_lossy(name))
}

/// What tells cheaply that a file was written since.
type Stamp = Option<(u64, Option<SystemTime>)>;

fn stamp(git: &Git, name: &[u8]) -> Stamp {
    let metadata = git.dir().join(git::path(name)).symlink_metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

/// Removes a file, and the folders that it leaves empty. What cannot be removed is among what is left.
fn remove(git: &Git, name: &[u8]) {
    let path = git.dir().join(git::path(name));
    if files::remove_file(&path).is_err() {
        return;
    }
    for folder in path.ancestors().skip(1).take_while(|folder| *folder != git.dir() && folder.starts_with(git.dir())) {
        if !files::remove_empty_dir(folder).unwrap_or(false) {
            return;
        }
    }
}
