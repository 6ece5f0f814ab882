//! A flow file, read once: its document, its flows as the model has them, and what they name.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::checked::CheckedView;
use super::finding::{self, Drafts, Finding};
use super::{Check, FlowCheck, Known, Reach, Scope, rules};
use crate::document::{Document, Locator, Place, SyntaxProblem};
use crate::model::wire::{self, Unread};
use crate::model::{Flow, NodeKind, Shelf, Unusable};
use crate::names::CatalogPath;
use crate::validate::FileSubject;

/// A flow file after reading. Checking it, however often, reads nothing again.
#[derive(Debug, Clone)]
pub struct ParsedFlows {
    path: CatalogPath,
    contents: Result<Arc<Contents>, Arc<SyntaxProblem>>,
}

#[derive(Debug)]
struct Contents {
    document: Arc<Document>,
    flows: Vec<(Arc<Flow>, References)>,
    unread: Vec<(Option<usize>, Unread)>,
    /// What is found in the file as a whole, looked for once.
    findings: OnceLock<Vec<Finding>>,
}

/// The names by which a flow's nodes ask for other files, each once, in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// What `selectedTemplateId` names.
    pub templates: Vec<String>,
    /// What `persona` names.
    pub personas: Vec<String>,
    /// What `contract` names; inline schemas are not among them.
    pub contracts: Vec<String>,
    /// What `flow` names.
    pub flows: Vec<String>,
}

impl References {
    /// Collects them from a flow.
    pub fn of(flow: &Flow) -> Self {
        let mut names = Self::default();
        for node in &flow.nodes {
            match &node.kind {
                NodeKind::Template(step) => {
                    names.templates.extend(step.selected.clone());
                    names.personas.extend(step.persona.clone());
                    names.contracts.extend(step.contract.as_deref().and_then(Value::as_str).map(str::to_owned));
                }
                NodeKind::Flow(link) => names.flows.extend(link.flow.clone()),
                NodeKind::Input(_) | NodeKind::Tool(_) | NodeKind::Result | NodeKind::Other(_) => {}
            }
        }
        for list in [&mut names.templates, &mut names.personas, &mut names.contracts, &mut names.flows] {
            let mut seen: HashSet<String> = HashSet::new();
            list.retain(|name| seen.insert(name.clone()));
        }
        names
    }

    /// Whether a persona or a contract is named.
    pub fn has_guidance(&self) -> bool {
        !self.personas.is_empty() || !self.contracts.is_empty()
    }
}

impl ParsedFlows {
    /// Reads a file.
    pub fn read(path: &CatalogPath, bytes: &[u8]) -> Self {
        let contents = super::parse(path, bytes).map(|document| Arc::new(Contents::of(document)));
        Self { path: path.clone(), contents }
    }

    /// The file.
    pub fn path(&self) -> &CatalogPath {
        &self.path
    }

    /// Its document, where it is one.
    pub fn document(&self) -> Option<&Arc<Document>> {
        self.contents.as_ref().ok().map(|contents| &contents.document)
    }

    /// Its flows and what each names, in file order; none where it can't be read.
    pub fn flows(&self) -> &[(Arc<Flow>, References)] {
        self.contents.as_ref().map_or(&[], |contents| &contents.flows)
    }

    /// What was found in the file as a whole; what is found in a flow comes with the flow.
    pub fn findings(&self) -> Vec<Finding> {
        match &self.contents {
            Ok(contents) => contents.findings(&self.path).to_vec(),
            Err(problem) => vec![finding::syntax(&self.path, problem)],
        }
    }

    /// The same, and of a file that is no JSON also what is found in what can be read of it. What that names is not
    /// looked up.
    pub fn all_findings(&self) -> Vec<Finding> {
        let mut findings = self.findings();
        if let Some(lax) = self.lax() {
            let shelf = Shelf::unchecked();
            let known =
                Known { shelf: &shelf, twins: None, strays: &[], tools: None, options: super::Options::default() };
            let check = super::flow_file(&lax, known);
            findings.extend(check.findings);
            findings.extend(check.flows.into_iter().flat_map(|flow| flow.findings));
            findings.sort_by(|a, b| (a.span.start, a.rule, &a.message).cmp(&(b.span.start, b.rule, &b.message)));
            findings.dedup_by(|a, b| (a.rule, a.span, &a.message) == (b.rule, b.span, &b.message));
        }
        findings
    }

    /// What can be read of it, where it is no JSON.
    pub fn lax(&self) -> Option<Self> {
        let problem = self.contents.as_ref().err().filter(|_| !wire::is_markdown(self.path.as_str()))?;
        let document = Document::lax(self.path.clone(), &problem.text)?;
        Some(Self { path: self.path.clone(), contents: Ok(Arc::new(Contents::of(Arc::new(document)))) })
    }

    /// Its text, without a byte-order mark.
    pub fn text(&self) -> &Arc<str> {
        match &self.contents {
            Ok(contents) => &contents.document.text,
            Err(problem) => &problem.text,
        }
    }

    /// What the names of a flow mean, whatever is wrong with it: the flow, in Markdown with the edges that its
    /// texts make, and who declares, reads and provides which name. None where there is no flow at that place.
    pub fn names(&self, place: usize, known: Known<'_>) -> Option<(Arc<Flow>, Scope)> {
        let (flow, _) = self.flows().get(place)?;
        let view = CheckedView::of(flow, known);
        Some((view.flow, view.scope))
    }

    /// Why it holds no flow, where it holds none and should.
    pub fn unusable(&self) -> Option<Unusable> {
        let findings = if self.flows().is_empty() { self.findings() } else { Vec::new() };
        findings.iter().find(|finding| finding.reach == Reach::Flow).map(Finding::as_unusable)
    }

    /// What checks its flows, one after the other.
    pub fn checker(&self) -> FlowChecker<'_> {
        let contents = self.contents.as_ref().ok();
        FlowChecker {
            checked: contents.map(|contents| (&**contents, wire::locator(&self.path, &contents.document.text))),
            file: self,
        }
    }
}

impl Contents {
    fn of(document: Arc<Document>) -> Self {
        let read = wire::read_flows(&document);
        let with_names = |flow: Flow| {
            let references = References::of(&flow);
            (Arc::new(flow), references)
        };
        let flows = read.flows.into_iter().map(with_names).collect();
        Self { document, flows, unread: read.unread, findings: OnceLock::new() }
    }

    fn findings(&self, path: &CatalogPath) -> &[Finding] {
        self.findings.get_or_init(|| {
            let document = &self.document;
            let whole: Vec<Unread> =
                self.unread.iter().filter(|(flow, _)| flow.is_none()).map(|(_, unread)| unread.clone()).collect();
            let violations = rules::schema::violations(document, &rules::schema::FLOW);
            let locator = wire::locator(path, &document.text);
            let mut drafts = Drafts::new(path, &document.text, &locator);
            let subject = FileSubject { document, unread: &whole, violations: &violations, flows: self.flows.len() };
            super::run_file_rules(&subject, &mut drafts);
            drafts.finish()
        })
    }
}

/// Checks the flows of one file by every rule of the registry.
pub struct FlowChecker<'p> {
    checked: Option<(&'p Contents, Locator<'p>)>,
    file: &'p ParsedFlows,
}

impl FlowChecker<'_> {
    /// Checks one flow, by its place in the file; none where there is none.
    pub fn check(&self, place: usize, known: Known<'_>) -> Option<FlowCheck> {
        let (contents, locator) = self.checked.as_ref()?;
        let (flow, _) = contents.flows.get(place)?;
        let of_flow = contents.unread.iter().filter(|(of, _)| *of == Some(place));
        let unread: Vec<Unread> = of_flow.map(|(_, unread)| unread.clone()).collect();
        let (mut findings, view) = super::look_at(flow, &unread, &contents.document, locator, known);
        // What was found in the file concerns each of its flows, unless it lies in another one.
        let own = |finding: &&Finding| {
            flow.base.as_str().is_empty()
                || !finding.place.pointer.as_str().starts_with("/flows/")
                || within(&finding.place, flow.base.as_str())
        };
        let of_file = contents.findings(&self.file.path).iter().filter(own).cloned();
        findings.splice(0..0, of_file);
        told_once(&mut findings);
        for finding in &mut findings {
            finding.flow.get_or_insert_with(|| flow.name.to_string());
        }
        findings.sort_by(|a, b| {
            (a.file != flow.file, &a.file, a.span.start).cmp(&(b.file != flow.file, &b.file, b.span.start))
        });
        let refused = findings.iter().any(|finding| finding.reach == Reach::Flow);
        let flow = view.flow.clone();
        let checked = if refused { None } else { view.into_checked(&findings) };
        Some(FlowCheck { flow, findings, checked })
    }
}

/// Leaves out what follows from a value that is none of the schema: no rule can make sense of it.
fn told_once(findings: &mut Vec<Finding>) {
    let none_of_schema = |finding: &&Finding| {
        finding.rule == rules::schema::RULE.id
            && finding.reach == Reach::Flow
            && !finding.place.pointer.as_str().is_empty()
    };
    let places: Vec<Place> = findings.iter().filter(none_of_schema).map(|finding| finding.place.clone()).collect();
    if places.is_empty() {
        return;
    }
    let of_flow = |id: &str| rules::REGISTRY.iter().any(|rule| rule.id == id && matches!(rule.check, Check::Flow(_)));
    findings.retain(|finding| {
        let follows = places.iter().any(|place| within(&finding.place, place.pointer.as_str()));
        !follows || !of_flow(finding.rule)
    });
}

fn within(place: &Place, base: &str) -> bool {
    place.pointer.as_str().strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
