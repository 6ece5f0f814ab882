//! What screens say is so.

use serde_json::json;

use crate::support::program::Sandbox;

const COMPANY: [&str; 6] = ["--var", "company=T", "--var", "market=AI", "--var", "budget=1"];

fn flow(name: &str, text: &str) -> serde_json::Value {
    json!({"metadata": {"name": name, "version": "1.0.0", "description": "Writes a short note about harbours."},
        "nodes": [{"id": "a", "type": "template", "data": {"template": text}}], "edges": []})
}

#[test]
fn a_page_of_a_graph_knows_the_servers_that_are_configured() {
    let catalog = Sandbox::new().file("servers.json", r#"{"mcpServers": {"files": {"command": "x"}}}"#);
    let page = |more: &[&str]| {
        let line = ["graph", "Folder_Review", "--source", "examples", "--format", "html"];
        catalog.run(line.iter().chain(more)).out
    };
    assert!(page(&[]).contains("no external server is configured"));
    assert!(!page(&["--servers", "servers.json"]).contains("no external server is configured"));
}

#[test]
fn a_difference_names_files_that_cannot_be_read() {
    let fine = flow("Fine", "Hello.").to_string();
    let catalog = Sandbox::new()
        .file("before/flows/Fine.json", &fine)
        .file("flows/Fine.json", &fine)
        .file("flows/Broken.json", "{");
    let said = catalog.run(["diff", "./before", "--exit-code"]);
    assert!(said.code == 1 && said.out.contains("flows/Broken.json"), "{}", said.out);
    assert_eq!(catalog.run(["diff", "./before", "--json"]).json()["unreadable"], json!(["flows/Broken.json"]));
}

#[test]
fn steps_that_a_cancellation_stopped_did_not_fail() {
    let catalog = Sandbox::new();
    catalog.run(["guide", "Marketing_Strategy"].iter().chain(&COMPANY));
    let listed = catalog.run(["executions", "list"]).out;
    let id = listed.split('\t').next().unwrap();
    let first = catalog.run(["executions", "cancel", id]);
    assert!(first.err.starts_with("cancelled "), "{}", first.err);
    assert!(catalog.run(["executions", "cancel", id]).err.contains("was cancelled before"));
    let told = catalog.run(["executions", "show", id]).out;
    assert!(told.contains("· cancelled") && told.contains("· not begun") && !told.contains("failed"), "{told}");
    let page = catalog.run(["executions", "show", id, "--html"]).out;
    assert!(page.contains("not begun") && !page.contains("1 failed"), "{page}");
}

#[test]
fn a_conversion_says_where_its_files_are_and_names_every_field_it_leaves_out() {
    let mut one = flow("Ok", "Hello.");
    one["custom"] = json!(1);
    one["nodes"][0]["data"]["color"] = json!("red");
    let catalog = Sandbox::new().file("flows/Ok.json", one.to_string());
    let said = catalog.run(["convert", "flows/Ok.json", "--to", "markdown", "--out", "other"]).out;
    assert!(said.contains("→ other/flows/Ok.flow.md"), "{said}");
    assert!(said.contains("fields of the flow: \"custom\"") && said.contains("fields of nodes: \"color\""), "{said}");
}

#[test]
fn a_refusal_counts_the_errors_that_a_listing_counts() {
    let mut one = flow("Two", "Hello.");
    one["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": "b", "type": "template", "data": {"selectedTemplateId": "None"}}));
    one["edges"] = json!([{"source": "a", "target": "gone"}]);
    let catalog = Sandbox::new().file("flows/Two.json", one.to_string());
    let counted = catalog.run(["validate", "--json"]).out.matches("\"severity\": \"error\"").count();
    let said = catalog.run(["run", "Two"]).err;
    assert!(counted > 1 && said.contains(&format!("(and {} more)", counted - 1)), "{counted}: {said}");
}

#[test]
fn rules_are_listed_in_order_with_every_severity_that_they_may_have() {
    let said = Sandbox::new().run(["explain"]).out;
    let line = said.lines().find(|line| line.contains("misspelt-field")).unwrap();
    assert!(line.contains("warning") && line.contains("error"), "{line}");
    let ids: Vec<&str> = said.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    let ids: Vec<&str> = ids.into_iter().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert!(ids.is_sorted() && said.contains("`flowy explain RULE`"), "{said}");
}

#[test]
fn a_long_name_leaves_room_for_the_descriptions_of_other_flows() {
    let long = "L".repeat(65);
    let catalog = Sandbox::new()
        .file("flows/B.json", flow("B", "x").to_string())
        .file("flows/Long.json", flow(&long, "x").to_string());
    let screen = catalog.on_terminal(60, ["list", "--color", "never"]);
    assert_eq!(screen.matches("Writes a short note about harbours.").count(), 2, "{screen}");
}

#[test]
fn no_category_has_a_most_used_flow_before_one_is_used() {
    let said = Sandbox::new().run(["list", "--mode", "categories"]).out;
    assert!(said.contains("engineering") && !said.contains("Code_Review"), "{said}");
}

#[test]
fn that_nothing_fits_is_said_before_what_is_shown() {
    let screen = Sandbox::new().on_terminal(80, ["list", "--query", "zzzzqq", "--color", "never"]);
    let first = screen.lines().find(|line| !line.trim().is_empty()).unwrap();
    assert!(first.contains("No flow fits"), "{screen}");
}

#[test]
fn what_follows_a_page_is_a_command_to_paste() {
    let said = Sandbox::new().run(["list", "--limit", "3"]).err;
    assert!(said.contains("flowy list --limit 3 --cursor "), "{said}");
}

#[test]
fn an_example_that_is_not_in_the_catalog_is_told_with_its_source() {
    let catalog = Sandbox::new().file("flows/B.json", flow("B", "x").to_string());
    assert!(catalog.run(["run", "Marketing_Strategy"]).err.contains("--source examples"));
    assert!(!catalog.run(["run", "Nothing_Such"]).err.contains("--source examples"));
}

#[test]
fn who_is_asked_for_values_hears_of_sets_and_files() {
    let asked = |more: &[&str]| {
        let line = ["run", "Blog_Article", "--var", "topic=x", "--color", "never"];
        Sandbox::new().typing(100, line.iter().chain(more), Some("\u{4}")).1
    };
    let screen = asked(&[]);
    assert!(screen.contains("--set 'engineering blog'") && screen.contains("--var-file"), "{screen}");
    let unknown = asked(&["--set", "nope"]);
    assert!(unknown.contains("nope") && !unknown.contains("--var-file"), "{unknown}");
}

#[test]
fn marks_far_apart_in_one_line_keep_to_the_screen() {
    let mut one = flow("Far", &"word ".repeat(40));
    one["nodes"].as_array_mut().unwrap().push(json!({"id": "a", "type": "template", "data": {"template": "x"}}));
    let catalog = Sandbox::new().file("flows/Far.json", one.to_string());
    let screen = catalog.on_terminal(60, ["validate", "--color", "never"]);
    assert!(screen.contains("duplicate-node"), "{screen}");
    let wide = screen.lines().find(|line| line.trim_end().chars().count() > 60);
    assert_eq!(wide, None, "{screen}");
}

#[test]
fn a_picture_without_an_order_has_no_waves() {
    let mut ring = flow("Ring", "x");
    ring["nodes"].as_array_mut().unwrap().push(json!({"id": "b", "type": "template", "data": {"template": "y"}}));
    ring["edges"] = json!([{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]);
    let catalog = Sandbox::new().file("flows/Ring.json", ring.to_string());
    let picture = catalog.run(["graph", "Ring", "--format", "svg"]).out;
    assert!(picture.contains("be executed") && !picture.contains(">wave "), "{picture}");
}

#[test]
fn a_missing_comma_is_told_with_what_stands_behind_it() {
    for (text, told) in [
        (r#"{"nodes": [] "edges": []}"#, "a comma is missing before \"edges\""),
        (r#"{"nodes": [1 23]}"#, "a comma is missing before 23"),
    ] {
        let said = Sandbox::new().file("flows/Bad.json", text).run(["list"]);
        assert!(said.err.contains(told), "{said:?}");
    }
}

#[test]
fn tests_are_listed_with_their_places_in_one_column() {
    let flow = r#"{"metadata":{"name":"A","version":"1.0.0"},"nodes":[{"id":"a","type":"template","data":{"template":"A"}}],"edges":[]}"#;
    let tests = r#"[{"name": "one", "flow": "A", "expect": {"status": "success"}},
        {"name": "another one", "flow": "A", "expect": {"status": "success"}}]"#;
    let said = Sandbox::new().file("flows/A.json", flow).file("tests/A.flowtest.json", tests).run(["test", "--list"]);
    let places: Vec<Option<usize>> = said.out.lines().take(2).map(|line| line.find("tests/A.flowtest.json:")).collect();
    assert!(places[0].is_some() && places[0] == places[1], "{said:?}");
}

#[test]
fn help_is_a_command_too_and_a_picture_says_how_to_read_it() {
    let help = Sandbox::new().run(["help", "run"]);
    assert!(help.code == 0 && help.out.contains("flowy run Marketing_Strategy"), "{help:?}");
    let page = Sandbox::new().run(["graph", "Launch_Brief", "--source", "examples", "--format", "html"]).out;
    assert!(page.contains("Steps of one wave may run at the same time."), "{page}");
}

#[test]
fn a_fix_that_changes_nothing_says_so_and_a_difference_says_how_much_it_would_change() {
    let flow = |version: &str, data: &str| {
        format!(
            r#"{{"metadata":{{"name":"A","version":"{version}"}},"nodes":[{{"id":"a","type":"template","data":{data}}}],"edges":[]}}"#
        )
    };
    let mendable =
        Sandbox::new().file("flows/A.json", flow("1.0", r#"{"template":"A"}"#)).run(["validate", "--fix", "--diff"]);
    assert!(mendable.err.contains("1 file would be fixed"), "{mendable:?}");
    let broken = Sandbox::new().file("flows/A.json", flow("1.0.0", r#"{"selectedTemplateId":"None"}"#));
    for arguments in [&["validate", "--fix"][..], &["validate", "--fix", "--diff"]] {
        let said = broken.run(arguments);
        assert!(said.err.contains("nothing can be fixed automatically"), "{said:?}");
    }
}
