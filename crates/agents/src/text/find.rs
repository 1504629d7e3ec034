//! The search: session by session, newest first, in the store where it has them and in the files where it does not.
//! It only reads. Two threads look; what they find is handed out in order by the one that asked.

use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use rusqlite::Connection;

use super::chunk::{self, Entry};
use super::query::{Needle, Query};
use super::raw::Look;
use super::slab::{self, Spot};
use super::store::{self, Doc, DocKey, Docs, Store};
use super::{Conversation, extract, fold};
use crate::sessions::{Numbering, Source, Speaker};

/// Conversations that a thread takes at once.
const BATCH: usize = 16;

/// What to do about sources that the store does not have as they are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Read the files: slower, complete.
    Scan,
    /// Take what the store has of them, and say so in the [`Outcome`].
    Leave,
}

/// A session in which all words occur in one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its position among the conversations that were searched.
    pub conversation: usize,
    /// Matches of all words in all those turns.
    pub hits: u64,
    /// The first places, in the order of the turns.
    pub excerpts: Vec<Excerpt>,
}

/// A place where words were found. The text is as the agent's file has it: clean it before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The turn, from 0, as in `sessions show --json`.
    pub turn: u64,
    /// Who said it.
    pub role: Speaker,
    /// The tool that was called or answered.
    pub tool: Option<String>,
    /// The words around.
    pub text: String,
    /// The matches in it, bytes, in order.
    pub matches: Vec<Range<usize>>,
    /// True when text before, or behind, is left out.
    pub cut: (bool, bool),
}

/// What a search covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Sessions that were searched as they are now.
    pub searched: u64,
    /// Those of them that the store has as they are now.
    pub stored: u64,
    /// Sessions that the filters leave to be searched.
    pub of: u64,
    /// Sessions found.
    pub found: u64,
    /// The search ended early: it was cancelled, the sink had enough, or the limit was reached.
    pub ended_early: bool,
    /// What could not be read, for people.
    pub problems: Vec<String>,
}

impl Store {
    /// Searches `conversations` in their order. `sink` gets every session found and may end it. `cancel` ends it
    /// within milliseconds (a long file that is being told: within one piece).
    pub fn search(
        &self,
        conversations: &[Conversation<'_>],
        query: &Query,
        rest: Rest,
        cancel: &AtomicBool,
        sink: &mut dyn FnMut(Hit) -> ControlFlow<()>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let needles = match query.words.iter().map(|word| Needle::of(word)).collect::<Result<Vec<_>, _>>() {
            Ok(needles) if !needles.is_empty() && needles.len() <= 64 => needles,
            Ok(_) => return outcome,
            Err(why) => {
                outcome.problems.push(why);
                return outcome;
            }
        };
        let wanted: Vec<usize> = (0..conversations.len()).filter(|at| query.admits(&conversations[*at])).collect();
        outcome.of = wanted.len() as u64;
        let candidates = self.reader().and_then(|db| candidates(&db, conversations, &needles).ok());
        let Candidates { docs, whole, chunks } = candidates.unwrap_or_default();
        let stop = AtomicBool::new(false);
        let search = Search {
            store: self,
            conversations,
            query,
            needles: &needles,
            rest,
            docs: &docs,
            whole,
            chunks: &chunks,
            cancel,
            stop: &stop,
        };
        search.run(&wanted, &mut outcome, sink);
        outcome
    }
}

/// Chunks that may hold some of the words, by document: their place, and which words, a bit for each.
type Chunks = HashMap<i64, Vec<(Spot, u64)>>;

/// What the store says before anything is unpacked.
#[derive(Default)]
struct Candidates {
    docs: Docs,
    /// The store has exactly what is searched, and `docs` only those that may hold something.
    whole: bool,
    chunks: Chunks,
}

/// The documents, and which of their chunks may hold some of the words.
fn candidates(db: &Connection, all: &[Conversation<'_>], needles: &[Needle]) -> rusqlite::Result<Candidates> {
    /// Documents that are fetched one by one rather than all at once.
    const FEW: usize = 1_000;
    db.execute_batch("BEGIN")?;
    let mut chunks = Chunks::new();
    let words: Vec<&[u16]> = needles.iter().map(|needle| needle.grams.as_slice()).collect();
    slab::search(db, &words, |spot, mask| chunks.entry(spot.doc).or_default().push((spot, mask)))?;
    let mut get = db.prepare("SELECT doc, seq, first, last, bits FROM filter")?;
    let mut rows = get.query([])?;
    while let Some(row) = rows.next()? {
        let bits = row.get_ref(4)?.as_blob()?;
        let mut mask = 0;
        for (at, grams) in words.iter().enumerate() {
            mask |= u64::from(fold::may_hold(bits, grams)) << at;
        }
        if mask != 0 {
            let spot = Spot { doc: row.get(0)?, seq: row.get(1)?, first: row.get(2)?, last: row.get(3)? };
            chunks.entry(spot.doc).or_default().push((spot, mask));
        }
    }
    let whole = chunks.len() < FEW && store::is_whole(db, all)?;
    let docs = if whole { store::docs_of(db, chunks.keys())? } else { store::docs(db)? };
    Ok(Candidates { docs, whole, chunks })
}

impl Query {
    fn admits(&self, conversation: &Conversation<'_>) -> bool {
        self.agent.as_deref().is_none_or(|agent| agent.eq_ignore_ascii_case(conversation.agent))
            && self.since.is_none_or(|since| conversation.updated.is_some_and(|updated| updated >= since))
            && self.project.as_deref().is_none_or(|project| {
                conversation.cwd.is_some_and(|cwd| cwd.to_lowercase().contains(&project.to_lowercase()))
            })
    }

    fn admits_entry(&self, speaker: Speaker, tool: &str) -> bool {
        self.role.is_none_or(|role| role == speaker && tool.is_empty())
            && self.tool.as_deref().is_none_or(|wanted| tool.eq_ignore_ascii_case(wanted))
    }
}

struct Search<'a> {
    store: &'a Store,
    conversations: &'a [Conversation<'a>],
    query: &'a Query,
    needles: &'a [Needle],
    rest: Rest,
    docs: &'a Docs,
    /// Documents that are not listed are as they are now, and have nothing.
    whole: bool,
    chunks: &'a Chunks,
    cancel: &'a AtomicBool,
    stop: &'a AtomicBool,
}

/// What came of one conversation.
#[derive(Default)]
struct Looked {
    hit: Option<Hit>,
    covered: bool,
    stored: bool,
    problems: Vec<String>,
}

impl Search<'_> {
    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn run(&self, wanted: &[usize], outcome: &mut Outcome, sink: &mut dyn FnMut(Hit) -> ControlFlow<()>) {
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(2)).min(wanted.len());
        std::thread::scope(|scope| {
            let (to, from) = sync_channel(256);
            for _ in 0..threads {
                let (to, next) = (to.clone(), &next);
                scope.spawn(move || {
                    let mut looker = Looker::new(self.store.reader(), self);
                    while !self.cancelled() {
                        let at = next.fetch_add(BATCH, Ordering::Relaxed);
                        let some = wanted.get(at..wanted.len().min(at + BATCH)).unwrap_or_default();
                        let looked: Vec<Looked> = some.iter().map_while(|one| looker.look_at(*one)).collect();
                        // A thread that waits is woken for many at once, or as soon as something was found.
                        if looked.is_empty() || to.send((at, looked)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(to);
            // What was found too early for its place.
            let mut early = BTreeMap::new();
            let mut turn = 0;
            'all: for (at, looked) in from {
                early.insert(at, looked);
                while let Some(some) = early.remove(&turn) {
                    for looked in some {
                        turn += 1;
                        if self.hand_out(looked, outcome, sink).is_break() {
                            self.stop.store(true, Ordering::Relaxed);
                            break 'all;
                        }
                    }
                }
                if self.cancelled() {
                    break;
                }
            }
            outcome.ended_early = turn < wanted.len();
        });
    }

    fn hand_out(
        &self,
        looked: Looked,
        outcome: &mut Outcome,
        sink: &mut dyn FnMut(Hit) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        outcome.searched += u64::from(looked.covered);
        outcome.stored += u64::from(looked.stored);
        outcome.problems.extend(looked.problems.into_iter().take(100_usize.saturating_sub(outcome.problems.len())));
        if let Some(hit) = looked.hit {
            outcome.found += 1;
            sink(hit)?;
            if outcome.found >= self.query.limits.sessions as u64 {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

/// One thread's share of a search.
struct Looker<'a> {
    db: Option<Connection>,
    search: &'a Search<'a>,
    look: Look,
    raw: Vec<u8>,
}

/// The turns of one source in which words were found.
type Turns = BTreeMap<u64, Matched>;

#[derive(Default)]
struct Matched {
    /// Which words, a bit each.
    mask: u64,
    hits: u64,
    excerpts: Vec<Excerpt>,
}

impl<'a> Looker<'a> {
    fn new(db: Option<Connection>, search: &'a Search<'a>) -> Self {
        // One look at the database as it is now: without a transaction each question would lock and unlock it.
        let db = db.filter(|db| db.execute_batch("BEGIN").is_ok());
        Self { db, search, look: Look::new(), raw: Vec::new() }
    }

    /// `None` when it was cancelled meanwhile.
    fn look_at(&mut self, at: usize) -> Option<Looked> {
        let looked = self.look(at);
        (!self.search.cancelled()).then_some(looked)
    }

    fn look(&mut self, at: usize) -> Looked {
        let conversation = &self.search.conversations[at];
        let mut looked = Looked { covered: true, stored: true, ..Looked::default() };
        let mut hit = Hit { conversation: at, hits: 0, excerpts: Vec::new() };
        for (nth, source) in conversation.sources.iter().enumerate() {
            let doc = self.search.docs.get(&DocKey::of(conversation, source)).filter(|doc| doc.done);
            let turns = self.source(conversation, source, doc, &mut looked);
            if self.search.cancelled() {
                return looked;
            }
            if turns.is_empty() {
                continue;
            }
            let base = self.turns_before(conversation, nth);
            for (turn, matched) in turns {
                hit.hits += matched.hits;
                let room = self.search.query.limits.excerpts.saturating_sub(hit.excerpts.len());
                hit.excerpts.extend(matched.excerpts.into_iter().take(room).map(|mut excerpt| {
                    excerpt.turn = base + turn;
                    excerpt
                }));
            }
        }
        looked.hit = (hit.hits > 0).then_some(hit);
        looked
    }

    /// The turns of one source that match, from the store or from the file.
    fn source(
        &mut self,
        conversation: &Conversation<'_>,
        source: &Source,
        doc: Option<&Doc>,
        looked: &mut Looked,
    ) -> Turns {
        if doc.is_none() && self.search.whole {
            return Turns::new();
        }
        let fresh = doc.is_some_and(|doc| doc.fresh(source));
        if let Some(doc) = doc
            && (fresh || self.search.rest == Rest::Leave)
            && let Some(turns) = self.stored(doc)
        {
            looked.covered &= fresh;
            looked.stored &= fresh;
            return turns;
        }
        looked.stored = false;
        if self.search.rest == Rest::Leave {
            looked.covered = false;
            return Turns::new();
        }
        let search = self.search;
        if !self.look.may_hold(source, search.needles, &|| search.cancelled()) {
            return Turns::new();
        }
        self.told(conversation, source).unwrap_or_else(|why| {
            looked.covered = false;
            looked.problems.push(why);
            Turns::new()
        })
    }

    /// Searches a document of the store; `None` when it is not there any more, or damaged.
    fn stored(&mut self, doc: &Doc) -> Option<Turns> {
        let groups = self.groups(doc);
        if groups.is_empty() {
            return Some(Turns::new());
        }
        let db = self.db.as_ref()?;
        if !store::same(db, doc).ok()? {
            return None;
        }
        let mut get = db.prepare_cached("SELECT packed FROM chunk WHERE doc = ?1 AND seq = ?2").ok()?;
        let mut found = Turns::new();
        let (query, needles, raw) = (self.search.query, self.search.needles, &mut self.raw);
        for group in groups {
            let mut turns = Turns::new();
            for seq in group {
                if self.search.cancelled() {
                    return Some(found);
                }
                let whole = get.query_row([doc.id, seq], |row| {
                    let packed = row.get_ref(0)?.as_blob()?;
                    Ok(chunk::unpack(packed, raw, &mut |entry| compare(&entry, query, needles, &mut turns)))
                });
                if !matches!(whole, Ok(true)) {
                    return None;
                }
            }
            keep_full(&mut turns, needles.len());
            found.append(&mut turns);
        }
        Some(found)
    }

    /// Groups of chunks that may hold turns with all words. Turns never reach from one group into another: those that a
    /// turn is in follow each other, and have it in their span.
    fn groups(&self, doc: &Doc) -> Vec<Vec<i64>> {
        let mut chunks: Vec<(Spot, u64)> = self.search.chunks.get(&doc.id).cloned().unwrap_or_default();
        // What was written over, or never finished, may be told of as well.
        chunks.retain(|(spot, _)| spot.seq.cast_unsigned() < doc.chunks);
        chunks.sort_by_key(|(spot, _)| spot.seq);
        let full = full_mask(self.search.needles.len());
        let (mut groups, mut group, mut all, mut end) = (Vec::new(), Vec::new(), 0, i64::MIN);
        for (spot, mask) in chunks {
            if spot.first > end {
                let done = std::mem::take(&mut group);
                if all == full {
                    groups.push(done);
                }
                all = 0;
            }
            if group.last() != Some(&spot.seq) {
                group.push(spot.seq);
            }
            all |= mask;
            end = end.max(spot.last);
        }
        if all == full {
            groups.push(group);
        }
        groups
    }

    /// Searches a source by having it told.
    fn told(&self, conversation: &Conversation<'_>, source: &Source) -> Result<Turns, String> {
        let search = self.search;
        let mut numbering = Numbering::default();
        let mut turns = Turns::new();
        conversation.tell(source, 0, &mut |piece| {
            extract::text(&mut numbering, &piece, &mut |turn, speaker, tool, text| {
                for entry in chunk::split(turn, speaker, tool, text) {
                    compare(&entry, search.query, search.needles, &mut turns);
                }
            });
            if search.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        keep_full(&mut turns, search.needles.len());
        Ok(turns)
    }

    /// Turns of the conversation's sources before the `nth`. Sources that the store lacks are told to be counted.
    fn turns_before(&self, conversation: &Conversation<'_>, nth: usize) -> u64 {
        let mut turns = 0;
        for source in &conversation.sources[..nth] {
            let key = DocKey::of(conversation, source);
            let doc = self.search.docs.get(&key);
            let whole = self.db.as_ref().filter(|_| doc.is_none() && self.search.whole);
            if let Some(Ok(Some(known))) = whole.map(|db| store::turns(db, &key)) {
                turns += known;
                continue;
            }
            turns += match doc.filter(|doc| doc.fresh(source) || (doc.done && self.search.rest == Rest::Leave)) {
                Some(doc) => doc.turns,
                None => {
                    let mut numbering = Numbering::default();
                    // What cannot be read has no turns for anyone.
                    let _ = conversation.tell(source, 0, &mut |piece| {
                        numbering.place(&piece);
                        if self.search.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                    numbering.turns()
                }
            };
        }
        turns
    }
}

fn full_mask(needles: usize) -> u64 {
    if needles >= 64 { u64::MAX } else { (1 << needles) - 1 }
}

/// Drops the turns in which a word is missing.
fn keep_full(turns: &mut Turns, needles: usize) {
    let full = full_mask(needles);
    turns.retain(|_, matched| matched.mask == full);
}

/// Looks for the words in one entry and adds what is there to its turn.
fn compare(entry: &Entry<'_>, query: &Query, needles: &[Needle], turns: &mut Turns) {
    if !query.admits_entry(entry.speaker, entry.tool) {
        return;
    }
    let mut first: Option<Range<usize>> = None;
    let (mut mask, mut hits) = (0, 0);
    for (at, needle) in needles.iter().enumerate() {
        for found in needle.text.find_iter(entry.text).take_while(|found| found.start() < entry.own) {
            mask |= 1 << at;
            hits += 1;
            if first.as_ref().is_none_or(|first| found.start() < first.start) {
                first = Some(found.range());
            }
        }
    }
    let Some(first) = first else { return };
    let matched = turns.entry(entry.turn).or_default();
    matched.mask |= mask;
    matched.hits += hits;
    if matched.excerpts.len() < query.limits.excerpts {
        matched.excerpts.push(excerpt(entry, &first, query.limits.around, needles));
    }
}

/// The words around a match, with all matches in them.
fn excerpt(entry: &Entry<'_>, first: &Range<usize>, around: usize, needles: &[Needle]) -> Excerpt {
    let text = entry.text;
    let start = text.floor_char_boundary(first.start.saturating_sub(around));
    let end = text.ceil_char_boundary(first.end.saturating_add(around).min(text.len()));
    let words = &text[start..end];
    let mut matches: Vec<Range<usize>> =
        needles.iter().flat_map(|needle| needle.text.find_iter(words).map(|found| found.range())).collect();
    matches.sort_by_key(|range| (range.start, range.end));
    Excerpt {
        turn: entry.turn,
        role: entry.speaker,
        tool: (!entry.tool.is_empty()).then(|| entry.tool.to_owned()),
        text: words.to_owned(),
        matches,
        cut: (start > 0, end < text.len()),
    }
}
