//! Checking files of a catalog, or a file alone: what `flowy validate` does.

mod alone;
mod draft;
mod fingerprint;
mod fixing;
mod since;
mod suppressing;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::app::{App, Error, Origin, ServerList, ServerRow, catalog_around};
use crate::catalog::{CatalogCheck, CatalogError, CheckOptions, check, origin};
use crate::clock::Clock;
use crate::config::{Environment, Settings, system_says};
use crate::model::{ToolAddress, Toolbox};
use crate::names::{CatalogPath, ItemName, words};
use crate::source::{Ask, Source, SourceSpec, View};
use crate::validate::{Finding, Guidance, Severity, Suppressed};

pub(super) use alone::check_text_alone;
pub(super) use alone::is_template;
pub use alone::name_of_text;
use alone::{AloneFile, check_alone};
pub use draft::{CheckedDraft, DraftFlow, DraftRequest};
pub use fingerprint::fingerprints;
pub use fixing::{ChangedFile, FormatReport, fix_paths, format_paths, write_changed};
pub use since::SinceNote;
use since::only_since;
pub(super) use suppressing::suppress;
pub use suppressing::{BASELINE_FILE, BaselineNote};

/// The most rounds in which a file is fixed: a fix may show more, as a file that can be read again does.
pub(super) const ROUNDS: usize = 10;

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
    /// A text that is checked in the place of a file: what an editor holds.
    pub typed: Option<TypedFile>,
    /// Texts that stand in the place of files, by where these are on the disk.
    pub overlay: Overlay,
    /// What is done with the catalog's baseline.
    pub baseline: Option<BaselineMode>,
    /// The branch, tag or commit since which changes, and what they break, are wanted; all findings without one.
    pub since: Option<String>,
}

/// Texts by the files in whose place they stand.
pub type Overlay = BTreeMap<PathBuf, Arc<[u8]>>;

/// A text that is not on the disk, or not yet.
#[derive(Debug, Clone)]
pub struct TypedFile {
    /// The file that it is for; it need not be there.
    pub name: PathBuf,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

words! {
    /// What a check does with a catalog's baseline: the findings that were there before.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BaselineMode {
        /// Writes it, of what is found now.
        Write = "write",
        /// Leaves unsaid what stands in it.
        Use = "use",
    }
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
#[derive(Debug, Clone, Default)]
pub struct CheckedFile {
    /// How it is shown: the path as given, or its path in the catalog.
    pub shown: String,
    /// Where it is on the disk, where it is.
    pub path: Option<PathBuf>,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// What was found in it and is not reported.
    pub suppressed: Vec<Suppressed>,
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
    /// How many tests were in them.
    pub tests: usize,
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
    /// The source that the settings name, where the catalog around the current folder was checked instead.
    pub passed_over: Option<String>,
    /// What was done with baselines.
    pub baselines: Vec<BaselineNote>,
    /// What the check was held against.
    pub since: Option<SinceNote>,
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

    /// How many findings are not reported.
    pub fn suppressed(&self) -> usize {
        self.files.iter().map(|file| file.suppressed.len()).sum()
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
        self.tests += other.tests;
        self.catalogs.extend(other.catalogs);
        self.empty.extend(other.empty);
        self.calls_left += other.calls_left;
        self.baselines.extend(other.baselines);
        self.since = self.since.take().or(other.since);
        self.called.extend(other.called);
    }

    /// The servers that the flows call, by themselves.
    pub fn servers_called(&self) -> &BTreeSet<String> {
        &self.called
    }

    /// Notes which servers flows call, and how many of their calls are looked up nowhere.
    fn note_calls(&mut self, calls: &[String], looked_up: bool) {
        for address in calls.iter().filter_map(|call| ToolAddress::read(call).ok()) {
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
        let root = self.folder.as_deref();
        let (instead, unreadable) =
            root.map(|root| instead_of(root, &request.overlay, &self.settings)).unwrap_or_default();
        let asked =
            AskedFiles { wanted: &|_| true, shown: &str::to_owned, whole: true, root, instead: &instead, unreadable };
        let mut checkup = check_view(&view, asked, (self.settings.lenient, request.tools.as_ref())).await?;
        checkup.belongs_to(self.describe(), true);
        match root {
            Some(root) => {
                suppress(&mut checkup, root, &str::to_owned, true, request.baseline)?;
                hold_against(&mut checkup, request, &view, &instead, root, &self.settings).await?;
            }
            None if request.baseline.is_some() || request.since.is_some() => {
                let message = "--baseline and --since are about a catalog's folder, and this catalog is none";
                return Err(Error::invalid(message).next("check a checkout of the repository: `flowy validate PATH`"));
            }
            None => {}
        }
        checkup.note_kept(&request.kept_tools);
        let ignored_ref = self.ignored_ref(request.git_ref.as_deref());
        checkup.origin = Some(Origin { ignored_ref, ..origin(&view) });
        Ok(checkup)
    }

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

/// Whether a folder is the source that the settings name.
fn is_served(folder: &Path, settings: &Settings, environment: &Environment) -> bool {
    let served = App::choose(settings, environment);
    matches!(served, Ok(SourceSpec::Folder(served)) if std::fs::canonicalize(&served).ok() == std::fs::canonicalize(folder).ok())
}

/// Whether the current folder is a catalog with a file of that flow, and not the source that the settings name.
pub fn is_here(flow: &str, settings: &Settings, environment: &Environment) -> bool {
    let here = environment.current_folder();
    let file = |ending: &str| here.join("flows").join(format!("{flow}{ending}")).is_file();
    ItemName::new(flow).is_ok() && (file(".json") || file(".flow.md")) && !is_served(here, settings, environment)
}

/// Checks files and folders given by path; without any, the source that was named for this check, else the catalog
/// in the current folder or in one above it, else the source that the settings name.
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
    if request.paths.is_empty() && request.typed.is_none() {
        let around = catalog_around(here).filter(|_| !request.source_named);
        let mut passed_over = None;
        let app = if let Some(around) = around {
            // The checker prefers what lies before the maintainer's eyes.
            let spec = SourceSpec::Folder(around.to_owned());
            passed_over = settings.source.clone().filter(|_| !is_served(around, settings, environment));
            App::open_at(spec, settings.clone(), clock, crate::source::Pace::Real)?
        } else if settings.source.is_some() {
            App::open(settings.clone(), environment, clock)?
        } else {
            let here = crate::names::shown(&here.to_string_lossy(), 200);
            return Err(Error::invalid(format!("there is nothing to check: neither {here} nor a folder above it has flows/"))
                .next("name the catalog: `flowy validate PATH` or --source owner/repo; --source examples checks the built-in one"));
        };
        return Ok(Checkup { passed_over, ..app.check(request).await? });
    }
    let mut checkup = Checkup::default();
    // What was given, by where it is; what is given twice goes by its first name.
    let mut by_root: BTreeMap<PathBuf, BTreeMap<PathBuf, PathBuf>> = BTreeMap::new();
    let mut overlay = request.overlay.clone();
    let mut given_paths: Vec<(PathBuf, PathBuf)> = Vec::new();
    for given in &request.paths {
        let path = std::fs::canonicalize(here.join(given)).map_err(|error| no_such(given, &error))?;
        given_paths.push((given.clone(), path));
    }
    if let Some(typed) = &request.typed {
        let path = real_path(here, &typed.name)?;
        overlay.entry(path.clone()).or_insert_with(|| typed.bytes.clone());
        given_paths.push((typed.name.clone(), path));
    }
    let alone = |given: &Path, path: &Path, checkup: &mut Checkup| {
        let typed = overlay.get(path).map(|bytes| &**bytes);
        check_alone(checkup, &AloneFile { given, path, typed }, settings, request.tools.as_deref());
    };
    for (given, path) in given_paths {
        match catalog_around(&path) {
            Some(root) => {
                by_root.entry(root.to_owned()).or_default().entry(path).or_insert(given);
            }
            None if path.is_dir() => return Err(no_catalog(&given)),
            None => alone(&given, &path, &mut checkup),
        }
    }
    for (root, wanted) in by_root {
        let source = Source::open(SourceSpec::Folder(root.clone()), settings, clock.clone())?;
        let view = source.snapshot(&Ask::default()).await?;
        // The nearest of the paths that were given and hold a file: itself, or a folder around it.
        let nearest = |full: &Path| full.ancestors().find_map(|around| wanted.get_key_value(around));
        let chosen = |path: &CatalogPath| nearest(&root.join(path.as_str())).is_some();
        let shown = |path: &str| {
            let full = root.join(path);
            let within = nearest(&full).and_then(|(wanted, given)| Some((given, full.strip_prefix(wanted).ok()?)));
            let shown = match within {
                Some((given, rest)) if rest.as_os_str().is_empty() => given.clone(),
                Some((given, rest)) => given.join(rest),
                None => full,
            };
            shown.display().to_string()
        };
        let whole = nearest(&root.join("flows")).is_some();
        let (instead, unreadable) = instead_of(&root, &overlay, settings);
        let root_folder = Some(root.as_path());
        let asked =
            AskedFiles { wanted: &chosen, shown: &shown, whole, root: root_folder, instead: &instead, unreadable };
        let mut found = check_view(&view, asked, (settings.lenient, request.tools.as_ref())).await?;
        found.belongs_to(source.describe(), whole);
        suppress(&mut found, &root, &shown, whole, request.baseline)?;
        hold_against(&mut found, request, &view, &instead, &root, settings).await?;
        let checked: HashSet<PathBuf> = found.files.iter().filter_map(|file| file.path.clone()).collect();
        checkup.add(found);
        for (path, given) in wanted.iter().filter(|(path, _)| !checked.contains(*path) && !path.is_dir()) {
            if CatalogPath::below(&root, path).is_some_and(|path| Guidance::is_guidance(&path)) {
                // A persona or a contract that was read, and in which nothing was found.
                let (shown, path) = (given.display().to_string(), Some(path.clone()));
                checkup.files.push(CheckedFile { shown, path, ..CheckedFile::default() });
            } else {
                // In a catalog, but not in one of its folders: checked on its own.
                alone(given, path, &mut checkup);
            }
        }
    }
    checkup.note_kept(&request.kept_tools);
    Ok(checkup)
}

/// Leaves of a check what changed since a commit, where that is wanted.
async fn hold_against(
    checkup: &mut Checkup,
    request: &CheckRequest,
    view: &View,
    instead: &Instead,
    root: &Path,
    settings: &Settings,
) -> Result<(), Error> {
    let Some(git_ref) = &request.since else { return Ok(()) };
    let mut now: Instead = view.snapshot.read_what_can_be().await?.0.into_iter().collect();
    now.extend(instead.clone());
    let manner = (settings.lenient, request.tools.as_ref());
    only_since(checkup, root, git_ref, &now, manner, settings.max_file_size).await
}

/// Adds a text to a file, which need not be there.
///
/// # Errors
/// When it can't be written.
pub fn add_to_file(path: &Path, text: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Error::invalid(format!("{} can't be written: {}", path.display(), system_says(&error))))
}

fn no_catalog(given: &Path) -> Error {
    let message = format!("{}: neither the folder nor one above it has `flows/`", given.display());
    Error::invalid(message).next("give a folder that holds flows/, or single files")
}

/// A path as the system has it; a file that is typed need not be there, but its folder has to.
fn real_path(here: &Path, given: &Path) -> Result<PathBuf, Error> {
    let path = here.join(given);
    let real = std::fs::canonicalize(&path).or_else(|error| match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(std::fs::canonicalize(folder)?.join(name))
        }
        _ => Err(error),
    });
    real.map_err(|error| no_such(given, &error))
}

fn no_such(given: &Path, error: &std::io::Error) -> Error {
    Error::invalid(format!("{}: {}", given.display(), system_says(error))).next("give the path of a file or a folder")
}

/// Texts by the files of a catalog in whose place they stand.
type Instead = BTreeMap<CatalogPath, Arc<[u8]>>;

/// Which files of a catalog are checked, and how they are shown.
struct AskedFiles<'a> {
    wanted: &'a (dyn Fn(&CatalogPath) -> bool + Sync),
    shown: &'a (dyn Fn(&str) -> String + Sync),
    /// Whether they are all of its flows.
    whole: bool,
    /// The folder of the catalog, where it is one.
    root: Option<&'a Path>,
    /// Texts that stand in the place of files, and the files of tests.
    instead: &'a Instead,
    /// The files of tests that can't be read.
    unreadable: Vec<(CatalogPath, Error)>,
}

/// The texts that stand in the place of a catalog's files, and those of its tests, which no source reads; and the
/// tests that can't be read.
fn instead_of(root: &Path, overlay: &Overlay, settings: &Settings) -> (Instead, Vec<(CatalogPath, Error)>) {
    let mut instead = BTreeMap::new();
    let mut unreadable = Vec::new();
    for (path, read) in super::testing::test_files(root, settings.max_file_size) {
        match read {
            Ok(bytes) => {
                instead.insert(path, bytes);
            }
            Err(error) => unreadable.push((path, error)),
        }
    }
    instead.extend(overlay.iter().filter_map(|(path, bytes)| Some((CatalogPath::below(root, path)?, bytes.clone()))));
    (instead, unreadable)
}

/// Checks the files of a catalog that are asked about.
async fn check_view(
    view: &View,
    asked: AskedFiles<'_>,
    (lenient, tools): (bool, Option<&Arc<Toolbox>>),
) -> Result<Checkup, Error> {
    let AskedFiles { wanted, shown, whole, root, instead, unreadable } = asked;
    let found = check(&view.snapshot, CheckOptions { wanted, whole, contents: false, lenient, tools, instead }).await?;
    let mut checkup = checkup_of(found, shown, root, tools.is_some());
    for (file, error) in unreadable.into_iter().filter(|(file, _)| wanted(file)) {
        let (shown, path) = (shown(file.as_str()), root.map(|root| root.join(file.as_str())));
        checkup.files.push(CheckedFile { shown, path, unreadable: Some(error), ..CheckedFile::default() });
    }
    Ok(checkup)
}

/// What checking a catalog found, file by file; `root`: the catalog's folder, where it is one.
pub(super) fn checkup_of(
    found: CatalogCheck,
    shown: &dyn Fn(&str) -> String,
    root: Option<&Path>,
    looked_up: bool,
) -> Checkup {
    let mut checkup = Checkup::default();
    for file in found.files {
        checkup.flows += file.facts.flows;
        checkup.templates += file.facts.templates;
        checkup.tests += file.tests;
        checkup.note_calls(&file.facts.calls, looked_up);
        let unreadable = file.unusable.map(|unusable| CatalogError::Unusable(unusable).into());
        let (shown, path) = (shown(&file.file), root.map(|root| root.join(&file.file)));
        let (findings, suppressed) = (file.findings, file.suppressed);
        checkup.files.push(CheckedFile { shown, path, findings, suppressed, alone: false, unreadable });
    }
    checkup
}
