//! A server's list of tools: read page by page, bounded, and made safe to show and to name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::kept::{Record, ToolRecord};
use super::lines::TOO_LONG;
use super::trouble::{Trouble, of_refusal, of_transport};
use crate::config::{Allow, Secret};
use crate::model::{Contract, KnownTool};
use crate::names::{quoted, shown, unprintable};

/// The most tools of one server that are known.
const MOST_TOOLS: usize = 2_000;
/// The most bytes of one list, 4 MiB.
pub(super) const LARGEST_LIST: usize = 4 << 20;
/// The most pages that are asked for: some may be empty.
const MOST_PAGES: usize = 200;
/// The longest name of a tool, in characters.
const LONGEST_NAME: usize = 200;
/// The longest description that is kept, in characters.
const LONGEST_DESCRIPTION: usize = 4_000;

/// What is known of a server's tools.
#[derive(Debug)]
pub(super) struct ToolList {
    /// By name, as everybody sees them.
    pub(super) tools: BTreeMap<String, Arc<KnownTool>>,
    /// What tools promise of their structured content.
    pub(super) outputs: BTreeMap<String, Contract>,
    /// A hash of what the server listed.
    pub(super) hash: String,
}

impl ToolList {
    /// A list as it was read now or kept from before.
    pub(super) fn of(record: Record, allow: &Allow) -> Self {
        let hash = hash(&record.tools);
        let (mut tools, mut outputs) = (BTreeMap::new(), BTreeMap::new());
        for tool in record.tools {
            if let Some(output) = tool.output_schema {
                outputs.insert(tool.name.clone(), Contract::of_tool(output));
            }
            let known = KnownTool {
                allowed: allow.allows(&tool.name, tool.read_only),
                description: tool.description,
                input: Contract::of_tool(tool.input_schema),
                read_only: tool.read_only,
                idempotent: tool.idempotent,
                name: tool.name.clone(),
            };
            tools.insert(tool.name, Arc::new(known));
        }
        Self { tools, outputs, hash }
    }
}

fn hash(tools: &[ToolRecord]) -> String {
    let bytes = serde_json::to_vec(tools).unwrap_or_default();
    Sha1::digest(&bytes).iter().fold(String::with_capacity(40), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads the whole list, all of it within a time.
pub(super) async fn read(
    alias: &str,
    peer: &Peer<RoleClient>,
    within: Duration,
    secrets: &[Secret],
) -> Result<Vec<ToolRecord>, Trouble> {
    tokio::time::timeout(within, pages(alias, peer, within, secrets)).await.unwrap_or_else(|_| {
        Err(Trouble::passing(format!("it does not list its tools within {} ms", within.as_millis())))
    })
}

async fn pages(
    alias: &str,
    peer: &Peer<RoleClient>,
    within: Duration,
    secrets: &[Secret],
) -> Result<Vec<ToolRecord>, Trouble> {
    let mut tools: Vec<ToolRecord> = Vec::new();
    let mut bytes = 0;
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        // Not the library's own way to ask: that answers from its memory, also when nobody is there.
        let asked = peer.send_cancellable_request(request, PeerRequestOptions::with_timeout(within)).await;
        let answer = match asked {
            Ok(asked) => asked.await_response().await,
            Err(error) => Err(error),
        };
        let page = match answer {
            Ok(ServerResult::ListToolsResult(page)) => page,
            Ok(_) => return Err(Trouble::passing("it answers tools/list with something else")),
            Err(error) => return Err(unread(&error, secrets)),
        };
        for tool in page.tools {
            let tool = match usable(tool) {
                Ok(tool) => tool,
                Err((name, why)) => {
                    tracing::warn!(server = alias, "the tool {} is left aside: {why}", quoted(&name));
                    continue;
                }
            };
            bytes += serde_json::to_vec(&tool).map_or(0, |text| text.len());
            if tools.len() >= MOST_TOOLS || bytes > LARGEST_LIST {
                let count = tools.len();
                tracing::warn!(server = alias, count, "it lists more tools than are kept; the rest is left aside");
                return Ok(sorted(alias, tools));
            }
            tools.push(tool);
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(sorted(alias, tools)),
        }
    }
    tracing::warn!(server = alias, "its list of tools never ends; {MOST_PAGES} pages are kept");
    Ok(sorted(alias, tools))
}

/// By name; of two of one name, the first.
fn sorted(alias: &str, mut tools: Vec<ToolRecord>) -> Vec<ToolRecord> {
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let before = tools.len();
    tools.dedup_by(|again, first| again.name == first.name);
    if tools.len() < before {
        tracing::warn!(server = alias, "it lists tools of one name more than once; the first of each counts");
    }
    tools
}

fn unread(error: &ServiceError, secrets: &[Secret]) -> Trouble {
    match error {
        ServiceError::McpError(error) if error.code.0 == TOO_LONG => {
            Trouble::lasting(format!("a page of its tools has more than {LARGEST_LIST} bytes"))
        }
        ServiceError::McpError(error) => {
            Trouble::passing(format!("it does not list its tools: {}", of_refusal(error, secrets)))
        }
        ServiceError::TransportSend(error) => of_transport(error, secrets),
        ServiceError::TransportClosed => Trouble::passing("it ended before it had listed its tools"),
        ServiceError::Timeout { timeout } => {
            Trouble::passing(format!("it does not list its tools within {} ms", timeout.as_millis()))
        }
        _ => Trouble::passing("it does not list its tools"),
    }
}

/// A tool that can be named in a flow; its texts are the server's, and made safe to show.
fn usable(tool: Tool) -> Result<ToolRecord, (String, &'static str)> {
    let name = tool.name.into_owned();
    let why = if name.trim().is_empty() {
        Some("it has no name")
    } else if name.contains(':') {
        Some("its name has a colon in it, and a call is alias:tool")
    } else if name.chars().any(unprintable) || name.trim() != name {
        Some("its name has blanks around it, or control or bidirectional characters in it")
    } else if name.chars().count() > LONGEST_NAME {
        Some("its name is longer than 200 characters")
    } else {
        None
    };
    if let Some(why) = why {
        return Err((name, why));
    }
    let annotations = tool.annotations.unwrap_or_default();
    let described = tool.description.map(|text| shown(text.trim(), LONGEST_DESCRIPTION));
    let titled = || tool.title.as_deref().or(annotations.title.as_deref()).map(|text| shown(text, LONGEST_DESCRIPTION));
    let object = |schema: Arc<rmcp::model::JsonObject>| Value::Object(Arc::unwrap_or_clone(schema));
    Ok(ToolRecord {
        description: described.filter(|text| !text.is_empty()).or_else(titled),
        input_schema: object(tool.input_schema),
        output_schema: tool.output_schema.map(object),
        read_only: annotations.read_only_hint.unwrap_or(false),
        idempotent: annotations.idempotent_hint.unwrap_or(false),
        name,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> Tool {
        serde_json::from_value(json!({"name": name, "inputSchema": {"type": "object"}})).expect("a tool")
    }

    #[test]
    fn a_tool_that_no_flow_could_name_is_left_aside() {
        for name in ["", " ", "a:b", "a\u{202E}b", "a\nb", " a", &"x".repeat(201)] {
            assert!(usable(tool(name)).is_err(), "{name:?}");
        }
        for name in ["navigate", "a/b", "a.b", "스크린샷", "two words"] {
            assert_eq!(usable(tool(name)).expect("usable").name, name);
        }
    }

    #[test]
    fn descriptions_are_safe_to_show_and_a_title_stands_in() {
        let described: Tool = serde_json::from_value(
            json!({"name": "a", "description": " Go\u{1b}[31m\nthere\u{202E} ", "inputSchema": {}, "annotations": {"readOnlyHint": true}}),
        )
        .expect("a tool");
        let record = usable(described).expect("usable");
        assert_eq!(record.description.as_deref(), Some("Go[31m there"));
        assert!(record.read_only && !record.idempotent);
        let titled: Tool =
            serde_json::from_value(json!({"name": "a", "title": "Going", "inputSchema": {}})).expect("a tool");
        assert_eq!(usable(titled).expect("usable").description.as_deref(), Some("Going"));
    }

    #[test]
    fn equal_lists_have_equal_hashes_whatever_their_order() {
        let record = |names: &[&str]| {
            sorted("x", names.iter().map(|name| usable(tool(name)).expect("usable")).collect::<Vec<_>>())
        };
        assert_eq!(hash(&record(&["b", "a", "b"])), hash(&record(&["a", "b"])));
        assert_ne!(hash(&record(&["a"])), hash(&record(&["a", "b"])));
    }
}
