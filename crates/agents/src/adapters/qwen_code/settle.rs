//! Which of the tellings of one request counts, when the transcript, a sub-agent's file and the log of requests all
//! tell of it. No id is common to them, but the counts are the same. Pure.

use std::collections::HashMap;

use super::reader::shape;
use crate::sessions::{Part, Settlement};

/// The transcript counts, as it tells a compaction from the rest; of the log what the transcript lacks, and of the
/// sub-agents' files what both lack. Where there is no transcript any more, the log counts before the others.
pub(super) fn settle(parts: &[&Part]) -> Settlement {
    let mut settled = Settlement::default();
    let mut told: HashMap<[u64; 4], u64> = HashMap::new();
    let shelves: [fn(&Part) -> bool; 3] =
        [|part| !part.aside && !part.subagent, |part| part.aside, |part| !part.aside && part.subagent];
    for shelf in shelves {
        let mut left = told.clone();
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| shelf(part)) {
            let mut known = Vec::new();
            for (index, response) in part.responses.iter().enumerate() {
                let shape = shape(&response.tokens);
                match left.get_mut(&shape).filter(|times| **times > 0) {
                    Some(times) => {
                        *times -= 1;
                        known.push((at, index));
                    }
                    None => *told.entry(shape).or_default() += 1,
                }
            }
            if !known.is_empty() && known.len() == part.responses.len() {
                settled.instead_of.push(at);
            } else {
                settled.without.append(&mut known);
            }
        }
    }
    settled.instead_of.sort_unstable();
    settled
}
