//! Counts on their way to the store: gathered in memory, written by a thread of their own that ends
//! when there is nothing left to write.
//!
//! Nobody waits for it, except at the very end and for a moment only. A store that can't be written
//! is noted in the log once; what it should have kept is lost, unless another process was merely
//! in the way.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::lock::lock;
use crate::store::{Counts, Store, StoreError};

/// The pause between two batches: many calls in a row are one transaction, not many.
const PAUSE: Duration = Duration::from_millis(250);

/// Where counts are gathered.
#[derive(Debug)]
pub(super) struct Ledger {
    store: Store,
    state: Mutex<LedgerState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct LedgerState {
    counts: Counts,
    /// Whether a thread writes, or pauses before it goes on.
    writing: bool,
    /// Whether somebody waits for the end, so that there is no pause.
    hurried: bool,
    /// Whether the log says already that counts are lost.
    told: bool,
}

impl Ledger {
    pub(super) fn new(store: Store) -> Self {
        Self { store, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Counts something; it is written soon.
    pub(super) fn add(self: &Arc<Self>, count: impl FnOnce(&mut Counts)) {
        let mut state = self.state();
        count(&mut state.counts);
        self.start(&mut state);
    }

    /// Waits until everything is written, no longer than this.
    pub(super) fn finish(self: &Arc<Self>, grace: Duration) {
        let mut state = self.state();
        state.hurried = true;
        // What another process was in the way of is tried once more.
        self.start(&mut state);
        self.changed.notify_all();
        let waited = self.changed.wait_timeout_while(state, grace, |state| state.writing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.hurried = false;
    }

    fn state(&self) -> MutexGuard<'_, LedgerState> {
        lock(&self.state)
    }

    /// Starts to write, unless that goes on already or there is nothing to write.
    fn start(self: &Arc<Self>, state: &mut LedgerState) {
        if state.writing || state.counts.is_empty() {
            return;
        }
        let ledger = self.clone();
        state.writing = thread::Builder::new().name("usage".to_owned()).spawn(move || ledger.write()).is_ok();
    }

    fn write(&self) {
        let mut state = self.state();
        while !state.counts.is_empty() {
            let counts = mem::take(&mut state.counts);
            drop(state);
            let written = self.store.count(&counts);
            state = self.state();
            if let Err(error) = written {
                tell(&mut state, &error);
                if matches!(error, StoreError::Locked { .. }) {
                    state.counts.merge(counts);
                    break;
                }
            }
            let paused = self.changed.wait_timeout_while(state, PAUSE, |state| !state.hurried);
            state = paused.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.writing = false;
        self.changed.notify_all();
    }
}

/// Nobody asked for counts, so that they are missing is no warning.
fn tell(state: &mut LedgerState, error: &StoreError) {
    if mem::replace(&mut state.told, true) {
        tracing::debug!(%error, "usage is not counted");
    } else {
        tracing::info!(%error, "usage is not counted; everything else goes on");
    }
}
