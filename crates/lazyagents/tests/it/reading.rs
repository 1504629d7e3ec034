//! The tabs Sessions and Usage and the reader of transcripts: as pictures of an invented shelf, and as the real program on
//! homes that real agents left.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use agents::sessions::rows::{ToolUse, Turn, UsageRow, UsageSum, UsageTable};
use agents::sessions::{Session, Snapshot, Speaker, Tokens};
use insta::assert_snapshot;
use lazyagents::app::event::{Effect, Event};
use lazyagents::app::reader::Told;
use lazyagents::app::shelf::{Find, FindEnd, SessionLine, Shelf};
use lazyagents::app::usage::Counted;
use testkit::{Home, Pty};

use crate::history::{copy, fixtures};
use crate::terminal::{open, quit};
use crate::world::{World, context};

/// 2026-12-01 12:00 UTC.
const NOW: i64 = 1_796_126_400_000;

fn line(agent: &'static str, id: &str, title: &str, folder: &str, minutes: i64, tokens: u64) -> (SessionLine, Session) {
    let line = SessionLine {
        key: (agent, id.to_owned()),
        agent: agents::adapter::by_id(agent).unwrap().about().name,
        title: title.to_owned(),
        named: title.starts_with("my "),
        cwd: format!("~/projects/{folder}"),
        folder: folder.to_owned(),
        updated: Some(NOW - minutes * 60_000),
        tokens,
        live: minutes == 0,
        hay: format!("{agent} {title} {folder}").to_lowercase(),
    };
    let session = Session {
        agent,
        id: id.to_owned(),
        cwd: Some(format!("/home/dev/projects/{folder}")),
        updated: line.updated,
        started: line.updated.map(|at| at - 600_000),
        first_prompt: Some(format!("{title}, please")),
        branch: Some("main".to_owned()),
        models: vec!["a-model".to_owned()],
        prompts: 9,
        tool_calls: 31,
        failed_tool_calls: 2,
        subagents: 1,
        ..Session::default()
    };
    (line, session)
}

fn shelf() -> Arc<Shelf> {
    let (lines, sessions) = [
        line("claude-code", "c1", "Fix the cart rounding", "webshop", 0, 12_400),
        line("codex", "x1", "Why does the deploy fail on arm?", "webshop", 62, 210_000),
        line("claude-code", "c2", "my release", "notes-app", 60 * 30, 8_000),
        line("gemini-cli", "g1", "", "a-very-long-name-of-a-project", 60 * 24 * 40, 0),
    ]
    .into_iter()
    .unzip();
    let snapshot = Arc::new(Snapshot { sessions, ..Snapshot::default() });
    Arc::new(Shelf { snapshot, lines, complete: true, skipped: (3, 1), problems: Vec::new() })
}

fn world(size: (u16, u16)) -> World {
    let mut world = World::of(&context(&[], &[], "sessions: {}"), size);
    world.app.toasts = Default::default();
    world.app.wall = NOW;
    world
}

fn pictures(set: impl Fn(&mut World)) -> String {
    let mut text = String::new();
    for (columns, rows) in [(40, 12), (80, 24), (120, 30)] {
        let mut world = world((columns, rows));
        set(&mut world);
        writeln!(text, "== {columns}x{rows}\n{}", world.screen()).unwrap();
    }
    text
}

fn filled(world: &mut World) -> &mut World {
    world.event(Event::Shelf(shelf()));
    world
}

fn turn(role: Speaker, text: &str) -> Turn {
    let at = Some("2026-12-01T11:58:00Z".to_owned());
    Turn {
        role,
        at,
        text: text.to_owned(),
        reasoning: None,
        tools: Vec::new(),
        subagent: None,
        model: None,
        tokens: None,
    }
}

fn transcript() -> Vec<(u64, Turn)> {
    let answer = Turn {
        reasoning: Some("It rounds each line.\nThe sum should be rounded.".to_owned()),
        tools: vec![
            ToolUse {
                name: "Bash".into(),
                input: r#"{"command":"cargo test cart","description":"run tests"}"#.into(),
                output: Some("1 passed\n1 failed".into()),
                ok: Some(false),
            },
            ToolUse { name: "Read".into(), input: r#"{"file_path":"src/cart.rs"}"#.into(), output: None, ok: None },
        ],
        model: Some("a-model".into()),
        tokens: Some(Tokens { input: 900, output: 100, ..Tokens::default() }),
        ..turn(
            Speaker::Assistant,
            "It rounds **each line**:\n\n- `line.round()`\n- then the sum\n\n```rust\nlet x = 1;\n```",
        )
    };
    let helper = Turn { subagent: Some("Explore".into()), ..turn(Speaker::Assistant, "Looked around in *src*.") };
    vec![
        (0, turn(Speaker::User, "Why is the cart a cent off?")),
        (1, answer),
        (2, helper),
        (3, turn(Speaker::User, "Fix the cart then.")),
        (4, turn(Speaker::Assistant, "Done.")),
    ]
}

/// The reader, with everything told.
fn reading(world: &mut World) -> &mut World {
    filled(world).key("v");
    let reader = world.app.sessions.readers;
    let told = |told| Event::Told { reader, told };
    world.event(told(Told::Known { turns: 5, prompts: vec![0, 3], done: true }));
    world.event(told(Told::Window { around: 0, turns: transcript() }));
    world
}

#[test]
fn sessions_looking() {
    assert_snapshot!(pictures(|world| drop(world.event(Event::Files(Some((120, 6_000)))))));
}

#[test]
fn sessions_none() {
    assert_snapshot!(pictures(|world| {
        world.event(Event::Shelf(Arc::new(Shelf { complete: true, ..Shelf::default() })));
    }));
}

#[test]
fn sessions_full() {
    assert_snapshot!(pictures(|world| {
        filled(world).keys("space");
    }));
}

#[test]
fn sessions_by_project_of_one_agent() {
    assert_snapshot!(pictures(|world| {
        filled(world).keys("p f");
    }));
}

#[test]
fn sessions_searched() {
    assert_snapshot!(pictures(|world| {
        filled(world).key("F");
        world.type_text("deploy arm");
        let find = Find {
            key: ("codex", "x1".to_owned()),
            hits: 3,
            excerpts: vec![(4, "you", "why does the deploy fail on arm64 only?".to_owned())],
        };
        let end = FindEnd { searched: (3, 4), more: false, problem: None };
        world.event(Event::Found { number: world.app.sessions.searches, found: vec![find], end: Some(end) });
        world.key("enter");
    }));
}

#[test]
fn transcript_folded() {
    assert_snapshot!(pictures(|world| {
        reading(world);
    }));
}

#[test]
fn transcript_open_and_searched() {
    assert_snapshot!(pictures(|world| {
        reading(world).keys("a /");
        world.type_text("cart");
        let reader = world.app.sessions.readers;
        let number = world.app.sessions.reader.as_ref().unwrap().inside.as_ref().unwrap().number;
        world.event(Event::Told { reader, told: Told::Inside { number, turns: vec![0, 1, 3], done: true } });
        world.keys("enter n");
    }));
}

#[test]
fn usage_by_day() {
    let row = |key: &str, input, output, cost_usd| UsageRow {
        key: key.to_owned(),
        label: key.to_owned(),
        tokens: Tokens { input, output, cache_read: input * 3, requests: 7, ..Tokens::default() },
        cost_usd,
        agent: None,
        ends: None,
        current: None,
    };
    let rows = vec![row("2026-12-01", 310_000, 110_000, None), row("2026-11-30", 20_000, 4_000, Some(1.5))];
    let total = UsageSum { tokens: Tokens { input: 330_000, output: 114_000, ..Tokens::default() }, cost_usd: None };
    let table =
        UsageTable { since: None, until: None, timezone: "Europe/Berlin".into(), rows, total, skipped: Vec::new() };
    let days =
        vec![("2026-11-29".to_owned(), 0), ("2026-11-30".to_owned(), 84_000), ("2026-12-01".to_owned(), 1_350_000)];
    assert_snapshot!(pictures(|world| {
        filled(world);
        world.go("usage");
        let counted = Arc::new(Counted { table: table.clone(), days: days.clone() });
        world.event(Event::Counted { number: world.app.usage.counts, counted });
    }));
}

#[test]
fn keys_of_the_list_ask_for_what_they_mean() {
    let mut world = world((120, 30));
    filled(&mut world).key("down");
    let resume = world.key("enter");
    let command = ["codex", "resume", "x1"].map(str::to_owned).to_vec();
    assert!(
        matches!(&resume[..], [Effect::Resume { command: words, folder, .. }]
        if *words == command && folder.ends_with("projects/webshop")),
        "{resume:?}"
    );
    world.key("up");
    assert_eq!(world.key("enter"), [], "what is open is not opened twice");
    let copied = world.key("c");
    assert!(
        matches!(&copied[..], [Effect::Copy(line)] if line == "cd /home/dev/projects/webshop && claude --resume c1"),
        "{copied:?}"
    );
    assert_eq!(world.key("y"), [Effect::Copy("c1".to_owned())]);
    assert_eq!(world.key("x"), [Effect::Export("claude-code:c1".to_owned())]);
    world.keys("space space");
    let both = ["claude-code:c1", "codex:x1"].map(str::to_owned).to_vec();
    assert_eq!(world.key("d"), [Effect::PlanDeletion(both)]);
    world.key("m");
    world.type_text(" two");
    let named = world.key("enter");
    assert!(matches!(&named[..], [Effect::Name { name: Some(name), .. }] if name == "my release two"), "{named:?}");
    world.event(Event::FolderGone { folder: "~/projects/webshop".into(), command: command.clone() });
    world.shows("~/projects/webshop is gone");
    world.type_text("~/else");
    let elsewhere = world.key("enter");
    assert!(matches!(&elsewhere[..], [Effect::Resume { folder, .. }] if folder.ends_with("dev/else")), "{elsewhere:?}");
}

#[test]
fn the_reader_goes_by_prompts_turns_and_matches_and_back_one_level_at_a_time() {
    let mut world = world((100, 14));
    reading(&mut world);
    let current = |world: &World| world.app.sessions.reader.as_ref().map(|reader| reader.current());
    assert_eq!(current(&world), Some(0));
    world.key("p");
    assert_eq!(current(&world), Some(3));
    world.key("P");
    assert_eq!(current(&world), Some(0));
    world.keys("l l");
    assert_eq!(current(&world), Some(2));
    world.key("/");
    world.type_text("q");
    assert!(world.app.sessions.reader.as_ref().unwrap().inside.is_some(), "q is a letter while one types");
    world.key("esc");
    world.key("q");
    assert_eq!(current(&world), None);
    assert!(world.key("q").contains(&Effect::Quit));
}

fn used(config: &str) -> Home {
    let mut home = Home::new();
    home.set_env("TZ", "UTC");
    copy(&fixtures("claude_code"), &home.home());
    copy(&fixtures("codex"), &home.home());
    home.config(config);
    home
}

/// The one transcript of Claude Code whose session this is.
fn transcript_of(home: &Home, id: &str) -> std::path::PathBuf {
    let projects = std::fs::read_dir(home.home().join(".claude/projects")).unwrap();
    let file = format!("{id}.jsonl");
    projects.map(|entry| entry.unwrap().path().join(&file)).find(|path| path.is_file()).unwrap()
}

#[test]
fn real_transcripts_are_listed_read_and_searched_and_what_is_appended_appears() {
    let home = used("tui: { startTab: sessions }\n");
    let rows = home.run(crate::cli::LAZYAGENTS, &["sessions", "--agent", "claude-code", "--json"]).ok().json();
    let first = &rows[0];
    let (id, prompts) = (first["id"].as_str().unwrap(), first["prompts"].as_u64().unwrap());
    let path = transcript_of(&home, id);
    let pty = open(&home);
    pty.wait_for(|screen| screen.line(0).contains(&format!("Sessions {}", count(&home))), "all of them");
    pty.send("/");
    pty.send(id_words(first));
    pty.send("\r");
    pty.send("v");
    pty.wait_text("turn 1 of");
    // A new turn of the person, as the agent writes it.
    let text = std::fs::read_to_string(&path).unwrap();
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let prompts_of = |record: &serde_json::Value| record["type"] == "user" && record["message"]["content"].is_string();
    let mut record = records.rfind(prompts_of).unwrap();
    record["message"]["content"] = "zebra crossing".into();
    record["uuid"] = "00000000-0000-4000-8000-000000000001".into();
    record["timestamp"] = "2026-12-01T00:00:00.000Z".into();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{record}").unwrap();
    pty.send("G");
    pty.wait_text("zebra crossing");
    pty.send("q");
    pty.wait_text(&format!("{} prompts", prompts + 1));
    // The new words are found, once they are ready to be searched.
    pty.send("\x1b");
    pty.wait_for(|screen| !screen.line(2).contains('/'), "the filter to go");
    pty.send("Fzebra\r");
    pty.wait_text("1 found");
    pty.send("v");
    pty.wait_text("turns hold it");
    pty.send("qqq");
    quit_from_list(&pty);
}

fn quit_from_list(pty: &Pty) {
    pty.wait_exit(crate::terminal::QUITTING);
}

fn count(home: &Home) -> usize {
    home.run(crate::cli::LAZYAGENTS, &["sessions", "--json"]).ok().json().as_array().unwrap().len()
}

/// The beginning of a session's title, for the filter.
fn id_words(row: &serde_json::Value) -> String {
    let title = row["title"].as_str().or(row["first_prompt"].as_str()).unwrap_or_default();
    format!("claude-code {}", title.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_session_that_is_open_has_its_mark_as_long_as_it_is() {
    let home = used("tui: { startTab: sessions }\n");
    let rows = home.run(crate::cli::LAZYAGENTS, &["sessions", "--agent", "claude-code", "--json"]).ok().json();
    let id = rows[0]["id"].as_str().unwrap().to_owned();
    let pty = open(&home);
    pty.wait_text("SESSION");
    let mut process = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let trace = home.home().join(format!(".claude/sessions/{}.json", process.id()));
    home.write(&trace, format!("{{\"pid\":{},\"sessionId\":\"{id}\"}}", process.id()));
    pty.wait_text("●");
    process.kill().unwrap();
    process.wait().unwrap();
    pty.wait_for(|screen| !screen.lines()[3..].concat().contains('●'), "the mark to go");
    quit(&pty);
}

#[test]
fn a_session_is_opened_again_here_and_the_interface_comes_back() {
    let home = used("tui: { startTab: sessions }\n");
    let rows = home.run(crate::cli::LAZYAGENTS, &["sessions", "--agent", "claude-code", "--json"]).ok().json();
    let folder = home.path("else");
    home.write(folder.join("x"), "");
    home.program("claude", "#!/bin/sh\n[ \"$1\" = --version ] && exit\necho \"resumed $2 in $PWD\"; read -r word\n");
    let pty = open(&home);
    pty.wait_text("SESSION");
    pty.send("f");
    pty.wait_text("claude-code only");
    // The folder of the fixtures is not on this machine, so another one is asked for.
    pty.send("\r");
    pty.wait_text("is gone");
    pty.send(folder.display().to_string());
    pty.send("\r");
    pty.wait_text(&format!("resumed {}", rows[0]["id"].as_str().unwrap()));
    pty.send("\r");
    pty.wait_text("claude-code only");
    quit(&pty);
}

#[test]
fn tokens_are_shown_by_day_agent_and_model_and_a_session_goes_to_the_trash() {
    let home = used("tui: { startTab: usage }\n");
    let pty = open(&home);
    pty.wait_text("7 days");
    pty.send("pppv");
    pty.wait_text("all time");
    pty.wait_text("Claude Code");
    pty.send("vv");
    pty.wait_text("by model");
    pty.send("1");
    pty.wait_text("SESSION");
    let before = count(&home);
    pty.send("d");
    pty.wait_text("Delete 1 session");
    pty.send("y");
    pty.wait_text("in the trash");
    pty.wait_for(|screen| screen.line(0).contains(&format!("Sessions {}", before - 1)), "one less");
    quit(&pty);
    assert_eq!(count(&home), before - 1);
}
