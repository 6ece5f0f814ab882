//! The modes that go by usage, and templates as what is listed.

use serde_json::{Value, json};

use super::{LIST_RESPONSE, as_published};
use crate::support::mcp::{Bench, Session, flow, template};

async fn listed(session: &mut Session, arguments: Value) -> Value {
    let listed = session.ok("flows_list", arguments).await;
    as_published(LIST_RESPONSE, &listed);
    listed
}

fn names(listed: &Value, under: &str) -> Vec<String> {
    listed[under].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_was_executed_comes_first_with_how_it_went() {
    let files = [flow("Alpha", &[("n1", "T")], &[]), flow("Zeta", &[("n1", "T")], &[]), template("T", "Hello {who}")];
    let bench = Bench::folder(files).counting();
    let mut session = bench.session().await;
    assert_eq!(names(&listed(&mut session, json!({"mode": "hot"})).await, "flows"), ["Alpha", "Zeta"]);
    for _ in 0..2 {
        session.ok("flows_execute", json!({"flowName": "Zeta", "initialVariables": {"who": "you"}})).await;
    }
    session.shut().await;
    session.end().await;
    bench.app.finish_counting(std::time::Duration::from_secs(10));
    // Another process: this one would know what it read for some seconds.
    let mut session = bench.again().counting().session().await;
    let hot = listed(&mut session, json!({"mode": "hot"})).await;
    assert_eq!(names(&hot, "flows"), ["Zeta", "Alpha"]);
    let zeta = &hot["flows"][0];
    assert_eq!(
        (&zeta["params"], &zeta["successRate"], &zeta["popularity"]),
        (&json!(["who"]), &json!(100.0), &json!("warm"))
    );
    assert!(zeta["avgLatencyMs"].is_number(), "{zeta}");
    let full = listed(&mut session, json!({"mode": "full", "names": ["Zeta"]})).await;
    let performance = &full["flows"][0]["performance"];
    assert_eq!((&performance["totalInvocations"], performance["p95LatencyMs"].is_number()), (&json!(2), true));
    assert_eq!(names(&listed(&mut session, json!({"mode": "summaries"})).await, "flows"), ["Zeta", "Alpha"]);
}

#[tokio::test]
async fn the_schema_of_everything_is_the_one_that_a_flow_publishes() {
    let bench = Bench::examples();
    let mut session = bench.session().await;
    let all = names(&listed(&mut session, json!({})).await, "flows");
    for some in all.chunks(10) {
        let full = listed(&mut session, json!({"mode": "full", "names": some, "maxTokens": 100_000})).await;
        for entry in full["flows"].as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            let uri = format!("flow://schema/{name}");
            let read = session.request("resources/read", json!({"uri": uri})).await;
            let text = read["result"]["contents"][0]["text"].as_str().unwrap();
            let mut published: Value = serde_json::from_str(text).unwrap();
            // How sets of values are chosen is not told here.
            published["properties"].as_object_mut().unwrap().remove("_variableSet");
            let properties = published["properties"].as_object().unwrap();
            let told = entry["parameters"]["properties"].as_object().unwrap();
            assert!(told.keys().eq(properties.keys()), "{name}");
            for (input, told) in told {
                // What is published takes every value that executing takes.
                let kinds = &properties[input]["type"];
                assert!(kinds.is_null() || kinds.to_string().contains(&told["type"].to_string()), "{name} {input}");
                assert_eq!(told.get("description"), properties[input].get("description"), "{name} {input}");
            }
            let required = published.get("required").cloned().unwrap_or(json!([]));
            assert_eq!(entry["parameters"]["required"], required, "{name}");
        }
    }
}

#[tokio::test]
async fn categories_are_groups_that_the_filter_takes() {
    let mut session = Bench::examples().session().await;
    let all = listed(&mut session, json!({})).await["total"].as_u64().unwrap();
    let groups = listed(&mut session, json!({"mode": "categories"})).await;
    assert!(groups.get("flows").is_none());
    let mut seen = 0;
    for group in groups["categories"].as_array().unwrap() {
        seen += group["flowCount"].as_u64().unwrap();
        if group["category"].is_null() {
            continue;
        }
        let some = listed(&mut session, json!({"category": group["category"]})).await;
        assert_eq!(some["total"], group["flowCount"], "{group}");
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn filters_give_the_same_flows_in_every_mode() {
    let mut session = Bench::examples().session().await;
    for filter in [json!({"tags": ["marketing"]}), json!({"complexity": "simple"}), json!({"query": "review my code"})]
    {
        let ask = |mode: &str| {
            let mut arguments = filter.clone();
            arguments["mode"] = json!(mode);
            arguments
        };
        let mut first = names(&listed(&mut session, ask("compact")).await, "flows");
        assert!(!first.is_empty(), "{filter}");
        first.sort_unstable();
        for mode in ["standard", "detailed", "hot", "summaries", "index"] {
            let other = listed(&mut session, ask(mode)).await;
            let mut names = match mode {
                "index" => {
                    let lines = other["flows"].as_array().unwrap().iter();
                    lines.map(|line| line.as_str().unwrap().split('(').next().unwrap().to_owned()).collect()
                }
                _ => names(&other, "flows"),
            };
            names.sort_unstable();
            assert_eq!(names, first, "{mode} with {filter}");
        }
    }
}

#[tokio::test]
async fn templates_are_listed_in_the_same_modes() {
    let files = [
        flow("Tea", &[("n1", "Steep")], &[]),
        template("Steep", "Steep {leaves} for {minutes} minutes"),
        template("Whisk", "Whisk {powder}"),
    ];
    let mut session = Bench::folder(files).session().await;
    for mode in ["compact", "standard", "detailed", "hot", "summaries"] {
        let found = listed(&mut session, json!({"kind": "templates", "mode": mode})).await;
        assert_eq!(names(&found, "templates"), ["Steep", "Whisk"], "{mode}");
        assert_eq!(found["filter"], json!({"kind": "templates"}));
        assert!(found.get("flows").is_none());
    }
    let compact = listed(&mut session, json!({"kind": "templates"})).await;
    assert_eq!(compact["templates"][0]["inputSummary"], json!("leaves (string, required), minutes (string, required)"));
    let found = listed(&mut session, json!({"kind": "templates", "query": "whisk the powder"})).await;
    assert_eq!(names(&found, "templates"), ["Whisk"]);
    let one = listed(&mut session, json!({"kind": "templates", "mode": "full", "names": ["Whisk", "Nothing"]})).await;
    assert_eq!(names(&one, "templates"), ["Whisk"]);
    assert_eq!(one["warnings"][0]["code"], json!("UNKNOWN_NAME"), "{one}");
}

#[tokio::test]
async fn what_a_mode_does_not_take_is_refused_with_what_it_does() {
    let mut session = Bench::examples().session().await;
    for (arguments, word) in [
        (json!({"mode": "full"}), "names"),
        (json!({"mode": "warm"}), "mode"),
        (json!({"kind": "personas"}), "kind"),
        (json!({"maxLatencyMs": -1}), "maxLatencyMs"),
    ] {
        let refused = session.failed("flows_list", arguments).await;
        assert_eq!(refused["code"], "INVALID_REQUEST", "{refused}");
        let told =
            [&refused["message"], &refused["nextStep"]].map(|said| said.as_str().unwrap_or_default().contains(word));
        assert!(told.contains(&true), "{refused}");
    }
}
