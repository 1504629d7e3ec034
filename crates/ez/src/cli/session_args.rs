//! The arguments of `ez session ...`, as clap reads them. What they mean is in `session`; nothing else uses them.
//! Their texts are the help.

use clap::Subcommand;

use super::repo::More;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Which,
}

#[derive(Debug, Subcommand)]
pub(super) enum Which {
    /// Make a session
    #[command(visible_alias = "n")]
    #[command(
        after_help = "Examples:\n  ez session new login\n  ez session new hotfix --start-point v1.2\n  ez session new           # asks for the parts of a name"
    )]
    New(NewArgs),
    /// List sessions
    #[command(visible_alias = "ls")]
    #[command(
        after_help = "Examples:\n  ez session list --status\n  ez session list --all --json | jq -r '.[].sessions[].name'"
    )]
    List(ListArgs),
    /// Enter a session
    Enter(Named),
    /// Leave the current session
    Exit(Target),
    /// Delete a session
    #[command(visible_aliases = ["rm", "remove"])]
    #[command(
        after_help = "Examples:\n  ez session delete login\n  ez session delete login --branch     # the branch too, when nothing is lost with it"
    )]
    Delete(DeleteArgs),
    /// Give a session another name
    Rename {
        /// The name now
        old: String,
        /// The new name
        new: String,
        #[command(flatten)]
        repo: InRepo,
    },
    /// Make a session of a worktree that is there already
    Register {
        /// The worktree; else the one around you
        path: Option<String>,
        /// The name; else the branch
        #[arg(long, short = 'n')]
        name: Option<String>,
        /// The parent
        #[arg(long, short = 'p')]
        parent: Option<String>,
        #[command(flatten)]
        repo: InRepo,
    },
    /// Move uncommitted changes into a new session
    #[command(after_help = "Examples:\n  ez session from-dirty login")]
    FromDirty {
        /// The name
        name: String,
        /// The parent; else the current session
        #[arg(long, short = 'p')]
        parent: Option<String>,
        #[command(flatten)]
        repo: InRepo,
    },
    /// Labels of sessions
    Label {
        #[command(subcommand)]
        command: LabelWhich,
    },
    /// Variables of a session
    Env {
        #[command(subcommand)]
        command: EnvWhich,
    },
    /// Notes of a session
    Note {
        #[command(subcommand)]
        command: NoteWhich,
    },
    /// Print a session's folder
    Path(InfoArgs),
    /// What is known of a session
    Info(AboutArgs),
    /// Ask plugins to bring a session up to date
    Sync(Target),
    /// Run a command in a session, or in all
    #[command(after_help = "Examples:\n  ez session exec login -- git status\n  ez session exec --all -- cargo test")]
    Exec(ExecArgs),
    /// Delete sessions that are done with
    #[command(after_help = "Examples:\n  ez session prune --dry-run\n  ez session prune --merged --older 30d")]
    Prune(PruneArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct InRepo {
    /// The repository: name, id or path
    #[arg(long, short = 'r')]
    pub(super) repo: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// The session
    pub(super) name: String,
    #[command(flatten)]
    pub(super) repo: InRepo,
}

#[derive(Debug, clap::Args)]
pub(super) struct Target {
    /// The session; else the current one
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) repo: InRepo,
}

#[derive(Debug, clap::Args)]
pub(super) struct NewArgs {
    /// The name; else the name builder asks
    pub(super) name: Option<String>,
    /// The parent; else the default session
    #[arg(long, short = 'p')]
    pub(super) parent: Option<String>,
    #[command(flatten)]
    pub(super) repo: InRepo,
    /// Build the name, also when one is given
    #[arg(long, short = 'i')]
    pub(super) interactive: bool,
    /// Without a worktree
    #[arg(long)]
    pub(super) bare: bool,
    /// The commit, branch or tag to start from
    #[arg(long)]
    pub(super) start_point: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) repo: InRepo,
    /// Without the tree
    #[arg(long)]
    pub(super) flat: bool,
    #[command(flatten)]
    pub(super) more: More,
    /// Of all repositories
    #[arg(long, conflicts_with = "repo")]
    pub(super) all: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct DeleteArgs {
    /// The session; else the current one
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) repo: InRepo,
    /// With children and uncommitted work
    #[arg(long)]
    pub(super) force: bool,
    /// The branch too
    #[arg(long)]
    pub(super) branch: bool,
    /// Without asking plugins
    #[arg(long)]
    pub(super) no_hooks: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum LabelWhich {
    /// Put labels on a session
    Add {
        /// The session
        name: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
        #[command(flatten)]
        repo: InRepo,
    },
    /// Take labels off
    #[command(visible_alias = "rm")]
    Remove {
        /// The session
        name: String,
        /// The labels
        #[arg(required = true)]
        labels: Vec<String>,
        #[command(flatten)]
        repo: InRepo,
    },
    /// List labels
    #[command(visible_alias = "ls")]
    List {
        /// The session; else all labels
        name: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        repo: InRepo,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct InSession {
    /// The session; else the current one
    #[arg(long, short = 's')]
    pub(super) session: Option<String>,
    #[command(flatten)]
    pub(super) repo: InRepo,
}

#[derive(Debug, Subcommand)]
pub(super) enum EnvWhich {
    /// Set a variable
    Set {
        /// Its name
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        at: InSession,
    },
    /// List variables
    #[command(visible_alias = "ls")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        at: InSession,
    },
    /// Remove a variable
    Unset {
        /// Its name
        key: String,
        #[command(flatten)]
        at: InSession,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct OfNote {
    /// The session; else the current one
    #[arg(long, short = 'n')]
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) repo: InRepo,
}

#[derive(Debug, Subcommand)]
pub(super) enum NoteWhich {
    /// Open the note in your editor
    Open(OfNote),
    /// Go to the notes' folder
    Cd(OfNote),
    /// Print the notes' folder
    Path {
        /// With the note's text, as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        of: OfNote,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct InfoArgs {
    #[command(flatten)]
    pub(super) target: Target,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct AboutArgs {
    #[command(flatten)]
    pub(super) target: Target,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
    /// With the size of its folder
    #[arg(long)]
    pub(super) disk: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExecArgs {
    /// The session
    pub(super) name: Option<String>,
    /// In every session of the repository that has a folder
    #[arg(long)]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) repo: InRepo,
    /// The command
    #[arg(last = true, required = true)]
    pub(super) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, clap::Args)]
pub(super) struct PruneArgs {
    /// Whose branch is in the base
    #[arg(long)]
    pub(super) merged: bool,
    /// Whose folder is gone
    #[arg(long)]
    pub(super) gone: bool,
    /// Not used for so long, such as 30d
    #[arg(long, value_name = "AGE")]
    pub(super) older: Option<String>,
    /// Only say which
    #[arg(long, short = 'n')]
    pub(super) dry_run: bool,
    /// Which, as JSON; deletes nothing
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) repo: InRepo,
}
