//! Which catalog counts, and the one that is built in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flowy::internals::app::EXAMPLES;

use crate::support::github::GitHub;
use crate::support::mcp::Program;
use crate::support::program::{Sandbox, repository};

const FLOW: &str = r#"{"metadata":{"name":"Mine","version":"1.0.0"},"nodes":[{"id":"a","type":"template","data":{"template":"mine"}}],"edges":[]}"#;

#[test]
fn the_current_folder_counts_if_it_has_flows_and_the_examples_stand_in_otherwise() {
    let said = Sandbox::new().run(["list", "--mode", "index"]);
    assert_eq!(said.out.lines().count(), 13);
    let mine = Sandbox::new().file("flows/Mine.json", FLOW);
    let said = mine.run(["list"]);
    assert!(said.out.starts_with("Mine\t") && said.out.lines().count() == 1, "{}", said.out);
    assert_eq!(mine.run(["run", "Mine", "-q"]).out, "mine");
}

#[test]
fn a_folder_can_be_named_by_flag_variable_or_settings_file() {
    let at = || Sandbox::new().file("else/flows/Mine.json", FLOW);
    for (sandbox, line) in [
        (at(), vec!["list", "--source", "else"]),
        (at(), vec!["list", "--source", "./else"]),
        (at().variable("GITHUB_REPO_URL", "./else"), vec!["list"]),
        (at().file("flowy.toml", "source = \"./else\"\n"), vec!["list"]),
    ] {
        let said = sandbox.run(&line);
        assert!(said.out.starts_with("Mine\t"), "{line:?}: {} {}", said.out, said.err);
    }
}

#[test]
fn of_a_settings_file_at_a_catalogs_root_nothing_but_what_a_check_leaves_unsaid_is_read() {
    let stranger = || Sandbox::new().file("else/flows/Mine.json", FLOW);
    for settings in ["source = \"./else\"\n", "ref = \"main\"\n", "lenient = true\n", "log_level = \"debug\"\n"] {
        for (sandbox, source) in
            [(stranger().file("flows/Mine.json", FLOW), None), (stranger().file("templates/T.json", FLOW), Some("."))]
        {
            let sandbox = sandbox.file("flowy.toml", settings);
            let line: Vec<&str> =
                ["list"].into_iter().chain(source.into_iter().flat_map(|it| ["--source", it])).collect();
            let said = sandbox.run(line);
            assert_eq!((said.code, said.out.as_str()), (2, ""), "{settings}{}", said.err);
            assert!(said.err.contains("in [HERE]/flowy.toml:1 is not allowed in a file in a catalog's folder"));
            assert!(said.err.contains("put it into [HOME]/.config/flowy/flowy.toml"), "{}", said.err);
            assert_eq!(sandbox.run(["list", "--source", ".", "--config", "flowy.toml"]).code, 0);
        }
    }
    let checked = stranger().file("flows/Mine.json", FLOW).file("flowy.toml", "[validate]\nignore = []\n");
    assert_eq!(checked.run(["validate"]).code, 0);
}

#[test]
fn the_built_in_examples_are_the_catalog_of_this_repository() {
    fn collect(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                let relative = path.strip_prefix(repository()).unwrap();
                found.insert(relative.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let mut files = BTreeSet::new();
    for folder in ["contracts", "flows", "personas", "templates"] {
        collect(&repository().join(folder), &mut files);
    }
    let built_in: BTreeSet<String> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(built_in, files);
    for (path, bytes) in EXAMPLES {
        assert_eq!(fs::read(repository().join(path)).unwrap(), *bytes, "{path}");
    }
}

#[test]
fn every_example_flow_shows_draws_and_rehearses() {
    let all = Sandbox::new().run(["list", "--json"]).json();
    for flow in all["flows"].as_array().unwrap() {
        let name = flow["name"].as_str().unwrap();
        for line in [vec!["show", name], vec!["graph", name], vec!["schema", name], vec!["run", name, "--dry-run"]] {
            let said = Sandbox::new().run(&line);
            // Its tools are on a server that nobody configured here.
            let fails = line == ["run", "Folder_Review", "--dry-run"];
            assert_eq!(said.code, i32::from(fails), "{line:?}: {}", said.err);
            assert!(!said.out.is_empty());
        }
    }
}

#[test]
fn examples_that_nobody_asked_for_are_called_so_in_listings_and_in_the_log() {
    for (variables, warned) in [(&[][..], true), (&[("GITHUB_REPO_URL", "examples")][..], false)] {
        let mut served = Program::serving(variables);
        served.shake_hands("2025-11-25");
        for name in ["flows_list", "flows/list"] {
            let answer = served.request(2, "tools/call", &serde_json::json!({"name": name, "arguments": {}}));
            let warnings = &answer["result"]["structuredContent"]["warnings"];
            let codes: Vec<&str> =
                warnings.as_array().into_iter().flatten().filter_map(|warning| warning["code"].as_str()).collect();
            assert_eq!(codes.contains(&"EXAMPLES"), warned, "{name}: {warnings}");
        }
        served.close_input();
        let (_, _, log) = served.end();
        assert_eq!(log.contains("GITHUB_REPO_URL"), warned, "{log}");
    }
}

#[test]
fn there_is_no_flow_yet_only_where_no_file_could_be_one() {
    let next = |sandbox: Sandbox| {
        let listed = sandbox.run(["list", "--json"]).json();
        (listed["nextStep"].as_str().unwrap_or_default().to_owned(), listed["errors"].as_array().unwrap().len())
    };
    let (empty, none) = next(Sandbox::new().file("flows/README.md", "none"));
    insta::assert_snapshot!("no-flow-yet", empty);
    assert_eq!(none, 0);
    let (broken, one) = next(Sandbox::new().file("flows/Mine.json", "version https://git-lfs.github.com/spec/v1\n"));
    assert!(broken != empty && one == 1, "{broken}");
    assert_eq!(next(Sandbox::new().file("flows/Mine.json", FLOW)).0, "");
}

#[test]
fn a_file_that_says_what_its_folder_is_is_told_how_to_be_called() {
    let about = "{\"displayName\": \"Sea\"}";
    let sandbox = Sandbox::new()
        .file("flows/Mine.json", FLOW)
        .file("flows/sea/_category.json", about)
        .file("flows/sky/_Category.json", about)
        .file("flows/sky/_category.flow.md", "---\ndisplayName: Sky\n---\n");
    let said = sandbox.run(["validate"]).out;
    assert!(!said.contains("sea/_category.json"), "{said}");
    assert!(
        said.contains("flows/sky/_Category.json:1:1") && said.contains("has to be called _category.json"),
        "{said}"
    );
    assert!(said.contains("flows/sky/_category.flow.md:"), "{said}");
}

#[test]
fn files_that_are_not_read_are_told_where_flows_are_listed_and_where_one_is_asked_for() {
    let sandbox = Sandbox::new()
        .file("flows/Mine.json", FLOW)
        .file("flow/Yours.json", FLOW)
        .file("flows/Theirs.yaml", "name: Theirs\n")
        .file("flows/Ours.md", "---\nname: Ours\n---\n\n## A {#a}\n\nHi\n");
    let listed = sandbox.run(["list", "--json"]).json();
    let warnings = listed["warnings"].as_array().unwrap();
    assert_eq!((warnings.len(), &warnings[0]["code"]), (1, &serde_json::json!("MISPLACED_FILE")), "{listed}");
    let said = sandbox.run(["list"]);
    assert_eq!(said.code, 0);
    for (path, meant) in [
        ("flow/Yours.json", "flows/Yours.json"),
        ("flows/Theirs.yaml", "flows/Theirs.json"),
        ("flows/Ours.md", "flows/Ours.flow.md"),
    ] {
        let told = format!("{path} (it would be read as {meant})");
        assert!(warnings[0]["message"].as_str().unwrap().contains(&told), "{warnings:?}");
        assert!(said.err.contains(&told), "{}", said.err);
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        let error = sandbox.run(["show", name, "--json"]).json();
        assert_eq!(error["code"], "FLOW_NOT_FOUND");
        assert!(
            error["nextStep"].as_str().unwrap().contains(&format!("{path} is not read; it would be read as {meant}"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_github_too_a_flow_without_its_ending_is_told_to_who_asks_for_it() {
    let files =
        [("flows/Mine.json", FLOW), ("flows/Ours.md", "Hi"), ("flows/README.md", "Hi"), ("flow/Yours.json", FLOW)];
    let github = GitHub::serving(files).await;
    let sandbox = Sandbox::new().variable("GITHUB_REPO_URL", "acme/flows").variable("GITHUB_API_URL", &github.url());
    let sandbox = sandbox.variable("GITHUB_PAT", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB");
    // What the file holds is not known, and nobody asked for it.
    let listed = sandbox.run(["list", "--json"]).json();
    let warnings = listed["warnings"].as_array().unwrap();
    let message = warnings[0]["message"].as_str().unwrap();
    assert!(warnings.len() == 1 && message.contains("flow/Yours.json") && !message.contains("Ours.md"), "{warnings:?}");
    let error = sandbox.run(["show", "Ours", "--json"]).json();
    let next = error["nextStep"].as_str().unwrap();
    assert!(next.contains("flows/Ours.md is not read; it would be read as flows/Ours.flow.md"), "{error}");
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_is_not_told_as_missing() {
    let looped = |sandbox: &Sandbox, path: &str| {
        let name = path.rsplit('/').next().unwrap();
        std::os::unix::fs::symlink(name, sandbox.here().join(path)).unwrap();
    };
    let sandbox = Sandbox::new().file("flows/Mine.json", FLOW);
    looped(&sandbox, "flows/more");
    for command in ["show", "run", "graph", "guide"] {
        let said = sandbox.run([command, "Yours"]);
        assert!(said.code != 0 && said.err.contains("flows/more"), "{command}: {}", said.err);
        assert!(!said.err.contains("FLOW_NOT_FOUND") && said.err.contains("\"Yours\" may be in it"), "{}", said.err);
    }
    assert_eq!(sandbox.run(["show", "Mine"]).code, 0);
    let sandbox = Sandbox::new();
    looped(&sandbox, "flows");
    for arguments in [&["list", "--source", "."][..], &["list", "--source", ".", "--json"]] {
        assert_eq!(sandbox.run(arguments).code, 1);
    }
}
