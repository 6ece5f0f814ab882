//! The addresses of GitHub's services, on github.com and on a server of one's own.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;

use crate::names::{CatalogPath, ObjectId, RepoSlug, quoted};
use crate::source::SourceError;
use crate::source::slug::is_loopback;

/// What stays as it is in one segment of a path; GitHub wants even the slashes of a ref as `%2F`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Where REST, GraphQL and raw files are served.
#[derive(Debug, Clone)]
pub(super) struct Endpoints {
    pub(super) rest: Url,
    pub(super) graphql: Url,
    raw: String,
    /// Whether the API is on this machine: then http is allowed, and no proxy and no certificates are needed.
    pub(super) loopback: bool,
}

impl Endpoints {
    /// The services that belong to a REST base address.
    pub(super) fn of(api_url: &str) -> Result<Self, SourceError> {
        let bad = |why: &str| SourceError::BadSource {
            text: format!("API address {}", quoted(api_url)),
            why: why.to_owned(),
        };
        let mut rest = Url::parse(api_url.trim()).map_err(|error| bad(&error.to_string()))?;
        if !rest.username().is_empty() || rest.password().is_some() {
            return Err(SourceError::BadSource {
                text: "the API address".to_owned(),
                why: "it holds a user name or password; a token belongs into the settings".to_owned(),
            });
        }
        if !allowed(&rest) {
            return Err(bad("https is required; http is allowed on this machine only (127.0.0.1, localhost)"));
        }
        let path = rest.path().trim_end_matches('/').to_owned();
        rest.set_path(&path);
        rest.set_query(None);
        rest.set_fragment(None);
        let mut graphql = rest.clone();
        if let Some(root) = path.strip_suffix("/v3").filter(|root| root.ends_with("/api")) {
            graphql.set_path(root);
        }
        let raw = if rest.host_str() == Some("api.github.com") {
            "https://raw.githubusercontent.com".to_owned()
        } else {
            format!("{}/raw", rest.origin().ascii_serialization())
        };
        let loopback = rest.host_str().is_some_and(is_loopback);
        Ok(Self { rest, graphql, raw, loopback })
    }

    /// A file of a commit, as raw bytes, without the API.
    pub(super) fn raw(&self, slug: &RepoSlug, commit: &ObjectId, path: &CatalogPath) -> String {
        let path: Vec<String> = path.as_str().split('/').map(segment).collect();
        format!("{}/{}/{}/{}/{}", self.raw, segment(&slug.owner), segment(&slug.repo), commit, path.join("/"))
    }
}

/// Whether requests may go to this address: https, or http on this machine.
pub(super) fn allowed(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && url.host_str().is_some_and(is_loopback))
}

/// A text as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enterprise_server_has_its_services_side_by_side() {
        let place = Endpoints::of("https://git.corp.example/api/v3/").expect("fine");
        assert_eq!(place.rest.as_str(), "https://git.corp.example/api/v3");
        assert_eq!(place.graphql.as_str(), "https://git.corp.example/api");
        assert_eq!(place.raw, "https://git.corp.example/raw");
        let place = Endpoints::of("https://api.github.com").expect("fine");
        assert_eq!(place.raw, "https://raw.githubusercontent.com");
        assert_eq!(place.graphql, place.rest);
    }

    #[test]
    fn http_is_for_this_machine_only() {
        for fine in ["http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:9/api/v3"] {
            assert!(Endpoints::of(fine).expect("loopback").loopback, "{fine}");
        }
        for bad in
            ["http://api.github.com", "http://127.0.0.1.evil.example", "ftp://x", "nonsense", "https://a:b@c.example"]
        {
            assert!(Endpoints::of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_ref_is_one_segment() {
        assert_eq!(segment("feature/a#b c"), "feature%2Fa%23b%20c");
    }
}
