//! A transcript on the screen: turns one under the other, reasoning and tools folded, sub-agents indented, markdown as it
//! is meant (lazyagents.md, Sessions). [`layout`] makes rows of the window at hand; drawing shows some of them.

use agents::sessions::Speaker;
use agents::sessions::rows::{ToolUse, Turn};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use sys::text::human;
use tui::paint;
use tui::theme::{Role, Theme};
use tui::widgets::wrap::wrap;
use tui::{markdown, widgets};

use crate::app::reader::{ReadRow, Reader};
use crate::app::state::App;

/// Columns in front of every row: the mark of the current turn.
const GUTTER: u16 = 2;

/// Rows of a tool's input and output that are shown.
const TOOL_ROWS: usize = 200;

/// Where the rows are: below the title.
pub fn rows_area(body: Rect) -> Rect {
    let top = 2.min(body.height.saturating_sub(1));
    Rect { y: body.y + top, height: body.height - top, ..body }
}

/// Columns for the text.
pub fn text_width(body: Rect) -> u16 {
    body.width.saturating_sub(GUTTER).clamp(1, 120)
}

/// Lays the turns at hand out.
pub fn layout(reader: &Reader, width: u16, theme: &Theme, zone: &jiff::tz::TimeZone) -> Vec<ReadRow> {
    let mut rows = Vec::new();
    let needle = reader.inside.as_ref().map(|inside| inside.edit.text().to_lowercase()).unwrap_or_default();
    for (number, turn) in &reader.window {
        let mut page =
            Turned { number: *number, rows: &mut rows, width, indent: turn.subagent.is_some(), theme, needle: &needle };
        page.turn(reader.key.0, turn, reader.is_open(*number), zone);
    }
    rows
}

/// One turn while it is laid out.
struct Turned<'a> {
    number: u64,
    rows: &'a mut Vec<ReadRow>,
    width: u16,
    indent: bool,
    theme: &'a Theme,
    needle: &'a str,
}

impl Turned<'_> {
    fn push(&mut self, line: Line<'static>, head: bool, fold: bool) {
        let margin = if self.indent { 2 } else { 0 };
        for row in wrap(&[line], self.width.saturating_sub(margin).max(1)) {
            let mut row = marked(row, self.needle, self.theme);
            if self.indent {
                row.spans.insert(0, Span::styled("┊ ", self.theme.muted()));
            }
            self.rows.push(ReadRow { turn: self.number, line: row, head, fold });
        }
    }

    fn turn(&mut self, agent: &str, turn: &Turn, open: bool, zone: &jiff::tz::TimeZone) {
        self.head(agent, turn, zone);
        if let Some(reasoning) = turn.reasoning.as_deref().filter(|words| !words.trim().is_empty()) {
            let sign = if open { "▾" } else { "▸" };
            let words = format!("{sign} reasoning, {}", human::bytes(reasoning.len() as u64));
            self.push(Line::styled(words, self.theme.muted()), false, true);
            if open {
                let style = self.theme.dim().add_modifier(Modifier::ITALIC);
                for line in reasoning.lines() {
                    self.push(Line::styled(format!("  {line}"), style), false, false);
                }
            }
        }
        for line in markdown::lines(&turn.text, self.theme) {
            self.push(line, false, false);
        }
        for tool in &turn.tools {
            self.tool(tool, open);
        }
        self.push(Line::default(), false, false);
    }

    fn head(&mut self, agent: &str, turn: &Turn, zone: &jiff::tz::TimeZone) {
        let theme = self.theme;
        let bold = Modifier::BOLD;
        let who = match (turn.role, &turn.subagent) {
            (_, Some(subagent)) => Span::styled(format!("sub-agent {subagent}"), theme.style(Role::AccentAlt)),
            (Speaker::User, None) => Span::styled("you", theme.accent().add_modifier(bold)),
            (Speaker::Assistant, None) => Span::styled("agent", theme.agent(agent).add_modifier(bold)),
            (Speaker::System, None) => Span::styled("note", theme.muted()),
        };
        let mut facts = Vec::new();
        facts.extend(
            turn.at
                .as_deref()
                .and_then(|at| at.parse::<jiff::Timestamp>().ok())
                .map(|at| at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()),
        );
        facts.extend(turn.model.clone());
        facts.extend(turn.tokens.map(|tokens| format!("{} tokens", human::count(tokens.total()))));
        self.push(Line::from(vec![who, Span::styled(format!("  {}", facts.join(" · ")), theme.muted())]), true, false);
    }

    fn tool(&mut self, tool: &ToolUse, open: bool) {
        let theme = self.theme;
        let (sign, style) = match tool.ok {
            Some(false) => ("✗", theme.style(Role::Error)),
            Some(true) => ("✓", theme.style(Role::Ok)),
            None => ("·", theme.muted()),
        };
        let name = if tool.name.is_empty() { "tool" } else { &tool.name };
        let mut head = vec![
            Span::styled(if open { "▾ " } else { "▸ " }, theme.muted()),
            Span::styled(sign.to_owned(), style),
            Span::styled(format!(" {name}"), theme.style(Role::SynFunction)),
        ];
        if !open {
            let room = usize::from(self.width).saturating_sub(paint::text_width(name) + 8);
            let gist = super::gist(&tool.input);
            let gist = paint::fit(&gist, u16::try_from(room).unwrap_or(u16::MAX)).into_owned();
            head.push(Span::styled(format!("  {gist}"), theme.dim()));
            self.push(Line::from(head), false, true);
            return;
        }
        self.push(Line::from(head), false, true);
        let input = pretty(&tool.input);
        let output = tool.output.as_deref().unwrap_or_default();
        for (words, style) in [(input.as_str(), theme.dim()), (output, theme.style(Role::Fg))] {
            let all = words.lines().count();
            for line in words.lines().take(TOOL_ROWS) {
                self.push(Line::styled(format!("    {line}"), style), false, false);
            }
            if all > TOOL_ROWS {
                let more = format!("    … {} more lines", all - TOOL_ROWS);
                self.push(Line::styled(more, theme.muted()), false, false);
            }
        }
    }
}

/// JSON over several lines; anything else as it is.
fn pretty(input: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(input) else { return input.to_owned() };
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    fields
        .iter()
        .map(|(name, field)| format!("{}: {}", sys::text::clean(name), sys::text::clean_lines(&value(field))))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Shows where `needle` (lower case) stands in a line.
fn marked(line: Line<'static>, needle: &str, theme: &Theme) -> Line<'static> {
    if needle.is_empty() {
        return line;
    }
    let mut spans = Vec::new();
    for span in line.spans {
        let style = line.style.patch(span.style);
        let (words, lower) = (span.content.as_ref(), span.content.to_lowercase());
        // Where lower case has another length its places mean nothing.
        if lower.len() != words.len() {
            spans.push(Span::styled(span.content.clone(), style));
            continue;
        }
        let mut from = 0;
        for (at, _) in lower.match_indices(needle) {
            let to = at + needle.len();
            let (Some(before), Some(hit)) = (words.get(from..at), words.get(at..to)) else { continue };
            spans.push(Span::styled(before.to_owned(), style));
            spans.push(Span::styled(hit.to_owned(), theme.matched()));
            from = to;
        }
        spans.push(Span::styled(words.get(from..).unwrap_or_default().to_owned(), style));
    }
    Line::from(spans)
}

/// Draws the transcript over the whole body.
pub fn draw(app: &App, reader: &Reader, buf: &mut Buffer, body: Rect) {
    let theme = &app.theme;
    let area = rows_area(body);
    if area.y > body.y {
        top(app, reader, buf, Rect { height: 1, ..body });
    }
    if let Some(why) = &reader.failed {
        paint::put_fit(buf, area.x, area.y, area.width, &format!("It cannot be read: {why}"), theme.style(Role::Error));
        return;
    }
    if reader.rows.is_empty() {
        let words = if reader.done { "Nothing was said." } else { "Reading…" };
        paint::put_fit(buf, area.x, area.y, area.width, words, theme.dim());
        return;
    }
    let current = reader.current();
    for (y, row) in (area.top()..area.bottom()).zip(reader.rows.iter().skip(reader.top)) {
        if row.turn == current {
            paint::put(buf, area.x, y, 1, "▌", theme.accent());
        }
        paint::put_line(
            buf,
            area.x + GUTTER.min(area.width),
            y,
            area.width.saturating_sub(GUTTER),
            &row.line,
            theme.style(Role::Fg),
        );
    }
}

/// The title, where one is in it, and the search.
fn top(app: &App, reader: &Reader, buf: &mut Buffer, area: Rect) {
    let theme = &app.theme;
    let turns = if reader.done { reader.turns.to_string() } else { format!("{}…", reader.turns) };
    if reader.rows.is_empty() {
        paint::put_fit(buf, area.x, area.y, area.width, &reader.title, theme.title());
        return;
    }
    let mut right = format!("turn {} of {turns}", reader.current().saturating_add(1).min(reader.turns.max(1)));
    if let Some(inside) = reader.inside.as_ref().filter(|inside| !inside.edit.is_empty() && !inside.typing) {
        let state = if inside.done { "" } else { "…" };
        right = format!("{}{state} turns hold it · {right}", inside.turns.len());
    }
    let wide = u16::try_from(paint::text_width(&right)).unwrap_or(u16::MAX).min(area.width);
    paint::put_fit(buf, area.right() - wide, area.y, wide, &right, theme.muted());
    let left = Rect { width: area.width.saturating_sub(wide + 1), ..area };
    match &reader.inside {
        Some(inside) if inside.typing => {
            widgets::input::draw(buf, left, "/", &inside.edit, "text in this transcript", theme)
        }
        Some(inside) if !inside.edit.is_empty() => {
            widgets::input::draw_still(buf, left, "/", inside.edit.text(), theme)
        }
        _ => {
            paint::put_fit(buf, left.x, left.y, left.width, &reader.title, theme.title());
        }
    }
}
