//! `flows_list`.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::REF;
use crate::app::{Code, Error, ListRequest};
use crate::discover::{Mode, Selection};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{Definition, FailureShape, Kind, Parameter};
use crate::mcp::reply::{Call, Reply};
use crate::report::wire;

const MODES: &[&str] = &["compact", "index", "standard", "detailed"];
const COMPLEXITIES: &[&str] = &["simple", "moderate", "high"];

pub(super) const TOOL: Definition = Definition {
    name: "flows_list",
    source: "flows/list",
    title: "List flows",
    description: "Lists the prompt flows of the catalog. Use it first, to find a flow for a task. Next: flows_show for a \
                  flow's inputs and steps, or flows_execute.",
    open_world: true,
    idempotent: true,
    read_only: true,
    destructive: false,
    parameters: &[
        Parameter::new("mode", Kind::Word(MODES), "How much each entry shows; index is one line, detailed everything.")
            .default("\"compact\""),
        Parameter::new("tags", Kind::Texts, "Only flows with all of these tags."),
        Parameter::new("category", Kind::Text, "Only flows of this category."),
        Parameter::new("complexity", Kind::Word(COMPLEXITIES), "Only flows of this complexity."),
        Parameter::new("names", Kind::Texts, "Only these flows."),
        Parameter::new("limit", Kind::Count(1), "Most entries; the default goes by mode."),
        Parameter::new("cursor", Kind::Text, "nextCursor of the page before."),
        Parameter::new("maxTokens", Kind::Count(1), "Largest reply; the default goes by mode."),
        Parameter::new("ref", Kind::Text, REF),
        Parameter::new("refresh", Kind::Flag, "Ask the source for changes first.").default("false"),
        Parameter::new("includeMetadata", Kind::Flag, "Whether entries show dates.").default("true"),
        Parameter::new("detailed", Kind::Flag, "True: mode detailed; false: mode standard.")
            .replaced_by("`mode`: \"detailed\" or \"standard\""),
        Parameter::new("tier", Kind::Word(MODES), "The former name of mode.").replaced_by("`mode`"),
    ],
    failure: FailureShape::Error,
    run,
};

fn run<'a>(call: &'a Call, arguments: &'a Arguments) -> BoxFuture<'a, Result<Reply, Error>> {
    async move {
        let warnings: Vec<Value> = arguments.deprecated(&TOOL).into_iter().map(deprecated).collect();
        let named = mode(arguments)?;
        let mut selection = Selection::all(match named {
            Some(mode) => mode,
            None if call.contract => Mode::Contract,
            None => Mode::default(),
        });
        selection.tags = arguments.texts("tags");
        selection.category = arguments.owned("category");
        selection.complexity = arguments.owned("complexity");
        selection.names = arguments.texts("names");
        selection.limit = arguments.count("limit");
        selection.cursor = arguments.owned("cursor");
        selection.max_tokens = arguments.count("maxTokens");
        selection.include_metadata = arguments.flag("includeMetadata").unwrap_or(true);
        let mut request = ListRequest {
            selection,
            git_ref: arguments.owned("ref"),
            refresh: arguments.flag("refresh").unwrap_or(false),
        };
        loop {
            let listing = call.unless_cancelled(call.app.list(request.clone())).await?;
            let value = match listing.page.mode {
                Mode::Contract => wire::contract_listing(&listing),
                _ => wire::listing(&listing, &warnings),
            };
            // A page that no client would take is made smaller: half of it, with a cursor.
            let tokens = i64::try_from(listing.page.estimated_tokens).unwrap_or(i64::MAX);
            if wire::frame_fits(&value) || listing.page.returned <= 1 || tokens < 2 {
                return Ok(Reply::of(value));
            }
            request.selection.max_tokens = Some(tokens / 2);
            request.refresh = false;
        }
    }
    .boxed()
}

/// The mode that was asked for, by whichever of its names.
fn mode(arguments: &Arguments) -> Result<Option<Mode>, Error> {
    let detailed = arguments.flag("detailed").map(|detailed| if detailed { "detailed" } else { "standard" });
    let mut said: Vec<(&str, &str)> = Vec::new();
    for (name, word) in [("mode", arguments.text("mode")), ("tier", arguments.text("tier")), ("detailed", detailed)] {
        said.extend(word.map(|word| (name, word)));
    }
    let Some((first, word)) = said.first().copied() else { return Ok(None) };
    match said.iter().find(|(_, other)| *other != word) {
        Some((name, other)) => Err(Error::new(
            Code::InvalidRequest,
            format!("`{first}` means mode {word} and `{name}` means mode {other}: which one?"),
        )
        .next("give `mode` alone")
        .detail("argument", json!("mode"))),
        None => Ok(Mode::named(word)),
    }
}

fn deprecated((name, instead): (&'static str, &'static str)) -> Value {
    tracing::warn!(argument = name, "a deprecated argument was used");
    json!({
        "code": "DEPRECATED",
        "message": format!("`{name}` is deprecated and will be removed in 1.0: use {instead} (docs/MIGRATION.md)"),
    })
}
