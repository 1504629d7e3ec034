//! Detection: what is dropped, what is shown, what plugins are told (clause A1).

use lazyagents::app::event::{Effect, Event};
use lazyagents::detection::for_plugins;

use crate::world::{no_agents, some_agents, three};

#[test]
fn a1_plugins_are_told_once_per_detection_of_all_agents_in_the_fixed_order() {
    let mut world = three();
    assert_eq!(world.agents(some_agents(false), false), [], "not before the versions are known");
    let effects = world.agents(some_agents(true), true);
    assert_eq!(effects, [Effect::TellAgents(for_plugins(&some_agents(true)))]);
    let ids: Vec<_> = for_plugins(&some_agents(true)).into_iter().map(|agent| agent.id).collect();
    assert_eq!(
        ids,
        [
            "claude-code",
            "codex",
            "gemini-cli",
            "opencode",
            "claude-desktop",
            "hermes-agent",
            "pi",
            "crush",
            "qwen-code",
            "copilot"
        ]
    );
}

#[test]
fn a2_what_plugins_are_told_of_an_agent() {
    let told = for_plugins(&some_agents(true));
    let claude = &told[0];
    assert!(claude.installed && claude.version.as_deref() == Some("2.1.0"));
    let managed = claude.managed_dir.clone().unwrap();
    assert!(managed.starts_with('/') && claude.read_dirs.contains(&managed), "{claude:?}");
    let gemini = &told[2];
    assert_eq!((gemini.installed, &gemini.version), (true, &None));
    assert!(!told[3].installed);
}

#[test]
fn an_older_detection_is_dropped() {
    let mut world = three();
    world.go("agents");
    assert_eq!(world.key("r"), [Effect::Detect(2)]);
    let old = Event::Agents { detection: 1, found: some_agents(true), complete: true };
    assert_eq!(world.event(old), []);
    assert!(world.app.agents.is_empty() && world.app.detecting);
    let new = Event::Agents { detection: 2, found: no_agents(), complete: true };
    assert_eq!(world.event(new), [Effect::TellAgents(for_plugins(&no_agents()))]);
    assert!(!world.app.detecting);
}

#[test]
fn the_tab_counts_the_installed_ones_once_they_are_known() {
    let mut world = three();
    let bar = |world: &crate::world::World| world.screen().lines().next().unwrap().to_owned();
    assert!(!bar(&world).contains("Agents 0"));
    world.agents(some_agents(false), false);
    assert!(bar(&world).contains("Agents 3"), "{}", bar(&world));
}

#[test]
fn a_version_that_is_being_asked_for_is_not_called_unknown() {
    let mut world = three();
    world.go("agents");
    world.agents(some_agents(false), false);
    world.shows("asking…");
    world.agents(some_agents(true), true);
    world.shows("2.1.0");
    world.hides("asking…");
}
