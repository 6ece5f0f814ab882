//! Steps whose nodes name one of the operator's models: the server lets it answer them between the client's steps, as
//! it calls tools. Which models there are and how they are asked is behind the port.

use std::sync::Arc;

use super::tools::ToolCaller;
use crate::code::Code;
use crate::execute::{OnToolProgress, StepTask, Tools, Wanting, Worked, Worker, call_step};
use crate::plan::{Rendering, Step, Work};
use crate::run::{ExecutionId, Guided, Output, Run, StepError};

/// Who lets the operator's models answer steps of guided executions.
pub trait ModelSteps: Send + Sync {
    /// Whether the server does this step: its node names a model, and there are any.
    fn answers(&self, rendering: &Rendering) -> bool;

    /// Who answers the next step of a run; what its models took so far counts.
    fn worker(&self, run: &Run) -> Box<dyn Worker>;
}

/// Nobody: the client's model does all steps.
pub(super) struct NoModels;

impl ModelSteps for NoModels {
    fn answers(&self, _rendering: &Rendering) -> bool {
        false
    }

    fn worker(&self, _run: &Run) -> Box<dyn Worker> {
        Box::new(crate::execute::Rendered)
    }
}

/// The server, as far as handing out steps has to know it.
#[derive(Clone, Copy)]
pub(super) struct Server<'a> {
    /// The name of this process in logs.
    pub(super) owner: &'a str,
    pub(super) models: &'a dyn ModelSteps,
}

impl Server<'_> {
    /// Whether it does a step itself.
    pub(super) fn does(&self, step: &Step) -> bool {
        match &step.work {
            Work::Call(_) => true,
            Work::Render(rendering) => self.models.answers(rendering),
            Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => false,
        }
    }
}

impl ToolCaller {
    /// Does a step: calls its tool, or lets its model answer.
    pub(super) async fn do_step(
        &self,
        guided: &Guided,
        number: usize,
        id: &ExecutionId,
        told: OnToolProgress,
    ) -> Option<Worked> {
        let run = guided.run();
        let step = run.plan().step(number)?;
        let Work::Render(rendering) = &step.work else {
            let wanting = Wanting { permitted: guided.was_permitted(number), insists: guided.was_decided(number) };
            let tools: &dyn Tools = &*self.tools;
            let told = Arc::new(move |_, progress| told(progress));
            return call_step(run, number, tools, id.as_str(), (Some(told), wanting)).await;
        };
        let bound = match run.bind(number, rendering) {
            Ok(bound) => bound,
            Err(error) => return Some(Worked::from(Err(error))),
        };
        let worker = self.models.worker(run);
        match worker.work(StepTask { run, number, step, text: bound.text, told: Some(told) }) {
            Ok(working) => {
                let mut worked = working.await;
                worked.warnings.splice(0..0, bound.warnings);
                Some(worked)
            }
            // Another process has begun it, and here there are none.
            Err(_) => {
                let message = "its node names a model, and none is configured where the execution goes on";
                let error = StepError::new(Code::ModelNotFound, message);
                let goes_on = rendering.asks.goes_on;
                Some(Worked::from(if goes_on { Ok(Output::of_failure(&error)) } else { Err(error) }))
            }
        }
    }
}
