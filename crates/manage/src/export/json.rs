//! The object of `sessions show --json`, written while it is read: one turn a line. `export` calls it.

use std::io::{self, Write};

use agents::sessions::rows::{SessionRow, Turn};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::mask::Count;

pub(super) fn head(to: &mut dyn Write, row: &SessionRow) -> io::Result<()> {
    writeln!(to, "{{")?;
    if let Value::Object(fields) = serde_json::to_value(row)? {
        for (name, value) in fields {
            writeln!(to, "  {}: {value},", Value::String(name))?;
        }
    }
    write!(to, "  \"turns\": [")
}

pub(super) fn turn(to: &mut dyn Write, number: u64, turn: &Turn) -> io::Result<()> {
    write!(to, "{}\n    ", if number == 1 { "" } else { "," })?;
    serde_json::to_writer(to, turn)?;
    Ok(())
}

pub(super) fn end(to: &mut dyn Write, at: Timestamp, masked: Option<&Count>) -> io::Result<()> {
    let masked = masked.map(|count| json!({ "total": count.total(), "kinds": count.kinds() }));
    write!(to, "\n  ],\n  \"masked\": {},\n", masked.unwrap_or(Value::Null))?;
    writeln!(to, "  \"exported\": {}\n}}", json!(at))
}
