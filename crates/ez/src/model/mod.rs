//! What a name, a repository's identity and a tree of sessions are: rules, without any I/O but looking at folders. It
//! never changes anything. Every room of `ez` calls it.

pub mod gitdir;
pub mod name;
pub mod tree;
pub mod zellij;

pub use name::SessionName;
