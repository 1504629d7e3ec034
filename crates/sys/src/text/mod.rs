//! Text from outside becomes text that may be shown here: [`Untrusted`] cannot be drawn or printed until it
//! is [`Clean`]; views of plugins become styled runs in [`ansi`]. Pure; it never does I/O. Anyone may call it.

pub mod ansi;
mod clean;
mod fit;
#[doc(hidden)]
pub mod fuzz;
pub mod human;
mod scan;
mod sgr;

pub use clean::{Clean, Untrusted, clean, clean_bytes, clean_lines, is_hidden, json_safe, spelled};
pub use fit::{clip, elide_middle, take, wrap};

/// Scalars kept of one grapheme cluster; further marks are dropped, so that no cell holds unbounded text.
pub const MAX_CLUSTER: usize = 32;

/// Columns a string takes in a terminal, measured per grapheme cluster.
pub fn width(text: &str) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(cluster_width).sum()
}

/// Columns of one grapheme cluster.
fn cluster_width(cluster: &str) -> usize {
    if is_plain(cluster) {
        return cluster.len();
    }
    unicode_width::UnicodeWidthStr::width(cluster)
}

/// True for printable ASCII only: a byte is a cell.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::width;

    /// Report F3: emoji sequences, flags, variation selectors and marks measure as one cluster.
    #[test]
    fn width_counts_clusters_in_cells() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("界", 2),
            ("e\u{301}", 1),
            ("👩\u{200d}💻 fix", 6),
            ("🇧🇷", 2),
            ("⚠\u{fe0f}", 2),
            ("①─", 2),
            ("ｶ\u{FF9E}", 2),
            ("กำ", 2),
        ];
        for (text, cells) in table {
            assert_eq!(width(text), cells, "{text:?}");
        }
    }
}
