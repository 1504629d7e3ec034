//! The palette: every command of every tab and plugin, by name (clauses C1, C2). A command runs on the tab that
//! it belongs to.

use std::time::Instant;

use tui::theme::Theme;
use tui::widgets::palette::{Palette, PaletteItem};
use wire::plugin::HostMessage;

use super::super::actions::{ACTIONS, APP};
use super::super::event::Effect;
use super::super::state::{App, Layer, Phase, PluginState, TabKind};
use super::{go, keys};

/// Opens the palette.
pub(super) fn open(app: &mut App) {
    app.layer = Some(Layer::Palette(Palette::new(items(app))));
}

/// The commands have changed: an open palette shows the new ones.
pub(super) fn refresh(app: &mut App) {
    let items = items(app);
    if let Some(Layer::Palette(palette)) = &mut app.layer {
        palette.set_items(items);
    }
}

/// Every command that does something now.
fn items(app: &App) -> Vec<PaletteItem> {
    let mut items = Vec::new();
    let mut add = |name: &str, desc: &str, key: String| {
        items.push(PaletteItem { name: name.to_owned(), desc: desc.to_owned(), key, id: 0 });
    };
    for action in ACTIONS {
        let shown = action.scope == APP || app.tab(action.scope).is_some();
        if let Some(name) = action.palette.filter(|_| shown) {
            add(name, action.title, app.keymap.keys_of(action.id).into_iter().next().unwrap_or_default());
        }
    }
    for tab in &app.tabs {
        let title = match tab.kind {
            TabKind::Plugin(plugin) => app.plugins.get(plugin).map(PluginState::title).filter(|title| *title != tab.id),
            _ => None,
        };
        let desc = title.map_or_else(|| "go to the tab".to_owned(), |title| format!("go to the tab {title}"));
        add(&tab.id, &desc, String::new());
    }
    for state in &app.plugins {
        if let (Phase::Running, Some(manifest)) = (&state.phase, &state.manifest) {
            for (name, desc) in &manifest.commands {
                add(&format!("{} {name}", state.id), desc, String::new());
            }
        }
    }
    for id in Theme::builtin_ids() {
        add(&format!("theme {id}"), "use this theme", String::new());
    }
    items
}

/// Runs a command by its name in the palette.
pub(super) fn run(app: &mut App, name: &str, now: Instant) -> Vec<Effect> {
    if let Some(action) = ACTIONS.iter().find(|action| action.palette == Some(name)) {
        let mut effects = match app.tab(action.scope) {
            Some(tab) if action.scope != APP => go(app, tab),
            _ => Vec::new(),
        };
        effects.extend(keys::act(app, action.id, "", now));
        return effects;
    }
    if let Some(tab) = app.tab(name) {
        return go(app, tab);
    }
    let Some((id, command)) = name.split_once(' ') else { return Vec::new() };
    if id == "theme" {
        return vec![Effect::Theme(command.to_owned())];
    }
    let Some(plugin) = app.plugins.iter().position(|state| state.id == id) else { return Vec::new() };
    let mut effects = app.tab(id).map_or_else(Vec::new, |tab| go(app, tab));
    // A failed plugin's commands are no longer sent (clause C1).
    if app.plugins[plugin].phase == Phase::Running {
        effects.push(Effect::Send(plugin, HostMessage::Command { name: command.to_owned() }));
    }
    effects
}
