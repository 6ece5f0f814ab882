//! `unbound-placeholder`: a placeholder that nothing fills.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use crate::document::{NoteKind, Place, Pointer};
use crate::graph::Ancestors;
use crate::model::{NodeKind, Shape, Syntax};
use crate::names::{CatalogPath, quoted, unreadable_id};
use crate::render::placeholders;
use crate::validate::misreading::is_named_as_output;
use crate::validate::{Body, Read, ReadSource, StepScope};
use crate::validate::{Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unbound-placeholder",
    summary: "A placeholder names something: a declared variable, an input or an earlier output.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let outputs: BTreeSet<&str> = subject.scope.outputs.keys().map(String::as_str).collect();
    let ancestors = subject.order.map(Ancestors::of);
    let odd_ids = subject.document.notes.iter().any(|note| note.kind == NoteKind::OddId) || unreadable(subject, drafts);
    // What an id gives no name to may be what a name was to read.
    let in_doubt = subject.steps_in_doubt() || subject.edges_in_doubt() || odd_ids;
    let slips = subject.slips();
    let mut told: HashSet<(&CatalogPath, usize)> = HashSet::new();
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        if let NodeKind::Tool(tool) = &node.kind {
            single_braces(subject, (number, &node.id), &tool.args, drafts);
        }
    }
    for step in &subject.scope.steps {
        if !in_doubt {
            no_output((subject, ancestors.as_ref()), step, &outputs, drafts);
        }
        let mapped = !in_doubt && takes_what_came_before(subject, step, slips, drafts);
        if !mapped {
            undeclared(subject, step, drafts);
        }
        let Body::Text { text, .. } = &step.body else { continue };
        for read in &step.reads {
            let ReadSource::Open { declared: false, input: false } = read.source else { continue };
            let Some(placeholder) = step.placeholder(read) else { continue };
            if placeholder.is_code(text) || in_doubt && is_named_as_output(&read.name) {
                continue;
            }
            // Steps of one template have one text.
            if let Body::Text { template: Some(template), .. } = &step.body
                && !told.insert((&template.file, placeholder.range.start))
            {
                continue;
            }
            let id = subject.id(step.node);
            let message = format!(
                "{}: {{{}}} is not declared and no earlier step gives it; it stays as it is unless the caller gives a value",
                subject.called(step.node),
                placeholder.spelt()
            );
            let draft = subject.find_group(drafts, step, read.placeholder, message);
            if let Some(meant) = subject.held(placeholder) {
                draft.node(id).hint(format!("did you mean {}?", quoted(meant)));
                continue;
            }
            let names = step.declared.iter().map(|declared| declared.name.as_str());
            let inputs = subject.scope.inputs.keys().map(String::as_str);
            draft.node(id).did_you_mean(&read.name, names.chain(inputs).chain(outputs.iter().copied())).hint(format!(
                "declare {} in `variables`, or {}",
                quoted(&read.name),
                subject.in_form("in an input node", "under `inputs` of the front matter")
            ));
        }
    }
}

/// Ids in JSON that no placeholder can name, and that a text was to read; whether there are any. Those of Markdown are
/// told where they are read.
fn unreadable(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) -> bool {
    let mut found = false;
    let odd = subject.flow.nodes.iter().enumerate().filter(|(_, node)| node.runnable() && !subject.in_markdown());
    let odd = odd.filter_map(|(number, node)| Some((number, node, unreadable_id(&node.id)?))).take(MOST_ODD);
    for (number, node, (message, plain)) in odd {
        let [id, without, first] = [&node.id, &plain, node.id.split_whitespace().next().unwrap_or_default()]
            .map(|id| format!("{{{id}_result"));
        let reads = |step: &StepScope| match &step.body {
            Body::Text { text, .. } => [&id, &without, &first].into_iter().any(|group| text.contains(group.as_str())),
            _ => false,
        };
        if subject.scope.steps.iter().any(reads) {
            let place = Place::value(subject.flow.node_pointer(number).key("id"));
            let hint = format!("an id is letters, digits and _: write {}", quoted(&plain));
            drafts.find(place, message).node(&node.id).hint(hint);
            found = true;
        }
    }
    found
}

/// How many such ids are looked for in the texts.
const MOST_ODD: usize = 20;

/// Names that callers have to give, because a step that declares none reads them, and that are spelt like an input or
/// an output; and names that a call requires and nobody gives.
fn undeclared(subject: &FlowSubject<'_>, step: &StepScope, drafts: &mut Drafts<'_>) {
    let own = match &step.body {
        Body::Text { .. } => step.declared.is_empty(),
        Body::Call { .. } | Body::Link { .. } => true,
        Body::Faulty { .. } | Body::Elsewhere => false,
    };
    let requires = subject.flow.node_pointer(step.node).key("data").key("requires");
    let required = |read: &Read| {
        step.places.get(read.placeholder).is_some_and(|place| place.as_str().starts_with(requires.as_str()))
    };
    let (id, called) = (subject.id(step.node), subject.called(step.node));
    for read in step.reads.iter().filter(|_| own) {
        let ReadSource::Open { input: false, .. } = read.source else { continue };
        let meant = subject.slips().get(&*read.name);
        if meant.is_none() && !required(read) {
            continue;
        }
        // What is said of an output and of a mapping says it all; a name that others read may be given.
        let mapped = subject.edge_maps(id, &read.name);
        let elsewhere = |other: &StepScope| other.node != step.node && other.read(&read.name).is_some();
        if is_named_as_output(&read.name)
            || subject.called_as_output(&read.name).is_some()
            || mapped
            || (meant.is_none() && subject.scope.steps.iter().any(elsewhere))
        {
            continue;
        }
        let Some(placeholder) = step.placeholder(read) else { continue };
        let spelt = placeholder.spelt();
        let message = if required(read) {
            format!(
                "{called} requires {spelt}, and no input or step gives it: unless a caller does, the step is left out"
            )
        } else {
            format!("{called}: {{{spelt}}} is neither an input nor an output, so a caller must give it")
        };
        let draft = subject.find_group(drafts, step, read.placeholder, message).node(id);
        match meant {
            Some(meant) => draft.hint(format!("did you mean {}?", quoted(meant))),
            None => {
                draft.hint(format!("declare {} as an input, or name an output of an earlier step", quoted(&read.name)))
            }
        };
    }
}

/// The one name of a text in Markdown that nothing gives takes the output of the one step that it waits for: an
/// author who wrote `after` alone may have meant an input.
fn takes_what_came_before(
    subject: &FlowSubject<'_>,
    step: &StepScope,
    slips: &BTreeMap<&str, &str>,
    drafts: &mut Drafts<'_>,
) -> bool {
    let inline = matches!(&step.body, Body::Text { template: None, .. });
    let parents = subject.order.and_then(|order| order.parents.get(step.node));
    let Some([parent]) = parents.map(Vec::as_slice).filter(|_| subject.in_markdown() && inline) else { return false };
    let open = |read: &&Read| matches!(read.source, ReadSource::Open { declared: true, input: false });
    let (mut names, own) = (step.reads.iter().filter(open), step.declared.is_empty());
    let (Some(read), None, true) = (names.next(), names.next(), own) else { return false };
    let needed = |other: &StepScope| other.node != step.node && other.read(&read.name).is_some_and(|read| open(&read));
    // A mapping that is not used was meant for it, and says so.
    let unused =
        subject.flow.edges.iter().filter(|edge| edge.to == subject.id(step.node)).flat_map(|edge| &edge.mapping);
    let mut unused = unused.filter(|(target, _)| step.read(target).is_none());
    if slips.contains_key(read.name.as_str())
        || is_named_as_output(&read.name)
        || subject.called_as_output(&read.name).is_some()
        || step.givers().any(|giver| giver == *parent)
        || unused.next().is_some()
        || subject.scope.steps.iter().any(needed)
        || subject.flow.nodes.iter().any(|node| node.id == read.name)
    {
        return false;
    }
    let name = &read.name;
    let giver = subject.id(*parent);
    let message = format!(
        "{}: {{{name}}} is no input, and takes the output of {}",
        subject.called(step.node),
        subject.called(*parent)
    );
    subject.find_group(drafts, step, read.placeholder, message).node(subject.id(step.node)).hint(format!(
        "write `map: {{ {name}: {giver} }}` into the step's block if that is meant, or declare {} under `inputs` of the front matter",
        quoted(name)
    ));
    true
}

/// Names that are taken for variables, because the step declares none, and were to be a step's output.
fn no_output(
    (subject, ancestors): (&FlowSubject<'_>, Option<&Ancestors>),
    step: &StepScope,
    outputs: &BTreeSet<&str>,
    drafts: &mut Drafts<'_>,
) {
    if !step.declared.is_empty() || matches!(step.body, Body::Faulty { .. }) {
        return;
    }
    let (id, called) = (subject.id(step.node), subject.called(step.node));
    for read in &step.reads {
        let ReadSource::Open { input: false, .. } = read.source else { continue };
        let Some(placeholder) = step.placeholder(read) else { continue };
        let name = read.name.as_str();
        // The name of a step that does not come before is a name like any other.
        let earlier = |number: usize| match (ancestors, subject.flow.shape) {
            // There, what a text reads makes the edge, so that a step that is not read may stand anywhere before.
            (Some(ancestors), Shape::Markdown) => number != step.node && !ancestors.reaches(step.node, number),
            (Some(ancestors), _) => ancestors.reaches(number, step.node),
            (None, _) => false,
        };
        let mut nodes = subject.flow.nodes.iter().enumerate();
        let of_step = nodes.any(|(number, node)| node.runnable() && node.id == name && earlier(number));
        let meant = subject.called_as_output(name);
        if !of_step && meant.is_none() && !is_named_as_output(name) {
            continue;
        }
        let spelt = placeholder.spelt();
        let message = if of_step {
            format!(
                "{called}: {{{spelt}}} is not the output of {} {}, but a value that a caller must give",
                subject.in_form("node", "step"),
                quoted(name)
            )
        } else {
            format!("{called}: {{{spelt}}} is no output of a step, but a value that a caller must give")
        };
        let draft = subject.find_group(drafts, step, read.placeholder, message).node(id);
        let whole = format!("{name}_result");
        if of_step && outputs.contains(whole.as_str()) {
            draft.hint(format!("did you mean {}?", quoted(&whole)));
        } else if let Some(meant) = meant {
            draft.hint(format!("did you mean {}?", quoted(meant)));
        } else {
            draft.did_you_mean(name, outputs.iter().copied()).hint(format!(
                "where a caller is to give it, declare {} {}",
                quoted(name),
                subject.in_form("in `variables`", "under `inputs` of the front matter")
            ));
        }
    }
}

/// In a tool's arguments the placeholder is `{{ name }}`; a known name in single braces is a slip.
fn single_braces(
    subject: &FlowSubject<'_>,
    (number, id): (usize, &str),
    args: &serde_json::Map<String, Value>,
    drafts: &mut Drafts<'_>,
) {
    let known = |name: &str| subject.scope.inputs.contains_key(name) || subject.scope.givers(name).next().is_some();
    let base = subject.flow.node_pointer(number).key("data").key("args");
    let mut next: Vec<(Pointer, &Value)> = args.iter().map(|(key, value)| (base.key(key), value)).collect();
    while let Some((at, value)) = next.pop() {
        match value {
            Value::Array(items) => next.extend(items.iter().enumerate().map(|(place, item)| (at.item(place), item))),
            Value::Object(members) => next.extend(members.iter().map(|(key, value)| (at.key(key), value))),
            Value::String(text) => {
                let slip = placeholders(text, Syntax::Single).into_iter().find(|placeholder| {
                    let doubled = text.get(..placeholder.range.start).is_some_and(|before| before.ends_with('{'))
                        && text.get(placeholder.range.end..).is_some_and(|after| after.starts_with('}'));
                    !doubled && known(&placeholder.name)
                });
                if let Some(slip) = slip {
                    let spelt = slip.spelt();
                    let place = Place::within(at, slip.range);
                    drafts
                        .find(
                            place,
                            format!("{}: {{{spelt}}} is text in the arguments of a tool", subject.called(number)),
                        )
                        .node(id)
                        .hint(format!("write {{{{ {spelt} }}}} for its value"));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
