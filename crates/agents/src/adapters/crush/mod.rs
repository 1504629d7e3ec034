//! Crush: where it lives, from public documentation only (agent-formats.md, "Crush - NOT RUN"). It never writes
//! there; its databases are one per project, so there is no sessions folder. The registry lists it.
//!
//! Documented variables: `CRUSH_GLOBAL_CONFIG` and `CRUSH_GLOBAL_DATA` name folders, `CRUSH_SKILLS_DIR` stands for the
//! whole list of user-level skill folders. Its npm package fetches the program from outside the registry.

use std::path::PathBuf;

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

/// The adapter.
pub(super) struct Crush;

static ABOUT: About = About {
    id: "crush",
    name: "Crush",
    programs: &["crush"],
    packages: &["@charmland/crush"],
    platforms: &[],
    overrides: &["CRUSH_GLOBAL_CONFIG", "CRUSH_GLOBAL_DATA", "CRUSH_SKILLS_DIR"],
    quiet: &[("CRUSH_DISABLE_METRICS", "1"), ("CRUSH_DISABLE_PROVIDER_AUTO_UPDATE", "1")],
    can: &[],
    tried: false,
};

impl Adapter for Crush {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut warnings = Vec::new();
        let mut named = |name| around.named(name, Tilde::Literal, &mut warnings);
        let (config, data, skills) =
            (named("CRUSH_GLOBAL_CONFIG"), named("CRUSH_GLOBAL_DATA"), named("CRUSH_SKILLS_DIR"));
        let base = around.xdg_config();
        let moved_by = config.is_some().then_some("CRUSH_GLOBAL_CONFIG");
        let read_dirs = match skills {
            Some(dir) => vec![dir],
            None => vec![
                base.join("crush/skills"),
                base.join("agents/skills"),
                around.shared_skills(),
                around.home_join(".claude/skills"),
            ],
        };
        Places {
            // CRUSH_GLOBAL_CONFIG moves the settings; the documented skill folders stay below the config home.
            config_dir: config.unwrap_or_else(|| base.join("crush")),
            marks: vec![data.unwrap_or_else(|| around.xdg_data().join("crush"))],
            managed_dir: read_dirs.first().cloned(),
            program_dirs: go_bin(around),
            moved_by,
            read_dirs,
            warnings,
            ..Places::default()
        }
    }
}

/// Where `go install` puts programs: `$GOBIN`, else `bin` below `$GOPATH`, else `~/go/bin`.
fn go_bin(around: &Surroundings) -> Vec<PathBuf> {
    let env = around.env();
    let dir = env.absolute("GOBIN").or_else(|| env.absolute("GOPATH").map(|dir| dir.join("bin")));
    vec![dir.unwrap_or_else(|| around.home_join("go/bin"))]
}
