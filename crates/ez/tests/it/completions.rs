//! Completions in the real shells: TAB inserts a word that the shell reads back as the name, and runs nothing.

use testkit::{Home, Pty, needs, run};

use crate::{EZ, ez, home, plugin, repo};

/// Names that a shell would take apart, expand or run.
const NAMES: [&str; 7] = ["a b", "it's", "co:lon", "dou\"ble", "$(touch pwned)", "x;touch pwned", "top/inner"];

fn named_home() -> Home {
    let mut home = home();
    repo(&home, "re po");
    for name in NAMES {
        let _ = ez(&home, &["session", "new", name, "-r", "re po"]).ok();
    }
    home.set_env("PS1", "> ").set_env("TERM", "xterm").set_env("LC_ALL", "C.UTF-8");
    home
}

/// What is typed before TAB, and the words that the shell then has.
const TYPED: [(&str, &str); 11] = [
    ("ez session enter -r 're po' a", "<session><enter><-r><re po><a b>"),
    ("ez session enter -r re\\ po it", "<session><enter><-r><re po><it's>"),
    ("ez session enter -r re\\ po 'it", "<session><enter><-r><re po><it's>"),
    ("ez session enter -r re\\ po \"dou", "<session><enter><-r><re po><dou\"ble>"),
    ("ez session enter -r re\\ po co", "<session><enter><-r><re po><co:lon>"),
    ("ez session enter -r re\\ po co:", "<session><enter><-r><re po><co:lon>"),
    ("ez session enter -r re\\ po \\$", "<session><enter><-r><re po><$(touch pwned)>"),
    ("ez session enter -r re\\ po x", "<session><enter><-r><re po><x;touch pwned>"),
    ("ez session enter -r re\\ po top/", "<session><enter><-r><re po><top/inner>"),
    ("ez session enter --repo=r", "<session><enter><--repo=re po>"),
    ("ez sess", "<session>"),
];

fn tab_in(shell: &str, args: &[&str], before: &str) {
    if !needs(shell) {
        return;
    }
    let home = named_home();
    let pty = Pty::spawn(shell, args, &home, 60, 120);
    pty.wait_text(">");
    pty.send(format!("{before}eval \"$({EZ} completions {shell})\"; clear; echo rea''dy\r"));
    pty.wait_text("ready");
    pty.send("ez() { echo; printf 'got:'; printf '<%s>' \"$@\"; echo; }\r");
    for (typed, words) in TYPED {
        pty.send(format!("clear; echo n''ext; {typed}\t"));
        // The end of the line as it is after the completion: a character typed then is behind it.
        pty.send("\r");
        pty.wait_text("next");
        let words = words.to_owned();
        pty.wait_for(|screen| screen.text().contains(&format!("got:{words}")), &format!("{typed} -> {words}"));
    }
    assert!(!home.home().join("pwned").exists() && !home.work().join("pwned").exists());
}

#[test]
fn bash_inserts_names_as_they_are() {
    tab_in("bash", &["--norc", "--noprofile", "-i"], "");
}

#[test]
fn zsh_inserts_names_as_they_are() {
    tab_in("zsh", &["-f", "-i"], "PS1='> '; autoload -Uz compinit; compinit -D -u; ");
}

#[test]
fn fish_is_offered_names_as_they_are() {
    if !needs("fish") {
        return;
    }
    let home = named_home();
    let script = format!("{EZ} completions fish | source; complete -C \"ez session enter -r 're po' \"");
    let offered = run("fish", &["--no-config", "-c", &script], &home, b"").ok().out();
    for name in NAMES {
        assert!(
            offered.lines().any(|line| line == name || line.starts_with(&format!("{name}\t"))),
            "{name}\n{offered}"
        );
    }
}

#[test]
fn each_kind_of_word_is_offered() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "new", "gone", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "delete", "gone", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "label", "add", "feat", "urgent", "-r", "api"]).ok();
    let _ = ez(&home, &["repo", "label", "add", "api", "backend"]).ok();
    let _ = ez(&home, &["session", "env", "set", "KEY", "v", "-s", "feat", "-r", "api"]).ok();
    let _ = ez(&home, &["config", "add-root", &home.path("ws").display().to_string()]).ok();
    plugin(&home, "mine", &["on_session_create"], "", "echo '{\"success\":true}'");
    let offered = |words: &[&str]| {
        let all: Vec<&str> = ["__complete", "fish", "", "ez"].iter().chain(words).copied().collect();
        ez(&home, &all).ok().out()
    };
    for (words, wanted) in [
        (&["remove"][..], "api\t"),
        (&["-w"], "/ws\t"),
        (&["--select-by"], "tree\t"),
        (&["session", "enter", "-r", "api"], "feat\t"),
        (&["-C", &home.path("ws/api").display().to_string(), "s", "rm"], "feat\t"),
        (&["session", "label", "remove", "-r", "api", "feat"], "urgent\t"),
        (&["session", "env", "unset", "-r", "api", "-s", "feat"], "KEY\t"),
        (&["session", "new", "x", "-r", "api", "--start-point"], "main\t"),
        (&["repo", "list", "--label"], "backend\t"),
        (&["plugin", "enable"], "mine\t"),
        (&["plugin", "run", "mine"], "on_session_create\t"),
        (&["trash", "restore"], "gone\t"),
        (&["config", "get"], "keybinds.new_session\t"),
        (&["schema"], "session-list\t"),
        (&["go"], "feat\tapi"),
        (&["init-shell"], "fish\t"),
        (&["add"], "dirs\n"),
        (&["session", "exec", "feat", "--"], "files\n"),
    ] {
        let found = offered(words);
        assert!(found.contains(wanted), "{words:?}\n{found}");
    }
    home.write(home.root().join("config/ez/config.toml"), "broken = [");
    assert!(offered(&["session", "enter", "-r", "api"]).contains("feat"), "also with a broken configuration");
}
