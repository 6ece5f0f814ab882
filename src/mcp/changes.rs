//! Telling clients that lists have changed: of their own accord to those that shook hands, and to
//! the others as long as they listen. The list of tools only changes where flows are tools.

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio_util::sync::CancellationToken;

use super::exposed::Exposing;
use crate::app::Changes;

/// What can be listened to, out of what is asked for.
pub(super) fn accepted(requested: &SubscriptionFilter, exposing: bool) -> SubscriptionFilter {
    let mut offered = SubscriptionFilter::builder().prompts_list_changed().resources_list_changed().build();
    offered.tools_list_changed = exposing.then_some(true);
    requested.intersection(&offered)
}

/// Waits for a change; whether it changed the tools that this client was shown.
async fn next(changes: &mut Changes, exposing: Option<&Exposing>) -> bool {
    changes.next().await;
    match exposing {
        Some(exposing) => exposing.changed().await,
        None => false,
    }
}

/// Tells a client that shook hands, until the session ends.
pub(super) async fn tell(
    mut changes: Changes,
    peer: Peer<RoleServer>,
    ended: CancellationToken,
    exposing: Option<Exposing>,
) {
    while let Some(tools) = ended.run_until_cancelled(next(&mut changes, exposing.as_ref())).await {
        let all = async {
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await?;
            if tools { peer.notify_tool_list_changed().await } else { Ok(()) }
        };
        // Once the input has ended, a notification would wait for ever.
        match ended.run_until_cancelled(all).await {
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
pub(super) async fn listen(
    mut changes: Changes,
    context: SubscriptionContext,
    ended: CancellationToken,
    exposing: Option<Exposing>,
) {
    loop {
        let tools = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            () = context.cancelled() => return,
            tools = next(&mut changes, exposing.as_ref()) => tools,
        };
        let told = async {
            if context.accepted().resources_list_changed == Some(true) {
                context.sink().notify_resource_list_changed().await?;
            }
            if context.accepted().prompts_list_changed == Some(true) {
                context.sink().notify_prompt_list_changed().await?;
            }
            if tools && context.accepted().tools_list_changed == Some(true) {
                context.sink().notify_tool_list_changed().await?;
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
