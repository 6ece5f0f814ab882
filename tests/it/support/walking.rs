//! Executes drawings with a clock that stands still, and reads what became of them.

use std::sync::Arc;

use chrono::DateTime;
use flowy::internals::clock::ManualClock;
use flowy::internals::execute::{Executed, Options, Rendered, Worker, Workers, execute};
use flowy::internals::plan::Plan;
use flowy::internals::run::{Given, Refusal, State, Status};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::drawing::Drawing;

/// A clock that stands at the beginning of 2026.
pub(crate) fn clock() -> Arc<ManualClock> {
    ManualClock::at(DateTime::from_timestamp(1_767_225_600, 0).unwrap())
}

/// What the caller gives, as a JSON object.
pub(crate) fn given(variables: &Value) -> Given {
    Given::read(variables.as_object().unwrap()).unwrap()
}

/// An execution that has ended.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) executed: Executed,
}

#[allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and drawings read better without `&`")]
impl Drawing {
    /// Executes the drawing with these variables.
    #[track_caller]
    pub(crate) fn run(&self, variables: Value) -> Walked {
        self.try_run(variables).unwrap()
    }

    /// Executes the drawing, or is refused.
    #[track_caller]
    pub(crate) fn try_run(&self, variables: Value) -> Result<Walked, Refusal> {
        let given = Given::read(variables.as_object().unwrap())?;
        walk(self.plan(), given, &Options::default(), &Rendered)
    }

    /// Executes the drawing with a worker and options.
    #[track_caller]
    pub(crate) fn run_with(&self, variables: Value, options: &Options, worker: &dyn Worker) -> Walked {
        walk(self.plan(), given(&variables), options, worker).unwrap()
    }
}

/// Executes a plan on a runtime of its own.
pub(crate) fn walk(plan: Arc<Plan>, given: Given, options: &Options, worker: &dyn Worker) -> Result<Walked, Refusal> {
    walk_with(plan, given, options, Workers::of_texts(worker))
}

/// The same with whoever calls tools.
pub(crate) fn walk_with(
    plan: Arc<Plan>,
    given: Given,
    options: &Options,
    workers: Workers<'_>,
) -> Result<Walked, Refusal> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (clock, cancel) = (clock(), CancellationToken::new());
    let executed = runtime.block_on(execute(plan, given, options, workers, clock.as_ref(), &cancel, |_, _| ()))?;
    Ok(Walked { executed })
}

impl Walked {
    fn number(&self, id: &str) -> usize {
        self.executed.run.plan().steps().iter().position(|step| step.id == id).expect(id)
    }

    pub(crate) fn state(&self, id: &str) -> &State {
        self.executed.run.state(self.number(id)).unwrap()
    }

    /// The text of a step that is done.
    #[track_caller]
    pub(crate) fn text(&self, id: &str) -> &str {
        match self.state(id) {
            State::Done { output, .. } => &output.text,
            other => panic!("{id}: {other:?}"),
        }
    }

    /// The error of a step that failed.
    #[track_caller]
    pub(crate) fn error(&self, id: &str) -> String {
        match self.state(id) {
            State::Failed { error, .. } => error.to_string(),
            other => panic!("{id}: {other:?}"),
        }
    }

    /// The step because of which a step was skipped.
    #[track_caller]
    pub(crate) fn because(&self, id: &str) -> &str {
        match self.state(id) {
            State::Skipped { because } => &self.executed.run.plan().steps()[*because].id,
            other => panic!("{id}: {other:?}"),
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.executed.run.status()
    }

    /// Warnings as `CODE node`.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let warnings = self.executed.warnings.iter();
        warnings.map(|w| format!("{} {}", w.code.word(), w.node.as_deref().unwrap_or("-"))).collect()
    }

    /// Mappings as `node.variable = from (how)`.
    pub(crate) fn mappings(&self) -> Vec<String> {
        let run = &self.executed.run;
        let steps = run.plan().steps();
        let mappings = run.mappings().into_iter();
        mappings.map(|(step, name, from, how)| format!("{}.{name} = {from} ({how})", steps[step].id)).collect()
    }

    /// The text of the final result.
    pub(crate) fn last(&self) -> Option<&str> {
        let last = self.executed.run.plan().last()?;
        match self.executed.run.state(last)? {
            State::Done { output, .. } => Some(&output.text),
            _ => None,
        }
    }
}
