//! HTTP requests to a server that is an address: reqwest's client, with our bounds and our errors.
//!
//! Redirects stay on the same host, addresses and headers never stand in an error, and what is too long
//! or can't be read is an error that its request is answered with, over this transport as over the
//! other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{RequestBuilder, Response, Url};
use rmcp::model::{ClientJsonRpcMessage, ErrorData};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Error as SseError, Sse};

use super::message::{ReadMessage, read, too_long};
use super::posted::{AnswerStream, AskedRequest, Posted, Requests, note, stand_in};
use crate::config::Endpoint;
use crate::web::{self, events::events};

/// Who we say we are.
const AGENT: &str = concat!("flowy-mcp/", env!("CARGO_PKG_VERSION"));
/// How many connections are kept open for the next calls.
const IDLE: usize = 2;
/// How many redirects one request follows.
const HOPS: usize = 5;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// What an answer may come as.
const TAKEN: &str = "text/event-stream, application/json";
/// The content type of a stream of events.
const EVENTS: &str = "text/event-stream";

pub(super) type Failed = StreamableHttpError<LineError>;

/// Why a request has no message of the protocol for an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    /// None came.
    #[error(transparent)]
    Request(reqwest::Error),
    /// A status of trouble came.
    #[error("status {}", .0.status)]
    Status(Refused),
}

/// What a server answers instead of a message, as it came.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    /// Its words; none of a web page.
    pub(super) says: String,
    /// Where it sends whoever asks, without what may be a secret.
    pub(super) moved_to: Option<String>,
}

/// The way to one server.
#[derive(Clone)]
pub(super) struct ServerLine {
    client: reqwest::Client,
    alias: Arc<str>,
    /// Whether nothing comes beside what answers a POST, as the server said.
    answers_only: Arc<AtomicBool>,
    requests: Arc<Mutex<Requests>>,
}

impl ServerLine {
    /// Makes the client; nothing is asked yet.
    pub(super) fn lay(alias: &str, endpoint: &Endpoint, connect_timeout: Duration) -> reqwest::Result<Self> {
        let make = || {
            reqwest::Client::builder()
                .user_agent(AGENT)
                .connect_timeout(connect_timeout)
                .gzip(true)
                .pool_max_idle_per_host(IDLE)
                .redirect(Policy::custom(follow))
                .retry(reqwest::retry::never())
        };
        let client = web::client(make, !endpoint.url.starts_with("http://"))?;
        Ok(Self { client, alias: Arc::from(alias), answers_only: Arc::default(), requests: Arc::default() })
    }

    async fn send(request: RequestBuilder, session: Option<&str>, headers: Headers) -> Result<Response, Failed> {
        let request = request.header(ACCEPT, TAKEN).headers(headers.into_iter().collect());
        let request = session.into_iter().fold(request, |request, session| request.header(SESSION, session));
        request.send().await.map_err(unaddressed)
    }
}

type Headers = HashMap<HeaderName, HeaderValue>;

/// Headers may be secrets, so another host is never asked. Most redirects would make a GET of a POST.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let stays = matches!(attempt.status().as_u16(), 307 | 308)
        && attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= HOPS { attempt.follow() } else { attempt.stop() }
}

/// The error without the address.
fn unaddressed(error: reqwest::Error) -> Failed {
    StreamableHttpError::Client(LineError::Request(error.without_url()))
}

/// The body as far as it may go; `None` where it goes further.
async fn bytes_of(response: Response, most: usize) -> Result<Option<Vec<u8>>, Failed> {
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(part) = stream.next().await {
        let part = part.map_err(unaddressed)?;
        if bytes.len().saturating_add(part.len()) > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

/// What a status of trouble comes with, but for the body.
fn refused_by(response: &Response) -> Refused {
    let moved_to = header_of(response, LOCATION).and_then(|place| response.url().join(&place).ok()).map(plain);
    Refused {
        status: response.status().as_u16(),
        retry_after: header_of(response, RETRY_AFTER),
        says: header_of(response, WWW_AUTHENTICATE).filter(|said| said.contains("error")).unwrap_or_default(),
        moved_to,
    }
}

/// An address without a login and without what is asked of it.
fn plain(mut url: Url) -> String {
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

fn header_of(response: &Response, name: impl http::header::AsHeaderName) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

impl StreamableHttpClient for ServerLine {
    type Error = LineError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Posted, Failed> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<Posted, Failed> {
        let asked = AskedRequest::of(&message, session_id, self.requests.clone());
        let post = self.client.post(&*uri).header(CONTENT_TYPE, "application/json").body(serde_json::to_vec(&message)?);
        let response = Self::send(post, asked.session.as_deref(), custom_headers).await?;
        let status = response.status();
        // A post that wants no answer needs nothing of what comes; if it matters, the next request is told.
        let Some(id) = asked.id.clone() else { return Ok(StreamableHttpPostResponse::Accepted) };
        let (session, kind) = (header_of(&response, SESSION), header_of(&response, CONTENT_TYPE));
        if !status.is_success() {
            let refused = refused_by(&response);
            let body = bytes_of(response, limits.max_error_response_size).await.ok().flatten();
            return asked.refused(&id, status, refused, &body.unwrap_or_default());
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            if asked.session.is_some() && !self.answers_only.load(Ordering::Relaxed) {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            let told = format!("it took the request and gives no answer to it (status {})", status.as_u16());
            let told = stand_in(ErrorData::internal_error(told, None), &id);
            return Ok(StreamableHttpPostResponse::Json(told, session));
        }
        if is(kind.as_deref(), EVENTS) {
            let events = events(response.bytes_stream(), limits.max_sse_event_size);
            let told = AnswerStream::of(asked, id, self.alias.clone()).over(events);
            return Ok(StreamableHttpPostResponse::Sse(told, session));
        }
        let Some(body) = bytes_of(response, limits.max_json_response_size).await? else {
            return Ok(StreamableHttpPostResponse::Json(stand_in(too_long(None), &id), session));
        };
        let said = match read(&body) {
            ReadMessage::Message(said, fixed) => {
                note(fixed, &self.alias);
                asked.answered(&id, *said, status)
            }
            // A message counts as what it is, whatever kind it is said to be.
            ReadMessage::Stray(_) if !is(kind.as_deref(), "application/json") => {
                return Err(StreamableHttpError::UnexpectedContentType(kind));
            }
            ReadMessage::Unreadable(_, error) | ReadMessage::Stray(error) => stand_in(error, &id),
        };
        Ok(StreamableHttpPostResponse::Json(said, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        // Whatever is said to that, nobody uses the session any more.
        Self::send(self.client.delete(&*uri), Some(&session_id), custom_headers).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let get = self.client.get(&*uri);
        let get = last_event_id.into_iter().fold(get, |get, last| get.header("last-event-id", last));
        let response = Self::send(get, session_id.as_deref(), custom_headers).await;
        let opened = match response {
            Ok(response)
                if response.status().is_success() && is(header_of(&response, CONTENT_TYPE).as_deref(), EVENTS) =>
            {
                let events = events(response.bytes_stream(), max_sse_event_size);
                Ok(events.map(|event| event.map_err(|error| SseError::Body(Box::new(error)))).boxed())
            }
            Ok(response) if response.status().is_server_error() => {
                Err(StreamableHttpError::Client(LineError::Status(refused_by(&response))))
            }
            Ok(_) => Err(StreamableHttpError::ServerDoesNotSupportSse),
            Err(error) => Err(error),
        };
        self.answers_only.store(opened.is_err(), Ordering::Relaxed);
        opened
    }
}

/// Whether a content type is this one, whatever its parameters.
fn is(kind: Option<&str>, wanted: &str) -> bool {
    kind.and_then(|kind| kind.split(';').next()).is_some_and(|kind| kind.trim().eq_ignore_ascii_case(wanted))
}
