//! The state files as scripts of others read them: awk with the layout's fixed points (ez-behaviour.md, 1), and an older
//! installation's files read by us.

use testkit::run_in;

use crate::{EZ, ez, home, names, plugin, repo};

/// Prints `field` of each block whose header is `[[kind]]`, as a plugin without a TOML parser does it.
const AWK: &str = r#"
function flush() { if (open && value != "") print value; open = 0; value = "" }
/^\[\[/ { flush(); open = ($0 == "[[" kind "]]"); next }
/^\[/ { open = 0 + open; inside = 1; flush(); next }
/^$/ { flush(); next }
open && index($0, field " = \"") == 1 { value = substr($0, length(field) + 5); sub(/"$/, "", value) }
END { flush() }
"#;

#[test]
fn awk_finds_ids_names_and_paths() {
    if !testkit::needs("awk") {
        return;
    }
    let home = home();
    let path = repo(&home, "a b");
    let other = repo(&home, "it's \"x\"");
    let body = r#"cat >/dev/null; echo '{"success":true,"session_mutations":{"env":{"name":"no","id":"no"},
        "plugin_state":{"name":"no","path":"no","deep":{"id":"no"}}},"repo_mutations":{"plugin_state":{"id":"no"}}}'"#;
    plugin(&home, "loud", &["on_session_create"], "", body);
    for name in ["one", "two words", "q\"uo'te"] {
        let _ = run_in(&path, EZ, &["session", "new", name], &home, b"").ok();
    }
    let _ = run_in(&path, EZ, &["session", "label", "add", "one", "l"], &home, b"").ok();
    let awk = |file: &str, kind: &str, field: &str| {
        let file = home.root().join("config/ez/repos").join(file).display().to_string();
        let (kind, field) = (format!("kind={kind}"), format!("field={field}"));
        let out = home.run("awk", &["-v", &kind, "-v", &field, AWK, &file]).ok();
        String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let quoted = |path: &std::path::Path| path.display().to_string().replace('"', "\\\"");
    assert_eq!(awk("index.toml", "repos", "path"), [quoted(&path), quoted(&other)]);
    assert_eq!(awk("index.toml", "repos", "name"), ["a b", "it's \\\"x\\\""]);
    let ids = awk("index.toml", "repos", "id");
    assert_eq!(ids[0], "ws-a-b");
    assert_eq!(awk("ws-a-b/sessions.toml", "sessions", "name"), ["one", "two words", "q\\\"uo'te"]);
    let all = run_in(&path, EZ, &["session", "list", "--json"], &home, b"").ok().json();
    let known: Vec<_> =
        all.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(awk("ws-a-b/sessions.toml", "sessions", "id"), known);
}

#[test]
fn files_of_an_older_installation_are_read_and_what_is_unknown_in_them_stays() {
    let home = home();
    let path = repo(&home, "api").display().to_string();
    let folder = home.root().join("config/ez/repos");
    home.write(
        folder.join("index.toml"),
        format!(
            "[[repos]]\nid = \"ws-api\"\npath = \"{path}\"\nname = \"api\"\n\
             registered_at = \"2026-01-01T00:00:00.000000000Z\"\nis_git = true\nfuture = [1, 2]\n"
        ),
    );
    home.write(
        folder.join("ws-api/sessions.toml"),
        "[[sessions]]\nid = \"0b0e7a0c-0000-4000-8000-000000000001\"\nname = 'q\"uote'\n\
         created_at = \"2026-01-01T00:00:00+00:00\"\nis_default = false\nlabels = [\"x\"]\nfuture = { a = 1 }\n\n\
         [sessions.env]\nA = 'b'\n\n[sessions.plugin_state]\nworktree_path = '/gone'\n",
    );
    assert_eq!(names(&home, "api"), ["q\"uote"]);
    let _ = ez(&home, &["session", "env", "set", "B", "c", "-s", "q\"uote", "-r", "api"]).ok();
    let written = home.read(folder.join("ws-api/sessions.toml"));
    for kept in ["future = { a = 1 }", "worktree_path = \"/gone\"", "A = \"b\"", "B = \"c\"", "labels = [\"x\"]"] {
        assert!(written.contains(kept), "{kept} in\n{written}");
    }
    let _ = ez(&home, &["add", &home.write("d/app/x", "").parent().unwrap().display().to_string()]).ok();
    assert!(home.read(folder.join("index.toml")).contains("future = [1, 2]"));
}
