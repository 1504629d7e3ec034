//! Commands run to their end: the one text, deadlines, leftovers. Nothing here needs a terminal.

use std::time::{Duration, Instant};

use testkit::{Exit, Home, run, run_in, run_within};

fn sh(home: &Home, script: &str, stdin: &[u8]) -> testkit::Output {
    run("/bin/sh", &["-c", script], home, stdin)
}

#[test]
fn one_text_holds_stdout_stderr_and_the_exit() {
    let home = Home::new();
    let output = sh(&home, "read x; echo \"got $x in $HOME\"; echo oops >&2; exit 3", b"it\n");
    assert_eq!(output.to_string(), "got it in $ROOT/home\n--- stderr ---\noops\n--- exit: 3 ---");
    assert_eq!(output.code(), 3);
}

#[test]
fn a_missing_newline_is_shown_and_silence_is_short() {
    let home = Home::new();
    assert_eq!(sh(&home, "printf a", b"").to_string(), "a<no newline>\n--- stderr ---\n--- exit: 0 ---");
    assert_eq!(sh(&home, "true", b"").to_string(), "--- stderr ---\n--- exit: 0 ---");
    assert_eq!(sh(&home, "kill -9 $$", b"").to_string(), "--- stderr ---\n--- exit: signal 9 ---");
}

#[test]
fn a_command_that_does_not_end_is_stopped_with_all_it_started() {
    let home = Home::new();
    let script = "sleep 600 & echo $!; echo begun; wait";
    let output = run_within(Duration::from_millis(400), "/bin/sh", &["-c", script], &home, &home.work(), b"");
    assert_eq!(output.exit, Exit::Deadline);
    let out = output.out();
    let (pid, rest) = out.split_once('\n').expect("two lines");
    assert_eq!(rest, "begun\n");
    assert!(output.to_string().ends_with("--- exit: stopped at the deadline ---"));
    wait_gone(pid.parse().expect("a number"));
}

#[test]
fn what_a_command_leaves_in_its_group_goes_too() {
    let home = Home::new();
    let started = Instant::now();
    let output = sh(&home, "sleep 600 & echo $!", b"").ok();
    assert!(started.elapsed() < Duration::from_secs(20), "the pipe held by the child is not waited for");
    wait_gone(output.out().trim().parse().expect("a number"));
}

#[test]
fn a_command_that_reads_nothing_is_no_failure_and_large_output_is_whole() {
    let home = Home::new();
    let input = vec![b'x'; 1 << 20];
    assert_eq!(sh(&home, "exit 0", &input).code(), 0);
    assert_eq!(sh(&home, "cat; cat >&2", &input).ok().stdout.len(), 1 << 20);
}

#[test]
fn the_folder_can_be_chosen() {
    let home = Home::new();
    let output = run_in(&home.home(), "/bin/pwd", &[], &home, b"").ok();
    assert_eq!(output.out(), "$ROOT/home\n");
}

fn wait_gone(pid: u32) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while testkit::alive(pid) {
        assert!(Instant::now() < deadline, "process {pid} is still there");
        std::thread::yield_now();
    }
}
