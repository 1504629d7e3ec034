//! Hermes Agent: where it lives, from public documentation only (agent-formats.md, "From public docs only").
//! Its `config.yaml` is read for the skill folders that it names and never written. The registry lists it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sys::Env;

use crate::adapter::{About, Adapter, Places, Surroundings, Tilde};
use crate::managers::expand;
use crate::read::{small_file, tidy};

/// The adapter.
pub(super) struct HermesAgent;

static ABOUT: About = About {
    id: "hermes-agent",
    name: "Hermes Agent",
    programs: &["hermes"],
    packages: &[],
    platforms: &[],
    overrides: &["HERMES_HOME"],
    quiet: &[],
    can: &[],
    tried: false,
};

/// A settings file larger than this is not read.
const CONFIG_MAX: u64 = 1 << 20;
/// Folders taken from the settings at most.
const DIRS_MAX: usize = 32;

impl Adapter for HermesAgent {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn places(&self, around: &Surroundings) -> Places {
        let default = match around.env().absolute("LOCALAPPDATA") {
            Some(local) if cfg!(windows) => local.join("hermes").display().to_string(),
            _ => ".hermes".to_owned(),
        };
        let mut places = Places::below(around, "HERMES_HOME", Tilde::Literal, &default);
        let settings = small_file(&places.config_dir.join("config.yaml"), CONFIG_MAX).unwrap_or_default();
        for dir in skill_dirs(&settings, around.env(), around.home()) {
            places.reads(dir);
        }
        places
    }
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    skills: Option<Skills>,
}

#[derive(Default, Deserialize)]
struct Skills {
    #[serde(default)]
    external_dirs: Option<OneOrMore>,
    #[serde(default)]
    create_dir: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The folders in `skills.external_dirs` and `skills.create_dir`, `~` and `${VAR}` expanded as its
/// documentation says. Relative ones are left out: they have no place of their own.
fn skill_dirs(settings: &[u8], env: &Env, home: &Path) -> Vec<PathBuf> {
    let Ok(text) = str::from_utf8(settings) else { return Vec::new() };
    let skills = serde_saphyr::from_str::<Config>(text).unwrap_or_default().skills.unwrap_or_default();
    let external = match skills.external_dirs {
        Some(OneOrMore::One(dir)) => vec![dir],
        Some(OneOrMore::More(dirs)) => dirs,
        None => Vec::new(),
    };
    let named = external.into_iter().chain(skills.create_dir).take(DIRS_MAX);
    named.filter_map(|dir| expand(&dir, env, home)).filter(|dir| dir.is_absolute()).map(|dir| tidy(&dir)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_from_the_settings_and_nonsense_gives_none() {
        let env: Env = [("REPO", "/r")].into_iter().collect();
        let dirs = |text: &str| skill_dirs(text.as_bytes(), &env, Path::new("/h"));
        assert_eq!(
            dirs(
                "model: x\nskills:\n  external_dirs:\n    - ~/.agents/skills\n    - ${REPO}/s/\n    - rel\n  create_dir: /c\n"
            ),
            [Path::new("/h/.agents/skills"), Path::new("/r/s"), Path::new("/c")]
        );
        assert_eq!(dirs("skills: {external_dirs: ~/one}"), [Path::new("/h/one")]);
        for nothing in ["", "skills:", "skills: 3", "a: [", "skills: {external_dirs: }", "\t", "- x"] {
            assert!(dirs(nothing).is_empty(), "{nothing}");
        }
        assert!(skill_dirs(b"\xff\xfe", &env, Path::new("/h")).is_empty());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]
        #[test]
        fn no_settings_can_break_it(bytes: Vec<u8>, text in "(skills:|external_dirs:|create_dir:|[ \n\t~{}\\[\\]$\"'-]|\\PC){0,40}") {
            skill_dirs(&bytes, &Env::empty(), Path::new("/h"));
            skill_dirs(text.as_bytes(), &Env::empty(), Path::new("/h"));
        }
    }
}
