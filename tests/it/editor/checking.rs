//! What is wrong, while somebody writes.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use serde_json::{Value, json};

use super::{GREETING, HARBOUR};
use crate::support::editor::{Editor, changed, position};
use crate::support::program::Sandbox;

fn catalog() -> Sandbox {
    Sandbox::new().file("flows/Harbour.json", HARBOUR).file("templates/Greeting.json", GREETING)
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic["code"].as_str().unwrap()).collect()
}

#[test]
fn a_text_that_is_not_saved_is_checked_in_the_place_of_its_file() {
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", HARBOUR);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    let broken = HARBOUR.replace("\"Greeting\"}", "\"Gretting\"}");
    editor.change("flows/Harbour.json", &broken);
    let told = editor.told("flows/Harbour.json");
    assert_eq!(codes(&told), ["missing-template"], "{told:?}");
    let start = position(&broken, "\"Gretting\"", 0);
    assert_eq!(
        (&told[0]["range"]["start"], &told[0]["severity"], &told[0]["source"]),
        (&start, &json!(1), &json!("flowy"))
    );
    // The name of the step holds a character of two units, and an editor may change just a bit.
    let typed = position(&broken, "tting\"", 0);
    let edit = json!({"range": {"start": typed, "end": position(&broken, "ing\"}", 0)}, "text": "et"});
    editor.edit("flows/Harbour.json", edit);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    assert_eq!(editor.end(), 0);
}

#[test]
fn a_template_that_is_not_saved_changes_what_is_found_in_the_flows_that_use_it() {
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", HARBOUR);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    editor.open("templates/Greeting.json", "{\"template\": ");
    assert_eq!(codes(&editor.told("templates/Greeting.json")), ["syntax"]);
    let told = editor.told("flows/Harbour.json");
    assert_eq!(codes(&told), ["missing-template"], "{told:?}");
    // What is closed counts as it is on the disk.
    let uri = editor.uri("templates/Greeting.json");
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
}

#[test]
fn an_editor_that_asks_for_findings_is_answered_and_not_told() {
    let mut editor = Editor::able_to(catalog(), &json!({"textDocument": {"diagnostic": {}}}));
    editor.open("flows/Harbour.json", &HARBOUR.replace("\"target\": \"out\"", "\"target\": \"gone\""));
    let uri = editor.uri("flows/Harbour.json");
    let report = editor.ask("textDocument/diagnostic", json!({"textDocument": {"uri": uri}}));
    assert_eq!((&report["kind"], codes(report["items"].as_array().unwrap())), (&json!("full"), vec!["dangling-edge"]));
    let none = editor.ask("textDocument/diagnostic", json!({"textDocument": {"uri": "untitled:one"}}));
    assert_eq!(none["items"], json!([]));
}

#[test]
fn positions_are_counted_in_bytes_where_the_editor_offers_that() {
    let text = HARBOUR
        .replace("{crew}", "{nobody}")
        .replace("Log\", \"template", "Log\", \"variables\": [\"ship\"], \"template");
    for (encodings, wanted) in [(json!(["utf-16"]), "utf-16"), (json!(["utf-16", "utf-8"]), "utf-8")] {
        let mut editor = Editor::able_to(catalog(), &json!({"general": {"positionEncodings": encodings}}));
        assert_eq!(editor.capabilities["positionEncoding"], wanted);
        editor.open("flows/Harbour.json", &text);
        let told = editor.told("flows/Harbour.json");
        let found = told.iter().find(|diagnostic| diagnostic["code"] == "unbound-placeholder").unwrap();
        let line = text.lines().nth(5).unwrap();
        let before = &line[..line.find("{nobody}").unwrap()];
        let count = if wanted == "utf-8" { before.len() } else { before.encode_utf16().count() };
        assert_eq!(found["range"]["start"], json!({"line": 5, "character": count}), "{told:?}");
    }
}

#[test]
fn what_the_catalog_suppresses_is_not_told() {
    let note = r#"{"id": "memo", "type": "sticky", "data": {}},
    {"id": "out""#;
    let text = HARBOUR.replace("{\"id\": \"out\"", note);
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", &text);
    assert_eq!(codes(&editor.told("flows/Harbour.json")), ["unknown-node-kind"]);
    let ignored = text.replace(
        "\"type\": \"sticky\", ",
        "\"type\": \"sticky\", \"x-flowy-ignore\": {\"unknown-node-kind\": \"for readers\"}, ",
    );
    editor.change("flows/Harbour.json", &ignored);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    let settings = "[[validate.ignore]]\nrule = \"unknown-node-kind\"\nreason = \"for readers\"\n";
    let mut editor = Editor::new(catalog().file("flowy.toml", settings));
    editor.open("flows/Harbour.json", &text);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
}

#[test]
fn a_flow_outside_of_a_catalog_is_checked_alone_and_other_files_are_left_alone() {
    let mut editor = Editor::new(Sandbox::new());
    editor.open("package.json", "{\"name\": \"other\", \"dependencies\": {}}");
    editor.open("Lonely.json", &HARBOUR.replace("\"target\": \"out\"", "\"target\": \"gone\""));
    assert_eq!(codes(&editor.told("Lonely.json")), ["dangling-edge"]);
    editor.open(
        "Lonely.flow.md",
        "---\nname: Lonely\nversion: 1.0.0\n---\n\n## Say {#say}\n\n```yaml\nvariables: [boat]\n```\n\nHello {name}\n",
    );
    let told = editor.told("Lonely.flow.md");
    assert_eq!(codes(&told), ["unused-variable", "unbound-placeholder"], "{told:?}");
    assert_eq!(told[1]["range"]["start"], json!({"line": 11, "character": 6}));
    let others = editor.answer(
        "textDocument/hover",
        json!({"textDocument": {"uri": "untitled:x"}, "position": {"line": 0, "character": 0}}),
    );
    assert_eq!(others["result"], Value::Null);
}

#[test]
fn a_file_that_changes_on_the_disk_is_read_again() {
    let watching = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut editor = Editor::able_to(catalog(), &watching);
    let asked = editor.wait_for(|message| message["method"] == "client/registerCapability");
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    editor.open("flows/Harbour.json", HARBOUR);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    let template = editor.sandbox.here().join("templates/Greeting.json");
    std::fs::remove_file(template).unwrap();
    let change = json!({"uri": editor.uri("templates/Greeting.json"), "type": 3});
    editor.tell("workspace/didChangeWatchedFiles", json!({"changes": [change]}));
    assert_eq!(codes(&editor.told("flows/Harbour.json")), ["missing-template"]);
}

#[test]
fn what_can_be_mended_is_offered_as_a_change() {
    let text = HARBOUR.replace("\"version\": \"1.0.0\"", "\"version\": \"v1\"").replace("\"id\": \"a\", ", "");
    let mut editor = Editor::new(catalog());
    editor.open("flows/Harbour.json", &text);
    let told = editor.told("flows/Harbour.json");
    let bad = told.iter().find(|diagnostic| diagnostic["code"] == "bad-version").unwrap();
    let uri = editor.uri("flows/Harbour.json");
    let ask = |editor: &mut Editor, only: Value| {
        let params = json!({"textDocument": {"uri": uri}, "range": bad["range"], "context": {"diagnostics": [bad], "only": only}});
        editor.ask("textDocument/codeAction", params)
    };
    let fixes = ask(&mut editor, json!(["quickfix"]));
    let fix = &fixes[0];
    assert_eq!(
        (&fix["kind"], &fix["isPreferred"], &fix["diagnostics"][0]["code"]),
        (&json!("quickfix"), &json!(true), &json!("bad-version"))
    );
    let edits = fix["edit"]["changes"][&uri].as_array().unwrap();
    let mended = changed(&text, edits);
    editor.change("flows/Harbour.json", &mended);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
    let all = ask(&mut editor, json!(["source"]));
    assert_eq!(all[0]["kind"], "source.fixAll");
    let whole = all[0]["edit"]["changes"][&uri].as_array().unwrap();
    assert!(changed(&mended, whole).contains("\"id\": \"in-greet\""), "{whole:?}");
    let comma = HARBOUR.replace("\"target\": \"out\"}", "\"target\": \"out\"},");
    editor.change("flows/Harbour.json", &comma);
    let told = editor.told("flows/Harbour.json");
    let params = json!({"textDocument": {"uri": uri}, "range": told[0]["range"], "context": {"diagnostics": [], "only": ["quickfix"]}});
    let fixes = editor.ask("textDocument/codeAction", params);
    assert_eq!(changed(&comma, fixes[0]["edit"]["changes"][&uri].as_array().unwrap()), HARBOUR);
}

#[test]
fn a_file_is_laid_out_as_fmt_does() {
    let mut editor = Editor::new(catalog());
    let text = "{\"edges\":[],\"nodes\":[{\"type\":\"template\",\"id\":\"a\",\"data\":{\"template\":\"x\"}}],\"metadata\":{\"name\":\"A\",\"version\":\"1.0.0\"}}\n";
    editor.open("flows/A.json", text);
    let params =
        json!({"textDocument": {"uri": editor.uri("flows/A.json")}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = editor.ask("textDocument/formatting", params);
    let laid_out = changed(text, edits.as_array().unwrap());
    let sandbox = Sandbox::new().file("flows/A.json", text);
    assert_eq!(sandbox.run(["fmt"]).code, 0);
    assert_eq!(std::fs::read_to_string(sandbox.here().join("flows/A.json")).unwrap(), laid_out);
}

#[test]
fn a_file_that_is_too_large_says_so() {
    let sandbox = catalog().variable("MAX_FILE_SIZE", "500");
    let mut editor = Editor::new(sandbox);
    editor.open("flows/Harbour.json", HARBOUR);
    assert_eq!(codes(&editor.told("flows/Harbour.json")), ["FILE_TOO_LARGE"]);
}

#[test]
fn a_question_that_cannot_be_understood_is_an_error_and_the_next_one_is_answered() {
    let mut editor = Editor::new(catalog());
    let unknown = editor.answer("textDocument/typeHierarchy", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let bad = editor.answer("textDocument/hover", json!({"position": 5}));
    assert_eq!(bad["error"]["code"], -32602);
    editor.tell("textDocument/didChange", json!({"contentChanges": "x"}));
    editor.open("flows/Harbour.json", HARBOUR);
    assert_eq!(editor.told("flows/Harbour.json"), Vec::<Value>::new());
}

#[test]
fn a_text_that_was_never_saved_stands_alone_whatever_folder_the_editor_is_in() {
    let written = "---\nname: Trip\nversion: 1.0.0\ninputs: [port]\n---\n\n## Sail {#sail}\n\nTo {port}.\n\n## Eat {#eat}\n\n{sail_result} in {prot}\n";
    let mut editor = Editor::new(catalog());
    for (uri, text, placeholder) in [
        ("untitled:Untitled-1", written.to_owned(), "{port}"),
        (
            "untitled:flows/Harbour.json",
            HARBOUR.replace("out\"}", "gone\"}").replace("\"Greeting\"", "\"Elsewhere\""),
            "{ship}",
        ),
        ("untitled:/nowhere/flows/a.json", written.to_owned(), "{port}"),
    ] {
        editor.open(uri, &text);
        let rule = if text.starts_with('{') { "dangling-edge" } else { "unbound-placeholder" };
        let told = editor.told(uri);
        assert_eq!(codes(&told), [rule], "{told:?}");
        let at = position(&text, placeholder, 2);
        let hover = editor.at("textDocument/hover", uri, &at)["contents"]["value"].to_string();
        assert!(hover.contains(placeholder.trim_matches(['{', '}'])), "{hover}");
        let offered = editor.at("textDocument/completion", uri, &at);
        let names = offered.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap());
        assert!(names.clone().any(|name| name == placeholder.trim_matches(['{', '}'])), "{offered}");
        let found = editor.at("textDocument/definition", uri, &at);
        assert!(found.as_array().unwrap().iter().all(|spot| spot["uri"] == uri), "{found}");
        let laid_out = editor.answer(
            "textDocument/formatting",
            json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}}),
        );
        assert!(laid_out.get("error").is_none(), "{laid_out}");
        let mut params = json!({"textDocument": {"uri": uri}, "position": at, "newName": "place"});
        let changes = editor.ask("textDocument/rename", params.clone())["changes"].clone();
        assert_eq!(changes.as_object().unwrap().keys().collect::<Vec<_>>(), [uri]);
        params["context"] = json!({"includeDeclaration": true});
        assert!(editor.ask("textDocument/references", params).as_array().unwrap().len() > 1);
    }
    // A text changes its language, and what is no flow has no findings.
    for (text, found) in
        [("", 0), ("[1, 2", 0), ("# Milk\n\nand {bread}\n", 0), (&HARBOUR.replace("out\"}", "gone\"}"), 1)]
    {
        editor.change("untitled:Untitled-1", text);
        assert_eq!(editor.told("untitled:Untitled-1").len(), found, "{text}");
    }
    let closed = json!({"textDocument": {"uri": "untitled:Untitled-1"}});
    editor.tell("textDocument/didClose", closed.clone());
    assert_eq!(
        editor.ask(
            "textDocument/hover",
            json!({"textDocument": closed["textDocument"], "position": {"line": 0, "character": 0}})
        ),
        Value::Null
    );
    assert_eq!(editor.end(), 0);
}
