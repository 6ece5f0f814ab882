//! How much a flow is used and how that goes, and the score that this makes.
//!
//! Who counts, where and when is not known here: a [`Usage`] is handed in as a value, and equal
//! usage scores equally.

use std::time::Duration;

use crate::names::words;

/// How many classes of times there are.
pub const BUCKETS: usize = 32;

/// Of so many times the slowest one is among the slowest 5 of a hundred.
const FEW: u64 = 20;
/// Uses that count as many, so that more make no difference.
const MANY_USES: f64 = 10_000.0;
/// An average from which on a flow gains nothing by being fast, in milliseconds.
const SLOW_MS: f64 = 1_000.0;
/// The upper end of the first class of times, in microseconds; each class is twice as wide as the
/// one before, and the last, from 19 hours on, has no upper end.
const FIRST_MICROS: u128 = 64;

/// What is known of a flow's executions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Executions that came to an end.
    pub uses: u64,
    /// Those in which no step failed.
    pub successes: u64,
    /// Those whose time says something of the flow: where a person or a client's model does the
    /// steps, it does not.
    pub timed: u64,
    /// How long the timed ones took together.
    pub took: Duration,
    /// How long each of them took, by class.
    pub times: Times,
    /// Uses of the last 7 days, today included.
    pub last_7_days: u64,
    /// Uses of the last 30 days, today included.
    pub last_30_days: u64,
}

/// How often something took how long, in 32 classes: under 64 µs, then doubling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times([u64; BUCKETS]);

/// From 0.00 to 1.00, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u8);

words! {
    /// What a score means, in a word.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[schemars(inline)]
    pub enum Popularity {
        /// Under 0.30.
        Cold = "cold",
        /// From 0.30.
        Standard = "standard",
        /// From 0.60.
        Warm = "warm",
        /// From 0.80.
        Hot = "hot",
    }
}

impl Usage {
    /// 0.40 for many uses, 0.30 for successes, 0.20 for speed, and 0.10 for how much of the last
    /// month's use was in the last week.
    pub fn score(&self) -> Score {
        let average_ms = self.average().map_or(0.0, |average| average.as_secs_f64() * 1_000.0);
        let score = 0.40 * (real(self.uses) / MANY_USES).min(1.0)
            + 0.30 * share(self.successes, self.uses)
            + 0.20 * (1.0 - average_ms / SLOW_MS).max(0.0)
            + 0.10 * share(self.last_7_days, self.last_30_days);
        Score::of(score)
    }

    /// How many of a hundred uses succeed, with one decimal; none where there was no use.
    pub fn success_rate(&self) -> Option<f64> {
        (self.uses > 0).then(|| (share(self.successes, self.uses) * 1_000.0).round() / 10.0)
    }

    /// How long a use takes on average; none where no time is known.
    pub fn average(&self) -> Option<Duration> {
        let nanos = self.took.as_nanos().checked_div(u128::from(self.timed))?;
        Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// What 95 of a hundred uses stay within, estimated from the classes of times; none where no
    /// time is known. Of one use alone the time itself is known, and of a few it is that of the
    /// slowest, which is at least the average.
    pub fn p95(&self) -> Option<Duration> {
        if self.timed == 1 {
            return self.average();
        }
        let least = self.average().filter(|_| self.timed < FEW).unwrap_or_default();
        Some(self.times.percentile(95)?.max(least))
    }
}

impl Times {
    /// The class of a time, from 0.
    pub fn class(time: Duration) -> usize {
        let doublings = u128::BITS - (time.as_micros() / FIRST_MICROS).leading_zeros();
        usize::try_from(doublings).map_or(BUCKETS - 1, |class| class.min(BUCKETS - 1))
    }

    /// Counts so many of a class; a class that does not exist is the last.
    pub fn add(&mut self, class: usize, number: u64) {
        if let Some(count) = self.0.get_mut(class.min(BUCKETS - 1)) {
            *count = count.saturating_add(number);
        }
    }

    /// What so many of a hundred stay within. Within a class times are taken to be spread evenly.
    fn percentile(&self, percent: u32) -> Option<Duration> {
        let all: u128 = self.0.iter().map(|count| u128::from(*count)).sum();
        let rank = (all * u128::from(percent)).div_ceil(100);
        let (mut lower, mut upper, mut before) = (0_u128, FIRST_MICROS, 0_u128);
        for count in self.0.iter().map(|count| u128::from(*count)) {
            if count > 0 && before + count >= rank {
                let open = upper > FIRST_MICROS << (BUCKETS - 2);
                let width = if open { 0 } else { upper - lower };
                let micros = lower + width * (2 * (rank - before) - 1) / (2 * count);
                return Some(Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)));
            }
            before += count;
            (lower, upper) = (upper, upper * 2);
        }
        None
    }
}

impl Score {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and 100")]
    fn of(score: f64) -> Self {
        Self((score * 100.0).round().clamp(0.0, 100.0) as u8)
    }

    /// As a number with two decimals.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// What it means.
    pub fn popularity(self) -> Popularity {
        match self.0 {
            80.. => Popularity::Hot,
            60.. => Popularity::Warm,
            30.. => Popularity::Standard,
            _ => Popularity::Cold,
        }
    }
}

/// A part of a whole, from 0 to 1; nothing of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (real(part) / real(whole)).min(1.0) }
}

#[allow(clippy::cast_precision_loss, reason = "beyond 2^53 uses, the last digits make no difference")]
fn real(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(uses: u64, successes: u64, average_ms: u64, last_7_days: u64, last_30_days: u64) -> Usage {
        let took = Duration::from_millis(average_ms * uses);
        Usage { uses, successes, timed: uses, took, times: Times::default(), last_7_days, last_30_days }
    }

    #[test]
    fn the_score_weighs_uses_successes_speed_and_whether_use_is_recent() {
        for (row, score, word) in [
            (usage(0, 0, 0, 0, 0), "0.20", "cold"),
            (usage(1, 1, 0, 1, 1), "0.60", "warm"),
            (usage(50, 50, 50, 12, 50), "0.52", "standard"),
            (usage(500, 500, 50, 117, 500), "0.53", "standard"),
            (usage(5_000, 5_000, 0, 1_167, 5_000), "0.72", "warm"),
            (usage(5_000, 5_000, 0, 5_000, 5_000), "0.80", "hot"),
            (usage(6_925, 6_925, 0, 1_616, 6_925), "0.80", "hot"),
            (usage(10_000, 10_000, 500, 2_333, 10_000), "0.82", "hot"),
            (usage(10_000, 9_000, 800, 0, 2_000), "0.71", "warm"),
            (usage(3, 0, 2_000, 3, 3), "0.10", "cold"),
        ] {
            let found = row.score();
            assert_eq!((format!("{:.2}", found.value()).as_str(), found.popularity().word()), (score, word), "{row:?}");
        }
    }

    #[test]
    fn a_score_is_a_class_from_its_bound_on() {
        let words = [0, 29, 30, 59, 60, 79, 80, 100].map(|hundredths| Score(hundredths).popularity().word());
        assert_eq!(words, ["cold", "cold", "standard", "standard", "warm", "warm", "hot", "hot"]);
    }

    #[test]
    fn what_was_never_used_has_no_rate_and_no_times() {
        let unused = Usage::default();
        assert_eq!((unused.success_rate(), unused.average(), unused.p95()), (None, None, None));
        let guided = Usage { timed: 0, ..usage(3, 2, 0, 3, 3) };
        assert_eq!((guided.success_rate(), guided.average()), (Some(66.7), None));
    }

    #[test]
    fn every_time_has_one_class_and_each_is_twice_as_wide_as_the_one_before() {
        let class = |micros| Times::class(Duration::from_micros(micros));
        assert_eq!([class(0), class(63), class(64), class(127), class(128), class(1_000)], [0, 0, 1, 1, 2, 4]);
        for bound in 1..BUCKETS {
            let micros = 64 << (bound - 1);
            assert_eq!((class(micros - 1), class(micros)), (bound - 1, bound));
        }
        assert_eq!(Times::class(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_95th_percentile_lies_in_the_class_of_the_95th_of_a_hundred() {
        let mut usage = Usage::default();
        let mut took = |ms: u64, number| usage.times.add(Times::class(Duration::from_millis(ms)), number);
        took(1, 94);
        took(3_000, 6);
        let p95 = usage.p95().unwrap();
        assert!(p95 >= Duration::from_micros(64 << 15) && p95 < Duration::from_micros(64 << 16), "{p95:?}");
        usage.times.add(Times::class(Duration::from_millis(1)), 20);
        let p95 = usage.p95().unwrap();
        assert!(p95 >= Duration::from_micros(64 << 3) && p95 <= Duration::from_micros(64 << 4), "{p95:?}");
        let once = Usage { timed: 1, took: Duration::from_millis(3), ..usage };
        assert_eq!(once.p95(), Some(Duration::from_millis(3)));
        let twice = |micros: u64| {
            let mut twice = Usage { timed: 2, took: Duration::from_micros(2 * micros), ..Usage::default() };
            twice.times.add(Times::class(Duration::from_micros(micros)), 2);
            twice
        };
        assert!((1..200).all(|micros| twice(micros).p95() >= twice(micros).average()));
        let mut endless = Times::default();
        endless.add(BUCKETS + 7, 1);
        assert_eq!(endless.percentile(95), Some(Duration::from_micros(64 << 30)));
    }
}
