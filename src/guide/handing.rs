//! Which step comes next, and how an output is taken in.

use serde_json::Value;

use super::models::Server;
use crate::clock::{Clock, error_id};
use crate::code::Code;
use crate::model::{Breach, Contract, text_or_json};
use crate::names::quoted;
use crate::plan::Work;
use crate::run::{Guided, Moment, StepError, Ticket, read_output};

/// How deep an output's lists and objects may lie in each other; JSON readers stop at 128.
const DEEPEST: usize = 100;

/// The moments that hand out the next step: the one wanted, else the first in the file. What calls a
/// tool, or is answered by a model of the operator's, goes first, and is for the server to do; what was wanted is kept for afterwards. A
/// step that can't be rendered breaks, one that lacks what it requires is left out, and another one
/// is looked for.
pub(super) fn hand_out(guided: &Guided, wanted: Option<usize>, server: Server<'_>, clock: &dyn Clock) -> Vec<Moment> {
    let mut run = guided.run().clone();
    let mut moments = Vec::new();
    loop {
        let chosen = wanted.filter(|step| run.ready().any(|ready| ready == *step));
        let ours = |step: &usize| run.plan().step(*step).is_some_and(|step| server.does(step));
        let first = run.ready().find(ours).or(chosen).or_else(|| run.ready().next());
        let Some(step) = first else { return moments };
        let timing = crate::run::Timing { at: guided.updated_at(), took: std::time::Duration::ZERO };
        let start = || {
            let next = chosen.filter(|chosen| *chosen != step);
            Moment::ToolStarted { step, owner: server.owner.to_owned(), next }
        };
        let broken = match run.plan().step(step).map(|step| &step.work) {
            Some(Work::Render(rendering)) => match run.bind(step, rendering) {
                Ok(_) if server.models.answers(rendering) => {
                    moments.push(start());
                    return moments;
                }
                Ok(_) => None,
                Err(error) => Some(error),
            },
            Some(Work::Call(call)) => {
                if let Some(why) = run.left_out(step, call) {
                    run.apply(crate::run::Event::Omitted { step, why: why.clone() });
                    moments.push(Moment::LeftOut { step, why });
                    continue;
                }
                match run.arguments(step, call) {
                    Ok(_) => {
                        moments.push(start());
                        return moments;
                    }
                    Err(error) => Some(error),
                }
            }
            Some(Work::Flow(_) | Work::Gather(_)) => Some(internal(clock, "the step can't be handed out")),
            Some(Work::Faulty { code, message, .. }) => Some(StepError::new(*code, message.clone())),
            None => Some(internal(clock, "the step is not part of the plan")),
        };
        let Some(error) = broken else {
            moments.push(Moment::Opened { step, ticket: fresh_ticket(guided, clock) });
            return moments;
        };
        // What breaks here is only foreseen; the entries say it again, with their time.
        run.apply(crate::run::Event::Failed { step, error: error.clone(), timing });
        moments.push(Moment::Broke { step, error });
    }
}

/// A step that fails by our own fault.
pub(super) fn internal(clock: &dyn Clock, fact: &str) -> StepError {
    let id = error_id(clock);
    tracing::error!(id, "an internal error: {fact}");
    StepError::new(Code::InternalError, format!("{fact} (internal error {id})"))
}

/// A ticket that this execution has not had.
pub(super) fn fresh_ticket(guided: &Guided, clock: &dyn Clock) -> Ticket {
    loop {
        let ticket = Ticket::fresh(clock.fresh(), clock.fresh());
        if guided.fate(&ticket).is_none() {
            return ticket;
        }
    }
}

/// An output as it is kept: a text that holds JSON is that JSON, unless a contract of the step's own wants the
/// text; and where such a contract wants no object, `{"result": X}` is X, because many clients can hand in nothing
/// but objects.
pub(super) fn taken_in(output: Value, terms: &Contract, usual: bool) -> Value {
    if usual {
        return match in_text(&output) {
            Some(object) if object.is_object() => object,
            Some(_) | None => output,
        };
    }
    let meets = |value: &Value| terms.breaches(value).is_empty();
    if meets(&output) {
        return output;
    }
    let read = in_text(&output);
    let shapes = [result_alone(&output), read.as_ref(), read.as_ref().and_then(result_alone)];
    if let Some(fitting) = shapes.into_iter().flatten().find(|value| meets(value)) {
        return fitting.clone();
    }
    // None fits: the breaches are told of what was meant.
    let object = read.filter(Value::is_object).unwrap_or(output);
    match result_alone(&object) {
        Some(result) if !terms.takes_objects() => result.clone(),
        Some(_) | None => object,
    }
}

/// The JSON that a text holds.
fn in_text(output: &Value) -> Option<Value> {
    serde_json::from_str(output.as_str()?).ok()
}

/// What an object holds whose only field is `result`.
fn result_alone(output: &Value) -> Option<&Value> {
    output.as_object().filter(|fields| fields.len() == 1)?.get("result")
}

/// In which ways an output does not meet its contract. Plain text is fine under the usual one; `fields_read`: later steps
/// read fields of its result.
pub(super) fn breaches(output: &Value, terms: &Contract, usual: bool, fields_read: bool) -> Vec<Breach> {
    let breach = |path: &str, message: &str| vec![Breach { path: path.to_owned(), message: message.to_owned() }];
    if deeper_than(output, DEEPEST) {
        return breach("output", "is nested too deeply: 100 levels are allowed");
    }
    if let Some(text) = output.as_str().filter(|_| usual) {
        return if text.trim().is_empty() { breach("output", "is empty") } else { Vec::new() };
    }
    let mut breaches = terms.breaches(output);
    if let Some(fields) = output.as_object().filter(|_| usual)
        && !["result", "summary"].iter().any(|name| fields.contains_key(*name))
    {
        // Either of the two would do.
        breaches.retain(|breach| !matches!(breach.path.as_str(), "output.summary" | "output.result"));
        let message = if fields_read { "is missing" } else { "is missing; `summary` alone would do, too" };
        breaches.splice(..0, breach("output.result", message));
    }
    let nothing = usual && breaches.is_empty() && read_output(output, true).text.trim().is_empty();
    if nothing { breach("output.result", "is empty") } else { breaches }
}

/// In which ways an output lacks what later steps read of it.
pub(super) fn unmet(guided: &Guided, step: usize, output: &Value, usual: bool) -> Vec<Breach> {
    let run = guided.run();
    let base = if usual { "output.result" } else { "output" };
    let terms = guided.terms(step);
    let told = run.unmet(step, &read_output(output, usual)).into_iter().map(|unmet| {
        let reader = run.plan().step(unmet.reader).map_or("", |step| step.id.as_str());
        let message = format!("is missing, and step {} reads it as {{{}}}", quoted(reader), unmet.spelt);
        let path = if usual { unmet.path } else { terms.spelt(&unmet.path) };
        Breach { path: crate::model::spelt_path(base, &path), message }
    });
    told.collect()
}

pub(super) fn deeper_than(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else { return matches!(value, Value::Array(_) | Value::Object(_)) };
    match value {
        Value::Array(items) => items.iter().any(|item| deeper_than(item, left)),
        Value::Object(fields) => fields.values().any(|item| deeper_than(item, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// How many bytes a value takes: a text as it is, anything else as JSON.
pub(super) fn bytes(value: &Value) -> usize {
    text_or_json(value).len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_that_holds_an_object_is_the_object_unless_the_contract_wants_the_text() {
        let usual = Contract::usual();
        let text = json!(r#"{"summary": "s"}"#);
        assert_eq!(taken_in(text.clone(), &usual, true), json!({"summary": "s"}));
        assert_eq!(taken_in(json!("[1]"), &usual, true), json!("[1]"));
        let wants_text = Contract::compile(None, json!({"type": "string"})).unwrap();
        assert_eq!(taken_in(text.clone(), &wants_text, false), text);
    }

    #[test]
    fn what_is_nested_too_deeply_is_a_breach() {
        let mut value = json!(1);
        for _ in 0..100 {
            value = json!([value]);
        }
        let open = Contract::compile(None, json!({})).unwrap();
        assert!(breaches(&value, &open, false, false).is_empty());
        assert_eq!(breaches(&json!([value]), &open, false, false).len(), 1);
    }
}
