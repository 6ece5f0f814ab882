//! Refs: the default branch by its own name, slashes, commits, and what comes from a fork.

use flowy::internals::source::SourceError;

use super::*;

#[tokio::test]
async fn the_default_branch_is_called_by_its_own_name() {
    for desk in [Desk::tea().await, Desk::tea().await.without_token()] {
        let view = newest(&desk.open()).await.unwrap();
        assert_eq!(view.snapshot.git_ref().unwrap().as_str(), "trunk");
        assert_eq!(view.snapshot.revision(), desk.github.head());
        // Another process knows it from disk.
        let again = newest(&desk.open()).await.unwrap();
        assert_eq!(again.snapshot.git_ref().unwrap().as_str(), "trunk");
    }
}

#[tokio::test]
async fn a_branch_with_a_slash_is_asked_for_as_one_value() {
    let desk = Desk::tea().await;
    desk.github.branch("feature/new-tone", entries(&[("flows/Tea.json", "new tone")]));
    let source = desk.open_as("acme/flows@feature/new-tone");
    let view = newest(&source).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, "new tone");
    assert_eq!(view.snapshot.git_ref().unwrap().as_str(), "feature/new-tone");
    assert!(desk.github.hits()[0].sent.ends_with("/commits/feature%2Fnew-tone"));
}

#[tokio::test]
async fn the_callers_ref_comes_before_the_sources_and_the_sources_before_the_settings() {
    let mut desk = Desk::tea().await;
    for name in ["one", "two", "three"] {
        desk.github.branch(name, entries(&[("flows/Tea.json", name)]));
    }
    desk.settings.git_ref = Some(RefName::new("one").unwrap());
    assert_eq!(text(&newest(&desk.open()).await.unwrap(), "flows/Tea.json").await, "one");
    let source = desk.open_as("acme/flows@two");
    assert_eq!(text(&newest(&source).await.unwrap(), "flows/Tea.json").await, "two");
    assert_eq!(text(&at(&source, "three").await.unwrap(), "flows/Tea.json").await, "three");
}

#[tokio::test]
async fn a_missing_ref_is_told_from_a_missing_repository() {
    let desk = Desk::tea().await;
    let error = at(&desk.open(), "nope").await.unwrap_err();
    let SourceError::RefNotFound { repo, git_ref, default_branch, .. } = &error else { panic!("{error}") };
    assert_eq!((repo.as_str(), git_ref.as_str(), default_branch.as_deref()), ("acme/flows", "\"nope\"", Some("trunk")));
    for desk in [Desk::tea().await, Desk::tea().await.without_token()] {
        for error in [newest(&desk.open_as("acme/gone")).await, at(&desk.open_as("acme/gone"), "main").await] {
            let error = error.unwrap_err();
            assert!(matches!(error, SourceError::RepoNotFound { .. }), "{error}");
            assert!(error.to_string().contains("acme/gone") && error.to_string().contains("token"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_commit_of_the_default_branch_is_read_and_never_asked_about_again() {
    let desk = Desk::tea().await;
    let commit = desk.github.head();
    desk.github.put("flows/Tea.json", Some(b"newer"));
    let source = desk.open();
    let view = at(&source, &commit).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!(desk.github.count("/compare/trunk..."), 1);
    desk.github.forget();
    desk.pass(60 * 24 * 365);
    for source in [&source, &desk.open()] {
        let asked = Ask { git_ref: Some(RefName::new(&commit).unwrap()), refresh: true };
        assert!(source.snapshot(&asked).await.unwrap().cached);
    }
    assert!(desk.github.hits().is_empty());
}

#[tokio::test]
async fn a_commit_from_a_fork_is_refused_by_its_full_and_its_short_id() {
    let mut desk = Desk::tea().await;
    let foreign = desk.github.foreign(entries(&[("flows/Tea.json", "a stranger's prompt")]));
    let source = desk.open();
    for name in [&foreign[..], &foreign[..10], &foreign.to_uppercase()] {
        let error = at(&source, name).await.unwrap_err();
        assert!(matches!(error, SourceError::CommitNotOnDefaultBranch { .. }), "{name}: {error}");
    }
    assert_eq!((desk.github.count("graphql"), desk.github.count("/git/")), (0, 0));
    desk.settings.allow_any_commit = true;
    let view = at(&desk.open(), &foreign).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, "a stranger's prompt");
    let source = desk.open();
    for _ in 0..2 {
        assert!(at(&source, &foreign[..10]).await.is_ok());
        desk.pass(20);
    }
    // What was allowed then is not taken for granted by a process that does not allow it.
    desk.settings.allow_any_commit = false;
    assert!(at(&desk.open(), &foreign).await.is_err());
    assert!(at(&desk.open(), &foreign[..10]).await.is_err());
}

#[tokio::test]
async fn a_commit_nobody_has_is_not_found() {
    let desk = Desk::tea().await;
    let error = at(&desk.open(), &"e".repeat(40)).await.unwrap_err();
    assert!(matches!(error, SourceError::RefNotFound { .. }), "{error}");
}
