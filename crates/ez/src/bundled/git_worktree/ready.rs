//! Making a new worktree ready to work in: copies and links of untracked files of the main checkout, and a setup command.
//! All of it is off until the person's own settings ask for it, and nothing is read from the repository: what a
//! repository says must not run here. A copy that fails is told and keeps no session from being made.

use std::path::{Component, Path, PathBuf};

use sys::{Failure, files};

use crate::bundled::request::Request;
use crate::bundled::tool::{Tool, args, say};
use crate::shell::{Shell, quote};

/// Matches a pattern may have; more is a mistake (`**` of a whole disk).
const MOST: usize = 1000;

/// Copies and links what the settings `copy` and `link` name.
pub(super) fn fill(request: &Request, worktree: &Path) {
    let from = &request.repo.path;
    for (setting, link) in [("copy", false), ("link", true)] {
        for pattern in request.texts(setting) {
            let Some(parts) = parts(pattern) else {
                say(&format!("{setting}: '{}' is no path inside of the repository", sys::text::clean(pattern)));
                continue;
            };
            for name in matches(from, &parts) {
                if let Err(failure) = put(&from.join(&name), &worktree.join(&name), link) {
                    say(&failure.to_string());
                }
            }
        }
    }
}

/// The setting `setup` as a command that ez runs in the new worktree, on its terminal.
pub(super) fn setup(request: &Request, worktree: &str) -> Option<String> {
    let command = request.texts("setup").first().copied()?.trim();
    (!command.is_empty()).then(|| format!("cd -- {} && {{\n{command}\n}}", quote(Shell::Bash, worktree)))
}

/// The parts of a relative pattern; none when it could lead out of the repository or into git's folder.
fn parts(pattern: &str) -> Option<Vec<&str>> {
    let path = Path::new(pattern.trim_end_matches('/'));
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::Normal(part) => part.to_str().filter(|part| !part.eq_ignore_ascii_case(".git")),
            _ => None,
        })
        .collect();
    parts.filter(|parts| !parts.is_empty())
}

/// What below `root` matches, as paths relative to it, in order.
fn matches(root: &Path, parts: &[&str]) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in parts {
        let mut next = Vec::new();
        for folder in found {
            if !part.contains(['*', '?']) {
                next.extend(Some(folder.join(part)).filter(|path| root.join(path).symlink_metadata().is_ok()));
                continue;
            }
            let Ok(entries) = root.join(&folder).read_dir() else { continue };
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            next.extend(names.filter(|name| name != ".git" && glob(part, name)).map(|name| folder.join(name)));
        }
        next.sort();
        next.truncate(MOST);
        found = next;
    }
    found
}

/// `*` is any run of characters, `?` any one.
fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(char) if *char == '?' || *char == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                // The last star takes one character more.
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|char| *char == '*')
}

/// One copy (with modes, links as links, by reflink where the disk can) or one link. What is there stays.
fn put(from: &Path, to: &Path, link: bool) -> Result<(), Failure> {
    if to.symlink_metadata().is_ok() {
        return Ok(());
    }
    files::make_dir(to.parent().unwrap_or(to))?;
    if link {
        #[cfg(unix)]
        return std::os::unix::fs::symlink(from, to).map_err(|error| Failure::io("link", to, &error));
        #[cfg(not(unix))]
        return Err(Failure::new(format!("could not link {}", to.display())));
    }
    let env: sys::Env = [("PATH", "/usr/bin:/bin")].into_iter().collect();
    let what = format!("copy {} to {}", from.display(), to.display());
    Tool::new("cp", &env).must(&what, None, &args!("-pR", "--", from, to)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(glob(".env*", ".env.local") && glob("*", "x") && glob("a*b?c", "axxbyc") && glob("**", ""));
        assert!(!glob(".env", ".env2") && !glob("a?", "a") && !glob("*b", "abc"));
        assert_eq!(parts("a/b*/"), Some(vec!["a", "b*"]));
        for bad in ["", "/etc/x", "../x", "a/../../x", ".git/config", "a/.GIT"] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
