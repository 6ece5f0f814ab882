//! Mending files and laying them out: what comes of it is shown or written, never both without being asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{CheckRequest, check_paths, no_such, root_of};
use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{Environment, Settings, read_named, system_says};
use crate::names::CatalogPath;
use crate::validate::{formatted, mended};

/// The most rounds: what is mended may show more, as a file that can be read again does.
const ROUNDS: usize = 10;

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
            let Some(path) = file.path.as_ref().filter(|path| file.unreadable.is_none() && is_json(path)) else {
                continue;
            };
            let Some(bytes) = request
                .overlay
                .get(path)
                .cloned()
                .or_else(|| read_named(path, settings.max_file_size).ok().map(Into::into))
            else {
                continue;
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

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// The path of a file in its catalog; of one that stands alone, as if it were a flow.
fn in_catalog(path: &Path) -> Option<CatalogPath> {
    let within = root_of(path).and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    let name = within.unwrap_or_else(|| Path::new("flows").join(path.file_name().unwrap_or_default()));
    CatalogPath::new(&name.to_str()?.replace('\\', "/")).ok()
}

/// Writes the files that change: each beside its place first, and then into it.
///
/// # Errors
/// When one of them can't be written.
pub fn write_changed(changed: &[ChangedFile]) -> Result<(), Error> {
    for file in changed {
        let beside = file.path.with_extension("json.flowy-new");
        let written = std::fs::write(&beside, &file.after)
            .and_then(|()| std::fs::set_permissions(&beside, std::fs::metadata(&file.path)?.permissions()))
            .and_then(|()| std::fs::rename(&beside, &file.path));
        written.map_err(|error| {
            // What is half written is of no use.
            drop(std::fs::remove_file(&beside));
            let message = format!("{} can't be written: {}", file.shown, system_says(&error));
            Error::new(Code::InvalidRequest, message)
        })?;
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
pub fn format_paths(paths: &[PathBuf], settings: &Settings, environment: &Environment) -> Result<FormatReport, Error> {
    let here = environment.current_folder();
    let current = [PathBuf::from(".")];
    let mut report = FormatReport::default();
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for given in if paths.is_empty() { &current[..] } else { paths } {
        let path = std::fs::canonicalize(here.join(given)).map_err(|error| no_such(given, &error))?;
        if !path.is_dir() {
            files.push((given.display().to_string(), path));
            continue;
        }
        let Some(root) = root_of(&path) else {
            let message = format!("{}: neither the folder nor one above it has `flows/`", given.display());
            return Err(
                Error::new(Code::InvalidRequest, message).next("give a folder that holds flows/, or single files")
            );
        };
        for folder in ["flows", "templates"].map(|folder| root.join(folder)) {
            // Of what was asked for, what is a folder of flows or templates.
            let begin = if path.starts_with(&folder) {
                Some(path.clone())
            } else {
                folder.starts_with(&path).then_some(folder)
            };
            for file in begin.map(|begin| walk(&begin)).unwrap_or_default() {
                let shown = file.strip_prefix(&path).map_or_else(|_| file.clone(), |rest| given.join(rest));
                let shown = shown.display().to_string();
                files.push((shown.strip_prefix("./").map(str::to_owned).unwrap_or(shown), file));
            }
        }
    }
    for (shown, path) in files {
        report.looked_at += 1;
        match lay_out(&path, settings) {
            Ok((before, after)) if before != after => report.changed.push(ChangedFile { shown, path, before, after }),
            Ok(_) => {}
            Err(error) => report.refused.push((shown, error)),
        }
    }
    Ok(report)
}

fn lay_out(path: &Path, settings: &Settings) -> Result<(String, String), Error> {
    let unreadable = |error: std::io::Error| Error::new(Code::InvalidRequest, system_says(&error));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > settings.max_file_size {
        let message = format!("the file is too large: {size} bytes, the limit is {}", settings.max_file_size);
        return Err(Error::new(Code::FileTooLarge, message));
    }
    let bytes = read_named(path, settings.max_file_size).map_err(unreadable)?;
    let place =
        in_catalog(path).ok_or_else(|| Error::new(Code::InvalidRequest, "its name can't be used in a catalog"))?;
    let after = formatted(&place, &bytes).map_err(|error| {
        Error::new(Code::ParseError, error.to_string()).next("`flowy validate` shows the place; mend it first")
    })?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), after))
}

/// The JSON files below a folder, in order; links and what begins with a dot are not followed.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<std::fs::DirEntry> =
        std::fs::read_dir(folder).map(|entries| entries.flatten().collect()).unwrap_or_default();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            files.extend(walk(&entry.path()));
        } else if kind.is_file() && !hidden && is_json(&entry.path()) {
            files.push(entry.path());
        }
    }
    files
}
