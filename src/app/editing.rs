//! What an editor asks while somebody writes: what is wrong in a file, what a name means, what may stand here.
//!
//! Texts that are not saved stand in the place of files. Places are bytes of a file's text without its
//! byte-order mark; positions and the protocol are the surface's. Nothing is written here.

mod completing;
mod explaining;
mod leading;
mod mentions;
mod renaming;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::check::{ROUNDS, check_text_alone, checkup_of, name_of_text, suppress};
use crate::app::reading::too_large;
use crate::app::{BASELINE_FILE, BaselineMode, Clock, Code, Error, catalog_around};
use crate::catalog::{CheckOptions, Desk};
use crate::config::Settings;
use crate::document::Document;
use crate::files::read_named;
use crate::model::wire::is_among_tests;
use crate::names::{CatalogPath, FLOW_ENDING};
use crate::source::{Ask, CATALOG_FOLDERS, Source, SourceSpec, is_read};
use crate::validate::{Finding, fix_of, formatted, mended};

pub use completing::{Offer, OfferKind};
pub use explaining::Explanation;
pub use leading::Spot;

/// The files that somebody edits, with the catalogs around them.
pub struct Workbench {
    settings: Settings,
    clock: Arc<dyn Clock>,
    /// The catalogs that were read, by their folders.
    catalogs: BTreeMap<PathBuf, Desk>,
    /// What an editor holds, without byte-order marks.
    open: BTreeMap<PathBuf, Arc<str>>,
}

/// What is wrong in a file.
#[derive(Debug, Clone, Default)]
pub struct Troubles {
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// Why it could not be checked, or not as its catalog wants it.
    pub unchecked: Option<Error>,
}

/// One change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub path: PathBuf,
    /// The bytes that go.
    pub bytes: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// How one finding goes away.
#[derive(Debug, Clone)]
pub struct QuickFix {
    /// The finding.
    pub finding: Finding,
    /// What is done, in words that follow "flowy can".
    pub what: String,
    /// Whether the flow does the same afterwards.
    pub safe: bool,
    /// The change.
    pub change: Replacement,
}

/// How the address of a text begins that was never saved. Such a text is a catalog of its own, and what it names
/// is looked up nowhere.
pub const UNSAVED: &str = "untitled:";

/// A file within its catalog.
struct Place<'w> {
    root: &'w Path,
    path: CatalogPath,
    desk: &'w Desk,
}

impl Place<'_> {
    /// Where a file of this catalog is.
    fn file(&self, path: &CatalogPath) -> PathBuf {
        if is_unsaved(self.root) { self.root.to_owned() } else { self.root.join(path.as_str()) }
    }
}

impl Workbench {
    /// One without any file.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        Self { settings, clock, catalogs: BTreeMap::new(), open: BTreeMap::new() }
    }

    /// Takes the text that an editor holds for a file; it counts until the file is closed.
    pub fn open(&mut self, path: &Path, text: &str) {
        let text: Arc<str> = Arc::from(text.strip_prefix('\u{FEFF}').unwrap_or(text));
        self.open.insert(path.to_owned(), text.clone());
        if is_unsaved(path) {
            let mut desk = Desk::default();
            if let Some(as_if) = unsaved_path(&text) {
                desk.put(&as_if, text.as_bytes().into());
            }
            self.catalogs.insert(path.to_owned(), desk);
            return;
        }
        self.put(path, Some(text.as_bytes().into()));
    }

    /// The file counts again as it is on the disk.
    pub fn close(&mut self, path: &Path) {
        self.open.remove(path);
        if is_unsaved(path) {
            self.catalogs.remove(path);
        } else {
            self.put(path, read_named(path, self.settings.max_file_size).ok().map(Into::into));
        }
    }

    /// Files changed on the disk: their catalogs are read again when somebody asks.
    pub fn changed_on_disk(&mut self, paths: &[PathBuf]) {
        let open = &self.open;
        let concerns = |root: &PathBuf| paths.iter().any(|path| path.starts_with(root) && !open.contains_key(path));
        self.catalogs.retain(|root, _| !concerns(root));
    }

    fn put(&mut self, path: &Path, bytes: Option<Arc<[u8]>>) {
        let Some(root) = catalog_around(path) else { return };
        let (Some(within), Some(desk)) = (in_catalog(root, path), self.catalogs.get_mut(root)) else { return };
        match bytes {
            Some(bytes) => desk.put(&within, bytes),
            None => desk.remove(&within),
        }
    }

    /// Reads the catalog around a file, unless it was read.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn read_around(&mut self, path: &Path) -> Result<(), Error> {
        if is_unsaved(path) {
            return Ok(());
        }
        let Some(root) = catalog_around(path).filter(|root| !self.catalogs.contains_key(*root)) else { return Ok(()) };
        let source = Source::open(SourceSpec::Folder(root.to_owned()), &self.settings, self.clock.clone())?;
        let view = source.snapshot(&Ask::default()).await?;
        let texts = self.open.iter().filter_map(|(path, text)| Some((in_catalog(root, path)?, text.as_bytes().into())));
        let desk = Desk::read(&view.snapshot, &texts.collect()).await?;
        self.catalogs.insert(root.to_owned(), desk);
        Ok(())
    }

    /// The files that are open.
    pub fn open_files(&self) -> impl Iterator<Item = &Path> {
        self.open.keys().map(PathBuf::as_path)
    }

    /// A file's text: what an editor holds, else what was read.
    pub fn text(&self, path: &Path) -> Option<Arc<str>> {
        if let Some(text) = self.open.get(path) {
            return Some(text.clone());
        }
        if let Some(file) = self.place(path).and_then(|place| place.desk.flow_file(&place.path).cloned()) {
            return Some(file.text().clone());
        }
        let bytes = read_named(path, self.settings.max_file_size).ok().filter(|_| !is_unsaved(path))?;
        Document::decode(&bytes).ok().map(Arc::from)
    }

    fn place<'w>(&'w self, path: &Path) -> Option<Place<'w>> {
        let (root, desk) = self.catalogs.iter().rev().find(|(root, _)| path.starts_with(root))?;
        let within = if is_unsaved(path) { unsaved_path(self.open.get(path)?) } else { in_catalog(root, path) };
        Some(Place { root, path: within?, desk })
    }

    /// What is wrong in a file; none where it is no file of flows or templates.
    pub fn troubles(&self, path: &Path) -> Option<Troubles> {
        self.troubles_of(path, &self.text(path)?)
    }

    /// The same with another text in the file.
    fn troubles_of(&self, path: &Path, text: &str) -> Option<Troubles> {
        let size = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let limit = self.settings.max_file_size;
        let unsaved = is_unsaved(path);
        let place = self.place(path).filter(|_| !unsaved);
        let path = if unsaved { Path::new(name_of_text(text.as_bytes())) } else { path };
        if place.is_none() && (!unsaved && is_of_catalog(path) || !looks_like_ours(path, text)) {
            return None;
        }
        if size > limit {
            let error = too_large(size, limit).next("make the file smaller, or raise MAX_FILE_SIZE");
            return Some(Troubles { unchecked: Some(error), ..Troubles::default() });
        }
        let Some(place) = place else {
            let checkup = check_text_alone(path, text.as_bytes(), &self.settings);
            let findings = checkup.files.into_iter().flat_map(|file| file.findings).collect();
            return Some(Troubles { findings, unchecked: None });
        };
        let wanted = |other: &CatalogPath| *other == place.path;
        let lenient = self.settings.lenient;
        let instead = BTreeMap::from([(place.path.clone(), Arc::from(text.as_bytes()))]);
        let options =
            CheckOptions { wanted: &wanted, whole: false, contents: false, lenient, tools: None, instead: &instead };
        let mut checkup = checkup_of(place.desk.check(options), &str::to_owned, Some(place.root), false);
        let baseline = place.root.join(BASELINE_FILE).is_file().then_some(BaselineMode::Use);
        let unsuppressed = suppress(&mut checkup, place.root, &str::to_owned, false, baseline).err();
        let mut troubles = Troubles { findings: Vec::new(), unchecked: unsuppressed };
        for file in checkup.files.into_iter().filter(|file| file.path.as_deref() == Some(path)) {
            troubles.findings.extend(file.findings);
            troubles.unchecked = file.unreadable.or(troubles.unchecked);
        }
        Some(troubles)
    }

    /// What makes findings of a file go away.
    pub fn quick_fixes(&self, path: &Path) -> Vec<QuickFix> {
        let findings = self.troubles(path).unwrap_or_default().findings;
        let fix = |finding: Finding| {
            let (bytes, text) = fix_of(&finding)?;
            let fix = finding.fix.as_ref();
            let (what, safe) =
                fix.map_or_else(|| ("repair the syntax".to_owned(), true), |fix| (fix.what.clone(), fix.safe));
            let change = Replacement { path: path.to_owned(), bytes, text };
            Some(QuickFix { finding, what, safe, change })
        };
        findings.into_iter().filter_map(fix).collect()
    }

    /// A file's text with everything fixed that can be fixed safely; none where nothing can.
    pub fn mended(&self, path: &Path) -> Option<String> {
        let place = catalog_path(path, self.place(path))?;
        let before = self.text(path)?;
        let mut text = before.to_string();
        for _ in 0..ROUNDS {
            match mended(&place, text.as_bytes(), &self.troubles_of(path, &text)?.findings, false) {
                Some(after) if after != text => text = after,
                _ => break,
            }
        }
        (*text != *before).then_some(text)
    }

    /// A file's text laid out; none where it is so already.
    ///
    /// # Errors
    /// When it is no JSON, or repeats a key.
    pub fn laid_out(&self, path: &Path) -> Result<Option<String>, Error> {
        let (Some(place), Some(text)) = (catalog_path(path, self.place(path)), self.text(path)) else {
            return Ok(None);
        };
        if self.troubles(path).is_none() {
            return Ok(None);
        }
        let after = formatted(&place, text.as_bytes())
            .map_err(|error| Error::new(Code::ParseError, error.to_string()).next("fix the error there first"))?;
        Ok((*after != *text).then_some(after))
    }
}

/// A file's path in its catalog, or the one it would have.
fn catalog_path(path: &Path, place: Option<Place<'_>>) -> Option<CatalogPath> {
    match place {
        Some(place) => Some(place.path),
        None => CatalogPath::new(&format!("flows/{}", path.file_name()?.to_string_lossy())).ok(),
    }
}

/// Whether a text was never saved.
fn is_unsaved(path: &Path) -> bool {
    path.to_string_lossy().starts_with(UNSAVED)
}

/// The path that a text would have in its catalog which was never saved.
fn unsaved_path(text: &str) -> Option<CatalogPath> {
    CatalogPath::new(&format!("flows/{}", name_of_text(text.as_bytes()))).ok()
}

/// A path within its catalog, where the catalog consists of such files.
fn in_catalog(root: &Path, path: &Path) -> Option<CatalogPath> {
    CatalogPath::below(root, path).filter(|path| is_read(path.as_str()) || is_among_tests(path.as_str()))
}

/// Whether a path lies in a folder of a catalog, so that what is no file of it is none of ours.
fn is_of_catalog(path: &Path) -> bool {
    catalog_around(path).is_some_and(|root| {
        let within = path.strip_prefix(root).ok().and_then(|rest| rest.components().next());
        within.is_some_and(|folder| CATALOG_FOLDERS.iter().any(|name| folder.as_os_str() == *name))
    })
}

/// Whether a file that no catalog holds reads as flows or templates: an editor shows all kinds of JSON.
fn looks_like_ours(path: &Path, text: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if name.len() > FLOW_ENDING.len() && name.ends_with(FLOW_ENDING) {
        return true;
    }
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let (true, Ok(as_if)) = (is_json, CatalogPath::new("flows/x.json")) else { return false };
    let strict = Document::parse(as_if.clone(), text.as_bytes()).ok();
    let Some(document) = strict.or_else(|| Document::lax(as_if, &Arc::from(text))) else { return false };
    let value = &document.value;
    let within = |list: &str, member: &str| value.get(list).and_then(|list| list.get(0)?.get(member)).is_some();
    let graph = value.get("nodes").is_some_and(serde_json::Value::is_array) && value.get("edges").is_some();
    let text = value.get("template").is_some_and(serde_json::Value::is_string);
    graph || within("flows", "nodes") || within("templates", "template") || text && value.get("variables").is_some()
}
