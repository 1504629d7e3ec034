//! Gemini CLI: where it lives. It never writes there, and its program is never run where package.json tells
//! the version (it leaves a `projects.json` behind). The registry lists it.
//!
//! Seen with 0.61.0 from npm: `node_modules/.bin/gemini -> ../@google/gemini-cli/bundle/gemini.js`; `--version`
//! takes 3 s and writes. `GEMINI_CLI_HOME` stands for the home folder everywhere, so the shared `.agents/skills`
//! moves with it, unlike with any other agent.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

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
    can: &[],
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
}
