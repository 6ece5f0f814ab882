//! Which names a flow knows, which of them a caller must give, and what a refusal says.

use flowy::internals::plan::Work;
use flowy::internals::run::{Given, Limits, Refusal, Run};
use serde_json::{Value, json};

use crate::support::drawing::{Drawing, flow};

/// The refusal in one line.
fn refused(drawing: &Drawing, variables: Value) -> String {
    match drawing.try_run(variables).unwrap_err() {
        Refusal::UnknownSet { name, known } => format!("unknown set {name}: {}", known.join(" ")),
        Refusal::SetNotText => "set not text".to_owned(),
        Refusal::GivenTwice(name) => format!("twice: {name}"),
        Refusal::Misfit(unfit) => {
            format!("misfit {}", unfit.iter().map(|unfit| unfit.name.clone()).collect::<Vec<_>>().join(" "))
        }
        Refusal::Missing { missing, misspelt, .. } => {
            let needed = missing.iter().map(|(name, by)| format!("{name}({})", by.join(" "))).collect::<Vec<_>>();
            let meant =
                misspelt.iter().map(|(given, meant)| format!("; {given}: {meant}?")).collect::<Vec<_>>().concat();
            format!("missing {}{meant}", needed.join(" "))
        }
    }
}

#[test]
fn every_bare_name_of_an_input_node_is_required_used_or_not() {
    let drawing = flow()
        .input("ask", json!(["company", {"key": "market", "value": ""}, {"key": "tone", "value": "dry"}]))
        .text("n1", "For {company}, {tone}.")
        .edges("ask > n1");
    assert_eq!(drawing.required(), ["company", "market"]);
    assert_eq!(refused(&drawing, json!({"company": "x"})), "missing market()");
    assert_eq!(drawing.run(json!({"company": "Tea", "market": 0})).text("n1"), "For Tea, dry.");
}

#[test]
fn inputs_decide_what_is_required_used_or_not() {
    let drawing = flow()
        .input("ask", json!(["company", "market"]))
        .text("n1", "{company} {market} {budget}")
        .inputs(json!({"market": {"required": false}, "budget": {"required": true}, "unused": {"required": true}, "free": {"type": "string"}}))
        .edges("ask > n1");
    assert_eq!(drawing.required(), ["company", "budget", "unused"]);
    assert_eq!(drawing.run(json!({"company": "a", "budget": "c", "unused": 1})).text("n1"), "a  c");
}

#[test]
fn a_required_one_of_inputs_with_a_default_is_not_missing() {
    let drawing = flow().text("n1", "{days}").inputs(json!({"days": {"required": true, "default": 0}}));
    assert_eq!(drawing.required(), Vec::<String>::new());
    assert_eq!(drawing.run(json!({})).text("n1"), "0");
}

#[test]
fn what_node_or_template_declare_and_use_is_required_unless_marked_otherwise() {
    let declares = json!([{"name": "topic"}, {"name": "tone", "required": false}, {"name": "unused"}, {"name": "len", "default": 5}]);
    let drawing = flow()
        .data("n1", json!({"template": "{topic}|{tone}|{len}|{other}", "variables": declares}))
        .saved("n2", "Saved")
        .template("Saved", &json!({"title": "s", "template": "{place}|{stray}", "variables": ["place"]}));
    assert_eq!(drawing.required(), ["topic", "place"]);
    let walked = drawing.run(json!({"topic": "t", "place": "p"}));
    assert_eq!((walked.text("n1"), walked.text("n2")), ("t||5|{other}", "p|{stray}"));
    assert_eq!(walked.warnings(), ["UNBOUND_PLACEHOLDER n1", "UNBOUND_PLACEHOLDER n2"]);
}

#[test]
fn where_nothing_is_declared_the_text_itself_declares_what_begins_like_a_name() {
    let drawing = flow().text("n1", "{topic} {_x} {1} {a b} {} {-x} {é} {Zürich-1}");
    assert_eq!(drawing.required(), ["topic", "_x", "é", "Zürich-1"]);
    let walked = drawing.run(json!({"topic": "t", "_x": "u", "é": "v", "Zürich-1": "w", "1": "one"}));
    assert_eq!(walked.text("n1"), "t u one {a b} {} {-x} v w");
}

#[test]
fn an_undeclared_name_is_filled_when_the_caller_or_the_chosen_set_gives_it() {
    let sets = json!([{"name": "short", "values": {"extra": "set"}}]);
    let data = json!({"template": "{topic} {extra}", "variables": ["topic"], "variableValueSets": sets});
    let drawing = flow().data("n1", data);
    assert_eq!(drawing.run(json!({"topic": "t"})).text("n1"), "t {extra}");
    assert_eq!(drawing.run(json!({"topic": "t", "extra": "e"})).text("n1"), "t e");
    assert_eq!(drawing.run(json!({"topic": "t", "_variableSet": "short"})).text("n1"), "t set");
    assert_eq!(drawing.run(json!({"topic": "t", "extra": "e"})).warnings(), Vec::<String>::new());
}

#[test]
fn all_that_is_missing_is_told_at_once_with_the_steps_that_need_it_and_misspellings() {
    let drawing = flow()
        .text("n1", "{company}")
        .declaring("n2", &["company", "market", "budget"], "{market} {budget} {company}")
        .edges("n1 > n2");
    assert_eq!(
        refused(&drawing, json!({"compnay": "x", "market": null})),
        "missing company(n1 n2) market(n2) budget(n2); compnay: company?"
    );
    let Refusal::Missing { provided, required, .. } = drawing.try_run(json!({"compnay": "x"})).unwrap_err() else {
        panic!("missing")
    };
    assert_eq!((provided, required), (vec!["compnay".to_owned()], drawing.required()));
}

#[test]
fn faulty_steps_ask_for_nothing() {
    let drawing = flow()
        .text("n1", "Hello")
        .data("n2", json!({"selectedTemplateId": "Gone", "template": "{topic}", "variables": ["topic"]}))
        .edges("n1 > n2");
    assert_eq!(drawing.required(), Vec::<String>::new());
    assert!(drawing.run(json!({})).error("n2").starts_with("TEMPLATE_NOT_FOUND: "));
}

#[test]
fn given_is_not_truthy_and_null_is_not_given() {
    let drawing = flow().declaring("n1", &["n", "f", "s", "b"], "n={n} f={f} s=[{s}] b=[{b}]");
    let walked = drawing.run(json!({"n": 0, "f": false, "s": "", "b": " "}));
    assert_eq!(walked.text("n1"), "n=0 f=false s=[] b=[ ]");
    assert_eq!(refused(&drawing, json!({"n": null, "f": false, "s": "", "b": ""})), "missing n(n1)");
}

#[test]
fn values_are_held_to_type_and_choices_of_inputs() {
    let drawing = flow().text("n1", "{n} {i} {b} {s} {l} {o} {e}").inputs(json!({
        "n": {"type": "number"}, "i": {"type": "int"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "l": {"type": "array"}, "o": {"type": "object"}, "e": {"enum": ["a", 1]}
    }));
    let fine = json!({"n": "1.5", "i": "3", "b": "true", "s": 5, "l": [1, "x"], "o": {"k": 1.50}, "e": "1"});
    assert_eq!(drawing.run(fine).text("n1"), r#"1.5 3 true 5 [1,"x"] {"k":1.5} 1"#);
    let mut rounds: Vec<Value> = Vec::new();
    for (name, value) in [
        ("n", json!("x")),
        ("i", json!(1.5)),
        ("b", json!(1)),
        ("s", json!([])),
        ("l", json!("[")),
        ("o", json!([])),
        ("e", json!("b")),
    ] {
        let mut all = json!({"n": 1, "i": 3.0, "b": false, "s": "", "l": [], "o": {}, "e": "a"});
        all[name] = value;
        assert_eq!(refused(&drawing, all.clone()), format!("misfit {name}"));
        rounds.push(all);
    }
    let worst = json!({"n": "x", "e": "b", "i": true});
    assert_eq!(refused(&drawing, worst), "misfit n i e");
}

#[test]
fn a_type_that_only_a_template_gives_describes_and_holds_nobody() {
    let old = json!({"metadata": {"name": "Old"}, "variables": [{"name": "days", "type": "number", "description": "How long"}],
        "results": [{"section": "1", "content": "{{ days }} or {{days}} but {days}"}, {"section": "2", "content": "End."}]});
    let drawing = flow().saved("n1", "Old").template("Old", &old);
    let plan = drawing.plan();
    assert_eq!(plan.inputs()[0].kind.map(flowy::internals::model::ValueType::name), Some("number"));
    assert_eq!(plan.inputs()[0].description.as_deref(), Some("How long"));
    assert_eq!(drawing.run(json!({"days": "about ten"})).text("n1"), "about ten or about ten but {days}\n\nEnd.");
}

#[test]
fn refusals_come_in_order_unknown_set_misfit_missing() {
    let drawing = flow()
        .data("n1", json!({"template": "{a} {b}", "variableValueSets": [{"name": "one", "values": {}}, {"name": "two", "values": {}}]}))
        .inputs(json!({"a": {"type": "number"}}));
    assert_eq!(refused(&drawing, json!({"_variableSet": "three", "a": "x"})), "unknown set three: one two");
    assert_eq!(refused(&drawing, json!({"_variableSet": "two", "a": "x"})), "misfit a");
    assert_eq!(refused(&drawing, json!({"_variableSet": "two", "a": 1})), "missing b(n1)");
    assert_eq!(refused(&drawing, json!({"_variableSet": 3})), "set not text");
    assert_eq!(refused(&drawing, json!({"_useSet_three": true})), "unknown set three: one two");
}

#[test]
fn extra_names_are_a_warning_with_the_nearest_known_one() {
    let drawing = flow().declaring("n1", &["tone"], "{tone}");
    let walked = drawing.run(json!({"tone": "x", "tonne": "y"}));
    assert_eq!(walked.warnings(), ["UNKNOWN_VARIABLE -"]);
    assert!(walked.executed.warnings[0].message.contains(" tone?"), "{:?}", walked.executed.warnings);
}

#[test]
fn the_selector_of_sets_is_never_a_variable() {
    let drawing =
        flow().input("ask", json!(["_variableSet", "topic"])).text("n1", "{topic} {_variableSet}").edges("ask > n1");
    assert_eq!(drawing.required(), ["topic"]);
    assert_eq!(drawing.run(json!({"topic": "t"})).text("n1"), "t {_variableSet}");
    let text_only = flow().text("n1", "{_variableSet} {_useSet_x}");
    assert_eq!(text_only.required(), Vec::<String>::new());
    assert_eq!(Given::read(json!({"_variableSet": ""}).as_object().unwrap()).unwrap(), Given::default());
}

#[test]
fn names_are_one_in_every_normal_form() {
    let drawing = flow().input("ask", json!(["cafe\u{301}"])).text("n1", "{caf\u{e9}} {cafe\u{301}}").edges("ask > n1");
    assert_eq!(drawing.required(), ["caf\u{e9}"]);
    assert_eq!(drawing.run(json!({"cafe\u{301}": "x"})).text("n1"), "x x");
    assert_eq!(drawing.run(json!({"caf\u{e9}": "x"})).text("n1"), "x x");
}

#[test]
fn a_rehearsal_never_refuses_and_leaves_what_is_missing_in() {
    let data = json!({"template": "{topic} {tone}|", "variables": ["topic", {"name": "tone", "required": false}]});
    let run = Run::rehearse(flow().data("n1", data).plan(), Given::default(), Limits::default()).unwrap();
    assert_eq!(run.given().missing(run.plan()), [("topic".to_owned(), vec!["n1".to_owned()])]);
    let Work::Render(rendering) = &run.plan().steps()[0].work else { panic!("a text") };
    let bound = run.bind(0, rendering).unwrap();
    assert_eq!((bound.text.as_str(), bound.warnings.len()), ("{topic} |", 0));
}

#[test]
fn nobody_is_told_that_a_value_is_unread_while_a_text_is_unknown() {
    let drawing = flow().saved("a", "Gone").declaring("b", &["tone"], "{tone}");
    assert_eq!(drawing.run(json!({"tone": "x", "market": "y"})).warnings(), Vec::<String>::new());
    assert_eq!(drawing.run(json!({"tone": "x", "tonne": "y"})).warnings(), ["UNKNOWN_VARIABLE -"]);
}
