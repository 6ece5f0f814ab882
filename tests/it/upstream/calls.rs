//! Calls to a server that is a program: what comes back, what is refused, what goes wrong.

use std::time::Duration;

use flowy::internals::execute::Tools as _;
use serde_json::{Value, json};

use super::{ENDING, Ground, call, call_of, echo, failed, no_arguments, progress, text};
use crate::support::peer::until;

#[tokio::test]
async fn text_and_structured_content_come_back_side_by_side() {
    let (_ground, registry) = Ground::with_peer();
    let answer = echo(&registry, "p").await.unwrap();
    assert_eq!((answer.text.as_deref(), answer.is_error), (Some("hi"), false));
    assert_eq!(answer.structured.unwrap(), json!({"echo": "hi"}));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_browsers_picture_is_a_file_and_its_lists_are_json() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"b": ground.peer("browser", json!({"allow": "readOnly"}))}));
    let shot = call(&registry, "b:screenshot", no_arguments()).await.unwrap();
    assert_eq!((shot.text, shot.files.len(), shot.files[0].media_type.as_str()), (None, 1, "image/png"));
    assert!(shot.files[0].bytes.starts_with(b"\x89PNG"));
    let console = call(&registry, "b:console_messages", no_arguments()).await.unwrap();
    assert_eq!(console.json.unwrap()[0]["text"], "x is undefined");
    let requests = call(&registry, "b:network_requests", no_arguments()).await.unwrap();
    assert_eq!(requests.json.unwrap()["requests"][0]["status"], 500);
    // It changes something, and is not allowed by readOnly.
    let (code, message) = failed(call(&registry, "b:navigate", json!({"url": "x"})).await);
    assert_eq!(code, "TOOL_NOT_ALLOWED");
    assert_eq!(message, "b:navigate: the operator does not allow flows to call it");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn allowed_are_the_tools_that_are_named_or_fit_a_pattern() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({
        "some": ground.peer("browser", json!({"allow": ["nav*", "screensho?"]})),
        "none": ground.peer("browser", json!({"allow": []})),
    }));
    assert_eq!(text(&call(&registry, "some:navigate", json!({"url": "/x"})).await), "went to /x");
    assert!(call(&registry, "some:screenshot", no_arguments()).await.is_ok());
    for refused in ["some:console_messages", "none:screenshot"] {
        assert_eq!(failed(call(&registry, refused, no_arguments()).await).0, "TOOL_NOT_ALLOWED");
    }
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn what_is_not_there_is_named_with_the_nearest_names() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"browser": ground.peer("browser", json!({}))}));
    let (code, message) = failed(call(&registry, "browsr:navigate", no_arguments()).await);
    assert_eq!(code, "TOOL_NOT_FOUND");
    assert_eq!(message, "browsr:navigate: no external server goes by that name; the nearest are \"browser\"");
    assert!(ground.noted("started").is_empty(), "nothing is started for a server that is not there");
    let (code, message) = failed(call(&registry, "browser:screen_shot", no_arguments()).await);
    assert_eq!(code, "TOOL_NOT_FOUND");
    assert_eq!(message, "browser:screen_shot: its server has no tool of that name; the nearest are \"screenshot\"");
    let nobody = ground.registry(&json!({}));
    assert_eq!(failed(echo(&nobody, "p").await).0, "TOOL_NOT_FOUND");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_every_reason_and_never_sent() {
    let (_ground, registry) = Ground::with_peer();
    let (code, message) = failed(call(&registry, "p:echo", json!({"test": "x", "n": 1})).await);
    assert_eq!(code, "INVALID_REQUEST");
    for reason in ["args.text is missing", "args.test is not a field", "args.n is not a field"] {
        assert!(message.contains(reason), "{message}");
    }
    let (_, message) = failed(call(&registry, "p:draft7", json!({"pair": ["x", "y"]})).await);
    assert_eq!(message, "p:draft7: args.pair[0] is text, and must be a whole number");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn where_a_schema_is_none_the_server_has_the_last_word() {
    let (_ground, registry) = Ground::with_peer();
    assert_eq!(text(&call(&registry, "p:no_schema", json!({"anything": 1})).await), r#"{"anything":1}"#);
    let (code, message) = failed(call(&registry, "p:liar", json!({"text": "x"})).await);
    assert_eq!((code, message.as_str()), ("TOOL_ERROR", "p:liar: number is missing"));
    // What does not fit the tool's own promise is handed on all the same.
    assert_eq!(call(&registry, "p:misfit", no_arguments()).await.unwrap().structured.unwrap(), json!({"n": "one"}));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn an_error_that_a_tool_reports_is_an_answer_with_its_words() {
    let (_ground, registry) = Ground::with_peer();
    let answer = call(&registry, "p:failing", no_arguments()).await.unwrap();
    assert_eq!((answer.is_error, answer.text.as_deref()), (true, Some("the page is not there")));
    let (code, message) = failed(call(&registry, "p:bad_file", no_arguments()).await);
    assert_eq!((code, message.as_str()), ("TOOL_ERROR", "p:bad_file: its image number 1 is not base64"));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_server_that_asks_is_told_that_nobody_answers() {
    let (_ground, registry) = Ground::with_peer();
    let said = call(&registry, "p:asking", no_arguments()).await;
    assert!(text(&said).starts_with("nobody could be asked") || text(&said) == "they said Decline", "{said:?}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn progress_arrives_in_its_order() {
    let (_ground, registry) = Ground::with_peer();
    let (tell, mut told) = progress();
    registry.call(call_of("p:progress", no_arguments()), Some(tell)).await.unwrap();
    let mut steps = Vec::new();
    while let Ok(step) = told.try_recv() {
        steps.push(step);
    }
    assert!(!steps.is_empty() && steps.windows(2).all(|pair| pair[0].progress < pair[1].progress), "{steps:?}");
    let last = steps.last().unwrap();
    assert_eq!((last.progress, last.total, last.message.as_deref()), (3.0, Some(3.0), Some("step 3")));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_at_the_server() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"timeout": "300ms"}))}));
    let (code, message) = failed(call(&registry, "p:slow", no_arguments()).await);
    assert_eq!(code, "TIMEOUT");
    assert_eq!(message, "p:slow: no answer within 300 ms; the call was cancelled");
    until("the server heard of it", || ground.noted("slow was cancelled").len() == 1).await;
    // What only reads may be tried again; a caller's own limit goes first.
    let mut reading = call_of("p:slow_reading", no_arguments());
    reading.timeout = Some(Duration::from_millis(100));
    let (code, message) = failed(registry.call(reading, None).await);
    assert!(code == "TIMEOUT" && message.contains("100 ms"), "{message}");
    // The server is as well as it was.
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_caller_that_goes_away_cancels_its_call_at_the_server() {
    let (ground, registry) = Ground::with_peer();
    {
        let slow = call(&registry, "p:slow", no_arguments());
        tokio::pin!(slow);
        tokio::select! {
            answer = &mut slow => panic!("{answer:?}"),
            () = until("the call began", || !ground.noted("slow began").is_empty()) => {}
        }
    }
    until("the server heard of it", || ground.noted("slow was cancelled").len() == 1).await;
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn calls_wait_for_their_turn_however_long_they_may_take_themselves() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"maxParallel": 1, "timeout": "2s"}))}));
    assert!(echo(&registry, "p").await.is_ok());
    let mut waiting = call_of("p:echo", json!({"text": "x"}));
    waiting.timeout = Some(Duration::from_millis(200));
    let slow = call(&registry, "p:slow", no_arguments());
    let (slow, waited) = tokio::join!(slow, registry.call(waiting, None));
    assert_eq!(slow.unwrap_err().code.word(), "TIMEOUT");
    assert_eq!(text(&waited), "x");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_program_gets_a_cleared_environment_and_its_folder() {
    let (ground, registry) = Ground::with_peer();
    let answer = call(&registry, "p:surroundings", no_arguments()).await.unwrap().json.unwrap();
    assert_eq!(answer["folder"], ground.folder().to_str().unwrap());
    let names: Vec<&str> = answer["names"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"PATH") && names.contains(&"FLOWY_TEST_PEER"), "{names:?}");
    // Cargo gives dozens of these to the test that starts it; shells add a few of their own.
    let strange: Vec<&&str> = names.iter().filter(|name| name.starts_with("CARGO")).collect();
    assert!(strange.is_empty(), "{strange:?}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_server_that_is_switched_off_is_not_started() {
    let ground = Ground::new();
    for off in [json!({"disabled": true}), json!({"enabled": false}), json!({"enabled": true, "disabled": true})] {
        let registry = ground.registry(&json!({"p": ground.peer("", off)}));
        let (code, message) = failed(echo(&registry, "p").await);
        assert_eq!(code, "TOOL_UNAVAILABLE");
        assert_eq!(message, "p:echo: the operator switched its server off");
        registry.warm().await;
        registry.read_unknown(|_| true).await;
        let refused = registry.refresh("p").await.unwrap().unwrap_err();
        assert_eq!(refused.why, "the operator switched it off");
        assert!(registry.refresh("q").await.is_none());
        assert!(ground.noted("started").is_empty());
        assert_eq!(registry.toolbox().trouble("p"), Some("the operator switched it off"));
    }
}
