//! Text from outside becomes text that may be shown here: [`Untrusted`] cannot be drawn or printed until it
//! is [`Clean`]; views of plugins become styled runs in [`ansi`]. Pure; it never does I/O. Anyone may call it.

pub mod ansi;
pub mod human;

/// Columns a string takes in a terminal, measured per grapheme cluster.
pub fn width(text: &str) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    text.graphemes(true).map(unicode_width::UnicodeWidthStr::width).sum()
}
