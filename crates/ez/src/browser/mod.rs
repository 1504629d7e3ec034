//! The browser: pickers of repositories and sessions through the person's fzf, the name builder, plugin views and binds.
//! It decides what comes next; what is done is in `ops`. Bare `ez` opens it, `session new` uses the name builder.

pub mod builder;
pub mod fzf;
pub mod keyname;
pub mod keys;
mod lists;
mod sessions;
mod views;

use std::path::PathBuf;

use sys::Failure;

use self::fzf::{Choice, List};
use crate::context::Context;
use crate::landing::Landing;
use crate::model::tree::Sort;
use crate::out::Out;
use crate::store::Repo;

/// Where the browser begins.
#[derive(Clone, Debug)]
pub enum Start {
    /// The sessions of a repository; Esc goes to the views when `onward`.
    Repo {
        /// The repository.
        repo: Repo,
        /// Esc goes on to the views.
        onward: bool,
    },
    /// A view by name.
    View(String),
    /// What is below a root.
    Root(PathBuf),
}

/// What goes along from picker to picker.
struct Trip {
    /// The order of rows.
    sort: Sort,
    /// Commands of hooks that ran on the way; what comes last does not replace them (fault 21).
    carried: Vec<String>,
    /// What went wrong just now, for the header of the picker that comes next.
    said: Option<String>,
}

impl Trip {
    /// A failure is told on the screen below, and in the picker that covers it.
    fn tell(&mut self, failure: &Failure, out: &mut Out) {
        out.failure(failure);
        let hint = failure.hints().first().map(|hint| format!(" ({hint})")).unwrap_or_default();
        self.said = Some(format!("{failure}{hint}"));
    }
}

/// What the person typed and where they were, while one picker is shown again and again.
#[derive(Default)]
struct Spot {
    query: String,
    at: usize,
    value: String,
}

impl Spot {
    /// The list opens where it was left: the same text, and the same row, or what is now in its place.
    fn restore(&self, list: &mut List, trip: &mut Trip) {
        list.query.clone_from(&self.query);
        let same = Some(&self.value).filter(|value| !value.is_empty());
        let same = same.and_then(|value| list.rows.iter().position(|(own, _)| own == value));
        list.at = same.unwrap_or(self.at).min(list.rows.len().saturating_sub(1));
        list.said = trip.said.take();
    }

    fn remember(&mut self, choice: &Choice, value: Option<&str>) {
        self.query.clone_from(&choice.query);
        if let (Some(row), Some(value)) = (choice.row, value) {
            (self.at, self.value) = (row, value.to_owned());
        }
    }
}

/// What a picker led to.
enum Next {
    /// Done: the shell goes there.
    Land(Box<Landing>),
    /// One level back.
    Back,
    /// Another view.
    View(View),
    /// A repository's sessions.
    Sessions(Repo),
}

/// A list to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum View {
    Tree,
    Workspace,
    /// A folder below a root.
    Folder(PathBuf),
    Repo,
    Owner,
    OwnerOf(String),
    Label,
    LabelOf(String),
    Plugin(String),
}

impl View {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "tree" | "t" => Self::Tree,
            "workspace" | "w" | "ws" => Self::Workspace,
            "repo" | "r" | "repos" => Self::Repo,
            "owner" | "o" | "owners" => Self::Owner,
            "label" | "l" | "labels" => Self::Label,
            _ => return None,
        })
    }
}

/// True for a name that `--select-by` and `default_select_by` take.
pub fn is_view(context: &Context, name: &str) -> bool {
    View::parse(name).is_some() || views::by_name(context, name).is_some()
}

/// Opens the browser.
///
/// # Errors
/// When fzf is missing or fails, or the state cannot be read.
pub fn open(context: &Context, start: Start, sort: Option<String>, out: &mut Out) -> Result<Landing, Failure> {
    let mut trip = Trip {
        sort: Sort::of(sort.as_deref().unwrap_or(&context.config.default_sort)),
        carried: Vec::new(),
        said: None,
    };
    for wrong in keys::wrong(&context.config.keybinds) {
        out.warn(&format!("{wrong} (`ez config set` changes it)"));
        trip.said.get_or_insert(wrong);
    }
    let (mut view, mut next) = match start {
        Start::Repo { repo, onward } => (if onward { view_of(context, None)? } else { None }, Next::Sessions(repo)),
        Start::View(name) => {
            let view = view_of(context, Some(&name))?.unwrap_or(View::Repo);
            (Some(view.clone()), Next::View(view))
        }
        Start::Root(root) => (Some(View::Folder(root.clone())), Next::View(View::Folder(root))),
    };
    // The repository whose sessions were shown last, while nothing else was.
    let mut from: Option<Repo> = None;
    let landing = loop {
        next = match next {
            Next::Land(landing) => break *landing,
            Next::Sessions(repo) => {
                from = Some(repo.clone());
                match (sessions::pick(context, &repo, &mut trip, out)?, view.clone()) {
                    (Next::Back, Some(view)) => Next::View(view),
                    (Next::Back, None) => break Landing::default(),
                    (other, _) => other,
                }
            }
            Next::View(chosen) => {
                let before = view.replace(chosen.clone()).filter(|before| *before != chosen);
                let picked = match lists::pick(context, &chosen, &mut trip, out) {
                    // A plugin's view that fails is told, and the picker it was opened from comes back.
                    Err(failure) if matches!(chosen, View::Plugin(_)) && (from.is_some() || before.is_some()) => {
                        trip.tell(&failure, out);
                        match from.take() {
                            Some(repo) => Next::Sessions(repo),
                            None => before.map_or(Next::Back, Next::View),
                        }
                    }
                    other => other?,
                };
                from = None;
                match picked {
                    Next::Back => match above(&chosen) {
                        Some(view) => Next::View(view),
                        None => break Landing::default(),
                    },
                    other => other,
                }
            }
            Next::Back => break Landing::default(),
        };
    };
    let mut landing = landing;
    trip.carried.extend(std::mem::take(&mut landing.post));
    landing.post = trip.carried;
    Ok(landing)
}

fn above(view: &View) -> Option<View> {
    match view {
        View::Folder(_) => Some(View::Workspace),
        View::OwnerOf(_) => Some(View::Owner),
        View::LabelOf(_) => Some(View::Label),
        _ => None,
    }
}

fn view_of(context: &Context, name: Option<&str>) -> Result<Option<View>, Failure> {
    let name = name.unwrap_or(&context.config.default_select_by);
    if let Some(view) = View::parse(name) {
        return Ok(Some(view));
    }
    if views::by_name(context, name).is_some() {
        return Ok(Some(View::Plugin(name.to_owned())));
    }
    Err(Failure::usage(format!("there is no view {}", crate::model::name::quoted(name)))
        .hint("views are tree, workspace, repo, owner, label and those of enabled plugins"))
}
