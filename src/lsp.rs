//! The Language Server Protocol over stdin and stdout: what an editor asks while somebody writes flows.
//!
//! One loop takes one message after the other, and what it answers is [`app`](crate::app)'s: this room knows
//! messages, positions and addresses, and neither flows nor files.

mod places;
mod session;
mod shapes;

use lsp_server::{Connection, Message, ProtocolError};

use crate::app::Workbench;
use session::Session;

/// Why serving an editor ended too early.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The editor did not follow the protocol, or is gone.
    #[error("the editor's messages can't be understood: {0}")]
    Protocol(#[from] ProtocolError),
    /// The editor went without saying so.
    #[error("the editor is gone without a shutdown")]
    Gone,
    /// Stdin or stdout failed.
    #[error("stdin or stdout failed: {0}")]
    Streams(#[from] std::io::Error),
}

fn ended(error: ProtocolError) -> LspError {
    if error.channel_is_disconnected() { LspError::Gone } else { LspError::Protocol(error) }
}

/// Serves one editor until it says that it ends.
///
/// # Errors
/// When the editor does not follow the protocol, or goes without saying so.
pub async fn serve_stdio(workbench: Workbench) -> Result<(), LspError> {
    let (connection, streams) = Connection::stdio();
    let (id, params) = connection.initialize_start().map_err(ended)?;
    let sender = connection.sender.clone();
    let mut session = Session::new(workbench, Box::new(move |message| drop(sender.send(message))), &params);
    connection.initialize_finish(id, session.introduction()).map_err(ended)?;
    session.begin();
    let mut ended = false;
    while let Ok(message) = connection.receiver.recv() {
        match message {
            Message::Request(request) if connection.handle_shutdown(&request)? => {
                ended = true;
                break;
            }
            Message::Request(request) => session.request(request).await,
            Message::Notification(notification) => session.notification(notification).await,
            Message::Response(_) => {}
        }
        // While an editor sends one change after the other, only the last state is worth a check.
        if connection.receiver.is_empty() {
            session.publish();
        }
    }
    drop((session, connection));
    streams.join()?;
    if ended { Ok(()) } else { Err(LspError::Gone) }
}
