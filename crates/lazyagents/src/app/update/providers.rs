//! The Providers tab: what keys do there, what was read, what was planned. Nothing is written before the person has seen it.

use std::sync::Arc;
use std::time::Instant;

use manage::providers::Cell;
use ratatui::text::Line;
use tui::widgets::confirm::Confirm;
use tui::widgets::prompt::Prompt;
use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::providers::{Board, Draft, Prepared};
use super::super::state::{App, Asking, Layer};
use super::changes::difference;
use crate::providers::Wish;

/// Carries out an action of the tab.
pub(super) fn act(app: &mut App, id: &str, now: Instant) -> Vec<Effect> {
    match id {
        "providers.new" => {
            ask(app, Draft::default(), None, None);
            return Vec::new();
        }
        "providers.refresh" => return read(app),
        "providers.agent" => {
            let agents: Vec<_> =
                app.providers.board.iter().flat_map(|board| &board.agents).map(|(id, _)| *id).collect();
            app.providers.agent = match app.providers.agent.and_then(|agent| agents.iter().position(|id| *id == agent))
            {
                None => agents.first().copied(),
                Some(at) => agents.get(at + 1).copied(),
            };
            return Vec::new();
        }
        _ => {}
    }
    let Some(profile) = app.providers.selected() else { return Vec::new() };
    let name = profile.name.clone();
    match id {
        "providers.toggle" => toggle(app, name, now),
        "providers.edit" => {
            let begin = vec![
                name.clone(),
                profile.base_url.clone(),
                profile.model.clone(),
                profile.wire_api.clone(),
                String::new(),
            ];
            let draft = Draft { old: Some(name.clone()), given: vec![name], begin };
            ask(app, draft, None, None);
            Vec::new()
        }
        "providers.delete" => vec![Effect::PlanProviders(Wish::Remove { profile: name })],
        _ => Vec::new(),
    }
}

/// Reads everything again.
pub(super) fn read(app: &mut App) -> Vec<Effect> {
    app.providers.reads += 1;
    vec![Effect::ReadProviders(app.providers.reads)]
}

/// Applies the profile where it is not in use; where it is in use everywhere it is cleared.
fn toggle(app: &mut App, profile: String, now: Instant) -> Vec<Effect> {
    let chosen = app.providers.chosen();
    if chosen.is_empty() {
        let at = app.providers.board.as_ref().and_then(|board| {
            board.agents.iter().position(|(id, _)| app.providers.agent.is_none_or(|agent| agent == *id))
        });
        let why = at.and_then(|at| app.providers.selected()?.cells.get(at)).map(|line| line.why.clone());
        let text = why.filter(|why| !why.is_empty()).unwrap_or_else(|| "no agent here has a place for it".to_owned());
        app.toasts.push(Kind::Info, text, now);
        return Vec::new();
    }
    let lacking: Vec<String> =
        chosen.iter().filter(|(_, cell)| *cell != Cell::Applied).map(|(id, _)| (*id).to_owned()).collect();
    vec![Effect::PlanProviders(if lacking.is_empty() {
        Wish::Clear { agents: chosen.iter().map(|(id, _)| (*id).to_owned()).collect() }
    } else {
        Wish::Apply { profile, agents: lacking }
    })]
}

fn ask(app: &mut App, draft: Draft, text: Option<&str>, error: Option<String>) {
    let step = draft.given.len();
    let Some((title, hint)) = Draft::STEPS.get(step) else { return };
    let begin = text.or(draft.begin.get(step).map(String::as_str)).unwrap_or_default();
    let hint = if step == Draft::TOKEN && draft.old.is_some() {
        "nothing keeps it · - none · $NAME · @file · !command · or itself"
    } else {
        hint
    };
    let mut prompt = Prompt::new(*title, begin, hint);
    prompt.error = error;
    prompt.secret = step == Draft::TOKEN;
    app.layer = Some(Layer::Prompt(prompt, Asking::Provider(draft)));
}

/// A step of a profile was typed.
pub(super) fn drafted(app: &mut App, mut draft: Draft, answer: &str) -> Vec<Effect> {
    if let Some(why) = draft.refuses(answer) {
        ask(app, draft, Some(answer), Some(why));
        return Vec::new();
    }
    draft.given.push(answer.to_owned());
    match draft.wish() {
        Some(wish) => vec![Effect::PlanProviders(wish)],
        None => {
            ask(app, draft, None, None);
            Vec::new()
        }
    }
}

/// A wish was planned: the person sees what it does and is asked.
pub(super) fn planned(app: &mut App, prepared: Arc<Prepared>, now: Instant) -> Vec<Effect> {
    if prepared.seen.parts.is_empty() {
        let why = prepared.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" · ");
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        app.toasts.push(Kind::Info, format!("nothing has to change{why}"), now);
        return Vec::new();
    }
    let (verb, title) = match &prepared.wish {
        Wish::Apply { profile, .. } => ("Apply", format!("Apply {profile}")),
        Wish::Clear { .. } => ("Clear", "Clear the provider".to_owned()),
        Wish::Add { profile, replace: false, .. } => ("Add", format!("Add {}", profile.name)),
        Wish::Add { profile, replace: true, .. } => ("Change", format!("Change {}", profile.name)),
        Wish::Remove { profile } => ("Remove", format!("Remove {profile}")),
    };
    if app.layer.is_some() {
        app.toasts.push(Kind::Info, format!("{title} is ready; ask for it again"), now);
        return Vec::new();
    }
    let mut body = Vec::new();
    for line in &prepared.lines {
        body.push(Line::styled(line.clone(), app.theme.style(tui::theme::Role::Warn)));
    }
    for part in &prepared.seen.parts {
        let path = sys::text::clean(&app.paths.short(&part.path));
        body.push(Line::styled(format!("{} {path}", part.verb), app.theme.title()));
        body.extend(part.diff.iter().map(|line| difference(app, line)));
    }
    let confirm = Confirm::new(title, body, verb);
    app.layer = Some(Layer::Confirm(confirm, Box::new(Effect::FulfilProviders(prepared))));
    Vec::new()
}

/// What there is now; the cursor stays on its profile.
pub(super) fn told(app: &mut App, number: u64, board: Arc<Board>) -> Vec<Effect> {
    if number != app.providers.reads {
        return Vec::new();
    }
    let before = app.providers.selected().map(|profile| profile.name.clone());
    if app.providers.agent.is_some_and(|agent| board.agents.iter().all(|(id, _)| *id != agent)) {
        app.providers.agent = None;
    }
    app.providers.board = Some(board);
    let rows = app.providers.rows();
    let at = rows.iter().position(|at| {
        app.providers.board.as_ref().map(|board| board.profiles[*at].name.as_str()) == before.as_deref()
    });
    let at = at.unwrap_or(app.providers.tab.list.selected).min(rows.len().saturating_sub(1));
    app.providers.tab.list.selected = at;
    Vec::new()
}
