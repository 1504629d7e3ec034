//! Claude Desktop: where it lives, from public documentation only (agent-formats.md, "From public docs only").
//! It has no program on PATH, no local skills and no local sessions, so detection is all there is; it never
//! writes there. The registry lists it.

use crate::adapter::{About, Adapter, Places, Surroundings};

/// The adapter.
pub(super) struct ClaudeDesktop;

static ABOUT: About = About {
    id: "claude-desktop",
    name: "Claude Desktop",
    programs: &[],
    packages: &[],
    platforms: &[],
    overrides: &[],
    quiet: &[],
    can: &[],
    tried: false,
};

impl Adapter for ClaudeDesktop {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let base = if cfg!(target_os = "macos") {
            around.home_join("Library/Application Support")
        } else if cfg!(windows) {
            around.env().absolute("APPDATA").unwrap_or_else(|| around.home_join("AppData/Roaming"))
        } else {
            around.xdg_config()
        };
        Places { config_dir: base.join("Claude"), ..Places::default() }
    }
}
