//! Fetching files: many at once by GraphQL, raw, or as a tarball, and one by one where that fails.
//!
//! Whatever the way, bytes count only if they hash to the blob's id. One file that cannot be had is
//! that file's error; an error about everything (a limit, a refused token) ends the whole fetch.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream;

use super::client::{ApiCall, Effort, GithubClient, Target};
use super::endpoints::segment;
use super::limits::graphql_limit;
use super::{tarball, wire};
use crate::cache::{Kept, Objects, blob_id};
use crate::lock::lock;
use crate::names::{CatalogPath, ObjectId, RefName, RepoSlug, quoted};
use crate::source::SourceError;

/// How many blobs one GraphQL post asks for.
const PER_POST: usize = 100;
/// How many bytes of blobs one post asks for: GitHub cuts requests off that take ten seconds.
const POST_BYTES: u64 = 8 * 1024 * 1024;
/// GraphQL cuts a blob's text here (512,000 bytes); larger ones are not asked for that way.
const TEXT_LIMIT: u64 = 500_000;
/// From this many missing files on, one tarball is cheaper than raw reads.
const TARBALL_FROM: usize = 21;
/// The same with a token, where posts did not bring them: its quota is large.
const TARBALL_WITH_TOKEN_FROM: usize = 201;
/// Files under way at once; the client has its own bound for requests.
const AT_ONCE: usize = 4;

/// A blob that is wanted: one file that has it, and its size.
#[derive(Debug, Clone)]
pub(super) struct WantedBlobs {
    pub(super) id: ObjectId,
    pub(super) path: CatalogPath,
    pub(super) size: u64,
}

/// What a fetch brought so far; read also when it was cut short.
#[derive(Debug, Default)]
pub(super) struct Haul {
    state: Mutex<HaulState>,
}

#[derive(Debug, Default)]
struct HaulState {
    got: HashMap<ObjectId, Option<Arc<[u8]>>>,
    failed: BTreeMap<ObjectId, SourceError>,
    branch: Option<RefName>,
    everything: Option<SourceError>,
}

impl Haul {
    fn kept(&self, id: &ObjectId, kept: Kept) {
        let held = match kept {
            Kept::OnDisk => None,
            Kept::Held(bytes) => Some(bytes),
        };
        let mut state = lock(&self.state);
        state.failed.remove(id);
        state.got.insert(id.clone(), held);
    }

    fn failed(&self, id: &ObjectId, error: SourceError) {
        let mut state = lock(&self.state);
        if error.is_about_everything() {
            state.everything.get_or_insert(error);
        } else {
            state.failed.insert(id.clone(), error);
        }
    }

    fn lacks(&self, id: &ObjectId) -> bool {
        !lock(&self.state).got.contains_key(id)
    }

    fn over(&self) -> bool {
        lock(&self.state).everything.is_some()
    }

    /// The error that ended the whole fetch, if one did.
    pub(super) fn everything(&self) -> Option<SourceError> {
        lock(&self.state).everything.clone()
    }

    /// The default branch's name, if it was learnt on the way.
    pub(super) fn branch(&self) -> Option<RefName> {
        lock(&self.state).branch.clone()
    }

    /// Blobs that the disk did not take, and the errors of those that are not there; `late` is the
    /// error of those that were not reached.
    pub(super) fn close(&self, wanted: &[WantedBlobs], late: impl Fn(&WantedBlobs) -> SourceError) -> Closed {
        let mut state = lock(&self.state);
        let held = state.got.drain().collect::<Vec<_>>();
        let mut failed = std::mem::take(&mut state.failed);
        let got: HashMap<ObjectId, Option<Arc<[u8]>>> = held.into_iter().collect();
        for one in wanted.iter().filter(|one| !got.contains_key(&one.id)) {
            failed.entry(one.id.clone()).or_insert_with(|| late(one));
        }
        let held = wanted.iter().filter_map(|one| Some((one.id.clone(), got.get(&one.id)?.clone()?))).collect();
        Closed { held, failed }
    }
}

/// A fetch that is over.
#[derive(Debug, Default)]
pub(super) struct Closed {
    pub(super) held: HashMap<ObjectId, Arc<[u8]>>,
    pub(super) failed: BTreeMap<ObjectId, SourceError>,
}

/// Where a fetch reads from and writes to.
#[derive(Clone, Copy)]
pub(super) struct Fetch<'a> {
    pub(super) client: &'a GithubClient,
    pub(super) slug: &'a RepoSlug,
    pub(super) commit: &'a ObjectId,
    pub(super) objects: &'a Arc<Objects>,
    pub(super) largest: u64,
    pub(super) effort: Effort,
}

impl Fetch<'_> {
    /// Fetches what is wanted into the haul; asks for the default branch's name on the way where that is free.
    pub(super) async fn many(&self, wanted: &[WantedBlobs], with_branch: bool, haul: &Haul) {
        let mut from = TARBALL_FROM;
        if self.client.has_token() {
            self.by_posts(wanted, with_branch, haul).await;
            from = TARBALL_WITH_TOKEN_FROM;
        }
        let missing = wanted.iter().filter(|one| haul.lacks(&one.id)).count();
        if missing >= from
            && !haul.over()
            && let Err(error) = tarball::fetch(self, wanted, haul).await
        {
            tracing::info!(%error, "the tarball could not be read; files are read one by one");
            if error.is_about_everything() {
                return haul.failed(self.commit, error);
            }
        }
        self.one_by_one(wanted, haul).await;
    }

    /// What is still missing, each by its own request.
    async fn one_by_one(&self, wanted: &[WantedBlobs], haul: &Haul) {
        let missing = wanted.iter().filter(|one| haul.lacks(&one.id));
        stream::iter(missing)
            .for_each_concurrent(AT_ONCE, async |one| {
                // After a limit or a refusal the rest is not asked for.
                if haul.over() {
                    return;
                }
                match self.one(one).await {
                    Ok(bytes) => self.keep(vec![(one.id.clone(), bytes)], haul).await,
                    Err(error) => haul.failed(&one.id, error),
                }
            })
            .await;
    }

    /// One blob, by the API with a token, else from the host of raw files. Where that host can't be reached, a firewall
    /// may keep it away: then the API, whose quota without a token is small, is asked all the same.
    pub(super) async fn one(&self, one: &WantedBlobs) -> Result<Vec<u8>, SourceError> {
        let (owner, repo) = (segment(&self.slug.owner), segment(&self.slug.repo));
        if !self.client.has_token() && !self.client.has_left_raw() {
            let raw = Target::Open(self.client.endpoints.raw(self.slug, self.commit, &one.path));
            match self.from(raw, one).await {
                Err(SourceError::Forbidden { .. } | SourceError::Network { .. }) => self.client.leave_raw(),
                other => return other,
            }
        }
        self.from(Target::Rest(format!("/repos/{owner}/{repo}/git/blobs/{}", one.id)), one).await
    }

    async fn from(&self, target: Target, one: &WantedBlobs) -> Result<Vec<u8>, SourceError> {
        let call = ApiCall {
            what: format!("the file {} of {}", quoted(one.path.as_str()), self.slug),
            target,
            accept: "application/vnd.github.raw+json",
            unless: None,
            most: usize::try_from(self.largest).unwrap_or(usize::MAX),
            hashed: true,
        };
        // A damaged answer is worth one more try: it may have met a bad cache on its way.
        for _ in 0..2 {
            let reply = self.client.ask(&call, self.effort).await?;
            if !reply.status.is_success() {
                return Err(self.client.unusable(&call, &reply));
            }
            if blob_id(&reply.body) == one.id {
                return Ok(reply.body);
            }
        }
        Err(SourceError::Corrupt { what: call.what })
    }

    async fn by_posts(&self, wanted: &[WantedBlobs], with_branch: bool, haul: &Haul) {
        let small: Vec<&WantedBlobs> = wanted.iter().filter(|one| one.size <= TEXT_LIMIT).collect();
        stream::iter(posts(&small).into_iter().enumerate())
            .for_each_concurrent(AT_ONCE, async |(number, post)| {
                if haul.over() || !self.client.has_graphql() {
                    return;
                }
                if let Err(error) = self.post(&post, with_branch && number == 0, haul).await {
                    tracing::info!(%error, "a GraphQL post failed");
                    match error {
                        // What is refused here may be allowed there: tokens, proxies and firewalls tell the two apart.
                        SourceError::Forbidden { .. } => self.client.leave_graphql(),
                        error if error.is_about_everything() => haul.failed(self.commit, error),
                        _ => {}
                    }
                }
            })
            .await;
    }

    /// One post. What it does not bring (cut, binary, absent or damaged texts) is left for [`Fetch::one`].
    async fn post(&self, wanted: &[&WantedBlobs], with_branch: bool, haul: &Haul) -> Result<(), SourceError> {
        let ids: Vec<&ObjectId> = wanted.iter().map(|one| &one.id).collect();
        let bytes: u64 = wanted.iter().map(|one| one.size).sum();
        let call = ApiCall {
            what: format!("{} files of {}", wanted.len(), self.slug),
            target: Target::GraphQl(Arc::new(wire::blob_query(self.slug, &ids, with_branch))),
            accept: "application/json",
            unless: None,
            // JSON escapes make a text up to six times as long.
            most: usize::try_from(bytes.saturating_mul(6).saturating_add(1024 * 1024)).unwrap_or(usize::MAX),
            hashed: true,
        };
        let reply = self.client.ask(&call, self.effort).await?;
        if !reply.status.is_success() {
            return Err(self.client.unusable(&call, &reply));
        }
        let mut answer: wire::GraphQl =
            serde_json::from_slice(&reply.body).map_err(|_| self.client.unusable(&call, &reply))?;
        let refusals = answer.refusals();
        let mut good = Vec::new();
        if let Some(mut objects) = answer.data.and_then(|data| data.repository) {
            if let Some(branch) = objects.branch.and_then(|branch| RefName::new(&branch.name).ok()) {
                lock(&haul.state).branch = Some(branch);
            }
            for (number, one) in wanted.iter().enumerate() {
                let Some(blob) = objects.blobs.remove(&wire::alias(number)).flatten() else { continue };
                let (false, false, Some(text)) = (blob.is_truncated, blob.is_binary.unwrap_or(false), blob.text) else {
                    continue;
                };
                let bytes = text.into_bytes();
                if blob_id(&bytes) == one.id {
                    good.push((one.id.clone(), bytes));
                }
            }
        }
        let whole = good.len() == wanted.len();
        self.keep(good, haul).await;
        for error in refusals {
            tracing::debug!(
                kind = error.kind,
                message = self.client.clean(&error.message),
                "GraphQL reported an error"
            );
            let limit = graphql_limit(error.marks(), &error.message, &reply.headers, self.client.clock.now());
            // What is there is there, also where it was the last of the quota.
            if let Some(limit) = limit.filter(|_| !whole) {
                return Err(self.client.limited(limit));
            }
            if error.kind == "NOT_FOUND" && error.is_about_repository() {
                return Err(SourceError::RepoNotFound { repo: self.slug.to_string(), authenticated: true });
            }
        }
        Ok(())
    }

    /// Puts checked blobs where they are kept, away from the event loop.
    pub(super) async fn keep(&self, blobs: Vec<(ObjectId, Vec<u8>)>, haul: &Haul) {
        let objects = self.objects.clone();
        let work = move || {
            let kept = |(id, bytes): (ObjectId, Vec<u8>)| {
                let kept = objects.keep(&id, &bytes);
                (id, kept)
            };
            blobs.into_iter().map(kept).collect::<Vec<_>>()
        };
        if let Ok(kept) = tokio::task::spawn_blocking(work).await {
            for (id, kept) in kept {
                haul.kept(&id, kept);
            }
        }
    }
}

/// The posts that ask for these blobs: each bounded by number and by bytes.
fn posts<'a>(wanted: &[&'a WantedBlobs]) -> Vec<Vec<&'a WantedBlobs>> {
    let mut posts: Vec<Vec<&WantedBlobs>> = Vec::new();
    let mut bytes = 0;
    for one in wanted {
        match posts.last_mut() {
            Some(post) if post.len() < PER_POST && bytes + one.size <= POST_BYTES => {
                bytes += one.size;
                post.push(one);
            }
            _ => {
                bytes = one.size;
                posts.push(vec![one]);
            }
        }
    }
    posts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_bounded_by_number_and_by_bytes() {
        let one = |size| WantedBlobs { id: blob_id(b""), path: CatalogPath::new("flows/a.json").expect("fine"), size };
        for (count, size, expected) in
            [(0, 1, 0), (1, 1, 1), (100, 1, 1), (101, 1, 2), (250, 2000, 3), (40, 400_000, 2)]
        {
            let all = vec![one(size); count];
            let all: Vec<&WantedBlobs> = all.iter().collect();
            assert_eq!(posts(&all).len(), expected, "{count} of {size}");
        }
    }
}
