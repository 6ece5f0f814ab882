//! What the caller of a run should know although nothing failed, and which values were taken over.

use std::collections::{HashMap, HashSet};

use crate::code::WarningCode;
use crate::names::{Comparisons, quoted, shown};
use crate::plan::{Passing, Source, Work};
use crate::render::{lookalikes, signed};
use crate::run::{Given, Run, Warning};

impl Run {
    /// What the caller should know before anything runs: given names that nobody reads, names that
    /// an earlier step or an edge gives instead, and names that take their parent's output because
    /// nothing else can be meant.
    pub fn warnings_about_given(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let steps = self.plan().steps();
        let like_an_output = |name: &String| name.ends_with("_result") || name.ends_with("_template");
        // What a flow within the flow declares and gives is not for the caller.
        let steps = || steps.iter().filter(|step| step.within.is_none());
        let mut outputs: HashSet<String> = HashSet::new();
        if self.given().values.keys().any(like_an_output) {
            outputs.extend(steps().flat_map(|step| crate::plan::output_names(&step.id)).map(|(name, _)| name));
        }
        for step in steps() {
            if let Work::Call(call) = &step.work {
                outputs.extend(call.set.iter().map(|(name, _)| name.clone()));
            }
        }
        let texts_unknown = steps().any(|step| matches!(step.work, Work::Faulty { .. }));
        let (mut open, mut by_edge): (HashSet<&str>, HashMap<&str, Vec<&str>>) = Default::default();
        for step in steps() {
            for slot in step.work.slots() {
                match &slot.source {
                    Source::Step { otherwise: Some(own), .. } => {
                        open.insert(own.input.as_str());
                    }
                    Source::Step { by: Some(_), .. } => {
                        by_edge.entry(slot.name.as_str()).or_default().push(step.id.as_str());
                    }
                    Source::Step { .. } | Source::Passed(_) => {}
                    Source::Open(slot) => {
                        open.extend(slot.places().map(|slot| slot.input.as_str()));
                    }
                }
            }
        }
        let inputs = || self.plan().inputs().iter().map(|input| input.name.as_str());
        let known: HashSet<&str> = inputs().collect();
        let mut otherwise: Option<HashMap<String, (String, String)>> = None;
        let comparisons = Comparisons::default();
        for name in self.given().values.keys().map(String::as_str) {
            if let Some(readers) = by_edge.get(name) {
                let message = format!(
                    "an edge gives {name} to {}; the value given for it is not used there",
                    crate::names::few(readers.iter().copied())
                );
                warnings.push(Warning::of(WarningCode::IgnoredVariable, "", message));
            } else if open.contains(name) {
                // It is read.
            } else if outputs.contains(name) {
                let message = format!("{name} names the output of a step; the value given for it is ignored");
                warnings.push(Warning::of(WarningCode::IgnoredVariable, "", message));
            } else {
                let written = otherwise.get_or_insert_with(|| self.written_otherwise()).get(name);
                let why = if let Some((id, written)) = written {
                    format!("; step {} has {written}, and a placeholder is written {{{name}}}", quoted(id))
                } else if known.contains(name) {
                    String::new()
                } else if Given::is_nearly_selector(name) && !self.plan().sets().is_empty() {
                    "; did you mean _variableSet?".to_owned()
                } else {
                    let meant = comparisons.nearest(name, inputs(), 1);
                    meant.first().map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
                };
                if why.is_empty() && texts_unknown {
                    // The text of a faulty step may well read it.
                    continue;
                }
                let message = format!("no step reads {}{why}", quoted(name));
                warnings.push(Warning::of(WarningCode::UnknownVariable, "", message));
            }
        }
        for (step, variable, from, how) in self.mappings() {
            if how == "auto"
                && let Some(step) = self.plan().step(step).filter(|step| step.within.is_none())
            {
                let message = format!(
                    "{variable} was not given and takes the output of {from}, the only step before; give {variable}, \
                     or map it on the edge, to decide it"
                );
                warnings.push(Warning::of(WarningCode::AutoMapped, &step.id, message));
            }
        }
        warnings
    }

    /// The names that texts have in braces of another kind, which nothing fills: the step, and what is written there.
    fn written_otherwise(&self) -> HashMap<String, (String, String)> {
        let mut all = HashMap::new();
        for step in self.plan().steps() {
            let Work::Render(rendering) = &step.work else { continue };
            for one in lookalikes(&rendering.text).into_iter().chain(signed(&rendering.text)) {
                let written = rendering.text.get(one.range).unwrap_or_default();
                all.entry(one.name).or_insert_with(|| (step.id.clone(), shown(written, 80)));
            }
        }
        all
    }

    /// A path to every value that was taken over by an edge or by auto-mapping: step, variable,
    /// the id of the node, with the dot path into its output, or the input it comes from, and how.
    pub fn mappings(&self) -> Vec<(usize, String, String, &'static str)> {
        let mut mappings = Vec::new();
        for (number, step) in self.plan().steps().iter().enumerate() {
            let id = |step: usize| self.plan().step(step).map(|step| step.id.clone()).unwrap_or_default();
            for slot in step.work.slots() {
                match &slot.source {
                    Source::Step { step: from, by: Some(by), path, .. } => {
                        let how = if *by == crate::plan::MappedBy::Handle { "handle" } else { "mapping" };
                        let from = std::iter::once(id(*from)).chain(path.iter().cloned()).collect::<Vec<_>>().join(".");
                        mappings.push((number, slot.name.clone(), from, how));
                    }
                    Source::Open(open) if open.mapped => {
                        mappings.push((number, slot.name.clone(), open.input.clone(), "mapping"));
                    }
                    Source::Open(open) => {
                        let given = self.given_within(step.within).is_some_and(|given| {
                            given.values.contains_key(&open.input) || given.of_set(&step.work, &open.input).is_some()
                        });
                        if let (Some(parent), false) = (open.auto, given) {
                            mappings.push((number, slot.name.clone(), id(parent), "auto"));
                        }
                    }
                    Source::Passed(passed) => {
                        if let Passing::Auto { step: parent } = &passed.value {
                            mappings.push((number, slot.name.clone(), id(*parent), "auto"));
                        }
                    }
                    Source::Step { .. } => {}
                }
            }
        }
        mappings
    }
}
