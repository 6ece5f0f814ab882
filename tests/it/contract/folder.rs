//! A folder as a source: read as it is now, and never beyond its own ground.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chrono::DateTime;
use flowy::internals::clock::ManualClock;
use flowy::internals::names::CatalogPath;
use flowy::internals::source::{Ask, ProblemKind, Source, SourceError, SourceSpec, View, slug};
use tempfile::TempDir;

use crate::support::github::GitHub;

async fn opened(folder: &Path) -> (TempDir, Result<Source, SourceError>) {
    let rest = tempfile::tempdir().unwrap();
    let mut settings = GitHub::serving([("flows/a.json", "a")]).await.settings(rest.path());
    settings.max_file_size = 100;
    let spec = SourceSpec::Folder(folder.to_owned());
    (rest, Source::open(spec, &settings, ManualClock::at(DateTime::UNIX_EPOCH)))
}

async fn look(source: &Source) -> View {
    source.snapshot(&Ask::default()).await.unwrap()
}

fn write(folder: &Path, path: &str, text: &str) {
    let place = folder.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, text).unwrap();
}

fn path(text: &str) -> CatalogPath {
    CatalogPath::new(text).unwrap()
}

#[tokio::test]
async fn a_change_is_seen_at_once() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "flows/sales/a.json", "one");
    write(place.path(), "notes.txt", "not the catalog's");
    let (_rest, source) = opened(place.path()).await;
    let source = source.unwrap();
    let first = look(&source).await;
    assert_eq!(first.snapshot.read(&path("flows/sales/a.json")).await.unwrap()[..], b"one"[..]);
    assert_eq!(first.snapshot.read_all().await.unwrap().len(), 1);
    assert_eq!((first.snapshot.commit(), first.snapshot.git_ref()), (None, None));
    // Few files are read as quickly as what could be kept of them.
    first.snapshot.keep_derived("index", vec![b"of one".to_vec()]).await.unwrap_err();
    let same = look(&source).await;
    assert!(Arc::ptr_eq(&first.snapshot, &same.snapshot));
    assert!(same.snapshot.derived("index").await.is_none());
    write(place.path(), "templates/b.json", "two");
    let second = look(&source).await;
    assert_ne!(first.snapshot.revision(), second.snapshot.revision());
    assert_eq!(second.snapshot.files().await.unwrap().len(), 2);
}

/// The names of what is kept of folders.
fn kept(rest: &Path) -> Vec<String> {
    let folder = rest.join("cache/v1/folders");
    let names = fs::read_dir(folder).into_iter().flatten();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn what_is_made_of_a_large_folder_is_kept_until_a_file_changes_however_alike_it_looks() {
    let (place, rest) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..201 {
        write(place.path(), &format!("flows/{number}.json"), "one");
    }
    let mut settings = GitHub::serving([("flows/a.json", "a")]).await.settings(rest.path());
    settings.cache_dir = rest.path().join("cache");
    let at = |now: &str| {
        let spec = SourceSpec::Folder(place.path().to_owned());
        Source::open(spec, &settings, ManualClock::at(now.parse().unwrap())).unwrap()
    };
    // As the file system's clock has it, this folder was changed a moment ago, or will be.
    let now = look(&at("2001-01-01T00:00:00Z")).await;
    now.snapshot.keep_derived("index", vec![b"of now".to_vec()]).await.unwrap_err();
    assert_eq!(kept(rest.path()).len(), 0);

    let later = look(&at("2101-01-01T00:00:00Z")).await;
    later.snapshot.keep_derived("index", vec![b"of one".to_vec()]).await.unwrap();
    let again = look(&at("2101-01-01T00:00:00Z")).await;
    assert_eq!(again.snapshot.derived("index").await.unwrap().read(0).as_deref(), Some(&b"of one"[..]));
    assert!(again.snapshot.derived("other").await.is_none());

    let changed = place.path().join("flows/7.json");
    let modified = fs::metadata(&changed).unwrap().modified().unwrap();
    // Rewritten in place: the file, its size and its time stay the same.
    fs::write(&changed, "two").unwrap();
    fs::File::options().append(true).open(&changed).unwrap().set_modified(modified).unwrap();
    let changed = look(&at("2101-01-01T00:00:00Z")).await;
    assert!(changed.snapshot.derived("index").await.is_none());
    changed.snapshot.keep_derived("index", vec![b"of two".to_vec()]).await.unwrap();
    assert_eq!(kept(rest.path()).len(), 1, "of an earlier state nothing stays");
}

#[tokio::test]
async fn large_files_are_named_with_size_and_limit() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "flows/big.json", &"x".repeat(101));
    let (_rest, source) = opened(place.path()).await;
    let view = look(&source.unwrap()).await;
    assert_eq!(view.snapshot.problems().await.unwrap()[0].kind, ProblemKind::TooLarge { size: 101, limit: 100 });
    let error = view.snapshot.read(&path("flows/big.json")).await.unwrap_err();
    assert!(matches!(error, SourceError::FileTooLarge { size: 101, limit: 100, .. }));
    let error = view.snapshot.read(&path("flows/none.json")).await.unwrap_err();
    assert!(matches!(error, SourceError::NoSuchFile { .. }));
}

#[tokio::test]
async fn a_pointer_to_git_lfs_is_told_as_one() {
    let place = tempfile::tempdir().unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
    write(place.path(), "flows/lfs.json", pointer);
    let (_rest, source) = opened(place.path()).await;
    let error = look(&source.unwrap()).await.snapshot.read(&path("flows/lfs.json")).await.unwrap_err();
    let SourceError::NotRead { kind, .. } = &error else { panic!("{error}") };
    assert_eq!(**kind, ProblemKind::LfsPointer { size: Some(9) });
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_can_t_be_looked_at_is_not_an_empty_one() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "flows/real.json", "real");
    // A ring of links: unlike a right that is taken away, it holds for every user.
    std::os::unix::fs::symlink("closed", place.path().join("flows/closed")).unwrap();
    std::os::unix::fs::symlink("templates", place.path().join("templates")).unwrap();
    let (_rest, source) = opened(place.path()).await;
    let problems = look(&source.unwrap()).await.snapshot.problems().await.unwrap();
    let named: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(named, ["flows/closed", "templates"]);
    assert!(problems.iter().all(|problem| matches!(problem.kind, ProblemKind::Unreadable { .. })));
}

#[cfg(unix)]
#[tokio::test]
async fn links_that_lead_out_are_refused_even_if_they_appear_later() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "secret.json", "secret");
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "flows/real.json", "real");
    symlink(outside.path().join("secret.json"), place.path().join("flows/out.json")).unwrap();
    symlink(outside.path(), place.path().join("personas")).unwrap();
    symlink(place.path().join("flows/real.json"), place.path().join("flows/in.json")).unwrap();
    symlink(place.path().join("flows"), place.path().join("flows/loop")).unwrap();
    symlink(place.path().join("nowhere"), place.path().join("flows/dead.json")).unwrap();
    let (_rest, source) = opened(place.path()).await;
    let view = look(&source.unwrap()).await;
    let files: Vec<String> = view.snapshot.files().await.unwrap().iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(files, ["flows/in.json", "flows/real.json"]);
    let problems = view.snapshot.problems().await.unwrap();
    let named: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(named, ["flows/dead.json", "flows/loop", "flows/out.json", "personas"]);
    fs::remove_file(place.path().join("flows/real.json")).unwrap();
    symlink(outside.path().join("secret.json"), place.path().join("flows/real.json")).unwrap();
    let error = view.snapshot.read(&path("flows/real.json")).await.unwrap_err();
    assert!(matches!(error, SourceError::NotRead { .. }), "{error}");
}

#[tokio::test]
async fn what_is_no_folder_is_refused_when_it_is_opened() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), "flow.json", "{}");
    for (name, reason) in [("none", "does not exist"), ("flow.json", "is a file")] {
        let (_rest, source) = opened(&place.path().join(name)).await;
        let error = source.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn an_empty_folder_is_an_empty_catalog() {
    let place = tempfile::tempdir().unwrap();
    let (_rest, source) = opened(place.path()).await;
    let source = source.unwrap();
    assert!(source.describe().starts_with("folder "));
    assert!(look(&source).await.snapshot.files().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_examples_are_read_like_any_catalog() {
    static FILES: [(&str, &[u8]); 2] = [("flows/a.json", b"a"), ("README.md", b"no")];
    let rest = tempfile::tempdir().unwrap();
    let settings = GitHub::serving([("flows/a.json", "a")]).await.settings(rest.path());
    let source = Source::open(SourceSpec::Examples(&FILES), &settings, ManualClock::at(DateTime::UNIX_EPOCH)).unwrap();
    assert_eq!(source.describe(), "built-in examples");
    let view = look(&source).await;
    assert_eq!(view.snapshot.read(&path("flows/a.json")).await.unwrap()[..], b"a"[..]);
    assert_eq!(view.snapshot.files().await.unwrap().len(), 1);
    assert!(slug::parse("acme/flows", &settings.api_url).is_ok());
}
