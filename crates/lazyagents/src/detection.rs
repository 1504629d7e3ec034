//! Detection wired to the system: programs are asked through the process door, their answers are remembered in
//! the cache folder. The crate `agents` decides what is asked; the app and the commands call this.

use std::path::Path;
use std::time::Duration;

use agents::detect::Version;
use agents::{Detected, Search, VersionCache};
use sys::files::{self, TempTree};
use sys::proc::{self, Cancel, Limits, Spec};
use sys::{Env, clock};

use crate::context::Context;

/// How long a program may take for `--version` (lazyagents.md, Agents).
const VERSION_WITHIN: Duration = Duration::from_secs(6);

/// Output of `--version` that is looked at, in bytes; the first unpacking of one of them prints pages.
const VERSION_OUTPUT: usize = 64 * 1024;

/// Where the answers are remembered, below the cache folder.
const CACHE_FILE: &str = "versions.json";

/// The fast part: which agents are here and where, with the versions that files and the cache know; it starts nothing.
pub fn places(context: &Context) -> Vec<Detected> {
    let search = Search { system: context.system, scratch: None };
    let mut found = agents::detect_places(&context.env, &search);
    agents::fill_versions(&mut found, &context.env, &search, &mut remembered(context), &|_, _| None, &|_, _| {});
    found
}

/// Fills in the versions; may take seconds, when a program has to be asked. `cancel` stops asking. `heard` is told of each
/// one as it comes, from several threads.
pub fn versions(
    context: &Context,
    found: &mut [Detected],
    cancel: &Cancel,
    heard: &(dyn Fn(&'static str, &Version) + Sync),
) {
    let path = context.paths.cache.join(CACHE_FILE);
    let known = remembered(context);
    // Without a folder of its own no program is asked: it could write into the person's home.
    let scratch = TempTree::create(&context.paths.cache, "ask-").ok();
    let search = Search { system: context.system, scratch: scratch.as_ref().map(|tree| tree.path().to_owned()) };
    let mut cache = known.clone();
    let probe = |program: &Path, env: &Env| ask(program, env, cancel);
    agents::fill_versions(found, &context.env, &search, &mut cache, &probe, heard);
    if cache != known {
        // The cache is disposable: failing to write it costs a question at the next start.
        let _ = files::write_atomic(&path, &cache.to_json(), files::Mode::Normal);
    }
}

/// The answers of earlier starts.
fn remembered(context: &Context) -> VersionCache {
    match files::read_bounded(&context.paths.cache.join(CACHE_FILE), 1 << 20) {
        Ok(Some(bytes)) => VersionCache::from_json(&bytes),
        // A cache that cannot be read is an empty one.
        Ok(None) | Err(_) => VersionCache::default(),
    }
}

/// Everything at once, for commands.
pub fn all(context: &Context, cancel: &Cancel) -> Vec<Detected> {
    let mut found = places(context);
    versions(context, &mut found, cancel, &|_, _| {});
    found
}

fn ask(program: &Path, env: &Env, cancel: &Cancel) -> Option<Vec<u8>> {
    let spec =
        Spec { program: program.as_os_str().to_owned(), args: vec!["--version".into()], dir: None, env: env.clone() };
    let limits = Limits { deadline: Some(VERSION_WITHIN), output: VERSION_OUTPUT, merged: false };
    let started = clock::now();
    let done = proc::run(&spec, &limits, cancel).ok()?;
    if done.timed_out || done.cancelled || started.elapsed() > VERSION_WITHIN + proc::GRACE {
        return None;
    }
    let silent = done.stdout.iter().all(u8::is_ascii_whitespace);
    Some(if silent { done.stderr } else { done.stdout })
}

/// What plugins are told (clauses A1, A2).
pub fn for_plugins(found: &[Detected]) -> Vec<wire::plugin::Agent> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let agent = |agent: &Detected| wire::plugin::Agent {
        id: agent.id.to_owned(),
        name: agent.name.to_owned(),
        installed: agent.installed,
        version: agent.version.clone(),
        managed_dir: agent.managed_dir.as_deref().map(text),
        read_dirs: agent.read_dirs.iter().map(|dir| text(dir)).collect(),
    };
    found.iter().map(agent).collect()
}
