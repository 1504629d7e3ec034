//! `ez plugin ...`: which plugins there are, turning them on and off, trying and checking them, starting a new one. The
//! contract is in `wire::hook`; running them in `hooks`.

use std::io::Read;
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use sys::files::{self, Mode};
use sys::{Env, Failure, text};
use wire::hook::{Hook, Request, TABLE};

use super::answers::{Checked, PluginInfo, PluginRow, SettingRow};
use super::{Out, land};
use crate::bundled;
use crate::context::Context;
use crate::hooks::{self, Plugin, Source, plugins};
use crate::model::name::quoted;
use crate::ops::plugin;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// List plugins
    #[command(visible_alias = "ls")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Turn a plugin on
    Enable {
        /// Its name
        name: String,
    },
    /// Turn a plugin off
    Disable {
        /// Its name
        name: String,
    },
    /// What a plugin says about itself
    Info {
        /// Its name
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask a plugin once, and print request and response
    #[command(after_help = "Examples:\n  ez plugin run mine on_session_create -s login")]
    Run {
        /// Its name
        name: String,
        /// The hook
        hook: String,
        /// The repository: name, id or path; else the current one
        #[arg(long, short = 'r')]
        repo: Option<String>,
        /// The session
        #[arg(long, short = 's')]
        session: Option<String>,
    },
    /// Check a plugin's folder
    Check {
        /// The folder, or the name of an installed plugin
        dir: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Start a plugin of your own
    New {
        /// Its name
        name: String,
        /// Its language
        #[arg(long, value_enum, default_value_t = Lang::Sh)]
        lang: Lang,
    },
    #[command(hide = true)]
    ServeBundled { name: String },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Lang {
    Sh,
    Python,
}

/// The hidden server of bundled plugins: request on stdin, response on stdout, before anything else is read.
pub(super) fn serve(args: &Args, env: &Env, out: &mut Out) -> Result<Option<u8>, Failure> {
    let Which::ServeBundled { name } = &args.command else { return Ok(None) };
    let mut request = Vec::new();
    std::io::stdin()
        .lock()
        .take(64 << 20)
        .read_to_end(&mut request)
        .map_err(|error| Failure::new("could not read the request").cause(error))?;
    out.line(&bundled::serve(name, &String::from_utf8_lossy(&request), env));
    Ok(Some(0))
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match args.command {
        Which::List { json } => list(json, context, out),
        Which::Enable { name } => {
            let landing = plugin::enable(context, &name, out).map_err(|failure| near(context, &name, failure))?;
            land(landing, context, out)
        }
        Which::Disable { name } => {
            let landing = plugin::disable(context, &name, out)?;
            land(landing, context, out)
        }
        Which::Info { name, json } => info(&name, json, context, out),
        Which::Run { name, hook, repo, session } => {
            ask(&name, &hook, repo.as_deref(), session.as_deref(), context, out)
        }
        Which::Check { dir, json } => check(&dir, json, context, out),
        Which::New { name, lang } => new(&name, lang, context, out),
        Which::ServeBundled { .. } => Ok(2),
    }
}

/// A failure about the plugin `name`, with the name that was meant where one is close.
fn near(context: &Context, name: &str, failure: Failure) -> Failure {
    let names = plugins::installed(context).into_iter().map(|plugin| match plugin {
        Ok(plugin) => plugin.name,
        Err(broken) => broken.name,
    });
    let near = names
        .map(|known| (strsim::jaro_winkler(name, &known), known))
        .filter(|(score, known)| *score > 0.8 && known != name)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, near)) => failure.hint(format!("did you mean {}?", quoted(&near))),
        None => failure,
    }
}

fn source(plugin: &Plugin) -> &'static str {
    match plugin.source {
        Source::Bundled => "bundled",
        Source::Folder(_) => "folder",
    }
}

fn list(json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let enabled = |name: &str| context.config.enabled.iter().any(|enabled| enabled == name);
    let rows: Vec<PluginRow> = plugins::installed(context)
        .into_iter()
        .map(|plugin| match plugin {
            Ok(plugin) => PluginRow {
                enabled: enabled(&plugin.name),
                source: source(&plugin),
                version: Some(plugin.manifest.version),
                description: Some(plugin.manifest.description),
                name: plugin.name,
                problem: None,
            },
            Err(broken) => PluginRow {
                enabled: enabled(&broken.name),
                version: None,
                description: None,
                source: "folder",
                problem: Some(broken.why.to_string()),
                name: broken.name,
            },
        })
        .collect();
    if json {
        out.json(&rows)?;
        return Ok(0);
    }
    for row in rows {
        let name = text::clean(&row.name);
        let pad = " ".repeat(20_usize.saturating_sub(text::width(&name)));
        let state = if row.enabled { "enabled " } else { "disabled" };
        let words = row.problem.map(|why| format!("broken: {why}")).or(row.description).unwrap_or_default();
        out.line(format!("{name}{pad} {state} {}", text::clean(&words)).trim_end());
    }
    Ok(0)
}

fn info(name: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let plugin = plugins::load(context, name).map_err(|broken| near(context, name, broken.why))?;
    if json {
        out.json(&about(plugin, context))?;
        return Ok(0);
    }
    let manifest = &plugin.manifest;
    out.line(&out.bold(&text::clean(&plugin.name)));
    out.line(&format!("version   {}", text::clean(&manifest.version)));
    out.line(&format!("about     {}", text::clean(&manifest.description)));
    match &plugin.source {
        Source::Bundled => out.line("served    by ez itself"),
        Source::Folder(folder) => out.line(&format!("served    from {}", folder.display())),
    }
    let enabled = context.config.enabled.iter().any(|enabled| enabled == name);
    out.line(&format!("state     {}", if enabled { "enabled" } else { "disabled" }));
    out.line(&format!("hooks     {}", text::clean(&manifest.hooks.join(", "))));
    for view in &manifest.views {
        out.line(&text::clean(&format!("view      {} {} ({})", view.key, view.name, view.contexts.join(", "))));
    }
    for bind in &manifest.binds {
        out.line(&text::clean(&format!("key       {} {} ({})", bind.key, bind.name, bind.contexts.join(", "))));
    }
    for setting in &manifest.config_schema {
        let default = setting.default.as_ref().map(ToString::to_string).unwrap_or_default();
        let about = setting.description.clone().unwrap_or_default();
        out.line(&text::clean(&format!("setting   {} ({}) = {default}  {about}", setting.name, setting.kind)));
    }
    Ok(0)
}

fn about(plugin: Plugin, context: &Context) -> PluginInfo {
    let manifest = plugin.manifest.clone();
    let settings = manifest.config_schema.into_iter().map(|setting| SettingRow {
        name: setting.name,
        kind: setting.kind,
        default: setting.default,
        description: setting.description,
    });
    PluginInfo {
        enabled: context.config.enabled.contains(&plugin.name),
        source: source(&plugin),
        path: match &plugin.source {
            Source::Folder(folder) => Some(folder.display().to_string()),
            Source::Bundled => None,
        },
        version: manifest.version,
        description: manifest.description,
        hooks: manifest.hooks,
        mutates_session_path: manifest.mutates_session_path,
        priority: manifest.priority,
        views: manifest.views,
        binds: manifest.binds,
        settings: settings.collect(),
        name: plugin.name,
    }
}

fn ask(
    name: &str,
    hook: &str,
    repo: Option<&str>,
    session: Option<&str>,
    context: &Context,
    out: &mut Out,
) -> Result<u8, Failure> {
    let hook = Hook::parse(hook).ok_or_else(|| {
        let names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
        Failure::usage(format!("there is no hook {}", quoted(hook))).hint(format!("hooks are {}", names.join(", ")))
    })?;
    let plugin = plugins::load(context, name).map_err(|broken| near(context, name, broken.why))?;
    let mut call = hooks::Call::new(hook);
    if hook.row().repo {
        let repo = crate::locate::repo(context, repo)?;
        if let Some(session) = session {
            call.session = Some(crate::locate::session(context, &repo, session)?);
        }
        call.repo = Some(repo);
    }
    let request: Request = hooks::request(context, &call, &plugin)?;
    out.line(request.line().trim_end());
    let answer = hooks::ask(context, &plugin, &request, out)?;
    out.line(text::clean_bytes(&answer.printed).trim_end());
    Ok(0)
}

fn check(dir: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let mut folder: PathBuf = context.typed(dir);
    let installed = plugins::dir(context).join(dir);
    if !folder.is_dir() && plugins::check_name(dir).is_ok() && installed.is_dir() {
        folder = installed;
    }
    let manifest = plugins::read_manifest(&folder)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut problems: Vec<String> = Vec::new();
    if let Err(failure) = plugins::check_name(&name) {
        problems.push(failure.to_string());
    }
    for hook in manifest.unknown_hooks() {
        problems.push(format!("hooks: {hook} is no hook of this ez"));
    }
    let contexts = manifest.views.iter().flat_map(|view| &view.contexts);
    let contexts = contexts.chain(manifest.binds.iter().flat_map(|bind| &bind.contexts));
    for word in contexts.filter(|word| !wire::hook::CONTEXTS.contains(&word.as_str())) {
        problems.push(format!("contexts: {word} is no picker"));
    }
    let view_hooks = manifest.handles(Hook::OnView) && manifest.handles(Hook::OnViewSelect);
    if !manifest.views.is_empty() && !view_hooks {
        problems.push("views need the hooks on_view and on_view_select".to_owned());
    }
    if !manifest.binds.is_empty() && !manifest.handles(Hook::OnBind) {
        problems.push("binds need the hook on_bind".to_owned());
    }
    let plugin = Plugin { name: name.clone(), source: Source::Folder(folder), manifest };
    match hooks::startable(&plugin) {
        Err(failure) => problems.push(failure.to_string()),
        Ok(()) => {
            for row in TABLE.iter().filter(|row| plugin.manifest.handles(row.hook) && row.hook == Hook::OnPluginInit) {
                if let Err(failure) = hooks::ask(context, &plugin, &Request::new(row.hook), out) {
                    problems.push(failure.to_string());
                }
            }
        }
    }
    if json {
        let ok = problems.is_empty();
        out.json(&Checked { name, ok, problems })?;
        return Ok(u8::from(!ok));
    }
    for problem in &problems {
        out.line(&text::clean(problem));
    }
    if problems.is_empty() {
        out.line(&format!("{}: no problem found", text::clean(&name)));
    }
    Ok(u8::from(!problems.is_empty()))
}

const SH: &str = r#"#!/bin/sh
# Reads one JSON request on stdin, prints one JSON response. Words for people go to stderr.
request=$(cat)
case "$request" in
    *'"hook":"on_session_create"'*)
        echo "a session is being made" >&2
        echo '{"success": true, "session_mutations": {"env": {"HELLO": "world"}}}'
        ;;
    *)
        echo '{"success": true}'
        ;;
esac
"#;

const PYTHON: &str = r#"#!/usr/bin/env python3
"""Reads one JSON request on stdin, prints one JSON response. Words for people go to stderr."""
import json
import sys

request = json.load(sys.stdin)
response = {"success": True}
if request["hook"] == "on_session_create":
    print("session", request["session"]["name"], "is being made", file=sys.stderr)
    response["session_mutations"] = {"env": {"HELLO": "world"}}
json.dump(response, sys.stdout)
"#;

fn new(name: &str, lang: Lang, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    plugins::check_name(name)?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return Err(Failure::new(format!("the plugin name {} is not valid", quoted(name)))
            .cause("a new plugin's name is letters, digits, dashes and underscores"));
    }
    let folder = plugins::dir(context).join(name);
    if folder.exists() {
        return Err(Failure::new(format!("{} is there already", folder.display())));
    }
    let (file, text) = match lang {
        Lang::Sh => (format!("{name}-exec"), SH),
        Lang::Python => (format!("{name}.py"), PYTHON),
    };
    let manifest = format!(
        "name = \"{name}\"\nversion = \"0.1.0\"\ndescription = \"What {name} does\"\n\
         hooks = [\"on_session_create\"]\nexecutable = \"{file}\"\n"
    );
    files::write_atomic(&folder.join(&file), text.as_bytes(), Mode::Script)?;
    files::write_atomic(&folder.join("manifest.toml"), manifest.as_bytes(), Mode::Normal)?;
    out.line(&format!("Wrote {}", folder.display()));
    out.line(&format!("Turn it on with: ez plugin enable {name}"));
    Ok(0)
}
