//! The Providers tab: which profile of an endpoint is in use at which agent (lazyagents.md, Providers).

use manage::providers::Cell;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text;
use tui::paint;
use tui::theme::Role;
use tui::widgets::list::{self, Align, Column, Row, Table, Width};

use super::field;
use crate::app::providers::{ProfileLine, sign};
use crate::app::state::App;
use crate::app::views;

/// What the signs mean.
const LEGEND: &str = "● in use ~ changed ○ not – no place";

/// The columns of the list: the profile, then each agent.
pub fn columns(app: &App) -> Vec<Column> {
    let mut columns = vec![Column::new("PROFILE", Width::Flex { min: 10, weight: 1 })];
    for (id, _) in app.providers.board.iter().flat_map(|board| &board.agents) {
        let title = super::sessions::short_agent(id).to_uppercase();
        let wide = u16::try_from(paint::text_width(&title)).unwrap_or(8).min(8);
        columns.push(Column::new(&title, Width::Fixed(wide)).align(Align::Left));
    }
    columns
}

/// How many rows there are.
pub fn len(app: &App) -> usize {
    app.providers.rows().len()
}

/// What `y` copies: the endpoint.
pub fn selected_url(app: &App) -> Option<String> {
    app.providers.selected().map(|profile| profile.base_url.clone()).filter(|url| !url.is_empty())
}

/// The agent whose column is at `x` of the list.
pub fn agent_at(app: &App, x: u16, y: u16) -> Option<&'static str> {
    let layout = list::layout(&columns(app), views::split(app).list);
    let inside =
        layout.body.contains((x, y).into()) || layout.header.is_some_and(|header| header.contains((x, y).into()));
    let (_, column) = layout.columns.iter().find(|(range, _)| inside && range.contains(&x))?;
    app.providers.board.as_ref()?.agents.get(column.checked_sub(1)?).map(|(id, _)| *id)
}

fn row(app: &App, profile: &ProfileLine) -> Row {
    let theme = &app.theme;
    let mut cells = vec![Line::raw(profile.name.clone())];
    let agents = app.providers.board.iter().flat_map(|board| &board.agents);
    for ((id, _), line) in agents.zip(&profile.cells) {
        let style = match line.cell {
            Cell::Applied => theme.style(Role::Ok),
            Cell::Changed => theme.style(Role::Warn),
            Cell::Off => theme.dim(),
            Cell::No => theme.muted(),
        };
        // The column that keys are for is seen without a colour, too.
        let sign = sign(line.cell);
        let sign = if app.providers.agent == Some(*id) { format!("[{sign}]") } else { format!(" {sign}") };
        cells.push(Line::styled(sign, style));
    }
    Row::new(cells)
}

/// The detail of the profile under the cursor.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let Some(board) = app.providers.board.as_deref() else { return Vec::new() };
    let room = super::field_room(views::split(app).detail.width);
    let mut lines = Vec::new();
    if let Some(profile) = app.providers.selected() {
        lines.push(Line::styled(profile.name.clone(), theme.title()));
        lines.push(Line::default());
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                lines.push(field(theme, name, value));
            }
        };
        add("endpoint", &profile.base_url);
        add("model", &profile.model);
        add("speaks", &profile.wire_api);
        add("token", &profile.token);
        lines.push(Line::default());
        for ((id, name), line) in board.agents.iter().zip(&profile.cells) {
            let words = match line.cell {
                Cell::Applied => "in use",
                Cell::Changed => "changed by hand since",
                Cell::Off => "not in use",
                Cell::No => "no place for it",
            };
            lines.push(Line::from(vec![
                Span::raw(format!("{} ", sign(line.cell))),
                Span::styled((*name).to_owned(), theme.agent(id)),
                Span::raw(format!("  {words}")),
            ]));
            if !line.why.is_empty() {
                lines.push(Line::styled(format!("  {}", line.why), theme.dim()));
            }
        }
        lines.push(Line::default());
        lines.push(Line::styled("One session with it, no file changed:", theme.dim()));
        lines.push(Line::raw(format!("lazyagents provider run {} -- claude", profile.name)));
        lines.push(Line::default());
    }
    if !board.profiles.is_empty() {
        lines.push(field(theme, "file", text::elide_middle(&board.file, room)));
    }
    for problem in &board.problems {
        lines.push(Line::default());
        lines.push(Line::styled(format!("⚠ {problem}"), theme.style(Role::Warn)));
    }
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, _body: Rect) {
    let columns = columns(app);
    let rows = app.providers.rows();
    let make = |index: usize| {
        let profile = rows.get(index).and_then(|at| app.providers.board.as_ref()?.profiles.get(*at));
        profile.map_or_else(Row::default, |profile| row(app, profile))
    };
    let empty = match &app.providers.board {
        None => "Reading profiles…",
        Some(board) if board.profiles.is_empty() => "No profiles yet.  n makes one: an endpoint, a model, a token",
        Some(_) => "No profile matches the filter.  esc clears it",
    };
    let table = Table { columns: &columns, len: rows.len(), rows: &make, empty, focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}

/// The row above the list: whom keys are for.
pub fn draw_top(app: &App, buf: &mut Buffer, area: Rect) {
    let theme = &app.theme;
    let providers = &app.providers;
    let wide = u16::try_from(paint::text_width(LEGEND)).unwrap_or(u16::MAX);
    let legend = area.width >= 60 && !providers.rows().is_empty();
    let area = if legend {
        paint::put_fit(buf, area.right() - wide, area.y, wide, LEGEND, theme.muted());
        Rect { width: area.width - wide - 1, ..area }
    } else {
        area
    };
    if providers.tab.filtering {
        return tui::widgets::input::draw(buf, area, "/", &providers.tab.filter, "", theme);
    }
    let whom = providers.agent.map_or_else(|| "all agents".to_owned(), |agent| format!("{agent} alone"));
    let mut spans = vec![Span::styled(format!("{whom} ▾   "), theme.accent())];
    if !providers.tab.filter.text().is_empty() {
        spans.push(Span::styled(format!("/{}", providers.tab.filter.text()), theme.dim()));
    }
    paint::put_line(buf, area.x, area.y, area.width, &Line::from(spans), theme.style(Role::Fg));
}
