//! Reads the rollouts of Codex, record by record (agent-formats.md, Codex), those of older versions too.
//!
//! Since 0.171 every response has a `token_usage_record`; older ones only tell the sum so far (`token_count`), which is
//! repeated, so what counts is by how much it grew. Both speak of the same sum, which joins them where one file has both.

use std::collections::BTreeSet;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::records::book::{Book, IMPOSSIBLE, is_id};
use crate::records::frame::words;
use crate::records::{Record, instant, lines};
use crate::sessions::{Facts, FirstPrompt, Part, Reader, Response, Role, Source, Tokens};

/// A rollout that is being read.
pub(super) struct CodexReader {
    book: Book,
    memory: Memory,
}

/// What is needed to go on later.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// The session by the file's name, until its first record has told.
    named: String,
    /// The first record has told whose file it is.
    known: bool,
    /// The sub-agent whose own file it is.
    subagent: Option<String>,
    /// The position of the file's part.
    part: Option<usize>,
    /// The model of the turn.
    model: Option<u16>,
    /// The sum that the last record told.
    total: [u64; 5],
    /// The response that was counted last.
    last: Option<u64>,
    calls: BTreeSet<u64>,
    failed: BTreeSet<u64>,
    /// Prompts as items, as events and as what was sent: the first kind that a file has counts.
    prompts: [Typed; 3],
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Typed {
    count: u64,
    first: Option<(Option<i64>, String)>,
}

const ITEM: usize = 0;
const EVENT: usize = 1;
const SENT: usize = 2;

impl CodexReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let book = Book::new(before);
        let mut memory: Memory = serde_json::from_slice(book.carried()).unwrap_or_default();
        if memory.named.is_empty() {
            memory.named = named(source);
        }
        Self { book, memory }
    }

    fn part(&mut self) -> usize {
        if let Some(part) = self.memory.part {
            return part;
        }
        let subagent = self.memory.subagent.is_some();
        let part = self.book.session(&self.memory.named, || Part { subagent, ..Part::default() });
        if let Some(id) = self.memory.subagent.clone() {
            self.book.subagent(part, &id);
        }
        self.memory.part = Some(part);
        part
    }

    fn take(&mut self, offset: u64, line: &[u8]) -> Result<(), &'static str> {
        let Some(text) = lines::decode(line)? else { return Ok(()) };
        let record = Record::parse(&text)?;
        let kind = record.text("type").unwrap_or_default();
        let Some(payload) = record.object("payload") else {
            return if kind.is_empty() { Err("a record without a type") } else { Ok(()) };
        };
        if kind == "session_meta" && !self.memory.known {
            self.opened(&payload);
        }
        let part = self.part();
        let at = record.time("timestamp");
        if let Some(at) = at {
            self.book.part(part).seen(at);
        }
        match kind.as_ref() {
            "turn_context" => {
                if let Some(model) = payload.text("model") {
                    self.memory.model = Some(self.book.model(part, &model));
                }
            }
            "token_usage_record" => self.response(part, offset, at, &payload),
            "compacted" => self.compacted(part),
            "event_msg" => self.event(part, offset, at, &record, &payload),
            "response_item" => self.item(part, at, &payload),
            _ => {}
        }
        Ok(())
    }

    fn opened(&mut self, meta: &Record<'_>) {
        self.memory.known = true;
        if let Some(id) = meta.text("id").filter(|id| is_id(id)) {
            self.memory.named = id.into_owned();
        }
        let spawned = meta.object("source").and_then(|source| source.raw("subagent")).is_some();
        if spawned || meta.is("thread_source", "subagent") {
            let own = self.memory.named.clone();
            let above = meta.text("session_id").filter(|id| is_id(id) && *id != own);
            if let Some(parent) = above.or_else(|| meta.text("parent_thread_id").filter(|id| is_id(id))) {
                self.memory.subagent = Some(own);
                self.memory.named = parent.into_owned();
            }
        }
        let part = self.part();
        let part = self.book.part(part);
        part.cwd = meta.text("cwd").filter(|folder| !folder.is_empty()).map(|folder| Part::short(&folder));
        part.branch = meta.object("git").and_then(|git| git.text("branch")).map(|branch| Part::short(&branch));
    }

    fn response(&mut self, part: usize, offset: u64, at: Option<i64>, payload: &Record<'_>) {
        let Some(usage) = payload.object("usage") else { return };
        if let Some(total) = payload.object("thread_token_usage").map(|total| counts(&total)).filter(can_be) {
            self.memory.total = total;
        }
        let key = payload.text("response_id").map_or(0, |id| Response::key(id.as_bytes()));
        self.bill(part, key, offset, at, counts(&usage));
    }

    fn bill(&mut self, part: usize, key: u64, offset: u64, at: Option<i64>, counts: [u64; 5]) {
        let [input, cached, written, output, reasoning] = counts;
        let tokens = Tokens {
            input: input.saturating_sub(cached).saturating_sub(written),
            cache_read: cached,
            cache_write: written,
            cache_write_1h: None,
            output,
            reasoning: Some(reasoning),
            requests: 1,
        };
        if tokens.total() == 0 {
            return;
        }
        let role = if self.memory.subagent.is_some() { Role::Subagents } else { Role::Main };
        let model = self.memory.model;
        self.memory.last = Some(key);
        self.book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
    }

    /// The sum so far, told again and again; after a compaction it may begin anew.
    fn sum(&mut self, part: usize, offset: u64, record: &Record<'_>, payload: &Record<'_>) {
        let Some(info) = payload.object("info") else { return };
        let Some(total) = info.object("total_token_usage") else { return };
        let now = counts(&total);
        if !can_be(&now) {
            self.book.skip(offset, IMPOSSIBLE);
            return;
        }
        let before = std::mem::replace(&mut self.memory.total, now);
        let grew = now.iter().zip(before).all(|(now, before)| *now >= before);
        let more = if grew { std::array::from_fn(|kind| now[kind] - before[kind]) } else { now };
        if more.iter().all(|count| *count == 0) {
            return;
        }
        // A fork copies the record with its time.
        let stamp = record.raw("timestamp").map_or("", |raw| raw.get());
        let key = Response::key(format!("codex sum\0{stamp}\0{now:?}").as_bytes());
        self.bill(part, key, offset, record.time("timestamp"), more);
    }

    fn compacted(&mut self, part: usize) {
        self.book.part(part).compactions += u64::from(self.memory.subagent.is_none());
        // The request that made the summary is the last one before it.
        if let Some(last) = self.memory.last.take()
            && let Some(response) = self.book.response(part, last).cloned()
            && last != 0
        {
            self.book.bill(part, Response { role: Role::Compaction, ..response });
        }
    }

    fn event(&mut self, part: usize, offset: u64, at: Option<i64>, record: &Record<'_>, payload: &Record<'_>) {
        match payload.text("type").unwrap_or_default().as_ref() {
            "token_count" => self.sum(part, offset, record, payload),
            "user_message" => {
                if let Some(text) = payload.text("message").filter(|_| !payload.is("kind", "environment_context")) {
                    self.prompt(EVENT, at, &text);
                }
            }
            "exec_command_end" if payload.number("exit_code").is_some_and(|code| code != 0.0) => {
                self.fail(part, payload.text("call_id").as_deref());
            }
            "thread_name_updated" => {
                if let Some(name) = payload.text("thread_name") {
                    self.book.title(part, 3, &name);
                }
            }
            "item_completed" => {
                let Some(item) = payload.object("item") else { return };
                match item.text("type").unwrap_or_default().as_ref() {
                    "UserMessage" => self.prompt(ITEM, at, &words(item.raw("content"))),
                    "CollabAgentToolCall" => {
                        for id in item.list("receiver_thread_ids").into_iter().filter_map(crate::records::text) {
                            self.book.subagent(part, &id);
                        }
                    }
                    _ => {}
                }
                let code = item.number("exit_code").is_some_and(|code| code != 0.0);
                if code || item.is("status", "failed") {
                    self.fail(part, item.text("id").as_deref());
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, part: usize, at: Option<i64>, payload: &Record<'_>) {
        match payload.text("type").unwrap_or_default().as_ref() {
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call" => {
                let id = payload.text("call_id").or_else(|| payload.text("id"));
                let id = id.map_or(0, |id| Response::key(id.as_bytes()));
                if self.memory.subagent.is_none() && (id == 0 || self.memory.calls.insert(id)) {
                    self.book.part(part).tool_calls += 1;
                }
            }
            "function_call_output" | "custom_tool_call_output" => {
                let output = words(payload.raw("output"));
                let failed = output.contains("Process exited with code ")
                    && !output.contains("Process exited with code 0")
                    || output.contains("\"exit_code\":") && !output.contains("\"exit_code\":0");
                if failed {
                    self.fail(part, payload.text("call_id").as_deref());
                }
            }
            "message" if payload.is("role", "user") => {
                let text = words(payload.raw("content"));
                if !text.trim_start().starts_with(['<', '#']) {
                    self.prompt(SENT, at, &text);
                }
            }
            _ => {}
        }
    }

    fn fail(&mut self, part: usize, call: Option<&str>) {
        let id = call.map_or(0, |id| Response::key(id.as_bytes()));
        if self.memory.subagent.is_none() && (id == 0 || self.memory.failed.insert(id)) {
            self.book.part(part).failed_tool_calls += 1;
        }
    }

    fn prompt(&mut self, way: usize, at: Option<i64>, text: &str) {
        if self.memory.subagent.is_some() {
            return;
        }
        let typed = &mut self.memory.prompts[way];
        typed.count += 1;
        if typed.first.is_none() && !text.trim().is_empty() {
            typed.first = Some((at, Part::short(text)));
        }
        let best = self.memory.prompts.iter().find(|typed| typed.count > 0).cloned().unwrap_or_default();
        let part = self.part();
        let part = self.book.part(part);
        part.prompts = best.count;
        part.first_prompt = best.first.map(|(at, text)| FirstPrompt { at, text });
    }

    /// The time of a line that is not looked into: what a file says must not depend on how it is cut into chunks.
    fn until(&mut self, line: &[u8]) {
        let stamp = line.strip_prefix(b"{\"timestamp\":\"").and_then(|rest| rest.get(..memchr::memchr(b'"', rest)?));
        if let Some(at) = stamp.and_then(|stamp| std::str::from_utf8(stamp).ok()).and_then(instant) {
            let part = self.part();
            self.book.part(part).seen(at);
        }
    }
}

/// `rollout-<time>-<id>.jsonl`: the id of the session.
pub(super) fn named(source: &Source) -> String {
    let name = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    let id = stem.get(stem.len().saturating_sub(36)..).filter(|id| id.matches('-').count() == 4);
    id.unwrap_or(stem).to_owned()
}

/// Input with what is cached, that from a cache, that to a cache, output with reasoning, reasoning.
fn counts(usage: &Record<'_>) -> [u64; 5] {
    let kinds =
        ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens"];
    kinds.map(|kind| usage.count(kind))
}

/// True for a sum that a session can have come to.
fn can_be(counts: &[u64; 5]) -> bool {
    const MOST: u64 = 1_000_000_000_000_000;
    counts.iter().all(|count| *count <= MOST)
}

impl Reader for CodexReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        for (at, line) in lines::of(chunk, at) {
            self.book.line();
            match weigh(line) {
                Weight::Nothing if self.memory.known => self.until(line),
                Weight::Compacted if self.memory.known => {
                    let part = self.part();
                    self.compacted(part);
                    self.until(line);
                }
                _ => {
                    if let Err(why) = self.take(at, line) {
                        self.book.skip(at, why);
                    }
                }
            }
        }
    }

    fn finish(self: Box<Self>) -> Facts {
        let carry = serde_json::to_vec(&self.memory).unwrap_or_default();
        self.book.finish(carry)
    }
}

enum Weight {
    /// It holds nothing that is counted.
    Nothing,
    /// It only counts as one of its kind.
    Compacted,
    /// It has to be read.
    All,
}

/// What a line is worth, by its beginning. Quotes are escaped inside of JSON strings, so these marks are keys.
fn weigh(line: &[u8]) -> Weight {
    let head = &line[..line.len().min(240)];
    let kind = |from: &[u8]| {
        let at = memmem::find(from, b"\"type\":\"")? + 8;
        let end = memchr::memchr(b'"', &from[at..])?;
        Some((at + end, from[at..at + end].to_vec()))
    };
    if !line.starts_with(b"{\"timestamp\":\"") || !line.ends_with(b"}") {
        return Weight::All;
    }
    let Some((end, outer)) = kind(head) else { return Weight::All };
    let Some(rest) = head[end..].strip_prefix(b"\",\"payload\":{") else { return Weight::All };
    match outer.as_slice() {
        b"world_state" => Weight::Nothing,
        b"compacted" => Weight::Compacted,
        b"event_msg" | b"response_item" => {
            if !rest.starts_with(b"\"type\":\"") {
                return Weight::All;
            }
            let Some((_, inner)) = kind(rest) else { return Weight::All };
            match inner.as_slice() {
                b"task_started"
                | b"task_complete"
                | b"thread_settings_applied"
                | b"reasoning"
                | b"agent_message"
                | b"agent_reasoning" => Weight::Nothing,
                b"message"
                    if memmem::find(head, b"\"role\":\"user\"").is_none()
                        && memmem::find(head, b"\"role\":\"").is_some() =>
                {
                    Weight::Nothing
                }
                b"function_call_output"
                    if memmem::find(line, b"exit_code").is_none()
                        && memmem::find(line, b"exited with code 0").is_some() =>
                {
                    Weight::Nothing
                }
                b"item_completed" if memmem::find(head, b"\"item\":{\"type\":\"Reasoning\"").is_some() => {
                    Weight::Nothing
                }
                b"item_completed" if memmem::find(head, b"\"item\":{\"type\":\"AgentMessage\"").is_some() => {
                    Weight::Nothing
                }
                b"item_completed"
                    if memmem::find(head, b"\"item\":{\"type\":\"CommandExecution\"").is_some() && went_well(line) =>
                {
                    Weight::Nothing
                }
                _ => Weight::All,
            }
        }
        _ => Weight::All,
    }
}

/// True when the only exit code in an item is 0 and nothing says that it failed.
fn went_well(line: &[u8]) -> bool {
    let mut codes = memmem::find_iter(line, b"\"exit_code\":");
    let zero =
        codes.next().and_then(|at| line.get(at + 12..at + 14)).is_some_and(|code| code == b"0," || code == b"0}");
    zero && codes.next().is_none() && memmem::find(line, b"failed").is_none()
}
