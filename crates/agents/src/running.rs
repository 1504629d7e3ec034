//! Which sessions are open in an agent's process right now, by the traces that agents leave of being alive
//! (agent-formats.md, "Live"). A trace without its process is an old one. It only looks; `cli` and tabs call it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::adapter::{Places, Surroundings, all};
use crate::read::{all_in, small_file};
use crate::records::Record;

/// Agents' and sessions' ids.
pub fn live(around: &Surroundings) -> HashSet<(&'static str, String)> {
    let mut found = HashSet::new();
    for adapter in all() {
        if let Some(reads) = adapter.reads() {
            let agent = adapter.about().id;
            found.extend(reads.live(&adapter.places(around)).into_iter().map(|session| (agent, session)));
        }
    }
    found
}

/// Claude Code: `<config>/sessions/<pid>.json` names the session and when the process began.
pub(crate) fn of_claude(places: &Places) -> Vec<String> {
    let files = all_in(&places.config_dir.join("sessions"));
    let one = |path: &std::path::PathBuf| {
        let pid: u32 = path.file_stem()?.to_str()?.parse().ok()?;
        let text = String::from_utf8(small_file(path, 64 << 10)?).ok()?;
        let record = Record::parse(&text).ok()?;
        let began = record
            .text("procStart")
            .map(std::borrow::Cow::into_owned)
            .or_else(|| record.raw("procStart").map(|raw| raw.get().to_owned()));
        let same = began.is_none_or(|began| start_of(pid).is_some_and(|start| start == began));
        (alive(pid) && same).then(|| record.text("sessionId").map(Into::into)).flatten()
    };
    files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")).filter_map(one).collect()
}

/// Copilot CLI: `session-state/<id>/inuse.<pid>.lock`.
pub(crate) fn of_copilot(places: &Places) -> Vec<String> {
    let Some(sessions) = &places.sessions else { return Vec::new() };
    let used = |folder: &std::path::PathBuf| {
        let pid = |path: &std::path::PathBuf| -> Option<u32> {
            path.file_name()?.to_str()?.strip_prefix("inuse.")?.strip_suffix(".lock")?.parse().ok()
        };
        let open = all_in(folder).iter().filter_map(pid).any(alive);
        open.then(|| folder.file_name()?.to_str().map(str::to_owned)).flatten()
    };
    all_in(sessions).iter().filter_map(used).collect()
}

/// Codex: a process of it holds the rollout open; its lock alone may be left from a crash.
pub(crate) fn of_codex(places: &Places) -> Vec<String> {
    let locks = all_in(&places.config_dir.join("thread-writer-locks"));
    let ids: Vec<String> = locks
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "lock"))
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .filter(|id| !id.starts_with('.'))
        .collect();
    if ids.is_empty() {
        return ids;
    }
    let open = open_in_processes("codex");
    ids.into_iter().filter(|id| open.iter().any(|path| path.contains(id.as_str()))).collect()
}

/// The numbers of processes of a program called one of `programs` that work in `folder`: all that can be told of agents
/// that leave no trace of an open session (agent-formats.md, "Live"). Empty where the system has no `/proc`.
pub fn in_folder(programs: &[&str], folder: &Path) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let works = |process: &Path| {
        let there = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == real);
        there
            && fs::read(process.join("cmdline")).is_ok_and(|line| {
                let names = line.split(|byte| *byte == 0).take(5);
                let names: Vec<_> =
                    names.filter_map(|word| Path::new(std::str::from_utf8(word).ok()?).file_name()?.to_str()).collect();
                // The program itself, or an interpreter that runs it.
                let interpreted = names.first().is_some_and(|first| ["node", "bun", "deno"].contains(first));
                let words = if interpreted { names.as_slice() } else { &names[..names.len().min(1)] };
                words.iter().any(|name| programs.contains(name))
            })
    };
    let number = |path: &Path| path.file_name()?.to_str()?.parse().ok();
    processes.flatten().map(|entry| entry.path()).filter_map(|path| number(&path).filter(|_| works(&path))).collect()
}

/// The files that processes of this name hold open.
fn open_in_processes(name: &str) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let mut open = Vec::new();
    for process in processes.flatten().map(|entry| entry.path()) {
        let called = |comm: String| comm.trim_end().starts_with(name);
        if !fs::read_to_string(process.join("comm")).is_ok_and(called) {
            continue;
        }
        let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        open.extend(
            files.filter_map(|fd| fs::read_link(fd.path()).ok()).map(|path| path.to_string_lossy().into_owned()),
        );
    }
    open
}

fn alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// When a process began, in the kernel's ticks since its boot: proc(5), field 22.
fn start_of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last `)` may hold anything; field 3 follows it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    #[allow(clippy::disallowed_methods)]
    fn a_trace_counts_as_long_as_its_process_lives() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let begun = start_of(own).unwrap();
        let places = Places {
            config_dir: dir.path().join("claude"),
            sessions: Some(dir.path().join("state")),
            ..Places::default()
        };
        let file = |pid: u32| places.config_dir.join("sessions").join(format!("{pid}.json"));
        fs::create_dir_all(places.config_dir.join("sessions")).unwrap();
        let write = |pid: u32, began: &str| {
            fs::write(file(pid), format!(r#"{{"pid":{pid},"sessionId":"s","procStart":"{began}"}}"#)).unwrap();
        };
        write(own, &begun);
        assert_eq!(of_claude(&places), ["s"]);
        write(own, "1");
        assert!(of_claude(&places).is_empty(), "another process has that number now");
        fs::remove_file(file(own)).unwrap();
        write(u32::MAX, &begun);
        assert!(of_claude(&places).is_empty());
        let session = dir.path().join("state/abc");
        fs::create_dir_all(&session).unwrap();
        fs::write(session.join(format!("inuse.{}.lock", u32::MAX)), "").unwrap();
        assert!(of_copilot(&places).is_empty());
        fs::write(session.join(format!("inuse.{own}.lock")), "").unwrap();
        assert_eq!(of_copilot(&places), ["abc"]);
    }
}
