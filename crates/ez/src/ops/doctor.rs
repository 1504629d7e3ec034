//! What is wrong with the state, and mending it: damaged files, folders that are gone, parents that do not exist, records
//! of killed processes, plugins that cannot be asked, keys that two things want. Looking changes nothing; with `fix` each
//! problem that has a safe remedy is mended and said. `ez doctor` calls it.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use sys::{Failure, files};

use super::steps::{self, Operation};
use super::{accept, record, repos, trash};
use crate::context::Context;
use crate::hooks::{Source, plugins};
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{Blocks, CLOSED, Repo, RepoState, Session};

/// `ez doctor --json` (json.md).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// No problem at all.
    pub ok: bool,
    /// By subject.
    pub sections: Vec<Section>,
}

/// One subject.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Section {
    /// Its name.
    pub title: String,
    /// What was looked at.
    pub report: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
}

impl Section {
    fn new(title: &str) -> Self {
        Self { title: title.to_owned(), report: Vec::new(), problems: Vec::new() }
    }
}

/// Looks at everything; with `fix`, mends what can be mended.
pub fn examine(context: &Context, fix: bool, out: &mut Out) -> Report {
    let mut sections = vec![configuration(context), plugins_section(context)];
    let mut state = Section::new("repositories");
    if let Some(text) = set_aside_damaged(&context.store.index_file(), |text| Blocks::<Repo>::read(text).map(drop), fix)
    {
        state.problems.push(text);
    }
    for repo in context.store.repos().unwrap_or_default() {
        repository(context, &repo, fix, &mut state, out);
    }
    state.problems.extend(trash::leftovers(context, fix));
    sections.push(state);
    Report { ok: sections.iter().all(|section| section.problems.is_empty()), sections }
}

fn configuration(context: &Context) -> Section {
    let mut section = Section::new("configuration");
    section.report.push(format!("configuration in {}", context.paths.short(&context.store.root)));
    section.report.push(format!("data in {}", context.paths.short(&context.store.data)));
    if let Err(failure) = context.store.config() {
        section.problems.push(failure.to_string());
    }
    for root in context.config.roots(&context.paths) {
        if !root.is_dir() {
            section.problems.push(format!("the root {} is no folder", context.paths.short(&root)));
        }
    }
    section.problems.extend(crate::browser::keys::wrong(&context.config.keybinds));
    section.problems.extend(meaningless(context));
    for program in ["git", "fzf"] {
        match sys::proc::which(program.as_ref(), &context.env) {
            Some(path) => section.report.push(format!("{program} is {}", context.paths.short(&path))),
            None if program == "git" => section.problems.push("git is not in PATH".to_owned()),
            None => section.report.push("fzf is not in PATH: the browser needs it".to_owned()),
        }
    }
    section
}

/// Values in the file that nothing here has a meaning for; `config set` refuses or tells them.
fn meaningless(context: &Context) -> Vec<String> {
    let config = &context.config;
    let mut found = Vec::new();
    let values = [
        ("default_sort", config.default_sort.as_str()),
        ("selector.backend", config.selector.backend.as_str()),
        ("delete_branch", config.delete_branch.as_deref().unwrap_or_default()),
    ];
    for (key, value) in values {
        let words = CLOSED.iter().find(|(closed, _)| *closed == key).map_or(&[][..], |(_, words)| words);
        if !words.contains(&value) {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            found.push(format!("{key} is {}, but it is one of {}", quoted(value), words.join(", ")));
        }
    }
    for (key, value) in [("on_enter", config.on_enter.as_str()), ("on_create", config.on_create.as_str())] {
        let nothing = key == "on_create" && matches!(value, "" | "none");
        if !nothing && !accept::is_way(context, value) {
            found.push(format!("{key} is {}, which is no key of an enabled plugin", quoted(value)));
        }
    }
    if !crate::browser::is_view(context, &config.default_select_by) {
        found.push(format!("default_select_by is {}, which is no view", quoted(&config.default_select_by)));
    }
    found
}

fn plugins_section(context: &Context) -> Section {
    let mut section = Section::new("plugins");
    for plugin in plugins::enabled(context) {
        match plugin {
            Ok(plugin) => {
                section.report.push(format!("{} {}", plugin.name, plugin.manifest.version));
                if let Err(failure) = crate::hooks::startable(&plugin) {
                    section.problems.push(format!("{}: {failure}", plugin.name));
                }
                if plugin.source == Source::Bundled
                    && let tool @ ("tmux" | "zellij") = plugin.name.as_str()
                    && sys::proc::which(tool.as_ref(), &context.env).is_none()
                {
                    section.problems.push(format!("{tool} is on, but no program {tool} is in PATH"));
                }
                for hook in plugin.manifest.unknown_hooks() {
                    section.problems.push(format!("{} asks for {hook}, which this ez does not have", plugin.name));
                }
            }
            Err(broken) => section.problems.push(format!("{}: {}", broken.name, broken.why)),
        }
    }
    section.problems.extend(plugins::wrong_settings(context));
    section.problems.extend(crate::browser::keys::conflicts(context));
    section
}

/// A damaged file is told; with `fix` it is renamed, so that nothing is lost and work goes on.
fn set_aside_damaged(path: &Path, read: impl Fn(&str) -> Result<(), Failure>, fix: bool) -> Option<String> {
    let why = match files::read_bounded(path, 64 << 20) {
        Ok(None) => return None,
        Ok(Some(bytes)) => match std::str::from_utf8(&bytes) {
            Ok(text) if text.trim().is_empty() => "it is empty".to_owned(),
            Ok(text) => read(text).err()?.to_string(),
            Err(error) => error.to_string(),
        },
        Err(failure) => return Some(failure.to_string()),
    };
    if !fix {
        return Some(format!("{} is damaged: {why}", path.display()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stamp: String = crate::store::stamp().chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = path.with_file_name(format!("{name}.damaged-{stamp}"));
    match files::move_to(path, &aside) {
        Ok(()) => Some(format!("{} was damaged and is set aside as {}", path.display(), aside.display())),
        Err(failure) => Some(failure.to_string()),
    }
}

fn repository(context: &Context, repo: &Repo, fix: bool, section: &mut Section, out: &mut Out) {
    section.report.push(format!("{} {}", repo.id, context.paths.short(Path::new(&repo.path))));
    let there = Path::new(&repo.path).is_dir();
    if !there {
        section.problems.push(format!(
            "{}: the folder {} is gone (moved? `ez add NEW-FOLDER` keeps its sessions; `ez remove {}` forgets it)",
            repo.id, repo.path, repo.id
        ));
    }
    if there && repos::is_another(context, repo) {
        section.problems.push(format!(
            "{}: another repository lies at {} than the one that was added (`ez add` where that is now keeps its sessions; \
             `ez remove {}` and `ez add {}` take this one)",
            repo.id, repo.path, repo.id, repo.path
        ));
    }
    let sessions_file = context.store.sessions_file(&repo.id);
    section.problems.extend(set_aside_damaged(&sessions_file, |text| Blocks::<Session>::read(text).map(drop), fix));
    section.problems.extend(set_aside_damaged(
        &context.store.repo_file(&repo.id),
        |text| RepoState::read(text).map(drop),
        fix,
    ));
    section.problems.extend(half_moved(context, repo, fix, out));
    for left in record::left(context, &repo.id) {
        match &left.record {
            // What git is needed for waits until the repository is there again.
            Some(record) if !there => section.problems.push(interrupted(context, repo, &left.file, record, false, out)),
            Some(record) => section.problems.push(interrupted(context, repo, &left.file, record, fix, out)),
            // It stands before the first step, so one that was not even written whole has begun nothing.
            None => section.problems.extend(set_aside_damaged(&left.file, readable, fix)),
        }
    }
    if fix {
        record::sweep(context, &repo.id);
    }
    let sessions = context.store.sessions(&repo.id).unwrap_or_default();
    for session in &sessions {
        if there
            && let Some(path) = session.path.as_deref()
            && !Path::new(path).exists()
        {
            section.problems.push(format!(
                "{}: the folder of {} is gone: {path} (`ez session prune --gone` removes such sessions)",
                repo.id, session.name
            ));
        }
        let orphan = session.parent_id.as_ref().is_some_and(|id| !sessions.iter().any(|other| other.id == *id));
        if orphan {
            section.problems.push(format!("{}: the parent of {} does not exist", repo.id, session.name));
        }
    }
    if fix && sessions.iter().any(|session| session.parent_id.is_some()) {
        mend_parents(context, repo, section);
    }
}

/// A move of the repository that was killed between its files: the list has the new folder, its own file the old one.
fn half_moved(context: &Context, repo: &Repo, fix: bool, out: &mut Out) -> Option<String> {
    let old = repos::moved_from(context, repo)?;
    let what = format!("{}: it was moved here from {old}, and its sessions do not know yet", repo.id);
    if !fix {
        return Some(format!("{what}; `ez doctor --fix` tells them"));
    }
    Some(match repos::finish_move(context, repo, &old, out) {
        Ok(()) => format!("{what}; they are told now"),
        Err(failure) => format!("{what}: {failure}"),
    })
}

fn readable(text: &str) -> Result<(), Failure> {
    serde_json::from_str::<record::Record>(text).map(drop).map_err(|error| Failure::new(error.to_string()))
}

fn mend_parents(context: &Context, repo: &Repo, section: &mut Section) {
    let mended = context.store.update_sessions(&repo.id, |sessions| {
        let ids: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
        for session in sessions {
            if session.parent_id.as_ref().is_some_and(|id| !ids.contains(id)) {
                session.parent_id = None;
            }
        }
        Ok(())
    });
    if let Err(failure) = mended {
        section.problems.push(failure.to_string());
    }
}

/// What a killed process left: undone, or finished where it is past the point of no return.
fn interrupted(context: &Context, repo: &Repo, file: &Path, left: &record::Record, fix: bool, out: &mut Out) -> String {
    let what =
        format!("{}: the {} of {} (process {}, {}) was interrupted", repo.id, left.kind, left.name, left.pid, left.at);
    if !fix {
        return format!("{what}; `ez doctor --fix` finishes or undoes it");
    }
    let settled = stored(context, repo, left)
        .and_then(|session| steps::settle(&Operation { context, repo, session: &session }, &left.steps, out));
    let how = match settled {
        Ok(how) => how,
        Err(failure) => {
            let hints: String = failure.hints().iter().map(|hint| format!(" ({hint})")).collect();
            return format!("{what} and could not be cleaned up: {failure}{hints}");
        }
    };
    for file in [file.to_path_buf(), file.with_extension("lock")] {
        if let Err(failure) = files::remove_file(&file) {
            return format!("{what}; {failure}");
        }
    }
    format!("{what} and is {how} now")
}

/// The session as it was before, with what plugins said of it since: a create's undoing needs its folder.
fn stored(context: &Context, repo: &Repo, left: &record::Record) -> Result<Session, Failure> {
    let before = steps::recorded(&left.before)?;
    if left.kind != "create" {
        return Ok(before);
    }
    let now = context.store.sessions(&repo.id)?.into_iter().find(|session| session.id == left.session);
    Ok(now.unwrap_or(before))
}
