//! What the pieces of one record have in common. Values only; the adapters' tellers use it.

use std::ops::ControlFlow;

use super::{Raw, Record, object, text};
use crate::sessions::{Piece, Said, Speaker, Tokens};

/// Who listens.
pub(crate) type Sink<'a> = dyn FnMut(Piece) -> ControlFlow<()> + 'a;

/// One record that is being told.
pub(crate) struct Frame<'s, 'f> {
    /// Where it starts.
    pub(crate) offset: u64,
    /// Its time.
    pub(crate) at: Option<i64>,
    /// The sub-agent that speaks.
    pub(crate) subagent: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The response that it belongs to.
    pub(crate) response: Option<String>,
    /// The response's tokens: the first piece takes them.
    pub(crate) tokens: Option<Tokens>,
    sink: &'s mut Sink<'f>,
}

impl<'s, 'f> Frame<'s, 'f> {
    /// A record at `offset` of which nothing is known yet.
    pub(crate) fn new(offset: u64, at: Option<i64>, sink: &'s mut Sink<'f>) -> Self {
        Self { offset, at, subagent: None, model: None, response: None, tokens: None, sink }
    }

    /// Tells one piece; words that are none are left out.
    pub(crate) fn say(&mut self, speaker: Speaker, said: Said) -> ControlFlow<()> {
        if let Said::Text(words) | Said::Reasoning(words) | Said::Notice(words) = &said
            && words.trim().is_empty()
        {
            return ControlFlow::Continue(());
        }
        (self.sink)(Piece {
            offset: self.offset,
            at: self.at,
            speaker,
            subagent: self.subagent.clone(),
            model: self.model.clone(),
            response: self.response.clone(),
            tokens: self.tokens.take(),
            said,
        })
    }
}

/// The words of a content that is a text, or a list of texts and blocks with a `text`, one below the other.
pub(crate) fn words(content: Option<Raw<'_>>) -> String {
    let Some(content) = content else { return String::new() };
    if let Some(text) = text(content) {
        return text.into_owned();
    }
    let block = |raw| text(raw).or_else(|| object(raw).and_then(|block: Record<'_>| block.text("text")));
    let blocks: Vec<_> = super::list(content).into_iter().filter_map(block).collect();
    blocks.join("\n")
}
