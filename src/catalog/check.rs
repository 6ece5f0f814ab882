//! Checking the files of a whole catalog: what `flowy validate` shows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::build::{not_among, whole};
use super::desk::Desk;
use super::nested::{FlowPlace, Nesting};
use super::problems::{left_out, unreadable};
use super::stock::{JudgedFlow, Stock};
use super::{CatalogError, is_category, kept_check};
use crate::document::{Document, Span};
use crate::model::wire::is_among_tests;
use crate::model::{Flow, KnownFlow, Lookup, NodeKind, Taken, Template, TestedFlow, Toolbox, Unusable};
use crate::names::{CatalogPath, file_stem};
use crate::plan::Plan;
use crate::source::Snapshot;
use crate::validate::{
    FindFlow, Finding, LookedAt, ParsedFlows, Suppressed, is_unusable, misplaced_files, named_by_a_flow, sift,
    test_file, twin_files, unusable_file,
};

/// Which files are checked, and how.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The files that are asked about.
    pub wanted: &'a (dyn Fn(&CatalogPath) -> bool + Sync),
    /// Whether these are all flows of the catalog.
    pub whole: bool,
    /// Whether the flows and templates themselves are wanted, too.
    pub contents: bool,
    /// Whether edges to nodes that do not exist are ignored.
    pub lenient: bool,
    /// What is known of the operator's external tools; none where calls are not looked at.
    pub tools: Option<&'a Arc<Toolbox>>,
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
    /// What is known of its contents, where it is asked about.
    pub facts: FileFacts,
    /// Its flows, where it is asked about and contents are wanted.
    pub flows: Vec<Arc<Flow>>,
    /// The plan of each of them; none where something reaches it.
    pub plans: Vec<Option<Arc<Plan>>>,
    /// The templates that it holds, where it is asked about and contents are wanted.
    pub templates: Vec<Arc<Template>>,
    /// How many tests it holds, where it is asked about.
    pub tests: usize,
    /// Why it could not be read, where it couldn't.
    pub unusable: Option<Unusable>,
}

/// What a file's flows and templates are, without these.
#[derive(Debug, Clone, Default)]
pub struct FileFacts {
    /// How many flows there are.
    pub flows: usize,
    /// How many templates there are.
    pub templates: usize,
    /// What its steps call, as it is written.
    pub calls: Vec<String>,
    /// What its flows go by.
    pub(super) names: Vec<String>,
    /// The names by which they go through others.
    pub(super) uses: Vec<String>,
}

impl ReportedFile {
    /// One without flows and templates.
    pub(super) fn alone(file: String, unusable: Option<Unusable>) -> Self {
        let (flows, plans, templates) = (Vec::new(), Vec::new(), Vec::new());
        let facts = FileFacts::default();
        Self { file, findings: Vec::new(), suppressed: Vec::new(), facts, flows, plans, templates, tests: 0, unusable }
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
    let only_tests = || options.instead.keys().all(|path| is_among_tests(path.as_str()));
    if options.whole && !options.contents && only_tests() {
        if let Some(kept) = kept_check::kept(snapshot, options).await {
            return Ok(kept);
        }
        let checked = whole(snapshot, options).await?;
        kept_check::keep(snapshot, options, &checked).await;
        return Ok(checked);
    }
    Ok(Desk::read(snapshot, options.instead).await?.check(options))
}

/// What is found in one file of flows, and in the templates that these use.
pub(super) struct FoundInFlows {
    /// The file, with findings and suppressions that may be of other files.
    reported: ReportedFile,
    /// The files named by findings that nobody asks about.
    needs: Vec<String>,
}

impl FoundInFlows {
    /// Of a file and its flows, as far as these were judged.
    pub(super) fn of(
        path: &CatalogPath,
        file: &Result<ParsedFlows, Unusable>,
        judged: &[Arc<JudgedFlow>],
        options: CheckOptions<'_>,
    ) -> Self {
        let looked_at = LookedAt { references: true, whole: options.whole, tools: options.tools.is_some() };
        let asked_about = (options.wanted)(path);
        let (mut findings, mut suppressed, mut needs) = (Vec::new(), Vec::new(), Vec::new());
        if asked_about || !judged.is_empty() {
            // Whatever JSON a folder's description holds, it is no flow.
            let read = file.as_ref().ok().filter(|file| !is_category(path) || file.document().is_none());
            let of_file = read.map(ParsedFlows::all_findings).unwrap_or_default();
            let told = |finding: &Finding| asked_about || finding.file != *path && (options.wanted)(&finding.file);
            let of_flows = judged.iter().map(|judged| (&*judged.flow, &*judged.findings));
            (findings, suppressed) = sifted(of_file, &of_flows, read.and_then(ParsedFlows::document), looked_at);
            needs.extend(findings.iter().filter(|finding| !told(finding)).flat_map(|finding| finding.files.clone()));
            findings.retain(told);
            suppressed.retain(|one| told(&one.finding));
        }
        // Of thousands of files only what was found is kept.
        let contents = if options.contents { judged } else { &[] };
        let reported = ReportedFile {
            findings,
            suppressed,
            facts: FileFacts::of(judged.iter().map(|judged| &*judged.flow)),
            flows: contents.iter().map(|judged| judged.flow.clone()).collect(),
            plans: contents.iter().map(|judged| judged.plan.clone()).collect(),
            ..ReportedFile::alone(path.to_string(), file.as_ref().err().cloned())
        };
        Self { reported, needs }
    }
}

impl FileFacts {
    /// Of the flows of a file.
    pub fn of<'f>(flows: impl Iterator<Item = &'f Flow>) -> Self {
        let mut facts = Self::default();
        for flow in flows {
            facts.flows += 1;
            let names = [Some(flow.name.as_str()), Some(flow.file.stem()), flow.given_name.as_deref()];
            facts.names.extend(names.into_iter().flatten().map(str::to_owned));
            for node in &flow.nodes {
                match &node.kind {
                    NodeKind::Flow(link) => facts.uses.extend(link.flow.clone()),
                    NodeKind::Tool(tool) => facts.calls.extend(tool.call.clone()),
                    NodeKind::Template(_) | NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => {}
                }
            }
        }
        facts
    }
}

/// What is found in paths alone, whatever the files hold.
pub(super) fn of_paths<'p>(
    overlooked: &[(String, String)],
    paths: impl Iterator<Item = &'p CatalogPath>,
) -> Vec<Finding> {
    let mut found = misplaced_files(overlooked);
    found.extend(twin_files(paths));
    found
}

/// What is found in files beside flows, and what of it explains findings in others.
pub(super) fn beside_flows(
    mut of_files: Vec<Finding>,
    doubtful: &[(String, String)],
    guidance: &BTreeMap<CatalogPath, Arc<[u8]>>,
    found: &[FoundInFlows],
) -> (Vec<Finding>, Causes) {
    let findings = || found.iter().flat_map(|found| &found.reported.findings);
    let asked_for: BTreeSet<&str> = findings().filter_map(|finding| finding.asked.as_deref()).collect();
    let doubtful = doubtful.iter().filter(|(_, meant)| asked_for.contains(file_stem(meant)));
    of_files.extend(misplaced_files(&doubtful.cloned().collect::<Vec<_>>()));
    let named: BTreeSet<&str> = findings().flat_map(|found| &found.files).map(String::as_str).collect();
    let (unusable, noticed): (Vec<_>, Vec<_>) =
        guidance.iter().flat_map(|(path, bytes)| unusable_file(path, bytes)).partition(is_unusable);
    of_files.extend(noticed);
    // What a flow names is told with the flow, once.
    let (causes, alone): (Vec<_>, Vec<_>) = unusable.into_iter().partition(|found| named.contains(found.file.as_str()));
    let needed: BTreeSet<&str> = found.iter().flat_map(|found| &found.needs).map(String::as_str).collect();
    let (needed, alone): (Vec<_>, Vec<_>) = alone.into_iter().partition(|one| needed.contains(one.file.as_str()));
    of_files.extend(needed.into_iter().map(named_by_a_flow));
    of_files.extend(alone);
    (of_files, causes.into_iter().map(|found| (found.file.to_string(), Arc::new(found))).collect())
}

/// A flow as its tests must know it.
pub(super) fn tested(nesting: &Nesting<'_>, at: FlowPlace) -> Result<TestedFlow, Lookup<KnownFlow>> {
    let judged = nesting.flow(at).ok_or(Lookup::Missing { nearest: Vec::new() })?;
    let taken = |plan: &Arc<Plan>| {
        let names = plan.taken()?.into_iter().map(str::to_owned).collect();
        Some(Taken { names, sets: plan.sets().to_vec() })
    };
    Ok(TestedFlow { flow: judged.flow.clone(), takes: judged.plan.as_ref().and_then(taken) })
}

/// The files of tests that are asked about; `find` looks flows up.
pub(super) fn check_tests(options: CheckOptions<'_>, find: &FindFlow<'_>) -> Vec<ReportedFile> {
    let tests = options.instead.iter().filter(|(path, _)| is_among_tests(path.as_str()) && (options.wanted)(path));
    let of = |(path, bytes): (&CatalogPath, &Arc<[u8]>)| {
        let check = test_file(path, bytes, Some(find));
        let findings = in_order(check.findings);
        ReportedFile { findings, tests: check.tests.len(), ..ReportedFile::alone(path.to_string(), None) }
    };
    tests.map(of).collect()
}

/// Puts together what is found in all files.
pub(super) fn report(
    in_flows: Vec<FoundInFlows>,
    stock: &Stock,
    left_out: &[Unusable],
    (of_files, causes): (Vec<Finding>, Causes),
    options: CheckOptions<'_>,
) -> CatalogCheck {
    let wanted = |path: &str| CatalogPath::new(path).is_ok_and(|path| (options.wanted)(&path));
    // What is found in a template while a flow is checked is told with the template, once.
    let mut found: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    let mut suppressed: BTreeMap<String, Vec<Suppressed>> = BTreeMap::new();
    let mut files: BTreeMap<String, ReportedFile> = BTreeMap::new();
    for FoundInFlows { mut reported, .. } in in_flows {
        for mut finding in std::mem::take(&mut reported.findings) {
            finding.cause = finding.files.iter().find_map(|file| causes.get(file)).cloned();
            found.entry(finding.file.to_string()).or_default().push(finding);
        }
        for one in std::mem::take(&mut reported.suppressed) {
            suppressed.entry(one.finding.file.to_string()).or_default().push(one);
        }
        files.insert(reported.file.clone(), reported);
    }
    for finding in of_files.into_iter().filter(|finding| (options.wanted)(&finding.file)) {
        found.entry(finding.file.to_string()).or_default().push(finding);
    }
    let left: BTreeSet<&str> = left_out.iter().map(|unusable| unusable.file.as_str()).collect();
    for (path, read) in stock.templates.iter().filter(|(path, _)| !left.contains(path.as_str())) {
        let (file, asked_about) = (path.as_str(), (options.wanted)(path));
        if asked_about {
            found.entry(file.to_owned()).or_default().extend(read.findings.iter().cloned());
        } else if !found.contains_key(file) && !suppressed.contains_key(file) {
            continue;
        }
        let unusable = read.templates.as_ref().err().filter(|_| read.findings.is_empty()).cloned();
        let facts = FileFacts { templates: read.all().len(), ..FileFacts::default() };
        let templates = if options.contents { read.all().to_vec() } else { Vec::new() };
        let reported = ReportedFile { facts, templates, ..ReportedFile::alone(file.to_owned(), unusable) };
        files.insert(file.to_owned(), reported);
    }
    for file in found.keys().chain(suppressed.keys()) {
        // Neither a flow nor a template.
        files.entry(file.clone()).or_insert_with(|| ReportedFile::alone(file.clone(), None));
    }
    let mut files: Vec<ReportedFile> = files.into_values().collect();
    for file in &mut files {
        file.findings = found.remove(&file.file).map(in_order).unwrap_or_default();
        // What another flow has found at the same place, and does not suppress, is told.
        let told: HashSet<_> = file.findings.iter().map(said).collect();
        let mut left_unsaid = suppressed.remove(&file.file).unwrap_or_default();
        left_unsaid.retain(|one| !told.contains(&said(&one.finding)));
        left_unsaid.sort_by(|a, b| (a.finding.span.start, a.finding.rule).cmp(&(b.finding.span.start, b.finding.rule)));
        left_unsaid.dedup_by(|a, b| said(&a.finding) == said(&b.finding));
        file.suppressed = left_unsaid;
    }
    files.retain(|file| !file.findings.is_empty() || !file.suppressed.is_empty() || wanted(&file.file));
    for file in files.iter_mut().filter(|file| !wanted(&file.file)) {
        (file.flows, file.plans, file.templates) = (Vec::new(), Vec::new(), Vec::new());
        file.facts = FileFacts { flows: 0, templates: 0, calls: Vec::new(), ..std::mem::take(&mut file.facts) };
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
    for (number, file) in files.iter().enumerate() {
        for name in &file.facts.names {
            file_of.entry(name).or_insert(number);
        }
    }
    // How many flows are one within the other, as deep as they may be.
    let mut depth: Vec<usize> = files.iter().map(|file| usize::from(!file.facts.names.is_empty())).collect();
    for _ in 0..MOST_WITHIN {
        for (number, file) in files.iter().enumerate() {
            let within =
                file.facts.uses.iter().filter_map(|name| depth.get(*file_of.get(name.as_str())?).copied()).max();
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
    let with_flows: HashSet<_> = flows.clone().flat_map(|(_, findings)| findings).map(said).collect();
    let mut kept: Vec<Finding> = of_file.into_iter().filter(|finding| !with_flows.contains(&said(finding))).collect();
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

/// What a finding says of which place.
fn said(finding: &Finding) -> (&str, Span, &str) {
    (finding.rule, finding.span, &finding.message)
}

/// Findings of one file, each once, in the order of the file.
pub fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (a.span.start, a.rule, &a.message).cmp(&(b.span.start, b.rule, &b.message)));
    findings.dedup_by(|a, b| said(a) == said(b));
    findings
}
