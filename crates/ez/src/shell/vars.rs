//! The variables of a session as text that a person's shell runs, and one word of text as each shell writes it.
//! Nothing that is no valid name becomes text, and every value is quoted: metadata may come from anyone (fault 28).
//! Whoever writes the file for post commands calls [`switch`].
//!
//! # How a session's variables go away again
//!
//! A session hides what the person had under the same name. The first time a session sets `K`, the text keeps the old
//! value in `EZ_SAVED_K`, or notes in `EZ_ADDED_K` that there was none; both are exported, so that a shell started
//! inside (a tmux pane, `bash`) can go back as well, and so that the next `ez` sees by its own environment
//! ([`held`]) which variables belong to the last session. Entering another session sets its own variables, without
//! touching the notes that are there, and takes back the held ones it does not have; leaving takes back all. A value
//! that was a shell variable only comes back exported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sys::Env;

use super::Shell;

/// What `EZ_SAVED_K` and `EZ_ADDED_K` begin with.
const SAVED: &str = "EZ_SAVED_";
const ADDED: &str = "EZ_ADDED_";

/// True for a name that may become a variable: `[A-Za-z_][A-Za-z0-9_]*`, and none of the wrapper's own.
pub fn is_key(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && ![SAVED, ADDED, "__ez"].iter().any(|own| name.starts_with(own))
}

/// The names that the session entered last has set, as the environment of this process tells; sorted.
pub fn held(env: &Env) -> Vec<String> {
    let names: BTreeSet<String> = env
        .iter()
        .filter_map(|(name, _)| name.to_str())
        .filter_map(|name| name.strip_prefix(SAVED).or_else(|| name.strip_prefix(ADDED)))
        .filter(|name| is_key(name))
        .map(str::to_owned)
        .collect();
    names.into_iter().collect()
}

/// The text for entering a session with the variables `set` (none: for leaving), in a shell whose environment is `env`:
/// takes back what the last session set and this one does not. Empty when there is nothing to do.
pub fn switch(shell: Shell, set: &BTreeMap<String, String>, env: &Env) -> String {
    let unset: Vec<String> = held(env).into_iter().filter(|name| !set.contains_key(name)).collect();
    exports(shell, set, &unset)
}

/// The text that takes back `unset` (what it hid comes back; a name that no session has set is left alone) and then
/// sets `set`, by name. Each ends with a newline; names that are no [`is_key`] are left out, and so are values with a
/// NUL, which no environment can hold.
pub fn exports(shell: Shell, set: &BTreeMap<String, String>, unset: &[String]) -> String {
    let set = || set.iter().filter(|(key, value)| is_key(key) && !value.contains('\0'));
    let unset = || unset.iter().filter(|key| is_key(key));
    if shell == Shell::Nu {
        if set().next().is_none() && unset().next().is_none() {
            return String::new();
        }
        let set: serde_json::Map<_, _> = set().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        let unset: Vec<&String> = unset().collect();
        return format!("#EZ_ENV {}\n", serde_json::json!({ "set": set, "unset": unset }));
    }
    let mut text = String::new();
    for key in unset() {
        text.push_str(&restore(shell, key));
    }
    for (key, value) in set() {
        text.push_str(&keep(shell, key));
        let value = quote(shell, value);
        let _ = match shell {
            Shell::Fish => writeln!(text, "set -gx {key} {value}"),
            Shell::Pwsh => writeln!(text, "$env:{key} = {value}"),
            _ => writeln!(text, "export {key}={value}"),
        };
    }
    text
}

/// One line: keep the value of `key` unless a session has set it already.
fn keep(shell: Shell, key: &str) -> String {
    match shell {
        // Only the global one is kept: a universal one is not hidden for good by a global one.
        Shell::Fish => format!(
            "if not set -q {SAVED}{key}; and not set -q {ADDED}{key}; if set -qg {key}; set -gx {SAVED}{key} \"${key}\"; \
             else; set -gx {ADDED}{key} 1; end; end\n"
        ),
        Shell::Pwsh => format!(
            "if (-not (Test-Path 'env:{SAVED}{key}') -and -not (Test-Path 'env:{ADDED}{key}')) {{ \
             if (Test-Path 'env:{key}') {{ $env:{SAVED}{key} = $env:{key} }} else {{ $env:{ADDED}{key} = '1' }} }}\n"
        ),
        _ => format!(
            "if [ -z \"${{{SAVED}{key}+x}}${{{ADDED}{key}+x}}\" ]; then if [ -n \"${{{key}+x}}\" ]; then \
             export {SAVED}{key}=\"${key}\"; else export {ADDED}{key}=1; fi; fi\n"
        ),
    }
}

/// One line: what was there before a session set `key`.
fn restore(shell: Shell, key: &str) -> String {
    match shell {
        Shell::Fish => format!(
            "if set -q {SAVED}{key}; set -gx {key} \"${SAVED}{key}\"; else if set -q {ADDED}{key}; set -eg {key}; end; \
             set -eg {SAVED}{key}; set -eg {ADDED}{key}\n"
        ),
        Shell::Pwsh => format!(
            "if (Test-Path 'env:{SAVED}{key}') {{ $env:{key} = $env:{SAVED}{key} }} \
             elseif (Test-Path 'env:{ADDED}{key}') {{ $env:{key} = $null }}; \
             $env:{SAVED}{key} = $null; $env:{ADDED}{key} = $null\n"
        ),
        _ => format!(
            "if [ -n \"${{{SAVED}{key}+x}}\" ]; then export {key}=\"${SAVED}{key}\"; \
             elif [ -n \"${{{ADDED}{key}+x}}\" ]; then unset {key}; fi; unset {SAVED}{key} {ADDED}{key}\n"
        ),
    }
}

/// `text` as one literal word of `shell`.
pub fn quote(shell: Shell, text: &str) -> String {
    match shell {
        Shell::Bash | Shell::Zsh => format!("'{}'", text.replace('\'', r"'\''")),
        Shell::Fish => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
        // PowerShell takes the typographic single quotes for quotes as well.
        Shell::Pwsh => {
            let mut word = String::from("'");
            for char in text.chars() {
                word.push(char);
                if matches!(char, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
                    word.push(char);
                }
            }
            word + "'"
        }
        Shell::Nu => {
            let mut word = String::from("\"");
            for char in text.chars() {
                match char {
                    '"' | '\\' => word.extend(['\\', char]),
                    char if char.is_control() => word.push_str(&format!("\\u{{{:x}}}", u32::from(char))),
                    char => word.push(char),
                }
            }
            word + "\""
        }
    }
}
