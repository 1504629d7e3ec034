//! `lazyagents plugins [list|info <id>]`: every file of the plugins folder, and what became of it.

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;
use sys::{Failure, text};

use super::interrupt::Interrupt;
use super::out::table;
use super::{Out, short};
use crate::context::{Context, things};
use crate::plugins::{Ignored, Plugin, host};

/// Arguments of `plugins`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Which>,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// Every file in the plugins folder (the same as no subcommand)
    List,
    /// One plugin: starts it, greets it, and shows what it says of itself
    Info {
        /// The plugin's id
        id: String,
    },
}

/// A row of `plugins list --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct PluginRow {
    /// The id; null for a file that has none.
    id: Option<String>,
    /// The file name.
    file: String,
    /// The file.
    path: String,
    /// `found` (not started yet), `hidden` (tui.hidden: no tab, the subcommand works) or `ignored`; of `plugins info`,
    /// which starts it, also `works` or `failed`.
    state: &'static str,
    /// Why it is ignored.
    reason: Option<String>,
    /// The version of the protocol that it is spoken to with.
    protocol: u32,
    /// `config.yaml` has a section for it.
    configured: bool,
}

/// The answer of `plugins info --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct PluginInfo {
    #[serde(flatten)]
    row: PluginRow,
    /// What it said of itself; null when the handshake failed.
    manifest: Option<ManifestInfo>,
    /// Why the handshake failed.
    problem: Option<String>,
    /// The tail of its stderr, when the handshake failed.
    stderr: Option<String>,
}

/// What a plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ManifestInfo {
    /// The tab's title.
    title: String,
    /// Commands for the palette.
    commands: Vec<CommandInfo>,
    /// Keys that it explains.
    help: Vec<HelpInfo>,
    /// It has a doctor check.
    doctor: bool,
}

/// A command for the palette.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct CommandInfo {
    /// Its name, without the id.
    name: String,
    /// A few words.
    desc: String,
}

/// A group of keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct HelpInfo {
    /// Its heading.
    title: String,
    /// Pairs of key and description.
    keys: Vec<(String, String)>,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match &args.command {
        None | Some(Which::List) => list(args.json, context, out),
        Some(Which::Info { id }) => info(id, args.json, context, out),
    }
}

fn plugin_row(context: &Context, plugin: &Plugin) -> PluginRow {
    PluginRow {
        id: Some(plugin.id.clone()),
        file: plugin.file.clone(),
        path: plugin.path.to_string_lossy().into_owned(),
        state: if context.hidden(&plugin.id) { "hidden" } else { "found" },
        reason: None,
        protocol: wire::plugin::PROTOCOL,
        configured: context.config.section(&plugin.id).is_some(),
    }
}

fn rows(context: &Context) -> Vec<PluginRow> {
    let plugins = context.discovery.plugins.iter().map(|plugin| plugin_row(context, plugin));
    let ignored = context.discovery.passed_over().map(|file| ignored_row(context, file));
    let mut rows: Vec<_> = plugins.chain(ignored).collect();
    rows.sort_by(|a, b| a.file.cmp(&b.file));
    rows
}

fn ignored_row(context: &Context, file: &Ignored) -> PluginRow {
    PluginRow {
        id: None,
        file: file.file.clone(),
        path: context.discovery.dir.join(&file.file).to_string_lossy().into_owned(),
        state: "ignored",
        reason: Some(file.reason.clone()),
        protocol: wire::plugin::PROTOCOL,
        configured: false,
    }
}

/// The file that is no plugin and that `name` means: its whole name, or without its extension.
fn ignored<'c>(name: &str, context: &'c Context) -> Option<&'c Ignored> {
    let stem =
        |file: &Ignored| file.file.rsplit_once('.').map_or_else(|| file.file.clone(), |(stem, _)| stem.to_owned());
    let whole = context.discovery.passed_over().find(|file| file.file == name);
    whole.or_else(|| context.discovery.passed_over().find(|file| stem(file) == name))
}

fn list(json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let rows = rows(context);
    if json {
        out.json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        let dir = short(context, &context.discovery.dir);
        out.line(&format!("No plugins yet. An executable in {dir} becomes a tab, a command and a doctor check."));
        return Ok(0);
    }
    let cells = |row: &PluginRow| {
        vec![
            row.id.clone().unwrap_or_else(|| "-".to_owned()),
            row.state.to_owned(),
            row.file.clone(),
            row.reason.clone().unwrap_or_default(),
        ]
    };
    for line in table(&rows.iter().map(cells).collect::<Vec<_>>()) {
        out.line(&line);
    }
    Ok(0)
}

fn info(id: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let Some(plugin) = context.discovery.find(id) else {
        let id = text::clean(id);
        if let Some(file) = ignored(&id, context) {
            if json {
                out.json(&PluginInfo { row: ignored_row(context, file), manifest: None, problem: None, stderr: None })?;
                return Ok(1);
            }
            return Err(Failure::new(format!("{} is no plugin, it is ignored: {}", file.file, file.reason)));
        }
        return Err(Failure::new(format!("there is no plugin {id}"))
            .hint(format!("plugins live in {}", context.discovery.dir.display()))
            .hint("`lazyagents plugins` lists every file there and why it is ignored"));
    };
    let mut init = context.init(plugin, &context.config, &crate::app::theme(&context.config).0);
    (init.width, init.height) = (80, 24);
    let told = host::handshake(plugin, &context.plugin_env(), init, &Interrupt::catch()?.cancel);
    let mut row = plugin_row(context, plugin);
    row.state = match (&told, row.state) {
        (Err(_), _) => "failed",
        (Ok(_), "found") => "works",
        (Ok(_), other) => other,
    };
    let info = PluginInfo {
        row,
        manifest: told.as_ref().ok().map(|manifest| ManifestInfo {
            title: manifest.title.clone(),
            commands: manifest
                .commands
                .iter()
                .map(|(name, desc)| CommandInfo { name: name.clone(), desc: desc.clone() })
                .collect(),
            help: manifest
                .help
                .iter()
                .map(|(title, keys)| HelpInfo { title: title.clone(), keys: keys.clone() })
                .collect(),
            doctor: manifest.doctor,
        }),
        problem: told.as_ref().err().map(|(reason, _)| reason.clone()),
        stderr: told.as_ref().err().map(|(_, stderr)| stderr.clone()),
    };
    let failed = info.manifest.is_none();
    if json {
        out.json(&info)?;
    } else {
        tell(&info, context, plugin, out);
    }
    Ok(u8::from(failed))
}

fn tell(info: &PluginInfo, context: &Context, plugin: &Plugin, out: &mut Out) {
    out.heading(&plugin.id);
    out.line(&format!("file      {}", short(context, &plugin.path)));
    out.line(&format!("state     {}", info.row.state));
    out.line(&format!("protocol  {}", info.row.protocol));
    out.line(&format!("config    {}", if info.row.configured { "has a section" } else { "no section" }));
    let Some(manifest) = &info.manifest else {
        out.line(&format!("problem   {}", info.problem.as_deref().unwrap_or_default().replace('\n', "\n          ")));
        for line in info.stderr.iter().flat_map(|stderr| stderr.lines()) {
            out.line(&format!("stderr    {line}"));
        }
        return;
    };
    out.line(&format!("title     {}", manifest.title));
    out.line(&format!("doctor    {}", if manifest.doctor { "has a check" } else { "no check" }));
    for command in &manifest.commands {
        out.line(&format!("command   {} {}  {}", plugin.id, command.name, command.desc));
    }
    let keys: usize = manifest.help.iter().map(|group| group.keys.len()).sum();
    out.line(&format!("help      {}", things(keys, "key")));
}
