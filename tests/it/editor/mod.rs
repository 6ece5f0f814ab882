//! `flowy lsp`, as an editor drives it.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

mod checking;
mod naming;

/// A flow of two steps, the first by a template and the second by its own text; its label holds a character that
/// takes two units of UTF-16.
pub(crate) const HARBOUR: &str = r#"{
  "metadata": {"name": "Harbour", "version": "1.0.0", "inputs": {"ship": {"type": "string", "description": "The ship's name"}}},
  "nodes": [
    {"id": "in", "type": "input", "data": {"variables": ["ship", {"name": "crew", "value": "12"}]}},
    {"id": "greet", "type": "template", "data": {"label": "Greet 😀", "selectedTemplateId": "Greeting"}},
    {"id": "log", "type": "template", "data": {"label": "😀 Log", "template": "😀 {ship} with {crew}: {greet_result}"}},
    {"id": "out", "type": "result", "data": {"label": "Log"}}
  ],
  "edges": [
    {"id": "a", "source": "in", "target": "greet"},
    {"id": "b", "source": "greet", "target": "log"},
    {"id": "c", "source": "log", "target": "out"}
  ]
}
"#;
pub(crate) const GREETING: &str =
    "{\"id\": \"1\", \"title\": \"Greeting\", \"template\": \"Hello {ship}\", \"variables\": [\"ship\"]}\n";
