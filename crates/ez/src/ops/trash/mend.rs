//! A deletion that was stopped half way: what a plugin removed before it failed is put back from what was kept, and what
//! it changed is told, never overwritten. The kept copy goes only when the worktree holds all of it again. Steps that are
//! undone call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use sys::files;

use super::keep::{fields, linked};
use super::restore::{Branch, bring_branch_back, connect, restore_worktree};
use super::{Entry, forget, list, root};
use crate::context::Context;
use crate::git::{self, Git};
use crate::out::Out;
use crate::store::{Repo, Session};

/// Undoes a deletion: the worktree stands again with all it had, and the entry goes.
///
/// # Errors
/// When something is not as it was; the entry keeps everything then, and the failure says how to get at it.
pub(in crate::ops) fn take_back(
    context: &Context,
    repo: &Repo,
    session: &Session,
    out: &mut Out,
) -> Result<(), Failure> {
    let entry = list(context).into_iter().find(|entry| entry.id == session.id);
    if let (Some(entry), Some(path)) = (entry, session.path.as_deref().map(Path::new))
        && entry.had_worktree(repo)
    {
        if path.symlink_metadata().is_err() {
            restore_worktree(context, repo, &entry, path, out)?;
        } else if entry.git_dir.is_some() {
            let mend = Mend { context, repo, entry: &entry, path, kept: root(context).join(&entry.id) };
            let differs = mend.all(out)?;
            if !differs.is_empty() {
                return Err(told(&entry, path, &differs));
            }
        }
    }
    forget(context, repo, &session.id);
    Ok(())
}

fn told(entry: &Entry, path: &Path, differs: &[String]) -> Failure {
    let shown = differs.iter().take(8).map(|one| sys::text::clean(one)).collect::<Vec<_>>().join(", ");
    let more = differs.len().saturating_sub(8);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Failure::new(format!(
        "not as it was: {shown}{more} (to have all of it as it was: move {} away, then `ez trash restore {}`)",
        path.display(),
        entry.id
    ))
}

/// A worktree that stands, or what is left of it, and what was kept of it.
struct Mend<'a> {
    context: &'a Context,
    repo: &'a Repo,
    entry: &'a Entry,
    path: &'a Path,
    kept: PathBuf,
}

impl Mend<'_> {
    /// Puts back what is missing; what is there and differs, in words.
    fn all(&self, out: &mut Out) -> Result<Vec<String>, Failure> {
        let mut differs = Vec::new();
        if bring_branch_back(self.context, self.repo, self.entry)? == Branch::MovedOn {
            differs.push("its branch is at another commit".to_owned());
        }
        self.git_folder()?;
        let Some(tree) = linked(self.repo, self.path) else {
            differs.push("git does not know the folder any more".to_owned());
            return Ok(differs);
        };
        self.tracked(&tree.dir, &mut differs)?;
        let files = self.kept.join("files");
        if files.is_dir() {
            files::link_missing(&files, self.path)?;
            self.compare(&files, self.path, &mut differs)?;
        }
        connect(self.context, self.path, &tree.dir, out);
        Ok(differs)
    }

    /// Git's own folder, and the file that names it.
    fn git_folder(&self) -> Result<(), Failure> {
        let (Some(admin), kept) = (self.entry.git_dir.as_deref().map(Path::new), self.kept.join("git")) else {
            return Ok(());
        };
        let whole = ["HEAD", "commondir", "gitdir", "index"]
            .iter()
            .all(|name| admin.join(name).symlink_metadata().is_ok() || kept.join(name).symlink_metadata().is_err());
        if !whole || (kept.join("modules").is_dir() && !admin.join("modules").is_dir()) {
            files::link_missing(&kept, admin)?;
        }
        files::link_missing(&self.kept.join("dot-git"), &self.path.join(".git"))
    }

    /// Tracked files that vanished come back as they were; others that changed are named, and so is a changed index.
    fn tracked(&self, admin: &Path, differs: &mut Vec<String>) -> Result<(), Failure> {
        let index = self.kept.join("index.now");
        files::remove_file(&index)?;
        let (work, raw) = (self.kept.join("index.work"), self.kept.join("git/index"));
        let Some(kept) = [&work, &raw].into_iter().find(|file| file.is_file()) else { return Ok(()) };
        files::copy_tree(kept, &index)?;
        let git = Git::new(self.context, self.path).with("GIT_INDEX_FILE", &index);
        let args = ["diff", "--name-status", "-z", "--no-ext-diff", "--no-renames", "--ignore-submodules=all", "--"];
        let changed = git.bytes(&args)?;
        let mut fields = fields(&changed);
        let mut gone = Vec::new();
        while let (Some(state), Some(name)) = (fields.next(), fields.next()) {
            if state == b"D" {
                gone.extend_from_slice(name);
                gone.push(0);
            } else {
                differs.push(git::path(name).display().to_string());
            }
        }
        git.fed(&["checkout-index", "--quiet", "-z", "--stdin"], &gone)?;
        let stages = |git: Git| git.bytes(&["ls-files", "-z", "--stage"]);
        let own = Git::new(self.context, self.path);
        if raw.is_file() && stages(own.clone())? != stages(own.with("GIT_INDEX_FILE", &raw))? {
            differs.push(format!("what was staged ({})", admin.join("index").display()));
        }
        files::remove_file(&index).map(drop)
    }

    fn compare(&self, kept: &Path, there: &Path, differs: &mut Vec<String>) -> Result<(), Failure> {
        let entries = std::fs::read_dir(kept).map_err(|error| Failure::io("read", kept, &error))?;
        for entry in entries.flatten() {
            let (one, other) = (entry.path(), there.join(entry.file_name()));
            if entry.file_type().is_ok_and(|kind| kind.is_dir())
                && other.symlink_metadata().is_ok_and(|meta| meta.is_dir())
            {
                self.compare(&one, &other, differs)?;
            } else if !files::same_content(&one, &other)? {
                differs.push(other.strip_prefix(self.path).unwrap_or(&other).display().to_string());
            }
        }
        Ok(())
    }
}
