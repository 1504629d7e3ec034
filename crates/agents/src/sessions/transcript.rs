//! What was said in a conversation, piece by piece, in the order of the file. Adapters tell it; the transcript reader,
//! the export and the text store listen. Texts are as the file has them: untrusted.

use super::tokens::Tokens;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The agent program itself: a summary, a notice of a sub-agent's end. Never prompts or catalogues it sent.
    System,
}

/// One piece of a conversation. Copies of the same words (system prompts, logged requests, repeated records) are no
/// pieces: what a person would see in the agent's own screen, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where its record starts in the source: [`super::Reads::tell`] can begin there again.
    pub offset: u64,
    /// When, milliseconds since 1970, where the record says.
    pub at: Option<i64>,
    /// Who speaks.
    pub speaker: Speaker,
    /// The sub-agent's id when a sub-agent speaks.
    pub subagent: Option<String>,
    /// The model, where the record says.
    pub model: Option<String>,
    /// The response that the piece belongs to: equal for all pieces of one response, also when it is on many lines.
    pub response: Option<String>,
    /// The tokens of that response, on its first piece that has them.
    pub tokens: Option<Tokens>,
    /// What is said.
    pub said: Said,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Words: the person's prompt, the model's answer.
    Text(String),
    /// The model's reasoning, where it is readable.
    Reasoning(String),
    /// A tool is called.
    Call {
        /// The id that the result refers to.
        id: String,
        /// The tool's name.
        name: String,
        /// What it is called with, as the file has it (JSON or text).
        input: String,
    },
    /// What a tool answered.
    Result {
        /// The id of its call.
        id: String,
        /// The answer, as text.
        output: String,
        /// False when it failed, `None` when the record does not say.
        ok: Option<bool>,
    },
    /// What went before was replaced by this summary (empty when it is not recorded).
    Compaction(String),
    /// A sub-agent started; what it says is in its own pieces.
    Subagent {
        /// Its id.
        id: String,
        /// What kind it is, or what it was asked, in few words.
        title: String,
        /// The id of the call that started it, where known.
        call: Option<String>,
    },
    /// Something else that a person would see: an interruption, an error of the service.
    Notice(String),
}
