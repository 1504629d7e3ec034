//! What can happen to the app, and what it can ask for. Plain data: the driver makes events and carries out
//! effects, [`super::update`] turns one into the other.

use agents::Detected;
use tui::input::Input;
use wire::plugin::{Exec, HostMessage};

use crate::plugins::Notice;
use crate::plugins::host::{FrameView, Stats};

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The person did something.
    Input(Input),
    /// The terminal has this many columns and rows now.
    Resized(u16, u16),
    /// A plugin's run says something.
    Notice(Notice),
    /// The newest frame of a plugin's run.
    Frame {
        /// Which plugin.
        plugin: usize,
        /// Which run.
        run: u64,
        /// What it shows.
        view: FrameView,
    },
    /// Numbers of a plugin's run, for the Plugins tab.
    Stats {
        /// Which plugin.
        plugin: usize,
        /// The numbers.
        stats: Stats,
    },
    /// Agents were found; `complete` once the versions are known too.
    Agents {
        /// Which detection; older ones are dropped.
        detection: u64,
        /// All agents, in the fixed order.
        found: Vec<Detected>,
        /// Nothing more comes of this detection.
        complete: bool,
    },
    /// A text to read was read.
    Text {
        /// Its heading.
        title: String,
        /// Cleaned lines.
        lines: Vec<String>,
    },
    /// Something ended well, in words.
    Done(String),
    /// Something could not be done, in words.
    Failed(String),
    /// `tui.hidden` was written: the plugin is hidden, or not any more.
    Hidden {
        /// Which plugin.
        plugin: usize,
        /// Its tab is hidden.
        hidden: bool,
    },
    /// The time of a toast or of a wake-up has come.
    Tick,
    /// The process is asked to end.
    Terminate,
    /// The process is asked to stop for a while (SIGTSTP from outside).
    Suspend,
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// End.
    Quit,
    /// A message for a plugin.
    Send(usize, HostMessage),
    /// A new run of a plugin.
    Start {
        /// Which plugin.
        plugin: usize,
        /// The number of the run: larger than all before.
        run: u64,
    },
    /// Stop a plugin's process.
    Stop(usize),
    /// The body of the tabs has this many columns and rows.
    Body(u16, u16),
    /// Look for agents again.
    Detect(u64),
    /// Tell every plugin of the agents.
    TellAgents(Vec<wire::plugin::Agent>),
    /// Lend the terminal to a plugin's command.
    Lend {
        /// Which plugin asks.
        plugin: usize,
        /// In which run.
        run: u64,
        /// For what.
        exec: Exec,
    },
    /// Stop the process until it is continued.
    Suspend {
        /// Somebody outside asked for it, who can continue it; else only where a shell can.
        outside: bool,
    },
    /// Copy to the clipboard.
    Copy(String),
    /// Read a plugin's stderr log.
    ReadLog(usize),
    /// Write `tui.hidden`.
    Hide {
        /// Which plugin.
        plugin: usize,
        /// Whether its tab is to be hidden.
        hidden: bool,
    },
    /// Ask the host for the numbers of all plugins.
    Stats,
    /// Use this theme and remember it.
    Theme(String),
}
