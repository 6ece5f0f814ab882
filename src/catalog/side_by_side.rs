//! Work on many files at once, on as many threads as there are processors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads than this wait for memory more than they work.
const MOST_THREADS: usize = 8;
/// For fewer items than this no thread is worth starting.
const WORTH_A_THREAD: usize = 8;

/// Works on every item; the results come in the order of the items.
pub(super) fn side_by_side<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = processors.min(items.len() / WORTH_A_THREAD);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::with_capacity(items.len() / threads);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return done };
            done.push((number, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut all = share();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                // Told where it is waited for, as if it had happened here.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_however_many_there_are() {
        for count in [0, 1, 7, 16, 1_000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(side_by_side(&items, |item| item * 3), items.iter().map(|item| item * 3).collect::<Vec<_>>());
        }
    }
}
