//! The clients proper: octocrab for REST and GraphQL, with the token; a plain one without it.
//!
//! They are made on first use, so that opening a source needs no network and no certificates. When
//! and how often they are used is not known here.

use std::sync::Arc;

use http::HeaderValue;
use http::header::USER_AGENT;
use octocrab::service::middleware::auth_header::AuthHeaderLayer;
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::service::middleware::reqwest_connector::ReqwestConnector;
use octocrab::{AuthState, Octocrab, OctocrabBuilder};
use reqwest::Url;

use super::endpoints::Endpoints;
use crate::config::Secret;
use crate::source::SourceError;
use crate::source::redact::clean;
use crate::web;

/// Who we say we are.
const AGENT: &str = concat!("flowy-mcp/", env!("CARGO_PKG_VERSION"));

/// One client for each kind of address; they share their connections.
pub(super) struct BodyLines {
    /// Without the token.
    pub(super) plain: reqwest::Client,
    /// With it, below the REST base.
    pub(super) rest: Octocrab,
    /// With it, below the GraphQL base: on a server of one's own that is another path.
    pub(super) graphql: Octocrab,
}

impl BodyLines {
    /// Makes the clients. Retries, caches and redirects are nobody's business but ours, so all of
    /// the libraries' own stay off.
    pub(super) fn lay(endpoints: &Endpoints, token: Option<&Secret>) -> Result<Self, SourceError> {
        let plain = plain(endpoints).map_err(|error| cannot(clean(&web::cause(&error), token)))?;
        let authorization = match token {
            None => None,
            Some(token) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                    .map_err(|_| cannot("the token holds characters that cannot be sent".to_owned()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self {
            rest: line(&plain, &endpoints.rest, authorization.clone())?,
            graphql: line(&plain, &endpoints.graphql, authorization)?,
            plain,
        })
    }
}

fn cannot(reason: String) -> SourceError {
    SourceError::NotAsked { what: "GitHub".to_owned(), reason }
}

/// Octocrab put together by hand: its ready-made builder names itself as the agent and cannot be
/// told otherwise, and does not mark the token as sensitive.
fn line(plain: &reqwest::Client, base: &Url, token: Option<HeaderValue>) -> Result<Octocrab, SourceError> {
    let base: http::Uri = base.as_str().parse().map_err(|error: http::uri::InvalidUri| cannot(error.to_string()))?;
    let built = OctocrabBuilder::new_empty()
        .with_service(ReqwestConnector::new(plain.clone()))
        .with_layer(&ExtraHeadersLayer::new(Arc::new(vec![(USER_AGENT, HeaderValue::from_static(AGENT))])))
        .with_layer(&BaseUriLayer::new(base.clone()))
        .with_layer(&AuthHeaderLayer::new(token, base.clone(), base))
        .with_auth(AuthState::None)
        .build();
    match built {
        Ok(line) => Ok(line),
        Err(never) => match never {},
    }
}

/// The client without the token; on this machine no proxy is asked.
fn plain(endpoints: &Endpoints) -> reqwest::Result<reqwest::Client> {
    let builder = || {
        let builder = reqwest::Client::builder()
            .user_agent(AGENT)
            .gzip(true)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        if endpoints.loopback { builder.no_proxy() } else { builder }
    };
    web::client(builder, endpoints.rest.scheme() != "http")
}
