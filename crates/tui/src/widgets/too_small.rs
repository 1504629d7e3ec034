//! stub
use crate::theme::Theme;
use ratatui::{buffer::Buffer, layout::Rect};
/// x
pub fn draw(buf: &mut Buffer, area: Rect, _s: (u16, u16), theme: &Theme) {
    crate::paint::put_fit(buf, area.x, area.y, area.width, "too small", theme.base());
}
