//! Rules, findings, and the only maker of a [`CheckedFlow`].
//!
//! A bad file is data, not an error: checking it gives findings and, where none reaches the flow,
//! a checked flow whose steps are ready or faulty. What must be known of the outside (templates,
//! personas, contracts) comes in as values, so the command line, the server and CI say the same. How findings look is
//! not known here, and nothing is read or fetched.

mod checked;
mod doing;
mod finding;
mod guidance;
mod rule;
mod rules;
mod scope;

use std::sync::Arc;

use crate::document::{Document, Locator, Place, SyntaxProblem};
use crate::model::wire::{self, Unread};
use crate::model::{Flow, NodeKind, Shelf, Template, Toolbox};
use crate::names::CatalogPath;

pub use checked::CheckedFlow;
pub use doing::{MAX_DEPTH, MAX_STEPS};
pub use finding::{Draft, Drafts, Finding, Reach, Related, Severity};
pub use guidance::{Guidance, GuidanceReferences};
pub use rule::{Check, FileSubject, FlowSubject, Rule, Verdict};
pub use rules::REGISTRY;
pub use scope::{
    Body, DeclaredName, InputScope, Intent, Mapped, MappedBy, OutputPart, Read, ReadSource, Scope, StepScope,
    output_names,
};

/// The most nodes a flow may have.
pub const MAX_NODES: usize = 1_000;
/// The most edges a flow may have.
pub const MAX_EDGES: usize = 5_000;

/// What the checker is told of the outside.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The templates, personas and contracts that the flows name, looked up.
    pub shelf: &'a Shelf,
    /// Names that flows of other files have too, with those files: asking for them is ambiguous.
    pub twins: &'a [(String, Vec<String>)],
    /// The file's examples that don't find their flow; none where the catalog isn't known whole.
    pub strays: &'a [StrayExample],
    /// What is known of the operator's external tools; none where they are not looked at.
    pub tools: Option<&'a Toolbox>,
    /// Limits and leniency.
    pub options: Options,
}

/// One of a flow's `examples` that doesn't find the flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayExample {
    /// The flow's place among the flows of its file, from 0.
    pub place_in_file: usize,
    /// The example's place among the flow's, from 0.
    pub example: usize,
    /// The names of the flows that it finds first, best first; empty where it finds none.
    pub finds: Vec<String>,
}

/// How strictly to check.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// An edge to a node that is not there is a warning and is ignored, instead of an error.
    pub lenient: bool,
    /// The most nodes a flow may have.
    pub max_nodes: usize,
    /// The most edges a flow may have.
    pub max_edges: usize,
    /// Whether calls of tools that nobody knows are found: where the check itself is what was asked
    /// for. Where a flow is about to run, its servers are asked then.
    pub unchecked_calls: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { lenient: false, max_nodes: MAX_NODES, max_edges: MAX_EDGES, unchecked_calls: false }
    }
}

/// A file after reading: a document, or why it is none.
pub type Parsed = Result<Arc<Document>, Arc<SyntaxProblem>>;

/// Everything the checker says of one flow file.
#[derive(Debug, Clone)]
pub struct FileCheck {
    /// What was found in the file as a whole; what is found in a flow is with the flow.
    pub findings: Vec<Finding>,
    /// Its flows, in file order.
    pub flows: Vec<FlowCheck>,
}

/// Everything the checker says of one flow.
#[derive(Debug, Clone)]
pub struct FlowCheck {
    /// The flow as read.
    pub flow: Arc<Flow>,
    /// What was found in it, the file's own findings included, in file order.
    pub findings: Vec<Finding>,
    /// The checked flow, where no finding reaches it.
    pub checked: Option<CheckedFlow>,
}

/// Reads a file for [`flow_file`] and [`template_file`].
pub fn parse(path: &CatalogPath, bytes: &[u8]) -> Parsed {
    Document::parse(path.clone(), bytes).map(Arc::new).map_err(Arc::new)
}

/// The names by which a flow file's nodes ask for templates, each once, in file order.
pub fn template_references(parsed: &Parsed) -> Vec<String> {
    let Ok(document) = parsed else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for flow in wire::read_flows(document).flows {
        for node in flow.nodes {
            if let NodeKind::Template(template) = node.kind
                && let Some(selected) = template.selected
                && !names.contains(&selected)
            {
                names.push(selected);
            }
        }
    }
    names
}

/// The names by which a flow file's nodes ask for other flows: for each of its flows, each once, in
/// file order.
pub fn flow_references(parsed: &Parsed) -> Vec<Vec<String>> {
    let Ok(document) = parsed else { return Vec::new() };
    let of_flow = |flow: Flow| {
        let mut names: Vec<String> = Vec::new();
        for node in flow.nodes {
            if let NodeKind::Flow(link) = node.kind
                && let Some(name) = link.flow
                && !names.contains(&name)
            {
                names.push(name);
            }
        }
        names
    };
    wire::read_flows(document).flows.into_iter().map(of_flow).collect()
}

/// Checks a flow file, by every rule of the registry.
pub fn flow_file(path: &CatalogPath, parsed: &Parsed, known: Known<'_>) -> FileCheck {
    let document = match parsed {
        Ok(document) => document,
        Err(problem) => return FileCheck { findings: vec![finding::syntax(path, problem)], flows: Vec::new() },
    };
    let locator = Locator::new(&document.text);
    let read = wire::read_flows(document);
    let whole: Vec<Unread> =
        read.unread.iter().filter(|(flow, _)| flow.is_none()).map(|(_, unread)| unread.clone()).collect();
    let violations = rules::schema::violations(document, &rules::schema::FLOW);
    let mut file_findings = Drafts::new(path, &document.text, &locator);
    let subject = FileSubject { document, unread: &whole, violations: &violations, flows: read.flows.len() };
    run_file_rules(&subject, &mut file_findings);
    let file_findings = file_findings.finish();

    let flows = read
        .flows
        .into_iter()
        .enumerate()
        .map(|(place, flow)| {
            let unread: Vec<Unread> =
                read.unread.iter().filter(|(of, _)| *of == Some(place)).map(|(_, unread)| unread.clone()).collect();
            check_flow(Arc::new(flow), &unread, &file_findings, (document, &locator), known)
        })
        .collect();
    FileCheck { findings: file_findings, flows }
}

fn check_flow(
    flow: Arc<Flow>,
    unread: &[Unread],
    file_findings: &[Finding],
    (document, locator): (&Arc<Document>, &Locator<'_>),
    known: Known<'_>,
) -> FlowCheck {
    let view = checked::View::of(&flow, known);
    let mut drafts = Drafts::new(&flow.file, &document.text, locator);
    let subject = FlowSubject {
        document,
        flow: &flow,
        unread,
        graph: &view.graph,
        order: view.order.as_ref(),
        scope: &view.scope,
        known,
    };
    for rule in REGISTRY {
        if let Check::Flow(check) = rule.check {
            drafts.under(rule);
            check(&subject, &mut drafts);
        }
    }
    // What was found in the file concerns each of its flows, unless it lies in another one.
    let own = |finding: &&Finding| {
        flow.base.as_str().is_empty()
            || !finding.place.pointer.as_str().starts_with("/flows/")
            || within(&finding.place, flow.base.as_str())
    };
    let mut findings: Vec<Finding> = file_findings.iter().filter(own).cloned().collect();
    findings.extend(drafts.finish());
    for finding in &mut findings {
        finding.flow.get_or_insert_with(|| flow.name.to_string());
    }
    findings.sort_by(|a, b| {
        (a.file != flow.file, &a.file, a.span.start).cmp(&(b.file != flow.file, &b.file, b.span.start))
    });
    let refused = findings.iter().any(|finding| finding.reach == Reach::Flow);
    let checked = if refused { None } else { view.into_checked(flow.clone()) };
    FlowCheck { flow, findings, checked }
}

fn within(place: &Place, base: &str) -> bool {
    place.pointer.as_str().strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn run_file_rules(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for rule in REGISTRY {
        if let Check::File(check) = rule.check {
            drafts.under(rule);
            check(subject, drafts);
        }
    }
}

/// Everything the checker says of one template file.
#[derive(Debug, Clone)]
pub struct TemplateCheck {
    /// What was found.
    pub findings: Vec<Finding>,
    /// Its templates, in file order; none when a finding reaches the file.
    pub templates: Vec<Arc<Template>>,
}

/// Checks a template file.
pub fn template_file(path: &CatalogPath, parsed: &Parsed) -> TemplateCheck {
    let document = match parsed {
        Ok(document) => document,
        Err(problem) => return TemplateCheck { findings: vec![finding::syntax(path, problem)], templates: Vec::new() },
    };
    let read = wire::read_templates(document);
    let violations = rules::schema::violations(document, &rules::schema::TEMPLATE);
    let locator = Locator::new(&document.text);
    let mut drafts = Drafts::new(path, &document.text, &locator);
    let subject = FileSubject { document, unread: &read.unread, violations: &violations, flows: 0 };
    run_file_rules(&subject, &mut drafts);
    let findings = drafts.finish();
    let broken = findings.iter().any(|finding| finding.reach == Reach::Flow);
    let templates = if broken { Vec::new() } else { read.templates.into_iter().map(Arc::new).collect() };
    TemplateCheck { findings, templates }
}
