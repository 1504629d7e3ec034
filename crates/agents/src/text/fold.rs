//! Case folding for the filters, and their hashed trigrams. Pure. What the matcher takes for equal whatever the case
//! has equal trigrams here; more may be equal, since a filter may only say "surely not".

/// Adds `text`, folded, to `out`.
pub(super) fn fold_into(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len());
    let mut rest = text;
    loop {
        let bytes = rest.as_bytes();
        let ascii = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
        out.extend(bytes[..ascii].iter().map(u8::to_ascii_lowercase));
        rest = &rest[ascii..];
        let Some(first) = rest.chars().next() else { return };
        let folded = fold_char(first);
        out.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[first.len_utf8()..];
    }
}

/// One for all characters that differ only in case (simple case folding).
fn fold_char(c: char) -> char {
    match c {
        // Their upper case in one character folds elsewhere, or they fold to a letter whose upper case is several.
        '\u{1e9e}' => 'ß',
        '\u{0345}' | '\u{1fbe}' => 'ι',
        '\u{1fd3}' => '\u{0390}',
        '\u{1fe3}' => '\u{03b0}',
        '\u{fb06}' => '\u{fb05}',
        _ => lower(upper(lower(c))),
    }
}

fn lower(c: char) -> char {
    single(c.to_lowercase()).unwrap_or(c)
}

fn upper(c: char) -> char {
    single(c.to_uppercase()).unwrap_or(c)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// The hash of a trigram, 16 bits.
#[inline]
pub(super) fn hash(a: u8, b: u8, c: u8) -> u16 {
    let gram = u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16;
    (gram.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// The hashes of the trigrams of `word`, each once.
pub(super) fn grams(word: &str) -> Vec<u16> {
    let mut folded = Vec::new();
    fold_into(word, &mut folded);
    let mut grams: Vec<u16> = folded.windows(3).map(|gram| hash(gram[0], gram[1], gram[2])).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Which trigrams occur in a text.
pub(super) struct Filter {
    bits: Box<[u8; 8192]>,
    folded: Vec<u8>,
}

impl Filter {
    pub(super) fn new() -> Self {
        Self { bits: Box::new([0; 8192]), folded: Vec::new() }
    }

    /// Adds the trigrams of `text`.
    pub(super) fn add(&mut self, text: &str) {
        self.folded.clear();
        fold_into(text, &mut self.folded);
        for gram in self.folded.windows(3) {
            let hash = hash(gram[0], gram[1], gram[2]);
            self.bits[usize::from(hash >> 3)] |= 1 << (hash & 7);
        }
    }

    /// The filter, as small as keeps at most about a fifth of its bits set; then starts anew.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let set: u32 = self.bits.iter().map(|byte| byte.count_ones()).sum();
        let mut bytes = self.bits.len();
        while bytes > 32 && (set as usize) * 10 < bytes * 8 {
            bytes /= 2;
        }
        let mut small = vec![0; bytes];
        for part in self.bits.chunks(bytes) {
            small.iter_mut().zip(part).for_each(|(to, from)| *to |= from);
        }
        self.bits.fill(0);
        small
    }
}

/// False when a text with this filter surely lacks one of `grams`. A filter that is damaged says "may be".
pub(super) fn may_hold(filter: &[u8], grams: &[u16]) -> bool {
    if !filter.len().is_power_of_two() {
        return true;
    }
    let mask = filter.len() - 1;
    grams.iter().all(|hash| filter[usize::from(hash >> 3) & mask] & (1 << (hash & 7)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::RegexBuilder;

    #[test]
    fn whatever_the_matcher_takes_for_equal_folds_to_the_same() {
        // Every character that has a case, against all that the matcher finds for it.
        let cased: Vec<char> = (0..=0x0010_ffff_u32)
            .filter_map(char::from_u32)
            .filter(|c| lower(*c) != *c || upper(*c) != *c || c.to_uppercase().count() > 1 || *c == '\u{0345}')
            .collect();
        assert!(cased.len() > 2_000);
        let all: String = cased.iter().collect();
        for c in cased {
            let finder = RegexBuilder::new(&regex::escape(&c.to_string())).case_insensitive(true).build().unwrap();
            for found in finder.find_iter(&all) {
                let other = found.as_str().chars().next().unwrap();
                assert_eq!(fold_bytes(c), fold_bytes(other), "{c} {other}");
            }
        }
    }

    fn fold_bytes(c: char) -> Vec<u8> {
        let mut out = Vec::new();
        fold_into(&c.to_string(), &mut out);
        out
    }

    #[test]
    fn a_filter_knows_what_is_in_it_and_little_else() {
        let mut filter = Filter::new();
        filter.add("The quick brown fox jumps over the lazy dog");
        let small = filter.take();
        assert!(small.len() <= 64);
        assert!(may_hold(&small, &grams("BROWN fox")));
        assert!(!may_hold(&small, &grams("zyzzyva quartz lantern")));
        assert!(may_hold(&small, &grams("zz")));
        assert!(!may_hold(&filter.take(), &grams("fox")));
    }
}
