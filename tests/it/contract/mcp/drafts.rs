//! `flows_check`: flows that are written by a model, checked before anybody keeps them.

use serde_json::{Value, json};

use super::as_published;
use crate::support::mcp::{Bench, Session};

const RESPONSE: &str = include_str!("../../../../schemas/flows-check.response.schema.json");
const FORMAT: &str = flowy::internals::report::files::FORMAT;

/// The texts of the blocks of one kind in the page about the format.
fn blocks(kind: &str) -> Vec<String> {
    let opening = format!("\n````{kind}\n");
    FORMAT.split(&opening).skip(1).map(|part| format!("{}\n", part.split("\n````").next().unwrap())).collect()
}

async fn check(session: &mut Session, arguments: Value) -> Value {
    let answer = session.ok("flows_check", arguments).await;
    as_published(RESPONSE, &answer);
    answer
}

const SUMMARY: &str =
    "---\nname: Short_Summary\nversion: 1.0.0\ninputs: [text]\n---\n\n## Sum up {#sum}\n\nSum up: {text}\n";

#[tokio::test]
async fn the_format_is_answered_without_a_flow_read_as_a_resource_and_small() {
    let mut session = Bench::examples().session().await;
    for arguments in [json!({}), json!({"flow": "\n"})] {
        let told = session.call("flows_check", arguments).await;
        assert_eq!(told["content"][0]["text"], json!(FORMAT));
    }
    let read = session.request("resources/read", json!({"uri": "flow://format"})).await["result"].clone();
    assert_eq!(read["contents"][0]["text"], json!(FORMAT));
    let listed = session.request("resources/list", json!({})).await["result"]["resources"].clone();
    assert_eq!(listed[0]["uri"], json!("flow://format"));
    let size = flowy::internals::tokens::estimate(FORMAT);
    assert!(size <= 1_500, "{size} tokens");
}

#[tokio::test]
async fn every_example_of_the_format_is_valid() {
    let mut session = Bench::folder([("flows/Short_Summary.flow.md", SUMMARY)]).session().await;
    let (flows, templates) = (blocks("markdown"), blocks("text"));
    assert_eq!((flows.len(), templates.len()), (2, 1));
    let answer = check(&mut session, json!({"flow": flows[0], "templates": {"Messages.md": templates[0]}})).await;
    assert_eq!((&answer["valid"], &answer["flows"][0]["findings"]), (&json!(true), &json!([])), "{answer:#}");
    let steps: Vec<&Value> =
        answer["flows"][0]["steps"].as_array().unwrap().iter().map(|step| &step["after"]).collect();
    assert_eq!(steps, [&json!([]), &json!(["facts"]), &json!(["facts", "messages"])], "{answer:#}");
    assert_eq!(answer["file"], json!("flows/Launch_Brief.flow.md"));
    let answer = check(&mut session, json!({"flow": flows[1]})).await;
    assert_eq!((&answer["valid"], &answer["flows"][0]["findings"]), (&json!(true), &json!([])), "{answer:#}");
}

#[tokio::test]
async fn what_is_wrong_is_told_with_its_place_and_fixed_where_that_is_safe() {
    let mut session = Bench::folder([("flows/Short_Summary.flow.md", SUMMARY)]).session().await;
    let text = "---\nname: Tea\nversion: 1.0.0\ninputs: [who]\n---\n\n## Say {#say}\n\n```yaml\ntemplate: Gone\n```\n\n## Sum {#sum}\n\n```yaml\nflow: Short_Sumary\nvariables: { text: \"{say_result}\" }\n```\n";
    let answer = check(&mut session, json!({"flow": text})).await;
    assert_eq!((&answer["valid"], &answer["flows"][0]["executable"]), (&json!(false), &json!(true)));
    let found: Vec<(&Value, &Value)> =
        answer["flows"][0]["findings"].as_array().unwrap().iter().map(|one| (&one["rule"], &one["line"])).collect();
    assert!(found.contains(&(&json!("missing-template"), &json!(10))), "{answer:#}");
    assert!(found.contains(&(&json!("missing-flow"), &json!(16))), "{answer:#}");
    // What is no JSON any more is told, and repaired where that is clear.
    let broken = "{\"metadata\": {\"name\": \"Tea\", \"version\": \"1.0.0\"}, \"nodes\": [{\"id\": \"say\", \"type\": \"template\", \"data\": {\"template\": \"Tea\"}},], \"edges\": []}";
    let answer = check(&mut session, json!({"flow": broken})).await;
    assert_eq!(answer["fixed"], json!(broken.replace("},]", "}]")), "{answer:#}");
    let answer = check(&mut session, json!({"flow": answer["fixed"]})).await;
    assert_eq!((&answer["valid"], answer["fixed"].is_null()), (&json!(true), true), "{answer:#}");
    let answer = check(&mut session, json!({"flow": "---\nname: x"})).await;
    assert_eq!(
        (&answer["valid"], &answer["findings"][0]["rule"]),
        (&json!(false), &json!("front-matter")),
        "{answer:#}"
    );
}

#[tokio::test]
async fn a_draft_takes_the_place_of_the_flow_and_of_the_template_of_its_name_and_nothing_is_written() {
    let bench = Bench::folder([
        ("flows/Short_Summary.flow.md", SUMMARY),
        ("templates/Say.md", "Say {text}"),
        (
            "flows/Other.flow.md",
            "---\nname: Other\nversion: 1.0.0\n---\n\n## Go {#go}\n\n```yaml\nflow: Short_Summary\nvariables: { text: x }\n```\n",
        ),
    ]);
    let mut session = bench.session().await;
    let draft = json!({"metadata": {"name": "Short_Summary", "version": "2.0.0"}, "edges": [],
        "nodes": [{"id": "say", "type": "template", "data": {"label": "Say", "selectedTemplateId": "Say"}}]});
    let arguments = json!({"flow": draft.to_string(), "templates": {"Say.json": "{\"title\": \"Say\", \"template\": \"Say it: {what}\"}"}});
    let answer = check(&mut session, arguments).await;
    assert_eq!(answer["valid"], json!(true), "{answer:#}");
    let dry = &answer["flows"][0]["dryRun"];
    assert_eq!(dry["intermediateResults"][0]["output"], json!("Say it: {what}"), "{answer:#}");
    assert_eq!(dry["missing"][0]["name"], json!("what"), "{answer:#}");
    let shown = session.ok("flows_show", json!({"name": "Short_Summary"})).await;
    assert_eq!(shown["version"], json!("1.0.0"));
}

#[tokio::test]
async fn several_flows_in_one_text_are_answered_each() {
    let mut session = Bench::folder([("flows/Short_Summary.flow.md", SUMMARY)]).session().await;
    let flow = |name: &str, text: &str| {
        json!({"meta": {"id": name, "name": name, "version": "1.0.0"}, "edges": [],
            "nodes": [{"id": "say", "type": "template", "data": {"label": "Say", "template": text, "variables": ["a"]}}]})
    };
    let export =
        json!({"metadata": {"version": "1.0.0", "flowCount": 2}, "flows": [flow("One", "Say {a}"), flow("Two", "")]});
    let answer = check(&mut session, json!({"flow": export.to_string()})).await;
    let told: Vec<_> =
        answer["flows"].as_array().unwrap().iter().map(|flow| (&flow["name"], flow["findings"] == json!([]))).collect();
    assert_eq!(told, [(&json!("One"), true), (&json!("Two"), false)], "{answer:#}");
}

#[tokio::test]
async fn what_is_too_large_or_no_text_is_refused() {
    let mut session = Bench::examples().session().await;
    let large = "x".repeat(1_048_577);
    let refused = session.failed("flows_check", json!({"flow": large})).await;
    assert_eq!(refused["code"], json!("FILE_TOO_LARGE"));
    for templates in [json!({"a.md": 5}), json!({"../a.md": "x"}), json!("x")] {
        let refused = session.failed("flows_check", json!({"flow": SUMMARY, "templates": templates})).await;
        assert_eq!(refused["code"], json!("INVALID_REQUEST"), "{templates}");
    }
}

#[tokio::test]
async fn a_flow_in_a_fence_is_refused_with_the_text_that_stands_in_it() {
    let mut session =
        Bench::folder([("flows/Other.flow.md", SUMMARY.replace("Short_Summary", "Other"))]).session().await;
    for flow in [format!("```markdown\n{SUMMARY}```\n"), format!("````\n{SUMMARY}````")] {
        let answer = check(&mut session, json!({"flow": flow})).await;
        assert_eq!((&answer["valid"], &answer["fixed"]), (&json!(false), &json!(SUMMARY)), "{answer:#}");
        assert_eq!(answer["findings"].as_array().unwrap().len(), 1, "{answer:#}");
    }
}

#[tokio::test]
async fn a_template_that_is_there_and_can_not_be_read_is_not_called_missing() {
    let large = "x".repeat(2 << 20);
    let mut session =
        Bench::folder([("flows/Short_Summary.flow.md", SUMMARY), ("templates/Large.md", &large)]).session().await;
    let text = "---\nname: Tea\nversion: 1.0.0\n---\n\n## Say {#say}\n\n```yaml\ntemplate: Large\n```\n";
    let answer = check(&mut session, json!({"flow": text})).await;
    let told = answer["flows"][0]["findings"].to_string();
    assert!(told.contains("FILE_TOO_LARGE") && told.contains("is too large"), "{answer:#}");
}

#[tokio::test]
async fn of_very_many_flows_of_one_name_the_reply_stays_small() {
    let mut session = Bench::examples().session().await;
    let one = json!({"metadata": {"name": "Same", "version": "1.0.0"}, "edges": [],
        "nodes": [{"id": "a", "type": "template", "data": {"label": "A", "template": "Hi {x}"}}]});
    let answer = check(&mut session, json!({"flow": json!({"flows": vec![one; 400]}).to_string()})).await;
    assert_eq!(answer["flows"].as_array().map(Vec::len), Some(50));
    assert!(answer["nextStep"].as_str().unwrap().starts_with("the first 50 of 400 flows"), "{answer:#}");
    let told = answer.to_string();
    assert!(told.len() < 200_000, "{}", told.len());
}
