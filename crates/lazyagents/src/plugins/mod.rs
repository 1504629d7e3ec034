//! The plugin host: which files are plugins, what they may say, and their processes. It never draws and never
//! blocks the app: everything comes back as a [`Notice`] or through a mailbox. The app, the CLI and doctor call it.

pub mod discover;
pub mod host;
pub mod manifest;
pub mod session;
mod supervise;

pub use discover::{Discovery, Ignored, Plugin, discover};
pub use host::{Host, Notice, What};
pub use manifest::ManifestView;
