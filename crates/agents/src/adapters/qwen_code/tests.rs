use super::settle::settle;
use crate::adapters::proof::{Proof, proofs};
use crate::sessions::{Kind, Part, Response, Role, Said, Source, Tokens};

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

/// A branch of a conversation is a copy under another id; its program keeps times and answers as they were.
#[test]
#[allow(clippy::disallowed_methods)]
fn a_branch_counts_its_copies_once_and_an_archived_chat_is_marked() {
    let proof = Proof::of("qwen-code", "qwen_code");
    let old = "f83b955d-0e60-4b50-b99f-2a7b58d31a0f";
    let chats = proof.fixtures.join("home/.qwen/projects/-home-dev-projects-webshop/chats");
    let text = std::fs::read_to_string(chats.join(format!("{old}.jsonl"))).unwrap();
    let home = tempfile::tempdir().unwrap();
    let copies = home.path().join("run/projects/p/chats");
    std::fs::create_dir_all(copies.join("archive")).unwrap();
    std::fs::write(copies.join(format!("{old}.jsonl")), &text).unwrap();
    let title =
        r#"{"type":"system","subtype":"custom_title","systemPayload":{"customTitle":"Mine","titleSource":"manual"}}"#;
    std::fs::write(copies.join("archive/z.jsonl"), text.replace(old, "z") + title + "\n").unwrap();
    let sources = proof.sources_with(home.path(), &[("QWEN_RUNTIME_DIR", "~/run")]);
    assert_eq!(sources.iter().map(|source| source.archived).collect::<Vec<_>>(), [false, true]);
    let facts: Vec<_> = sources.iter().map(|source| proof.read(source)).collect();
    let sums = proof.sum_facts(&facts);
    assert_eq!((sums[old].tokens().requests, sums["z"].tokens().requests), (4, 0));
    assert_eq!((sums["z"].prompts, sums["z"].title.clone()), (2, Some((3, "Mine".to_owned()))));
}

/// Left by 0.24.4: a sub-agent that started another one, then a resumed turn.
#[test]
fn nested_sub_agents_and_reminders_of_the_program() {
    let proof = Proof::of("qwen-code", "qwen_code");
    let home = proof.fixtures.join("nested");
    let id = "e849d643-9e2d-4619-afde-6c9caca15a0b";
    let sum = &proof.sum(&home)[id];
    assert_eq!((sum.subagents.len(), sum.prompts, sum.tool_calls, sum.failed_tool_calls), (2, 2, 2, 1));
    assert_eq!((sum.roles[&Role::Main].requests, sum.roles[&Role::Subagents].requests), (5, 3));
    let told = proof.told(&proof.sources(&home)[0], id, 0);
    assert!(told.iter().any(|piece| piece.said == Said::Text("Please fail on purpose.".to_owned())));
}
