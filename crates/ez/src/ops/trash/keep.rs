//! What only a session's worktree has is kept before anything may remove it: tracked changes as a commit, whatever state
//! the index is in; untracked and ignored files and submodules as copies; git's own folder of the worktree with index,
//! reflog and what is in progress. It removes nothing of the worktree and writes nothing into it. `delete` calls it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sys::Failure;
use sys::files::{self, Mode};

use super::{Entry, Kept, Work, forget, put_aside, root, trash_ref};
use crate::context::Context;
use crate::git::{self, Git};
use crate::model::gitdir::GitDir;
use crate::store::{self, Repo, Session};

/// Copies above this are not made without being asked for: 2 GiB.
const COPY_MAX: u64 = 2 << 30;

/// Keeps what only this session has. With `moved`, the bundled git-worktree is the first that gets at the folder and moves
/// it aside whole, so that a copy of its files would be a second one.
///
/// # Errors
/// When it cannot be kept: then nothing may be deleted, and nothing is left in the trash.
pub fn keep(
    context: &Context,
    repo: &Repo,
    session: &Session,
    branch: Option<&str>,
    work: Work,
    moved: bool,
) -> Result<Kept, Failure> {
    store::check_id(&session.id)?;
    put_aside(context, repo, &session.id)?;
    let kept = keep_all(context, repo, session, branch, work, moved);
    if kept.is_err() {
        forget(context, repo, &session.id);
    }
    kept
}

fn keep_all(
    context: &Context,
    repo: &Repo,
    session: &Session,
    branch: Option<&str>,
    work: Work,
    moved: bool,
) -> Result<Kept, Failure> {
    let mut kept = Kept::default();
    let mut entry = Entry {
        id: session.id.clone(),
        name: session.name.clone(),
        repo: repo.id.clone(),
        repo_path: repo.path.clone(),
        deleted_at: store::stamp(),
        branch: branch.map(str::to_owned),
        tip: None,
        changes: None,
        path: session.path.clone(),
        moved: false,
        git_dir: None,
        files: None,
        record: session.to_text(),
    };
    let folder = root(context).join(&session.id);
    files::make_private_dir(&folder)?;
    if let Some(tree) = own_worktree(repo, session) {
        kept.owned = true;
        let git = Git::new(context, &tree.top);
        entry.tip = tree.tip().or_else(|| git.line(&["rev-parse", "--verify", "--quiet", "HEAD"]));
        entry.moved = moved;
        if !moved {
            kept.files = copy_all(context, &git, &tree, &folder)?;
            entry.files = Some(kept.files);
            entry.git_dir = tree.dir.to_str().map(str::to_owned);
        }
        let hidden = hidden(&git)?;
        if work == Work::Changes || !hidden.is_empty() {
            entry.changes = Some(Changes { git: &git, tree: &tree, folder: &folder }.commit(&entry, &hidden)?);
        }
        let wanted = entry.changes.is_some() || work != Work::OnBranch;
        if let Some(keep) = entry.changes.as_ref().or(entry.tip.as_ref()).filter(|_| wanted) {
            git.text(&["update-ref", &trash_ref(&session.id), keep])?;
        }
        if !moved {
            files::sync_disk(&folder);
        }
    }
    let text = toml::to_string(&entry).map_err(|error| Failure::new("could not write the trash entry").cause(error))?;
    files::write_new(&folder.join("entry.toml"), text.as_bytes(), Mode::Private)?;
    Ok(kept)
}

/// The session's folder when it is a linked worktree of this repository.
pub(super) fn own_worktree(repo: &Repo, session: &Session) -> Option<GitDir> {
    linked(repo, Path::new(session.path.as_ref()?))
}

/// The linked worktree of this repository at `path`.
pub(super) fn linked(repo: &Repo, path: &Path) -> Option<GitDir> {
    let tree = GitDir::at(path)?;
    let main = GitDir::at(Path::new(&repo.path))?;
    (tree.common == main.common && tree.dir != tree.common).then_some(tree)
}

/// Untracked and ignored files as git names them, submodules that are checked out, and git's own folder.
fn copy_all(context: &Context, git: &Git, tree: &GitDir, folder: &Path) -> Result<usize, Failure> {
    let untracked = git.bytes(&["ls-files", "-z", "--others"])?;
    let mut names: Vec<PathBuf> = fields(&untracked).map(git::path).collect();
    names.extend(submodules(git)?);
    let size: u64 = names.iter().map(|name| size(&tree.top.join(name))).sum();
    if size > COPY_MAX && !context.globals.yes {
        return Err(Failure::new(format!(
            "{} holds {} that git does not know",
            tree.top.display(),
            sys::text::human::bytes(size)
        ))
        .hint("remove what is not needed (git clean), or agree to a copy of all of it with --yes"));
    }
    for name in &names {
        files::copy_tree(&tree.top.join(name), &folder.join("files").join(name))?;
    }
    files::copy_tree(&tree.top.join(".git"), &folder.join("dot-git"))?;
    copy_git(&tree.dir, &folder.join("git"))?;
    Ok(names.len())
}

fn size(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => crate::worktree::disk(path).unwrap_or(0),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}

/// Git's own folder of a worktree. Objects (of its submodules) are never written in place, so a second name is enough.
fn copy_git(from: &Path, to: &Path) -> Result<(), Failure> {
    files::make_private_dir(to)?;
    let entries = std::fs::read_dir(from).map_err(|error| Failure::io("read", from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io("read", from, &error))?;
        let (one, other) = (entry.path(), to.join(entry.file_name()));
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = one.extension().is_some_and(|ext| ext == "lock");
        match entry.file_name().to_str() {
            Some("objects") if is_dir => files::link_missing(&one, &other)?,
            _ if is_dir => copy_git(&one, &other)?,
            _ if lock => {}
            _ => drop(files::copy_tree(&one, &other)?),
        }
    }
    Ok(())
}

/// The submodules that are checked out in a worktree, by the index.
pub(super) fn submodules(git: &Git) -> Result<Vec<PathBuf>, Failure> {
    let staged = git.bytes(&["ls-files", "-z", "--stage"])?;
    let links = fields(&staged).filter(|entry| entry.starts_with(b"160000 "));
    let mut found: Vec<PathBuf> = links.filter_map(|entry| Some(git::path(after_tab(entry)?))).collect();
    found.dedup();
    found.retain(|name| git.dir().join(name).join(".git").symlink_metadata().is_ok());
    Ok(found)
}

/// NUL-separated fields.
pub(super) fn fields(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

fn after_tab(entry: &[u8]) -> Option<&[u8]> {
    entry.iter().position(|byte| *byte == b'\t').and_then(|at| entry.get(at + 1..))
}

/// Tracked files that are there and that git was told not to look at (assume-unchanged, skip-worktree), NUL-separated:
/// what is changed in them no status tells.
fn hidden(git: &Git) -> Result<Vec<u8>, Failure> {
    let told = git.bytes(&["ls-files", "-z", "-v", "--cached"])?;
    let mut names = Vec::new();
    for entry in fields(&told) {
        let (Some(tag), Some(name)) = (entry.first(), entry.get(2..)) else { continue };
        let unseen = tag.is_ascii_lowercase() || *tag == b'S';
        if unseen && git.dir().join(git::path(name)).symlink_metadata().is_ok() {
            names.extend_from_slice(name);
            names.push(0);
        }
    }
    Ok(names)
}

/// The tracked changes of one worktree on their way into a commit: its parents are HEAD and a commit of what was staged,
/// as in a stash. Only copies of the index are worked with.
struct Changes<'a> {
    git: &'a Git,
    tree: &'a GitDir,
    folder: &'a Path,
}

impl Changes<'_> {
    fn commit(&self, entry: &Entry, hidden: &[u8]) -> Result<String, Failure> {
        let work = self.index("index.work")?;
        if !hidden.is_empty() {
            for bit in ["--no-assume-unchanged", "--no-skip-worktree"] {
                work.fed(&["update-index", bit, "-z", "--stdin"], hidden)?;
            }
        }
        // Nothing of the person's settings may keep a change out.
        let plain =
            ["core.safecrlf=false", "core.splitIndex=false", "core.sparseCheckout=false", "core.fsmonitor=false"];
        let mut add: Vec<&str> = plain.iter().flat_map(|setting| ["-c", setting]).collect();
        add.extend(["add", "-u"]);
        work.bytes(&add)?;
        let worktree = one_line(&work.text(&["write-tree"])?);
        let staged = self.index("index.staged")?;
        let unmerged = staged.bytes(&["ls-files", "-z", "--unmerged"])?;
        let mut parents: Vec<String> = entry.tip.iter().cloned().collect();
        let both = if unmerged.is_empty() {
            None
        } else {
            staged.fed(&["update-index", "-z", "--index-info"], &resolved(&unmerged))?;
            let stages = one_line(&String::from_utf8_lossy(&self.git.fed(&["mktree"], &stages(&unmerged))?));
            Some(self.commit_tree(&stages, &[], "the stages of what was not merged")?)
        };
        let index = one_line(&staged.text(&["write-tree"])?);
        let of_index: Vec<String> = parents.iter().cloned().chain(both).collect();
        parents.push(self.commit_tree(&index, &of_index, &format!("ez trash: index of {}", entry.name))?);
        files::remove_file(&self.folder.join("index.staged"))?;
        self.commit_tree(&worktree, &parents, &format!("ez trash: {}", entry.name))
    }

    /// git with a copy of the index, at this name in the entry.
    fn index(&self, name: &str) -> Result<Git, Failure> {
        let (own, copy) = (self.tree.dir.join("index"), self.folder.join(name));
        if own.is_file() {
            files::copy_tree(&own, &copy)?;
        }
        Ok(self.git.clone().with("GIT_INDEX_FILE", &copy))
    }

    fn commit_tree(&self, tree: &str, parents: &[String], message: &str) -> Result<String, Failure> {
        let mut args = vec!["commit-tree", tree];
        args.extend(parents.iter().flat_map(|parent| ["-p", parent.as_str()]));
        args.extend(["-m", message]);
        let mut git = self.git.clone();
        // Whoever has told git no name loses no work for it.
        for who in ["AUTHOR", "COMMITTER"] {
            git = git.with(&format!("GIT_{who}_NAME"), "ez").with(&format!("GIT_{who}_EMAIL"), "ez@localhost");
        }
        git.text(&args).map(|text| one_line(&text))
    }
}

fn one_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// `mode`, `object`, `stage` and path of an entry of `ls-files --stage`.
fn staged(entry: &[u8]) -> Option<(String, String, u8, &[u8])> {
    let at = entry.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(entry.get(..at)?).ok()?;
    let mut words = head.split(' ');
    let (mode, object, stage) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
    Some((mode.to_owned(), object.to_owned(), stage, entry.get(at + 1..)?))
}

/// Input of `update-index --index-info` that takes our side of each unmerged path, and drops it where that has none.
fn resolved(unmerged: &[u8]) -> Vec<u8> {
    let mut ours: BTreeMap<&[u8], Option<(String, String)>> = BTreeMap::new();
    for (mode, object, stage, path) in fields(unmerged).filter_map(staged) {
        let side = ours.entry(path).or_default();
        if stage == 2 {
            *side = Some((mode, object));
        }
    }
    let mut input = Vec::new();
    for (path, side) in ours {
        // Mode 0 removes; the length of the name does not matter to git then, but its kind does.
        let zeros = "0".repeat(fields(unmerged).filter_map(staged).next().map_or(40, |(_, object, ..)| object.len()));
        let (mode, object) = side.unwrap_or_else(|| ("0".to_owned(), zeros));
        input.extend_from_slice(format!("{mode} {object}\t").as_bytes());
        input.extend_from_slice(path);
        input.push(0);
    }
    input
}

/// Input of `mktree` with every file of the stages, by its name: so that none is collected.
fn stages(unmerged: &[u8]) -> Vec<u8> {
    let mut objects: Vec<String> = fields(unmerged)
        .filter_map(staged)
        .filter(|(mode, ..)| mode != "160000")
        .map(|(_, object, ..)| format!("100644 blob {object}\t{object}\n"))
        .collect();
    objects.sort();
    objects.dedup();
    objects.concat().into_bytes()
}
