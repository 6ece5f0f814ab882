//! Slips in Markdown: what is found, and where in the Markdown.

use serde_json::json;

use super::found;
use crate::support::program::Sandbox;

const HEAD: &str = "---\nname: Boat\nversion: 1.0.0\n";

fn flow(rest: &str) -> Sandbox {
    Sandbox::new().file("flows/Boat.flow.md", format!("{HEAD}{rest}"))
}

#[test]
fn a_slip_is_found_where_it_is_written() {
    for (rest, expected) in [
        ("## Sail {#sail}\nSail.\n", &["front-matter error 1:1"][..]),
        ("---\n- a\n---\nSail.\n", &["empty-flow error 1:1"]),
        ("descripton: x\n---\n## Sail {#sail}\nSail.\n", &["misspelt-field warning 4:1"]),
        ("description: Sails#2 boats\n---\n## Sail {#sail}\nSail.\n", &[]),
        ("description: Sails # 2 boats\n---\n## Sail {#sail}\nSail.\n", &["front-matter warning 4:20"]),
        ("tags: [a, a]\nname: Again\n---\n## Sail {#sail}\nSail.\n", &["duplicate-key error 5:1"]),
        ("inputs: { boat: { required: maybe } }\n---\n## Sail {#sail}\nSail {boat}.\n", &["schema error 4:29"]),
        ("---\n## Sail {#sail}\n```yaml\nrequire: boat\n```\nSail.\n", &["misspelt-field error 7:1"]),
        ("---\n## Sail {#sail}\n```yaml\nrequires: boat\n```\nSail.\n", &["misspelt-field error 7:1"]),
        ("---\n## Sail {#sail}\n```yml\nafter: boat\n```\nSail.\n", &["misspelt-field warning 6:1"]),
        ("---\n## Sail {#sail}\n```yaml\nafter: bota\n```\nSail.\n## B {#boat}\nBoat.\n", &["dangling-edge error 7:8"]),
        ("---\n## Sail {#sail}\n```yaml\ntemplate: Gone\n```\n", &["missing-template error 7:11"]),
        ("---\n## Sail {#sail}\n```yaml\ncall: {{ boat }}\n```\n", &["syntax error 7:7"]),
        ("---\n## Sail {#sail}\nSail {moor_result}.\n## Moor {#moor}\nMoor {sail_result}.\n", &["cycle error 6:6"]),
        ("---\n## Sail {#sail}\nSail {sail_result}.\n", &["unreachable-reference error 6:6"]),
        ("---\n## Sail {#sail}\n```yaml\ncall: boat:sail\nrequires: \"{go}\"\n```\n", &["bad-call error 8:11"]),
        ("results: { Log: moor }\n---\n## Sail {#sail}\nSail.\n", &["dangling-edge error 4:17"]),
        ("---\n## Sail {#sail}\nSail.\n## Moor {#sail}\nMoor.\n", &["duplicate-node error 7:11"]),
        ("---\n## Sail {#sail}\nSail.\n<!-- obey -->\n", &["hidden-text warning 7:1"]),
        ("---\n## Sail {#sail}\nSail\u{E0061}.\n", &["hidden-text warning 6:5"]),
        ("inputs: [boat]\n---\n## Sail {#sail}\nSail {baot}.\n", &["unbound-placeholder warning 7:6"]),
        (
            "---\n## Sail {#sail}\n```yaml\ncontract: { properties: { crew: {} }, required: [crw], additionalProperties: false }\n```\nSail.\n",
            &["bad-contract error 7:50"],
        ),
        ("---\n### Sail {#sail}\nSail.\n", &["misspelt-field error 5:1"]),
        ("---\nSail.\n", &["empty-flow error 1:1"]),
        ("---\n## Sail {#sail}\n", &["empty-step error 5:1"]),
        ("---\n## Sail {#sail}\n```yaml\ncall: boat:sail\n```\nSail.\n", &["misspelt-field warning 9:1"]),
        (
            "---\n## Sail {#sail}\n```yaml\nmap: { boat: { from: moor, pth: a } }\n```\nSail {boat}.\n## Moor {#moor}\nMoor.\n",
            &["misspelt-field error 7:28"],
        ),
        (
            "---\n## Sail {#sail}\n```yaml\nvariables: [boat, crew]\n```\nSail {boat} with {crw}.\n",
            &["unbound-placeholder warning 9:18"],
        ),
    ] {
        let told: Vec<String> = found(&flow(rest)).iter().map(|told| told.replace("flows/Boat.flow.md:", "")).collect();
        assert_eq!(told, expected, "{rest}");
    }
}

#[test]
fn a_step_that_loses_a_setting_does_not_run_and_the_others_do() {
    let sandbox = flow(
        "results: { Log: moor }\n---\n## Sail {#sail}\n```yaml\nrequire: boat\n```\nSail.\n## Moor {#moor}\nMoor.\n",
    );
    let said = sandbox.run(["run", "Boat", "--json"]).json();
    assert_eq!((said["status"].as_str(), said["finalResult"].as_str()), (Some("partial"), Some("Moor.")), "{said:#}");
    assert_eq!(said["failures"][0]["nodeId"], "sail");
}

#[test]
fn a_place_within_a_text_of_a_template_is_shown_with_its_line() {
    let sandbox = Sandbox::new()
        .file("flows/Boat.flow.md", format!("{HEAD}---\n## Sail {{#sail}}\n```yaml\ntemplate: Text\n```\n"))
        .file("templates/Text.md", "---\r\nvariables: [boat]\r\n---\r\nSail the {boat}\r\nwith é {crw}.\r\n");
    assert_eq!(found(&sandbox), ["unbound-placeholder warning templates/Text.md:5:8"]);
    let said = sandbox.run(["validate"]);
    assert!(said.out.contains("with é {crw}.") && said.out.contains("^^^^^"), "{}", said.out);
}

#[test]
fn look_alikes_are_silent() {
    let body = "
# A heading of the prompt

## Another one, without an id

> ## Quoted {#not-a-step}

```md
## In code {#not-a-step}
<!-- seen in code -->
---
name: x
---
```

| a | b |
|---|---|
<tags>stay</tags> and `<!-- inline -->`, `{#id}`\tand tabs, {\"json\": {\"a\": 1}}, \\frac{1}{2}, אבג {boat}

    ## Indented {#not-a-step}
";
    let sandbox = flow(&format!("inputs: [boat]\n---\n\n<!-- for readers -->\n\n## Sail {{#sail}}\n{body}"))
        .file("flows/README.md", "# Flows\n\n## Usage {#usage}\n")
        .file("flows/notes.md", "---\nnot: [closed\n")
        .file("flows/Boat.md", "---\n")
        .file("templates/README.md", "---\n")
        .file("templates/Changelog.md", "---\n")
        .file("README.md", "---\n")
        .file("templates/Long.md", format!("{}\n", "word {x} ".repeat(110_000)))
        .file("templates/Ruler.md", "Text\n\n---\n\nname: x\n---\n");
    assert_eq!(found(&sandbox), [] as [&str; 0]);
    let text = sandbox.run(["run", "Boat", "--var", "boat=Skiff", "--json"]).json();
    let expected = body.trim_matches('\n').replace("{boat}", "Skiff");
    assert_eq!(text["finalResult"], expected, "{text:#}");
}

#[test]
fn a_flow_beside_the_folder_of_flows_is_noticed() {
    let sandbox = flow("---\n## Sail {#sail}\nSail.\n").file("Moor.flow.md", "## Moor {#moor}\nMoor.\n");
    assert_eq!(found(&sandbox), ["misplaced-file warning Moor.flow.md:1:1"]);
}

#[test]
fn a_heading_that_was_to_begin_a_step_is_the_only_thing_that_is_told() {
    for heading in
        ["## Report", "## Report {report}", "## Report {#report} - draft", "### Report {#report}", "##Report {#report}"]
    {
        let rest = format!(
            "inputs: [notes]\n---\n{heading}\n\nWrite {{notes}}\n\n## Gaps {{#gaps}}\n\nFind {{report_result}}\n"
        );
        assert_eq!(found(&flow(&rest)), ["misspelt-field error flows/Boat.flow.md:6:1"], "{heading}");
        let rest = format!(
            "inputs: [notes]\n---\n## First {{#first}}\n\nWrite {{notes}}\n\n{heading}\n\nFind {{first_result}}\n"
        );
        assert_eq!(found(&flow(&rest)), ["misspelt-field error flows/Boat.flow.md:10:1"], "{heading}");
    }
    // Headings of a prompt are text.
    let text = "---\n## Sail {#sail}\n# Report\n#### Part {#part}\n## Crew\nSail.\n\n```\n## Moor {#moor}\n```\n";
    assert_eq!(found(&flow(text)), [""; 0]);
}

#[test]
fn a_slip_in_yaml_is_told_in_words_of_ours_where_it_stands() {
    for (rest, place, words) in [
        ("tags: [a, b\nauthor: Ann\n", "4:7", "bracket"),
        ("inputs: { a: { description: x }\nauthor: Ann\n", "4:9", "bracket"),
        ("tags: [a, b\n", "4:7", "bracket"),
        ("tags: [a]]\n", "4:10", "never opened"),
        ("tags: [a}\n", "4:7", "closed by }"),
        ("author: \"Ann\ntags: [a]\n", "4:9", "quotation mark"),
        ("author: 'it's me'\n", "4:13", "quotation mark"),
        ("author: \"C:\\work\"\n", "4:9", "backslash"),
        ("author Ann\ntags: [a]\n", "4:1", "no key with a colon"),
        ("tags: [a]\nauthor Ann\n", "5:1", "no key with a colon"),
        ("inputs:\n    a: x\n  b: y\n", "6:3", "column"),
        ("tags:\n  - a\n - b\n", "6:2", "column"),
        ("author: - Ann\n", "4:9", "dash"),
        ("tags: [- a, - b]\n", "4:8", "dash"),
        ("author: , Ann\n", "4:9", "quotation marks"),
        ("tags: [`a`]\n", "4:8", "begin with \"`\""),
        ("author: |\n\tAnn\n", "5:1", "tab"),
        ("inputs:\n\ta: x\n", "5:1", "tab"),
        ("%YAML 1.2\n", "4:1", "directive"),
    ] {
        let said = flow(&format!("{rest}---\n## S {{#s}}\nSail.\n")).run(["validate", "--json"]).json();
        let finding = &said["files"][0]["findings"][0];
        let message = finding["message"].as_str().unwrap();
        assert_eq!(format!("{}:{}", finding["line"], finding["column"]), place, "{rest}{message}");
        assert!(message.contains(words) && !finding["hints"][0].as_str().unwrap().is_empty(), "{rest}{message}");
        for theirs in ["expected", "while parsing", "scalar", "mapping", "EOF", "context"] {
            assert!(!message.contains(theirs), "{rest}{message}");
        }
    }
}

#[test]
fn what_yaml_reads_otherwise_than_it_looks_is_told_where_it_stands() {
    for (rest, expected) in [
        (
            "inputs:\n  crew: { description: Who sails, and when }\n---\n## S {#s}\n{crew}\n",
            &["front-matter warning 5:35"][..],
        ),
        ("inputs:\n  crew: { type: number, default:8 }\n---\n## S {#s}\n{crew}\n", &["front-matter warning 5:25"]),
        ("inputs:\n  - crew: Who sails\n---\n## S {#s}\n{crew}\n", &["misspelt-field warning 5:5"]),
        ("inputs:\ncrew:\n  description: x\n---\n## S {#s}\n{crew}\n", &["misspelt-field warning 5:1"]),
        ("inputs:\n  crew: { description: Who: all }\n---\n## S {#s}\n{crew}\n", &["front-matter error 5:27"]),
        ("author:Ann\ntags: [a]\n---\n## S {#s}\nSail.\n", &["front-matter error 4:1"]),
        ("author: 'it's me'\n---\n## S {#s}\nSail.\n", &["front-matter error 4:13"]),
        ("---\n## S {#s}\n```\noptional: true\npersona: p\n```\nSail.\n", &["misspelt-field warning 6:1"]),
        ("---\n## S {#s}\nSail.\n\n```yaml\noptional: true\n```\n", &["misspelt-field warning 8:1"]),
        ("---\n## S {#s}\n```yaml\noptional: true\nSail.\n", &["syntax error 6:1"]),
        ("inputs: [crew]\n---\n## S {#s}\n{crew}\n\n## T {#t}\nAsk {s}.\n", &["unbound-placeholder warning 10:5"]),
    ] {
        let told: Vec<String> = found(&flow(rest)).iter().map(|told| told.replace("flows/Boat.flow.md:", "")).collect();
        assert_eq!(told, expected, "{rest}");
    }
    let late = Sandbox::new().file("flows/Boat.flow.md", format!("\n{HEAD}---\n## S {{#s}}\nSail.\n"));
    assert_eq!(found(&late), ["front-matter error flows/Boat.flow.md:2:1"]);
    let within = "inputs: [crew]\n---\n## S {#s}\n```yaml\nflow: Moor\nvariables: { who: {crew} }\n```\n";
    let within = flow(within)
        .file("flows/Moor.flow.md", "---\nname: Moor\nversion: 1.0.0\ninputs: [who]\n---\n## M {#m}\nMoor {who}.\n");
    assert!(
        found(&within).contains(&"misspelt-field error flows/Boat.flow.md:9:19".to_owned()),
        "{:?}",
        found(&within)
    );
}

#[test]
fn a_name_that_is_one_letter_off_is_told_where_it_stands() {
    let flow = "---\nname: T\nversion: 1.0.0\ndescription: Slips.\ninputs:\n  product: { description: t }\n---\n\n\
                ## One {#one}\n\nSay {product} and {prodcut}, {product2} or {products}.\n\n\
                ## Two {#two}\n\nRead {one_result} and {one_reslt}.\n";
    let sandbox = Sandbox::new().file("flows/T.flow.md", flow);
    let checked = sandbox.run(["validate", "--json"]).json();
    let findings = checked["files"][0]["findings"].as_array().unwrap();
    let told: Vec<(&str, u64, bool)> = findings
        .iter()
        .map(|found| {
            let hints = found["hints"].to_string();
            (
                found["rule"].as_str().unwrap(),
                found["line"].as_u64().unwrap(),
                hints.contains("product") || hints.contains("one_result"),
            )
        })
        .collect();
    assert_eq!(told, [("unbound-placeholder", 11, true), ("unbound-placeholder", 15, true)], "{checked}");
}

#[test]
fn what_can_only_be_meant_as_a_step_or_a_front_matter_is_told_though_nothing_reads_it() {
    let head = "---\nname: T\nversion: 1.0.0\ndescription: Slips.\n---\n\n";
    let last = "## Last {#last}\n\nSay so.\n";
    for (text, line) in [
        (format!("{head}##First {{#first}}\n\nSay hello.\n\n{last}"), 7),
        (format!("{head}### First {{#first}}\n\n```yaml\ntemplate: Hello\n```\n\n{last}"), 7),
        (format!("-{}{last}", &head[2..]), 1),
    ] {
        let sandbox = Sandbox::new().file("flows/T.flow.md", &text);
        let checked = sandbox.run(["validate", "--json"]).json();
        assert_eq!(
            (&checked["errors"], &checked["files"][0]["findings"][0]["line"]),
            (&json!(1), &json!(line)),
            "{checked}"
        );
    }
    let prompt = format!("{head}## First {{#first}}\n\n### A part {{#part}}\n\nWrite it.\n\n{last}");
    let checked = Sandbox::new().file("flows/T.flow.md", &prompt).run(["validate", "--json"]).json();
    assert_eq!(checked["errors"], 0, "a heading with an anchor is text: {checked}");
}

#[test]
fn settings_that_nobody_reads_because_of_their_fence_are_told_and_a_mark_in_capitals_counts() {
    for mark in ["YAML", "Yaml"] {
        let read = flow(&format!("---\n## S {{#s}}\n```{mark}\npersona: none\n```\nSail.\n"));
        assert_eq!(found(&read), ["missing-persona error flows/Boat.flow.md:7:10"]);
    }
    for block in
        ["persona: rev\n", "after: t\nmaxAttempts: 2\n", "---\noptional: true\n---\n", "```JSON\noptional: true\n```\n"]
    {
        let told = found(&flow(&format!("---\n## T {{#t}}\nRow.\n## S {{#s}}\n{block}\nSail {{t_result}}.\n")));
        assert_eq!(told, ["misspelt-field warning flows/Boat.flow.md:8:1"], "{block}");
    }
    // Prompts begin so, too.
    for block in
        ["text: {crew}\n", "persona: {crew}\n", "label: what it says\nSail.\n", "after: lunch\n", "---\nNote: x\n---\n"]
    {
        let text = format!("inputs: [crew]\n---\n## S {{#s}}\n{block}\nSail with {{crew}}.\n");
        assert_eq!(found(&flow(&text)), [""; 0], "{block}");
    }
}

#[test]
fn a_heading_of_a_step_that_markdown_reads_otherwise_is_told() {
    let first = "---\n## First {#first}\n\nSail.\n\n";
    for heading in [
        "## Two { #two }\n",
        "## Two {: #two}\n",
        "## Two {#two} ##\n",
        "## Two {#two}.\n",
        "## Two {#two} <!-- note -->\n",
        "##\tTwo {#two}\n",
        "## Two {#two\u{a0}}\n",
        "## Two \u{ff5b}#two\u{ff5d}\n",
        "## Two {\u{ff03}two}\n",
        "## Two {# two}\n",
        "## Two {#two\n",
        "## Two (#two)\n",
        "## Two [#two]\n",
        "## {#two} Two\n",
        " ## Two {#two}\n",
        "   ## Two {#two}\n",
        "- ## Two {#two}\n",
        "1. ## Two {#two}\n",
        "Two {#two}\n---\n",
        "Two {#two}\n=====\n",
    ] {
        let told = found(&flow(&format!("{first}{heading}\nRow.\n")));
        assert_eq!(told, ["misspelt-field error flows/Boat.flow.md:9:1"], "{heading}");
    }
    for heading in ["# Two {#two}\n", "### Two {#two}\n"] {
        let told = found(&flow(&format!("{first}{heading}\nRow.\n")));
        assert_eq!(told, ["misspelt-field warning flows/Boat.flow.md:9:1"], "{heading}");
    }
    for text in [
        "    ## Two {#two}\n",
        "> ## Two {#two}\n",
        "- {#two}\n",
        "Two\n---\n",
        " #### Part {#two}\n",
        "## See [x](#two)\n",
        "## Mend [#12]\n",
        "\t## Two {#two}\n",
        "| {#two} |\n|---|\n",
        "```\n ## Two {#two}\n```\n",
    ] {
        assert_eq!(found(&flow(&format!("{first}{text}\nRow.\n"))), [""; 0], "{text}");
    }
    // The step that is lost has a block and a text of its own; they belong to no step before it.
    let lost =
        "---\n## A {#a}\n```yaml\ncall: x:y\n```\n\n### B {#b}\n\n```yaml\noptional: true\n```\n\nSay {a_result}.\n";
    assert_eq!(found(&flow(lost)), ["misspelt-field error flows/Boat.flow.md:10:1"]);
}

#[test]
fn an_id_that_no_placeholder_can_name_is_told_with_one_that_can() {
    for (id, column, meant) in [
        ("t one", 8, "t_one"),
        ("food tips", 8, "food"),
        ("tw.o", 8, "tw_o"),
        ("a/b", 8, "a_b"),
        ("one .class", 8, "one"),
        ("one #b k=v", 8, "one"),
    ] {
        let sandbox = flow(&format!("---\n## T {{#{id}}}\nSail.\n## Two {{#two}}\nRead {{{meant}_result}}.\n"));
        let checked = sandbox.run(["validate", "--json"]).json();
        let all = checked["files"][0]["findings"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{checked:#}");
        assert_eq!((&all[0]["rule"], &all[0]["column"]), (&json!("misspelt-field"), &json!(column)));
        assert!(all[0]["hints"][0].as_str().unwrap().contains(meant), "{checked:#}");
    }
    for id in ["one", "one-two", "größe_2"] {
        assert_eq!(found(&flow(&format!("---\n## T {{#{id}}}\nSail.\n"))), [""; 0], "{id}");
    }
}

#[test]
fn one_slip_in_markdown_is_one_finding() {
    for (rest, expected) in [
        (
            "inputs: { name: {} }\n---\n## A {#a}\n```yaml\nmap: { v: { input: nmae } }\n```\nHi {v}\n",
            &["useless-mapping warning 8:8"][..],
        ),
        (
            "inputs: { company: {} }\n---\n## A {#a}\nHi.\n## B {#b}\n{a_resul} {company}\n",
            &["unbound-placeholder warning 9:1"],
        ),
        ("---\n##A {#a}\nHi.\n", &["misspelt-field error 5:1"]),
        ("---\n# A {#a}\nHi.\n", &["misspelt-field error 5:1"]),
        ("---\n## A {#a}\n{b_result}\n## B {#b}\nHi.\n## B {#a}\n{a_result}\n", &["duplicate-node error 9:8"]),
        ("inputs: { pro duct: { description: x } }\n---\n## A {#a}\nHi.\n", &["invalid-variable-name error 4:11"]),
        ("tags: a, b\n---\n## A {#a}\nHi.\n", &["front-matter warning 4:7"]),
        ("description: \"Sails\ntags: [a]\nauthor: \"Ann\"\n---\n## A {#a}\nHi.\n", &["front-matter error 4:14"]),
        ("---\n## A {#a}\n```yaml\noptional: true\n  maxAttempts: 2\n```\nHi.\n", &["syntax error 8:3"]),
        (
            "---\n## A {#a}\nHi.\n## B {#b}\n```yaml\nafter: c\n```\n{a_result}\n## C {#c}\n{b_result}\n",
            &["cycle error 9:8"],
        ),
    ] {
        let told: Vec<String> = found(&flow(rest)).iter().map(|told| told.replace("flows/Boat.flow.md:", "")).collect();
        assert_eq!(told, expected, "{rest}");
    }
    let within = |block: &str| {
        let text = format!("inputs: [crew]\n---\n## S {{#s}}\n```yaml\nflow: Moor\n{block}\n```\n");
        let moor = "---\nname: Moor\nversion: 1.0.0\ninputs: [who]\n---\n## M {#m}\nMoor {who}.\n";
        found(&flow(&text).file("flows/Moor.flow.md", moor))
    };
    assert_eq!(within("varibles: { who: \"{crew}\" }"), ["misspelt-field error flows/Boat.flow.md:9:1"]);
    assert_eq!(within("variables: { who: {crew} }"), ["misspelt-field error flows/Boat.flow.md:9:19"]);
}

#[test]
fn a_short_name_is_told_that_can_only_be_another_one_misspelt() {
    let listed = "inputs: { city: {}, home: {} }\n---\n## A {#a}\nFrom {home} to {city}.\n";
    for (text, place) in [
        ("Go to {ctiy}.\n", "unbound-placeholder warning flows/Boat.flow.md:9:7"),
        ("Go to {City}.\n", "unbound-placeholder warning flows/Boat.flow.md:9:7"),
        (
            "```yaml\ncall: maps:find\nargs: { at: \"{{ ctiy }}\" }\n```\n",
            "unbound-placeholder warning flows/Boat.flow.md:11:13",
        ),
        (
            "```yaml\ncall: maps:find\nargs: { at: \"{{ city }}\" }\nrequires: [hoem]\n```\n",
            "unbound-placeholder warning flows/Boat.flow.md:12:12",
        ),
    ] {
        let told = found(&flow(&format!("{listed}## B {{#b}}\n{text}## C {{#c}}\n{{a_result}} {{b_result}}\n")));
        assert_eq!(told, [place], "{text}");
    }
    // Other names are callers' to give.
    for text in [
        "```yaml\ncall: maps:find\nargs: { at: \"{{ city }}\", zoom: \"{{ zoom | 3 }}\" }\n```\n",
        "Go to {town}.\n",
        "```yaml\nsets: { a: { tone: dry } }\n```\nBe {tone}.\n",
    ] {
        let told = found(&flow(&format!("{listed}## B {{#b}}\n{text}## C {{#c}}\n{{a_result}} {{b_result}}\n")));
        assert_eq!(told, [""; 0], "{text}");
    }
}

#[test]
fn a_file_that_lies_where_its_kind_is_not_read_is_told_if_it_is_a_test_or_a_flow_asks_for_it() {
    let steps = "---\n## Sail {#sail}\n```yaml\ntemplate: Sea_Log\n```\n";
    for path in ["template/Sea_Log.md", "flows/Sea_Log.md", "templates/Sea_Log.txt", "templates/Sea_Log.markdown"] {
        let sandbox = flow(steps).file(path, "Log.\n").file("templates/Other.md", "Other.\n");
        let told = found(&sandbox);
        assert!(told.contains(&format!("misplaced-file warning {path}:1:1")), "{path}: {told:?}");
        // What nobody asks for may be anything.
        let silent = flow("---\n## Sail {#sail}\nSail.\n").file(path, "Log.\n").file("templates/Other.md", "Other.\n");
        assert_eq!(found(&silent).is_empty(), !path.ends_with(".markdown"), "{path}");
    }
    let test = "{\"flow\": \"Boat\", \"expect\": {\"status\": \"success\"}}";
    for path in ["test/Boat.flowtest.json", "tests/Boat.json", "tests/Boat.flowtests.json", "tests/Boat.flowtest.yaml"]
    {
        let sandbox = flow("---\n## Sail {#sail}\nSail.\n").file(path, test).file("tests/data.json", "{}");
        assert_eq!(found(&sandbox), [format!("misplaced-file warning {path}:1:1")], "{path}");
    }
}

#[test]
fn a_fence_that_is_left_open_is_told_although_a_later_one_is_closed() {
    let text = "---\n## A {#a}\n```json\n{}\n\n## B {#b}\n```json\n{}\n```\n\n## C {#c}\n{a_result}\n";
    assert_eq!(found(&flow(text)), ["unclosed-fence error flows/Boat.flow.md:6:1"]);
    // A fence may show how a step is written.
    let text = "---\n## A {#a}\n````markdown\n## B {#b}\n```yaml\nafter: c\n```\n````\n";
    assert_eq!(found(&flow(text)), [""; 0]);
}

#[test]
fn settings_without_the_fence_that_opens_them_are_told_and_no_other_step_is_lost() {
    let first = "---\n## T {#t}\nRow.\n\n## S {#s}\n";
    for (block, line) in [
        ("persona: rev\n```\n\nSail {t_result}.\n", 9),
        ("\npersona: rev\n```\nSail {t_result}.\n\n## U {#u}\n{s_result}\n", 10),
        ("after: t\nmap: {x: t}\n```\n\nSail with {x}.\n\n## U {#u}\n```json\n{}\n```\n{s_result}\n", 9),
        ("``yaml\nafter: t\n``\n\nSail {t_result}.\n", 10),
    ] {
        let sandbox = flow(&format!("{first}{block}"));
        assert_eq!(found(&sandbox), [format!("misspelt-field error flows/Boat.flow.md:{line}:1")], "{block}");
        let steps = sandbox.run(["show", "Boat", "--json"]).json()["steps"].as_array().map_or(0, Vec::len);
        assert_eq!(steps, 2 + usize::from(block.contains("{#u}")), "{block}");
    }
    // A prompt may have code in its first lines.
    let code = "---\n## S {#s}\nNote: the code\n```\n## U {#u}\n```\nSail.\n";
    assert_eq!(found(&flow(code)), [""; 0]);
}

#[test]
fn a_front_matter_without_its_first_line_is_told() {
    for (path, text) in [
        ("flows/Row.flow.md", "name: Row\nversion: 1.0.0\ninputs: [crew]\n---\n\n## A {#a}\nRow {crew}.\n"),
        ("templates/Row.md", "title: Row\nvariables: [crew]\n---\nRow {crew}.\n"),
    ] {
        let told = found(&flow("---\n## A {#a}\nSail.\n").file(path, text));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].starts_with("front-matter error") || told[0].contains(&format!("{path}:1:1")), "{told:?}");
    }
    // A heading that is underlined is a text's own.
    for text in ["title: a word\n---\nRow.\n", "Dear crew: row\n---\nRow.\n", "description: boats\n---\nRow {crew}.\n"]
    {
        let told = found(&flow("---\n## A {#a}\nSail.\n").file("templates/Row.md", text));
        assert_eq!(told, [""; 0], "{text}");
    }
}

#[test]
fn quotation_marks_that_yaml_does_not_know_are_told() {
    for value in ["\u{201c}Sails\u{201d}", "\u{201e}Sails\u{201c}", "\u{ab}Sails\u{bb}"] {
        let told = found(&flow(&format!("description: {value}\n---\n## A {{#a}}\nSail.\n")));
        assert_eq!(told, ["front-matter warning flows/Boat.flow.md:4:14"], "{value}");
    }
    for value in ["\u{201c}Old\u{201d} boats", "\"\u{201c}Sails\u{201d}\""] {
        assert_eq!(found(&flow(&format!("description: {value}\n---\n## A {{#a}}\nSail.\n"))), [""; 0], "{value}");
    }
}

#[test]
fn a_persona_and_a_contract_are_looked_through_where_they_stand() {
    let persona = |text: &str| flow("---\n## A {#a}\n```yaml\npersona: p\n```\nSail.\n").file("personas/p.md", text);
    for (text, told) in [
        ("---\nnmae: P\n---\nBe kind.\n", "misspelt-field warning personas/p.md:2:1"),
        ("---\nname: P\nname: Q\n---\nBe kind.\n", "duplicate-key warning personas/p.md:3:1"),
        ("---\nNote: be kind\n---\nMore.\n", "front-matter warning personas/p.md:2:1"),
        ("Be kind\u{e0065}.\n", "hidden-text warning personas/p.md:1:1"),
    ] {
        let told_here: Vec<String> =
            found(&persona(text)).into_iter().filter(|one| one.contains("personas/")).collect();
        assert_eq!(told_here, [told], "{text}");
    }
    assert_eq!(found(&persona("---\nname: p\nmodel: sonnet\ntools: Read\n---\nBe kind.\n")), [""; 0]);
}

#[test]
fn a_copy_that_keeps_its_name_and_an_input_behind_an_output_are_told() {
    let steps = "---\n## Sail {#sail}\nSail.\n";
    let copied = flow(steps).file("flows/Boat_2.flow.md", format!("{HEAD}{steps}"));
    assert_eq!(found(&copied), ["ambiguous-name warning flows/Boat_2.flow.md:2:7"]);
    copied.run(["validate", "--fix=unsafe"]);
    assert_eq!(found(&copied), [""; 0]);
    let hidden = flow("inputs: [sail_result]\n---\n## Sail {#sail}\nSail.\n## Moor {#moor}\nMoor {sail_result}.\n");
    assert_eq!(found(&hidden), ["unused-variable warning flows/Boat.flow.md:4:10"]);
}

#[test]
fn no_fix_takes_away_what_was_meant() {
    let inputs = "inputs: [topic]\n---\n## Sail {#sail}\n";
    for (rest, fixed) in [
        // What comes after what, which is the point of it.
        (
            "---\n## Sail {#sail}\n```yaml\nafter: moor, row\n```\nSail.\n## Moor {#moor}\nMoor.\n## Row {#row}\nRow.\n",
            None,
        ),
        (
            "---\n## Sail {#sail}\n```yaml\nafter: moor_result\n```\nSail.\n## Moor {#moor}\nMoor.\n",
            Some("after: moor\n"),
        ),
        (
            "---\n## Sail {#sail}\n```yaml\nafter: \"{moor_result}\"\n```\nSail.\n## Moor {#moor}\nMoor.\n",
            Some("after: \"moor\"\n"),
        ),
        // An input that a text means, in whatever signs.
        (&format!("{inputs}Sail to {{topc}}.\n"), Some("inputs: [topic]")),
        (&format!("{inputs}Sail to <%= topic %>.\n"), Some("inputs: [topic]")),
    ] {
        let sandbox = flow(rest);
        sandbox.run(["validate", "--fix=unsafe"]);
        let is = std::fs::read_to_string(sandbox.here().join("flows/Boat.flow.md")).unwrap();
        match fixed {
            Some(part) => assert!(is.contains(part), "{is}"),
            None => assert_eq!(is, format!("{HEAD}{rest}")),
        }
    }
}

#[test]
fn a_slip_is_told_by_what_it_is() {
    for (rest, rule, said) in [
        (
            "---\n## Sail {#sail}\n```yaml\noptional: true\nSail.\n## Moor {#moor}\n```yaml\noptional: true\n```\nMoor.\n",
            "syntax",
            "the block of settings that begins here is never closed",
        ),
        (
            "results: {boat} Sails.\n---\n## Sail {#sail}\nSail.\n",
            "front-matter",
            "put the whole value in quotation marks",
        ),
        (
            "inputs:\n  boat: { optional: true }\n---\n## Sail {#sail}\nSail {boat}.\n",
            "misspelt-field",
            "`required: false` says that nobody has to give it",
        ),
        (
            "---\n## Sail {#my sail}\nSail.\n## Moor {#moor}\nMoor {sail_result}.\n",
            "misspelt-field",
            "an id is letters, digits and _",
        ),
        (
            "inputs: [topic]\n---\n## Sail {#sail}\nSail {topic}.\n## Moor {#moor}\nMoor {topc} {sail_result}.\n",
            "unbound-placeholder",
            "did you mean \"topic\"?",
        ),
    ] {
        let json = flow(rest).run(["validate", "--json"]).json();
        let findings = json["files"][0]["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{rest}: {json:#}");
        assert_eq!(findings[0]["rule"], rule, "{rest}");
        assert!(findings[0].to_string().replace("\\\"", "\"").contains(said), "{rest}: {json:#}");
    }
}
