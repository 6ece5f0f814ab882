//! Telling clients that lists have changed: of their own accord to those that shook hands, and to
//! the others as long as they listen. The list of tools only changes where flows are tools.

use std::fmt::Display;

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rmcp::{Peer, RoleServer};
use tokio_util::sync::CancellationToken;

use super::exposed::Exposing;
use crate::app::{Change, Changes};

/// What can be listened to, out of what is asked for.
pub(super) fn accepted(requested: &SubscriptionFilter, exposing: bool) -> SubscriptionFilter {
    let mut offered = SubscriptionFilter::builder().prompts_list_changed().resources_list_changed().build();
    offered.tools_list_changed = exposing.then_some(true);
    requested.intersection(&offered)
}

/// Which lists of those that a client was shown have changed.
struct Changed {
    /// Prompts and resources: all that come from the catalog.
    catalog: bool,
    tools: bool,
}

/// Waits for a change.
async fn next(changes: &mut Changes, exposing: Option<&Exposing>) -> Changed {
    let catalog = changes.next().await == Change::Catalog;
    let tools = match exposing {
        Some(exposing) => exposing.changed().await,
        None => false,
    };
    Changed { catalog, tools }
}

/// Whether news went out. Once the input has ended, a notification would wait for ever.
async fn went_out<E: Display>(ended: &CancellationToken, news: impl Future<Output = Result<(), E>>) -> bool {
    let sent = ended.run_until_cancelled(news).await;
    if let Some(Err(error)) = &sent {
        tracing::debug!(%error, "a client can't be told that lists have changed");
    }
    matches!(sent, Some(Ok(())))
}

/// Tells a client that shook hands, until the session ends.
pub(super) async fn tell(
    mut changes: Changes,
    peer: Peer<RoleServer>,
    ended: CancellationToken,
    exposing: Option<Exposing>,
) {
    while let Some(changed) = ended.run_until_cancelled(next(&mut changes, exposing.as_ref())).await {
        let all = async {
            if changed.catalog {
                peer.notify_resource_list_changed().await?;
                peer.notify_prompt_list_changed().await?;
            }
            if changed.tools { peer.notify_tool_list_changed().await } else { Ok(()) }
        };
        if !went_out(&ended, all).await {
            return;
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
        let changed = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            () = context.cancelled() => return,
            changed = next(&mut changes, exposing.as_ref()) => changed,
        };
        let told = async {
            if changed.catalog && context.accepted().resources_list_changed == Some(true) {
                context.sink().notify_resource_list_changed().await?;
            }
            if changed.catalog && context.accepted().prompts_list_changed == Some(true) {
                context.sink().notify_prompt_list_changed().await?;
            }
            if changed.tools && context.accepted().tools_list_changed == Some(true) {
                context.sink().notify_tool_list_changed().await?;
            }
            Ok::<(), rmcp::service::SubscriptionSendError>(())
        };
        if !went_out(&ended, told).await {
            return;
        }
    }
}
