//! Completions: clap's scripts for bash, zsh, fish and others, and for the first three what only the program knows when a
//! key is pressed: the plugins of this home. The command line calls it.

use clap::CommandFactory as _;
use clap_complete::Shell;
use sys::{Env, Failure};

use super::{Cli, Out};
use crate::context::Context;

/// `completions --words plugins`: the ids of plugins, one a line; what the scripts ask.
pub(super) const WORDS: &str = "--words";

/// Behind clap's function: plugins beside the commands; behind a plugin's name its own business, which is files.
const BASH: &str = r#"
_lazyagents_plugins() {
    lazyagents completions --words plugins 2>/dev/null
}

_lazyagents_and_plugins() {
    if [ "$COMP_CWORD" -gt 1 ] && _lazyagents_plugins | grep -qxF -- "${COMP_WORDS[1]}"; then
        COMPREPLY=()
        return 0
    fi
    _lazyagents "$@"
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 3 ] && [ "${COMP_WORDS[1]} ${COMP_WORDS[2]}" = "plugins info" ]; }; then
        COMPREPLY+=($(compgen -W "$(_lazyagents_plugins)" -- "${COMP_WORDS[COMP_CWORD]}"))
    fi
}

complete -F _lazyagents_and_plugins -o bashdefault -o default lazyagents
"#;

const ZSH: &str = r#"
_lazyagents_and_plugins() {
    local -a plugins
    plugins=(${(f)"$(lazyagents completions --words plugins 2>/dev/null)"})
    if (( CURRENT > 2 && ${plugins[(Ie)$words[2]]} )); then
        _files
        return
    fi
    if (( CURRENT == 2 )) || { (( CURRENT == 4 )) && [[ "$words[2] $words[3]" == "plugins info" ]]; }; then
        compadd -a plugins
    fi
    _lazyagents "$@"
}

if [ "$funcstack[1]" = "_lazyagents" ]; then
    _lazyagents_and_plugins "$@"
else
    compdef _lazyagents_and_plugins lazyagents
fi
"#;

const FISH: &str = r#"
function __lazyagents_plugins_here
    set -l words (commandline -opc)
    test (count $words) -eq 1; or test "$words[2..]" = "plugins info"
end
complete -c lazyagents -n __lazyagents_plugins_here -f -a "(lazyagents completions --words plugins 2>/dev/null)" -d plugin
"#;

/// Prints the script of a shell.
pub(super) fn script(shell: Shell, out: &mut Out) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lazyagents", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.push_str(BASH),
        Shell::Fish => script.push_str(FISH),
        Shell::Zsh => {
            // Its own last lines would register it alone.
            if let Some(at) = script.rfind("if [ \"$funcstack[1]\"") {
                script.truncate(at);
            }
            script.push_str(ZSH.trim_start());
        }
        _ => {}
    }
    out.bytes(script.as_bytes());
}

/// Prints the words of a kind, one a line; an unknown kind has none.
///
/// # Errors
/// When no home folder is known.
pub(super) fn words(kind: &str, env: Env, out: &mut Out) -> Result<u8, Failure> {
    if kind == "plugins" {
        for plugin in Context::load(env)?.discovery.plugins {
            out.line(&sys::text::clean(&plugin.id));
        }
    }
    Ok(0)
}
