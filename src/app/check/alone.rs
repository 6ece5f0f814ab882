//! Checking a file that no catalog holds: nothing that it names can be looked up.

use std::path::Path;

use super::{CheckedFile, Checkup};
use crate::app::Error;
use crate::app::reading::{read_file, too_large};
use crate::catalog::FileFacts;
use crate::catalog::in_order;
use crate::config::Settings;
use crate::document::Document;
use crate::model::wire::{self, is_tests};
use crate::model::{Shelf, Toolbox};
use crate::names::CatalogPath;
use crate::validate::{self, Finding, Known, LookedAt, Options, ParsedFlows, Suppressed};

/// A file that is checked on its own.
pub(super) struct AloneFile<'a> {
    /// Its path as it was given.
    pub(super) given: &'a Path,
    /// Where it is.
    pub(super) path: &'a Path,
    /// The bytes that stand in its place.
    pub(super) typed: Option<&'a [u8]>,
}

pub(super) fn check_alone(checkup: &mut Checkup, alone: &AloneFile<'_>, settings: &Settings, tools: Option<&Toolbox>) {
    let file = CheckedFile {
        shown: alone.given.display().to_string(),
        path: Some(alone.path.to_owned()),
        alone: true,
        ..CheckedFile::default()
    };
    let file = match read(alone, settings) {
        Err(error) => CheckedFile { unreadable: Some(error), ..file },
        Ok((path, bytes)) => {
            let (findings, suppressed) = check(checkup, &path, &bytes, settings.lenient, tools);
            CheckedFile { findings, suppressed, ..file }
        }
    };
    checkup.files.push(file);
}

/// Checks a text that stands in the place of a file which no catalog holds.
pub(in crate::app) fn check_text_alone(path: &Path, text: &[u8], settings: &Settings) -> Checkup {
    let mut checkup = Checkup::default();
    check_alone(&mut checkup, &AloneFile { given: path, path, typed: Some(text) }, settings, None);
    checkup
}

/// The bytes of the file, and the path that it would have in a catalog.
fn read(alone: &AloneFile<'_>, settings: &Settings) -> Result<(CatalogPath, Vec<u8>), Error> {
    let limit = settings.max_file_size;
    let bytes = match alone.typed.map(|bytes| (bytes, u64::try_from(bytes.len()).unwrap_or(u64::MAX))) {
        Some((_, size)) if size > limit => return Err(too_large(size, limit)),
        Some((bytes, _)) => bytes.to_vec(),
        None => read_file(alone.path, limit)?,
    };
    let name = alone.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = CatalogPath::new(&format!("flows/{name}")).map_err(|error| Error::invalid(error.to_string()))?;
    Ok((path, bytes))
}

fn check(
    checkup: &mut Checkup,
    path: &CatalogPath,
    bytes: &[u8],
    lenient: bool,
    tools: Option<&Toolbox>,
) -> (Vec<Finding>, Vec<Suppressed>) {
    if is_tests(path.as_str()) {
        let check = validate::test_file(path, bytes, None);
        checkup.tests += check.tests.len();
        return (in_order(check.findings), Vec::new());
    }
    let file = ParsedFlows::read(path, bytes);
    if file.document().is_some_and(|document| is_template(document)) {
        let check = validate::template_file(path, &validate::parse(path, bytes));
        checkup.templates += check.templates.len();
        return (check.findings, Vec::new());
    }
    let shelf = Shelf::unchecked();
    let options = Options { lenient, unchecked_calls: true, ..Options::default() };
    let known = Known { shelf: &shelf, twins: None, strays: &[], tools, options };
    let check = validate::flow_file(&file, known);
    checkup.note_calls(&FileFacts::of(check.flows.iter().map(|flow| &*flow.flow)).calls, tools.is_some());
    checkup.flows += check.flows.len();
    let looked_at = LookedAt { references: false, whole: false, tools: false };
    let flows = check.flows.iter().map(|flow| (&*flow.flow, &*flow.findings));
    let (kept, suppressed) = crate::catalog::sifted(check.findings.clone(), &flows, file.document(), looked_at);
    (in_order(kept), suppressed)
}

/// Whether a file that stands alone looks like a template rather than a flow.
pub(in crate::app) fn is_template(document: &Document) -> bool {
    let has = |key: &str| document.value.get(key).is_some();
    !has("flows") && !has("nodes") && (has("templates") || has("template") || has("results"))
}

/// A name for a text that comes without one: as the file is called that it would be. What begins with a brace is
/// JSON, and so is nothing.
pub fn name_of_text(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    match text.chars().next() {
        None | Some('{' | '[') => "stdin.json",
        Some(_) if wire::has_steps(text) => "stdin.flow.md",
        Some(_) => "stdin.md",
    }
}
