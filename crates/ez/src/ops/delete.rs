//! Deleting sessions: what would be lost is told first, on_session_delete runs before anything is removed and stops the
//! deletion when it fails, and what exists nowhere else goes to the trash (ez.md, "Sessions"). Branches are kept unless
//! asked for. `session delete`, `prune` and the pickers call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use wire::hook::Hook;

use super::steps::{self, Operation, Step};
use super::{record, trash};
use crate::context::Context;
use crate::git::{self, Git};
use crate::hooks::{Call, Source, fire, plugins};
use crate::landing::Landing;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::model::tree;
use crate::out::Out;
use crate::store::{Repo, Session};
use crate::worktree::{self, Leaving};

/// How it is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Children and uncommitted work go as well.
    pub force: bool,
    /// No plugin is asked.
    pub no_hooks: bool,
    /// The branch goes too, when nothing is lost with it.
    pub branch: bool,
    /// Asked also when nothing is lost: no session was named, or a key was pressed. A plain question then.
    pub always_ask: bool,
}

/// What is known of one session that goes.
struct Going {
    session: Session,
    branch: Option<String>,
    changes: Vec<String>,
    leaving: Leaving,
    /// Folders of others inside of its own, in words.
    others: Vec<String>,
    gone: bool,
}

/// Deletes `session` and what is below it.
///
/// # Errors
/// When something speaks against it and nobody says yes; when a plugin stops it.
pub fn delete(context: &Context, repo: &Repo, session: &Session, how: How, out: &mut Out) -> Result<Landing, Failure> {
    if session.is_default {
        return Err(Failure::new(format!("{} is the repository itself and cannot be deleted", quoted(&session.name)))
            .hint("`ez remove` takes a repository off the list"));
    }
    let all = context.store.sessions(&repo.id)?;
    let below: Vec<Session> = tree::below(&all, &session.id).into_iter().cloned().collect();
    let mut going = Vec::new();
    for session in below.iter().chain([session]) {
        going.push(look(context, repo, session)?);
    }
    inside(context, &mut going)?;
    ask(context, &going, below.len(), how, out)?;
    let mut landing = Landing::default();
    for one in &going {
        remove(context, repo, one, how, &mut landing, out)?;
        out.line(&format!("Deleted session: {}", sys::text::clean(&one.session.name)));
    }
    leave_dead_folder(context, repo, &going, &mut landing);
    trash::expire(context, out);
    Ok(landing)
}

/// What would be lost with one session; a lock on its worktree is a refusal.
fn look(context: &Context, repo: &Repo, session: &Session) -> Result<Going, Failure> {
    let mut going = Going {
        session: session.clone(),
        branch: None,
        changes: Vec::new(),
        leaving: Leaving::default(),
        others: Vec::new(),
        gone: true,
    };
    let Some(path) = session.path.as_deref().map(Path::new) else { return Ok(going) };
    if !path.is_dir() || !repo.is_git {
        return Ok(going);
    }
    going.gone = false;
    let (Some(tree), Some(main)) = (GitDir::at(path), GitDir::at(Path::new(&repo.path))) else { return Ok(going) };
    if tree.common != main.common || tree.dir == tree.common {
        // Another repository's folder, or the main checkout: not ours to look after, and never ours to remove.
        going
            .leaving
            .lines
            .push("the folder stays: it is no worktree of this repository beside its main one".to_owned());
        return Ok(going);
    }
    if let Some(reason) = tree.locked() {
        let why = if reason.is_empty() { "no reason is given".to_owned() } else { sys::text::clean(&reason) };
        let who = worktree::lock_of(&tree.dir.join("locked"));
        return Err(Failure::new(format!("the worktree of {} is locked", quoted(&session.name)))
            .cause(format!("{who}: {why}"))
            .hint(format!("git worktree unlock {}", path.display())));
    }
    going.branch = git::branch(context, &tree);
    going.changes = Git::new(context, path).changes()?;
    going.leaving = Leaving::look(context, path, going.branch.as_deref());
    Ok(going)
}

/// Folders of sessions that stay, or of whole repositories, inside of one that goes: they go with it.
fn inside(context: &Context, going: &mut [Going]) -> Result<(), Failure> {
    let ids: Vec<String> = going.iter().map(|one| one.session.id.clone()).collect();
    let mut others = Vec::new();
    for repo in context.store.repos()? {
        // What cannot be read is told by whoever needs it.
        let sessions = context.store.sessions(&repo.id).unwrap_or_default();
        let stays = sessions.into_iter().filter(|session| !ids.contains(&session.id) && !session.is_default);
        others.extend(stays.filter_map(|session| Some((format!("the session {}", session.name), session.path?))));
        others.push((format!("the repository {}", repo.name), repo.path));
    }
    for one in going.iter_mut().filter(|one| !one.gone) {
        let Some(folder) = one.session.path.as_deref().map(Path::new) else { continue };
        let within = |path: &Path| path != folder && path.starts_with(folder) && path.is_dir();
        let found = others.iter().filter(|(_, path)| within(Path::new(path)));
        one.others = found.map(|(what, path)| format!("the folder of {what} is in it: {path}")).collect();
    }
    Ok(())
}

/// Tells what goes. Children and uncommitted work need `--force` or a yes to it; the rest is told, never asked.
fn ask(context: &Context, going: &[Going], children: usize, how: How, out: &mut Out) -> Result<(), Failure> {
    let dirty = going.iter().filter(|one| !one.changes.is_empty()).count();
    let others = going.iter().flat_map(|one| &one.others).next();
    let loses = children > 0 || dirty > 0 || others.is_some();
    if loses || how.always_ask || going.iter().any(|one| !one.leaving.lines.is_empty()) {
        tell_what_goes(going, out);
    }
    let plain_yes = !how.always_ask || context.globals.yes;
    if how.force || (!loses && plain_yes) {
        return Ok(());
    }
    let why = match (children, dirty) {
        (0, 0) => others.cloned(),
        (0, _) => Some("it has uncommitted changes".to_owned()),
        (_, 0) => Some(format!("it has children: {}", names(going))),
        _ => Some(format!("it has children and uncommitted changes: {}", names(going))),
    };
    let answer = out.confirm(if loses { "Delete all of it?" } else { "Delete it?" });
    if answer == Some(true) {
        return Ok(());
    }
    let name = going.last().map(|one| one.session.name.clone()).unwrap_or_default();
    let message = format!("the session {} was not deleted", quoted(&name));
    let failure = if answer.is_some() || !loses { Failure::cancelled(message) } else { Failure::new(message) };
    Err(match why {
        Some(why) => failure.cause(why).hint("--force deletes it with all of that"),
        None => failure,
    })
}

fn tell_what_goes(going: &[Going], out: &mut Out) {
    out.note("This goes:");
    for one in going {
        let path = one.session.path.as_deref().map(|path| format!("  {path}")).unwrap_or_default();
        out.note(&format!("  {}{path}", one.session.name));
        for entry in one.changes.iter().take(20) {
            out.note(&format!("      {entry}"));
        }
        if one.changes.len() > 20 {
            out.note(&format!("      ... and {} more", one.changes.len() - 20));
        }
        for line in one.others.iter().chain(&one.leaving.lines) {
            out.note(&format!("      {line}"));
        }
    }
}

fn names(going: &[Going]) -> String {
    let children = going.len().saturating_sub(1);
    going.iter().take(children).map(|one| one.session.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn remove(
    context: &Context,
    repo: &Repo,
    one: &Going,
    how: How,
    landing: &mut Landing,
    out: &mut Out,
) -> Result<(), Failure> {
    let session = &one.session;
    let hooked = repo.is_git && !session.bare && !how.no_hooks;
    let (asked, broken) =
        if hooked { plugins::in_order(context, Hook::OnSessionDelete) } else { (Vec::new(), Vec::new()) };
    // Whoever comes first gets at the folder; only this one moves it aside whole.
    let moved = asked.first().is_some_and(|first| first.name == "git-worktree" && first.source == Source::Bundled);
    let open = if asked.is_empty() && session.path.is_none() {
        None
    } else {
        let mut steps = vec![Step::Keep];
        steps.extend(asked.iter().map(|plugin| Step::Delete { plugin: plugin.name.clone() }));
        steps.push(Step::Unlist);
        Some(record::open(context, repo, "delete", session, steps)?)
    };
    let kept = match trash::keep(context, repo, session, one.branch.as_deref(), keeping(context, one, how), moved) {
        Ok(kept) => kept,
        Err(failure) => {
            close(open, out);
            return Err(failure);
        }
    };
    if hooked {
        let mut call = Call::session(Hook::OnSessionDelete, repo, session);
        call.only = broken.is_empty().then_some(asked);
        call.unstored = true;
        let effects = fire(context, &mut call, out);
        if let Some(failure) = effects.failure {
            let left = steps::undo(&Operation { context, repo, session }, &[Step::Keep], out);
            close(open, out);
            let failure = failure.hint(format!("the session {} is still there", quoted(&session.name)));
            let failure = left.into_iter().fold(failure, Failure::hint);
            return Err(failure.hint("--no-hooks deletes it without asking plugins"));
        }
        landing.add(effects.post, effects.cd);
    }
    trash::keep_notes(context, repo, session)?;
    context.store.update_sessions(&repo.id, |sessions| {
        sessions.retain(|found| found.id != session.id);
        Ok(())
    })?;
    close(open, out);
    tell(one, kept, out);
    branch_too(context, repo, one, how, out);
    Ok(())
}

fn keeping(context: &Context, one: &Going, how: How) -> trash::Work {
    let branch_stays = !how.branch && context.config.delete_branch.as_deref() != Some("merged");
    match (one.changes.is_empty(), &one.branch) {
        (false, _) => trash::Work::Changes,
        (true, Some(_)) if branch_stays => trash::Work::OnBranch,
        (true, _) => trash::Work::Commits,
    }
}

fn close(open: Option<record::Open>, out: &mut Out) {
    if let Some(Err(failure)) = open.map(record::Open::close) {
        out.warn(&failure.to_string());
    }
}

/// What became of the files, in lines, never a question.
fn tell(one: &Going, kept: trash::Kept, out: &mut Out) {
    if kept.files > 0 {
        out.note(&format!("{} files that only this folder had went to the trash (ez trash list)", kept.files));
    }
    if let Some(path) = &one.session.path
        && Path::new(path).exists()
        && kept.owned
    {
        out.note(&format!("the folder {path} is still there: no plugin removed it"));
    }
}

fn branch_too(context: &Context, repo: &Repo, one: &Going, how: How, out: &mut Out) {
    let Some(branch) = &one.branch else { return };
    let merged_only = context.config.delete_branch.as_deref() == Some("merged");
    if !how.branch && !merged_only {
        return;
    }
    let git = Git::new(context, &repo.path);
    let own = git.commits_of_its_own(branch);
    if own != Some(0) && !(how.branch && how.force) {
        if how.branch {
            out.note(&format!(
                "branch {branch} kept: it has commits that are not merged (--branch --force deletes it)"
            ));
        }
        return;
    }
    let full = format!("refs/heads/{branch}");
    let Some(tip) = git.commit(&full) else { return };
    match git.text(&["update-ref", "-d", &full, &tip]) {
        Ok(_) => out.note(&format!("branch {branch} deleted (it was at {tip}, which the trash keeps)")),
        Err(failure) => out.warn(&format!("branch {branch} kept: {failure}")),
    }
}

/// Nobody is left standing in a folder that is gone (report B11).
fn leave_dead_folder(context: &Context, repo: &Repo, going: &[Going], landing: &mut Landing) {
    let Some(cwd) = &context.cwd else { return };
    if cwd.exists() || landing.cd.is_some() {
        return;
    }
    for one in going.iter().filter(|one| !one.gone) {
        let Some(path) = &one.session.path else { continue };
        if let Ok(inside) = cwd.strip_prefix(path) {
            let same: PathBuf = Path::new(&repo.path).join(inside);
            let stays = inside.as_os_str().is_empty() || !same.is_dir();
            let to = if stays { PathBuf::from(&repo.path) } else { same };
            landing.cd = to.to_str().map(str::to_owned);
            landing.exports = Some(std::collections::BTreeMap::new());
        }
    }
}
