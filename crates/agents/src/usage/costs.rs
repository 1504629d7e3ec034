//! What was counted in dollars: only where the account pays for each token, or where the agent itself wrote down what a
//! request cost (lazyagents.md, Usage). It is a value: who made it has looked at the accounts.

use std::collections::BTreeSet;

use super::prices::Prices;
use crate::account::Pays;
use crate::adapter::{Surroundings, all};
use crate::sessions::{Session, Slot};

/// Prices, and whose tokens are paid for one by one.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    prices: Prices,
    per_token: BTreeSet<&'static str>,
}

impl Costs {
    /// Asks every adapter how its agent is signed in here; the present says nothing of the past, so all of its sessions
    /// are taken to be paid like that.
    pub fn here(prices: Prices, around: &Surroundings) -> Self {
        let pays = all().iter().filter(|adapter| {
            adapter.account(around, &adapter.places(around)).is_some_and(|account| account == Pays::PerToken)
        });
        let per_token = pays.map(|adapter| adapter.about().id).collect();
        Self { prices, per_token }
    }

    /// As [`Costs::here`], for agents that are named.
    pub fn of_agents(prices: Prices, per_token: impl IntoIterator<Item = &'static str>) -> Self {
        Self { prices, per_token: per_token.into_iter().collect() }
    }

    /// When the table of prices was made, `YYYY-MM-DD`.
    pub fn prices_of(&self) -> &str {
        &self.prices.date
    }

    /// What a slot cost, millionths of a US dollar; `None` when that is not known.
    pub fn of_slot(&self, session: &Session, slot: &Slot) -> Option<u64> {
        if slot.cost.is_some() || !self.per_token.contains(session.agent) {
            return slot.cost;
        }
        let model = session.models.get(slot.model?)?;
        // Prices change: without a time there is none (report D9). They do so at midnight (UTC), never within a slot.
        self.prices.of(model, slot.start?)?.cost(&slot.tokens, slot.size)
    }

    /// What a session cost, millionths of a US dollar; `None` when a part of that is not known, or nothing was counted.
    pub fn of_session(&self, session: &Session) -> Option<u64> {
        if session.slots.is_empty() {
            return None;
        }
        let mut slots = session.slots.iter().map(|slot| self.of_slot(session, slot));
        slots.try_fold(0_u64, |sum, cost| Some(sum.saturating_add(cost?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{Size, Tokens};

    fn session(agent: &'static str, slots: &[(Option<usize>, Option<u64>)]) -> Session {
        let tokens = Tokens { output: 1_000_000, requests: 1, ..Tokens::default() };
        let slot = |(model, cost): &(Option<usize>, Option<u64>)| Slot {
            model: *model,
            cost: *cost,
            tokens,
            size: Size::Over(0),
            start: Some(1_796_083_200_000),
            ..Slot::default()
        };
        let models = vec!["gpt-5".to_owned(), "a-model-of-tomorrow".to_owned()];
        Session { agent, models, slots: slots.iter().map(slot).collect(), ..Session::default() }
    }

    #[test]
    fn only_who_pays_per_token_has_a_cost_and_an_unknown_part_makes_none() {
        let costs = Costs::of_agents(Prices::default(), ["codex"]);
        assert_eq!(costs.of_session(&session("codex", &[(Some(0), None), (Some(0), None)])), Some(20_000_000));
        assert_eq!(costs.of_session(&session("codex", &[(Some(0), None), (Some(1), None)])), None);
        assert_eq!(costs.of_session(&session("codex", &[(None, None)])), None);
        assert_eq!(costs.of_session(&session("codex", &[])), None);
        assert_eq!(costs.of_session(&session("claude-code", &[(Some(0), None)])), None);
    }

    #[test]
    fn what_the_agent_wrote_down_itself_is_kept() {
        let costs = Costs::of_agents(Prices::default(), ["codex"]);
        assert_eq!(costs.of_session(&session("pi", &[(Some(1), Some(7))])), Some(7));
        assert_eq!(costs.of_session(&session("codex", &[(Some(1), Some(7)), (Some(0), None)])), Some(10_000_007));
    }
}
