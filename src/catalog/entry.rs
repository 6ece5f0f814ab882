//! What a listing shows of a flow: from its plan, or from the file alone where there is none.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, SecondsFormat};
use serde_json::Value;

use super::inputs::in_sets;
use crate::discover::{Category, FlowInput, FlowOutput, FlowRow};
use crate::document::Document;
use crate::model::{Flow, NodeKind, ToolAddress};
use crate::names::{CatalogPath, VariableName};
use crate::plan::Plan;

/// What a flow's listing entry shows: from its plan, or from the file alone where there is none.
pub(super) fn entry(flow: &Flow, plan: Option<&Plan>, oid: String) -> FlowRow {
    let inputs = plan.map(Plan::inputs).unwrap_or_default();
    let steps = match plan {
        Some(plan) => plan.steps().iter().map(|step| step.label.clone()).collect(),
        None => flow.nodes.iter().filter(|node| node.runnable()).map(|node| node.caption().to_owned()).collect(),
    };
    let outputs = plan.map(Plan::results).unwrap_or_default().iter().filter_map(|mark| {
        let step = plan?.step(mark.step?)?;
        Some(FlowOutput { label: mark.label.clone(), node: step.id.clone() })
    });
    let in_sets = plan.map(in_sets).unwrap_or_default();
    let inputs = match plan {
        // What a variable set gives, nobody has to give.
        Some(_) => inputs
            .iter()
            .map(|one| {
                let in_sets = in_sets.contains(&one.name);
                FlowInput { in_sets, required: one.required && !in_sets, ..input(one) }
            })
            .collect(),
        None => declared_inputs(flow),
    };
    let (calls, uses) = called(flow);
    FlowRow {
        inputs_unknown: plan.is_none() && inputs.is_empty(),
        name: flow.name.to_string(),
        description: flow.description.clone().unwrap_or_default(),
        tags: flow.tags.clone(),
        category: flow.category.clone(),
        complexity: flow.complexity.clone(),
        author: flow.author.clone(),
        version: flow.version.clone(),
        node_count: flow.nodes.len(),
        created: flow.created.as_deref().and_then(date),
        updated: flow.updated.as_deref().and_then(date),
        steps,
        inputs,
        outputs: outputs.collect(),
        examples: flow.examples.clone(),
        sets: plan.map(|plan| plan.sets().to_vec()).unwrap_or_default(),
        guided: plan.is_some_and(Plan::made_for_guided),
        expose: flow.expose,
        calls,
        uses,
        broken: plan.is_none(),
        file: flow.file.to_string(),
        flow_id: flow.id.clone(),
        meta_name: flow.given_name.clone(),
        place_in_file: flow.place_in_file,
        oid,
    }
}

/// A date in the form of ISO 8601: as it is written, or from seconds or milliseconds since 1970 as programs count them
/// today. What is none is not told as one.
fn date(written: &str) -> Option<String> {
    if let Ok(count) = written.parse::<i64>() {
        let at = match written.len() {
            10 => DateTime::from_timestamp(count, 0),
            13 => DateTime::from_timestamp_millis(count),
            _ => None,
        };
        return at.map(|at| at.to_rfc3339_opts(SecondsFormat::Millis, true));
    }
    let day = NaiveDate::parse_from_str(written.get(..10)?, "%Y-%m-%d").is_ok();
    (day && written.get(10..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['T', 't', ' '])))
        .then(|| written.to_owned())
}

fn input(input: &crate::plan::Input) -> FlowInput {
    FlowInput {
        name: input.name.clone(),
        kind: input.kind.map(|kind| kind.name().to_owned()),
        description: input.description.clone(),
        required: input.required,
        default: input.default.as_deref().cloned(),
        choices: input.choices.clone(),
        ..FlowInput::default()
    }
}

/// The tools that a flow's steps call and the flows that are steps of it, each sorted and once. A
/// call that names no tool is never made.
fn called(flow: &Flow) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for node in &flow.nodes {
        match &node.kind {
            NodeKind::Tool(tool) => {
                let address = tool.call.as_deref().and_then(|call| ToolAddress::read(call).ok());
                calls.extend(address.map(|address| address.to_string()));
            }
            NodeKind::Flow(other) => uses.extend(other.flow.clone()),
            NodeKind::Template(_) | NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => {}
        }
    }
    (calls.into_iter().collect(), uses.into_iter().collect())
}

/// The inputs of a flow that can't be planned: what its input nodes and `inputs` say.
fn declared_inputs(flow: &Flow) -> Vec<FlowInput> {
    let mut inputs: Vec<FlowInput> = Vec::new();
    let place = |inputs: &mut Vec<FlowInput>, name: &str| {
        let name = VariableName::normal(name).ok()?.as_str().to_owned();
        Some(inputs.iter().position(|input| input.name == name).unwrap_or_else(|| {
            inputs.push(FlowInput { name, required: true, ..FlowInput::default() });
            inputs.len() - 1
        }))
    };
    for node in &flow.nodes {
        let NodeKind::Input(node) = &node.kind else { continue };
        for variable in &node.variables {
            let Some(input) = place(&mut inputs, &variable.name).and_then(|at| inputs.get_mut(at)) else { continue };
            input.default = input.default.take().or_else(|| variable.default.as_deref().cloned());
        }
    }
    for said in &flow.inputs {
        let Some(input) = place(&mut inputs, &said.name).and_then(|at| inputs.get_mut(at)) else { continue };
        input.kind = said.kind.map(|kind| kind.name().to_owned());
        input.description.clone_from(&said.description);
        input.default = said.default.as_deref().cloned().or(input.default.take());
        if let Some(kind) = said.kind {
            input.default = input.default.take().map(|default| kind.typed(default));
            input.choices = said.choices.iter().cloned().map(|choice| kind.typed(choice)).collect();
        } else {
            input.choices.clone_from(&said.choices);
        }
        input.required = said.required.unwrap_or(true);
    }
    for input in &mut inputs {
        input.required &= input.default.is_none();
    }
    inputs
}

/// What a folder's `_category` file says.
pub(super) fn category(path: &CatalogPath, document: &Document) -> Option<Category> {
    let object = document.value.as_object()?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Category {
        name: path.folder()?.to_owned(),
        display_name: text("displayName"),
        description: text("description"),
        sort_order: object.get("sortOrder").and_then(Value::as_i64),
    })
}
