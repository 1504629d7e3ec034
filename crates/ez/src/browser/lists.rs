//! The views beside sessions: tree, workspace, repositories, owners, labels, each a list that leads on. Only the
//! browser's loop calls it.

use std::path::{Path, PathBuf};

use sys::Failure;
use wire::hook::{BindContext, Hook};

use super::fzf::{self, List};
use super::keys::{self, Does};
use super::{Next, Spot, Trip, View, sessions, views};
use crate::context::Context;
use crate::hooks::{Call, fire};
use crate::landing::Landing;
use crate::model::name::quoted;
use crate::model::tree::{self, Sort};
use crate::ops::{accept, repos};
use crate::out::Out;
use crate::store::{Repo, RepoState, Session};

/// The view that a key switches to.
pub(super) fn switch(context: &Context, key: &str) -> Option<View> {
    // The views' keys mean the same in each picker; one without actions of its own has all that count.
    Some(match keys::action(context, "plugin", key)? {
        "view_tree" => View::Tree,
        "view_workspace" => View::Workspace,
        "view_repo" => View::Repo,
        "view_owner" => View::Owner,
        _ => View::Label,
    })
}

/// What a row stands for.
#[derive(Clone, Debug)]
enum Row {
    Repo(Repo),
    Session(Repo, Box<Session>),
    Folder(PathBuf),
    View(View),
}

/// Shows one view.
pub(super) fn pick(context: &Context, view: &View, trip: &mut Trip, out: &mut Out) -> Result<Next, Failure> {
    if let View::Plugin(name) = view {
        return views::open(context, name, trip, out);
    }
    let mut spot = Spot::default();
    loop {
        let rows = rows(context, view, trip.sort)?;
        let (picker, prompt) = face(view);
        let (plugin_keys, _) = keys::of_plugins(context, picker);
        let mut list = List {
            prompt,
            header: keys::header(context, picker, &plugin_keys, true),
            rows: rows.iter().map(|(value, shown, _)| (value.clone(), shown.clone())).collect(),
            keys: keys::expected(context, picker, &plugin_keys),
            preview: Some(fzf::preview(context, picker, "--any")),
            ..List::default()
        };
        spot.restore(&mut list, trip);
        let Some(choice) = fzf::pick_row(context, list, out)? else { return Ok(Next::Back) };
        let row = choice.row.and_then(|row| rows.get(row));
        spot.remember(&choice, row.map(|(value, _, _)| value.as_str()));
        let action = keys::action(context, picker, &choice.key);
        let pressed = plugin_keys.iter().find(|key| key.key == choice.key);
        match (pressed.map(|key| (key, &key.does)), action) {
            (Some((_, Does::View(view))), _) => return Ok(Next::View(View::Plugin(view.name.clone()))),
            (Some((found, Does::Bind(bind))), _) => match press(context, picker, found, bind, row, out) {
                Ok(Some(landing)) => return Ok(Next::Land(Box::new(landing))),
                Ok(None) => {}
                Err(failure) => trip.tell(&failure, out),
            },
            (None, Some(action)) if keys::VIEWS.contains(&action) => {
                return Ok(switch(context, &choice.key).map_or(Next::Back, Next::View));
            }
            (None, action) => match act(context, view, action, row.map(|(_, _, row)| row.clone()), trip, out) {
                Ok(Some(next)) => return Ok(next),
                Ok(None) => {}
                Err(failure) => trip.tell(&failure, out),
            },
        }
    }
}

/// A plugin's key on a row: what it gave for the shell, if anything.
fn press(
    context: &Context,
    picker: &str,
    key: &keys::Key,
    bind: &wire::hook::Bind,
    row: Option<&Shown>,
    out: &mut Out,
) -> Result<Option<Landing>, Failure> {
    let Some((value, shown, row)) = row else { return Ok(None) };
    let mut call = Call::new(Hook::OnBind);
    match row {
        Row::Repo(repo) => call.repo = Some(repo.clone()),
        Row::Session(repo, session) => {
            call.repo = Some(repo.clone());
            call.session = Some((**session).clone());
        }
        Row::Folder(_) | Row::View(_) => {}
    }
    call.bind = Some(BindContext {
        name: bind.name.clone(),
        key: bind.key.clone(),
        view: picker.to_owned(),
        selected_value: Some(value.clone()),
        selected_display: Some(shown.clone()),
    });
    call.only = Some(vec![key.plugin.clone()]);
    let effects = fire(context, &mut call, out);
    if let Some(failure) = effects.failure {
        return Err(failure);
    }
    let nothing = effects.post.is_empty() && effects.cd.is_none();
    let landing = Landing { pressed: effects.post, cd: effects.cd, relaunch: true, ..Landing::default() };
    Ok((!nothing).then_some(landing))
}

fn face(view: &View) -> (&'static str, String) {
    match view {
        View::Tree => ("tree", "ez tree".to_owned()),
        View::Workspace => ("workspace", "workspace".to_owned()),
        View::Folder(path) => ("workspace", path.file_name().unwrap_or_default().to_string_lossy().into_owned()),
        View::Repo => ("repo", "repos".to_owned()),
        View::Owner => ("owner", "owner".to_owned()),
        View::OwnerOf(_) => ("owner", "repo".to_owned()),
        View::Label => ("label", "label".to_owned()),
        View::LabelOf(_) => ("label", "tagged".to_owned()),
        View::Plugin(_) => ("plugin", String::new()),
    }
}

type Shown = (String, String, Row);

fn all(context: &Context, sort: Sort) -> Result<Vec<(Repo, RepoState)>, Failure> {
    let mut all: Vec<_> = context
        .store
        .repos()?
        .into_iter()
        .map(|repo| {
            let state = context.store.repo_state(&repo.id).unwrap_or_default();
            (repo, state)
        })
        .collect();
    match sort {
        Sort::Recent => all.sort_by(|a, b| b.1.last_accessed.cmp(&a.1.last_accessed)),
        _ => all.sort_by_key(|(repo, _)| repo.name.to_lowercase()),
    }
    Ok(all)
}

fn repo_row(context: &Context, repo: &Repo, state: &RepoState) -> Shown {
    let labels: String = state.labels.iter().map(|label| format!(" #{label}")).collect();
    let shown = format!("{}  {}{labels}", repo.name, context.paths.short(Path::new(&repo.path)));
    (repo.path.clone(), shown, Row::Repo(repo.clone()))
}

fn owner_of(repo: &Repo, state: &RepoState) -> String {
    repos::owner(repo, state.remote_url.as_deref())
}

fn rows(context: &Context, view: &View, sort: Sort) -> Result<Vec<Shown>, Failure> {
    let all = all(context, sort)?;
    Ok(match view {
        View::Repo | View::Plugin(_) => all.iter().map(|(repo, state)| repo_row(context, repo, state)).collect(),
        View::Owner => {
            let mut owners: Vec<_> = all.iter().map(|(repo, state)| owner_of(repo, state)).collect();
            owners.sort();
            owners.dedup();
            owners.into_iter().map(|owner| (owner.clone(), owner.clone(), Row::View(View::OwnerOf(owner)))).collect()
        }
        View::OwnerOf(owner) => all
            .iter()
            .filter(|(repo, state)| owner_of(repo, state) == *owner)
            .map(|(repo, state)| repo_row(context, repo, state))
            .collect(),
        View::Label => {
            let mut labels: Vec<String> = all.iter().flat_map(|(_, state)| state.labels.clone()).collect();
            for (repo, _) in &all {
                labels.extend(context.store.sessions(&repo.id).unwrap_or_default().into_iter().flat_map(|s| s.labels));
            }
            labels.sort();
            labels.dedup();
            labels.into_iter().map(|label| (label.clone(), label.clone(), Row::View(View::LabelOf(label)))).collect()
        }
        View::LabelOf(label) => labelled(context, &all, label),
        View::Workspace => context
            .config
            .roots(&context.paths)
            .into_iter()
            .map(|root| (root.display().to_string(), context.paths.short(&root), Row::Folder(root)))
            .collect(),
        View::Folder(folder) => folder_rows(context, &all, folder),
        View::Tree => tree_rows(context, &all, sort),
    })
}

fn labelled(context: &Context, all: &[(Repo, RepoState)], label: &String) -> Vec<Shown> {
    let mut rows = Vec::new();
    for (repo, state) in all {
        if state.labels.contains(label) {
            rows.push(repo_row(context, repo, state));
        }
        for session in context.store.sessions(&repo.id).unwrap_or_default() {
            if session.labels.contains(label) {
                let shown = format!("{}/{}", repo.name, session.name);
                rows.push((session.id.clone(), shown, Row::Session(repo.clone(), Box::new(session))));
            }
        }
    }
    rows
}

fn folder_rows(context: &Context, all: &[(Repo, RepoState)], folder: &Path) -> Vec<Shown> {
    let mut rows = Vec::new();
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
        .unwrap_or_default();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let known = all.iter().find(|(repo, _)| Path::new(&repo.path) == path);
        match known {
            Some((repo, state)) => rows.push(repo_row(context, repo, state)),
            None => rows.push((path.display().to_string(), format!("{name}/"), Row::Folder(path))),
        }
    }
    rows
}

fn tree_rows(context: &Context, all: &[(Repo, RepoState)], sort: Sort) -> Vec<Shown> {
    let mut rows = Vec::new();
    for (repo, state) in all {
        rows.push(repo_row(context, repo, state));
        let sessions = context.store.sessions(&repo.id).unwrap_or_default();
        for placed in tree::draw(&sessions, sort) {
            let lines = if placed.lines.is_empty() { String::new() } else { placed.lines.clone() };
            let shown = format!("  {lines}{}", placed.session.name);
            let row = Row::Session(repo.clone(), Box::new(placed.session.clone()));
            rows.push((placed.session.id.clone(), shown, row));
        }
    }
    let known: Vec<&str> = all.iter().map(|(repo, _)| repo.path.as_str()).collect();
    for root in context.config.roots(&context.paths) {
        for path in repos::unregistered(&root, 3) {
            let text = path.display().to_string();
            if !known.contains(&text.as_str()) {
                rows.push((text, format!("{}  (not registered)", context.paths.short(&path)), Row::Folder(path)));
            }
        }
    }
    rows
}

fn act(
    context: &Context,
    view: &View,
    action: Option<&str>,
    row: Option<Row>,
    trip: &mut Trip,
    out: &mut Out,
) -> Result<Option<Next>, Failure> {
    match (action, row) {
        (Some("sort_toggle"), _) => {
            trip.sort = if trip.sort == Sort::Recent { Sort::Name } else { Sort::Recent };
            Ok(None)
        }
        (Some("clone_repo"), row) => match (view, row) {
            (View::Folder(folder), _) => clone(context, folder, trip, out),
            (View::Workspace, Some(Row::Folder(root))) => clone(context, &root, trip, out),
            _ => Ok(None),
        },
        (Some("edit_labels"), Some(Row::Repo(repo))) => {
            let now = context.store.repo_state(&repo.id)?.labels.join(", ");
            if let Some(typed) = fzf::prompt(context, "labels (comma separated, -x removes)", &now, "", out)? {
                context.store.update_repo_state(&repo.id, |state| sessions::edit_labels(&mut state.labels, &typed))?;
            }
            Ok(None)
        }
        (Some("remove_repo"), Some(Row::Repo(repo))) => {
            out.mark();
            if out.confirm(&format!("Take {} off the list (its folder stays)?", quoted(&repo.name))) == Some(true) {
                trip.carried.extend(repos::remove(context, &repo, false, out)?.post);
            } else {
                out.wipe();
            }
            Ok(None)
        }
        // The tree's own: a session is made below the row that was chosen.
        (Some("new_session"), Some(Row::Repo(repo))) => sessions::make(context, &repo, None, false, None, trip, out),
        (Some(action), Some(Row::Session(repo, session))) => {
            sessions::change(context, &repo, &session, action, trip, out)
        }
        (Some(_), Some(_)) => {
            trip.said = Some("that key is for sessions".to_owned());
            Ok(None)
        }
        (_, None) => Ok(None),
        (None, Some(Row::Repo(repo))) => Ok(Some(Next::Sessions(repo))),
        (None, Some(Row::Session(repo, session))) => {
            Ok(Some(Next::Land(Box::new(accept::enter(context, &repo, &session, out)?))))
        }
        (None, Some(Row::View(view))) => Ok(Some(Next::View(view))),
        (None, Some(Row::Folder(path))) if path.join(".git").exists() => {
            Ok(Some(Next::Sessions(repos::add(context, &path, out)?)))
        }
        (None, Some(Row::Folder(path))) => Ok(Some(Next::View(View::Folder(path)))),
    }
}

fn clone(context: &Context, folder: &Path, trip: &mut Trip, out: &mut Out) -> Result<Option<Next>, Failure> {
    let url = fzf::prompt(context, "clone URL", "", "", out)?.unwrap_or_default();
    if url.trim().is_empty() {
        return Ok(None);
    }
    let here = Context { cwd: Some(folder.to_path_buf()), ..context.clone() };
    let (repo, landing) = repos::clone(&here, url.trim(), None, out)?;
    trip.carried.extend(landing.post);
    Ok(Some(Next::Sessions(repo)))
}
