//! Answers over HTTP that come as a stream of events: which of them is the answer, and what is passed over.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::odd::{answering, calls};
use super::{ENDING, Ground, call, echo, failed, text};

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
