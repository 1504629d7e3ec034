//! The terminal, with small shell scripts in it. Every wait is for something the script does.

use std::time::Duration;

use testkit::{Color, Exit, Home, Pty, session_members};

const SOON: Duration = Duration::from_secs(15);

fn sh(home: &Home, script: &str) -> Pty {
    Pty::spawn("/bin/sh", &["-c", script], home, 10, 40)
}

#[test]
fn keys_go_in_and_the_screen_comes_out() {
    let home = Home::new();
    let pty = sh(&home, "echo ready; read x; echo got $x; exit 5");
    pty.wait_text("ready");
    pty.send("it\r");
    let screen = pty.wait_text("got it");
    assert_eq!(pty.wait_exit(SOON), Exit::Code(5));
    assert_eq!(screen.lines()[..3], ["ready", "it", "got it"], "the terminal echoes what is typed");
    assert_eq!(pty.find("got"), Some((2, 0)));
    assert_eq!(pty.text().trim_end(), "ready\nit\ngot it");
}

#[test]
fn the_last_words_are_read_before_the_exit_is_told() {
    let home = Home::new();
    let pty = sh(&home, "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; done; kill -15 $$");
    assert_eq!(pty.wait_exit(SOON), Exit::Signal(15));
    assert!(pty.screen().has("line 300"), "{}", pty.screen());
    assert_eq!(pty.raw().iter().filter(|byte| **byte == b'\n').count(), 300);
}

#[test]
fn the_program_has_a_terminal_of_its_own_of_the_right_size_and_hears_of_a_new_one() {
    let home = Home::new();
    let pty = sh(&home, "trap 'stty size' WINCH; stty size; tty; while read x; do :; done");
    pty.wait_text("10 40");
    pty.wait_text("/dev/");
    pty.resize(12, 50);
    pty.wait_text("12 50");
    assert_eq!(pty.screen().size(), (12, 50));
}

#[test]
fn tiny_windows_do_not_panic() {
    let home = Home::new();
    let pty = Pty::spawn("/bin/sh", &["-c", "stty size; echo wide: 日本語; read x"], &home, 1, 1);
    pty.wait_raw("語", 0);
    assert_eq!(pty.screen().size(), (1, 1));
    assert_eq!(pty.text().lines().count().max(1), 1);
    pty.resize(5, 30);
    pty.resize(0, 0);
    pty.resize(2, 2);
    pty.send("\r");
    assert_eq!(pty.wait_exit(SOON), Exit::Code(0));
}

#[test]
fn cells_have_colours_and_columns_count_cells() {
    let home = Home::new();
    let pty = sh(&home, r"printf '日本 \033[1;38;2;1;2;3;41mX\033[0m end\n'; read x");
    pty.wait_text("end");
    assert_eq!(pty.find("X"), Some((0, 5)));
    let cell = pty.cell(0, 5);
    assert_eq!((cell.text.as_str(), cell.bold, cell.fg, cell.bg), ("X", true, Color::Rgb(1, 2, 3), Color::Idx(1)));
    assert!(pty.cell(0, 0).wide && pty.cell(0, 1).continuation);
    assert_eq!(pty.cell(5, 5).text, " ");
}

#[test]
fn modes_of_the_screen_are_seen() {
    let home = Home::new();
    let script = r"printf '\033[?1049h\033[?25l\033[?2004h\033[?1000hinside'; read x; printf '\033[?1049l\033[?25houtside'; read x";
    let pty = sh(&home, script);
    let inside = pty.wait_text("inside");
    assert!(inside.alternate() && inside.mouse() && inside.bracketed_paste());
    assert_eq!(inside.cursor(), None);
    pty.send("\r");
    let outside = pty.wait_text("outside");
    assert!(!outside.alternate() && outside.cursor().is_some());
    pty.wait_gone("inside");
}

#[test]
fn the_terminals_modes_are_compared_also_after_the_end() {
    let home = Home::new();
    let tidy = sh(&home, "stty raw -echo; echo set; read x; stty sane; exit 0");
    tidy.wait_text("set");
    let (before, now) = tidy.tty_modes();
    assert!(before.cooked() && before.echo() && !now.cooked() && !now.echo());
    tidy.send("\n");
    tidy.wait_exit(SOON);
    assert!(tidy.tty_modes().1.cooked());

    let rude = sh(&home, "stty raw -echo");
    rude.wait_exit(SOON);
    let (before, after) = rude.tty_modes();
    assert_ne!(before, after);
    assert!(!after.cooked());
}

#[test]
fn queries_are_answered_only_when_told() {
    let home = Home::new();
    let script = r"stty raw -echo; printf '\033[cone'; dd bs=1 count=1 2>/dev/null | od -c; printf 'two\033[c'; dd bs=1 count=4 2>/dev/null | od -c";
    let pty = sh(&home, script);
    pty.wait_text("one");
    assert!(!pty.screen().has("033"));
    pty.answer("\x1b[c", "\x1b[?6c");
    pty.wait_text("033");
    pty.wait_text("two");
    pty.wait_exit(SOON);
    // Two questions, two answers: nothing is left, nothing was invented.
    assert_eq!(String::from_utf8_lossy(&pty.raw()).matches("033").count(), 1, "{}", pty.screen());
}

#[test]
fn a_failed_wait_shows_the_screen_and_why() {
    let home = Home::new();
    let pty = sh(&home, "echo only this; exit 7");
    let failure = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pty.wait_text("something else")));
    let text = *failure.expect_err("a failure").downcast::<String>().expect("a text");
    assert!(text.contains("something else") && text.contains("exit: 7") && text.contains("only this"), "{text}");

    let pty = sh(&home, "echo waiting; read x");
    pty.wait_text("waiting");
    let failure = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pty.wait_within(Duration::from_millis(50), |_| false, "what never comes")
    }));
    let text = *failure.expect_err("a failure").downcast::<String>().expect("a text");
    assert!(text.contains("what never comes") && text.contains("waiting"), "{text}");
}

#[test]
fn dropping_it_ends_the_whole_session() {
    let home = Home::new();
    // `set -m`: the background job gets a group of its own, as a plugin does.
    let pty = sh(&home, "trap '' HUP TERM; set -m; sleep 600 & echo started; read x");
    pty.wait_text("started");
    let pid = pty.pid();
    let members = session_members(pid);
    assert!(members.len() >= 2 && members.contains(&pid), "{members:?}");
    drop(pty);
    let deadline = std::time::Instant::now() + SOON;
    while members.iter().any(|member| testkit::alive(*member)) {
        assert!(std::time::Instant::now() < deadline, "something is left of {members:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_program_that_reads_nothing_does_not_block_the_test() {
    let home = Home::new();
    let pty = sh(&home, "stty raw -echo; echo deaf; sleep 600");
    pty.wait_text("deaf");
    for _ in 0..50 {
        pty.send([b'x'; 1024]);
    }
    drop(pty);
}

#[test]
fn raw_output_is_waited_for() {
    let home = Home::new();
    let pty = sh(&home, r"printf '\033]0;a title\007'; printf '\033]52;c;aGk=\007'; read x");
    let at = pty.wait_raw("a title", 0);
    pty.wait_raw("\x1b]52;c;aGk=", at);
    assert!(pty.text().trim().is_empty());
}
