//! A server's list of tools: read page by page, bounded, and made safe to show and to name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::TOLD;
use super::kept::{KeptTool, Record};
use super::loose::{self, mend_schema};
use super::message::{FORGOTTEN, NEEDS_TASKS, TOO_LONG};
use super::trouble::{Trouble, of_refusal, of_transport};
use crate::config::{Allow, Secret, redact};
use crate::model::{Contract, KnownTool};
use crate::names::{hex, quoted, shown, unprintable};

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
/// What a schema says to people.
const SAYINGS: [&str; 5] = ["description", "title", "$comment", "default", "markdownDescription"];
/// The most that is known of what is listed and no tool.
const MOST_UNUSABLE: usize = 50;

/// What is known of a server's tools.
#[derive(Debug)]
pub(super) struct ToolList {
    /// By name, as everybody sees them.
    pub(super) tools: BTreeMap<String, Arc<KnownTool>>,
    /// What tools promise of their structured content.
    pub(super) outputs: BTreeMap<String, Contract>,
    /// What is listed and is no tool that could be called: why, by name.
    pub(super) unusable: BTreeMap<String, String>,
    /// Why more may be listed than is known here.
    pub(super) cut: Option<String>,
    /// A hash of what the server listed.
    pub(super) hash: String,
}

impl ToolList {
    /// A list as it was read now or kept from before.
    pub(super) fn of(record: Record, allow: &Allow) -> Self {
        let hash = hash(&record);
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
        Self { tools, outputs, unusable: record.unusable, cut: record.cut, hash }
    }
}

fn hash(record: &Record) -> String {
    let bytes = serde_json::to_vec(&(&record.tools, &record.unusable, &record.cut)).unwrap_or_default();
    hex(&Sha1::digest(&bytes))
}

/// What a server lists.
#[derive(Debug, Default)]
pub(super) struct ToolPage {
    /// By name.
    pub(super) tools: Vec<KeptTool>,
    /// What is no tool that could be called: why, by name.
    pub(super) unusable: BTreeMap<String, String>,
    /// Why there may be more.
    pub(super) cut: Option<String>,
    /// Whether a page could not be read, and those before it are here.
    pub(super) broken_off: bool,
}

impl ToolPage {
    /// The list as it is kept.
    pub(super) fn record(self, read_at: DateTime<Utc>) -> Record {
        Record { read_at, tools: self.tools, unusable: self.unusable, cut: self.cut }
    }
}

/// Reads the whole list, all of it within a time. If a page can't be read, those before it count.
pub(super) async fn read(
    alias: &str,
    peer: &Peer<RoleClient>,
    within: Duration,
    secrets: &[Secret],
) -> Result<ToolPage, Trouble> {
    let mut listed = ToolPage::default();
    let read = tokio::time::timeout(within, pages(alias, peer, within, secrets, &mut listed)).await;
    let late = || Trouble::passing(format!("it does not list its tools within {} ms", within.as_millis()));
    match read.unwrap_or_else(|_| Err(late())) {
        Ok(()) => {}
        Err(trouble) if listed.tools.is_empty() || trouble.forgotten => return Err(trouble),
        Err(trouble) => {
            let count = listed.tools.len();
            let why = trouble.why;
            tracing::warn!(target: TOLD, server = alias, "only the first {count} tools of its list are known: {why}");
            (listed.cut, listed.broken_off) = (Some(format!("only a part of its list is known: {why}")), true);
        }
    }
    Ok(sorted(alias, listed))
}

async fn pages(
    alias: &str,
    peer: &Peer<RoleClient>,
    within: Duration,
    secrets: &[Secret],
    listed: &mut ToolPage,
) -> Result<(), Trouble> {
    let mut bytes = 0;
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let page = page(peer, cursor.take(), within, secrets).await?;
        let mut aside = |name: &str, why: &str| {
            tracing::warn!(target: TOLD, server = alias, "the tool {} is left aside: {why}", quoted(name));
            if listed.unusable.len() < MOST_UNUSABLE {
                listed.unusable.insert(shown(name, LONGEST_NAME), why.to_owned());
            }
        };
        for (name, why) in page.unusable {
            aside(&name, why);
        }
        for tool in page.tools {
            let tool = match usable(tool, secrets) {
                Ok(tool) => tool,
                Err((name, why)) => {
                    aside(&name, why);
                    continue;
                }
            };
            bytes += serde_json::to_vec(&tool).map_or(0, |text| text.len());
            if listed.tools.len() >= MOST_TOOLS || bytes > LARGEST_LIST {
                let count = listed.tools.len();
                tracing::warn!(server = alias, count, "it lists more tools than are kept; the rest is left aside");
                listed.cut = Some(format!("flowy keeps the first {count} tools of its list, and no more"));
                return Ok(());
            }
            listed.tools.push(tool);
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
    tracing::warn!(server = alias, "its list of tools never ends; {MOST_PAGES} pages are kept");
    listed.cut = Some(format!("flowy reads {MOST_PAGES} pages of its list, and no more"));
    Ok(())
}

async fn page(
    peer: &Peer<RoleClient>,
    cursor: Option<String>,
    within: Duration,
    secrets: &[Secret],
) -> Result<loose::LoosePage, Trouble> {
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
    // Not the library's own way to ask: that answers from its memory, also when nobody is there.
    let asked = peer.send_cancellable_request(request, PeerRequestOptions::with_timeout(within)).await;
    let answer = match asked {
        Ok(asked) => asked.await_response().await,
        Err(error) => Err(error),
    };
    let page = match answer {
        Ok(ServerResult::ListToolsResult(page)) => {
            Some(loose::LoosePage { tools: page.tools, next: page.next_cursor, ..loose::LoosePage::default() })
        }
        Ok(ServerResult::CustomResult(page)) => loose::page(page.0),
        Ok(_) => None,
        Err(error) => return Err(unread(&error, secrets)),
    };
    page.ok_or_else(|| Trouble::passing("it answers tools/list with something else"))
}

/// By name; of two of one name, the first.
fn sorted(alias: &str, mut listed: ToolPage) -> ToolPage {
    let tools = &mut listed.tools;
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let before = tools.len();
    tools.dedup_by(|again, first| again.name == first.name);
    if tools.len() < before {
        tracing::warn!(server = alias, "it lists tools of one name more than once; the first of each counts");
    }
    listed
}

fn unread(error: &ServiceError, secrets: &[Secret]) -> Trouble {
    match error {
        ServiceError::McpError(error) if error.code.0 == TOO_LONG => {
            Trouble::lasting(format!("a page of its tools has more than {LARGEST_LIST} bytes"))
        }
        ServiceError::McpError(error) => {
            let trouble = Trouble::passing(format!("it does not list its tools: {}", of_refusal(error, secrets)));
            if error.code.0 == FORGOTTEN { trouble.forgotten() } else { trouble }
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
fn usable(tool: Tool, secrets: &[Secret]) -> Result<KeptTool, (String, &'static str)> {
    let name = tool.name.into_owned();
    let why = if name.trim().is_empty() {
        Some("it has no name")
    } else if name.contains(':') {
        Some("its name has a colon in it, and a call is alias:tool")
    } else if name.chars().any(unprintable) || name.trim() != name {
        Some("its name has blanks around it, or control or bidirectional characters in it")
    } else if name.chars().count() > LONGEST_NAME {
        Some("its name is longer than 200 characters")
    } else if tool.meta.is_some_and(|meta| meta.contains_key(NEEDS_TASKS)) {
        Some("it can only be called as a task, which flowy does not do")
    } else {
        None
    };
    if let Some(why) = why {
        return Err((name, why));
    }
    let annotations = tool.annotations.unwrap_or_default();
    let safe = |text: &str| shown(redact(text, secrets).trim(), LONGEST_DESCRIPTION);
    let described = tool.description.map(|text| safe(&text));
    let titled = || tool.title.as_deref().or(annotations.title.as_deref()).map(safe);
    let object = |schema: Arc<rmcp::model::JsonObject>| {
        let mut schema = Value::Object(Arc::unwrap_or_clone(schema));
        mend_schema(&mut schema);
        mask_texts(&mut schema, secrets);
        schema
    };
    Ok(KeptTool {
        description: described.filter(|text| !text.is_empty()).or_else(titled),
        input_schema: object(tool.input_schema),
        output_schema: tool.output_schema.map(object),
        read_only: annotations.read_only_hint.unwrap_or(false),
        idempotent: annotations.idempotent_hint.unwrap_or(false),
        name,
    })
}

/// Masks secrets in what a schema says to people; what it demands stays as it is.
fn mask_texts(schema: &mut Value, secrets: &[Secret]) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text) if SAYINGS.contains(&key.as_str()) => {
                        if let Cow::Owned(masked) = redact(text, secrets) {
                            *text = masked;
                        }
                    }
                    other => mask_texts(other, secrets),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_texts(item, secrets)),
        _ => {}
    }
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
            assert!(usable(tool(name), &[]).is_err(), "{name:?}");
        }
        for name in ["navigate", "a/b", "a.b", "스크린샷", "two words"] {
            assert_eq!(usable(tool(name), &[]).expect("usable").name, name);
        }
    }

    #[test]
    fn descriptions_are_safe_to_show_and_a_title_stands_in() {
        let described: Tool = serde_json::from_value(
            json!({"name": "a", "description": " Go\u{1b}[31m\nthere\u{202E} ", "inputSchema": {}, "annotations": {"readOnlyHint": true}}),
        )
        .expect("a tool");
        let record = usable(described, &[]).expect("usable");
        assert_eq!(record.description.as_deref(), Some("Go[31m there"));
        assert!(record.read_only && !record.idempotent);
        let titled: Tool =
            serde_json::from_value(json!({"name": "a", "title": "Going", "inputSchema": {}})).expect("a tool");
        assert_eq!(usable(titled, &[]).expect("usable").description.as_deref(), Some("Going"));
    }

    #[test]
    fn no_secret_of_the_operator_comes_back_in_what_a_tool_says_of_itself() {
        let secrets = [Secret::new("s3cr3t-key".to_owned())];
        let telling: Tool = serde_json::from_value(json!({"name": "a", "description": "with s3cr3t-key",
            "inputSchema": {"properties": {"k": {"description": "as s3cr3t-key", "enum": ["s3cr3t-key"]}}}}))
        .expect("a tool");
        let record = usable(telling, &secrets).expect("usable");
        assert_eq!(record.description.as_deref(), Some("with [redacted]"));
        assert_eq!(
            record.input_schema["properties"]["k"],
            json!({"description": "as [redacted]", "enum": ["s3cr3t-key"]})
        );
    }

    #[test]
    fn equal_lists_have_equal_hashes_whatever_their_order() {
        let record = |names: &[&str]| {
            let tools = names.iter().map(|name| usable(tool(name), &[]).expect("usable")).collect();
            let page = sorted("x", ToolPage { tools, ..ToolPage::default() });
            page.record(DateTime::UNIX_EPOCH)
        };
        assert_eq!(hash(&record(&["b", "a", "b"])), hash(&record(&["a", "b"])));
        assert_ne!(hash(&record(&["a"])), hash(&record(&["a", "b"])));
    }
}
