//! What the fields, words and codes of replies mean, for people and for the generated reference.
//!
//! A name means one thing wherever it stands. The tests hold every reply they see against this
//! list, so a field that is added shows up here, or they fail.

/// One field of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its JSON type, in words.
    pub value: &'static str,
    /// What it says, with its unit.
    pub meaning: &'static str,
}

const fn field(name: &'static str, value: &'static str, meaning: &'static str) -> Field {
    Field { name, value, meaning }
}

/// Every field, by name.
pub const FIELDS: &[Field] = &[
    field("ageSeconds", "number", "how long ago the answer was known to be the newest state, in whole seconds"),
    field("author", "text or null", "who wrote the flow"),
    field("because", "text", "the node whose failure or omission is the reason"),
    field(
        "by",
        "`mapping`, `handle` or `auto`",
        "what decided that the value goes there: the edge's `mapping`, its `targetHandle`, or auto-mapping",
    ),
    field("cached", "true or false", "whether a kept copy was used; true for a stale one as well"),
    field("category", "text or null", "the category; by default the folder below flows/"),
    field("code", "text", "what kind of error, warning or fault it is"),
    field("column", "number", "the column, in characters from 1"),
    field("commit", "text or null", "the commit that was read; null for a folder"),
    field("completedSteps", "list of texts", "ids of the steps that are done, in order"),
    field("complexity", "text", "simple, moderate or high"),
    field("contract", "text or object", "the output contract of a step: its name, or the schema itself"),
    field(
        "counts",
        "object",
        "`steps`: steps done; `toolCalls`, `retries`: calls of external tools and repeated tries",
    ),
    field("created", "text", "when the flow was created, as its file says (ISO 8601)"),
    field("default", "any", "the value when nobody gives one"),
    field("dependsOn", "list of texts", "ids of the steps that come before"),
    field("description", "text", "what it is for"),
    field("detail", "`outputs` or `final`", "how much was asked for, where that is less than everything"),
    field("details", "object", "particulars of the error; which ones depends on `code`"),
    field("dryRun", "true", "nothing was executed"),
    field("edges", "list of objects", "edges of the graph: `source`, `target`, perhaps `id`, `kind`, `mapping`"),
    field("enum", "list", "the only values allowed"),
    field("error", "object", "an error: `code`, `message`, perhaps `nextStep` and `details`"),
    field(
        "errors",
        "list of objects",
        "files that can't be used as they should: `file`, `code`, `message`, perhaps `line` and `column`; they hide nothing else",
    ),
    field("estimatedDuration", "text", "how long the author thinks it takes"),
    field("estimatedTokens", "number", "an estimate, from the o200k vocabulary"),
    field("executable", "true or false", "whether the flow can be executed"),
    field("executionId", "text", "names this execution for `flows_status`"),
    field("executionTimeMs", "number", "how long the step took, in milliseconds"),
    field("executions", "list of objects", "executions, the newest first"),
    field(
        "failedAt",
        "object or null",
        "the first step that failed, in order: `nodeId`, `templateName`, `error`; null when nothing ran",
    ),
    field("failures", "list of objects", "every step that failed, as in `failedAt`"),
    field("faulty", "object", "why this step will fail: `code` and `message`"),
    field("file", "text", "path within the catalog"),
    field("filter", "object", "the filters in force"),
    field(
        "finalResult",
        "text, any JSON or null",
        "the output of the step before the result node; null when it failed or was skipped",
    ),
    field(
        "findings",
        "list of objects",
        "what the checker noticed: `rule`, `severity`, `reach`, place, `message`, `hints`",
    ),
    field("flow", "text", "the flow that a finding is about"),
    field("flowName", "text or null", "the flow's name"),
    field("flows", "list", "one entry for each flow; its fields depend on `mode`"),
    field("format", "text", "the form of the text"),
    field("from", "text", "where a value comes from"),
    field("hint", "text", "what else could be done"),
    field("hints", "list of texts", "what to do about a finding"),
    field("id", "text", "a node's or an edge's id"),
    field("inputSummary", "text", "everything a caller may give: `name (type, required or optional)`"),
    field("inputVariables", "object", "the names that were filled in this step's text, and their values"),
    field(
        "inputs",
        "list of objects, or object by name",
        "what a caller may give: `type`, `required`, perhaps `default`, `description`, `enum`, `usedBy`",
    ),
    field("intermediateResults", "list of objects", "the steps in order, each with its output"),
    field("keptUntil", "text", "until when `flows_status` knows the execution, at the least (ISO 8601)"),
    field(
        "kind",
        "text",
        "of a reply: `flow` or `template`; of a step: `rendered`; of an edge: `data`, `chain` or `result`",
    ),
    field("label", "text", "the name a person reads"),
    field("leftOut", "object", "how many parts of a kind were left out to fit: by field"),
    field("length", "number", "how much of the text this page holds, in characters"),
    field("line", "number", "the line, from 1"),
    field("mapping", "object", "target variable → what it takes"),
    field(
        "mappings",
        "list of objects",
        "values that go to a name other than their own: `nodeId`, `variable`, `from`, `by`",
    ),
    field("message", "text", "the fact, in words"),
    field("missing", "list of objects", "required names nobody gave: `name`, `neededBy`"),
    field("mode", "text", "how much each entry shows"),
    field("name", "text", "the name to ask for"),
    field("neededBy", "list of texts", "steps that can't do without the name"),
    field("nextCursor", "text", "give it as `cursor` to go on"),
    field("nextStep", "text", "the call or the change that helps"),
    field("node", "text", "the node whose output it is"),
    field("nodeCount", "number", "all nodes of the flow"),
    field("nodeId", "text", "a node of the flow"),
    field("nodes", "list of objects", "all nodes: `id`, `type`, `label`"),
    field("offset", "number", "where this page of a text begins, in characters from 0"),
    field("omitted", "list of objects", "steps left out on purpose: `nodeId`, `because`"),
    field("output", "text, any JSON", "what the step gave"),
    field("outputLength", "number", "the whole length of an output that was cut, in characters"),
    field("outputs", "object by label", "what the flow gives: the `node`, perhaps a `description`"),
    field("partialResults", "list of objects", "what had finished when something failed"),
    field("persona", "text", "the role that a step is to be carried out in"),
    field("placeholder", "text", "a placeholder of the step's text, as written"),
    field("pointer", "text", "the place within the file (JSON Pointer, RFC 6901)"),
    field("progress", "text", "the share of steps done, such as `40%`"),
    field("reach", "`flow`, `step` or `none`", "what a finding keeps from running"),
    field("reads", "list of objects", "the placeholders of a step: `placeholder`, `from`"),
    field("ref", "text or null", "branch, tag or commit that was asked for; null for a folder"),
    field("related", "list of objects", "other places that belong to a finding: `line`, `column`, `label`"),
    field("required", "true or false", "whether the caller must give it"),
    field("results", "object by label", "with several result nodes: the output of each"),
    field("returned", "number", "how many entries this page has"),
    field("revision", "text", "what a cursor is pinned to: the commit, or a hash of the folder's state"),
    field("rule", "text", "the rule that noticed it"),
    field("severity", "`error`, `warning` or `info`", "how bad a finding is"),
    field("shortened", "true", "this entry alone would pass the budget, so it has its shortest form"),
    field("skipped", "list of objects", "steps that could not run: `nodeId`, `because`"),
    field("source", "text", "what gave the error: `flows/` and a verb; of an edge: where it begins"),
    field("stale", "true", "an older copy was used, because the newest state could not be had"),
    field("staleReason", "text", "why not"),
    field("startedAt", "text", "when the execution began (ISO 8601, UTC)"),
    field("state", "text", "how an execution stands: see below"),
    field("status", "text", "how an execution ended: see below"),
    field("steps", "list", "the steps in order; in a listing their labels"),
    field("stepsDone", "number", "steps that are done"),
    field("stepsTotal", "number", "all steps"),
    field("tags", "list of texts", "as the file has them"),
    field("target", "text", "where an edge ends"),
    field("template", "text", "the template that a step renders"),
    field("templateName", "text or null", "the template's file stem or title; the label for an inline text"),
    field("text", "text", "the text itself"),
    field("timestamp", "text", "when the step ended (ISO 8601, UTC, milliseconds)"),
    field("title", "text", "a template's title"),
    field("total", "number", "of a listing: all entries that are meant; of a text: its whole length in characters"),
    field("totalExecutionTimeMs", "number", "how long the execution took, in milliseconds"),
    field("truncated", "true", "texts were cut to fit"),
    field("truncatedBy", "`budget` or `limit`", "what ended the page"),
    field("type", "text", "of an input: its JSON type; of a node: its type in the file"),
    field("updated", "text", "when the flow was changed, as its file says (ISO 8601)"),
    field("usedBy", "list of texts", "who reads it"),
    field("values", "object", "the values of a set"),
    field("variable", "text", "the name that takes a value"),
    field("variableSets", "list", "the named sets of values that can be chosen"),
    field("variables", "list of texts", "the names a template declares"),
    field("version", "text", "as the file has it; 1.0 where it has none"),
    field("warnings", "list of objects", "what the caller should know: `code`, `message`, perhaps `nodeId`"),
    field("wave", "number", "steps of one wave do not wait for each other; from 0"),
];

/// The words of `status` and `state`.
pub const STATUSES: &[(&str, &str, &str)] = &[
    ("status", "success", "no step failed"),
    ("status", "partial", "something failed and something is there"),
    ("status", "failed", "nothing is there"),
    ("status", "running", "it goes on; `flows_status` says how far it is"),
    ("status", "ready", "a dry run: nothing is missing"),
    ("status", "missing_variables", "a dry run: `missing` names what to give"),
    ("state", "running", "steps are being done"),
    ("state", "completed", "it ended with success or partially"),
    ("state", "failed", "it ended with nothing, or was refused"),
];

/// The codes of warnings.
pub const WARNINGS: &[(&str, &str)] = &[
    ("AUTO_MAPPED", "a name that nothing gives takes the only parent's output"),
    ("DANGLING_EDGE", "an edge that leads nowhere was ignored, because the setting `lenient` allows it"),
    ("DEPRECATED", "an argument that will be removed was used"),
    ("IGNORED_VARIABLE", "a value was given for a name that takes an output"),
    ("MISSING_TEMPLATE", "the template is not there; the node's inline text was used"),
    ("MORE_ERRORS", "more files have errors than are named"),
    ("REF_IGNORED", "the source is not a repository, so the ref that was asked for means nothing"),
    ("STALE", "an older copy was used"),
    ("TEXT_HAS_NO_FIELDS", "a path into a rendered text was left as written"),
    ("UNBOUND_PLACEHOLDER", "a placeholder that nothing gives was left as written"),
    ("UNKNOWN_NAME", "no flow goes by a name that was asked for"),
    ("UNKNOWN_NODE_KIND", "nothing runs at a node of this type"),
    ("UNKNOWN_VARIABLE", "a value was given for a name that the flow doesn't read"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_there_once() {
        assert!(FIELDS.is_sorted_by(|one, other| one.name < other.name));
        assert!(WARNINGS.is_sorted_by(|one, other| one.0 < other.0));
    }
}
