//! What is read of files in Markdown is what their twins in JSON say.

use serde_json::Value;

use super::{BRIEF, found, in_json, in_markdown};
use crate::support::program::Sandbox;

/// An answer without what can't be the same: files, times, ids.
fn alike(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| {
                    !["executionId", "executionTimeMs", "totalExecutionTimeMs", "timestamp", "revision"]
                        .contains(&key.as_str())
                });
                map.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::String(text) => {
                *text = text.replace(".flow.md", ".json").replace("Facts.md", "Facts.json");
            }
            _ => {}
        }
    }
    strip(&mut answer);
    answer
}

#[test]
fn a_flow_in_markdown_is_listed_shown_and_executed_like_its_twin_in_json() {
    let (markdown, json) = (in_markdown(), in_json());
    for arguments in [
        &["list", "--json"][..],
        &["show", "Brief", "--json"],
        &["schema", "Brief"],
        &["run", "Brief", "--var", "product=Tea", "--json"],
        &["validate", "--json"],
    ] {
        let (of_markdown, of_json) = (markdown.run(arguments), json.run(arguments));
        assert_eq!(of_markdown.code, of_json.code, "{arguments:?}: {of_markdown:?}");
        assert_eq!(alike(of_markdown.json()), alike(of_json.json()), "{arguments:?}");
    }
    let page = markdown.run(["run", "Brief", "--var", "product=Tea"]);
    assert_eq!(
        page.out.trim_end(),
        "Join Write three messages for Tea from these facts:\n\nFacts about Tea:\n\n- one with the date 2026-05-04."
    );
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let windows = format!("\u{FEFF}{}", BRIEF.replace('\n', "\r\n"));
    let sandbox = in_markdown().file("flows/Brief.flow.md", windows);
    assert_eq!(found(&sandbox), [] as [&str; 0]);
    let run = |sandbox: &Sandbox| sandbox.run(["run", "Brief", "--var", "product=Tea"]).out;
    assert_eq!(run(&sandbox), run(&in_markdown()));
}

#[test]
fn the_body_of_a_template_is_its_text_byte_for_byte_but_for_one_line_end() {
    let flow = "---\nname: Say\nversion: 1.0.0\n---\n## Say {#say}\n```yaml\ntemplate: Text\n```\n";
    for (file, text) in [
        ("plain {\"a\": 1}\n", "plain {\"a\": 1}"),
        ("\n  two\n\n", "\n  two\n"),
        ("---\ntitle: T\n---\n# Title\n\n---\na: b\n---\n", "# Title\n\n---\na: b\n---"),
        ("---\ntext: \"a\\r\\nb\"\n---\n", "a\r\nb"),
        ("---\ntext: |\n  a\n   b\n---\n", "a\n b\n"),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("no line end", "no line end"),
        ("\tאבג <b>x</b> \\frac{1}{2}\n", "\tאבג <b>x</b> \\frac{1}{2}"),
    ] {
        let sandbox = Sandbox::new().file("flows/Say.flow.md", flow).file("templates/Text.md", file);
        let said = sandbox.run(["run", "Say", "--json"]).json();
        assert_eq!(said["finalResult"], text, "{file:?}: {said:#}");
    }
}

#[test]
fn edges_are_what_texts_read_and_what_blocks_say() {
    let flow = "---\nname: Deep\nversion: 1.0.0\ninputs: [a, b]\nresults:\n  One: [x, z]\n---
## X {#x}\n{a}\n## Y {#y-1}\n```yaml\nafter: x\n```\n{b}\n## Z {#z}\n{y1_result} {x_result} {a}\n";
    let sandbox = Sandbox::new().file("flows/Deep.flow.md", flow);
    assert_eq!(found(&sandbox), [] as [&str; 0]);
    let shown = sandbox.run(["show", "Deep", "--json"]).json();
    let pairs: Vec<String> = shown["edges"]
        .as_array()
        .unwrap_or_else(|| panic!("{shown:#}"))
        .iter()
        .map(|edge| format!("{}>{}", edge["source"].as_str().unwrap(), edge["target"].as_str().unwrap()))
        .collect();
    // x comes before z by way of y-1 already.
    assert_eq!(pairs, ["x>y-1", "x>result", "z>result", "inputs>x", "inputs>y-1", "y-1>z", "inputs>z"]);
}

#[test]
fn templates_in_markdown_declare_describe_and_have_sets() {
    let template = "---\nid: t1\ntitle: A text\nvariables:\n  who: { description: To whom, default: you }\n  what:\n  how: { required: false }
sets:\n  short: { what: tea, how: 2 }\n---\n{who} {what} {how}";
    let flow = "---\nname: Say\nversion: 1.0.0\n---\n## Say {#say}\n```yaml\ntemplate: A text\n```\n";
    let sandbox = Sandbox::new().file("flows/Say.flow.md", flow).file("templates/Text.md", template);
    assert_eq!(found(&sandbox), [] as [&str; 0]);
    let said = sandbox.run(["run", "Say", "--set", "short", "--json"]).json();
    assert_eq!(said["finalResult"], "you tea 2", "{said:#}");
    let missing = sandbox.run(["run", "Say", "--json"]).json();
    assert_eq!(missing["details"]["missing"], serde_json::json!(["what"]), "{missing:#}");
}

#[test]
fn one_stem_in_both_forms_is_ambiguous() {
    let sandbox = in_markdown().file("flows/Brief.json", super::TWIN).file("templates/Facts.json", super::FACTS_TWIN);
    let told = found(&sandbox);
    let ambiguous = told.iter().filter(|finding| finding.starts_with("ambiguous-name"));
    assert_eq!(ambiguous.count(), 4, "{told:#?}");
    let said = sandbox.run(["run", "Brief", "--var", "product=Tea", "--json"]).json();
    assert_eq!(said["code"], "AMBIGUOUS_NAME");
}

#[test]
fn a_persona_whose_front_matter_is_no_yaml_is_read_line_by_line_and_told() {
    let sandbox =
        in_markdown().file("personas/writer.md", "---\nname: writer\ndescription: Writes: a lot\n---\nYou write.\n");
    assert_eq!(found(&sandbox), ["front-matter warning personas/writer.md:3:14"]);
    let shown = sandbox.run(["run", "Brief", "--var", "product=Tea", "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
}
