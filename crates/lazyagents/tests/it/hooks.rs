//! Hooks as a person uses them, on homes with settings as they are found: commands, and the tab. What is not ours stays byte
//! for byte (public reports, A and E).

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;

use insta::assert_snapshot;
use lazyagents::app::event::{Effect, Event};
use lazyagents::app::hooks::{CellLine, CommandLine, HookLine, Job, OtherLine, Prepared, Rack};
use manage::hooks::Cell;
use serde_json::{Value, json};
use testkit::{Exit, Home, Output, Pty};

use crate::cli::LAZYAGENTS;
use crate::world::{World, context};

const SETTINGS: &str = ".claude/settings.json";

/// Each agent with the file that hooks go into, and what a person has in it.
const FOUND: [(&str, &str, &str); 5] = [
    (
        "claude-code",
        SETTINGS,
        "\u{feff}{\r\n\t// mine\r\n\t\"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t\"old\",\r\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]},\r\n\t\t],\r\n\t},\r\n\t\"zzz\": [1, 2,],\r\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"x\"}\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/hooks.json",
        "{\"description\":\"lab\",\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}]}}",
    ),
    (
        "gemini-cli",
        ".gemini/settings.json",
        "{\n    \"security\": {\n        \"auth\": { \"selectedType\": \"gemini-api-key\" }\n    }\n}",
    ),
    ("qwen-code", ".qwen/settings.json", "{\n  \"$version\": 4\n}\n"),
    (
        "copilot",
        ".copilot/hooks/mine.json",
        "{\"version\":1,\"hooks\":{\"sessionStart\":[{\"type\":\"command\",\"bash\":\"x\"}]}}",
    ),
];

fn run(home: &Home, args: &[&str]) -> Output {
    let mut all = vec!["hooks"];
    all.extend(args);
    home.run(LAZYAGENTS, &all)
}

/// A home with all five agents and a hook `notify` that none runs yet.
fn home() -> Home {
    let home = Home::new();
    for (_, file, text) in FOUND {
        home.write(home.home().join(file), text);
    }
    let added = run(
        &home,
        &[
            "add",
            "notify",
            "--event",
            "PreToolUse",
            "--matcher",
            "Bash",
            "--command",
            "echo 'about to run'",
            "--timeout",
            "5",
            "--desc",
            "Says what runs",
        ],
    )
    .ok();
    drop(added);
    home
}

fn state(home: &Home, file: &str) -> (Vec<u8>, u32, i64, i64) {
    let path = home.home().join(file);
    let meta = std::fs::metadata(&path).unwrap();
    (std::fs::read(&path).unwrap(), meta.permissions().mode(), meta.mtime(), meta.mtime_nsec())
}

fn hook(home: &Home, name: &str, value: &Value) -> PathBuf {
    home.write(home.data_dir().join("hooks").join(format!("{name}.json")), value.to_string())
}

#[test]
fn enabled_everywhere_and_back_to_the_byte() {
    let home = home();
    let enabled = run(&home, &["enable", "notify", "--json"]).ok().json();
    let agents: Vec<_> = enabled["steps"].as_array().unwrap().iter().map(|step| step["agent"].clone()).collect();
    assert_eq!(agents, ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot"]);
    let rows = run(&home, &["list", "--json"]).ok().json();
    assert!(rows[0]["agents"].as_object().unwrap().values().all(|cell| cell == "all"), "{rows}");
    for (agent, file, text) in FOUND {
        let now = String::from_utf8(state(&home, file).0).unwrap();
        if agent == "copilot" {
            assert_eq!(now, text, "the person's own file is nobody's business");
            let ours: Value =
                serde_json::from_str(&home.read(home.home().join(".copilot/hooks/lazyagents.json"))).unwrap();
            assert_eq!(ours["hooks"]["preToolUse"][0]["timeoutSec"], json!(5));
            continue;
        }
        // Every line that was there is there, in its order.
        let mut rest = now.as_str();
        for line in text.split_inclusive(',') {
            let line = line.trim_matches(|c: char| c.is_whitespace() || ",]}".contains(c));
            let at = rest.find(line).unwrap_or_else(|| panic!("{agent}: {line:?} in {rest}"));
            rest = &rest[at..];
        }
        assert!(now.contains("about to run"));
    }
    drop(run(&home, &["disable", "notify"]).ok());
    for (agent, file, text) in FOUND {
        assert_eq!(String::from_utf8(state(&home, file).0).unwrap(), text, "{agent}");
    }
    assert!(!home.home().join(".copilot/hooks/lazyagents.json").exists());
}

#[test]
fn no_change_is_no_write() {
    let home = home();
    drop(run(&home, &["enable", "notify"]).ok());
    let before = state(&home, SETTINGS);
    let again = run(&home, &["enable", "notify", "--json"]).ok().json();
    assert_eq!((&again["changes"], &again["history"]), (&json!(false), &Value::Null));
    assert_eq!(state(&home, SETTINGS), before, "same mtime");
    drop(run(&home, &["disable", "notify", "--dry-run"]).ok());
    assert_eq!(state(&home, SETTINGS), before);
}

#[test]
fn every_change_can_be_taken_back() {
    let home = home();
    let undo = || drop(home.run(LAZYAGENTS, &["undo"]).ok());
    let all = || {
        let text = |file: &str| std::fs::read(home.home().join(file)).ok();
        let files: Vec<_> = FOUND.iter().map(|(_, file, _)| text(file)).collect();
        (files, text(".copilot/hooks/lazyagents.json"), run(&home, &["list", "--json"]).ok().json())
    };
    let before = all();
    drop(run(&home, &["enable", "notify"]).ok());
    let enabled = all();
    undo();
    assert_eq!(all(), before);
    drop(run(&home, &["enable", "notify"]).ok());
    assert_eq!(all(), enabled);
    for args in [&["disable", "notify"][..], &["switch", "notify", "1", "off"], &["rm", "notify", "--yes"]] {
        drop(run(&home, args).ok());
        assert_ne!(all(), enabled, "{args:?}");
        undo();
        assert_eq!(all(), enabled, "{args:?}");
    }
}

/// Report A9 and A11: links stay links, what they lead to is changed, modes stay.
#[test]
fn links_and_modes_stay() {
    for whole in [false, true] {
        let home = Home::new();
        let real = home.write(home.home().join("dotfiles/claude/settings.json"), "{}\n");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
        if whole {
            symlink("dotfiles/claude", home.home().join(".claude")).unwrap();
        } else {
            std::fs::create_dir(home.home().join(".claude")).unwrap();
            symlink("../dotfiles/claude/settings.json", home.home().join(SETTINGS)).unwrap();
        }
        hook(&home, "h", &json!({"hooks": [{"event": "Stop", "command": "true"}]}));
        drop(run(&home, &["enable", "h"]).ok());
        let link = if whole { home.home().join(".claude") } else { home.home().join(SETTINGS) };
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert!(home.read(&real).contains("\"Stop\""));
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        drop(run(&home, &["disable", "h"]).ok());
        assert_eq!(home.read(&real), "{}\n");
    }
}

/// Report A17.
#[test]
fn a_file_that_is_no_settings_file_any_more_is_refused_by_its_size() {
    let home = home();
    let padding = " ".repeat(17 << 20);
    home.write(home.home().join(SETTINGS), format!("{{\"a\": 1}}{padding}"));
    let refused = run(&home, &["enable", "notify", "--agent", "claude-code"]);
    assert!(refused.code() == 1 && refused.err().contains("16 MiB"), "{refused}");
    assert_eq!(std::fs::metadata(home.home().join(SETTINGS)).unwrap().len(), (17 << 20) + 8);
}

/// Report E1.
#[test]
fn twice_and_a_second_version_are_one_entry() {
    let home = Home::new();
    home.write(home.home().join(SETTINGS), "{}");
    for version in ["v1", "v1", "v2"] {
        hook(&home, "h", &json!({"hooks": [{"event": "Stop", "command": format!("/opt/{version}/bin/tool --hook")}]}));
        drop(run(&home, &["enable", "h"]).ok());
    }
    let text = home.read(home.home().join(SETTINGS));
    assert_eq!((text.matches("bin/tool").count(), text.contains("/opt/v2/")), (1, true), "{text}");
    let same = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/v2/bin/tool --hook"}]}]}}"#;
    let foreign = Home::new();
    foreign.write(foreign.home().join(SETTINGS), same);
    hook(&foreign, "h", &json!({"hooks": [{"event": "Stop", "command": "/opt/v2/bin/tool --hook"}]}));
    let said = run(&foreign, &["enable", "h"]).ok().out();
    assert!(said.contains("not ours") && said.contains("nothing had to change"), "{said}");
    drop(run(&foreign, &["disable", "h"]).ok());
    assert_eq!(foreign.read(foreign.home().join(SETTINGS)), same);
}

/// Report A13.
#[test]
fn many_at_once_lose_nothing() {
    let home = home();
    for at in 0..20 {
        hook(&home, &format!("h{at}"), &json!({"hooks": [{"event": "Stop", "command": format!("echo {at}")}]}));
    }
    std::thread::scope(|scope| {
        for at in 0..20 {
            let home = &home;
            scope.spawn(move || run(home, &["enable", &format!("h{at}"), "--agent", "claude-code"]).ok());
        }
    });
    let text = home.read(home.home().join(SETTINGS));
    assert!((0..20).all(|at| text.contains(&format!("\"echo {at}\""))), "{text}");
    std::thread::scope(|scope| {
        for at in 0..20 {
            let home = &home;
            scope.spawn(move || run(home, &["disable", &format!("h{at}")]).ok());
        }
    });
    assert_eq!(home.read(home.home().join(SETTINGS)), FOUND[0].2);
}

#[test]
fn what_commands_say() {
    let home = home();
    let mut said = String::new();
    let mut tell =
        |args: &[&str]| said.push_str(&format!("$ lazyagents hooks {}\n{}\n", args.join(" "), run(&home, args)));
    tell(&["enable", "notify", "--agent", "codex", "--dry-run"]);
    tell(&["enable", "notify"]);
    tell(&["enable", "notify", "--agent", "qwen-code"]);
    tell(&[]);
    tell(&["list", "notify"]);
    tell(&["switch", "notify", "1", "off"]);
    tell(&["switch", "notify", "1", "on"]);
    tell(&["rm", "notify"]);
    tell(&["rm", "notify", "--yes"]);
    assert_snapshot!(said);
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let home = home();
    let before = state(&home, SETTINGS);
    hook(&home, "odd", &json!({"hooks": [{"event": "Nope", "command": "x"}]}));
    home.write(home.data_dir().join("hooks/bad.json"), "{\"hooks\": [");
    let mut said = String::new();
    let mut tell =
        |args: &[&str]| said.push_str(&format!("$ lazyagents hooks {}\n{}\n", args.join(" "), run(&home, args)));
    tell(&["enable", "nothing"]);
    tell(&["enable", "notify", "--agent", "nobody"]);
    tell(&["enable", "notify", "--agent", "pi"]);
    tell(&["enable", "odd"]);
    tell(&["enable", "bad"]);
    tell(&["add", "notify", "--event", "Stop", "--command", "x"]);
    tell(&["add", "../x", "--event", "Stop", "--command", "x"]);
    tell(&["add", "x", "--event", "pretooluse", "--command", "x"]);
    tell(&["switch", "notify", "2", "off"]);
    tell(&["import", "nowhere"]);
    tell(&["test", "notify", "--event", "Stop"]);
    assert_eq!(state(&home, SETTINGS), before);
    home.write(home.home().join(SETTINGS), "{\n  \"hooks\": {\n");
    tell(&["enable", "notify", "--agent", "claude-code"]);
    assert_eq!(home.read(home.home().join(SETTINGS)), "{\n  \"hooks\": {\n");
    assert_snapshot!(said);
}

#[test]
fn a_hook_is_tried_with_a_real_payload() {
    let home = home();
    hook(
        &home,
        "t",
        &json!({"hooks": [
            {"event": "PreToolUse", "command": "cat; echo 'no \u{1b}[31m' >&2; exit 2"},
            {"event": "Stop", "command": "sleep 60 & echo $! > $HOME/pid; wait", "timeout": 1},
        ]}),
    );
    let blocked = run(&home, &["test", "t", "--event", "PreToolUse", "--json"]);
    assert_eq!(blocked.code(), 1);
    let row = &blocked.json()[0];
    let payload: Value = serde_json::from_str(row["stdout"].as_str().unwrap()).unwrap();
    assert_eq!((&payload["tool_name"], &row["exit"], &row["payload_seen"]), (&json!("Bash"), &json!(2), &json!(true)));
    assert!(row["verdict"].as_str().unwrap().starts_with("it blocks"), "{row}");
    let words = run(&home, &["test", "t", "--event", "PreToolUse"]);
    assert!(!words.out().contains('\u{1b}') && words.out().contains("it blocks"), "{words}");
    let late = run(&home, &["test", "t", "--event", "Stop", "--json"]).json();
    assert_eq!(late[0]["timed_out"], json!(true));
    let pid: u32 = home.read(home.home().join("pid")).trim().parse().unwrap();
    assert!(!testkit::alive(pid), "the whole group is stopped");
    let left = std::fs::read_dir(home.cache_dir()).unwrap().flatten();
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with("trial-")).count(), 0);
    let gemini = run(&home, &["test", "t", "--agent", "gemini-cli", "--event", "PreToolUse", "--json"]).json();
    assert_eq!(gemini[0]["payload"]["hook_event_name"], json!("BeforeTool"));
}

#[test]
fn a_pack_is_imported_with_its_scripts_and_runs() {
    let home = home();
    let plugin = home.home().join("plugins/pack");
    home.write(
        plugin.join("hooks/hooks.json"),
        r#"{"description": "Two of them", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/say.sh", "timeout": 3}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/scripts/say.sh"}]}]}}"#,
    );
    home.executable(plugin.join("scripts/say.sh"), "#!/bin/sh\necho said\n");
    drop(run(&home, &["import", plugin.to_str().unwrap()]).ok());
    // What it was imported from may go.
    std::fs::remove_dir_all(&plugin).unwrap();
    drop(run(&home, &["enable", "pack", "--agent", "claude-code"]).ok());
    let rows = run(&home, &["test", "pack", "--json"]).ok().json();
    assert_eq!((&rows[0]["stdout"], &rows[1]["stdout"]), (&json!("said\n"), &json!("said\n")));
    drop(run(&home, &["switch", "pack", "1", "off"]).ok());
    let text = home.read(home.home().join(SETTINGS));
    assert_eq!(text.matches("say.sh").count(), 1, "{text}");
    drop(run(&home, &["rm", "pack", "--yes"]).ok());
    assert_eq!(home.read(home.home().join(SETTINGS)), FOUND[0].2);
    assert!(!home.data_dir().join("hooks/pack").exists());
}

#[test]
fn doctor_names_what_is_wrong_and_mends_what_is_ours() {
    let home = Home::new();
    home.write(
        home.home().join(SETTINGS),
        "{\"hooks\": {\"Bogus\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/no/such\"}]}]}}",
    );
    hook(&home, "h", &json!({"hooks": [{"event": "Stop", "command": "echo x"}]}));
    hook(&home, "gone", &json!({"hooks": [{"event": "Stop", "command": "echo gone"}]}));
    drop(run(&home, &["enable", "h"]).ok());
    drop(run(&home, &["enable", "gone"]).ok());
    std::fs::remove_file(home.data_dir().join("hooks/gone.json")).unwrap();
    let mut value: Value = serde_json::from_str(&home.read(home.home().join(SETTINGS))).unwrap();
    let one = value["hooks"]["Stop"][0].clone();
    value["hooks"]["Stop"].as_array_mut().unwrap().push(one);
    home.write(home.home().join(SETTINGS), serde_json::to_string_pretty(&value).unwrap());
    let section =
        |report: &Value| report["sections"].as_array().unwrap().iter().find(|s| s["title"] == "hooks").unwrap().clone();
    let before = home.run(LAZYAGENTS, &["doctor", "--json"]);
    let problems = section(&before.json())["problems"].to_string();
    for words in ["2 times: echo x", "left of gone", "/no/such does not exist", "`Bogus` is no event"] {
        assert!(problems.contains(words), "{words}: {problems}");
    }
    let asked = home.run(LAZYAGENTS, &["doctor", "--fix"]);
    assert!(asked.code() == 1 && asked.err().contains("nobody is there to be asked"), "{asked}");
    let fixed = home.run(LAZYAGENTS, &["doctor", "--fix", "--yes", "--json"]);
    let problems = section(&fixed.json())["problems"].clone();
    assert_eq!(problems.as_array().unwrap().len(), 2, "what is not ours stays: {problems}");
    let text = home.read(home.home().join(SETTINGS));
    assert!(text.matches("echo x").count() == 1 && !text.contains("gone") && text.contains("Bogus"), "{text}");
}

// ---- the tab

fn rack() -> Rack {
    let cell = |cell, file: &str, lines: &[&str]| CellLine {
        cell,
        file: file.to_owned(),
        ours: cell == Cell::All,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    let command = |when: &str, command: &str, on| CommandLine {
        when: when.to_owned(),
        command: command.to_owned(),
        timeout: Some(5),
        on,
    };
    let hook = |name: &str, description: &str, commands, cells| HookLine {
        name: name.to_owned(),
        description: description.to_owned(),
        path: format!("~/.local/share/lazyagents/hooks/{name}.json"),
        commands,
        cells,
        origin: None,
    };
    let (claude, codex, gemini) = ("~/.claude/settings.json", "~/.codex/hooks.json", "~/.gemini/settings.json");
    Rack {
        agents: vec![("claude-code", "Claude Code"), ("codex", "Codex"), ("gemini-cli", "Gemini CLI")],
        hooks: vec![
            hook(
                "notify",
                "Says what runs",
                vec![
                    command("PreToolUse (Bash)", "notify-send 'about to run'", true),
                    command("Stop", "日本語 \u{1f980}", false),
                ],
                vec![
                    cell(Cell::All, claude, &[]),
                    cell(
                        Cell::Some,
                        codex,
                        &["1 enabled on PreToolUse, not trusted yet: does not run", "2 switched off on Stop"],
                    ),
                    cell(Cell::None, gemini, &[]),
                ],
            ),
            hook(
                "sub-agents",
                "",
                vec![command("SubagentStop", "true", true)],
                vec![cell(Cell::None, claude, &[]), cell(Cell::None, codex, &[]), cell(Cell::Never, gemini, &[])],
            ),
        ],
        others: vec![OtherLine {
            agent: "codex",
            words: "Stop -> mine --x".to_owned(),
            file: codex.to_owned(),
            trust: Some("trusted"),
        }],
        problems: vec!["Claude Code: ~/.claude/settings.json: `Bogus` is no event of it".to_owned()],
    }
}

fn world(size: (u16, u16), rack: Rack) -> World {
    let mut world = World::of(&context(&[], &[], "tui: { hidden: [sessions, providers, usage] }"), size);
    world.go("hooks");
    let number = world.app.hooks.reads;
    world.event(Event::Hooks { number, rack: Arc::new(rack) });
    world
}

fn pictures(set: impl Fn(&mut World), rack: &Rack) -> String {
    let mut text = String::new();
    for size in [(40, 12), (80, 24), (120, 40)] {
        let mut world = world(size, rack.clone());
        set(&mut world);
        text.push_str(&format!("== {}x{}\n{}\n", size.0, size.1, world.screen()));
    }
    text
}

#[test]
fn hooks_full() {
    assert_snapshot!(pictures(|_| {}, &rack()));
}

#[test]
fn hooks_for_one_agent_and_filtered() {
    assert_snapshot!(pictures(
        |world| {
            world.keys("f f /");
            world.type_text("sub");
            world.key("enter");
        },
        &rack()
    ));
}

#[test]
fn hooks_none() {
    assert_snapshot!(pictures(|_| {}, &Rack::default()));
}

#[test]
fn space_asks_with_what_it_does_and_yes_does_it() {
    let mut world = world((80, 24), rack());
    let effects = world.key("space");
    let job = Job::Enable("notify".to_owned(), vec!["codex", "gemini-cli"]);
    assert_eq!(effects, [Effect::PlanHooks(job.clone())]);
    let lines = ["codex  ~/.codex/hooks.json", "  add  Stop -> x", "", "change ~/.codex/hooks.json", "  + x"];
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    let prepared = Arc::new(Prepared { job, lines, nothing: false, seen: Default::default() });
    world.event(Event::HooksPlanned(Arc::clone(&prepared)));
    assert_snapshot!("hooks_confirm", world.screen());
    assert_eq!(world.key("enter"), [], "No is preselected");
    world.event(Event::HooksPlanned(Arc::clone(&prepared)));
    assert_eq!(world.key("y"), [Effect::ApplyHooks(prepared)]);
    let again = world.event(Event::HooksDone("enable hook notify for codex".to_owned()));
    assert!(matches!(again.as_slice(), [Effect::ReadHooks(_)]), "{again:?}");
    // One agent alone, where it is whole: it goes there.
    world.key("f");
    assert_eq!(world.key("space"), [Effect::PlanHooks(Job::Disable("notify".to_owned(), vec!["claude-code"]))]);
    // An agent that fires none of its events.
    world.keys("f f down");
    assert_eq!(world.key("space"), []);
    world.shows("fires none of its events");
}

#[test]
fn a_new_hook_is_typed_step_by_step() {
    let mut world = world((80, 24), rack());
    world.key("n");
    world.type_text("../x");
    world.key("enter");
    world.shows("a letter or digit first");
    world.keys("ctrl+u");
    world.type_text("bell");
    world.key("enter");
    world.type_text("Nope");
    world.key("enter");
    world.shows("no agent has that event");
    world.keys("ctrl+u");
    world.type_text("Stop");
    world.keys("enter enter");
    world.type_text("beep now");
    world.key("enter");
    world.type_text("7");
    world.key("enter");
    let effects = world.keys("enter");
    let [Effect::PlanHooks(Job::Add(name, _, line))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(
        (name.as_str(), line.command.as_str(), line.timeout, &line.matcher),
        ("bell", "beep now", Some(7), &None)
    );
}

#[test]
fn single_commands_tests_and_removal_are_one_key_away() {
    let mut world = world((80, 24), rack());
    world.key("s");
    world.shows("1  on   PreToolUse (Bash)");
    assert_eq!(world.keys("down enter"), [Effect::PlanHooks(Job::Switch("notify".to_owned(), 2, true))]);
    world.key("t");
    world.shows("do what they do");
    assert_eq!(world.key("y"), [Effect::TestHook { name: "notify".to_owned(), agent: None }]);
    assert_eq!(world.key("d"), [Effect::PlanHooks(Job::Remove("notify".to_owned()))]);
    world.key("i");
    world.type_text("~/plugins/x");
    assert_eq!(world.key("enter"), [Effect::PlanHooks(Job::Import("~/plugins/x".to_owned()))]);
}

#[test]
fn a_hook_is_enabled_in_a_terminal() {
    let home = home();
    home.config("tui: { startTab: hooks }\n");
    let pty = Pty::spawn(LAZYAGENTS, &[], &home, 30, 110);
    pty.wait_text("notify");
    pty.send(" ");
    pty.wait_text("Enable notify");
    pty.send("y");
    pty.wait_text("enable hook notify");
    pty.wait_for(
        |screen| screen.lines().iter().any(|line| line.contains("notify") && line.matches('●').count() == 5),
        "all on",
    );
    assert!(home.read(home.home().join(SETTINGS)).contains("about to run"));
    pty.send("q");
    assert_eq!(pty.wait_exit(std::time::Duration::from_secs(5)), Exit::Code(0));
}
