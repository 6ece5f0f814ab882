//! What happened in a guided execution, in order.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{call_of, id_of};
use crate::discover::millis;
use crate::model::Breach;
use crate::names::cut;
use crate::report::wire::common::{Fault, Stamp};
use crate::run::{Entry, Guided, Moment, StoredEnd};

/// How much of a text an event shows, in characters.
const SHOWN: usize = 500;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EventAnswer {
    /// Its number, from 1.
    seq: usize,
    /// When (ISO 8601, UTC).
    at: Stamp,
    #[serde(flatten)]
    what: What,
}

/// Where an output does not meet its contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IssueAnswer {
    /// The place in the output.
    path: String,
    /// What is wrong there.
    message: String,
}

/// How a step that the server does came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EndAnswer {
    /// Id of the node.
    node_id: String,
    /// What it gave, its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
    /// How long it took, in milliseconds.
    execution_time_ms: f64,
    /// How many calls of tools it took, new tries included.
    tool_calls: u32,
    /// How many of these were new tries.
    retries: u32,
}

impl EndAnswer {
    fn of(guided: &Guided, step: usize, end: &StoredEnd) -> Self {
        Self {
            node_id: id_of(guided, step),
            summary: end.result.as_ref().ok().map(|output| cut(&output.text, SHOWN)),
            error: end.result.as_ref().err().map(Fault::from),
            execution_time_ms: millis(end.took),
            tool_calls: end.calls,
            retries: end.retries,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum What {
    /// The execution began.
    Begun {
        /// Name of the flow.
        flow_name: String,
        /// The commit that the execution keeps to; null for a folder.
        commit: Option<String>,
    },
    /// A step was handed out.
    Opened {
        /// Id of the node.
        node_id: String,
    },
    /// The model closed a step.
    Closed {
        /// Id of the node.
        #[serde(skip_serializing_if = "Option::is_none")]
        node_id: Option<String>,
        /// How it was closed.
        outcome: &'static str,
        /// What the model said of it, its beginning.
        summary: String,
    },
    /// A step failed by itself.
    Broke {
        /// Id of the node.
        node_id: String,
        /// What went wrong.
        error: Fault,
    },
    /// An output was refused.
    Breached {
        /// Every place where it does not meet the contract.
        issues: Vec<IssueAnswer>,
    },
    /// A person was asked.
    Escalated {
        /// Id of the node, where the server asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        node_id: Option<String>,
        /// Id of the question.
        escalation_id: String,
        /// Why it was asked, its beginning.
        reason: String,
        /// What was asked.
        questions: Vec<String>,
    },
    /// A person answered.
    Answered {
        /// Id of the question.
        escalation_id: String,
        /// What the person said.
        answers: Value,
    },
    /// The server began to call a tool.
    ToolStarted {
        /// Id of the node.
        node_id: String,
        /// The tool, as alias:tool.
        call: String,
    },
    /// A process of the server does the steps from now on.
    Taken,
    /// The server began a step that reaches outside the program.
    StepStarted {
        /// Id of the node.
        node_id: String,
        /// The tool that it calls, as alias:tool.
        #[serde(skip_serializing_if = "Option::is_none")]
        call: Option<String>,
    },
    /// A step that the server does came to its end.
    StepEnded(EndAnswer),
    /// A step waits for the limit of its model.
    Waits {
        /// Id of the node.
        node_id: String,
        /// When the limit is over (ISO 8601, UTC).
        resumes_at: Stamp,
    },
    /// A step that waited goes on: its model is asked again.
    GoesOn {
        /// Id of the node.
        node_id: String,
    },
    /// The server stopped before the end.
    Interrupted {
        /// Why.
        error: Fault,
    },
    /// A tool answered or failed.
    ToolEnded(EndAnswer),
    /// A step was left out.
    LeftOut {
        /// Id of the node.
        node_id: String,
        /// Why.
        reason: String,
    },
    /// The execution was cancelled.
    Cancelled {
        /// Why; null where nobody said.
        reason: Option<String>,
    },
}

/// What happened, in order.
pub fn events(guided: &Guided, entries: &[Entry]) -> Vec<EventAnswer> {
    let event = |(place, entry): (usize, &Entry)| EventAnswer {
        seq: place + 1,
        at: Stamp::millis(entry.at),
        what: What::of(guided, &entry.moment),
    };
    entries.iter().enumerate().map(event).collect()
}

/// Every place where an output does not meet its contract.
pub(super) fn issues(breaches: &[Breach]) -> Vec<IssueAnswer> {
    let issue = |breach: &Breach| IssueAnswer { path: breach.path.clone(), message: breach.message.clone() };
    breaches.iter().map(issue).collect()
}

impl What {
    fn of(guided: &Guided, moment: &Moment) -> Self {
        match moment {
            Moment::Begun(beginning) => {
                Self::Begun { flow_name: beginning.plan.name().to_owned(), commit: beginning.commit.clone() }
            }
            Moment::Opened { step, .. } => Self::Opened { node_id: id_of(guided, *step) },
            Moment::Closed { ticket, outcome, output } => {
                let said = output.get("summary").and_then(Value::as_str);
                Self::Closed {
                    node_id: guided.step_of(ticket).map(|step| id_of(guided, step)),
                    outcome: outcome.word(),
                    summary: cut(&said.map_or_else(|| output.to_string(), str::to_owned), SHOWN),
                }
            }
            Moment::Broke { step, error } => Self::Broke { node_id: id_of(guided, *step), error: error.into() },
            Moment::Breached { breaches, .. } => Self::Breached { issues: issues(breaches) },
            Moment::Escalated { id, reason, questions, .. } => Self::Escalated {
                node_id: None,
                escalation_id: id.to_string(),
                reason: cut(reason, SHOWN),
                questions: questions.clone(),
            },
            Moment::Answered { id, answers, .. } | Moment::ToolDecided { id, answers } => {
                Self::Answered { escalation_id: id.to_string(), answers: answers.clone() }
            }
            Moment::ToolStarted { step, .. } => match call_of(guided, *step) {
                Some(call) => Self::ToolStarted { node_id: id_of(guided, *step), call },
                None => Self::StepStarted { node_id: id_of(guided, *step), call: None },
            },
            Moment::ToolEnded { step, end } => {
                let end = EndAnswer::of(guided, *step, end);
                if call_of(guided, *step).is_some() { Self::ToolEnded(end) } else { Self::StepEnded(end) }
            }
            Moment::Taken { .. } => Self::Taken,
            Moment::StepStarted { step } => {
                Self::StepStarted { node_id: id_of(guided, *step), call: call_of(guided, *step) }
            }
            Moment::StepEnded { step, end } => Self::StepEnded(EndAnswer::of(guided, *step, end)),
            Moment::Waits { step, until, .. } => match until {
                Some(until) => Self::Waits { node_id: id_of(guided, *step), resumes_at: Stamp::millis(*until) },
                None => Self::GoesOn { node_id: id_of(guided, *step) },
            },
            Moment::Interrupted { error } => Self::Interrupted { error: error.into() },
            Moment::LeftOut { step, why } => Self::LeftOut { node_id: id_of(guided, *step), reason: why.clone() },
            Moment::ToolAsked { id, step, reason, questions, .. } => Self::Escalated {
                node_id: Some(id_of(guided, *step)),
                escalation_id: id.to_string(),
                reason: cut(reason, SHOWN),
                questions: questions.clone(),
            },
            Moment::Cancelled { reason } => Self::Cancelled { reason: reason.clone() },
        }
    }
}
