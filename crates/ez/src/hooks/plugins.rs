//! Which plugins are installed and enabled, what their manifests say, and the order a hook asks them in. A plugin is
//! known by its folder's name; a folder of a bundled plugin's name is the plugin. It only reads.

use std::path::{Path, PathBuf};

use sys::{Failure, files};
use wire::hook::{Hook, Manifest, Setting};

use crate::bundled;
use crate::context::Context;

/// Where a plugin comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A folder in the plugins folder.
    Folder(PathBuf),
    /// This program serves it.
    Bundled,
}

/// A plugin with a readable manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// The folder's name: its identity.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// What it says about itself.
    pub manifest: Manifest,
}

/// A plugin that cannot be asked.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The folder's name.
    pub name: String,
    /// Why.
    pub why: Failure,
    /// There is no such plugin at all.
    pub missing: bool,
}

/// The plugins folder.
pub fn dir(context: &Context) -> PathBuf {
    match &context.config.plugin_dir {
        Some(dir) => context.paths.expand(dir),
        None => context.store.root.join("plugins"),
    }
}

/// Refuses a name that is no single folder.
///
/// # Errors
/// With the rule.
pub fn check_name(name: &str) -> Result<(), Failure> {
    let bad = name.is_empty()
        || name.starts_with(['.', '-'])
        || name.len() > 100
        || name.chars().any(|c| matches!(c, '/' | '\\') || c.is_control());
    if bad {
        return Err(Failure::new(format!("the plugin name {} is not valid", crate::model::name::quoted(name)))
            .cause("it is the name of one folder: no slash, not empty, no dot or dash at its start"));
    }
    Ok(())
}

/// Loads one plugin by name.
///
/// # Errors
/// When it is not there or its manifest cannot be used.
pub fn load(context: &Context, name: &str) -> Result<Plugin, Broken> {
    let broken = |why: Failure, missing| Broken { name: name.to_owned(), why, missing };
    check_name(name).map_err(|why| broken(why, true))?;
    let folder = dir(context).join(name);
    if folder.is_dir() {
        let manifest = read_manifest(&folder).map_err(|why| broken(why, false))?;
        return Ok(Plugin { name: name.to_owned(), source: Source::Folder(folder), manifest });
    }
    let Some(text) = bundled::manifest(name) else {
        let why = Failure::new(format!("there is no plugin '{name}'"))
            .cause(format!("no folder of that name in {}", dir(context).display()));
        return Err(broken(why, true));
    };
    let manifest = toml::from_str(text).map_err(|error| broken(Failure::new(error.to_string()), false))?;
    Ok(Plugin { name: name.to_owned(), source: Source::Bundled, manifest })
}

/// Reads `manifest.toml` in `folder`.
///
/// # Errors
/// When it is not there or cannot be understood; the failure names the place.
pub fn read_manifest(folder: &Path) -> Result<Manifest, Failure> {
    let path = folder.join("manifest.toml");
    let Some(bytes) = files::read_bounded(&path, 1 << 20)? else {
        return Err(Failure::new(format!("could not read {}", path.display())).cause("no such file"));
    };
    let failed = |why: String| Failure::new(format!("could not understand {}", path.display())).cause(why);
    let text = std::str::from_utf8(&bytes).map_err(|error| failed(error.to_string()))?;
    let manifest: Manifest = toml::from_str(text).map_err(|error| failed(error.to_string().trim_end().to_owned()))?;
    let executable = Path::new(&manifest.executable);
    let inside = executable.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if manifest.executable.is_empty() || !inside {
        return Err(failed("`executable` must be a file in the plugin's own folder".to_owned()));
    }
    Ok(manifest)
}

/// Every installed plugin, by name: the folders and the bundled ones that no folder replaces.
pub fn installed(context: &Context) -> Vec<Result<Plugin, Broken>> {
    let mut names: Vec<String> = bundled::names().iter().map(|&name| name.to_owned()).collect();
    if let Ok(entries) = std::fs::read_dir(dir(context)) {
        for entry in entries.flatten() {
            if entry.path().is_dir()
                && let Some(name) = entry.file_name().to_str()
                && check_name(name).is_ok()
            {
                names.push(name.to_owned());
            }
        }
    }
    names.sort();
    names.dedup();
    names.iter().map(|name| load(context, name)).collect()
}

/// The enabled plugins in the order they were enabled.
pub fn enabled(context: &Context) -> Vec<Result<Plugin, Broken>> {
    let mut seen = Vec::new();
    for name in &context.config.enabled {
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    seen.iter().map(|name| load(context, name)).collect()
}

/// The enabled plugins that ask for `hook`, in its order, and those that cannot be asked.
///
/// Session hooks go by `mutates_session_path`, then priority, then the order of enabling; the others only by the last
/// (ez-behaviour.md, 4).
pub fn in_order(context: &Context, hook: Hook) -> (Vec<Plugin>, Vec<Broken>) {
    let (mut asked, mut broken) = (Vec::new(), Vec::new());
    for plugin in enabled(context) {
        match plugin {
            Ok(plugin) if plugin.manifest.handles(hook) => asked.push(plugin),
            Ok(_) => {}
            Err(why) => broken.push(why),
        }
    }
    if !matches!(hook, Hook::OnView | Hook::OnViewSelect | Hook::OnBind | Hook::OnNameResolve) {
        asked
            .sort_by_key(|plugin| (!plugin.manifest.mutates_session_path, std::cmp::Reverse(plugin.manifest.priority)));
    }
    (asked, broken)
}

/// The enabled plugins that can be used at all.
pub fn usable(context: &Context) -> Vec<Plugin> {
    enabled(context).into_iter().filter_map(Result::ok).collect()
}

/// Why `value` cannot stand at a plugin's setting: its type is another than `[[config_schema]]` says (seed, "Plugin
/// Configuration"). A type that is not known here takes anything.
pub fn unfit(setting: &Setting, value: &toml::Value) -> Option<String> {
    let (fits, what) = match setting.kind.as_str() {
        "bool" | "boolean" => (value.is_bool(), "true or false"),
        "int" | "integer" => (value.is_integer(), "a whole number"),
        "float" | "number" => (value.is_float() || value.is_integer(), "a number"),
        "string" | "str" | "text" | "path" => (value.is_str(), "a text"),
        "array" | "list" => (value.is_array(), "a list, such as [\"a\", \"b\"]"),
        _ => return None,
    };
    (!fits).then(|| format!("it is {what}"))
}

/// What is wrong with `[plugin_settings.<plugin>]` of every plugin that can be loaded.
pub fn wrong_settings(context: &Context) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, settings) in &context.config.plugin_settings {
        let (Ok(plugin), Some(settings)) = (load(context, name), settings.as_table()) else { continue };
        let schema = &plugin.manifest.config_schema;
        for (key, value) in settings.iter().filter(|_| !schema.is_empty()) {
            let place = sys::text::clean(&format!("plugin_settings.{name}.{key}"));
            match schema.iter().find(|known| known.name == *key) {
                None => wrong.push(format!("{place}: the plugin has no such setting")),
                Some(known) => wrong.extend(unfit(known, value).map(|why| format!("{place}: {why}"))),
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("name = \"p\"".to_owned()),
            Just("version = \"1\"".to_owned()),
            Just("description = \"\"".to_owned()),
            Just("hooks = [\"on_session_create\", \"of_tomorrow\"]".to_owned()),
            Just("[[binds]]".to_owned()),
            Just("[config_schema.a]".to_owned()),
            "executable = \"[a-z./\\\\ -]{0,8}\"",
            "[a-z_]{1,8} = [a-z0-9\"\\[\\]{}]{0,6}",
            "\\PC{0,12}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        #[allow(clippy::disallowed_methods)]
        fn any_manifest_is_read_or_named_and_its_executable_stays_in_its_folder(lines in prop::collection::vec(line(), 0..9)) {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("manifest.toml"), lines.join("\n")).unwrap();
            match read_manifest(folder.path()) {
                Ok(manifest) => {
                    let path = folder.path().join(&manifest.executable);
                    prop_assert!(path.starts_with(folder.path()) && path.components().all(|part| part.as_os_str() != ".."));
                }
                Err(failure) => prop_assert!(failure.to_string().contains("manifest.toml"), "{failure}"),
            }
        }

        #[test]
        fn a_name_is_one_folder(name in "\\PC{0,12}") {
            if check_name(&name).is_ok() {
                prop_assert_eq!(Path::new(&name).components().count(), 1);
                prop_assert!(!name.starts_with(['.', '-']));
            }
        }
    }
}
