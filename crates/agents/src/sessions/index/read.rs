//! Reads one source, from where it was left or from the beginning, in memory for a few lines.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::store::{self, Disk, Entry};
use crate::adapter::Adapter;
use crate::sessions::{Facts, Kind, Reader, Response, Source};

/// Bytes that are read at once.
const STEP: usize = 512 << 10;

/// The longest line that is handed on, bytes; a longer one is counted as left out.
const LONGEST: usize = 64 << 20;

/// Bytes at the beginning, and before the offset, that must still be there.
const TAIL: u64 = 256;

/// A line of more than this is read by one thread at a time, so that two of the longest never are in memory at once.
const BIG: usize = 8 << 20;

/// Held by the thread that reads a big line.
static ALONE: Mutex<()> = Mutex::new(());

/// A buffer that a thread uses for one file after the other.
#[derive(Debug, Default)]
pub(super) struct Buffer(Vec<u8>);

/// A source to be read: what was known of it, if anything.
pub(super) struct Todo {
    pub(super) adapter: &'static dyn Adapter,
    pub(super) source: Source,
    pub(super) before: Option<Entry>,
}

/// What a source says now; `None` when it has vanished. `disk` has the facts of what was known.
pub(super) fn entry(todo: Todo, disk: Option<&Disk>, dir: &Path, buffer: &mut Buffer) -> Option<Entry> {
    let Todo { adapter, source, before } = todo;
    let read = match source.kind {
        Kind::Whole => whole(adapter, &source, dir).map(|facts| (facts, source.size, 0)),
        Kind::Zstd => packed(adapter, &source, buffer),
        Kind::Lines => lines(adapter, &source, before.as_ref(), disk, buffer),
    };
    let agent = adapter.about().id;
    let new = |source, offset, tail, facts: Facts, failed| {
        let skipped = facts.skipped.clone();
        Entry { agent, source, offset, tail, skipped, failed, family: 0, place: None, facts: Some(facts), fresh: false }
    };
    match read {
        Ok((facts, offset, tail)) => Some(new(source, offset, tail, facts, None)),
        // Agents delete their own files; that is no fault.
        Err(_) if !source.path.exists() => None,
        // What was known of it stays, and it is read again next time: a database may only be locked at the moment.
        Err(why) => Some(match before {
            Some(earlier) => Entry { failed: Some(why), ..earlier },
            None => new(source, 0, 0, Facts::default(), Some(why)),
        }),
    }
}

type Gone = Result<(Facts, u64, u64), String>;

fn whole(adapter: &dyn Adapter, source: &Source, dir: &Path) -> Result<Facts, String> {
    let Some(reads) = adapter.reads() else { return Err("it cannot be read".to_owned()) };
    reads.read_whole(source, dir)
}

fn lines(
    adapter: &dyn Adapter,
    source: &Source,
    before: Option<&Entry>,
    disk: Option<&Disk>,
    buffer: &mut Buffer,
) -> Gone {
    let Some(reads) = adapter.reads() else { return Err("it cannot be read".to_owned()) };
    let failed = |error: std::io::Error| format!("{error}");
    let mut file = File::open(&source.path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    // One that has another time and did not grow may have been written anew within its old length.
    let grown = before.filter(|before| {
        before.failed.is_none() && before.source.inode == source.inode && before.source.size < source.size
    });
    let grown = grown.filter(|before| tail(&mut file, before.offset).is_ok_and(|tail| tail == before.tail));
    let grown = grown.and_then(|before| Some((before.offset, store::facts(disk, before)?)));
    let (offset, facts) = grown.map_or((0, None), |(offset, facts)| (offset, Some(facts)));
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut reader = reads.reader(source, facts);
    let (end, skipped) = feed(&mut file, offset, reader.as_mut(), buffer).map_err(failed)?;
    let mut facts = reader.finish();
    for at in skipped {
        facts.skip(at, "a line of more than 64 MiB");
    }
    let tail = tail(&mut file, end).map_err(failed)?;
    Ok((facts, end, tail))
}

fn packed(adapter: &dyn Adapter, source: &Source, buffer: &mut Buffer) -> Gone {
    let Some(reads) = adapter.reads() else { return Err("it cannot be read".to_owned()) };
    let file = File::open(&source.path).map_err(|error| error.to_string())?;
    let mut unpacked = Frames { packed: Some(BufReader::new(file)), frame: None };
    let mut reader = reads.reader(source, None);
    let (end, skipped) =
        feed(&mut unpacked, 0, reader.as_mut(), buffer).map_err(|error| format!("it cannot be unpacked: {error}"))?;
    let mut facts = reader.finish();
    for at in skipped {
        facts.skip(at, "a line of more than 64 MiB");
    }
    Ok((facts, end, 0))
}

/// What a zstd file holds: one frame behind the other, as a program that appends writes them.
struct Frames {
    packed: Option<BufReader<File>>,
    frame: Option<ruzstd::decoding::StreamingDecoder<BufReader<File>, ruzstd::decoding::FrameDecoder>>,
}

impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let got = frame.read(into)?;
                if got > 0 || into.is_empty() {
                    return Ok(got);
                }
                self.packed = self.frame.take().map(ruzstd::decoding::StreamingDecoder::into_inner);
            }
            let Some(mut packed) = self.packed.take() else { return Ok(0) };
            if packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(ruzstd::decoding::StreamingDecoder::new(packed).map_err(std::io::Error::other)?);
        }
    }
}

/// The first bytes of the file and the last ones before `offset`, hashed.
fn tail(file: &mut File, offset: u64) -> std::io::Result<u64> {
    let length = offset.min(TAIL);
    let (mut first, mut last) = (vec![0; usize::try_from(length).unwrap_or(0)], Vec::new());
    last.resize(first.len(), 0);
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut first)?;
    file.seek(SeekFrom::Start(offset - length))?;
    file.read_exact(&mut last)?;
    first.extend_from_slice(&last);
    Ok(Response::key(&first))
}

/// Hands all whole lines to `reader`. Where they ended, and where lines began that are too long.
fn feed(
    file: &mut dyn Read,
    start: u64,
    reader: &mut dyn Reader,
    Buffer(buffer): &mut Buffer,
) -> std::io::Result<(u64, Vec<u64>)> {
    // Its bytes beyond `filled` are old ones: zeroing them for every small file would cost more than reading it.
    if buffer.len() < STEP {
        buffer.resize(STEP, 0);
    }
    let (mut at, mut filled, mut skipped, mut passing) = (start, 0, Vec::new(), false);
    let mut alone = None;
    loop {
        if filled == buffer.len() {
            // A little beyond the longest line, to see that one is longer.
            let longer = buffer.len().saturating_mul(2).min(LONGEST + STEP);
            if longer > BIG && alone.is_none() {
                alone = Some(ALONE.lock().unwrap_or_else(PoisonError::into_inner));
            }
            buffer.resize(longer, 0);
        }
        let got = match file.read(&mut buffer[filled..]) {
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if got == 0 {
            break;
        }
        let end = memchr::memrchr(b'\n', &buffer[filled..filled + got]).map(|end| filled + end + 1);
        filled += got;
        let Some(end) = end else {
            if passing || filled > LONGEST {
                if !passing {
                    skipped.push(at);
                }
                passing = true;
                at += filled as u64;
                filled = 0;
            }
            continue;
        };
        let mut from = 0;
        if passing {
            from = memchr::memchr(b'\n', &buffer[..end]).map_or(end, |first| first + 1);
            passing = false;
        }
        if from < end {
            reader.lines(&buffer[from..end], at + from as u64);
        }
        at += end as u64;
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
    // The last line has no end: it waits for its rest, but for a whole record that nobody may ever end.
    let rest = &buffer[..filled];
    if !passing && rest.trim_ascii().ends_with(b"}") && serde_json::from_slice::<serde::de::IgnoredAny>(rest).is_ok() {
        reader.lines(rest, at);
        at += filled as u64;
    }
    if buffer.len() > 8 * STEP {
        *buffer = Vec::new();
    }
    drop(alone);
    Ok((at, skipped))
}
