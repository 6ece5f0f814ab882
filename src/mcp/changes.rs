//! Telling clients that lists have changed: of their own accord to those that shook hands, and to
//! the others as long as they listen.

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio_util::sync::CancellationToken;

use crate::app::Changes;

/// What can be listened to, out of what is asked for.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    requested.intersection(&SubscriptionFilter::builder().prompts_list_changed().resources_list_changed().build())
}

/// Tells a client that shook hands, until the session ends.
pub(super) async fn tell(mut changes: Changes, peer: Peer<RoleServer>, ended: CancellationToken) {
    while ended.run_until_cancelled(changes.next()).await.is_some() {
        let both = async {
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await
        };
        // Once the input has ended, a notification would wait for ever.
        match ended.run_until_cancelled(both).await {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                tracing::debug!(%error, "the client can't be told that lists have changed");
                return;
            }
            None => return,
        }
    }
}

/// Tells a client that listens, until it no longer does or the session ends.
pub(super) async fn listen(mut changes: Changes, context: SubscriptionContext, ended: CancellationToken) {
    loop {
        tokio::select! {
            biased;
            () = ended.cancelled() => return,
            () = context.cancelled() => return,
            () = changes.next() => {}
        }
        let told = async {
            if context.accepted().resources_list_changed == Some(true) {
                context.sink().notify_resource_list_changed().await?;
            }
            if context.accepted().prompts_list_changed == Some(true) {
                context.sink().notify_prompt_list_changed().await?;
            }
            Ok::<(), rmcp::service::SubscriptionSendError>(())
        };
        match ended.run_until_cancelled(told).await {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                tracing::debug!(%error, "a listener can't be told that lists have changed");
                return;
            }
            None => return,
        }
    }
}
