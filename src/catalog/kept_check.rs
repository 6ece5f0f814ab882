//! The verdict on a whole catalog: it is kept beside the listing index, and holds as long as no file changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check::{CatalogCheck, CheckOptions, FileFacts, ReportedFile};
use crate::cache::blob_id;
use crate::document::Document;
use crate::names::CatalogPath;
use crate::source::Snapshot;
use crate::validate::{Finding, Suppressed, SuppressedBy};

/// Of more findings none is kept: nobody reads so many twice.
const MOST_FINDINGS: usize = 20_000;

/// A verdict.
#[derive(Serialize, Deserialize)]
struct KeptCheck {
    /// The texts that findings show, by their files, as the ids that git gives them.
    texts: BTreeMap<CatalogPath, String>,
    files: Vec<KeptFile>,
}

/// What is told of one file.
#[derive(Serialize, Deserialize)]
struct KeptFile {
    file: String,
    flows: usize,
    templates: usize,
    tests: usize,
    calls: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<KeptFinding>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<(KeptFinding, SuppressedBy, String)>,
}

/// A finding without the text of its file.
#[derive(Serialize, Deserialize)]
struct KeptFinding {
    finding: Finding,
    has_text: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<Box<KeptFinding>>,
}

impl KeptFinding {
    fn of(finding: &Finding, texts: &mut BTreeMap<CatalogPath, String>) -> Self {
        let has_text = !finding.text.is_empty();
        if has_text && !texts.contains_key(&finding.file) {
            texts.insert(finding.file.clone(), blob_id(finding.text.as_bytes()).to_string());
        }
        let cause = finding.cause.as_ref().map(|cause| Box::new(Self::of(cause, texts)));
        Self { finding: finding.clone(), has_text, cause }
    }

    fn told(self, texts: &BTreeMap<CatalogPath, Arc<str>>) -> Option<Finding> {
        let mut finding = self.finding;
        if self.has_text {
            finding.text = texts.get(&finding.file)?.clone();
        }
        if let Some(cause) = self.cause {
            finding.cause = Some(Arc::new(cause.told(texts)?));
        }
        Some(finding)
    }
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
    Some(format!("verdict-{}{manner}-{}", env!("CARGO_PKG_VERSION"), blob_id(&tests)))
}

/// The verdict that was kept of this state of the files; none where a file holds another text than it was made of.
pub(super) async fn kept(snapshot: &Snapshot, options: CheckOptions<'_>) -> Option<CatalogCheck> {
    let record = snapshot.derived(&name_of(options)?).await?.read(0)?;
    let kept: KeptCheck = serde_json::from_slice(&record).ok()?;
    let mut texts: BTreeMap<CatalogPath, Arc<str>> = BTreeMap::new();
    for (path, id) in kept.texts {
        let bytes = match options.instead.get(&path) {
            Some(bytes) => bytes.clone(),
            None => snapshot.read(&path).await.ok()?,
        };
        let text = Document::decode(&bytes).ok().filter(|text| blob_id(text.as_bytes()).as_str() == id)?;
        texts.insert(path, Arc::from(text));
    }
    let reported = |kept: KeptFile| {
        let KeptFile { file, flows, templates, tests, calls, findings, suppressed } = kept;
        let facts = FileFacts { flows, templates, calls, ..FileFacts::default() };
        let findings = findings.into_iter().map(|one| one.told(&texts)).collect::<Option<_>>()?;
        let suppressed = suppressed.into_iter().map(|(one, by, reason)| {
            let finding = one.told(&texts)?;
            Some(Suppressed { finding, by, reason })
        });
        let suppressed = suppressed.collect::<Option<_>>()?;
        Some(ReportedFile { findings, suppressed, facts, tests, ..ReportedFile::alone(file, None) })
    };
    Some(CatalogCheck { files: kept.files.into_iter().map(reported).collect::<Option<_>>()? })
}

/// Keeps a verdict, where every file could be read: whether one can be read now, no time of a file tells.
pub(super) async fn keep(snapshot: &Snapshot, options: CheckOptions<'_>, checked: &CatalogCheck) {
    let count: usize = checked.files.iter().map(|file| file.findings.len() + file.suppressed.len()).sum();
    let readable = checked.files.iter().all(|file| file.unusable.is_none());
    let Some(name) = name_of(options).filter(|_| readable && count <= MOST_FINDINGS) else { return };
    let mut texts = BTreeMap::new();
    let files = checked.files.iter().map(|reported| {
        let suppressed = reported.suppressed.iter();
        KeptFile {
            file: reported.file.clone(),
            flows: reported.facts.flows,
            templates: reported.facts.templates,
            tests: reported.tests,
            calls: reported.facts.calls.clone(),
            findings: reported.findings.iter().map(|finding| KeptFinding::of(finding, &mut texts)).collect(),
            suppressed: suppressed
                .map(|one| (KeptFinding::of(&one.finding, &mut texts), one.by, one.reason.clone()))
                .collect(),
        }
    });
    let files = files.collect();
    let Ok(record) = serde_json::to_vec(&KeptCheck { texts, files }) else { return };
    // Where it can't be kept, the next check takes as long as this one.
    drop(snapshot.keep_derived(&name, vec![record]).await);
}
