//! Telling whoever waits that the catalog has another revision than before, or that other things are
//! known of external tools.
//!
//! Of the catalog only the source's own ref counts: what a caller reads at another ref changes no list. Nobody is
//! told of the first revision, for nobody has seen a list before it.

use tokio::sync::watch;

/// Which revision was seen last.
pub(super) struct Revisions(watch::Sender<Option<String>>);

impl Revisions {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// Notes the revision that was just read.
    pub(super) fn note(&self, revision: &str) {
        self.0.send_if_modified(|last| {
            if last.as_deref() == Some(revision) {
                return false;
            }
            last.replace(revision.to_owned()).is_some()
        });
    }

    /// Notes that somebody saw a list that lacks the catalog, because it could not be read: its
    /// first revision will be a change.
    pub(super) fn lacked(&self) {
        self.0.send_if_modified(|last| {
            last.get_or_insert_default();
            false
        });
    }

    /// What changes from now on, here and in what is known of tools.
    pub(super) fn follow(&self, tools: Option<watch::Receiver<u64>>) -> Changes {
        Changes { catalog: self.0.subscribe(), tools }
    }
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The catalog has another revision.
    Catalog,
    /// What is known of external tools.
    Tools,
}

/// The changes from some moment on.
pub struct Changes {
    catalog: watch::Receiver<Option<String>>,
    tools: Option<watch::Receiver<u64>>,
}

impl Changes {
    /// Waits for the next change; several of a kind that nobody waited for count as one.
    pub async fn next(&mut self) -> Change {
        tokio::select! {
            biased;
            () = next(Some(&mut self.catalog)) => Change::Catalog,
            () = next(self.tools.as_mut()) => Change::Tools,
        }
    }
}

/// Waits for a change, for ever where there can't be one any more.
async fn next<T>(receiver: Option<&mut watch::Receiver<T>>) {
    if let Some(receiver) = receiver
        && receiver.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is a change already.
    async fn changed(changes: &mut Changes) -> bool {
        tokio::select! {
            biased;
            _ = changes.next() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn only_another_revision_is_a_change_and_the_first_is_none() {
        let revisions = Revisions::new();
        let mut changes = revisions.follow(None);
        revisions.note("a");
        revisions.note("a");
        assert!(!changed(&mut changes).await);
        revisions.note("b");
        revisions.note("c");
        assert!(changed(&mut changes).await);
        assert!(!changed(&mut changes).await, "two that nobody waited for are one");
        assert!(!changed(&mut revisions.follow(None)).await, "what was before does not count");
    }

    #[tokio::test]
    async fn the_first_revision_is_a_change_for_who_saw_a_list_without_it() {
        let revisions = Revisions::new();
        let mut changes = revisions.follow(None);
        revisions.lacked();
        assert!(!changed(&mut changes).await);
        revisions.note("a");
        assert!(changed(&mut changes).await);
        revisions.lacked();
        revisions.note("a");
        assert!(!changed(&mut changes).await, "by then it was seen");
    }
    #[tokio::test]
    async fn tools_change_beside_the_catalog() {
        let (revisions, tools) = (Revisions::new(), watch::Sender::new(0));
        let mut changes = revisions.follow(Some(tools.subscribe()));
        revisions.note("a");
        tools.send_replace(1);
        assert_eq!(changes.next().await, Change::Tools);
        tools.send_replace(2);
        revisions.note("b");
        assert_eq!((changes.next().await, changes.next().await), (Change::Catalog, Change::Tools));
        drop(tools);
        assert!(!changed(&mut changes).await);
    }
}
