//! The Hooks tab: what keys do there, what was read, what was planned. Nothing is written before the person has seen it.

use std::sync::Arc;
use std::time::Instant;

use manage::hooks::Cell;
use ratatui::text::Line;
use tui::widgets::confirm::Confirm;
use tui::widgets::palette::{Palette, PaletteItem};
use tui::widgets::prompt::Prompt;
use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::hooks::{Draft, Job, Prepared, Rack};
use super::super::state::{App, Asking, Layer};

/// Carries out an action of the tab.
pub(super) fn act(app: &mut App, id: &str, now: Instant) -> Vec<Effect> {
    match id {
        "hooks.new" => {
            ask(app, Draft::default(), "", None);
            return Vec::new();
        }
        "hooks.import" => {
            let prompt = Prompt::new("Import the hooks of which plugin's folder?", "", "~/plugins/...");
            app.layer = Some(Layer::Prompt(prompt, Asking::HookFolder));
            return Vec::new();
        }
        "hooks.refresh" => return read(app),
        "hooks.agent" => {
            let agents: Vec<_> = app.hooks.rack.iter().flat_map(|rack| &rack.agents).map(|(id, _)| *id).collect();
            app.hooks.agent = match app.hooks.agent.and_then(|agent| agents.iter().position(|id| *id == agent)) {
                None => agents.first().copied(),
                Some(at) => agents.get(at + 1).copied(),
            };
            return Vec::new();
        }
        _ => {}
    }
    let Some(name) = app.hooks.selected().map(|hook| hook.name.clone()) else { return Vec::new() };
    match id {
        "hooks.toggle" => toggle(app, name, now),
        "hooks.delete" => vec![Effect::PlanHooks(Job::Remove(name))],
        "hooks.switch" => switch(app, &name),
        "hooks.test" => {
            let Some(hook) = app.hooks.selected() else { return Vec::new() };
            let mut body =
                vec![Line::raw("These are run now, as an agent would, and do what they do:"), Line::default()];
            let commands = hook.commands.iter().map(|command| format!("  {} -> {}", command.when, command.command));
            body.extend(commands.map(Line::raw));
            let agent = app.hooks.agent;
            let confirm = Confirm::new(format!("Test {name}"), body, "Run");
            app.layer = Some(Layer::Confirm(confirm, Box::new(Effect::TestHook { name, agent })));
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Reads everything again.
pub(super) fn read(app: &mut App) -> Vec<Effect> {
    app.hooks.reads += 1;
    vec![Effect::ReadHooks(app.hooks.reads)]
}

/// Enables the hook where it is not whole; where it is whole everywhere it is disabled.
fn toggle(app: &mut App, name: String, now: Instant) -> Vec<Effect> {
    let chosen = app.hooks.chosen();
    if chosen.is_empty() {
        let text = match app.hooks.agent {
            Some(agent) => format!("{agent} fires none of its events"),
            None => "no installed agent fires an event of it".to_owned(),
        };
        app.toasts.push(Kind::Info, text, now);
        return Vec::new();
    }
    let lacking: Vec<&'static str> = chosen.iter().filter(|(_, line)| !whole(line)).map(|(id, _)| *id).collect();
    let job = if lacking.is_empty() {
        Job::Disable(name, chosen.iter().map(|(id, _)| *id).collect())
    } else {
        Job::Enable(name, lacking)
    };
    vec![Effect::PlanHooks(job)]
}

/// Nothing can be added there: all is there but what is switched off.
fn whole(line: &super::super::hooks::CellLine) -> bool {
    let missing = line.lines.iter().any(|words| words.contains("not there") || words.contains("older version"));
    line.cell == Cell::All || (line.cell == Cell::Some && line.ours && !missing)
}

/// Which command is to be switched.
fn switch(app: &mut App, name: &str) -> Vec<Effect> {
    let Some(hook) = app.hooks.selected() else { return Vec::new() };
    let (mut items, mut effects) = (Vec::new(), Vec::new());
    for (at, command) in hook.commands.iter().enumerate() {
        let sign = if command.on { "on " } else { "off" };
        let words = format!("{}  {sign}  {}", at + 1, command.when);
        items.push(PaletteItem { name: words, desc: command.command.clone(), key: String::new(), id: at });
        effects.push(Effect::PlanHooks(Job::Switch(name.to_owned(), at + 1, !command.on)));
    }
    app.layer = Some(Layer::Menu(format!("Switch a command of {name}"), Palette::new(items), effects));
    Vec::new()
}

fn ask(app: &mut App, draft: Draft, text: &str, error: Option<String>) {
    let Some((title, hint)) = Draft::STEPS.get(draft.given.len()) else { return };
    let mut prompt = Prompt::new(*title, text, *hint);
    prompt.error = error;
    app.layer = Some(Layer::Prompt(prompt, Asking::Hook(draft)));
}

/// A step of a new hook was typed.
pub(super) fn drafted(app: &mut App, mut draft: Draft, answer: &str) -> Vec<Effect> {
    if let Some(why) = draft.refuses(answer) {
        ask(app, draft, answer, Some(why));
        return Vec::new();
    }
    draft.given.push(answer.to_owned());
    match draft.job() {
        Some(job) => vec![Effect::PlanHooks(job)],
        None => {
            ask(app, draft, "", None);
            Vec::new()
        }
    }
}

/// The folder to import from was typed.
pub(super) fn folder(answer: &str) -> Vec<Effect> {
    if answer.is_empty() { Vec::new() } else { vec![Effect::PlanHooks(Job::Import(answer.to_owned()))] }
}

/// A job was planned: the person sees what it does and is asked.
pub(super) fn planned(app: &mut App, prepared: Arc<Prepared>, now: Instant) -> Vec<Effect> {
    if prepared.nothing {
        let why = prepared.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" · ");
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        app.toasts.push(Kind::Info, format!("nothing has to change{why}"), now);
        return Vec::new();
    }
    let (verb, title) = prepared.job.words();
    if app.layer.is_some() {
        app.toasts.push(Kind::Info, format!("{title} is ready; ask for it again"), now);
        return Vec::new();
    }
    let style = |line: &String| match line.trim_start().chars().next() {
        Some('+') if line.starts_with("  ") => app.theme.style(tui::theme::Role::Added),
        Some('-') if line.starts_with("  ") => app.theme.style(tui::theme::Role::Removed),
        Some('!') => app.theme.style(tui::theme::Role::Warn),
        _ if line.starts_with("  ") => app.theme.dim(),
        _ => app.theme.title(),
    };
    let body = prepared.lines.iter().map(|line| Line::styled(line.clone(), style(line))).collect();
    let confirm = Confirm::new(title, body, verb);
    app.layer = Some(Layer::Confirm(confirm, Box::new(Effect::ApplyHooks(prepared))));
    Vec::new()
}

/// What there is now; the cursor stays on its hook.
pub(super) fn told(app: &mut App, number: u64, rack: Arc<Rack>) -> Vec<Effect> {
    if number != app.hooks.reads {
        return Vec::new();
    }
    let before = app.hooks.selected().map(|hook| hook.name.clone());
    if app.hooks.agent.is_some_and(|agent| rack.agents.iter().all(|(id, _)| *id != agent)) {
        app.hooks.agent = None;
    }
    app.hooks.rack = Some(rack);
    let rows = app.hooks.rows();
    let at = rows
        .iter()
        .position(|at| app.hooks.rack.as_ref().map(|rack| rack.hooks[*at].name.as_str()) == before.as_deref());
    let at = at.unwrap_or(app.hooks.tab.list.selected).min(rows.len().saturating_sub(1));
    app.hooks.tab.list.selected = at;
    Vec::new()
}
