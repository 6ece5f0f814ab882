//! Every result shape: what MCP clients, `--json` and fixtures see.
//!
//! Fields stand in the order in which they are read; what is absent stays absent. Units are in the
//! names. Long replies are cut to a limit, never silently.

mod asked;
mod changes;
mod common;
mod convert;
mod difference;
mod doctor;
mod draft;
mod error;
mod execution;
mod files;
mod finding;
mod flow;
mod guided;
mod limit;
mod listing;
mod models;
mod resource;
mod rules;
#[cfg(feature = "internals")]
mod schemas;
mod servers;
mod size;
mod testing;
mod usage;
mod warning;
mod written;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::{Escalation, ExecutionEntry, GuidedState, StatusAnswer};
use crate::names::did_you_mean;

pub use changes::format_report;
pub use common::{WarningAnswer, written_text};
pub use convert::conversion;
pub use difference::difference;
pub use doctor::doctor;
pub use draft::draft;
pub use error::ErrorAnswer;
#[cfg(feature = "internals")]
pub use execution::STATUSES;
pub use execution::{
    DirectAnswer, EndedAnswer, ExecuteAnswer, FailedAnswer, OutcomeAnswer, execution, outcome, refusal, rehearsal,
    unfilled,
};
pub(super) use execution::{cost_of, failure_of};
pub use files::{Attached, attached, attached_to};
pub use finding::checkup;
pub(super) use flow::{Origins, Unfolded, reads};
pub use flow::{input_schema, shown};
pub(in crate::report) use guided::asked_of;
pub(super) use guided::state_word;
pub use guided::{
    GuidedAnswer, GuidedStatus, GuidedSummary, begun, exported, guided_status, guided_summary, pruned, tallies, turn,
};
pub use limit::{FAILURE_CHARACTERS, LARGEST_FRAME, MAX_TOKENS, Travels, frame_fits, json_of, text_fits};
pub use listing::{listing, listing_with_tools, written_listing};
pub use models::{model_trial, models};
pub use resource::{flow_entry, flow_names};
pub use rules::{rule, rules};
#[cfg(feature = "internals")]
pub use schemas::schemas;
pub use servers::{server_tools, servers};
pub use testing::test_report;
pub use usage::stats;
pub(super) use warning::of_execution;
pub use warning::warning;
pub use written::Written;

/// An answer as a value, for what is changed on its way out.
pub fn value(answer: &impl Serialize) -> Value {
    // None of them has a key that is no text, or can refuse.
    serde_json::to_value(answer).unwrap_or_default()
}

/// What `flows_status` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flows_status reply")]
pub enum StatusReply {
    /// One direct execution.
    Direct(DirectAnswer),
    /// One guided execution.
    Guided(Box<GuidedStatus>),
    /// Without executionId: executions.
    List(ExecutionList),
    /// With nodeId: a page of one text.
    Text(TextAnswer),
}

/// Executions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionList {
    /// The executions, newest first.
    executions: Vec<ListedExecution>,
    /// How many there are in all.
    total: usize,
    /// How many are on this page.
    returned: usize,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The call that comes next.
    next_step: String,
    /// Why some executions are not in the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<ErrorAnswer>,
}

/// One execution of a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ListedExecution {
    /// The server did its steps.
    Direct(DirectAnswer),
    /// The client's model does them.
    Guided(Box<GuidedSummary>),
}

/// A page of one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextAnswer {
    /// Id of the execution.
    execution_id: String,
    /// Id of the step.
    node_id: String,
    /// This page of the step's output.
    text: String,
    /// First character of this page, from 0.
    offset: usize,
    /// True where the text is what the open step was handed, and no output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_prompt: bool,
    /// Characters on this page.
    length: usize,
    /// Characters of the whole output.
    total: usize,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What `flows_status` answers.
pub fn status(answer: &StatusAnswer) -> StatusReply {
    match answer {
        StatusAnswer::One { outcome, include } => StatusReply::Direct(DirectAnswer::of(outcome, include)),
        StatusAnswer::Guided { story, include } => StatusReply::Guided(Box::new(guided_status(story, include))),
        StatusAnswer::List { executions, total, next_cursor, asked, trouble, meant } => {
            StatusReply::List(ExecutionList {
                executions: executions.iter().map(|listed| ListedExecution::of(listed, asked)).collect(),
                total: *total,
                returned: executions.len(),
                next_cursor: next_cursor.clone(),
                next_step: after_list(executions, meant),
                warnings: trouble.iter().map(|trouble| ErrorAnswer::of(trouble, "flows/status")).collect(),
            })
        }
        StatusAnswer::Text(page) => StatusReply::Text(TextAnswer {
            execution_id: page.execution.clone(),
            node_id: page.node.clone(),
            text: page.text.clone(),
            is_prompt: page.is_prompt,
            offset: page.offset,
            length: page.text.chars().count(),
            total: page.total,
            next_cursor: page.next_cursor.clone(),
        }),
    }
}

/// The call that comes after a list of executions.
fn after_list(executions: &[ExecutionEntry], meant: &[String]) -> String {
    if let Some(asked) = did_you_mean(meant) {
        return format!("there is no execution of that flow: {asked} Leave flowName out to list all");
    }
    let any = |wanted: GuidedState| {
        executions.iter().any(|listed| matches!(listed, ExecutionEntry::Guided(summary) if summary.state == wanted))
    };
    let open = executions.iter().any(|listed| {
        matches!(listed, ExecutionEntry::Guided(summary) if !summary.direct
            && matches!(summary.state, GuidedState::Running | GuidedState::Waiting))
    });
    let next = if any(GuidedState::AwaitingHuman) {
        "where the state is awaiting_human, ask your user the questions of escalation, then call flows_resume with that \
         executionId and answers; flows_status with an executionId shows how one stands"
    } else if any(GuidedState::Interrupted) {
        "flows_resume with the executionId of an interrupted one lets the server go on with it; flows_status with an \
         executionId shows how one stands"
    } else if open {
        "to go on with one, call flows_status with its executionId: it shows the open step and its stepToken"
    } else if executions.is_empty() {
        "flows_begin begins an execution whose steps you do, flows_execute one that the server does"
    } else {
        "flows_status with an executionId shows what came of one; flows_begin begins another"
    };
    next.to_owned()
}

impl ListedExecution {
    fn of(listed: &ExecutionEntry, asked: &BTreeMap<String, Escalation>) -> Self {
        match listed {
            ExecutionEntry::Direct { outcome, .. } => Self::Direct(DirectAnswer::of(outcome, &[])),
            ExecutionEntry::Guided(summary) => Self::Guided(Box::new(guided_summary(summary, asked.get(&summary.id)))),
        }
    }
}
