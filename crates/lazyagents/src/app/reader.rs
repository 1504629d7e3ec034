//! A transcript while it is read: a window of turns around the place that is looked at, laid out to rows, and what is
//! known of all the others. Its memory does not grow with the transcript. Pure; the thread in `telling` fills it, `update`
//! moves it, `tabs::reader` lays it out and draws it.

use std::collections::BTreeSet;

use agents::sessions::rows::Turn;
use ratatui::text::Line;
use tui::edit::LineEdit;

use super::shelf::Key;

/// Turns that are asked for at once.
pub const WINDOW: u64 = 160;

/// A row, and the turn that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRow {
    /// The turn's number.
    pub turn: u64,
    /// What stands there.
    pub line: Line<'static>,
    /// It is the turn's first row, which says who speaks.
    pub head: bool,
    /// It stands for something that is folded: a click opens it.
    pub fold: bool,
}

/// A search inside of the transcript.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    /// What is typed.
    pub edit: LineEdit,
    /// Keys go to it.
    pub typing: bool,
    /// The number of the newest search.
    pub number: u64,
    /// Turns in which it is, ascending.
    pub turns: Vec<u64>,
    /// All turns were looked at.
    pub done: bool,
}

/// What a thread says of a transcript.
#[derive(Clone, Debug)]
pub enum Told {
    /// So many turns are known, and which of them are the person's own prompts; `done` when these are all.
    Known {
        /// All turns so far.
        turns: u64,
        /// The numbers of those that the person typed.
        prompts: Vec<u64>,
        /// The end was reached.
        done: bool,
    },
    /// Turns in their order, without a gap; cleaned, very long ones cut.
    Window {
        /// The turn that was asked for.
        around: u64,
        /// The turns with their numbers.
        turns: Vec<(u64, Turn)>,
    },
    /// The turns that hold a text.
    Inside {
        /// Which search.
        number: u64,
        /// The turns.
        turns: Vec<u64>,
        /// All were looked at.
        done: bool,
    },
    /// It cannot be read, in words.
    Failed(String),
}

/// The reader.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Which one of all that were opened.
    pub number: u64,
    /// The session.
    pub key: Key,
    /// Its title, clean.
    pub title: String,
    /// Turns known so far.
    pub turns: u64,
    /// These are all.
    pub done: bool,
    /// The person's prompts.
    pub prompts: Vec<u64>,
    /// The turns at hand.
    pub window: Vec<(u64, Turn)>,
    /// A window around this turn was asked for and has not come.
    pub asked: Option<u64>,
    /// Where to go when the window is there: the turn, and the row in it.
    pub goal: Option<(u64, usize)>,
    /// Turns whose folds are open.
    pub open: BTreeSet<u64>,
    /// Everything is open but what is in [`Reader::open`].
    pub all_open: bool,
    /// The window, laid out for [`Reader::width`].
    pub rows: Vec<ReadRow>,
    /// Columns it was laid out for.
    pub width: u16,
    /// The first row that is seen.
    pub top: usize,
    /// The end was in sight when it grew: it stays in sight.
    pub follow: bool,
    /// The search inside of it.
    pub inside: Option<Inside>,
    /// Why it cannot be read.
    pub failed: Option<String>,
}

impl Reader {
    /// True when the folds of a turn are open.
    pub fn is_open(&self, turn: u64) -> bool {
        self.all_open != self.open.contains(&turn)
    }

    /// The turn of the first row that is seen.
    pub fn current(&self) -> u64 {
        self.rows.get(self.top).or(self.rows.last()).map_or(0, |row| row.turn)
    }

    /// The first row that is seen, as a place that lasts: its turn, and the row in that.
    pub fn anchor(&self) -> (u64, usize) {
        if let Some(goal) = self.goal {
            return goal;
        }
        let turn = self.current();
        let first = self.rows.iter().position(|row| row.turn == turn).unwrap_or(0);
        (turn, self.top.saturating_sub(first))
    }

    /// Moves to a place if its turn is at hand; true when it was. It is the first row then, whatever follows.
    pub fn go_to(&mut self, (turn, row): (u64, usize)) -> bool {
        let Some(first) = self.rows.iter().position(|line| line.turn == turn) else { return false };
        let rows = self.rows[first..].iter().take_while(|line| line.turn == turn).count();
        self.top = first + row.min(rows.saturating_sub(1));
        self.goal = None;
        true
    }

    /// Keeps the last row at the bottom where there is nothing behind it.
    pub fn clamp(&mut self, height: usize) {
        let last = self.rows.len().saturating_sub(if self.ends_here() { height } else { 1 });
        self.top = self.top.min(last);
    }

    /// The window holds the last turn that is known.
    pub fn ends_here(&self) -> bool {
        self.window.last().is_none_or(|(number, _)| number + 1 >= self.turns)
    }

    /// Moves by rows.
    pub fn scroll(&mut self, delta: isize, height: usize) {
        let before = self.top;
        self.top = self.top.saturating_add_signed(delta);
        self.clamp(height);
        // Who went to a turn near the end sees it at the top, and no key takes them back from there but up.
        if delta > 0 {
            self.top = self.top.max(before.min(self.rows.len().saturating_sub(1)));
        } else if before > self.top {
            self.top = self.top.max(before.saturating_add_signed(delta));
        }
    }

    /// The turn around which turns are wanted, when what is at hand ends soon and there is more.
    pub fn wants(&self, height: usize) -> Option<u64> {
        if self.asked.is_some() || self.failed.is_some() {
            return None;
        }
        let (first, last) = match (self.window.first(), self.window.last()) {
            (Some((first, _)), Some((last, _))) => (*first, *last),
            _ => return (self.turns > 0).then_some(self.goal.map_or(0, |(turn, _)| turn)),
        };
        if let Some((turn, _)) = self.goal
            && !(first..=last).contains(&turn)
        {
            return Some(turn);
        }
        let (above, below) = (self.top, self.rows.len().saturating_sub(self.top + height));
        let near = height * 2;
        let more = (above < near && first > 0) || (below < near && last + 1 < self.turns);
        // Around the middle of what is seen, so that the next window does not ask again at once.
        let middle = self.rows.get(self.top + height / 2).map_or_else(|| self.current(), |row| row.turn);
        more.then_some(middle)
    }

    /// The nearest of `turns` (ascending) after the current one, or before it.
    pub fn beside(&self, turns: &[u64], forward: bool) -> Option<u64> {
        let (turn, row) = self.anchor();
        if forward {
            turns.iter().copied().find(|other| *other > turn)
        } else {
            // In the middle of a turn its own beginning comes first.
            turns.iter().rev().copied().find(|other| *other < turn || (*other == turn && row > 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader with these turns at hand, three rows each.
    fn reader(turns: u64, at_hand: std::ops::Range<u64>) -> Reader {
        let turn = Turn {
            role: agents::sessions::Speaker::User,
            at: None,
            text: String::new(),
            reasoning: None,
            tools: Vec::new(),
            subagent: None,
            model: None,
            tokens: None,
        };
        let rows = at_hand.clone().flat_map(|turn| {
            (0..3).map(move |row| ReadRow {
                turn,
                line: Line::raw(format!("{turn}.{row}")),
                head: row == 0,
                fold: false,
            })
        });
        Reader {
            turns,
            rows: rows.collect(),
            window: at_hand.map(|number| (number, turn.clone())).collect(),
            ..Reader::default()
        }
    }

    #[test]
    fn more_is_asked_for_before_the_window_ends_and_only_where_there_is_more() {
        let mut reader = reader(100, 20..60);
        assert_eq!(reader.wants(10), Some(21), "at its top");
        reader.top = 60;
        assert_eq!(reader.wants(10), None, "in the middle");
        reader.top = 105;
        assert_eq!(reader.wants(10), Some(56), "at its end");
        reader.asked = Some(56);
        assert_eq!(reader.wants(10), None, "once");
        (reader.asked, reader.turns) = (None, 60);
        assert_eq!(reader.wants(10), None, "nothing behind it");
        reader.goal = Some((3, 0));
        assert_eq!(reader.wants(10), Some(3));
    }

    #[test]
    fn a_place_lasts_over_another_window_and_the_end_stays_at_the_bottom() {
        let mut before = reader(100, 20..60);
        before.top = 3 * 15 + 2;
        let anchor = before.anchor();
        assert_eq!(anchor, (35, 2));
        let mut after = reader(100, 30..80);
        assert!(after.go_to(anchor));
        assert_eq!(after.top, 3 * 5 + 2);
        assert!(!after.go_to((90, 0)));
        let mut end = reader(100, 60..100);
        end.scroll(1000, 10);
        assert_eq!(end.top, 110);
        let prompts = [2, 61, 90];
        assert_eq!((end.current(), end.beside(&prompts, true), end.beside(&prompts, false)), (96, None, Some(90)));
    }
}
