//! Executing flows from the command line.

use std::fs;

use flowy::internals::names::grouped;

use crate::support::program::{HALF, Sandbox, repository};

const GIVEN: [&str; 8] =
    ["run", "Marketing_Strategy", "--var", "company=TechCorp", "--var", "market=AI", "--var", "budget=100K"];

/// The text of a template of this repository.
fn template(name: &str) -> String {
    let text = fs::read_to_string(repository().join("templates").join(name).with_extension("json")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let whole = value.get("template").or_else(|| value["templates"][0].get("template"));
    whole.and_then(serde_json::Value::as_str).unwrap().to_owned()
}

fn marketing_strategy() -> (String, String) {
    let fill =
        |text: String| text.replace("{company}", "TechCorp").replace("{market}", "AI").replace("{budget}", "100K");
    let positioning = fill(template("Brand_Positioning"));
    let plan = fill(template("Campaign_Plan"));
    let open = plan.find('{').unwrap();
    let close = plan[open..].find('}').unwrap() + open;
    let plan = format!("{}{positioning}{}", &plan[..open], &plan[close + 1..]);
    (positioning, plan)
}

#[test]
fn the_first_command_of_the_readme_prints_the_final_result_and_nothing_else() {
    let (positioning, plan) = marketing_strategy();
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains(&format!("cargo run --release -- {}", GIVEN.join(" "))));
    let said = Sandbox::new().run(GIVEN);
    assert_eq!((said.code, said.out.as_str()), (0, plan.as_str()));
    assert!(!said.err.contains(&positioning));
    let sizes = [positioning, plan].map(|text| format!("  {} characters", grouped(text.chars().count())));
    let [first, last] = sizes;
    assert_eq!(
        said.err.lines().collect::<Vec<_>>(),
        [format!("✓ 1 of 2  Brand positioning{first}"), format!("✓ 2 of 2  Campaign plan    {last}")]
    );
}

#[test]
fn the_steps_texts_come_when_asked_for_and_nothing_comes_when_quiet() {
    let (positioning, plan) = marketing_strategy();
    let said = Sandbox::new().run(GIVEN.into_iter().chain(["--steps"]));
    assert!(said.err.contains(&positioning) && said.out == plan);
    let said = Sandbox::new().run(GIVEN.into_iter().chain(["-q"]));
    assert_eq!((said.err.as_str(), said.out), ("", plan));
}

#[test]
fn json_is_the_shape_of_the_tools() {
    let (positioning, plan) = marketing_strategy();
    let json = Sandbox::new().run(GIVEN.into_iter().chain(["--json"])).json();
    assert_eq!(json["status"], "success");
    assert_eq!(json["finalResult"], plan);
    assert_eq!(json["intermediateResults"][0]["output"], positioning);
    assert_eq!(json["intermediateResults"][1]["output"], plan);
    let brief = Sandbox::new().run(GIVEN.into_iter().chain(["--json", "--detail", "final"])).json();
    assert_eq!((brief.get("intermediateResults"), &brief["finalResult"]), (None, &json["finalResult"]));
}

#[test]
fn values_come_from_files_stdin_and_flags_and_flags_win() {
    let (_, plan) = marketing_strategy();
    let file = r#"{"company": "Nobody", "market": "AI"}"#;
    let sandbox =
        Sandbox::new().file("values.json", file).file("budget.txt", "100K").stdin("\u{feff}{\"company\": \"Else\"}");
    let said = sandbox.run([
        "run",
        "Marketing_Strategy",
        "--vars",
        "values.json",
        "--vars",
        "-",
        "--var",
        "company=TechCorp",
        "--var-file",
        "budget=budget.txt",
        "-q",
    ]);
    assert_eq!((said.code, said.out), (0, plan));
    let said = sandbox.run([
        "run",
        "Weekly_Status",
        "--var",
        "week=W7",
        "--var",
        "notes=n",
        "--var-json",
        "max_words=99",
        "--json",
    ]);
    assert!(said.out.contains("99"), "{}", said.out);
    let said = Sandbox::new().stdin("[1]").run(["run", "Marketing_Strategy", "--vars", "-"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no object"), "{}", said.err);
}

#[test]
fn missing_values_are_all_named_with_what_to_type() {
    let said = Sandbox::new().run(["run", "Marketing_Strategy", "--var", "company=Tech Corp", "--var", "markt=AI"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    insta::assert_snapshot!("missing-values", said.err);
    let json = Sandbox::new().run(["run", "Marketing_Strategy", "--json"]);
    assert_eq!(json.code, 1);
    let json = json.json();
    assert_eq!(json["code"], "MISSING_VARIABLES");
    assert_eq!(json["details"]["missing"], serde_json::json!(["company", "market", "budget"]));
}

#[test]
fn a_set_of_values_can_be_chosen_by_name() {
    let shown = Sandbox::new().run(["show", "Blog_Article", "--json"]).json();
    let set = shown["variableSets"][0].as_str().unwrap();
    let said = Sandbox::new().run(["run", "Blog_Article", "--set", set, "--var", "topic=tides", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("tides"), "{}", said.out);
    let wrong = Sandbox::new().run(["run", "Blog_Article", "--set", "gone", "--var", "topic=tides"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains(set), "{}", wrong.err);
}

#[test]
fn a_failed_step_keeps_what_finished_and_exits_1() {
    let catalog = Sandbox::new().file("flows/Half.json", HALF);
    let said = catalog.run(["run", "Half", "--var", "topic=tides"]);
    assert_eq!((said.code, said.out.as_str()), (1, "side About tides"));
    // The line of the step says why; the error at the end counts, and does not say it again.
    insta::assert_snapshot!("failed-step", said.whole());
    insta::assert_snapshot!("failed-step-quiet", catalog.run(["run", "Half", "--var", "topic=tides", "-q"]).whole());
    let json = catalog.run(["run", "Half", "--var", "topic=tides", "--json"]);
    assert_eq!(json.code, 1);
    let json = json.json();
    assert_eq!((&json["status"], &json["skipped"][0]["nodeId"]), (&"partial".into(), &"third".into()));
    let stopped = catalog.run(["run", "Half", "--var", "topic=tides", "--on-failure", "stop"]);
    assert_eq!(stopped.code, 1);
}

#[test]
fn a_rehearsal_says_what_is_missing_and_executes_nothing() {
    let said = Sandbox::new().run(["run", "Marketing_Strategy", "--var", "company=TechCorp", "--dry-run"]);
    assert_eq!(said.code, 0, "{}", said.err);
    insta::assert_snapshot!("dry-run", said.out.lines().take(12).collect::<Vec<_>>().join("\n"));
    let json = Sandbox::new().run(["run", "Marketing_Strategy", "--dry-run", "--json"]).json();
    assert_eq!((&json["dryRun"], json["missing"].as_array().unwrap().len()), (&true.into(), 3));
}

#[test]
fn a_flow_with_several_results_prints_the_one_that_is_wanted() {
    let given = ["run", "Research_Digest", "--var", "question=Why", "--var", "source_text=abc"];
    let last = Sandbox::new().run(given);
    assert!(last.err.contains("\"Summary\", \"Open questions\""), "{}", last.err);
    let json = Sandbox::new().run(given.into_iter().chain(["--json"])).json();
    assert_eq!(last.out, json["results"]["Open questions"].as_str().unwrap());
    let summary = Sandbox::new().run(given.into_iter().chain(["--result", "Summary", "-q"]));
    assert_eq!(summary.out, json["results"]["Summary"].as_str().unwrap());
    let wrong = Sandbox::new().run(given.into_iter().chain(["--result", "Sumary"]));
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.contains("\"Open questions\""), "{}", wrong.err);
}

#[test]
fn results_go_into_a_pipe_byte_for_byte() {
    let flow = r#"{"metadata":{"name":"Bytes","version":"1.0.0"},"nodes":[{"id":"in","type":"input","data":{"variables":["x"]}},{"id":"a","type":"template","data":{"label":"A","template":"\r\n{x}\u0007"}}],"edges":[{"source":"in","target":"a"}]}"#;
    let said = Sandbox::new().file("flows/Bytes.json", flow).run(["run", "Bytes", "--var", "x= \u{1b}[1m港"]);
    assert_eq!((said.code, said.out.as_str()), (0, "\r\n \u{1b}[1m港\u{7}"));
}

/// A flow that reads a field of an answer, and one that goes through another with a value that this refuses.
fn two_kinds() -> Sandbox {
    let reads = r#"{"metadata":{"name":"Reads","version":"1.0.0"},"nodes":[
{"id":"a","type":"template","data":{"label":"First","template":"A.","contract":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}},
{"id":"b","type":"template","data":{"label":"Second","template":"On {a_result.title}"}}],
"edges":[{"source":"a","target":"b"}]}"#;
    let letter = r#"{"metadata":{"name":"Letter","version":"1.0.0","inputs":{"tone":{"type":"string","enum":["formal","warm"]}}},"nodes":[
{"id":"in","type":"multi_input","data":{"variables":["tone"]}},
{"id":"greet","type":"template","data":{"label":"Greet","template":"Greet, {tone}"}},
{"id":"close","type":"template","data":{"label":"Close","template":"Close {greet_result}"}}],
"edges":[{"source":"in","target":"greet"},{"source":"greet","target":"close"}]}"#;
    let outer = r#"{"metadata":{"name":"Outer","version":"1.0.0"},"nodes":[
{"id":"in","type":"multi_input","data":{"variables":["how"]}},
{"id":"letter","type":"flow","data":{"label":"The letter","flow":"Letter","variables":{"tone":"{how}"}}},
{"id":"end","type":"template","data":{"label":"End","template":"End {letter_result}"}}],
"edges":[{"source":"in","target":"letter"},{"source":"letter","target":"end"}]}"#;
    Sandbox::new().file("flows/Reads.json", reads).file("flows/Letter.json", letter).file("flows/Outer.json", outer)
}

#[test]
fn a_partial_execution_exits_1_and_says_why() {
    let sandbox = two_kinds();
    let said = sandbox.run(["run", "Reads"]);
    assert_eq!((said.code, said.out.as_str()), (1, "On {a_result.title}"), "{}", said.err);
    assert!(said.err.contains("partial: 1 placeholder stays as it is"), "{}", said.err);
    assert_eq!(sandbox.run(["run", "Reads", "--json"]).code, 1);
}

#[test]
fn why_a_flow_within_did_not_begin_stands_in_a_line_and_the_counts_agree_with_the_screen() {
    let sandbox = two_kinds();
    let said = sandbox.run(["run", "Outer", "--var", "how=formel"]);
    assert_eq!(said.code, 1);
    let line = said.err.lines().find(|line| line.starts_with("✗ flow")).unwrap();
    assert!(line.contains("The letter") && line.contains("formel") && line.contains("formal"), "{line}");
    assert_eq!(said.err.lines().filter(|line| line.starts_with("– ")).count(), 3, "{}", said.err);
    assert!(said.err.contains(": 1 flow within it did not begin, 3 of 3 steps skipped\n"), "{}", said.err);
    assert!(said.err.contains("hint: flow \"Letter\" refuses what the step hands it"), "{}", said.err);
    let dry = sandbox.run(["run", "Outer", "--var", "how=formel", "--dry-run"]);
    assert!(dry.code == 1 && dry.out.contains("1 step would fail:") && dry.out.contains("formel"), "{}", dry.out);
    assert_eq!(sandbox.run(["run", "Outer", "--var", "how=formal"]).code, 0);
}
