//! What a status and a provider's words mean, and how long to wait: limits told from refusals, refusals told
//! by what helps against them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::config::{Secret, redact};
use crate::generate::{Shape, Trouble, TroubleKind};
use crate::names::shown;
use crate::web;

/// The most of a provider's words that is kept, in characters.
const LONGEST: usize = 500;
/// The longest pause that a server can ask for.
const LONGEST_PAUSE: Duration = Duration::from_hours(24);

/// A refusal as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// The status; none within an answer that had begun.
    pub(super) status: Option<u16>,
    /// The provider's word for it: its type, its code.
    pub(super) word: String,
    /// The provider's sentence.
    pub(super) said: String,
    /// The pause that it asks for.
    pub(super) pause: Option<Duration>,
}

/// What a refusal with a status says.
pub(super) fn of_status(status: u16, headers: &HeaderMap, body: &[u8], now: DateTime<Utc>) -> Refused {
    let value: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    // Gemini sends a list of one where it was to stream.
    let value = value.get(0).unwrap_or(&value);
    let mut refused = of_event(value).unwrap_or_else(|| Refused {
        said: if body.trim_ascii_start().starts_with(b"<") {
            "a web page came, and no answer of a model's API: look at base_url, and at what stands between".to_owned()
        } else {
            shown(String::from_utf8_lossy(body).trim(), LONGEST)
        },
        ..Refused::default()
    });
    refused.status = Some(status);
    refused.pause = pause(headers, now).or(refused.pause);
    refused
}

/// What an event says that tells of trouble; none where it tells of none.
pub(super) fn of_event(value: &Value) -> Option<Refused> {
    let error = value.get("error").filter(|error| !error.is_null());
    // Mistral puts the words beside its object's name.
    let error =
        error.or_else(|| value.get("message").filter(|_| value.get("object").is_some_and(|it| it == "error")))?;
    if let Some(said) = error.as_str() {
        return Some(Refused { said: said.to_owned(), ..Refused::default() });
    }
    let words = ["type", "code", "status"].iter().filter_map(|key| error.get(*key));
    let words: Vec<String> = words.map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect();
    let said = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
    // Google says how long to wait within the error.
    let mut details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let delay = details.find_map(|detail| detail.get("retryDelay").and_then(Value::as_str));
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    Some(Refused { status, word: words.join(" "), said, pause: delay.and_then(duration) })
}

impl Refused {
    /// A refusal within an answer that had begun, by its word.
    pub(super) fn within(word: &str, said: &str) -> Self {
        Self { word: word.to_owned(), said: said.to_owned(), ..Self::default() }
    }

    /// The trouble that it is, where an answer was asked for in this shape.
    pub(super) fn trouble(self, shape: Shape, secrets: &[Secret]) -> Trouble {
        let kind = self.kind(shape);
        let said = redact(self.said.trim(), secrets);
        let said = match self.status {
            Some(300..400) => {
                "its server sends on to another address, which is not followed: base_url may be wrong".into()
            }
            _ if said.trim().is_empty() => "its server says nothing about it".into(),
            _ => said,
        };
        let status = match self.status {
            Some(status @ (404 | 405)) if kind == TroubleKind::Odd => {
                format!(" (status {status}); is base_url right? It often ends in /v1")
            }
            status => status.map(|status| format!(" (status {status})")).unwrap_or_default(),
        };
        Trouble { kind, said: format!("{}{status}", shown(&said, LONGEST)), pause: self.pause }
    }

    fn kind(&self, shape: Shape) -> TroubleKind {
        let words = format!("{} {}", self.word, self.said).to_lowercase();
        let says = |any: &[&str]| any.iter().any(|part| words.contains(part));
        let status = self.status.unwrap_or(0);
        if status == 401 || says(&["authentication_error", "invalid_api_key", "api key not valid", "api_key_invalid"]) {
            return TroubleKind::Unauthorized;
        }
        if says(&["insufficient_quota", "credit balance is too low", "billing_hard_limit", "billing_error"])
            || status == 402
        {
            return TroubleKind::NoQuota;
        }
        // A stream that had begun has only the word for it; Gemini and gateways say it with the status 503.
        if status == 529 || (matches!(self.status, None | Some(503)) && says(&["overloaded"])) {
            return TroubleKind::Overloaded;
        }
        // Some servers call this one exhausted, too.
        if status == 413 {
            return TroubleKind::TooLong;
        }
        if status == 429 || says(&["rate_limit", "resource_exhausted"]) {
            return TroubleKind::Limited;
        }
        let is_refusal = (400..500).contains(&status) && status != 408;
        let within_answer = self.status.is_none();
        if is_refusal || within_answer {
            if says(CONTEXT) {
                return TroubleKind::TooLong;
            }
            if says(&["content_filter", "content_policy", "content management policy", "prohibited_content"]) {
                return TroubleKind::Filtered;
            }
        }
        match status {
            403 if words.trim().is_empty() || says(KEY) => TroubleKind::Unauthorized,
            404 if says(&["model"]) => TroubleKind::NoModel,
            400 | 422 if shape != Shape::Text && says(FORMAT) => TroubleKind::Format,
            400 | 422
                if says(&["model"]) && says(&["not found", "does not exist", "invalid model", "unknown model"]) =>
            {
                TroubleKind::NoModel
            }
            408 | 500.. => TroubleKind::Server,
            0 => TroubleKind::Broken,
            300..400 | 404 | 405 => TroubleKind::Odd,
            _ => TroubleKind::Refused,
        }
    }
}

/// What refusals that are about the key speak of.
const KEY: &[&str] = &["key", "permission", "auth", "credential", "token", "access", "forbidden"];

/// How providers say that a prompt is too long.
const CONTEXT: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "maximum number of tokens",
    "request_too_large",
];

/// How servers call what asks for JSON.
const FORMAT: &[&str] = &[
    "response_format",
    "json_schema",
    "json_object",
    "json mode",
    "output_config",
    "output_format",
    "responsejsonschema",
    "response_json_schema",
    "responsemimetype",
    "response_mime_type",
    "structured output",
    "schema",
    "grammar",
    "format",
];

/// The pause that an answer's headers ask for: until every quota that is used up is there again, where those are
/// told and no pause is named.
fn pause(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let named = text("retry-after-ms")
        .and_then(|text| text.parse::<f64>().ok())
        .and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok())
        .or_else(|| web::retry_after(text("retry-after")?, now));
    let resets = || {
        let used_up = headers.iter().filter_map(|(name, value)| {
            let rest =
                name.as_str().find("remaining").filter(|_| value.to_str().is_ok_and(|left| left.trim() == "0"))?;
            let (before, after) = name.as_str().split_at_checked(rest)?;
            let after = after.strip_prefix("remaining")?;
            // x-ratelimit-remaining-tokens has x-ratelimit-reset-tokens; anthropic-ratelimit-tokens-remaining
            // has anthropic-ratelimit-tokens-reset.
            let reset = text(&format!("{before}reset{after}"))?;
            duration(reset).or_else(|| web::retry_after(reset, now))
        });
        used_up.max()
    };
    named.or_else(resets).map(|pause| pause.min(LONGEST_PAUSE))
}

/// A time as Go writes it: `1m30.5s`, `250ms`.
fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut whole = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, unit) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let units = [("ms", 0.001), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)];
        let (word, factor) = units.into_iter().find(|(word, _)| unit.starts_with(word))?;
        whole = whole.checked_add(Duration::try_from_secs_f64(number * factor).ok()?)?;
        rest = unit.get(word.len()..)?;
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: u16, body: &Value) -> TroubleKind {
        of_status(status, &HeaderMap::new(), body.to_string().as_bytes(), DateTime::UNIX_EPOCH).kind(Shape::Schema)
    }

    #[test]
    fn a_refusal_is_told_by_what_helps_against_it() {
        let openai = |code: &str, message: &str| json!({"error": {"message": message, "type": "t", "code": code}});
        let rows = [
            (401, openai("invalid_api_key", "Incorrect API key provided"), TroubleKind::Unauthorized),
            (403, json!({"error": {"type": "permission_error", "message": "no"}}), TroubleKind::Unauthorized),
            (
                400,
                json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}),
                TroubleKind::Unauthorized,
            ),
            (404, json!({"error": "model \"llama9\" not found, try pulling it first"}), TroubleKind::NoModel),
            (
                404,
                json!({"type": "error", "error": {"type": "not_found_error", "message": "model: claude-0"}}),
                TroubleKind::NoModel,
            ),
            (404, json!({"detail": "Not Found"}), TroubleKind::Odd),
            (403, json!({"error": {"message": "Country, region, or territory not supported"}}), TroubleKind::Refused),
            (503, json!({"error": {"message": "maintenance"}}), TroubleKind::Server),
            (400, json!({"object": "error", "message": "Invalid model: x", "code": 1500}), TroubleKind::NoModel),
            (429, openai("rate_limit_exceeded", "Rate limit reached"), TroubleKind::Limited),
            (429, openai("insufficient_quota", "You exceeded your current quota"), TroubleKind::NoQuota),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}),
                TroubleKind::NoQuota,
            ),
            (
                529,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                TroubleKind::Overloaded,
            ),
            (
                503,
                json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
                TroubleKind::Overloaded,
            ),
            (
                503,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                TroubleKind::Overloaded,
            ),
            (
                400,
                openai("context_length_exceeded", "This model's maximum context length is 8192 tokens"),
                TroubleKind::TooLong,
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}}),
                TroubleKind::TooLong,
            ),
            (413, json!({"error": "x"}), TroubleKind::TooLong),
            (413, json!({"error": {"code": 413, "status": "RESOURCE_EXHAUSTED"}}), TroubleKind::TooLong),
            (400, openai("content_filter", "The response was filtered"), TroubleKind::Filtered),
            (400, openai("x", "'response_format' of type 'json_schema' is not supported"), TroubleKind::Format),
            (400, openai("x", "temperature is out of range"), TroubleKind::Refused),
            (408, json!({}), TroubleKind::Server),
            (500, json!({"error": {"message": "boom"}}), TroubleKind::Server),
            (302, json!({}), TroubleKind::Odd),
        ];
        for (status, body, expected) in rows {
            assert_eq!(kind(status, &body), expected, "{status} {body}");
        }
        let text = of_status(400, &HeaderMap::new(), b"unknown schema", DateTime::UNIX_EPOCH);
        assert_eq!(text.kind(Shape::Text), TroubleKind::Refused);
    }

    #[test]
    fn the_pause_is_what_headers_and_bodies_ask_for() {
        let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap().to_utc();
        let of = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            pause(&headers, now).map(|pause| pause.as_millis())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(of(&[("retry-after", "7"), ("retry-after-ms", "250")]), Some(250));
        assert_eq!(of(&[("retry-after", "Thu, 01 Jan 2026 00:00:09 GMT")]), Some(9_000));
        assert_eq!(of(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "1m30s")]), Some(90_000));
        let both = [("x-ratelimit-remaining-requests", "3"), ("x-ratelimit-reset-requests", "20s")];
        assert_eq!(of(&both), None);
        let anthropic = [
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-01-01T00:00:03Z"),
        ];
        assert_eq!(of(&anthropic), Some(3_000));
        assert_eq!(of(&[("retry-after", "99999999")]), Some(86_400_000));
        let google = json!({"error": {"code": 429, "message": "m", "details": [{"retryDelay": "34s"}]}});
        assert_eq!(of_event(&google).unwrap().pause, Some(Duration::from_secs(34)));
        for (text, ms) in [("250ms", 250), ("1h2m3.5s", 3_723_500), ("0s", 0)] {
            assert_eq!(duration(text).map(|it| it.as_millis()), Some(ms), "{text}");
        }
        assert!(duration("soon").is_none() && duration("").is_none() && duration("5").is_none());
    }
}
