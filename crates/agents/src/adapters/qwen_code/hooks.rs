//! The hooks of Qwen Code: `hooks` in its settings.json, Claude's names, timeouts in milliseconds (agent-formats.md,
//! Qwen Code). It takes Claude's names of tools in matchers. `SessionEnd` is in its list and did not fire when one prompt
//! was run from the command line.

use std::path::PathBuf;

use serde_json::Value;

use crate::adapter::Places;
use crate::hooks::{self, Event, Hooks, Look, Rules, Shape, Unit, Verdict};

static RULES: Rules = Rules {
    events: &[
        Event::same("PreToolUse"),
        Event::same("PostToolUse"),
        Event::same("PostToolUseFailure"),
        Event::same("PostToolBatch"),
        Event::same("Notification"),
        Event::same("UserPromptSubmit"),
        Event::same("UserPromptExpansion"),
        Event::same("SessionStart"),
        Event::same("Stop"),
        Event::same("MessageDisplay"),
        Event::same("SubagentStart"),
        Event::same("SubagentStop"),
        Event::same("PreCompact"),
        Event::same("PostCompact"),
        Event::same("SessionEnd"),
        Event::own("SessionDelete"),
        Event::same("PermissionRequest"),
        Event::same("PermissionDenied"),
        Event::same("StopFailure"),
        Event::own("TodoCreated"),
        Event::own("TodoCompleted"),
        Event::same("InstructionsLoaded"),
    ],
    shape: Shape::Nested,
    unit: Unit::Milliseconds,
    patience: 60,
    is_async: true,
    tools: &[],
    shorter: &[],
    consent: "",
    fails: Verdict::TwoBlocks,
    settings: &["enabled", "disabled", "notifications"],
    strict: false,
};

impl Hooks for super::QwenCode {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn file(&self, places: &Places) -> PathBuf {
        places.config_dir.join("settings.json")
    }

    fn look(&self, places: &Places) -> Vec<Look> {
        let off: &[(&[&str], Value)] =
            &[(&["disableAllHooks"], Value::Bool(true)), (&["hooks", "enabled"], Value::Bool(false))];
        vec![hooks::file(&self.file(places), &RULES, off)]
    }
}
