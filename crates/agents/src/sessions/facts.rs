//! What one source says: counts, responses, titles. Everything a listing and the usage tables need, and nothing of
//! the text. Stored in the index, so all of it can be written and read back. Adapters make it, the index adds it up.

use serde::{Deserialize, Serialize};

use super::tokens::Tokens;

/// Whose request it was (json.md, `usage_by_role`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The conversation itself, and whatever the files do not tell apart from it.
    #[default]
    Main,
    /// Sub-agents.
    Subagents,
    /// The requests that made a summary of what went before.
    Compaction,
    /// Requests nobody asked for: titles, memories.
    Background,
}

/// Everything one source says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// One part for each session it speaks of; most sources have one.
    pub parts: Vec<Part>,
    /// Lines that were read, good or not.
    pub lines: u64,
    /// What was left out, and why.
    pub skipped: Vec<Skip>,
    /// What the reader needs to go on from here; the adapter's own, meaningless to everyone else.
    pub carry: Vec<u8>,
}

/// Lines or records of one kind that were left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// How many.
    pub lines: u64,
    /// Why, in words for people, without a position: equal reasons are added up.
    pub why: String,
    /// The offset of the first one.
    pub first_at: u64,
}

impl Facts {
    /// Counts a line that was left out.
    pub fn skip(&mut self, at: u64, why: &str) {
        match self.skipped.iter_mut().find(|skip| skip.why == why) {
            Some(skip) => skip.lines += 1,
            None => self.skipped.push(Skip { lines: 1, why: why.to_owned(), first_at: at }),
        }
    }
}

/// What one source says about one session. A sub-agent's file is a part of its parent's session. Texts are as the file
/// has them, cut to [`Part::LONGEST`] bytes at a character: cleaning is the business of whoever shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The agent's id of the session (the parent's, for a sub-agent's file).
    pub session: String,
    /// True when the source is a sub-agent's own: its counts go below the parent's, it is never a row, and its
    /// prompts are not a person's.
    pub subagent: bool,
    /// True when this source alone makes no session: a stub, a log beside the transcripts. A session is listed when
    /// at least one of its parts is not an aside.
    pub aside: bool,
    /// The agent keeps this session in its archive, by a mark of its own; a whole source is [`super::Source::archived`].
    #[serde(default)]
    pub archived: bool,
    /// The folder the session was started in.
    pub cwd: Option<String>,
    /// The git branch, where the agent writes it down (the last one).
    pub branch: Option<String>,
    /// The first time in the records, milliseconds since 1970.
    pub started: Option<i64>,
    /// The last time in the records.
    pub updated: Option<i64>,
    /// The best title the source has.
    pub title: Option<Title>,
    /// The first thing that the person typed.
    pub first_prompt: Option<FirstPrompt>,
    /// Models in the order of their first use.
    pub models: Vec<String>,
    /// What the person typed, times; see json.md for what is none.
    pub prompts: u64,
    /// Tool calls of the main conversation.
    pub tool_calls: u64,
    /// Those of them that failed.
    pub failed_tool_calls: u64,
    /// Ids of sub-agents this source knows of (started here, or being one), each once.
    pub subagents: Vec<String>,
    /// Times the conversation was replaced by a summary.
    pub compactions: u64,
    /// Responses, each once within the source, in the order of first appearance.
    pub responses: Vec<Response>,
    /// Cumulative counts that the source claims; the last one of each model. See [`super::Reads::settle`].
    pub claims: Vec<Claim>,
}

impl Part {
    /// The longest text kept in a part, bytes.
    pub const LONGEST: usize = 2_000;

    /// `text` cut to [`Part::LONGEST`] bytes at a character.
    pub fn short(text: &str) -> String {
        text[..text.floor_char_boundary(Self::LONGEST)].to_owned()
    }

    /// Widens the session's time to include `at` (milliseconds since 1970).
    pub fn seen(&mut self, at: i64) {
        self.started = Some(self.started.map_or(at, |started| started.min(at)));
        self.updated = Some(self.updated.map_or(at, |updated| updated.max(at)));
    }
}

/// A title and how much it is worth: the highest rank wins, among equals the later one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    /// 1: made by the agent; 2: made by the agent later, or better; 3: given by the person.
    pub rank: u8,
    /// The title.
    pub text: String,
}

/// The first thing that the person typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstPrompt {
    /// When, milliseconds since 1970, where the record says.
    pub at: Option<i64>,
    /// Its beginning.
    pub text: String,
}

/// One response of a model: what is billed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The agent's own id of it, hashed by [`Response::key`]: the same response in another file (a resumed or a
    /// forked session) has the same key and counts once. 0: it has no id, and is counted wherever it stands.
    pub key: u64,
    /// When, milliseconds since 1970; `None` goes into the bucket of unknown time (report D9).
    pub at: Option<i64>,
    /// The position of its model in [`Part::models`]; `None` when the record does not say.
    pub model: Option<u16>,
    /// Whose request it was.
    pub role: Role,
    /// Its tokens; `requests` is 1.
    pub tokens: Tokens,
    /// What the agent itself says it cost, millionths of a US dollar.
    pub cost: Option<u64>,
    /// The offset of its record in the source; for a response recorded several times, of the one that counts.
    pub offset: u64,
}

impl Response {
    /// The key of a response whose id (with what makes it unique) is `id`. Never 0.
    pub fn key(id: &[u8]) -> u64 {
        // FNV-1a, finished with the mixer of MurmurHash3: the same in every build and process, unlike std's hashers.
        let mut hash = id.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (hash ^ (hash >> 33)).max(1)
    }
}

/// A cumulative count: "so far this session took this much of this model".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// When it was written, milliseconds since 1970.
    pub at: Option<i64>,
    /// The position of the model in [`Part::models`].
    pub model: u16,
    /// The count; `requests` is 0 when the record does not tell.
    pub tokens: Tokens,
    /// What the agent itself says it cost, millionths of a US dollar.
    pub cost: Option<u64>,
    /// The offset of the record.
    pub offset: u64,
}
