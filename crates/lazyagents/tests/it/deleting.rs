//! `sessions delete` and `sessions trash` on homes that the real agents left: all of a session goes, nothing else does,
//! and all of it comes back.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use testkit::{Exit, Home, Output, Pty};

use crate::cli::LAZYAGENTS;
use crate::history::{copy, fixtures};

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

fn used(agent: &str) -> Home {
    let home = Home::new();
    copy(&fixtures(agent), &home.home());
    home
}

/// Every file and folder below `dir` with what makes it what it is; folders' own times change with what is in them.
pub(crate) fn tree(dir: &Path) -> BTreeMap<String, (u32, Option<SystemTime>, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        let mode = meta.permissions().mode();
        if meta.is_dir() {
            found.extend(tree(&path));
            found.insert(path.display().to_string(), (mode, None, Vec::new()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path.display().to_string(), (mode, Some(meta.modified().unwrap()), bytes));
        }
    }
    found
}

fn ids(home: &Home) -> Vec<String> {
    let rows = run(home, &["sessions", "--json"]).ok().json();
    let id = |row: &serde_json::Value| format!("{}:{}", row["agent"].as_str().unwrap(), row["id"].as_str().unwrap());
    rows.as_array().unwrap().iter().map(id).collect()
}

#[test]
fn every_session_goes_alone_and_comes_back_exactly() {
    for agent in ["claude_code", "codex", "gemini_cli", "pi", "qwen_code", "copilot"] {
        let home = used(agent);
        // What agents keep for a session beside it.
        for (path, id) in [
            (".claude/tasks/ID/1.json", "a776f879-9b2b-4479-a058-b08e95767ccc"),
            (".claude/todos/ID-agent-ID.json", "a776f879-9b2b-4479-a058-b08e95767ccc"),
            (".claude/file-history/ID/x@v1", "3d41b5bd-323c-4072-927f-fee3519551f5"),
            (".gemini/tmp/notes-app/tool-outputs/session-ID/x.txt", "561b62d0-5a2a-4f79-9adb-bdbd71087450"),
            (".qwen/projects/-home-dev-projects-webshop/chats/ID.runtime.json", "886ebba6-445a-4601-8c6d-64d4b305e456"),
        ] {
            if home.home().join(path.split('/').next().unwrap()).is_dir() {
                home.write(home.home().join(path.replace("ID", id)), "beside");
            }
        }
        let before = tree(&home.home());
        let all = ids(&home);
        assert!(all.len() >= 4, "{agent}: {all:?}");
        for id in &all {
            let deleted = run(&home, &["sessions", "delete", id, "--yes", "--json"]).ok().json();
            assert_eq!(deleted[0]["deleted"], true, "{agent}: {deleted}");
            let rest: Vec<&String> = all.iter().filter(|other| *other != id).collect();
            assert_eq!(ids(&home).iter().collect::<Vec<_>>(), rest, "{agent}: {id} and nothing else");
            let own = id.split_once(':').unwrap().1;
            let left: Vec<String> = tree(&home.home()).into_keys().filter(|path| path.contains(own)).collect();
            assert_eq!(left, Vec::<String>::new(), "{agent}");
            let restored = run(&home, &["sessions", "trash", "restore", id, "--json"]).ok().json();
            assert_eq!((&restored["id"], &restored["whole"]), (&deleted[0]["trash"], &true.into()));
            assert_eq!(ids(&home), all, "{agent}");
            assert_eq!(tree(&home.home()), before, "{agent}: {id}");
        }
        // All at once, and back.
        let mut args = vec!["sessions", "delete", "--yes"];
        args.extend(all.iter().map(String::as_str));
        let _ = run(&home, &args).ok();
        assert_eq!(ids(&home), Vec::<String>::new(), "{agent}");
        for row in run(&home, &["sessions", "trash", "--json"]).ok().json().as_array().unwrap() {
            let _ = run(&home, &["sessions", "trash", "restore", row["id"].as_str().unwrap()]).ok();
        }
        assert_eq!(tree(&home.home()), before, "{agent}");
        assert_eq!(run(&home, &["sessions", "trash"]).ok().out(), "The trash holds no sessions.\n");
    }
}

#[test]
fn copies_that_older_versions_left_do_not_bring_a_chat_back() {
    for set in ["moved", "old"] {
        let home = Home::new();
        copy(&fixtures("gemini_cli").parent().unwrap().join(set), &home.home());
        let before = tree(&home.home());
        for id in ids(&home) {
            let _ = run(&home, &["sessions", "delete", &id, "--yes"]).ok();
            assert!(!ids(&home).contains(&id), "{id} came back");
            let _ = run(&home, &["sessions", "trash", "restore", &id]).ok();
            assert_eq!(tree(&home.home()), before);
        }
    }
}

#[test]
fn nothing_goes_without_a_word() {
    let home = used("claude_code");
    let before = tree(&home.home());
    let listed = run(&home, &["sessions", "delete", "a776f879", "--dry-run"]).ok();
    let folder = "~/.claude/projects/-home-dev-projects-notes-app/a776f879-9b2b-4479-a058-b08e95767ccc";
    assert!(listed.out().contains(&format!("{folder}/  2 files, ")), "{listed}");
    assert!(listed.out().contains(&format!("{folder}.jsonl  ")), "{listed}");
    let unasked = run(&home, &["sessions", "delete", "a776f879", "3d41b5bd"]);
    assert_eq!(unasked.code(), 1);
    assert!(unasked.err().contains("2 sessions would be deleted, and nobody is there to be asked"), "{unasked}");
    assert_eq!(run(&home, &["sessions", "delete"]).code(), 2);
    let unknown = run(&home, &["sessions", "delete", "a776f879", "zzz", "--yes"]);
    assert_eq!(unknown.code(), 1, "one that is unknown stops the others");
    let dry = run(&home, &["sessions", "delete", "a776f879", "--dry-run", "--json"]).ok().json();
    assert_eq!((&dry[0]["deleted"], &dry[0]["trash"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(tree(&home.home()), before);
    assert!(!home.data_dir().join("trash").exists());
}

#[test]
fn the_answer_is_no_until_somebody_says_yes() {
    let home = used("claude_code");
    let before = tree(&home.home());
    let pty = Pty::spawn(LAZYAGENTS, &["sessions", "delete", "a776f879"], &home, 24, 120);
    pty.wait_text("Put 1 session into the trash? [y/N]");
    pty.send("\r");
    assert_eq!(pty.wait_exit(Duration::from_secs(20)), Exit::Code(130));
    assert_eq!(tree(&home.home()), before);
    let pty = Pty::spawn(LAZYAGENTS, &["sessions", "delete", "a776f879"], &home, 24, 120);
    pty.wait_text("[y/N]");
    pty.send("y\r");
    assert_eq!(pty.wait_exit(Duration::from_secs(20)), Exit::Code(0));
    assert_eq!(ids(&home).len(), 3);
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_open_is_refused_and_so_are_the_others() {
    let home = used("claude_code");
    let id = "a776f879-9b2b-4479-a058-b08e95767ccc";
    let pid = std::process::id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let began = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    let trace = format!(r#"{{"pid":{pid},"sessionId":"{id}","procStart":"{began}"}}"#);
    home.write(home.home().join(format!(".claude/sessions/{pid}.json")), trace);
    let before = tree(&home.home());
    let refused = run(&home, &["sessions", "delete", "3d41b5bd", id, "--yes"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("Claude Code has it open"), "{refused}");
    assert_eq!(tree(&home.home()), before);
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_leaves_no_trace_is_looked_for_in_the_folder() {
    let home = used("pi");
    let there = home.work().display().to_string();
    let file = ".pi/agent/sessions/--home-dev-projects-webshop--/2026-11-30T20-12-43-786Z_01a22e16-9d89-73ea-8687-fdbd86e0f431.jsonl";
    let file = home.home().join(file);
    home.write(&file, home.read(&file).replace("/home/dev/projects/webshop", &there));
    // A process of that name that works there.
    let mut agent = std::process::Command::new("/bin/bash")
        .args(["-c", "exec -a /x/bin/pi sleep 60"])
        .current_dir(home.work())
        .spawn()
        .unwrap();
    let named = || {
        let line = std::fs::read(format!("/proc/{}/cmdline", agent.id())).unwrap_or_default();
        line.starts_with(b"/x/bin/pi")
    };
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while !named() && std::time::Instant::now() < end {
        std::thread::yield_now();
    }
    let refused = run(&home, &["sessions", "delete", "pi:01a22e16-9d89", "--yes"]);
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(refused.err().contains("Pi runs in its folder"), "{refused}");
    let _ = run(&home, &["sessions", "delete", "pi:01a22e16-9d89", "--yes"]).ok();
}

const CODEX: &str = "codex:01a22e16-a904";

#[test]
fn an_agent_with_a_database_forgets_the_session_itself() {
    let home = used("codex");
    let before = tree(&home.home());
    home.write(home.home().join(".codex/state_5.sqlite"), "rows");
    let missing = run(&home, &["sessions", "delete", CODEX, "--yes"]);
    assert_eq!(missing.code(), 1);
    assert!(missing.err().contains("Codex has to forget the session itself: codex was not found in PATH"), "{missing}");
    // As the real one: its own rollout goes, a sub-agent that its database does not know stays.
    let log = home.root().join("log").display().to_string();
    home.program(
        "codex",
        &format!("#!/bin/sh\necho \"$@\" >> '{log}'\nrm \"$HOME\"/.codex/sessions/*/*/*/*\"$3\".jsonl\n"),
    );
    let dry = run(&home, &["sessions", "delete", CODEX, "--dry-run"]).ok();
    let words = "once a copy is in the trash: codex delete --force 01a22e16-a904-7a32-8b6b-bdc512aa8d82";
    assert!(dry.out().contains(words), "{dry}");
    assert!(!Path::new(&log).exists());
    let _ = run(&home, &["sessions", "delete", CODEX, "--yes"]).ok();
    assert_eq!(home.read(&log), "delete --force 01a22e16-a904-7a32-8b6b-bdc512aa8d82\n");
    let left: Vec<String> = tree(&home.home()).into_keys().filter(|path| path.contains("01a22e16-a9d2")).collect();
    assert_eq!(left, Vec::<String>::new(), "the sub-agent's goes as well");
    let _ = run(&home, &["sessions", "trash", "restore", CODEX]).ok();
    std::fs::remove_file(home.home().join(".codex/state_5.sqlite")).unwrap();
    assert_eq!(tree(&home.home()), before);
}

#[test]
fn a_command_that_fails_leaves_everything_as_it_was() {
    let home = used("codex");
    home.write(home.home().join(".codex/state_5.sqlite"), "rows");
    let before = tree(&home.home());
    // It removes a file before it fails.
    let script = "#!/bin/sh\nrm \"$HOME\"/.codex/sessions/*/*/*/*\"$3\".jsonl\necho 'database is locked' >&2\nexit 1\n";
    home.program("codex", script);
    let failed = run(&home, &["sessions", "delete", CODEX, "--yes"]);
    assert_eq!(failed.code(), 1);
    assert!(
        failed.err().contains("exit code 1: database is locked") && failed.err().contains("nothing was deleted"),
        "{failed}"
    );
    assert_eq!(tree(&home.home()), before);
    assert_eq!(run(&home, &["sessions", "trash", "--json"]).ok().json(), serde_json::json!([]));
}

const OPENCODE: &str = "ses_dd1e7862dffekwd7PAqyMMx6IS";
const CHILD: &str = "ses_dd1e76369ffeHxThZQUZnaOQ34";

/// A home with OpenCode's database, and a program that answers as the real one does.
fn opencode(delete: &str) -> Home {
    let home = Home::new();
    copy(&fixtures("opencode").join(".local/share"), &home.root().join("data"));
    let log = home.root().join("log").display().to_string();
    let script = format!(
        "#!/bin/sh\necho \"$PWD $@\" >> '{log}'\ncase \"$1\" in\n  export) echo 'Exporting session' >&2; \
         echo \"{{\\\"info\\\":{{\\\"id\\\":\\\"$2\\\"}}}}\" ;;\n  session) {delete} ;;\n  import) cp \"$2\" \"$PWD/imported-$(basename \"$2\")\" ;;\nesac\n"
    );
    home.program("opencode", &script);
    home
}

#[test]
fn a_conversation_in_a_database_is_written_out_first() {
    let home = opencode(":");
    let deleted = run(&home, &["sessions", "delete", OPENCODE, "--yes", "--json"]).ok().json();
    assert_eq!(deleted[0]["command"], serde_json::json!(["opencode", "session", "delete", OPENCODE]));
    let log = home.read(home.root().join("log")).replace(home.home().to_str().unwrap(), "~");
    assert_eq!(log, format!("~ export {OPENCODE}\n~ export {CHILD}\n~ session delete {OPENCODE}\n"));
    // Its folder is gone: the agent would give the conversation another one.
    let gone = run(&home, &["sessions", "trash", "restore", &format!("opencode:{OPENCODE}")]);
    assert_eq!(gone.code(), 1, "{gone}");
    assert!(gone.err().contains("the folder /home/dev/projects/notes-app is gone"), "{gone}");
    // The same with a folder that is there.
    let id = deleted[0]["trash"].as_str().unwrap();
    let manifest = home.data_dir().join("trash").join(id).join("manifest.json");
    home.write(&manifest, home.read(&manifest).replace("/home/dev/projects/notes-app", home.work().to_str().unwrap()));
    let _ = run(&home, &["sessions", "trash", "restore", id]).ok();
    let names: Vec<String> = tree(&home.work()).into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(!home.data_dir().join("trash").join(id).exists());
}

#[test]
fn what_was_written_out_stays_when_the_agent_cannot_forget() {
    let home = opencode("echo no >&2; exit 3");
    let failed = run(&home, &["sessions", "delete", OPENCODE, "--yes"]);
    assert_eq!(failed.code(), 1);
    assert!(failed.err().contains("exit code 3: no") && failed.err().contains("is in the trash as"), "{failed}");
    assert_eq!(run(&home, &["sessions", "trash", "--json"]).ok().json()[0]["files"], 2);
    // Nothing is asked to go when it cannot be written out.
    let home = opencode(":");
    home.program(
        "opencode",
        "#!/bin/sh\n[ \"$1\" = export ] && echo '{\"info\":{\"id\":\"other\"}}'\ntouch \"$HOME/$1\"\n",
    );
    let failed = run(&home, &["sessions", "delete", OPENCODE, "--yes"]);
    assert!(
        failed.err().contains("is another conversation") && failed.err().contains("nothing was deleted"),
        "{failed}"
    );
    assert!(!home.home().join("session").exists());
}

#[test]
fn an_id_that_is_a_path_deletes_nothing() {
    let home = used("gemini_cli");
    let chat = home.home().join(".gemini/tmp/webshop/chats/session-2026-11-30T20-13-45a57903.jsonl");
    let text = home.read(&chat);
    let id = text.split("\"sessionId\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    home.write(&chat, text.replace(&id, "../../../precious"));
    home.write(home.home().join("precious/f"), "content");
    let before = tree(&home.home());
    let refused = run(&home, &["sessions", "delete", "gemini-cli:../../../precious", "--yes"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("its id is none that the agent would give"), "{refused}");
    let exported = run(&home, &["sessions", "export", "gemini-cli:../../../precious", "--json"]).ok().json();
    let path = Path::new(exported["path"].as_str().unwrap());
    assert_eq!(path, home.data_dir().join("exports/2026-11-30-gemini-cli-precious.md"));
    assert_eq!(tree(&home.home()), before);
}

#[test]
fn nothing_is_restored_over_what_is_there_now() {
    let home = used("pi");
    let _ = run(&home, &["sessions", "delete", "pi:01a22e16-9d89", "--yes"]).ok();
    let row = run(&home, &["sessions", "trash", "list", "--json"]).ok().json()[0].clone();
    let file = home.write(row["paths"][0].as_str().unwrap(), "newer");
    let refused = run(&home, &["sessions", "trash", "restore", row["id"].as_str().unwrap()]);
    assert!(refused.err().contains("something is at its place already"), "{refused}");
    assert_eq!(home.read(&file), "newer");
    assert_eq!(run(&home, &["sessions", "trash", "restore", "nothing"]).code(), 1);
    assert!(run(&home, &["sessions", "trash"]).ok().out().contains("Explain what the cart total"));
}
