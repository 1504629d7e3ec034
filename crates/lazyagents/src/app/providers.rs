//! The Providers tab's state: the profiles, and which agent uses which. Pure; it is read beside the loop (`board`), `update`
//! changes it, `tabs::providers` draws it.

use std::sync::Arc;

use manage::desk::View;
use manage::providers::{Cell, Profile};

use super::state::ListTab;
use crate::providers::Wish;

/// Everything that the tab shows, cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// The installed agents that can be told an endpoint: id and name.
    pub agents: Vec<(&'static str, &'static str)>,
    /// The profiles, in the file's order.
    pub profiles: Vec<ProfileLine>,
    /// What could not be read or understood.
    pub problems: Vec<String>,
    /// The file of profiles, for people.
    pub file: String,
}

/// A profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileLine {
    /// Its name.
    pub name: String,
    /// The endpoint.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// Where the token comes from; never the token.
    pub token: String,
    /// What the endpoint speaks.
    pub wire_api: String,
    /// How it stands at each agent of the board, in their order.
    pub cells: Vec<CellLine>,
}

/// A profile at an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellLine {
    /// In one word.
    pub cell: Cell,
    /// Why it has no place there, or what was changed by hand.
    pub why: String,
}

/// The sign of a cell.
pub fn sign(cell: Cell) -> &'static str {
    match cell {
        Cell::Applied => "●",
        Cell::Changed => "~",
        Cell::Off => "○",
        Cell::No => "–",
    }
}

/// A wish that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The wish.
    pub wish: Wish,
    /// What it does, for people; cleaned.
    pub lines: Vec<String>,
    /// What it was seen to do: it is done only while that holds.
    pub seen: View,
}

/// A profile while it is typed, step by step. Its token never shows up in a debug text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// The profile that is changed, with what it says now; `None` for a new one.
    pub old: Option<String>,
    /// What was typed so far, in the order of [`Draft::STEPS`].
    pub given: Vec<String>,
    /// What the steps begin with.
    pub begin: Vec<String>,
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("old", &self.old).field("steps", &self.given.len()).finish_non_exhaustive()
    }
}

impl Draft {
    /// What is asked for, each with a hint.
    pub const STEPS: [(&'static str, &'static str); 5] = [
        ("Name of the profile", "letters, digits, - _ ."),
        ("Which endpoint?", "https://api.example.com/v1"),
        ("Which model?", "nothing leaves it to the agent"),
        ("What does the endpoint speak?", "responses, chat or anthropic; nothing leaves it to the agent"),
        ("The token?", "$NAME: a variable · @file · !command · or itself · nothing: none"),
    ];

    /// The step of the token: what is typed there is not shown.
    pub const TOKEN: usize = 4;

    /// What was typed as a profile, once it is whole; a step that was left as it was keeps the token.
    pub fn wish(&self) -> Option<Wish> {
        let [name, url, model, wire, token] = self.given.as_slice() else { return None };
        let some = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let mut profile = Profile {
            name: name.trim().to_owned(),
            base_url: some(url),
            model: some(model),
            wire_api: some(wire),
            ..Profile::default()
        };
        let keep = self.old.is_some() && some(token).is_none();
        match some(token).filter(|text| text != "-") {
            None => {}
            Some(text) => match (text.strip_prefix('$'), text.strip_prefix('@'), text.strip_prefix('!')) {
                (Some(name), ..) => profile.env_key = Some(name.to_owned()),
                (_, Some(file), _) => profile.token_file = Some(file.into()),
                (_, _, Some(command)) => profile.token_command = Some(command.trim().to_owned()),
                _ => profile.token = Some(text),
            },
        }
        Some(Wish::Add { profile: Box::new(profile), replace: self.old.is_some(), keep })
    }

    /// Why `answer` cannot be the next step.
    pub fn refuses(&self, answer: &str) -> Option<String> {
        let mut profile = Profile { name: "x".to_owned(), ..Profile::default() };
        let text = Some(answer.trim().to_owned()).filter(|text| !text.is_empty());
        match self.given.len() {
            0 => profile.name = answer.trim().to_owned(),
            1 => profile.base_url = text,
            2 => profile.model = text,
            3 => profile.wire_api = text,
            _ => {
                let text = text.filter(|text| text != "-")?;
                match (text.strip_prefix('$'), text.strip_prefix('@'), text.strip_prefix('!')) {
                    (Some(name), ..) => profile.env_key = Some(name.to_owned()),
                    (_, Some(file), _) => profile.token_file = Some(file.into()),
                    (.., Some(command)) => profile.token_command = Some(command.to_owned()),
                    _ => profile.token = Some(text),
                }
            }
        }
        profile.check().err().map(|failure| match failure.hints().first() {
            Some(hint) => format!("{failure}; {hint}"),
            None => failure.to_string(),
        })
    }
}

/// The tab.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    /// Cursor, filter, detail.
    pub tab: ListTab,
    /// What there is; `None` until it was read.
    pub board: Option<Arc<Board>>,
    /// The agent that keys are for; `None` for all.
    pub agent: Option<&'static str>,
    /// Its number; older ones are dropped.
    pub reads: u64,
}

impl Providers {
    /// The profiles that the filter lets through, by their places.
    pub fn rows(&self) -> Vec<usize> {
        let Some(board) = &self.board else { return Vec::new() };
        let words: Vec<String> = self.tab.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let fits = |at: &usize| {
            let profile = &board.profiles[*at];
            let hay = format!("{} {} {}", profile.name, profile.base_url, profile.model).to_lowercase();
            words.iter().all(|word| hay.contains(word.as_str()))
        };
        (0..board.profiles.len()).filter(fits).collect()
    }

    /// The profile under the cursor.
    pub fn selected(&self) -> Option<&ProfileLine> {
        let rows = self.rows();
        let at = *rows.get(self.tab.list.selected.min(rows.len().saturating_sub(1)))?;
        self.board.as_ref()?.profiles.get(at)
    }

    /// The agents that keys are for and that have a place for the profile under the cursor, with how it stands there.
    pub fn chosen(&self) -> Vec<(&'static str, Cell)> {
        let (Some(board), Some(profile)) = (&self.board, self.selected()) else { return Vec::new() };
        let all = board.agents.iter().map(|(id, _)| *id).zip(profile.cells.iter().map(|line| line.cell));
        all.filter(|(id, cell)| self.agent.is_none_or(|only| only == *id) && *cell != Cell::No).collect()
    }
}
