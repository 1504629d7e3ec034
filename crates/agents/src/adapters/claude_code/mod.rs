//! Claude Code: where it lives. It never writes there and never opens `.credentials.json`. The registry
//! lists it.
//!
//! Seen with 2.1.332 from npm: `node_modules/.bin/claude -> ../@anthropic-ai/claude-code/bin/claude.exe`, the
//! native program itself (a hard link to the one in `@anthropic-ai/claude-code-linux-x64`), with package.json
//! one folder up. Its native installer makes `~/.local/bin/claude -> ~/.local/share/claude/versions/<n>`, and the
//! older local one a script in `~/.claude/local`.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

/// The adapter.
pub(super) struct ClaudeCode;

static ABOUT: About = About {
    id: "claude-code",
    name: "Claude Code",
    programs: &["claude"],
    packages: &["@anthropic-ai/claude-code"],
    platforms: &[],
    overrides: &["CLAUDE_CONFIG_DIR"],
    quiet: &[
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ],
    can: &[],
    tried: true,
};

impl Adapter for ClaudeCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        // It reads its own folder only, not ~/.agents/skills (agent-formats.md, Skills).
        let mut places = Places::below(around, "CLAUDE_CONFIG_DIR", Tilde::Literal, ".claude");
        places.sessions = Some(places.config_dir.join("projects"));
        places.program_dirs = vec![around.home_join(".claude/local")];
        places
    }
}
