//! Ranking as a table, keys and clicks, the looks, and any size with any text.

use proptest::prelude::*;

use super::*;
use crate::widgets::testing::{areas, blank, check_inside, shot, show, styled_shot, texts, themes};

fn item(id: usize, name: &str, desc: &str, key: &str) -> PaletteItem {
    PaletteItem { name: name.to_owned(), desc: desc.to_owned(), key: key.to_owned(), id }
}

fn items() -> Vec<PaletteItem> {
    vec![
        item(0, "skills install", "from GitHub, a folder or a zip", "i"),
        item(1, "probe reload-all", "Reload every probe", ""),
        item(2, "reloadable", "A plugin's command that begins like ours", ""),
        item(3, "reload", "Read the data of this tab again", "ctrl+r"),
        item(4, "probe wipe-2", "Wipe the second probe", ""),
        item(5, "sessions export", "Write a session as Markdown; reload keeps it", ""),
        item(6, "漢字 hello", "説明の説明の説明の説明の説明の説明の説明の説明の説明", ""),
        item(7, "a-very-long-plugin-name-that-goes-on and-a-very-long-command-name", "and words", "ctrl+alt+x"),
    ]
}

fn typed(text: &str) -> Palette {
    let mut palette = Palette::new(items());
    palette.paste(text);
    palette
}

fn ids(palette: &Palette) -> Vec<usize> {
    palette.matches().map(|item| item.id).collect()
}

#[test]
fn exact_then_prefix_then_name_then_description() {
    assert_eq!(ids(&typed("reload")), [3, 2, 1, 7, 5]);
    assert_eq!(ids(&typed("RELOAD ")), [3, 2, 1, 7, 5]);
    assert_eq!(ids(&typed("probe w")), [4]);
    assert_eq!(ids(&typed("prw2")), [4]);
    assert_eq!(ids(&typed("wipe probe")), [4]);
    assert_eq!(ids(&typed("markdown")), [5]);
    assert_eq!(ids(&typed("")), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(ids(&typed("zzzz")), Vec::<usize>::new());
}

const AREA: Rect = Rect { x: 0, y: 0, width: 100, height: 30 };

fn press(palette: &mut Palette, key: &str) -> PaletteOutcome {
    let text = (key.chars().count() == 1).then_some(key);
    palette.on_key(key, text, AREA)
}

#[test]
fn keys() {
    let mut palette = typed("");
    assert_eq!(press(&mut palette, "up"), PaletteOutcome::Pending);
    press(&mut palette, "down");
    press(&mut palette, "ctrl+n");
    press(&mut palette, "ctrl+p");
    assert_eq!(press(&mut palette, "enter"), PaletteOutcome::Picked(1));
    for key in ["p", "r", "o", "b"] {
        press(&mut palette, key);
    }
    assert_eq!(palette.edit.text(), "prob");
    assert_eq!(palette.selected().map(|item| item.id), Some(1));
    press(&mut palette, "tab");
    assert_eq!(palette.edit.text(), "probe reload-all");
    press(&mut palette, "ctrl+u");
    assert_eq!(palette.matches().len(), 8);
    assert_eq!(press(&mut palette, "backspace"), PaletteOutcome::Closed);
    assert_eq!(press(&mut palette, "esc"), PaletteOutcome::Closed);
    palette.paste("zzzz\n");
    assert_eq!(press(&mut palette, "enter"), PaletteOutcome::Pending);
    // moving in the line keeps the selection
    let mut palette = typed("reload");
    press(&mut palette, "down");
    press(&mut palette, "left");
    assert_eq!(palette.list.selected, 1);
}

#[test]
fn clicks_and_wheel() {
    let mut palette = typed("");
    let layout = palette.layout(AREA);
    let (x, y) = (layout.list.x + 3, layout.list.y + 2);
    assert_eq!(palette.on_click(x, y, AREA), PaletteOutcome::Picked(2));
    assert_eq!(palette.on_click(layout.input.x, layout.input.y, AREA), PaletteOutcome::Pending);
    assert_eq!(palette.on_click(0, 0, AREA), PaletteOutcome::Closed);
    palette.scroll(3, AREA);
    palette.paste("zzzz");
    assert_eq!(palette.on_click(x, y, AREA), PaletteOutcome::Pending);
}

#[test]
fn new_items_keep_the_selection() {
    let mut palette = typed("");
    press(&mut palette, "down");
    let mut more = vec![item(20, "first", "", "")];
    more.extend(items());
    palette.set_items(more);
    assert_eq!(palette.selected().map(|item| item.id), Some(1));
    palette.set_items(vec![item(3, "else", "", "")]);
    assert_eq!(palette.list.selected, 0);
    palette.set_items(Vec::new());
    assert_eq!(palette.selected(), None);
}

#[test]
fn looks() {
    let theme = Theme::default();
    let mut out = String::new();
    for (text, width, height) in [
        ("", 90, 20),
        ("reload", 80, 16),
        ("zzzz", 80, 14),
        ("", 40, 12),
        ("re", 24, 6),
        ("re", 10, 4),
        ("re", 4, 2),
        ("re", 1, 1),
    ] {
        out += &format!("{text:?} {width}x{height}\n");
        out += &shot(width, height, &theme, |buf, area| typed(text).draw(buf, area, &theme));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn looks_in_colour_and_without() {
    let all: Vec<String> = themes()
        .iter()
        .map(|theme| styled_shot(60, 8, theme, |buf, area| typed("rel").draw(buf, area, theme)))
        .collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn lies_on_top_of_wide_text() {
    let theme = Theme::default();
    let mut buf = blank(41, 9, &theme);
    for y in 0..9 {
        crate::paint::put(&mut buf, 0, y, 41, &"漢".repeat(30), theme.base());
    }
    Palette::new(vec![item(0, "quit", "", "")]).draw(&mut buf, Rect::new(3, 0, 34, 9), &theme);
    insta::assert_snapshot!(show(&buf));
}

proptest! {
    #[test]
    fn any_palette_stays_inside(
        area in areas(), items in prop::collection::vec((texts(), texts(), texts()), 0..20), text in texts(),
        keys in prop::collection::vec(prop::sample::select(vec!["up", "down", "pgdown", "tab", "left", "enter"]), 0..6),
    ) {
        let items = items.iter().enumerate().map(|(id, (name, desc, key))| item(id, name, desc, key)).collect();
        let mut palette = Palette::new(items);
        palette.paste(&text);
        for key in keys {
            palette.on_key(key, None, area);
        }
        palette.on_click(area.x, area.y, area);
        check_inside(area, |buf, area| palette.draw(buf, area, &Theme::default()));
    }
}
