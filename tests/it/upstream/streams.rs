//! Answers over HTTP: which of several is the answer, what is passed over, and what a status says.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::odd::{answering, calls, refusing_notifications};
use super::{ENDING, Ground, call, echo, failed, no_arguments, text};

fn result(id: impl Into<Value>, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": {"content": [{"type": "text", "text": text}]}})
}

fn events(text: String) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(text, "text/event-stream")
}

#[tokio::test]
async fn of_several_answers_in_a_stream_each_call_takes_its_own() {
    let server = answering(false, |asked| {
        let own = asked["id"].as_i64().unwrap();
        let others = (own - 3..own + 3).filter(|id| *id != own).map(|id| result(id, "another's"));
        let said = others.chain([result(own, asked["params"]["arguments"]["text"].as_str().unwrap())]);
        events(said.fold(String::new(), |mut text, said| {
            write!(text, "event: message\ndata: {said}\n\n").unwrap();
            text
        }))
    })
    .await;
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
    let say = |text: &'static str| call(&registry, "p:echo", json!({"text": text}));
    let (a, b) = tokio::join!(say("a"), say("b"));
    assert_eq!((text(&a), text(&b)), ("a", "b"));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn the_only_answer_of_a_post_answers_it_whatever_id_it_has() {
    for id in [Value::Null, json!("none"), json!(4711), json!("text"), json!("own")] {
        for in_a_stream in [true, false] {
            let said = id.clone();
            let server = answering(false, move |asked| {
                let mut answer =
                    result(if said == "own" { asked["id"].to_string().into() } else { said.clone() }, "hi");
                if said == "none" {
                    answer.as_object_mut().unwrap().remove("id");
                }
                if in_a_stream {
                    events(format!("data: {answer}\n\n"))
                } else {
                    ResponseTemplate::new(200).set_body_json(answer)
                }
            })
            .await;
            let ground = Ground::new();
            let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
            assert_eq!((text(&echo(&registry, "p").await), calls(&server).await), ("hi", 1), "{id} {in_a_stream}");
            registry.shut_down(ENDING).await;
        }
    }
}

#[tokio::test]
async fn lines_without_a_meaning_and_events_that_are_no_message_cost_no_answer() {
    for junk in ["retry: abc\n", "foo: x\n", "data : x\n", "hello\n", "id\nevent\n", "data: hello\n\n", "data: [1]\n\n"]
    {
        let server =
            answering(false, move |asked| events(format!("{junk}data: {}\n", result(asked["id"].clone(), "hi")))).await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
        assert_eq!((text(&echo(&registry, "p").await), calls(&server).await), ("hi", 1), "{junk:?}");
        registry.shut_down(ENDING).await;
    }
    let server = answering(false, |_| events("data: hello\n\n".to_owned())).await;
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert!(code == "TOOL_ERROR" && message.ends_with("it begins with \"hello\""), "{message}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_status_that_may_be_about_the_session_or_the_call_is_told_in_the_servers_words() {
    let error =
        |id: Value, message: &str| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": message}});
    for (status, own, message, code, reads, changes) in [
        (404, true, "no tool echo here", "TOOL_ERROR", 1, 1),
        (400, false, "text must not be empty", "TOOL_ERROR", 2, 1),
        (400, true, "text must not be empty", "TOOL_ERROR", 1, 1),
    ] {
        let server = answering(true, move |asked| {
            let id = if own { asked["id"].clone() } else { Value::Null };
            ResponseTemplate::new(status).set_body_json(error(id, message))
        })
        .await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
        let (told, said) = failed(echo(&registry, "p").await);
        assert_eq!((told, calls(&server).await), (code, reads), "{said}");
        assert!(said.ends_with(&format!("p:echo: {message}")), "{said}");
        let (told, said) = failed(call(&registry, "p:change", no_arguments()).await);
        assert_eq!((told, calls(&server).await), (code, reads + changes), "{said}");
        assert!(said.ends_with(&format!("p:change: {message}")), "{said}");
        registry.shut_down(ENDING).await;
    }
    for (status, code) in [(400, "TOOL_ERROR"), (404, "TOOL_UNAVAILABLE")] {
        let server =
            answering(true, move |_| ResponseTemplate::new(status).set_body_string("query is malformed")).await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
        let (told, said) = failed(echo(&registry, "p").await);
        assert!(
            told == code && said.contains(&format!("it answers with status {status}: query is malformed")),
            "{told} {said}"
        );
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_a_notification_is_used_all_the_same() {
    for status in [400, 404, 500] {
        let server = refusing_notifications(status).await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
        assert_eq!(text(&echo(&registry, "p").await), "hi", "{status}");
        registry.shut_down(ENDING).await;
    }
}
