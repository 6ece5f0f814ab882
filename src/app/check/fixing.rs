//! Fixing files and laying them out: what comes of it is shown or written, never both without being asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{CheckRequest, ROUNDS, check_paths, no_catalog, no_such};
use crate::app::reading::{read_file, read_given};
use crate::app::{Code, Error, catalog_around};
use crate::catalog::{CatalogError, texts};
use crate::clock::Clock;
use crate::config::{Environment, Settings, system_says};
use crate::files::{new_private, replace};
use crate::names::{CatalogPath, few};
use crate::source::{Ask, Source, SourceSpec};
use crate::validate::{formatted, mended};

/// A file whose text is to be another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// How it is shown.
    pub shown: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its text now.
    pub before: String,
    /// Its text then.
    pub after: String,
}

/// The files that change where what can be fixed of those that are checked is fixed. Nothing is written.
///
/// # Errors
/// As checking them.
pub async fn fix_paths(
    request: &CheckRequest,
    unsafe_too: bool,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Vec<ChangedFile>, Error> {
    let mut request = CheckRequest { refresh: false, ..request.clone() };
    let mut changed: Vec<ChangedFile> = Vec::new();
    let mut checkup = check_paths(&request, settings, environment, clock.clone()).await?;
    for _ in 0..ROUNDS {
        let mut again = false;
        for file in &checkup.files {
            let Some(path) = file.path.as_ref().filter(|_| file.unreadable.is_none()) else { continue };
            let bytes = match request.overlay.get(path) {
                Some(bytes) => bytes.clone(),
                // It could be read a moment ago.
                None => read_given(path, &file.shown, settings.max_file_size)?.into(),
            };
            let Some(of) = file.findings.first().map(|finding| finding.file.clone()).or_else(|| in_catalog(path))
            else {
                continue;
            };
            let Some(after) = mended(&of, &bytes, &file.findings, unsafe_too) else { continue };
            again = true;
            request.overlay.insert(path.clone(), after.as_bytes().into());
            match changed.iter_mut().find(|changed| changed.path == *path) {
                Some(changed) => changed.after = after,
                None => changed.push(ChangedFile {
                    shown: file.shown.clone(),
                    path: path.clone(),
                    before: String::from_utf8_lossy(&bytes).into_owned(),
                    after,
                }),
            }
        }
        if !again {
            break;
        }
        checkup = check_paths(&request, settings, environment, clock.clone()).await?;
    }
    Ok(changed)
}

/// The path of a file in its catalog; of one that stands alone, as if it were a flow.
fn in_catalog(path: &Path) -> Option<CatalogPath> {
    match catalog_around(path) {
        Some(root) => CatalogPath::below(root, path),
        None => CatalogPath::new(&format!("flows/{}", path.file_name()?.to_str()?)).ok(),
    }
}

/// Writes the files that change: each beside its place first, and then into it.
///
/// # Errors
/// When one of them can't be written; it says which were written before it.
pub fn write_changed(changed: &[ChangedFile]) -> Result<(), Error> {
    for (number, file) in changed.iter().enumerate() {
        // A link within a catalog is followed when it is read, too.
        let place = std::fs::canonicalize(&file.path);
        if let Err(error) = place.and_then(|place| replace(&place, file.after.as_bytes(), new_private)) {
            let message = format!("{} can't be written: {}", file.shown, system_says(&error));
            let error = Error::invalid(message);
            let before = changed.iter().take(number).map(|file| file.shown.as_str());
            return Err(if number == 0 { error } else { error.next(format!("changed already: {}", few(before))) });
        }
    }
    Ok(())
}

/// What laying files out comes to.
#[derive(Debug, Clone, Default)]
pub struct FormatReport {
    /// The files that change.
    pub changed: Vec<ChangedFile>,
    /// How many files were looked at.
    pub looked_at: usize,
    /// The files that can't be laid out, and why.
    pub refused: Vec<(String, Error)>,
}

/// Lays out the flows and templates of files and folders; without any, of the current folder. Nothing is written.
///
/// # Errors
/// When a path is not there, or there is nothing to lay out.
pub async fn format_paths(
    paths: &[PathBuf],
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<FormatReport, Error> {
    let here = environment.current_folder();
    let current = [PathBuf::from(".")];
    let mut report = FormatReport::default();
    for given in if paths.is_empty() { &current[..] } else { paths } {
        let path = std::fs::canonicalize(here.join(given)).map_err(|error| no_such(given, &error))?;
        if path.is_dir() {
            report.of_folder(given, &path, settings, clock.clone()).await?;
        } else {
            report.of_file(given.display().to_string(), path, settings);
        }
    }
    Ok(report)
}

impl FormatReport {
    /// Lays out a file that was named.
    fn of_file(&mut self, shown: String, path: PathBuf, settings: &Settings) {
        let place = in_catalog(&path).ok_or_else(|| Error::invalid("its name can't be used in a catalog"));
        match place.and_then(|place| Ok((place, read_file(&path, settings.max_file_size)?))) {
            Ok((place, bytes)) => self.lay_out(shown, path, &place, &bytes),
            Err(error) => self.refuse(shown, error),
        }
    }

    /// Lays out the flows and templates of a catalog, or of a folder in one.
    async fn of_folder(
        &mut self,
        given: &Path,
        path: &Path,
        settings: &Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<(), Error> {
        let Some(root) = catalog_around(path) else { return Err(no_catalog(given)) };
        let source = Source::open(SourceSpec::Folder(root.to_owned()), settings, clock)?;
        let view = source.snapshot(&Ask::default()).await?;
        for (name, bytes) in texts(&view.snapshot).await? {
            let file = root.join(&name);
            let Ok(rest) = file.strip_prefix(path) else { continue };
            if !FORMATTED.iter().any(|folder| name == *folder || name.starts_with(&format!("{folder}/"))) {
                continue;
            }
            let shown = given.join(rest).display().to_string();
            let shown = shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown);
            match (bytes, CatalogPath::new(&name)) {
                (Ok(bytes), Ok(place)) => self.lay_out(shown, file.clone(), &place, &bytes),
                (Ok(_), Err(error)) => self.refuse(shown, Error::invalid(error.to_string())),
                (Err(unusable), _) => self.refuse(shown, CatalogError::Unusable(unusable).into()),
            }
        }
        Ok(())
    }

    fn lay_out(&mut self, shown: String, path: PathBuf, place: &CatalogPath, bytes: &[u8]) {
        match formatted(place, bytes) {
            Ok(after) if after.as_bytes() == bytes => self.looked_at += 1,
            Ok(after) => {
                self.looked_at += 1;
                let before = String::from_utf8_lossy(bytes).into_owned();
                self.changed.push(ChangedFile { shown, path, before, after });
            }
            Err(error) => self.refuse(
                shown,
                Error::new(Code::ParseError, error.to_string()).next("`flowy validate` shows the place; fix it first"),
            ),
        }
    }

    fn refuse(&mut self, shown: String, error: Error) {
        self.looked_at += 1;
        self.refused.push((shown, error));
    }
}

/// The folders of a catalog whose files are laid out.
const FORMATTED: [&str; 2] = ["flows", "templates"];
