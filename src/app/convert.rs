//! Flows and templates from one form into the other: what `flowy convert` does.
//!
//! What is written is checked first, in memory, beside the rest of its catalog: a flow whose plan would
//! change is not converted, and a flow that stays behind must not lose what it names.

mod compare;
mod foreign;
mod import;
mod names;
mod neighbours;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::app::check::is_template;
use crate::app::reading::read_given;
use crate::app::{Code, Error, catalog_around, has_flows};
use crate::catalog::{CatalogCheck, CatalogError, CheckOptions, ReportedFile, check};
use crate::clock::Clock;
use crate::config::{Environment, Settings, system_says};
use crate::model::{Toolbox, wire};
use crate::names::{CatalogPath, shown};
use crate::plan::Plan;
use crate::source::{Ask, Problem, Snapshot, Source, SourceSpec};
pub use import::{ForeignKind, ImportRequest, import};
use names::Names;
use target::Written;

/// The two forms of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

/// What is to be converted, and where it goes.
#[derive(Debug, Clone)]
pub struct ConvertRequest {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The form that they get.
    pub to: Form,
    /// The folder of the catalog that the results go to; none where they replace their sources.
    pub out: Option<PathBuf>,
    /// A flow in JSON from which places on the canvas are taken.
    pub onto: Option<PathBuf>,
    /// Whether to go on where files that stay behind lose what they name.
    pub force: bool,
}

/// What became of one flow or template.
#[derive(Debug, Clone)]
pub struct ConvertedPart {
    /// The file it came from, as a path of its catalog.
    pub from: String,
    /// The file it is in now.
    pub to: String,
    /// The name that it lost, where another was taken.
    pub renamed: Option<String>,
    /// What the new form has no place for.
    pub lost: Vec<String>,
}

/// What became of a conversion.
#[derive(Debug, Clone, Default)]
pub struct Conversion {
    /// The folder that the results were wanted in, where that is not their sources' catalog.
    pub out: Option<PathBuf>,
    /// What was written.
    pub parts: Vec<ConvertedPart>,
    /// Files left out that no longer find what they name, in words.
    pub broken: Vec<String>,
    /// Files that are named by the results and were not converted with them.
    pub left: Vec<String>,
    /// The sources that were removed.
    pub removed: Vec<String>,
}

/// The files of a catalog by path.
pub(super) type Contents = BTreeMap<String, Vec<u8>>;

/// A catalog that files are converted in.
#[derive(Default)]
struct Place {
    /// Where its files lie.
    root: PathBuf,
    /// What of it has to be looked at.
    contents: Contents,
    /// What of it can't be had.
    problems: Vec<Problem>,
    /// The paths of all its files.
    paths: BTreeSet<String>,
    /// The files to convert, and where each lies on disk.
    wanted: BTreeMap<String, PathBuf>,
}

/// Converts files.
///
/// # Errors
/// When a file can't be read or has errors, when the new form can't say what it says, or when a result can't
/// be written. Nothing is written then, and no source is removed.
pub async fn convert(
    request: &ConvertRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Conversion, Error> {
    let old = match &request.onto {
        Some(path) => Some(read_json(&environment.current_folder().join(path), path, settings)?),
        None => None,
    };
    let mut conversion = Conversion { out: request.out.clone(), ..Conversion::default() };
    let mut writes: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut sources: Vec<PathBuf> = Vec::new();
    for place in places(request, settings, environment, clock).await? {
        let before = check_contents(&place.contents, &place.problems, settings.lenient).await?;
        let (written, after) = settle(&place, &before, request.to, old.as_ref(), settings.lenient).await?;
        conversion.broken.extend(compare::broken(&before, &after, &place.wanted));
        conversion.left.extend(names::left_out(&before, &place.wanted).into_iter().filter(|_| request.out.is_some()));
        let out = request.out.as_ref().map(|out| environment.current_folder().join(out));
        let into = out.as_ref().and_then(|out| std::fs::canonicalize(out).ok());
        if into.is_some_and(|into| place.wanted.iter().any(|(path, source)| into.join(path) == *source)) {
            let message = "the results would stand beside their sources, and no name would mean one of them";
            return Err(Error::invalid(message)
                .next("give --replace to put them in the place of their sources, or --out another folder"));
        }
        let root = out.unwrap_or_else(|| place.root.clone());
        for part in written {
            writes.push((root.join(&part.told.to), part.bytes));
            conversion.parts.push(part.told);
        }
        if request.out.is_none() {
            conversion.removed.extend(place.wanted.keys().cloned());
            sources.extend(place.wanted.into_values());
        }
    }
    if !conversion.broken.is_empty() && !request.force {
        let list = conversion.broken.join("; ");
        return Err(Error::invalid(format!("other files would no longer find what they name: {list}"))
            .next("convert these files too, or add --force"));
    }
    write_all(&writes)?;
    // Only what was read back as it was written takes the place of its source.
    for path in sources {
        std::fs::remove_file(&path).map_err(|error| at(&path, &error))?;
    }
    Ok(conversion)
}

/// Files of a catalog in another form, in memory: the paths and texts of the results.
///
/// # Errors
/// As [`convert`], of what is read and said.
pub(super) async fn converted(
    contents: &Contents,
    wanted: &[String],
    to: Form,
    lenient: bool,
) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let wanted = wanted.iter().map(|path| (path.clone(), PathBuf::new())).collect();
    let paths = contents.keys().cloned().collect();
    let place = Place { contents: contents.clone(), paths, wanted, ..Place::default() };
    let before = check_contents(&place.contents, &[], lenient).await?;
    let (written, _) = settle(&place, &before, to, None, lenient).await?;
    Ok(written.into_iter().map(|part| (part.told.to, part.bytes)).collect())
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::invalid(format!("{}: {}", shown(&path.display().to_string(), 300), system_says(error)))
}

fn read_json(path: &Path, given: &Path, settings: &Settings) -> Result<Value, Error> {
    let bytes = read_given(path, &given.display().to_string(), settings.max_file_size)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Error::new(Code::ParseError, format!("{}: {error}", shown(&given.display().to_string(), 300)))
            .next("--onto takes a flow in JSON")
    })
}

/// Writes every file anew, and reads it back; where one can't be written, those before it are removed.
pub(super) fn write_all(writes: &[(PathBuf, Vec<u8>)]) -> Result<(), Error> {
    let write = |path: &Path, bytes: &[u8]| -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = std::fs::File::create_new(path)?;
        std::io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        if std::fs::read(path)? == bytes {
            Ok(())
        } else {
            Err(std::io::Error::other("it reads otherwise than written"))
        }
    };
    for (number, (path, bytes)) in writes.iter().enumerate() {
        if let Err(error) = write(path, bytes) {
            let exists = error.kind() == std::io::ErrorKind::AlreadyExists;
            let done = writes.get(..number + usize::from(!exists)).unwrap_or_default();
            for (path, _) in done {
                let _ = std::fs::remove_file(path);
            }
            let problem = at(path, &error);
            return Err(if exists {
                problem.next("nothing was written; remove the file, or choose another folder")
            } else {
                problem
            });
        }
    }
    Ok(())
}

/// The catalogs that the files lie in; a file outside of one is a catalog by itself.
async fn places(
    request: &ConvertRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Vec<Place>, Error> {
    let mut by_root: BTreeMap<PathBuf, BTreeMap<String, PathBuf>> = BTreeMap::new();
    let mut alone = Vec::new();
    for given in &request.files {
        let path =
            std::fs::canonicalize(environment.current_folder().join(given)).map_err(|error| at(given, &error))?;
        let is_markdown = wire::is_markdown(&path.to_string_lossy());
        if is_markdown == (request.to == Form::Markdown) || !path.is_file() {
            let form = if request.to == Form::Markdown { "JSON" } else { "Markdown" };
            let given = shown(&given.display().to_string(), 300);
            return Err(Error::invalid(format!("{given} is no file in {form}"))
                .next("name files of the other form: *.json, or *.flow.md and templates/*.md"));
        }
        let below = catalog_around(&path).and_then(|root| Some((root, CatalogPath::below(root, &path)?.to_string())));
        match below.filter(|(_, rest)| rest.starts_with("flows/") || rest.starts_with("templates/")) {
            Some((root, rest)) => {
                by_root.entry(root.to_owned()).or_default().insert(rest, path);
            }
            None => alone.push(stands_alone(given, path, settings)?),
        }
    }
    let mut places = alone;
    for (root, wanted) in by_root {
        let (contents, problems) = contents_of(&root, settings, clock.clone()).await?;
        let paths = contents.keys().cloned().collect();
        let contents = neighbours::around(contents, &wanted).await?;
        places.push(Place { root, contents, problems, paths, wanted });
    }
    Ok(places)
}

/// The files of the catalog in a folder, and what of it can't be had; none where there is none yet.
pub(super) async fn contents_of(
    root: &Path,
    settings: &Settings,
    clock: Arc<dyn Clock>,
) -> Result<(Contents, Vec<Problem>), Error> {
    if !has_flows(root) {
        return Ok(Default::default());
    }
    let source = Source::open(SourceSpec::Folder(root.to_owned()), settings, clock)?;
    let (texts, problems) = source.snapshot(&Ask::default()).await?.snapshot.read_what_can_be().await?;
    Ok((texts.into_iter().map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect(), problems))
}

fn stands_alone(given: &Path, path: PathBuf, settings: &Settings) -> Result<Place, Error> {
    let bytes = read_given(&path, &given.display().to_string(), settings.max_file_size)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let as_flow = CatalogPath::new(&format!("flows/{name}")).map_err(|error| Error::invalid(error.to_string()))?;
    let template = wire::parse(&as_flow, &bytes).is_ok_and(|document| is_template(&document));
    let below = if template { format!("templates/{name}") } else { as_flow.to_string() };
    let root = path.parent().unwrap_or(Path::new("/")).to_owned();
    let paths = [below.clone()].into();
    let (contents, wanted) = ([(below.clone(), bytes)].into(), [(below, path)].into());
    Ok(Place { root, contents, paths, wanted, problems: Vec::new() })
}

/// The files with the paths that a catalog can have.
pub(super) fn texts_of(contents: &Contents) -> impl Iterator<Item = (CatalogPath, Arc<[u8]>)> {
    contents.iter().filter_map(|(path, bytes)| Some((CatalogPath::new(path).ok()?, Arc::from(&**bytes))))
}

pub(super) async fn check_contents(
    contents: &Contents,
    problems: &[Problem],
    lenient: bool,
) -> Result<CatalogCheck, Error> {
    check_wanted((contents, problems), &|_| true, (lenient, None)).await
}

/// Checks some files of those in memory. Examples of flows are nobody's business there, so that the catalog is not
/// looked at as a whole.
pub(super) async fn check_wanted(
    (contents, problems): (&Contents, &[Problem]),
    wanted: &(dyn Fn(&CatalogPath) -> bool + Sync),
    (lenient, tools): (bool, Option<&Arc<Toolbox>>),
) -> Result<CatalogCheck, Error> {
    let snapshot = Snapshot::of_texts(texts_of(contents), problems.to_vec());
    let options = CheckOptions { wanted, whole: false, contents: true, lenient, tools, instead: &BTreeMap::new() };
    Ok(check(&snapshot, options).await?)
}

/// A file by its path.
fn file<'c>(check: &'c CatalogCheck, path: &str) -> Option<&'c ReportedFile> {
    check.files.iter().find(|file| file.file == path)
}

/// The results, and the catalog with them. The edges that texts make are left to the texts where the plan
/// stays the same, and written out where it doesn't.
async fn settle(
    place: &Place,
    before: &CatalogCheck,
    to: Form,
    old: Option<&Value>,
    lenient: bool,
) -> Result<(Vec<Written>, CatalogCheck), Error> {
    for path in place.wanted.keys() {
        usable(before, path)?;
    }
    let names = Names::of(before, place, to);
    let mut spelt_out: BTreeSet<String> = BTreeSet::new();
    loop {
        let mut written = Vec::new();
        for path in place.wanted.keys() {
            let bytes = place.contents.get(path).map(Vec::as_slice).unwrap_or_default();
            let Some(read) = file(before, path) else { continue };
            written.extend(target::write(read, bytes, to, &names, &spelt_out, old)?);
        }
        let mut contents = place.contents.clone();
        contents.retain(|path, _| !place.wanted.contains_key(path));
        contents.extend(written.iter().map(|part| (part.told.to.clone(), part.bytes.clone())));
        let after = check_contents(&contents, &place.problems, lenient).await?;
        let mut again = false;
        for part in &written {
            let Some(difference) = compare::part(part, before, &after) else { continue };
            if !part.is_flow || to == Form::Json || !spelt_out.insert(part.key()) {
                let from = shown(&part.told.from, 300);
                return Err(Error::invalid(format!("{from} can't be said in the other form: {difference}"))
                    .next("nothing was written; change the file as said, or leave it out"));
            }
            again = true;
        }
        if !again {
            return Ok((written, after));
        }
    }
}

/// Refuses a file whose flows can't be planned: there is nothing that a result could be compared with.
fn usable(check: &CatalogCheck, path: &str) -> Result<(), Error> {
    let refuse = |why: String| {
        Err(Error::new(Code::ValidationError, format!("{}: {why}", shown(path, 300)))
            .next(format!("fix it first: flowy validate {}", shown(path, 300))))
    };
    let Some(file) = file(check, path) else { return refuse("it is not among the catalog's files".to_owned()) };
    if let Some(unusable) = &file.unusable {
        return Err(CatalogError::Unusable(unusable.clone()).into());
    }
    let reaching = file.findings.iter().find(|finding| finding.reach == crate::validate::Reach::Flow);
    if let Some(finding) = reaching {
        return refuse(finding.message.clone());
    }
    if file.flows.is_empty() && file.templates.is_empty() {
        return refuse("it holds neither a flow nor a template".to_owned());
    }
    Ok(())
}

/// The plan of one of a file's flows.
fn plan_of(file: &ReportedFile, place: usize) -> Option<&Plan> {
    file.plans.get(place)?.as_deref()
}
