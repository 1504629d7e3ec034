//! `ez config ...`: reading and changing `config.toml` without losing a comment. What the keys mean is in `store::config`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Subcommand;
use serde_json::Value;
use sys::proc::{self, HandOver, Spec};
use sys::{Failure, files, text};
use wire::hook::Setting;

use super::Out;
use super::answers::ConfigShown;
use super::settings::{self, Kind, SETTINGS};
use crate::browser::{self, keyname, keys};
use crate::context::{Context, utf8};
use crate::hooks::{json_of, plugins};
use crate::model::name::quoted;
use crate::ops::accept;
use crate::store::CLOSED;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// Write a first config.toml
    Init,
    /// Print config.toml
    Show {
        /// What the file says and what counts, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path of config.toml
    Path,
    /// Open config.toml in your editor
    Edit,
    /// Print one setting
    Get {
        /// Its key
        key: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Change one setting
    #[command(
        after_help = "Examples:\n  ez config set on_create cd\n  ez config set plugin_settings.tmux.auto_attach true"
    )]
    Set {
        /// Its key
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Add a root folder
    AddRoot {
        /// The folder
        path: String,
    },
    /// Remove a root folder
    RemoveRoot {
        /// The folder
        path: String,
    },
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let file = context.store.config_file();
    match args.command {
        Some(Which::Show { json: true }) => show(context, out),
        None | Some(Which::Show { json: false }) => {
            match files::read_bounded(&file, 16 << 20)? {
                Some(bytes) => out.line(text::clean_bytes(&bytes).trim_end()),
                None => {
                    out.line(&format!("# {} is not there: every setting has its default", context.paths.short(&file)))
                }
            }
            Ok(0)
        }
        Some(Which::Init) => init(context, out),
        Some(Which::Path) => {
            out.line(&file.display().to_string());
            Ok(0)
        }
        Some(Which::Edit) => {
            files::make_dir(&context.store.root)?;
            edit(context, &editor(context), &file, None, out)?;
            context.store.config()?;
            Ok(0)
        }
        Some(Which::Get { key, json }) => get(&key, json, context, out),
        Some(Which::Set { key, value }) => change(&key, &value, context, out),
        Some(Which::AddRoot { path }) => {
            let real = context.typed(&path);
            let real = real.canonicalize().map_err(|error| Failure::io("add the root", &real, &error))?;
            let text = utf8(&real)?;
            context.store.update_config(|draft| {
                draft.list("workspace_roots", |roots| {
                    if !roots.iter().any(|root| context.paths.expand(root) == real) {
                        roots.push(text.clone());
                    }
                })
            })?;
            out.line(&format!("Added root: {}", text::clean(&context.paths.short(&real))));
            Ok(0)
        }
        Some(Which::RemoveRoot { path }) => {
            let wanted = context.typed(&path);
            let wanted = wanted.canonicalize().unwrap_or(wanted);
            let before = context.config.workspace_roots.len();
            let same = |root: &String| *root == path || context.paths.expand(root) == wanted;
            if context.config.workspace_roots.iter().filter(|root| !same(root)).count() == before {
                return Err(Failure::new(format!("{} is no root", quoted(&path))));
            }
            context
                .store
                .update_config(|draft| draft.list("workspace_roots", |roots| roots.retain(|root| !same(root))))?;
            out.line(&format!("Removed root: {}", text::clean(&context.paths.short(&wanted))));
            Ok(0)
        }
    }
}

const FIRST: &str = "# ez. What is not set here has its default; `ez config get KEY` prints one.
# workspace_roots = [\"~/src\"]
# plugin_timeout = 30
# on_enter = \"cd\"
# on_create = \"none\"
";

fn init(context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let file = context.store.config_file();
    let made = files::update(&file, files::Mode::Normal, |old| Ok(old.is_none().then(|| FIRST.as_bytes().to_vec())))?;
    let word = if made { "Wrote" } else { "Kept" };
    out.line(&format!("{word} {}", text::clean(&context.paths.short(&file))));
    Ok(0)
}

/// The person's editor: `editor` of the configuration, `$VISUAL`, `$EDITOR`, vi.
pub(super) fn editor(context: &Context) -> String {
    let env = |name| context.env.text(name).map(str::to_owned);
    context.config.editor.clone().or_else(|| env("VISUAL")).or_else(|| env("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Opens `file` with a command line that is split at blanks.
pub(super) fn edit(
    context: &Context,
    command: &str,
    file: &Path,
    dir: Option<&Path>,
    out: &mut Out,
) -> Result<(), Failure> {
    let mut words = command.split_whitespace();
    let program = words.next().ok_or_else(|| Failure::new("no editor is set"))?;
    let mut args: Vec<std::ffi::OsString> = words.map(Into::into).collect();
    args.push(file.into());
    let dir = dir.map(Path::to_path_buf).or_else(|| context.cwd.clone());
    out.flush();
    let spec = Spec { program: program.into(), args, dir, env: context.child_env() };
    match proc::hand_over(&spec, &proc::never())? {
        HandOver::Ended(exit) if exit.ok() => Ok(()),
        HandOver::Ended(exit) => Err(Failure::new(format!("{program} did not end well")).cause(exit)),
        HandOver::Terminated => Err(Failure::cancelled("stopped")),
    }
}

fn show(context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let path = context.store.config_file();
    let bytes = files::read_bounded(&path, 16 << 20)?;
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let table: toml::Table = toml::from_str(&text)
        .map_err(|error| Failure::new(format!("could not understand {}", path.display())).cause(error.message()))?;
    let config = &context.config;
    let mut settings: BTreeMap<String, Value> =
        SETTINGS.iter().map(|setting| (setting.key.to_owned(), (setting.value)(config))).collect();
    settings
        .extend(config.keybinds.iter().map(|(action, key)| (format!("keybinds.{action}"), Value::from(key.as_str()))));
    let file = table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect();
    out.json(&ConfigShown { path: utf8(&path)?, exists: bytes.is_some(), file, settings })?;
    Ok(0)
}

fn get(key: &str, json: bool, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let config = &context.config;
    let known = settings::find(key).map(|setting| (setting.value)(config)).filter(|value| !value.is_null());
    let bound = key.strip_prefix("keybinds.").and_then(|action| config.keybinds.get(action));
    let value = match known.or_else(|| bound.map(|key| Value::from(key.as_str()))) {
        Some(value) => value,
        None => match in_file(key, context)? {
            Some(value) => json_of(&value),
            None if settings::find(key).is_some() => Value::Null,
            None => return Err(unknown(key, "there is no setting", context)),
        },
    };
    if json {
        out.json(&value)?;
    } else {
        out.line(&text::clean_lines(&plain(&value)));
    }
    Ok(0)
}

/// A value for people: texts without quotes, lists one a line, nothing for nothing.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// A key that is only in the file, such as one below `plugin_settings`.
fn in_file(key: &str, context: &Context) -> Result<Option<toml::Value>, Failure> {
    let bytes = files::read_bounded(&context.store.config_file(), 16 << 20)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let table: toml::Table = toml::from_str(&text).map_err(|error| Failure::new(error.to_string()))?;
    let mut value = Some(toml::Value::Table(table));
    for part in key.split('.') {
        value = value.and_then(|value| value.get(part).cloned());
    }
    Ok(value)
}

fn unknown(key: &str, what: &str, context: &Context) -> Failure {
    let failure = Failure::new(format!("{what} {}", quoted(key)));
    let near = settings::keys(&context.config)
        .into_iter()
        .map(|known| (strsim::jaro_winkler(key, &known), known))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, near)) => failure.hint(format!("did you mean {}?", quoted(&near))),
        None => failure.hint("`ez config show --json` lists all of them"),
    }
}

/// A value that nothing here has a meaning for is told, and kept: what it names may be installed later.
fn odd_value(key: &str, value: &str, context: &Context, out: &mut Out) {
    let known = match key {
        "on_enter" if accept::is_way(context, value) => None,
        "on_create" if matches!(value, "" | "none") || accept::is_way(context, value) => None,
        "on_enter" => Some("cd, and the name, label or plugin of a key for sessions".to_owned()),
        "on_create" => Some("none, cd, and the name, label or plugin of a key for sessions".to_owned()),
        _ => match key.strip_prefix("plugin_settings.").and_then(|rest| rest.split_once('.')) {
            Some((plugin, setting)) => unknown_setting(context, plugin, setting),
            None => None,
        },
    };
    if let Some(known) = known {
        out.warn(&format!("{} means nothing at {} now; what does: {known}", quoted(value), text::clean(key)));
    }
}

/// The settings that a plugin's manifest names, when `setting` is none of them.
fn unknown_setting(context: &Context, plugin: &str, setting: &str) -> Option<String> {
    let schema = plugins::load(context, plugin).ok()?.manifest.config_schema;
    let unknown = !schema.is_empty() && schema.iter().all(|known| known.name != setting);
    unknown.then(|| schema.into_iter().map(|known| text::clean(&known.name)).collect::<Vec<_>>().join(", "))
}

/// A value that can never mean anything at its key is not written.
fn refuse(key: &str, value: &str, context: &Context) -> Result<(), Failure> {
    let refused = |why: String| {
        let what = format!("{} cannot be set to {}", text::clean(key), quoted(value));
        Err(Failure::new(what).cause(why))
    };
    if let Some((_, words)) = CLOSED.iter().find(|(closed, words)| *closed == key && !words.contains(&value)) {
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        return refused(format!("it is one of {}", words.join(", ")));
    }
    let action = key.strip_prefix("keybinds.").filter(|action| context.config.keybinds.contains_key(*action));
    if let Some(action) = action {
        if !value.is_empty() && keyname::parse(value).is_none() {
            return refused(keyname::RULE.to_owned());
        }
        if let Some(why) = keys::refused(context, action, value) {
            return refused(why);
        }
    }
    match setting_of(context, key) {
        Some(setting) => match plugins::unfit(&setting, &typed(&setting, value)) {
            Some(why) => refused(why),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

/// The setting that a plugin's manifest declares at this key.
fn setting_of(context: &Context, key: &str) -> Option<Setting> {
    let (plugin, name) = key.strip_prefix("plugin_settings.")?.split_once('.')?;
    let schema = plugins::load(context, plugin).ok()?.manifest.config_schema;
    schema.into_iter().find(|setting| setting.name == name)
}

/// What was typed, as TOML where it is that, else a text; a setting that is a text takes all as text but a quoted one.
fn typed(setting: &Setting, value: &str) -> toml::Value {
    let text = || toml::Value::String(value.to_owned());
    let found = toml::from_str::<toml::Table>(&format!("v = {}", value.trim())).ok();
    let found = found.filter(|table| table.len() == 1).and_then(|mut table| table.remove("v"));
    // The kinds that a text fits and a flag does not.
    let fits = |value| plugins::unfit(setting, &value).is_none();
    let is_text = fits(text()) && !fits(toml::Value::Boolean(true));
    match found {
        Some(found) if found.is_str() || !is_text => found,
        _ => text(),
    }
}

fn change(key: &str, value: &str, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if key == "default_select_by" && !browser::is_view(context, value) {
        return Err(Failure::new(format!("there is no view {}", quoted(value)))
            .hint("views are tree, workspace, repo, owner, label and those of enabled plugins"));
    }
    refuse(key, value, context)?;
    odd_value(key, value, context, out);
    let text = settings::find(key).is_some_and(|setting| setting.kind == Kind::Text)
        || key.strip_prefix("keybinds.").is_some_and(|action| context.config.keybinds.contains_key(action))
        || key == "selector.fzf_opts";
    context.store.update_config(|draft| {
        if text {
            return draft.set(key, value);
        }
        match key {
            "plugin_timeout" => {
                let seconds: i64 = value
                    .parse()
                    .ok()
                    .filter(|seconds| *seconds >= 0)
                    .ok_or_else(|| Failure::new("plugin_timeout is a whole number of seconds"))?;
                draft.set(key, seconds)
            }
            "copy_cursor_conversations" => {
                let flag: bool = value.parse().map_err(|_| Failure::new(format!("{key} is true or false")))?;
                draft.set(key, flag)
            }
            _ if key.starts_with("plugin_settings.") && key.split('.').count() == 3 => {
                // As typed where that is TOML (true, 5, [..]), else a text; a text that looks like something else stays one.
                if setting_of(context, key).is_some_and(|setting| typed(&setting, value).as_str() == Some(value)) {
                    return draft.set(key, value);
                }
                match value.parse::<toml_edit::Value>() {
                    Ok(_) => draft.write(key, value.trim()),
                    Err(_) => draft.set(key, value),
                }
            }
            _ if settings::find(key).is_some() => {
                Err(Failure::new(format!("{} is not set as one text", quoted(key)))
                    .hint("`ez config edit` opens the file"))
            }
            _ => Err(unknown(key, "there is no setting", context)),
        }
    })?;
    out.line(&format!("Set {} = {}", text::clean(key), text::clean(value)));
    Ok(0)
}
