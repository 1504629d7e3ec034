//! Claude Code: where it lives. It never writes there; `.credentials.json` is opened for one question (see `limits`). The registry
//! lists it.
//!
//! Seen with 2.1.332 from npm: `node_modules/.bin/claude -> ../@anthropic-ai/claude-code/bin/claude.exe`, the
//! native program itself (a hard link to the one in `@anthropic-ai/claude-code-linux-x64`), with package.json
//! one folder up. Its native installer makes `~/.local/bin/claude -> ~/.local/share/claude/versions/<n>`, and the
//! older local one a script in `~/.claude/local`.

mod account;
mod limits;
mod reader;
mod settle;
mod tell;

use std::ops::ControlFlow;

use crate::account::Pays;
use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::limits::Limits;
use crate::read::{all_in, has_ext};
use crate::records::lines;
use crate::sessions::{Facts, Kind, Part, Piece, Reader, Reads, Settlement, Source};

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
    can: &[
        Capability::Sessions,
        Capability::Resume,
        Capability::Usage,
        Capability::Limits,
        Capability::Auth,
        Capability::Live,
    ],
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

    fn account(&self, around: &Surroundings, places: &Places) -> Option<Pays> {
        Some(account::pays(around, places))
    }

    fn limits(&self) -> Option<&dyn Limits> {
        Some(self)
    }

    fn reads(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for ClaudeCode {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(projects) = &places.sessions else { return };
        let mut take = |path: &std::path::Path| {
            if has_ext(path, "jsonl") {
                Source::at(path, Kind::Lines).into_iter().for_each(&mut *found);
            }
        };
        for project in all_in(projects) {
            for path in all_in(&project) {
                if has_ext(&path, "jsonl") {
                    take(&path);
                } else {
                    all_in(&path.join("subagents")).iter().for_each(|path| take(path));
                }
            }
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::ClaudeReader::new(source, before))
    }

    fn settle(&self, parts: &[&Part]) -> Settlement {
        settle::settle(parts)
    }

    fn tell(
        &self,
        source: &Source,
        _session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let (_, subagent) = reader::owner(&source.path);
        lines::each(&source.path, from, |offset, text| tell::line(offset, text, subagent.as_deref(), sink))
    }

    fn live(&self, places: &Places) -> Vec<String> {
        crate::running::of_claude(places)
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["claude", "--resume", session].map(str::to_owned).to_vec())
    }
}

#[cfg(test)]
mod tests;
