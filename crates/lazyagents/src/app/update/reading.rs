//! A transcript being read: keys, the mouse, and what its thread tells. The rows are laid out here, when what they are made
//! of changes, and never while drawing.

use std::time::Instant;

use ratatui::layout::Position;
use tui::edit::LineEdit;
use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::reader::{Inside, Reader, Told};
use super::super::state::App;
use crate::tabs;

/// Rows that can be seen.
fn height(app: &App) -> usize {
    usize::from(tabs::reader::rows_area(app.body()).height)
}

/// Lays out anew and goes on at the same place.
pub(super) fn lay_out(app: &mut App) {
    let (width, height) = (tabs::reader::text_width(app.body()), height(app));
    let Some(reader) = &mut app.sessions.reader else { return };
    let anchor = reader.anchor();
    reader.width = width;
    reader.rows = tabs::reader::layout(reader, width, &app.theme, &app.zone);
    if !reader.go_to(anchor) {
        reader.clamp(height);
    }
}

/// Lays out anew where the window's width has changed.
pub(super) fn resized(app: &mut App) {
    let width = tabs::reader::text_width(app.body());
    if app.sessions.reader.as_ref().is_some_and(|reader| reader.width != width) {
        lay_out(app);
    }
}

/// Asks for turns where those at hand end soon.
fn ask(app: &mut App) -> Vec<Effect> {
    let height = height(app);
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    let Some(turn) = reader.wants(height) else { return Vec::new() };
    reader.asked = Some(turn);
    vec![Effect::Around(turn)]
}

/// Goes to a turn, at once when it is at hand.
fn go(app: &mut App, turn: u64) -> Vec<Effect> {
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    if !reader.go_to((turn, 0)) {
        reader.goal = Some((turn, 0));
        // What was asked for is not wanted any more.
        reader.asked = None;
    }
    ask(app)
}

/// Begins again with a transcript that has grown; the place stays.
pub(super) fn again(app: &mut App) -> Vec<Effect> {
    let Some(reader) = &app.sessions.reader else { return Vec::new() };
    let Some(session) = app.sessions.shelf.as_ref().and_then(|shelf| shelf.place(&reader.key)) else {
        return Vec::new();
    };
    app.sessions.readers += 1;
    let number = app.sessions.readers;
    let height = height(app);
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    let (turn, _) = reader.anchor();
    reader.follow = reader.ends_here() && reader.top + height >= reader.rows.len();
    reader.number = number;
    reader.done = false;
    // The first window comes unasked; what is shown stays until the right one is there.
    reader.asked = Some(turn);
    let mut effects = vec![Effect::Read { number, session }, Effect::Around(turn)];
    if let Some(inside) = reader.inside.as_mut().filter(|inside| !inside.edit.is_empty()) {
        inside.number += 1;
        effects.push(Effect::Inside { number: inside.number, text: inside.edit.text().to_owned() });
    }
    effects
}

/// What its thread says.
pub(super) fn told(app: &mut App, told: Told) -> Vec<Effect> {
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    match told {
        Told::Known { turns, prompts, done } => {
            // One that is told again is as long as it was before it is longer.
            reader.turns = if done { turns } else { reader.turns.max(turns) };
            if done || prompts.len() >= reader.prompts.len() {
                reader.prompts = prompts;
            }
            reader.done = done;
        }
        Told::Window { around, turns } => {
            if reader.asked.is_some_and(|asked| asked != around)
                || (reader.asked.is_none() && !reader.window.is_empty())
            {
                return Vec::new();
            }
            reader.asked = None;
            if let Some((last, _)) = turns.last() {
                reader.turns = reader.turns.max(last + 1);
            }
            reader.window = turns;
            // A place that is not there (any more) is not waited for.
            let missing = reader.goal.filter(|(turn, _)| {
                let at = |(number, _): &(u64, _)| number == turn;
                *turn == around && !reader.window.iter().any(at)
            });
            if missing.is_some() {
                reader.goal = None;
            }
            lay_out(app);
            follow(app);
        }
        Told::Inside { number, turns, done } => {
            let Some(inside) = reader.inside.as_mut().filter(|inside| inside.number == number) else {
                return Vec::new();
            };
            inside.turns = turns;
            inside.done = done;
        }
        Told::Failed(why) => {
            reader.asked = None;
            if reader.window.is_empty() {
                reader.failed = Some(why);
            }
            reader.done = true;
        }
    }
    if let Some(effects) = to_the_end(app) {
        return effects;
    }
    ask(app)
}

/// The end stays in sight of who had it in sight, once all of it is at hand.
fn follow(app: &mut App) {
    let height = height(app);
    let Some(reader) = app.sessions.reader.as_mut().filter(|reader| reader.follow && reader.done) else { return };
    if reader.ends_here() {
        reader.follow = false;
        reader.top = reader.rows.len().saturating_sub(height);
    }
}

/// Asks for the end where it is to stay in sight and is not at hand.
fn to_the_end(app: &mut App) -> Option<Vec<Effect>> {
    follow(app);
    let reader = app.sessions.reader.as_mut().filter(|reader| reader.follow && reader.done)?;
    let last = reader.turns.saturating_sub(1);
    if reader.asked == Some(last) {
        return None;
    }
    reader.asked = Some(last);
    Some(vec![Effect::Around(last)])
}

/// Carries out an action of the reader.
pub(super) fn act(app: &mut App, id: &str, now: Instant) -> Vec<Effect> {
    let height = height(app);
    let page = isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1);
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    match id {
        "reader.up" => reader.scroll(-1, height),
        "reader.down" => reader.scroll(1, height),
        "reader.page-up" => reader.scroll(-page, height),
        "reader.page-down" => reader.scroll(page, height),
        "reader.top" => return go(app, 0),
        "reader.bottom" => {
            if reader.ends_here() {
                reader.scroll(isize::MAX, height);
            } else {
                let last = reader.turns.saturating_sub(1);
                return go(app, last);
            }
        }
        "reader.next-turn" | "reader.previous-turn" => {
            let all: Vec<u64> = reader.window.iter().map(|(number, _)| *number).collect();
            return beside(app, &all, id == "reader.next-turn");
        }
        "reader.prompt" | "reader.prompt-back" => {
            let prompts = reader.prompts.clone();
            return beside(app, &prompts, id == "reader.prompt");
        }
        "reader.next-match" | "reader.previous-match" => {
            let turns = reader.inside.as_ref().map(|inside| inside.turns.clone()).unwrap_or_default();
            if turns.is_empty() {
                app.toasts.push(Kind::Info, "nothing is searched for; / searches", now);
            }
            return beside(app, &turns, id == "reader.next-match");
        }
        "reader.fold" => {
            let turn = reader.current();
            fold(reader, turn);
            lay_out(app);
        }
        "reader.folds" => {
            reader.all_open = !reader.all_open;
            reader.open.clear();
            lay_out(app);
        }
        "reader.find" => {
            let inside = reader.inside.get_or_insert_with(Inside::default);
            inside.typing = true;
        }
        "reader.export" => return super::sessions::export(app),
        "reader.copy" => {
            let turn = reader.current();
            let said = reader.window.iter().find(|(number, _)| *number == turn).map(|(_, turn)| turn.text.clone());
            return said.filter(|said| !said.is_empty()).map(Effect::Copy).into_iter().collect();
        }
        "reader.back" if reader.inside.is_some() => {
            // One level back: first the search.
            reader.inside = None;
            lay_out(app);
        }
        "reader.back" => {
            app.sessions.reader = None;
            return vec![Effect::Close];
        }
        _ => {}
    }
    ask(app)
}

fn fold(reader: &mut Reader, turn: u64) {
    if !reader.open.remove(&turn) {
        reader.open.insert(turn);
    }
}

fn beside(app: &mut App, turns: &[u64], forward: bool) -> Vec<Effect> {
    let to = app.sessions.reader.as_ref().and_then(|reader| reader.beside(turns, forward));
    to.map_or_else(Vec::new, |turn| go(app, turn))
}

/// Keys while a text is typed that is searched for inside.
pub(super) fn typing(app: &mut App, name: &str, text: Option<&str>) -> Vec<Effect> {
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    let Some(inside) = &mut reader.inside else { return Vec::new() };
    match name {
        "esc" | "ctrl+c" => {
            reader.inside = None;
            lay_out(app);
            Vec::new()
        }
        "enter" => {
            inside.typing = false;
            if inside.edit.is_empty() {
                reader.inside = None;
                return Vec::new();
            }
            // To the first place from here on, as soon as it is known.
            let turns = inside.turns.clone();
            let here = reader.current();
            let next = turns.iter().copied().find(|turn| *turn >= here).or(turns.first().copied());
            next.map_or_else(Vec::new, |turn| go(app, turn))
        }
        _ => {
            let before = inside.edit.text().to_owned();
            inside.edit.on_key(name, text);
            if before == inside.edit.text() {
                return Vec::new();
            }
            looked_for(app)
        }
    }
}

/// A paste into the search.
pub(super) fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    let Some(inside) = app.sessions.reader.as_mut().and_then(|reader| reader.inside.as_mut()) else {
        return Vec::new();
    };
    if !inside.typing {
        return Vec::new();
    }
    inside.edit.paste(text);
    looked_for(app)
}

fn looked_for(app: &mut App) -> Vec<Effect> {
    let Some(inside) = app.sessions.reader.as_mut().and_then(|reader| reader.inside.as_mut()) else {
        return Vec::new();
    };
    inside.number += 1;
    inside.turns.clear();
    inside.done = false;
    let effect = Effect::Inside { number: inside.number, text: inside.edit.text().to_owned() };
    let empty = LineEdit::is_empty(&inside.edit);
    lay_out(app);
    if empty { Vec::new() } else { vec![effect] }
}

/// The wheel, and a click: on a fold it opens or folds the turn.
pub(super) fn mouse(app: &mut App, at: Position, turn: Option<isize>, left: bool) -> Vec<Effect> {
    let (height, area) = (height(app), tabs::reader::rows_area(app.body()));
    let Some(reader) = &mut app.sessions.reader else { return Vec::new() };
    match turn {
        Some(turn) => reader.scroll(turn, height),
        None if left && area.contains(at) => {
            let row = reader.rows.get(reader.top + usize::from(at.y - area.y));
            if let Some(turn) = row.filter(|row| row.fold || row.head).map(|row| row.turn) {
                fold(reader, turn);
                lay_out(app);
            }
        }
        None => {}
    }
    ask(app)
}
