//! What steps that are still to come read of a step, and an output of it does not have.

use std::collections::{HashMap, HashSet};

use crate::model::Generated;
use crate::plan::{Open, OutputPart, Passing, Source, Step, Work};
use crate::render::Walked;
use crate::run::{Output, Run, State};

/// A field that a later step reads of an output, and that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The step that reads it.
    pub reader: usize,
    /// As what, without the braces.
    pub spelt: String,
    /// Where it should be in the output.
    pub path: Vec<String>,
}

/// A path into the output of a step, as a reader has it.
#[derive(Debug, Clone)]
struct PathRead {
    spelt: String,
    from: usize,
    path: Vec<String>,
    /// Whether a text without fields will not do.
    needs_fields: bool,
}

impl Run {
    /// What steps that are still to come read of a step, and this output of it does not have, each once. What
    /// they can do without (a default in arguments, a `requires` that leaves the step out) is not among it.
    pub fn unmet(&self, step: usize, output: &Output) -> Vec<Unmet> {
        let through = self.read_through(step);
        // A failure's fields are not asked of an answer; a text of its own is, where its contract has one.
        let (goes_on, has_contract) = self.plan().step(step).map_or((false, false), |step| {
            (step.goes_on(), matches!(&step.work, Work::Render(rendering) if rendering.terms.is_some()))
        });
        let of_failure = |path: &[String]| match path {
            [error, ..] if error == "error" => goes_on,
            [text] if text == "text" => goes_on && !has_contract,
            _ => false,
        };
        let mut unmet: Vec<Unmet> = Vec::new();
        for (reader, spec) in self.plan().steps().iter().enumerate() {
            if !matches!(self.state(reader), Some(State::Waiting | State::Ready)) {
                continue;
            }
            let missing = |reading: &PathRead| {
                let prefix = through.get(&reading.from)?;
                let path = reading.path.strip_prefix(prefix.as_slice())?;
                let lacks = match output.walk(path) {
                    Walked::Value(_) => false,
                    Walked::NoInside => reading.needs_fields,
                    Walked::Absent => true,
                };
                (!path.is_empty() && lacks && !of_failure(path)).then(|| path.to_vec())
            };
            if self.guards(spec).iter().any(|guard| missing(guard).is_some()) {
                continue;
            }
            for reading in self.readings(spec) {
                if let Some(path) = missing(&reading)
                    && !unmet.iter().any(|known| known.reader == reader && known.path == path)
                {
                    unmet.push(Unmet { reader, spelt: reading.spelt, path });
                }
            }
        }
        unmet
    }

    /// The fields of a step's output, as dot paths, that steps which are still to come read and can't do
    /// without, each once.
    pub fn fields_read(&self, step: usize) -> Vec<Vec<String>> {
        let mut fields: Vec<Vec<String>> = Vec::new();
        for unmet in self.unmet(step, &Output::text("")) {
            if !fields.contains(&unmet.path) {
                fields.push(unmet.path);
            }
        }
        fields
    }

    /// How models came to answer steps, or failed to, by step. What was taken from this machine's store cost
    /// nothing this time, and is left out, as is what no answer came to.
    pub fn generated(&self) -> Vec<(usize, &Generated)> {
        let steps = self.plan().steps().iter().enumerate().filter_map(|(number, step)| {
            let gathers = matches!(step.work, Work::Gather(_));
            Some((number, self.generated_of(number).filter(|one| !gathers && !one.stored && one.finish.is_some())?))
        });
        steps.collect()
    }

    /// What models took for steps that were put off then, and begun again later.
    pub fn spent_before(&self) -> impl Iterator<Item = &Generated> {
        self.spent.iter().map(|generated| &**generated)
    }

    /// How a model came to answer a step, or failed to; none where none was asked.
    pub fn generated_of(&self, step: usize) -> Option<&Generated> {
        match self.state(step)? {
            State::Done { output, .. } => output.generated.as_deref(),
            State::Failed { error, .. } => error.generated.as_deref(),
            State::Waiting | State::Ready | State::Running | State::Skipped { .. } | State::Omitted { .. } => None,
        }
    }

    /// The steps whose outputs a step can't do without, one for each place where its text or its arguments hold one.
    pub fn outputs_read(&self, step: usize) -> Vec<usize> {
        let readings = self.plan().step(step).map(|step| self.readings(step)).unwrap_or_default();
        readings.into_iter().map(|reading| reading.from).collect()
    }

    /// Whether a step reads what a model gave, directly or through other steps.
    pub fn reads_generated(&self, step: usize) -> bool {
        let mut known = HashSet::new();
        let mut open = vec![step];
        while let Some(number) = open.pop() {
            if !known.insert(number) {
                continue;
            }
            let Some(spec) = self.plan().step(number) else { continue };
            // In a rehearsal a text that a model would answer is pending.
            let rendered = matches!(spec.work, Work::Render(_));
            let of_model = |output: &Output| output.generated.is_some() || (output.pending && rendered);
            if number != step && self.output_of(number).is_some_and(of_model) {
                return true;
            }
            match &spec.work {
                // What a call only requires is not handed to it.
                Work::Call(call) => {
                    let handed = call.slot_of.iter().filter_map(|slot| call.slots.get(*slot));
                    handed.for_each(|slot| sources_of(&slot.source, &mut open));
                }
                work @ (Work::Render(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. }) => {
                    work.slots().iter().for_each(|slot| sources_of(&slot.source, &mut open));
                }
            }
            if let Work::Gather(gather) = &spec.work {
                open.push(gather.last);
                open.extend(gather.results.iter().map(|(_, from)| *from));
            }
            // What a flow within is handed comes from what the step that it is reads.
            if let Some(Work::Gather(gather)) =
                spec.within.and_then(|within| self.plan().step(within)).map(|outer| &outer.work)
            {
                gather.slots.iter().for_each(|slot| sources_of(&slot.source, &mut open));
            }
        }
        false
    }

    /// The steps by whose outputs this one's is read (itself, and those that gather it), each with the path that
    /// leads to it there.
    fn read_through(&self, step: usize) -> HashMap<usize, Vec<String>> {
        let mut through = HashMap::from([(step, Vec::new())]);
        for (number, spec) in self.plan().steps().iter().enumerate() {
            let Work::Gather(gather) = &spec.work else { continue };
            let path = if gather.results.is_empty() {
                through.get(&gather.last).cloned()
            } else {
                gather.results.iter().find_map(|(label, from)| {
                    let below = through.get(from)?;
                    Some(std::iter::once(label.clone()).chain(below.iter().cloned()).collect())
                })
            };
            if let Some(path) = path {
                through.insert(number, path);
            }
        }
        through
    }

    /// What a step can't do without.
    fn readings(&self, step: &Step) -> Vec<PathRead> {
        let mut found = Vec::new();
        match &step.work {
            Work::Render(rendering) => {
                for (placeholder, place) in rendering.outline.placeholders.iter().zip(&rendering.outline.name_of) {
                    if let Some(slot) = rendering.slots.get(*place) {
                        self.follow(step, &slot.source, &placeholder.path, &placeholder.spelt(), &mut found);
                    }
                }
            }
            Work::Call(call) => {
                for (hole, place) in call.arguments.holes().iter().zip(&call.slot_of) {
                    if let Some(slot) = call.slots.get(*place).filter(|_| hole.default.is_none()) {
                        self.follow(step, &slot.source, &hole.path, &hole.spelt(), &mut found);
                    }
                }
            }
            Work::Gather(gather) => {
                let door = gather.door.iter().flat_map(|door| door.values.holes().iter().zip(&door.slot_of));
                for (hole, place) in door {
                    if let Some(slot) = gather.slots.get(*place) {
                        self.follow(step, &slot.source, &hole.path, &hole.spelt(), &mut found);
                    }
                }
            }
            Work::Flow(_) | Work::Faulty { .. } => {}
        }
        found
    }

    /// What leaves a step out where it is not there.
    fn guards(&self, step: &Step) -> Vec<PathRead> {
        let mut found = Vec::new();
        if let Work::Call(call) = &step.work {
            for (place, path) in &call.requires {
                if let Some(slot) = call.slots.get(*place) {
                    self.follow(step, &slot.source, path, &slot.name, &mut found);
                }
            }
        }
        found
    }

    /// Follows where a value comes from, with the path that is read in it, to the outputs of steps.
    fn follow(&self, step: &Step, source: &Source, tail: &[String], spelt: &str, found: &mut Vec<PathRead>) {
        match source {
            Source::Step { step: from, part: OutputPart::Result, path, otherwise, .. } => {
                let path = path.iter().chain(tail).cloned().collect();
                found.push(PathRead { spelt: spelt.to_owned(), from: *from, path, needs_fields: otherwise.is_none() });
            }
            Source::Step { part: OutputPart::Template, .. } => {}
            Source::Open(open) => self.follow_open(step, open, tail, spelt, found),
            Source::Passed(passed) => match &passed.value {
                Passing::Auto { step: parent } => found.push(PathRead::of(spelt, *parent, tail)),
                Passing::Text { passage, slots } => {
                    for (placeholder, place) in passage.outline.placeholders.iter().zip(&passage.slot_of) {
                        let Some(slot) = slots.get(*place) else { continue };
                        let alone = placeholder.range == (0..passage.text.len());
                        let path = handed_on(&placeholder.path, tail, alone);
                        self.follow(step, &slot.source, &path, &placeholder.spelt(), found);
                    }
                }
                Passing::Default { .. } | Passing::Nothing { .. } => {}
            },
        }
    }

    /// The same for a name that is given from outside: by the caller, or by the step that goes through the flow.
    fn follow_open(&self, step: &Step, open: &Open, tail: &[String], spelt: &str, found: &mut Vec<PathRead>) {
        for place in open.places() {
            let gather = step.within.and_then(|gather| Some((self.plan().step(gather)?, self.door(gather)?)));
            if let Some((outer, door)) = gather
                && door.values.written().contains_key(&place.input)
            {
                for (hole, slot) in door.values.holes().iter().zip(&door.slot_of) {
                    let steps: Vec<String> = hole.at.steps().collect();
                    let Some(slot) = outer.work.slots().get(*slot).filter(|_| steps.first() == Some(&place.input))
                    else {
                        continue;
                    };
                    let path = handed_on(&hole.path, tail, hole.alone && steps.len() == 1);
                    self.follow(outer, &slot.source, &path, &hole.spelt(), found);
                }
                return;
            }
            let given = gather.is_none().then(|| self.given());
            let given = given.is_some_and(|given| {
                given.values.contains_key(&place.input) || given.of_set(&step.work, &place.input).is_some()
            });
            if given || place.default.is_some() {
                return;
            }
        }
        if let Some(parent) = open.auto {
            found.push(PathRead::of(spelt, parent, tail));
        }
    }
}

/// The steps that a value may come from.
fn sources_of(source: &Source, steps: &mut Vec<usize>) {
    let of_open = |open: &Open, steps: &mut Vec<usize>| steps.extend(open.places().filter_map(|place| place.auto));
    match source {
        Source::Step { step, otherwise, .. } => {
            steps.push(*step);
            if let Some(open) = otherwise {
                of_open(open, steps);
            }
        }
        Source::Open(open) => of_open(open, steps),
        Source::Passed(passed) => match &passed.value {
            Passing::Auto { step } => steps.push(*step),
            Passing::Text { slots, .. } => slots.iter().for_each(|slot| sources_of(&slot.source, steps)),
            Passing::Default { .. } | Passing::Nothing { .. } => {}
        },
    }
}

impl PathRead {
    fn of(spelt: &str, from: usize, path: &[String]) -> Self {
        Self { spelt: spelt.to_owned(), from, path: path.to_vec(), needs_fields: true }
    }
}

/// A path into what a placeholder hands on: alone in its text it hands on the value as it is, fields included.
fn handed_on(path: &[String], tail: &[String], alone: bool) -> Vec<String> {
    path.iter().chain(if alone { tail } else { &[] }).cloned().collect()
}
