//! One step that calls a tool: its pause, its tries, and what its answer is for the run.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::{Map, Value};

use crate::clock::{SystemClock, error_id};
use crate::code::{Code, WarningCode};
use crate::execute::{OnToolProgress, ToolFailure, ToolProgress, Tools, Worked};
use crate::model::{LONGEST_BACKOFF, ToolAnswer, ToolCall, ToolLookup, Toolbox};
use crate::names::{few, quoted, shown, step_address};
use crate::plan::{Call, OutputPart, Source, Step, Work};
use crate::run::{CallTrouble, FilledWith, Output, Run, StepError, Warning};

/// The most of a tool's own words that an error keeps, in characters.
const LONGEST_REPORT: usize = 4_000;
/// What is said of a call that was sent, and may have changed something.
const IN_DOUBT: &str = "nobody knows whether the call did its work";
/// Why a call is not made without a person's word.
pub const NEEDS_WORD: &str =
    "its arguments hold what a model wrote, and its server has no `fromModels: true` in the servers file";

/// What a person said of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanting {
    /// That it may be handed what a model wrote.
    pub permitted: bool,
    /// That it is to be made now.
    pub insists: bool,
}

/// Where a call stands in its execution.
#[derive(Debug, Clone, Copy)]
struct CallStanding<'a> {
    /// The step's number in the plan.
    step: usize,
    /// The step's id.
    id: &'a str,
    /// Which of the steps it is, from 1.
    number: usize,
    /// How many there are.
    of: usize,
    /// How what the step gave is named: `execution://…/<step>`.
    place: &'a str,
    /// Whether its arguments hold what a model wrote.
    generated: bool,
    /// Whether a person wants it to be made now.
    insist: bool,
}

/// Told of each step's number how its call goes.
pub type OnCall = Arc<dyn Fn(usize, ToolProgress) + Send + Sync>;

/// Calls the tool of one step of a run, with all pauses and tries that the node asks for; none where
/// the step calls none. Dropping it cancels the call.
pub async fn call_step(
    run: &Run,
    number: usize,
    tools: &dyn Tools,
    execution: &str,
    (told, wanting): (Option<OnCall>, Wanting),
) -> Option<Worked> {
    let step = run.plan().step(number)?;
    let Work::Call(call) = &step.work else { return None };
    Some(match run.arguments(number, call) {
        Ok(arguments) => make(run, (number, step, call), arguments, tools, (execution, told, wanting)).await,
        Err(error) => Worked { result: Err(error), ..Worked::default() },
    })
}

/// A call with these arguments, ready to be made. Where whoever calls falls over, the step fails.
pub(super) fn make<'a>(
    run: &Run,
    (number, step, call): (usize, &'a Step, &'a Call),
    arguments: Map<String, Value>,
    tools: &'a dyn Tools,
    (execution, told, wanting): (&str, Option<OnCall>, Wanting),
) -> impl Future<Output = Worked> + Send + use<'a> {
    let place = step_address(execution, &step.id);
    let (at, of) = run.place_of(number);
    let (generated, insist) = (!wanting.permitted && run.reads_generated(number), wanting.insists);
    let handed = prompts_handed(run, (step, call), &tools.toolbox());
    async move {
        let standing = CallStanding { step: number, id: &step.id, number: at, of, place: &place, generated, insist };
        let worked = AssertUnwindSafe(work(tools, call, arguments, standing, told)).catch_unwind().await;
        let warned =
            |worked: Worked| Worked { warnings: handed.into_iter().chain(worked.warnings).collect(), ..worked };
        worked.map_or_else(
            |_| {
                let id = error_id(&SystemClock);
                tracing::error!(id, place, "a bug: this call panicked");
                let message = format!("the call was stopped by an internal error, {id}");
                let failure = ToolFailure::unsent(Code::InternalError, message);
                Worked { result: Err(error(&failure, call, standing, Tries::default())), calls: 1, ..Worked::default() }
            },
            warned,
        )
    }
}

/// What would become of a call, as far as that is known without making it.
pub(super) fn rehearse(
    run: &Run,
    (number, step, call): (usize, &Step, &Call),
    arguments: &Map<String, Value>,
    known: Option<&Toolbox>,
) -> Worked {
    let Some(failure) = known.and_then(|known| foreseen(run, (number, call), arguments, known)) else {
        let warnings = known.and_then(|known| prompts_handed(run, (step, call), known)).into_iter().collect();
        return Worked { result: Ok(Output::pending()), warnings, ..Worked::default() };
    };
    let (at, of) = run.place_of(number);
    let standing =
        CallStanding { step: number, id: &step.id, number: at, of, place: "", generated: false, insist: false };
    ended(&failure, call, standing, Tries::default(), Worked::default())
}

/// That a tool which may change something is handed a whole prompt: the text of a step that nobody answered.
fn prompts_handed(run: &Run, (step, call): (&Step, &Call), known: &Toolbox) -> Option<Warning> {
    if !matches!(known.find(&call.address), ToolLookup::Found(tool) if !tool.read_only) {
        return None;
    }
    let asked = |source: &Source| {
        let Source::Step { step: from, part: OutputPart::Result, path, .. } = source else { return None };
        let plan = run.plan().step(*from).filter(|_| path.is_empty())?;
        let Work::Render(rendering) = &plan.work else { return None };
        let output = run.output_of(*from).filter(|output| !output.pending)?;
        (run.bind(*from, rendering).ok()?.text == *output.text).then(|| quoted(&plan.label))
    };
    let whole = call.arguments.holes().iter().zip(&call.slot_of).filter(|(hole, _)| hole.alone && hole.path.is_empty());
    let prompts: Vec<String> = whole.filter_map(|(_, slot)| asked(&call.slots.get(*slot)?.source)).collect();
    (!prompts.is_empty()).then(|| {
        let (address, from) = (shown(&call.address.to_string(), 200), few(prompts));
        let message =
            format!("{address} may change something, and is handed the prompt of step {from}, which nobody answered");
        Warning::of(WarningCode::PromptHanded, &step.id, message)
    })
}

/// Why a call is bound to fail: its tool isn't there or may not be called, or the tool's schema refuses
/// the arguments, whatever the values are that are not there yet.
fn foreseen(
    run: &Run,
    (number, call): (usize, &Call),
    arguments: &Map<String, Value>,
    known: &Toolbox,
) -> Option<ToolFailure> {
    let failure = |code, message: String| Some(ToolFailure::unsent(code, message));
    let tool = match known.find(&call.address) {
        ToolLookup::Found(tool)
            if !tool.read_only && !known.takes_from_models(&call.address) && run.reads_generated(number) =>
        {
            let unsent = ToolFailure::unsent(Code::ToolNotAllowed, NEEDS_WORD.to_owned());
            return Some(ToolFailure { needs_word: true, ..unsent });
        }
        ToolLookup::Found(tool) => tool,
        ToolLookup::NotKnown => return None,
        ToolLookup::NotAllowed => {
            return failure(Code::ToolNotAllowed, "the operator does not allow flows to call it".to_owned());
        }
        ToolLookup::Disabled => {
            return failure(Code::ToolUnavailable, "the operator switched its server off".to_owned());
        }
        ToolLookup::NoServer { .. } => {
            return failure(Code::ToolNotFound, "no external server goes by that name".to_owned());
        }
        ToolLookup::NoTool { .. } => {
            return failure(Code::ToolNotFound, "its server has no tool of that name".to_owned());
        }
    };
    let slots = run.slots(number);
    let with = |hole: usize| call.slot_of.get(hole).and_then(|slot| slots.get(*slot)).map(|(_, with)| with);
    let holes = || call.arguments.holes().iter().enumerate();
    if holes().any(|(number, hole)| hole.default.is_none() && matches!(with(number), Some(FilledWith::Left))) {
        // A value that is missing is told as such.
        return None;
    }
    let pending = holes().filter(|(number, _)| matches!(with(*number), None | Some(FilledWith::Pending)));
    let pending = pending.map(|(_, hole)| hole.at.as_str()).collect();
    let misfits = tool.input.misfits(&Value::Object(arguments.clone()), &pending);
    let told: Vec<String> = misfits.iter().map(|misfit| format!("{} {}", misfit.path, misfit.message)).collect();
    if told.is_empty() { None } else { failure(Code::InvalidRequest, told.join("; ")) }
}

/// Calls the tool as often as the node says, and makes an output of what it answers.
async fn work(
    tools: &dyn Tools,
    call: &Call,
    arguments: Map<String, Value>,
    standing: CallStanding<'_>,
    told: Option<OnCall>,
) -> Worked {
    let mut worked = Worked::default();
    if !call.delay.is_zero() && tools.pauses() {
        tokio::time::sleep(call.delay).await;
    }
    let mut pause = call.backoff;
    let mut tries = Tries::default();
    let failure = loop {
        let request = ToolCall {
            step: standing.id.to_owned(),
            address: call.address.clone(),
            arguments: arguments.clone(),
            timeout: call.timeout,
            generated: standing.generated,
            insist: standing.insist,
        };
        let step = standing.step;
        let progress: Option<OnToolProgress> =
            told.clone().map(|told| -> OnToolProgress { Arc::new(move |progress| told(step, progress)) });
        let called = tools.call(request, progress).await;
        // What is refused before anything is sent is no call.
        worked.calls +=
            u32::from(called.as_ref().map_or_else(|failure| failure.sent > 0 || worth_another_try(failure), |_| true));
        let failure = match called {
            Ok(answer) if !answer.is_error => {
                let warn =
                    |what: &String| Warning::of(WarningCode::LeftOut, standing.id, format!("{}: {what}", call.address));
                worked.warnings.extend(answer.left_out.iter().map(warn));
                worked.result = Ok(Output::answered(answer, standing.place));
                return worked;
            }
            Ok(answer) => reported(answer),
            Err(failure) => failure,
        };
        tries.made += 1;
        tries.sent = tries.sent.saturating_add(failure.sent);
        tries.in_doubt |= failure.in_doubt;
        if worked.retries >= call.retries || !worth_another_try(&failure) {
            break failure;
        }
        worked.retries += 1;
        if tools.pauses() {
            tokio::time::sleep(pause).await;
        }
        pause = pause.saturating_mul(2).min(LONGEST_BACKOFF);
    };
    ended(&failure, call, standing, tries, worked)
}

/// How often a call was tried.
#[derive(Debug, Default, Clone, Copy)]
struct Tries {
    made: u32,
    /// How often the server was sent it.
    sent: u32,
    /// Whether one of them may have changed something.
    in_doubt: bool,
}

impl fmt::Display for Tries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.made, self.sent) {
            (0 | 1, 0 | 1) => Ok(()),
            (made, sent) if sent == 0 || sent >= made => write!(f, ", after {} tries", made.max(sent)),
            (made, sent) => write!(f, ", after {made} tries, of which {sent} reached its server"),
        }
    }
}

/// What becomes of a step whose call failed.
fn ended(failure: &ToolFailure, call: &Call, standing: CallStanding<'_>, tries: Tries, mut worked: Worked) -> Worked {
    let error = error(failure, call, standing, tries);
    worked.needs_word = failure.needs_word;
    worked.result = if call.goes_on {
        let message = format!("{}; the flow goes on, as the node says", error.message);
        worked.warnings.push(Warning::of(WarningCode::WentOn, standing.id, message));
        Ok(Output::of_failure(&error))
    } else {
        worked.in_doubt = tries.in_doubt;
        worked.unreached = tries.sent == 0 && matches!(failure.code, Code::ToolUnavailable | Code::Timeout);
        Err(error)
    };
    worked
}

/// What a tool that reports an error says.
fn reported(answer: ToolAnswer) -> ToolFailure {
    let said = answer.text.or_else(|| answer.structured.map(|value| value.to_string()));
    let said = said.filter(|said| !said.trim().is_empty());
    let message = said.unwrap_or_else(|| "the tool reports an error and says nothing about it".to_owned());
    ToolFailure { code: Code::ToolError, message, sent: 1, needs_word: false, in_doubt: false }
}

/// What can't be fixed by trying again is not tried again.
fn worth_another_try(failure: &ToolFailure) -> bool {
    !matches!(failure.code, Code::ToolNotFound | Code::ToolNotAllowed | Code::InvalidRequest | Code::LimitExceeded)
}

fn error(failure: &ToolFailure, call: &Call, standing: CallStanding<'_>, tries: Tries) -> StepError {
    let address = call.address.to_string();
    let said =
        failure.message.strip_prefix(&address).map_or(failure.message.as_str(), |rest| rest.trim_start_matches(": "));
    let mut message =
        format!("{} (step {} of {}{tries}): {}", shown(&address, 200), standing.number, standing.of, shown_lines(said));
    if tries.in_doubt {
        message = format!("{message}; {IN_DOUBT}");
    }
    let in_doubt = tries.in_doubt.then_some(CallTrouble::InDoubt);
    let call = in_doubt.or(failure.needs_word.then_some(CallTrouble::NeedsWord));
    StepError { call, ..StepError::new(failure.code, message) }
}

/// A tool's words, cut, with their lines kept.
fn shown_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| shown(line, LONGEST_REPORT)).collect();
    let mut whole = lines.join("\n");
    if let Some((end, _)) = whole.char_indices().nth(LONGEST_REPORT) {
        whole.truncate(end);
        whole.push_str("...");
    }
    whole
}
