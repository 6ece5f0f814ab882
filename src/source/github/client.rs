//! Requests to GitHub: one at a time is sent, tried again where that helps, and read to its end.
//!
//! Retries, pauses, time limits, redirects and the number of requests at once are decided here.
//! What an answer holds is not looked at beyond an error's message.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use http::header::{ACCEPT, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use reqwest::Url;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::bytes::Bytes;

use super::endpoints::{Endpoints, allowed};
use super::limits::{Verdict, back_off, judge};
use super::lines::Lines;
use super::wire;
use crate::cache::lock;
use crate::clock::Clock;
use crate::config::{Secret, Settings};
use crate::source::SourceError;
use crate::source::redact::clean;
use crate::web::cause;

/// How many requests are under way at once; GitHub asks for few.
const AT_ONCE: usize = 4;
/// How many redirects one request follows.
const HOPS: usize = 5;

/// How long pauses between tries are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As GitHub asks for.
    #[default]
    Real,
    /// A thousandth of it: for tests, which then need no sleeping.
    Hurried,
}

/// A body as it arrives.
pub(super) type Body = BoxBody<Bytes, Broke>;

/// A body that ended before its time.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broke(String);

/// One thing to ask.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// What is asked for, in words.
    pub(super) what: String,
    /// Path and query below the REST base, or a whole address that is asked without the token.
    pub(super) target: Target,
    /// The media type wanted.
    pub(super) accept: &'static str,
    /// Answer 304 if this is still the entity's tag.
    pub(super) unless: Option<String>,
    /// The most bytes the answer may have.
    pub(super) most: usize,
}

/// Where a call goes.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// REST, with the token.
    Rest(String),
    /// GraphQL, with the token.
    GraphQl(Arc<Value>),
    /// Another address, without the token.
    Open(String),
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// How often it was tried.
    pub(super) tries: u32,
    /// The host that it was moved to, away from GitHub's.
    elsewhere: Option<String>,
}

/// An answer that has begun to come.
struct Sent {
    response: Response<Body>,
    elsewhere: Option<String>,
}

/// By when an effort has to be over, tries and pauses included, as a reading of the clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    until: Duration,
}

/// The way to GitHub for one repository.
pub(super) struct Client {
    pub(super) endpoints: Endpoints,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) deadline: Duration,
    repo: String,
    token: Option<Secret>,
    pub(super) request_timeout: Duration,
    attempts: u32,
    pace: Pace,
    permits: Semaphore,
    limited: Mutex<Option<(DateTime<Utc>, bool)>>,
    lines: OnceLock<Result<Lines, SourceError>>,
}

enum Try {
    Done(Reply),
    Again(SourceError, Option<Duration>),
    Failed(SourceError),
}

impl Client {
    pub(super) fn new(
        repo: String,
        settings: &Settings,
        clock: Arc<dyn Clock>,
        pace: Pace,
    ) -> Result<Self, SourceError> {
        Ok(Self {
            endpoints: Endpoints::of(&settings.api_url)?,
            clock,
            deadline: settings.fetch_deadline,
            repo,
            token: settings.token.clone(),
            request_timeout: settings.request_timeout,
            attempts: settings.retry_attempts.max(1),
            pace,
            // Whoever wants fewer calls at once wants no more requests at once, either.
            permits: Semaphore::new(AT_ONCE.min(settings.max_concurrent_requests).max(1)),
            limited: Mutex::new(None),
            lines: OnceLock::new(),
        })
    }

    /// Whether requests carry a token.
    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// An effort that begins now.
    pub(super) fn effort(&self) -> Effort {
        Effort { until: self.clock.reading().saturating_add(self.deadline) }
    }

    /// A server's text, safe to show.
    pub(super) fn clean(&self, text: &str) -> String {
        clean(text, self.token.as_ref())
    }

    /// The answer to a call: 2xx, 304, 404, 409, 410, 422 or 451; everything else is an error after all tries.
    pub(super) async fn ask(&self, call: &Call, effort: Effort) -> Result<Reply, SourceError> {
        let mut tries = 0;
        loop {
            self.check_limit()?;
            tries += 1;
            let outcome = self.attempt(call, tries).await;
            let (error, pause) = match outcome {
                Try::Done(reply) => {
                    let (status, bytes) = (reply.status.as_u16(), reply.body.len());
                    tracing::debug!(what = call.what, tries, status, bytes, "GitHub answered");
                    return Ok(reply);
                }
                Try::Failed(error) => return Err(error),
                Try::Again(error, pause) => (error, pause),
            };
            let pause = pause.unwrap_or_else(|| back_off(tries, self.clock.fresh()));
            let too_late = self.clock.reading().saturating_add(pause) >= effort.until;
            tracing::debug!(what = call.what, tries, %error, ?pause, too_late, "a request to GitHub failed");
            if tries >= self.attempts || too_late {
                self.remember_limit(&error);
                return Err(error);
            }
            tokio::time::sleep(self.paced(pause)).await;
        }
    }

    /// An answer whose body is read by the caller as it comes; tried once.
    pub(super) async fn open(&self, call: &Call) -> Result<Response<Body>, SourceError> {
        self.check_limit()?;
        let sent = tokio::time::timeout(self.request_timeout, self.send(call, 1)).await;
        let sent = sent.map_err(|_| self.timed_out(call))??;
        if sent.response.status().is_success() {
            return Ok(sent.response);
        }
        match self.read(call, sent, 1).await {
            Try::Done(reply) => Err(self.unusable(call, &reply)),
            Try::Again(error, _) | Try::Failed(error) => {
                self.remember_limit(&error);
                Err(error)
            }
        }
    }

    /// The error for an answer that its asker cannot use.
    pub(super) fn unusable(&self, call: &Call, reply: &Reply) -> SourceError {
        if let Some(host) = reply.elsewhere.clone() {
            return SourceError::MovedAway { what: call.what.clone(), host, status: reply.status.as_u16() };
        }
        SourceError::GitHub {
            status: reply.status.as_u16(),
            what: call.what.clone(),
            message: self.clean(&wire::message(&reply.body)),
            tries: reply.tries,
        }
    }

    /// Notes a limit that was met, so that nothing is asked before it is over, and returns its error.
    pub(super) fn limited(&self, retry_at: DateTime<Utc>, secondary: bool) -> SourceError {
        let error = SourceError::RateLimited { retry_at, secondary, authenticated: self.has_token() };
        self.remember_limit(&error);
        error
    }

    fn check_limit(&self) -> Result<(), SourceError> {
        let limited = *lock(&self.limited);
        match limited {
            Some((retry_at, secondary)) if self.clock.now() < retry_at => {
                Err(SourceError::RateLimited { retry_at, secondary, authenticated: self.has_token() })
            }
            _ => Ok(()),
        }
    }

    fn remember_limit(&self, error: &SourceError) {
        if let SourceError::RateLimited { retry_at, secondary, .. } = error {
            *lock(&self.limited) = Some((*retry_at, *secondary));
        }
    }

    fn paced(&self, pause: Duration) -> Duration {
        match self.pace {
            Pace::Real => pause,
            Pace::Hurried => pause / 1000,
        }
    }

    async fn attempt(&self, call: &Call, tries: u32) -> Try {
        let Ok(_permit) = self.permits.acquire().await else {
            return Try::Failed(self.broken(call, "the client is shut down", tries));
        };
        let attempt = async {
            match self.send(call, tries).await {
                Ok(sent) => self.read(call, sent, tries).await,
                Err(error @ SourceError::NotAsked { .. }) => Try::Failed(error),
                Err(error) => Try::Again(error, None),
            }
        };
        tokio::time::timeout(self.request_timeout, attempt)
            .await
            .unwrap_or_else(|_| Try::Again(self.timed_out(call), None))
    }

    /// Sends a call and follows redirects: with the token on GitHub's own ground, without it elsewhere.
    async fn send(&self, call: &Call, tries: u32) -> Result<Sent, SourceError> {
        let lines = self.lines()?;
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
            if let (SourceError::Network { host, reason, .. }, Some(there)) = (&mut lost, elsewhere(at)) {
                *host = there;
                reason.push_str(" (GitHub moved it to that host, which is asked without the token)");
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
                let reason = "GitHub moved it to an address without encryption".to_owned();
                return Err(SourceError::NotAsked { what: call.what.clone(), reason });
            }
            let stays = at.origin() == self.endpoints.rest.origin() && matches!(target, Target::Rest(_));
            target = if stays { Target::Rest(below(&at)) } else { Target::Open(at.to_string()) };
        }
        Err(self.broken(call, "it was moved too many times", tries))
    }

    fn octo(response: Response<BoxBody<Bytes, octocrab::Error>>) -> Response<Body> {
        response.map(|body| body.map_err(|error| read_error(&error)).boxed())
    }

    /// Reads an answer to its end and judges it.
    async fn read(&self, call: &Call, Sent { response, elsewhere }: Sent, tries: u32) -> Try {
        let (head, body) = response.into_parts();
        if let Some(host) = elsewhere.clone().filter(|_| head.status.is_client_error() || head.status.is_redirection())
        {
            // What another host refuses says nothing of the repository or of the token.
            return Try::Failed(SourceError::MovedAway { what: call.what.clone(), host, status: head.status.as_u16() });
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
        let reply = Reply { status: head.status, headers: head.headers, body, tries, elsewhere };
        let raw_message = if head.status.is_success() { String::new() } else { wire::message(&reply.body) };
        let repo = self.repo.clone();
        match judge(reply.status, &reply.headers, &raw_message, now) {
            Verdict::Answer => Try::Done(reply),
            Verdict::Unauthorized => Try::Failed(SourceError::Unauthorized {
                repo,
                authenticated: self.has_token(),
                message: self.clean(&raw_message),
            }),
            Verdict::Forbidden { permission, sign_on } => Try::Failed(SourceError::Forbidden {
                sign_on: sign_on.map(|told| self.clean(&told)),
                repo,
                authenticated: self.has_token(),
                permission: permission.map(|told| self.clean(&told)),
                message: self.clean(&raw_message),
            }),
            Verdict::Limited { retry_at, secondary } => {
                let error = SourceError::RateLimited { retry_at, secondary, authenticated: self.has_token() };
                Try::Again(error, Some((retry_at - now).max(TimeDelta::zero()).to_std().unwrap_or_default()))
            }
            Verdict::Trouble { pause } => Try::Again(self.unusable(call, &reply), pause),
            Verdict::Odd => Try::Failed(self.unusable(call, &reply)),
        }
    }

    fn timed_out(&self, call: &Call) -> SourceError {
        SourceError::TimedOut { what: call.what.clone(), after: self.request_timeout }
    }

    fn address(&self, call: &Call, url: &str) -> Result<Url, SourceError> {
        Url::parse(url).map_err(|error| self.broken(call, &error.to_string(), 1))
    }

    fn broken(&self, call: &Call, reason: &str, tries: u32) -> SourceError {
        let host = match &call.target {
            Target::Open(url) => Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)),
            Target::Rest(_) | Target::GraphQl(_) => self.endpoints.rest.host_str().map(str::to_owned),
        };
        SourceError::Network {
            what: call.what.clone(),
            host: host.unwrap_or_default(),
            reason: self.clean(reason),
            tries,
        }
    }

    fn lines(&self) -> Result<&Lines, SourceError> {
        self.lines.get_or_init(|| Lines::lay(&self.endpoints, self.token.as_ref())).as_ref().map_err(Clone::clone)
    }
}

fn headers(call: &Call) -> HeaderMap {
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

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}
