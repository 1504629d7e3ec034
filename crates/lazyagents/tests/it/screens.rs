//! What a person sees, as pictures: every tab and every layer in three sizes, some with their styles. A picture ends
//! where its blanks begin. No screen panics, whatever its size and whatever is on it.

use std::fmt::Write as _;

use insta::assert_snapshot;
use lazyagents::app::event::Event;
use lazyagents::plugins::What;
use lazyagents::plugins::host::Stats;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};
use tui::term::Depth;
use tui::theme::{Role, Theme};

use crate::world::{World, context, some_agents};

/// The sizes that every screen is looked at in.
const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

/// The scene in all sizes; `set` brings it about in a world of that size.
fn pictures(size_of: impl Fn((u16, u16)) -> World, set: impl Fn(&mut World)) -> String {
    let mut text = String::new();
    for (columns, rows) in SIZES {
        let mut world = size_of((columns, rows));
        set(&mut world);
        writeln!(text, "== {columns}x{rows}\n{}", world.screen()).unwrap();
    }
    text
}

/// Two plugins that run, one that failed, one that is hidden, one that says nothing, and two files that are none.
fn busy(size: (u16, u16)) -> World {
    let ignored =
        [("README.md", "it is not executable (chmod +x makes it a plugin)"), ("usage", "the id usage is reserved")];
    let ids = ["clock", "hello", "notes-of-a-person-with-a-long-id", "secret", "weather"];
    let mut world = World::of(&context(&ids, &ignored, "tui: { hidden: [secret] }"), size);
    world.app.toasts = Default::default();
    world.manifest("clock", "Clock", &[]).frame("clock", "12:00", None, false);
    world.manifest("hello", "Hello", &[("ping", "Count to one"), ("edit", "Edit the notes")]);
    world.frame("hello", "Good morning", Some(3), false);
    world.fail("weather");
    world.app.toasts = Default::default();
    let stats = Stats { frames: 1234, waiting: 2, read: 5_000_000, written: 4_096 };
    world.event(Event::Stats { plugin: 1, stats });
    world
}

fn with_agents(size: (u16, u16)) -> World {
    let mut world = busy(size);
    world.go("agents").agents(some_agents(true), true);
    world
}

// ---- Agents

#[test]
fn agents_looking() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("agents");
    }));
}

#[test]
fn agents_without_versions() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("agents").agents(some_agents(false), false);
    }));
}

#[test]
fn agents_full() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.key("down");
    }));
}

#[test]
fn agents_detail() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.keys("down right");
    }));
}

#[test]
fn agents_filter() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.key("/");
        world.type_text("cod");
    }));
}

#[test]
fn agents_filter_matches_nothing() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.key("/");
        world.type_text("nobody");
        world.key("enter");
    }));
}

// ---- Plugins

#[test]
fn plugins_empty() {
    assert_snapshot!(pictures(
        |size| World::of(&context(&[], &[], ""), size),
        |world| {
            world.go("plugins");
        }
    ));
}

#[test]
fn plugins_running() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").keys("down down");
    }));
}

#[test]
fn plugins_failed() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").keys("end");
    }));
}

#[test]
fn plugins_hidden_detail() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").keys("down down down down right");
    }));
}

#[test]
fn plugins_ignored_detail() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").keys("right");
    }));
}

#[test]
fn plugins_with_wide_text() {
    assert_snapshot!(pictures(busy, |world| {
        world.manifest("clock", "時計と天気の日本語タイトル", &[("ping", "数を数える")]);
        world.manifest("hello", "שלום عالم 👩‍💻", &[]);
        world.frame("hello", "x", Some(1_234_567), false);
        world.go("plugins").key("down");
    }));
}

// ---- a plugin's tab

#[test]
fn plugin_waiting() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("notes-of-a-person-with-a-long-id");
    }));
}

/// Styles, wide and combining characters, a tab, a line that is too long, more lines than fit.
fn view() -> String {
    let mut view =
        String::from("\u{1b}[1;31mred\u{1b}[0m \u{1b}[7mreverse\u{1b}[27m \u{1b}[48;5;4mblue behind\u{1b}[m end\n");
    view.push_str("\u{1b}[3munclosed style does not reach\nthe next line\n");
    view.push_str("日本語 한국어 e\u{301} 👩‍💻 🇧🇷 ⚠️ שלום\n\ttab\n");
    view.push_str(&"long 長い ".repeat(30));
    for line in 6..60 {
        write!(view, "\nline {line}").unwrap();
    }
    view
}

#[test]
fn plugin_frame() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("hello").frame("hello", &view(), Some(12), false);
    }));
}

#[test]
fn plugin_capturing() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("hello").frame("hello", "name: _", None, true);
    }));
}

/// A reason of several lines, one of them long, and a traceback.
fn fail_at_length(world: &mut World) {
    let reason =
        format!("invalid line from plugin: line 3, column 18: not JSON\n{{\"type\":\"frame\",{}", "x".repeat(60));
    let mut stderr = String::from("Traceback (most recent call last):\n");
    for n in 0..30 {
        writeln!(stderr, "  File \"/home/dev/.config/lazyagents/plugins/hello\", line {n}, in 関数_{n}").unwrap();
    }
    world.go("hello").says("hello", What::Failed { reason, stderr });
}

#[test]
fn plugin_failed() {
    assert_snapshot!(pictures(busy, fail_at_length));
}

#[test]
fn plugin_failed_scrolled_to_the_end() {
    assert_snapshot!(pictures(busy, |world| {
        fail_at_length(world);
        world.key("G");
    }));
}

#[test]
fn plugin_failed_with_nothing_on_stderr() {
    assert_snapshot!(pictures(busy, |world| {
        let reason = "the plugin ended (exit code 0)".to_owned();
        world.go("hello").says("hello", What::Failed { reason, stderr: String::new() });
    }));
}

// ---- layers

#[test]
fn help_of_agents() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.key("?");
    }));
}

#[test]
fn help_of_plugins() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").key("?");
    }));
}

#[test]
fn help_of_a_plugin() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("hello").key("?");
    }));
}

#[test]
fn help_of_a_failed_plugin() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("weather").key("?");
    }));
}

#[test]
fn palette() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("hello").key(":");
    }));
}

#[test]
fn palette_typed() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("agents").key(":");
        world.type_text("hello");
    }));
}

#[test]
fn question() {
    assert_snapshot!(pictures(busy, |world| {
        world.go("plugins").keys("down down r");
    }));
}

#[test]
fn text() {
    assert_snapshot!(pictures(busy, |world| {
        let lines =
            (0..100).map(|n| format!("{n:3} a line of a log, long enough to be wrapped in a small window")).collect();
        world.go("weather").event(Event::Text { title: "~/.local/state/lazyagents/weather.log".to_owned(), lines });
    }));
}

// ---- footer

#[test]
fn toasts() {
    assert_snapshot!(pictures(with_agents, |world| {
        world.event(Event::Done("copied /home/dev/.local/bin/claude (asked the terminal, OSC 52)".to_owned()));
    }));
}

#[test]
fn toast_of_a_failure() {
    assert_snapshot!(pictures(with_agents, |world| {
        let long = "could not change tui.hidden in ~/.config/lazyagents/config.yaml: it is not YAML (line 3, column 9)";
        world.event(Event::Failed(long.to_owned()));
    }));
}

// ---- windows that are too small, or large

#[test]
fn too_small() {
    let mut text = String::new();
    for size in [(39, 12), (40, 11), (30, 5), (12, 4), (5, 3), (2, 1), (1, 1)] {
        for tab in ["agents", "hello"] {
            let mut world = busy(size);
            world.agents(some_agents(true), true);
            world.go(tab).frame("hello", "body of\nhello", Some(1), false);
            writeln!(text, "== {}x{} {tab}\n{}", size.0, size.1, world.screen()).unwrap();
        }
    }
    assert_snapshot!(text);
}

#[test]
fn a_plugin_has_a_body_in_the_smallest_window() {
    let mut world = busy((1, 1));
    world.go("hello").frame("hello", "x", None, false);
    assert_eq!(world.screen(), "x");
}

#[test]
fn the_way_out_and_help_are_never_cut_off() {
    for (columns, rows) in [(40, 12), (60, 20), (80, 24), (200, 50)] {
        for tab in ["agents", "plugins", "hello", "weather", "clock"] {
            let mut world = busy((columns, rows));
            world.agents(some_agents(true), true);
            let footer = world.go(tab).footer();
            assert!(footer.contains("? help") && footer.contains("q quit"), "{tab} in {columns}x{rows}: {footer}");
        }
    }
}

#[test]
fn a_view_spills_nowhere() {
    for size in SIZES {
        let world = |view: &str| {
            let mut world = busy(size);
            world.go("hello").frame("hello", view, None, false);
            (world.draw(), world.app.body())
        };
        let filler = "\u{1b}[41m漢字".repeat(400);
        let (full, body) = world(&format!("{filler}\n").repeat(90));
        let (plain, _) = world("x");
        for y in 0..size.1 {
            for x in 0..size.0 {
                if !body.contains((x, y).into()) {
                    assert_eq!(full[(x, y)], plain[(x, y)], "{x},{y} of {size:?}");
                }
            }
        }
    }
}

// ---- styles

/// One letter per cell and style below the picture, `.` for the theme's base, and what the letters mean.
fn styled(buf: &Buffer, theme: &Theme) -> String {
    let base = (theme.color(Role::Fg), theme.color(Role::Bg), Modifier::empty());
    let mut seen: Vec<(Color, Color, Modifier)> = Vec::new();
    let mut out = crate::world::show(buf);
    for y in buf.area.top()..buf.area.bottom() {
        let mut row = String::new();
        for x in buf.area.left()..buf.area.right() {
            let cell = &buf[(x, y)];
            // The colour of a blank says nothing.
            let fg = if cell.symbol() == " " { base.0 } else { cell.fg };
            let style = (fg, cell.bg, cell.modifier);
            if style == base {
                row.push('.');
                continue;
            }
            let known = seen.iter().position(|known| *known == style);
            let index = known.unwrap_or_else(|| {
                seen.push(style);
                seen.len() - 1
            });
            row.push(char::from(b'a' + u8::try_from(index % 26).unwrap()));
        }
        write!(out, "\n{}", row.trim_end_matches('.')).unwrap();
    }
    for (index, (fg, bg, modifier)) in seen.iter().enumerate() {
        let letter = char::from(b'a' + u8::try_from(index % 26).unwrap());
        write!(out, "\n{letter}: {} on {} {modifier:?}", name(*fg, theme), name(*bg, theme)).unwrap();
    }
    out
}

fn name(color: Color, theme: &Theme) -> String {
    if color == Color::Reset {
        return "default".to_owned();
    }
    let first = [Role::Accent, Role::Ok, Role::Warn, Role::Error];
    let role = first.iter().chain(Role::ALL).find(|role| theme.color(**role) == color);
    role.map_or_else(|| format!("{color:?}"), |role| role.name().to_owned())
}

fn styled_scene(theme: &Theme, depth: Depth, set: impl Fn(&mut World)) -> String {
    let mut world = busy((80, 16));
    world.app.theme = theme.with_depth(depth);
    set(&mut world);
    let mut buf = world.draw();
    depth.apply(&mut buf);
    styled(&buf, &world.app.theme)
}

#[test]
fn styles_of_both_themes() {
    let ids = Theme::builtin_ids();
    for id in &ids[..2] {
        let theme = Theme::builtin(id).unwrap();
        let plugins = styled_scene(theme, Depth::True, |world| {
            world.go("plugins").keys("end");
        });
        assert_snapshot!(format!("styles_plugins_{id}"), plugins);
        let frame = styled_scene(theme, Depth::True, |world| {
            world.go("hello").frame("hello", &view(), Some(12), false);
        });
        assert_snapshot!(format!("styles_frame_{id}"), frame);
    }
}

#[test]
fn styles_without_colour() {
    let theme = Theme::default();
    let frame = styled_scene(&theme, Depth::None, |world| {
        world.go("hello").frame("hello", &view(), Some(12), false);
    });
    assert_snapshot!("styles_frame_no_color", frame);
    let plugins = styled_scene(&theme, Depth::None, |world| {
        world.go("plugins").keys("end");
    });
    assert_snapshot!("styles_plugins_no_color", plugins);
}

#[test]
fn no_color_leaves_no_colour_on_any_screen() {
    for keys in ["", "?", ":", "r", "/"] {
        for tab in ["agents", "plugins", "hello", "weather"] {
            let mut world = busy((80, 24));
            world.app.theme = world.app.theme.with_depth(Depth::None);
            world.agents(some_agents(true), true);
            world.go(tab).keys(keys);
            let mut buf = world.draw();
            Depth::None.apply(&mut buf);
            let bare = buf.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset);
            assert!(bare, "{tab} {keys}");
        }
    }
}

// ---- whatever comes

/// Texts that break naive layouts.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z ]{1,12}",
        2 => prop::sample::select(vec![
            "漢字", "👩‍💻", "🇧🇷", "⚠️", "e\u{301}", "\u{301}", "\u{200d}", "\u{202e}", "مرحبا", "ﷺ", "\n", "\t",
            "\u{1b}[31m", "\u{1b}[7m", "\u{1b}]0;x\u{7}", "\u{1b}[", "\r\n", "\u{85}",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn any_size() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![
        2 => prop::sample::select(vec![(0, 0), (1, 1), (2, 1), (1, 9), (30, 5), (40, 12), (200, 50), (300, 2)]),
        4 => (0u16..220, 0u16..60),
    ]
}

/// What a person and a plugin may do, in any order.
#[derive(Clone, Debug)]
enum Deed {
    Key(&'static str),
    Click(u16, u16),
    Wheel(bool, u16, u16),
    Resize((u16, u16)),
    Frame(String, bool),
    Manifest(String),
    Fail(String),
    Hide(bool),
    Text(String),
    Paste(String),
    Agents(bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    let key = prop::sample::select(vec![
        "1",
        "2",
        "3",
        "4",
        "5",
        "tab",
        "shift+tab",
        "?",
        ":",
        "/",
        "esc",
        "enter",
        "up",
        "down",
        "pgup",
        "pgdown",
        "g",
        "G",
        "right",
        "left",
        "shift+down",
        "shift+up",
        "a",
        "r",
        "y",
        "n",
        "o",
        "backspace",
        "ctrl+u",
        "space",
        "home",
        "end",
        "ctrl+c",
        "J",
        "K",
        "é",
        "日",
    ]);
    prop_oneof![
        8 => key.prop_map(Deed::Key),
        2 => (0u16..220, 0u16..60).prop_map(|(x, y)| Deed::Click(x, y)),
        2 => (any::<bool>(), 0u16..220, 0u16..60).prop_map(|(down, x, y)| Deed::Wheel(down, x, y)),
        2 => any_size().prop_map(Deed::Resize),
        2 => (hard_text(), any::<bool>()).prop_map(|(view, capturing)| Deed::Frame(view, capturing)),
        1 => hard_text().prop_map(Deed::Manifest),
        1 => hard_text().prop_map(Deed::Fail),
        1 => any::<bool>().prop_map(Deed::Hide),
        1 => hard_text().prop_map(Deed::Text),
        1 => hard_text().prop_map(Deed::Paste),
        1 => any::<bool>().prop_map(Deed::Agents),
    ]
}

fn act(world: &mut World, deed: Deed) {
    match deed {
        Deed::Key(name) => drop(world.key(name)),
        Deed::Click(x, y) => drop(world.click(x, y)),
        Deed::Wheel(down, x, y) => drop(world.wheel(down, x, y)),
        Deed::Resize((columns, rows)) => drop(world.resize(columns, rows)),
        Deed::Frame(view, capturing) => drop(world.frame("hello", &view, Some(7), capturing)),
        Deed::Manifest(text) => {
            let text = sys::text::clean(&text);
            world.manifest("hello", &text, &[("ping", &text)]);
        }
        Deed::Fail(text) => {
            let text = sys::text::clean_lines(&text);
            world.says("hello", What::Failed { reason: text.clone(), stderr: text });
        }
        Deed::Hide(hidden) => {
            // Only what differs: the driver says nothing else.
            let is = *world.phase("clock") == lazyagents::app::state::Phase::Hidden;
            if is != hidden {
                world.event(Event::Hidden { plugin: 0, hidden });
            }
        }
        Deed::Text(text) => {
            let lines = sys::text::clean_lines(&text).lines().map(str::to_owned).collect();
            world.event(Event::Text { title: sys::text::clean(&text), lines });
        }
        Deed::Paste(text) => drop(world.paste(&text)),
        Deed::Agents(complete) => drop(world.agents(some_agents(complete), complete)),
    }
}

proptest! {
    #[test]
    fn nothing_that_happens_in_any_size_panics(size in any_size(), deeds in prop::collection::vec(deed(), 0..40)) {
        let mut world = busy(size);
        world.draw();
        for deed in deeds {
            act(&mut world, deed);
            let buf = world.draw();
            prop_assert!(buf.content.iter().all(|cell| !cell.symbol().contains(|c: char| c.is_control())));
            let screen = crate::world::show(&buf);
            prop_assert!(!screen.contains("because of a bug"), "a panic was contained:\n{}", screen);
            let active = world.app.active;
            prop_assert!(active < world.app.tabs.len());
        }
    }
}
