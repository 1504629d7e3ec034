//! Who gets a key: the host's global ones, the plugin, or both (clauses K5 to K9, P1, "decided since").

use lazyagents::app::event::{Effect, Event};
use tui::input::Input;
use wire::plugin::HostMessage;

use crate::world::{World, is_plugin, key_to, sent, three};

/// The seed's list, to the letter.
const GLOBAL: &str = "q ? : tab shift+tab 1 2 3 4 5 6 7 8 9";

/// A few of the keys that people would like to take from plugins, and must not.
const NOT_GLOBAL: &str = "a A 0 ! / y j k g G r enter esc space backspace up down left right home end pgup pgdown \
                          delete insert f1 f5 ctrl+l ctrl+r ctrl+z ctrl+x ctrl+d alt+q alt+shift+a shift+up \
                          ctrl+shift+left ctrl+tab Q é 日 kpenter";

#[test]
fn k6_global_keys_never_reach_a_plugin_that_is_not_capturing() {
    for name in GLOBAL.split_ascii_whitespace().chain(["ctrl+c"]) {
        let mut world = three();
        world.alive("one");
        let effects = world.key(name);
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Send(..))), "{name}: {effects:?}");
    }
}

#[test]
fn k6_global_keys_do_what_they_are_for() {
    let mut world = three();
    world.alive("one");
    assert_eq!(world.tabs(), ["one", "three", "two", "agents", "plugins"]);
    for (key, tab) in [("tab", "three"), ("3", "two"), ("shift+tab", "three"), ("1", "one"), ("9", "one")] {
        world.alive(tab_or(&world, "one"));
        world.key(key);
        assert_eq!(world.active(), tab, "after {key}");
    }
    world.key("shift+tab");
    assert_eq!(world.active(), "plugins", "tabs go round");
    world.key("tab");
    assert_eq!(world.active(), "one");
    assert_eq!(world.key("q"), [Effect::Quit]);
    assert_eq!(world.key("ctrl+c"), [Effect::Quit]);
    world.key("?");
    world.shows("this help");
    world.key("?");
    world.hides("this help");
}

/// The active tab when a plugin has it, else `other`.
fn tab_or<'a>(world: &World, other: &'a str) -> &'a str {
    ["one", "two", "three"].into_iter().find(|id| world.active() == *id).unwrap_or(other)
}

#[test]
fn k1_k6_every_other_key_goes_to_the_plugin_with_its_text() {
    for name in NOT_GLOBAL.split_ascii_whitespace() {
        let mut world = three();
        world.alive("one");
        assert_eq!(world.key(name), [key_to(0, name)], "{name}");
        assert!(is_plugin(&world, "one"));
    }
    let mut world = three();
    world.alive("one");
    let message = HostMessage::Key { key: "space".to_owned(), text: " ".to_owned() };
    assert_eq!(world.key("space"), [sent(0, message)]);
}

#[test]
fn k7_a_capturing_plugin_gets_every_key() {
    for name in GLOBAL.split_ascii_whitespace().chain(NOT_GLOBAL.split_ascii_whitespace()).chain(["ctrl+c"]) {
        let mut world = three();
        world.alive("one").capture("one", true);
        assert_eq!(world.key(name), [key_to(0, name)], "{name}");
        assert!(is_plugin(&world, "one"), "{name}");
        assert!(world.app.layer.is_none(), "{name}");
    }
}

#[test]
fn k7_the_next_frame_that_does_not_capture_gives_the_keys_back() {
    let mut world = three();
    world.alive("one").capture("one", true);
    assert_eq!(world.key("q"), [key_to(0, "q")]);
    world.capture("one", false);
    assert_eq!(world.key("q"), [Effect::Quit]);
}

#[test]
fn k7_capturing_of_a_tab_that_is_not_shown_counts_for_nothing() {
    let mut world = three();
    world.alive("one").alive("two").capture("two", true);
    assert_eq!(world.key("q"), [Effect::Quit]);
    world.go("agents");
    assert_eq!(world.key("q"), [Effect::Quit]);
}

#[test]
fn k7_ctrl_c_twice_within_a_second_reaches_the_plugin_and_quits() {
    let mut world = three();
    world.alive("one").capture("one", true);
    assert_eq!(world.key("ctrl+c"), [key_to(0, "ctrl+c")]);
    assert_eq!(world.later(900).key("ctrl+c"), [key_to(0, "ctrl+c"), Effect::Quit]);
}

#[test]
fn k7_two_slow_ctrl_c_do_not_quit_and_the_second_counts_as_a_first() {
    let mut world = three();
    world.alive("one").capture("one", true);
    world.key("ctrl+c");
    assert_eq!(world.later(1100).key("ctrl+c"), [key_to(0, "ctrl+c")]);
    assert_eq!(world.later(500).key("ctrl+c"), [key_to(0, "ctrl+c"), Effect::Quit]);
}

#[test]
fn k7_a_change_of_tabs_forgets_the_first_ctrl_c() {
    let mut world = three();
    world.alive("one").alive("three").capture("one", true).capture("three", true);
    world.key("ctrl+c");
    world.capture("one", false).key("2");
    assert_eq!(world.key("ctrl+c"), [key_to(1, "ctrl+c")], "the first one was for another plugin");
}

#[test]
fn k9_r_is_an_ordinary_key_of_a_living_plugin_and_restarts_a_failed_one() {
    let mut world = three();
    world.alive("one");
    assert_eq!(world.key("r"), [key_to(0, "r")]);
    world.fail("one");
    assert_eq!(world.key("r"), [Effect::Start { plugin: 0, run: 2 }]);
}

#[test]
fn k9_a_failed_tab_keeps_the_global_keys_and_ignores_the_rest() {
    let mut world = three();
    world.alive("one").fail("one");
    for name in NOT_GLOBAL.split_ascii_whitespace().filter(|name| !matches!(*name, "r" | "enter")) {
        assert_eq!(world.key(name), [], "{name}");
        assert!(is_plugin(&world, "one"), "{name}");
    }
    assert_eq!(world.key("enter"), [Effect::ReadLog(0)]);
    assert_eq!(world.key("q"), [Effect::Quit]);
    world.key("tab");
    assert_eq!(world.active(), "three");
    assert_eq!(world.paste("text"), [sent(1, HostMessage::Paste { text: "text".to_owned() })]);
    world.go("one");
    assert_eq!(world.paste("text"), [], "nobody is there to read it");
}

#[test]
fn a_plugin_gets_keys_before_its_manifest_and_none_after_it_failed() {
    let mut world = three();
    assert_eq!(world.key("a"), [key_to(0, "a")]);
    world.fail("one");
    assert_eq!(world.key("a"), []);
}

#[test]
fn remapped_keys_take_none_from_plugins() {
    let yaml = "tui: { keys: { app.quit: [Q, f10], app.next: ctrl+n, app.reload: ctrl+r, plugins.restart: x, \
                list.filter: f3, failed.restart: R } }";
    let mut world = World::new(&["one"], yaml);
    world.alive("one");
    for name in ["Q", "f10", "ctrl+n", "ctrl+r", "x", "f3", "R"] {
        assert_eq!(world.key(name), [key_to(0, name)], "{name}");
    }
    assert_eq!(world.key("q"), [], "it is the host's, even when it does nothing (K6)");
    assert_eq!(world.key("tab"), []);
    assert!(is_plugin(&world, "one"));
    assert_eq!(world.key("ctrl+c"), [Effect::Quit], "there is always a way out");
    world.go("agents");
    assert_eq!(world.key("q"), []);
    assert_eq!(world.key("Q"), [Effect::Quit]);
    world.key("ctrl+n");
    assert_eq!(world.active(), "plugins");
    world.go("one").fail("one");
    assert_eq!(world.key("r"), []);
    assert_eq!(world.key("R"), [Effect::Start { plugin: 0, run: 2 }]);
}

#[test]
fn a_global_key_can_get_another_meaning_on_plugins_tabs_too() {
    let mut world = World::new(&["one"], "tui: { keys: { app.quit: [], app.help: q } }");
    world.alive("one");
    assert_eq!(world.key("q"), []);
    world.shows("this help");
}

#[test]
fn ctrl_z_suspends_on_our_own_tabs_and_belongs_to_a_plugin_on_its_own() {
    let mut world = three();
    world.alive("one");
    assert_eq!(world.key("ctrl+z"), [key_to(0, "ctrl+z")]);
    assert_eq!(world.palette("suspend"), [Effect::Suspend { outside: false }]);
    world.go("agents");
    assert_eq!(world.key("ctrl+z"), [Effect::Suspend { outside: false }]);
    assert_eq!(world.event(Event::Suspend), [Effect::Suspend { outside: true }]);
}

#[test]
fn p1_a_paste_goes_to_the_active_plugin_untouched_capturing_or_not() {
    let text = "line one\r\nq ? :\t\u{1b}[31m\rend ✓";
    let paste = || sent(0, HostMessage::Paste { text: text.to_owned() });
    let mut world = three();
    world.alive("one");
    assert_eq!(world.paste(text), [paste()]);
    world.capture("one", true);
    assert_eq!(world.paste(text), [paste()]);
    world.go("agents");
    assert_eq!(world.paste(text), []);
    assert_eq!(world.active(), "agents");
}

#[test]
fn p1_a_long_paste_is_split_so_that_every_line_fits_and_nothing_is_lost() {
    let mut world = three();
    world.alive("one");
    let text = "✓\"\\\n\u{1}é".repeat(300_000);
    let effects = world.paste(&text);
    assert!(effects.len() > 1);
    let mut back = String::new();
    for effect in effects {
        let Effect::Send(0, message) = effect else { panic!("{effect:?}") };
        assert!(wire::encode(&message).len() <= wire::MAX_LINE + 1);
        let HostMessage::Paste { text } = message else { panic!("{message:?}") };
        back.push_str(&text);
    }
    assert!(back == text, "what came out is not what went in");
}

#[test]
fn answers_of_the_terminal_and_the_focus_are_no_keys() {
    let mut world = three();
    world.alive("one");
    assert_eq!(world.event(Event::Input(Input::Focus(true))), []);
    assert_eq!(world.event(Event::Input(Input::Reply(tui::input::Reply::Other))), []);
}

#[test]
fn a_terminal_that_went_away_and_a_request_to_end_quit() {
    let mut world = three();
    assert_eq!(world.event(Event::Input(Input::Closed)), [Effect::Quit]);
    assert_eq!(world.event(Event::Terminate), [Effect::Quit]);
}
