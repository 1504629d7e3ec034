//! A look at the bytes of a source that the store does not have: can it hold the words at all? Only reads. It errs on
//! the side of "may be"; who asks reads the source properly then.

use std::fs::File;
use std::io::Read;

use super::query::Needle;
use crate::sessions::{Kind, Source};

/// Bytes read at a time.
const WINDOW: usize = 1 << 20;
/// More than the longest match, kept from one window to the next.
const OVERLAP: usize = 4 << 10;

/// Reads files through one buffer that is used again.
pub(super) struct Look {
    buffer: Vec<u8>,
}

impl Look {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new() }
    }

    /// False when `source` surely lacks one of the words. `cancelled` is asked between windows; then the answer is
    /// false too.
    pub(super) fn may_hold(&mut self, source: &Source, needles: &[Needle], cancelled: &dyn Fn() -> bool) -> bool {
        if source.kind == Kind::Zstd {
            return true;
        }
        let mut wanted: Vec<_> = needles.iter().filter_map(|needle| needle.bytes.as_ref()).collect();
        let Ok(mut file) = File::open(&source.path) else { return false };
        self.buffer.resize(WINDOW, 0);
        let mut kept = 0;
        let mut first = true;
        while !wanted.is_empty() {
            if cancelled() {
                return false;
            }
            let Ok(read) = fill(&mut file, &mut self.buffer[kept..]) else { return false };
            let bytes = &self.buffer[..kept + read];
            // A database keeps long texts in pages that need not be neighbours.
            if first && bytes.starts_with(b"SQLite format 3\0") {
                return true;
            }
            first = false;
            wanted.retain(|needle| !needle.is_match(bytes));
            if kept + read < self.buffer.len() {
                break;
            }
            let end = self.buffer.len();
            self.buffer.copy_within(end - OVERLAP.., 0);
            kept = OVERLAP;
        }
        wanted.is_empty()
    }
}

/// Reads until `buffer` is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
