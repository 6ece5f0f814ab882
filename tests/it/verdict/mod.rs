//! One verdict: whoever asks about a bad catalog, by whichever command, tool or prompt, and wherever the
//! catalog lies, is told the same code, the same files to fix and the same hint.

mod catalogs;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::support::github::{Fault, GitHub, TOKEN};
use crate::support::mcp::Bench;
use crate::support::program::Sandbox;
use catalogs::{Asked, Bad, LARGEST, Part, Places, bad_catalogs};

/// What is wrong, for whoever has to fix it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Verdict {
    code: String,
    files: BTreeSet<String>,
    hint: String,
}

/// Every verdict in an answer: whatever object has a code and says how to fix it, in its own fields or
/// in its `details`.
fn verdicts(answer: &Value) -> Vec<Verdict> {
    let mut found = Vec::new();
    match answer {
        Value::Object(object) => {
            let field = |key: &str| object.get(key).or_else(|| object.get("details")?.get(key));
            let hints = field("hints").and_then(Value::as_array).map(|hints| texts(hints).join("; "));
            let hint = hints.or_else(|| Some(field("hint")?.as_str()?.to_owned()));
            if let (Some(code), Some(hint)) = (object.get("code").and_then(Value::as_str), hint) {
                let files = field("files").and_then(Value::as_array).map(|files| texts(files));
                let files = files.or_else(|| Some(vec![field("file")?.as_str()?.to_owned()])).unwrap_or_default();
                found.push(Verdict { code: code.to_owned(), files: files.into_iter().collect(), hint });
            }
            found.extend(object.values().flat_map(verdicts));
        }
        Value::Array(items) => found.extend(items.iter().flat_map(verdicts)),
        _ => {}
    }
    found
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// What each way of asking answers, by its name.
type Answers = BTreeMap<&'static str, Value>;

/// Asks by every command that the catalog's row names.
fn commands(bad: &Bad, sandbox: &Sandbox) -> Answers {
    let mut answers = Answers::new();
    let mut ask = |name: &'static str, line: &[&str]| {
        let said = sandbox.run(line);
        assert!(said.code <= 3, "{}: {name}: {}", bad.name, said.err);
        answers.insert(name, said.json());
    };
    ask("validate", &["validate", "--json"]);
    ask("list", &["list", "--json"]);
    if bad.asked.shows() {
        ask("show", &["show", bad.flow, "--json"]);
    }
    if bad.asked.runs() {
        ask("run", &["run", bad.flow, "--json"]);
    }
    answers
}

/// Asks by every tool and prompt that the catalog's row names.
async fn tools(bad: &Bad, bench: &Bench) -> Answers {
    let mut session = bench.session().await;
    let mut answers = Answers::new();
    let named = json!({"flowName": bad.flow});
    let mut asked: Vec<(&'static str, Value)> = vec![("flows_list", json!({}))];
    if bad.asked.shows() {
        asked.push(("flows_show", json!({"name": bad.flow})));
    }
    if bad.asked.begins() {
        asked.push(("flows_begin", named.clone()));
    }
    if bad.asked.runs() {
        asked.push(("flows_execute", named));
    }
    for (tool, arguments) in asked {
        answers.insert(tool, session.call(tool, arguments).await["structuredContent"].clone());
    }
    if bad.asked.runs() {
        let answer = session.request("prompts/get", json!({"name": bad.flow})).await;
        answers.insert("prompts/get", answer);
    }
    answers
}

async fn in_a_folder(bad: &Bad) -> Answers {
    let files = || bad.files.iter().filter_map(|(path, part)| Some((path.clone(), part.bytes()?)));
    let sandbox = files()
        .fold(Sandbox::new().variable("MAX_FILE_SIZE", &LARGEST.to_string()), |sandbox, (path, bytes)| {
            sandbox.file(&path, bytes)
        });
    let bench = Bench::folder(files()).with(|settings| settings.max_file_size = LARGEST as u64);
    for (path, part) in &bad.files {
        for root in [sandbox.here(), bench.folder.path().join("catalog")] {
            part.place(&root, path);
        }
    }
    let mut answers = commands(bad, &sandbox);
    answers.extend(tools(bad, &bench).await);
    answers
}

async fn on_github(bad: &Bad) -> Answers {
    let github = GitHub::holding(bad.files.iter().map(|(path, part)| (path.clone(), part.entry())).collect()).await;
    for (path, part) in &bad.files {
        if let Part::Failing(_) = part {
            github.fault(Fault::status(path, 503));
        }
    }
    let sandbox = Sandbox::new()
        .variable("GITHUB_REPO_URL", "acme/flows")
        .variable("GITHUB_API_URL", &github.url())
        .variable("GITHUB_PAT", TOKEN)
        .variable("RETRY_ATTEMPTS", "1")
        .variable("MAX_FILE_SIZE", &LARGEST.to_string());
    let bench = Bench::github_with(&github, |settings| {
        settings.max_file_size = LARGEST as u64;
        settings.retry_attempts = 1;
    });
    let mut answers = commands(bad, &sandbox);
    answers.extend(tools(bad, &bench).await);
    answers
}

/// The one verdict that all these answers give on the row's files, and whatever is wrong with them.
fn agree(bad: &Bad, place: &str, answers: &Answers) -> Result<String, Vec<String>> {
    let files: BTreeSet<String> = bad.fix.iter().map(|file| (*file).to_owned()).collect();
    let is_it = |verdict: &&Verdict| verdict.code == bad.code && verdict.files == files;
    let mut wrong = Vec::new();
    let checked = verdicts(&answers["validate"]);
    let Some(expected) = checked.iter().find(is_it) else {
        return Err(vec![format!("{} {place}: validate says {checked:#?}", bad.name)]);
    };
    for (name, answer) in answers {
        let given = verdicts(answer);
        // A script for a model says it in its text.
        let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_default();
        let told = files.iter().map(String::as_str).chain([bad.code, &expected.hint]);
        if !given.contains(expected) && (text.is_empty() || !told.into_iter().all(|fact| text.contains(fact))) {
            wrong.push(format!("{} {place}: {name} does not say {expected:#?} but {given:#?} {text}", bad.name));
        }
        let top = answer.get("error").map_or(answer, |error| &error["data"])["code"].as_str();
        if top.is_some_and(|code| code != bad.code) {
            wrong.push(format!("{} {place}: {name} has the code {top:?}: {answer}", bad.name));
        }
    }
    for name in ["list", "flows_list"] {
        for problem in answers[name]["errors"].as_array().unwrap() {
            let told = |key: &str| problem[key].as_str().is_some_and(|text| !text.is_empty());
            let placed = problem["rule"] == "unreadable-file" || problem["line"].is_u64();
            if !(told("rule") && told("hint") && placed) {
                wrong.push(format!("{} {place}: {name} lists {problem}", bad.name));
            }
        }
    }
    if wrong.is_empty() { Ok(expected.hint.clone()) } else { Err(wrong) }
}

/// What is wrong with how one catalog is judged, wherever it can lie.
async fn verdict_on(bad: Bad) -> Vec<String> {
    let (mut wrong, mut hints) = (Vec::new(), BTreeSet::new());
    if bad.places != Places::GitHub {
        match agree(&bad, "in a folder", &in_a_folder(&bad).await) {
            Ok(hint) => drop(hints.insert(hint)),
            Err(why) => wrong.extend(why),
        }
    }
    if bad.places != Places::Folder {
        match agree(&bad, "on GitHub", &on_github(&bad).await) {
            Ok(hint) => drop(hints.insert(hint)),
            Err(why) => wrong.extend(why),
        }
    }
    if hints.len() > 1 {
        wrong.push(format!("{}: the hint depends on the source: {hints:?}", bad.name));
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_of_asking_gives_one_verdict() {
    let rows = bad_catalogs();
    assert!(rows.len() >= 40, "{}", rows.len());
    // A few at a time: every command is a process of its own.
    let judged = stream::iter(rows).map(|bad| tokio::spawn(verdict_on(bad))).buffer_unordered(3);
    let wrong: Vec<String> = judged.map(Result::unwrap).concat().await;
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_two_bad_catalogs_are_called_the_same() {
    let rows = bad_catalogs();
    let names: BTreeSet<&str> = rows.iter().map(|bad| bad.name).collect();
    assert_eq!(names.len(), rows.len());
    assert!(rows.iter().any(|bad| bad.asked == Asked::Whole));
    assert!(rows.iter().any(|bad| matches!(bad.files.first(), Some((_, Part::Bytes(_))))));
}

/// What is found in each file of the current folder, as `validate` tells it; `typed` is checked in the place of a file.
fn found(sandbox: Sandbox, typed: Option<(&str, Vec<u8>)>) -> (Sandbox, Value) {
    let (sandbox, line) = match typed {
        Some((path, bytes)) => (sandbox.stdin(bytes), vec!["validate", ".", "-", "--stdin-filename", path, "--json"]),
        None => (sandbox, vec!["validate", ".", "--json"]),
    };
    let said = sandbox.run(line);
    let answer = said.json();
    (sandbox, answer)
}

#[test]
fn a_catalog_that_is_read_file_by_file_is_judged_as_one_that_is_held_as_a_whole() {
    let plain = json!({"metadata": {"name": "Plain", "version": "1.0.0"},
        "nodes": [{"id": "a", "type": "template", "data": {"template": "Say so."}}], "edges": []})
    .to_string()
    .into_bytes();
    for bad in bad_catalogs().into_iter().filter(|bad| bad.places != Places::GitHub) {
        let files = bad.files.iter().filter_map(|(path, part)| Some((path.clone(), part.bytes()?)));
        let sandbox = files
            .fold(Sandbox::new().file("flows/Plain.json", &plain), |sandbox, (path, bytes)| sandbox.file(&path, bytes));
        for (path, part) in &bad.files {
            part.place(&sandbox.here(), path);
        }
        let (sandbox, file_by_file) = found(sandbox, None);
        // A text that is checked in the place of a file is kept with all the others in memory.
        let (_, as_a_whole) = found(sandbox, Some(("./flows/Plain.json", plain.clone())));
        assert_eq!(file_by_file, as_a_whole, "{}", bad.name);
    }
}
