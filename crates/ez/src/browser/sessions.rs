//! The picker of one repository's sessions, with its unmanaged worktrees below: Enter, new, delete, rename, labels, cd,
//! sort, notes, and the plugins' keys. Only the browser's loop calls it.

use std::path::Path;

use sys::Failure;

use super::fzf::{self, Choice, List};
use super::keys::{self, Does};
use super::{Next, Spot, Trip, View, builder, lists};
use crate::context::Context;
use crate::git::{Git, Worktree};
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
pub(super) fn pick(context: &Context, repo: &Repo, trip: &mut Trip, out: &mut Out) -> Result<Next, Failure> {
    let mut spot = Spot::default();
    loop {
        let sessions = moves::main_session(context, repo)?;
        let (rows, mut list) = rows(context, repo, &sessions, trip.sort)?;
        spot.restore(&mut list, trip);
        let values: Vec<String> = list.rows.iter().map(|(value, _)| value.clone()).collect();
        let Some(choice) = fzf::pick_row(context, list, out)? else { return Ok(Next::Back) };
        let row = choice.row.and_then(|row| rows.get(row)).cloned();
        spot.remember(&choice, choice.row.and_then(|row| values.get(row)).map(String::as_str));
        match act(context, repo, &choice, row, trip, out) {
            Ok(Some(next)) => return Ok(next),
            Ok(None) => {}
            // The picker comes back after a failure: one key does not end the browser (fault 46).
            Err(failure) => trip.tell(&failure, out),
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
    let list = List {
        prompt: repo.name.clone(),
        header: keys::header(context, "session", &plugin_keys, true),
        rows: shown,
        keys: keys::expected(context, "session", &plugin_keys),
        preview: Some(fzf::preview(
            context,
            "session",
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
    trip: &mut Trip,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    let land = |landing: Landing| Ok(Some(Next::Land(Box::new(landing))));
    let key = choice.key.as_str();
    let action = keys::action(context, "session", key);
    if action == Some("sort_toggle") {
        trip.sort = if trip.sort == Sort::Recent { Sort::Name } else { Sort::Recent };
        return Ok(None);
    }
    if action.is_some_and(|action| keys::VIEWS.contains(&action)) {
        return Ok(lists::switch(context, key).map(Next::View));
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
        // What was typed fits nothing that is there: it is the name of what is to be made.
        None if matches!(action, Some("new_session" | "new_bare_session")) && !choice.query.trim().is_empty() => {
            let name = SessionName::parse(choice.query.trim())?;
            return make(context, repo, None, action == Some("new_bare_session"), Some(name), trip, out);
        }
        Some(Row::Worktree(_)) => {
            trip.said = Some("that is no session yet; Enter makes it one".to_owned());
            return Ok(None);
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
    action.map_or(Ok(None), |action| change(context, repo, &session, action, trip, out))
}

/// What a core key does with a session, in the pickers of sessions and in the tree.
pub(super) fn change(
    context: &Context,
    repo: &Repo,
    session: &Session,
    action: &str,
    trip: &mut Trip,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    let land = |landing: Landing| Ok(Some(Next::Land(Box::new(landing))));
    match action {
        "new_session" | "new_bare_session" => {
            return make(context, repo, Some(session), action == "new_bare_session", None, trip, out);
        }
        "session_from_dirty" => {
            movable(context, repo, session)?;
            let Some(name) = asked(context, repo, out)? else { return Ok(None) };
            let made = from_dirty::from_dirty(context, repo, session, name, None, out)?;
            trip.carried.extend(made.post);
        }
        "delete_session" => remove(context, repo, session, trip, out)?,
        "rename_session" => {
            let typed = fzf::prompt(context, "new name", "", &session.name, out)?.unwrap_or_default();
            if !typed.trim().is_empty() {
                let name = SessionName::parse(typed.trim())?;
                trip.carried.extend(moves::rename(context, repo, session, &name, out)?.post);
            }
        }
        "edit_labels" => labels(context, repo, session, out)?,
        "cd_session" => return land(accept::only_cd(context, repo, session)),
        "note_cd" => {
            let notes = context.store.notes_dir(&repo.id, &session.id);
            sys::files::make_dir(&notes)?;
            return land(Landing { cd: notes.to_str().map(str::to_owned), ..Landing::default() });
        }
        "note_open" => crate::cli::open_note(context, repo, session, out)?,
        _ => {}
    }
    Ok(None)
}

/// A name from the builder; `None` when the person left it.
fn asked(context: &Context, repo: &Repo, out: &mut Out) -> Result<Option<SessionName>, Failure> {
    match builder::name(context, repo, "", out) {
        Err(failure) if failure.exit_code() == 130 => Ok(None),
        other => other.map(Some),
    }
}

/// What speaks against moving a session's changes is told before a name is asked for.
fn movable(context: &Context, repo: &Repo, session: &Session) -> Result<(), Failure> {
    if !repo.is_git {
        return Err(Failure::new(format!("{} is no git repository", repo.path)));
    }
    let folder = session.path.as_ref().or_else(|| session.is_default.then_some(&repo.path));
    let folder =
        folder.ok_or_else(|| Failure::new(format!("the session {} has no folder", name::quoted(&session.name))))?;
    if Git::new(context, folder).changes()?.is_empty() {
        return Err(Failure::new(format!("there are no uncommitted changes in {folder}")));
    }
    Ok(())
}

/// Makes a session; without a name it is asked for.
pub(super) fn make(
    context: &Context,
    repo: &Repo,
    parent: Option<&Session>,
    bare: bool,
    name: Option<SessionName>,
    trip: &mut Trip,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    let Some(name) = name.map_or_else(|| asked(context, repo, out), |name| Ok(Some(name)))? else { return Ok(None) };
    let wanted = Wanted { parent: parent.map(|parent| parent.id.clone()), bare, ..Wanted::new(name) };
    let made = create::create(context, repo, &wanted, out)?;
    let mut landing = accept::after_create(context, repo, &made.session, out)?;
    if landing == Landing::default() {
        trip.carried.extend(made.post);
        return Ok(None);
    }
    landing.add(made.post, made.cd);
    Ok(Some(Next::Land(Box::new(landing))))
}

fn remove(context: &Context, repo: &Repo, session: &Session, trip: &mut Trip, out: &mut Out) -> Result<(), Failure> {
    let how = delete::How { always_ask: true, ..delete::How::default() };
    out.mark();
    match delete::delete(context, repo, session, how, out) {
        Ok(landing) => trip.carried.extend(landing.post),
        // No is an answer.
        Err(failure) if failure.exit_code() == 130 => out.wipe(),
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
