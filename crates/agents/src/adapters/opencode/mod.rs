//! OpenCode: where it lives. It never writes there and never opens its database for writing. The registry
//! lists it.
//!
//! Seen with 1.18.33 from npm: `node_modules/.bin/opencode -> ../opencode-ai/bin/opencode.exe`, the native program,
//! package.json one folder up; `--version` makes folders below `~/.config`, `~/.cache` and `~/.local`.
//! `OPENCODE_CONFIG_DIR` adds a folder: `opencode debug paths` still names `~/.config/opencode`, and
//! `opencode debug skill` lists the skills of both. `~/.opencode/skill` is read like `~/.opencode/skills`.

use std::path::PathBuf;

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

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
    can: &[],
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
}

/// The database: `OPENCODE_DB` is its full path, else it is below the data folder (agent-formats.md, overrides).
fn database(around: &Surroundings, warnings: &mut Vec<String>) -> PathBuf {
    around
        .named("OPENCODE_DB", Tilde::Literal, warnings)
        .unwrap_or_else(|| around.xdg_data().join("opencode").join("opencode.db"))
}
