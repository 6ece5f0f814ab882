//! Resources: the addresses that clients attach to conversations.

use serde_json::{Value, json};

use crate::support::github::GitHub;
use crate::support::mcp::{Bench, Session, flow, template};

async fn read(session: &mut Session, uri: &str) -> (String, String) {
    let answer = session.request("resources/read", json!({"uri": uri})).await;
    let content = &answer["result"]["contents"][0];
    assert_eq!(content["uri"], json!(uri), "{answer}");
    (content["mimeType"].as_str().unwrap().to_owned(), content["text"].as_str().unwrap().to_owned())
}

async fn json_of(session: &mut Session, uri: &str) -> Value {
    let (media, text) = read(session, uri).await;
    assert_eq!(media, "application/json");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn every_pattern_leads_to_what_the_tools_tell() {
    let mut session = Bench::examples().session().await;
    let patterns = session.request("resources/templates/list", json!({})).await;
    assert_eq!(patterns["result"]["resourceTemplates"].as_array().unwrap().len(), 7);

    let names = json_of(&mut session, "flow://list").await;
    assert_eq!((&names["total"], &names["flows"][0]), (&json!(11), &json!("Blog_Article")));
    let tagged = json_of(&mut session, "flow://list?tags=writing,meeting").await;
    assert_eq!(tagged["flows"], json!(["Meeting_Follow_Up"]));
    let entry = json_of(&mut session, "flow://metadata/Marketing_Strategy").await;
    assert_eq!((&entry["name"], &entry["inputs"]["budget"]["required"]), (&json!("Marketing_Strategy"), &json!(true)));
    let schema = json_of(&mut session, "flow://schema/Marketing_Strategy").await;
    assert_eq!(schema["required"], json!(["company", "market", "budget"]));
    let (media, graph) = read(&mut session, "flow://graph/Launch_Brief").await;
    assert!(media == "text/vnd.mermaid" && graph.starts_with("flowchart TD\n"), "{graph}");
    let (media, text) = read(&mut session, "template://Brand_Positioning").await;
    assert!(media == "text/plain" && text.contains("{company}"), "{text}");

    let run =
        json!({"flowName": "Marketing_Strategy", "initialVariables": {"company": "C", "market": "M", "budget": "B"}});
    let done = session.ok("flows_execute", run).await;
    let id = done["executionId"].as_str().unwrap().to_owned();
    let status = json_of(&mut session, &format!("execution://{id}")).await;
    assert_eq!((&status["executionId"], status["steps"].as_array().unwrap().len()), (&json!(id), 2));
    let (_, text) = read(&mut session, &format!("execution://{id}/node-2")).await;
    assert_eq!(json!(text), done["finalResult"]);
    let listed = session.request("resources/list", json!({})).await;
    let uris: Vec<&str> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!((uris.len(), uris[0]), (13, "flow://list"));
    assert!(uris.contains(&format!("execution://{id}").as_str()) && uris.contains(&"flow://metadata/Blog_Article"));
}

#[tokio::test]
async fn what_a_guided_step_refers_to_can_be_read() {
    let mut session = Bench::examples().session().await;
    let begin =
        json!({"flowName": "Marketing_Strategy", "initialVariables": {"company": "C", "market": "M", "budget": "B"}});
    let begun = session.ok("flows_begin", begin).await;
    let output = json!({"summary": "Short.", "result": "The whole of it.\n".repeat(9_000)});
    let complete = json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "output": output});
    let next = session.ok("flows_complete_step", complete).await;
    let refers = next["step"]["previousOutput"]["node-1"]["ref"].as_str().unwrap().to_owned();
    assert!(refers.starts_with("execution://"), "{next}");
    let (media, text) = read(&mut session, &refers).await;
    assert_eq!((media.as_str(), json!(text)), ("text/plain", output["result"].clone()));
    let status = json_of(&mut session, &format!("execution://{}", begun["executionId"].as_str().unwrap())).await;
    assert_eq!(status["steps"][0]["state"], json!("done"));
}

#[tokio::test]
async fn names_are_encoded_in_addresses_and_decoded_once() {
    let odd = "Mail & Report (v2) 100% 보고서";
    let mut files = vec![template("T", "Tea {x}")];
    files.push(flow(odd, &[("n1", "T")], &[]));
    files.extend((0..130).map(|n| flow(&format!("Flow_{n:03}"), &[("n1", "T")], &[])));
    let github = GitHub::serving(files).await;
    let mut session = Bench::github(&github).session().await;
    let mut found = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let page = session.request("resources/list", json!({"cursor": cursor})).await["result"].clone();
        found.extend(page["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let uri = found.iter().find(|uri| uri.contains("Mail")).unwrap().clone();
    assert!(found.len() == 132 && uri.contains("%26") && uri.contains("100%25") && !uri.contains(' '), "{uri}");
    assert_eq!(json_of(&mut session, &uri).await["name"], json!(odd));
    let refused = session.request("resources/list", json!({"cursor": "100.another"})).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["code"]),
        (&json!(-32602), &json!("INVALID_CURSOR"))
    );
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_said_to_and_leads_out_of_nothing() {
    let mut session = Bench::examples().session().await;
    for uri in [
        "flow://metadata/Gone",
        "flow://schema/..%2F..%2Fetc%2Fpasswd",
        "flow://other/Marketing_Strategy",
        "flow://metadata/",
        "flow://metadata/%FF",
        "template://Gone",
        "execution://none",
        "execution://none/node-1",
        "file:///etc/passwd",
        "nothing",
    ] {
        let answer = session.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["error"]["code"], json!(-32002), "{uri}: {answer}");
        let data = &answer["error"]["data"];
        assert!(data["message"].is_string() && data["nextStep"].is_string(), "{uri}: {answer}");
    }
}
