//! Where a run stands, and the one function that moves it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::code::Code;
use crate::model::Generated;
use crate::names::words;
use crate::plan::{Plan, Step, Work};
use crate::run::layout::Layout;
use crate::run::{Event, Given, Output, Refusal, StepError, Timing};

/// How much the files that tools give may hold in a run, in bytes (16 MB).
pub const MOST_FILE_BYTES: usize = 16 << 20;

/// How much text a run may write, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One step's output (1 MB).
    pub step: usize,
    /// All outputs together (4 MB).
    pub whole: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { step: 1 << 20, whole: 4 << 20 }
    }
}

words! {
    /// What a failure does to steps that don't depend on it.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum OnFailure {
        /// They run.
        #[default]
        Continue = "continue",
        /// They are skipped, unless they are under way already.
        Stop = "stop",
    }
}

/// Where one step stands.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Something before it is not done.
    Waiting,
    /// It may begin.
    Ready,
    /// A driver is at it.
    Running,
    /// It gave its output.
    Done {
        /// The output.
        output: Output,
        /// When, and how long it took.
        timing: Timing,
    },
    /// It failed.
    Failed {
        /// Why.
        error: StepError,
        /// When, and how long it took.
        timing: Timing,
    },
    /// It will not run, because a step failed.
    Skipped {
        /// The step whose failure is at the root.
        because: usize,
    },
    /// It is left out, although nothing failed.
    Omitted {
        /// The step that was left out first: this one, or the one whose output it reads.
        because: usize,
        /// Why that one was.
        why: Arc<str>,
    },
}

impl State {
    /// When it ended, and how long it took; none where nothing was done.
    pub fn timing(&self) -> Option<Timing> {
        match self {
            Self::Done { timing, .. } | Self::Failed { timing, .. } => Some(*timing),
            Self::Waiting | Self::Ready | Self::Running | Self::Skipped { .. } | Self::Omitted { .. } => None,
        }
    }
}

/// What a flow within the flow was handed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entered {
    /// Values by name, and the chosen set.
    pub(super) given: Given,
    /// Whole outputs, by the name that they were handed to: dot paths lead into them, and their text is
    /// what the bare name means.
    pub(super) outputs: BTreeMap<String, Output>,
    /// What was handed over with placeholders left in it, because they read what is not there yet.
    pub(super) unfinished: BTreeMap<String, Value>,
}

words! {
    /// How a run ended, or stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Status {
        /// Something is still to do.
        Running = "running",
        /// Nothing failed.
        Success = "success",
        /// Something failed, and something is there.
        Partial = "partial",
        /// Nothing is there.
        Failed = "failed",
    }
}

/// How many steps a run has, and how many of them stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All steps, without those that only gather what a flow within the flow gave.
    pub steps: usize,
    /// Done, failed, skipped or omitted.
    pub ended: usize,
    /// Done.
    pub done: usize,
    /// Omitted.
    pub omitted: usize,
    /// Skipped, because a step failed.
    pub skipped: usize,
}

/// One walk over a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    plan: Arc<Plan>,
    given: Given,
    limits: Limits,
    pub(super) on_failure: OnFailure,
    pub(super) states: Vec<State>,
    pub(super) waiting_for: Vec<usize>,
    ready: BTreeSet<(usize, usize)>,
    pub(super) counts: Counts,
    /// What each flow within was handed, or why it does not begin, by the step that gathers its result.
    pub(super) entered: BTreeMap<usize, Result<Entered, StepError>>,
    written: usize,
    files: usize,
    /// What models took for steps that were put off then.
    pub(super) spent: Vec<Arc<Generated>>,
    pub(super) layout: Arc<Layout>,
}

impl Run {
    /// Begins a run: refused before anything runs, or ready to go.
    ///
    /// # Errors
    /// An unknown variable set, a value that does not fit, or values that are missing.
    pub fn begin(plan: Arc<Plan>, given: Given, limits: Limits, on_failure: OnFailure) -> Result<Self, Refusal> {
        given.check(plan.terms())?;
        Ok(Self::unchecked(plan, given, limits, on_failure))
    }

    /// Begins a run to look at: what is missing is left in the texts as placeholders.
    ///
    /// # Errors
    /// An unknown variable set or a value that does not fit.
    pub fn rehearse(plan: Arc<Plan>, given: Given, limits: Limits) -> Result<Self, Refusal> {
        given.check_values(plan.terms())?;
        Ok(Self::unchecked(plan, given, limits, OnFailure::Continue))
    }

    /// Begins a run that was allowed before.
    ///
    /// The walk is over the plan with every flow within it unfolded.
    pub(super) fn unchecked(plan: Arc<Plan>, given: Given, limits: Limits, on_failure: OnFailure) -> Self {
        let plan = plan.unfolded();
        let count = plan.steps().len();
        let layout = Layout::of(&plan);
        let mut run = Self {
            given,
            limits,
            on_failure,
            states: vec![State::Waiting; count],
            waiting_for: plan.steps().iter().map(|step| step.parents.len()).collect(),
            ready: BTreeSet::new(),
            counts: Counts { steps: layout.work, ..Counts::default() },
            entered: BTreeMap::new(),
            written: 0,
            files: 0,
            spent: Vec::new(),
            layout: Arc::new(layout),
            plan,
        };
        for step in 0..count {
            if run.waiting_for.get(step) == Some(&0) {
                run.make_ready(step);
            }
        }
        run
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What the caller gave.
    pub fn given(&self) -> &Given {
        &self.given
    }

    /// How much may be written.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How much text is written, in bytes.
    pub fn written(&self) -> usize {
        self.written
    }

    /// How much is kept, in bytes: texts and files.
    pub fn kept(&self) -> usize {
        self.written.saturating_add(self.files)
    }

    /// Where a step stands.
    pub fn state(&self, step: usize) -> Option<&State> {
        self.states.get(step)
    }

    /// The steps that may begin, the earliest in the file first.
    pub fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        self.ready.iter().map(|(_, step)| *step)
    }

    /// How far the run is.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Which of the steps one is, from 1, and how many there are.
    pub fn place_of(&self, step: usize) -> (usize, usize) {
        (self.layout.before(step) + 1, self.counts.steps)
    }

    /// Whether nothing is left to do.
    pub fn ended(&self) -> bool {
        self.counts.ended == self.counts.steps
    }

    /// How the run ended, or that it hasn't.
    pub fn status(&self) -> Status {
        if !self.ended() {
            Status::Running
        } else if self.counts.done + self.counts.omitted == self.counts.steps {
            Status::Success
        } else if self.counts.done > 0 {
            Status::Partial
        } else {
            Status::Failed
        }
    }

    /// Takes in what happened. An event that does not fit where its step stands changes nothing:
    /// an answer that comes after the run was stopped is not an error.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::Started { step } => {
                if self.state(step) == Some(&State::Ready) {
                    self.unready(step);
                    self.set(step, State::Running);
                }
            }
            Event::LaidDown { step } => {
                if self.state(step) == Some(&State::Running) {
                    self.set(step, State::Ready);
                    self.ready.insert((self.place(step), step));
                }
            }
            Event::Spent { generated } => self.spent.push(generated),
            Event::Done { step, mut output, timing } => {
                if self.open(step) {
                    output.may_fail = self.plan().step(step).is_some_and(Step::goes_on);
                    let (bytes, files) = (output.text.len(), output.file_bytes());
                    if let Some(error) = self.unkeepable(step, &output) {
                        self.fail(step, error, timing);
                        return;
                    }
                    self.unready(step);
                    self.written = self.written.saturating_add(bytes);
                    self.files = self.files.saturating_add(files);
                    self.set(step, State::Done { output, timing });
                    self.counts.done += 1;
                    self.counts.ended += 1;
                    self.release(step, Some(timing.at));
                }
            }
            Event::Failed { step, error, timing } => {
                if self.open(step) {
                    match self.refused_before(step) {
                        // The step that goes through the flow fails, and none of that flow's begins.
                        Some((gather, error)) => self.fail(gather, error.clone(), timing),
                        None => self.fail(step, error, timing),
                    }
                }
            }
            Event::Omitted { step, why } => {
                if self.open(step) {
                    self.omit(step, &Arc::from(why));
                }
            }
            Event::Stopped { error, at } => {
                // Every step that waits has one that is open, or failed, before it: failing those
                // skips it, each because of what it really waited for.
                self.on_failure = OnFailure::Continue;
                let open: Vec<usize> = (0..self.states.len()).filter(|step| self.open(*step)).collect();
                let timing = Timing { at, took: std::time::Duration::ZERO };
                for step in open {
                    self.fail(step, error.clone(), timing);
                }
            }
        }
    }

    fn open(&self, step: usize) -> bool {
        matches!(self.state(step), Some(State::Ready | State::Running))
    }

    pub(super) fn set(&mut self, step: usize, state: State) {
        if let Some(slot) = self.states.get_mut(step) {
            *slot = state;
        }
    }

    fn make_ready(&mut self, step: usize) {
        self.enter(step);
        self.set(step, State::Ready);
        self.ready.insert((self.place(step), step));
    }

    /// Where a step stands in the file.
    fn place(&self, step: usize) -> usize {
        self.plan.step(step).map_or(step, |step| step.node)
    }

    pub(super) fn unready(&mut self, step: usize) {
        self.ready.remove(&(self.place(step), step));
    }

    pub(super) fn release(&mut self, step: usize, at: Option<DateTime<Utc>>) {
        let plan = self.plan.clone();
        let mut released = vec![step];
        while let Some(step) = released.pop() {
            for child in plan.step(step).map(|step| step.children.as_slice()).unwrap_or_default() {
                let Some(left) = self.waiting_for.get_mut(*child) else { continue };
                *left = left.saturating_sub(1);
                if *left > 0 {
                    continue;
                }
                match self.state(*child) {
                    Some(State::Waiting) if self.gathers(*child) => {
                        self.gather(*child, at);
                        released.push(*child);
                    }
                    Some(State::Waiting) => self.make_ready(*child),
                    // What is left out passes order on, once everything before it has ended.
                    Some(State::Omitted { .. }) => released.push(*child),
                    Some(
                        State::Ready
                        | State::Running
                        | State::Done { .. }
                        | State::Failed { .. }
                        | State::Skipped { .. },
                    )
                    | None => {}
                }
            }
        }
    }

    /// Whether the step is the end of a flow within the flow. Nobody does it, so it is not counted.
    pub(super) fn gathers(&self, step: usize) -> bool {
        self.plan.step(step).is_some_and(|step| matches!(step.work, Work::Gather(_)))
    }

    /// The steps of the flow whose result a step gathers, without those of flows within that flow.
    pub(super) fn steps_within(&self, gather: usize) -> impl Iterator<Item = usize> {
        let own = move |step: &usize| self.plan.step(*step).is_some_and(|step| step.within == Some(gather));
        self.layout.inside(gather).filter(own)
    }

    /// Takes over what a flow within the flow gave, now that all of it has ended; it took as long as
    /// its steps did together.
    fn gather(&mut self, step: usize, at: Option<DateTime<Utc>>) {
        let Some(Work::Gather(gather)) = self.plan.step(step).map(|step| &step.work) else { return };
        let mut last_at = at;
        let mut took = std::time::Duration::ZERO;
        for state in self.steps_within(step).filter_map(|inner| self.states.get(inner)) {
            if let State::Done { timing, .. } = state {
                took = took.saturating_add(timing.took);
                last_at = last_at.max(Some(timing.at));
            }
        }
        // Where its last step was left out, so was this one, before it could get here.
        if let (Some(mut output), Some(at)) = (self.output_of(gather.last).cloned(), last_at) {
            if !gather.results.is_empty() {
                // Several results are the fields of the whole, by their labels.
                let fields = gather.results.iter().filter_map(|(label, step)| {
                    let output = self.output_of(*step)?;
                    let value = output.value.as_deref().filter(|_| !output.of_tool).cloned();
                    Some((label.clone(), value.unwrap_or_else(|| Value::String(output.text.to_string()))))
                });
                let pending = gather.results.iter().any(|(_, step)| self.output_of(*step).is_some_and(|it| it.pending));
                let whole = Output::with_fields(output.text.clone(), Value::Object(fields.collect()));
                output = Output { pending: pending || output.pending, ..whole };
            }
            self.set(step, State::Done { output, timing: Timing { at, took } });
        }
    }

    /// Why a step's output may not be kept, if so.
    pub fn unkeepable(&self, step: usize, output: &Output) -> Option<StepError> {
        self.too_large(step, output.text.len()).or_else(|| self.files_too_large(step, output.file_bytes()))
    }

    /// Why a step's files may not be kept, if so.
    fn files_too_large(&self, step: usize, bytes: usize) -> Option<StepError> {
        (bytes > MOST_FILE_BYTES.saturating_sub(self.files)).then(|| {
            let id = self.plan.step(step).map_or("", |step| step.id.as_str());
            let message =
                format!("the files of {id} are too large: an execution may keep {MOST_FILE_BYTES} bytes of files");
            StepError::new(Code::LimitExceeded, message)
        })
    }

    /// Why a step may not write that much, if so.
    pub fn too_large(&self, step: usize, bytes: usize) -> Option<StepError> {
        let left = self.limits.whole.saturating_sub(self.written);
        let (what, limit) = if bytes > self.limits.step {
            ("a step", self.limits.step)
        } else if bytes > left {
            ("an execution", self.limits.whole)
        } else {
            return None;
        };
        let id = self.plan.step(step).map_or("", |step| step.id.as_str());
        let message = format!("the output of {id} is too large: {what} may write {limit} bytes");
        Some(StepError::new(Code::LimitExceeded, message))
    }

    /// A step's output, once it is done.
    pub fn output_of(&self, step: usize) -> Option<&Output> {
        if let Some(State::Done { output, .. }) = self.state(step) { Some(output) } else { None }
    }

    /// The final result: the output of the plan's last step; none when it failed or was skipped.
    pub fn final_output(&self) -> Option<&Output> {
        self.output_of(self.plan.last()?)
    }

    /// The result nodes' labels and what feeds them, where there are several; empty otherwise.
    pub fn results(&self) -> Vec<(&str, Option<&Output>)> {
        if self.plan.results().len() < 2 {
            return Vec::new();
        }
        self.plan
            .results()
            .iter()
            .map(|mark| (mark.label.as_str(), mark.step.and_then(|step| self.output_of(step))))
            .collect()
    }

    /// The steps that failed, with why: the flow's own in order, then those of flows within it.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &StepError)> {
        let inside = |step: usize| self.plan.step(step).is_some_and(|step| step.within.is_some());
        let failed = move |within: bool| {
            self.states.iter().enumerate().filter(move |(step, _)| inside(*step) == within).filter_map(
                |(step, state)| {
                    if let State::Failed { error, .. } = state { Some((step, error)) } else { None }
                },
            )
        };
        failed(false).chain(failed(true))
    }

    /// The failure at the root of a step's: where that goes through a flow, the first within it.
    pub fn cause_of(&self, step: usize) -> usize {
        let mut inner = self.steps_within(step);
        let first = inner.find(|inner| matches!(self.state(*inner), Some(State::Failed { .. })));
        first.map_or(step, |inner| self.cause_of(inner))
    }
}
