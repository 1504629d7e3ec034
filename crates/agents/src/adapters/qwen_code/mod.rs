//! Qwen Code: where it lives. It never writes there. The registry lists it.
//!
//! Seen with 0.24.4 from npm: `node_modules/.bin/qwen -> ../@qwen-code/qwen-code/cli-entry.js`, package.json beside it.
//! It expands `~/` in `QWEN_HOME` itself, and `~/.agents/skills` stays in the home folder.
//! `QWEN_RUNTIME_DIR` moves the conversations and the log of requests, not the settings.

mod hooks;
mod provider;
mod reader;
mod settle;
mod tell;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::hooks::Hooks;
use crate::provider::Provides;
use crate::read::{all_in, has_ext};
use crate::records::lines;
use crate::sessions::removal::plain_id;
use crate::sessions::{Facts, Kind, Part, Piece, Reader, Reads, Removal, Settlement, Source};

/// The adapter.
pub(super) struct QwenCode;

static ABOUT: About = About {
    id: "qwen-code",
    name: "Qwen Code",
    programs: &["qwen"],
    packages: &["@qwen-code/qwen-code"],
    platforms: &[],
    overrides: &["QWEN_HOME", "QWEN_RUNTIME_DIR"],
    quiet: &[],
    can: &[
        Capability::Sessions,
        Capability::Resume,
        Capability::Delete,
        Capability::Usage,
        Capability::Providers,
        Capability::Hooks,
    ],
    tried: true,
};

impl Adapter for QwenCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut places = Places::below(around, "QWEN_HOME", Tilde::Expanded, ".qwen");
        places.reads(around.shared_skills());
        let base = around.named("QWEN_RUNTIME_DIR", Tilde::Expanded, &mut places.warnings);
        places.sessions = Some(base.unwrap_or_else(|| places.config_dir.clone()).join("projects"));
        places
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

impl Reads for QwenCode {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(projects) = &places.sessions else { return };
        for project in all_in(projects) {
            files(&project.join("chats"), false, found);
            files(&project.join("chats").join("archive"), true, found);
            all_in(&project.join("subagents")).iter().for_each(|session| files(session, false, found));
        }
        if let Some(base) = projects.parent() {
            let is_log =
                |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("token-usage-"));
            let logs = all_in(&base.join("usage")).into_iter().filter(|path| has_ext(path, "jsonl") && is_log(path));
            logs.filter_map(|path| Source::at(&path, Kind::Lines)).for_each(found);
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::QwenReader::new(source, before))
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
        if reader::Shelf::of(source) == reader::Shelf::Log {
            return Ok(());
        }
        lines::each(&source.path, from, |offset, text| tell::line(offset, text, sink))
    }

    /// The chat with what lies beside it under its id, its sub-agents, its file history. The log of requests speaks of all
    /// sessions and stays.
    fn removal(
        &self,
        around: &Surroundings,
        session: &str,
        sources: &[&Source],
        _scratch: &Path,
    ) -> Result<Removal, String> {
        let id = plain_id(session)?;
        let places = self.places(around);
        let projects = places.sessions.unwrap_or_default();
        let mut removal = Removal::default();
        for source in sources {
            match reader::Shelf::of(source) {
                reader::Shelf::Log => removal.stays.push(format!(
                    "its requests stay counted in {}, which is the agent's",
                    source.path.file_name().unwrap_or_default().to_string_lossy()
                )),
                _ => removal.take(source.path.clone()),
            }
        }
        for project in all_in(&projects) {
            removal.take_named(&project.join("chats"), &format!("{id}."));
            removal.take_named(&project.join("chats").join("archive"), &format!("{id}."));
            removal.take(project.join("subagents").join(id));
        }
        removal.take(places.config_dir.join("file-history").join(id));
        Ok(removal.tidied())
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["qwen", "--resume", session].map(str::to_owned).to_vec())
    }
}

fn files(dir: &Path, archived: bool, found: &mut dyn FnMut(Source)) {
    let files = all_in(dir).into_iter().filter(|path| has_ext(path, "jsonl"));
    for source in files.filter_map(|path| Source::at(&path, Kind::Lines)) {
        found(Source { archived, ..source });
    }
}

#[cfg(test)]
mod tests;
