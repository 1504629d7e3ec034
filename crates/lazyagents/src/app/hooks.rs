//! The Hooks tab's state: the library, who runs what of it, and what others have put into the agents' files. Pure; it is
//! read beside the loop (`rack`), `update` changes it, `tabs::hooks` draws it.

use std::sync::Arc;

use manage::desk::View;
use manage::hooks::{Cell, Line};

use super::state::ListTab;

/// Everything that the tab shows, cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rack {
    /// The installed agents with hooks: id and name.
    pub agents: Vec<(&'static str, &'static str)>,
    /// The library, by name.
    pub hooks: Vec<HookLine>,
    /// What is not ours, in the agents' order.
    pub others: Vec<OtherLine>,
    /// What could not be read, and agents that run no hook at all.
    pub problems: Vec<String>,
}

/// A hook of the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookLine {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it was imported from, for people.
    pub origin: Option<String>,
    /// Its file.
    pub path: String,
    /// Its commands.
    pub commands: Vec<CommandLine>,
    /// How it stands at each agent of the rack, in their order.
    pub cells: Vec<CellLine>,
}

/// A command of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// `PreToolUse (Bash)`.
    pub when: String,
    /// What is run.
    pub command: String,
    /// Seconds it may take.
    pub timeout: Option<u64>,
    /// Not switched off.
    pub on: bool,
}

/// A hook at an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellLine {
    /// In one sign.
    pub cell: Cell,
    /// The agent's file, for people.
    pub file: String,
    /// Something of ours is there.
    pub ours: bool,
    /// Command by command, where there is something to say.
    pub lines: Vec<String>,
}

/// A hook of somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherLine {
    /// The agent's id.
    pub agent: &'static str,
    /// `PreToolUse (Bash) -> command`.
    pub words: String,
    /// Its file, for people.
    pub file: String,
    /// Whether the agent trusts it, where it asks.
    pub trust: Option<&'static str>,
}

/// What can be done to hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Write it into the files of these agents.
    Enable(String, Vec<&'static str>),
    /// Take it out of the files of these agents.
    Disable(String, Vec<&'static str>),
    /// Switch one command of it, counted from 1.
    Switch(String, usize, bool),
    /// Make a new one: name, what it is for, what it runs.
    Add(String, String, Line),
    /// Remove it.
    Remove(String),
    /// Take those of a plugin's folder.
    Import(String),
}

impl Job {
    /// The verb for the button, and the question's title.
    pub fn words(&self) -> (&'static str, String) {
        match self {
            Self::Enable(name, _) => ("Enable", format!("Enable {name}")),
            Self::Disable(name, _) => ("Disable", format!("Disable {name}")),
            Self::Switch(name, number, true) => ("Switch on", format!("Switch on command {number} of {name}")),
            Self::Switch(name, number, false) => ("Switch off", format!("Switch off command {number} of {name}")),
            Self::Add(name, ..) => ("Add", format!("Add {name}")),
            Self::Remove(name) => ("Remove", format!("Remove {name}")),
            Self::Import(_) => ("Import", "Import hooks".to_owned()),
        }
    }
}

/// A job that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The job.
    pub job: Job,
    /// What it does, for people: commands, then the differences; cleaned.
    pub lines: Vec<String>,
    /// Nothing would be written.
    pub nothing: bool,
    /// What it was seen to do: it is done only while that holds.
    pub seen: View,
}

/// A new hook while it is typed, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// What was typed so far, in the order of [`Draft::STEPS`].
    pub given: Vec<String>,
}

impl Draft {
    /// What is asked for, each with a hint.
    pub const STEPS: [(&'static str, &'static str); 6] = [
        ("Name of the new hook", "letters, digits, - _ ."),
        ("On which event?", "PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, Stop …"),
        ("Only for which tools or sources?", "Bash, Edit|Write; nothing means all"),
        ("Which command?", "run by a shell, with the event as JSON on stdin"),
        ("How many seconds may it take?", "nothing leaves it to the agent"),
        ("What is it for?", "a few words for the list"),
    ];

    /// The job, once everything was typed.
    pub fn job(&self) -> Option<Job> {
        let [name, event, matcher, command, timeout, description] = self.given.as_slice() else { return None };
        let line = Line {
            event: event.clone(),
            matcher: Some(matcher.clone()).filter(|matcher| !matcher.is_empty()),
            command: command.clone(),
            timeout: timeout.parse().ok(),
            is_async: false,
        };
        Some(Job::Add(name.clone(), description.clone(), line))
    }

    /// Why `answer` cannot be the next step.
    pub fn refuses(&self, answer: &str) -> Option<String> {
        match self.given.len() {
            0 => manage::hooks::name(answer)
                .err()
                .map(|_| "letters, digits, `.`, `_`, `-`; a letter or digit first".to_owned()),
            1 => {
                let rules = agents::adapter::all().iter().filter_map(|adapter| adapter.hooks());
                let known = rules.into_iter().any(|hooks| hooks.rules().event(answer).is_some());
                (!known).then(|| "no agent has that event".to_owned())
            }
            3 if answer.trim().is_empty() => Some("a hook has a command".to_owned()),
            4 if !answer.is_empty()
                && answer.parse::<u64>().map_or(true, |seconds| seconds == 0 || seconds > 86_400) =>
            {
                Some("a whole number of seconds, or nothing".to_owned())
            }
            _ => None,
        }
    }
}

/// The tab.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Cursor, filter, detail.
    pub tab: ListTab,
    /// What there is; `None` until it was read.
    pub rack: Option<Arc<Rack>>,
    /// The agent that keys are for; `None` for all.
    pub agent: Option<&'static str>,
    /// Its number; older ones are dropped.
    pub reads: u64,
}

impl Hooks {
    /// The hooks that the filter lets through, by their places.
    pub fn rows(&self) -> Vec<usize> {
        let Some(rack) = &self.rack else { return Vec::new() };
        let words: Vec<String> = self.tab.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let fits = |at: &usize| {
            let hook = &rack.hooks[*at];
            let hay = format!("{} {}", hook.name, hook.description).to_lowercase();
            words.iter().all(|word| hay.contains(word.as_str()))
        };
        (0..rack.hooks.len()).filter(fits).collect()
    }

    /// The hook under the cursor.
    pub fn selected(&self) -> Option<&HookLine> {
        let rows = self.rows();
        let at = *rows.get(self.tab.list.selected.min(rows.len().saturating_sub(1)))?;
        self.rack.as_ref()?.hooks.get(at)
    }

    /// The agents that keys are for and that run the hook under the cursor, with how it stands there.
    pub fn chosen(&self) -> Vec<(&'static str, &CellLine)> {
        let (Some(rack), Some(hook)) = (&self.rack, self.selected()) else { return Vec::new() };
        let all = rack.agents.iter().map(|(id, _)| *id).zip(&hook.cells);
        all.filter(|(id, cell)| self.agent.is_none_or(|only| only == *id) && cell.cell != Cell::Never).collect()
    }
}
