//! Several processes and one cache folder: what each may see, and who asks.

use std::fs;

use flowy::internals::config::{Origin, Place, Secret};
use flowy::internals::source::SourceError;

use super::*;
use crate::support::github::Fault;

impl Desk {
    /// The same desk for somebody with another token, or none.
    fn with_token(&self, token: Option<&str>) -> Source {
        let mut settings = self.settings.clone();
        settings.token = token.map(|token| Secret::new(token.to_owned()));
        let spec = slug::parse("acme/flows", &settings.api_url).unwrap();
        Source::open_at(spec, &settings, self.clock.clone(), Pace::Hurried).unwrap()
    }
}

#[tokio::test]
async fn what_one_token_reads_is_not_shown_to_another_unasked() {
    let desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    for (token, status) in [(None, 404), (Some("another"), 404), (Some("another"), 401), (Some("another"), 403)] {
        desk.github.fault(Fault::status("", status));
        let error = newest(&desk.with_token(token)).await.unwrap_err();
        let refused = matches!(
            error,
            SourceError::RepoNotFound { .. } | SourceError::Unauthorized { .. } | SourceError::Forbidden { .. }
        );
        assert!(refused, "{status}: {error}");
        desk.github.heal();
    }
    // Nor during an outage.
    desk.github.fault(Fault::status("", 503));
    let error = newest(&desk.with_token(Some("another"))).await.unwrap_err();
    assert!(matches!(error, SourceError::GitHub { status: 503, .. }), "{error}");
    desk.github.heal();
    desk.github.forget();
    assert!(newest(&desk.open()).await.unwrap().cached);
    assert!(desk.github.hits().is_empty());
}

#[tokio::test]
async fn another_token_asks_once() {
    let desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    desk.github.forget();
    let view = newest(&desk.with_token(Some("another"))).await.unwrap();
    assert_eq!(all(&view).await.len(), 2);
    let asked: Vec<String> = desk.github.hits().into_iter().map(|hit| hit.path).collect();
    assert_eq!(asked, ["/repos/acme/flows/commits/HEAD", "/repos/acme/flows"], "the commit and the branch's name");
    desk.github.forget();
    assert!(newest(&desk.with_token(Some("another"))).await.unwrap().cached);
    assert!(newest(&desk.open()).await.unwrap().cached);
    assert!(desk.github.hits().is_empty());
}

#[tokio::test]
async fn to_know_a_commits_id_is_no_right_to_read_it() {
    let mut desk = Desk::tea().await;
    desk.settings.allow_any_commit = true;
    let commit = desk.github.head();
    at(&desk.open(), &commit).await.unwrap();
    desk.github.fault(Fault::status("", 404));
    let error = at(&desk.with_token(None), &commit).await.unwrap_err();
    assert!(matches!(error, SourceError::RepoNotFound { .. }), "{error}");
    desk.github.heal();
    desk.github.forget();
    assert_eq!(all(&at(&desk.with_token(None), &commit).await.unwrap()).await.len(), 2);
    assert_eq!((desk.github.count("/git/trees/"), desk.github.hits().len()), (1, 1));
}

#[tokio::test]
async fn no_token_can_be_told_from_what_is_kept() {
    // The same token and the same ref, in two cache folders: what is kept of them has different names.
    let (one, other) = (Desk::tea().await, Desk::tea().await);
    // What a test's clock calls random, it counts.
    other.clock.fresh();
    let mut names = Vec::new();
    for desk in [&one, &other] {
        newest(&desk.open()).await.unwrap();
        let root = fs::read_dir(desk.settings.cache_dir.join("v1")).unwrap().next().unwrap().unwrap().path();
        for file in fs::read_dir(root.join("refs")).unwrap().map(|file| file.unwrap()) {
            let kept = String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned();
            assert!(!kept.contains(&crate::support::github::TOKEN[..12]));
            names.push(file.file_name());
        }
    }
    assert_eq!(names.len(), 2);
    assert_ne!(names[0], names[1]);
}

#[tokio::test]
async fn a_refused_token_is_read_again_where_it_stands_in_a_file() {
    let mut desk = Desk::tea().await;
    let path = desk.folder.path().join("flowy.toml");
    fs::write(&path, "token = \"ghp_theNewOne0123456789\"\n").unwrap();
    let origin = Origin::File { path: path.clone(), line: 1 };
    desk.settings.token_place = Some(Place { setting: "token".to_owned(), origin });
    desk.github.fault(Fault::status("", 401).times(1));
    let source = desk.open();
    assert_eq!(all(&newest(&source).await.unwrap()).await.len(), 2);
    let sent: Vec<String> = desk.github.hits().into_iter().map(|hit| hit.headers["authorization"].clone()).collect();
    assert_eq!(sent[0], format!("Bearer {}", crate::support::github::TOKEN));
    assert!(sent[1..].iter().all(|token| token == "Bearer ghp_theNewOne0123456789"), "{sent:?}");
    // The new one is refused as well: that is said once, with the file.
    desk.github.fault(Fault::status("", 401));
    desk.github.forget();
    let SourceError::Unauthorized { token: Some(place), .. } = refreshed(&source).await.unwrap_err() else { panic!() };
    assert!(place.contains("flowy.toml") && !place.contains("GITHUB_PAT"), "{place}");
    assert_eq!(desk.github.hits().len(), 1);
}

#[tokio::test]
async fn fifty_that_start_together_ask_as_one() {
    let desk = Desk::with(many(120)).await;
    let sources: Vec<Source> = (0..50).map(|_| desk.open()).collect();
    let views = futures_util::future::join_all(sources.iter().map(newest)).await;
    for view in views {
        assert_eq!(view.unwrap().snapshot.commit().unwrap().as_str(), desk.github.head());
    }
    assert_eq!(desk.github.hits().len(), 4, "a commit, a tree and two posts");
    // And once more, when the life of what they know is over.
    desk.pass(16);
    desk.github.forget();
    let sources: Vec<Source> = (0..50).map(|_| desk.open()).collect();
    for view in futures_util::future::join_all(sources.iter().map(newest)).await {
        assert!(view.unwrap().stale.is_none());
    }
    assert_eq!(desk.github.hits().len(), 1);
}

#[tokio::test]
async fn a_lock_that_is_never_given_back_is_not_waited_for_for_ever() {
    let mut desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    let root = fs::read_dir(desk.settings.cache_dir.join("v1")).unwrap().next().unwrap().unwrap().path();
    let locks: Vec<fs::File> = fs::read_dir(root.join("locks"))
        .unwrap()
        .map(|file| fs::File::options().write(true).open(file.unwrap().path()).unwrap())
        .collect();
    assert_eq!(locks.len(), 1);
    locks[0].try_lock().unwrap();
    desk.settings.fetch_deadline = Duration::from_secs(2);
    desk.pass(16);
    desk.github.forget();
    assert!(newest(&desk.open()).await.unwrap().stale.is_none());
    assert_eq!(desk.github.hits().len(), 1);
}
