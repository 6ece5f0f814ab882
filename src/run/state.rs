//! Where a run stands, and the one function that moves it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::plan::{Plan, Source, Work};
use crate::run::{Event, Given, Output, Refusal, StepError, Timing};

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

/// What a failure does to steps that don't depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// They run.
    #[default]
    Continue,
    /// They are skipped, unless they are under way already.
    Stop,
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
}

/// How a run ended, or stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Something is still to do.
    Running,
    /// Nothing failed.
    Success,
    /// Something failed, and something is there.
    Partial,
    /// Nothing is there.
    Failed,
}

impl Status {
    /// The word for it on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }
}

/// Something the caller should know that keeps nothing from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind it is, in `UPPER_SNAKE`.
    pub code: &'static str,
    /// The fact.
    pub message: String,
    /// The step it is about.
    pub node: Option<String>,
}

impl Warning {
    /// A warning about a step; none where `id` is empty.
    pub fn of(code: &'static str, id: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), node: (!id.is_empty()).then(|| id.to_owned()) }
    }
}

/// How many steps a run has, and how many of them stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All steps.
    pub steps: usize,
    /// Done, failed or skipped.
    pub ended: usize,
    /// Done.
    pub done: usize,
}

/// One walk over a plan.
#[derive(Debug, Clone)]
pub struct Run {
    plan: Arc<Plan>,
    given: Given,
    limits: Limits,
    on_failure: OnFailure,
    states: Vec<State>,
    waiting_for: Vec<usize>,
    ready: BTreeSet<(usize, usize)>,
    counts: Counts,
    written: usize,
    stopped: bool,
}

impl Run {
    /// Begins a run: refused before anything runs, or ready to go.
    ///
    /// # Errors
    /// An unknown variable set, a value that does not fit, or values that are missing.
    pub fn begin(plan: Arc<Plan>, given: Given, limits: Limits, on_failure: OnFailure) -> Result<Self, Refusal> {
        given.check(&plan)?;
        Ok(Self::unchecked(plan, given, limits, on_failure))
    }

    /// Begins a run to look at: what is missing is left in the texts as placeholders.
    ///
    /// # Errors
    /// An unknown variable set or a value that does not fit.
    pub fn rehearse(plan: Arc<Plan>, given: Given, limits: Limits) -> Result<Self, Refusal> {
        given.check_values(&plan)?;
        Ok(Self::unchecked(plan, given, limits, OnFailure::Continue))
    }

    fn unchecked(plan: Arc<Plan>, given: Given, limits: Limits, on_failure: OnFailure) -> Self {
        let count = plan.steps().len();
        let mut run = Self {
            given,
            limits,
            on_failure,
            states: vec![State::Waiting; count],
            waiting_for: plan.steps().iter().map(|step| step.parents.len()).collect(),
            ready: BTreeSet::new(),
            counts: Counts { steps: count, ..Counts::default() },
            written: 0,
            stopped: false,
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

    /// How much is written, in bytes.
    pub fn written(&self) -> usize {
        self.written
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

    /// Whether nothing is left to do.
    pub fn ended(&self) -> bool {
        self.counts.ended == self.counts.steps
    }

    /// How the run ended, or that it hasn't.
    pub fn status(&self) -> Status {
        if !self.ended() {
            Status::Running
        } else if self.counts.done == self.counts.steps {
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
            Event::Done { step, output, timing } => {
                if self.open(step) {
                    self.unready(step);
                    self.written = self.written.saturating_add(output.text.len());
                    self.set(step, State::Done { output, timing });
                    self.counts.done += 1;
                    self.counts.ended += 1;
                    self.release(step);
                }
            }
            Event::Failed { step, error, timing } => {
                if self.open(step) {
                    self.fail(step, error, timing);
                }
            }
            Event::Stopped { error, at } => {
                self.stopped = true;
                let open: Vec<usize> = (0..self.states.len()).filter(|step| self.open(*step)).collect();
                let timing = Timing { at, took: std::time::Duration::ZERO };
                for step in open {
                    if self.open(step) {
                        self.fail(step, error.clone(), timing);
                    }
                }
            }
        }
    }

    fn open(&self, step: usize) -> bool {
        matches!(self.state(step), Some(State::Ready | State::Running))
    }

    fn set(&mut self, step: usize, state: State) {
        if let Some(slot) = self.states.get_mut(step) {
            *slot = state;
        }
    }

    fn make_ready(&mut self, step: usize) {
        let place = self.plan.step(step).map_or(step, |step| step.node);
        self.set(step, State::Ready);
        self.ready.insert((place, step));
    }

    fn unready(&mut self, step: usize) {
        let place = self.plan.step(step).map_or(step, |step| step.node);
        self.ready.remove(&(place, step));
    }

    fn release(&mut self, step: usize) {
        let plan = self.plan.clone();
        for child in plan.step(step).map(|step| step.children.as_slice()).unwrap_or_default() {
            let Some(left) = self.waiting_for.get_mut(*child) else { continue };
            *left = left.saturating_sub(1);
            if *left == 0 && self.state(*child) == Some(&State::Waiting) {
                self.make_ready(*child);
            }
        }
    }

    fn fail(&mut self, step: usize, error: StepError, timing: Timing) {
        self.unready(step);
        self.set(step, State::Failed { error, timing });
        self.counts.ended += 1;
        let plan = self.plan.clone();
        let mut below: Vec<usize> = plan.step(step).map(|step| step.children.clone()).unwrap_or_default();
        while let Some(child) = below.pop() {
            if matches!(self.state(child), Some(State::Waiting | State::Ready)) {
                self.skip(child, step);
                below.extend(plan.step(child).map(|step| step.children.as_slice()).unwrap_or_default());
            }
        }
        if self.on_failure == OnFailure::Stop || self.stopped {
            let rest: Vec<usize> = (0..self.states.len())
                .filter(|other| match self.state(*other) {
                    Some(State::Waiting) => true,
                    Some(State::Ready) => !self.stopped,
                    _ => false,
                })
                .collect();
            for other in rest {
                self.skip(other, step);
            }
        }
    }

    fn skip(&mut self, step: usize, because: usize) {
        self.unready(step);
        self.set(step, State::Skipped { because });
        self.counts.ended += 1;
    }

    /// A step's output, once it is done.
    pub fn output_of(&self, step: usize) -> Option<&Output> {
        match self.state(step) {
            Some(State::Done { output, .. }) => Some(output),
            _ => None,
        }
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

    /// The steps that failed, in order, with why.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &StepError)> {
        self.states.iter().enumerate().filter_map(|(step, state)| match state {
            State::Failed { error, .. } => Some((step, error)),
            _ => None,
        })
    }

    /// What the caller should know about the values given: names nobody reads, and names that an
    /// earlier step or an edge gives instead.
    pub fn warnings_about_given(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let outputs: BTreeSet<String> = self
            .plan
            .steps()
            .iter()
            .flat_map(|step| crate::validate::output_names(&step.id))
            .map(|(name, _)| name)
            .collect();
        for name in self.given.values.keys() {
            let read_open = self.plan.steps().iter().any(|step| Self::reads(step, name, false));
            if self.plan.inputs().iter().any(|input| input.name == *name) && read_open {
                continue;
            }
            let overruled: Vec<&str> = self
                .plan
                .steps()
                .iter()
                .filter(|step| Self::reads(step, name, true))
                .map(|step| step.id.as_str())
                .collect();
            if outputs.contains(name) {
                warnings.push(Warning::of(
                    "IGNORED_VARIABLE",
                    "",
                    format!("{name} names the output of a step; the value given for it is ignored"),
                ));
            } else if !overruled.is_empty() {
                let message = format!(
                    "an edge gives {name} to {}; the value given for it is not used there",
                    overruled.join(", ")
                );
                warnings.push(Warning::of("IGNORED_VARIABLE", "", message));
            } else if !read_open && !self.plan.inputs().iter().any(|input| input.name == *name) {
                let known: Vec<&str> = self.plan.inputs().iter().map(|input| input.name.as_str()).collect();
                let meant = crate::names::nearest(name, known.iter().copied(), 1);
                let meant = meant.first().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                warnings.push(Warning::of(
                    "UNKNOWN_VARIABLE",
                    "",
                    format!("no step reads {}{meant}", crate::names::quoted(name)),
                ));
            }
        }
        warnings
    }

    /// Whether a step's text reads a name: from an earlier step by an edge, or left open.
    fn reads(step: &crate::plan::Step, name: &str, by_edge: bool) -> bool {
        let Work::Render(rendering) = &step.work else { return false };
        rendering.slots.iter().any(|slot| match &slot.source {
            Source::Step { by, .. } => by_edge && by.is_some() && slot.name == name,
            Source::Open(open) => !by_edge && open.input == name,
        })
    }

    /// A path to every value that was taken over by an edge or by auto-mapping: step, variable,
    /// the id of the node or the input it comes from, and how.
    pub fn mappings(&self) -> Vec<(usize, String, String, &'static str)> {
        let mut mappings = Vec::new();
        for (number, step) in self.plan.steps().iter().enumerate() {
            let Work::Render(rendering) = &step.work else { continue };
            let id = |step: usize| self.plan.step(step).map(|step| step.id.clone()).unwrap_or_default();
            for slot in &rendering.slots {
                match &slot.source {
                    Source::Step { step: from, by: Some(by), .. } => {
                        let how = if *by == crate::validate::MappedBy::Handle { "handle" } else { "mapping" };
                        mappings.push((number, slot.name.clone(), id(*from), how));
                    }
                    Source::Open(open) if open.mapped => {
                        mappings.push((number, slot.name.clone(), open.input.clone(), "mapping"));
                    }
                    Source::Open(open) => {
                        let given = self.given.values.contains_key(&open.input)
                            || self.given.of_set(&step.work, &open.input).is_some();
                        if let (Some(parent), false) = (open.auto, given) {
                            mappings.push((number, slot.name.clone(), id(parent), "auto"));
                        }
                    }
                    Source::Step { .. } => {}
                }
            }
        }
        mappings
    }
}
