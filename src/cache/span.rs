//! How long something holds, by two clocks: the time of day, which outlives a process and can be set, and
//! the steady one, which can't. Whichever ends first ends it.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::clock::Clock;

/// A stretch of time. One that begins in the future is over: some clock was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    from: DateTime<Utc>,
    until: DateTime<Utc>,
    /// Its end as a reading of the steady clock.
    ends: Duration,
}

impl Lifetime {
    /// Begins now.
    pub fn new(clock: &dyn Clock, length: TimeDelta) -> Self {
        Self::since(clock, clock.now(), length)
    }

    /// Began at `from`, perhaps in another process.
    pub fn since(clock: &dyn Clock, from: DateTime<Utc>, length: TimeDelta) -> Self {
        let now = clock.now();
        let until = from.checked_add_signed(length).unwrap_or(DateTime::<Utc>::MAX_UTC);
        let left = if now < from { Duration::ZERO } else { (until - now).to_std().unwrap_or_default() };
        Self { from, until, ends: clock.reading().saturating_add(left) }
    }

    /// Whether it has ended by either clock.
    pub fn is_over(&self, clock: &dyn Clock) -> bool {
        self.left(clock).is_zero()
    }

    /// What is left of it.
    pub fn left(&self, clock: &dyn Clock) -> Duration {
        let now = clock.now();
        if now < self.from {
            return Duration::ZERO;
        }
        let by_day = (self.until - now).to_std().unwrap_or_default();
        by_day.min(self.ends.saturating_sub(clock.reading()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Two hands that are set apart from each other.
    struct Hands(Mutex<(DateTime<Utc>, Duration)>);

    impl Hands {
        fn at(day: i64, steady: u64) -> Self {
            Self(Mutex::new((seconds(day), Duration::from_secs(steady))))
        }

        fn set(&self, day: i64, steady: u64) {
            *self.0.lock().expect("whole") = (seconds(day), Duration::from_secs(steady));
        }
    }

    impl Clock for Hands {
        fn now(&self) -> DateTime<Utc> {
            self.0.lock().expect("whole").0
        }
        fn reading(&self) -> Duration {
            self.0.lock().expect("whole").1
        }
        fn fresh(&self) -> u64 {
            0
        }
    }

    fn seconds(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).expect("a time")
    }

    #[test]
    fn whichever_clock_ends_first_ends_it() {
        let hands = Hands::at(1_000_000, 50);
        let span = Lifetime::new(&hands, TimeDelta::seconds(900));
        for (day, steady, left) in [
            (1_000_000, 50, 900),
            (1_000_899, 949, 1),
            // The day was set forth, or the machine slept.
            (1_000_900, 60, 0),
            // The day was set back by a little, and by a lot.
            (1_000_001, 950, 0),
            (990_000, 60, 0),
        ] {
            hands.set(day, steady);
            assert_eq!((span.left(&hands).as_secs(), span.is_over(&hands)), (left, left == 0), "{day} {steady}");
        }
    }

    #[test]
    fn what_began_in_the_future_is_over_and_stays_so() {
        let hands = Hands::at(1000, 0);
        let span = Lifetime::since(&hands, seconds(2000), TimeDelta::seconds(900));
        assert!(span.is_over(&hands));
        hands.set(2100, 1100);
        assert!(span.is_over(&hands));
    }

    #[test]
    fn a_length_beyond_all_time_is_long() {
        let hands = Hands::at(1000, 0);
        assert!(Lifetime::new(&hands, TimeDelta::MAX).left(&hands) > Duration::from_hours(24));
    }
}
