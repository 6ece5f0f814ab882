//! Answers without what was asked for: an outage to the user, never stored, and not believed of another host.

use flowy::internals::app::{Code, Error};
use flowy::internals::source::SourceError;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::*;
use crate::support::github::Fault;

fn saying(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// The source of a process that has never asked.
fn cold(desk: &Desk) -> Source {
    let mut settings = desk.settings.clone();
    settings.cache_dir = desk.folder.path().join(format!("cold{}", desk.clock.fresh()));
    let spec = slug::parse("acme/flows", &settings.api_url).unwrap();
    Source::open_at(spec, &settings, desk.clock.clone(), Pace::Hurried).unwrap()
}

/// Trees that are none.
fn no_trees() -> Vec<Value> {
    let entry = |lacks: &str| {
        let mut entry =
            json!({"path": "flows/a.json", "mode": "100644", "type": "blob", "sha": "a".repeat(40), "size": 1});
        entry.as_object_mut().unwrap().remove(lacks);
        json!({"sha": "x", "tree": [entry], "truncated": false})
    };
    vec![
        json!({}),
        json!({"message": "ok"}),
        json!({"sha": "x", "truncated": false}),
        json!({"truncated": true}),
        json!({"tree": null}),
        json!([]),
        entry("path"),
        entry("mode"),
        entry("type"),
        entry("sha"),
    ]
}

#[tokio::test]
async fn an_answer_without_a_tree_is_an_outage_and_is_not_kept() {
    for body in no_trees() {
        let desk = Desk::tea().await;
        let source = desk.open();
        newest(&source).await.unwrap();
        desk.github.put("flows/More.json", Some(b"{}"));
        desk.github.fault(Fault::answer("/git/trees/", saying(&body)));
        let view = refreshed(&source).await.unwrap();
        let stale = view.stale.as_ref().unwrap_or_else(|| panic!("{body}"));
        assert!(matches!(stale.reason, SourceError::GitHub { status: 200, .. }), "{body}: {}", stale.reason);
        assert_eq!(all(&view).await.len(), 2, "{body}");
        let error = Error::from(newest(&cold(&desk)).await.unwrap_err());
        assert_eq!(error.code, Code::GithubError, "{body}");
        desk.github.heal();
        let view = newest(&cold(&desk)).await.unwrap();
        assert_eq!(all(&view).await.len(), 3, "{body}");
        desk.pass(1);
        assert_eq!(all(&refreshed(&source).await.unwrap()).await.len(), 3, "{body}");
    }
}

#[tokio::test]
async fn every_other_answer_is_looked_at_too() {
    let commit = "a".repeat(40);
    for (place, body) in [
        ("/commits/", json!({})),
        ("/commits/", json!({"message": "ok"})),
        ("/compare/", json!({})),
        ("/compare/", json!({"status": "ok"})),
        ("/repos/acme/flows", json!({"default_branch": null})),
        ("/repos/acme/flows", json!({"default_branch": ""})),
    ] {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::answer(place, saying(&body)));
        let asked = if place == "/commits/" { "trunk".to_owned() } else { desk.github.head() };
        let error = Error::from(at(&desk.open(), &asked).await.unwrap_err());
        assert_eq!(error.code, Code::GithubError, "{place} {body}");
    }
    // A repository that can't be used now is not one without commits.
    let (desk, source) = Desk::read_once().await;
    desk.github.fault(Fault::status("/commits/", 409).saying("Repository is being moved"));
    let view = refreshed(&source).await.unwrap();
    assert!(view.stale.is_some());
    assert_eq!(all(&view).await.len(), 2);
    assert!(matches!(at(&source, &commit).await.unwrap_err(), SourceError::RefNotFound { .. }));
}

#[tokio::test]
async fn another_host_is_not_believed_what_cannot_be_checked() {
    let other = GitHub::serving([("flows/Other.json", "other")]).await;
    for place in ["/commits/", "/git/trees/"] {
        let desk = Desk::tea().await;
        let there = format!("{}/repos/acme/flows{place}{}", other.url(), other.head());
        desk.github.fault(Fault::status(place, 302).header("location", &there));
        let error = newest(&desk.open()).await.unwrap_err();
        assert!(matches!(&error, SourceError::MovedAway { status: 200, .. }), "{place}: {error}");
        assert_eq!(Error::from(error).code, Code::GithubError);
    }
}

#[tokio::test]
async fn a_commit_whose_files_are_not_known_yet_is_asked_about_again() {
    let (desk, source) = Desk::read_once().await;
    desk.github.put("flows/More.json", Some(b"{}"));
    desk.github.fault(Fault::status("/git/trees/", 404).times(2));
    assert_eq!(all(&refreshed(&source).await.unwrap()).await.len(), 3);
    desk.github.put("flows/Most.json", Some(b"{}"));
    desk.github.fault(Fault::status("/git/trees/", 404));
    let view = refreshed(&source).await.unwrap();
    assert!(matches!(view.stale.as_ref().unwrap().reason, SourceError::NotThereYet { status: 404, .. }));
    assert_eq!(all(&view).await.len(), 3);
    let error = Error::from(newest(&cold(&desk)).await.unwrap_err());
    assert_eq!(error.code, Code::GithubError);
}

#[tokio::test]
async fn a_time_out_of_githubs_is_bridged() {
    let (desk, source) = Desk::read_once().await;
    desk.github.fault(Fault::status("", 408));
    assert!(refreshed(&source).await.unwrap().stale.is_some());
}

#[tokio::test]
async fn a_redirect_that_is_not_followed_is_not_the_callers_mistake() {
    for place in ["http://files.example.invalid/x", "file:///etc/passwd", "ftp://files.example.invalid/x"] {
        let desk = Desk::tea().await;
        let source = desk.open();
        newest(&source).await.unwrap();
        desk.github.fault(Fault::status("/commits/", 302).header("location", place));
        assert!(refreshed(&source).await.unwrap().stale.is_some(), "{place}");
        let error = newest(&cold(&desk)).await.unwrap_err();
        assert_eq!(Error::from(error).code, Code::GithubError, "{place}");
    }
}

#[tokio::test]
async fn what_asking_again_does_not_mend_is_not_answered_with_that_advice() {
    for (status, code) in [(400, Code::GithubError), (418, Code::GithubError), (451, Code::GithubError)] {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("", status));
        let error = Error::from(newest(&desk.open()).await.unwrap_err());
        assert_eq!(error.code, code);
        assert!(!error.next_step.unwrap().for_tools().contains("try again"), "{status}");
        assert_eq!(desk.github.hits().len(), 1, "{status}");
    }
}
