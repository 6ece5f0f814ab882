//! Guided executions, over the wire: a model, its person, and everything that goes wrong between them.

mod asked;
mod contracts;
mod crash;
#[cfg(target_os = "linux")]
mod full;
mod golden;
mod killed;
mod outputs;
mod people;
mod repeats;
pub(crate) mod storage;
#[cfg(unix)]
mod terminal;
mod tools;
mod walking;

use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session};

/// Six steps with a fork (code and docs) and a join (review), personas and a contract.
const FEATURE: &str = r#"{"metadata":{"name":"Feature","version":"1.0.0","description":"Builds a feature."},
"nodes":[
{"id":"in","type":"multi_input","data":{"label":"In","variables":["feature"]}},
{"id":"design","type":"template","data":{"label":"Design","template":"Design {feature}.","persona":"architect"}},
{"id":"code","type":"template","data":{"label":"Code","template":"Code: {design_result}","persona":"implementer","contract":"change"}},
{"id":"docs","type":"template","data":{"label":"Docs","template":"Document: {design_result}","persona":"implementer","optional":true}},
{"id":"review","type":"template","data":{"label":"Review","template":"Review {code_result.title} and {docs_result}","persona":"reviewer"}},
{"id":"fix","type":"template","data":{"label":"Fix","template":"Fix {review_result}"}},
{"id":"sum","type":"template","data":{"label":"Sum","template":"Sum up {fix_result}"}},
{"id":"out","type":"result","data":{"label":"Out"}}],
"edges":[{"source":"in","target":"design"},{"source":"design","target":"code"},{"source":"design","target":"docs"},
{"source":"code","target":"review"},{"source":"docs","target":"review"},{"source":"review","target":"fix"},
{"source":"fix","target":"sum"},{"source":"sum","target":"out"}]}"#;

const CHANGE: &str = r#"{"type":"object","required":["title","files"],"properties":{
"title":{"type":"string","minLength":1},"files":{"type":"array","minItems":1,"items":{"type":"string"}},
"risk":{"enum":["low","high"]}}}"#;

/// The catalog that most of these stories take place in.
fn catalog() -> Vec<(String, String)> {
    let role = |name: &str, text: &str| (format!("personas/{name}.md"), format!("---\nname: {name}\n---\n{text}\n"));
    vec![
        ("flows/Feature.json".to_owned(), FEATURE.to_owned()),
        ("contracts/change.json".to_owned(), CHANGE.to_owned()),
        role("architect", "You are an architect. Decide little, and say why."),
        role("implementer", "You are an implementer. Change as little as needed."),
        role("reviewer", "You are a reviewer. Find what is wrong."),
    ]
}

/// What a good model hands in for each step.
fn output(step: &str) -> Value {
    match step {
        "design" => json!({"summary": "A plan.", "result": "THE PLAN"}),
        "code" => json!({"title": "THE CHANGE", "files": ["a.rs"]}),
        "docs" => json!({"summary": "Documented."}),
        "review" => json!("Looks fine."),
        "fix" => {
            json!({"summary": "Nothing to fix.", "artifacts": [{"type": "file", "title": "a.rs", "content": "fn a() {}"}]})
        }
        "sum" => json!({"summary": "Done.", "result": "THE END"}),
        other => panic!("nobody knows a step {other}"),
    }
}

fn bench() -> Bench {
    Bench::folder(catalog())
}

/// A session in which the flow has begun.
async fn begun() -> (Session, Value) {
    let (_, session, begun) = begun_on_bench().await;
    (session, begun)
}

/// The same with its bench.
async fn begun_on_bench() -> (Bench, Session, Value) {
    let bench = bench();
    let mut session = bench.session().await;
    let begun = begin(&mut session).await;
    (bench, session, begun)
}

/// Begins the flow.
async fn begin(session: &mut Session) -> Value {
    session
        .ok(
            "flows_begin",
            json!({"flowName": "Feature", "task": "Add login.", "initialVariables": {"feature": "login"}}),
        )
        .await
}

#[allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]
/// What is asked of `flows_complete_step` for the open step of `answer`.
fn completing(answer: &Value, output: Value) -> Value {
    json!({"executionId": answer["executionId"], "stepToken": answer["stepToken"], "output": output})
}

/// Does the open step as a good model would.
async fn complete(session: &mut Session, answer: &Value) -> Value {
    let step = answer["step"]["id"].as_str().expect("an open step");
    session.ok("flows_complete_step", completing(answer, output(step))).await
}

/// Goes on until that step is open.
async fn until(session: &mut Session, mut answer: Value, step: &str) -> Value {
    while answer["step"]["id"] != json!(step) {
        answer = complete(session, &answer).await;
    }
    answer
}

async fn status(session: &mut Session, answer: &Value, include: &[&str]) -> Value {
    session.ok("flows_status", json!({"executionId": answer["executionId"], "include": include})).await
}

/// How many entries the log has.
async fn entries(session: &mut Session, answer: &Value) -> usize {
    status(session, answer, &["events"]).await["events"].as_array().unwrap().len()
}
