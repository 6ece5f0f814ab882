//! Where a value comes from, the strongest source first.

use serde_json::{Value, json};

use crate::support::drawing::{Drawing, flow};

/// A step `a`, and a step `n` that reads `{x}`, with an edge between them.
fn pair() -> Drawing {
    flow().text("a", "A").declaring("n", &["x"], "[{x}]")
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn a_mapping_on_an_edge_beats_everything() {
    let drawing = pair()
        .input("ask", json!([{"key": "x", "value": "default"}]))
        .mapped("a", "n", json!({"x": "result"}))
        .edges("ask > n");
    assert_eq!(drawing.required(), none());
    let walked = drawing.run(json!({"x": "caller"}));
    assert_eq!(walked.text("n"), "[A]");
    assert_eq!(walked.mappings(), ["n.x = a (mapping)"]);
    assert_eq!(walked.warnings(), ["IGNORED_VARIABLE -"]);
}

#[test]
fn a_mapping_beats_the_output_that_the_name_itself_means() {
    let drawing = flow().text("a", "A").text("b", "B").text("n", "[{a_result}]").edges("a > b").mapped(
        "b",
        "n",
        json!({"a_result": "result"}),
    );
    assert_eq!(drawing.run(json!({})).text("n"), "[B]");
}

#[test]
fn a_handle_of_a_read_name_takes_the_output_of_a_step_and_never_of_an_input() {
    let drawing = pair().handle("a", "n", "x");
    let walked = drawing.run(json!({}));
    assert_eq!((walked.text("n"), walked.mappings()), ("[A]", vec!["n.x = a (handle)".to_owned()]));
    let from_input = flow().input("ask", json!(["y"])).declaring("n", &["x"], "[{x}]").handle("ask", "n", "x");
    assert_eq!(from_input.required(), ["y", "x"]);
    assert_eq!(pair().handle("a", "n", "input-1").required(), none(), "auto-mapped, the handle means nothing");
}

#[test]
fn of_two_edges_for_one_name_the_first_in_the_file_counts() {
    let base = || flow().text("a", "A").text("b", "B").declaring("n", &["x"], "[{x}]");
    assert_eq!(base().handle("b", "n", "x").mapped("a", "n", json!({"x": "result"})).run(json!({})).text("n"), "[B]");
    assert_eq!(base().mapped("a", "n", json!({"x": "result"})).handle("b", "n", "x").run(json!({})).text("n"), "[A]");
}

#[test]
fn a_mapping_to_an_input_takes_what_the_caller_a_set_or_the_default_gives_it() {
    let drawing = flow()
        .input("ask", json!(["city", {"key": "tone", "value": "dry"}]))
        .declaring("n", &["place", "style"], "{place} {style}")
        .mapped("ask", "n", json!({"place": "city", "style": "tone"}));
    assert_eq!(drawing.required(), ["city"]);
    let walked = drawing.run(json!({"city": "Oslo"}));
    assert_eq!(walked.text("n"), "Oslo dry");
    assert_eq!(walked.mappings(), ["n.place = city (mapping)", "n.style = tone (mapping)"]);
    assert_eq!(drawing.run(json!({"city": "Oslo", "tone": "wry"})).text("n"), "Oslo wry");
}

#[test]
fn a_mapping_to_nothing_there_is_left_to_the_weaker_sources() {
    let drawing = flow().input("ask", json!(["city"])).declaring("n", &["place"], "{place}").mapped(
        "ask",
        "n",
        json!({"place": "citty"}),
    );
    assert_eq!(drawing.required(), ["city", "place"]);
}

#[test]
fn the_output_of_an_ancestor_beats_the_caller_with_a_warning() {
    let drawing =
        flow().text("node-2", "two").text("n", "{node2_result} {node-2_result} {node2_template}").edges("node-2 > n");
    assert_eq!(drawing.required(), none());
    let walked = drawing.run(json!({"node2_result": "mine"}));
    assert_eq!(walked.text("n"), "two two node-2");
    assert_eq!(walked.warnings(), ["IGNORED_VARIABLE -"]);
    assert_eq!(walked.mappings(), none(), "the name itself says it");
}

#[test]
fn an_ancestor_is_whatever_has_a_path_through_notes_and_results_too() {
    let drawing = flow()
        .text("a", "A")
        .result("r", "R")
        .note("m")
        .text("b", "B")
        .text("n", "{a_result}{b_result}")
        .edges("a > r > b > m > n");
    assert_eq!(drawing.run(json!({})).text("n"), "AB");
}

#[test]
fn an_input_of_the_name_of_an_output_gives_way() {
    let drawing = flow().input("ask", json!(["a_result"])).text("a", "A").text("n", "{a_result}").edges("ask > a > n");
    assert_eq!(drawing.required(), none());
    assert_eq!(drawing.run(json!({})).text("n"), "A");
}

/// Two steps that share a template with sets, and sets of their own.
fn with_sets() -> Drawing {
    flow()
        .input("ask", json!([{"key": "x", "value": "default"}]))
        .data("n", json!({"selectedTemplateId": "T", "variableValueSets": [{"name": "one", "values": {"x": "node", "z": null}}]}))
        .saved("m", "T")
        .edges("ask > n, ask > m")
        .template(
            "T",
            &json!({"templates": [{"id": "t", "title": "T", "template": "{x} {y}", "variables": ["x", "y"],
                "variableValueSets": [{"name": "one", "values": {"x": "template", "y": "ty"}}, {"name": "two", "values": {"y": 2}}]}]}),
        )
}

#[test]
fn the_caller_beats_the_set_and_the_set_beats_defaults() {
    let walked = with_sets().run(json!({"_variableSet": "one", "x": "caller"}));
    assert_eq!((walked.text("n"), walked.text("m")), ("caller ty", "caller ty"));
    let walked = with_sets().run(json!({"_variableSet": "two"}));
    assert_eq!((walked.text("n"), walked.text("m")), ("default 2", "default 2"));
}

#[test]
fn each_step_takes_its_own_set_and_the_node_comes_before_the_template() {
    let walked = with_sets().run(json!({"_variableSet": "one"}));
    assert_eq!((walked.text("n"), walked.text("m")), ("node ty", "template ty"));
    let walked = with_sets().run(json!({"_useSet_one": true}));
    assert_eq!(walked.text("n"), "node ty");
    assert_eq!(with_sets().plan().sets(), ["one", "two"]);
}

#[test]
fn a_set_gives_what_is_required_only_to_the_steps_that_have_it() {
    let drawing = with_sets().declaring("k", &["y"], "{y}");
    let refusal = drawing.try_run(json!({"_variableSet": "one"})).unwrap_err();
    assert_eq!(refusal.to_string(), "missing: y");
    assert_eq!(drawing.run(json!({"_variableSet": "one", "y": "caller"})).text("m"), "template caller");
}

#[test]
fn defaults_come_from_inputs_then_the_connected_input_node_then_the_first_then_the_template() {
    let base = |edges: &str| {
        flow()
            .input("far", json!({"x": "far"}))
            .input("near", json!({"x": "near"}))
            .data("n", json!({"template": "{x}{y}", "variables": [{"name": "x", "default": "own"}, {"name": "y", "default": "own"}]}))
            .edges(edges)
    };
    assert_eq!(base("near > n").run(json!({})).text("n"), "nearown");
    assert_eq!(base("far > n, near > n").run(json!({})).text("n"), "farown");
    let unconnected = base("far > near");
    assert_eq!(unconnected.run(json!({})).text("n"), "farown");
    assert_eq!(base("near > n").inputs(json!({"x": {"default": "inputs"}})).run(json!({})).text("n"), "inputsown");
    assert_eq!(base("near > n").rules(), ["differing-defaults"]);
    assert_eq!(base("near > n").inputs(json!({"x": {"default": "inputs"}})).rules(), Vec::<&str>::new());
}

#[test]
fn zero_and_false_are_defaults_and_an_empty_text_is_none() {
    let drawing = flow().input("ask", json!({"n": 0, "f": false, "s": ""})).text("t", "{n} {f} {s}").edges("ask > t");
    assert_eq!(drawing.required(), ["s"]);
    assert_eq!(drawing.run(json!({"s": ""})).text("t"), "0 false ");
}

#[test]
fn one_open_name_with_one_parent_takes_its_output() {
    let drawing = flow().text("a", "A").declaring("n", &["draft"], "On {draft}").edges("a > n");
    assert_eq!(drawing.required(), none());
    let walked = drawing.run(json!({}));
    assert_eq!(walked.text("n"), "On A");
    assert_eq!(walked.mappings(), ["n.draft = a (auto)"]);
    assert_eq!(walked.warnings(), ["AUTO_MAPPED n"]);
    let walked = drawing.run(json!({"draft": "mine"}));
    assert_eq!((walked.text("n"), walked.mappings(), walked.warnings()), ("On mine", none(), none()));
}

#[test]
fn the_one_parent_may_be_reached_through_notes_results_and_doubled_edges() {
    let drawing = flow()
        .input("ask", json!({"tone": "dry"}))
        .text("a", "A")
        .result("r", "R")
        .note("m")
        .declaring("n", &["draft", "tone"], "{tone} {draft}")
        .edges("a > r > n, a > m > n, a > n, a > n, ask > n");
    assert_eq!(drawing.run(json!({})).text("n"), "dry A");
}

#[test]
fn a_name_is_not_mapped_where_anything_else_could_be_meant() {
    let draft = || flow().text("a", "A").declaring("n", &["draft"], "{draft}");
    for (why, drawing, required) in [
        ("an input node declares it", draft().input("ask", json!(["draft"])).edges("a > n, ask > n"), vec!["draft"]),
        ("inputs declares it", draft().inputs(json!({"draft": {"description": "x"}})).edges("a > n"), vec!["draft"]),
        ("another step needs it", draft().declaring("k", &["draft"], "{draft}").edges("a > n"), vec!["draft"]),
        ("two parents", draft().text("b", "B").edges("a > n, b > n"), vec!["draft"]),
        ("no parent", draft().edges("n > a"), vec!["draft"]),
        ("two open names", flow().text("a", "A").declaring("n", &["x", "y"], "{x}{y}").edges("a > n"), vec!["x", "y"]),
        ("the output is read already", flow().text("a", "A").text("n", "{a_result} {x}").edges("a > n"), vec!["x"]),
        (
            "the output is mapped already",
            flow().text("a", "A").declaring("n", &["x", "y"], "{x}{y}").mapped("a", "n", json!({"x": "result"})),
            vec!["y"],
        ),
        (
            "it has a default",
            flow()
                .text("a", "A")
                .data("n", json!({"template": "{x}", "variables": [{"name": "x", "default": "d"}]}))
                .edges("a > n"),
            vec![],
        ),
        (
            "it is optional",
            flow()
                .text("a", "A")
                .data("n", json!({"template": "{x}", "variables": [{"name": "x", "required": false}]}))
                .edges("a > n"),
            vec![],
        ),
    ] {
        assert_eq!(drawing.required(), required, "{why}");
        let all: Value =
            required.iter().map(|name| ((*name).to_owned(), json!("v"))).collect::<serde_json::Map<_, _>>().into();
        assert!(drawing.run(all).mappings().iter().all(|mapping| !mapping.contains("auto")), "{why}");
    }
}

#[test]
fn the_other_steps_open_name_does_not_hinder_mapping() {
    let drawing = flow().text("a", "{topic}").declaring("n", &["draft", "topic"], "{draft} {topic}").edges("a > n");
    assert_eq!(drawing.required(), ["topic"], "topic is needed twice, draft once");
    assert_eq!(drawing.run(json!({"topic": "tea"})).text("n"), "tea tea");
}

#[test]
fn a_chosen_set_beats_auto_mapping() {
    let sets = json!([{"name": "s", "values": {"draft": "set"}}]);
    let data = json!({"template": "{draft}", "variables": ["draft"], "variableValueSets": sets});
    let drawing = flow().text("a", "A").data("n", data).edges("a > n");
    assert_eq!(drawing.run(json!({"_variableSet": "s"})).text("n"), "set");
    assert_eq!(drawing.run(json!({})).text("n"), "A");
}

#[test]
fn a_dot_path_reads_into_what_the_caller_gave() {
    let drawing = flow().declaring("n", &["row"], "{row.id} {row.tags.1} {row} {row.len}");
    let walked = drawing.run(json!({"row": {"id": 7, "tags": ["a", "b"], "len": 1.50}}));
    assert_eq!(walked.text("n"), r#"7 b {"id":7,"tags":["a","b"],"len":1.5} 1.5"#);
    let walked = drawing.run(json!({"row": {"id": 7}}));
    assert_eq!(walked.error("n"), "EXECUTION_ERROR: {row.tags.1}: \"row\" has nothing at tags.1; it has id");
}

#[test]
fn a_dot_path_into_a_text_stays_with_a_warning() {
    let drawing = flow().text("a", "A").declaring("n", &["x"], "{a_result.title} {x.y} {x}").edges("a > n");
    let walked = drawing.run(json!({"x": "text"}));
    assert_eq!(walked.text("n"), "{a_result.title} {x.y} text");
    assert_eq!(walked.warnings(), ["TEXT_HAS_NO_FIELDS n", "TEXT_HAS_NO_FIELDS n"]);
}

#[test]
fn groups_that_read_as_code_stay_without_a_word() {
    let text = r"a {color: red} \frac{1}{2} \vec{v} ${HOME} {0} {who}";
    let walked = flow().declaring("n", &["who"], text).run(json!({"who": "W"}));
    assert_eq!(walked.text("n"), r"a {color: red} \frac{1}{2} \vec{v} ${HOME} {0} W");
    assert_eq!(walked.warnings(), [""; 0]);
    let walked = flow().declaring("n", &["who"], "{who} {topic}").run(json!({"who": "W"}));
    assert_eq!(walked.warnings(), ["UNBOUND_PLACEHOLDER n"]);
}

#[test]
fn a_dot_path_into_an_optional_name_that_nobody_gives_is_empty() {
    let data = json!({"template": "[{x.y}]", "variables": [{"name": "x", "required": false}]});
    assert_eq!(flow().data("n", data).run(json!({})).text("n"), "[]");
}

#[test]
fn values_go_in_once_raw_and_are_never_looked_at_again() {
    let drawing = flow().declaring("a", &["x", "y"], "{x}|{y}").text("n", "{a_result}").edges("a > n");
    let walked = drawing.run(json!({"x": "{y} $& \\1 {a_result} {{z}}", "y": {"b": [1, "\u{1F600}"], "a": null}}));
    let expected = "{y} $& \\1 {a_result} {{z}}|{\"b\":[1,\"\u{1F600}\"],\"a\":null}";
    assert_eq!((walked.text("a"), walked.text("n")), (expected, expected));
}

#[test]
fn doubled_braces_give_the_value_inside_one_pair() {
    let drawing = flow().declaring("n", &["x"], "{{x}} {{{x}}} {a{x}b} {\"x\": {x}} \\frac{x}{y} {x");
    assert_eq!(drawing.run(json!({"x": "v"})).text("n"), "{v} {{v}} {avb} {\"x\": v} \\fracv{y} {x");
}

#[test]
fn numbers_keep_their_digits() {
    let drawing = flow().declaring("n", &["x"], "{x}");
    let variables: Value = serde_json::from_str(r#"{"x": 12345678901234567890.10}"#).unwrap();
    assert_eq!(drawing.run(variables).text("n"), "12345678901234567890.10");
}
