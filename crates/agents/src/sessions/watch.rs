//! Notices cheaply that files of conversations may have changed: a few hundred questions for time and size, no listing and
//! no reading. What it says yes to is looked at properly by `Library::refresh`. The interface asks it while its tabs of
//! sessions are shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::index::Snapshot;

/// Files that are asked for, those that were written last: nobody goes on in all old conversations at once, and a new
/// file shows in its folder.
const FILES: usize = 100;

/// Folders that are asked for.
const FOLDERS: usize = 2_000;

/// Folders above a file in which a new one may appear: the day, the month and the year of Codex.
const ABOVE: usize = 3;

type State = Option<(u64, SystemTime)>;

/// What the newest files and their folders were like.
#[derive(Debug, Default)]
pub struct Watch {
    seen: Vec<(PathBuf, State)>,
}

impl Watch {
    /// What they are like now.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
        let sources =
            || snapshot.sessions.iter().flat_map(|session| &session.sources).map(|one| one.source.path.as_path());
        // The newest sessions come first.
        paths.extend(sources().take(FILES).map(Path::to_path_buf));
        for path in sources() {
            if paths.len() >= FILES + FOLDERS {
                break;
            }
            paths.extend(path.ancestors().skip(1).take(ABOVE).map(Path::to_path_buf));
        }
        Self {
            seen: paths
                .into_iter()
                .map(|path| {
                    let state = state(&path);
                    (path, state)
                })
                .collect(),
        }
    }

    /// True when one of them is not as it was; it is remembered as it is now.
    pub fn changed(&mut self) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.seen {
            let now = state(path);
            changed |= now != *seen;
            *seen = now;
        }
        changed
    }
}

fn state(path: &Path) -> State {
    let meta = path.metadata().ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sessions::{Kind, Session, SessionSource, Source};

    #[test]
    fn a_grown_file_and_a_new_one_beside_it_are_noticed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("2026/12/01/a.jsonl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "1\n").unwrap();
        let source = Source::at(&file, Kind::Lines).unwrap();
        let sources = vec![SessionSource { source, subagent: false, aside: false }];
        let snapshot = Snapshot { sessions: vec![Session { sources, ..Session::default() }], ..Snapshot::default() };
        let mut watch = Watch::of(&snapshot);
        assert!(!watch.changed());
        fs::write(&file, "1\n2\n").unwrap();
        assert_eq!((watch.changed(), watch.changed()), (true, false));
        fs::create_dir(dir.path().join("2026/12/02")).unwrap();
        assert_eq!((watch.changed(), watch.changed()), (true, false));
        fs::remove_file(&file).unwrap();
        assert!(watch.changed());
    }
}
