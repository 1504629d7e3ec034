//! The plugin protocols as types: what a host and a plugin say to each other, how a line is read and written.
//! It does no I/O and draws nothing. Both programs, and authors of plugins in Rust, call it.
//!
//! `plugin` is lazyagents' protocol v1 (JSON Lines over stdin and stdout); `hook` is the hook protocol of `ez`.

pub mod hook;
pub mod plugin;

mod decode;
mod encode;

pub use decode::{Invalid, decode};
pub use encode::{MAX_LINE, encode, exec_result_that_fits, paste};

/// Bodies of property tests and fuzz targets; not part of the interface.
#[doc(hidden)]
pub mod fuzz {
    /// Any bytes decode to something or to a reason, never a panic, and a reason never shows control characters.
    pub fn decode_is_total(line: &[u8]) {
        if let Err(invalid) = crate::decode(line) {
            assert!(!invalid.to_string().is_empty());
        }
    }

    /// An answer of a hook plugin is read or refused with a reason.
    pub fn answer_is_total(bytes: &[u8]) {
        if let Err(why) = crate::hook::Response::read(bytes) {
            assert!(!why.to_string().is_empty());
        }
    }

    /// A paste comes out whole, and no line of it passes the limit.
    pub fn paste_is_whole(text: &str) {
        let mut back = String::new();
        for message in crate::paste(text) {
            assert!(crate::encode(&message).len() <= crate::MAX_LINE + 1);
            if let crate::plugin::HostMessage::Paste { text } = message {
                back.push_str(&text);
            }
        }
        assert_eq!(back, text);
    }
}
