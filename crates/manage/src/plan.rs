//! What is to be done to files of other programs and of ours, as a value that can be shown before anything happens. It
//! holds no contents: those are read when the plan is looked at or applied, by [`crate::desk`]. Providers, hooks and
//! whatever else changes settings make plans.

use std::path::PathBuf;

use sys::edit::{Change, Format};
use sys::files::Mode;

/// One command's work: all of it is done, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it is for people and for the history: `apply provider work to claude-code`.
    pub what: String,
    /// The steps, in their order.
    pub acts: Vec<Act>,
    /// Texts that no diff, error or history may show; they become dots there.
    pub secrets: Vec<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Changes values in a settings file and leaves every other byte. The file and its folders are made when missing.
    Edit {
        /// The file; links are followed.
        path: PathBuf,
        /// What it is written in.
        format: Format,
        /// The changes, in their order.
        changes: Vec<Change>,
        /// [`Mode::Private`] when a secret goes into it.
        mode: Mode,
    },
    /// The whole content of a file of ours; made when missing.
    Put {
        /// The file.
        path: PathBuf,
        /// Its new content.
        bytes: Vec<u8>,
        /// Who may read it.
        mode: Mode,
    },
    /// A file or folder goes into the trash. One that is not there is fine.
    Trash {
        /// The file or folder.
        path: PathBuf,
    },
    /// Makes a symbolic link; one that is there and says the same is fine.
    Link {
        /// Where.
        path: PathBuf,
        /// What it says.
        to: PathBuf,
    },
    /// Removes a symbolic link, if it says just this.
    Unlink {
        /// Where.
        path: PathBuf,
        /// What it says.
        to: PathBuf,
    },
}
