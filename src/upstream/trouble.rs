//! What went wrong with a server, in words: a person's, not a library's, and none that shows a secret.

use std::borrow::Cow;

use rmcp::model::ErrorData;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::config::{Secret, redact};
use crate::execute::ToolFailure;
use crate::model::ToolAddress;
use crate::names::shown;
use crate::web::cause;

/// The longest text of a server's that is repeated, in characters.
const LONGEST: usize = 300;

/// Why a server can't be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The fact, to be read after the server's name and a colon.
    pub(super) why: String,
    /// Whether it stays so until somebody changes something.
    pub(super) lasting: bool,
    /// What to do about it, where that is known.
    pub(super) hint: Option<Cow<'static, str>>,
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
/// For an address where something else is.
const PATH: &str = "check the path of its url: it often ends in /mcp";

impl Trouble {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), lasting: false, hint: None }
    }

    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), lasting: true, hint: None }
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
        ClientInitializeError::JsonRpcError(refusal) => {
            Trouble::passing(format!("it refuses to begin: {}", clean(&refusal.message, secrets)))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let theirs: Vec<String> =
                server_supported.iter().take(5).map(|version| shown(version.as_str(), 40)).collect();
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
        StreamableHttpError::AuthRequired(_) => of_status(401),
        StreamableHttpError::InsufficientScope(_) => of_status(403),
        StreamableHttpError::HttpStatus(status) => of_status(status.status),
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => {
            Trouble::passing("it answers with something else than the protocol; is the path right?").hint(PATH)
        }
        StreamableHttpError::UnexpectedServerResponse(told) => match status_in(told) {
            Some(status) => of_status(status),
            None => Trouble::passing(first_line(&clean(told, secrets))).hint(PATH),
        },
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

fn of_client(error: &DynamicTransportError) -> Option<&reqwest::Error> {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::Client(error) => Some(error),
        _ => None,
    }
}

fn of_request(error: &reqwest::Error, secrets: &[Secret]) -> Trouble {
    if let Some(status) = error.status() {
        return of_status(status.as_u16());
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

fn of_status(status: u16) -> Trouble {
    match status {
        401 => Trouble::lasting("it asks for authorization (401); the servers file can give it headers")
            .hint("give it headers, such as {\"Authorization\": \"Bearer ${TOKEN}\"}"),
        403 => Trouble::lasting("it refuses what these headers allow (403)")
            .hint("check what the token in its headers may do"),
        400..500 => Trouble::lasting(format!("it answers with status {status}; is the address right?")).hint(PATH),
        _ => Trouble::passing(format!("it answers with status {status}")).hint("look into the server's own log"),
    }
}

/// What the system says, without its number, which only programmers know.
fn unnumbered(told: &str) -> String {
    match told.split_once(" (os error ") {
        Some((before, behind)) => format!("{before}{}", behind.split_once(')').map_or("", |(_, rest)| rest)),
        None => told.to_owned(),
    }
}

/// The status in rmcp's words for an answer that is none of the protocol's; behind it comes the
/// answer's text, which may be a whole page.
fn status_in(told: &str) -> Option<u16> {
    told.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

/// What stands before the first sign of a page.
fn first_line(told: &str) -> String {
    let line = told.split('<').next().unwrap_or_default().trim().trim_end_matches(':');
    if line.is_empty() {
        "it answers with something else than the protocol; is the path right?".to_owned()
    } else {
        line.to_owned()
    }
}

/// A server's error in words.
pub(super) fn of_refusal(error: &ErrorData, secrets: &[Secret]) -> String {
    let said = clean(&error.message, secrets);
    if said.is_empty() { format!("error {}", error.code.0) } else { said }
}

/// A failure about a tool: its address comes first.
pub(super) fn failure(code: &'static str, address: &ToolAddress, why: impl std::fmt::Display) -> ToolFailure {
    let address = shown(&address.to_string(), 200);
    ToolFailure { code, message: format!("{address}: {why}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_a_page_is_told_by_its_status_alone() {
        let page: Cow<'static, str> = "HTTP 404 Not Found: <!doctype html><html><body>nothing".into();
        let error: StreamableHttpError<reqwest::Error> = StreamableHttpError::UnexpectedServerResponse(page);
        let told =
            of_transport(&DynamicTransportError::from_parts("t", std::any::TypeId::of::<()>(), Box::new(error)), &[]);
        assert_eq!(told.why, "it answers with status 404; is the address right?");
        assert_eq!(first_line("<html>"), "it answers with something else than the protocol; is the path right?");
        assert_eq!(first_line("unexpected: <html>"), "unexpected");
    }
}
