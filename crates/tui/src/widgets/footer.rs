//! The footer: keys that do something now, the way to help and back that is never cut off, or a toast.
//! It never knows what a key does; it is told key and word, and says which columns belong to which.
//! The frame around all tabs, layers and the browser call it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::paint::{fill, put, put_fit, text_width};
use crate::theme::Theme;
use crate::widgets::toast::Toast;

/// Columns between two hints.
const GAP: usize = 2;

/// What the footer shows; plain references, made anew for each frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Footer<'a> {
    /// Key and word of what can be done, the most important first.
    pub hints: &'a [(&'a str, &'a str)],
    /// Key and word of help and of the way back, at the right; never cut off.
    pub kept: &'a [(&'a str, &'a str)],
    /// What the symbols in the list mean; shown only when there is room. May be empty.
    pub legend: &'a str,
    /// Stands before the hints, in the place of those that do not fit, and of the legend.
    pub toast: Option<&'a Toast>,
}

/// Where everything is, in columns from the left edge of the footer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FooterLayout {
    /// The columns of each hint shown, with its index.
    pub hints: Vec<(Range<u16>, usize)>,
    /// The columns of each kept hint shown, with its index.
    pub kept: Vec<(Range<u16>, usize)>,
    /// False when the kept hints are reduced to their keys.
    pub kept_words: bool,
    /// Where the legend begins, if it is shown.
    pub legend: Option<u16>,
    /// Columns that a toast may use.
    pub toast: Range<u16>,
}

impl FooterLayout {
    /// The hint at a column: `Ok` an index of `hints`, `Err` one of `kept`.
    pub fn hint_at(&self, x: u16) -> Option<Result<usize, usize>> {
        let at = |zones: &[(Range<u16>, usize)]| zones.iter().find(|(zone, _)| zone.contains(&x)).map(|(_, i)| *i);
        at(&self.hints).map(Ok).or_else(|| at(&self.kept).map(Err))
    }
}

impl Footer<'_> {
    /// Where everything goes in `width` columns: kept hints at the right, the others from the left, dropped from the
    /// middle until they fit. Kept hints lose their words first, then the one that is not last.
    pub fn layout(&self, width: u16) -> FooterLayout {
        let margin = usize::from(width >= 12);
        let room = usize::from(width).saturating_sub(2 * margin);
        let mut kept: Vec<usize> = (0..self.kept.len()).collect();
        let mut words = true;
        if span(self.kept, &kept, true) > room {
            words = false;
            while kept.len() > 1 && span(self.kept, &kept, false) > room {
                kept.remove(0);
            }
        }
        // What is told is worth more than the words behind keys that are always there.
        let told = self.toast.map_or(0, |toast| text_width(toast.kind.sign()) + 1 + text_width(&toast.text) + 2 * GAP);
        if told > 0 && words && margin + told + span(self.kept, &kept, true) > room {
            words = false;
        }
        let kept_width = span(self.kept, &kept, words).min(room);
        let right = margin + room - kept_width;
        let end = if kept_width > 0 { right.saturating_sub(GAP).max(margin) } else { right };
        // A toast comes first; what it leaves is for the hints.
        let start = (margin + told).min(end);
        let mut hints: Vec<usize> = (0..self.hints.len()).collect();
        while !hints.is_empty() && start + span(self.hints, &hints, true) > end {
            hints.remove(hints.len() / 2);
        }
        let used = start + span(self.hints, &hints, true);
        let legend = text_width(self.legend);
        // the legend needs all hints to be there: it is the first to go
        let fits = legend > 0 && told == 0 && hints.len() == self.hints.len() && used + 2 * GAP + legend <= end;
        FooterLayout {
            hints: place(self.hints, &hints, true, start, end),
            kept: place(self.kept, &kept, words, right, margin + room),
            kept_words: words,
            legend: fits.then(|| columns(end - legend)),
            toast: columns(margin)..columns(if hints.is_empty() { end } else { start.saturating_sub(GAP) }),
        }
    }

    /// Draws the footer into the first row of `area`.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buf.area);
        let area = Rect { height: area.height.min(1), ..area };
        if area.is_empty() {
            return;
        }
        fill(buf, area, theme.base());
        let layout = self.layout(area.width);
        if let Some(toast) = self.toast {
            let style = toast.kind.style(theme);
            let room = layout.toast.end.saturating_sub(layout.toast.start);
            let x = area.x + layout.toast.start;
            let sign = put(buf, x, area.y, room, toast.kind.sign(), style.add_modifier(Modifier::BOLD));
            if room > sign + 1 {
                put_fit(buf, x + sign + 1, area.y, room - sign - 1, &toast.text, style);
            }
        }
        draw_hints(buf, area, &layout.hints, self.hints, true, theme);
        if let Some(x) = layout.legend {
            put(buf, area.x + x, area.y, area.width - x, self.legend, theme.muted());
        }
        draw_hints(buf, area, &layout.kept, self.kept, layout.kept_words, theme);
    }
}

fn draw_hints(
    buf: &mut Buffer,
    area: Rect,
    zones: &[(Range<u16>, usize)],
    hints: &[(&str, &str)],
    words: bool,
    theme: &Theme,
) {
    for (zone, index) in zones {
        let (key, word) = hints[*index];
        let room = zone.end - zone.start;
        let used = put(buf, area.x + zone.start, area.y, room, key, theme.key());
        if words && room > used + 1 {
            put(buf, area.x + zone.start + used + 1, area.y, room - used - 1, word, theme.dim());
        }
    }
}

/// Columns of one hint.
fn hint_width((key, word): (&str, &str), words: bool) -> usize {
    let word = if words && !word.is_empty() { 1 + text_width(word) } else { 0 };
    text_width(key) + word
}

/// Columns of some hints side by side.
fn span(all: &[(&str, &str)], shown: &[usize], words: bool) -> usize {
    shown.iter().map(|i| hint_width(all[*i], words)).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// Puts hints side by side from `start`, never beyond `end`.
fn place(all: &[(&str, &str)], shown: &[usize], words: bool, start: usize, end: usize) -> Vec<(Range<u16>, usize)> {
    let mut x = start;
    let mut out = Vec::with_capacity(shown.len());
    for &i in shown {
        let until = (x + hint_width(all[i], words)).min(end);
        out.push((columns(x.min(end))..columns(until), i));
        x = until + GAP;
    }
    out
}

fn columns(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, shot, styled_shot, texts, themes};
    use crate::widgets::toast::{Kind, Toasts};

    const HINTS: &[(&str, &str)] = &[
        ("space", "toggle"),
        ("a", "all"),
        ("x", "none"),
        ("i", "install"),
        ("u", "update"),
        ("/", "filter"),
        (":", "commands"),
        ("z", "undo"),
    ];
    const KEPT: &[(&str, &str)] = &[("?", "help"), ("esc", "back")];

    fn footer() -> Footer<'static> {
        Footer { hints: HINTS, kept: KEPT, legend: "● ours ◆ shared ▪ local", toast: None }
    }

    #[expect(clippy::disallowed_methods, reason = "any instant will do; it is never compared")]
    fn toast(kind: Kind, text: &str) -> Toast {
        let mut toasts = Toasts::default();
        toasts.push(kind, text, Instant::now());
        toasts.current().cloned().unwrap()
    }

    #[test]
    fn looks() {
        let theme = Theme::default();
        let mut out = String::new();
        for width in [130, 120, 100, 80, 60, 40, 24, 18, 14, 10, 6, 3, 1] {
            out += &shot(width, 1, &theme, |buf, area| footer().draw(buf, area, &theme));
        }
        let toast = toast(Kind::Err, "pdf could not be removed: ~/.codex/skills/pdf is not ours  z undo");
        for width in [100, 60, 40, 12, 2] {
            let footer = Footer { toast: Some(&toast), ..footer() };
            out += &shot(width, 1, &theme, |buf, area| footer.draw(buf, area, &theme));
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let ok = toast(Kind::Ok, "enabled 漢字 for codex  z undo");
        let mut out = String::new();
        for theme in themes() {
            out += &styled_shot(70, 1, &theme, |buf, area| footer().draw(buf, area, &theme));
            out += &styled_shot(60, 1, &theme, |buf, area| {
                Footer { toast: Some(&ok), ..footer() }.draw(buf, area, &theme)
            });
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn a_click_finds_its_hint() {
        let layout = footer().layout(100);
        assert_eq!(layout.hint_at(1), Some(Ok(0)));
        assert_eq!(layout.hint_at(99), None);
        assert_eq!(layout.hint_at(98), Some(Err(1)));
        assert_eq!(layout.hint_at(layout.kept[0].0.start), Some(Err(0)));
    }

    #[test]
    fn help_and_the_way_back_stay_whole() {
        for width in 18..200 {
            let layout = footer().layout(width);
            assert!(layout.kept_words, "{width}");
            assert_eq!(layout.kept.iter().map(|(zone, _)| zone.end - zone.start).collect::<Vec<_>>(), [6, 8]);
        }
    }

    proptest! {
        #[test]
        fn any_footer_stays_inside(
            area in areas(), hints in prop::collection::vec((texts(), texts()), 0..6), kept in 0usize..3,
            legend in texts(), text in texts(), toasted in any::<bool>(),
        ) {
            let hints: Vec<(&str, &str)> = hints.iter().map(|(key, word)| (key.as_str(), word.as_str())).collect();
            let (kept, hints) = hints.split_at(kept.min(hints.len()));
            let toast = toast(Kind::Warn, &text);
            let footer = Footer { hints, kept, legend: &legend, toast: toasted.then_some(&toast) };
            let layout = footer.layout(area.width);
            let mut end = 0;
            for (zone, _) in layout.hints.iter().chain(&layout.kept) {
                prop_assert!(end <= zone.start && zone.start <= zone.end && zone.end <= area.width);
                end = zone.end;
            }
            check_inside(area, |buf, area| footer.draw(buf, area, &Theme::default()));
        }
    }
}
