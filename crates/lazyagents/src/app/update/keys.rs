//! Keys, from the top layer down: layer, filter, plugin, tab of ours. What a plugin gets and what the host keeps
//! is clauses K5 to K9 and "decided since", to the letter.

use std::time::{Duration, Instant};

use ratatui::text::Line;
use tui::keys::Key;
use tui::widgets::confirm::Answer;
use tui::widgets::palette::{Palette, PaletteOutcome};
use tui::widgets::prompt::PromptOutcome;
use tui::widgets::scroll_text::ScrollState as HelpState;
use wire::plugin::HostMessage;

use super::super::actions::{self, APP, FAILED, LIST, READER};
use super::super::event::Effect;
use super::super::state::{App, Layer, Phase, TabKind, WIDE};
use super::super::views;
use super::{commands, detect, go, hooks, providers, reading, reload, sessions, start, usage};

/// A second `ctrl+c` within this ends a capturing plugin's hold (clause K7, "decided since").
const TWICE: Duration = Duration::from_secs(1);

pub(super) fn key(app: &mut App, key: &Key, now: Instant) -> Vec<Effect> {
    let name = key.name();
    let text = key.text();
    if app.layer.is_some() {
        return layer(app, &name, text.as_deref(), now);
    }
    match app.kind() {
        TabKind::Plugin(plugin) => match app.plugins.get(plugin) {
            Some(state) if state.living() => living(app, plugin, &name, text, now),
            _ => failed(app, plugin, &name, now),
        },
        _ => own(app, &name, text.as_deref(), now),
    }
}

/// Esc on the Sessions tab ends its search first.
fn leaves_search(app: &App) -> bool {
    app.kind() == TabKind::Sessions && app.sessions.search.is_some() && !app.sessions.tab.in_detail
}

fn send(plugin: usize, name: &str, text: Option<String>) -> Effect {
    Effect::Send(plugin, HostMessage::Key { key: name.to_owned(), text: text.unwrap_or_default() })
}

/// A key on the tab of a plugin that lives.
fn living(app: &mut App, plugin: usize, name: &str, text: Option<String>, now: Instant) -> Vec<Effect> {
    if !app.plugins[plugin].capturing() {
        return if actions::global(name) { global(app, name, now) } else { vec![send(plugin, name, text)] };
    }
    let mut effects = vec![send(plugin, name, text)];
    if name == "ctrl+c" {
        if app.interrupted.is_some_and(|before| now.saturating_duration_since(before) <= TWICE) {
            effects.push(Effect::Quit);
        }
        app.interrupted = Some(now);
    }
    effects
}

/// The seed's global keys do what the key map says of them, on a plugin's tab too; a key that the person gave to
/// an action of ours counts only on our own tabs, because no further key may be taken from a plugin.
fn global(app: &mut App, name: &str, now: Instant) -> Vec<Effect> {
    if name == "ctrl+c" {
        return vec![Effect::Quit];
    }
    match app.keymap.find(&[APP], name) {
        Some(action) => act(app, action.id, name, now),
        None => Vec::new(),
    }
}

/// A key on the tab of a plugin that failed (clause K9).
fn failed(app: &mut App, plugin: usize, name: &str, now: Instant) -> Vec<Effect> {
    if actions::global(name) {
        return global(app, name, now);
    }
    let Some(action) = app.keymap.find(&[FAILED], name) else { return Vec::new() };
    match action.id {
        "failed.restart" => return start(app, plugin),
        "failed.log" => return vec![Effect::ReadLog(plugin)],
        _ => {}
    }
    let (lines, height) = views::failure_size(app, plugin);
    if let Some(state) = app.plugins.get_mut(plugin) {
        views::scroll(&mut state.scroll, action.id, lines, height);
    }
    Vec::new()
}

/// A key on a tab of ours.
fn own(app: &mut App, name: &str, text: Option<&str>, now: Instant) -> Vec<Effect> {
    if app.kind() == TabKind::Sessions {
        if let Some(reader) = &app.sessions.reader {
            if reader.inside.as_ref().is_some_and(|inside| inside.typing) {
                return reading::typing(app, name, text);
            }
            // As in every layer: who reads and presses q wants out of this, not out of everything.
            if name == "q" {
                return reading::act(app, "reader.back", now);
            }
            return match app.keymap.find(&[READER, APP], name) {
                Some(action) => act(app, action.id, name, now),
                None if name == "ctrl+c" => vec![Effect::Quit],
                None => Vec::new(),
            };
        }
        if app.sessions.search.as_ref().is_some_and(|search| search.typing) {
            return sessions::typing(app, name, text);
        }
    }
    if app.list_tab().is_some_and(|tab| tab.filtering) {
        return filter(app, name, text);
    }
    if name == "ctrl+c" {
        return vec![Effect::Quit];
    }
    let scope = views::scope(app.kind());
    match app.keymap.find(&[scope, LIST, APP], name) {
        Some(action) => act(app, action.id, name, now),
        None => Vec::new(),
    }
}

/// Typing a filter: the list follows at once; enter keeps it, esc clears it, the arrows still move.
fn filter(app: &mut App, name: &str, text: Option<&str>) -> Vec<Effect> {
    let (len, height) = views::list_size(app);
    let Some(tab) = app.list_tab_mut() else { return Vec::new() };
    match name {
        "enter" | "tab" => tab.filtering = false,
        "esc" | "ctrl+c" => {
            tab.filtering = false;
            tab.filter = tui::edit::LineEdit::default();
            super::filtered(app);
        }
        "up" | "down" | "pgup" | "pgdown" => {
            tab.list.on_key(name, len, height);
        }
        _ => {
            if tab.filter.on_key(name, text) {
                tab.list.top();
                super::filtered(app);
            }
        }
    }
    Vec::new()
}

/// Carries out an action of the list in `actions`.
pub(super) fn act(app: &mut App, id: &str, key: &str, now: Instant) -> Vec<Effect> {
    let count = app.tabs.len();
    match id {
        "app.quit" => return vec![Effect::Quit],
        "app.help" => app.layer = Some(Layer::Help(HelpState::default())),
        "app.palette" => commands::open(app),
        "app.next" => return go(app, (app.active + 1) % count.max(1)),
        "app.previous" => return go(app, (app.active + count.saturating_sub(1)) % count.max(1)),
        "app.go" => {
            let number = key.bytes().last().filter(u8::is_ascii_digit).map_or(0, |digit| usize::from(digit - b'0'));
            return if number > 0 { go(app, number - 1) } else { Vec::new() };
        }
        "app.messages" => {
            let lines: Vec<String> = app.toasts.log().map(|(kind, text)| format!("{} {text}", kind.sign())).collect();
            let lines = if lines.is_empty() { vec!["Nothing was told yet.".to_owned()] } else { lines };
            let scroll = HelpState { offset: usize::MAX };
            app.layer = Some(Layer::Text { title: "Messages".to_owned(), lines, scroll });
        }
        "app.undo" | "list.undo" => return vec![Effect::LookUndo],
        "app.reload" => return reload(app),
        "app.suspend" => return vec![Effect::Suspend { outside: false }],
        "agents.refresh" => return detect(app),
        "usage.detail" | "hooks.detail" | "providers.detail" => return list(app, id, now),
        _ if id.starts_with("providers.") => return providers::act(app, id, now),
        _ if id.starts_with("hooks.") => return hooks::act(app, id, now),
        _ if id.starts_with("usage.") => return usage::act(app, id),
        _ if id.starts_with("sessions.") => return sessions::act(app, id, now),
        _ if id.starts_with("reader.") => return reading::act(app, id, now),
        "list.filter" if app.kind() == TabKind::Sessions && app.sessions.search.is_some() => {
            if let Some(search) = &mut app.sessions.search {
                search.typing = true;
            }
        }
        "list.back" if leaves_search(app) => return sessions::close_search(app),
        _ if id.starts_with("plugins.") => return plugins(app, id, now),
        _ => return list(app, id, now),
    }
    Vec::new()
}

/// Actions of every list of ours.
fn list(app: &mut App, id: &str, _now: Instant) -> Vec<Effect> {
    if id == "list.copy" {
        return views::path_of_selected(app).map(Effect::Copy).into_iter().collect();
    }
    let (len, height) = views::list_size(app);
    let (lines, detail_height) = views::detail_size(app);
    let narrow = app.size.0 < WIDE;
    let Some(tab) = app.list_tab_mut() else { return Vec::new() };
    let reading = tab.in_detail && id != "list.filter";
    match id {
        // Beside the list it takes the keys, in its place it is shown.
        "list.detail" => tab.in_detail = true,
        "agents.detail" | "usage.detail" | "hooks.detail" | "providers.detail" => tab.in_detail |= narrow,
        "list.list" => tab.in_detail = false,
        "list.detail-up" => tab.detail.up(lines, detail_height),
        "list.detail-down" => tab.detail.down(lines, detail_height),
        "list.filter" => {
            (tab.filtering, tab.in_detail) = (true, false);
        }
        "list.back" => {
            if tab.in_detail {
                tab.in_detail = false;
            } else {
                tab.filter = tui::edit::LineEdit::default();
                super::filtered(app);
            }
        }
        _ if reading => views::scroll(&mut tab.detail, id, lines, detail_height),
        _ => {
            let before = tab.list.selected;
            match id {
                "list.up" => tab.list.up(len, height),
                "list.down" => tab.list.down(len, height),
                "list.page-up" => tab.list.page_up(len, height),
                "list.page-down" => tab.list.page_down(len, height),
                "list.top" => tab.list.top(),
                "list.bottom" => tab.list.bottom(len, height),
                _ => {}
            }
            if tab.list.selected != before {
                tab.detail = tui::widgets::scroll_text::ScrollState::default();
            }
            if app.kind() == TabKind::Sessions {
                app.sessions.off_headings(!matches!(id, "list.up" | "list.page-up"));
            }
        }
    }
    Vec::new()
}

/// Actions of the Plugins tab, on the selected row.
fn plugins(app: &mut App, id: &str, now: Instant) -> Vec<Effect> {
    let Some(views::Entry::Plugin(plugin)) = views::selected_entry(app) else {
        if let Some(views::Entry::Ignored(file)) = views::selected_entry(app) {
            let text = app.ignored[file].warning();
            app.toasts.push(tui::widgets::toast::Kind::Info, text, now);
        }
        return Vec::new();
    };
    let state = &app.plugins[plugin];
    match id {
        "plugins.open" => match app.tab(&state.id) {
            Some(tab) => go(app, tab),
            None => {
                app.toasts.push(
                    tui::widgets::toast::Kind::Info,
                    format!("{} is hidden; space shows it", state.id),
                    now,
                );
                Vec::new()
            }
        },
        "plugins.restart" if state.phase == Phase::Hidden => {
            app.toasts.push(tui::widgets::toast::Kind::Info, format!("{} is hidden; space shows it", state.id), now);
            Vec::new()
        }
        "plugins.restart" if state.living() => {
            let pid = state.pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            let body = vec![
                Line::raw(format!("{} runs{pid}.", state.id)),
                Line::raw("Its process is stopped and started again; what it has not saved is lost."),
            ];
            let run = state.run + 1;
            let title = format!("Restart {}", state.id);
            app.layer = Some(Layer::Confirm(
                tui::widgets::confirm::Confirm::new(title, body, "Restart"),
                Box::new(Effect::Start { plugin, run }),
            ));
            Vec::new()
        }
        "plugins.restart" => start(app, plugin),
        "plugins.log" => vec![Effect::ReadLog(plugin)],
        "plugins.hide" => vec![Effect::Hide { plugin, hidden: state.phase != Phase::Hidden }],
        _ => Vec::new(),
    }
}

/// A key while a layer is open: it belongs to the layer (clause K8).
fn layer(app: &mut App, name: &str, text: Option<&str>, now: Instant) -> Vec<Effect> {
    let area = views::layer_area(app.size);
    if name == "ctrl+c"
        && !matches!(app.layer, Some(Layer::Palette(_) | Layer::Confirm(..) | Layer::Menu(..) | Layer::Prompt(..)))
    {
        app.layer = None;
        return Vec::new();
    }
    let size = app.size;
    match app.layer.take() {
        Some(Layer::Help(mut state)) => {
            if !matches!(name, "esc" | "q" | "?") {
                views::scroll_help(app, &mut state, name);
                app.layer = Some(Layer::Help(state));
            }
            Vec::new()
        }
        Some(Layer::Text { title, lines, mut scroll }) => {
            if !matches!(name, "esc" | "q" | "enter") {
                let (count, height) = views::text_size(size, &lines);
                scroll.on_key(name, count, height);
                app.layer = Some(Layer::Text { title, lines, scroll });
            }
            Vec::new()
        }
        Some(Layer::Prompt(mut prompt, asking)) => match prompt.on_key(name, text) {
            PromptOutcome::Pending => {
                app.layer = Some(Layer::Prompt(prompt, asking));
                Vec::new()
            }
            PromptOutcome::Done(answer) => sessions::answered(app, asking, &answer),
            PromptOutcome::Cancelled => Vec::new(),
        },
        Some(Layer::Menu(title, mut palette, mut effects)) => match palette.on_key(name, text, area) {
            PaletteOutcome::Closed => Vec::new(),
            PaletteOutcome::Picked(id) if id < effects.len() => vec![effects.swap_remove(id)],
            PaletteOutcome::Picked(_) | PaletteOutcome::Pending => {
                app.layer = Some(Layer::Menu(title, palette, effects));
                Vec::new()
            }
        },
        Some(Layer::Palette(mut palette)) => match palette.on_key(name, text, area) {
            PaletteOutcome::Closed => Vec::new(),
            PaletteOutcome::Picked(_) => picked(app, &palette, now),
            PaletteOutcome::Pending => {
                app.layer = Some(Layer::Palette(palette));
                Vec::new()
            }
        },
        Some(Layer::Confirm(mut confirm, effect)) => match confirm.on_key(name, area) {
            Answer::Pending => {
                app.layer = Some(Layer::Confirm(confirm, effect));
                Vec::new()
            }
            Answer::No => Vec::new(),
            Answer::Yes => confirmed(app, *effect, now),
        },
        None => Vec::new(),
    }
}

/// Runs what is selected in the palette.
pub(super) fn picked(app: &mut App, palette: &Palette, now: Instant) -> Vec<Effect> {
    match palette.selected().map(|item| item.name.clone()) {
        Some(name) => commands::run(app, &name, now),
        None => Vec::new(),
    }
}

/// The person said yes.
pub(super) fn confirmed(app: &mut App, effect: Effect, now: Instant) -> Vec<Effect> {
    match effect {
        // It may have been hidden while the question was open.
        Effect::Start { plugin, .. } if app.plugins.get(plugin).is_some_and(|p| p.phase == Phase::Hidden) => Vec::new(),
        Effect::Start { plugin, .. } => {
            let text = format!("{} is started again", app.plugins.get(plugin).map_or("it", |state| state.id.as_str()));
            app.toasts.push(tui::widgets::toast::Kind::Info, text, now);
            start(app, plugin)
        }
        Effect::Delete(plans) => {
            app.sessions.marked.clear();
            vec![Effect::Delete(plans)]
        }
        other => vec![other],
    }
}
