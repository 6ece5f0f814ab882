//! One server: what is known of its tools, when to connect to it, when to wait with that, and when
//! to stop it. How a connection comes about and how a call is made is not known here.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::DropGuard;

use super::TOLD;
use super::keeping::{Connection, begin, part};
use super::kept::{self, Record};
use super::opening::{open, subscribe};
use super::tools::{ToolList, ToolPage, read};
use super::trouble::Trouble;
use crate::cache::{Flights, Folder};
use crate::clock::Clock;
use crate::config::{Secret, ServerSpec, Transport, WebFault};
use crate::lock::lock;
use crate::model::ServerStanding;

/// The first pause after a failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Why nobody is connected to a server that is switched off.
pub(super) const SWITCHED_OFF: &str = "the operator switched it off";

/// What all servers share.
pub(super) struct SharedState {
    pub(super) guard: Option<PathBuf>,
    pub(super) kept: Option<Folder>,
    pub(super) web_fault: Option<WebFault>,
    pub(super) clock: Arc<dyn Clock>,
    /// Changes with what is known of any tool.
    pub(super) revision: watch::Sender<u64>,
    /// Changes with anything that is shown.
    pub(super) changes: AtomicU64,
    /// Nothing is begun any more.
    pub(super) closing: AtomicBool,
}

/// One server.
pub(super) struct Server {
    pub(super) alias: String,
    pub(super) spec: ServerSpec,
    pub(super) secrets: Arc<[Secret]>,
    pub(super) world: Arc<SharedState>,
    /// How many calls it gets at once.
    pub(super) turns: Semaphore,
    connecting: Flights<(), Result<(), Trouble>>,
    state: Mutex<ServerState>,
}

#[derive(Default)]
struct ServerState {
    held: Option<Held>,
    list: Option<Arc<ToolList>>,
    read_at: Option<DateTime<Utc>>,
    /// Whether the disk was looked at.
    looked: bool,
    trouble: Option<Trouble>,
    /// How often in a row it failed before it had answered any call.
    failures: u32,
    /// Until when nobody connects, as a reading of the clock.
    not_before: Duration,
}

/// The connection in use; letting go of it ends it.
struct Held {
    connection: Arc<Connection>,
    _stop: DropGuard,
}

/// A connection that somebody uses; it is not stopped meanwhile.
pub(super) struct Busy {
    server: Arc<Server>,
    pub(super) connection: Arc<Connection>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.connection.used_at.store(self.server.now_ms(), Ordering::Relaxed);
        self.connection.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Server {
    pub(super) fn new(alias: String, spec: ServerSpec, world: Arc<SharedState>) -> Arc<Self> {
        let (secrets, turns) = (Arc::from(spec.secrets.as_slice()), Semaphore::new(spec.max_parallel));
        Arc::new(Self { alias, spec, secrets, world, turns, connecting: Flights::new(), state: Mutex::default() })
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.world.clock.reading().as_millis()).unwrap_or(u64::MAX)
    }

    /// Why it is never connected to, whatever happens.
    pub(super) fn bar(&self) -> Option<Trouble> {
        if self.spec.disabled {
            return Some(Trouble::lasting(SWITCHED_OFF).hint("take disabled out of its entry to use it"));
        }
        if let Some(unset) = &self.spec.unset {
            let trouble = Trouble::lasting(unset.to_string());
            return Some(match unset.hint() {
                Some(hint) => trouble.hint(hint),
                None => trouble,
            });
        }
        // Nothing is asked in another way than somebody meant.
        let fault = self.world.web_fault.as_ref()?;
        let encrypted = matches!(&self.spec.transport, Transport::Http(endpoint) if endpoint.url.starts_with("https:"));
        encrypted.then(|| Trouble::lasting(fault.to_string()).hint(fault.hint()))
    }

    /// A connection to use. While it is better to wait, only those who `insist` are connected.
    pub(super) async fn busy(self: &Arc<Self>, insist: bool) -> Result<Busy, Trouble> {
        if let Some(bar) = self.bar() {
            return Err(bar);
        }
        if let Some(busy) = self.enter() {
            return Ok(busy);
        }
        if !insist {
            self.wait_is_over()?;
        }
        let server = self.clone();
        let landed = self.connecting.join((), || async move { server.connect().await }).await;
        landed.unwrap_or_else(|| Err(Trouble::passing("connecting to it failed by an internal error")))?;
        self.enter()
            .ok_or_else(|| lock(&self.state).trouble.clone().unwrap_or_else(|| Trouble::passing("it ended at once")))
    }

    /// The connection there is. That it is in use is noted together with finding it, so that it is
    /// not stopped in between.
    fn enter(self: &Arc<Self>) -> Option<Busy> {
        let state = lock(&self.state);
        let connection = state.held.as_ref().map(|held| &held.connection).filter(|connection| !connection.closed())?;
        connection.users.fetch_add(1, Ordering::AcqRel);
        Some(Busy { server: self.clone(), connection: connection.clone() })
    }

    fn wait_is_over(&self) -> Result<(), Trouble> {
        let state = lock(&self.state);
        let left = state.not_before.saturating_sub(self.world.clock.reading());
        match &state.trouble {
            Some(trouble) if !left.is_zero() => Err(Trouble {
                why: format!("{}; it is not tried again for {} ms", trouble.why, left.as_millis().max(1)),
                ..trouble.clone()
            }),
            _ => Ok(()),
        }
    }

    async fn connect(self: Arc<Self>) -> Result<(), Trouble> {
        if self.enter().is_some() {
            return Ok(());
        }
        if self.world.closing.load(Ordering::Acquire) {
            return Err(Trouble::lasting("flowy is ending"));
        }
        let outcome = match open(&self.alias, &self.spec, self.world.guard.as_deref(), &self.secrets).await {
            Ok(mut opened) => {
                // Before the list is read: a change in between would never be heard of.
                opened.changes = subscribe(opened.running.peer(), self.spec.connect_timeout).await;
                let announced = opened.running.peer().peer_info().is_none_or(|info| info.capabilities.tools.is_some());
                match read(&self.alias, opened.running.peer(), self.spec.connect_timeout, &self.secrets).await {
                    Ok(listed) => Ok((opened, listed)),
                    // Some servers announce nothing and have tools all the same.
                    Err(_) if !announced => Ok((opened, ToolPage::default())),
                    Err(trouble) => {
                        part(opened).await;
                        Err(trouble)
                    }
                }
            }
            Err(trouble) => Err(trouble),
        };
        match outcome {
            Ok((opened, page)) => {
                // A whole list that is known is better than a part of a newer one.
                let whole = !page.broken_off;
                if whole || self.list().is_none() {
                    self.learn(page.record(self.world.clock.now()), whole);
                }
                let connection = begin(&self, opened);
                let held = Held { _stop: connection.stop.clone().drop_guard(), connection };
                let mut state = lock(&self.state);
                // Who asked for the end in the meantime has closed what there was.
                if self.world.closing.load(Ordering::Acquire) {
                    drop(state);
                    drop(held);
                    return Err(Trouble::lasting("flowy is ending"));
                }
                state.trouble = None;
                state.held = Some(held);
                drop(state);
                self.changed();
                tracing::debug!(server = self.alias, "connected");
                Ok(())
            }
            Err(trouble) => {
                tracing::warn!(target: TOLD, server = self.alias, "can't be used: {}", trouble.why);
                let mut state = lock(&self.state);
                self.count_failure(&mut state);
                state.trouble = Some(trouble.clone());
                drop(state);
                self.changed();
                Err(trouble)
            }
        }
    }

    fn count_failure(&self, state: &mut ServerState) {
        let pause =
            FIRST_PAUSE.saturating_mul(1_u32.checked_shl(state.failures).unwrap_or(u32::MAX)).min(LONGEST_PAUSE);
        state.failures = state.failures.saturating_add(1);
        state.not_before = self.world.clock.reading().saturating_add(pause);
    }

    /// A call was answered: the server is well.
    pub(super) fn answered(&self, connection: &Connection) {
        if !connection.answered.swap(true, Ordering::AcqRel) {
            lock(&self.state).failures = 0;
        }
    }

    /// The connection ended by itself.
    pub(super) fn died(&self, connection: &Arc<Connection>, why: &Trouble) {
        let mut state = lock(&self.state);
        if state.held.as_ref().is_none_or(|held| !Arc::ptr_eq(&held.connection, connection)) {
            return;
        }
        state.held = None;
        // One that had answered calls may come back at once; one that had not would end again.
        if !connection.answered.load(Ordering::Acquire) {
            self.count_failure(&mut state);
            state.trouble = Some(why.clone());
        }
        drop(state);
        tracing::warn!(target: TOLD, server = self.alias, "is gone: {}", why.why);
        self.changed();
    }

    /// The connection is of no use any more: it is closed, and the next caller makes another.
    pub(super) fn give_up(&self, connection: &Arc<Connection>) {
        let mut state = lock(&self.state);
        let held = state.held.take_if(|held| Arc::ptr_eq(&held.connection, connection));
        drop(state);
        if held.is_some() {
            self.changed();
        }
    }

    /// How long nobody has to use the connection until it is stopped.
    pub(super) fn idle_left(&self, connection: &Connection) -> Duration {
        let used_at = Duration::from_millis(connection.used_at.load(Ordering::Relaxed));
        let since = self.world.clock.reading().saturating_sub(used_at);
        // A millisecond is what times are kept by.
        self.spec.idle_stop.saturating_sub(since).max(Duration::from_millis(1))
    }

    /// Stops using a connection that nobody has used for long enough; whether that is so.
    pub(super) fn let_go(&self, connection: &Arc<Connection>) -> bool {
        let mut state = lock(&self.state);
        if connection.users.load(Ordering::Acquire) > 0 {
            connection.used_at.store(self.now_ms(), Ordering::Relaxed);
            return false;
        }
        if self.idle_left(connection) > Duration::from_millis(1) {
            return false;
        }
        let held = state.held.take_if(|held| Arc::ptr_eq(&held.connection, connection));
        drop(state);
        drop(held);
        tracing::debug!(server = self.alias, "stopped: nobody called it for {} ms", self.spec.idle_stop.as_millis());
        self.changed();
        true
    }

    /// Takes the connection out, for who ends everything.
    pub(super) fn take(&self) -> Option<Arc<Connection>> {
        let held = lock(&self.state).held.take()?;
        Some(held.connection.clone())
    }

    /// Reads the list again over a connection; one whose session the server has forgotten is given
    /// up.
    pub(super) async fn reread(&self, connection: &Arc<Connection>) -> Result<(), Trouble> {
        match read(&self.alias, &connection.peer, self.spec.connect_timeout, &self.secrets).await {
            Ok(page) if !page.broken_off => {
                self.learn(page.record(self.world.clock.now()), true);
                Ok(())
            }
            read => {
                let trouble =
                    read.map_or_else(|trouble| trouble, |page| Trouble::passing(page.cut.unwrap_or_default()));
                tracing::warn!(server = self.alias, "its tools are not read again: {}", trouble.why);
                if trouble.forgotten {
                    self.give_up(connection);
                }
                Err(trouble)
            }
        }
    }

    /// What is known of its tools, from the disk where nothing newer is known.
    pub(super) fn list(&self) -> Option<Arc<ToolList>> {
        let looked = std::mem::replace(&mut lock(&self.state).looked, true);
        if !looked
            && let Some(record) =
                self.world.kept.as_ref().and_then(|folder| kept::read(folder, &self.alias, &self.spec))
            && lock(&self.state).list.is_none()
        {
            self.learn(record, false);
        }
        lock(&self.state).list.clone()
    }

    fn learn(&self, record: Record, fresh: bool) {
        if let Some(folder) = self.world.kept.as_ref().filter(|_| fresh) {
            kept::write(folder, &self.alias, &self.spec, &record);
        }
        let read_at = record.read_at;
        let list = ToolList::of(record, &self.spec.allow);
        let mut state = lock(&self.state);
        state.looked = true;
        state.read_at = Some(read_at);
        // An equal list stays the one it was, and with it what was compiled of it.
        if state.list.as_ref().is_none_or(|known| known.hash != list.hash) {
            state.list = Some(Arc::new(list));
            // Whoever is woken must not find what was shown before.
            self.changed();
            self.world.revision.send_modify(|revision| *revision += 1);
        }
        drop(state);
        self.changed();
    }

    fn changed(&self) {
        self.world.changes.fetch_add(1, Ordering::AcqRel);
    }

    /// How it stands.
    pub(super) fn standing(&self) -> ServerStanding {
        if self.spec.disabled {
            return ServerStanding::Disabled;
        }
        if let Some(unset) = &self.spec.unset {
            return ServerStanding::Unavailable(unset.to_string());
        }
        let state = lock(&self.state);
        match (&state.held, &state.trouble) {
            (Some(held), _) if !held.connection.closed() => ServerStanding::Ready,
            (_, Some(trouble)) => ServerStanding::Unavailable(trouble.why.clone()),
            _ => ServerStanding::Idle,
        }
    }

    /// When its list was read.
    pub(super) fn read_at(&self) -> Option<DateTime<Utc>> {
        lock(&self.state).read_at
    }
}
