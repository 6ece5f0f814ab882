//! Now, and fresh ids: the only room that asks the machine for the time or for randomness.
//!
//! Everything else is handed an [`Arc<dyn Clock>`](Clock), so a test can hold time still or let
//! sixteen minutes pass without sleeping.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// What time it is, how much has passed, and ids nobody can guess.
pub trait Clock: Send + Sync + 'static {
    /// The time of day, for time stamps and for ages that outlive this process.
    fn now(&self) -> DateTime<Utc>;

    /// A reading that only ever grows, for measuring how long something took.
    fn reading(&self) -> Duration;

    /// A number that nobody can guess and that does not come twice.
    fn fresh(&self) -> u64;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The machine's clock, ready to be shared.
    pub fn shared() -> Arc<dyn Clock> {
        Arc::new(Self)
    }
}

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the room that may ask for the time")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    #[allow(clippy::disallowed_methods, reason = "this is the room that may ask for the time")]
    fn reading(&self) -> Duration {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }

    fn fresh(&self) -> u64 {
        // Without the system's randomness (a broken sandbox) the time and a counter still keep
        // ids apart; nothing that must stay secret is made of them.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        getrandom::u64().unwrap_or_else(|_| {
            let nanos = u64::try_from(self.now().timestamp_nanos_opt().unwrap_or(0)).unwrap_or(0);
            nanos.rotate_left(17) ^ NEXT.fetch_add(1, Ordering::Relaxed)
        })
    }
}

/// The id of an internal error: it stands in what the caller is told, and in the log.
pub fn error_id(clock: &dyn Clock) -> String {
    format!("{:016x}", clock.fresh())
}

/// A clock that moves only when told to, with ids that count up: for tests and examples.
#[cfg(feature = "internals")]
#[derive(Debug)]
pub struct ManualClock {
    start: DateTime<Utc>,
    passed_micros: AtomicU64,
    next: AtomicU64,
}

#[cfg(feature = "internals")]
impl ManualClock {
    /// A clock that stands at `start`.
    pub fn at(start: DateTime<Utc>) -> Arc<Self> {
        Arc::new(Self { start, passed_micros: AtomicU64::new(0), next: AtomicU64::new(1) })
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.passed_micros.fetch_add(micros, Ordering::SeqCst);
    }
}

#[cfg(feature = "internals")]
impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        let micros = i64::try_from(self.passed_micros.load(Ordering::SeqCst)).unwrap_or(i64::MAX);
        self.start + TimeDelta::microseconds(micros)
    }

    fn reading(&self) -> Duration {
        Duration::from_micros(self.passed_micros.load(Ordering::SeqCst))
    }

    fn fresh(&self) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst)
    }
}
