//! Adds up what all sources say: parts of one session to a session, a response in several files once, for the first of
//! them (report D3).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::family::{self, Keys};
use super::store::Entry;
use crate::adapter::by_id;
use crate::sessions::rows::SkippedRow;
use crate::sessions::source::AgentId;
use crate::sessions::{Facts, Part, Response, Role, Settlement, Source, Tokens, source};

/// Milliseconds of a slot: all offsets of time zones are multiples of it.
const SLOT: i64 = 15 * 60 * 1000;

/// Lengths of prompts, tokens, above which makers of models ask other prices (`usage/prices.json`).
pub const SIZES: [u64; 3] = [100_000, 200_000, 272_000];

/// How long the prompts of some responses were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Size {
    /// It is not told of each one.
    #[default]
    Unknown,
    /// Each had more tokens than this, which is 0 or one of [`SIZES`], and not more than the next one.
    Over(u64),
}

impl Size {
    /// The size of a response's prompt: all of its input. A record of several responses tells it only when even all of
    /// them together are short.
    fn of(tokens: &Tokens) -> Self {
        let prompt = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
        let over = SIZES.iter().rev().find(|size| prompt > **size).copied().unwrap_or(0);
        if over > 0 && tokens.requests > 1 { Self::Unknown } else { Self::Over(over) }
    }
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The agent's id.
    #[serde(with = "source::agent")]
    pub agent: AgentId,
    /// Its id, the agent's own.
    pub id: String,
    /// The best title; without one the first prompt says what it is about.
    pub title: Option<String>,
    /// The first thing that the person typed.
    pub first_prompt: Option<String>,
    /// The folder it was started in.
    pub cwd: Option<String>,
    /// The git branch that was checked out last.
    pub branch: Option<String>,
    /// Milliseconds since 1970.
    pub started: Option<i64>,
    /// Milliseconds since 1970.
    pub updated: Option<i64>,
    /// It lies in the agent's archive.
    pub archived: bool,
    /// In the order of first use.
    pub models: Vec<String>,
    /// What the person typed, times.
    pub prompts: u64,
    /// Tool calls of the main conversation.
    pub tool_calls: u64,
    /// Those of them that failed.
    pub failed_tool_calls: u64,
    /// Sub-agents.
    pub subagents: u64,
    /// Times it was replaced by a summary.
    pub compactions: u64,
    /// What was counted, by role, model, quarter of an hour and size.
    pub slots: Vec<Slot>,
    /// The files that hold it, the main one first.
    pub sources: Vec<SessionSource>,
}

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSource {
    /// The file.
    pub source: Source,
    /// It is a sub-agent's own.
    pub subagent: bool,
    /// It only adds to what other files say.
    pub aside: bool,
}

/// What was counted in one quarter of an hour (UTC).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Whose requests.
    pub role: Role,
    /// The position in [`Session::models`].
    pub model: Option<usize>,
    /// When the quarter began, milliseconds since 1970; `None` for responses without a time (report D9).
    pub start: Option<i64>,
    /// The first response in it.
    pub first: i64,
    /// The last one.
    pub last: i64,
    /// How long their prompts were.
    pub size: Size,
    /// Their tokens.
    pub tokens: Tokens,
    /// What the agent says they cost, millionths of a US dollar; `None` unless it says so of all of them.
    pub cost: Option<u64>,
}

impl Session {
    /// All that was counted.
    pub fn usage(&self) -> Tokens {
        self.slots.iter().map(|slot| slot.tokens).sum()
    }

    /// The same by role.
    pub fn by_role(&self) -> BTreeMap<Role, Tokens> {
        let mut roles: BTreeMap<Role, Tokens> = BTreeMap::new();
        for slot in &self.slots {
            roles.entry(slot.role).or_default().add(&slot.tokens);
        }
        roles.retain(|_, tokens| !tokens.is_empty());
        roles
    }

    /// The file that it is found by.
    pub fn path(&self) -> Option<&Path> {
        self.sources.first().map(|source| source.source.path.as_path())
    }
}

/// What became of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was counted.
    Counted,
    /// The same response is in this file, which comes first.
    Elsewhere(PathBuf),
    /// Another file tells the same better.
    Replaced,
}

/// Hears of a response: the file, the response, its model, and what became of it.
pub type Explained<'a> = dyn FnMut(&Path, &Response, Option<&str>, &Fate) + 'a;

/// One session's parts and where they stand.
struct Gathered<'e> {
    agent: &'static str,
    id: &'e str,
    parts: Vec<(&'e Part, &'e Entry)>,
}

/// A source and what it says.
pub(super) type Told<'e> = (&'e Entry, &'e Facts);

fn gather<'e>(told: &[Told<'e>]) -> Vec<Gathered<'e>> {
    let mut sessions: Vec<Gathered<'_>> = Vec::new();
    let mut by_id: HashMap<(&'static str, &str), usize> = HashMap::new();
    for (entry, facts) in told {
        for part in &facts.parts {
            let at = *by_id.entry((entry.agent, &part.session)).or_insert_with(|| {
                sessions.push(Gathered { agent: entry.agent, id: &part.session, parts: Vec::new() });
                sessions.len() - 1
            });
            sessions[at].parts.push((part, entry));
        }
    }
    for session in &mut sessions {
        // The main file first, then by time: what comes first has the say.
        session.parts.sort_by_key(|(part, _)| (part.subagent, part.aside, part.started.unwrap_or(i64::MAX)));
    }
    // In the order in which they began: a copy comes after its original.
    let began = |session: &Gathered<'_>| {
        let main = session.parts.iter().filter(|(part, _)| !part.subagent && !part.aside);
        main.filter_map(|(part, _)| part.started).min().unwrap_or(i64::MAX)
    };
    sessions.sort_by_cached_key(|session| {
        let path = session.parts.first().map(|(_, entry)| entry.source.path.clone());
        (session.agent, began(session), own_start(session), path)
    });
    sessions
}

/// When the file itself was begun: a copy has the times of its original, but its later responses are its own.
fn own_start(session: &Gathered<'_>) -> i64 {
    session.parts.iter().filter_map(|(part, _)| part.updated).max().unwrap_or(i64::MAX)
}

/// What some sources add up to.
pub(super) struct Merged {
    /// The sessions and their families, the newest first.
    pub(super) sessions: Vec<(Session, u32)>,
    /// The families of the sources.
    pub(super) families: Vec<u32>,
    /// What the families have in common.
    pub(super) keys: Keys,
}

/// Adds up sources whose families are all here, in the order of their names. The families are numbered from `first` on.
pub(super) fn merge(told: &[Told<'_>], first: u32) -> Merged {
    let (families, keys) = family::of(told.iter().map(|(entry, facts)| (entry.agent, *facts)), first);
    // A response has one owner within its family, and no other family has it.
    let mut seen: family::Hashed<()> = family::Hashed::default();
    let mut sessions = Vec::new();
    for gathered in gather(told) {
        let settled = settle(&gathered);
        let mut session = describe(&gathered);
        let family = keys.family(family::session(gathered.agent, gathered.id)).unwrap_or(first);
        let salt = Response::key(&family.to_le_bytes());
        let mut slots: BTreeMap<(Option<i64>, Role, Option<usize>, Size), Slot> = BTreeMap::new();
        each_response(&gathered, &settled, |_, response, model, replaced| {
            if replaced || response.key != 0 && seen.insert(response.key ^ salt, ()).is_some() {
                return;
            }
            let model = model.map(|name| place(&mut session.models, name));
            let at = response.at;
            let start = at.map(|at| at.div_euclid(SLOT) * SLOT);
            let size = Size::of(&response.tokens);
            let slot = slots.entry((start, response.role, model, size)).or_insert_with(|| Slot {
                role: response.role,
                model,
                start,
                size,
                first: at.unwrap_or(0),
                last: at.unwrap_or(0),
                cost: Some(0),
                ..Slot::default()
            });
            if let Some(at) = at {
                slot.first = slot.first.min(at);
                slot.last = slot.last.max(at);
            }
            slot.tokens.add(&response.tokens);
            slot.cost = slot.cost.zip(response.cost).map(|(sum, cost)| sum.saturating_add(cost));
        });
        session.slots = slots.into_values().collect();
        // A log alone, or a sub-agent whose parent is gone, is no row.
        if gathered.parts.iter().any(|(part, _)| !part.aside && !part.subagent) {
            sessions.push((session, family));
        }
    }
    sort(&mut sessions);
    Merged { sessions, families, keys }
}

/// The newest first.
pub(super) fn sort(sessions: &mut [(Session, u32)]) {
    sessions.sort_by(|(a, _), (b, _)| {
        b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)).then_with(|| a.agent.cmp(b.agent))
    });
}

fn settle(gathered: &Gathered<'_>) -> Settlement {
    let parts: Vec<&Part> = gathered.parts.iter().map(|(part, _)| *part).collect();
    by_id(gathered.agent).and_then(|adapter| Some(adapter.reads()?.settle(&parts))).unwrap_or_default()
}

/// Every response of a session with its model's name, and whether another part tells it better.
fn each_response<'e>(
    gathered: &Gathered<'e>,
    settled: &Settlement,
    mut each: impl FnMut(&'e Entry, &Response, Option<&str>, bool),
) {
    for (at, (part, entry)) in gathered.parts.iter().enumerate() {
        let instead = settled.instead_of.contains(&at);
        for (index, response) in part.responses.iter().enumerate() {
            let replaced = instead || settled.without.contains(&(at, index));
            let model = response.model.and_then(|model| part.models.get(usize::from(model)));
            each(entry, response, model.map(String::as_str), replaced);
        }
    }
    // The model of what was added is a number of the part that claims it.
    let claiming = gathered.parts.iter().rev().find(|(part, _)| !part.claims.is_empty()).or(gathered.parts.first());
    if let Some((part, entry)) = claiming {
        for response in &settled.more {
            let model = response.model.and_then(|model| part.models.get(usize::from(model)));
            each(entry, response, model.map(String::as_str), false);
        }
    }
}

fn place(models: &mut Vec<String>, name: &str) -> usize {
    models.iter().position(|known| known == name).unwrap_or_else(|| {
        models.push(name.to_owned());
        models.len() - 1
    })
}

fn describe(gathered: &Gathered<'_>) -> Session {
    let mut session = Session { agent: gathered.agent, id: gathered.id.to_owned(), ..Session::default() };
    let (mut rank, mut subagents) = (0, Vec::new());
    let mut prompt_at = None;
    for (part, entry) in &gathered.parts {
        subagents.extend(part.subagents.iter());
        session.started = [session.started, part.started].into_iter().flatten().min();
        session.updated = session.updated.max(part.updated);
        let source = entry.source.clone();
        session.sources.push(SessionSource { source, subagent: part.subagent, aside: part.aside });
        for model in &part.models {
            place(&mut session.models, model);
        }
        if part.subagent {
            continue;
        }
        session.archived |= entry.source.archived || part.archived;
        session.cwd = session.cwd.or_else(|| part.cwd.clone());
        session.branch = part.branch.clone().or(session.branch);
        session.prompts += part.prompts;
        session.tool_calls += part.tool_calls;
        session.failed_tool_calls += part.failed_tool_calls;
        session.compactions += part.compactions;
        if let Some(title) = part.title.as_ref().filter(|title| title.rank >= rank) {
            rank = title.rank;
            session.title = Some(title.text.clone());
        }
        if let Some(prompt) = &part.first_prompt
            && (session.first_prompt.is_none() || prompt.at.is_some() && prompt.at < prompt_at)
        {
            prompt_at = prompt.at;
            session.first_prompt = Some(prompt.text.clone());
        }
    }
    subagents.sort_unstable();
    subagents.dedup();
    session.subagents = subagents.len() as u64;
    session
}

/// What was left out of the sources.
pub(super) fn skipped(entries: &[Entry]) -> Vec<SkippedRow> {
    let mut rows = Vec::new();
    for entry in entries {
        let path = || entry.source.path.to_string_lossy().into_owned();
        if let Some(why) = &entry.failed {
            rows.push(SkippedRow { path: path(), lines: 0, why: why.clone() });
        }
        rows.extend(entry.skipped.iter().map(|skip| SkippedRow {
            path: path(),
            lines: skip.lines,
            why: skip.why.clone(),
        }));
    }
    rows
}

/// Tells `each` what became of every response of `session`; `told` is its family.
pub(super) fn explain(told: &[Told<'_>], session: &Session, each: &mut Explained<'_>) {
    let mut owners: HashMap<(&'static str, u64), &Path> = HashMap::new();
    for gathered in gather(told) {
        let settled = settle(&gathered);
        let asked = gathered.agent == session.agent && gathered.id == session.id;
        each_response(&gathered, &settled, |entry, response, model, replaced| {
            let path = entry.source.path.as_path();
            let first = (response.key != 0).then(|| owners.get(&(gathered.agent, response.key)).copied()).flatten();
            let fate = match first {
                Some(first) => Fate::Elsewhere(first.to_owned()),
                None if replaced => Fate::Replaced,
                None => Fate::Counted,
            };
            owners.entry((gathered.agent, response.key)).or_insert(path);
            if asked {
                each(path, response, model, &fate);
            }
        });
    }
}
