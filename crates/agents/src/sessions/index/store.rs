//! The file of the index: a version, a checksum, and every entry. What cannot be read back is as good as none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Mode};

use crate::adapter::by_id;
use crate::sessions::{Facts, Kind, Response, Source};

/// Changed whenever an older file would be read wrongly: a field, an adapter's way of counting.
const VERSION: &[u8] = b"lazyagents index 3\n";

/// One source and what it says.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) agent: &'static str,
    pub(super) source: Source,
    /// Bytes that have been read: the rest is half a line.
    pub(super) offset: u64,
    /// The first bytes and those before `offset`, hashed: a file that has others there is another one.
    pub(super) tail: u64,
    pub(super) facts: Facts,
    /// Why nothing could be read.
    pub(super) failed: Option<String>,
}

impl Entry {
    /// Nothing has changed since.
    pub(super) fn is_of(&self, source: &Source) -> bool {
        self.source == *source && self.failed.is_none()
    }
}

#[derive(Deserialize)]
struct Stored {
    agent: String,
    path: Vec<u8>,
    kind: Kind,
    size: u64,
    mtime: i128,
    inode: u64,
    archived: bool,
    offset: u64,
    tail: u64,
    facts: Facts,
}

fn file(dir: &Path) -> PathBuf {
    dir.join("sessions.bin")
}

/// The entries that were saved; none when there is no file, or one that is not whole.
pub(super) fn load(dir: &Path) -> Vec<Entry> {
    const LARGEST: usize = 4 << 30;
    let Ok(Some(bytes)) = files::read_bounded(&file(dir), LARGEST) else { return Vec::new() };
    let Some((check, body)) = bytes.strip_prefix(VERSION).and_then(|rest| rest.split_first_chunk::<8>()) else {
        return Vec::new();
    };
    if u64::from_le_bytes(*check) != sum(body) {
        return Vec::new();
    }
    let Ok(stored) = postcard::from_bytes::<Vec<Stored>>(body) else { return Vec::new() };
    stored.into_iter().filter_map(entry).collect()
}

fn entry(stored: Stored) -> Option<Entry> {
    let agent = by_id(&stored.agent)?.about().id;
    let Stored { path, kind, size, mtime, inode, archived, offset, tail, facts, .. } = stored;
    let source = Source { path: path_of(path)?, kind, size, mtime, inode, archived };
    Some(Entry { agent, source, offset, tail, facts, failed: None })
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(|text| PathBuf::from(OsString::from(text)))
}

/// As [`Stored`], of what is in memory: the same bytes without a copy of everything.
#[derive(Serialize)]
struct Storing<'a> {
    agent: &'a str,
    path: &'a [u8],
    kind: Kind,
    size: u64,
    mtime: i128,
    inode: u64,
    archived: bool,
    offset: u64,
    tail: u64,
    facts: &'a Facts,
}

/// Replaces the file; another process at the same time wins or loses as a whole.
pub(super) fn save(dir: &Path, entries: &[Entry]) -> Result<(), Failure> {
    let stored: Vec<Storing<'_>> = entries
        .iter()
        // One that has never been read has nothing to keep.
        .filter(|entry| entry.failed.is_none() || entry.facts != Facts::default())
        .map(|entry| Storing {
            agent: entry.agent,
            path: entry.source.path.as_os_str().as_encoded_bytes(),
            kind: entry.source.kind,
            size: entry.source.size,
            mtime: entry.source.mtime,
            inode: entry.source.inode,
            archived: entry.source.archived,
            offset: entry.offset,
            tail: entry.tail,
            facts: &entry.facts,
        })
        .collect();
    let failed = |error: postcard::Error| Failure::new("the index has no form on disk").cause(error);
    let body = postcard::to_stdvec(&stored).map_err(failed)?;
    let mut bytes = Vec::with_capacity(VERSION.len() + 8 + body.len());
    bytes.extend_from_slice(VERSION);
    bytes.extend_from_slice(&sum(&body).to_le_bytes());
    bytes.extend_from_slice(&body);
    files::make_private_dir(dir)?;
    files::write_atomic(&file(dir), &bytes, Mode::Private).map(drop)
}

/// A checksum against damage, eight bytes at a time: the file may have hundreds of megabytes.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mixed = words.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |sum, word| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
    });
    mixed ^ Response::key(rest)
}
