//! ez as a library, so that tests reach the pure parts; the program is `main.rs`. Nothing here reads the process' own
//! environment: it is handed in.

pub mod browser;
pub mod bundled;
pub mod cli;
pub mod context;
pub mod fuzz;
pub mod git;
pub mod hooks;
pub mod landing;
pub mod locate;
pub mod model;
pub mod ops;
pub mod out;
pub mod shell;
pub mod store;
pub mod worktree;
