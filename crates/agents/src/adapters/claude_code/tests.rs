use crate::adapters::proof::proofs;

// What was sent is what is recorded, compactions included: the sum of the session knows them.
proofs!("claude-code", "claude_code", |session| {
    ["main", "sub_agent", "compaction"].iter().filter_map(|role| session["tokens_sent"].get(role)).collect()
});
