//! `flowy import`: prompts of other programs become flows that run, and what can't be carried is named.

use serde_json::{Value, json};

use crate::support::program::Sandbox;

fn lost(said: &Value) -> Vec<&str> {
    said["parts"][0]["lost"].as_array().unwrap().iter().map(|lost| lost.as_str().unwrap()).collect()
}

#[test]
fn a_slash_command_fills_its_arguments_and_names_what_only_its_client_does() {
    let command = "---\ndescription: Fix an issue: by number\nargument-hint: [number] [priority]\nmodel: opus\n---\n\
        Fix #$1 with \"$2\".\r\n\r\nStatus: !`git status`\nRead @src/main.rs, write to me@example.com.\n\
        It costs $1.50, \\$1 or {price}.\n\n## Steps {#x}\n\nDo $ARGUMENTS\n";
    let sandbox = Sandbox::new().file(".claude/commands/fix.md", command);
    let said = sandbox.run(["import", "claude-command", ".claude/commands/fix.md", "--json"]).json();
    assert_eq!(said["parts"][0]["to"], "flows/fix.flow.md");
    assert_eq!(
        lost(&said),
        [
            "front matter: \"model\"",
            "line 8: a command that the client runs: \"!`git status`\", left in the text",
            "line 9: a file that the client reads in: \"@src/main.rs\", left in the text",
        ]
    );
    assert_eq!(sandbox.run(["validate", "--strict"]).code, 0);
    let values = ["--var", "argument_1=7", "--var", "argument_2=high", "--var", "arguments=it"];
    let said = sandbox.run([&["run", "fix"][..], &values].concat());
    assert_eq!(
        said.out,
        "Fix #7 with \"high\".\n\nStatus: !`git status`\nRead @src/main.rs, write to me@example.com.\n\
         It costs $1.50, $1 or {price}.\n\n## Steps {#x}\n\nDo it",
        "{}",
        said.err
    );
    let shown = sandbox.run(["show", "fix", "--json"]).json();
    assert_eq!(shown["description"], "Fix an issue: by number");
    assert_eq!(shown["inputs"][2]["description"], "[number] [priority]");
}

#[test]
fn a_prompty_file_keeps_its_inputs_defaults_and_samples() {
    let prompty = "---\nname: Ask\ndescription: Answers.\nauthors: [ann, bo]\ntags: [qa]\nmodel:\n  api: chat\ninputs:\n  \
        who:\n    type: string\n    default: Jane\n  question: What is it?\n  customer:\n    type: object\nsample:\n  who: Al\n---\n\
        system:\nYou help {{ customer.name | title }}.\n\n{% for d in docs %}\n{{d.id}}\n{% endfor %}\n{# not sent #}\nuser:\n\
        {{question}} asks {{-who-}}\n";
    let sandbox = Sandbox::new().file("ask.prompty", prompty);
    let said = sandbox.run(["import", "prompty", "ask.prompty", "--out", "to", "--json"]).json();
    assert_eq!(said["parts"][0]["to"], "flows/Ask.flow.md");
    assert_eq!(
        lost(&said),
        [
            "front matter: \"model\"",
            "the roles system, user: their texts are one text",
            "line 19: the filter \"title\"",
            "line 21: a statement \"{% for d in docs %}\", left in the text",
            "line 22: a value of a loop \"{{d.id}}\", left in the text",
            "line 23: a statement \"{% endfor %}\", left in the text",
        ]
    );
    let values = ["--set", "sample", "--var-json", r#"customer={"name":"Bo"}"#];
    let said = sandbox.run([&["run", "Ask", "--source", "to"][..], &values].concat());
    let expected = "You help Bo.\n\n{% for d in docs %}\n{{d.id}}\n{% endfor %}\n\nWhat is it? asks Al";
    assert_eq!(said.out, expected, "{}", said.err);
    let shown = sandbox.run(["show", "Ask", "--source", "to", "--json"]).json();
    assert_eq!((&shown["author"], &shown["tags"]), (&json!("ann, bo"), &json!(["qa"])));
}

#[test]
fn a_skill_is_named_after_itself_or_its_folder_and_its_other_files_are_named() {
    let skill = "---\nname: pdf\ndescription: \"Forms: read them.\"\nlicense: MIT\n---\n# PDF\n\n```bash\nfill.py $1 ${HOME}\n```\n";
    let sandbox = Sandbox::new()
        .file("skills/forms/SKILL.md", skill)
        .file("skills/forms/fill.py", "")
        .file("skills/plain/SKILL.md", "Read ${CLAUDE_SKILL_DIR}/x and say $ARGUMENTS.");
    let said = sandbox.run(["import", "skill", "skills/forms", "skills/plain/SKILL.md", "--json"]).json();
    assert_eq!(lost(&said), ["front matter: \"license\"", "beside it: \"fill.py\""]);
    assert_eq!(said["parts"][1]["to"], "flows/plain.flow.md");
    assert_eq!(sandbox.run(["validate", "--strict"]).code, 0);
    assert_eq!(sandbox.run(["run", "pdf"]).out, "# PDF\n\n```bash\nfill.py $1 ${HOME}\n```");
    assert_eq!(sandbox.run(["run", "plain", "--var", "arguments=hi"]).out, "Read ${CLAUDE_SKILL_DIR}/x and say hi.");
}

#[test]
fn nothing_is_overwritten_and_no_name_is_given_twice() {
    let sandbox = Sandbox::new()
        .file("one.md", "Say $ARGUMENTS.")
        .file("two.md", "---\nname: one\n---\nSay it.")
        .file("flows/Tea.flow.md", "## Brew {#brew}\n\nBrew.\n");
    assert_eq!(sandbox.run(["import", "claude-command", "one.md"]).code, 0);
    let before = std::fs::read(sandbox.here().join("flows/one.flow.md")).unwrap();
    for again in ["one.md", "two.md"] {
        let said = sandbox.run(["import", "claude-command", again, "--json"]);
        assert_eq!((said.code, said.json()["code"].as_str()), (1, Some("AMBIGUOUS_NAME")), "{}", said.out);
    }
    assert_eq!(std::fs::read(sandbox.here().join("flows/one.flow.md")).unwrap(), before);
    assert_eq!(std::fs::read_dir(sandbox.here().join("flows")).unwrap().count(), 2);
}

#[test]
fn front_matter_that_is_no_yaml_as_a_whole_is_read_line_by_line() {
    let command = "---\ndescription: Deploy: now\nargument-hint: [env] [tag]\narguments: [env, tag]\n---\n\
        Deploy $env with $tag.\n";
    let several = "---\nname: Two: lines\narguments:\n  - env\n  - tag\n---\nDeploy $env with $tag.\n";
    for text in [command, several] {
        let sandbox = Sandbox::new().file("deploy.md", text);
        let said = sandbox.run(["import", "claude-command", "deploy.md", "--json"]).json();
        assert_eq!(lost(&said), [""; 0], "{said:#}");
        let flow = said["parts"][0]["to"].as_str().unwrap().replace("flows/", "").replace(".flow.md", "");
        let shown = sandbox.run(["show", &flow, "--json"]).json();
        let names: Vec<&Value> = shown["inputs"].as_array().unwrap().iter().map(|input| &input["name"]).collect();
        assert_eq!(names, ["env", "tag"], "{shown:#}");
    }
}

#[test]
fn a_folder_without_a_skill_names_the_file_that_is_missing() {
    let sandbox = Sandbox::new().file("skills/forms/README.md", "x");
    let said = sandbox.run(["import", "skill", "skills/forms"]);
    assert_eq!((said.code, said.err.contains("skills/forms/SKILL.md")), (2, true), "{}", said.err);
}
