//! What keeps a catalog from answering, in the words of the domain.

use std::fmt;

use crate::code::Code;
use crate::discover::{DamagedIndex, DiscoverError};
use crate::model::Unusable;
use crate::names::{Few, NameError, quoted, words};
use crate::source::SourceError;
use crate::validate::{Finding, Reach, Severity};

words! {
    /// What can be asked for by name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ItemKind {
        /// A flow.
        Flow = "flow",
        /// A template.
        Template = "template",
    }
}

/// One of several that go by a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its own name.
    pub name: String,
    /// The file that holds it.
    pub file: String,
    /// A name that means it and no other, where it has one.
    pub other_name: Option<String>,
}

/// Why a catalog does not answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CatalogError {
    /// Nothing may have that name.
    #[error("{why}")]
    ForbiddenName {
        /// What was asked for.
        kind: ItemKind,
        /// The rule that the name breaks.
        why: NameError,
    },
    /// Nothing goes by that name.
    #[error("there is no {kind} {}", quoted(name))]
    NotFound {
        /// What was asked for.
        kind: ItemKind,
        /// By which name.
        name: String,
        /// Names that are spelt alike.
        nearest: Vec<String>,
        /// A file that would be called so and is not read, and the path under which it would be.
        misplaced: Option<(String, String)>,
    },
    /// A flow was asked for, and only a template goes by that name.
    #[error("{} is a template, not a flow", quoted(name))]
    IsTemplate {
        /// The name.
        name: String,
    },
    /// Several flows go by that name.
    #[error("several flows go by {}: {}", quoted(name), in_files(candidates, *more).joined(", "))]
    AmbiguousFlow {
        /// The name.
        name: String,
        /// The flows, as many as a message names.
        candidates: Vec<Candidate>,
        /// How many there are besides.
        more: usize,
    },
    /// Several templates go by that name.
    #[error("several templates go by {}: {}", quoted(name), files.joined(", "))]
    AmbiguousTemplate {
        /// The name.
        name: String,
        /// Their files.
        files: Few,
    },
    /// The file that it stands in can't be used.
    #[error("{0}")]
    Unusable(Unusable),
    /// It stood in the file when the index was made.
    #[error("{file} no longer holds that {kind}")]
    Gone {
        /// What was asked for.
        kind: ItemKind,
        /// The file.
        file: String,
    },
    /// The flow has errors that keep it from being executed.
    #[error("{}", refusal(flow, findings))]
    Refused {
        /// The flow's name.
        flow: String,
        /// Everything that was found in it.
        findings: Vec<Finding>,
    },
    /// The source does not answer.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The request for a page can't be understood.
    #[error(transparent)]
    Listing(#[from] DiscoverError),
    /// A record of the kept index turned out to be damaged.
    #[error(transparent)]
    IndexDamaged(#[from] DamagedIndex),
    /// The index that was just made can't be read.
    #[error("the listing index could not be read back")]
    IndexUnreadable,
    /// The work ended before it was done.
    #[error("reading the catalog was stopped by an internal error")]
    Stopped,
}

impl CatalogError {
    /// The code by which callers know it.
    pub fn code(&self) -> Code {
        match self {
            Self::Listing(DiscoverError::InvalidCursor { .. }) => Code::InvalidCursor,
            Self::Listing(DiscoverError::Damaged(_))
            | Self::IndexDamaged(_)
            | Self::IndexUnreadable
            | Self::Stopped => Code::InternalError,
            Self::ForbiddenName { .. } | Self::Listing(_) => Code::InvalidRequest,
            Self::NotFound { kind: ItemKind::Flow, .. }
            | Self::Gone { kind: ItemKind::Flow, .. }
            | Self::IsTemplate { .. } => Code::FlowNotFound,
            Self::NotFound { kind: ItemKind::Template, .. } | Self::Gone { kind: ItemKind::Template, .. } => {
                Code::TemplateNotFound
            }
            Self::AmbiguousFlow { .. } | Self::AmbiguousTemplate { .. } => Code::AmbiguousName,
            Self::Unusable(unusable) => unusable.code,
            Self::Refused { findings, .. } => code_of(findings.iter().filter(|finding| finding.reach == Reach::Flow)),
            Self::Source(error) => error.code(),
        }
    }

    /// Whether it may be over by the next time.
    pub fn is_passing(&self) -> bool {
        is_passing(self.code())
    }

    /// Whether the trouble is not the catalog's but ours, so that nothing may be said of the catalog.
    pub fn is_internal(&self) -> bool {
        self.code() == Code::InternalError
    }
}

/// Whether what has this code may be over by the next time.
pub fn is_passing(code: Code) -> bool {
    code.of_github() || code == Code::Timeout
}

/// The one code of several errors: that of a ring, else the one that they share.
pub fn code_of<'f>(findings: impl Iterator<Item = &'f Finding>) -> Code {
    let mut codes: Vec<Code> =
        findings.filter(|finding| finding.severity == Severity::Error).map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    match codes.as_slice() {
        [one] => *one,
        several if several.contains(&Code::CircularDependency) => Code::CircularDependency,
        _ => Code::ValidationError,
    }
}

fn in_files(candidates: &[Candidate], more: usize) -> Few {
    Few { named: candidates.iter().map(ToString::to_string).collect(), more }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", quoted(&self.name), self.file)
    }
}

fn refusal(flow: &str, findings: &[Finding]) -> String {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.reach == Reach::Flow).collect();
    let code = code_of(errors.iter().copied());
    let Some(worst) = errors.iter().find(|finding| finding.code == code).or(errors.first()) else {
        return format!("flow {} can't be executed", quoted(flow));
    };
    // All of them, as listings count them: also those that reach a step alone.
    let all = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let more = if all > 1 { format!(" (and {} more)", all - 1) } else { String::new() };
    let at = worst.position;
    let place = format!("{} line {}, column {}", worst.file, at.line, at.column);
    format!("flow {}: {} ({place}){more}", quoted(flow), worst.message)
}
