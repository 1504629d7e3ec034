//! Help, texts and questions take the keys while they are open (clause K8), and esc closes them.

use lazyagents::app::event::{Effect, Event};

use crate::world::three;

#[test]
fn k8_the_help_takes_every_key_and_esc_q_and_the_question_mark_close_it() {
    for close in ["esc", "q", "?"] {
        let mut world = three();
        world.alive("one").key("?");
        assert_eq!(world.keys("a r tab 1 down pgdown end enter : ctrl+z"), []);
        assert_eq!(world.active(), "one");
        assert!(world.app.layer.is_some());
        assert_eq!(world.key(close), []);
        assert!(world.app.layer.is_none(), "{close}");
    }
}

#[test]
fn n4_the_help_of_a_plugins_tab_has_the_hosts_keys_and_the_plugins() {
    let mut world = three();
    world.alive("one").key("?");
    world.shows("Keys of its own");
    world.shows("does what it does");
    world.shows("next tab");
    world.key("esc");
    world.fail("one");
    world.key("?");
    world.hides("Keys of its own");
    world.shows("restart the plugin");
}

#[test]
fn the_help_follows_the_key_map() {
    let yaml = "tui: { keys: { app.quit: [], plugins.restart: [R, f5] } }";
    let mut world = crate::world::World::new(&[], yaml);
    world.resize(100, 50);
    world.go("plugins").key("?");
    world.shows("R f5");
    world.shows(":quit");
}

#[test]
fn a_text_is_read_from_its_end_and_closes() {
    let mut world = three();
    let lines = (0..200).map(|n| format!("log line {n}")).collect();
    world.alive("one");
    world.event(Event::Text { title: "~/one.log".to_owned(), lines });
    world.shows("~/one.log");
    world.shows("log line 199");
    assert_eq!(world.keys("home tab a"), []);
    world.shows("log line 0");
    assert_eq!(world.key("esc"), []);
    world.hides("log line");
}

#[test]
fn ctrl_c_closes_a_layer_and_does_not_quit() {
    for open in ["?", ":"] {
        let mut world = three();
        world.alive("one").key(open);
        assert_eq!(world.key("ctrl+c"), [], "{open}");
        assert!(world.app.layer.is_none(), "{open}");
        assert_eq!(world.key("ctrl+c"), [Effect::Quit]);
    }
}

#[test]
fn pastes_into_help_and_questions_do_nothing() {
    let mut world = three();
    world.alive("one").key("?");
    assert_eq!(world.paste("y"), []);
    world.key("esc");
    world.go("plugins").key("r");
    assert_eq!(world.paste("y"), []);
    assert!(world.app.layer.is_some());
}

#[test]
fn a_layer_stays_when_plugins_talk_and_the_window_changes() {
    let mut world = three();
    world.alive("one").key("?");
    world.alive("two").fail("two");
    world.frame("one", "new", Some(3), true);
    let size = world.resize(80, 24);
    assert!(matches!(size.as_slice(), [Effect::Body(..)]), "H1: sent also while the help is open");
    assert!(world.app.layer.is_some());
    assert_eq!(world.key("esc"), [], "and a plugin that captures now does not get the keys of the help");
}
