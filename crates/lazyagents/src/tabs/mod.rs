//! A file per tab: what it shows, from `&App`. No I/O and no change of state; `app::views` draws them and `update`
//! asks them what is selected.

pub mod agents;
pub mod plugin;
pub mod plugins;

use ratatui::text::{Line, Span};
use tui::theme::Theme;

/// A line of a detail: a dim name in a column of its own, then the value.
fn field(theme: &Theme, name: &str, value: impl Into<String>) -> Line<'static> {
    Line::from(vec![Span::styled(format!("{name:9} "), theme.dim()), Span::raw(value.into())])
}
