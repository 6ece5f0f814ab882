//! One request: sent, followed where GitHub moves it, and its answer read to the end and judged.
//!
//! What an answer holds is not looked at beyond an error's message; whether it is asked again is
//! [`client`](super::client)'s business.

use chrono::TimeDelta;
use http::header::{ACCEPT, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use reqwest::Url;
use tokio_util::bytes::Bytes;

use super::client::{ApiCall, ApiReply, Broke, Credential, GithubClient, ResponseBody, Sent, Target, Try};
use super::endpoints::allowed;
use super::limits::{LimitVerdict, judge};
use super::wire;
use crate::source::SourceError;
use crate::source::refusal::Refusal;
use crate::web::{WebTrouble, cause};

/// How many redirects one request follows.
const HOPS: usize = 5;

impl GithubClient {
    /// Sends a call and follows redirects: with the token on GitHub's own ground, without it elsewhere.
    pub(super) async fn send(&self, call: &ApiCall, credential: &Credential, tries: u32) -> Result<Sent, SourceError> {
        self.check_web(call)?;
        let lines = credential.lines(&self.endpoints)?;
        let mut target = call.target.clone();
        let mut at = match &target {
            Target::Open(url) => self.address(call, url)?,
            Target::Rest(path) => {
                self.address(call, &format!("{}{path}", self.endpoints.rest.as_str().trim_end_matches('/')))?
            }
            Target::GraphQl(_) => self.endpoints.graphql.clone(),
        };
        let home = at.origin();
        let elsewhere = |at: &Url| at.host_str().filter(|_| at.origin() != home).map(str::to_owned);
        let lost = |error: &(dyn std::error::Error + 'static), at: &Url| {
            let mut lost = self.broken(call, &cause(error), tries);
            if let SourceError::Network { host, reason, trouble, .. } = &mut lost {
                *trouble = WebTrouble::of(error);
                if let Some(there) = elsewhere(at) {
                    *host = self.clean(&there);
                    reason.push_str(" (GitHub moved it to that host, which is asked without the token)");
                }
            }
            lost
        };
        for _ in 0..HOPS {
            let sent = match &target {
                Target::Rest(path) => {
                    lines.rest._get_with_headers(path.as_str(), Some(headers(call))).await.map(Self::octo)
                }
                Target::GraphQl(body) => lines.graphql._post("/graphql", Some(body.as_ref())).await.map(Self::octo),
                Target::Open(url) => {
                    let sent = lines.plain.get(url).headers(headers(call)).send().await;
                    let response: Response<reqwest::Body> = sent.map_err(|error| lost(&error, &at))?.into();
                    Ok(response.map(|body| body.map_err(|error| read_error(&error)).boxed()))
                }
            };
            let response = sent.map_err(|error| lost(&error, &at))?;
            let moved = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let place = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            let (true, Some(place), false) = (moved, place, matches!(target, Target::GraphQl(_))) else {
                return Ok(Sent { response, elsewhere: elsewhere(&at) });
            };
            at = at
                .join(place)
                .map_err(|error| self.broken(call, &format!("it moved to a bad address: {error}"), tries))?;
            if !allowed(&at) {
                // The rest of the address may hold what is nobody's business.
                let place = format!("{}://{}", at.scheme(), at.host_str().unwrap_or_default());
                return Err(SourceError::BadRedirect { what: call.what.clone(), place: self.clean(&place) });
            }
            let stays = at.origin() == self.endpoints.rest.origin() && matches!(target, Target::Rest(_));
            target = if stays { Target::Rest(below(&at)) } else { Target::Open(at.to_string()) };
        }
        Err(self.broken(call, "it was moved too many times", tries))
    }

    fn octo(response: Response<BoxBody<Bytes, octocrab::Error>>) -> Response<ResponseBody> {
        response.map(|body| body.map_err(|error| read_error(&error)).boxed())
    }

    /// Reads an answer to its end and judges it.
    pub(super) async fn read(&self, call: &ApiCall, Sent { response, elsewhere }: Sent, tries: u32) -> Try {
        let (head, body) = response.into_parts();
        // What another host refuses says nothing of the repository or of the token, and what it says is
        // believed only where it can be checked.
        let believed = call.hashed && head.status.is_success() || head.status.is_server_error();
        if let Some(host) = elsewhere.clone().filter(|_| !believed) {
            let (what, host) = (call.what.clone(), self.clean(&host));
            return Try::Failed(SourceError::MovedAway { what, host, status: head.status.as_u16() });
        }
        let body = match Limited::new(body, call.most).collect().await {
            Ok(body) => body.to_bytes().to_vec(),
            Err(error) if error.is::<LengthLimitError>() => {
                let reason = format!("the answer is larger than {} bytes", call.most);
                return Try::Failed(SourceError::GitHub {
                    status: head.status.as_u16(),
                    what: call.what.clone(),
                    message: reason,
                    tries,
                    wait: None,
                });
            }
            Err(error) => {
                return Try::Again(
                    self.broken(call, &format!("the answer broke off: {}", cause(error.as_ref())), tries),
                    None,
                );
            }
        };
        let now = self.clock.now();
        let reply = ApiReply { status: head.status, headers: head.headers, body, tries, elsewhere };
        let told = if head.status.is_success() { None } else { wire::api_message(&reply.body) };
        let message = || self.clean(&wire::message(&reply.body));
        let repo = self.repo.clone();
        match judge(reply.status, &reply.headers, told.as_deref(), now) {
            // A page of something else says nothing of the token, or of the repository.
            LimitVerdict::Unauthorized if told.is_none() && is_markup(&reply) => {
                let (authenticated, message) = (self.has_token(), message());
                Try::Failed(SourceError::Forbidden { repo, authenticated, reason: Refusal::NotGitHub, message })
            }
            LimitVerdict::Answer if is_page(call, &reply) => Try::Failed(self.unusable(call, &reply)),
            LimitVerdict::Answer => Try::Done(reply),
            LimitVerdict::Unauthorized => {
                let (token, message) = (self.token_place(), message());
                Try::Failed(SourceError::Unauthorized { repo, token, message })
            }
            // What is said of one file says nothing of the token.
            LimitVerdict::Forbidden(_) if is_too_large(&reply) => Try::Failed(self.unusable(call, &reply)),
            LimitVerdict::Forbidden(reason) => {
                let (reason, message) = (self.clean_reason(reason), message());
                Try::Failed(SourceError::Forbidden { repo, authenticated: self.has_token(), reason, message })
            }
            LimitVerdict::Limited(limit) => {
                let pause = (limit.retry_at - now).max(TimeDelta::zero()).to_std().unwrap_or_default();
                Try::Again(self.limit_error(limit), Some(pause))
            }
            LimitVerdict::Trouble { pause } => Try::Again(self.unusable(call, &reply), pause),
            LimitVerdict::Odd => Try::Failed(self.unusable(call, &reply)),
        }
    }

    /// The reason with what a header said of it made safe: a server may repeat in it what it was sent.
    fn clean_reason(&self, reason: Refusal) -> Refusal {
        match reason {
            Refusal::Permission(Some(needed)) => Refusal::Permission(Some(self.clean(&needed))),
            Refusal::SignOn(Some(address)) => Refusal::SignOn(Some(self.clean(&address))),
            other => other,
        }
    }

    fn address(&self, call: &ApiCall, url: &str) -> Result<Url, SourceError> {
        Url::parse(url).map_err(|error| self.broken(call, &error.to_string(), 1))
    }
}

/// Whether the API's address answered that nothing is there with a web page, which GitHub's API never does.
fn is_page(call: &ApiCall, reply: &ApiReply) -> bool {
    reply.status == StatusCode::NOT_FOUND && !matches!(call.target, Target::Open(_)) && is_markup(reply)
}

fn is_markup(reply: &ApiReply) -> bool {
    reply.body.trim_ascii_start().starts_with(b"<") && !reply.headers.contains_key("x-github-request-id")
}

fn is_too_large(reply: &ApiReply) -> bool {
    String::from_utf8_lossy(&reply.body).contains("\"too_large\"")
}

fn headers(call: &ApiCall) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(call.accept));
    if let Some(tag) = call.unless.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok()) {
        headers.insert(IF_NONE_MATCH, tag);
    }
    headers
}

/// Path and query of an address.
fn below(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

fn read_error(error: &(dyn std::error::Error + 'static)) -> Broke {
    Broke(cause(error))
}
