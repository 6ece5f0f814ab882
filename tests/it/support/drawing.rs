//! Draws small flows in a few words, and checks, plans and runs them.

use std::collections::HashMap;
use std::sync::Arc;

use flowy::internals::plan::Plan;
use flowy::internals::validate::{FileCheck, Finding, Options};
use serde_json::{Map, Value, json};

use super::checking::{Entry, check_with, findings, told};

/// A flow of the flat shape, with the templates it may name.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    meta: Map<String, Value>,
    nodes: Vec<Value>,
    edges: Vec<Value>,
    templates: Vec<Entry>,
    options: Options,
}

/// An empty drawing.
pub(crate) fn flow() -> Drawing {
    let Value::Object(meta) = json!({"name": "Drawing", "version": "1.0.0"}) else { unreachable!() };
    Drawing { meta, nodes: Vec::new(), edges: Vec::new(), templates: Vec::new(), options: Options::default() }
}

#[allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and drawings read better without `&`")]
impl Drawing {
    /// A step with an inline text; what it reads is found in the text.
    pub(crate) fn text(self, id: &str, text: &str) -> Self {
        self.data(id, json!({"template": text}))
    }

    /// A step with an inline text that declares these variables.
    pub(crate) fn declaring(self, id: &str, variables: &[&str], text: &str) -> Self {
        self.data(id, json!({"template": text, "variables": variables}))
    }

    /// A step that names a saved template.
    pub(crate) fn saved(self, id: &str, template: &str) -> Self {
        self.data(id, json!({"selectedTemplateId": template}))
    }

    /// A step with this `data`.
    pub(crate) fn data(self, id: &str, data: Value) -> Self {
        self.node(json!({"id": id, "type": "template", "data": data}))
    }

    /// A step that calls a tool.
    pub(crate) fn tool(self, id: &str, data: Value) -> Self {
        self.node(json!({"id": id, "type": "tool", "data": data}))
    }

    /// An input node; `variables` in any of the three forms.
    pub(crate) fn input(self, id: &str, variables: Value) -> Self {
        self.node(json!({"id": id, "type": "multi_input", "data": {"variables": variables}}))
    }

    /// A result node.
    pub(crate) fn result(self, id: &str, label: &str) -> Self {
        self.node(json!({"id": id, "type": "result", "data": {"label": label}}))
    }

    /// A node where nothing runs.
    pub(crate) fn note(self, id: &str) -> Self {
        self.node(json!({"id": id, "type": "note", "data": {}}))
    }

    /// Any node.
    pub(crate) fn node(mut self, node: Value) -> Self {
        self.nodes.push(node);
        self
    }

    /// Edges: `a > b > c, a > c`.
    pub(crate) fn edges(mut self, chains: &str) -> Self {
        for chain in chains.split(',') {
            let ids: Vec<&str> = chain.split('>').map(str::trim).collect();
            self.edges.extend(ids.windows(2).map(|pair| json!({"source": pair[0], "target": pair[1]})));
        }
        self
    }

    /// An edge with `data.mapping`.
    pub(crate) fn mapped(self, from: &str, to: &str, mapping: Value) -> Self {
        self.edge(json!({"source": from, "target": to, "data": {"mapping": mapping}}))
    }

    /// An edge with a `targetHandle`.
    pub(crate) fn handle(self, from: &str, to: &str, handle: &str) -> Self {
        self.edge(json!({"source": from, "target": to, "targetHandle": handle}))
    }

    /// Any edge.
    pub(crate) fn edge(mut self, edge: Value) -> Self {
        self.edges.push(edge);
        self
    }

    /// `metadata.inputs`.
    pub(crate) fn inputs(mut self, inputs: Value) -> Self {
        self.meta.insert("inputs".to_owned(), inputs);
        self
    }

    /// A file in `templates/`.
    pub(crate) fn template(mut self, stem: &str, file: &Value) -> Self {
        self.templates.push((format!("templates/{stem}.json"), file.to_string().into_bytes()));
        self
    }

    /// Limits and leniency.
    pub(crate) fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The file as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(&json!({"metadata": self.meta, "nodes": self.nodes, "edges": self.edges})).unwrap()
    }

    /// What the checker says.
    pub(crate) fn check(&self) -> FileCheck {
        check_with(&("flows/Drawing.json".to_owned(), self.bytes()), &self.templates, &[], self.options)
    }

    /// The findings, in file order.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        findings(&self.check())
    }

    /// The ids of the rules that found something, in file order.
    pub(crate) fn rules(&self) -> Vec<&'static str> {
        self.findings().iter().map(|finding| finding.rule).collect()
    }

    /// The plan; the drawing must be one that nothing reaches.
    #[track_caller]
    pub(crate) fn plan(&self) -> Arc<Plan> {
        let check = self.check();
        match check.flows.first().and_then(|flow| flow.checked.as_ref()) {
            Some(checked) => Arc::new(Plan::of(checked, &HashMap::new())),
            None => panic!("{}", findings(&check).iter().map(told).collect::<String>()),
        }
    }

    /// The names a caller must give.
    #[track_caller]
    pub(crate) fn required(&self) -> Vec<String> {
        self.plan().inputs().iter().filter(|input| input.required).map(|input| input.name.clone()).collect()
    }
}
