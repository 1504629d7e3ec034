//! A file per tab: what it shows, from `&App`. No I/O and no change of state; `app::views` draws them and `update`
//! asks them what is selected.

pub mod agents;
pub mod plugin;
pub mod plugins;

use ratatui::text::{Line, Span};
use tui::theme::Theme;

/// A line of a detail: a dim name in a column of its own, then the value.
fn field(theme: &Theme, name: &str, value: impl Into<String>) -> Line<'static> {
    Line::from(vec![Span::styled(format!("{name:NAME$} "), theme.dim()), Span::raw(value.into())])
}

/// Columns that a name takes, without the blank behind it.
const NAME: usize = 10;

/// Columns that are left for a value in a detail of `width`; at least enough to tell two paths apart.
fn field_room(width: u16) -> usize {
    usize::from(width).saturating_sub(NAME + 1).max(16)
}
