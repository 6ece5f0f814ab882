//! The published schemas of the files of a catalog, as editors use them.

/// The schema of a flow file, an address of which is `urn:flowy:schema:flow:1`.
const FLOW: &str = include_str!("../../schemas/flow.schema.json");
/// The schema of a template file.
const TEMPLATE: &str = include_str!("../../schemas/template.schema.json");
/// The schema of a file of tests.
const TESTS: &str = include_str!("../../schemas/flowtest.schema.json");

/// The format of flows in short, for a model that writes one.
pub const FORMAT: &str = include_str!("../../docs/FORMAT.md");

/// The schema of a kind of file: `flow`, `template` or `flowtest`.
pub fn file_schema(kind: &str) -> Option<&'static str> {
    match kind {
        "flow" => Some(FLOW),
        "template" => Some(TEMPLATE),
        "flowtest" => Some(TESTS),
        _ => None,
    }
}

/// The kinds of files that have a schema.
pub const FILE_KINDS: [&str; 3] = ["flow", "template", "flowtest"];
