//! What is done to repositories and sessions: each operation checks first, fires the hooks of the seed's table, and undoes
//! what it did when one of them stops it. It never reads arguments and never draws. Commands and the browser call it.

pub mod accept;
pub mod create;
pub mod delete;
pub mod doctor;
pub mod from_dirty;
pub mod held;
pub mod moves;
pub mod plugin;
pub mod prune;
pub mod record;
pub mod repos;
pub mod steps;
pub mod trash;
