//! `sessions export` on homes that the real agents left.

use std::os::unix::fs::PermissionsExt;

use testkit::{Home, Output};

use crate::cli::LAZYAGENTS;
use crate::history::{copy, fixtures};

/// One session of each kind: with a sub-agent in a file of its own, in the same file, in a database.
const WITH_SUBAGENT: [(&str, &str); 6] = [
    ("claude_code", "claude-code:a776f879"),
    ("codex", "codex:01a22e16-a904"),
    ("gemini_cli", "gemini-cli:561b62d0"),
    ("qwen_code", "qwen-code:b691988c"),
    ("copilot", "copilot:d2ec9757"),
    ("opencode", "opencode:ses_dd1e7862"),
];

const LISTING: &str = ".claude/projects/-home-dev-projects-notes-app/3d41b5bd-323c-4072-927f-fee3519551f5.jsonl";

fn used(agent: &str) -> Home {
    let home = Home::new();
    copy(&fixtures(agent), &home.home());
    // OpenCode keeps its database in the data folder, which is elsewhere here.
    if agent == "opencode" {
        copy(&fixtures(agent).join(".local/share"), &home.root().join("data"));
    }
    home
}

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

/// A home with a session in which secrets were said, and what the lines with them said before.
fn with_secrets() -> Home {
    let home = used("claude_code");
    let path = home.home().join(LISTING);
    let token = concat!("ghp", "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6");
    let text = home.read(&path);
    let asked = "Please list the files here";
    assert!(text.contains(asked));
    home.write(
        &path,
        text.replace(asked, &format!("{asked} with {token} and password=hunter2 \\u001b[31mred\\u001b[0m")),
    );
    home
}

#[test]
fn a_file_of_ones_own_is_made_and_another_one_next_time() {
    let home = with_secrets();
    let said = run(&home, &["sessions", "export", "3d41b5bd"]).ok().out();
    let path = home.data_dir().join("exports/2026-11-30-claude-code-3d41b5bd-323c-4072-927f-fee3519551f5.md");
    assert!(said.contains(path.file_name().unwrap().to_str().unwrap()), "{said}");
    assert!(said.contains("2 secrets masked (GitHub token: 1, password: 1)"), "{said}");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let text = home.read(&path);
    assert!(text.contains("with [masked: GitHub token] and password=[masked: password] red"), "{text}");
    assert!(!text.contains("ghp_") && !text.contains("hunter2") && !text.contains('\u{1b}'));
    assert!(text.contains("<summary>Tool Bash</summary>") && text.contains("<summary>Reasoning</summary>"));
    let second = run(&home, &["sessions", "export", "3d41b5bd", "--json", "--no-mask"]).ok().json();
    let second_path = second["path"].as_str().unwrap();
    assert!(second_path.ends_with("-2.md") && second["masked"].is_null(), "{second}");
    assert!(home.read(second_path).contains("hunter2"));
    assert_eq!(second["bytes"].as_u64().unwrap(), std::fs::metadata(second_path).unwrap().len());
}

#[test]
fn a_named_file_is_replaced_only_when_told() {
    let home = used("claude_code");
    let path = home.write(home.work().join("mine.md"), "mine");
    let refused = run(&home, &["sessions", "export", "3d41b5bd", "-o", "mine.md"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("it is there already"), "{refused}");
    assert_eq!(home.read(&path), "mine");
    let _ = run(&home, &["sessions", "export", "3d41b5bd", "-o", "mine.md", "--force"]).ok();
    assert!(home.read(&path).starts_with("# Please list"));
    // A folder gets a name that is free.
    for _ in 0..2 {
        let _ = run(&home, &["sessions", "export", "3d41b5bd", "-o", "."]).ok();
    }
    assert_eq!(std::fs::read_dir(home.work()).unwrap().count(), 3);
    assert_eq!(run(&home, &["sessions", "export", "3d41b5bd", "-o", "-", "--json"]).code(), 2);
    assert_eq!(run(&home, &["sessions", "export", "nobody"]).code(), 1);
}

#[test]
fn json_says_what_show_says() {
    for (agent, id) in WITH_SUBAGENT {
        let home = used(agent);
        let shown = run(&home, &["sessions", "show", id, "--json"]).ok().json();
        let mut exported = run(&home, &["sessions", "export", id, "--format", "json", "-o", "-"]).ok().json();
        let object = exported.as_object_mut().unwrap();
        assert_eq!(object.remove("masked").unwrap()["total"], 0, "{agent}");
        assert!(object.remove("exported").unwrap().is_string());
        let sorted = |value: &serde_json::Value| {
            let mut turns: Vec<String> = value["turns"].as_array().unwrap().iter().map(ToString::to_string).collect();
            turns.sort();
            turns
        };
        assert_eq!(sorted(&exported), sorted(&shown), "{agent}: only the order of sub-agents differs");
        assert_eq!(exported["usage"], shown["usage"]);
    }
}

#[test]
fn sub_agents_stand_behind_the_turn_that_started_them() {
    for (agent, id) in WITH_SUBAGENT {
        let home = used(agent);
        let text = run(&home, &["sessions", "export", id, "-o", "-"]).ok().out();
        let headings: Vec<&str> =
            text.lines().filter(|line| line.starts_with("## ") || line.starts_with("### ")).collect();
        let first =
            headings.iter().position(|line| line.starts_with("### ")).unwrap_or_else(|| panic!("{agent}: {text}"));
        assert!(headings[first].contains("sub-agent"), "{agent}: {headings:?}");
        assert!(headings[first - 1].starts_with("## 2. Answer"), "{agent}: {headings:?}");
        assert!(headings.last().unwrap().starts_with("## "), "{agent}: {headings:?}");
    }
}

#[test]
fn doctor_tells_what_an_agent_is_about_to_delete() {
    let home = used("claude_code");
    let young = run(&home, &["doctor"]).out();
    assert!(!young.contains("deletes"), "{young}");
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    let age = |days: u32| {
        let file = std::fs::File::options().append(true).open(home.home().join(LISTING)).unwrap();
        file.set_modified(std::time::SystemTime::now() - day * days).unwrap();
    };
    age(25);
    let told = run(&home, &["doctor", "--json"]).ok().json();
    let lines = told["sections"][0]["report"].to_string();
    assert!(lines.contains("Claude Code deletes 1 transcript file of its own on 20"), "{lines}");
    assert!(lines.contains("cleanupPeriodDays is 30 days (not set in ~/.claude/settings.json)"), "{lines}");
    let settings = home.home().join(".claude/settings.json");
    for (days, told) in [("365", false), ("10", true), ("0", false), ("\"x\"", false)] {
        home.write(&settings, format!("{{\"cleanupPeriodDays\": {days}}}"));
        assert_eq!(run(&home, &["doctor"]).out().contains("deletes 1 transcript file"), told, "{days}");
    }
    // With 10 days it is overdue: it goes when the agent starts next.
    assert_eq!(run(&home, &["sessions", "--json"]).ok().json().as_array().unwrap().len(), 4);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = used("claude_code");
    let script = format!("{LAZYAGENTS} sessions export 3d41b5bd -o - | head -n 1; echo \"${{PIPESTATUS[0]}}\"");
    let output = home.run("/bin/bash", &["-c", &script]).ok();
    assert!(output.out().starts_with("# Please list") && output.out().ends_with("\n0\n"), "{output}");
    assert_eq!(output.err(), "");
}
