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
use super::server::{SWITCHED_OFF, Server, SharedState};
use super::trouble::{Unreachable, failure};
use crate::cache::Folder;
use crate::clock::Clock;
use crate::code::Code;
use crate::config::{BrokenEntry, READ_ONLY, ServersFile, WebFault};
use crate::execute::{Calling, OnToolProgress, ToolFailure, Tools};
use crate::lock::lock;
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
    /// What is wrong with the proxy that the environment names: nothing is asked by https then.
    pub web_fault: Option<WebFault>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

/// Every external server there is.
pub struct Registry {
    servers: BTreeMap<String, Arc<Server>>,
    /// Those whose entries can't be understood.
    broken: BTreeMap<String, BrokenEntry>,
    /// Why nothing is known of any, where the file can't be understood.
    unreadable: Option<String>,
    world: Arc<SharedState>,
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
        let Surroundings { guard, cache, web_fault, clock } = surroundings;
        let kept = cache.map(|folder| Folder::at(folder.join(kept::FOLDER), clock.clone()));
        let (revision, changes, closing) = (watch::Sender::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let world = Arc::new(SharedState { guard, kept, web_fault, clock, revision, changes, closing });
        let server = |(alias, spec): (String, _)| (alias.clone(), Server::new(alias, spec, world.clone()));
        let servers = file.servers.into_iter().map(server).collect();
        let unreadable = file.unreadable.map(|why| why.to_string());
        Self { servers, broken: file.broken, unreadable, world: world.clone(), shown: Mutex::new(None) }
    }

    /// Whether no server is configured.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.broken.is_empty()
    }

    /// The names of all servers.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().chain(self.broken.keys()).map(String::as_str)
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
        let broken = self.broken.iter().map(|(alias, entry)| ServerRow {
            alias: alias.clone(),
            transport: entry.transport,
            standing: standing_of(entry),
            tools: None,
            allowed: 0,
            known_since: None,
        });
        let mut rows: Vec<ServerRow> = self.servers.values().map(row).chain(broken).collect();
        rows.sort_by(|a, b| a.alias.cmp(&b.alias));
        rows
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

    /// What servers list and is no tool that could be called: the server, the name, and why.
    pub fn unusable_tools(&self) -> Vec<(String, String, String)> {
        let of = |server: &Arc<Server>| {
            let unusable = server.list().map(|list| list.unusable.clone()).unwrap_or_default();
            let alias = server.alias.clone();
            unusable.into_iter().map(move |(name, why)| (alias.clone(), name, why))
        };
        self.servers.values().flat_map(of).collect()
    }

    /// Asks a server for its tools now, also while it is better to wait; `None` where there is no
    /// server of that name.
    ///
    /// # Errors
    /// Why it can't be asked, in words.
    pub async fn refresh(&self, alias: &str) -> Option<Result<(), Unreachable>> {
        let Some(server) = self.servers.get(alias) else {
            let entry = self.broken.get(alias)?;
            return Some(Err(Unreachable { why: why_not(entry), hint: entry.why.hint() }));
        };
        let before = server.read_at();
        Some(match server.busy(true).await {
            Ok(busy) => {
                // Connecting reads the list by itself.
                if server.read_at() != before {
                    return Some(Ok(()));
                }
                match server.reread(&busy.connection).await {
                    Err(trouble) if trouble.forgotten => server.busy(true).await.map(drop).map_err(Unreachable::from),
                    read => read.map_err(Unreachable::from),
                }
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
            let known =
                KnownServer { standing: server.standing(), tools, reads_only, from_models: server.spec.from_models };
            (server.alias.clone(), known)
        });
        let broken = self.broken.iter().map(|(alias, entry)| {
            let known = KnownServer { standing: standing_of(entry), reads_only: true, ..KnownServer::default() };
            (alias.clone(), known)
        });
        let revision = *self.world.revision.borrow();
        let toolbox = Arc::new(Toolbox {
            servers: servers.chain(broken).collect(),
            revision,
            unreadable: self.unreadable.clone(),
        });
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
                None => Err(match self.broken.get(&call.address.server) {
                    Some(entry) => failure(Code::ToolUnavailable, &call.address, why_not(entry)),
                    None => self.no_server(&call),
                }),
            }
        })
    }
}

impl Registry {
    fn no_server(&self, call: &ToolCall) -> ToolFailure {
        if let Some(why) = &self.unreadable {
            return failure(Code::ToolUnavailable, &call.address, format!("no server is known, because {why}"));
        }
        let fact = if self.is_empty() {
            "no external server is configured".to_owned()
        } else {
            not_there("no external server goes by that name", &call.address.server, self.aliases())
        };
        failure(Code::ToolNotFound, &call.address, fact)
    }
}

/// How a server stands whose entry can't be understood.
fn standing_of(entry: &BrokenEntry) -> ServerStanding {
    if entry.disabled { ServerStanding::Disabled } else { ServerStanding::Unavailable(why_not(entry)) }
}

fn why_not(entry: &BrokenEntry) -> String {
    if entry.disabled { SWITCHED_OFF.to_owned() } else { entry.why.to_string() }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("servers", &self.servers.keys())
            .field("broken", &self.broken.keys())
            .finish_non_exhaustive()
    }
}
