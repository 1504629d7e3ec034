//! Which tabs there are, in which order, what is shown first, and their size (clauses D8, H1, H2).

use lazyagents::app::event::{Effect, Event};
use lazyagents::app::state::body;

use crate::world::{World, context, three};

#[test]
fn d8_plugins_in_file_order_then_ours() {
    assert_eq!(three().tabs(), ["one", "three", "two", "agents", "plugins"]);
    assert_eq!(World::new(&[], "").tabs(), ["agents", "plugins"]);
}

#[test]
fn the_config_orders_hides_and_chooses() {
    for (yaml, tabs, active) in [
        ("tui: { tabs: [plugins, two] }", vec!["plugins", "two", "one", "three", "agents"], "plugins"),
        ("tui: { tabs: [nobody, two, two] }", vec!["two", "one", "three", "agents", "plugins"], "two"),
        ("tui: { startTab: two }", vec!["one", "three", "two", "agents", "plugins"], "two"),
        ("tui: { hidden: [one, agents] }", vec!["three", "two", "plugins"], "three"),
        ("tui: { hidden: two, startTab: plugins }", vec!["one", "three", "agents", "plugins"], "plugins"),
        ("tui: { hidden: [one, two, three, agents, plugins] }", vec!["plugins"], "plugins"),
    ] {
        let world = World::new(&["one", "three", "two"], yaml);
        assert_eq!((world.tabs(), world.active()), (tabs, active), "{yaml}");
    }
}

#[test]
fn a_start_tab_that_is_not_there_is_said() {
    for yaml in ["tui: { startTab: nobody }", "tui: { startTab: two, hidden: [two] }"] {
        let world = World::new(&["one", "two"], yaml);
        assert_eq!(world.active(), "one");
        assert!(world.footer().contains("startTab"), "{}", world.footer());
    }
}

#[test]
fn what_is_wrong_at_the_start_is_said() {
    for (yaml, word) in [
        ("theme: nobody", "nobody"),
        ("tui: { keys: { no.such: x } }", "no.such"),
        ("tui: { keys: { app.quit: nokey } }", "nokey"),
        ("tui: { mouse: 3 }", "tui.mouse"),
    ] {
        let world = World::new(&[], yaml);
        assert!(world.footer().contains(word), "{yaml}: {}", world.footer());
    }
    let world = World::of(&context(&[], &[("README.md", "it is not executable")], ""), (100, 30));
    assert!(world.footer().contains("1 file in the plugins folder ignored"), "{}", world.footer());
}

#[test]
fn h1_the_body_is_the_screen_less_a_constant() {
    let full = body((100, 30));
    let (columns, rows) = (100 - full.width, 30 - full.height);
    assert!(columns <= 4 && rows <= 5, "{full:?}");
    for width in 10..200 {
        for height in 8..80 {
            let body = body((width, height));
            assert_eq!((width - body.width, height - body.height), (columns, rows));
            assert!(body.right() <= width && body.bottom() <= height);
        }
    }
    for size in [(0, 0), (1, 1), (2, 1), (1, 9), (3, 2), (5, 3)] {
        let body = body(size);
        assert!(body.width >= 1 && body.height >= 1, "{size:?}");
        assert!(body.right() <= size.0.max(1) && body.bottom() <= size.1.max(1), "{size:?} {body:?}");
    }
}

#[test]
fn h2_a_new_size_is_told_once_and_the_same_size_not_at_all() {
    let mut world = three();
    let size = body((80, 24));
    assert_eq!(world.resize(80, 24), [Effect::Body(size.width, size.height)]);
    assert_eq!(world.resize(80, 24), []);
    let size = body((81, 24));
    assert_eq!(world.resize(81, 24), [Effect::Body(size.width, size.height)]);
}

#[test]
fn the_numbers_of_the_plugins_tab_are_asked_only_while_it_is_shown() {
    let mut world = three();
    assert_eq!(world.event(Event::Tick), []);
    assert_eq!(world.key("5"), [Effect::Stats]);
    assert_eq!(world.event(Event::Tick), [Effect::Stats]);
    world.key("1");
    assert_eq!(world.event(Event::Tick), []);
}

#[test]
fn a_toast_goes_after_its_time() {
    let mut world = three();
    world.event(Event::Done("copied".to_owned()));
    assert!(world.footer().contains("copied"));
    world.later(60_000).event(Event::Tick);
    assert!(!world.footer().contains("copied"));
}

#[test]
fn tab_numbers_beyond_the_last_do_nothing() {
    let mut world = World::new(&[], "");
    assert_eq!(world.keys("2"), [Effect::Stats]);
    assert_eq!(world.keys("3 9 0"), []);
    assert_eq!(world.active(), "plugins");
}
