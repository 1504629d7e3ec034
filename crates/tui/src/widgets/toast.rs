//! Toasts: short words about what just happened, each with an end.
//! It never reads the clock; the loop passes `now` in and sleeps until `next_expiry`.
//! The driver pushes, the footer shows.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::theme::{Role, Theme};

/// How many are kept; the oldest goes when another one comes.
const KEPT: usize = 16;
/// How long words stay that need no action.
const SHORT: Duration = Duration::from_secs(4);
/// How long warnings and errors stay.
const LONG: Duration = Duration::from_secs(8);

/// What a toast is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something to know.
    Info,
    /// Something worked.
    Ok,
    /// Something to look at.
    Warn,
    /// Something did not work.
    Err,
}

impl Kind {
    /// How long a toast of this kind stays: 4 s, warnings and errors 8 s.
    pub fn stay(self) -> Duration {
        match self {
            Self::Info | Self::Ok => SHORT,
            Self::Warn | Self::Err => LONG,
        }
    }

    /// The sign before the words, so that the kind is not said by colour alone.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Info => "·",
            Self::Ok => "✓",
            Self::Warn => "!",
            Self::Err => "✗",
        }
    }

    /// The role it is drawn in.
    pub fn role(self) -> Role {
        match self {
            Self::Info => Role::Info,
            Self::Ok => Role::Ok,
            Self::Warn => Role::Warn,
            Self::Err => Role::Error,
        }
    }

    /// The style it is drawn in.
    pub fn style(self, theme: &Theme) -> ratatui::style::Style {
        theme.style(self.role())
    }
}

/// Texts that are kept for reading again.
const LOGGED: usize = 200;

/// One toast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// What it is about.
    pub kind: Kind,
    /// The words, one line.
    pub text: String,
    /// When it goes.
    pub until: Instant,
}

/// The toasts that are still to be seen; the newest one is shown, an older one comes back if it outlives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toasts {
    queue: VecDeque<Toast>,
    log: VecDeque<(Kind, String)>,
}

impl Toasts {
    /// Shows a text from `now` on. The same words again only start their time anew.
    pub fn push(&mut self, kind: Kind, text: impl Into<String>, now: Instant) {
        let text = text.into();
        self.note(kind, text.clone());
        self.show(kind, text, now);
    }

    /// As [`Toasts::push`], for a text that is not worth being read again.
    pub fn show(&mut self, kind: Kind, text: String, now: Instant) {
        self.queue.retain(|toast| toast.kind != kind || toast.text != text);
        if self.queue.len() >= KEPT {
            self.queue.pop_front();
        }
        self.queue.push_back(Toast { kind, text, until: now + kind.stay() });
    }

    /// Keeps a text for [`Toasts::log`] without showing it.
    pub fn note(&mut self, kind: Kind, text: String) {
        if self.log.len() >= LOGGED {
            self.log.pop_front();
        }
        self.log.push_back((kind, text));
    }

    /// What was told so far, the oldest first; a bounded number.
    pub fn log(&self) -> impl DoubleEndedIterator<Item = &(Kind, String)> {
        self.log.iter()
    }

    /// Drops what is over and says whether another text (or none) is to be shown now.
    pub fn expire(&mut self, now: Instant) -> bool {
        let before = self.queue.len();
        let shown = self.current().map(|toast| toast.until);
        self.queue.retain(|toast| toast.until > now);
        before != self.queue.len() && shown.is_some_and(|until| until <= now)
    }

    /// When [`Toasts::expire`] is to be called next; `None` while nothing is shown.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.current().map(|toast| toast.until)
    }

    /// The one to show.
    pub fn current(&self) -> Option<&Toast> {
        self.queue.back()
    }

    /// Takes the shown one away before its time (esc), and says whether there was one.
    pub fn dismiss(&mut self) -> bool {
        self.queue.pop_back().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any instant will do; tests take it where the clock's ban does not reach.
    #[expect(clippy::disallowed_methods, reason = "a starting point, never compared with the real time")]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn the_newest_is_shown_and_an_outliving_error_comes_back() {
        let t = start();
        let at = |s: u64| t + Duration::from_secs(s);
        let mut toasts = Toasts::default();
        assert_eq!((toasts.next_expiry(), toasts.expire(t)), (None, false));
        toasts.push(Kind::Err, "pdf could not be removed", t);
        toasts.push(Kind::Ok, "enabled review", at(1));
        assert_eq!(toasts.current().map(|toast| toast.text.as_str()), Some("enabled review"));
        assert_eq!(toasts.next_expiry(), Some(at(5)));
        assert!(!toasts.expire(at(4)));
        assert!(toasts.expire(at(5)));
        assert_eq!(toasts.current().map(|toast| toast.kind), Some(Kind::Err));
        assert_eq!(toasts.next_expiry(), Some(at(8)));
        assert!(toasts.expire(at(8)));
        assert_eq!(toasts.current(), None);
    }

    #[test]
    fn the_same_words_start_anew_and_the_queue_is_bounded() {
        let t = start();
        let mut toasts = Toasts::default();
        toasts.push(Kind::Info, "a", t);
        toasts.push(Kind::Info, "a", t + Duration::from_secs(2));
        assert_eq!(toasts.queue.len(), 1);
        assert_eq!(toasts.next_expiry(), Some(t + Duration::from_secs(6)));
        for i in 0..100 {
            toasts.push(Kind::Warn, i.to_string(), t);
        }
        assert_eq!(toasts.queue.len(), KEPT);
        assert!(toasts.dismiss());
        assert_eq!(toasts.current().map(|toast| toast.text.as_str()), Some("98"));
    }
}
