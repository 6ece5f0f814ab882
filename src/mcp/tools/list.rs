//! `flows_list`.

use futures_util::FutureExt as _;
use serde_json::json;

use super::REF;
use crate::app::{Error, ListRequest, Listing, ListingCost};
use crate::discover::{LARGEST_BUDGET, LARGEST_LIMIT, ListKind, Mode, Page, Selection};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire::{self, Travels, WarningAnswer};

const MODES: &[&str] = Mode::OFFERED_WORDS;
/// What answers to a query say as their mode.
const BRIEF: &[(&str, &str)] =
    &[("brief", "leave `mode` out and give `query`: brief is used only for query results; it can't be requested")];
/// The longest average that can be asked about: a day, in milliseconds.
const LONGEST_LATENCY_MS: i64 = 86_400_000;
const KINDS: &[&str] = &ListKind::WORDS;
const COMPLEXITIES: &[&str] = &["simple", "moderate", "high"];

pub(super) const TOOL: Definition = Definition {
    name: "flows_list",
    title: "List flows",
    description: "Lists the catalog's prompt flows, best first for a query. Use it first, to find a flow for a task. \
                  Next: flows_show for inputs and steps.",
    hints: &[Hint::OpenWorld, Hint::Idempotent, Hint::ReadOnly],
    steps: StepWork::None,
    place: CallPlace::Reading,
    parameters: &[
        Parameter::new(
            "mode",
            Kind::Word(MODES),
            "index: a line each; hot: most used; categories: groups; full: all, of names.",
        )
        .default("\"compact\"")
        .elsewhere(BRIEF),
        Parameter::new(
            "query",
            Kind::Texts,
            "What the flow should do, in up to 8 phrasings: other words, other languages.",
        ),
        Parameter::new("tags", Kind::Texts, "Only flows with all these tags."),
        Parameter::new("category", Kind::Text, "Only this category."),
        Parameter::new("complexity", Kind::Word(COMPLEXITIES), "Only this complexity."),
        Parameter::new("names", Kind::Texts, "Only these flows."),
        Parameter::new("maxLatencyMs", Kind::Count(0, LONGEST_LATENCY_MS), "Only flows this quick on average."),
        Parameter::new("kind", Kind::Word(KINDS), "What to list.").default("\"flows\""),
        Parameter::new("limit", Kind::Count(1, LARGEST_LIMIT), "Most entries; 5 with query."),
        Parameter::new("cursor", Kind::Text, "nextCursor of the page before."),
        Parameter::new("maxTokens", Kind::Count(1, LARGEST_BUDGET), "Largest reply."),
        Parameter::new("ref", Kind::Text, REF),
        Parameter::new("refresh", Kind::Flag, "Ask the source for changes first.").default("false"),
        Parameter::new("includeMetadata", Kind::Flag, "Whether entries show dates.").default("true"),
        Parameter::new("detailed", Kind::Flag, "True: mode detailed; false: mode standard.")
            .replaced_by("`mode`: \"detailed\" or \"standard\""),
        Parameter::new("tier", Kind::Word(MODES), "The former name of mode.").replaced_by("`mode`").elsewhere(BRIEF),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let warnings: Vec<WarningAnswer> = arguments.deprecated(TOOL.parameters).into_iter().map(deprecated).collect();
    let named = mode(arguments)?;
    let query = arguments.texts("query");
    let mut selection = Selection::all(match named {
        Some(mode) => mode,
        None if call.contract => Mode::Contract,
        None if !query.is_empty() => Mode::Brief,
        None => Mode::default(),
    });
    selection.query = query;
    selection.kind = arguments.text("kind").and_then(ListKind::named).unwrap_or_default();
    selection.max_latency_ms = arguments.count("maxLatencyMs");
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
        count_errors: false,
    };
    let begun = call.app.clock().reading();
    let count = |listing: &Listing, characters: usize| {
        call.app.count_listing(&ListingCost {
            mode: listing.page.mode,
            entries: listing.page.returned,
            characters,
            tokens: listing.page.estimated_tokens,
            took: call.app.clock().reading().saturating_sub(begun),
            deprecated: warnings.len(),
        });
    };
    let mut made_smaller = false;
    loop {
        let listing = call.unless_cancelled(call.app.list(request.clone()).boxed()).await?;
        let ours = listing.page.mode != Mode::Contract;
        if ours && !made_smaller && call.travels == Travels::Twice {
            let written = wire::written_listing(&listing, &warnings);
            if written.fits() {
                count(&listing, written.characters());
                return Ok(Reply::written(written));
            }
        }
        let mut answer = wire::listing(&listing, &warnings);
        if made_smaller && listing.page.next_cursor.is_some() {
            answer.cut_by_budget();
        }
        let shown = listing.page.returned;
        let text = wire::json_of(&answer);
        let Some(room) = entries_with_room(&listing.page, &text, call.travels) else {
            count(&listing, text.chars().count());
            return Ok(Reply::of(&answer));
        };
        made_smaller = true;
        request.refresh = false;
        if shown > 1 {
            request.selection.limit = i64::try_from(room.clamp(1, shown - 1)).ok();
        } else if request.selection.max_tokens != Some(1) {
            // One flow alone is too much: its shortest form.
            request.selection.max_tokens = Some(1);
        } else {
            count(&listing, text.chars().count());
            return Ok(Reply::of(&answer));
        }
    }
}

/// How many of a listing's entries have room in one message; none where all have.
fn entries_with_room(page: &Page, text: &str, travels: Travels) -> Option<usize> {
    let all = travels.bytes(text);
    let mut over = all.checked_sub(Travels::room()).filter(|over| *over > 0)?;
    let mut keep = page.entries.len();
    for entry in page.entries.iter().rev() {
        if over == 0 {
            break;
        }
        over = over.saturating_sub(travels.bytes(&format!("{},", wire::json_of(entry))));
        keep -= 1;
    }
    Some(keep)
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
        Some((name, other)) => {
            Err(Error::invalid(format!("`{first}` means mode {word} and `{name}` means mode {other}: which one?"))
                .next("give `mode` alone")
                .detail("argument", json!("mode")))
        }
        None => Ok(Mode::named(word)),
    }
}

fn deprecated((name, instead): (&'static str, &'static str)) -> WarningAnswer {
    tracing::warn!(argument = name, "a deprecated argument was used");
    let message = format!("`{name}` is deprecated and will be removed in 1.0: use {instead} (docs/MIGRATION.md)");
    wire::warning(crate::code::WarningCode::Deprecated, message)
}
