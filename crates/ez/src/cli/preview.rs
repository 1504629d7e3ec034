//! What a picker shows beside a row: the hidden `ez preview`. It never fails and changes nothing; an empty preview is one.

use std::path::Path;

use sys::{Failure, text};

use super::Out;
use crate::browser::keys;
use crate::context::Context;
use crate::git::Git;
use crate::model::gitdir::GitDir;
use crate::ops::accept;
use crate::store::{Repo, Session};
use crate::worktree::{self, Asked};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A path, or a session's id
    what: Option<String>,
    #[arg(long)]
    repo_id: Option<String>,
    #[arg(long)]
    session_id: Option<String>,
    #[arg(long)]
    session_actions: bool,
    /// Whose keys are told: the picker that is open
    #[arg(long)]
    picker: Option<String>,
    #[arg(long)]
    any: bool,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let Some(what) = args.session_id.as_deref().or(args.what.as_deref()) else { return Ok(0) };
    let repos = context.store.repos().unwrap_or_default();
    let of_session =
        repos.iter().filter(|repo| args.repo_id.as_ref().is_none_or(|id| *id == repo.id)).find_map(|repo| {
            let sessions = context.store.sessions(&repo.id).unwrap_or_default();
            sessions.into_iter().find(|session| session.id == what).map(|session| (repo, session))
        });
    let mut picker = args.picker.as_deref();
    if let Some((repo, session)) = of_session {
        of(context, repo, &session, out);
        picker = picker.or(Some("session"));
    } else if what.starts_with('/') {
        let repo = repos.iter().find(|repo| repo.path == what);
        folder(context, repo, None, what, out);
    }
    if let Some(picker) = picker {
        let (plugins, _) = keys::of_plugins(context, picker);
        // fzf says how wide its window is; it would break lines anywhere.
        let width = context.env.text("FZF_PREVIEW_COLUMNS").and_then(|columns| columns.parse().ok());
        let lines = keys::lines(&keys::help(context, picker, &plugins, true), "  ", width.unwrap_or(usize::MAX));
        out.line(&format!("\n{}", lines.join("\n")));
    }
    Ok(0)
}

fn of(context: &Context, repo: &Repo, session: &Session, out: &mut Out) {
    out.line(&out.bold(&text::clean(&session.name)));
    if !session.labels.is_empty() {
        out.line(&format!("labels  {}", text::clean(&session.labels.join(", "))));
    }
    for (key, value) in &session.env {
        out.line(&format!("env     {}={}", text::clean(key), text::clean(value)));
    }
    for (key, value) in session.plugin_state.iter().filter(|(_, value)| value.is_str() || value.is_bool()) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.line(&text::clean(&format!("plugin  {key}={value}")));
    }
    if let Some(path) = accept::folder(repo, session) {
        folder(context, Some(repo), Some(session), &path, out);
    }
    let note = context.store.notes_dir(&repo.id, &session.id).join("README.md");
    if let Ok(Some(bytes)) = sys::files::read_tail(&note, 4096) {
        out.line(&format!("\n{}", text::clean_bytes(&bytes).trim_end()));
    }
}

fn folder(context: &Context, repo: Option<&Repo>, session: Option<&Session>, path: &str, out: &mut Out) {
    if !Path::new(path).is_dir() {
        return;
    }
    out.line(&text::clean(path));
    let Some(git) = GitDir::at(Path::new(path)) else { return };
    out.line(&format!("branch  {}", text::clean(git.branch().as_deref().unwrap_or("(detached)"))));
    let git = Git::new(context, path);
    if let Ok(changes) = git.changes() {
        out.line(&format!("changes {}", changes.len()));
    }
    if let Some(repo) = repo {
        let own = session.cloned().unwrap_or(Session { is_default: true, ..Session::default() });
        let asked = Asked { status: true, disk: false };
        let status = worktree::looks(context, repo, &[own], asked).first().copied().unwrap_or_default();
        if let (Some(ahead), Some(behind)) = (status.ahead, status.behind) {
            out.line(&format!("base    {ahead} ahead, {behind} behind"));
        }
    }
    let running: Vec<_> = worktree::standing_in(Path::new(path))
        .into_iter()
        .take(10)
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    if !running.is_empty() {
        out.line(&format!("running {}", running.join(", ")));
    }
    if let Ok(log) = git.text(&["log", "--oneline", "--max-count=5", "--"]) {
        out.line(&text::clean_lines(log.trim_end()));
    }
}
