//! The test's side of misfit: installing it as a plugin, telling it how to behave, reading what it saw. It never looks
//! into a process, only at the log that misfit keeps. [`Home::misfit`] makes one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::group::alive;
use crate::home::Home;
use crate::pty::PATIENCE;

/// One misfit, installed in the plugins folder of a [`Home`].
#[derive(Clone, Debug)]
pub struct Misfit {
    path: PathBuf,
    orders: PathBuf,
    log: PathBuf,
}

pub(crate) fn install(home: &Home, name: &str, behaviour: &str) -> Misfit {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).expect("a name with a stem").to_owned();
    let misfit = Misfit {
        path: home.plugins().join(name),
        orders: home.misfit_dir().join(&stem),
        log: home.misfit_dir().join(format!("{stem}.log")),
    };
    misfit.behave(behaviour);
    std::os::unix::fs::symlink(misfit_program(), &misfit.path).expect("a link in the plugins folder");
    misfit
}

impl Misfit {
    /// The plugin's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Changes what the next start of it does.
    pub fn behave(&self, behaviour: &str) {
        std::fs::write(&self.orders, behaviour).expect("misfit's orders are written");
    }

    /// The process numbers of all starts so far whose arguments, joined by blanks, are `args`.
    pub fn started(&self, args: &str) -> Vec<u32> {
        self.log("start").iter().filter_map(|line| number(line, args)).collect()
    }

    /// The process numbers of the children that it left.
    pub fn children(&self) -> Vec<u32> {
        self.log("child").iter().filter_map(|line| line.parse().ok()).collect()
    }

    /// Every line it read from the host so far, over all starts.
    pub fn received(&self) -> Vec<String> {
        self.log("line")
    }

    /// The messages of this type it read so far.
    pub fn messages(&self, kind: &str) -> Vec<serde_json::Value> {
        let parsed = self.received().into_iter().filter_map(|line| serde_json::from_str(&line).ok());
        parsed.filter(|message: &serde_json::Value| message.get("type").is_some_and(|found| found == kind)).collect()
    }

    /// Waits until it was started `n` times with `serve`; returns the number of that process.
    #[track_caller]
    pub fn wait_serve(&self, n: usize) -> u32 {
        self.wait(|| self.started("serve").get(n - 1).copied(), &format!("start number {n}"))
    }

    /// Waits until it read a message of this type that the condition holds for.
    #[track_caller]
    pub fn wait_message(
        &self,
        kind: &str,
        condition: impl Fn(&serde_json::Value) -> bool,
        what: &str,
    ) -> serde_json::Value {
        self.wait(|| self.messages(kind).into_iter().find(|message| condition(message)), what)
    }

    /// Waits until it has noted its own end: `EOF`, or the code it exits with. One that was killed notes nothing.
    #[track_caller]
    pub fn wait_end(&self) -> String {
        self.wait(|| self.log("end").pop(), "its end")
    }

    /// Waits until this process has ended.
    #[track_caller]
    pub fn wait_gone(&self, pid: u32) {
        self.wait(|| (!alive(pid)).then_some(()), &format!("the end of process {pid}"));
    }

    #[track_caller]
    fn wait<T>(&self, look: impl Fn() -> Option<T>, what: &str) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look() {
                return found;
            }
            if Instant::now() >= deadline {
                let log = std::fs::read(&self.log).unwrap_or_default();
                panic!("waited for {what} of {}; its log:\n{}", self.path.display(), String::from_utf8_lossy(&log));
            }
            // A file tells nobody that it has grown: look again, with the deadline above.
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn log(&self, kind: &str) -> Vec<String> {
        let log = std::fs::read(&self.log).unwrap_or_default();
        // The last piece is a line only if it is ended: misfit may be writing it.
        let text = String::from_utf8_lossy(&log);
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = complete.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(word, _)| *word == kind).map(|(_, rest)| rest.to_owned()).collect()
    }
}

fn number(line: &str, args: &str) -> Option<u32> {
    let (pid, found) = line.split_once(' ').unwrap_or((line, ""));
    (found == args).then(|| pid.parse().ok())?
}

/// The built misfit program. Cargo builds it with the workspace's tests; where it did not (tests of one package), it
/// is built now, once.
pub fn misfit_program() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| find_or_build().unwrap_or_else(|why| panic!("misfit cannot be built: {why}"))).clone()
}

fn find_or_build() -> Result<PathBuf, String> {
    // A test program is <target>/<profile>/deps/<name>-<hash>, misfit <target>/<profile>/misfit.
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let profile_dir = test.ancestors().find(|folder| folder.ends_with("deps")).and_then(Path::parent);
    let profile_dir = profile_dir.or(test.parent()).ok_or("no folder of programs")?;
    let program = profile_dir.join("misfit");
    if program.is_file() {
        return Ok(program);
    }
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(other) => other,
    };
    let target = profile_dir.parent().ok_or("no target folder")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", "testkit", "--bin", "misfit", "--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() && program.is_file() { Ok(program) } else { Err(format!("cargo build: {status}")) }
}
