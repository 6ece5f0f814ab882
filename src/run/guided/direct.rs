//! What moments of direct executions do: the server does the steps, side by side, one process at a time.

use std::time::Duration;

use super::{Entry, Guided, GuidedState, Moment, StoredEnd, ToolAtWork, Way};
use crate::run::{Event, Status, Timing};

impl Guided {
    /// Takes in a moment of a direct execution.
    pub(super) fn apply_direct(&mut self, entry: &Entry) -> Result<(), &'static str> {
        if !self.is_direct() {
            return Err("the execution is a guided one");
        }
        match &entry.moment {
            Moment::Taken { driver } => {
                if self.state().ended() || self.asked().is_some() {
                    return Err("there is nothing that a process could do");
                }
                self.lay_down();
                // What waited for a limit was not under way.
                self.at_work.retain(|at_work| at_work.waits.is_none());
                self.driver = Some(driver.clone());
            }
            Moment::StepStarted { step } => {
                let driver = self.driver.clone().filter(|_| self.direct_may(*step));
                let driver = driver.ok_or("the step can't begin now")?;
                self.run.apply(Event::Started { step: *step });
                self.at_work.retain(|before| before.step != *step);
                let (owner, since) = (driver, entry.at);
                let (next, asks, again, waits) = (None, None, false, None);
                self.at_work.push(ToolAtWork { step: *step, owner, since, next, asks, again, waits });
            }
            Moment::StepEnded { step, end } => self.end_step(*step, end, entry)?,
            Moment::Interrupted { .. } => {
                self.driver.take().ok_or("nobody does the steps")?;
                self.lay_down();
            }
            Moment::Begun(_)
            | Moment::Opened { .. }
            | Moment::Closed { .. }
            | Moment::Broke { .. }
            | Moment::Breached { .. }
            | Moment::Escalated { .. }
            | Moment::Answered { .. }
            | Moment::ToolStarted { .. }
            | Moment::ToolEnded { .. }
            | Moment::Waits { .. }
            | Moment::LeftOut { .. }
            | Moment::ToolAsked { .. }
            | Moment::ToolDecided { .. }
            | Moment::Cancelled { .. } => return Err("this is no moment of a direct execution"),
        }
        Ok(())
    }

    fn end_step(&mut self, step: usize, end: &StoredEnd, entry: &Entry) -> Result<(), &'static str> {
        if self.begun(step).is_some() {
            self.end_work(step)?;
        } else if !self.direct_may(step) {
            return Err("the step has not begun");
        }
        self.take_end(step, end, entry);
        Ok(())
    }

    /// What a step gave that the server did, or why it failed.
    pub(super) fn take_end(&mut self, step: usize, end: &StoredEnd, entry: &Entry) {
        let timing = Timing { at: entry.at, took: end.took };
        self.run.apply(match &end.result {
            Ok(output) => Event::Done { step, output: output.clone(), timing },
            Err(error) => Event::Failed { step, error: error.clone(), timing },
        });
        if !end.warnings.is_empty() {
            self.noticed.insert(step, end.warnings.clone());
        }
        self.called = (self.called.0.saturating_add(end.calls), self.called.1.saturating_add(end.retries));
        self.tools_ended += 1;
    }

    /// Takes a step off what has begun, where no person is asked about it.
    pub(super) fn end_work(&mut self, step: usize) -> Result<(), &'static str> {
        let at_work = self.begun(step).filter(|at_work| at_work.asks.is_none());
        at_work.ok_or("no tool is called for the step")?;
        self.at_work.retain(|at_work| at_work.step != step);
        Ok(())
    }

    /// What was begun of a step, and has not ended.
    pub(super) fn begun(&self, step: usize) -> Option<&ToolAtWork> {
        self.at_work.iter().find(|at_work| at_work.step == step)
    }

    /// Whether the process that does the steps may begin this one.
    pub(super) fn direct_may(&self, step: usize) -> bool {
        self.is_direct() && self.driver.is_some() && self.run.ready().any(|ready| ready == step)
    }

    pub(super) fn direct_state(&self) -> GuidedState {
        match self.run.status() {
            Status::Running if self.driver.is_some() && self.resumes_at().is_some() => GuidedState::Waiting,
            Status::Running if self.driver.is_some() => GuidedState::Running,
            Status::Running => GuidedState::Interrupted,
            Status::Success => GuidedState::Completed,
            Status::Partial => GuidedState::Partial,
            Status::Failed => GuidedState::Failed,
        }
    }

    /// Whether the server does all steps.
    pub fn is_direct(&self) -> bool {
        matches!(self.beginning.way, Way::Direct { .. })
    }

    /// The process that does the steps of a direct execution; none where nobody does.
    pub fn driver(&self) -> Option<&str> {
        self.driver.as_deref().filter(|_| matches!(self.state(), GuidedState::Running | GuidedState::Waiting))
    }

    /// The same execution, where it is known that the process that did its steps is gone: its log can't
    /// say that.
    #[must_use]
    pub fn without_driver(mut self) -> Self {
        self.driver = None;
        self.lay_down();
        self
    }

    /// Steps that have begun and not ended may begin again.
    fn lay_down(&mut self) {
        for at_work in &self.at_work {
            self.run.apply(Event::LaidDown { step: at_work.step });
        }
    }

    /// Steps that reach outside the program and were begun, but have not ended.
    pub fn unfinished(&self) -> &[ToolAtWork] {
        &self.at_work
    }

    /// How long processes were at it: pauses in which nobody was don't count.
    pub fn driven(&self) -> Duration {
        self.driven
    }
}
