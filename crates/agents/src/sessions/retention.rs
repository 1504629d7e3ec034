//! What an agent will delete by its own rule before long: pure arithmetic on sources. `doctor` tells it.

use std::path::PathBuf;

use super::source::Source;

/// Nanoseconds of a day.
const DAY: i128 = 24 * 60 * 60 * 1_000_000_000;

/// An agent's rule: conversations that were not changed for so long go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days without a change.
    pub days: u64,
    /// The name of the setting.
    pub setting: &'static str,
    /// The file that it is, or would be, in.
    pub file: PathBuf,
    /// Nobody has set it.
    pub is_default: bool,
}

/// How many conversations go within the next days, and when the first of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiring {
    /// How many files.
    pub count: u64,
    /// When the first one may go, nanoseconds since 1970; it may have passed, since agents clean up when they start.
    pub first: i128,
    /// When the last one of them may go.
    pub last: i128,
}

impl Retention {
    /// Which of `sources` go within `soon` days of `now` (nanoseconds since 1970); `None` when none does.
    pub fn expiring<'a>(&self, sources: impl Iterator<Item = &'a Source>, now: i128, soon: u32) -> Option<Expiring> {
        let life = i128::from(self.days).saturating_mul(DAY);
        let until = now.saturating_add(i128::from(soon) * DAY);
        let ends = sources.map(|source| source.mtime.saturating_add(life)).filter(|end| *end <= until);
        ends.fold(None, |sum: Option<Expiring>, end| {
            let sum = sum.unwrap_or(Expiring { count: 0, first: end, last: end });
            Some(Expiring { count: sum.count + 1, first: sum.first.min(end), last: sum.last.max(end) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Kind;
    use super::*;

    #[test]
    fn those_that_end_soon_are_counted() {
        let rule = Retention { days: 30, setting: "s", file: PathBuf::new(), is_default: true };
        let at = |days: i128| Source {
            path: PathBuf::new(),
            kind: Kind::Lines,
            size: 0,
            mtime: days * DAY,
            inode: 0,
            archived: false,
        };
        let sources: Vec<Source> = [1, 5, 7, 8, 30].map(at).to_vec();
        let now = 30 * DAY;
        let found = rule.expiring(sources.iter(), now, 7).unwrap();
        assert_eq!((found.count, found.first, found.last), (3, 31 * DAY, 37 * DAY));
        assert_eq!(rule.expiring(sources[3..].iter(), now, 7), None);
        let forever = Retention { days: u64::MAX, ..rule };
        assert_eq!(forever.expiring(sources.iter(), now, 7), None);
    }
}
