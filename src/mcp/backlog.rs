//! How much a client has asked for and not taken yet: beyond a bound nothing more is read of it, so a
//! client that writes and does not read can't fill our memory.

use std::sync::{Arc, Mutex};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use crate::lock::lock;

/// How many requests may be open at once; each costs some kilobytes.
const MOST_OPEN: usize = 2_000;
/// How many bytes may be on their way out, 16 MiB.
const MOST_BYTES: usize = 16 << 20;

/// What a client has asked for and not taken yet.
#[derive(Clone, Default)]
pub(super) struct Backlog(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<BacklogState>,
    less: Notify,
}

#[derive(Default)]
struct BacklogState {
    /// As often as a client uses it: one that gives all its requests one id has as many of them.
    open: Vec<RequestId>,
    bytes: usize,
}

impl Backlog {
    /// A request came.
    pub(super) fn asked(&self, id: RequestId) {
        lock(&self.0.state).open.push(id);
    }

    /// A request is answered, or nobody waits for its answer any more.
    pub(super) fn answered(&self, id: &RequestId) {
        let mut state = lock(&self.0.state);
        if let Some(place) = state.open.iter().position(|open| open == id) {
            state.open.swap_remove(place);
        }
        drop(state);
        self.0.less.notify_one();
    }

    /// So many bytes are on their way out, until what is returned is let go of.
    pub(super) fn add(&self, bytes: usize) -> OnItsWay {
        lock(&self.0.state).bytes += bytes;
        OnItsWay { backlog: self.clone(), bytes }
    }

    /// Waits until more may be read.
    pub(super) async fn has_room(&self) {
        loop {
            {
                let state = lock(&self.0.state);
                // A single answer may be larger than all that may wait.
                if state.open.len() < MOST_OPEN && state.bytes < MOST_BYTES {
                    return;
                }
            }
            self.0.less.notified().await;
        }
    }
}

/// Bytes on their way out.
pub(super) struct OnItsWay {
    backlog: Backlog,
    bytes: usize,
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        lock(&self.backlog.0.state).bytes -= self.bytes;
        self.backlog.0.less.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn there_is_room_again_when_what_was_asked_for_is_taken() {
        let backlog = Backlog::default();
        let has_room = || backlog.has_room().now_or_never().is_some();
        for id in 0..2_000 {
            assert!(has_room());
            backlog.asked(RequestId::Number(id));
        }
        assert!(!has_room());
        backlog.answered(&RequestId::Number(5));
        assert!(has_room());
        backlog.asked(RequestId::Number(6));
        assert!(!has_room(), "an id that is used twice is two requests");
        backlog.answered(&RequestId::Number(6));
        let large = backlog.add(MOST_BYTES);
        assert!(!has_room());
        drop(large);
        assert!(has_room());
    }
}
