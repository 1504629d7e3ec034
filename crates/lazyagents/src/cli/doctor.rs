//! `lazyagents doctor`: what is here and what is wrong with it, section by section (clauses O1 to O5). Plugins
//! are checked side by side and shown in order.

mod fix;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use sys::proc::{self, Cancel, Limits};
use sys::{Env, Failure, clock, text};
use wire::plugin::Init;

use super::Out;
use super::interrupt::Interrupt;
use crate::context::{Context, things};
use crate::detection;
use crate::plugins::{Plugin, host};

/// Seed: "after 30 s the check fails".
const CHECK_WITHIN: Duration = Duration::from_secs(30);

/// What an agent deletes within so many days is told.
const SOON: u32 = 7;

/// Arguments of `doctor`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// As JSON
    #[arg(long)]
    json: bool,
    /// Mend what sections offer to mend: shows what would change, asks, then looks again
    #[arg(long)]
    fix: bool,
    /// With --fix: do not ask
    #[arg(long, requires = "fix")]
    yes: bool,
}

/// The answer of `doctor --json` (json.md).
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Report {
    /// No section has a problem.
    ok: bool,
    /// The agents, as in `agents --json`.
    agents: Vec<agents::json::AgentRow>,
    /// What was looked at.
    sections: Vec<Section>,
}

/// One subject.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Section {
    /// Its name.
    title: &'static str,
    /// What was found, a line each.
    report: Vec<String>,
    /// What is wrong, a line each.
    problems: Vec<String>,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if args.fix {
        fix::run(args.yes, args.json, context, out)?;
    }
    let interrupt = Interrupt::catch()?;
    let found = std::thread::scope(|scope| {
        // Both parts wait for programs; neither needs the other.
        let agents = scope.spawn(|| detection::all(context, &interrupt.cancel));
        let plugins = plugins_section(context, &interrupt.cancel);
        (agents.join().unwrap_or_default(), plugins)
    });
    if interrupt.came() {
        return Err(Failure::cancelled("doctor was interrupted; what it had started is stopped"));
    }
    let (found, plugins) = found;
    let mut sections =
        vec![agents_section(context, &found), providers_section(context, &found), hooks_section(context), plugins];
    let mut config = Section { title: "config", ..Section::default() };
    config.problems = crate::app::problems(context);
    if !config.problems.is_empty() {
        sections.insert(0, config);
    }
    let ok = sections.iter().all(|section| section.problems.is_empty());
    let report = Report { ok, agents: agents::json::rows(&found), sections };
    if args.json {
        out.json(&report)?;
    } else {
        tell(&report, out);
    }
    Ok(u8::from(!ok))
}

fn tell(report: &Report, out: &mut Out) {
    for section in &report.sections {
        out.heading(section.title);
        for line in &section.report {
            out.line(&format!("  {line}"));
        }
        for problem in &section.problems {
            let mut lines = problem.lines();
            out.line(&format!("  ✗ {}", lines.next().unwrap_or_default()));
            for line in lines {
                out.line(&format!("    {line}"));
            }
        }
    }
    let problems = report.sections.iter().map(|section| section.problems.len()).sum();
    out.line(&if report.ok { "no problems".to_owned() } else { things(problems, "problem") });
}

fn agents_section(context: &Context, found: &[agents::Detected]) -> Section {
    let mut section = Section { title: "agents", ..Section::default() };
    for agent in found.iter().filter(|agent| agent.installed) {
        let version = agent.version.as_deref().map_or_else(|| "version unknown".to_owned(), text::clean);
        let place = agent.binary.as_ref().or(agent.config_dir.as_ref());
        let place = place.map(|path| super::short(context, path)).unwrap_or_default();
        section.report.push(format!("{}  {version}  {place}", agent.name));
        section.report.extend(leaving(context, agent));
        section.problems.extend(agent.warnings.iter().map(|w| text::clean(&format!("{}: {w}", agent.name))));
    }
    if section.report.is_empty() {
        section.report.push("no coding agent was found".to_owned());
    }
    section
}

fn providers_section(context: &Context, found: &[agents::Detected]) -> Section {
    let mut section = Section { title: "providers", ..Section::default() };
    let checked = crate::providers::Providers::of(context, "check").and_then(|providers| providers.check(found));
    match checked {
        Ok((report, problems)) => {
            section.report = report.iter().map(|line| text::clean(line)).collect();
            section.problems = problems.iter().map(|line| text::clean(line)).collect();
        }
        Err(failure) => section.problems.push(text::clean_lines(&failure.to_string())),
    }
    section
}

fn hooks_section(context: &Context) -> Section {
    let mut section = Section { title: "hooks", ..Section::default() };
    let Ok(around) = super::hooks::around(&context.env) else { return section };
    let desks = manage::hooks::Desks { data: &context.paths.data, around: &around };
    let agents = super::hooks::installed(context);
    let found = manage::hooks::check(&desks, &agents, &context.env, &|path| context.paths.short(path));
    (section.report, section.problems) = (found.report, found.problems);
    if !found.mends.is_empty() {
        let what = things(found.mends.len(), "of these");
        section.report.push(format!("{what} `lazyagents doctor --fix` can take away"));
    }
    section
}

/// What the agent deletes of its own conversations before long. It is the person's setting, so no problem of ours.
fn leaving(context: &Context, agent: &agents::Detected) -> Option<String> {
    let around = agents::Surroundings::of(&context.env)?;
    let adapter = agents::adapter::by_id(agent.id)?;
    let (reads, places) = (adapter.reads()?, adapter.places(&around));
    let rule = reads.retention(&places)?;
    let mut sources = Vec::new();
    reads.sources(&around, &places, &mut |source| sources.push(source));
    let now = jiff::Timestamp::try_from(clock::wall()).ok()?;
    let found = rule.expiring(sources.iter(), now.as_nanosecond(), SOON)?;
    let day = |nanos: i128| {
        let at = jiff::Timestamp::from_nanosecond(nanos).unwrap_or(jiff::Timestamp::MAX).max(now);
        at.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d").to_string()
    };
    let (first, last) = (day(found.first), day(found.last));
    let when = if first == last { format!("on {first}") } else { format!("from {first} to {last}") };
    let files = things(usize::try_from(found.count).unwrap_or(usize::MAX), "transcript file");
    let set = if rule.is_default { "not set" } else { "set" };
    Some(format!(
        "  {} deletes {files} of its own {when}: {} is {} days ({set} in {}); `lazyagents sessions export` keeps one",
        agent.name,
        rule.setting,
        rule.days,
        super::short(context, &rule.file)
    ))
}

/// What became of one plugin's check.
struct Checked {
    report: Vec<String>,
    problem: Option<String>,
}

fn plugins_section(context: &Context, cancel: &Cancel) -> Section {
    let mut section = Section { title: "plugins", ..Section::default() };
    section.problems = context.discovery.warnings();
    if context.discovery.plugins.is_empty() {
        section.report.push(format!("no plugins in {}", super::short(context, &context.discovery.dir)));
        return section;
    }
    let env = context.plugin_env();
    let theme = crate::app::theme(&context.config).0;
    let init = |plugin: &Plugin| {
        let mut init = context.init(plugin, &context.config, &theme);
        (init.width, init.height) = (80, 24);
        init
    };
    // At most so many processes at once: a folder full of plugins must not bring the machine down.
    for group in context.discovery.plugins.chunks(8) {
        let checked: Vec<_> = std::thread::scope(|scope| {
            let env = &env;
            let threads: Vec<_> = group
                .iter()
                .map(|plugin| (init(plugin), plugin))
                .map(|(init, plugin)| scope.spawn(move || check(plugin, env, init, cancel)))
                .collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for checked in checked.into_iter().flatten() {
            section.report.extend(checked.report);
            section.problems.extend(checked.problem);
        }
    }
    section
}

/// The handshake, and the plugin's own check when it has one.
fn check(plugin: &Plugin, env: &Env, init: Init, cancel: &Cancel) -> Checked {
    let id = &plugin.id;
    let manifest = match host::handshake(plugin, env, init, cancel) {
        Ok(manifest) => manifest,
        Err((reason, stderr)) => {
            let tail = if stderr.trim().is_empty() { String::new() } else { format!("\n{}", stderr.trim_end()) };
            let problem = format!("{id}: {reason}{tail}");
            return Checked { report: vec![format!("{id}  failed")], problem: Some(problem) };
        }
    };
    let mut checked = Checked { report: vec![format!("{id}  {}", manifest.title)], problem: None };
    if manifest.doctor {
        own_check(plugin, env, cancel, &mut checked);
    }
    checked
}

/// `<bin> doctor`: without a terminal, both streams in order, at most 30 s (clauses O3, O5).
fn own_check(plugin: &Plugin, env: &Env, cancel: &Cancel, checked: &mut Checked) {
    let id = &plugin.id;
    let spec = host::command(plugin, vec!["doctor".into()], env);
    let limits = Limits { deadline: Some(CHECK_WITHIN), output: 1 << 20, merged: true };
    match proc::run(&spec, &limits, cancel) {
        Err(failure) => checked.problem = Some(text::clean_lines(&format!("{id}: {failure}"))),
        Ok(done) => {
            let said = text::clean_lines(&String::from_utf8_lossy(&done.stdout));
            checked.report.extend(said.trim_end().lines().map(|line| format!("  {line}")));
            checked.problem = if done.timed_out {
                Some(format!("{id}: its check did not end within {} s and was stopped", CHECK_WITHIN.as_secs()))
            } else if done.exit.ok() {
                None
            } else {
                Some(format!("{id}: its check failed ({})", done.exit))
            };
        }
    }
}
