//! Tells what was said in a rollout of Codex, in the order of its file. Every message is there twice: as what was sent and
//! as an event, and only the event holds the person's words alone.

use std::ops::ControlFlow;

use crate::records::frame::{Frame, Sink, words};
use crate::records::{Record, list, shown, text};
use crate::sessions::{Said, Speaker};

/// Tells one line of the file; `subagent` is the one whose own file it is.
pub(super) fn line(offset: u64, line: &str, subagent: Option<&str>, sink: &mut Sink<'_>) -> ControlFlow<()> {
    let Ok(record) = Record::parse(line) else { return ControlFlow::Continue(()) };
    let Some(payload) = record.object("payload") else { return ControlFlow::Continue(()) };
    let mut frame = Frame::new(offset, record.time("timestamp"), sink);
    frame.subagent = subagent.map(str::to_owned);
    match record.text("type").unwrap_or_default().as_ref() {
        "event_msg" => event(&mut frame, &payload),
        "response_item" => item(&mut frame, &payload),
        "compacted" => frame.say(Speaker::System, Said::Compaction(own(&payload, "message"))),
        _ => ControlFlow::Continue(()),
    }
}

fn own(record: &Record<'_>, key: &str) -> String {
    record.text(key).unwrap_or_default().into_owned()
}

fn event(frame: &mut Frame<'_, '_>, payload: &Record<'_>) -> ControlFlow<()> {
    match payload.text("type").unwrap_or_default().as_ref() {
        "user_message" => frame.say(Speaker::User, Said::Text(own(payload, "message"))),
        "agent_message" => frame.say(Speaker::Assistant, Said::Text(own(payload, "message"))),
        "agent_reasoning" => frame.say(Speaker::Assistant, Said::Reasoning(own(payload, "text"))),
        "turn_aborted" => frame.say(Speaker::System, Said::Notice(format!("interrupted ({})", own(payload, "reason")))),
        "error" | "stream_error" => frame.say(Speaker::System, Said::Notice(own(payload, "message"))),
        "item_completed" => match payload.object("item") {
            Some(item) => completed(frame, &item),
            None => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    }
}

fn completed(frame: &mut Frame<'_, '_>, item: &Record<'_>) -> ControlFlow<()> {
    match item.text("type").unwrap_or_default().as_ref() {
        "UserMessage" => frame.say(Speaker::User, Said::Text(words(item.raw("content")))),
        "AgentMessage" => {
            frame.response = item.text("id").map(Into::into);
            frame.say(Speaker::Assistant, Said::Text(words(item.raw("content"))))
        }
        "Reasoning" => {
            let summary: Vec<_> = item.list("summary_text").into_iter().filter_map(text).collect();
            frame.say(Speaker::Assistant, Said::Reasoning(summary.join("\n")))
        }
        "CollabAgentToolCall" if item.is("tool", "spawn_agent") => {
            let names = item.objects("receiver_agents").filter_map(|agent| agent.text("agent_nickname"));
            let title = names.map(std::borrow::Cow::into_owned).next().unwrap_or_else(|| own(item, "prompt"));
            for id in item.list("receiver_thread_ids").into_iter().filter_map(text) {
                let call = item.text("id").map(Into::into);
                frame.say(Speaker::Assistant, Said::Subagent { id: id.into_owned(), title: title.clone(), call })?;
            }
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Continue(()),
    }
}

fn item(frame: &mut Frame<'_, '_>, payload: &Record<'_>) -> ControlFlow<()> {
    let call = || own(payload, "call_id");
    match payload.text("type").unwrap_or_default().as_ref() {
        "function_call" => {
            let (name, input) = (own(payload, "name"), own(payload, "arguments"));
            frame.say(Speaker::Assistant, Said::Call { id: call(), name, input })
        }
        "custom_tool_call" => {
            let (name, input) = (own(payload, "name"), own(payload, "input"));
            frame.say(Speaker::Assistant, Said::Call { id: call(), name, input })
        }
        "local_shell_call" | "web_search_call" => {
            let input = payload.raw("action").map(shown).unwrap_or_default();
            let name = own(payload, "type").trim_end_matches("_call").to_owned();
            frame.say(Speaker::Assistant, Said::Call { id: call(), name, input })
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = match payload.raw("output") {
                Some(raw) if text(raw).is_none() && list(raw).is_empty() => shown(raw),
                raw => words(raw),
            };
            let code = output.split_once("Process exited with code ").map(|(_, rest)| rest.starts_with('0'));
            frame.say(Speaker::Assistant, Said::Result { id: call(), output, ok: code })
        }
        _ => ControlFlow::Continue(()),
    }
}
