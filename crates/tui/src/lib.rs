//! placeholder

pub mod edit;
pub mod fuzzy;
pub mod paint;
pub mod theme;
pub mod widgets;
