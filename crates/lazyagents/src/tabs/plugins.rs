//! The Plugins tab: every file of the plugins folder, how it is and why (lazyagents.md, Plugins).

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text::human;
use tui::fuzzy::Matcher;
use tui::theme::Role;
use tui::widgets::list::{Column, Row, Table, Width};

use super::field;
use crate::app::state::{App, Phase, PluginState};
use crate::app::views;

/// A row: a plugin, or a file that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By its place in [`App::plugins`].
    Plugin(usize),
    /// By its place in [`App::ignored`].
    Ignored(usize),
}

/// The columns of the list.
pub fn columns() -> Vec<Column> {
    vec![
        Column::new("PLUGIN", Width::Flex { min: 10, weight: 2 }),
        Column::new("STATE", Width::Fixed(8)),
        Column::new("TITLE", Width::Flex { min: 8, weight: 2 }).drop(1),
    ]
}

/// The files that the filter lets through, by name.
pub fn rows(app: &App) -> Vec<Entry> {
    let filter = app.plugins_tab.filter.text();
    let mut matcher = Matcher::new();
    let plugins = app.plugins.iter().enumerate().map(|(at, plugin)| (plugin.file.as_str(), Entry::Plugin(at)));
    let ignored = app.ignored.iter().enumerate().map(|(at, file)| (file.file.as_str(), Entry::Ignored(at)));
    let mut rows: Vec<_> =
        plugins.chain(ignored).filter(|(name, _)| filter.is_empty() || matcher.score(filter, name).is_some()).collect();
    rows.sort_by_key(|(name, _)| *name);
    rows.into_iter().map(|(_, entry)| entry).collect()
}

/// The row under the cursor.
pub fn selected_entry(app: &App) -> Option<Entry> {
    let rows = rows(app);
    rows.get(app.plugins_tab.list.selected.min(rows.len().saturating_sub(1))).copied()
}

/// The path that `y` copies.
pub fn selected_path(app: &App) -> Option<String> {
    match selected_entry(app)? {
        Entry::Plugin(plugin) => Some(whole(app, &app.plugins.get(plugin)?.path)),
        Entry::Ignored(file) => Some(whole(app, &format!("{}/{}", app.plugins_dir, app.ignored.get(file)?.file))),
    }
}

/// A path as a program takes it: without `~`.
fn whole(app: &App, path: &str) -> String {
    sys::text::clean(&app.paths.expand(path).to_string_lossy())
}

fn state_word(state: &PluginState) -> (&'static str, Role) {
    match state.phase {
        Phase::Hidden => ("hidden", Role::FgMuted),
        Phase::Starting => ("starting", Role::Info),
        Phase::Running => ("running", Role::Ok),
        Phase::Failed { .. } => ("failed", Role::Error),
    }
}

fn row(app: &App, entry: Entry) -> Row {
    let theme = &app.theme;
    match entry {
        Entry::Plugin(plugin) => {
            let Some(state) = app.plugins.get(plugin) else { return Row::default() };
            let (word, role) = state_word(state);
            let title = state.manifest.as_ref().map_or_else(String::new, |manifest| manifest.title.clone());
            Row::new([Line::raw(state.id.clone()), Line::styled(word, theme.style(role)), Line::raw(title)])
        }
        Entry::Ignored(file) => {
            let Some(file) = app.ignored.get(file) else { return Row::default() };
            let style = theme.muted();
            let cell = |text: &str| Line::from(Span::styled(text.to_owned(), style));
            Row::new([cell(&file.file), cell("ignored"), cell(&file.reason)])
        }
    }
}

/// The detail of the row under the cursor.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    match selected_entry(app) {
        None => Vec::new(),
        Some(Entry::Ignored(file)) => {
            let Some(file) = app.ignored.get(file) else { return Vec::new() };
            vec![
                Line::styled(file.file.clone(), theme.title()),
                Line::default(),
                field(theme, "state", "ignored"),
                field(theme, "why", file.reason.clone()),
                field(theme, "folder", app.plugins_dir.clone()),
            ]
        }
        Some(Entry::Plugin(plugin)) => app.plugins.get(plugin).map_or_else(Vec::new, |state| plugin_detail(app, state)),
    }
}

fn plugin_detail(app: &App, state: &PluginState) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let mut lines = vec![Line::styled(state.id.clone(), theme.title()), Line::default()];
    lines.push(field(theme, "state", state_word(state).0));
    let room = super::field_room(views::split(app).detail.width);
    lines.push(field(theme, "file", sys::text::elide_middle(&state.path, room)));
    lines.push(field(theme, "protocol", wire::plugin::PROTOCOL.to_string()));
    if let Some(pid) = state.pid {
        lines.push(field(theme, "pid", pid.to_string()));
    }
    if state.starts > 0 {
        lines.push(field(theme, "restarts", (state.starts - 1).to_string()));
    }
    if state.living() {
        let stats = &state.stats;
        lines.push(field(theme, "frames", human::count(stats.frames)));
        lines.push(field(theme, "wrote", human::bytes(stats.read)));
        lines.push(field(theme, "was sent", human::bytes(stats.written)));
        lines.push(field(theme, "waiting", format!("{} of 256 messages", stats.waiting)));
    }
    if let Some(manifest) = state.manifest.as_ref().filter(|_| state.living()) {
        lines.push(field(theme, "doctor", if manifest.doctor { "has a check" } else { "no check" }));
        for (name, desc) in &manifest.commands {
            lines.push(field(theme, "command", format!(":{} {name}  {desc}", state.id)));
        }
    }
    match &state.phase {
        Phase::Failed { reason, stderr } => {
            lines.push(Line::default());
            lines.extend(reason.lines().map(|line| Line::styled(line.to_owned(), theme.style(Role::Error))));
            let last: Vec<_> = stderr.trim_end().lines().rev().take(10).collect();
            lines.extend(last.into_iter().rev().map(|line| Line::styled(line.to_owned(), theme.dim())));
        }
        Phase::Hidden => {
            lines.push(Line::default());
            let words = "tui.hidden in config.yaml names it: it has no tab and is not started; its command works.";
            lines.push(Line::styled(words, theme.dim()));
        }
        Phase::Starting | Phase::Running => {}
    }
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, _body: Rect) {
    let rows = rows(app);
    let columns = columns();
    let make = |index: usize| rows.get(index).map_or_else(Row::default, |entry| row(app, *entry));
    let empty = if app.plugins_tab.filter.text().is_empty() {
        format!("No plugins yet.  An executable in {} becomes a tab, a command and a doctor check.", app.plugins_dir)
    } else {
        "No file matches the filter.  esc clears it".to_owned()
    };
    let table = Table { columns: &columns, len: rows.len(), rows: &make, empty: &empty, focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}
