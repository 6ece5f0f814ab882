//! From what was asked for to a commit.
//!
//! Branches and tags of the repository are trusted. Anything that can reach commits of other
//! people's forks (full and short ids, pull requests' refs) must belong to the default branch,
//! unless the settings allow any commit.

use super::client::{ApiCall, ApiReply, Effort, Target};
use super::endpoints::segment;
use super::{Ground, wire};
use crate::names::{ObjectId, RefName, nearest, quoted};
use crate::source::SourceError;

/// The largest answer to a comparison that is read; one that is larger is certainly not "behind".
const COMPARISON: usize = 8 * 1024 * 1024;

/// The largest list of branches or tags that is read, in bytes: some thousands of them.
const REFS: usize = 2 * 1024 * 1024;
/// From how many hexadecimal digits on a name may be a commit's short id.
const SHORT_ID: usize = 7;

/// A ref as it was asked for.
#[derive(Debug, Clone)]
pub(super) enum AskedRef {
    /// The default branch.
    Default,
    /// A branch, a tag or a short id.
    Name(RefName),
    /// A full commit id.
    Commit(RefName, ObjectId),
}

/// Where a ref is.
#[derive(Debug)]
pub(super) enum Resolved {
    /// The repository has no commits yet.
    Empty,
    /// At this commit.
    At {
        commit: ObjectId,
        /// Whether it is known to be the repository's own.
        trusted: bool,
        /// Whether GitHub has shown it to this credential; a commit's id alone proves no right to read it.
        shown: bool,
        /// The default branch, if it had to be asked for.
        default_branch: Option<RefName>,
    },
}

impl AskedRef {
    pub(super) fn of(git_ref: Option<RefName>) -> Self {
        let Some(name) = git_ref.filter(|name| name.as_str() != "HEAD") else { return Self::Default };
        match ObjectId::new(&name.as_str().to_ascii_lowercase()) {
            Ok(commit) => Self::Commit(name, commit),
            Err(_) => Self::Name(name),
        }
    }

    /// What is asked of GitHub, and the key it is remembered by.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Default => "HEAD",
            Self::Name(name) => name.as_str(),
            Self::Commit(_, commit) => commit.as_str(),
        }
    }

    pub(super) fn name(&self) -> Option<&RefName> {
        match self {
            Self::Default => None,
            Self::Name(name) | Self::Commit(name, _) => Some(name),
        }
    }

    pub(super) fn commit(&self) -> Option<&ObjectId> {
        if let Self::Commit(_, commit) = self { Some(commit) } else { None }
    }

    pub(super) fn is_default(&self) -> bool {
        matches!(self, Self::Default)
    }

    /// Whether this may lead to a commit that is not the repository's own.
    fn may_be_foreign(&self, commit: &ObjectId) -> bool {
        match self {
            Self::Default => false,
            Self::Commit(..) => true,
            Self::Name(name) => {
                let name = name.as_str();
                let own = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
                (name.starts_with("refs/") && !own)
                    || name.starts_with("pull/")
                    || commit.as_str().starts_with(&name.to_ascii_lowercase())
            }
        }
    }
}

impl Ground {
    /// The commit of a ref; `known` is the one it was at, which makes the question a cheap one.
    pub(super) async fn resolve(
        &self,
        asked: &AskedRef,
        known: Option<&ObjectId>,
        effort: Effort,
    ) -> Result<Resolved, SourceError> {
        let commit = match asked.commit() {
            Some(commit) => commit.clone(),
            None => match self.commit_of(asked, known, effort).await? {
                Some(commit) => commit,
                None => return Ok(Resolved::Empty),
            },
        };
        let foreign = asked.may_be_foreign(&commit);
        let known = known == Some(&commit);
        if foreign && self.any_commit {
            let shown = known || asked.commit().is_none();
            return Ok(Resolved::At { commit, trusted: false, shown, default_branch: None });
        }
        // What is known was checked when it was met first.
        if !foreign || known {
            return Ok(Resolved::At { commit, trusted: true, shown: true, default_branch: None });
        }
        let branch = self.default_branch(effort).await?;
        self.check_ours(asked, &commit, &branch, effort).await?;
        Ok(Resolved::At { commit, trusted: true, shown: true, default_branch: Some(branch) })
    }

    async fn commit_of(
        &self,
        asked: &AskedRef,
        known: Option<&ObjectId>,
        effort: Effort,
    ) -> Result<Option<ObjectId>, SourceError> {
        // GitHub documents `heads/x` and `tags/x`, without `refs/`.
        let text = asked.text();
        let plain = text.strip_prefix("refs/").filter(|rest| rest.starts_with("heads/") || rest.starts_with("tags/"));
        let mut call = ApiCall {
            what: match asked {
                AskedRef::Default => format!("the default branch of {}", self.slug),
                _ => format!("{} of {}", quoted(text), self.slug),
            },
            target: Target::Rest(format!("{}/commits/{}", self.root(), segment(plain.unwrap_or(text)))),
            accept: "application/vnd.github.sha",
            unless: known.map(|commit| format!("\"{commit}\"")),
            most: 4 * 1024 * 1024,
            hashed: false,
        };
        let mut reply = self.client.ask(&call, effort).await?;
        if reply.status.as_u16() == 304 {
            if let Some(known) = known {
                return Ok(Some(known.clone()));
            }
            // "Not modified", but there is nothing here that could have stayed the same.
            call.unless = None;
            reply = self.client.ask(&call, effort).await?;
        }
        match reply.status.as_u16() {
            200 => sha(&reply).map(Some).ok_or_else(|| self.client.unusable(&call, &reply)),
            // The same status is a repository's that is being moved or repaired.
            409 if wire::message(&reply.body).to_ascii_lowercase().contains("empty") => Ok(None),
            404 if asked.is_default() => Err(self.no_such_repository()),
            404 | 410 | 422 => {
                let default = self.default_branch(effort).await?;
                let mut error = self.no_such_ref(asked, Some(default));
                if let SourceError::RefNotFound { nearest, .. } = &mut error {
                    *nearest = self.near_refs(text, effort).await;
                }
                Err(error)
            }
            _ => Err(self.client.unusable(&call, &reply)),
        }
    }

    /// Branches (or tags, for what looks like a version) that are spelt like what was asked for: one
    /// more request, made only for the advice, and not worth failing for.
    async fn near_refs(&self, text: &str, effort: Effort) -> Vec<String> {
        let plain = text.strip_prefix("refs/").unwrap_or(text);
        let (kind, name) = match (plain.strip_prefix("heads/"), plain.strip_prefix("tags/")) {
            (Some(name), _) => ("heads", name),
            (_, Some(name)) => ("tags", name),
            _ if plain.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit()) => ("tags", plain),
            _ => ("heads", plain),
        };
        if name.len() >= SHORT_ID && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Vec::new();
        }
        let call = ApiCall {
            what: format!("the names of {kind} of {}", self.slug),
            target: Target::Rest(format!("{}/git/matching-refs/{kind}", self.root())),
            accept: "application/vnd.github+json",
            unless: None,
            most: REFS,
            hashed: false,
        };
        let Ok(reply) = self.client.ask(&call, effort).await else { return Vec::new() };
        let refs: Vec<wire::RefAnswer> = serde_json::from_slice(&reply.body).unwrap_or_default();
        let before = format!("refs/{kind}/");
        let names = refs.iter().filter_map(|one| one.name.strip_prefix(&before));
        nearest(name, names, 3).into_iter().map(str::to_owned).collect()
    }

    /// The question for the repository itself.
    pub(super) fn about_itself(&self) -> ApiCall {
        ApiCall {
            what: format!("the repository {}", self.slug),
            target: Target::Rest(self.root()),
            accept: "application/vnd.github+json",
            unless: None,
            most: 1024 * 1024,
            hashed: false,
        }
    }

    /// The name of the default branch; an error when the repository cannot be seen.
    pub(super) async fn default_branch(&self, effort: Effort) -> Result<RefName, SourceError> {
        let call = self.about_itself();
        let reply = self.client.ask(&call, effort).await?;
        match reply.status.as_u16() {
            200 => {
                let answer: wire::RepositoryAnswer =
                    serde_json::from_slice(&reply.body).map_err(|_| self.client.unusable(&call, &reply))?;
                RefName::new(&answer.default_branch).map_err(|_| self.client.unusable(&call, &reply))
            }
            404 => Err(self.no_such_repository()),
            _ => Err(self.client.unusable(&call, &reply)),
        }
    }

    /// Whether a commit belongs to the default branch: any commit of any fork can be read through
    /// the repository it was forked from.
    async fn check_ours(
        &self,
        asked: &AskedRef,
        commit: &ObjectId,
        branch: &RefName,
        effort: Effort,
    ) -> Result<(), SourceError> {
        let call = ApiCall {
            what: format!("whether {commit} belongs to {}", self.slug),
            target: Target::Rest(format!("{}/compare/{}...{commit}?per_page=1", self.root(), segment(branch.as_str()))),
            accept: "application/vnd.github+json",
            unless: None,
            most: COMPARISON,
            hashed: false,
        };
        let foreign = || SourceError::CommitNotOnDefaultBranch {
            repo: self.slug.to_string(),
            git_ref: asked.text().to_owned(),
            branch: branch.to_string(),
        };
        let reply = match self.client.ask(&call, effort).await {
            // A comparison with that much in it has commits that the branch lacks.
            Err(SourceError::GitHub { status: 200, .. }) => return Err(foreign()),
            other => other?,
        };
        match reply.status.as_u16() {
            200 => {
                let answer: wire::Comparison =
                    serde_json::from_slice(&reply.body).map_err(|_| self.client.unusable(&call, &reply))?;
                match answer.status {
                    wire::Compared::Behind | wire::Compared::Identical => Ok(()),
                    wire::Compared::Ahead | wire::Compared::Diverged => Err(foreign()),
                }
            }
            404 | 422 => Err(self.no_such_ref(asked, Some(branch.clone()))),
            _ => Err(self.client.unusable(&call, &reply)),
        }
    }

    pub(super) fn root(&self) -> String {
        format!("/repos/{}/{}", segment(&self.slug.owner), segment(&self.slug.repo))
    }

    pub(super) fn no_such_repository(&self) -> SourceError {
        SourceError::RepoNotFound { repo: self.slug.to_string(), authenticated: self.client.has_token() }
    }

    pub(super) fn no_such_ref(&self, asked: &AskedRef, default_branch: Option<RefName>) -> SourceError {
        SourceError::RefNotFound {
            repo: self.slug.to_string(),
            git_ref: quoted(asked.text()),
            default_branch: default_branch.map(|name| name.to_string()),
            nearest: Vec::new(),
        }
    }
}

/// The id in an answer: as text, or within JSON from a server that ignores the media type.
fn sha(reply: &ApiReply) -> Option<ObjectId> {
    #[derive(serde::Deserialize)]
    struct Commit {
        sha: String,
    }
    let text = std::str::from_utf8(&reply.body).ok()?.trim();
    ObjectId::new(text).ok().or_else(|| ObjectId::new(&serde_json::from_str::<Commit>(text).ok()?.sha).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_may_lead_into_a_fork_is_checked() {
        let commit = ObjectId::new("0123456789abcdef0123456789abcdef01234567").expect("fine");
        let foreign = |text: &str| AskedRef::of(Some(RefName::new(text).expect("fine"))).may_be_foreign(&commit);
        for text in [
            "0123456789abcdef0123456789abcdef01234567",
            "0123456",
            "0123456789ABCDEF0123456789ABCDEF01234567",
            "pull/7/head",
            "refs/pull/7/head",
            "refs/remotes/x",
        ] {
            assert!(foreign(text), "{text}");
        }
        for text in ["main", "v1.2.3", "feature/x", "deadbeef", "refs/heads/main", "heads/main", "HEAD"] {
            assert!(!foreign(text), "{text}");
        }
    }
}
