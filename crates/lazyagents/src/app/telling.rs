//! Tells a transcript to the reader, beside the loop: one thread goes through it once and notes where turns begin, another
//! tells the turns around any place from the nearest of those notes. Memory is bounded however long the transcript is.
//! The driver starts and asks it; what it says comes back as events.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agents::Adapter;
use agents::sessions::rows::Turn;
use agents::sessions::{Numbering, Piece, Reads, Said, Session, Source, Speaker, Turns};
use crossbeam_channel::{Receiver, Sender, bounded};
use sys::text;

use super::event::Event;
use super::reader::{Told, WINDOW};

/// Turns between two notes, at least.
const APART: u64 = 32;

/// Turns that the person may be told of between two notes of progress.
const NEWS: u64 = 2_000;

/// Bytes of turns in one window, about; the turn asked for is always in it.
const WINDOW_BYTES: usize = 4 << 20;

/// Bytes that are shown of one text, and of what a tool was given or answered.
const TEXT: usize = 64 << 10;
const TOOL: usize = 16 << 10;

/// Turns that a search inside gives, at most.
const INSIDE: usize = 10_000;

/// Where one may begin to listen: nothing from before is awaited there.
#[derive(Clone, Copy, Debug)]
struct Note {
    turn: u64,
    source: usize,
    offset: u64,
}

/// What going through a transcript has shown.
#[derive(Debug, Default)]
struct Noted {
    notes: Vec<Note>,
    prompts: Vec<u64>,
}

/// A question.
enum Ask {
    Around(u64),
    Inside { number: u64, text: String },
}

/// The conversation and how it is told.
struct Script {
    reads: &'static dyn Reads,
    session: String,
    sources: Vec<Source>,
    scratch: PathBuf,
}

/// A transcript being told. Dropping it ends its threads.
#[derive(Debug)]
pub(super) struct Telling {
    asks: Sender<Ask>,
    ended: Arc<AtomicBool>,
    /// The newest search inside; older ones stop.
    inside: Arc<AtomicU64>,
    sources: Vec<Source>,
    noted: Arc<Mutex<Noted>>,
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl Telling {
    /// Begins to tell `session` to the reader `number`; `scratch` is where a database that is being written is copied to.
    /// `before` told the same session: where its files have only grown, what it noted holds. `None` when the agent's
    /// transcripts cannot be read, or the system has no threads left.
    pub(super) fn start(
        session: &Session,
        scratch: PathBuf,
        number: u64,
        before: Option<Self>,
        events: &Sender<Event>,
    ) -> Option<Self> {
        let reads = agents::adapter::by_id(session.agent).and_then(Adapter::reads)?;
        let told = session.sources.iter().filter(|one| !one.aside);
        let sources: Vec<Source> = told.map(|one| one.source.clone()).collect();
        let grown = |before: &Self| {
            before.sources.len() <= sources.len()
                && before.sources.iter().zip(&sources).all(|(old, new)| old.path == new.path && old.size <= new.size)
        };
        let notes = before.filter(grown).map(|before| Arc::clone(&before.noted)).unwrap_or_default();
        let script = Arc::new(Script { reads, session: session.id.clone(), sources: sources.clone(), scratch });
        let (asks, asked) = bounded(16);
        let noted = Arc::clone(&notes);
        let telling = Self { asks, ended: Arc::default(), inside: Arc::default(), sources, noted };
        let say = {
            let events = events.clone();
            move |told| events.send(Event::Told { reader: number, told }).is_ok()
        };
        let (first, noted, ended) = (Arc::clone(&script), Arc::clone(&notes), Arc::clone(&telling.ended));
        let told = say.clone();
        std::thread::Builder::new().name("notes".into()).spawn(move || first.note(&noted, &ended, &told)).ok()?;
        let (ended, inside) = (Arc::clone(&telling.ended), Arc::clone(&telling.inside));
        let answer = move || script.answer(&asked, &notes, &ended, &inside, &say);
        std::thread::Builder::new().name("tell".into()).spawn(answer).ok()?;
        Some(telling)
    }

    /// Asks for the turns around `turn`.
    pub(super) fn around(&self, turn: u64) {
        // A full queue holds newer questions than anybody waits for.
        let _ = self.asks.try_send(Ask::Around(turn));
    }

    /// Asks for the turns that hold `text`.
    pub(super) fn inside(&self, number: u64, text: String) {
        self.inside.store(number, Ordering::Relaxed);
        let _ = self.asks.try_send(Ask::Inside { number, text });
    }
}

impl Script {
    /// Tells the pieces of the sources from a note on, until `sink` breaks: with the place of the source, so that turns
    /// end with it.
    fn tell(&self, from: Note, sink: &mut dyn FnMut(usize, Option<Piece>) -> ControlFlow<()>) -> Result<(), String> {
        for (at, source) in self.sources.iter().enumerate().skip(from.source) {
            let offset = if at == from.source { from.offset } else { 0 };
            let mut stopped = false;
            self.reads.tell_from(source, &self.session, offset, &self.scratch, &mut |piece| {
                let flow = sink(at, Some(piece));
                stopped = flow.is_break();
                flow
            })?;
            if stopped || sink(at, None).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Goes through all of it once, from the last note on: where turns begin, and which are prompts.
    fn note(&self, noted: &Mutex<Noted>, ended: &AtomicBool, say: &dyn Fn(Told) -> bool) {
        let known = || noted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = known().notes.last().copied().unwrap_or(Note { turn: 0, source: 0, offset: 0 });
        let mut prompts: Vec<u64> = known().prompts.iter().copied().filter(|turn| *turn < last.turn).collect();
        let mut numbering = Numbering::from(last.turn);
        let (mut told, mut source) = (last.turn, last.source);
        let keep = |note| known().notes.push(note);
        let mut before = None;
        let outcome = self.tell(last, &mut |at, piece| {
            if ended.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let Some(piece) = piece else {
                numbering = Numbering::from(numbering.turns());
                before = None;
                return ControlFlow::Continue(());
            };
            let settled = numbering.settled();
            let place = numbering.place(&piece);
            let new_source = at != source;
            if place.new
                && piece.speaker == Speaker::User
                && piece.subagent.is_none()
                && matches!(piece.said, Said::Text(_))
            {
                prompts.push(place.turn);
            }
            // A record that holds the end of one turn and the beginning of the next is no place to begin.
            let clean = before != Some(piece.offset);
            if place.new && (new_source || (settled && clean && place.turn >= last.turn + APART)) {
                last = Note { turn: place.turn, source: at, offset: if new_source { 0 } else { piece.offset } };
                source = at;
                keep(last);
            }
            before = Some(piece.offset);
            if numbering.turns() >= told + if told == 0 { WINDOW } else { NEWS } {
                told = numbering.turns();
                if !say(Told::Known { turns: told, prompts: prompts.clone(), done: false }) {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if ended.load(Ordering::Relaxed) {
            return;
        }
        known().prompts.clone_from(&prompts);
        let told = match outcome {
            Ok(()) => Told::Known { turns: numbering.turns(), prompts, done: true },
            Err(why) => Told::Failed(text::clean_lines(&why)),
        };
        say(told);
    }

    fn answer(
        &self,
        asked: &Receiver<Ask>,
        notes: &Mutex<Noted>,
        ended: &AtomicBool,
        inside: &AtomicU64,
        say: &dyn Fn(Told) -> bool,
    ) {
        // The first window is there before anybody asks.
        let mut next = Some(Ask::Around(0));
        while let Some(ask) = next.take().or_else(|| asked.recv().ok()) {
            let goes_on = match ask {
                Ask::Around(turn) => {
                    let told = match self.window(turn, notes, ended) {
                        Ok(turns) => Told::Window { around: turn, turns },
                        Err(why) => Told::Failed(text::clean_lines(&why)),
                    };
                    say(told)
                }
                Ask::Inside { number, text } => self.find(number, &text, ended, inside, say),
            };
            if !goes_on || ended.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// The turns around `wanted`, without a gap.
    fn window(&self, wanted: u64, noted: &Mutex<Noted>, ended: &AtomicBool) -> Result<Vec<(u64, Turn)>, String> {
        let first = wanted.saturating_sub(WINDOW / 2);
        let begin = Note { turn: 0, source: 0, offset: 0 };
        let note = {
            let noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.notes.iter().rev().find(|note| note.turn <= first).copied().unwrap_or(begin)
        };
        let mut turns = Turns::from(note.turn);
        let mut window = Window { wanted, first, turns: Default::default(), bytes: 0 };
        self.tell(note, &mut |_, piece| {
            match piece {
                Some(piece) => turns.push(piece, &mut |number, turn| window.take(number, turn)),
                None => turns.end(&mut |number, turn| window.take(number, turn)),
            }
            if window.full() || ended.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if !window.full() {
            turns.end(&mut |number, turn| window.take(number, turn));
        }
        Ok(window.turns.into_iter().map(|(number, turn, _)| (number, turn)).collect())
    }

    /// Looks for a text in all turns; told a few times while it goes on.
    fn find(
        &self,
        number: u64,
        text: &str,
        ended: &AtomicBool,
        newest: &AtomicU64,
        say: &dyn Fn(Told) -> bool,
    ) -> bool {
        let wanted = text.to_lowercase();
        let mut found: Vec<u64> = Vec::new();
        let mut turns = Turns::default();
        let mut look = |number: u64, turn: Turn| {
            if found.len() < INSIDE && holds(&turn, &wanted) {
                found.push(number);
            }
            found.len()
        };
        let begin = Note { turn: 0, source: 0, offset: 0 };
        let stale = || ended.load(Ordering::Relaxed) || newest.load(Ordering::Relaxed) != number;
        let mut count = 0;
        let told_all = self.tell(begin, &mut |_, piece| {
            match piece {
                Some(piece) => turns.push(piece, &mut |number, turn| count = look(number, turn)),
                None => turns.end(&mut |number, turn| count = look(number, turn)),
            }
            if count >= INSIDE || stale() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if stale() {
            return !ended.load(Ordering::Relaxed);
        }
        let done = told_all.is_ok();
        say(Told::Inside { number, turns: found, done })
    }
}

/// A window while it is filled.
struct Window {
    wanted: u64,
    first: u64,
    turns: std::collections::VecDeque<(u64, Turn, usize)>,
    bytes: usize,
}

impl Window {
    fn take(&mut self, number: u64, mut turn: Turn) {
        if number < self.first || self.full() {
            return;
        }
        shorten(&mut turn);
        let size = weight(&turn);
        self.bytes += size;
        self.turns.push_back((number, turn, size));
        // What lies before the turn that is wanted makes room for it.
        while self.bytes > WINDOW_BYTES
            && let Some((before, _, size)) = self.turns.front()
            && *before < self.wanted
        {
            self.bytes -= size;
            self.turns.pop_front();
        }
    }

    fn full(&self) -> bool {
        let Some((last, ..)) = self.turns.back() else { return false };
        *last >= self.wanted && (*last >= self.first + WINDOW || self.bytes > WINDOW_BYTES)
    }
}

/// Cleaned and cut to what a person reads.
fn shorten(turn: &mut Turn) {
    cut(&mut turn.text, TEXT);
    if let Some(reasoning) = &mut turn.reasoning {
        cut(reasoning, TEXT);
    }
    for tool in &mut turn.tools {
        cut(&mut tool.name, 200);
        cut(&mut tool.input, TOOL);
        if let Some(output) = &mut tool.output {
            cut(output, TOOL);
        }
    }
    if let Some(subagent) = &mut turn.subagent {
        cut(subagent, 200);
    }
    if let Some(model) = &mut turn.model {
        cut(model, 200);
    }
}

fn cut(words: &mut String, most: usize) {
    let mut more = 0;
    if words.len() > most {
        let mut end = most;
        while !words.is_char_boundary(end) {
            end -= 1;
        }
        more = words.len() - end;
        words.truncate(end);
    }
    *words = text::clean_lines(words);
    if more > 0 {
        words.push_str(&format!("\n… {} more, which an export has", text::human::bytes(more as u64)));
    }
}

fn weight(turn: &Turn) -> usize {
    let tool =
        |tool: &agents::sessions::rows::ToolUse| 200 + tool.input.len() + tool.output.as_ref().map_or(0, String::len);
    200 + turn.text.len() + turn.reasoning.as_ref().map_or(0, String::len) + turn.tools.iter().map(tool).sum::<usize>()
}

fn holds(turn: &Turn, wanted: &str) -> bool {
    let in_it = |words: &str| words.to_lowercase().contains(wanted);
    in_it(&turn.text)
        || turn.reasoning.as_deref().is_some_and(in_it)
        || turn
            .tools
            .iter()
            .any(|tool| in_it(&tool.name) || in_it(&tool.input) || tool.output.as_deref().is_some_and(in_it))
}
