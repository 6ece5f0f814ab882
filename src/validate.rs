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
mod ignoring;
mod misreading;
mod parsed;
mod rule;
mod rules;
mod scope;
mod spelling;
mod tidying;
mod words;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::{Document, Locator, Pointer, SyntaxProblem};
use crate::model::wire::{self, Unread};
use crate::model::{Flow, FlowTest, MAX_EDGES, Shelf, Template, Toolbox};
use crate::names::{CatalogPath, Comparisons, Few};

use checked::CheckedView;

pub use checked::CheckedFlow;
pub use doing::{MAX_DEPTH, TELL_FLOWS_APART, TELL_TEMPLATES_APART};
pub use finding::{Draft, Drafts, Finding, Reach, Related, Severity};
pub use guidance::Guidance;
pub use ignoring::{IGNORE_KEY, LookedAt, Suppressed, SuppressedBy, sift, useless_setting};
pub use parsed::{FlowChecker, ParsedFlows, References};
pub use rule::{Check, FileSubject, FlowSubject, Rule, Verdict};
pub use rules::REGISTRY;
pub use rules::{
    UNAVAILABLE_TOOL, ambiguous_name::ambiguous_flow, bad_test::FindFlow, misplaced_file::misplaced_files,
    over_limit::MAX_STEPS, twin_files::twin_files, unusable_file::is_unusable, unusable_file::named_by_a_flow,
    unusable_file::unusable_file,
};
pub use scope::{
    Body, DeclaredName, InputScope, Intent, Mapped, MappedBy, Mending, OutputPart, Read, ReadSource, Scope, StepScope,
    output_names,
};
pub use tidying::{Fix, LayoutError, fix_of, formatted, mended, mending_of};

/// The most nodes a flow may have.
pub const MAX_NODES: usize = 1_000;

/// Names that mean several flows.
#[derive(Debug, Clone, Default)]
pub struct Twins {
    /// Names that several flows have, or give themselves where none has them, with the files of these.
    pub shared: BTreeMap<String, Few>,
    /// Names that flows give themselves though another flow has them, with the files of those that have them.
    pub taken: BTreeMap<String, Few>,
}

/// What the checker is told of the outside.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The templates, personas and contracts that the flows name, looked up.
    pub shelf: &'a Shelf,
    /// Names that flows of other files have too, with those files: asking for them is ambiguous.
    pub twins: Option<&'a Twins>,
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

/// Reads a file for [`template_file`].
pub fn parse(path: &CatalogPath, bytes: &[u8]) -> Parsed {
    wire::parse(path, bytes).map(Arc::new).map_err(Arc::new)
}

/// Checks a flow file, by every rule of the registry.
pub fn flow_file(file: &ParsedFlows, known: Known<'_>) -> FileCheck {
    let checker = file.checker();
    let flows = (0..file.flows().len()).filter_map(|place| checker.check(place, known)).collect();
    FileCheck { findings: file.all_findings(), flows }
}

/// What the rules find in one flow, and what was worked out for them.
fn look_at(
    flow: &Arc<Flow>,
    unread: &[Unread],
    document: &Document,
    locator: &Locator<'_>,
    known: Known<'_>,
) -> (Vec<Finding>, CheckedView) {
    let view = CheckedView::of(flow, known);
    let mut drafts = Drafts::new(&flow.file, &document.text, locator);
    let subject = FlowSubject {
        document,
        flow: &view.flow,
        unread,
        graph: &view.graph,
        order: view.order.as_ref(),
        scope: &view.scope,
        known,
        comparisons: Comparisons::default(),
        slips: OnceCell::new(),
        misread: OnceCell::new(),
        read_somewhere: OnceCell::new(),
    };
    let too_large = rules::over_limit::too_large(&view.flow, known.options);
    for rule in REGISTRY {
        if let Check::Flow(check) = rule.check
            && (!too_large || rule.id == rules::over_limit::RULE.id)
        {
            drafts.under(rule);
            check(&subject, &mut drafts);
        }
    }
    (drafts.finish(), view)
}

/// Everything the checker says of one file of tests.
#[derive(Debug, Clone)]
pub struct TestCheck {
    /// What was found. Nothing of it keeps a flow from running.
    pub findings: Vec<Finding>,
    /// The text that was read; none where it can't be read.
    pub document: Option<Arc<Document>>,
    /// Its tests, in file order, without those that an error keeps from being read as they are meant.
    pub tests: Vec<FlowTest>,
    /// Those, as far as they could be read.
    pub unusable: Vec<FlowTest>,
    /// Whether an error keeps anything in the file from being read as it is meant.
    pub broken: bool,
}

/// Checks a file of tests. `find` looks flows up; without it, they are not looked at.
pub fn test_file(path: &CatalogPath, bytes: &[u8], find: Option<&FindFlow<'_>>) -> TestCheck {
    let document = match parse(path, bytes) {
        Ok(document) => document,
        Err(problem) => {
            let findings = vec![Finding { reach: Reach::None, ..finding::syntax(path, &problem) }];
            return TestCheck { findings, document: None, tests: Vec::new(), unusable: Vec::new(), broken: true };
        }
    };
    let tests = wire::read_tests(&document);
    let violations = rules::schema::violations(&document, &rules::schema::TESTS);
    let locator = wire::locator(path, &document.text);
    let mut drafts = Drafts::new(path, &document.text, &locator);
    let subject = FileSubject { document: &document, unread: &[], violations: &violations, flows: 0 };
    run_file_rules(&subject, &mut drafts);
    rules::bad_test::look_at(&tests, &document, find, &mut drafts);
    let mut findings = drafts.finish();
    // What is wrong with one test of a list leaves the others as they are.
    let item = |pointer: &Pointer| pointer.steps().next().filter(|_| document.value.is_array());
    let stopping = findings.iter().filter(|found| found.reach == Reach::Flow);
    let faults: Vec<Option<String>> = stopping.map(|found| item(&found.place.pointer)).collect();
    let stops = |test: &FlowTest| faults.iter().any(|fault| fault.is_none() || *fault == item(&test.pointer));
    let broken = !faults.is_empty();
    let (unusable, tests) = tests.into_iter().partition(stops);
    for found in &mut findings {
        found.reach = Reach::None;
    }
    TestCheck { findings, document: Some(document), tests, unusable, broken }
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
    let locator = wire::locator(path, &document.text);
    let mut drafts = Drafts::new(path, &document.text, &locator);
    let subject = FileSubject { document, unread: &read.unread, violations: &violations, flows: 0 };
    run_file_rules(&subject, &mut drafts);
    let findings = drafts.finish();
    let broken = findings.iter().any(|finding| finding.reach == Reach::Flow);
    let mut templates: Vec<_> = if broken { Vec::new() } else { read.templates.into_iter().map(Arc::new).collect() };
    // Collecting keeps the room that the templates themselves took.
    templates.shrink_to_fit();
    TemplateCheck { findings, templates }
}
