//! Checking the files of a whole catalog: what `flowy validate` shows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::build::not_among;
use super::findable::stray_examples;
use super::names::FlowNames;
use super::nested::Nesting;
use super::problems::{left_out, unreadable};
use super::stock::{Judge, JudgedFlow, Manner, Stock};
use super::{CatalogError, in_folder, is_category};
use crate::document::Document;
use crate::model::wire::is_among_tests;
use crate::model::{Flow, Lookup, NodeKind, Template, Toolbox, Unusable};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::source::{Problem, ProblemKind, Snapshot};
use crate::validate::{
    Finding, Guidance, LookedAt, ParsedFlows, Suppressed, misplaced_files, sift, test_file, twin_files, unusable_file,
};

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
    fn alone(file: String, unusable: Option<Unusable>) -> Self {
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

/// The flow files of a catalog, by number.
type FlowFiles = Vec<(CatalogPath, Result<ParsedFlows, Unusable>)>;

/// What is wrong with files that findings in other files name.
type Causes = BTreeMap<String, Arc<Finding>>;

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
    let mut texts = snapshot.read_all().await?;
    for (path, bytes) in options.instead.iter().filter(|(path, _)| !is_among_tests(path.as_str())) {
        texts.retain(|(other, _)| other != path);
        let place = texts.partition_point(|(other, _)| other < path);
        texts.insert(place, (path.clone(), Ok(bytes.clone())));
    }
    let (files, problems) = (snapshot.files().await?, snapshot.problems().await?);
    let (mut stock, mut names, mut flow_files) = (Stock::default(), FlowNames::default(), FlowFiles::new());
    let left_out: Vec<Unusable> = not_among(&files, &problems).map(left_out).collect();
    for unusable in &left_out {
        match CatalogPath::new(&unusable.file) {
            Ok(path) if !in_folder(path.as_str(), "flows") => stock.take(&path, Err(unusable.clone())),
            _ => names.note_unusable(unusable),
        }
    }
    for (path, bytes) in &texts {
        let bytes = bytes.as_deref().map_err(|error| unreadable(path.as_str(), error));
        if in_folder(path.as_str(), "flows") {
            flow_files.push((path.clone(), bytes.map(|bytes| ParsedFlows::read(path, bytes))));
        } else {
            stock.take(path, bytes);
        }
    }
    note_names(&mut names, &flow_files);
    let twins = names.twins();
    let directory = stock.directory();
    let manner = Manner { lenient: options.lenient, unchecked_calls: true, tools: options.tools, twins: Some(&twins) };
    let judged = judge(&flow_files, &names, Judge { directory: &directory, stock: &stock, manner }, options.whole);
    let mut of_files = misplaced_files(&overlooked(&problems));
    of_files.extend(twin_files(files.iter().map(|(path, _)| path)));
    let named: BTreeSet<&str> = findings(&judged).flat_map(|found| &found.files).map(String::as_str).collect();
    let guidance = texts.iter().filter(|(path, _)| Guidance::is_guidance(path));
    let unusable = guidance.filter_map(|(path, bytes)| unusable_file(path, bytes.as_ref().ok()?));
    // What a flow names is told with the flow, once.
    let (causes, alone): (Vec<_>, Vec<_>) = unusable.partition(|found| named.contains(found.file.as_str()));
    let causes: Causes = causes.into_iter().map(|found| (found.file.to_string(), Arc::new(found))).collect();
    of_files.extend(alone);
    let of_tests = check_tests(&judged, &names, options);
    let mut checked = report(flow_files, &judged, &stock, left_out, (of_files, &causes), options);
    checked.files.extend(of_tests);
    Ok(checked)
}

/// The files of tests that are asked about.
fn check_tests(judged: &[Vec<Arc<JudgedFlow>>], names: &FlowNames, options: CheckOptions<'_>) -> Vec<ReportedFile> {
    let find = |name: &str| {
        let (file, place) = names.find(name)?;
        let flow = judged.get(file).and_then(|flows| flows.get(place)).map(|judged| judged.flow.clone());
        flow.ok_or(Lookup::Missing { nearest: Vec::new() })
    };
    let asked_about =
        options.instead.iter().filter(|(path, _)| is_among_tests(path.as_str()) && (options.wanted)(path));
    asked_about
        .map(|(path, bytes)| {
            let check = test_file(path, bytes, Some(&find));
            let findings = in_order(check.findings);
            ReportedFile { findings, tests: check.tests.len(), ..ReportedFile::alone(path.to_string(), None) }
        })
        .collect()
}

/// The files that are not read for where they lie or how they end, each with the path under which it would be.
fn overlooked(problems: &[Problem]) -> Vec<(String, String)> {
    let meant = |problem: &Problem| match &problem.kind {
        ProblemKind::Overlooked { meant } => Some((problem.path.clone(), meant.clone())),
        _ => None,
    };
    problems.iter().filter_map(meant).collect()
}

fn findings(judged: &[Vec<Arc<JudgedFlow>>]) -> impl Iterator<Item = &Finding> {
    judged.iter().flatten().flat_map(|judged| &judged.findings)
}

fn note_names(names: &mut FlowNames, files: &FlowFiles) {
    for (number, (path, file)) in files.iter().enumerate().filter(|(_, (path, _))| !is_category(path)) {
        match file {
            Err(unusable) => names.note_unusable(unusable),
            Ok(file) => {
                for (flow, _) in file.flows() {
                    let (name, stem) = (Some(flow.name.as_str()), Some(path.stem()));
                    let names_of = [name, stem, flow.given_name.as_deref(), flow.id.as_deref()];
                    names.note((number, flow.place_in_file), path.as_str(), names_of);
                }
                if let Some(unusable) = file.unusable() {
                    names.note_unusable(&unusable);
                }
            }
        }
    }
}

/// Checks the flows of every file, each after the flows within it.
fn judge(files: &FlowFiles, names: &FlowNames, judge: Judge<'_>, whole: bool) -> Vec<Vec<Arc<JudgedFlow>>> {
    let (by_number, find) = (|file: usize| files.get(file).map(|(_, file)| file), |name: &str| names.find(name));
    let nesting = Nesting::new(&by_number, &find, judge);
    let flows = |(number, (path, _)): (usize, &(CatalogPath, _))| {
        if is_category(path) { Vec::new() } else { nesting.flows(number) }
    };
    let mut judged: Vec<Vec<Arc<JudgedFlow>>> = files.iter().enumerate().map(flows).collect();
    if whole {
        // What an example finds is known when every flow is; the few flows with one that strays are checked again.
        for ((number, place), strays) in stray_examples(&judged) {
            let Some((_, Ok(file))) = files.get(number) else { continue };
            let within = nesting.within((number, place));
            let again = judge.flow(file, &file.checker(), place, &within, &strays);
            if let (Some(flow), Some(again)) = (judged.get_mut(number).and_then(|flows| flows.get_mut(place)), again) {
                *flow = Arc::new(again);
            }
        }
    }
    judged
}

fn report(
    flow_files: FlowFiles,
    judged: &[Vec<Arc<JudgedFlow>>],
    stock: &Stock,
    left_out: Vec<Unusable>,
    (of_files, causes): (Vec<Finding>, &Causes),
    options: CheckOptions<'_>,
) -> CatalogCheck {
    let wanted = |path: &str| CatalogPath::new(path).is_ok_and(|path| (options.wanted)(&path));
    // What is found in a template while a flow is checked is told with the template, once.
    let mut found: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    let mut suppressed: BTreeMap<String, Vec<Suppressed>> = BTreeMap::new();
    let looked_at = LookedAt { references: true, whole: options.whole, tools: options.tools.is_some() };
    for ((path, file), flows) in flow_files.iter().zip(judged) {
        // Whatever JSON a folder's description holds, it is no flow.
        let read = file.as_ref().ok().filter(|file| !is_category(path) || file.document().is_none());
        let of_file = read.map(ParsedFlows::all_findings).unwrap_or_default();
        let asked_about = (options.wanted)(path);
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
    for ((path, file), flows) in flow_files.into_iter().zip(judged) {
        let plans = flows.iter().map(|judged| judged.plan.clone()).collect();
        let flows = flows.iter().map(|judged| judged.flow.clone()).collect();
        let unusable = file.err();
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
    let of_left = |unusable: Unusable| ReportedFile::alone(unusable.file.clone(), Some(unusable));
    files.extend(left_out.into_iter().filter(|unusable| wanted(&unusable.file)).map(of_left));
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
