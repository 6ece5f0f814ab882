//! Flows as people write them, for the tests of this room.

use serde_json::json;

use super::{
    Category, FileProblem, FlowIndex, FlowInput, FlowOutput, FlowRow, IndexRows, OverlookedFile, TemplateRow,
    TemplateTitle,
};
use crate::code::Code;

const SUBJECTS: [(&str, &str, &str); 8] = [
    ("brand_review", "marketing", "Compares how a brand describes itself with how its customers do"),
    ("invoice_check", "finance", "Reads an invoice and names what does not agree with the order"),
    ("release_notes", "engineering", "Turns merged changes into notes that users can understand"),
    ("lead_followup", "sales", "Writes a follow-up for a customer who has gone quiet"),
    ("course_outline", "training", "Plans a course from its goals to the exercises of each week"),
    ("incident_report", "operations", "Collects what happened in an incident and writes the report"),
    ("survey_digest", "research", "Groups the answers of a survey and quotes the telling ones"),
    ("contract_brief", "legal", "Explains a contract's duties and dates to people who will not read it"),
];

/// The typical flow number `number`: about 835 characters in detailed mode and 335 in compact mode.
pub(super) fn typical(number: usize) -> FlowRow {
    let (subject, category, purpose) = SUBJECTS[number % SUBJECTS.len()];
    let input = |name: &str, description: &str, required: bool| FlowInput {
        name: name.to_owned(),
        kind: Some("string".to_owned()),
        description: Some(description.to_owned()),
        required,
        default: if required { None } else { Some(json!("en")) },
        ..FlowInput::default()
    };
    FlowRow {
        name: format!("{subject}_{number:05}"),
        description: format!(
            "{purpose}. Works in two passes, asks for nothing else and keeps every figure as it was given to it."
        ),
        tags: vec![category.to_owned(), "weekly".to_owned()],
        category: Some(category.to_owned()),
        complexity: Some(["simple", "moderate", "high"][number % 3].to_owned()),
        author: Some("Content team".to_owned()),
        version: (!number.is_multiple_of(4)).then(|| "1.2.0".to_owned()),
        node_count: 5,
        created: Some("2025-03-14T09:26:53Z".to_owned()),
        updated: (!number.is_multiple_of(5)).then(|| "2026-01-02T03:04:05Z".to_owned()),
        inputs_unknown: false,
        steps: vec!["Read the material".to_owned(), "Write the draft".to_owned()],
        inputs: vec![
            input(
                "source",
                "The text that is to be worked on, plain or as Markdown; what is too long is read in parts",
                true,
            ),
            input(
                "audience",
                "Who is going to read the result and what they already know about the matter at hand",
                true,
            ),
            input(
                "lang",
                "The language of the result, as a code of two letters such as en, de or ko; English if absent",
                false,
            ),
        ],
        outputs: vec![
            FlowOutput { label: "Result".to_owned(), node: "node-4".to_owned() },
            FlowOutput { label: "Open questions".to_owned(), node: "node-5".to_owned() },
        ],
        examples: vec![format!("{subject} please")],
        sets: Vec::new(),
        guided: false,
        expose: number.is_multiple_of(7),
        calls: if number.is_multiple_of(3) { vec!["browser:open".to_owned()] } else { Vec::new() },
        uses: Vec::new(),
        broken: false,
        file: format!("flows/{category}/{subject}_{number:05}.json"),
        flow_id: Some(format!("flow-{number}")),
        meta_name: Some(format!("{subject} {number}")),
        place_in_file: 0,
        oid: format!("{number:040x}"),
    }
}

pub(super) fn flows(count: usize) -> Vec<FlowRow> {
    (0..count).map(typical).collect()
}

pub(super) fn rows(count: usize) -> IndexRows {
    let templates = (0..count.min(3)).map(|number| TemplateRow {
        file: format!("templates/Text_{number}.json"),
        stem: format!("Text_{number}"),
        titles: vec![
            TemplateTitle { id: Some(format!("t{number}")), title: Some("A text".to_owned()) },
            TemplateTitle::default(),
        ],
        variables: vec!["source".to_owned()],
        oid: format!("{number:040x}"),
    });
    let problems = vec![
        FileProblem {
            file: "flows/Bad.json".to_owned(),
            code: Code::ParseError,
            message: "Something after the end".to_owned(),
            rule: "syntax".to_owned(),
            hint: "take it out".to_owned(),
            files: vec!["flows/Other.json".to_owned()],
            line: Some(3),
            column: Some(14),
            unnamed: 2,
        },
        FileProblem::new("flows/Big.json", Code::FileTooLarge, ""),
    ];
    let categories = vec![Category {
        name: "sales".to_owned(),
        display_name: Some("Sales".to_owned()),
        description: None,
        sort_order: Some(-3),
    }];
    let (path, meant) = ("flow/Tea.json".to_owned(), "flows/Tea.json".to_owned());
    let overlooked = vec![OverlookedFile { path, meant, doubtful: false }];
    IndexRows::new(flows(count), templates.collect(), problems, categories).overlooking(overlooked)
}

pub(super) fn index(count: usize) -> FlowIndex {
    open(&rows(count))
}

pub(super) fn index_of(flows: Vec<FlowRow>) -> FlowIndex {
    open(&IndexRows::new(flows, Vec::new(), Vec::new(), Vec::new()))
}

pub(super) fn open(rows: &IndexRows) -> FlowIndex {
    FlowIndex::in_memory(rows.clone().records()).expect("what was written opens")
}
