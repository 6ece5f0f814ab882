//! What comes next in a guided execution, in words.

use super::called;
use crate::guide::NoAnswer;
use crate::names::quoted;
use crate::run::{EscalationId, Guided, GuidedState, State};

/// What is said where the flow gave its final result.
const DONE: &str = "the flow is done: give your user finalResult";

/// What to tell the person.
pub(super) fn question(reason: &str, questions: &[String], no_answer: NoAnswer) -> String {
    let listed: Vec<String> =
        questions.iter().enumerate().map(|(n, question)| format!("{}. {question}", n + 1)).collect();
    let what = match no_answer {
        NoAnswer::None => "Ask your user now, and wait for the answer; don't answer in their place.",
        NoAnswer::Declined => {
            "Your user was shown these questions in a form, and declined to answer. Don't answer in their place."
        }
        NoAnswer::Closed => {
            "Your user was shown these questions in a form, and closed it without an answer. Don't answer in their place."
        }
    };
    format!("{what} Why: {reason} {}", listed.join(" "))
}

/// How the answers come back.
pub(super) fn bring_answers(guided: &Guided, id: &str) -> String {
    format!(
        "ask your user the questions, then call flows_resume with executionId {}, escalationId {id} and answers",
        guided.beginning().id
    )
}

/// How an execution that has ended is done over.
fn begin_anew(guided: &Guided) -> String {
    let flow = quoted(guided.beginning().plan.name());
    format!("It has ended and can't go on: when the cause is gone, flows_begin with flowName {flow} begins anew.")
}

/// Why there is no final result, and what to tell the person.
fn why_nothing(guided: &Guided) -> String {
    let run = guided.run();
    let id = |step: usize| quoted(run.plan().step(step).map_or("", |step| step.id.as_str()));
    match run.plan().last().and_then(|last| Some((last, run.state(last)?))) {
        Some((last, State::Omitted { because, .. })) if *because == last => {
            format!("step {}, which gives it, was left out; tell your user why, as omitted says", id(last))
        }
        Some((last, State::Omitted { because, .. })) => format!(
            "step {}, which gives it, reads step {}, which was left out; tell your user why, as omitted says",
            id(last),
            id(*because)
        ),
        _ => "the step that gives it failed, or waits for one that did; tell your user what failures says".to_owned(),
    }
}

/// The call that comes next where the server does the steps.
fn after_direct(guided: &Guided) -> String {
    let id = &guided.beginning().id;
    match guided.state() {
        GuidedState::Running => {
            format!("the server does the steps; call flows_status with executionId {id} in a moment")
        }
        GuidedState::Waiting => format!(
            "the server waits for a model's limit and goes on by itself at resumesAt; call flows_status with executionId \
             {id} then"
        ),
        GuidedState::Interrupted if guided.resumes_at().is_some() => format!(
            "call flows_resume with executionId {id} after resumesAt, or when the operator has changed what stopped it: \
             the server goes on where it stopped, and what is done is not done again"
        ),
        GuidedState::Interrupted | GuidedState::AwaitingHuman => format!(
            "call flows_resume with executionId {id}: the server goes on where it stopped, and what is done is not done \
             again"
        ),
        GuidedState::Completed if guided.run().final_output().is_some() => DONE.to_owned(),
        GuidedState::Completed => {
            format!(
                "the flow gave no final result; flows_status with executionId {id} and include [\"steps\"] shows what was done"
            )
        }
        GuidedState::Partial | GuidedState::Failed => format!(
            "tell your user what failures says. It has ended and can't go on: when the cause is gone, flows_execute with \
             flowName {} begins anew",
            quoted(guided.beginning().plan.name())
        ),
        GuidedState::Cancelled => cancelled(guided),
    }
}

fn cancelled(guided: &Guided) -> String {
    let id = &guided.beginning().id;
    format!("it was cancelled; flows_status with executionId {id} and include [\"steps\"] shows what was done")
}

/// The call that comes next.
pub(super) fn next_step(guided: &Guided) -> String {
    let id = &guided.beginning().id;
    if guided.is_direct() && guided.asked().is_none() {
        return after_direct(guided);
    }
    if let Some(at_work) = guided.tool_at_work() {
        let call = called(guided, at_work.step);
        let asks_word = |id: &EscalationId| guided.escalations().iter().any(|one| one.id == *id && one.needs_word());
        return match &at_work.asks {
            Some(asks) if asks_word(asks) => format!(
                "show your user the arguments and {} {{\"decision\": \"call\"}}, {{\"decision\": \"fail\"}} or \
                 {{\"result\": …}}, which takes the place of the call",
                bring_answers(guided, asks.as_str())
            ),
            Some(asks) => format!(
                "{} {{\"decision\": \"repeat\"}}, {{\"decision\": \"fail\"}} or {{\"result\": …}}, which is what the call gave",
                bring_answers(guided, asks.as_str())
            ),
            None => {
                let when = if at_work.waits.is_some() { "at resumesAt" } else { "in a moment" };
                format!(
                    "the server waits for {call}; call flows_status with executionId {id} {when}: it shows the next step \
                     with its stepToken"
                )
            }
        };
    }
    match (guided.state(), guided.handed()) {
        (_, Some(handed)) => match &handed.asks {
            Some(asks) => bring_answers(guided, asks.as_str()),
            None => {
                let more = guided.run().ready().count();
                let choice = if more > 0 { "; `next` chooses among ready" } else { "" };
                let limit = guided.rendering(handed.step).map_or(u32::MAX, |rendering| rendering.max_attempts);
                let stuck = if handed.breaches >= limit {
                    "this step was refused as often as it may be: ask a person with flows_escalate, or "
                } else {
                    ""
                };
                format!(
                    "{stuck}do this step, then call flows_complete_step with executionId {id}, this stepToken and output{choice}; \
                     flows_escalate when a person must decide"
                )
            }
        },
        (GuidedState::Completed, _) if guided.run().final_output().is_some() => DONE.to_owned(),
        (GuidedState::Completed | GuidedState::Failed, _) if guided.run().counts().done > 0 => format!(
            "the flow ended without a final result: {}. {} flows_status with executionId {id} and include [\"steps\"] \
             shows what was done",
            why_nothing(guided),
            begin_anew(guided)
        ),
        (GuidedState::Cancelled, _) => cancelled(guided),
        (
            GuidedState::Running
            | GuidedState::Waiting
            | GuidedState::Interrupted
            | GuidedState::AwaitingHuman
            | GuidedState::Completed
            | GuidedState::Partial
            | GuidedState::Failed,
            _,
        ) => {
            format!(
                "nothing came of it: {}. {} flows_status with executionId {id} and include [\"steps\"] shows all",
                why_nothing(guided),
                begin_anew(guided)
            )
        }
    }
}
