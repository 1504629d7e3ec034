//! All plugins of one lazyagents: starts them in the background, carries messages to them, collects what they
//! say, stops them. Nothing here waits but [`Host::wait`]. The app's driver owns it; the pure parts never see it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use sys::Env;
use sys::proc::{Cancel, HandOver, Live, Refused, Spec};
use sys::text::ansi;
use wire::plugin::{Agent, Exec, ExecResult, HostMessage, Init};

use super::supervise::{self, Run};
use super::{ManifestView, Plugin};

/// What a run of a plugin has to tell the app.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Which plugin, by its place in the host's list.
    pub plugin: usize,
    /// Which run; the app drops notices of older ones.
    pub run: u64,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The process runs.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// It introduced itself.
    Manifest(ManifestView),
    /// A new frame is in the mailbox: [`Host::take_frame`].
    Frame,
    /// It asks for the terminal.
    Interactive(Exec),
    /// The run is over. May come twice, the second time with more stderr.
    Failed {
        /// Why; may have several lines.
        reason: String,
        /// The cleaned tail of stderr.
        stderr: String,
    },
    /// Something the person should know.
    Warning(String),
}

/// A frame, cleaned and clipped to the tab's body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameView {
    /// At most as many lines and columns as the body has.
    pub lines: Vec<ansi::Line>,
    /// The number on the tab.
    pub count: Option<u64>,
    /// Global keys go to the plugin.
    pub capturing: bool,
    /// The view was empty (clause F1).
    pub empty: bool,
}

/// What the Plugins tab shows of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames of the current run.
    pub frames: u64,
    /// Messages that wait for it.
    pub waiting: usize,
    /// Bytes it wrote.
    pub read: u64,
    /// Bytes it was sent.
    pub written: u64,
}

/// Orders for a supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Resized,
    Deaf,
}

type InitOf = Box<dyn Fn(&Plugin, bool) -> Init + Send + Sync>;
type StderrLog = Box<dyn Fn(&Plugin) -> Box<dyn FnMut(&[u8]) + Send> + Send + Sync>;

/// What all runs share.
pub(super) struct Shared {
    pub(super) env: Env,
    pub(super) init: InitOf,
    pub(super) stderr_log: StderrLog,
    notices: Sender<Notice>,
    size: AtomicU32,
    agents: Mutex<Known>,
}

/// The line of `agents` and which detection it is from; 0 is none yet.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) detection: u64,
    pub(super) line: Vec<u8>,
}

impl Shared {
    /// Waits when the app does not listen (it has lent the terminal): that holds the plugin back, not us.
    pub(super) fn say(&self, plugin: usize, run: u64, what: What) {
        let _ = self.notices.send(Notice { plugin, run, what });
    }

    pub(super) fn size(&self) -> (u16, u16) {
        let size = self.size.load(Ordering::SeqCst).to_be_bytes();
        (u16::from_be_bytes([size[0], size[1]]), u16::from_be_bytes([size[2], size[3]]))
    }

    pub(super) fn agents(&self) -> Known {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One plugin's place in the host.
pub(super) struct Slot {
    pub(super) index: usize,
    pub(super) plugin: Plugin,
    pub(super) frames: AtomicU64,
    state: Mutex<SlotState>,
    mailbox: Mutex<Option<(u64, FrameView)>>,
}

#[derive(Default)]
pub(super) struct SlotState {
    pub(super) run: u64,
    pub(super) live: Option<Arc<Live>>,
    /// The manifest of this run has come.
    pub(super) ready: bool,
    /// The detection whose agents this run has been told.
    pub(super) told: u64,
    control: Option<Sender<Control>>,
}

impl SlotState {
    /// Tells this run of `known`, unless it has been told already or nothing is known.
    pub(super) fn tell(&mut self, known: &Known) -> Option<Refused> {
        if known.detection <= self.told {
            return None;
        }
        self.told = known.detection;
        self.live.as_ref()?.send(known.line.clone()).err()
    }
}

impl Slot {
    pub(super) fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the newest frame into the mailbox; true when it was empty, so that the app hears of it once.
    pub(super) fn post(&self, run: u64, view: FrameView) -> bool {
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        // A notice of an older run is dropped by the app, so a frame of an older run counts as none.
        let was = mailbox.replace((run, view));
        was.is_none_or(|(of, _)| of != run)
    }
}

/// How a host is set up.
pub struct HostOptions {
    /// The environment of plugins and of what they run (clauses V1, V2).
    pub env: Env,
    /// The `init` of a plugin, without size; `true` when it is a restart.
    pub init: InitOf,
    /// Where the whole stderr of a plugin goes.
    pub stderr_log: StderrLog,
    /// The body of a tab, columns and rows.
    pub size: (u16, u16),
}

/// All plugins.
pub struct Host {
    shared: Arc<Shared>,
    slots: Vec<Arc<Slot>>,
    /// Every thread of a run holds a copy; when all are gone, everything has ended.
    token: Option<Sender<()>>,
    ended: Receiver<()>,
}

impl Host {
    /// A host for `plugins`; none is started. Notices come out of the receiver.
    pub fn new(plugins: &[Plugin], options: HostOptions) -> (Self, Receiver<Notice>) {
        let (notices, receiver) = bounded(1024);
        let (token, ended) = bounded(0);
        let shared = Shared {
            env: options.env,
            init: options.init,
            stderr_log: options.stderr_log,
            notices,
            size: AtomicU32::new(packed(options.size)),
            agents: Mutex::default(),
        };
        let slot = |(index, plugin): (usize, &Plugin)| {
            let (state, mailbox) = (Mutex::default(), Mutex::default());
            Arc::new(Slot { index, plugin: plugin.clone(), frames: AtomicU64::new(0), state, mailbox })
        };
        let slots = plugins.iter().enumerate().map(slot).collect();
        (Self { shared: Arc::new(shared), slots, token: Some(token), ended }, receiver)
    }

    /// Starts run `number` of a plugin, in the background; an older one has ended or is stopped.
    pub fn start(&self, plugin: usize, number: u64) {
        let (Some(slot), Some(token)) = (self.slots.get(plugin), self.token.clone()) else { return };
        let (control, orders) = bounded(16);
        let mut state = slot.state();
        state.run = number;
        state.live = None;
        state.ready = false;
        state.told = 0;
        // Dropping the old sender stops the old run, if there is one.
        state.control = Some(control);
        drop(state);
        let (shared, slot) = (Arc::clone(&self.shared), Arc::clone(slot));
        let run = Run { shared: Arc::clone(&shared), slot, run: number, control: orders, token };
        let said = Arc::clone(&shared);
        let body = move || {
            // A bug of ours costs one tab, not the program.
            if let Err(why) = tui::term::contain(|| run.supervise()) {
                let reason = format!("lazyagents lost this plugin because of a bug in it: {why}");
                said.say(plugin, number, What::Failed { reason, stderr: String::new() });
            }
        };
        let started = std::thread::Builder::new().name("plugin".to_owned()).stack_size(512 * 1024).spawn(body);
        if let Err(error) = started {
            let reason = format!("no thread for the plugin: {error}");
            shared.say(plugin, number, What::Failed { reason, stderr: String::new() });
        }
    }

    /// Stops a plugin's process, in the background.
    pub fn stop_one(&self, plugin: usize) {
        if let Some(slot) = self.slots.get(plugin) {
            let mut state = slot.state();
            // No run has number 0: whatever still comes of the old one counts for nothing.
            (state.run, state.live, state.control) = (0, None, None);
        }
    }

    /// Sends one message; never waits. A plugin that does not read is stopped (clause B8).
    pub fn send(&self, plugin: usize, message: &HostMessage) {
        let Some(slot) = self.slots.get(plugin) else { return };
        self.send_line(slot, wire::encode(message));
    }

    fn send_line(&self, slot: &Slot, line: Vec<u8>) {
        let state = slot.state();
        let Some(live) = &state.live else { return };
        if live.send(line) == Err(Refused::Full)
            && let Some(control) = &state.control
        {
            let _ = control.try_send(Control::Deaf);
        }
    }

    /// The body of the tabs changed: every living plugin hears of it (clauses H1, H2).
    pub fn resize(&self, width: u16, height: u16) {
        let size = packed((width, height));
        if self.shared.size.swap(size, Ordering::SeqCst) == size {
            return;
        }
        let line = wire::encode(&HostMessage::Resize { width, height });
        for slot in &self.slots {
            self.send_line(slot, line.clone());
            if let Some(control) = &slot.state().control {
                // Full means that a resize is already waiting there.
                let _ = control.try_send(Control::Resized);
            }
        }
    }

    /// The agents are known: every plugin that has introduced itself hears of them, the others when they do
    /// (clause A1: once per detection).
    pub fn agents(&self, agents: Vec<Agent>) {
        let line = wire::encode(&HostMessage::Agents { agents });
        let mut known = self.shared.agents.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Known { detection: known.detection + 1, line };
        let now = known.clone();
        drop(known);
        for slot in &self.slots {
            let mut state = slot.state();
            if state.ready
                && state.tell(&now) == Some(Refused::Full)
                && let Some(control) = &state.control
            {
                let _ = control.try_send(Control::Deaf);
            }
        }
    }

    /// The newest frame, once, with its run.
    pub fn take_frame(&self, plugin: usize) -> Option<(u64, FrameView)> {
        let slot = self.slots.get(plugin)?;
        slot.mailbox.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The command that wants the terminal.
    ///
    /// # Errors
    /// When the request names no program.
    pub fn terminal_spec(&self, exec: Exec) -> Result<Spec, String> {
        supervise::exec_spec(exec, self.shared.env.clone())
    }

    /// How an interactive command ended; dropped when the plugin was restarted meanwhile (clause E8).
    pub fn interactive_result(&self, plugin: usize, run: u64, exec_id: i64, ran: Result<HandOver, String>) {
        let (code, error) = match ran {
            Ok(HandOver::Ended(exit)) => (supervise::code(exit), String::new()),
            Ok(HandOver::Terminated) => (-1, String::new()),
            Err(error) => (-1, error),
        };
        let Some(slot) = self.slots.get(plugin) else { return };
        if slot.state().run == run {
            let result = ExecResult { exec_id, code, error, ..ExecResult::default() };
            self.send_line(slot, wire::encode(&wire::exec_result_that_fits(result)));
        }
    }

    /// Numbers of the current run.
    pub fn stats(&self, plugin: usize) -> Stats {
        let Some(slot) = self.slots.get(plugin) else { return Stats::default() };
        let frames = slot.frames.load(Ordering::Relaxed);
        let state = slot.state();
        let Some(live) = &state.live else { return Stats { frames, ..Stats::default() } };
        let (read, written) = live.traffic();
        Stats { frames, waiting: live.waiting(), read, written }
    }

    /// Stops all plugins and what they run, at the same time; does not wait.
    pub fn stop(&self) {
        for slot in &self.slots {
            slot.state().control = None;
        }
    }

    /// Stops everything and waits until it has ended, at most `limit`; true when it has (clauses L1, L2).
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.stop();
        self.token = None;
        self.ended.recv_timeout(limit) == Err(crossbeam_channel::RecvTimeoutError::Disconnected)
    }
}

impl Drop for Host {
    /// Also on the way out of a panic nothing is left running.
    fn drop(&mut self) {
        self.wait(Duration::from_secs(4));
    }
}

fn packed((width, height): (u16, u16)) -> u32 {
    let ([a, b], [c, d]) = (width.to_be_bytes(), height.to_be_bytes());
    u32::from_be_bytes([a, b, c, d])
}

/// Starts a plugin, greets it, waits for its manifest and stops it: what `doctor` checks first (clause O1).
///
/// # Errors
/// Why there was no manifest, and the cleaned tail of stderr.
pub fn handshake(plugin: &Plugin, env: &Env, init: Init, cancel: &Cancel) -> Result<ManifestView, (String, String)> {
    supervise::handshake(plugin, env, init, cancel)
}

/// How to run `<bin> <args...>` for pass-through (`args` verbatim) and doctor.
pub fn command(plugin: &Plugin, args: Vec<std::ffi::OsString>, env: &Env) -> Spec {
    Spec { program: plugin.path.clone().into_os_string(), args, dir: None, env: env.clone() }
}

/// The environment that every mode gets on top of the host's own (clauses V1, V2).
pub fn environment(env: &Env, paths: &sys::Paths, library: &std::path::Path) -> Env {
    let mut env = env.clone();
    env.set("LAZYAGENTS_HOME", &paths.home)
        .set("LAZYAGENTS_CONFIG_DIR", &paths.config)
        .set("LAZYAGENTS_DATA_DIR", &paths.data)
        .set("LAZYAGENTS_LIBRARY_DIR", library)
        .set("LAZYAGENTS_PROTOCOL", wire::plugin::PROTOCOL.to_string());
    env
}
