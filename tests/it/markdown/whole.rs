//! Slips that concern a file in Markdown as a whole: what reading it all the same would drop, or put into a prompt.

use super::found;
use crate::support::program::Sandbox;

const HEAD: &str = "---\nname: Boat\nversion: 1.0.0\ninputs: [crew]\n---\n";
const STEP: &str = "## Sail {#sail}\nSail with {crew}.\n";
const USES: &str = "## Sail {#sail}\n```yaml\ntemplate: Text\npersona: rev\n```\n";

/// A catalog of one flow that uses a template and a persona.
fn catalog(flow: &str, template: &str, persona: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", flow);
    sandbox.file("templates/Text.md", template).file("personas/rev.md", persona)
}

/// What is found in each of the three files where a text stands in it.
fn in_each(flow: &str, template: &str, persona: &str) -> [Vec<String>; 3] {
    let (fine_flow, fine_text) = (format!("{HEAD}{USES}"), "Sail with {crew}.\n");
    [
        found(&catalog(flow, fine_text, "You sail.\n")),
        found(&catalog(&fine_flow, template, "You sail.\n")),
        found(&catalog(&fine_flow, fine_text, persona)),
    ]
}

#[test]
fn lines_of_a_merge_are_told_in_every_file_in_markdown() {
    for (flow, place) in [
        (format!("{HEAD}{STEP}<<<<<<< HEAD\nMoor.\n=======\nRow.\n>>>>>>> theirs\n"), "8:1"),
        (format!("{HEAD}{STEP}\n>>>>>>> theirs\n"), "9:1"),
        (format!("{HEAD}<<<<<<< HEAD\nIntro.\n=======\n>>>>>>> theirs\n{STEP}"), "6:1"),
        (
            format!("---\nname: Boat\n<<<<<<< HEAD\nversion: 1.0.0\n=======\nversion: 2.0.0\n>>>>>>> b\n---\n{STEP}"),
            "3:1",
        ),
        (format!("---\nname: Boat\nversion: 1.0.0\n=======\n---\n{STEP}"), "4:1"),
        (
            format!(
                "{HEAD}## Sail {{#sail}}\n```yaml\n<<<<<<< HEAD\noptional: true\n=======\n>>>>>>> b\n```\nSail {{crew}}.\n"
            ),
            "8:1",
        ),
        (format!("{HEAD}{STEP}||||||| base\n"), "8:1"),
    ] {
        let told = found(&catalog(&flow, "Text\n", "You sail.\n"));
        let of_flow: Vec<&String> = told.iter().filter(|told| told.contains("Boat")).collect();
        assert_eq!(of_flow.len(), 1, "{flow}: {told:?}");
        assert!(of_flow[0].ends_with(&format!("error flows/Boat.flow.md:{place}")), "{flow}: {told:?}");
    }
    let text = "Sail with {crew}.\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n";
    let [_, template, persona] = in_each(&format!("{HEAD}{STEP}"), text, text);
    assert!(template.contains(&"syntax error templates/Text.md:2:1".to_owned()), "{template:?}");
    assert!(persona.iter().any(|told| told.contains("missing-persona")), "{persona:?}");
    let run = catalog(&format!("{HEAD}{STEP}{text}"), text, text).run(["run", "Boat", "--var", "crew=Ann"]);
    assert_eq!(run.code, 1, "nothing of it reaches a model: {}", run.out);
}

#[test]
fn what_only_looks_like_a_merge_is_silent() {
    let text = "Sail with {crew}.\n\nA heading\n=======\n\n```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n```\n\n\
                <<<< note >>>>\n ======= \n>>> quoted\n||||||| a | b |\n\n\
                >>>>>>>> first\n>>>>>>> second\n>>>>>> third\n";
    for told in in_each(&format!("{HEAD}## Sail {{#sail}}\n{text}"), text, text) {
        assert_eq!(told, [""; 0]);
    }
}

#[test]
fn a_front_matter_that_is_none_is_told() {
    let front = "name: Boat\nversion: 1.0.0\ninputs: [crew]\n";
    for (text, place) in [
        (format!("# The boat\n\n---\n{front}---\n"), "3:1"),
        (format!("Here is the flow.\n---\n{front}---\n"), "2:1"),
        (format!(" ---\n{front}---\n"), "1:2"),
        (format!("\n---\n{front}---\n"), "2:1"),
        (format!("----\n{front}----\n"), "1:1"),
        (format!("----\n{front}---\n"), "1:1"),
        (format!("\u{2014}\n{front}\u{2014}\n"), "1:1"),
        ("+++\nname = \"Boat\"\nversion = \"1.0.0\"\n+++\n".to_owned(), "1:1"),
        (format!("---yaml\n{front}---\n"), "1:1"),
        (format!("\u{200b}---\n{front}---\n"), "1:1"),
        (format!("```yaml\n{front}```\n\n"), "1:1"),
        (format!("{front}\n"), "1:1"),
    ] {
        let sandbox = Sandbox::new().file("flows/Boat.flow.md", format!("{text}{STEP}"));
        assert_eq!(found(&sandbox), [format!("front-matter error flows/Boat.flow.md:{place}")], "{text}");
    }
    let role = "name: rev\ndescription: Sails.\n";
    for (before, mark) in [("\n", "---"), ("", " ---"), ("", "----"), ("# Text\n", "---"), ("For readers.\n\n", "---")]
    {
        let close = mark.trim();
        let template = format!("{before}{mark}\ntitle: Text\nvariables: [crew]\n{close}\nSail with {{crew}}.\n");
        let persona = format!("{before}{mark}\n{role}{close}\nYou sail.\n");
        let [_, template, persona] = in_each(&format!("{HEAD}{STEP}"), &template, &persona);
        assert!(
            template.iter().any(|told| told.starts_with("front-matter error templates/Text.md:")),
            "{before:?}{mark}: {template:?}"
        );
        // Empty lines and blanks before the front matter of a persona change nothing.
        let taken = mark.trim() == "---" && before.trim().is_empty();
        assert_eq!(
            persona.iter().any(|told| told.contains("missing-persona")),
            !taken,
            "{before:?}{mark}: {persona:?}"
        );
    }
}

#[test]
fn lines_that_end_with_carriage_returns_alone_are_told() {
    let flow = format!("{HEAD}{STEP}").replace('\n', "\r");
    let [flow, template, _] = in_each(&flow, "---\rtitle: Text\r---\rFor {crew}.\r", "You sail.\n");
    assert_eq!(flow, ["syntax error flows/Boat.flow.md:1:4"]);
    assert!(template[0].starts_with("syntax error templates/Text.md:"), "{template:?}");
}

#[test]
fn rules_and_front_matters_that_a_text_shows_are_silent() {
    for text in [
        "Sail with {crew}.\n\n---\n\nname: x\n---\n",
        "Write a post with this front matter:\n\n---\ntitle: {crew}\ntags: [a]\n---\n\nAnd a text.\n",
        "----\nSail with {crew}.\n----\n",
        "Note for {crew}.\n---\nNote: this is it\n---\n",
        "```md\n---\ntitle: x\n---\n```\nFor {crew}.\n",
        "+++ new\nSail with {crew}.\n",
        "name: the name\nnote: {crew}\n",
    ] {
        let flow = format!("{HEAD}---\nFor readers: a rule\n---\n## Sail {{#sail}}\n{text}");
        for told in in_each(&flow, text, text) {
            assert_eq!(told, [""; 0], "{text}");
        }
    }
}

#[test]
fn a_fence_around_the_whole_file_is_told_and_taken_out() {
    let steps = "## Sail {#sail}\n```yaml\nmaxAttempts: 2\n```\nSail with {crew}.\n\n## Moor {#moor}\n{sail_result}\n";
    for mark in ["markdown", "md", "", "yaml"] {
        let sandbox = Sandbox::new().file("flows/Boat.flow.md", format!("```{mark}\n{HEAD}{steps}```\n"));
        assert_eq!(found(&sandbox), ["syntax error flows/Boat.flow.md:1:1"], "{mark}");
        sandbox.run(["validate", "--fix"]);
        assert_eq!(found(&sandbox), [""; 0], "{mark}");
        let fixed = std::fs::read_to_string(sandbox.here().join("flows/Boat.flow.md")).unwrap();
        assert_eq!(fixed, format!("{HEAD}{steps}"));
    }
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", format!("Here it is:\n\n```markdown\n{HEAD}{steps}```\n"));
    assert_eq!(found(&sandbox), ["syntax error flows/Boat.flow.md:3:1"]);
    let template = "```markdown\n---\ntitle: Text\nvariables: [crew]\n---\nSail with {crew}.\n```\n";
    let [_, told, _] = in_each(HEAD, template, "");
    assert!(told.contains(&"syntax error templates/Text.md:1:1".to_owned()), "{told:?}");
    // A text may begin with code.
    let code = "```markdown\n# Log of {crew}\n```\n\nFill this in.\n";
    for told in in_each(&format!("{HEAD}\n```md\n## Shown {{#shown}}\n```\n\n## Sail {{#sail}}\n{code}"), code, code) {
        assert_eq!(told, [""; 0]);
    }
}
