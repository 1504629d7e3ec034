//! The Agents tab: one row an agent, installed first; the detail says where it is and how that is known.

use agents::{Detected, VersionFrom};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text;
use tui::fuzzy::Matcher;
use tui::theme::Role;
use tui::widgets::list::{self, Column, Row, Table, Width};

use super::field;
use crate::app::state::App;
use crate::app::views;

/// The columns of the list.
pub fn columns() -> Vec<Column> {
    vec![
        Column::new("AGENT", Width::Flex { min: 12, weight: 2 }),
        Column::new("VERSION", Width::Fixed(12)),
        Column::new("FOUND", Width::Flex { min: 10, weight: 3 }).drop(1),
    ]
}

/// The agents, installed first, else in the fixed order; with a filter those that match, the best first.
pub fn rows(app: &App) -> Vec<&Detected> {
    let filter = app.agents_tab.filter.text();
    if filter.is_empty() {
        let mut rows: Vec<_> = app.agents.iter().collect();
        rows.sort_by_key(|agent| !agent.installed);
        return rows;
    }
    let mut matcher = Matcher::new();
    let mut found: Vec<_> = app
        .agents
        .iter()
        .filter_map(|agent| {
            let score = matcher.score(filter, agent.name).max(matcher.score(filter, agent.id))?;
            let begins = agent.name.to_lowercase().starts_with(&filter.to_lowercase());
            Some((!begins, std::cmp::Reverse(score), agent))
        })
        .collect();
    // The best match is where the cursor stands while a filter is typed.
    found.sort_by_key(|(begins, score, _)| (*begins, *score));
    found.into_iter().map(|(.., agent)| agent).collect()
}

/// The agent under the cursor.
fn selected(app: &App) -> Option<&Detected> {
    let rows = rows(app);
    rows.get(app.agents_tab.list.selected.min(rows.len().saturating_sub(1))).copied()
}

/// The path that `y` copies: its program, else its config folder.
pub fn selected_path(app: &App) -> Option<String> {
    let agent = selected(app)?;
    let path = agent.binary.as_ref().or(agent.config_dir.as_ref())?;
    Some(text::clean(&path.to_string_lossy()))
}

fn short(app: &App, path: &std::path::Path) -> String {
    text::clean(&app.paths.short(path))
}

/// A row; paths are shortened in the middle to `width` columns.
fn row(app: &App, agent: &Detected, width: usize) -> Row {
    let theme = &app.theme;
    let dim = |text: String| Line::from(Span::styled(text, theme.muted()));
    let name = Span::styled(agent.name, if agent.installed { theme.agent(agent.id) } else { theme.muted() });
    let version = match &agent.version {
        Some(version) => Line::raw(text::clean(version)),
        None if app.detecting && agent.found.is_some() => dim("…".to_owned()),
        None => dim("-".to_owned()),
    };
    let found = match (&agent.binary, agent.config_exists) {
        (Some(path), _) => Line::raw(text::elide_middle(&short(app, path), width)),
        (None, true) => dim("config folder only".to_owned()),
        (None, false) => dim("not found".to_owned()),
    };
    Row::new([Line::from(name), version, found])
}

/// The detail of the agent under the cursor.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let Some(agent) = selected(app) else { return Vec::new() };
    let theme = &app.theme;
    let room = super::field_room(views::split(app).detail.width);
    let path = |path: &std::path::Path| text::elide_middle(&short(app, path), room);
    let mut lines = vec![Line::styled(agent.name.to_owned(), theme.title()), Line::default()];
    lines.push(field(theme, "id", agent.id));
    lines.push(field(theme, "state", if agent.installed { "installed" } else { "not found" }));
    let version = match (&agent.version, agent.version_from) {
        (Some(version), VersionFrom::PackageJson) => format!("{} (package.json)", text::clean(version)),
        (Some(version), VersionFrom::Cache) => format!("{} (--version, remembered)", text::clean(version)),
        (Some(version), _) => format!("{} (--version)", text::clean(version)),
        (None, _) if app.detecting => "asking…".to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    if agent.installed {
        lines.push(field(theme, "version", version));
    }
    if let Some(binary) = &agent.binary {
        lines.push(field(theme, "program", path(binary)));
    }
    if let Some(dir) = &agent.config_dir {
        lines.push(field(theme, "config", path(dir)));
        if !agent.config_exists {
            lines.push(field(theme, "", "(not there)"));
        }
    }
    lines.push(Line::default());
    match &agent.managed_dir {
        Some(dir) => lines.push(field(theme, "skills", path(dir))),
        None => lines.push(field(theme, "skills", "has no skill folder")),
    }
    for dir in agent.read_dirs.iter().filter(|dir| Some(*dir) != agent.managed_dir.as_ref()) {
        lines.push(field(theme, "also reads", path(dir)));
    }
    lines.push(Line::default());
    let home = app.paths.home.display().to_string();
    for how in &agent.how {
        lines.push(Line::styled(text::clean(&how.replace(&format!("{home}/"), "~/")), theme.dim()));
    }
    if !agent.tried {
        let words = "Known from public documents only: no real program of it was tried.";
        lines.push(Line::styled(words, theme.muted()));
    }
    for warning in &agent.warnings {
        lines.push(Line::styled(format!("⚠ {}", text::clean(warning)), theme.style(Role::Warn)));
    }
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, _body: Rect) {
    let rows = rows(app);
    let columns = columns();
    let layout = list::layout(&columns, views::split(app).list);
    let width = layout.columns.iter().find(|(_, column)| *column == 2).map_or(0, |(range, _)| range.len());
    let make = |index: usize| rows.get(index).map_or_else(Row::default, |agent| row(app, agent, width));
    let empty = if !app.agents_tab.filter.text().is_empty() {
        "No agent matches the filter.  esc clears it"
    } else {
        "Looking for agents…"
    };
    let table = Table { columns: &columns, len: rows.len(), rows: &make, empty, focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}
