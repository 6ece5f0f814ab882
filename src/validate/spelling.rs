//! Fields as people misspell, misplace and mistake them.
//!
//! Exports carry many fields of their own, so only what is all but a field's name is told, and what is
//! known to be written in its stead.

use crate::names::nearly_same;

/// The fields of one kind of object, and what people write instead.
pub(super) struct Spelling {
    /// The fields that are read.
    pub(super) fields: &'static [&'static str],
    /// Another name, and the field that is meant.
    pub(super) instead: &'static [(&'static str, &'static str)],
    /// Fields that are read somewhere else, and where.
    pub(super) elsewhere: &'static [(&'static [&'static str], &'static str)],
}

/// What a field is that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// Another field of the same object.
    Field(&'static str),
    /// A field of another object.
    Elsewhere(&'static str),
}

impl Spelling {
    /// What is meant by a field that is none; nothing where it may be anybody's.
    pub(super) fn meant(&self, name: &str, has: impl Fn(&str) -> bool) -> Option<Meant> {
        if self.fields.contains(&name) {
            return None;
        }
        let instead = || self.instead.iter().find(|(other, _)| nearly_same(other, name)).map(|(_, field)| *field);
        let field = self.fields.iter().copied().find(|field| nearly_same(name, field)).or_else(instead);
        let elsewhere = self.elsewhere.iter().find(|(names, _)| names.contains(&name)).map(|(_, place)| *place);
        field.filter(|field| !has(field)).map(Meant::Field).or(elsewhere.map(Meant::Elsewhere))
    }

    const fn of(fields: &'static [&'static str], instead: &'static [(&'static str, &'static str)]) -> Self {
        Self { fields, instead, elsewhere: &[] }
    }
}

/// What a model's step has and no other.
const OF_MODELS: (&[&str], &str) =
    (&["persona", "contract", "optional", "maxAttempts", "model"], "only template nodes have this field");

/// What a step in Markdown says of values; in JSON its edges do.
const MAPPED: (&[&str], &str) =
    (&["map"], "in JSON the edge from that step says so: `\"data\": {\"mapping\": {\"name\": \"field\"}}`");

/// What a step in Markdown waits for; in JSON its edges say it.
const AFTER: (&[&str], &str) =
    (&["after"], "in JSON an edge says so: `{\"source\": \"that step\", \"target\": \"this one\"}`");

/// `data` of a tool node.
pub(super) const OF_TOOLS: Spelling = Spelling {
    fields: &["label", "description", "call", "args", "requires", "onError", "retry", "timeoutMs", "delayMs", "set"],
    instead: &[
        ("timeout", "timeoutMs"),
        ("delay", "delayMs"),
        ("retries", "retry"),
        ("arg", "args"),
        ("arguments", "args"),
        ("params", "args"),
        ("parameters", "args"),
        ("inputs", "args"),
        ("tool", "call"),
        ("onFailure", "onError"),
    ],
    elsewhere: &[OF_MODELS, MAPPED, AFTER],
};

/// `data` of a flow node.
pub(super) const OF_FLOWS: Spelling = Spelling {
    fields: &["label", "description", "flow", "variables"],
    instead: &[
        ("inputs", "variables"),
        ("args", "variables"),
        ("arguments", "variables"),
        ("params", "variables"),
        ("parameters", "variables"),
        ("flows", "flow"),
        ("flowName", "flow"),
        ("flowId", "flow"),
    ],
    elsewhere: &[OF_MODELS, OF_CALLS, MAPPED, AFTER],
};

/// What a call of a tool has and no other step.
const OF_CALLS: (&[&str], &str) =
    (&["requires", "onError", "retry", "timeoutMs", "delayMs"], "only tool nodes have this field");

/// `data` of a template node.
pub(super) const OF_TEMPLATES: Spelling = Spelling {
    fields: &[
        "label",
        "description",
        "selectedTemplateId",
        "template",
        "variables",
        "variableValueSets",
        "literal",
        "persona",
        "contract",
        "optional",
        "maxAttempts",
        "model",
        "onError",
    ],
    instead: &[
        ("variableSets", "variableValueSets"),
        ("valueSets", "variableValueSets"),
        ("sets", "variableValueSets"),
        ("inputs", "variables"),
        ("templateId", "selectedTemplateId"),
        ("selectedTemplate", "selectedTemplateId"),
        ("templateName", "selectedTemplateId"),
        ("prompt", "template"),
        ("text", "template"),
        ("role", "persona"),
        ("personas", "persona"),
        ("contracts", "contract"),
        ("schema", "contract"),
        ("outputSchema", "contract"),
        ("literals", "literal"),
        ("retries", "maxAttempts"),
        ("attempts", "maxAttempts"),
        ("onFailure", "onError"),
    ],
    elsewhere: &[(&["requires", "retry", "timeoutMs", "delayMs"], OF_CALLS.1), MAPPED, AFTER],
};

/// `data` of an input node.
pub(super) const OF_INPUT_NODES: Spelling =
    Spelling::of(&["label", "description", "variables"], &[("inputs", "variables"), ("fields", "variables")]);

/// One variable of an input node.
pub(super) const OF_INPUT_VARIABLES: Spelling = Spelling {
    fields: &["key", "name", "value", "default"],
    instead: &[("defaultValue", "value")],
    elsewhere: &[(
        &["type", "required", "optional", "enum", "choices", "options", "description"],
        "say it of this name in `inputs`, beside the flow's name",
    )],
};

/// One variable of a template.
pub(super) const OF_VARIABLES: Spelling = Spelling {
    fields: &["key", "name", "value", "default", "type", "required", "description"],
    instead: &[("defaultValue", "default")],
    elsewhere: &[(&["enum", "choices", "options"], "say it of this name in the `inputs` of the flow"), OPTIONAL],
};

/// One variable that `inputs` describes.
pub(super) const OF_INPUTS: Spelling = Spelling {
    fields: &["type", "description", "required", "default", "enum"],
    instead: &[
        ("typ", "type"),
        ("kind", "type"),
        ("choices", "enum"),
        ("options", "enum"),
        ("values", "enum"),
        ("allowed", "enum"),
        ("defaultValue", "default"),
        ("value", "default"),
        ("mandatory", "required"),
        ("desc", "description"),
    ],
    elsewhere: &[OPTIONAL],
};

/// The opposite of a field is no other name of it.
const OPTIONAL: (&[&str], &str) = (&["optional"], "`required: false` says that nobody has to give it");

const SETS: (&[&str], &str) = (
    &["variableValueSets", "variableSets", "valueSets", "sets"],
    "sets are `variableValueSets` of a template node or of a template's file",
);

/// What describes a flow: `meta`, or `metadata` of the flat shape.
pub(super) const OF_META: Spelling = Spelling {
    fields: &[
        "id",
        "name",
        "version",
        "description",
        "tags",
        "author",
        "category",
        "complexity",
        "estimatedDuration",
        "examples",
        "expose",
        "inputs",
        "outputs",
        "model",
    ],
    instead: &[("input", "inputs"), ("output", "outputs"), ("example", "examples"), ("tag", "tags")],
    elsewhere: &[SETS],
};

/// An edge.
pub(super) const OF_EDGES: Spelling = Spelling {
    fields: &["id", "source", "target", "sourceHandle", "targetHandle", "type", "data"],
    instead: &[("from", "source"), ("sourceId", "source"), ("to", "target"), ("targetId", "target")],
    elsewhere: &[(&["mapping", "connectionType"], "move it into `data`")],
};

/// `data` of an edge.
pub(super) const OF_EDGE_DATA: Spelling =
    Spelling::of(&["connectionType", "mapping"], &[("mappings", "mapping"), ("map", "mapping")]);

/// What a node can't be without.
pub(super) const OF_NODES: Spelling =
    Spelling::of(&["id", "type"], &[("kind", "type"), ("nodeType", "type"), ("nodeId", "id"), ("key", "id")]);

/// The field of an object that was to be this one, which it lacks.
pub(super) fn written_for<'f>(
    missing: &str,
    object: &'f serde_json::Map<String, serde_json::Value>,
) -> Option<&'f str> {
    let meant = |key: &str, spelling: &Spelling| matches!(spelling.meant(key, |_| false), Some(Meant::Field(field)) if field == missing);
    object.keys().map(String::as_str).find(|key| [&OF_EDGES, &OF_NODES].iter().any(|spelling| meant(key, spelling)))
}

/// A flow itself.
pub(super) const OF_FLOW: Spelling = Spelling {
    fields: &["meta", "metadata", "nodes", "edges"],
    instead: &[("edge", "edges"), ("node", "nodes")],
    elsewhere: &[
        SETS,
        (&["input", "inputs", "outputs", "examples", "expose", "model"], "write it beside the flow's name"),
    ],
};

/// A template of a template file.
pub(super) const OF_TEMPLATE_FILES: Spelling = Spelling::of(
    &["id", "title", "template", "variables", "variableValueSets", "literal", "description"],
    &[
        ("variableSets", "variableValueSets"),
        ("valueSets", "variableValueSets"),
        ("sets", "variableValueSets"),
        ("inputs", "variables"),
    ],
);

/// A set of values.
pub(super) const OF_SETS: Spelling = Spelling::of(&["id", "name", "description", "values"], &[("variables", "values")]);

/// Whether a flow has a field that was to be `edges`.
pub(super) fn misspells_edges(flow: &serde_json::Map<String, serde_json::Value>) -> bool {
    flow.keys().any(|key| OF_FLOW.meant(key, |field| flow.contains_key(field)) == Some(Meant::Field("edges")))
}

/// A result.
const OF_RESULTS: Spelling = Spelling::of(&["label", "description"], &[]);

/// The spelling of a node's `data`, by its type.
pub(super) fn of_node(kind: &str) -> Option<&'static Spelling> {
    match kind {
        "tool" => Some(&OF_TOOLS),
        "flow" | "flow-link" => Some(&OF_FLOWS),
        "template" => Some(&OF_TEMPLATES),
        "multi_input" | "input" => Some(&OF_INPUT_NODES),
        "result" => Some(&OF_RESULTS),
        _ => None,
    }
}

/// The fields that say what a step does: without all of them it has nothing to run.
pub(super) const DOING: [&str; 4] = ["selectedTemplateId", "template", "call", "flow"];

/// The field that was to say what a step does: misspelt in `data`, or beside it.
pub(super) fn meant_to_do(
    kind: &str,
    node: &serde_json::Map<String, serde_json::Value>,
) -> Option<(String, &'static str, bool)> {
    let spelling = of_node(kind)?;
    let data = node.get("data").and_then(serde_json::Value::as_object);
    let beside = DOING.into_iter().find(|field| spelling.fields.contains(field) && node.contains_key(*field));
    if let Some(field) = beside {
        return Some((field.to_owned(), field, true));
    }
    data.into_iter().flatten().find_map(|(key, _)| match spelling.meant(key, |_| false) {
        Some(Meant::Field(field)) if DOING.contains(&field) => Some((key.clone(), field, false)),
        _ => None,
    })
}
