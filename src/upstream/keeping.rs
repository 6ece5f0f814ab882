//! One connection from its beginning to its end: whoever uses it, what the server says of its tools
//! meanwhile, and how it is closed. When to connect again is not decided here.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{Peer, RunningService, Subscription};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::ears::Ears;
use super::opening::{OpenedServer, ended};
use super::process::{Process, Said};
use super::server::Server;
use super::trouble::Trouble;
use crate::config::Secret;

/// How long a server may take to end when its input is closed, unless somebody is in a hurry.
const GRACE: Duration = Duration::from_secs(1);
/// How long saying goodbye may take before a server is left alone.
const GOODBYE: Duration = Duration::from_millis(500);
/// The pause between two readings of a list that changes again and again.
const BREATH: Duration = Duration::from_millis(200);

/// A connection that is, or was, open.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) ears: Ears,
    /// How many are using it.
    pub(super) users: AtomicUsize,
    /// When it was last used, in milliseconds of the clock's reading.
    pub(super) used_at: AtomicU64,
    /// Whether a call was ever answered.
    pub(super) answered: AtomicBool,
    /// Asks for its end.
    pub(super) stop: CancellationToken,
    /// What the program says, where the server is one.
    said: Option<Arc<Said>>,
    grace_ms: AtomicU64,
    end: watch::Sender<Option<Trouble>>,
}

impl Connection {
    /// Whether nothing can be sent any more.
    pub(super) fn closed(&self) -> bool {
        self.peer.is_transport_closed() || self.stop.is_cancelled()
    }

    /// A call begins: what the program said before is no reason of what comes.
    pub(super) fn call_begins(&self) {
        if let Some(said) = &self.said {
            said.begin_anew();
        }
    }

    /// What it wrote since then, where the server is a program: a clause for a message.
    pub(super) fn instead(&self, secrets: &[Secret]) -> String {
        self.said.as_ref().map_or_else(String::new, |said| said.instead(secrets))
    }

    /// Asks for its end; the server has so long to end by itself.
    pub(super) fn close(&self, grace: Duration) {
        self.grace_ms.store(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.stop.cancel();
    }

    /// Waits for its end, and for why it ended.
    pub(super) async fn over(&self) -> Option<Trouble> {
        let mut end = self.end.subscribe();
        end.wait_for(Option::is_some).await.ok().and_then(|why| why.clone())
    }

    fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms.load(Ordering::Relaxed))
    }
}

/// A connection made of one that has just begun; the task that keeps it is spawned.
pub(super) fn begin(server: &Arc<Server>, opened: OpenedServer) -> Arc<Connection> {
    let OpenedServer { running, ears, changes, process } = opened;
    let connection = Arc::new(Connection {
        peer: running.peer().clone(),
        ears,
        users: AtomicUsize::new(0),
        used_at: AtomicU64::new(server.now_ms()),
        answered: AtomicBool::new(false),
        stop: CancellationToken::new(),
        said: process.as_ref().map(Process::said),
        grace_ms: AtomicU64::new(u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX)),
        end: watch::Sender::new(None),
    });
    connection.call_begins();
    tokio::spawn(keep(Arc::downgrade(server), connection.clone(), (running, changes), process));
    connection
}

/// Ends a connection that nobody came to use.
pub(super) async fn part(opened: OpenedServer) {
    let OpenedServer { mut running, process, .. } = opened;
    // What can't be closed in time is ended with its program.
    let _ = running.close_with_timeout(GOODBYE).await;
    if let Some(process) = process {
        process.end(GRACE).await;
    }
}

async fn keep(
    server: Weak<Server>,
    connection: Arc<Connection>,
    (running, changes): (RunningService<RoleClient, Ears>, Option<Subscription>),
    process: Option<Process>,
) {
    let cancel = running.cancellation_token();
    let mut over = std::pin::pin!(running.waiting());
    let mut listening = std::pin::pin!(listen(&connection, changes));
    let mut listens = true;
    let by_itself = loop {
        let idle = server.upgrade().map_or(Duration::ZERO, |server| server.idle_left(&connection));
        tokio::select! {
            biased;
            _ = &mut over => break true,
            () = connection.stop.cancelled() => break false,
            () = &mut listening, if listens => listens = false,
            () = connection.ears.changed.notified() => {
                let Some(server) = server.upgrade() else { break false };
                tokio::select! {
                    biased;
                    _ = &mut over => break true,
                    () = connection.stop.cancelled() => break false,
                    () = async { drop(server.reread(&connection).await); tokio::time::sleep(BREATH).await; } => {}
                }
            }
            () = tokio::time::sleep(idle) => {
                if server.upgrade().is_none_or(|server| server.let_go(&connection)) {
                    break false;
                }
            }
        }
    };
    let why = if by_itself {
        let why = match process {
            Some(mut process) => {
                let why = ended(&mut process, &secrets_of(&server)).await;
                process.end(Duration::ZERO).await;
                why
            }
            None => Trouble::passing("it closed the connection"),
        };
        if let Some(server) = server.upgrade() {
            server.died(&connection, &why);
        }
        why
    } else {
        connection.stop.cancel();
        cancel.cancel();
        let _ = tokio::time::timeout(GOODBYE, over).await;
        if let Some(process) = process {
            process.end(connection.grace()).await;
        }
        Trouble::passing("it was stopped")
    };
    connection.end.send_replace(Some(why));
}

fn secrets_of(server: &Weak<Server>) -> Arc<[Secret]> {
    server.upgrade().map_or_else(|| Arc::from([]), |server| server.secrets.clone())
}

/// Hears of changed tools for as long as the server tells of them.
async fn listen(connection: &Connection, changes: Option<Subscription>) {
    let Some(mut changes) = changes else { return };
    while let Ok(Some(_)) = changes.next().await {
        connection.ears.changed.notify_one();
    }
}
