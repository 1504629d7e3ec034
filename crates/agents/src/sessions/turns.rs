//! Turns of a conversation, from its pieces: what one speaker said at one time, with the tools that were called and what
//! they answered. It keeps one turn at a time.

use jiff::Timestamp;

use super::rows::{ToolUse, Turn};
use super::transcript::{Piece, Said, Speaker};

/// Groups pieces into turns.
#[derive(Debug, Default)]
pub struct Turns {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    turn: Turn,
    response: Option<String>,
    /// The ids of the calls in the turn.
    calls: Vec<String>,
}

impl Turns {
    /// Takes the next piece; the turn before it when that is complete now.
    pub fn take(&mut self, piece: Piece) -> Option<Turn> {
        let done = if self.goes_on(&piece) { None } else { self.open.take().map(|open| open.turn) };
        let open = self.open.get_or_insert_with(|| Open {
            turn: Turn {
                role: piece.speaker,
                at: piece.at.and_then(|at| Timestamp::from_millisecond(at).ok()).map(|at| at.to_string()),
                text: String::new(),
                reasoning: None,
                tools: Vec::new(),
                subagent: piece.subagent.clone(),
                model: piece.model.clone(),
                tokens: None,
            },
            response: piece.response.clone(),
            calls: Vec::new(),
        });
        open.response = open.response.take().or(piece.response);
        open.turn.tokens = open.turn.tokens.or(piece.tokens);
        open.turn.model = open.turn.model.take().or(piece.model);
        match piece.said {
            Said::Text(text) | Said::Compaction(text) | Said::Notice(text) => add(&mut open.turn.text, &text),
            Said::Reasoning(text) => add(open.turn.reasoning.get_or_insert_default(), &text),
            Said::Call { id, name, input } => {
                open.calls.push(id);
                open.turn.tools.push(ToolUse { name, input, output: None, ok: None });
            }
            Said::Result { id, output, ok } => open.answer(&id, output, ok),
            Said::Subagent { title, .. } => add(&mut open.turn.text, &title),
        }
        done
    }

    /// The last turn.
    pub fn finish(self) -> Option<Turn> {
        self.open.map(|open| open.turn)
    }

    fn goes_on(&self, piece: &Piece) -> bool {
        let Some(open) = &self.open else { return false };
        if open.turn.subagent != piece.subagent {
            return false;
        }
        match &piece.said {
            // What a tool answered belongs to whoever called it.
            Said::Result { id, .. } => open.calls.contains(id) || open.turn.role == piece.speaker,
            Said::Subagent { .. } => open.turn.role == piece.speaker,
            _ if open.turn.role != piece.speaker || piece.speaker != Speaker::Assistant => false,
            _ => match (&open.response, &piece.response) {
                (Some(open), Some(next)) => open == next,
                // Without ids a text ends what came before it with a text.
                _ => !matches!(piece.said, Said::Text(_) | Said::Reasoning(_)) || open.turn.text.is_empty(),
            },
        }
    }
}

impl Open {
    fn answer(&mut self, id: &str, output: String, ok: Option<bool>) {
        if let Some(tool) = self.calls.iter().position(|call| call == id).and_then(|at| self.turn.tools.get_mut(at)) {
            tool.output = Some(output);
            tool.ok = ok;
        } else {
            // Its call is not in sight: it is told all the same.
            self.calls.push(id.to_owned());
            self.turn.tools.push(ToolUse { name: String::new(), input: String::new(), output: Some(output), ok });
        }
    }
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(speaker: Speaker, response: Option<&str>, said: Said) -> Piece {
        let response = response.map(str::to_owned);
        Piece { offset: 0, at: None, speaker, subagent: None, model: None, response, tokens: None, said }
    }

    #[test]
    fn one_response_is_one_turn_with_its_tools() {
        let text = |text: &str| Said::Text(text.to_owned());
        let pieces = [
            piece(Speaker::User, None, text("do it")),
            piece(Speaker::Assistant, Some("r1"), Said::Reasoning("hm".into())),
            piece(Speaker::Assistant, Some("r1"), text("I look")),
            piece(
                Speaker::Assistant,
                Some("r1"),
                Said::Call { id: "c".into(), name: "Bash".into(), input: "ls".into() },
            ),
            piece(Speaker::Assistant, None, Said::Result { id: "c".into(), output: "a".into(), ok: Some(true) }),
            piece(Speaker::Assistant, Some("r2"), text("done")),
            piece(Speaker::User, None, text("one")),
            piece(Speaker::User, None, text("two")),
        ];
        let mut turns = Turns::default();
        let mut all: Vec<Turn> = pieces.into_iter().filter_map(|piece| turns.take(piece)).collect();
        all.extend(turns.finish());
        assert_eq!(
            all.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>(),
            ["do it", "I look", "done", "one", "two"]
        );
        assert_eq!(all[1].reasoning.as_deref(), Some("hm"));
        assert_eq!((all[1].tools[0].output.as_deref(), all[1].tools[0].ok), (Some("a"), Some(true)));
    }
}
