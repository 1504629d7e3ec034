//! Counts of tokens in disjoint kinds (json.md, Tokens). Values only.

use serde::{Deserialize, Serialize};

/// Tokens of some responses. The kinds `input`, `cache_read`, `cache_write` and `output` are disjoint; the adapter
/// subtracts where the agent's own numbers overlap (agent-formats.md, last table).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Tokens {
    /// Fresh input: neither read from nor written to a cache.
    pub input: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// All input written to a cache.
    pub cache_write: u64,
    /// The part of [`Tokens::cache_write`] with the one-hour life; null when not told apart.
    pub cache_write_1h: Option<u64>,
    /// Everything billed as output, reasoning included.
    pub output: u64,
    /// The part of [`Tokens::output`] known to be reasoning; null when not told.
    pub reasoning: Option<u64>,
    /// Responses counted.
    pub requests: u64,
}

impl Tokens {
    /// What stands for a number that cannot be a count of tokens: below 0, with a fraction, beyond all bounds.
    pub(crate) const IMPOSSIBLE: u64 = u64::MAX;

    /// More than this of one kind cannot be one response: no model reads or writes a billionth of it.
    const MOST: u64 = 1_000_000_000_000;

    /// True when no response can have taken that much; it is left out and said.
    pub(crate) fn are_impossible(&self) -> bool {
        let kinds = [self.input, self.cache_read, self.cache_write, self.output];
        let parts = [self.cache_write_1h, self.reasoning];
        kinds.into_iter().chain(parts.into_iter().flatten()).any(|count| count > Self::MOST)
    }

    /// Input of all kinds plus output.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write).saturating_add(self.output)
    }

    /// True when nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.total() == 0 && self.requests == 0
    }

    /// Adds `other`. What one side does not tell apart is taken from the other alone; sums stop at the largest number.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = either(self.cache_write_1h, other.cache_write_1h, u64::saturating_add);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = either(self.reasoning, other.reasoning, u64::saturating_add);
        self.requests = self.requests.saturating_add(other.requests);
    }

    /// What is left of `self` after taking `other` away, never below zero in any kind.
    pub fn less(&self, other: &Self) -> Self {
        let left = |a: Option<u64>, b: Option<u64>| a.map(|a| a.saturating_sub(b.unwrap_or(0)));
        Self {
            input: self.input.saturating_sub(other.input),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            cache_write_1h: left(self.cache_write_1h, other.cache_write_1h),
            output: self.output.saturating_sub(other.output),
            reasoning: left(self.reasoning, other.reasoning),
            requests: self.requests.saturating_sub(other.requests),
        }
    }
}

fn either(a: Option<u64>, b: Option<u64>, both: fn(u64, u64) -> u64) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (one, other) => one.or(other),
    }
}

impl std::iter::Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        let mut sum = Self::default();
        for tokens in iter {
            sum.add(&tokens);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_tells_stays_unknown_and_what_one_tells_is_kept() {
        let plain = Tokens { input: 1, output: 5, requests: 1, ..Tokens::default() };
        let told = Tokens { reasoning: Some(2), ..plain };
        assert_eq!([plain, plain].into_iter().sum::<Tokens>().reasoning, None);
        assert_eq!([plain, told].into_iter().sum::<Tokens>().reasoning, Some(2));
        assert_eq!([told, told].into_iter().sum::<Tokens>().total(), 12);
    }

    #[test]
    fn less_never_goes_below_zero() {
        let small = Tokens { input: 1, ..Tokens::default() };
        let big = Tokens { input: 9, output: 4, ..Tokens::default() };
        assert_eq!(small.less(&big), Tokens::default());
        assert_eq!(big.less(&small), Tokens { input: 8, output: 4, ..Tokens::default() });
    }
}
