//! Requests to GitHub: tried again where that helps, within a time, and not at all while a limit holds.
//!
//! Retries, pauses, time limits and the number of requests at once are decided here; how one request is
//! sent and its answer judged, in [`exchange`](super::exchange).

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use chrono::TimeDelta;
use http::header::HeaderMap;
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use reqwest::Url;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::bytes::Bytes;

use super::endpoints::Endpoints;
use super::limits::{RateLimit, back_off, retry_after};
use super::lines::BodyLines;
use super::wire;
use crate::cache::Lifetime;
use crate::clock::Clock;
use crate::config::{Place, Secret, Settings, WebFault, token_in};
use crate::lock::lock;
use crate::source::SourceError;
use crate::source::redact::clean;
use crate::web::{WebTrouble, proxy_of};

/// How many requests are under way at once; GitHub asks for few.
const AT_ONCE: usize = 4;
/// How long GraphQL is left alone that did not answer; everything can be had without it.
const LEFT_ALONE: TimeDelta = TimeDelta::minutes(5);

/// How long pauses between tries are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As GitHub asks for.
    #[default]
    Real,
    /// A thousandth of it: for tests, which then need no sleeping.
    #[cfg_attr(not(feature = "internals"), expect(dead_code, reason = "tests alone are in a hurry"))]
    Hurried,
}

/// A body as it arrives.
pub(super) type ResponseBody = BoxBody<Bytes, Broke>;

/// A body that ended before its time.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broke(pub(super) String);

/// One thing to ask.
#[derive(Debug, Clone)]
pub(super) struct ApiCall {
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
    /// Whether the answer is checked against a hash: then any host that GitHub moves it to may give it.
    pub(super) hashed: bool,
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
pub(super) struct ApiReply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// How often it was tried.
    pub(super) tries: u32,
    /// The host that it was moved to, away from GitHub's.
    pub(super) elsewhere: Option<String>,
}

/// An answer that has begun to come.
pub(super) struct Sent {
    pub(super) response: Response<ResponseBody>,
    pub(super) elsewhere: Option<String>,
}

/// What requests carry, and the clients that carry it.
pub(super) struct Credential {
    pub(super) token: Option<Secret>,
    lines: OnceLock<Result<BodyLines, SourceError>>,
}

/// By when an effort has to be over, tries and pauses included, as a reading of the clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    until: Duration,
}

/// The way to GitHub for one repository.
pub(super) struct GithubClient {
    pub(super) endpoints: Endpoints,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) deadline: Duration,
    pub(super) repo: String,
    credential: Mutex<Arc<Credential>>,
    token_place: Option<Place>,
    /// Where another token stands that this one hides.
    hidden_token: Option<Place>,
    pub(super) request_timeout: Duration,
    attempts: u32,
    pace: Pace,
    permits: Semaphore,
    limited: Mutex<Option<(Lifetime, SourceError)>>,
    hung: Mutex<Option<Lifetime>>,
    /// As long as the host of raw files is left alone.
    without_raw: Mutex<Option<Lifetime>>,
    /// The proxy that GitHub is asked through.
    proxy: Option<String>,
    web_fault: Option<WebFault>,
}

pub(super) enum Try {
    Done(ApiReply),
    Again(SourceError, Option<Duration>),
    Failed(SourceError),
}

impl Credential {
    fn of(token: Option<Secret>) -> Arc<Self> {
        Arc::new(Self { token, lines: OnceLock::new() })
    }

    /// The clients, made when they are needed first.
    pub(super) fn lines(&self, endpoints: &Endpoints) -> Result<&BodyLines, SourceError> {
        self.lines.get_or_init(|| BodyLines::lay(endpoints, self.token.as_ref())).as_ref().map_err(Clone::clone)
    }
}

impl GithubClient {
    pub(super) fn new(
        repo: String,
        settings: &Settings,
        clock: Arc<dyn Clock>,
        pace: Pace,
    ) -> Result<Self, SourceError> {
        let endpoints = Endpoints::of(&settings.api_url)?;
        Ok(Self {
            proxy: (!endpoints.loopback).then(|| proxy_of(endpoints.rest.as_str())).flatten(),
            web_fault: settings.web_fault.clone().filter(|_| !endpoints.loopback),
            endpoints,
            clock,
            deadline: settings.fetch_deadline,
            repo,
            credential: Mutex::new(Credential::of(settings.token.clone())),
            token_place: settings.token_place.clone(),
            hidden_token: settings.hidden_token.clone(),
            request_timeout: settings.request_timeout,
            attempts: settings.retry_attempts.max(1),
            pace,
            // Whoever wants fewer calls at once wants no more requests at once, either.
            permits: Semaphore::new(AT_ONCE.min(settings.max_concurrent_requests).max(1)),
            limited: Mutex::new(None),
            hung: Mutex::new(None),
            without_raw: Mutex::new(None),
        })
    }

    pub(super) fn credential(&self) -> Arc<Credential> {
        lock(&self.credential).clone()
    }

    pub(super) fn token(&self) -> Option<Secret> {
        self.credential().token.clone()
    }

    /// Whether requests carry a token.
    pub(super) fn has_token(&self) -> bool {
        self.credential().token.is_some()
    }

    /// Where the token in use was given, in words.
    pub(super) fn token_place(&self) -> Option<String> {
        let place = || {
            let place = self.token_place.as_ref().map_or_else(|| "GITHUB_PAT".to_owned(), ToString::to_string);
            match &self.hidden_token {
                Some(hidden) => format!("{place}, which hides {hidden}"),
                None => place,
            }
        };
        self.has_token().then(place)
    }

    /// Whether GraphQL is worth a question: there is a token, and it answered when it was asked last.
    pub(super) fn has_graphql(&self) -> bool {
        self.has_token() && lock(&self.hung).is_none_or(|span| span.is_over(&*self.clock))
    }

    /// An effort that begins now.
    pub(super) fn effort(&self) -> Effort {
        Effort { until: self.clock.reading().saturating_add(self.deadline) }
    }

    /// A server's text, safe to show.
    pub(super) fn clean(&self, text: &str) -> String {
        clean(text, self.token().as_ref())
    }

    /// The answer to a call: 2xx, 304, 404, 409, 410 or 422; everything else is an error after all tries.
    pub(super) async fn ask(&self, call: &ApiCall, effort: Effort) -> Result<ApiReply, SourceError> {
        let (mut tries, mut renewed) = (0, false);
        loop {
            self.check_limit()?;
            tries += 1;
            let credential = self.credential();
            let outcome = self.attempt(call, &credential, tries, self.longest(call, effort)).await;
            let (error, pause) = match outcome {
                Try::Done(reply) => {
                    let (status, bytes) = (reply.status.as_u16(), reply.body.len());
                    tracing::debug!(what = call.what, tries, status, bytes, "GitHub answered");
                    return Ok(reply);
                }
                Try::Failed(SourceError::Unauthorized { .. }) if !renewed && self.renew(&credential).await => {
                    renewed = true;
                    tries -= 1;
                    continue;
                }
                Try::Failed(error) => return Err(error),
                Try::Again(error, pause) => (error, pause),
            };
            tracing::debug!(what = call.what, tries, %error, "a request to GitHub failed");
            if self.is_hung(call, &error) || !self.rest(tries, pause, effort).await {
                self.remember_limit(&error);
                return Err(error);
            }
        }
    }

    /// Waits before the next try; `false` where there is none: it was tried often enough, or time runs out.
    pub(super) async fn rest(&self, tries: u32, pause: Option<Duration>, effort: Effort) -> bool {
        let pause = pause.unwrap_or_else(|| back_off(tries, self.clock.fresh()));
        let too_late = self.clock.reading().saturating_add(pause) >= effort.until;
        if tries >= self.attempts || too_late {
            return false;
        }
        tokio::time::sleep(self.paced(pause)).await;
        true
    }

    /// How long one try may take. There is another way to whatever GraphQL is asked for, which needs time, too.
    fn longest(&self, call: &ApiCall, effort: Effort) -> Duration {
        match call.target {
            Target::GraphQl(_) => {
                let left = effort.until.saturating_sub(self.clock.reading());
                self.request_timeout.min(left / 2)
            }
            Target::Rest(_) | Target::Open(_) => self.request_timeout,
        }
    }

    /// Leaves GraphQL alone for a while: files are read in another way meanwhile.
    pub(super) fn leave_graphql(&self) {
        *lock(&self.hung) = Some(Lifetime::new(&*self.clock, LEFT_ALONE));
    }

    pub(super) fn leave_raw(&self) {
        *lock(&self.without_raw) = Some(Lifetime::new(&*self.clock, LEFT_ALONE));
    }

    /// Whether the host of raw files gave nothing when it was asked last.
    pub(super) fn has_left_raw(&self) -> bool {
        lock(&self.without_raw).is_some_and(|span| !span.is_over(&*self.clock))
    }

    /// Notes that GraphQL did not answer in time, if that is what the error says.
    fn is_hung(&self, call: &ApiCall, error: &SourceError) -> bool {
        let hung = matches!((&call.target, error), (Target::GraphQl(_), SourceError::TimedOut { .. }));
        if hung {
            self.leave_graphql();
        }
        hung
    }

    /// Looks whether the file that the token came from holds another one by now, and takes that.
    async fn renew(&self, refused: &Arc<Credential>) -> bool {
        let Some(place) = self.token_place.clone() else { return false };
        let found = tokio::task::spawn_blocking(move || token_in(&place)).await.ok().flatten();
        if found.is_none() || found == refused.token {
            return false;
        }
        tracing::info!("the token was refused; the settings file holds another one, which is used now");
        *lock(&self.credential) = Credential::of(found);
        *lock(&self.limited) = None;
        *lock(&self.hung) = None;
        true
    }

    /// An answer whose body is read by the caller as it comes; tried once.
    pub(super) async fn open(&self, call: &ApiCall) -> Result<Response<ResponseBody>, SourceError> {
        self.check_limit()?;
        let credential = self.credential();
        let sent = tokio::time::timeout(self.request_timeout, self.send(call, &credential, 1)).await;
        let sent = sent.map_err(|_| self.timed_out(call, self.request_timeout))??;
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
    pub(super) fn unusable(&self, call: &ApiCall, reply: &ApiReply) -> SourceError {
        if let Some(host) = reply.elsewhere.clone() {
            let (what, host) = (call.what.clone(), self.clean(&host));
            return SourceError::MovedAway { what, host, status: reply.status.as_u16() };
        }
        SourceError::GitHub {
            status: reply.status.as_u16(),
            what: call.what.clone(),
            message: self.clean(&wire::message(&reply.body)),
            tries: reply.tries,
            wait: retry_after(&reply.headers, self.clock.now()),
        }
    }

    /// Notes a limit that was met, so that nothing is asked before it is over, and returns its error.
    pub(super) fn limited(&self, limit: RateLimit) -> SourceError {
        let error = self.limit_error(limit);
        self.remember_limit(&error);
        error
    }

    pub(super) fn limit_error(&self, RateLimit { retry_at, named, secondary }: RateLimit) -> SourceError {
        SourceError::RateLimited { retry_at, named, secondary, authenticated: self.has_token() }
    }

    fn check_limit(&self) -> Result<(), SourceError> {
        match &*lock(&self.limited) {
            Some((span, error)) if !span.is_over(&*self.clock) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn remember_limit(&self, error: &SourceError) {
        // A time that can't be meant is for this question only.
        if let SourceError::RateLimited { retry_at, named: None, .. } = error {
            let span = Lifetime::new(&*self.clock, *retry_at - self.clock.now());
            *lock(&self.limited) = Some((span, error.clone()));
        }
    }

    fn paced(&self, pause: Duration) -> Duration {
        match self.pace {
            Pace::Real => pause,
            Pace::Hurried => pause / 1000,
        }
    }

    async fn attempt(&self, call: &ApiCall, credential: &Credential, tries: u32, longest: Duration) -> Try {
        let Ok(_permit) = self.permits.acquire().await else {
            return Try::Failed(self.broken(call, "the client is shut down", tries));
        };
        let attempt = async {
            match self.send(call, credential, tries).await {
                Ok(sent) => self.read(call, sent, tries).await,
                Err(error) if error.lasts() => Try::Failed(error),
                Err(error) => Try::Again(error, None),
            }
        };
        tokio::time::timeout(longest, attempt).await.unwrap_or_else(|_| Try::Again(self.timed_out(call, longest), None))
    }

    fn timed_out(&self, call: &ApiCall, after: Duration) -> SourceError {
        let proxy = self.proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        SourceError::TimedOut { what: format!("{}{proxy}", call.what), after }
    }

    /// Nothing is asked in another way than somebody meant.
    pub(super) fn check_web(&self, call: &ApiCall) -> Result<(), SourceError> {
        match self.web_fault.clone() {
            Some(fault) => Err(SourceError::WebFault { what: call.what.clone(), fault }),
            None => Ok(()),
        }
    }

    pub(super) fn broken(&self, call: &ApiCall, reason: &str, tries: u32) -> SourceError {
        let host = match &call.target {
            Target::Open(url) => Url::parse(url).ok().and_then(|url| host_of(&url)),
            Target::Rest(_) | Target::GraphQl(_) => host_of(&self.endpoints.rest),
        };
        SourceError::Network {
            what: call.what.clone(),
            host: host.unwrap_or_default(),
            proxy: self.proxy.clone(),
            trouble: WebTrouble::Other,
            reason: self.clean(reason),
            tries,
        }
    }
}

impl fmt::Debug for GithubClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GithubClient").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}

/// An address's host, with the port where that is not the usual one.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}
