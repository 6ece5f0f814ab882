//! One test: its flow is executed, and the test answers for tools and models.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Mismatch;
use super::comparing::{Compared, refused, says};
use crate::app::execute::refused as told;
use crate::app::{Code, Error, Prepared};
use crate::clock::Clock;
use crate::document::value_as_written;
use crate::execute::{
    self, Calling, Carried, OnToolProgress, Options, StepTask, ToolFailure, Tools, Worker, Workers, Working,
};
use crate::generate::ended;
use crate::lock::lock;
use crate::model::{Contract, FlowTest, Mock, ToolAnswer, ToolCall, Toolbox};
use crate::names::{few, quoted};
use crate::plan::{Step, Work};
use crate::run::{Given, Limits, OnFailure, Output, Refusal, Run, StepError, read_output};

/// Runs one test; what is not as expected.
pub(super) async fn walk(test: &FlowTest, prepared: &Prepared, clock: &dyn Clock) -> Vec<Mismatch> {
    let mut compared = Compared::of(test);
    let ended = executed(test, prepared, clock, &mut compared).await;
    compared.mismatches.extend(ended.err().map(|last| *last));
    compared.mismatches
}

/// Executes a test's flow and compares it. An error is what nothing could be executed for.
async fn executed(
    test: &FlowTest,
    prepared: &Prepared,
    clock: &dyn Clock,
    compared: &mut Compared<'_>,
) -> Result<(), Box<Mismatch>> {
    compared.findings(&prepared.findings);
    let plan = match prepared.plan() {
        Ok(plan) => plan,
        // A flow that is expected to have findings may be one that can't be executed.
        Err(_) if test.expected.findings.is_some() && !test.expected.of_execution() => return Ok(()),
        Err(error) => return Err(refused("flow", &Error::from(error)).into()),
    };
    let unfit = |refusal: Refusal| refused("inputs", &told(&test.flow, &refusal));
    let given = Given::read(&test.inputs).map_err(unfit)?;
    // What is wrong with the set or a value is told before what is missing for want of it.
    given.check_values(plan.terms()).map_err(unfit)?;
    let missing: Vec<String> = given.missing(plan).into_iter().map(|(name, _)| name).collect();
    compared.missing(&missing);
    if !missing.is_empty() {
        // A misspelt name is what gives nothing: it is told first.
        if let Ok(run) = Run::rehearse(plan.clone(), given, Limits::default()) {
            compared.strangers(&run);
        }
        if test.expected.missing.is_none() || test.expected.of_execution() {
            let message = format!(
                "nothing is executed, because values are missing: {}",
                few(missing.iter().map(|name| quoted(name)))
            );
            return Err(says("inputs", message).into());
        }
        return Ok(());
    }
    let run = Run::begin(plan.clone(), given, Limits::default(), OnFailure::Continue).map_err(unfit)?;
    compared.strangers(&run);
    let answers = Answers { test, noted: Mutex::default() };
    let workers =
        Workers { texts: &answers, tools: Some(&answers), known: None, execution: "test", told: None, keeper: None };
    let cancel = CancellationToken::new();
    let executed =
        execute::drive((run, Carried::default()), &Options::default(), workers, clock, &cancel, |_, _| {}).await;
    let noted = answers.noted.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (step, what) in &noted.undeclared {
        compared.mismatches.push(says(&format!("mocks.{step}"), what.clone()));
    }
    // How an execution ends that lacks an answer is not what the flow does, and nothing to expect.
    if noted.undeclared.is_empty() {
        compared.run(&executed.run, &noted.prompts);
    }
    Ok(())
}

/// The answers of a test, and what was asked of it.
struct Answers<'t> {
    test: &'t FlowTest,
    noted: Mutex<Noted>,
}

/// What was asked.
#[derive(Default)]
struct Noted {
    /// The texts of steps, by their ids.
    prompts: BTreeMap<String, String>,
    /// Steps for which the test has no answer, each with what is to be said of it.
    undeclared: BTreeMap<String, String>,
}

impl Answers<'_> {
    fn noted(&self) -> std::sync::MutexGuard<'_, Noted> {
        lock(&self.noted)
    }

    fn lacks(&self, step: &str, who: &str) -> String {
        let message = format!("step {} asks {who}, and the test has no answer for it", quoted(step));
        self.noted().undeclared.insert(step.to_owned(), message.clone());
        message
    }

    /// What a model answers, as the step that asks it takes it.
    fn answer(&self, step: &Step, mock: &Mock) -> Result<Output, StepError> {
        let terms = if let Work::Render(rendering) = &step.work { rendering.terms.clone() } else { None };
        let value = match (mock, &terms) {
            (Mock::Error(said), _) => return Err(StepError::new(Code::ModelError, said.clone())),
            (Mock::Text(text), None) => return Ok(Output::text(text.as_str())),
            (Mock::Text(text), Some(_)) => value_as_written(text).unwrap_or_else(|| Value::String(text.clone())),
            (Mock::Json(value), _) => value.clone(),
        };
        if let Some(terms) = &terms {
            meets(terms, &value).map_err(|how| {
                let why = format!("the mock of step {} breaks its contract: {how}", quoted(&step.id));
                StepError::new(Code::ContractViolation, why)
            })?;
        }
        Ok(read_output(&value, self.test.guided && terms.is_none()))
    }
}

/// Whether an answer meets a step's contract.
fn meets(terms: &Arc<Contract>, value: &Value) -> Result<(), String> {
    let breaches = terms.breaches(value);
    if breaches.is_empty() {
        return Ok(());
    }
    Err(few(breaches.iter().map(|breach| format!("{} {}", breach.path, breach.message))))
}

impl Worker for Answers<'_> {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        let mock = self.test.mocks.get(&step.id);
        self.noted().prompts.insert(step.id.clone(), text.clone());
        let answer = match mock {
            Some(mock) => self.answer(step, mock),
            None if self.test.guided || step.asks_model() => {
                Err(StepError::new(Code::ExecutionError, self.lacks(&step.id, "a model")))
            }
            None => return Err(text),
        };
        let worked =
            if let Work::Render(rendering) = &step.work { ended(rendering, &step.id, answer) } else { answer.into() };
        Ok(Box::pin(std::future::ready(worked)))
    }
}

impl Tools for Answers<'_> {
    fn toolbox(&self) -> Arc<Toolbox> {
        NoCalls.toolbox()
    }

    fn pauses(&self) -> bool {
        false
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        let answer = match self.test.mocks.get(&call.step) {
            Some(Mock::Text(text)) => {
                let json = value_as_written(text).filter(|value| value.is_object() || value.is_array());
                Ok(ToolAnswer { text: Some(text.clone()), json, ..ToolAnswer::default() })
            }
            Some(Mock::Json(value)) => Ok(ToolAnswer { structured: Some(value.clone()), ..ToolAnswer::default() }),
            Some(Mock::Error(said)) => {
                Ok(ToolAnswer { text: Some(said.clone()), is_error: true, ..ToolAnswer::default() })
            }
            None => {
                let message = self.lacks(&call.step, &format!("the tool {}", call.address));
                Err(ToolFailure::unsent(Code::ToolError, message))
            }
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Nobody, of whom nothing is known: calls are neither looked up nor made.
pub(super) struct NoCalls;

impl Tools for NoCalls {
    fn toolbox(&self) -> Arc<Toolbox> {
        Arc::new(Toolbox::unasked())
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        let message = format!("{}: a test calls nothing", call.address);
        Box::pin(std::future::ready(Err(ToolFailure::unsent(Code::ToolUnavailable, message))))
    }
}
