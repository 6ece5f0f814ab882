//! One fetch per key, however many wait for it.
//!
//! A flight belongs to all who wait: a caller that gives up harms nobody, and when the last one has
//! gone the work is stopped. What is fetched is not known here.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, Weak};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::task::AbortHandle;

use crate::lock::lock;

/// The fetches that are under way, by key.
pub struct Flights<K, T: Clone> {
    under_way: Mutex<HashMap<K, Weak<Flight<T>>>>,
}

struct Flight<T: Clone> {
    outcome: Shared<BoxFuture<'static, Option<T>>>,
    task: AbortHandle,
}

impl<T: Clone> Drop for Flight<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<K, T> Flights<K, T>
where
    K: Hash + Eq,
    T: Clone + Send + Sync + 'static,
{
    /// No flight is under way.
    pub fn new() -> Self {
        Self { under_way: Mutex::new(HashMap::new()) }
    }

    /// Joins the flight of this key, or starts one; `None` when its work panicked.
    ///
    /// A flight that has landed is not joined: who asks later gets a later answer.
    pub async fn join<F>(&self, key: K, start: impl FnOnce() -> F) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let flight = {
            let mut under_way = lock(&self.under_way);
            under_way.retain(|_, flight| flight.strong_count() > 0);
            let joined = under_way.get(&key).and_then(Weak::upgrade).filter(|flight| flight.outcome.peek().is_none());
            if let Some(flight) = joined {
                flight
            } else {
                let task = tokio::spawn(start());
                let flight = std::sync::Arc::new(Flight {
                    task: task.abort_handle(),
                    outcome: async move { task.await.ok() }.boxed().shared(),
                });
                under_way.insert(key, std::sync::Arc::downgrade(&flight));
                flight
            }
        };
        flight.outcome.clone().await
    }
}

impl<K, T> Default for Flights<K, T>
where
    K: Hash + Eq,
    T: Clone + Send + Sync + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K, T: Clone> fmt::Debug for Flights<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn fifty_callers_share_one_flight() {
        let flights = Arc::new(Flights::<&str, usize>::new());
        let started = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Semaphore::new(0));
        let callers: Vec<_> = (0..50)
            .map(|_| {
                let (flights, started, gate) = (flights.clone(), started.clone(), gate.clone());
                tokio::spawn(async move {
                    flights
                        .join("key", || async move {
                            let number = started.fetch_add(1, Ordering::SeqCst) + 1;
                            let _open = gate.acquire().await;
                            number
                        })
                        .await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        gate.add_permits(1);
        for caller in callers {
            assert_eq!(caller.await.expect("no panic"), Some(1));
        }
        assert_eq!(started.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn when_all_callers_have_gone_the_work_stops() {
        struct Announced(Arc<Semaphore>);
        impl Drop for Announced {
            fn drop(&mut self) {
                self.0.add_permits(1);
            }
        }
        let flights = Flights::<&str, ()>::new();
        let stopped = Arc::new(Semaphore::new(0));
        let told = Announced(stopped.clone());
        {
            let waiting = flights.join("key", || async move {
                let _told = told;
                std::future::pending::<()>().await;
            });
            assert!(waiting.now_or_never().is_none());
        }
        assert!(stopped.acquire().await.is_ok());
    }

    #[tokio::test]
    async fn a_panic_is_an_absent_answer_and_the_next_caller_starts_anew() {
        let flights = Flights::<&str, u8>::new();
        let fallen: Option<u8> = flights.join("key", || async { panic!("on purpose") }).await;
        assert_eq!(fallen, None);
        assert_eq!(flights.join("key", || async { 7 }).await, Some(7));
    }
}
