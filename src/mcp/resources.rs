//! Resources: what the tools tell as well, under addresses that a client can attach to a
//! conversation.
//!
//! Names in an address are percent-encoded, and decoded once. Nothing is listed as changing: who
//! wants to know what is new asks again, and the answers say how long they are fresh.

use futures_util::FutureExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::app::{App, Code, Error, GraphRequest, ListRequest, Listed, Outcome, Section, StatusAnswer, StatusRequest};
use crate::discover::{Mode, Selection, Shown};
use crate::names::{quoted, shown};
use crate::report::wire::LARGEST_FRAME;
use crate::report::{draw, wire};

/// What is left as it is in an address: the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// How many flows a page of the list names.
const PAGE: usize = 100;
/// How many executions the list names, the newest.
const EXECUTIONS: i64 = 20;
/// How much of a text is fetched at a time, in characters.
const PIECE: i64 = 100_000;
/// The largest text of a resource, in bytes: with what it is quoted by, a message stays below its limit.
const LARGEST: usize = LARGEST_FRAME / 2;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const MERMAID: &str = "text/vnd.mermaid";

/// A pattern of addresses: pattern, name, what is there, and its media type.
pub const PATTERNS: [(&str, &str, &str, &str); 7] = [
    ("flow://list{?tags}", "flows", "Names of all flows, or of those with all of some tags, joined by commas.", JSON),
    ("flow://metadata/{name}", "flow", "A flow's entry: description, inputs, steps, outputs.", JSON),
    ("flow://schema/{name}", "flow inputs", "JSON Schema of what a flow is given.", JSON),
    ("flow://graph/{name}", "flow graph", "A flow's graph, as Mermaid text.", MERMAID),
    ("template://{name}", "template", "A template's text.", TEXT),
    ("execution://{id}", "execution", "Where an execution stands, with its steps.", JSON),
    ("execution://{id}/{nodeId}", "step's text", "What one step of an execution gave, whole.", TEXT),
];

/// What an address leads to.
pub(super) struct Found {
    /// Its media type.
    pub(super) media: &'static str,
    /// Its text.
    pub(super) text: String,
    /// How long it stays as it is, in milliseconds, as far as is known.
    pub(super) fresh_for_ms: u64,
}

/// The patterns.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let made = PATTERNS.iter().map(|(pattern, name, description, media)| {
        ResourceTemplate::new(*pattern, *name).with_description(*description).with_mime_type(*media)
    });
    made.collect()
}

/// A page of what there is, where the next one begins, and how long that holds.
pub(super) async fn list(app: &App, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>, u64), Error> {
    let (names, revision, fresh_for_ms) = names(app, Vec::new()).await?;
    let pin: String = revision.chars().take(12).collect();
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .split_once('.')
            .filter(|(_, pinned)| *pinned == pin)
            .and_then(|(start, _)| start.parse::<usize>().ok())
            .filter(|start| *start < names.len())
            .ok_or_else(|| Error::new(Code::InvalidCursor, "the cursor does not go on with this list"))?,
    };
    let mut all = Vec::new();
    if cursor.is_none() {
        all.push(resource("flow://list", "flows", "Names of all flows.", JSON));
        for (id, flow) in executions(app).await {
            let uri = format!("execution://{}", encoded(&id));
            all.push(resource(&uri, &id, &format!("An execution of {}.", shown(&flow, 200)), JSON));
        }
    }
    for name in names.iter().skip(start).take(PAGE) {
        let uri = format!("flow://metadata/{}", encoded(name));
        all.push(resource(&uri, &shown(name, 200), "A flow: description, inputs, steps, outputs.", JSON));
    }
    let next = (start + PAGE < names.len()).then(|| format!("{}.{pin}", start + PAGE));
    Ok((all, next, fresh_for_ms))
}

fn resource(uri: &str, name: &str, description: &str, media: &str) -> Resource {
    Resource::new(uri, name).with_description(description).with_mime_type(media)
}

/// The newest executions with their flows; none where they can't be read.
async fn executions(app: &App) -> Vec<(String, String)> {
    let request = StatusRequest { limit: Some(EXECUTIONS), ..StatusRequest::default() };
    let Ok(answer) = app.status(&request).await else { return Vec::new() };
    let StatusAnswer::List { executions, .. } = answer else { return Vec::new() };
    let named = executions.into_iter().map(|listed| match listed {
        Listed::Direct { outcome: Outcome::Finished { id, flow, .. }, .. } => (id, flow),
        Listed::Direct { outcome: Outcome::Running(pending), .. } => (pending.id, pending.flow),
        Listed::Guided(summary) => (summary.id, summary.flow),
    });
    named.collect()
}

/// The names of all flows that have these tags, the revision they are of, and how long they hold.
async fn names(app: &App, tags: Vec<String>) -> Result<(Vec<String>, String, u64), Error> {
    let selection = Selection { tags, ..Selection::all(Mode::Contract) };
    let listing = app.list(ListRequest { selection, git_ref: None, refresh: false }).await?;
    let name = |entry: &Shown| match entry {
        Shown::Contract(entry) => Some(entry.name.clone()),
        _ => None,
    };
    let names = listing.page.entries.iter().filter_map(name).collect();
    Ok((names, listing.origin.revision.clone(), listing.origin.fresh_for_ms))
}

/// What an address leads to.
///
/// # Errors
/// Where it leads to nothing; and what the use case behind it says.
pub(super) async fn read(app: &App, uri: &str) -> Result<Found, Error> {
    let found = match uri.split_once("://") {
        Some(("flow", rest)) => flow(app, uri, rest).boxed().await?,
        Some(("template", name)) => {
            let (template, fresh_for_ms) = app.template(&decoded(uri, name)?).boxed().await?;
            Found { media: TEXT, text: template.text.clone(), fresh_for_ms }
        }
        Some(("execution", rest)) => execution(app, uri, rest).boxed().await?,
        _ => return Err(nothing_there(uri)),
    };
    if found.text.len() > LARGEST {
        let message = format!("{} has {} bytes, and a resource may have {LARGEST}", quoted(uri), found.text.len());
        return Err(Error::new(Code::LimitExceeded, message)
            .next("the tools page it: flows_status with nodeId, flows_list with a limit"));
    }
    Ok(found)
}

async fn flow(app: &App, uri: &str, rest: &str) -> Result<Found, Error> {
    if let Some(query) = rest.strip_prefix("list").filter(|query| query.is_empty() || query.starts_with("?tags=")) {
        let tags = query.strip_prefix("?tags=").unwrap_or_default();
        let tags = text(uri, tags)?.split(',').filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
        let (names, _, fresh_for_ms) = names(app, tags).await?;
        let text = json!({"total": names.len(), "flows": names}).to_string();
        return Ok(Found { media: JSON, text, fresh_for_ms });
    }
    let (what, name) = rest.split_once('/').ok_or_else(|| nothing_there(uri))?;
    let name = decoded(uri, name)?;
    let request = GraphRequest { name: name.clone(), git_ref: None, refresh: false };
    match what {
        "metadata" => {
            // Says what is wrong with a name that means no flow, or several.
            app.graph(&request).await?;
            let selection = Selection { names: vec![name], ..Selection::all(Mode::Detailed) };
            let listing = app.list(ListRequest { selection, git_ref: None, refresh: false }).await?;
            let mut value = wire::listing(&listing, &[]);
            let entry = value.pointer_mut("/flows/0").map(Value::take).ok_or_else(|| nothing_there(uri))?;
            Ok(Found { media: JSON, text: entry.to_string(), fresh_for_ms: listing.origin.fresh_for_ms })
        }
        "schema" => {
            let prepared = app.inputs(&request).await?;
            Ok(Found { media: JSON, text: wire::input_schema(prepared.plan()?).to_string(), fresh_for_ms: 0 })
        }
        "graph" => {
            let prepared = app.graph(&request).await?;
            Ok(Found { media: MERMAID, text: draw::mermaid(&prepared.flow), fresh_for_ms: 0 })
        }
        _ => Err(nothing_there(uri)),
    }
}

async fn execution(app: &App, uri: &str, rest: &str) -> Result<Found, Error> {
    let (id, node) = match rest.split_once('/') {
        Some((id, node)) => (decoded(uri, id)?, Some(decoded(uri, node)?)),
        None => (decoded(uri, rest)?, None),
    };
    let mut request =
        StatusRequest { execution: Some(id), node, include: vec![Section::Steps], ..StatusRequest::default() };
    if request.node.is_none() {
        let text = wire::status(&app.status(&request).await?).to_string();
        return Ok(Found { media: JSON, text, fresh_for_ms: 0 });
    }
    let mut text = String::new();
    request.limit = Some(PIECE);
    loop {
        let StatusAnswer::Text(page) = app.status(&request).await? else { return Err(nothing_there(uri)) };
        text.push_str(&page.text);
        request.cursor = page.next_cursor;
        if request.cursor.is_none() || text.len() > LARGEST {
            return Ok(Found { media: TEXT, text, fresh_for_ms: 0 });
        }
    }
}

fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// A part of an address, which may be empty.
fn text(uri: &str, part: &str) -> Result<String, Error> {
    let text = percent_decode_str(part).decode_utf8().map_err(|_| nothing_there(uri))?;
    Ok(text.into_owned())
}

/// A name or an id in an address.
fn decoded(uri: &str, part: &str) -> Result<String, Error> {
    if part.is_empty() { Err(nothing_there(uri)) } else { text(uri, part) }
}

fn nothing_there(uri: &str) -> Error {
    let patterns: Vec<&str> = PATTERNS.iter().map(|(pattern, ..)| *pattern).collect();
    Error::new(Code::InvalidRequest, format!("there is no resource {}", quoted(&shown(uri, 300))))
        .next(format!("addresses are {}", patterns.join(", ")))
}
