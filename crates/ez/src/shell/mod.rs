//! The function `ez` that a person's shell runs around the program: what the program alone cannot do, because it is
//! a child of that shell (change its folder, its variables, run commands on its terminal), is done by this text.
//! It never runs anything itself; `init-shell` prints [`init`], and whoever ends a command writes [`switch`] in front of
//! the post commands.
//!
//! What every wrapper does, in this order (ez.md, Shell; ez-behaviour.md 3):
//!
//! 1. makes a private temporary folder and runs the program as `ez --shell=<name> --cd-file=F --post-cmd-file=G
//!    [--repo=R] ARGUMENTS`. Our own options stand first, so that a `--` among the arguments hides none of them (fault
//!    34). An interrupt ends the program, not the wrapper;
//! 2. reads F and G whole and removes the folder, before anything of G runs: a post command may `exit`, `return`, or
//!    set any variable, and neither leaves files behind nor changes what the wrapper goes on to do (fault 32). F is
//!    taken byte for byte: a folder may end in a newline (fault 31);
//! 3. when F names a folder and the one the person stood in is gone: changes to it;
//! 4. runs G in the person's shell, outside of any variable scope but that of names with `__ez`;
//! 5. when G holds a line that is exactly `#EZ_RELAUNCH`: starts again at 1, with `--repo=<F>` unless the person gave a
//!    repository (fault 33), and does not change to F;
//! 6. otherwise changes to F, and ends with the program's status (that of `cd` when only `cd` failed).
//!
//! The person's aliases and functions of cd, rm, cat and the like are stepped over, and `set -euo pipefail` is survived.
//! The texts for PowerShell and nushell have not been tried in those shells.

mod fish;
mod other;
mod posix;
#[cfg(test)]
mod tests;
mod vars;

use std::fmt;
use std::str::FromStr;

pub use vars::{exports, held, is_key, quote, switch};

use sys::Failure;

/// The shells that have a wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash 3.2 or later; also the dialect of plain `sh`.
    Bash,
    /// zsh 5 or later.
    Zsh,
    /// fish 3 or later.
    Fish,
    /// PowerShell 7. Untried.
    Pwsh,
    /// nushell. Untried.
    Nu,
}

impl Shell {
    /// All of them, in the order they are listed to a person.
    pub const ALL: [Self; 5] = [Self::Bash, Self::Zsh, Self::Fish, Self::Pwsh, Self::Nu];

    /// The name that `init-shell` and `--shell` take.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Pwsh => "pwsh",
            Self::Nu => "nu",
        }
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shell {
    type Err = Failure;

    /// One of the names, `powershell` or `nushell`.
    fn from_str(text: &str) -> Result<Self, Failure> {
        match text {
            "powershell" => Ok(Self::Pwsh),
            "nushell" => Ok(Self::Nu),
            _ => Self::ALL.into_iter().find(|shell| shell.name() == text).ok_or_else(|| {
                Failure::usage(format!("there is no wrapper for the shell '{}'", sys::text::clean(text)))
                    .hint("bash, zsh, fish, pwsh (powershell) and nu have one")
            }),
        }
    }
}

/// The start-up file of the person's shell (`$SHELL`, or unknown) and the line that sets the wrapper up in it.
pub fn setup_line(shell: Option<&str>) -> (&'static str, &'static str) {
    match shell.and_then(|path| path.rsplit('/').next()) {
        Some("fish") => ("~/.config/fish/config.fish", "ez init-shell fish | source"),
        Some("zsh") => ("~/.zshrc", "eval \"$(ez init-shell zsh)\""),
        _ => ("~/.bashrc", "eval \"$(ez init-shell bash)\""),
    }
}

/// The wrapper for `shell` around the program at the absolute path `ez`.
pub fn init(shell: Shell, ez: &str) -> String {
    match shell {
        Shell::Bash => posix::bash(ez),
        Shell::Zsh => posix::zsh(ez),
        Shell::Fish => fish::wrapper(ez),
        Shell::Pwsh => other::pwsh(ez),
        Shell::Nu => other::nu(ez),
    }
}
