//! A plugin's tab: its frame while it lives, the reason when it failed (clauses F1, B6, B9). Its frames were
//! cleaned and clipped before they got here.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui::paint;
use tui::theme::Role;
use tui::widgets::scroll_text;

use crate::app::state::{App, Phase, PluginState};

/// Draws the tab into exactly `body`.
pub fn draw(app: &App, plugin: usize, buf: &mut Buffer, body: Rect) {
    let Some(state) = app.plugins.get(plugin) else { return };
    match &state.phase {
        Phase::Failed { .. } => {
            paint::fill(buf, body, app.theme.base());
            let lines = failure(app, state);
            scroll_text::draw(buf, failure_area(body), &lines, &state.scroll, "pgdown", &app.theme);
        }
        Phase::Starting | Phase::Running | Phase::Hidden => match &state.frame {
            Some(frame) if !frame.empty => paint::paint_lines(buf, body, &frame.lines, &app.theme),
            _ => {
                paint::fill(buf, body, app.theme.base());
                paint::put_fit(buf, body.x, body.y, body.width, "waiting for the plugin…", app.theme.muted());
            }
        },
    }
}

/// Where the failure is drawn.
pub fn failure_area(body: Rect) -> Rect {
    if body.width < 8 {
        return body;
    }
    Rect { x: body.x + 1, width: body.width - 2, ..body }
}

/// Everything there is to read about a failure.
pub fn failure(app: &App, state: &PluginState) -> Vec<Line<'static>> {
    let Phase::Failed { reason, stderr } = &state.phase else { return Vec::new() };
    let theme = &app.theme;
    let key = |id: &str, word: &str| {
        let key = app.keymap.keys_of(id).into_iter().next().unwrap_or_default();
        vec![Span::styled(key, theme.key()), Span::styled(format!(" {word}   "), theme.dim())]
    };
    let mut lines = vec![
        Line::styled(format!("{} could not go on", state.id), theme.style(Role::Error)),
        Line::from([key("failed.restart", "restart"), key("failed.log", "log"), key("app.help", "help")].concat()),
        Line::default(),
    ];
    lines.extend(reason.lines().map(|line| Line::raw(line.to_owned())));
    lines.push(Line::default());
    if stderr.trim().is_empty() {
        lines.push(Line::styled("It wrote nothing to stderr.", theme.muted()));
    } else {
        lines.push(Line::styled("── last lines of stderr ──", theme.muted()));
        lines.extend(stderr.trim_end().lines().map(|line| Line::raw(line.to_owned())));
    }
    lines
}
