//! OpenCode: where it lives. It never writes there and never opens its database for writing. The registry
//! lists it.
//!
//! Seen with 1.18.33 from npm: `node_modules/.bin/opencode -> ../opencode-ai/bin/opencode.exe`, the native program,
//! package.json one folder up; `--version` makes folders below `~/.config`, `~/.cache` and `~/.local`.
//! `OPENCODE_CONFIG_DIR` adds a folder: `opencode debug paths` still names `~/.config/opencode`, and
//! `opencode debug skill` lists the skills of both. `~/.opencode/skill` is read like `~/.opencode/skills`.

mod facts;
mod provider;
mod rows;
mod tell;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::adapter::{About, Adapter, Capability, Places, Surroundings, Tilde};
use crate::provider::Provides;
use crate::sessions::removal::plain_id;
use crate::sessions::{Export, Facts, Piece, Reader, Reads, Removal, Source};
use crate::sqlite;

/// The adapter.
pub(super) struct OpenCode;

static ABOUT: About = About {
    id: "opencode",
    name: "OpenCode",
    programs: &["opencode"],
    packages: &["opencode-ai"],
    platforms: &["opencode"],
    overrides: &["OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG", "OPENCODE_DB"],
    quiet: &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
    can: &[Capability::Sessions, Capability::Resume, Capability::Delete, Capability::Usage, Capability::Providers],
    tried: true,
};

impl Adapter for OpenCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut warnings = Vec::new();
        let config_dir = around.xdg_config().join("opencode");
        let own = around.home_join(".opencode");
        let added = around.named("OPENCODE_CONFIG_DIR", Tilde::Literal, &mut warnings);
        let managed = config_dir.join("skills");
        let mut read_dirs = vec![managed.clone(), config_dir.join("skill"), own.join("skills"), own.join("skill")];
        read_dirs.extend(added.iter().flat_map(|dir| [dir.join("skills"), dir.join("skill")]));
        read_dirs.extend([around.home_join(".claude/skills"), around.shared_skills()]);
        let program_dirs = vec![own.join("bin")];
        Places {
            sessions: Some(database(around, &mut warnings)),
            managed_dir: Some(managed),
            marks: added.into_iter().collect(),
            config_dir,
            read_dirs,
            program_dirs,
            warnings,
            ..Places::default()
        }
    }

    fn provides(&self) -> Option<&dyn Provides> {
        Some(self)
    }

    fn reads(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for OpenCode {
    fn sources(&self, _around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source)) {
        places.sessions.as_deref().and_then(sqlite::source).into_iter().for_each(found);
    }

    fn reader(&self, _source: &Source, before: Option<Facts>) -> Box<dyn Reader> {
        Box::new(NoLines(before.unwrap_or_default()))
    }

    fn read_whole(&self, source: &Source, scratch: &Path) -> Result<Facts, String> {
        sqlite::read(&source.path, Some(scratch), facts::facts)
    }

    fn tell(
        &self,
        source: &Source,
        session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        told(source, session, from, None, sink)
    }

    fn tell_from(
        &self,
        source: &Source,
        session: &str,
        from: u64,
        scratch: &Path,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        told(source, session, from, Some(scratch), sink)
    }

    /// Through its own commands: seen with 1.18.33, `session delete` takes the sub-agents' sessions along, `export` does
    /// not, and `import` brings one back with the folder that it is started in.
    fn removal(
        &self,
        _around: &Surroundings,
        session: &str,
        sources: &[&Source],
        scratch: &Path,
    ) -> Result<Removal, String> {
        let Some(source) = sources.first() else { return Err("its database is gone".to_owned()) };
        let id = plain_id(session)?;
        let all = sqlite::read(&source.path, Some(scratch), rows::sessions)?;
        // A sub-agent may have started others; each is imported after the one that started it.
        let mut family: Vec<&rows::Session> = all.iter().filter(|row| row.id == id).collect();
        let mut at = 0;
        while let Some(parent) = family.get(at).map(|row| row.id.as_str()) {
            let children = all.iter().filter(|row| row.parent.as_deref() == Some(parent));
            let new: Vec<_> = children.filter(|row| !family.iter().any(|known| known.id == row.id)).collect();
            family.extend(new);
            at += 1;
        }
        let mut removal = Removal::default();
        for row in family {
            let own = plain_id(&row.id)?;
            removal.exports.push(Export {
                id: own.to_owned(),
                id_at: "/info/id",
                export: ["opencode", "export", own].map(str::to_owned).to_vec(),
                import: ["opencode", "import"].map(str::to_owned).to_vec(),
                folder: PathBuf::from(&row.folder),
            });
        }
        if removal.exports.is_empty() {
            return Err("its database does not have it any more".to_owned());
        }
        removal.command = Some(["opencode", "session", "delete", id].map(str::to_owned).to_vec());
        Ok(removal)
    }

    fn resume(&self, session: &str) -> Option<Vec<String>> {
        Some(["opencode", "--session", session].map(str::to_owned).to_vec())
    }
}

fn told(
    source: &Source,
    session: &str,
    from: u64,
    scratch: Option<&Path>,
    sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
) -> Result<(), String> {
    // When the database changes under the reading, it is read again: what was told already is not told twice.
    let mut next = from;
    let mut done = false;
    sqlite::read(&source.path, scratch, |database| {
        if done {
            return Ok(());
        }
        let start = next;
        let flow = &mut |piece: Piece| {
            next = piece.offset + 1;
            let flow = sink(piece);
            done = flow.is_break();
            flow
        };
        tell::tell(database, session, start, flow)
    })
}

/// A database has no lines.
struct NoLines(Facts);

impl Reader for NoLines {
    fn lines(&mut self, _chunk: &[u8], _at: u64) {}

    fn finish(self: Box<Self>) -> Facts {
        self.0
    }
}

#[cfg(test)]
mod tests;

/// The database: `OPENCODE_DB` is its full path, else it is below the data folder (agent-formats.md, overrides).
fn database(around: &Surroundings, warnings: &mut Vec<String>) -> PathBuf {
    around
        .named("OPENCODE_DB", Tilde::Literal, warnings)
        .unwrap_or_else(|| around.xdg_data().join("opencode").join("opencode.db"))
}
