//! What a deletion touches beside the uncommitted changes, in lines for the person: ignored files that go to the trash,
//! commits that only the kept branch has, its stashes, the processes in the folder (ez.md, "Sessions"). It asks nothing
//! and changes nothing. `delete` prints it before it begins.

use std::path::Path;

use sys::text;

use super::processes::standing_in;
use crate::context::Context;
use crate::git::Git;
use crate::model::gitdir::GitDir;

/// Names shown before "and N more".
const SHOWN: usize = 8;

/// What is told of one session, one fact a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaving {
    /// The lines, cleaned.
    pub lines: Vec<String>,
}

impl Leaving {
    /// Looks at the worktree `folder`, whose branch is `branch`.
    pub fn look(context: &Context, folder: &Path, branch: Option<&str>) -> Self {
        let git = Git::new(context, folder);
        let mut lines = Vec::new();
        lines.extend(ignored(&git));
        lines.extend(submodules(context, &git));
        if let Some(branch) = branch {
            lines.extend(unmerged(&git, branch));
            lines.extend(stashes(&git, branch));
        }
        lines.extend(processes(folder));
        Self { lines }
    }
}

/// `one, two and 3 more`.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(SHOWN).map(|name| text::clean(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Ignored files, a whole ignored folder as one name.
fn ignored(git: &Git) -> Option<String> {
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let told = git.text(&args).ok()?;
    let names: Vec<String> = told.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (!names.is_empty()).then(|| format!("ignored files go to the trash: {}", some(&names)))
}

/// Submodules with commits that no remote of theirs has: with the worktree goes the only repository that holds them.
fn submodules(context: &Context, git: &Git) -> Option<String> {
    // Without the file there is none, and git need not be started to say so.
    if !git.dir().join(".gitmodules").is_file() {
        return None;
    }
    let told = git.text(&["ls-files", "-z", "--stage"]).ok()?;
    let links = told.split('\0').filter(|entry| entry.starts_with("160000 "));
    let names = links.filter_map(|entry| Some(entry.split_once('\t')?.1));
    let own = names.filter_map(|name| {
        let part = git.dir().join(name);
        GitDir::at(&part)?;
        let args = ["rev-list", "--count", "HEAD", "--branches", "--not", "--remotes", "--"];
        let count = Git::new(context, part).line(&args).filter(|count| count != "0")?;
        let commits = if count == "1" { "commit" } else { "commits" };
        Some(format!("{name} ({count} {commits} that no remote has)"))
    });
    let own: Vec<String> = own.collect();
    (!own.is_empty()).then(|| format!("submodules go to the trash: {}", some(&own)))
}

fn unmerged(git: &Git, branch: &str) -> Option<String> {
    let count = git.commits_of_its_own(branch).filter(|count| *count > 0)?;
    let commits = if count == 1 { "commit" } else { "commits" };
    Some(text::clean(&format!("branch {branch} kept, {count} {commits} not merged")))
}

/// Stashes that were made on this branch: git names it in their message.
fn stashes(git: &Git, branch: &str) -> Option<String> {
    // Without a log of stashes there is none, and git need not be started to say so.
    let common = GitDir::at(git.dir())?.common;
    if !common.join("logs/refs/stash").is_file() && !common.join("reftable").exists() {
        return None;
    }
    let told = git.text(&["stash", "list", "-z", "--format=%gd %gs"]).ok()?;
    let of_it = |entry: &&str| {
        let words = entry.split_once(' ').map_or("", |(_, words)| words);
        let rest = words.strip_prefix("WIP on ").or_else(|| words.strip_prefix("On "));
        rest.and_then(|rest| rest.strip_prefix(branch)).is_some_and(|rest| rest.starts_with(':'))
    };
    let found: Vec<String> = told.split('\0').filter(of_it).map(str::to_owned).collect();
    (!found.is_empty()).then(|| text::clean(&format!("stashes of {branch} stay in the repository: {}", some(&found))))
}

fn processes(folder: &Path) -> Option<String> {
    let found: Vec<String> =
        standing_in(folder).iter().map(|process| format!("{} ({})", process.name, process.pid)).collect();
    (!found.is_empty()).then(|| format!("processes in the folder: {}", some(&found)))
}

/// Who put a lock file there and when, in words; what cannot be told is left out.
pub fn lock_of(file: &Path) -> String {
    let Ok(metadata) = std::fs::metadata(file) else { return String::new() };
    let when = metadata.modified().map(|then| format!(" on {}", text::human::date(then))).unwrap_or_default();
    format!("locked{}{when}", owner(&metadata))
}

#[cfg(unix)]
fn owner(metadata: &std::fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let uid = metadata.uid().to_string();
    let people = sys::files::read_bounded(Path::new("/etc/passwd"), 1 << 20).ok().flatten().unwrap_or_default();
    let people = String::from_utf8_lossy(&people).into_owned();
    // passwd(5): name:password:uid:...
    let name = people.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| text::clean(name))
    });
    format!(" by {}", name.unwrap_or_else(|| format!("user {uid}")))
}

#[cfg(not(unix))]
fn owner(_: &std::fs::Metadata) -> String {
    String::new()
}
