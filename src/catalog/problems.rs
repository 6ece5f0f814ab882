//! What is wrong with a catalog's files, as a listing names it.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::app::Code;
use crate::app::failure::code_of;
use crate::discover::{FileProblem, FlowRow};
use crate::names::{CatalogPath, quoted};
use crate::source::{Problem, ProblemKind, SourceError};
use crate::validate::{Finding, Severity};

/// The most problems of one file that are named: the first ones are the ones to mend. The others are counted.
const PROBLEMS_A_FILE: usize = 3;

/// What is noted, in the order in which it was met.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) all: Vec<FileProblem>,
    of_file: BTreeMap<String, OfFile>,
}

/// What is noted of one file.
struct OfFile {
    /// Where its first problem is in the list.
    first: usize,
    /// A hash of each of its problems: what is found in a file comes with each of its flows, and counts once.
    seen: HashSet<u64>,
}

impl Problems {
    pub(super) fn note(&mut self, problem: FileProblem) {
        let mut hash = DefaultHasher::new();
        (&problem.code, &problem.message, problem.line, problem.column).hash(&mut hash);
        let first = self.all.len();
        let known = self.of_file.entry(problem.file.clone()).or_insert_with(|| OfFile { first, seen: HashSet::new() });
        if !known.seen.insert(hash.finish()) {
            return;
        }
        if known.seen.len() <= PROBLEMS_A_FILE {
            self.all.push(problem);
        } else if let Some(first) = self.all.get_mut(known.first) {
            first.unnamed += 1;
        }
    }

    pub(super) fn note_all(&mut self, problems: Vec<FileProblem>) {
        for problem in problems {
            self.note(problem);
        }
    }

    /// Names that flows of several files go by: asking for them can't tell them apart.
    pub(super) fn note_twins(&mut self, flows: &[FlowRow]) {
        let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for flow in flows {
            files.entry(&flow.name).or_default().push(&flow.file);
        }
        for (name, files) in files.into_iter().filter(|(_, files)| files.len() > 1) {
            for file in &files {
                let others: Vec<&str> = files.iter().copied().filter(|other| other != file).collect();
                let also = if others.is_empty() {
                    "twice in this file".to_owned()
                } else {
                    format!("also in {}", others.join(", "))
                };
                let message =
                    format!("the name {} is used {also}: asking for it can't tell the flows apart", quoted(name));
                self.note(FileProblem::new(*file, Code::AmbiguousName, message));
            }
        }
    }
}

/// The errors among findings.
pub(super) fn of_findings(findings: &[Finding]) -> Vec<FileProblem> {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let problem = |finding: &Finding| FileProblem {
        file: finding.file.to_string(),
        code: finding.code,
        message: finding.message.clone(),
        line: Some(finding.position.line),
        column: Some(finding.position.column),
        unnamed: 0,
    };
    errors.map(problem).collect()
}

pub(super) fn unreadable(path: &CatalogPath, error: &SourceError) -> FileProblem {
    FileProblem::new(path.to_string(), code_of(error), error.to_string())
}

pub(crate) fn problem(left_out: &Problem) -> Option<FileProblem> {
    let (code, message) = match &left_out.kind {
        // It is among the files, and reading it says the same.
        ProblemKind::Failed(_) => return None,
        ProblemKind::TooLarge { size, limit } => {
            (Code::FileTooLarge, format!("the file is too large: {size} bytes, the limit is {limit}"))
        }
        ProblemKind::Symlink
        | ProblemKind::Submodule
        | ProblemKind::LfsPointer
        | ProblemKind::NotAFile
        | ProblemKind::BadPath(_) => {
            // In the words of who asks for the file alone.
            (Code::ValidationError, format!("{} is not read: {}", left_out.path, left_out.kind))
        }
        ProblemKind::ListingCutOff => {
            (Code::GithubError, "the listing was cut off here: there may be more files".to_owned())
        }
    };
    Some(FileProblem::new(left_out.path.clone(), code, message))
}
