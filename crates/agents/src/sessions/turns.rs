//! Groups the pieces of a conversation into turns and numbers them: one rule for `sessions show`, the transcript
//! reader, the export and the text store, so that "turn 7" is the same everywhere. Pure: it reads nothing.
//! A conversation in several sources is numbered through: the next source goes on where the last one ended.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::rows::{ToolUse, Turn};
use super::transcript::{Piece, Said, Speaker};

/// Calls whose result is still awaited, at most; the oldest is forgotten first.
const OPEN_CALLS: usize = 1_000;
/// Turns held back because results of theirs are missing, at most.
const HELD_TURNS: usize = 64;

/// Gives every piece the number of its turn. Small, and can be stored to go on later.
///
/// A turn is: the pieces of one response; consecutive pieces of the model where the agent names no responses; one
/// record of the person or of the agent program. Results belong to the turn of their call, however late they come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbering {
    turns: u64,
    last: Option<Key>,
    calls: VecDeque<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    speaker: Speaker,
    subagent: Option<String>,
    response: Option<String>,
    offset: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Call {
    id: String,
    name: String,
    turn: u64,
}

/// The place of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The turn's number, from 0.
    pub turn: u64,
    /// True for the first piece of a turn.
    pub new: bool,
    /// For a result: the name of the tool that was called, when its call was seen.
    pub tool: Option<String>,
}

impl Numbering {
    /// A numbering that begins with `turn`.
    pub fn from(turn: u64) -> Self {
        Self { turns: turn, ..Self::default() }
    }

    /// How many turns there are so far; the number of the next one.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// True when no result of an earlier call is awaited: who begins to listen here misses nothing.
    pub fn settled(&self) -> bool {
        self.calls.is_empty()
    }

    /// The place of the next piece.
    pub fn place(&mut self, piece: &Piece) -> Place {
        match &piece.said {
            Said::Result { id, .. } => {
                if let Some(at) = self.calls.iter().rposition(|call| call.id == *id)
                    && let Some(call) = self.calls.remove(at)
                {
                    return Place { turn: call.turn, new: false, tool: Some(call.name) };
                }
                self.joined(piece)
            }
            Said::Subagent { .. } => self.joined(piece),
            _ => {
                let place = self.keyed(piece);
                if let Said::Call { id, name, .. } = &piece.said {
                    if self.calls.len() == OPEN_CALLS {
                        self.calls.pop_front();
                    }
                    self.calls.push_back(Call { id: id.clone(), name: name.clone(), turn: place.turn });
                }
                place
            }
        }
    }

    /// The current turn, whoever has it; a new one when there is none.
    fn joined(&mut self, piece: &Piece) -> Place {
        match self.last {
            Some(_) => Place { turn: self.turns.saturating_sub(1), new: false, tool: None },
            None => self.keyed(piece),
        }
    }

    fn keyed(&mut self, piece: &Piece) -> Place {
        let same = self.last.as_ref().is_some_and(|last| {
            last.speaker == piece.speaker
                && last.subagent == piece.subagent
                && match (&last.response, &piece.response) {
                    (Some(last), Some(this)) => last == this,
                    (None, None) => piece.speaker == Speaker::Assistant || last.offset == piece.offset,
                    _ => false,
                }
        });
        if !same {
            self.turns += 1;
            self.last = Some(Key {
                speaker: piece.speaker,
                subagent: piece.subagent.clone(),
                response: piece.response.clone(),
                offset: piece.offset,
            });
        }
        Place { turn: self.turns - 1, new: !same, tool: None }
    }
}

/// Turns made of pieces, streaming. A turn is handed out when the next one began and all its results are there, always
/// in order; when more than 64 are held back the first goes out as it is, and what comes later for it joins the
/// current turn as a tool use without input.
#[derive(Debug, Default)]
pub struct Turns {
    numbering: Numbering,
    first: u64,
    held: VecDeque<Held>,
}

#[derive(Debug)]
struct Held {
    turn: Turn,
    /// The id of the call of each tool use, until its result came.
    open: Vec<Option<String>>,
}

impl Turns {
    /// Turns whose numbers begin with `first`.
    pub fn from(first: u64) -> Self {
        Self { numbering: Numbering::from(first), first, held: VecDeque::new() }
    }

    /// The number of the next turn.
    pub fn next_number(&self) -> u64 {
        self.numbering.turns()
    }

    /// Takes the next piece; `emit` gets the turns that are complete now, each with its number.
    pub fn push(&mut self, piece: Piece, emit: &mut dyn FnMut(u64, Turn)) {
        let place = self.numbering.place(&piece);
        if place.new {
            self.held.push_back(Held { turn: empty(&piece), open: Vec::new() });
        }
        let at = usize::try_from(place.turn.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let at = if place.turn >= self.first && at < self.held.len() { at } else { self.held.len().saturating_sub(1) };
        if let Some(held) = self.held.get_mut(at) {
            held.take(piece, place.tool);
        }
        while self.held.len() > 1
            && (self.held.len() > HELD_TURNS
                || self.held.front().is_some_and(|held| held.open.iter().all(Option::is_none)))
        {
            self.pop(emit);
        }
    }

    /// Hands out what is still held, and starts again behind it: the next source of the same conversation.
    pub fn end(&mut self, emit: &mut dyn FnMut(u64, Turn)) {
        while !self.held.is_empty() {
            self.pop(emit);
        }
        *self = Self::from(self.numbering.turns());
    }

    fn pop(&mut self, emit: &mut dyn FnMut(u64, Turn)) {
        if let Some(held) = self.held.pop_front() {
            emit(self.first, held.turn);
            self.first += 1;
        }
    }
}

impl Held {
    fn take(&mut self, piece: Piece, tool: Option<String>) {
        let turn = &mut self.turn;
        turn.model = turn.model.take().or(piece.model);
        turn.tokens = turn.tokens.take().or(piece.tokens);
        match piece.said {
            Said::Text(text) | Said::Compaction(text) | Said::Notice(text) => paragraph(&mut turn.text, &text),
            Said::Reasoning(text) => paragraph(turn.reasoning.get_or_insert_default(), &text),
            Said::Call { id, name, input } => {
                turn.tools.push(ToolUse { name, input, output: None, ok: None });
                self.open.push(Some(id));
            }
            Said::Result { id, output, ok } => {
                let at = self.open.iter().position(|open| open.as_deref() == Some(id.as_str()));
                match at {
                    Some(at) => {
                        self.open[at] = None;
                        turn.tools[at].output = Some(output);
                        turn.tools[at].ok = ok;
                    }
                    None => {
                        let name = tool.unwrap_or_default();
                        turn.tools.push(ToolUse { name, input: String::new(), output: Some(output), ok });
                        self.open.push(None);
                    }
                }
            }
            Said::Subagent { .. } => {}
        }
    }
}

fn empty(piece: &Piece) -> Turn {
    Turn {
        role: piece.speaker,
        at: piece.at.and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).map(|at| at.to_string()),
        text: String::new(),
        reasoning: None,
        tools: Vec::new(),
        subagent: piece.subagent.clone(),
        model: None,
        tokens: None,
    }
}

fn paragraph(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, speaker: Speaker, response: Option<&str>, said: Said) -> Piece {
        let response = response.map(str::to_owned);
        Piece { offset, at: Some(0), speaker, subagent: None, model: None, response, tokens: None, said }
    }

    fn call(id: &str) -> Said {
        Said::Call { id: id.into(), name: "Bash".into(), input: "{}".into() }
    }

    fn result(id: &str) -> Said {
        Said::Result { id: id.into(), output: format!("out {id}"), ok: Some(true) }
    }

    fn all(pieces: Vec<Piece>) -> Vec<(u64, Turn)> {
        let (mut turns, mut got) = (Turns::default(), Vec::new());
        pieces.into_iter().for_each(|piece| turns.push(piece, &mut |n, turn| got.push((n, turn))));
        turns.end(&mut |n, turn| got.push((n, turn)));
        got
    }

    #[test]
    fn a_response_on_many_lines_is_one_turn_and_late_results_find_their_call() {
        use Speaker::{Assistant, User};
        let got = all(vec![
            piece(0, User, None, Said::Text("do".into())),
            piece(1, Assistant, Some("a"), Said::Reasoning("hm".into())),
            piece(2, Assistant, Some("a"), call("1")),
            piece(3, User, None, result("1")),
            piece(4, Assistant, Some("a"), call("2")),
            piece(5, Assistant, Some("b"), Said::Text("done".into())),
            piece(6, User, None, result("2")),
            piece(7, User, None, Said::Text("x".into())),
            piece(8, User, None, Said::Text("y".into())),
        ]);
        assert_eq!(got.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let outputs: Vec<_> = got[1].1.tools.iter().map(|tool| tool.output.as_deref()).collect();
        assert_eq!(outputs, [Some("out 1"), Some("out 2")]);
        assert_eq!(got[1].1.at.as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(got[2].1.text, "done");
    }

    #[test]
    fn turns_without_results_do_not_pile_up_and_nothing_is_lost() {
        let mut pieces = Vec::new();
        for n in 0..200_u64 {
            pieces.push(piece(n, Speaker::Assistant, Some(&n.to_string()), call(&n.to_string())));
        }
        pieces.push(piece(200, Speaker::User, None, result("0")));
        let got = all(pieces);
        assert_eq!(got.len(), 200);
        assert!(got.iter().enumerate().all(|(at, (n, _))| at as u64 == *n));
        assert_eq!(got.iter().flat_map(|(_, turn)| &turn.tools).filter(|tool| tool.output.is_some()).count(), 1);
    }

    #[test]
    fn numbering_goes_on_from_what_was_stored() {
        let pieces = [
            piece(0, Speaker::User, None, Said::Text("a".into())),
            piece(1, Speaker::Assistant, Some("r"), call("1")),
            piece(2, Speaker::User, None, result("1")),
            piece(3, Speaker::Assistant, Some("r"), Said::Text("b".into())),
        ];
        let mut whole = Numbering::default();
        let mut cut = Numbering::default();
        for piece in &pieces {
            cut = serde_json::from_str(&serde_json::to_string(&cut).unwrap()).unwrap();
            assert_eq!(whole.place(piece), cut.place(piece));
        }
        assert_eq!(whole.turns(), 2);
    }
}
