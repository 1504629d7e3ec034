//! The way back: what an undo would do is shown first, then it is done. The keys of every tab of ours lead here.

use std::sync::Arc;
use std::time::Instant;

use ratatui::text::Line;
use sys::text;
use tui::theme::Role;
use tui::widgets::confirm::Confirm;
use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::state::{App, Layer};
use crate::undo::Outcome;

/// Asks whether what was looked at is to be done.
pub(super) fn ahead(app: &mut App, outcome: Arc<Outcome>, now: Instant) -> Vec<Effect> {
    if app.layer.is_some() {
        app.toasts.push(Kind::Info, "the undo is ready; ask for it again", now);
        return Vec::new();
    }
    let path = |path: &std::path::Path| text::clean(&app.paths.short(path));
    let mut body = Vec::new();
    let (entry, effect, yes) = match &*outcome {
        Outcome::Undone { entry, files, .. } => {
            body.push(Line::styled(text::clean(&entry.what), app.theme.title()));
            for part in files {
                body.push(Line::raw(format!("{} {}", part.verb, path(&part.path))));
                body.extend(part.diff.iter().map(|line| difference(app, line)));
            }
            (entry, Effect::Undo { number: entry.id, merge: false }, "Undo")
        }
        Outcome::Blocked { entry, since } => {
            body.push(Line::styled(text::clean(&entry.what), app.theme.title()));
            for changed in since {
                body.push(Line::raw(format!("{} was changed since:", path(&changed.path))));
                body.extend(changed.diff.iter().map(|line| difference(app, line)));
                if let Some(why) = &changed.why {
                    body.push(Line::raw(text::clean(&format!("what it did cannot be taken out: {why}"))));
                }
            }
            if since.iter().any(|changed| changed.why.is_some()) {
                let lines = body.iter().map(ToString::to_string).collect();
                let title = format!("Undo {} cannot be done", entry.id);
                let scroll = tui::widgets::scroll_text::ScrollState::default();
                app.layer = Some(Layer::Text { title, lines, scroll });
                return Vec::new();
            }
            body.push(Line::default());
            body.push(Line::styled("Only what it had touched is taken back; the rest stays.", app.theme.dim()));
            (entry, Effect::Undo { number: entry.id, merge: true }, "Take back")
        }
    };
    let title = format!("Undo {}", entry.id);
    app.layer = Some(Layer::Confirm(Confirm::new(title, body, yes), Box::new(effect)));
    Vec::new()
}

/// A line of a diff, told by its sign and its colour.
pub(super) fn difference(app: &App, line: &str) -> Line<'static> {
    let style = match line.as_bytes().first() {
        Some(b'+') => app.theme.style(Role::Added),
        Some(b'-') => app.theme.style(Role::Removed),
        Some(b'@') => app.theme.dim(),
        _ => app.theme.base(),
    };
    Line::styled(format!("  {}", text::spelled(line)), style)
}
