//! The real program in a real terminal, for the tests beside it: opening, waiting, quitting, and what must hold
//! afterwards. It asserts only that things come and go.

use std::time::Duration;

use testkit::{Exit, Home, Misfit, Pty, Screen, alive, session_members};

use crate::cli::LAZYAGENTS;

/// What quitting may take (clause L2: about 2 s; a busy machine gets more).
pub(crate) const QUITTING: Duration = Duration::from_secs(8);

/// The body of a tab in a terminal of 24 rows and 80 columns, and where it begins.
pub(crate) const BODY: (u16, u16) = (78, 21);
pub(crate) const ORIGIN: (u16, u16) = (1, 2);

/// Opens lazyagents in 24x80.
pub(crate) fn open(home: &Home) -> Pty {
    Pty::spawn(LAZYAGENTS, &[], home, 24, 80)
}

/// A home with the plugin `hello` that behaves like this, and lazyagents in it, with the plugin's first frame shown.
pub(crate) fn open_with(behaviour: &str) -> (Home, Misfit, Pty) {
    let home = Home::new();
    let misfit = home.misfit("hello", behaviour);
    let pty = open(&home);
    pty.wait_text("ready hello");
    (home, misfit, pty)
}

/// Quits by `q` and checks what must hold afterwards.
#[track_caller]
pub(crate) fn quit(pty: &Pty) {
    pty.send("q");
    assert_eq!(pty.wait_exit(QUITTING), Exit::Code(0), "{}", pty.screen());
    restored(pty);
}

/// After the end: the terminal is as it was, and nothing of the session is left.
#[track_caller]
pub(crate) fn restored(pty: &Pty) {
    let (before, after) = pty.tty_modes();
    assert_eq!(before, after, "the modes of the terminal");
    let screen = pty.screen();
    handed_back(&screen);
    let left = session_members(pty.pid());
    assert!(left.is_empty(), "still running: {left:?}");
}

/// The screen is one that a shell could be on.
#[track_caller]
pub(crate) fn handed_back(screen: &Screen) {
    assert!(!screen.alternate() && !screen.mouse() && !screen.bracketed_paste(), "{screen}");
    assert!(screen.cursor().is_some(), "the cursor is hidden\n{screen}");
}

/// Waits for something that is not on the screen.
#[track_caller]
pub(crate) fn wait_until<T>(look: impl Fn() -> Option<T>, what: &str) -> T {
    let deadline = std::time::Instant::now() + testkit::PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "waited for {what}");
        // Files and other people's processes tell nobody: look again, with the deadline above.
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for a file with a number in it.
#[track_caller]
pub(crate) fn wait_number(path: &std::path::Path) -> u32 {
    let read = || std::fs::read_to_string(path).ok()?.strip_suffix('\n')?.parse().ok();
    wait_until(read, &format!("a number in {}", path.display()))
}

/// Waits until these processes have ended.
#[track_caller]
pub(crate) fn wait_gone(pids: &[u32]) {
    wait_until(|| pids.iter().all(|pid| !alive(*pid)).then_some(()), &format!("the end of {pids:?}"));
}

/// Sends a signal, by its name without SIG.
#[track_caller]
pub(crate) fn kill(signal: &str, pid: u32) {
    let status = std::process::Command::new("/bin/sh").args(["-c", &format!("kill -{signal} {pid}")]).status().unwrap();
    assert!(status.success(), "kill -{signal} {pid}");
}

/// A mouse report in the SGR encoding, from cells counted from 0.
pub(crate) fn mouse(button: u16, column: u16, row: u16, press: bool) -> String {
    format!("\x1b[<{button};{};{}{}", column + 1, row + 1, if press { 'M' } else { 'm' })
}
