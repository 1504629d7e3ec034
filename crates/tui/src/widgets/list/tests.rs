//! Moves of the cursor as a table of states, the looks of a table, and any size with any text.

use proptest::prelude::*;
use ratatui::text::Span;

use super::*;
use crate::widgets::testing::{areas, check_inside, shot, styled_shot, texts, themes};

fn columns() -> Vec<Column> {
    vec![
        Column::new("SKILL", Width::Flex { min: 12, weight: 3 }),
        Column::new("", Width::Fixed(2)).align(Align::Center).drop(2),
        Column::new("claude", Width::Fixed(6)).align(Align::Center).drop(1),
        Column::new("size", Width::Min(5)).align(Align::Right).drop(3),
        Column::new("updated", Width::Flex { min: 7, weight: 1 }).drop(4),
    ]
}

fn row(theme: &Theme, i: usize) -> Row {
    let names = ["pdf", "release-notes", "漢字漢字漢字漢字", "sql-style", "👩‍💻 fix", "webapp-tests-with-a-long-name"];
    if i == 3 {
        return Row { heading: true, ..Row::new(["not registered"]) };
    }
    let signs = [Span::styled("●", theme.style(Role::Ok)), Span::styled("○", theme.muted())];
    let cells: Vec<Line<'static>> = vec![
        names[i % names.len()].into(),
        if i == 4 { Span::styled("⚠", theme.style(Role::Warn)).into() } else { "".into() },
        signs[i % 2].clone().into(),
        (i * 377).to_string().into(),
        Span::styled("3 min", theme.dim()).into(),
    ];
    Row { marked: i == 1 || i == 2, ..Row::new(cells) }
}

fn drawn(theme: &Theme, len: usize, state: ListState) -> impl Fn(&mut Buffer, Rect) + '_ {
    move |buf, area| {
        let columns = columns();
        let rows = |i: usize| row(theme, i);
        let empty = "No skills yet.  i installs from GitHub, a folder or a zip ·  n writes one";
        let table = Table { columns: &columns, len, rows: &rows, empty, focused: true };
        draw(buf, area, &table, &state, theme);
    }
}

#[test]
fn looks() {
    let theme = Theme::default();
    let mut out = String::new();
    for (width, height) in [(70, 8), (50, 8), (40, 8), (30, 6), (20, 4), (10, 3), (3, 2), (1, 1)] {
        out += &format!("{width}x{height}\n");
        out += &shot(width, height, &theme, drawn(&theme, 6, ListState { selected: 1, offset: 0 }));
    }
    out += "scrolled\n";
    out += &shot(50, 5, &theme, drawn(&theme, 40, ListState { selected: 20, offset: 18 }));
    insta::assert_snapshot!(out);
}

#[test]
fn looks_in_colour_and_without() {
    let all: Vec<String> =
        themes().iter().map(|theme| styled_shot(44, 6, theme, drawn(theme, 6, ListState::default()))).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn looks_empty() {
    let theme = Theme::default();
    let mut out = String::new();
    for (width, height) in [(90, 6), (40, 8), (12, 12), (8, 2), (1, 1)] {
        out += &shot(width, height, &theme, drawn(&theme, 0, ListState::default()));
        out += "\n";
    }
    insta::assert_snapshot!(out);
}

#[test]
fn columns_are_dropped_by_rank_and_the_rest_share() {
    let shown = |width: u16| -> Vec<(Range<u16>, usize)> { layout(&columns(), Rect::new(0, 0, width, 9)).columns };
    assert_eq!(shown(70).iter().map(|(_, i)| *i).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(shown(40).iter().map(|(_, i)| *i).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(shown(22), [(2..14, 0), (16..22, 2)]);
    assert_eq!(shown(10), [(2..10, 0)]);
    assert_eq!(shown(70).last().unwrap().0.end, 70);
}

#[test]
fn clicks_find_rows_and_headings() {
    let layout = layout(&columns(), Rect::new(5, 2, 60, 6));
    assert_eq!(layout.row_at(7, 3), Some(0));
    assert_eq!(layout.row_at(7, 7), Some(4));
    assert_eq!(layout.row_at(7, 2), None);
    assert_eq!(layout.row_at(4, 3), None);
    assert_eq!(layout.heading_at(8, 2), Some(0));
    assert_eq!(layout.heading_at(8, 3), None);
}

#[test]
fn moves() {
    let state = |selected, offset| ListState { selected, offset };
    let moved = |mut from: ListState, key: &str| {
        assert!(from.on_key(key, 20, 5));
        from
    };
    assert_eq!(moved(state(0, 0), "up"), state(0, 0));
    assert_eq!(moved(state(4, 0), "down"), state(5, 1));
    assert_eq!(moved(state(19, 15), "j"), state(19, 15));
    assert_eq!(moved(state(5, 5), "k"), state(4, 4));
    assert_eq!(moved(state(2, 0), "pgdown"), state(6, 4));
    assert_eq!(moved(state(18, 15), "pgdown"), state(19, 15));
    assert_eq!(moved(state(6, 4), "pgup"), state(2, 0));
    assert_eq!(moved(state(7, 4), "g"), state(0, 0));
    assert_eq!(moved(state(7, 4), "end"), state(19, 15));
    assert!(!state(0, 0).on_key("x", 20, 5));

    let mut wheel = state(2, 0);
    wheel.scroll(3, 20, 5);
    assert_eq!(wheel, state(3, 3));
    wheel.scroll(-1, 20, 5);
    assert_eq!(wheel, state(3, 2));
    wheel.scroll(-9, 20, 5);
    assert_eq!(wheel, state(3, 0));
    wheel.scroll(99, 20, 5);
    assert_eq!(wheel, state(15, 15));

    let mut click = state(3, 2);
    assert!(click.click(4, 20, 5));
    assert_eq!(click, state(6, 2));
    assert!(!click.click(5, 20, 5));
    assert!(!state(0, 0).click(2, 2, 5));
    assert!(!state(0, 0).click(0, 0, 5));
}

#[test]
fn only_visible_rows_are_built() {
    let theme = Theme::default();
    let built = std::cell::RefCell::new(Vec::new());
    let rows = |i: usize| {
        built.borrow_mut().push(i);
        Row::new(["x"])
    };
    let columns = [Column::new("", Width::Min(1))];
    let table = Table { columns: &columns, len: 1_000_000, rows: &rows, empty: "", focused: true };
    let state = ListState { selected: 500_000, offset: 0 };
    shot(10, 4, &theme, |buf, area| draw(buf, area, &table, &state, &theme));
    assert_eq!(*built.borrow(), [499_997, 499_998, 499_999, 500_000]);
}

proptest! {
    #[test]
    fn moves_keep_the_selection_in_view(
        len in 0usize..50, height in 0usize..12, keys in prop::collection::vec(0usize..10, 0..30),
        selected in 0usize..80, offset in 0usize..80,
    ) {
        let mut state = ListState { selected, offset };
        let names = ["up", "down", "pgup", "pgdown", "home", "end"];
        for key in keys {
            match key {
                0..=5 => { state.on_key(names[key], len, height); }
                6 => state.scroll(3, len, height),
                7 => state.scroll(-3, len, height),
                8 => { state.click(2, len, height); }
                _ => state.clamp(len, height),
            }
            state.clamp(len, height);
            let seen = state.visible(len, height);
            if len > 0 && height > 0 {
                prop_assert!(seen.contains(&state.selected), "{state:?} {seen:?}");
                prop_assert_eq!(seen.len(), len.min(height));
            }
        }
        state.scroll(isize::MAX, len, height);
        state.scroll(isize::MIN, len, height);
    }

    #[test]
    fn any_table_stays_inside(
        area in areas(), len in 0usize..20, selected in any::<usize>(), offset in any::<usize>(),
        cells in prop::collection::vec(texts(), 1..6), empty in texts(),
        widths in prop::collection::vec((0u16..30, 0u16..4, 0u8..3, any::<bool>()), 0..6),
    ) {
        let columns: Vec<Column> = widths.iter().map(|(n, weight, drop, flex)| {
            let width = if *flex { Width::Flex { min: *n, weight: *weight } } else { Width::Fixed(*n) };
            Column::new(&cells[0], width).drop(*drop).align(Align::Right)
        }).collect();
        let rows = |i: usize| Row { marked: i.is_multiple_of(2), heading: i % 5 == 4, ..Row::new(cells.iter().cloned()) };
        let table = Table { columns: &columns, len, rows: &rows, empty: &empty, focused: len.is_multiple_of(2) };
        check_inside(area, |buf, area| draw(buf, area, &table, &ListState { selected, offset }, &Theme::default()));
    }
}
