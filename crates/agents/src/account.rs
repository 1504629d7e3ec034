//! How an agent is paid for, as far as its files and its environment tell. Adapters answer; no value that opens a door is
//! ever kept: only whether one is there.

use crate::read::small_file;
use std::path::Path;

/// Who an agent's requests are billed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pays {
    /// Every token, with the key of an account at the maker of the model, at list prices.
    PerToken,
    /// A subscription: single requests have no price.
    Plan,
    /// Signed out, or somebody else's endpoint with prices of its own.
    Unknown,
}

/// The largest settings file that is looked into.
const LARGEST: u64 = 8 << 20;

/// The object in a JSON file of the agent, `None` when there is none.
pub(crate) fn settings(path: &Path) -> Option<serde_json::Map<String, serde_json::Value>> {
    let bytes = small_file(path, LARGEST)?;
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()?;
    match serde_json::from_str(text).ok()? {
        serde_json::Value::Object(map) => Some(map),
        _ => None,
    }
}

/// True when `key` is there and says something: a text that is not empty, or an object.
pub(crate) fn has(map: &serde_json::Map<String, serde_json::Value>, key: &str) -> bool {
    match map.get(key) {
        Some(serde_json::Value::String(text)) => !text.trim().is_empty(),
        Some(serde_json::Value::Object(inner)) => !inner.is_empty(),
        _ => false,
    }
}
