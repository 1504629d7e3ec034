//! What painting promises: clauses S8 to S12, and that any text at any size stays inside.

use proptest::prelude::*;
use ratatui::style::Color;
use sys::text::ansi::{Attrs, Color as Ansi, Run, Style as RunStyle};

use super::*;
use crate::widgets::testing::{areas, blank, check_inside, show, texts, themes};

fn run(text: &str, style: RunStyle) -> Run {
    Run { text: text.to_owned(), style }
}

fn plain(text: &str) -> ansi::Line {
    ansi::Line(vec![run(text, RunStyle::default())])
}

fn painted(width: u16, height: u16, lines: &[ansi::Line]) -> Buffer {
    let theme = Theme::default();
    let mut buf = blank(width, height, &theme);
    paint_lines(&mut buf, Rect::new(0, 0, width, height), lines, &theme);
    buf
}

#[test]
fn clips_lines_and_drops_straddling_clusters() {
    let lines = [plain("abcdef"), plain("abc漢"), plain("漢字"), plain("👩‍💻👩‍💻"), plain("not seen")];
    assert_eq!(show(&painted(4, 4, &lines)), "abcd|\nabc |\n漢字|\n👩‍💻👩‍💻|\n");
    assert_eq!(show(&painted(3, 2, &lines[1..])), "abc|\n漢 |\n");
    assert_eq!(show(&painted(1, 2, &lines[2..])), " |\n |\n");
}

#[test]
fn cells_without_a_background_have_the_themes() {
    let theme = Theme::default();
    let red = RunStyle { bg: Some(Ansi::Indexed(1)), ..RunStyle::default() };
    let mut buf = blank(6, 2, &theme);
    // leftovers of another view
    put(&mut buf, 0, 1, 6, "zzzzzz", Style::new().bg(Color::Green).add_modifier(Modifier::BOLD));
    let line = ansi::Line(vec![run("漢", red), run("b", RunStyle::default())]);
    paint_lines(&mut buf, Rect::new(0, 0, 6, 2), &[line], &theme);
    let backgrounds: Vec<Color> = (0..6).map(|x| buf[(x, 0)].bg).collect();
    let (own, theirs) = (theme.color(Role::AnsiRed), theme.color(Role::Bg));
    assert_eq!(backgrounds, [own, own, theirs, theirs, theirs, theirs]);
    for x in 0..6 {
        let cell = &buf[(x, 1)];
        assert_eq!((cell.symbol(), cell.bg, cell.modifier), (" ", theirs, Modifier::empty()));
    }
}

#[test]
fn attributes_and_colours_arrive() {
    let style = RunStyle {
        fg: Some(Ansi::Rgb(1, 2, 3)),
        bg: Some(Ansi::Indexed(99)),
        attrs: Attrs(Attrs::BOLD.0 | Attrs::STRIKE.0 | Attrs::REVERSE.0),
    };
    let buf = painted(2, 1, &[ansi::Line(vec![run("a", style), run("b", RunStyle::default())])]);
    assert_eq!((buf[(0, 0)].fg, buf[(0, 0)].bg), (Color::Rgb(1, 2, 3), Color::Indexed(99)));
    assert_eq!(buf[(0, 0)].modifier, Modifier::BOLD | Modifier::CROSSED_OUT | Modifier::REVERSED);
    assert_eq!(buf[(1, 0)].modifier, Modifier::empty());
}

#[test]
fn marks_join_the_cell_before_also_from_another_run() {
    let bold = RunStyle { attrs: Attrs::BOLD, ..RunStyle::default() };
    let buf = painted(3, 1, &[ansi::Line(vec![run("e", RunStyle::default()), run("\u{301}f", bold)])]);
    assert_eq!(buf[(0, 0)].symbol(), "e\u{301}");
    assert_eq!(buf[(1, 0)].symbol(), "f");
    // a selector that would make its cell wider, and a joiner that would pull the next cell in, are left out
    let buf = painted(3, 1, &[ansi::Line(vec![run("☁", bold), run("\u{fe0f}", bold), run("\u{200d}x", bold)])]);
    assert_eq!(show(&buf), "☁x |\n");
    // nothing before it
    assert_eq!(show(&painted(2, 1, &[plain("\u{301}a")])), "a |\n");
}

#[test]
fn marks_on_one_letter_are_bounded() {
    let many: Vec<Run> = (0..500).map(|_| run("\u{301}", RunStyle::default())).collect();
    let mut line = vec![run("e", RunStyle::default())];
    line.extend(many);
    assert!(painted(3, 1, &[ansi::Line(line)])[(0, 0)].symbol().len() <= MAX_SYMBOL);
}

#[test]
fn controls_never_reach_a_cell() {
    assert_eq!(text_width("a\tb\r\nc\u{7}\u{1b}\u{9b}\u{202e}d"), 6);
    let theme = Theme::default();
    let mut buf = blank(8, 1, &theme);
    assert_eq!(put(&mut buf, 0, 0, 8, "a\tb\u{1b}\u{202e}c\u{85}", theme.base()), 4);
    assert_eq!(show(&buf), "a bc    |\n");
}

#[test]
fn fit_never_splits_a_cluster() {
    assert_eq!(fit("abc", 3), "abc");
    assert_eq!(fit("abcd", 3), "ab…");
    assert_eq!(fit("漢字", 3), "漢…");
    assert_eq!(fit("漢字", 2), "…");
    assert_eq!(fit("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    assert_eq!(fit("🇧🇷🇩🇪🇫🇷", 4), "🇧🇷…");
    assert_eq!(fit("abc", 0), "");
}

#[test]
fn put_line_gives_the_last_column_to_the_ellipsis() {
    let theme = Theme::default();
    let line = Line::from(vec!["abc".into(), ratatui::text::Span::styled("def", theme.title())]);
    let drawn = |width: u16| {
        let mut buf = blank(8, 1, &theme);
        let used = put_line(&mut buf, 0, 0, width, &line, theme.base());
        (show(&buf), used)
    };
    assert_eq!(drawn(8), ("abcdef  |\n".to_owned(), 6));
    assert_eq!(drawn(6), ("abcdef  |\n".to_owned(), 6));
    assert_eq!(drawn(5), ("abcd…   |\n".to_owned(), 5));
    assert_eq!(drawn(4), ("abc…    |\n".to_owned(), 4));
    assert_eq!(drawn(3), ("ab…     |\n".to_owned(), 3));
    assert_eq!(drawn(1), ("…       |\n".to_owned(), 1));
    assert_eq!(drawn(0), ("        |\n".to_owned(), 0));
}

#[test]
fn a_layer_on_half_a_wide_cluster_keeps_its_first_column() {
    let theme = Theme::default();
    let mut buf = blank(6, 1, &theme);
    put(&mut buf, 0, 0, 6, "漢字漢", theme.base());
    cover(&mut buf, Rect::new(3, 0, 2, 1), theme.surface(Role::Float));
    put(&mut buf, 3, 0, 2, "││", theme.base());
    assert_eq!(show(&buf), "漢 ││ |\n");
}

#[test]
fn a_selected_row_is_seen_in_every_depth() {
    for theme in themes() {
        let mut buf = blank(4, 1, &theme);
        put(&mut buf, 0, 0, 2, "ab", theme.dim());
        put(&mut buf, 2, 0, 2, "cd", theme.matched());
        select_row(&mut buf, Rect::new(0, 0, 4, 1), &theme);
        let (dim, matched) = (&buf[(0, 0)], &buf[(2, 0)]);
        assert!(dim.modifier.contains(Modifier::BOLD) && !dim.modifier.contains(Modifier::DIM));
        assert!(matched.modifier.contains(Modifier::UNDERLINED));
        assert!(theme.mono() == dim.modifier.contains(Modifier::REVERSED));
        if !theme.mono() {
            assert_eq!((dim.fg, dim.bg), (theme.color(Role::FgBright), theme.color(Role::Selection)));
            assert_eq!(matched.fg, theme.color(Role::Match));
        }
    }
}

proptest! {
    #[test]
    fn content_stays_inside(area in areas(), texts in prop::collection::vec(prop::collection::vec(texts(), 0..4), 0..8)) {
        let lines: Vec<ansi::Line> = texts
            .iter()
            .map(|runs| ansi::Line(runs.iter().map(|text| run(text, RunStyle::default())).collect()))
            .collect();
        let theme = Theme::default();
        check_inside(area, |buf, area| paint_lines(buf, area, &lines, &theme));
        // also where the area is larger than the buffer
        let mut small = Buffer::empty(Rect::new(0, 0, 5, 3));
        paint_lines(&mut small, area, &lines, &theme);
    }

    #[test]
    fn put_and_fit_keep_to_their_width(text in texts(), width in 0u16..12, x in 0u16..20) {
        let theme = Theme::default();
        check_inside(Rect::new(x, 1, width, 1), |buf, area| {
            let used = put(buf, area.x, area.y, area.width, &text, theme.base());
            assert!(used <= width);
            assert!(put_fit(buf, area.x, area.y, area.width, &text, theme.base()) <= width);
            assert!(put_line(buf, area.x, area.y, area.width, &Line::from(text.as_str()), theme.base()) <= width);
        });
        prop_assert!(text_width(&fit(&text, width)) <= usize::from(width));
    }
}
