//! When the next frame is drawn: at once after a quiet moment, at most sixty a second in the long run, and later
//! for what nobody looks at. Pure; the driver asks it.

use std::time::{Duration, Instant};

/// The least time between two frames in the long run (clause F3: at most about sixty a second).
const FRAME: Duration = Duration::from_millis(16);

/// Frames that may follow one another at once after a quiet moment, so that a key's answer is not held back
/// because something else was drawn just before.
const BURST: u32 = 6;

/// How long a change that is only seen in the tab bar may wait.
pub const BESIDE: Duration = Duration::from_millis(100);

/// The pace of drawing.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// A frame is wanted, not before this.
    wanted: Option<Instant>,
    /// The frames drawn so far use up the time until here.
    used: Instant,
}

impl Pace {
    /// Nothing drawn yet.
    pub fn new(now: Instant) -> Self {
        Self { wanted: None, used: now }
    }

    /// Something changed that should be seen by `when`.
    pub fn want(&mut self, when: Instant) {
        self.wanted = Some(self.wanted.map_or(when, |wanted| wanted.min(when)));
    }

    /// When to draw; `None` when there is nothing to draw.
    pub fn next(&self) -> Option<Instant> {
        let earliest = self.used.checked_sub(FRAME * BURST).unwrap_or(self.used);
        self.wanted.map(|wanted| wanted.max(earliest))
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        self.wanted = None;
        self.used = self.used.max(now) + FRAME;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws as often as the pace allows while something is wanted all the time.
    fn frames(within: Duration) -> usize {
        let start = sys::clock::now();
        let (mut pace, mut now, mut count) = (Pace::new(start), start, 0);
        while now < start + within {
            pace.want(now);
            let next = pace.next().unwrap();
            now = now.max(next) + Duration::from_micros(1);
            pace.drawn(now);
            count += 1;
        }
        count
    }

    #[test]
    fn f3_a_flood_is_drawn_sixty_times_a_second() {
        assert!((620..=640).contains(&frames(Duration::from_secs(10))), "{}", frames(Duration::from_secs(10)));
    }

    #[test]
    fn after_a_quiet_moment_a_frame_is_drawn_at_once() {
        let now = sys::clock::now();
        let mut pace = Pace::new(now);
        assert_eq!(pace.next(), None);
        for _ in 0..3 {
            pace.want(now);
            assert_eq!(pace.next().map(|next| next <= now), Some(true));
            pace.drawn(now);
        }
    }

    #[test]
    fn what_is_urgent_does_not_wait_for_what_is_not() {
        let now = sys::clock::now();
        let mut pace = Pace::new(now);
        pace.want(now + BESIDE);
        assert_eq!(pace.next(), Some(now + BESIDE));
        pace.want(now);
        assert!(pace.next().is_some_and(|next| next <= now));
    }
}
