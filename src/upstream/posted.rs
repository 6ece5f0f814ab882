//! One request over HTTP, and which part of what comes back answers it: the body of a POST, whatever
//! id it says, and of several answers in a stream the one with the request's own id.

use std::sync::{Arc, Mutex};

use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use http::StatusCode;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse};
use sse_stream::{Error as SseError, Sse};

use super::line::{Failed, LineError, Refused};
use super::message::{FORGOTTEN, NAMELESS, ReadMessage, about_session, read, too_long};
use crate::lock::lock;
use crate::web::events::Broken;

pub(super) type Posted = StreamableHttpPostResponse;

/// What was posted, as far as its answer depends on it. It is open for as long as this is kept.
pub(super) struct AskedRequest {
    /// The request; none in a post that wants no answer.
    pub(super) id: Option<RequestId>,
    pub(super) session: Option<Arc<str>>,
    all: Arc<Mutex<Requests>>,
}

/// What is known of all requests of one connection.
#[derive(Default)]
pub(super) struct Requests {
    /// Those that are not answered yet.
    open: Vec<RequestId>,
    /// The last one whose session was not known any more.
    renewed: Option<RequestId>,
}

impl Drop for AskedRequest {
    fn drop(&mut self) {
        lock(&self.all).open.retain(|open| self.id.as_ref() != Some(open));
    }
}

impl AskedRequest {
    pub(super) fn of(message: &ClientJsonRpcMessage, session: Option<Arc<str>>, all: Arc<Mutex<Requests>>) -> Self {
        let id = match message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        lock(&all).open.extend(id.clone());
        Self { id, session, all }
    }

    /// The answer to the request, whatever request it says it answers. A server that does not know a
    /// session any more says so in an error that names no request, or with the status 400 or 404. An error
    /// of the call's own may have that status, too: there the words have to be about the session.
    pub(super) fn answered(
        &self,
        id: &RequestId,
        said: ServerJsonRpcMessage,
        status: StatusCode,
    ) -> ServerJsonRpcMessage {
        match said {
            JsonRpcMessage::Response(mut response) => {
                response.id = id.clone();
                JsonRpcMessage::Response(response)
            }
            JsonRpcMessage::Error(mut error) => {
                let nameless = !error.id.as_ref().is_some_and(|own| is(own, id));
                let bad = matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND);
                let about = bad && about_session(&error.error.message);
                if self.session.is_some() && (about || (nameless && (bad || status.is_success()))) {
                    error.error.code = ErrorCode(FORGOTTEN);
                }
                stand_in(error.error, id)
            }
            other => other,
        }
    }

    /// What an answer with a status of trouble comes to.
    pub(super) fn refused(
        &self,
        id: &RequestId,
        status: StatusCode,
        mut refused: Refused,
        body: &[u8],
    ) -> Result<Posted, Failed> {
        if refused.says.is_empty() && !body.trim_ascii_start().starts_with(b"<") {
            String::from_utf8_lossy(body).trim().clone_into(&mut refused.says);
        }
        if !matches!(status.as_u16(), 401 | 403 | 429)
            && let ReadMessage::Message(said, _) = read(body)
            && matches!(*said, JsonRpcMessage::Error(_))
        {
            let said = self.answered(id, *said, status);
            let forgotten = matches!(&said, JsonRpcMessage::Error(error) if error.error.code.0 == FORGOTTEN);
            if !forgotten || status != StatusCode::NOT_FOUND {
                return Ok(StreamableHttpPostResponse::Json(said, None));
            }
        }
        if self.session.is_some() && status == StatusCode::BAD_REQUEST {
            let words = if refused.says.is_empty() { String::new() } else { format!(": {}", refused.says) };
            let told = ErrorData::new(ErrorCode(FORGOTTEN), format!("it answers with status 400{words}"), None);
            return Ok(StreamableHttpPostResponse::Json(stand_in(told, id), None));
        }
        // The library begins a new session and sends the request once more: what is said then is told.
        if self.session.is_some()
            && status == StatusCode::NOT_FOUND
            && lock(&self.all).renewed.replace(id.clone()).as_ref() != Some(id)
        {
            return Err(StreamableHttpError::SessionExpired);
        }
        Err(StreamableHttpError::Client(LineError::Status(refused)))
    }
}

/// The stream of events that answers a request.
pub(super) struct AnswerStream {
    asked: AskedRequest,
    id: RequestId,
    alias: Arc<str>,
    answered: bool,
    /// What answers the request where nothing better comes: the answer to a request that nobody made, or
    /// why something can't be read.
    spare: Option<ServerJsonRpcMessage>,
}

impl AnswerStream {
    pub(super) fn of(asked: AskedRequest, id: RequestId, alias: Arc<str>) -> Self {
        Self { asked, id, alias, answered: false, spare: None }
    }

    /// What an event says to whoever asked, or the end of all events.
    fn hear(&mut self, event: Option<Result<Sse, Broken>>) -> Option<Result<Sse, SseError>> {
        let event = match event {
            Some(Ok(event)) => event,
            Some(Err(Broken::TooLarge { .. })) => {
                return self.answer(stand_in(too_long(None), &self.id), Sse::default());
            }
            Some(Err(Broken::Stream(cause))) if self.spare.is_none() => return Some(Err(SseError::Body(cause))),
            Some(Err(_)) | None => {
                let spare = self.spare.take()?;
                return self.answer(spare, Sse::default());
            }
        };
        let Some(data) = event.data.as_deref().filter(|data| !data.trim().is_empty()) else { return Some(Ok(event)) };
        let said = match read(data.as_bytes()) {
            ReadMessage::Message(said, fixed) => {
                note(fixed, &self.alias);
                *said
            }
            ReadMessage::Unreadable(id, error) => stand_in(error, &id),
            // Events of other names are no messages.
            ReadMessage::Stray(error) => {
                if event.event.as_deref().is_none_or(|name| name == "message") {
                    self.spare.get_or_insert_with(|| stand_in(error, &self.id));
                }
                return Some(Ok(Sse { data: None, ..event }));
            }
        };
        let id = match &said {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return Some(Ok(Sse { data: serde_json::to_string(&said).ok(), ..event })),
        };
        // One that names no request can only answer the one that this stream is for.
        if id.is_none_or(|id| is(id, &self.id) || *id == RequestId::String(NAMELESS.into())) {
            return self.answer(said, event);
        }
        // What answers another call is told to that one.
        if !id.is_some_and(|id| lock(&self.asked.all).open.iter().any(|open| is(id, open))) {
            self.spare = Some(said);
        }
        Some(Ok(Sse { data: None, ..event }))
    }

    fn answer(&mut self, said: ServerJsonRpcMessage, event: Sse) -> Option<Result<Sse, SseError>> {
        if std::mem::replace(&mut self.answered, true) {
            return None;
        }
        let said = self.asked.answered(&self.id, said, StatusCode::OK);
        Some(Ok(Sse { data: serde_json::to_string(&said).ok(), ..event }))
    }

    /// What events say to whoever asked.
    pub(super) fn over(
        mut self,
        events: impl Stream<Item = Result<Sse, Broken>> + Send + 'static,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let end = stream::once(async { None });
        events.map(Some).chain(end).filter_map(move |event| std::future::ready(self.hear(event))).boxed()
    }
}

pub(super) fn note(fixed: Option<&'static str>, alias: &str) {
    if let Some(fixed) = fixed {
        tracing::warn!(server = alias, "one of its messages can be read after a repair: {fixed}");
    }
}

/// Whether two ids are the same; some programs make a text of the number that ours are.
fn is(id: &RequestId, own: &RequestId) -> bool {
    id.to_string() == own.to_string()
}

pub(super) fn stand_in(error: ErrorData, id: &RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_answers_another_open_request_is_left_to_that_one() {
        let all = Arc::new(Mutex::new(Requests { open: vec![RequestId::Number(8)], ..Requests::default() }));
        let said = |id: &i64| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], "isError": id % 2 == 0}});
        let heard = |ids: &[i64]| {
            let asked = AskedRequest { id: Some(RequestId::Number(7)), session: None, all: all.clone() };
            let mut stream = AnswerStream::of(asked, RequestId::Number(7), Arc::from("p"));
            let events = ids.iter().map(|id| Some(Ok(Sse::default().data(said(id).to_string())))).chain([None]);
            let told: Vec<String> = events.filter_map(|event| stream.hear(event)?.ok()?.data).collect();
            let told = told.iter().map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
            told.map(|said| (said["id"].clone(), said["result"]["isError"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(heard(&[8]), []);
        assert_eq!(heard(&[8, 9]), [(json!(7), json!(false))]);
        assert_eq!(heard(&[6, 7, 8, 10]), [(json!(7), json!(false))]);
        assert_eq!(heard(&[6]), [(json!(7), json!(true))]);
    }

    #[test]
    fn what_names_no_request_is_the_answer_before_the_stream_ends() {
        for said in [
            r#"{"jsonrpc":"2.0","id":null,"result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}"#,
        ] {
            let all = Arc::default();
            let asked = AskedRequest { id: Some(RequestId::Number(7)), session: None, all };
            let mut stream = AnswerStream::of(asked, RequestId::Number(7), Arc::from("p"));
            let told =
                stream.hear(Some(Ok(Sse::default().data(said)))).expect("said").expect("read").data.expect("data");
            assert_eq!(serde_json::from_str::<Value>(&told).expect("JSON")["id"], json!(7), "{told}");
        }
    }
}
