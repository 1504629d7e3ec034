//! Pi: where it lives. It never writes there and never reads a value of `auth.json`. The registry lists it.
//!
//! Seen with 1.6.0 from npm: `node_modules/.bin/pi -> ../@earendil-works/pi-coding-agent/dist/bundle/cli.js`, package.json
//! three folders up. 0.73.1, the last one under the old package name, prints its version on stderr, nothing
//! on stdout. Pi expands `~/` in its overrides itself.

mod provider;
mod reader;
mod tell;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::provider::Provides;
use crate::read::{all_in, has_ext, small_file, tidy};
use crate::records::lines;
use crate::sessions::{Facts, Kind, Piece, Reader, Reads, Removal, Source};

/// The adapter.
pub(super) struct Pi;

static ABOUT: About = About {
    id: "pi",
    name: "Pi",
    programs: &["pi"],
    packages: &["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
    platforms: &[],
    overrides: &["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"],
    quiet: &[("PI_OFFLINE", "1")],
    can: &[Capability::Sessions, Capability::Resume, Capability::Delete, Capability::Usage, Capability::Providers],
    tried: true,
};

impl Adapter for Pi {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut places = Places::below(around, "PI_CODING_AGENT_DIR", Tilde::Expanded, ".pi/agent");
        places.reads(around.shared_skills());
        let sessions = around.named("PI_CODING_AGENT_SESSION_DIR", Tilde::Expanded, &mut places.warnings);
        let sessions = sessions.or_else(|| in_settings(around, &places.config_dir));
        places.sessions = Some(sessions.unwrap_or_else(|| places.config_dir.join("sessions")));
        places
    }

    fn provides(&self) -> Option<&dyn Provides> {
        Some(self)
    }

    fn reads(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

/// The folder that `sessionDir` in its settings names. A relative one has no place that could be shown.
fn in_settings(around: &Surroundings, config_dir: &Path) -> Option<PathBuf> {
    let settings = small_file(&config_dir.join("settings.json"), 1 << 20)?;
    let settings: serde_json::Value = serde_json::from_slice(&settings).ok()?;
    let named = settings.get("sessionDir")?.as_str()?;
    let path = match named.strip_prefix("~/") {
        Some(below) => around.home_join(below),
        None => PathBuf::from(named),
    };
    path.is_absolute().then(|| tidy(&path))
}

impl Reads for Pi {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(dir) = &places.sessions else { return };
        let mut take = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter(|path| has_ext(path, "jsonl"))
                .filter_map(|path| Source::at(path, Kind::Lines))
                .for_each(&mut *found);
        };
        let inside = all_in(dir);
        take(&inside);
        // Below its own folder there is a folder for each project; a folder that the person names is flat.
        if *dir == places.config_dir.join("sessions") {
            inside.iter().filter(|path| !has_ext(path, "jsonl")).for_each(|project| take(&all_in(project)));
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::PiReader::new(source, before))
    }

    fn tell(
        &self,
        source: &Source,
        _session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        lines::each(&source.path, from, |offset, text| tell::line(offset, text, sink))
    }

    /// The one file (agent-formats.md, Pi).
    fn removal(
        &self,
        _around: &Surroundings,
        _session: &str,
        sources: &[&Source],
        _scratch: &Path,
    ) -> Result<Removal, String> {
        let mut removal = Removal::default();
        sources.iter().for_each(|source| removal.take(source.path.clone()));
        Ok(removal.tidied())
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["pi", "--session", session].map(str::to_owned).to_vec())
    }
}

#[cfg(test)]
mod tests;
