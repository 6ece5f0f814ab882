//! What is said of an execution in which steps failed, and what helps.

use chrono::SecondsFormat;

use crate::app::{Recorded, Rest};
use crate::code::Code;
use crate::execute::Executed;
use crate::model::ToolAddress;
use crate::names::{counted, quoted, shown};
use crate::next_step::{NextStep, Word};
use crate::plan::{Intent, Work};
use crate::run::{CallTrouble, Run, Status, StepError};

/// What happened, in a sentence.
pub(super) fn message(run: &Run, failures: &[(usize, &StepError)]) -> String {
    let Some((step, error)) = failures.first() else { return "nothing could be executed".to_owned() };
    let id = run.plan().step(*step).map_or("", |step| step.id.as_str());
    let counts = run.counts();
    let own = failures.iter().filter(|(step, _)| run.plan().step(*step).is_some_and(|step| step.within.is_none()));
    let more = match own.count().saturating_sub(1) {
        0 => String::new(),
        more => format!(" ({} failed)", counted(more, "more step", "more steps")),
    };
    format!(
        "step {} failed: {}{more}; {} of {} finished",
        quoted(id),
        error.message,
        counts.done,
        counted(counts.steps, "step", "steps")
    )
}

/// What helps where the execution was interrupted, or did not end by this call.
fn of_rest((id, flow): (&str, &str), rest: &Rest) -> Option<NextStep> {
    let anew = |fact: &str| NextStep::from(fact) + ", begin again with " + Word::ExecuteFlow(flow);
    Some(match rest {
        Rest::Ended => return None,
        Rest::EndedBefore => anew("the execution had already ended, and nothing was tried now; when the cause is gone"),
        Rest::CalledOff(why) => anew(&format!("{why}, and not by this call; if you still need it")),
        Rest::Interrupted(until) => {
            let when = until.map_or_else(String::new, |until| {
                let until = until.to_rfc3339_opts(SecondsFormat::Secs, true);
                format!("after {until}, or when the operator has changed what stopped it, ")
            });
            NextStep::from(format!("the execution was interrupted, and what finished is stored: {when}"))
                + NextStep::either(
                    format!("flows_resume with executionId {id} goes on where it stopped (flowy run --resume {id})"),
                    format!("`flowy run --resume {id}` goes on where it stopped"),
                )
        }
    })
}

/// What comes next after an execution that has ended.
pub(super) fn after_end(id: &str, flow: &str, recorded: &Recorded) -> NextStep {
    let run = &recorded.executed.run;
    if run.status() == Status::Success {
        return after_success(flow, &recorded.executed).into();
    }
    if let Some(rest) = of_rest((id, flow), &recorded.rest) {
        return rest;
    }
    next_step(run, run.failures().next().map(|(step, error)| (run.cause_of(step), error)))
}

/// What helps against the first failure.
fn next_step(run: &Run, first: Option<(usize, &StepError)>) -> NextStep {
    let work = first.and_then(|(step, _)| run.plan().step(step)).map(|step| &step.work);
    if let (Some((step, _)), Some(Work::Gather(gather))) = (first, work)
        && run.cause_of(step) == step
    {
        let refused = first.is_some_and(|(_, error)| error.code != Code::ExecutionError);
        let flow = quoted(&gather.flow);
        let give = if refused {
            format!("flow {flow} refuses what the step hands it: give another value where that comes from")
        } else {
            format!("give a value that holds what the step hands on to flow {flow}")
        };
        return format!("{give}, or fix `variables` of the node").into();
    }
    let call = first.and_then(|(_, error)| error.call);
    if call == Some(CallTrouble::InDoubt) {
        let look = "look at the tool's own side whether the call did its work, before ";
        return look + Word::Execute + " makes it again; " + FINISHED;
    }
    match first.map_or(Code::ExecutionError, |(_, error)| error.code) {
        Code::TemplateNotFound => {
            "add the template to templates/, or fix the name in the step (`selectedTemplateId`; in Markdown `template`); "
                + Word::Show
                + " lists what each step reads"
        }
        Code::FlowNotFound => "name a flow of this catalog in `flow` of the step; " + Word::List + " shows the names",
        Code::LimitExceeded => finished(over_limit(work, first.map(|(_, error)| error))),
        Code::Timeout | Code::GithubError | Code::NetworkError | Code::RateLimited => again("", " in a minute"),
        Code::ToolNotFound => {
            let of_alias =
                alias(work).map(|alias| format!(" and `flowy servers tools {alias}` asks for its tools anew"));
            format!(
                "fix `call` of the step: `flowy servers list` shows the servers{}; they are the operator's to \
                 configure, in the servers file (--servers FILE)",
                of_alias.unwrap_or_default()
            )
            .into()
        }
        Code::ToolNotAllowed if call == Some(CallTrouble::NeedsWord) => {
            let set =
                "the operator sets `fromModels: true` for the server in the servers file (--servers FILE); under ";
            set + Word::Begin + " a person may agree to the call"
        }
        Code::ToolNotAllowed => {
            let alias = alias(work).unwrap_or_else(|| "ALIAS".to_owned());
            format!(
                "the operator says which tools flows may call, in `allow` of the servers file (--servers FILE); `flowy \
                 servers tools {alias}` shows them"
            )
            .into()
        }
        Code::ToolUnavailable | Code::ToolError => again("fix what the message names, or ", " in a minute"),
        Code::ModelNotFound
        | Code::ModelUnauthorized
        | Code::ModelRateLimited
        | Code::ModelOverloaded
        | Code::ModelNoQuota
        | Code::ModelError
        | Code::ContextTooLong
        | Code::ContentFiltered
        | Code::BudgetExceeded
        | Code::ContractViolation => of_model(first),
        Code::Cancelled => AGAIN + " when you want it to finish",
        Code::InvalidRequest
        | Code::InvalidCursor
        | Code::AmbiguousName
        | Code::RefNotFound
        | Code::RepoNotFound
        | Code::ParseError
        | Code::ValidationError
        | Code::CircularDependency
        | Code::FileTooLarge
        | Code::MissingVariables
        | Code::ExecutionError
        | Code::Unauthorized
        | Code::Forbidden
        | Code::ExecutionNotFound
        | Code::InvalidStepToken
        | Code::StepAlreadyCompleted
        | Code::AwaitingHuman
        | Code::EscalationNotFound
        | Code::StoreError
        | Code::InternalError => Word::Show + " lists what each step reads and what is wrong with it",
    }
}

/// Where it stands what had finished.
const FINISHED: Word<'_> = Word::Either("what had finished is in partialResults", "what had finished is shown");
/// To execute once more.
const AGAIN: Word<'_> = Word::Either("call flows_execute again", "run it again");

/// What helps, and that what had finished is not lost.
fn finished(what: &str) -> NextStep {
    NextStep::from(what) + "; " + FINISHED
}

/// That executing once more helps, with what stands before and behind it.
fn again(before: &str, behind: &str) -> NextStep {
    before + AGAIN + behind + "; " + FINISHED
}

/// What helps where a model gave no output.
fn of_model(first: Option<(usize, &StepError)>) -> NextStep {
    match first.map(|(_, error)| error.code) {
        Some(Code::ModelNotFound) => no_model(first.is_some_and(|(_, error)| error.generated.is_some())).into(),
        Some(Code::ModelUnauthorized) => {
            "the operator sets the key where the message says it is, and starts the server again; `flowy models \
                 check NAME` tries it"
                .into()
        }
        Some(Code::ModelRateLimited | Code::ModelOverloaded) => again("", " later, or with another `model`"),
        Some(Code::ModelNoQuota) => {
            finished("the operator tops up the account at the provider, or another `model` answers")
        }
        Some(Code::ContextTooLong) => {
            "shorten the values or the template, lower `maxOutputTokens` of the step, or take a `model` with a larger \
                 context; the operator says how large it is in `context_tokens`"
                .into()
        }
        Some(Code::ContentFiltered) => "word the values or the template otherwise, or take another `model`".into(),
        Some(Code::BudgetExceeded) => finished(
            "the operator raises the budget that the message names; a smaller `maxOutputTokens` of the step needs less",
        ),
        Some(Code::ContractViolation) => {
            AGAIN
                + ", take another `model`, or loosen the step's contract; what the model wrote "
                + Word::Either(
                    "is in failures[].generated.text, and what had finished in partialResults",
                    "and what had finished is shown",
                )
        }
        _ => again(
            "see whether the model's server runs and base_url is right (`flowy models check NAME` tries it), or ",
            "",
        ),
    }
}

/// What helps where there is no such model: at its server, which was asked, or here.
fn no_model(asked: bool) -> &'static str {
    if asked {
        "the operator writes the provider's name for the model in his own flowy.toml, or fetches it where the server is his \
         own (`ollama pull`); `flowy models check NAME` tries it"
    } else {
        "name a model that there is: `flowy models list` shows them; the operator configures them in his own flowy.toml, and \
         the argument `model` OLD=NEW replaces a name"
    }
}

/// The server that a step calls, as its node names it.
fn alias(work: Option<&Work>) -> Option<String> {
    let server = match work? {
        Work::Call(call) => call.address.server.clone(),
        Work::Faulty { meant: Intent::Call(call), .. } => ToolAddress::read(call).ok()?.server,
        Work::Render(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => return None,
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
        Some(Work::Render(_)) if error.is_some_and(|error| error.generated.is_some()) => {
            "let the operator raise `max_output_tokens` of the model, raise `maxOutputTokens` of the step, or keep what is \
             cut off with `onLength: keep`"
        }
        Some(Work::Call(_)) => "shorten the values, or ask the tool for less",
        Some(Work::Render(_) | Work::Flow(_) | Work::Gather(_)) | None => "shorten the values or the templates",
    }
}

/// What is said of an execution in which no step failed: what its final result is, and what to do with it.
fn after_success(flow: &str, executed: &Executed) -> String {
    let run = &executed.run;
    let unfilled = executed.unfilled().count();
    if unfilled > 0 {
        return made_for_guided(flow, unfilled);
    }
    let texts = run.plan().steps().iter().filter(|step| matches!(step.work, Work::Render(_))).count();
    match last_work(run).filter(|_| run.final_output().is_some()) {
        None => "the flow gave no final result: flows_status with include [\"steps\"], or flows_execute with detail full, shows what its \
                 steps gave"
            .to_owned(),
        Some(Work::Call(call)) => {
            let tool = shown(&call.address.to_string(), 200);
            format!("finalResult is what the tool {tool} gave: use it for your user")
        }
        Some(_) if run.final_output().is_some_and(|output| output.generated.is_some()) => {
            "finalResult is a model's answer: use it for your user".to_owned()
        }
        Some(_) if !run.generated().is_empty() => "finalResult is a finished prompt, filled in with what models answered: answer it now".to_owned(),
        Some(_) if asks_for_a_model(run) || texts > 1 => format!(
            "finalResult is a finished prompt, filled in without a model: answer it now; for real answers between the \
             steps, {}",
            begin(flow)
        ),
        Some(_) => "finalResult is a finished prompt, filled in without a model: answer it now".to_owned(),
    }
}

/// What helps where placeholders ask for fields of answers that no model gave.
pub(super) fn made_for_guided(flow: &str, unfilled: usize) -> String {
    let placeholders =
        counted(unfilled, "placeholder asks for a field of an answer", "placeholders ask for fields of answers");
    let begin = begin(flow);
    format!("this flow is made for guided execution: {placeholders}, and no model gave one; {begin}, and fills them in")
}

fn begin(flow: &str) -> String {
    format!("flows_begin with flowName {} hands you one step after the other", quoted(flow))
}

/// What gave the final result, also where that is a step of a flow within.
fn last_work(run: &Run) -> Option<&Work> {
    let mut step = run.plan().last()?;
    loop {
        match &run.plan().step(step)?.work {
            Work::Gather(gather) => step = gather.last,
            work @ (Work::Render(_) | Work::Call(_) | Work::Flow(_) | Work::Faulty { .. }) => return Some(work),
        }
    }
}

/// Whether a step says as whom, or in which shape, a model is to answer it.
fn asks_for_a_model(run: &Run) -> bool {
    run.plan().steps().iter().any(|step| match &step.work {
        Work::Render(rendering) => rendering.role.is_some() || rendering.terms.is_some(),
        Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => false,
    })
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
