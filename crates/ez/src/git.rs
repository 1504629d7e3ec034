//! The only door to git: each call with a clean environment, English messages, NUL-separated output, full ref names and
//! `--` before paths. It never decides anything; a failure carries git's own words. Operations call it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sys::proc::{self, Cancel, Feed, Finished, HandOver, Limits, Spec};
use sys::{Env, Failure, text};

use crate::context::Context;
use crate::model::gitdir::GitDir;

/// Bytes kept of one answer.
const MAX: usize = 64 << 20;

/// git in one folder.
#[derive(Clone, Debug)]
pub struct Git {
    env: Env,
    dir: PathBuf,
}

/// One block of `git worktree list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its folder.
    pub path: String,
    /// The branch, without `refs/heads/`; `None` when detached.
    pub branch: Option<String>,
    /// The commit.
    pub head: Option<String>,
    /// It has no files.
    pub bare: bool,
    /// Somebody locked it; the reason may be empty.
    pub locked: Option<String>,
    /// Its folder is gone.
    pub prunable: bool,
}

impl Git {
    /// git in `dir`.
    pub fn new(context: &Context, dir: impl Into<PathBuf>) -> Self {
        let mut env = context.child_env();
        env.set("LC_ALL", "C").set("GIT_OPTIONAL_LOCKS", "0").remove("LANGUAGE");
        Self { env, dir: dir.into() }
    }

    fn spec(&self, args: &[&str]) -> Spec {
        let args = args.iter().map(OsString::from).collect();
        Spec { program: "git".into(), args, dir: Some(self.dir.clone()), env: self.env.clone() }
    }

    /// Runs git and gives whatever came.
    ///
    /// # Errors
    /// When git cannot be started.
    pub fn run(&self, args: &[&str]) -> Result<Finished, Failure> {
        let limits = Limits { deadline: None, output: MAX, merged: false };
        proc::run(&self.spec(args), &limits, &Cancel::never())
    }

    /// stdout of a git call that must succeed.
    ///
    /// # Errors
    /// When git fails; its stderr is the cause.
    pub fn text(&self, args: &[&str]) -> Result<String, Failure> {
        self.bytes(args).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// As [`Git::text`], the bytes as they are: names of files need not be UTF-8.
    ///
    /// # Errors
    /// As [`Git::text`].
    pub fn bytes(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        let done = self.run(args)?;
        // What is cut off would be taken for all there is.
        if done.stdout.len() >= MAX {
            return Err(failed(args, &done).cause(format!("it says more than {}", text::human::bytes(64 << 20))));
        }
        if done.exit.ok() { Ok(done.stdout) } else { Err(failed(args, &done)) }
    }

    /// As [`Git::bytes`], with all of git's stdin.
    ///
    /// # Errors
    /// As [`Git::text`].
    pub fn fed(&self, args: &[&str], stdin: &[u8]) -> Result<Vec<u8>, Failure> {
        let limits = Limits { deadline: None, output: MAX, merged: false };
        let mut said = Vec::new();
        let feed = Feed { stdin, stderr: &mut |bytes| said.extend_from_slice(bytes) };
        let mut done = proc::run_fed(&self.spec(args), &limits, feed)?;
        done.stderr = said;
        if done.exit.ok() { Ok(done.stdout) } else { Err(failed(args, &done)) }
    }

    /// The same git with another index, which it makes when it is not there.
    #[must_use]
    pub fn with_index(&self, index: &Path) -> Self {
        let mut other = self.clone();
        other.env.set("GIT_INDEX_FILE", index.as_os_str());
        other
    }

    /// The same folder with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.set(name, value);
        self
    }

    /// The one line of a git call; `None` when it fails or says nothing.
    pub fn line(&self, args: &[&str]) -> Option<String> {
        let text = self.text(args).ok()?;
        let line = text.lines().next().unwrap_or_default().trim_end();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// A git call with the person's terminal, for passwords and progress.
    ///
    /// # Errors
    /// When git cannot be started or fails.
    pub fn on_terminal(&self, args: &[&str]) -> Result<(), Failure> {
        let mut spec = self.spec(args);
        // The person's own language: these messages are for them.
        spec.env.remove("LC_ALL");
        match proc::hand_over(&spec, &proc::never())? {
            HandOver::Ended(exit) if exit.ok() => Ok(()),
            HandOver::Ended(exit) => Err(Failure::new(format!("git {} failed", args[0])).cause(exit)),
            HandOver::Terminated => Err(Failure::cancelled("stopped")),
        }
    }

    /// The commit `rev` names.
    pub fn commit(&self, rev: &str) -> Option<String> {
        self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{rev}^{{commit}}")])
    }

    /// All worktrees, the main one first.
    ///
    /// # Errors
    /// When git fails.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, Failure> {
        let text = match self.text(&["worktree", "list", "--porcelain", "-z"]) {
            Ok(text) => text,
            // git before 2.36 has no -z.
            Err(_) => self.text(&["worktree", "list", "--porcelain"])?.replace('\n', "\0"),
        };
        Ok(parse_worktrees(&text))
    }

    /// What is not committed: `git status` entries, submodules included. Left out are ignored files, and links to the same
    /// file or folder of the main checkout (git-worktree's setting `link`), which stays.
    ///
    /// # Errors
    /// When git fails.
    pub fn changes(&self) -> Result<Vec<String>, Failure> {
        let args = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=none"];
        let text = self.text(&args)?;
        let mut main = None;
        let mut entries = text.split('\0').filter(|entry| !entry.is_empty());
        let mut found = Vec::new();
        while let Some(entry) = entries.next() {
            let renamed = entry.bytes().take(2).any(|state| matches!(state, b'R' | b'C'));
            match (entry.strip_prefix("?? "), renamed) {
                (Some(name), _) if self.links_to_main(name, &mut main) => {}
                // Its old name is the next field (git-status(1), "Pathname Format Notes and -z").
                (_, true) => found.push(match (entries.next(), entry.split_at_checked(3)) {
                    (Some(old), Some((state, new))) => format!("{state}{old} -> {new}"),
                    _ => entry.to_owned(),
                }),
                _ => found.push(entry.to_owned()),
            }
        }
        Ok(found)
    }

    /// True for a link to the same place in the main checkout, whose folder `main` keeps between calls.
    pub fn links_to_main(&self, name: impl AsRef<Path>, main: &mut Option<PathBuf>) -> bool {
        let name = name.as_ref();
        let Ok(target) = std::fs::read_link(self.dir.join(name)) else { return false };
        let main = main.get_or_insert_with(|| GitDir::at(&self.dir).map(|tree| tree.main()).unwrap_or_default());
        main.is_absolute() && *main != self.dir && target == main.join(name)
    }

    /// The local branches with their commits.
    ///
    /// # Errors
    /// When git fails.
    pub fn branches(&self) -> Result<Vec<(String, String)>, Failure> {
        let text = self.text(&["for-each-ref", "--format=%(refname)%00%(objectname)", "refs/heads/"])?;
        let pair = |line: &str| {
            let (name, commit) = line.split_once('\0')?;
            Some((name.strip_prefix("refs/heads/")?.to_owned(), commit.to_owned()))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    /// How many commits of `branch` no other branch, remote or local, has.
    pub fn commits_of_its_own(&self, branch: &str) -> Option<u64> {
        let full = format!("refs/heads/{branch}");
        // One that is where main is needs no git to tell.
        if let Some(git) = GitDir::at(&self.dir)
            && git.commit(&full).is_some_and(|tip| git.is_main_at(&tip, branch))
        {
            return Some(0);
        }
        let count = self.line(&[
            "rev-list",
            "--count",
            &full,
            "--not",
            // Without `refs/heads/`: for --branches git compares the rest of the name (git-rev-list, --exclude).
            &format!("--exclude={branch}"),
            "--branches",
            "--remotes",
            "--",
        ])?;
        count.parse().ok()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// The branch that a worktree has checked out, `None` when it is detached; from its files where they tell.
pub fn branch(context: &Context, tree: &GitDir) -> Option<String> {
    if tree.reftable() {
        let full = Git::new(context, &tree.top).line(&["symbolic-ref", "--quiet", "HEAD"])?;
        return full.strip_prefix("refs/heads/").map(str::to_owned);
    }
    tree.branch()
}

/// A path as git printed it.
pub fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes));
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn failed(args: &[&str], done: &Finished) -> Failure {
    let words = text::clean_bytes(&done.stderr);
    let words = words.trim().strip_prefix("fatal: ").unwrap_or(words.trim()).to_owned();
    let settings = args.chunks(2).take_while(|pair| pair.first() == Some(&"-c")).count() * 2;
    let what = args
        .iter()
        .skip(settings)
        .take_while(|arg| !arg.starts_with('-'))
        .take(2)
        .copied()
        .collect::<Vec<_>>()
        .join(" ");
    let failure = Failure::new(format!("git {what} failed"));
    if words.is_empty() { failure.cause(done.exit) } else { failure.cause(words) }
}

fn parse_worktrees(text: &str) -> Vec<Worktree> {
    let mut found: Vec<Worktree> = Vec::new();
    for field in text.split('\0') {
        let (name, value) = field.split_once(' ').unwrap_or((field, ""));
        if name == "worktree" {
            found.push(Worktree { path: value.to_owned(), ..Worktree::default() });
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        match name {
            "HEAD" => last.head = Some(value.to_owned()),
            "branch" => last.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
            "bare" => last.bare = true,
            "locked" => last.locked = Some(value.to_owned()),
            "prunable" => last.prunable = true,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_with_odd_paths() {
        let text =
            "worktree /a b\nc\0HEAD 1\0branch refs/heads/x/y\0\0worktree /d\0HEAD 2\0detached\0locked why not\0\0";
        let found = parse_worktrees(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].path.as_str(), found[0].branch.as_deref()), ("/a b\nc", Some("x/y")));
        assert_eq!((found[1].branch.as_deref(), found[1].locked.as_deref()), (None, Some("why not")));
    }
}
