//! What docs/ez-plugins.md shows, run as it stands there.

use testkit::{needs, run_in};

use crate::{EZ, ez, home, repo};

/// The fenced blocks of one language, in the page's order.
fn blocks(language: &str) -> Vec<String> {
    let page = include_str!("../../../../docs/ez-plugins.md");
    let fence = format!("```{language}\n");
    page.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

#[test]
fn the_first_plugin_greets_and_remembers() {
    if !needs("python3") {
        return;
    }
    let home = home();
    repo(&home, "api");
    let folder = home.root().join("config/ez/plugins/hello");
    home.write(folder.join("manifest.toml"), &blocks("toml")[0]);
    home.executable(folder.join("hello"), &blocks("python")[0]);
    let checked = ez(&home, &["plugin", "check", &folder.display().to_string()]).ok();
    assert!(checked.out().contains("no problem found"), "{checked}");
    for line in blocks("sh")[0].lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let _ = ez(&home, &words).ok();
    }
    let made = ez(&home, &["session", "new", "x", "-r", "api"]).ok();
    assert!(made.err().contains("servus, x"), "{made}");
    assert_eq!(ez(&home, &["session", "env", "list", "-s", "x", "-r", "api"]).ok().out(), "GREETING=servus\n");
    for _ in 0..2 {
        let _ = ez(&home, &["session", "enter", "x", "-r", "api"]).ok();
    }
    let state = home.read(home.root().join("config/ez/repos/ws-api/repo.toml"));
    assert!(state.contains("entered = 2"), "{state}");
}

#[test]
fn a_pull_request_is_named_by_the_plugin_of_the_page_else_by_its_number() {
    let home = home();
    let path = repo(&home, "api");
    home.write(
        home.root().join("config/ez/config.toml"),
        "name_builder_modes = [\"full_name\", \"github_pr\", \"jira_url\"]\n[selector]\nbackend = \"builtin\"\n",
    );
    home.program("gh", "#!/bin/sh\n[ \"$3\" = https://github.com/o/r/pull/42 ] && echo fix-typo\n");
    let build = |lines: &str| run_in(&path, EZ, &["session", "new"], &home, lines.as_bytes());
    let url = "2\nhttps://github.com/o/r/pull/42\n";
    assert_eq!(build(url).ok().out(), "Created session: pr42\n");
    let folder = home.root().join("config/ez/plugins/by-gh");
    let manifest = "name = \"by-gh\"\nversion = \"1\"\ndescription = \"\"\nexecutable = \"run\"\n\
                    hooks = [\"on_name_resolve\"]\n";
    home.write(folder.join("manifest.toml"), manifest);
    home.executable(folder.join("run"), &blocks("sh")[1]);
    let _ = ez(&home, &["plugin", "enable", "by-gh"]).ok();
    assert_eq!(build(url).ok().out(), "Created session: fix-typo\n");
    assert_eq!(build("2\n#7\n").ok().out(), "Created session: pr7\n", "gh knows nothing of it");
    home.executable(folder.join("run"), "#!/bin/sh\necho '{\"success\":true,\"resolved_name\":\"../x\"}'\n");
    let refused = build("2\n8\n").ok();
    assert!(refused.out() == "Created session: pr8\n" && refused.err().contains("'../x'"), "{refused}");
}

#[test]
fn a_wrong_answer_asks_again_and_two_dots_go_back_one_step() {
    let home = home();
    let path = repo(&home, "api");
    home.write(home.root().join("config/ez/config.toml"), "[selector]\nbackend = \"builtin\"\n");
    let build = |lines: &str| run_in(&path, EZ, &["session", "new"], &home, lines.as_bytes());
    let ticket = "https://x.atlassian.net/browse/ABC-42";
    let jira = build(&format!("9\n4\nnonsense\n{ticket}\n..\n{ticket}\nlogin\n")).ok();
    assert_eq!(jira.out(), "Created session: ABC-42-login\n", "{jira}");
    // From the mode back to the modes, from the second part back to the first.
    let parts = build("1\n..\n2\nfeat\n..\nfix\nABC\n7\nlogin\n").ok();
    assert_eq!(parts.out(), "Created session: fix-ABC-7-login\n", "{parts}");
    let left = build("4\n");
    assert!(left.code() == 130 && left.out().is_empty(), "{left}");
}
