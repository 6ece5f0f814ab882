//! The one error that leaves the product: a code, a fact, a next step.
//!
//! Every room's own error becomes an [`Error`] here and nowhere else; how it is written down is
//! the report's business.

mod of_source;

use std::any::Any;

use serde_json::{Map, Value, json};

use crate::catalog::{Candidate, CatalogError, ItemKind, is_passing};
use crate::clock::{Clock, SystemClock, error_id};
use crate::code::Code;
use crate::discover::{DamagedIndex, DiscoverError};
use crate::model::Unusable;
use crate::names::{did_you_mean, quoted};
use crate::next_step::{NextStep, Word};
use crate::run::Refusal;
use crate::validate::{Finding, Reach, TELL_FLOWS_APART, TELL_TEMPLATES_APART};

/// Exit codes of the command line, with their meaning.
#[cfg(feature = "internals")]
pub const EXIT_CODES: [(u8, &str); 4] = [
    (0, "everything is fine"),
    (1, "findings of severity error, or an execution that failed, is partial, or (with --dry-run) would fail"),
    (2, "the command line or a setting can't be understood"),
    (3, "the catalog can't be reached"),
];

/// What went wrong, for whoever asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Its code.
    pub code: Code,
    /// The fact.
    pub message: String,
    /// The call or change that helps.
    pub next_step: Option<NextStep>,
    /// Whether GitHub, or the way to it, is the trouble.
    pub of_github: bool,
    /// More facts for programs, in the order in which they are written.
    pub details: Option<Box<Map<String, Value>>>,
    /// What the checker found, where that is the trouble.
    pub findings: Vec<Finding>,
    /// Why the given values were refused, where that is the trouble.
    pub refusal: Option<Box<Refusal>>,
}

impl Error {
    /// An error without a next step. One that is our own fault gets an id, which stands in the log too.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        if code == Code::InternalError { Self::of_bug(&message) } else { Self::plain(code, message) }
    }

    /// A request that can't be met as it is.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    fn plain(code: Code, message: String) -> Self {
        Self {
            code,
            message,
            next_step: None,
            of_github: code.of_github(),
            details: None,
            findings: Vec::new(),
            refusal: None,
        }
    }

    /// The call or change that helps.
    #[must_use]
    pub fn next(mut self, step: impl Into<NextStep>) -> Self {
        self.next_step = Some(step.into());
        self
    }

    /// A cursor that does not go on with what is listed.
    pub(crate) fn of_cursor(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidCursor, message)
            .next("leave " + Word::Argument("cursor", "--cursor") + " out to begin anew")
    }

    /// A fact for programs.
    #[must_use]
    pub fn detail(mut self, key: &str, value: Value) -> Self {
        self.details.get_or_insert_default().insert(key.to_owned(), value);
        self
    }

    /// What is said to nobody, or to a client whose server is ending.
    pub fn cancelled() -> Self {
        Self::new(Code::Cancelled, "the call was cancelled").next("call again when you want the answer")
    }

    /// A bug: something panicked. What is known of it is in the log, beside the id.
    pub fn of_panic(clock: &dyn Clock, what: &str, panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let id = error_id(clock);
        tracing::error!(id, what, said, "a bug: this panicked");
        Self::found_by(id, |id| format!("an internal error, {id}"))
    }

    fn of_bug(fact: &str) -> Self {
        let id = error_id(&SystemClock);
        tracing::error!(id, "an internal error: {fact}");
        Self::found_by(id, |id| format!("{fact} (internal error {id})"))
    }

    fn found_by(id: String, message: impl FnOnce(&str) -> String) -> Self {
        Self::plain(Code::InternalError, message(&id))
            .next("this is a bug: please report it with the lines of the log around this id")
            .detail("id", Value::String(id))
    }

    /// Something asked for that isn't there, with the names that are spelt alike.
    pub fn not_found(code: Code, what: &str, name: &str, nearest: &[String]) -> Self {
        let error = Self::new(code, format!("there is no {what} {}", quoted(name)));
        match did_you_mean(nearest) {
            Some(asked) => error
                .next(NextStep::from(asked) + " " + Word::List + " shows all names")
                .detail("nearest", json!(nearest)),
            None => error.next(Word::Either("call flows_list to see", "`flowy list` shows") + " the names"),
        }
    }

    /// The same where a file may be meant that is not read, with the path under which it would be.
    #[must_use]
    pub fn or_misplaced(self, misplaced: Option<(String, String)>) -> Self {
        match misplaced {
            None => self,
            Some((path, meant)) => self.next(format!("{path} is not read; it would be read as {meant}")),
        }
    }

    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        let misused = matches!(self.code, Code::InvalidRequest | Code::InvalidCursor);
        if misused {
            2
        } else if self.of_github {
            3
        } else {
            1
        }
    }
}

/// That a flow is asked for by its name, in these words.
pub(super) fn by_listed_name(asked: &str) -> NextStep {
    NextStep::from(asked) + " by the name that " + Word::List + " shows"
}

impl From<DamagedIndex> for Error {
    fn from(damaged: DamagedIndex) -> Self {
        Self::new(Code::InternalError, damaged.to_string()).next("ask again: the index is made anew then")
    }
}

impl From<DiscoverError> for Error {
    fn from(error: DiscoverError) -> Self {
        match &error {
            DiscoverError::Damaged(damaged) => (*damaged).into(),
            DiscoverError::InvalidCursor { .. } => Self::of_cursor(error.to_string()),
            DiscoverError::InvalidLimit { .. }
            | DiscoverError::InvalidBudget { .. }
            | DiscoverError::InvalidLatency { .. } => {
                Self::invalid(error.to_string()).next("give a number in that range, or leave it out")
            }
            DiscoverError::InvalidNames { .. } => Self::invalid(error.to_string())
                .next(
                    "name the flows "
                        + Word::Either("in `names`", "with --name")
                        + "; mode summaries shows more of them at once",
                )
                .detail("argument", json!("names")),
            DiscoverError::InvalidQuery { .. } => {
                Self::invalid(error.to_string()).next("say in a sentence what the flow is to do")
            }
        }
    }
}

impl From<CatalogError> for Error {
    fn from(error: CatalogError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        // Only in its arm: an internal error gets its id, and its line in the log, where it is made.
        let made = || Self::new(code, message);
        match error {
            CatalogError::ForbiddenName { kind: ItemKind::Flow, .. } => made().next(by_listed_name("ask for a flow")),
            CatalogError::ForbiddenName { kind: ItemKind::Template, .. } => {
                made().next("ask for a template by the name that is listed")
            }
            CatalogError::NotFound { kind, name, nearest, misplaced } => {
                Self::not_found(code, &kind.to_string(), &name, &nearest).or_misplaced(misplaced)
            }
            CatalogError::IsTemplate { .. } => made().next(Word::Either(
                "call flows_show with that name: it shows the text, and in usedBy the flows to execute",
                "`flowy show` with that name shows the text, and which flows use it",
            )),
            CatalogError::AmbiguousFlow { candidates, .. } => {
                let way = |one: &Candidate| Some(format!("{} ({})", quoted(one.other_name.as_deref()?), one.file));
                let ways: Vec<String> = candidates.iter().filter_map(way).collect();
                let next = if ways.is_empty() {
                    "no other name tells them apart: give one of the files another name or `meta.id`".to_owned()
                } else {
                    format!("ask for one of them as {}", ways.join(" or "))
                };
                let names: Vec<String> = candidates.iter().map(ToString::to_string).collect();
                let files: Vec<String> = candidates.into_iter().map(|candidate| candidate.file).collect();
                made().next(next).detail("candidates", json!(names)).fixed(&files, TELL_FLOWS_APART)
            }
            CatalogError::AmbiguousTemplate { files, .. } => made()
                .next("ask for one of them by its id, or rename one of the files")
                .detail("candidates", json!(files.named))
                .fixed(&files.named, TELL_TEMPLATES_APART),
            CatalogError::Unusable(unusable) => made().about_file(&unusable),
            CatalogError::Gone { .. } => made()
                .next(Word::Either("call flows_list with refresh true, and ask again", "ask again with --refresh")),
            CatalogError::Refused { findings, .. } => {
                let ring = findings.iter().find(|finding| finding.reach == Reach::Flow && !finding.ring.is_empty());
                let closed = ring.map(|ring| ring.ring.iter().chain(ring.ring.first()).cloned().collect::<Vec<_>>());
                let made = made().next("fix the file; `flowy validate` shows every finding with its place");
                let made = if let Some(closed) = closed { made.detail("cycle", json!(closed)) } else { made };
                Self { findings, ..made }
            }
            CatalogError::Source(error) => error.into(),
            CatalogError::Listing(error) => error.into(),
            CatalogError::IndexDamaged(damaged) => damaged.into(),
            CatalogError::IndexUnreadable | CatalogError::Stopped => made(),
        }
    }
}

impl Error {
    /// An error of a source: what takes too long there is GitHub.
    fn about_source(self) -> Self {
        Self { of_github: is_passing(self.code), ..self }
    }

    /// What has to be fixed, and how.
    fn fixed(self, files: &[String], hint: &str) -> Self {
        let made = self.detail("files", json!(files));
        if hint.is_empty() { made } else { made.detail("hint", json!(hint)) }
    }

    /// It is about a file that can't be used.
    fn about_file(self, unusable: &Unusable) -> Self {
        let hint = unusable.hints.join("; ");
        let mut made = self.detail("file", json!(unusable.file));
        if !hint.is_empty() {
            made = made.detail("hint", json!(hint)).next(if is_passing(unusable.code) {
                NextStep::either(hint, "try again in a minute: --refresh fetches it anew")
            } else {
                hint.into()
            });
        }
        if let Some(at) = unusable.at {
            made = made.detail("line", json!(at.line)).detail("column", json!(at.column));
            made = made.next("fix the file; `flowy validate` shows the place");
        }
        made.about_source()
    }
}
