//! The Usage tab's state: what is counted and how it is shown. Pure; counting is done beside the loop, `tabs::usage` draws it.

use std::sync::Arc;

use agents::sessions::rows::UsageTable;
use agents::usage::View;

use super::state::ListTab;
use crate::limits::Told;

/// How far back it is counted (lazyagents.md, Usage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Period {
    /// Since midnight.
    Today,
    /// Today and the six days before.
    #[default]
    Week,
    /// Today and the 29 days before.
    Month,
    /// Today and the 89 days before.
    Quarter,
    /// Everything.
    All,
}

impl Period {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Today, Self::Week, Self::Month, Self::Quarter, Self::All];

    /// Days back from today, today included; `None` for everything.
    pub fn days(self) -> Option<i64> {
        match self {
            Self::Today => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::Quarter => Some(90),
            Self::All => None,
        }
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Week => "7 days",
            Self::Month => "30 days",
            Self::Quarter => "90 days",
            Self::All => "all time",
        }
    }
}

/// What the rows can be, in the order of the key, with words.
pub const VIEWS: [(View, &str); 5] = [
    (View::Daily, "by day"),
    (View::Agents, "by agent"),
    (View::Projects, "by project"),
    (View::Models, "by model"),
    (View::Blocks, "5-hour blocks"),
];

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The rows, those of days and blocks newest first.
    pub table: UsageTable,
    /// Tokens of each day of the period, oldest first, whatever the rows are.
    pub days: Vec<(String, u64)>,
}

/// The tab.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// Cursor, filter, detail.
    pub tab: ListTab,
    /// How far back.
    pub period: Period,
    /// The place in [`VIEWS`].
    pub view: usize,
    /// Only this agent.
    pub agent: Option<&'static str>,
    /// What was counted last.
    pub counted: Option<Arc<Counted>>,
    /// The limits of the accounts.
    pub limits: Option<Arc<Told>>,
    /// Services are being asked for them.
    pub asking: bool,
    /// The number of the newest count; older ones are dropped.
    pub counts: u64,
}

impl Usage {
    /// What the rows are.
    pub fn view(&self) -> (View, &'static str) {
        VIEWS.get(self.view).copied().unwrap_or(VIEWS[0])
    }

    /// The rows that the filter lets through, by their places.
    pub fn rows(&self) -> Vec<usize> {
        let Some(counted) = &self.counted else { return Vec::new() };
        let words: Vec<String> = self.tab.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let fits = |at: &usize| {
            let label = counted.table.rows[*at].label.to_lowercase();
            words.iter().all(|word| label.contains(word.as_str()))
        };
        (0..counted.table.rows.len()).filter(fits).collect()
    }
}
