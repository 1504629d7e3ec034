//! The wrapper of bash and zsh: one text, but for the way an error inside a post command is kept from ending it.
//! It only uses what bash 3.2 (macOS) has, quotes every expansion, and starts no program but mktemp, rm and ez.
//! `super::init` calls it.

use super::{Shell, quote};

/// The text, with `@EZ@`, `@SHELL@` and `@RUN@` to be filled in.
///
/// * `function ez` rather than `ez ()`: an alias `ez` would be expanded in the second.
/// * The backslashes keep aliases away, `builtin` and `command` keep functions away.
/// * `[[` is a keyword of both shells; nobody's function can be in its place.
/// * The subshell takes the interrupt: when ez is killed by Ctrl-C, the shell sees an ordinary end with status 130 and
///   goes on with this function, which then removes its folder.
/// * `eval` without `builtin`: behind `builtin`, bash 5.2 forgets that `||` follows, and `set -e` ends the shell.
/// * `read -d ''` reads to the end of the file, newlines included, without starting `cat`; it ends with 1 there.
/// * `. -ef "$PWD"`: a deleted folder still answers to `.`, and its path may be another folder by now.
const TEXT: &str = r#"# ez, the shell function: eval "$(ez init-shell @SHELL@)"
function __ez_post_commands {
    \eval "$__ez_post"
}
function ez {
    local __ez_status=0 __ez_dir='' __ez_cd='' __ez_post='' __ez_repo='' __ez_given='' __ez_again=1 __ez_arg=''
    for __ez_arg in "$@"; do
        case "$__ez_arg" in
            --) break ;;
            -r*|-ar*|--repo|--repo=*) __ez_given=1; break ;;
        esac
    done
    while [[ "$__ez_again" == 1 ]]; do
        __ez_again=0 __ez_status=0 __ez_cd='' __ez_post=''
        __ez_dir=$(\command mktemp -d "${TMPDIR:-/tmp}/ez.XXXXXXXX") || __ez_dir=''
        if [[ ! -d "$__ez_dir" ]]; then
            @EZ@ --shell=@SHELL@ ${__ez_repo:+"--repo=$__ez_repo"} "$@"
            return
        fi
        (
            \builtin trap '\builtin exit 130' INT
            @EZ@ --shell=@SHELL@ --cd-file="$__ez_dir/cd" --post-cmd-file="$__ez_dir/post" ${__ez_repo:+"--repo=$__ez_repo"} "$@"
            \builtin exit "$?"
        ) || __ez_status=$?
        if [[ -s "$__ez_dir/cd" ]]; then
            IFS= \builtin read -r -d '' __ez_cd <"$__ez_dir/cd" || \builtin :
        fi
        if [[ -s "$__ez_dir/post" ]]; then
            IFS= \builtin read -r -d '' __ez_post <"$__ez_dir/post" || \builtin :
        fi
        \command rm -rf -- "$__ez_dir" || \builtin :
        __ez_repo=''
        if [[ $'\n'"$__ez_post"$'\n' == *$'\n#EZ_RELAUNCH\n'* ]]; then
            __ez_again=1
            if [[ -z "$__ez_given" ]]; then __ez_repo="$__ez_cd"; fi
        fi
        if [[ -n "$__ez_cd" && ! . -ef "${PWD-}" ]]; then
            \builtin cd -- "$__ez_cd" || [[ "$__ez_status" != 0 ]] || __ez_status=1
            __ez_cd=''
        fi
        if [[ -n "$__ez_post" ]]; then
@RUN@
        fi
    done
    if [[ -n "$__ez_cd" ]]; then
        \builtin cd -- "$__ez_cd" || [[ "$__ez_status" != 0 ]] || __ez_status=1
    fi
    return "$__ez_status"
}
"#;

/// `|| :` keeps `set -e` from ending the shell inside.
const RUN_BASH: &str = r"            __ez_post_commands || \builtin :";

/// In zsh an error (a pattern without a match, a read-only variable) unwinds every function; `always` stops it here.
const RUN_ZSH: &str = r"            {
                __ez_post_commands || \builtin :
            } always {
                TRY_BLOCK_ERROR=0
            }";

/// The wrapper for bash.
pub(super) fn bash(ez: &str) -> String {
    fill(Shell::Bash, RUN_BASH, ez)
}

/// The wrapper for zsh.
pub(super) fn zsh(ez: &str) -> String {
    fill(Shell::Zsh, RUN_ZSH, ez)
}

/// The path last: it may hold anything, also one of the marks.
fn fill(shell: Shell, run: &str, ez: &str) -> String {
    TEXT.replace("@RUN@", run).replace("@SHELL@", shell.name()).replace("@EZ@", &quote(shell, ez))
}
