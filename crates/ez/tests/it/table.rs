//! Every command on a happy and a failing path, with stdout, stderr and status, in one snapshot a group.

use std::fmt::Write as _;

use testkit::{Home, Pty, run_in};

use crate::{EZ, home, plugin, repo};

/// Runs each command line in `dir` and writes down what came of it. A line may begin with its stdin: `y| session ...`.
fn told(home: &Home, dir: &std::path::Path, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let (input, command) = line.split_once("| ").unwrap_or(("", line));
        let words: Vec<String> = command.split_whitespace().map(|word| word.replace('~', " ")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let input = if input.is_empty() { String::new() } else { format!("{input}\n") };
        let output = run_in(dir, EZ, &words, home, input.as_bytes());
        let _ = writeln!(text, "$ ez {command}\n[{}]", output.code());
        for (mark, stream) in [("", output.out()), ("! ", output.err())] {
            for line in stream.lines() {
                let _ = writeln!(text, "{mark}{line}");
            }
        }
        text.push('\n');
    }
    text
}

fn compare(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>");
    settings.add_filter(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)", "<time>");
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d \(just now\) *", "<when>");
    settings.add_filter(r"\b[0-9a-f]{40}\b", "<commit>");
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn repositories() {
    let home = home();
    repo(&home, "from");
    home.write("plain/x", "");
    let dir = home.home();
    let lines = [
        "add plain",
        "add plain",
        "add nowhere",
        "clone ws/from copy",
        "clone ws/from copy",
        "clone nowhere.git gone",
        "repo list",
        "repo list --label none",
        "repo label add copy b a",
        "repo label add copy a,b",
        "repo label list",
        "repo label list copy",
        "repo label remove copy b",
        "repo label remove nothing b",
        "repo info copy",
        "repo info copi",
        "remove plain",
        "remove plain",
        "repo remove copy --purge",
        "repo",
        "add --bogus",
    ];
    compare("table_repositories", &told(&home, &dir, &lines));
}

#[test]
fn sessions() {
    let home = home();
    let dir = repo(&home, "api");
    plugin(
        &home,
        "env",
        &["on_session_create"],
        "",
        "echo '{\"success\":true,\"session_mutations\":{\"env\":{\"A\":\"1\"}}}'",
    );
    let lines = [
        "session new feat",
        "session new feat",
        "session new ../x",
        "session new -r nope x",
        "session new child -p feat --bare",
        "session new x -p nobody",
        "session new y --start-point nothing",
        "session list",
        "session list --flat",
        "session list -r nope",
        "session enter feat",
        "session enter child",
        "session enter faet",
        "session exit feat",
        "session rename feat login",
        "session rename login child",
        "session rename nobody x",
        "session register nowhere",
        "session register",
        "session from-dirty clean",
        "session label add login b a",
        "session label list login",
        "session label list",
        "session label remove login b",
        "session label add nobody b",
        "session env set K v -s login",
        "session env set 1K v -s login",
        "session env list -s login",
        "session env unset K -s login",
        "session env list -s nobody",
        "session note path -n login",
        "session note cd -n nobody",
        "session path login",
        "session path child",
        "session info login",
        "session info nobody",
        "session sync login",
        "session sync nobody",
        "session exec login -- echo hello",
        "session exec login -- false",
        "session exec login",
        "session prune --dry-run",
        "session prune --older soon",
        "session delete nobody",
        "session delete login",
        "n| session delete login",
        "session delete login --force",
        "session delete",
        "trash list",
        "trash restore child",
        "trash restore nobody",
        "trash empty",
        "y| trash empty",
        "trash empty --force",
        "cd-to-session",
        "list",
        "go child --print",
        "go nothing-like-it",
        "go -",
    ];
    compare("table_sessions", &told(&home, &dir, &lines));
}

#[test]
fn plugins_settings_and_the_rest() {
    let home = home();
    let dir = repo(&home, "api");
    let lines = [
        "plugin list",
        "plugin enable git-worktree",
        "plugin enable git-worktree",
        "plugin enable nothing",
        "plugin disable git-worktree",
        "plugin disable nothing",
        "plugin info tmux",
        "plugin info tmix",
        "plugin new mine",
        "plugin new mine",
        "plugin new ../x",
        "plugin check ../../../config/ez/plugins/mine",
        "plugin check nowhere",
        "plugin run mine on_plugin_init",
        "plugin run mine on_nothing",
        "config init",
        "config path",
        "config get plugin_timeout",
        "config get plugin_timeot",
        "config get delete_branch",
        "config set plugin_timeout 5",
        "config set plugin_timeout soon",
        "config set workspace_roots x",
        "config set default_select_by sideways",
        "config set nothing x",
        "config add-root ..",
        "config add-root nowhere",
        "config remove-root ..",
        "config remove-root nowhere",
        "init-shell tcsh",
        "completions tcsh",
        "schema",
        "schema nothing",
        "sesion list",
        "session lst",
        "--select-by sideways",
        "-C nowhere list",
    ];
    compare("table_rest", &told(&home, &dir, &lines));
}

#[test]
fn a_closed_pipe_is_quiet_and_colour_is_for_terminals_that_want_it() {
    let mut home = home();
    let dir = repo(&home, "api");
    for n in 0..30 {
        let _ = run_in(&dir, EZ, &["session", "new", &format!("a-rather-long-name-of-a-session-{n}")], &home, b"").ok();
    }
    let piped = format!("{EZ} session list --json | head -n 1; {EZ} session list --json >&-; {EZ} schema list | true");
    let quiet = run_in(&dir, "bash", &["-c", &piped], &home, b"").ok();
    assert_eq!((quiet.out().as_str(), quiet.err().as_str()), ("[\n", ""));
    home.set_env("TERM", "xterm");
    let on_terminal = |home: &Home, args: &[&str]| {
        let pty = Pty::spawn_in(&dir, EZ, args, home, 50, 80);
        pty.wait_exit(std::time::Duration::from_secs(10));
        String::from_utf8_lossy(&pty.raw()).into_owned()
    };
    assert!(on_terminal(&home, &["list"]).contains("\u{1b}[1mapi"));
    assert!(!on_terminal(&home, &["list", "--no-color"]).contains('\u{1b}'));
    home.set_env("NO_COLOR", "1");
    assert!(!on_terminal(&home, &["list"]).contains('\u{1b}'));
}
