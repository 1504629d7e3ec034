//! What never changes about an agent's hooks, and how one of ours is written for it. Pure.

use serde_json::{Value, json};

/// How a list of an event holds its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `{"matcher": ..., "hooks": [{"type": "command", "command": ...}]}`.
    Nested,
    /// `{"type": "command", "bash": ..., "timeoutSec": ...}` (Copilot), and what older files of others hold: a command
    /// without its group.
    Flat,
    /// The command alone, as older files hold it.
    Text,
}

/// What a timeout counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds (Gemini, Qwen).
    Milliseconds,
}

impl Unit {
    /// How many of them are a second.
    pub fn per_second(self) -> u64 {
        match self {
            Self::Seconds => 1,
            Self::Milliseconds => 1_000,
        }
    }
}

/// An event of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The agent's own name.
    pub name: &'static str,
    /// Claude's name for an event that means the same: what a hook of the library is written with. Empty when none does.
    pub common: &'static str,
}

impl Event {
    /// An event that bears Claude's name.
    pub const fn same(name: &'static str) -> Self {
        Self { name, common: name }
    }

    /// An event that means what `common` means.
    pub const fn like(name: &'static str, common: &'static str) -> Self {
        Self { name, common }
    }

    /// An event that only this agent has.
    pub const fn own(name: &'static str) -> Self {
        Self { name, common: "" }
    }
}

/// What never changes about the hooks of an agent (agent-formats.md; hooks-observed.txt).
#[derive(Debug)]
pub struct Rules {
    /// Every event that it knows: one that is not here is never written.
    pub events: &'static [Event],
    /// How we write a command.
    pub shape: Shape,
    /// What its timeouts count.
    pub unit: Unit,
    /// Seconds after which it stops a command that sets none.
    pub patience: u64,
    /// It can go on without waiting (`async`).
    pub is_async: bool,
    /// Its own names of tools that Claude has too, Claude's first: what a matcher means. Empty where it takes Claude's.
    pub tools: &'static [(&'static str, &'static str)],
    /// Events whose commands it stops sooner, whatever they ask for, in seconds.
    pub shorter: &'static [(&'static str, u64)],
    /// What the person has to do in the agent before it runs a new hook; empty when nothing.
    pub consent: &'static str,
    /// What it makes of a command that fails.
    pub fails: Verdict,
    /// Keys of `hooks` that are settings and no events.
    pub settings: &'static [&'static str],
    /// One entry that it does not understand costs all of the file.
    pub strict: bool,
}

/// What an agent makes of a command that fails; tried with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Code 2: what was about to happen does not, where the event comes before something. Others are shown.
    TwoBlocks,
    /// Any code but 0 before a tool: the tool is not used. Elsewhere it changes nothing (Copilot 1.0.102).
    AnyBlocksTools,
}

/// Where a command of the library lands at an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    /// The agent's event.
    pub event: &'static str,
    /// The matcher in the agent's words.
    pub matcher: Option<String>,
}

/// Why an agent does not run a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// It has no such event.
    NoEvent,
}

impl Rules {
    /// The agent's event that `event` of the library means: by Claude's name, else by its own.
    pub fn event(&self, event: &str) -> Option<&'static str> {
        let found = self.events.iter().find(|known| known.common == event && !event.is_empty());
        found.or_else(|| self.events.iter().find(|known| known.name == event)).map(|known| known.name)
    }

    /// True for an event that the agent has.
    pub fn knows(&self, event: &str) -> bool {
        self.events.iter().any(|known| known.name == event)
    }

    /// Where a command lands.
    ///
    /// # Errors
    /// [`Miss`] when the agent never runs it.
    pub fn land(&self, event: &str, matcher: Option<&str>) -> Result<Landing, Miss> {
        let own = self.event(event).ok_or(Miss::NoEvent)?;
        let matcher = matcher.filter(|matcher| !matcher.is_empty());
        let of_tools = event.contains("Tool") || event.starts_with("Permission");
        let matcher = matcher.map(|matcher| if of_tools { self.matcher(matcher) } else { matcher.to_owned() });
        Ok(Landing { event: own, matcher })
    }

    /// A matcher of tools in the agent's words: only plain names are turned, an expression stays as it is.
    fn matcher(&self, matcher: &str) -> String {
        let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.tools.is_empty() || !matcher.split('|').all(|name| !name.is_empty() && plain(name)) {
            return matcher.to_owned();
        }
        let own = |name: &str| {
            self.tools.iter().find(|(claude, _)| *claude == name).map_or(name.to_owned(), |t| t.1.to_owned())
        };
        matcher.split('|').map(own).collect::<Vec<_>>().join("|")
    }

    /// Seconds after which the agent stops a command of `event` (its own name) that asks for `timeout`.
    pub fn stops_after(&self, event: &str, timeout: Option<u64>) -> u64 {
        let asked = timeout.unwrap_or(self.patience).max(1);
        self.shorter.iter().find(|(name, _)| *name == event).map_or(asked, |(_, most)| asked.min(*most))
    }

    /// The element of an event's list that runs `command`; `timeout` in seconds.
    pub fn element(&self, landing: &Landing, command: &str, timeout: Option<u64>, is_async: bool) -> Value {
        let mut inner = serde_json::Map::new();
        inner.insert("type".to_owned(), json!("command"));
        let matcher = landing.matcher.as_ref().map(|matcher| json!(matcher));
        match self.shape {
            Shape::Flat => {
                if let Some(matcher) = matcher {
                    inner.insert("matcher".to_owned(), matcher);
                }
                inner.insert("bash".to_owned(), json!(command));
                if let Some(timeout) = timeout {
                    inner.insert("timeoutSec".to_owned(), json!(timeout.saturating_mul(self.unit.per_second())));
                }
                Value::Object(inner)
            }
            Shape::Nested | Shape::Text => {
                inner.insert("command".to_owned(), json!(command));
                if let Some(timeout) = timeout {
                    inner.insert("timeout".to_owned(), json!(timeout.saturating_mul(self.unit.per_second())));
                }
                if is_async && self.is_async {
                    inner.insert("async".to_owned(), json!(true));
                }
                let mut group = serde_json::Map::new();
                if let Some(matcher) = matcher {
                    group.insert("matcher".to_owned(), matcher);
                }
                group.insert("hooks".to_owned(), json!([inner]));
                Value::Object(group)
            }
        }
    }
}
