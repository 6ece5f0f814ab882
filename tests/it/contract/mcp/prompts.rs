//! Prompts over the wire: which are listed, what they say, and what is refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::github::GitHub;
use crate::support::mcp::{Bench, Session, flow, stateless, template};

impl Session {
    async fn prompts(&mut self) -> Vec<Value> {
        let answer = self.request("prompts/list", json!({})).await;
        answer["result"]["prompts"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The text of a prompt's one message.
    async fn prompt(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.request("prompts/get", json!({"name": name, "arguments": arguments})).await;
        let messages = answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
        messages[0]["content"]["text"].as_str().unwrap().to_owned()
    }

    async fn refused(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("prompts/get", json!({"name": name, "arguments": arguments})).await;
        let error = answer["error"].clone();
        assert_eq!((&error["code"], &error["data"]["source"]), (&json!(-32602), &json!("prompts/get")), "{answer}");
        error
    }
}

#[tokio::test]
async fn the_list_of_the_examples_is_as_reviewed() {
    let mut session = Bench::examples().with(|settings| settings.prompt_templates = true).session().await;
    let mut lines = Vec::new();
    for prompt in session.prompts().await {
        lines.push(format!("{} | {}", prompt["name"].as_str().unwrap(), prompt["title"].as_str().unwrap()));
        for argument in prompt["arguments"].as_array().into_iter().flatten() {
            let required = if argument["required"] == json!(true) { "required" } else { "optional" };
            let description = argument["description"].as_str().unwrap_or_default();
            lines.push(format!("  {} ({required}) {description}", argument["name"].as_str().unwrap()));
        }
    }
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("prompts", lines.join("\n"));
    });
}

#[tokio::test]
async fn a_flow_is_a_script_as_reviewed() {
    let mut session = Bench::examples().session().await;
    let values = json!({"feature": "Search by {tag}", "codebase": "web app", "constraints": ""});
    let text = session.prompt("flow_Feature_Development", values).await;
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("script", text);
    });
}

#[tokio::test]
async fn every_listed_name_is_fine_for_every_client_and_leads_to_its_prompt() {
    let names = ["C# D", "C D", "C_D", "港の週報", "마케팅", &"x".repeat(150)];
    let files = names.iter().map(|name| flow(name, &[("n1", "Text")], &[]));
    let bench = Bench::folder(files.chain([template("Text", "Hello {who}"), template("C D", "Template {who}")]));
    let bench = bench.with(|settings| settings.prompt_templates = true);
    let mut session = bench.session().await;
    let listed = session.prompts().await;
    let slugs: BTreeSet<&str> = listed.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!((listed.len(), slugs.len()), (8, 8), "{slugs:?}");
    assert!(slugs.contains("flow_C_D") && slugs.contains("template_C_D") && slugs.contains("template_Text"));
    for prompt in &listed {
        let slug = prompt["name"].as_str().unwrap();
        assert!((1..=64).contains(&slug.len()), "{slug}");
        assert!(slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')), "{slug}");
        let text = session.prompt(slug, json!({"who": "Ada"})).await;
        let (_, name) = prompt["title"].as_str().unwrap().split_once(": ").unwrap();
        let begins: String = name.chars().take(60).collect();
        assert!(slug.starts_with("template_") || text.contains(&begins), "{slug}: {text}");
        assert!(text.contains("Ada"), "{slug}: {text}");
    }
    // The exact name is fine too; a flow comes before a template.
    assert!(session.prompt("C D", json!({"who": "Ada"})).await.contains("\"C D\""));
    assert_eq!(session.prompt("Text", json!({"who": "Ada"})).await, "Hello Ada");
}

#[tokio::test]
async fn no_more_are_listed_than_the_setting_says_and_the_rest_is_answered() {
    let files = (0..5).map(|number| flow(&format!("F{number}"), &[("n1", "Text")], &[]));
    let github = GitHub::serving(files.chain([template("Text", "Hello {who}")])).await;
    for (most, templates, listed) in [(0, true, 0), (3, true, 3), (6, true, 6), (6, false, 5)] {
        let bench = Bench::github_with(&github, |settings| {
            (settings.max_prompts, settings.prompt_templates) = (most, templates);
        });
        let mut session = bench.session().await;
        let prompts = session.prompts().await;
        assert_eq!(prompts.len(), listed);
        assert!(prompts.iter().take(5).all(|prompt| prompt["name"].as_str().unwrap().starts_with("flow_")));
        assert_eq!(session.prompt("template_Text", json!({"who": "Ada"})).await, "Hello Ada");
    }
}

#[tokio::test]
async fn values_are_put_in_once_and_earlier_outputs_stay_open() {
    let bench = Bench::folder([
        flow("Two", &[("first", "First"), ("second", "Second")], &[("first", "second")]),
        template("First", "One: {who} {not a name} {{who}}"),
        template("Second", "Two: {first_result} ``` and {who}"),
    ]);
    let mut session = bench.session().await;
    let text = session.prompt("flow_Two", json!({"who": "{first_result} {who}"})).await;
    assert!(text.contains("One: {first_result} {who} {not a name} {{first_result} {who}}"), "{text}");
    assert!(text.contains("Two: {@first_result} ``` and {first_result} {who}"), "{text}");
    assert!(text.contains("{@first_result} is the output of first"), "{text}");
    assert!(text.contains("````text\nTwo:"), "a fence is longer than any in the text: {text}");
    let places: Vec<usize> = ["## Step 1 of 2", "One:", "## Step 2 of 2", "Two:", "## At the end"]
        .iter()
        .map(|part| text.find(part).unwrap())
        .collect();
    assert!(places.is_sorted());
    assert_eq!(
        session.prompt("template_First", json!({"who": "{who}$1"})).await,
        "One: {who}$1 {not a name} {{who}$1}"
    );
}

#[tokio::test]
async fn missing_arguments_are_all_named() {
    let mut session = Bench::examples().session().await;
    let error = session.refused("flow_Weekly_Status", json!({"week": "", "notes": null})).await;
    assert_eq!(error["data"]["code"], json!("MISSING_VARIABLES"));
    assert_eq!(error["data"]["details"]["missing"], json!(["week", "notes"]));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("week") && message.contains("notes"), "{message}");
    assert!(error["data"]["nextStep"].is_string(), "{error}");
    let error = session.refused("template_Ticket_Triage", json!({"product": "x"})).await;
    assert_eq!(error["data"]["details"]["missing"], json!(["customer_message"]));
    let error = session.refused("flow_Weekly_Status", json!({"week": "1", "notes": "n", "audience": "cats"})).await;
    assert!(error["message"].as_str().unwrap().contains("customers"), "{error}");
}

#[tokio::test]
async fn what_is_no_prompt_says_which_is_near() {
    let mut session = Bench::examples().session().await;
    let error = session.refused("flow_Weekly_Statu", json!({})).await;
    assert!(error["data"]["nextStep"].as_str().unwrap().contains("flow_Weekly_Status"), "{error}");
    session.refused("../flows/x", json!({})).await;
}

#[tokio::test]
async fn a_variable_set_gives_what_is_asked_for() {
    let file = json!({"id": "1", "title": "Greeting", "template": "Dear {who}, {what}", "variables": ["who", "what"],
        "variableValueSets": [{"id": "s", "name": "formal", "values": {"who": "Dr Lovelace"}}]});
    let bench = Bench::folder([
        ("templates/Greeting.json".to_owned(), json!({"templates": [file]}).to_string()),
        flow("Greet", &[("n1", "Greeting")], &[]),
    ]);
    let mut session = bench.session().await;
    for prompt in session.prompts().await {
        let name = prompt["name"].as_str().unwrap();
        let required: Vec<_> =
            prompt["arguments"].as_array().unwrap().iter().map(|one| (&one["name"], &one["required"])).collect();
        let expected =
            [(json!("who"), json!(false)), (json!("what"), json!(true)), (json!("_variableSet"), json!(false))];
        assert_eq!(required, expected.iter().map(|(name, required)| (name, required)).collect::<Vec<_>>(), "{name}");
        let text = session.prompt(name, json!({"_variableSet": "formal", "what": "hello"})).await;
        assert!(text.contains("Dear Dr Lovelace, hello"), "{text}");
        let text = session.prompt(name, json!({"_variableSet": "formal", "what": "hello", "who": "Ada"})).await;
        assert!(text.contains("Dear Ada, hello"), "{text}");
        session.refused(name, json!({"_variableSet": "rude", "what": "x", "who": "y"})).await;
        session.refused(name, json!({"what": "x"})).await;
    }
}

#[tokio::test]
async fn a_broken_flow_is_listed_and_says_what_is_wrong() {
    let bench = Bench::folder([
        flow("Ring", &[("a", "Text"), ("b", "Text")], &[("a", "b"), ("b", "a")]),
        flow("Fine", &[("a", "Text")], &[]),
        template("Text", "Hello {who}"),
    ]);
    let mut session = bench.session().await;
    let names: Vec<Value> = session.prompts().await.into_iter().map(|prompt| prompt["name"].clone()).collect();
    assert_eq!(names, [json!("flow_Fine"), json!("flow_Ring")]);
    let answer = session.request("prompts/get", json!({"name": "flow_Ring"})).await;
    assert_eq!(answer["error"]["data"]["code"], json!("CIRCULAR_DEPENDENCY"), "{answer}");
}

#[tokio::test]
async fn a_client_without_a_session_is_answered_alike() {
    let bench = Bench::examples();
    let mut shaken = bench.session().await;
    let mut session = Session::raw(bench.app.clone());
    let listed = session.request("prompts/list", json!({"_meta": stateless()})).await["result"].clone();
    assert_eq!((&listed["prompts"], &listed["resultType"]), (&json!(shaken.prompts().await), &json!("complete")));
    let params = json!({"name": "template_Ticket_Triage", "_meta": stateless(),
                        "arguments": {"product": "x", "customer_message": "y"}});
    let got = session.request("prompts/get", params).await["result"].clone();
    assert_eq!(got["resultType"], json!("complete"));
    assert!(got["messages"][0]["content"]["text"].as_str().unwrap().contains("support team of x"));
}

#[tokio::test]
async fn a_prompt_that_no_message_holds_is_refused_with_a_way_out() {
    let bench = Bench::folder([
        flow("Wide", &[("a", "Text"), ("b", "Text"), ("c", "Text")], &[]),
        template("Text", "Hello {who}"),
    ]);
    let mut session = bench.session().await;
    for (name, who) in [("flow_Wide", "x".repeat(400_000)), ("template_Text", "\n".repeat(600_000))] {
        let answer = session.request("prompts/get", json!({"name": name, "arguments": {"who": who}})).await;
        let error = &answer["error"];
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32000), &json!("LIMIT_EXCEEDED")), "{name}");
        assert!(error["data"]["nextStep"].as_str().unwrap().contains("shorter values"), "{error}");
    }
}

#[tokio::test]
async fn who_has_to_do_without_a_tool_step_are_the_steps_that_read_it() {
    let file = json!({
        "metadata": {"name": "Logo", "version": "1.0.0"},
        "nodes": [
            {"id": "page", "type": "tool", "data": {"call": "web:get"}},
            {"id": "logo", "type": "template", "data": {"template": "Draw a logo."}},
            {"id": "digest", "type": "template", "data": {"template": "Of {page_result} and {logo_result}"}},
            {"id": "later", "type": "template", "data": {"template": "Title: {title}"}},
            {"id": "named", "type": "tool", "data": {"call": "web:get", "set": {"title": "t"}}},
        ],
        "edges": [{"source": "page", "target": "logo"}, {"source": "logo", "target": "digest"},
                  {"source": "digest", "target": "named"}, {"source": "named", "target": "later"}],
    });
    let bench = Bench::folder([("flows/Logo.json", file.to_string())]);
    let text = bench.session().await.prompt("flow_Logo", json!({})).await;
    let without: Vec<&str> = text.lines().filter(|line| line.starts_with("Steps that read it")).collect();
    let due = |id: &str| format!("Steps that read it (\"{id}\") have to do without: say so where it matters.");
    assert_eq!(without, [due("digest"), due("later")], "{text}");
}
