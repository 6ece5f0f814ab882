//! HTTP requests to a server that is an address: reqwest's client, with our bounds and our errors.
//!
//! What answers a POST answers the request in it, whatever id it says. Redirects stay on the same
//! host, addresses and headers never stand in an error, and what is too long or can't be read is an
//! error that its request is answered with, over this transport as over the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Response, Url};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::{Error as SseError, Sse, SseStream};

use super::events::{Broken, bounded};
use super::message::{FORGOTTEN, ReadMessage, read, too_long, unreadable};
use crate::config::Endpoint;
use crate::web;

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

type Failed = StreamableHttpError<LineError>;

/// Why a request has no message of the protocol for an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    /// None came.
    #[error(transparent)]
    Request(reqwest::Error),
    /// A status of trouble came.
    #[error("status {}", .0.status)]
    Status(Refused),
    /// rmcp's own client says no; what it says may hold a secret.
    #[error("it is not answered as the protocol demands")]
    Other,
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
        Ok(Self { client, alias: Arc::from(alias), answers_only: Arc::new(AtomicBool::new(false)) })
    }

    async fn post(&self, uri: &str, asked: &AskedRequest, headers: Headers, body: Vec<u8>) -> Result<Response, Failed> {
        let mut request = self.client.post(uri).header(ACCEPT, TAKEN).header(CONTENT_TYPE, "application/json");
        request = request.headers(headers.into_iter().collect());
        if let Some(session) = &asked.session {
            request = request.header(SESSION, &**session);
        }
        request.body(body).send().await.map_err(unaddressed)
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

/// An error of rmcp's own client without the address, and without what a header says.
fn harmless(error: StreamableHttpError<reqwest::Error>) -> Failed {
    match error {
        StreamableHttpError::Client(error) => unaddressed(error),
        StreamableHttpError::HttpStatus(told) => told.into(),
        StreamableHttpError::ServerDoesNotSupportSse => StreamableHttpError::ServerDoesNotSupportSse,
        StreamableHttpError::ServerDoesNotSupportDeleteSession => {
            StreamableHttpError::ServerDoesNotSupportDeleteSession
        }
        StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
        _ => StreamableHttpError::Client(LineError::Other),
    }
}

/// What was posted, as far as its answer depends on it.
#[derive(Clone)]
struct AskedRequest {
    /// The request; none in a post that wants no answer.
    id: Option<RequestId>,
    session: Option<Arc<str>>,
}

impl AskedRequest {
    fn of(message: &ClientJsonRpcMessage, session: Option<Arc<str>>) -> Self {
        let id = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        Self { id, session }
    }

    /// The answer to the request, whatever request it says it answers. A server that does not know a
    /// session any more says so in an error that names no request, or with the status 400. An error of the
    /// call's own may have that status, too: there the words have to be about the session.
    fn answered(&self, id: &RequestId, said: ServerJsonRpcMessage, status: StatusCode) -> ServerJsonRpcMessage {
        match said {
            JsonRpcMessage::Response(mut response) => {
                response.id = id.clone();
                JsonRpcMessage::Response(response)
            }
            JsonRpcMessage::Error(mut error) => {
                let nameless = error.id.as_ref() != Some(id);
                let bad = status == StatusCode::BAD_REQUEST;
                let about = bad && error.error.message.to_ascii_lowercase().contains("session");
                if self.session.is_some() && (about || (nameless && (bad || status.is_success()))) {
                    error.error.code = ErrorCode(FORGOTTEN);
                }
                stand_in(error.error, id)
            }
            other => other,
        }
    }

    /// What an answer with a status of trouble comes to.
    fn refused(&self, status: StatusCode, mut refused: Refused, body: &[u8]) -> Result<Posted, Failed> {
        if refused.says.is_empty() && !body.trim_ascii_start().starts_with(b"<") {
            String::from_utf8_lossy(body).trim().clone_into(&mut refused.says);
        }
        let failed = |refused| Err(StreamableHttpError::Client(LineError::Status(refused)));
        let Some(id) = &self.id else { return failed(refused) };
        if !matches!(status.as_u16(), 401 | 403 | 429)
            && let ReadMessage::Message(said, _) = read(body)
            && matches!(*said, JsonRpcMessage::Error(_))
        {
            return Ok(StreamableHttpPostResponse::Json(self.answered(id, *said, status), None));
        }
        if self.session.is_some() && status == StatusCode::BAD_REQUEST {
            let told = format!("status 400 {}", refused.says);
            let told = ErrorData::new(ErrorCode(FORGOTTEN), told.trim_end().to_owned(), None);
            return Ok(StreamableHttpPostResponse::Json(stand_in(told, id), None));
        }
        failed(refused)
    }
}

type Posted = StreamableHttpPostResponse;

fn stand_in(error: ErrorData, id: &RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id.clone()))
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

/// An event as the answer that it is, or holds; others stay as they are.
fn event(event: Result<Sse, SseError>, asked: &AskedRequest, id: &RequestId, alias: &str) -> Result<Sse, SseError> {
    let error = match event {
        Ok(event) => {
            let Some(data) = event.data.as_deref().filter(|data| !data.trim().is_empty()) else { return Ok(event) };
            match read(data.as_bytes()) {
                ReadMessage::Message(said, fixed) => {
                    note(fixed, alias);
                    let data = serde_json::to_string(&asked.answered(id, *said, StatusCode::OK)).ok();
                    return Ok(Sse { data, ..event });
                }
                // Events of other names are no messages; and some servers end a stream as models' APIs do.
                ReadMessage::Stray(_) if event.event.as_deref().is_some_and(|name| name != "message") => {
                    return Ok(event);
                }
                ReadMessage::Stray(_) if data.trim() == "[DONE]" => return Ok(Sse { data: None, ..event }),
                ReadMessage::Stray(error) | ReadMessage::Unreadable(_, error) => error,
            }
        }
        Err(SseError::Body(cause)) if matches!(cause.downcast_ref(), Some(Broken::TooLarge { .. })) => too_long(None),
        Err(error @ SseError::Body(_)) => return Err(error),
        Err(error) => unreadable(&error.to_string(), &[]),
    };
    Ok(Sse { data: serde_json::to_string(&stand_in(error, id)).ok(), ..Sse::default() })
}

fn note(fixed: Option<&'static str>, alias: &str) {
    if let Some(fixed) = fixed {
        tracing::warn!(server = alias, "a message of its can be read after a repair: {fixed}");
    }
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
        let asked = AskedRequest::of(&message, session_id);
        let response = self.post(&uri, &asked, custom_headers, serde_json::to_vec(&message)?).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && asked.session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        let (session, kind) = (header_of(&response, SESSION), header_of(&response, CONTENT_TYPE));
        if !status.is_success() {
            let refused = refused_by(&response);
            let body = bytes_of(response, limits.max_error_response_size).await.ok().flatten();
            return asked.refused(status, refused, &body.unwrap_or_default());
        }
        // A post that wants no answer needs nothing of what comes.
        let Some(id) = asked.id.clone() else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            if asked.session.is_some() && !self.answers_only.load(Ordering::Relaxed) {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            let told = format!("it took the request and gives no answer to it (status {})", status.as_u16());
            let told = stand_in(ErrorData::internal_error(told, None), &id);
            return Ok(StreamableHttpPostResponse::Json(told, session));
        }
        let is = |wanted| kind.as_deref().is_some_and(|kind| media_type(kind).eq_ignore_ascii_case(wanted));
        if is("text/event-stream") {
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), limits.max_sse_event_size));
            let alias = self.alias.clone();
            let told = events.map(move |said| event(said, &asked, &id, &alias));
            return Ok(StreamableHttpPostResponse::Sse(told.boxed(), session));
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
            ReadMessage::Stray(_) if !is("application/json") => {
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
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failed> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await.map_err(harmless)
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
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let (client, most) = (&self.client, max_sse_event_size);
        let opened = client
            .get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, most)
            .await;
        self.answers_only.store(opened.is_err(), Ordering::Relaxed);
        opened.map_err(harmless)
    }
}

/// A content type without its parameters.
fn media_type(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
