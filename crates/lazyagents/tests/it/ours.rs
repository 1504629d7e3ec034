//! The tabs of ours in a real terminal: what reaches the disk, the clipboard and other programs.

use std::time::Duration;

use testkit::{Home, PATIENCE, Pty};

use crate::cli::LAZYAGENTS;
use crate::terminal::{open, open_with, quit, wait_gone, wait_number};

#[test]
fn hiding_and_showing_a_plugin_is_remembered_and_the_rest_of_the_config_stays() {
    let home = Home::new();
    let config = "# mine\nhello:\n  greeting: hi   # a word\ntui:\n  mouse: true\n  startTab: one\n";
    let path = home.config(config);
    let (one, two) = (home.misfit("one", "good"), home.misfit("two", "good"));
    let pty = open(&home);
    pty.wait_text("ready one");
    pty.send("8");
    pty.wait_text("PLUGIN");
    pty.send("j ");
    pty.wait_text("two is hidden");
    let pid = two.wait_serve(1);
    wait_gone(&[pid]);
    let written = home.read(&path);
    assert!(config.lines().all(|line| written.contains(line)) && written.contains("two"), "{written}");
    quit(&pty);

    let pty = open(&home);
    pty.wait_text("ready one");
    assert!(!pty.screen().line(0).contains("two"));
    pty.send("7");
    pty.wait_text("PLUGIN");
    pty.send("j");
    pty.wait_text("tui.hidden");
    pty.send(" ");
    two.wait_serve(2);
    pty.wait_for(|screen| screen.line(0).contains("Misfit two"), "its tab");
    quit(&pty);
    assert_eq!(one.started("serve").len(), 2);
    assert!(!home.read(&path).contains("two"), "{}", home.read(&path));
}

#[test]
fn a_theme_is_used_at_once_and_remembered() {
    let (home, misfit, pty) = open_with("good");
    let (row, column) = pty.find("ready").unwrap();
    let before = pty.cell(row, column).bg;
    pty.send(":theme daylight\r");
    pty.wait_for(|screen| screen.cell(row, column).bg != before, "another background");
    pty.wait_text("theme daylight");
    quit(&pty);
    let pty = open(&home);
    pty.wait_text("ready hello");
    assert_ne!(pty.cell(row, column).bg, before);
    quit(&pty);
    assert_eq!(misfit.messages("init")[1]["theme"]["id"], "daylight");
}

#[test]
fn y_copies_by_the_terminal_and_says_so() {
    let home = Home::new();
    home.config("tui: { startTab: agents }\n");
    home.program("claude", "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    let pty = open(&home);
    pty.wait_text("bin/claude");
    pty.send("y");
    pty.wait_raw("\x1b]52;c;", 0);
    pty.wait_text("copied");
    quit(&pty);
}

#[test]
fn a_program_that_never_answers_delays_neither_the_first_frame_nor_the_end() {
    let home = Home::new();
    let pid = home.tmp().join("asked");
    // It is deaf, and so is its child.
    let script = format!("#!/bin/sh\ntrap '' TERM\necho $$ >{}\nsleep 60 &\nwait\nsleep 60\n", pid.display());
    home.config("tui: { startTab: agents }\n");
    home.program("claude", &script);
    let pty = open(&home);
    pty.wait_text("Claude Code");
    let number = wait_number(&pid);
    pty.wait_text("asking…");
    quit(&pty);
    wait_gone(&[number]);
}

#[test]
fn agents_are_looked_for_again_on_request() {
    let home = Home::new();
    home.config("tui: { startTab: agents }\n");
    let pty = open(&home);
    pty.wait_text("not found");
    home.program("crush", "#!/bin/sh\necho 'crush version v0.10.1'\n");
    pty.send("r");
    pty.wait_text("0.10.1");
    quit(&pty);
}

#[test]
fn the_stderr_of_a_plugin_is_in_its_log() {
    let (_home, _misfit, pty) = open_with("stderr:5000");
    pty.send(":plugins\r");
    pty.wait_text("PLUGIN");
    pty.send("o");
    pty.wait_text("stderr end");
    pty.send("\x1b");
    pty.wait_gone("stderr end");
    quit(&pty);
}

#[test]
fn nothing_but_our_own_folders_is_written() {
    let home = Home::new();
    home.misfit("hello", "good");
    home.program("claude", "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
    home.write(".claude/settings.json", "{}");
    let count = |dir: std::path::PathBuf| std::fs::read_dir(dir).unwrap().count();
    let pty = open(&home);
    pty.wait_text("ready hello");
    pty.send(":agents\r");
    pty.wait_text("2.1.0");
    quit(&pty);
    assert_eq!((count(home.home()), count(home.path(".claude")), count(home.work())), (1, 1, 0));
    assert_eq!(count(home.tmp()), 0, "nothing is left in the temporary folder");
}

#[test]
fn it_is_quiet_when_nothing_happens() {
    let (_home, _misfit, pty) = open_with("good");
    let ticks = || -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pty.pid())).unwrap_or_default();
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        rest.split(' ').skip(11).take(2).filter_map(|number| number.parse::<u64>().ok()).sum()
    };
    // The agents are known, drawn, and answered by the plugin.
    pty.wait_for(|screen| screen.line(0).contains("Agents 0") && screen.has("agents 10"), "the agents");
    let (before, written) = (ticks(), pty.raw().len());
    // Two seconds of nothing: there is no condition to wait for but the time itself.
    let until = std::time::Instant::now() + Duration::from_secs(2);
    while std::time::Instant::now() < until {
        std::thread::sleep(until.saturating_duration_since(std::time::Instant::now()));
    }
    assert!(ticks() - before <= 2, "{} ticks of the processor", ticks() - before);
    assert_eq!(pty.raw().len(), written, "it wrote without being asked");
    quit(&pty);
}

#[test]
fn a_small_window_grows() {
    let home = Home::new();
    home.misfit("hello", "good");
    let pty = Pty::spawn(LAZYAGENTS, &[], &home, 1, 1);
    pty.wait_within(PATIENCE, testkit::Screen::alternate, "the alternate screen");
    pty.resize(24, 80);
    pty.wait_text("ready hello");
    pty.resize(12, 40);
    pty.wait_text("size 38x9");
    pty.resize(24, 80);
    pty.wait_text("ready hello");
    quit(&pty);
}

#[test]
fn a_program_that_answers_late_withholds_only_its_own_version() {
    let home = Home::new();
    home.config("tui: { startTab: agents }\n");
    home.program("claude", "#!/bin/sh\nsleep 60\n");
    home.program("codex", "#!/bin/sh\necho 'codex-cli 0.99.0'\n");
    let pty = open(&home);
    pty.wait_text("0.99.0");
    let screen = pty.screen();
    assert!(screen.lines().iter().any(|line| line.contains("Claude Code") && line.contains('…')), "{screen}");
    quit(&pty);
}
