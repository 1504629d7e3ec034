//! placeholder

pub mod theme;
