//! Beginning a flow, and a catalog: what `flowy new` and `flowy init` write. Nothing is overwritten, and nothing is
//! written that has findings.

mod example;
mod texts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::convert::{Contents, Form, check_wanted, contents_of, converted, texts_of, write_all};
use super::testing::{app_for_tests, settled};
use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{Environment, Settings};
use crate::model::wire::is_markdown;
use crate::names::{CatalogPath, ItemName, VariableName, few, quoted};
use crate::plan::{Plan, Work};
use crate::source::{Problem, SourceSpec};
use crate::validate::{Severity, formatted};

/// The flow that a new catalog begins with.
const FIRST: &str = "Short_Text";
/// What a value stands for in a new test.
const SAMPLE: &str = "example";

/// A flow to begin with.
#[derive(Debug, Clone)]
pub struct NewRequest {
    /// Its name.
    pub name: String,
    /// The form of its files.
    pub form: Form,
    /// What it is for.
    pub description: Option<String>,
    /// The names of the values that it needs.
    pub inputs: Vec<String>,
    /// The built-in example that it begins as.
    pub from: Option<String>,
}

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct Created {
    /// The flow's name.
    pub flow: String,
    /// The values that it needs, each with one that its test gives.
    pub inputs: Vec<(String, Value)>,
    /// The files, by their paths in the catalog.
    pub files: Vec<String>,
    /// Files that are there already, and were left alone.
    pub left: Vec<String>,
    /// The catalog's folder, relative to where the program was started where it lies in it.
    pub folder: PathBuf,
}

/// Begins a flow with its template and a test in the catalog of the current folder, or of the one that the settings
/// name.
///
/// # Errors
/// When the name can't be used or is taken, there is no such example, or a file is there already.
pub async fn new_flow(
    request: &NewRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Created, Error> {
    // That of the catalog around the current folder, else the current one.
    let folder = super::working_folder(settings, environment, "new files are written to")?;
    let root = folder.unwrap_or_else(|| environment.current_folder().to_owned());
    begin(request, &root, &[], settings, environment, clock).await
}

/// Begins a catalog: a flow, its template and its test, a page about it, and a workflow that checks it.
///
/// # Errors
/// When the folder is a catalog already, or a file can't be written.
pub async fn new_catalog(
    folder: Option<&Path>,
    form: Form,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Created, Error> {
    let root = environment.current_folder().join(folder.unwrap_or(Path::new("")));
    if super::has_flows(&root) {
        let message = "the folder is a catalog already: it has flows/";
        return Err(Error::invalid(message).next("`flowy new NAME` adds a flow to it"));
    }
    let name = root.file_name().map_or("Flows".to_owned(), |name| name.to_string_lossy().into_owned());
    let request = NewRequest { name: FIRST.to_owned(), form, description: None, inputs: Vec::new(), from: None };
    let beside = [("README.md", texts::readme(&name, FIRST, form)), (".github/workflows/flows.yml", texts::workflow())];
    begin(&request, &root, &beside, settings, environment, clock).await
}

async fn begin(
    request: &NewRequest,
    root: &Path,
    beside: &[(&str, String)],
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Created, Error> {
    let stem = usable(&request.name)?;
    let (there, problems) = contents_of(root, settings, clock.clone()).await?;
    if !there.is_empty() {
        refuse_taken(&stem, (&there, &problems), settings, clock.clone()).await?;
    }
    let (made, flow) = match &request.from {
        Some(example) => example::files(example, &stem, request, settings.lenient).await?,
        None => texts::files(&stem, request)?,
    };
    let made = in_form(made, request.form, settings.lenient).await?;
    let flow = made.keys().find(|path| same_stem(path, &flow)).cloned().unwrap_or(flow);
    let (mut created, mut writes) = (Created { flow: stem.clone(), ..Created::default() }, Contents::new());
    for (path, bytes) in made {
        // What is begun is laid out as `flowy fmt` does it.
        let laid_out = CatalogPath::new(&path).ok().and_then(|path| formatted(&path, &bytes).ok());
        let laid_out = laid_out.map_or_else(|| bytes.clone(), String::into_bytes);
        match there.get(&path) {
            Some(same) if *same == bytes || *same == laid_out => created.left.push(path),
            _ => drop(writes.insert(path, laid_out)),
        }
    }
    let mut whole = there;
    whole.extend(writes.clone());
    refuse_findings((&whole, &problems), &writes, settings.lenient).await?;
    let (test, inputs) = test_of(&stem, (&whole, &problems), settings, clock).await?;
    created.inputs = inputs;
    writes.insert(format!("tests/{stem}.flowtest.json"), test.into_bytes());
    for (path, text) in beside {
        if root.join(path).exists() {
            created.left.push((*path).to_owned());
        } else {
            writes.insert((*path).to_owned(), text.clone().into_bytes());
        }
    }
    // The flow first: it is what was asked for.
    created.files.push(flow.clone());
    created.files.extend(writes.keys().filter(|path| **path != flow).cloned());
    let placed: Vec<(PathBuf, Vec<u8>)> = writes.into_iter().map(|(path, bytes)| (root.join(path), bytes)).collect();
    write_all(&placed)?;
    let here = environment.current_folder();
    created.folder = root.strip_prefix(here).map_or_else(|_| root.to_owned(), Path::to_owned);
    Ok(created)
}

/// A flow's name as the stem of its files.
fn usable(name: &str) -> Result<String, Error> {
    let refuse = |why: String| Error::invalid(why).next("letters, digits, `_` and `-` are safe, as in Weekly_Report");
    ItemName::new(name).map_err(|error| refuse(error.to_string()))?;
    let wrong = |c: char| matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*');
    if name.contains(wrong)
        || name.trim_matches([' ', '.']) != name
        || name.chars().count() > 100
        || name.starts_with(['_', '-'])
    {
        return Err(refuse(format!("{} can't be the name of a file on every computer", quoted(name))));
    }
    Ok(name.to_owned())
}

fn same_stem(a: &str, b: &str) -> bool {
    a.starts_with("flows/") && crate::names::file_stem(a) == crate::names::file_stem(b)
}

/// A catalog that is not on the disk as it is, or not yet: its files, and what of it can't be had.
type InMemory<'a> = (&'a Contents, &'a [Problem]);

fn spec_of((contents, problems): InMemory<'_>) -> SourceSpec {
    let files = texts_of(contents).collect();
    SourceSpec::Texts { name: "the catalog".to_owned(), files, problems: problems.to_vec() }
}

async fn refuse_taken(
    name: &str,
    there: InMemory<'_>,
    settings: &Settings,
    clock: Arc<dyn Clock>,
) -> Result<(), Error> {
    let spec = spec_of(there);
    let catalog = app_for_tests(spec, settings, clock)?.catalog(None, false).await?;
    let Ok(row) = catalog.find(name) else { return Ok(()) };
    let file = catalog.index().row(row)?.file;
    let message = format!("flow {} is there already: {}", quoted(name), crate::names::shown(&file, 200));
    Err(Error::invalid(message).next("choose another name; nothing was written"))
}

/// The flows and templates among files in the form that is wanted.
async fn in_form(files: Contents, form: Form, lenient: bool) -> Result<Contents, Error> {
    let readable = |path: &str| path.starts_with("flows/") || path.starts_with("templates/");
    let is_category = |path: &str| path.ends_with("/_category.json");
    let others: Vec<String> = files
        .keys()
        .filter(|path| readable(path) && !is_category(path) && is_markdown(path) != (form == Form::Markdown))
        .cloned()
        .collect();
    let mut all = files.clone();
    if others.is_empty() {
        return Ok(all);
    }
    let results = converted(&files, &others, form, lenient).await?;
    all.retain(|path, _| !others.contains(path));
    for (path, bytes) in results {
        all.insert(path.clone(), texts::with_schema(&path, bytes));
    }
    Ok(all)
}

/// Refuses to write what would have findings where it comes to stand.
async fn refuse_findings(whole: InMemory<'_>, made: &Contents, lenient: bool) -> Result<(), Error> {
    let found = check_wanted(whole, &|path| made.contains_key(path.as_str()), (lenient, None)).await?;
    let errors = found.files.iter().flat_map(|file| &file.findings).filter(|found| found.severity == Severity::Error);
    let said: Vec<String> = errors.map(|found| format!("{}: {}", found.file, found.message)).collect();
    if said.is_empty() {
        return Ok(());
    }
    let message = format!("beside the files that are there, the new ones would have errors: {}", few(said));
    Err(Error::new(Code::ValidationError, message).next("choose another name; nothing was written"))
}

/// A test of the flow as it is, and the values that it gives.
async fn test_of(
    name: &str,
    whole: InMemory<'_>,
    settings: &Settings,
    clock: Arc<dyn Clock>,
) -> Result<(String, Vec<(String, Value)>), Error> {
    let spec = spec_of(whole);
    let app = app_for_tests(spec, settings, clock)?;
    let prepared = app.catalog(None, false).await?.prepare(name).await?;
    let plan = prepared.plan()?;
    let inputs = samples(plan);
    let given: Map<String, Value> = inputs.iter().cloned().collect();
    let unfolded = plan.clone().unfolded();
    let calls = unfolded.steps().iter().filter(|step| matches!(step.work, Work::Call(_)) || step.asks_model());
    let mocks: Map<String, Value> = calls.map(|step| (step.id.clone(), json!({"text": "What is answered."}))).collect();
    let mut test = json!({
        "$schema": "urn:flowy:schema:flowtest:1",
        "flow": name, "inputs": given, "mocks": mocks,
        "expect": {"finalResult": "", "missing": [], "findings": []}
    });
    if let Some(members) = test.as_object_mut().filter(|_| mocks.is_empty()) {
        members.shift_remove("mocks");
    }
    let test = settled(&app, test).await?;
    Ok((format!("{test:#}\n"), inputs))
}

/// A value for each input that is needed.
fn samples(plan: &Plan) -> Vec<(String, Value)> {
    use crate::model::ValueType as Kind;
    let needed = plan.inputs().iter().filter(|input| input.required);
    let value = |input: &crate::plan::Input| match (input.choices.first(), input.kind) {
        (Some(choice), _) => choice.clone(),
        (None, Some(Kind::Number | Kind::Integer)) => json!(1),
        (None, Some(Kind::Boolean)) => json!(true),
        (None, Some(Kind::Array)) => json!([SAMPLE]),
        (None, Some(Kind::Object)) => json!({"name": SAMPLE}),
        (None, Some(Kind::String) | None) => json!(format!("{SAMPLE} {}", input.name.replace(['_', '-'], " "))),
    };
    needed.map(|input| (input.name.clone(), value(input))).collect()
}

/// The names of inputs, each checked.
fn checked_inputs(names: &[String]) -> Result<Vec<String>, Error> {
    let mut inputs: Vec<String> = Vec::new();
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        let name = VariableName::normal(name).map_err(|error| {
            Error::invalid(error.to_string()).next("letters, digits, `_` and `-`, as in meeting_notes")
        })?;
        if !inputs.iter().any(|other| other == name.as_str()) {
            inputs.push(name.as_str().to_owned());
        }
    }
    if inputs.is_empty() {
        inputs.push("topic".to_owned());
    }
    Ok(inputs)
}
