//! Every way out of the interface gives the terminal back as it was and leaves nothing running; stopping and coming
//! back does too.

use testkit::{Exit, Home, PATIENCE, Pty, alive, needs};

use crate::cli::LAZYAGENTS;
use crate::terminal::{QUITTING, handed_back, kill, open, open_with, quit, restored, wait_gone, wait_number};

#[test]
fn q_and_ctrl_c_and_the_palette() {
    for keys in ["q", "\x03", ":quit\r"] {
        let (_home, misfit, pty) = open_with("good");
        assert!(!pty.tty_modes().1.cooked());
        let pid = misfit.wait_serve(1);
        pty.send(keys);
        assert_eq!(pty.wait_exit(QUITTING), Exit::Code(0), "{keys:?}");
        restored(&pty);
        wait_gone(&[pid]);
    }
}

#[test]
fn signals_that_end() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        let (_home, misfit, pty) = open_with("good");
        let pid = misfit.wait_serve(1);
        kill(signal, pty.pid());
        let exit = pty.wait_exit(QUITTING);
        assert_eq!(exit, Exit::Code(code), "{signal}");
        restored(&pty);
        wait_gone(&[pid]);
    }
}

#[test]
fn quitting_at_once_before_any_plugin_has_spoken() {
    let home = Home::new();
    let misfit = home.misfit("hello", "silent");
    let pty = open(&home);
    pty.wait_text("waiting for the plugin");
    quit(&pty);
    wait_gone(&misfit.started("serve"));
}

#[test]
fn l1_a_plugin_that_is_deaf_to_everything_is_killed_in_time() {
    for orders in ["ignore-term", "ignore-term-eof"] {
        let (_home, misfit, pty) = open_with(orders);
        let pid = misfit.wait_serve(1);
        quit(&pty);
        wait_gone(&[pid]);
    }
}

#[test]
fn l2_many_deaf_plugins_are_stopped_at_the_same_time() {
    let home = Home::new();
    let misfits: Vec<_> = (0..5).map(|n| home.misfit(&format!("p{n}"), "ignore-term-eof")).collect();
    let pty = open(&home);
    pty.wait_text("ready p0");
    let pids: Vec<u32> = misfits.iter().map(|misfit| misfit.wait_serve(1)).collect();
    for misfit in &misfits {
        misfit.wait_message("init", |_| true, "init");
    }
    quit(&pty);
    wait_gone(&pids);
}

#[test]
fn l5_what_a_plugin_leaves_in_its_group_goes_at_once() {
    let (_home, misfit, pty) = open_with("grandchild");
    let child = misfit.children()[0];
    assert!(alive(child));
    kill("KILL", misfit.wait_serve(1));
    pty.wait_text("could not go on");
    wait_gone(&[child]);
    quit(&pty);
}

#[test]
fn l4_what_a_living_plugin_started_goes_with_it() {
    let (_home, misfit, pty) = open_with("grandchild");
    let child = misfit.children()[0];
    quit(&pty);
    wait_gone(&[child]);
}

#[test]
fn a_child_that_left_its_group_does_not_hold_us_up() {
    let (_home, misfit, pty) = open_with("grandchild-setsid");
    let child = misfit.children()[0];
    quit(&pty);
    if alive(child) {
        kill("KILL", child);
    }
}

#[test]
fn d7_warnings_are_said_again_after_the_interface_has_closed() {
    let home = Home::new();
    home.misfit("hello", "good");
    home.write(home.plugins().join("README.md"), "words\n");
    home.config("tui: [\n");
    let pty = open(&home);
    pty.wait_text("Sessions");
    pty.send("4");
    pty.wait_text("ready hello");
    quit(&pty);
    let screen = pty.screen();
    let text = screen.lines().concat();
    assert!(text.contains("plugin README.md ignored") && text.contains("config.yaml is not used"), "{screen}");
}

/// A shell with job control in the terminal, and lazyagents as a job of it.
pub(crate) fn shell(home: &mut Home) -> Option<Pty> {
    if !needs("bash") {
        return None;
    }
    home.link("bash");
    // The shell's own bracketed paste would look like ours.
    let inputrc = home.write(".inputrc", "set enable-bracketed-paste off\n").display().to_string();
    home.set_env("INPUTRC", inputrc).set_env("HISTFILE", "/dev/null");
    home.set_env("LZ", LAZYAGENTS).set_env("PS1", "prompt> ");
    let pty = Pty::spawn("bash", &["--norc", "--noprofile", "-i"], home, 24, 80);
    pty.wait_text("prompt>");
    Some(pty)
}

/// Starts lazyagents from the shell and tells its process number.
pub(crate) fn start(home: &Home, pty: &Pty) -> u32 {
    pty.send("sh -c 'echo $$ >$TMPDIR/pid; exec \"$LZ\"'\r");
    pty.wait_for(|screen| screen.alternate() && screen.has("ready hello"), "the interface");
    wait_number(&home.tmp().join("pid"))
}

/// The interface is stopped and the shell has the terminal.
#[track_caller]
pub(crate) fn stopped(pty: &Pty) {
    pty.wait_for(|screen| !screen.alternate() && screen.has("Stopped"), "the shell");
    handed_back(&pty.screen());
}

/// From the shell back into the interface, with everything on again.
#[track_caller]
pub(crate) fn come_back(pty: &Pty) {
    pty.send("fg\r");
    pty.wait_for(|screen| screen.alternate() && screen.mouse() && screen.bracketed_paste(), "the interface again");
    assert!(!pty.tty_modes().1.cooked());
}

#[test]
fn suspending_by_command_or_signal_gives_the_terminal_to_the_shell_and_takes_it_back() {
    let mut home = Home::new();
    let misfit = home.misfit("hello", "good");
    let Some(pty) = shell(&mut home) else { return };
    let pid = start(&home, &pty);
    pty.send(":suspend\r");
    stopped(&pty);
    come_back(&pty);
    kill("TSTP", pid);
    stopped(&pty);
    come_back(&pty);
    pty.send("q");
    pty.wait_for(|screen| !screen.alternate(), "the shell");
    wait_gone(&[pid]);
    wait_gone(&misfit.started("serve"));
    assert_eq!(misfit.started("serve").len(), 1, "the plugin lived through it");
    pty.send("exit\r");
    assert_eq!(pty.wait_exit(QUITTING), Exit::Code(0));
    restored(&pty);
}

#[test]
fn a_window_that_changed_while_stopped_is_seen_on_return() {
    let mut home = Home::new();
    let misfit = home.misfit("hello", "good");
    let Some(pty) = shell(&mut home) else { return };
    start(&home, &pty);
    pty.send(":suspend\r");
    stopped(&pty);
    pty.resize(30, 100);
    come_back(&pty);
    misfit.wait_message("resize", |size| size["width"] == 98 && size["height"] == 27, "the new size");
    pty.wait_text("size 98x27");
}

#[test]
fn suspending_without_a_shell_to_come_back_from_says_so() {
    let (_home, _misfit, pty) = open_with("good");
    pty.send(":suspend\r");
    pty.wait_text("there is no shell to come back from");
    assert!(pty.alternate());
    quit(&pty);
}

/// As in a container entered from outside: our group, session and parent have no numbers in here.
#[test]
fn suspending_in_a_process_namespace_of_its_own_says_so_too() {
    if !testkit::needs_to_run("unshare", &["-Urpf", "--mount-proc", "true"]) {
        return;
    }
    let home = Home::new();
    home.misfit("hello", "good");
    let pty = Pty::spawn("unshare", &["-Urpf", "--mount-proc", LAZYAGENTS], &home, 24, 80);
    pty.wait_text("ready hello");
    pty.send(":suspend\r");
    pty.wait_text("there is no shell to come back from");
    pty.send("q");
    assert_eq!(pty.wait_exit(QUITTING), Exit::Code(0));
}

#[test]
fn a_terminal_that_is_closed_ends_everything() {
    if !needs("script") {
        return;
    }
    let home = Home::new();
    let misfit = home.misfit("hello", "ignore-term");
    // The terminal that is closed is the one that `script` makes inside of ours.
    let command = format!("echo $$ >{}/pid; exec {LAZYAGENTS}", home.tmp().display());
    let pty = Pty::spawn("script", &["-q", "-c", &command, "/dev/null"], &home, 24, 80);
    pty.wait_text("ready hello");
    let pid: u32 = wait_number(&home.tmp().join("pid"));
    let plugin = misfit.wait_serve(1);
    kill("KILL", pty.pid());
    pty.wait_exit(PATIENCE);
    wait_gone(&[pid, plugin]);
}

#[test]
fn a_host_that_is_killed_leaves_plugins_that_see_the_end_of_their_input() {
    let (_home, misfit, pty) = open_with("good");
    let pid = misfit.wait_serve(1);
    kill("KILL", pty.pid());
    assert_eq!(pty.wait_exit(QUITTING), Exit::Signal(9));
    misfit.wait_gone(pid);
    assert_eq!(misfit.wait_end(), "EOF", "L6: no end of its pipe was inherited by anybody");
}

#[test]
fn the_demo_opens_on_an_invented_home_and_touches_nothing() {
    let home = Home::new();
    let own = home.misfit("hello", "good");
    let before = std::fs::read_dir(home.home()).unwrap().count();
    let pty = Pty::spawn(LAZYAGENTS, &["--demo"], &home, 24, 80);
    pty.wait_for(|screen| screen.alternate() && screen.line(0).contains("Clock"), "the demo");
    pty.wait_text("The total of the cart is a");
    quit(&pty);
    assert!(own.started("serve").is_empty(), "plugins of one's own are not the demo's");
    assert_eq!(std::fs::read_dir(home.home()).unwrap().count(), before);
    assert_eq!(std::fs::read_dir(home.tmp()).unwrap().count(), 0, "its folder is gone");
}
