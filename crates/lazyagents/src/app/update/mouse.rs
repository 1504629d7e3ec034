//! The mouse: the tab bar, lists and details of ours, and a plugin's body (clauses X1 to X3, K8).

use std::time::{Duration, Instant};

use ratatui::layout::{Position, Rect};
use tui::input::{Mouse, MouseKind};
use tui::widgets::confirm::Answer;
use wire::plugin::{HostMessage, Mouse as WireMouse, MouseKind as WireKind};

use super::super::event::Effect;
use super::super::state::{App, HEADER, Layer, TabKind};
use super::super::views;
use super::{go, keys};

/// Two presses on one cell within this are a double click.
const DOUBLE: Duration = Duration::from_millis(400);

/// Rows that one turn of the wheel moves.
const WHEEL: isize = 3;

pub(super) fn mouse(app: &mut App, mouse: &Mouse, now: Instant) -> Vec<Effect> {
    let turn = match mouse.kind {
        MouseKind::Press(_) => None,
        MouseKind::Wheel(wheel) => Some(match wheel {
            tui::input::Wheel::Up => -WHEEL,
            tui::input::Wheel::Down => WHEEL,
            tui::input::Wheel::Left | tui::input::Wheel::Right => 0,
        }),
        MouseKind::Release(_) | MouseKind::Drag(_) | MouseKind::Move => return Vec::new(),
    };
    if app.layer.is_some() {
        return layer(app, mouse, turn, now);
    }
    if mouse.y < HEADER && app.size.1 > HEADER {
        return tab_bar(app, mouse, now);
    }
    let body = app.body();
    let inside = body.contains(Position { x: mouse.x, y: mouse.y });
    match app.kind() {
        TabKind::Plugin(plugin) => match app.plugins.get(plugin) {
            Some(state) if state.living() => {
                if inside {
                    vec![to_plugin(plugin, mouse, body, turn.is_some())]
                } else {
                    Vec::new()
                }
            }
            _ => {
                let (lines, height) = views::failure_size(app, plugin);
                if let (Some(turn), Some(state)) = (turn, app.plugins.get_mut(plugin)) {
                    state.scroll.scroll(turn, lines, height);
                }
                Vec::new()
            }
        },
        TabKind::Sessions if inside && app.sessions.reader.is_some() => {
            super::reading::mouse(app, Position { x: mouse.x, y: mouse.y }, turn, is_left(mouse))
        }
        _ if inside => own(app, mouse, turn, now),
        _ => Vec::new(),
    }
}

fn to_plugin(plugin: usize, mouse: &Mouse, body: Rect, wheel: bool) -> Effect {
    let mouse = WireMouse {
        kind: if wheel { WireKind::Wheel } else { WireKind::Click },
        x: mouse.x - body.x,
        y: mouse.y - body.y,
        button: mouse.button_name(),
    };
    Effect::Send(plugin, HostMessage::Mouse { mouse })
}

fn is_left(mouse: &Mouse) -> bool {
    matches!(mouse.kind, MouseKind::Press(tui::input::Button::Left))
}

fn tab_bar(app: &mut App, mouse: &Mouse, now: Instant) -> Vec<Effect> {
    if !is_left(mouse) {
        return Vec::new();
    }
    match views::tab_at(app, mouse.x) {
        Some(views::BarHit::Tab(tab)) => go(app, tab),
        Some(views::BarHit::Help) => keys::act(app, "app.help", "", now),
        None => Vec::new(),
    }
}

/// A layer takes the mouse; a click closes help and palette (clause K8).
fn layer(app: &mut App, mouse: &Mouse, turn: Option<isize>, now: Instant) -> Vec<Effect> {
    let size = app.size;
    let area = views::layer_area(size);
    match app.layer.take() {
        Some(Layer::Help(mut state)) => {
            if let Some(turn) = turn {
                let key = if turn < 0 { "up" } else { "down" };
                for _ in 0..WHEEL {
                    views::scroll_help(app, &mut state, key);
                }
                app.layer = Some(Layer::Help(state));
            }
        }
        Some(Layer::Palette(mut palette)) => {
            if let Some(turn) = turn {
                palette.scroll(turn, area);
                app.layer = Some(Layer::Palette(palette));
            }
        }
        Some(Layer::Menu(title, mut palette, mut effects)) => match turn {
            Some(turn) => {
                palette.scroll(turn, area);
                app.layer = Some(Layer::Menu(title, palette, effects));
            }
            None => match palette.on_click(mouse.x, mouse.y, area) {
                tui::widgets::palette::PaletteOutcome::Picked(id) if id < effects.len() => {
                    return vec![effects.swap_remove(id)];
                }
                tui::widgets::palette::PaletteOutcome::Closed => {}
                _ => app.layer = Some(Layer::Menu(title, palette, effects)),
            },
        },
        Some(Layer::Prompt(prompt, asking)) => app.layer = Some(Layer::Prompt(prompt, asking)),
        Some(Layer::Text { title, lines, mut scroll }) => {
            if let Some(turn) = turn {
                let (count, height) = views::text_size(size, &lines);
                scroll.scroll(turn, count, height);
            }
            app.layer = Some(Layer::Text { title, lines, scroll });
        }
        Some(Layer::Confirm(mut confirm, effect)) => {
            let answer = match turn {
                Some(turn) => {
                    confirm.wheel(turn, area);
                    Answer::Pending
                }
                None => confirm.on_click(mouse.x, mouse.y, area),
            };
            match answer {
                Answer::Pending => app.layer = Some(Layer::Confirm(confirm, effect)),
                Answer::No => {}
                Answer::Yes => return keys::confirmed(app, *effect, now),
            }
        }
        None => {}
    }
    Vec::new()
}

/// The wheel scrolls what is under it, a click selects, a double click is enter.
fn own(app: &mut App, mouse: &Mouse, turn: Option<isize>, now: Instant) -> Vec<Effect> {
    if app.kind() == TabKind::Hooks && is_left(mouse) {
        // A click into a column is for that agent.
        if let Some(agent) = crate::tabs::hooks::agent_at(app, mouse.x, mouse.y) {
            app.hooks.agent = Some(agent);
        }
    }
    if app.kind() == TabKind::Providers
        && is_left(mouse)
        && let Some(agent) = crate::tabs::providers::agent_at(app, mouse.x, mouse.y)
    {
        app.providers.agent = Some(agent);
    }
    let place = views::place(app, mouse.x, mouse.y);
    let (len, height) = views::list_size(app);
    let (lines, detail_height) = views::detail_size(app);
    let again = app
        .last_click
        .is_some_and(|(then, x, y)| (x, y) == (mouse.x, mouse.y) && now.saturating_duration_since(then) <= DOUBLE);
    let Some(tab) = app.list_tab_mut() else { return Vec::new() };
    match (place, turn) {
        (views::Place::List(_), Some(turn)) => tab.list.scroll(turn, len, height),
        (views::Place::Detail, Some(turn)) => tab.detail.scroll(turn, lines, detail_height),
        (views::Place::List(Some(row)), None) if is_left(mouse) => {
            let before = tab.list.selected;
            let hit = tab.list.click(row, len, height);
            if tab.list.selected != before {
                tab.detail = tui::widgets::scroll_text::ScrollState::default();
            }
            if app.kind() == TabKind::Sessions {
                app.sessions.off_headings(true);
            }
            app.last_click = Some((now, mouse.x, mouse.y));
            if hit && again {
                app.last_click = None;
                let action = match app.kind() {
                    TabKind::Sessions => "sessions.read",
                    TabKind::Providers => "providers.toggle",
                    TabKind::Hooks => "hooks.toggle",
                    TabKind::Usage => "usage.detail",
                    TabKind::Agents => "agents.detail",
                    _ => "plugins.open",
                };
                return keys::act(app, action, "", now);
            }
        }
        _ => {}
    }
    Vec::new()
}
