//! Every command of the real program: a path that works and one that does not, with stdout, stderr and exit code in
//! one snapshot (`$ROOT` is the temporary folder).

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;
use testkit::{Exit, Home, Output, PATIENCE, Pty};

/// The program under test.
pub(crate) const LAZYAGENTS: &str = env!("CARGO_BIN_EXE_lazyagents");

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

/// Commands that are reserved and do something.
const COMMANDS: [&str; 13] = [
    "tui",
    "sessions",
    "provider",
    "hooks",
    "usage",
    "agents",
    "plugins",
    "doctor",
    "history",
    "undo",
    "completions",
    "schema",
    "help",
];

/// A home with three agents: one asked for its version, one below nvm with a package.json, one by its folder only.
fn home_with_agents() -> Home {
    let home = Home::new();
    home.program("claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.0 (Claude Code)'\n");
    let package = ".nvm/versions/node/v22.1.0/lib/node_modules/@openai/codex";
    home.write(format!("{package}/package.json"), r#"{"name":"@openai/codex","version":"0.60.1"}"#);
    home.executable(format!("{package}/bin/codex.js"), "#!/bin/sh\nexit 9\n");
    let bin = home.path(".nvm/versions/node/v22.1.0/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink("../lib/node_modules/@openai/codex/bin/codex.js", bin.join("codex")).unwrap();
    home.write(".gemini/settings.json", "{}");
    home
}

// ---- no command, help, version, mistakes

#[test]
fn without_a_terminal_the_interface_says_so() {
    // In a session of its own: the terminal of whoever runs the tests could be opened as /dev/tty.
    if !testkit::needs("setsid") {
        return;
    }
    let home = Home::new();
    assert_snapshot!("no_terminal", home.run("setsid", &["-w", LAZYAGENTS]));
    assert_eq!(home.run("setsid", &["-w", LAZYAGENTS, "tui"]).code(), 1);
}

#[test]
fn help() {
    let home = Home::new();
    assert_snapshot!("help", run(&home, &["help"]));
    assert_eq!(run(&home, &["--help"]).out(), run(&home, &["help"]).out());
    assert_eq!(run(&home, &["-h"]).code(), 0);
}

#[test]
fn help_of_every_command() {
    let home = Home::new();
    for command in COMMANDS {
        assert_snapshot!(format!("help_{command}"), run(&home, &["help", command]));
    }
}

#[test]
fn help_of_a_plugin_and_of_nothing() {
    let home = Home::new();
    home.misfit("hello", "good");
    assert_snapshot!("help_with_plugins", run(&home, &["help"]));
    assert_snapshot!("help_plugin", run(&home, &["help", "hello"]));
    assert_snapshot!("help_unknown", run(&home, &["help", "helo"]));
    assert_snapshot!("help_not_yet", run(&home, &["help", "skills"]));
}

#[test]
fn version() {
    let home = Home::new();
    for flag in ["--version", "-V"] {
        let output = run(&home, &[flag]).ok();
        assert_eq!(output.out(), format!("lazyagents {}\n", env!("CARGO_PKG_VERSION")));
        assert_eq!(output.err(), "");
    }
}

#[test]
fn an_unknown_command_names_the_nearest_one_and_where_plugins_live() {
    let home = Home::new();
    home.misfit("weather", "good");
    assert_snapshot!("unknown_near_a_command", run(&home, &["plugin"]));
    assert_snapshot!("unknown_near_a_plugin", run(&home, &["wether", "--json"]));
    assert_snapshot!("unknown_near_nothing", run(&home, &["xyz\u{1b}[31m"]));
    home.write(home.plugins().join("clock.sh"), "#!/bin/sh\n");
    assert_snapshot!("unknown_but_ignored", run(&home, &["clock"]));
    assert_snapshot!("unknown_flag", run(&home, &["--nope"]));
    assert_eq!(run(&home, &[""]).code(), 2);
}

#[test]
fn reserved_commands_that_do_nothing_yet_say_so() {
    let home = Home::new();
    assert_snapshot!("not_yet", run(&home, &["skills", "list"]));
    for command in lazyagents::reserved::COMMANDS.iter().filter(|command| !COMMANDS.contains(command)) {
        let output = run(&home, &[command]);
        assert_eq!((output.code(), output.out().as_str()), (2, ""), "{output}");
    }
}

// ---- agents

#[test]
fn agents() {
    let home = home_with_agents();
    assert_snapshot!("agents", run(&home, &["agents"]));
    assert_snapshot!("agents_mistake", run(&home, &["agents", "--jsn"]));
    assert_snapshot!("agents_none", run(&Home::new(), &["agents"]));
}

#[test]
fn agents_json_has_the_shape_that_scripts_rely_on() {
    let home = home_with_agents();
    let output = run(&home, &["agents", "--json"]).ok();
    assert_eq!(output.err(), "");
    let rows = output.json();
    let rows = rows.as_array().unwrap();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    let order = "claude-code codex gemini-cli opencode claude-desktop hermes-agent pi crush qwen-code copilot";
    assert_eq!(ids.join(" "), order);
    let keys = "id name installed version binary config_dir managed_dir read_dirs can tried";
    let can = ["skills", "sessions", "resume", "delete", "usage", "limits", "auth", "providers", "hooks", "live"];
    for row in rows {
        let row = row.as_object().unwrap();
        assert_eq!(row.keys().map(String::as_str).collect::<Vec<_>>().join(" "), keys);
        assert!(row["installed"].is_boolean() && row["tried"].is_boolean());
        for name in ["version", "binary", "config_dir", "managed_dir"] {
            assert!(row[name].is_null() || row[name].as_str().is_some_and(|text| !text.is_empty()), "{row:?}");
        }
        for capability in row["can"].as_array().unwrap() {
            assert!(can.contains(&capability.as_str().unwrap()), "{row:?}");
        }
    }
    assert_snapshot!("agents_json", output);
    let opencode = &rows[3];
    assert_eq!((&opencode["installed"], &opencode["version"]), (&Value::Bool(false), &Value::Null));
}

#[test]
fn versions_are_remembered_and_asked_again_when_the_program_changed() {
    let home = Home::new();
    let script = |version: &str, log: &Path| {
        format!("#!/bin/sh\necho asked >>{}\necho '{version} (Claude Code)'\n", log.display())
    };
    let log = home.tmp().join("asked");
    home.program("claude", &script("2.1.0", &log));
    let version = || run(&home, &["agents", "--json"]).ok().json()[0]["version"].clone();
    assert_eq!((version(), version()), ("2.1.0".into(), "2.1.0".into()));
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 1, "asked twice");
    home.program("claude", &script("2.1.10", &log));
    assert_eq!(version(), "2.1.10");
}

#[test]
fn asking_agents_writes_nothing_into_the_home() {
    let home = home_with_agents();
    let before = tree(&home.home());
    let _ = run(&home, &["agents"]).ok();
    let _ = run(&home, &["doctor"]);
    assert_eq!(tree(&home.home()), before);
}

/// Every file and folder below `dir`.
fn tree(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        found.push(entry.path().display().to_string());
        if entry.file_type().unwrap().is_dir() {
            found.extend(tree(&entry.path()));
        }
    }
    found.sort();
    found
}

// ---- plugins

/// A ready, a hidden and an ignored plugin.
fn home_with_plugins() -> Home {
    let home = Home::new();
    home.misfit("hello", "good");
    home.misfit("secret.sh", "good");
    home.write(home.plugins().join("README.md"), "words\n");
    home.config("tui: { hidden: [secret] }\nhello: { greeting: hi }\n");
    home
}

#[test]
fn plugins() {
    let home = home_with_plugins();
    assert_snapshot!("plugins", run(&home, &["plugins"]));
    assert_eq!(run(&home, &["plugins", "list"]).out(), run(&home, &["plugins"]).out());
    assert_snapshot!("plugins_json", run(&home, &["plugins", "list", "--json"]));
    assert_eq!(run(&home, &["plugins", "--json"]).out(), run(&home, &["plugins", "list", "--json"]).out());
    assert_snapshot!("plugins_none", run(&Home::new(), &["plugins"]));
    assert_snapshot!("plugins_mistake", run(&home, &["plugins", "remove"]));
}

#[test]
fn plugins_info() {
    let home = home_with_plugins();
    assert_snapshot!("plugins_info", run(&home, &["plugins", "info", "hello"]));
    assert_snapshot!("plugins_info_json", run(&home, &["plugins", "info", "hello", "--json"]));
    assert_snapshot!("plugins_info_missing", run(&home, &["plugins", "info", "helo"]));
    assert_eq!(run(&home, &["plugins", "info"]).code(), 2);
}

#[test]
fn plugins_info_of_broken_ones() {
    for (name, orders) in [
        ("junk", "junk:first"),
        ("empty-type", "empty-type:first"),
        ("frame-first", "frame-first"),
        ("stderr", "stderr:60:exit:first"),
        ("silent", "silent"),
    ] {
        let home = Home::new();
        home.misfit("broken", orders);
        assert_snapshot!(format!("plugins_info_{name}"), run(&home, &["plugins", "info", "broken"]));
        if name == "stderr" {
            assert_snapshot!("plugins_info_broken_json", run(&home, &["plugins", "info", "broken", "--json"]));
        }
    }
}

#[test]
fn plugins_info_of_a_file_that_cannot_be_executed() {
    let home = Home::new();
    home.plugin("broken", "#!/no/such/interpreter\n");
    assert_snapshot!("plugins_info_no_interpreter", run(&home, &["plugins", "info", "broken"]));
}

// ---- doctor

#[test]
fn doctor() {
    let home = home_with_agents();
    home.misfit("hello", "good");
    home.misfit("quiet", "plain");
    assert_snapshot!("doctor", run(&home, &["doctor"]));
    assert_snapshot!("doctor_nothing", run(&Home::new(), &["doctor"]));
}

#[test]
fn doctor_with_problems() {
    let home = Home::new();
    home.misfit("dry", "doctor-fail");
    home.misfit("junk", "junk:first");
    home.misfit("good", "good");
    home.write(home.plugins().join("README.md"), "words\n");
    home.plugin("usage", "#!/bin/sh\n");
    assert_snapshot!("doctor_problems", run(&home, &["doctor"]));
    let output = run(&home, &["doctor", "--json"]);
    let report = output.json();
    assert_eq!((output.code(), &report["ok"]), (1, &Value::Bool(false)));
    assert_eq!(report["agents"].as_array().unwrap().len(), 10);
    let sections = report["sections"].as_array().unwrap();
    for section in sections {
        let keys: Vec<&String> = section.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["title", "report", "problems"]);
    }
    assert_snapshot!("doctor_problems_json", serde_json::to_string_pretty(sections).unwrap());
}

#[test]
fn an_ignored_file_alone_makes_doctor_fail() {
    let home = Home::new();
    home.write(home.plugins().join("README.md"), "words\n");
    assert_snapshot!("doctor_ignored", run(&home, &["doctor"]));
}

#[test]
fn doctor_leaves_nothing_running() {
    let home = Home::new();
    let misfit = home.misfit("parent", "grandchild");
    assert_eq!(run(&home, &["doctor"]).code(), 0);
    assert_eq!(misfit.children().len(), 2, "one of serve, one of doctor");
    for pid in misfit.children() {
        misfit.wait_gone(pid);
    }
}

// ---- completions, schema

#[test]
fn completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&home, &["completions", shell]).ok();
        assert!(output.out().contains("lazyagents") && output.out().contains("doctor"), "{output}");
        assert_eq!(output.err(), "");
    }
    assert_snapshot!("completions_mistake", run(&home, &["completions", "tcsh"]));
}

#[test]
fn a_completion_script_is_one_that_its_shell_reads() {
    let home = Home::new();
    let script = run(&home, &["completions", "bash"]).ok().stdout;
    let bash = testkit::run("/bin/bash", &["-n"], &home, &script);
    assert_eq!((bash.code(), bash.err().as_str()), (0, ""));
}

#[test]
fn plugins_are_completed_beside_commands_and_their_arguments_are_their_own() {
    let home = home_with_plugins();
    let ids = run(&home, &["completions", "--words", "plugins"]).ok().out();
    let id = ids.lines().next().unwrap();
    let program = std::path::Path::new(LAZYAGENTS).parent().unwrap().display();
    let ask = |words: &str, at: usize| {
        let script = format!(
            "PATH={program}:$PATH; eval \"$(lazyagents completions bash)\"; COMP_WORDS=({words}); COMP_CWORD={at}; \
             _lazyagents_and_plugins lazyagents \"${{COMP_WORDS[{at}]}}\" \"\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        testkit::run("/bin/bash", &["--norc", "-c", &script], &home, b"").ok().out()
    };
    let first = ask("lazyagents ''", 1);
    assert!(first.lines().any(|word| word == id) && first.lines().any(|word| word == "doctor"), "{first}");
    assert_eq!(ask(&format!("lazyagents {id} ''"), 2).trim(), "", "what follows a plugin is its own");
    assert!(ask("lazyagents plugins info ''", 3).lines().any(|word| word == id));
    for shell in ["zsh", "fish"] {
        if testkit::needs(shell) {
            let script = home.write(format!("complete.{shell}"), run(&home, &["completions", shell]).ok().stdout);
            let args: &[&str] = if shell == "zsh" { &["-n"] } else { &["--no-execute"] };
            let read = home.run(shell, &[args, &[&script.display().to_string()]].concat());
            assert_eq!((read.code(), read.err().as_str()), (0, ""), "{read}");
        }
    }
}

#[test]
fn schemas() {
    let home = Home::new();
    let list = run(&home, &["schema"]);
    assert_snapshot!("schema", list);
    for line in list.out().lines() {
        let name = line.split_whitespace().next().unwrap();
        let schema = run(&home, &["schema", name]).ok().json();
        assert!(schema["$schema"].is_string(), "{name}: {schema}");
    }
    assert_snapshot!("schema_unknown", run(&home, &["schema", "agent"]));
}

#[test]
fn answers_have_the_fields_of_their_schemas() {
    let home = home_with_plugins();
    for (name, args) in [
        ("agents", &["agents", "--json"] as &[&str]),
        ("plugins", &["plugins", "--json"]),
        ("plugins-info", &["plugins", "info", "hello", "--json"]),
        ("doctor", &["doctor", "--json"]),
    ] {
        let schema = run(&home, &["schema", name]).ok().json();
        let answer = run(&home, args).json();
        let row = answer.get(0).unwrap_or(&answer);
        let described = match schema.get("items") {
            Some(items) => &schema["$defs"][items["$ref"].as_str().unwrap().trim_start_matches("#/$defs/")],
            None => &schema,
        };
        let mut known: Vec<&String> = described["properties"].as_object().unwrap().keys().collect();
        let mut given: Vec<&String> = row.as_object().unwrap().keys().collect();
        known.sort();
        given.sort();
        assert_eq!(known, given, "{name}");
    }
}

// ---- warnings, config, streams

#[test]
fn d7_warnings_go_to_stderr_before_the_output_and_not_into_a_plugins_own() {
    let home = Home::new();
    home.misfit("hello", "good");
    home.write(home.plugins().join("README.md"), "words\n");
    home.plugin("Bad Name", "#!/bin/sh\n");
    home.plugin("hello.sh", "#!/bin/sh\n");
    home.plugin("doctor", "#!/bin/sh\necho it must never run\n");
    assert_snapshot!("warnings", run(&home, &["plugins", "list"]));
    let warnings = run(&home, &["plugins", "list"]).err();
    assert_eq!(run(&home, &["schema"]).err(), warnings);
    assert_eq!(run(&home, &["hello", "a"]).err(), "");
    assert!(!run(&home, &["doctor"]).out().contains("must never run"));
}

#[test]
fn g3_a_config_that_does_not_parse_is_a_warning_and_no_obstacle() {
    let home = Home::new();
    home.config("tui: [1\nhello: {\n");
    assert_snapshot!("config_broken", run(&home, &["plugins"]));
    assert_eq!(run(&home, &["doctor"]).code(), 1);
    home.misfit("hello", "good");
    assert_eq!(run(&home, &["hello", "a"]).ok().err(), "");
    home.write(home.config_dir().join("config.yaml"), b"a: \xff\n");
    assert_snapshot!("config_not_utf8", run(&home, &["plugins"]));
}

/// Runs a command whose stdout has no reader any more.
fn run_unread(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(LAZYAGENTS)
        .args(args)
        .env_clear()
        .envs(home.env())
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    (child.wait().unwrap().code(), errors)
}

#[test]
fn a_closed_pipe_is_quiet() {
    let home = Home::new();
    for args in [
        &["schema", "plugin-host"] as &[&str],
        &["help"],
        &["--help"],
        &["--version"],
        &["completions", "zsh"],
        &["agents", "--json"],
        &["plugins"],
        &["doctor"],
    ] {
        assert_eq!(run_unread(&home, args), (Some(0), String::new()), "{args:?}");
    }
    let script = r#"{ "$0" schema plugin-host; echo "code $?" >&2; } | head -c 1"#;
    let output = testkit::run("/bin/sh", &["-c", script, LAZYAGENTS], &home, b"");
    assert_eq!((output.out().as_str(), output.err().as_str()), ("{", "code 0\n"));
}

#[test]
fn colour_only_on_a_terminal_and_without_no_color() {
    let mut home = Home::new();
    let on_terminal = |home: &Home| {
        let pty = Pty::spawn(LAZYAGENTS, &["doctor"], home, 24, 80);
        assert_eq!(pty.wait_exit(PATIENCE), Exit::Code(0));
        String::from_utf8(pty.raw()).unwrap()
    };
    assert!(on_terminal(&home).contains("\u{1b}[1m"));
    assert!(!run(&home, &["doctor"]).out().contains('\u{1b}'));
    home.set_env("NO_COLOR", "1");
    assert!(!on_terminal(&home).contains('\u{1b}'));
    home.unset_env("NO_COLOR").set_env("TERM", "dumb");
    assert!(!on_terminal(&home).contains('\u{1b}'));
}

#[test]
fn nothing_that_a_plugin_says_reaches_the_terminal_raw() {
    let home = Home::new();
    home.plugin(
        "evil",
        "#!/bin/sh\nif [ \"$1\" = doctor ]; then printf 'a\\033]0;LEAK\\007b\\033[31mc\\n'; exit 1; fi\n\
         printf '\\033[31merr\\033]0;LEAK\\007\\n' >&2\nread l\n\
         printf '{\"type\":\"manifest\",\"title\":\"x\\\\u001b]0;LEAK\\\\u0007y\",\"doctor\":true}\\n'\nread l\n",
    );
    home.write(home.plugins().join("bad\u{1b}[31m.txt"), "");
    for args in [&["doctor"] as &[&str], &["plugins"], &["plugins", "info", "evil"], &["plugins", "info", "a\u{1b}[2J"]]
    {
        let output = run(&home, args);
        assert!(!output.out().contains('\u{1b}') && !output.err().contains('\u{1b}'), "{output}");
        assert!(!output.out().contains("LEAK"), "{output}");
    }
}

// ---- pass-through

#[test]
fn z1_arguments_arrive_verbatim() {
    let home = Home::new();
    home.misfit("hello", "good");
    for args in [
        &["hello"] as &[&str],
        &["hello", "--help"],
        &["hello", "-h"],
        &["hello", "--version"],
        &["hello", "--json", "--", "--"],
        &["hello", "", "a b", "*", "$HOME", "ü日", ""],
        &["hello", "serve-not", "help"],
    ] {
        let output = run(&home, args).ok();
        let expected: String = args[1..].iter().map(|arg| format!("{arg}\n")).collect();
        assert_eq!((output.out(), output.err()), (expected, String::new()), "{args:?}");
    }
}

#[test]
fn z1_arguments_that_are_not_utf8_arrive_verbatim() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    home.plugin("hello", "#!/bin/sh\nprintf '%s' \"$1\"\n");
    let output = Command::new(LAZYAGENTS)
        .arg("hello")
        .arg(std::ffi::OsStr::from_bytes(b"a\xff\xfeb"))
        .env_clear()
        .envs(home.env())
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"a\xff\xfeb");
}

#[test]
fn z1_the_exit_code_is_the_plugins() {
    let home = Home::new();
    home.misfit("hello", "good");
    for code in [0, 1, 2, 42, 255] {
        assert_eq!(run(&home, &["hello", "exit", &code.to_string()]).code(), code);
    }
    for signal in [9, 15] {
        let exit = run(&home, &["hello", "signal", &signal.to_string()]).exit;
        assert!(exit == Exit::Signal(signal) || exit == Exit::Code(128 + signal), "{exit:?}");
    }
}

#[test]
fn z2_the_streams_are_the_hosts_own() {
    let home = Home::new();
    home.misfit("hello", "good");
    let stdin: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let output = testkit::run(LAZYAGENTS, &["hello", "cat"], &home, &stdin).ok();
    assert!(output.stdout == [b"cat\n".as_slice(), &stdin].concat(), "stdin did not arrive as it was");
    let pty = Pty::spawn(LAZYAGENTS, &["hello", "tty"], &home, 10, 60);
    pty.wait_text("stdin true stdout true stderr true");
    assert_eq!(pty.wait_exit(PATIENCE), Exit::Code(0));
}

#[test]
fn z3_z4_no_group_of_its_own_and_signals_reach_it() {
    let home = Home::new();
    home.plugin(
        "hello",
        "#!/bin/sh\ntrap 'echo caught; exit 7' INT\necho ready\nwhile :; do read x || sleep 1; done\n",
    );
    let pty = Pty::spawn(LAZYAGENTS, &["hello"], &home, 10, 60);
    pty.wait_text("ready");
    pty.send("\x03");
    pty.wait_text("caught");
    assert_eq!(pty.wait_exit(PATIENCE), Exit::Code(7));
}

#[test]
fn v1_every_mode_has_the_five_variables() {
    let mut home = Home::new();
    home.misfit("hello", "good");
    home.set_env("LAZYAGENTS_PROTOCOL", "9");
    assert_snapshot!("pass_through_env", run(&home, &["hello", "env"]));
    home.config("libraryDir: ~/my/skills/\n");
    assert!(run(&home, &["hello", "env"]).out().contains("LAZYAGENTS_LIBRARY_DIR=$ROOT/home/my/skills\n"));
    home.without_xdg();
    let plugins = home.path(".config/lazyagents/plugins");
    std::fs::create_dir_all(&plugins).unwrap();
    std::os::unix::fs::symlink(testkit::misfit_program(), plugins.join("hello")).unwrap();
    assert_snapshot!("pass_through_env_without_xdg", run(&home, &["hello", "env"]));
}

#[test]
fn d8_a_hidden_plugins_subcommand_works() {
    let home = home_with_plugins();
    assert_eq!(run(&home, &["secret", "here"]).ok().out(), "here\n");
}

#[test]
fn d6_a_plugin_with_a_reserved_name_never_runs() {
    let home = Home::new();
    for name in lazyagents::reserved::COMMANDS {
        home.plugin(name, "#!/bin/sh\necho LEAK\n");
    }
    for name in lazyagents::reserved::COMMANDS {
        let output = run(&home, &[name]);
        assert!(!output.out().contains("LEAK"), "{name}: {output}");
    }
}

#[test]
fn a_plugin_that_cannot_be_started_is_said() {
    let home = Home::new();
    home.plugin("broken", "#!/no/such/interpreter\n");
    assert_snapshot!("pass_through_broken", run(&home, &["broken", "a"]));
}

// ---- what a new user tried

#[test]
fn doctor_says_what_the_interface_warns_about() {
    let home = Home::new();
    home.config("tui: {startTab: agentz, tabs: [bogus, skills], hidden: [nosuch], keys: {list.down: [ctrl+c, j]}}\n");
    let doctor = run(&home, &["doctor"]);
    assert_eq!(doctor.code(), 1);
    for words in
        ["startTab names no tab: agentz", "tabs names no tab: bogus", "hidden names no tab: nosuch", "ctrl+c cannot"]
    {
        assert_eq!(doctor.out().matches(words).count(), 1, "{words}: {}", doctor.out());
    }
    assert!(!doctor.out().contains("skills"), "a tab of a later version is known");
}

#[test]
fn what_is_ignored_is_listed_and_info_says_why() {
    let home = Home::new();
    home.write(home.plugins().join("README.md"), "words\n");
    std::fs::create_dir_all(home.plugins().join("below")).unwrap();
    std::os::unix::fs::symlink("gone", home.plugins().join("dangling")).unwrap();
    let list = run(&home, &["plugins"]);
    assert!(list.out().contains("leads nowhere") && list.out().contains("it is a folder"), "{}", list.out());
    assert!(!list.err().contains("dangling") && !list.err().contains("below"), "{}", list.err());
    for name in ["README.md", "README", "dangling", "below"] {
        let info = run(&home, &["plugins", "info", name]);
        assert!(info.code() == 1 && info.err().contains("is ignored: it is"), "{name}: {}", info.err());
        let info = run(&home, &["plugins", "info", name, "--json"]);
        let json: Value = serde_json::from_str(&info.out()).unwrap();
        assert_eq!((info.code(), &json["state"], json["reason"].is_string()), (1, &"ignored".into(), true));
    }
}

#[test]
fn flags_before_a_command_of_sessions_count() {
    let home = Home::new();
    let want = run(&home, &["sessions", "list", "--json"]).ok().out();
    assert_eq!(run(&home, &["sessions", "--json", "list"]).ok().out(), want);
    assert_eq!(run(&home, &["sessions", "--limit", "1", "--json", "list"]).code(), 0);
}

#[test]
fn help_of_a_command_of_a_command() {
    let home = Home::new();
    let want = run(&home, &["help", "plugins", "info"]).ok().out();
    assert!(want.contains("The plugin's id"), "{want}");
    assert_eq!(run(&home, &["plugins", "help", "info"]).ok().out(), want);
    assert_eq!(run(&home, &["plugins", "help"]).ok().out(), run(&home, &["help", "plugins"]).ok().out());
    assert_eq!(run(&home, &["help", "plugins", "nosuch"]).code(), 2);
}

#[test]
fn a_slow_agent_withholds_only_its_own_version() {
    let home = home_with_agents();
    home.program("claude", "#!/bin/sh\nsleep 5\necho 2.1.0\n");
    home.config("tui: {startTab: agents}\n");
    let pty = Pty::spawn(LAZYAGENTS, &[], &home, 24, 80);
    pty.wait_text("0.60.1");
    assert!(!pty.text().contains("2.1.0"), "the slow one was waited for");
}
