//! What a rule is: an id, a severity, a reach, a sentence, and one function.

use crate::code::{Code, WarningCode};
use crate::document::{Document, Place, Pointer};
use crate::graph::{Graph, Order};
use crate::model::wire::Unread;
use crate::model::{Flow, NodeKind};
use crate::names::quoted;
use crate::render::Placeholder;
use crate::validate::doing::FaultKind;
use crate::validate::rules::schema::Violation;
use crate::validate::{Body, Draft, Drafts, Known, Reach, Scope, Severity, StepScope};

/// A check.
#[derive(Debug)]
pub struct Rule {
    /// Its id: kebab-case, names the fault.
    pub id: &'static str,
    /// How bad what it finds is, unless it says otherwise.
    pub severity: Severity,
    /// What that keeps from running, unless it says otherwise.
    pub reach: Reach,
    /// What callers are told where what it finds is an error, unless it says otherwise.
    pub code: Code,
    /// What callers of an execution are told where what it finds is a warning; none where that
    /// changes nothing of how the flow runs.
    pub warning: Option<WarningCode>,
    /// What else it may say, and when.
    pub also: &'static [Verdict],
    /// What it looks for, in one sentence, for tables and help.
    pub summary: &'static str,
    /// The check.
    pub check: Check,
}

/// What a rule says of some of what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// How bad it is.
    pub severity: Severity,
    /// What it keeps from running.
    pub reach: Reach,
    /// Of what, in words that follow "when it is" or stand in brackets.
    pub when: &'static str,
}

impl Rule {
    /// Every severity and reach that its findings may have, its usual one first.
    pub fn verdicts(&self) -> impl Iterator<Item = (Severity, Reach)> {
        std::iter::once((self.severity, self.reach)).chain(self.also.iter().map(|also| (also.severity, also.reach)))
    }
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A file as a whole.
    File(fn(&FileSubject<'_>, &mut Drafts<'_>)),
    /// One flow.
    Flow(fn(&FlowSubject<'_>, &mut Drafts<'_>)),
    /// Nothing: what it names is found while the file is read.
    Reading,
}

/// What a file rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct FileSubject<'a> {
    /// The file.
    pub document: &'a Document,
    /// What reading it found.
    pub unread: &'a [Unread],
    /// Where it departs from the published schema.
    pub violations: &'a [Violation],
    /// How many flows were read from it (0 for template files).
    pub flows: usize,
}

/// What a flow rule may look at.
#[derive(Debug, Clone, Copy)]
pub struct FlowSubject<'a> {
    /// The file that it stands in.
    pub document: &'a Document,
    /// The flow.
    pub flow: &'a Flow,
    /// What reading it found.
    pub unread: &'a [Unread],
    /// Its graph; edges that lead nowhere are left out.
    pub graph: &'a Graph,
    /// Its order; none where there is a ring.
    pub order: Option<&'a Order>,
    /// Who declares, reads and provides what.
    pub scope: &'a Scope,
    /// What is known of the outside.
    pub known: Known<'a>,
}

impl FlowSubject<'_> {
    /// The id of a node, as written.
    pub fn id(&self, node: usize) -> &str {
        self.flow.nodes.get(node).map_or("", |node| node.id.as_str())
    }

    /// The persona that a node names.
    pub fn persona(&self, node: usize) -> Option<&str> {
        match &self.flow.nodes.get(node)?.kind {
            NodeKind::Template(step) => step.persona.as_deref(),
            _ => None,
        }
    }

    /// Notes what keeps steps from being done, where it is of such a kind.
    pub(in crate::validate) fn find_faults(&self, drafts: &mut Drafts<'_>, of: fn(FaultKind) -> bool, hint: &str) {
        for step in &self.scope.steps {
            let Some(fault) = step.fault.as_ref().filter(|fault| of(fault.kind)) else { continue };
            let id = self.id(step.node);
            let data = self.flow.node_pointer(step.node).key("data");
            let place = Place::value(Pointer::spelt(&format!("{}{}", data.as_str(), fault.at.as_str())));
            let draft = drafts.find(place, format!("node {}: {}", quoted(id), fault.message)).node(id);
            let draft = draft.code(fault.kind.code());
            match (&fault.mending, &fault.meant) {
                (Some(mending), _) => draft.mended_by(mending),
                (None, Some((wanted, nearest))) => {
                    draft.did_you_mean(wanted, nearest.iter().map(String::as_str)).hint(hint)
                }
                (None, None) => draft.hint(hint),
            };
        }
    }

    /// Notes a finding at a placeholder of a step's text, in whichever file the text stands.
    pub fn find_placeholder<'d>(
        &self,
        drafts: &'d mut Drafts<'_>,
        step: &StepScope,
        placeholder: &Placeholder,
        message: String,
    ) -> Draft<'d> {
        match &step.body {
            Body::Text { template: Some(template), .. } => {
                let pointer = template.text_pointer.clone();
                let place = if template.text_whole {
                    Place::within(pointer, placeholder.range.clone())
                } else {
                    Place::value(pointer)
                };
                drafts.find_in(template, place, message)
            }
            _ if !step.places.is_empty() => {
                let number = step.outline.placeholders.iter().position(|other| std::ptr::eq(other, placeholder));
                let place = number.and_then(|number| step.places.get(number)).cloned();
                drafts.find(Place::value(place.unwrap_or_default()), message)
            }
            _ => {
                let pointer = self.flow.node_pointer(step.node).key("data").key("template");
                drafts.find(Place::within(pointer, placeholder.range.clone()), message)
            }
        }
    }
}
