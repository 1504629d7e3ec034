//! One thread per run of a plugin: it starts the process, feeds the [`Session`], runs what the plugin asks for in
//! the background, and stops the process. It never draws; all it says are notices and frames. The host starts it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, after, at, bounded, never, select};
use sys::proc::{self, Batch, Cancel, CancelHandle, Exit, Limits, Live, LiveOptions, Refused, Spec};
use sys::text::{self, ansi};
use sys::{Env, clock};
use wire::plugin::{Exec, ExecResult, Frame, HostMessage, Init};

use super::host::{Control, FrameView, Shared, Slot, What};
use super::session::{Said, Session};
use super::{ManifestView, Plugin};

/// Seed: "queue of 256 messages", "line > 1 MiB", "the last 4 KiB".
const LIVE: LiveOptions = LiveOptions { queue: 256, max_line: wire::MAX_LINE, stderr_tail: 4096 };

/// How long what a dead process still has in its pipe is waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Commands of one plugin that run at the same time; more wait, in order (clause E2 sets no limit, the machine does).
const RUNNING_EXECS: usize = 256;

/// Commands that may wait; beyond it the answer is an error.
const WAITING_EXECS: usize = 1024;

/// How to start a plugin.
pub(super) fn spec(plugin: &Plugin, args: &[&str], env: &Env) -> Spec {
    let args = args.iter().map(OsString::from).collect();
    Spec { program: plugin.path.clone().into_os_string(), args, dir: None, env: env.clone() }
}

/// The line of `init`; a config section that does not fit is left out, with a warning (clause P1, "decided since").
pub(super) fn init_line(mut init: Init) -> (Vec<u8>, Option<String>) {
    let line = wire::encode(&HostMessage::Init(init.clone()));
    if line.len() <= wire::MAX_LINE + 1 {
        return (line, None);
    }
    let warning = format!("the config section {} is larger than a line may be and was not sent", init.id);
    init.config = None;
    (wire::encode(&HostMessage::Init(init)), Some(warning))
}

/// One run, from spawn to the last process of its group.
pub(super) struct Run {
    pub(super) shared: Arc<Shared>,
    pub(super) slot: Arc<Slot>,
    pub(super) run: u64,
    pub(super) control: Receiver<Control>,
    /// Held until nothing of this run is left.
    pub(super) token: Sender<()>,
}

impl Run {
    pub(super) fn supervise(self) {
        let spec = spec(&self.slot.plugin, &["serve"], &self.shared.env);
        let log = (self.shared.stderr_log)(&self.slot.plugin);
        let live = match Live::start(&spec, LIVE, log) {
            Ok(live) => Arc::new(live),
            Err(failure) => {
                self.say(What::Failed { reason: failure.to_string(), stderr: String::new() });
                return;
            }
        };
        self.say(What::Started { pid: live.pid() });
        let session = self.greet(&live);
        let mut watch = Watch::new(self, Arc::clone(&live), session);
        let failed = watch.run();
        let run = watch.end();
        match failed {
            None => {
                live.stop();
            }
            Some(reason) => run.bury(&live, reason),
        }
    }

    fn say(&self, what: What) {
        self.shared.say(self.slot.index, self.run, what);
    }

    /// Sends `init` with the size of this moment and opens the queue to the app, as one step: no resize is missed.
    fn greet(&self, live: &Arc<Live>) -> Session {
        let mut state = self.slot.state();
        let (width, height) = self.shared.size();
        let mut init = (self.shared.init)(&self.slot.plugin, self.run > 1);
        (init.width, init.height) = (width, height);
        let (line, warning) = init_line(init);
        // A fresh queue has room for one.
        let _ = live.send(line);
        if state.run == self.run {
            state.live = Some(Arc::clone(live));
        }
        drop(state);
        if let Some(warning) = warning {
            self.say(What::Warning(warning));
        }
        Session::new(&self.slot.plugin.id, clock::now())
    }

    /// Tells why, at once, stops the process, and tells again if its last words came meanwhile.
    fn bury(&self, live: &Live, reason: String) {
        let stderr = text::clean_bytes(&live.stderr_tail());
        self.say(What::Failed { reason: reason.clone(), stderr: stderr.clone() });
        live.stop();
        let last = text::clean_bytes(&live.stderr_tail());
        if last != stderr {
            self.say(What::Failed { reason, stderr: last });
        }
    }
}

/// The running part of a run.
struct Watch {
    run: Run,
    live: Arc<Live>,
    session: Session,
    execs: Execs,
    last: Option<Frame>,
}

impl Watch {
    fn new(run: Run, live: Arc<Live>, session: Session) -> Self {
        let execs = Execs::new(run.shared.env.clone(), run.token.clone());
        Self { run, live, session, execs, last: None }
    }

    /// Runs until the host stops it (`None`) or the plugin failed (why).
    fn run(&mut self) -> Option<String> {
        loop {
            let due = self.session.deadline().map_or_else(never, at);
            let over = select! {
                recv(self.run.control) -> control => match control {
                    Ok(Control::Resized) => {
                        self.publish();
                        None
                    }
                    Ok(Control::Deaf) => self.session.deaf(),
                    Err(_) => {
                        self.session.stop();
                        return None;
                    }
                },
                recv(self.live.lines()) -> batch => match batch {
                    Ok(Batch::Lines(lines)) => self.lines(&lines),
                    Ok(Batch::TooLong) => self.session.too_long(),
                    Ok(Batch::End) | Err(_) => return self.silent(),
                },
                recv(self.live.exited()) -> exit => {
                    return self.ended(exit.unwrap_or(Exit::Code(-1)));
                }
                recv(self.execs.done) -> done => done.ok().and_then(|result| self.finished(result)),
                recv(due) -> _ => self.session.overdue(clock::now()),
            };
            if over.is_some() {
                return over;
            }
        }
    }

    fn end(self) -> Run {
        let mut state = self.run.slot.state();
        if state.run == self.run.run {
            state.live = None;
            state.ready = false;
        }
        drop(state);
        // Dropping `execs` cancels what this run asked for (clause E8).
        self.run
    }

    fn lines(&mut self, lines: &[u8]) -> Option<String> {
        let said = self.session.lines(lines);
        self.run.slot.frames.store(self.session.frames(), std::sync::atomic::Ordering::Relaxed);
        for said in said {
            match said {
                Said::Manifest(manifest) => self.introduced(manifest),
                Said::Frame(frame) => {
                    self.last = Some(frame);
                    self.publish();
                }
                Said::Exec(exec) if exec.interactive => self.run.say(What::Interactive(exec)),
                Said::Exec(exec) => self.execs.ask(exec),
                Said::Failed(reason) => return Some(reason),
            }
        }
        None
    }

    /// The order of clause R3: init, manifest, then agents if they are known.
    fn introduced(&mut self, manifest: ManifestView) {
        self.run.say(What::Manifest(manifest));
        let mut state = self.run.slot.state();
        state.ready = true;
        // A full queue is found by the next message.
        let _ = state.tell(&self.run.shared.agents());
    }

    /// Cleans and clips the newest view to the size of this moment; only what fits is looked at.
    fn publish(&mut self) {
        let Some(frame) = &self.last else { return };
        let (width, height) = self.run.shared.size();
        let lines = ansi::fold(&frame.view, height.into(), width.into());
        let count = frame.count.and_then(|count| u64::try_from(count).ok());
        let view = FrameView { lines, count, capturing: frame.capturing, empty: frame.view.is_empty() };
        if self.run.slot.post(self.run.run, view) {
            self.run.say(What::Frame);
        }
    }

    fn finished(&mut self, result: ExecResult) -> Option<String> {
        self.execs.next();
        match self.live.send(wire::encode(&wire::exec_result_that_fits(result))) {
            Err(Refused::Full) => self.session.deaf(),
            Ok(()) | Err(Refused::Closed) => None,
        }
    }

    /// stdout ended: usually the process is about to end, which is the better reason.
    fn silent(&mut self) -> Option<String> {
        match self.live.exited().recv_timeout(Duration::from_millis(500)) {
            Ok(exit) => self.session.ended(exit),
            Err(_) => self.session.closed(),
        }
    }

    /// The process ended: what it wrote before still counts, for a moment.
    fn ended(&mut self, exit: Exit) -> Option<String> {
        let until = after(LAST_WORDS);
        loop {
            select! {
                recv(self.live.lines()) -> batch => match batch {
                    Ok(Batch::Lines(lines)) => {
                        if let Some(reason) = self.lines(&lines) {
                            return Some(reason);
                        }
                    }
                    Ok(Batch::TooLong) => return self.session.too_long(),
                    Ok(Batch::End) | Err(_) => break,
                },
                recv(until) -> _ => break,
            }
        }
        self.session.ended(exit)
    }
}

/// Background commands of one run.
struct Execs {
    env: Env,
    token: Sender<()>,
    running: usize,
    waiting: VecDeque<Exec>,
    results: Sender<ExecResult>,
    done: Receiver<ExecResult>,
    cancel: Cancel,
    _handle: CancelHandle,
}

impl Execs {
    fn new(env: Env, token: Sender<()>) -> Self {
        // Room for every result that can be under way, so that no thread waits to report.
        let (results, done) = bounded(RUNNING_EXECS + WAITING_EXECS);
        let (handle, cancel) = proc::cancel_pair();
        Self { env, token, running: 0, waiting: VecDeque::new(), results, done, cancel, _handle: handle }
    }

    fn ask(&mut self, exec: Exec) {
        if self.running < RUNNING_EXECS {
            self.start(exec);
        } else if self.waiting.len() < WAITING_EXECS {
            self.waiting.push_back(exec);
        } else {
            let error = format!("{RUNNING_EXECS} commands run and {WAITING_EXECS} wait: this one was refused");
            let _ = self.results.try_send(failed(exec.exec_id, error));
        }
    }

    /// One ended: the next may start.
    fn next(&mut self) {
        self.running = self.running.saturating_sub(1);
        if let Some(exec) = self.waiting.pop_front() {
            self.start(exec);
        }
    }

    fn start(&mut self, exec: Exec) {
        self.running += 1;
        let (env, cancel, results) = (self.env.clone(), self.cancel.clone(), self.results.clone());
        let (id, token) = (exec.exec_id, self.token.clone());
        let body = move || {
            let result = background(exec, env, &cancel);
            // Nobody listens once the run is over: the result belongs to nobody then.
            let _ = results.try_send(result);
            drop(token);
        };
        let started = std::thread::Builder::new().name("exec".to_owned()).stack_size(256 * 1024).spawn(body);
        if let Err(error) = started {
            let _ = self.results.try_send(failed(id, format!("no thread for the command: {error}")));
        }
    }
}

fn failed(exec_id: i64, error: String) -> ExecResult {
    ExecResult { exec_id, code: -1, error, ..ExecResult::default() }
}

/// The command that a plugin asked for.
pub(super) fn exec_spec(exec: Exec, env: Env) -> Result<Spec, String> {
    let mut argv = exec.argv.into_iter().map(OsString::from);
    let program = argv.next().filter(|program| !program.is_empty()).ok_or("argv is empty")?;
    let dir = (!exec.dir.is_empty()).then(|| PathBuf::from(exec.dir));
    Ok(Spec { program, args: argv.collect(), dir, env })
}

/// Runs a command to its end (clauses E1 to E9).
fn background(exec: Exec, env: Env, cancel: &Cancel) -> ExecResult {
    let id = exec.exec_id;
    let limits = Limits { deadline: None, output: wire::MAX_LINE, merged: false };
    let ran = exec_spec(exec, env).and_then(|spec| proc::run(&spec, &limits, cancel).map_err(|f| f.to_string()));
    match ran {
        Err(error) => failed(id, error),
        Ok(done) => ExecResult {
            exec_id: id,
            code: code(done.exit),
            stdout: whole(&done.stdout),
            stderr: whole(&done.stderr),
            error: String::new(),
        },
    }
}

/// -1 for a signal: plugins test for it (clause E3).
pub(super) fn code(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(_) => -1,
    }
}

/// Output as text: cut at a character border, what is not UTF-8 becomes U+FFFD (clause E5).
fn whole(bytes: &[u8]) -> String {
    let full = bytes.len() >= wire::MAX_LINE;
    let cut = match std::str::from_utf8(bytes) {
        // Only what we cut ourselves ends within a character by our doing.
        Err(error) if full && error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    };
    String::from_utf8_lossy(cut).into_owned()
}

/// The handshake of `doctor`: start, init, manifest, stop (clauses O1, O4). The error is the reason and the tail
/// of stderr.
pub(super) fn handshake(
    plugin: &Plugin,
    env: &Env,
    init: Init,
    cancel: &Cancel,
) -> Result<ManifestView, (String, String)> {
    let live = Live::start(&spec(plugin, &["serve"], env), LIVE, |_| {}).map_err(|f| (f.to_string(), String::new()))?;
    let _ = live.send(init_line(init).0);
    let mut session = Session::new(&plugin.id, clock::now());
    let outcome = loop {
        let due = session.deadline().map_or_else(never, at);
        let over = select! {
            recv(live.lines()) -> batch => match batch {
                Ok(Batch::Lines(lines)) => match session.lines(&lines).into_iter().next() {
                    Some(Said::Manifest(manifest)) => break Ok(manifest),
                    Some(Said::Failed(reason)) => Some(reason),
                    _ => None,
                },
                Ok(Batch::TooLong) => session.too_long(),
                Ok(Batch::End) | Err(_) => match live.exited().recv_timeout(Duration::from_millis(500)) {
                    Ok(exit) => session.ended(exit),
                    Err(_) => session.closed(),
                },
            },
            recv(due) -> _ => session.overdue(clock::now()),
            recv(cancel.receiver()) -> _ => Some("the check was interrupted".to_owned()),
        };
        if let Some(reason) = over {
            break Err(reason);
        }
    };
    live.stop();
    outcome.map_err(|reason| (reason, text::clean_bytes(&live.stderr_tail())))
}
