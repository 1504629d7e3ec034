//! Where a click and the wheel go (clauses X1 to X3, K8).

use lazyagents::app::event::Effect;
use tui::input::{Button, MouseKind, Wheel};
use wire::plugin::{HostMessage, Mouse, MouseKind as Kind};

use crate::world::{World, sent, some_agents, three};

fn to_plugin(kind: Kind, x: u16, y: u16, button: &str) -> Effect {
    sent(0, HostMessage::Mouse { mouse: Mouse { kind, x, y, button: button.to_owned() } })
}

#[test]
fn x1_a_click_in_the_body_is_relative_to_it() {
    let mut world = three();
    world.alive("one");
    let body = world.app.body();
    let last = (body.right() - 1, body.bottom() - 1);
    assert_eq!(world.click(body.x, body.y), [to_plugin(Kind::Click, 0, 0, "left")]);
    assert_eq!(world.click(last.0, last.1), [to_plugin(Kind::Click, body.width - 1, body.height - 1, "left")]);
    for (button, name) in [(Button::Right, "right"), (Button::Middle, "middle"), (Button::Button11, "button11")] {
        let effects = world.mouse(MouseKind::Press(button), body.x + 3, body.y + 2);
        assert_eq!(effects, [to_plugin(Kind::Click, 3, 2, name)]);
    }
}

#[test]
fn x1_capturing_changes_nothing() {
    let mut world = three();
    world.alive("one").capture("one", true);
    let body = world.app.body();
    assert_eq!(world.click(body.x, body.y), [to_plugin(Kind::Click, 0, 0, "left")]);
}

#[test]
fn x1_releases_drags_and_motion_are_not_sent() {
    let mut world = three();
    world.alive("one");
    for kind in [MouseKind::Release(Button::Left), MouseKind::Drag(Button::Left), MouseKind::Move] {
        assert_eq!(world.mouse(kind, 10, 10), [], "{kind:?}");
    }
}

#[test]
fn x1_what_is_outside_the_body_is_not_sent() {
    let mut world = three();
    world.alive("one");
    let body = world.app.body();
    let (columns, rows) = world.app.size;
    for (x, y) in [(0, body.y), (columns - 1, body.y), (5, rows - 1), (columns, rows), (u16::MAX, u16::MAX)] {
        assert_eq!(world.click(x, y), [], "{x},{y}");
        assert_eq!(world.wheel(true, x, y), [], "{x},{y}");
    }
    assert_eq!(world.wheel(true, 5, 0), [], "the header is nobody's");
}

#[test]
fn x2_the_wheel_has_the_same_coordinates() {
    let mut world = three();
    world.alive("one");
    let body = world.app.body();
    for (wheel, name) in
        [(Wheel::Up, "wheelup"), (Wheel::Down, "wheeldown"), (Wheel::Left, "wheelleft"), (Wheel::Right, "wheelright")]
    {
        let effects = world.mouse(MouseKind::Wheel(wheel), body.x + 7, body.y + 1);
        assert_eq!(effects, [to_plugin(Kind::Wheel, 7, 1, name)]);
    }
}

#[test]
fn x3_a_left_click_on_the_tab_bar_goes_to_the_tab() {
    let mut world = three();
    world.alive("one");
    for (title, id) in [("three", "three"), ("Agents", "agents"), ("Plugins", "plugins"), ("one", "one")] {
        let bar = world.screen().lines().next().unwrap().to_owned();
        let x = u16::try_from(bar.find(title).unwrap()).unwrap();
        assert_eq!(world.mouse(MouseKind::Press(Button::Right), x, 0), []);
        world.click(x, 0);
        assert_eq!(world.active(), id);
    }
    let x = u16::try_from(world.screen().lines().next().unwrap().find("? help").unwrap()).unwrap();
    world.click(x, 0);
    world.shows("this help");
}

#[test]
fn x3_every_tab_can_be_reached_by_clicks_when_the_bar_is_too_narrow() {
    let ids: Vec<String> = (0..12).map(|n| format!("plugin-number-{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut world = World::new(&ids, "");
    world.resize(40, 12);
    let mut seen = Vec::new();
    for _ in 0..world.app.tabs.len() {
        seen.push(world.active().to_owned());
        let bar: Vec<char> = world.screen().lines().next().unwrap().chars().collect();
        let Some(arrow) = bar.iter().position(|c| *c == '›') else { break };
        world.click(u16::try_from(arrow).unwrap(), 0);
    }
    while let Some(at) = world.screen().lines().next().unwrap().chars().position(|c| c == '‹') {
        let before = world.app.active;
        world.click(u16::try_from(at).unwrap(), 0);
        assert!(world.app.active < before);
    }
    assert!(seen.len() >= 10, "{seen:?}");
    assert!(world.app.active < 2);
}

/// The row of the screen that shows this text below the tab bar.
#[track_caller]
fn row_of(world: &World, text: &str) -> u16 {
    let row = world.screen().lines().skip(2).position(|line| line.contains(text));
    u16::try_from(2 + row.unwrap_or_else(|| panic!("{text}:\n{}", world.screen()))).unwrap()
}

/// The row of the screen on which a list shows this entry.
#[track_caller]
fn entry(world: &World, name: &str) -> u16 {
    let is = |line: &str| line.split_whitespace().find(|word| *word != "▸") == Some(name);
    let row = world.screen().lines().skip(2).position(is);
    u16::try_from(2 + row.unwrap_or_else(|| panic!("{name}:\n{}", world.screen()))).unwrap()
}

#[test]
fn a_click_selects_a_row_and_a_double_click_is_enter() {
    let mut world = three();
    world.alive("one").go("plugins");
    let row = entry(&world, "two");
    world.click(4, row);
    assert_eq!(world.selected(), 2);
    assert_eq!(world.active(), "plugins");
    world.later(300).click(4, row);
    assert_eq!(world.active(), "two");
}

#[test]
fn two_slow_clicks_or_two_places_are_no_double_click() {
    let mut world = three();
    world.go("plugins");
    let (one, two) = (entry(&world, "one"), entry(&world, "two"));
    world.click(4, one);
    world.later(500).click(4, one);
    assert_eq!(world.active(), "plugins");
    world.later(100).click(4, two);
    assert_eq!((world.active(), world.selected()), ("plugins", 2));
}

#[test]
fn a_click_on_nothing_and_other_buttons_do_nothing() {
    let mut world = three();
    world.go("plugins");
    let before = world.screen();
    let empty = entry(&world, "two") + 5;
    world.click(4, empty);
    world.click(4, empty);
    world.mouse(MouseKind::Press(Button::Right), 4, entry(&world, "two"));
    assert_eq!(world.active(), "plugins");
    assert_eq!(world.screen(), before);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let ids: Vec<String> = (10..60).map(|n| format!("p{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut world = World::new(&ids, "");
    world.go("plugins").resize(100, 14);
    world.shows("p10");
    world.wheel(true, 4, 6);
    world.wheel(true, 4, 6);
    world.hides("p11");
    world.wheel(false, 4, 6);
    world.wheel(false, 4, 6);
    world.shows("p11");
    let list = world.app.plugins_tab.list;
    let right = world.app.body().right() - 2;
    world.wheel(true, right, 6);
    assert_eq!(world.app.plugins_tab.list, list, "the detail was scrolled, not the list");
}

#[test]
fn the_wheel_scrolls_a_failure() {
    let mut world = three();
    let stderr = (0..100).map(|n| format!("line {n}\n")).collect();
    world.alive("one").says("one", lazyagents::plugins::What::Failed { reason: "it broke".to_owned(), stderr });
    world.shows("it broke");
    for _ in 0..50 {
        assert_eq!(world.wheel(true, 10, 10), []);
    }
    world.shows("line 99");
    world.hides("it broke");
}

#[test]
fn k8_a_click_closes_the_help_and_does_nothing_else() {
    let mut world = three();
    world.alive("one").go("agents").agents(some_agents(true), true);
    world.go("one").key("?");
    assert_eq!(world.wheel(true, 10, 10), []);
    assert!(world.app.layer.is_some(), "the wheel scrolls it");
    assert_eq!(world.click(10, 10), []);
    assert!(world.app.layer.is_none());
    assert_eq!(world.active(), "one");
}

#[test]
fn k8_a_click_closes_the_palette_and_runs_nothing() {
    let mut world = three();
    world.alive("one").key(":");
    assert_eq!(world.click(0, 29), []);
    assert!(world.app.layer.is_none());
    world.key(":");
    world.type_text("one ping");
    let row = row_of(&world, "Count to one");
    assert_eq!(world.click(50, row), []);
    assert!(world.app.layer.is_none());
}
