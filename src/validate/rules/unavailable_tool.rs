//! `unavailable-tool`: a tool whose server is switched off, or could not say what tools it has.

use crate::code::Code;
use crate::document::Place;
use crate::model::ToolLookup;
use crate::names::quoted;
use crate::validate::doing::FaultKind;
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unavailable-tool",
    code: Code::ToolUnavailable,
    also: &[Verdict {
        severity: Severity::Warning,
        reach: Reach::None,
        when: "its server could not be asked, so that the call is not checked",
    }],
    summary: "The server of the tool that a node calls is switched on, and says what tools it has.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::SwitchedOff),
        "the operator switches it on in the servers file, in `disabled`",
    );
    let Some(tools) = subject.known.tools.filter(|_| subject.known.options.unchecked_calls) else { return };
    for step in &subject.scope.steps {
        let Body::Call { address, .. } = &step.body else { continue };
        if !matches!(tools.find(address), ToolLookup::NotKnown) {
            continue;
        }
        let id = subject.id(step.node);
        let place = Place::value(subject.flow.node_pointer(step.node).key("data").key("call"));
        let why = tools.trouble(&address.server).unwrap_or("nobody has asked it");
        let message = format!(
            "{}: the tools of server {} are not known: {why}; this call was not checked",
            subject.called(step.node),
            quoted(&address.server)
        );
        drafts
            .find(place, message)
            .only_warn()
            .node(id)
            .hint("`flowy servers tools ALIAS` asks that server alone; what it said once is kept for later checks");
    }
}
