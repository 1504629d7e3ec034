//! The journal's file: lines that are only appended, each with its fsync. A line that cannot be read is counted, never an
//! end: a process that was killed while it wrote leaves half of one.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::{Mode, fault, make_private_dir, open_append, parent, read_bounded, sync_folder, write_atomic};
use super::{Entry, History, State};
use crate::Failure;

/// The version of the lines.
const VERSION: u32 = 1;
/// The longest journal that is read, bytes.
const MAX: usize = 64 << 20;
/// A journal longer than this is written anew, bytes, with as many entries as [`KEPT`].
const LONG: usize = 2 << 20;
/// Entries that stay when it is written anew.
const KEPT: usize = 400;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    #[serde(flatten)]
    says: Says,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Says {
    /// A new entry.
    Entry(Entry),
    /// How far an earlier one has come.
    State { id: u64, to: State },
}

pub(super) fn load(path: &Path) -> Result<History, Failure> {
    let Some(bytes) = read_bounded(path, MAX)? else { return Ok(History::default()) };
    let mut history = read(&bytes);
    if bytes.len() > LONG {
        let surplus = history.entries.len().saturating_sub(KEPT);
        history.entries.drain(..surplus);
    }
    Ok(history)
}

/// What the lines say. A state without its entry is one that was left out when the journal was written anew.
pub(super) fn read(bytes: &[u8]) -> History {
    let mut history = History::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        match serde_json::from_slice(line) {
            Ok(Line { v: VERSION, says: Says::Entry(entry) })
                if history.entries.last().is_none_or(|last| last.id < entry.id) =>
            {
                history.entries.push(entry);
            }
            Ok(Line { v: VERSION, says: Says::State { id, to } }) => {
                if let Ok(at) = history.entries.binary_search_by_key(&id, |entry| entry.id) {
                    history.entries[at].state = to;
                }
            }
            _ => history.skipped += 1,
        }
    }
    history
}

pub(super) fn append(path: &Path, entry: &Entry) -> Result<(), Failure> {
    write_line(path, &Line { v: VERSION, says: Says::Entry(entry.clone()) }, true)
}

pub(super) fn append_state(path: &Path, id: u64, to: State) -> Result<(), Failure> {
    // That a change is done can be seen from its files: a power cut that takes this line along harms nobody.
    write_line(path, &Line { v: VERSION, says: Says::State { id, to } }, to != State::Done)
}

fn write_line(path: &Path, line: &Line, lasting: bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io("write", path, &error);
    let text = serde_json::to_string(line).map_err(|error| Failure::new("could not write the journal").cause(error))?;
    make_private_dir(parent(path))?;
    let new = !path.exists();
    let torn = ends_torn(path).map_err(failed)?;
    let mut file = open_append(path).map_err(failed)?;
    let mut bytes = Vec::with_capacity(text.len() + 2);
    if torn {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(b'\n');
    fault::point("the journal").map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    if lasting {
        file.sync_all().map_err(failed)?;
    }
    if new {
        sync_folder(parent(path));
    }
    Ok(())
}

/// The last line has no end: its process was killed, or the disk was full.
fn ends_torn(path: &Path) -> std::io::Result<bool> {
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Writes a long journal anew with its newest entries, each in the state it is in now.
pub(super) fn shorten(path: &Path, history: &History) -> Result<(), Failure> {
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if length <= LONG as u64 {
        return Ok(());
    }
    let mut text = String::new();
    for entry in history.entries.iter().skip(history.entries.len().saturating_sub(KEPT)) {
        let line = Line { v: VERSION, says: Says::Entry(entry.clone()) };
        let line = serde_json::to_string(&line);
        text.push_str(&line.map_err(|error| Failure::new("could not write the journal").cause(error))?);
        text.push('\n');
    }
    write_atomic(path, text.as_bytes(), Mode::Private).map(drop)
}
