//! A stand-in for GitHub: one repository of given files, with real git ids, over real HTTP.
//!
//! It answers what the product asks (refs, trees, blobs, GraphQL, raw files, archives, comparisons),
//! writes down every request, and misbehaves on demand: see [`Fault`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use flowy::internals::cache::blob_id;
use flowy::internals::config::{Environment, Flags, Secret, Settings};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use sha1::{Digest as _, Sha1};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// The token that a stand-in's settings carry; long enough to be found wherever it leaks.
pub(crate) const TOKEN: &str = "github_pat_11STANDIN0abcdefgh_ijklmnopqrstuvwxyz0123456789";

/// What a path of the repository is.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    File(Vec<u8>),
    Symlink,
    Submodule,
}

/// How a request is answered instead of properly.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    matching: String,
    answer: Answer,
    times: usize,
}

#[derive(Debug, Clone)]
enum Answer {
    Instead(ResponseTemplate),
    Delay(Duration),
    CutOff,
    CutText,
    Binary,
    Beside(Value),
}

impl Fault {
    fn new(matching: &str, answer: Answer) -> Self {
        Self { matching: matching.to_owned(), answer, times: usize::MAX }
    }

    /// Requests whose path holds `matching` (or which ask for the blob of that file) get this status.
    pub(crate) fn status(matching: &str, status: u16) -> Self {
        let body = json!({"message": format!("Status {status}")});
        Self::new(matching, Answer::Instead(ResponseTemplate::new(status).set_body_json(body)))
    }

    /// Posts to GraphQL get their data, and this as `errors` beside it.
    pub(crate) fn beside(errors: Value) -> Self {
        Self::new("graphql", Answer::Beside(errors))
    }

    /// They get this answer.
    pub(crate) fn answer(matching: &str, answer: ResponseTemplate) -> Self {
        Self::new(matching, Answer::Instead(answer))
    }

    /// They get no answer.
    pub(crate) fn hang(matching: &str) -> Self {
        Self::delay(matching, Duration::from_hours(1))
    }

    /// They get their answer late.
    pub(crate) fn delay(matching: &str, delay: Duration) -> Self {
        Self::new(matching, Answer::Delay(delay))
    }

    /// The connection ends before the body does.
    pub(crate) fn cut_off(matching: &str) -> Self {
        Self::new(matching, Answer::CutOff)
    }

    /// GraphQL cuts this file's text.
    pub(crate) fn cut_text(path: &str) -> Self {
        Self::new(path, Answer::CutText)
    }

    /// GraphQL takes this file for binary.
    pub(crate) fn binary(path: &str) -> Self {
        Self::new(path, Answer::Binary)
    }

    /// Another text in the message of the answer.
    pub(crate) fn saying(self, message: &str) -> Self {
        self.changed(|answer| answer.set_body_json(json!({"message": message})))
    }

    /// With one more header.
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        self.changed(|answer| answer.insert_header(name, value))
    }

    /// Only for the first so many requests.
    pub(crate) fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    fn changed(mut self, change: impl FnOnce(ResponseTemplate) -> ResponseTemplate) -> Self {
        if let Answer::Instead(answer) = self.answer {
            self.answer = Answer::Instead(change(answer));
        }
        self
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    /// Decoded, without the query.
    pub(crate) path: String,
    /// Path and query as they were sent.
    pub(crate) sent: String,
    pub(crate) headers: BTreeMap<String, String>,
}

struct Commit {
    files: BTreeMap<String, Entry>,
    foreign: bool,
}

struct State {
    slug: String,
    default_branch: String,
    refs: BTreeMap<String, String>,
    commits: BTreeMap<String, Commit>,
    blobs: BTreeMap<String, Vec<u8>>,
    paths: BTreeMap<String, String>,
    truncated: BTreeSet<String>,
    faults: Vec<Fault>,
    hits: Vec<Hit>,
    address: String,
}

/// The running stand-in; it ends when it is dropped.
pub(crate) struct GitHub {
    server: MockServer,
    state: Arc<Mutex<State>>,
}

impl GitHub {
    /// `acme/flows`, with these files on its default branch `trunk`.
    pub(crate) async fn serving<P: AsRef<str>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let files =
            files.into_iter().map(|(path, bytes)| (path.as_ref().to_owned(), Entry::File(bytes.as_ref().to_vec())));
        Self::holding(files.collect()).await
    }

    /// The same with entries of any kind.
    pub(crate) async fn holding(files: BTreeMap<String, Entry>) -> Self {
        let server = MockServer::builder().disable_request_recording().start().await;
        let state = State {
            slug: "acme/flows".to_owned(),
            default_branch: "trunk".to_owned(),
            refs: BTreeMap::new(),
            commits: BTreeMap::new(),
            blobs: BTreeMap::new(),
            paths: BTreeMap::new(),
            truncated: BTreeSet::new(),
            faults: Vec::new(),
            hits: Vec::new(),
            address: server.uri(),
        };
        let state = Arc::new(Mutex::new(state));
        Mock::given(any()).respond_with(StandIn(state.clone())).mount(&server).await;
        let github = Self { server, state };
        github.branch("trunk", files);
        github
    }

    /// Its REST address.
    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }

    /// Settings that lead here, with a token, and folders below `folder`.
    pub(crate) fn settings(&self, folder: &Path) -> Settings {
        let environment = Environment::of([("HOME", folder)]);
        Settings {
            source: Some("acme/flows".to_owned()),
            token: Some(Secret::new(TOKEN.to_owned())),
            api_url: self.url(),
            cache_dir: folder.join("cache"),
            state_dir: folder.join("state"),
            servers: None,
            fetch_deadline: Duration::from_secs(20),
            request_timeout: Duration::from_secs(10),
            ..Settings::load(&Flags::default(), &environment).unwrap()
        }
    }

    /// Moves a branch to a commit with exactly these files; returns the commit.
    pub(crate) fn branch(&self, name: &str, files: BTreeMap<String, Entry>) -> String {
        let mut state = self.state.lock().unwrap();
        let sha = state.add(files, false);
        state.refs.insert(name.to_owned(), sha.clone());
        sha
    }

    /// A commit that no branch of this repository holds, as forks have them.
    pub(crate) fn foreign(&self, files: BTreeMap<String, Entry>) -> String {
        self.state.lock().unwrap().add(files, true)
    }

    /// Writes (or with `None` removes) a file on the default branch; returns the new commit.
    pub(crate) fn put(&self, path: &str, bytes: Option<&[u8]>) -> String {
        let mut files = {
            let state = self.state.lock().unwrap();
            state.commits[&state.refs[&state.default_branch]].files.clone()
        };
        match bytes {
            Some(bytes) => files.insert(path.to_owned(), Entry::File(bytes.to_vec())),
            None => files.remove(path),
        };
        self.branch("trunk", files)
    }

    /// The commit of the default branch.
    pub(crate) fn head(&self) -> String {
        let state = self.state.lock().unwrap();
        state.refs[&state.default_branch].clone()
    }

    /// Answers for another name, and moves the old one there, as GitHub does after a renaming.
    pub(crate) fn rename(&self, slug: &str) {
        slug.clone_into(&mut self.state.lock().unwrap().slug);
    }

    /// Takes every branch away: a repository without commits.
    pub(crate) fn empty(&self) {
        self.state.lock().unwrap().refs.clear();
    }

    /// Recursive listings of this folder (`""` for the whole) are cut off.
    pub(crate) fn truncate(&self, folder: &str) {
        self.state.lock().unwrap().truncated.insert(folder.to_owned());
    }

    /// Misbehaves from now on.
    pub(crate) fn fault(&self, fault: Fault) {
        self.state.lock().unwrap().faults.push(fault);
    }

    /// Behaves again.
    pub(crate) fn heal(&self) {
        self.state.lock().unwrap().faults.clear();
    }

    /// Every request so far.
    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.state.lock().unwrap().hits.clone()
    }

    /// How many requests there were whose path holds this.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.hits().iter().filter(|hit| hit.path.contains(part)).count()
    }

    /// Starts counting anew.
    pub(crate) fn forget(&self) {
        self.state.lock().unwrap().hits.clear();
    }
}

struct StandIn(Arc<Mutex<State>>);

impl Respond for StandIn {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.lock().unwrap().answer(request)
    }
}

fn not_found() -> ResponseTemplate {
    ResponseTemplate::new(404).set_body_json(json!({"message": "Not Found", "status": "404"}))
}

impl State {
    fn add(&mut self, files: BTreeMap<String, Entry>, foreign: bool) -> String {
        let mut hash = Sha1::new();
        hash.update(self.commits.len().to_le_bytes());
        for (path, entry) in &files {
            hash.update(path);
            if let Entry::File(bytes) = entry {
                let id = blob_id(bytes).to_string();
                hash.update(&id);
                self.paths.entry(id.clone()).or_insert_with(|| path.clone());
                self.blobs.insert(id, bytes.clone());
            }
        }
        let sha = hex(&hash.finalize());
        self.commits.insert(sha.clone(), Commit { files, foreign });
        sha
    }

    fn answer(&mut self, request: &Request) -> ResponseTemplate {
        let path = percent_decode_str(request.url.path()).decode_utf8_lossy().into_owned();
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        let hit = Hit {
            path: path.clone(),
            sent: request
                .url
                .query()
                .map_or_else(|| request.url.path().to_owned(), |query| format!("{}?{query}", request.url.path())),
            headers: headers.collect(),
        };
        self.hits.push(hit.clone());
        let place = path.strip_prefix("/api/v3").unwrap_or(&path).to_owned();
        let subject = match place.rsplit_once("/git/blobs/") {
            Some((_, id)) => format!("{place} {}", self.path_of(id)),
            None => place.clone(),
        };
        let is_post = place == "/graphql" || place == "/api/graphql";
        let mut delay = None;
        let mut cut = false;
        for fault in &mut self.faults {
            if fault.times == 0 || !subject.contains(&fault.matching) {
                continue;
            }
            match &fault.answer {
                Answer::Instead(answer) => {
                    fault.times -= 1;
                    return answer.clone();
                }
                Answer::Delay(time) => delay = Some(*time),
                Answer::CutOff => cut = true,
                Answer::CutText | Answer::Binary | Answer::Beside(_) => continue,
            }
            fault.times -= 1;
        }
        let answer = if is_post { self.graphql(request) } else { self.rest(&place, &hit) };
        let answer = delay.map_or_else(|| answer.clone(), |delay| answer.clone().set_delay(delay));
        if cut { answer.insert_header("content-length", "1000000") } else { answer }
    }

    fn path_of(&self, id: &str) -> String {
        self.paths.get(id).cloned().unwrap_or_default()
    }

    fn resolve(&self, name: &str) -> Option<String> {
        let name = if name == "HEAD" { &self.default_branch } else { name };
        let plain = name.strip_prefix("heads/").or_else(|| name.strip_prefix("tags/")).unwrap_or(name);
        if let Some(sha) = self.refs.get(plain) {
            return Some(sha.clone());
        }
        let hex = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.commits.keys().find(|sha| hex && sha.starts_with(name)).cloned()
    }

    fn rest(&self, place: &str, hit: &Hit) -> ResponseTemplate {
        if let Some(rest) = place.strip_prefix("/raw/") {
            return self.raw(rest);
        }
        if let Some(sha) = place.strip_prefix("/codeload/") {
            return self.archive(sha);
        }
        let Some(rest) = place.strip_prefix("/repos/") else { return not_found() };
        let mut parts = rest.splitn(3, '/');
        let slug = format!("{}/{}", parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let rest = parts.next().unwrap_or("");
        if slug != self.slug {
            if slug != "acme/flows" {
                return not_found();
            }
            let moved = hit.sent.replacen("/repos/acme/flows", &format!("/repos/{}", self.slug), 1);
            let moved = format!("{}{moved}", self.address);
            return ResponseTemplate::new(301).insert_header("location", moved.as_str());
        }
        if rest.is_empty() {
            return ResponseTemplate::new(200)
                .set_body_json(json!({"full_name": self.slug, "default_branch": self.default_branch}));
        }
        if let Some(name) = rest.strip_prefix("commits/") {
            return self.commit(name, hit);
        }
        if let Some(id) = rest.strip_prefix("git/trees/") {
            return self.tree(id, hit.sent.contains("recursive=1"));
        }
        if let Some(id) = rest.strip_prefix("git/blobs/") {
            return match self.blobs.get(id) {
                Some(bytes) => ResponseTemplate::new(200).set_body_raw(bytes.clone(), "application/vnd.github.raw"),
                None => not_found(),
            };
        }
        if let Some(kind) = rest.strip_prefix("git/matching-refs/") {
            let refs = self
                .refs
                .iter()
                .map(|(name, sha)| json!({"ref": format!("refs/{kind}/{name}"), "object": {"sha": sha}}));
            return ResponseTemplate::new(200).set_body_json(refs.collect::<Vec<_>>());
        }
        if let Some(sha) = rest.strip_prefix("tarball/") {
            let place = format!("{}/codeload/{sha}", self.address);
            return ResponseTemplate::new(302).insert_header("location", place.as_str());
        }
        if let Some((_, head)) = rest.strip_prefix("compare/").and_then(|both| both.split_once("...")) {
            return match self.commits.get(head) {
                Some(commit) => ResponseTemplate::new(200)
                    .set_body_json(json!({"status": if commit.foreign { "diverged" } else { "behind" }})),
                None => not_found(),
            };
        }
        not_found()
    }

    fn commit(&self, name: &str, hit: &Hit) -> ResponseTemplate {
        if self.refs.is_empty() {
            return ResponseTemplate::new(409).set_body_json(json!({"message": "Git Repository is empty."}));
        }
        let Some(sha) = self.resolve(name) else {
            let message = format!("No commit found for SHA: {name}");
            return ResponseTemplate::new(422).set_body_json(json!({"message": message}));
        };
        let tag = format!("\"{sha}\"");
        if hit.headers.get("if-none-match") == Some(&tag) {
            return ResponseTemplate::new(304);
        }
        assert_eq!(hit.headers.get("accept").map(String::as_str), Some("application/vnd.github.sha"));
        ResponseTemplate::new(200).insert_header("etag", tag.as_str()).set_body_raw(sha, "application/vnd.github.sha")
    }

    fn tree(&self, id: &str, deep: bool) -> ResponseTemplate {
        // A folder's id here is its commit's with the folder behind it: only we read it.
        let (sha, folder) = id.split_once(':').unwrap_or((id, ""));
        let Some(commit) = self.commits.get(sha) else { return not_found() };
        let inside = |path: &str| -> Option<String> {
            if folder.is_empty() {
                Some(path.to_owned())
            } else {
                path.strip_prefix(&format!("{folder}/")).map(str::to_owned)
            }
        };
        let mut rows: BTreeMap<String, Value> = BTreeMap::new();
        for (path, entry) in &commit.files {
            let Some(below) = inside(path) else { continue };
            for (at, _) in below.match_indices('/') {
                let name = &below[..at];
                if deep || !name.contains('/') {
                    let whole = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                    rows.insert(
                        name.to_owned(),
                        json!({"path": name, "mode": "040000", "type": "tree", "sha": format!("{sha}:{whole}")}),
                    );
                }
            }
            if !deep && below.contains('/') {
                continue;
            }
            let row = match entry {
                Entry::File(bytes) => {
                    json!({"path": below, "mode": "100644", "type": "blob", "sha": blob_id(bytes).as_str(), "size": bytes.len()})
                }
                Entry::Symlink => {
                    json!({"path": below, "mode": "120000", "type": "blob", "sha": "1".repeat(40), "size": 9})
                }
                Entry::Submodule => json!({"path": below, "mode": "160000", "type": "commit", "sha": "2".repeat(40)}),
            };
            rows.insert(below, row);
        }
        let truncated = deep && self.truncated.contains(folder);
        let mut rows: Vec<Value> = rows.into_values().collect();
        if truncated {
            rows.truncate(1);
        }
        ResponseTemplate::new(200).set_body_json(json!({"sha": id, "tree": rows, "truncated": truncated}))
    }

    fn raw(&self, rest: &str) -> ResponseTemplate {
        let mut parts = rest.splitn(4, '/');
        let (_, _, sha, path) = (parts.next(), parts.next(), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        match self.commits.get(sha).and_then(|commit| commit.files.get(path)) {
            Some(Entry::File(bytes)) => ResponseTemplate::new(200).set_body_raw(bytes.clone(), "text/plain"),
            _ => ResponseTemplate::new(404).set_body_string("404: Not Found"),
        }
    }

    fn archive(&self, sha: &str) -> ResponseTemplate {
        let Some(commit) = self.commits.get(sha) else { return not_found() };
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, entry) in &commit.files {
            let Entry::File(bytes) = entry else { continue };
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("acme-flows-{}/{path}", &sha[..7]), bytes.as_slice()).unwrap();
        }
        let mut packed = archive.into_inner().unwrap();
        packed.flush().unwrap();
        ResponseTemplate::new(200).set_body_raw(packed.finish().unwrap(), "application/x-gzip")
    }

    fn graphql(&mut self, request: &Request) -> ResponseTemplate {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let variables = asked["variables"].as_object().unwrap();
        let mut repository = serde_json::Map::new();
        let mut errors = Vec::new();
        if asked["query"].as_str().unwrap().contains("defaultBranchRef") {
            repository.insert("defaultBranchRef".to_owned(), json!({"name": self.default_branch}));
        }
        for (name, id) in variables.iter().filter(|(name, _)| name.starts_with('o') && *name != "owner") {
            let alias = format!("b{}", &name[1..]);
            let id = id.as_str().unwrap();
            let path = self.path_of(id);
            let fault =
                self.faults.iter_mut().find(|fault| fault.times > 0 && !path.is_empty() && fault.matching == path);
            let blob = self.blobs.get(id).map(|bytes| {
                let text = String::from_utf8(bytes.clone()).ok();
                let binary = text.is_none();
                json!({"oid": id, "byteSize": bytes.len(), "isBinary": binary, "isTruncated": false, "text": text})
            });
            let blob = match (fault.map(|fault| fault.answer.clone()), blob) {
                (Some(Answer::CutText), Some(mut blob)) => {
                    let text: String = blob["text"].as_str().unwrap().chars().take(3).collect();
                    blob["text"] = json!(text);
                    blob["isTruncated"] = json!(true);
                    Some(blob)
                }
                (Some(Answer::Binary), Some(mut blob)) => {
                    blob["text"] = Value::Null;
                    blob["isBinary"] = json!(true);
                    Some(blob)
                }
                (Some(_), _) => {
                    errors.push(json!({"message": "Something went wrong", "path": ["repository", alias]}));
                    None
                }
                (None, blob) => blob,
            };
            repository.insert(alias, blob.unwrap_or(Value::Null));
        }
        let mut answer = json!({"data": {"repository": repository}});
        if !errors.is_empty() {
            answer["errors"] = errors.into();
        }
        for fault in &self.faults {
            if let Answer::Beside(errors) = &fault.answer {
                answer["errors"] = errors.clone();
            }
        }
        ResponseTemplate::new(200).set_body_json(answer)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
