//! GitHub Copilot CLI: where it lives. It never writes there, and its program is never run where package.json
//! tells the version (it unpacks 240 MB into `~/.cache/copilot/pkg`). The registry lists it.
//!
//! Seen with 1.0.102 from npm: `node_modules/.bin/copilot -> ../@github/copilot/npm-loader.js`, a node script that starts
//! the native program of `@github/copilot-linux-x64`, which npm also links as `.bin/copilot-linux-x64`.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

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
    can: &[],
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
}
