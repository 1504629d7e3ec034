//! Tells what was said in a chat of Gemini CLI. A message is written again whenever more of it is known: what is new
//! in it is told where it stands, the rest was told before.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::reader::{Shelf, is_summary, prompt, tokens};
use crate::records::frame::{Frame, Sink, words};
use crate::records::{Record, object, shown, text};
use crate::sessions::{Said, Speaker};

/// What was told so far.
pub(super) struct Teller {
    subagent: Option<String>,
    is_subagent: bool,
    messages: HashSet<String>,
    done: HashSet<String>,
}

impl Teller {
    /// A teller of a file in `shelf`.
    pub(super) fn new(shelf: &Shelf) -> Self {
        Self { subagent: None, is_subagent: shelf.subagent, messages: HashSet::new(), done: HashSet::new() }
    }

    /// Tells one line of the file.
    pub(super) fn line(&mut self, offset: u64, line: &str, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let Ok(record) = Record::parse(line) else { return ControlFlow::Continue(()) };
        if record.raw("id").is_some() {
            return self.message(offset, &record, sink);
        }
        if self.is_subagent
            && let Some(id) = record.text("sessionId")
        {
            self.subagent = Some(id.into_owned());
        }
        let Some(set) = record.object("$set") else { return ControlFlow::Continue(()) };
        for record in set.objects("messages") {
            let id = record.text("id").unwrap_or_default().into_owned();
            if self.messages.insert(id) && is_summary(&record) {
                let mut frame = Frame::new(offset, record.time("timestamp"), sink);
                frame.say(Speaker::System, Said::Compaction(words(record.raw("content"))))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells what is new in a message.
    pub(super) fn message(&mut self, offset: u64, record: &Record<'_>, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let id = record.text("id").unwrap_or_default().into_owned();
        let first = self.messages.insert(id.clone());
        let mut frame = Frame::new(offset, record.time("timestamp"), sink);
        frame.subagent.clone_from(&self.subagent);
        match record.text("type").unwrap_or_default().as_ref() {
            "user" => match prompt(record).filter(|_| first) {
                Some(text) => frame.say(Speaker::User, Said::Text(text)),
                None => ControlFlow::Continue(()),
            },
            "gemini" => self.answer(&mut frame, &id, record),
            "info" | "warning" | "error" if first => {
                frame.say(Speaker::System, Said::Notice(words(record.raw("content"))))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn new_in(&mut self, what: [&str; 3]) -> bool {
        self.done.insert(what.join("\0"))
    }

    fn answer(&mut self, frame: &mut Frame<'_, '_>, id: &str, record: &Record<'_>) -> ControlFlow<()> {
        frame.model = record.text("model").map(Into::into);
        frame.response = Some(id.to_owned());
        if let Some(told) = tokens(record)
            && self.new_in(["tokens", id, ""])
        {
            frame.tokens = Some(told);
        }
        let thoughts: Vec<_> = record.objects("thoughts").map(|thought| thought_of(&thought)).collect();
        if !thoughts.is_empty() && self.new_in(["thoughts", id, ""]) {
            frame.say(Speaker::Assistant, Said::Reasoning(thoughts.join("\n\n")))?;
        }
        let said = spoken(record);
        if !said.trim().is_empty() && self.new_in(["text", id, ""]) {
            frame.say(Speaker::Assistant, Said::Text(said))?;
        }
        for call in record.objects("toolCalls") {
            self.called(frame, id, &call)?;
        }
        ControlFlow::Continue(())
    }

    fn called(&mut self, frame: &mut Frame<'_, '_>, message: &str, call: &Record<'_>) -> ControlFlow<()> {
        let own = |key: &str| call.text(key).unwrap_or_default().into_owned();
        let id = own("id");
        if self.new_in(["call", message, &id]) {
            let input = call.raw("args").map(shown).unwrap_or_default();
            frame.say(Speaker::Assistant, Said::Call { id: id.clone(), name: own("name"), input })?;
        }
        let agent = own("agentId");
        if !agent.is_empty() && self.new_in(["agent", message, &id]) {
            let args = call.object("args").unwrap_or_default();
            let title = args.text("agent_name").unwrap_or_default().into_owned();
            frame.say(Speaker::Assistant, Said::Subagent { id: agent, title, call: Some(id.clone()) })?;
        }
        if call.raw("result").is_some() && self.new_in(["result", message, &id]) {
            let ok = call.text("status").map(|status| status == "success");
            frame.say(Speaker::Assistant, Said::Result { id, output: result(call), ok })?;
        }
        ControlFlow::Continue(())
    }
}

fn thought_of(thought: &Record<'_>) -> String {
    let [subject, description] = ["subject", "description"].map(|key| thought.text(key).unwrap_or_default());
    [subject, description].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The words of an answer, without its thoughts where they stand among them.
fn spoken(record: &Record<'_>) -> String {
    if let Some(text) = record.text("content") {
        return text.into_owned();
    }
    let parts = record.objects("content").filter(|part| part.truth("thought") != Some(true));
    parts.filter_map(|part| part.text("text").map(Into::into)).collect::<Vec<String>>().join("\n")
}

/// What a tool answered: a text, or a list of answers with an `output` or an `error`.
fn result(call: &Record<'_>) -> String {
    let Some(raw) = call.raw("result") else { return String::new() };
    if let Some(text) = text(raw) {
        return text.into_owned();
    }
    let answer = |raw| {
        let response = object(raw)?.object("functionResponse")?.object("response")?;
        response.raw("output").or_else(|| response.raw("error")).map(shown)
    };
    let answers: Vec<String> = call.list("result").into_iter().filter_map(answer).collect();
    if answers.is_empty() { raw.get().to_owned() } else { answers.join("\n") }
}
