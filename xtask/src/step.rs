//! Running one program of a chore: shown before, timed after, its lines read on the way. It never hides what a program
//! says. All chores call it.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo names the package's folder to what it runs. Asked at run time, so that no path is built in.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = package.as_deref().and_then(std::path::Path::parent).map(PathBuf::from);
    root.unwrap_or_else(|| PathBuf::from("."))
}

/// cargo, the same one that runs us, in the root of the workspace.
pub(crate) fn cargo<S: Into<OsString>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args.into_iter().map(Into::into)).current_dir(root());
    command
}

/// Prints what is about to run, runs it with our own stdin, stdout and stderr, and fails unless it ends well.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    println!("$ {}", shown(command));
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs it and hands over each line of its stdout as it comes; true when it ended well.
pub(crate) fn read_lines(command: &mut Command, mut line: impl FnMut(&str)) -> anyhow::Result<bool> {
    println!("$ {}", shown(command));
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    if let Some(stdout) = child.stdout.take() {
        let mut stdout = BufReader::new(stdout);
        let mut bytes = Vec::new();
        while stdout.read_until(b'\n', &mut bytes)? > 0 {
            line(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']));
            bytes.clear();
        }
    }
    Ok(child.wait()?.success())
}

/// Runs it, says nothing, and gives its stdout if it ended well.
pub(crate) fn quiet(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Prints a heading, does the work, prints how long it took.
pub(crate) fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    println!("\n== {name}");
    let started = Instant::now();
    let result = work();
    println!("-- {name}: {}", seconds(started.elapsed()));
    result
}

/// `3.2 s`, `4 min 05 s`.
pub(crate) fn seconds(time: Duration) -> String {
    let whole = time.as_secs();
    if whole < 60 { format!("{:.1} s", time.as_secs_f64()) } else { format!("{} min {:02} s", whole / 60, whole % 60) }
}

fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    // The full path of cargo or python says nothing that a reader needs.
    let mut text = program.rsplit('/').next().unwrap_or_default().to_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(3210)), "3.2 s");
        assert_eq!(seconds(Duration::from_secs(245)), "4 min 05 s");
    }

    #[test]
    fn lines_arrive_whole_and_the_end_is_told() {
        let mut lines = Vec::new();
        let ended = read_lines(Command::new("sh").args(["-c", "printf 'a\\nb'; exit 3"]), |line| {
            lines.push(line.to_owned());
        });
        assert!(!ended.unwrap());
        assert_eq!(lines, ["a", "b"]);
    }
}
