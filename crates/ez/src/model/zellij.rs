//! The names zellij knows sessions by (ez-behaviour.md, 2: the encoding ends in four hex digits of an MD5 when the name
//! had to be cut). It starts nothing. Finding the current session and the bundled plugins call it.

use md5::{Digest, Md5};

/// The MD5 of a short text in hex; not for security, the encoding wants it.
pub fn md5_hex(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name zellij's plugin gives the session `name` of a repository in a folder called `repo`.
pub fn zellij_name(repo: &str, name: &str) -> String {
    let full = format!("{repo}__{name}");
    full.bytes()
        .map(|b| if b.is_ascii_alphanumeric() || b == b'-' || b == b'_' { char::from(b) } else { '_' })
        .collect()
}

/// True when `current` is that name, whole or cut: any beginning, `_`, four hex digits of the MD5 of the whole.
pub fn is_zellij_name(current: &str, repo: &str, name: &str) -> bool {
    let full = zellij_name(repo, name);
    if current == full {
        return true;
    }
    let Some(cut) = current.strip_suffix(&format!("_{}", &md5_hex(full.as_bytes())[..4])) else { return false };
    full.starts_with(cut) || zellij_name("", name).trim_start_matches("__").starts_with(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_cut_names_of_zellij() {
        assert_eq!(zellij_name("repo", "feat.z"), "repo__feat_z");
        assert!(is_zellij_name("repo__feat_z", "repo", "feat.z"));
        assert!(!is_zellij_name("repo__feat", "repo", "feat.z"));
    }
}
