//! The verdict on a whole catalog in which nothing was found: it is kept beside the listing index, and holds as long
//! as no file changes.

use serde::{Deserialize, Serialize};

use super::check::{CatalogCheck, CheckOptions, FileFacts, ReportedFile};
use crate::cache::blob_id;
use crate::source::Snapshot;

/// One file, with what is told of a file in which nothing was found.
#[derive(Serialize, Deserialize)]
struct CleanFile {
    file: String,
    flows: usize,
    templates: usize,
    tests: usize,
    calls: Vec<String>,
}

/// Under which name a verdict is kept: by the program's version, how it was checked, and the tests that no source
/// reads. None where it hangs on what servers offer now.
fn name_of(options: CheckOptions<'_>) -> Option<String> {
    if options.tools.is_some() {
        return None;
    }
    let mut tests: Vec<u8> = Vec::new();
    for (path, bytes) in options.instead {
        tests.extend(path.as_str().as_bytes());
        tests.push(0);
        tests.extend(blob_id(bytes).as_str().as_bytes());
    }
    let manner = if options.lenient { "-lenient" } else { "" };
    Some(format!("clean-{}{manner}-{}", env!("CARGO_PKG_VERSION"), blob_id(&tests)))
}

/// The verdict that was kept of this state of the files.
pub(super) async fn kept(snapshot: &Snapshot, options: CheckOptions<'_>) -> Option<CatalogCheck> {
    let record = snapshot.derived(&name_of(options)?).await?.read(0)?;
    let files: Vec<CleanFile> = serde_json::from_slice(&record).ok()?;
    let reported = |clean: CleanFile| {
        let CleanFile { file, flows, templates, tests, calls } = clean;
        let facts = FileFacts { flows, templates, calls, ..FileFacts::default() };
        ReportedFile { facts, tests, ..ReportedFile::alone(file, None) }
    };
    Some(CatalogCheck { files: files.into_iter().map(reported).collect() })
}

/// Keeps a verdict, where nothing was found.
pub(super) async fn keep(snapshot: &Snapshot, options: CheckOptions<'_>, checked: &CatalogCheck) {
    let clean = |file: &ReportedFile| file.findings.is_empty() && file.suppressed.is_empty() && file.unusable.is_none();
    let Some(name) = name_of(options).filter(|_| checked.files.iter().all(clean)) else { return };
    let files = checked.files.iter().map(|reported| CleanFile {
        file: reported.file.clone(),
        flows: reported.facts.flows,
        templates: reported.facts.templates,
        tests: reported.tests,
        calls: reported.facts.calls.clone(),
    });
    let Ok(record) = serde_json::to_vec(&files.collect::<Vec<_>>()) else { return };
    // Where it can't be kept, the next check takes as long as this one.
    drop(snapshot.keep_derived(&name, vec![record]).await);
}
