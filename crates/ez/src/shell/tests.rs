//! The wrappers in real shells, around a stand-in for `ez` that answers what a test has laid down for its first,
//! second, ... run and writes down how it was called.

use std::path::PathBuf;

use testkit::{Home, Output, needs, run_in};

use super::*;
use std::collections::BTreeMap;
use sys::Env;

/// bash, zsh and fish with the options that keep the machine's start files out.
const BARE: [(Shell, &[&str]); 3] = [
    (Shell::Bash, &["--norc", "--noprofile", "-c"]),
    (Shell::Zsh, &["-f", "-c"]),
    (Shell::Fish, &["--no-config", "-c"]),
];

const STAND_IN: &str = r#"#!/bin/sh
# Answers run N from $EZT/N.cd, N.post, N.rc; writes its arguments to $EZT/N.args, each ended by a line `--END`.
n=$(cat "$EZT/count" 2>/dev/null); n=$((${n:-0} + 1)); echo "$n" >"$EZT/count"
for arg in "$@"; do
    printf '%s\n--END\n' "$arg" >>"$EZT/$n.args"
    case "$arg" in
        --cd-file=*) [ ! -e "$EZT/$n.cd" ] || cat "$EZT/$n.cd" >"${arg#--cd-file=}" ;;
        --post-cmd-file=*) [ ! -e "$EZT/$n.post" ] || cat "$EZT/$n.post" >"${arg#--post-cmd-file=}" ;;
    esac
done
[ ! -e "$EZT/$n.run" ] || . "$EZT/$n.run"
[ ! -e "$EZT/$n.rc" ] || exit "$(cat "$EZT/$n.rc")"
"#;

/// A home with the stand-in, which lives under a path that wants quoting.
struct Stage {
    home: Home,
    ez: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let mut home = Home::new();
        let ez = home.executable("odd 'place\" $x/ez", STAND_IN);
        let answers = home.write("answers/.keep", "").parent().unwrap().to_path_buf();
        home.set_env("EZT", answers.display().to_string());
        Self { home, ez }
    }

    /// Lays down an answer: `name` is `1.cd`, `2.post`, ...
    fn answer(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.home.write(format!("answers/{name}"), bytes);
        self
    }

    fn dir(&self, name: &str) -> String {
        let path = self.home.path(name);
        sys::files::make_dir(&path).unwrap();
        path.display().to_string()
    }

    /// Runs `body` behind the wrapper, in a fresh shell.
    fn run(&self, shell: (Shell, &[&str]), before: &str, body: &str) -> Output {
        let rc = self.home.write("wrapper", init(shell.0, self.ez.to_str().unwrap()));
        let load = match shell.0 {
            Shell::Fish => format!("source {}", rc.display()),
            _ => format!("eval \"$(cat {})\"", rc.display()),
        };
        let text = format!("{before}\n{load}\n{body}\n");
        let mut args = shell.1.to_vec();
        args.push(&text);
        let output = run_in(&self.home.work(), shell.0.name(), &args, &self.home, b"");
        let left: Vec<_> = std::fs::read_dir(self.home.tmp())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name.to_string_lossy().starts_with("ez."))
            .collect();
        assert!(left.is_empty(), "{}: {left:?} is left behind\n{output}", shell.0);
        output
    }

    /// The arguments of run `n`, without our two files.
    fn args(&self, n: u32) -> Vec<String> {
        let text = self.home.read(format!("answers/{n}.args"));
        let args = text.split("\n--END\n").map(str::to_owned);
        args.filter(|arg| !arg.is_empty() && !arg.contains("-file=")).collect()
    }
}

/// Each shell that the machine has, with a stage of its own.
fn shells() -> impl Iterator<Item = ((Shell, &'static [&'static str]), Stage)> {
    BARE.into_iter().filter(|(shell, _)| needs(shell.name())).map(|shell| (shell, Stage::new()))
}

#[test]
fn a_folder_is_entered_the_status_is_kept_and_nowhere_to_go_stays() {
    for (shell, stage) in shells() {
        let to = stage.dir("sp ace 'q\" $HOME *;\\x");
        stage.answer("1.cd", &to).answer("1.rc", "7");
        let body = match shell.0 {
            Shell::Fish => {
                "ez -- -name 'a b'; printf 'rc=%s at=%s\\n' $status $PWD; ez x; printf 'rc=%s at=%s\\n' $status $PWD"
            }
            _ => "ez -- -name 'a b'; printf 'rc=%s at=%s\\n' $? \"$PWD\"; ez x; printf 'rc=%s at=%s\\n' $? \"$PWD\"",
        };
        let out = stage.run(shell, "", body).ok();
        assert_eq!(String::from_utf8_lossy(&out.stdout), format!("rc=7 at={to}\nrc=0 at={to}\n"), "{}", shell.0);
        assert_eq!(stage.args(1), [&format!("--shell={}", shell.0), "--", "-name", "a b"]);
    }
}

#[test]
fn a_folder_may_hold_newlines_also_at_its_end() {
    for (shell, stage) in shells() {
        let to = stage.dir("two\nlines\n\n");
        stage.answer("1.cd", &to);
        let out = stage.run(shell, "", "ez; echo \"[$PWD]\"").ok();
        assert_eq!(String::from_utf8_lossy(&out.stdout), format!("[{to}]\n"), "{}", shell.0);
    }
}

#[test]
fn post_commands_run_here_before_the_cd_and_reach_the_shell() {
    for (shell, stage) in shells() {
        stage.answer("1.cd", stage.dir("to"));
        let (post, body) = match shell.0 {
            Shell::Fish => ("set -g SEEN $PWD\nset -g tmp mine\nset -g ret mine", "ez; echo \"$SEEN $PWD $tmp $ret\""),
            _ => ("SEEN=$PWD\ntmp=mine\nret=mine status_=mine", "ez; echo \"$SEEN $PWD $tmp $ret\""),
        };
        stage.answer("1.post", post);
        let out = stage.run(shell, "", body).ok();
        assert_eq!(out.out(), "$ROOT/work $ROOT/home/to mine mine\n", "{}", shell.0);
    }
}

#[test]
fn post_commands_that_fail_return_or_set_our_names_do_not_break_the_wrapper() {
    for (shell, stage) in shells() {
        let to = stage.dir("to");
        let posts = match shell.0 {
            Shell::Fish => {
                vec!["false", "return 3", "set __ez_cd /; set __ez_status 9", "if then(", "no-such-program-x"]
            }
            Shell::Zsh => vec!["false", "return 3", "echo /no/such/*", "typeset -r Q=1; Q=2", "if then)", "no-such-x"],
            _ => vec!["false", "return 3", "set -e; false", "unset PWD_; (exit 4)", "if then)", "no-such-program-x"],
        };
        for (at, post) in posts.iter().enumerate() {
            stage.answer("count", at.to_string());
            stage
                .answer(&format!("{}.cd", at + 1), &to)
                .answer(&format!("{}.post", at + 1), format!("echo first\n{post}"));
            let strict = if shell.0 == Shell::Fish { "" } else { "set -eu" };
            let out = stage.run(shell, strict, "ez; echo \"at=$PWD\"");
            let out = out.ok().out();
            // A text that does not parse is refused whole by zsh and fish.
            let said = if post.starts_with("if then") && shell.0 != Shell::Bash { "" } else { "first\n" };
            assert_eq!(out, format!("{said}at=$ROOT/home/to\n"), "{}: {post}", shell.0);
        }
    }
}

#[test]
fn an_exit_in_a_post_command_leaves_no_files() {
    for (shell, stage) in shells() {
        stage.answer("1.post", "exit 5");
        // `run` looks for what is left.
        assert_eq!(stage.run(shell, "", "ez; echo not here").code(), 5, "{}", shell.0);
    }
}

#[test]
fn aliases_functions_and_strict_modes_are_survived() {
    for (shell, stage) in shells() {
        stage.answer("1.cd", stage.dir("to")).answer("1.post", ":").answer("2.rc", "3");
        let names = ["cd", "rm", "cat", "mktemp", "read", "true", "exit", "trap", "eval"];
        let mut before = String::new();
        for name in names {
            match shell.0 {
                Shell::Fish if !["read", "exit", "eval", "true"].contains(&name) => {
                    before.push_str(&format!("function {name}; echo hijacked {name}; end\n"));
                }
                Shell::Fish => {}
                // `exit` and `eval` stay whole: the test itself loads the wrapper with them.
                _ if ["exit", "eval", "cat"].contains(&name) => {}
                _ => before
                    .push_str(&format!("{name}() {{ echo hijacked {name}; }}\nalias {name}='echo aliased {name}'\n")),
            }
        }
        before.push_str(match shell.0 {
            Shell::Bash => "shopt -s expand_aliases nocaseglob failglob\nset -euo pipefail\nset -o noclobber",
            Shell::Zsh => {
                "setopt err_return no_unset pipe_fail no_clobber ksh_arrays sh_word_split warn_create_global\nset -e"
            }
            _ => "",
        });
        let body = "ez\necho \"at=$PWD\"\nez || echo failed";
        let out = stage.run(shell, &before, body).ok();
        assert_eq!((out.out(), out.err()), ("at=$ROOT/home/to\nfailed\n".into(), String::new()), "{}", shell.0);
    }
}

#[test]
fn a_folder_that_is_gone_is_left_first() {
    for (shell, stage) in shells() {
        let to = stage.dir("to");
        for again in ["", "; mkdir \"$HOME/here\""] {
            let here = stage.dir("here");
            stage.answer("count", "0").answer("1.cd", &to).answer("1.run", format!("rm -r \"$HOME/here\"{again}"));
            stage.answer("1.post", "pwd");
            let out = stage.run(shell, "", &format!("builtin cd '{here}'; ez; pwd")).ok();
            assert_eq!((out.out(), out.err()), (format!("{0}\n{0}\n", "$ROOT/home/to"), String::new()), "{}", shell.0);
        }
    }
}

#[test]
fn a_folder_that_cannot_be_entered_is_a_failure() {
    for (shell, stage) in shells() {
        stage.answer("1.cd", "/no/such/folder");
        let out = stage.run(shell, "", "ez");
        assert!(out.err().contains("/no/such/folder"), "{}: {out}", shell.0);
        stage.answer("2.cd", "/no/such/folder").answer("2.rc", "4");
        let status = if shell.0 == Shell::Fish { "$status" } else { "$?" };
        assert_eq!(stage.run(shell, "", &format!("ez; echo {status}")).out(), "4\n");
        stage.answer("3.cd", "/no/such/folder");
        assert_eq!(stage.run(shell, "", &format!("ez; echo {status}")).out(), "1\n");
    }
}

#[test]
fn a_relaunch_follows_the_marker_alone_with_the_folder_as_repository() {
    for (shell, stage) in shells() {
        let repo = stage.dir("re po'");
        stage.answer("1.cd", &repo).answer("1.post", "echo one\n#EZ_RELAUNCH\necho two");
        stage
            .answer("2.post", "#EZ_RELAUNCH")
            .answer("3.post", "echo '#EZ_RELAUNCH here'\n  #EZ_RELAUNCH")
            .answer("3.rc", "2");
        let status = if shell.0 == Shell::Fish { "$status" } else { "$?" };
        let out = stage.run(shell, "", &format!("ez --all; echo {status} $PWD")).ok();
        assert_eq!(out.out(), "one\ntwo\n#EZ_RELAUNCH here\n2 $ROOT/work\n", "{}", shell.0);
        let shell_arg = format!("--shell={}", shell.0);
        assert_eq!(stage.args(1), [&shell_arg, "--all"]);
        assert_eq!(stage.args(2), [&shell_arg, &format!("--repo={repo}"), "--all"]);
        assert_eq!(stage.args(3), [&shell_arg, "--all"]);
    }
}

#[test]
fn a_relaunch_does_not_add_a_second_repository() {
    for (shell, stage) in shells() {
        let repo = stage.dir("repo");
        for (at, given) in ["-r x", "-rx", "--repo x", "--repo=x", "-ar x", "a -- --repo"].iter().enumerate() {
            stage.answer("count", (at * 2).to_string());
            stage.answer(&format!("{}.cd", at * 2 + 1), &repo).answer(&format!("{}.post", at * 2 + 1), "#EZ_RELAUNCH");
            let _ = stage.run(shell, "", &format!("ez {given}")).ok();
            let added = stage.args(u32::try_from(at * 2 + 2).unwrap()).iter().any(|arg| arg.starts_with("--repo=/"));
            assert_eq!(added, given.starts_with('a'), "{}: {given}", shell.0);
        }
    }
}

#[test]
fn an_interrupt_of_the_program_ends_the_command_only() {
    for (shell, stage) in shells() {
        // The stand-in is killed by the signal, as Ctrl-C does it: its parent gets the signal as well.
        stage.answer("1.run", "kill -INT $PPID $$; sleep 5");
        let status = if shell.0 == Shell::Fish { "$status" } else { "$?" };
        assert_eq!(stage.run(shell, "", &format!("ez; echo {status}")).out(), "130\n", "{}", shell.0);
    }
}

#[test]
fn entering_sets_and_leaving_brings_back_what_was_hidden() {
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    for (shell, stage) in shells() {
        let odd = "it's \"odd\" $HOME `x` \\ \\' !\n*\n";
        let first = map(&[("HID", odd), ("NEW", ""), ("BOTH", "one")]);
        let second = map(&[("BOTH", "two"), ("LATE", "l")]);
        let names: Vec<String> = ["HID", "NEW", "BOTH"].map(str::to_owned).to_vec();
        let leave: Vec<String> = ["BOTH", "LATE", "NEVER"].map(str::to_owned).to_vec();
        stage.answer("1.post", exports(shell.0, &first, &[]));
        stage.answer("2.post", exports(shell.0, &second, &names[..2]));
        stage.answer("3.post", exports(shell.0, &BTreeMap::new(), &leave));
        let show = "sh -c 'for n in HID NEW BOTH LATE NEVER; do eval \"v=\\${$n-none}\"; printf \"%s=%s;\" $n \"$v\"; done; echo; env | grep -c ^EZ_SAVED -; true'";
        let set = match shell.0 {
            Shell::Fish => {
                "set -gx HID (printf 'old\\n\\nvalue x' | string collect); set -gx BOTH before; set -gx NEVER n"
            }
            _ => "export HID=$'old\\n\\nvalue x' BOTH=before NEVER=n",
        };
        let out = stage.run(shell, set, &format!("{show}; ez; {show}; ez; {show}; ez; {show}")).ok();
        let start = "HID=old\n\nvalue x;NEW=none;BOTH=before;LATE=none;NEVER=n;\n0\n";
        let expected = format!(
            "{start}HID={odd};NEW=;BOTH=one;LATE=none;NEVER=n;\n2\n\
             HID=old\n\nvalue x;NEW=none;BOTH=two;LATE=l;NEVER=n;\n1\n{start}"
        );
        assert_eq!(String::from_utf8_lossy(&out.stdout), expected, "{}", shell.0);
    }
}

#[test]
fn a_quoted_word_is_one_literal_word() {
    use proptest::prelude::*;
    let word = proptest::collection::vec(any::<char>(), 0..12);
    let nasty = proptest::sample::select(vec!["'", "\\", "\"", "$(x)", "`", "\n", "!", "=", "\\'", "#", "~", "*"]);
    let text = (word, proptest::collection::vec(nasty, 0..6))
        .prop_map(|(chars, nasty)| chars.into_iter().collect::<String>() + &nasty.concat())
        .prop_map(|text| text.replace('\0', ""));
    for (shell, stage) in shells() {
        // One start of the shell for many words: the whole list is one command.
        let config = ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() };
        proptest!(config, |(words in proptest::collection::vec(text.clone(), 40))| {
            let list: Vec<String> = words.iter().map(|word| quote(shell.0, word)).collect();
            let script = format!("printf '%s\\0' {}", list.join(" "));
            let args = [shell.1, &[script.as_str()]].concat();
            let out = run_in(&stage.home.work(), shell.0.name(), &args, &stage.home, b"").ok();
            let expected: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
            prop_assert_eq!(String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&expected), "{}", shell.0);
        });
    }
}

#[test]
fn keys_that_are_no_names_never_become_text() {
    let bad =
        ["A;touch pwned;B", "", "1A", "A-B", "A B", "A\nB", "Ä", "EZ_SAVED_X", "EZ_ADDED_X", "__ez_cd", "A=B", "a.b"];
    for shell in Shell::ALL {
        let set = bad.iter().map(|key| ((*key).to_owned(), "v".to_owned())).collect();
        let unset: Vec<String> = bad.iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(exports(shell, &set, &unset), "", "{shell}");
        let nul = [("K".to_owned(), "a\0b".to_owned())].into_iter().collect();
        assert_eq!(exports(shell, &nul, &[]), "", "{shell}");
    }
    assert!(is_key("_a9") && is_key("PATH"));
}

#[test]
fn switching_takes_back_what_the_environment_says_is_held() {
    let env: Env = [("EZ_SAVED_A", "x"), ("EZ_ADDED_B", "1"), ("EZ_ADDED_a-b", "1"), ("C", "c")].into_iter().collect();
    assert_eq!(held(&env), ["A", "B"]);
    let set = [("B".to_owned(), "b".to_owned())].into_iter().collect();
    insta::assert_snapshot!(switch(Shell::Bash, &set, &env));
    assert_eq!(switch(Shell::Zsh, &BTreeMap::new(), &Env::empty()), "");
}

#[test]
fn names_of_shells() {
    for shell in Shell::ALL {
        assert_eq!(shell.name().parse::<Shell>().unwrap(), shell);
    }
    assert_eq!("powershell".parse::<Shell>().unwrap(), Shell::Pwsh);
    assert_eq!("tcsh".parse::<Shell>().unwrap_err().exit_code(), 2);
}

/// The two texts that no shell has run yet; a change of them is to be seen.
#[test]
fn the_untried_wrappers() {
    let set = [("K".to_owned(), "it's\nso".to_owned())].into_iter().collect();
    for shell in [Shell::Pwsh, Shell::Nu] {
        insta::assert_snapshot!(format!("{shell}_wrapper"), init(shell, "/opt/it's here/ez"));
        insta::assert_snapshot!(format!("{shell}_exports"), exports(shell, &set, &["OLD".to_owned()]));
    }
}

#[test]
fn a_temporary_folder_that_cannot_be_made_still_runs_the_program() {
    for (shell, mut stage) in shells() {
        stage.home.set_env("TMPDIR", "/no/such/folder");
        stage.answer("1.rc", "6");
        let status = if shell.0 == Shell::Fish { "$status" } else { "$?" };
        assert_eq!(stage.run(shell, "", &format!("ez list; echo {status}")).out(), "6\n", "{}", shell.0);
        assert_eq!(stage.args(1), [&format!("--shell={}", shell.0), "list"]);
    }
}
