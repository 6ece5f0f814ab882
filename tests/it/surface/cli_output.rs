//! How results look in a pipe, as JSON, and where files are wrong.

use std::io::Read as _;

use crate::support::program::{HALF, Sandbox, repository};

const FAULTY: &str = r#"{
  "metadata": {"name": "Faulty", "version": "1.0.0"},
  "nodes": [
    {"id": "in", "type": "input", "data": {"label": "In", "variables": ["topic"]}},
    {"id": "a", "type": "template", "data": {"label": "A", "template": "About {topic} and {topc}"}},
    {"id": "b", "type": "template", "data": {"label": "B", "selectedTemplateId": "Gone"}},
    {"id": "b", "type": "template", "data": {"label": "C", "template": "x"}}
  ],
  "edges": [
    {"source": "in", "target": "a"},
    {"source": "a", "target": "b"},
    {"source": "b", "target": "a"},
    {"source": "a", "target": "ghost"}
  ]
}
"#;
const FINE: &str = r#"{"metadata":{"name":"Fine","version":"1.0.0","description":"Says hello.","tags":["hello"]},
"nodes":[{"id":"in","type":"input","data":{"variables":["who"]}},{"id":"say","type":"template","data":{"label":"Say","template":"Hello {who}"}}],
"edges":[{"source":"in","target":"say"}]}"#;

#[test]
fn a_query_says_what_fits_that_nothing_fits_or_which_filter_leaves_it_out() {
    let ask =
        |line: &[&str]| Sandbox::new().run(["list", "--query", "write up last night's outage"].iter().chain(line));
    let said = ask(&["--query", "incident report"]);
    assert!(said.out.starts_with("Incident_Report\t"), "{}{}", said.out, said.err);
    let said = ask(&["--query", "incident report", "--category", "marketing"]);
    insta::assert_snapshot!("query-left-out", said.whole());
    let said = Sandbox::new().run(["list", "--query", "dim the lights in the hall"]);
    insta::assert_snapshot!("query-without-match", said.whole());
}

#[test]
fn a_listing_in_a_pipe_has_one_line_for_each_flow() {
    let said = Sandbox::new().run(["list"]);
    assert_eq!(said.code, 0);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 13);
    assert!(lines.iter().all(|line| line.len() == 4));
    let strategy = lines.iter().find(|line| line[0] == "Marketing_Strategy").unwrap();
    assert_eq!(strategy[2], "budget (string, required), company (string, required), market (string, required)");
    assert_eq!(said.err, "13 flows from built-in examples\n");
    assert_eq!(Sandbox::new().run(["list", "-q"]).err, "");
}

#[test]
fn every_mode_has_its_form_and_filters_apply() {
    let of = |mode: &str| Sandbox::new().run(["list", "--mode", mode, "--name", "Weekly_Status", "-q"]).out;
    insta::assert_snapshot!("list-modes", ["index", "standard", "detailed"].map(of).join("--\n"));
    let tagged = Sandbox::new().run(["list", "--tag", "writing", "--tag", "meeting", "--json"]).json();
    assert_eq!((&tagged["total"], &tagged["flows"][0]["name"]), (&1.into(), &"Meeting_Follow_Up".into()));
    let page = Sandbox::new().run(["list", "--limit", "3"]);
    assert_eq!(page.out.lines().count(), 3);
    let cursor = page.err.split("--cursor ").nth(1).unwrap().trim();
    let next = Sandbox::new().run(["list", "--limit", "3", "--cursor", cursor]);
    assert!(next.out.starts_with("Folder_Review\t"), "{}", next.out);
}

#[test]
fn a_category_or_complexity_that_no_flow_has_is_told_with_those_there_are() {
    let listed = |line: &[&str]| Sandbox::new().run([&["list"][..], line].concat()).err;
    let near = listed(&["--category", "Enginering"]);
    assert!(near.contains("no flow has the category \"Enginering\": did you mean \"engineering\"?"), "{near}");
    let none = listed(&["--complexity", "heroic"]);
    assert!(none.contains("no flow has the complexity \"heroic\"") && !none.contains('`'), "{none}");
}

#[test]
fn a_broken_file_is_named_after_the_listing_and_hides_nothing() {
    let catalog = Sandbox::new().file("flows/Fine.json", FINE).file("flows/Broken.json", "{\n  \"a\": 1,\n}");
    let said = catalog.run(["list"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Fine\tSays hello.\twho (string, required)\thello\n"));
    assert!(said.err.contains("flows/Broken.json:2:9: "), "{}", said.err);
    let json = catalog.run(["list", "--json"]).json();
    assert_eq!((&json["flows"][0]["name"], &json["errors"][0]["line"]), (&"Fine".into(), &2.into()));
}

#[test]
fn a_listing_counts_as_many_errors_as_a_check_and_names_three_of_a_file() {
    let faulty: Vec<String> = (0..9).map(|number| format!(r#",{{"source":"in","target":"gone{number}"}}"#)).collect();
    let faulty = faulty.concat();
    let many = FINE.replace(r#""target":"say"}]"#, &format!(r#""target":"say"}}{faulty}]"#)).replace("Fine", "Many");
    let catalog =
        Sandbox::new().file("flows/Many.json", many).file("flows/Faulty.json", FAULTY).file("flows/F.json", FINE);
    let errors = catalog.run(["validate", "--json"]).json()["errors"].as_u64().unwrap();
    assert!(errors > 9);
    // The second time what is kept says the same.
    for _ in 0..2 {
        let said = catalog.run(["list"]);
        assert!(said.err.contains(&format!("warning: {errors} ")), "{}", said.err);
        assert_eq!(said.err.matches("  flows/Many.json:").count(), 3, "{}", said.err);
        assert!(said.err.contains(&format!("  and {} more\n", errors - 6)), "{}", said.err);
        let json = catalog.run(["list", "--json"]).json();
        assert_eq!(
            (&json["warnings"][0]["code"], json["errors"].as_array().unwrap().len()),
            (&"MORE_ERRORS".into(), 6)
        );
    }
}

#[test]
fn untrusted_text_cannot_reach_the_terminal_as_control_characters() {
    let evil = FINE.replace("Says hello.", "red \\u001b[31m and \\u202e back\\nnext");
    let catalog = Sandbox::new().file("flows/Fine.json", evil);
    for line in [vec!["list"], vec!["list", "--mode", "detailed"], vec!["show", "Fine"], vec!["show", "Fine", "--full"]]
    {
        let said = catalog.run(&line);
        assert_eq!(said.code, 0);
        assert!(!said.out.contains(['\u{1b}', '\u{202e}']), "{line:?}: {}", said.out);
        assert!(said.out.contains("red [31m and"), "{}", said.out);
    }
}

#[test]
fn a_flow_shows_who_does_its_steps_and_in_which_shape() {
    insta::assert_snapshot!("show-guided", Sandbox::new().run(["show", "Feature_Development"]).out);
}

#[test]
fn a_flow_shows_its_plan() {
    insta::assert_snapshot!("show-flow", Sandbox::new().run(["show", "Launch_Brief"]).out);
    insta::assert_snapshot!("show-full", Sandbox::new().run(["show", "Weekly_Status", "--full"]).out);
    insta::assert_snapshot!("show-template", Sandbox::new().run(["show", "Brand_Positioning"]).out);
    let json = Sandbox::new().run(["show", "Launch_Brief", "--json"]).json();
    assert_eq!((&json["executable"], json["steps"].as_array().unwrap().len()), (&true.into(), 4));
}

#[test]
fn a_flow_with_errors_is_shown_with_what_is_wrong() {
    let catalog = Sandbox::new().file("flows/Faulty.json", FAULTY);
    let said = catalog.run(["show", "Faulty"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("error[cycle]"), "{}", said.out);
    assert_eq!(catalog.run(["show", "Faulty", "--json"]).json()["executable"], false);
}

#[test]
fn a_name_that_is_not_there_suggests_those_that_are() {
    for command in ["show", "run", "graph", "schema"] {
        let said = Sandbox::new().run([command, "Marketing"]);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{command}");
        assert!(said.err.contains("\"Marketing_Strategy\""), "{command}: {}", said.err);
        assert!(!said.err.contains("flows_list"), "{command}: {}", said.err);
    }
}

#[test]
fn graphs_are_mermaid_or_dot_and_inputs_a_schema() {
    let mermaid = Sandbox::new().run(["graph", "Launch_Brief"]).out;
    assert!(mermaid.starts_with("flowchart TD\n") && mermaid.contains("-->"), "{mermaid}");
    let dot = Sandbox::new().run(["graph", "Launch_Brief", "--format", "dot"]).out;
    assert!(dot.starts_with("digraph ") && dot.contains("->"), "{dot}");
    assert_eq!(Sandbox::new().run(["graph", "Launch_Brief", "--json"]).json()["format"], "mermaid");
    let schema = Sandbox::new().run(["schema", "Marketing_Strategy"]).json();
    assert_eq!(schema["required"], serde_json::json!(["company", "market", "budget"]));
}

#[test]
fn each_finding_is_shown_at_its_place() {
    let catalog = Sandbox::new()
        .file("flows/Faulty.json", FAULTY)
        .file("flows/Broken.json", "{\n  \"nodes\": [1, 2,]\n}\n")
        .file("flows/Fine.json", FINE);
    let said = catalog.run(["validate"]);
    assert_eq!((said.code, said.err.as_str()), (1, ""));
    insta::assert_snapshot!("validate-frames", said.out);
    insta::assert_snapshot!("validate-quiet", catalog.run(["validate", "--quiet"]).out);
    let json = catalog.run(["validate", "--json"]);
    assert_eq!(json.code, 1);
    let json = json.json();
    assert_eq!(json["files"].as_array().unwrap().len(), 3);
    let findings = json["files"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["rule"] == "syntax"), "{json:#}");
    assert_eq!(catalog.run(["validate", "flows/Fine.json"]).code, 0);
}

#[test]
fn a_place_in_a_very_long_line_is_shown_with_its_real_column() {
    // With an id of its own for each node, where an edge leads is told.
    let long = FAULTY.replace(
        r#"{"id": "b", "type": "template", "data": {"label": "C""#,
        r#"{"id": "c", "type": "template", "data": {"label": "C""#,
    );
    let long = long.replace('\n', "").replace("\"x\"", &format!("\"{}\"", "x".repeat(5_000)));
    let catalog = Sandbox::new().file("flows/Long.json", &long);
    let said = catalog.run(["validate", "flows/Long.json"]);
    let column = long.find("\"ghost\"").unwrap() + 1;
    assert!(said.out.contains(&format!("--> flows/Long.json:1:{column}\n")), "{}", said.out);
    assert!(!said.out.contains(":::"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() < 240), "{}", said.out);
}

#[test]
fn warnings_alone_exit_0_unless_they_are_to_count() {
    let lonely = r#"{"metadata":{"name":"L","version":"1.0.0"},"nodes":[{"id":"a","type":"template","data":{"label":"A","template":"x"}},{"id":"b","type":"template","data":{"label":"B","template":"y {a_result}"}},{"id":"c","type":"template","data":{"label":"C","template":"z"}}],"edges":[{"source":"a","target":"b"}]}"#;
    let catalog = Sandbox::new().file("flows/Lonely.json", lonely);
    let said = catalog.run(["validate"]);
    assert_eq!(said.code, 0, "{}", said.out);
    assert_eq!(catalog.run(["validate", "--json"]).json()["warnings"], 1);
    assert_eq!(catalog.run(["validate", "--strict"]).code, 1);
}

#[test]
fn a_file_that_stands_alone_has_its_references_left_unchecked() {
    let said = Sandbox::new().file("Half.json", HALF).run(["validate", "Half.json"]);
    insta::assert_snapshot!("validate-alone", said.whole());
}

#[test]
fn this_repository_is_a_catalog_without_findings_and_laid_out() {
    let said = Sandbox::new().run(["validate".as_ref(), repository().as_os_str(), "--json".as_ref()]);
    let json = said.json();
    let counts = ["flows", "templates", "errors", "warnings"].map(|count| json[count].as_u64());
    assert_eq!((said.code, counts), (0, [Some(13), Some(20), Some(0), Some(0)]), "{json}");
    assert!(json["files"].as_array().unwrap().iter().all(|file| file["findings"] == serde_json::json!([])), "{json}");
    let laid_out = Sandbox::new().run(["fmt".as_ref(), "--check".as_ref(), repository().as_os_str()]);
    assert_eq!(laid_out.code, 0, "{}", laid_out.out);
}

#[test]
fn color_comes_only_when_it_is_asked_for() {
    let catalog = Sandbox::new().file("flows/Faulty.json", FAULTY);
    assert!(!catalog.run(["validate"]).out.contains('\u{1b}'));
    assert!(catalog.run(["validate", "--color", "always"]).out.contains('\u{1b}'));
    assert!(!catalog.run(["run", "Gone"]).err.contains('\u{1b}'));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command(["show", "Launch_Brief", "--full", "--json"]).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stdin.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), err.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_ends_its_line_in_a_log_of_both_streams_and_is_exact_in_a_file_of_its_own() {
    let sandbox = Sandbox::new().file("flows/Tea.json", crate::support::drawing::flow().text("a", "Tea").bytes());
    let here = sandbox.here();
    let write = |name: &str| std::fs::File::create(here.join(name)).unwrap();
    let log = write("log");
    let both = log.try_clone().unwrap();
    assert!(sandbox.command(["run", "Tea"]).stdout(log).stderr(both).status().unwrap().success());
    let log = std::fs::read_to_string(here.join("log")).unwrap();
    assert!(log.contains("Tea\n"), "{log}");
    assert!(sandbox.command(["run", "Tea"]).stdout(write("out")).stderr(write("err")).status().unwrap().success());
    assert_eq!(std::fs::read_to_string(here.join("out")).unwrap(), "Tea");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = sandbox.command(["list", "-q"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!output.stderr.is_empty());
}
