//! A flow that is nowhere yet, as `flows_check` answers.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::execution::{RehearsedAnswer, rehearsal};
use super::finding::FindingAnswer;
use super::flow::InputAnswer;
use crate::app::{CheckedDraft, DraftFlow, in_sets};
use crate::names::{few, grouped, quoted};
use crate::plan::Plan;
use crate::validate::Finding;

/// How many estimated tokens the rehearsals of all flows may take.
const REHEARSALS: usize = 10_000;
/// How many findings are listed for one flow.
const MOST_FINDINGS: usize = 50;
/// How many flows of a text are told of.
const MOST_FLOWS: usize = 50;

/// What `flows_check` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "flows_check reply")]
pub struct DraftAnswer {
    /// Whether nothing has to be fixed.
    valid: bool,
    /// The flows of the text, the first 50.
    flows: Vec<DraftFlowAnswer>,
    /// What was noticed in the text outside of its flows, and in templates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingAnswer>,
    /// The text with everything fixed that can be fixed without changing what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<String>,
    /// The file of a catalog that the text belongs in.
    file: String,
    /// What comes next.
    next_step: String,
}

/// One flow of the text.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DraftFlowAnswer {
    /// Its name.
    name: String,
    /// Whether it can be executed.
    executable: bool,
    /// What was noticed.
    findings: Vec<FindingAnswer>,
    /// What a caller gives.
    inputs: Vec<InputAnswer>,
    /// What runs, in order.
    steps: Vec<PlannedStep>,
    /// Label of each result to the id of the step that gives it.
    results: IndexMap<String, String>,
    /// Every text as far as it can be filled without values; absent where it can't be executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<RehearsedAnswer>,
}

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PlannedStep {
    /// Id of the node.
    node_id: String,
    /// What is done: a text is rendered, a tool is called, a flow is gone through.
    #[schemars(extend("enum" = ["rendered", "tool", "flow"]))]
    kind: &'static str,
    /// Ids of the steps that it waits for.
    after: Vec<String>,
}

fn findings(all: &[Finding]) -> Vec<FindingAnswer> {
    // The worst come first where there are more than are listed.
    let mut worst: Vec<&Finding> = all.iter().collect();
    worst.sort_by_key(|finding| finding.severity);
    worst.into_iter().take(MOST_FINDINGS).map(FindingAnswer::from).collect()
}

fn steps(plan: &Plan) -> Vec<PlannedStep> {
    let id = |step: &usize| plan.step(*step).map(|step| step.id.clone());
    let planned = |step: &crate::plan::Step| PlannedStep {
        node_id: step.id.clone(),
        kind: step.work.word(),
        after: step.parents.iter().filter_map(id).collect(),
    };
    plan.steps().iter().map(planned).collect()
}

fn flow(draft: &DraftFlow, most: usize) -> DraftFlowAnswer {
    let plan = draft.planned.as_ref().map(|(plan, _)| plan);
    let sets = plan.map(|plan| in_sets(plan)).unwrap_or_default();
    let inputs = plan.iter().flat_map(|plan| plan.inputs().iter().map(|input| InputAnswer::of(input, plan, &sets)));
    let results = plan.iter().flat_map(|plan| {
        plan.results().iter().filter_map(|mark| Some((mark.label.clone(), plan.step(mark.step?)?.id.clone())))
    });
    DraftFlowAnswer {
        name: draft.name.clone(),
        executable: plan.is_some(),
        findings: findings(&draft.findings),
        inputs: inputs.collect(),
        steps: plan.map(|plan| steps(plan)).unwrap_or_default(),
        results: results.collect(),
        dry_run: draft.planned.as_ref().map(|(_, rehearsed)| rehearsal(rehearsed, Some(most)).of_draft()),
    }
}

/// What was found.
pub fn draft(draft: &CheckedDraft) -> DraftAnswer {
    let next_step = if draft.valid() {
        let name = few(draft.flows.iter().map(|flow| quoted(&flow.name)));
        format!(
            "nothing was written: your user puts the text into {} of the catalog, and its templates into templates/; \
             then flows_execute with flowName {name} runs it",
            draft.file
        )
    } else if draft.fixed.is_some() {
        "go on from `fixed`, change what the other findings say, and call flows_check again".to_owned()
    } else {
        "change what the findings say (hints say how), and call flows_check again; without `flow` it answers the format"
            .to_owned()
    };
    let next_step = if draft.flows.len() > MOST_FLOWS {
        let all = grouped(draft.flows.len());
        format!(
            "the first {MOST_FLOWS} of {all} flows are told of: check the others in texts of their own; {next_step}"
        )
    } else {
        next_step
    };
    let most = REHEARSALS / draft.flows.len().clamp(1, MOST_FLOWS);
    DraftAnswer {
        valid: draft.valid(),
        flows: draft.flows.iter().take(MOST_FLOWS).map(|one| flow(one, most)).collect(),
        findings: findings(&draft.findings),
        fixed: draft.fixed.clone(),
        file: draft.file.clone(),
        next_step,
    }
}
