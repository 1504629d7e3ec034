//! The rows of `sessions --json`, `sessions show|search --json` and `usage <view> --json` (json.md). Types only.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::Role;
use super::tokens::Tokens;
use super::transcript::Speaker;

/// One session. What is not known is null. Texts are cleaned by whoever prints them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SessionRow {
    /// The agent's id.
    pub agent: String,
    /// The session's id, the agent's own.
    pub id: String,
    /// Its title: the person's, else the agent's, else the first prompt.
    pub title: Option<String>,
    /// The name the person gave it here.
    pub alias: Option<String>,
    /// The first thing the person typed.
    pub first_prompt: Option<String>,
    /// The folder it was started in.
    pub cwd: Option<String>,
    /// RFC 3339.
    pub started: Option<String>,
    /// RFC 3339.
    pub updated: Option<String>,
    /// An agent's process has it open now.
    pub live: bool,
    /// It lies in the agent's archive.
    pub archived: bool,
    /// In the order of first use.
    pub models: Vec<String>,
    /// What the person typed, times.
    pub prompts: u64,
    /// Tool calls of the main conversation.
    pub tool_calls: u64,
    /// Those of them that failed.
    pub failed_tool_calls: u64,
    /// Sub-agents started.
    pub subagents: u64,
    /// Times the conversation was replaced by a summary.
    pub compactions: u64,
    /// Everything the files record for it.
    pub usage: Tokens,
    /// The same by role; a role with nothing is left out.
    pub usage_by_role: BTreeMap<Role, Tokens>,
    /// US dollars; null when a price is not known or nothing is paid per token.
    pub cost_usd: Option<f64>,
    /// The file (or database) that holds it.
    pub path: String,
    /// The command that opens it again.
    pub resume: Option<Vec<String>>,
}

/// One turn of `sessions show --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Turn {
    /// Who speaks.
    pub role: Speaker,
    /// RFC 3339.
    pub at: Option<String>,
    /// What is said.
    pub text: String,
    /// The model's reasoning.
    pub reasoning: Option<String>,
    /// Tools called.
    pub tools: Vec<ToolUse>,
    /// The sub-agent's id when a sub-agent speaks.
    pub subagent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Tokens of the response.
    pub tokens: Option<Tokens>,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ToolUse {
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: String,
    /// What it answered.
    pub output: Option<String>,
    /// False when it failed; null when not told.
    pub ok: Option<bool>,
}

/// One session that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Found {
    /// The agent's id.
    pub agent: String,
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The folder it was started in.
    pub cwd: Option<String>,
    /// Times the text occurs.
    pub hits: u64,
    /// Some of the places, the first ones.
    pub excerpts: Vec<Excerpt>,
}

/// A place where a text was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Excerpt {
    /// Which turn, from 0, as in `sessions show --json`.
    pub turn: u64,
    /// Who said it.
    pub role: Speaker,
    /// The words around it.
    pub text: String,
}

/// A table of `usage <view> --json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UsageTable {
    /// The first instant counted, RFC 3339; null when everything is.
    pub since: Option<String>,
    /// The first instant not counted any more.
    pub until: Option<String>,
    /// The zone whose days these are, IANA.
    pub timezone: String,
    /// The rows.
    pub rows: Vec<UsageRow>,
    /// Their sum.
    pub total: UsageSum,
    /// What could not be read.
    pub skipped: Vec<SkippedRow>,
}

/// One row of a usage table.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UsageRow {
    /// An agent's id, a day, a folder, a model or the start of a block, by the view.
    pub key: String,
    /// The same for people.
    pub label: String,
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars; null when not known.
    pub cost_usd: Option<f64>,
    /// Whose block it is; null in every other view.
    pub agent: Option<String>,
    /// When the block ends, RFC 3339; null in every other view.
    pub ends: Option<String>,
    /// Whether the block is not over yet; null in every other view.
    pub current: Option<bool>,
}

/// The sum of a usage table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageSum {
    /// Tokens.
    pub tokens: Tokens,
    /// US dollars; null when not known.
    pub cost_usd: Option<f64>,
}

/// Lines of one file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedRow {
    /// The file.
    pub path: String,
    /// How many lines.
    pub lines: u64,
    /// Why.
    pub why: String,
}
