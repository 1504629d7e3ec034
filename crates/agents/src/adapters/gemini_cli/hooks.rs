//! The hooks of Gemini CLI: `hooks` in its settings.json, timeouts in milliseconds (agent-formats.md, Gemini CLI).
//!
//! The events are the list in the program itself, 0.61.0. `PreCompress` fires before every turn, whether something is
//! compressed or not, so it is not what Claude calls `PreCompact`; a hook that wants it names it. `AfterTool` fires for a
//! tool that failed too, as `PostToolUse` does at Codex.

use std::path::PathBuf;

use serde_json::Value;

use crate::adapter::Places;
use crate::hooks::{self, Event, Hooks, Look, Rules, Shape, Unit, Verdict};

static RULES: Rules = Rules {
    events: &[
        Event::like("BeforeTool", "PreToolUse"),
        Event::like("AfterTool", "PostToolUse"),
        Event::like("BeforeAgent", "UserPromptSubmit"),
        Event::like("AfterAgent", "Stop"),
        Event::same("Notification"),
        Event::same("SessionStart"),
        Event::same("SessionEnd"),
        Event::own("PreCompress"),
        Event::own("BeforeModel"),
        Event::own("AfterModel"),
        Event::own("BeforeToolSelection"),
    ],
    shape: Shape::Nested,
    unit: Unit::Milliseconds,
    patience: 60,
    is_async: false,
    tools: &[
        ("Bash", "run_shell_command"),
        ("Edit", "replace"),
        ("Read", "read_file"),
        ("Write", "write_file"),
        ("Glob", "glob"),
        ("Grep", "grep_search"),
        ("LS", "list_directory"),
    ],
    shorter: &[],
    consent: "",
    fails: Verdict::TwoBlocks,
    // Older versions kept their switches between the events.
    settings: &["enabled", "disabled", "notifications"],
    strict: false,
};

impl Hooks for super::GeminiCli {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn file(&self, places: &Places) -> PathBuf {
        places.config_dir.join("settings.json")
    }

    fn look(&self, places: &Places) -> Vec<Look> {
        let no = Value::Bool(false);
        let off: &[(&[&str], Value)] = &[
            (&["hooksConfig", "enabled"], no.clone()),
            (&["hooks", "enabled"], no.clone()),
            (&["tools", "enableHooks"], no),
        ];
        vec![hooks::file(&self.file(places), &RULES, off)]
    }
}
