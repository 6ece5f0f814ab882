//! Whether a result does what its source does: the plan, the texts, and what stays behind.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::target::Written;
use crate::catalog::CatalogCheck;
use crate::model::{Syntax, Template};
use crate::names::quoted;
use crate::plan::{Plan, Slot, Work};

/// The first difference between a result and what it was made of, in words.
pub(super) fn part(part: &Written, before: &CatalogCheck, after: &CatalogCheck) -> Option<String> {
    let source = super::file(before, &part.told.from)?;
    let Some(result) = super::file(after, &part.told.to) else { return Some("the result is not read".to_owned()) };
    if !part.is_flow {
        let (old, new) = (source.templates.get(part.place)?, result.templates.first());
        return match new {
            Some(new) if template(old) == template(new) => None,
            _ => Some(told(result).unwrap_or_else(|| "the template would read otherwise".to_owned())),
        };
    }
    let old = super::plan_of(source, part.place)?;
    let Some(new) = super::plan_of(result, 0) else {
        return Some(told(result).unwrap_or_else(|| "the flow would not run".to_owned()));
    };
    difference(&view(old), &view(new))
}

fn told(file: &crate::catalog::ReportedFile) -> Option<String> {
    file.findings.iter().find(|finding| finding.reach == crate::validate::Reach::Flow).map(|f| f.message.clone())
}

/// The files left out whose flows no longer do what they did.
pub(super) fn broken(before: &CatalogCheck, after: &CatalogCheck, wanted: &BTreeMap<String, PathBuf>) -> Vec<String> {
    let mut broken = Vec::new();
    for file in before.files.iter().filter(|file| !wanted.contains_key(&file.file)) {
        let Some(now) = super::file(after, &file.file) else { continue };
        let views = |file: &crate::catalog::ReportedFile| -> Vec<Option<Value>> {
            file.plans.iter().map(|plan| plan.as_deref().map(view)).collect()
        };
        if views(file) != views(now) {
            let finding =
                now.findings.iter().find(|finding| !file.findings.iter().any(|f| f.message == finding.message));
            let why = finding.map(|finding| format!(" ({})", finding.message)).unwrap_or_default();
            broken.push(format!("{}{why}", file.file));
        }
    }
    broken
}

/// What of a template is the same in both forms.
fn template(template: &Template) -> Value {
    let variables: Vec<Value> =
        template.variables.iter().map(|one| json!([one.name, one.required, one.default, one.description])).collect();
    let sets: Vec<Value> = template.sets.iter().map(|set| json!([set.name, set.values])).collect();
    // Two pairs of braces are one in the other form, and what reads the text is compared with its flow.
    let text = if template.syntax == Syntax::Double {
        None
    } else {
        Some(template.text().replace("{{", "{").replace("}}", "}"))
    };
    let text = text.filter(|_| template.variables.is_empty());
    json!([template.id, template.title, template.description, variables, sets, template.literal, text])
}

/// Everything of a plan that an execution depends on.
fn view(plan: &Plan) -> Value {
    let id = |step: usize| plan.step(step).map(|step| step.id.clone());
    let slots = |slots: &[Slot]| -> Value {
        let mut value = serde_json::to_value(slots).unwrap_or_default();
        without_ways(&mut value);
        value
    };
    let steps: Vec<Value> = plan
        .steps()
        .iter()
        .map(|step| {
            let work = match &step.work {
                Work::Render(one) => {
                    let sets: Vec<Value> = one.sets.iter().map(|set| json!([set.name, set.values])).collect();
                    json!(["text", one.outline.placeholders.is_empty().then(|| one.text.to_string()), slots(&one.slots), sets, one.persona, one.contract, one.optional, one.max_attempts])
                }
                Work::Call(call) => json!(["call", call.address.to_string(), call.arguments.written(), slots(&call.slots),
                    call.requires, call.goes_on, call.retries, call.backoff, call.timeout, call.delay, call.set]),
                Work::Flow(linked) => json!(["flow", linked.values.written(), slots(&linked.slots)]),
                Work::Gather(gather) => json!(["gather", gather.last, gather.results, slots(&gather.slots)]),
                Work::Faulty { code, .. } => json!(["faulty", code.word()]),
            };
            let parents: Vec<_> = step.parents.iter().map(|parent| id(*parent)).collect();
            json!({"id": step.id, "label": step.label, "wave": step.wave, "after": parents, "within": step.within, "does": work})
        })
        .collect();
    let inputs: BTreeMap<&str, Value> = plan
        .inputs()
        .iter()
        .map(|input| {
            let kind = input.kind.map(crate::model::ValueType::name);
            let said = json!([
                kind,
                input.description,
                input.required,
                input.default,
                input.choices,
                input.used_by,
                input.needed_by
            ]);
            (input.name.as_str(), said)
        })
        .collect();
    let results: Vec<Value> = plan.results().iter().map(|mark| json!([mark.label, mark.step.and_then(id)])).collect();
    json!({"steps": steps, "inputs": inputs, "results": results, "sets": plan.sets(), "final": plan.last().and_then(id)})
}

/// Takes out whether a handle or a mapping says where a value comes from: both say the same.
fn without_ways(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("by");
            map.values_mut().for_each(without_ways);
        }
        Value::Array(items) => items.iter_mut().for_each(without_ways),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where two views differ first.
fn difference(old: &Value, new: &Value) -> Option<String> {
    let kinds = [
        ("inputs", "its inputs"),
        ("results", "its results"),
        ("sets", "its variable sets"),
        ("final", "its final result"),
    ];
    let steps = |view: &Value| view["steps"].as_array().cloned().unwrap_or_default();
    let (olds, news) = (steps(old), steps(new));
    let order = |steps: &[Value]| steps.iter().map(|step| step["id"].clone()).collect::<Vec<_>>();
    if order(&olds) != order(&news) {
        return Some("its steps would go in another order".to_owned());
    }
    for (old, new) in olds.iter().zip(&news) {
        let what = [
            ("after", "would wait for other steps"),
            ("wave", "would go at another time"),
            ("label", "would have another label"),
            ("does", "would do something else"),
            ("within", "would stand elsewhere"),
        ];
        if let Some((_, words)) = what.into_iter().find(|(key, _)| old[*key] != new[*key]) {
            return Some(format!("step {} {words}", quoted(old["id"].as_str().unwrap_or_default())));
        }
    }
    let (_, words) = kinds.into_iter().find(|(key, _)| old[*key] != new[*key])?;
    let last = |view: &Value| quoted(view["final"].as_str().unwrap_or_default());
    Some(match words {
        "its final result" => {
            format!("{words} would come from step {}, no longer from {}: give it a result", last(new), last(old))
        }
        words => format!("{words} would change"),
    })
}
