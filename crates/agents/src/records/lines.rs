//! Files of lines, one record a line: split at `\n` alone (a JSON string may hold U+2028), a BOM and zeroed blocks
//! passed over, broken UTF-8 replaced. It reads; `records` and the adapters call it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

/// The longest line that is told, bytes; a longer one is passed over.
const LONGEST: u64 = 64 << 20;

/// The lines of `chunk`, each with its offset in the file, where `at` is that of the chunk. Line ends are left out.
pub(crate) fn of(chunk: &[u8], at: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', chunk).chain((!chunk.ends_with(b"\n")).then_some(chunk.len()));
    ends.filter_map(move |end| {
        let line = (at + start as u64, chunk.get(start..end)?);
        start = end + 1;
        Some(line)
    })
    .filter(move |(_, line)| !(line.is_empty() && chunk.is_empty()))
}

/// The text of a line; `None` when it has none. What is not UTF-8 becomes U+FFFD.
///
/// # Errors
/// In words for people, when the line is a block of zeroes, which a crash leaves.
pub(crate) fn decode(line: &[u8]) -> Result<Option<Cow<'_, str>>, &'static str> {
    let mut line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.first() == Some(&0) {
        let zeroes = line.iter().take_while(|byte| **byte == 0).count();
        line = line[zeroes..].trim_ascii();
        if line.is_empty() {
            return Err("a block of zero bytes");
        }
    }
    // Nearly all lines are UTF-8, which is seen much faster than it is mended.
    Ok((!line.is_empty())
        .then(|| std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)))
}

/// Hands the lines of the file at `path` to `each`, from byte `from` on, in memory for one line, with their offsets.
/// Lines without a readable text are passed over, and what follows the last line end when it is no whole record.
///
/// # Errors
/// In words for people, when the file cannot be read.
pub(crate) fn each(path: &Path, from: u64, mut each: impl FnMut(u64, &str) -> ControlFlow<()>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{}: not a regular file", path.display()));
    }
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut file = BufReader::with_capacity(256 << 10, file);
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        let read = (&mut file).take(LONGEST).read_until(b'\n', &mut line).map_err(failed)? as u64;
        if read == 0 {
            return Ok(());
        }
        if read == LONGEST && !line.ends_with(b"\n") {
            at += read + skip_line(&mut file).map_err(failed)?;
            line.shrink_to(0);
            continue;
        }
        if let Ok(Some(text)) = decode(&line)
            && each(at, &text).is_break()
        {
            return Ok(());
        }
        at += read;
    }
}

/// Reads up to and with the next line end; how many bytes that was.
fn skip_line(file: &mut impl BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let bytes = file.fill_buf()?;
        let (used, done) = match memchr::memchr(b'\n', bytes) {
            Some(end) => (end + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        file.consume(used);
        skipped += used as u64;
        if done {
            return Ok(skipped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_feeds_alone() {
        let chunk = "a\u{2028}b\u{85}c\r\n\nd".as_bytes();
        let lines: Vec<_> = of(chunk, 10).map(|(at, line)| (at, String::from_utf8_lossy(line).into_owned())).collect();
        assert_eq!(lines[0], (10, "a\u{2028}b\u{85}c\r".to_owned()));
        assert_eq!(lines[2].1, "d");
        assert_eq!(lines.len(), 3);
        assert_eq!((of(b"", 0).count(), of(b"\n", 0).count(), of(b"a\n", 0).count()), (0, 1, 1));
    }

    #[test]
    fn marks_and_zeroes_before_a_record_are_passed_over() {
        assert_eq!(decode(b"\xef\xbb\xbf{}\r").unwrap().unwrap(), "{}");
        assert_eq!(decode(b"\0\0\0{}").unwrap().unwrap(), "{}");
        assert_eq!(decode(b"a\xe2\x82").unwrap().unwrap(), "a\u{fffd}");
        assert!(decode(b"\0\0").is_err() && decode(b" \r").unwrap().is_none());
    }

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn a_file_is_read_from_any_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "one\n\nthree\nlast").unwrap();
        let told = |from| {
            let mut told = Vec::new();
            each(&path, from, |at, line| {
                told.push((at, line.to_owned()));
                ControlFlow::Continue(())
            })
            .unwrap();
            told
        };
        assert_eq!(told(0), [(0, "one".to_owned()), (5, "three".to_owned()), (11, "last".to_owned())]);
        assert_eq!(told(5), told(0)[1..]);
        assert!(told(999).is_empty());
    }
}
