//! placeholder
pub mod input;
pub mod keys;
