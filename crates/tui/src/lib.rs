//! placeholder

pub mod action;
pub mod input;
pub mod keys;
pub mod reader;
pub mod term;
