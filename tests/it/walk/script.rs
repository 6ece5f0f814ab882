//! The law of prompts: who does a flow's script word by word, and answers every step with its text,
//! comes to what executing the flow gives.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::support::mcp::Bench;

/// A flow: the text of its first step, what it hands to the next one, and whether its last step is given the
/// first one's output by a mapping.
#[derive(Debug, Clone)]
struct Level {
    text: &'static str,
    handed: Map<String, Value>,
    mapped: bool,
}

/// What a step hands to one input. Only a flow within a flow is sure to be given an object.
fn handed(within: bool) -> impl Strategy<Value = Value> {
    let texts = ["{v}", "{w}", "{a_result}", "x {a_result} y", "{a_result}{v}", "{no name} {w}", "plain"];
    let paths = if within { vec!["{w.k}", "{v} and {w.m.0}"] } else { Vec::new() };
    let text = prop::sample::select(texts.into_iter().chain(paths).collect::<Vec<_>>()).prop_map(Value::from);
    text.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Value::Array),
            (inner.clone(), inner).prop_map(|(k, m)| json!({"k": k, "m": m})),
        ]
    })
}

fn level(within: bool) -> impl Strategy<Value = Level> {
    let paths = if within { vec!["{w.k} of {v} {w}", "{v} {w.m.0} {w} {{v}}"] } else { Vec::new() };
    let text = prop::sample::select([vec!["<{v}|{w}>", "{0} {w}{v}"], paths].concat());
    let values = (handed(within), handed(within), handed(within));
    (text, values, any::<bool>()).prop_map(|(text, (v, k, m), mapped)| {
        let handed = [("v".to_owned(), v), ("w".to_owned(), json!({"k": k, "m": [m]}))].into_iter().collect();
        Level { text, handed, mapped }
    })
}

/// The flow files of levels, each going through the next.
fn files(levels: &[Level]) -> Vec<(String, String)> {
    let flow = |(number, level): (usize, &Level)| {
        let mut nodes = vec![json!({"id": "a", "type": "template", "data": {"template": level.text}})];
        let mut edges = Vec::new();
        let (mut text, mut before) = ("{a_result}/{v}/{w}".to_owned(), "a");
        if number + 1 < levels.len() {
            nodes.push(json!({"id": "in", "type": "flow",
                "data": {"flow": format!("F{}", number + 1), "variables": level.handed}}));
            edges.push(json!({"source": "a", "target": "in"}));
            (text, before) = (format!("{{in_result}}/{text}"), "in");
        }
        edges.push(json!({"source": before, "target": "end"}));
        if level.mapped {
            text.push_str("/{q}");
            edges.push(json!({"source": "a", "target": "end", "data": {"mapping": {"q": "result"}}}));
        }
        nodes.push(json!({"id": "end", "type": "template", "data": {"template": text}}));
        let file = json!({"metadata": {"name": "x", "version": "1.0.0"}, "nodes": nodes, "edges": edges});
        (format!("flows/F{number}.json"), file.to_string())
    };
    levels.iter().enumerate().map(flow).collect()
}

/// What belongs in the place of a placeholder, as the script's words say it, and what follows the words.
fn read<'w>(words: &'w str, outputs: &BTreeMap<String, String>) -> (Value, &'w str) {
    if let Some(rest) = words.strip_prefix("the output of ") {
        let end = rest.find([' ', ';', ')']).unwrap_or(rest.len());
        let id = rest[..end].strip_suffix('.').unwrap_or(&rest[..end]);
        return (Value::from(outputs[id].clone()), &rest[id.len()..]);
    }
    let mut values = serde_json::Deserializer::from_str(words).into_iter::<Value>();
    let value = values.next().unwrap().unwrap_or_else(|error| panic!("{error}: {words}"));
    let mut rest = &words[values.byte_offset()..];
    let mut have = Vec::new();
    if let Some(mut of) = rest.strip_prefix(" (where ") {
        loop {
            let (written, words) = of.split_once(" is ").unwrap();
            let (value, after) = read(words, outputs);
            have.push((written, value));
            match after.strip_prefix(" and ") {
                Some(more) => of = more,
                None => break rest = after.strip_prefix(')').unwrap_or_else(|| panic!("{after}")),
            }
        }
    }
    (put_in(value, &have), rest)
}

/// A value with what belongs there in the place of each placeholder.
fn put_in(value: Value, have: &[(&str, Value)]) -> Value {
    match value {
        Value::String(text) => match have.iter().find(|(written, _)| *written == text) {
            Some((_, value)) => value.clone(),
            None => Value::String(filled(&text, have)),
        },
        Value::Array(items) => items.into_iter().map(|item| put_in(item, have)).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, put_in(value, have))).collect(),
        other => other,
    }
}

/// A text with its placeholders filled, in one pass.
fn filled(text: &str, have: &[(&str, Value)]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (width, value) = match have.iter().find(|(written, _)| rest.starts_with(written)) {
            Some((written, Value::String(text))) => (written.len(), text.clone()),
            Some((written, value)) => (written.len(), value.to_string()),
            None => (1, "{".to_owned()),
        };
        out.push_str(&value);
        rest = &rest[width..];
    }
    out + rest
}

/// What each step of a script comes to, for somebody who answers it with its text.
fn done(script: &str) -> BTreeMap<String, String> {
    let mut outputs = BTreeMap::new();
    for step in script.split("\n## Step ").skip(1) {
        let id = step.split_once("(id \"").unwrap().1.split_once('"').unwrap().0;
        let (before, text) = step.split_once("```text\n").unwrap();
        let text = text.split_once("\n```").unwrap().0;
        let mut have = Vec::new();
        if let Some((_, reads)) = before.split_once("\nReads: ") {
            let mut rest = reads.trim_end();
            loop {
                let (written, words) = rest.split_once(" is ").unwrap();
                let (value, after) = read(words, &outputs);
                have.push((written, value));
                match after.strip_prefix("; ") {
                    Some(more) => rest = more,
                    None => break assert_eq!(after, ".", "{reads}"),
                }
            }
        }
        outputs.insert(id.to_owned(), filled(text, &have));
    }
    outputs
}

/// Whether there was something to compare.
async fn holds(levels: &[Level], given: &Map<String, Value>) -> Result<bool, TestCaseError> {
    let mut session = Bench::folder(files(levels)).session().await;
    let arguments = json!({"flowName": "F0", "initialVariables": given});
    let executed = session.call("flows_execute", arguments).await["structuredContent"].clone();
    let prompt = session.request("prompts/get", json!({"name": "flow_F0", "arguments": given})).await;
    let Some(script) = prompt["result"]["messages"][0]["content"]["text"].as_str() else {
        prop_assert!(executed["failedAt"].is_null() && executed["code"].is_string(), "{} {}", prompt, executed);
        return Ok(false);
    };
    if executed["status"] != "success" {
        prop_assert!(script.contains("can't be done") || executed["code"].is_string(), "{} {}", script, executed);
        return Ok(false);
    }
    // A path into a text stays as it is. Handed on, it may look like a placeholder that the script names.
    if executed["finalResult"].as_str().is_some_and(|text| text.contains("{w.")) {
        return Ok(false);
    }
    let outputs = done(script);
    prop_assert_eq!(&executed["finalResult"], &json!(outputs["end"]), "{}\n{:?}", script, levels);
    prop_assert_eq!(&executed["counts"]["steps"], &json!(outputs.len()), "every step is in the script, once");
    Ok(true)
}

#[test]
fn a_script_that_is_done_word_by_word_comes_to_what_executing_gives() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // No value spells a placeholder that the script names (in its text the two would look alike), and none is
    // empty: clients send the fields of a form that nobody filled in.
    let texts = prop::sample::select(vec!["text", "{x}", "{no name}", "0", "two\nlines", "$& \\ \""]);
    let given = (texts.clone(), texts).prop_map(|(v, w)| json!({"v": v, "w": w}).as_object().unwrap().clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let compared = Cell::new(0);
    let law = |(levels, given): (Vec<Level>, Map<String, Value>)| {
        compared.set(compared.get() + usize::from(runtime.block_on(holds(&levels, &given))?));
        Ok(())
    };
    let within = prop::collection::vec(level(true), 1..=2);
    let levels = (level(false), within).prop_map(|(first, within)| [vec![first], within].concat());
    runner.run(&(levels, given), law).unwrap();
    assert!(compared.get() >= 60, "{} of 128 could be compared", compared.get());
}
