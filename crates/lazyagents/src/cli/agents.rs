//! `lazyagents agents`: which coding agents are here, where, and which version.

use sys::Failure;

use super::interrupt::Interrupt;
use super::out::table;
use super::{Out, short};
use crate::context::Context;
use crate::detection;

/// Arguments of `agents`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Everything that is known, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let interrupt = Interrupt::catch()?;
    let found = detection::all(context, &interrupt.cancel);
    if interrupt.came() {
        return Err(Failure::cancelled("looking for agents was interrupted"));
    }
    if args.json {
        out.json(&agents::json::rows(&found))?;
        return Ok(0);
    }
    let row = |agent: &agents::Detected| {
        let place = agent.binary.as_ref().or(agent.config_dir.as_ref());
        vec![
            agent.name.to_owned(),
            agent.version.as_deref().map_or_else(|| "-".to_owned(), sys::text::clean),
            place.map_or_else(String::new, |path| short(context, path)),
        ]
    };
    let rows: Vec<_> = found.iter().filter(|agent| agent.installed).map(row).collect();
    for line in table(&rows) {
        out.line(&line);
    }
    let missing: Vec<_> = found.iter().filter(|agent| !agent.installed).map(|agent| agent.name).collect();
    if rows.is_empty() {
        out.line("No coding agent was found on PATH, below a version manager, or by its config folder.");
    }
    if !missing.is_empty() {
        out.line(&format!("not found: {}", missing.join(", ")));
    }
    for agent in &found {
        for warning in &agent.warnings {
            out.say(&sys::text::clean(&format!("{}: {warning}", agent.name)));
        }
    }
    Ok(0)
}
