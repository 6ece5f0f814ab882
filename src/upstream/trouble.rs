//! What went wrong with a server, in words: a person's, not a library's, and none that shows a secret.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rmcp::model::{ErrorData, ServerResult};
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use super::line::{LineError, Refused};
use super::message::UNREADABLE;
use crate::code::Code;
use crate::config::{Secret, redact};
use crate::execute::ToolFailure;
use crate::model::ToolAddress;
use crate::names::{quoted, shown};
use crate::web::cause;

/// The longest text of a server's that is repeated, in characters.
const LONGEST: usize = 300;

/// The longest address that somebody has to open, in characters.
pub(super) const LONGEST_ADDRESS: usize = 2_000;

/// How much is repeated of what can't be read, in characters.
const LONGEST_BEGINNING: usize = 120;

/// Why a server can't be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The fact, to be read after the server's name and a colon.
    pub(super) why: String,
    /// Whether it stays so until somebody changes something, however a connection begins.
    pub(super) lasting: bool,
    /// What to do about it, where that is known.
    pub(super) hint: Option<Cow<'static, str>>,
    /// Whether the server does not know the session any more, so that a new one may help at once.
    pub(super) forgotten: bool,
}

/// Why a server can't be asked, for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// The fact.
    pub why: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl From<Trouble> for Unreachable {
    fn from(trouble: Trouble) -> Self {
        Self { why: trouble.why, hint: trouble.hint.map(Cow::into_owned) }
    }
}

/// For a program that runs and does not do what it should.
pub(super) const LISTEN: &str = "--log-level debug shows what it says";
/// Of a server that wants to know who asks.
const ASKS_WHO: &str = "it asks for authorization (401); the servers file can give it headers";
/// For an address where something else is.
const PATH: &str = "check the path of its url: it often ends in /mcp";

impl Trouble {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), lasting: false, hint: None, forgotten: false }
    }

    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self { lasting: true, ..Self::passing(why) }
    }

    /// Of a server that does not know the session any more.
    pub(super) fn forgotten(self) -> Self {
        Self { forgotten: true, ..self }
    }

    /// The same of a server that is asked with these headers: whoever gave it its authorization is told that
    /// it was refused.
    pub(super) fn asked_with(self, headers: &[(HeaderName, HeaderValue)]) -> Self {
        let Some(says) = self.why.strip_prefix(ASKS_WHO) else { return self };
        if headers.iter().all(|(name, _)| *name != AUTHORIZATION) {
            return self;
        }
        Trouble::lasting(format!("it refused the Authorization header of the servers file (401){says}"))
            .hint("check the token that stands there; flowy reads the file and its variables when it starts")
    }

    /// With what helps.
    pub(super) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// With what helps where nothing better is known.
    pub(super) fn or_hint(self, hint: &'static str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }
}

/// A server's text in one line, without control characters and without secrets.
pub(super) fn clean(text: &str, secrets: &[Secret]) -> String {
    shown(redact(text, secrets).trim(), LONGEST)
}

/// Why no connection came about.
pub(super) fn of_beginning(error: &ClientInitializeError, secrets: &[Secret]) -> Trouble {
    match error {
        ClientInitializeError::ConnectionClosed(_) => Trouble::passing("it ended before it had answered"),
        ClientInitializeError::JsonRpcError(refusal) if refusal.code.0 == UNREADABLE => {
            Trouble::passing(of_refusal(refusal, secrets))
        }
        ClientInitializeError::JsonRpcError(refusal) => {
            Trouble::passing(format!("it refuses to begin: {}", of_refusal(refusal, secrets)))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<String> =
                server_supported.iter().take(5).map(|version| shown(&redact(version.as_str(), secrets), 40)).collect();
            Trouble::passing(format!("it speaks other versions of the protocol ({})", theirs.join(", ")))
        }
        ClientInitializeError::TransportError { error, .. } => of_transport(error, secrets),
        ClientInitializeError::ExpectedInitResult(Some(ServerResult::CustomResult(answer)))
            if ["protocolVersion", "supportedVersions"].iter().all(|key| answer.0.get(key).is_none()) =>
        {
            Trouble::passing("its first answer names no version of the protocol (protocolVersion)")
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            Trouble::passing("it does not begin as the protocol demands")
        }
        other => Trouble::passing(clean(&other.to_string(), secrets)),
    }
}

/// Why something could not be sent, or no answer be read.
pub(super) fn of_transport(error: &DynamicTransportError, secrets: &[Secret]) -> Trouble {
    let Some(error) = error.error.downcast_ref::<StreamableHttpError<LineError>>() else {
        return Trouble::passing(format!(
            "it can't be written to: {}",
            clean(&unnumbered(&cause(error.error.as_ref())), secrets)
        ));
    };
    match error {
        StreamableHttpError::Client(LineError::Request(error)) => of_request(error, secrets),
        StreamableHttpError::Client(LineError::Status(refused)) => of_status(refused, secrets),
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => {
            Trouble::passing("it answers with something else than the protocol; is the path right?").hint(PATH)
        }
        other => Trouble::passing(clean(&other.to_string(), secrets)),
    }
}

/// Whether an address can't be reached any more, as opposed to answering badly.
pub(super) fn is_disconnected(error: &DynamicTransportError) -> bool {
    of_client(error).is_some_and(|error| error.status().is_none() && !error.is_timeout() && !error.is_decode())
}

/// Whether nobody took the connection, so that nothing was sent.
pub(super) fn found_nobody(error: &DynamicTransportError) -> bool {
    of_client(error).is_some_and(reqwest::Error::is_connect)
}

/// Whether an address asks for nothing more than patience.
pub(super) fn is_busy(error: &DynamicTransportError) -> bool {
    matches!(error.error.downcast_ref(), Some(StreamableHttpError::Client(LineError::Status(told))) if told.status == 429)
}

fn of_client(error: &DynamicTransportError) -> Option<&reqwest::Error> {
    match error.error.downcast_ref()? {
        StreamableHttpError::Client(LineError::Request(error)) => Some(error),
        _ => None,
    }
}

fn of_request(error: &reqwest::Error, secrets: &[Secret]) -> Trouble {
    if error.is_timeout() {
        return Trouble::passing("it does not answer in time");
    }
    let told = cause(error);
    // What rustls says of an answer that is no TLS at all.
    if told.contains("InvalidContentType") {
        return Trouble::passing("it does not speak TLS at that address")
            .hint("write http:// in its url where it is on this machine, or the port that https is on");
    }
    let hint = if told.contains("dns error") || told.contains("lookup address") {
        "check the host's name in its url"
    } else if told.contains("certificate") {
        "check that the name in its url is the one in its certificate, and that the certificate is one this system trusts"
    } else {
        "check that it runs, and host and port in its url"
    };
    Trouble::passing(format!("it can't be reached: {}", clean(&unnumbered(&told), secrets))).hint(hint)
}

fn of_status(refused: &Refused, secrets: &[Secret]) -> Trouble {
    let Refused { status, retry_after, says, moved_to } = refused;
    let wait = retry_after.as_deref().and_then(waiting).unwrap_or_default();
    let says = clean(says, secrets);
    let says = if says.is_empty() { says } else { format!(": {says}") };
    match (status, moved_to) {
        (401, _) => Trouble::lasting(format!("{ASKS_WHO}{says}"))
            .hint("give it headers, such as {\"Authorization\": \"Bearer ${TOKEN}\"}"),
        (403, _) => Trouble::lasting(format!("it refuses the request (403){says}"))
            .hint("check what the token in its headers may do"),
        (429, _) => Trouble::passing(format!("it answers with status 429 (too many requests){wait}"))
            .hint("wait as long as it asks, or call it less often"),
        (300..400, Some(place)) => {
            Trouble::passing(format!("it answers with a redirect to {} (status {status})", clean(place, secrets)))
                .hint("write the address in its url that it really has")
        }
        (404 | 405, _) => {
            Trouble::passing(format!("it answers with status {status}{says}; is the address right?")).hint(PATH)
        }
        (300..500, _) => Trouble::passing(format!("it answers with status {status}{says}")).hint(PATH),
        _ => Trouble::passing(format!("it answers with status {status}{wait}{says}"))
            .hint("look into the server's own log"),
    }
}

/// What the system says, without its number, which only programmers know.
fn unnumbered(told: &str) -> String {
    match told.split_once(" (os error ") {
        Some((before, behind)) => format!("{before}{}", behind.split_once(')').map_or("", |(_, rest)| rest)),
        None => told.to_owned(),
    }
}

/// How long a server asks to be left alone: seconds, or a time of day.
fn waiting(retry_after: &str) -> Option<String> {
    let told = retry_after.trim();
    if let Ok(seconds) = told.parse::<u64>() {
        return Some(format!("; it asks to wait {seconds} s"));
    }
    let until = DateTime::parse_from_rfc2822(told).ok()?.with_timezone(&Utc);
    Some(format!("; it asks to wait until {}", until.to_rfc3339_opts(SecondsFormat::Secs, true)))
}

/// A server's error in words.
pub(super) fn of_refusal(error: &ErrorData, secrets: &[Secret]) -> String {
    let said = clean(&error.message, secrets);
    if error.code.0 == UNREADABLE {
        let begins =
            error.data.as_ref().and_then(|data| data.get("begins")).and_then(Value::as_str).unwrap_or_default();
        let begins = shown(redact(begins, secrets).trim(), LONGEST_BEGINNING);
        return format!("its answer can't be read ({said}); it begins with {}", quoted(&begins));
    }
    let said = if said.is_empty() { format!("error {}", error.code.0) } else { said };
    // What stands there may be the reason, or the only way out: the address where somebody signs in.
    let asked = error.data.as_ref().and_then(|data| data.get("elicitations")).and_then(Value::as_array);
    let more: Vec<String> = match (asked, &error.data) {
        (Some(asked), _) => asked.iter().filter_map(|one| place_of(one, secrets)).collect(),
        (None, Some(Value::String(more))) => vec![clean(more, secrets)],
        (None, Some(more)) if !more.is_null() => vec![clean(&more.to_string(), secrets)],
        (None, _) => Vec::new(),
    };
    let more = more.join("; ");
    if more.is_empty() || said.contains(&more) { said } else { format!("{said}: {more}") }
}

/// What a server asks of a person, and the address where that is done.
fn place_of(asked: &Value, secrets: &[Secret]) -> Option<String> {
    let text = |key| asked.get(key).and_then(Value::as_str).map(|text| shown(&redact(text, secrets), LONGEST_ADDRESS));
    let url = text("url")?;
    Some(text("message").map_or_else(|| url.clone(), |message| format!("{message} {url}")))
}

/// A failure about a tool, of a call that was not sent: its address comes first.
pub(super) fn failure(code: Code, address: &ToolAddress, why: impl std::fmt::Display) -> ToolFailure {
    let address = shown(&address.to_string(), 200);
    ToolFailure::unsent(code, format!("{address}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_told_however_it_is_written() {
        for (written, due) in [
            ("30", Some("; it asks to wait 30 s")),
            ("Sun, 29 Nov 2026 12:00:00 GMT", Some("; it asks to wait until 2026-11-29T12:00:00Z")),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(waiting(written).as_deref(), due, "{written}");
        }
    }
}
