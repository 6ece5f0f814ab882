//! Putting a question to a person while the execution waits: at once, and for as long as it is open.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::tools::LOOK;
use super::{Asked, Asker, Deed, Guide, GuideError, NoAnswer, Turn};
use crate::run::{EscalationId, ExecutionId, Guided, says_nothing};

impl Asked {
    /// An escalation of an execution, with where it comes from.
    pub(super) fn of(guided: &Guided, id: &EscalationId) -> Option<Self> {
        let escalation = guided.escalations().iter().find(|asked| asked.id == *id)?.clone();
        let step = guided.run().plan().step(escalation.step).map(|step| step.label.clone()).unwrap_or_default();
        Some(Self { flow: guided.beginning().plan.name().to_owned(), step, escalation })
    }
}

impl Guide {
    /// Asks, and brings the answer; nothing is brought where nobody answered, or the question was taken back or answered
    /// otherwise, which takes it away from the person.
    pub(super) async fn ask(
        self,
        id: ExecutionId,
        asked: Asked,
        asker: Arc<dyn Asker>,
        taken_back: CancellationToken,
    ) -> Result<Result<Turn, GuideError>, NoAnswer> {
        let escalation = &asked.escalation.id;
        let answers = tokio::select! {
            answers = asker.ask(&asked) => answers?,
            () = self.closed(&id, escalation) => return Ok(self.otherwise(&id, escalation).await),
            () = taken_back.cancelled() => return Err(NoAnswer::None),
            () = self.calling.stopped() => return Err(NoAnswer::None),
        };
        // A form that was sent without a word: the question stays open.
        if says_nothing(&answers) {
            return Err(NoAnswer::Closed);
        }
        let resumed = self.resume(&id, Some(escalation), &answers).await;
        match resumed {
            // Somebody answered elsewhere in the same moment: the first answer counts.
            Err(GuideError::NoEscalation { .. }) => {
                tracing::info!(execution = %id, %escalation, "an answer came when the question was closed; it is dropped");
                Ok(self.otherwise(&id, escalation).await)
            }
            Err(error) => {
                tracing::warn!(execution = %id, %escalation, %error, "an answer could not be kept");
                Ok(Err(error))
            }
            Ok(turn) => Ok(Ok(turn)),
        }
    }

    /// What became of a question that was closed otherwise.
    async fn otherwise(&self, id: &ExecutionId, escalation: &EscalationId) -> Result<Turn, GuideError> {
        let guided = self.story(id).await?.guided;
        if guided.escalations().iter().any(|asked| asked.id == *escalation && asked.answer.is_none()) {
            return Err(GuideError::Cancelled);
        }
        Ok(Turn { anew: true, ..Turn::of(guided, Deed::Answered(escalation.clone())) })
    }

    /// Waits until a question is no longer open: answered otherwise, by whichever process, or cancelled.
    async fn closed(&self, id: &ExecutionId, escalation: &EscalationId) {
        loop {
            tokio::time::sleep(LOOK).await;
            match self.story(id).await {
                Ok(story) if story.guided.asked() == Some(escalation) => {}
                // What can't be read now is looked at again.
                Err(GuideError::Store(_)) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}
