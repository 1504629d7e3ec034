//! Commands that a plugin asks for (clauses E).

use serde_json::json;
use testkit::Home;

use super::fields;
use crate::terminal::{handed_back, kill, open, open_with, quit, wait_gone, wait_number};

#[test]
fn e1_e3_a_background_command_runs_beside_and_its_result_comes() {
    let home = Home::new();
    let script = r#"exec:["sh","-c","printf out; printf 'err\\n' >&2; cat; tty; exit 3"]"#;
    let misfit = home.misfit("hello", script);
    let pty = open(&home);
    let result = misfit.wait_message("exec_result", |_| true, "the result");
    assert_eq!(fields(&result), ["type", "execId", "code", "stdout", "stderr"]);
    assert_eq!((&result["execId"], &result["code"]), (&json!(1), &json!(3)));
    assert!(result["stdout"].as_str().unwrap().starts_with("out"), "{result}");
    assert!(result["stdout"].as_str().unwrap().contains("not a tty"), "E7: {result}");
    assert_eq!(result["stderr"], "err\n");
    misfit.behave("exec:/no/such/program");
    quit(&pty);
    let pty = open(&home);
    let result = misfit.wait_message("exec_result", |result| result["code"] == -1, "the failure");
    assert!(!result["error"].as_str().unwrap().is_empty() && result.get("stdout").is_none(), "{result}");
    quit(&pty);
}

#[test]
fn e4_e8_a_command_runs_in_its_folder_and_is_cancelled_at_the_end() {
    let home = Home::new();
    let dir = home.home();
    let plugin = format!(
        "#!/bin/sh\n[ \"$1\" = serve ] || exit 0\nread -r l\necho '{{\"type\":\"manifest\",\"title\":\"x\"}}'\n\
         echo '{{\"type\":\"exec\",\"execId\":5,\"argv\":[\"sh\",\"-c\",\"pwd; echo $$ >pid; exec sleep 100\"],\"dir\":\"{}\"}}'\n\
         echo '{{\"type\":\"frame\",\"view\":\"ready x\"}}'\nwhile read -r l; do :; done\n",
        dir.display()
    );
    home.plugin("x", &plugin);
    let pty = open(&home);
    pty.wait_text("ready x");
    let pid = wait_number(&dir.join("pid"));
    quit(&pty);
    wait_gone(&[pid]);
}

#[test]
fn e6_an_interactive_command_gets_the_terminal_and_gives_it_back() {
    let script =
        r#"exec-interactive:["sh","-c","stty -a | grep -o -- '-*icanon'; echo IN-CHILD; read x; echo got $x; exit 4"]"#;
    let (_home, misfit, pty) = open_with(script);
    pty.send("x");
    let screen = pty.wait_text("IN-CHILD");
    handed_back(&screen);
    assert!(screen.has("icanon") && !screen.has("-icanon"), "{screen}");
    let (before, now) = pty.tty_modes();
    assert_eq!(before, now);
    // Keys are the child's alone, and the plugin goes on.
    pty.send("qqq\r");
    let result = misfit.wait_message("exec_result", |_| true, "the result");
    assert_eq!(fields(&result), ["type", "execId", "code"]);
    assert_eq!(result["code"], 4);
    pty.wait_for(|screen| screen.alternate() && screen.has("results 1"), "the interface again");
    assert!(pty.screen().mouse() && pty.screen().bracketed_paste() && pty.screen().cursor().is_none());
    pty.send("k");
    misfit.wait_message("key", |key| key["key"] == "k", "a key");
    assert_eq!(misfit.messages("key").len(), 2);
    quit(&pty);
}

#[test]
fn e6_a_command_that_cannot_start_does_not_flicker() {
    let (_home, misfit, pty) = open_with("exec-interactive:no-such-program-here");
    pty.send("x");
    let result = misfit.wait_message("exec_result", |_| true, "the result");
    assert_eq!(result["code"], -1);
    assert!(result["error"].as_str().unwrap().contains("no-such-program-here"), "{result}");
    pty.wait_text("results 1");
    quit(&pty);
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert_eq!(raw.matches("\u{1b}[?1049l").count(), 1, "the screen was left only at the end");
}

#[test]
fn e8_sigterm_while_a_child_has_the_terminal_ends_both() {
    let script = r#"exec-interactive:["sh","-c","echo IN-CHILD; exec sleep 100"]"#;
    let (_home, misfit, pty) = open_with(script);
    pty.send("x");
    pty.wait_text("IN-CHILD");
    kill("TERM", pty.pid());
    assert!(matches!(pty.wait_exit(crate::terminal::QUITTING), testkit::Exit::Code(_)));
    crate::terminal::restored(&pty);
    misfit.wait_gone(misfit.wait_serve(1));
}

#[test]
fn e6_ctrl_c_is_the_childs_own_and_a_new_size_is_seen_on_return() {
    let script =
        r#"exec-interactive:["sh","-c","trap 'echo caught; exit 9' INT; echo IN-CHILD; while :; do sleep 1; done"]"#;
    let (_home, misfit, pty) = open_with(script);
    pty.send("x");
    pty.wait_text("IN-CHILD");
    pty.resize(30, 100);
    pty.send("\x03");
    let result = misfit.wait_message("exec_result", |_| true, "the result");
    assert_eq!(result["code"], 9);
    pty.wait_for(|screen| screen.alternate() && screen.has("size 98x27"), "the new size");
    quit(&pty);
}

/// ctrl+c while a child has the terminal is the child's, however fast it ends (E6).
#[test]
fn e6_ctrl_c_of_a_child_that_ends_at_once_never_ends_the_interface() {
    let (_home, misfit, pty) = open_with(r#"exec-interactive:["sh","-c","echo IN-CHILD; exec sleep 100"]"#);
    for n in 1..=40 {
        let before = pty.raw().len();
        pty.send("x");
        // What the child before this one wrote is still on the screen, so this looks at what is new.
        pty.wait_raw("IN-CHILD", before);
        pty.send("\x03");
        misfit.wait_message("exec_result", |_| misfit.messages("exec_result").len() == n, "the result");
        pty.wait_for(|screen| screen.alternate() && screen.has(&format!("results {n}")), "the interface");
    }
    quit(&pty);
}
