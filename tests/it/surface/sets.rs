//! What a variable set gives is told alike wherever inputs are shown.

use serde_json::json;

use crate::support::program::Sandbox;

/// A set gives one of two needed values; a second flow reads the same name where no set gives it.
fn cards() -> Sandbox {
    let card = |text: &str| {
        json!({"metadata": {"name": "Card", "version": "1.0.0"},
            "nodes": [
                {"id": "write", "type": "template", "data": {"label": "Write", "template": "{occasion} for {person}",
                    "variableValueSets": [{"id": "1", "name": "birthday", "values": {"occasion": "A birthday"}}]}},
                {"id": "end", "type": "template", "data": {"label": "End", "template": text}}],
            "edges": [{"source": "write", "target": "end"}]})
        .to_string()
    };
    Sandbox::new()
        .file("flows/Card.json", card("{write_result}!"))
        .file("flows/Both.json", card("{write_result} at {occasion}").replace("\"Card\"", "\"Both\""))
}

#[test]
fn what_a_set_gives_is_optional_on_every_surface_unless_a_step_has_no_such_set() {
    let catalog = cards();
    for (flow, required) in [("Card", json!(["person"])), ("Both", json!(["occasion", "person"]))] {
        let shown = catalog.run(["show", flow, "--json"]).json();
        let inputs = shown["inputs"].as_array().unwrap().iter().filter(|input| input["required"] == true);
        let mut names: Vec<String> = inputs.map(|input| input["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        assert_eq!(json!(names), required, "{flow}: {shown:#}");
        let mut schema = catalog.run(["schema", flow]).json()["required"].as_array().cloned().unwrap();
        schema.sort_by_key(ToString::to_string);
        assert_eq!(json!(schema), required, "{flow}");
        let listed = catalog.run(["list", "--name", flow, "-q"]).out;
        let optional = flow == "Card";
        assert_eq!(listed.contains("occasion (string, required, or from a set)"), optional, "{listed}");
        let marked = shown["inputs"].as_array().unwrap().iter().any(|input| input["inSets"] == true);
        assert_eq!(marked, optional, "{shown:#}");
        let detailed = catalog.run(["list", "--name", flow, "--mode", "detailed", "--json"]).json();
        assert_eq!(detailed["flows"][0]["inputs"]["occasion"]["inSets"] == true, optional, "{detailed:#}");
        for mode in ["index", "standard", "detailed", "summaries"] {
            let listed = catalog.run(["list", "--name", flow, "--mode", mode]).out;
            assert!(!listed.contains("optional") && !listed.contains("occasion?"), "{listed}");
        }
        let read = shown["steps"][0]["reads"][0]["from"].as_str().unwrap();
        assert_eq!(read == "input, required", !optional, "{read}");
        let human = catalog.run(["show", flow]).out;
        assert_eq!(human.contains("required, or from a set"), optional, "{human}");
        assert_eq!(human.contains("--set birthday --var person=…\n"), optional, "{human}");
        assert!(human.lines().all(|line| line.chars().count() <= 80), "{human}");
    }
}

#[test]
fn only_sets_that_give_what_is_missing_are_proposed() {
    let said = cards().run(["run", "Card", "--set", "birthday"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("--set birthday --var person=…") && !said.err.contains("gives them"), "{}", said.err);
    let said = cards().run(["run", "Card", "--set", "birthday", "--json"]);
    assert!(said.json()["details"].get("variableSets").is_none(), "{}", said.out);
    let said = cards().run(["run", "Card", "--var", "person=Kim", "--json"]);
    assert_eq!(said.json()["details"]["variableSets"], json!(["birthday"]), "{}", said.out);
}

#[tokio::test]
async fn a_set_that_is_proposed_says_what_it_gives_and_what_it_leaves() {
    let set = |name: &str, values: serde_json::Value| json!({"id": name, "name": name, "values": values});
    let flow = json!({"metadata": {"name": "Card", "version": "1.0.0"}, "nodes": [
        {"id": "write", "type": "template", "data": {"label": "Write", "template": "{who} {tone} {n}", "variableValueSets": [
            set("warm", json!({"who": "you", "tone": "soft"})), set("whole", json!({"who": "a", "tone": "b", "n": "c"})),
            set("none", json!({"other": "x"}))]}}], "edges": []});
    let said = Sandbox::new().file("flows/Card.json", flow.to_string()).run(["run", "Card"]).err;
    let mut session = crate::support::mcp::Bench::folder([("flows/Card.json", flow.to_string())]).session().await;
    let refused = session.failed("flows_execute", json!({"flowName": "Card"})).await;
    assert_eq!(refused["details"]["variableSets"], json!(["warm", "whole"]));
    for text in [said.as_str(), refused["nextStep"].as_str().unwrap()] {
        let (_, after) = text.split_once("warm").unwrap();
        let (warm, whole) = after.split_once("whole").unwrap();
        let (gives, leaves) = warm.split_once("not").unwrap();
        assert!(gives.contains("who") && gives.contains("tone") && leaves.contains('n'), "{text}");
        assert!(whole.contains("all") && !text.contains("none"), "{text}");
    }
}

#[test]
fn a_step_that_is_shown_names_its_template_and_how_it_may_be_skipped_or_repeated() {
    let flow = json!({"metadata": {"name": "Note", "version": "1.0.0"},
        "nodes": [
            {"id": "own", "type": "template", "data": {"label": "Own", "template": "One", "optional": true}},
            {"id": "saved", "type": "template", "data": {"label": "Saved", "selectedTemplateId": "Two", "maxAttempts": 3,
                "contract": {"type": "object"}}}],
        "edges": [{"source": "own", "target": "saved"}]});
    let catalog = Sandbox::new().file("flows/Note.json", flow.to_string()).file("templates/Two.md", "Two {own_result}");
    let shown = catalog.run(["show", "Note", "--json"]).json();
    let steps = &shown["steps"];
    assert_eq!((steps[0].get("template"), &steps[0]["optional"]), (None, &json!(true)), "{shown:#}");
    assert_eq!(steps[0].get("maxAttempts"), None, "{shown:#}");
    assert_eq!((&steps[1]["template"], &steps[1]["maxAttempts"]), (&json!("Two"), &json!(3)), "{shown:#}");
    assert_eq!(steps[1].get("optional"), None, "{shown:#}");
}
