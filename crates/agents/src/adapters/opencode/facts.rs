//! What OpenCode's database says of each conversation. A sub-agent is a session below another, and part of it here.

use std::collections::HashMap;
use std::ops::ControlFlow;

use rusqlite::Connection;

use super::rows::{Message, Session, Step, roots, sessions, walk};
use crate::records::Record;
use crate::records::book::Book;
use crate::sessions::{Facts, Part, Response, Role, Tokens};

/// Everything the database says.
pub(super) fn facts(database: &Connection) -> rusqlite::Result<Facts> {
    let sessions = sessions(database)?;
    let roots = roots(&sessions);
    let mut book = Book::new(None);
    for session in &sessions {
        begin(&mut book, roots.get(session.id.as_str()).copied().unwrap_or(&session.id), session);
    }
    let mut reading = Reading { book, roots, prompt: None, messages: 0 };
    walk(database, None, &mut |step| {
        reading.take(step);
        ControlFlow::Continue(())
    })?;
    Ok(reading.book.finish(Vec::new()))
}

fn begin(book: &mut Book, root: &str, session: &Session) {
    let own = session.id == root;
    // Without its root it is a sub-agent's alone, which is never a row.
    let part = book.session(root, || Part { subagent: true, aside: true, ..Part::default() });
    if !own {
        book.subagent(part, &session.id);
        return;
    }
    // A title that the program makes at first is none.
    if !["New session - ", "Child session - "].iter().any(|start| session.title.starts_with(start)) {
        book.title(part, 1, &session.title);
    }
    let part = book.part(part);
    part.subagent = false;
    part.aside = false;
    part.archived = session.archived;
    part.cwd = Some(session.folder.as_str()).filter(|folder| !folder.is_empty()).map(Part::short);
    session.created.into_iter().chain(session.updated).for_each(|at| part.seen(at));
}

struct Reading<'a> {
    book: Book,
    roots: HashMap<&'a str, &'a str>,
    /// The words of the person's message that is being read.
    prompt: Option<String>,
    messages: u64,
}

impl Reading<'_> {
    fn take(&mut self, step: Step<'_>) {
        match step {
            Step::Message(message) => self.message(message),
            Step::Part(message, part) => self.part(message, &part),
            Step::End(message) => {
                if let Some(text) = self.prompt.take() {
                    let part = self.place(message);
                    self.book.prompt(part, message.created, &text);
                }
            }
            Step::Bad(why) => self.book.skip(self.messages, why),
        }
    }

    fn place(&mut self, message: &Message<'_>) -> usize {
        let root = self.roots.get(message.session).copied().unwrap_or(message.session);
        self.book.session(root, || Part { subagent: true, aside: true, ..Part::default() })
    }

    fn is_main(&self, message: &Message<'_>) -> bool {
        self.roots.get(message.session).is_some_and(|root| *root == message.session)
    }

    fn message(&mut self, message: &Message<'_>) {
        let offset = self.messages;
        self.messages += 1;
        self.book.line();
        let (part, main) = (self.place(message), self.is_main(message));
        if let Some(at) = message.created {
            self.book.part(part).seen(at);
        }
        if !message.data.is("role", "assistant") {
            return;
        }
        let compacts = is_summary(&message.data);
        if compacts && main && message.data.raw("error").is_none() {
            self.book.part(part).compactions += 1;
        }
        let model = message.data.text("modelID").map(|model| self.book.model(part, &model));
        let Some(tokens) = tokens(&message.data) else { return };
        let role = match (main, compacts) {
            (false, _) => Role::Subagents,
            (true, true) => Role::Compaction,
            (true, false) => Role::Main,
        };
        let at = message.created.or_else(|| message.data.object("time").and_then(|time| time.time("created")));
        let (key, cost) = (key(message), message.data.dollars("cost"));
        self.book.bill(part, Response { key, at, model, role, tokens, cost, offset });
    }

    fn part(&mut self, message: &Message<'_>, part: &Record<'_>) {
        if !self.is_main(message) {
            return;
        }
        if message.data.is("role", "user") {
            if let Some(text) = typed(part) {
                let prompt = self.prompt.get_or_insert_default();
                if !prompt.is_empty() {
                    prompt.push('\n');
                }
                prompt.push_str(&text);
            }
        } else if part.is("type", "tool") {
            let failed = part.object("state").is_some_and(|state| state.is("status", "error"));
            let at = self.place(message);
            let facts = self.book.part(at);
            facts.tool_calls += 1;
            facts.failed_tool_calls += u64::from(failed);
        }
    }
}

/// A message that stands for what went before.
pub(super) fn is_summary(data: &Record<'_>) -> bool {
    data.truth("summary") == Some(true) || data.is("mode", "compaction")
}

/// The words that the person typed in one part of a message: the program adds parts of its own, and marks them.
pub(super) fn typed(part: &Record<'_>) -> Option<String> {
    let own = part.is("type", "text") && part.truth("synthetic") != Some(true) && part.truth("ignored") != Some(true);
    part.text("text").filter(|text| own && !text.trim().is_empty()).map(Into::into)
}

/// A fork of a session has copies of its messages with ids of their own, but with the same times and counts: those
/// tell which response it is.
fn key(message: &Message<'_>) -> u64 {
    let data = &message.data;
    let time = data.object("time").unwrap_or_default();
    let Some(tokens) = tokens(data).filter(|_| time.raw("created").is_some()) else {
        return Response::key(["opencode", message.id].join("\0").as_bytes());
    };
    let raw = |record: &Record<'_>, key: &str| record.raw(key).map_or("", |raw| raw.get()).to_owned();
    let counts = [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output].map(|count| count.to_string());
    let mut id = vec!["opencode".to_owned(), raw(&time, "created"), raw(&time, "completed")];
    id.extend(["providerID", "modelID"].map(|key| raw(data, key)));
    id.extend(counts);
    Response::key(id.join("\0").as_bytes())
}

/// Input leaves out what was read from a cache, output the reasoning. `None` where nothing was used.
pub(super) fn tokens(data: &Record<'_>) -> Option<Tokens> {
    let told = data.object("tokens")?;
    let cache = told.object("cache").unwrap_or_default();
    let reasoning = told.known_count("reasoning");
    let tokens = Tokens {
        input: told.count("input"),
        cache_read: cache.count("read"),
        cache_write: cache.count("write"),
        output: told.count("output").saturating_add(reasoning.unwrap_or(0)),
        reasoning,
        requests: 1,
        ..Tokens::default()
    };
    (tokens.total() > 0).then_some(tokens)
}
