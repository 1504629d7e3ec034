//! Which version a program is: from the package.json that it lies in, or from what its `--version` printed. It
//! reads package.json files and the head of shims, never runs anything and never writes. `detect` calls it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::adapter::About;
use crate::find::Found;
use crate::managers;
use crate::read::{head, small_file};

/// A package.json larger than this is not read.
const PACKAGE_MAX: u64 = 1 << 20;
/// Folders looked at, from the program upwards.
const LEVELS: usize = 8;
/// Bytes of a shim that are searched for the package's name; real ones have less than 2 KiB.
const SHIM_MAX: u64 = 16 << 10;
/// Digits of one part of a version; longer ones are not versions but numbers of something else.
const DIGITS: usize = 9;

/// The first `digits.digits.digits` in some text: the number alone, without what is attached to it.
///
/// `2.1.332 (Claude Code)` gives `2.1.332`, `GitHub Copilot CLI 1.0.102.` gives `1.0.102`, `0.171.0-linux-x64` and
/// `1.2.3-beta.1` give the number in front (agent-formats.md, first table). Works on any bytes.
pub fn number_in(text: &[u8]) -> Option<String> {
    let mut at = 0;
    while let Some(start) = text[at..].iter().position(u8::is_ascii_digit).map(|skip| at + skip) {
        let mut end = digits_end(text, start);
        let mut ok = end - start <= DIGITS;
        let first = end;
        for _ in 0..2 {
            let part = end + 1;
            let part_end = if text.get(end) == Some(&b'.') { digits_end(text, part) } else { part };
            ok = ok && part_end > part && part_end - part <= DIGITS;
            if !ok {
                break;
            }
            end = part_end;
        }
        if ok {
            return Some(String::from_utf8_lossy(&text[start..end]).into_owned());
        }
        at = first;
    }
    None
}

/// Where the digits that start at `start` end; `start` itself when there are none.
fn digits_end(text: &[u8], start: usize) -> usize {
    let Some(rest) = text.get(start..) else { return start };
    start + rest.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The parts of a version for ordering; `None` sorts below every version.
pub(crate) fn semver(text: &str) -> Option<(u64, u64, u64)> {
    let number = number_in(text.as_bytes())?;
    let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
    Some((parts.next()?, parts.next()?, parts.next()?))
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

/// The name and the version number in the bytes of a package.json; `None` when either is missing or it is none.
pub fn package(bytes: &[u8]) -> Option<(String, String)> {
    // npm writes UTF-8; a byte order mark, which people's editors add, is not JSON.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let package: Package = serde_json::from_slice(bytes).ok()?;
    let number = number_in(package.version.as_bytes())?;
    (!package.name.is_empty()).then_some((package.name, number))
}

/// The version of a found program according to the package.json of one of the agent's npm packages, and the
/// path of that file. `None` when it lies in none of them, or when it is a shim whose package cannot be told.
pub fn from_package(found: &Found, about: &About, home: &Path) -> Option<(String, PathBuf)> {
    if about.packages.is_empty() {
        return None;
    }
    beside(&found.resolved, about).or_else(|| behind_shim(found, about.packages, home))
}

/// Walks up from the program to the package that it lies in.
fn beside(program: &Path, about: &About) -> Option<(String, PathBuf)> {
    let mut nearest = true;
    for dir in program.ancestors().skip(1).take(LEVELS) {
        // What lies above node_modules is another package: the one that depends on this one.
        if dir.file_name().is_some_and(|name| name == "node_modules") {
            return None;
        }
        let path = dir.join("package.json");
        let Some(bytes) = small_file(&path, PACKAGE_MAX) else { continue };
        // `dist/package.json` with nothing but `{"type": "module"}` is common: no name, so go on.
        let Some((name, number)) = package(&bytes) else { continue };
        let platforms = about.packages.iter().chain(about.platforms);
        let platform = nearest && platforms.into_iter().any(|package| is_platform_of(&name, package));
        if platform || about.packages.contains(&name.as_str()) {
            return Some((number, path));
        }
        nearest = false;
    }
    None
}

/// `@github/copilot-linux-x64` is the platform package of `@github/copilot`; a sibling such as
/// `@openai/codex-sdk` is not.
fn is_platform_of(name: &str, package: &str) -> bool {
    const SYSTEMS: [&str; 8] = ["linux", "linuxmusl", "darwin", "win32", "windows", "freebsd", "openbsd", "android"];
    let rest = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
    rest.and_then(|rest| rest.split('-').next()).is_some_and(|system| SYSTEMS.contains(&system))
}

/// For a shim: the package in the manager's own folder. Only one that the shim leads to counts: a dispatcher
/// (Volta, asdf, mise) leads to its own, a script has to name it.
///
/// Seen: pnpm 12 writes scripts of 6 KiB to `$PNPM_HOME/bin` that name `global/v11/<hash>/node_modules/<package>/`. Known
/// but not seen here: pnpm up to 10 writes them to `$PNPM_HOME` and names `global/5/node_modules/<package>/`. npm and Bun
/// link, so they never come here.
fn behind_shim(found: &Found, packages: &[&str], home: &Path) -> Option<(String, PathBuf)> {
    let dir = found.path.parent()?;
    let script = if is_dispatcher(found) { None } else { Some(script_text(&found.resolved)?) };
    for package_name in packages {
        if script.as_deref().is_some_and(|script| !names_package(script, package_name, &found.path)) {
            continue;
        }
        let mut versions: Vec<(String, PathBuf, bool)> = Vec::new();
        for dir in managers::package_dirs(dir, package_name) {
            let path = dir.join("package.json");
            let Some((name, number)) = small_file(&path, PACKAGE_MAX).as_deref().and_then(package) else { continue };
            let real = fs::canonicalize(&path).unwrap_or(path);
            if name == *package_name && !versions.iter().any(|(_, seen, _)| *seen == real) {
                let named = script.as_deref().is_some_and(|script| names_folder(script, &dir, package_name));
                versions.push((number, real, named));
            }
        }
        // Several: the one that the script names, else the one that the person's default version holds.
        prefer(&mut versions, |(_, _, named)| *named);
        if let Some(wanted) = managers::tool_version(home) {
            prefer(&mut versions, |(_, path, _)| path.components().any(|part| part.as_os_str() == wanted.as_str()));
        }
        let (number, path, _) = versions.first()?;
        return versions.iter().all(|(other, ..)| other == number).then(|| (number.clone(), path.clone()));
    }
    None
}

/// Keeps those that `wanted` says, when there are any.
fn prefer<T>(all: &mut Vec<T>, wanted: impl Fn(&T) -> bool) {
    if all.iter().any(&wanted) {
        all.retain(wanted);
    }
}

/// One program behind many names: what it starts depends on the name, so its own size and time tell nothing.
pub(crate) fn is_dispatcher(found: &Found) -> bool {
    const NAMES: [&str; 6] = ["volta-shim", "volta", "mise", "rtx", "asdf", "volta-shim.exe"];
    let in_shims = found.path.parent().and_then(Path::file_name).is_some_and(|name| name == "shims");
    in_shims || found.resolved.file_name().and_then(|name| name.to_str()).is_some_and(|name| NAMES.contains(&name))
}

/// The beginning of a script with slashes of one kind; `None` for anything that is no script.
fn script_text(path: &Path) -> Option<String> {
    let text = head(path, SHIM_MAX)?;
    let is_script = text.starts_with(b"#!") || path.extension().is_some_and(|ext| ext == "cmd" || ext == "bat");
    is_script.then(|| String::from_utf8_lossy(&text).replace('\\', "/"))
}

/// True for a script that mentions `node_modules/<package>/` or the package manager's link to the program.
fn names_package(script: &str, package: &str, found: &Path) -> bool {
    let link = found.file_stem().and_then(|name| name.to_str()).map(|name| format!("node_modules/.bin/{name}"));
    script.contains(&format!("node_modules/{package}/")) || link.is_some_and(|link| script.contains(&link))
}

/// True for a script that mentions this very folder: `<store>/node_modules/<package>/`.
fn names_folder(script: &str, dir: &Path, package: &str) -> bool {
    let mut above = dir.ancestors().skip_while(|at| at.file_name().is_none_or(|name| name != "node_modules"));
    let store = above.nth(1).and_then(Path::file_name).and_then(|name| name.to_str());
    store.is_some_and(|store| script.contains(&format!("{store}/node_modules/{package}/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_alone_from_the_lines_of_agent_formats() {
        for (line, want) in [
            ("2.1.332 (Claude Code)", Some("2.1.332")),
            ("codex-cli 0.171.0", Some("0.171.0")),
            ("0.61.0", Some("0.61.0")),
            ("1.18.33\n", Some("1.18.33")),
            ("1.6.0", Some("1.6.0")),
            ("0.73.1", Some("0.73.1")),
            ("0.24.4", Some("0.24.4")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.", Some("1.0.102")),
            ("0.171.0-linux-x64", Some("0.171.0")),
            ("crush version v0.96.1-beta.1", Some("0.96.1")),
            ("1.2.3.4", Some("1.2.3")),
            ("12 1.2 x1..3 1.2. 3.4.5", Some("3.4.5")),
            ("20261130123456789.1.2", None),
            ("1.2.20261130123456789", None),
            ("1.2", None),
            ("", None),
            ("command not found", None),
        ] {
            assert_eq!(number_in(line.as_bytes()).as_deref(), want, "{line:?}");
        }
    }

    #[test]
    fn order_is_by_number_not_by_letter() {
        assert!(semver("v22.10.0") > semver("v22.9.1"));
        assert!(semver("v4.0.0") > semver("system"));
    }

    #[test]
    fn package_json_needs_a_name_and_a_version() {
        assert_eq!(package(br#"{"name":"a","version":"1.2.3-x"}"#), Some(("a".into(), "1.2.3".into())));
        assert_eq!(package(b"\xef\xbb\xbf{\"name\":\"a\",\"version\":\"1.2.3\"}"), Some(("a".into(), "1.2.3".into())));
        for bad in
            [&b"{}"[..], b"", b"[", br#"{"name":1,"version":"1.2.3"}"#, br#"{"name":"a","version":"1"}"#, b"\xff"]
        {
            assert_eq!(package(bad), None);
        }
    }

    #[test]
    fn a_platform_package_is_not_a_sibling() {
        assert!(is_platform_of("@github/copilot-linux-x64", "@github/copilot"));
        assert!(is_platform_of("opencode-windows-x64-baseline", "opencode"));
        assert!(!is_platform_of("@openai/codex-sdk", "@openai/codex"));
        assert!(!is_platform_of("@openai/codex", "@openai/codex"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(3_000))]
        #[test]
        fn no_bytes_can_break_it(bytes: Vec<u8>, text in "[0-9. v\\-]{0,60}") {
            number_in(&bytes);
            package(&bytes);
            semver(&text);
            if let Some(number) = number_in(text.as_bytes()) {
                proptest::prop_assert_eq!(number.split('.').count(), 3);
                proptest::prop_assert!(text.contains(&number));
            }
        }

        #[test]
        fn no_package_json_can_break_it(text in "([{}\\[\\]\",:]|\"name\"|\"version\"|\"1\\.2\\.3\"|\\PC){0,30}") {
            package(text.as_bytes());
        }
    }
}
