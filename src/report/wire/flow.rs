//! Flows and templates as `flows_show` shows them, from the plan that would run.

use serde_json::{Map, Value, json};

use super::finding::finding;
use super::listing::origin;
use super::warning::of_origin;
use crate::app::{Origin, Prepared, Shown, ShownTemplate};
use crate::code::Code;
use crate::discover::{property, set_property};
use crate::model::{Flow, NodeKind, Toolbox};
use crate::names::shown as safe;
use crate::plan::{Input, Intent, Mending, Plan, Slot, Source, Step, Work};
use crate::validate::OutputPart;

/// A flow or a template. `full` adds texts, contracts and variable sets.
pub fn shown(shown: &Shown, full: bool) -> Value {
    match shown {
        Shown::Flow { prepared, origin, tools } => flow(prepared, origin, tools, full),
        Shown::Template { template, origin } => self::template(template, origin),
    }
}

fn flow(prepared: &Prepared, from: &Origin, tools: &Toolbox, full: bool) -> Value {
    let flow = &prepared.flow;
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(flow.name.as_str()));
    object.insert("kind".to_owned(), json!("flow"));
    object.insert("file".to_owned(), json!(flow.file.as_str()));
    object.insert("description".to_owned(), json!(flow.description.clone().unwrap_or_default()));
    object.insert("version".to_owned(), json!(flow.version.as_deref().unwrap_or("1.0")));
    object.insert("author".to_owned(), json!(flow.author));
    object.insert("tags".to_owned(), json!(flow.tags));
    object.insert("category".to_owned(), json!(flow.category));
    if let Some(complexity) = &flow.complexity {
        object.insert("complexity".to_owned(), json!(complexity));
    }
    if let Some(duration) = &flow.estimated_duration {
        object.insert("estimatedDuration".to_owned(), json!(duration));
    }
    let plan = prepared.plan.as_deref();
    object.insert(
        "inputs".to_owned(),
        match plan {
            Some(plan) => plan.inputs().iter().map(|input| self::input(input, plan)).collect(),
            None => prepared.entry.inputs.iter().map(declared).collect(),
        },
    );
    if let Some(plan) = plan.filter(|plan| !plan.sets().is_empty()) {
        object.insert("variableSets".to_owned(), json!(plan.sets()));
    }
    object.insert(
        "steps".to_owned(),
        plan.map(|plan| plan.steps().iter().map(|step| self::step(step, plan, tools, full)).collect::<Vec<_>>())
            .unwrap_or_default()
            .into(),
    );
    object.insert("edges".to_owned(), edges(flow));
    object.insert("outputs".to_owned(), outputs(flow, plan));
    object.insert("findings".to_owned(), prepared.findings.iter().map(finding).collect());
    object.insert("executable".to_owned(), json!(plan.is_some()));
    if full {
        object.insert(
            "nodes".to_owned(),
            flow.nodes
                .iter()
                .map(|node| json!({"id": node.id, "type": type_of(&node.kind), "label": node.label}))
                .collect(),
        );
    }
    where_from(&mut object, from);
    Value::Object(object)
}

fn where_from(object: &mut Map<String, Value>, from: &Origin) {
    origin(object, from);
    object.remove("revision");
    if let Some(warning) = of_origin(from) {
        object.insert("warnings".to_owned(), json!([warning]));
    }
}

fn type_of(kind: &NodeKind) -> &str {
    match kind {
        NodeKind::Input(_) => "multi_input",
        NodeKind::Template(_) => "template",
        NodeKind::Tool(_) => "tool",
        NodeKind::Flow(_) => "flow",
        NodeKind::Result => "result",
        NodeKind::Other(kind) => kind,
    }
}

/// An input of a flow that has no plan: what its file says.
fn declared(input: &crate::discover::FlowInput) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(input.name));
    object.insert("type".to_owned(), json!(input.kind.as_deref().unwrap_or("string")));
    object.insert("required".to_owned(), json!(input.required));
    if let Some(default) = &input.default {
        object.insert("default".to_owned(), default.clone());
    }
    if let Some(description) = &input.description {
        object.insert("description".to_owned(), json!(description));
    }
    if !input.choices.is_empty() {
        object.insert("enum".to_owned(), Value::Array(input.choices.clone()));
    }
    object.insert("usedBy".to_owned(), json!([]));
    Value::Object(object)
}

fn input(input: &Input, plan: &Plan) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(input.name));
    object.insert("type".to_owned(), json!(input.kind.map_or("string", crate::model::ValueType::name)));
    object.insert("required".to_owned(), json!(input.required));
    if let Some(default) = &input.default {
        object.insert("default".to_owned(), default.clone());
    }
    if let Some(description) = &input.description {
        object.insert("description".to_owned(), json!(description));
    }
    if !input.choices.is_empty() {
        object.insert("enum".to_owned(), Value::Array(input.choices.clone()));
    }
    object.insert(
        "usedBy".to_owned(),
        input.used_by.iter().filter_map(|step| plan.step(*step)).map(|step| json!(step.id)).collect(),
    );
    Value::Object(object)
}

fn step(step: &Step, plan: &Plan, tools: &Toolbox, full: bool) -> Value {
    let ids = |steps: &[usize]| -> Value {
        steps.iter().filter_map(|step| plan.step(*step)).map(|step| json!(step.id)).collect()
    };
    let mut object = Map::new();
    object.insert("id".to_owned(), json!(step.id));
    object.insert("label".to_owned(), json!(step.label));
    let kind = plan.flow().nodes.get(step.node).map_or("template", |node| type_of(&node.kind));
    object.insert("kind".to_owned(), json!(kind));
    if let Some(description) = &step.description {
        object.insert("description".to_owned(), json!(description));
    }
    object.insert("wave".to_owned(), json!(step.wave));
    object.insert("dependsOn".to_owned(), ids(&step.parents));
    match &step.work {
        Work::Render(rendering) => {
            object.insert("template".to_owned(), json!(rendering.template_name));
            if let Some(persona) = &rendering.persona {
                object.insert("persona".to_owned(), json!(persona));
            }
            if let Some(contract) = &rendering.contract {
                // An inline schema is long; its being there is what a summary says.
                let shown = if full || contract.is_string() { contract.clone() } else { json!("inline") };
                object.insert("contract".to_owned(), shown);
            }
            object.insert("reads".to_owned(), reads(rendering, plan));
            if full {
                object.insert("text".to_owned(), json!(&*rendering.text));
                if !rendering.sets.is_empty() {
                    let sets = rendering.sets.iter().map(
                        |set| json!({"name": set.name, "values": set.values.iter().cloned().collect::<Map<_, _>>()}),
                    );
                    object.insert("variableSets".to_owned(), sets.collect());
                }
            }
        }
        Work::Call(call) => {
            object.insert("call".to_owned(), json!(call.address.to_string()));
            if let Some(why) = tools.trouble(&call.address.server) {
                object.insert("unavailable".to_owned(), json!(why));
            }
            if !call.requires.is_empty() {
                let names = call.requires.iter().filter_map(|(slot, path)| {
                    let name = call.slots.get(*slot)?.name.as_str();
                    Some(json!(
                        std::iter::once(name).chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(".")
                    ))
                });
                object.insert("requires".to_owned(), names.collect());
            }
            object.insert("reads".to_owned(), reads_by_name(&call.slots, plan));
            if full {
                object.insert("args".to_owned(), Value::Object(call.arguments.written().clone()));
            }
        }
        Work::Flow(linked) => {
            let inner = &linked.plan;
            object.insert("flow".to_owned(), json!(inner.flow().name.as_str()));
            object.insert("reads".to_owned(), reads_by_name(&linked.slots, plan));
            if full {
                let given = linked.variables.iter().map(|(name, passage)| (name.clone(), json!(&*passage.text)));
                object.insert("variables".to_owned(), Value::Object(given.collect()));
                object.insert(
                    "steps".to_owned(),
                    inner.steps().iter().map(|step| self::step(step, inner, tools, full)).collect(),
                );
            }
        }
        Work::Gather(gather) => {
            object.insert("flow".to_owned(), json!(gather.flow));
            object.insert("reads".to_owned(), reads_by_name(&gather.slots, plan));
        }
        Work::Faulty { code, message, meant, mending } => {
            match meant {
                Intent::Call(call) => object.insert("call".to_owned(), json!(call)),
                Intent::Flow(flow) => object.insert("flow".to_owned(), json!(flow)),
                Intent::Text => None,
            };
            object.insert("reads".to_owned(), json!([]));
            object.insert(
                "faulty".to_owned(),
                json!({"code": code, "message": message, "details": mended(*code, mending)}),
            );
        }
    }
    Value::Object(object)
}

/// What has to be mended, and how.
pub(super) fn mended(code: Code, mending: &Mending) -> Value {
    let mut object = Map::new();
    object.insert("files".to_owned(), json!(mending.files));
    object.insert("hint".to_owned(), json!(mending.hints.join("; ")));
    if code.of_github() {
        object.insert("family".to_owned(), json!(Code::GithubError));
    }
    Value::Object(object)
}

fn reads_by_name(slots: &[Slot], plan: &Plan) -> Value {
    slots.iter().map(|slot| json!({"placeholder": slot.name, "from": from(slot, plan)})).collect()
}

fn reads(rendering: &crate::plan::Rendering, plan: &Plan) -> Value {
    let mut reads: Vec<Value> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for (placeholder, place) in rendering.outline.placeholders.iter().zip(&rendering.outline.name_of) {
        let spelt = placeholder.spelt();
        if seen.contains(&spelt) {
            continue;
        }
        if let Some(slot) = rendering.slots.get(*place) {
            reads.push(json!({"placeholder": spelt, "from": from(slot, plan)}));
            seen.push(spelt);
        }
    }
    Value::Array(reads)
}

/// Where a slot's value comes from, in words.
pub(in crate::report) fn from(slot: &Slot, plan: &Plan) -> String {
    let id = |step: usize| plan.step(step).map_or("", |step| step.id.as_str());
    match &slot.source {
        Source::Step { step, part: OutputPart::Template, .. } => format!("template name of {}", id(*step)),
        Source::Step { step, path, by, .. } => {
            let path = if path.is_empty() { String::new() } else { format!(" at {}", path.join(".")) };
            let how = match by {
                Some(crate::validate::MappedBy::Mapping) => " (mapped by the edge)",
                Some(crate::validate::MappedBy::Handle) => " (by the edge's targetHandle)",
                None => "",
            };
            format!("output of {}{path}{how}", id(*step))
        }
        Source::Passed(passed) => format!("input {} of flow {}", passed.input, passed.flow),
        Source::Open(open) => {
            let input = if open.input == slot.name { "input".to_owned() } else { format!("input {}", open.input) };
            match (&open.default, open.auto) {
                (Some(default), _) => format!("{input}, default {}", safe(&default.to_string(), 80)),
                (None, Some(parent)) => format!("{input}, else output of {}", id(parent)),
                (None, None) if open.required => format!("{input}, required"),
                (None, None) if open.declared => format!("{input}, else empty"),
                (None, None) => "nothing declares it: stays as text unless given".to_owned(),
            }
        }
    }
}

fn edges(flow: &Flow) -> Value {
    let edges = flow.edges.iter().map(|edge| {
        let mut object = Map::new();
        if let Some(id) = &edge.id {
            object.insert("id".to_owned(), json!(id));
        }
        object.insert("source".to_owned(), json!(edge.from));
        object.insert("target".to_owned(), json!(edge.to));
        object.insert(
            "kind".to_owned(),
            json!(edge.kind.unwrap_or_else(|| by_ends(flow, &edge.from, &edge.to)).to_string()),
        );
        if !edge.mapping.is_empty() {
            let mapping: Map<String, Value> =
                edge.mapping.iter().map(|(target, source)| (target.clone(), json!(source))).collect();
            object.insert("mapping".to_owned(), Value::Object(mapping));
        }
        Value::Object(object)
    });
    edges.collect()
}

/// The kind of an edge that says none, by what it connects.
fn by_ends(flow: &Flow, from: &str, to: &str) -> crate::model::EdgeKind {
    let kind = |id: &str| flow.nodes.iter().find(|node| node.id == id).map(|node| &node.kind);
    match (kind(from), kind(to)) {
        (_, Some(NodeKind::Result)) => crate::model::EdgeKind::Result,
        (Some(NodeKind::Input(_)), _) => crate::model::EdgeKind::Data,
        _ => crate::model::EdgeKind::Chain,
    }
}

/// Label → the node that feeds it, with what the flow says of it.
fn outputs(flow: &Flow, plan: Option<&Plan>) -> Value {
    let mut outputs = Map::new();
    for mark in plan.map(Plan::results).unwrap_or_default() {
        let Some(step) = mark.step.and_then(|step| plan.and_then(|plan| plan.step(step))) else { continue };
        let described = flow.outputs.iter().find(|(label, _)| *label == mark.label).map(|(_, text)| text);
        let mut output = Map::new();
        output.insert("node".to_owned(), json!(step.id));
        if let Some(description) = described {
            output.insert("description".to_owned(), json!(description));
        }
        outputs.insert(mark.label.clone(), Value::Object(output));
    }
    Value::Object(outputs)
}

fn template(shown: &ShownTemplate, from: &Origin) -> Value {
    let template = &shown.template;
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(template.name));
    object.insert("kind".to_owned(), json!("template"));
    object.insert("file".to_owned(), json!(template.file.as_str()));
    if let Some(title) = &template.title {
        object.insert("title".to_owned(), json!(title));
    }
    if let Some(description) = &template.description {
        object.insert("description".to_owned(), json!(description));
    }
    object.insert("text".to_owned(), json!(template.text));
    object.insert("variables".to_owned(), template.variables.iter().map(|variable| json!(variable.name)).collect());
    let sets = template
        .sets
        .iter()
        .map(|set| json!({"name": set.name, "values": set.values.iter().cloned().collect::<Map<_, _>>()}));
    object.insert("variableSets".to_owned(), sets.collect());
    object.insert("usedBy".to_owned(), json!(shown.used_by));
    where_from(&mut object, from);
    Value::Object(object)
}

/// The JSON Schema (2020-12) of what a caller gives to a flow.
pub fn input_schema(plan: &Plan) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for input in plan.inputs() {
        let kind = input.kind.map_or("string", crate::model::ValueType::name);
        let property = property(kind, input.description.as_deref(), &input.choices, input.default.as_ref());
        properties.insert(input.name.clone(), property);
        if input.required {
            required.push(json!(input.name));
        }
    }
    if !plan.sets().is_empty() {
        properties.insert("_variableSet".to_owned(), set_property(plan.sets()));
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(plan.flow().name.as_str()));
    if let Some(description) = &plan.flow().description {
        schema.insert("description".to_owned(), json!(description));
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(schema)
}
