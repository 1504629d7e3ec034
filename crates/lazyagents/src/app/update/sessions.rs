//! The Sessions tab: what keys do there, and what comes from the threads that look, search and tell.

use std::path::PathBuf;
use std::time::Instant;

use ratatui::text::Line;
use sys::text;
use tui::edit::LineEdit;
use tui::widgets::confirm::Confirm;
use tui::widgets::list::ListState;
use tui::widgets::palette::{Palette, PaletteItem};
use tui::widgets::prompt::Prompt;
use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::reader::{Inside, Reader, Told};
use super::super::sessions::Search;
use super::super::shelf::{Find, FindEnd};
use super::super::state::{App, Asking, Layer};
use super::super::views;
use super::reading;
use crate::config::ResumeIn;
use crate::tabs;

/// Carries out an action of the tab.
pub(super) fn act(app: &mut App, id: &str, now: Instant) -> Vec<Effect> {
    match id {
        "sessions.resume" => resume(app, None, now),
        "sessions.resume-in" => choose_place(app, now),
        "sessions.elsewhere" => {
            let Some((line, session)) = tabs::sessions::selected(app) else { return Vec::new() };
            let Some(command) = tabs::sessions::resume_command(session) else { return cannot(app, now) };
            ask_folder(app, line.cwd.clone(), command, None);
            Vec::new()
        }
        "sessions.read" => read(app),
        "sessions.search" => {
            let search = app.sessions.search.get_or_insert_with(Search::default);
            search.typing = true;
            app.sessions.tab.in_detail = false;
            Vec::new()
        }
        "sessions.agent" => {
            app.sessions.next_agent();
            Vec::new()
        }
        "sessions.group" => {
            app.sessions.grouped = !app.sessions.grouped;
            app.sessions.arrange();
            Vec::new()
        }
        "sessions.sort" => {
            app.sessions.sort = app.sessions.sort.next();
            app.sessions.arrange();
            Vec::new()
        }
        "sessions.name" => {
            let Some((line, _)) = tabs::sessions::selected(app) else { return Vec::new() };
            let name = if line.named { line.title.clone() } else { String::new() };
            let key = format!("{}:{}", line.key.0, line.key.1);
            let prompt = Prompt::new("Your name for this session", &name, "nothing takes the name away");
            app.layer = Some(Layer::Prompt(prompt, Asking::Name(key)));
            Vec::new()
        }
        "sessions.command" => {
            let Some((line, session)) = tabs::sessions::selected(app) else { return Vec::new() };
            let Some(command) = tabs::sessions::resume_command(session) else { return cannot(app, now) };
            let folder = session.cwd.clone().filter(|_| !line.cwd.is_empty());
            vec![Effect::Copy(crate::history::command_line(&command, folder.as_deref()))]
        }
        "sessions.export" => export(app),
        "sessions.delete" => {
            let marked: Vec<String> = app.sessions.marked.iter().map(named).collect();
            let keys = if marked.is_empty() { app.sessions.selected_key().iter().map(named).collect() } else { marked };
            if keys.is_empty() { Vec::new() } else { vec![Effect::PlanDeletion(keys)] }
        }
        "sessions.mark" => {
            let Some(key) = app.sessions.selected_key() else { return Vec::new() };
            if !app.sessions.marked.remove(&key) {
                app.sessions.marked.insert(key);
            }
            let (len, height) = views::list_size(app);
            app.sessions.tab.list.down(len, height);
            app.sessions.off_headings(true);
            Vec::new()
        }
        "sessions.refresh" => vec![Effect::Look],
        _ => Vec::new(),
    }
}

fn named(key: &super::super::shelf::Key) -> String {
    format!("{}:{}", key.0, key.1)
}

/// Exports the session that is read, else the one under the cursor.
pub(super) fn export(app: &mut App) -> Vec<Effect> {
    let key = app.sessions.reader.as_ref().map(|reader| reader.key.clone()).or_else(|| app.sessions.selected_key());
    key.map(|key| Effect::Export(named(&key))).into_iter().collect()
}

/// Asks whether what was planned is to go: everything that goes is listed.
pub(super) fn deletion(app: &mut App, plans: std::sync::Arc<Vec<manage::delete::Plan>>, now: Instant) -> Vec<Effect> {
    if app.layer.is_some() {
        app.toasts.push(Kind::Info, "the deletion is ready; ask for it again", now);
        return Vec::new();
    }
    let mut body = Vec::new();
    for plan in plans.iter() {
        body.push(Line::styled(text::clean(&plan.title), app.theme.title()));
        for listed in &plan.paths {
            let end = if listed.folder { format!("/  {} files", listed.files) } else { String::new() };
            let path = text::clean(&app.paths.short(&listed.path));
            body.push(Line::raw(format!("  {path}{end}  {}", text::human::bytes(listed.bytes))));
        }
        if let Some(command) = &plan.removal.command {
            body.push(Line::raw(format!("  {}", text::clean(&command.join(" ")))));
        }
        body.extend(plan.removal.stays.iter().map(|stays| Line::raw(format!("  {}", text::clean(stays)))));
    }
    body.push(Line::default());
    body.push(Line::styled(
        "It goes to the trash; `lazyagents sessions trash restore` brings it back.",
        app.theme.dim(),
    ));
    let count = plans.len();
    let title = format!("Delete {count} session{}", if count == 1 { "" } else { "s" });
    app.layer = Some(Layer::Confirm(Confirm::new(title, body, "Delete"), Box::new(Effect::Delete(plans))));
    Vec::new()
}

fn cannot(app: &mut App, now: Instant) -> Vec<Effect> {
    app.toasts.push(Kind::Info, "its agent cannot open a session again", now);
    Vec::new()
}

/// Opens the session under the cursor again.
fn resume(app: &mut App, place: Option<ResumeIn>, now: Instant) -> Vec<Effect> {
    let Some((line, session)) = tabs::sessions::selected(app) else { return Vec::new() };
    let Some(command) = tabs::sessions::resume_command(session) else { return cannot(app, now) };
    if line.live {
        app.toasts.push(Kind::Warn, "it is open in its agent now; R opens it all the same", now);
        return Vec::new();
    }
    match &session.cwd {
        Some(folder) => {
            let (folder, place) = (PathBuf::from(folder), place.unwrap_or(app.resume_in));
            vec![Effect::Resume { command, folder, place }]
        }
        None => {
            ask_folder(app, String::new(), command, Some("the session does not say in which folder it began"));
            Vec::new()
        }
    }
}

/// The folder that a session was started in is gone: another one is asked for.
pub(super) fn folder_gone(app: &mut App, folder: &str, command: Vec<String>) {
    let why = format!("the folder {folder} is gone");
    ask_folder(app, String::new(), command, Some(&why));
}

fn ask_folder(app: &mut App, text: String, command: Vec<String>, why: Option<&str>) {
    let mut prompt = Prompt::new("Open it again in which folder?", &text, "~/projects/...");
    prompt.error = why.map(text::clean);
    app.layer = Some(Layer::Prompt(prompt, Asking::Folder(command)));
}

fn choose_place(app: &mut App, now: Instant) -> Vec<Effect> {
    let Some((_, session)) = tabs::sessions::selected(app) else { return Vec::new() };
    let Some(command) = tabs::sessions::resume_command(session) else { return cannot(app, now) };
    let Some(folder) = session.cwd.clone().map(PathBuf::from) else { return resume(app, None, now) };
    let words = |place| match place {
        ResumeIn::Here => "here; lazyagents comes back when the agent ends",
        ResumeIn::Window => "a new window of tmux, a new tab of zellij",
        ResumeIn::Pane => "a new pane of tmux or zellij",
    };
    let (mut items, mut effects) = (Vec::new(), Vec::new());
    for (id, (name, place)) in ResumeIn::ALL.into_iter().enumerate() {
        items.push(PaletteItem { name: name.to_owned(), desc: words(place).to_owned(), key: String::new(), id });
        effects.push(Effect::Resume { command: command.clone(), folder: folder.clone(), place });
    }
    let line = crate::history::command_line(&command, folder.to_str());
    items.push(PaletteItem {
        name: "copy".into(),
        desc: "copy the command".into(),
        key: "c".into(),
        id: effects.len(),
    });
    effects.push(Effect::Copy(line));
    app.layer = Some(Layer::Menu("Open it again".to_owned(), Palette::new(items), effects));
    Vec::new()
}

/// Begins to read the session under the cursor; where a search found something in it, there.
fn read(app: &mut App) -> Vec<Effect> {
    let Some(session) = app.sessions.selected() else { return Vec::new() };
    let Some((line, _)) = tabs::sessions::selected(app) else { return Vec::new() };
    let (key, title) = (line.key.clone(), line.title.clone());
    let first = app.sessions.selected_find().and_then(|find| find.excerpts.first()).map(|(turn, ..)| *turn);
    let words = app.sessions.search.as_ref().filter(|_| first.is_some()).map(|search| plain_words(search.edit.text()));
    app.sessions.readers += 1;
    let number = app.sessions.readers;
    let mut effects = vec![Effect::Read { number, session }];
    let mut reader =
        Reader { number, key, title, asked: Some(0), goal: first.map(|turn| (turn, 0)), ..Reader::default() };
    if let Some(words) = words.filter(|words| !words.is_empty()) {
        reader.inside = Some(Inside { edit: LineEdit::new(&words), number: 1, ..Inside::default() });
        effects.push(Effect::Inside { number: 1, text: words });
    }
    app.sessions.reader = Some(Box::new(reader));
    effects
}

/// The longest word of a search that is no filter: what is looked for inside.
fn plain_words(query: &str) -> String {
    let mut phrases = query.split('"').skip(1).step_by(2);
    if let Some(phrase) = phrases.find(|phrase| !phrase.trim().is_empty()) {
        return phrase.to_owned();
    }
    let words = query.split_whitespace().filter(|word| !word.contains(':'));
    words.max_by_key(|word| word.chars().count()).unwrap_or_default().to_owned()
}

/// Keys while the search is typed: the answer follows every change.
pub(super) fn typing(app: &mut App, name: &str, text: Option<&str>) -> Vec<Effect> {
    let (len, height) = views::list_size(app);
    let Some(search) = &mut app.sessions.search else { return Vec::new() };
    match name {
        "enter" | "tab" => {
            search.typing = false;
            if search.edit.is_empty() {
                return close_search(app);
            }
            Vec::new()
        }
        "esc" | "ctrl+c" => close_search(app),
        "up" | "down" | "pgup" | "pgdown" => {
            app.sessions.tab.list.on_key(name, len, height);
            Vec::new()
        }
        _ => {
            let before = search.edit.text().to_owned();
            search.edit.on_key(name, text);
            if before == search.edit.text() { Vec::new() } else { searched(app) }
        }
    }
}

/// The text of the search has changed.
pub(super) fn searched(app: &mut App) -> Vec<Effect> {
    let Some(search) = &mut app.sessions.search else { return Vec::new() };
    search.found.clear();
    search.end = None;
    app.sessions.searches += 1;
    let (number, words) = (app.sessions.searches, search.edit.text().to_owned());
    app.sessions.tab.list = ListState::default();
    app.sessions.arrange();
    vec![Effect::Search { number, words }]
}

/// Ends the search: all sessions are shown again.
pub(super) fn close_search(app: &mut App) -> Vec<Effect> {
    let key = app.sessions.selected_key();
    app.sessions.search = None;
    app.sessions.searches += 1;
    app.sessions.arrange();
    // Where one was found, one stays.
    if let Some(at) = key.and_then(|key| app.sessions.shelf.as_ref().and_then(|shelf| shelf.place(&key))) {
        let wanted = super::super::sessions::Entry::Session(at);
        if let Some(row) = app.sessions.entries.iter().position(|entry| *entry == wanted) {
            let (len, height) = views::list_size(app);
            app.sessions.tab.list.select(row, len, height);
        }
    }
    vec![Effect::Search { number: app.sessions.searches, words: String::new() }]
}

/// A part of what a search found.
pub(super) fn found(app: &mut App, number: u64, found: Vec<Find>, end: Option<FindEnd>) -> Vec<Effect> {
    if number != app.sessions.searches {
        return Vec::new();
    }
    if let Some(search) = &mut app.sessions.search {
        search.found.extend(found);
        search.end = end;
    }
    app.sessions.arrange();
    Vec::new()
}

/// The sessions as they are now: rows are made anew; a transcript that has grown is told again, and so is a search.
pub(super) fn shelf(app: &mut App, shelf: std::sync::Arc<super::super::shelf::Shelf>, now: Instant) -> Vec<Effect> {
    let mut effects = Vec::new();
    for problem in &shelf.problems {
        if app.sessions.shelf.as_ref().is_none_or(|old| !old.problems.contains(problem)) {
            app.toasts.push(Kind::Warn, problem.clone(), now);
        }
    }
    let grown = |key| {
        let size = |shelf: &super::super::shelf::Shelf| {
            let session = shelf.session(shelf.place(key)?)?;
            Some(session.sources.iter().map(|one| one.source.size).sum::<u64>())
        };
        let old = app.sessions.shelf.as_deref().and_then(size);
        old.is_some() && size(&shelf) != old
    };
    let again = app.sessions.reader.as_ref().is_some_and(|reader| grown(&reader.key));
    let before = app.sessions.shelf.replace(shelf).is_some_and(|old| old.complete);
    app.sessions.reading.files = None;
    app.sessions.arrange();
    if again {
        effects.extend(reading::again(app));
    }
    if before && app.sessions.search.as_ref().is_some_and(|search| !search.edit.is_empty() && search.end.is_some()) {
        effects.extend(search_again(app));
    }
    effects
}

/// The same search over what is there now; what was found stays until the new answer comes.
fn search_again(app: &mut App) -> Vec<Effect> {
    let key = app.sessions.selected_key();
    let list = app.sessions.tab.list;
    let effects = searched(app);
    app.sessions.tab.list = list;
    let _ = key;
    effects
}

/// The text store has grown: a search that could not see everything is made again.
pub(super) fn texts(app: &mut App, coverage: agents::text::Coverage) -> Vec<Effect> {
    app.sessions.reading.text = Some(coverage);
    let partial = app.sessions.search.as_ref().and_then(|search| search.end.as_ref());
    let partial = partial.is_some_and(|end| end.problem.is_none() && end.searched.0 < end.searched.1);
    if partial && coverage.complete() { search_again(app) } else { Vec::new() }
}

/// A line that was typed for something of this tab.
pub(super) fn answered(app: &mut App, asking: Asking, answer: &str) -> Vec<Effect> {
    let answer = answer.trim();
    match asking {
        Asking::Name(key) => {
            let name = (!answer.is_empty()).then(|| answer.to_owned());
            vec![Effect::Name { key, name }]
        }
        Asking::Folder(command) if answer.is_empty() => {
            ask_folder(app, String::new(), command, Some("a folder is needed"));
            Vec::new()
        }
        Asking::Provider(draft) => super::providers::drafted(app, draft, answer),
        Asking::Hook(draft) => super::hooks::drafted(app, draft, answer),
        Asking::HookFolder => super::hooks::folder(answer),
        Asking::Folder(command) => {
            let folder = app.paths.expand(answer);
            vec![Effect::Resume { command, folder, place: app.resume_in }]
        }
    }
}

/// What is told of the transcript that is read.
pub(super) fn told(app: &mut App, number: u64, told: Told) -> Vec<Effect> {
    match &app.sessions.reader {
        Some(reader) if reader.number == number => reading::told(app, told),
        _ => Vec::new(),
    }
}
