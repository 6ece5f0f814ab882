//! One request to a model's address, and the events of its answer as they come, within bounds.

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};

use super::refusal::{self, Refused};
use super::{Providers, anthropic, gemini, ollama, openai};
use crate::config::{ModelKey, ModelSpec, Provider, Secret};
use crate::generate::{OnText, Prompt, Reply, Trouble, TroubleKind};
use crate::model::{Finish, TokenUsage};
use crate::rpc::halves_replaced;
use crate::web::events::{self, Broken};
use crate::web::{self, WebTrouble};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest answer that is taken, in bytes of text.
const LONGEST_TEXT: usize = 2 << 20;
/// The most bytes of an answer, with all that its events carry beside the text.
const LONGEST_ANSWER: usize = 64 << 20;
/// The longest line, and the largest event, of an answer that comes in them, in bytes.
const LONGEST_LINE: usize = 4 << 20;
/// The most of a refusal that is read, in bytes.
const LONGEST_REFUSAL: usize = 64 << 10;

/// A request as a provider wants it.
pub(super) struct Asked {
    /// What follows the address.
    pub(super) path: String,
    /// What is sent beside the key.
    pub(super) headers: Vec<(&'static str, &'static str)>,
    /// How the key is sent: the header's name, and what stands before the key.
    pub(super) key: (&'static str, &'static str),
    /// The body.
    pub(super) body: Value,
}

/// An answer on its way.
#[derive(Debug, Default)]
pub(super) struct Coming {
    pub(super) text: String,
    pub(super) usage: TokenUsage,
    pub(super) finish: Option<Finish>,
    /// Whether the server said that nothing more comes.
    pub(super) over: bool,
}

/// What one event adds to an answer.
///
/// # Errors
/// The trouble that the event tells of.
pub(super) type Take = fn(&Value, &mut Coming) -> Result<(), Refused>;

impl Providers {
    pub(super) async fn ask(&self, prompt: &Prompt, on_text: OnText<'_>) -> Result<Reply, Trouble> {
        let spec = &*prompt.model;
        let (asked, take): (Asked, Take) = match spec.provider {
            Provider::Anthropic => (anthropic::asked(prompt), anthropic::take),
            Provider::OpenAi | Provider::Mistral | Provider::OpenAiCompatible => (openai::asked(prompt), openai::take),
            Provider::Gemini => (gemini::asked(prompt), gemini::take),
            Provider::Ollama => (ollama::asked(prompt), ollama::take),
        };
        let key = match &spec.key {
            ModelKey::None => None,
            ModelKey::Known(secret) => Some(secret),
            ModelKey::Missing(why) => return Err(Trouble::new(TroubleKind::NoKey, why.clone())),
        };
        let secrets: Vec<Secret> = key.cloned().into_iter().collect();
        let response = self.send(spec, asked, key).await?;
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = beginning(response).await;
            let refused = refusal::of_status(status.as_u16(), &headers, &body, self.clock.now());
            return Err(refused.trouble(prompt.shape, &secrets));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/html") {
            let said = format!("at {} is a page (text/html) and no model: base_url may be wrong", spec.base_url);
            return Err(Trouble::new(TroubleKind::Odd, said));
        }
        let whole = kind.starts_with("application/json");
        let in_lines = spec.provider == Provider::Ollama || whole;
        let mut coming = Coming::default();
        let mut add = |event: &Value| -> Result<bool, Trouble> {
            let before = coming.text.len();
            take(event, &mut coming).map_err(|refused| refused.trouble(prompt.shape, &secrets))?;
            on_text(coming.text.get(before..).unwrap_or_default());
            if coming.text.len() > LONGEST_TEXT {
                return Err(Trouble::new(TroubleKind::Odd, "its answer is larger than 2 MB"));
            }
            Ok(coming.over)
        };
        let done = if in_lines {
            lines(response, &mut add).await?;
            false
        } else {
            events(response, &mut add).await?
        };
        match coming.finish {
            Some(finish) => Ok(Reply { text: coming.text, usage: coming.usage, finish }),
            None if coming.over || (done && !coming.text.is_empty()) => {
                Ok(Reply { text: coming.text, usage: coming.usage, finish: Finish::Other })
            }
            None if whole && coming.text.is_empty() => {
                let said =
                    format!("what came from {} is not what a model's API answers: is base_url right?", spec.base_url);
                Err(Trouble::new(TroubleKind::Odd, said))
            }
            None => Err(broken("it ended without saying so")),
        }
    }

    async fn send(&self, spec: &ModelSpec, asked: Asked, key: Option<&Secret>) -> Result<Response, Trouble> {
        let client = self.client(spec)?;
        let mut headers = HeaderMap::new();
        for (name, value) in asked.headers {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let (name, before) = asked.key;
            let value = HeaderValue::from_str(&format!("{before}{}", key.expose()));
            let Ok(mut value) = value else {
                return Err(Trouble::new(TroubleKind::Unauthorized, "the key can't stand in a header"));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = asked.body.to_string();
        let sent = client.post(format!("{}{}", spec.base_url, asked.path)).headers(headers).body(body).send().await;
        sent.map_err(|error| {
            // The address may hold nothing secret, but the words are enough.
            let lasts = WebTrouble::of(&error).lasts();
            let kind = if lasts { TroubleKind::Odd } else { TroubleKind::Transport };
            Trouble::new(kind, format!("it can't be reached at {}: {}", spec.base_url, web::cause(&error)))
        })
    }

    fn client(&self, spec: &ModelSpec) -> Result<&Client, Trouble> {
        let encrypted = spec.base_url.starts_with("https:");
        if let Some(fault) =
            self.fault.as_ref().filter(|fault| encrypted && (!spec.local || fault.is_of_certificates()))
        {
            return Err(Trouble::new(TroubleKind::Odd, format!("it was not asked: {fault}; {}", fault.hint())));
        }
        let place = if spec.local { &self.local } else { &self.remote };
        let made = place.get_or_init(|| {
            let make = || {
                let make = Client::builder()
                    .redirect(Policy::none())
                    .connect_timeout(CONNECT)
                    .user_agent(concat!("flowy/", env!("CARGO_PKG_VERSION")));
                if spec.local { make.no_proxy() } else { make }
            };
            web::client(make, encrypted || spec.local).map_err(|error| web::cause(&error))
        });
        made.as_ref().map_err(|why| Trouble::new(TroubleKind::Odd, format!("no connection can be made: {why}")))
    }
}

/// What comes as server-sent events; whether the server said that nothing more comes.
async fn events(
    response: Response,
    add: &mut (dyn FnMut(&Value) -> Result<bool, Trouble> + Send),
) -> Result<bool, Trouble> {
    let mut left = LONGEST_ANSWER;
    let bytes = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(|error| io::Error::other(web::cause(&error)))?;
        left = left.checked_sub(piece.len()).ok_or_else(|| io::Error::other("it is larger than 64 MB"))?;
        Ok::<_, io::Error>(piece)
    });
    let mut events = pin!(events::events(bytes, LONGEST_LINE));
    while let Some(event) = events.next().await {
        let event = event.map_err(|error| match error {
            Broken::Stream(error) => broken(&web::cause(&*error)),
            Broken::TooLarge { .. } => Trouble::new(TroubleKind::Odd, "it sent an event larger than 4 MB"),
        })?;
        let Some(data) = event.data.filter(|data| !data.trim().is_empty()) else { continue };
        if data.trim() == "[DONE]" {
            return Ok(true);
        }
        let Some(mut value) = json(data.as_bytes()) else { return Err(broken("it sent an event that is no JSON")) };
        if event.event.as_deref() == Some("error") && value.get("error").is_none() {
            value = json!({ "error": value });
        }
        if add(&value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A value, with U+FFFD for halves of characters: some servers cut their answer within one.
fn json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok().or_else(|| {
        let text = std::str::from_utf8(bytes).ok()?;
        serde_json::from_str(&halves_replaced(text)?).ok()
    })
}

/// What comes as lines of JSON, or as one JSON value.
async fn lines(
    response: Response,
    add: &mut (dyn FnMut(&Value) -> Result<bool, Trouble> + Send),
) -> Result<(), Trouble> {
    let mut bytes = response.bytes_stream();
    let mut kept: Vec<u8> = Vec::new();
    let mut left = LONGEST_ANSWER;
    // A value that is spread over lines is read when all of it is there.
    let mut spread = false;
    while let Some(piece) = bytes.next().await {
        let piece = piece.map_err(|error| broken(&web::cause(&error)))?;
        let too_large = || Trouble::new(TroubleKind::Odd, "its answer is larger than 64 MB");
        left = left.checked_sub(piece.len()).ok_or_else(too_large)?;
        let (mut begin, mut looked) = (0, kept.len());
        kept.extend_from_slice(&piece);
        while let Some(rest) = kept.get(looked..).filter(|_| !spread)
            && let Some(length) = rest.iter().position(|byte| *byte == b'\n')
        {
            looked += length + 1;
            let line = kept.get(begin..looked).unwrap_or_default();
            match json(line) {
                Some(value) if add(&value)? => return Ok(()),
                None if !line.trim_ascii().is_empty() => spread = true,
                Some(_) | None => begin = looked,
            }
        }
        kept.drain(..begin);
        if kept.len() > LONGEST_LINE {
            return Err(Trouble::new(TroubleKind::Odd, "it sent a line longer than 4 MB"));
        }
    }
    if kept.trim_ascii().is_empty() {
        return Ok(());
    }
    let value = json(&kept).ok_or_else(|| broken("it ended within a line"))?;
    add(&value).map(drop)
}

fn broken(why: &str) -> Trouble {
    Trouble::new(TroubleKind::Broken, format!("its answer broke off: {why}"))
}

/// The beginning of a refusal.
async fn beginning(response: Response) -> Vec<u8> {
    let mut bytes = response.bytes_stream();
    let mut kept = Vec::new();
    while let Some(Ok(piece)) = bytes.next().await {
        kept.extend_from_slice(&piece);
        if kept.len() >= LONGEST_REFUSAL {
            kept.truncate(LONGEST_REFUSAL);
            break;
        }
    }
    kept
}

/// Adds a member to a request.
pub(super) fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(key.to_owned(), value);
    }
}

/// A count in an answer.
pub(super) fn number(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_u64).unwrap_or(0)
}

/// A text in an answer.
pub(super) fn text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    value.pointer(path).and_then(Value::as_str)
}
