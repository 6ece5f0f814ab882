//! One question for many processes: who asks holds a lock in the cache folder, and who waited for it
//! looks first what the other one brought.
//!
//! Nobody waits for ever: after half of the time that an answer may take, it is asked without the lock.

use std::sync::Arc;
use std::time::Duration;

use super::Ground;
use super::resolve::AskedRef;
use crate::cache::{Lock, Locking};

/// How often it is looked whether a lock is free; reading a catalog takes a few tenths of a second.
const LOOK: Duration = Duration::from_millis(20);

/// Somebody's turn to ask.
#[derive(Debug, Default)]
pub(super) struct QueueTurn {
    /// Whether another process asked meanwhile.
    pub(super) waited: bool,
    /// Others wait as long as this is there.
    _lock: Option<Lock>,
}

impl Ground {
    /// Waits until no other process asks for the same ref.
    pub(super) async fn turn(self: &Arc<Self>, asked: &AskedRef) -> QueueTurn {
        let mut waited = false;
        let lock = async {
            loop {
                let (ground, text) = (self.clone(), asked.text().to_owned());
                match tokio::task::spawn_blocking(move || ground.records.queue(&text)).await {
                    Ok(Locking::Taken(lock)) => return Some(lock),
                    Ok(Locking::Busy) => waited = true,
                    Ok(Locking::Impossible) | Err(_) => return None,
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let lock = tokio::time::timeout(self.client.deadline / 2, lock).await.ok().flatten();
        QueueTurn { waited, _lock: lock }
    }
}
