//! Entries in chunks: how text lies in the store. Pure. A chunk is about 64 KiB of entries, compressed, with a filter
//! of its trigrams beside it.

use super::fold::Filter;
use crate::sessions::Speaker;

/// A chunk is closed when it has this many bytes.
const FULL: usize = 64 << 10;
/// The longest text of one entry; a longer one becomes several, each of which repeats [`OVERLAP`] bytes of the next.
const LONGEST: usize = 256 << 10;
/// More than the longest match.
const OVERLAP: usize = 4 << 10;
/// No chunk unpacks to more than this.
const UNPACKED: usize = FULL + LONGEST + OVERLAP + (64 << 10);
/// Bytes of a tool's name that are kept.
const TOOL: usize = 200;

/// One text as it lies in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// Its turn, within its source.
    pub(super) turn: u64,
    /// Who said it.
    pub(super) speaker: Speaker,
    /// The tool that was called or answered; empty for words.
    pub(super) tool: &'a str,
    /// The text.
    pub(super) text: &'a str,
    /// Matches that begin behind this many bytes belong to the next entry.
    pub(super) own: usize,
}

/// A finished chunk.
pub(super) struct Chunk {
    /// The first and the last turn in it.
    pub(super) turns: (u64, u64),
    /// Compressed.
    pub(super) packed: Vec<u8>,
    /// Its trigrams.
    pub(super) filter: Vec<u8>,
}

/// Makes chunks of entries.
pub(super) struct Chunker {
    raw: Vec<u8>,
    turns: Option<(u64, u64)>,
    filter: Filter,
}

impl Chunker {
    pub(super) fn new() -> Self {
        Self { raw: Vec::with_capacity(FULL + (8 << 10)), turns: None, filter: Filter::new() }
    }

    /// Adds a text; `done` gets the chunks that are full.
    pub(super) fn add(&mut self, turn: u64, speaker: Speaker, tool: &str, text: &str, done: &mut dyn FnMut(Chunk)) {
        for entry in split(turn, speaker, tool, text) {
            self.filter.add(entry.text);
            entry.write(&mut self.raw);
            let (first, last) = self.turns.unwrap_or((turn, turn));
            self.turns = Some((first.min(turn), last.max(turn)));
            if self.raw.len() >= FULL {
                self.end(done);
            }
        }
    }

    /// Closes the chunk that is open.
    pub(super) fn end(&mut self, done: &mut dyn FnMut(Chunk)) {
        if let Some(turns) = self.turns.take() {
            let packed = lz4_flex::compress_prepend_size(&self.raw);
            done(Chunk { turns, packed, filter: self.filter.take() });
            self.raw.clear();
        }
    }
}

/// The entries that a text becomes: one, unless it is very long.
pub(super) fn split<'a>(turn: u64, speaker: Speaker, tool: &'a str, text: &'a str) -> impl Iterator<Item = Entry<'a>> {
    let tool = &tool[..tool.floor_char_boundary(TOOL)];
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let own = rest.floor_char_boundary(LONGEST);
        let end = rest.floor_char_boundary(own + OVERLAP);
        at += own;
        // The last one: what overlaps would be all that is left, so it is taken now.
        if end == rest.len() {
            at = text.len();
            return Some(Entry { turn, speaker, tool, text: rest, own: rest.len() });
        }
        Some(Entry { turn, speaker, tool, text: &rest[..end], own })
    })
}

impl<'a> Entry<'a> {
    fn write(&self, raw: &mut Vec<u8>) {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        raw.extend(self.turn.to_le_bytes());
        raw.extend(number(self.text.len()));
        raw.extend(number(self.own));
        raw.push(match self.speaker {
            Speaker::User => 0,
            Speaker::Assistant => 1,
            Speaker::System => 2,
        });
        raw.push(u8::try_from(self.tool.len()).unwrap_or(0));
        raw.extend(self.tool.as_bytes());
        raw.extend(self.text.as_bytes());
    }

    fn read(raw: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (turn, raw) = raw.split_first_chunk::<8>()?;
        let (length, raw) = raw.split_first_chunk::<4>()?;
        let (own, raw) = raw.split_first_chunk::<4>()?;
        let ([speaker, tool], raw) = raw.split_first_chunk::<2>()?;
        let (tool, raw) = raw.split_at_checked(usize::from(*tool))?;
        let (text, raw) = raw.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let speaker = match speaker {
            0 => Speaker::User,
            1 => Speaker::Assistant,
            _ => Speaker::System,
        };
        let entry = Self {
            turn: u64::from_le_bytes(*turn),
            speaker,
            tool: std::str::from_utf8(tool).ok()?,
            text: std::str::from_utf8(text).ok()?,
            own: usize::try_from(u32::from_le_bytes(*own)).ok()?,
        };
        Some((entry, raw))
    }
}

/// Unpacks a chunk into `raw` and hands out its entries. False when it is damaged; what came before stands.
pub(super) fn unpack(packed: &[u8], raw: &mut Vec<u8>, each: &mut dyn FnMut(Entry<'_>)) -> bool {
    let Some((size, packed)) = packed.split_first_chunk::<4>() else { return false };
    let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
    if size > UNPACKED {
        return false;
    }
    raw.resize(size, 0);
    if !lz4_flex::decompress_into(packed, raw).is_ok_and(|unpacked| unpacked == size) {
        return false;
    }
    let mut rest = raw.as_slice();
    while !rest.is_empty() {
        let Some((entry, after)) = Entry::read(rest) else { return false };
        each(entry);
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_text_is_split_with_an_overlap_and_nothing_is_lost() {
        let text = "äöü-".repeat(200_000);
        let entries: Vec<_> = split(3, Speaker::User, "", &text).collect();
        assert!(entries.len() > 3);
        let whole: String = entries.iter().map(|entry| &entry.text[..entry.own]).collect();
        assert_eq!(whole, text);
        assert!(entries.windows(2).all(|two| two[1].text.starts_with(&two[0].text[two[0].own..])));
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(texts in proptest::collection::vec("\\PC{0,300}", 0..40)) {
            let (mut chunker, mut chunks) = (Chunker::new(), Vec::new());
            for (at, text) in texts.iter().enumerate() {
                chunker.add(at as u64, Speaker::System, "Bash", text, &mut |chunk| chunks.push(chunk));
            }
            chunker.end(&mut |chunk| chunks.push(chunk));
            let mut got = Vec::new();
            for chunk in &chunks {
                let whole = unpack(&chunk.packed, &mut Vec::new(), &mut |entry| {
                    assert_eq!((entry.speaker, entry.tool), (Speaker::System, "Bash"));
                    got.push(entry.text.to_owned());
                });
                prop_assert!(whole);
            }
            let wanted: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
            prop_assert_eq!(got, wanted);
        }

        #[test]
        fn damaged_chunks_are_refused_quietly(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            unpack(&bytes, &mut Vec::new(), &mut |_| {});
        }
    }
}
