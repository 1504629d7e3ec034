//! What is drawn when the window is too small for a screen of ours.
//! It never decides what too small is.
//! The frame around all tabs and the browser call it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::paint::{fill, line_width, put_line};
use crate::theme::Theme;
use crate::widgets::wrap::wrap_text;

/// Says that a window of the size `has` is smaller than `needed` (columns, rows), as much of it as fits.
pub fn draw(buf: &mut Buffer, area: Rect, has: (u16, u16), needed: (u16, u16), theme: &Theme) {
    let area = area.intersection(buf.area);
    fill(buf, area, theme.base());
    let text = format!("The window is too small: it has {}x{}, this needs {}x{}.", has.0, has.1, needed.0, needed.1);
    // the shorter the better where the sentence does not fit
    let forms = [text, format!("too small, needs {}x{}", needed.0, needed.1), format!("{}x{}", needed.0, needed.1)];
    let rows = forms.iter().map(|form| wrap_text(form, area.width, theme.base()));
    let fits = |lines: &Vec<_>| lines.len() <= usize::from(area.height);
    let lines = rows.into_iter().reduce(|best, next| if fits(&best) { best } else { next }).unwrap_or_default();
    let used = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.height);
    let top = area.y + (area.height - used) / 2;
    for (y, line) in (top..area.bottom()).zip(&lines) {
        let width = u16::try_from(line_width(line)).unwrap_or(u16::MAX).min(area.width);
        put_line(buf, area.x + (area.width - width) / 2, y, area.width, line, theme.base());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, shot};

    #[test]
    fn looks() {
        let theme = Theme::default();
        let mut out = String::new();
        for (width, height) in [(39, 11), (30, 3), (60, 1), (20, 2), (12, 1), (6, 1), (5, 9), (3, 2), (1, 3), (1, 1)] {
            out +=
                &shot(width, height, &theme, |buf, area| draw(buf, area, (area.width, area.height), (40, 12), &theme));
            out += "\n";
        }
        insta::assert_snapshot!(out);
    }

    proptest! {
        #[test]
        fn stays_inside(area in areas(), columns in any::<u16>(), rows in any::<u16>()) {
            check_inside(area, |buf, area| draw(buf, area, (area.width, area.height), (columns, rows), &Theme::default()));
        }
    }
}
