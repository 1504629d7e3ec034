//! The parts screens are made of: each draws plain state into a `Buffer` and `Rect` with a `&Theme`, and says where its
//! parts lie by the same pure layout that drawing uses, so that the mouse hits what is seen.
//! No widget does I/O, reads a clock or keeps anything but its own state; none panics or draws outside its area.
//! Views of both programs call them; keys arrive as the names of clause K1 (`up`, `pgdown`, `ctrl+n`, `enter`).

pub mod confirm;
pub mod footer;
pub mod help;
pub mod input;
pub mod layer;
pub mod list;
pub mod palette;
pub mod prompt;
pub mod scroll_text;
pub mod tabbar;
pub mod toast;
pub mod too_small;
pub mod wrap;

#[cfg(test)]
pub(crate) mod testing;
