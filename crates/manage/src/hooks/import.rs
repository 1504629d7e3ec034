//! Hooks out of a plugin's folder: `hooks/hooks.json` in Claude's shape, and what its commands need beside it, copied into a
//! folder of ours. The folder is somebody else's: names, links, sizes and numbers are checked before anything is planned,
//! and nothing of it is run. Reads only.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};
use sys::Failure;
use sys::files::{self, Mode};

use super::Desks;
use super::library::{self, Line, MOST_COMMANDS, ROOT};
use super::planner::{Planned, put};
use crate::plan::{Act, Plan};

/// The longest hooks.json, bytes.
const LONGEST: usize = 4 << 20;
/// The largest file of a pack, bytes.
const FILE: u64 = 16 << 20;
/// All files of a pack together, bytes.
const ALL: u64 = 64 << 20;
/// Files of a pack.
const FILES: usize = 2_000;
/// Folders below each other.
const DEEP: usize = 24;

/// Folders that no hook needs.
const SKIPPED: [&str; 5] = [".git", ".hg", ".svn", "node_modules", "__pycache__"];

/// What a folder holds for us.
#[derive(Default)]
struct Pack {
    description: String,
    lines: Vec<Line>,
    notes: Vec<String>,
}

/// Takes the hooks of a plugin into the library, under `name` or the plugin's own. With `replace` it takes the place of a
/// hook of that name; what agents run of that one stays until it is enabled again.
///
/// # Errors
/// When there are none in the folder, the name is taken or cannot be one, or the folder holds what is not to be copied:
/// links that lead out of it, too much, or something that is no file.
pub fn plan_import(desks: &Desks<'_>, folder: &Path, name: Option<&str>, replace: bool) -> Result<Planned, Failure> {
    let (root, hooks) = find(folder)?;
    let pack = read(&hooks)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => own_name(&root),
    };
    library::name(&name).map_err(|failure| failure.hint("`--name` gives it another"))?;
    let mut acts = Vec::new();
    let to = library::folder(desks.data).join(&name);
    if !replace {
        super::planner::free(desks.data, &name)
            .map_err(|failure| failure.hint("`--replace` takes its place, `--name` gives it another name"))?;
    }
    let mut more = Map::new();
    let mut notes = pack.notes;
    let mut copied = 0;
    if pack.lines.iter().any(|line| line.command.contains("CLAUDE_PLUGIN_ROOT")) {
        let mut files = Vec::new();
        gather(&root, &root, 0, &mut files, &mut 0)?;
        let asks = files.iter().any(|(_, bytes, _)| contains(bytes, b"CLAUDE_PLUGIN_ROOT"));
        if asks {
            more.insert("scripts_ask_root".to_owned(), Value::Bool(true));
        }
        copied = files.len();
        // Written over, not anew: what is there and not wanted any more goes into the trash.
        let mut there = Vec::new();
        all_in(&to, 0, &mut there);
        let wanted = |path: &PathBuf| files.iter().any(|(relative, ..)| to.join(relative) == *path);
        acts.extend(there.into_iter().filter(|path| !wanted(path)).map(|path| Act::Trash { path }));
        for (relative, bytes, mode) in files {
            acts.push(Act::Put { path: to.join(relative), bytes, mode });
        }
        for line in &pack.lines {
            if let Some(missing) = missing(&line.command, &root) {
                notes.push(format!("{} is named by a command and is not in the folder", missing.display()));
            }
        }
    }
    let origin = fs::canonicalize(&root).unwrap_or(root);
    acts.push(put(desks.data, &name, &pack.description, &pack.lines, Some(&origin.to_string_lossy()), more)?);
    if copied > 0 {
        notes.push(format!("{copied} files are copied to {}", to.display()));
    }
    let notes = notes.iter().map(|note| sys::text::clean(note)).collect();
    let plan = Plan { what: format!("import hook {name}"), acts, secrets: Vec::new() };
    Ok(Planned { plan, steps: Vec::new(), notes })
}

/// Every file below a folder of ours.
fn all_in(dir: &Path, deep: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() && deep <= DEEP => all_in(&path, deep + 1, files),
            _ => files.push(path),
        }
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// The plugin's folder and its file with hooks.
fn find(folder: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    let meta = fs::metadata(folder).map_err(|error| Failure::io("look into", folder, &error))?;
    if meta.is_file() {
        // The file itself: the plugin is around its folder `hooks`.
        let dir = folder.parent().unwrap_or(folder);
        let root = if dir.file_name().is_some_and(|name| name == "hooks") { dir.parent().unwrap_or(dir) } else { dir };
        return Ok((root.to_owned(), folder.to_owned()));
    }
    let places = [folder.join("hooks").join("hooks.json"), folder.join("hooks.json")];
    match places.into_iter().find(|path| path.is_file()) {
        Some(path) => Ok((folder.to_owned(), path)),
        None => Err(Failure::new(format!("there are no hooks in {}", folder.display()))
            .cause("it has no hooks/hooks.json, as a plugin of Claude Code has")),
    }
}

/// The name that the plugin gives itself, else that of its folder.
fn own_name(root: &Path) -> String {
    let manifest = root.join(".claude-plugin").join("plugin.json");
    let manifest = files::read_bounded(&manifest, LONGEST).ok().flatten();
    let manifest = manifest.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let own = manifest.and_then(|value| value.get("name")?.as_str().map(str::to_owned));
    let folder =
        fs::canonicalize(root).ok().and_then(|root| root.file_name().map(|name| name.to_string_lossy().into_owned()));
    own.or(folder).unwrap_or_default()
}

fn read(path: &Path) -> Result<Pack, Failure> {
    let failed = |why: String| Failure::new(format!("could not understand {}", path.display())).cause(why);
    let bytes = files::read_bounded(path, LONGEST)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
    let root = agents::hooks::parse(&text).map_err(failed)?;
    let events =
        root.get("hooks").and_then(Value::as_object).ok_or_else(|| failed("it has no map `hooks`".to_owned()))?;
    let description = root.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut pack = Pack { description, ..Pack::default() };
    for (event, groups) in events {
        let groups = groups.as_array().ok_or_else(|| failed(format!("`{event}` is no list")))?;
        for group in groups {
            let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            let matcher = text(group, "matcher").filter(|matcher| !matcher.is_empty());
            let inner = group.get("hooks").and_then(Value::as_array);
            for one in inner.ok_or_else(|| failed(format!("a group of `{event}` has no list `hooks`")))? {
                let kind = text(one, "type").unwrap_or_else(|| "command".to_owned());
                let Some(command) =
                    text(one, "command").filter(|command| kind == "command" && !command.trim().is_empty())
                else {
                    pack.notes.push(format!("a hook of {event} is left out: it is a {kind}, not a command"));
                    continue;
                };
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked to be small and positive"
                )]
                let timeout = one
                    .get("timeout")
                    .and_then(Value::as_f64)
                    .filter(|seconds| *seconds > 0.0 && *seconds < 1e9)
                    .map(|seconds| seconds.ceil() as u64);
                let is_async = one.get("async") == Some(&Value::Bool(true));
                pack.lines.push(Line { event: event.clone(), matcher: matcher.clone(), command, timeout, is_async });
            }
        }
    }
    if pack.lines.is_empty() {
        return Err(Failure::new(format!("there are no commands in {}", path.display())));
    }
    if pack.lines.len() > MOST_COMMANDS {
        return Err(failed(format!("it has more than {MOST_COMMANDS} commands")));
    }
    let known =
        |event: &str| agents::adapter::all().iter().filter_map(|a| a.hooks()).any(|h| h.rules().event(event).is_some());
    for event in events.keys().filter(|event| !known(event)) {
        pack.notes.push(format!("no agent has an event {event}: what it runs then never runs"));
    }
    Ok(pack)
}

/// A file below the plugin's folder that `command` names and that is not there.
fn missing(command: &str, root: &Path) -> Option<PathBuf> {
    let words = agents::hooks::words(command);
    let word = words.iter().find(|word| word.starts_with(ROOT) || word.starts_with("$CLAUDE_PLUGIN_ROOT"))?;
    let relative = word.trim_start_matches(ROOT).trim_start_matches("$CLAUDE_PLUGIN_ROOT").trim_start_matches('/');
    let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    (!inside || !root.join(relative).exists()).then(|| PathBuf::from(relative))
}

/// True for a file that may be run.
fn runs(meta: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    return !meta.is_file();
}

/// Every file below `dir`, with its place below `root`.
fn gather(
    root: &Path,
    dir: &Path,
    deep: usize,
    files: &mut Vec<(PathBuf, Vec<u8>, Mode)>,
    total: &mut u64,
) -> Result<(), Failure> {
    let refused = |path: &Path, why: &str| {
        Failure::new(format!("will not copy {}", path.display())).cause(why).hint("nothing was written")
    };
    if deep > DEEP {
        return Err(refused(dir, &format!("more than {DEEP} folders lie in each other")));
    }
    let entries = fs::read_dir(dir).map_err(|error| Failure::io("look into", dir, &error))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| Failure::io("look into", dir, &error))?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if name.contains('\u{fffd}') || sys::text::clean(&name) != name {
            return Err(refused(&path, "its name has control characters or is not UTF-8"));
        }
        let failed = |error: std::io::Error| Failure::io("read", &path, &error);
        let mut meta = fs::symlink_metadata(&path).map_err(failed)?;
        if meta.is_symlink() {
            // What it leads to is copied, when that is a file of the same folder.
            let real = fs::canonicalize(&path).map_err(failed)?;
            let inside = fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
            if !inside {
                return Err(refused(&path, "it is a link that leads out of the folder"));
            }
            meta = fs::metadata(&path).map_err(failed)?;
            if meta.is_dir() {
                return Err(refused(&path, "it is a link to a folder"));
            }
        }
        if meta.is_dir() {
            gather(root, &path, deep + 1, files, total)?;
            continue;
        }
        if !meta.is_file() {
            return Err(refused(&path, "it is neither a file nor a folder"));
        }
        if meta.len() > FILE {
            return Err(refused(&path, &format!("it has more than {} MiB", FILE >> 20)));
        }
        *total += meta.len();
        if *total > ALL || files.len() >= FILES {
            return Err(refused(root, &format!("it has more than {FILES} files or {} MiB", ALL >> 20)));
        }
        let most = usize::try_from(FILE).unwrap_or(usize::MAX);
        let bytes = files::read_bounded(&path, most)?.unwrap_or_default();
        let mode = if runs(&meta) { Mode::Script } else { Mode::Normal };
        let relative = path.strip_prefix(root).map_err(|_| refused(&path, "it is not in the folder"))?;
        files.push((relative.to_owned(), bytes, mode));
    }
    Ok(())
}
