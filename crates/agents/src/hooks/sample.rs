//! What an agent gives a hook on stdin, to try one without the agent, and what it makes of how the hook ends. The payloads
//! are those that real programs sent (hooks-observed.txt), with places of this machine put in. Pure.

use std::path::Path;

use serde_json::{Value, json};

use super::{Rules, Verdict};

/// `agent -> event -> payload`.
const SAMPLES: &str = include_str!("samples.json");

/// A payload of `event` (the agent's own name) in folder `cwd`. Where none was seen, one of the agent with the name of the
/// event alone, and false.
pub fn sample(agent: &str, event: &str, cwd: &Path, home: &Path) -> (Value, bool) {
    let all: Value = serde_json::from_str(SAMPLES).unwrap_or_default();
    let mut seen = true;
    let mut payload = all.get(agent).and_then(|events| events.get(event)).cloned().unwrap_or_else(|| {
        seen = false;
        if agent == "copilot" {
            json!({ "sessionId": "00000000-0000-4000-8000-000000000001", "timestamp": 1_796_070_249_494_u64, "cwd": "{cwd}" })
        } else {
            json!({ "session_id": "00000000-0000-4000-8000-000000000001", "transcript_path": "{home}/transcript.jsonl",
                "cwd": "{cwd}", "hook_event_name": event })
        }
    });
    place(&mut payload, &cwd.to_string_lossy(), &home.to_string_lossy());
    (payload, seen)
}

fn place(value: &mut Value, cwd: &str, home: &str) {
    match value {
        Value::String(text) => *text = text.replace("{cwd}", cwd).replace("{home}", home),
        Value::Array(list) => list.iter_mut().for_each(|value| place(value, cwd, home)),
        Value::Object(map) => map.values_mut().for_each(|value| place(value, cwd, home)),
        _ => {}
    }
}

/// Events that come before something, by Claude's name or their own: exit code 2 keeps it from happening.
const BEFORE: [&str; 13] = [
    "PreToolUse",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "PermissionRequest",
    "PreCompact",
    "PreModelRequest",
    "BeforeTool",
    "BeforeAgent",
    "BeforeModel",
    "AfterAgent",
    "BeforeToolSelection",
    "UserPromptExpansion",
];

impl Rules {
    /// What the agent makes of a command of `event` (its own name) that ended with `code`, in words; `None`: stopped for
    /// taking too long.
    pub fn verdict(&self, event: &str, code: Option<i32>) -> String {
        let Some(code) = code else {
            return "it took too long: the agent stops it and goes on without it".to_owned();
        };
        match (code, self.fails) {
            (0, _) => "the agent goes on; JSON on stdout would be followed".to_owned(),
            (_, Verdict::AnyBlocksTools) if matches!(event, "preToolUse" | "permissionRequest") => {
                "it blocks: this agent uses no tool when the hook before it fails".to_owned()
            }
            (2, Verdict::TwoBlocks) => match event {
                "Stop" | "SubagentStop" | "AfterAgent" => {
                    "the agent does not stop: what stderr says goes to the model, which works on".to_owned()
                }
                _ if BEFORE.contains(&event) => {
                    format!("it blocks: what {event} comes before does not happen, and what stderr says is the reason")
                }
                _ => "too late to block anything; what stderr says is shown or goes to the model".to_owned(),
            },
            (_, _) => "an error that blocks nothing: the agent shows it and goes on".to_owned(),
        }
    }
}
