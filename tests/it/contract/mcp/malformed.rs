//! Messages that are none, methods that aren't there: answered so that no client waits for ever.

use serde_json::{Value, json};

use crate::support::mcp::Bench;

#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused_under_its_own_id() {
    let mut session = Bench::examples().session().await;
    for (line, id, code, part) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, json!(7), -32600, "method"),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a"), -32600, "method"),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":[1]}"#, json!(8), -32602, "tools/list"),
        (r#"{"jsonrpc":"2.0","id":9,"method":"flows/list","params":"all"}"#, json!(9), -32602, "flows/list"),
        (r#"{"jsonrpc":"1.0","id":10,"method":"ping"}"#, json!(10), -32600, "2.0"),
        (r#"{"id":11,"method":"ping"}"#, json!(11), -32600, "2.0"),
        (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, json!(null), -32600, "id"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping","params":3}"#, json!(null), -32600, "id"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, json!(null), -32600, "batch"),
        ("5", json!(null), -32600, "object"),
        (r#"{"jsonrpc":"2.0","id":1,"method"#, json!(1), -32700, "not JSON"),
        (r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"n":NaN}}"#, json!(2), -32700, "not JSON"),
        (r#"{"method":"ping","params":{"n":NaN},"jsonrpc":"2.0","id":"b"}"#, json!("b"), -32700, "not JSON"),
        ("hello", json!(null), -32700, "not JSON"),
    ] {
        session.send_bytes(format!("{line}\n").as_bytes()).await;
        let answer = session.receive().await.expect("an answer");
        assert_eq!((answer.get("id"), &answer["error"]["code"]), (Some(&id), &json!(code)), "{line}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(session.request("ping", json!({})).await["result"], json!({}), "and serving goes on");
}

#[tokio::test]
async fn half_of_a_character_and_empty_lists_for_objects_are_taken() {
    let mut session = Bench::examples().session().await;
    let call = r#"{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"flows_list","arguments":"#;
    for arguments in [r"[]", r#"{"query":["cut \ud83d"]}"#] {
        session.send_bytes(format!("{call}{arguments}}}}}\n").as_bytes()).await;
        let answer = session.receive().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(50), &json!(false)), "{answer}");
    }
    let variables = json!({"flowName": "Blog_Article", "initialVariables": [], "dryRun": true});
    let answer = session.request("tools/call", json!({"name": "flows_execute", "arguments": variables})).await;
    assert_ne!(answer["result"]["structuredContent"]["code"], "INVALID_REQUEST", "{answer}");
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_under_its_own_id() {
    let mut session = Bench::examples().session().await;
    let long = "x".repeat(17 << 20);
    for message in [
        format!(r#"{{"jsonrpc":"2.0","id":60,"method":"ping","params":{{"a":"{long}"}}}}"#),
        format!(r#"{{"method":"ping","params":{{"a":"{long}"}},"jsonrpc":"2.0","id":60}}"#),
    ] {
        session.send_bytes(format!("{message}\n").as_bytes()).await;
        let answer = session.receive().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(60), &json!(-32600)));
    }
}

#[tokio::test]
async fn an_initialize_that_lacks_something_names_it() {
    let bench = Bench::examples();
    let mut session = crate::support::mcp::Session::raw(bench.app.clone());
    let answer = session.request("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})).await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    assert!(answer["error"]["message"].as_str().unwrap().contains("params.clientInfo"), "{answer}");
    let hello = session.request("initialize", crate::support::mcp::handshake("2025-11-25")).await;
    assert!(hello["result"]["serverInfo"].is_object(), "{hello}");
}

#[tokio::test]
async fn what_wants_no_answer_gets_none() {
    let mut session = Bench::examples().session().await;
    for line in [
        "",
        "  \r",
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what we said, sent back"}}"#,
        r#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
    ] {
        session.send_bytes(format!("{line}\n").as_bytes()).await;
    }
    session.request("ping", json!({})).await;
    assert_eq!(session.heard, Vec::<Value>::new());
}

#[tokio::test]
async fn rough_lines_before_the_first_word_are_answered_too() {
    let bench = Bench::examples();
    let mut session = crate::support::mcp::Session::raw(bench.app.clone());
    session.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":{}}\nGET / HTTP/1.1\n").await;
    assert_eq!(session.receive().await.unwrap()["id"], json!(5));
    assert_eq!(session.receive().await.unwrap()["error"]["code"], json!(-32700));
    let hello = session.request("initialize", crate::support::mcp::handshake("2025-11-25")).await;
    assert!(hello["result"]["serverInfo"].is_object(), "{hello}");
}

#[tokio::test]
async fn an_unknown_method_is_answered_with_what_there_is() {
    let mut session = Bench::examples().session().await;
    for method in ["resources/subscribe", "logging/setLevel", "tasks/get", "no/such", "flows"] {
        let params = match method {
            "resources/subscribe" => json!({"uri": "flow://list"}),
            "tasks/get" => json!({"taskId": "x"}),
            "logging/setLevel" => json!({"level": "info"}),
            _ => json!({}),
        };
        let error = session.request(method, params).await["error"].clone();
        assert_eq!(error["code"], json!(-32601), "{method}: {error}");
        let message = error["message"].as_str().unwrap();
        for part in [method, "tools/call", "flows/list", "flows_execute"] {
            assert!(message.contains(part), "{method}: {part} in {message}");
        }
    }
    for method in ["flows/show", "flows_status"] {
        let error = session.request(method, json!({})).await["error"].clone();
        let message = error["message"].as_str().unwrap();
        let tool = method.replace('/', "_");
        assert!(error["code"] == json!(-32601) && message.contains("tools/call"), "{error}");
        assert!(message.contains(&format!("name {tool}")), "{message}");
    }
    let misread = session.request("initialize", json!({"protocolVersion": {}})).await["error"].clone();
    assert_eq!(misread["code"], json!(-32602), "{misread}");
    for method in ["prompts/get", "resources/read", "completion/complete"] {
        let misread = session.request(method, json!({})).await["error"].clone();
        assert_eq!(misread["code"], json!(-32602), "{method}: {misread}");
    }
}
