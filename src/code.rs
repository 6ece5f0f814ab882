//! The codes by which callers tell errors and warnings apart, each with what it means.
//!
//! Every code is named here and nowhere else; the reference is made from these tables. Which code something
//! deserves is decided where it happens.

use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $kind:ident, $second:ident: $second_doc:literal;
     $($name:ident = $word:literal, $place:literal, $meaning:literal;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind {
            $(#[doc = $meaning] $name,)*
        }

        #[cfg_attr(not(feature = "internals"), allow(dead_code, reason = "the reference is made of what codes mean"))]
        impl $kind {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it is written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// When it is given, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            #[doc = $second_doc]
            pub const fn $second(self) -> &'static str {
                match self { $(Self::$name => $place,)* }
            }

            /// Reads a code as it is written.
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.word() == word)
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl<'de> serde::Deserialize<'de> for $kind {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::named(&word).ok_or_else(|| serde::de::Error::custom(format!("{word:?} is no code")))
            }
        }
    };
}

codes! {
    /// Why something failed.
    Code, retried: "Whether we tried again before giving it.";
    InvalidRequest = "INVALID_REQUEST", "no", "An argument is missing, unknown or of the wrong kind.";
    InvalidCursor = "INVALID_CURSOR", "no", "The cursor does not belong to this listing.";
    AmbiguousName = "AMBIGUOUS_NAME", "no", "Several flows or templates go by that name.";
    FlowNotFound = "FLOW_NOT_FOUND", "no", "No flow goes by that name.";
    TemplateNotFound = "TEMPLATE_NOT_FOUND", "no", "No template goes by that name.";
    RefNotFound = "REF_NOT_FOUND", "no", "The repository has no such branch, tag or commit.";
    RepoNotFound = "REPO_NOT_FOUND", "no", "The repository does not exist or can't be seen.";
    ParseError = "PARSE_ERROR", "no", "A file is not strict JSON; the message says where.";
    ValidationError = "VALIDATION_ERROR", "no", "A flow has errors, which `details.findings` lists, or a catalog file has an unsupported type.";
    CircularDependency = "CIRCULAR_DEPENDENCY", "no", "A flow's edges form a ring; `details.cycle` is the ring.";
    FileTooLarge = "FILE_TOO_LARGE", "no", "A file is over the size limit.";
    MissingVariables = "MISSING_VARIABLES", "no", "Required values were not given; `details.missing` lists them. Nothing ran.";
    ExecutionError = "EXECUTION_ERROR", "no", "A step could not be carried out.";
    Timeout = "TIMEOUT", "no", "Something took longer than its time limit.";
    Cancelled = "CANCELLED", "no", "The caller cancelled.";
    LimitExceeded = "LIMIT_EXCEEDED", "no", "A text, a tool's answer or flows within flows would exceed a limit; `nextStep` says what helps.";
    Unauthorized = "UNAUTHORIZED", "no", "GitHub refused the token (401).";
    Forbidden = "FORBIDDEN", "no", "GitHub refuses the request (403 without a limit); `details.reason` says why.";
    RateLimited = "RATE_LIMITED", "up to 3 tries, unless the reset is too far away", "GitHub's quota is used up; `details.retryAt` says until when.";
    GithubError = "GITHUB_ERROR", "up to 3 tries", "GitHub answered with an error.";
    NetworkError = "NETWORK_ERROR", "up to 3 tries", "GitHub could not be reached.";
    ToolNotFound = "TOOL_NOT_FOUND", "no", "No external server or tool goes by that name.";
    ToolNotAllowed = "TOOL_NOT_ALLOWED", "no", "The operator does not allow flows to call that tool.";
    ToolUnavailable = "TOOL_UNAVAILABLE", "as the node's `retry` says", "The tool's server can't be reached.";
    ToolError = "TOOL_ERROR", "as the node's `retry` says", "The tool reports an error; the message quotes it.";
    ModelNotFound = "MODEL_NOT_FOUND", "no", "No model goes by that name: none is configured so, or the provider has none.";
    ModelUnauthorized = "MODEL_UNAUTHORIZED", "no", "The provider refuses the key of a model, or there is none.";
    ModelRateLimited = "MODEL_RATE_LIMITED", "waits as long as the execution may last", "A model's limit lasts longer than the execution may.";
    ModelOverloaded = "MODEL_OVERLOADED", "waits as long as the execution may last", "A model's server has too much to do, for longer than the execution may last.";
    ModelNoQuota = "MODEL_NO_QUOTA", "no", "The account behind a model's key has no quota left.";
    ModelError = "MODEL_ERROR", "up to 3 tries, unless the request is refused", "A model gave no answer; the message quotes its server.";
    ContextTooLong = "CONTEXT_TOO_LONG", "no", "A prompt is longer than the model takes.";
    ContentFiltered = "CONTENT_FILTERED", "no", "A provider's content filter refuses the prompt or the answer.";
    BudgetExceeded = "BUDGET_EXCEEDED", "no", "A call to a model could take more tokens than the operator allows; it was not made.";
    ExecutionNotFound = "EXECUTION_NOT_FOUND", "no", "No execution goes by that id, or it is no longer kept.";
    InvalidStepToken = "INVALID_STEP_TOKEN", "no", "The step token is not that of the open step, or no longer valid.";
    StepAlreadyCompleted = "STEP_ALREADY_COMPLETED", "no", "The step was completed before, with another output.";
    ContractViolation = "CONTRACT_VIOLATION", "no", "The output does not meet the step's contract; `details.issues` lists every place. The token stays good.";
    AwaitingHuman = "AWAITING_HUMAN", "no", "A question to a person is open, and nothing goes on before the answer.";
    EscalationNotFound = "ESCALATION_NOT_FOUND", "no", "No open question has that id.";
    StoreError = "STORE_ERROR", "no", "Guided executions can't be kept or read on this machine; everything else works.";
    InternalError = "INTERNAL_ERROR", "no", "A bug; the message holds an id that is also in the log.";
}

codes! {
    /// What a caller should know although the answer stands.
    WarningCode, place: "The tools that give it.";
    Deprecated = "DEPRECATED", "flows_list", "An argument will be removed; the message names what to use instead.";
    UnknownName = "UNKNOWN_NAME", "flows_list", "No flow goes by one of `names`.";
    MoreErrors = "MORE_ERRORS", "flows_list", "More files have errors than `errors` names.";
    MisplacedFile = "MISPLACED_FILE", "flows_list", "A file that looks as if it were meant is not read, because its folder or its ending is wrong.";
    RefIgnored = "REF_IGNORED", "flows_list, flows_show, flows_execute", "A ref was asked for, and a folder or the examples have none.";
    InexactName = "INEXACT_NAME", "flows_show, flows_execute, flows_begin", "A name differs from what it means in case, blanks, `-` and `_` alone, or is the name within a file that is called otherwise; the message names what was used.";
    Examples = "EXAMPLES", "flows_list", "No source is set, so these are the built-in examples.";
    NotExposed = "NOT_EXPOSED", "flowy list --json", "A flow can't be the MCP tool of its own that the settings ask for.";
    Stale = "STALE", "flows_execute", "The newest state could not be had, and an older copy was used.";
    IgnoredVariable = "IGNORED_VARIABLE", "flows_execute", "A given value is not used, because an edge or a step's output has that name.";
    UnknownVariable = "UNKNOWN_VARIABLE", "flows_execute", "No step reads a name that was given.";
    AutoMapped = "AUTO_MAPPED", "flows_execute", "A variable that was not given took the output of the only step before.";
    TextHasNoFields = "TEXT_HAS_NO_FIELDS", "flows_execute", "A placeholder asks for a field of a text and stays as it is.";
    UnboundPlaceholder = "UNBOUND_PLACEHOLDER", "flows_execute", "A placeholder is declared and given by nobody and stays as it is.";
    DuplicateKey = "DUPLICATE_KEY", "flows_execute", "An object of the flow's file holds a key twice, and the last one counts.";
    MissingTemplate = "MISSING_TEMPLATE", "flows_execute", "A step's template is not there, and the step's own text was used.";
    DanglingEdge = "DANGLING_EDGE", "flows_execute", "An edge to a node that does not exist was left out (`lenient`).";
    WentOn = "WENT_ON", "flows_execute", "A call of an external tool failed, or a model gave no answer, and the node says `onError: continue`.";
    PromptHanded = "PROMPT_HANDED", "flows_execute", "A tool that may change something was handed a whole prompt that nobody answered.";
    PromptCutOff = "PROMPT_CUT_OFF", "flows_execute", "A model's server counted far fewer tokens than the prompt has.";
    AnswerCutOff = "ANSWER_CUT_OFF", "flows_execute", "A model's answer was cut off, and the node says `onLength: keep`.";
    CopiedExample = "COPIED_EXAMPLE", "flows_complete_step, flows_execute", "An output is the example of its contract, word for word.";
    CalledAgain = "CALLED_AGAIN", "flows_resume", "A step had begun when the execution was interrupted, and was begun again.";
    NotKept = "NOT_KEPT", "flows_execute", "The execution can't be stored: it can't be gone on with if it is interrupted.";
    LeftOut = "LEFT_OUT", "flows_execute", "A part of what an external tool gave can't be handed on; the rest of it was used.";
    UnknownNodeKind = "UNKNOWN_NODE_KIND", "flows_execute", "Nothing ran at a node, because its type is not known.";
}

impl Code {
    /// Whether it is about GitHub.
    pub const fn of_github(self) -> bool {
        matches!(
            self,
            Self::Unauthorized
                | Self::Forbidden
                | Self::RateLimited
                | Self::GithubError
                | Self::NetworkError
                | Self::RefNotFound
                | Self::RepoNotFound
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_spelt_alike_and_says_when() {
        let errors = Code::ALL.iter().map(|code| (code.word(), code.meaning()));
        let warnings = WarningCode::ALL.iter().map(|code| (code.word(), code.meaning()));
        for (word, meaning) in errors.chain(warnings) {
            assert!(word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'), "{word}");
            assert!(meaning.ends_with('.'), "{word}");
        }
    }

    #[test]
    fn every_code_is_read_as_it_is_written() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.word()), Some(*code));
            assert_eq!(serde_json::from_value::<Code>(serde_json::json!(code)).unwrap(), *code);
        }
        for code in WarningCode::ALL {
            assert_eq!(WarningCode::named(code.word()), Some(*code));
        }
        assert!(serde_json::from_str::<Code>("\"NO_SUCH_CODE\"").is_err());
    }
}
