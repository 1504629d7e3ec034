//! What a killed process left is settled before the next change: a half-made one is taken back, a half-undone one is
//! undone to its end. Where somebody else has been at a file since, it stays as it is.

use super::super::sweep;
use super::back::Now;
use super::{Entry, Open, State, Step, store};
use crate::Failure;

impl Open {
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        let open: Vec<Entry> = self
            .history
            .entries
            .iter()
            .filter(|entry| matches!(entry.state, State::Begun | State::Undoing))
            .cloned()
            .collect();
        for entry in open {
            for step in &entry.steps {
                if let Step::Write(written) = step {
                    sweep(&written.target);
                }
            }
            let state = self.settled(&entry);
            self.mark(entry.id, state)?;
        }
        store::shorten(&self.journal.file(), &self.history)
    }

    fn settled(&self, entry: &Entry) -> State {
        let now: Vec<Now> = entry.steps.iter().map(|step| self.journal.now(step)).collect();
        let all = |wanted: Now| now.iter().all(|now| *now == wanted);
        if entry.state == State::Begun && all(Now::After) {
            return State::Done;
        }
        let mut left = false;
        for step in entry.steps.iter().rev() {
            left |= match step {
                // A trash that is not whole knows itself what is still at its place.
                Step::Trash { entry, .. } => self.journal.is_kept(step) && self.restore_half(entry).is_err(),
                _ => self.journal.now(step) != Now::Else && self.take_back(step, &mut |_, _, _| Ok(())).is_err(),
            };
        }
        match (entry.state, left) {
            (State::Undoing, false) => State::Undone,
            (_, false) => State::Failed,
            (_, true) => State::Done,
        }
    }

    fn restore_half(&self, entry: &str) -> Result<(), Failure> {
        self.journal.trash().restore(entry, &mut |_, _, _| Err(Failure::new("it needs a command"))).map(drop)
    }
}
