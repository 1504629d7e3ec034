//! Lists of ours: moving, filtering, copying, going back one level.

use lazyagents::app::event::Effect;

use crate::world::{World, some_agents, three};

fn agents() -> World {
    let mut world = three();
    world.go("agents").agents(some_agents(true), true);
    world
}

#[test]
fn arrows_letters_and_pages_move_within_the_list() {
    let mut world = agents();
    let last = world.app.agents.len() - 1;
    for (keys, expected) in [
        ("up", 0),
        ("down", 1),
        ("j", 2),
        ("k", 1),
        ("G", last),
        ("down", last),
        ("g", 0),
        ("end", last),
        ("home", 0),
        ("pgdown", last),
        ("ctrl+u", 0),
        ("ctrl+d", last),
        ("pgup", 0),
    ] {
        world.keys(keys);
        assert_eq!(world.selected(), expected, "{keys}");
    }
}

#[test]
fn a_filter_narrows_the_list_while_it_is_typed() {
    let mut world = agents();
    world.key("/");
    world.type_text("gem");
    world.shows("Gemini CLI");
    world.hides("Claude Code");
    world.key("enter");
    world.hides("Claude Code");
    world.key("esc");
    world.shows("Claude Code");
}

#[test]
fn keys_that_mean_something_elsewhere_are_letters_in_a_filter() {
    let mut world = agents();
    world.key("/");
    assert_eq!(world.type_text("q?:1yr/ "), []);
    assert_eq!(world.app.agents_tab.filter.text(), "q?:1yr/ ");
    assert_eq!(world.active(), "agents");
    world.shows("No agent matches");
}

#[test]
fn a_filter_survives_a_change_of_tabs() {
    let mut world = agents();
    world.key("/");
    world.type_text("codex");
    world.keys("enter tab");
    assert_eq!(world.active(), "plugins");
    world.keys("shift+tab");
    assert_eq!(world.app.agents_tab.filter.text(), "codex");
    world.hides("Claude Code");
    assert!(world.app.plugins_tab.filter.is_empty());
}

#[test]
fn esc_goes_back_one_level_at_a_time() {
    let mut world = agents();
    world.resize(60, 20);
    world.key("/");
    world.type_text("codex");
    world.keys("enter enter");
    world.shows("/usr/local/lib/node/bin/codex");
    assert!(world.app.agents_tab.in_detail);
    world.key("esc");
    assert!(!world.app.agents_tab.in_detail);
    assert_eq!(world.app.agents_tab.filter.text(), "codex");
    world.key("esc");
    assert!(world.app.agents_tab.filter.is_empty());
    assert_eq!(world.key("esc"), []);
    assert_eq!(world.active(), "agents");
}

#[test]
fn a_paste_goes_into_a_filter_that_is_being_typed() {
    let mut world = agents();
    assert_eq!(world.paste("gemini"), []);
    assert!(world.app.agents_tab.filter.is_empty());
    world.key("/");
    world.paste("gemini\r\n");
    assert!(world.app.agents_tab.filter.text().starts_with("gemini"));
    world.shows("Gemini CLI");
}

#[test]
fn y_copies_the_path_of_what_is_selected() {
    let mut world = agents();
    assert_eq!(world.key("y"), [Effect::Copy("/home/dev/.local/bin/claude".to_owned())]);
    world.go("plugins");
    assert_eq!(world.key("y"), [Effect::Copy("/home/dev/.config/lazyagents/plugins/one".to_owned())]);
    let mut world = three();
    world.go("agents");
    assert_eq!(world.key("y"), [], "nothing is there yet");
}

#[test]
fn on_a_narrow_screen_list_and_detail_are_shown_one_at_a_time() {
    let mut world = agents();
    world.resize(60, 20);
    world.hides("skills");
    world.key("right");
    world.shows("skills");
    world.hides("AGENT");
    world.key("left");
    world.shows("AGENT");
    world.key("enter");
    world.shows("skills");
}

#[test]
fn another_row_starts_its_detail_at_the_top() {
    let mut world = agents();
    world.resize(100, 12);
    world.keys("shift+down shift+down");
    assert!(world.app.agents_tab.detail.offset > 0);
    world.key("down");
    assert_eq!(world.app.agents_tab.detail.offset, 0);
}

#[test]
fn the_selection_stays_inside_when_the_list_shrinks() {
    let mut world = agents();
    world.key("G");
    world.key("/");
    world.type_text("gem");
    world.shows("▸ Gemini CLI");
    world.keys("esc G");
    world.agents(some_agents(true).into_iter().take(2).collect(), true);
    world.shows("▸");
    world.screen();
}

#[test]
fn on_a_wide_screen_enter_does_not_take_the_arrows_from_the_list() {
    let mut world = three();
    world.go("agents").agents(some_agents(true), true);
    let before = world.draw();
    world.key("enter");
    if world.draw() == before {
        world.key("down");
        assert_eq!(world.selected(), 1, "nothing on the screen says that the arrows go elsewhere");
    }
}
