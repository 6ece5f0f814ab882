//! Telling whoever waits that the catalog has another revision than before.
//!
//! Only the source's own ref counts: what a caller reads at another ref changes no list. Nobody is
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

    /// What changes from now on.
    pub(super) fn follow(&self) -> Changes {
        Changes(self.0.subscribe())
    }
}

/// The catalog's changes from some moment on.
pub struct Changes(watch::Receiver<Option<String>>);

impl Changes {
    /// Waits for the next change; several that nobody waited for count as one.
    pub async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            // The product is gone, and with it everything that could change.
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is a change already.
    async fn changed(changes: &mut Changes) -> bool {
        tokio::select! {
            biased;
            () = changes.next() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn only_another_revision_is_a_change_and_the_first_is_none() {
        let revisions = Revisions::new();
        let mut changes = revisions.follow();
        revisions.note("a");
        revisions.note("a");
        assert!(!changed(&mut changes).await);
        revisions.note("b");
        revisions.note("c");
        assert!(changed(&mut changes).await);
        assert!(!changed(&mut changes).await, "two that nobody waited for are one");
        assert!(!changed(&mut revisions.follow()).await, "what was before does not count");
    }

    #[tokio::test]
    async fn the_first_revision_is_a_change_for_who_saw_a_list_without_it() {
        let revisions = Revisions::new();
        let mut changes = revisions.follow();
        revisions.lacked();
        assert!(!changed(&mut changes).await);
        revisions.note("a");
        assert!(changed(&mut changes).await);
        revisions.lacked();
        revisions.note("a");
        assert!(!changed(&mut changes).await, "by then it was seen");
    }
}
