//! `unknown-tool`: a tool that no configured server has.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-tool",
    code: Code::ToolNotFound,
    summary: "The tool that a node calls exists, as far as the operator's servers are known.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::UnknownTool),
        "`flowy servers list` shows the servers, `flowy servers tools ALIAS` asks one for its tools anew",
    );
}
