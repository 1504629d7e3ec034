//! The Usage tab: how many tokens it all took, by day, agent, project, model or block of five hours (lazyagents.md, Usage).

use agents::sessions::Tokens;
use agents::sessions::rows::UsageRow;
use agents::usage::View;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text::{self, human};
use tui::paint;
use tui::theme::Role;
use tui::widgets::list::{Align, Column, Row, Table, Width};

use super::field;
use crate::app::state::App;
use crate::app::views;

/// Cells of a bar.
const BAR: u16 = 10;

/// The columns of the list.
pub fn columns() -> Vec<Column> {
    vec![
        Column::new("", Width::Flex { min: 14, weight: 1 }),
        Column::new("TOKENS", Width::Fixed(7)).align(Align::Right),
        Column::new("", Width::Fixed(BAR)).drop(3),
        Column::new("IN", Width::Fixed(6)).align(Align::Right).drop(2),
        Column::new("CACHED", Width::Fixed(6)).align(Align::Right).drop(2),
        Column::new("OUT", Width::Fixed(6)).align(Align::Right).drop(2),
        Column::new("COST", Width::Fixed(9)).align(Align::Right).drop(1),
    ]
}

/// How many rows there are.
pub fn len(app: &App) -> usize {
    app.usage.rows().len()
}

fn selected(app: &App) -> Option<&UsageRow> {
    let rows = app.usage.rows();
    let at = *rows.get(app.usage.tab.list.selected.min(rows.len().saturating_sub(1)))?;
    app.usage.counted.as_ref()?.table.rows.get(at)
}

/// What `y` copies: the row's name.
pub fn selected_label(app: &App) -> Option<String> {
    selected(app).map(|row| text::clean(&row.label))
}

fn label(app: &App, row: &UsageRow) -> String {
    match app.usage.view().0 {
        View::Projects => text::clean(&app.paths.short(std::path::Path::new(&row.label))),
        View::Blocks => row.key.parse::<jiff::Timestamp>().ok().map_or_else(
            || text::clean(&row.label),
            |at| {
                let at = at.to_zoned_datetime(app.zone.clone()).strftime("%a %m-%d %H:%M").to_string();
                let agent = row.agent.as_deref().map(super::sessions::short_agent).unwrap_or_default();
                format!("{at} {agent}{}", if row.current == Some(true) { " · now" } else { "" })
            },
        ),
        View::Daily => row
            .key
            .parse::<jiff::civil::Date>()
            .map_or_else(|_| text::clean(&row.label), |day| day.strftime("%a %Y-%m-%d").to_string()),
        _ => text::clean(&row.label),
    }
}

/// Dollars to the cent; a dash where nothing is known.
pub fn cost(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| "-".to_owned(), |dollars| format!("${dollars:.2}"))
}

fn row(app: &App, row: &UsageRow, most: u64) -> Row {
    let theme = &app.theme;
    let tokens = &row.tokens;
    let style = if app.usage.view().0 == View::Agents { theme.agent(&row.key) } else { theme.style(Role::Fg) };
    Row::new([
        Line::styled(label(app, row), style),
        Line::raw(human::count(tokens.total())),
        Line::styled(bar(tokens.total(), most), theme.accent()),
        Line::styled(human::count(tokens.input), theme.dim()),
        Line::styled(human::count(tokens.cache_read + tokens.cache_write), theme.dim()),
        Line::styled(human::count(tokens.output), theme.dim()),
        Line::styled(cost(row.cost_usd), theme.dim()),
    ])
}

/// A bar in eighths of a cell.
fn bar(part: u64, most: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let all = u128::from(BAR) * 8;
    let eighths = (u128::from(part) * all).checked_div(u128::from(most)).unwrap_or(0);
    let eighths = if part > 0 { eighths.max(1) } else { 0 };
    let (full, rest) = (usize::try_from(eighths / 8).unwrap_or(0), usize::try_from(eighths % 8).unwrap_or(0));
    "█".repeat(full) + EIGHTHS[rest]
}

/// One cell a value, by height.
fn sparkline(values: impl Iterator<Item = u64> + Clone) -> String {
    const HEIGHTS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let most = u128::from(values.clone().max().unwrap_or(0));
    let cell = |value: u64| match value {
        0 => " ",
        value => HEIGHTS[usize::try_from((u128::from(value) * 7).checked_div(most).unwrap_or(0)).unwrap_or(0)],
    };
    values.map(cell).collect()
}

/// The detail: the row under the cursor, then everything together.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let Some(counted) = &app.usage.counted else { return Vec::new() };
    let mut lines = limits(app);
    if let Some(row) = selected(app) {
        lines.push(Line::styled(label(app, row), theme.title()));
        lines.push(Line::default());
        lines.extend(kinds(app, &row.tokens, row.cost_usd));
        lines.push(Line::default());
    }
    lines.push(Line::styled(format!("all of it, {}", app.usage.period.words()), theme.title()));
    lines.push(Line::default());
    lines.extend(kinds(app, &counted.table.total.tokens, counted.table.total.cost_usd));
    if counted.days.len() > 1 {
        let width = usize::from(views::split(app).detail.width).max(1);
        let last = &counted.days[counted.days.len().saturating_sub(width)..];
        lines.push(Line::default());
        lines.push(Line::styled(sparkline(last.iter().map(|(_, tokens)| *tokens)), theme.accent()));
        if let (Some((first, _)), Some((end, _))) = (last.first(), last.last()) {
            lines.push(Line::styled(format!("{first} to {end}, a day each"), theme.muted()));
        }
    }
    lines.push(Line::default());
    lines.push(field(theme, "days of", counted.table.timezone.clone()));
    let skipped: u64 = counted.table.skipped.iter().map(|skip| skip.lines).sum();
    if !counted.table.skipped.is_empty() {
        let files = counted.table.skipped.len();
        let words = format!("⚠ {} lines in {files} files could not be read", human::count(skipped));
        lines.push(Line::styled(words, theme.style(Role::Warn)));
    }
    lines
}

fn kinds(app: &App, tokens: &Tokens, dollars: Option<f64>) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let mut lines = vec![field(theme, "tokens", human::count(tokens.total()))];
    let mut add = |name: &str, count: u64| {
        if count > 0 {
            lines.push(field(theme, name, human::count(count)));
        }
    };
    add("input", tokens.input);
    add("cache read", tokens.cache_read);
    add("cache wr.", tokens.cache_write);
    add("  of 1 h", tokens.cache_write_1h.unwrap_or(0));
    add("output", tokens.output);
    add("  thought", tokens.reasoning.unwrap_or(0));
    add("responses", tokens.requests);
    if let Some(dollars) = dollars {
        lines.push(field(theme, "cost", format!("${dollars:.2}")));
    }
    lines
}

/// The limits that are known, a bar each.
fn limits(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let mut lines = Vec::new();
    let told = app.usage.limits.as_deref();
    let ours = |agent: &str| app.usage.agent.is_none_or(|only| only == agent);
    let millis = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    for limit in told.iter().flat_map(|told| &told.rows).filter(|limit| ours(&limit.agent)) {
        let used = limit.used_percent.clamp(0.0, 100.0);
        // Between 0 and 100, so it fits.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let part = used.round() as u64;
        let role = if used >= 90.0 {
            Role::Error
        } else if used >= 70.0 {
            Role::Warn
        } else {
            Role::Ok
        };
        let resets = limit.resets_at.as_deref().and_then(millis);
        let when = match resets {
            Some(at) if at <= app.wall => "has begun anew since".to_owned(),
            Some(at) => super::sessions::exact(app, at).map_or_else(String::new, |at| format!("until {at}")),
            None => String::new(),
        };
        let style = if limit.stale { theme.muted() } else { theme.style(role) };
        lines.push(Line::from(vec![
            Span::styled(format!("{:<8}", super::sessions::short_agent(&limit.agent)), theme.agent(&limit.agent)),
            Span::styled(format!("{:<8} ", text::clean(&limit.label)), theme.dim()),
            Span::styled(bar(part, 100), style),
            Span::styled(
                "░".repeat(usize::from(BAR).saturating_sub(paint::text_width(&bar(part, 100)))),
                theme.muted(),
            ),
            Span::raw(format!(" {used:.0} % ")),
            Span::styled(when, theme.muted()),
        ]));
        if limit.stale && resets.is_none_or(|at| at > app.wall) {
            let as_of = super::sessions::ago(app, millis(&limit.as_of));
            lines.push(Line::styled(format!("        as of {as_of}"), theme.muted()));
        }
    }
    if app.usage.asking {
        lines.push(Line::styled("asking for limits…", theme.dim()));
    }
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, _body: Rect) {
    let columns = columns();
    let rows = app.usage.rows();
    let table = app.usage.counted.as_ref().map(|counted| &counted.table);
    let most = table.map_or(0, |table| rows.iter().map(|at| table.rows[*at].tokens.total()).max().unwrap_or(0));
    let make = |index: usize| {
        let found = rows.get(index).and_then(|at| table?.rows.get(*at));
        found.map_or_else(Row::default, |found| row(app, found, most))
    };
    let empty = match (&app.usage.counted, &app.sessions.shelf) {
        (None, _) | (_, None) => "Counting…",
        _ if !app.usage.tab.filter.text().is_empty() => "Nothing matches the filter.  esc clears it",
        _ => "Nothing was counted here.  p takes a longer period, f shows all agents",
    };
    let table = Table { columns: &columns, len: rows.len(), rows: &make, empty, focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}

/// The row above the list: period, agent, view; what is being read.
pub fn draw_top(app: &App, buf: &mut Buffer, area: Rect) {
    let theme = &app.theme;
    let usage = &app.usage;
    let right = match app.sessions.reading.files {
        Some((done, of)) => format!("reading {} of {} files", human::count(done as u64), human::count(of as u64)),
        None => String::new(),
    };
    let wide = u16::try_from(paint::text_width(&right)).unwrap_or(u16::MAX).min(area.width);
    paint::put_fit(buf, area.right() - wide, area.y, wide, &right, theme.muted());
    let left = Rect { width: area.width.saturating_sub(wide + 1), ..area };
    if usage.tab.filtering {
        return tui::widgets::input::draw(buf, left, "/", &usage.tab.filter, "", theme);
    }
    let chip = |words: &str| Span::styled(format!("{words} ▾   "), theme.accent());
    let mut spans = vec![chip(usage.period.words()), chip(usage.agent.unwrap_or("all agents")), chip(usage.view().1)];
    if !usage.tab.filter.text().is_empty() {
        spans.push(Span::styled(format!("/{}", usage.tab.filter.text()), theme.dim()));
    }
    paint::put_line(buf, left.x, left.y, left.width, &Line::from(spans), theme.style(Role::Fg));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_sparklines_show_what_is_small() {
        assert_eq!(
            (bar(100, 100).as_str(), bar(50, 100).as_str(), bar(1, 1_000_000).as_str(), bar(0, 5).as_str()),
            ("██████████", "█████", "▏", "")
        );
        assert_eq!(bar(u64::MAX, u64::MAX), "██████████");
        assert_eq!(sparkline([0, 1, 50, 100].into_iter()), " ▁▄█");
        assert_eq!(cost(Some(1.234)), "$1.23");
    }
}
