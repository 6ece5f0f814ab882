//! Completion: what a client offers while a person types an argument of a prompt or a part of an
//! address.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

use super::resources::RESOURCES;
use crate::app::{App, Code, Completing, Error};
use crate::names::quoted;

/// Completes what was typed.
///
/// # Errors
/// An unknown prompt, pattern or execution, or a catalog that can't be reached. A part that has no
/// known values is completed with nothing.
pub(super) async fn complete(app: &App, request: &CompleteRequestParams) -> Result<CompleteResult, Error> {
    let typed = request.argument.value.as_str();
    let Some(what) = wanted(request)? else { return Ok(CompleteResult::default()) };
    let found = app.complete(&what, typed, CompletionInfo::MAX_VALUES).await?;
    let more = found.total > found.values.len();
    let info = CompletionInfo::with_pagination(found.values, u32::try_from(found.total).ok(), more);
    info.map(CompleteResult::new).map_err(|why| Error::new(Code::InternalError, why))
}

fn wanted(request: &CompleteRequestParams) -> Result<Option<Completing>, Error> {
    let argument = request.argument.name.as_str();
    let uri = match &request.r#ref {
        Reference::Prompt(prompt) => {
            return Ok(Some(Completing::Argument { prompt: prompt.name.clone(), argument: argument.to_owned() }));
        }
        Reference::Resource(pattern) => pattern.uri.as_str(),
        _ => return Err(Error::invalid("only prompts and resources are completed")),
    };
    if !RESOURCES.iter().any(|row| row.address == uri) {
        let message = format!("there is no pattern {}", quoted(uri));
        return Err(Error::invalid(message).next("resources/templates/list shows the patterns"));
    }
    let resolved = |name: &str| request.context.as_ref()?.get_argument(name).cloned();
    Ok(match argument {
        "name" if uri.starts_with("template:") => Some(Completing::Template),
        "name" => Some(Completing::Flow),
        "tags" => Some(Completing::Tags),
        "id" => Some(Completing::Execution),
        "nodeId" => resolved("id").map(|execution| Completing::Step { execution }),
        _ => None,
    })
}
