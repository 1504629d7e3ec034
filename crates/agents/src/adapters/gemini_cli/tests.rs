use crate::adapters::proof::proofs;

proofs!("gemini-cli", "gemini_cli", |session| {
    let recorded = &session["recorded"];
    std::iter::once(&recorded["main"]).chain(recorded.get("sub_agents")).map(|part| &part["tokens"]).collect()
});

use std::fs;

use crate::adapters::proof::Proof;
use crate::sessions::{Kind, Said, Source};

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T03:04:05Z","kind":"main"}"#;

#[allow(clippy::unwrap_used, clippy::disallowed_methods)]
fn file(lines: &[&str]) -> (tempfile::TempDir, Source) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tmp/p/chats/session-2026-01-02T03-04-s.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    (dir, Source::at(&path, Kind::Lines).unwrap())
}

/// Left by 0.20.0, whose chats are documents in folders named by a hash.
#[test]
fn chats_of_the_older_program_are_read() {
    let proof = Proof::of("gemini-cli", "gemini_cli");
    let sums = proof.sum(&proof.fixtures.join("old"));
    let resumed = &sums["0bdef76b-50d5-4840-86c3-6974e9534363"];
    assert_eq!((resumed.prompts, resumed.tool_calls, resumed.tokens().requests), (2, 1, 3));
    let failed = &sums["5e908ddd-fbd8-49dc-90c4-4b79c45b42a0"];
    assert_eq!((failed.tool_calls, failed.failed_tool_calls, failed.tokens().output), (1, 1, 91 + 65 + 92 + 66));
    let source = &proof.sources(&proof.fixtures.join("old"))[0];
    let told = proof.told(source, "5e908ddd-fbd8-49dc-90c4-4b79c45b42a0", 0);
    assert!(matches!(&told[0].said, Said::Text(text) if text.starts_with("Please list the files")));
    assert_eq!(told.iter().map(|piece| piece.offset).collect::<Vec<_>>(), (0..told.len() as u64).collect::<Vec<_>>());
}

/// The same home after 0.61.0 resumed one of them: it copied both into a folder with a name, and one into lines.
#[test]
fn copies_in_folders_of_older_versions_count_once() {
    let proof = Proof::of("gemini-cli", "gemini_cli");
    let home = proof.fixtures.join("moved");
    let sources = proof.sources(&home);
    assert_eq!(sources.iter().filter(|source| source.path.starts_with(home.join(".gemini/tmp/webshop"))).count(), 2);
    assert_eq!(sources.len(), 2);
    let sums = proof.sum(&home);
    let resumed = &sums["0bdef76b-50d5-4840-86c3-6974e9534363"];
    assert_eq!((resumed.prompts, resumed.tool_calls, resumed.tokens().requests), (3, 2, 5));
    assert!(sums.values().all(|sum| sum.cwd.as_deref() == Some("/home/dev/projects/webshop")));
}

#[test]
fn a_replaced_history_stays_paid_for_and_adds_no_prompts() {
    let (_dir, source) = file(&[
        HEADER,
        r#"{"id":"1","timestamp":"2026-01-02T03:04:06Z","type":"user","content":"First"}"#,
        r#"{"id":"2","timestamp":"2026-01-02T03:04:07Z","type":"gemini","content":"A","tokens":{"input":10,"output":3,"cached":4,"thoughts":2,"tool":1},"model":"m"}"#,
        r#"{"id":"2","timestamp":"2026-01-02T03:04:07Z","type":"gemini","content":"A","tokens":{"input":20,"output":3,"cached":4,"thoughts":2,"tool":1},"model":"m"}"#,
        r#"{"$set":{"summary":"A title","messages":[{"id":"9","type":"user","content":[{"text":"<state_snapshot>sum</state_snapshot>"}]},{"id":"8","type":"user","content":"Copied from elsewhere"}]}}"#,
        r#"{"$rewindTo":"1"}"#,
        r#"{"id":"3","timestamp":"2026-01-02T03:04:08Z","type":"user","content":[{"text":"see @f and its content"}],"displayContent":[{"text":"see @f"}]}"#,
    ]);
    let proof = Proof::of("gemini-cli", "gemini_cli");
    let part = &proof.read(&source).parts[0];
    assert_eq!((part.prompts, part.compactions, part.responses.len()), (2, 1, 1));
    let tokens = part.responses[0].tokens;
    assert_eq!((tokens.input, tokens.cache_read, tokens.output, tokens.reasoning), (17, 4, 5, Some(2)));
    assert_eq!(part.title.as_ref().unwrap().text, "A title");
    let said: Vec<_> = proof.told(&source, "s", 0).into_iter().map(|piece| piece.said).collect();
    let text = |text: &str| Said::Text(text.to_owned());
    let summary = Said::Compaction("<state_snapshot>sum</state_snapshot>".to_owned());
    assert_eq!(said, [text("First"), text("A"), summary, text("see @f")]);
}

#[test]
fn a_start_without_a_prompt_makes_no_session() {
    let context = r#"{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>x"}]}]}}"#;
    let (_dir, source) = file(&[HEADER, context, HEADER]);
    let proof = Proof::of("gemini-cli", "gemini_cli");
    let facts = proof.read(&source);
    assert!(facts.parts[0].aside);
    assert!(proof.sum_facts(&[facts]).is_empty());
}

#[test]
#[allow(clippy::disallowed_methods)]
fn sub_agents_of_sub_agents_belong_to_the_conversation() {
    let (dir, main) = file(&[HEADER, r#"{"id":"1","type":"user","content":"Go"}"#]);
    let chats = main.path.parent().unwrap();
    for (folder, id) in [("s", "child"), ("child", "grandchild")] {
        fs::create_dir_all(chats.join(folder)).unwrap();
        let header = HEADER.replace("\"s\"", &format!("\"{id}\"")).replace("main", "subagent");
        fs::write(chats.join(folder).join(format!("{id}.jsonl")), header + "\n").unwrap();
    }
    fs::write(dir.path().join("projects.json"), r#"{"projects":{"/w":"p"}}"#).unwrap();
    let proof = Proof::of("gemini-cli", "gemini_cli");
    let facts: Vec<_> = [main.path.clone(), chats.join("s/child.jsonl"), chats.join("child/grandchild.jsonl")]
        .iter()
        .map(|path| proof.read(&Source::at(path, Kind::Lines).unwrap()))
        .collect();
    let sums = proof.sum_facts(&facts);
    assert_eq!(sums.len(), 1);
    assert_eq!((sums["s"].subagents.len(), sums["s"].cwd.as_deref()), (2, Some("/w")));
}
