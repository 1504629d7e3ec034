//! The commands about sessions and tokens, on homes that the real agents left: a path that works and one that does not.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use testkit::{Home, Output};

use crate::cli::LAZYAGENTS;

pub(crate) fn fixtures(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src/adapters").join(agent).join("fixtures/home")
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A home that Claude Code and Codex were used in.
fn used() -> Home {
    let mut home = Home::new();
    home.set_env("TZ", "UTC");
    copy(&fixtures("claude_code"), &home.home());
    copy(&fixtures("codex"), &home.home());
    home
}

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

/// The output with the times that depend on today left out.
fn undated(output: &Output) -> String {
    let text = output.to_string();
    let lines = text.lines().map(|line| {
        let words: Vec<_> =
            line.split("  ").map(|word| if is_age(word.trim()) { "<age>" } else { word.trim() }).collect();
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("  ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_age(word: &str) -> bool {
    word == "yesterday"
        || word == "just now"
        || word.ends_with(" min")
        || word.ends_with(" h")
        || word.starts_with("2026-")
}

#[test]
fn sessions_are_listed_and_chosen() {
    let home = used();
    assert_snapshot!("sessions", undated(&run(&home, &["sessions"])));
    let count = |args: &[&str]| run(&home, args).ok().json().as_array().map(Vec::len).unwrap_or_default();
    assert_eq!(count(&["sessions", "--json"]), 8);
    assert_eq!(count(&["sessions", "list", "--json", "--agent", "codex", "--limit", "3"]), 3);
    assert_eq!(count(&["sessions", "--json", "--project", "/home/dev/projects/webshop"]), 4);
    assert_eq!(count(&["sessions", "--json", "--here"]), 0);
    assert_eq!(count(&["sessions", "--json", "--since", "2026-12-31"]), 0);
    assert_snapshot!(
        "sessions_mistakes",
        [
            run(&home, &["sessions", "--agent", "nobody"]).to_string(),
            run(&home, &["sessions", "--since", "soon"]).to_string(),
        ]
        .join("\n")
    );
}

#[test]
fn a_session_is_shown_whole() {
    let home = used();
    assert_snapshot!("session_show", run(&home, &["sessions", "show", "3d41b5bd"]));
    let shown = run(&home, &["sessions", "show", "claude-code:a776f879", "--json"]).ok().json();
    assert_eq!(shown["prompts"], 1);
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns[0]["text"], "Use a sub-agent to count the words in README.md.");
    assert!(turns.iter().any(|turn| turn["subagent"] == "a9f1ac11a54a16ddf"));
    let tool = turns.iter().flat_map(|turn| turn["tools"].as_array().unwrap()).next().unwrap();
    assert_eq!((tool["name"].as_str(), &tool["ok"]), (Some("Agent"), &true.into()));
    assert_snapshot!("session_unknown", run(&home, &["sessions", "show", "zzz"]));
    assert_snapshot!("session_ambiguous", run(&home, &["sessions", "show", "01a22e16-9"]));
}

#[test]
fn what_was_said_is_found_and_nothing_else() {
    let home = used();
    assert_snapshot!("search", run(&home, &["sessions", "search", "total cart"]));
    assert_snapshot!("search_nothing", run(&home, &["sessions", "search", "You are powered by the model"]));
    let found = run(&home, &["sessions", "search", "\"cart total\"", "--json", "--agent", "codex"]).ok().json();
    assert_eq!((found.as_array().map(Vec::len), &found[0]["hits"]), (Some(1), &1.into()));
    assert_eq!(run(&home, &["sessions", "search", "Cart Total"]).code(), 1, "capitals are meant");
    assert_eq!(run(&home, &["sessions", "search", "cart agent:gemini-cli"]).code(), 1);
    assert_eq!(run(&home, &["sessions", "search", " "]).code(), 2);
    // The store says the same as the files did.
    let scanned = run(&home, &["sessions", "search", "total"]).ok().out();
    let _ = run(&home, &["sessions", "index"]).ok();
    assert_eq!(run(&home, &["sessions", "search", "total"]).ok().out(), scanned);
}

#[test]
fn a_name_of_ones_own_is_kept_in_our_file() {
    let home = used();
    let named = run(&home, &["sessions", "alias", "3d41b5bd", "the listing"]).ok();
    assert_eq!(named.out(), "claude-code:3d41b5bd-323c-4072-927f-fee3519551f5 is called the listing\n");
    assert_eq!(run(&home, &["sessions", "show", "the listing", "--json"]).ok().json()["alias"], "the listing");
    assert_eq!(run(&home, &["sessions", "alias", "a776f879", "the listing"]).code(), 1, "it is taken");
    assert_eq!(run(&home, &["sessions", "alias", "a776f879", "a\u{1b}[31m"]).code(), 2);
    let _ = run(&home, &["sessions", "alias", "the listing"]).ok();
    assert_eq!(run(&home, &["sessions", "show", "3d41b5bd", "--json"]).ok().json()["alias"], serde_json::Value::Null);
    let file = home.write(home.root().join("data/lazyagents/session-aliases.json"), "{broken");
    assert_eq!(run(&home, &["sessions", "alias", "a776f879", "x"]).code(), 1);
    assert_eq!(home.read(file), "{broken", "a file that is not understood is never overwritten");
}

#[test]
fn a_session_is_opened_again_where_it_was_started() {
    let home = used();
    let print = run(&home, &["sessions", "resume", "3d41b5bd", "--print"]).ok();
    assert_eq!(
        print.out(),
        "cd /home/dev/projects/notes-app && claude --resume 3d41b5bd-323c-4072-927f-fee3519551f5\n"
    );
    assert_snapshot!("resume_gone", run(&home, &["sessions", "resume", "3d41b5bd"]));
    // The same session, started in a folder that is there.
    let there = home.work().display().to_string();
    let file = ".claude/projects/-home-dev-projects-notes-app/3d41b5bd-323c-4072-927f-fee3519551f5.jsonl";
    home.write(file, home.read(home.home().join(file)).replace("/home/dev/projects/notes-app", &there));
    assert!(
        run(&home, &["sessions", "resume", "3d41b5bd"]).err().contains("could not start claude: not found in PATH")
    );
    home.program("claude", "#!/bin/sh\npwd; echo \"$@\"; exit 7\n");
    let resumed = run(&home, &["sessions", "resume", "3d41b5bd"]);
    assert_eq!(resumed.code(), 7);
    assert_eq!(resumed.out(), "$ROOT/work\n--resume 3d41b5bd-323c-4072-927f-fee3519551f5\n");
}

#[test]
fn tokens_are_counted_once() {
    let home = used();
    assert_snapshot!("usage_daily", run(&home, &["usage", "--timezone", "UTC"]));
    assert_snapshot!("usage_models", run(&home, &["usage", "models", "--timezone", "UTC", "--agent", "codex"]));
    assert_snapshot!("usage_explain", run(&home, &["usage", "explain", "3d41b5bd", "--timezone", "UTC"]));
    let json = |args: &[&str]| run(&home, args).ok().json();
    let agents = json(&["usage", "agents", "--json", "--timezone", "UTC"]);
    assert_eq!(agents["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(agents["total"]["cost_usd"], serde_json::Value::Null, "no price is known: no sum");
    assert_eq!(
        json(&["usage", "blocks", "--json", "--timezone", "UTC"])["rows"][0]["key"],
        "2026-11-30T20:00:00+00:00"
    );
    assert_eq!(
        json(&["usage", "daily", "--json", "--since", "2026-12-01", "--timezone", "UTC"])["rows"],
        serde_json::json!([])
    );
    assert_eq!(json(&["usage", "daily", "--json", "--timezone", "Asia/Tokyo"])["rows"][0]["key"], "2026-12-01");
    assert_snapshot!(
        "usage_mistakes",
        [
            run(&home, &["usage", "--timezone", "Mars"]).to_string(),
            run(&home, &["usage", "explain"]).to_string(),
            run(&home, &["usage", "agents", "x"]).to_string(),
        ]
        .join("\n")
    );
}

/// A home in which Codex pays for every token.
fn paid() -> Home {
    let home = used();
    home.write(".codex/auth.json", r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-the-secret"}"#);
    home
}

#[test]
fn a_cost_is_told_where_every_token_is_paid_for() {
    let home = paid();
    assert_snapshot!("usage_costs", run(&home, &["usage", "models", "--timezone", "UTC"]));
    let json = |args: &[&str]| run(&home, args).ok().json();
    let agents = json(&["usage", "agents", "--json"]);
    let cost = |agent: &str| {
        let rows = agents["rows"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == agent).unwrap()["cost_usd"].clone()
    };
    // 16 240 fresh and 6 770 written at 1.75, 40 010 cached at 0.175, 2 184 out at 14.
    let dollars = cost("codex").as_f64().unwrap();
    assert!((0.07..0.08).contains(&dollars), "{dollars}");
    assert!(cost("claude-code").is_null() && agents["total"]["cost_usd"].is_null());
    let sessions = json(&["sessions", "--json", "--agent", "codex"]);
    let sum: f64 = sessions.as_array().unwrap().iter().map(|row| row["cost_usd"].as_f64().unwrap()).sum();
    assert!((sum - dollars).abs() < 1e-5, "{sum} {dollars}");
    assert!(json(&["sessions", "--json", "--agent", "claude-code"])[0]["cost_usd"].is_null());
    home.config("usage:\n  prices:\n    gpt-5.2: { input: 0, output: 1000000000000 }\n");
    let dearer = json(&["usage", "models", "--json", "--agent", "codex"]);
    assert!(dearer["rows"][1]["cost_usd"].is_null(), "no price for what is read from a cache: no sum: {dearer}");
    home.config("usage:\n  prices:\n    gpt-5.2: { input: 0, output: 1000000000000, cacheRead: 0, cacheWrite: 0 }\n");
    let dearer = json(&["usage", "models", "--json", "--agent", "codex"]);
    assert_eq!(dearer["rows"][1]["cost_usd"], 330.0);
}

#[test]
fn a_secret_that_tells_who_pays_is_never_told() {
    let home = paid();
    for args in [&["usage"][..], &["usage", "--json"], &["sessions", "--json"], &["agents", "--json"], &["doctor"]] {
        assert!(!run(&home, args).to_string().contains("the-secret"), "{args:?}");
    }
}

#[test]
fn periods_and_views_have_words_and_defaults_of_ones_own() {
    let home = used();
    let json = |args: &[&str]| run(&home, args).ok().json();
    assert_eq!(json(&["usage", "--json", "--since", "all"])["since"], serde_json::Value::Null);
    let today = json(&["usage", "--json", "--since", "today", "--timezone", "Asia/Tokyo"]);
    assert!(today["since"].as_str().unwrap().ends_with("T00:00:00+09:00"), "{today}");
    home.config("usage: { period: today, view: projects }\n");
    assert!(json(&["usage", "--json", "--timezone", "UTC"])["since"].as_str().unwrap().contains("T00:00:00"));
    let all = json(&["usage", "--json", "--since", "all"]);
    assert!(all["rows"][0]["key"].as_str().unwrap().starts_with('/'), "{all}");
    home.config("usage: { view: moons, period: someday }\n");
    assert_snapshot!("usage_config_mistakes", run(&home, &["usage", "--timezone", "UTC"]));
}

#[test]
fn blocks_are_those_of_one_agent() {
    let home = used();
    assert_snapshot!("usage_blocks", run(&home, &["usage", "blocks", "--timezone", "UTC"]));
    // Something of right now.
    let now = jiff::Timestamp::now();
    let line = format!(
        r#"{{"type":"assistant","uuid":"u","timestamp":"{now}","cwd":"/w","sessionId":"s","message":{{"id":"m","model":"x","role":"assistant","content":[],"usage":{{"input_tokens":5,"output_tokens":7}}}}}}"#
    );
    home.write(".claude/projects/-w/s.jsonl", format!("{line}\n"));
    let blocks = run(&home, &["usage", "blocks", "--json"]).ok().json();
    let rows = blocks["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["current"] == true).count(), 1);
    let last = rows.last().unwrap();
    assert_eq!((last["agent"].as_str(), &last["tokens"]["output"]), (Some("claude-code"), &7.into()));
    assert!(run(&home, &["usage", "blocks"]).ok().out().contains("now, until "));
}

#[test]
fn what_cannot_be_read_is_counted_and_said() {
    let home = used();
    let project = home.home().join(".claude/projects/-home-dev-projects-webshop");
    home.write(project.join("00000000-0000-4000-8000-000000000000.jsonl"), "not json\n{\"a\":\n\0\0\0\n{\"half");
    assert_snapshot!("index", run(&home, &["sessions", "index"]));
    let listed = run(&home, &["sessions"]).ok();
    assert!(listed.err().contains("3 lines in 1 file could not be read"), "{listed}");
}

#[test]
fn no_escape_code_of_a_transcript_reaches_the_terminal() {
    let home = Home::new();
    let line = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"red \u001b[31m\u0007 \u001b]0;x\u0007 end"},"uuid":"u","timestamp":"2026-11-30T20:00:00Z","cwd":"/w\u001b[2J","sessionId":"s"}"#;
    home.write(".claude/projects/-w/s.jsonl", format!("{line}\n"));
    for args in [
        &["sessions"][..],
        &["sessions", "show", "s"],
        &["sessions", "search", "end"],
        &["sessions", "resume", "s", "--print"],
    ] {
        let output = run(&home, args);
        assert!(!output.stdout.contains(&0x1b) && !output.stdout.contains(&7), "{args:?}: {output}");
    }
}
