//! `flowy guide`: the steps of a guided execution, done at the terminal, by a program or from a pipe.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::program::{Said, Sandbox};

const REPORT: &str = "---
name: Report
version: 1.0.0
inputs:
  topic: { description: What about }
---

## Facts {#facts}

Facts about {topic}?

## Write {#write}

```yaml
persona: writer
contract: { type: object, required: [title], properties: { title: { type: string } } }
```

Write from {facts_result}.

## Check {#check}

```yaml
optional: true
```

Check {write_result.title}.

## Close {#close}

Close {write_result.title}.
";

fn catalog() -> Sandbox {
    Sandbox::new()
        .file("flows/Report.flow.md", REPORT)
        .file("personas/writer.md", "---\nname: writer\n---\nYou write.\n")
}

/// A program of the sandbox's folder, by its whole path.
fn program(sandbox: &Sandbox, name: &str, text: &str) -> String {
    let path = sandbox.here().join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

/// One that answers with JSON where a schema is asked for, else with what it was asked.
const ECHOES: &str = "text=$(/bin/cat)\necho \"$1: $text\" >> seen\n\
                      case \"$text\" in *schema*) echo '{\"title\": \"Hot\"}';; Check*) ;; *) echo \"<$text>\";; esac";

/// The id with which one goes on, as it was said.
fn id_of(said: &Said) -> String {
    let (_, rest) = said.err.split_once("--resume ").unwrap_or_else(|| panic!("{}", said.err));
    rest.split_whitespace().next().unwrap().to_owned()
}

fn states(sandbox: &Sandbox) -> Vec<Value> {
    let list = sandbox.run(["executions", "list", "--json"]).json();
    list["executions"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect()
}

#[test]
fn a_program_answers_every_step_without_a_shell_and_the_final_result_goes_to_stdout() {
    let sandbox = catalog();
    let with = format!("{} 'one; two'", program(&sandbox, "answers", ECHOES));
    let said = sandbox.run(["guide", "Report", "--var", "topic=tea", "--with", &with]);
    assert_eq!((said.code, said.out.as_str()), (0, "<Close Hot.>"), "{}", said.err);
    let seen = std::fs::read_to_string(sandbox.here().join("seen")).unwrap();
    assert!(seen.starts_with("one; two: Facts about tea?\n"), "{seen}");
    assert!(seen.contains("one; two: You write.\n\nWrite from <Facts about tea?>.\n\nAnswer with JSON"), "{seen}");
    for told in
        ["1 of 4 · Facts", "2 of 4 · Write · as writer", "You write.", "\"required\": [", "optional", "1 skipped"]
    {
        assert!(said.err.contains(told), "{told}: {}", said.err);
    }
    let json = sandbox.run(["guide", "Report", "--var", "topic=tea", "--with", &with, "--json"]);
    let json = json.json();
    assert_eq!((&json["state"], &json["finalResult"]), (&json!("completed"), &json!("<Close Hot.>")));
    assert_eq!(states(&sandbox), ["completed", "completed"]);
}

#[test]
fn a_program_that_breaks_the_contract_is_told_why_and_asked_no_more_often_than_the_flow_allows() {
    let sandbox = catalog();
    let learns = "text=$(/bin/cat)\ncase \"$text\" in *refused*title*) echo '{\"title\": \"At last\"}';; *) echo '{\"none\": 1}';; esac";
    let with = program(&sandbox, "learns", learns);
    let vars = ["guide", "Report", "--var", "topic=tea", "--with"];
    let said = sandbox.run(vars.iter().copied().chain([with.as_str()]));
    // The usual contract wants a summary or a result of the first step.
    assert_eq!(said.code, 1, "{}", said.err);
    assert_eq!(said.err.matches("CONTRACT_VIOLATION").count(), 5, "{}", said.err);
    let better = "case \"$(/bin/cat)\" in *refused*title*) echo '{\"title\": \"At last\"}';; *) echo '\"fine\"';; esac";
    let with = program(&sandbox, "better", better);
    let said = sandbox.run(vars.iter().copied().chain([with.as_str()]));
    assert_eq!((said.code, said.out.as_str()), (0, "\"fine\""), "{}", said.err);
    assert_eq!(said.err.matches("CONTRACT_VIOLATION").count(), 1, "{}", said.err);
}

#[test]
fn a_program_that_fails_leaves_the_step_open() {
    let sandbox = catalog();
    let fails = program(&sandbox, "fails", "exit 3");
    let bytes = program(&sandbox, "bytes", "printf '\\377'");
    for (with, code, told) in [
        (fails.as_str(), 1, "did not answer"),
        (bytes.as_str(), 1, "not UTF-8"),
        ("/no/such/program", 2, "can't be started"),
    ] {
        let said = sandbox.run(["guide", "Report", "--var", "topic=tea", "--with", with]);
        assert_eq!((said.code, said.err.contains(told)), (code, true), "{}", said.err);
        assert!(id_of(&said).starts_with("Report_"), "{}", said.err);
    }
    assert_eq!(states(&sandbox), ["running", "running", "running"]);
    for wrong in ["'open", "  ", "''"] {
        let said = sandbox.run(["guide", "Report", "--var", "topic=tea", "--with", wrong]);
        assert_eq!(said.code, 2, "{wrong}: {}", said.err);
    }
    assert_eq!(states(&sandbox).len(), 3, "nothing begins without an answer");
}

#[test]
fn stdin_answers_step_after_step_and_another_call_goes_on_where_it_ended() {
    let sandbox = catalog().stdin("Tea is hot.\nVery.\n.\n{\"name\": 1}\n.\n{\"title\": \"Hot\"}\n.\n.\nFine.");
    let said = sandbox.run(["guide", "Report", "--var", "topic=tea"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Fine."), "{}", said.err);
    assert!(said.err.contains("Write from Tea is hot.\nVery.."), "{}", said.err);
    assert_eq!(said.err.matches("CONTRACT_VIOLATION").count(), 1, "{}", said.err);

    let sandbox = sandbox.stdin("Tea is hot.\n");
    let said = sandbox.run(["guide", "Report", "--var", "topic=tea", "--json"]);
    let stands = said.json();
    assert_eq!((said.code, &stands["state"], &stands["currentStep"]), (1, &json!("running"), &json!("write")));
    let id = id_of(&said);
    let end = id.rsplit('_').next().unwrap().to_owned();
    let sandbox = sandbox.stdin("{\"title\": \"Hot\"}\n.\n\n.\n");
    let said = sandbox.run(["guide", "--resume", &end]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    let sandbox = sandbox.stdin("Fine.");
    let said = sandbox.run(["guide", "--resume", &id]);
    assert_eq!((said.code, said.out.as_str()), (0, "Fine."), "{}", said.err);
    // What has ended says so again, and asks nobody.
    let sandbox = sandbox.stdin("");
    let again = sandbox.run(["guide", "--resume", &id]);
    assert_eq!((again.code, again.out.as_str()), (0, "Fine."), "{}", again.err);
    let late = sandbox.run(["executions", "cancel", &id]);
    assert!(late.err.contains(&format!("hint: `flowy executions show {id}` shows its result")), "{}", late.err);
}

#[test]
fn without_an_answer_or_a_value_the_program_says_so_and_ends() {
    let sandbox = catalog();
    let said = sandbox.run(["guide", "Report", "--var", "topic=tea"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert!(said.err.contains("1 of 4 · Facts") && said.err.contains("has no answer yet"), "{}", said.err);
    let said = sandbox.run(["guide", "Report"]);
    assert!(said.code == 1 && said.err.contains("flowy guide Report --var topic=…"), "{}", said.err);
    assert_eq!(sandbox.run(["guide"]).code, 2);
    assert_eq!(sandbox.run(["guide", "Nothing"]).code, 1);
    assert_eq!(sandbox.run(["guide", "--resume", "Report_1_000000"]).code, 1);
    // A terminal on which the steps can't be seen.
    let (code, screen) = sandbox.typing(80, ["guide", "Report", "--quiet", "--var", "topic=tea"], Some("tea\n"));
    assert!(code == 2 && screen.contains("nobody can answer"), "{code} {screen}");
    let direct = sandbox.run(["run", "Report", "--var", "topic=tea", "--json"]);
    assert_eq!(direct.code, 1, "{}", direct.err);
}

#[test]
fn a_person_answers_on_the_terminal_or_in_an_editor_and_may_try_again() {
    let sandbox = catalog();
    let typed = "tea\nTea is hot.\n.\nno JSON\n.\n{\"title\": \"Hot\"}\n.\n.\nFine.\n.\n";
    let (code, screen) = sandbox.typing(80, ["guide", "Report", "--color", "never"], Some(typed));
    assert_eq!(code, 0, "{screen}");
    for told in ["topic (What about): ", "CONTRACT_VIOLATION", "Close Hot.", "completed: 3 done · 1 skipped"] {
        assert!(screen.contains(told), "{told}: {screen}");
    }
    // What was typed before the program began stands in the way of its first line.
    let (_, shown) = screen.split_once("1 of 4").unwrap();
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{screen}");
    // Ctrl-D leaves the rest for another day, and so does an empty answer.
    for leaving in ["\u{4}", ".\n"] {
        let (code, screen) = sandbox.typing(80, ["guide", "Report", "--var", "topic=tea"], Some(leaving));
        assert!(code == 1 && screen.contains("flowy guide --resume"), "{code} {screen}");
    }
    let editor = program(
        &sandbox,
        "editor",
        "draft=$(/bin/cat \"$2\")\ncase \"$draft\" in *refused*) answer='{\"title\": \"Hot\"}';; *schema*) answer='none';; \
         *) answer=\"$1\";; esac\n(echo \"$answer\"; echo \"$draft\" | /bin/sed -n '/^-----/,$p') > \"$2\"",
    );
    let sandbox = sandbox.variable("EDITOR", &format!("{editor} edited")).variable("TMPDIR", "/tmp");
    let (code, screen) = sandbox.typing(80, ["guide", "Report", "--color", "never", "--var", "topic=tea"], Some(""));
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Write from edited.") && screen.contains("\nedited\n"), "{screen}");
    // A draft that comes back as it was, refused, is no new try.
    let stubborn = program(&sandbox, "stubborn", "test -n \"$(/bin/sed -n '/^bad$/p' \"$1\")\" || echo bad > \"$1\"");
    let sandbox = sandbox.variable("VISUAL", &stubborn);
    let (code, screen) = sandbox.typing(80, ["guide", "Report", "--color", "never", "--var", "topic=tea"], Some(""));
    assert_eq!((code, screen.matches("CONTRACT_VIOLATION").count()), (1, 1), "{screen}");
}

#[test]
fn a_question_is_asked_at_the_terminal_and_a_pipe_is_told_that_a_person_is_needed() {
    let flow = json!({
        "metadata": {"name": "Ask", "version": "1.0.0"},
        "nodes": [
            {"id": "get", "type": "tool", "data": {"call": "gone:get"}},
            {"id": "say", "type": "template", "data": {"template": "Say {get_result}."}},
        ],
        "edges": [{"source": "get", "target": "say"}],
    });
    let servers = json!({"mcpServers": {"gone": {"command": "/no/such/program", "allow": "*"}}});
    let sandbox = Sandbox::new().file("flows/Ask.json", flow.to_string()).file("servers.json", servers.to_string());
    let sandbox = sandbox.stdin("Never read.");
    let said = sandbox.run(["guide", "Ask", "--servers", "servers.json"]);
    assert!(said.code == 1 && said.err.contains("could not be reached"), "{}", said.err);
    let id = id_of(&said);
    let typed = "perhaps\n{\"result\": \"it by hand\"}\nDone.\n.\n";
    let resumed = ["guide", "--resume", &id, "--servers", "servers.json", "--color", "never"];
    let (code, screen) = sandbox.typing(80, resumed, Some(typed));
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Say it by hand.") && screen.contains("\nDone.\n"), "{screen}");
}
