//! Who answers: what this server says of itself.

use rmcp::RoleServer;
use rmcp::model::{Implementation, MetaObject};
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

/// The key of the protocol under which a result without a session says whose it is.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The server's name and version.
pub(super) fn of(name: &str) -> Implementation {
    Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title("Flowy: prompt flows")
}

/// Since 2026-07-28 there are no sessions, and every result says whether it is complete.
pub(super) fn stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Without a session, every result says who answers.
pub(super) fn sign(meta: &mut Option<MetaObject>, name: &str, context: &RequestContext<RoleServer>) {
    if let (true, Ok(server)) = (stateless(context), serde_json::to_value(of(name))) {
        meta.get_or_insert_default().insert(SERVER_INFO.to_owned(), server);
    }
}

/// The same for a result that has no type of its own.
pub(super) fn sign_value(result: &mut Map<String, Value>, name: &str, context: &RequestContext<RoleServer>) {
    let mut meta = None;
    sign(&mut meta, name, context);
    if let Some(meta) = meta {
        result.insert("_meta".to_owned(), Value::Object(meta.0));
    }
}
