//! Progress notifications: at most ten a second, always growing, the last one always sent.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::app::{OnStep, StepDone};

/// The shortest time between two notifications.
const PAUSE: Duration = Duration::from_millis(100);

/// Tells a client how far a call is. Only the newest news is kept, so a slow client holds up
/// nothing.
pub(super) struct ClientProgress {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    news: watch::Receiver<Option<StepDone>>,
    /// Steps that have ended, as far as told, and thousandths of the running call.
    told: (usize, u16),
    quiet: CancellationToken,
}

impl ClientProgress {
    /// A teller, and what brings it news. Once `quiet` is cancelled nothing more is told.
    pub(super) fn new(peer: Peer<RoleServer>, token: ProgressToken, quiet: CancellationToken) -> (Self, OnStep) {
        let (bring, news) = watch::channel(None);
        let on_step: OnStep = Arc::new(move |step: &StepDone| {
            bring.send_modify(|news| {
                let news = news.get_or_insert_with(|| StepDone { ended: 0, ..step.clone() });
                match &step.call {
                    // News of a call leave standing how many steps have ended.
                    Some(call) => news.call = Some(call.clone()),
                    None => *news = step.clone(),
                }
            });
        });
        (Self { peer, token, news, told: (0, 0), quiet }, on_step)
    }

    /// Tells news as they come; ends only when no more can come.
    pub(super) async fn tell(&mut self) {
        while self.news.changed().await.is_ok() {
            self.newest().await;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Tells what has not been told yet. Nothing may be told after the call's answer.
    pub(super) async fn newest(&mut self) {
        let newest = self.news.borrow_and_update().clone();
        let Some(step) = newest else { return };
        // It must always grow: a call that doesn't say how far it is moves a thousandth on.
        let part = step.call.as_ref().map_or(0, |call| {
            let before = if self.told.0 == step.ended { self.told.1 } else { 0 };
            call.thousandths.unwrap_or(before + 1).min(999)
        });
        if (step.ended, part) <= self.told {
            return;
        }
        self.told = (step.ended, part);
        let told = ProgressNotificationParam::new(self.token.clone(), number(step.ended) + f64::from(part) / 1000.0)
            .with_total(number(step.steps))
            .with_message(step.words(80, 120));
        if let Some(Err(error)) = self.quiet.run_until_cancelled(self.peer.notify_progress(told)).await {
            tracing::debug!(%error, "a progress notification could not be sent");
        }
    }
}

/// Steps are few enough to be exact.
fn number(steps: usize) -> f64 {
    u32::try_from(steps).map_or(f64::from(u32::MAX), f64::from)
}
