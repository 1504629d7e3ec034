//! Reads the files of Qwen Code, record by record (agent-formats.md, Qwen Code): transcripts, those of its
//! sub-agents, and the log of requests beside them.
//!
//! A transcript tells most requests twice: in a `ui_telemetry` record, which all kinds of requests have, and in the
//! answer's own `usageMetadata`. The first one counts; an answer without one counts by itself.

use std::collections::HashMap;

use crate::records::book::Book;
use crate::records::frame::words;
use crate::records::{Record, object};
use crate::sessions::{Facts, Part, Reader, Response, Role, Source, Tokens};

/// What kind of file it is, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shelf {
    /// `projects/<p>/chats/<id>.jsonl`
    Chat,
    /// `projects/<p>/subagents/<id>/agent-<sub-agent>.jsonl`
    Subagent,
    /// `usage/token-usage-<month>.jsonl`
    Log,
}

impl Shelf {
    /// The kind of `source`.
    pub(super) fn of(source: &Source) -> Self {
        let above = |levels| source.path.ancestors().nth(levels).and_then(std::path::Path::file_name);
        match (above(1), above(2)) {
            (Some(folder), _) if folder == "usage" => Self::Log,
            (_, Some(folder)) if folder == "subagents" => Self::Subagent,
            _ => Self::Chat,
        }
    }
}

/// A request as both records of it have it: what it took of each kind.
type Shape = [u64; 4];

/// The shape of some tokens.
pub(super) fn shape(tokens: &Tokens) -> Shape {
    [tokens.input, tokens.cache_read, tokens.output, tokens.reasoning.unwrap_or(0)]
}

/// A file that is being read.
pub(super) struct QwenReader {
    book: Book,
    shelf: Shelf,
    /// The session's id by the file's name.
    session: String,
    /// Requests of the main conversation that were told once so far: above 0 in telemetry, below 0 in an answer.
    single: HashMap<Shape, i64>,
}

impl QwenReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let shelf = Shelf::of(source);
        let name = match shelf {
            Shelf::Subagent => source.path.parent().and_then(std::path::Path::file_name),
            _ => source.path.file_stem(),
        };
        let session = name.unwrap_or_default().to_string_lossy().into_owned();
        let book = Book::new(before);
        let carried: Vec<(Shape, i64)> = serde_json::from_slice(book.carried()).unwrap_or_default();
        Self { book, shelf, session, single: carried.into_iter().collect() }
    }
}

impl Reader for QwenReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        let (shelf, session, single) = (self.shelf, &self.session, &mut self.single);
        self.book.records(chunk, at, |book, at, record| match shelf {
            Shelf::Log => log_row(book, at, record),
            _ => take(book, single, shelf == Shelf::Subagent, session, at, record),
        });
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut carry: Vec<(Shape, i64)> = self.single.into_iter().filter(|(_, times)| *times != 0).collect();
        carry.sort_unstable();
        let carry = if carry.is_empty() { Vec::new() } else { serde_json::to_vec(&carry).unwrap_or_default() };
        self.book.finish(carry)
    }
}

fn log_row(book: &mut Book, offset: u64, record: &Record<'_>) -> Result<(), &'static str> {
    let Some(session) = record.text("sessionId").filter(|id| !id.is_empty()) else {
        return Err("a row of the usage log without a session");
    };
    let counts = ["inputTokens", "cachedTokens", "outputTokens", "thoughtsTokens", "totalTokens"];
    let Some(tokens) = tokens(record, counts) else { return Ok(()) };
    let part = book.session(&session, || Part { aside: true, ..Part::default() });
    let role = match record.text("source") {
        Some(source) if source != "main" => helper(&source),
        _ => Role::Main,
    };
    let at = record.time("timestamp");
    let model = record.text("model").map(|model| book.model(part, &model));
    let key = record.text("id").map_or(0, |id| Response::key(&[b"qwen log\0", id.as_bytes()].concat()));
    book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
    Ok(())
}

fn take(
    book: &mut Book,
    single: &mut HashMap<Shape, i64>,
    subagent: bool,
    session: &str,
    offset: u64,
    record: &Record<'_>,
) -> Result<(), &'static str> {
    let Some(kind) = record.text("type") else { return Err("a record without a type") };
    let part = book.session(session, || Part { subagent, ..Part::default() });
    let at = record.time("timestamp");
    if let Some(at) = at {
        book.part(part).seen(at);
    }
    place(book.part(part), record);
    if subagent && let Some(id) = record.text("agentId").filter(|_| !background(record)) {
        book.subagent(part, &id);
    }
    match kind.as_ref() {
        "user" if is_prompt(record) && !subagent => book.prompt(part, at, &prompt(record)),
        "assistant" => answer(book, single, part, subagent, offset, record),
        "tool_result" if !subagent => {
            let status = record.object("toolCallResult").and_then(|result| result.text("status"));
            book.part(part).failed_tool_calls += u64::from(status.is_some_and(|status| status != "success"));
        }
        "system" => system(book, single, part, offset, record),
        _ => {}
    }
    Ok(())
}

fn place(part: &mut Part, record: &Record<'_>) {
    if part.cwd.is_none() {
        part.cwd = record.text("cwd").filter(|folder| !folder.is_empty()).map(|folder| Part::short(&folder));
    }
    if let Some(branch) = record.text("gitBranch").filter(|branch| part.branch.as_deref() != Some(branch)) {
        part.branch = Some(Part::short(&branch));
    }
}

/// What the person typed: its notices, cron jobs and goals are written as a user's, too. Older versions write no
/// provenance.
pub(super) fn is_prompt(record: &Record<'_>) -> bool {
    match record.text("provenance") {
        Some(provenance) => provenance == "real_user",
        None => record.text("subtype").is_none_or(|subtype| subtype == "mid_turn_user_message"),
    }
}

/// The person's words: without what hooks and mentions of files added, where the record tells them apart.
pub(super) fn prompt(record: &Record<'_>) -> String {
    let shown = record.object("systemPayload").and_then(|payload| payload.text("displayText"));
    match shown.filter(|text| !text.trim().is_empty()) {
        Some(text) => text.into_owned(),
        None => without_reminders(&record.object("message").unwrap_or_default()),
    }
}

/// After a resume the program puts a reminder before the person's words, in a part of its own.
fn without_reminders(message: &Record<'_>) -> String {
    let reminds =
        |text: &str| text.trim().starts_with("<system-reminder>") && text.trim().ends_with("</system-reminder>");
    let parts = message.objects("parts").filter_map(|part| part.text("text").map(std::borrow::Cow::into_owned));
    let typed: Vec<String> = parts.filter(|text| !reminds(text)).collect();
    if typed.is_empty() { words(message.raw("parts")) } else { typed.join("\n") }
}

fn answer(
    book: &mut Book,
    single: &mut HashMap<Shape, i64>,
    part: usize,
    subagent: bool,
    offset: u64,
    record: &Record<'_>,
) {
    let model = record.text("model").map(|model| book.model(part, &model));
    if !subagent {
        let message = record.object("message").unwrap_or_default();
        let calls = message.objects("parts").filter(|part| part.raw("functionCall").and_then(object).is_some()).count();
        book.part(part).tool_calls += calls as u64;
    }
    let Some(tokens) = metadata(record) else { return };
    if !subagent {
        let told = single.entry(shape(&tokens)).or_default();
        *told -= 1;
        if *told >= 0 {
            return;
        }
    }
    let role = match (subagent, background(record)) {
        (true, true) => Role::Background,
        (true, false) => Role::Subagents,
        _ => Role::Main,
    };
    let key = match (record.raw("uuid"), record.raw("timestamp")) {
        (None, None) => 0,
        (id, time) => keyed(&["qwen answer"], &[id, time]),
    };
    book.bill(part, Response { key, at: record.time("timestamp"), model, role, tokens, cost: None, offset });
}

fn system(book: &mut Book, single: &mut HashMap<Shape, i64>, part: usize, offset: u64, record: &Record<'_>) {
    let payload = record.object("systemPayload").unwrap_or_default();
    match record.text("subtype").unwrap_or_default().as_ref() {
        "custom_title" => {
            let rank = if payload.is("titleSource", "auto") { 2 } else { 3 };
            book.title(part, rank, &payload.text("customTitle").unwrap_or_default());
        }
        "chat_compression" => {
            let status = payload.object("info").and_then(|info| info.known_count("compressionStatus"));
            book.part(part).compactions += u64::from(status.is_none_or(|status| status == 1));
        }
        "ui_telemetry" => {
            if let Some(event) =
                payload.object("uiEvent").filter(|event| event.is("event.name", "qwen-code.api_response"))
            {
                request(book, single, part, offset, record, &event);
            }
        }
        _ => {}
    }
}

fn request(
    book: &mut Book,
    single: &mut HashMap<Shape, i64>,
    part: usize,
    offset: u64,
    record: &Record<'_>,
    event: &Record<'_>,
) {
    let counts = [
        "input_token_count",
        "cached_content_token_count",
        "output_token_count",
        "thoughts_token_count",
        "total_token_count",
    ];
    let Some(tokens) = tokens(event, counts) else { return };
    let role = match event.text("subagent_name") {
        Some(name) => helper(&name),
        None if event.text("prompt_id").is_some_and(|id| id.starts_with("compress-")) => Role::Compaction,
        None => Role::Main,
    };
    if role == Role::Subagents
        && let Some(id) = event.text("subagent_id")
    {
        book.subagent(part, &id);
    }
    if role == Role::Main {
        let told = single.entry(shape(&tokens)).or_default();
        *told += 1;
        if *told <= 0 {
            return;
        }
    }
    let model = event.text("model").map(|model| book.model(part, &model));
    let at = event.time("event.timestamp").or_else(|| record.time("timestamp"));
    let key = match (event.raw("response_id"), event.raw("event.timestamp")) {
        (None, None) => 0,
        (id, time) => keyed(&["qwen"], &[id, time, event.raw("total_token_count")]),
    };
    book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
}

fn keyed(words: &[&str], values: &[Option<crate::records::Raw<'_>>]) -> u64 {
    let values = values.iter().map(|raw| raw.map_or("", |raw| raw.get()));
    Response::key(words.iter().copied().chain(values).collect::<Vec<_>>().join("\0").as_bytes())
}

/// The role of a sub-agent's request: some are the program's own, for its memory.
fn helper(name: &str) -> Role {
    if name.starts_with("managed-") { Role::Background } else { Role::Subagents }
}

fn background(record: &Record<'_>) -> bool {
    record.text("agentName").is_some_and(|name| helper(&name) == Role::Background)
}

/// What an answer's `usageMetadata` says.
pub(super) fn metadata(record: &Record<'_>) -> Option<Tokens> {
    let counts = [
        "promptTokenCount",
        "cachedContentTokenCount",
        "candidatesTokenCount",
        "thoughtsTokenCount",
        "totalTokenCount",
    ];
    tokens(&record.object("usageMetadata")?, counts)
}

/// Input includes what was cached. Output includes the thoughts, unless the total says otherwise, as it does for
/// models of Google. `None` where nothing was used.
fn tokens(record: &Record<'_>, [input, cached, output, thoughts, total]: [&str; 5]) -> Option<Tokens> {
    let (input, cached, output) = (record.count(input), record.count(cached), record.count(output));
    let reasoning = record.known_count(thoughts);
    let thought = reasoning.unwrap_or(0);
    let apart = thought > 0 && record.count(total) == input.saturating_add(output).saturating_add(thought);
    let tokens = Tokens {
        input: input.saturating_sub(cached),
        cache_read: cached,
        output: if apart { output.saturating_add(thought) } else { output },
        reasoning,
        requests: 1,
        ..Tokens::default()
    };
    (tokens.total() > 0).then_some(tokens)
}
