//! The laws of `fuzz/laws`, held against the bytes that are kept in `fuzz/kept`: what fuzzing found once
//! is not found again.

#[path = "../../fuzz/laws/mod.rs"]
mod laws;

use crate::support::checking::{entries, repository};

/// Holds a law against each file, and names all that break it.
fn hold(law: fn(&[u8]), files: Vec<(String, Vec<u8>)>) {
    assert!(!files.is_empty());
    let breaks = |(_, bytes): &(String, Vec<u8>)| std::panic::catch_unwind(|| law(bytes)).is_err();
    let broken: Vec<String> = files.into_iter().filter(breaks).map(|(file, _)| file).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

fn kept(of: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::fs::read_dir(repository().join("fuzz/kept").join(of)).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.display().to_string(), std::fs::read(file).unwrap())).collect()
}

/// What is kept, and the files that other tests check.
fn kept_and_fixtures(of: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = kept(of);
    files.extend(entries(&repository().join("tests/fixtures"), "fixtures"));
    files
}

#[test]
fn kept_files_are_read_the_same_twice_and_places_lie_in_them() {
    hold(laws::reader, kept_and_fixtures("reader"));
}

#[test]
fn kept_flows_are_checked_the_same_twice_and_what_passes_comes_to_an_end() {
    hold(laws::checker, kept_and_fixtures("checker"));
}

#[test]
fn kept_texts_are_filled_once_and_within_bounds() {
    hold(laws::rendering, kept("rendering"));
}

#[test]
fn kept_cursors_go_on_with_their_listing_or_are_refused() {
    hold(laws::cursors, kept("cursors"));
}

#[test]
fn kept_logs_are_read_back_as_they_were_written_or_refused() {
    hold(laws::entries, kept("entries"));
}

#[test]
fn kept_lines_are_the_same_however_they_come_and_are_answered() {
    hold(laws::lines, kept("lines"));
}
