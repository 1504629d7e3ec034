//! The files that hold conversations, as the disk describes them. Values only: nothing is opened here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Lines that are only ever appended; read from where the last reading ended.
    Lines,
    /// Lines in a compressed file that nobody appends to (`.jsonl.zst`); read once, the reader sees plain lines.
    Zstd,
    /// Read as a whole whenever it changed: a JSON document, a database.
    Whole,
}

/// The id of an agent, the adapter's own.
pub type AgentId = &'static str;

/// One file (or database) that holds conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file, absolute. Its bytes need not be UTF-8.
    #[serde(with = "path")]
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

    /// The regular file of an entry of a folder (links followed), or `None` when it is not one: one question to the
    /// disk, and none that follows the whole path again.
    pub(crate) fn of_entry(entry: &std::fs::DirEntry, kind: Kind) -> Option<Self> {
        let link = entry.file_type().ok()?.is_symlink();
        let meta = if link { std::fs::metadata(entry.path()).ok()? } else { entry.metadata().ok()? };
        meta.is_file().then(|| Self::of(entry.path(), kind, &meta))
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

/// A path as its bytes.
pub(crate) mod path {
    use std::ffi::OsString;
    use std::fmt;
    use std::path::PathBuf;

    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub(crate) fn serialize<S: Serializer>(path: &std::path::Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(path.as_os_str().as_encoded_bytes())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        struct Seen;
        impl Visitor<'_> for Seen {
            type Value = PathBuf;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<PathBuf, E> {
                path_of(bytes).ok_or_else(|| E::custom("not a path of this system"))
            }
        }
        from.deserialize_bytes(Seen)
    }

    #[cfg(unix)]
    #[allow(clippy::unnecessary_wraps)]
    fn path_of(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes.to_vec())))
    }

    #[cfg(not(unix))]
    fn path_of(bytes: &[u8]) -> Option<PathBuf> {
        std::str::from_utf8(bytes).ok().map(|text| PathBuf::from(OsString::from(text)))
    }
}

/// The id of an agent of ours.
pub(crate) mod agent {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use crate::adapter::by_id;

    pub(crate) fn serialize<S: Serializer>(agent: &str, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(agent)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
        let id = <&str>::deserialize(from)?;
        by_id(id).map(|adapter| adapter.about().id).ok_or_else(|| D::Error::custom("no agent that is known"))
    }
}
