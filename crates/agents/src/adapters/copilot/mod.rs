//! GitHub Copilot CLI: where it lives. It never writes there, and its program is never run where package.json
//! tells the version (it unpacks 240 MB into `~/.cache/copilot/pkg`). The registry lists it.
//!
//! Seen with 1.0.102 from npm: `node_modules/.bin/copilot -> ../@github/copilot/npm-loader.js`, a node script that starts
//! the native program of `@github/copilot-linux-x64`, which npm also links as `.bin/copilot-linux-x64`.

mod hooks;
mod provider;
mod reader;
mod tell;

use std::ops::ControlFlow;
use std::path::Path;

use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::hooks::Hooks;
use crate::provider::Provides;
use crate::read::{all_in, has_ext, small_file};
use crate::records::lines;
use crate::sessions::removal::plain_id;
use crate::sessions::{Facts, Kind, Piece, Reader, Reads, Removal, Source};

/// The longest `workspace.yaml` that is read.
const LONGEST: u64 = 1 << 20;

/// The adapter.
pub(super) struct Copilot;

static ABOUT: About = About {
    id: "copilot",
    name: "Copilot CLI",
    programs: &["copilot"],
    packages: &["@github/copilot"],
    platforms: &[],
    overrides: &["COPILOT_HOME"],
    quiet: &[("COPILOT_AUTO_UPDATE", "false"), ("COPILOT_OFFLINE", "true")],
    can: &[
        Capability::Sessions,
        Capability::Resume,
        Capability::Delete,
        Capability::Usage,
        Capability::Hooks,
        Capability::Live,
    ],
    tried: true,
};

impl Adapter for Copilot {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        // It reads ~/.agents/skills but not ~/.claude/skills (agent-formats.md, Skills).
        let mut places = Places::below(around, "COPILOT_HOME", Tilde::Literal, ".copilot");
        places.reads(around.shared_skills());
        places.sessions = Some(places.config_dir.join("session-state"));
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

impl Reads for Copilot {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(sessions) = &places.sessions else { return };
        for path in all_in(sessions) {
            if has_ext(&path, "jsonl") {
                Source::at(&path, Kind::Lines).into_iter().for_each(&mut *found);
                continue;
            }
            Source::at(&path.join("events.jsonl"), Kind::Lines).into_iter().for_each(&mut *found);
            Source::at(&path.join("workspace.yaml"), Kind::Whole).into_iter().for_each(&mut *found);
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::CopilotReader::new(source, before))
    }

    fn read_whole(&self, source: &Source, _scratch: &Path) -> Result<Facts, String> {
        let bytes = small_file(&source.path, LONGEST);
        reader::workspace(source, &bytes.ok_or_else(|| format!("{}: cannot be read", source.path.display()))?)
    }

    fn tell(
        &self,
        source: &Source,
        _session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        if source.kind == Kind::Whole {
            return Ok(());
        }
        // From the beginning: the tokens of an answer stand in an event before it.
        let mut teller = tell::Teller::default();
        let mut later = |piece: Piece| if piece.offset < from { ControlFlow::Continue(()) } else { sink(piece) };
        lines::each(&source.path, 0, |offset, text| teller.line(offset, text, &mut later))
    }

    fn live(&self, places: &Places) -> Vec<String> {
        crate::running::of_copilot(places)
    }

    /// The folder of the session, or its file of older versions (agent-formats.md, Copilot CLI).
    fn removal(
        &self,
        around: &Surroundings,
        session: &str,
        sources: &[&Source],
        _scratch: &Path,
    ) -> Result<Removal, String> {
        let id = plain_id(session)?;
        let places = self.places(around);
        let sessions = places.sessions.unwrap_or_default();
        let mut removal = Removal::default();
        for source in sources {
            let folder = source.path.parent().filter(|folder| **folder != *sessions && folder.starts_with(&sessions));
            removal.take(folder.unwrap_or(&source.path).to_owned());
        }
        removal.take(sessions.join(id));
        if places.config_dir.join("session-store.db").exists() {
            removal.stays.push("session-store.db, the agent's own index, still mentions it".to_owned());
        }
        Ok(removal.tidied())
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(vec!["copilot".to_owned(), format!("--resume={session}")])
    }
}

#[cfg(test)]
mod tests;
