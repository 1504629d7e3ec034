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

/// Tells two lists of sources apart: in both lists everything is the same when this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Print([u64; 2]);

impl Print {
    /// Of sources in their order: every agent, a word beside it, name, size, time and number.
    pub(crate) fn of<'a>(sources: impl Iterator<Item = (&'a str, &'a str, &'a Source)>) -> Self {
        let mut print = Self([0x9e37_79b9_7f4a_7c15, 0x2545_f491_4f6c_dd1d]);
        for (agent, word, source) in sources {
            print.text(agent.as_bytes());
            print.text(word.as_bytes());
            print.text(source.path.as_os_str().as_encoded_bytes());
            let time = source.mtime.to_le_bytes();
            time.as_chunks::<8>().0.iter().for_each(|word| print.word(u64::from_le_bytes(*word)));
            for word in [source.size, source.inode, source.kind as u64, u64::from(source.archived)] {
                print.word(word);
            }
        }
        print
    }

    /// Its bytes.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.iter().flat_map(|lane| lane.to_le_bytes()).collect()
    }

    fn text(&mut self, text: &[u8]) {
        let (words, rest) = text.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(text.len() as u64);
    }

    fn word(&mut self, word: u64) {
        let [one, other] = &mut self.0;
        *one = (*one ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
        *other = (other.rotate_left(23) ^ word).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
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
