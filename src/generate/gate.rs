//! How many calls of one model are made at once: fewer after a limit, more again as calls work out.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::lock::lock;

/// Lets so many calls through at once as a model's server bears.
#[derive(Debug)]
pub(super) struct Gate {
    most: f64,
    state: Mutex<GateState>,
    changed: Notify,
}

#[derive(Debug)]
struct GateState {
    /// How many calls may be under way.
    limit: f64,
    under_way: usize,
    /// Nothing begins before, by the clock's reading.
    not_before: Duration,
    /// When the limit was last halved, so that calls which were sent together halve it once.
    halved: Duration,
}

/// A call that was let through. Letting go of it makes room for another.
#[derive(Debug)]
pub(super) struct Passage<'a> {
    gate: &'a Gate,
    /// When it was let through.
    begun: Duration,
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        self.gate.with(|state| state.under_way = state.under_way.saturating_sub(1));
        self.gate.changed.notify_waiters();
    }
}

impl Gate {
    /// One that lets at most so many through.
    pub(super) fn of(most: usize) -> Self {
        let most = f64::from(u32::try_from(most.max(1)).unwrap_or(u32::MAX));
        let state = GateState { limit: most, under_way: 0, not_before: Duration::ZERO, halved: Duration::ZERO };
        Self { most, state: Mutex::new(state), changed: Notify::new() }
    }

    fn with<T>(&self, what: impl FnOnce(&mut GateState) -> T) -> T {
        what(&mut lock(&self.state))
    }

    /// When the next call may begin, by the clock's reading.
    pub(super) fn opens(&self) -> Duration {
        self.with(|state| state.not_before)
    }

    /// Waits until a call may begin, and tells how long a limit lasts that is waited for; nothing where it is over.
    pub(super) async fn enter(&self, clock: &dyn Clock, told: impl Fn(Option<Duration>)) -> Passage<'_> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on nothing that changes is missed.
            changed.as_mut().enable();
            let now = clock.reading();
            let pause = self.with(|state| {
                let full = f64::from(u32::try_from(state.under_way).unwrap_or(u32::MAX)) + 1.0 > state.limit.max(1.0);
                let pause = Some(state.not_before.saturating_sub(now)).filter(|pause| !pause.is_zero());
                if !full && pause.is_none() {
                    state.under_way += 1;
                    return None;
                }
                Some(pause)
            });
            told(pause.flatten());
            match pause {
                None => return Passage { gate: self, begun: now },
                Some(None) => changed.await,
                Some(Some(pause)) => {
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = changed => {}
                    }
                }
            }
        }
    }

    /// A call worked out: one more may be made at once by the time that as many did.
    pub(super) fn worked(&self) {
        self.with(|state| state.limit = (state.limit + 1.0 / state.limit.max(1.0)).min(self.most));
        self.changed.notify_waiters();
    }

    /// A call met a limit: half as many at once from now on, and none before the time that is given.
    pub(super) fn limited(&self, passage: &Passage<'_>, now: Duration, until: Duration) {
        self.with(|state| {
            if passage.begun >= state.halved {
                state.limit = (state.limit / 2.0).max(1.0);
                state.halved = now;
            }
            state.not_before = state.not_before.max(until);
        });
    }

    #[cfg(test)]
    fn at_once(&self) -> f64 {
        self.with(|state| state.limit.floor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn a_limit_halves_the_calls_at_once_and_they_grow_back() {
        let gate = Gate::of(8);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (first, second) =
            runtime.block_on(async { (gate.enter(&SystemClock, drop).await, gate.enter(&SystemClock, drop).await) });
        let later = first.begun.max(second.begun) + Duration::from_millis(1);
        gate.limited(&first, later, Duration::ZERO);
        // What was sent before the first limit came back says nothing new.
        gate.limited(&second, later, Duration::ZERO);
        assert!((gate.at_once() - 4.0).abs() < 0.1);
        for _ in 0..200 {
            gate.worked();
        }
        assert!((gate.at_once() - 8.0).abs() < 0.1);
    }
}
