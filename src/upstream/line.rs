//! HTTP requests to a server that is an address: rmcp's client, with our bounds and our errors.
//!
//! Redirects stay on the same host, addresses never stand in an error, and an answer that is too
//! long is an error that its request is answered with, over this transport as over the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::json;
use sse_stream::{Error as SseError, Sse};

use super::lines::TOO_LONG;
use crate::config::Endpoint;
use crate::web;

/// Who we say we are.
const AGENT: &str = concat!("flowy-mcp/", env!("CARGO_PKG_VERSION"));
/// How many redirects one request follows.
const HOPS: usize = 5;

type Failed = StreamableHttpError<reqwest::Error>;

/// The way to one server.
#[derive(Clone)]
pub(super) struct Line(reqwest::Client);

impl Line {
    /// Makes the client; nothing is asked yet.
    pub(super) fn lay(endpoint: &Endpoint, connect_timeout: Duration) -> reqwest::Result<Self> {
        let make = || {
            reqwest::Client::builder()
                .user_agent(AGENT)
                .connect_timeout(connect_timeout)
                .gzip(true)
                .redirect(Policy::custom(follow))
                .retry(reqwest::retry::never())
        };
        web::client(make, !endpoint.url.starts_with("http://")).map(Self)
    }
}

/// Headers may be secrets, so another host is never asked.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let stays = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= HOPS { attempt.follow() } else { attempt.stop() }
}

/// The error without the address.
fn unaddressed(error: Failed) -> Failed {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// The error that stands in for an answer of more than so many bytes.
fn stand_in(id: RequestId, most: usize) -> ServerJsonRpcMessage {
    let data = Some(json!({"most": most}));
    ServerJsonRpcMessage::error(ErrorData::new(ErrorCode(TOO_LONG), "the answer is too long", data), Some(id))
}

/// Whether a stream broke off because of our own bound. rmcp keeps the type of that error to
/// itself; its words are all there is to go by.
fn too_long(error: &SseError) -> bool {
    matches!(error, SseError::Body(cause) if cause.to_string().contains("exceeded the maximum size"))
}

impl StreamableHttpClient for Line {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let id = request_id(&message);
        let most = limits.max_sse_event_size;
        let posted = self
            .0
            .post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
            .await;
        match (posted, id) {
            (Err(StreamableHttpError::ResponseBodyTooLarge { max_size }), Some(id)) => {
                Ok(StreamableHttpPostResponse::Json(stand_in(id, max_size), None))
            }
            (Ok(StreamableHttpPostResponse::Sse(events, session)), Some(id)) => {
                let told = events.map(move |event| match event {
                    Err(error) if too_long(&error) => {
                        let error = stand_in(id.clone(), most);
                        Ok(Sse { data: serde_json::to_string(&error).ok(), ..Sse::default() })
                    }
                    other => other,
                });
                Ok(StreamableHttpPostResponse::Sse(told.boxed(), session))
            }
            (other, _) => other.map_err(unaddressed),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await.map_err(unaddressed)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
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
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.0
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await
            .map_err(unaddressed)
    }
}
