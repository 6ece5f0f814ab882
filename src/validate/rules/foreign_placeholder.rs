//! `foreign-placeholder`: braces as another language has them, around a name or around code.

use std::collections::HashSet;

use crate::document::Place;
use crate::model::{Syntax, ValueType};
use crate::names::{CatalogPath, quoted, shown, variable_char};
use crate::render::{Lookalike, LookalikeKind, Placeholder, lookalikes, signed};
use crate::validate::misreading::handed_on;
use crate::validate::{Body, Check, Drafts, FlowSubject, ReadSource, Rule, StepScope};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "foreign-placeholder",
    summary: "Placeholders are written {name}, without blanks, double braces, filters or other signs, and braces of code are not taken for placeholders.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Steps of one template have one text.
    let mut in_templates: HashSet<(&CatalogPath, usize)> = HashSet::new();
    for step in &subject.scope.steps {
        defaults(subject, step, drafts);
        match &step.body {
            Body::Text { text, template, .. } => {
                let again = |at| template.as_ref().is_some_and(|template| !in_templates.insert((&template.file, at)));
                of_text(subject, step, again, drafts);
                code(subject, step, text, drafts);
            }
            Body::Link { values, .. } => {
                let data = subject.flow.node_pointer(step.node).key("data").key("variables");
                let declared = HashSet::new();
                let texts = values.written().iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
                for (name, text) in texts {
                    let means = |one: &&Lookalike| known(subject, &declared, &one.name);
                    for one in lookalikes(text).iter().filter(means).filter(|one| one.kind != LookalikeKind::Dollar) {
                        let place = Place::within(data.key(name), one.range.clone());
                        let message = message(&subject.called(step.node), one, text);
                        drafts.find(place, message).node(subject.id(step.node)).hint(hint(one));
                    }
                }
            }
            Body::Call { .. } | Body::Faulty { .. } | Body::Elsewhere => {}
        }
    }
}

/// Defaults of a step in Markdown that were to hand values on: there, `variables` only says what a text has.
fn defaults(subject: &FlowSubject<'_>, step: &StepScope, drafts: &mut Drafts<'_>) {
    if !subject.in_markdown() {
        return;
    }
    for (declared, name) in handed_on(step) {
        let input = subject.scope.inputs.contains_key(&name);
        let giver = subject.scope.givers(&name).next().map(|giver| subject.id(giver));
        let from = match giver {
            Some(giver) => giver.to_owned(),
            None if input => format!("{{ input: {name} }}"),
            None => continue,
        };
        let message =
            format!("{}: {{{name}}} is text in the default of {}", subject.called(step.node), quoted(&declared.name));
        let draft = drafts.find(Place::value(declared.pointer.clone()), message).node(subject.id(step.node));
        draft.hint(format!("write `map: {{ {}: {from} }}` for its value", declared.name));
    }
}

/// Whether a name means something to a step that declares these.
fn known(subject: &FlowSubject<'_>, declared: &HashSet<&str>, name: &str) -> bool {
    declared.contains(name) || subject.scope.inputs.contains_key(name) || subject.scope.givers(name).next().is_some()
}

fn of_text(
    subject: &FlowSubject<'_>,
    step: &StepScope,
    mut elsewhere: impl FnMut(usize) -> bool,
    drafts: &mut Drafts<'_>,
) {
    let Body::Text { text, .. } = &step.body else { return };
    let mut told: HashSet<(String, LookalikeKind)> = HashSet::new();
    let declared: HashSet<&str> = step.declared.iter().map(|declared| declared.name.as_str()).collect();
    let mut last = usize::MAX;
    for one in meant(subject, step) {
        let again = one.range.start == last;
        last = one.range.start;
        if again || !told.insert((one.name.clone(), one.kind)) || elsewhere(one.range.start) {
            continue;
        }
        let place = Placeholder { range: one.range.clone(), name: one.name.clone(), path: one.path.clone() };
        let message = message(&subject.called(step.node), &one, text);
        let names = |one: &Lookalike| known(subject, &declared, &one.name);
        let hint = match subject.output_of(&one.name).filter(|_| !names(&one)) {
            Some(output) => hint(&Lookalike { name: output.to_owned(), ..one }),
            None => hint(&one),
        };
        subject.find_in_text(drafts, step, &place, message).node(subject.id(step.node)).hint(hint);
    }
}

/// What of a step's text was to be a placeholder.
fn meant(subject: &FlowSubject<'_>, step: &StepScope) -> Vec<Lookalike> {
    let Body::Text { text, template, .. } = &step.body else { return Vec::new() };
    if template.as_ref().is_some_and(|template| template.syntax != Syntax::Single) {
        return Vec::new();
    }
    // Where a text has no placeholder of ours and declares none, `{{ name }}` is how its author writes them.
    let foreign = step.reads.is_empty() && step.declared.is_empty();
    let declared: HashSet<&str> = step.declared.iter().map(|declared| declared.name.as_str()).collect();
    let mut marks = Marks::default();
    let is_meant = |one: &Lookalike| match one.kind {
        LookalikeKind::Doubled | LookalikeKind::DoubledApart | LookalikeKind::Apart => {
            known(subject, &declared, &one.name)
                || (foreign && one.kind == LookalikeKind::DoubledApart && !marks.code_at(text, one.range.start))
        }
        LookalikeKind::Dollar => {
            step.read(&one.name).is_some()
                && known(subject, &declared, &one.name)
                && !is_amount(subject, step, &one.name)
                && !marks.code_at(text, one.range.start)
        }
        LookalikeKind::Label => known(subject, &declared, &one.name) || subject.output_of(&one.name).is_some(),
        LookalikeKind::Signed | LookalikeKind::Bracketed => false,
        LookalikeKind::Directed | LookalikeKind::Unclosed | LookalikeKind::Disguised => {
            known(subject, &declared, &one.name) && !marks.code_at(text, one.range.start)
        }
    };
    let mut found = lookalikes(text);
    found.retain(is_meant);
    found.extend(in_signs(subject, step));
    found.sort_by_key(|one| one.range.start);
    found
}

/// The names in a step's text that are marked by other signs than braces. Words in brackets are many things: they count
/// only where the name is read nowhere, or is an output's.
pub(in crate::validate) fn in_signs(subject: &FlowSubject<'_>, step: &StepScope) -> Vec<Lookalike> {
    let Body::Text { text, .. } = &step.body else { return Vec::new() };
    let mut marks = Marks::default();
    let declared = |name: &str| step.declared.iter().any(|declared| declared.name == name);
    let output = |name: &str| subject.scope.givers(name).next().is_some();
    let mut found = signed(text);
    found.retain(|one| {
        let name = one.name.as_str();
        let known = match one.kind {
            LookalikeKind::Bracketed => {
                declared(name)
                    || output(name)
                    || subject.scope.inputs.contains_key(name) && !subject.read_somewhere().contains(name)
            }
            _ => declared(name) || output(name) || subject.scope.inputs.contains_key(name),
        };
        known && step.read(name).is_none() && !marks.code_at(text, one.range.start)
    });
    found
}

/// The names that stand in a step's text as other languages write them.
pub(super) fn written_otherwise(subject: &FlowSubject<'_>, step: &StepScope) -> HashSet<String> {
    let found = meant(subject, step).into_iter();
    found.filter(|one| one.kind != LookalikeKind::Doubled).map(|one| one.name).collect()
}

/// Words in the names of what is counted in dollars.
const AMOUNTS: [&str; 14] = [
    "amount", "budget", "cost", "dollar", "fee", "income", "pay", "price", "profit", "revenue", "salary", "sum",
    "total", "usd",
];

/// Whether a value may stand behind a dollar sign because it is money.
fn is_amount(subject: &FlowSubject<'_>, step: &StepScope, name: &str) -> bool {
    let of_input = subject.scope.inputs.get(name).and_then(|input| subject.flow.inputs.get(input.refinement?)?.kind);
    let own = step.declared.iter().find(|declared| declared.name == name).and_then(|declared| declared.kind);
    let is_number = |kind: ValueType| matches!(kind, ValueType::Number | ValueType::Integer);
    let lower = name.to_lowercase();
    own.or(of_input).is_some_and(is_number) || AMOUNTS.iter().any(|word| lower.contains(word))
}

/// What marks a part of a text as code, as far as the text was looked through.
#[derive(Default)]
struct Marks {
    done: usize,
    /// Lines of three backticks.
    fences: usize,
    /// Backticks in the last line.
    ticks: usize,
    /// Whether anything else stands in the last line.
    begun: bool,
}

impl Marks {
    /// Whether what stands at a byte is marked as code: by the sign before it, or by backticks around it.
    fn code_at(&mut self, text: &str, at: usize) -> bool {
        for c in text.get(self.done..at).unwrap_or_default().chars() {
            match c {
                '\n' => (self.ticks, self.begun) = (0, false),
                '`' => {
                    self.ticks += 1;
                    if self.ticks == 3 && !self.begun {
                        self.fences += 1;
                        self.ticks = 0;
                    }
                }
                c => self.begun |= !c.is_whitespace(),
            }
        }
        self.done = at;
        let before = text.get(..at).unwrap_or_default();
        before.ends_with(['$', '#', '%']) || self.ticks % 2 == 1 || self.fences % 2 == 1
    }
}

fn message(step: &str, one: &Lookalike, text: &str) -> String {
    let spelt = spelt(one);
    let written = shown(text.get(one.range.clone()).unwrap_or_default(), 60);
    match one.kind {
        LookalikeKind::Doubled => format!("{step}: {{{{{spelt}}}}} gives the value inside one pair of braces"),
        LookalikeKind::DoubledApart => {
            format!("{step}: {{{{ {spelt} }}}} is not a placeholder here; it stays as text")
        }
        LookalikeKind::Label => {
            let signs = if plain_label(one).is_some() { "blanks" } else { "signs" };
            format!("{step}: {{{spelt}}} is not a placeholder because of the {signs} behind the dot; it stays as text")
        }
        LookalikeKind::Apart => {
            format!("{step}: {{ {spelt} }} is not a placeholder because of its blanks; it stays as text")
        }
        LookalikeKind::Dollar => format!("{step}: {written} gives the value behind a dollar sign"),
        LookalikeKind::Directed | LookalikeKind::Signed | LookalikeKind::Bracketed => {
            format!("{step}: {written} is not a placeholder here; it stays as text")
        }
        LookalikeKind::Unclosed => format!("{step}: the brace of {written} is not closed; it stays as text"),
        LookalikeKind::Disguised => {
            format!("{step}: {written} is not a placeholder because of a character in it that only looks right")
        }
    }
}

/// A label in a form that a placeholder takes; none where it has other signs than blanks.
fn plain_label(one: &Lookalike) -> Option<String> {
    let label = one.path.join(".");
    let plain = |c: char| variable_char(c) || c == ' ' || c == '.';
    label.chars().all(plain).then(|| label.replace(' ', "_"))
}

fn hint(one: &Lookalike) -> String {
    if one.kind == LookalikeKind::Label {
        return match plain_label(one) {
            Some(label) => format!("write {{{}.{label}}} for the value: `_` stands for a blank", one.name),
            None => format!("give {} a name of letters, digits, _ and blanks", quoted(&one.path.join("."))),
        };
    }
    let end = match one.kind {
        LookalikeKind::Directed => "; there are neither filters nor conditions",
        LookalikeKind::Disguised => ", typed anew",
        _ => "",
    };
    format!("write {{{}}} for the value{end}", spelt(one))
}

fn spelt(one: &Lookalike) -> String {
    std::iter::once(&one.name).chain(&one.path).map(String::as_str).collect::<Vec<_>>().join(".")
}

/// Groups of code, as `\\frac{a}{b}` has them, that are taken for variables because the step declares none.
fn code(subject: &FlowSubject<'_>, step: &StepScope, text: &str, drafts: &mut Drafts<'_>) {
    if !step.declared.is_empty() {
        return;
    }
    let groups = step.outline.placeholders.iter().zip(&step.outline.name_of);
    let names: HashSet<usize> = groups.filter(|(group, _)| !group.is_code(text)).map(|(_, name)| *name).collect();
    for (_, read) in step.reads.iter().enumerate().filter(|(number, _)| !names.contains(number)) {
        if !matches!(read.source, ReadSource::Open { declared: true, input: false }) {
            continue;
        }
        let Some(placeholder) = step.placeholder(read) else { continue };
        let id = subject.id(step.node);
        let name = placeholder.spelt();
        let message = format!(
            "{}: {{{name}}} reads like code, and is taken for a variable that a caller must give",
            subject.called(step.node)
        );
        let literal = subject.literal(step, &read.name);
        subject
            .find_group(drafts, step, read.placeholder, message)
            .node(id)
            .hint(format!("list it as text, {literal}, or list the variables of this text in `variables`"));
    }
}
