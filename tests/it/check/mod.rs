//! What `flowy validate` does around its findings: formats, suppressions, baselines, texts on stdin.

mod drafts;
mod fixing;
mod formats;
mod lookalikes;
mod mutants;
mod since;
mod suppressing;

/// A dangling edge (error), a note that nobody executes and two names that nobody uses (warnings), on lines that
/// hold characters of several bytes, and a file that is fine.
pub(crate) const MIXED: &str = "{\n  \"metadata\": {\"name\": \"Hafen\", \"version\": \"1.0.0\"},\r\n  \"nodes\": [\n    {\"id\": \"in\", \"type\": \"input\", \"data\": {\"variables\": [\"ort\", \"zeit\", \"boot\"]}},\n    {\"id\": \"😀\", \"type\": \"sticky\", \"data\": {}}, {\"id\": \"say\", \"type\": \"template\", \"data\": {\"template\": \"Im {ort}\"}}\n  ],\n  \"edges\": [{\"source\": \"in\", \"target\": \"say\"}, {\"source\": \"say\", \"target\": \"gone\"}]\n}\n";
pub(crate) const FINE: &str = r#"{"metadata":{"name":"Fine","version":"1.0.0"},"edges":[],
"nodes":[{"id":"say","type":"template","data":{"template":"Fine"}}]}"#;
