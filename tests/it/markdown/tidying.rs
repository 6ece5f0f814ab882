//! `flowy validate --fix` and `flowy fmt` on Markdown: what changes, and that every other byte stays.

use super::BRIEF;
use crate::support::program::Sandbox;

const UNTIDY: &str = "---
results:
  Log: moor
# where it goes
name: Boat
inputs:
  crew: { description: Who sails }
  # when
  day:
    description: nobody reads it
  port: { default: Faro }
version: \"1.2\"
---

For readers.

## Sail {#sail}

```yaml
after: nowhere
template: log
```

## Moor {#moor}

```yaml
after: [sail, gone]
```

Moor in {port} with {crew}: {sail_result}
";

const LOG: &str = "---\nvariables: [crew, mast]\ntitle: Log\n---\nLog of {crew}.\r\n";

fn untidy() -> Sandbox {
    Sandbox::new().file("flows/Boat.flow.md", UNTIDY).file("templates/Log.md", LOG)
}

fn text(sandbox: &Sandbox, path: &str) -> String {
    std::fs::read_to_string(sandbox.here().join(path)).unwrap()
}

#[test]
fn what_is_safe_is_fixed_and_every_other_byte_stays() {
    let sandbox = untidy();
    sandbox.run(["validate", "--fix"]);
    let expected = UNTIDY
        .replace("\"1.2\"", "\"1.2.0\"")
        .replace("after: nowhere\n", "")
        .replace("after: [sail, gone]", "after: [sail]");
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), expected);
    assert_eq!(text(&sandbox, "templates/Log.md"), LOG);
    sandbox.run(["validate", "--fix"]);
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), expected, "a second time changes nothing");
    assert_eq!(
        sandbox.run(["run", "Boat", "--var", "crew=Ana", "--var", "day=x"]).out,
        "Moor in Faro with Ana: Log of Ana."
    );
}

#[test]
fn names_and_declarations_are_fixed_where_that_is_asked_for() {
    let sandbox = untidy();
    assert_eq!(sandbox.run(["validate", "--fix=unsafe", "--strict"]).code, 0);
    let flow = text(&sandbox, "flows/Boat.flow.md");
    assert!(flow.contains("template: Log\n") && !flow.contains("day:") && !flow.contains("nobody reads it"), "{flow}");
    assert!(flow.contains("  # when\n  port: { default: Faro }\n"), "{flow}");
    assert_eq!(text(&sandbox, "templates/Log.md"), LOG.replace("[crew, mast]", "[crew]"));
}

#[test]
fn a_value_that_begins_with_a_placeholder_gets_its_quotation_marks() {
    let flow = "---\nname: Boat\nversion: 1.0.0\ninputs: [crew]\n---\n## Sail {#sail}\n```yaml\ncall: sea:sail\nargs:\n  who: {{ crew }}\n```\n";
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", format!("\u{FEFF}{flow}"));
    sandbox.run(["validate", "--fix"]);
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), flow.replace("{{ crew }}", "\"{{ crew }}\""));
    let within = flow.replace("  who: {{ crew }}", "  who: [{{ crew }}, {{ crew }}]\n  how: {a: {{ crew }}, b: 1}");
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", &within);
    sandbox.run(["validate", "--fix"]);
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), within.replace("{{ crew }}", "\"{{ crew }}\""));
    // Where quotation marks do not make it readable, nothing is changed.
    let lost = flow.replace("{{ crew }}", "{{ crew }}\n  : [");
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", &lost);
    sandbox.run(["validate", "--fix"]);
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), lost);
}

#[test]
fn front_matter_and_blocks_are_laid_out_and_comments_go_with_their_keys() {
    let sandbox = untidy();
    assert_eq!(sandbox.run(["fmt", "--check"]).code, 1);
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), UNTIDY, "only looked at");
    assert_eq!(sandbox.run(["fmt"]).code, 0);
    let flow = text(&sandbox, "flows/Boat.flow.md");
    assert!(flow.starts_with("---\n# where it goes\nname: Boat\nversion: \"1.2\"\ninputs:\n  crew"), "{flow}");
    assert!(flow.contains("  # when\n  day:\n"), "what stands within is not moved: {flow}");
    assert!(flow.contains("  port: { default: Faro }\nresults:\n  Log: moor\n---\n"), "{flow}");
    assert!(flow.contains("```yaml\ntemplate: log\nafter: nowhere\n```\n"), "{flow}");
    let (_, body) = flow.split_once("## Moor").unwrap();
    assert!(UNTIDY.ends_with(body));
    assert_eq!(
        text(&sandbox, "templates/Log.md"),
        LOG.replace("variables: [crew, mast]\ntitle: Log", "title: Log\nvariables: [crew, mast]")
    );
    assert_eq!(sandbox.run(["fmt", "--check"]).code, 0);
}

#[test]
fn what_convert_writes_is_laid_out() {
    let repository = crate::support::program::repository();
    let sandbox = Sandbox::new();
    let mut arguments = vec!["convert".to_owned()];
    for folder in ["flows", "templates"] {
        for entry in std::fs::read_dir(repository.join(folder)).unwrap().map(Result::unwrap) {
            if entry.path().extension().is_some_and(|ending| ending == "json") {
                arguments.push(entry.path().display().to_string());
            }
        }
    }
    arguments.extend(["--to", "markdown", "--out", ".", "--force"].map(str::to_owned));
    let said = sandbox.run(&arguments);
    assert_eq!(said.code, 0, "{said:?}");
    let said = sandbox.run(["fmt", "--check", "--json"]).json();
    assert_eq!(said["changed"], serde_json::json!([]), "{said:#}");
}

#[test]
fn a_file_that_can_not_be_laid_out_is_named_and_the_others_are() {
    let sandbox = untidy().file("flows/Open.flow.md", "---\nname: Open\n## Sail {#sail}\nSail.\n");
    let said = sandbox.run(["fmt", "--json"]);
    assert_eq!(said.code, 1);
    let told = said.json();
    assert_eq!(told["refused"][0]["file"], "flows/Open.flow.md", "{told:#}");
    assert_eq!(told["changed"].as_array().map(Vec::len), Some(2), "{told:#}");
}

#[test]
#[cfg(unix)]
fn a_folder_that_can_not_be_read_is_told_and_is_not_an_empty_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", BRIEF).file("flows/deep/Crew.flow.md", BRIEF);
    let folder = sandbox.here().join("flows/deep");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o000)).unwrap();
    let readable = std::fs::read_dir(&folder).is_ok();
    let said = sandbox.run(["fmt", "--check", "--json"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The superuser reads everything.
    if !readable {
        assert_eq!(said.code, 1);
        assert_eq!(said.json()["refused"][0]["file"], "flows/deep");
    }
}

#[test]
fn a_text_on_stdin_is_json_if_it_begins_with_a_brace_and_markdown_otherwise() {
    for (text, file) in
        [(BRIEF, "stdin.flow.md"), ("\u{FEFF}\n{\"nodes\": []}", "stdin.json"), ("Dear {name},\n# Hello", "stdin.md")]
    {
        let said = Sandbox::new().stdin(text).run(["validate", "-", "--json"]).json();
        assert_eq!(said["files"][0]["file"], file, "{said:#}");
    }
    let named = Sandbox::new().stdin("## Sail {#sail}\nSail.").run([
        "validate",
        "-",
        "--stdin-filename",
        "x.flow.md",
        "--json",
    ]);
    assert_eq!(named.json()["flows"], 1, "{}", named.out);
}

#[test]
fn no_fix_is_promised_that_is_not_made() {
    let flow = "---\nname: Boat\nversion: 1.0.0\ninputs: { crew: { default: Ana } }\nresults:\n  R: summary\n---\n\
                ## Sail {#sail}\nSail.\n## Moor {#moor}\n```yaml\nafter: [sail, nowhere]\nmap: { x: wherever }\n```\nMoor {x}.\n";
    let sandbox = Sandbox::new().file("flows/Boat.flow.md", flow);
    let told = sandbox.run(["validate"]).out;
    assert!(told.contains("\n`flowy validate --fix` mends 1 finding;"), "{told}");
    let told = sandbox.run(["validate", "--fix"]).out;
    assert!(!told.contains("--fix"), "{told}");
    assert_eq!(text(&sandbox, "flows/Boat.flow.md"), flow.replace("[sail, nowhere]", "[sail]"));
}
