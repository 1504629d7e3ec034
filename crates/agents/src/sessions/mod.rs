//! The conversations of the agents: which files hold them, what each file says, and what that adds up to. It only
//! reads the agents' files; the one thing it writes is its own disposable index. It draws nothing and knows no agent:
//! the rooms below `adapters` do, through [`Reads`]. `lazyagents` and `manage` call it.

pub mod facts;
pub mod index;
pub mod removal;
pub mod retention;
pub mod rows;
pub mod source;
pub mod tokens;
pub mod transcript;
pub mod turns;
pub mod watch;

use std::ops::ControlFlow;
use std::path::Path;

pub use facts::{Claim, Facts, FirstPrompt, Part, Response, Role, Skip, Title};
pub use index::{Fate, Library, Progress, SIZES, Session, SessionSource, Size, Slot, Snapshot};
pub use removal::{Export, Removal};
pub use retention::Retention;
pub use source::{Kind, Source};
pub use tokens::Tokens;
pub use transcript::{Piece, Said, Speaker};
pub use turns::{Numbering, Turns};
pub use watch::Watch;

use crate::adapter::{Places, Surroundings};

/// What an adapter knows of its agent's conversations. Everything in it only reads.
///
/// The way of a file: [`Reads::sources`] finds it, [`Reads::reader`] reads it once and later only what was appended,
/// the [`Facts`] are stored with the offset, and [`Reads::settle`] says what the parts of one session mean together.
pub trait Reads: Sync {
    /// Names every file (or database) that holds conversations, sub-agents' files included, each once. Lists folders
    /// and asks for size and time; opens nothing. What cannot be listed is left out; it is found next time.
    fn sources(&self, around: &Surroundings, places: &Places, found: &mut dyn FnMut(Source));

    /// A reader for a source of [`Kind::Lines`]: at its beginning, or where `before` was left.
    /// `before` is what an earlier reader of the same version gave for the same file, which has only grown since.
    fn reader(&self, source: &Source, before: Option<Facts>) -> Box<dyn Reader>;

    /// Reads a source of [`Kind::Whole`] as it is now; see `architecture.md`, "Choices already made", for databases.
    ///
    /// # Errors
    /// In words for people, when the source cannot be read at all (locked, damaged, vanished).
    fn read_whole(&self, source: &Source, scratch: &Path) -> Result<Facts, String> {
        let _ = scratch;
        Err(format!("{}: not a file that is read as a whole", source.path.display()))
    }

    /// What the parts of one session mean together, beyond their sum: tokens that only a cumulative record shows,
    /// a log that is better than the transcript. `parts` are in the order of their sources.
    /// Called again whenever one of them changed; the default is: nothing more, and nothing less.
    fn settle(&self, parts: &[&Part]) -> Settlement {
        let _ = parts;
        Settlement::default()
    }

    /// Tells what was said in one source, in the order of the file, from byte `from` on (0: the beginning; else an
    /// offset that an earlier piece had). Bounded memory however long the file is. `sink` ends it by breaking.
    /// For [`Kind::Whole`] `session` says which of the source's conversations is meant, and `from` counts pieces.
    ///
    /// # Errors
    /// In words for people, when the source cannot be read.
    fn tell(
        &self,
        source: &Source,
        session: &str,
        from: u64,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String>;

    /// As [`Reads::tell`], with a folder of ours for a copy: a database that its agent writes right now is only read
    /// from one, so callers that have such a folder call this. The default needs none.
    ///
    /// # Errors
    /// As [`Reads::tell`].
    fn tell_from(
        &self,
        source: &Source,
        session: &str,
        from: u64,
        scratch: &Path,
        sink: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let _ = scratch;
        self.tell(source, session, from, sink)
    }

    /// The ids of sessions that a process of the agent has open now; none for an agent that leaves no trace of it.
    fn live(&self, places: &Places) -> Vec<String> {
        let _ = places;
        Vec::new()
    }

    /// What has to be put away so that the agent does not know `session` any more. `sources` are the files that the index
    /// has of it. Only looks; `scratch` is as for [`Reads::tell_from`].
    ///
    /// # Errors
    /// In words for people, when it cannot be deleted. The default is that.
    fn removal(
        &self,
        around: &Surroundings,
        session: &str,
        sources: &[&Source],
        scratch: &Path,
    ) -> Result<Removal, String> {
        let _ = (around, session, sources, scratch);
        Err("this version does not know what it keeps of a session".to_owned())
    }

    /// How long the agent itself keeps conversations; `None` when it keeps them for good or that is not known.
    fn retention(&self, places: &Places) -> Option<Retention> {
        let _ = places;
        None
    }

    /// The command that opens the session again in the agent's own program, its name first; `None` when it has none.
    fn resume(&self, session: &str) -> Option<Vec<String>>;
}

/// Reads the lines of one source, in whole lines only. A line that cannot be read is counted in
/// [`Facts::skipped`], never fatal.
pub trait Reader: Send {
    /// Takes some whole lines: `chunk` ends with `\n`, except at the end of a file that nobody writes any more.
    /// `at` is the offset of its first byte in the (uncompressed) file. No line in it is longer than the limit of
    /// the index; longer ones are counted there and left out.
    fn lines(&mut self, chunk: &[u8], at: u64);

    /// What the file says so far. Complete in itself: [`Reads::reader`] goes on from it, also in another process.
    fn finish(self: Box<Self>) -> Facts;
}

/// What [`Reads::settle`] changes about the sum of a session's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settlement {
    /// Responses that no part lists, to be counted too (Claude's compaction).
    pub more: Vec<Response>,
    /// Positions in `parts` whose responses are not counted, because another part tells the same better (Qwen's
    /// usage log beside the transcript).
    pub instead_of: Vec<usize>,
    /// Single responses that are not counted for the same reason, where the rest of their part is: positions in
    /// `parts` and in that part's responses.
    pub without: Vec<(usize, usize)>,
}
