//! What a catalog leaves unsaid: the rules that its `flowy.toml` suppresses, and the findings of its baseline.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::fingerprint::fingerprints;
use super::{BaselineMode, CheckedFile, Checkup};
use crate::app::Error;
use crate::config::{CONFIG_FILE, CheckSettings, system_says};
use crate::document::Span;
use crate::files::{read_named, replace};
use crate::names::CatalogPath;
use crate::validate::{Finding, Reach, Suppressed, SuppressedBy, useless_setting};

/// The name of a catalog's baseline, in its folder.
pub const BASELINE_FILE: &str = "flowy-baseline.json";
/// The largest baseline that is read, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// How a baseline is written. Another way of writing it gets another number.
const VERSION: u64 = 1;
/// What a finding that stands in the baseline is called back with.
const REASON: &str = "it was there when the baseline was written";

/// A baseline, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Baseline {
    version: u64,
    findings: Vec<Known>,
}

/// A finding of a baseline. Rule and message are for people: a diff of the file tells what went.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    file: String,
    rule: String,
    fingerprint: String,
    message: String,
}

/// What was done with a catalog's baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineNote {
    /// The file.
    pub path: PathBuf,
    /// How many findings were written into it; none where it was read.
    pub written: Option<usize>,
    /// How many findings could not be written because they stop a whole flow.
    pub stopping: usize,
    /// How many could not be written because those of their rules are always told.
    pub never: usize,
    /// How many of its findings are there no more.
    pub gone: usize,
}

/// Suppresses what a catalog's settings and baseline say; `whole`: that all its files were checked.
///
/// # Errors
/// When settings or baseline can't be read, or the baseline can't be written.
pub(in crate::app) fn suppress(
    checkup: &mut Checkup,
    root: &Path,
    shown: &dyn Fn(&str) -> String,
    whole: bool,
    baseline: Option<BaselineMode>,
) -> Result<(), Error> {
    by_settings(checkup, root, shown, whole)?;
    match baseline {
        None => Ok(()),
        Some(BaselineMode::Write) if !whole => Err(Error::invalid("a baseline is written of a whole catalog")
            .next("leave the paths out, or name the catalog's folder")),
        Some(BaselineMode::Write) => write(checkup, root),
        Some(BaselineMode::Use) => by_baseline(checkup, root, whole),
    }
}

fn by_settings(checkup: &mut Checkup, root: &Path, shown: &dyn Fn(&str) -> String, whole: bool) -> Result<(), Error> {
    let settings = CheckSettings::of_catalog(root).map_err(|error| {
        let told = Error::invalid(error.to_string());
        told.next(
            "see [validate] in docs/CHECKING.md: each entry of `ignore` has a rule, a reason and, if wanted, paths",
        )
    })?;
    let mut used = BTreeSet::new();
    for file in &mut checkup.files {
        take_out(file, |finding| {
            let covers =
                |rule: &crate::config::IgnoredRule| rule.rule == finding.rule && rule.covers(finding.file.as_str());
            let number = settings.ignored.iter().position(covers)?;
            used.insert(number);
            Some((SuppressedBy::Settings, settings.ignored.get(number)?.reason.clone()))
        });
    }
    let unused = settings.ignored.iter().enumerate().filter(|(number, _)| whole && !used.contains(number));
    let findings: Vec<Finding> = unused
        .filter_map(|(_, rule)| {
            let span = Span { start: rule.span.start, end: rule.span.end };
            Some(useless_setting(CatalogPath::new(CONFIG_FILE).ok()?, &settings.text, span, &rule.rule))
        })
        .collect();
    if !findings.is_empty() {
        checkup.files.push(CheckedFile {
            shown: shown(CONFIG_FILE),
            path: Some(root.join(CONFIG_FILE)),
            findings,
            ..CheckedFile::default()
        });
    }
    Ok(())
}

/// Takes findings out of a file that may be suppressed, and for which somebody has a reason.
fn take_out(file: &mut CheckedFile, mut reason: impl FnMut(&Finding) -> Option<(SuppressedBy, String)>) {
    let mut kept = Vec::with_capacity(file.findings.len());
    for finding in std::mem::take(&mut file.findings) {
        match reason(&finding) {
            Some((by, reason)) if finding.suppressible() => file.suppressed.push(Suppressed { finding, by, reason }),
            _ => kept.push(finding),
        }
    }
    file.findings = kept;
}

fn write(checkup: &mut Checkup, root: &Path) -> Result<(), Error> {
    let mut findings = Vec::new();
    for file in &checkup.files {
        for (finding, fingerprint) in file.findings.iter().zip(fingerprints(&file.findings)) {
            if finding.suppressible() {
                let (file, rule) = (finding.file.to_string(), finding.rule.to_owned());
                findings.push(Known { file, rule, fingerprint, message: finding.message.clone() });
            }
        }
    }
    let left_out = || checkup.files.iter().flat_map(|file| &file.findings).filter(|finding| !finding.suppressible());
    let stopping = left_out().filter(|finding| finding.reach == Reach::Flow).count();
    let never = left_out().count() - stopping;
    let path = root.join(BASELINE_FILE);
    let written = findings.len();
    // Nothing in it can refuse to be written.
    let text = serde_json::to_string_pretty(&Baseline { version: VERSION, findings }).unwrap_or_default();
    replace(&path, (text + "\n").as_bytes(), |path| std::fs::File::create_new(path))
        .map_err(|error| Error::invalid(format!("{} can't be written: {}", path.display(), system_says(&error))))?;
    let known: BTreeSet<String> = checkup.files.iter().flat_map(|file| fingerprints(&file.findings)).collect();
    by_known(checkup, &known);
    checkup.baselines.push(BaselineNote { path, written: Some(written), stopping, never, gone: 0 });
    Ok(())
}

fn by_baseline(checkup: &mut Checkup, root: &Path, whole: bool) -> Result<(), Error> {
    let path = root.join(BASELINE_FILE);
    let unusable = |why: String| {
        Error::invalid(format!("{}: {why}", path.display())).next("write it with `flowy validate --baseline write`")
    };
    let bytes = read_named(&path, LARGEST).map_err(|error| unusable(system_says(&error)))?;
    let baseline: Baseline =
        serde_json::from_slice(&bytes).map_err(|error| unusable(format!("no baseline: {error}")))?;
    if baseline.version != VERSION {
        return Err(unusable(format!("a baseline of version {}, and {VERSION} is read", baseline.version)));
    }
    let known: BTreeSet<String> = baseline.findings.into_iter().map(|known| known.fingerprint).collect();
    let met = by_known(checkup, &known);
    let gone = if whole { known.len().saturating_sub(met) } else { 0 };
    checkup.baselines.push(BaselineNote { path, written: None, stopping: 0, never: 0, gone });
    Ok(())
}

/// Suppresses what is known, and tells how many of it were met.
fn by_known(checkup: &mut Checkup, known: &BTreeSet<String>) -> usize {
    let mut met = 0;
    for file in &mut checkup.files {
        // Equal faults of a file are told apart by counting, so all of them are counted first.
        let mut prints = fingerprints(&file.findings).into_iter();
        let before = file.suppressed.len();
        take_out(file, |_| {
            let print = prints.next()?;
            known.contains(&print).then(|| (SuppressedBy::Baseline, REASON.to_owned()))
        });
        met += file.suppressed.len() - before;
    }
    met
}
