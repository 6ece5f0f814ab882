//! Servers that are addresses: both generations of the protocol, headers, redirects, and what is
//! said when nobody is there.

use std::time::Duration;

use flowy::internals::execute::Tools as _;
use serde_json::json;
use wiremock::matchers::{header, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{ENDING, Ground, call, call_of, echo, failed, manual, no_arguments, progress, text, with};
use crate::support::peer::{Address, until};

const ERAS: [&str; 3] = ["initialize", "discover", "auto"];

#[tokio::test]
async fn text_files_and_progress_come_over_http_in_every_generation() {
    for era in ERAS {
        let address = Address::serve("").await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": with(address.entry(), json!({"era": era}))}));
        let answer = echo(&registry, "p").await.unwrap();
        assert_eq!((answer.text.as_deref(), answer.structured), (Some("hi"), Some(json!({"echo": "hi"}))), "{era}");
        let (tell, mut told) = progress();
        registry.call(call_of("p:progress", no_arguments()), Some(tell)).await.unwrap();
        let mut last = None;
        while let Ok(step) = told.try_recv() {
            last = Some(step.progress);
        }
        assert!(last.is_some(), "{era}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn a_call_over_http_that_takes_too_long_or_loses_its_caller_is_cancelled() {
    for era in ERAS {
        let address = Address::serve("").await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": with(address.entry(), json!({"era": era, "timeout": "300ms"}))}));
        assert_eq!(failed(call(&registry, "p:slow", no_arguments()).await).0, "TIMEOUT", "{era}");
        until("it is told", || address.peer.noted("slow was cancelled").len() == 1).await;
        {
            let slow = call(&registry, "p:slow", no_arguments());
            tokio::pin!(slow);
            tokio::select! {
                answer = &mut slow => panic!("{answer:?}"),
                () = until("the call began", || address.peer.noted("slow began").len() == 2) => {}
            }
        }
        until("it is told again", || address.peer.noted("slow was cancelled").len() == 2).await;
        assert_eq!(text(&echo(&registry, "p").await), "hi", "{era}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn an_address_where_nobody_is_says_so_and_comes_back() {
    for era in ERAS {
        let ground = Ground::new();
        let clock = manual();
        let address = Address::serve("").await;
        let bound = address.bound;
        let servers = json!({"p": with(address.entry(), json!({"era": era, "connectTimeout": "5s"}))});
        let registry = ground.registry_by(&servers, clock.clone(), None);
        assert!(echo(&registry, "p").await.is_ok(), "{era}");
        drop(address);
        until("nobody listens any more", || {
            std::net::TcpStream::connect_timeout(&bound, Duration::from_secs(1)).is_err()
        })
        .await;
        let (code, message) = failed(echo(&registry, "p").await);
        assert_eq!(code, "TOOL_UNAVAILABLE", "{era}: {message}");
        assert!(!message.contains("http://"), "{message}");
        let _address = Address::serve_at("", bound).await;
        clock.advance(Duration::from_secs(100));
        let mut answer = echo(&registry, "p").await;
        if answer.is_err() {
            // The first call found the old session gone.
            clock.advance(Duration::from_secs(100));
            answer = echo(&registry, "p").await;
        }
        assert_eq!(text(&answer), "hi", "{era}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn headers_are_sent_and_no_message_shows_them_or_the_address() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(header("authorization", "Bearer s3cr3t-token"))
        .respond_with(ResponseTemplate::new(418).set_body_string("no: s3cr3t-token"))
        .expect(1..)
        .mount(&server)
        .await;
    let ground = Ground::new();
    let entry = json!({"url": format!("{}/s3cr3t-path?key=s3cr3t-key", server.uri()),
        "headers": {"Authorization": "Bearer s3cr3t-token"}, "allow": "*"});
    let registry = ground.registry(&json!({"p": entry}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE");
    assert!(message.contains("418") && !message.contains("s3cr3t"), "{message}");
    assert!(!format!("{registry:?}").contains("s3cr3t"));
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200)).expect(0).mount(&other).await;
    let server = MockServer::start().await;
    let there = ResponseTemplate::new(307).insert_header("location", other.uri());
    Mock::given(method("POST")).respond_with(there).mount(&server).await;
    let ground = Ground::new();
    let entry = json!({"url": server.uri(), "headers": {"X-Key": "s3cr3t-key"}, "allow": "*"});
    let (code, message) = failed(echo(&ground.registry(&json!({"p": entry})), "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE", "{message}");
}

#[tokio::test]
async fn what_an_address_says_instead_of_the_protocol_is_told_in_words() {
    for (answer, words) in [
        (ResponseTemplate::new(401).insert_header("www-authenticate", "Bearer"), "it asks for authorization (401)"),
        (ResponseTemplate::new(404), "404"),
        (ResponseTemplate::new(500), "it answers with status 500"),
        (ResponseTemplate::new(200).set_body_raw("<html>", "text/html"), "something else than the protocol"),
    ] {
        let server = MockServer::start().await;
        Mock::given(method("POST")).respond_with(answer).mount(&server).await;
        for era in ["initialize", "auto"] {
            let ground = Ground::new();
            let entry = json!({"url": server.uri(), "allow": "*", "era": era});
            let (code, message) = failed(echo(&ground.registry(&json!({"p": entry})), "p").await);
            assert_eq!(code, "TOOL_UNAVAILABLE");
            assert!(message.contains(words), "{era}: {message}");
        }
    }
}

#[tokio::test]
async fn an_address_that_never_answers_is_given_up_in_time() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_delay(Duration::from_mins(1)))
        .mount(&server)
        .await;
    let ground = Ground::new();
    let entry = json!({"url": server.uri(), "allow": "*", "connectTimeout": "300ms"});
    let (code, message) = failed(echo(&ground.registry(&json!({"p": entry})), "p").await);
    assert!(code == "TOOL_UNAVAILABLE" && message.contains("300 ms"), "{code}: {message}");
}

#[tokio::test]
async fn a_refused_authorization_is_told_to_whoever_gave_it() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(401)).mount(&server).await;
    for era in ["initialize", "auto"] {
        let ground = Ground::new();
        let headers = json!({"Authorization": "Bearer s3cr3t-old"});
        let entry = json!({"url": server.uri(), "headers": headers, "allow": "*", "era": era});
        let (_, message) = failed(echo(&ground.registry(&json!({"p": entry})), "p").await);
        assert!(message.contains("it refused the Authorization header of the servers file (401)"), "{era}: {message}");
    }
}
