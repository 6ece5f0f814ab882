//! What a rule is: an id, a severity, a reach, a sentence, and one function.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::code::{Code, WarningCode};
use crate::document::{Document, Note, NoteKind, Place, Pointer};
use crate::graph::{Graph, Order};
use crate::model::wire::Unread;
use crate::model::{Edge, Flow, Lookup, Node, NodeKind, OutputShape};
use crate::names::Comparisons;
use crate::render::Placeholder;
use crate::validate::doing::FaultKind;
use crate::validate::misreading::Misread;
use crate::validate::rules::schema::Violation;
use crate::validate::spelling;
use crate::validate::{Body, Draft, Drafts, Known, Reach, ReadSource, Scope, Severity, StepScope};

/// How edges are written, for whoever has none.
pub(in crate::validate) const EDGES: &str = "connect its nodes: \"edges\": [{\"source\": \"…\", \"target\": \"…\"}]";

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
    /// What callers of an execution are told where what it finds keeps nothing from running; none where that
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
    /// What most rules say whose findings are errors; each adds its id and what it looks for.
    pub(in crate::validate) const fn error(reach: Reach, check: Check) -> Self {
        let (severity, code) = (Severity::Error, Code::ValidationError);
        Self { id: "", severity, reach, code, warning: None, also: &[], summary: "", check }
    }

    /// The same of those whose findings are warnings, which keep nothing from running.
    pub(in crate::validate) const fn warning(check: Check) -> Self {
        Self { severity: Severity::Warning, ..Self::error(Reach::None, check) }
    }

    /// Every severity and reach that its findings may have, its usual one first.
    #[cfg(feature = "internals")]
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
    /// Nothing of a file alone: what it names is found where all files of a catalog are known.
    Catalog,
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

impl<'a> FileSubject<'a> {
    /// What reading noticed, of one kind.
    pub(in crate::validate) fn notes(&self, of: fn(&NoteKind) -> bool) -> impl Iterator<Item = &'a Note> + use<'a> {
        self.document.notes.iter().filter(move |note| of(&note.kind))
    }
}

/// What a flow rule may look at.
#[derive(Debug)]
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
    /// What may still be compared to find names that are spelt alike.
    pub comparisons: Comparisons,
    pub(super) slips: OnceCell<BTreeMap<&'a str, &'a str>>,
    pub(super) misread: OnceCell<Vec<Misread<'a>>>,
    pub(super) read_somewhere: OnceCell<HashSet<&'a str>>,
}

impl FlowSubject<'_> {
    /// How the order of steps is written: for a file in JSON as given, for one in Markdown with a step of the flow,
    /// the one before a node where there is one.
    pub(in crate::validate) fn order_hint(&self, json: &str, node: Option<usize>) -> String {
        let mut steps = self.flow.nodes.iter().enumerate().filter(|(_, node)| node.runnable());
        let earlier = |number: usize| node.is_none_or(|node| number < node);
        let before = match node {
            Some(_) => steps.take_while(|(number, _)| earlier(*number)).last(),
            None => steps.next(),
        };
        match before {
            _ if !self.in_markdown() => json.to_owned(),
            Some((_, step)) => format!(
                "let a text read the output of the step before, `{{{0}_result}}`, or write `after: {0}` into the step's block",
                step.id
            ),
            None => {
                "let the text of a later step read its output, or write it as `after` into that step's block".to_owned()
            }
        }
    }

    /// Whether an edge to that node maps a variable of that name.
    pub(in crate::validate) fn edge_maps(&self, to: &str, name: &str) -> bool {
        let maps = |edge: &Edge| edge.to == to && edge.mapping.iter().any(|(target, _)| target == name);
        self.flow.edges.iter().any(maps)
    }

    /// How many edges are written as such; in Markdown texts make more of them.
    pub(in crate::validate) fn written_edges(&self) -> usize {
        self.items("edges")
    }

    /// Whether a node is a result.
    pub(in crate::validate) fn is_result(&self, id: &str) -> bool {
        self.flow.nodes.iter().any(|node| node.id == id && matches!(node.kind, NodeKind::Result))
    }

    /// The id of a node, as written.
    pub fn id(&self, node: usize) -> &str {
        self.flow.nodes.get(node).map_or("", |node| node.id.as_str())
    }

    /// Whether anything of the flow can run.
    pub(in crate::validate) fn has_steps(&self) -> bool {
        self.flow.nodes.iter().any(Node::runnable)
    }

    /// Whether the file holds nodes that could not be read.
    pub(in crate::validate) fn some_nodes_unread(&self) -> bool {
        self.items("nodes") > self.flow.nodes.len()
    }

    /// Whether the flow has several steps, or a step and a result, and nothing connects any of them.
    pub(in crate::validate) fn lacks_edges(&self) -> bool {
        let steps = self.flow.nodes.iter().filter(|node| node.runnable()).count();
        let results = self.flow.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Result)).count();
        self.flow.edges.is_empty() && steps > 0 && steps + results > 1
    }

    /// Whether a node could not be read, or an id stands for several: what edges name may be one of these.
    pub(in crate::validate) fn nodes_in_doubt(&self) -> bool {
        let unnamed = self.flow.nodes.iter().any(|node| node.id.is_empty());
        self.ids_in_doubt() || self.some_nodes_unread() || unnamed
    }

    /// Whether an id stands for several nodes, or a step is hidden in a text: what names that id may mean another.
    pub(in crate::validate) fn ids_in_doubt(&self) -> bool {
        let mut seen = HashSet::new();
        let hides = |note: &Note| matches!(note.kind, NoteKind::LostStep | NoteKind::UnclosedFence);
        self.document.notes.iter().any(hides) || !self.flow.nodes.iter().all(|node| seen.insert(node.id.as_str()))
    }

    /// Whether a step lost what it is or does by a slip that is told: what is said of names would follow from it.
    pub(in crate::validate) fn steps_in_doubt(&self) -> bool {
        let was_other = |node: &Node| match &node.kind {
            NodeKind::Other(kind) => kind.is_empty() || NodeKind::meant(kind).is_some(),
            _ => false,
        };
        let loses = |note: &Note| note.stops || note.kind == NoteKind::OddId;
        let flow = || self.document.value.pointer(self.flow.base.as_str()).and_then(serde_json::Value::as_object);
        self.nodes_in_doubt()
            || self.flow.nodes.iter().any(was_other)
            || self.document.notes.iter().any(loses)
            || self.flow.edges.is_empty() && flow().is_some_and(spelling::misspells_edges)
    }

    /// Whether an edge leads nowhere or could not be read, so that nothing follows from where no edge is.
    pub(in crate::validate) fn edges_in_doubt(&self) -> bool {
        let known: HashSet<&str> = self.flow.nodes.iter().map(|node| node.id.as_str()).collect();
        let leads =
            |edge: &Edge| edge.from != edge.to && [&edge.from, &edge.to].iter().all(|end| known.contains(end.as_str()));
        self.items("edges") > self.flow.edges.len() || !self.flow.edges.iter().all(leads)
    }

    /// Whether what a text reads draws the edges, and what some step reads is not known: its text can't be had, or
    /// settings of it are lost.
    pub(in crate::validate) fn reads_in_doubt(&self) -> bool {
        let unknown = |step: &StepScope| matches!(step.body, Body::Faulty { .. } | Body::Elsewhere);
        let lost = |note: &Note| matches!(note.kind, NoteKind::Misspelt) && note.step.is_some();
        self.in_markdown() && (self.scope.steps.iter().any(unknown) || self.document.notes.iter().any(lost))
    }

    fn items(&self, key: &str) -> usize {
        let list = self.document.value.pointer(self.flow.base.key(key).as_str());
        match list {
            None | Some(serde_json::Value::Null) => 0,
            Some(serde_json::Value::Array(items)) => items.len(),
            // What is there, and no list, can't be read.
            Some(_) => 1,
        }
    }

    /// Whether a step reads another's output that no edge brings to it.
    pub(in crate::validate) fn reads_without_edges(&self) -> bool {
        let mut reads = self.scope.steps.iter().flat_map(|step| step.reads.iter().map(move |read| (step.node, read)));
        reads.any(|(reader, read)| matches!(read.source, ReadSource::Unreachable { node } if node != reader))
    }

    /// Whether a step leads to a node, through notes and other results too; true where there is a ring.
    pub(in crate::validate) fn is_fed(&self, node: usize) -> bool {
        self.order.is_none_or(|order| order.parents.get(node).is_some_and(|parents| !parents.is_empty()))
    }

    /// Where the flow's edges are, or would be.
    pub(in crate::validate) fn place_of_edges(&self) -> Place {
        let edges = self.flow.base.key("edges");
        let there = self.document.value.pointer(edges.as_str()).is_some();
        Place::key(if there { edges } else { self.flow.base.key("nodes") })
    }

    /// The steps whose outputs are the flow's results: of each result node the last that feeds it, else
    /// the last step that has an edge.
    pub(in crate::validate) fn shown_steps(&self) -> Vec<usize> {
        let Some(order) = self.order else { return Vec::new() };
        let places: HashMap<usize, usize> =
            order.steps.iter().enumerate().map(|(place, node)| (*node, place)).collect();
        let place = |node: &usize| places.get(node).copied();
        let feeder = |node: usize| order.parents.get(node)?.iter().copied().max_by_key(place);
        let results = self.flow.nodes.iter().enumerate().filter(|(_, node)| matches!(node.kind, NodeKind::Result));
        let fed: Vec<usize> = results.filter_map(|(number, _)| feeder(number)).collect();
        if !fed.is_empty() {
            return fed;
        }
        let connected = order.steps.iter().rev().find(|node| self.graph.connected(**node));
        connected.or(order.steps.last()).copied().into_iter().collect()
    }

    /// What the output of a step can hold, as far as the files say.
    pub(in crate::validate) fn output_shape(&self, node: usize) -> Cow<'_, OutputShape> {
        let place = self.scope.steps.binary_search_by_key(&node, |step| step.node).ok();
        let Some(step) = place.and_then(|place| self.scope.steps.get(place)) else {
            return Cow::Owned(OutputShape::Unknown);
        };
        let goes_on =
            matches!(self.flow.nodes.get(node).map(|node| &node.kind), Some(NodeKind::Template(step)) if step.goes_on);
        match (&step.body, &step.contract) {
            // It may be a failure, which has fields of its own.
            _ if goes_on => Cow::Owned(OutputShape::Unknown),
            (Body::Link { flow, .. }, _) => Cow::Borrowed(&flow.output),
            (Body::Text { .. } | Body::Elsewhere, Some(Lookup::Found(contract))) => {
                Cow::Owned(OutputShape::Contract(contract.clone()))
            }
            (Body::Text { .. }, None) => Cow::Owned(OutputShape::Text),
            _ => Cow::Owned(OutputShape::Unknown),
        }
    }

    /// The flow that a step goes through, by the name that the node has for it.
    pub(in crate::validate) fn link(&self, node: usize) -> Option<&str> {
        match &self.flow.nodes.get(node)?.kind {
            NodeKind::Flow(link) => link.flow.as_deref(),
            _ => None,
        }
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
            // A setting that nobody reads may be the one that gives it, or the value that does not fit.
            let lost = |note: &Note| note.stops && note.step.as_deref() == Some(id);
            if matches!(fault.kind, FaultKind::LacksInput | FaultKind::UnfitInput | FaultKind::Misfit)
                && self.document.notes.iter().any(lost)
            {
                continue;
            }
            let data = self.flow.node_pointer(step.node).key("data");
            let place = Place::value(Pointer::spelt(&format!("{}{}", data.as_str(), fault.at.as_str())));
            let at = place.pointer.clone();
            let draft = drafts.find(place, format!("{}: {}", self.called(step.node), fault.message)).node(id);
            let draft = draft.code(fault.kind.code());
            match (&fault.mending, &fault.meant) {
                (Some(mending), _) => draft.mended_by(mending),
                (None, Some((wanted, nearest))) if fault.kind == FaultKind::NoFlow => {
                    draft.names_file(wanted, nearest.iter().map(String::as_str), at).hint(hint)
                }
                (None, Some((wanted, nearest))) => {
                    draft.did_you_mean(wanted, nearest.iter().map(String::as_str)).hint(hint)
                }
                (None, None) => draft.hint(hint),
            };
        }
    }

    /// Notes a finding at the placeholder of that number of a step, in whichever file and text it stands.
    pub fn find_group<'d>(
        &self,
        drafts: &'d mut Drafts<'_>,
        step: &StepScope,
        number: usize,
        message: String,
    ) -> Draft<'d> {
        match (step.places.get(number), step.outline.placeholders.get(number)) {
            (None, Some(placeholder)) => self.find_in_text(drafts, step, placeholder, message),
            (place, _) => drafts.find(Place::value(place.cloned().unwrap_or_default()), message),
        }
    }

    /// Notes a finding at what is spelt like a placeholder in a step's text, in whichever file that stands.
    pub fn find_in_text<'d>(
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
            _ => {
                let pointer = self.flow.node_pointer(step.node).key("data").key("template");
                drafts.find(Place::within(pointer, placeholder.range.clone()), message)
            }
        }
    }
}

impl StepScope {
    /// The steps whose outputs it reads by name, or by an edge.
    pub(in crate::validate) fn givers(&self) -> impl Iterator<Item = usize> {
        self.reads.iter().filter_map(|read| match &read.source {
            ReadSource::Mapped(mapped) => Some(mapped.node),
            ReadSource::Output { node, .. } | ReadSource::Set { node, .. } => Some(*node),
            ReadSource::MappedInput { .. }
            | ReadSource::Unreachable { .. }
            | ReadSource::Ambiguous
            | ReadSource::Open { .. } => None,
        })
    }
}
