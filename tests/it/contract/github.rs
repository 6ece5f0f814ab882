//! GitHub as a source: what is asked, what is kept, and what its misbehaviour does to the user.

mod fetching;
mod keeping;
mod limits;
mod odd;
mod refs;
mod refusing;
mod sharing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use flowy::internals::clock::{Clock, ManualClock};
use flowy::internals::config::Settings;
use flowy::internals::names::{CatalogPath, RefName};
use flowy::internals::source::{Ask, Pace, Source, SourceError, View, slug};
use tempfile::TempDir;

use crate::support::github::{Entry, GitHub};

/// A stand-in GitHub, a cache folder and a clock that stands still.
struct Desk {
    github: GitHub,
    folder: TempDir,
    clock: Arc<ManualClock>,
    settings: Settings,
}

impl Desk {
    async fn with<P: AsRef<str>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        Self::at(GitHub::serving(files).await)
    }

    fn at(github: GitHub) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = github.settings(folder.path());
        Self { github, folder, clock: ManualClock::at(start()), settings }
    }

    /// A flow and its template.
    async fn tea() -> Self {
        Self::with(tea()).await
    }

    /// The same with its source, which has read the catalog.
    async fn read_once() -> (Self, Source) {
        let desk = Self::tea().await;
        let source = desk.open();
        newest(&source).await.unwrap();
        (desk, source)
    }

    fn without_token(mut self) -> Self {
        self.settings.token = None;
        self
    }

    /// Opens the source as a new process would.
    fn open(&self) -> Source {
        self.open_as("acme/flows")
    }

    fn open_as(&self, text: &str) -> Source {
        let spec = slug::parse(text, &self.settings.api_url).unwrap();
        Source::open_at(spec, &self.settings, self.clock.clone(), Pace::Hurried).unwrap()
    }

    fn pass(&self, minutes: u64) {
        self.clock.advance(Duration::from_mins(minutes));
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}

fn start() -> DateTime<Utc> {
    "2026-01-05T09:00:00Z".parse().unwrap()
}

fn tea() -> [(&'static str, &'static str); 2] {
    [("flows/Tea.json", "{\"flow\": \"tea\"}"), ("templates/Tea_Text.json", "{\"template\": \"tea\"}")]
}

fn many(count: usize) -> Vec<(String, String)> {
    (0..count).map(|number| (format!("flows/F{number:04}.json"), format!("{{\"number\": {number}}}"))).collect()
}

fn entries(files: &[(&str, &str)]) -> BTreeMap<String, Entry> {
    files.iter().map(|(path, text)| ((*path).to_owned(), Entry::File(text.as_bytes().to_vec()))).collect()
}

fn path(text: &str) -> CatalogPath {
    CatalogPath::new(text).unwrap()
}

async fn newest(source: &Source) -> Result<View, SourceError> {
    source.snapshot(&Ask::default()).await
}

async fn refreshed(source: &Source) -> Result<View, SourceError> {
    source.snapshot(&Ask { git_ref: None, refresh: true }).await
}

async fn at(source: &Source, git_ref: &str) -> Result<View, SourceError> {
    source.snapshot(&Ask { git_ref: Some(RefName::new(git_ref).unwrap()), refresh: false }).await
}

async fn text(view: &View, file: &str) -> String {
    String::from_utf8(view.snapshot.read(&path(file)).await.unwrap().to_vec()).unwrap()
}

/// All files as text, by path; a file that cannot be had as its error.
async fn all(view: &View) -> BTreeMap<String, String> {
    let files = view.snapshot.read_all().await.unwrap();
    files
        .into_iter()
        .map(|(path, bytes)| {
            let text = bytes.map_or_else(|error| format!("! {error}"), |bytes| String::from_utf8_lossy(&bytes).into());
            (path.to_string(), text)
        })
        .collect()
}
