//! Reads a chat file of Gemini CLI, record by record (agent-formats.md, Gemini CLI). A message is written again
//! whenever more of it is known, and a `$set` may replace the whole history; what was paid for stays paid.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::read::{all_in, small_file};
use crate::records::book::Book;
use crate::records::frame::words;
use crate::records::{Record, object};
use crate::sessions::{Facts, Part, Reader, Response, Role, Source, Tokens};

/// What is known of a file from its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    /// The session's id, for a sub-agent's file that of the conversation at its root; empty when the file tells.
    pub(super) session: String,
    /// It is a sub-agent's own.
    pub(super) subagent: bool,
    /// The folder `tmp/<project>`.
    project: PathBuf,
}

impl Shelf {
    /// The place of `source`: `<project>/chats/session-*`, or `<project>/chats/<parent id>/<sub-agent id>`.
    pub(super) fn of(source: &Source) -> Self {
        let Some(folder) = source.path.parent() else { return Self::default() };
        if folder.file_name().is_some_and(|name| name == "chats") {
            let project = folder.parent().unwrap_or(folder).to_owned();
            return Self { project, ..Self::default() };
        }
        let chats = folder.parent().unwrap_or(folder);
        let session = root(chats, folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        Self { session, subagent: true, project: chats.parent().unwrap_or(chats).to_owned() }
    }

    /// The folder that the project's conversations are about: `.project_root`, else `projects.json` beside `tmp`.
    fn cwd(&self) -> Option<String> {
        let known = small_file(&self.project.join(".project_root"), 64 << 10);
        if let Some(path) =
            known.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).filter(|p| !p.is_empty())
        {
            return Some(path);
        }
        let name = self.project.file_name()?.to_string_lossy();
        let list = small_file(&self.project.parent()?.parent()?.join("projects.json"), 8 << 20)?;
        let list: serde_json::Value = serde_json::from_slice(&list).ok()?;
        let projects = list.get("projects")?.as_object()?;
        projects.iter().find(|(_, short)| short.as_str() == Some(name.as_ref())).map(|(path, _)| path.clone())
    }
}

/// A sub-agent's sub-agent lies in a folder named by the sub-agent: goes up to the conversation.
fn root(chats: &Path, mut id: String) -> String {
    let inside = all_in(chats);
    let conversation = |id: &str| {
        let end = format!("-{}", id.get(..8).unwrap_or(id));
        inside.iter().any(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&end)))
    };
    for _ in 0..8 {
        if conversation(&id) {
            break;
        }
        let file = format!("{id}.jsonl");
        let parent = inside.iter().find(|dir| dir.join(&file).is_file()).and_then(|dir| dir.file_name());
        match parent.map(|name| name.to_string_lossy().into_owned()) {
            Some(parent) if parent != id => id = parent,
            _ => break,
        }
    }
    id
}

/// What goes on beyond the facts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Carry {
    /// The session's id, once the file told it.
    session: String,
    /// Messages of the person that were counted.
    typed: BTreeSet<String>,
    /// All messages that were met, to know which a summary brings.
    met: BTreeSet<String>,
    /// Tool calls, and whether they failed.
    calls: BTreeMap<String, bool>,
}

/// A file that is being read.
pub(super) struct GeminiReader {
    book: Book,
    shelf: Shelf,
    carry: Carry,
}

impl GeminiReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let (book, shelf) = (Book::new(before), Shelf::of(source));
        let mut carry: Carry = serde_json::from_slice(book.carried()).unwrap_or_default();
        if carry.session.is_empty() {
            carry.session.clone_from(&shelf.session);
        }
        Self { book, shelf, carry }
    }

    /// Takes a whole `.json` chat of older versions.
    pub(super) fn document(&mut self, text: &str, record: &Record<'_>) -> Result<(), &'static str> {
        let (shelf, carry) = (&self.shelf, &mut self.carry);
        let part = header(&mut self.book, shelf, carry, record).ok_or("a chat without a session")?;
        for raw in record.list("messages") {
            let offset = raw.get().as_ptr().addr().saturating_sub(text.as_ptr().addr()) as u64;
            if let Some(record) = object(raw) {
                message(&mut self.book, carry, shelf, part, offset, &record, true);
            }
        }
        Ok(())
    }

    /// What the file says.
    pub(super) fn facts(self) -> Facts {
        self.book.finish(serde_json::to_vec(&self.carry).unwrap_or_default())
    }
}

impl Reader for GeminiReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        let (shelf, carry) = (&self.shelf, &mut self.carry);
        self.book.records(chunk, at, |book, at, record| take(book, carry, shelf, at, record));
    }

    fn finish(self: Box<Self>) -> Facts {
        self.facts()
    }
}

fn take(
    book: &mut Book,
    carry: &mut Carry,
    shelf: &Shelf,
    offset: u64,
    record: &Record<'_>,
) -> Result<(), &'static str> {
    if record.raw("$rewindTo").is_some() {
        return Ok(());
    }
    let is_message = record.raw("id").is_some();
    if !is_message && record.raw("sessionId").is_some() {
        return header(book, shelf, carry, record).map(|_| ()).ok_or("a header without a session");
    }
    if carry.session.is_empty() {
        return Err("a record before the header");
    }
    let part = part(book, shelf, carry);
    if is_message {
        message(book, carry, shelf, part, offset, record, true);
    } else if let Some(set) = record.object("$set") {
        change(book, carry, shelf, part, offset, &set);
    } else {
        return Err("neither a message nor a change");
    }
    Ok(())
}

/// The file's part. A start without a prompt leaves a file, too, as does a resumed session: they are no sessions.
fn part(book: &mut Book, shelf: &Shelf, carry: &Carry) -> usize {
    book.session(&carry.session, || Part {
        subagent: shelf.subagent,
        aside: !shelf.subagent,
        cwd: shelf.cwd(),
        ..Part::default()
    })
}

fn header(book: &mut Book, shelf: &Shelf, carry: &mut Carry, record: &Record<'_>) -> Option<usize> {
    let id = record.text("sessionId").filter(|id| !id.trim().is_empty())?;
    if carry.session.is_empty() {
        carry.session = Part::short(&id);
    }
    let part = part(book, shelf, carry);
    if shelf.subagent {
        book.subagent(part, &id);
    } else if let Some(summary) = record.text("summary") {
        book.title(part, 2, &summary);
    }
    let paid = book.part(part);
    if paid.cwd.is_none() {
        let first = record.list("directories").into_iter().find_map(crate::records::text);
        paid.cwd = first.map(|folder| Part::short(&folder));
    }
    if let Some(at) = record.time("startTime") {
        paid.seen(at);
    }
    Some(part)
}

fn change(book: &mut Book, carry: &mut Carry, shelf: &Shelf, part: usize, offset: u64, set: &Record<'_>) {
    if let Some(at) = set.time("lastUpdated") {
        book.part(part).seen(at);
    }
    if let Some(summary) = set.text("summary").filter(|_| !shelf.subagent) {
        book.title(part, 2, &summary);
    }
    let mut replaced = false;
    for record in set.objects("messages") {
        replaced |= is_summary(&record) && !record.text("id").is_some_and(|id| carry.met.contains(id.as_ref()));
        message(book, carry, shelf, part, offset, &record, false);
    }
    book.part(part).compactions += u64::from(replaced && !shelf.subagent);
}

/// The message that stands for what went before.
pub(super) fn is_summary(record: &Record<'_>) -> bool {
    record.is("type", "user") && words(record.raw("content")).trim_start().starts_with("<state_snapshot>")
}

/// What the person typed; `None` when it is a tool's answer, or put there by the program.
pub(super) fn prompt(record: &Record<'_>) -> Option<String> {
    let answers = |raw| object(raw).is_some_and(|part: Record<'_>| part.raw("functionResponse").is_some());
    if !record.is("type", "user") || record.list("content").into_iter().any(answers) || is_summary(record) {
        return None;
    }
    let text = words(record.raw("content"));
    let injected = ["<session_context>", "<hook_context>"].iter().any(|mark| text.trim_start().starts_with(mark));
    // With `@file` the content holds the file, and this what was typed.
    let typed = record.raw("displayContent").map(|raw| words(Some(raw))).filter(|typed| !typed.trim().is_empty());
    (!injected && !text.trim().is_empty()).then(|| typed.unwrap_or(text))
}

/// Takes one message. `own`: it was written as it happened, not as a part of a replaced history.
fn message(
    book: &mut Book,
    carry: &mut Carry,
    shelf: &Shelf,
    part: usize,
    offset: u64,
    record: &Record<'_>,
    own: bool,
) {
    let id = record.text("id").unwrap_or_default().into_owned();
    let at = record.time("timestamp");
    if let Some(at) = at.filter(|_| own) {
        book.part(part).seen(at);
    }
    carry.met.insert(id.clone());
    if record.is("type", "user") {
        if own
            && !shelf.subagent
            && let Some(text) = prompt(record)
            && carry.typed.insert(id)
        {
            book.part(part).aside = false;
            book.prompt(part, at, &text);
        }
        return;
    }
    if !record.is("type", "gemini") {
        return;
    }
    let model = record.text("model").filter(|model| !model.is_empty()).map(|model| book.model(part, &model));
    for call in record.objects("toolCalls").filter(|_| own) {
        called(book, carry, shelf, part, &id, &call);
    }
    let Some(tokens) = tokens(record) else { return };
    book.part(part).aside = false;
    let role = if shelf.subagent { Role::Subagents } else { Role::Main };
    let key = match id.as_str() {
        "" => 0,
        id => Response::key(["gemini", &carry.session, id].join("\0").as_bytes()),
    };
    // A copy in a replaced history may have the time of the replacing.
    if own || !book.billed(part, key) {
        book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
    }
}

fn called(book: &mut Book, carry: &mut Carry, shelf: &Shelf, part: usize, message: &str, call: &Record<'_>) {
    if let Some(id) = call.text("agentId") {
        book.subagent(part, &id);
    }
    if shelf.subagent {
        return;
    }
    let id = [message, &call.text("id").unwrap_or_default()].join("\0");
    let failed = call.text("status").is_some_and(|status| status == "error" || status == "cancelled");
    let before = carry.calls.insert(id, failed);
    let part = book.part(part);
    part.tool_calls += u64::from(before.is_none());
    part.failed_tool_calls += u64::from(failed);
    part.failed_tool_calls -= u64::from(before == Some(true));
}

/// What a message says it took. Input includes what was cached, output leaves the thoughts out; `tool` is input that
/// a tool of the service made. `None` where nothing was used.
pub(super) fn tokens(record: &Record<'_>) -> Option<Tokens> {
    let told = record.object("tokens")?;
    let (cached, thoughts) = (told.count("cached"), told.known_count("thoughts"));
    let tokens = Tokens {
        input: told.count("input").saturating_sub(cached).saturating_add(told.count("tool")),
        cache_read: cached,
        output: told.count("output").saturating_add(thoughts.unwrap_or(0)),
        reasoning: thoughts,
        requests: 1,
        ..Tokens::default()
    };
    (tokens.total() > 0).then_some(tokens)
}
