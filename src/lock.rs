//! Locking what threads share, also after one of them panicked. What is kept under a lock is not known here.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after another thread panicked: every value kept so stays whole between statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
