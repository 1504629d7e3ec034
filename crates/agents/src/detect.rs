//! Detection: which agents are here, where, and which version. It writes nothing and starts nothing; programs
//! are asked through the caller's probe, in a home of their own. The app and `cli` of lazyagents call it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sys::Env;

use crate::adapter::{Adapter, Capability, Places, Surroundings, all};
use crate::cache::{Answer, Key, Memory, VersionCache};
use crate::find::{Found, Search, Spots};
use crate::read::{is_dir, true_path};
use crate::version::{from_package, is_dispatcher, number_in};

/// Programs asked at the same time.
const ASKED_AT_ONCE: usize = 4;

/// Runs `<program> --version` in exactly this environment, with a deadline (6 s, lazyagents.md, Agents) and no stdin, and
/// gives what it printed on **stdout**. An old Pi prints on stderr alone, so stderr counts when stdout stayed
/// empty; never both. `None` when it could not be started or did not end in time. Called from other threads.
pub type Probe<'a> = &'a (dyn Fn(&Path, &Env) -> Option<Vec<u8>> + Sync);

/// Where a version came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionFrom {
    /// It is not known, or not yet.
    #[default]
    Nowhere,
    /// The package.json that the program lies in.
    PackageJson,
    /// The program itself, just now.
    Program,
    /// The program itself, earlier.
    Cache,
}

/// One agent as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The agent's id.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Its program was found or its config folder exists (clause A2).
    pub installed: bool,
    /// Its program as it was found, absolute.
    pub binary: Option<PathBuf>,
    /// More about the program: the file it leads to, and how it was found.
    pub found: Option<Found>,
    /// Its settings folder, overrides obeyed; `None` only when no home folder is known.
    pub config_dir: Option<PathBuf>,
    /// [`Detected::config_dir`] exists and is a folder.
    pub config_exists: bool,
    /// The version number alone.
    pub version: Option<String>,
    /// Where [`Detected::version`] came from.
    pub version_from: VersionFrom,
    /// How it was detected, in sentences for the detail pane.
    pub how: Vec<String>,
    /// Where skills are enabled for it.
    pub managed_dir: Option<PathBuf>,
    /// Every user-level skill folder that it reads, in its order.
    pub read_dirs: Vec<PathBuf>,
    /// The folder or database of its sessions; `None` when unknown or one per project.
    pub sessions: Option<PathBuf>,
    /// What can be done with it beyond detection.
    pub can: &'static [Capability],
    /// False when no real program or file of it was seen by us.
    pub tried: bool,
    /// What a person should know: a shared folder, a dangling link, an override that leads nowhere.
    pub warnings: Vec<String>,
}

/// All agents in the fixed order, with places and versions. Waits for the slowest probe; an interface shows
/// [`detect_places`] first and calls [`fill_versions`] in the background.
pub fn detect_all(env: &Env, search: &Search, cache: &mut VersionCache, probe: Probe<'_>) -> Vec<Detected> {
    let mut agents = detect_places(env, search);
    fill_versions(&mut agents, env, search, cache, probe, &|_, _| {});
    agents
}

/// All agents in the fixed order, without versions. Only asks the disk what is there: milliseconds.
pub fn detect_places(env: &Env, search: &Search) -> Vec<Detected> {
    let Some(around) = Surroundings::of(env) else {
        return all().iter().map(|adapter| homeless(*adapter)).collect();
    };
    let spots = Spots::of(&around, search);
    let mut agents: Vec<Detected> = all().iter().map(|adapter| detect_one(*adapter, &around, &spots)).collect();
    warn_of_shared_folders(&mut agents);
    agents
}

/// An agent when nothing can be known.
fn homeless(adapter: &dyn Adapter) -> Detected {
    let mut agent = blank(adapter);
    agent.warnings.push("no home folder is known: HOME is not set to an absolute path".to_owned());
    agent
}

fn blank(adapter: &dyn Adapter) -> Detected {
    let about = adapter.about();
    Detected {
        id: about.id,
        name: about.name,
        installed: false,
        binary: None,
        found: None,
        config_dir: None,
        config_exists: false,
        version: None,
        version_from: VersionFrom::Nowhere,
        how: Vec::new(),
        managed_dir: None,
        read_dirs: Vec::new(),
        sessions: None,
        can: about.can,
        tried: about.tried,
        warnings: Vec::new(),
    }
}

fn detect_one(adapter: &dyn Adapter, around: &Surroundings, spots: &Spots) -> Detected {
    let places = adapter.places(around);
    let found = spots.find(adapter.about().programs, &places.program_dirs);
    let config_exists = is_dir(&places.config_dir);
    let marks: Vec<&PathBuf> = places.marks.iter().filter(|dir| is_dir(dir)).collect();
    let mut agent = blank(adapter);
    agent.installed = found.is_some() || config_exists || !marks.is_empty();
    agent.how.extend(found.as_ref().map(Found::words));
    if config_exists {
        agent.how.push(format!("its config folder {} exists", places.config_dir.display()));
    }
    agent.how.extend(marks.iter().map(|dir| format!("its folder {} exists", dir.display())));
    if let Some(name) = places.moved_by {
        agent.how.push(format!("its config folder is moved by {name}"));
    }
    agent.warnings = warnings(agent.name, &places, config_exists);
    agent.binary = found.as_ref().map(|found| found.path.clone());
    agent.found = found;
    agent.config_dir = Some(places.config_dir);
    agent.config_exists = config_exists;
    agent.managed_dir = places.managed_dir;
    agent.read_dirs = places.read_dirs;
    agent.sessions = places.sessions;
    agent
}

/// What is wrong with one agent's places by themselves.
fn warnings(name: &str, places: &Places, config_exists: bool) -> Vec<String> {
    let mut out = places.warnings.clone();
    let config = places.config_dir.display();
    if let Some(variable) = places.moved_by.filter(|_| !config_exists) {
        let then = if places.must_exist { format!("; {name} does not start until it does") } else { String::new() };
        out.push(format!("{variable} leads to {config}, which does not exist{then}"));
    }
    match fs::metadata(&places.config_dir) {
        Ok(meta) if !meta.is_dir() => out.push(format!("{config} is a file where a folder is expected")),
        Ok(_) => {
            if let Err(error) = fs::read_dir(&places.config_dir) {
                out.push(format!("could not read {config}: {}", sys::failure::plain(&error)));
            }
        }
        Err(_) => {}
    }
    if let Some(managed) = &places.managed_dir {
        out.extend(odd_folder(managed));
    }
    out
}

/// A skills folder that is a dangling link or no folder at all.
fn odd_folder(dir: &Path) -> Option<String> {
    let link = fs::symlink_metadata(dir).ok()?;
    match fs::metadata(dir) {
        Ok(meta) if meta.is_dir() => None,
        Ok(_) => Some(format!("its skills folder {} is a file where a folder is expected", dir.display())),
        Err(_) if link.is_symlink() => {
            let to = fs::read_link(dir).map(|to| to.display().to_string()).unwrap_or_default();
            Some(format!("its skills folder {} is a link to {to}, which does not exist", dir.display()))
        }
        Err(_) => None,
    }
}

/// Says it when an installed agent's own skills folder really is another one that is read, although the two
/// have different paths (a link, an override). That OpenCode reads `~/.claude/skills` by its nature is no news.
fn warn_of_shared_folders(agents: &mut [Detected]) {
    let read: Vec<(&'static str, PathBuf, PathBuf)> = agents
        .iter()
        .filter(|agent| agent.installed)
        .flat_map(|agent| agent.read_dirs.iter().map(|dir| (agent.name, dir.clone(), true_path(dir))))
        .collect();
    for agent in agents.iter_mut().filter(|agent| agent.installed) {
        let Some(managed) = agent.managed_dir.clone() else { continue };
        let real = true_path(&managed);
        // Its own other folders count too, without a name: it then reads the same skill twice.
        let same: Vec<_> = read.iter().filter(|(_, dir, true_dir)| *dir != managed && *true_dir == real).collect();
        let Some((_, other, _)) = same.first() else { continue };
        let mut names: Vec<&str> = Vec::new();
        for (name, ..) in &same {
            if *name != agent.name && !names.contains(name) {
                names.push(name);
            }
        }
        let verb = if names.len() == 1 { "reads" } else { "read" };
        let readers = if names.is_empty() { String::new() } else { format!(", which {} {verb}", names.join(", ")) };
        agent.warnings.push(format!(
            "its skills folder {} is the same folder as {}{readers}: a skill enabled here shows there too",
            managed.display(),
            other.display()
        ));
    }
}

/// Fills in the versions: package.json files first, then up to four programs at a time through `probe`. Without
/// [`Search::scratch`] no program is asked, and what files and `cache` know is there at once. What they answer goes into `cache`.
/// `heard` is told of each one as it comes, with the agent's id, from several threads: a slow program withholds only its
/// own.
pub fn fill_versions(
    agents: &mut [Detected],
    env: &Env,
    search: &Search,
    cache: &mut VersionCache,
    probe: Probe<'_>,
    heard: &(dyn Fn(&'static str, &Version) + Sync),
) {
    let next = AtomicUsize::new(0);
    let known = &*cache;
    let shared = &*agents;
    let work = || {
        let mut done = Vec::new();
        while let Some(agent) = shared.get(next.fetch_add(1, Ordering::Relaxed)) {
            // What is known already is not asked again.
            if agent.version.is_some() {
                continue;
            }
            let version = find_version(agent, env, search, known, probe);
            heard(agent.id, &version);
            done.push((agent.id, version));
        }
        done
    };
    let mut results = thread::scope(|scope| {
        // Fewer threads than wanted are no fault: this thread works as well.
        let spawned: Vec<_> = (1..ASKED_AT_ONCE)
            .filter_map(|_| thread::Builder::new().name("version".to_owned()).spawn_scoped(scope, work).ok())
            .collect();
        let mut results = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
        // A probe that panics costs the rows of its thread, not the detection.
        results.extend(spawned.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        results
    });
    for agent in agents {
        let Some(at) = results.iter().position(|(id, _)| *id == agent.id) else { continue };
        let (_, version) = results.swap_remove(at);
        if let Some((key, answer)) = &version.learned {
            cache.put(key.clone(), answer);
        }
        version.put_into(agent);
    }
}

/// What was found out about one agent's version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The number alone.
    pub number: Option<String>,
    /// Where it came from.
    pub from: VersionFrom,
    /// The package.json that told it.
    pub file: Option<PathBuf>,
    /// What the caller should [`VersionCache::put`].
    pub learned: Option<(Key, Answer)>,
}

impl Version {
    /// Writes it into the row that it belongs to.
    pub fn put_into(&self, agent: &mut Detected) {
        let Some(number) = &self.number else { return };
        agent.version = Some(number.clone());
        agent.version_from = self.from;
        agent.how.push(match (&self.from, &self.file) {
            (VersionFrom::PackageJson, Some(file)) => format!("version {number} from {}", file.display()),
            (VersionFrom::Cache, _) => format!("version {number} as its --version said before"),
            _ => format!("version {number} from its --version"),
        });
    }
}

/// The version of one agent, for callers that show each as it comes: package.json, else the cache, else the
/// program itself through `probe` (up to its deadline). Safe to call from several threads.
pub fn find_version(agent: &Detected, env: &Env, search: &Search, cache: &VersionCache, probe: Probe<'_>) -> Version {
    let (Some(found), Some(adapter)) = (&agent.found, crate::adapter::by_id(agent.id)) else {
        return Version::default();
    };
    let home = env.home().unwrap_or_default();
    if let Some((number, file)) = from_package(found, adapter.about(), &home) {
        return Version { number: Some(number), from: VersionFrom::PackageJson, file: Some(file), learned: None };
    }
    // What a dispatcher says changes while its own file does not.
    let key = Key::of(&found.resolved).filter(|_| !is_dispatcher(found));
    match key.as_ref().map_or(Memory::Ask, |key| cache.get(key)) {
        Memory::Number(number) => {
            return Version { number: Some(number), from: VersionFrom::Cache, ..Version::default() };
        }
        Memory::Silent => return Version::default(),
        Memory::Ask => {}
    }
    let Some(scratch) = &search.scratch else { return Version::default() };
    let output = probe(&found.path, &probe_env(found, env, scratch));
    let answer = match output.as_deref().map(number_in) {
        Some(Some(number)) => Answer::Number(number),
        Some(None) => Answer::NoNumber,
        None => Answer::Nothing,
    };
    let number = match &answer {
        Answer::Number(number) => Some(number.clone()),
        _ => None,
    };
    let from = if number.is_some() { VersionFrom::Program } else { VersionFrom::Nowhere };
    Version { number, from, file: None, learned: key.map(|key| (key, answer)) }
}

/// The environment in which a program is asked: the person's, but with `scratch` as its home and temporary
/// folder and without any agent's override, so that nothing it writes lands in an agent's home.
fn probe_env(found: &Found, env: &Env, scratch: &Path) -> Env {
    let mut out = found.env(env);
    // The managers' shims find their own things through the home folder: pin those before it moves.
    if let Some(home) = env.home() {
        let pins = [
            ("VOLTA_HOME", ".volta"),
            ("ASDF_DATA_DIR", ".asdf"),
            ("MISE_DATA_DIR", ".local/share/mise"),
            ("MISE_CONFIG_DIR", ".config/mise"),
        ];
        for (name, dir) in pins {
            if env.get(name).is_none() && is_dir(&home.join(dir)) {
                out.set(name, home.join(dir));
            }
        }
    }
    for about in all().iter().map(|adapter| adapter.about()) {
        for name in about.overrides {
            out.remove(name);
        }
        for (name, value) in about.quiet {
            out.set(*name, *value);
        }
    }
    for name in ["HOME", "USERPROFILE", "TMPDIR"] {
        out.set(name, scratch);
    }
    let below = [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
        ("APPDATA", "AppData/Roaming"),
        ("LOCALAPPDATA", "AppData/Local"),
    ];
    for (name, dir) in below {
        out.set(name, scratch.join(dir));
    }
    out
}
