//! The Sessions tab: the conversations of all agents, what is known of one, and what a search found in it
//! (lazyagents.md, Sessions). The transcript of one is drawn by `reader`.

use std::time::{Duration, UNIX_EPOCH};

use agents::sessions::Session;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use sys::text::{self, human};
use tui::paint;
use tui::theme::Role;
use tui::widgets::list::{Align, Column, Row, Table, Width};

use super::{field, reader};
use crate::app::sessions::{Entry, Search, Sort};
use crate::app::shelf::{SessionLine, Shelf};
use crate::app::state::App;
use crate::app::views;

/// The columns of the list.
pub fn columns() -> Vec<Column> {
    vec![
        Column::new("", Width::Fixed(1)),
        Column::new("AGENT", Width::Fixed(8)),
        Column::new("PROJECT", Width::Flex { min: 8, weight: 1 }).drop(2),
        Column::new("SESSION", Width::Flex { min: 14, weight: 7 }),
        Column::new("USED", Width::Fixed(10)).align(Align::Right).drop(1),
        Column::new("TOKENS", Width::Fixed(6)).align(Align::Right).drop(3),
    ]
}

/// How many rows there are.
pub fn len(app: &App) -> usize {
    app.sessions.entries.len()
}

fn shelf(app: &App) -> Option<&Shelf> {
    app.sessions.shelf.as_deref()
}

/// The session under the cursor.
pub fn selected(app: &App) -> Option<(&SessionLine, &Session)> {
    let at = app.sessions.selected()?;
    let shelf = shelf(app)?;
    Some((shelf.lines.get(at)?, shelf.session(at)?))
}

/// What `y` copies: the agent's own id.
pub fn selected_id(app: &App) -> Option<String> {
    selected(app).map(|(line, _)| text::clean(&line.key.1))
}

/// How long ago, for people; empty where it is not known.
pub fn ago(app: &App, at: Option<i64>) -> String {
    let time = |at: i64| u64::try_from(at).ok().map(|at| UNIX_EPOCH + Duration::from_millis(at));
    match (at.and_then(time), time(app.wall)) {
        (Some(then), Some(now)) => human::ago(then, now),
        _ => String::new(),
    }
}

/// A word short enough for a column: `claude` of `claude-code`.
pub fn short_agent(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

fn row(app: &App, entry: &Entry) -> Row {
    let theme = &app.theme;
    let Some(shelf) = shelf(app) else { return Row::default() };
    let at = match entry {
        Entry::Project(name, count) => {
            return Row { heading: true, ..Row::new([Line::raw(format!("{name}  {count}"))]) };
        }
        Entry::Session(at) => *at,
    };
    let Some(line) = shelf.lines.get(at) else { return Row::default() };
    let live = if line.live { Span::styled("●", theme.style(Role::Ok)) } else { Span::raw(" ") };
    let title = if line.title.is_empty() {
        Span::styled("(nothing was typed)", theme.muted())
    } else if line.named {
        Span::styled(line.title.clone(), theme.style(Role::AccentAlt))
    } else {
        Span::raw(line.title.clone())
    };
    let cells = [
        Line::from(live),
        Line::styled(short_agent(line.key.0).to_owned(), theme.agent(line.key.0)),
        Line::styled(line.folder.clone(), theme.dim()),
        Line::from(title),
        Line::styled(ago(app, line.updated), theme.dim()),
        Line::raw(human::count(line.tokens)),
    ];
    Row { marked: app.sessions.marked.contains(&line.key), ..Row::new(cells) }
}

/// The detail of the session under the cursor.
pub fn detail(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let Some((line, session)) = selected(app) else {
        return match app.sessions.entries.get(app.sessions.tab.list.selected) {
            Some(Entry::Project(name, count)) => {
                vec![
                    Line::styled(name.clone(), theme.title()),
                    Line::default(),
                    field(theme, "sessions", count.to_string()),
                ]
            }
            _ => Vec::new(),
        };
    };
    let title = if line.title.is_empty() { "(nothing was typed)" } else { &line.title };
    let mut lines = vec![Line::styled(title.to_owned(), theme.title()), Line::default()];
    lines.extend(excerpts(app));
    let mut add = |name: &str, value: String| lines.push(field(theme, name, value));
    if line.live {
        add("state", "open in its agent now".to_owned());
    }
    add("agent", line.agent.to_owned());
    add("folder", if line.cwd.is_empty() { "not recorded".to_owned() } else { line.cwd.clone() });
    if let Some(branch) = &session.branch {
        add("branch", text::clean(branch));
    }
    let stamp = |at: Option<i64>| at.and_then(|at| exact(app, at)).unwrap_or_else(|| "not recorded".to_owned());
    add("used", stamp(session.updated));
    add("began", stamp(session.started));
    let number = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut counts = vec![number(session.prompts, "prompt"), number(session.tool_calls, "tool")];
    if session.failed_tool_calls > 0 {
        counts.push(format!("{} failed", session.failed_tool_calls));
    }
    if session.subagents > 0 {
        counts.push(number(session.subagents, "sub-agent"));
    }
    if session.compactions > 0 {
        counts.push(number(session.compactions, "compaction"));
    }
    add("holds", counts.join(" · "));
    if !session.models.is_empty() {
        add("models", text::clean(&session.models.join(", ")));
    }
    let tokens = session.usage();
    let kinds = [
        ("in", tokens.input),
        ("cache read", tokens.cache_read),
        ("cache write", tokens.cache_write),
        ("out", tokens.output),
    ];
    let kinds: Vec<String> =
        kinds.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {}", human::count(*n))).collect();
    add("tokens", if kinds.is_empty() { "none recorded".to_owned() } else { kinds.join(" · ") });
    if session.archived {
        add("archived", "by its agent".to_owned());
    }
    add("id", text::clean(&session.id));
    if let Some(path) = session.path() {
        add("file", text::clean(&app.paths.short(path)));
    }
    if let Some(command) = resume_command(session) {
        add("resume", text::clean(&command.join(" ")));
    }
    if let Some(prompt) = session.first_prompt.as_deref().filter(|prompt| prompt.trim() != line.title) {
        lines.push(Line::default());
        lines.push(Line::styled("first prompt", theme.dim()));
        lines.extend(text::clean_lines(prompt).lines().take(30).map(|line| Line::raw(line.to_owned())));
    }
    lines
}

/// The command that opens a session again.
pub fn resume_command(session: &Session) -> Option<Vec<String>> {
    agents::adapter::by_id(session.agent).and_then(agents::Adapter::reads)?.resume(&session.id)
}

/// A time in the person's zone, to the minute.
pub fn exact(app: &App, at: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(at).ok()?;
    Some(time.to_zoned_datetime(app.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string())
}

/// What the search found in the session under the cursor.
fn excerpts(app: &App) -> Vec<Line<'static>> {
    let theme = &app.theme;
    let Some(find) = app.sessions.selected_find() else { return Vec::new() };
    let times = if find.hits == 1 { "once".to_owned() } else { format!("{} times", human::count(find.hits)) };
    let mut lines = vec![Line::styled(format!("found {times}; v reads it there"), theme.dim())];
    for (turn, who, words) in &find.excerpts {
        lines.push(Line::from(vec![Span::styled(format!("{who} {turn}  "), theme.muted()), Span::raw(words.clone())]));
    }
    lines.push(Line::default());
    lines
}

/// Draws the tab.
pub fn draw(app: &App, buf: &mut Buffer, body: Rect) {
    if let Some(reading) = &app.sessions.reader {
        return reader::draw(app, reading, buf, body);
    }
    let columns = columns();
    let make = |index: usize| app.sessions.entries.get(index).map_or_else(Row::default, |entry| row(app, entry));
    let table = Table { columns: &columns, len: len(app), rows: &make, empty: &empty(app), focused: true };
    views::draw_split(app, buf, &columns, &table, &detail(app));
}

fn empty(app: &App) -> String {
    let sessions = &app.sessions;
    if sessions.search.as_ref().is_some_and(|search| !search.edit.is_empty()) {
        return match sessions.search.as_ref().and_then(|search| search.end.as_ref()) {
            None => "Searching…".to_owned(),
            Some(end) => end.problem.clone().unwrap_or_else(|| "Nobody said that.  esc ends the search".to_owned()),
        };
    }
    match &sessions.shelf {
        None => "Looking for sessions…".to_owned(),
        Some(shelf) if shelf.lines.is_empty() && !shelf.complete => "Reading sessions…".to_owned(),
        Some(shelf) if shelf.lines.is_empty() => {
            "No sessions yet.  What you say to a coding agent on this machine is listed here".to_owned()
        }
        Some(_) => "No session matches.  esc clears the filter, f shows all agents".to_owned(),
    }
}

/// The row above the list: what is filtered or searched, and how far the reading is.
pub fn draw_top(app: &App, buf: &mut Buffer, area: Rect) {
    let theme = &app.theme;
    let sessions = &app.sessions;
    let right = status(app);
    let wide = u16::try_from(paint::text_width(&right)).unwrap_or(u16::MAX).min(area.width);
    let x = area.right() - wide;
    paint::put_fit(buf, x, area.y, wide, &right, theme.muted());
    let left = Rect { width: area.width.saturating_sub(wide + 1), ..area };
    match &sessions.search {
        Some(Search { typing: true, edit, .. }) => {
            tui::widgets::input::draw(
                buf,
                left,
                "said: ",
                edit,
                "words, \"a phrase\", agent: project: since: role: tool:",
                theme,
            );
        }
        Some(Search { edit, .. }) => tui::widgets::input::draw_still(buf, left, "said: ", edit.text(), theme),
        None if sessions.tab.filtering => {
            tui::widgets::input::draw(buf, left, "/", &sessions.tab.filter, "", theme);
        }
        None if !sessions.tab.filter.text().is_empty() => {
            tui::widgets::input::draw_still(buf, left, "/", sessions.tab.filter.text(), theme);
        }
        None => {
            let mut chips: Vec<String> = Vec::new();
            chips.extend(sessions.agent.map(|agent| format!("{agent} only")));
            chips.extend(sessions.grouped.then(|| "by project".to_owned()));
            chips.extend((sessions.sort != Sort::Recent).then(|| sessions.sort.words().to_owned()));
            paint::put_fit(buf, left.x, left.y, left.width, &chips.join(" · "), theme.dim());
        }
    }
}

/// The right end of that row.
fn status(app: &App) -> String {
    let sessions = &app.sessions;
    if let Some(search) = sessions.search.as_ref().filter(|search| !search.edit.is_empty()) {
        let found = format!("{} found", search.found.len());
        return match &search.end {
            None => format!("{found}, searching…"),
            Some(end) if end.problem.is_some() && end.searched.1 == 0 => String::new(),
            Some(end) if end.more => format!("the first {found}"),
            Some(end) if end.searched.0 < end.searched.1 => {
                let (some, all) = (human::count(end.searched.0), human::count(end.searched.1));
                format!("{found}; {some} of {all} sessions are ready to be searched")
            }
            Some(_) => found,
        };
    }
    if let Some((done, of)) = sessions.reading.files {
        return format!("reading {} of {} files", human::count(done as u64), human::count(of as u64));
    }
    let mut words = Vec::new();
    if !sessions.marked.is_empty() {
        words.push(format!("{} marked", sessions.marked.len()));
    }
    if let Some(shelf) = shelf(app) {
        let (lines, files) = shelf.skipped;
        if lines > 0 || files > 0 {
            words.push(format!("{} lines in {files} files could not be read", human::count(lines)));
        }
    }
    words.join(" · ")
}
