use super::settle::settle;
use crate::adapters::proof::{Proof, proofs};
use crate::sessions::{Kind, Part, Response, Role, Source, Tokens};

proofs!("qwen-code", "qwen_code", |session| {
    let sources = session["recorded"]["usage_log_by_source"].as_object().unwrap();
    sources.values().map(|source: &serde_json::Value| &source["tokens"]).collect()
});

fn part(aside: bool, subagent: bool, inputs: &[u64]) -> Part {
    let response = |input: &u64| Response {
        key: 0,
        at: None,
        model: None,
        role: Role::Main,
        tokens: Tokens { input: *input, requests: 1, ..Tokens::default() },
        cost: None,
        offset: 0,
    };
    Part { aside, subagent, responses: inputs.iter().map(response).collect(), ..Part::default() }
}

#[test]
fn each_request_counts_once_whoever_tells_of_it() {
    let (chat, log, helper) = (part(false, false, &[1, 2, 2]), part(true, false, &[2, 2, 1]), part(false, true, &[2]));
    assert_eq!(settle(&[&log, &helper, &chat]).instead_of, [0, 1]);
    // Here the log lacks one (3 is the transcript's alone) and the transcript another (7).
    let (chat, log, helper) = (part(false, false, &[1, 3]), part(true, false, &[1, 7]), part(false, true, &[7, 8]));
    let settled = settle(&[&chat, &log, &helper]);
    assert_eq!((settled.instead_of, settled.without), (vec![], vec![(1, 0), (2, 0)]));
}

#[test]
fn where_the_transcript_is_gone_the_log_counts() {
    let settled = settle(&[&part(true, false, &[5, 6]), &part(false, true, &[6])]);
    assert_eq!((settled.instead_of, settled.without), (vec![1], vec![]));
}

#[test]
fn without_the_log_and_without_telemetry_every_answer_counts() {
    let proof = Proof::of("qwen-code", "qwen_code");
    let answer = br#"{"uuid":"a","timestamp":"2026-01-02T03:04:05Z","type":"assistant","model":"m","message":{"parts":[]},"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":1,"totalTokenCount":14,"cachedContentTokenCount":3}}"#;
    let again = String::from_utf8_lossy(answer).replace("\"a\"", "\"b\"");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("chats").join("s.jsonl");
    let source = Source { path, kind: Kind::Lines, size: 0, mtime: 0, inode: 0, archived: false };
    let facts = proof.read_bytes(&source, &[&answer[..], b"\n", again.as_bytes()].concat());
    let tokens: Tokens = facts.parts[0].responses.iter().map(|response| response.tokens).sum();
    assert_eq!((tokens.input, tokens.cache_read, tokens.output, tokens.requests), (14, 6, 8, 2));
}

#[test]
fn compaction_and_memory_are_told_apart() {
    let proof = Proof::of("qwen-code", "qwen_code");
    let sums = proof.sum(&proof.fixtures.join("home"));
    let sum = &sums["8a5be1ed-8bbe-4357-9a8e-08ca6d47e69d"];
    let requests = |role| sum.roles[&role].requests;
    assert_eq!((requests(Role::Main), requests(Role::Compaction), requests(Role::Background)), (3, 2, 1));
    assert_eq!(sum.compactions, 1);
}
