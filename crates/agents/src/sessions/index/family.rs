//! Which sources have to be looked at together: those that speak of one session, and those that have a response in
//! common, which counts once. Everything else adds up by itself, so that a change costs its own family and no more. Pure.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use crate::sessions::{Facts, Response};

/// The families by the hashes of what their sources have in common, in the order of the hashes. Two that are equal by
/// chance only make one family of two.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Keys(Vec<(u64, u32)>);

/// A map of numbers that are hashes already.
pub(super) type Hashed<V> = HashMap<u64, V, BuildHasherDefault<AsItIs>>;

/// Takes a hash for a hash.
#[derive(Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Hands out the hashes of what one source may have in common with others.
pub(super) fn hashes(agent: &str, facts: &Facts, mut each: impl FnMut(u64)) {
    let salt = Response::key(agent.as_bytes());
    for part in &facts.parts {
        each(session(agent, &part.session));
        part.responses.iter().filter(|response| response.key != 0).for_each(|response| each(response.key ^ salt));
    }
}

/// The hash of a session.
pub(super) fn session(agent: &str, id: &str) -> u64 {
    Response::key(id.as_bytes()).rotate_left(17) ^ Response::key(agent.as_bytes())
}

/// The families of sources, numbered from `first` on in the order in which they first appear, and their keys.
pub(super) fn of<'f>(sources: impl Iterator<Item = (&'static str, &'f Facts)>, first: u32) -> (Vec<u32>, Keys) {
    let (mut above, mut keys) = (Vec::new(), Hashed::<usize>::default());
    for (at, (agent, facts)) in sources.enumerate() {
        above.push(at);
        hashes(agent, facts, |hash| {
            let other = *keys.entry(hash).or_insert(at);
            let (one, other) = (root(&mut above, at), root(&mut above, other));
            above[one.max(other)] = one.min(other);
        });
    }
    let (mut numbers, mut next) = (vec![0; above.len()], first);
    for at in 0..above.len() {
        let root = root(&mut above, at);
        numbers[at] = if root == at { next } else { numbers[root] };
        next = next.saturating_add(u32::from(root == at));
    }
    let mut keys: Vec<(u64, u32)> = keys.into_iter().map(|(hash, at)| (hash, numbers[at])).collect();
    keys.sort_unstable();
    (numbers, Keys(keys))
}

fn root(above: &mut [usize], mut at: usize) -> usize {
    while above[at] != at {
        above[at] = above[above[at]];
        at = above[at];
    }
    at
}

impl Keys {
    /// The family that has something with this hash.
    pub(super) fn family(&self, hash: u64) -> Option<u32> {
        let at = self.0.partition_point(|(known, _)| *known < hash);
        self.0.get(at).filter(|(known, _)| *known == hash).map(|(_, family)| *family)
    }

    /// Drops families, and adds `more`, which are others.
    pub(super) fn exchange(&mut self, gone: impl Fn(u32) -> bool, more: Self) {
        self.0.retain(|(_, family)| !gone(*family));
        if more.0.len() > self.0.len() / 8 {
            self.0.extend(more.0);
            self.0.sort_unstable();
            return;
        }
        let old = std::mem::take(&mut self.0);
        self.0.reserve(old.len() + more.0.len());
        let mut more = more.0.into_iter().peekable();
        for key in old {
            while let Some(before) = more.next_if(|before| *before < key) {
                self.0.push(before);
            }
            self.0.push(key);
        }
        self.0.extend(more);
    }
}
