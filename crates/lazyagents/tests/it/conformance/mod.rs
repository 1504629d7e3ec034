//! The plugin contract in a real terminal: a few cases of the conformance suite told again, so that `cargo test` alone
//! finds a broken one. Clause ids are those of the suite.

mod exec;
mod life;

use serde_json::{Value, json};
use testkit::{Color, Home, Pty};

use crate::terminal::{BODY, ORIGIN, mouse, open, open_with, quit};

/// The fields of a message, in the order in which they stand in its line.
fn fields(message: &Value) -> Vec<&str> {
    message.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn i1_t1_w2_init_is_the_first_line_and_whole() {
    let home = Home::new();
    home.config("hello: { greeting: hi, n: 3, list: [1, two] }\ntui: { startTab: hello }\n");
    let misfit = home.misfit("hello", "good");
    let pty = open(&home);
    pty.wait_text("ready hello");
    let line = misfit.received().remove(0);
    assert!(!line.contains("\": ") && !line.contains(", \"") && line.starts_with(r#"{"type":"init","protocol":1,"#));
    let init: Value = serde_json::from_str(&line).unwrap();
    let names = "type protocol id home configDir dataDir libraryDir theme config width height";
    assert_eq!(fields(&init).join(" "), names);
    let path = |name: &str| init[name].as_str().unwrap().to_owned();
    assert_eq!(path("home"), home.home().display().to_string());
    assert_eq!(path("configDir"), home.config_dir().display().to_string());
    assert_eq!(path("dataDir"), home.data_dir().display().to_string());
    assert_eq!(path("libraryDir"), home.data_dir().join("skills").display().to_string());
    assert_eq!(init["config"], json!({"greeting": "hi", "n": 3, "list": [1, "two"]}));
    assert_eq!((&init["width"], &init["height"]), (&json!(BODY.0), &json!(BODY.1)));
    let colors = init["theme"]["colors"].as_object().unwrap();
    for name in
        ["Primary", "SynPunct", "ui.accent", "syntax.comment", "diagnostic.ok", "git.staged", "ansi.bright_white"]
    {
        let value = colors[name].as_str().unwrap_or_else(|| panic!("{name}"));
        let hex = value.strip_prefix('#').unwrap();
        assert!(hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{value}");
    }
    quit(&pty);
}

#[test]
fn g2_without_a_section_there_is_no_config_field() {
    let (_home, misfit, pty) = open_with("good");
    assert!(misfit.messages("init")[0].get("config").is_none());
    quit(&pty);
}

#[test]
fn a1_agents_come_once_to_every_plugin() {
    let home = Home::new();
    home.program("claude", "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    let (one, two) = (home.misfit("one", "good"), home.misfit("two", "good"));
    let pty = open(&home);
    for misfit in [&one, &two] {
        let message = misfit.wait_message("agents", |_| true, "the agents");
        let agents = message["agents"].as_array().unwrap();
        assert_eq!(agents.len(), 10);
        assert_eq!(fields(&agents[0]), ["id", "name", "installed", "version", "managedDir", "readDirs"]);
        assert_eq!((&agents[0]["installed"], &agents[0]["version"]), (&json!(true), &json!("2.1.0")));
        assert!(agents[1].get("version").is_none());
    }
    // Everything that was sent before this key has come.
    pty.send("k");
    one.wait_message("key", |_| true, "the key");
    assert_eq!((one.messages("agents").len(), two.messages("agents").len()), (1, 1));
    quit(&pty);
}

#[test]
fn k1_k4_keys_arrive_with_name_and_text_in_order() {
    let (_home, misfit, pty) = open_with("good");
    pty.send("aA é日\r\x1b[A\x1b[1;5C\x01\x1b[15~\x1bx");
    misfit.wait_message("key", |key| key["key"] == "alt+x", "the last key");
    let got: Vec<(String, Option<String>)> = misfit
        .messages("key")
        .iter()
        .map(|key| (key["key"].as_str().unwrap().to_owned(), key["text"].as_str().map(str::to_owned)))
        .collect();
    let typed = |key: &str, text: &str| (key.to_owned(), Some(text.to_owned()));
    let plain = |key: &str| (key.to_owned(), None);
    assert_eq!(
        got,
        [
            typed("a", "a"),
            typed("A", "A"),
            typed("space", " "),
            typed("é", "é"),
            typed("日", "日"),
            plain("enter"),
            plain("up"),
            plain("ctrl+right"),
            plain("ctrl+a"),
            plain("f5"),
            plain("alt+x"),
        ]
    );
    quit(&pty);
}

#[test]
fn k6_k7_global_keys_are_the_plugins_only_while_it_captures() {
    let (_home, misfit, pty) = open_with("capturing");
    pty.send("q?:1\t\x1b[Z");
    misfit.wait_message("key", |key| key["key"] == "shift+tab", "the last global key");
    let names: Vec<String> = misfit.messages("key").iter().map(|key| key["key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["q", "?", ":", "1", "tab", "shift+tab"]);
    pty.send("\x1b");
    // The frame that answers esc lets go of the keys.
    pty.wait_text("keys 7");
    pty.wait_text("? help");
    pty.wait_gone("keys go to");
    quit(&pty);
    assert_eq!(misfit.messages("key").len(), 7);
}

#[test]
fn k7_ctrl_c_twice_ends_a_plugin_that_never_lets_go() {
    let (_home, misfit, pty) = open_with("capturing");
    pty.send("\x03");
    misfit.wait_message("key", |key| key["key"] == "ctrl+c", "the first ctrl+c");
    pty.send("\x03");
    assert_eq!(pty.wait_exit(crate::terminal::QUITTING), testkit::Exit::Code(0));
    crate::terminal::restored(&pty);
    assert_eq!(misfit.messages("key").len(), 2, "the second one goes to the plugin too");
}

#[test]
fn k8_c1_the_palette_takes_the_keys_and_sends_the_command() {
    let (_home, misfit, pty) = open_with("good");
    pty.send(":hello pi");
    pty.wait_text("Count to one");
    pty.send("\r");
    misfit.wait_message("command", |command| command["name"] == "ping", "the command");
    pty.wait_text("commands 1");
    assert_eq!(misfit.messages("key"), Vec::<Value>::new());
    pty.send(":reload\r");
    misfit.wait_message("reload", |_| true, "reload");
    pty.send("?");
    pty.wait_text("lets go of the keys");
    pty.send("xyz\x1b");
    pty.wait_gone("lets go of the keys");
    pty.send("z");
    misfit.wait_message("key", |key| key["key"] == "z", "the key after the help");
    assert_eq!(misfit.messages("key").len(), 1);
    quit(&pty);
}

/// Draws one frame per key, the last of them many at once.
const FRAMES: &str = r#"#!/bin/sh
[ "$1" = serve ] || exit 0
read -r line
echo '{"type":"manifest","title":"Frames"}'
printf '{"type":"frame","view":"one","count":1}\n{"type":"frame","view":"two","count":2}\n{"type":"frame","view":"ready three","count":3}\n'
while read -r line; do
    case $line in
    *'"type":"key"'*) printf '\n  \r\n{"type":"later","x":1}\n{"type":"manifest","title":"Other"}\n{"type":"frame","view":"a\\u00e9日","more":[1]}\r\n' ;;
    esac
done
"#;

#[test]
fn f1_f2_w1_w4_the_last_frame_is_the_whole_state() {
    let home = Home::new();
    home.plugin("frames.sh", FRAMES);
    let pty = open(&home);
    let screen = pty.wait_for(|screen| screen.has("ready three") && screen.line(0).contains('3'), "the last frame");
    assert!(screen.line(0).contains("Frames") && !screen.has("one") && !screen.has("two"), "{screen}");
    pty.send("x");
    let screen = pty.wait_text("aé日");
    assert!(!screen.has("ready") && !screen.line(0).contains('3') && !screen.has("Other"), "{screen}");
    quit(&pty);
}

#[test]
fn s1_to_s8_of_a_hostile_view_only_text_and_colours_reach_the_terminal() {
    let home = Home::new();
    home.misfit("hello", "escapes");
    let pty = open(&home);
    let screen = pty.wait_text("unclosed");
    for text in [
        "plain red kept",
        "title  end",
        "clip  end",
        "link text end",
        "move LEFT end",
        "dcs  apc  pm  end",
        "tab    here",
        "query  end",
        "open unclosed",
    ] {
        assert!(screen.has(text), "{text:?} is missing:\n{screen}");
    }
    assert!(screen.line(0).contains("lazyagents") && screen.line(0).contains("Misfit hello"), "{screen}");
    let (row, column) = screen.find("red").unwrap();
    let red = screen.cell(row, column);
    assert!(red.bold && red.fg != screen.cell(row, column - 3).fg);
    let background = screen.cell(23, 40).bg;
    assert_eq!(red.bg, background, "S8: no background of its own is the theme's");
    let (row, column) = screen.find("unclosed").unwrap();
    assert_ne!(screen.cell(row, column).fg, screen.cell(row, column - 3).fg);
    quit(&pty);
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    for leak in
        ["LEAK-", "leak.example", "\u{1b}]0;", "\u{1b}]52;", "\u{1b}]8;", "\u{1b}P", "\u{1b}_", "\u{9b}", "\u{7}"]
    {
        assert!(!raw.contains(leak), "{leak:?} reached the terminal");
    }
    assert_eq!(raw.matches("\u{1b}[6n").count(), 0, "a plugin cannot ask the terminal");
}

/// Draws a box along the edge of its tab, one cell inside it a marker.
const EDGE: &str = r#"#!/bin/sh
[ "$1" = serve ] || exit 0
echo '{"type":"manifest","title":"Edge"}'
while read -r line; do
    case $line in
    '{"type":"init"'* | '{"type":"resize"'*)
        w=$(printf %s "$line" | sed 's/.*"width":\([0-9]*\).*/\1/')
        h=$(printf %s "$line" | sed 's/.*"height":\([0-9]*\).*/\1/')
        awk -v w="$w" -v h="$h" 'BEGIN {
            printf "{\"type\":\"frame\",\"view\":\""
            for (r = 1; r <= h; r++) {
                for (c = 1; c <= w; c++) printf "%s", (r == 1 || r == h) && (c == 1 || c == w) ? "+" : (r == 2 && c == 2) ? w : "."
                if (r < h) printf "\\n"
            }
            print "\"}"
        }'
        ;;
    esac
done
"#;

/// The four corners of the box, when it is there and nothing of it is cut off.
#[track_caller]
fn corners(pty: &Pty, rows: u16, columns: u16) {
    let (width, height) = (columns - (80 - BODY.0), rows - (24 - BODY.1));
    let (left, top) = ORIGIN;
    let (right, bottom) = (left + width - 1, top + height - 1);
    let expected = [(top, left), (top, right), (bottom, left), (bottom, right)];
    pty.wait_for(|screen| screen.find_all("+") == expected, &format!("corners at {expected:?}"));
}

#[test]
fn h1_h2_a_frame_of_the_size_that_was_told_is_shown_whole_at_every_size() {
    let home = Home::new();
    home.plugin("edge", EDGE);
    let pty = open(&home);
    corners(&pty, 24, 80);
    for (rows, columns) in [(40, 120), (12, 40), (50, 200), (9, 12), (24, 80)] {
        pty.resize(rows, columns);
        corners(&pty, rows, columns);
    }
    quit(&pty);
}

#[test]
fn h2_a_resize_reaches_every_plugin_once() {
    let home = Home::new();
    let (one, two) = (home.misfit("one", "good"), home.misfit("two", "good"));
    let pty = open(&home);
    pty.wait_text("ready one");
    two.wait_message("init", |_| true, "init");
    pty.resize(30, 100);
    for misfit in [&one, &two] {
        let size = |message: &Value| (message["width"].clone(), message["height"].clone()) == (json!(98), json!(27));
        misfit.wait_message("resize", size, "the size");
    }
    pty.send("k");
    one.wait_message("key", |_| true, "a key after it");
    assert_eq!(one.messages("resize").len(), 1);
    quit(&pty);
}

#[test]
fn p1_a_paste_is_one_message_untouched() {
    let (_home, misfit, pty) = open_with("good");
    assert!(pty.screen().bracketed_paste());
    pty.send("\x1b[200~q ? :\rline two\t\x1b[31m\u{2713}\x1b[201~");
    let paste = misfit.wait_message("paste", |_| true, "the paste");
    assert_eq!(paste["text"], "q ? :\rline two\t\x1b[31m\u{2713}");
    pty.wait_text("pastes 1");
    assert!(misfit.messages("key").is_empty());
    quit(&pty);
}

#[test]
fn p1_a_paste_that_fits_no_line_is_split_and_whole() {
    // One that does not show what it got: such a frame would be too long itself.
    let home = Home::new();
    let misfit = home.misfit("hello", "badutf8");
    let pty = open(&home);
    pty.wait_text("bytes");
    let text = "0123456789abcde\r".repeat(150_000);
    for piece in [b"\x1b[200~", text.as_bytes(), b"\x1b[201~"] {
        pty.send(piece);
    }
    pty.send("z");
    misfit.wait_message("key", |key| key["key"] == "z", "the key after the paste");
    let pieces = misfit.messages("paste");
    assert!(pieces.len() >= 3, "{}", pieces.len());
    let whole: String = pieces.iter().map(|paste| paste["text"].as_str().unwrap()).collect();
    assert!(whole == text, "{} bytes became {}", text.len(), whole.len());
    assert!(misfit.received().iter().all(|line| line.len() <= 1 << 20));
    quit(&pty);
}

#[test]
fn x1_x2_x3_the_mouse_is_relative_to_the_body_and_the_bar_is_the_hosts() {
    let home = Home::new();
    let (one, two) = (home.misfit("one", "good"), home.misfit("two", "good"));
    let pty = open(&home);
    pty.wait_text("ready one");
    assert!(pty.screen().mouse());
    let (left, top) = ORIGIN;
    pty.send(mouse(0, left, top, true) + &mouse(0, left, top, false));
    pty.send(mouse(2, left + 9, top + 4, true));
    pty.send(mouse(65, left + BODY.0 - 1, top + BODY.1 - 1, true));
    pty.send(mouse(16, left + 1, top + 1, true));
    // None of these is the plugin's: margin, header (right of all tabs, whatever their titles are by now), footer, motion.
    pty.send(mouse(0, 0, top, true) + &mouse(0, 62, 1, true) + &mouse(0, 62, 23, true) + &mouse(35, 10, 10, true));
    pty.send("k");
    one.wait_message("key", |_| true, "the key after them");
    let got: Vec<Value> = one.messages("mouse").iter().map(|message| message["mouse"].clone()).collect();
    assert_eq!(
        got,
        [
            json!({"kind": "click", "x": 0, "y": 0, "button": "left"}),
            json!({"kind": "click", "x": 9, "y": 4, "button": "right"}),
            json!({"kind": "wheel", "x": BODY.0 - 1, "y": BODY.1 - 1, "button": "wheeldown"}),
            json!({"kind": "click", "x": 1, "y": 1, "button": "ctrl+left"}),
        ]
    );
    let (row, column) = pty.find("Misfit two").unwrap();
    pty.send(mouse(0, column, row, true));
    pty.wait_text("ready two");
    pty.send(mouse(0, left, top, true));
    two.wait_message("mouse", |_| true, "a click on its own tab");
    quit(&pty);
}

#[test]
fn the_mouse_can_be_switched_off() {
    let home = Home::new();
    home.config("tui: { mouse: false, hidden: [sessions, providers, hooks, usage] }\n");
    home.misfit("hello", "good");
    let pty = open(&home);
    assert!(!pty.wait_text("ready hello").mouse());
    quit(&pty);
}

#[test]
fn answers_of_the_terminal_never_reach_a_plugin() {
    let home = Home::new();
    let misfit = home.misfit("hello", "good");
    let pty = open(&home);
    pty.answer_as_a_terminal();
    pty.wait_text("ready hello");
    pty.send("\x1b[?62;22c\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[I\x1b[O\x1b[24;80R\x1bP1$r0m\x1b\\\x1b[?0u");
    pty.send("k");
    misfit.wait_message("key", |key| key["key"] == "k", "the key");
    assert_eq!(misfit.messages("key").len(), 1);
    quit(&pty);
}

#[test]
fn n2_n3_the_title_is_on_the_tab_and_the_id_opens_it() {
    let home = Home::new();
    home.misfit("one", "good");
    home.misfit("two.sh", "good");
    let pty = open(&home);
    pty.wait_for(
        |screen| screen.line(0).contains("Misfit one") && screen.line(0).contains("Misfit two"),
        "both titles",
    );
    pty.send(":two\r");
    pty.wait_text("ready two");
    quit(&pty);
}

#[test]
fn s1_colours_of_a_frame_are_the_terminals_and_none_with_no_color() {
    let home = |no_color: bool| {
        let mut home = Home::new();
        if no_color {
            home.set_env("NO_COLOR", "1");
        }
        home.misfit("hello", "escapes");
        home
    };
    let shown = |home: &Home| {
        let pty = open(home);
        let screen = pty.wait_text("unclosed");
        quit(&pty);
        let (row, column) = screen.find("red").unwrap();
        (screen.cell(row, column), String::from_utf8_lossy(&pty.raw()).into_owned())
    };
    assert!(matches!(shown(&home(false)).0.fg, Color::Rgb(..) | Color::Idx(_)));
    let (cell, raw) = shown(&home(true));
    assert_eq!((cell.fg, cell.bg, cell.bold), (Color::Default, Color::Default, true));
    assert!(!raw.contains("38;2;") && !raw.contains("48;2;") && !raw.contains("38;5;"), "a colour was written");
}

/// Draws once and never answers.
const MUTE: &str = r#"#!/bin/sh
[ "$1" = serve ] || exit 0
echo '{"type":"manifest","title":"Mute","commands":[{"name":"run","desc":"never answered"}]}'
echo '{"type":"frame","view":"ready mute"}'
while read -r line; do :; done
"#;

/// The layer closed although the plugin does not answer.
#[test]
fn the_palette_goes_from_the_screen_when_its_command_is_only_sent() {
    let home = Home::new();
    home.plugin("mute", MUTE);
    for command in [":mute run", ":reload"] {
        let pty = open(&home);
        pty.wait_text("ready mute");
        pty.send(command);
        pty.wait_text(&command[1..]);
        pty.send("\r");
        pty.wait_gone("enter run");
        quit(&pty);
    }
}

#[test]
fn a_command_of_another_plugin_shows_its_tab_at_once() {
    let home = Home::new();
    home.misfit("a", "good");
    home.plugin("mute", MUTE);
    let pty = open(&home);
    pty.wait_text("ready a");
    pty.send("2");
    pty.wait_text("ready mute");
    pty.send("1");
    pty.wait_text("ready a");
    pty.send(":mute run");
    pty.wait_text("enter run");
    pty.send("\r");
    pty.wait_text("ready mute");
    quit(&pty);
}
