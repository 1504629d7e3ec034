//! The thin shell around the pure app: waits for what can happen, hands it to `update`, carries out the effects,
//! draws at most sixty times a second. It owns the terminal, the reader and the plugin host. `app::run` calls it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, at, bounded, never, select};
use sys::log::Log;
use sys::proc::{self, CancelHandle, HandOver};
use sys::{Failure, clock, files, text};
use tui::input::{Input, Reply};
use tui::reader::Reader;
use tui::term::Terminal;
use tui::theme::Theme;
use wire::plugin::Exec;

use super::event::{Effect, Event};
use super::library::Sessions;
use super::pace::{BESIDE, Pace};
use super::reader::Told;
use super::signals::{Signal, Signals};
use super::state::{App, TabKind};
use super::telling::Telling;
use super::update::update;
use super::views;
use super::{LOG_SIZE, LOGS_KEPT};
use crate::config::ResumeIn;
use crate::context::Context;
use crate::plugins::host::HostOptions;
use crate::plugins::{Host, Notice, Plugin, What};
use crate::{detection, settings};

/// How often the numbers of the Plugins tab are asked while it is shown.
const STATS: Duration = Duration::from_secs(1);

/// Bytes of a plugin's log that are shown, the last ones.
const LOG_SHOWN: usize = 256 * 1024;

/// How long a multiplexer may take to open a window.
const RESUME: Duration = Duration::from_secs(5);

/// How long quitting may take in all: 2 s of grace and what surrounds them (clause L2).
const QUIT_WITHIN: Duration = Duration::from_secs(4);

/// The running app.
pub(super) struct Driver {
    pub(super) context: Arc<Context>,
    app: App,
    terminal: Terminal,
    host: Host,
    reader: Option<Reader>,
    input: Receiver<Input>,
    notices: Option<Receiver<Notice>>,
    /// From threads of our own: detection, files.
    results: Receiver<Event>,
    sender: Sender<Event>,
    signals: Signals,
    theme: Arc<Mutex<Theme>>,
    detecting: Option<CancelHandle>,
    /// Keeps the sessions at hand.
    sessions: Option<Sessions>,
    /// Tells the transcript that is read.
    telling: Option<Telling>,
    /// Held by detection threads until they have ended.
    detections: (Sender<()>, Receiver<()>),
    queue: VecDeque<Event>,
    pace: Pace,
    /// When the numbers of the Plugins tab were last asked.
    asked: Instant,
    quit: bool,
}

impl Driver {
    /// Draws the first frame, then starts everything else.
    ///
    /// # Errors
    /// When the terminal is gone or the system has no threads left.
    pub(super) fn start(
        context: &Context,
        mut app: App,
        mut terminal: Terminal,
        signals: Signals,
    ) -> Result<Self, Failure> {
        app.size = terminal.size();
        terminal.draw(|frame| views::draw(&app, frame)).map_err(|error| gone(&error))?;
        let (pace, asked) = (Pace::new(clock::now()), clock::now());
        let context = Arc::new(context.clone());
        let theme = Arc::new(Mutex::new(app.theme.clone()));
        let (host, notices) = Host::new(&context.discovery.plugins, host_options(&context, &theme, app.body()));
        let (sender, results) = bounded(256);
        let (inputs, input) = bounded(256);
        let tty = tui::reader::open_tty().map_err(|error| gone(&error))?;
        let reader = Reader::start(tty, move |input| inputs.send(input).is_ok()).map_err(|error| gone(&error))?;
        let (reader, notices) = (Some(reader), Some(notices));
        let (detecting, detections, queue) = (None, bounded(0), VecDeque::new());
        let (sessions, telling) = (None, None);
        let quit = false;
        Ok(Self {
            context,
            app,
            terminal,
            host,
            reader,
            input,
            notices,
            results,
            sender,
            signals,
            theme,
            detecting,
            sessions,
            telling,
            detections,
            queue,
            pace,
            asked,
            quit,
        })
    }

    /// Runs until the person quits.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        for (plugin, state) in self.app.plugins.iter().enumerate() {
            if state.living() {
                self.host.start(plugin, state.run);
            }
        }
        self.effect(Effect::Detect(self.app.detection));
        if self.app.tab("sessions").is_some() || self.app.tab("usage").is_some() {
            self.sessions = Sessions::start(&self.context, &self.sender);
        }
        if self.app.tab("providers").is_some() {
            self.app.providers.reads += 1;
            self.effect(Effect::ReadProviders(self.app.providers.reads));
        }
        if self.app.tab("hooks").is_some() {
            self.app.hooks.reads += 1;
            self.effect(Effect::ReadHooks(self.app.hooks.reads));
        }
        // Answers come when they come; a terminal that is gone shows at the next draw.
        let _ = self.terminal.ask(self.follows_background());
        let outcome = self.turn();
        self.end();
        outcome
    }

    fn turn(&mut self) -> Result<(), Failure> {
        while !self.quit {
            if self.pace.next().is_some_and(|next| next <= clock::now()) {
                self.draw()?;
            }
            let event = self.wait();
            self.handle(event);
            // What else is there, without waiting: one frame shows it all.
            for _ in 0..256 {
                let Some(event) = self.ready() else { break };
                self.handle(event);
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let app = &self.app;
        self.terminal.draw(|frame| views::draw(app, frame)).map_err(|error| gone(&error))?;
        self.pace.drawn(clock::now());
        Ok(())
    }

    /// The next moment at which something is to be done without anybody asking.
    fn wake(&self) -> Option<Instant> {
        let stats = (self.app.kind() == TabKind::Plugins).then(|| self.asked + STATS);
        [self.pace.next(), self.app.toasts.next_expiry(), stats].into_iter().flatten().min()
    }

    fn wait(&mut self) -> Event {
        let wake = self.wake().map_or_else(never, at);
        let none = never();
        let notices = self.notices.as_ref().unwrap_or(&none);
        select! {
            recv(self.input) -> input => Event::Input(input.unwrap_or(Input::Closed)),
            recv(notices) -> notice => notice.map_or(Event::Tick, Event::Notice),
            recv(self.results) -> event => event.unwrap_or(Event::Tick),
            recv(self.signals.queue) -> signal => self.signal(signal.unwrap_or(Signal::Terminate)),
            recv(wake) -> _ => Event::Tick,
        }
    }

    /// Keys first: they must not wait behind a plugin that talks much.
    fn ready(&mut self) -> Option<Event> {
        if let Some(event) = self.queue.pop_front() {
            return Some(event);
        }
        if let Ok(input) = self.input.try_recv() {
            return Some(Event::Input(input));
        }
        if let Ok(signal) = self.signals.queue.try_recv() {
            return Some(self.signal(signal));
        }
        if let Some(Ok(notice)) = self.notices.as_ref().map(Receiver::try_recv) {
            return Some(Event::Notice(notice));
        }
        self.results.try_recv().ok()
    }

    fn signal(&mut self, signal: Signal) -> Event {
        match signal {
            Signal::Resize => {
                // A window that shrank and grew back has lost what was in it, whatever its size says.
                let _ = self.terminal.redraw();
                self.pace.want(clock::now());
                let (columns, rows) = self.terminal.size();
                Event::Resized(columns, rows)
            }
            Signal::Suspend => Event::Suspend,
            Signal::Continued => {
                // After a SIGSTOP that nobody could see coming the shell has changed the modes.
                let _ = self.terminal.reassert();
                self.pace.want(clock::now());
                let (columns, rows) = self.terminal.size();
                Event::Resized(columns, rows)
            }
            Signal::Terminate => Event::Terminate,
        }
    }

    fn handle(&mut self, event: Event) {
        let event = match event {
            Event::Notice(Notice { plugin, what: What::Frame, .. }) => match self.host.take_frame(plugin) {
                Some((run, view)) => Event::Frame { plugin, run, view },
                None => return,
            },
            Event::Input(Input::Reply(reply)) => {
                let _ = self.terminal.on_reply(&reply);
                if let Reply::Background { r, g, b } = reply
                    && self.follows_background()
                    && let Some(theme) = super::theme_on(r, g, b)
                {
                    self.show_theme(theme);
                }
                return;
            }
            other => other,
        };
        // A frame of a tab that is not shown changes at most its counter.
        let (beside, quiet) = match &event {
            Event::Frame { plugin, view, .. } if self.app.active_plugin() != Some(*plugin) => {
                (true, self.app.plugins.get(*plugin).is_some_and(|state| state.count() == view.count))
            }
            _ => (false, false),
        };
        let (tick, input) = (matches!(event, Event::Tick), matches!(event, Event::Input(_)));
        let toast = self.app.toasts.current().map(|toast| toast.until);
        let (layer, active) = (self.app.layer.is_some(), self.app.active);
        self.app.wall = clock::wall()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        let effects = update(&mut self.app, event, clock::now());
        if let Some(sessions) = &mut self.sessions {
            sessions.shown(matches!(self.app.kind(), TabKind::Sessions | TabKind::Usage));
        }
        let toast = toast != self.app.toasts.current().map(|toast| toast.until);
        // What only goes on to a plugin changes nothing here.
        let sent = !effects.is_empty() && effects.iter().all(|effect| matches!(effect, Effect::Send(..)));
        let passed = input && sent && !layer && active == self.app.active;
        if toast || !(quiet || tick || passed) {
            let now = clock::now();
            self.pace.want(if beside { now + BESIDE } else { now });
        }
        for effect in effects {
            self.effect(effect);
        }
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.quit = true,
            Effect::Send(plugin, message) => self.host.send(plugin, &message),
            Effect::Start { plugin, run } => self.host.start(plugin, run),
            Effect::Stop(plugin) => self.host.stop_one(plugin),
            Effect::Body(width, height) => self.host.resize(width, height),
            Effect::Detect(detection) => self.detect(detection),
            Effect::TellAgents(agents) => self.host.agents(agents),
            Effect::Lend { plugin, run, exec } => self.lend(plugin, run, exec),
            Effect::Suspend { outside } => self.suspend(outside),
            Effect::Copy(text) => {
                let event = match self.terminal.copy(&text) {
                    Ok(()) => Event::Done(format!("copied {text} (asked the terminal, OSC 52)")),
                    Err(error) => Event::Failed(format!("could not copy: {error}")),
                };
                self.queue.push_back(event);
            }
            Effect::ReadLog(plugin) => self.read_log(plugin),
            Effect::Hide { plugin, hidden } => self.hide(plugin, hidden),
            Effect::Stats => {
                self.asked = clock::now();
                for plugin in 0..self.app.plugins.len() {
                    self.queue.push_back(Event::Stats { plugin, stats: self.host.stats(plugin) });
                }
            }
            Effect::Theme(id) => self.use_theme(&id),
            Effect::Look => {
                if let Some(sessions) = &self.sessions {
                    sessions.look();
                }
            }
            Effect::Search { number, words } => {
                let shelf = self.app.sessions.shelf.clone();
                if let (Some(sessions), Some(shelf)) = (&mut self.sessions, shelf) {
                    sessions.search(number, words, Arc::clone(&shelf.snapshot), &self.sender);
                }
            }
            Effect::Count { number, view, agent, period } => {
                let Some(shelf) = self.app.sessions.shelf.clone() else { return };
                let (zone, context) = (self.app.zone.clone(), Arc::clone(&self.context));
                self.aside("count", move |sender| {
                    let Some(around) = agents::Surroundings::of(&context.env) else { return };
                    let costs = agents::usage::Costs::here(context.config.usage.prices(), &around);
                    let counted = crate::count::count(&shelf.snapshot, view, agent, period, &zone, &costs);
                    let counted = Arc::new(counted);
                    let _ = sender.send(Event::Counted { number, counted });
                });
            }
            Effect::Limits { ask } => {
                let context = Arc::clone(&self.context);
                self.aside("limits", move |sender| {
                    let wanted = crate::limits::Wanted { agents: Vec::new(), refresh: ask };
                    let event = match crate::limits::tell(&context, &wanted) {
                        Ok(told) => Event::Limits(Arc::new(told)),
                        Err(failure) => Event::Failed(failure.to_string()),
                    };
                    let _ = sender.send(event);
                });
            }
            Effect::Read { number, session } => self.read(number, session),
            Effect::Around(turn) => {
                if let Some(telling) = &self.telling {
                    telling.around(turn);
                }
            }
            Effect::Inside { number, text } => {
                if let Some(telling) = &self.telling {
                    telling.inside(number, text);
                }
            }
            Effect::Close => self.telling = None,
            Effect::Resume { command, folder, place } => self.resume(command, folder, place),
            other => self.errand(other),
        }
    }

    /// Has the sessions of all agents looked at again, from any thread.
    pub(super) fn looker(&self) -> Box<dyn FnOnce() + Send> {
        match &self.sessions {
            Some(sessions) => Box::new(sessions.looker()),
            None => Box::new(|| {}),
        }
    }

    fn read(&mut self, number: u64, session: usize) {
        let before = self.telling.take();
        let shelf = self.app.sessions.shelf.clone();
        let Some(session) = shelf.as_ref().and_then(|shelf| shelf.session(session)) else { return };
        let scratch = self.context.paths.data.join("index");
        self.telling = Telling::start(session, scratch, number, before, &self.sender);
        if self.telling.is_none() {
            let told = Told::Failed("its agent's transcripts cannot be read".to_owned());
            self.queue.push_back(Event::Told { reader: number, told });
        }
    }

    /// Opens a session again: here, or beside us in a multiplexer.
    fn resume(&mut self, command: Vec<String>, folder: PathBuf, place: ResumeIn) {
        if !folder.is_dir() {
            let folder = self.context.paths.short(&folder);
            self.queue.push_back(Event::FolderGone { folder: text::clean(&folder), command });
            return;
        }
        let spec = match crate::resume::spec(&command, &folder, place, &self.context.env) {
            Ok(spec) => spec,
            Err(failure) => {
                self.queue.push_back(Event::Failed(failure.to_string()));
                return;
            }
        };
        if place != ResumeIn::Here {
            self.aside("resume", move |sender| {
                let limits = proc::Limits { deadline: Some(RESUME), output: 64 * 1024, merged: true };
                let event = match proc::run(&spec, &limits, &proc::Cancel::never()) {
                    Ok(done) if done.exit.ok() => Event::Done("opened beside us".to_owned()),
                    Ok(done) => {
                        let said = text::clean_bytes(&done.stdout);
                        Event::Failed(format!("it could not be opened beside us: {}", said.trim()))
                    }
                    Err(failure) => Event::Failed(failure.to_string()),
                };
                let _ = sender.send(event);
            });
            return;
        }
        match self.lend_to(&spec) {
            Ok(HandOver::Ended(exit)) if exit.ok() => {}
            Ok(HandOver::Ended(exit)) => {
                self.queue.push_back(Event::Failed(format!("{} ended with {exit}", text::clean(&command[0]))));
            }
            Ok(HandOver::Terminated) => {}
            Err(why) => self.queue.push_back(Event::Failed(why)),
        }
        if let Some(sessions) = &self.sessions {
            sessions.look();
        }
    }

    /// Work that may wait for a disk or a program runs beside the loop; what comes of it is an event.
    pub(super) fn aside(&self, name: &str, work: impl FnOnce(&Sender<Event>) + Send + 'static) {
        let sender = self.sender.clone();
        // Without a thread the work is not done, and the person sees nothing change.
        let _ = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&sender));
    }

    fn detect(&mut self, detection: u64) {
        let (handle, cancel) = proc::cancel_pair();
        // The older detection is cancelled by dropping its handle.
        self.detecting = Some(handle);
        let (context, token) = (Arc::clone(&self.context), self.detections.0.clone());
        self.aside("detect", move |sender| {
            let mut found = detection::places(&context);
            let _ = sender.send(Event::Agents { detection, found: found.clone(), complete: false });
            let shown = Mutex::new(found.clone());
            let heard = |id: &'static str, version: &agents::detect::Version| {
                let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(agent) = shown.iter_mut().find(|agent| agent.id == id) {
                    version.put_into(agent);
                }
                let _ = sender.send(Event::Agents { detection, found: shown.clone(), complete: false });
            };
            detection::versions(&context, &mut found, &cancel, &heard);
            let _ = sender.send(Event::Agents { detection, found, complete: true });
            drop(token);
        });
    }

    /// Lends the terminal to a command and takes it back (clause E6).
    fn lend(&mut self, plugin: usize, run: u64, exec: Exec) {
        let id = exec.exec_id;
        let spec = self.host.terminal_spec(exec).and_then(|spec| match proc::which(&spec.program, &spec.env) {
            Some(_) => Ok(spec),
            None => Err(format!("could not start {}: not found in PATH", spec.program.to_string_lossy())),
        });
        let ran = spec.and_then(|spec| self.lend_to(&spec));
        self.host.interactive_result(plugin, run, id, ran);
    }

    /// The terminal is a program's until it ends.
    fn lend_to(&mut self, spec: &proc::Spec) -> Result<HandOver, String> {
        if let Some(reader) = &self.reader {
            reader.pause();
        }
        self.terminal.suspend();
        self.signals.lend(true);
        let ran = proc::lend_terminal(spec, &self.signals.terminate).map_err(|failure| failure.to_string());
        self.signals.lend(false);
        if self.terminal.resume().is_err() {
            self.quit = true;
        }
        if let Some(reader) = &self.reader {
            reader.resume();
        }
        self.quit |= matches!(ran, Ok(HandOver::Terminated));
        let (columns, rows) = self.terminal.size();
        self.queue.push_back(Event::Resized(columns, rows));
        self.pace.want(clock::now());
        ran
    }

    fn suspend(&mut self, outside: bool) {
        if !outside && !Terminal::can_suspend() {
            self.queue.push_back(Event::Failed("there is no shell to come back from".to_owned()));
            return;
        }
        if let Some(reader) = &self.reader {
            reader.pause();
        }
        if self.terminal.suspend_process().is_err() {
            self.quit = true;
        }
        if let Some(reader) = &self.reader {
            reader.resume();
        }
        let (columns, rows) = self.terminal.size();
        self.queue.push_back(Event::Resized(columns, rows));
        self.pace.want(clock::now());
    }

    fn read_log(&self, plugin: usize) {
        let Some(plugin) = self.context.discovery.plugins.get(plugin) else { return };
        let (path, short) =
            (log_path(&self.context, plugin), self.context.paths.short(&log_path(&self.context, plugin)));
        self.aside("log", move |sender| {
            let event = match files::read_tail(&path, LOG_SHOWN) {
                Ok(Some(bytes)) if !bytes.is_empty() => {
                    Event::Text { title: short, lines: text::clean_bytes(&bytes).lines().map(str::to_owned).collect() }
                }
                Ok(_) => Event::Done("it has written nothing to stderr".to_owned()),
                Err(failure) => Event::Failed(failure.to_string()),
            };
            let _ = sender.send(event);
        });
    }

    fn hide(&self, plugin: usize, hidden: bool) {
        let Some(state) = self.app.plugins.get(plugin) else { return };
        let (path, id) = (self.config_path(), state.id.clone());
        self.aside("config", move |sender| {
            let event = match settings::write_hidden(&path, &id, hidden) {
                Ok(()) => Event::Hidden { plugin, hidden },
                Err(failure) => Event::Failed(failure.to_string()),
            };
            let _ = sender.send(event);
        });
    }

    fn use_theme(&mut self, id: &str) {
        let Some(theme) = Theme::builtin(id) else { return };
        self.show_theme(theme);
        let (path, id) = (self.config_path(), id.to_owned());
        self.aside("config", move |sender| {
            let event = match settings::write_theme(&path, &id) {
                Ok(()) => Event::Done(format!("theme {id}, remembered in config.yaml")),
                Err(failure) => Event::Failed(failure.to_string()),
            };
            let _ = sender.send(event);
        });
    }

    fn follows_background(&self) -> bool {
        self.context.config.theme.as_deref() == Some(super::AUTO)
    }

    /// Draws with `theme` from now on; plugins that are started later are told of it.
    fn show_theme(&mut self, theme: &Theme) {
        self.app.theme = theme.with_depth(self.terminal.depth());
        *self.theme.lock().unwrap_or_else(PoisonError::into_inner) = theme.clone();
        self.pace.want(clock::now());
    }

    fn config_path(&self) -> PathBuf {
        self.context.paths.config.join("config.yaml")
    }

    /// The terminal first, so that the person has it back at once; then everything that runs, together.
    fn end(mut self) {
        // Dropped first: a run that wants to say something must not wait for us.
        self.notices = None;
        self.host.stop();
        self.reader = None;
        self.terminal.leave();
        self.detecting = None;
        self.sessions = None;
        self.telling = None;
        let (token, ended) = self.detections;
        drop(token);
        let until = clock::now() + QUIT_WITHIN;
        drop(self.results);
        self.host.wait(QUIT_WITHIN);
        let _ = ended.recv_timeout(until.saturating_duration_since(clock::now()));
    }
}

fn gone(error: &std::io::Error) -> Failure {
    Failure::new("the terminal went away").cause(sys::failure::plain(error))
}

fn log_path(context: &Context, plugin: &Plugin) -> PathBuf {
    context.paths.state.join("plugins").join(format!("{}.log", plugin.id))
}

fn host_options(context: &Arc<Context>, theme: &Arc<Mutex<Theme>>, body: ratatui::layout::Rect) -> HostOptions {
    let (init_context, theme) = (Arc::clone(context), Arc::clone(theme));
    let log_context = Arc::clone(context);
    HostOptions {
        env: context.plugin_env(),
        init: Box::new(move |plugin, again| {
            let theme = theme.lock().unwrap_or_else(PoisonError::into_inner).clone();
            // A restarted plugin gets the section as it is now (clause G3).
            let fresh = again.then(|| crate::config::Config::load(&init_context.paths.config.join("config.yaml")));
            init_context.init(plugin, fresh.as_ref().unwrap_or(&init_context.config), &theme)
        }),
        stderr_log: Box::new(move |plugin| {
            let path = log_path(&log_context, plugin);
            let mut log: Option<Log> = None;
            // Opened at the first byte: most plugins never write one.
            Box::new(move |bytes| log.get_or_insert_with(|| Log::open(&path, LOG_SIZE, LOGS_KEPT)).raw(bytes))
        }),
        size: (body.width, body.height),
    }
}
