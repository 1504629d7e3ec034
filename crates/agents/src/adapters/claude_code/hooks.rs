//! The hooks of Claude Code: `hooks` in its settings.json (agent-formats.md, Claude Code). It asks for no trust.
//!
//! The events are the list in the program itself, 2.1.332. A name that is not in it is a settings problem at every start.

use std::path::PathBuf;

use serde_json::Value;

use crate::adapter::Places;
use crate::hooks::{self, Event, Hooks, Look, Rules, Shape, Unit, Verdict};

pub(super) static RULES: Rules = Rules {
    events: &[
        Event::same("PreToolUse"),
        Event::same("PostToolUse"),
        Event::same("PostToolUseFailure"),
        Event::same("PostToolBatch"),
        Event::same("Notification"),
        Event::same("UserPromptSubmit"),
        Event::same("UserPromptExpansion"),
        Event::same("SessionStart"),
        Event::same("SessionEnd"),
        Event::same("Stop"),
        Event::same("StopFailure"),
        Event::same("SubagentStart"),
        Event::same("SubagentStop"),
        Event::same("PreCompact"),
        Event::same("PostCompact"),
        Event::same("PreModelSwitch"),
        Event::same("PostModelSwitch"),
        Event::same("PermissionRequest"),
        Event::same("PermissionDenied"),
        Event::same("Setup"),
        Event::same("TeammateIdle"),
        Event::same("TaskCreated"),
        Event::same("TaskCompleted"),
        Event::same("Elicitation"),
        Event::same("ElicitationResult"),
        Event::same("ConfigChange"),
        Event::same("WorktreeCreate"),
        Event::same("WorktreeRemove"),
        Event::same("InstructionsLoaded"),
        Event::same("CwdChanged"),
        Event::same("FileChanged"),
        Event::same("DirectoryAdded"),
        Event::same("MessageDisplay"),
        Event::same("PreSkillShellCommand"),
    ],
    shape: Shape::Nested,
    unit: Unit::Seconds,
    patience: 60,
    is_async: true,
    tools: &[],
    shorter: &[],
    consent: "",
    fails: Verdict::TwoBlocks,
    settings: &[],
    strict: false,
};

impl Hooks for super::ClaudeCode {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn file(&self, places: &Places) -> PathBuf {
        places.config_dir.join("settings.json")
    }

    fn look(&self, places: &Places) -> Vec<Look> {
        vec![hooks::file(&self.file(places), &RULES, &[(&["disableAllHooks"], Value::Bool(true))])]
    }
}
