//! Tells what was said in a transcript of Qwen Code, or in one of its sub-agents.

use std::ops::ControlFlow;

use super::reader::{is_prompt, metadata, prompt};
use crate::records::frame::{Frame, Sink, words};
use crate::records::{Record, object, shown};
use crate::sessions::{Said, Speaker};

/// Tells one line of the file.
pub(super) fn line(offset: u64, text: &str, sink: &mut Sink<'_>) -> ControlFlow<()> {
    let Ok(record) = Record::parse(text) else { return ControlFlow::Continue(()) };
    let mut frame = Frame::new(offset, record.time("timestamp"), sink);
    frame.subagent = record.text("agentId").map(Into::into);
    let message = record.object("message").unwrap_or_default();
    match record.text("type").unwrap_or_default().as_ref() {
        "user" if is_prompt(&record) => frame.say(Speaker::User, Said::Text(prompt(&record))),
        "user" => frame.say(Speaker::System, Said::Notice(prompt(&record))),
        "assistant" => answer(&mut frame, &record, &message),
        "tool_result" => results(&mut frame, &record, &message),
        "system" if record.is("subtype", "chat_compression") => {
            let payload = record.object("systemPayload").unwrap_or_default();
            let first = payload.objects("compressedHistory").next().unwrap_or_default();
            frame.say(Speaker::System, Said::Compaction(words(first.raw("parts"))))
        }
        _ => ControlFlow::Continue(()),
    }
}

fn answer(frame: &mut Frame<'_, '_>, record: &Record<'_>, message: &Record<'_>) -> ControlFlow<()> {
    frame.model = record.text("model").map(Into::into);
    frame.response = record.text("uuid").map(Into::into);
    frame.tokens = metadata(record);
    for part in message.objects("parts") {
        if let Some(call) = part.raw("functionCall").and_then(object) {
            called(frame, &call)?;
        } else if let Some(text) = part.text("text") {
            let thought = part.truth("thought") == Some(true);
            let said = if thought { Said::Reasoning(text.into()) } else { Said::Text(text.into()) };
            frame.say(Speaker::Assistant, said)?;
        }
    }
    ControlFlow::Continue(())
}

fn called(frame: &mut Frame<'_, '_>, call: &Record<'_>) -> ControlFlow<()> {
    let own = |key: &str| call.text(key).unwrap_or_default().into_owned();
    let (id, name) = (own("id"), own("name"));
    let input = call.raw("args").map(shown).unwrap_or_default();
    let starts = name == "agent" || name == "task";
    frame.say(Speaker::Assistant, Said::Call { id: id.clone(), name, input })?;
    if !starts {
        return ControlFlow::Continue(());
    }
    let args = call.object("args").unwrap_or_default();
    let kind = args.text("subagent_type").unwrap_or("general-purpose".into());
    let title = args.text("description").unwrap_or_else(|| kind.clone()).into_owned();
    frame.say(Speaker::Assistant, Said::Subagent { id: format!("{kind}-{id}"), title, call: Some(id) })
}

fn results(frame: &mut Frame<'_, '_>, record: &Record<'_>, message: &Record<'_>) -> ControlFlow<()> {
    let status = record.object("toolCallResult").and_then(|result| result.text("status"));
    for part in message.objects("parts") {
        let Some(answer) = part.raw("functionResponse").and_then(object) else { continue };
        let response = answer.object("response").unwrap_or_default();
        let output = response.raw("output").or_else(|| response.raw("error")).or_else(|| answer.raw("response"));
        let ok = status.as_deref().map(|status| status == "success");
        let id = answer.text("id").unwrap_or_default().into_owned();
        frame.say(Speaker::Assistant, Said::Result { id, output: output.map(shown).unwrap_or_default(), ok })?;
    }
    ControlFlow::Continue(())
}
