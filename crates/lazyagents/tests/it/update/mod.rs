//! `update` without a terminal: a state and an event in, a state and effects out.

mod agents;
mod keys;
mod layers;
mod lists;
mod mouse;
mod palette;
mod plugins;
mod tabs;
