//! Completion over the wire: names, tags, ids, and what arguments may hold.

use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session, flow, stateless, template};

impl Session {
    async fn complete(&mut self, reference: Value, argument: &str, typed: &str, context: Value) -> Value {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": typed},
                            "context": {"arguments": context}});
        let answer = self.request("completion/complete", params).await;
        assert!(answer["result"]["completion"].is_object(), "{answer}");
        answer["result"]["completion"].clone()
    }

    async fn values(&mut self, reference: Value, argument: &str, typed: &str) -> Value {
        self.complete(reference, argument, typed, json!({})).await["values"].clone()
    }
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

fn pattern(uri: &str) -> Value {
    json!({"type": "ref/resource", "uri": uri})
}

#[tokio::test]
async fn an_argument_of_a_prompt_is_completed_with_what_it_may_hold() {
    let mut session = Bench::examples().session().await;
    let weekly = || prompt("flow_Weekly_Status");
    assert_eq!(session.values(weekly(), "audience", "").await, json!(["executives", "team", "customers"]));
    assert_eq!(session.values(weekly(), "audience", "T").await, json!(["team", "executives", "customers"]));
    assert_eq!(session.values(prompt("Weekly_Status"), "include_risks", "f").await, json!(["false"]));
    assert_eq!(session.values(weekly(), "team", "x").await, json!([]));
    assert_eq!(session.values(weekly(), "nothing", "x").await, json!([]));
}

#[tokio::test]
async fn sets_and_flows_are_completed_by_name() {
    let file = json!({"id": "1", "title": "About", "template": "Explain {flowName}", "variables": ["flowName"],
        "variableValueSets": [{"id": "s", "name": "formal", "values": {"flowName": "x"}},
                              {"id": "t", "name": "informal", "values": {"flowName": "y"}}]});
    let bench = Bench::folder([
        ("templates/About.json".to_owned(), json!({"templates": [file]}).to_string()),
        flow("Alpha", &[("n1", "About")], &[]),
    ]);
    let mut session = bench.session().await;
    for name in ["template_About", "flow_Alpha"] {
        assert_eq!(session.values(prompt(name), "_variableSet", "form").await, json!(["formal", "informal"]));
        assert_eq!(session.values(prompt(name), "flowName", "al").await, json!(["Alpha"]));
    }
}

#[tokio::test]
async fn parts_of_addresses_are_completed() {
    let mut session = Bench::examples().session().await;
    for uri in ["flow://metadata/{name}", "flow://schema/{name}", "flow://graph/{name}"] {
        assert_eq!(session.values(pattern(uri), "name", "week").await, json!(["Weekly_Status"]), "{uri}");
    }
    let triage = session.values(pattern("template://{name}"), "name", "ticket").await;
    assert_eq!(triage, json!(["Ticket_Reply", "Ticket_Triage"]));
    let tags = session.values(pattern("flow://list{?tags}"), "tags", "report").await;
    assert_eq!(tags, json!(["reporting"]));
    let more = session.values(pattern("flow://list{?tags}"), "tags", "reporting,tea").await;
    assert_eq!(more, json!(["reporting,team"]));

    let values = json!({"company": "T", "market": "AI", "budget": 1});
    let run = session
        .ok("flows_execute", json!({"flowName": "Marketing_Strategy", "initialVariables": values, "detail": "outputs"}))
        .await;
    let id = run["executionId"].as_str().unwrap();
    assert_eq!(session.values(pattern("execution://{id}"), "id", "marketing").await, json!([id]));
    let steps = || pattern("execution://{id}/{nodeId}");
    let all = session.complete(steps(), "nodeId", "", json!({"id": id})).await["values"].clone();
    let ran = run["intermediateResults"].as_array().unwrap().iter().map(|step| step["nodeId"].clone());
    assert_eq!(all, json!(ran.chain([json!("result")]).collect::<Vec<_>>()));
    assert_eq!(session.values(steps(), "nodeId", "").await, json!([]), "of no execution");
}

#[tokio::test]
async fn a_hundred_values_at_most_and_what_begins_so_first() {
    let files = (0..150).map(|number| flow(&format!("F{number:03}"), &[("n1", "Text")], &[]));
    let bench = Bench::folder(files.chain([template("Text", "Hello")]));
    let mut session = bench.session().await;
    let found = session.complete(pattern("flow://graph/{name}"), "name", "", json!({})).await;
    assert_eq!(
        (found["values"].as_array().unwrap().len(), &found["total"], &found["hasMore"]),
        (100, &json!(150), &json!(true))
    );
    let found = session.complete(pattern("flow://graph/{name}"), "name", "f14", json!({})).await;
    assert_eq!((found["values"].as_array().unwrap().len(), &found["hasMore"]), (10, &json!(false)));
}

#[tokio::test]
async fn what_is_unknown_is_refused_in_both_eras() {
    let bench = Bench::examples();
    let mut shaken = bench.session().await;
    let mut session = Session::raw(bench.app.clone());
    for reference in [prompt("flow_Nobody"), pattern("flow://secrets/{name}")] {
        let params = json!({"ref": reference, "argument": {"name": "name", "value": ""}});
        let error = shaken.request("completion/complete", params.clone()).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["source"]), (&json!(-32602), &json!("completion/complete")));
        let mut params = params;
        params["_meta"] = stateless();
        assert_eq!(session.request("completion/complete", params).await["error"]["code"], json!(-32602));
    }
    let params = json!({"ref": pattern("template://{name}"), "argument": {"name": "name", "value": "Ticket_T"},
                        "_meta": stateless()});
    let result = session.request("completion/complete", params).await["result"].clone();
    assert_eq!(
        (&result["resultType"], &result["completion"]["values"]),
        (&json!("complete"), &json!(["Ticket_Triage"]))
    );
}
