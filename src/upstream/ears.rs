//! What a server says unasked: how far a call is, that its tools changed, and what it would like to
//! ask. It is told that nobody here answers questions: no such capability is offered.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken};
use rmcp::service::{NotificationContext, RoleClient};
use tokio::sync::Notify;

use crate::config::{Secret, redact};
use crate::execute::{OnToolProgress, ToolProgress};
use crate::lock::lock;
use crate::names::shown;

/// Progress may be told before the caller knows under which token; as much of it is kept.
const EARLY: usize = 16;
/// The longest message of a server's progress that is repeated, in characters.
const LONGEST: usize = 200;

/// Listens to one server; what it hears is shared by its copies.
#[derive(Clone, Default)]
pub(super) struct Ears {
    routes: Arc<Mutex<Routes>>,
    pub(super) changed: Arc<Notify>,
    secrets: Arc<[Secret]>,
}

#[derive(Default)]
struct Routes {
    open: HashMap<ProgressToken, Route>,
    early: VecDeque<ProgressNotificationParam>,
}

struct Route {
    tell: OnToolProgress,
    /// How far it was; notifications are handled side by side, and may overtake one another.
    furthest: f64,
}

impl Route {
    fn tell(&mut self, told: &ProgressNotificationParam, secrets: &[Secret]) {
        if told.progress <= self.furthest {
            return;
        }
        self.furthest = told.progress;
        let message = told.message.as_deref().map(|message| shown(&redact(message, secrets), LONGEST));
        (self.tell)(ToolProgress { progress: told.progress, total: told.total, message, until: None });
    }
}

impl Ears {
    /// Ears that repeat none of these.
    pub(super) fn of(secrets: &[Secret]) -> Self {
        Self { secrets: Arc::from(secrets), ..Self::default() }
    }

    /// Tells of a call's progress for as long as what is returned is kept.
    pub(super) fn follow(&self, token: ProgressToken, tell: OnToolProgress) -> Following {
        let mut routes = lock(&self.routes);
        let mut route = Route { tell, furthest: f64::NEG_INFINITY };
        for told in routes.early.iter().filter(|told| told.progress_token == token) {
            route.tell(told, &self.secrets);
        }
        routes.early.retain(|told| told.progress_token != token);
        routes.open.insert(token.clone(), route);
        Following { routes: self.routes.clone(), token }
    }
}

/// A call whose progress is told.
pub(super) struct Following {
    routes: Arc<Mutex<Routes>>,
    token: ProgressToken,
}

impl Drop for Following {
    fn drop(&mut self) {
        lock(&self.routes).open.remove(&self.token);
    }
}

impl ClientHandler for Ears {
    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut routes = lock(&self.routes);
        if let Some(route) = routes.open.get_mut(&told.progress_token) {
            route.tell(&told, &self.secrets);
            return;
        }
        if routes.early.len() >= EARLY {
            routes.early.pop_front();
        }
        routes.early.push_back(told);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("flowy", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}
