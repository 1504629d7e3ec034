//! The tab bar: a line of titles with dim counters, the active one bold with a rule below it.
//! It never decides what a tab is or where a click leads; it says which columns belong to which tab.
//! The frame around all tabs calls it.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::paint::{fill, put, put_fit, text_width};
use crate::theme::{Role, Theme};

/// Rows the bar wants: the titles, and the rule below the active one.
pub const HEIGHT: u16 = 2;
/// Columns between two titles.
const GAP: usize = 2;
/// The separator before a group of tabs, blanks included.
const SEPARATOR: usize = 3;
/// An arrow of the window and the blank beside it.
const ARROW: usize = 2;

/// One tab, as the bar shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabLabel {
    /// The title; a plugin's is up to 40 characters (clause N2).
    pub title: String,
    /// Shown after the title when there is one, also 0 (clause F2).
    pub count: Option<u64>,
    /// True for the first tab of a new group: a `│` stands before it.
    pub gap_before: bool,
}

/// What the bar shows; plain references, made anew for each frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct TabBar<'a> {
    /// The program's name at the far left; shown only when everything else fits too. May be empty.
    pub brand: &'a str,
    /// The tabs, in order.
    pub labels: &'a [TabLabel],
    /// The active one; an index beyond the end counts as the last.
    pub active: usize,
    /// Text at the far right, such as `? help`; shown only when it fits. May be empty.
    pub right: &'a str,
}

/// Where everything is, in columns from the left edge of the bar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabLayout {
    /// The columns of each tab shown (title and counter), with its index.
    pub zones: Vec<(Range<u16>, usize)>,
    /// The columns of the `│` between groups.
    pub separators: Vec<u16>,
    /// Where `‹` stands, if there are tabs left of the window.
    pub left_more: Option<u16>,
    /// Where `›` stands, if there are tabs right of the window.
    pub right_more: Option<u16>,
    /// False when the counters had to go.
    pub show_counts: bool,
    /// Where the brand begins, if it is shown.
    pub brand: Option<u16>,
    /// Where the right text begins, if it is shown.
    pub right: Option<u16>,
}

impl TabLayout {
    /// The tab at a column: what a click there means.
    pub fn tab_at(&self, x: u16) -> Option<usize> {
        self.zones.iter().find(|(columns, _)| columns.contains(&x)).map(|(_, index)| *index)
    }
}

impl TabBar<'_> {
    /// Where everything goes in a bar of `width` columns. When it is too narrow, the brand goes first, then the right
    /// text, then the counters, then a window around the active tab is shown; at last its title is cut.
    pub fn layout(&self, width: u16) -> TabLayout {
        if self.labels.is_empty() || width == 0 {
            return TabLayout::default();
        }
        let margin = margin(width);
        let room = usize::from(width).saturating_sub(2 * margin);
        let brand = if self.brand.is_empty() { 0 } else { text_width(self.brand) + GAP };
        let right = if self.right.is_empty() { 0 } else { text_width(self.right) + GAP };
        let last = self.labels.len() - 1;
        let active = self.active.min(last);
        for (counts, brand, right) in
            [(true, brand, right), (true, 0, right), (true, 0, 0), (false, 0, right), (false, 0, 0)]
        {
            if brand + self.span(0..=last, counts) + right <= room {
                let mut layout = self.place(0..=last, counts, margin + brand, room);
                layout.brand = (brand > 0).then(|| columns(margin));
                layout.right = (right > 0).then(|| columns(usize::from(width) + GAP - margin - right));
                return layout;
            }
        }
        self.window(active, width, margin, room)
    }

    /// The tabs that fit around the active one: as many as possible to its left, then to its right, so that the window
    /// moves only when the active tab would leave it on the right.
    fn window(&self, active: usize, width: u16, margin: usize, room: usize) -> TabLayout {
        let last = self.labels.len() - 1;
        let fits = |first: usize, end: usize| {
            let arrows = ARROW * (usize::from(first > 0) + usize::from(end < last));
            self.span(first..=end, false) + arrows <= room
        };
        let first = (0..=active).find(|first| fits(*first, active)).unwrap_or(active);
        let end = (active..=last).rev().find(|end| fits(first, *end)).unwrap_or(active);
        let (left, right) = (first > 0, end < last);
        // in the smallest windows even the arrows give way to the title
        let arrows = room >= ARROW * (usize::from(left) + usize::from(right)) + 2;
        let start = margin + if left && arrows { ARROW } else { 0 };
        let rest = (margin + room).saturating_sub(start + if right && arrows { ARROW } else { 0 });
        let mut layout = self.place(first..=end, false, start, rest);
        layout.left_more = (left && arrows).then(|| columns(margin));
        layout.right_more = (right && arrows).then(|| columns(usize::from(width) - margin - 1));
        layout
    }

    /// Columns the tabs of a range take side by side.
    fn span(&self, range: std::ops::RangeInclusive<usize>, counts: bool) -> usize {
        let first = *range.start();
        range.map(|i| self.before(i, i == first) + self.label_width(i, counts)).sum()
    }

    /// Columns between tab `i` and the one left of it.
    fn before(&self, i: usize, first: bool) -> usize {
        match (first, self.labels[i].gap_before) {
            (true, _) => 0,
            (false, true) => SEPARATOR,
            (false, false) => GAP,
        }
    }

    fn label_width(&self, i: usize, counts: bool) -> usize {
        let label = &self.labels[i];
        let count = label.count.filter(|_| counts).map_or(0, |count| 1 + count.to_string().len());
        text_width(&label.title) + count
    }

    /// Puts the tabs of a range side by side from column `start`, cutting what passes `start + room`.
    fn place(&self, range: std::ops::RangeInclusive<usize>, counts: bool, start: usize, room: usize) -> TabLayout {
        let first = *range.start();
        let end = start + room;
        let mut layout = TabLayout { show_counts: counts, ..TabLayout::default() };
        let mut x = start;
        for i in range {
            let before = self.before(i, i == first);
            if before == SEPARATOR {
                layout.separators.push(columns(x + 1));
            }
            x += before;
            let until = (x + self.label_width(i, counts)).min(end);
            layout.zones.push((columns(x)..columns(until), i));
            x = until;
        }
        layout
    }

    /// Draws the bar into the top of `area`: titles in its first row, the rule in its second. With one row only, the
    /// active title is underlined instead.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let area = Rect { height: area.height.min(HEIGHT), ..area };
        fill(buf, area, theme.base());
        let layout = self.layout(area.width);
        let at = |x: u16| area.x.saturating_add(x);
        let active = self.active.min(self.labels.len().saturating_sub(1));
        let until = |x: u16| area.width.saturating_sub(x);
        if let Some(x) = layout.brand {
            put(buf, at(x), area.y, until(x), self.brand, theme.style(Role::Accent).add_modifier(Modifier::BOLD));
        }
        if let Some(x) = layout.right {
            put(buf, at(x), area.y, until(x), self.right, theme.muted());
        }
        for x in &layout.separators {
            put(buf, at(*x), area.y, 1, "│", theme.border(false));
        }
        for (x, arrow) in [(layout.left_more, "‹"), (layout.right_more, "›")] {
            if let Some(x) = x {
                put(buf, at(x), area.y, 1, arrow, theme.accent());
            }
        }
        for (zone, index) in &layout.zones {
            let label = &self.labels[*index];
            let mut style = if *index == active { theme.title() } else { theme.dim() };
            if *index == active && area.height < HEIGHT {
                style = style.add_modifier(Modifier::UNDERLINED);
            }
            let width = zone.end - zone.start;
            let used = put_fit(buf, at(zone.start), area.y, width, &label.title, style);
            if let Some(count) = label.count.filter(|_| layout.show_counts) {
                let left = width.saturating_sub(used + 1);
                put(buf, at(zone.start + used + 1), area.y, left, &count.to_string(), theme.muted());
            }
            if *index == active && area.height == HEIGHT {
                let rule = "─".repeat(usize::from(width));
                put(buf, at(zone.start), area.y + 1, width, &rule, theme.accent());
            }
        }
    }
}

/// Blank columns at both ends of the bar.
fn margin(width: u16) -> usize {
    usize::from(width >= 12)
}

fn columns(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::widgets::testing::{areas, check_inside, shot, styled_shot, texts, themes};

    fn label(title: &str, count: Option<u64>, gap_before: bool) -> TabLabel {
        TabLabel { title: title.to_owned(), count, gap_before }
    }

    fn labels() -> Vec<TabLabel> {
        vec![
            label("Skills", Some(14), false),
            label("Sessions", Some(248), false),
            label("Providers", Some(3), false),
            label("Hooks", Some(0), false),
            label("Hello", Some(2), false),
            label("Usage", None, true),
            label("Agents", Some(6), false),
            label("Plugins", Some(2), false),
        ]
    }

    fn bar(labels: &[TabLabel], active: usize) -> TabBar<'_> {
        TabBar { brand: "lazyagents", labels, active, right: "? help" }
    }

    #[test]
    fn looks() {
        let labels = labels();
        let theme = Theme::default();
        let mut out = String::new();
        for (width, active) in
            [(110, 1), (90, 1), (80, 0), (76, 5), (72, 5), (60, 0), (60, 5), (60, 7), (40, 4), (12, 1)]
        {
            out += &format!("{width} columns, tab {active}\n");
            out += &shot(width, 2, &theme, |buf, area| bar(&labels, active).draw(buf, area, &theme));
        }
        insta::assert_snapshot!(out);
    }

    #[test]
    fn looks_in_colour_and_without() {
        let labels = labels();
        let all = themes()
            .iter()
            .map(|theme| styled_shot(90, 2, theme, |buf, area| bar(&labels, 1).draw(buf, area, theme)))
            .collect::<Vec<_>>();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn looks_small_and_wide() {
        let labels =
            vec![label("漢字テスト", Some(1), false), label("👩‍💻 fix", None, true), label("مرحبا", Some(7), false)];
        let theme = Theme::default();
        let mut out = String::new();
        for width in [40, 20, 13, 9, 5, 2, 1] {
            for active in 0..3 {
                out += &shot(width, 2, &theme, |buf, area| bar(&labels, active).draw(buf, area, &theme));
            }
        }
        out += &styled_shot(30, 1, &theme, |buf, area| bar(&labels, 0).draw(buf, area, &theme));
        insta::assert_snapshot!(out);
    }

    #[test]
    fn counts_go_before_titles() {
        let labels = labels();
        let bar = bar(&labels, 0);
        let full = (0..200).find(|width| bar.layout(*width).show_counts).unwrap();
        let narrower = bar.layout(full - 1);
        assert!(!narrower.show_counts);
        assert_eq!(narrower.zones.len(), labels.len());
    }

    #[test]
    fn a_click_finds_its_tab() {
        let labels = labels();
        let layout = bar(&labels, 0).layout(110);
        for (zone, index) in &layout.zones {
            assert_eq!(layout.tab_at(zone.start), Some(*index));
            assert_eq!(layout.tab_at(zone.end - 1), Some(*index));
            assert_ne!(layout.tab_at(zone.end), Some(*index));
        }
        assert_eq!(layout.tab_at(109), None);
    }

    proptest! {
        #[test]
        fn the_active_tab_is_always_there(
            titles in prop::collection::vec((texts(), any::<Option<u64>>(), any::<bool>()), 0..12),
            active in 0usize..14,
            area in areas(),
        ) {
            let labels: Vec<TabLabel> =
                titles.iter().map(|(title, count, gap)| label(title, *count, *gap)).collect();
            let bar = bar(&labels, active);
            let layout = bar.layout(area.width);
            if !labels.is_empty() && area.width > 0 {
                prop_assert!(layout.zones.iter().any(|(_, i)| *i == active.min(labels.len() - 1)));
            }
            let mut end = 0;
            for (zone, _) in &layout.zones {
                prop_assert!(end <= zone.start && zone.start <= zone.end && zone.end <= area.width);
                end = zone.end;
            }
            check_inside(area, |buf, area| bar.draw(buf, area, &Theme::default()));
        }
    }
}
