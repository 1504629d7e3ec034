//! Codex: where it lives. It never writes there and never reads a value of `auth.json`. The registry lists it.
//!
//! Seen with 0.171.0 from npm: `node_modules/.bin/codex -> ../@openai/codex/bin/codex.js`, a node script that
//! starts the native program of the folder `@openai/codex-linux-x64`. That folder's package.json carries the name
//! `@openai/codex` and the version `0.171.0-linux-x64`, so the number alone has to be taken there too.

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};

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
    can: &[],
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
}
