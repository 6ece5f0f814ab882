//! What went wrong with a server, in words: a person's, not a library's, and none that shows a secret.

use std::borrow::Cow;

use chrono::{DateTime, SecondsFormat, Utc};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use super::message::UNREADABLE;
use crate::code::Code;
use crate::config::{Secret, redact};
use crate::execute::ToolFailure;
use crate::model::ToolAddress;
use crate::names::{quoted, shown};
use crate::web::cause;

/// The longest text of a server's that is repeated, in characters.
const LONGEST: usize = 300;

/// How much is repeated of what can't be read, in characters.
const LONGEST_BEGINNING: usize = 120;

/// Why a server can't be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The fact, to be read after the server's name and a colon.
    pub(super) why: String,
    /// Whether it stays so until somebody changes something.
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
        if self.why != ASKS_WHO || headers.iter().all(|(name, _)| *name != AUTHORIZATION) {
            return self;
        }
        Trouble::lasting("it refused the Authorization header of the servers file (401)")
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
            Trouble::passing(format!("it refuses to begin: {}", clean(&refusal.message, secrets)))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<String> =
                server_supported.iter().take(5).map(|version| shown(&redact(version.as_str(), secrets), 40)).collect();
            Trouble::lasting(format!("it speaks other versions of the protocol ({})", theirs.join(", ")))
        }
        ClientInitializeError::TransportError { error, .. } => of_transport(error, secrets),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_beginning(fallback, secrets),
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
    let Some(error) = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() else {
        return Trouble::passing(format!(
            "it can't be written to: {}",
            clean(&unnumbered(&cause(error.error.as_ref())), secrets)
        ));
    };
    match error {
        StreamableHttpError::Client(error) => of_request(error, secrets),
        StreamableHttpError::AuthRequired(_) => of_status(401, None),
        StreamableHttpError::HttpStatus(told) => of_status(told.status, told.retry_after.as_deref()),
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
    matches!(error.error.downcast_ref(), Some(StreamableHttpError::<reqwest::Error>::HttpStatus(told)) if told.status == 429)
}

fn of_client(error: &DynamicTransportError) -> Option<&reqwest::Error> {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::Client(error) => Some(error),
        _ => None,
    }
}

fn of_request(error: &reqwest::Error, secrets: &[Secret]) -> Trouble {
    if let Some(status) = error.status() {
        return of_status(status.as_u16(), None);
    }
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

fn of_status(status: u16, retry_after: Option<&str>) -> Trouble {
    let wait = retry_after.and_then(waiting).unwrap_or_default();
    match status {
        401 => Trouble::lasting(ASKS_WHO).hint("give it headers, such as {\"Authorization\": \"Bearer ${TOKEN}\"}"),
        403 => Trouble::lasting("it refuses what these headers allow (403)")
            .hint("check what the token in its headers may do"),
        429 => Trouble::passing(format!("it answers with status 429 (too many requests){wait}"))
            .hint("wait as long as it asks, or call it less often"),
        300..400 => Trouble::passing(format!("it answers with a redirect to another host (status {status})"))
            .hint("write the address in its url that it really has"),
        400..500 => Trouble::lasting(format!("it answers with status {status}; is the address right?")).hint(PATH),
        _ => Trouble::passing(format!("it answers with status {status}{wait}")).hint("look into the server's own log"),
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
    if said.is_empty() { format!("error {}", error.code.0) } else { said }
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
