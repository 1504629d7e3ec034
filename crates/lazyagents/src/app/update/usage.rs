//! The Usage tab: what keys do there, and what was counted.

use std::sync::Arc;
use std::time::Instant;

use tui::widgets::toast::Kind;

use super::super::event::Effect;
use super::super::state::App;
use super::super::usage::{Counted, Period, VIEWS};
use crate::limits::Told;

/// Carries out an action of the tab.
pub(super) fn act(app: &mut App, id: &str) -> Vec<Effect> {
    let usage = &mut app.usage;
    match id {
        "usage.period" => {
            let at = Period::ALL.iter().position(|period| *period == usage.period).unwrap_or(0);
            usage.period = Period::ALL[(at + 1) % Period::ALL.len()];
        }
        "usage.agent" => {
            let agents = app.sessions.agents();
            let usage = &mut app.usage;
            usage.agent = match usage.agent.and_then(|agent| agents.iter().position(|id| *id == agent)) {
                None => agents.first().copied(),
                Some(at) => agents.get(at + 1).copied(),
            };
        }
        "usage.view" => usage.view = (usage.view + 1) % VIEWS.len(),
        "usage.limits" => {
            usage.asking = true;
            return vec![Effect::Limits { ask: true }];
        }
        "usage.refresh" => return vec![Effect::Look],
        _ => return Vec::new(),
    }
    app.usage.tab.list.top();
    count(app)
}

/// Counts anew.
pub(super) fn count(app: &mut App) -> Vec<Effect> {
    app.usage.counts += 1;
    let usage = &app.usage;
    vec![Effect::Count { number: usage.counts, view: usage.view().0, agent: usage.agent, period: usage.period }]
}

/// The limits, as far as they are known; what went wrong is said where somebody asked.
pub(super) fn limits(app: &mut App, told: Arc<Told>, now: Instant) -> Vec<Effect> {
    let asked = std::mem::take(&mut app.usage.asking);
    for line in told.warnings.iter().filter(|_| asked) {
        app.toasts.push(Kind::Warn, line.clone(), now);
    }
    app.usage.limits = Some(told);
    Vec::new()
}

/// What was counted.
pub(super) fn counted(app: &mut App, number: u64, counted: Arc<Counted>) -> Vec<Effect> {
    if number == app.usage.counts {
        app.usage.counted = Some(counted);
    }
    Vec::new()
}
