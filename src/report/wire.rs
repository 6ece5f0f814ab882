//! Every result shape: what MCP clients, `--json` and fixtures see.
//!
//! Fields stand in the order in which they are read; what is absent stays absent. Units are in the
//! names. Long replies are cut by [`fit`], never silently.

mod execution;
mod files;
mod finding;
mod flow;
mod guided;
mod limit;
mod listing;
mod resource;
mod servers;
mod size;
mod usage;
mod warning;
mod written;

use serde_json::{Map, Value, json};

use crate::app::{Error, Listed, StatusAnswer};
use crate::code::Code;

pub use execution::{STATUSES, execution, outcome, refusal, rehearsal};
pub use files::{Attached, attached, attached_to};
pub use finding::{checkup, finding};
pub(super) use flow::from;
pub use flow::{input_schema, shown};
pub(super) use guided::state_word;
pub use guided::{begun, events, exported, guided_status, guided_summary, pruned, tallies, turn};
pub use limit::{FAILURE_CHARACTERS, LARGEST_FRAME, Limit, MAX_TOKENS, Travels, frame_fits, text_fits};
pub use listing::{contract_listing, entries, listing, listing_with_tools, written_listing};
pub use resource::{flow_entry, flow_names};
pub use servers::{server_tools, servers};
pub use size::fit;
pub use usage::stats;
pub use warning::warning;
pub use written::Written;

/// An error: `{code, message, source, nextStep?, details?}`.
pub fn error(error: &Error, source: &str) -> Value {
    let mut object = Map::new();
    object.insert("code".to_owned(), json!(error.code.word()));
    object.insert("message".to_owned(), json!(error.message));
    object.insert("source".to_owned(), json!(source));
    if let Some(step) = &error.next_step {
        object.insert("nextStep".to_owned(), json!(step));
    }
    if let Some(details) = details(error) {
        object.insert("details".to_owned(), details);
    }
    Value::Object(object)
}

/// How many characters of findings an error names at most: failures stay readable.
const FINDING_CHARACTERS: usize = 7_000;

fn details(error: &Error) -> Option<Value> {
    let mut details = Map::new();
    if error.of_github {
        details.insert("family".to_owned(), json!(Code::GithubError));
    }
    details.extend(error.details.as_deref().cloned().unwrap_or_default());
    if !error.findings.is_empty() {
        let mut room = FINDING_CHARACTERS;
        let mut shown: Vec<Value> = Vec::new();
        for finding in error.findings.iter().map(finding) {
            let length = finding.to_string().chars().count();
            if length > room && !shown.is_empty() {
                break;
            }
            room = room.saturating_sub(length);
            shown.push(finding);
        }
        let left_out = error.findings.len() - shown.len();
        details.insert("findings".to_owned(), Value::Array(shown));
        if left_out > 0 {
            details.insert("findingsLeftOut".to_owned(), json!(left_out));
        }
    }
    (!details.is_empty()).then_some(Value::Object(details))
}

/// What `flows_status` answers.
pub fn status(answer: &StatusAnswer) -> Value {
    match answer {
        StatusAnswer::One { outcome, include } => execution::status(outcome, include),
        StatusAnswer::Guided { story, include } => guided_status(story, include),
        StatusAnswer::List { executions, total, next_cursor, trouble } => {
            let mut object = Map::new();
            let listed = executions.iter().map(|listed| match listed {
                Listed::Direct { outcome, .. } => execution::status(outcome, &[]),
                Listed::Guided(summary) => guided_summary(summary),
            });
            object.insert("executions".to_owned(), listed.collect());
            object.insert("total".to_owned(), json!(total));
            object.insert("returned".to_owned(), json!(executions.len()));
            if let Some(cursor) = next_cursor {
                object.insert("nextCursor".to_owned(), json!(cursor));
            }
            if let Some(trouble) = trouble {
                object.insert("warnings".to_owned(), json!([error(trouble, "flows/status")]));
            }
            Value::Object(object)
        }
        StatusAnswer::Text(page) => {
            let mut object = Map::new();
            object.insert("executionId".to_owned(), json!(page.execution));
            object.insert("nodeId".to_owned(), json!(page.node));
            object.insert("text".to_owned(), json!(page.text));
            object.insert("offset".to_owned(), json!(page.offset));
            object.insert("length".to_owned(), json!(page.text.chars().count()));
            object.insert("total".to_owned(), json!(page.total));
            if let Some(cursor) = &page.next_cursor {
                object.insert("nextCursor".to_owned(), json!(cursor));
            }
            Value::Object(object)
        }
    }
}
