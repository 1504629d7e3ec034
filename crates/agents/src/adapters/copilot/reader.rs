//! Reads the files of a session of Copilot CLI (agent-formats.md, Copilot CLI): `events.jsonl`, event by event, and
//! `workspace.yaml`, which alone tells a new name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::records::book::Book;
use crate::records::{Record, object};
use crate::sessions::{Facts, Part, Reader, Response, Role, Source, Title, Tokens};

/// What goes on beyond the facts.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Carry {
    /// A request was told by itself, which newer versions do; the sums at each end of the program count before that
    /// only.
    single: bool,
}

/// A file that is being read.
pub(super) struct CopilotReader {
    book: Book,
    session: String,
    carry: Carry,
}

/// The session's id: the name of the file's folder, or of the file where older versions wrote it flat.
pub(super) fn id(source: &Source) -> String {
    let name = match source.path.file_name() {
        Some(file) if file == "events.jsonl" || file == "workspace.yaml" => {
            source.path.parent().and_then(|f| f.file_name())
        }
        _ => source.path.file_stem(),
    };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

impl CopilotReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let book = Book::new(before);
        let carry = serde_json::from_slice(book.carried()).unwrap_or_default();
        Self { book, session: id(source), carry }
    }
}

impl Reader for CopilotReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        let (session, carry) = (&self.session, &mut self.carry);
        self.book.records(chunk, at, |book, at, record| take(book, carry, session, at, record));
    }

    fn finish(self: Box<Self>) -> Facts {
        self.book.finish(serde_json::to_vec(&self.carry).unwrap_or_default())
    }
}

fn take(
    book: &mut Book,
    carry: &mut Carry,
    session: &str,
    offset: u64,
    record: &Record<'_>,
) -> Result<(), &'static str> {
    let Some(kind) = record.text("type") else { return Err("an event without a type") };
    let part = book.session(session, Part::default);
    let at = record.time("timestamp");
    if let Some(at) = at {
        book.part(part).seen(at);
    }
    let agent = record.text("agentId");
    let data = record.object("data").unwrap_or_default();
    match kind.as_ref() {
        "session.start" | "session.resume" => place(book.part(part), &data),
        "user.message" if agent.is_none() && is_typed(&data) => {
            book.prompt(part, at, &data.text("content").unwrap_or_default());
        }
        "assistant.message" => {
            if let Some(model) = data.text("model") {
                book.model(part, &model);
            }
        }
        "tool.execution_start" if agent.is_none() => book.part(part).tool_calls += 1,
        "tool.execution_complete" if agent.is_none() => {
            book.part(part).failed_tool_calls += u64::from(data.truth("success") == Some(false));
        }
        "subagent.started" => match agent.or_else(|| data.text("toolCallId")) {
            Some(id) => book.subagent(part, &id),
            None => return Err("a sub-agent without an id"),
        },
        "session.title_changed" => book.title(part, 1, &data.text("title").unwrap_or_default()),
        "session.usage_record" => {
            carry.single = true;
            request(book, part, session, offset, at, agent.is_some(), &data);
        }
        "session.compaction_complete" => compaction(book, part, session, offset, at, record, &data),
        "session.shutdown" if !carry.single => sums(book, part, session, offset, at, &data),
        _ => {}
    }
    Ok(())
}

/// What the person typed; the program, its skills and other agents send messages as a user, too, and say so.
pub(super) fn is_typed(data: &Record<'_>) -> bool {
    data.text("source").is_none_or(|source| source == "user")
}

fn place(part: &mut Part, data: &Record<'_>) {
    let Some(context) = data.object("context") else { return };
    let text = |key| context.text(key).filter(|text| !text.is_empty()).map(|text| Part::short(&text));
    part.cwd = part.cwd.take().or_else(|| text("cwd"));
    part.branch = text("branch").or_else(|| part.branch.take());
}

fn request(
    book: &mut Book,
    part: usize,
    session: &str,
    offset: u64,
    at: Option<i64>,
    subagent: bool,
    data: &Record<'_>,
) {
    let Some(usage) = data.object("usage") else { return };
    let Some(tokens) = tokens(&usage) else { return };
    let model = usage.text("model").map(|model| book.model(part, &model));
    let kind = usage.text("interactionType").unwrap_or_default();
    let role = match (subagent, kind.as_ref()) {
        (true, _) => Role::Subagents,
        (_, kind) if kind.contains("subagent") => Role::Subagents,
        (_, kind) if kind.contains("compaction") => Role::Compaction,
        (_, kind) if kind.is_empty() || kind.starts_with("conversation") => Role::Main,
        _ => Role::Background,
    };
    let accounting = usage.object("accounting").unwrap_or_default();
    // A session that was forked has the records of the one it came from, whose id they keep.
    let source = accounting.text("sourceSessionId").unwrap_or(session.into());
    let key = accounting.text("usageId").or_else(|| usage.text("apiCallId")).map_or(0, |id| keyed(&["", &source, &id]));
    book.bill(part, Response { key, at, model, role, tokens, cost: None, offset });
}

fn compaction(
    book: &mut Book,
    part: usize,
    session: &str,
    offset: u64,
    at: Option<i64>,
    record: &Record<'_>,
    data: &Record<'_>,
) {
    book.part(part).compactions += u64::from(data.truth("success") != Some(false));
    let Some(usage) = data.object("compactionTokensUsed") else { return };
    let Some(tokens) = tokens(&usage) else { return };
    let model = usage.text("model").map(|model| book.model(part, &model));
    let id = data.text("compactionAttemptId").or_else(|| record.text("id"));
    let key = id.map_or(0, |id| keyed(&["compaction", session, &id]));
    book.bill(part, Response { key, at, model, role: Role::Compaction, tokens, cost: None, offset });
}

/// The sums of the whole session, by model, that older versions leave instead of single requests: the last ones count.
fn sums(book: &mut Book, part: usize, session: &str, offset: u64, at: Option<i64>, data: &Record<'_>) {
    let Some(metrics) = data.raw("modelMetrics").and_then(object) else { return };
    for (model, raw) in metrics.entries() {
        let metric = object(raw).unwrap_or_default();
        let Some(tokens) = metric.object("usage").and_then(|usage| tokens(&usage)) else { continue };
        let key = keyed(&["shutdown", session, model]);
        let model = Some(book.model(part, model));
        book.bill(part, Response { key, at, model, role: Role::Main, tokens, cost: None, offset });
    }
}

fn keyed(words: &[&str]) -> u64 {
    Response::key(["copilot", &words.join("\0")].join("\0").as_bytes())
}

/// Input includes what was read from and written to a cache, output the reasoning. `None` where nothing was used.
pub(super) fn tokens(usage: &Record<'_>) -> Option<Tokens> {
    let (read, write) = (usage.count("cacheReadTokens"), usage.count("cacheWriteTokens"));
    let tokens = Tokens {
        input: usage.count("inputTokens").saturating_sub(read).saturating_sub(write),
        cache_read: read,
        cache_write: write,
        output: usage.count("outputTokens"),
        reasoning: usage.known_count("reasoningTokens"),
        requests: 1,
        ..Tokens::default()
    };
    (tokens.total() > 0).then_some(tokens)
}

/// The part of `workspace.yaml` that matters. Everything in it is optional; what is not understood is left out.
pub(super) fn workspace(source: &Source, bytes: &[u8]) -> Result<Facts, String> {
    let text = String::from_utf8_lossy(bytes);
    let values: BTreeMap<String, serde_json::Value> =
        serde_saphyr::from_str(&text).map_err(|error| format!("{}: {error}", source.path.display()))?;
    let words = |key: &str| values.get(key).and_then(|value| value.as_str()).filter(|text| !text.trim().is_empty());
    let rank = if values.get("user_named").and_then(serde_json::Value::as_bool) == Some(true) { 3 } else { 1 };
    let part = Part {
        session: id(source),
        aside: true,
        cwd: words("cwd").map(Part::short),
        branch: words("branch").map(Part::short),
        title: words("name").map(|name| Title { rank, text: Part::short(name) }),
        ..Part::default()
    };
    Ok(Facts { parts: vec![part], lines: 1, ..Facts::default() })
}
