//! One plugin asked once: the request in, its stderr told line by line, the answer out, within the deadline. A plugin that
//! does not read, floods, hangs or leaves helpers behind hurts nobody but itself. Only `fire` and `plugin run` call it.

use std::time::Duration;

use sys::proc::{self, Feed, Finished, Limits, Spec};
use sys::{Failure, clock, files, text};
use wire::hook::{Request, Response};

use super::plugins::{Plugin, Source};
use crate::context::Context;
use crate::out::Out;

/// Bytes of an answer: a view of a hundred thousand items fits.
const ANSWER_MAX: usize = 64 << 20;

/// Bytes of stderr that are shown; the rest goes to the debug log only.
const STDERR_SHOWN: usize = 2 << 20;

/// A run this long is told.
const SLOW: Duration = Duration::from_millis(100);

/// An answer and how it came.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What it means.
    pub response: Response,
    /// All it printed.
    pub printed: Vec<u8>,
}

/// Asks `plugin`; a `success` that is false is a failure as well.
///
/// # Errors
/// When it cannot be started, does not end in time, ends badly, or gives no usable answer: each names the plugin, the
/// hook, and the end of what it wrote.
pub fn ask(context: &Context, plugin: &Plugin, request: &Request, out: &mut Out) -> Result<Answer, Failure> {
    let start = clock::now();
    if context.globals.debug {
        context.debug(&format!("plugin {} {}: {}", plugin.name, request.hook, request.line().trim_end()));
    }
    let answer = ask_once(context, plugin, request, out);
    let took = start.elapsed();
    let ms = took.as_millis();
    match &answer {
        Ok(_) if took >= SLOW => out.note(&format!("[plugin:{}] done ({ms} ms)", plugin.name)),
        Ok(_) => {}
        Err(_) => out.note(&format!("[plugin:{}] failed ({ms} ms)", plugin.name)),
    }
    context.debug(&format!("plugin {} {}: {ms} ms", plugin.name, request.hook));
    answer
}

fn ask_once(context: &Context, plugin: &Plugin, request: &Request, out: &mut Out) -> Result<Answer, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::new(format!("plugin '{}' failed in {}", plugin.name, request.hook)).cause(why)
    };
    let spec = spec(context, plugin, request).map_err(|why| failed(&why))?;
    let timeout = Duration::from_secs(context.config.plugin_timeout);
    let limits = Limits { deadline: Some(timeout), output: ANSWER_MAX, merged: false };
    let mut lines = Lines { name: &plugin.name, rest: Vec::new(), shown: 0 };
    let line = request.line();
    out.flush();
    let done = {
        let mut hear = |bytes: &[u8]| lines.hear(bytes, out);
        proc::run_fed(&spec, &limits, Feed { stdin: line.as_bytes(), stderr: &mut hear }).map_err(|why| failed(&why))?
    };
    lines.end(out);
    context.log.raw(&done.stderr);
    if done.timed_out {
        let why = format!("no answer within {} s (plugin_timeout), so it was stopped", timeout.as_secs());
        return Err(with_ends(failed(&why), &done));
    }
    if !done.exit.ok() {
        return Err(with_ends(failed(&format!("it ended with {}", done.exit)), &done));
    }
    let response = Response::read(&done.stdout).map_err(|why| with_ends(failed(&why), &done))?;
    if !response.success {
        let why = response.error.clone().filter(|text| !text.trim().is_empty());
        return Err(failed(&text::clean_lines(why.as_deref().unwrap_or("no reason given"))));
    }
    Ok(Answer { response, printed: done.stdout })
}

/// The end of what it wrote, as hints.
fn with_ends(mut failure: Failure, done: &Finished) -> Failure {
    for (name, bytes) in [("stderr", &done.stderr), ("stdout", &done.stdout)] {
        let all = text::clean_bytes(&bytes[bytes.len().saturating_sub(2000)..]);
        let lines: Vec<_> = all.lines().filter(|line| !line.trim().is_empty()).collect();
        if !lines.is_empty() {
            let last = lines[lines.len().saturating_sub(5)..].join(" | ");
            failure = failure.hint(format!("its {name} ends: {}", text::elide_middle(&last, 400)));
        }
    }
    failure
}

fn spec(context: &Context, plugin: &Plugin, request: &Request) -> Result<Spec, Failure> {
    let mut env = context.child_env();
    if context.globals.debug {
        let name = format!("ez-plugin-{}-{}-{}.log", plugin.name, request.hook, std::process::id());
        env.set("EZ_PLUGIN_DEBUG_LOG", context.tmp().join(name));
    }
    let (program, args) = match &plugin.source {
        Source::Bundled => {
            (context.program.clone(), vec!["plugin".into(), "serve-bundled".into(), plugin.name.clone().into()])
        }
        Source::Folder(folder) => (folder.join(&plugin.manifest.executable), Vec::new()),
    };
    if !program.is_file() {
        return Err(Failure::new(format!("there is no executable {}", program.display())));
    }
    if !proc::is_executable(&program) {
        return Err(Failure::new(format!("{} is not executable", program.display())).hint("chmod +x mends that"));
    }
    Ok(Spec { program: program.into(), args, dir: context.standing(&request.repo.path), env })
}

/// stderr, line by line.
struct Lines<'a> {
    name: &'a str,
    rest: Vec<u8>,
    shown: usize,
}

impl Lines<'_> {
    fn hear(&mut self, bytes: &[u8], out: &mut Out) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.show(&line, out);
        }
        // A line without an end is not kept for ever.
        if self.rest.len() > 64 * 1024 {
            let line = std::mem::take(&mut self.rest);
            self.show(&line, out);
        }
    }

    fn show(&mut self, line: &[u8], out: &mut Out) {
        let line = text::clean(&String::from_utf8_lossy(line));
        if line.is_empty() || self.shown > STDERR_SHOWN {
            return;
        }
        self.shown += line.len();
        out.note(&format!("[plugin:{}] {line}", self.name));
        if self.shown > STDERR_SHOWN {
            out.note(&format!("[plugin:{}] ... more is not shown", self.name));
        }
    }

    fn end(&mut self, out: &mut Out) {
        let line = std::mem::take(&mut self.rest);
        self.show(&line, out);
    }
}

/// True when the plugin's file could be started.
pub(crate) fn startable(plugin: &Plugin) -> Result<(), Failure> {
    match &plugin.source {
        Source::Bundled => Ok(()),
        Source::Folder(folder) => {
            let file = folder.join(&plugin.manifest.executable);
            if files::read_tail(&file, 1)?.is_none() {
                return Err(Failure::new(format!("there is no executable {}", file.display())));
            }
            if proc::is_executable(&file) {
                Ok(())
            } else {
                Err(Failure::new(format!("{} is not executable", file.display())).hint("chmod +x mends that"))
            }
        }
    }
}
