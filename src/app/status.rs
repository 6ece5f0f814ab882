//! Asking for a direct execution again: where it stands, and long texts page by page.

use serde_json::Value;

use crate::app::memory::{Finished, Kept};
use crate::app::{App, Code, Error, Outcome};
use crate::names::{nearest, quoted};
use crate::plan::Plan;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct StatusRequest {
    /// The execution; none for a list of all.
    pub execution: Option<String>,
    /// One step, whose full text is wanted; `result` is the final result, and a result's label is
    /// what feeds it.
    pub node: Option<String>,
    /// Only executions of this flow.
    pub flow: Option<String>,
    /// Only executions in these states.
    pub states: Vec<String>,
    /// What to add.
    pub include: Vec<Section>,
    /// Entries of a list, or characters of a text.
    pub limit: Option<i64>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// What a status may add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Section {
    /// Each step's state and output.
    Steps,
}

/// The states an execution can be in, as they are written.
pub const STATES: [&str; 3] = ["running", "completed", "failed"];

/// The answer.
#[derive(Debug, Clone)]
pub enum StatusAnswer {
    /// One execution.
    One {
        /// How it stands.
        outcome: Outcome,
        /// What to add.
        include: Vec<Section>,
    },
    /// A page of one step's text.
    Text(TextPage),
    /// Executions, the newest first.
    List {
        /// How each stands.
        executions: Vec<Outcome>,
        /// How many there are in all.
        total: usize,
        /// Where the next page begins.
        next_cursor: Option<String>,
    },
}

impl StatusAnswer {
    /// How many entries or characters this page holds; 1 where the answer has no pages.
    pub fn returned(&self) -> usize {
        match self {
            Self::One { .. } => 1,
            Self::Text(page) => page.text.chars().count(),
            Self::List { executions, .. } => executions.len(),
        }
    }
}

/// A page of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// The execution.
    pub execution: String,
    /// The step.
    pub node: String,
    /// This page's text.
    pub text: String,
    /// The first character on this page, from 0.
    pub offset: usize,
    /// All characters.
    pub total: usize,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// What the final result is asked for by, whichever step gives it.
const RESULT: &str = "result";
/// Entries of a list page, unless another number is asked for.
const LIST_LIMIT: usize = 20;
/// Characters of a text page, unless another number is asked for.
const TEXT_LIMIT: usize = 20_000;
/// The most entries of a list page: no more are kept.
const MOST_ENTRIES: i64 = 100;
/// The most characters of a text page.
pub const MOST_CHARACTERS: i64 = 100_000;

impl App {
    /// Where executions stand; changes nothing.
    ///
    /// # Errors
    /// An unknown execution or step, or a request that can't be understood.
    pub fn status(&self, request: &StatusRequest) -> Result<StatusAnswer, Error> {
        let (most, of) = match &request.execution {
            Some(_) => (MOST_CHARACTERS, "characters of a text"),
            None => (MOST_ENTRIES, "executions"),
        };
        let limit = match request.limit {
            None => None,
            Some(limit) if (1..=most).contains(&limit) => usize::try_from(limit).ok(),
            Some(limit) => {
                let message = format!("limit {limit} is not allowed: it is a number of {of} from 1 to {most}");
                return Err(Error::new(Code::InvalidRequest, message)
                    .next("give a smaller `limit`, and go on with nextCursor")
                    .detail("argument", "limit".into()));
            }
        };
        if let Some(unknown) = request.states.iter().find(|state| !STATES.contains(&state.as_str())) {
            return Err(Error::new(
                Code::InvalidRequest,
                format!("state {} is not known: it is one of {}", quoted(unknown), STATES.join(", ")),
            )
            .next(format!("choose from {}", STATES.join(", "))));
        }
        let Some(id) = &request.execution else { return self.executions(request, limit) };
        let kept = self.memory.get(id).ok_or_else(|| {
            Error::new(Code::ExecutionNotFound, format!("there is no execution {}", quoted(id)))
                .next("executions are kept for an hour, the newest 100, in this process: call flows_execute again")
        })?;
        match &request.node {
            None => Ok(StatusAnswer::One { outcome: kept.outcome(), include: request.include.clone() }),
            Some(node) => text_of(&kept, node, request.cursor.as_deref(), limit).map(StatusAnswer::Text),
        }
    }

    fn executions(&self, request: &StatusRequest, limit: Option<usize>) -> Result<StatusAnswer, Error> {
        let wanted: Vec<Kept> = self
            .memory
            .all()
            .into_iter()
            .filter(|kept| request.flow.as_ref().is_none_or(|flow| kept.flow == *flow))
            .filter(|kept| {
                request.states.is_empty() || request.states.iter().any(|state| state == state_of(&kept.outcome()))
            })
            .collect();
        // The cursor is the id after which to go on: new executions come in front and move nothing.
        let start = match &request.cursor {
            None => 0,
            Some(cursor) => match wanted.iter().position(|kept| kept.id == *cursor) {
                Some(place) => place + 1,
                None => {
                    return Err(Error::new(Code::InvalidCursor, "the cursor does not go on with this list")
                        .next("leave `cursor` out to begin anew"));
                }
            },
        };
        let limit = limit.unwrap_or(LIST_LIMIT);
        let page: Vec<&Kept> = wanted.iter().skip(start).take(limit).collect();
        let next_cursor =
            if start + page.len() < wanted.len() { page.last().map(|kept| kept.id.clone()) } else { None };
        Ok(StatusAnswer::List {
            executions: page.iter().map(|kept| kept.outcome()).collect(),
            total: wanted.len(),
            next_cursor,
        })
    }
}

/// The state of an execution, in the words that direct and guided ones share.
pub fn state_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Running(_) => "running",
        Outcome::Finished { finished: Finished::Refused(_), .. } => "failed",
        Outcome::Finished { finished: Finished::Ran(recorded), .. } => match recorded.executed.run.status() {
            crate::run::Status::Failed => "failed",
            _ => "completed",
        },
    }
}

/// The most steps that an error names.
const NAMED: usize = 30;

/// There is no such step; this execution's steps are what helps.
fn no_step(plan: &Plan, node: &str) -> Error {
    let ids = || plan.steps().iter().map(|step| step.id.as_str());
    let steps: Vec<&str> = ids().take(NAMED).collect();
    let listed = if plan.steps().len() > NAMED { "the first of its steps are" } else { "its steps are" };
    let near: Vec<String> = nearest(node, ids(), 3).into_iter().map(quoted).collect();
    let meant = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) };
    Error::new(Code::InvalidRequest, format!("the execution has no step {}", quoted(node)))
        .next(format!("{meant}{listed} {}; \"{RESULT}\" is the final result", steps.join(", ")))
        .detail("steps", steps.iter().map(|id| Value::String((*id).to_owned())).collect())
}

fn text_of(kept: &Kept, node: &str, cursor: Option<&str>, limit: Option<usize>) -> Result<TextPage, Error> {
    let finished = kept.finished.borrow().clone();
    let Some(Finished::Ran(recorded)) = finished else {
        return Err(Error::new(Code::ExecutionNotFound, format!("execution {} has no texts yet", quoted(&kept.id)))
            .next("ask for its status without nodeId"));
    };
    let run = &recorded.executed.run;
    let named = run.plan().steps().iter().position(|step| step.id == node);
    // A step of that id comes first; else it may mean what gives the final result, or one of several.
    let last = || run.plan().last().filter(|_| node == RESULT);
    let labelled = || run.plan().results().iter().find(|mark| mark.label == node).and_then(|mark| mark.step);
    let Some(step) = named.or_else(last).or_else(labelled) else {
        return Err(no_step(run.plan(), node));
    };
    let node = run.plan().step(step).map_or(node, |step| step.id.as_str());
    let Some(output) = run.output_of(step) else {
        return Err(Error::new(
            Code::InvalidRequest,
            format!("step {} has no output: it failed or was skipped", quoted(node)),
        )
        .next("ask for the execution's status without nodeId: it says why"));
    };
    let total = output.text.chars().count();
    let offset = match cursor {
        None => 0,
        Some(cursor) => cursor.parse::<usize>().ok().filter(|offset| *offset < total).ok_or_else(|| {
            Error::new(Code::InvalidCursor, "the cursor does not go on with this text")
                .next("leave `cursor` out to begin anew")
        })?,
    };
    let length = limit.unwrap_or(TEXT_LIMIT);
    let text: String = output.text.chars().skip(offset).take(length).collect();
    let end = offset + text.chars().count();
    Ok(TextPage {
        execution: kept.id.clone(),
        node: node.to_owned(),
        text,
        offset,
        total,
        next_cursor: (end < total).then(|| end.to_string()),
    })
}
