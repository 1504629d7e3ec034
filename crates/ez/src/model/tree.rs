//! The tree of a repository's sessions: who is below whom, in which order, how it is drawn. Sessions whose parent is gone
//! or that form a ring are roots: nothing is ever hidden. Pure; lists, deleting and the browser call it.

use std::collections::HashMap;

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

/// Who is below whom, found once: sessions by id, and the children of each in the file's order.
struct Forest<'a> {
    sessions: &'a [Session],
    by_id: HashMap<&'a str, usize>,
    children: Vec<Vec<usize>>,
}

impl<'a> Forest<'a> {
    fn of(sessions: &'a [Session]) -> Self {
        let mut by_id = HashMap::with_capacity(sessions.len());
        for (at, session) in sessions.iter().enumerate() {
            by_id.entry(session.id.as_str()).or_insert(at);
        }
        let mut children = vec![Vec::new(); sessions.len()];
        for (at, session) in sessions.iter().enumerate() {
            if let Some(&parent) = session.parent_id.as_deref().and_then(|id| by_id.get(id))
                && parent != at
            {
                children[parent].push(at);
            }
        }
        Self { sessions, by_id, children }
    }

    fn roots(&self) -> Vec<usize> {
        let known = |at: usize| self.sessions[at].parent_id.as_deref().and_then(|id| self.by_id.get(id));
        let mut roots: Vec<usize> =
            (0..self.sessions.len()).filter(|&at| known(at).is_none_or(|&parent| parent == at)).collect();
        // A ring has no root of its own: its first member becomes one.
        let mut seen = vec![false; self.sessions.len()];
        for &root in &roots {
            self.mark(root, &mut seen);
        }
        for at in 0..self.sessions.len() {
            if !seen[at] {
                roots.push(at);
                self.mark(at, &mut seen);
            }
        }
        roots
    }

    fn mark(&self, at: usize, seen: &mut [bool]) {
        let mut todo = vec![at];
        while let Some(at) = todo.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                todo.extend(&self.children[at]);
            }
        }
    }

    /// Of each session, when it or one below it was last used.
    fn newest(&self) -> Vec<&'a str> {
        let own = |at: usize| self.sessions[at].last_accessed.as_deref().unwrap_or("");
        let mut newest: Vec<&str> = (0..self.sessions.len()).map(own).collect();
        // Each one's time goes up its chain of parents, as far as it is the newest there.
        for at in 0..self.sessions.len() {
            let mut here = at;
            for _ in 0..self.sessions.len() {
                let parent = self.sessions[here].parent_id.as_deref().and_then(|id| self.by_id.get(id));
                let Some(&parent) = parent.filter(|&&parent| newest[parent] < own(at)) else { break };
                newest[parent] = own(at);
                here = parent;
            }
        }
        newest
    }
}

/// All descendants of the session `id`, deepest first.
pub fn below<'a>(sessions: &'a [Session], id: &str) -> Vec<&'a Session> {
    let forest = Forest::of(sessions);
    let Some(&start) = forest.by_id.get(id) else { return Vec::new() };
    let mut seen = vec![false; sessions.len()];
    seen[start] = true;
    let mut found = Vec::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next = Vec::new();
        for at in level {
            for &child in &forest.children[at] {
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
    let mut forest = Forest::of(sessions);
    let mut roots = forest.roots();
    match sort {
        Sort::File => {}
        Sort::Name => forest.order(&mut roots, |at| sessions[at].name.to_lowercase()),
        Sort::Recent => {
            let newest = forest.newest();
            forest.order(&mut roots, |at| std::cmp::Reverse(newest[at]));
        }
    }
    let mut seen = vec![false; sessions.len()];
    let mut rows = Vec::with_capacity(sessions.len());
    for root in roots {
        forest.place(root, &mut seen, &mut rows);
    }
    rows
}

impl<'a> Forest<'a> {
    /// Sorts all levels.
    fn order<K: Ord>(&mut self, roots: &mut [usize], key: impl Fn(usize) -> K) {
        roots.sort_by_cached_key(|&at| key(at));
        for level in &mut self.children {
            level.sort_by_cached_key(|&at| key(at));
        }
    }

    /// The rows of one root and of all that is below it.
    fn place(&self, root: usize, seen: &mut [bool], rows: &mut Vec<Placed<'a>>) {
        let mut todo: Vec<(usize, Option<(String, bool)>)> = vec![(root, None)];
        while let Some((at, lines)) = todo.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let (own, inner) = match lines {
                None => (String::new(), String::new()),
                Some((before, true)) => (format!("{before}└── "), format!("{before}    ")),
                Some((before, false)) => (format!("{before}├── "), format!("{before}│   ")),
            };
            rows.push(Placed { session: &self.sessions[at], lines: own });
            let level = self.children[at].iter().rev().filter(|&&child| !seen[child]);
            todo.extend(level.enumerate().map(|(nth, &child)| (child, Some((inner.clone(), nth == 0)))));
        }
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

    #[test]
    fn each_level_is_sorted_and_a_child_lifts_those_above_it() {
        let used = |id: &str, parent: Option<&str>, last: &str| Session {
            last_accessed: (!last.is_empty()).then(|| last.to_owned()),
            ..session(id, parent)
        };
        let sessions = [
            used("B", None, "3"),
            used("a", None, ""),
            used("c", None, "2"),
            used("d", Some("c"), ""),
            used("e", Some("c"), ""),
            used("f", Some("e"), "9"),
            used("x", Some("y"), "1"),
            used("y", Some("x"), "5"),
        ];
        let names =
            |sort| -> Vec<String> { draw(&sessions, sort).iter().map(|row| row.session.name.clone()).collect() };
        assert_eq!(names(Sort::Name), ["a", "B", "c", "d", "e", "f", "x", "y"]);
        assert_eq!(names(Sort::Recent), ["c", "e", "f", "d", "x", "y", "B", "a"]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let chain: Vec<Session> =
            (0..2_000).map(|n| session(&n.to_string(), (n > 0).then(|| (n - 1).to_string()).as_deref())).collect();
        assert_eq!(draw(&chain, Sort::Recent).len(), chain.len());
        assert_eq!(below(&chain, "0").len(), chain.len() - 1);
    }
}
