//! Keeping: ages, stale copies, restarts, and many callers at once.

use std::fs;

use flowy::internals::source::SourceError;

use super::*;
use crate::support::github::Fault;

#[tokio::test]
async fn a_snapshot_lives_fifteen_minutes_and_then_costs_one_conditional_request() {
    let (desk, source) = Desk::read_once().await;
    desk.github.forget();
    desk.pass(14);
    let view = newest(&source).await.unwrap();
    assert_eq!((view.cached, view.age, view.fresh_for), (true, Duration::from_mins(14), Duration::from_mins(1)));
    desk.pass(1);
    let view = newest(&source).await.unwrap();
    assert_eq!((view.cached, view.age, view.fresh_for), (false, Duration::ZERO, Duration::from_mins(15)));
    let hits = desk.github.hits();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].headers["if-none-match"], format!("\"{}\"", desk.github.head()));
}

#[tokio::test]
async fn after_a_push_only_the_changed_file_is_fetched() {
    let desk = Desk::with(many(50)).await;
    let source = desk.open();
    newest(&source).await.unwrap();
    desk.github.put("flows/F0007.json", Some(b"changed"));
    desk.github.forget();
    assert_eq!(text(&newest(&source).await.unwrap(), "flows/F0007.json").await, "{\"number\": 7}");
    assert!(desk.github.hits().is_empty());
    let view = refreshed(&source).await.unwrap();
    assert_eq!(text(&view, "flows/F0007.json").await, "changed");
    assert_eq!((desk.github.count("/commits/"), desk.github.count("/git/trees/"), desk.github.hits().len()), (1, 1, 3));
}

#[tokio::test]
async fn what_no_listing_names_any_more_is_removed_after_a_day() {
    let desk = Desk::with(many(50)).await;
    newest(&desk.open()).await.unwrap();
    let blobs = || {
        let root = fs::read_dir(desk.settings.cache_dir.join("v1")).unwrap().next().unwrap().unwrap().path();
        let folders = fs::read_dir(root.join("blobs")).unwrap().map(|folder| folder.unwrap().path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
        files.collect::<Vec<_>>()
    };
    let written = |file: &std::path::Path, hours: u64| {
        let time = std::time::SystemTime::from(desk.clock.now()) - Duration::from_hours(hours);
        fs::File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
    };
    assert_eq!(blobs().len(), 50);
    for file in blobs() {
        written(&file, 25);
    }
    // A writer that was killed, one that is at work, and a blob that another process has just fetched.
    let beside = |name: &str| blobs()[0].with_file_name(name);
    let (killed, at_work, fetched) = (beside(".1-ab"), beside(".2-cd"), beside(&"0".repeat(38)));
    for (file, hours) in [(&killed, 25), (&at_work, 1), (&fetched, 1)] {
        // Dated before it stands there: the first listing may still be tidying.
        let aside = desk.settings.cache_dir.join("aside");
        fs::write(&aside, b"something").unwrap();
        written(&aside, hours);
        fs::rename(&aside, file).unwrap();
    }
    desk.github.put("flows/F0007.json", Some(b"changed"));
    let source = desk.open();
    let view = refreshed(&source).await.unwrap();
    // One came, the one it replaces and the killed writer's go (which may go sooner: the first listing
    // is tidied after, too).
    let tidied = || blobs().len() == 52 && !killed.exists();
    crate::support::peer::until("blobs are removed", tidied).await;
    assert!(at_work.exists() && fetched.exists());
    desk.github.forget();
    assert_eq!(all(&view).await.len(), 50);
    assert!(desk.github.hits().is_empty(), "everything that is listed is there");
}

#[tokio::test]
async fn a_ref_that_nobody_asks_for_is_forgotten_with_what_was_kept_of_it() {
    let desk = Desk::tea().await;
    let commit = desk.github.branch("old", entries(&tea()));
    let source = desk.open();
    let ask = Ask { git_ref: Some(flowy::internals::names::RefName::new("old").unwrap()), refresh: false };
    let view = source.snapshot(&ask).await.unwrap();
    assert_eq!(view.snapshot.commit().unwrap().as_str(), commit);
    view.snapshot.keep_derived("index", vec![b"index".to_vec()]).await.unwrap();
    let root = fs::read_dir(desk.settings.cache_dir.join("v1")).unwrap().next().unwrap().unwrap().path();
    let count = |below: &str| fs::read_dir(root.join(below)).unwrap().count();
    assert_eq!((count("refs"), count("listings"), count("derived")), (1, 1, 1));
    desk.github.put("flows/More.json", Some(b"{}"));
    desk.pass(60 * 24 * 29);
    newest(&source).await.unwrap();
    assert_eq!((count("refs"), count("listings"), count("derived")), (2, 2, 1));
    desk.github.put("flows/Most.json", Some(b"{}"));
    desk.pass(60 * 24 * 2);
    newest(&source).await.unwrap();
    assert_eq!((count("refs"), count("listings"), count("derived")), (1, 1, 0));
}

#[tokio::test]
async fn a_commit_that_is_used_is_not_forgotten_though_nobody_asks_about_it_again() {
    let desk = Desk::tea().await;
    let commit = desk.github.head();
    let ask = Ask { git_ref: Some(flowy::internals::names::RefName::new(&commit).unwrap()), refresh: false };
    desk.open().snapshot(&ask).await.unwrap();
    desk.pass(60 * 24 * 29);
    desk.open().snapshot(&ask).await.unwrap();
    desk.pass(60 * 24 * 29);
    desk.github.put("flows/More.json", Some(b"{}"));
    newest(&desk.open()).await.unwrap();
    desk.github.forget();
    let view = desk.open().snapshot(&ask).await.unwrap();
    assert_eq!((view.snapshot.commit().unwrap().as_str(), view.cached), (commit.as_str(), true));
    assert_eq!(all(&view).await.len(), 2);
    assert!(desk.github.hits().is_empty(), "it was used 29 days ago");
}

#[tokio::test]
async fn not_modified_without_a_copy_is_asked_again_without_the_condition() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::answer("/commits/", wiremock::ResponseTemplate::new(304)).times(1));
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert!(!desk.github.hits()[1].headers.contains_key("if-none-match"));
}

#[tokio::test]
async fn a_restart_within_the_life_asks_nothing_and_opens_few_files() {
    let desk = Desk::tea().await;
    let view = newest(&desk.open()).await.unwrap();
    view.snapshot.keep_derived("index", vec![b"a".to_vec(), b"kept index".to_vec()]).await.unwrap();
    // Everything but the ref record, the salt of its name and the derived file is taken away.
    let root = fs::read_dir(desk.settings.cache_dir.join("v1")).unwrap().next().unwrap().unwrap().path();
    for name in ["blobs", "listings"] {
        fs::rename(root.join(name), root.join(format!("{name}-aside"))).unwrap();
    }
    desk.github.forget();
    desk.pass(14);
    let source = desk.open();
    let view = newest(&source).await.unwrap();
    assert_eq!((view.cached, view.age), (true, Duration::from_mins(14)));
    let derived = view.snapshot.derived("index").await.unwrap();
    assert_eq!(derived.read(0).as_deref(), Some(&b"a"[..]));
    assert_eq!(derived.read(1).as_deref(), Some(&b"kept index"[..]));
    assert!(view.snapshot.derived("other").await.is_none());
    assert!(desk.github.hits().is_empty());
    // And what is missing is simply fetched again.
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert_eq!(all(&view).await.len(), 2);
}

#[tokio::test]
async fn a_restart_after_the_life_costs_one_conditional_request() {
    let desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    desk.github.forget();
    desk.pass(16);
    let view = newest(&desk.open()).await.unwrap();
    assert_eq!(all(&view).await.len(), 2);
    assert_eq!(desk.github.hits().len(), 1);
    assert!(desk.github.hits()[0].headers.contains_key("if-none-match"));
    // Which a third process profits from.
    desk.github.forget();
    desk.pass(14);
    assert!(newest(&desk.open()).await.unwrap().cached);
    assert!(desk.github.hits().is_empty());
}

#[tokio::test]
async fn derived_bytes_belong_to_their_revision() {
    let desk = Desk::tea().await;
    let source = desk.open();
    newest(&source).await.unwrap().snapshot.keep_derived("index", vec![b"old".to_vec()]).await.unwrap();
    desk.github.put("flows/Tea.json", Some(b"changed"));
    let view = refreshed(&source).await.unwrap();
    assert!(view.snapshot.derived("index").await.is_none());
}

#[tokio::test]
async fn a_damaged_blob_on_disk_is_fetched_again() {
    let desk = Desk::tea().await;
    newest(&desk.open()).await.unwrap();
    let mut folders = vec![desk.settings.cache_dir.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.components().any(|part| part.as_os_str() == "blobs") {
                fs::write(path, b"damaged").unwrap();
            }
        }
    }
    // All at once, as a listing reads them, and one by one.
    let view = newest(&desk.open()).await.unwrap();
    let whole = tea().iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    assert_eq!(all(&view).await, whole);
    assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    assert!(view.snapshot.problems().await.unwrap().is_empty());
}

#[tokio::test]
async fn without_a_usable_disk_everything_works_in_memory() {
    let mut desk = Desk::tea().await;
    desk.settings.cache_dir = desk.folder.path().join("taken");
    fs::write(&desk.settings.cache_dir, b"a file where the folder should be").unwrap();
    let source = desk.open();
    let view = newest(&source).await.unwrap();
    let kept = view.snapshot.keep_derived("index", vec![b"index".to_vec()]).await;
    assert_eq!(kept.unwrap_err(), [b"index".to_vec()], "handed back");
    desk.github.forget();
    let view = newest(&source).await.unwrap();
    assert_eq!(all(&view).await, tea().iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect());
    assert!(desk.github.hits().is_empty());
    desk.github.put("flows/New.json", Some(b"new"));
    let view = refreshed(&source).await.unwrap();
    drop(newest(&source).await.unwrap());
    assert_eq!(all(&view).await.len(), 3);
    assert_eq!(desk.github.count("graphql"), 1);
}

#[tokio::test]
async fn an_outage_is_bridged_with_the_age_and_the_reason() {
    let (desk, source) = Desk::read_once().await;
    desk.github.fault(Fault::status("", 502));
    desk.github.forget();
    desk.pass(20);
    for source in [&source, &desk.open()] {
        let view = newest(source).await.unwrap();
        let stale = view.stale.as_ref().unwrap();
        assert!(matches!(stale.reason, SourceError::GitHub { status: 502, .. }));
        assert_eq!((stale.since, view.age), (start(), Duration::from_mins(20)));
        assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
    }
    assert_eq!(desk.github.hits().len(), 6);
    // Not asked again for half a minute, unless somebody insists.
    desk.clock.advance(Duration::from_secs(29));
    assert!(newest(&source).await.unwrap().stale.is_some());
    assert_eq!(desk.github.hits().len(), 6);
    assert!(refreshed(&source).await.unwrap().stale.is_some());
    assert_eq!(desk.github.hits().len(), 9);
    desk.github.heal();
    desk.pass(1);
    assert!(newest(&source).await.unwrap().stale.is_none());
}

#[tokio::test]
async fn a_limit_is_bridged_until_its_reset_and_nobody_may_push() {
    let (desk, source) = Desk::read_once().await;
    desk.pass(20);
    let reset = (desk.now() + chrono::TimeDelta::minutes(30)).timestamp().to_string();
    let limit = Fault::status("", 403).header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", &reset);
    desk.github.fault(limit);
    desk.github.forget();
    assert!(newest(&source).await.unwrap().stale.is_some());
    desk.pass(29);
    assert!(refreshed(&source).await.unwrap().stale.is_some());
    assert_eq!(desk.github.hits().len(), 1);
    desk.github.heal();
    desk.pass(2);
    assert!(newest(&source).await.unwrap().stale.is_none());
}

#[tokio::test]
async fn a_refusal_is_not_bridged() {
    for fault in [
        Fault::status("", 401),
        Fault::status("", 403).saying("Resource not accessible by personal access token"),
        Fault::status("", 404),
    ] {
        let desk = Desk::tea().await;
        let source = desk.open();
        newest(&source).await.unwrap();
        desk.github.fault(fault);
        refreshed(&source).await.unwrap_err();
        // Nor is it forgotten as long as a copy would be fresh, here or in another process.
        newest(&source).await.unwrap_err();
        newest(&desk.open()).await.unwrap_err();
        desk.pass(20);
        newest(&source).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_push_whose_files_can_not_be_had_leaves_the_state_before_it() {
    for status in [500, 404] {
        let desk = Desk::tea().await;
        let source = desk.open();
        newest(&source).await.unwrap();
        desk.github.put("flows/Tea.json", Some(b"changed"));
        desk.github.fault(Fault::status("graphql", 502));
        desk.github.fault(Fault::status("flows/Tea.json", status));
        let view = refreshed(&source).await.unwrap();
        assert!(view.stale.is_some(), "{status}");
        assert_eq!(text(&view, "flows/Tea.json").await, tea()[0].1);
        assert!(view.snapshot.problems().await.unwrap().is_empty());
        desk.github.heal();
        assert_eq!(text(&refreshed(&source).await.unwrap(), "flows/Tea.json").await, "changed");
    }
}

#[tokio::test]
async fn fifty_callers_cause_one_fetch() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::delay("/commits/", Duration::from_millis(20)));
    let source = Arc::new(desk.open());
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move { text(&newest(&source).await.unwrap(), "flows/Tea.json").await })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), tea()[0].1);
    }
    assert_eq!(desk.github.hits().len(), 3);
}

#[tokio::test]
async fn a_first_caller_who_gives_up_harms_nobody() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::delay("/commits/", Duration::from_millis(20)));
    let source = Arc::new(desk.open());
    let start = |source: Arc<Source>| tokio::spawn(async move { newest(&source).await });
    let first = start(source.clone());
    let second = start(source.clone());
    while desk.github.hits().is_empty() {
        tokio::task::yield_now().await;
    }
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(second.await.unwrap().is_ok());
    assert_eq!(desk.github.hits().len(), 3);
}

#[tokio::test]
async fn when_all_callers_have_gone_nothing_more_is_asked() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::hang("/commits/"));
    let source = Arc::new(desk.open());
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let source = source.clone();
            tokio::spawn(async move { newest(&source).await })
        })
        .collect();
    while desk.github.hits().is_empty() {
        tokio::task::yield_now().await;
    }
    for caller in callers {
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
    }
    // The next caller does not find the old fetch still waiting, and is answered.
    desk.github.heal();
    assert!(newest(&source).await.is_ok());
    assert_eq!((desk.github.count("/commits/"), desk.github.hits().len()), (2, 4));
}

#[tokio::test]
async fn two_processes_share_a_cache_folder() {
    let desk = Desk::with(many(120)).await;
    let (one, other) = (desk.open(), desk.open());
    let (first, second) = tokio::join!(newest(&one), newest(&other));
    for view in [first.unwrap(), second.unwrap()] {
        assert_eq!(all(&view).await, many(120).into_iter().collect());
    }
    desk.github.forget();
    assert_eq!(all(&newest(&desk.open()).await.unwrap()).await.len(), 120);
    assert!(desk.github.hits().is_empty());
}
