//! Tells what was said in a session of Pi, in the order of its file: all branches of its tree, as they were typed.

use std::ops::ControlFlow;

use super::reader::usage;
use crate::records::frame::{Frame, Sink, words};
use crate::records::{Record, shown};
use crate::sessions::{Said, Speaker};

/// Tells one line of the file.
pub(super) fn line(offset: u64, text: &str, sink: &mut Sink<'_>) -> ControlFlow<()> {
    let Ok(record) = Record::parse(text) else { return ControlFlow::Continue(()) };
    let mut frame = Frame::new(offset, record.time("timestamp"), sink);
    frame.tokens = usage(&record).map(|(tokens, _)| tokens);
    let summary = || record.text("summary").unwrap_or_default().into_owned();
    match record.text("type").unwrap_or_default().as_ref() {
        "message" => match record.object("message") {
            Some(message) => say(&mut frame, &record, &message),
            None => ControlFlow::Continue(()),
        },
        "compaction" => frame.say(Speaker::System, Said::Compaction(summary())),
        "branch_summary" => frame.say(Speaker::System, Said::Notice(summary())),
        "custom_message" => notice(&mut frame, &record),
        _ => ControlFlow::Continue(()),
    }
}

fn say(frame: &mut Frame<'_, '_>, record: &Record<'_>, message: &Record<'_>) -> ControlFlow<()> {
    frame.at = frame.at.or_else(|| message.time("timestamp"));
    let own = |key: &str| message.text(key).unwrap_or_default().into_owned();
    match own("role").as_str() {
        "user" => frame.say(Speaker::User, Said::Text(words(message.raw("content")))),
        "assistant" => answer(frame, record, message),
        "toolResult" => {
            let (id, output) = (own("toolCallId"), words(message.raw("content")));
            let ok = message.truth("isError").map(|failed| !failed);
            frame.say(Speaker::Assistant, Said::Result { id, output, ok })
        }
        // A command of the person's own, behind `!`.
        "bashExecution" => {
            let id = record.text("id").unwrap_or_default().into_owned();
            frame.say(Speaker::User, Said::Call { id: id.clone(), name: "bash".to_owned(), input: own("command") })?;
            let ok = message.number("exitCode").map(|code| code == 0.0);
            frame.say(Speaker::User, Said::Result { id, output: own("output"), ok })
        }
        "custom" | "hookMessage" => notice(frame, message),
        _ => ControlFlow::Continue(()),
    }
}

fn answer(frame: &mut Frame<'_, '_>, record: &Record<'_>, message: &Record<'_>) -> ControlFlow<()> {
    frame.model = message.text("model").map(Into::into);
    frame.response = message.text("responseId").or_else(|| record.text("id")).map(Into::into);
    frame.tokens = usage(message).map(|(tokens, _)| tokens);
    for block in message.objects("content") {
        let own = |key: &str| block.text(key).unwrap_or_default().into_owned();
        let said = match own("type").as_str() {
            "text" => Said::Text(own("text")),
            "thinking" => Said::Reasoning(own("thinking")),
            "toolCall" => Said::Call {
                id: own("id"),
                name: own("name"),
                input: block.raw("arguments").map(shown).unwrap_or_default(),
            },
            _ => continue,
        };
        frame.say(Speaker::Assistant, said)?;
    }
    let error = message.text("errorMessage").map(Into::into);
    match (message.text("stopReason").unwrap_or_default().as_ref(), error) {
        ("error" | "aborted", Some(error)) => frame.say(Speaker::System, Said::Notice(error)),
        ("aborted", None) => frame.say(Speaker::System, Said::Notice("Aborted".to_owned())),
        _ => ControlFlow::Continue(()),
    }
}

/// A message that an extension put in, when it is shown to the person.
fn notice(frame: &mut Frame<'_, '_>, message: &Record<'_>) -> ControlFlow<()> {
    match message.truth("display") {
        Some(false) => ControlFlow::Continue(()),
        _ => frame.say(Speaker::System, Said::Notice(words(message.raw("content")))),
    }
}
