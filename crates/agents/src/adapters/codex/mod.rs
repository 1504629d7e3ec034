//! Codex: where it lives. It never writes there and of `auth.json` only looks at how it is signed in. The registry lists it.
//!
//! Seen with 0.171.0 from npm: `node_modules/.bin/codex -> ../@openai/codex/bin/codex.js`, a node script that
//! starts the native program of the folder `@openai/codex-linux-x64`. That folder's package.json carries the name
//! `@openai/codex` and the version `0.171.0-linux-x64`, so the number alone has to be taken there too.

mod account;
mod hooks;
mod limits;
mod provider;
mod reader;
mod tell;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::account::Pays;
use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::hooks::Hooks;
use crate::limits::Limits;
use crate::provider::Provides;
use crate::read::{all_in, entries_in, head, is_dir, may_be_dir};
use crate::records::{Record, lines};
use crate::sessions::removal::plain_id;
use crate::sessions::{Facts, Kind, Piece, Reader, Reads, Removal, Source};

/// The adapter.
pub(super) struct Codex;

static ABOUT: About = About {
    id: "codex",
    name: "Codex",
    programs: &["codex"],
    packages: &["@openai/codex"],
    platforms: &[],
    overrides: &["CODEX_HOME"],
    quiet: &[],
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

impl Adapter for Codex {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut places = Places::below(around, "CODEX_HOME", Tilde::Literal, ".codex");
        places.must_exist = true;
        places.reads(around.shared_skills());
        places.sessions = Some(places.config_dir.join("sessions"));
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

impl Reads for Codex {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let archive = places.config_dir.join("archived_sessions");
        for (root, archived) in [(places.sessions.clone(), false), (Some(archive), true)] {
            let Some(root) = root else { continue };
            let mut files = Vec::new();
            // Year, month, day; the archive is flat.
            gather(&root, 3, &mut files);
            let packed: HashSet<PathBuf> = files
                .iter()
                .filter(|source| source.kind == Kind::Zstd)
                .map(|source| source.path.with_extension(""))
                .collect();
            let plain: HashSet<PathBuf> =
                files.iter().map(|source| &source.path).filter(|path| packed.contains(*path)).cloned().collect();
            for source in files {
                // One that is packed keeps its plain twin for a while.
                if source.kind == Kind::Lines || !plain.contains(&source.path.with_extension("")) {
                    found(Source { archived, ..source });
                }
            }
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::CodexReader::new(source, before))
    }

    fn tell(
        &self,
        source: &Source,
        session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let subagent = own_id(source).filter(|own| own != session);
        let subagent = subagent.filter(|_| is_subagent(source));
        lines::each(&source.path, from, |offset, text| tell::line(offset, text, subagent.as_deref(), sink))
    }

    fn live(&self, places: &Places) -> Vec<String> {
        crate::running::of_codex(places)
    }

    /// The rollouts, packed twins included. With a database `codex delete` forgets the rows as well (agent-formats.md,
    /// Codex); seen with 0.171.0: it takes the sub-agents along that its database knows, and leaves those it does not.
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
            removal.take(if is_packed(&source.path) { source.path.with_extension("") } else { zipped(&source.path) });
        }
        let state = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("state_") && name.ends_with(".sqlite")
        };
        if all_in(&places.config_dir).iter().any(state) {
            removal.command = Some(["codex", "delete", "--force", id].map(str::to_owned).to_vec());
        }
        if places.config_dir.join("history.jsonl").exists() {
            removal.stays.push("what was typed stays in history.jsonl, which is the agent's".to_owned());
        }
        Ok(removal.tidied())
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["codex", "resume", session].map(str::to_owned).to_vec())
    }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

fn zipped(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    name.into()
}

fn gather(folder: &Path, deeper: u8, files: &mut Vec<Source>) {
    for (name, entry) in entries_in(folder) {
        let name = name.to_string_lossy();
        if name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) {
            let kind = if name.ends_with(".zst") { Kind::Zstd } else { Kind::Lines };
            files.extend(Source::of_entry(&entry, kind));
        } else if deeper > 0 && !name.contains('.') && may_be_dir(&entry) && is_dir(&entry.path()) {
            gather(&entry.path(), deeper - 1, files);
        }
    }
}

fn own_id(source: &Source) -> Option<String> {
    Some(reader::named(source)).filter(|id| !id.is_empty())
}

/// The first record says so; it is longer than any other that small.
fn is_subagent(source: &Source) -> bool {
    const FIRST: u64 = 1 << 20;
    let Some(bytes) = head(&source.path, FIRST) else { return false };
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line);
    let meta = Record::parse(&text).ok().and_then(|record| record.object("payload"));
    meta.is_some_and(|meta| {
        meta.is("thread_source", "subagent")
            || meta.object("source").is_some_and(|source| source.raw("subagent").is_some())
    })
}

#[cfg(test)]
mod tests;
