//! `flowy convert`: what is converted does what it did, there and back.

use std::path::Path;

use serde_json::{Value, json};

use super::{in_json, in_markdown};
use crate::support::program::{Sandbox, repository};

/// The files of a folder below the current one, by their paths in it.
fn files(folder: &Path, kinds: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with("_category.json") {
                let below = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.extend(kinds.iter().any(|kind| below.starts_with(kind)).then_some(below));
            }
        }
    }
    found.sort();
    found
}

fn copied(sandbox: Sandbox, from: &Path, under: &str, kinds: &[&str]) -> Sandbox {
    files(from, kinds).iter().fold(sandbox, |sandbox, path| {
        let bytes = std::fs::read(from.join(path)).unwrap();
        sandbox.file(&format!("{under}{path}"), bytes)
    })
}

/// Converts every flow and template of a folder into another one, with what they name beside them.
#[track_caller]
fn converted(sandbox: Sandbox, from: &str, to: &str, form: &str) -> Sandbox {
    let sources = files(&sandbox.here().join(from), &["flows", "templates"]);
    let mut arguments: Vec<String> = vec!["convert".to_owned()];
    arguments.extend(sources.iter().map(|path| format!("{from}/{path}")));
    arguments.extend(["--to", form, "--out", to].map(str::to_owned));
    let said = sandbox.run(&arguments);
    assert_eq!(said.code, 0, "{said:?}");
    let here = sandbox.here();
    copied(sandbox, &here.join(from), &format!("{to}/"), &["personas", "contracts"])
}

/// What a rehearsal of every flow says: each text, filled in as far as defaults go, with its name.
fn rehearsed(sandbox: &Sandbox, source: &str) -> Value {
    let list = sandbox.run(["list", "--source", source, "--json"]).json();
    let names = list["flows"].as_array().unwrap().iter().map(|flow| flow["name"].as_str().unwrap().to_owned());
    let run = |name: String| {
        let said = sandbox.run(["run", &name, "--source", source, "--dry-run", "--json"]).json();
        assert_eq!(said["code"], Value::Null, "{name}: {said:#}");
        let steps = said["intermediateResults"].as_array().unwrap_or_else(|| panic!("{said:#}")).iter();
        // Markdown has one pair of braces where the old shape of templates has two.
        let steps = steps.map(|step| json!([step["nodeId"], step["label"], step["kind"], single(&step["output"])]));
        let steps: Vec<Value> = steps.collect();
        (name, json!({"steps": steps, "final": single(&said["finalResult"]), "missing": said["missing"]}))
    };
    names.map(run).collect::<serde_json::Map<_, _>>().into()
}

fn single(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace("{{", "{").replace("}}", "}")
}

#[test]
fn the_example_catalog_goes_to_markdown_and_to_json_and_back_with_equal_outputs() {
    let kinds = ["flows", "templates", "personas", "contracts"];
    let sandbox = copied(Sandbox::new(), repository(), "there/", &kinds);
    let sandbox = converted_mixed(sandbox, "there", "markdown");
    let sandbox = converted(sandbox, "markdown", "json", "json");
    let sandbox = converted(sandbox, "json", "again", "markdown");
    let expected = rehearsed(&sandbox, "there");
    assert!(expected.as_object().unwrap().len() >= 12, "{expected:#}");
    for folder in ["markdown", "json", "again"] {
        assert_eq!(rehearsed(&sandbox, folder), expected, "{folder}");
        let check = sandbox.run(["validate", folder]);
        assert_eq!(check.code, 0, "{}", check.out);
    }
    for file in files(&sandbox.here().join("markdown"), &["flows", "templates"]) {
        let [first, again] =
            ["markdown", "again"].map(|folder| std::fs::read_to_string(sandbox.here().join(folder).join(&file)));
        assert_eq!(first.unwrap(), again.unwrap(), "{file}");
    }
}

/// The same where some files are in Markdown already: all become JSON first.
fn converted_mixed(sandbox: Sandbox, from: &str, to: &str) -> Sandbox {
    let all = files(&sandbox.here().join(from), &["flows", "templates"]);
    let in_markdown: Vec<&String> =
        all.iter().filter(|path| Path::new(path).extension().is_some_and(|end| end == "md")).collect();
    if !in_markdown.is_empty() {
        let paths = in_markdown.iter().map(|path| format!("{from}/{path}"));
        let arguments = ["convert", "--to", "json", "--replace"].map(str::to_owned).into_iter().chain(paths);
        let said = sandbox.run(arguments);
        assert_eq!(said.code, 0, "{said:?}");
    }
    converted(sandbox, from, to, "markdown")
}

#[test]
fn in_place_a_source_goes_when_its_result_stands_and_references_lead_to_it() {
    let sandbox = in_json();
    let said =
        sandbox.run(["convert", "flows/Brief.json", "templates/Facts.json", "--to", "markdown", "--replace", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["removed"], json!(["flows/Brief.json", "templates/Facts.json"]));
    assert_eq!(files(&sandbox.here(), &["flows", "templates"]), ["flows/Brief.flow.md", "templates/Facts.md"]);
    let run = |sandbox: &Sandbox| sandbox.run(["run", "Brief", "--var", "product=Tea"]).out;
    assert_eq!(run(&sandbox), run(&in_markdown()));
    let text = std::fs::read_to_string(sandbox.here().join("flows/Brief.flow.md")).unwrap();
    assert!(text.contains("Write three messages for {product} from these facts:\n\n{source}\n"), "{text}");
}

#[test]
fn an_export_becomes_a_file_for_each_flow_and_names_what_markdown_has_no_place_for() {
    let step = |id: &str, text: &str| {
        json!({"id": id, "type": "template", "position": {"x": 1, "y": 2},
        "data": {"label": id, "description": "Why", "template": text}})
    };
    let flow = |name: &str, id: &str| {
        json!({"meta": {"id": id, "name": name, "version": "1.0.0", "mood": "good"},
        "nodes": [step("a", "Say {x}."), step("b", "Again: {a_result}\n"), {"id": "n", "type": "note", "data": {}}],
        "edges": [{"source": "a", "target": "b"}]})
    };
    let file = json!({"metadata": {"version": "2.0"}, "flows": [flow("Q&A: one", "1"), flow("Two", "2")]});
    let outer = r#"{"metadata": {"name": "Outer", "version": "1.0.0"}, "nodes": [
        {"id": "in", "type": "flow", "data": {"flow": "Two", "variables": {"x": "{y}"}}}], "edges": []}"#;
    let sandbox = Sandbox::new().file("flows/export.json", file.to_string()).file("flows/Outer.json", outer);
    let said = sandbox.run(["convert", "flows/export.json", "--to", "markdown", "--replace", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let schema = include_str!("../../../schemas/convert.response.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert!(schema.is_valid(&said.json()), "{}", said.out);
    let parts = said.json()["parts"].clone();
    assert_eq!(parts[0]["to"], "flows/Q&A_ one-2.flow.md", "{parts:#}");
    assert_eq!((&parts[0]["renamed"], &parts[1]["to"]), (&json!("Q&A: one"), &json!("flows/Two.flow.md")));
    let lost = parts[1]["lost"].to_string();
    for words in ["mood", "canvas", "descriptions of nodes", "note"] {
        assert!(lost.contains(words), "{lost}");
    }
    let text = std::fs::read_to_string(sandbox.here().join("flows/Two.flow.md")).unwrap();
    assert!(text.contains("text: \"Again: {a_result}\\n\"") && text.contains("## a {#a}\n\nSay {x}.\n"), "{text}");
    assert_eq!(sandbox.run(["run", "Outer", "--var", "y=tea"]).out.trim_end(), "Again: Say tea.");
}

#[test]
fn a_template_that_is_found_counts_one_that_only_the_app_knows_gives_way_to_the_text_and_another_is_named() {
    let step = |id: &str, selected: &str| json!({"id": id, "type": "template", "data": {"selectedTemplateId": selected, "template": format!("Own {id}.")}});
    let nodes = [step("a", "T"), step("b", "1768208400901"), step("c", "Gone")];
    let flow = json!({"metadata": {"name": "E", "version": "1.0.0"}, "nodes": nodes, "edges": []});
    let sandbox = Sandbox::new().file("flows/E.json", flow.to_string()).file("templates/T.md", "Saved.");
    let said = sandbox.run(["convert", "flows/E.json", "--to", "markdown", "--replace", "--json"]).json();
    let lost = said["parts"][0]["lost"].as_array().unwrap_or_else(|| panic!("{said:#}"));
    assert!(lost.len() == 1 && lost[0].as_str().unwrap().contains("\"Gone\""), "{lost:?}");
    let text = std::fs::read_to_string(sandbox.here().join("flows/E.flow.md")).unwrap();
    let steps: Vec<&str> = text.split("## ").skip(1).map(str::trim_end).collect();
    assert_eq!(
        steps,
        ["{#a}\n\n```yaml\ntemplate: T\n```", "{#b}\n\nOwn b.", "{#c}\n\n```yaml\ntemplate: Gone\n```"],
        "{text}"
    );
}

#[test]
fn an_edge_from_inputs_that_its_step_does_not_read_is_named() {
    let flow = r#"{"metadata": {"name": "E", "version": "1.0.0"}, "nodes": [
        {"id": "in", "type": "multi_input", "data": {"variables": ["x"]}},
        {"id": "a", "type": "template", "data": {"template": "Say {x}."}},
        {"id": "b", "type": "tool", "data": {"call": "srv:tell"}},
        {"id": "out", "type": "result", "data": {"label": "Out"}}], "edges": [
        {"source": "in", "target": "a"}, {"source": "in", "target": "b"}, {"source": "a", "target": "out"}]}"#;
    let sandbox = Sandbox::new().file("flows/E.json", flow);
    let said = sandbox.run(["convert", "flows/E.json", "--to", "markdown", "--replace", "--json"]).json();
    let lost = said["parts"][0]["lost"].to_string();
    assert!(lost.contains("step \\\"b\\\"") && !lost.contains("step \\\"a\\\""), "{lost}");
}

#[test]
fn what_would_break_another_file_or_change_a_plan_is_refused_and_nothing_is_written() {
    // No file of every system can have that name.
    let one = r#"{"template": "one {x}"}"#;
    let flow = r#"{"metadata": {"name": "Use", "version": "1.0.0"}, "nodes": [
        {"id": "a", "type": "template", "data": {"selectedTemplateId": "what?"}}], "edges": []}"#;
    let sandbox = Sandbox::new().file("templates/what?.json", one).file("flows/Use.json", flow);
    let arguments = ["convert", "templates/what?.json", "--to", "markdown", "--replace"];
    let said = sandbox.run(arguments);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("flows/Use.json") && said.err.contains("--force"), "{}", said.err);
    assert_eq!(files(&sandbox.here(), &["flows", "templates"]), ["flows/Use.json", "templates/what?.json"]);
    let both = sandbox.run(["convert", "templates/what?.json", "flows/Use.json", "--to", "markdown", "--replace"]);
    assert_eq!(both.code, 0, "{both:?}");
    assert_eq!(sandbox.run(["run", "Use", "--var", "x=1"]).out.trim_end(), "one 1");
    let bad = Sandbox::new().file(
        "flows/Bad.json",
        r#"{"metadata": {"name": "Bad", "version": "1.0.0"}, "nodes": [
        {"id": "a}", "type": "template", "data": {"template": "Hi"}}], "edges": []}"#,
    );
    let said = bad.run(["convert", "flows/Bad.json", "--to", "markdown", "--replace"]);
    assert!(said.code == 2 && said.err.contains("heading"), "{said:?}");
    let taken = in_json().file("out/flows/Brief.flow.md", "mine");
    let said = taken.run(["convert", "flows/Brief.json", "templates/Facts.json", "--to", "markdown", "--out", "out"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(files(&taken.here().join("out"), &["flows", "templates"]), ["flows/Brief.flow.md"]);
    // Beside its source, no name would mean either of them.
    let beside = in_json().run(["convert", "flows/Brief.json", "--to", "markdown", "--out", ".", "--force"]);
    assert!(beside.code == 2 && beside.err.contains("--replace"), "{beside:?}");
}

#[test]
fn positions_of_an_export_come_back_onto_a_flow_that_was_edited() {
    let sandbox = in_json();
    let mut old: Value = serde_json::from_str(super::TWIN).unwrap();
    old["nodes"][2]["position"] = json!({"x": 77, "y": 5});
    old["nodes"][4]["position"] = json!({"x": 99, "y": 5});
    let sandbox = sandbox.file("old.json", old.to_string());
    assert_eq!(sandbox.run(["convert", "flows/Brief.json", "--to", "markdown", "--replace"]).code, 0);
    let said = sandbox.run(["convert", "flows/Brief.flow.md", "--to", "json", "--replace", "--onto", "old.json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let text = std::fs::read_to_string(sandbox.here().join("flows/Brief.json")).unwrap();
    let new: Value = serde_json::from_str(&text).unwrap();
    let at =
        |id: &str| new["nodes"].as_array().unwrap().iter().find(|node| node["id"] == id).unwrap()["position"].clone();
    assert_eq!((at("messages"), at("result")), (json!({"x": 77, "y": 5}), json!({"x": 99, "y": 5})));
}

/// Numbers that are the same at every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// A flow with steps that read, wait, map and have sets, and texts that Markdown has a hard time with.
fn generated(dice: &mut Dice, name: &str, inner: Option<&str>) -> Value {
    const TEXTS: [&str; 9] = [
        "Plain {x}.",
        "Two\n\nparts {y}",
        "\nbegins blank",
        "ends blank\n\n",
        "```yaml\na: 1\n```\nrest {x}",
        "## Heading {#like}\n{z}",
        "```\nnever closed {x}",
        "אבג {ключ} 😀\ttab",
        "a\r\nb {x}",
    ];
    let count = 2 + dice.below(5);
    let ids: Vec<String> =
        (0..count).map(|number| dice.one(&["s", "step-", "Ю", "a_b "]).to_owned() + &number.to_string()).collect();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let variables = json!([{"key": "x", "value": dice.one(&["", "1.10", "true", "two words # no"])}, "ключ"]);
    nodes.push(json!({"id": "in", "type": "multi_input", "data": {"label": "In", "variables": variables}}));
    for (number, id) in ids.iter().enumerate() {
        let mut text = dice.one(&TEXTS).to_owned();
        let mut edge = None;
        if number > 0 {
            let before = &ids[dice.below(number)];
            let mut drawn = json!({"source": before, "target": id});
            match dice.below(4) {
                0 => text = format!("{text} {{{}_result}} end", before.replace('-', "")),
                1 => {
                    text = format!("{text} {{mapped}} end");
                    drawn["data"] = json!({"mapping": {"mapped": dice.one(&["result", "result.a.0", "x"])}});
                }
                2 => {
                    text = format!("{text} {{handed}} end");
                    drawn["targetHandle"] = json!("handed");
                }
                _ => {}
            }
            edge = Some(drawn);
            if dice.below(3) == 0 {
                edges.push(json!({"source": ids[dice.below(number)], "target": id}));
            }
        }
        edges.extend(edge);
        edges.push(json!({"source": "in", "target": id}));
        let label = dice.one(&["Label", "1", " with {#x} ", "", "a: b"]);
        let node = match (inner, dice.below(5)) {
            (Some(inner), 0) => json!({"id": id, "type": "flow", "data": {"label": label, "flow": inner,
                "variables": {"x": "{x}", "list": [1, {"k": null}], "ключ": "{ключ}"}}}),
            (_, 1) => json!({"id": id, "type": "tool", "data": {"label": label, "call": "srv:do",
                "args": {"q": "{{ x }}", "n": 1.50, "deep": {"yes": [true, "false", "# no", ""], "s": "a: b"}}, "requires": ["x"],
                "onError": "continue", "retry": {"times": 1, "backoffMs": 5}, "set": {"got": "a.b"}}}),
            (_, 2) => json!({"id": id, "type": "template", "data": {"label": label, "selectedTemplateId": "T"}}),
            _ => {
                let mut data = json!({"label": label, "template": text});
                if dice.below(2) == 0 {
                    data["variableValueSets"] =
                        json!([{"name": "set one", "values": {"z": dice.one(&["3", "null", "- a", "'"]), "y": 2}}]);
                }
                json!({"id": id, "type": "template", "data": data})
            }
        };
        nodes.push(node);
    }
    for (number, label) in ["Out", "Second: \"one\""].iter().enumerate().take(1 + dice.below(2)) {
        let id = format!("out{number}");
        edges.push(json!({"source": ids[count - 1 - number.min(count - 1)], "target": id}));
        nodes.push(json!({"id": id, "type": "result", "data": {"label": label}}));
    }
    let inputs = json!({"x": {"description": "An # x: y"}, "y": {"type": "string", "required": false}, "ключ": {"default": "да"}});
    json!({"metadata": {"name": name, "version": "1.0.0", "description": dice.one(&["A: b", "# c", "null", "é", "- x"]), "inputs": inputs},
        "nodes": nodes, "edges": edges})
}

#[test]
fn generated_catalogs_go_to_markdown_and_back_with_equal_plans_and_outputs() {
    // Each takes dozens of processes; the law holds many more.
    for seed in 0..4_u64 {
        let mut dice = Dice(seed * 7_919 + 3);
        let template = json!({"title": "T", "variables": [{"name": "t", "default": dice.one(&["1", "a: b"])}, "x"],
            "variableValueSets": [{"name": "set one", "values": {"t": "{no}"}}], "template": "---\nT {t} {x}\n\n"});
        let sandbox = Sandbox::new()
            .file("there/flows/Inner.json", generated(&mut dice, "Inner", None).to_string())
            .file("there/flows/sub/Outer.json", generated(&mut dice, "Outer", Some("Inner")).to_string())
            .file("there/templates/T.json", template.to_string());
        let sandbox = converted(sandbox, "there", "markdown", "markdown");
        let sandbox = converted(sandbox, "markdown", "json", "json");
        for name in ["Inner", "Outer"] {
            let plan = |source: &str| {
                let said = sandbox.run(["show", name, "--source", source, "--json"]).json();
                let steps = said["steps"].as_array().unwrap_or_else(|| panic!("{seed}: {said:#}")).iter();
                let steps = steps.map(|step| {
                    json!([step["id"], step["label"], step["kind"], step["wave"], step["dependsOn"], step["reads"]])
                });
                // A handle may have become a mapping.
                let steps = Value::Array(steps.collect()).to_string().replace("mapped by targetHandle", "mapped");
                json!([steps, said["inputs"], said["outputs"]])
            };
            assert_eq!(plan("markdown"), plan("there"), "{seed} {name}");
            assert_eq!(plan("json"), plan("there"), "{seed} {name}");
            let out = |source: &str| {
                let said = sandbox
                    .run(["run", name, "--source", source, "--var", "x=1", "--set", "set one", "--dry-run", "--json"])
                    .json();
                json!([said["finalResult"], said["results"], said["missing"], said["code"]])
            };
            assert_eq!(out("markdown"), out("there"), "{seed} {name}");
            assert_eq!(out("json"), out("there"), "{seed} {name}");
        }
    }
}

#[test]
fn variables_come_as_a_person_writes_them_and_what_json_has_no_place_for_is_named() {
    let template = "---\n# of the house\n$schema: urn:x\ntitle: Style\nvariables:\n  material: { description: \"What # is rewritten\" }\n  tone:\n---\n\nRewrite {material} in a {tone} tone.\n";
    let flow = "---\nname: Tea\nversion: 1.0.0\ndescription: >\n  Tea, and\n  more.\n---\n\n## A {#a}\n\n```yaml\ntemplate: Style # the usual\n```\n";
    let sandbox = Sandbox::new().file("templates/Style.md", template).file("flows/Tea.flow.md", flow);
    assert!(sandbox.run(["list"]).out.contains("Tea, and more.\t"));
    let names = ["convert", "templates/Style.md", "flows/Tea.flow.md", "--to", "json", "--out", "j", "--json"];
    let said = sandbox.run(names).json();
    let lost: Vec<String> = said["parts"].as_array().unwrap().iter().map(|part| part["lost"].to_string()).collect();
    let comments = "comments of the front matter and of blocks";
    assert_eq!(lost, [format!("[\"{comments}\"]"), format!("[\"`$schema`\",\"{comments}\"]")], "{said:#}");
    let back = ["convert", "j/templates/Style.json", "j/flows/Tea.json", "--to", "markdown", "--replace"];
    assert_eq!(sandbox.run(back).code, 0);
    let back = std::fs::read_to_string(sandbox.here().join("j/templates/Style.md")).unwrap();
    assert!(
        back.contains("variables:\n  material:\n    description: \"What # is rewritten\"\n  tone:\n---\n"),
        "{back}"
    );
}
