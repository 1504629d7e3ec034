//! The palette: what is in it, what ranks first, what a command does (clauses C1, C2, R1, R2, R4).

use lazyagents::app::event::Effect;
use lazyagents::app::state::{Layer, Phase};
use wire::plugin::HostMessage;

use crate::world::{World, sent, three};

/// The names that the open palette shows, best first.
fn names(world: &World) -> Vec<String> {
    match &world.app.layer {
        Some(Layer::Palette(palette)) => palette.matches().map(|item| item.name.clone()).collect(),
        other => panic!("no palette but {other:?}"),
    }
}

#[test]
fn c1_a_plugins_command_goes_to_its_tab_and_is_sent_without_the_id() {
    let mut world = three();
    world.alive("one").alive("two").go("agents");
    let effects = world.palette("two ping");
    assert_eq!(effects, [sent(2, HostMessage::Command { name: "ping".to_owned() })]);
    assert_eq!(world.active(), "two");
}

#[test]
fn c1_an_id_alone_opens_the_tab() {
    let mut world = three();
    world.alive("two").go("agents");
    assert_eq!(world.palette("two"), []);
    assert_eq!(world.active(), "two");
    world.palette("agents");
    assert_eq!(world.active(), "agents");
}

#[test]
fn c2_an_exact_name_ranks_first() {
    let mut world = three();
    world.manifest("one", "one", &[("reload", "a"), ("reload-all", "b"), ("help", "c"), ("quit", "d")]);
    for (name, expected) in [
        ("reload", sent(0, HostMessage::Reload)),
        ("RELOAD", sent(0, HostMessage::Reload)),
        ("quit", Effect::Quit),
        ("one quit", sent(0, HostMessage::Command { name: "quit".to_owned() })),
    ] {
        assert_eq!(world.palette(name), [expected], "{name}");
    }
}

#[test]
fn c1_a_prefix_ranks_before_a_fuzzy_match_and_descriptions_count_too() {
    let mut world = three();
    world.manifest("one", "one", &[("ping", "Count to one"), ("wipe", "Clean the whiteboard")]);
    world.key(":");
    world.type_text("on");
    assert!(names(&world)[0].starts_with("on"), "{:?}", names(&world));
    world.keys("esc :");
    world.type_text("whiteboard");
    assert_eq!(names(&world)[0], "one wipe");
}

#[test]
fn c1_commands_of_plugins_that_say_nothing_or_failed_are_not_there() {
    let mut world = three();
    world.alive("one").alive("two").fail("two");
    world.key(":");
    let names = names(&world);
    assert!(names.contains(&"one ping".to_owned()));
    assert!(!names.iter().any(|name| name == "two ping" || name == "three ping"), "{names:?}");
    assert!(names.contains(&"two".to_owned()), "its tab can still be reached");
}

#[test]
fn c1_a_command_of_a_plugin_that_fails_while_the_palette_is_open_goes_from_it() {
    let mut world = three();
    world.alive("one").go("agents").key(":");
    world.type_text("one ping");
    world.fail("one");
    assert_eq!(world.key("enter"), []);
    assert!(!names_or_empty(&world).contains(&"one ping".to_owned()));
}

fn names_or_empty(world: &World) -> Vec<String> {
    if world.app.layer.is_some() { names(world) } else { Vec::new() }
}

#[test]
fn r4_commands_follow_every_manifest_also_while_the_palette_is_open() {
    let mut world = three();
    world.key(":");
    assert!(!names(&world).contains(&"one ping".to_owned()));
    world.type_text("one pi");
    world.alive("one");
    assert_eq!(names(&world)[0], "one ping");
    world.key("esc");
    world.fail("one");
    world.keys("r");
    world.manifest("one", "one", &[("pong", "")]);
    world.key(":");
    let names = names(&world);
    assert!(names.contains(&"one pong".to_owned()) && !names.contains(&"one ping".to_owned()), "{names:?}");
}

#[test]
fn k8_the_palette_takes_keys_and_pastes() {
    let mut world = three();
    world.alive("one").key(":");
    assert_eq!(world.keys("q ? 1 tab"), []);
    assert_eq!(world.active(), "one");
    world.keys("ctrl+u");
    world.keys("esc :");
    assert_eq!(world.paste("one ping\r\n"), []);
    assert_eq!(world.key("enter"), [sent(0, HostMessage::Command { name: "ping".to_owned() })]);
}

#[test]
fn the_palette_closes_by_esc_and_nothing_matches_nothing_runs() {
    let mut world = three();
    world.alive("one").key(":");
    world.type_text("no such command at all");
    assert_eq!(world.key("enter"), []);
    assert_eq!(world.active(), "one");
    world.key("esc");
    assert!(world.app.layer.is_none());
}

#[test]
fn r1_r2_reload_tells_a_living_plugin_and_restarts_a_failed_one() {
    let mut world = three();
    assert_eq!(world.palette("reload"), [sent(0, HostMessage::Reload)]);
    world.alive("one");
    assert_eq!(world.palette("reload"), [sent(0, HostMessage::Reload)]);
    world.alive("two").fail("one");
    assert_eq!(world.palette("reload"), [Effect::Start { plugin: 0, run: 2 }]);
    assert_eq!(*world.phase("one"), Phase::Starting);
    world.go("agents");
    let detection = world.app.detection;
    assert_eq!(world.palette("reload"), [Effect::Detect(detection + 1)]);
    world.go("plugins");
    assert_eq!(world.palette("reload"), [Effect::Stats]);
}

#[test]
fn a_command_of_a_tab_of_ours_runs_on_that_tab() {
    let mut world = three();
    world.alive("one");
    let detection = world.app.detection;
    assert_eq!(world.palette("agents refresh"), [Effect::Detect(detection + 1)]);
    assert_eq!(world.active(), "agents");
    let effects = world.palette("plugins log");
    assert!(effects.contains(&Effect::ReadLog(0)), "{effects:?}");
    assert_eq!(world.active(), "plugins");
}

#[test]
fn every_theme_is_a_command() {
    let mut world = three();
    let ids = tui::theme::Theme::builtin_ids();
    assert!(ids.len() >= 2);
    for id in ids {
        assert_eq!(world.palette(&format!("theme {id}")), [Effect::Theme(id.to_owned())]);
    }
}

#[test]
fn a_hidden_tab_has_no_commands() {
    let mut world = World::new(&["one"], "tui: { hidden: [agents, one] }");
    world.key(":");
    let names = names(&world);
    assert!(!names.iter().any(|name| name.starts_with("agents") || name.starts_with("one")), "{names:?}");
}
