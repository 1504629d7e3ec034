//! Reads the transcripts of Claude Code, record by record (agent-formats.md, Claude Code).
//!
//! A response is on as many lines as it has blocks, each with the same id and usage; the tokens of a compaction are in
//! none, only in what the whole session took so far (`cost-state`). See `settle`.

use std::collections::BTreeSet;
use std::path::Path;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::records::book::{Book, IMPOSSIBLE};
use crate::records::frame::words;
use crate::records::{Record, lines};
use crate::sessions::{Claim, Facts, Part, Reader, Response, Role, Source, Tokens};

/// What stands in for the model of answers that no model gave.
pub(super) const NO_MODEL: &str = "<synthetic>";

/// A file that is being read.
pub(super) struct ClaudeReader {
    book: Book,
    session: String,
    /// The sub-agent whose own file this is.
    subagent: Option<String>,
    memory: Memory,
}

/// What is needed to go on later.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// Calls that were counted, by their ids' hashes: a repeated record counts once.
    calls: BTreeSet<u64>,
    /// Calls that failed.
    failed: BTreeSet<u64>,
    /// The last time that a record told.
    last: Option<i64>,
}

/// The session that the file at `path` belongs to, and the sub-agent whose own file it is:
/// `<session>.jsonl`, `<session>/subagents/agent-<id>.jsonl`.
pub(super) fn owner(path: &Path) -> (String, Option<String>) {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "subagents"));
    match (folder.and_then(Path::parent), name(path).strip_prefix("agent-")) {
        (Some(session), Some(id)) => (name(session), Some(id.to_owned())),
        _ => (name(path), None),
    }
}

impl ClaudeReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let (session, subagent) = owner(&source.path);
        let book = Book::new(before);
        let memory = serde_json::from_slice(book.carried()).unwrap_or_default();
        Self { book, session, subagent, memory }
    }

    fn take(&mut self, at: u64, line: &[u8]) -> Result<(), &'static str> {
        let Some(text) = lines::decode(line)? else { return Ok(()) };
        let record = Record::parse(&text)?;
        let kind = record.text("type").ok_or("a record without a type")?;
        let own = self.subagent.is_some();
        let part = self.book.session(&self.session, || Part { subagent: own, ..Part::default() });
        if let Some(id) = self.subagent.as_deref() {
            self.book.subagent(part, id);
        }
        let when = record.time("timestamp");
        if let Some(when) = when {
            self.book.part(part).seen(when);
            self.memory.last = self.memory.last.max(Some(when));
        }
        place(self.book.part(part), &record);
        match kind.as_ref() {
            "user" => self.typed(part, &record, when),
            "assistant" => self.answer(part, at, &record),
            "system" if record.is("subtype", "compact_boundary") => self.book.part(part).compactions += 1,
            "cost-state" => self.claims(part, at, &record),
            "custom-title" => self.title(part, 3, &record, "customTitle"),
            "agent-name" => self.title(part, 3, &record, "agentName"),
            "ai-title" => self.title(part, 2, &record, "aiTitle"),
            "summary" => self.title(part, 1, &record, "summary"),
            _ => {}
        }
        Ok(())
    }

    fn title(&mut self, part: usize, rank: u8, record: &Record<'_>, key: &str) {
        if let Some(text) = record.text(key).filter(|_| self.subagent.is_none()) {
            self.book.title(part, rank, &text);
        }
    }

    fn typed(&mut self, part: usize, record: &Record<'_>, when: Option<i64>) {
        let side = self.subagent.is_some() || record.truth("isSidechain") == Some(true);
        let Some(message) = record.object("message").filter(|_| !side) else { return };
        for block in message.objects("content").filter(|block| block.is("type", "tool_result")) {
            if block.truth("is_error") == Some(true) {
                let id = block.text("tool_use_id").map_or(0, |id| Response::key(id.as_bytes()));
                if id == 0 || self.memory.failed.insert(id) {
                    self.book.part(part).failed_tool_calls += 1;
                }
            }
        }
        if let Some(text) = prompt(record, &message) {
            self.book.prompt(part, when, &text);
        }
    }

    fn answer(&mut self, part: usize, offset: u64, record: &Record<'_>) {
        let side = self.subagent.is_some() || record.truth("isSidechain") == Some(true);
        let Some(message) = record.object("message") else { return };
        if !side {
            for block in message.objects("content").filter(|block| block.is("type", "tool_use")) {
                let id = block.text("id").map_or(0, |id| Response::key(id.as_bytes()));
                if id == 0 || self.memory.calls.insert(id) {
                    self.book.part(part).tool_calls += 1;
                }
            }
        }
        let model = message.text("model").filter(|model| model != NO_MODEL);
        let model = model.map(|model| self.book.model(part, &model));
        let Some(tokens) = message.object("usage").map(|usage| tokens(&usage)).filter(|tokens| tokens.total() > 0)
        else {
            return;
        };
        let id = ["id"].iter().find_map(|key| message.text(key)).or_else(|| record.text("requestId"));
        let key = id.or_else(|| record.text("uuid")).map_or(0, |id| Response::key(id.as_bytes()));
        // While it is streamed its count grows; a smaller one that comes later is a copy of an earlier state.
        if self.book.response(part, key).is_some_and(|known| known.tokens.output > tokens.output) {
            return;
        }
        let role = if side { Role::Subagents } else { Role::Main };
        let at = record.time("timestamp");
        let at = self.book.response(part, key).and_then(|known| known.at).or(at);
        self.book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
    }

    /// What the session took so far, compactions included; the last such record holds all of it.
    fn claims(&mut self, part: usize, offset: u64, record: &Record<'_>) {
        let Some(usage) = record.object("modelUsage") else { return };
        let mut claims = Vec::new();
        for (model, raw) in usage.entries() {
            let Some(took) = crate::records::object(raw) else { continue };
            let tokens = Tokens {
                input: took.count("inputTokens"),
                cache_read: took.count("cacheReadInputTokens"),
                cache_write: took.count("cacheCreationInputTokens"),
                cache_write_1h: took.known_count("cacheCreationEphemeral1hInputTokens"),
                output: took.count("outputTokens"),
                reasoning: took.known_count("thinkingTokens"),
                requests: 0,
            };
            if tokens.are_impossible() {
                self.book.skip(offset, IMPOSSIBLE);
                continue;
            }
            let model = self.book.model(part, plain(model));
            claims.push(Claim { at: self.memory.last, model, tokens, cost: took.dollars("costUSD"), offset });
        }
        self.book.part(part).claims = claims;
    }
}

/// A model without the mark of a larger window, which the records of its answers do not bear.
fn plain(model: &str) -> &str {
    model.split_once('[').map_or(model, |(name, _)| name)
}

pub(super) fn tokens(usage: &Record<'_>) -> Tokens {
    let hour = usage.object("cache_creation").and_then(|kinds| kinds.known_count("ephemeral_1h_input_tokens"));
    let thinking = usage.object("output_tokens_details").and_then(|kinds| kinds.known_count("thinking_tokens"));
    Tokens {
        input: usage.count("input_tokens"),
        cache_read: usage.count("cache_read_input_tokens"),
        cache_write: usage.count("cache_creation_input_tokens"),
        cache_write_1h: hour,
        output: usage.count("output_tokens"),
        reasoning: thinking,
        requests: 1,
    }
}

fn place(part: &mut Part, record: &Record<'_>) {
    if part.cwd.is_none() {
        part.cwd = record.text("cwd").filter(|folder| !folder.is_empty()).map(|folder| Part::short(&folder));
    }
    // Outside of a repository it writes `HEAD`.
    let branch = record.text("gitBranch").filter(|branch| branch != "HEAD" && part.branch.as_deref() != Some(branch));
    if let Some(branch) = branch {
        part.branch = Some(Part::short(&branch));
    }
}

/// What the person typed in a `user` record; `None` for what the program or a tool put there.
pub(super) fn prompt(record: &Record<'_>, message: &Record<'_>) -> Option<String> {
    let marked = ["isMeta", "isCompactSummary", "isSidechain"].iter().any(|key| record.truth(key) == Some(true));
    let injected = record.is("promptSource", "system")
        || record
            .object("origin")
            .is_some_and(|origin| origin.text("kind").is_some_and(|kind| kind != "human" && kind != "user"));
    if marked || injected || message.objects("content").any(|block| block.is("type", "tool_result")) {
        return None;
    }
    let text = words(message.raw("content"));
    let start = text.trim_start();
    let told = [
        "<command-name>",
        "<command-message>",
        "<local-command-",
        "<task-notification>",
        "<bash-stdout>",
        "<bash-stderr>",
    ];
    let put = told.iter().any(|tag| start.starts_with(tag)) || is_interruption(start);
    let pictures = message.objects("content").any(|block| block.is("type", "image") || block.is("type", "document"));
    (!put && (pictures || !start.is_empty())).then_some(text)
}

/// The notice that stands where the person stopped an answer.
pub(super) fn is_interruption(text: &str) -> bool {
    text.starts_with("[Request interrupted by user")
}

impl Reader for ClaudeReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        for (at, line) in lines::of(chunk, at) {
            self.book.line();
            if is_boring(line) {
                continue;
            }
            if let Err(why) = self.take(at, line) {
                self.book.skip(at, why);
            }
        }
    }

    fn finish(self: Box<Self>) -> Facts {
        let carry = serde_json::to_vec(&self.memory).unwrap_or_default();
        self.book.finish(carry)
    }
}

/// True for a line that certainly holds nothing that is counted, by its beginning: copies of requests, listings, the
/// answers of tools that went well. Quotes are escaped inside of JSON strings, so these marks are keys of the record.
fn is_boring(line: &[u8]) -> bool {
    const KINDS: [&[u8]; 10] = [
        b"assistant",
        b"user",
        b"system",
        b"cost-state",
        b"custom-title",
        b"agent-name",
        b"ai-title",
        b"summary",
        b"\\u",
        b"\"",
    ];
    if let Some(rest) = line.strip_prefix(b"{\"type\":\"") {
        return !KINDS.iter().any(|kind| rest.starts_with(kind));
    }
    if !line.starts_with(b"{\"parentUuid\":") {
        return false;
    }
    let head = &line[..line.len().min(600)];
    if let Some(attachment) = memmem::find(head, b"\"attachment\":{") {
        return memmem::find(&head[..attachment], b"\"message\":").is_none() && line.ends_with(b"}");
    }
    memmem::find(head, b"\"type\":\"tool_result\"").is_some()
        && memmem::find(head, b"\"type\":\"user\"").is_some()
        && line.ends_with(b"}")
        && memmem::find(line, b"\"is_error\":true").is_none()
        && memmem::find(line, b"\"is_error\": ").is_none()
        && memmem::find(line, b"\"type\":\"text\"").is_none()
}
