//! The program and its wrapper together, in the real shells.

use testkit::{Home, needs, run_in};

use crate::{EZ, home, repo};

fn sh(home: &Home, shell: &str, args: &[&str], body: &str) -> String {
    let dir = home.path("ws/my api");
    let setup = if shell == "fish" {
        format!("{EZ} init-shell fish | source")
    } else {
        format!("eval \"$({EZ} init-shell {shell})\"")
    };
    let words: Vec<&str> = args.iter().copied().chain(["-c"]).collect();
    let script = format!("{setup}\n{body}");
    let all: Vec<&str> = words.iter().copied().chain([script.as_str()]).collect();
    run_in(&dir, shell, &all, home, b"").ok().out()
}

/// What a person does in the first minutes, under the strictest options a shell has.
const BODY: &str = "ez plugin enable git-worktree
ez config set on_create cd
ez session new 'a b'
pwd
ez session env set GREET 'it''s' -s 'a b'
ez go my a
echo \"greet=$GREET\"
ez session delete 'a b' --force
pwd
ez session new second
command rm -rf -- \"$PWD\"
ez go my second || true
ez trash restore 'a b'
ez go 'a b'
pwd
";

#[test]
fn the_first_minutes_in_bash_zsh_and_fish() {
    for (shell, args, strict) in [
        (
            "bash",
            &["--norc", "--noprofile"][..],
            "shopt -s expand_aliases\nset -euo pipefail\nalias cd='echo no' rm='rm -v' cat='echo no'\n",
        ),
        ("zsh", &["-f"], "set -euo pipefail\nalias cd='echo no' rm='rm -v' cat='echo no'\n"),
        ("fish", &["--no-config"], "function cd; echo no; end\nfunction rm; echo no; end\n"),
    ] {
        if !needs(shell) {
            continue;
        }
        let home = home();
        repo(&home, "my api");
        let told = sh(&home, shell, args, &format!("{strict}{BODY}"));
        let tree = "/home/ws/.ez/my api/a b\n";
        assert_eq!(told.matches(tree).count(), 2, "{shell}: {told}");
        assert!(told.contains("greet=its\n") && told.contains("/home/ws/my api\n"), "{shell}: {told}");
        assert!(!told.contains("no\n"), "{shell}: {told}");
    }
}
