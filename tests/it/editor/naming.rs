//! What names mean: definitions, references, completion and renaming.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{GREETING, HARBOUR};
use crate::support::editor::{Editor, changed, position};
use crate::support::program::Sandbox;

const MARKDOWN: &str = "---\nname: Letter\nversion: 1.0.0\ninputs:\n  ship: { description: The ship }\n---\n\n\
## Facts {#facts}\n\n```yaml\ntemplate: Greeting\n```\n\n## Write {#write}\n\nWrite to {ship}: {facts_result}\n";
const OUTER: &str = r#"{"metadata": {"name": "Outer", "version": "1.0.0"}, "nodes": [
  {"id": "i", "type": "input", "data": {"variables": ["vessel"]}},
  {"id": "inner", "type": "flow", "data": {"flow": "Harbour", "variables": {"ship": "{vessel}"}}}],
  "edges": [{"id": "e", "source": "i", "target": "inner"}]}
"#;
const TEST: &str = r#"{"flow": "Harbour", "inputs": {"ship": "Aurora"}, "expect": {"missing": []}}
"#;

fn catalog() -> Sandbox {
    Sandbox::new()
        .file("flows/Harbour.json", HARBOUR)
        .file("templates/Greeting.json", GREETING)
        .file("flows/Outer.json", OUTER)
        .file("tests/harbour.flowtest.json", TEST)
}

/// File and text of locations.
fn said(editor: &Editor, found: &Value, texts: &[(&str, &str)]) -> Vec<(String, String)> {
    let of = |location: &Value| {
        let (file, text) = texts.iter().find(|(file, _)| location["uri"] == editor.uri(file)).unwrap();
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let (start, end) = (&location["range"]["start"], &location["range"]["end"]);
        let line: Vec<u16> = text.lines().nth(number(&start["line"])).unwrap().encode_utf16().collect();
        let bit = String::from_utf16(&line[number(&start["character"])..number(&end["character"])]).unwrap();
        ((*file).to_owned(), bit)
    };
    found.as_array().unwrap().iter().map(of).collect()
}

#[test]
fn hovering_over_a_placeholder_tells_where_its_value_comes_from() {
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", HARBOUR);
    editor.open("templates/Greeting.json", GREETING);
    let hover = |editor: &mut Editor, file: &str, text: &str, words: &str| {
        let answer = editor.at("textDocument/hover", file, &position(text, words, 1));
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let ship = hover(&mut editor, "flows/Harbour.json", HARBOUR, "{ship}");
    assert!(ship.contains("The caller has to give it") && ship.contains("The ship's name"), "{ship}");
    assert!(ship.contains("`tests/harbour.flowtest.json`: `Aurora`"), "{ship}");
    let crew = hover(&mut editor, "flows/Harbour.json", HARBOUR, "{crew}");
    assert!(crew.contains("may give it") && crew.contains("Default: `12`"), "{crew}");
    let output = hover(&mut editor, "flows/Harbour.json", HARBOUR, "{greet_result}");
    assert!(output.contains("output of step 1") && output.contains("`greet`"), "{output}");
    let template = hover(&mut editor, "flows/Harbour.json", HARBOUR, "Greeting\"}");
    assert!(template.contains("templates/Greeting.json") && template.contains("`ship`"), "{template}");
    let of_template = hover(&mut editor, "templates/Greeting.json", GREETING, "{ship}");
    assert!(of_template.contains("flow **Harbour**, step 1") && of_template.contains("`Aurora`"), "{of_template}");
    assert_eq!(hover(&mut editor, "flows/Harbour.json", HARBOUR, "\"edges\""), "");
}

#[test]
fn a_definition_is_the_declaration_the_step_or_the_file() {
    let texts = [("flows/Harbour.json", HARBOUR), ("templates/Greeting.json", GREETING), ("flows/Outer.json", OUTER)];
    let mut editor = Editor::new(catalog());
    for (file, text) in texts {
        editor.open(file, text);
    }
    let mut go = |file: &str, text: &str, words: &str| {
        let found = editor.at("textDocument/definition", file, &position(text, words, 1));
        said(&editor, &found, &texts)
    };
    let own = |text: &str| ("flows/Harbour.json".to_owned(), text.to_owned());
    assert_eq!(go("flows/Harbour.json", HARBOUR, "{ship}"), [own("ship"), own("ship")]);
    assert_eq!(go("flows/Harbour.json", HARBOUR, "{greet_result}"), [own("greet")]);
    assert_eq!(go("flows/Harbour.json", HARBOUR, "greet\", \"target"), [own("greet")]);
    assert_eq!(
        go("flows/Harbour.json", HARBOUR, "Greeting\"}"),
        [("templates/Greeting.json".to_owned(), String::new())]
    );
    assert_eq!(go("templates/Greeting.json", GREETING, "{ship}"), [own("ship"), own("ship")]);
    assert_eq!(go("flows/Outer.json", OUTER, "Harbour\""), [own("")]);
    assert_eq!(go("flows/Outer.json", OUTER, "ship\""), [own("ship"), own("ship")]);
}

#[test]
fn references_are_found_in_every_file_that_says_the_name() {
    let test = ("tests/harbour.flowtest.json", TEST);
    let texts =
        [("flows/Harbour.json", HARBOUR), ("templates/Greeting.json", GREETING), ("flows/Outer.json", OUTER), test];
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", HARBOUR);
    let mut find = |words: &str| {
        let params = json!({"textDocument": {"uri": editor.uri("flows/Harbour.json")},
            "position": position(HARBOUR, words, 1), "context": {"includeDeclaration": true}});
        let found = editor.ask("textDocument/references", params);
        let mut files = BTreeMap::new();
        for (file, bit) in said(&editor, &found, &texts) {
            assert!(words.contains(&bit) || bit == "greet", "{file}: {bit}");
            *files.entry(file).or_insert(0) += 1;
        }
        files.into_iter().collect::<Vec<_>>()
    };
    let files =
        |list: &[(&str, i32)]| list.iter().map(|(file, count)| ((*file).to_owned(), *count)).collect::<Vec<_>>();
    assert_eq!(
        find("{ship}"),
        files(&[("flows/Harbour.json", 3), ("flows/Outer.json", 1), ("templates/Greeting.json", 2), (test.0, 1)])
    );
    assert_eq!(find("Greeting\"}"), files(&[("flows/Harbour.json", 1)]));
    assert_eq!(find("{greet_result}"), files(&[("flows/Harbour.json", 4)]));
}

#[test]
fn what_may_stand_at_a_place_is_offered() {
    let contract = r#"{"type": "object", "properties": {"place": {"type": "string"}, "time": {"type": "string"}}, "additionalProperties": false}"#;
    let sandbox = catalog().file("contracts/Berth.json", contract).file("personas/pilot.md", "You are a pilot.\n");
    let mut editor = Editor::new(sandbox);
    let offered = |editor: &mut Editor, file: &str, text: &str, cursor: &str| {
        let (before, after) = cursor.split_once('|').unwrap();
        let text = text.replacen(&format!("{before}{after}"), &format!("{before}\u{1}{after}"), 1);
        let at = position(&text, "\u{1}", 0);
        editor.open(file, &text.replace('\u{1}', ""));
        let items = editor.at("textDocument/completion", file, &at);
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let with = |from: &str, to: &str| HARBOUR.replace(from, to);
    let text = with("{ship} with", "{sh with");
    assert_eq!(offered(&mut editor, "flows/Harbour.json", &text, "{sh| with"), ["crew", "greet_result", "ship"]);
    let text = with("\"selectedTemplateId\": \"Greeting\"", "\"selectedTemplateId\": \"\"");
    assert_eq!(offered(&mut editor, "flows/Harbour.json", &text, "TemplateId\": \"|\""), ["Greeting"]);
    let text = with("\"selectedTemplateId\": \"Greeting\"", "\"template\": \"x\", \"persona\": \"p\"");
    assert_eq!(offered(&mut editor, "flows/Harbour.json", &text, "persona\": \"p|"), ["pilot"]);
    let text = with("\"target\": \"log\"", "\"target\": \"");
    assert_eq!(
        offered(&mut editor, "flows/Harbour.json", &text, "\"greet\", \"target\": \"|"),
        ["greet", "in", "log", "out"]
    );
    let text =
        with("\"Greeting\"}", "\"Greeting\", \"contract\": \"Berth\"}").replace("{greet_result}", "{greet_result.}");
    assert_eq!(offered(&mut editor, "flows/Harbour.json", &text, "greet_result.|}"), ["place", "time"]);
    let text = OUTER.replace("\"Harbour\"", "\"H\"");
    assert_eq!(offered(&mut editor, "flows/Outer.json", &text, "\"flow\": \"H|"), ["Harbour"]);
    assert_eq!(offered(&mut editor, "flows/Outer.json", OUTER, "\"sh|ip\""), ["crew", "ship"]);
    let text = GREETING.replace("{ship}", "{");
    assert_eq!(offered(&mut editor, "templates/Greeting.json", &text, "Hello {|"), ["crew", "ship"]);
    let text = MARKDOWN.replace("{ship}:", "{sh");
    assert_eq!(offered(&mut editor, "flows/Letter.flow.md", &text, "{sh|"), ["facts_result", "ship"]);
    let text = MARKDOWN.replace("template: Greeting", "template: Gr");
    assert_eq!(offered(&mut editor, "flows/Letter.flow.md", &text, "template: Gr|"), ["Greeting"]);
    assert_eq!(offered(&mut editor, "flows/Harbour.json", HARBOUR, "\"ver|sion\""), Vec::<String>::new());
}

fn rename(editor: &mut Editor, file: &str, at: Value, new: &str) -> Value {
    let params = json!({"textDocument": {"uri": editor.uri(file)}, "position": at, "newName": new});
    editor.answer("textDocument/rename", params)
}

#[test]
fn renaming_a_variable_changes_every_file_and_the_flow_does_the_same() {
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", HARBOUR);
    let at = position(HARBOUR, "{ship}", 2);
    let prepared = editor.at("textDocument/prepareRename", "flows/Harbour.json", &at);
    assert_eq!(prepared["placeholder"], "ship");
    let answer = rename(&mut editor, "flows/Harbour.json", at, "vessel_name");
    let changes = answer["result"]["changes"].as_object().unwrap_or_else(|| panic!("{answer}"));
    let files = ["flows/Harbour.json", "flows/Outer.json", "templates/Greeting.json", "tests/harbour.flowtest.json"];
    assert_eq!(changes.len(), files.len());
    let sandbox = &editor.sandbox;
    let run = |variable: &str| sandbox.run(["run", "Harbour", "--var", variable]).out;
    let (before, nested) = (run("ship=Aurora"), sandbox.run(["run", "Outer", "--var", "vessel=Aurora"]).out);
    for file in files {
        let path = sandbox.here().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let after = changed(&text, changes[&editor.uri(file)].as_array().unwrap());
        assert_eq!(after, text.replace("{ship}", "{vessel_name}").replace("\"ship\"", "\"vessel_name\""), "{file}");
        std::fs::write(path, after).unwrap();
    }
    assert_eq!(run("vessel_name=Aurora"), before);
    assert!(before.contains("Aurora with 12"), "{before}");
    assert_eq!(sandbox.run(["run", "Outer", "--var", "vessel=Aurora"]).out, nested);
    assert_eq!(sandbox.run(["validate", "--strict"]).code, 0);
}

#[test]
fn renaming_works_in_markdown_as_in_json() {
    let sandbox = Sandbox::new().file("flows/Letter.flow.md", MARKDOWN).file("templates/Greeting.md", "Hello {ship}\n");
    let mut editor = Editor::new(sandbox);
    editor.open("flows/Letter.flow.md", MARKDOWN);
    let answer = rename(&mut editor, "flows/Letter.flow.md", position(MARKDOWN, "{ship}", 2), "boat");
    let changes = answer["result"]["changes"].as_object().unwrap_or_else(|| panic!("{answer}"));
    let flow = changed(MARKDOWN, changes[&editor.uri("flows/Letter.flow.md")].as_array().unwrap());
    assert_eq!(flow, MARKDOWN.replace("{ship}", "{boat}").replace("  ship:", "  boat:"));
    let template = changed("Hello {ship}\n", changes[&editor.uri("templates/Greeting.md")].as_array().unwrap());
    assert_eq!(template, "Hello {boat}\n");
}

#[test]
fn renaming_is_refused_where_it_would_change_what_a_flow_does() {
    let shared = HARBOUR.replace("\"Harbour\"", "\"Pier\"");
    let sandbox = catalog().file("flows/Pier.json", shared);
    let mut editor = Editor::new(sandbox);
    editor.open("flows/Harbour.json", HARBOUR);
    editor.open("templates/Greeting.json", GREETING);
    let mut refused = |file: &str, text: &str, words: &str, new: &str| {
        let answer = rename(&mut editor, file, position(text, words, 1), new);
        assert_eq!(answer["error"]["code"], -32803, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    let message = refused("flows/Harbour.json", HARBOUR, "{ship}", "boat");
    assert!(message.contains("\"Greeting\"") && message.contains("\"Pier\""), "{message}");
    let message = refused("templates/Greeting.json", GREETING, "{ship}", "boat");
    assert!(message.contains("\"Pier\""), "{message}");
    // Nothing shared says this one.
    assert!(refused("flows/Harbour.json", HARBOUR, "{crew}", "ship").contains("flows/Harbour.json"));
    assert!(refused("flows/Harbour.json", HARBOUR, "{crew}", "greet_result").contains("gives"));
    refused("flows/Harbour.json", HARBOUR, "{crew}", "two words");
    refused("flows/Harbour.json", HARBOUR, "{crew}", "_variableSet");
    assert!(refused("flows/Harbour.json", HARBOUR, "{greet_result}", "hello").contains("id"));
    refused("flows/Harbour.json", HARBOUR, "\"edges\"", "hello");
}
