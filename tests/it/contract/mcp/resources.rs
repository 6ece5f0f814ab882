//! Resources over the wire: lists, pages, addresses, what isn't there, and what changes.

use serde_json::{Value, json};

use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, Session, flow, stateless, template};

impl Session {
    /// What stands at an address: the text and its media type.
    async fn read(&mut self, uri: &str) -> (String, String) {
        let answer = self.request("resources/read", json!({"uri": uri})).await;
        let contents = answer["result"]["contents"].as_array().unwrap_or_else(|| panic!("{uri}: {answer}"));
        assert_eq!((contents.len(), &contents[0]["uri"]), (1, &json!(uri)));
        let text = contents[0]["text"].as_str().unwrap().to_owned();
        (text, contents[0]["mimeType"].as_str().unwrap().to_owned())
    }

    async fn read_json(&mut self, uri: &str) -> Value {
        let (text, media_type) = self.read(uri).await;
        assert!(media_type.ends_with("json"), "{uri}: {media_type}");
        serde_json::from_str(&text).unwrap()
    }
}

#[tokio::test]
async fn the_lists_of_the_examples_are_as_reviewed() {
    let mut session = Bench::examples().session().await;
    let listed = session.request("resources/list", json!({})).await["result"].clone();
    let patterns = session.request("resources/templates/list", json!({})).await["result"].clone();
    let line = |resource: &Value| {
        let address = resource.get("uri").or_else(|| resource.get("uriTemplate")).unwrap().as_str().unwrap();
        format!(
            "{address} | {} | {}",
            resource["mimeType"].as_str().unwrap(),
            resource["description"].as_str().unwrap_or_default()
        )
    };
    let lines: Vec<String> = listed["resources"].as_array().unwrap().iter().map(line).collect();
    let more: Vec<String> = patterns["resourceTemplates"].as_array().unwrap().iter().map(line).collect();
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("resources", format!("{}\n\n{}\n", lines.join("\n"), more.join("\n")));
    });
}

#[tokio::test]
async fn what_a_resource_holds_is_what_the_tool_answers() {
    let mut session = Bench::examples().session().await;
    let names = session.read_json("flow://list").await;
    let listed = session.ok("flows_list", json!({"mode": "detailed"})).await;
    let of_tool: Vec<&Value> = listed["flows"].as_array().unwrap().iter().map(|flow| &flow["name"]).collect();
    assert_eq!(names["flows"], json!(of_tool));
    let tagged = session.read_json("flow://list?tags=reporting,team").await;
    assert_eq!(tagged["flows"], json!(["Weekly_Status"]));
    let metadata = session.read_json("flow://metadata/Weekly_Status").await;
    let entry = listed["flows"].as_array().unwrap().iter().find(|flow| flow["name"] == json!("Weekly_Status"));
    for (key, value) in entry.unwrap().as_object().unwrap() {
        assert_eq!(&metadata[key], value, "{key}");
    }
    let schema = session.read_json("flow://schema/Weekly_Status").await;
    assert_eq!(schema["properties"]["audience"]["enum"], json!(["executives", "team", "customers"]));
    jsonschema::validator_for(&schema).unwrap();
    let graph = session.read("flow://graph/Weekly_Status").await;
    let shown = session.call("flows_show", json!({"name": "Weekly_Status", "format": "mermaid"})).await;
    assert_eq!(graph, (shown["content"][0]["text"].as_str().unwrap().to_owned(), "text/vnd.mermaid".to_owned()));
    let template = session.read("template://Ticket_Triage").await;
    let shown = session.ok("flows_show", json!({"name": "Ticket_Triage"})).await;
    assert_eq!(template, (shown["text"].as_str().unwrap().to_owned(), "text/plain".to_owned()));
}

#[tokio::test]
async fn executions_are_listed_and_read_with_their_steps_and_texts() {
    let long = "x".repeat(250_000);
    let bench = Bench::folder([
        flow("Two", &[("a/b", "Text"), ("n2", "Text")], &[("a/b", "n2")]),
        template("Text", "Hello {who}"),
    ]);
    let mut session = bench.session().await;
    let arguments = json!({"flowName": "Two", "initialVariables": {"who": long}});
    let id = session.ok("flows_execute", arguments).await["executionId"].as_str().unwrap().to_owned();
    let listed = session.request("resources/list", json!({})).await["result"]["resources"].clone();
    assert_eq!(
        (&listed[1]["uri"], &listed[2]["uri"], &listed[3]["uri"]),
        (&json!("flow://list"), &json!(format!("execution://{id}")), &json!("flow://metadata/Two"))
    );
    assert!(listed[2]["description"].as_str().unwrap().contains("completed"));
    let status = session.read_json(&format!("execution://{id}")).await;
    assert_eq!((&status["executionId"], status["steps"].as_array().unwrap().len()), (&json!(id), 2));
    for node in ["a%2Fb", "a/b", "n2", "result"] {
        let (text, media_type) = session.read(&format!("execution://{id}/{node}")).await;
        assert_eq!((text.len(), media_type.as_str()), ("Hello ".len() + long.len(), "text/plain"), "{node}");
    }
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
    let (text, media) = session.read(&refers).await;
    assert_eq!((media.as_str(), json!(text)), ("text/plain", output["result"].clone()));
    let status = session.read_json(&format!("execution://{}", begun["executionId"].as_str().unwrap())).await;
    assert_eq!(status["steps"][0]["state"], json!("done"));
}

#[tokio::test]
async fn a_text_that_no_message_holds_is_cut_and_says_how_to_go_on() {
    let bench = Bench::folder([flow("One", &[("n1", "Text")], &[]), template("Text", "{who}")]);
    let mut session = bench.session().await;
    let arguments = json!({"flowName": "One", "initialVariables": {"who": "\"".repeat(700_000)}, "detail": "final"});
    let id = session.ok("flows_execute", arguments).await["executionId"].as_str().unwrap().to_owned();
    let answer = session.request("resources/read", json!({"uri": format!("execution://{id}/n1")})).await;
    assert!(answer.to_string().len() < 1_000_000, "{}", answer.to_string().len());
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
    let cursor = text.rsplit("cursor ").next().unwrap().split(' ').next().unwrap();
    let rest = json!({"executionId": id, "nodeId": "n1", "cursor": cursor, "limit": 10});
    let rest = session.ok("flows_status", rest).await;
    let shown = text.chars().filter(|c| *c == '"').count();
    assert_eq!((&rest["offset"], &rest["text"]), (&json!(shown), &json!("\"".repeat(10))));
}

#[tokio::test]
async fn names_of_any_script_and_signs_are_encoded_and_decoded_once() {
    let names = ["C# & F+ (v2)", "港の週報", "100%41", "a?b=c"];
    let files = names.iter().map(|name| flow(name, &[("n1", "Text")], &[]));
    let bench = Bench::folder(files.chain([template("Text", "Hello {who}")]));
    let mut session = bench.session().await;
    let listed = session.request("resources/list", json!({})).await["result"]["resources"].clone();
    let mut seen = Vec::new();
    for resource in listed.as_array().unwrap().iter().skip(2) {
        let uri = resource["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains([' ', '#', '?', '&', '+', '(']), "{uri}");
        let entry = session.read_json(uri).await;
        assert_eq!(entry["name"], resource["name"]);
        seen.push(entry["name"].as_str().unwrap().to_owned());
    }
    seen.sort_unstable();
    let mut all = names.map(str::to_owned);
    all.sort_unstable();
    assert_eq!(seen, all);
    // Somebody who forgot to encode means the same.
    assert_eq!(session.read_json("flow://metadata/C# & F+ (v2)").await["name"], json!("C# & F+ (v2)"));
}

#[tokio::test]
async fn pages_hold_a_hundred_and_follow_each_other_through_a_change() {
    let name = |number: usize| format!("F{number:03}");
    let files = (0..250).map(|number| flow(&name(number), &[("n1", "Text")], &[]));
    let github = GitHub::serving(files.chain([template("Text", "Hello")])).await;
    let mut session = Bench::github(&github).session().await;
    let (mut names, mut cursor, mut sizes) = (Vec::new(), Value::Null, Vec::new());
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = session.request("resources/list", params).await["result"].clone();
        sizes.push(page["resources"].as_array().unwrap().len());
        names.extend(page["resources"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        // A flow in front of the page that comes next moves nothing.
        let (path, text) = flow(&format!("A{}", sizes.len()), &[("n1", "Text")], &[]);
        github.put(&path, Some(text.as_bytes()));
        session.ok("flows_list", json!({"refresh": true, "limit": 1})).await;
    }
    assert_eq!(sizes, [100, 100, 52]);
    assert_eq!(names[2..], (0..250).map(name).collect::<Vec<_>>()[..]);
}

#[tokio::test]
async fn a_made_up_cursor_is_refused() {
    let mut session = Bench::examples().session().await;
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        // An empty one is none, as in the arguments of tools.
        assert!(session.request(method, json!({"cursor": ""})).await["result"].is_object(), "{method}");
        for cursor in ["100", "after_zz"] {
            let error = session.request(method, json!({"cursor": cursor})).await["error"].clone();
            assert_eq!(
                (&error["code"], &error["data"]["code"]),
                (&json!(-32602), &json!("INVALID_CURSOR")),
                "{method} {cursor}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_not_there_has_the_code_of_the_clients_version_and_our_error() {
    let bench = Bench::examples();
    let mut session = bench.session().await;
    for (uri, code) in [
        ("flow://metadata/Weekly", "FLOW_NOT_FOUND"),
        ("flow://schema/Nobody", "FLOW_NOT_FOUND"),
        ("template://Weekly_Status", "TEMPLATE_NOT_FOUND"),
        ("execution://gone_1", "EXECUTION_NOT_FOUND"),
        ("execution://gone_1/n1", "EXECUTION_NOT_FOUND"),
        ("flow://metadata/..%2F..%2Fetc%2Fpasswd", "INVALID_REQUEST"),
        ("flow://metadata/a%E2%80%AEb", "INVALID_REQUEST"),
        ("template://a%2Fb", "INVALID_REQUEST"),
        ("flow://metadata/%FF", "INVALID_REQUEST"),
        ("flow://list?tag=x", "INVALID_REQUEST"),
        ("file:///etc/passwd", "INVALID_REQUEST"),
        ("flow://secrets/x", "INVALID_REQUEST"),
    ] {
        let error = session.request("resources/read", json!({"uri": uri})).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32002), &json!(code)), "{uri}: {error}");
        assert_eq!(
            (&error["data"]["source"], &error["message"]),
            (&json!("resources/read"), &error["data"]["message"])
        );
        assert!(error["data"]["nextStep"].is_string(), "{error}");
        if !uri.contains("%E2") {
            assert_eq!(error["data"]["uri"], json!(uri));
        }
    }
    let mut session = Session::raw(bench.app.clone());
    let params = json!({"uri": "flow://metadata/Nobody", "_meta": stateless()});
    let error = session.request("resources/read", params).await["error"].clone();
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("FLOW_NOT_FOUND")));
}

#[tokio::test]
async fn a_catalog_that_cannot_be_reached_is_not_a_resource_that_is_not_there() {
    let github = GitHub::serving([flow("One", &[("n1", "Text")], &[])]).await;
    github.fault(Fault::status("/repos/", 500));
    let mut session = Bench::github(&github).session().await;
    for (method, params) in [
        ("resources/read", json!({"uri": "flow://metadata/One"})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "flow_One"})),
    ] {
        let error = session.request(method, params).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32000), &json!("GITHUB_ERROR")), "{method}");
        assert_eq!(error["data"]["source"], json!(method));
    }
}

#[tokio::test]
async fn what_may_be_kept_is_as_fresh_as_the_catalog() {
    let github = GitHub::serving([flow("One", &[("n1", "Text")], &[]), template("Text", "Hello {who}")]).await;
    let bench = Bench::github(&github);
    let mut session = Session::raw(bench.app.clone());
    let mut ask = async |method: &str, params: Value| {
        let mut params = params;
        params["_meta"] = stateless();
        let answer = session.request(method, params).await["result"].clone();
        assert_eq!(answer["resultType"], json!("complete"));
        (answer["ttlMs"].as_u64().unwrap(), answer["cacheScope"].as_str().unwrap().to_owned())
    };
    let quarter = 15 * 60_000;
    assert_eq!(ask("resources/list", json!({})).await, (quarter, "private".to_owned()));
    bench.clock.advance(std::time::Duration::from_mins(5));
    for (method, params) in [
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({"uri": "flow://list"})),
        ("resources/read", json!({"uri": "flow://schema/One"})),
        ("resources/read", json!({"uri": "template://Text"})),
    ] {
        assert_eq!(ask(method, params).await, (quarter - 5 * 60_000, "private".to_owned()), "{method}");
    }
    assert_eq!(ask("resources/templates/list", json!({})).await.1, "public");
}

fn told(messages: &[Value]) -> Vec<&str> {
    let mut told: Vec<&str> = messages.iter().filter_map(|message| message["method"].as_str()).collect();
    told.sort_unstable();
    told
}

const BOTH: [&str; 2] = ["notifications/prompts/list_changed", "notifications/resources/list_changed"];

async fn push_and_refresh(github: &GitHub, session: &mut Session, meta: Option<Value>) {
    let (path, text) = flow("Two", &[("n1", "Text")], &[]);
    github.put(&path, Some(text.as_bytes()));
    for _ in 0..2 {
        let mut params = json!({"name": "flows_list", "arguments": {"refresh": true}});
        if let Some(meta) = &meta {
            params["_meta"] = meta.clone();
        }
        let listed = session.request("tools/call", params).await["result"]["structuredContent"].clone();
        assert_eq!(listed["total"], json!(2));
    }
}

#[tokio::test]
async fn a_push_and_a_refresh_tell_a_client_that_shook_hands_once() {
    let github = GitHub::serving([flow("One", &[("n1", "Text")], &[]), template("Text", "Hi")]).await;
    let mut session = Bench::github(&github).session().await;
    session.ok("flows_list", json!({})).await;
    session.ok("flows_list", json!({"refresh": true})).await;
    assert_eq!(told(&session.heard), [""; 0], "nothing has changed yet");
    push_and_refresh(&github, &mut session, None).await;
    while told(&session.heard).len() < 2 {
        let message = session.receive().await.unwrap();
        session.heard.push(message);
    }
    session.ok("flows_list", json!({"refresh": true})).await;
    session.shut().await;
    assert_eq!(told(&session.end().await.1), BOTH);
}

#[tokio::test]
async fn a_push_and_a_refresh_tell_a_client_that_listens_once() {
    let github = GitHub::serving([flow("One", &[("n1", "Text")], &[]), template("Text", "Hi")]).await;
    let bench = Bench::github(&github);
    let mut session = Session::raw(bench.app.clone());
    let params = json!({"name": "flows_list", "arguments": {}, "_meta": stateless()});
    session.request("tools/call", params).await;
    let filter = json!({"resourcesListChanged": true, "promptsListChanged": true, "toolsListChanged": true});
    let id = session.ask("subscriptions/listen", json!({"notifications": filter, "_meta": stateless()})).await;
    let hello = session.receive().await.unwrap();
    assert_eq!(hello["method"], json!("notifications/subscriptions/acknowledged"), "{hello}");
    assert_eq!(hello["params"]["notifications"], json!({"promptsListChanged": true, "resourcesListChanged": true}));
    push_and_refresh(&github, &mut session, Some(stateless())).await;
    while told(&session.heard).len() < 2 {
        let message = session.receive().await.unwrap();
        session.heard.push(message);
    }
    for message in &session.heard {
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(id), "{message}");
    }
    session.shut().await;
    let (_, rest) = session.end().await;
    assert_eq!(told(&rest), BOTH);
    assert!(rest.iter().any(|message| message["id"] == json!(id)), "the subscription ends with an answer");
}

#[tokio::test]
async fn who_does_not_listen_is_told_nothing_without_a_session() {
    let github = GitHub::serving([flow("One", &[("n1", "Text")], &[]), template("Text", "Hi")]).await;
    let bench = Bench::github(&github);
    let mut session = Session::raw(bench.app.clone());
    let params = json!({"name": "flows_list", "arguments": {}, "_meta": stateless()});
    session.request("tools/call", params).await;
    push_and_refresh(&github, &mut session, Some(stateless())).await;
    session.shut().await;
    assert_eq!(told(&session.end().await.1), [""; 0]);
}

#[tokio::test]
async fn capabilities_say_what_is_there() {
    let bench = Bench::examples();
    let mut session = Session::raw(bench.app.clone());
    let hello = session.request("initialize", crate::support::mcp::handshake("2025-11-25")).await["result"].clone();
    let capabilities = &hello["capabilities"];
    assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
    assert_eq!(capabilities["resources"], json!({"listChanged": true}));
    assert_eq!(capabilities["completions"], json!({}));
}
