//! Tells what was said in a transcript of Claude Code, in the order of its file.

use std::ops::ControlFlow;

use super::reader::{NO_MODEL, is_interruption, prompt};
use crate::records::frame::{Frame, Sink, words};
use crate::records::{Record, shown};
use crate::sessions::{Said, Speaker};

/// Tells one line of the file; `subagent` is the one whose own file it is.
pub(super) fn line(offset: u64, text: &str, subagent: Option<&str>, sink: &mut Sink<'_>) -> ControlFlow<()> {
    // Copies and listings are most of the bytes; their kind stands first.
    if text.starts_with("{\"type\":\"api-request") {
        return ControlFlow::Continue(());
    }
    let Ok(record) = Record::parse(text) else { return ControlFlow::Continue(()) };
    let mut frame = Frame::new(offset, record.time("timestamp"), sink);
    let side = record.truth("isSidechain") == Some(true);
    frame.subagent = subagent.map(str::to_owned);
    if side && frame.subagent.is_none() {
        frame.subagent = Some(record.text("agentId").map_or_else(|| "sidechain".to_owned(), Into::into));
    }
    match record.text("type").unwrap_or_default().as_ref() {
        "user" => typed(&mut frame, &record),
        "assistant" => answer(&mut frame, &record),
        "system" => match record.text("subtype").unwrap_or_default().as_ref() {
            // The summary itself follows as a user's record.
            "compact_boundary" | "local_command" => ControlFlow::Continue(()),
            "api_error" => frame.say(Speaker::System, Said::Notice(words(record.raw("content")))),
            _ => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    }
}

fn typed(frame: &mut Frame<'_, '_>, record: &Record<'_>) -> ControlFlow<()> {
    let Some(message) = record.object("message") else { return ControlFlow::Continue(()) };
    if record.truth("isCompactSummary") == Some(true) {
        return frame.say(Speaker::System, Said::Compaction(words(message.raw("content"))));
    }
    if frame.subagent.is_some() && record.truth("isMeta") != Some(true) {
        let asked = message.objects("content").all(|block| !block.is("type", "tool_result"));
        if asked {
            return frame.say(Speaker::User, Said::Text(words(message.raw("content"))));
        }
    }
    for block in message.objects("content").filter(|block| block.is("type", "tool_result")) {
        let id = block.text("tool_use_id").unwrap_or_default().into_owned();
        let ok = Some(block.truth("is_error") != Some(true));
        let call = id.clone();
        frame.say(Speaker::Assistant, Said::Result { id, output: words(block.raw("content")), ok })?;
        // The answer of the tool that starts a sub-agent says which one it started.
        if let Some(started) = record.object("toolUseResult")
            && let Some(id) = started.text("agentId")
        {
            let title = started.text("description").unwrap_or_default().into_owned();
            frame.say(Speaker::Assistant, Said::Subagent { id: id.into_owned(), title, call: Some(call) })?;
        }
    }
    if let Some(text) = prompt(record, &message) {
        return frame.say(Speaker::User, Said::Text(text));
    }
    let text = words(message.raw("content"));
    match text.trim_start() {
        start if is_interruption(start) => frame.say(Speaker::System, Said::Notice(text)),
        start if start.starts_with("<task-notification>") => {
            frame.say(Speaker::System, Said::Notice(between(&text, "summary")))
        }
        _ => ControlFlow::Continue(()),
    }
}

/// What stands between the tags called `name`; all of it without.
fn between(text: &str, name: &str) -> String {
    let inside = text.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once(&format!("</{name}>")));
    inside.map_or(text, |(inside, _)| inside).trim().to_owned()
}

fn answer(frame: &mut Frame<'_, '_>, record: &Record<'_>) -> ControlFlow<()> {
    let Some(message) = record.object("message") else { return ControlFlow::Continue(()) };
    frame.model = message.text("model").filter(|model| model != NO_MODEL).map(Into::into);
    frame.response = message.text("id").map(Into::into);
    // On every line of a response: who adds them up counts each response once.
    frame.tokens =
        message.object("usage").map(|usage| super::reader::tokens(&usage)).filter(|tokens| tokens.total() > 0);
    if let Some(text) = message.text("content") {
        return frame.say(Speaker::Assistant, Said::Text(text.into_owned()));
    }
    for block in message.objects("content") {
        let own = |key: &str| block.text(key).unwrap_or_default().into_owned();
        let said = match own("type").as_str() {
            "text" if frame.model.is_none() => Said::Notice(own("text")),
            "text" => Said::Text(own("text")),
            "thinking" => Said::Reasoning(own("thinking")),
            "tool_use" => {
                let input = block.raw("input").map(shown).unwrap_or_default();
                Said::Call { id: own("id"), name: own("name"), input }
            }
            _ => continue,
        };
        frame.say(Speaker::Assistant, said)?;
    }
    ControlFlow::Continue(())
}
