//! Children that own the terminal: a plain child in our own process group while we wait, or ourselves replaced
//! by another program. The caller has put the terminal into its ordinary state before.

use std::io::{Read, Write};
use std::process::Stdio;

use crossbeam_channel::{Receiver, after, bounded, select};

use super::child::{spawn, thread};
use super::{Exit, Failure, Spec, command, refused};

/// How a [`hand_over`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The child ended.
    Ended(Exit),
    /// We were asked to end meanwhile; the child got SIGHUP and at most 2 s (clause E8).
    Terminated,
}

/// Runs `spec` as a plain child on the terminal and waits (clause E6). `terminate` fires when this process is
/// asked to end. The caller's signal handlers must not end the process on SIGINT or SIGQUIT meanwhile: those
/// are the child's.
///
/// # Errors
/// When it cannot be started: no such folder, not found in PATH, or refused by the system.
pub fn hand_over(spec: &Spec, terminate: &Receiver<()>) -> Result<HandOver, Failure> {
    wait(command(spec)?, spec, terminate)
}

/// As [`hand_over`], and where one of our own standard streams is no terminal (input was piped in), the child gets
/// the controlling one: for a full-screen program that reads `/dev/tty` itself.
///
/// # Errors
/// As [`hand_over`], and when there is no terminal at all.
pub fn lend_terminal(spec: &Spec, terminate: &Receiver<()>) -> Result<HandOver, Failure> {
    let mut command = command(spec)?;
    give_terminal(&mut command).map_err(|error| refused(spec, &error))?;
    wait(command, spec, terminate)
}

fn wait(mut command: std::process::Command, spec: &Spec, terminate: &Receiver<()>) -> Result<HandOver, Failure> {
    let mut child = spawn(&mut command, spec)?;
    let pid = child.id();
    let (sender, ended) = bounded(1);
    thread("terminal", move || {
        let _ = sender.send(child.wait().map_or(Exit::Code(-1), Exit::from));
    })
    .map_err(|error| refused(spec, &error))?;
    select! {
        recv(ended) -> exit => return Ok(HandOver::Ended(exit.unwrap_or(Exit::Code(-1)))),
        recv(terminate) -> _ => hang_up(pid),
    }
    // A child that ignores SIGHUP keeps the terminal, but no longer us.
    select! {
        recv(ended) -> _ => {}
        recv(after(super::GRACE)) -> _ => {}
    }
    Ok(HandOver::Terminated)
}

#[cfg(unix)]
fn give_terminal(command: &mut std::process::Command) -> std::io::Result<()> {
    use std::io::IsTerminal;
    let terminal = || std::fs::File::options().read(true).write(true).open("/dev/tty").map(Stdio::from);
    if !std::io::stdin().is_terminal() {
        command.stdin(terminal()?);
    }
    if !std::io::stdout().is_terminal() {
        command.stdout(terminal()?);
    }
    if !std::io::stderr().is_terminal() {
        command.stderr(terminal()?);
    }
    Ok(())
}

#[cfg(not(unix))]
fn give_terminal(_command: &mut std::process::Command) -> std::io::Result<()> {
    Ok(())
}

/// Runs `spec` as a child that draws on the terminal itself but is fed `input` and answers on stdout: a picker such as
/// fzf. Its stderr and process group are ours. At most `max` bytes of the answer are kept.
///
/// # Errors
/// When it cannot be started: no such folder, not found in PATH, or refused by the system.
pub fn hand_over_fed(spec: &Spec, input: Vec<u8>, max: u64) -> Result<(Exit, Vec<u8>), Failure> {
    let mut command = command(spec)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = spawn(&mut command, spec)?;
    if let Some(mut pipe) = child.stdin.take() {
        // A picker may end before it has read everything.
        thread("feed", move || drop(pipe.write_all(&input))).map_err(|error| refused(spec, &error))?;
    }
    let mut answer = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        // What was read until an error is all there is.
        let _ = pipe.take(max).read_to_end(&mut answer);
    }
    Ok((child.wait().map_or(Exit::Code(-1), Exit::from), answer))
}

#[cfg(unix)]
fn hang_up(pid: u32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid.cast_signed()) {
        // Already gone is fine.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::HUP);
    }
}

#[cfg(not(unix))]
fn hang_up(_pid: u32) {}

/// Replaces this process by `spec`, which keeps the descriptors, the process id and the terminal (clauses Z1 to
/// Z4). Returns only when that was not possible. On Windows, where it cannot be done, runs it and gives its code.
pub fn replace(spec: &Spec) -> Result<Exit, Failure> {
    let mut command = command(spec)?;
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut command);
        Err(refused(spec, &error))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(|error| refused(spec, &error))?;
        Ok(Exit::from(status))
    }
}
