//! The steps of operations: each can be written down before it is done, and undone or finished by whoever comes after
//! the process that was to do it (ez.md, "Limits and failures"). Every undoing looks first whether there is anything to
//! undo, so it does not matter how far a killed process came. Operations undo their own failures by it, doctor those of
//! killed processes.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sys::Failure;
use wire::hook::Hook;

use super::{create, from_dirty, moves, trash};
use crate::context::Context;
use crate::git::Git;
use crate::hooks::{Call, Plugin, fire, plugins};
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{Blocks, Repo, Session};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A branch goes, to be made anew. Undone: it is where it was.
    DropBranch {
        /// Its full name.
        branch: String,
        /// Where it was.
        tip: String,
    },
    /// Branches may come. Undone: those that came and hold nothing of their own go.
    NewBranches {
        /// Those that were there before.
        before: BTreeSet<String>,
    },
    /// The session comes onto the list. Undone: it goes.
    List,
    /// on_session_create of a plugin. Undone: its on_session_delete.
    Create {
        /// The plugin's folder name.
        plugin: String,
    },
    /// What exists nowhere else goes into the trash. Undone: the worktree stands again, and the entry goes.
    Keep,
    /// on_session_delete of a plugin: a way back only as long as the worktree stands.
    Delete {
        /// The plugin's folder name.
        plugin: String,
    },
    /// The session and its notes go off the list.
    Unlist,
    /// A branch is renamed. Undone: it has its old name.
    RenameBranch {
        /// Its name before.
        from: String,
        /// Its name after.
        to: String,
        /// Its commit: a killed git may leave neither name.
        #[serde(default)]
        tip: Option<String>,
    },
    /// A worktree moves. Undone: it is back.
    MoveWorktree {
        /// Its folder before.
        from: String,
        /// Its folder after.
        to: String,
    },
    /// The session is listed under another name and folder. Undone: as the record holds it.
    Rename,
    /// Uncommitted changes of a folder are held in a commit and put into a session that is made for them; the folder keeps
    /// them. Finished where that session stands, else nothing is left of it.
    Hold {
        /// The folder.
        folder: String,
        /// The commit's message.
        message: String,
        /// The commit.
        #[serde(default)]
        commit: String,
        /// The id of the session that is made.
        #[serde(default)]
        made: String,
    },
    /// Held changes are in another folder and go from the first one. Only finished, never undone.
    Move {
        /// The folder they came from.
        folder: String,
        /// The commit's message.
        message: String,
        /// The folder they are in.
        to: String,
        /// The commit.
        #[serde(default)]
        commit: String,
        /// The id of the session that was made.
        #[serde(default)]
        made: String,
    },
    /// A trash entry is brought back. Only finished: until its end the entry holds everything.
    Restore {
        /// The entry's id, where it is not the session's.
        #[serde(default)]
        entry: Option<String>,
    },
}

/// An operation that is given up or taken up: what it is about, and where it happens.
pub struct Operation<'a> {
    /// The surroundings.
    pub context: &'a Context,
    /// The repository.
    pub repo: &'a Repo,
    /// The session as the operation found or planned it, patched by plugins since.
    pub session: &'a Session,
}

/// Undoes `steps`, the last one first. What could not be undone, in words.
pub fn undo(operation: &Operation<'_>, steps: &[Step], out: &mut Out) -> Vec<String> {
    steps.iter().rev().flat_map(|step| undo_one(operation, step, out)).collect()
}

fn undo_one(operation: &Operation<'_>, step: &Step, out: &mut Out) -> Vec<String> {
    let Operation { context, repo, session } = *operation;
    let git = || Git::new(context, &repo.path);
    let told = |what: String, done: Result<(), Failure>| match done {
        Ok(()) => Vec::new(),
        Err(why) => vec![format!("{what}: {why}")],
    };
    match step {
        Step::DropBranch { branch, tip } => {
            // Whoever made it again meanwhile has the word.
            let gone = git().commit(branch).is_none();
            let back = if gone { git().text(&["update-ref", branch, tip, ""]).map(drop) } else { Ok(()) };
            told(format!("{branch} is not back at {tip}"), back)
        }
        Step::NewBranches { before } => remove_new_branches(context, repo, before),
        Step::List => {
            let removed = context.store.update_sessions(&repo.id, |sessions| {
                sessions.retain(|found| found.id != session.id);
                Ok(())
            });
            told("the session is still listed".to_owned(), removed)
        }
        Step::Create { plugin } => match plugins::load(context, plugin) {
            Ok(plugin) if is_off(context, &plugin.name, out) => Vec::new(),
            Ok(plugin) if plugin.manifest.handles(Hook::OnSessionDelete) => {
                let name = plugin.name.clone();
                let asked = ask_to_delete(operation, plugin, out).map_or(Ok(()), Err);
                told(format!("plugin '{name}' could not take back what it did"), asked)
            }
            Ok(_) => Vec::new(),
            Err(broken) => vec![format!("plugin '{plugin}' cannot be asked to take back what it did: {}", broken.why)],
        },
        Step::Keep => {
            let what = format!("a plugin was at its worktree; what it had is in the trash, {}", session.id);
            told(what, trash::take_back(context, repo, session, out))
        }
        Step::RenameBranch { from, to, tip } => {
            told(format!("the branch is not called {from} again"), moves::name_back(&git(), from, to, tip.as_deref()))
        }
        Step::MoveWorktree { from, to } => {
            told(format!("the worktree is not back in {from}"), moves::move_back(&git(), from, to))
        }
        Step::Rename => {
            let back = context.store.update_session(&repo.id, &session.id, |stored| {
                session.name.clone_into(&mut stored.name);
                stored.path.clone_from(&session.path);
                stored.plugin_state.clone_from(&session.plugin_state);
                Ok(())
            });
            told(format!("the session is not called {} again", quoted(&session.name)), back.map(drop))
        }
        Step::Delete { .. } | Step::Unlist | Step::Hold { .. } | Step::Move { .. } | Step::Restore { .. } => Vec::new(),
    }
}

/// True for a plugin that the person has turned off since, maybe because it hangs: it is told, and not asked.
fn is_off(context: &Context, plugin: &str, out: &mut Out) -> bool {
    let off = !context.config.enabled.iter().any(|enabled| enabled == plugin);
    if off {
        out.note(&format!("the plugin '{}' is off and is not asked", sys::text::clean(plugin)));
    }
    off
}

fn ask_to_delete(operation: &Operation<'_>, plugin: Plugin, out: &mut Out) -> Option<Failure> {
    let mut call = Call::session(Hook::OnSessionDelete, operation.repo, operation.session);
    call.only = Some(vec![plugin]);
    call.unstored = true;
    let effects = fire(operation.context, &mut call, out);
    // Nobody is in what was never there for anybody: no shell has to wait for this.
    for command in &effects.post {
        crate::landing::run_sh(operation.context, command, out);
    }
    effects.failure
}

fn remove_new_branches(context: &Context, repo: &Repo, before: &BTreeSet<String>) -> Vec<String> {
    let git_dir = GitDir::at(Path::new(&repo.path));
    let Some(after) = create::branches(context, repo, git_dir.as_ref()) else { return Vec::new() };
    let git = Git::new(context, &repo.path);
    let mut left = Vec::new();
    for name in after.difference(before) {
        let full = format!("refs/heads/{name}");
        let used = git.worktrees().is_ok_and(|all| all.iter().any(|tree| tree.branch.as_deref() == Some(name)));
        if used || git.commits_of_its_own(name) != Some(0) {
            left.push(format!("the branch {} is kept, it is in use or has commits of its own", quoted(name)));
        } else if let Err(why) = git.text(&["update-ref", "-d", &full]) {
            left.push(format!("the branch {} is left: {why}", quoted(name)));
        }
    }
    left
}

/// What is to become of a killed process' operation: which way is safe depends on how far it came.
///
/// # Errors
/// When it can be neither finished nor undone; what stands in the way.
pub fn settle(operation: &Operation<'_>, steps: &[Step], out: &mut Out) -> Result<&'static str, Failure> {
    let Operation { context, repo, session } = *operation;
    let problems = |left: Vec<String>| match left.into_iter().reduce(|all, one| format!("{all}; {one}")) {
        None => Ok(()),
        Some(all) => Err(Failure::new(all)),
    };
    for step in steps {
        match step {
            Step::Hold { folder, commit, made, .. } => {
                return from_dirty::settle(operation, (folder, commit, made), None, out);
            }
            Step::Move { folder, commit, made, to, .. } => {
                return from_dirty::settle(operation, (folder, commit, made), Some(to), out);
            }
            Step::Restore { entry } => {
                let id = entry.as_deref().unwrap_or(&session.id);
                return trash::finish(context, id, out).map(|()| "finished");
            }
            Step::Unlist if !stands(repo, session) => return finish_delete(operation, steps, out).map(|()| "finished"),
            _ => {}
        }
    }
    problems(undo(operation, steps, out)).map(|()| "undone")
}

/// The session's worktree is where it was, or it never had one of its own.
fn stands(repo: &Repo, session: &Session) -> bool {
    match &session.path {
        Some(path) if repo.is_git && *path != repo.path => GitDir::at(Path::new(path)).is_some(),
        _ => true,
    }
}

/// The worktree has gone already: the rest goes after it. What only it held is in the trash, which came first.
fn finish_delete(operation: &Operation<'_>, steps: &[Step], out: &mut Out) -> Result<(), Failure> {
    let Operation { context, repo, session } = *operation;
    if !context.store.sessions(&repo.id)?.iter().any(|found| found.id == session.id) {
        return Ok(());
    }
    for step in steps {
        if let Step::Delete { plugin } = step
            && let Ok(plugin) = plugins::load(context, plugin)
            && !is_off(context, &plugin.name, out)
        {
            let name = plugin.name.clone();
            // The worktree is gone, so that it cannot do its work a second time is no reason to keep the session.
            if let Some(failure) = ask_to_delete(operation, plugin, out) {
                out.warn(&format!(
                    "{failure} (asked again after the worktree was gone; '{name}' may have done its part)"
                ));
            }
        }
    }
    trash::keep_notes(context, repo, session)?;
    context.store.update_sessions(&repo.id, |sessions| {
        sessions.retain(|found| found.id != session.id);
        Ok(())
    })
}

/// The session that a record holds.
///
/// # Errors
/// When it holds none.
pub fn recorded(text: &str) -> Result<Session, Failure> {
    let session = Blocks::<Session>::read(text)?.items.into_iter().next();
    session.ok_or_else(|| Failure::new("the record holds no session"))
}
