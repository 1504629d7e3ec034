//! What can happen to the app, and what it can ask for. Plain data: the driver makes events and carries out
//! effects, [`super::update`] turns one into the other.

use std::path::PathBuf;
use std::sync::Arc;

use agents::Detected;
use agents::text::Coverage;
use agents::usage::View;
use manage::delete::Plan;
use tui::input::Input;
use wire::plugin::{Exec, HostMessage};

use super::hooks::{Job, Prepared, Rack};
use super::providers::Board;
use super::reader::Told;
use super::shelf::{Find, FindEnd, Shelf};
use super::usage::{Counted, Period};
use crate::config::ResumeIn;
use crate::plugins::Notice;
use crate::plugins::host::{FrameView, Stats};
use crate::providers::Wish;
use crate::undo::Outcome;

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
    /// The sessions of all agents, as they are now.
    Shelf(Arc<Shelf>),
    /// The limits of the accounts, as far as they are known.
    Limits(Arc<crate::limits::Told>),
    /// Tokens were counted.
    Counted {
        /// Which count; older ones are dropped.
        number: u64,
        /// What came of it.
        counted: Arc<Counted>,
    },
    /// Files of sessions are being read, so many of so many; `None`: no more.
    Files(Option<(usize, usize)>),
    /// How much of what was said is in the text store.
    Texts(Coverage),
    /// A part of what a search found.
    Found {
        /// Which search; older ones are dropped.
        number: u64,
        /// Sessions, in order.
        found: Vec<Find>,
        /// With the last part.
        end: Option<FindEnd>,
    },
    /// What a deletion would take: the person is asked.
    Deletion(Arc<Vec<Plan>>),
    /// What an undo would do: the person is asked.
    Ahead(Arc<Outcome>),
    /// A change was taken back, in words: what shows files of agents is looked at again.
    Undone(String),
    /// A session cannot be opened again where it began.
    FolderGone {
        /// The folder, for people.
        folder: String,
        /// The command.
        command: Vec<String>,
    },
    /// A transcript is told.
    Told {
        /// Which reader; others are dropped.
        reader: u64,
        /// What is said.
        told: Told,
    },
    /// The provider profiles, as they are now.
    Providers {
        /// Which reading; older ones are dropped.
        number: u64,
        /// What there is.
        board: Arc<Board>,
    },
    /// A wish on providers was planned: the person is asked.
    ProvidersPlanned(Arc<super::providers::Prepared>),
    /// A wish on providers was fulfilled, in words.
    ProvidersDone(String),
    /// The hooks, as they are now.
    Hooks {
        /// Which reading; older ones are dropped.
        number: u64,
        /// What there is.
        rack: Arc<Rack>,
    },
    /// A job on hooks was planned: the person is asked.
    HooksPlanned(Arc<Prepared>),
    /// A job on hooks was done, in words.
    HooksDone(String),
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
    /// Look at the files of all sessions.
    Look,
    /// Count tokens.
    Count {
        /// The number of the count: larger than all before.
        number: u64,
        /// What the rows are.
        view: View,
        /// Only this agent.
        agent: Option<&'static str>,
        /// How far back.
        period: Period,
    },
    /// Search what was said; an empty text ends the search before it.
    Search {
        /// The number of the search: larger than all before.
        number: u64,
        /// Words and filters.
        words: String,
    },
    /// Tell the limits of the accounts.
    Limits {
        /// The agents' services are asked, over the network.
        ask: bool,
    },
    /// Begin to tell a transcript; the one before it ends.
    Read {
        /// The number of the reader: larger than all before.
        number: u64,
        /// The session's place in the shelf.
        session: usize,
    },
    /// Tell the turns around this one.
    Around(u64),
    /// Tell which turns hold a text.
    Inside {
        /// The number of the search.
        number: u64,
        /// The text.
        text: String,
    },
    /// Nobody reads the transcript any more.
    Close,
    /// Open a session again in its agent's program.
    Resume {
        /// The command.
        command: Vec<String>,
        /// The folder.
        folder: PathBuf,
        /// Where.
        place: ResumeIn,
    },
    /// Export a session: `agent:id`.
    Export(String),
    /// Plan the deletion of sessions: `agent:id`.
    PlanDeletion(Vec<String>),
    /// Delete what was planned.
    Delete(Arc<Vec<Plan>>),
    /// Look at what an undo of the newest change would do.
    LookUndo,
    /// Take a change back.
    Undo {
        /// Its number.
        number: u64,
        /// Only what it had touched.
        merge: bool,
    },
    /// Read the provider profiles.
    ReadProviders(u64),
    /// Plan a wish on providers.
    PlanProviders(Wish),
    /// Fulfil a wish that was seen.
    FulfilProviders(Arc<super::providers::Prepared>),
    /// Read the hooks.
    ReadHooks(u64),
    /// Plan a job on hooks.
    PlanHooks(Job),
    /// Do a job on hooks that was seen.
    ApplyHooks(Arc<Prepared>),
    /// Run the commands of a hook.
    TestHook {
        /// The hook.
        name: String,
        /// As this agent would.
        agent: Option<&'static str>,
    },
    /// Give a session a name, or take it away.
    Name {
        /// `agent:id`.
        key: String,
        /// The name.
        name: Option<String>,
    },
}
