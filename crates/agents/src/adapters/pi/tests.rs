use crate::adapters::proof::proofs;

proofs!("pi", "pi", |session| vec![
    &session["recorded"]["main"]["tokens"],
    &session["recorded"]["main"]["compaction_tokens"]
]);

use std::fs;

use crate::adapters::proof::Proof;
use crate::sessions::{Kind, Role, Said, Source, Speaker};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05Z","cwd":"/w"}"#;

#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
fn file(lines: &[&str]) -> (tempfile::TempDir, Source) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("2026-01-02T03-04-05-000Z_name.jsonl");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    (dir, Source::at(&path, Kind::Lines).unwrap())
}

/// Left by 0.73.1, the last version under the old package name: one session, and a fork of it that went on.
#[test]
fn a_fork_of_the_older_program_counts_its_copies_once() {
    let proof = Proof::of("pi", "pi");
    let sums = proof.sum(&proof.fixtures.join("old"));
    let first = &sums["01a22f5e-210f-7718-ba3d-3e990d29469a"];
    let fork = &sums["01a22f5e-45c1-7456-83ad-a748bf044f2c"];
    assert_eq!((first.prompts, first.tool_calls, first.failed_tool_calls, first.compactions), (2, 2, 1, 1));
    assert_eq!(first.roles[&Role::Main].requests, 4);
    assert_eq!((fork.prompts, fork.tool_calls, fork.compactions), (3, 3, 1));
    assert_eq!(fork.roles.keys().copied().collect::<Vec<_>>(), [Role::Main]);
    assert_eq!(fork.roles[&Role::Main].requests, 2, "the other four are the first session's");
}

#[test]
fn the_name_that_the_person_gave_is_the_title_until_it_is_taken_back() {
    let named = r#"{"type":"session_info","id":"a","timestamp":"2026-01-02T03:04:06Z","name":"Mine"}"#;
    let (_dir, source) = file(&[HEADER, named]);
    let proof = Proof::of("pi", "pi");
    let part = &proof.read(&source).parts[0];
    assert_eq!((part.session.as_str(), part.title.as_ref().unwrap().rank), ("s", 3));
    let (_dir, source) = file(&[HEADER, named, r#"{"type":"session_info","id":"b"}"#]);
    assert_eq!(proof.read(&source).parts[0].title, None);
}

#[test]
fn every_kind_of_paid_record_has_its_role() {
    let usage = r#""usage":{"input":10,"output":5,"cacheRead":1,"cacheWrite":2,"cost":{"total":0.5}}"#;
    let time = r#""timestamp":"2026-01-02T03:04:06Z""#;
    let lines = [
        HEADER.to_owned(),
        format!(r#"{{"type":"branch_summary","summary":"left","id":"1",{time},{usage}}}"#),
        format!(r#"{{"type":"usage","kind":"cache_warm","model":"m","id":"2",{time},{usage}}}"#),
        format!(r#"{{"type":"message","id":"3",{time},"message":{{"role":"toolResult","isError":true,{usage}}}}}"#),
        format!(
            r#"{{"type":"message","id":"4",{time},"message":{{"role":"assistant","model":"m","stopReason":"aborted","content":[],{usage}}}}}"#
        ),
        r#"{"type":"message","id":"5","message":{"role":"custom","display":true,"content":"seen"}}"#.to_owned(),
        r#"{"type":"message","id":"6","message":{"role":"custom","display":false,"content":"hidden"}}"#.to_owned(),
        r#"{"type":"message","id":"7","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0}}"#
            .to_owned(),
    ];
    let (_dir, source) = file(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let proof = Proof::of("pi", "pi");
    let facts = proof.read(&source);
    let roles: Vec<_> = facts.parts[0].responses.iter().map(|response| (response.role, response.cost)).collect();
    let expected = [Role::Compaction, Role::Background, Role::Subagents, Role::Main].map(|role| (role, Some(500_000)));
    assert_eq!(roles, expected);
    let told = proof.told(&source, "s", 0);
    let said: Vec<_> = told.iter().map(|piece| &piece.said).collect();
    assert_eq!(*said[0], Said::Notice("left".to_owned()));
    assert_eq!(*said[2], Said::Notice("Aborted".to_owned()));
    assert_eq!(*said[3], Said::Notice("seen".to_owned()));
    assert_eq!((told[4].speaker, told.len()), (Speaker::User, 6));
}

#[test]
fn a_file_of_something_else_is_no_session_and_bad_lines_are_counted() {
    let (_dir, source) = file(&["{\"type\":\"else\"}", "{\"a\":1}", "oops", "[1]", "{\"type\":"]);
    let facts = Proof::of("pi", "pi").read(&source);
    assert!(facts.parts.iter().all(|part| part.aside && part.session == "name"));
    assert_eq!((facts.lines, facts.skipped.iter().map(|skip| skip.lines).sum::<u64>()), (5, 4));
    assert_eq!(facts.skipped.iter().filter(|skip| skip.why == "not JSON").map(|skip| skip.first_at).max(), Some(24));
}

#[test]
#[allow(clippy::disallowed_methods)]
fn the_variables_of_the_program_move_the_sessions() {
    let proof = Proof::of("pi", "pi");
    let home = tempfile::tempdir().unwrap();
    let flat = home.path().join("flat");
    fs::create_dir_all(flat.join("below")).unwrap();
    fs::write(flat.join("2026_a.jsonl"), HEADER).unwrap();
    fs::write(flat.join("below").join("2026_b.jsonl"), HEADER).unwrap();
    let found = |vars: &[(&str, &str)]| proof.sources_with(home.path(), vars).len();
    assert_eq!(found(&[("PI_CODING_AGENT_SESSION_DIR", "~/flat")]), 1);
    let agent = proof.fixtures.join("old/.pi/agent");
    assert_eq!(found(&[("PI_CODING_AGENT_DIR", agent.to_str().unwrap())]), 2);
    assert_eq!(found(&[]), 0);
    fs::create_dir_all(home.path().join(".pi/agent")).unwrap();
    fs::write(home.path().join(".pi/agent/settings.json"), r#"{"sessionDir":"~/flat/below"}"#).unwrap();
    assert_eq!(found(&[]), 1);
}
