//! Conversations are put into the trash: planned as a list of exactly what goes, then done as one step that happens or
//! does not (lazyagents.md, Sessions and Safety). What belongs to a session the adapters say; what is open is refused;
//! an agent with a database is asked to write the conversation out and to forget it itself. The commands call it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agents::sessions::{Export, Removal, Session, removal};
use agents::{Adapter, Capability, Surroundings};
use sys::proc::{self, Cancel, Limits};
use sys::text::clean_lines;
use sys::{Env, Failure};

use sys::files::journal::{Exact, Journal, Step};
use sys::files::trash::{Entry, ItemKind, Trash, What, size};

/// How long an agent may take for one command: the first start of some installs things (agent-formats.md, OpenCode).
const COMMAND_WITHIN: Duration = Duration::from_secs(180);
/// The longest conversation that an agent may print, bytes.
const LONGEST_EXPORT: usize = 512 << 20;

/// What the deletion of one session does.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The agent's id.
    pub agent: &'static str,
    /// The session's id.
    pub id: String,
    /// What it is about, for people. From outside.
    pub title: String,
    /// What goes into the trash.
    pub paths: Vec<Listed>,
    /// How, and what stays.
    pub removal: Removal,
    /// The folder it was started in.
    folder: Option<PathBuf>,
}

/// One file or folder that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// It is a folder.
    pub folder: bool,
    /// How many files it holds, itself included when it is one.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// When it was last changed.
    changed: Option<SystemTime>,
}

impl Listed {
    fn of(path: PathBuf) -> Self {
        let metadata = path.symlink_metadata().ok();
        let (files, bytes) = size(&path);
        let folder = metadata.as_ref().is_some_and(std::fs::Metadata::is_dir);
        Self { folder, files, bytes, changed: metadata.and_then(|metadata| metadata.modified().ok()), path }
    }
}

impl Plan {
    /// What the deletion of `session` would do. `scratch` is a folder of ours for a copy of a database.
    ///
    /// # Errors
    /// When it cannot be deleted, with the reason: it is open, its agent has no way to, or what the agent says belongs to
    /// it lies elsewhere.
    pub fn of(session: &Session, title: &str, around: &Surroundings, scratch: &Path) -> Result<Self, Failure> {
        let key = format!("{}:{}", session.agent, session.id);
        let refused = |why: String| Failure::new(format!("could not delete {key}")).cause(why);
        let adapter =
            agents::adapter::by_id(session.agent).ok_or_else(|| refused("its agent is unknown".to_owned()))?;
        let folder = session.cwd.as_deref().map(PathBuf::from);
        closed(adapter, around, &session.id, folder.as_deref())?;
        let reads = adapter.reads().ok_or_else(|| refused("its agent cannot be read".to_owned()))?;
        let sources: Vec<_> = session.sources.iter().map(|source| &source.source).collect();
        let found = reads.removal(around, &session.id, &sources, scratch).map_err(refused)?;
        let places = adapter.places(around);
        if let Some(path) = found.paths.iter().find(|path| !removal::within(&places, path)) {
            return Err(refused(format!("{} is not in a folder of the agent", path.display())));
        }
        if found.paths.is_empty() && found.command.is_none() {
            return Err(refused("none of its files is there any more".to_owned()));
        }
        if let Some(words) = &found.command {
            program(adapter, around, words)?;
        }
        let paths = found.paths.iter().cloned().map(Listed::of).collect();
        Ok(Self {
            agent: session.agent,
            id: session.id.clone(),
            title: title.to_owned(),
            paths,
            removal: found,
            folder,
        })
    }

    /// `agent:id`.
    pub fn key(&self) -> String {
        format!("{}:{}", self.agent, self.id)
    }

    /// Does it: everything that is listed is in the trash afterwards and the agent does not know the session any more, or
    /// everything is as it was.
    ///
    /// # Errors
    /// When the session was opened or changed since it was listed, a file cannot be moved, or the agent's command fails.
    /// The failure says whether everything is as before, and what is kept where if it cannot be known.
    pub fn apply(&self, around: &Surroundings, trash: &Trash, cancel: &Cancel) -> Result<Entry, Failure> {
        let adapter = agents::adapter::by_id(self.agent).ok_or_else(|| Failure::new("its agent is unknown"))?;
        closed(adapter, around, &self.id, self.folder.as_deref())?;
        if let Some(changed) = self.paths.iter().find(|listed| Listed::of(listed.path.clone()) != **listed) {
            return Err(Failure::new(format!("could not delete {}", self.key()))
                .cause(format!("{} has changed since it was listed", changed.path.display()))
                .hint("nothing was deleted; close whatever writes to it and try again"));
        }
        let what = What { kind: "session".to_owned(), key: self.key(), title: self.title.clone() };
        let name = format!("{}-{}", self.agent, self.id);
        let Some(command) = &self.removal.command else {
            let paths: Vec<PathBuf> = self.paths.iter().map(|listed| listed.path.clone()).collect();
            return trash.put(what, &name, &paths);
        };
        let mut filling = trash.begin(what, &name)?;
        let kept = self.paths.iter().try_for_each(|listed| filling.copy(&listed.path)).and_then(|()| {
            self.removal.exports.iter().try_for_each(|export| {
                let bytes = whole(run(adapter, around, &export.export, None, cancel)?, export)?;
                let folder = if export.folder.is_absolute() { &export.folder } else { around.home() };
                filling.keep(&format!("{}.json", export.id), &bytes, export.import.clone(), folder)
            })
        });
        if let Err(failure) = kept {
            return Err(filling.undo(failure));
        }
        if let Err(failure) = run(adapter, around, command, None, cancel) {
            if self.removal.exports.is_empty() {
                return Err(filling.undo(failure));
            }
            // Only the agent knows how far it came, so what it wrote out stays.
            let failure = failure.hint(format!("whether {} still has it, its own list says", self.agent));
            return Err(match filling.finish() {
                Ok(entry) => failure.hint(format!("what it wrote out is in the trash as {}", entry.id)),
                Err(other) => failure.hint(other.to_string()),
            });
        }
        let rest = filling.take_rest();
        let entry = filling.finish()?;
        rest.map(|()| entry)
    }
}

/// Writes a deletion down in the history, so that `undo` brings it back. The trash has it already: when this cannot be
/// written, only the number is missing.
///
/// # Errors
/// When another process holds the journal for too long, or it cannot be written.
pub fn remember(journal: &Journal, entry: &Entry) -> Result<u64, Failure> {
    let moved = entry.items.iter().filter(|item| item.kind != ItemKind::Export);
    let paths = moved.map(|item| Exact(item.path.clone())).collect();
    let step = Step::Trash { entry: entry.id.clone(), paths };
    let title = if entry.what.title.is_empty() { String::new() } else { format!(": {}", entry.what.title) };
    journal.open("lazyagents sessions delete")?.note(&format!("delete {}{title}", entry.what.key), vec![step])
}

/// Reads an export of the trash back through the agent that wrote it.
///
/// # Errors
/// When the folder it belongs to is gone, or the agent's command fails.
pub fn import(
    key: &str,
    words: &[String],
    folder: &Path,
    file: &Path,
    around: &Surroundings,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let agent = key.split(':').next().unwrap_or_default();
    let adapter = agents::adapter::by_id(agent).ok_or_else(|| Failure::new("its agent is unknown"))?;
    // The manifest is only a file: what it may have started is the agent's own program.
    if words.first().is_none_or(|name| !adapter.about().programs.contains(&name.as_str())) {
        return Err(Failure::new(format!("could not restore {key}")).cause("its command is none of the agent"));
    }
    if !folder.is_dir() {
        return Err(Failure::new(format!("could not restore {key}"))
            .cause(format!("the folder {} is gone", folder.display()))
            .hint("make it again: the agent takes the conversation's folder from where it reads it back"));
    }
    let mut words = words.to_vec();
    words.push(file.to_string_lossy().into_owned());
    run(adapter, around, &words, Some(folder), cancel).map(drop)
}

/// Refuses a session that a process of its agent has open, as far as that can be told.
fn closed(adapter: &dyn Adapter, around: &Surroundings, id: &str, folder: Option<&Path>) -> Result<(), Failure> {
    let about = adapter.about();
    let refused = |why: String| {
        Failure::new(format!("could not delete {}:{id}", about.id)).cause(why).hint("end it there and try again")
    };
    let live = adapter.reads().map(|reads| reads.live(&adapter.places(around))).unwrap_or_default();
    if live.iter().any(|open| open == id) {
        return Err(refused(format!("{} has it open", about.name)));
    }
    if about.can.contains(&Capability::Live) {
        return Ok(());
    }
    let running = folder.map(|folder| agents::running::in_folder(about.programs, folder)).unwrap_or_default();
    match running.first() {
        Some(pid) => Err(refused(format!("{} runs in its folder (process {pid}) and may have it open", about.name))),
        None => Ok(()),
    }
}

fn program(adapter: &dyn Adapter, around: &Surroundings, words: &[String]) -> Result<PathBuf, Failure> {
    let name = words.first().map(String::as_str).unwrap_or_default();
    let own = adapter.places(around).program_dirs;
    let own = own.into_iter().map(|dir| dir.join(name)).find(|path| path.is_file());
    proc::which(name.as_ref(), around.env()).or(own).ok_or_else(|| {
        Failure::new(format!("{} has to forget the session itself", adapter.about().name))
            .cause(format!("{name} was not found in PATH"))
    })
}

/// Runs a command of the agent to its end; gives what it printed.
fn run(
    adapter: &dyn Adapter,
    around: &Surroundings,
    words: &[String],
    dir: Option<&Path>,
    cancel: &Cancel,
) -> Result<Vec<u8>, Failure> {
    let program = program(adapter, around, words)?;
    let mut env: Env = around.env().clone();
    for (name, value) in adapter.about().quiet {
        env.set(name, value);
    }
    let spec = proc::Spec {
        program: program.into(),
        args: words.iter().skip(1).map(Into::into).collect(),
        dir: Some(dir.unwrap_or(around.home()).to_owned()),
        env,
    };
    let limits = Limits { deadline: Some(COMMAND_WITHIN), output: LONGEST_EXPORT, merged: false };
    let done = proc::run(&spec, &limits, cancel)?;
    let failed = |why: String| Failure::new(format!("`{}` failed", words.join(" "))).cause(why);
    if done.cancelled {
        return Err(Failure::cancelled(format!("`{}` was interrupted", words.join(" "))));
    }
    if done.timed_out {
        return Err(failed(format!("it took longer than {} s", COMMAND_WITHIN.as_secs())));
    }
    if !done.exit.ok() {
        let said = clean_lines(&String::from_utf8_lossy(&done.stderr));
        let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned();
        return Err(failed(if said.is_empty() { done.exit.to_string() } else { format!("{}: {said}", done.exit) }));
    }
    if done.stdout.len() >= LONGEST_EXPORT {
        return Err(failed("it printed more than can be kept".to_owned()));
    }
    Ok(done.stdout)
}

/// What the agent printed, when it is whole and of that conversation.
fn whole(bytes: Vec<u8>, export: &Export) -> Result<Vec<u8>, Failure> {
    let failed =
        |why: &str| Failure::new(format!("could not keep the conversation {}", export.id)).cause(why.to_owned());
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|_| failed("what the agent wrote out is no JSON"))?;
    if value.pointer(export.id_at).and_then(serde_json::Value::as_str) != Some(export.id.as_str()) {
        return Err(failed("what the agent wrote out is another conversation"));
    }
    Ok(bytes)
}
