//! How a hook of the library stands at an agent: what is in its file, what is missing, what it never runs. Pure.

use agents::hooks::{Trust, fingerprint};

use super::Seat;
use super::library::Hook;
use super::record::Record;

/// A hook at an agent, in one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// All that the agent could run of it is there.
    All,
    /// Some of it is.
    Some,
    /// None of it is.
    None,
    /// The agent fires none of its events.
    Never,
}

impl Cell {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::All => "●",
            Self::Some => "◐",
            Self::None => "○",
            Self::Never => "–",
        }
    }
}

/// One command at an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// In the agent's file, by us.
    Enabled,
    /// The same is in the agent's file, not by us.
    Foreign,
    /// Not in the agent's file.
    Missing,
    /// Switched off in the library.
    Off,
    /// The agent has no such event.
    NoEvent,
}

/// How a hook stands at an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The agent.
    pub agent: &'static str,
    /// In one sign.
    pub cell: Cell,
    /// Command by command, with the agent's event and whether the agent trusts it.
    pub lines: Vec<(LineState, Option<&'static str>, Option<Trust>)>,
    /// Elements of ours in the file that the library wants no more: an older version.
    pub stale: usize,
}

impl Standing {
    /// How `hook` stands at `seat`.
    pub fn of(hook: &Hook, seat: &Seat, record: &Record) -> Self {
        let owned = record.owned(seat.agent, &seat.file);
        let entries = seat.ours().map(|look| look.entries.as_slice()).unwrap_or_default();
        let wants = hook.wants(seat.rules);
        let mut lines = Vec::new();
        for (at, line) in hook.lines.iter().enumerate() {
            let number = at + 1;
            let Ok(landing) = seat.rules.land(&line.event, line.matcher.as_deref()) else {
                lines.push((LineState::NoEvent, None, None));
                continue;
            };
            if hook.off.contains(&number) {
                lines.push((LineState::Off, Some(landing.event), None));
                continue;
            }
            // A command that is there twice stands for both.
            let value = seat.rules.element(&landing, &hook.command(line), line.timeout, line.is_async);
            let print = fingerprint(&value);
            let there = entries.iter().find(|entry| entry.event == landing.event && entry.fingerprint() == print);
            let mine = owned.is_some_and(|owned| owned.has(&hook.name, landing.event, &print));
            let state = match (there.is_some(), mine) {
                (true, true) => LineState::Enabled,
                (true, false) => LineState::Foreign,
                (false, _) => LineState::Missing,
            };
            let trust = there.and_then(|entry| entry.commands.first()).and_then(|command| command.trust);
            lines.push((state, Some(landing.event), trust));
        }
        let wanted = |event: &str, print: &str| {
            wants.iter().any(|want| want.landing.event == event && fingerprint(&want.value) == print)
        };
        let stale = owned.into_iter().flat_map(|owned| &owned.entries).filter(|mine| mine.hook == hook.name);
        let stale = stale.filter(|mine| !wanted(&mine.event, &mine.fingerprint)).filter(|mine| {
            entries.iter().any(|entry| entry.event == mine.event && entry.fingerprint() == mine.fingerprint)
        });
        let stale = stale.count();
        let of = |state: LineState| lines.iter().filter(|line| line.0 == state).count();
        let there = of(LineState::Enabled) + of(LineState::Foreign);
        let cell = if of(LineState::NoEvent) == lines.len() {
            Cell::Never
        } else if there == 0 {
            if stale > 0 { Cell::Some } else { Cell::None }
        } else if of(LineState::Missing) + of(LineState::Off) + stale == 0 {
            Cell::All
        } else {
            Cell::Some
        };
        Self { agent: seat.agent, cell, lines, stale }
    }

    /// Commands that are there without being ours.
    pub fn foreign(&self) -> usize {
        self.lines.iter().filter(|line| line.0 == LineState::Foreign).count()
    }

    /// Commands that are there and ours, older versions too.
    pub fn ours(&self) -> usize {
        self.lines.iter().filter(|line| line.0 == LineState::Enabled).count() + self.stale
    }
}
