//! The clipboard through the terminal: OSC 52, the only way that also works over ssh. It never knows
//! whether the terminal obeyed, for there is no answer. Only `term` calls it.

/// The most that is copied, in bytes; terminals refuse more anyway.
pub(super) const MAX: usize = 1024 * 1024;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The sequence that asks the terminal to put `text` into the clipboard. Plain also inside tmux, which takes
/// it up itself (`set-clipboard`).
pub(super) fn sequence(text: &str) -> String {
    format!("\x1b]52;c;{}\x1b\\", base64(text.as_bytes()))
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| group.get(at).map_or(0, |byte| u32::from(*byte));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let six = (bits >> (18 - 6 * place)) & 63;
            let letter = if place <= group.len() { LETTERS[six as usize] } else { b'=' };
            text.push(char::from(letter));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd, 0xfb]), "//79+w==");
        assert_eq!(sequence("hi"), "\x1b]52;c;aGk=\x1b\\");
    }
}
