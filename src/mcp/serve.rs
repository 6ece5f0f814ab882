//! Serving a client over a pair of streams, and ending as clients expect.
//!
//! When the input ends, nothing more is read, and calls that still run get a moment to finish. When
//! the process is asked to stop, they are cancelled at once. Either way what is ready is written, and
//! what was counted kept.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::lines::ClientLines;
use super::outbox::Outbox;
use super::server::{Ends, McpServer};
use super::unknown::Named;
use crate::app::App;

/// How long calls may go on after the input has ended.
const GRACE: Duration = Duration::from_millis(1_500);
/// How long answers to cancelled calls may take to be written.
const FLUSH: Duration = Duration::from_millis(200);

/// Why serving ended; both are a good end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client closed our input.
    InputEnded,
    /// Somebody asked the process to stop.
    Stopped,
}

/// Why serving failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No session came about.
    #[error("the client and this server could not agree: {0}")]
    Handshake(Box<ServerInitializeError>),
    /// The loop that serves was ended by an internal error.
    #[error("serving was ended by an internal error")]
    Internal,
}

/// Serves the client at the other end of standard input and output, until the input ends or the
/// process is told to stop (SIGTERM, SIGINT, SIGHUP).
///
/// Where standard input is not a pipe, one blocked read of it outlives this: end the runtime with
/// `shutdown_background`.
///
/// # Errors
/// When no session comes about.
pub async fn serve_stdio(app: Arc<App>) -> Result<End, ServeError> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    serve_on(app, reader, writer, told_to_stop()).await
}

/// Serves the client at the other end of two streams, until the input ends or `stop` does.
///
/// # Errors
/// When no session comes about.
pub async fn serve_on<R, W>(
    app: Arc<App>,
    reader: R,
    writer: W,
    stop: impl Future<Output = ()> + Send,
) -> Result<End, ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let session = async {
        let ends = Ends::default();
        let outbox = Outbox::new(app.clock().fresh());
        let server = Named(McpServer::new(app.clone(), ends.clone(), outbox.clone()));
        let mut stop = std::pin::pin!(stop);
        tokio::select! {
            biased;
            () = server.0.look_ahead() => {}
            () = &mut stop => return Ok(End::Stopped),
        }
        let lines = ClientLines::new(reader, writer, ends.input.clone(), outbox);
        let serving = CancellationToken::new();
        let running = tokio::select! {
            biased;
            running = server.serve_with_ct(lines, serving.clone()) => match running {
                Ok(running) => running,
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(End::InputEnded),
                Err(error) => return Err(ServeError::Handshake(Box::new(error))),
            },
            () = &mut stop => return Ok(End::Stopped),
        };
        let mut finished = std::pin::pin!(running.waiting());
        let end = tokio::select! {
            biased;
            () = &mut stop => End::Stopped,
            ended = &mut finished => return ended.map(|_| End::InputEnded).map_err(|_| ServeError::Internal),
            () = ends.input.cancelled() => tokio::select! {
                biased;
                ended = &mut finished => return ended.map(|_| End::InputEnded).map_err(|_| ServeError::Internal),
                () = &mut stop => End::Stopped,
                () = tokio::time::sleep(GRACE) => End::InputEnded,
            },
        };
        ends.calls.cancel();
        serving.cancel();
        if tokio::time::timeout(FLUSH, finished).await.is_err() {
            tracing::warn!("some calls did not end in time; they are given up");
        }
        Ok(end)
    };
    let end = session.await;
    let grace = if matches!(end, Ok(End::Stopped)) { FLUSH } else { GRACE };
    drop(tokio::task::spawn_blocking(move || app.finish_counting(grace)).await);
    end
}

/// Ends when the process is told to stop.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        match signals.map(signal) {
            [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] => {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = hangup.recv() => {}
                }
            }
            // Without handlers the system ends the process by itself.
            _ => std::future::pending().await,
        }
    }
    #[cfg(not(unix))]
    {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
