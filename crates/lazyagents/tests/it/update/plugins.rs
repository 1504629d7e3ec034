//! The life of a plugin as the app sees it: notices, runs, failures, restarts, hiding.

use lazyagents::app::event::{Effect, Event};
use lazyagents::app::state::Phase;
use lazyagents::plugins::host::FrameView;
use lazyagents::plugins::{Notice, What};
use wire::plugin::Exec;

use crate::world::{World, key_to, three};

#[test]
fn n1_n2_the_title_is_the_id_until_the_manifest_and_after_a_failure() {
    let mut world = three();
    world.shows(" one ");
    world.manifest("one", "First Plugin", &[]);
    world.shows("First Plugin");
    world.fail("one");
    world.hides("First Plugin");
}

#[test]
fn f2_the_count_is_on_the_tab_also_of_one_that_is_not_shown() {
    let mut world = three();
    world.manifest("two", "Second", &[]).frame("two", "x", Some(37), false);
    world.shows("37");
    world.frame("two", "x", Some(0), false);
    world.hides("37");
    let bar = world.screen().lines().next().unwrap().to_owned();
    assert!(bar.contains("Second 0") || bar.contains("Second · 0"), "{bar}");
    world.frame("two", "x", Some(37), false).fail("two");
    world.hides("37");
}

#[test]
fn f1_the_last_frame_is_the_whole_state() {
    let mut world = three();
    world.manifest("one", "One", &[]);
    world.shows("waiting for the plugin");
    world.frame("one", "first\nsecond", Some(5), true);
    world.shows("second");
    world.frame("one", "third", None, false);
    world.hides("second");
    assert_eq!((world.app.plugins[0].count(), world.app.plugins[0].capturing()), (None, false));
    world.frame("one", "", None, false);
    world.shows("waiting for the plugin");
}

#[test]
fn notices_and_frames_of_an_older_run_are_dropped() {
    let mut world = three();
    world.alive("one").fail("one");
    assert_eq!(world.key("r"), [Effect::Start { plugin: 0, run: 2 }]);
    let old = |what| Event::Notice(Notice { plugin: 0, run: 1, what });
    let stale = [
        old(What::Failed { reason: "stale".to_owned(), stderr: String::new() }),
        old(What::Started { pid: 1 }),
        old(What::Manifest(Default::default())),
        old(What::Warning("stale".to_owned())),
        old(What::Interactive(Exec { exec_id: 1, argv: vec!["true".to_owned()], ..Exec::default() })),
        Event::Frame { plugin: 0, run: 1, view: FrameView { count: Some(9), ..FrameView::default() } },
    ];
    for event in stale {
        assert_eq!(world.event(event.clone()), [], "{event:?}");
    }
    let state = &world.app.plugins[0];
    assert_eq!((&state.phase, state.pid, &state.frame), (&Phase::Starting, None, &None));
    world.hides("stale");
}

#[test]
fn a_notice_of_no_plugin_is_dropped() {
    let mut world = three();
    assert_eq!(world.event(Event::Notice(Notice { plugin: 99, run: 1, what: What::Started { pid: 1 } })), []);
    assert_eq!(world.event(Event::Frame { plugin: 99, run: 1, view: FrameView::default() }), []);
    assert_eq!(world.event(Event::Stats { plugin: 99, stats: Default::default() }), []);
}

#[test]
fn b6_a_failure_shows_reason_and_stderr_and_may_come_again_with_more() {
    let mut world = three();
    world.alive("one");
    world.says("one", What::Failed { reason: "it broke".to_owned(), stderr: "first".to_owned() });
    world.shows("it broke");
    world.shows("first");
    world.key("down");
    let scroll = world.app.plugins[0].scroll;
    world.says("one", What::Failed { reason: "it broke".to_owned(), stderr: "first\nsecond".to_owned() });
    world.shows("second");
    assert_eq!(world.app.plugins[0].scroll, scroll, "reading is not interrupted");
}

#[test]
fn b9_a_failed_tab_has_no_count_captures_nothing_and_shows_the_id() {
    let mut world = three();
    world.manifest("one", "First", &[]).frame("one", "x", Some(8), true).fail("one");
    let state = &world.app.plugins[0];
    assert_eq!((state.count(), state.capturing(), state.title()), (None, false, "one"));
    assert_eq!(world.key("q"), [Effect::Quit]);
}

#[test]
fn b7_a_failure_elsewhere_is_a_toast_once_and_none_on_its_own_tab() {
    let mut world = three();
    world.alive("one").alive("two");
    world.fail("two");
    assert!(world.footer().contains("two could not go on"), "{}", world.footer());
    assert_eq!(world.key("a"), [key_to(0, "a")]);
    world.app.toasts = Default::default();
    world.fail("two");
    assert!(world.app.toasts.current().is_none(), "the second notice only brings more stderr");
    world.fail("one");
    assert!(world.app.toasts.current().is_none(), "its tab shows it");
}

#[test]
fn e6_an_interactive_request_lends_the_terminal_also_from_a_tab_that_is_not_shown() {
    let mut world = three();
    world.alive("two");
    let exec = Exec { exec_id: 7, argv: vec!["vi".to_owned()], interactive: true, ..Exec::default() };
    let effects = world.says("two", What::Interactive(exec.clone()));
    assert_eq!(effects, [Effect::Lend { plugin: 2, run: 1, exec }]);
}

#[test]
fn a_warning_of_a_run_is_a_toast() {
    let mut world = three();
    world.says("one", What::Warning("the section is too large".to_owned()));
    assert!(world.footer().contains("the section is too large"));
}

#[test]
fn restarting_a_living_plugin_asks_first_and_no_is_preselected() {
    let mut world = three();
    world.alive("one").go("plugins");
    assert_eq!(world.key("r"), []);
    world.shows("Restart one");
    assert_eq!(world.key("enter"), [], "No is preselected");
    assert!(world.app.layer.is_none());
    world.key("r");
    assert_eq!(world.key("esc"), []);
    world.key("r");
    assert_eq!(world.key("y"), [Effect::Start { plugin: 0, run: 2 }]);
    assert_eq!(*world.phase("one"), Phase::Starting);
    assert!(world.app.layer.is_none());
}

#[test]
fn a_restart_that_was_asked_for_before_the_plugin_failed_starts_the_newest_run() {
    let mut world = three();
    world.alive("one").go("plugins").key("r");
    world.fail("one");
    assert_eq!(world.key("y"), [Effect::Start { plugin: 0, run: 2 }]);
    world.fail("one");
    assert_eq!(world.key("r"), [Effect::Start { plugin: 0, run: 3 }], "a failed one restarts at once");
}

#[test]
fn hiding_writes_the_setting_first_and_then_the_tab_goes_and_the_process_stops() {
    let mut world = three();
    world.alive("one").alive("two").go("plugins");
    assert_eq!(world.keys("down down space"), [Effect::Hide { plugin: 2, hidden: true }]);
    assert_eq!(world.tabs(), ["one", "three", "two", "agents", "plugins"], "nothing happens before it is written");
    assert_eq!(world.event(Event::Hidden { plugin: 2, hidden: true }), [Effect::Stop(2)]);
    assert_eq!(world.tabs(), ["one", "three", "agents", "plugins"]);
    assert_eq!((world.active(), world.phase("two")), ("plugins", &Phase::Hidden));
    world.shows("hidden");
    // What the run that is being stopped still has to say.
    let run = world.app.plugins[2].run;
    let gone = What::Failed { reason: "killed".to_owned(), stderr: String::new() };
    world.event(Event::Notice(Notice { plugin: 2, run: run - 1, what: gone }));
    assert_eq!(world.phase("two"), &Phase::Hidden);
}

#[test]
fn showing_a_hidden_plugin_starts_it_and_its_tab_is_where_it_was() {
    let mut world = World::new(&["one", "three", "two"], "tui: { hidden: [three] }");
    assert_eq!(world.tabs(), ["one", "two", "agents", "plugins"]);
    assert_eq!(world.phase("three"), &Phase::Hidden);
    world.go("plugins");
    assert_eq!(world.keys("down space"), [Effect::Hide { plugin: 1, hidden: false }]);
    let effects = world.event(Event::Hidden { plugin: 1, hidden: false });
    assert_eq!(effects, [Effect::Start { plugin: 1, run: 1 }]);
    assert_eq!(world.tabs(), ["one", "three", "two", "agents", "plugins"]);
    assert_eq!((world.active(), world.phase("three")), ("plugins", &Phase::Starting));
}

#[test]
fn hiding_the_active_tab_leaves_one_that_exists() {
    let mut world = three();
    world.alive("one");
    world.event(Event::Hidden { plugin: 0, hidden: true });
    assert_eq!(world.active(), "three");
    world.screen();
}

#[test]
fn a_hidden_plugin_cannot_be_restarted_and_says_how_it_is_shown() {
    let mut world = World::new(&["one"], "tui: { hidden: [one] }");
    world.go("plugins");
    assert_eq!(world.key("r"), []);
    assert!(world.footer().contains("one is hidden; space shows it"), "{}", world.footer());
}

#[test]
fn a_setting_that_could_not_be_written_is_said_and_nothing_changes() {
    let mut world = three();
    world.go("plugins");
    assert_eq!(world.event(Event::Failed("could not write config.yaml".to_owned())), []);
    assert!(world.footer().contains("could not write config.yaml"));
    assert_eq!(world.tabs().len(), 5);
}

#[test]
fn an_ignored_file_says_why_instead_of_anything_else() {
    let context = crate::world::context(&[], &[("README.md", "it is not executable")], "");
    let mut world = World::of(&context, (100, 30));
    world.go("plugins");
    for key in ["enter", "r", "space", "o"] {
        assert_eq!(world.key(key), [], "{key}");
        assert!(world.footer().contains("README.md ignored: it is not executable"), "{}", world.footer());
    }
    assert_eq!(world.key("y"), [Effect::Copy("/home/dev/.config/lazyagents/plugins/README.md".to_owned())]);
}
