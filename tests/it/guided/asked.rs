//! Clients that can put a form before their person are asked at once.

use serde_json::{Value, json};

use super::{begin, bench, status};
use crate::support::mcp::{Bench, Session, stateless};

fn asking(answer: &Value) -> Value {
    json!({"executionId": answer["executionId"], "stepToken": answer["stepToken"], "reason": "It is unclear.",
           "questions": ["Which database?", "Since when?"]})
}

/// A session with a client that can show forms, an open step, and the question that reaches the client.
async fn asked(bench: &Bench) -> (Session, Value, i64, Value) {
    let mut session = bench.session_of(json!({"elicitation": {}})).await;
    let begun = begin(&mut session).await;
    let id = session.ask("tools/call", json!({"name": "flows_escalate", "arguments": asking(&begun)})).await;
    let question = session.receive().await.expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (session, begun, id, question)
}

async fn answer(session: &mut Session, question: &Value, result: Value) {
    session.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
}

#[tokio::test]
async fn a_person_who_answers_at_once_lets_the_step_go_on_in_the_same_reply() {
    let bench = bench();
    let (mut session, begun, id, question) = asked(&bench).await;
    assert_eq!(question["params"]["message"], "Flow Feature, step Design: It is unclear.");
    let fields = question["params"]["requestedSchema"]["properties"].as_object().unwrap();
    let titles: Vec<&str> = fields.values().map(|field| field["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Which database?", "Since when?"]);
    // Meanwhile the question is on record: another process may answer it.
    let mut other = bench.again().session().await;
    assert_eq!(status(&mut other, &begun, &[]).await["state"], "awaiting_human");
    answer(&mut session, &question, json!({"action": "accept", "content": {"answer1": "SQLite", "answer2": "v1"}}))
        .await;
    let resumed = session.answer_to(id).await["result"]["structuredContent"].clone();
    assert_eq!((&resumed["answered"], &resumed["step"]["id"]), (&json!(true), &json!("design")));
    let told = json!({"Which database?": "SQLite", "Since when?": "v1"});
    assert_eq!(resumed["step"]["context"]["answers"][0]["answers"], told);
    // Asked again it is the same, and nobody is bothered twice.
    assert_eq!(session.ok("flows_escalate", asking(&begun)).await, resumed);
}

#[tokio::test]
async fn a_person_who_declines_leaves_the_question_open() {
    for (result, told) in [
        (json!({"action": "decline"}), "declined to answer"),
        (json!({"action": "cancel"}), "closed it without an answer"),
        (json!({"action": "accept", "content": {}}), "closed it without an answer"),
    ] {
        let bench = bench();
        let (mut session, begun, id, question) = asked(&bench).await;
        answer(&mut session, &question, result).await;
        let waiting = session.answer_to(id).await["result"]["structuredContent"].clone();
        assert_eq!(
            (&waiting["status"], &waiting["resumeWith"]),
            (&json!("pending_human_input"), &json!("flows_resume"))
        );
        assert!(waiting["message"].as_str().unwrap().contains(told), "{waiting}");
        assert_eq!(status(&mut session, &begun, &[]).await["state"], "awaiting_human");
    }
}

#[tokio::test]
async fn a_client_that_fails_to_ask_leaves_the_question_open() {
    let bench = bench();
    let (mut session, _, id, question) = asked(&bench).await;
    session.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32603, "message": "no"}})).await;
    assert_eq!(session.answer_to(id).await["result"]["structuredContent"]["status"], "pending_human_input");
}

#[tokio::test]
async fn an_error_of_null_is_none_and_an_answer_that_can_not_be_read_leaves_the_question_open() {
    let bench = bench();
    let (mut session, _, id, question) = asked(&bench).await;
    let result = json!({"action": "accept", "content": {"answer1": "SQLite", "answer2": "v1"}});
    session.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result, "error": null})).await;
    assert_eq!(session.answer_to(id).await["result"]["structuredContent"]["answered"], true);
    let own = question["id"].to_string();
    for odd in [
        r#""error":"no""#,
        r#""error":null"#,
        r#""error":{"message":"no"}"#,
        r#""error":{"code":"E","message":"no"}"#,
        r#""result":{"action":"decline"},"error":{"code":1,"message":"x"}"#,
        r#""result":"ok""#,
        r#""x":1"#,
        r#""result":{"n":NaN}"#,
    ] {
        let (mut session, _, id, question) = asked(&bench).await;
        assert_eq!(question["id"].to_string(), own);
        session.send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{own},{odd}}}\n").as_bytes()).await;
        let told = session.answer_to(id).await;
        assert_eq!(told["result"]["structuredContent"]["status"], "pending_human_input", "{odd}");
        assert_eq!(session.heard, Vec::<Value>::new(), "{odd}");
    }
}

#[tokio::test]
async fn who_answers_elsewhere_first_counts() {
    let bench = bench();
    let (mut session, begun, id, question) = asked(&bench).await;
    let mut other = bench.again().session().await;
    let resumed = other.ok("flows_resume", json!({"executionId": begun["executionId"], "answers": "Postgres"})).await;
    answer(&mut session, &question, json!({"action": "accept", "content": {"answer1": "SQLite"}})).await;
    let told = session.answer_to(id).await["result"]["structuredContent"].clone();
    assert_eq!(told["step"]["context"]["answers"][0]["answers"], "Postgres");
    assert_eq!(told["stepToken"], resumed["stepToken"]);
}

#[tokio::test]
async fn a_question_that_is_answered_elsewhere_is_taken_from_the_person() {
    let bench = bench();
    let (mut session, begun, id, question) = asked(&bench).await;
    let mut other = bench.again().session().await;
    other.ok("flows_resume", json!({"executionId": begun["executionId"], "answers": "Postgres"})).await;
    let (mut told, mut taken) = (Value::Null, Value::Null);
    while told.is_null() || taken.is_null() {
        let message = session.receive().await.expect("a message");
        if message["id"] == json!(id) {
            told = message["result"]["structuredContent"].clone();
        } else if message["method"] == "notifications/cancelled" {
            taken = message["params"]["requestId"].clone();
        }
    }
    assert_eq!(told["step"]["context"]["answers"][0]["answers"], "Postgres");
    assert_eq!(taken, question["id"]);
}

/// A call of a client without sessions, which can show forms.
async fn call(session: &mut Session, tool: &str, arguments: Value, responses: Option<Value>) -> Value {
    let mut meta = stateless();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    if let Some(responses) = responses {
        params["inputResponses"] = responses;
    }
    session.request("tools/call", params).await["result"].clone()
}

#[tokio::test]
async fn since_2026_07_28_the_result_asks_and_the_second_call_answers() {
    let bench = bench();
    let mut session = Session::raw(bench.app.clone());
    let given = json!({"flowName": "Feature", "initialVariables": {"feature": "x"}});
    let begun = call(&mut session, "flows_begin", given, None).await["structuredContent"].clone();
    let required = call(&mut session, "flows_escalate", asking(&begun), None).await;
    assert_eq!(required["resultType"], "input_required", "{required}");
    let (key, form) = required["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(
        (&form["method"], &form["params"]["message"]),
        (&json!("elicitation/create"), &json!("Flow Feature, step Design: It is unclear."))
    );
    let mut responses = json!({});
    responses[key] = json!({"action": "accept", "content": {"answer1": "SQLite", "answer2": "v1"}});
    let resumed =
        call(&mut session, "flows_escalate", asking(&begun), Some(responses)).await["structuredContent"].clone();
    assert_eq!(resumed["step"]["context"]["answers"][0]["answers"]["Which database?"], "SQLite");

    let mut responses = json!({});
    responses[key] = json!({"action": "decline"});
    let declined = call(&mut session, "flows_escalate", asking(&resumed), Some(responses)).await;
    assert_eq!(declined["structuredContent"]["status"], "pending_human_input", "{declined}");
    assert!(declined["structuredContent"]["message"].as_str().unwrap().contains("declined to answer"), "{declined}");
}

#[tokio::test]
async fn clients_that_show_no_forms_are_told_what_to_ask() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut session = bench().session_of(capabilities).await;
        let begun = begin(&mut session).await;
        let told = session.ok("flows_escalate", asking(&begun)).await;
        assert_eq!(told["status"], "pending_human_input");
        assert!(told["message"].as_str().unwrap().contains("Which database?"));
        assert!(session.heard.is_empty());
    }
}
