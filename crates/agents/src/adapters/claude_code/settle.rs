//! What compactions took: only the sum of the whole session knows it, so it is what is left of that sum when everything
//! that is told by itself is taken away (agent-formats.md, Claude Code, `cost-state`).

use std::collections::BTreeMap;

use crate::sessions::{Part, Response, Role, Settlement, Tokens};

pub(super) fn settle(parts: &[&Part]) -> Settlement {
    let name = |part: &Part, number: u16| part.models.get(usize::from(number)).cloned().unwrap_or_default();
    let Some(claiming) = parts.iter().rposition(|part| !part.claims.is_empty()) else { return Settlement::default() };
    let mut told: BTreeMap<String, Tokens> = BTreeMap::new();
    for part in parts {
        for response in &part.responses {
            if let Some(model) = response.model {
                told.entry(name(part, model)).or_default().add(&response.tokens);
            }
        }
    }
    let compactions = parts.iter().map(|part| part.compactions).sum::<u64>();
    let part = parts[claiming];
    let mut more = Vec::new();
    for claim in &part.claims {
        let model = name(part, claim.model);
        let mut left = claim.tokens.less(&told.get(&model).copied().unwrap_or_default());
        if left.total() == 0 {
            continue;
        }
        left.requests = if more.is_empty() { compactions.max(1) } else { 1 };
        // A copy of the session claims the same: what both claim is the same compaction.
        let sums = [left.input, left.cache_read, left.cache_write, left.output];
        let id = format!("claude compaction\0{model}\0{sums:?}");
        let key = Response::key(id.as_bytes());
        let role = if compactions > 0 { Role::Compaction } else { Role::Background };
        more.push(Response {
            key,
            at: claim.at,
            model: Some(claim.model),
            role,
            tokens: left,
            cost: None,
            offset: claim.offset,
        });
    }
    Settlement { more, ..Settlement::default() }
}
