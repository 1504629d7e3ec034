//! A plugin that misbehaves on request. It never does anything to a machine but start `sleep`-like children of itself
//! that end within two minutes, as it does. Plugin hosts under test start it; `testkit::Home::misfit` installs it.
//!
//! What it does is one line: `$MISFIT`, or else the file `$MISFIT_DIR/<its file name without extension>`, or else
//! `good`. The file name is the one it was called by, so each link to it can have orders of its own. What it saw is
//! appended to `$MISFIT_DIR/<name>.log`: `start <pid> <args>`, `line <what the host sent>`, `child <pid>`, `end <why>`.
//!
//! | orders | `serve` |
//! |---|---|
//! | `good` | manifest, then a frame that counts every kind of message and shows the last one |
//! | `plain` | the same, with nothing but a title in the manifest |
//! | `silent` | says nothing, ends at EOF |
//! | `late:<ms>` | good, but the manifest comes late |
//! | `frame-first` | a frame before the manifest, then good |
//! | `junk`, `empty-type`, `array` | a line that is not JSON, `{"type":""}`, a JSON array |
//! | `exit:<code>[:<ms>]`, `signal:<n>` | ends (after so long), or by this signal |
//! | `longline:<bytes>`, `longline-endless` | a frame of so many bytes without its newline, or a line that never ends |
//! | `half[:<ms>]` | half a frame, and the other half so much later (without a number: never) |
//! | `flood:<a second>:<total>` | so many frames at this rate (0: as fast as they go), then good |
//! | `noread` | never reads |
//! | `ignore-term`, `ignore-term-eof` | good, but deaf to SIGTERM, or to SIGTERM and the end of its input |
//! | `grandchild`, `grandchild-setsid` | leaves a child that is deaf to SIGTERM and holds stdout, in its group or not |
//! | `stderr:<bytes>[:exit]` | writes so much to stderr, the last line being `stderr end` (and exits with 1) |
//! | `badutf8`, `surrogates`, `deep[:<levels>]`, `escapes` | a frame with such contents |
//! | `capturing` | good, capturing until it gets the key esc |
//! | `exec:<argv>`, `exec-bomb:<n>` | asks for this command (words, or a JSON array), or for n; again on `x` |
//! | `exec-interactive:<argv>` | asks for this on the key `x` or the command `run` only, as it takes the terminal |
//!
//! What happens once happens after the first frame; with `:first` at the end instead of the manifest, with `:on-key`
//! at the first key.
//!
//! `doctor`: `doctor-fail` reports and exits with 1, `doctor-hang[:ignore-term]` never ends, `grandchild*` leaves a
//! child, everything else is fine. Any other arguments: prints them one a line; the words `cat` (copies stdin), `env`
//! (prints LAZYAGENTS_*), `tty` (says which of the three are a terminal), `exit <n>`, `signal <n>` are also obeyed.

#![allow(clippy::disallowed_methods, reason = "misbehaving takes the real system")]
#![allow(clippy::exit, clippy::print_stdout, clippy::print_stderr, reason = "a program that talks and ends")]

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing here lives longer, whatever a test forgot.
const LIFE: Duration = Duration::from_secs(120);

fn main() {
    let mut args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let called = PathBuf::from(args.next().unwrap_or_default());
    let args: Vec<String> = args.collect();
    std::thread::spawn(|| {
        sleep(LIFE);
        exit(99);
    });
    let stage = Stage::new(called);
    if args.first().is_some_and(|first| first == "--grandchild") {
        return grandchild(args.iter().any(|arg| arg == "setsid"));
    }
    stage.note(&format!("start {} {}", std::process::id(), args.join(" ")));
    match args.first().map(String::as_str) {
        Some("serve") => Plugin::new(stage).serve(),
        Some("doctor") => doctor(&stage),
        _ => pass_through(&stage, &args),
    }
}

/// Who it is today, and where its orders and its log are.
struct Stage {
    called: PathBuf,
    name: String,
    dir: Option<PathBuf>,
    orders: String,
}

impl Stage {
    fn new(called: PathBuf) -> Self {
        let name = called.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let dir = std::env::var_os("MISFIT_DIR").map(PathBuf::from);
        let from_file = || dir.as_ref().and_then(|dir| std::fs::read_to_string(dir.join(&name)).ok());
        let orders = std::env::var("MISFIT").ok().or_else(from_file).unwrap_or_else(|| "good".into());
        Self { called, name, dir, orders: orders.trim().to_owned() }
    }

    fn note(&self, line: &str) {
        let Some(dir) = &self.dir else { return };
        let path = dir.join(format!("{}.log", self.name));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = log.and_then(|mut log| log.write_all(format!("{}\n", line.trim_end()).as_bytes()));
    }

    fn end(&self, code: i32) -> ! {
        self.note(&format!("end {code}"));
        exit(code)
    }

    /// Starts a copy of this program that outlives it, and waits until it is deaf.
    fn leave_child(&self, setsid: bool) {
        let mut child = Command::new(&self.called);
        child.arg("--grandchild").stdin(Stdio::null()).stderr(Stdio::piped());
        if setsid {
            child.arg("setsid");
        }
        let Ok(mut child) = child.spawn() else { return };
        let mut ready = String::new();
        if let Some(stderr) = child.stderr.take() {
            let _ = std::io::BufReader::new(stderr).read_line(&mut ready);
        }
        self.note(&format!("child {}", child.id()));
    }
}

fn grandchild(setsid: bool) {
    deaf();
    if setsid {
        let _ = rustix::process::setsid();
    }
    eprintln!("ready");
    sleep(LIFE);
}

/// SIGTERM is caught and does nothing from now on.
fn deaf() {
    let _ = signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::new(AtomicBool::new(false)));
}

fn kill_self(signal: i32) {
    let Some(signal) = rustix::process::Signal::from_named_raw(signal) else { return };
    // Again, because the runtime catches SIGSEGV and SIGBUS once, to tell a stack overflow from the rest.
    for _ in 0..3 {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        sleep(Duration::from_millis(20));
    }
}

fn doctor(stage: &Stage) {
    let (head, rest) = split(&stage.orders);
    match head {
        "doctor-fail" => {
            println!("{}: the well is dry", stage.name);
            eprintln!("{}: the bucket has a hole", stage.name);
            stage.end(1);
        }
        "doctor-hang" => {
            if rest == "ignore-term" {
                deaf();
            }
            println!("{}: looking", stage.name);
            sleep(LIFE);
        }
        "grandchild" => stage.leave_child(false),
        "grandchild-setsid" => stage.leave_child(true),
        _ => {}
    }
    println!("{} is well", stage.name);
    stage.end(0);
}

fn pass_through(stage: &Stage, args: &[String]) {
    for arg in args {
        println!("{arg}");
    }
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        match word.as_str() {
            "cat" => drop(std::io::copy(&mut std::io::stdin(), &mut std::io::stdout())),
            "env" => {
                for (name, value) in std::env::vars().filter(|(name, _)| name.starts_with("LAZYAGENTS_")) {
                    println!("{name}={value}");
                }
            }
            "tty" => {
                let (stdin, stdout) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
                println!("stdin {stdin} stdout {stdout} stderr {}", std::io::stderr().is_terminal());
            }
            "exit" => stage.end(number()),
            "signal" => kill_self(number()),
            _ => {}
        }
    }
    stage.end(0);
}

/// `head:rest` of the orders.
fn split(orders: &str) -> (&str, &str) {
    orders.split_once(':').unwrap_or((orders, ""))
}

/// When it does what it does once.
#[derive(PartialEq, Eq)]
enum Moment {
    InsteadOfManifest,
    AfterFirstFrame,
    OnKey,
    Done,
}

/// What the host said so far.
#[derive(Default)]
struct Heard {
    keys: u64,
    pastes: u64,
    mouse: u64,
    commands: u64,
    reloads: u64,
    resizes: u64,
    agents: usize,
    results: u64,
    other: u64,
    size: (u64, u64),
    config: Option<String>,
    typed: String,
    last: String,
}

impl Heard {
    fn take(&mut self, line: &str, message: &Value) {
        self.last = line.to_owned();
        match message["type"].as_str().unwrap_or_default() {
            "init" => self.config = message.get("config").map(Value::to_string),
            "key" => {
                self.keys += 1;
                self.typed.push_str(message["text"].as_str().unwrap_or_default());
            }
            "paste" => self.pastes += 1,
            "mouse" => self.mouse += 1,
            "command" => self.commands += 1,
            "reload" => self.reloads += 1,
            "resize" => self.resizes += 1,
            "agents" => self.agents = message["agents"].as_array().map_or(0, Vec::len),
            "exec_result" => self.results += 1,
            _ => self.other += 1,
        }
        if let (Some(width), Some(height)) = (message["width"].as_u64(), message["height"].as_u64()) {
            self.size = (width, height);
        }
    }

    fn view(&self, name: &str) -> String {
        let Self { keys, pastes, mouse, commands, reloads, resizes, agents, results, other, .. } = self;
        let config = self.config.as_deref().unwrap_or("none");
        // What tests ask for most comes first: a small tab shows only that.
        format!(
            "ready {name}\nkeys {keys}\nlast {}\ntyped {}\nsize {}x{}\npastes {pastes}\nmouse {mouse}\n\
             commands {commands}\nreloads {reloads}\nresizes {resizes}\nagents {agents}\nresults {results}\n\
             other {other}\nconfig {config}",
            self.last, self.typed, self.size.0, self.size.1
        )
    }
}

struct Plugin {
    stage: Stage,
    head: String,
    rest: String,
    moment: Moment,
    heard: Arc<Mutex<Heard>>,
    flooding: Arc<AtomicBool>,
    capturing: bool,
    /// A line that stands in for the frame from now on.
    frame: Option<Vec<u8>>,
    exec_id: u64,
}

impl Plugin {
    fn new(stage: Stage) -> Self {
        let (orders, moment) = match (stage.orders.strip_suffix(":first"), stage.orders.strip_suffix(":on-key")) {
            (Some(orders), _) => (orders, Moment::InsteadOfManifest),
            (_, Some(orders)) => (orders, Moment::OnKey),
            _ => (stage.orders.as_str(), Moment::AfterFirstFrame),
        };
        let (head, rest) = split(orders);
        Self {
            head: head.to_owned(),
            rest: rest.to_owned(),
            moment,
            heard: Arc::default(),
            flooding: Arc::default(),
            capturing: head == "capturing",
            frame: None,
            exec_id: 0,
            stage,
        }
    }

    fn serve(mut self) {
        match self.head.as_str() {
            "ignore-term" | "ignore-term-eof" => deaf(),
            "grandchild" => self.stage.leave_child(false),
            "grandchild-setsid" => self.stage.leave_child(true),
            "noread" => {
                self.manifest();
                self.draw();
                sleep(LIFE);
            }
            _ => {}
        }
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        let mut first = true;
        loop {
            line.clear();
            if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            self.stage.note(&format!("line {text}"));
            let message: Value = serde_json::from_str(&text).unwrap_or_default();
            self.heard.lock().unwrap_or_else(PoisonError::into_inner).take(&text, &message);
            if self.head == "silent" {
                continue;
            }
            if std::mem::take(&mut first) {
                self.open();
            } else {
                self.hear(&message);
            }
            self.draw();
        }
        self.stage.note("end EOF");
        if self.head == "ignore-term-eof" {
            sleep(LIFE);
        }
    }

    /// The answer to the first line.
    fn open(&mut self) {
        match self.head.as_str() {
            "late" => sleep(self.millis(0)),
            "frame-first" => self.draw(),
            _ => {}
        }
        if self.moment == Moment::InsteadOfManifest {
            self.act();
        }
        self.manifest();
        self.draw();
        if self.moment == Moment::AfterFirstFrame {
            self.act();
        }
    }

    fn hear(&mut self, message: &Value) {
        let is_key = message["type"] == "key";
        if is_key && message["key"] == "esc" {
            self.capturing = false;
        }
        let again = (is_key && message["key"] == "x") || (message["type"] == "command" && message["name"] == "run");
        if is_key && self.moment == Moment::OnKey {
            self.act();
        } else if again && self.head.starts_with("exec") {
            self.ask();
        }
    }

    fn manifest(&self) {
        let title = format!("Misfit {}", self.stage.name);
        if self.head == "plain" {
            return say(&json!({"type": "manifest", "title": title}));
        }
        say(&json!({
            "type": "manifest",
            "title": title,
            "help": [{"title": "Misfit", "keys": [["x", "does what it was told"], ["esc", "lets go of the keys"]]}],
            "commands": [{"name": "run", "desc": "Do what it was told"}, {"name": "ping", "desc": "Count to one"}],
            "doctor": true,
        }));
    }

    fn draw(&self) {
        // Under the lock, so that the last frame of a flood and this one cannot miss each other.
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if self.flooding.load(Ordering::SeqCst) {
            return;
        }
        if let Some(frame) = &self.frame {
            return write(frame);
        }
        let view = heard.view(&self.stage.name);
        say(&json!({"type": "frame", "view": view, "count": heard.keys, "capturing": self.capturing}));
    }

    /// The one thing it does once.
    fn act(&mut self) {
        self.moment = Moment::Done;
        match self.head.as_str() {
            "junk" => write(b"this is no JSON\n"),
            "empty-type" => write(b"{\"type\":\"\"}\n"),
            "array" => write(b"[\"frame\", 1]\n"),
            "exit" => {
                sleep(self.millis(1));
                self.stage.end(i32::try_from(self.number(0, 0)).unwrap_or(0));
            }
            "signal" => kill_self(i32::try_from(self.number(0, 15)).unwrap_or(15)),
            "longline" => {
                let (open, close) = (br#"{"type":"frame","view":""#, br#""}"#);
                let bytes = usize::try_from(self.number(0, 0)).unwrap_or(0);
                let fill = vec![b'x'; bytes.saturating_sub(open.len() + close.len())];
                write(&[open.as_slice(), &fill, close, b"\n"].concat());
            }
            "longline-endless" => {
                write(br#"{"type":"frame","view":""#);
                let fill = vec![b'x'; 64 * 1024];
                loop {
                    write(&fill);
                }
            }
            "half" => {
                write(br#"{"type":"frame","vi"#);
                if self.rest.is_empty() {
                    sleep(LIFE);
                }
                sleep(self.millis(0));
                write(b"ew\":\"both halves\"}\n");
                self.frame = Some(b"{\"type\":\"frame\",\"view\":\"both halves\"}\n".to_vec());
            }
            "flood" => self.flood(),
            "stderr" => self.complain(),
            "badutf8" => self.keep(b"{\"type\":\"frame\",\"view\":\"bad \xff\xfe\xc3 bytes\"}\n".to_vec()),
            "surrogates" => self.keep(br#"{"type":"frame","view":"lone \ud83d and \udc00 here"}"#.to_vec()),
            "deep" => {
                let levels = usize::try_from(self.number(0, 10_000)).unwrap_or(0);
                let (open, close) = ("[".repeat(levels), "]".repeat(levels));
                self.keep(format!("{{\"type\":\"frame\",\"view\":\"deep\",\"x\":{open}{close}}}\n").into_bytes());
            }
            "escapes" => self.keep(format!("{}\n", json!({"type": "frame", "view": ESCAPES})).into_bytes()),
            "exec" | "exec-bomb" => self.ask(),
            _ => {}
        }
    }

    /// Writes this frame, now and at every later occasion.
    fn keep(&mut self, mut line: Vec<u8>) {
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        write(&line);
        self.frame = Some(line);
    }

    fn ask(&mut self) {
        let times = if self.head == "exec-bomb" { self.number(0, 1) } else { 1 };
        for _ in 0..times {
            self.exec_id += 1;
            let id = self.exec_id;
            let argv = match serde_json::from_str::<Value>(&self.rest) {
                _ if self.head == "exec-bomb" => json!(["sh", "-c", format!("echo bomb {id}")]),
                Ok(argv @ Value::Array(_)) => argv,
                _ => json!(self.rest.split_whitespace().collect::<Vec<_>>()),
            };
            say(&json!({
                "type": "exec", "execId": id, "argv": argv, "interactive": self.head == "exec-interactive",
            }));
        }
    }

    /// In a thread, so that it goes on reading.
    fn flood(&self) {
        let (rate, total) = (self.number(0, 0), self.number(1, 1000));
        let (heard, flooding, name) = (Arc::clone(&self.heard), Arc::clone(&self.flooding), self.stage.name.clone());
        flooding.store(total > 0, Ordering::SeqCst);
        std::thread::spawn(move || {
            let started = Instant::now();
            for n in 1..=total {
                let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                let head = if n == total { format!("flood done {n}") } else { format!("flood {n}") };
                say(&json!({"type": "frame", "view": format!("{head}\n{}", heard.view(&name)), "count": n}));
                flooding.store(n < total, Ordering::SeqCst);
                drop(heard);
                if let Some(due) = (n * 1000).checked_div(rate) {
                    sleep(Duration::from_millis(due).saturating_sub(started.elapsed()));
                }
            }
        });
    }

    fn complain(&self) {
        let wanted = usize::try_from(self.number(0, 4096)).unwrap_or(0);
        let end = "stderr end\n";
        let mut text = String::new();
        for n in 1.. {
            let line = format!("stderr line {n:06}\n");
            if text.len() + line.len() + end.len() > wanted {
                break;
            }
            text.push_str(&line);
        }
        let _ = std::io::stderr().write_all(format!("{text}{end}").as_bytes());
        if self.rest.split(':').nth(1) == Some("exit") {
            self.stage.end(1);
        }
    }

    fn number(&self, nth: usize, default: u64) -> u64 {
        self.rest.split(':').nth(nth).and_then(|word| word.parse().ok()).unwrap_or(default)
    }

    fn millis(&self, nth: usize) -> Duration {
        Duration::from_millis(self.number(nth, 0))
    }
}

/// Colours that a host keeps, and everything it must not.
const ESCAPES: &str = "plain \x1b[1;31mred\x1b[0m kept\n\
    title \x1b]0;LEAK-TITLE\x07 end\n\
    clip \x1b]52;c;TEVBSy1DTElQ\x1b\\ end\n\
    link \x1b]8;;http://leak.example\x1b\\text\x1b]8;;\x1b\\ end\n\
    move \x1b[1;1HLEFT\x1b[2J\x1b[?1049l\x1b[?25h end\n\
    dcs \x1bPLEAK-DCS\x1b\\ apc \x1b_LEAK-APC\x1b\\ pm \x1b^LEAK-PM\x1b\\ end\n\
    c1 \u{9b}31mRED\u{9d}0;LEAK-C1\u{9c} \u{85}end\n\
    controls \x00\x07\x08\x0b\x0c\x0e\x7f\r end\n\
    tab\there\n\
    bidi \u{202e}abc\u{202c} zero\u{200b}width end\n\
    query \x1b[c\x1b[6n\x1b]11;?\x07 end\n\
    open \x1b[35munclosed";

fn say(message: &Value) {
    write(format!("{message}\n").as_bytes());
}

fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        // The host has gone, which is its right.
        exit(0);
    }
}
