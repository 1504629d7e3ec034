//! The files that hold conversations, as the disk describes them. Values only: nothing is opened here.

use std::path::{Path, PathBuf};

/// How a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// Lines that are only ever appended; read from where the last reading ended.
    Lines,
    /// Lines in a compressed file that nobody appends to (`.jsonl.zst`); read once, the reader sees plain lines.
    Zstd,
    /// Read as a whole whenever it changed: a JSON document, a database.
    Whole,
}

/// One file (or database) that holds conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, absolute. Its bytes need not be UTF-8.
    pub path: PathBuf,
    /// How it is read.
    pub kind: Kind,
    /// Bytes. For a database: of it and its write-ahead log.
    pub size: u64,
    /// Last change, nanoseconds since 1970. For a database: the later of it and its write-ahead log.
    pub mtime: i128,
    /// The file's number on its disk: another number under the same name is another file. 0 where there is none.
    pub inode: u64,
    /// The file lies in the agent's archive.
    pub archived: bool,
}

impl Source {
    /// The regular file at `path` (links followed) as a source, or `None` when it is not one.
    pub fn at(path: &Path, kind: Kind) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        meta.is_file().then(|| Self::of(path.to_owned(), kind, &meta))
    }

    /// A source from what the disk said of it already.
    pub fn of(path: PathBuf, kind: Kind, meta: &std::fs::Metadata) -> Self {
        let mtime = match meta.modified().map(|at| at.duration_since(std::time::UNIX_EPOCH)) {
            Ok(Ok(after)) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Ok(Err(before)) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
            Err(_) => 0,
        };
        Self { path, kind, size: meta.len(), mtime, inode: inode(meta), archived: false }
    }
}

#[cfg(unix)]
fn inode(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_meta: &std::fs::Metadata) -> u64 {
    0
}
