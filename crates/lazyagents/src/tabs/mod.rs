//! A file per tab: what it shows, from `&App`. No I/O and no change of state; `app::views` draws them and `update`
//! asks them what is selected.

pub mod agents;
pub mod hooks;
pub mod plugin;
pub mod plugins;
pub mod providers;
pub mod reader;
pub mod sessions;
pub mod usage;

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

/// What tells most of what a tool was asked, in the agents' formats (agent-formats.md).
const TELLING: [&str; 11] =
    ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt", "input"];

/// What a tool was given, in few words on one line: of JSON the value that tells most.
fn gist(input: &str) -> String {
    let words = match serde_json::from_str::<serde_json::Value>(input) {
        Ok(serde_json::Value::Object(fields)) => {
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match TELLING.iter().find_map(|key| fields.get(*key)) {
                Some(value) => text(value),
                None => fields.values().map(text).collect::<Vec<_>>().join("  "),
            }
        }
        _ => input.to_owned(),
    };
    let words: String = words.chars().take(1_000).collect();
    sys::text::clean(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}
