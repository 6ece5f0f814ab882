//! Running the tests of a catalog: what `flowy test` does.
//!
//! Nothing is ever called: where a tool or a model would answer, the test does.

mod comparing;
mod files;
mod walking;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::app::{App, ChangedFile, Code, Error, write_changed};
use crate::clock::Clock;
use crate::config::{Environment, Settings};
use crate::document::{Edit, Locator, Place, Pointer, Position, edited};
use crate::model::FlowTest;
use crate::model::wire::is_among_tests;
use crate::names::{CatalogPath, did_you_mean, few, nearest, quoted};
use crate::source::{Pace, Problem, SourceSpec};
use crate::validate::{self, Finding, Severity};

pub(super) use files::{TestFile, test_files};
use walking::NoCalls;

/// Which tests are run, and what is done with what they find.
#[derive(Debug, Clone, Default)]
pub struct TestRequest {
    /// Only the tests of these flows, of these files, or of these names.
    pub names: Vec<String>,
    /// Only this part of them.
    pub shard: Option<Shard>,
    /// Whether what is expected becomes what is there.
    pub update: bool,
    /// Whether the tests are only named.
    pub list: bool,
}

/// One part of several, for machines that share the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub part: usize,
    /// How many there are.
    pub of: usize,
}

impl Shard {
    /// Reads `i/n`.
    ///
    /// # Errors
    /// When it is written otherwise, or `i` is not among 1 to `n`.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self { part, of }),
            _ => Err("write it as I/N, for instance 1/4: the first of four parts".to_owned()),
        }
    }

    fn holds(self, place: usize) -> bool {
        place % self.of == self.part - 1
    }
}

/// What running tests came to.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    /// The tests, in the order of their files.
    pub tests: Vec<TestResult>,
    /// The files with tests that can't be run.
    pub broken: Vec<BrokenTests>,
    /// The files that were changed.
    pub updated: Vec<ChangedFile>,
    /// How long all of it took.
    pub took: Duration,
}

impl TestReport {
    /// How many tests passed.
    pub fn passed(&self) -> usize {
        self.tests.iter().filter(|test| test.end == TestEnd::Passed).count()
    }

    /// How many tests failed.
    pub fn failed(&self) -> usize {
        self.tests.iter().filter(|test| matches!(test.end, TestEnd::Failed(_))).count()
    }
}

/// A file of tests of which something can't be read as it is meant; its other tests are run.
#[derive(Debug, Clone)]
pub struct BrokenTests {
    /// The file, as a path of its catalog.
    pub file: String,
    /// The names and flows of its tests that can't be run, as far as they could be read.
    pub names: Vec<String>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Why it can't be read.
    pub error: Option<Error>,
}

/// What became of one test.
#[derive(Debug, Clone, PartialEq)]
pub struct TestResult {
    /// What it is called.
    pub name: String,
    /// The flow that it names.
    pub flow: String,
    /// Its file, as a path of its catalog.
    pub file: String,
    /// Where it begins there.
    pub line: usize,
    /// What became of it.
    pub end: TestEnd,
    /// How long it took.
    pub took: Duration,
}

/// How a test ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TestEnd {
    /// It was only named.
    Listed,
    /// What was expected is there.
    Passed,
    /// What was expected is in the file now.
    Updated,
    /// Something else is there.
    Failed(Vec<Mismatch>),
}

/// What of a test is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// What it is about: `finalResult`, `steps.facts`, `missing` …
    pub what: String,
    /// How it differs.
    pub verdict: Verdict,
    /// What the file would say so that it does not differ: below the test, and the value.
    update: Option<(Vec<String>, serde_json::Value)>,
}

/// How something differs from what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// One text stands in the place of another.
    Differs {
        /// What was expected.
        expected: String,
        /// What is there.
        actual: String,
    },
    /// Some names are there in the place of others.
    Others {
        /// The names that were expected, sorted.
        expected: Vec<String>,
        /// The names that are there, sorted.
        actual: Vec<String>,
    },
    /// One sentence says it.
    Says(String),
}

/// One test with its place.
#[derive(Debug, Clone)]
pub(super) struct PlacedTest {
    pub(super) test: FlowTest,
    pub(super) file: CatalogPath,
    pub(super) name: String,
    pub(super) at: Position,
}

/// Runs the tests of the catalog in the folder that the settings name, else in the current one or one above it.
///
/// # Errors
/// When there is no such folder, a name that was given fits no test, or a file can't be written.
pub async fn test_flows(
    request: &TestRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<TestReport, Error> {
    let begun = clock.reading();
    let root = root_of_tests(settings, environment)?;
    let (tests, broken) = read_tests(test_files(&root, settings.max_file_size));
    let app = app_for_tests(SourceSpec::Folder(root.clone()), settings, clock.clone())?;
    let mut report = TestReport { broken, ..TestReport::default() };
    let chosen = chosen(tests, request, &app, &mut report).await?;
    if request.list {
        report.tests = chosen.iter().map(|test| test.ended(TestEnd::Listed, Duration::ZERO)).collect();
    } else {
        report.tests = run_tests(&app, &chosen).await?;
    }
    if request.update {
        update(&mut report, &chosen, &root, settings)?;
    }
    report.took = clock.reading().saturating_sub(begun);
    Ok(report)
}

impl PlacedTest {
    fn ended(&self, end: TestEnd, took: Duration) -> TestResult {
        let (name, flow, file) = (self.name.clone(), self.test.flow.clone(), self.file.to_string());
        TestResult { name, flow, file, line: self.at.line, end, took }
    }
}

/// The folder of the catalog whose tests are run.
fn root_of_tests(settings: &Settings, environment: &Environment) -> Result<PathBuf, Error> {
    super::working_folder(settings, environment, "tests are read from")?.ok_or_else(|| {
        let here = crate::names::shown(&environment.current_folder().to_string_lossy(), 200);
        let message = format!("there is nothing to test: neither {here} nor a folder above it has flows/");
        Error::invalid(message).next(super::NAME_A_FOLDER)
    })
}

/// A catalog whose tools are not looked up, and of which nothing is counted.
pub(super) fn app_for_tests(spec: SourceSpec, settings: &Settings, clock: Arc<dyn Clock>) -> Result<App, Error> {
    let settings = Settings { no_usage: true, ..settings.clone() };
    Ok(App::open_at(spec, settings, clock, Pace::Real)?.with_tools(Arc::new(NoCalls)))
}

/// The tests of files, and the files that can't be used.
pub(super) fn read_tests(files: Vec<TestFile>) -> (Vec<PlacedTest>, Vec<BrokenTests>) {
    let (mut tests, mut broken) = (Vec::new(), Vec::new());
    for (file, bytes) in files {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                let error = Some(error);
                broken.push(BrokenTests { file: file.to_string(), names: Vec::new(), findings: Vec::new(), error });
                continue;
            }
        };
        let check = validate::test_file(&file, &bytes, None);
        let items = check.document.as_ref().and_then(|document| document.value.as_array()).map_or(1, Vec::len);
        let name_of = |test: &FlowTest| {
            let place = test.pointer.steps().next().and_then(|place| place.parse::<usize>().ok()).filter(|_| items > 1);
            let numbered = || place.map_or_else(|| test.flow.clone(), |place| format!("{} #{}", test.flow, place + 1));
            test.name.clone().unwrap_or_else(numbered)
        };
        if check.broken {
            let names = check.unusable.iter().flat_map(|test| [name_of(test), test.flow.clone()]).collect();
            let mut findings = check.findings;
            findings.retain(|finding| finding.severity == Severity::Error);
            broken.push(BrokenTests { file: file.to_string(), names, findings, error: None });
        }
        let Some(document) = check.document else { continue };
        let locator = Locator::new(&document.text);
        for test in check.tests {
            let name = name_of(&test);
            let at = locator.position(locator.span(&Place::value(test.pointer.clone())).start);
            tests.push(PlacedTest { test, file: file.clone(), name, at });
        }
    }
    (tests, broken)
}

/// The tests that are asked for.
async fn chosen(
    tests: Vec<PlacedTest>,
    request: &TestRequest,
    app: &App,
    report: &mut TestReport,
) -> Result<Vec<PlacedTest>, Error> {
    let mut chosen = tests;
    if !request.names.is_empty() {
        let catalog = app.catalog(None, false).await?;
        // A flow goes by several names, and a test may use another than the caller does.
        let row_of = |name: &str| catalog.find(name).ok();
        let wanted: Vec<(&String, Option<usize>)> = request.names.iter().map(|name| (name, row_of(name))).collect();
        let stem =
            |file: &str| file.rsplit('/').next().and_then(|name| name.split_once('.')).map(|(stem, _)| stem.to_owned());
        let fits = |name: &str, row: Option<usize>, test: &PlacedTest| {
            let spelt = [Some(test.name.clone()), Some(test.test.flow.clone()), stem(test.file.as_str())];
            is_path(name, test.file.as_str())
                || spelt.iter().flatten().any(|spelt| spelt == name)
                || row.is_some() && row == row_of(&test.test.flow)
        };
        let of_broken = |broken: &BrokenTests, name: &String| {
            is_path(name, &broken.file) || stem(&broken.file).as_ref() == Some(name) || broken.names.contains(name)
        };
        for (name, row) in &wanted {
            let broken = report.broken.iter().any(|broken| of_broken(broken, name));
            if !broken && !chosen.iter().any(|test| fits(name, *row, test)) {
                return Err(no_test(name, &chosen));
            }
        }
        report.broken.retain(|broken| wanted.iter().any(|(name, _)| of_broken(broken, name)));
        chosen.retain(|test| wanted.iter().any(|(name, row)| fits(name, *row, test)));
    }
    if let Some(shard) = request.shard {
        let mut place = 0;
        chosen.retain(|_| {
            place += 1;
            shard.holds(place - 1)
        });
        if shard.part != 1 {
            // They are told once.
            report.broken.clear();
        }
    }
    Ok(chosen)
}

/// Whether a name is the path of a file, as it is told or from wherever it was typed.
fn is_path(name: &str, file: &str) -> bool {
    name == file || name.strip_suffix(file).is_some_and(|before| before.ends_with(['/', '\\']))
}

fn no_test(name: &str, tests: &[PlacedTest]) -> Error {
    let mut names: Vec<&str> = tests.iter().flat_map(|test| [test.name.as_str(), test.test.flow.as_str()]).collect();
    names.sort_unstable();
    names.dedup();
    let next = match (did_you_mean(nearest(name, names.iter().copied(), 3)), names.is_empty()) {
        (Some(asked), _) => asked,
        (None, false) => {
            let flows: BTreeSet<&str> = tests.iter().map(|test| test.test.flow.as_str()).collect();
            format!("there are tests of {}", few(flows.into_iter().map(quoted)))
        }
        (None, true) => "write one as tests/NAME.flowtest.json, or let `flowy new` write it".to_owned(),
    };
    Error::invalid(format!("no test is of {}", quoted(name))).next(next)
}

/// What becomes of tests in a catalog.
pub(super) async fn run_tests(app: &App, tests: &[PlacedTest]) -> Result<Vec<TestResult>, Error> {
    let catalog = app.catalog(None, false).await?;
    let clock = app.clock();
    let mut results = Vec::with_capacity(tests.len());
    for test in tests {
        let begun = clock.reading();
        let mismatches = match catalog.prepare(&test.test.flow).await {
            Ok(prepared) => walking::walk(&test.test, &prepared, &**clock).await,
            Err(error) => vec![comparing::refused("flow", &Error::from(error))],
        };
        let end = if mismatches.is_empty() { TestEnd::Passed } else { TestEnd::Failed(mismatches) };
        results.push(test.ended(end, clock.reading().saturating_sub(begun)));
    }
    Ok(results)
}

/// A test whose expectations are what is there; what can't be said of it is not expected.
///
/// # Errors
/// When the catalog can't be read.
pub(super) async fn settled(app: &App, mut test: serde_json::Value) -> Result<serde_json::Value, Error> {
    for _ in 0..2 {
        let path = CatalogPath::new("tests/new.flowtest.json")
            .map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
        let (tests, _) = read_tests(vec![(path, Ok(test.to_string().into_bytes().into()))]);
        let Some(TestEnd::Failed(mismatches)) = run_tests(app, &tests).await?.pop().map(|result| result.end) else {
            return Ok(test);
        };
        for mismatch in mismatches {
            match &mismatch.update {
                Some((steps, value)) => {
                    let pointer = steps.iter().fold(Pointer::root(), |pointer, step| pointer.key(step));
                    if let Some(place) = test.pointer_mut(pointer.as_str()) {
                        *place = value.clone();
                    }
                }
                None => {
                    if let Some(expect) = test.get_mut("expect").and_then(serde_json::Value::as_object_mut) {
                        expect.shift_remove(&mismatch.what);
                    }
                }
            }
        }
    }
    Ok(test)
}

/// How a test ends in two states of a catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct TestChange {
    /// The test, as it ended in the later state.
    pub after: TestResult,
    /// How it ended in the earlier state.
    pub before: TestEnd,
}

/// The tests of the later of two states, run in both: those that fail in one of them.
///
/// # Errors
/// When one of the states can't be read.
pub(super) async fn in_both(before: &App, after: &App, tests: &[PlacedTest]) -> Result<Vec<TestChange>, Error> {
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    let earlier = run_tests(before, tests).await?;
    let later = run_tests(after, tests).await?;
    let pairs = later.into_iter().zip(earlier).map(|(after, before)| TestChange { after, before: before.end });
    let fails = |change: &TestChange| change.before != TestEnd::Passed || change.after.end != TestEnd::Passed;
    Ok(pairs.filter(fails).collect())
}

/// The tests of a state of a catalog, and the files that can't be used. Those of a repository on GitHub are not read.
pub(super) fn tests_of(spec: &SourceSpec, settings: &Settings) -> (Vec<PlacedTest>, Vec<BrokenTests>) {
    let files = match spec {
        SourceSpec::Folder(root) => test_files(root, settings.max_file_size),
        SourceSpec::Texts { files, problems, .. } => {
            let tests = files.iter().map(|(path, bytes)| (path.clone(), Ok(bytes.clone())));
            let unread = |problem: &Problem| {
                let why = Error::invalid(problem.kind.to_string());
                Some((CatalogPath::new(&problem.path).ok()?, Err(why)))
            };
            let all = tests.chain(problems.iter().filter_map(unread));
            all.filter(|(path, _)| is_among_tests(path.as_str())).collect()
        }
        SourceSpec::GitHub { .. } | SourceSpec::Examples(_) => Vec::new(),
    };
    read_tests(files)
}

/// Writes what is there in the place of what is expected.
fn update(report: &mut TestReport, tests: &[PlacedTest], root: &Path, settings: &Settings) -> Result<(), Error> {
    // There is one result for each test, in the same order.
    let results = report.tests.chunk_by_mut(|one, next| one.file == next.file);
    for (tests, results) in tests.chunk_by(|one, next| one.file == next.file).zip(results) {
        let Some(file) = tests.first().map(|test| &test.file) else { continue };
        let mut edits: Vec<Edit> = Vec::new();
        for (result, test) in results.iter().zip(tests) {
            let TestEnd::Failed(mismatches) = &result.end else { continue };
            edits.extend(mismatches.iter().filter_map(|mismatch| mismatch.edit(&test.test)));
        }
        if edits.is_empty() {
            continue;
        }
        let path = root.join(file.as_str());
        let bytes = files::read(&path, settings.max_file_size)?;
        let before = String::from_utf8_lossy(&bytes).into_owned();
        let text = before.strip_prefix('\u{FEFF}').unwrap_or(&before);
        let Some(after) = edited(text, &edits).map(|after| before.replacen(text, &after, 1)) else { continue };
        report.updated.push(ChangedFile { shown: file.to_string(), path, before, after });
        // Only what is going to be in the file is no mismatch any more.
        for result in results {
            let TestEnd::Failed(mismatches) = &mut result.end else { continue };
            mismatches.retain(|mismatch| mismatch.update.is_none());
            if mismatches.is_empty() {
                result.end = TestEnd::Updated;
            }
        }
    }
    write_changed(&report.updated)
}

impl TestResult {
    /// Whether `--update` can take away something that is not as expected.
    pub fn is_mendable(&self) -> bool {
        matches!(&self.end, TestEnd::Failed(mismatches) if mismatches.iter().any(|mismatch| mismatch.update.is_some()))
    }
}

impl Mismatch {
    /// The change of the test's file with which it goes away.
    fn edit(&self, test: &FlowTest) -> Option<Edit> {
        let (steps, value) = self.update.as_ref()?;
        let pointer = steps.iter().fold(test.pointer.clone(), |pointer, step| pointer.key(step));
        Some(Edit::Set(pointer, value.clone()))
    }
}
