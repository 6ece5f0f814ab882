//! A large catalog that was checked is not checked again until something changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use flowy::internals::catalog::{CatalogCheck, CheckOptions, ReportedFile, check};
use flowy::internals::clock::ManualClock;
use flowy::internals::names::CatalogPath;
use flowy::internals::source::{Ask, Source, SourceSpec};
use serde_json::json;
use tempfile::TempDir;

use crate::support::github::GitHub;

fn flow(name: &str) -> String {
    json!({"metadata": {"name": name, "version": "1.0.0"},
        "nodes": [{"id": "a", "type": "template", "data": {"template": format!("Say {name}.")}}], "edges": []})
    .to_string()
}

/// Checks the folder as a new process does, long after its last change.
async fn verdict(place: &Path, rest: &TempDir, tests: &[(&str, &str)]) -> CatalogCheck {
    let mut settings = GitHub::serving([("flows/a.json", "a")]).await.settings(rest.path());
    settings.cache_dir = rest.path().join("cache");
    let clock = ManualClock::at("2101-01-01T00:00:00Z".parse().unwrap());
    let source = Source::open(SourceSpec::Folder(place.to_owned()), &settings, clock).unwrap();
    let view = source.snapshot(&Ask::default()).await.unwrap();
    let test = |(path, text): &(&str, &str)| (CatalogPath::new(path).unwrap(), Arc::from(text.as_bytes()));
    let instead: BTreeMap<CatalogPath, Arc<[u8]>> = tests.iter().map(test).collect();
    let options = CheckOptions {
        wanted: &|_| true,
        whole: true,
        contents: false,
        lenient: false,
        tools: None,
        instead: &instead,
    };
    check(&view.snapshot, options).await.unwrap()
}

/// How many verdicts are kept.
fn kept(rest: &TempDir) -> usize {
    let names = fs::read_dir(rest.path().join("cache/v1/folders")).into_iter().flatten();
    names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("verdict-")).count()
}

fn counted(check: &CatalogCheck) -> (usize, usize, usize) {
    let findings = check.files.iter().map(|file| file.findings.len()).sum();
    (check.files.iter().map(|file| file.facts.flows).sum(), check.files.iter().map(|file| file.tests).sum(), findings)
}

#[tokio::test]
async fn a_verdict_is_kept_with_what_was_found_until_something_changes() {
    let (place, rest) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(place.path().join("flows")).unwrap();
    let write = |name: &str, text: String| fs::write(place.path().join(format!("flows/{name}.json")), text).unwrap();
    for number in 0..201 {
        write(&format!("F{number}"), flow(&format!("F{number}")));
    }
    let test = r#"{"flow": "F7", "expect": {"finalResult": "Say F7."}}"#;
    for (tests, counts) in [(&[][..], (201, 0, 0)), (&[("tests/a.flowtest.json", test)], (201, 1, 0))] {
        let before = kept(&rest);
        assert_eq!(counted(&verdict(place.path(), &rest, tests).await), counts);
        assert_eq!(kept(&rest), before + 1);
        assert_eq!(counted(&verdict(place.path(), &rest, tests).await), counts, "what is kept says the same");
        assert_eq!(kept(&rest), before + 1);
    }
    let other = test.replace("F7\",", "F999\",");
    assert_eq!(counted(&verdict(place.path(), &rest, &[("tests/a.flowtest.json", &other)]).await), (201, 1, 1));

    write("F7", flow("F7").replace("Say F7.", "Say {F8_result}."));
    write("F8", flow("F8").replace("\"nodes\"", "\"x-flowy-ignore\": {\"missing-name\": \"\"}, \"nodes\""));
    write("F9", format!("\u{FEFF}{}", flow("F9").replace("\"F9\"", "\"F10\"")));
    write("F11", "{\"metadata\": ".to_owned());
    let found = verdict(place.path(), &rest, &[]).await;
    assert_eq!(counted(&found).2, 3);
    assert_eq!(kept(&rest), 1, "of earlier states nothing stays");
    let again = verdict(place.path(), &rest, &[]).await;
    let told = |check: &CatalogCheck| {
        let of_file =
            |file: &ReportedFile| (file.file.clone(), file.findings.clone(), format!("{:?}", file.suppressed));
        check.files.iter().map(of_file).collect::<Vec<_>>()
    };
    assert_eq!(told(&again), told(&found), "what is kept says the same, with the same texts around it");
    for name in ["F7", "F8", "F9", "F11"] {
        write(name, flow(name));
    }
    assert_eq!(counted(&verdict(place.path(), &rest, &[]).await), (201, 0, 0));
    assert_eq!(kept(&rest), 1, "of earlier states nothing stays");
}
