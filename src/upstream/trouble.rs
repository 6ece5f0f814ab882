//! What went wrong with a server, in words: a person's, not a library's, and none that shows a secret.

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
}

impl Trouble {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), lasting: false }
    }

    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), lasting: true }
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
        return Trouble::passing(format!("it can't be written to: {}", clean(&cause(error.error.as_ref()), secrets)));
    };
    match error {
        StreamableHttpError::Client(error) => of_request(error, secrets),
        StreamableHttpError::AuthRequired(_) => {
            Trouble::lasting("it asks for authorization (401); the servers file can give it headers")
        }
        StreamableHttpError::InsufficientScope(_) => Trouble::lasting("it refuses what these headers allow (403)"),
        StreamableHttpError::HttpStatus(status) => {
            Trouble::passing(format!("it answers with status {}", status.status))
        }
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => {
            Trouble::passing("it answers with something else than the protocol; is the path right?")
        }
        other => Trouble::passing(clean(&other.to_string(), secrets)),
    }
}

fn of_request(error: &reqwest::Error, secrets: &[Secret]) -> Trouble {
    match error.status() {
        Some(status) if status.is_client_error() => {
            Trouble::lasting(format!("it answers with status {}; is the address right?", status.as_u16()))
        }
        Some(status) => Trouble::passing(format!("it answers with status {}", status.as_u16())),
        None if error.is_timeout() => Trouble::passing("it does not answer in time"),
        None => Trouble::passing(format!("it can't be reached: {}", clean(&cause(error), secrets))),
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
