//! Files that only look odd: nothing is said of them, and they execute.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use flowy::internals::execute::{Options as Executing, Rendered};
use flowy::internals::plan::Plan;
use flowy::internals::run::Status;
use flowy::internals::validate::{Options, Severity};
use serde_json::{Map, Value, json};

use super::drafts::{Dice, Draft};
use crate::support::checking::{check_against, findings};
use crate::support::walking::{given, walk};

/// Something unusual that is fine.
fn look_alike(draft: &mut Draft, oddity: usize, dice: &mut Dice) -> (Vec<u8>, Map<String, Value>) {
    let at = dice.below(draft.steps.len());
    let mut values: Map<String, Value> = draft.inputs.iter().map(|name| (name.clone(), json!("x"))).collect();
    let name = draft.inputs[0].clone();
    match oddity {
        0 => draft.add_to_text(at, " {\"a\": {\"b\": [1, 2]}}"),
        1 => draft.add_to_text(at, " .box { color: red; } @media (max-width: 3px) {}"),
        2 => draft.add_to_text(at, " \\frac{1}{2} {} { }"),
        3 => draft.edges.iter_mut().for_each(|edge| drop(edge.as_object_mut().unwrap().shift_remove("id"))),
        4 => draft.edges.push(json!({"source": "in", "target": draft.steps[0]})),
        5 => draft.meta["version"] = json!(2),
        6 => draft.meta["version"] = json!("1.0.0-rc.1+b.5"),
        7 => drop(draft.step(at).insert("style".to_owned(), json!({"width": 1.50, "zIndex": null}))),
        8 => drop(draft.data(at).insert("selectedTemplateId".to_owned(), json!(""))),
        9 => drop(draft.data(at).insert("selectedTemplateId".to_owned(), Value::Null)),
        10 => {
            draft.nodes[0]["data"]["variables"] =
                json!(draft.inputs.iter().map(|name| (name.clone(), json!(""))).collect::<Map<_, _>>());
        }
        11 => {
            drop(
                draft.meta.insert("inputs".to_owned(), json!({name: {"description": "Für {dich}", "type": "string"}})),
            );
        }
        12 => {
            draft.meta.insert("inputs".to_owned(), json!({name.clone(): {"type": "number", "default": 3}}));
            values.remove(&name);
        }
        13 => drop(values.insert(name, json!({"a": [1, "$& {x}"]}))),
        14 => drop(values.insert(name, json!(false))),
        15 => draft.edges.iter_mut().for_each(|edge| edge["type"] = json!("smoothstep")),
        16 => draft.edges.iter_mut().for_each(|edge| edge["data"] = json!({"connectionType": "chain"})),
        17 => {
            // The literal spelling of an output's name.
            let (from, to) =
                (format!("{{{}_result}}", draft.steps[0].replace('-', "")), format!("{{{}_result}}", draft.steps[0]));
            let text = draft.data(1)["template"].as_str().unwrap().replace(&from, &to);
            draft.data(1)["template"] = json!(text);
        }
        18 => drop(draft.data(at).insert("variableValueSets".to_owned(), json!([]))),
        19 => draft.meta["tags"] = json!([]),
        20 => draft.add_to_text(at, " 😀 \u{301} \u{A0}"),
        21 => drop(draft.nodes[0].as_object_mut().unwrap().insert("width".to_owned(), json!(1e3))),
        22 => draft.meta["description"] = json!("Ask {anyone} about \"it\"\n\n- one"),
        _ => {}
    }
    let text = draft.text();
    let bytes = match oddity {
        23 => format!("\u{FEFF}{text}").into_bytes(),
        24 => text.replace('\n', "\r\n").into_bytes(),
        25 => format!("\n\n\t{text}\n\n").into_bytes(),
        26 => text.replacen('{', "{\"$schema\": \"../schemas/flow.schema.json\",", 1).into_bytes(),
        _ => text.into_bytes(),
    };
    (bytes, values)
}

fn look_alikes(seeds: Range<u64>) -> usize {
    let mut ran = 0;
    for seed in seeds {
        for oddity in 0..27 {
            let mut dice = Dice::new(seed * 100 + oddity as u64);
            let mut draft = Draft::new(&mut dice);
            let (bytes, values) = look_alike(&mut draft, oddity, &mut dice);
            let check = check_against(("flows/Hafen.json", &bytes), &[], &Value::Null, &[], Options::default());
            let said: Vec<String> = findings(&check)
                .iter()
                .filter(|finding| finding.severity != Severity::Info)
                .map(|finding| format!("{}: {}", finding.rule, finding.message))
                .collect();
            assert!(said.is_empty(), "{seed} {oddity}: {said:?}\n{}", String::from_utf8_lossy(&bytes));
            let plan = Arc::new(Plan::of(check.flows[0].checked.as_ref().unwrap(), &HashMap::new()));
            let walked = walk(plan, given(&Value::Object(values)), &Executing::default(), &Rendered).unwrap();
            assert_eq!(walked.status(), Status::Success, "{seed} {oddity}");
            ran += 1;
        }
    }
    ran
}

#[test]
fn what_only_looks_odd_has_no_finding_and_executes() {
    assert!(look_alikes(0..4) >= 100);
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn hundreds_of_odd_files_have_no_finding_and_execute() {
    let ran = look_alikes(100..140);
    println!("{ran} odd files executed");
    assert!(ran >= 500);
}
