//! Checking files of a catalog, or a file alone: what `flowy validate` does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::app::{App, Code, Error, Origin, ServerList, ServerRow};
use crate::catalog::{CatalogError, CheckOptions, check, in_order, origin};
use crate::clock::Clock;
use crate::config::{Environment, Settings, read_named, system_says};
use crate::document::Document;
use crate::model::{Flow, NodeKind, Shelf, ToolAddress, Toolbox};
use crate::names::CatalogPath;
use crate::source::{Ask, Source, SourceSpec, View};
use crate::validate::{self, Finding, Known, Options, ParsedFlows, Severity};

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// Files and folders; empty for the whole catalog.
    pub paths: Vec<PathBuf>,
    /// Whether the settings' source was named for this very check, so that it goes before the
    /// catalog in the current folder.
    pub source_named: bool,
    /// Branch, tag or commit of the source; only without paths.
    pub git_ref: Option<String>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
    /// What is known of the operator's external tools; none where calls are not looked at.
    pub tools: Option<Arc<Toolbox>>,
    /// The servers whose tools are known from an earlier process alone.
    pub kept_tools: Vec<KeptTools>,
}

/// A list of tools that was not read for this check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTools {
    /// The server's name.
    pub server: String,
    /// How old the list is, in whole seconds.
    pub age_seconds: u64,
}

impl KeptTools {
    /// The lists that were read before this check began.
    pub fn among(list: &ServerList, begun: DateTime<Utc>) -> Vec<Self> {
        let of_row = |row: &ServerRow| {
            let read = row.known_since.filter(|read| row.tools.is_some() && *read < begun)?;
            let age_seconds = u64::try_from((begun - read).num_seconds()).unwrap_or(0);
            Some(Self { server: row.alias.clone(), age_seconds })
        };
        list.rows.iter().filter_map(of_row).collect()
    }
}

/// One file that was checked.
#[derive(Debug, Clone)]
pub struct CheckedFile {
    /// How it is shown: the path as given, or its path in the catalog.
    pub shown: String,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// Whether its references could be looked up.
    pub alone: bool,
    /// Why it could not be read, where it couldn't.
    pub unreadable: Option<Error>,
}

/// What a check found.
#[derive(Debug, Clone, Default)]
pub struct Checkup {
    /// The files, in the order in which they were checked.
    pub files: Vec<CheckedFile>,
    /// How many flows were in them.
    pub flows: usize,
    /// How many templates were in them.
    pub templates: usize,
    /// The catalogs they belong to, in words; files that stand alone belong to none.
    pub catalogs: Vec<String>,
    /// Those of the catalogs that were checked whole and hold no flow.
    pub empty: Vec<String>,
    /// Where the catalog comes from, where it was checked whole; an older copy counts as a warning.
    pub origin: Option<Origin>,
    /// Lists of tools against which calls were checked, and which were not read for this check.
    pub kept_tools: Vec<KeptTools>,
    /// How many calls of external tools were not looked up, because no servers file was named.
    pub calls_left: usize,
    /// The servers that the flows call.
    called: BTreeSet<String>,
}

impl Checkup {
    /// How many findings there are of a severity; unreadable files count as errors, catalogs without
    /// a flow and an older copy as warnings.
    pub fn count(&self, severity: Severity) -> usize {
        let findings =
            self.files.iter().flat_map(|file| &file.findings).filter(|finding| finding.severity == severity).count();
        let besides = match severity {
            Severity::Error => self.files.iter().filter(|file| file.unreadable.is_some()).count(),
            Severity::Warning => {
                let stale = self.origin.as_ref().is_some_and(|origin| origin.stale.is_some());
                self.empty.len() + usize::from(stale)
            }
            Severity::Info => 0,
        };
        findings + besides
    }

    /// Says which catalog this is a check of; `whole`: that none of its flows was left out.
    fn belongs_to(&mut self, catalog: String, whole: bool) {
        if whole && self.flows == 0 && self.count(Severity::Error) == 0 {
            self.empty.push(catalog.clone());
        }
        self.catalogs.push(catalog);
    }

    fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.flows += other.flows;
        self.templates += other.templates;
        self.catalogs.extend(other.catalogs);
        self.empty.extend(other.empty);
        self.calls_left += other.calls_left;
        self.called.extend(other.called);
    }

    /// The servers that the flows call, by themselves.
    pub fn servers_called(&self) -> &BTreeSet<String> {
        &self.called
    }

    /// Notes which servers flows call, and how many of their calls are looked up nowhere.
    fn note_calls<'f>(&mut self, flows: impl Iterator<Item = &'f Arc<Flow>>, looked_up: bool) {
        for node in flows.flat_map(|flow| &flow.nodes) {
            let NodeKind::Tool(tool) = &node.kind else { continue };
            let Some(address) = tool.call.as_deref().and_then(|call| ToolAddress::read(call).ok()) else { continue };
            self.calls_left += usize::from(!looked_up);
            self.called.insert(address.server);
        }
    }

    /// Keeps of the lists that were not read for this check those that it went by.
    fn note_kept(&mut self, kept: &[KeptTools]) {
        self.kept_tools = kept.iter().filter(|kept| self.called.contains(&kept.server)).cloned().collect();
    }
}

impl App {
    /// Checks the source's whole catalog.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn check(&self, request: &CheckRequest) -> Result<Checkup, Error> {
        let view = self.view(request.git_ref.as_deref(), request.refresh).await?;
        let mut checkup =
            check_view(&view, &|_| true, &str::to_owned, true, (self.settings.lenient, request.tools.as_deref()))
                .await?;
        checkup.belongs_to(self.describe(), true);
        checkup.note_kept(&request.kept_tools);
        let ignored_ref = self.ignored_ref(request.git_ref.as_deref());
        checkup.origin = Some(Origin { ignored_ref, ..origin(&view) });
        Ok(checkup)
    }
}

impl App {
    /// What is wrong with calls of external tools, as far as these are known now, in words.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub async fn call_faults(&self) -> Result<Vec<String>, Error> {
        let faults = self.catalog(None, false).await?.call_faults().await?;
        let told = faults.iter().map(|f| format!("{} line {}: {}", f.file, f.position.line, f.message));
        Ok(told.collect())
    }
}

/// Checks files and folders given by path; without any, the source that was named for this check,
/// else the catalog in the current folder, else the source that the settings name.
///
/// The examples are checked only where they are asked for: a check of the wrong folder must not
/// pass because they are fine.
///
/// # Errors
/// When there is no catalog, a path is not there, or the catalog can't be reached.
pub async fn check_paths(
    request: &CheckRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Checkup, Error> {
    let here = environment.current_folder();
    if request.paths.is_empty() {
        let app = if super::has_flows(here) && !request.source_named {
            // The checker prefers what lies before the maintainer's eyes.
            let spec = SourceSpec::Folder(here.to_owned());
            App::open_at(spec, settings.clone(), clock, crate::source::Pace::Real)?
        } else if settings.source.is_some() {
            App::open(settings.clone(), environment, clock)?
        } else {
            let here = crate::names::shown(&here.to_string_lossy(), 200);
            return Err(Error::new(Code::InvalidRequest, format!("there is nothing to check: {here} has no flows/"))
                .next("name the catalog: `flowy validate PATH` or --source owner/repo; --source examples checks the built-in one"));
        };
        return app.check(request).await;
    }
    let mut checkup = Checkup::default();
    let mut by_root: BTreeMap<PathBuf, Vec<(PathBuf, PathBuf)>> = BTreeMap::new();
    for given in &request.paths {
        let path = here.join(given);
        let path = std::fs::canonicalize(&path).map_err(|error| {
            Error::new(Code::InvalidRequest, format!("{}: {}", given.display(), system_says(&error)))
                .next("give the path of a file or a folder")
        })?;
        match root_of(&path) {
            Some(root) => by_root.entry(root).or_default().push((given.clone(), path)),
            None if path.is_dir() => {
                return Err(Error::new(
                    Code::InvalidRequest,
                    format!("{}: neither the folder nor one above it has `flows/`", given.display()),
                )
                .next("give a folder that holds flows/, or single files"));
            }
            None => check_alone(&mut checkup, given, &path, settings, request.tools.as_deref()),
        }
    }
    for (root, wanted) in by_root {
        let source = Source::open(SourceSpec::Folder(root.clone()), settings, clock.clone())?;
        let view = source.snapshot(&Ask::default()).await?;
        let chosen = |path: &CatalogPath| {
            let full = root.join(path.as_str());
            wanted.iter().any(|(_, wanted)| full.starts_with(wanted))
        };
        let shown = |path: &str| {
            let full = root.join(path);
            wanted
                .iter()
                .find_map(|(given, wanted)| {
                    full.strip_prefix(wanted)
                        .ok()
                        .map(|rest| if rest.as_os_str().is_empty() { given.clone() } else { given.join(rest) })
                })
                .unwrap_or(full)
                .display()
                .to_string()
        };
        let whole = wanted.iter().any(|(_, wanted)| root.join("flows").starts_with(wanted));
        let mut found = check_view(&view, &chosen, &shown, whole, (settings.lenient, request.tools.as_deref())).await?;
        found.belongs_to(source.describe(), whole);
        let before = checkup.files.len();
        checkup.add(found);
        for (given, path) in &wanted {
            if path.is_file()
                && !checkup.files.iter().skip(before).any(|file| file.shown == given.display().to_string())
            {
                // In a catalog, but not in one of its folders: checked on its own.
                check_alone(&mut checkup, given, path, settings, request.tools.as_deref());
            }
        }
    }
    checkup.note_kept(&request.kept_tools);
    Ok(checkup)
}

/// The nearest folder above a path (or the path itself) that has `flows/`.
fn root_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.join("flows").is_dir()).map(Path::to_owned)
}

fn check_alone(checkup: &mut Checkup, given: &Path, path: &Path, settings: &Settings, tools: Option<&Toolbox>) {
    let shown = given.display().to_string();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let catalog_path = CatalogPath::new(&format!("flows/{name}"));
    let unreadable =
        |error: Error| CheckedFile { shown: shown.clone(), findings: Vec::new(), alone: true, unreadable: Some(error) };
    let file = match (std::fs::metadata(path), catalog_path) {
        (Ok(metadata), Ok(_)) if metadata.len() > settings.max_file_size => unreadable(Error::new(
            Code::FileTooLarge,
            format!("the file is too large: {} bytes, the limit is {}", metadata.len(), settings.max_file_size),
        )),
        (Ok(_), Ok(catalog_path)) => match read_named(path, settings.max_file_size) {
            Err(error) => unreadable(Error::new(Code::InvalidRequest, system_says(&error))),
            Ok(bytes) => {
                let file = ParsedFlows::read(&catalog_path, &bytes);
                let (findings, flows, templates) = if file.document().is_some_and(|document| is_template(document)) {
                    let check = validate::template_file(&catalog_path, &validate::parse(&catalog_path, &bytes));
                    (check.findings, 0, check.templates.len())
                } else {
                    let shelf = Shelf::unchecked();
                    let options = Options { lenient: settings.lenient, unchecked_calls: true, ..Options::default() };
                    let known = Known { shelf: &shelf, twins: &[], strays: &[], tools, options };
                    let check = validate::flow_file(&file, known);
                    checkup.note_calls(check.flows.iter().map(|flow| &flow.flow), tools.is_some());
                    let flows = check.flows.len();
                    let of_flows = check.flows.into_iter().flat_map(|flow| flow.findings);
                    (in_order(check.findings.into_iter().chain(of_flows).collect()), flows, 0)
                };
                checkup.flows += flows;
                checkup.templates += templates;
                CheckedFile { shown: shown.clone(), findings, alone: true, unreadable: None }
            }
        },
        (Err(error), _) => unreadable(Error::new(Code::InvalidRequest, system_says(&error))),
        (_, Err(error)) => unreadable(Error::new(Code::InvalidRequest, error.to_string())),
    };
    checkup.files.push(file);
}

/// Whether a file that stands alone looks like a template rather than a flow.
fn is_template(document: &Document) -> bool {
    let has = |key: &str| document.value.get(key).is_some();
    !has("flows") && !has("nodes") && (has("templates") || has("template") || has("results"))
}

/// Checks the files of a catalog that are wanted; `whole`: that they are all of its flows.
async fn check_view(
    view: &View,
    wanted: &(dyn Fn(&CatalogPath) -> bool + Sync),
    shown: &(dyn Fn(&str) -> String + Sync),
    whole: bool,
    (lenient, tools): (bool, Option<&Toolbox>),
) -> Result<Checkup, Error> {
    let found = check(&view.snapshot, CheckOptions { wanted, whole, lenient, tools }).await?;
    let mut checkup = Checkup::default();
    for file in found.files {
        checkup.flows += file.flows.len();
        checkup.templates += file.templates;
        checkup.note_calls(file.flows.iter(), tools.is_some());
        let unreadable = file.unusable.map(|unusable| CatalogError::Unusable(unusable).into());
        let shown = shown(&file.file);
        checkup.files.push(CheckedFile { shown, findings: file.findings, alone: false, unreadable });
    }
    Ok(checkup)
}
