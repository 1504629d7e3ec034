//! The sessions of all agents wired to the system: where the index lies, what rows say, how text is told. The crate
//! `agents` decides what is read; the commands call this.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agents::Surroundings;
use agents::sessions::rows::{SessionRow, Turn};
use agents::sessions::{Library, Piece, Reads, Said, Session, Snapshot, Source, Turns};
use agents::text::Conversation;
use agents::usage::Costs;
use jiff::tz::TimeZone;
use sys::Failure;

use crate::context::Context;
use manage::aliases::{self, Aliases};

/// Everything that rows are made of.
pub struct History {
    /// The folder of the index.
    pub dir: PathBuf,
    /// The index.
    pub library: Library,
    /// What it says now.
    pub snapshot: Arc<Snapshot>,
    /// The person's names.
    pub aliases: Aliases,
    /// What it all costs, as far as that is known.
    pub costs: Costs,
    /// Sessions that are open now.
    pub live: HashSet<(&'static str, String)>,
}

impl History {
    /// Looks at every file and reads what changed.
    ///
    /// # Errors
    /// When no home folder is known, or the person's names cannot be read.
    pub fn load(context: &Context) -> Result<Self, Failure> {
        let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
        let dir = context.paths.data.join("index");
        let mut library = Library::open(&dir, &around);
        let snapshot = library.refresh(&AtomicBool::new(false), &|_| {});
        let live = agents::running::live(&around);
        let costs = Costs::here(context.config.usage.prices(), &around);
        Ok(Self { dir, library, snapshot, costs, aliases: aliases::load(&context.paths.data)?, live })
    }

    /// The one session that `given` means: its id, the beginning of it, `agent:id`, or the person's name for it.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn one(&self, given: &str) -> Result<&Session, Failure> {
        let named = self.aliases.iter().find(|(_, name)| *name == given).map(|(key, _)| key.as_str());
        let found = self.snapshot.find(named.unwrap_or(given));
        match found.as_slice() {
            [one] => Ok(one),
            [] => Err(Failure::new(format!("there is no session {}", sys::text::clean(given)))
                .hint("`lazyagents sessions` lists them")),
            several => {
                let failure = Failure::new(format!("{} may be several sessions", sys::text::clean(given)));
                let line = |session: &&Session| format!("{}:{}", session.agent, sys::text::clean(&session.id));
                Err(several.iter().take(10).map(line).fold(failure, Failure::hint))
            }
        }
    }

    /// The row of a session (json.md).
    pub fn row(&self, session: &Session) -> SessionRow {
        let stamp = |at: Option<i64>| at.and_then(|at| agents::usage::stamp(at, &TimeZone::UTC));
        let key = format!("{}:{}", session.agent, session.id);
        let reads = agents::adapter::by_id(session.agent).and_then(agents::Adapter::reads);
        SessionRow {
            agent: session.agent.to_owned(),
            id: session.id.clone(),
            title: session.title.clone().or_else(|| session.first_prompt.as_deref().map(first_line)),
            alias: self.aliases.get(&key).cloned(),
            first_prompt: session.first_prompt.clone(),
            cwd: session.cwd.clone(),
            started: stamp(session.started),
            updated: stamp(session.updated),
            live: self.live.contains(&(session.agent, session.id.clone())),
            archived: session.archived,
            models: session.models.clone(),
            prompts: session.prompts,
            tool_calls: session.tool_calls,
            failed_tool_calls: session.failed_tool_calls,
            subagents: session.subagents,
            compactions: session.compactions,
            usage: session.usage(),
            usage_by_role: session.by_role(),
            cost_usd: self.costs.of_session(session).map(agents::usage::dollars),
            path: session.path().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            resume: reads.and_then(|reads| reads.resume(&session.id)),
        }
    }

    /// Tells the turns of a session, those of its sub-agents behind its own.
    ///
    /// # Errors
    /// When a file of it cannot be read.
    pub fn tell(&self, session: &Session, each: &mut dyn FnMut(Turn)) -> Result<(), Failure> {
        let Some(reads) = agents::adapter::by_id(session.agent).and_then(agents::Adapter::reads) else { return Ok(()) };
        let mut turns = Turns::default();
        for source in telling(session) {
            let sink = &mut |piece| {
                turns.push(piece, &mut |_, turn| each(turn));
                ControlFlow::Continue(())
            };
            reads
                .tell_from(source, &session.id, 0, &self.dir, sink)
                .map_err(|why| Failure::new(format!("could not read {}", source.path.display())).cause(why))?;
            turns.end(&mut |_, turn| each(turn));
        }
        Ok(())
    }

    /// Tells the turns of a session, those of a sub-agent right behind the turn that started it, and those whose start is
    /// not told at the end. `each` ends it by breaking.
    ///
    /// # Errors
    /// When a file of it cannot be read.
    pub fn tell_nested(&self, session: &Session, each: &mut dyn FnMut(Turn) -> ControlFlow<()>) -> Result<(), Failure> {
        let Some(reads) = agents::adapter::by_id(session.agent).and_then(agents::Adapter::reads) else { return Ok(()) };
        let mut nest = Nest { reads, session, dir: &self.dir, waiting: Vec::new(), each };
        let mut own = Vec::new();
        for found in session.sources.iter().filter(|found| !found.aside) {
            if found.subagent {
                nest.waiting.push((nest.speaker(&found.source)?, &found.source));
            } else {
                own.push(&found.source);
            }
        }
        for source in own {
            if nest.tell(source)?.is_break() {
                return Ok(());
            }
        }
        while !nest.waiting.is_empty() {
            let (_, source) = nest.waiting.remove(0);
            if nest.tell(source)?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Every session as the text store wants it, the newest first.
    pub fn conversations(&self) -> Vec<Conversation<'_>> {
        conversations(&self.snapshot, &self.dir)
    }
}

/// Every session as the text store wants it, the newest first; `dir` is the folder of the index.
pub fn conversations<'a>(snapshot: &'a Snapshot, dir: &'a Path) -> Vec<Conversation<'a>> {
    snapshot.sessions.iter().filter_map(|session| conversation(session, dir)).collect()
}

/// A telling in which sub-agents come where they were started.
struct Nest<'a, 'e> {
    reads: &'static dyn Reads,
    session: &'a Session,
    dir: &'a Path,
    /// The files of sub-agents that were not told yet, by the sub-agent's id.
    waiting: Vec<(Option<String>, &'a Source)>,
    each: &'e mut dyn FnMut(Turn) -> ControlFlow<()>,
}

impl Nest<'_, '_> {
    fn read(&self, source: &Source, sink: &mut dyn FnMut(Piece) -> ControlFlow<()>) -> Result<(), Failure> {
        self.reads
            .tell_from(source, &self.session.id, 0, self.dir, sink)
            .map_err(|why| Failure::new(format!("could not read {}", source.path.display())).cause(why))
    }

    /// Which sub-agent speaks in a file.
    fn speaker(&self, source: &Source) -> Result<Option<String>, Failure> {
        let mut speaker = None;
        self.read(source, &mut |piece| {
            speaker = piece.subagent;
            ControlFlow::Break(())
        })?;
        Ok(speaker)
    }

    fn tell(&mut self, source: &Source) -> Result<ControlFlow<()>, Failure> {
        let reads = (self.reads, &self.session.id, self.dir);
        let mut turns = Turns::default();
        let mut started: Vec<(u64, String)> = Vec::new();
        let mut failed = None;
        let mut flow = ControlFlow::Continue(());
        let mut told = |turns: &mut Turns, piece: Option<Piece>| {
            let mut whole = Vec::new();
            if let Some(Piece { said: Said::Subagent { id, .. }, .. }) = &piece {
                started.push((turns.next_number().saturating_sub(1), id.clone()));
            }
            match piece {
                Some(piece) => turns.push(piece, &mut |number, turn| whole.push((number, turn))),
                None => turns.end(&mut |number, turn| whole.push((number, turn))),
            }
            for (number, turn) in whole {
                (self.each)(turn)?;
                let (now, later) = started.drain(..).partition(|(turn, _)| *turn <= number);
                started = later;
                let now: Vec<(u64, String)> = now;
                now.iter().try_for_each(|(_, id)| self.started(id, &mut failed))?;
            }
            ControlFlow::Continue(())
        };
        let sink = &mut |piece| {
            flow = told(&mut turns, Some(piece));
            flow
        };
        let read = reads.0.tell_from(source, reads.1, 0, reads.2, sink);
        read.map_err(|why| Failure::new(format!("could not read {}", source.path.display())).cause(why))?;
        if flow.is_continue() {
            flow = told(&mut turns, None);
        }
        failed.map_or(Ok(flow), Err)
    }

    /// Tells the sub-agent that was started, when it has files of its own.
    fn started(&mut self, id: &str, failed: &mut Option<Failure>) -> ControlFlow<()> {
        while let Some(at) = self.waiting.iter().position(|(known, _)| known.as_deref() == Some(id)) {
            let (_, source) = self.waiting.remove(at);
            match self.tell(source) {
                Ok(flow) => flow?,
                Err(failure) => {
                    *failed = Some(failure);
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }
}

fn conversation<'a>(session: &'a Session, scratch: &'a Path) -> Option<Conversation<'a>> {
    Some(Conversation {
        agent: session.agent,
        session: &session.id,
        cwd: session.cwd.as_deref(),
        updated: session.updated,
        sources: telling(session).collect(),
        reads: agents::adapter::by_id(session.agent)?.reads()?,
        scratch,
    })
}

/// The files that tell a session, in the order in which its turns are counted.
fn telling(session: &Session) -> impl Iterator<Item = &Source> {
    session.sources.iter().filter(|source| !source.aside).map(|source| &source.source)
}

/// A command for a POSIX shell, in its folder.
pub fn command_line(command: &[String], folder: Option<&str>) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let cd = folder.map(|folder| format!("cd {} && ", quoted(folder))).unwrap_or_default();
    format!("{cd}{}", words.join(" "))
}

/// One word for a POSIX shell; with what a terminal would obey in it, for bash, zsh and ksh (`$'...'`): it stays the
/// same word, and nothing of it reaches the terminal.
fn quoted(word: &str) -> String {
    if sys::text::clean(word) != word {
        let escaped = |c: char| match c {
            '\'' | '\\' => format!("\\{c}"),
            c if c.is_ascii() && !c.is_ascii_control() => c.to_string(),
            c if sys::text::clean(&c.to_string()) == c.to_string() => c.to_string(),
            c => c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
        };
        return format!("$'{}'", word.chars().map(escaped).collect::<String>());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The first line with words.
pub fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
