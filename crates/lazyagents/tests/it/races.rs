//! What went wrong only now and then, or only in unusual windows and orders of keys; each was a fault once.

use lazyagents::app::event::{Effect, Event};
use testkit::{Exit, Home};

use crate::leaving::{come_back, shell, start, stopped};
use crate::terminal::{QUITTING, kill, open_with, quit, restored, wait_gone};
use crate::world::{World, some_agents, three};

#[test]
fn space_twice_on_a_hidden_plugin_gives_it_one_tab_and_one_start() {
    let mut world = World::new(&["one", "two"], "tui: { hidden: [two] }");
    world.go("plugins");
    let asked = world.keys("down space space");
    let mut starts = 0;
    for effect in asked {
        let Effect::Hide { plugin, hidden } = effect else { panic!("{effect:?}") };
        starts += world.event(Event::Hidden { plugin, hidden }).len();
    }
    assert_eq!(world.tabs(), ["one", "two", "agents", "plugins"]);
    assert_eq!(starts, 1);
}

#[test]
fn the_footer_of_a_plugins_tab_names_only_keys_that_work_there() {
    let mut world = World::new(&["one"], "tui: { keys: { app.quit: Q, app.help: f1, app.palette: f2, app.next: n } }");
    world.alive("one");
    let footer = world.footer();
    assert!(
        !footer.contains("Q quit")
            && !footer.contains("f1 help")
            && !footer.contains("f2 ")
            && !footer.contains("tab next"),
        "{footer}"
    );
    world.fail("one");
    let footer = world.footer();
    assert!(!footer.contains("Q quit") && !footer.contains("f1 help"), "failed: {footer}");
}

#[test]
fn a_plugin_that_is_shown_again_has_its_place_in_the_order_of_the_config() {
    let yaml = "tui: { tabs: [agents, two, one] }";
    let mut world = World::new(&["one", "two"], yaml);
    let before: Vec<String> = world.tabs().into_iter().map(str::to_owned).collect();
    world.event(Event::Hidden { plugin: 1, hidden: true });
    world.event(Event::Hidden { plugin: 1, hidden: false });
    assert_eq!(world.tabs(), before);
}

#[test]
fn a_very_wide_window_is_drawn() {
    let mut world = three();
    world.go("plugins").resize(7000, 12);
    world.hides("because of a bug");
}

#[test]
fn read_log_does_not_take_the_place_of_a_palette() {
    let mut world = three();
    world.alive("one").key(":");
    world.type_text("one pi");
    world.event(Event::Text { title: "log".into(), lines: vec!["x".into()] });
    assert!(world.screen().contains("Count to one"));
}

#[test]
fn open_on_a_hidden_plugin_says_why_nothing_happens() {
    let mut world = World::new(&["one"], "tui: { hidden: [one] }");
    world.go("plugins");
    let before = world.screen();
    world.key("enter");
    assert_ne!(world.screen(), before);
}

#[test]
fn yes_to_restart_of_a_plugin_that_was_hidden_meanwhile() {
    let mut world = three();
    world.alive("one").go("plugins").keys("space r");
    world.event(Event::Hidden { plugin: 0, hidden: true });
    let e = world.key("y");
    assert_eq!(e, [], "a hidden plugin is not started");
}

#[test]
fn suspending_by_key_and_by_command_and_by_a_signal_comes_back() {
    let mut home = Home::new();
    let misfit = home.misfit("hello", "good");
    let Some(pty) = shell(&mut home) else { return };
    let pid = start(&home, &pty);

    pty.send(":suspend\r");
    stopped(&pty);
    come_back(&pty);
    pty.wait_text("ready hello");

    kill("TSTP", pid);
    stopped(&pty);
    come_back(&pty);
    pty.wait_text("ready hello");

    // On a tab of ours the key does it; on a plugin's tab it is the plugin's.
    pty.send("\x1a");
    misfit.wait_message("key", |key| key["key"] == "ctrl+z", "ctrl+z");
    pty.send("2");
    pty.wait_text("AGENT");
    pty.send("\x1a");
    stopped(&pty);
    come_back(&pty);
    pty.wait_text("AGENT");
    pty.send("1");
    pty.wait_text("ready hello");
    pty.send("k");
    misfit.wait_message("key", |key| key["key"] == "k", "a key after it all");
    assert_eq!(misfit.started("serve").len(), 1, "the plugin lived through it");

    pty.send("q");
    pty.wait_for(|screen| !screen.alternate(), "the shell");
    wait_gone(&[pid]);
    wait_gone(&misfit.started("serve"));
    pty.send("exit\r");
    assert_eq!(pty.wait_exit(QUITTING), Exit::Code(0));
    restored(&pty);
}

/// SIGSTOP cannot be seen coming: after SIGCONT the screen was cleared, so it must be drawn again.
#[test]
fn after_sigstop_and_sigcont_the_screen_is_drawn_again() {
    let (_home, _misfit, pty) = open_with("good");
    let state = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    kill("STOP", pty.pid());
    crate::terminal::wait_until(|| state(pty.pid()).contains(") T ").then_some(()), "the stop");
    let before = pty.raw().len();
    kill("CONT", pty.pid());
    pty.wait_raw("\x1b[?1049h", before);
    pty.wait_for(|screen| screen.has("ready hello") && screen.alternate(), "the screen");
    let _ = pty.wait_raw("ready", before);
    quit(&pty);
}

/// The filter finds what was typed first.
#[test]
fn a_filter_puts_the_cursor_on_the_best_match() {
    let mut world = three();
    world.go("agents").agents(some_agents(true), true);
    world.key("/");
    world.type_text("codex");
    world.keys("backspace backspace");
    world.shows("▸ Codex");
}

/// A terminal that shrank and grew again has lost what was on it, also when it ends with the size it had.
#[test]
fn a_window_that_shrinks_and_grows_at_once_is_drawn_again() {
    let (_home, _misfit, pty) = open_with("good");
    pty.resize(2, 2);
    pty.resize(24, 80);
    pty.wait_text("ready hello");
    quit(&pty);
}
