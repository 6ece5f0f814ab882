//! `missing-flow-input`: an input that another flow needs and isn't given.

use crate::code::Code;
use crate::names::{VariableName, quoted};
use crate::validate::doing::FaultKind;
use crate::validate::scope::set_selector;
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, ReadSource, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-flow-input",
    code: Code::MissingVariables,
    also: &[Verdict {
        severity: Severity::Warning,
        reach: Reach::None,
        when: "the node hands over an input that callers may leave out",
    }],
    summary: "A node gives the flow it goes through every input that it needs.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::LacksInput),
        subject.in_form(
            "add the names to `data.variables`, each with a text",
            "add the names to `variables` of the step's block, each with a text",
        ),
    );
    for step in &subject.scope.steps {
        let Body::Link { flow, values } = &step.body else { continue };
        // A set may give what is left out.
        if values.written().keys().any(|key| set_selector(key)) {
            continue;
        }
        let needs = |input: &str| flow.inputs.iter().any(|(name, required)| *required && name == input);
        for (number, hole) in values.holes().iter().enumerate().filter(|(_, hole)| hole.alone && hole.path.is_empty()) {
            let mut at = hole.at.steps();
            let (Some(key), None) = (at.next(), at.next()) else { continue };
            let needed = VariableName::normal(&key).is_ok_and(|input| needs(input.as_str()));
            let Some(read) = step.outline.name_of.get(number).and_then(|name| step.reads.get(*name)) else { continue };
            let open = match &read.source {
                ReadSource::Open { .. } => read.name.as_str(),
                ReadSource::MappedInput { input, .. } => input.as_str(),
                _ => continue,
            };
            if !needed || !may_be_left_out(subject, open) {
                continue;
            }
            let id = subject.id(step.node);
            let message = format!(
                "{} hands {} to {} of flow {}, which needs it, and callers may leave it out",
                subject.called(step.node),
                quoted(open),
                quoted(&key),
                quoted(&flow.name)
            );
            let draft = subject.find_group(drafts, step, number, message).node(id).only_warn();
            draft.hint(format!("make {} required in `inputs`, or give it a default, here or there", quoted(open)));
        }
    }
}

/// Whether `inputs` says that an input is not required, and nothing in the files gives it.
fn may_be_left_out(subject: &FlowSubject<'_>, name: &str) -> bool {
    let Some(input) = subject.scope.inputs.get(name) else { return false };
    let said = input.refinement.and_then(|place| subject.flow.inputs.get(place));
    said.is_some_and(|said| said.required == Some(false) && said.default.is_none())
        && input.nodes.iter().all(|(_, _, default)| default.is_none())
}
