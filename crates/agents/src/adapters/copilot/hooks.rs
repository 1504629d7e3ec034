//! The hooks of Copilot CLI: a file of ours beside the person's own in `hooks/`, each `{"version": 1, "hooks": {event:
//! [...]}}` with commands that have no group (agent-formats.md, Copilot CLI). It also takes `hooks` in its settings.json.
//! Hooks of the person run without a trust step.
//!
//! The events are those it named or fired, 1.0.102. It takes Claude's spelling of them too, with another payload; we
//! write its own. A matcher has to fit the whole name of a tool.

use std::path::PathBuf;

use serde_json::Value;

use crate::adapter::Places;
use crate::hooks::{self, Event, Hooks, Look, Rules, Shape, Unit, Verdict};
use crate::read::{all_in, has_ext};

static RULES: Rules = Rules {
    events: &[
        Event::like("preToolUse", "PreToolUse"),
        Event::like("postToolUse", "PostToolUse"),
        Event::like("postToolUseFailure", "PostToolUseFailure"),
        Event::like("userPromptSubmitted", "UserPromptSubmit"),
        Event::like("sessionStart", "SessionStart"),
        Event::like("sessionEnd", "SessionEnd"),
        Event::like("agentStop", "Stop"),
        Event::like("subagentStart", "SubagentStart"),
        Event::like("subagentStop", "SubagentStop"),
        Event::like("preCompact", "PreCompact"),
        Event::like("permissionRequest", "PermissionRequest"),
        Event::like("notification", "Notification"),
        Event::own("errorOccurred"),
        Event::own("preMcpToolCall"),
        Event::own("userPromptTransformed"),
        Event::own("postResult"),
        Event::own("prePRDescription"),
    ],
    shape: Shape::Flat,
    unit: Unit::Seconds,
    patience: 30,
    is_async: false,
    tools: &[("Bash", "bash"), ("Task", "task"), ("Agent", "task")],
    shorter: &[],
    consent: "",
    fails: Verdict::AnyBlocksTools,
    settings: &[],
    strict: false,
};

impl Hooks for super::Copilot {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn file(&self, places: &Places) -> PathBuf {
        places.config_dir.join("hooks").join("lazyagents.json")
    }

    fn look(&self, places: &Places) -> Vec<Look> {
        let ours = self.file(places);
        let mut files = vec![ours.clone()];
        let beside = all_in(&places.config_dir.join("hooks"));
        files.extend(beside.into_iter().filter(|path| has_ext(path, "json") && *path != ours));
        files.push(places.config_dir.join("settings.json"));
        let off: &[(&[&str], Value)] = &[(&["disableAllHooks"], Value::Bool(true))];
        let mut looks: Vec<Look> = files.iter().map(|path| hooks::file(path, &RULES, off)).collect();
        for look in &mut looks {
            // Claude's spelling counts here, and then the events are known.
            let claude = |event: &str| RULES.events.iter().any(|known| known.common == event && !event.is_empty());
            look.entries.iter_mut().filter(|entry| claude(&entry.event)).for_each(|entry| entry.known = true);
            look.oddities.retain(|oddity| {
                !RULES
                    .events
                    .iter()
                    .any(|known| !known.common.is_empty() && *oddity == format!("`{}` is no event of it", known.common))
            });
        }
        looks
    }
}
