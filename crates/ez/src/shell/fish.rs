//! The wrapper of fish 3 and later. A function of fish does not see its caller's local variables, so post commands
//! run in a function of their own and can clash with nothing. `super::init` calls it.

use super::{Shell, quote};

/// The text, with `@EZ@` to be filled in.
///
/// * `sh` takes the interrupt, as the subshell does in the wrapper of bash; `exit` behind the program keeps it from
///   being replaced by it.
/// * `eval`, not `source`: what runs keeps the terminal as its standard input.
/// * The builtin `test` of fish 3 has no `-ef`.
const TEXT: &str = r#"# ez, the shell function: ez init-shell fish | source
function __ez_post_commands
    eval $argv
end
function ez --description 'repositories and sessions'
    set -l __ez_given
    set -l __ez_repo
    set -l __ez_cd
    set -l __ez_post
    set -l __ez_status 0
    for __ez_arg in $argv
        switch $__ez_arg
            case --
                break
            case '-r*' '-ar*' --repo '--repo=*'
                set __ez_given 1
                break
        end
    end
    while true
        set -l __ez_tmp /tmp
        if set -q TMPDIR; and test -n "$TMPDIR"
            set __ez_tmp $TMPDIR
        end
        set -l __ez_dir (command mktemp -d "$__ez_tmp/ez.XXXXXXXX")
        if not test -d "$__ez_dir"
            @EZ@ --shell=fish $__ez_repo $argv
            return $status
        end
        command sh -c 'trap "exit 130" INT; "$@"; exit "$?"' sh @EZ@ --shell=fish --cd-file="$__ez_dir/cd" --post-cmd-file="$__ez_dir/post" $__ez_repo $argv
        set __ez_status $status
        set __ez_cd ''
        set __ez_post ''
        if test -s "$__ez_dir/cd"
            builtin read -z __ez_cd <"$__ez_dir/cd"
        end
        if test -s "$__ez_dir/post"
            builtin read -z __ez_post <"$__ez_dir/post"
        end
        command rm -rf -- "$__ez_dir"
        set __ez_repo
        set -l __ez_again
        if contains -- '#EZ_RELAUNCH' (string split \n -- $__ez_post)
            set __ez_again 1
            if test -z "$__ez_given"; and test -n "$__ez_cd"
                set __ez_repo "--repo=$__ez_cd"
            end
        end
        if test -n "$__ez_cd"; and not command test . -ef "$PWD"
            if not builtin cd $__ez_cd; and test $__ez_status -eq 0
                set __ez_status 1
            end
            set __ez_cd ''
        end
        if test -n "$__ez_post"
            __ez_post_commands $__ez_post
        end
        if test -z "$__ez_again"
            break
        end
    end
    if test -n "$__ez_cd"
        if not builtin cd $__ez_cd; and test $__ez_status -eq 0
            set __ez_status 1
        end
    end
    return $__ez_status
end
"#;

/// The wrapper for fish.
pub(super) fn wrapper(ez: &str) -> String {
    TEXT.replace("@EZ@", &quote(Shell::Fish, ez))
}
