//! Gemini CLI: where it lives. It never writes there, and its program is never run where package.json tells
//! the version (it leaves a `projects.json` behind). The registry lists it.
//!
//! Seen with 0.61.0 from npm: `node_modules/.bin/gemini -> ../@google/gemini-cli/bundle/gemini.js`; `--version`
//! takes 3 s and writes. `GEMINI_CLI_HOME` stands for the home folder everywhere, so the shared `.agents/skills`
//! moves with it, unlike with any other agent.

mod account;
mod hooks;
mod provider;
mod reader;
mod tell;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::account::Pays;
use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::hooks::Hooks;
use crate::provider::Provides;
use crate::read::{all_in, has_ext, is_dir};
use crate::records::{Record, lines, object};
use crate::sessions::removal::plain_id;
use crate::sessions::{Facts, Kind, Piece, Reader, Reads, Removal, Source};

/// The longest `.json` chat that is read.
const LONGEST: u64 = 256 << 20;

/// The adapter.
pub(super) struct GeminiCli;

static ABOUT: About = About {
    id: "gemini-cli",
    name: "Gemini CLI",
    programs: &["gemini"],
    packages: &["@google/gemini-cli"],
    platforms: &[],
    overrides: &["GEMINI_CLI_HOME"],
    quiet: &[],
    can: &[
        Capability::Sessions,
        Capability::Resume,
        Capability::Delete,
        Capability::Usage,
        Capability::Auth,
        Capability::Providers,
        Capability::Hooks,
    ],
    tried: true,
};

impl Adapter for GeminiCli {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut warnings = Vec::new();
        let moved = around.named("GEMINI_CLI_HOME", Tilde::Literal, &mut warnings);
        let moved_by = moved.is_some().then_some("GEMINI_CLI_HOME");
        let home = moved.unwrap_or_else(|| around.home().to_owned());
        let config_dir = home.join(".gemini");
        let skills = config_dir.join("skills");
        Places {
            sessions: Some(config_dir.join("tmp")),
            read_dirs: vec![skills.clone(), home.join(".agents").join("skills")],
            managed_dir: Some(skills),
            config_dir,
            moved_by,
            warnings,
            ..Places::default()
        }
    }

    fn account(&self, around: &Surroundings, places: &Places) -> Option<Pays> {
        Some(account::pays(around, places))
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

impl Reads for GeminiCli {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        let Some(tmp) = &places.sessions else { return };
        let mut chats = BTreeMap::new();
        for project in all_in(tmp) {
            let named = project.join(".project_root").is_file();
            for path in all_in(&project.join("chats")) {
                if is_dir(&path) {
                    all_in(&path).into_iter().for_each(|below| offer(&mut chats, named, path.file_name(), below));
                } else {
                    offer(&mut chats, named, None, path);
                }
            }
        }
        for (_, path) in chats.into_values() {
            let kind = if has_ext(&path, "jsonl") { Kind::Lines } else { Kind::Whole };
            Source::at(&path, kind).into_iter().for_each(&mut *found);
        }
    }

    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(reader::GeminiReader::new(source, before))
    }

    fn read_whole(&self, source: &Source, _scratch: &Path) -> Result<Facts, String> {
        let text = document(&source.path)?;
        let mut reader = reader::GeminiReader::new(source, None);
        let told = Record::parse(&text).and_then(|record| reader.document(&text, &record));
        told.map_err(|why| format!("{}: {why}", source.path.display()))?;
        Ok(Facts { lines: 1, ..reader.facts() })
    }

    fn tell(
        &self,
        source: &Source,
        _session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let mut teller = tell::Teller::new(&reader::Shelf::of(source));
        if source.kind == Kind::Whole {
            return whole(&source.path, from, &mut teller, sink);
        }
        // From the beginning: what a record has told already depends on the ones before it.
        let mut later = |piece: Piece| if piece.offset < from { ControlFlow::Continue(()) } else { sink(piece) };
        lines::each(&source.path, 0, |offset, text| teller.line(offset, text, &mut later))
    }

    /// Every file of the chat, the copies that older versions left in other folders too, or it would come back; and what
    /// its own deletion takes along: logs, tool outputs, the folder of the session, those of sub-agents (seen in 0.61.0).
    fn removal(
        &self,
        around: &Surroundings,
        session: &str,
        sources: &[&Source],
        _scratch: &Path,
    ) -> Result<Removal, String> {
        let id = plain_id(session)?;
        let tmp = self.places(around).sessions.unwrap_or_default();
        let mut removal = Removal::default();
        let mut ids = vec![id.to_owned()];
        for source in sources {
            removal.take(source.path.clone());
            let stem = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if source.path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "chats") {
                for chats in all_in(&tmp).iter().map(|project| project.join("chats")) {
                    removal.take(chats.join(format!("{stem}.jsonl")));
                    removal.take(chats.join(format!("{stem}.json")));
                }
            } else if plain_id(&stem).is_ok() {
                ids.push(stem);
            }
        }
        for project in all_in(&tmp) {
            removal.take(project.join("chats").join(id));
            for id in &ids {
                removal.take(project.join("logs").join(format!("session-{id}.jsonl")));
                removal.take(project.join("tool-outputs").join(format!("session-{id}")));
                if !matches!(id.to_lowercase().as_str(), "chats" | "logs" | "tool-outputs") {
                    removal.take(project.join(id));
                }
            }
        }
        Ok(removal.tidied())
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["gemini", "--resume", session].map(str::to_owned).to_vec())
    }
}

/// Which file of a chat counts, by what its name says of it.
type Chats = BTreeMap<(Option<OsString>, OsString), ((bool, bool), PathBuf)>;

/// Takes a file when it is the best one of its chat. Versions that name a project's folder by the project copy what
/// older ones left in a folder named by a hash, and a `.json` chat that is resumed goes on in a `.jsonl` beside it: the
/// copies stay. So the same name is the same chat, the lines go before the document, the named folder before the other.
fn offer(chats: &mut Chats, named: bool, folder: Option<&OsStr>, path: PathBuf) {
    let lines = has_ext(&path, "jsonl");
    let (true, Some(stem)) = (lines || (has_ext(&path, "json") && folder.is_none()), path.file_stem()) else { return };
    let (key, rank) = ((folder.map(OsStr::to_owned), stem.to_owned()), (lines, named));
    if chats.get(&key).is_none_or(|(best, _)| *best < rank) {
        chats.insert(key, (rank, path));
    }
}

fn whole(
    path: &Path,
    from: u64,
    teller: &mut tell::Teller,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), String> {
    let text = document(path)?;
    let record = Record::parse(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    let mut count = 0;
    let mut later = |piece: Piece| {
        let offset = count;
        count += 1;
        if offset < from { ControlFlow::Continue(()) } else { sink(Piece { offset, ..piece }) }
    };
    for message in record.list("messages").into_iter().filter_map(object) {
        if teller.message(0, &message, &mut later).is_break() {
            break;
        }
    }
    Ok(())
}

fn document(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{}: not a regular file", path.display()));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("{}: longer than {} MiB", path.display(), LONGEST >> 20));
    }
    let text = lines::decode(&bytes).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(text.unwrap_or_default().into_owned())
}

#[cfg(test)]
mod tests;
