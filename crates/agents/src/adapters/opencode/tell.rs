//! Tells what was said in a session of OpenCode, sub-agents' words among the rest by time.

use std::ops::ControlFlow;

use rusqlite::Connection;

use super::facts::{is_summary, tokens, typed};
use super::rows::{Message, Step, roots, sessions, walk};
use crate::records::frame::{Frame, Sink};
use crate::records::{Record, shown};
use crate::sessions::{Piece, Said, Speaker};

/// Tells the session `root` from its piece number `from` on.
pub(super) fn tell(database: &Connection, root: &str, from: u64, sink: &mut Sink<'_>) -> rusqlite::Result<()> {
    let all = sessions(database)?;
    let of = roots(&all);
    let own: Vec<&str> =
        all.iter().map(|session| session.id.as_str()).filter(|id| of.get(id).is_some_and(|r| *r == root)).collect();
    let mut number = 0;
    let mut later = |piece: Piece| {
        let offset = number;
        number += 1;
        if offset < from { ControlFlow::Continue(()) } else { sink(Piece { offset, ..piece }) }
    };
    let mut told = false;
    let mut summary = String::new();
    walk(database, Some(&own), &mut |step| match step {
        Step::Message(_) => {
            told = false;
            summary.clear();
            ControlFlow::Continue(())
        }
        Step::Part(message, part) if is_summary(&message.data) => {
            summary.push_str(&part.text("text").filter(|_| part.is("type", "text")).unwrap_or_default());
            ControlFlow::Continue(())
        }
        Step::Part(message, part) => {
            let mut frame = frame(message, root, &mut later);
            frame.tokens = tokens(&message.data).filter(|_| !told);
            let before = frame.tokens.is_some();
            let flow = say(&mut frame, message, &part);
            told |= before && frame.tokens.is_none();
            flow
        }
        Step::End(message) => end(&mut frame(message, root, &mut later), message, std::mem::take(&mut summary)),
        Step::Bad(_) => ControlFlow::Continue(()),
    })
}

fn frame<'s, 'f>(message: &Message<'_>, root: &str, sink: &'s mut Sink<'f>) -> Frame<'s, 'f> {
    let mut frame = Frame::new(0, message.created, sink);
    frame.subagent = (message.session != root).then(|| message.session.to_owned());
    if message.data.is("role", "assistant") {
        frame.model = message.data.text("modelID").map(Into::into);
        frame.response = Some(message.id.to_owned());
    }
    frame
}

fn say(frame: &mut Frame<'_, '_>, message: &Message<'_>, part: &Record<'_>) -> ControlFlow<()> {
    if message.data.is("role", "user") {
        return match typed(part) {
            Some(text) => frame.say(Speaker::User, Said::Text(text)),
            None => ControlFlow::Continue(()),
        };
    }
    let own = |key: &str| part.text(key).unwrap_or_default().into_owned();
    match own("type").as_str() {
        "text" => frame.say(Speaker::Assistant, Said::Text(own("text"))),
        "reasoning" => frame.say(Speaker::Assistant, Said::Reasoning(own("text"))),
        "tool" => tool(frame, part),
        _ => ControlFlow::Continue(()),
    }
}

fn tool(frame: &mut Frame<'_, '_>, part: &Record<'_>) -> ControlFlow<()> {
    let state = part.object("state").unwrap_or_default();
    let [id, name] = ["callID", "tool"].map(|key| part.text(key).unwrap_or_default().into_owned());
    let input = state.raw("input").map(shown).unwrap_or_default();
    frame.say(Speaker::Assistant, Said::Call { id: id.clone(), name: name.clone(), input })?;
    if name == "task"
        && let Some(agent) = state.object("metadata").and_then(|metadata| metadata.text("sessionId"))
    {
        let title = state.text("title").unwrap_or_default().into_owned();
        frame.say(Speaker::Assistant, Said::Subagent { id: agent.into_owned(), title, call: Some(id.clone()) })?;
    }
    let (answer, ok) = match state.text("status").unwrap_or_default().as_ref() {
        "completed" => (state.raw("output"), true),
        "error" => (state.raw("error"), false),
        _ => return ControlFlow::Continue(()),
    };
    let output = answer.map(shown).unwrap_or_default();
    frame.say(Speaker::Assistant, Said::Result { id, output, ok: Some(ok) })
}

/// What is only known when all parts of a message were seen: a summary's words, and why it failed.
fn end(frame: &mut Frame<'_, '_>, message: &Message<'_>, summary: String) -> ControlFlow<()> {
    if is_summary(&message.data) {
        frame.tokens = tokens(&message.data);
        frame.say(Speaker::System, Said::Compaction(summary))?;
    }
    let Some(error) = message.data.object("error") else { return ControlFlow::Continue(()) };
    let words = error.object("data").and_then(|data| data.text("message")).or_else(|| error.text("name"));
    frame.say(Speaker::System, Said::Notice(words.unwrap_or_default().into_owned()))
}
