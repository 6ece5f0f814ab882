//! Checking the files of a whole catalog: what `flowy validate` shows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::build::not_among;
use super::desk::{Desk, FlowFiles};
use super::problems::{left_out, unreadable};
use super::stock::{JudgedFlow, Stock};
use super::{CatalogError, is_category};
use crate::document::Document;
use crate::model::{Flow, NodeKind, Template, Toolbox, Unusable};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::source::Snapshot;
use crate::validate::{Finding, LookedAt, ParsedFlows, Suppressed, sift};

/// Which files are checked, and how.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The files that are asked about.
    pub wanted: &'a (dyn Fn(&CatalogPath) -> bool + Sync),
    /// Whether these are all flows of the catalog.
    pub whole: bool,
    /// Whether edges to nodes that do not exist are ignored.
    pub lenient: bool,
    /// What is known of the operator's external tools; none where calls are not looked at.
    pub tools: Option<&'a Toolbox>,
    /// Files whose texts are others than the source's, or which the source doesn't have, as files of tests.
    pub instead: &'a BTreeMap<CatalogPath, Arc<[u8]>>,
}

/// A file that is asked about, or that something was found in while one of these was checked.
#[derive(Debug, Clone)]
pub struct ReportedFile {
    /// The file, as a path of the catalog.
    pub file: String,
    /// What was found in it, in its order.
    pub findings: Vec<Finding>,
    /// What was found in it and is suppressed by its flows.
    pub suppressed: Vec<Suppressed>,
    /// Its flows, where it is asked about.
    pub flows: Vec<Arc<Flow>>,
    /// The plan of each of them; none where something reaches it.
    pub plans: Vec<Option<Arc<Plan>>>,
    /// The templates that it holds, where it is asked about.
    pub templates: Vec<Arc<Template>>,
    /// How many tests it holds, where it is asked about.
    pub tests: usize,
    /// Why it could not be read, where it couldn't.
    pub unusable: Option<Unusable>,
}

impl ReportedFile {
    /// One without flows and templates.
    pub(super) fn alone(file: String, unusable: Option<Unusable>) -> Self {
        let (flows, plans, templates) = (Vec::new(), Vec::new(), Vec::new());
        Self { file, findings: Vec::new(), suppressed: Vec::new(), flows, plans, templates, tests: 0, unusable }
    }
}

/// Everything that checking a catalog found.
#[derive(Debug, Clone, Default)]
pub struct CatalogCheck {
    /// The files of flows and templates, sorted; behind them what is not among the catalog's files.
    pub files: Vec<ReportedFile>,
}

/// How many flows may be one within the other; more are refused.
const MOST_WITHIN: usize = 8;

/// What is wrong with files that findings in other files name.
pub(super) type Causes = BTreeMap<String, Arc<Finding>>;

/// The bytes of every file of a revision by its path, or why they can't be had; last what is not among its files.
///
/// # Errors
/// When the source does not answer.
pub async fn texts(snapshot: &Snapshot) -> Result<Vec<(String, Result<Arc<[u8]>, Unusable>)>, CatalogError> {
    let (files, problems) = (snapshot.files().await?, snapshot.problems().await?);
    let texts = snapshot.read_all().await?.into_iter().map(|(path, bytes)| {
        let bytes = bytes.map_err(|error| unreadable(path.as_str(), &error));
        (path.to_string(), bytes)
    });
    let others = not_among(&files, &problems).map(|problem| (problem.path.clone(), Err(left_out(problem))));
    Ok(texts.chain(others).collect())
}

/// Reads every file of a revision, and checks its flows.
///
/// # Errors
/// When the source does not answer.
pub async fn check(snapshot: &Snapshot, options: CheckOptions<'_>) -> Result<CatalogCheck, CatalogError> {
    Ok(Desk::read(snapshot, options.instead).await?.check(options))
}

pub(super) fn findings(judged: &[Vec<Arc<JudgedFlow>>]) -> impl Iterator<Item = &Finding> {
    judged.iter().flatten().flat_map(|judged| &judged.findings)
}

pub(super) fn report(
    flow_files: &FlowFiles,
    judged: &[Vec<Arc<JudgedFlow>>],
    stock: &Stock,
    left_out: &[Unusable],
    (of_files, causes): (Vec<Finding>, &Causes),
    options: CheckOptions<'_>,
) -> CatalogCheck {
    let wanted = |path: &str| CatalogPath::new(path).is_ok_and(|path| (options.wanted)(&path));
    // What is found in a template while a flow is checked is told with the template, once.
    let mut found: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    let mut suppressed: BTreeMap<String, Vec<Suppressed>> = BTreeMap::new();
    let looked_at = LookedAt { references: true, whole: options.whole, tools: options.tools.is_some() };
    for ((path, file), flows) in flow_files.iter().zip(judged) {
        let asked_about = (options.wanted)(path);
        if !asked_about && flows.is_empty() {
            continue;
        }
        // Whatever JSON a folder's description holds, it is no flow.
        let read = file.as_ref().ok().filter(|file| !is_category(path) || file.document().is_none());
        let of_file = read.map(ParsedFlows::all_findings).unwrap_or_default();
        let told = |finding: &Finding| asked_about || finding.file != *path && (options.wanted)(&finding.file);
        let of_flows = flows.iter().map(|judged| (&*judged.flow, &*judged.findings));
        let (findings, left_unsaid) = sifted(of_file, &of_flows, read.and_then(ParsedFlows::document), looked_at);
        for mut finding in findings.into_iter().filter(told) {
            finding.cause = finding.files.iter().find_map(|file| causes.get(file)).cloned();
            found.entry(finding.file.to_string()).or_default().push(finding);
        }
        for one in left_unsaid.into_iter().filter(|one| told(&one.finding)) {
            suppressed.entry(one.finding.file.to_string()).or_default().push(one);
        }
    }
    for finding in of_files.into_iter().filter(|finding| (options.wanted)(&finding.file)) {
        found.entry(finding.file.to_string()).or_default().push(finding);
    }
    let left: BTreeSet<String> = left_out.iter().map(|unusable| unusable.file.clone()).collect();
    let mut files: BTreeMap<String, ReportedFile> = BTreeMap::new();
    for ((path, file), flows) in flow_files.iter().zip(judged) {
        let plans = flows.iter().map(|judged| judged.plan.clone()).collect();
        let flows = flows.iter().map(|judged| judged.flow.clone()).collect();
        let unusable = file.as_ref().err().cloned();
        let file = path.to_string();
        files.insert(file.clone(), ReportedFile { flows, plans, ..ReportedFile::alone(file, unusable) });
    }
    for (file, read) in stock.templates.iter().filter(|(file, _)| !left.contains(*file)) {
        if wanted(file) {
            found.entry(file.clone()).or_default().extend(read.findings.iter().cloned());
        }
        let unusable = read.templates.as_ref().err().filter(|_| read.findings.is_empty()).cloned();
        let templates = read.all().to_vec();
        let reported = ReportedFile { templates, ..ReportedFile::alone(file.clone(), unusable) };
        files.insert(file.clone(), reported);
    }
    for file in found.keys().chain(suppressed.keys()) {
        // Neither a flow nor a template.
        files.entry(file.clone()).or_insert_with(|| ReportedFile::alone(file.clone(), None));
    }
    let mut files: Vec<ReportedFile> = files.into_values().collect();
    for file in &mut files {
        file.findings = found.remove(&file.file).map(in_order).unwrap_or_default();
        // What another flow has found at the same place, and does not suppress, is told.
        let told = |one: &Suppressed| file.findings.iter().any(|finding| same(finding, &one.finding));
        let mut left_unsaid = suppressed.remove(&file.file).unwrap_or_default();
        left_unsaid.retain(|one| !told(one));
        left_unsaid.sort_by(|a, b| (a.finding.span.start, a.finding.rule).cmp(&(b.finding.span.start, b.finding.rule)));
        left_unsaid.dedup_by(|a, b| same(&a.finding, &b.finding));
        file.suppressed = left_unsaid;
    }
    files.retain(|file| !file.findings.is_empty() || !file.suppressed.is_empty() || wanted(&file.file));
    for file in files.iter_mut().filter(|file| !wanted(&file.file)) {
        (file.flows, file.plans, file.templates) = (Vec::new(), Vec::new(), Vec::new());
    }
    let of_left = |unusable: &Unusable| ReportedFile::alone(unusable.file.clone(), Some(unusable.clone()));
    files.extend(left_out.iter().filter(|unusable| wanted(&unusable.file)).map(of_left));
    causes_first(&mut files);
    CatalogCheck { files }
}

/// Puts what flows use before them: what is wrong in a flow within a flow, or in a template, is often why the
/// flow around it has findings, too.
fn causes_first(files: &mut [ReportedFile]) {
    let mut file_of: HashMap<&str, usize> = HashMap::new();
    let mut uses: Vec<Vec<&str>> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        for flow in &file.flows {
            let stem = Some(flow.file.stem());
            for name in [Some(flow.name.as_str()), stem, flow.given_name.as_deref()].into_iter().flatten() {
                file_of.entry(name).or_insert(number);
            }
        }
        let nodes = file.flows.iter().flat_map(|flow| &flow.nodes);
        uses.push(
            nodes
                .filter_map(|node| if let NodeKind::Flow(link) = &node.kind { link.flow.as_deref() } else { None })
                .collect(),
        );
    }
    // How many flows are one within the other, as deep as they may be.
    let mut depth: Vec<usize> = files.iter().map(|file| usize::from(!file.flows.is_empty())).collect();
    for _ in 0..MOST_WITHIN {
        for (number, uses) in uses.iter().enumerate() {
            let within = uses.iter().filter_map(|name| depth.get(*file_of.get(name)?).copied()).max();
            if let (Some(within), Some(depth)) = (within, depth.get_mut(number)) {
                *depth = (*depth).max((within + 1).min(MOST_WITHIN));
            }
        }
    }
    let depth: HashMap<String, usize> = files.iter().map(|file| file.file.clone()).zip(depth).collect();
    files.sort_by_key(|file| depth.get(&file.file).copied());
}

/// What is found in a file and its flows, without what the flows suppress, and what they suppress. What is
/// found in the file comes with each flow that it concerns.
pub fn sifted<'f>(
    of_file: Vec<Finding>,
    flows: &(impl Iterator<Item = (&'f Flow, &'f [Finding])> + Clone),
    document: Option<&Arc<Document>>,
    looked_at: LookedAt,
) -> (Vec<Finding>, Vec<Suppressed>) {
    let with_flows = |finding: &Finding| flows.clone().flat_map(|(_, findings)| findings).any(|own| same(own, finding));
    let mut kept: Vec<Finding> = of_file.into_iter().filter(|finding| !with_flows(finding)).collect();
    let mut suppressed = Vec::new();
    for (flow, findings) in flows.clone() {
        let Some(document) = document else {
            kept.extend_from_slice(findings);
            continue;
        };
        let (findings, left_unsaid) = sift(flow, document, findings.to_vec(), looked_at);
        kept.extend(findings);
        suppressed.extend(left_unsaid);
    }
    (kept, suppressed)
}

/// Whether two findings say the same of the same place.
fn same(a: &Finding, b: &Finding) -> bool {
    (a.rule, a.span, &a.message) == (b.rule, b.span, &b.message)
}

/// Findings of one file, each once, in the order of the file.
pub fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (a.span.start, a.rule, &a.message).cmp(&(b.span.start, b.rule, &b.message)));
    findings.dedup_by(|a, b| same(a, b));
    findings
}
