//! `ez add`, `clone`, `remove` and `ez repo ...`: arguments in, lines or JSON out. What is done is in `ops::repos`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Subcommand;
use sys::{Failure, text};

use super::answers::{LabelRow, RepoRow};
use super::{Out, land};
use crate::context::Context;
use crate::model::gitdir::GitDir;
use crate::model::name;
use crate::ops::repos;
use crate::worktree::{self, Asked};
use crate::{locate, store};

#[derive(Debug, clap::Args)]
pub(super) struct CloneArgs {
    /// The URL
    url: String,
    /// The folder; else the last part of the URL, here
    path: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// The folder; else the repository around you
    path: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct RemoveArgs {
    /// Name, id or path
    name: String,
    /// Forget its sessions, labels and notes too
    #[arg(long)]
    purge: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List repositories
    #[command(visible_alias = "ls")]
    List {
        /// Only those with this label
        #[arg(long)]
        label: Option<String>,
        #[command(flatten)]
        more: More,
    },
    /// Register a folder
    Add(AddArgs),
    /// Clone and register
    Clone(CloneArgs),
    /// Take a repository off the list
    #[command(visible_aliases = ["rm", "delete"])]
    Remove(RemoveArgs),
    /// Labels of repositories
    Label {
        #[command(subcommand)]
        command: LabelWhich,
    },
    /// What is known of one
    Info {
        /// Name, id or path; else the current one
        name: Option<String>,
        #[command(flatten)]
        more: More,
    },
}

#[derive(Debug, Subcommand)]
enum LabelWhich {
    /// Put labels on a repository
    Add {
        /// Name, id or path
        target: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// Take labels off
    #[command(visible_alias = "rm")]
    Remove {
        /// Name, id or path
        target: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
    },
    /// Labels of one repository, or all with their repositories
    #[command(visible_alias = "ls")]
    List {
        /// Name, id or path
        target: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What a list may be asked for.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct More {
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    /// With branch, changes, and distance from upstream or base; asks git
    #[arg(long)]
    status: bool,
    /// With the size of each folder; walks it
    #[arg(long)]
    disk: bool,
}

impl More {
    pub(super) fn asked(self) -> Asked {
        Asked { status: self.status, disk: self.disk }
    }

    /// A text list shows more than names and folders.
    pub(super) fn any(self) -> bool {
        self.status || self.disk
    }
}

pub(super) fn clone(args: &CloneArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let (repo, landing) = repos::clone(context, &args.url, args.path.as_deref(), out)?;
    out.line(&format!("Registered: {}", text::clean(&context.paths.short(Path::new(&repo.path)))));
    land(landing, context, out)
}

pub(super) fn add(args: &AddArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if context.cwd.is_none() && args.path.as_deref().is_none_or(|path| !path.starts_with(['/', '~'])) {
        return Err(
            Failure::new("the folder you stand in is gone").hint("go to the one that is meant, or name it in full")
        );
    }
    let path = match &args.path {
        Some(path) => context.typed(path),
        None => GitDir::around(&context.here()).map_or_else(|| context.here(), |git| git.main()),
    };
    let repo = repos::add(context, &path, out)?;
    let kind = if repo.is_git { "" } else { " (non-git)" };
    out.line(&format!("Registered: {}{kind}", text::clean(&context.paths.short(Path::new(&repo.path)))));
    if !repo.is_git {
        out.note("It is no git repository: its sessions have no worktrees, and no plugin is asked.");
    }
    Ok(0)
}

pub(super) fn remove(args: &RemoveArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::named_repo(context, &args.name)?;
    let landing = repos::remove(context, &repo, args.purge, out)?;
    land(landing, context, out)
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        Which::List { label, more } => list(label.as_deref(), more, context, out),
        Which::Add(args) => add(&args, context, out),
        Which::Clone(args) => clone(&args, context, out),
        Which::Remove(args) => remove(&args, context, out),
        Which::Label { command } => labels(command, context, out),
        Which::Info { name, more } => info(name.as_deref(), more, context, out),
    }
}

/// What is stored of a repository; a damaged repo.toml hides its details, not the repository.
fn state(context: &Context, repo: &store::Repo) -> store::RepoState {
    context.store.repo_state(&repo.id).unwrap_or_default()
}

fn list(label: Option<&str>, more: More, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repos = context.store.repos()?;
    let wanted = |labels: &[String]| label.is_none_or(|label| labels.iter().any(|own| own == label));
    if more.json || more.any() {
        let mut rows = store::of_each(&repos, |repo| RepoRow::of(context, repo, more.asked()));
        rows.retain(|row| wanted(&row.labels));
        if more.json {
            out.json(&rows)?;
            return Ok(0);
        }
        for row in rows {
            line(&row.name, &row.path, &row.labels, &row.marks(), out);
        }
        return Ok(0);
    }
    let labels = store::of_each(&repos, |repo| state(context, repo).labels);
    for (repo, labels) in repos.iter().zip(labels).filter(|(_, labels)| wanted(labels)) {
        line(&repo.name, &repo.path, &labels, "", out);
    }
    Ok(0)
}

fn line(name: &str, path: &str, labels: &[String], marks: &str, out: &mut Out) {
    let labels = if labels.is_empty() { String::new() } else { format!("  [{}]", labels.join(", ")) };
    let name = text::clean(name);
    let pad = " ".repeat(25_usize.saturating_sub(text::width(&name)));
    out.line(&format!("{name}{pad} {}{}{marks}", text::clean(path), text::clean_lines(&labels)));
}

fn labels(command: LabelWhich, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match command {
        LabelWhich::Add { target, labels } => {
            let labels = labels.iter().map(|label| name::label(label)).collect::<Result<Vec<_>, _>>()?;
            change(&target, context, out, |own| own.extend(labels.clone()))
        }
        LabelWhich::Remove { target, labels } => {
            let own = state(context, &locate::named_repo(context, &target)?).labels;
            tell_missing(&labels, &own, out);
            change(&target, context, out, |own| own.retain(|l| !labels.contains(l)))
        }
        LabelWhich::List { target: Some(target), json: false } => change(&target, context, out, |_| {}),
        LabelWhich::List { target, json } => {
            let repos = match &target {
                Some(target) => vec![locate::named_repo(context, target)?],
                None => context.store.repos()?,
            };
            let labels = store::of_each(&repos, |repo| state(context, repo).labels);
            list_labels(repos.iter().map(|repo| repo.name.clone()).zip(labels), json, out)
        }
    }
}

/// Each label with the names that carry it, as lines or JSON.
pub(super) fn list_labels(
    all: impl Iterator<Item = (String, Vec<String>)>,
    json: bool,
    out: &mut Out,
) -> Result<u8, Failure> {
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, labels) in all {
        for label in labels {
            rows.entry(label).or_default().push(name.clone());
        }
    }
    if json {
        let rows: Vec<_> = rows.into_iter().map(|(label, on)| LabelRow { label, on }).collect();
        out.json(&rows)?;
        return Ok(0);
    }
    for (label, on) in rows {
        out.line(&text::clean(&label));
        for name in on {
            out.line(&format!("  {}", text::clean(&name)));
        }
    }
    Ok(0)
}

fn change(target: &str, context: &Context, out: &mut Out, edit: impl Fn(&mut Vec<String>)) -> Result<u8, Failure> {
    let repo = locate::named_repo(context, target)?;
    let labels = context.store.update_repo_state(&repo.id, |state| {
        edit(&mut state.labels);
        state.labels.sort();
        state.labels.dedup();
        Ok(state.labels.clone())
    })?;
    out.line(&format!("Labels on {} → {}", text::clean(&repo.name), shown(&labels)));
    Ok(0)
}

/// Says which of the labels that are taken off are not there.
pub(super) fn tell_missing(gone: &[String], own: &[String], out: &mut Out) {
    for label in gone.iter().filter(|label| !own.contains(label)) {
        out.warn(&format!("there was no label {}", name::quoted(label)));
    }
}

pub(super) fn shown(labels: &[String]) -> String {
    if labels.is_empty() { "(none)".to_owned() } else { text::clean(&labels.join(", ")) }
}

fn info(name: Option<&str>, more: More, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::repo(context, name)?;
    let mut row = RepoRow::of(context, &repo, more.asked());
    let sessions = context.store.sessions(&repo.id)?.len();
    if more.json {
        row.sessions = Some(sessions);
        row.branch = row.branch.or_else(|| worktree::branch(Path::new(&repo.path)));
        out.json(&row)?;
        return Ok(0);
    }
    out.line(&out.bold(&text::clean(&repo.name)));
    out.line(&format!("id        {}", text::clean(&row.id)));
    out.line(&format!("folder    {}", text::clean(&context.paths.short(Path::new(&row.path)))));
    out.line(&format!("remote    {}", text::clean(row.remote_url.as_deref().unwrap_or("none"))));
    out.line(&format!("branch    {}", text::clean(row.default_branch.as_deref().unwrap_or("unknown"))));
    out.line(&format!("labels    {}", shown(&row.labels)));
    out.line(&format!("sessions  {sessions}"));
    if more.any() {
        out.line(&format!("now      {}", row.marks()));
    }
    Ok(0)
}
