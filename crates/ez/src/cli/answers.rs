//! What `--json` prints, as types: the commands fill them, `schema` describes them. Keys are only ever added, and null is
//! "not known, or not asked for" (json.md; the older keys are those of ez-behaviour.md, 2).

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::hooks::view_of;
use crate::store::{self, Session};
use crate::worktree::{self, Asked, Status};

/// A session: `session list`, `session info`, and inside `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionRow {
    /// A UUID.
    pub(super) id: String,
    pub(super) name: String,
    /// The parent's id.
    pub(super) parent_id: Option<String>,
    /// Its folder; null for the default session and where no plugin made one.
    pub(super) path: Option<String>,
    /// Made without a worktree.
    pub(super) bare: bool,
    pub(super) labels: Vec<String>,
    /// RFC 3339; null when it was never entered.
    pub(super) last_accessed: Option<String>,
    /// Variables that are exported on enter.
    pub(super) env: BTreeMap<String, String>,
    /// The repository's own folder.
    pub(super) is_default: bool,
    /// RFC 3339.
    pub(super) created_at: Option<String>,
    /// With --status: the branch in its folder; null when detached or without one.
    pub(super) branch: Option<String>,
    /// With --status: something is uncommitted or untracked, submodules included.
    pub(super) dirty: Option<bool>,
    /// With --status: commits that the upstream, else the base branch, lacks.
    pub(super) ahead: Option<u64>,
    /// With --status: commits that only the upstream, else the base branch, has.
    pub(super) behind: Option<u64>,
    /// With --disk: bytes of the folder's files.
    pub(super) disk: Option<u64>,
    /// The first line of its note.
    pub(super) note: Option<String>,
}

/// A repository with its sessions: an item of `list` and of `session list --all`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TreeRow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) sessions: Vec<SessionRow>,
}

/// A repository: `repo list` and `repo info`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RepoRow {
    pub(super) id: String,
    pub(super) name: String,
    /// Its folder.
    pub(super) path: String,
    /// False for a plain folder.
    pub(super) is_git: bool,
    /// The branch new work starts from.
    pub(super) default_branch: Option<String>,
    /// The URL of `origin`.
    pub(super) remote_url: Option<String>,
    pub(super) labels: Vec<String>,
    /// RFC 3339; null when nothing in it was entered yet.
    pub(super) last_accessed: Option<String>,
    /// With --status, and in `repo info`: the branch in its folder.
    pub(super) branch: Option<String>,
    /// With --status, and in `repo info`: how many sessions it has.
    pub(super) sessions: Option<usize>,
    /// With --status: something is uncommitted or untracked, submodules included.
    pub(super) dirty: Option<bool>,
    /// With --status: commits that the upstream, else the base branch, lacks.
    pub(super) ahead: Option<u64>,
    /// With --status: commits that only the upstream, else the base branch, has.
    pub(super) behind: Option<u64>,
    /// With --disk: bytes of the folder's files.
    pub(super) disk: Option<u64>,
}

/// A label with what carries it: an item of `repo label list` and `session label list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LabelRow {
    pub(super) label: String,
    /// Names of the repositories or sessions that carry it.
    pub(super) on: Vec<String>,
}

/// `session note path`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteInfo {
    /// The session.
    pub(super) session: String,
    /// The notes' folder.
    pub(super) path: String,
    /// False until the folder is first used.
    pub(super) exists: bool,
    /// README.md; null when there is none.
    pub(super) text: Option<String>,
}

/// `session path`, `go --print`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Place {
    /// The repository's id.
    pub(super) repo: String,
    /// The session's name.
    pub(super) session: String,
    /// The folder to work in; null when it has none.
    pub(super) path: Option<String>,
}

/// A session that is done with: an item of `session prune --dry-run`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PruneRow {
    pub(super) id: String,
    pub(super) name: String,
    /// Why it counts as done with.
    pub(super) reason: String,
}

/// A plugin: `plugin list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PluginRow {
    /// The folder's name, which is what commands take.
    pub(super) name: String,
    pub(super) enabled: bool,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    /// `bundled`: served by ez itself; `folder`: from the plugins' folder.
    pub(super) source: &'static str,
    /// Why it cannot be used.
    pub(super) problem: Option<String>,
}

/// `plugin info`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PluginInfo {
    /// The folder's name, which is what commands take.
    pub(super) name: String,
    pub(super) enabled: bool,
    pub(super) version: String,
    pub(super) description: String,
    /// `bundled`: served by ez itself; `folder`: from the plugins' folder.
    pub(super) source: &'static str,
    /// Its folder; null for a bundled one.
    pub(super) path: Option<String>,
    pub(super) hooks: Vec<String>,
    pub(super) mutates_session_path: bool,
    pub(super) priority: i64,
    pub(super) views: Vec<wire::hook::View>,
    pub(super) binds: Vec<wire::hook::Bind>,
    pub(super) settings: Vec<SettingRow>,
}

/// A setting that a plugin declares.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SettingRow {
    /// The key in `[plugin_settings.<plugin>]`.
    pub(super) name: String,
    /// As the manifest says: bool, string, int, float, list.
    pub(super) kind: String,
    pub(super) default: Option<serde_json::Value>,
    pub(super) description: Option<String>,
}

/// `plugin check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Checked {
    pub(super) name: String,
    /// No problem at all.
    pub(super) ok: bool,
    pub(super) problems: Vec<String>,
}

/// `config show`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConfigShown {
    /// The path of config.toml.
    pub(super) path: String,
    /// False when every setting has its default.
    pub(super) exists: bool,
    /// What the file says.
    pub(super) file: serde_json::Map<String, serde_json::Value>,
    /// What counts: the file over the defaults, by the keys of `config get`.
    pub(super) settings: BTreeMap<String, serde_json::Value>,
}

impl SessionRow {
    /// Rows of a repository's sessions, in their order.
    pub(super) fn all(context: &Context, repo: &store::Repo, sessions: Vec<Session>, asked: Asked) -> Vec<Self> {
        let looks = worktree::looks(context, repo, &sessions, asked);
        let folder = |session: &Session| match &session.path {
            Some(path) => Some(path.clone()),
            None => session.is_default.then(|| repo.path.clone()),
        };
        let folders: Vec<Option<String>> = sessions.iter().map(folder).collect();
        let folders: Vec<Option<&Path>> = folders.iter().map(|path| path.as_deref().map(Path::new)).collect();
        // Two small files for each: as dear as all the rest of a long list.
        let branches = if asked.status { worktree::branches(&folders) } else { vec![None; folders.len()] };
        let noted = worktree::noted(context, &repo.id);
        let note = |session: &Session| {
            let has = noted.contains(&session.id);
            has.then(|| worktree::note_line(context, &repo.id, &session.id)).flatten()
        };
        let known = sessions.into_iter().zip(looks).zip(branches);
        known.map(|((session, status), branch)| Self::of(note(&session), session, status, branch)).collect()
    }

    fn of(note: Option<String>, session: Session, status: Status, branch: Option<String>) -> Self {
        Self {
            branch,
            note,
            dirty: status.dirty,
            ahead: status.ahead,
            behind: status.behind,
            disk: status.disk,
            created_at: Some(session.created_at).filter(|stamp| !stamp.is_empty()),
            id: session.id,
            name: session.name,
            parent_id: session.parent_id,
            path: session.path,
            bare: session.bare,
            labels: session.labels,
            last_accessed: session.last_accessed,
            env: session.env,
            is_default: session.is_default,
        }
    }
}

impl SessionRow {
    /// What `--status` and `--disk` add to a line.
    pub(super) fn marks(&self) -> String {
        let labels: String = self.labels.iter().map(|label| format!(" #{}", sys::text::clean(label))).collect();
        let note = self.note.as_ref().map(|note| format!("  {note}")).unwrap_or_default();
        let marks = marks(self.branch.as_deref(), self.dirty, [self.ahead, self.behind], self.disk);
        format!("{marks}{labels}{note}")
    }
}

impl RepoRow {
    /// What `--status` and `--disk` add to a line.
    pub(super) fn marks(&self) -> String {
        marks(self.branch.as_deref(), self.dirty, [self.ahead, self.behind], self.disk)
    }

    /// The row of one repository. A damaged repo.toml hides its details, not the repository.
    pub(super) fn of(context: &Context, repo: &store::Repo, asked: Asked) -> Self {
        let mut state = context.store.repo_state(&repo.id).unwrap_or_default();
        let (labels, last_accessed) = (std::mem::take(&mut state.labels), state.last_accessed.clone());
        let view = view_of(repo, state);
        let own = Session { is_default: true, ..Session::default() };
        let status = worktree::looks(context, repo, &[own], asked).first().copied().unwrap_or_default();
        let sessions = if asked.status { context.store.sessions(&repo.id).ok() } else { None };
        Self {
            id: repo.id.clone(),
            name: repo.name.clone(),
            path: repo.path.clone(),
            is_git: repo.is_git,
            default_branch: view.default_branch,
            remote_url: view.remote_url,
            labels,
            last_accessed,
            branch: asked.status.then(|| worktree::branch(Path::new(&repo.path))).flatten(),
            sessions: sessions.map(|sessions| sessions.len()),
            dirty: status.dirty,
            ahead: status.ahead,
            behind: status.behind,
            disk: status.disk,
        }
    }
}

/// Branch, changes, distance and size behind a row of a text list; empty when nothing is known.
fn marks(branch: Option<&str>, dirty: Option<bool>, distance: [Option<u64>; 2], disk: Option<u64>) -> String {
    let mut words: Vec<String> = branch.map(sys::text::clean).into_iter().collect();
    words.extend((dirty == Some(true)).then(|| "±".to_owned()));
    for (arrow, count) in ["↑", "↓"].iter().zip(distance) {
        words.extend(count.filter(|count| *count > 0).map(|count| format!("{arrow}{count}")));
    }
    words.extend(disk.map(sys::text::human::bytes));
    if words.is_empty() { String::new() } else { format!("  {}", words.join(" ")) }
}
