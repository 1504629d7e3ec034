//! The terminal: input, keys, theme, widgets, and the thin layer that draws. It knows neither program, starts
//! nothing and writes no files. Both programs call it.

pub mod action;
pub mod edit;
pub mod fuzzy;
pub mod input;
pub mod keys;
pub mod markdown;
pub mod paint;
pub mod reader;
pub mod term;
pub mod theme;
pub mod widgets;
