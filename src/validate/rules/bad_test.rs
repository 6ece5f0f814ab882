//! `bad-test`: a test that names what isn't there, or can't fail.

use serde_json::{Map, Value};

use crate::code::Code;
use crate::document::{Document, Place, Pointer};
use crate::model::{Expectation, Flow, FlowTest, KnownFlow, Lookup, NodeKind, Taken, TestedFlow};
use crate::names::{VariableName, few, nfc, quoted};
use crate::validate::scope::set_selector;
use crate::validate::{Check, Drafts, REGISTRY, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-test",
    also: &[Verdict {
        severity: Severity::Warning,
        reach: Reach::None,
        when: "it expects nothing, or has a mock of a flow within the flow",
    }],
    summary: "Every test names a flow, inputs, a variable set, steps, results and rules that there are, and expects something.",
    ..Rule::error(Reach::None, Check::Catalog)
};

/// Looks up the flow that a name means.
pub type FindFlow<'a> = dyn Fn(&str) -> Result<TestedFlow, Lookup<KnownFlow>> + 'a;

/// Notes what is wrong with the tests of a file.
pub(in crate::validate) fn look_at(
    tests: &[FlowTest],
    document: &Document,
    find: Option<&FindFlow<'_>>,
    drafts: &mut Drafts<'_>,
) {
    drafts.under(&RULE);
    for test in tests {
        let expect = test.pointer.key("expect");
        if document.value.pointer(expect.as_str()).and_then(Value::as_object).is_some_and(Map::is_empty) {
            let hint = "say what is expected, for instance {\"finalResult\": \"…\"}; `flowy test --update` writes it";
            drafts.find(Place::value(expect.clone()), "the test expects nothing").hint(hint).only_warn();
        }
        patterns(test, &expect, drafts);
        rules(test, &expect, drafts);
        let Some(find) = find else { continue };
        let place = Place::value(test.pointer.key("flow"));
        match find(&test.flow) {
            Ok(tested) => {
                if let Some(takes) = &tested.takes {
                    inputs(test, &tested.flow, takes, drafts);
                }
                steps(test, &tested.flow, &expect, drafts);
            }
            Err(Lookup::Missing { nearest }) => {
                let draft = drafts.find(place, format!("no flow is called {}", quoted(&test.flow)));
                draft.did_you_mean(&test.flow, nearest.iter().map(String::as_str));
            }
            Err(Lookup::Ambiguous { files }) => {
                let message = format!("several flows are called {}: {}", quoted(&test.flow), files.joined(", "));
                drafts.find(place, message).hint("use the stem of its file, or rename one of them");
            }
            Err(Lookup::Broken(unusable)) => {
                drafts
                    .find(place, format!("flow {} can't be used: {unusable}", quoted(&test.flow)))
                    .because_of(&unusable);
            }
            Err(Lookup::Found(_) | Lookup::NotChecked) => {}
        }
    }
}

/// Every expectation of a test, with its place.
fn expectations<'t>(test: &'t FlowTest, expect: &Pointer) -> Vec<(&'t Expectation, Pointer)> {
    let expected = &test.expected;
    let mut all: Vec<(&Expectation, Pointer)> = Vec::new();
    all.extend(expected.final_result.as_ref().map(|one| (one, expect.key("finalResult"))));
    for (key, named) in [("results", &expected.results), ("steps", &expected.steps), ("prompts", &expected.prompts)] {
        all.extend(named.iter().map(|(name, one)| (one, expect.key(key).key(name))));
    }
    all
}

fn patterns(test: &FlowTest, expect: &Pointer, drafts: &mut Drafts<'_>) {
    for (one, at) in expectations(test, expect) {
        for pattern in &one.matches {
            if let Some(why) = pattern.trouble() {
                let message = format!("{} is no pattern: {why}", quoted(pattern.written()));
                drafts.find(Place::value(at.key("matches")), message).hint("`contains` takes a text as it is");
            }
        }
        if let Some(code) = one.error.as_deref().filter(|code| Code::named(code).is_none()) {
            let words = Code::ALL.iter().map(|code| code.word());
            let draft = drafts.find(Place::value(at.key("error")), format!("there is no error code {}", quoted(code)));
            draft.did_you_mean(code, words);
        }
    }
}

fn rules(test: &FlowTest, expect: &Pointer, drafts: &mut Drafts<'_>) {
    for (place, id) in test.expected.findings.iter().flatten().enumerate() {
        if !REGISTRY.iter().any(|rule| rule.id == id) {
            let at = Place::value(expect.key("findings").item(place));
            let draft = drafts.find(at, format!("there is no rule {}", quoted(id)));
            draft.did_you_mean(id, REGISTRY.iter().map(|rule| rule.id));
        }
    }
}

/// The values and the variable set that a test gives its flow.
fn inputs(test: &FlowTest, flow: &Flow, takes: &Taken, drafts: &mut Drafts<'_>) {
    let at = test.pointer.key("inputs");
    let flow = quoted(flow.name.as_str());
    for (key, value) in &test.inputs {
        if key == "_variableSet" {
            let Some(set) = value.as_str().filter(|set| !set.is_empty()) else { continue };
            if !takes.sets.iter().any(|known| nfc(known) == nfc(set)) {
                let place = Place::value(at.key(key));
                let draft = drafts.find(place, format!("flow {flow} has no variable set {}", quoted(set)));
                draft.did_you_mean_or(set, takes.sets.iter().map(String::as_str), || {
                    Some(if takes.sets.is_empty() {
                        "it has none: give the values under their own names".to_owned()
                    } else {
                        format!("its sets: {}", few(takes.sets.iter().map(|set| quoted(set))))
                    })
                });
            }
        } else if !set_selector(key)
            && !VariableName::normal(key).is_ok_and(|name| takes.names.iter().any(|known| known == name.as_str()))
        {
            let draft = drafts.find(Place::key(at.key(key)), format!("flow {flow} has no input {}", quoted(key)));
            draft.did_you_mean(key, takes.names.iter().map(String::as_str));
        }
    }
}

/// What a flow has that a test can name.
fn steps(test: &FlowTest, flow: &Flow, expect: &Pointer, drafts: &mut Drafts<'_>) {
    let runnable = || flow.nodes.iter().filter(|node| node.runnable());
    let node = |id: &str| runnable().find(|node| node.id == id);
    // The steps of a flow within the flow are named behind the step that is that flow.
    let within = |id: &str| {
        let outer = id.split_once('/').and_then(|(outer, _)| node(outer));
        outer.is_some_and(|outer| matches!(outer.kind, NodeKind::Flow(_)))
    };
    let unknown = |drafts: &mut Drafts<'_>, at: Pointer, id: &str| {
        let message = format!("flow {} has no step {}", quoted(flow.name.as_str()), quoted(id));
        drafts.find(Place::key(at), message).did_you_mean(id, runnable().map(|node| node.id.as_str()));
    };
    let expected = &test.expected;
    for (key, named) in [("steps", &expected.steps), ("prompts", &expected.prompts)] {
        for (id, _) in named.iter().filter(|(id, _)| node(id).is_none() && !within(id)) {
            unknown(drafts, expect.key(key).key(id), id);
        }
    }
    for id in test.mocks.keys() {
        let at = test.pointer.key("mocks").key(id);
        match node(id).map(|node| &node.kind) {
            None if within(id) => {}
            None => unknown(drafts, at, id),
            Some(NodeKind::Flow(_)) => {
                let message = format!("step {} is a flow, which is walked through", quoted(id));
                drafts
                    .find(Place::key(at), message)
                    .hint(format!("mock its steps: {}", quoted(&format!("{id}/…"))))
                    .only_warn();
            }
            Some(_) => {}
        }
    }
    let results = || flow.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Result));
    for (label, _) in &expected.results {
        let named =
            results().any(|node| node.caption() == label || *label == format!("{} ({})", node.caption(), node.id));
        if !named {
            let message = format!("flow {} has no result {}", quoted(flow.name.as_str()), quoted(label));
            let at = Place::key(expect.key("results").key(label));
            drafts.find(at, message).did_you_mean(label, results().map(crate::model::Node::caption));
        }
    }
}
