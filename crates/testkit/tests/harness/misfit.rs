//! misfit tested as a plugin host would see it: through pipes. No host of ours is involved.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Exit, Home, Misfit, alive, run, run_within};

/// A misfit that serves, and its pipes.
struct Served {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Served {
    fn start(home: &Home, misfit: &Misfit) -> Self {
        let mut child = Command::new(misfit.path())
            .arg("serve")
            .env_clear()
            .envs(home.env())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("misfit starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut served = Self { child, stdin, stdout };
        served.say(&json!({"type": "init", "protocol": 1, "id": "m", "config": {"a": 1}, "width": 70, "height": 20}));
        served
    }

    fn say(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("an open pipe");
        // A misfit that has ended is what some tests are about.
        let _ = stdin.write_all(format!("{message}\n").as_bytes());
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).expect("a line");
        line
    }

    fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line).unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&line)))
    }

    fn expect(&mut self, kind: &str) -> Value {
        let message = self.message();
        assert_eq!(message["type"], kind, "{message}");
        message
    }

    /// Reads frames until one holds this text.
    fn until(&mut self, text: &str) -> Value {
        loop {
            let message = self.message();
            if message["view"].as_str().is_some_and(|view| view.contains(text)) {
                return message;
            }
        }
    }

    fn end(mut self) -> Exit {
        drop(self.stdin.take());
        self.child.wait().expect("misfit ends").into()
    }
}

fn served(behaviour: &str) -> (Home, Misfit, Served) {
    let home = Home::new();
    let misfit = home.misfit("odd", behaviour);
    let served = Served::start(&home, &misfit);
    (home, misfit, served)
}

#[test]
fn good_answers_everything_and_ends_at_eof() {
    let (_home, misfit, mut served) = served("good");
    let manifest = served.expect("manifest");
    assert_eq!((manifest["title"].as_str(), manifest["doctor"].as_bool()), (Some("Misfit odd"), Some(true)));
    assert_eq!(manifest["commands"][0]["name"], "run");
    let view = served.expect("frame")["view"].as_str().expect("a view").to_owned();
    assert!(view.contains("size 70x20") && view.contains("config {\"a\":1}"), "{view}");
    served.until("last {\"type\":\"init\"");
    for (message, shown) in [
        (json!({"type": "key", "key": "a", "text": "a"}), "keys 1"),
        (json!({"type": "key", "key": "enter"}), "keys 2"),
        (json!({"type": "paste", "text": "é"}), "pastes 1"),
        (json!({"type": "mouse", "mouse": {"kind": "click", "x": 0, "y": 1, "button": "left"}}), "mouse 1"),
        (json!({"type": "command", "name": "ping"}), "commands 1"),
        (json!({"type": "reload"}), "reloads 1"),
        (json!({"type": "resize", "width": 10, "height": 4}), "size 10x4"),
        (json!({"type": "agents", "agents": [{"id": "pi"}]}), "agents 1"),
        (json!({"type": "exec_result", "execId": 3, "code": 0}), "results 1"),
        (json!({"type": "tomorrow"}), "other 1"),
    ] {
        served.say(&message);
        let frame = served.until(shown);
        assert!(frame["view"].as_str().is_some_and(|view| view.contains(&format!("last {message}"))), "{frame}");
    }
    assert_eq!(served.end(), Exit::Code(0));
    assert_eq!(misfit.received().len(), 11);
    assert_eq!(misfit.messages("key")[1]["key"], "enter");
    assert_eq!(misfit.started("serve").len(), 1);
}

#[test]
fn each_link_has_its_own_orders_and_the_variable_wins() {
    let mut home = Home::new();
    home.misfit("one", "doctor-fail");
    home.misfit("two.sh", "good");
    let one = run(home.plugins().join("one"), &["doctor"], &home, b"");
    assert_eq!(one.to_string(), "one: the well is dry\n--- stderr ---\none: the bucket has a hole\n--- exit: 1 ---");
    assert_eq!(run(home.plugins().join("two.sh"), &["doctor"], &home, b"").ok().out(), "two is well\n");
    home.set_env("MISFIT", "doctor-fail");
    assert_eq!(run(home.plugins().join("two.sh"), &["doctor"], &home, b"").code(), 1);
}

#[test]
fn other_arguments_pass_through() {
    let home = Home::new();
    let misfit = home.misfit("odd", "good");
    let output = run(misfit.path(), &["--help", "", "a b", "cat", "exit", "7"], &home, b"in\n");
    assert_eq!(output.to_string(), "--help\n\na b\ncat\nexit\n7\nin\n--- stderr ---\n--- exit: 7 ---");
    assert_eq!(run(misfit.path(), &["signal", "10"], &home, b"").exit, Exit::Signal(10));
    assert_eq!(run(misfit.path(), &["tty"], &home, b"").ok().out(), "tty\nstdin false stdout false stderr false\n");
    assert_eq!(run(misfit.path(), &[], &home, b"").ok().out(), "");
}

#[test]
fn lines_that_are_no_messages() {
    for (behaviour, line) in
        [("junk", "this is no JSON\n"), ("empty-type", "{\"type\":\"\"}\n"), ("array", "[\"frame\", 1]\n")]
    {
        let (_home, _, mut plugin) = served(behaviour);
        plugin.expect("manifest");
        plugin.expect("frame");
        assert_eq!(plugin.line(), line.as_bytes());
        plugin.end();

        let (_home, _, mut plugin) = served(&format!("{behaviour}:first"));
        assert_eq!(plugin.line(), line.as_bytes());
        plugin.end();

        let (_home, _, mut plugin) = served(&format!("{behaviour}:on-key"));
        plugin.until("keys 0");
        plugin.say(&json!({"type": "key", "key": "a", "text": "a"}));
        plugin.expect("frame");
        assert_eq!(plugin.line(), line.as_bytes());
        plugin.end();
    }
}

#[test]
fn ways_to_start_wrongly() {
    let (_home, misfit, plugin) = served("silent");
    misfit.wait_message("init", |_| true, "init");
    assert_eq!(plugin.end(), Exit::Code(0));

    let (_home, _, mut plugin) = served("frame-first");
    plugin.expect("frame");
    plugin.expect("manifest");
    plugin.end();

    let (_home, _, mut plugin) = served("late:300");
    let started = std::time::Instant::now();
    plugin.expect("manifest");
    assert!(started.elapsed() >= Duration::from_millis(250));
    plugin.end();
}

#[test]
fn ways_to_end() {
    let (_home, misfit, mut plugin) = served("exit:9");
    plugin.until("keys 0");
    misfit.wait_gone(plugin.child.id());
    assert_eq!(plugin.end(), Exit::Code(9));
    let (_home, _, plugin) = served("signal:11");
    assert_eq!(plugin.end(), Exit::Signal(11));
}

#[test]
fn long_lines_are_as_long_as_asked() {
    let (_home, _, mut plugin) = served("longline:1048577");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert_eq!(plugin.line().len(), 1_048_578);
    plugin.end();
    let (_home, _, mut plugin) = served("longline-endless");
    plugin.expect("manifest");
    plugin.expect("frame");
    let mut read = 0;
    while read < 3 << 20 {
        let piece = plugin.stdout.fill_buf().expect("more").len();
        plugin.stdout.consume(piece);
        read += piece;
    }
    let _ = plugin.child.kill();
    plugin.end();
}

#[test]
fn half_a_line_then_the_other_half() {
    let (_home, _, mut plugin) = served("half:100");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert_eq!(plugin.message()["view"], "both halves");
    plugin.end();
}

#[test]
fn a_flood_has_its_number_and_keys_are_still_counted() {
    let (_home, _, mut plugin) = served("flood:0:500");
    plugin.expect("manifest");
    plugin.say(&json!({"type": "key", "key": "a", "text": "a"}));
    let mut frames = 0;
    loop {
        let message = plugin.message();
        let view = message["view"].as_str().unwrap_or_default().to_owned();
        frames += usize::from(view.starts_with("flood"));
        if view.starts_with("flood done 500") {
            break;
        }
    }
    assert_eq!(frames, 500);
    plugin.say(&json!({"type": "reload"}));
    let frame = plugin.until("reloads 1");
    assert!(frame["view"].as_str().is_some_and(|view| view.contains("keys 1")));
    plugin.end();
}

#[test]
fn deaf_ones_are_deaf() {
    for (behaviour, ends_at_eof) in [("ignore-term", true), ("ignore-term-eof", false)] {
        let (_home, misfit, mut plugin) = served(behaviour);
        plugin.until("keys 0");
        let pid = plugin.child.id().to_string();
        assert!(Command::new("kill").arg(pid).status().is_ok_and(|status| status.success()));
        plugin.say(&json!({"type": "key", "key": "a", "text": "a"}));
        plugin.until("keys 1");
        if !ends_at_eof {
            drop(plugin.stdin.take());
            assert_eq!(misfit.wait_end(), "EOF");
            assert!(alive(plugin.child.id()));
            let _ = plugin.child.kill();
        }
        let exit = plugin.end();
        assert_eq!(exit, if ends_at_eof { Exit::Code(0) } else { Exit::Signal(9) });
    }
}

#[test]
fn grandchildren_outlive_it_and_hold_its_output() {
    for behaviour in ["grandchild", "grandchild-setsid"] {
        let (_home, misfit, mut plugin) = served(behaviour);
        plugin.until("keys 0");
        let child = misfit.children()[0];
        assert!(alive(child));
        let stdout = plugin.stdout.get_ref().try_clone_fd();
        assert_eq!(plugin.end(), Exit::Code(0));
        assert!(alive(child), "{behaviour} outlives it");
        drop(stdout);
        assert!(Command::new("kill").args(["-9", &child.to_string()]).status().is_ok_and(|status| status.success()));
        misfit.wait_gone(child);
    }
}

/// Keeps the pipe open a little longer than the reader that owns it.
trait TryCloneFd {
    fn try_clone_fd(&self) -> std::os::fd::OwnedFd;
}

impl TryCloneFd for ChildStdout {
    fn try_clone_fd(&self) -> std::os::fd::OwnedFd {
        use std::os::fd::AsFd as _;
        self.as_fd().try_clone_to_owned().expect("a second descriptor")
    }
}

#[test]
fn stderr_is_as_long_as_asked_and_ends_recognisably() {
    let home = Home::new();
    let misfit = home.misfit("odd", "stderr:10000:exit");
    let output = run(misfit.path(), &["serve"], &home, b"{\"type\":\"init\"}\n");
    assert_eq!(output.code(), 1);
    assert!((9_900..=10_000).contains(&output.stderr.len()), "{}", output.stderr.len());
    assert!(output.err().ends_with("stderr end\n"));
}

#[test]
fn frames_with_odd_contents() {
    let (_home, _, mut plugin) = served("badutf8");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert!(String::from_utf8(plugin.line()).is_err());
    let (_home, _, mut plugin) = served("surrogates");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert!(String::from_utf8(plugin.line()).is_ok_and(|line| line.contains(r"\ud83d and \udc00")));
    let (_home, _, mut plugin) = served("deep:500");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert_eq!(plugin.line().iter().filter(|byte| **byte == b'[').count(), 500);
    let (_home, _, mut plugin) = served("escapes");
    plugin.expect("manifest");
    plugin.until("keys 0");
    let view = plugin.message()["view"].to_string();
    assert!(view.contains("LEAK-TITLE") && view.contains("\\u001b[1;31m"), "{view}");
}

#[test]
fn capturing_ends_with_esc() {
    let (_home, _, mut plugin) = served("capturing");
    plugin.expect("manifest");
    assert_eq!(plugin.expect("frame")["capturing"], true);
    plugin.say(&json!({"type": "key", "key": "esc"}));
    assert_eq!(plugin.until("keys 1")["capturing"], false);
}

#[test]
fn commands_are_asked_for() {
    let (_home, _, mut plugin) = served("exec:echo two words");
    plugin.expect("manifest");
    plugin.expect("frame");
    let exec = plugin.expect("exec");
    assert_eq!(exec["argv"], json!(["echo", "two", "words"]));
    assert_eq!((exec["execId"].as_u64(), exec["interactive"].as_bool()), (Some(1), Some(false)));
    plugin.end();

    let (_home, _, mut plugin) = served("exec-interactive:[\"sh\", \"-c\", \"echo a b\"]");
    plugin.until("last {");
    plugin.say(&json!({"type": "key", "key": "x", "text": "x"}));
    plugin.expect("frame");
    let exec = plugin.expect("exec");
    assert_eq!((&exec["argv"][2], exec["interactive"].as_bool()), (&json!("echo a b"), Some(true)));
    plugin.end();

    let (_home, _, mut plugin) = served("exec-bomb:20");
    plugin.expect("manifest");
    plugin.expect("frame");
    for n in 1..=20 {
        assert_eq!(plugin.expect("exec")["execId"], n);
    }
    plugin.end();
}

#[test]
fn a_doctor_that_hangs_is_stopped_at_the_deadline() {
    let home = Home::new();
    let misfit = home.misfit("odd", "doctor-hang:ignore-term");
    let output = run_within(Duration::from_millis(500), misfit.path(), &["doctor"], &home, &home.work(), b"");
    assert_eq!(output.exit, Exit::Deadline);
    assert_eq!(output.out(), "odd: looking\n");
}

#[test]
fn one_that_reads_nothing_still_shows_itself() {
    let (_home, misfit, mut plugin) = served("noread");
    plugin.expect("manifest");
    plugin.expect("frame");
    assert!(misfit.received().is_empty());
    let _ = plugin.child.kill();
    plugin.end();
}
