//! What a finding in Markdown says: it speaks of what stands in that file, never of what JSON has instead.

use serde_json::Value;

use crate::support::program::Sandbox;

const HEAD: &str = "---\nname: Boat\nversion: 1.0.0\ndescription: Sails.\n";
const MOOR: &str = "---\nname: Moor\nversion: 1.0.0\ndescription: Moors.\ninputs: [who]\n---\n## M {#m}\nMoor {who}.\n";
const LOG: &str = "---\nname: Log\nversion: 1.0.0\ndescription: Logs.\nresults:\n  Open questions: a\n  Other: b\n---\n\
    ## A {#a}\nA.\n## B {#b}\nB.\n";

/// Rules that can't find anything in a flow, a template or a persona in Markdown.
const OF_JSON_ALONE: [&str; 8] = [
    // There are no nodes of other kinds, no edges with ids, and one declaration for each input.
    "unknown-node-kind",
    "duplicate-edge",
    "differing-defaults",
    // It is about tests, which are JSON, and about paths.
    "bad-test",
    "misplaced-file",
    "twin-files",
    // It is about the words of an example.
    "stray-example",
    // A contract is JSON; a persona is told by the flow that names it.
    "unusable-file",
];
/// Rules that look at the operator's servers: `tests/it/check` has them.
const OF_SERVERS: [&str; 5] =
    ["unknown-tool", "tool-not-allowed", "unavailable-tool", "misfit-arguments", "unordered-tools"];

/// A flow with a slip, what stands beside it, and the rules that tell it, in their order.
type Slip = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

const SLIPS: &[Slip] = &[
    (
        "---\n## S {#s}\n```yaml\ntemplate: Text\n```\n",
        &[("templates/Text.md", "Hi"), ("templates/sub/Text.md", "Ho")],
        &["ambiguous-name"],
    ),
    ("---\n## S {#s-1}\nHi\n## T {#s1}\nHo\n## U {#u}\n{s1_result}\n", &[], &["ambiguous-output"]),
    ("---\n## S {#s}\n```yaml\ncall: sea\n```\n", &[], &["bad-call"]),
    ("---\n## S {#s}\n```yaml\ncontract: gone\n```\nHi\n", &[], &["bad-contract"]),
    ("---\n## S {#s}\n```yaml\ncontract: { type: objekt }\n```\nHi\n", &[], &["bad-contract"]),
    ("---\n## S {#s}\n```yaml\ncall: a:b\nretry: { times: 20 }\n```\n", &[], &["bad-retry"]),
    ("---\n## S {#s}\n```yaml\ncall: a:b\nretry: { pause: 20 }\n```\n", &[], &["bad-retry"]),
    ("---\n## S {#s}\n{t_result}\n## T {#t}\n{s_result}\n", &[], &["cycle"]),
    ("---\n## S {#s}\n```yaml\nafter: tt\n```\nHi\n## T {#t1}\nHo {s_result}\n", &[], &["dangling-edge"]),
    ("inputs: [a]\n---\n## S {#s}\n```yaml\nafter: inputs\n```\nHi {a}\n", &[], &["dangling-edge"]),
    ("inputs: [a]\nresults: { Log: inputs }\n---\n## S {#s}\nHi {a}\n", &[], &["dangling-edge"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nmap: { s: draft }\n```\nHo {draft}\n", &[], &["dangling-edge"]),
    ("tags: [a]\nname: B\n---\n## S {#s}\nHi\n", &[], &["duplicate-key"]),
    ("---\n## S {#s}\nHi\n## T {#s}\nHo\n", &[], &["duplicate-node"]),
    ("---\nHi\n", &[], &["empty-flow"]),
    ("---\n## S {#s}\n", &[], &["empty-step"]),
    ("---\n## S {#s}\n```yaml\ncall: \"\"\n```\n", &[], &["empty-step"]),
    ("---\n## S {#s}\n```yaml\nflow: \"\"\n```\n", &[], &["empty-step"]),
    ("---\n## S {#s}\n```yaml\nflow: Boat\n```\n", &[], &["flow-ring"]),
    ("inputs: [a]\n---\n## S {#s}\nHi { a } there\n", &[], &["foreign-placeholder"]),
    ("inputs: [a]\n---\n## S {#s}\nHi {{a}} there\n", &[], &["foreign-placeholder"]),
    ("---\n## S {#s}\nHi \\frac{a} there\n", &[], &["foreign-placeholder"]),
    (
        "---\n## S {#s}\n```yaml\ntemplate: Text\n```\n",
        &[("templates/Text.md", "Hi \\frac{a} there")],
        &["foreign-placeholder"],
    ),
    ("author: a # b\n---\n## S {#s}\nHi\n", &[], &["front-matter"]),
    ("author: [a\n---\n## S {#s}\nHi\n", &[], &["front-matter"]),
    ("---\n## S {#s}\n```yaml\ntemplate: text\n```\n", &[("templates/Text.md", "Hi")], &["inexact-name"]),
    ("---\n## S {#s}\n<!-- obey -->\nHi\n", &[], &["hidden-text"]),
    ("inputs: { a b: { description: x } }\n---\n## S {#s}\nHi {a}\n", &[], &["invalid-variable-name"]),
    ("inputs: [a b]\n---\n## S {#s}\nHi {a}\n", &[], &["invalid-variable-name"]),
    (
        "results: { Log: t }\n---\n## S {#s}\n```yaml\noptional: true\n```\nHi\n## T {#t}\n{s_result}\n",
        &[],
        &["lost-result"],
    ),
    ("inputs: { a: { type: number, default: many } }\n---\n## S {#s}\nHi {a}\n", &[], &["misfit-default"]),
    (
        "inputs: { a: { type: number } }\n---\n## S {#s}\n```yaml\nsets: { x: { a: many } }\n```\nHi {a}\n",
        &[],
        &["misfit-default"],
    ),
    (
        "---\n## S {#s}\n```yaml\nflow: Mor\nvariables: { who: x }\n```\n",
        &[("flows/Moor.flow.md", MOOR)],
        &["missing-flow"],
    ),
    ("---\n## S {#s}\n```yaml\nflow: Moor\n```\n", &[("flows/Moor.flow.md", MOOR)], &["missing-flow-input"]),
    (
        "---\n## S {#s}\n```yaml\nflow: Moor\nvariables: { hwo: x }\n```\n",
        &[("flows/Moor.flow.md", MOOR)],
        &["missing-flow-input"],
    ),
    (
        "---\n## S {#s}\n```yaml\nflow: Moor\nvariables: { who: x, whom: y }\n```\n",
        &[("flows/Moor.flow.md", MOOR)],
        &["unknown-flow-input"],
    ),
    (
        "---\n## S {#s}\n```yaml\nflow: Moor\nvariables: { who: x, _variableSet: y }\n```\n",
        &[("flows/Moor.flow.md", MOOR)],
        &["unknown-variable-set"],
    ),
    (
        "inputs: [a]\n---\n## S {#s}\n```yaml\nflow: Moor\nvariables: { who: {a} }\n```\n",
        &[("flows/Moor.flow.md", MOOR)],
        &["misspelt-field"],
    ),
    ("---\n## S {#s}\n```yaml\npersona: gone\n```\nHi\n", &[], &["missing-persona"]),
    (
        "---\n## S {#s}\n```yaml\npersona: p\n```\nHi\n",
        &[("personas/p.md", "---\nname: p\n---\n")],
        &["missing-persona"],
    ),
    (
        "---\n## S {#s}\n```yaml\npersona: p\n```\nHi\n",
        &[("personas/p.md", "---\nname: p: q\n---\nYou.\n")],
        &["front-matter"],
    ),
    (
        "---\n## S {#s}\n```yaml\ntemplate: Txet\n```\n## B {#b}\nHo\n",
        &[("templates/Text.md", "Hi {b_result}")],
        &["missing-template"],
    ),
    ("descripton: x\n---\n## S {#s}\nHi\n", &[], &["misspelt-field"]),
    ("inputs: { a: { desc: x } }\n---\n## S {#s}\nHi {a}\n", &[], &["misspelt-field"]),
    ("inputs: { a: { choices: [x] } }\n---\n## S {#s}\nHi {a}\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nafer: s\n```\nHo\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nafter: { s: x }\n```\nHo\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\n```yaml\nmap: { x: { input: y } }\n```\nHi {x}\n", &[], &["misspelt-field"]),
    ("results: { Log: { from: s } }\n---\n## S {#s}\nHi\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\n```yaml\nvariables: { a: { desc: x } }\n```\nHi {a}\n", &[], &["misspelt-field"]),
    (
        "---\n## S {#s}\n```yaml\ntemplate: Text\n```\n",
        &[("templates/Text.md", "---\nvariables: { a: { desc: x } }\n---\nHi {a}")],
        &["misspelt-field"],
    ),
    ("---\n## S {#s}\n```yaml\nrequires: a\n```\nHi\n", &[], &["misspelt-field"]),
    ("---\n## S {#aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\nHi\n", &[], &["over-limit"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n{s_result.a}\n", &[], &["path-into-text"]),
    ("inputs: { a: { required: maybe } }\n---\n## S {#s}\nHi {a}\n", &[], &["schema"]),
    ("inputs: { a: some text }\n---\n## S {#s}\nHi {a}\n", &[], &["schema"]),
    ("inputs: a\n---\n## S {#s}\nHi\n", &[], &["schema"]),
    ("tags: { a: b }\n---\n## S {#s}\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\nsets: [a]\n```\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\nsets: { a: b }\n```\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\nmaxAttempts: many\n```\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\ncontract: [a]\n```\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\ncall: a:b\nonError: go on\n```\n", &[], &["schema"]),
    ("---\n## S {#s}\n```yaml\nflow: Moor\nvariables: [who]\n```\n", &[("flows/Moor.flow.md", MOOR)], &["schema"]),
    ("---\n## S {#s}\n```yaml\nafter: s\n```\nHi\n## T {#t}\n{s_result}\n", &[], &["self-edge"]),
    ("---\n## S {#s}\n```yaml\nmap: { x: s }\n```\nHi {x}\n## T {#t}\n{s_result}\n", &[], &["self-edge"]),
    ("---\n## S {#s}\n```yaml\ncall: {{ a }}\n```\n", &[], &["syntax"]),
    ("inputs: [product]\n---\n## S {#s}\nHi {prodct}\n", &[], &["unbound-placeholder"]),
    ("---\n## S {#s}\n```yaml\nvariables: [a]\n```\nHi {a} {b}\n", &[], &["unbound-placeholder"]),
    ("inputs: [a]\n---\n## S {#s}\n```yaml\ncall: a:b\nargs: { x: \"{a}\" }\n```\n", &[], &["unbound-placeholder"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nafter: s\n```\nHo {material}\n", &[], &["unbound-placeholder"]),
    ("---\n## S {#s}\nHi\n```\n## T {#t}\nHo {s_result}\n## U {#u}\n{t_result}\n", &[], &["unclosed-fence"]),
    ("---\n## S {#s}\nHi\n## T {#t}\nHo {s_result}\n## U {#u}\nHa\n", &[], &["unconnected-node"]),
    ("---\n## S {#s}\nHi\n## T {#t}\nHo\n", &[], &["unconnected-node"]),
    ("results: { Log: [] }\n---\n## S {#s}\nHi\n", &[], &["unconnected-node"]),
    (
        "---\n## S {#s}\n```yaml\ncontract: { type: object, properties: { a: {} } }\n```\nHi\n## T {#t}\n{s_result.a}\n",
        &[],
        &["unknown-output-field"],
    ),
    (
        "---\n## S {#s}\n```yaml\ncontract: { type: object, properties: { a: {} }, required: [a], additionalProperties: \
         false }\n```\nHi\n## T {#t}\n```yaml\nmap: { x: { from: s, path: b } }\n```\nHo {x}\n",
        &[],
        &["unknown-output-field"],
    ),
    ("---\n## S {#s}\n```yaml\nsets: { x: { b: 1 } }\n```\nHi {a}\n", &[], &["unknown-set-key"]),
    ("---\n## S {#s}\nHi {s_result}\n", &[], &["unreachable-reference"]),
    (
        "results: { Log: s }\n---\n## S {#s}\nHi {u_result}\n## T {#t}\n{u_result} Ho\n## U {#u}\nHa\n",
        &[],
        &["unread-output"],
    ),
    ("---\n## S {#s}\n```yaml\nvariables: [a]\n```\nHi\n", &[], &["unused-variable"]),
    ("inputs: [a]\n---\n## S {#s}\nHi\n", &[], &["unused-variable"]),
    ("---\n## S {#s}\n```yaml\nx-flowy-ignore: { cycle: why }\n```\nHi\n", &[], &["useless-ignore"]),
    ("x-flowy-ignore: [a]\n---\n## S {#s}\nHi\n", &[], &["useless-ignore"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nmap: { sorce: s }\n```\nHo {source}\n", &[], &["useless-mapping"]),
    (
        "---\n## S {#s}\nHi\n## T {#t}\n```yaml\nmap: { x: { from: s, path: a } }\n```\nHo {x}\n",
        &[],
        &["useless-mapping"],
    ),
    (
        "inputs: [product]\n---\n## S {#s}\n```yaml\nmap: { x: { input: prodct } }\n```\nHi {x}\n",
        &[],
        &["useless-mapping"],
    ),
    ("results: Log: s\n---\n## S {#s}\nHi\n", &[], &["front-matter"]),
    ("tags: product, launch\n---\n## S {#s}\nHi\n", &[], &["front-matter"]),
    ("inputs: a, b\n---\n## S {#s}\nHi\n", &[], &["schema"]),
    ("---\n## S {#s}\n```Yml\nmaxAttempts: 2\n```\nHi\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nneeds: s\n```\nHo\n", &[], &["misspelt-field"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nafter: s, u\n```\nHo\n", &[], &["dangling-edge"]),
    ("---\n## S {#s}\nHi\n## T {#t}\n```yaml\nafter: {#s}\n```\nHo\n", &[], &["syntax"]),
    ("---\n## S {#s}\nHi\n## T {#t}\nHo {s_output}\n", &[], &["unbound-placeholder"]),
    (
        "inputs: [m]\n---\n## S {#s}\n```yaml\ntemplate: Text\nvariables: { a: \"{m}\" }\n```\n",
        &[("templates/Text.md", "Hi {a}")],
        &["foreign-placeholder"],
    ),
];

/// Words that mean nothing in a file in Markdown.
const FOREIGN: [&str; 12] = [
    "node",
    "edge",
    "JSON",
    "pointer",
    "metadata",
    "`data",
    "data.",
    "an object",
    "selectedTemplateId",
    "variableValueSets",
    "targetHandle",
    "/nodes",
];

/// Everything that is found in the catalog of the current folder.
fn all_found(sandbox: &Sandbox) -> Vec<Value> {
    let said = sandbox.run(["validate", "--json"]).json();
    let files = said["files"].as_array().unwrap_or_else(|| panic!("{said:#}"));
    files.iter().flat_map(|file| file["findings"].as_array().unwrap()).cloned().collect()
}

/// The rules of findings, in their order; their words are looked at.
#[track_caller]
fn told(sandbox: &Sandbox, of: &str) -> Vec<String> {
    let found = all_found(sandbox);
    for one in &found {
        let hints = one["hints"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert!(!hints.is_empty(), "{of}: nothing says what to do: {one:#}");
        for text in hints.iter().chain([&one["message"]]) {
            // A contract is a JSON Schema, whatever it is written in.
            let text = text.as_str().unwrap().replace("JSON Schema", "");
            let foreign: Vec<&&str> = FOREIGN.iter().filter(|word| text.contains(**word)).collect();
            assert!(foreign.is_empty(), "{of}: {foreign:?} in {text}");
        }
    }
    found.iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_slip_in_markdown_is_told_once_and_in_words_of_markdown() {
    for (rest, beside, rules) in SLIPS {
        let sandbox = Sandbox::new().file("flows/Boat.flow.md", format!("{HEAD}{rest}"));
        let sandbox = beside.iter().fold(sandbox, |sandbox, (path, text)| sandbox.file(path, *text));
        assert_eq!(told(&sandbox, rest), *rules, "{rest}");
    }
    for (text, rule) in [
        ("{\"metadata\": {}, \"nodes\": [], \"edges\": []}\n", "front-matter"),
        ("+++\nname = \"Boat\"\n+++\n## S {#s}\nHi\n", "front-matter"),
        ("----\nname: Boat\n----\n## S {#s}\nHi\n", "front-matter"),
    ] {
        let found = all_found(&Sandbox::new().file("flows/Boat.flow.md", text));
        let rules: Vec<&str> = found.iter().map(|one| one["rule"].as_str().unwrap()).collect();
        assert_eq!(rules, [rule], "{text}");
    }
    let found = all_found(&Sandbox::new().file("flows/Boat.json", format!("{HEAD}---\n## S {{#s}}\nHi\n")));
    assert!(found.len() == 1 && found[0]["hints"].to_string().contains(".flow.md"), "{found:#?}");
    for (front, rule) in [("version: 1.0.0\n", "missing-name"), ("name: Boat\nversion: one\n", "bad-version")] {
        let text = format!("---\n{front}description: d\n---\n## S {{#s}}\nHi\n");
        assert_eq!(told(&Sandbox::new().file("flows/Boat.flow.md", text), front), [rule]);
    }
}

#[test]
fn the_words_of_every_rule_that_can_find_something_in_markdown_are_looked_at() {
    let said = Sandbox::new().run(["explain", "--json"]).json();
    let rules = said["rules"].as_array().unwrap_or_else(|| panic!("{said:#}"));
    let covered: Vec<&str> = SLIPS.iter().flat_map(|(_, _, rules)| *rules).copied().collect();
    let left: Vec<&str> = rules
        .iter()
        .map(|rule| rule["rule"].as_str().unwrap())
        .filter(|rule| !covered.contains(rule) && !OF_JSON_ALONE.contains(rule) && !OF_SERVERS.contains(rule))
        .filter(|rule| !["missing-name", "bad-version"].contains(rule))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_result_is_read_by_its_label_and_what_is_not_read_is_told() {
    let reading = |placeholder: &str| {
        Sandbox::new()
            .file(
                "flows/Boat.flow.md",
                format!("{HEAD}---\n## S {{#s}}\n```yaml\nflow: Log\n```\n## T {{#t}}\n```yaml\nafter: s\n```\nSo: {placeholder}\n"),
            )
            .file("flows/Log.flow.md", LOG)
    };
    for placeholder in ["{s_result.Open questions}", "{s_result.Open_questions}"] {
        let sandbox = reading(placeholder);
        assert_eq!(told(&sandbox, placeholder), [""; 0]);
        assert_eq!(sandbox.run(["run", "Boat"]).out, "So: A.", "{placeholder}");
    }
    for (placeholder, rule, right) in [
        ("{s_result.Open  questions}", "unknown-output-field", "Open questions"),
        ("{s_result.Open qestions}", "unknown-output-field", "Open questions"),
        ("{s.Open questions}", "foreign-placeholder", "{s_result.Open_questions}"),
        ("{ s_result.Open questions }", "foreign-placeholder", "{s_result.Open questions}"),
        ("{s_result.Open questions?}", "foreign-placeholder", "Open questions?"),
    ] {
        let sandbox = reading(placeholder);
        assert_eq!(told(&sandbox, placeholder), [rule]);
        let hints = all_found(&sandbox)[0]["hints"].to_string();
        assert!(hints.contains(right), "{placeholder}: {hints}");
    }
    // The same in JSON, in a text, in what is handed on, and in arguments.
    let steps = r#"{"metadata": {"name": "Json", "version": "1.0.0"}, "nodes": [
        {"id": "s", "type": "flow", "data": {"flow": "Log"}},
        {"id": "t", "type": "template", "data": {"template": "So: {s_result.Open questions}"}},
        {"id": "u", "type": "flow", "data": {"flow": "Moor", "variables": {"who": "{s_result.Open questions}"}}}],
        "edges": [{"source": "s", "target": "t"}, {"source": "s", "target": "u"}, {"source": "t", "target": "u"}]}"#;
    let sandbox =
        Sandbox::new().file("flows/Json.json", steps).file("flows/Log.flow.md", LOG).file("flows/Moor.flow.md", MOOR);
    let said = sandbox.run(["run", "Json", "--json"]).json();
    assert_eq!(said["finalResult"], "Moor A..", "{said:#}");
}

#[test]
fn two_flows_of_one_name_are_told_in_both_forms() {
    let markdown = "---\nname: X\nversion: 1.0.0\ndescription: d\n---\n## S {#s}\nHi\n";
    let json = r#"{"metadata": {"name": "X", "version": "1.0.0"},
        "nodes": [{"id": "a", "type": "template", "data": {"template": "hi"}}], "edges": []}"#;
    for (one, other) in [
        (("flows/A.flow.md", markdown), ("flows/B.flow.md", markdown)),
        (("flows/A.flow.md", markdown), ("flows/B.json", json)),
        (("flows/A.json", json), ("flows/B.json", json)),
    ] {
        let sandbox = Sandbox::new().file(one.0, one.1).file(other.0, other.1);
        let found = all_found(&sandbox);
        let rules: Vec<&str> = found.iter().map(|one| one["rule"].as_str().unwrap()).collect();
        assert_eq!(rules, ["ambiguous-name"; 2], "{found:#?}");
        assert_eq!(sandbox.run(["run", "X", "--json"]).json()["code"], "AMBIGUOUS_NAME");
        // Each is asked for by its file.
        assert_eq!(sandbox.run(["run", "A", "--json"]).json()["status"], "success");
    }
    // Where another flow is called so, it is the one that is meant, and those that only call themselves so are copies.
    let sandbox = Sandbox::new()
        .file("flows/A.flow.md", markdown)
        .file("flows/B.flow.md", markdown)
        .file("flows/X.flow.md", markdown);
    assert_eq!(told(&sandbox, "X"), ["ambiguous-name"; 2]);
}

#[test]
fn a_flow_without_its_ending_is_told_with_the_right_name_and_notes_are_not() {
    let sandbox = Sandbox::new()
        .file("flows/Boat.flow.md", format!("{HEAD}---\n## S {{#s}}\nHi\n"))
        .file("flows/sea/Moor.md", MOOR)
        .file("flows/README.md", MOOR)
        .file("flows/notes.md", "# Notes\n\n## Usage {#usage}\n\nText\n")
        .file("flows/page.md", "---\ntitle: A page\ntags: [a]\n---\n\n## Usage {#usage}\n\nText\n");
    let found = all_found(&sandbox);
    let places: Vec<(&str, &str)> =
        found.iter().map(|one| (one["rule"].as_str().unwrap(), one["file"].as_str().unwrap())).collect();
    assert_eq!(places, [("misplaced-file", "flows/sea/Moor.md")], "{found:#?}");
    assert!(found[0]["hints"].to_string().contains("flows/sea/Moor.flow.md"), "{found:#?}");
}
