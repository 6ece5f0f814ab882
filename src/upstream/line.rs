//! HTTP requests to a server that is an address: reqwest's client, with our bounds and our errors.
//!
//! What answers a POST answers the request in it, whatever id it says. Redirects stay on the same
//! host, addresses and headers never stand in an error, and what is too long or can't be read is an
//! error that its request is answered with, over this transport as over the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::Response;
use reqwest::redirect::{Attempt, Policy};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
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

type Failed = StreamableHttpError<reqwest::Error>;

/// The way to one server.
#[derive(Clone)]
pub(super) struct ServerLine {
    client: reqwest::Client,
    alias: Arc<str>,
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
        Ok(Self { client, alias: Arc::from(alias) })
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

/// Headers may be secrets, so another host is never asked.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let stays = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= HOPS { attempt.follow() } else { attempt.stop() }
}

/// The error without the address.
fn unaddressed(error: reqwest::Error) -> Failed {
    StreamableHttpError::Client(error.without_url())
}

/// An error of rmcp's own client without the address, and without what a header says.
fn harmless(error: Failed) -> Failed {
    match error {
        StreamableHttpError::Client(error) => unaddressed(error),
        StreamableHttpError::AuthRequired(_) => {
            StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new()))
        }
        StreamableHttpError::InsufficientScope(_) => HttpStatusError::new(403, None).into(),
        other => other,
    }
}

/// What was posted, as far as its answer depends on it.
#[derive(Clone)]
struct AskedRequest {
    /// The request; none in a post that wants no answer.
    id: Option<RequestId>,
    /// Whether it asks which generation of the protocol is spoken.
    discovers: bool,
    session: Option<Arc<str>>,
}

impl AskedRequest {
    fn of(message: &ClientJsonRpcMessage, session: Option<Arc<str>>) -> Self {
        match message {
            ClientJsonRpcMessage::Request(request) => {
                let discovers = matches!(request.request, ClientRequest::DiscoverRequest(_));
                Self { id: Some(request.id.clone()), discovers, session }
            }
            _ => Self { id: None, discovers: false, session },
        }
    }

    /// The answer to the request, whatever request it says it answers. A server that does not know a
    /// session any more says so in an error that names no request, or with the status 400.
    fn answered(&self, id: &RequestId, said: ServerJsonRpcMessage, status: StatusCode) -> ServerJsonRpcMessage {
        match said {
            JsonRpcMessage::Response(mut response) => {
                response.id = id.clone();
                JsonRpcMessage::Response(response)
            }
            JsonRpcMessage::Error(mut error) => {
                let nameless = error.id.as_ref() != Some(id);
                if self.session.is_some() && (nameless || status == StatusCode::BAD_REQUEST) {
                    error.error.code = ErrorCode(FORGOTTEN);
                }
                stand_in(error.error, id)
            }
            other => other,
        }
    }

    /// What an answer with a status of trouble comes to.
    fn refused(&self, status: StatusCode, retry_after: Option<String>, body: &[u8]) -> Result<Posted, Failed> {
        let Some(id) = &self.id else { return Err(HttpStatusError::new(status.as_u16(), retry_after).into()) };
        let speaks = !matches!(status.as_u16(), 401 | 403 | 429);
        if speaks
            && let ReadMessage::Message(said, _) = read(body)
            && matches!(*said, JsonRpcMessage::Error(_))
        {
            return Ok(StreamableHttpPostResponse::Json(self.answered(id, *said, status), None));
        }
        if self.session.is_some() && status == StatusCode::BAD_REQUEST {
            let told = ErrorData::new(ErrorCode(FORGOTTEN), format!("status {}", status.as_u16()), None);
            return Ok(StreamableHttpPostResponse::Json(stand_in(told, id), None));
        }
        // Servers of before know nothing of this question: they are asked as they expect next.
        if self.discovers && speaks && status.is_client_error() {
            let told = ErrorData::invalid_request(format!("status {}", status.as_u16()), None);
            return Ok(StreamableHttpPostResponse::Json(stand_in(told, id), None));
        }
        Err(HttpStatusError::new(status.as_u16(), retry_after).into())
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
                    if fixed.is_none() && names(&said, id) {
                        return Ok(event);
                    }
                    let data = serde_json::to_string(&asked.answered(id, *said, StatusCode::OK)).ok();
                    return Ok(Sse { data, ..event });
                }
                // Events of other names are no messages.
                ReadMessage::Stray(_) if event.event.as_deref().is_some_and(|name| name != "message") => {
                    return Ok(event);
                }
                ReadMessage::Stray(error) | ReadMessage::Unreadable(_, error) => error,
            }
        }
        Err(SseError::Body(cause)) if matches!(cause.downcast_ref(), Some(Broken::TooLarge { .. })) => too_long(None),
        Err(error @ SseError::Body(_)) => return Err(error),
        Err(error) => unreadable(&error.to_string(), &[]),
    };
    Ok(Sse { data: serde_json::to_string(&stand_in(error, id)).ok(), ..Sse::default() })
}

/// Whether a message answers this request, or none at all.
fn names(said: &ServerJsonRpcMessage, id: &RequestId) -> bool {
    match said {
        JsonRpcMessage::Response(response) => response.id == *id,
        JsonRpcMessage::Error(error) => error.id.as_ref() == Some(id),
        _ => true,
    }
}

fn note(fixed: Option<&'static str>, alias: &str) {
    if let Some(fixed) = fixed {
        tracing::warn!(server = alias, "a message of its can be read after a repair: {fixed}");
    }
}

impl StreamableHttpClient for ServerLine {
    type Error = reqwest::Error;

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
            let retry_after = header_of(&response, RETRY_AFTER);
            let body = bytes_of(response, limits.max_error_response_size).await.ok().flatten();
            return asked.refused(status, retry_after, &body.unwrap_or_default());
        }
        // A post that wants no answer needs nothing of what comes.
        let Some(id) = asked.id.clone() else { return Ok(StreamableHttpPostResponse::Accepted) };
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let is = |wanted| kind.as_deref().is_some_and(|kind| media_type(kind).eq_ignore_ascii_case(wanted));
        if is("text/event-stream") {
            let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), limits.max_sse_event_size));
            let alias = self.alias.clone();
            let told = events.map(move |said| event(said, &asked, &id, &alias));
            return Ok(StreamableHttpPostResponse::Sse(told.boxed(), session));
        }
        if !is("application/json") {
            return Err(StreamableHttpError::UnexpectedContentType(kind));
        }
        let Some(body) = bytes_of(response, limits.max_json_response_size).await? else {
            return Ok(StreamableHttpPostResponse::Json(stand_in(too_long(None), &id), session));
        };
        let said = match read(&body) {
            ReadMessage::Message(said, fixed) => {
                note(fixed, &self.alias);
                asked.answered(&id, *said, status)
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
        opened.map_err(harmless)
    }
}

/// A content type without its parameters.
fn media_type(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}
