//! What texts were to read, and read in no way: a name that is misspelt, or that stands in braces which are none of
//! ours. It is told where it stands, so that no other rule has to tell what follows from it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use crate::model::Syntax;
use crate::names::nearest;
use crate::render::{Placeholder, lookalikes, placeholders};
use crate::validate::rules::foreign_placeholder::in_signs;
use crate::validate::{Body, DeclaredName, FlowSubject, OutputPart, Read, ReadSource, StepScope, output_names};

/// The most names of outputs among which one is looked for in a text.
pub(super) const MOST_COMPARED: usize = 100;

/// What other programs keep a flow's values in: `{inputs.name}` is `{name}` here.
const HOLDERS: [&str; 12] =
    ["args", "context", "env", "input", "inputs", "node", "nodes", "params", "step", "steps", "variables", "vars"];

/// What one text was to read.
#[derive(Debug)]
pub(super) struct Misread<'s> {
    /// The node of the step that reads it in vain.
    pub(super) reader: usize,
    /// The input or output that is meant.
    pub(super) meant: &'s str,
}

impl<'s> FlowSubject<'s> {
    /// Everything that texts were to read, and read in no way.
    pub(in crate::validate) fn misread(&self) -> &[Misread<'s>] {
        self.misread.get_or_init(|| self.find_misread())
    }

    /// Names that steps without declarations read, each with the input or output that it is a misspelling of.
    pub(super) fn slips(&self) -> &BTreeMap<&'s str, &'s str> {
        self.slips.get_or_init(|| self.find_slips())
    }

    /// The names that steps read, and the inputs that they read under another name.
    pub(in crate::validate) fn read_somewhere(&self) -> &HashSet<&'s str> {
        self.read_somewhere.get_or_init(|| {
            let reads = self.scope.steps.iter().flat_map(|step| &step.reads);
            let mapped = |read: &'s Read| match &read.source {
                ReadSource::MappedInput { input, .. } => Some(input.as_str()),
                _ => None,
            };
            reads.flat_map(|read| std::iter::once(read.name.as_str()).chain(mapped(read))).collect()
        })
    }

    fn find_misread(&self) -> Vec<Misread<'s>> {
        let (scope, slips) = (self.scope, self.slips());
        let outputs: BTreeSet<&'s str> = scope.outputs.keys().map(String::as_str).collect();
        let known = |name: &str| {
            scope.inputs.get_key_value(name).map(|(name, _)| name.as_str()).or_else(|| outputs.get(name).copied())
        };
        let mut found = Vec::new();
        for step in &scope.steps {
            let open = |read: &&Read| matches!(read.source, ReadSource::Open { input: false, .. });
            for read in step.reads.iter().filter(open) {
                let of_step = || self.output_of(&read.name);
                let near = || {
                    let outputs = is_named_as_output(&read.name).then(|| outputs.iter().copied())?;
                    self.comparisons.nearest(&read.name, outputs, 1).first().copied()
                };
                let called = || self.called_as_output(&read.name);
                let meant = slips.get(read.name.as_str()).copied().or_else(of_step).or_else(called).or_else(near);
                found.extend(meant.map(|meant| Misread { reader: step.node, meant }));
            }
            let held = step.outline.placeholders.iter().filter_map(|placeholder| self.held(placeholder));
            found.extend(held.map(|meant| Misread { reader: step.node, meant }));
            let names = handed_on(step).map(|(_, name)| name).filter(|_| self.in_markdown());
            let signed = in_signs(self, step).into_iter().map(|one| one.name);
            let elsewhere = in_other_braces(step).into_iter().chain(names).chain(signed);
            let elsewhere = elsewhere.filter_map(|name| known(&name));
            found.extend(elsewhere.map(|meant| Misread { reader: step.node, meant }));
        }
        found
    }

    /// The input of a misspelling is alike and read by no step, or one of which the misspelling differs in a single
    /// letter; so does an output.
    fn find_slips(&self) -> BTreeMap<&'s str, &'s str> {
        let open = |read: &&Read| matches!(read.source, ReadSource::Open { input: false, .. });
        // What a call or a flow within reads counts as declared by its step.
        let own = |step: &&StepScope| match step.body {
            Body::Text { .. } => step.declared.is_empty(),
            Body::Call { .. } | Body::Link { .. } => true,
            Body::Faulty { .. } | Body::Elsewhere => false,
        };
        let steps = self.scope.steps.iter().filter(own);
        let spelt = steps.clone().flat_map(|step| &step.outline.placeholders);
        let mut slips: BTreeMap<&'s str, &'s str> =
            spelt.filter_map(|placeholder| Some((placeholder.name.as_str(), self.held(placeholder)?))).collect();
        let names: BTreeSet<&'s str> =
            steps.flat_map(|step| &step.reads).filter(open).map(|read| &*read.name).collect();
        if names.is_empty() {
            return slips;
        }
        let outputs: BTreeSet<&'s str> = self.scope.outputs.keys().map(String::as_str).collect();
        let known = self.scope.inputs.keys().map(String::as_str).chain(outputs);
        for known in known.take_while(|_| !self.comparisons.used_up()) {
            let alike = names.iter().filter(|name| self.comparisons.one_letter_off(name, known));
            slips.extend(alike.map(|name| (*name, known)));
        }
        for input in unused_inputs(self) {
            if let Some(name) = self.comparisons.nearest(input, names.iter().copied(), 1).into_iter().next() {
                slips.insert(name, input);
            }
        }
        slips
    }

    /// The input or output that is looked for within a name that nothing here has.
    pub(in crate::validate) fn held(&self, placeholder: &Placeholder) -> Option<&'s str> {
        let (holder, name) = (placeholder.name.as_str(), placeholder.path.first()?);
        let scope = self.scope;
        if !HOLDERS.contains(&holder) || scope.inputs.contains_key(holder) || scope.outputs.contains_key(holder) {
            return None;
        }
        let input = scope.inputs.get_key_value(name).map(|(name, _)| name.as_str());
        let output = scope.outputs.get_key_value(name).map(|(name, _)| name.as_str());
        input.or(output).or_else(|| self.output_of(name))
    }

    /// The name of the output of the step that a name speaks of in other words: `poem_output` for `poem_result`.
    pub(in crate::validate) fn called_as_output(&self, name: &str) -> Option<&'s str> {
        let (id, word) = name.rsplit_once('_')?;
        let word = word.to_lowercase();
        let words = ["result", "results", "output", "outputs", "answer", "response", "reply"];
        let near = || word.len() > 3 && !nearest(&word, ["result"], 1).is_empty();
        self.output_of(id).filter(|_| words.contains(&&*word) || near())
    }

    /// The name of the output of the step that has this id.
    pub(in crate::validate) fn output_of(&self, id: &str) -> Option<&'s str> {
        let (name, _) = output_names(id).into_iter().find(|(_, part)| *part == OutputPart::Result)?;
        let (name, givers) = self.scope.outputs.get_key_value(&name)?;
        givers.iter().any(|(giver, _)| self.id(*giver) == id).then_some(name.as_str())
    }
}

/// The defaults of a step's own variables that are nothing but a placeholder, each with its name.
pub(super) fn handed_on(step: &StepScope) -> impl Iterator<Item = (&DeclaredName, String)> {
    step.declared.iter().filter(|declared| declared.by_node && matches!(step.body, Body::Text { .. })).filter_map(
        |declared| {
            let text = declared.default.as_deref()?.as_str()?;
            let [only] = <[Placeholder; 1]>::try_from(placeholders(text, Syntax::Single)).ok()?;
            (only.range == (0..text.len())).then_some((declared, only.name))
        },
    )
}

/// The names that a step has in braces that are none of ours: `{{ name }}` in a text, `{name}` in arguments.
fn in_other_braces(step: &StepScope) -> Vec<String> {
    match &step.body {
        Body::Text { text, .. } => lookalikes(text).into_iter().map(|one| one.name).collect(),
        Body::Call { arguments, .. } => {
            let mut names = Vec::new();
            let mut next: Vec<&Value> = arguments.written().values().collect();
            while let Some(value) = next.pop() {
                match value {
                    Value::Array(items) => next.extend(items),
                    Value::Object(members) => next.extend(members.values()),
                    Value::String(text) => {
                        names.extend(placeholders(text, Syntax::Single).into_iter().map(|one| one.name));
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
            names
        }
        Body::Link { .. } | Body::Faulty { .. } | Body::Elsewhere => Vec::new(),
    }
}

/// The inputs that no step reads.
pub(super) fn unused_inputs<'s>(subject: &FlowSubject<'s>) -> Vec<&'s str> {
    // Where a template is somewhere else, its text may use the input; where nothing runs, that is the trouble.
    let unknown = |step: &StepScope| matches!(step.body, Body::Elsewhere | Body::Faulty { .. });
    if !subject.has_steps()
        || subject.steps_in_doubt()
        || subject.reads_in_doubt()
        || subject.scope.steps.iter().any(unknown)
    {
        return Vec::new();
    }
    subject.scope.inputs.keys().map(String::as_str).filter(|name| !subject.read_somewhere().contains(name)).collect()
}

/// Whether a name is made as those of outputs are.
pub(super) fn is_named_as_output(name: &str) -> bool {
    ["_result", "_template"].iter().any(|end| name.to_lowercase().ends_with(end))
}
