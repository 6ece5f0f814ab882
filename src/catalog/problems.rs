//! What is wrong with a catalog's files: why one can't be used, and how a listing names it.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::code::Code;
use crate::discover::FileProblem;
use crate::model::Unusable;
use crate::source::{Problem, ProblemKind, SourceError};
use crate::validate::{Finding, Severity};

/// What stands in the place of a rule where a file could not be read.
const UNREADABLE: &str = "unreadable-file";
/// The most problems of one file that are named: the first ones are the ones to fix. The others are counted.
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
    fn note(&mut self, problem: FileProblem) {
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

    /// Notes a file that can't be read.
    pub(super) fn note_unreadable(&mut self, unusable: &Unusable) {
        self.note(FileProblem { rule: UNREADABLE.to_owned(), ..problem(unusable) });
    }

    /// Notes the errors among findings.
    pub(super) fn note_errors(&mut self, findings: &[Finding]) {
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            let rule = finding.rule.to_owned();
            self.note(FileProblem { rule, files: finding.files.clone(), ..problem(&finding.as_unusable()) });
        }
    }
}

fn problem(unusable: &Unusable) -> FileProblem {
    FileProblem {
        file: unusable.file.clone(),
        code: unusable.code,
        rule: String::new(),
        message: unusable.message.clone(),
        hint: unusable.hints.join("; "),
        files: Vec::new(),
        line: unusable.at.map(|at| at.line),
        column: unusable.at.map(|at| at.column),
        unnamed: 0,
    }
}

/// Why a file can't be had, and what helps.
pub(super) fn unreadable(file: &str, error: &SourceError) -> Unusable {
    let message = match error {
        SourceError::FileTooLarge { size, limit, .. } => too_large(*size, *limit),
        SourceError::NotRead { kind, .. } => format!("the file is not read: {kind}"),
        SourceError::Unreadable { reason, .. } => format!("it can't be read: {reason}"),
        other => other.to_string(),
    };
    let hint = match error {
        SourceError::FileTooLarge { .. } => SMALLER,
        SourceError::NotRead { kind, .. } => instead_of(kind),
        SourceError::Unreadable { .. } => READABLE,
        SourceError::Unauthorized { .. } | SourceError::Forbidden { .. } => {
            "check the token's permissions (Contents: read)"
        }
        _ => "try again in a minute: refreshing the list fetches it anew",
    };
    Unusable { file: file.to_owned(), code: error.code(), message, at: None, hints: vec![hint.to_owned()] }
}

const SMALLER: &str = "make the file smaller, or raise MAX_FILE_SIZE";
const READABLE: &str = "check that it can be read by the user who runs flowy";

/// What to put in the place of what is not read.
pub(crate) fn instead_of(kind: &ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Symlink => {
            "put the file itself in the link's place: no link of a repository is followed, and none that leads out of a folder"
        }
        ProblemKind::LfsPointer { .. } => {
            "keep the file in git itself: take its pattern out of .gitattributes (`git lfs untrack`), add it again and commit"
        }
        ProblemKind::NotAFolder => "give the file another name, and put the catalog's files into a folder of this one",
        ProblemKind::Submodule => "put the files themselves in the submodule's place",
        _ => "put a plain file of that content into the catalog",
    }
}

/// Says that a file is too large.
pub(crate) fn too_large(size: u64, limit: u64) -> String {
    format!("the file is too large: {size} bytes, the limit is {limit}")
}

/// Why an entry of the catalog is not among its files.
pub(super) fn left_out(left_out: &Problem) -> Unusable {
    let of = |code, message, hint: &str| Unusable {
        file: left_out.path.clone(),
        code,
        message,
        at: None,
        hints: vec![hint.to_owned()],
    };
    let kind = &left_out.kind;
    match kind {
        ProblemKind::Failed(error) => unreadable(&left_out.path, error),
        ProblemKind::TooLarge { size, limit } => of(Code::FileTooLarge, too_large(*size, *limit), SMALLER),
        ProblemKind::Symlink
        | ProblemKind::Submodule
        | ProblemKind::LfsPointer { .. }
        | ProblemKind::NotAFile
        | ProblemKind::NotAFolder
        | ProblemKind::BadPath(_) => {
            of(Code::ValidationError, format!("the file is not read: {kind}"), instead_of(kind))
        }
        ProblemKind::Overlooked { meant } | ProblemKind::Doubtful { meant } => {
            of(Code::ValidationError, format!("the file is not read: {kind}"), &format!("move it to {meant}"))
        }
        ProblemKind::TooDeep { .. } => {
            of(Code::ValidationError, format!("the folder is not read: {kind}"), "put its files further up")
        }
        ProblemKind::Unreadable { reason } => {
            of(Code::ValidationError, format!("it can't be read: {reason}"), READABLE)
        }
        ProblemKind::ListingCutOff => of(
            Code::GithubError,
            "the listing was cut off here: there may be more files".to_owned(),
            "keep fewer files in this folder",
        ),
    }
}
