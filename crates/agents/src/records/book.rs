//! Facts while they are being gathered: finds sessions, responses, models and sub-agents by name, so that a file of
//! any size is read in time proportional to it. It reads nothing itself; the adapters' readers keep one.

use std::collections::{HashMap, HashSet};

use super::{Record, lines};
use crate::sessions::{Facts, FirstPrompt, Part, Response, Title};

/// Facts and where in them everything stands. The positions of sessions never change.
#[derive(Debug, Default)]
pub(crate) struct Book {
    facts: Facts,
    parts: HashMap<String, usize>,
    responses: HashMap<(usize, u64), usize>,
    models: HashMap<(usize, String), u16>,
    subagents: HashSet<(usize, String)>,
}

/// Why a response, or a sum, is left out.
pub(crate) const IMPOSSIBLE: &str = "an impossible number of tokens";

/// The longest id of a session, bytes.
const LONGEST_ID: usize = 256;

/// True for an id that can be one: not empty, not endless, nothing in it that a terminal obeys.
pub(crate) fn is_id(id: &str) -> bool {
    !id.trim().is_empty() && id.len() <= LONGEST_ID && sys::text::clean(id) == id
}

/// An id as it is; what cannot be one is named by its hash.
fn id_of(id: &str) -> std::borrow::Cow<'_, str> {
    if is_id(id) { id.into() } else { format!("unnamed-{:016x}", Response::key(id.as_bytes())).into() }
}

impl Book {
    /// A new one, or one that goes on from `before`.
    pub(crate) fn new(before: Option<Facts>) -> Self {
        let mut book = Self { facts: before.unwrap_or_default(), ..Self::default() };
        for (at, part) in book.facts.parts.iter().enumerate() {
            book.parts.insert(part.session.clone(), at);
            for (index, response) in part.responses.iter().enumerate().filter(|(_, response)| response.key != 0) {
                book.responses.insert((at, response.key), index);
            }
            for (index, model) in part.models.iter().enumerate() {
                book.models.insert((at, model.clone()), u16::try_from(index).unwrap_or(u16::MAX));
            }
            book.subagents.extend(part.subagents.iter().map(|id| (at, id.clone())));
        }
        book
    }

    /// What is carried from an earlier reading; empty at a beginning.
    pub(crate) fn carried(&self) -> &[u8] {
        &self.facts.carry
    }

    /// The facts, to be gone on from with `carry`.
    pub(crate) fn finish(mut self, carry: Vec<u8>) -> Facts {
        self.facts.carry = carry;
        self.facts
    }

    /// The position of `session`'s part, made by `new` when it is not there yet. An id that cannot be one is replaced.
    pub(crate) fn session(&mut self, session: &str, new: impl FnOnce() -> Part) -> usize {
        let session = &*id_of(session);
        if let Some(at) = self.parts.get(session) {
            return *at;
        }
        let at = self.facts.parts.len();
        self.facts.parts.push(Part { session: session.to_owned(), ..new() });
        self.parts.insert(session.to_owned(), at);
        at
    }

    /// The part at a position that [`Book::session`] gave.
    pub(crate) fn part(&mut self, at: usize) -> &mut Part {
        &mut self.facts.parts[at]
    }

    /// The number of the model `name` in the part at `at`.
    pub(crate) fn model(&mut self, at: usize, name: &str) -> u16 {
        let name = Part::short(name);
        if let Some(number) = self.models.get(&(at, name.clone())) {
            return *number;
        }
        // As `Part::model`, which would look through all of them first.
        let models = &mut self.facts.parts[at].models;
        if models.len() < 65_000 {
            models.push(name.clone());
        }
        let number = u16::try_from(models.len() - 1).unwrap_or(u16::MAX);
        self.models.insert((at, name), number);
        number
    }

    /// Notes that the session knows of the sub-agent `id`.
    pub(crate) fn subagent(&mut self, at: usize, id: &str) {
        let id = Part::short(id);
        if self.subagents.insert((at, id.clone())) {
            self.facts.parts[at].subagents.push(id);
        }
    }

    /// Adds a response; one with a key that is there already takes its place (the last record of a response counts). One
    /// whose numbers cannot be is left out, and that is counted.
    pub(crate) fn bill(&mut self, at: usize, response: Response) {
        if response.tokens.are_impossible() {
            self.facts.skip(response.offset, IMPOSSIBLE);
            return;
        }
        let responses = &mut self.facts.parts[at].responses;
        if response.key != 0 {
            if let Some(index) = self.responses.get(&(at, response.key)) {
                responses[*index] = response;
                return;
            }
            self.responses.insert((at, response.key), responses.len());
        }
        responses.push(response);
    }

    /// True when the part at `at` has a response with this key.
    pub(crate) fn billed(&self, at: usize, key: u64) -> bool {
        self.responses.contains_key(&(at, key))
    }

    /// The response of the part at `at` with this key.
    pub(crate) fn response(&self, at: usize, key: u64) -> Option<&Response> {
        self.responses.get(&(at, key)).map(|index| &self.facts.parts[at].responses[*index])
    }

    /// A prompt of the person: counted, and kept when it is the first with words.
    pub(crate) fn prompt(&mut self, at: usize, when: Option<i64>, text: &str) {
        let part = &mut self.facts.parts[at];
        part.prompts += 1;
        if part.first_prompt.is_none() && !text.trim().is_empty() {
            part.first_prompt = Some(FirstPrompt { at: when, text: Part::short(text) });
        }
    }

    /// A title, kept when it is worth as much as the one there is. Without words it is none.
    pub(crate) fn title(&mut self, at: usize, rank: u8, text: &str) {
        let part = &mut self.facts.parts[at];
        if !text.trim().is_empty() && part.title.as_ref().is_none_or(|title| title.rank <= rank) {
            part.title = Some(Title { rank, text: Part::short(text) });
        }
    }

    /// Counts a line, or a row, that is read by other means than [`Book::records`].
    pub(crate) fn line(&mut self) {
        self.facts.lines += 1;
    }

    /// Counts one that was left out.
    pub(crate) fn skip(&mut self, at: u64, why: &str) {
        self.facts.skip(at, why);
    }

    /// Hands the records in `chunk` to `each`, in order, with their offsets; counts the lines, and those left out.
    pub(crate) fn records(
        &mut self,
        chunk: &[u8],
        at: u64,
        mut each: impl FnMut(&mut Self, u64, &Record<'_>) -> Result<(), &'static str>,
    ) {
        for (at, line) in lines::of(chunk, at) {
            self.facts.lines += 1;
            let read = match lines::decode(line) {
                Ok(None) => Ok(()),
                Ok(Some(text)) => Record::parse(&text).and_then(|record| each(self, at, &record)),
                Err(why) => Err(why),
            };
            if let Err(why) = read {
                self.facts.skip(at, why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::{Role, Tokens};

    #[test]
    fn what_cannot_be_is_left_out_and_said() {
        let mut book = Book::default();
        let part = book.session("s", Part::default);
        let response =
            |key, tokens| Response { key, at: None, model: None, role: Role::Main, tokens, cost: None, offset: key };
        book.bill(part, response(1, Tokens { output: 7, requests: 1, ..Tokens::default() }));
        // Neither counted nor in the place of what was.
        book.bill(part, response(1, Tokens { output: Tokens::IMPOSSIBLE, ..Tokens::default() }));
        book.bill(part, response(2, Tokens { reasoning: Some(2_000_000_000_000), ..Tokens::default() }));
        let facts = book.finish(Vec::new());
        assert_eq!(facts.parts[0].responses.iter().map(|one| one.tokens.output).collect::<Vec<_>>(), [7]);
        assert_eq!((facts.skipped.len(), facts.skipped[0].lines, facts.skipped[0].first_at), (1, 2, 1));
    }

    #[test]
    fn an_id_is_something_that_can_be_typed() {
        let mut book = Book::default();
        for (given, kept) in
            [("a-1 b", true), ("größe", true), ("", false), ("  ", false), ("a\u{1b}[31m", false), ("\n", false)]
        {
            let part = book.session(given, Part::default);
            let id = book.part(part).session.clone();
            assert_eq!(id == given, kept, "{given:?}");
            assert!(is_id(&id));
        }
        assert_eq!(book.finish(Vec::new()).parts.len(), 6, "each of them is another one");
        assert!(!is_id(&"x".repeat(300)));
    }
}
