//! `usage limits`: what Codex wrote down, and what Claude Code's service is asked, against a stub of it on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use testkit::{Home, Output};

use crate::cli::LAZYAGENTS;

const TOKEN: &str = "sk-ant-oat01-the-secret";
const GOOD: &str = r#"{"five_hour":{"utilization":37.5,"resets_at":"2199-11-30T20:12:45Z"},
    "seven_day":{"utilization":26,"resets_at":"2020-01-01T00:00:00Z"},"seven_day_opus":{"utilization":3,"resets_at":null}}"#;

/// What it is asked is answered by `answers` one after the other, the last one again and again.
struct Stub {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    fn new(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        // Ends with the test's process.
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for (at, stream) in listener.incoming().flatten().enumerate() {
                let answer = &answers[at.min(answers.len() - 1)];
                let request = request(&stream);
                heard.lock().unwrap().push(request);
                let mut to = &stream;
                // Whoever has heard enough hangs up.
                let _ = to.write_all(answer.text().as_bytes());
                if matches!(answer, Answer::Stalls) {
                    open.push(stream);
                }
            }
        });
        Self { url, asked }
    }

    fn times(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream.take(64 << 10)).lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n").to_lowercase()
}

#[derive(Clone)]
enum Answer {
    Ok(String),
    Status(u16, String),
    /// A beginning, and then nothing.
    Stalls,
    Raw(String),
}

impl Answer {
    fn good() -> Self {
        Self::Ok(GOOD.to_owned())
    }

    fn text(&self) -> String {
        match self {
            Self::Ok(body) => {
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
            }
            Self::Status(code, headers) => {
                let body = r#"{"error":"\u001b[31mthe service says so"}"#;
                format!(
                    "HTTP/1.1 {code} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}",
                    body.len()
                )
            }
            Self::Stalls => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned(),
            Self::Raw(text) => text.clone(),
        }
    }
}

/// A home that is signed in to a subscription of Claude Code, whose service is `stub`.
fn signed_in(stub: &Stub) -> Home {
    let mut home = Home::new();
    let file = format!(
        r#"{{"claudeAiOauth":{{"accessToken":"{TOKEN}","refreshToken":"rt-the-secret","expiresAt":32503680000000}}}}"#
    );
    home.write(".claude/.credentials.json", file);
    home.set_env("ANTHROPIC_BASE_URL", stub.url.clone());
    home
}

fn run(home: &Home, args: &[&str]) -> Output {
    let output = home.run(LAZYAGENTS, args);
    let text = output.to_string();
    assert!(!text.contains("the-secret") && !text.contains('\u{1b}'), "{text}");
    output
}

const ASK: [&str; 5] = ["usage", "limits", "--agent", "claude-code", "--json"];
const ANEW: [&str; 4] = ["usage", "limits", "--refresh", "--json"];

/// Percent used and whether that is old, of each window.
fn used(output: &Output) -> Vec<(f64, bool)> {
    let rows = output.json();
    let rows = rows.as_array().unwrap();
    rows.iter().map(|row| (row["used_percent"].as_f64().unwrap(), row["stale"].as_bool().unwrap())).collect()
}

const FRESH: [(f64, bool); 3] = [(37.5, false), (26.0, true), (3.0, false)];
const OLD: [(f64, bool); 3] = [(37.5, true), (26.0, true), (3.0, true)];

#[test]
fn a_service_is_asked_when_it_is_named_once_in_five_minutes() {
    let stub = Stub::new(vec![Answer::good()]);
    let home = signed_in(&stub);
    let quiet = run(&home, &["usage", "limits"]).ok();
    assert!(quiet.err().contains("Claude Code has to be asked: `lazyagents usage limits --refresh`"), "{quiet}");
    for args in [&["usage"][..], &["sessions"], &["agents", "--json"], &["usage", "limits", "--agent", "codex"]] {
        let _ = run(&home, args);
    }
    assert_eq!(stub.times(), 0, "nobody said that it should be asked");
    let rows = run(&home, &ASK).ok();
    assert_eq!(used(&rows), FRESH);
    let first = rows.json()[0].clone();
    assert_eq!((first["agent"].as_str(), first["kind"].as_str()), (Some("claude-code"), Some("session")));
    assert_eq!(first["resets_at"], "2199-11-30T20:12:45Z");
    assert_eq!(rows.json()[2]["kind"], "weekly_model");
    assert_eq!(used(&run(&home, &ASK).ok()), FRESH);
    assert_eq!(used(&run(&home, &["usage", "limits", "--json"]).ok()), FRESH);
    assert_eq!(stub.times(), 1, "what is known is new");
    assert_eq!(used(&run(&home, &ANEW).ok()), FRESH);
    assert_eq!(stub.times(), 2);
    let asked = stub.asked.lock().unwrap()[0].clone();
    assert!(asked.starts_with("get /api/oauth/usage http/1.1"), "{asked}");
    assert!(asked.contains(&format!("authorization: bearer {TOKEN}")), "{asked}");
    assert!(asked.contains("anthropic-beta: oauth-2025-04-20") && asked.contains("user-agent: lazyagents/"), "{asked}");
    let kept = home.read(home.data_dir().join("limits.json"));
    assert!(!kept.contains("secret"), "{kept}");
    let table = run(&home, &["usage", "limits"]).ok();
    let lines: Vec<_> = table.out().lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(lines[1].starts_with("Claude Code 5 h 37.5 % in ") && lines[1].contains(", 2199-11-30 "), "{table}");
    assert!(lines[2].starts_with("Claude Code 7 d was 26.0 % "), "{table}");
    assert!(table.out().contains(" ago: what is used now is not known"), "{table}");
}

#[test]
fn whoever_is_asked_too_often_is_left_alone_and_the_old_value_stays() {
    for (headers, wait) in [("retry-after: 600\r\n", "9 min"), ("", "59 s"), ("retry-after: 0\r\n", "59 s")] {
        let stub = Stub::new(vec![Answer::good(), Answer::Status(429, headers.to_owned())]);
        let home = signed_in(&stub);
        assert_eq!(used(&run(&home, &ASK).ok()), FRESH);
        let refused = run(&home, &ANEW).ok();
        assert_eq!(used(&refused), OLD);
        assert!(refused.err().contains("it was asked too often (429); what is shown is"), "{refused}");
        for args in [&ANEW[..], &ASK[..]] {
            let again = run(&home, args).ok();
            assert_eq!(used(&again), OLD);
            assert!(again.err().contains("it is asked again in"), "{again}");
            assert!(
                again.err().contains(wait) || again.err().contains("1 min") || again.err().contains("10 min"),
                "{again}"
            );
        }
        assert_eq!(stub.times(), 2, "{headers}");
    }
}

#[test]
fn what_is_no_answer_is_said_in_words_and_never_shown() {
    let huge = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{{\"x\":\"{}\"}}", "y".repeat(1 << 20));
    let wide = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let cases = [
        (Answer::Status(500, String::new()), "it answered with status 500"),
        (Answer::Status(401, String::new()), "it does not know the sign-in any more (401)"),
        (Answer::Status(403, String::new()), "the sign-in may not see limits (403)"),
        (Answer::Ok("<html>".to_owned()), "an answer that is no JSON object"),
        (Answer::Ok("{}".to_owned()), "an answer without limits"),
        (Answer::Raw(huge), "an answer of more than 256 KiB"),
        (Answer::Raw(wide), "nobody was reached"),
        (Answer::Raw("\u{1b}[2J garbage".to_owned()), "nobody was reached"),
        (Answer::Raw(String::new()), "nobody was reached"),
    ];
    for (answer, words) in cases {
        let stub = Stub::new(vec![answer.clone()]);
        let home = signed_in(&stub);
        let failed = run(&home, &ASK);
        assert_eq!((failed.code(), used(&failed)), (1, vec![]), "{failed}");
        assert!(failed.err().contains(words), "{words}: {failed}");
        // The same when there is something to fall back on.
        let stub = Stub::new(vec![Answer::good(), answer]);
        let home = signed_in(&stub);
        assert_eq!(used(&run(&home, &ASK).ok()), FRESH);
        let failed = run(&home, &ANEW).ok();
        assert_eq!(used(&failed), OLD);
        assert!(failed.err().contains(words), "{words}: {failed}");
    }
}

#[test]
fn a_service_that_says_no_more_is_not_waited_for() {
    let stub = Stub::new(vec![Answer::Stalls]);
    let failed = run(&signed_in(&stub), &ASK);
    assert_eq!(failed.code(), 1);
    assert!(failed.err().contains("no answer within 10 s"), "{failed}");
}

#[test]
fn the_token_goes_nowhere_else() {
    let elsewhere = Stub::new(vec![Answer::good()]);
    let redirect = |code| Answer::Status(code, format!("location: {}/api/oauth/usage\r\n", elsewhere.url));
    for code in [301, 302, 307, 308] {
        let stub = Stub::new(vec![redirect(code)]);
        let failed = run(&signed_in(&stub), &ASK);
        assert_eq!((failed.code(), stub.times()), (1, 1));
        assert!(failed.err().contains("it sent us elsewhere, which is not followed"), "{failed}");
    }
    assert_eq!(elsewhere.times(), 0);
    let mut home = signed_in(&elsewhere);
    for url in ["https://gateway.example", "http://127.0.0.1.evil.example", "http://localhost@evil.example"] {
        home.set_env("ANTHROPIC_BASE_URL", url);
        let refused = run(&home, &ASK);
        assert_eq!(refused.code(), 1);
        assert!(refused.err().contains("another endpoint here (ANTHROPIC_BASE_URL)"), "{refused}");
    }
    // Who cannot prove to be the one is told nothing.
    home.set_env("ANTHROPIC_BASE_URL", elsewhere.url.replace("http:", "https:"));
    let unproved = run(&home, &ASK);
    assert!(unproved.err().contains("nobody was reached"), "{unproved}");
    assert!(!elsewhere.asked.lock().unwrap().concat().contains("authorization"));
    elsewhere.asked.lock().unwrap().clear();
    home.set_env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    home.set_env("HTTP_PROXY", elsewhere.url.clone()).set_env("ALL_PROXY", elsewhere.url.clone());
    let nobody = run(&home, &ASK);
    assert!(nobody.err().contains("nobody was reached"), "{nobody}");
    assert_eq!(elsewhere.times(), 0, "what is on this machine is not asked through a proxy");
}

#[test]
fn a_sign_in_that_is_over_or_none_is_not_used() {
    let stub = Stub::new(vec![Answer::good()]);
    let home = signed_in(&stub);
    assert_eq!(used(&run(&home, &ASK).ok()), FRESH);
    home.write(
        ".claude/.credentials.json",
        format!(r#"{{"claudeAiOauth":{{"accessToken":"{TOKEN}","expiresAt":1}}}}"#),
    );
    let old = run(&home, &ANEW).ok();
    assert_eq!(used(&old), OLD);
    assert!(old.err().contains("it renews that itself when it is started"), "{old}");
    home.write(".claude/.credentials.json", "{}");
    let none = run(&home, &ANEW).ok();
    assert_eq!(used(&none), [], "figures of an account that is signed out are nobody's");
    let named = run(&home, &ASK);
    assert_eq!(named.code(), 1);
    assert!(named.err().contains("Claude Code is not signed in to a subscription here"), "{named}");
    assert_eq!(stub.times(), 1);
}

#[test]
fn of_many_at_once_one_asks() {
    let stub = Stub::new(vec![Answer::good()]);
    let home = signed_in(&stub);
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| used(&run(&home, &ASK).ok()))).collect();
        for run in runs {
            assert_eq!(run.join().unwrap(), FRESH);
        }
    });
    assert_eq!(stub.times(), 1);
}

#[test]
fn a_file_of_ours_that_is_damaged_is_none() {
    let stub = Stub::new(vec![Answer::good()]);
    let home = signed_in(&stub);
    home.write(home.data_dir().join("limits.json"), "{ garbage");
    assert_eq!(used(&run(&home, &ASK).ok()), FRESH);
}

#[test]
fn codex_is_read_from_its_own_rollouts() {
    let home = Home::new();
    let none = run(&home, &["usage", "limits", "--agent", "codex"]);
    assert_eq!((none.code(), none.out()), (1, "No limits are known.\n".to_owned()));
    let record = r#"{"timestamp":"2026-11-30T20:12:46.337Z","ordinal":36,"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"limit_id":"codex","limit_name":null,"primary":{"used_percent":18.5,"window_minutes":300,"resets_at":1796078566},"secondary":{"used_percent":10.0,"window_minutes":10080,"resets_at":7226582400}}}}"#;
    home.write(
        ".codex/sessions/2026/11/30/rollout-2026-11-30T20-12-43-01a22e16-9cd7-7550-bee2-612e3a8b2ecb.jsonl",
        format!("{record}\n"),
    );
    let told = run(&home, &["usage", "limits", "--json"]).ok();
    assert_eq!(
        told.json(),
        serde_json::json!([
            {"agent": "codex", "kind": "session", "label": "5 h", "used_percent": 18.5, "resets_at": "2026-11-30T22:42:46Z",
             "as_of": "2026-11-30T20:12:46Z", "stale": true},
            {"agent": "codex", "kind": "weekly", "label": "7 d", "used_percent": 10.0, "resets_at": "2199-01-01T00:00:00Z",
             "as_of": "2026-11-30T20:12:46Z", "stale": false}
        ])
    );
    let table = run(&home, &["usage", "limits", "--timezone", "UTC"]).ok();
    assert!(table.out().contains("Codex  5 h     was 18.5 %  "), "{table}");
    assert!(table.out().contains("ago: what is used now is not known  2026-11-30 20:12"), "{table}");
    assert!(table.out().contains(", 2199-01-01 00:00  ") && table.out().contains("  2026-11-30 20:12"), "{table}");
    let other = run(&home, &["usage", "limits", "--agent", "pi"]);
    assert_eq!(other.code(), 1);
    assert!(other.err().contains("the limits of Pi cannot be told"), "{other}");
}
