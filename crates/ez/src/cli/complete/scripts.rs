//! The completion scripts of bash, zsh and fish: each hands its line to `ez __complete` and takes the answer as data.
//! `completions` prints them; the other shells have clap's own, which know commands and options only.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::shell::{self, quote};

/// bash hands over the line as text, since its own words still have their quotes. `compopt` is not in bash 3.2.
const BASH: &str = r#"# Completions of ez: eval "$(ez completions bash)"
function _ez {
    local line='' paths='' first=1
    COMPREPLY=()
    while IFS= builtin read -r line; do
        if [[ -n "$first" ]]; then first='' paths="$line"; continue; fi
        COMPREPLY[${#COMPREPLY[@]}]="$line"
    done < <(@EZ@ __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    case "$paths" in
        files) compopt -o default -o filenames 2>/dev/null ;;
        dirs) compopt -o dirnames -o filenames 2>/dev/null ;;
    esac
    return 0
}
complete -F _ez ez
"#;

/// zsh quotes what it inserts, and matches against the word without its quotes.
const ZSH: &str = r#"#compdef ez
# Completions of ez: eval "$(ez completions zsh)" behind compinit, or this text as _ez in a folder of fpath.
_ez() {
    local -a before lines values shown
    local line
    before=("${(@Q)words[1,CURRENT-1]}")
    local current="$PREFIX"
    if [[ "$current" == --*=* ]]; then
        before+=("${current%%=*}")
        current=''
        compset -P 1 '*='
    fi
    lines=("${(@f)$(@EZ@ __complete zsh "$current" "${before[@]}" 2>/dev/null)}")
    case "$lines[1]" in
        files) _files; return ;;
        dirs) _files -/; return ;;
    esac
    for line in "${(@)lines[2,-1]}"; do
        values+=("${line%%$'\t'*}")
        shown+=("${line%%$'\t'*}  ${line#*$'\t'}")
    done
    (( $#values )) && compadd -l -d shown -a -- values
}
if [[ "$funcstack[1]" == _ez ]]; then
    _ez "$@"
else
    compdef _ez ez
fi
"#;

/// fish escapes what it inserts, and filters.
const FISH: &str = r#"# Completions of ez: ez completions fish | source
function __ez_complete
    set -l current (commandline -ct)
    set -l lines (@EZ@ __complete fish "$current" (commandline -opc) 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path $current
        case dirs
            __fish_complete_directories $current ''
        case '*'
            for line in $lines[2..-1]
                printf '%s\n' $line
            end
    end
end
complete -c ez -f -a '(__ez_complete)'
"#;

/// The script for `shell` around the program at the absolute path `ez`.
pub(in crate::cli) fn script(shell: Shell, ez: &str) -> Vec<u8> {
    let fill = |text: &str, dialect| text.replace("@EZ@", &quote(dialect, ez)).into_bytes();
    match shell {
        Shell::Bash => fill(BASH, shell::Shell::Bash),
        Shell::Zsh => fill(ZSH, shell::Shell::Zsh),
        Shell::Fish => fill(FISH, shell::Shell::Fish),
        other => {
            let mut text = Vec::new();
            clap_complete::generate(other, &mut Cli::command(), "ez", &mut text);
            text
        }
    }
}
