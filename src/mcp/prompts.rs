//! Prompts: flows and templates that a person picks from a menu.

use rmcp::model::{
    CacheScope, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};

use super::TTL_AT_MOST_MS;
use crate::app::{App, Code, Error, PromptEntry, PromptKind, PromptRequest};
use crate::names::shown;
use crate::report::{script, wire};

/// The longest description of an answer, in characters.
const LONGEST_DESCRIPTION: usize = 300;

/// The prompts there are, all on one page; none where flows that are tools are all that is offered.
///
/// # Errors
/// A cursor, for there are no other pages; or a catalog that can't be reached.
pub(super) async fn list(app: &App, cursor: Option<&str>, alone: bool) -> Result<ListPromptsResult, Error> {
    only_page(cursor)?;
    if alone {
        return Ok(ListPromptsResult::with_all_items(Vec::new())
            .with_ttl_ms(TTL_AT_MOST_MS)
            .with_cache_scope(CacheScope::Public));
    }
    let prompts = app.prompts().await?;
    if prompts.total > prompts.listed.len() {
        tracing::debug!(listed = prompts.listed.len(), total = prompts.total, "not all prompts are listed");
    }
    let ttl = prompts.origin.fresh_for_ms.min(TTL_AT_MOST_MS);
    let listed = prompts.listed.iter().map(shown_as).collect();
    Ok(ListPromptsResult::with_all_items(listed).with_ttl_ms(ttl).with_cache_scope(CacheScope::Private))
}

/// Refuses a cursor where a list is never cut.
pub(super) fn only_page(cursor: Option<&str>) -> Result<(), Error> {
    match cursor {
        None => Ok(()),
        Some(_) => Err(Error::new(Code::InvalidCursor, "this list has one page, and no cursor leads on from it")
            .next("leave `cursor` out")),
    }
}

fn shown_as(entry: &PromptEntry) -> Prompt {
    let arguments: Vec<PromptArgument> = entry
        .arguments
        .iter()
        .map(|argument| {
            let made = PromptArgument::new(&argument.name).with_required(argument.required);
            if argument.description.is_empty() { made } else { made.with_description(&argument.description) }
        })
        .collect();
    let description = Some(entry.description.as_str()).filter(|text| !text.is_empty());
    let what = match entry.kind {
        PromptKind::Flow => "Flow",
        PromptKind::Template => "Template",
    };
    Prompt::new(&entry.slug, description, (!arguments.is_empty()).then_some(arguments))
        .with_title(format!("{what}: {}", shown(&entry.name, 120)))
}

/// One prompt, written.
///
/// # Errors
/// When there is none of that name, required arguments are missing, or its flow can't be executed.
pub(super) async fn get(
    app: &App,
    name: &str,
    values: Option<JsonObject>,
    alone: bool,
) -> Result<GetPromptResult, Error> {
    if alone {
        return Err(Error::invalid("there are no prompts here: flows that are tools are all there is")
            .next("call one of the tools"));
    }
    let request = PromptRequest { name: name.to_owned(), values: values.unwrap_or_default() };
    let written = app.prompt(&request).await?;
    let text = script::prompt(&written);
    if !wire::text_fits(&text) {
        let message = format!("the prompt has {} bytes, more than fits into one message", text.len());
        return Err(Error::new(Code::LimitExceeded, message)
            .next("give shorter values; a long flow is carried out step by step with flows_begin"));
    }
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    // A prompt has no place for warnings but what is said of it.
    let warning = written.inexact_name.iter().map(ToString::to_string);
    let told: Vec<String> = warning.chain(Some(written.description).filter(|text| !text.is_empty())).collect();
    let description = shown(&told.join(". "), LONGEST_DESCRIPTION);
    Ok(if description.is_empty() { result } else { result.with_description(description) })
}
