//! `flows_list`, and the contract's TC-FLOW-LIST.

use serde_json::{Value, json};

use super::{LIST_FAILURE, LIST_RESPONSE, as_published};
use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, flow, template};

fn three() -> Vec<(String, String)> {
    vec![
        flow("Alpha", &[("n1", "Text")], &[]),
        flow("Beta", &[("n1", "Text"), ("n2", "Text")], &[("n1", "n2")]),
        flow("Gamma", &[("n1", "Text")], &[]),
        template("Text", "Hello {who}"),
    ]
}

#[tokio::test]
async fn tc_flow_list_001_three_flows_are_three_entries() {
    let github = GitHub::serving(three()).await;
    let mut session = Bench::github(&github).session().await;
    let listed = session.ok("flows/list", json!({})).await;
    as_published(LIST_RESPONSE, &listed);
    let entry = |name: &str, nodes: usize| {
        json!({"name": name, "description": format!("The flow {name}."), "version": "1.0.0", "nodeCount": nodes,
               "created": "2026-01-02T09:00:00.000Z", "updated": "2026-01-03T09:00:00.000Z"})
    };
    assert_eq!(listed["flows"], json!([entry("Alpha", 1), entry("Beta", 2), entry("Gamma", 1)]));
    assert_eq!((&listed["total"], &listed["cached"]), (&json!(3), &json!(false)));
    assert_eq!(listed["commit"], json!(github.head()));
}

#[tokio::test]
async fn tc_flow_list_002_an_empty_folder_is_an_empty_list() {
    let github = GitHub::serving([("README.md", "nothing here")]).await;
    let mut session = Bench::github(&github).session().await;
    for name in ["flows/list", "flows_list"] {
        let listed = session.ok(name, json!({"refresh": true})).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!((&listed["flows"], &listed["cached"], &listed["errors"]), (&json!([]), &json!(false), &json!([])));
    }
}

#[tokio::test]
async fn tc_flow_list_003_a_malformed_file_is_skipped_and_named() {
    let mut files = three();
    files.push(("flows/Bad.json".to_owned(), "{\n  \"nodes\": [,]\n}".to_owned()));
    let github = GitHub::serving(files).await;
    let mut session = Bench::github(&github).session().await;
    for round in ["fresh", "cached"] {
        let listed = session.ok("flows/list", json!({})).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!(listed["flows"].as_array().unwrap().len(), 3, "{round}");
        let error = &listed["errors"][0];
        assert_eq!((&error["file"], &error["code"]), (&json!("flows/Bad.json"), &json!("PARSE_ERROR")), "{round}");
        assert_eq!(error["line"], json!(2), "{round}");
    }
}

#[tokio::test]
async fn tc_flow_list_004_the_second_call_comes_from_the_cache() {
    let github = GitHub::serving(three()).await;
    let mut session = Bench::github(&github).session().await;
    let first = session.ok("flows/list", json!({})).await;
    let asked = github.hits().len();
    let second = session.ok("flows/list", json!({})).await;
    as_published(LIST_RESPONSE, &second);
    assert_eq!((&first["cached"], &second["cached"]), (&json!(false), &json!(true)));
    assert_eq!((&first["flows"], github.hits().len()), (&second["flows"], asked));
}

#[tokio::test]
async fn a_file_that_could_not_be_fetched_is_there_once_it_could() {
    let github = GitHub::serving(three()).await;
    github.fault(Fault::status("flows/Beta.json", 500));
    let mut session = Bench::github(&github).session().await;
    let listed = session.ok("flows_list", json!({})).await;
    assert_eq!((&listed["total"], &listed["errors"][0]["file"]), (&json!(2), &json!("flows/Beta.json")));
    assert_eq!(session.ok("flows_list", json!({})).await["total"], json!(2));
    github.heal();
    // The commit is the same; what was listed of it is not.
    let listed = session.ok("flows_list", json!({"refresh": true})).await;
    assert_eq!((&listed["total"], &listed["errors"]), (&json!(3), &json!([])));
    assert_eq!(session.ok("flows_show", json!({"name": "Beta"})).await["name"], json!("Beta"));
}

#[tokio::test]
async fn tc_flow_list_005_a_failing_api_is_a_github_error() {
    let github = GitHub::serving(three()).await;
    github.fault(Fault::status("/repos/", 500));
    let mut session = Bench::github(&github).session().await;
    for name in ["flows/list", "flows_list"] {
        let failed = session.failed(name, json!({})).await;
        as_published(LIST_FAILURE, &failed);
        assert_eq!((&failed["code"], &failed["source"]), (&json!("GITHUB_ERROR"), &json!("flows/list")));
        assert_eq!(failed["details"]["family"], json!("GITHUB_ERROR"));
        assert!(failed["nextStep"].is_string());
    }
    github.heal();
    assert_eq!(session.ok("flows/list", json!({})).await["total"], json!(3));
}

#[tokio::test]
async fn every_mode_answers_as_published() {
    let mut session = Bench::examples().session().await;
    for mode in ["compact", "index", "standard", "detailed"] {
        let listed = session.ok("flows_list", json!({"mode": mode})).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!((&listed["mode"], &listed["returned"]), (&json!(mode), &listed["total"]));
    }
}

#[tokio::test]
async fn pages_follow_each_other_without_a_gap() {
    let mut session = Bench::examples().session().await;
    let whole = session.ok("flows_list", json!({})).await;
    let (mut names, mut cursor) = (Vec::new(), json!(null));
    loop {
        let page = session.ok("flows_list", json!({"limit": 3, "cursor": cursor})).await;
        names.extend(page["flows"].as_array().unwrap().iter().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(json!(names), whole["flows"]);
}

#[tokio::test]
async fn filters_are_taken_and_told() {
    let mut session = Bench::examples().session().await;
    let found = session
        .ok("flows_list", json!({"tags": ["marketing"], "complexity": "moderate", "category": "marketing"}))
        .await;
    let names: Vec<_> = found["flows"].as_array().unwrap().iter().map(|flow| flow["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Blog_Article", "Marketing_Strategy"]);
    assert_eq!(found["filter"], json!({"tags": ["marketing"], "category": "marketing", "complexity": "moderate"}));
    let none = session.ok("flows_list", json!({"names": ["Nobody"]})).await;
    assert_eq!((&none["total"], &none["warnings"][0]["code"]), (&json!(0), &json!("UNKNOWN_NAME")));
}

#[tokio::test]
async fn arguments_on_their_way_out_work_and_say_what_replaces_them() {
    let mut session = Bench::examples().session().await;
    for (arguments, mode) in [
        (json!({"detailed": true}), "detailed"),
        (json!({"detailed": "false"}), "standard"),
        (json!({"tier": "index"}), "index"),
        (json!({"tier": "index", "mode": "index"}), "index"),
    ] {
        let listed = session.ok("flows_list", arguments.clone()).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!(listed["mode"], json!(mode), "{arguments}");
        let warning = &listed["warnings"][0];
        assert_eq!(warning["code"], json!("DEPRECATED"));
        let message = warning["message"].as_str().unwrap();
        assert!(
            message.contains("1.0") && message.contains("docs/MIGRATION.md") && message.contains("`mode`"),
            "{message}"
        );
    }
    let failed = session.failed("flows_list", json!({"detailed": true, "mode": "compact"})).await;
    assert_eq!(failed["code"], json!("INVALID_REQUEST"));
    assert!(session.ok("flows_list", json!({"detailed": null})).await["warnings"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn without_metadata_there_are_no_dates() {
    let mut session = Bench::examples().session().await;
    for name in ["flows/list", "flows_list"] {
        let listed = session.ok(name, json!({"includeMetadata": false, "limit": 1})).await;
        assert!(listed["flows"][0].get("created").is_none(), "{listed}");
    }
}

#[tokio::test]
async fn a_file_that_is_none_of_the_catalogs_is_left_alone() {
    let files = [
        flow("Tea", &[("n1", "T")], &[]),
        template("T", "Tea"),
        ("flows/README.md".to_owned(), "# Our flows".to_owned()),
        ("flows/more/.gitkeep".to_owned(), String::new()),
        ("templates/picture.png".to_owned(), "\u{0}".repeat(2_000_000)),
        ("personas/notes.json".to_owned(), "nothing".to_owned()),
    ];
    let github = GitHub::serving(files.clone()).await;
    for bench in [Bench::github(&github), Bench::folder(files)] {
        let listed = bench.session().await.ok("flows_list", json!({})).await;
        assert_eq!((&listed["total"], &listed["errors"]), (&json!(1), &json!([])), "{listed}");
    }
}

#[tokio::test]
async fn an_empty_catalog_says_what_to_do_and_asks_for_no_other_words() {
    let mut session = Bench::folder([("README.md", "nothing here")]).session().await;
    let plain = session.ok("flows_list", json!({})).await["nextStep"].clone();
    for arguments in [json!({"query": "tea"}), json!({"tags": ["tea"]})] {
        assert_eq!(session.ok("flows_list", arguments).await["nextStep"], plain);
    }
    let templates = session.ok("flows_list", json!({"kind": "templates"})).await["nextStep"].clone();
    insta::assert_json_snapshot!("empty-catalog", [plain, templates]);
}

/// The records of a kept index: where each begins and ends in the file.
fn records(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let count = number(12);
    let mut next = 16 + 8 * count;
    let place = |record: usize| {
        let begin = next;
        next += number(16 + 8 * record);
        begin..next
    };
    (0..count).map(place).collect()
}

/// An answer without what differs from one call to the next.
fn lasting(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            let passing = [
                "cached",
                "ageSeconds",
                "executionId",
                "timestamp",
                "executionTimeMs",
                "totalExecutionTimeMs",
                "keptUntil",
                "ttlMs",
                "id",
            ];
            fields.retain(|key, _| !passing.contains(&key.as_str()));
            fields.values_mut().for_each(|value| *value = lasting(value.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = lasting(value.take())),
        // The same JSON once more.
        Value::String(text) => {
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
                answer = lasting(inner);
            }
        }
        _ => {}
    }
    answer
}

#[tokio::test]
async fn whatever_of_a_kept_index_is_damaged_an_answer_is_the_truth_or_says_so_and_the_next_one_is_the_truth() {
    let files = [
        flow("Alpha", &[("n1", "Text")], &[]),
        flow("Beta", &[("n1", "Text")], &[]),
        ("flows/Bad.json".to_owned(), "{".to_owned()),
        ("flows/sales/_category.json".to_owned(), json!({"displayName": "Sales"}).to_string()),
        template("Text", "Hello {who}"),
    ];
    let github = GitHub::serving(files).await;
    let bench = Bench::github(&github);
    let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let complete = |uri: &str| {
        let of = json!({"type": "ref/resource", "uri": uri});
        ("completion/complete", json!({"ref": of, "argument": {"name": "name", "value": ""}}))
    };
    let asked = [
        tool("flows_list", json!({})),
        tool("flows_list", json!({"mode": "detailed"})),
        tool("flows_list", json!({"mode": "hot"})),
        tool("flows_list", json!({"mode": "categories"})),
        tool("flows_list", json!({"tags": ["none"]})),
        tool("flows_list", json!({"query": "alpha"})),
        tool("flows_list", json!({"kind": "templates"})),
        tool("flows_show", json!({"name": "Beta"})),
        tool("flows_show", json!({"name": "Text"})),
        tool("flows_show", json!({"name": "Bad"})),
        tool("flows_execute", json!({"flowName": "Beta", "initialVariables": {"who": "you"}})),
        tool("flows_execute", json!({"flowName": "Gamma"})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "Beta", "arguments": {"who": "you"}})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "flow://list"})),
        ("resources/read", json!({"uri": "flow://metadata/Beta"})),
        complete("flow://metadata/{name}"),
    ];
    bench.session().await.ok("flows_list", json!({})).await;
    let mut truth = Vec::new();
    for (method, params) in &asked {
        let mut session = bench.again().session().await;
        truth.push(lasting(session.request(method, params.clone()).await));
    }
    let repository = std::fs::read_dir(bench.cache().join("v1")).unwrap().next().unwrap().unwrap().path();
    let derived = repository.join("derived");
    let index = std::fs::read_dir(&derived).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&index).unwrap();
    let records = records(&whole);
    assert_eq!(records.last().unwrap().end, whole.len());

    for (number, record) in records.into_iter().enumerate() {
        let mut damaged = whole.clone();
        damaged[record.start + record.len() / 2] ^= 1;
        let mut told = 0;
        for ((method, params), truth) in asked.iter().zip(&truth) {
            std::fs::write(&index, &damaged).unwrap();
            let mut session = bench.again().session().await;
            let first = session.request(method, params.clone()).await;
            if lasting(first.clone()) != *truth {
                let says = first.to_string();
                assert!(says.contains("ask again") && says.contains("INTERNAL_ERROR"), "{number} {method}: {first}");
                assert!(says.contains("(internal error "), "{number} {method}: {first}");
                assert!(!index.exists(), "it is not met again by the next process");
                told += 1;
            }
            let second = session.request(method, params.clone()).await;
            assert_eq!(lasting(second), *truth, "{number} {method} {params}");
        }
        // Where the first record is damaged the index isn't opened, but made anew at once.
        assert_eq!(told == 0, number == 0, "{number}");
    }
}
