//! `ez add`, `clone`, `remove` and `ez repo ...`: arguments in, lines or JSON out. What is done is in `ops::repos`.

use std::path::Path;

use clap::Subcommand;
use serde::Serialize;
use sys::{Failure, text};

use super::{Out, land};
use crate::context::Context;
use crate::hooks::view_of;
use crate::model::gitdir::GitDir;
use crate::model::name;
use crate::ops::repos;
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
        /// As JSON
        #[arg(long)]
        json: bool,
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
        /// As JSON
        #[arg(long)]
        json: bool,
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
    },
}

/// A repository in JSON (ez-behaviour.md, 2).
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    name: String,
    path: String,
    is_git: bool,
    default_branch: Option<String>,
    remote_url: Option<String>,
    labels: Vec<String>,
}

pub(super) fn clone(args: &CloneArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let (repo, landing) = repos::clone(context, &args.url, args.path.as_deref(), out)?;
    out.line(&format!("Registered: {}", text::clean(&repo.path)));
    land(landing, context, out)
}

pub(super) fn add(args: &AddArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let path = match &args.path {
        Some(path) => context.typed(path),
        None => GitDir::around(&context.here()).map_or_else(|| context.here(), |git| git.main()),
    };
    let repo = repos::add(context, &path, out)?;
    let kind = if repo.is_git { "" } else { " (non-git)" };
    out.line(&format!("Registered: {}{kind}", text::clean(&repo.path)));
    Ok(0)
}

pub(super) fn remove(args: &RemoveArgs, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::named_repo(context, &args.name)?;
    let landing = repos::remove(context, &repo, args.purge, out)?;
    land(landing, context, out)
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        Which::List { label, json } => list(label.as_deref(), json, context, out),
        Which::Add(args) => add(&args, context, out),
        Which::Clone(args) => clone(&args, context, out),
        Which::Remove(args) => remove(&args, context, out),
        Which::Label { command } => labels(command, context, out),
        Which::Info { name, json } => info(name.as_deref(), json, context, out),
    }
}

/// What is stored of a repository; a damaged repo.toml hides its details, not the repository.
fn state(context: &Context, repo: &store::Repo) -> store::RepoState {
    context.store.repo_state(&repo.id).unwrap_or_default()
}

fn row(context: &Context, repo: &store::Repo) -> Row {
    let mut state = state(context, repo);
    let labels = std::mem::take(&mut state.labels);
    let view = view_of(repo, state);
    Row {
        id: view.id,
        name: repo.name.clone(),
        path: view.path,
        is_git: view.is_git,
        default_branch: view.default_branch,
        remote_url: view.remote_url,
        labels,
    }
}

fn list(label: Option<&str>, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repos = context.store.repos()?;
    let wanted = |labels: &[String]| label.is_none_or(|label| labels.iter().any(|own| own == label));
    if json {
        let mut rows = store::of_each(&repos, |repo| row(context, repo));
        rows.retain(|row| wanted(&row.labels));
        out.json(&rows)?;
        return Ok(0);
    }
    let labels = store::of_each(&repos, |repo| state(context, repo).labels);
    for (repo, labels) in repos.iter().zip(labels).filter(|(_, labels)| wanted(labels)) {
        let labels = if labels.is_empty() { String::new() } else { format!("  [{}]", labels.join(", ")) };
        let name = text::clean(&repo.name);
        let pad = " ".repeat(25_usize.saturating_sub(text::width(&name)));
        out.line(&format!("{name}{pad} {}{}", text::clean(&repo.path), text::clean_lines(&labels)));
    }
    Ok(0)
}

fn labels(command: LabelWhich, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match command {
        LabelWhich::Add { target, labels } => {
            let labels = labels.iter().map(|label| name::label(label)).collect::<Result<Vec<_>, _>>()?;
            change(&target, context, out, |own| own.extend(labels.clone()))
        }
        LabelWhich::Remove { target, labels } => {
            change(&target, context, out, |own| own.retain(|l| !labels.contains(l)))
        }
        LabelWhich::List { target: Some(target) } => change(&target, context, out, |_| {}),
        LabelWhich::List { target: None } => {
            let repos = context.store.repos()?;
            let labels = store::of_each(&repos, |repo| state(context, repo).labels);
            let mut all: Vec<&String> = labels.iter().flatten().collect();
            all.sort();
            all.dedup();
            for label in all {
                out.line(&text::clean(label));
                for (repo, _) in repos.iter().zip(&labels).filter(|(_, own)| own.contains(label)) {
                    out.line(&format!("  {}", text::clean(&repo.name)));
                }
            }
            Ok(0)
        }
    }
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

pub(super) fn shown(labels: &[String]) -> String {
    if labels.is_empty() { "(none)".to_owned() } else { text::clean(&labels.join(", ")) }
}

fn info(name: Option<&str>, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let repo = locate::repo(context, name)?;
    let row = row(context, &repo);
    if json {
        out.json(&row)?;
        return Ok(0);
    }
    let sessions = context.store.sessions(&repo.id)?.len();
    out.line(&out.bold(&text::clean(&repo.name)));
    out.line(&format!("id        {}", text::clean(&row.id)));
    out.line(&format!("folder    {}", text::clean(&context.paths.short(Path::new(&row.path)))));
    out.line(&format!("remote    {}", text::clean(row.remote_url.as_deref().unwrap_or("none"))));
    out.line(&format!("branch    {}", text::clean(row.default_branch.as_deref().unwrap_or("unknown"))));
    out.line(&format!("labels    {}", shown(&row.labels)));
    out.line(&format!("sessions  {sessions}"));
    Ok(0)
}
