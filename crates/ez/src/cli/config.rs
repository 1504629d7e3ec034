//! `ez config ...`: reading and changing `config.toml` without losing a comment. What the keys mean is in `store::config`.

use std::path::Path;

use clap::Subcommand;
use sys::proc::{self, HandOver, Spec};
use sys::{Failure, files, text};

use super::Out;
use crate::browser;
use crate::context::{Context, utf8};
use crate::model::name::quoted;

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
    Show,
    /// Print the path of config.toml
    Path,
    /// Open config.toml in your editor
    Edit,
    /// Print one setting
    Get {
        /// Its key
        key: String,
    },
    /// Change one setting
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
        None | Some(Which::Show) => {
            match files::read_bounded(&file, 16 << 20)? {
                Some(bytes) => out.line(text::clean_bytes(&bytes).trim_end()),
                None => out.line(&format!("# {} is not there: every setting has its default", file.display())),
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
        Some(Which::Get { key }) => get(&key, context, out),
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
            out.line(&format!("Added root: {text}"));
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
            out.line(&format!("Removed root: {}", text::clean(&path)));
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
    out.line(&format!("{word} {}", file.display()));
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

fn get(key: &str, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let config = &context.config;
    let text = match key {
        "workspace_roots" => config.workspace_roots.join("\n"),
        "default_shell" => config.default_shell.clone().unwrap_or_default(),
        "editor" => config.editor.clone().unwrap_or_default(),
        "plugin_timeout" => config.plugin_timeout.to_string(),
        "default_select_by" => config.default_select_by.clone(),
        "name_builder_modes" => config.name_builder_modes.join("\n"),
        "on_enter" => config.on_enter.clone(),
        "on_create" => config.on_create.clone(),
        "default_sort" => config.default_sort.clone(),
        "note_open_command" => config.note_open_command.clone(),
        "selector.backend" => config.selector.backend.clone(),
        "fzf.height" => config.selector.height.clone(),
        "fzf.extra_opts" => config.selector.extra_opts.join(" "),
        "plugins.enabled" => config.enabled.join("\n"),
        "plugins.plugin_dir" => config.plugin_dir.clone().unwrap_or_default(),
        _ => match key.strip_prefix("keybinds.") {
            Some(action) if config.keybinds.contains_key(action) => config.key(action).to_owned(),
            _ => return other(key, context, out),
        },
    };
    out.line(&text::clean_lines(&text));
    Ok(0)
}

/// A key that is only in the file, such as one below `plugin_settings`.
fn other(key: &str, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let bytes = files::read_bounded(&context.store.config_file(), 16 << 20)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let table: toml::Table = toml::from_str(&text).map_err(|error| Failure::new(error.to_string()))?;
    let mut value = Some(&toml::Value::Table(table)).cloned();
    for part in key.split('.') {
        value = value.and_then(|value| value.get(part).cloned());
    }
    match value {
        Some(value) => {
            out.line(&text::clean_lines(&crate::store::config::shown(&value)));
            Ok(0)
        }
        None => Err(Failure::new(format!("there is no setting {}", quoted(key)))),
    }
}

const TEXTS: [&str; 10] = [
    "default_shell",
    "editor",
    "default_select_by",
    "on_enter",
    "on_create",
    "default_sort",
    "note_open_command",
    "delete_branch",
    "selector.backend",
    "selector.fzf_opts",
];

fn change(key: &str, value: &str, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    if key == "default_select_by" && !browser::is_view(context, value) {
        return Err(Failure::new(format!("there is no view {}", quoted(value)))
            .hint("views are tree, workspace, repo, owner, label and those of enabled plugins"));
    }
    let text = TEXTS.contains(&key)
        || key.strip_prefix("keybinds.").is_some_and(|action| context.config.keybinds.contains_key(action))
        || matches!(key, "fzf.height" | "fzf.extra_opts" | "plugins.plugin_dir");
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
                // As typed where that is TOML (true, 5, [..]), else a text.
                match value.parse::<toml_edit::Value>() {
                    Ok(_) => draft.write(key, value.trim()),
                    Err(_) => draft.set(key, value),
                }
            }
            _ => Err(Failure::new(format!("there is no setting {} that can be set", quoted(key)))
                .hint("`ez config edit` opens the file")),
        }
    })?;
    out.line(&format!("Set {} = {}", text::clean(key), text::clean(value)));
    Ok(0)
}
