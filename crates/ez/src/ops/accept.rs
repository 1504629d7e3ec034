//! Going into a session and out of it: on_session_enter and on_session_exit, what is exported, where the shell goes, and
//! which bind stands for "enter" when the person configured one (ez-behaviour.md, 5). Commands and pickers call it.

use std::path::Path;

use sys::Failure;
use wire::hook::{Bind, BindContext, Hook};

use crate::context::Context;
use crate::hooks::{Call, Plugin, fire, plugins};
use crate::landing::Landing;
use crate::out::Out;
use crate::store::{self, Repo, Session};

/// Enters a session.
///
/// # Errors
/// When the state cannot be written; plugins only warn.
pub fn enter(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<Landing, Failure> {
    if session.id.is_empty() {
        return enter_main(context, repo);
    }
    let mut call = Call::session(Hook::OnSessionEnter, repo, session);
    let effects = fire(context, &mut call, out);
    let now = store::stamp();
    let touched = context.store.update_session(&repo.id, &session.id, |stored| {
        stored.last_accessed = Some(now.clone());
        Ok(stored.clone())
    })?;
    context.store.update_repo_state(&repo.id, |state| {
        state.last_accessed = Some(now.clone());
        Ok(())
    })?;
    remember(context, &repo.id, &session.id);
    let session = touched.or(call.session).unwrap_or_else(|| session.clone());
    let on_enter = context.globals.on_enter.clone().unwrap_or_else(|| context.config.on_enter.clone());
    let mut landing = accept(context, repo, &session, &on_enter, out)?;
    let stays = stays(context, &landing, effects.cd.as_deref());
    landing.add(effects.post, effects.cd);
    if stays {
        landing.exports = None;
    }
    Ok(landing)
}

/// A hook that keeps the shell where it is, because it took the person elsewhere (to another window of a multiplexer),
/// keeps it out of the session: its variables are not for this shell.
fn stays(context: &Context, landing: &Landing, cd: Option<&str>) -> bool {
    let here = context.cwd.as_deref();
    cd.is_some() && here.is_some() && cd.map(Path::new) == here && landing.cd.as_deref().map(Path::new) != here
}

/// Goes to a repository's own folder, where no session stands for it: no plugin is asked.
///
/// # Errors
/// When the state cannot be written.
fn enter_main(context: &Context, repo: &Repo) -> Result<Landing, Failure> {
    if !Path::new(&repo.path).is_dir() {
        return Err(Failure::new(format!(
            "the folder of {} is gone: {}",
            crate::model::name::quoted(&repo.name),
            repo.path
        ))
        .hint("it was moved? `ez add NEW-FOLDER` keeps its sessions")
        .hint(format!("`ez remove {}` takes it off the list", repo.id)));
    }
    context.store.update_repo_state(&repo.id, |state| {
        state.last_accessed = Some(store::stamp());
        Ok(())
    })?;
    remember(context, &repo.id, "");
    let exports = Some(std::collections::BTreeMap::new());
    Ok(Landing { cd: Some(repo.path.clone()), exports, ..Landing::default() })
}

/// Keeps the last places that were entered, for `ez go -`: repository and session, which is empty for a main checkout
/// that has none.
fn remember(context: &Context, repo: &str, session: &str) {
    let file = context.store.data.join("recent");
    let line = format!("{repo}\t{session}");
    let old = sys::files::read_bounded(&file, 64 * 1024).ok().flatten().unwrap_or_default();
    let old = String::from_utf8_lossy(&old).into_owned();
    let mut lines = vec![line.as_str()];
    lines.extend(old.lines().filter(|other| *other != line).take(9));
    // A convenience: that it could not be kept stops nobody.
    let kept = sys::files::make_dir(&context.store.data);
    let _ = kept.and_then(|()| sys::files::overwrite(&file, format!("{}\n", lines.join("\n")).as_bytes()));
}

/// Goes to a session's folder and no more: no hook, no variables.
pub fn only_cd(context: &Context, repo: &Repo, session: &Session) -> Landing {
    remember(context, &repo.id, &session.id);
    Landing { cd: folder(repo, session), ..Landing::default() }
}

/// The folder of a session, where it has one.
pub fn folder(repo: &Repo, session: &Session) -> Option<String> {
    match &session.path {
        Some(path) => Some(path.clone()),
        None if session.bare => None,
        None => Some(repo.path.clone()),
    }
}

/// Goes to a session by `cd` or by the bind that `how` names; an unknown one is `cd`.
///
/// # Errors
/// Never for a plugin: that falls back to `cd`.
pub fn accept(context: &Context, repo: &Repo, session: &Session, how: &str, out: &mut Out) -> Result<Landing, Failure> {
    let mut landing = Landing { exports: Some(session.env.clone()), ..Landing::default() };
    landing.cd = folder(repo, session);
    if how == "cd" || how.is_empty() {
        match &landing.cd {
            None => out.note(&format!("Session '{}' has no worktree path (bare session)", session.name)),
            Some(cd) if !Path::new(cd).is_dir() => {
                out.warn(&format!("the folder of '{}' is gone: {cd} (`ez session prune --gone`)", session.name));
            }
            Some(_) => {}
        }
        return Ok(landing);
    }
    let Some((plugin, bind)) = bind_named(context, how) else {
        context.debug(&format!("no bind is called {how}; cd instead"));
        return Ok(landing);
    };
    let (post, cd) = press(context, repo, session, &plugin, &bind, "session", out).unwrap_or_else(|failure| {
        out.warn(&failure.to_string());
        (Vec::new(), None)
    });
    landing.pressed = post;
    if cd.is_some() {
        landing.cd = cd;
    }
    Ok(landing)
}

/// True for what `on_enter` has a meaning for: `cd`, or a bind that is there now.
pub fn is_way(context: &Context, how: &str) -> bool {
    how == "cd" || bind_named(context, how).is_some()
}

/// The first bind for sessions whose label, name or plugin is called so.
fn bind_named(context: &Context, how: &str) -> Option<(Plugin, Bind)> {
    plugins::usable(context).into_iter().find_map(|plugin| {
        let wanted = |bind: &&Bind| {
            bind.contexts.iter().any(|context| context == "session")
                && (bind.label == how || bind.name == how || plugin.name == how || plugin.manifest.name == how)
        };
        let bind = plugin.manifest.binds.iter().find(wanted).cloned()?;
        Some((plugin, bind))
    })
}

/// Presses a plugin's key on a session: its commands for the shell and its folder.
///
/// # Errors
/// The plugin's.
pub fn press(
    context: &Context,
    repo: &Repo,
    session: &Session,
    plugin: &Plugin,
    bind: &Bind,
    view: &str,
    out: &mut Out,
) -> Result<(Vec<String>, Option<String>), Failure> {
    let mut call = Call::session(Hook::OnBind, repo, session);
    call.bind = Some(BindContext {
        name: bind.name.clone(),
        key: bind.key.clone(),
        view: view.to_owned(),
        selected_value: Some(session.id.clone()),
        selected_display: Some(session.name.clone()),
    });
    call.only = Some(vec![plugin.clone()]);
    let effects = fire(context, &mut call, out);
    match effects.failure {
        Some(failure) => Err(failure),
        None => Ok((effects.post, effects.cd)),
    }
}

/// Leaves the current session: back to the repository's own folder, without the session's variables.
///
/// # Errors
/// Never for a plugin.
pub fn exit(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<Landing, Failure> {
    let mut call = Call::session(Hook::OnSessionExit, repo, session);
    let effects = fire(context, &mut call, out);
    let mut landing = Landing { exports: Some(std::collections::BTreeMap::new()), ..Landing::default() };
    landing.cd = Some(repo.path.clone());
    remember(context, &repo.id, "");
    landing.add(effects.post, effects.cd);
    Ok(landing)
}

/// What follows a create: `on_create`.
///
/// # Errors
/// As [`accept`].
pub fn after_create(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<Landing, Failure> {
    let how = context.globals.on_create.clone().unwrap_or_else(|| context.config.on_create.clone());
    if how.is_empty() || how == "none" {
        return Ok(Landing::default());
    }
    let landing = accept(context, repo, session, &how, out)?;
    let now = store::stamp();
    context.store.update_session(&repo.id, &session.id, |stored| {
        stored.last_accessed = Some(now.clone());
        Ok(())
    })?;
    remember(context, &repo.id, &session.id);
    Ok(landing)
}
