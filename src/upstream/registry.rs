//! All external servers: what is known of them, and the port through which runs call their tools.
//!
//! Making a registry starts nothing, opens nothing and reads nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use tokio::sync::watch;

use super::calling::not_there;
use super::kept;
use super::server::{Server, World};
use super::trouble::{Unreachable, failure};
use crate::cache::{Folder, lock};
use crate::clock::Clock;
use crate::config::{READ_ONLY, ServersFile};
use crate::execute::{Calling, OnToolProgress, ToolFailure, Tools};
use crate::model::{KnownServer, ServerStanding, ToolCall, Toolbox};
use crate::names::nearest;

/// How many servers are asked at once where nobody waits.
const AT_ONCE: usize = 4;

/// What a registry has around it.
pub struct Surroundings {
    /// Our own program, which can be started as a guard; without one, programs that a server
    /// started may outlive a process of ours that is killed.
    pub guard: Option<PathBuf>,
    /// Where lists of tools are kept; `None` for nowhere.
    pub cache: Option<PathBuf>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// Every external server there is.
pub struct Registry {
    servers: BTreeMap<String, Arc<Server>>,
    world: Arc<World>,
    shown: Mutex<Option<(u64, Arc<Toolbox>)>>,
}

/// A server as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    /// The name that flows call it by.
    pub alias: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// How it stands.
    pub standing: ServerStanding,
    /// How many tools it has; `None` while its list was never read.
    pub tools: Option<usize>,
    /// How many of them flows may call.
    pub allowed: usize,
    /// When its list was read.
    pub known_since: Option<DateTime<Utc>>,
}

/// Something that an operator allows and that is no tool's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfitPattern {
    /// Where it stands, as `file:line:column`.
    pub place: String,
    /// The server.
    pub alias: String,
    /// The name, or the pattern.
    pub pattern: String,
    /// What may be meant.
    pub near: Vec<String>,
}

impl Registry {
    /// A registry of the servers that are configured.
    pub fn new(file: ServersFile, surroundings: Surroundings) -> Self {
        let Surroundings { guard, cache, clock } = surroundings;
        let kept = cache.map(|folder| Folder::at(folder.join(kept::FOLDER), clock.clone()));
        let (revision, changes, closing) = (watch::Sender::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let world = Arc::new(World { guard, kept, clock, revision, changes, closing });
        let server = |(alias, spec): (String, _)| (alias.clone(), Server::new(alias, spec, world.clone()));
        Self { servers: file.servers.into_iter().map(server).collect(), world: world.clone(), shown: Mutex::new(None) }
    }

    /// Whether no server is configured.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The names of all servers, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// How all servers stand; none of them is asked.
    pub fn list(&self) -> Vec<ServerRow> {
        let row = |server: &Arc<Server>| {
            let list = server.list();
            let tools = list.as_ref().map(|list| list.tools.len());
            let allowed = list.map_or(0, |list| list.tools.values().filter(|tool| tool.allowed).count());
            ServerRow {
                alias: server.alias.clone(),
                transport: server.spec.transport.word(),
                standing: server.standing(),
                tools,
                allowed,
                known_since: server.read_at(),
            }
        };
        self.servers.values().map(row).collect()
    }

    /// What operators allow and no server has, as far as tools are known.
    pub fn unfit_patterns(&self) -> Vec<UnfitPattern> {
        let mut unfit = Vec::new();
        for server in self.servers.values().filter(|server| !server.spec.disabled) {
            let list = server.list();
            let tools = || list.iter().flat_map(|list| list.tools.keys().map(String::as_str));
            for pattern in &server.spec.allow.patterns {
                let meant = pattern.is_nearly_read_only();
                if (list.is_none() && !meant) || tools().any(|tool| pattern.fits(tool)) {
                    continue;
                }
                let near = if meant {
                    vec![READ_ONLY.to_owned()]
                } else {
                    nearest(pattern.text(), tools().chain([READ_ONLY]), 2).into_iter().map(str::to_owned).collect()
                };
                let place = server.spec.allow_at.clone().unwrap_or_default();
                unfit.push(UnfitPattern {
                    place,
                    alias: server.alias.clone(),
                    pattern: pattern.text().to_owned(),
                    near,
                });
            }
        }
        unfit
    }

    /// Asks a server for its tools now, also while it is better to wait; `None` where there is no
    /// server of that name.
    ///
    /// # Errors
    /// Why it can't be asked, in words.
    pub async fn refresh(&self, alias: &str) -> Option<Result<(), Unreachable>> {
        let server = self.servers.get(alias)?;
        let before = server.read_at();
        Some(match server.busy(true).await {
            Ok(busy) => {
                // Connecting reads the list by itself.
                if server.read_at() == before {
                    server.reread(&busy.connection).await;
                }
                Ok(())
            }
            Err(trouble) => Err(trouble.into()),
        })
    }

    /// Connects to all servers, at once.
    pub async fn warm(&self) {
        join_all(self.usable().map(|server| async { drop(server.busy(true).await) })).await;
    }

    /// Reads the lists of the servers that are wanted and whose lists were never read, a few at once.
    pub async fn read_unknown(&self, wanted: impl Fn(&str) -> bool) {
        let unknown = self.usable().filter(|server| wanted(&server.alias) && server.list().is_none());
        let unknown: Vec<&Arc<Server>> = unknown.collect();
        stream::iter(unknown).for_each_concurrent(AT_ONCE, |server| async { drop(server.busy(false).await) }).await;
    }

    fn usable(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.servers.values().filter(|server| server.bar().is_none())
    }

    /// Ends every connection and every program; whoever has not ended within the time is made to.
    /// Nothing can be called afterwards.
    pub async fn shut_down(&self, within: Duration) {
        self.world.closing.store(true, Ordering::Release);
        let open: Vec<_> = self.servers.values().filter_map(|server| server.take()).collect();
        let ends = open.iter().map(|connection| {
            connection.close(within.mul_f32(0.6));
            connection.over()
        });
        if tokio::time::timeout(within, join_all(ends)).await.is_err() {
            tracing::warn!("some external servers did not end in time; they are left to their guards");
        }
    }
}

impl Tools for Registry {
    fn toolbox(&self) -> Arc<Toolbox> {
        // Looking at the disk is a change, too: it comes first.
        for server in self.servers.values() {
            server.list();
        }
        let changes = self.world.changes.load(Ordering::Acquire);
        let mut shown = lock(&self.shown);
        if let Some((of, toolbox)) = shown.as_ref()
            && *of == changes
        {
            return toolbox.clone();
        }
        let servers = self.servers.values().map(|server| {
            let tools = server.list().map(|list| list.tools.clone());
            let reads_only = server.spec.allow.reads_only();
            let known = KnownServer { standing: server.standing(), tools, reads_only };
            (server.alias.clone(), known)
        });
        let revision = *self.world.revision.borrow();
        let toolbox = Arc::new(Toolbox { servers: servers.collect(), revision });
        *shown = Some((changes, toolbox.clone()));
        toolbox
    }

    fn revisions(&self) -> Option<watch::Receiver<u64>> {
        Some(self.world.revision.subscribe())
    }

    fn call(&self, call: ToolCall, progress: Option<OnToolProgress>) -> Calling<'_> {
        Box::pin(async move {
            match self.servers.get(&call.address.server) {
                Some(server) => server.call(call, progress).await,
                None => Err(self.no_server(&call)),
            }
        })
    }
}

impl Registry {
    fn no_server(&self, call: &ToolCall) -> ToolFailure {
        let fact = if self.servers.is_empty() {
            "no external server is configured".to_owned()
        } else {
            not_there("no external server goes by that name", &call.address.server, self.aliases())
        };
        failure("TOOL_NOT_FOUND", &call.address, fact)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("servers", &self.servers.keys()).finish_non_exhaustive()
    }
}
