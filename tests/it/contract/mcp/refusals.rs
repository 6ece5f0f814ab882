//! Refusals say what helps, and it does.

use serde_json::{Value, json};

use super::{EXECUTE_FAILURE, LIST_FAILURE, as_published};
use crate::support::github::{Entry, Fault, GitHub};
use crate::support::mcp::{Bench, flow, template};

fn tea() -> Vec<(String, String)> {
    vec![flow("Tea", &[("n1", "Tea_Text")], &[]), template("Tea_Text", "Tea for {who}")]
}

#[tokio::test]
async fn a_refusal_about_arguments_names_the_flow_it_was_about() {
    let mut session = Bench::folder(tea()).session().await;
    for arguments in [
        json!({"flowName": "Tea", "waitSeconds": "soon"}),
        json!({"flow_name": "Tea", "nothing": 1}),
        json!({"name": "Tea", "ref": "a..b"}),
    ] {
        let failed = session.failed("flows_execute", arguments.clone()).await;
        as_published(EXECUTE_FAILURE, &failed);
        assert_eq!((&failed["flowName"], &failed["code"]), (&json!("Tea"), &json!("INVALID_REQUEST")), "{arguments}");
        assert!(failed["nextStep"].is_string(), "{failed}");
    }
    let failed = session.failed("flows_execute", json!({"initialVariables": {}})).await;
    assert_eq!(failed["flowName"], json!(null));
}

#[tokio::test]
async fn numbers_outside_their_range_are_refused_not_bent() {
    let mut session = Bench::folder(tea()).session().await;
    let listed = session.request("tools/list", json!({})).await["result"]["tools"].clone();
    let schema = |tool: &str, argument: &str| {
        let tool = listed.as_array().unwrap().iter().find(|listed| listed["name"] == json!(tool)).unwrap();
        let schema = &tool["inputSchema"]["properties"][argument];
        schema["minimum"].as_i64().unwrap()
    };
    for (tool, argument, least, most) in [
        ("flows_list", "limit", 1, 1_000),
        ("flows_list", "maxTokens", 1, 1_000_000),
        ("flows_execute", "waitSeconds", 0, 240),
        ("flows_execute", "maxTokens", 1, 1_000_000),
        ("flows_status", "limit", 1, 100_000),
    ] {
        assert_eq!(schema(tool, argument), least, "{tool} {argument}");
        for given in [least - 1, most + 1] {
            let failed = session.failed(tool, json!({"flowName": "Tea", argument: given})).await;
            assert_eq!(failed["code"], json!("INVALID_REQUEST"), "{tool} {argument} {given}");
            if tool != "flows_list" {
                let message = failed["message"].as_str().unwrap();
                let numbers = [least.to_string(), most.to_string()];
                assert!(
                    message.contains(argument) && numbers.iter().all(|number| message.contains(number)),
                    "{message}"
                );
            }
        }
    }
    for (argument, given) in [("limit", 1_001), ("maxTokens", 1_000_001)] {
        let failed = session.failed("flows_list", json!({argument: given})).await;
        assert_eq!(failed["code"], json!("INVALID_REQUEST"), "{failed}");
    }
    let failed = session.failed("flows_status", json!({"limit": 101})).await;
    assert_eq!(
        (&failed["code"], failed["message"].as_str().unwrap().contains("100")),
        (&json!("INVALID_REQUEST"), true)
    );
}

#[tokio::test]
async fn a_templates_name_is_told_to_be_one() {
    let mut session = Bench::folder(tea()).session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "Tea_Text"})).await;
    assert_eq!(failed["code"], json!("FLOW_NOT_FOUND"));
    assert!(failed["message"].as_str().unwrap().contains("is a template"), "{failed}");
    assert!(failed["nextStep"].as_str().unwrap().contains("flows_show"), "{failed}");
    let shown = session.ok("flows_show", json!({"name": "Tea_Text"})).await;
    assert_eq!((&shown["kind"], &shown["usedBy"]), (&json!("template"), &json!(["Tea"])));
}

#[tokio::test]
async fn an_ambiguous_name_comes_with_names_that_are_not() {
    let twin = |path: &str, id: Option<&str>| {
        let mut file: Value = serde_json::from_str(&flow("Twin", &[("n1", "Tea_Text")], &[]).1).unwrap();
        file["metadata"]["id"] = json!(id);
        (path.to_owned(), file.to_string())
    };
    let mut files = tea();
    files.extend([twin("flows/a/Twin.json", Some("twin-a")), twin("flows/b/Twin.json", Some("twin-b"))]);
    let mut session = Bench::folder(files.clone()).session().await;
    let failed = session.failed("flows_show", json!({"name": "Twin"})).await;
    assert_eq!(failed["code"], json!("AMBIGUOUS_NAME"), "{failed}");
    let next = failed["nextStep"].as_str().unwrap().to_owned();
    let named: Vec<&str> = next.split('"').skip(1).step_by(2).collect();
    assert_eq!(named.len(), 2, "{next}");
    for (name, file) in named.iter().zip(["flows/a/Twin.json", "flows/b/Twin.json"]) {
        assert_eq!(session.ok("flows_show", json!({"name": name})).await["file"], json!(file), "{next}");
    }
    files.truncate(2);
    files.extend([twin("flows/a/Twin.json", None), twin("flows/b/Twin.json", None)]);
    let failed = Bench::folder(files).session().await.failed("flows_show", json!({"name": "Twin"})).await;
    let next = failed["nextStep"].as_str().unwrap();
    assert!(next.contains("another name") && !next.contains("ask for"), "{next}");
}

#[tokio::test]
async fn a_ref_that_is_not_there_comes_with_the_nearest() {
    let github = GitHub::serving(tea()).await;
    for name in ["develop", "release-2", "v1.2.0"] {
        github.branch(name, [("flows/Tea.json".to_owned(), Entry::File(b"{}".to_vec()))].into());
    }
    let mut session = Bench::github(&github).session().await;
    for (asked, meant) in
        [("develp", "develop"), ("Release_2", "release-2"), ("v1.2", "v1.2.0"), ("refs/heads/trunc", "trunk")]
    {
        let failed = session.failed("flows_list", json!({"ref": asked})).await;
        as_published(LIST_FAILURE, &failed);
        assert_eq!(
            (&failed["code"], &failed["details"]["nearest"][0]),
            (&json!("REF_NOT_FOUND"), &json!(meant)),
            "{asked}"
        );
        let next = failed["nextStep"].as_str().unwrap();
        assert!(next.contains(meant) && next.contains("trunk"), "{next}");
    }
    let before = github.count("matching-refs");
    let failed = session.failed("flows_list", json!({"ref": "entirely-else"})).await;
    assert!(failed["nextStep"].as_str().unwrap().contains("git ls-remote"), "{failed}");
    assert_eq!(github.count("matching-refs"), before + 1);
    github.fault(Fault::status("matching-refs", 500));
    let failed = session.failed("flows_list", json!({"ref": "develp"})).await;
    assert_eq!(failed["code"], json!("REF_NOT_FOUND"), "the advice is not worth failing for");
}

#[tokio::test]
async fn the_advice_about_a_file_fits_what_is_wrong_with_it() {
    let mut files = tea();
    files.push(flow("Large", &[("n1", &"x".repeat(3_000))], &[]));
    files.push(("flows/Broken.json".to_owned(), "{".to_owned()));
    files.push(flow("Late", &[("n1", "Tea_Text")], &[]));
    files.push(flow("User", &[("n1", "Lost")], &[]));
    files.push(template("Lost", "lost"));
    let github = GitHub::serving(files).await;
    github.fault(Fault::status("flows/Late.json", 500));
    github.fault(Fault::status("templates/Lost.json", 500));
    let mut session = Bench::github_with(&github, |settings| settings.max_file_size = 2_000).session().await;
    let listed = session.ok("flows_list", json!({})).await;
    let codes: Vec<(&str, &str)> = listed["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["file"].as_str().unwrap(), error["code"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("flows/Broken.json", "PARSE_ERROR"),
        ("flows/Large.json", "FILE_TOO_LARGE"),
        ("flows/Late.json", "GITHUB_ERROR"),
        ("flows/User.json", "GITHUB_ERROR"),
        ("templates/Lost.json", "GITHUB_ERROR"),
    ];
    assert_eq!(codes, wanted);
    for (name, part) in [("Broken", "flowy validate"), ("Large", "MAX_FILE_SIZE"), ("Late", "refreshing the list")] {
        let failed = session.failed("flows_execute", json!({"flowName": name})).await;
        as_published(EXECUTE_FAILURE, &failed);
        let next = failed["nextStep"].as_str().unwrap();
        assert!(next.contains(part), "{name}: {next}");
        assert_eq!(part == "flowy validate", next.contains("flowy validate"), "{name}: {next}");
    }
}

#[tokio::test]
async fn asking_too_fast_is_not_taken_for_an_empty_quota() {
    let github = GitHub::serving(tea()).await;
    github.fault(Fault::status("", 403).header("retry-after", "3600"));
    let mut session = Bench::github_with(&github, |settings| settings.token = None).session().await;
    let failed = session.failed("flows_list", json!({})).await;
    let next = failed["nextStep"].as_str().unwrap();
    assert!(next.contains("MAX_CONCURRENT_REQUESTS") && !failed.to_string().contains("quota"), "{failed}");
}

#[tokio::test]
async fn a_move_to_another_host_is_said_and_the_token_stays_at_home() {
    let (github, other) = (GitHub::serving(tea()).await, GitHub::serving(tea()).await);
    let elsewhere = format!("{}/login", other.url().replace("127.0.0.1", "localhost"));
    let moved = wiremock::ResponseTemplate::new(302).insert_header("location", elsewhere.as_str());
    github.fault(Fault::answer("/commits/", moved));
    for status in [404, 200] {
        other.heal();
        other.fault(Fault::answer(
            "/login",
            wiremock::ResponseTemplate::new(status).set_body_string("<html>log in</html>"),
        ));
        let failed = Bench::github(&github).session().await.failed("flows_list", json!({})).await;
        as_published(LIST_FAILURE, &failed);
        assert_eq!(failed["code"], json!("GITHUB_ERROR"), "{failed}");
        let message = failed["message"].as_str().unwrap();
        assert!(message.contains("localhost"), "{message}");
        assert!(message.contains(&status.to_string()), "{message}");
    }
    assert!(other.hits().iter().all(|hit| !hit.headers.contains_key("authorization")));
}

#[tokio::test]
async fn a_page_of_somebody_else_is_told_from_an_answer_of_github() {
    let github = GitHub::serving(tea()).await;
    github.fault(Fault::answer("", wiremock::ResponseTemplate::new(200).set_body_string("<html>log in</html>")));
    let failed = Bench::github(&github).session().await.failed("flows_list", json!({})).await;
    assert_eq!(failed["code"], json!("GITHUB_ERROR"), "{failed}");
    insta::assert_json_snapshot!("a-page-of-somebody-else", [&failed["message"], &failed["nextStep"]]);
}

#[tokio::test]
async fn an_organisation_that_wants_a_sign_on_says_where_the_token_is_authorised() {
    let github = GitHub::serving(tea()).await;
    let asked = "required; url=https://github.com/orgs/acme/sso?authorization_request=SECRET";
    github.fault(Fault::status("", 403).header("x-github-sso", asked));
    let failed = Bench::github(&github).session().await.failed("flows_list", json!({})).await;
    assert_eq!(failed["code"], json!("FORBIDDEN"), "{failed}");
    let next = failed["nextStep"].as_str().unwrap();
    assert!(next.contains("Configure SSO") && next.contains("https://github.com/orgs/acme/sso"), "{next}");
    assert!(!failed.to_string().contains("SECRET"), "{failed}");
}

#[tokio::test]
async fn advice_on_a_ref_names_the_place_where_it_was_given() {
    let github = GitHub::serving(tea()).await;
    let set = Bench::github_with(&github, |settings| {
        settings.git_ref = Some(flowy::internals::names::RefName::new("v9").unwrap());
    });
    let said = set.session().await.failed("flows_list", json!({})).await["nextStep"].as_str().unwrap().to_owned();
    assert!(said.contains("GITHUB_REF") && said.contains("trunk"), "{said}");
    let said = Bench::github(&github).session().await.failed("flows_list", json!({"ref": "v9"})).await;
    let next = said["nextStep"].as_str().unwrap();
    assert!(next.contains("`ref`") && !next.contains("GITHUB_REF"), "{said}");
}

#[tokio::test]
async fn an_older_copy_is_a_kept_one() {
    let github = GitHub::serving(tea()).await;
    let bench = Bench::github(&github);
    let mut session = bench.session().await;
    session.ok("flows_list", json!({})).await;
    github.fault(Fault::status("", 500));
    let listed = session.ok("flows_list", json!({"refresh": true})).await;
    assert_eq!((&listed["stale"], &listed["cached"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_status_says_when_it_began_and_what_was_done() {
    let nodes = [("n1", "Tea_Text"), ("n2", "Gone"), ("n3", "Tea_Text"), ("n4", "Tea_Text")];
    let files = [flow("Half", &nodes, &[("n1", "n2"), ("n2", "n3")]), template("Tea_Text", "Tea")];
    let mut session = Bench::folder(files).session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "Half", "detail": "final"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    let kept: Vec<&Value> = failed["partialResults"].as_array().unwrap().iter().map(|step| &step["output"]).collect();
    assert_eq!(kept, [&json!("Tea"), &json!("Tea")], "what finished is never lost");
    let one = session.ok("flows_status", json!({"executionId": failed["executionId"]})).await;
    assert_eq!((&one["progress"], &one["stepsDone"]), (&json!("50%"), &json!(2)));
    assert_eq!(one["startedAt"], json!("2026-01-05T09:00:00.000Z"));
    let all = session.ok("flows_status", json!({})).await;
    assert_eq!(all["executions"][0], one);
}
