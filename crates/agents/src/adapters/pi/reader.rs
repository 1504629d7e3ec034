//! Reads a session's file of Pi, record by record (agent-formats.md, Pi; session-format.md of its package).

use crate::records::book::Book;
use crate::records::frame::words;
use crate::records::{Record, object};
use crate::sessions::{Facts, Part, Reader, Response, Role, Source, Tokens};

/// A file that is being read.
pub(super) struct PiReader {
    book: Book,
    /// The session's id: that of the first record when it is a header, else the one in the file's name.
    session: String,
}

impl PiReader {
    /// A reader of `source`, which goes on from `before`.
    pub(super) fn new(source: &Source, before: Option<Facts>) -> Self {
        let book = Book::new(before);
        let carried = String::from_utf8_lossy(book.carried()).into_owned();
        let session = if carried.is_empty() { id_in_name(source) } else { carried };
        Self { book, session }
    }
}

impl Reader for PiReader {
    fn lines(&mut self, chunk: &[u8], at: u64) {
        let session = &mut self.session;
        self.book.records(chunk, at, |book, at, record| take(book, session, at, record));
    }

    fn finish(self: Box<Self>) -> Facts {
        self.book.finish(self.session.into_bytes())
    }
}

/// The id in `<time>_<id>.jsonl`.
fn id_in_name(source: &Source) -> String {
    let stem = source.path.file_stem().unwrap_or_default().to_string_lossy();
    stem.split_once('_').map_or_else(|| stem.to_string(), |(_, id)| id.to_owned())
}

fn take(book: &mut Book, session: &mut String, offset: u64, record: &Record<'_>) -> Result<(), &'static str> {
    let Some(kind) = record.text("type") else { return Err("a record without a type") };
    let header = kind == "session";
    if header
        && offset == 0
        && let Some(id) = record.text("id").filter(|id| !id.is_empty())
    {
        *session = Part::short(&id);
    }
    // Any file can lie in the folder of `PI_CODING_AGENT_SESSION_DIR`: without a header or a message it is no session.
    let part = book.session(session, || Part { aside: true, ..Part::default() });
    if header || kind == "message" {
        book.part(part).aside = false;
    }
    let at = record.time("timestamp");
    if let Some(at) = at {
        book.part(part).seen(at);
    }
    match kind.as_ref() {
        "session" => {
            let folder = record.text("cwd").filter(|folder| !folder.is_empty());
            let part = book.part(part);
            part.cwd = part.cwd.take().or(folder.map(|folder| Part::short(&folder)));
        }
        "message" => match record.object("message") {
            Some(message) => say(book, part, offset, record, &message),
            None => return Err("a message without content"),
        },
        "compaction" => {
            book.part(part).compactions += 1;
            bill(book, part, offset, record, record, Role::Compaction);
        }
        "branch_summary" => bill(book, part, offset, record, record, Role::Compaction),
        "usage" => bill(book, part, offset, record, record, Role::Background),
        "session_info" => match record.text("name").filter(|name| !name.trim().is_empty()) {
            Some(name) => book.title(part, 3, &name),
            None => book.part(part).title = None,
        },
        _ => {}
    }
    Ok(())
}

fn say(book: &mut Book, part: usize, offset: u64, record: &Record<'_>, message: &Record<'_>) {
    match message.text("role").unwrap_or_default().as_ref() {
        "user" => {
            let at = record.time("timestamp").or_else(|| message.time("timestamp"));
            book.prompt(part, at, &words(message.raw("content")));
        }
        "assistant" => {
            if let Some(model) = message.text("model") {
                book.model(part, &model);
            }
            let calls = message.objects("content").filter(|block| block.is("type", "toolCall")).count();
            book.part(part).tool_calls += calls as u64;
            bill(book, part, offset, record, message, Role::Main);
        }
        "toolResult" => {
            book.part(part).failed_tool_calls += u64::from(message.truth("isError") == Some(true));
            // A tool that asks a model by itself: a sub-agent in all but name.
            bill(book, part, offset, record, message, Role::Subagents);
        }
        _ => {}
    }
}

/// Adds what `paid` (the record, or the message in it) says it used.
fn bill(book: &mut Book, part: usize, offset: u64, record: &Record<'_>, paid: &Record<'_>, role: Role) {
    let Some((tokens, cost)) = usage(paid) else { return };
    let model = paid.text("model").map(|model| book.model(part, &model));
    let at = record.time("timestamp").or_else(|| paid.time("timestamp"));
    book.bill(part, Response { key: key(record, paid), at, model, role, tokens, cost, offset });
}

/// A fork copies records with their times into a new file; the ids of old records are made up anew when Pi brings
/// their file up to date, so they are left out.
fn key(record: &Record<'_>, paid: &Record<'_>) -> u64 {
    let mut id = b"pi".to_vec();
    let times = [record.raw("timestamp"), paid.raw("timestamp")];
    if times.iter().all(Option::is_none) {
        return 0;
    }
    let told = ["responseId", "role", "toolCallId", "usage"].map(|key| paid.raw(key));
    for raw in times.into_iter().chain([record.raw("type")]).chain(told) {
        id.push(0);
        id.extend(raw.map_or(&b""[..], |raw| raw.get().as_bytes()));
    }
    Response::key(&id)
}

/// Pi's kinds are disjoint, and `output` holds the reasoning. `None` where nothing was used.
pub(super) fn usage(paid: &Record<'_>) -> Option<(Tokens, Option<u64>)> {
    let usage = paid.raw("usage").and_then(object)?;
    let tokens = Tokens {
        input: usage.count("input"),
        cache_read: usage.count("cacheRead"),
        cache_write: usage.count("cacheWrite"),
        cache_write_1h: usage.known_count("cacheWrite1h"),
        output: usage.count("output"),
        reasoning: usage.known_count("reasoning"),
        requests: 1,
    };
    (tokens.total() > 0).then(|| (tokens, usage.object("cost").and_then(|cost| cost.dollars("total"))))
}
