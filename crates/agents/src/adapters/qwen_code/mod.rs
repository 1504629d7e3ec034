//! Qwen Code: where it lives. It never writes there. The registry lists it.
//!
//! Seen with 0.24.4 from npm: `node_modules/.bin/qwen -> ../@qwen-code/qwen-code/cli-entry.js`, package.json beside it.
//! It expands `~/` in `QWEN_HOME` itself, and `~/.agents/skills` stays in the home folder.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

/// The adapter.
pub(super) struct QwenCode;

static ABOUT: About = About {
    id: "qwen-code",
    name: "Qwen Code",
    programs: &["qwen"],
    packages: &["@qwen-code/qwen-code"],
    platforms: &[],
    overrides: &["QWEN_HOME"],
    quiet: &[],
    can: &[],
    tried: true,
};

impl Adapter for QwenCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let mut places = Places::below(around, "QWEN_HOME", Tilde::Expanded, ".qwen");
        places.reads(around.shared_skills());
        places.sessions = Some(places.config_dir.join("projects"));
        places
    }
}
