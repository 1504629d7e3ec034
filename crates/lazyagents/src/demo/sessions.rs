//! The demo's conversations, in the formats of Claude Code and Codex (agent-formats.md), with times that lie just before
//! now: so that lists, transcripts, search and usage have something to show. Invented from the first word to the last.

use std::path::Path;

use serde_json::{Value, json};
use sys::files::{self, Mode};
use sys::{Failure, clock};

/// One thing that is said.
enum Said {
    /// The person types.
    You(&'static str),
    /// The model thinks and answers, with these tokens of output.
    Answer(&'static str, &'static str, u64),
    /// The model calls a tool: its name, what it is given, what it answers, whether it went well.
    Tool(&'static str, &'static str, &'static str, &'static str, bool),
}

use Said::{Answer, Tool, You};

/// A conversation: minutes before now at which it began, the folder below `~/projects`, the model, what is said.
type Script = (i64, &'static str, &'static str, &'static [Said]);

const CLAUDE: [Script; 5] = [
    (
        9,
        "webshop",
        "claude-sonnet-5-5",
        &[
            You("The total of the cart is a cent off for three items at 0.35. Why?"),
            Answer("I should look at how the total is made.", "I look at the cart first.", 180),
            Tool("Grep", "pattern", "fn total", "src/cart.rs:41:pub fn total(&self) -> Money {", true),
            Tool(
                "Read",
                "file_path",
                "src/cart.rs",
                "pub fn total(&self) -> Money {\n    self.lines.iter().map(|line| line.sum().round()).sum()\n}",
                true,
            ),
            Answer(
                "Rounded per line, then added.",
                "Each **line** is rounded before they are added:\n\n- 3 × 0.35 = 1.05, but `0.35` is rounded to `0.4` first\n- so the sum is `1.2`\n\nRound the sum instead:\n\n```rust\nself.lines.iter().map(Line::sum).sum::<Money>().round()\n```",
                420,
            ),
            You("Do that, and add a test."),
            Tool("Edit", "file_path", "src/cart.rs", "1 replacement", true),
            Tool(
                "Bash",
                "command",
                "cargo test cart",
                "running 7 tests\ntest cart::three_at_0_35 ... ok\n\ntest result: ok. 7 passed",
                true,
            ),
            Answer("All green.", "Done: the sum is rounded once, and `three_at_0_35` holds it.", 95),
        ],
    ),
    (
        190,
        "webshop",
        "claude-sonnet-5-5",
        &[
            You("Make the checkout page work without JavaScript."),
            Answer(
                "A form instead of a fetch.",
                "I replace the `fetch` with a plain form and keep the script as an improvement.",
                350,
            ),
            Tool("Bash", "command", "npm test", "1 failing: shows the summary", false),
            Answer(
                "The summary is drawn by the script.",
                "One test fails because the summary was drawn by the script alone. I draw it on the server as well.",
                520,
            ),
        ],
    ),
    (
        60 * 27,
        "notes-app",
        "claude-opus-5-5",
        &[
            You("Plan the move of the notes from files to SQLite. Nothing may be lost."),
            Answer(
                "Write both, read old, verify, switch.",
                "1. write to both\n2. copy what is there, with a checksum for each note\n3. read from SQLite, compare for a week\n4. keep the files, read-only",
                1_900,
            ),
            You("What if two devices write at once?"),
            Answer(
                "A version per note.",
                "Each note gets a version; the second writer sees that it changed and merges, or asks.",
                800,
            ),
        ],
    ),
    (
        60 * 24 * 3,
        "webshop",
        "claude-sonnet-5-5",
        &[
            You("Why does the deploy fail on arm?"),
            Tool("Bash", "command", "docker buildx imagetools inspect shop:latest", "Platform: linux/amd64", true),
            Answer(
                "No arm image.",
                "The image is built for `linux/amd64` only. Add `linux/arm64` to the platforms of the build.",
                240,
            ),
        ],
    ),
    (
        60 * 24 * 6,
        "notes-app",
        "claude-sonnet-5-5",
        &[
            You("Summarise the meeting notes of this week in five lines."),
            Answer(
                "Five lines.",
                "- the release moves to Thursday\n- search gets its own page\n- nobody owns the importer\n- two customers wait for export\n- the budget is fine",
                310,
            ),
        ],
    ),
];

const CODEX: [Script; 2] = [
    (
        75,
        "webshop",
        "gpt-5.2-codex",
        &[
            You("Find out what the slow query on the orders page is, and fix it."),
            Answer(
                "An index is missing.",
                "`orders.customer_id` has no index, so every page reads the whole table. I add one in a migration.",
                640,
            ),
        ],
    ),
    (
        60 * 24 * 2,
        "notes-app",
        "gpt-5.2-codex",
        &[
            You("Add a dark theme that follows the system."),
            Answer(
                "prefers-color-scheme.",
                "The colours are variables now, and `prefers-color-scheme` picks them.",
                900,
            ),
        ],
    ),
];

/// Writes them into the home below `tree`, and the folders that they were started in.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(tree: &Path, home: &str) -> Result<(), Failure> {
    let now = jiff::Timestamp::try_from(clock::wall()).map_or(0, jiff::Timestamp::as_millisecond);
    let folder = |project: &str| tree.join(home).join("projects").join(project);
    for project in ["webshop", "notes-app"] {
        let readme = format!("# {project}\n\nInvented for the demo of lazyagents.\n");
        files::write_atomic(&folder(project).join("README.md"), readme.as_bytes(), Mode::Normal)?;
    }
    for (nth, script) in CLAUDE.iter().enumerate() {
        let cwd = folder(script.1);
        let id = format!("00000000-0000-4000-8000-00000000000{nth}");
        // As Claude Code names the folder of a project: what is no letter or digit becomes a dash.
        let name: String =
            cwd.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = tree.join(home).join(".claude/projects").join(name).join(format!("{id}.jsonl"));
        put(&path, &claude(script, &id, &cwd, now))?;
    }
    for (nth, script) in CODEX.iter().enumerate() {
        let cwd = folder(script.1);
        let id = format!("01900000-0000-7000-8000-00000000000{nth}");
        let began = stamp(now - script.0 * 60_000);
        let day = began.get(..10).unwrap_or("2026-01-01").replace('-', "/");
        let time = began.get(..19).unwrap_or_default().replace(':', "-");
        let path = tree.join(home).join(".codex/sessions").join(day).join(format!("rollout-{time}-{id}.jsonl"));
        put(&path, &codex(script, &id, &cwd, now))?;
    }
    Ok(())
}

fn put(path: &Path, records: &[Value]) -> Result<(), Failure> {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    files::write_atomic(path, text.as_bytes(), Mode::Private).map(drop)
}

fn stamp(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}

/// Tokens grow with the conversation, most of them read from the cache.
fn usage(step: usize, output: u64) -> (u64, u64, u64) {
    let step = step as u64;
    (900 + 40 * step, 12_000 + 3_500 * step, 1_400 + 25 * output)
}

fn claude((began, _, model, said): &Script, id: &str, cwd: &Path, now: i64) -> Vec<Value> {
    let mut records = Vec::new();
    let mut at = now - began * 60_000;
    let mut add = |kind: &str, at: i64, message: Value| {
        records.push(json!({
            "type": kind, "sessionId": id, "cwd": cwd, "timestamp": stamp(at), "isSidechain": false, "gitBranch": "main",
            "version": "2.1.332", "uuid": format!("{id}-{at}"), "message": message,
        }));
    };
    for (step, one) in said.iter().enumerate() {
        at += 20_000;
        let answer = |content: Value, output: u64, message: String| {
            let (input, read, write) = usage(step, output);
            json!({
                "id": message, "type": "message", "role": "assistant", "model": model, "content": content,
                "usage": {"input_tokens": input, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
                    "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
                    "output_tokens": output},
            })
        };
        let message = format!("msg_demo_{id}_{step}");
        match one {
            You(text) => add("user", at, json!({"role": "user", "content": text})),
            Answer(thought, text, output) => {
                let content =
                    json!([{"type": "thinking", "thinking": thought, "signature": ""}, {"type": "text", "text": text}]);
                add("assistant", at, answer(content, *output, message));
            }
            Tool(name, key, value, told, well) => {
                let call = format!("toolu_demo_{step}");
                let mut input = serde_json::Map::new();
                input.insert((*key).to_owned(), Value::from(*value));
                let content = json!([{"type": "tool_use", "id": call, "name": name, "input": input}]);
                add("assistant", at, answer(content, 60, message));
                let result = json!([{"type": "tool_result", "tool_use_id": call, "content": told, "is_error": !well}]);
                add("user", at + 2_000, json!({"role": "user", "content": result}));
            }
        }
    }
    records
}

fn codex((began, _, model, said): &Script, id: &str, cwd: &Path, now: i64) -> Vec<Value> {
    let mut at = now - began * 60_000;
    let record =
        |at: i64, kind: &str, payload: Value| json!({"timestamp": stamp(at), "type": kind, "payload": payload});
    let mut records = vec![
        record(
            at,
            "session_meta",
            json!({"id": id, "session_id": id, "timestamp": stamp(at), "cwd": cwd, "cli_version": "0.171.0", "source": "cli"}),
        ),
        record(at, "turn_context", json!({"cwd": cwd, "model": model})),
    ];
    let mut sum = (0, 0, 0);
    for (step, one) in said.iter().enumerate() {
        at += 30_000;
        match one {
            You(text) => {
                records.push(record(
                    at,
                    "response_item",
                    json!({"type": "message", "role": "user",
                    "content": [{"type": "input_text", "text": text}]}),
                ));
                records.push(record(at, "event_msg", json!({"type": "user_message", "message": text})));
            }
            Answer(thought, text, output) => {
                let (input, read, _) = usage(step, *output);
                sum = (sum.0 + input + read, sum.1 + read, sum.2 + output);
                records.push(record(
                    at,
                    "response_item",
                    json!({"type": "reasoning", "id": format!("rs_demo_{step}"),
                    "summary": [{"type": "summary_text", "text": thought}], "content": null}),
                ));
                records.push(record(
                    at,
                    "response_item",
                    json!({"type": "message", "role": "assistant",
                    "id": format!("msg_demo_{step}"), "content": [{"type": "output_text", "text": text}]}),
                ));
                records.push(record(at, "event_msg", json!({"type": "agent_message", "message": text})));
                let counts = |sum: (u64, u64, u64)| {
                    json!({"input_tokens": sum.0, "cached_input_tokens": sum.1,
                    "output_tokens": sum.2, "reasoning_output_tokens": 0, "total_tokens": sum.0 + sum.2})
                };
                let limit = |used: f64, minutes: u64, ahead: i64| {
                    json!({"used_percent": used, "window_minutes": minutes,
                    "resets_at": (at / 1000) + ahead})
                };
                records.push(record(at, "event_msg", json!({"type": "token_count",
                    "info": {"total_token_usage": counts(sum), "last_token_usage": counts((input + read, read, *output)),
                        "model_context_window": 258_400},
                    "rate_limits": {"limit_id": "codex", "primary": limit(11.0, 300, 3 * 3600),
                        "secondary": limit(34.0, 10_080, 4 * 86_400)}})));
            }
            Tool(..) => {}
        }
    }
    records
}
