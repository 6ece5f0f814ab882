//! Limits and refusals: told apart, waited for where that helps, never pushed against.

use flowy::internals::source::{Refusal, SourceError};

use super::*;
use crate::support::github::Fault;

fn used_up(minutes: i64) -> Fault {
    let reset = (start() + chrono::TimeDelta::minutes(minutes)).timestamp().to_string();
    Fault::status("", 403)
        .saying("API rate limit exceeded for 203.0.113.9.")
        .header("x-ratelimit-remaining", "0")
        .header("x-ratelimit-reset", &reset)
}

#[tokio::test]
async fn a_used_up_quota_is_said_at_once_with_its_reset() {
    let desk = Desk::tea().await;
    desk.github.fault(used_up(60));
    let source = desk.open();
    let error = newest(&source).await.unwrap_err();
    let SourceError::RateLimited { retry_at, secondary: false, authenticated: true, named: None } = &error else {
        panic!("{error}")
    };
    assert_eq!(*retry_at, start() + chrono::TimeDelta::minutes(60));
    assert!(error.to_string().contains("2026-01-05 10:00:00 UTC"), "{error}");
    // Nothing is asked before the reset, not even on request and not for other refs.
    refreshed(&source).await.unwrap_err();
    at(&source, "other").await.unwrap_err();
    assert_eq!(desk.github.hits().len(), 1);
    desk.pass(61);
    desk.github.heal();
    assert!(newest(&source).await.is_ok());
}

#[tokio::test]
async fn limits_without_a_time_are_a_minute() {
    for fault in [
        Fault::status("", 429),
        Fault::status("", 403).saying("You have exceeded a secondary rate limit. Please wait a few minutes."),
        Fault::status("", 403).header("x-ratelimit-remaining", "0"),
    ] {
        let desk = Desk::tea().await;
        desk.github.fault(fault);
        let error = newest(&desk.open()).await.unwrap_err();
        let SourceError::RateLimited { retry_at, .. } = error else { panic!("{error}") };
        assert_eq!(retry_at, desk.now() + chrono::TimeDelta::seconds(60));
        assert_eq!(desk.github.hits().len(), 1);
    }
}

#[tokio::test]
async fn a_short_pause_is_waited_for() {
    for status in [403, 429, 503] {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("/commits/", status).header("retry-after", "7").times(2));
        assert!(newest(&desk.open()).await.is_ok(), "{status}");
        assert_eq!(desk.github.count("/commits/"), 3);
    }
}

#[tokio::test]
async fn a_missing_permission_is_not_a_limit() {
    let desk = Desk::tea().await;
    let message = "Resource not accessible by personal access token";
    desk.github.fault(Fault::status("", 403).saying(message).header("x-accepted-github-permissions", "contents=read"));
    let error = newest(&desk.open()).await.unwrap_err();
    let SourceError::Forbidden { reason, .. } = &error else { panic!("{error}") };
    assert_eq!(*reason, Refusal::Permission(Some("contents=read".to_owned())));
    assert!(error.to_string().contains("permission") && !error.to_string().contains("rate limit"), "{error}");
    assert_eq!(desk.github.hits().len(), 1);
}

#[tokio::test]
async fn a_refused_token_is_said_once() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("", 401).saying("Bad credentials"));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(error, SourceError::Unauthorized { .. }) && error.to_string().contains("Bad credentials"));
    assert_eq!(desk.github.hits().len(), 1);
}

#[tokio::test]
async fn without_a_token_no_token_is_blamed() {
    for (status, words) in [(401, "asks for a token"), (403, "no token is set")] {
        let desk = Desk::tea().await.without_token();
        desk.github.fault(Fault::status("", status).saying("Requires authentication"));
        let error = newest(&desk.open()).await.unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("the token"), "{error}");
    }
}

#[tokio::test]
async fn a_limit_within_graphql_comes_with_status_200() {
    for error in [
        serde_json::json!({"type": "RATE_LIMITED", "message": "API rate limit exceeded"}),
        serde_json::json!({"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": "API rate limit already exceeded for user ID 7."}),
        serde_json::json!({"message": "Wait", "extensions": {"code": "RATE_LIMITED"}}),
        serde_json::json!({"message": "You have exceeded a secondary rate limit."}),
        serde_json::Value::Null,
    ] {
        let desk = Desk::tea().await;
        let alone = serde_json::json!({"message": "API rate limit exceeded for 203.0.113.9."});
        let body = if error.is_null() { alone } else { serde_json::json!({"errors": [error]}) };
        let answer = wiremock::ResponseTemplate::new(200).set_body_json(body);
        desk.github.fault(Fault::answer("graphql", answer));
        let error = newest(&desk.open()).await.unwrap_err();
        assert!(matches!(error, SourceError::RateLimited { .. }), "{error}");
        assert_eq!(desk.github.count("/git/blobs/"), 0, "the rest is not asked for one by one");
    }
}

#[tokio::test]
async fn what_graphql_gives_whole_is_taken_whatever_stands_beside_it() {
    for errors in [
        serde_json::Value::Null,
        serde_json::json!({}),
        serde_json::json!(["a text"]),
        serde_json::json!([{"type": "RATE_LIMIT", "message": "API rate limit already exceeded for user ID 7."}]),
    ] {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::beside(errors.clone()));
        newest(&desk.open()).await.unwrap();
        assert_eq!((desk.github.count("graphql"), desk.github.count("/git/blobs/")), (1, 0), "{errors}");
    }
}

#[tokio::test]
async fn a_limit_beyond_githubs_hour_ends_after_it() {
    let centuries = "4102444800";
    for (status, name, value) in
        [(429, "x-ratelimit-reset", centuries), (429, "retry-after", "4294967295"), (403, "retry-after", "4294967295")]
    {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("", status).header("x-ratelimit-remaining", "0").header(name, value));
        let source = desk.open();
        let error = newest(&source).await.unwrap_err();
        let SourceError::RateLimited { retry_at, named: Some(named), .. } = &error else { panic!("{error}") };
        assert_eq!(*retry_at, desk.now() + chrono::TimeDelta::hours(1));
        assert!(named > retry_at);
        desk.github.heal();
        desk.pass(59);
        newest(&source).await.unwrap_err();
        desk.pass(1);
        assert!(newest(&source).await.is_ok());
        // Who insists is not held up by it at all.
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("", status).header("x-ratelimit-remaining", "0").header(name, value));
        let source = desk.open();
        newest(&source).await.unwrap_err();
        desk.github.heal();
        assert!(refreshed(&source).await.is_ok());
    }
}

#[tokio::test]
async fn a_refusal_is_not_a_missing_permission_unless_github_says_so() {
    let desk = Desk::tea().await;
    let message = "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.";
    desk.github.fault(Fault::status("", 403).saying(message));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(&error, SourceError::Forbidden { reason: Refusal::NetworkAddress, .. }), "{error}");
    let told = flowy::internals::app::Error::from(error);
    assert_eq!(told.details.unwrap()["reason"], "network-address");
    let page = wiremock::ResponseTemplate::new(403).set_body_string("<html>Blocked by policy</html>");
    let desk = Desk::tea().await;
    desk.github.fault(Fault::answer("", page));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(&error, SourceError::Forbidden { reason: Refusal::NotGitHub, .. }), "{error}");
}

#[tokio::test]
async fn graphql_that_knows_nothing_is_made_up_for() {
    let desk = Desk::tea().await;
    let body = serde_json::json!({"data": null, "errors": [{"message": "Something went wrong"}]});
    desk.github.fault(Fault::answer("graphql", wiremock::ResponseTemplate::new(200).set_body_json(body)));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!(view.snapshot.git_ref().unwrap().as_str(), "trunk");
}

#[tokio::test]
async fn at_most_four_requests_are_under_way_and_no_more_than_the_setting_says() {
    for (setting, at_once) in [(20, 4), (1, 1)] {
        let mut desk = Desk::with(many(20)).await.without_token();
        desk.settings.max_concurrent_requests = setting;
        desk.github.fault(Fault::hang("/raw/"));
        let source = desk.open();
        let mut waiting = std::pin::pin!(newest(&source));
        // Until they are there; nothing more can arrive before one of them is answered.
        while desk.github.count("/raw/") < at_once {
            assert!(futures_util::poll!(waiting.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
        for _ in 0..200 {
            assert!(futures_util::poll!(waiting.as_mut()).is_pending());
            tokio::task::yield_now().await;
        }
        assert_eq!(desk.github.count("/raw/"), at_once);
    }
}

#[tokio::test]
async fn no_answer_at_all_names_the_host_and_the_tries() {
    let mut desk = Desk::tea().await;
    desk.settings.api_url = "http://127.0.0.1:9".to_owned();
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(&error, SourceError::Network { tries: 3, host, .. } if host == "127.0.0.1:9"), "{error}");
}
