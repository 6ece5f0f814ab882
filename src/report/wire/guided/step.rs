//! The step that is handed out, whole: what it is for, what to do, as whom, and in which shape.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha1::{Digest as _, Sha1};

use super::{id_of, time};
use crate::model::{Contract, Persona};
use crate::plan::Source;
use crate::report::wire::limit::{Limit, frame_fits};
use crate::run::{FilledWith, Guided, Handed, State};

/// How much of an earlier output is shown, in characters; the prompt holds what it reads.
const SUMMARY: usize = 600;
/// How much of a given value is shown beside the prompt, in characters.
const INPUT: usize = 300;
/// The shortest that a text of a step is cut to, in characters.
const SHORTEST: usize = 2_000;

pub(super) fn step(guided: &Guided, handed: &Handed, whole_persona: bool) -> Value {
    let number = handed.step;
    let run = guided.run();
    let mut object = Map::new();
    let Some(step) = run.plan().step(number) else { return Value::Null };
    object.insert("id".to_owned(), json!(step.id));
    let (place, of) = run.place_of(number);
    object.insert("index".to_owned(), json!(place));
    object.insert("of".to_owned(), json!(of));
    object.insert("label".to_owned(), json!(step.label));
    if let Some(description) = &step.description {
        object.insert("description".to_owned(), json!(description));
    }
    if let Some(task) = &guided.beginning().task {
        object.insert("task".to_owned(), json!(task));
    }
    let prompt = guided.rendering(number).and_then(|rendering| run.bind(number, rendering).ok());
    object.insert("prompt".to_owned(), json!(prompt.map(|bound| bound.text)));
    object.insert("context".to_owned(), json!({"inputs": inputs(guided, number), "answers": answers(guided, number)}));
    object.insert("previousOutput".to_owned(), previous(guided, number));
    if let Some(role) = guided.role(number) {
        object.insert("persona".to_owned(), persona(role, whole_persona || handed.new_role));
    }
    let terms = guided.terms(number);
    object.insert("contract".to_owned(), contract(&terms));
    if let Some(example) = terms.example() {
        object.insert("example".to_owned(), example.clone());
    }
    if guided.rendering(number).is_some_and(|rendering| rendering.optional) {
        object.insert("optional".to_owned(), json!(true));
    }
    object.insert("attempt".to_owned(), json!(handed.attempt));
    Value::Object(object)
}

/// The schema, without what only tools read.
fn contract(terms: &Contract) -> Value {
    let mut schema = terms.schema().clone();
    if let Value::Object(fields) = &mut schema {
        for key in ["$schema", "$id", "examples"] {
            fields.shift_remove(key);
        }
    }
    schema
}

fn persona(role: &Persona, whole: bool) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(role.name));
    if whole {
        object.insert("instructions".to_owned(), json!(&*role.text));
    }
    let mut hash = String::new();
    for byte in Sha1::digest(role.text.as_bytes()).iter().take(6) {
        let _ = write!(hash, "{byte:02x}");
    }
    object.insert("hash".to_owned(), json!(hash));
    Value::Object(object)
}

/// What callers gave of what the step reads.
fn inputs(guided: &Guided, step: usize) -> Value {
    let given = guided.run().slots(step).into_iter().filter_map(|(slot, with)| match (&slot.source, with) {
        (Source::Open(_), FilledWith::Value(value)) => Some((
            slot.name.clone(),
            match &*value {
                Value::String(text) => json!(cut(text, INPUT)),
                other if other.to_string().chars().count() > INPUT => json!(cut(&other.to_string(), INPUT)),
                other => other.clone(),
            },
        )),
        _ => None,
    });
    Value::Object(given.collect())
}

/// What a person answered about this step, in order.
pub(super) fn answers(guided: &Guided, step: usize) -> Value {
    let asked = guided.escalations().iter().filter(|asked| asked.step == step);
    let told = asked.filter_map(|asked| {
        let (answers, at, _) = asked.answer.as_ref()?;
        Some(json!({
            "escalationId": asked.id.as_str(),
            "reason": asked.reason,
            "questions": asked.questions,
            "answers": answers,
            "answeredAt": time(*at),
        }))
    });
    told.collect()
}

/// What the steps before gave, in short, and where the whole is.
fn previous(guided: &Guided, step: usize) -> Value {
    let run = guided.run();
    let parents = run.plan().step(step).map(|step| step.parents.as_slice()).unwrap_or_default();
    let told = parents.iter().filter_map(|parent| {
        let Some(State::Done { output, .. }) = run.state(*parent) else { return None };
        let said = guided.closing(*parent).and_then(|closing| closing.output.get("summary")).and_then(Value::as_str);
        let id = id_of(guided, *parent);
        let whole = crate::names::step_address(guided.beginning().id.as_str(), &id);
        Some((id, json!({"summary": cut(said.unwrap_or(&output.text), SUMMARY), "ref": whole})))
    });
    Value::Object(told.collect())
}

pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest).collect();
    format!("{kept}…")
}

/// Cuts a step's longest texts until the answer fits; says how long they were and how to read the rest.
pub(super) fn shortened(mut value: Value, id: &str, limit: &Limit) -> Value {
    // A persona is delivered whole as long as a message can hold it; what gives way first is the
    // prompt, which can be paged.
    while !limit.fits(&value) {
        let Some(step) = value.get_mut("step") else { return value };
        let node = step.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let length =
            |pointer: &str| step.pointer(pointer).and_then(Value::as_str).map_or(0, |text| text.chars().count());
        let longest = ["/prompt", "/task"].into_iter().map(|pointer| (length(pointer), pointer)).max();
        match longest.filter(|(length, _)| *length > SHORTEST) {
            Some((length, pointer)) => {
                if let Some(Value::String(text)) = step.pointer_mut(pointer) {
                    *text = text.chars().take(length / 2).collect();
                }
                if let (false, Value::Object(step)) = (step.get("promptLength").is_some(), &mut *step)
                    && pointer == "/prompt"
                {
                    step.insert("promptLength".to_owned(), json!(length));
                    step.insert("truncated".to_owned(), json!(true));
                    let rest = format!("flows_status with executionId {id} and nodeId {node} pages the whole prompt");
                    step.insert("restOfPrompt".to_owned(), json!(rest));
                }
            }
            // What is left is a persona or a contract: whole, unless no message could hold it.
            None if frame_fits(&value) || !step_gives_way(&mut value) => return value,
            None => {}
        }
    }
    value
}

/// Takes the least needed of a step away; says whether there was anything.
fn step_gives_way(value: &mut Value) -> bool {
    let Some(Value::Object(step)) = value.get_mut("step") else { return false };
    if step.shift_remove("example").is_some() || step.shift_remove("contract").is_some() {
        return true;
    }
    match step.get_mut("persona").and_then(|role| role.get_mut("instructions")) {
        Some(Value::String(text)) if text.chars().count() > SHORTEST => {
            *text = text.chars().take(text.chars().count() / 2).collect();
            true
        }
        _ => false,
    }
}
