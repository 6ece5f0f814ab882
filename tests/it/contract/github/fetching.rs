//! Cold: from nothing to all files, with as few requests as possible, whatever GitHub hands out.

use flowy::internals::source::{ProblemKind, SourceError};
use wiremock::ResponseTemplate;

use super::*;
use crate::support::github::{Fault, TOKEN};

#[tokio::test]
async fn a_cold_catalog_costs_two_requests_and_one_for_every_hundred_files() {
    for (count, posts) in [(0, 0), (1, 1), (100, 1), (101, 2), (250, 3)] {
        let desk = Desk::with(many(count)).await;
        let view = newest(&desk.open()).await.unwrap();
        assert_eq!(view.snapshot.files().await.unwrap().len(), count);
        assert_eq!(all(&view).await, many(count).into_iter().collect());
        assert_eq!((desk.github.count("graphql"), desk.github.hits().len()), (posts, 2 + posts), "{count} files");
        assert!(!view.cached && view.stale.is_none());
    }
}

#[tokio::test]
async fn only_the_catalogs_folders_are_read() {
    let files = [("flows/a.json", "a"), ("README.md", "no"), ("src/flows/b.json", "no"), ("personas/p.md", "p")];
    let desk = Desk::with(files).await;
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await.into_keys().collect::<Vec<_>>(), ["flows/a.json", "personas/p.md"]);
    let missing = view.snapshot.read(&path("README.md")).await.unwrap_err();
    assert!(matches!(missing, SourceError::NoSuchFile { .. }), "{missing}");
}

#[tokio::test]
async fn without_a_token_a_few_files_are_read_raw() {
    let desk = Desk::tea().await.without_token();
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!((desk.github.count("/raw/"), desk.github.count("graphql"), desk.github.count("tarball")), (2, 0, 0));
    assert!(desk.github.hits().iter().all(|hit| !hit.headers.contains_key("authorization")));
}

#[tokio::test]
async fn a_host_of_raw_files_that_is_kept_away_is_made_up_for_by_the_api() {
    let desk = Desk::tea().await.without_token();
    desk.github.fault(Fault::answer("/raw/", ResponseTemplate::new(403).set_body_string("<html>Blocked</html>")));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert!(view.snapshot.problems().await.unwrap().is_empty());
    assert!((1..=2).contains(&desk.github.count("/raw/")), "{}", desk.github.count("/raw/"));
}

#[tokio::test]
async fn without_a_token_many_files_come_as_one_archive() {
    let desk = Desk::with(many(60)).await.without_token();
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await, many(60).into_iter().collect());
    assert_eq!(
        (desk.github.count("/raw/"), desk.github.count("/tarball/"), desk.github.count("/codeload/")),
        (0, 1, 1)
    );
}

#[tokio::test]
async fn a_broken_archive_is_made_up_for_by_raw_reads() {
    let desk = Desk::with(many(30)).await.without_token();
    desk.github.fault(Fault::cut_off("codeload"));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await, many(30).into_iter().collect());
}

#[tokio::test]
async fn cut_binary_and_missing_texts_are_fetched_one_by_one() {
    let desk = Desk::with([
        ("flows/cut.json", &b"a long enough text"[..]),
        ("flows/binary.json", b"taken for binary"),
        ("flows/absent.json", b"left out"),
        ("flows/latin.json", b"caf\xe9"),
        ("flows/fine.json", b"fine"),
    ])
    .await;
    desk.github.fault(Fault::cut_text("flows/cut.json"));
    desk.github.fault(Fault::binary("flows/binary.json"));
    desk.github.fault(Fault::status("flows/absent.json", 502).times(1));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/cut.json").await, "a long enough text");
    assert_eq!(text(&view, "flows/binary.json").await, "taken for binary");
    assert_eq!(text(&view, "flows/absent.json").await, "left out");
    assert_eq!(view.snapshot.read(&path("flows/latin.json")).await.unwrap()[..], b"caf\xe9"[..]);
    assert_eq!(desk.github.count("graphql"), 1);
    assert!(view.snapshot.problems().await.unwrap().is_empty());
}

#[tokio::test]
async fn links_submodules_pointers_and_large_files_are_named_not_read() {
    let mut files = entries(&tea());
    files.insert("flows/old.json".to_owned(), Entry::Symlink);
    files.insert("flows/shared".to_owned(), Entry::Submodule);
    files.insert("personas".to_owned(), Entry::Submodule);
    files.insert("flows/big.json".to_owned(), Entry::File(vec![b' '; 1_048_577]));
    let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", "a".repeat(64));
    files.insert("templates/stored.json".to_owned(), Entry::File(pointer.into_bytes()));
    let desk = Desk::at(GitHub::holding(files).await);
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await.into_keys().collect::<Vec<_>>(), ["flows/Tea.json", "templates/Tea_Text.json"]);
    let problems = view.snapshot.problems().await.unwrap();
    let named: Vec<_> = problems.iter().map(|problem| (problem.path.as_str(), &problem.kind)).collect();
    assert_eq!(
        named,
        [
            ("flows/big.json", &ProblemKind::TooLarge { size: 1_048_577, limit: 1_048_576 }),
            ("flows/old.json", &ProblemKind::Symlink),
            ("flows/shared", &ProblemKind::Submodule),
            ("personas", &ProblemKind::Submodule),
            ("templates/stored.json", &ProblemKind::LfsPointer { size: Some(12_345) }),
        ]
    );
    let error = view.snapshot.read(&path("flows/big.json")).await.unwrap_err();
    assert_eq!(error.to_string(), "flows/big.json is too large: 1048577 bytes, the limit is 1048576");
    let error = view.snapshot.read(&path("templates/stored.json")).await.unwrap_err();
    assert!(
        matches!(&error, SourceError::NotRead { kind, .. } if **kind == ProblemKind::LfsPointer { size: Some(12_345) }),
        "{error:?}"
    );
    // The same from disk, in another process.
    let again = newest(&desk.open()).await.unwrap();
    assert_eq!(again.snapshot.problems().await.unwrap(), problems);
}

#[tokio::test]
async fn a_tree_that_is_cut_off_is_walked_folder_by_folder() {
    let files =
        [("flows/a.json", "a"), ("flows/deep/er/b.json", "b"), ("flows/deep/c.json", "c"), ("templates/d.json", "d")];
    let desk = Desk::with(files).await;
    desk.github.truncate("");
    desk.github.truncate("flows");
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await, files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect());
    assert!(view.snapshot.problems().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_server_error_is_tried_again() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("/commits/", 502).times(2));
    desk.github.fault(Fault::status("graphql", 503).times(1));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!((desk.github.count("/commits/"), desk.github.count("graphql")), (3, 2));
}

#[tokio::test]
async fn a_body_that_ends_early_is_never_taken_for_whole() {
    let desk = Desk::tea().await.without_token();
    desk.github.fault(Fault::cut_off("/git/trees/").times(1));
    desk.github.fault(Fault::cut_off("templates/Tea_Text.json").times(2));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "templates/Tea_Text.json").await, tea()[1].1);
    assert_eq!((desk.github.count("/git/trees/"), desk.github.count("Tea_Text")), (2, 3));
}

#[tokio::test]
async fn a_file_that_always_fails_is_that_files_problem() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("templates/Tea_Text.json", 500));
    let source = desk.open();
    let view = newest(&source).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert!(all(&view).await["templates/Tea_Text.json"].starts_with("! "));
    let problems = view.snapshot.problems().await.unwrap();
    assert_eq!(problems.len(), 1);
    assert!(matches!(&problems[0].kind, ProblemKind::Failed(SourceError::GitHub { status: 500, tries: 3, .. })));
    let error = view.snapshot.read(&path("templates/Tea_Text.json")).await.unwrap_err().to_string();
    assert!(error.contains("500") && error.contains("3 tries") && error.contains("Tea_Text"), "{error}");
    desk.github.heal();
    assert_eq!(text(&view, "templates/Tea_Text.json").await, tea()[1].1);
    assert!(view.snapshot.problems().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_incomplete_snapshot_is_completed_after_half_a_minute() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("templates/Tea_Text.json", 500));
    let source = desk.open();
    assert!(newest(&source).await.unwrap().fresh_for <= Duration::from_secs(30));
    assert!(!newest(&desk.open()).await.unwrap().cached, "it is not kept as if it were whole");
    desk.github.heal();
    desk.github.forget();
    desk.clock.advance(Duration::from_secs(31));
    let view = newest(&source).await.unwrap();
    assert!(view.snapshot.problems().await.unwrap().is_empty());
    assert_eq!(view.fresh_for, Duration::from_mins(15));
    assert_eq!((desk.github.count("/commits/"), desk.github.count("graphql")), (1, 1));
}

#[tokio::test]
async fn a_file_that_hangs_leaves_the_others_readable() {
    let mut desk = Desk::tea().await;
    desk.settings.request_timeout = Duration::from_millis(60);
    desk.settings.fetch_deadline = Duration::from_millis(150);
    desk.github.fault(Fault::hang("templates/Tea_Text.json"));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    desk.github.forget();
    let error = view.snapshot.read(&path("templates/Tea_Text.json")).await.unwrap_err();
    assert!(matches!(error, SourceError::TimedOut { .. }) && error.to_string().contains("Tea_Text"), "{error}");
    assert!(desk.github.hits().is_empty(), "what just timed out is not waited for again");
}

#[tokio::test]
async fn graphql_that_hangs_is_made_up_for_in_what_time_is_left() {
    let mut desk = Desk::with(many(130)).await;
    desk.settings.request_timeout = Duration::from_millis(200);
    desk.github.fault(Fault::hang("graphql"));
    let source = desk.open();
    let view = newest(&source).await.unwrap();
    assert_eq!(all(&view).await, many(130).into_iter().collect());
    assert_eq!((desk.github.count("graphql"), desk.github.count("/git/blobs/")), (2, 130));
    // And is left alone for a while.
    desk.github.put("flows/More.json", Some(b"{}"));
    desk.github.forget();
    assert_eq!(text(&refreshed(&source).await.unwrap(), "flows/More.json").await, "{}");
    assert_eq!((desk.github.count("graphql"), desk.github.count("/git/blobs/")), (0, 1));
}

#[tokio::test]
async fn graphql_that_is_refused_is_made_up_for_and_left_alone_while_what_is_refused_everywhere_is_told() {
    let page = |status| ResponseTemplate::new(status).set_body_string("<html>No.</html>");
    let json =
        |status, message: &str| ResponseTemplate::new(status).set_body_json(serde_json::json!({"message": message}));
    for answer in [page(401), page(403), json(403, "Resource not accessible")] {
        let desk = Desk::with(many(20)).await;
        desk.github.fault(Fault::answer("graphql", answer.clone()));
        let source = desk.open();
        let view = newest(&source).await.unwrap();
        assert_eq!(all(&view).await, many(20).into_iter().collect(), "{answer:?}");
        desk.github.put("flows/More.json", Some(b"{}"));
        desk.github.forget();
        assert_eq!(text(&refreshed(&source).await.unwrap(), "flows/More.json").await, "{}");
        assert_eq!((desk.github.count("graphql"), desk.github.count("/git/blobs/")), (0, 1));
        let desk = Desk::with(many(20)).await;
        for part in ["graphql", "/git/blobs/", "tarball"] {
            desk.github.fault(Fault::answer(part, answer.clone()));
        }
        let error = newest(&desk.open()).await.unwrap_err();
        assert!(matches!(error, SourceError::Forbidden { .. }), "{error:?}");
    }
    // A token that GitHub itself does not take is taken nowhere.
    let desk = Desk::with(many(20)).await;
    desk.github.fault(Fault::answer("graphql", json(401, "Bad credentials")));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(error, SourceError::Unauthorized { .. }), "{error:?}");
}

#[tokio::test]
async fn a_page_instead_of_a_repository_is_not_a_missing_repository_and_a_named_wait_is_told() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::answer("", ResponseTemplate::new(404).set_body_string("<!doctype html>Gone")));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(error, SourceError::GitHub { status: 404, .. }), "{error:?}");
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("", 404));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(error, SourceError::RepoNotFound { .. }), "{error:?}");
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("", 503).header("retry-after", "3000"));
    let error = flowy::internals::app::Error::from(newest(&desk.open()).await.unwrap_err());
    assert!(error.next_step.as_ref().is_some_and(|next| next.for_tools().contains("50 minutes")), "{error:?}");
}

#[tokio::test]
async fn graphql_that_fails_does_not_cost_a_request_for_each_of_many_files() {
    let desk = Desk::with(many(300)).await;
    desk.github.fault(Fault::status("graphql", 502));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await, many(300).into_iter().collect());
    assert_eq!((desk.github.count("/git/blobs/"), desk.github.count("/codeload/")), (0, 1));
}

#[tokio::test]
async fn bytes_that_do_not_hash_to_their_id_are_refused() {
    let desk = Desk::tea().await.without_token();
    let tampered = ResponseTemplate::new(200).set_body_string("something else");
    desk.github.fault(Fault::answer("flows/Tea.json", tampered));
    let view = newest(&desk.open()).await.unwrap();
    let error = view.snapshot.read(&path("flows/Tea.json")).await.unwrap_err();
    assert!(matches!(error, SourceError::Corrupt { .. }), "{error}");
    assert_eq!(text(&view, "templates/Tea_Text.json").await, tea()[1].1);
}

#[tokio::test]
async fn a_ref_that_moves_while_it_is_read_does_not_mix_states() {
    let desk = Desk::with([("flows/Pair.json", "old"), ("templates/One.json", "old one")]).await;
    let before = desk.github.head();
    let source = desk.open();
    let view = newest(&source).await.unwrap();
    assert_eq!(text(&view, "flows/Pair.json").await, "old");
    let after = desk.github.branch("trunk", entries(&[("flows/Pair.json", "new"), ("templates/One.json", "new one")]));
    assert_eq!(text(&view, "templates/One.json").await, "old one");
    assert_eq!(view.snapshot.commit().unwrap().as_str(), before);
    let view = refreshed(&source).await.unwrap();
    assert_eq!(view.snapshot.commit().unwrap().as_str(), after);
    assert_eq!(text(&view, "templates/One.json").await, "new one");
}

#[tokio::test]
async fn a_renamed_repository_is_followed_with_the_token() {
    let desk = Desk::tea().await;
    desk.github.rename("acme/renamed");
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    let followed: Vec<_> = desk.github.hits().into_iter().filter(|hit| hit.path.contains("acme/renamed")).collect();
    assert!(followed.len() >= 2);
    assert!(followed.iter().all(|hit| hit.headers["authorization"] == format!("Bearer {TOKEN}")));
}

#[tokio::test]
async fn a_redirect_to_another_host_is_followed_without_the_token() {
    let desk = Desk::tea().await;
    let other = GitHub::serving(tea()).await;
    let place = format!("{}/raw/acme/flows/{}/flows/Tea.json", other.url(), other.head());
    desk.github.fault(Fault::status("flows/Tea.json", 302).header("location", &place));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!(other.hits().len(), 1);
    assert!(!other.hits()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_redirect_to_an_address_without_encryption_is_not_followed() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("flows/Tea.json", 302).header("location", "http://files.example.invalid/Tea.json"));
    let view = newest(&desk.open()).await.unwrap();
    let error = view.snapshot.read(&path("flows/Tea.json")).await.unwrap_err();
    let SourceError::BadRedirect { place, .. } = &error else { panic!("{error}") };
    assert_eq!(place, "http://files.example.invalid");
}

#[tokio::test]
async fn an_enterprise_server_is_asked_below_its_own_path() {
    let mut desk = Desk::tea().await;
    desk.settings.api_url = format!("{}/api/v3", desk.github.url());
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    let paths: Vec<String> = desk.github.hits().into_iter().map(|hit| hit.path).collect();
    assert!(paths.iter().all(|path| path.starts_with("/api/v3/repos/") || path == "/api/graphql"), "{paths:?}");
}

#[tokio::test]
async fn requests_say_who_asks() {
    let desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    for hit in desk.github.hits() {
        assert!(hit.headers["user-agent"].starts_with("flowy-mcp/"), "{hit:?}");
    }
}

#[tokio::test]
async fn a_repository_without_flows_or_without_commits_is_empty() {
    let desk = Desk::with([("README.md", "hello")]).await;
    assert!(newest(&desk.open()).await.unwrap().snapshot.files().await.unwrap().is_empty());
    let desk = Desk::tea().await;
    desk.github.empty();
    let view = newest(&desk.open()).await.unwrap();
    assert!(view.snapshot.files().await.unwrap().is_empty() && view.snapshot.commit().is_none());
}

#[tokio::test]
async fn what_never_answers_is_given_up_at_the_deadline() {
    let mut desk = Desk::tea().await;
    desk.settings.fetch_deadline = Duration::from_millis(50);
    desk.github.fault(Fault::hang("/commits/"));
    let error = newest(&desk.open()).await.unwrap_err();
    assert!(matches!(error, SourceError::TimedOut { .. }), "{error}");
    assert_eq!(error.to_string(), "reading acme/flows timed out after 0.05 s");
}
