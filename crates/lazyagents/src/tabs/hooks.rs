//! The Hooks tab: which hook runs at which agent, what it runs, and what others have put into the agents' files
//! (lazyagents.md, Hooks).

use manage::hooks::Cell;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text;
use tui::paint;
use tui::theme::Role;
use tui::widgets::list::{self, Align, Column, Row, Table, Width};

use super::field;
use crate::app::hooks::{HookLine, Rack};
use crate::app::state::App;
use crate::app::views;

/// What the signs mean.
const LEGEND: &str = "● all ◐ some ○ none – no event of it";

/// The columns of the list: the hook, then each agent.
pub fn columns(app: &App) -> Vec<Column> {
    let mut columns = vec![Column::new("HOOK", Width::Flex { min: 10, weight: 1 })];
    for (id, _) in app.hooks.rack.iter().flat_map(|rack| &rack.agents) {
        let title = super::sessions::short_agent(id).to_uppercase();
        let wide = u16::try_from(paint::text_width(&title)).unwrap_or(8).min(8);
        columns.push(Column::new(&title, Width::Fixed(wide)).align(Align::Left));
    }
    columns
}

/// How many rows there are.
pub fn len(app: &App) -> usize {
    app.hooks.rows().len()
}

/// What `y` copies: the hook's file.
pub fn selected_path(app: &App) -> Option<String> {
    app.hooks.selected().map(|hook| hook.path.clone())
}

/// The agent whose column is at `x` of the list.
pub fn agent_at(app: &App, x: u16, y: u16) -> Option<&'static str> {
    let layout = list::layout(&columns(app), views::split(app).list);
    let inside =
        layout.body.contains((x, y).into()) || layout.header.is_some_and(|header| header.contains((x, y).into()));
    let (_, column) = layout.columns.iter().find(|(range, _)| inside && range.contains(&x))?;
    app.hooks.rack.as_ref()?.agents.get(column.checked_sub(1)?).map(|(id, _)| *id)
}

fn row(app: &App, hook: &HookLine) -> Row {
    let theme = &app.theme;
    let mut cells = vec![Line::raw(hook.name.clone())];
    let agents = app.hooks.rack.iter().flat_map(|rack| &rack.agents);
    for ((id, _), cell) in agents.zip(&hook.cells) {
        let style = match cell.cell {
            Cell::All => theme.style(Role::Ok),
            Cell::Some => theme.style(Role::Warn),
            Cell::None => theme.dim(),
            Cell::Never => theme.muted(),
        };
        // The column that keys are for is seen without a colour, too.
        let sign = if app.hooks.agent == Some(*id) {
            format!("[{}]", cell.cell.sign())
        } else {
            format!(" {}", cell.cell.sign())
        };
        cells.push(Line::styled(sign, style));
    }
    Row::new(cells)
}

/// The detail of the hook under the cursor, and what others have.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let Some(rack) = app.hooks.rack.as_deref() else { return Vec::new() };
    let room = super::field_room(views::split(app).detail.width);
    let mut lines = Vec::new();
    if let Some(hook) = app.hooks.selected() {
        lines.push(Line::styled(hook.name.clone(), theme.title()));
        if !hook.description.is_empty() {
            lines.push(Line::raw(hook.description.clone()));
        }
        lines.push(Line::default());
        for (at, command) in hook.commands.iter().enumerate() {
            let style = if command.on { theme.style(Role::Fg) } else { theme.muted() };
            let off = if command.on { "" } else { "  off" };
            let timeout = command.timeout.map(|seconds| format!("  {seconds} s")).unwrap_or_default();
            lines.push(Line::styled(format!("{} {}{timeout}{off}", at + 1, command.when), style));
            lines.push(Line::styled(format!("  {}", command.command), theme.dim()));
        }
        lines.push(Line::default());
        for ((id, name), cell) in rack.agents.iter().zip(&hook.cells) {
            let words = match cell.cell {
                Cell::All => "enabled",
                Cell::Some => "a part of it",
                Cell::None => "not enabled",
                Cell::Never => "fires none of its events",
            };
            lines.push(Line::from(vec![
                Span::raw(format!("{} ", cell.cell.sign())),
                Span::styled((*name).to_owned(), theme.agent(id)),
                Span::raw(format!("  {words}")),
            ]));
            if cell.cell != Cell::Never {
                lines.push(Line::styled(format!("  {}", text::elide_middle(&cell.file, room)), theme.muted()));
            }
            lines.extend(cell.lines.iter().map(|line| Line::styled(format!("  {line}"), theme.dim())));
        }
        lines.push(Line::default());
        lines.push(field(theme, "file", text::elide_middle(&hook.path, room)));
        if let Some(origin) = &hook.origin {
            lines.push(field(theme, "from", text::elide_middle(origin, room)));
        }
    }
    lines.extend(others(app, rack));
    for problem in &rack.problems {
        lines.push(Line::default());
        lines.push(Line::styled(format!("⚠ {problem}"), theme.style(Role::Warn)));
    }
    lines
}

fn others(app: &App, rack: &Rack) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let ours = |agent: &str| app.hooks.agent.is_none_or(|only| only == agent);
    let others: Vec<_> = rack.others.iter().filter(|other| ours(other.agent)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec![Line::default(), Line::styled(format!("not yours, never touched: {}", others.len()), theme.title())];
    for other in others {
        lines.push(Line::from(vec![
            Span::styled(format!("{} ", super::sessions::short_agent(other.agent)), theme.agent(other.agent)),
            Span::raw(other.words.clone()),
        ]));
        let trust = other.trust.map(|trust| format!(", {trust}")).unwrap_or_default();
        lines.push(Line::styled(format!("  {}{trust}", other.file), theme.muted()));
    }
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, _body: Rect) {
    let columns = columns(app);
    let rows = app.hooks.rows();
    let make = |index: usize| {
        let hook = rows.get(index).and_then(|at| app.hooks.rack.as_ref()?.hooks.get(*at));
        hook.map_or_else(Row::default, |hook| row(app, hook))
    };
    let empty = match &app.hooks.rack {
        None => "Reading hooks…",
        Some(rack) if rack.hooks.is_empty() => "No hooks yet.  n makes one · i imports those of a plugin",
        Some(_) => "No hook matches the filter.  esc clears it",
    };
    let table = Table { columns: &columns, len: rows.len(), rows: &make, empty, focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}

/// The row above the list: whom keys are for.
pub fn draw_top(app: &App, buf: &mut Buffer, area: Rect) {
    let theme = &app.theme;
    let hooks = &app.hooks;
    let wide = u16::try_from(paint::text_width(LEGEND)).unwrap_or(u16::MAX);
    let legend = area.width >= 60 && !hooks.rows().is_empty();
    let area = if legend {
        paint::put_fit(buf, area.right() - wide, area.y, wide, LEGEND, theme.muted());
        Rect { width: area.width - wide - 1, ..area }
    } else {
        area
    };
    if hooks.tab.filtering {
        return tui::widgets::input::draw(buf, area, "/", &hooks.tab.filter, "", theme);
    }
    let whom = hooks.agent.map_or_else(|| "all agents".to_owned(), |agent| format!("{agent} alone"));
    let mut spans = vec![Span::styled(format!("{whom} ▾   "), theme.accent())];
    if !hooks.tab.filter.text().is_empty() {
        spans.push(Span::styled(format!("/{}", hooks.tab.filter.text()), theme.dim()));
    }
    paint::put_line(buf, area.x, area.y, area.width, &Line::from(spans), theme.style(Role::Fg));
}
