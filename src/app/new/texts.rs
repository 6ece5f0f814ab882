//! The texts of a new flow and of a new catalog.

use serde_json::{Map, Value, json};

use super::{NewRequest, checked_inputs};
use crate::app::Error;
use crate::app::convert::{Contents, Form};
use crate::names::spaced;

/// The files of a flow of two steps, in JSON, and the flow's path.
pub(super) fn files(stem: &str, request: &NewRequest) -> Result<(Contents, String), Error> {
    let inputs = checked_inputs(&request.inputs)?;
    let template = format!("{stem}_Draft");
    let described: Map<String, Value> = inputs
        .iter()
        .map(|name| (name.clone(), json!({"description": format!("The {}", spaced(name).replace('-', " "))})))
        .collect();
    let description = request.description.clone().unwrap_or_else(|| "Drafts a text and improves it.".to_owned());
    let flow = json!({
        "$schema": "urn:flowy:schema:flow:1",
        "metadata": {"name": stem, "version": "1.0.0", "description": description, "inputs": described},
        "nodes": [
            {"id": "inputs", "type": "multi_input", "data": {"label": "Inputs", "variables": inputs}},
            {"id": "draft", "type": "template", "data": {"label": "Draft", "selectedTemplateId": template}},
            {"id": "improved", "type": "template", "data": {"label": "Improve",
                "template": "Improve this text: correct mistakes, and cut what says nothing.\n\n{draft_result}"}},
            {"id": "result", "type": "result", "data": {"label": "Text"}}
        ],
        "edges": [
            {"id": "inputs-draft", "source": "inputs", "target": "draft"},
            {"id": "draft-improved", "source": "draft", "target": "improved"},
            {"id": "improved-result", "source": "improved", "target": "result"}
        ]
    });
    let lines: Vec<String> = match inputs.as_slice() {
        [only] => vec![format!("Write a short text about this {}: {{{only}}}", spaced(only).replace('-', " "))],
        several => {
            let each = several.iter().map(|name| format!("{}: {{{name}}}", spaced(name).replace('-', " ")));
            ["Write a short text from what is given here.".to_owned(), String::new()].into_iter().chain(each).collect()
        }
    };
    let saved = json!({
        "$schema": "urn:flowy:schema:template:1",
        "title": template, "template": lines.join("\n"), "variables": inputs
    });
    let path = format!("flows/{stem}.json");
    let written = |value: &Value| format!("{value:#}\n").into_bytes();
    let files = [(path.clone(), written(&flow)), (format!("templates/{template}.json"), written(&saved))];
    Ok((files.into(), path))
}

/// A result of a conversion with the name of its schema in its front matter.
pub(super) fn with_schema(path: &str, bytes: Vec<u8>) -> Vec<u8> {
    let kind = if path.starts_with("flows/") { "flow" } else { "template" };
    match bytes.strip_prefix(b"---\n") {
        Some(rest) => [format!("---\n$schema: urn:flowy:schema:{kind}:1\n").as_bytes(), rest].concat(),
        None => bytes,
    }
}

/// The page of a new catalog.
pub(super) fn readme(name: &str, flow: &str, form: Form) -> String {
    let (flows, templates) = match form {
        Form::Markdown => ("*.flow.md", "*.md"),
        Form::Json => ("*.json", "*.json"),
    };
    let name = crate::names::shown(name, 100);
    let commands = [
        ("flowy list".to_owned(), "what there is"),
        (format!("flowy show {flow}"), "its inputs, its steps, and where each value comes from"),
        (format!("flowy run {flow}"), "asks for what is missing"),
        ("flowy new My_Flow".to_owned(), "a flow with its template and its test"),
        ("flowy validate --strict".to_owned(), "mistakes, with their places"),
        ("flowy test".to_owned(), "the tests"),
    ];
    let commands: Vec<String> = commands.iter().map(|(command, what)| format!("{command:<26}# {what}\n")).collect();
    format!(
        "# {name}\n\nPrompt flows for flowy.\n\n\
         | folder | holds |\n|---|---|\n\
         | `flows/` | the flows: steps, and how they follow each other (`{flows}`) |\n\
         | `templates/` | texts that steps share (`{templates}`) |\n\
         | `tests/` | what flows give for given inputs (`*.flowtest.json`) |\n\n\
         ```sh\n{}```\n",
        commands.concat()
    )
}

/// The workflow of a new catalog.
pub(super) fn workflow() -> String {
    let (action, hint) = match env!("CARGO_PKG_REPOSITORY").strip_prefix("https://github.com/") {
        Some(repository) => (format!("{repository}@main"), ""),
        None => (
            "OWNER/FLOWY@REF".to_owned(),
            "      # Put the repository of flowy here, and a branch, tag or commit of it.\n",
        ),
    };
    format!(
        "name: flows\non: [push, pull_request]\npermissions:\n  contents: read\njobs:\n  flows:\n    \
         runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n        with:\n          fetch-depth: 0\n\
         {hint}      - uses: {action}\n        with:\n          fail-on: warning\n      \
         - run: ~/.cache/flowy-program/bin/flowy test\n"
    )
}
