//! Where a command leaves the person: folder, variables and commands for the shell wrapper's two files, or what is said
//! when there is no wrapper (ez-behaviour.md, 3). It is filled by operations and written once, at the end. `cli` and the
//! browser write it.

use std::collections::BTreeMap;

use sys::files;
use sys::proc::{self, Spec};
use sys::{Failure, text};

use crate::context::Context;
use crate::out::Out;
use crate::shell;

/// What the shell is to do after us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// Go here.
    pub cd: Option<String>,
    /// The entered session's variables; `Some` of none takes back what an earlier session set.
    pub exports: Option<BTreeMap<String, String>>,
    /// Commands, in order.
    pub post: Vec<String>,
    /// Commands of a bind or view: run at once when there is no wrapper.
    pub pressed: Vec<String>,
    /// The browser comes back.
    pub relaunch: bool,
}

impl Landing {
    /// Adds what a hook gave: its commands, and its folder over ours.
    pub fn add(&mut self, post: Vec<String>, cd: Option<String>) {
        self.post.extend(post);
        if cd.is_some() {
            self.cd = cd;
        }
    }

    /// Writes the wrapper's files, or does without them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(self, context: &Context, out: &mut Out) -> Result<(), Failure> {
        if let Some(cd) = &self.cd {
            match &context.globals.cd_file {
                Some(file) => files::overwrite(file, cd.as_bytes())?,
                None => out.line(&text::clean(cd)),
            }
        }
        out.flush();
        match &context.globals.post_file {
            Some(file) => {
                let script = self.script(context);
                if !script.is_empty() {
                    files::overwrite(file, script.as_bytes())?;
                }
            }
            None => self.without_wrapper(context, out),
        }
        Ok(())
    }

    fn script(&self, context: &Context) -> String {
        let mut script = String::new();
        if let Some(exports) = &self.exports {
            script.push_str(&shell::switch(context.globals.shell, exports, &context.env));
        }
        for command in self.pressed.iter().chain(&self.post) {
            if !script.is_empty() && !script.ends_with('\n') {
                script.push('\n');
            }
            script.push_str(command);
            script.push('\n');
        }
        if self.relaunch {
            script.push_str("#EZ_RELAUNCH\n");
        }
        script
    }

    fn without_wrapper(&self, context: &Context, out: &mut Out) {
        for command in &self.pressed {
            out.note("Warning: run without the shell wrapper, so this command runs in a shell of its own");
            run_sh(context, command, out);
        }
        if !self.post.is_empty() {
            let commands: Vec<_> = self.post.iter().map(|command| text::clean(command)).collect();
            let (_, line) = shell::setup_line(context.env.text("SHELL"));
            out.note(&format!(
                "Not run, because the shell wrapper is not set up: {} (set it up with: {line})",
                commands.join("; ")
            ));
        }
    }
}

/// Runs a command in a shell of its own, in the person's terminal.
pub fn run_sh(context: &Context, command: &str, out: &mut Out) {
    let env = context.child_env();
    let spec = Spec { program: "sh".into(), args: vec!["-c".into(), command.into()], dir: context.cwd.clone(), env };
    if let Err(failure) = proc::hand_over(&spec, &proc::never()) {
        out.warn(&failure.to_string());
    }
}
