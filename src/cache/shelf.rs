//! Values with an age: fresh for a while, then asked for again, and a stale copy where that fails.
//!
//! Time is the injected clock's. One question per key is under way at a time; after an outage there
//! is a pause before the next, a short one where no copy bridges it and asking took long. What a value is and how it is loaded comes from the caller.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cached::{ConcurrentCloneCached as _, Expires, ShardedExpiringLruCache};
use chrono::{DateTime, TimeDelta, Utc};

use super::{Flights, Lifetime};
use crate::clock::Clock;
use crate::lock::lock;

/// The pause after a failed question while a stale copy can be served.
const PAUSE: TimeDelta = TimeDelta::seconds(30);
/// The pause after a question that failed slowly where there is no copy: who types, or asks for one thing
/// after the other, does not wait for the whole time limit each time.
const SHORT_PAUSE: TimeDelta = TimeDelta::seconds(10);
/// From when on a failure is slow.
const SLOW: Duration = Duration::from_secs(3);

/// What a shelf must know of a failed load.
pub trait Failure: Clone + Send + Sync + 'static {
    /// Before this time the same is not asked again.
    fn retry_at(&self) -> Option<DateTime<Utc>>;

    /// Whether that time holds on request, too.
    fn is_firm(&self) -> bool;

    /// Whether an older copy may stand in: yes for outages and limits, no for refusals.
    fn excusable(&self) -> bool;

    /// The failure that stands for a load that panicked.
    fn panicked() -> Self;
}

/// A value with its age.
#[derive(Debug, Clone)]
pub struct Loaded<V> {
    /// The value.
    pub value: V,
    /// When it was last known to be current.
    pub checked_at: DateTime<Utc>,
    /// How long it is served without asking; `None` for ever.
    pub fresh: Option<Lifetime>,
}

/// Why an older copy was served.
#[derive(Debug, Clone)]
pub struct Stale<E> {
    /// What went wrong when the newest state was asked for.
    pub reason: E,
    /// Since when the copy may be out of date: when it was last known to be current.
    pub since: DateTime<Utc>,
}

/// What a shelf hands out.
#[derive(Debug, Clone)]
pub struct Found<V, E> {
    /// The value and its age.
    pub loaded: Loaded<V>,
    /// Whether it was served without asking anybody.
    pub cached: bool,
    /// Set when asking failed and this is an older copy.
    pub stale: Option<Stale<E>>,
}

#[derive(Clone)]
struct ShelfEntry<V> {
    loaded: Loaded<V>,
    clock: Arc<dyn Clock>,
}

impl<V> Expires for ShelfEntry<V> {
    fn is_expired(&self) -> bool {
        self.loaded.fresh.is_some_and(|fresh| fresh.is_over(&*self.clock))
    }
}

#[derive(Clone)]
struct Landed<V, E> {
    outcome: Result<Loaded<V>, E>,
    asked: bool,
    old: Option<Loaded<V>>,
}

/// A bounded set of values by key.
pub struct Shelf<K, V: Clone, E: Clone> {
    within: Arc<ShelfState<K, V, E>>,
    flights: Flights<(K, bool), Landed<V, E>>,
}

struct ShelfState<K, V, E> {
    entries: ShardedExpiringLruCache<K, ShelfEntry<V>>,
    pauses: Mutex<HashMap<K, (Lifetime, E)>>,
    clock: Arc<dyn Clock>,
}

impl<K, V, E> Shelf<K, V, E>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    E: Failure,
{
    /// An empty shelf for at most `most` values.
    pub fn new(most: usize, clock: Arc<dyn Clock>) -> Self {
        // One shard: more would split the capacity, and this is a small map.
        let entries = match ShardedExpiringLruCache::builder().shards(1).max_size(most).build() {
            Ok(entries) => entries,
            Err(_) => ShardedExpiringLruCache::new(most),
        };
        Self {
            within: Arc::new(ShelfState { entries, pauses: Mutex::new(HashMap::new()), clock }),
            flights: Flights::new(),
        }
    }

    /// The value of a key: the fresh one, else a new one, else (where the failure allows it) the old one.
    ///
    /// `recall` finds a copy that outlived the process; `load` asks for the newest state and is given
    /// the old one. `refresh` asks even while a copy is fresh.
    pub async fn get<R, L, F>(&self, key: K, refresh: bool, recall: R, load: L) -> Result<Found<V, E>, E>
    where
        R: FnOnce() -> Option<Loaded<V>> + Send + 'static,
        L: FnOnce(Option<V>) -> F + Send + 'static,
        F: Future<Output = Result<Loaded<V>, E>> + Send + 'static,
    {
        let (entry, expired) = self.within.entries.cache_get_with_expiry_status(&key);
        if let (Some(entry), false, false) = (&entry, expired, refresh) {
            return Ok(Found { loaded: entry.loaded.clone(), cached: true, stale: None });
        }
        if let Some(reason) = self.within.pausing(&key, refresh) {
            return match entry {
                Some(entry) => Ok(stale(entry.loaded, reason, true)),
                None => Err(reason),
            };
        }
        let within = self.within.clone();
        let flight_key = key.clone();
        let landed = self
            .flights
            .join((key, refresh), move || within.fly(flight_key, refresh, recall, load))
            .await
            .unwrap_or_else(|| Landed { outcome: Err(E::panicked()), asked: true, old: None });
        match (landed.outcome, landed.old) {
            (Ok(loaded), _) => Ok(Found { loaded, cached: !landed.asked, stale: None }),
            (Err(reason), Some(old)) if reason.excusable() => Ok(stale(old, reason, false)),
            (Err(reason), _) => Err(reason),
        }
    }
}

impl<K, V, E> ShelfState<K, V, E>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    E: Failure,
{
    fn pausing(&self, key: &K, refresh: bool) -> Option<E> {
        let pauses = lock(&self.pauses);
        let (pause, reason) = pauses.get(key)?;
        // A caller who insists is held up by a limit's own time only.
        let held = !refresh || reason.retry_at().is_some() && reason.is_firm();
        (held && !pause.is_over(&*self.clock)).then(|| reason.clone())
    }

    async fn fly<R, L, F>(self: Arc<Self>, key: K, refresh: bool, recall: R, load: L) -> Landed<V, E>
    where
        R: FnOnce() -> Option<Loaded<V>>,
        L: FnOnce(Option<V>) -> F,
        F: Future<Output = Result<Loaded<V>, E>>,
    {
        // Looked up once more: the flight before this one may have landed in between.
        let old = match self.entries.cache_peek_with_expiry_status(&key) {
            (Some(entry), _) => Some(entry.loaded),
            (None, _) => recall().inspect(|loaded| self.put(&key, loaded)),
        };
        if let (Some(loaded), false) = (&old, refresh)
            && loaded.fresh.is_none_or(|fresh| !fresh.is_over(&*self.clock))
        {
            return Landed { outcome: Ok(loaded.clone()), asked: false, old };
        }
        let began = self.clock.reading();
        let outcome = load(old.as_ref().map(|loaded| loaded.value.clone())).await;
        match &outcome {
            Ok(loaded) => {
                lock(&self.pauses).remove(&key);
                self.put(&key, loaded);
            }
            Err(reason) => {
                let slow = self.clock.reading().saturating_sub(began) >= SLOW;
                let least = match (&old, slow) {
                    // What is said of it is that it may be asked again then.
                    _ if reason.retry_at().is_some() => TimeDelta::zero(),
                    (Some(_), _) => PAUSE,
                    (None, true) => SHORT_PAUSE,
                    (None, false) => TimeDelta::zero(),
                };
                let asked_for = reason.retry_at().map_or(TimeDelta::zero(), |at| at - self.clock.now());
                let mut pauses = lock(&self.pauses);
                pauses.retain(|_, (pause, _)| !pause.is_over(&*self.clock));
                if let (Some(old), false) = (&old, reason.excusable()) {
                    // Who is refused is not answered by the copy the next time, either.
                    let fresh = Some(Lifetime::new(&*self.clock, TimeDelta::zero()));
                    self.put(&key, &Loaded { fresh, ..old.clone() });
                }
                if reason.excusable() {
                    pauses.insert(key, (Lifetime::new(&*self.clock, least.max(asked_for)), reason.clone()));
                }
            }
        }
        Landed { outcome, asked: true, old }
    }

    fn put(&self, key: &K, loaded: &Loaded<V>) {
        self.entries.set(key.clone(), ShelfEntry { loaded: loaded.clone(), clock: self.clock.clone() });
    }
}

fn stale<V, E>(old: Loaded<V>, reason: E, cached: bool) -> Found<V, E> {
    let since = old.checked_at;
    Found { loaded: old, cached, stale: Some(Stale { reason, since }) }
}

/// How long ago `then` was, never less than nothing (clocks are set back).
pub(crate) fn age(now: DateTime<Utc>, then: DateTime<Utc>) -> Duration {
    (now - then).to_std().unwrap_or_default()
}

impl<K, V: Clone, E: Clone> fmt::Debug for Shelf<K, V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::clock::ManualClock;

    #[derive(Debug, Clone, PartialEq)]
    enum FetchTrouble {
        Outage,
        Limit(DateTime<Utc>),
        Refused,
    }

    impl Failure for FetchTrouble {
        fn retry_at(&self) -> Option<DateTime<Utc>> {
            if let Self::Limit(at) = self { Some(*at) } else { None }
        }
        fn is_firm(&self) -> bool {
            true
        }
        fn excusable(&self) -> bool {
            *self != Self::Refused
        }
        fn panicked() -> Self {
            Self::Outage
        }
    }

    struct Bench {
        clock: Arc<ManualClock>,
        shelf: Shelf<&'static str, u32, FetchTrouble>,
        asked: Arc<AtomicUsize>,
        /// How long a question takes.
        takes: Duration,
    }

    impl Bench {
        fn new() -> Self {
            Self::taking(0)
        }

        fn taking(seconds: u64) -> Self {
            let clock = ManualClock::at(DateTime::UNIX_EPOCH);
            let takes = Duration::from_secs(seconds);
            Self { shelf: Shelf::new(4, clock.clone()), clock, asked: Arc::default(), takes }
        }

        async fn ask(
            &self,
            refresh: bool,
            answer: Result<u32, FetchTrouble>,
        ) -> Result<Found<u32, FetchTrouble>, FetchTrouble> {
            let (asked, now) = (self.asked.clone(), self.clock.now());
            let (clock, takes) = (self.clock.clone(), self.takes);
            let fresh = Some(Lifetime::new(&*self.clock, TimeDelta::minutes(15)));
            self.shelf
                .get(
                    "key",
                    refresh,
                    || None,
                    move |_old| async move {
                        asked.fetch_add(1, Ordering::SeqCst);
                        clock.advance(takes);
                        answer.map(|value| Loaded { value, checked_at: now, fresh })
                    },
                )
                .await
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::SeqCst)
        }
    }

    #[tokio::test]
    async fn a_value_is_asked_for_once_in_its_life() {
        let bench = Bench::new();
        assert!(!bench.ask(false, Ok(1)).await.expect("loaded").cached);
        bench.clock.advance(Duration::from_secs(899));
        let found = bench.ask(false, Ok(2)).await.expect("kept");
        assert_eq!((found.loaded.value, found.cached, bench.asked()), (1, true, 1));
        bench.clock.advance(Duration::from_secs(1));
        assert_eq!(bench.ask(false, Ok(2)).await.expect("loaded").loaded.value, 2);
        assert_eq!(bench.ask(true, Ok(3)).await.expect("loaded").loaded.value, 3);
        assert_eq!(bench.asked(), 3);
    }

    #[tokio::test]
    async fn an_outage_is_bridged_and_not_asked_about_again_at_once() {
        let bench = Bench::new();
        bench.ask(false, Ok(1)).await.expect("loaded");
        bench.clock.advance(Duration::from_secs(1000));
        let found = bench.ask(false, Err(FetchTrouble::Outage)).await.expect("stale");
        let stale = found.stale.expect("said");
        assert_eq!((found.loaded.value, stale.reason, stale.since), (1, FetchTrouble::Outage, DateTime::UNIX_EPOCH));
        bench.clock.advance(Duration::from_secs(29));
        assert!(bench.ask(false, Ok(2)).await.expect("stale").stale.is_some());
        assert_eq!(bench.asked(), 2);
        assert!(bench.ask(true, Ok(2)).await.expect("asked").stale.is_none());
        bench.clock.advance(Duration::from_secs(2));
        assert_eq!(bench.ask(false, Ok(9)).await.expect("kept").loaded.value, 2);
    }

    #[tokio::test]
    async fn a_slow_outage_without_a_copy_is_remembered_for_some_seconds() {
        let bench = Bench::taking(25);
        assert_eq!(bench.ask(false, Err(FetchTrouble::Outage)).await.err(), Some(FetchTrouble::Outage));
        bench.clock.advance(Duration::from_secs(9));
        assert_eq!(bench.ask(false, Ok(1)).await.err(), Some(FetchTrouble::Outage));
        assert_eq!(bench.asked(), 1);
        bench.clock.advance(Duration::from_secs(1));
        assert_eq!(bench.ask(false, Ok(2)).await.expect("loaded").loaded.value, 2);
    }

    #[tokio::test]
    async fn who_insists_asks_during_an_outage() {
        let bench = Bench::taking(25);
        assert_eq!(bench.ask(false, Err(FetchTrouble::Outage)).await.err(), Some(FetchTrouble::Outage));
        assert_eq!(bench.ask(true, Ok(1)).await.expect("loaded").loaded.value, 1);
    }

    #[tokio::test]
    async fn a_quick_failure_is_asked_about_again() {
        let bench = Bench::new();
        assert_eq!(bench.ask(false, Err(FetchTrouble::Outage)).await.err(), Some(FetchTrouble::Outage));
        assert_eq!(bench.ask(false, Ok(1)).await.expect("loaded").loaded.value, 1);
    }

    #[tokio::test]
    async fn a_limit_holds_up_even_a_caller_who_insists() {
        let bench = Bench::new();
        let limit = FetchTrouble::Limit(DateTime::UNIX_EPOCH + TimeDelta::seconds(300));
        assert_eq!(bench.ask(false, Err(limit.clone())).await.err(), Some(limit.clone()));
        bench.clock.advance(Duration::from_secs(299));
        assert_eq!(bench.ask(true, Ok(1)).await.err(), Some(limit));
        assert_eq!(bench.asked(), 1);
        bench.clock.advance(Duration::from_secs(1));
        assert_eq!(bench.ask(false, Ok(1)).await.expect("loaded").loaded.value, 1);
    }

    #[tokio::test]
    async fn a_refusal_is_not_bridged() {
        let bench = Bench::new();
        bench.ask(false, Ok(1)).await.expect("loaded");
        bench.clock.advance(Duration::from_secs(1000));
        assert_eq!(bench.ask(false, Err(FetchTrouble::Refused)).await.err(), Some(FetchTrouble::Refused));
        assert_eq!(bench.ask(false, Ok(2)).await.expect("loaded").loaded.value, 2);
    }
}
