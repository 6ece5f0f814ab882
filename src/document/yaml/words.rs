//! What the parser of YAML says, in words for somebody who wrote a few lines.

use granit_parser::ErrorKind;

/// The fact, and what to do about it.
pub(super) fn told(kind: &ErrorKind) -> (String, &'static str) {
    let (message, hint) = match kind {
        ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::UnclosedFlowCollection { .. } => (
            "a value begins with a bracket that is never closed",
            "close it, or put the whole value in quotation marks",
        ),
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
            let brackets = if *kind == ErrorKind::ExpectedFlowMappingSeparator { "{ and }" } else { "[ and ]" };
            return (
                format!("what stands between {brackets} can't be read"),
                "part values by commas, and quote a value that holds a comma, `: ` or ` #`",
            );
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("a bracket is closed that was never opened", "remove it, or put the whole value in quotation marks")
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            return (format!("{open} is closed by {close}"), "close each bracket by its own kind, the inner one first");
        }
        ErrorKind::FlowMappingValueAdjacentCollection | ErrorKind::InvalidMappingValueWhitespace => {
            ("there is no blank behind the colon", "write `key: value`")
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::ExpectedBlockSequenceEntry
        | ErrorKind::InvalidIndentation
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent
        | ErrorKind::InvalidQuotedScalarIndent => {
            ("this line does not begin in the column of those that it belongs to", COLUMNS)
        }
        ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::UnexpectedEofBlockMapping
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEndOfPlainScalar => NO_COLON,
        ErrorKind::BlockSequenceEntryNotAllowed => (
            "a dash begins a list where none can begin",
            "begin each value of a list on a line of its own, or quote the text",
        ),
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement | ErrorKind::MappingKeyNotAllowed => (
            "a colon stands where no value can begin",
            "put a value that holds a colon in quotation marks, and each key on a line of its own",
        ),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => super::TAB,
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quotation mark is never closed", QUOTES)
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            ("more words stand behind the closing quotation mark", QUOTES)
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => (
            "a backslash between \" and \" stands before a sign that it can't stand before",
            "write \\\\ for a backslash, or '…' in the place of \"…\"",
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            let shown = crate::names::quoted(&character.to_string());
            return (format!("no value can begin with {shown}"), "put the whole value in quotation marks");
        }
        ErrorKind::CommentNotSeparated | ErrorKind::CommentInterceptedScalar => (
            "a # behind other signs, which YAML takes for a comment",
            "put the value in quotation marks; an id of a step is written without `{#` and `}`",
        ),
        ErrorKind::InvalidBlockEntryWhitespace | ErrorKind::PlainScalarStartsWithDashFlowIndicator => {
            ("there is no blank behind the dash", "write `- value`, or put the value in quotation marks")
        }
        ErrorKind::BlockEntryInFlowCollection => (
            "a dash stands between brackets",
            "part the values between brackets by commas, or put each on a line of its own",
        ),
        ErrorKind::ZeroBlockScalarIndent | ErrorKind::InvalidBlockScalarHeader => {
            ("more words stand behind | or >", "begin the text on the next line, or put it in quotation marks")
        }
        ErrorKind::DirectiveDisallowed => ("a directive, which is not read here", "remove the line that begins with %"),
        ErrorKind::BomInsideDocument => ("a byte-order mark within the text", "remove the invisible sign"),
        other => return (format!("this is not YAML that can be read: {other}"), COLUMNS),
    };
    (message.to_owned(), hint)
}

/// Whether it is said of what stands between brackets, or of a line that is taken for such.
pub(super) fn in_brackets(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidFlowScalarIndent
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnclosedFlowCollection { .. }
    )
}

/// What is said of a line without a colon.
pub(super) const NO_COLON: (&str, &str) = ("this line has no key with a colon behind it", "write `key: value`");
const COLUMNS: &str = "each line is `key: value`, lines that belong together begin in one column";
const QUOTES: &str = "close the quotation mark where the value ends; within '…' an apostrophe is written ''";
