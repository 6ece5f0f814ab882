//! The executions that this process touched last, so that a log which is known already is not read
//! again from its beginning.
//!
//! What is remembered is believed as far as the file confirms it, and never written from.

use std::sync::{Mutex, PoisonError};

use super::Story;
use crate::run::ExecutionId;

/// How many executions are remembered: a conversation has one or two in hand.
const MOST: usize = 4;
/// The most that the outputs of one that is remembered may take, in bytes.
const LARGEST: usize = 1_000_000;

/// Executions, the one touched last at the end.
#[derive(Default)]
pub(super) struct Known(Mutex<Vec<Story>>);

impl Known {
    /// What is remembered of an execution; whoever takes it brings it back with [`Known::keep`].
    pub(super) fn take(&self, id: &ExecutionId) -> Option<Story> {
        let mut stories = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = stories.iter().position(|story| story.guided.beginning().id == *id)?;
        Some(stories.remove(place))
    }

    /// Remembers an execution instead of the one touched longest ago.
    pub(super) fn keep(&self, story: Story) {
        if story.guided.run().written() > LARGEST {
            return;
        }
        let mut stories = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have brought the same one back meanwhile.
        stories.retain(|other| other.guided.beginning().id != story.guided.beginning().id);
        if stories.len() == MOST {
            stories.remove(0);
        }
        stories.push(story);
    }
}
