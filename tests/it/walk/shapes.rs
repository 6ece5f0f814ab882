//! Shapes of files, and how the template that a node names is found.

use flowy::internals::plan::Work;
use serde_json::{Value, json};

use crate::support::checking::{check, findings};
use crate::support::drawing::{Drawing, flow};

/// A template file of the export shape.
fn saved(templates: &[(&str, &str, &str)]) -> Value {
    let templates: Vec<Value> =
        templates.iter().map(|(id, title, text)| json!({"id": id, "title": title, "template": text})).collect();
    json!({"templates": templates})
}

/// The text of the only step, or its error.
fn text_of(drawing: &Drawing) -> String {
    let walked = drawing.run(json!({}));
    match &walked.executed.run.plan().steps()[0].work {
        Work::Render(_) => walked.text("n").to_owned(),
        Work::Faulty { code, .. } => code.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_template_is_found_by_stem_then_id_then_title_and_blanks_are_underscores() {
    let catalog = |reference: &str| {
        flow()
            .saved("n", reference)
            .template("Brand_Plan", &saved(&[("77", "Other", "stem")]))
            .template("Second", &saved(&[("Brand Plan", "x", "id, never asked"), ("88", "Brand_Plan", "title")]))
            .template("Third", &saved(&[("99", "77", "title of an id"), ("100", "Deep Sea", "deep")]))
    };
    for (reference, expected) in [
        ("Brand_Plan", "stem"),
        ("Brand Plan", "stem"),
        ("77", "stem"),
        ("88", "title"),
        ("Deep_Sea", "deep"),
        ("brand_plan", "TEMPLATE_NOT_FOUND"),
    ] {
        assert_eq!(text_of(&catalog(reference)), expected, "{reference}");
    }
}

#[test]
fn only_an_id_of_the_app_lets_the_nodes_own_text_stand_in() {
    for (reference, expected) in [
        ("1712345678901", "own"),
        ("0b6f1d1c-3a52-4d0e-9b59-0d7f0c1a0003", "own"),
        ("0b6f1d1c-3a52-4d0e-9b59-0d7f0c1a000x", "TEMPLATE_NOT_FOUND"),
        ("tpl-17", "TEMPLATE_NOT_FOUND"),
        ("", "own"),
        ("  ", "own"),
    ] {
        let drawing = flow().data("n", json!({"selectedTemplateId": reference, "template": "own"}));
        assert_eq!(text_of(&drawing), expected, "{reference}");
    }
    assert_eq!(text_of(&flow().data("n", json!({"selectedTemplateId": "17"}))), "TEMPLATE_NOT_FOUND");
    let both = flow()
        .data("n", json!({"selectedTemplateId": "T", "template": "own"}))
        .template("T", &saved(&[("1", "t", "saved")]));
    assert_eq!(text_of(&both), "saved");
}

#[test]
fn two_templates_of_one_title_and_a_broken_file_fail_their_step_with_its_error() {
    let drawing = flow()
        .saved("n", "Same")
        .template("A", &saved(&[("1", "Same", "a")]))
        .template("B", &saved(&[("2", "Same", "b")]));
    assert_eq!(text_of(&drawing), "AMBIGUOUS_NAME");
    assert_eq!(text_of(&flow().saved("n", "Bad").template("Bad", &json!({"templates": 3}))), "VALIDATION_ERROR");
}

#[test]
fn a_template_is_named_by_its_file_or_where_the_file_holds_several_by_its_title() {
    let drawing = flow()
        .saved("a", "One")
        .saved("b", "Deep")
        .data("c", json!({"label": "My step", "template": "x"}))
        .text("n", "{a_template}|{b_template}|{c_template}")
        .edges("a > n, b > n, c > n")
        .template("One", &saved(&[("1", "Title", "one")]))
        .template("Two", &saved(&[("2", "Deep", "two"), ("3", "Sea", "three")]));
    assert_eq!(drawing.run(json!({})).text("n"), "One|Deep|My step");
}

#[test]
fn every_flow_of_an_export_is_checked_and_told_apart() {
    let step = |text: &str| json!({"id": "n", "type": "template", "data": {"template": text}});
    let file = json!({"metadata": {"flowCount": 2}, "flows": [
        {"meta": {"name": "First", "version": "v1"}, "nodes": [step("one")], "edges": []},
        {"meta": {"name": "Second"}, "nodes": [step("two")], "edges": [{"source": "n", "target": "n"}]},
        {"meta": {"name": "Third", "tags": 4}, "nodes": [step("three"), {"id": 3, "type": "note"}], "edges": []},
    ]});
    let check = check(&("flows/Pair.json".to_owned(), file.to_string().into_bytes()), &[]);
    let told: Vec<_> = check
        .flows
        .iter()
        .map(|flow| {
            (
                flow.flow.name.to_string(),
                flow.findings.iter().map(|f| f.rule).collect::<Vec<_>>(),
                flow.checked.is_some(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("First".to_owned(), vec!["bad-version"], true),
            ("Second".to_owned(), vec!["self-edge"], false),
            ("Third".to_owned(), vec!["schema", "schema"], false),
        ]
    );
    assert!(findings(&check).iter().all(|finding| finding.flow.is_some()));
}

#[test]
fn fields_that_only_describe_never_stop_a_flow_in_any_shape() {
    let odd = json!({"id": 1_712_345, "version": true, "description": 5, "tags": "x", "author": ["a"], "category": 1, "complexity": "huge",
        "estimatedDuration": {}, "examples": {}, "created_at": 3, "updated_at": [], "expose": 1, "outputs": [1],
        "inputs": {"x": {"description": []}}});
    let node = json!({"id": "n", "type": "template", "data": {"template": "{x}", "label": [], "description": 3}});
    let export = json!({"metadata": {"version": [], "exportDate": 5, "flowCount": "many"}, "flows": [{"meta": odd, "nodes": [node], "edges": []}]});
    let flat = json!({"metadata": odd, "nodes": [node], "edges": []});
    for file in [export, flat] {
        let check = check(&("flows/Odd.json".to_owned(), file.to_string().into_bytes()), &[]);
        let found = findings(&check);
        assert!(found.len() >= 9, "{found:#?}");
        let told = found.iter().map(|f| (f.severity.to_string(), f.reach.to_string(), f.place.pointer.to_string()));
        let strict: Vec<_> = told.filter(|(severity, reach, _)| severity != "warning" || reach != "none").collect();
        assert!(strict.is_empty(), "{strict:#?}");
        assert!(check.flows[0].checked.is_some());
    }
}

#[test]
fn bytes_that_are_not_a_flow_say_what_is_due_and_where() {
    for (bytes, words) in [
        (&b"{\"hello\": 1}"[..], "neither `flows` nor `nodes` is there"),
        (b"[]", "a list, where an object with `flows` or `nodes` is due"),
        (b"7", "an object with `flows` or `nodes` is due"),
        (b"{} {}", "extra text after the end"),
        (b"{\"flows\": []}", "`flows` is empty"),
        (b"{\"nodes\": [\"\xff\"]}", "byte 12 is not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
        (b"", "the file is empty"),
    ] {
        let check = check(&("flows/X.json".to_owned(), bytes.to_vec()), &[]);
        let messages: Vec<String> = findings(&check).into_iter().map(|finding| finding.message).collect();
        assert!(messages.len() == 1 && messages[0].contains(words), "{words}: {messages:?}");
        assert!(check.flows.is_empty());
    }
}

#[test]
fn a_half_of_an_emoji_and_its_neighbours_have_their_places() {
    let text = r#"{"metadata":{"name":"x"},"nodes":[{"id":"n","type":"template","data":{"template":"\ud83d\ude00 \u00e9 {a.b} \"{c}\"","variables":["a","d"]}}],"edges":[]}"#;
    let check = check(&("flows/X.json".to_owned(), text.as_bytes().to_vec()), &[]);
    let cut: Vec<&str> = findings(&check).iter().map(|f| &text[f.span.start..f.span.end]).collect::<Vec<_>>();
    assert_eq!(cut, ["{c}", "\"d\""]);
    let half = text.replace("\\ude00", "");
    let check = crate::support::checking::check(&("flows/X.json".to_owned(), half.into_bytes()), &[]);
    assert!(!findings(&check).is_empty());
}
