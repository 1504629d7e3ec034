//! Tells what was said in a session of Copilot CLI, sub-agents' words among the rest as they stand in its file.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::reader::{is_typed, tokens};
use crate::records::frame::{Frame, Sink};
use crate::records::{Record, object, shown};
use crate::sessions::{Said, Speaker, Tokens};

/// Requests whose answers are waited for; more than that are not under way at once.
const WAITING: usize = 256;

/// The tokens of requests whose answers are still to come: they are told before them.
#[derive(Default)]
pub(super) struct Teller(HashMap<String, Tokens>);

impl Teller {
    /// Tells one event.
    pub(super) fn line(&mut self, offset: u64, text: &str, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let Ok(record) = Record::parse(text) else { return ControlFlow::Continue(()) };
        let Some(data) = record.object("data") else { return ControlFlow::Continue(()) };
        let mut frame = Frame::new(offset, record.time("timestamp"), sink);
        frame.subagent = record.text("agentId").map(Into::into);
        let own = |key: &str| data.text(key).unwrap_or_default().into_owned();
        match record.text("type").unwrap_or_default().as_ref() {
            "session.usage_record" => self.request(&data),
            "user.message" if frame.subagent.is_some() || is_typed(&data) => {
                frame.say(Speaker::User, Said::Text(own("content")))?;
            }
            "assistant.message" => self.answer(&mut frame, &data)?,
            "tool.execution_complete" => {
                let said = Said::Result { id: own("toolCallId"), output: output(&data), ok: data.truth("success") };
                frame.say(Speaker::Assistant, said)?;
            }
            "subagent.started" => started(&mut frame, &data)?,
            "session.compaction_complete" if data.truth("success") != Some(false) => {
                frame.tokens = data.object("compactionTokensUsed").and_then(|usage| tokens(&usage));
                frame.say(Speaker::System, Said::Compaction(own("summaryContent")))?;
            }
            "session.error" | "session.warning" => frame.say(Speaker::System, Said::Notice(own("message")))?,
            "abort" => frame.say(Speaker::System, Said::Notice(own("reason")))?,
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn request(&mut self, data: &Record<'_>) {
        let Some(usage) = data.object("usage") else { return };
        if let (Some(id), Some(tokens)) = (usage.text("apiCallId"), tokens(&usage))
            && self.0.len() < WAITING
        {
            self.0.insert(id.into_owned(), tokens);
        }
    }

    fn answer(&mut self, frame: &mut Frame<'_, '_>, data: &Record<'_>) -> ControlFlow<()> {
        let own = |key: &str| data.text(key).unwrap_or_default().into_owned();
        let call = data.text("apiCallId");
        frame.tokens = call.as_deref().and_then(|id| self.0.remove(id));
        frame.response = call.or_else(|| data.text("messageId")).map(Into::into);
        frame.model = data.text("model").map(Into::into);
        frame.say(Speaker::Assistant, Said::Reasoning(own("reasoningText")))?;
        frame.say(Speaker::Assistant, Said::Text(own("content")))?;
        for request in data.objects("toolRequests") {
            let own = |key: &str| request.text(key).unwrap_or_default().into_owned();
            let input = request.raw("arguments").map(shown).unwrap_or_default();
            frame.say(Speaker::Assistant, Said::Call { id: own("toolCallId"), name: own("name"), input })?;
        }
        ControlFlow::Continue(())
    }
}

fn started(frame: &mut Frame<'_, '_>, data: &Record<'_>) -> ControlFlow<()> {
    let call = data.text("toolCallId").map(std::borrow::Cow::into_owned);
    let Some(id) = frame.subagent.take().or_else(|| call.clone()) else { return ControlFlow::Continue(()) };
    let titles = ["agentDescription", "agentDisplayName", "agentName"];
    let title = titles.iter().find_map(|key| data.text(key).filter(|text| !text.is_empty()));
    frame.say(Speaker::Assistant, Said::Subagent { id, title: title.unwrap_or_default().into_owned(), call })
}

fn output(data: &Record<'_>) -> String {
    let inside = |key: &str, inner: &str| data.raw(key).and_then(object).and_then(|result| result.raw(inner));
    let answer = inside("result", "content").or_else(|| inside("error", "message"));
    answer.or_else(|| data.raw("result")).or_else(|| data.raw("error")).map(shown).unwrap_or_default()
}
