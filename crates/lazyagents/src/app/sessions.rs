//! The Sessions tab's state: what is shown of the shelf, in which order, marked, searched for, read. Pure; `update` changes
//! it, `tabs::sessions` draws it.

use std::collections::BTreeSet;
use std::sync::Arc;

use tui::edit::LineEdit;

use super::reader::Reader;
use super::shelf::{Find, FindEnd, Key, Reading, Shelf};
use super::state::ListTab;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By its place in the shelf.
    Session(usize),
    /// A project, and how many sessions it has.
    Project(String, usize),
}

/// In which order rows stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Last used first.
    #[default]
    Recent,
    /// Most tokens first.
    Tokens,
    /// By title.
    Title,
}

impl Sort {
    /// The next one.
    pub fn next(self) -> Self {
        match self {
            Self::Recent => Self::Tokens,
            Self::Tokens => Self::Title,
            Self::Title => Self::Recent,
        }
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Recent => "last used first",
            Self::Tokens => "most tokens first",
            Self::Title => "by title",
        }
    }
}

/// A search through everything that was said.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// What is typed.
    pub edit: LineEdit,
    /// Keys go to it.
    pub typing: bool,
    /// What was found so far, newest session first.
    pub found: Vec<Find>,
    /// How it ended; `None` while it goes on.
    pub end: Option<FindEnd>,
}

/// The tab.
#[derive(Debug, Default)]
pub struct Sessions {
    /// Cursor, filter, detail.
    pub tab: ListTab,
    /// What is known; `None` until the first look.
    pub shelf: Option<Arc<Shelf>>,
    /// How far the work beside the loop is.
    pub reading: Reading,
    /// Only this agent's.
    pub agent: Option<&'static str>,
    /// Under the folders that they were started in.
    pub grouped: bool,
    /// The order.
    pub sort: Sort,
    /// The rows, made anew by [`Sessions::arrange`].
    pub entries: Vec<Entry>,
    /// Marked ones.
    pub marked: BTreeSet<Key>,
    /// The search, while one is open.
    pub search: Option<Search>,
    /// The number of the newest search; what comes of older ones is dropped.
    pub searches: u64,
    /// The transcript that is read.
    pub reader: Option<Box<Reader>>,
    /// The number of the newest reader.
    pub readers: u64,
}

impl Sessions {
    /// Makes the rows anew; the cursor stays on its session where that is still shown.
    pub fn arrange(&mut self) {
        let before = self.selected_key();
        self.entries = self.rows();
        let place = before.and_then(|key| self.place(&key));
        self.tab.list.selected = place.unwrap_or(self.tab.list.selected).min(self.entries.len().saturating_sub(1));
        self.off_headings(true);
    }

    fn rows(&self) -> Vec<Entry> {
        let Some(shelf) = &self.shelf else { return Vec::new() };
        let ours = |at: usize| self.agent.is_none_or(|agent| shelf.lines[at].key.0 == agent);
        if let Some(search) = self.search.as_ref().filter(|search| !search.edit.is_empty()) {
            let found = search.found.iter().filter_map(|find| shelf.place(&find.key));
            return found.filter(|at| ours(*at)).map(Entry::Session).collect();
        }
        let words: Vec<String> = self.tab.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let mut rows: Vec<usize> = (0..shelf.lines.len())
            .filter(|at| ours(*at) && words.iter().all(|word| shelf.lines[*at].hay.contains(word.as_str())))
            .collect();
        match self.sort {
            Sort::Recent => {}
            Sort::Tokens => rows.sort_by_key(|at| std::cmp::Reverse(shelf.lines[*at].tokens)),
            Sort::Title => rows.sort_by_cached_key(|at| shelf.lines[*at].title.to_lowercase()),
        }
        if !self.grouped {
            return rows.into_iter().map(Entry::Session).collect();
        }
        // Projects in the order of their first session.
        let mut projects: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for at in rows {
            let cwd = shelf.lines[at].cwd.as_str();
            let place = *places.entry(cwd).or_insert_with(|| {
                projects.push((cwd, Vec::new()));
                projects.len() - 1
            });
            projects[place].1.push(at);
        }
        let mut entries = Vec::new();
        for (cwd, rows) in projects {
            entries
                .push(Entry::Project(if cwd.is_empty() { "no folder".to_owned() } else { cwd.to_owned() }, rows.len()));
            entries.extend(rows.into_iter().map(Entry::Session));
        }
        entries
    }

    /// The place in the shelf of the session under the cursor.
    pub fn selected(&self) -> Option<usize> {
        match self.entries.get(self.tab.list.selected)? {
            Entry::Session(at) => Some(*at),
            Entry::Project(..) => None,
        }
    }

    /// The session under the cursor.
    pub fn selected_key(&self) -> Option<Key> {
        let shelf = self.shelf.as_ref()?;
        Some(shelf.lines.get(self.selected()?)?.key.clone())
    }

    fn place(&self, key: &Key) -> Option<usize> {
        let at = self.shelf.as_ref()?.place(key)?;
        self.entries.iter().position(|entry| *entry == Entry::Session(at))
    }

    /// A heading is no place to stand: the cursor goes on, down when `down`, else up, and back where that is the end.
    pub fn off_headings(&mut self, down: bool) {
        let heading = |at: usize| matches!(self.entries.get(at), Some(Entry::Project(..)));
        let at = self.tab.list.selected;
        if heading(at) {
            // No two headings follow one another, and the last row is none.
            self.tab.list.selected = if down || at == 0 { at + 1 } else { at - 1 };
        }
    }

    /// What the search found in the session under the cursor.
    pub fn selected_find(&self) -> Option<&Find> {
        let key = self.selected_key()?;
        let search = self.search.as_ref().filter(|search| !search.edit.is_empty())?;
        search.found.iter().find(|find| find.key == key)
    }

    /// The agents that have sessions, in the order of the shelf's ids.
    pub fn agents(&self) -> Vec<&'static str> {
        let ids: BTreeSet<&'static str> =
            self.shelf.iter().flat_map(|shelf| &shelf.lines).map(|line| line.key.0).collect();
        ids.into_iter().collect()
    }

    /// Shows the next agent's sessions only, after the last one those of all.
    pub fn next_agent(&mut self) {
        let agents = self.agents();
        self.agent = match self.agent.and_then(|agent| agents.iter().position(|id| *id == agent)) {
            None => agents.first().copied(),
            Some(at) => agents.get(at + 1).copied(),
        };
        self.tab.list.top();
        self.arrange();
    }
}

#[cfg(test)]
mod tests {
    use super::super::shelf::SessionLine;
    use super::*;

    fn sessions() -> Sessions {
        let line = |id: &str, agent: &'static str, title: &str, cwd: &str, tokens| SessionLine {
            key: (agent, id.to_owned()),
            title: title.to_owned(),
            cwd: cwd.to_owned(),
            tokens,
            hay: format!("{agent} {title} {cwd}").to_lowercase(),
            ..SessionLine::default()
        };
        let lines = vec![
            line("1", "codex", "Why does the deploy fail", "~/shop", 5),
            line("2", "claude-code", "Fix the cart", "~/shop", 9),
            line("3", "claude-code", "Notes", "", 7),
        ];
        let mut sessions =
            Sessions { shelf: Some(Arc::new(Shelf { lines, ..Shelf::default() })), ..Sessions::default() };
        sessions.arrange();
        sessions
    }

    fn ids(sessions: &Sessions) -> String {
        let shelf = sessions.shelf.as_ref().unwrap();
        let id = |entry: &Entry| match entry {
            Entry::Session(at) => shelf.lines[*at].key.1.clone(),
            Entry::Project(name, count) => format!("[{name} {count}]"),
        };
        sessions.entries.iter().map(id).collect()
    }

    #[test]
    fn filtered_sorted_grouped_and_by_agent() {
        let mut sessions = sessions();
        assert_eq!(ids(&sessions), "123");
        sessions.tab.filter = LineEdit::new("SHOP fix");
        sessions.arrange();
        assert_eq!(ids(&sessions), "2");
        sessions.tab.filter = LineEdit::default();
        sessions.sort = Sort::Tokens;
        sessions.arrange();
        assert_eq!(ids(&sessions), "231");
        assert_eq!(sessions.selected_key().unwrap().1, "2", "the cursor stays on its session");
        sessions.grouped = true;
        sessions.arrange();
        assert_eq!(ids(&sessions), "[~/shop 2]21[no folder 1]3");
        sessions.tab.list.selected = 3;
        sessions.off_headings(true);
        assert_eq!(sessions.selected_key().unwrap().1, "3");
        sessions.tab.list.selected = 3;
        sessions.off_headings(false);
        assert_eq!(sessions.selected_key().unwrap().1, "1");
        sessions.next_agent();
        assert_eq!((sessions.agent, ids(&sessions).as_str()), (Some("claude-code"), "[~/shop 1]2[no folder 1]3"));
        sessions.next_agent();
        sessions.next_agent();
        assert_eq!(sessions.agent, None);
    }

    #[test]
    fn what_a_search_found_is_shown_in_its_order() {
        let mut sessions = sessions();
        let find = |agent, id: &str| Find { key: (agent, id.to_owned()), hits: 1, excerpts: Vec::new() };
        let found = vec![find("claude-code", "3"), find("codex", "1"), find("codex", "gone")];
        sessions.search = Some(Search { edit: LineEdit::new("x"), found, ..Search::default() });
        sessions.arrange();
        assert_eq!(ids(&sessions), "31");
    }
}
