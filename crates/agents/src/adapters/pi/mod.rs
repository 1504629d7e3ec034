//! Pi: where it lives. It never writes there and never reads a value of `auth.json`. The registry lists it.
//!
//! Seen with 1.6.0 from npm: `node_modules/.bin/pi -> ../@earendil-works/pi-coding-agent/dist/bundle/cli.js`, package.json
//! three folders up. 0.73.1, the last one under the old package name, prints its version on stderr, nothing
//! on stdout. Pi expands `~/` in its overrides itself.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

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
    can: &[],
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
        places.sessions = Some(sessions.unwrap_or_else(|| places.config_dir.join("sessions")));
        places
    }
}
