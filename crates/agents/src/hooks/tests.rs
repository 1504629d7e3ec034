use serde_json::json;

use super::*;
use crate::adapter::{Surroundings, all, by_id};

fn home(files: &[(&str, &str)]) -> (tempfile::TempDir, Surroundings) {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        std::fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::options().create_new(true).write(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    }
    let mut env = sys::Env::empty();
    env.set("HOME", home.path());
    let around = Surroundings::of(&env).unwrap();
    (home, around)
}

fn looked(id: &str, files: &[(&str, &str)]) -> Vec<Look> {
    let (_home, around) = home(files);
    let adapter = by_id(id).unwrap();
    adapter.hooks().unwrap().look(&adapter.places(&around))
}

/// `event matcher command timeout`, a line each.
fn told(look: &Look) -> String {
    let line = |entry: &Entry, command: &Command| {
        let matcher = entry.matcher.as_deref().unwrap_or("-");
        format!("{} {matcher} {:?} {} {:?}\n", entry.event, entry.shape, command.command, command.timeout)
    };
    look.entries.iter().flat_map(|entry| entry.commands.iter().map(move |command| line(entry, command))).collect()
}

#[test]
fn who_can_says_so() {
    let can: Vec<_> = all().iter().filter(|a| a.hooks().is_some()).map(|a| a.about().id).collect();
    assert_eq!(can, ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot"]);
    for adapter in all() {
        assert_eq!(adapter.hooks().is_some(), adapter.about().can.contains(&crate::Capability::Hooks));
    }
}

#[test]
fn no_event_is_there_twice() {
    for adapter in all().iter().filter_map(|adapter| adapter.hooks()) {
        let events = adapter.rules().events;
        for (at, event) in events.iter().enumerate() {
            assert!(
                events[..at].iter().all(|e| e.name != event.name && (e.common.is_empty() || e.common != event.common))
            );
            assert_eq!(adapter.rules().event(event.name), Some(event.name));
        }
    }
}

#[test]
fn a_hook_lands_under_the_name_that_means_the_same() {
    let rules = |id: &str| by_id(id).unwrap().hooks().unwrap().rules();
    let land = |id, event, matcher| {
        let landing = rules(id).land(event, matcher).ok()?;
        Some(format!("{} {}", landing.event, landing.matcher.unwrap_or_default()))
    };
    assert_eq!(land("claude-code", "PreToolUse", Some("Bash")).as_deref(), Some("PreToolUse Bash"));
    assert_eq!(
        land("gemini-cli", "PreToolUse", Some("Bash|Edit")).as_deref(),
        Some("BeforeTool run_shell_command|replace")
    );
    assert_eq!(land("gemini-cli", "PreToolUse", Some("Bash.*")).as_deref(), Some("BeforeTool Bash.*"));
    assert_eq!(land("gemini-cli", "SessionStart", Some("Bash")).as_deref(), Some("SessionStart Bash"));
    assert_eq!(land("gemini-cli", "PreCompact", None), None, "it fires before every turn there");
    assert_eq!(land("gemini-cli", "PreCompress", None).as_deref(), Some("PreCompress "));
    assert_eq!(land("copilot", "Stop", None).as_deref(), Some("agentStop "));
    assert_eq!(land("copilot", "preToolUse", Some("Bash")).as_deref(), Some("preToolUse bash"));
    assert_eq!(land("codex", "Notification", None), None);
    assert_eq!(land("codex", "", None), None);
    assert_eq!(rules("codex").stops_after("SessionEnd", Some(30)), 3);
    assert_eq!(rules("codex").stops_after("Stop", None), 600);
}

#[test]
fn timeouts_are_written_in_the_unit_of_the_agent() {
    let element = |id: &str| {
        let rules = by_id(id).unwrap().hooks().unwrap().rules();
        let landing = rules.land("PreToolUse", Some("Bash")).unwrap();
        rules.element(&landing, "true", Some(5), true)
    };
    let claude =
        json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 5, "async": true}]});
    assert_eq!(element("claude-code"), claude);
    assert_eq!(element("codex"), claude);
    assert_eq!(
        element("gemini-cli"),
        json!({"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "true", "timeout": 5000}]})
    );
    assert_eq!(element("qwen-code")["hooks"][0]["timeout"], json!(5000));
    assert_eq!(element("copilot"), json!({"type": "command", "matcher": "bash", "bash": "true", "timeoutSec": 5}));
}

/// Report E3: what is there is read in whatever shape it has.
#[test]
fn old_and_new_shapes_and_what_nobody_takes() {
    let text = r#"{ // mine
      "hooks": {
        "PreToolUse": [
          {"matcher": "Bash", "hooks": [{"type": "command", "command": "new", "timeout": 5}, "inner"]},
          {"matcher": "Edit", "command": "flat"},
          "text",
          7,
          {"hooks": {"a": 1}},
          {"hooks": [{"type": "command"}]},
          {"hooks": [{"type": "prompt", "prompt": "look"}]},
        ],
        "Stop": {"hooks": []},
        "Nope": [{"hooks": [{"type": "command", "command": "x"}]}],
      },
    }"#;
    let looks = looked("claude-code", &[(".claude/settings.json", text)]);
    assert_eq!(
        told(&looks[0]),
        "PreToolUse Bash Nested new Some(5.0)\nPreToolUse Bash Nested inner None\nPreToolUse Edit Flat flat None\n\
         PreToolUse - Text text None\nPreToolUse - Nested prompt: look None\nNope - Nested x None\n"
    );
    let oddities = looks[0].oddities.join("\n");
    for words in [
        "`hooks.PreToolUse[1]` is a command without its group",
        "`hooks.PreToolUse[2]` is a text alone",
        "`hooks.PreToolUse[3]` is a number",
        "`hooks.PreToolUse[4]` has `hooks` that are a map, not a list",
        "`hooks.PreToolUse[5]` holds no command",
        "`hooks.Stop` is a map, not a list",
        "`Nope` is no event of it",
    ] {
        assert!(oddities.contains(words), "{words}\n{oddities}");
    }
    assert_eq!(looks[0].entries[1].at, sys::path!["hooks", "PreToolUse", 1]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let looks = looked("claude-code", &[(".claude/settings.json", "{\"hooks\": {")]);
    assert!(looks[0].unreadable.as_deref().unwrap().contains("line 1"), "{looks:?}");
    for text in ["[]", "7", "{\"hooks\": []}", "{\"hooks\": 3}", ""] {
        let looks = looked("claude-code", &[(".claude/settings.json", text)]);
        assert!(looks[0].unreadable.is_none() && looks[0].entries.is_empty(), "{text}");
    }
    assert!(!looked("claude-code", &[])[0].exists);
}

#[test]
fn switches_that_stop_all_hooks_are_seen() {
    for (id, file, text) in [
        ("claude-code", ".claude/settings.json", r#"{"disableAllHooks": true}"#),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("gemini-cli", ".gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#),
        ("qwen-code", ".qwen/settings.json", r#"{"disableAllHooks": true}"#),
    ] {
        assert!(looked(id, &[(file, text)]).iter().any(|look| look.off.is_some()), "{id}");
        assert!(looked(id, &[(file, "")]).iter().all(|look| look.off.is_none()), "{id}");
    }
    let gemini =
        looked("gemini-cli", &[(".gemini/settings.json", r#"{"hooks": {"enabled": true, "disabled": ["x"]}}"#)]);
    assert!(gemini[0].oddities.is_empty(), "settings between the events are no events");
}

#[test]
fn codex_trusts_what_config_toml_says_and_reads_tables_there() {
    let (home, around) = home(&[(
        ".codex/hooks.json",
        r#"{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "echo hi"}]}], "Later": []}}"#,
    )]);
    let key = format!("{}/.codex/hooks.json:stop:0:0", home.path().display());
    let hash = "sha256:f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8";
    let config = |more: &str| {
        let text = format!(
            "[hooks.state.\"{key}\"]\n{more}\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"inline\"\n"
        );
        let mut file = std::fs::File::options()
            .create(true)
            .write(true)
            .truncate(true)
            .open(home.path().join(".codex/config.toml"))
            .unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let adapter = by_id("codex").unwrap();
        adapter.hooks().unwrap().look(&adapter.places(&around))
    };
    let trust = |looks: &[Look]| looks[0].entries[0].commands[0].trust.unwrap();
    let looks = config(&format!("trusted_hash = \"{hash}\""));
    assert_eq!(trust(&looks), Trust::Trusted);
    assert_eq!((told(&looks[1]).as_str(), looks[1].oddities.len()), ("Stop - Nested inline None\n", 0));
    assert_eq!(looks[1].entries[0].commands[0].trust, Some(Trust::Untrusted));
    assert_eq!(trust(&config("trusted_hash = \"sha256:1\"")), Trust::Modified);
    assert_eq!(trust(&config(&format!("enabled = false\ntrusted_hash = \"{hash}\""))), Trust::Off);
    assert_eq!(trust(&config("x = 1")), Trust::Untrusted);
    assert!(looks[0].oddities.contains(&"`Later` is no event of it".to_owned()));
}

#[test]
fn codex_gives_up_on_a_file_for_one_entry() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "x", "timeout": 1.5}]}, "old"]}}"#;
    let oddities = looked("codex", &[(".codex/hooks.json", text)])[0].oddities.join("\n");
    assert_eq!(oddities.matches("the agent takes nothing of the file then").count(), 3, "{oddities}");
}

#[test]
fn copilot_reads_a_folder_of_files() {
    let ours = r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "a", "timeoutSec": 3}]}}"#;
    let claude = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "b"}]}]}}"#;
    let files =
        [(".copilot/hooks/lazyagents.json", ours), (".copilot/hooks/mine.json", claude), (".copilot/hooks/x.txt", "{")];
    let looks = looked("copilot", &files);
    assert_eq!(looks.len(), 3);
    assert_eq!(told(&looks[0]), "preToolUse - Flat a Some(3.0)\n");
    assert_eq!(told(&looks[1]), "PreToolUse Bash Nested b None\n");
    assert!(looks.iter().flat_map(|look| &look.entries).all(|entry| entry.known));
    assert!(looks[0].oddities.is_empty(), "{looks:?}");
}

#[test]
fn the_first_words_of_a_command_line() {
    for (line, first) in [
        ("notify-send hi", "notify-send hi"),
        ("  '/a b/c' x", "/a b/c x"),
        ("\"$HOME/x y.sh\" 1", "$HOME/x y.sh 1"),
        ("A=1 B='2 3' run it", "run it"),
        ("a\\ b c; d", "a b c"),
        ("cat >> log", "cat"),
        ("$(which x) y", ""),
        ("", ""),
        ("(cd x)", ""),
        ("''", ""),
    ] {
        assert_eq!(words(line).join(" "), first, "{line}");
    }
}

#[test]
fn two_versions_of_a_program_are_kin() {
    assert!(kin("/opt/v1/bin/tool --hook", "'/opt/v 2/bin/tool' --hook"));
    assert!(kin("tool --hook", "/opt/v1/bin/tool --hook"));
    for other in ["/opt/v1/bin/tool --hook", "/opt/v2/bin/tool --else", "/opt/v2/bin/other --hook", "", "$(x)"] {
        assert!(!kin("/opt/v1/bin/tool --hook", other), "{other}");
    }
}

#[test]
fn a_fingerprint_does_not_mind_the_order_of_keys() {
    let one = json!({"matcher": "é", "hooks": [{"type": "command", "command": "x"}]});
    let other = json!({"hooks": [{"command": "x", "type": "command"}], "matcher": "é"});
    assert_eq!(fingerprint(&one), fingerprint(&other));
    assert_ne!(fingerprint(&one), fingerprint(&json!({})));
}

proptest::proptest! {
    #[test]
    fn nothing_in_a_file_or_a_command_line_ends_it(text in "[\\[\\]{}\",:a7hoks \"'\\\\$(;=\n]{0,60}", event in "\"(Stop|hooks)\"") {
        let _ = words(&text);
        let text = format!("{{\"hooks\": {{{event}: {text}}}}}");
        if let Ok(root) = crate::jsonc::parse(&text) {
            for adapter in all().iter().filter_map(|adapter| adapter.hooks()) {
                value(&root, adapter.rules(), &mut Look::default());
            }
        }
    }
}

#[test]
fn there_is_a_payload_of_every_event() {
    for adapter in all().iter().filter(|adapter| adapter.hooks().is_some()) {
        let rules = adapter.hooks().unwrap().rules();
        let mut seen_any = false;
        for event in rules.events {
            let (payload, seen) = sample(adapter.about().id, event.name, "/p q".as_ref(), "/h".as_ref());
            assert_eq!(payload["cwd"], json!("/p q"));
            assert!(!payload.to_string().contains("{home}"));
            seen_any |= seen;
            if adapter.about().id != "copilot" {
                assert_eq!(payload["hook_event_name"], json!(event.name));
            }
        }
        assert!(seen_any);
        assert!(rules.verdict("Stop", Some(0)).contains("goes on"));
    }
    let claude = by_id("claude-code").unwrap().hooks().unwrap().rules();
    assert!(claude.verdict("PreToolUse", Some(2)).starts_with("it blocks"));
    assert!(claude.verdict("PostToolUse", Some(2)).starts_with("too late"));
    assert!(claude.verdict("PostToolUse", None).contains("too long"));
    assert!(claude.verdict("PreToolUse", Some(1)).contains("blocks nothing"));
    let copilot = by_id("copilot").unwrap().hooks().unwrap().rules();
    assert!(copilot.verdict("preToolUse", Some(1)).starts_with("it blocks"));
    assert!(copilot.verdict("userPromptSubmitted", Some(2)).contains("blocks nothing"));
}
