//! Flows, templates and personas that are written in Markdown.

mod convert;
mod hostile;
mod importing;
mod law;
mod reading;
mod slips;
mod tidying;
mod whole;
mod wording;

use crate::support::program::{Said, Sandbox};

/// A flow with every kind of reference in it.
pub(crate) const BRIEF: &str = "---
name: Brief
version: 1.10
description: Collects the facts of a launch and writes one page.
tags: [product, launch]
inputs:
  product: { description: Name of the product }
  day: { description: Planned date, default: \"2026-05-04\" }
results:
  Page: join
---

For readers: {#nothing} here is sent.

## Collect the facts {#facts}

```yaml
template: Facts
```

## Write {#messages}

```yaml
persona: writer
map:
  source: facts
```

Write three messages for {product} from these facts:

{source}

## One page {#join}

Join {messages_result} with the date {day}.
";

/// The same in JSON.
const TWIN: &str = r#"{"metadata": {"name": "Brief", "version": 1.10,
    "description": "Collects the facts of a launch and writes one page.", "tags": ["product", "launch"],
    "inputs": {"product": {"description": "Name of the product"}, "day": {"description": "Planned date", "default": "2026-05-04"}}},
  "nodes": [
    {"id": "inputs", "type": "multi_input", "data": {"variables": ["product", "day"]}},
    {"id": "facts", "type": "template", "data": {"label": "Collect the facts", "selectedTemplateId": "Facts"}},
    {"id": "messages", "type": "template", "data": {"label": "Write", "persona": "writer",
      "template": "Write three messages for {product} from these facts:\n\n{source}"}},
    {"id": "join", "type": "template", "data": {"label": "One page", "template": "Join {messages_result} with the date {day}."}},
    {"id": "result", "type": "result", "data": {"label": "Page"}}],
  "edges": [
    {"source": "facts", "target": "messages", "data": {"mapping": {"source": "result"}}},
    {"source": "join", "target": "result"},
    {"source": "inputs", "target": "facts"}, {"source": "inputs", "target": "messages"},
    {"source": "messages", "target": "join"}, {"source": "inputs", "target": "join"}]}"#;

const FACTS: &str = "---\ntitle: Facts\nvariables: [product]\n---\nFacts about {product}:\n\n- one\n";
const FACTS_TWIN: &str =
    r#"{"title": "Facts", "variables": ["product"], "template": "Facts about {product}:\n\n- one"}"#;
const WRITER: &str = "---\nname: writer\n---\nYou write.\n";

/// A catalog with one flow and one template.
fn catalog(flow: (&str, &str), template: (&str, &str)) -> Sandbox {
    Sandbox::new().file(flow.0, flow.1).file(template.0, template.1).file("personas/writer.md", WRITER)
}

fn in_markdown() -> Sandbox {
    catalog(("flows/Brief.flow.md", BRIEF), ("templates/Facts.md", FACTS))
}

fn in_json() -> Sandbox {
    catalog(("flows/Brief.json", TWIN), ("templates/Facts.json", FACTS_TWIN))
}

/// Rule, reach, line and column of everything that is found in the catalog of the current folder.
fn found(sandbox: &Sandbox) -> Vec<String> {
    findings(&sandbox.run(["validate", "--json"]))
}

fn findings(said: &Said) -> Vec<String> {
    let answer = said.json();
    let files = answer["files"].as_array().unwrap_or_else(|| panic!("{answer:#}")).iter();
    let all = files.flat_map(|file| file["findings"].as_array().unwrap());
    all.map(|finding| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{} {} {}:{}:{}", text("rule"), text("severity"), text("file"), finding["line"], finding["column"])
    })
    .collect()
}
