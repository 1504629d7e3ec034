use super::reader::workspace;
use crate::adapters::proof::{Proof, proofs};
use crate::sessions::{Kind, Role, Source};

proofs!("copilot", "copilot", |session| {
    let recorded = session["recorded"]["usage_records_by_interaction"].as_object().unwrap();
    recorded.values().map(|requests| &requests["tokens"]).chain(session["tokens_sent"].get("compaction")).collect()
});

fn source(path: &str) -> Source {
    Source { path: path.into(), kind: Kind::Lines, size: 0, mtime: 0, inode: 0, archived: false }
}

#[test]
fn the_name_that_the_person_gave_is_worth_most() {
    let yaml = b"id: a\nname: |-\n  Two\n  lines\nuser_named: true\nunknown: [1]\n";
    let part = &workspace(&source("/s/abc/workspace.yaml"), yaml).unwrap().parts[0];
    let title = part.title.as_ref().unwrap();
    assert_eq!((part.session.as_str(), part.aside, title.rank, title.text.as_str()), ("abc", true, 3, "Two\nlines"));
    assert!(workspace(&source("/s/abc/workspace.yaml"), b"name: [\n").is_err());
    assert_eq!(workspace(&source("/s/abc/workspace.yaml"), b"name: 7\n").unwrap().parts[0].title, None);
}

#[test]
fn sums_count_where_no_request_is_told_by_itself() {
    let shutdown = |n: u64| {
        format!(
            r#"{{"type":"session.shutdown","data":{{"modelMetrics":{{"m":{{"usage":{{"inputTokens":{n},"outputTokens":2}}}}}}}}}}"#
        ) + "\n"
    };
    let single = r#"{"type":"session.usage_record","data":{"usage":{"model":"m","inputTokens":7,"outputTokens":1,"interactionType":"conversation-agent","accounting":{"usageId":"u"}}}}"#;
    let proof = Proof::of("copilot", "copilot");
    let input = |text: &str| {
        let facts = proof.read_bytes(&source("/s/abc/events.jsonl"), text.as_bytes());
        facts.parts[0].responses.iter().map(|response| response.tokens.input).collect::<Vec<_>>()
    };
    assert_eq!(input(&(shutdown(5) + &shutdown(9))), [9]);
    assert_eq!(input(&format!("{}{single}\n{single}\n{}", shutdown(5), shutdown(12))), [5, 7]);
}

#[test]
fn compaction_and_subagents_are_told_apart() {
    let proof = Proof::of("copilot", "copilot");
    let sums = proof.sum(&proof.fixtures.join("home"));
    let compacted = &sums["225e8691-36cd-4b97-aa4c-0dde45af8f47"];
    assert_eq!((compacted.compactions, compacted.roles[&Role::Compaction].cache_write), (1, 1063));
    assert_eq!(sums["d2ec9757-5b68-43a1-b850-ce0404c607b0"].roles[&Role::Subagents].requests, 1);
}
