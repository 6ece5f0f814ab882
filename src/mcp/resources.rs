//! Resources: what clients can list, and read by address.
//!
//! Every one of them is answered by a tool as well, because models never read resources by
//! themselves. What stands in a resource is below the size that clients take.

mod address;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use self::address::ResourceAddress;
use super::exposed::{self, Exposing};
use super::{TTL_AT_MOST_MS, prompts};
use crate::app::{
    App, Code, Error, ExecutionEntry, Outcome, Section, ShowRequest, StatusAnswer, StatusRequest, state_of,
};
use crate::names::hex;
use crate::report::{draw, files, wire};

/// How many resources a page of the list holds.
const PAGE: usize = 100;
/// What begins every cursor of the list.
const CURSOR: &str = "after_";
/// How many characters of a step's text are fetched at once: the most there are in one page.
const TEXT_PAGE: i64 = 100_000;
const JSON: &str = "application/json";
const PLAIN: &str = "text/plain";
const MARKDOWN: &str = "text/markdown";
const MERMAID: &str = "text/vnd.mermaid";

/// One kind of resource, for lists and documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceRow {
    /// Its address, with `{name}` where something is filled in (RFC 6570).
    pub address: &'static str,
    /// Its name for programs.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it holds.
    pub description: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// The tool that answers the same.
    pub tool: &'static str,
}

const FORMAT: ResourceRow = ResourceRow {
    address: "flow://format",
    name: "flow_format",
    title: "The format of flows",
    description: "How a flow is written, in short.",
    media_type: MARKDOWN,
    tool: "flows_check without flow",
};
const LIST: ResourceRow = ResourceRow {
    address: "flow://list{?tags}",
    name: "flows",
    title: "Names of flows",
    description: "The names of all flows, or of those that have all of some tags (tags=a,b).",
    media_type: JSON,
    tool: "flows_list",
};
const METADATA: ResourceRow = ResourceRow {
    address: "flow://metadata/{name}",
    name: "flow",
    title: "A flow",
    description: "A flow's entry of the detailed listing: description, tags, inputs, steps, outputs.",
    media_type: JSON,
    tool: "flows_list with mode detailed",
};
const SCHEMA: ResourceRow = ResourceRow {
    address: "flow://schema/{name}",
    name: "flow_schema",
    title: "A flow's inputs",
    description: "The JSON Schema of what a flow takes.",
    media_type: JSON,
    tool: "flows_show",
};
const GRAPH: ResourceRow = ResourceRow {
    address: "flow://graph/{name}",
    name: "flow_graph",
    title: "A flow's graph",
    description: "A flow's graph as Mermaid text.",
    media_type: MERMAID,
    tool: "flows_show with format mermaid",
};
const TEMPLATE: ResourceRow = ResourceRow {
    address: "template://{name}",
    name: "template",
    title: "A template",
    description: "A template's text, its placeholders not filled.",
    media_type: PLAIN,
    tool: "flows_show",
};
/// The largest file that is read, in bytes of Base64: somebody asked for it, so more than what an answer
/// to a model may hold.
const LARGEST_FILE: usize = 12 << 20;

const EXECUTION: ResourceRow = ResourceRow {
    address: "execution://{id}",
    name: "execution",
    title: "An execution",
    description: "Where an execution stands, with each step's state and output.",
    media_type: JSON,
    tool: "flows_status with include steps",
};
const STEP: ResourceRow = ResourceRow {
    address: "execution://{id}/{nodeId}",
    name: "execution_step",
    title: "A step's text",
    description: "The whole text of one step of an execution; result is the final result.",
    media_type: PLAIN,
    tool: "flows_status with nodeId",
};

const FILE: ResourceRow = ResourceRow {
    address: "execution://{id}/{nodeId}/files/{number}",
    name: "execution_file",
    title: "A file of a step",
    description: "A file that an external tool gave in a step of an execution, such as a screenshot.",
    media_type: "application/octet-stream",
    tool: "flows_execute, whose content holds what can be shown",
};

/// Every kind of resource.
pub const RESOURCES: [ResourceRow; 9] = [FORMAT, LIST, METADATA, SCHEMA, GRAPH, TEMPLATE, EXECUTION, STEP, FILE];

const fn row_of(address: &ResourceAddress) -> ResourceRow {
    match address {
        ResourceAddress::Format => FORMAT,
        ResourceAddress::List { .. } => LIST,
        ResourceAddress::Metadata(_) => METADATA,
        ResourceAddress::Schema(_) => SCHEMA,
        ResourceAddress::Graph(_) => GRAPH,
        ResourceAddress::Template(_) => TEMPLATE,
        ResourceAddress::Execution(_) => EXECUTION,
        ResourceAddress::Step { .. } => STEP,
        ResourceAddress::File { .. } => FILE,
    }
}

/// Whether an address leads into an execution and not into the catalog.
fn of_execution(row: &ResourceRow) -> bool {
    row.address.starts_with("execution://")
}

/// The patterns; those of executions where flows that are tools are all that is offered.
pub(super) fn templates(alone: bool) -> ListResourceTemplatesResult {
    let offered = RESOURCES.iter().filter(|row| row.address.contains('{') && (!alone || of_execution(row)));
    let templates = offered.map(|row| {
        ResourceTemplate::new(row.address, row.name)
            .with_title(row.title)
            .with_description(row.description)
            .with_mime_type(row.media_type)
    });
    ListResourceTemplatesResult::with_all_items(templates.collect())
        .with_ttl_ms(TTL_AT_MOST_MS)
        .with_cache_scope(CacheScope::Public)
}

/// A page of what there is. Where flows that are tools are all that is offered, these are their
/// executions.
///
/// # Errors
/// A cursor of another list, or a catalog that can't be reached.
pub(super) async fn list(
    app: &App,
    cursor: Option<&str>,
    only: Option<&Exposing>,
) -> Result<ListResourcesResult, Error> {
    if let Some(exposing) = only {
        prompts::only_page(cursor)?;
        let (exposed, executions) = (exposing.now().await?, app.newest_executions().await?);
        let offered = |listed: &&ExecutionEntry| exposed.tools.iter().any(|tool| tool.flow.flow == flow_of(listed));
        let resources = executions.iter().filter(offered).map(execution).collect();
        return Ok(ListResourcesResult::with_all_items(resources).with_ttl_ms(0).with_cache_scope(CacheScope::Private));
    }
    let after = cursor.map(name_in).transpose()?;
    // The format and the list itself take places on the first page.
    let room = if after.is_none() { PAGE - 2 } else { PAGE };
    let page = app.resource_page(after.as_deref(), room).await?;
    let mut resources = Vec::new();
    if after.is_none() {
        let format = Resource::new(ResourceAddress::Format.write(), FORMAT.name).with_title(FORMAT.title);
        resources.push(format.with_mime_type(FORMAT.media_type).with_description(FORMAT.description));
        let address = ResourceAddress::List { tags: Vec::new() }.write();
        let names = Resource::new(address, "flows").with_title("Names of flows").with_mime_type(JSON);
        resources.push(names.with_description("The names of all flows; ?tags=a,b for those that have these tags."));
    }
    resources.extend(page.executions.iter().map(execution));
    resources.extend(page.flows.into_iter().map(|(name, description)| {
        let resource = Resource::new(ResourceAddress::Metadata(name.clone()).write(), name).with_mime_type(JSON);
        if description.is_empty() { resource } else { resource.with_description(description) }
    }));
    let ttl = page.origin.fresh_for_ms.min(TTL_AT_MOST_MS);
    let mut result =
        ListResourcesResult::with_all_items(resources).with_ttl_ms(ttl).with_cache_scope(CacheScope::Private);
    result.next_cursor = page.next_after.as_deref().map(cursor_after);
    Ok(result)
}

/// The flow that an execution is of.
fn flow_of(listed: &ExecutionEntry) -> &str {
    match listed {
        ExecutionEntry::Direct { outcome: Outcome::Finished { flow, .. }, .. } => flow,
        ExecutionEntry::Direct { outcome: Outcome::Running(pending), .. } => &pending.flow,
        ExecutionEntry::Guided(summary) => &summary.flow,
    }
}

fn execution(listed: &ExecutionEntry) -> Resource {
    let (id, state) = match listed {
        ExecutionEntry::Direct { outcome, .. } => (outcome.id(), state_of(outcome)),
        ExecutionEntry::Guided(summary) => (summary.id.as_str(), summary.state.word()),
    };
    let flow = flow_of(listed);
    Resource::new(ResourceAddress::Execution(id.to_owned()).write(), id)
        .with_title(format!("Execution of {flow}"))
        .with_description(format!("State when listed: {state}."))
        .with_mime_type(JSON)
}

fn cursor_after(name: &str) -> String {
    CURSOR.to_owned() + &hex(name.as_bytes())
}

fn name_in(cursor: &str) -> Result<String, Error> {
    let hex = |digits: &&str| digits.len() >= 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = cursor.strip_prefix(CURSOR).filter(hex).filter(|digits| digits.len() % 2 == 0);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = digits.and_then(|digits| digits.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>());
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Error::of_cursor("the cursor does not go on with this list"))
}

/// What stands at an address.
///
/// # Errors
/// Nothing there, or a catalog that can't be reached; where flows that are tools are all that is
/// offered, everything but executions.
pub(super) async fn read(app: &App, uri: &str, alone: bool) -> Result<ReadResourceResult, Error> {
    let address = ResourceAddress::read(uri)?;
    if alone && !of_execution(&row_of(&address)) {
        let message = "there is no such resource here: flows that are tools are all there is";
        return Err(Error::invalid(message).next("read execution://ID, with the id of an answer"));
    }
    let graph = |name: &String| ShowRequest { name: name.clone(), git_ref: None, refresh: false };
    let row = row_of(&address);
    let (text, fresh_ms) = match &address {
        ResourceAddress::Format => (files::FORMAT.to_owned(), TTL_AT_MOST_MS),
        ResourceAddress::List { tags } => {
            let names = app.flow_names(tags.clone()).await?;
            let answer = wire::flow_names(&names, &|answer| wire::text_fits(&wire::json_of(answer)));
            (wire::json_of(&answer), names.origin.fresh_for_ms)
        }
        ResourceAddress::Metadata(name) => {
            let entry = app.flow_entry(name).await?;
            (wire::json_of(&wire::flow_entry(&entry)), entry.origin.fresh_for_ms)
        }
        ResourceAddress::Schema(name) => {
            let (prepared, origin) = app.graph(&graph(name)).await?;
            (wire::input_schema(&prepared.flow, prepared.plan()?).to_string(), origin.fresh_for_ms)
        }
        ResourceAddress::Graph(name) => {
            let (prepared, origin) = app.graph(&graph(name)).await?;
            (draw::Picture::of(&prepared.flow, prepared.plan.as_deref()).mermaid(), origin.fresh_for_ms)
        }
        ResourceAddress::Template(name) => {
            let (template, fresh_ms) = app.template(name).await?;
            (template.text().into_owned(), fresh_ms)
        }
        ResourceAddress::Execution(id) => {
            let include = vec![Section::Steps];
            let request = StatusRequest { execution: Some(id.clone()), include, ..StatusRequest::default() };
            let mut status = wire::value(&wire::status(&app.status(&request).await?));
            if alone {
                exposed::alone(&mut status);
            }
            (status.to_string(), 0)
        }
        ResourceAddress::Step { id, node } => (step_text(app, id, node).await?, 0),
        ResourceAddress::File { id, node, number } => return file(app, uri, (id, node, *number)).await,
    };
    if !wire::text_fits(&text) {
        let message = format!("what stands there has {} bytes, more than fits into one message", text.len());
        return Err(
            Error::new(Code::LimitExceeded, message).next(format!("call {}, which cuts what is too long", row.tool))
        );
    }
    let contents = ResourceContents::text(text, uri).with_mime_type(row.media_type);
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(fresh_ms.min(TTL_AT_MOST_MS))
        .with_cache_scope(CacheScope::Private))
}

async fn file(app: &App, uri: &str, (id, node, number): (&str, &str, usize)) -> Result<ReadResourceResult, Error> {
    let file = app.file(id, node, number).await?;
    let blob = BASE64_STANDARD.encode(&file.bytes);
    if blob.len() > LARGEST_FILE {
        let message = format!("the file has {} bytes, more than fits into one message", file.bytes.len());
        return Err(Error::new(Code::LimitExceeded, message).next("let the tool give a smaller file"));
    }
    let contents = ResourceContents::blob(blob, uri).with_mime_type(file.media_type);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// A step's whole text, or as much of it as fits, which says how to get the rest.
async fn step_text(app: &App, id: &str, node: &str) -> Result<String, Error> {
    let mut text = String::new();
    let mut request = StatusRequest {
        execution: Some(id.to_owned()),
        node: Some(node.to_owned()),
        limit: Some(TEXT_PAGE),
        ..StatusRequest::default()
    };
    while let StatusAnswer::Text(page) = app.status(&request).await? {
        let before = text.len();
        text.push_str(&page.text);
        if !wire::text_fits(&text) {
            text.truncate(before);
            let rest = format!(
                "… [cut: {} characters in all; flows_status with executionId, nodeId and cursor {} pages the rest]",
                page.total, page.offset
            );
            text.push_str(&rest);
            break;
        }
        match page.next_cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_a_made_up_one_is_not() {
        assert_eq!(name_in(&cursor_after("港 & C#")), Ok("港 & C#".to_owned()));
        for wrong in ["", "after_", "after_4", "after_zz", "after_ff", "100", "after_+1"] {
            assert!(name_in(wrong).is_err(), "{wrong}");
        }
    }
}
