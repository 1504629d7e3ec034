//! What a session's folder holds and who is in it: branch, changes, distance from the base, size, what a deletion would
//! touch, processes. It only looks, gives "unknown" where it cannot tell, and decides nothing. Lists, previews and
//! `delete` call it.

mod leaving;
mod processes;
mod status;

pub use leaving::{Leaving, lock_of};
pub use processes::{Process, standing_in};
pub use status::{Asked, Note, Status, branch, branches, disk, looks, note_line, noted};
