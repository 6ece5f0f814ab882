//! What changes in behaviour between two states of a catalog: flows, inputs, steps, order, texts and results.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::app::testing::{app_for_tests, in_both, tests_of};
use crate::app::{App, Error, Prepared, TestChange};
use crate::catalog::CatalogError;
use crate::clock::Clock;
use crate::config::{Environment, Settings};
use crate::model::{Node, NodeKind, ToolNode};
use crate::names::quoted;
use crate::plan::{Input, Plan, Step, Work};
use crate::source::slug::parse;
use crate::source::{GitError, SourceSpec, files_at};
use crate::validate::{Finding, Severity};

/// Which states are compared.
#[derive(Debug, Clone)]
pub struct DiffRequest {
    /// The earlier one: a folder, a branch, tag or commit of the repository here, or a repository on GitHub.
    pub from: String,
    /// The later one; the working copy without any.
    pub to: Option<String>,
    /// Ask GitHub for the newest state, whatever the cache holds.
    pub refresh: bool,
}

/// What changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Difference {
    /// The earlier state, in words.
    pub from: String,
    /// The later state, in words.
    pub to: String,
    /// The flows that are not the same, by name.
    pub flows: Vec<FlowDifference>,
    /// The files that can't be read in the later state, and were not there or readable in the earlier one.
    pub unreadable: Vec<String>,
    /// The tests of the later state that fail in at least one of the two.
    pub tests: Vec<TestChange>,
    /// How many tests there are.
    pub tests_run: usize,
    /// The files whose tests can't be run.
    pub tests_broken: Vec<String>,
}

/// What changes of a flow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowDifference {
    /// Its name, the later one where it has another.
    pub name: String,
    /// Its file, likewise.
    pub file: String,
    /// What became of it.
    pub kind: DifferenceKind,
    /// Whether it can be executed: before and after.
    pub runs: (bool, bool),
    /// What callers give.
    pub inputs: Vec<InputChange>,
    /// What its steps do.
    pub steps: Vec<StepChange>,
    /// The steps that both have, in order, where that is another: before and after.
    pub order: Option<(Vec<String>, Vec<String>)>,
    /// The labels of results that are new or come from another step.
    pub results_added: Vec<String>,
    /// The labels of results that are gone.
    pub results_removed: Vec<String>,
    /// The files of templates whose changed texts it uses.
    pub templates: Vec<String>,
    /// The flows that it goes through and that are not the same.
    pub flows: Vec<String>,
}

/// What became of a flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It is there, and another than before.
    #[default]
    Changed,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed {
        /// Its name before.
        from: String,
    },
}

/// What changes of what a caller gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputChange {
    /// The input.
    pub name: String,
    /// What changes.
    pub kind: InputChangeKind,
}

/// How an input changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputChangeKind {
    /// It is new; calls without it fail where it is required.
    Added {
        /// Whether it is required.
        required: bool,
    },
    /// It is gone.
    Removed,
    /// It was optional, and calls without it fail now.
    Required,
    /// It was required.
    Optional,
    /// Its default, as JSON; none where there is none.
    Default {
        /// Before.
        before: Option<String>,
        /// After.
        after: Option<String>,
    },
}

/// What changes of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepChange {
    /// The node's id.
    pub id: String,
    /// Its label.
    pub label: String,
    /// What changes.
    pub kind: StepChangeKind,
}

/// How a step changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its text.
    Text {
        /// Before.
        before: Arc<str>,
        /// After.
        after: Arc<str>,
    },
    /// What it does otherwise, in words: its call, the flow it goes through, its persona or contract.
    Work(Vec<&'static str>),
    /// It could run and can't now, or the other way round.
    Runs {
        /// Whether it can run now.
        now: bool,
    },
    /// The steps that it waits for.
    Waits {
        /// Before.
        before: Vec<String>,
        /// After.
        after: Vec<String>,
    },
}

/// Compares two states of a catalog.
///
/// # Errors
/// When one of them can't be had.
pub async fn diff(
    request: &DiffRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Difference, Error> {
    let here = environment.current_folder();
    let from = state(Some(&request.from), here, settings)?;
    let to = state(request.to.as_deref(), here, settings)?;
    let words = [words(&from, Some(&request.from)), words(&to, request.to.as_deref())];
    let (tests, broken) = tests_of(&to, settings);
    let tests_broken = broken.into_iter().map(|file| file.file).collect();
    let before = app_for_tests(from, settings, clock.clone())?;
    let after = app_for_tests(to, settings, clock)?;
    let (earlier, later) = (flows(&before, request.refresh).await?, flows(&after, request.refresh).await?);
    let [from, to] = words;
    let flows = compare(&earlier, &later);
    let unreadable = later.broken.difference(&earlier.broken).cloned().collect();
    let changed = in_both(&before, &after, &tests).await?;
    Ok(Difference {
        from: from + &earlier.read,
        to: to + &later.read,
        flows,
        unreadable,
        tests: changed,
        tests_run: tests.len(),
        tests_broken,
    })
}

/// A state in words; a folder as it was `given`.
fn words(spec: &SourceSpec, given: Option<&str>) -> String {
    match (spec, given) {
        (SourceSpec::Folder(_), Some(given)) => given.to_owned(),
        (SourceSpec::Folder(_), None) => "the working copy".to_owned(),
        (spec, _) => described(spec),
    }
}

fn described(spec: &SourceSpec) -> String {
    match spec {
        SourceSpec::Texts { name, .. } => name.clone(),
        SourceSpec::Folder(path) => path.display().to_string(),
        SourceSpec::GitHub { slug, git_ref, .. } => {
            git_ref.as_ref().map_or_else(|| slug.to_string(), |git_ref| format!("{slug}@{git_ref}"))
        }
        SourceSpec::Examples(_) => "built-in examples".to_owned(),
    }
}

/// What a name means: a folder that is there, else what git knows by it, else a repository on GitHub.
fn state(name: Option<&str>, here: &Path, settings: &Settings) -> Result<SourceSpec, Error> {
    let root = super::catalog_around(here).unwrap_or(here);
    let Some(name) = name else {
        if super::has_flows(root) {
            return Ok(SourceSpec::Folder(root.to_owned()));
        }
        let message = "there is no working copy to compare with: neither this folder nor one above it has flows/";
        return Err(Error::invalid(message).next("name the second state, too"));
    };
    let folder = here.join(name);
    if folder.is_dir() && (super::has_flows(&folder) || name.starts_with('.') || name.starts_with('/')) {
        return Ok(SourceSpec::Folder(folder));
    }
    let of_git = files_at(root, name, false, settings.max_file_size);
    match of_git {
        Ok(found) => {
            let commit = found.commit.get(..7).unwrap_or(&found.commit);
            let name = if found.commit.starts_with(name) { name.to_owned() } else { format!("{name} ({commit})") };
            Ok(SourceSpec::Texts { name, files: found.files, problems: found.problems })
        }
        // `origin/main` is a branch that lacks here, and no repository on GitHub.
        Err(error @ GitError::NoCommit { .. }) if !name.contains(['@', ':']) => Err(no_state(name, &folder, error)),
        Err(error) if name.contains('/') => match parse(name, &settings.api_url)? {
            SourceSpec::Folder(_) => Err(no_state(name, &folder, error)),
            spec @ (SourceSpec::GitHub { .. } | SourceSpec::Examples(_) | SourceSpec::Texts { .. }) => Ok(spec),
        },
        Err(error) => Err(no_state(name, &folder, error)),
    }
}

/// Why a name is no state: it is no folder with flows either.
fn no_state(name: &str, folder: &Path, error: GitError) -> Error {
    let name = quoted(name);
    let no_folder =
        if folder.is_dir() { format!("the folder {name} has no flows/") } else { format!("there is no folder {name}") };
    let outside = matches!(error, GitError::NoRepository(_));
    let mut told = Error::from(error);
    told.message = format!("{no_folder}, and {}", told.message);
    if outside { told.next("name a folder that holds flows/, or call it within a git repository") } else { told }
}

/// The flows of a state.
struct FlowsOf {
    by_name: BTreeMap<String, Arc<Prepared>>,
    /// The files that are there and can't be read.
    broken: BTreeSet<String>,
    /// What of a repository was read, in words to add.
    read: String,
}

/// Every flow of a state. Of two with one name none can be asked for, and the checker says so.
async fn flows(app: &App, refresh: bool) -> Result<FlowsOf, Error> {
    let catalog = app.catalog(None, refresh).await?;
    let names: Vec<String> = catalog.index().names()?.map(str::to_owned).collect();
    let mut by_name = BTreeMap::new();
    for name in names {
        match catalog.prepare(&name).await {
            Ok(prepared) => {
                by_name.insert(prepared.flow.name.to_string(), prepared);
            }
            // Nothing is known of a flow then, and so nothing is said of what became of it.
            Err(error) if error.is_internal() || matches!(error, CatalogError::Source(_)) => return Err(error.into()),
            Err(_) => {}
        }
    }
    let mut broken: BTreeSet<String> = catalog.problems()?.iter().map(|problem| problem.file.clone()).collect();
    // What of these was read has findings, which are told where they change something.
    for flow in by_name.values() {
        broken.remove(flow.flow.file.as_str());
    }
    let commit = catalog.origin().commit.as_ref().map(|commit| commit.chars().take(7).collect::<String>());
    let older = catalog.origin().stale.as_ref().map(|reason| format!("an older copy: {reason}"));
    let read: Vec<String> = commit.into_iter().chain(older).collect();
    let read = if read.is_empty() { String::new() } else { format!(" ({})", read.join(", ")) };
    Ok(FlowsOf { by_name, broken, read })
}

fn compare(before: &FlowsOf, after: &FlowsOf) -> Vec<FlowDifference> {
    let of_state = |state: &FlowsOf, other: &FlowsOf| -> Vec<Arc<Prepared>> {
        let alone = state.by_name.iter().filter(|(name, _)| !other.by_name.contains_key(*name));
        alone.map(|(_, flow)| flow.clone()).collect()
    };
    let (mut gone, mut new) = (of_state(before, after), of_state(after, before));
    let mut pairs: Vec<FlowPair> = Vec::new();
    pairs.extend(paired(&mut gone, &mut new, |flow| flow.flow.id.clone(), |_, _| true));
    pairs.extend(paired(&mut gone, &mut new, likeness, same_flow));
    let both = after.by_name.iter().filter_map(|(name, flow)| Some((before.by_name.get(name)?.clone(), flow.clone())));
    pairs.extend(both);
    let plain = |flow: &Prepared, kind, runs| {
        let (name, file) = (flow.flow.name.to_string(), flow.flow.file.to_string());
        FlowDifference { name, file, kind, runs, ..FlowDifference::default() }
    };
    let mut all = Vec::new();
    let mut through: Vec<(FlowDifference, Vec<String>)> = Vec::new();
    for (earlier, flow) in pairs {
        let from = || DifferenceKind::Renamed { from: earlier.flow.name.to_string() };
        let kind = if earlier.flow.name == flow.flow.name { DifferenceKind::Changed } else { from() };
        let about = plain(&flow, kind, (earlier.plan.is_some(), flow.plan.is_some()));
        through.push((changes(&earlier, &flow, about), inner_flows([&earlier, &flow])));
    }
    for flow in gone {
        // A file that can't be read any more is there, and its flow is not removed.
        let there = after.broken.contains(flow.flow.file.as_str());
        let kind = if there { DifferenceKind::Changed } else { DifferenceKind::Removed };
        all.push(plain(&flow, kind, (flow.plan.is_some(), false)));
    }
    for flow in new {
        let there = before.broken.contains(flow.flow.file.as_str());
        let kind = if there { DifferenceKind::Changed } else { DifferenceKind::Added };
        all.push(plain(&flow, kind, (false, flow.plan.is_some())));
    }
    all.extend(touched(through, &all));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The differences of flows that are in both states, with those of the flows that they go through.
fn touched(flows: Vec<(FlowDifference, Vec<String>)>, others: &[FlowDifference]) -> Vec<FlowDifference> {
    let differs = |flow: &FlowDifference| flow.runs.0 != flow.runs.1 || *flow != unchanged(flow);
    let mut names: BTreeSet<String> = others.iter().map(|flow| flow.name.clone()).collect();
    names.extend(flows.iter().filter(|(flow, _)| differs(flow)).map(|(flow, _)| flow.name.clone()));
    let with = |(mut flow, inner): (FlowDifference, Vec<String>)| {
        flow.flows = inner.into_iter().filter(|name| names.contains(name)).collect();
        (differs(&flow) || !flow.flows.is_empty()).then_some(flow)
    };
    flows.into_iter().filter_map(with).collect()
}

/// The same flow, as if nothing of it changed.
fn unchanged(flow: &FlowDifference) -> FlowDifference {
    let (name, file) = (flow.name.clone(), flow.file.clone());
    FlowDifference { name, file, runs: flow.runs, ..FlowDifference::default() }
}

/// The names of the flows that a flow goes through in one of its states, those within others too.
fn inner_flows(states: [&Prepared; 2]) -> Vec<String> {
    fn note(plan: &Plan, names: &mut Vec<String>) {
        for step in plan.steps() {
            let Work::Flow(linked) = &step.work else { continue };
            let name = linked.of.flow.name.to_string();
            if !names.contains(&name) {
                names.push(name);
                note(&linked.of.plan, names);
            }
        }
    }
    let mut names = Vec::new();
    for plan in states.into_iter().filter_map(|state| state.plan.as_deref()) {
        note(plan, &mut names);
    }
    names
}

/// A flow in both states.
type FlowPair = (Arc<Prepared>, Arc<Prepared>);

/// Takes out of the flows that are gone and of those that are new the ones that are the same: they have one key, and
/// `same` says so. Only flows of one key are compared with each other, however many there are.
fn paired<K: Ord>(
    gone: &mut Vec<Arc<Prepared>>,
    new: &mut Vec<Arc<Prepared>>,
    key: impl Fn(&Prepared) -> Option<K>,
    same: impl Fn(&Prepared, &Prepared) -> bool,
) -> Vec<FlowPair> {
    let mut by_key: BTreeMap<K, Vec<Arc<Prepared>>> = BTreeMap::new();
    for flow in &*gone {
        if let Some(key) = key(flow) {
            by_key.entry(key).or_default().push(flow.clone());
        }
    }
    let mut pairs = Vec::new();
    new.retain(|flow| {
        let alike = key(flow).and_then(|key| by_key.get_mut(&key));
        let place = alike.as_ref().and_then(|alike| alike.iter().position(|earlier| same(earlier, flow)));
        let Some((alike, place)) = alike.zip(place) else { return true };
        pairs.push((alike.remove(place), flow.clone()));
        false
    });
    let taken: HashSet<*const Prepared> = pairs.iter().map(|(earlier, _)| Arc::as_ptr(earlier)).collect();
    gone.retain(|flow| !taken.contains(&Arc::as_ptr(flow)));
    pairs
}

type Likeness = (BTreeSet<String>, Vec<(String, Option<Arc<str>>)>);

/// What two flows have in common of which nothing else changed: the names of inputs, and steps with their texts.
fn likeness(flow: &Prepared) -> Option<Likeness> {
    let plan = flow.plan.as_deref()?;
    let text = |step: &Step| match &step.work {
        Work::Render(rendering) => Some(rendering.text.clone()),
        Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => None,
    };
    let steps = plan.steps().iter().map(|step| (step.id.clone(), text(step))).collect();
    Some((plan.inputs().iter().map(|input| input.name.clone()).collect(), steps))
}

/// Whether a flow that is gone is the one that is new, because nothing else of it changed.
fn same_flow(a: &Prepared, b: &Prepared) -> bool {
    let other_ids = a.flow.id.is_some() && b.flow.id.is_some();
    !other_ids && changes(a, b, FlowDifference::default()) == FlowDifference::default()
}

fn by_id(plan: &Plan) -> HashMap<&str, &Step> {
    plan.steps().iter().map(|step| (step.id.as_str(), step)).collect()
}

fn changes(before: &Prepared, after: &Prepared, mut about: FlowDifference) -> FlowDifference {
    let (Some(old), Some(new)) = (before.plan.as_deref(), after.plan.as_deref()) else { return about };
    about.inputs = inputs(old.inputs(), new.inputs());
    let (old_steps, new_steps) = (old.steps(), new.steps());
    let (old_by_id, new_by_id) = (by_id(old), by_id(new));
    let ids = |steps: &[Step], numbers: &[usize]| {
        let mut ids: Vec<String> =
            numbers.iter().filter_map(|number| steps.get(*number)).map(|step| step.id.clone()).collect();
        ids.sort();
        ids
    };
    for step in new_steps {
        let change = |kind| StepChange { id: step.id.clone(), label: step.label.clone(), kind };
        let Some(earlier) = old_by_id.get(step.id.as_str()).copied() else {
            about.steps.push(change(StepChangeKind::Added));
            continue;
        };
        if let (Work::Render(a), Work::Render(b)) = (&earlier.work, &step.work)
            && a.text != b.text
        {
            about.steps.push(change(StepChangeKind::Text { before: a.text.clone(), after: b.text.clone() }));
            let file = b.template_file.clone().filter(|file| a.template_file.as_ref() == Some(file));
            about.templates.extend(file.filter(|file| !about.templates.contains(file)));
        }
        let now = can_run(after, step);
        if can_run(before, earlier) != now {
            about.steps.push(change(StepChangeKind::Runs { now }));
        }
        let parts = other_work((earlier, before.flow.nodes.get(earlier.node)), (step, after.flow.nodes.get(step.node)));
        if !parts.is_empty() {
            about.steps.push(change(StepChangeKind::Work(parts)));
        }
        let (a, b) = (ids(old_steps, &earlier.parents), ids(new_steps, &step.parents));
        if a != b {
            about.steps.push(change(StepChangeKind::Waits { before: a, after: b }));
        }
    }
    for step in old_steps.iter().filter(|step| !new_by_id.contains_key(step.id.as_str())) {
        about.steps.push(StepChange { id: step.id.clone(), label: step.label.clone(), kind: StepChangeKind::Removed });
    }
    let common = |steps: &[Step], others: &HashMap<&str, &Step>| {
        let both = steps.iter().filter(|step| others.contains_key(step.id.as_str()));
        both.map(|step| step.id.clone()).collect::<Vec<_>>()
    };
    let (a, b) = (common(old_steps, &new_by_id), common(new_steps, &old_by_id));
    about.order = (a != b).then_some((a, b));
    let results = |plan: &Plan, steps: &[Step]| {
        let from =
            |mark: &crate::plan::ResultMark| mark.step.and_then(|step| steps.get(step)).map(|step| step.id.clone());
        plan.results().iter().map(|mark| (mark.label.clone(), from(mark))).collect::<Vec<_>>()
    };
    let (a, b) = (results(old, old_steps), results(new, new_steps));
    about.results_added = b.iter().filter(|mark| !a.contains(mark)).map(|(label, _)| label.clone()).collect();
    let gone = a.iter().filter(|(label, _)| !b.iter().any(|(other, _)| other == label));
    about.results_removed = gone.map(|(label, _)| label.clone()).collect();
    about
}

/// Whether a step can run, as far as the checker can tell.
fn can_run(flow: &Prepared, step: &Step) -> bool {
    let bound_to_fail =
        |finding: &Finding| finding.severity == Severity::Error && finding.node.as_deref() == Some(step.id.as_str());
    !matches!(step.work, Work::Faulty { .. }) && !flow.findings.iter().any(bound_to_fail)
}

/// What two steps do otherwise, texts aside, in words.
fn other_work((a, node_a): (&Step, Option<&Node>), (b, node_b): (&Step, Option<&Node>)) -> Vec<&'static str> {
    let parts = match (node_a.map(|node| &node.kind), node_b.map(|node| &node.kind)) {
        (Some(NodeKind::Template(node_a)), Some(NodeKind::Template(node_b))) => {
            let read = |step: &Step| match &step.work {
                Work::Render(rendering) => (rendering.role.clone(), rendering.terms.clone()),
                Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => (None, None),
            };
            // One that can't run has neither persona nor contract, which is told otherwise.
            let both = [a, b].iter().all(|step| matches!(step.work, Work::Render(_)));
            let ((role_a, terms_a), (role_b, terms_b)) = (read(a), read(b));
            vec![
                ("persona", node_a.persona != node_b.persona || both && role_a != role_b),
                ("contract", node_a.contract != node_b.contract || both && terms_a != terms_b),
                ("model", node_a.model != node_b.model),
                ("whether it may be skipped", node_a.optional != node_b.optional),
                ("number of attempts", node_a.max_attempts != node_b.max_attempts),
                ("what follows a failure", node_a.goes_on != node_b.goes_on),
            ]
        }
        (Some(NodeKind::Tool(a)), Some(NodeKind::Tool(b))) => {
            let waiting = |node: &ToolNode| (node.retries, node.backoff_ms, node.timeout_ms, node.delay_ms);
            vec![
                ("call", a.call != b.call),
                ("arguments", a.args != b.args || a.requires != b.requires),
                ("what it sets", a.set != b.set),
                ("what follows a failure", a.goes_on != b.goes_on),
                ("times and retries", waiting(a) != waiting(b)),
            ]
        }
        (Some(NodeKind::Flow(a)), Some(NodeKind::Flow(b))) => {
            vec![("flow", a.flow != b.flow), ("values that it hands on", a.variables != b.variables)]
        }
        (a, b) => vec![("kind", a.map(std::mem::discriminant) != b.map(std::mem::discriminant))],
    };
    parts.into_iter().filter(|(_, other)| *other).map(|(part, _)| part).collect()
}

fn inputs(before: &[Input], after: &[Input]) -> Vec<InputChange> {
    let mut changes = Vec::new();
    for input in after {
        let mut note = |kind| changes.push(InputChange { name: input.name.clone(), kind });
        let Some(earlier) = before.iter().find(|other| other.name == input.name) else {
            note(InputChangeKind::Added { required: input.required });
            continue;
        };
        match (earlier.required, input.required) {
            (false, true) => note(InputChangeKind::Required),
            (true, false) => note(InputChangeKind::Optional),
            _ => {}
        }
        if earlier.default != input.default {
            let json = |input: &Input| input.default.as_ref().map(ToString::to_string);
            note(InputChangeKind::Default { before: json(earlier), after: json(input) });
        }
    }
    let gone = before.iter().filter(|input| !after.iter().any(|other| other.name == input.name));
    changes.extend(gone.map(|input| InputChange { name: input.name.clone(), kind: InputChangeKind::Removed }));
    changes
}
