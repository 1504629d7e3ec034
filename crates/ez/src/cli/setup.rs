//! `ez setup`: the first run. It asks for a root, for the plugins and for the shell line, changes only what is missing,
//! and can be run again at any time. Nothing is done unasked.

use sys::Failure;

use super::Out;
use crate::bundled;
use crate::context::{Context, utf8};
use crate::hooks::plugins;
use crate::ops::plugin;
use crate::shell;

#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    roots(context, out)?;
    plugins_on(context, out)?;
    if !context.store.config_file().exists() || context.config.on_create == "none" {
        let yes = context.globals.yes || out.agree("Go into a session as soon as it is made?") == Some(true);
        if yes {
            context.store.update_config(|draft| draft.set("on_create", "cd"))?;
            out.line("on_create = cd");
        }
    }
    shell_line(context, out);
    Ok(0)
}

fn roots(context: &Context, out: &mut Out) -> Result<(), Failure> {
    if !context.config.workspace_roots.is_empty() {
        out.line(&format!("Roots: {}", context.config.workspace_roots.join(", ")));
        return Ok(());
    }
    let guess = ["src", "code", "projects", "workspace", "work", "dev"]
        .iter()
        .map(|name| context.paths.home.join(name))
        .find(|path| path.is_dir());
    let answer = if context.globals.yes {
        guess.as_deref().and_then(|path| path.to_str()).unwrap_or_default().to_owned()
    } else {
        let shown = guess.as_ref().map(|path| format!(" [{}]", context.paths.short(path))).unwrap_or_default();
        let typed = out.ask(&format!("Which folder holds your repositories?{shown}")).unwrap_or_default();
        let typed = typed.trim().to_owned();
        if typed.is_empty() {
            guess.as_deref().and_then(|path| path.to_str()).unwrap_or_default().to_owned()
        } else {
            typed
        }
    };
    if answer.is_empty() {
        return Ok(());
    }
    let path = context.typed(&answer);
    let real = path.canonicalize().map_err(|error| Failure::io("use the root", &path, &error))?;
    let text = utf8(&real)?;
    context.store.update_config(|draft| draft.list("workspace_roots", |roots| roots.push(text.clone())))?;
    out.line(&format!("Added root: {}", context.paths.short(&real)));
    Ok(())
}

fn plugins_on(context: &Context, out: &mut Out) -> Result<(), Failure> {
    let there = |program: &str| sys::proc::which(program.as_ref(), &context.env).is_some();
    for (name, program) in [("git-worktree", "git"), ("tmux", "tmux"), ("zellij", "zellij")] {
        let known = bundled::names().contains(&name) || plugins::dir(context).join(name).is_dir();
        let on = context.config.enabled.iter().any(|enabled| enabled == name);
        let other_multiplexer = name == "zellij" && there("tmux");
        if !known || on || !there(program) || other_multiplexer {
            continue;
        }
        if context.globals.yes || out.agree(&format!("Turn the plugin {name} on?")) == Some(true) {
            plugin::enable(context, name, out)?;
        }
    }
    Ok(())
}

fn shell_line(context: &Context, out: &mut Out) {
    let (file, line) = shell::setup_line(context.env.text("SHELL"));
    let path = context.paths.expand(file);
    let has = sys::files::read_bounded(&path, 4 << 20).ok().flatten();
    if has.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("ez init-shell")) {
        out.line(&format!("{file} has the shell line already."));
        return;
    }
    let wanted = context.globals.yes || out.agree(&format!("Add this line to {file}?  {line}")) == Some(true);
    if !wanted {
        out.line(&format!("Add this line to {file} yourself:  {line}"));
        return;
    }
    let added = sys::files::update(&path, sys::files::Mode::Normal, |old| {
        let mut text = old.unwrap_or_default().to_vec();
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        Ok(Some(text))
    });
    match added {
        Ok(_) => out.line(&format!("Added to {file}. Open a new shell, or run: {line}")),
        Err(failure) => out.failure(&failure),
    }
}
