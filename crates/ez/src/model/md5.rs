//! MD5 of a short text, and the names zellij knows sessions by (ez-behaviour.md, 2: the encoding ends in four hex
//! digits of it when the name had to be cut). Not for security. Finding the current session calls it.

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest (RFC 1321).
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    let bits = u64::try_from(bytes.len()).unwrap_or(0).wrapping_mul(8);
    padded.extend_from_slice(&bits.to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let mut words = [0_u32; 16];
        for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = four.iter().rev().fold(0, |sum, byte| (sum << 8) | u32::from(*byte));
        }
        round(&mut state, &words);
    }
    let mut out = [0; 16];
    for (four, word) in out.chunks_exact_mut(4).zip(state) {
        four.copy_from_slice(&word.to_le_bytes());
    }
    out
}

#[allow(clippy::many_single_char_names, reason = "the names of RFC 1321")]
fn round(state: &mut [u32; 4], words: &[u32; 16]) {
    let [mut a, mut b, mut c, mut d] = *state;
    for i in 0..64_usize {
        let (f, g) = match i / 16 {
            0 => ((b & c) | (!b & d), i),
            1 => ((d & b) | (!d & c), (5 * i + 1) % 16),
            2 => (b ^ c ^ d, (3 * i + 5) % 16),
            _ => (c ^ (b | !d), (7 * i) % 16),
        };
        let constant = constant(i);
        let sum = a.wrapping_add(f).wrapping_add(constant).wrapping_add(words[g]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d]) {
        *old = old.wrapping_add(new);
    }
}

/// floor(2^32 * |sin(i + 1)|), as the RFC defines its table.
fn constant(i: usize) -> u32 {
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 2^32"
    )]
    {
        (((i + 1) as f64).sin().abs() * 4_294_967_296.0).floor() as u32
    }
}

/// The name zellij's plugin gives the session `name` of a repository in a folder called `repo`.
pub fn zellij_name(repo: &str, name: &str) -> String {
    let full = format!("{repo}__{name}");
    full.bytes()
        .map(|b| if b.is_ascii_alphanumeric() || b == b'-' || b == b'_' { char::from(b) } else { '_' })
        .collect()
}

/// True when `current` is that name, whole or cut: any beginning, `_`, four hex digits of the MD5 of the whole.
pub fn is_zellij_name(current: &str, repo: &str, name: &str) -> bool {
    let full = zellij_name(repo, name);
    if current == full {
        return true;
    }
    let [first, second, ..] = md5(full.as_bytes());
    let Some(cut) = current.strip_suffix(&format!("_{first:02x}{second:02x}")) else { return false };
    full.starts_with(cut) || zellij_name("", name).trim_start_matches("__").starts_with(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        md5(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_vectors_of_the_rfc() {
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let long = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(hex(long), "57edf4a22be3c955ac49da2e2107b67a");
    }

    #[test]
    fn whole_and_cut_names_of_zellij() {
        assert_eq!(zellij_name("repo", "feat.z"), "repo__feat_z");
        assert!(is_zellij_name("repo__feat_z", "repo", "feat.z"));
        assert!(!is_zellij_name("repo__feat", "repo", "feat.z"));
    }
}
