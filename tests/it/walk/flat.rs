//! The law of flows within flows: going through a flow is calling it with what the step hands over.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::mcp::{Bench, Session};

/// What an input of a flow says of itself.
type Inputs = Map<String, Value>;

/// A flow, and what it hands to the next; the last hands nothing on.
#[derive(Debug, Clone)]
struct Level {
    inputs: Inputs,
    handed: Map<String, Value>,
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Values of every JSON type.
fn value() -> impl Strategy<Value = Value> {
    let values = [
        "null",
        "true",
        "false",
        "0",
        "7",
        "2.50",
        "1e3",
        "\"\"",
        "\"text\"",
        "\"calm\"",
        "\"7\"",
        "\"{v} $& \\\\\"",
        "[]",
        "[1,\"{w}\"]",
        "{\"k\":1}",
        "{\"k\":null}",
        "{\"k\":{\"k\":\"deep\"}}",
        "{\"o\":\"\\\"\"}",
    ];
    prop::sample::select(values.to_vec()).prop_map(json_of)
}

fn input() -> impl Strategy<Value = Value> {
    let kinds = [None, None, Some("string"), Some("integer"), Some("boolean"), Some("array"), Some("object")];
    let choices = prop::sample::select(vec![None, None, None, Some(json!(["calm", 7, {"k": 1}]))]);
    (prop::sample::select(kinds.to_vec()), any::<Option<bool>>(), prop::option::of(value()), choices).prop_map(
        |(kind, required, default, choices)| {
            let mut input = Map::new();
            let mut put = |key: &str, value: Option<Value>| value.map(|value| input.insert(key.to_owned(), value));
            put("type", kind.map(Value::from));
            put("required", required.map(Value::from));
            put("default", default);
            put("enum", choices);
            Value::Object(input)
        },
    )
}

/// What a step hands to one input.
fn handed() -> impl Strategy<Value = Value> {
    let texts =
        ["{v}", "{w}", "{v.k}", "{w.k.k}", "x {v} y", "{w}{v}", "{0}", "{{v}}", "\\frac{1}{2} {w}", "{v} {0}", "plain"];
    let text = prop::sample::select(texts.to_vec()).prop_map(Value::from);
    let leaf = prop_oneof![4 => text, 1 => value()];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((prop::sample::select(vec!["k", "m"]), inner), 0..3)
                .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

fn level() -> impl Strategy<Value = Level> {
    let inputs = (input(), input()).prop_map(|(v, w)| Map::from_iter([("v".to_owned(), v), ("w".to_owned(), w)]));
    let set =
        prop::sample::select(vec![None, None, None, Some("s"), Some("caf\u{e9}"), Some("t"), Some("{w}"), Some("")]);
    (inputs, prop::option::of(handed()), prop::option::of(handed()), set).prop_map(|(inputs, v, w, set)| {
        let members = [("v", v), ("w", w), ("_variableSet", set.map(Value::from))];
        let handed = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Level { inputs, handed: handed.collect() }
    })
}

/// The flow files of levels, each going through the next.
fn files(levels: &[Level]) -> Vec<(String, String)> {
    let flow = |(number, level): (usize, &Level)| {
        let last = json!({"id": "in", "type": "template", "data": {"template": "<{v}|{w}>", "variableValueSets":
            [{"name": "s", "values": {"v": "of set"}}, {"name": "cafe\u{301}", "values": {"w": "of the other"}}]}});
        let link = json!({"id": "in", "type": "flow",
            "data": {"flow": format!("F{}", number + 1), "variables": level.handed}});
        let first = if number + 1 == levels.len() { last } else { link };
        let end = json!({"id": "end", "type": "template", "data": {"template": "{in_result}/{v}"}});
        let file = json!({"metadata": {"name": "x", "version": "1.0.0", "inputs": level.inputs},
            "nodes": [first, end], "edges": [{"source": "in", "target": "end"}]});
        (format!("flows/F{number}.json"), file.to_string())
    };
    levels.iter().enumerate().map(flow).collect()
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A placeholder's value; none where nobody gives it. The error: an object has no such field.
fn looked_up(spelt: &str, have: &Map<String, Value>) -> Result<Option<Value>, ()> {
    let mut steps = spelt.split('.');
    let mut value = have.get(steps.next().unwrap_or_default()).cloned();
    for step in steps {
        value = match value {
            Some(Value::Object(members)) => Some(members.get(step).cloned().ok_or(())?),
            Some(Value::Array(_)) => return Err(()),
            // A text has no fields, so the braces stay.
            Some(_) => return Ok(Some(json!(format!("{{{spelt}}}")))),
            None => None,
        };
    }
    Ok(value)
}

/// A value with its placeholders filled, without any of the program's code; none where it is one that
/// nobody gives.
fn filled(value: &Value, have: &Map<String, Value>) -> Result<Option<Value>, ()> {
    Ok(Some(match value {
        Value::String(text) => {
            let known = ["v.k", "w.k.k", "v", "w"];
            if let Some(spelt) = known.iter().find(|spelt| *text == format!("{{{spelt}}}")) {
                return looked_up(spelt, have);
            }
            let (mut filled, mut rest) = (String::new(), text.as_str());
            'text: while !rest.is_empty() {
                for spelt in known {
                    if let Some(after) = rest.strip_prefix(&format!("{{{spelt}}}")) {
                        filled.push_str(&as_text(&looked_up(spelt, have)?.unwrap_or_default()));
                        rest = after;
                        continue 'text;
                    }
                }
                let mut letters = rest.chars();
                filled.extend(letters.next());
                rest = letters.as_str();
            }
            Value::String(filled)
        }
        Value::Array(items) => {
            let mut list = Vec::new();
            for item in items {
                list.extend(filled(item, have)?);
            }
            Value::Array(list)
        }
        Value::Object(members) => {
            let mut object = Map::new();
            for (key, member) in members {
                if let Some(member) = filled(member, have)? {
                    object.insert(key.clone(), member);
                }
            }
            Value::Object(object)
        }
        other => other.clone(),
    }))
}

async fn executed(session: &mut Session, number: usize, given: &Map<String, Value>) -> Value {
    let arguments = json!({"flowName": format!("F{number}"), "initialVariables": given});
    session.call("flows_execute", arguments).await["structuredContent"].clone()
}

fn refused(outcome: &Value) -> bool {
    ["INVALID_REQUEST", "MISSING_VARIABLES"].iter().any(|code| outcome["code"] == *code)
}

async fn holds(levels: &[Level], given: Map<String, Value>) -> Result<(), TestCaseError> {
    let mut session = Bench::folder(files(levels)).session().await;
    let mut given = given;
    let mut outcome = executed(&mut session, 0, &given).await;
    for (number, level) in levels.iter().enumerate().take(levels.len() - 1) {
        if refused(&outcome) && outcome["failedAt"].is_null() {
            return Ok(());
        }
        let mut have = Map::new();
        for name in ["v", "w"] {
            let value = given.get(name).or_else(|| level.inputs[name].get("default")).filter(|value| !value.is_null());
            let value = value.or_else(|| level.inputs[name].get("default")).filter(|value| !value.is_null());
            have.extend(value.map(|value| (name.to_owned(), value.clone())));
        }
        let Ok(handed) = filled(&Value::Object(level.handed.clone()), &have) else {
            prop_assert_eq!(&outcome["failedAt"]["nodeId"], "in", "{}", outcome);
            return Ok(());
        };
        let Some(Value::Object(handed)) = handed else { return Ok(()) };
        let direct = executed(&mut session, number + 1, &handed).await;
        if direct["code"].is_null() {
            let due = format!("{}/{}", as_text(&direct["finalResult"]), as_text(have.get("v").unwrap_or(&Value::Null)));
            prop_assert_eq!(&outcome["finalResult"], &json!(due), "handed {:?}: {}", handed, outcome);
        } else {
            prop_assert_eq!(&outcome["failedAt"]["nodeId"], "in", "handed {:?}: {} {}", handed, direct, outcome);
            let alike = outcome["code"] == direct["code"] || (refused(&outcome) && refused(&direct));
            prop_assert!(alike, "handed {:?}: {} {}", handed, direct, outcome);
        }
        (given, outcome) = (handed, direct);
    }
    Ok(())
}

#[test]
fn going_through_a_flow_is_calling_it_with_what_the_step_hands_over() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let given = (prop::option::of(value()), prop::option::of(value())).prop_map(|(v, w)| {
        [("v", v), ("w", w)]
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect::<Map<_, _>>()
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let law = |(levels, given): (Vec<Level>, Map<String, Value>)| runtime.block_on(holds(&levels, given));
    runner.run(&(prop::collection::vec(level(), 2..=3), given), law).unwrap();
}
