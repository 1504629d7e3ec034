//! The picker of one repository's sessions, with its unmanaged worktrees below: Enter, new, delete, rename, labels, cd,
//! sort, notes, and the plugins' keys. Only the browser's loop calls it.

use std::path::Path;

use sys::Failure;

use super::fzf::{self, Choice, List};
use super::keys::{self, Does};
use super::{Next, View, builder, lists, views};
use crate::context::Context;
use crate::git::Worktree;
use crate::landing::Landing;
use crate::model::tree::{self, Sort};
use crate::model::{SessionName, name};
use crate::ops::create::{self, Wanted};
use crate::ops::{accept, delete, from_dirty, moves};
use crate::out::Out;
use crate::store::{Repo, Session};

/// A row: a session, a worktree without one, or the line between.
#[derive(Clone, Debug)]
enum Row {
    Session(Box<Session>),
    Worktree(Worktree),
    Line,
}

/// Shows the sessions until something leads on.
pub(super) fn pick(
    context: &Context,
    repo: &Repo,
    sort: &mut Sort,
    carried: &mut Vec<String>,
    out: &mut Out,
) -> Result<Next, Failure> {
    loop {
        let sessions = moves::main_session(context, repo)?;
        let (rows, list) = rows(context, repo, &sessions, *sort)?;
        let Some(choice) = fzf::pick_row(context, list, out)? else { return Ok(Next::Back) };
        let row = choice.row.and_then(|row| rows.get(row)).cloned();
        match act(context, repo, &choice, row, sort, carried, out) {
            Ok(Some(next)) => return Ok(next),
            Ok(None) => {}
            // The picker comes back after a failure: one key does not end the browser (fault 46).
            Err(failure) => out.failure(&failure),
        }
    }
}

fn rows(context: &Context, repo: &Repo, sessions: &[Session], sort: Sort) -> Result<(Vec<Row>, List), Failure> {
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for placed in tree::draw(sessions, sort) {
        let session = placed.session;
        let mut text = format!("{}{}", placed.lines, session.name);
        if session.is_default {
            text.push_str(" *");
        }
        if session.bare {
            text.push_str(" [bare]");
        }
        for label in &session.labels {
            text.push_str(&format!(" #{label}"));
        }
        shown.push((session.id.clone(), text));
        rows.push(Row::Session(Box::new(session.clone())));
    }
    let unmanaged = moves::unmanaged(context, repo, sessions).unwrap_or_default();
    if !unmanaged.is_empty() {
        shown.push((String::new(), "── Not Registered ──────────".to_owned()));
        rows.push(Row::Line);
        for tree in unmanaged {
            let branch = tree.branch.clone().unwrap_or_else(|| "(detached)".to_owned());
            shown.push((tree.path.clone(), format!("{branch}  {}", tree.path)));
            rows.push(Row::Worktree(tree));
        }
    }
    let (plugin_keys, _) = keys::of_plugins(context, "session");
    let mut keys: Vec<String> =
        keys::actions("session").iter().chain(&keys::VIEWS).map(|a| context.config.key(a).to_owned()).collect();
    keys.extend(plugin_keys.iter().map(|key| key.key.clone()));
    keys.retain(|key| !key.is_empty());
    let key = |action: &str| context.config.key(action).to_owned();
    let core = [
        (key("new_session"), "new"),
        (key("delete_session"), "delete"),
        (key("rename_session"), "rename"),
        (key("edit_labels"), "labels"),
        (key("cd_session"), "cd"),
        (key("sort_toggle"), "sort"),
    ];
    let list = List {
        prompt: repo.name.clone(),
        header: keys::header(&core, &plugin_keys),
        rows: shown,
        keys,
        preview: Some(fzf::preview(
            context,
            &format!("--repo-id {}", crate::shell::quote(crate::shell::Shell::Bash, &repo.id)),
        )),
        ..List::default()
    };
    Ok((rows, list))
}

fn act(
    context: &Context,
    repo: &Repo,
    choice: &Choice,
    row: Option<Row>,
    sort: &mut Sort,
    carried: &mut Vec<String>,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    let land = |landing: Landing| Ok(Some(Next::Land(Box::new(landing))));
    let key = choice.key.as_str();
    let is = |action: &str| !key.is_empty() && key == context.config.key(action);
    if is("sort_toggle") {
        *sort = if *sort == Sort::Recent { Sort::Name } else { Sort::Recent };
        return Ok(None);
    }
    if let Some(view) = lists::switch(context, key) {
        return Ok(Some(Next::View(view)));
    }
    let plugin_key = keys::of_plugins(context, "session").0.into_iter().find(|found| found.key == key);
    if let Some(found) = &plugin_key
        && let Does::View(view) = &found.does
    {
        return Ok(Some(Next::View(View::Plugin(view.name.clone()))));
    }
    let session = match row {
        Some(Row::Session(session)) => *session,
        Some(Row::Worktree(tree)) if key.is_empty() => {
            let session = register(context, repo, &tree)?;
            return land(accept::enter(context, repo, &session, out)?);
        }
        _ => return Ok(None),
    };
    if key.is_empty() {
        return land(accept::enter(context, repo, &session, out)?);
    }
    if let Some(found) = plugin_key
        && let Does::Bind(bind) = &found.does
    {
        let (post, cd) = accept::press(context, repo, &session, &found.plugin, bind, "session", out)?;
        if post.is_empty() && cd.is_none() {
            return Ok(None);
        }
        let exports = Some(session.env.clone());
        return land(Landing { pressed: post, cd, exports, relaunch: true, ..Landing::default() });
    }
    if is("new_session") || is("new_bare_session") {
        return make(context, repo, &session, is("new_bare_session"), carried, out);
    }
    if is("session_from_dirty") {
        let name = builder::name(context, repo, out)?;
        let made = from_dirty::from_dirty(context, repo, &session, name, None, out)?;
        carried.extend(made.post);
    } else if is("delete_session") {
        remove(context, repo, &session, carried, out)?;
    } else if is("rename_session") {
        let typed = fzf::prompt(context, "new name", "", &session.name, out)?.unwrap_or_default();
        if !typed.trim().is_empty() {
            let name = SessionName::parse(typed.trim())?;
            carried.extend(moves::rename(context, repo, &session, &name, out)?.post);
        }
    } else if is("edit_labels") {
        labels(context, repo, &session, out)?;
    } else if is("cd_session") {
        return land(accept::only_cd(context, repo, &session));
    } else if is("note_cd") {
        let notes = context.store.notes_dir(&repo.id, &session.id);
        sys::files::make_dir(&notes)?;
        return land(Landing { cd: notes.to_str().map(str::to_owned), ..Landing::default() });
    } else if is("note_open") {
        crate::cli::open_note(context, repo, &session, out)?;
    }
    Ok(None)
}

fn make(
    context: &Context,
    repo: &Repo,
    parent: &Session,
    bare: bool,
    carried: &mut Vec<String>,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    let name = match builder::name(context, repo, out) {
        Ok(name) => name,
        Err(failure) if failure.exit_code() == 130 => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let wanted = Wanted { parent: Some(parent.id.clone()), bare, ..Wanted::new(name) };
    let made = create::create(context, repo, &wanted, out)?;
    let landing = accept::after_create(context, repo, &made.session, out)?;
    if landing == Landing::default() {
        carried.extend(made.post);
        return Ok(None);
    }
    let mut landing = landing;
    landing.add(made.post, made.cd);
    Ok(Some(Next::Land(Box::new(landing))))
}

fn remove(
    context: &Context,
    repo: &Repo,
    session: &Session,
    carried: &mut Vec<String>,
    out: &mut Out,
) -> Result<(), Failure> {
    let how = delete::How { always_ask: true, ..delete::How::default() };
    match delete::delete(context, repo, session, how, out) {
        Ok(landing) => carried.extend(landing.post),
        // No is an answer.
        Err(failure) if failure.exit_code() == 130 => {}
        Err(failure) => return Err(failure),
    }
    Ok(())
}

fn labels(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<(), Failure> {
    let now = session.labels.join(", ");
    let Some(typed) = fzf::prompt(context, "labels (comma separated, -x removes)", &now, "", out)? else {
        return Ok(());
    };
    context.store.update_session(&repo.id, &session.id, |stored| edit_labels(&mut stored.labels, &typed))?;
    Ok(())
}

/// `a, b, -c`: adds and removes.
pub(super) fn edit_labels(labels: &mut Vec<String>, typed: &str) -> Result<(), Failure> {
    for word in typed.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match word.strip_prefix('-') {
            Some(gone) => labels.retain(|label| label != gone.trim()),
            None => labels.push(name::label(word)?),
        }
    }
    labels.sort();
    labels.dedup();
    Ok(())
}

/// A worktree without a session gets one, under its branch's name or its folder's, with a number when that is taken.
fn register(context: &Context, repo: &Repo, tree: &Worktree) -> Result<Session, Failure> {
    let folder = Path::new(&tree.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let base = tree.branch.clone().unwrap_or(folder);
    let taken: Vec<String> = context.store.sessions(&repo.id)?.into_iter().map(|session| session.name).collect();
    let mut name = base.clone();
    let mut number = 2;
    while taken.contains(&name) {
        name = format!("{base}-{number}");
        number += 1;
    }
    moves::register(context, repo, Path::new(&tree.path), Some(&name), None)
}

/// The plugin view of this name, opened.
pub(super) fn plugin_view(
    context: &Context,
    name: &str,
    carried: &mut Vec<String>,
    out: &mut Out,
) -> Result<Next, Failure> {
    views::open(context, name, carried, out)
}
