//! Which processes stand in a folder, as `/proc` says. Where there is no `/proc`, none are known. `worktree` gives it
//! to previews and to `delete`.

use std::path::Path;

/// A process whose working folder is in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number, as this `/proc` counts.
    pub pid: u32,
    /// The program's name, cleaned.
    pub name: String,
}

/// The processes whose working folder is `folder` or below it, by number; ourselves and those that wait for us (the
/// person's shell) are left out. Processes of other people cannot be seen, and are not told.
pub fn standing_in(folder: &Path) -> Vec<Process> {
    let Ok(folder) = folder.canonicalize() else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ours = our_line();
    let mut found: Vec<Process> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| !ours.contains(pid))
        .filter(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)))
        .map(|pid| {
            let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
            Process { pid, name: sys::text::clean_bytes(&name).trim().to_owned() }
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// We and our ancestors, as `/proc` numbers them (it may be another namespace's than libc's).
fn our_line() -> Vec<u32> {
    let mut line = Vec::new();
    let own = std::fs::read_link("/proc/self").ok().and_then(|pid| pid.to_str()?.parse::<u32>().ok());
    let mut next = own;
    while let Some(pid) = next.filter(|pid| *pid > 0 && !line.contains(pid)) {
        line.push(pid);
        // "pid (name) state ppid ...": the name may hold anything, blanks and brackets included.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        next = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn we_and_our_ancestors_are_not_told_and_a_gone_folder_holds_nobody() {
        let here = std::env::current_dir().unwrap();
        let line = our_line();
        assert!(line.len() > 1, "{line:?}");
        assert!(standing_in(&here).iter().all(|process| !line.contains(&process.pid)));
        assert_eq!(standing_in(Path::new("/no/such/folder")), []);
    }
}
