//! `unknown-output-field`: a field of a step's output that can't be there, or need not be.

use std::collections::HashSet;

use crate::document::Place;
use crate::model::{Leads, NodeKind, OutputShape, Part};
use crate::names::{VariableName, quoted, shown};
use crate::validate::scope::mapping_source;
use crate::validate::{
    Body, Check, Draft, Drafts, FlowSubject, OutputPart, Reach, ReadSource, Rule, Severity, StepScope, Verdict,
};

/// The rule. A direct execution leaves a path into a text as it stands; a guided one does not begin on an error.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-output-field",
    also: &[
        Verdict { severity: Severity::Error, reach: Reach::Step, when: "the results of another flow, which are known" },
        Verdict {
            severity: Severity::Warning,
            reach: Reach::None,
            when: "the contract allows outputs without the field",
        },
    ],
    summary: "A step reads only fields that the earlier step's output has.",
    ..Rule::error(Reach::None, Check::Flow(check))
};

/// The most paths that are looked at in one flow: a contract may take long to look through.
const MOST_PATHS: usize = 2_000;
/// The most fields that a hint names.
const MOST_FIELDS: usize = 12;

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    mappings(subject, drafts);
    let mut looked_at = 0;
    for step in &subject.scope.steps {
        let mut told: HashSet<String> = HashSet::new();
        for (number, placeholder) in step.outline.placeholders.iter().enumerate() {
            let Some(read) = step.outline.name_of.get(number).and_then(|name| step.reads.get(*name)) else { continue };
            let (giver, begun) = match &read.source {
                ReadSource::Output { node, part: OutputPart::Result } => (*node, &[][..]),
                ReadSource::Mapped(mapped) => (mapped.node, mapped.path.as_slice()),
                _ => continue,
            };
            let path: Vec<String> = begun.iter().chain(&placeholder.path).cloned().collect();
            if placeholder.path.is_empty() || *subject.output_shape(giver) == OutputShape::Text {
                continue;
            }
            looked_at += 1;
            if looked_at > MOST_PATHS {
                return;
            }
            let leads = subject.output_shape(giver).leads(&path);
            let mapped_wrong = matches!(&leads, Leads::Nowhere(part) if part.depth < begun.len());
            let guarded = matches!(leads, Leads::Maybe(_) | Leads::Unsaid(_))
                && guards(subject, step, number, &placeholder.spelt());
            if leads == Leads::Somewhere || mapped_wrong || guarded || !told.insert(placeholder.spelt()) {
                continue;
            }
            let id = subject.id(step.node);
            let fact = fact(subject, giver, &path, &leads);
            let message = format!("{} reads {{{}}}, and {fact}", subject.called(step.node), placeholder.spelt());
            let draft = subject.find_group(drafts, step, number, message);
            advise(draft.node(id), subject, giver, &path, &leads);
        }
    }
}

/// What edges carry.
fn mappings(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, edge) in subject.flow.edges.iter().enumerate().filter(|(_, edge)| !edge.mapping.is_empty()) {
        let [Some(from), Some(to)] = [&edge.from, &edge.to].map(|id| subject.flow.place_of(id)) else { continue };
        let (Some(_), Some(step)) = (subject.scope.step_of(from), subject.scope.step_of(to)) else { continue };
        let Some(giver) = subject.flow.nodes.get(from) else { continue };
        for (target, source) in &edge.mapping {
            let used = VariableName::normal(target).is_ok_and(|target| step.read(target.as_str()).is_some());
            let mapped = mapping_source(source, number, (from, giver), &subject.scope.inputs, false);
            let Some(ReadSource::Mapped(mapped)) = mapped else { continue };
            let shape = subject.output_shape(from);
            let leads = shape.leads(&mapped.path);
            // A text is told by `useless-mapping`, and so is what nobody uses.
            if !used || *shape == OutputShape::Text || leads == Leads::Somewhere {
                continue;
            }
            let place = Place::key(subject.flow.edge_pointer(number).key("data").key("mapping").key(target));
            let fact = fact(subject, from, &mapped.path, &leads);
            let message = format!("{}, and {fact}", subject.taken(edge, to, target, source));
            advise(drafts.find(place, message).node(&edge.to), subject, from, &mapped.path, &leads);
        }
    }
}

/// What is wrong with a path into a step's output, in words that follow "and".
fn fact(subject: &FlowSubject<'_>, giver: usize, path: &[String], leads: &Leads) -> String {
    let whose = |depth: usize| {
        let above = shown(&path.get(..depth).unwrap_or_default().join("."), 100);
        match (subject.link(giver), above.as_str()) {
            (Some(flow), "") => format!("flow {}", quoted(flow)),
            (None, "") => format!("the contract of {}", subject.called(giver)),
            (Some(flow), above) => format!("{above} of flow {}", quoted(flow)),
            (None, above) => format!("{above} in the contract of {}", subject.called(giver)),
        }
    };
    let field = |part: &Part| quoted(path.get(part.depth).map_or("", String::as_str));
    match leads {
        Leads::Nowhere(part) if part.fields.is_empty() => format!("{} has no fields to read", whose(part.depth)),
        Leads::Nowhere(part) if subject.link(giver).is_some() && part.depth == 0 => {
            format!("{} has no result {}", whose(0), field(part))
        }
        Leads::Nowhere(part) => format!("{} has no field {}", whose(part.depth), field(part)),
        Leads::Maybe(part) => match item(part, path) {
            Some(index) => format!("{} may have no item {index}", whose(part.depth)),
            None => format!("{} leaves the field {} optional", whose(part.depth), field(part)),
        },
        Leads::Unsaid(part) => format!("{} does not name the field {}", whose(part.depth), field(part)),
        Leads::Several { labels } => {
            let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
            format!("this could mean any of the results {}", labels.join(", "))
        }
        Leads::Somewhere => String::new(),
    }
}

/// The number of a list's item, where that is what may be missing.
fn item(part: &Part, path: &[String]) -> Option<usize> {
    path.get(part.depth).filter(|_| part.fields.is_empty())?.parse().ok()
}

fn advise(draft: Draft<'_>, subject: &FlowSubject<'_>, giver: usize, path: &[String], leads: &Leads) {
    let (part, sure) = match leads {
        Leads::Nowhere(part) => (part, true),
        Leads::Unsaid(part) => (part, false),
        Leads::Maybe(part) => {
            let hint = match item(part, path) {
                Some(index) => {
                    format!("give that list `\"minItems\": {}` in the contract, so that no output lacks it", index + 1)
                }
                None => "add it to `required` of the contract, so that no output lacks it".to_owned(),
            };
            draft.only_warn().hint(hint);
            return;
        }
        Leads::Several { .. } => {
            draft.error(Reach::Step).hint("give the results labels that differ in more than blanks and _");
            return;
        }
        Leads::Somewhere => return,
    };
    let fields = part.fields.iter().map(String::as_str);
    let draft = draft.did_you_mean(path.get(part.depth).map_or("", String::as_str), fields.clone());
    let draft = if !sure {
        draft.only_warn()
    } else if subject.link(giver).is_some() {
        draft.error(Reach::Step)
    } else {
        draft
    };
    if !part.fields.is_empty() {
        let mut known: Vec<String> = fields.take(MOST_FIELDS).map(quoted).collect();
        if part.fields.len() > known.len() {
            known.push(format!("{} more", part.fields.len() - known.len()));
        }
        draft.hint(format!("known here: {}", known.join(", ")));
    }
}

/// Whether the step does without a value that is not there: it says so in `requires`, or has a default.
fn guards(subject: &FlowSubject<'_>, step: &StepScope, number: usize, spelt: &str) -> bool {
    let required = match subject.flow.nodes.get(step.node).map(|node| &node.kind) {
        Some(NodeKind::Tool(tool)) => tool.requires.iter().any(|required| required == spelt),
        _ => false,
    };
    let default = match &step.body {
        Body::Call { arguments, .. } => arguments.holes().get(number).is_some_and(|hole| hole.default.is_some()),
        _ => false,
    };
    required || default
}
