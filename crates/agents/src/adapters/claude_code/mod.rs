//! Claude Code: where it lives. It never writes there; `.credentials.json` is opened for one question (see `limits`). The registry
//! lists it.
//!
//! Seen with 2.1.332 from npm: `node_modules/.bin/claude -> ../@anthropic-ai/claude-code/bin/claude.exe`, the
//! native program itself (a hard link to the one in `@anthropic-ai/claude-code-linux-x64`), with package.json
//! one folder up. Its native installer makes `~/.local/bin/claude -> ~/.local/share/claude/versions/<n>`, and the
//! older local one a script in `~/.claude/local`.

mod account;
mod hooks;
mod limits;
mod provider;
mod reader;
mod settle;
mod tell;

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::ops::ControlFlow;
use std::path::Path;

use crate::account::Pays;
use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::hooks::Hooks;
use crate::limits::Limits;
use crate::provider::Provides;
use crate::read::{entries_in, has_ext, may_be_dir, small_file};
use crate::records::lines;
use crate::sessions::removal::plain_id;
use crate::sessions::{Facts, Kind, Part, Piece, Reader, Reads, Removal, Retention, Settlement, Source};

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
        Capability::Delete,
        Capability::Usage,
        Capability::Limits,
        Capability::Auth,
        Capability::Providers,
        Capability::Hooks,
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

    fn provides(&self) -> Option<&dyn Provides> {
        Some(self)
    }

    fn hooks(&self) -> Option<&dyn Hooks> {
        Some(self)
    }

    fn reads(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for ClaudeCode {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(projects) = &places.sessions else { return };
        let mut take = |name: &OsStr, entry: &DirEntry| {
            if has_ext(Path::new(name), "jsonl") {
                Source::of_entry(entry, Kind::Lines).into_iter().for_each(&mut *found);
            }
        };
        for (_, project) in entries_in(projects).iter().filter(|(_, project)| may_be_dir(project)) {
            for (name, entry) in entries_in(&project.path()) {
                if has_ext(Path::new(&name), "jsonl") {
                    take(&name, &entry);
                } else if may_be_dir(&entry) {
                    let agents = entries_in(&entry.path().join("subagents"));
                    agents.iter().for_each(|(name, entry)| take(name, entry));
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

    /// The transcript and the folder beside it (agent-formats.md, Claude Code), and what its own `purge` names of a session:
    /// tasks, debug log, file history; of older versions also todo lists and what was set for its shell.
    fn removal(
        &self,
        around: &Surroundings,
        session: &str,
        sources: &[&Source],
        _scratch: &Path,
    ) -> Result<Removal, String> {
        let id = plain_id(session)?;
        let places = self.places(around);
        let mut removal = Removal::default();
        for source in sources {
            removal.take(source.path.clone());
            let (_, subagent) = reader::owner(&source.path);
            if subagent.is_none() && source.path.file_stem().is_some_and(|stem| stem == id) {
                removal.take(source.path.with_extension(""));
            }
        }
        for folder in ["tasks", "file-history", "session-env", "uploads"] {
            removal.take(places.config_dir.join(folder).join(id));
        }
        removal.take(places.config_dir.join("debug").join(format!("{id}.txt")));
        removal.take_named(&places.config_dir.join("todos"), &format!("{id}-"));
        if places.config_dir.join("history.jsonl").exists() {
            removal.stays.push("what was typed stays in history.jsonl, which is the agent's".to_owned());
        }
        Ok(removal.tidied())
    }

    /// `cleanupPeriodDays` of its settings, 30 without; it goes by the time of change of the files. A number that it does
    /// not take (0, no number) pauses its cleanup until that is mended (its own words, 2.1.332).
    fn retention(&self, places: &Places) -> Option<Retention> {
        const DEFAULT: u64 = 30;
        let file = places.config_dir.join("settings.json");
        let settings =
            small_file(&file, 4 << 20).and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
        let set = settings.as_ref().and_then(|settings| settings.get("cleanupPeriodDays"));
        let days = set.map_or(Some(DEFAULT), serde_json::Value::as_u64).filter(|days| *days > 0)?;
        Some(Retention { days, setting: "cleanupPeriodDays", file, is_default: set.is_none() })
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["claude", "--resume", session].map(str::to_owned).to_vec())
    }
}

#[cfg(test)]
mod tests;
