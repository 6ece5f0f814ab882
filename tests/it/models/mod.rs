//! Steps that a model answers, over the spawned program and a stand-in for the provider.

mod answers;
mod catalog;
mod failing;
mod golden;
mod guided;
mod kept;
mod second_opinion;
mod settings;
mod spent;
#[cfg(unix)]
mod streaming;
mod waiting;

use serde_json::{Value, json};

use crate::support::program::{Said, Sandbox};

/// The settings of a model `writer` at an address.
fn model(provider: &str, url: &str, more: &str) -> String {
    format!("[models.writer]\nprovider = \"{provider}\"\nmodel = \"m-1\"\nbase_url = \"{url}\"\n{more}\n")
}

/// A flow of two steps: the second one reads what the first one gives.
fn two_steps(first: &Value, second: &Value) -> String {
    let node = |id: &str, text: &str, more: &Value| {
        let mut data = json!({"label": id, "template": text});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": id, "type": "template", "data": data})
    };
    json!({
        "metadata": {"name": "Two", "version": "1.0.0", "description": "Two steps."},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["topic"]}},
            node("plan", "Plan {topic}.", first),
            node("write", "Write by: {plan_result}", second),
        ],
        "edges": [{"source": "in", "target": "plan"}, {"source": "plan", "target": "write"}],
    })
    .to_string()
}

/// A catalog with that flow, and the operator's own settings.
fn sandbox(settings: &str, flow: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("flows/Two.json", flow);
    let own = sandbox.home().join(".config/flowy");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("flowy.toml"), settings).unwrap();
    sandbox
}

/// Executes the flow, with the answer as JSON.
fn run(sandbox: &Sandbox, more: &[&str]) -> (Value, Said) {
    let arguments = ["run", "Two", "--var", "topic=tea", "--json"].iter().chain(more);
    let said = sandbox.run(arguments.collect::<Vec<_>>());
    let answer = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    (answer, said)
}
