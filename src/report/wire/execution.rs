//! Executions: what ran, what failed, what would run.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

use super::limit::{FAILURE_CHARACTERS, Limit, MAX_TOKENS};
use super::size::{fit, rest_of_execution};
use super::warning::{about, of_origin, of_run, warning};
use crate::app::{Detail, Error, Finished, Origin, Outcome, Pending, Recorded, Rehearsal, Section, state_of};
use crate::code::{Code, WarningCode};
use crate::discover::millis;
use crate::model::ToolAddress;
use crate::names::{counted, shown};
use crate::plan::{Intent, Step, Work};
use crate::run::{FilledWith, Output, Run, State, Status, StepError, Timing, Warning};
use crate::tokens;
use crate::validate::{Finding, Severity};

/// The name errors of executions carry.
const SOURCE: &str = "flows/execute";
/// What is said where steps have personas or contracts, and nobody answered them.
const BEGIN_HINT: &str = "these steps ask for a model to answer them, and here their rendered texts are the outputs; \
flows_begin hands you one step after the other instead";

/// Every status word, who gives it, and what it means.
pub const STATUSES: [(&str, &str, &str); 7] = [
    ("success", "flows_execute, flows_status", "Every step gave its output."),
    (
        "partial",
        "flows_execute, flows_status",
        "A step failed, and others gave their output; a failure for the caller.",
    ),
    ("failed", "flows_execute, flows_status", "Nothing ran, or no step gave an output."),
    ("running", "flows_execute, flows_status", "It goes on; flows_status says how far it is."),
    (READY, "flows_execute with dryRun", "Every required value is given, and no step is known to fail."),
    (
        FAILING,
        "flows_execute with dryRun",
        "Every required value is given, and steps would fail; `failures` lists them.",
    ),
    (MISSING, "flows_execute with dryRun", "Required values are missing; `missing` lists them."),
];
/// The status of a rehearsal that lacks nothing.
const READY: &str = "ready";
/// The status of a rehearsal in which steps fail.
const FAILING: &str = "would_fail";
/// The status of a rehearsal that lacks values.
const MISSING: &str = "missing_variables";

/// How an execution stands, and whether that is a failure for whoever asked.
///
/// The reply is cut to `max_tokens` (20,000; failures to 10,000 characters) unless that is said.
pub fn outcome(outcome: &Outcome, detail: Detail, max_tokens: Option<usize>) -> (Value, bool) {
    match outcome {
        Outcome::Running(pending) => (running(pending), false),
        Outcome::Finished { flow, finished: Finished::Refused(error), .. } => {
            (refusal(error, Some(flow), SOURCE), true)
        }
        Outcome::Finished { id, flow, finished: Finished::Ran(recorded), .. } => {
            let whole = execution(id, flow, recorded, detail);
            let failed = recorded.executed.run.status() != Status::Success;
            let limit = match (failed, max_tokens) {
                (true, None) => Limit::characters(FAILURE_CHARACTERS),
                (_, most) => Limit::tokens(most.unwrap_or(MAX_TOKENS)),
            };
            (fit(whole, &limit, &rest_of_execution(id)), failed)
        }
    }
}

/// An execution that ended, whole: the success shape, or the failure shape when a step failed.
pub fn execution(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> Value {
    let run = &recorded.executed.run;
    if run.status() == Status::Success {
        success(id, flow, recorded, detail)
    } else {
        failure(id, flow, recorded, detail)
    }
}

fn success(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> Value {
    let run = &recorded.executed.run;
    let mut object = Map::new();
    object.insert("flowName".to_owned(), json!(flow));
    object.insert("executionId".to_owned(), json!(id));
    object.insert("status".to_owned(), json!(run.status().word()));
    if detail != Detail::Full {
        object.insert("detail".to_owned(), json!(detail.word()));
    }
    results(&mut object, run);
    if detail != Detail::Final {
        object.insert("intermediateResults".to_owned(), steps(run, detail));
    }
    tail(&mut object, recorded);
    Value::Object(object)
}

fn tail(object: &mut Map<String, Value>, recorded: &Recorded) {
    let run = &recorded.executed.run;
    object.insert("totalExecutionTimeMs".to_owned(), json!(millis(recorded.executed.took)));
    object.insert(
        "counts".to_owned(),
        json!({"steps": run.counts().done, "toolCalls": recorded.executed.calls, "retries": recorded.executed.retries}),
    );
    object.insert("ref".to_owned(), json!(recorded.origin.git_ref));
    object.insert("commit".to_owned(), json!(recorded.origin.commit));
    object.insert("mappings".to_owned(), mappings(run));
    object.insert("omitted".to_owned(), omitted(run));
    object.insert("warnings".to_owned(), warnings(&recorded.executed.warnings, &recorded.findings, &recorded.origin));
    if asks_for_a_model(run) {
        object.insert("hint".to_owned(), json!(BEGIN_HINT));
    }
}

/// Whether a step says as whom, or in which shape, a model is to answer it.
fn asks_for_a_model(run: &Run) -> bool {
    run.plan().steps().iter().any(|step| match &step.work {
        Work::Render(rendering) => rendering.role.is_some() || rendering.terms.is_some(),
        Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => false,
    })
}

fn failure(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> Value {
    let run = &recorded.executed.run;
    let failures: Vec<(usize, &StepError)> = run.failures().collect();
    let first = failures.first();
    let mut object = Map::new();
    object.insert("code".to_owned(), json!(first.map_or(Code::ExecutionError, |(_, error)| error.code)));
    object.insert("message".to_owned(), json!(message(run, &failures)));
    object.insert("source".to_owned(), json!(SOURCE));
    object.insert("status".to_owned(), json!(run.status().word()));
    object.insert("nextStep".to_owned(), json!(next_step(run, first.copied())));
    object.insert("failedAt".to_owned(), first.map_or(Value::Null, |(step, error)| failed(run, *step, error)));
    object.insert("failures".to_owned(), failures.iter().map(|(step, error)| failed(run, *step, error)).collect());
    object.insert("skipped".to_owned(), skipped(run));
    object.insert("flowName".to_owned(), json!(flow));
    object.insert("executionId".to_owned(), json!(id));
    results(&mut object, run);
    if let Some(details) = first.and_then(|(step, _)| details_of(run, *step)) {
        object.insert("details".to_owned(), details);
    }
    // What finished is never lost, however little was asked for.
    object.insert("partialResults".to_owned(), steps(run, detail));
    tail(&mut object, recorded);
    Value::Object(object)
}

fn message(run: &Run, failures: &[(usize, &StepError)]) -> String {
    let Some((step, error)) = failures.first() else { return "nothing could be executed".to_owned() };
    let id = run.plan().step(*step).map_or("", |step| step.id.as_str());
    let counts = run.counts();
    let more = match failures.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" ({} failed)", counted(more, "more step", "more steps")),
    };
    format!(
        "step {} failed: {}{more}; {} of {} finished",
        crate::names::quoted(id),
        error.message,
        counts.done,
        counted(counts.steps, "step", "steps")
    )
}

/// What helps against the first failure.
fn next_step(run: &Run, first: Option<(usize, &StepError)>) -> String {
    let work = first.and_then(|(step, _)| run.plan().step(step)).map(|step| &step.work);
    let step: Cow<'_, str> = match first.map_or(Code::ExecutionError, |(_, error)| error.code) {
        Code::TemplateNotFound => {
            "add the template to templates/, or mend `selectedTemplateId` in the flow; flows_show lists what each step reads"
                .into()
        }
        Code::FlowNotFound => "name a flow of this catalog in `data.flow` of the node; flows_list shows the names".into(),
        Code::LimitExceeded => {
            format!("{}; what had finished is in partialResults", over_limit(work, first.map(|(_, error)| error))).into()
        }
        Code::Timeout | Code::GithubError | Code::NetworkError | Code::RateLimited => {
            "call flows_execute again in a minute; what had finished is in partialResults".into()
        }
        Code::ToolNotFound => {
            let of_alias = alias(work).map(|alias| format!(" and `flowy servers tools {alias}` its tools"));
            format!(
                "mend `data.call` of the node: `flowy servers list` shows the servers{}; they are the operator's to \
                 configure, in the servers file (--servers FILE)",
                of_alias.unwrap_or_default()
            )
            .into()
        }
        Code::ToolNotAllowed => {
            let alias = alias(work).unwrap_or_else(|| "ALIAS".to_owned());
            format!(
                "the operator says which tools flows may call, in `allow` of the servers file (--servers FILE); `flowy \
                 servers tools {alias}` shows them"
            )
            .into()
        }
        Code::ToolUnavailable | Code::ToolError => {
            "mend what the message names, or call flows_execute again in a minute; what had finished is in partialResults"
                .into()
        }
        Code::Cancelled => "call flows_execute again when you want it to finish".into(),
        _ => "flows_show lists what each step reads and what is wrong with it".into(),
    };
    step.into_owned()
}

/// The server that a step calls, as its node names it.
fn alias(work: Option<&Work>) -> Option<String> {
    let server = match work? {
        Work::Call(call) => call.address.server.clone(),
        Work::Faulty { meant: Intent::Call(call), .. } => ToolAddress::read(call).ok()?.server,
        _ => return None,
    };
    // It is to be typed into a shell.
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!server.is_empty() && server.chars().all(plain)).then(|| shown(&server, 100))
}

/// What helps against a limit depends on whose limit it is.
fn over_limit(work: Option<&Work>, error: Option<&StepError>) -> &'static str {
    match work {
        Some(Work::Faulty { meant: Intent::Flow(_), .. }) => {
            "take a flow out of the chain, or split the work: flows go at most 8 deep, and have 10,000 steps in all"
        }
        Some(Work::Faulty { .. }) => "split the flow: its steps name more values than one flow may",
        // What the call itself runs into begins with the tool's address, and is the server's limit.
        Some(Work::Call(call))
            if error.is_some_and(|error| error.message.starts_with(&shown(&call.address.to_string(), 200))) =>
        {
            "ask the tool for less, or let the operator raise `maxResultBytes` of its server in the servers file"
        }
        Some(Work::Call(_)) => "shorten the values, or ask the tool for less",
        _ => "shorten the values or the templates",
    }
}

pub(super) fn failed(run: &Run, number: usize, error: &StepError) -> Value {
    let step = run.plan().step(number);
    json!({
        "nodeId": step.map(|step| step.id.as_str()),
        "templateName": step.and_then(template_name),
        "error": error_of(run, number, error),
    })
}

/// `{code, message, details?}`: of a tool, which it is and where its step stands; of a step that could
/// not be begun, what has to be mended.
fn error_of(run: &Run, step: usize, error: &StepError) -> Value {
    let mut object = Map::new();
    object.insert("code".to_owned(), json!(error.code));
    object.insert("message".to_owned(), json!(error.message));
    if let Some(details) = details_of(run, step) {
        object.insert("details".to_owned(), details);
    }
    Value::Object(object)
}

fn details_of(run: &Run, number: usize) -> Option<Value> {
    let mended = || match &run.plan().step(number)?.work {
        Work::Faulty { code, mending, .. } if !mending.files.is_empty() => Some(super::flow::mended(*code, mending)),
        _ => None,
    };
    tool_of(run, number).or_else(mended)
}

/// `{tool, nodeId, step, of}` of a step that calls a tool.
fn tool_of(run: &Run, number: usize) -> Option<Value> {
    let step = run.plan().step(number)?;
    let tool = match &step.work {
        Work::Call(call) => call.address.to_string(),
        Work::Faulty { meant: Intent::Call(call), .. } => shown(call, 200),
        _ => return None,
    };
    let (place, of) = run.place_of(number);
    Some(json!({"tool": tool, "nodeId": step.id, "step": place, "of": of}))
}

pub(super) fn skipped(run: &Run) -> Value {
    let id = |step: usize| run.plan().step(step).map(|step| step.id.as_str());
    let steps = (0..run.plan().steps().len()).filter_map(|step| match run.state(step) {
        Some(State::Skipped { because }) => Some(json!({"nodeId": id(step), "because": id(*because)})),
        _ => None,
    });
    steps.collect()
}

/// Nothing ran: the failure shape with nothing in it.
pub fn refusal(error: &Error, flow: Option<&str>, source: &str) -> Value {
    let Value::Object(plain) = super::error(error, source) else { return Value::Null };
    let mut object = Map::new();
    for key in ["code", "message", "source"] {
        if let Some(value) = plain.get(key) {
            object.insert(key.to_owned(), value.clone());
        }
    }
    object.insert("status".to_owned(), json!("failed"));
    if let Some(step) = plain.get("nextStep") {
        object.insert("nextStep".to_owned(), step.clone());
    }
    object.insert("failedAt".to_owned(), Value::Null);
    object.insert("failures".to_owned(), json!([]));
    object.insert("skipped".to_owned(), json!([]));
    object.insert("flowName".to_owned(), json!(flow));
    object.insert("finalResult".to_owned(), Value::Null);
    if let Some(details) = plain.get("details") {
        object.insert("details".to_owned(), details.clone());
    }
    object.insert("partialResults".to_owned(), json!([]));
    Value::Object(object)
}

/// What would run: texts, order, what is missing, and how long the texts are.
pub fn rehearsal(rehearsal: &Rehearsal, max_tokens: Option<usize>) -> Value {
    let run = &rehearsal.executed.run;
    let mut object = Map::new();
    object.insert("flowName".to_owned(), json!(rehearsal.flow));
    object.insert("dryRun".to_owned(), json!(true));
    let status = match (rehearsal.missing.is_empty(), run.failures().next()) {
        (false, _) => MISSING,
        (true, Some(_)) => FAILING,
        (true, None) => READY,
    };
    object.insert("status".to_owned(), json!(status));
    let missing = rehearsal.missing.iter().map(|(name, steps)| json!({"name": name, "neededBy": steps}));
    object.insert("missing".to_owned(), missing.collect());
    results(&mut object, run);
    object.insert("intermediateResults".to_owned(), prompts(run));
    object.insert("skipped".to_owned(), skipped(run));
    object.insert("failures".to_owned(), run.failures().map(|(step, error)| failed(run, step, error)).collect());
    object.insert("ref".to_owned(), json!(rehearsal.origin.git_ref));
    object.insert("commit".to_owned(), json!(rehearsal.origin.commit));
    object.insert("mappings".to_owned(), mappings(run));
    object.insert("omitted".to_owned(), omitted(run));
    let noted: Vec<Warning> = rehearsal.executed.warnings.clone();
    object.insert("warnings".to_owned(), warnings(&noted, &rehearsal.findings, &rehearsal.origin));
    let limit = Limit::tokens(max_tokens.unwrap_or(MAX_TOKENS));
    fit(Value::Object(object), &limit, "texts were cut to fit; a larger maxTokens shows more of them")
}

/// Each step's rendered text with its length, without the times of a real execution.
fn prompts(run: &Run) -> Value {
    let shown = run.plan().steps().iter().enumerate().filter_map(|(number, step)| {
        let output = run.output_of(number)?;
        if matches!(step.work, Work::Gather(_)) {
            return None;
        }
        let mut object = Map::new();
        object.insert("nodeId".to_owned(), json!(step.id));
        object.insert("templateName".to_owned(), json!(template_name(step)));
        object.insert("label".to_owned(), json!(step.label));
        object.insert("kind".to_owned(), json!(step.work.word()));
        object.insert("wave".to_owned(), json!(step.wave));
        object.insert("inputVariables".to_owned(), variables(run, number));
        if let Work::Call(call) = &step.work {
            // Nothing is called, so there is no output: what would be sent is shown instead.
            object.insert("call".to_owned(), json!(call.address.to_string()));
            object.insert("args".to_owned(), run.arguments(number, call).map_or(Value::Null, Value::Object));
            return Some(Value::Object(object));
        }
        object.insert("output".to_owned(), text(output));
        object.insert("estimatedTokens".to_owned(), json!(tokens::estimate(&output.text)));
        Some(Value::Object(object))
    });
    shown.collect()
}

/// Where an execution stands, in the words that direct and guided ones share.
pub(super) fn status(outcome: &Outcome, include: &[Section]) -> Value {
    let mut object = Map::new();
    match outcome {
        Outcome::Running(pending) => return running(pending),
        Outcome::Finished { id, flow, begun, finished } => {
            object.insert("executionId".to_owned(), json!(id));
            object.insert("flowName".to_owned(), json!(flow));
            object.insert("startedAt".to_owned(), json!(began(*begun)));
            object.insert("state".to_owned(), json!(state_of(outcome)));
            match finished {
                Finished::Refused(error) => {
                    object.insert("error".to_owned(), super::error(error, SOURCE));
                }
                Finished::Ran(recorded) => {
                    let run = &recorded.executed.run;
                    object.insert("status".to_owned(), json!(run.status().word()));
                    let counts = run.counts();
                    object.insert("progress".to_owned(), json!(percent(counts.done, counts.steps)));
                    object.insert("stepsDone".to_owned(), json!(counts.done));
                    object.insert("stepsTotal".to_owned(), json!(counts.steps));
                    let ids = |wanted: fn(&State) -> bool| -> Value {
                        let steps = run
                            .plan()
                            .steps()
                            .iter()
                            .enumerate()
                            .filter(|(step, _)| run.state(*step).is_some_and(wanted));
                        steps.map(|(_, step)| json!(step.id)).collect()
                    };
                    object.insert("completedSteps".to_owned(), ids(|state| matches!(state, State::Done { .. })));
                    if run.status() != Status::Success {
                        object.insert(
                            "failures".to_owned(),
                            run.failures().map(|(step, error)| failed(run, step, error)).collect(),
                        );
                        object.insert("skipped".to_owned(), skipped(run));
                    }
                    if include.contains(&Section::Steps) {
                        results(&mut object, run);
                        object.insert("steps".to_owned(), steps(run, Detail::Full));
                        object.insert("totalExecutionTimeMs".to_owned(), json!(millis(recorded.executed.took)));
                        return fit(Value::Object(object), &Limit::tokens(MAX_TOKENS), &rest_of_execution(id));
                    }
                }
            }
        }
    }
    Value::Object(object)
}

/// How much of the work is done; nothing is done of an execution whose steps are not known yet.
fn percent(done: usize, steps: usize) -> String {
    format!("{}%", done.saturating_mul(100).checked_div(steps).unwrap_or(0))
}

fn began(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn running(pending: &Pending) -> Value {
    let (ended, steps) = (pending.progress.as_ref().map_or(0, |progress| progress.ended), pending.steps);
    json!({
        "flowName": pending.flow,
        "executionId": pending.id,
        "status": "running",
        "state": "running",
        "startedAt": began(pending.begun),
        "progress": percent(ended, steps),
        "stepsDone": ended,
        "stepsTotal": steps,
        "keptUntil": pending.kept_until.to_rfc3339_opts(SecondsFormat::Secs, true),
        "nextStep": format!("call flows_status with executionId {}", pending.id),
    })
}

pub(super) fn results(object: &mut Map<String, Value>, run: &Run) {
    object.insert("finalResult".to_owned(), run.final_output().map_or(Value::Null, text));
    let results = run.results();
    if !results.is_empty() {
        let results: Map<String, Value> =
            results.into_iter().map(|(label, output)| (label.to_owned(), output.map_or(Value::Null, text))).collect();
        object.insert("results".to_owned(), Value::Object(results));
    }
}

pub(super) fn text(output: &Output) -> Value {
    match &output.value {
        Some(value) if !output.of_tool => Value::clone(value),
        _ => json!(&*output.text),
    }
}

/// What a tool gave besides its text: `{files?, json?, structuredContent?, links?, error?}`.
pub(super) fn given_by_tool(output: &Output) -> Option<Value> {
    let Value::Object(mut value) = Value::clone(output.value.as_deref().filter(|_| output.of_tool)?) else {
        return None;
    };
    value.remove("text");
    if value.get("json").is_some() && value.get("json") == value.get("structuredContent") {
        value.remove("json");
    }
    (!value.is_empty()).then_some(Value::Object(value))
}

/// The steps that were left out although nothing failed, with the first of them and why.
pub(super) fn omitted(run: &Run) -> Value {
    let id = |step: usize| run.plan().step(step).map(|step| step.id.as_str());
    let steps = (0..run.plan().steps().len()).filter_map(|step| match run.state(step)? {
        State::Omitted { because, why } if *because == step => Some(json!({"nodeId": id(step), "because": &**why})),
        State::Omitted { because, .. } => {
            Some(json!({"nodeId": id(step), "because": format!("it reads the output of {}, which was left out", id(*because)?)}))
        }
        _ => None,
    });
    steps.collect()
}

/// Whether a step is shown by the flow within the flow to which it belongs, which is done.
fn within_what_is_done(run: &Run, step: &Step) -> bool {
    let mut within = step.within;
    while let Some(gather) = within {
        if matches!(run.state(gather), Some(State::Done { .. })) {
            return true;
        }
        within = run.plan().step(gather).and_then(|step| step.within);
    }
    false
}

fn steps(run: &Run, detail: Detail) -> Value {
    let shown = run.plan().steps().iter().enumerate().filter_map(|(number, step)| match run.state(number) {
        _ if within_what_is_done(run, step) => None,
        Some(State::Done { output, timing }) => Some(self::step(run, number, step, output, *timing, detail)),
        _ => None,
    });
    shown.collect()
}

fn step(run: &Run, number: usize, step: &Step, output: &Output, timing: Timing, detail: Detail) -> Value {
    let mut object = Map::new();
    object.insert("nodeId".to_owned(), json!(step.id));
    object.insert("templateName".to_owned(), json!(template_name(step)));
    object.insert("label".to_owned(), json!(step.label));
    object.insert("kind".to_owned(), json!(step.work.word()));
    if detail == Detail::Full {
        object.insert("inputVariables".to_owned(), variables(run, number));
    }
    object.insert("output".to_owned(), text(output));
    if let Some(result) = given_by_tool(output) {
        object.insert("result".to_owned(), result);
    }
    object.insert("executionTimeMs".to_owned(), json!(millis(timing.took)));
    object.insert("timestamp".to_owned(), json!(timing.at.to_rfc3339_opts(SecondsFormat::Millis, true)));
    Value::Object(object)
}

/// What a step is made from: a template, a tool, another flow.
fn template_name(step: &Step) -> Option<Cow<'_, str>> {
    match &step.work {
        Work::Render(rendering) => Some(Cow::Borrowed(&rendering.template_name)),
        Work::Call(call) => Some(Cow::Owned(shown(&call.address.to_string(), 200))),
        Work::Flow(linked) => Some(Cow::Borrowed(linked.plan.flow().name.as_str())),
        Work::Gather(gather) => Some(Cow::Borrowed(&gather.flow)),
        Work::Faulty { meant: Intent::Call(name) | Intent::Flow(name), .. } => Some(Cow::Owned(shown(name, 200))),
        Work::Faulty { meant: Intent::Text, .. } => None,
    }
}

/// What a step's text was filled with.
fn variables(run: &Run, step: usize) -> Value {
    let filled = run.slots(step).into_iter().filter_map(|(slot, with)| {
        let value = match with {
            FilledWith::Value(value) => value.into_owned(),
            FilledWith::Text(text) => json!(text),
            FilledWith::Output(output) => text(output),
            FilledWith::Empty => json!(""),
            FilledWith::Left | FilledWith::Pending | FilledWith::Absent(_) => return None,
        };
        Some((slot.name.clone(), value))
    });
    Value::Object(filled.collect())
}

fn mappings(run: &Run) -> Value {
    let id = |step: usize| run.plan().step(step).map(|step| step.id.as_str());
    run.mappings()
        .into_iter()
        .map(|(step, variable, from, by)| json!({"nodeId": id(step), "variable": variable, "from": from, "by": by}))
        .collect()
}

/// What the caller should know: of the values given, of auto-mapping, of the file.
pub(super) fn warnings(noted: &[Warning], findings: &[Finding], origin: &Origin) -> Value {
    let mut all: Vec<Value> = of_origin(origin).into_iter().collect();
    if let Some(reason) = &origin.stale {
        let message = format!("an older copy was used ({} s old): {reason}", origin.age_seconds);
        all.push(warning(WarningCode::Stale, &message));
    }
    for value in noted.iter().map(of_run) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Warning) {
        if let Some(code) = finding.warning {
            all.push(about(code, &finding.message, finding.node.as_deref()));
        }
    }
    Value::Array(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::grouped;
    use crate::plan::Mending;
    use crate::validate::{MAX_DEPTH, MAX_STEPS};

    #[test]
    fn the_limit_of_flows_within_flows_is_told_as_it_is() {
        let work = Work::Faulty {
            code: Code::LimitExceeded,
            message: String::new(),
            meant: Intent::Flow("N2".to_owned()),
            mending: Mending::default(),
        };
        let told = over_limit(Some(&work), None);
        assert!(told.contains(&format!("at most {MAX_DEPTH} deep")), "{told}");
        assert!(told.contains(&format!("{} steps in all", grouped(MAX_STEPS))), "{told}");
    }
}
