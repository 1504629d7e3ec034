//! tmux with the real tmux on a socket folder of its own, zellij with a stand-in, and what both hand to shells.

use proptest::prelude::*;

use super::*;
use crate::bundled::{tmux, zellij};

/// Ends the tmux server of a home, also when its test fails.
struct Server<'a>(&'a World);

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = run_in(&self.0.home.work(), "tmux", &["kill-server"], &self.0.home, b"");
    }
}

impl World {
    #[track_caller]
    fn tmux(&self, args: &[&str]) -> String {
        let args = [&["-u"], args].concat();
        let out = run_in(&self.home.work(), "tmux", &args, &self.home, b"");
        String::from_utf8_lossy(&out.stdout).trim_end().to_owned()
    }

    fn tmux_sessions(&self) -> Vec<String> {
        self.tmux(&["list-sessions", "-F", "#{session_name}"]).lines().map(str::to_owned).collect()
    }

    /// An `ez` that lists the session `s1` of the repository, with this name and path.
    fn lists(&self, name: &str, path: &Path, env: Value) -> Env {
        let list = json!([{"id": "ws-repo", "path": self.repo, "name": "repo", "sessions": [
            {"id": "s1", "name": name, "path": path, "env": env, "is_default": false}]}]);
        self.home.write("list.json", list.to_string());
        let script = format!(
            "#!/bin/sh\n[ \"$*\" = 'session list --all --json' ] && cat '{}/list.json'\n",
            self.home.home().display()
        );
        let ez = self.home.executable("b in/ez", &script);
        let mut env = self.env();
        env.set("EZ_BIN", ez);
        env
    }
}

#[test]
fn a_tmux_session_starts_in_the_session_folder_with_its_variables_and_marks() {
    if !needs("tmux") {
        return;
    }
    let world = World::called("re po;");
    let _server = Server(&world);
    let path = world.home.path("wt/#(touch pwned) 'x';");
    sys::files::make_dir(&path).unwrap();
    let env = json!({"ODD": "a'b\"c $x #{pid} \\;", "LINES_": "1\n2", "bad key": "no"});
    let session = json!({"session": {"path": path, "env": env}});
    let answer = world.ask("tmux", "on_session_create", "feat.b: ü", session);
    let name = "re po_/feat_b_ ü";
    let expected = json!({"success": true, "session_mutations":
        {"env": {"EZ_TMUX_SESSION": name}, "plugin_state": {"tmux_session": name}}});
    assert_eq!(answer, expected);
    assert_eq!(world.tmux_sessions(), [name]);
    let target = format!("={name}:");
    let show = |format: &str| world.tmux(&["display-message", "-p", "-t", &target, format]);
    assert_eq!(show("#{session_path}"), path.to_str().unwrap());
    let path = path.to_str().unwrap();
    for (option, value) in [
        ("managed", "1"),
        ("repo_id", "ws-repo"),
        ("session_id", "id-feat.b: ü"),
        ("session_name", "feat.b: ü"),
        ("session_path", path),
    ] {
        assert_eq!(show(&format!("#{{@ez_{option}}}")), value);
    }
    // What its first pane runs has them, and what is opened later.
    let file = world.home.path("seen");
    let print = format!(
        "printf '%s|%s|%s' \"$ODD\" \"$LINES_\" \"$EZ_TMUX_SESSION\" >'{}.new'; mv '{0}.new' '{0}'",
        file.display()
    );
    for how in ["new-window", "respawn-pane"] {
        let _ = sys::files::remove_file(&file);
        let args: &[&str] =
            if how == "new-window" { &[how, "-d", "-t", &target, &print] } else { &[how, "-k", "-t", &target, &print] };
        world.tmux(args);
        let until = sys::clock::now() + std::time::Duration::from_secs(10);
        while !file.exists() && sys::clock::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("a'b\"c $x #{{pid}} \\;|1\n2|{name}"), "{how}");
    }
    assert!(!world.home.work().join("pwned").exists());
}

#[test]
fn a_dollar_in_a_name_is_none_in_tmux_and_what_cannot_be_marked_goes_again() {
    if !needs("tmux") {
        return;
    }
    let world = World::new();
    let _server = Server(&world);
    let answer = world.ask("tmux", "on_session_create", "fix$PATH", json!({}));
    assert_eq!(answer["success"], true, "{answer}");
    assert_eq!(world.tmux_sessions(), ["repo/fix_PATH"]);
    // A tmux whose last command fails.
    let real = sys::proc::which("tmux".as_ref(), &world.env()).unwrap();
    let more = "case \"$*\" in *new-session*) set -- \"$@\" ';' set-option -t =nobody: @x y;; esac";
    let script = format!("#!/bin/sh\n{more}\nexec {} \"$@\"\n", real.display());
    let misfit = world.home.executable("misfit/tmux", &script);
    let mut env = world.env();
    let before = env.get("PATH").unwrap().to_string_lossy().into_owned();
    env.set("PATH", format!("{}:{before}", misfit.parent().unwrap().display()));
    let answer = world.ask_in("tmux", &world.request("on_session_create", "second", json!({})), &env);
    assert!(error(&answer).contains("second"), "{answer}");
    assert_eq!(world.tmux_sessions(), ["repo/fix_PATH"]);
}

#[test]
fn a_variable_that_was_set_later_is_there_when_one_goes_to_the_tmux_session() {
    if !needs("tmux") {
        return;
    }
    let world = World::new();
    let _server = Server(&world);
    world.ask("tmux", "on_session_create", "one", json!({}));
    world.ask("tmux", "on_bind", "one", json!({"session": {"env": {"LATER": "yes"}}}));
    assert_eq!(world.tmux(&["show-environment", "-t", "=repo/one", "LATER"]), "LATER=yes");
}

#[test]
fn two_sessions_with_one_name_are_told_apart() {
    if !needs("tmux") {
        return;
    }
    let world = World::new();
    let _server = Server(&world);
    let name = |answer: &Value| answer["session_mutations"]["env"]["EZ_TMUX_SESSION"].as_str().unwrap().to_owned();
    // The person's own, then two of ours; each again is the same.
    world.tmux(&["new-session", "-d", "-s", "repo/a_b"]);
    let first = name(&world.ask("tmux", "on_session_create", "a.b", json!({})));
    let second = name(&world.ask("tmux", "on_session_create", "a:b", json!({})));
    assert_eq!(first, tmux::other_name("repo/a_b", "id-a.b"));
    assert_eq!(second, tmux::other_name("repo/a_b", "id-a:b"));
    assert_eq!(name(&world.ask("tmux", "on_session_create", "a.b", json!({}))), first);
    assert_eq!(name(&world.ask("tmux", "on_bind", "a:b", json!({}))), second);
    assert_eq!(world.tmux_sessions().len(), 3);
    // A delete ends its own only.
    let answer = world.ask("tmux", "on_session_delete", "a:b", json!({}));
    assert_eq!(answer["post_shell_commands"], json!([format!("tmux kill-session -t '={second}'")]));
    let _ =
        run_in(&world.home.work(), "sh", &["-c", answer["post_shell_commands"][0].as_str().unwrap()], &world.home, b"")
            .ok();
    assert_eq!(world.tmux_sessions().len(), 2);
    assert_eq!(world.ask("tmux", "on_session_delete", "a:b", json!({})), json!({"success": true}));
}

#[test]
fn binding_entering_leaving_and_renaming() {
    if !needs("tmux") {
        return;
    }
    let world = World::new();
    let _server = Server(&world);
    // Without auto_attach nothing is started, and a bind makes what is not there.
    for hook in ["on_session_enter", "on_session_exit"] {
        assert_eq!(world.ask("tmux", hook, "a", json!({})), json!({"success": true}));
    }
    assert!(world.tmux_sessions().is_empty());
    let answer = world.ask("tmux", "on_bind", "a", json!({}));
    assert_eq!(answer["post_shell_commands"], json!(["tmux attach-session -t '=repo/a'"]));
    let mut inside = world.env();
    inside.set("TMUX", format!("{},1,0", world.tmux(&["display-message", "-p", "-t", "=repo/a:", "#{socket_path}"])));
    let pane = world.tmux(&["display-message", "-p", "-t", "=repo/a:", "#{pane_id}"]);
    inside.set("TMUX_PANE", pane);
    let auto = json!({"config": {"user_config": {"auto_attach": true}}});
    let answer = world.ask_in("tmux", &world.request("on_session_enter", "a", auto.clone()), &inside);
    assert_eq!(answer["post_shell_commands"], json!(["tmux switch-client -t '=repo/a'"]));
    let answer = world.ask_in("tmux", &world.request("on_session_exit", "a", auto.clone()), &inside);
    assert_eq!(answer["post_shell_commands"], json!(["tmux detach-client"]));
    assert_eq!(
        world.ask_in("tmux", &world.request("on_session_exit", "b", auto.clone()), &inside),
        json!({"success": true})
    );
    // Renamed by the person, then by ez; the id is what counts.
    world.tmux(&["rename-session", "-t", "=repo/a", "mine"]);
    let rename = json!({"session": {"id": "id-a"}, "rename_context": {"old_name": "a", "new_name": "b.c", "new_path": world.repo}});
    let answer = world.ask("tmux", "on_session_rename", "b.c", rename.clone());
    assert_eq!(answer["session_mutations"]["plugin_state"], json!({"tmux_session": "repo/b_c"}));
    assert_eq!(world.tmux_sessions(), ["repo/b_c"]);
    assert_eq!(
        world.tmux(&["display-message", "-p", "-t", "=repo/b_c:", "#{@ez_session_name}|#{@ez_session_path}"]),
        format!("b.c|{}", world.repo.display())
    );
    assert_eq!(world.ask("tmux", "on_session_rename", "b.c", rename)["success"], json!(true));
    // Nothing runs, nothing is noted: nothing to rename.
    let rename = json!({"rename_context": {"old_name": "x", "new_name": "y"}});
    assert_eq!(world.ask("tmux", "on_session_rename", "y", rename), json!({"success": true}));
}

#[test]
fn the_view_lists_all_sessions_and_a_selection_goes_there() {
    if !needs("tmux") {
        return;
    }
    let world = World::new();
    let _server = Server(&world);
    let env = world.lists("a b'c", &world.repo, json!({"K": "v"}));
    let null = json!({"repo": {"id": "", "path": ""}, "session": null, "view_context": {"view_name": "tmux"}});
    let view = || world.ask_in("tmux", &world.request("on_view", "", null.clone()), &env);
    let path = world.repo.display();
    assert_eq!(view()["view_items"], json!([{"display": format!("○ repo/a b'c  {path}"), "value": "s1"}]));
    let mut chosen = null.clone();
    merge(&mut chosen, json!({"view_context": {"selected_value": "s1", "selected_display": "x"}}));
    let select = |chosen: &Value| world.ask_in("tmux", &world.request("on_view_select", "", chosen.clone()), &env);
    for _ in 0..2 {
        assert_eq!(select(&chosen)["post_shell_commands"], json!([r"tmux attach-session -t '=repo/a b'\''c'"]));
    }
    assert_eq!(world.tmux_sessions(), ["repo/a b'c"]);
    assert_eq!(world.tmux(&["show-environment", "-t", "=repo/a b'c", "K"]), "K=v");
    assert_eq!(view()["view_items"][0]["display"], json!(format!("● repo/a b'c  {path}")));
    // One that ez no longer knows still runs; one that is gone altogether is said to be.
    world.ask("tmux", "on_session_create", "stale", json!({}));
    assert_eq!(view()["view_items"][1]["value"], json!("id-stale"));
    merge(&mut chosen, json!({"view_context": {"selected_value": "id-stale"}}));
    assert_eq!(select(&chosen)["post_shell_commands"], json!(["tmux attach-session -t '=repo/stale'"]));
    merge(&mut chosen, json!({"view_context": {"selected_value": "none"}}));
    assert!(error(&select(&chosen)).contains("gone"));
}

#[test]
fn without_tmux_only_what_needs_it_fails() {
    let world = World::new();
    let mut env = world.lists("a", &world.repo, json!({}));
    env.set("PATH", world.home.path("empty"));
    // The list comes from a script, which wants `cat`.
    let cat = world.home.path("list.json");
    world.home.executable(
        "b in/ez",
        &format!("#!/bin/sh\nwhile read -r line || [ \"$line\" ]; do echo \"$line\"; done <'{}'\n", cat.display()),
    );
    let ask = |hook: &str| {
        world.ask_in("tmux", &world.request(hook, "a", json!({"view_context": {"selected_value": "s1"}})), &env)
    };
    for hook in ["on_session_create", "on_bind", "on_view_select"] {
        assert!(error(&ask(hook)).contains("tmux is not installed"), "{hook}");
    }
    for hook in ["on_session_delete", "on_session_enter", "on_session_exit", "on_session_rename"] {
        assert_eq!(ask(hook), json!({"success": true}), "{hook}");
    }
    assert_eq!(ask("on_view")["view_items"][0]["value"], json!("s1"));
}

/// As zellij answers: keeps names in a file, writes down arguments, folder and variables.
const ZELLIJ: &str = r#"#!/bin/sh
dir=$(dirname "$0")/../zj; mkdir -p "$dir"; touch "$dir/names"
echo "$*" >>"$dir/calls"
case "$*" in
    "list-sessions -n") [ -s "$dir/names" ] || exit 1; sed 's/$/ [Created 1m ago] (EXITED - attach to resurrect)/' "$dir/names" ;;
    "attach --create-background "*) echo "$3" >>"$dir/names"; echo "$PWD|$K|$EZ_ZELLIJ_SESSION|$ZELLIJ" >"$dir/made" ;;
    *"delete-session"*) [ ! -e "$dir/stuck" ] || { echo 'busy' >&2; exit 2; }; : >"$dir/names" ;;
    *"rename-session "*) echo "$5" >"$dir/names" ;;
esac
"#;

#[test]
fn zellij_is_called_as_it_wants_to_be() {
    let world = World::new();
    world.home.program("zellij", ZELLIJ);
    let file = |name: &str| std::fs::read_to_string(world.home.root().join("zj").join(name)).unwrap();
    let mut env = world.env();
    env.set("ZELLIJ_SOCKET_DIR", "/run/z");
    let ask = |hook: &str, name: &str, change: Value| world.ask_in("zellij", &world.request(hook, name, change), &env);
    let answer = ask("on_session_create", "feat.z", json!({"session": {"env": {"K": "v 1"}}}));
    let expected = |name: &str| json!({"env": {"EZ_ZELLIJ_SESSION": name}, "plugin_state": {"zellij_session": name}});
    assert_eq!(answer, json!({"success": true, "session_mutations": expected("repo__feat_z")}));
    assert_eq!(file("made"), format!("{}|v 1|repo__feat_z|\n", world.repo.display()));
    let answer = ask("on_bind", "feat.z", json!({}));
    assert_eq!(answer["post_shell_commands"], json!(["zellij attach repo__feat_z"]));
    let rename = json!({"rename_context": {"old_name": "feat.z", "new_name": "n"}, "session": {"plugin_state": {"zellij_session": "repo__feat_z"}}});
    assert_eq!(ask("on_session_rename", "n", rename)["session_mutations"], expected("repo__n"));
    assert_eq!(file("names"), "repo__n\n");
    world.home.write(world.home.root().join("zj/stuck"), "");
    assert_eq!(ask("on_session_delete", "n", json!({})), json!({"success": true}));
    sys::files::remove_file(&world.home.root().join("zj/stuck")).unwrap();
    let gently = json!({"config": {"user_config": {"force_delete": false}}});
    assert_eq!(ask("on_session_delete", "n", gently), json!({"success": true}));
    assert_eq!(ask("on_session_delete", "n", json!({})), json!({"success": true}));
    let calls = file("calls");
    let calls: Vec<&str> = calls.lines().filter(|call| *call != "list-sessions -n").collect();
    let expected_calls = [
        "attach --create-background repo__feat_z",
        "--session repo__feat_z action rename-session repo__n",
        "delete-session --force repo__n",
        "delete-session repo__n",
    ];
    assert_eq!(calls, expected_calls);
    // A recorded name that is none of ours reaches neither zellij nor a shell.
    let answer = ask("on_bind", "a", json!({"session": {"plugin_state": {"zellij_session": "x; touch y"}}}));
    assert_eq!(answer["post_shell_commands"], json!(["zellij attach repo__a"]));
}

#[test]
fn zellij_keeps_no_session_from_being_made_and_its_view_selects() {
    let world = World::new();
    let missing = world.ask("zellij", "on_session_create", "a", json!({}));
    assert_eq!(missing["success"], json!(true));
    assert!(error(&world.ask("zellij", "on_bind", "a", json!({}))).contains("not installed"));
    world.home.program("zellij", ZELLIJ);
    let env = world.lists("a", &world.repo, json!({"K": "v"}));
    let request =
        |hook: &str| world.request(hook, "", json!({"session": null, "view_context": {"selected_value": "s1"}}));
    let answer = world.ask_in("zellij", &request("on_view"), &env);
    assert_eq!(
        answer["view_items"],
        json!([{"display": format!("○ repo/a  {}", world.repo.display()), "value": "s1"}])
    );
    let answer = world.ask_in("zellij", &request("on_view_select"), &env);
    let name = zellij::session_name(&world.repo, "a", &env);
    assert_eq!(answer["post_shell_commands"], json!([format!("zellij attach {name}")]));
    assert!(
        world.ask_in("zellij", &request("on_view"), &env)["view_items"][0]["display"]
            .as_str()
            .unwrap()
            .starts_with('●')
    );
}

#[test]
fn entering_and_leaving_with_zellij() {
    let world = World::new();
    world.home.program("zellij", ZELLIJ);
    let ask =
        |hook: &str, change: Value, env: &sys::Env| world.ask_in("zellij", &world.request(hook, "a", change), env);
    let auto = json!({"config": {"user_config": {"auto_attach": true}}});
    let outside = world.env();
    for hook in ["on_session_enter", "on_session_exit"] {
        assert_eq!(ask(hook, json!({}), &outside), json!({"success": true}));
    }
    assert!(!world.home.root().join("zj/calls").exists(), "nothing is asked of zellij");
    let name = zellij::session_name(&world.repo, "a", &outside);
    let answer = ask("on_session_enter", auto.clone(), &outside);
    assert_eq!(answer["post_shell_commands"], json!([format!("zellij attach {name}")]));
    let mut inside = world.env();
    inside.set("ZELLIJ", "0").set("ZELLIJ_SESSION_NAME", "other");
    for (hook, change) in [("on_session_enter", auto.clone()), ("on_bind", json!({}))] {
        let answer = ask(hook, change, &inside);
        assert_eq!(answer["post_shell_commands"], json!([format!("zellij action switch-session {name}")]), "{hook}");
    }
    assert_eq!(ask("on_session_exit", auto, &inside), json!({"success": true}));
    let calls = std::fs::read_to_string(world.home.root().join("zj/calls")).unwrap();
    let made = calls.lines().filter(|call| call.contains("--create-background")).count();
    assert_eq!(made, 1, "one that is there is not made again: {calls}");
    // The default session has the repository's own folder and gets a zellij session when it is asked for.
    let main = json!({"session": {"is_default": true, "name": "main"}});
    assert_eq!(ask("on_session_create", main.clone(), &outside), json!({"success": true}));
    assert!(ask("on_bind", main, &outside)["post_shell_commands"][0].as_str().unwrap().starts_with("zellij attach "));
}

/// Whatever a repository and a session are called: the post command is one `tmux` with three arguments, in every shell.
#[test]
fn no_name_reaches_a_shell_unquoted() {
    let world = World::new();
    let record = world.home.path("argv");
    // Makes anything, lists nothing, and writes down what it is called with.
    let script = format!(
        "#!/bin/sh\n[ \"$2\" = list-sessions ] && exit 1\nfor arg; do printf '%s\\0' \"$arg\"; done >'{}'\n",
        record.display()
    );
    world.home.program("tmux", &script);
    let nasty = proptest::sample::select(vec![
        "'",
        "\\",
        "\"",
        "$(touch pwned)",
        "`touch pwned`",
        "\n",
        "!",
        ";touch pwned;",
        "=",
        "~",
        "*",
    ]);
    let text = (proptest::collection::vec(any::<char>(), 1..8), proptest::collection::vec(nasty, 0..5)).prop_map(
        |(chars, nasty)| {
            let text = chars.into_iter().collect::<String>() + &nasty.concat();
            text.replace(['\0', '/'], "_")
        },
    );
    let shells: Vec<(&str, Vec<&str>)> = [
        ("sh", vec!["-c"]),
        ("bash", vec!["--norc", "-c"]),
        ("zsh", vec!["-f", "-c"]),
        ("fish", vec!["--no-config", "-c"]),
    ]
    .into_iter()
    .filter(|(shell, _)| needs(shell))
    .collect();
    let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(repo in text.clone(), session in text.clone())| {
        let path = format!("/ws/{repo}");
        let answer = world.ask("tmux", "on_bind", &session, json!({"repo": {"path": path}, "session": {"path": world.repo}}));
        prop_assert_eq!(&answer["success"], &json!(true), "{}", answer);
        let commands = answer["post_shell_commands"].as_array().unwrap();
        prop_assert_eq!(commands.len(), 1);
        let command = commands[0].as_str().unwrap();
        let name = tmux::session_name(Path::new(&path), &session);
        for (shell, args) in &shells {
            let _ = sys::files::remove_file(&record);
            let args = [args.as_slice(), &[command]].concat();
            let out = run_in(&world.home.work(), shell, &args, &world.home, b"");
            prop_assert_eq!(out.code(), 0, "{}: {}", shell, out);
            let seen = String::from_utf8(std::fs::read(&record).unwrap()).unwrap();
            prop_assert_eq!(seen, format!("attach-session\0-t\0={name}\0"), "{}: {}", shell, command);
        }
        prop_assert!(!world.home.work().join("pwned").exists());
    });
}
