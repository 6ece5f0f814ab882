//! Which catalog a command reads: that it says so, and that it never takes another one silently.

use serde_json::json;

use crate::support::program::Sandbox;

const FINE: &str = r#"{"metadata":{"name":"Fine","version":"1.0.0","description":"Says hello.","tags":["hello","house"]},
"nodes":[{"id":"in","type":"input","data":{"variables":["who"]}},{"id":"say","type":"template","data":{"label":"Say","template":"Hello {who}"}}],
"edges":[{"source":"in","target":"say"}]}"#;

#[test]
fn checking_where_there_is_no_catalog_is_refused_and_does_not_pass_on_the_examples() {
    let said = Sandbox::new().run(["validate"]);
    insta::assert_snapshot!("no-catalog-here", said.whole());
    let said = Sandbox::new().run(["validate", "--json"]);
    assert_eq!((said.code, &said.json()["code"]), (2, &json!("INVALID_REQUEST")));
}

#[test]
fn a_check_says_where_the_settings_name_another_source_than_the_catalog_here() {
    let catalog = || Sandbox::new().file("flows/Fine.json", FINE);
    let other = catalog().variable("GITHUB_REPO_URL", "acme/flows").run(["validate"]);
    assert!(other.code == 0 && other.err.contains("`flowy validate --source acme/flows` checks that one"), "{other:?}");
    for same in [catalog(), catalog().variable("GITHUB_REPO_URL", ".")] {
        assert_eq!(same.run(["validate"]).err, "");
    }
    assert_eq!(catalog().variable("GITHUB_REPO_URL", "acme/flows").run(["validate", "flows"]).err, "");
    // The other way round: what is executed comes from the settings, and the flow lies here.
    let elsewhere = || {
        catalog()
            .file("other/flows/Else.json", FINE.replace("\"Fine\"", "\"Else\""))
            .variable("GITHUB_REPO_URL", "./other")
    };
    let said = elsewhere().run(["run", "Fine", "--var", "who=you"]);
    assert!(
        said.code != 0 && said.err.contains("the catalog in the current folder has that flow: add --source ."),
        "{said:?}"
    );
    assert_eq!(elsewhere().run(["run", "Fine", "--var", "who=you", "--source", "."]).out, "Hello you");
    assert!(!elsewhere().run(["run", "../Fine"]).err.contains("add --source ."));
}

#[test]
fn many_findings_are_counted_by_rule() {
    let flow = |number: usize, version: &str| {
        FINE.replace("\"Fine\"", &format!("\"Fine{number}\"")).replace("1.0.0", version).replace("\"who\"", "\"whom\"")
    };
    let with = |versions: usize| {
        (0..12).fold(Sandbox::new(), |sandbox, number| {
            let version = if number < versions { "one" } else { "1.0.0" };
            sandbox.file(&format!("flows/Fine{number}.json"), flow(number, version))
        })
    };
    let said = with(12).run(["validate"]).out;
    let line = said.lines().find(|line| line.contains("12 bad-version")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains(", "), "{line}");
    assert!(!with(1).run(["validate", "flows/Fine0.json"]).out.contains("1 bad-version"));
}

#[test]
fn the_examples_are_checked_where_they_are_asked_for() {
    let said = Sandbox::new().run(["validate", "--source", "examples"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        said.out,
        "2 calls of external tools not looked up: --servers FILE names the servers\n\
         ok: 13 flows and 20 templates in 33 files of built-in examples, nothing found\n"
    );
    let json = Sandbox::new().run(["validate", "--source", "examples", "--json"]).json();
    assert_eq!((&json["catalogs"], &json["flows"]), (&json!(["built-in examples"]), &json!(13)));
}

#[test]
fn a_check_says_which_catalog_it_looked_at() {
    let catalog = Sandbox::new().file("flows/Fine.json", FINE).file("other/flows/Fine.json", FINE);
    let ok = |place: &str| format!("ok: 1 flow and 0 templates in 1 file of folder {place}, nothing found\n");
    assert_eq!(catalog.run(["validate"]).out, ok("[HERE]"));
    assert_eq!(catalog.run(["validate", "."]).out, ok("[HERE]"));
    assert_eq!(catalog.run(["validate", "flows/Fine.json"]).out, ok("[HERE]"));
    assert_eq!(catalog.run(["validate", "other"]).out, ok("[HERE]/other"));
    let both = catalog.run(["validate", "other", ".", "--json"]).json();
    assert_eq!(both["catalogs"].as_array().unwrap().len(), 2, "{both}");
    // The setting is what other commands read; the checker prefers what lies before the maintainer's eyes.
    let catalog = catalog.variable("GITHUB_REPO_URL", "acme/flows");
    assert_eq!(catalog.run(["validate"]).out, ok("[HERE]"));
    // A flag says it for this very command.
    assert_eq!(catalog.run(["validate", "--source", "other"]).out, ok("[HERE]/other"));
}

#[test]
fn an_example_that_strays_is_told_where_the_whole_catalog_is_checked() {
    let flow = |name: &str, description: &str, example: &str| {
        FINE.replace("\"Fine\"", &json!(name).to_string())
            .replace("\"Says hello.\"", &json!(description).to_string())
            .replace("\"tags\"", &format!("\n\"examples\":[{}],\n\"tags\"", json!(example)))
    };
    let mut catalog = Sandbox::new().file("flows/Poem.json", flow("Poem", "Writes a poem.", "harbour dues"));
    for name in ["Harbour_Dues", "Harbour_Dues_Abroad", "Harbour_Dues_Refund"] {
        let words = name.replace('_', " ");
        catalog = catalog.file(&format!("flows/{name}.json"), flow(name, &format!("Works out {words}."), &words));
    }
    let strays = |line: &[&str]| catalog.run(line).out.matches("warning[stray-example]").count();
    let said = catalog.run(["validate"]);
    assert_eq!((said.code, strays(&["validate"])), (0, 1), "{}", said.out);
    assert!(said.out.contains("flows/Poem.json:2:13") && said.out.contains("\"Harbour_Dues\" first"), "{}", said.out);
    assert_eq!((strays(&["validate", "."]), strays(&["validate", "flows"])), (1, 1));
    assert_eq!(strays(&["validate", "flows/Poem.json"]), 0);
}

#[test]
fn an_empty_catalog_is_a_warning() {
    let empty =
        Sandbox::new().file("flows/.gitkeep", "").file("templates/T.json", r#"{"template":"x","variables":[]}"#);
    let said = empty.run(["validate"]);
    insta::assert_snapshot!("empty-catalog-checked", said.whole());
    assert!(empty.run(["validate", "--quiet"]).out.contains("warning"));
    insta::assert_snapshot!("empty-catalog-listed", empty.run(["list"]).whole());
    let json = empty.run(["validate", "--json"]).json();
    assert_eq!((&json["flows"], &json["warnings"], &json["empty"]), (&json!(0), &json!(1), &json!(["folder [HERE]"])));
    assert_eq!(empty.run(["validate", "--strict"]).code, 1);
    // A part of a catalog may well hold no flow.
    assert!(!empty.run(["validate", "templates"]).out.contains("warning"));
}

#[test]
fn a_catalog_without_a_flow_names_both_forms_and_the_files_that_look_meant() {
    for (file, meant) in [("flows/A.yaml", "flows/A.json"), ("flow/A.flow.md", "flows/A.flow.md")] {
        let said = Sandbox::new().file("flows/.gitkeep", "").file(file, "x").run(["list"]).err;
        assert!(said.contains(".flow.md") && said.contains(".json"), "{said}");
        assert!(said.contains(file) && said.contains(&format!("as {meant}")), "{said}");
    }
    let both = Sandbox::new().file("flows/B.json", "{").file("flows/A.yaml", "x").run(["list", "--json"]).json();
    assert!(both["warnings"][0]["message"].as_str().unwrap().contains("flows/A.yaml"), "{both:#}");
    assert_eq!(both["errors"][0]["file"], "flows/B.json", "{both:#}");
}

#[test]
fn a_ref_of_a_catalog_that_has_none_is_said_to_be_ignored() {
    let catalog = Sandbox::new().file("flows/Fine.json", FINE);
    for line in [
        vec!["list"],
        vec!["show", "Fine"],
        vec!["run", "Fine", "--var", "who=you"],
        vec!["graph", "Fine"],
        vec!["schema", "Fine"],
        vec!["validate"],
    ] {
        let said = catalog.run(line.iter().copied().chain(["--ref", "v2"]));
        assert_eq!(said.code, 0, "{line:?}: {}", said.err);
        assert_eq!(
            said.err.matches("the ref \"v2\" is not used: there are no versions of folder [HERE]").count(),
            1,
            "{line:?}: {}",
            said.err
        );
        assert!(!catalog.run(&line).err.contains("v2"), "{line:?}");
    }
    for line in [vec!["list"], vec!["show", "Fine"], vec!["run", "Fine", "--var", "who=you"]] {
        let json = catalog.run(line.iter().copied().chain(["--ref", "v2", "--json"])).json();
        assert_eq!(json["warnings"][0]["code"], json!("REF_IGNORED"), "{line:?}: {json}");
    }
    let said = Sandbox::new().run(["list", "--ref", "v2", "--json"]).json();
    assert_eq!(said["warnings"][0]["code"], json!("REF_IGNORED"), "{said}");
}

#[test]
fn what_is_not_there_is_named_with_what_helps_and_without_the_systems_numbers() {
    let none = Sandbox::new();
    for (line, looked_for) in [
        (vec!["list", "--source", "/nonexistent"], "\"/nonexistent\" does not exist"),
        (vec!["list", "--source", "./gone"], "\"[HERE]/gone\" does not exist"),
        (vec!["validate", "--source", "./gone"], "\"[HERE]/gone\" does not exist"),
        (vec!["validate", "gone.json"], "gone.json: it does not exist"),
        (vec!["list", "--config", "gone.toml"], "gone.toml"),
        (vec!["run", "Marketing_Strategy", "--vars", "gone.json"], "gone.json can't be read"),
        (vec!["config", "claude-code", "--source", "./gone"], "there is no folder"),
    ] {
        let said = none.run(&line);
        assert_eq!(said.code, 2, "{line:?}: {}", said.err);
        assert!(said.err.contains(looked_for), "{line:?}: {}", said.err);
        assert!(!said.err.contains("os error"), "{line:?}: {}", said.err);
        assert!(said.err.contains("hint: "), "{line:?}: {}", said.err);
    }
}

#[test]
fn tags_that_fit_no_flow_name_those_that_would() {
    let said = Sandbox::new().run(["list", "--tag", "marketting"]);
    insta::assert_snapshot!("tag-misspelt", said.whole());
    // Each is there, and no flow has both; and one that is like none.
    let steps = [&["marketting"][..], &["marketing", "meeting"], &["zzzzzzzz"]].map(|tags| {
        let line = tags.iter().flat_map(|tag| ["--tag", *tag]);
        let json = Sandbox::new().run(["list", "--json"].into_iter().chain(line)).json();
        format!("{}: {}", tags.join(", "), json["nextStep"].as_str().unwrap())
    });
    insta::assert_snapshot!("tags-that-fit-nothing", steps.join("\n"));
}

#[test]
fn index_lines_show_tags() {
    for line in Sandbox::new().run(["list", "--mode", "index"]).out.lines() {
        let line = line.trim_end_matches(" (guided)");
        assert!(line.ends_with(']') && line.contains(" ["), "{line}");
    }
}

#[test]
fn a_default_is_of_the_type_that_its_input_has() {
    let flow = r#"{"metadata":{"name":"Typed","version":"1.0.0",
      "inputs":{"words":{"type":"number","enum":["80","90"]},"loud":{"type":"boolean"},"code":{"type":"string"}}},
      "nodes":[{"id":"in","type":"input","data":{"variables":[{"name":"words","default":"80"},{"name":"loud","default":"true"},{"name":"code","default":"007"}]}},
      {"id":"say","type":"template","data":{"label":"Say","template":"{words} {loud} {code}"}}],"edges":[{"source":"in","target":"say"}]}"#;
    let catalog = Sandbox::new().file("flows/Typed.json", flow);
    let schema = catalog.run(["schema", "Typed"]).json();
    assert_eq!(schema["properties"]["words"]["default"], json!(80), "{schema}");
    // Executing takes a number's text, too.
    assert_eq!(schema["properties"]["words"]["enum"], json!([80, 90, "80", "90"]));
    assert_eq!(schema["properties"]["loud"]["default"], json!(true));
    assert_eq!(schema["properties"]["code"]["default"], json!("007"));
    let shown = catalog.run(["show", "Typed", "--json"]).json();
    assert_eq!((&shown["inputs"][0]["default"], &shown["inputs"][2]["default"]), (&json!(80), &json!("007")));
    let listed = catalog.run(["list", "--mode", "detailed", "--json"]).json();
    assert_eq!(listed["flows"][0]["inputs"]["words"]["default"], json!(80));
    assert_eq!(catalog.run(["run", "Typed", "-q"]).out, "80 true 007");
}

#[test]
fn a_flow_with_errors_says_of_its_inputs_what_can_be_read_and_no_more() {
    let ring = |inputs: &str, nodes: &str| {
        format!(
            r#"{{"metadata":{{"name":"Ring","version":"1.0.0"{inputs}}},"nodes":[{nodes}
            {{"id":"a","type":"template","data":{{"label":"A","template":"{{topic}}"}}}},{{"id":"b","type":"template","data":{{"label":"B","template":"{{a_result}}"}}}}],
            "edges":[{{"source":"a","target":"b"}},{{"source":"b","target":"a"}}]}}"#
        )
    };
    let summary = |text: &str| {
        let catalog = Sandbox::new().file("flows/Ring.json", text);
        let listed = catalog.run(["list", "--json"]).json();
        let index = catalog.run(["list", "--mode", "index", "-q"]).out;
        let shown = catalog.run(["show", "Ring", "--json"]).json();
        assert_eq!(shown["executable"], json!(false));
        (
            listed["flows"][0]["inputSummary"].as_str().unwrap().to_owned(),
            index.trim().to_owned(),
            shown["inputs"].clone(),
        )
    };
    let refined = ring(r#","inputs":{"topic":{"type":"string"},"words":{"type":"number","default":80}}"#, "");
    let (text, index, shown) = summary(&refined);
    assert_eq!(text, "topic (string, required), words (number, optional)");
    assert_eq!(index, "Ring(topic, words?)");
    assert_eq!((&shown[0]["name"], &shown[1]["default"]), (&json!("topic"), &json!(80)), "{shown}");
    let (text, index, shown) = summary(&ring("", ""));
    assert_eq!(text, "Not known: the flow has errors");
    assert_eq!(index, "Ring(…)");
    assert_eq!(shown, json!([]));
}

#[test]
fn completions_are_a_script_and_not_json() {
    let said = Sandbox::new().run(["completions", "bash", "--json"]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("--json"), "{}", said.err);
}

#[test]
fn the_help_of_serve_offers_nothing_that_means_nothing_there() {
    let help = Sandbox::new().run(["serve", "--help"]).out;
    for flag in ["--json", "--color", "--quiet", "--refresh"] {
        assert!(!help.contains(flag), "{flag}: {help}");
    }
    assert!(help.contains("--source") && help.contains("--log-level"), "{help}");
    assert!(Sandbox::new().run(["list", "--help"]).out.contains("--json"));
}

#[cfg(unix)]
#[test]
fn what_is_written_for_a_client_is_its_owners_alone_and_has_plain_paths() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new().file("sub/flows/Fine.json", FINE);
    let line = [
        "config",
        "claude-desktop",
        "--source",
        "sub/../sub",
        "--cache-dir",
        "./x/../cache",
        "--state-dir",
        "../state",
        "--write",
    ];
    let said = sandbox.run(line);
    assert_eq!(said.code, 0, "{}", said.err);
    let file = sandbox.home().join(".config/Claude/claude_desktop_config.json");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("..") && !written.contains("/./"), "{written}");
    assert!(written.contains(&format!("\"{}\"", sandbox.here().join("sub").display())), "{written}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_flow_is_found_by_either_normal_form_of_its_letters_and_files_with_a_dot_are_none() {
    let within = r#"{"metadata":{"name":"Out","version":"1.0.0"},"edges":[],
"nodes":[{"id":"it","type":"flow","data":{"label":"It","flow":"Résumé","variables":{"who":"Kim"}}}]}"#;
    let catalog = Sandbox::new()
        .file("flows/Re\u{301}sume\u{301}.json", FINE)
        .file("flows/Out.json", within)
        .file("flows/._Out.json", "\u{0}")
        .file("flows/.Draft.json", FINE);
    for arguments in [
        &["run", "R\u{E9}sum\u{E9}", "--var", "who=Kim"][..],
        &["run", "Re\u{301}sume\u{301}", "--var", "who=Kim"],
        &["run", "Out"],
    ] {
        let said = catalog.run(arguments.iter().copied().chain(["--source", ".", "--json"]));
        assert_eq!((said.code, &said.json()["finalResult"]), (0, &json!("Hello Kim")), "{arguments:?} {}", said.err);
    }
    let listed = catalog.run(["list", "--source", ".", "--json"]).json();
    assert_eq!((listed["flows"].as_array().unwrap().len(), &listed["errors"]), (2, &json!([])), "{listed}");
}
