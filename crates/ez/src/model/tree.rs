//! The tree of a repository's sessions: who is below whom, in which order, how it is drawn. Sessions whose parent is gone
//! or that form a ring are roots: nothing is ever hidden. Pure; lists, deleting and the browser call it.

use crate::store::Session;

/// A session at its place.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// The session.
    pub session: &'a Session,
    /// The lines before its name.
    pub lines: String,
}

/// How siblings are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// As in the file.
    File,
    /// Last used first, by the newest in each subtree.
    Recent,
    /// By name.
    Name,
}

impl Sort {
    /// The order `default_sort` names: anything but `lru` is by name.
    pub fn of(text: &str) -> Self {
        if text == "lru" { Self::Recent } else { Self::Name }
    }
}

fn roots(sessions: &[Session]) -> Vec<usize> {
    let exists = |id: &str| sessions.iter().any(|session| session.id == id);
    let mut roots: Vec<usize> = (0..sessions.len())
        .filter(|&at| sessions[at].parent_id.as_deref().is_none_or(|id| !exists(id) || id == sessions[at].id))
        .collect();
    // A ring has no root of its own: its first member becomes one.
    let mut seen = vec![false; sessions.len()];
    for &root in &roots {
        mark(sessions, root, &mut seen);
    }
    for at in 0..sessions.len() {
        if !seen[at] {
            roots.push(at);
            mark(sessions, at, &mut seen);
        }
    }
    roots
}

fn mark(sessions: &[Session], at: usize, seen: &mut [bool]) {
    let mut todo = vec![at];
    while let Some(at) = todo.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            todo.extend(children(sessions, at));
        }
    }
}

fn children(sessions: &[Session], at: usize) -> impl Iterator<Item = usize> {
    let id = sessions[at].id.as_str();
    (0..sessions.len()).filter(move |&child| child != at && sessions[child].parent_id.as_deref() == Some(id))
}

/// All descendants of the session `id`, deepest first.
pub fn below<'a>(sessions: &'a [Session], id: &str) -> Vec<&'a Session> {
    let Some(start) = sessions.iter().position(|session| session.id == id) else { return Vec::new() };
    let mut seen = vec![false; sessions.len()];
    seen[start] = true;
    let mut found = Vec::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next = Vec::new();
        for at in level {
            for child in children(sessions, at) {
                if !std::mem::replace(&mut seen[child], true) {
                    next.push(child);
                    found.push(&sessions[child]);
                }
            }
        }
        level = next;
    }
    found.reverse();
    found
}

/// The tree, row by row.
pub fn draw(sessions: &[Session], sort: Sort) -> Vec<Placed<'_>> {
    let mut seen = vec![false; sessions.len()];
    let mut rows = Vec::new();
    let mut roots = roots(sessions);
    order(sessions, &mut roots, sort);
    for root in roots {
        place(sessions, root, sort, None, &mut seen, &mut rows);
    }
    rows
}

fn newest(sessions: &[Session], at: usize) -> &str {
    let own = sessions[at].last_accessed.as_deref().unwrap_or("");
    below(sessions, &sessions[at].id).iter().filter_map(|s| s.last_accessed.as_deref()).fold(own, Ord::max)
}

fn order(sessions: &[Session], level: &mut [usize], sort: Sort) {
    match sort {
        Sort::File => {}
        Sort::Name => level.sort_by_key(|&at| sessions[at].name.to_lowercase()),
        Sort::Recent => level.sort_by_cached_key(|&at| std::cmp::Reverse(newest(sessions, at))),
    }
}

fn place<'a>(
    sessions: &'a [Session],
    at: usize,
    sort: Sort,
    lines: Option<(String, bool)>,
    seen: &mut [bool],
    rows: &mut Vec<Placed<'a>>,
) {
    if std::mem::replace(&mut seen[at], true) {
        return;
    }
    let own = lines
        .as_ref()
        .map_or(String::new(), |(before, last)| format!("{before}{}", if *last { "└── " } else { "├── " }));
    rows.push(Placed { session: &sessions[at], lines: own });
    let mut level: Vec<usize> = children(sessions, at).filter(|&child| !seen[child]).collect();
    order(sessions, &mut level, sort);
    let inner = lines.map_or(String::new(), |(before, last)| format!("{before}{}", if last { "    " } else { "│   " }));
    let count = level.len();
    for (nth, child) in level.into_iter().enumerate() {
        place(sessions, child, sort, Some((inner.clone(), nth + 1 == count)), seen, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, parent: Option<&str>) -> Session {
        Session { id: id.into(), name: id.into(), parent_id: parent.map(str::to_owned), ..Session::default() }
    }

    #[test]
    fn nothing_is_hidden_and_nothing_loops() {
        let sessions = [
            session("a", None),
            session("b", Some("a")),
            session("c", Some("b")),
            session("d", Some("a")),
            session("x", Some("y")),
            session("y", Some("x")),
            session("o", Some("gone")),
        ];
        let rows: Vec<_> =
            draw(&sessions, Sort::File).iter().map(|row| format!("{}{}", row.lines, row.session.name)).collect();
        assert_eq!(rows, ["a", "├── b", "│   └── c", "└── d", "o", "x", "└── y"]);
        let ids: Vec<_> = below(&sessions, "a").iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids, ["c", "d", "b"]);
    }
}
