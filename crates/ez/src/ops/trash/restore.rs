//! The way back out of the trash: record, notes, worktree with changes, files and submodules. A worktree is built beside
//! its place and gets its name when it is whole, so that a half one never stands there; what fails is undone, and the
//! entry holds everything until the end. The `trash` commands, doctor and aborted deletions call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use sys::files;

use super::keep::{linked, submodules};
use super::{Entry, find, forget, moved_aside, remove_aside, root};
use crate::bundled::git_worktree;
use crate::context::Context;
use crate::git::Git;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::ops::steps::{self, Step};
use crate::ops::{create, record};
use crate::out::Out;
use crate::store::{self, Repo, Session};

fn of_entry(context: &Context, entry: &Entry) -> Result<(Repo, Session), Failure> {
    let repo = context.store.repos()?.into_iter().find(|repo| repo.id == entry.repo).ok_or_else(|| {
        Failure::new(format!("the repository {} is not registered any more", quoted(&entry.repo)))
            .hint(format!("ez add {}", entry.repo_path))
    })?;
    Ok((repo, steps::recorded(&entry.record)?))
}

/// Brings a session back: its record, worktree, changes, files and notes; says what could not be brought back.
///
/// # Errors
/// When its repository is gone, its name is taken or something of it cannot be brought back; what was done is undone then.
pub fn restore(context: &Context, entry: &Entry, out: &mut Out) -> Result<(), Failure> {
    store::check_id(&entry.id)?;
    let (repo, session) = of_entry(context, entry)?;
    create::check_free(&repo, &context.store.sessions(&repo.id)?, &session.name, Some(&session.id))?;
    let open =
        record::open(context, &repo, "restore", &session, vec![Step::Restore { entry: Some(entry.id.clone()) }])?;
    let restored = bring_back_entry(context, entry, false, out);
    if restored.is_err() && staging_root(entry).is_some_and(|folder| folder.symlink_metadata().is_ok()) {
        // What could not be taken away again is doctor's to finish: the record stays.
        return restored.map_err(|failure| failure.hint("`ez doctor --fix` tries again"));
    }
    open.close()?;
    restored
}

/// As [`restore`], whatever an earlier one has done of it already.
///
/// # Errors
/// When a part of it cannot be brought back; it is undone then, and the entry holds everything.
pub(in crate::ops) fn bring_back_entry(
    context: &Context,
    entry: &Entry,
    again: bool,
    out: &mut Out,
) -> Result<(), Failure> {
    let (repo, session) = of_entry(context, entry)?;
    let repo = &repo;
    let had_worktree = entry.had_worktree(repo);
    let path = session.path.as_deref().map(Path::new).filter(|_| had_worktree);
    if let Some(path) = path.filter(|path| !again && path.symlink_metadata().is_ok()) {
        return Err(Failure::new(format!("could not restore {}", quoted(&session.name)))
            .cause(format!("something is at {} already", path.display()))
            .hint("move it away and try again; the trash keeps the session"));
    }
    let no_folder =
        entry.moved && moved_aside(repo, entry).is_empty() && path.is_some_and(|path| linked(repo, path).is_none());
    let (kept_notes, notes) =
        (root(context).join(&entry.id).join("notes"), context.store.notes_dir(&repo.id, &session.id));
    let mut listed = false;
    context.store.update_sessions(&repo.id, |sessions| {
        listed = !sessions.iter().any(|found| found.id == session.id);
        if listed {
            sessions.push(session.clone());
        }
        Ok(())
    })?;
    let moved_notes = kept_notes.is_dir();
    let mut done = if moved_notes { files::move_to(&kept_notes, &notes) } else { Ok(()) };
    let moved_notes = moved_notes && done.is_ok();
    if done.is_ok()
        && let Some(path) = path
    {
        done = restore_worktree(context, repo, entry, path, out);
    }
    if let Err(failure) = done {
        let back = if moved_notes { files::move_to(&notes, &kept_notes) } else { Ok(()) };
        let unlisted = if listed { unlist(context, repo, &session) } else { Ok(()) };
        let left = [back, unlisted].into_iter().filter_map(Result::err);
        let failure = failure.hint("nothing was brought back; the trash keeps all of it");
        return Err(left.fold(failure, |failure, left| failure.hint(left.to_string())));
    }
    tell_missing(context, entry, no_folder, out);
    forget(context, repo, &entry.id);
    if !had_worktree {
        tell_gone_before(context, repo, &session, out);
    }
    Ok(())
}

fn unlist(context: &Context, repo: &Repo, session: &Session) -> Result<(), Failure> {
    context.store.update_sessions(&repo.id, |sessions| {
        sessions.retain(|found| found.id != session.id);
        Ok(())
    })
}

/// What the trash should have held and does not: somebody else has removed it.
fn tell_missing(context: &Context, entry: &Entry, no_folder: bool, out: &mut Out) {
    let folder = root(context).join(&entry.id);
    let mut gone = Vec::new();
    if no_folder {
        gone.push("its folder is not in the trash any more: untracked and ignored files are lost".to_owned());
    }
    if let Some(count) = entry.files.filter(|count| *count > 0 && !folder.join("files").is_dir()) {
        gone.push(format!("{count} untracked and ignored files are not in the trash any more and do not come back"));
    }
    if entry.git_dir.is_some() && !folder.join("git").is_dir() {
        gone.push("its index and reflog are not in the trash any more".to_owned());
    }
    for one in gone {
        out.warn(&one);
    }
}

fn tell_gone_before(context: &Context, repo: &Repo, session: &Session, out: &mut Out) {
    let Some(path) = session.path.as_deref().filter(|path| !Path::new(path).exists()) else { return };
    out.warn(&format!("its folder was gone before it was deleted, so it does not come back: {path}"));
    let branch = session.plugin_state.get("branch").and_then(toml::Value::as_str);
    if let Some(branch) = branch.filter(|branch| Git::new(context, &repo.path).commit(branch).is_some()) {
        let word = |text: &str| crate::shell::quote(crate::shell::Shell::Bash, text);
        out.note(&format!(
            "  its branch is there; a new folder: git -C {} worktree add {} {}",
            word(&repo.path),
            word(path),
            word(branch)
        ));
    }
}

/// Where a worktree is built: beside its place, so that a rename puts it there.
fn staging_root(entry: &Entry) -> Option<PathBuf> {
    let path = Path::new(entry.path.as_deref()?);
    Some(path.parent()?.join(format!(".ez-restore-{}", entry.id)))
}

/// The worktree as it was, where it was only moved aside; else a new one with what was kept. One that stands already is
/// whole: an interrupted restore gave it its name.
///
/// # Errors
/// When it cannot be brought back; nothing of it stands then.
pub(super) fn restore_worktree(
    context: &Context,
    repo: &Repo,
    entry: &Entry,
    path: &Path,
    out: &mut Out,
) -> Result<(), Failure> {
    let git = Git::new(context, &repo.path);
    if let Some(tree) = linked(repo, path) {
        git.text(&["worktree", "repair", "--", &crate::context::utf8(path)?])?;
        files::remove_file(&tree.dir.join(MADE))?;
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        return Err(
            Failure::new(format!("something is at {} already", path.display())).hint("move it away and try again")
        );
    }
    let aside = moved_aside(repo, entry);
    let branch = bring_branch_back(context, repo, entry)?;
    if let Some(last) = aside.last()
        && branch != Branch::MovedOn
    {
        match git_worktree::restore(last, path, &context.child_env()) {
            Ok(()) => return Ok(()),
            Err(failure) => out.warn(&format!("{failure}; a new worktree is made")),
        }
    }
    let Some(staging) = staging_root(entry) else { return Err(Failure::new("it had no folder")) };
    let build = Build { context, repo, entry, path, top: staging.join(path.file_name().unwrap_or_default()), staging };
    let built = build.clear().and_then(|()| build.whole(&branch, aside.last(), out));
    let whole = match built.and_then(|whole| build.place(out).map(|()| whole)) {
        Ok(whole) => whole,
        Err(failure) => {
            let undone = build.undo();
            if let (Branch::Made(full), Some(tip)) = (&branch, &entry.tip) {
                // The entry has its commit.
                let _ = git.run(&["update-ref", "-d", full, tip]);
            }
            return Err(undone.into_iter().fold(failure, |failure, left| failure.hint(left)));
        }
    };
    // What could not be applied is still there to be looked at. That a second copy stays undoes nothing.
    if whole && let Err(failure) = remove_aside(&aside) {
        out.warn(&format!("{failure}; it is back, and this copy of it can go"));
    }
    Ok(())
}

/// The branch of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Branch {
    /// It is where it was, or there was none.
    Same,
    /// It was gone and is back; its full name.
    Made(String),
    /// It has other commits by now: the worktree's files are not its own.
    MovedOn,
}

/// The branch is where it was, again if need be.
pub(super) fn bring_branch_back(context: &Context, repo: &Repo, entry: &Entry) -> Result<Branch, Failure> {
    let git = Git::new(context, &repo.path);
    let Some(full) = entry.branch.as_ref().map(|branch| format!("refs/heads/{branch}")) else {
        return Ok(Branch::Same);
    };
    match (git.commit(&full), &entry.tip) {
        (None, None) => Ok(Branch::Same),
        (Some(now), Some(tip)) if now == *tip => Ok(Branch::Same),
        (Some(_), _) => Ok(Branch::MovedOn),
        (None, Some(tip)) => git.text(&["update-ref", &full, tip, ""]).map(|_| Branch::Made(full)),
    }
}

/// A worktree that is built beside its place.
struct Build<'a> {
    context: &'a Context,
    repo: &'a Repo,
    entry: &'a Entry,
    /// Its place.
    path: &'a Path,
    /// Our folder beside it.
    staging: PathBuf,
    /// The worktree in that.
    top: PathBuf,
}

impl Build<'_> {
    fn kept(&self, name: &str) -> PathBuf {
        root(self.context).join(&self.entry.id).join(name)
    }

    fn git(&self) -> Git {
        Git::new(self.context, &self.repo.path)
    }

    /// What a killed restore left of it. The folder is ours by its name, and all in it is kept.
    fn clear(&self) -> Result<(), Failure> {
        if self.staging.symlink_metadata().is_err() {
            return Ok(());
        }
        if linked(self.repo, &self.top).is_some() {
            let top = crate::context::utf8(&self.top)?;
            // One that git does not list is removed as any folder.
            let _ = self.git().run(&["worktree", "remove", "--force", "--", &top]);
        }
        files::remove_tree(&self.staging).map(drop)
    }

    /// Takes away what was made; what could not be, in words.
    fn undo(&self) -> Vec<String> {
        let mut left: Vec<String> = self.clear().err().map(|failure| failure.to_string()).into_iter().collect();
        if let Some(admin) = self.admin().filter(|admin| admin.join(MADE).exists()) {
            left.extend(files::remove_tree(&admin).err().map(|failure| failure.to_string()));
        }
        left
    }

    /// Git's folder of the worktree as it was, in the repository as it lies today.
    fn admin(&self) -> Option<PathBuf> {
        let name = Path::new(self.entry.git_dir.as_deref()?).file_name()?;
        Some(GitDir::at(Path::new(&self.repo.path))?.common.join("worktrees").join(name))
    }

    /// False when not all of it could be brought back.
    fn whole(&self, branch: &Branch, aside: Option<&PathBuf>, out: &mut Out) -> Result<bool, Failure> {
        files::make_dir(&self.staging)?;
        if *branch != Branch::MovedOn
            && aside.is_none()
            && self.kept("git/HEAD").is_file()
            && !self.elsewhere()?
            && let Some(admin) = self.admin()
            && self.is_free(&admin)
        {
            self.exact(&admin)?;
            return Ok(true);
        }
        self.anew(aside, out)
    }

    /// Its branch is checked out in another folder.
    fn elsewhere(&self) -> Result<bool, Failure> {
        let Some(branch) = &self.entry.branch else { return Ok(false) };
        let all = self.git().worktrees()?;
        Ok(all.iter().any(|tree| tree.branch.as_ref() == Some(branch) && Path::new(&tree.path) != self.path))
    }

    /// No worktree has taken the place of git's folder: it is gone, or still the one of this worktree.
    fn is_free(&self, admin: &Path) -> bool {
        let text = |path: &Path| files::read_bounded(path, 1 << 20).ok().flatten();
        match admin.symlink_metadata() {
            Err(_) => true,
            Ok(_) => {
                let same = |name: &str| text(&admin.join(name)) == text(&self.kept("git").join(name));
                admin.join(MADE).exists() || (same("gitdir") && same("HEAD"))
            }
        }
    }

    /// As it was: git's folder with index, reflog, submodules and what is in progress, and the files over it.
    fn exact(&self, admin: &Path) -> Result<(), Failure> {
        if admin.symlink_metadata().is_err() {
            // The mark comes first, so that one which is half there is known for ours.
            files::make_dir(admin)?;
            files::write_new(&admin.join(MADE), b"", files::Mode::Normal)?;
        }
        files::link_missing(&self.kept("git"), admin)?;
        files::copy_exact(&self.kept("dot-git"), &self.top.join(".git"))?;
        let index = self.staging.join("index");
        let kept = [self.kept("index.work"), self.kept("git/index")].into_iter().find(|file| file.is_file());
        if let Some(kept) = kept {
            files::copy_exact(&kept, &index)?;
        }
        let git = Git::new(self.context, &self.top);
        let git = git.with("GIT_DIR", admin).with("GIT_WORK_TREE", &self.top).with("GIT_INDEX_FILE", &index);
        git.bytes(&["checkout-index", "--all", "--force", "--quiet"])?;
        self.files()
    }

    /// The files that only the worktree had.
    fn files(&self) -> Result<(), Failure> {
        if self.kept("files").is_dir() { files::link_missing(&self.kept("files"), &self.top) } else { Ok(()) }
    }

    /// As a new worktree of the branch as it is now, or of the commit, with the changes applied.
    fn anew(&self, aside: Option<&PathBuf>, out: &mut Out) -> Result<bool, Failure> {
        let (git, entry) = (self.git(), self.entry);
        let to = crate::context::utf8(&self.top)?;
        // One that was moved or removed behind git's back still has an entry in git's list, which holds its branch.
        let _ = git.run(&["worktree", "remove", "--force", "--", &crate::context::utf8(self.path)?]);
        let tip = entry.tip.clone().unwrap_or_default();
        match &entry.branch {
            Some(branch) => git.text(&["worktree", "add", "--quiet", "--", &to, branch])?,
            None => git.text(&["worktree", "add", "--quiet", "--detach", "--", &to, &tip])?,
        };
        let tree = Git::new(self.context, &self.top);
        let mut whole = true;
        if let Some(changes) = &entry.changes
            && tree.text(&["stash", "apply", "--quiet", "--index", changes]).is_err()
            && let Err(failure) = tree.text(&["stash", "apply", "--quiet", changes])
        {
            out.warn(&format!(
                "the uncommitted changes are in the commit {changes}, they could not be applied: {failure}"
            ));
            git.text(&["update-ref", &format!("refs/ez/kept/{}", entry.id), changes])?;
            whole = false;
        }
        let modules = aside.map_or_else(|| self.kept("git"), |aside| git_worktree::kept_beside(aside)).join("modules");
        if let Some(made) = GitDir::at(&self.top)
            && modules.is_dir()
        {
            files::link_missing(&modules, &made.dir.join("modules"))?;
        }
        self.files()?;
        if let Some(aside) = aside {
            bring_back(aside, &self.top)?;
        }
        Ok(whole)
    }

    /// Gives it its name; from here on it is whole.
    fn place(&self, out: &mut Out) -> Result<(), Failure> {
        let path = crate::context::utf8(self.path)?;
        files::rename(&self.top, self.path)?;
        let told = self.git().text(&["worktree", "repair", "--", &path]);
        if let Err(failure) = told {
            files::rename(self.path, &self.top)?;
            return Err(failure);
        }
        files::sync_folder(&self.staging);
        let _ = files::remove_tree(&self.staging);
        if let Some(tree) = GitDir::at(self.path) {
            let _ = files::remove_file(&tree.dir.join(MADE));
            // The index knows the old files' times; git would look at each one again every time.
            let _ = Git::new(self.context, self.path).run(&["update-index", "-q", "--refresh"]);
            connect(self.context, self.path, &tree.dir, out);
        }
        Ok(())
    }
}

/// In git's folder of a worktree that is being brought back.
const MADE: &str = "ez-restoring";

/// Submodules find git's folder of theirs, and that finds them, where a worktree came back under another number.
pub(super) fn connect(context: &Context, top: &Path, admin: &Path, out: &mut Out) {
    let git = Git::new(context, top);
    for name in submodules(&git).unwrap_or_default() {
        let folder = top.join(&name);
        if let Err(failure) = connect_one(context, &folder, admin) {
            out.warn(&format!("the submodule {} has its files, but not its repository: {failure}", name.display()));
        } else if let Some(own) = GitDir::at(&folder).filter(|own| own.dir != folder.join(".git")) {
            connect(context, &folder, &own.dir, out);
        }
    }
}

fn connect_one(context: &Context, folder: &Path, admin: &Path) -> Result<(), Failure> {
    let right = || {
        let top = Git::new(context, folder).line(&["rev-parse", "--show-toplevel"]);
        top.is_some_and(|top| Path::new(&top).canonicalize().ok() == folder.canonicalize().ok())
    };
    if right() {
        return Ok(());
    }
    let dot = folder.join(".git");
    let text = files::read_bounded(&dot, 1 << 20)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let name = text.trim_end().rsplit_once("/modules/").map_or("", |(_, name)| name);
    let own = admin.join("modules").join(name);
    if name.is_empty() || name.split('/').any(|part| part == "..") || !own.is_dir() {
        return Err(Failure::new(format!("{} is not there", own.display())));
    }
    files::write_atomic(
        &dot,
        format!(
            "gitdir: {}
",
            crate::context::utf8(&own)?
        )
        .as_bytes(),
        files::Mode::Normal,
    )?;
    let config = crate::context::utf8(&own.join("config"))?;
    let to = crate::context::utf8(folder)?;
    Git::new(context, &own).text(&["config", "--file", &config, "core.worktree", &to])?;
    if right() { Ok(()) } else { Err(Failure::new("git does not find it")) }
}

/// Copies what is not there from a worktree that lies aside; nothing that is there is replaced.
fn bring_back(from: &Path, to: &Path) -> Result<(), Failure> {
    let entries = std::fs::read_dir(from).map_err(|error| Failure::io("read", from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Failure::io("read", from, &error))?;
        if entry.file_name() != ".git" {
            files::link_missing(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Finishes the restore that a record tells of. Nothing in the trash any more: it was at its end.
///
/// # Errors
/// As [`bring_back_entry`].
pub(in crate::ops) fn finish(context: &Context, id: &str, out: &mut Out) -> Result<(), Failure> {
    find(context, id).map_or(Ok(()), |entry| bring_back_entry(context, &entry, true, out))
}
