//! The planners on temporary homes; what a plan says is done here with the plainest means, so that the plans alone are tried.
#![allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]

use std::fs;
use std::path::PathBuf;

use agents::Surroundings;
use proptest::prelude::*;
use serde_json::{Value, json};
use sys::files::Mode;
use sys::{Env, edit};

use super::*;
use crate::plan::{Act, Plan};

struct Home {
    dir: tempfile::TempDir,
    around: Surroundings,
    env: Env,
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut env = Env::empty();
        env.set("HOME", dir.path());
        env.set("PATH", "/usr/bin:/bin");
        let around = Surroundings::of(&env).unwrap();
        let home = Self { dir, around, env };
        files.iter().for_each(|(name, text)| home.write(name, text));
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|_| "(none)".to_owned())
    }

    fn data(&self) -> PathBuf {
        self.path("data")
    }

    fn hook(&self, name: &str, value: &Value) {
        self.write(&format!("data/hooks/{name}.json"), &value.to_string());
    }

    fn plan<T>(&self, make: impl FnOnce(&Desks<'_>) -> T) -> T {
        let data = self.data();
        make(&Desks { data: &data, around: &self.around })
    }

    fn apply(&self, plan: &Plan) {
        for act in &plan.acts {
            match act {
                Act::Edit { path, format, changes, .. } => {
                    let old = fs::read_to_string(path).unwrap_or_default();
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, edit::apply(*format, &old, changes).unwrap().text).unwrap();
                }
                Act::Put { path, bytes, mode } => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, bytes).unwrap();
                    if *mode == Mode::Script {
                        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
                    }
                }
                Act::Trash { path } if path.is_dir() => fs::remove_dir_all(path).unwrap(),
                Act::Trash { path } => fs::remove_file(path).unwrap(),
                other => panic!("{other:?}"),
            }
        }
    }

    fn enable(&self, name: &str, agents: &[&str]) -> Planned {
        let planned = self.plan(|desks| plan_enable(desks, name, agents)).unwrap();
        self.apply(&planned.plan);
        planned
    }

    fn disable(&self, name: &str, agents: &[&str]) -> Planned {
        let planned = self.plan(|desks| plan_disable(desks, name, agents)).unwrap();
        self.apply(&planned.plan);
        planned
    }

    fn cell(&self, name: &str, agent: &str) -> Cell {
        self.plan(|desks| {
            let library = Library::load(desks.data);
            let record = Record::load(desks.data).unwrap();
            Standing::of(library.get(name).unwrap(), &desks.seats(&[agent])[0], &record).cell
        })
    }

    fn check(&self, agents: &[&str]) -> Findings {
        self.plan(|desks| check(desks, agents, &self.env, &|path| path.display().to_string()))
    }
}

const CLAUDE: &str = ".claude/settings.json";
const AGENTS: [(&str, &str); 5] = [
    ("claude-code", CLAUDE),
    ("codex", ".codex/hooks.json"),
    ("gemini-cli", ".gemini/settings.json"),
    ("qwen-code", ".qwen/settings.json"),
    ("copilot", ".copilot/hooks/lazyagents.json"),
];

fn notify() -> Value {
    json!({"name": "notify", "description": "Says so", "hooks": [
        {"event": "PreToolUse", "matcher": "Bash", "command": "echo pre", "timeout": 5},
        {"event": "Stop", "command": "echo 'done é'"},
        {"event": "Notification", "command": "echo note", "async": true},
    ]})
}

fn verbs(planned: &Planned) -> String {
    planned.steps.iter().map(|step| format!("{} {} {:?}\n", step.agent, step.event, step.verb)).collect()
}

/// What people have in their settings, in shapes that differ.
fn settings() -> Vec<&'static str> {
    vec![
        "(none)",
        "",
        "{}",
        "{}\n",
        "{ }",
        "\u{feff}{\r\n\t\"zzz\": [1, 2,],\r\n\t// mine\r\n\t\"env\": {\"A\": \"1\"}\r\n}\r\n",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  },\n  \"x\": 1\n}\n",
        "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}],\"Stop\":[ ]}}",
        "{\n    \"hooks\": {\n        \"Stop\": [\n            // why\n            { \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\", }] },\n        ],\n        \"Nope\": \"x\",\n    },\n}\n",
        "// nothing but words\n",
        "{\"permissions\": {\"allow\": [\"Bash(ls:*)\"]}, \"statusLine\": {\"type\": \"command\", \"command\": \"x\"}, \"enabledPlugins\": {\"a@b\": true}}",
    ]
}

#[test]
fn enabled_then_disabled_is_what_was_there() {
    for (agent, file) in AGENTS {
        for text in settings() {
            let home = Home::new(&[]);
            home.hook("notify", &notify());
            if text != "(none)" {
                home.write(file, text);
            }
            home.enable("notify", &[agent]);
            assert_eq!(home.cell("notify", agent), Cell::All, "{agent} {text}");
            let with = home.read(file);
            assert!(with.contains("echo pre") && with.contains("done é"), "{with}");
            home.disable("notify", &[agent]);
            let comment_alone = text.starts_with("//");
            if !comment_alone {
                assert_eq!(home.read(file), text, "{agent}\n{with}");
            }
            assert_eq!(home.cell("notify", agent), Cell::None);
            assert!(!home.read("data/hooks-enabled.json").contains("notify"));
        }
    }
}

#[test]
fn two_hooks_go_in_any_order() {
    for text in settings().into_iter().filter(|text| !text.starts_with("//")) {
        for order in [["notify", "other"], ["other", "notify"]] {
            let home = Home::new(&[]);
            home.hook("notify", &notify());
            home.hook(
                "other",
                &json!({"hooks": [{"event": "Stop", "command": "two"}, {"event": "SessionStart", "command": "s"}]}),
            );
            if text != "(none)" {
                home.write(CLAUDE, text);
            }
            home.enable("notify", &["claude-code"]);
            home.enable("other", &["claude-code"]);
            order.iter().for_each(|name| drop(home.disable(name, &["claude-code"])));
            assert_eq!(home.read(CLAUDE), text);
        }
    }
}

/// Report E1.
#[test]
fn twice_is_once_and_a_newer_version_takes_the_place_of_the_older() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "/opt/v1/bin/tool --hook"}]}));
    home.enable("h", &["claude-code"]);
    let once = home.read(CLAUDE);
    let again = home.enable("h", &["claude-code"]);
    assert_eq!((home.read(CLAUDE), again.plan.acts.len()), (once, 0));
    assert_eq!(verbs(&again), "claude-code Stop Keep\n");
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "/opt/v2/bin/tool --hook"}]}));
    assert_eq!(home.cell("h", "claude-code"), Cell::Some, "an older version is there");
    let newer = home.enable("h", &["claude-code"]);
    assert_eq!(verbs(&newer), "claude-code Stop Replace\n");
    let text = home.read(CLAUDE);
    assert!(text.contains("v2") && !text.contains("v1"), "{text}");
    home.disable("h", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), "{}");
}

#[test]
fn the_same_hook_of_somebody_else_is_neither_doubled_nor_taken_over() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "echo 'done é'", "type": "command"}]}]}}"#;
    let home = Home::new(&[(CLAUDE, text)]);
    home.hook("notify", &json!({"hooks": [{"event": "Stop", "command": "echo 'done é'"}]}));
    let planned = home.enable("notify", &["claude-code"]);
    assert_eq!((verbs(&planned).as_str(), planned.plan.acts.len()), ("claude-code Stop Foreign\n", 0));
    let planned = home.disable("notify", &["claude-code"]);
    assert_eq!((home.read(CLAUDE).as_str(), planned.plan.acts.len()), (text, 0));
    assert!(planned.notes[0].contains("not ours"), "{planned:?}");
}

#[test]
fn another_version_of_somebody_else_is_named() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/v1/tool --hook"}]}]}}"#;
    let home = Home::new(&[(CLAUDE, text)]);
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "/opt/v2/tool --hook"}]}));
    let planned = home.enable("h", &["claude-code"]);
    assert!(planned.notes[0].contains("/opt/v1/tool --hook; that is not ours"), "{planned:?}");
    assert!(home.check(&["claude-code"]).problems.join("\n").contains("two versions of one hook"));
    home.disable("h", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), text);
}

#[test]
fn what_was_changed_by_hand_is_left_alone() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "x"}]}));
    home.enable("h", &["claude-code"]);
    let changed = home.read(CLAUDE).replace("\"x\"", "\"x --mine\"");
    home.write(CLAUDE, &changed);
    let planned = home.disable("h", &["claude-code"]);
    assert_eq!((home.read(CLAUDE), verbs(&planned).as_str()), (changed, "claude-code Stop Gone\n"));
}

#[test]
fn two_hooks_that_want_the_same_share_it() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    for name in ["a", "b"] {
        home.hook(name, &json!({"hooks": [{"event": "Stop", "command": "x"}]}));
    }
    home.enable("a", &["claude-code"]);
    let once = home.read(CLAUDE);
    assert_eq!(verbs(&home.enable("b", &["claude-code"])), "claude-code Stop Share\n");
    assert_eq!(home.read(CLAUDE), once);
    assert_eq!(verbs(&home.disable("a", &["claude-code"])), "claude-code Stop Unshare\n");
    assert_eq!(home.read(CLAUDE), once);
    home.disable("b", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), "{}");
}

/// Report E3.
#[test]
fn every_shape_in_a_file_stays_and_ours_is_one_that_the_agent_takes() {
    let text = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      \"old\",\n      {\"matcher\": \"Edit\", \"command\": \"older\"},\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"new\"}]}\n    ]\n  }\n}\n";
    let home = Home::new(&[(CLAUDE, text)]);
    home.hook("notify", &notify());
    home.enable("notify", &["claude-code"]);
    let with = home.read(CLAUDE);
    for line in text.lines().filter(|line| line.contains("old") || line.contains("\"new\"")) {
        assert!(with.contains(line.trim()), "{line}\n{with}");
    }
    let value: Value = serde_json::from_str(&with).unwrap();
    assert_eq!(value["hooks"]["PreToolUse"][3]["hooks"][0]["command"], json!("echo pre"));
    home.disable("notify", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), text);
}

#[test]
fn what_is_not_understood_is_refused_and_untouched() {
    for (text, why) in [
        ("{\"hooks\": {", "line 1"),
        ("{\"hooks\": []}", "hooks is a list"),
        ("{\"hooks\": {\"Stop\": {\"a\": 1}}}", "hooks.Stop is a map"),
        ("{\"hooks\": {}, \"hooks\": {}}", "twice"),
        ("[1]", ""),
    ] {
        let home = Home::new(&[(CLAUDE, text)]);
        home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "x"}]}));
        let failure = home.plan(|desks| plan_enable(desks, "h", &["claude-code"])).unwrap_err();
        assert!(
            failure.to_string().contains(why) && failure.to_string().contains("settings.json"),
            "{text}: {failure}"
        );
        assert_eq!(home.read(CLAUDE), text);
    }
}

#[test]
fn an_event_that_an_agent_does_not_know_is_never_written() {
    let home = Home::new(&[(".codex/config.toml", "")]);
    home.hook("notify", &notify());
    let planned = home.enable("notify", &["codex"]);
    assert!(!home.read(".codex/hooks.json").contains("Notification"));
    let notes = planned.notes.join("\n");
    assert!(notes.contains("Codex has no Notification") && notes.contains("once you trust it"), "{notes}");
    assert_eq!(home.cell("notify", "codex"), Cell::All);
    home.hook("only", &json!({"hooks": [{"event": "Notification", "command": "x"}]}));
    assert_eq!(home.cell("only", "codex"), Cell::Never);
    let failure = home.plan(|desks| plan_enable(desks, "only", &["codex"])).unwrap_err();
    assert!(failure.to_string().contains("Codex has no event for only"), "{failure}");
    let failure = home.plan(|desks| plan_enable(desks, "only", &["pi"])).unwrap_err();
    assert!(failure.to_string().contains("pi has no hooks"), "{failure}");
}

#[test]
fn codex_is_known_to_speak_of_hooks_in_two_files() {
    let inline = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    let home = Home::new(&[(".codex/config.toml", inline)]);
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "x"}]}));
    let notes = home.enable("h", &["codex"]).notes.join("\n");
    assert!(notes.contains("config.toml; it reads"), "{notes}");
    home.disable("h", &["codex"]);
    assert_eq!((home.read(".codex/config.toml").as_str(), home.read(".codex/hooks.json").as_str()), (inline, "(none)"));
}

#[test]
fn each_agent_gets_its_own_words() {
    let home = Home::new(&[]);
    home.hook("notify", &notify());
    AGENTS.iter().for_each(|(agent, _)| drop(home.enable("notify", &[agent])));
    let gemini: Value = serde_json::from_str(&home.read(".gemini/settings.json")).unwrap();
    let before = &gemini["hooks"]["BeforeTool"][0];
    assert_eq!((&before["matcher"], &before["hooks"][0]["timeout"]), (&json!("run_shell_command"), &json!(5000)));
    let copilot: Value = serde_json::from_str(&home.read(".copilot/hooks/lazyagents.json")).unwrap();
    assert_eq!(copilot["version"], json!(1));
    assert_eq!(
        copilot["hooks"]["preToolUse"][0],
        json!({"type": "command", "matcher": "bash", "bash": "echo pre", "timeoutSec": 5})
    );
    AGENTS.iter().for_each(|(agent, _)| drop(home.disable("notify", &[agent])));
    for (_, file) in AGENTS {
        assert_eq!(home.read(file), "(none)", "a file that we made goes with the last thing in it");
    }
}

#[test]
fn single_commands_are_switched_and_agents_follow() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    let text = "{\n  // my pack\n  \"hooks\": [{\"event\": \"Stop\", \"command\": \"one\"}, {\"event\": \"Stop\", \"command\": \"two\"}],\n  \"mine\": 1\n}\n";
    home.write("data/hooks/p.json", text);
    home.enable("p", &["claude-code"]);
    let all = home.read(CLAUDE);
    let planned = home.plan(|desks| plan_switch(desks, "p", 1, false)).unwrap();
    home.apply(&planned.plan);
    assert!(!home.read(CLAUDE).contains("one") && home.read(CLAUDE).contains("two"));
    assert_eq!(home.cell("p", "claude-code"), Cell::Some);
    let file = home.read("data/hooks/p.json");
    assert!(file.contains("// my pack") && file.contains("\"mine\": 1") && file.contains("\"off\""), "{file}");
    let planned = home.plan(|desks| plan_switch(desks, "p", 1, true)).unwrap();
    home.apply(&planned.plan);
    assert_eq!(home.cell("p", "claude-code"), Cell::All);
    assert_eq!(home.read(CLAUDE).matches("command").count(), all.matches("command").count());
    // Even with all of it off it stays enabled, and comes back.
    for (number, on) in [(1, false), (2, false), (2, true)] {
        let planned = home.plan(|desks| plan_switch(desks, "p", number, on)).unwrap();
        home.apply(&planned.plan);
        assert_eq!(home.read(CLAUDE).contains("two"), number == 1 || on, "{number} {on}");
    }
    home.disable("p", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), "{}");
    assert!(home.plan(|desks| plan_switch(desks, "p", 3, true)).unwrap_err().to_string().contains("no command 3"));
}

#[test]
fn added_and_removed() {
    let home = Home::new(&[(CLAUDE, "{\n}\n")]);
    let line = Line { event: "Stop".to_owned(), command: "x".to_owned(), ..Line::default() };
    let planned = home.plan(|desks| plan_add(desks, "n", "words", std::slice::from_ref(&line))).unwrap();
    home.apply(&planned.plan);
    assert!(
        home.plan(|desks| plan_add(desks, "n", "", std::slice::from_ref(&line)))
            .unwrap_err()
            .to_string()
            .contains("already")
    );
    for name in ["../n", "a/b", ""] {
        assert!(home.plan(|desks| plan_add(desks, name, "", std::slice::from_ref(&line))).is_err(), "{name}");
    }
    let wrong = Line { event: "pretooluse".to_owned(), ..line.clone() };
    let failure = home.plan(|desks| plan_add(desks, "m", "", &[wrong])).unwrap_err();
    assert!(failure.hints()[0].contains("PreToolUse"), "{failure:?}");
    home.enable("n", &["claude-code"]);
    let planned = home.plan(|desks| plan_rm(desks, "n")).unwrap();
    home.apply(&planned.plan);
    assert_eq!((home.read(CLAUDE).as_str(), home.read("data/hooks/n.json").as_str()), ("{\n}\n", "(none)"));
    assert!(home.plan(|desks| plan_rm(desks, "n")).is_err());
}

#[test]
fn one_more_command_and_agents_follow() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    home.write("data/hooks/p.json", "{\n  // mine\n  \"hooks\": [{\"event\": \"Stop\", \"command\": \"one\"}]\n}\n");
    home.enable("p", &["claude-code"]);
    let more =
        Line { event: "SessionStart".to_owned(), command: "two".to_owned(), timeout: Some(3), ..Line::default() };
    for again in [false, true] {
        let planned = home.plan(|desks| plan_more(desks, "p", &more)).unwrap();
        assert_eq!(planned.plan.acts.is_empty(), again);
        home.apply(&planned.plan);
    }
    assert!(home.read("data/hooks/p.json").contains("// mine"));
    assert!(home.read(CLAUDE).contains("\"two\"") && home.read(CLAUDE).contains("\"one\""));
    assert_eq!(home.cell("p", "claude-code"), Cell::All);
    home.disable("p", &["claude-code"]);
    assert_eq!(home.read(CLAUDE), "{}");
    assert!(home.plan(|desks| plan_more(desks, "q", &more)).is_err());
}

fn plugin(home: &Home) {
    home.write(
        "plug/hooks/hooks.json",
        r#"{"description": "A pack", "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/hooks/run.sh a", "timeout": 10},
                {"type": "prompt", "prompt": "x"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/gone.sh"}]}]}}"#,
    );
    home.write("plug/hooks/run.sh", "#!/bin/sh\n. \"$CLAUDE_PLUGIN_ROOT/lib/x.sh\"\n");
    home.write("plug/lib/x.sh", "echo hi\n");
    home.write("plug/.git/config", "x");
    home.write("plug/.claude-plugin/plugin.json", r#"{"name": "my-pack"}"#);
    fs::set_permissions(home.path("plug/hooks/run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_pack_comes_with_what_it_needs() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    plugin(&home);
    let planned = home.plan(|desks| plan_import(desks, &home.path("plug"), None, false)).unwrap();
    home.apply(&planned.plan);
    let notes = planned.notes.join("\n");
    assert!(notes.contains("a prompt, not a command") && notes.contains("gone.sh is named by a command"), "{notes}");
    let mode = fs::metadata(home.path("data/hooks/my-pack/hooks/run.sh")).unwrap().permissions();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o100, 0);
    assert!(!home.path("data/hooks/my-pack/.git").exists());
    home.enable("my-pack", &["claude-code"]);
    let text = home.read(CLAUDE);
    let root = home.path("data/hooks/my-pack");
    assert!(text.contains(&format!("export CLAUDE_PLUGIN_ROOT='{0}'; {0}/hooks/run.sh a", root.display())), "{text}");
    let tried = home.plan(|desks| {
        let library = Library::load(desks.data);
        let seat = &desks.seats(&["claude-code"])[0];
        let hook = library.get("my-pack").unwrap();
        trial(&Trial {
            hook,
            number: 1,
            seat,
            cwd: home.path("."),
            env: &home.env,
            scratch: &home.path("tmp"),
            cancel: &sys::proc::Cancel::never(),
        })
    });
    let tried = tried.unwrap();
    assert_eq!((tried.stdout.as_slice(), tried.exit.ok(), tried.limit), (&b"hi\n"[..], true, 10));
    assert!(home.plan(|desks| plan_import(desks, &home.path("plug"), None, false)).is_err(), "the name is taken");
    let again = home.plan(|desks| plan_import(desks, &home.path("plug/hooks/hooks.json"), None, true)).unwrap();
    home.apply(&again.plan);
    let planned = home.plan(|desks| plan_rm(desks, "my-pack")).unwrap();
    home.apply(&planned.plan);
    assert_eq!((home.read(CLAUDE).as_str(), root.exists()), ("{}", false));
}

#[test]
fn a_folder_that_is_not_to_be_copied_is_refused() {
    for (link, to) in [("plug/out", "/etc/passwd"), ("plug/dir", "../x"), ("plug/sub", "lib")] {
        let home = Home::new(&[("x/y", "1")]);
        plugin(&home);
        std::os::unix::fs::symlink(to, home.path(link)).unwrap();
        let failure = home.plan(|desks| plan_import(desks, &home.path("plug"), None, false)).unwrap_err();
        assert!(failure.to_string().contains("will not copy"), "{failure}");
    }
    let home = Home::new(&[]);
    plugin(&home);
    std::os::unix::fs::symlink("run.sh", home.path("plug/hooks/same.sh")).unwrap();
    assert!(home.plan(|desks| plan_import(desks, &home.path("plug"), None, false)).is_ok(), "a link inside is a file");
    home.write("plug/.claude-plugin/plugin.json", r#"{"name": "../../x"}"#);
    assert!(home.plan(|desks| plan_import(desks, &home.path("plug"), None, false)).is_err());
    assert!(home.plan(|desks| plan_import(desks, &home.path("plug/lib"), None, false)).is_err());
}

#[test]
fn doctor_finds_doubles_leftovers_and_commands_that_do_not_exist() {
    let home = Home::new(&[(CLAUDE, "{}")]);
    home.hook("h", &json!({"hooks": [{"event": "Stop", "command": "echo x"}]}));
    home.hook("gone", &json!({"hooks": [{"event": "Stop", "command": "/no/such --x"}]}));
    home.write("data/hooks/bad.json", "{");
    home.enable("h", &["claude-code"]);
    home.enable("gone", &["claude-code"]);
    assert_eq!(home.check(&["claude-code"]).mends.len(), 0);
    // Ours twice, a foreign one of an event that is none, a hook that leaves the library.
    let mut value: Value = serde_json::from_str(&home.read(CLAUDE)).unwrap();
    let one = value["hooks"]["Stop"][0].clone();
    value["hooks"]["Stop"].as_array_mut().unwrap().push(one);
    value["hooks"]["Bogus"] = json!([{"hooks": [{"type": "command", "command": "python3 /no/script.py"}]}]);
    home.write(CLAUDE, &value.to_string());
    fs::remove_file(home.path("data/hooks/gone.json")).unwrap();
    let found = home.check(&["claude-code"]);
    let problems = found.problems.join("\n");
    for words in [
        "the same hook 2 times: echo x",
        "left of gone",
        "/no/such does not exist",
        "/no/script.py does not exist",
        "`Bogus` is no event",
        "bad.json",
    ] {
        assert!(problems.contains(words), "{words}\n{problems}");
    }
    let planned = home.plan(|desks| plan_mend(desks, &["claude-code"], &home.env)).unwrap();
    home.apply(&planned.plan);
    let text = home.read(CLAUDE);
    assert_eq!(
        (text.matches("echo x").count(), text.contains("/no/such"), text.contains("Bogus")),
        (1, false, true),
        "{text}"
    );
    assert_eq!(home.check(&["claude-code"]).mends, []);
    assert_eq!(home.cell("h", "claude-code"), Cell::All);
}

#[test]
fn a_trial_is_stopped_when_the_agent_would() {
    let home = Home::new(&[]);
    home.hook(
        "t",
        &json!({"hooks": [
            {"event": "PreToolUse", "command": "cat; echo no >&2; exit 2"},
            {"event": "Stop", "command": "sleep 30", "timeout": 1},
        ]}),
    );
    let run = |number| {
        home.plan(|desks| {
            let library = Library::load(desks.data);
            let seat = &desks.seats(&["claude-code"])[0];
            let hook = library.get("t").unwrap();
            trial(&Trial {
                hook,
                number,
                seat,
                cwd: home.path("."),
                env: &home.env,
                scratch: &home.path("tmp"),
                cancel: &sys::proc::Cancel::never(),
            })
            .unwrap()
        })
    };
    let tried = run(1);
    let payload: Value = serde_json::from_slice(&tried.stdout).unwrap();
    assert_eq!((payload["hook_event_name"].as_str(), tried.seen), (Some("PreToolUse"), true));
    assert!(tried.verdict.starts_with("it blocks"), "{tried:?}");
    let tried = run(2);
    assert!(tried.timed_out && tried.verdict.contains("too long"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is in a file: what is not ours stays byte for byte, and disabling brings back what was there.
    #[test]
    fn nothing_else_changes(
        foreign in prop::collection::vec(("PreToolUse|Stop|Setup|X", "[a-z é]{0,6}"), 0..5),
        events in prop::collection::vec("PreToolUse|Stop|SessionStart", 1..4),
        pretty in any::<bool>(),
    ) {
        let mut map = serde_json::Map::new();
        for (event, command) in &foreign {
            let list = map.entry(event.clone()).or_insert_with(|| json!([]));
            list.as_array_mut().unwrap().push(json!({"hooks": [{"type": "command", "command": command}]}));
        }
        let root = json!({"a": 1, "hooks": map, "z": [1]});
        let text = if pretty { serde_json::to_string_pretty(&root).unwrap() } else { root.to_string() };
        let home = Home::new(&[(CLAUDE, &text)]);
        let lines: Vec<Value> = events.iter().enumerate().map(|(at, event)| json!({"event": event, "command": format!("ours {at}")})).collect();
        home.hook("h", &json!({"hooks": lines}));
        home.enable("h", &["claude-code"]);
        let with: Value = serde_json::from_str(&home.read(CLAUDE)).unwrap();
        for (event, list) in &map {
            let now = with["hooks"][event].as_array().unwrap();
            prop_assert_eq!(&now[..list.as_array().unwrap().len()], list.as_array().unwrap().as_slice());
        }
        prop_assert_eq!(home.cell("h", "claude-code"), Cell::All);
        home.disable("h", &["claude-code"]);
        prop_assert_eq!(home.read(CLAUDE), text);
    }
}
