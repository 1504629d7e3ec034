//! Programs that a test needs and a machine may lack. It never installs anything and never fails a test: it says
//! what was left out, loudly, to whoever counts (`xtask test`). Tests call it first thing.

use std::io::Write as _;
use std::path::PathBuf;

/// The variable that names the file skipped tests are listed in; `xtask test` sets it.
const SKIPS: &str = "LAZYAGENTS_SKIPS";

/// True when the program is there. Otherwise the skip is recorded and the test is to return at once:
/// `if !testkit::needs("tmux") { return; }`
#[track_caller]
pub fn needs(program: &str) -> bool {
    if find_program(program).is_some() {
        return true;
    }
    skip(program)
}

/// [`needs`] for what a program may be forbidden to do here: true when `program args` ends well.
#[track_caller]
pub fn needs_to_run(program: &str, args: &[&str]) -> bool {
    let ran = find_program(program).map(|found| std::process::Command::new(found).args(args).output());
    if ran.is_some_and(|output| output.is_ok_and(|output| output.status.success())) {
        return true;
    }
    skip(&format!("{program} {}", args.join(" ")))
}

#[track_caller]
fn skip(what: &str) -> bool {
    // libtest names its threads after the tests; a custom harness runs them in `main`.
    let thread = std::thread::current();
    let place = std::panic::Location::caller();
    let test = match thread.name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => format!("{}:{}", place.file(), place.line()),
    };
    record(&format!("skipped: {test} needs {what}\n"));
    false
}

/// The program of this name in the PATH of the machine, or where a [`crate::Home`] would find it.
pub fn find_program(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/bin".into(), "/bin".into()]);
    folders.map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn record(line: &str) {
    let Some(path) = std::env::var_os(SKIPS) else {
        // Nobody counts: at least the captured output of the test says it.
        let _ = std::io::stderr().write_all(line.as_bytes());
        return;
    };
    // One short write in append mode: lines of several test processes do not mix.
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!("cannot record a skipped test in {}: {error}", path.display());
    }
}
