//! The executions that this process touched last, so that a log which is known already is not read
//! again from its beginning.
//!
//! What is remembered is believed as far as the file confirms it, and never written from.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::Story;
use crate::lock::lock;
use crate::run::ExecutionId;

/// How many executions are remembered: a conversation has one or two in hand.
const MOST: usize = 4;
/// The most that the outputs of one that is remembered may take, in bytes.
const LARGEST: usize = 1_000_000;

/// Of how many executions it is remembered that this process told their rules.
const MOST_TOLD: usize = 1_000;

/// Executions, the one touched last at the end.
#[derive(Default)]
pub(super) struct KnownExecutions {
    stories: Mutex<Vec<Story>>,
    /// Those whose rules and persona this process told, the first at the front.
    told: Mutex<VecDeque<ExecutionId>>,
}

impl KnownExecutions {
    /// What is remembered of an execution; whoever takes it brings it back with [`KnownExecutions::keep`].
    pub(super) fn take(&self, id: &ExecutionId) -> Option<Story> {
        let mut stories = lock(&self.stories);
        let place = stories.iter().position(|story| story.guided.beginning().id == *id)?;
        Some(stories.remove(place))
    }

    /// Notes that whoever is answered now is told the rules and the persona; says whether that is the first
    /// time.
    pub(super) fn tell(&self, id: &ExecutionId) -> bool {
        let mut told = lock(&self.told);
        if told.contains(id) {
            return false;
        }
        if told.len() == MOST_TOLD {
            told.pop_front();
        }
        told.push_back(id.clone());
        true
    }

    /// Remembers an execution instead of the one touched longest ago.
    pub(super) fn keep(&self, story: Story) {
        if story.guided.run().written() > LARGEST {
            return;
        }
        let mut stories = lock(&self.stories);
        // Somebody else may have brought the same one back meanwhile.
        stories.retain(|other| other.guided.beginning().id != story.guided.beginning().id);
        if stories.len() == MOST {
            stories.remove(0);
        }
        stories.push(story);
    }
}
