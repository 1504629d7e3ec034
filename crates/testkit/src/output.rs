//! Running a command to its end and keeping all it said: stdout, stderr and status in one text for one snapshot. It
//! never waits past a deadline and never leaves a process of the command behind. Tests of the command line call it.

use std::fmt;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::group::{Exit, kill_group};
use crate::home::Home;

/// A command that runs longer is stopped, and its [`Output`] says so.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Everything a finished command left. Its `Display` is the text for a snapshot, with the temporary folder of the
/// home shown as `$ROOT`.
#[must_use]
#[derive(Clone, Debug)]
pub struct Output {
    /// The bytes of stdout, as they came.
    pub stdout: Vec<u8>,
    /// The bytes of stderr, as they came.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub exit: Exit,
    /// How long it took.
    pub elapsed: Duration,
    root: String,
}

impl Output {
    /// stdout as text, with `$ROOT` for the temporary folder.
    pub fn out(&self) -> String {
        self.tidy(&self.stdout)
    }

    /// stderr as text, with `$ROOT` for the temporary folder.
    pub fn err(&self) -> String {
        self.tidy(&self.stderr)
    }

    /// The exit code; the test stops with the whole output when there is none.
    #[track_caller]
    pub fn code(&self) -> i32 {
        match self.exit {
            Exit::Code(code) => code,
            Exit::Signal(_) | Exit::Deadline => panic!("no exit code:\n{self}"),
        }
    }

    /// Stops the test with the whole output unless the code is 0; otherwise hands the output on.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(self.exit == Exit::Code(0), "expected exit code 0:\n{self}");
        self
    }

    /// stdout as JSON; the test stops with the whole output when it is none.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_slice(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is no JSON ({error}):\n{self}"),
        }
    }

    fn tidy(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace(&self.root, "$ROOT")
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = self.out();
        let err = self.err();
        // A missing last newline is part of what a command does, so it is shown rather than repaired.
        let end = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "<no newline>\n" };
        write!(f, "{out}{}--- stderr ---\n{err}{}--- exit: {} ---", end(&out), end(&err), self.exit)
    }
}

/// Runs `program` with `args` in the home's environment and its work folder, feeds it `stdin`, and waits for its end,
/// at most [`DEADLINE`].
pub fn run(program: impl AsRef<Path>, args: &[&str], home: &Home, stdin: &[u8]) -> Output {
    run_within(DEADLINE, program, args, home, &home.work(), stdin)
}

/// [`run`] in another folder.
pub fn run_in(dir: &Path, program: impl AsRef<Path>, args: &[&str], home: &Home, stdin: &[u8]) -> Output {
    run_within(DEADLINE, program, args, home, dir, stdin)
}

/// [`run`] in another folder with a deadline of your own.
pub fn run_within(
    deadline: Duration,
    program: impl AsRef<Path>,
    args: &[&str],
    home: &Home,
    dir: &Path,
    stdin: &[u8],
) -> Output {
    let program = program.as_ref();
    let started = Instant::now();
    let mut child = Command::new(resolve(program, home))
        .args(args)
        .env_clear()
        .envs(home.env())
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
    let group = child.id();

    let mut input = child.stdin.take().expect("a pipe");
    let text = stdin.to_vec();
    // Its own thread: a command that talks before it reads would wait for us while we wait for it. Many commands do
    // not read at all, so a closed pipe is no failure.
    std::thread::spawn(move || drop(input.write_all(&text)));
    let stdout = collect(child.stdout.take().expect("a pipe"));
    let stderr = collect(child.stderr.take().expect("a pipe"));
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || drop(ended.send(child.wait())));

    let exit = match end.recv_timeout(deadline) {
        Ok(status) => status.expect("the command can be waited for").into(),
        Err(_) => Exit::Deadline,
    };
    // Also after a good end: what it left in its group would hold the pipes, and outlive the test.
    kill_group(group);
    Output {
        stdout: finish(&stdout, "stdout", program),
        stderr: finish(&stderr, "stderr", program),
        exit,
        elapsed: started.elapsed(),
        root: home.root().display().to_string(),
    }
}

/// A bare name is looked for in the home's PATH, not in ours.
fn resolve(program: &Path, home: &Home) -> std::path::PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let path = home.env().get("PATH").map(String::as_str).unwrap_or_default();
    std::env::split_paths(path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("{} is not in the home's PATH ({path})", program.display()))
}

fn collect(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = done.send(bytes);
    });
    result
}

fn finish(pipe: &mpsc::Receiver<Vec<u8>>, name: &str, program: &Path) -> Vec<u8> {
    pipe.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        panic!("{}: something that left the process group still holds {name}", program.display());
    })
}
