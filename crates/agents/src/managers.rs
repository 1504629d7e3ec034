//! Where programs hide when PATH is poor: version managers, package managers, installers. It only lists
//! folders and reads two small settings files (`.npmrc`, `.tool-versions`); it starts nothing and writes
//! nothing. `find` and `version` call it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sys::Env;

use crate::adapter::Surroundings;
use crate::find::{Spot, Via};
use crate::read::{LIST, is_dir, names_in, small_file, tidy};
use crate::version::semver;

/// Settings files of managers larger than this are not read.
const SETTINGS_MAX: u64 = 64 << 10;
/// `nvm alias` chains longer than this are circles.
const ALIAS_STEPS: usize = 5;

/// The folders that may hold programs besides PATH, best first. `system` adds those outside the home folder;
/// without it nothing outside the home (and what variables name) is looked at, so a test stays in its own.
pub(crate) fn spots(around: &Surroundings, system: bool) -> Vec<Spot> {
    let mut spots = Vec::new();
    let mut add = |via: &'static str, dirs: Vec<PathBuf>| {
        spots.extend(dirs.into_iter().map(|dir| Spot { dir, via: Via::Below(via) }));
    };
    add("nvm", nvm(around));
    add("fnm", fnm(around));
    add("Volta", vec![around.env().absolute("VOLTA_HOME").unwrap_or_else(|| around.home_join(".volta")).join("bin")]);
    add("asdf", asdf(around));
    add("mise", mise(around));
    add("the npm prefix", npm(around));
    add("Bun", vec![around.env().absolute("BUN_INSTALL").unwrap_or_else(|| around.home_join(".bun")).join("bin")]);
    add("pnpm", pnpm(around));
    add("Yarn", vec![around.home_join(".yarn/bin"), around.home_join(".config/yarn/global/node_modules/.bin")]);
    add("the home folder", vec![around.home_join(".local/bin"), around.home_join("bin")]);
    if system {
        add("Homebrew", homebrew(around));
        add("the system", vec![PathBuf::from("/usr/local/bin"), PathBuf::from("/usr/bin")]);
    }
    spots
}

/// Sub-folders of `dir` named by versions, highest first; names that are no version come last.
fn versions_in(dir: &Path) -> Vec<OsString> {
    let mut names = names_in(dir);
    // A stable sort keeps the order by name among equals.
    names.sort_by_key(|name| std::cmp::Reverse(semver(&name.to_string_lossy())));
    names
}

/// nvm: `versions/node/*/bin`, the default version first, then the highest. Pure reading of `alias/default`.
fn nvm(around: &Surroundings) -> Vec<PathBuf> {
    let root = around.env().absolute("NVM_DIR").unwrap_or_else(|| around.home_join(".nvm"));
    let dir = root.join("versions/node");
    let mut names = versions_in(&dir);
    if let Some(at) = nvm_default(&root).and_then(|wanted| best_match(&names, &wanted)) {
        let name = names.remove(at);
        names.insert(0, name);
    }
    let mut dirs: Vec<PathBuf> = names.into_iter().map(|name| dir.join(name).join("bin")).collect();
    // NVM_BIN is the one the person's shell uses right now; it wins where it is below this root.
    if let Some(bin) = around.env().absolute("NVM_BIN").filter(|bin| bin.starts_with(&dir)) {
        dirs.insert(0, bin);
    }
    dirs
}

/// What `nvm alias default` leads to: a version or the beginning of one; `None` for `node`, `stable` and the
/// like (the highest is right) and for anything that is not a plain name.
fn nvm_default(root: &Path) -> Option<String> {
    let mut name = "default".to_owned();
    for _ in 0..ALIAS_STEPS {
        let text = small_file(&root.join("alias").join(&name), 1024)?;
        let value = str::from_utf8(&text).ok()?.trim().to_owned();
        let plain = !value.is_empty()
            && !value.contains("..")
            && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/*".contains(&b))
            && !value.starts_with('/');
        if !plain {
            return None;
        }
        if value.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()) {
            return Some(value.trim_start_matches('v').to_owned());
        }
        name = value;
    }
    None
}

/// The first (highest) of the sorted `names` that is version `wanted` or starts with its parts.
fn best_match(names: &[OsString], wanted: &str) -> Option<usize> {
    names.iter().position(|name| {
        let name = name.to_string_lossy();
        let name = name.trim_start_matches('v');
        name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// fnm: its default alias, then the highest version, in each folder that it uses by default.
fn fnm(around: &Surroundings) -> Vec<PathBuf> {
    let roots = match around.env().absolute("FNM_DIR") {
        Some(dir) => vec![dir],
        None => vec![
            around.xdg_data().join("fnm"),
            around.home_join(".fnm"),
            around.home_join("Library/Application Support/fnm"),
        ],
    };
    let mut dirs = Vec::new();
    for root in roots {
        dirs.push(root.join("aliases/default/bin"));
        let versions = root.join("node-versions");
        dirs.extend(versions_in(&versions).into_iter().map(|name| versions.join(name).join("installation/bin")));
    }
    dirs
}

/// asdf: its shims (what the person's shell uses), then the node versions themselves.
fn asdf(around: &Surroundings) -> Vec<PathBuf> {
    let root = around.env().absolute("ASDF_DATA_DIR").unwrap_or_else(|| around.home_join(".asdf"));
    let installs = root.join("installs/nodejs");
    let mut dirs = vec![root.join("shims")];
    dirs.extend(versions_in(&installs).into_iter().map(|name| installs.join(name).join("bin")));
    dirs
}

/// mise: its shims, the node versions, then tools installed on their own (`mise use npm:@scope/pkg`, `mise use crush`).
fn mise(around: &Surroundings) -> Vec<PathBuf> {
    let root = around.env().absolute("MISE_DATA_DIR").unwrap_or_else(|| around.xdg_data().join("mise"));
    let installs = root.join("installs");
    let mut dirs = vec![root.join("shims")];
    let node = installs.join("node");
    dirs.extend(versions_in(&node).into_iter().map(|name| node.join(name).join("bin")));
    for tool in names_in(&installs).into_iter().filter(|name| name != "node") {
        let dir = installs.join(&tool).join("latest");
        if is_dir(&dir) {
            dirs.extend([dir.join("bin"), dir]);
        }
    }
    dirs.truncate(LIST);
    dirs
}

/// npm's global prefix: the variables, then the person's `.npmrc`, then the folders that guides recommend.
fn npm(around: &Surroundings) -> Vec<PathBuf> {
    let env = around.env();
    let mut dirs = Vec::new();
    for name in ["NPM_CONFIG_PREFIX", "npm_config_prefix"] {
        dirs.extend(env.absolute(name).map(|dir| dir.join("bin")));
    }
    let npmrc = ["NPM_CONFIG_USERCONFIG", "npm_config_userconfig"].iter().find_map(|name| env.absolute(name));
    let npmrc = npmrc.unwrap_or_else(|| around.home_join(".npmrc"));
    if let Some(text) = small_file(&npmrc, SETTINGS_MAX) {
        let prefix = npm_prefix(&String::from_utf8_lossy(&text), env, around.home());
        dirs.extend(prefix.map(|dir| dir.join("bin")));
    }
    dirs.extend([".npm-global/bin", ".npm-packages/bin"].map(|dir| around.home_join(dir)));
    if cfg!(windows) {
        dirs.extend(env.absolute("APPDATA").map(|dir| dir.join("npm")));
    }
    dirs
}

/// pnpm: `$PNPM_HOME` itself (up to version 10) and `bin` below it (from 11 on), or its default folders.
fn pnpm(around: &Surroundings) -> Vec<PathBuf> {
    let roots = match around.env().absolute("PNPM_HOME") {
        Some(dir) => vec![dir],
        None => vec![around.xdg_data().join("pnpm"), around.home_join("Library/pnpm")],
    };
    roots.into_iter().flat_map(|dir| [dir.join("bin"), dir]).collect()
}

/// Homebrew's program folders.
fn homebrew(around: &Surroundings) -> Vec<PathBuf> {
    let named = around.env().absolute("HOMEBREW_PREFIX").map(|dir| dir.join("bin"));
    let usual = ["/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"].map(PathBuf::from);
    named.into_iter().chain(usual).collect()
}

/// `prefix` in the text of an `.npmrc`, the last one as in npm's ini reader, `${VAR}` and `~/` expanded. `None` when
/// there is none or when it is not absolute.
pub(crate) fn npm_prefix(text: &str, env: &Env, home: &Path) -> Option<PathBuf> {
    let mut prefix = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with([';', '#', '[']) {
            continue;
        }
        if let Some((key, value)) = line.split_once('=')
            && key.trim() == "prefix"
        {
            let value = value.trim();
            let bare = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            let bare = bare.or_else(|| value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')));
            prefix = Some(bare.unwrap_or(value).to_owned());
        }
    }
    let path = expand(&prefix?, env, home)?;
    path.is_absolute().then(|| tidy(&path))
}

/// `text` with a leading `~/` and every `${VAR}` replaced (`HOME` is the home folder even where the variable is
/// not set). `None` for an unknown variable or one that is not text.
pub(crate) fn expand(text: &str, env: &Env, home: &Path) -> Option<PathBuf> {
    let mut out = String::new();
    let mut rest = text;
    if let Some(after) = text.strip_prefix('~')
        && (after.is_empty() || after.starts_with('/'))
    {
        out.push_str(home.to_str()?);
        rest = after;
    }
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let (name, tail) = after.split_once('}')?;
        out.push_str(before);
        match name {
            "HOME" => out.push_str(home.to_str()?),
            name => out.push_str(env.text(name)?),
        }
        rest = tail;
    }
    out.push_str(rest);
    (!out.is_empty()).then(|| PathBuf::from(out))
}

/// Folders below which package `package` may lie, for a program found in `dir` that does not lie in a package
/// itself: a shim. Told by the shape of the manager's folder alone, so it works for PATH and without it.
/// Which of several is in use is not told here.
pub(crate) fn package_dirs(dir: &Path, package: &str) -> Vec<PathBuf> {
    let mut dirs = vec![dir.join("node_modules").join(package)];
    let Some(root) = dir.parent() else { return dirs };
    if root.file_name().is_some_and(|name| name == "node_modules") {
        // node_modules/.bin holds scripts instead of links where pnpm made it.
        dirs.push(root.join(package));
    }
    let lib = |base: PathBuf| [base.join("lib/node_modules").join(package), base.join("node_modules").join(package)];
    dirs.extend(lib(root.to_owned()));
    // Volta links every program to volta-shim and keeps each package in an image of its own.
    dirs.extend(lib(root.join("tools/image/packages").join(package)));
    // asdf and mise keep one folder a version; links such as `latest` lead to one of them.
    let installs = root.join("installs");
    for tool in names_in(&installs) {
        let tool = installs.join(tool);
        dirs.extend(names_in(&tool).into_iter().flat_map(|version| lib(tool.join(version))));
    }
    // pnpm: global/5/node_modules (up to 10), global/v11/<hash>/node_modules (from 11 on).
    for global in [dir.join("global"), root.join("global")] {
        for layout in names_in(&global).into_iter().map(|name| global.join(name)) {
            dirs.push(layout.join("node_modules").join(package));
            let stores = names_in(&layout).into_iter().filter(|name| name != "node_modules");
            dirs.extend(stores.map(|name| layout.join(name).join("node_modules").join(package)));
        }
    }
    dirs.truncate(4 * LIST);
    dirs
}

/// The node version that `~/.tool-versions` (asdf) names for the home folder.
pub(crate) fn tool_version(home: &Path) -> Option<String> {
    let text = small_file(&home.join(".tool-versions"), SETTINGS_MAX)?;
    let text = String::from_utf8_lossy(&text);
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("nodejs" | "node")).then(|| words.next().map(str::to_owned)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npmrc_prefix_in_the_forms_people_write() {
        let env: Env = [("X", "/x")].into_iter().collect();
        let at = |text: &str| npm_prefix(text, &env, Path::new("/h")).map(|p| p.display().to_string());
        for (text, want) in [
            ("prefix=/a/b/", Some("/a/b")),
            ("registry=https://r\n prefix = ~/.npm \n", Some("/h/.npm")),
            ("prefix=${HOME}/g", Some("/h/g")),
            ("prefix=\"${X}/g\"", Some("/x/g")),
            ("prefix='/q q'", Some("/q q")),
            ("prefix=/1\nprefix=/2", Some("/2")),
            ("; prefix=/a\n#prefix=/b", None),
            ("prefix=rel/x", None),
            ("prefix=${NONE}/x", None),
            ("prefix=${HOME", None),
            ("prefix=", None),
            ("xprefix=/a", None),
            ("//r/:_authToken=npm_secret", None),
        ] {
            assert_eq!(at(text).as_deref(), want, "{text:?}");
        }
    }

    #[test]
    fn a_default_names_a_version_or_its_beginning() {
        let names: Vec<OsString> = ["v22.10.0", "v22.9.1", "v20.1.0"].map(OsString::from).to_vec();
        assert_eq!(best_match(&names, "22"), Some(0));
        assert_eq!(best_match(&names, "22.9.1"), Some(1));
        assert_eq!(best_match(&names, "2"), None);
        assert_eq!(best_match(&names, "20"), Some(2));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3_000))]
        #[test]
        fn no_npmrc_can_break_it(text in "(prefix ?= ?|\\$\\{[A-Z]{0,4}\\}?|~|/|[\"'\n;=#]|\\PC){0,30}") {
            let found = npm_prefix(&text, &Env::empty(), Path::new("/h"));
            proptest::prop_assert!(found.is_none_or(|p| p.is_absolute()));
        }
    }
}
