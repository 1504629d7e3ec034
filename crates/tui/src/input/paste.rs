//! The inside of a bracketed paste: collects bytes until `ESC [ 201 ~`, across reads, each byte looked at
//! once. It never changes what was pasted and never treats any of it as a key. Only `input` calls it.

/// What ends a paste.
const END: &[u8] = b"\x1b[201~";
/// The most that is kept of one paste, in bytes; what comes after is thrown away up to its end.
const MAX_PASTE: usize = 64 * 1024 * 1024;

/// A paste under way.
#[derive(Debug, Default)]
pub(super) struct Paste {
    text: Vec<u8>,
    /// How many bytes of [`END`] the last bytes match. It repeats its first byte nowhere, so a mismatch can
    /// only start again at that byte.
    matched: usize,
}

impl Paste {
    /// Takes bytes up to the end of the paste or of `bytes`: how many, and whether the paste ended.
    pub(super) fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.matched == 0 {
                let run = memchr::memchr(0x1b, rest).unwrap_or(rest.len());
                self.keep(rest.get(..run).unwrap_or_default());
                at += run;
                if run < rest.len() {
                    self.matched = 1;
                    at += 1;
                }
                continue;
            }
            if rest.first() == END.get(self.matched) {
                self.matched += 1;
                at += 1;
                if self.matched == END.len() {
                    return (at, true);
                }
            } else {
                self.unmatch();
            }
        }
        (at, false)
    }

    /// The text, lossily decoded; ready for the next paste. A half-written end is no part of it.
    pub(super) fn finish(&mut self) -> String {
        self.matched = 0;
        let bytes = std::mem::take(&mut self.text);
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// What looked like the beginning of the end was text.
    fn unmatch(&mut self) {
        let matched = std::mem::take(&mut self.matched);
        self.keep(END.get(..matched).unwrap_or_default());
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_PASTE.saturating_sub(self.text.len()).min(bytes.len());
        self.text.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_the_end_are_text() {
        let mut paste = Paste::default();
        let bytes = b"a\x1b[\x1b[20\x1b\x1b[201z\x1b[201~rest";
        assert_eq!(paste.take(bytes), (bytes.len() - 4, true));
        assert_eq!(paste.finish(), "a\x1b[\x1b[20\x1b\x1b[201z");
    }

    #[test]
    fn what_is_too_long_is_cut_and_still_ends() {
        let mut paste = Paste::default();
        let chunk = vec![b'x'; MAX_PASTE / 2 + 1];
        for _ in 0..3 {
            assert_eq!(paste.take(&chunk), (chunk.len(), false));
        }
        assert_eq!(paste.take(END), (END.len(), true));
        assert_eq!(paste.finish().len(), MAX_PASTE);
        assert_eq!(paste.take(b"b\x1b[201~"), (7, true));
        assert_eq!(paste.finish(), "b");
    }
}
