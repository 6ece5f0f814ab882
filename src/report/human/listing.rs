//! Listings for people: a table, lines, or a paragraph for each flow.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr as _;

use super::{
    BAD, Cell, FAINT, HEADING, Look, NAME, age, count, facts, faint, grouped, prose, table, whole, words, wrapped,
};
use crate::app::{Code, Exposed, ExposedFlow, Listing, Origin};
use crate::discover::{
    CategoryEntry, DetailedEntry, FileProblem, FullEntry, HotEntry, ListEntry, ListKind, Mode, StandardEntry,
    SummaryEntry,
};
use crate::model::text_or_json;
use crate::names::{quoted, shown};

/// The longest one-line text, in characters.
const LONGEST: usize = 4_000;

/// The flows: on a terminal one line each, elsewhere as lines of
/// name, description, inputs and tags between tabs.
pub fn listing(listing: &Listing, look: Look) -> String {
    let entries = &listing.page.entries;
    match listing.page.mode {
        Mode::Index => {
            let mark = |entry: &ListEntry| if look.terminal { broken(entry, listing, look) } else { String::new() };
            let marked = |entry: &ListEntry| super::fitted(&line(entry), look) + &mark(entry);
            entries.iter().map(|entry| marked(entry) + "\n").collect()
        }
        Mode::Compact if !look.terminal => entries.iter().map(|entry| line(entry) + "\n").collect(),
        Mode::Hot | Mode::Categories if !look.terminal => entries.iter().map(|entry| line(entry) + "\n").collect(),
        _ if entries.is_empty() => String::new(),
        Mode::Hot => {
            let columns = [
                whole("name"),
                prose("what it is for"),
                words("needs").spare(),
                whole("average"),
                whole("success"),
                whole("popularity"),
            ];
            table(&columns, &rows_of(entries), 0, look)
        }
        Mode::Categories => {
            let columns =
                [words("category"), prose("what belongs into it").spare(), whole("flows"), words("most used")];
            table(&columns, &rows_of(entries), 0, look)
        }
        Mode::Compact => in_lines(listing, look),
        Mode::Standard | Mode::Detailed | Mode::Brief | Mode::Summaries | Mode::Full | Mode::Contract => {
            let paragraphs: Vec<String> = entries.iter().map(|entry| paragraph(entry, listing, look)).collect();
            paragraphs.join("\n")
        }
    }
}

/// One line a flow: its name, what it is for as far as there is room, and how many errors it has.
fn in_lines(listing: &Listing, look: Look) -> String {
    let entries = &listing.page.entries;
    let rows: Vec<(String, String, usize)> = entries
        .iter()
        .map(|entry| {
            let Some((name, about)) = entry.headline() else { return (line(entry), String::new(), 0) };
            // What has no description of its own is described by its name.
            let same = |text: &str| text.replace(['_', '-'], " ").to_lowercase();
            let about = if same(about) == same(name) { "" } else { about };
            (safe(name), safe(about), listing.errors.get(name).copied().unwrap_or(0))
        })
        .collect();
    let marked = rows.iter().any(|(_, _, errors)| *errors > 0);
    // A name that would take the room of all descriptions has a line of its own.
    let long = |name: &str| name.width() > look.columns() / 2;
    let mut lines = String::new();
    let mut alone: Vec<Option<String>> = Vec::new();
    let rows: Vec<Vec<Cell>> = rows
        .into_iter()
        .map(|(name, about, errors)| {
            alone.push(Some(name.clone()).filter(|name| long(name)));
            let name = if long(&name) { String::new() } else { name };
            let (mark, end) = match errors {
                0 => ("", String::new()),
                number => ("✗", count(number, "error", "errors")),
            };
            let row = [Cell::painted(name, NAME), Cell::plain(about), Cell::painted(end, BAD)];
            let mark = marked.then(|| Cell::painted(mark, BAD));
            mark.into_iter().chain(row).collect()
        })
        .collect();
    let below = super::rows(&rows, if marked { 2 } else { 1 }, &[], look);
    for (line, name) in below.lines().zip(alone) {
        if let Some(name) = name {
            let _ = writeln!(lines, "{}", look.paint(NAME, &name));
        }
        let _ = writeln!(lines, "{line}");
    }
    lines
}

fn rows_of(entries: &[ListEntry]) -> Vec<Vec<String>> {
    entries.iter().map(cells).collect()
}

fn safe(text: &str) -> String {
    shown(text, LONGEST)
}

fn cells(entry: &ListEntry) -> Vec<String> {
    line(entry).split('\t').map(str::to_owned).collect()
}

fn hot(entry: &HotEntry) -> Vec<String> {
    vec![
        safe(&entry.name),
        safe(&entry.description),
        safe(&entry.params.join(", ")),
        milliseconds(entry.average_ms),
        entry.success_rate.map_or_else(|| "–".to_owned(), |rate| format!("{rate} %")),
        entry.popularity.word().to_owned(),
    ]
}

fn category(entry: &CategoryEntry) -> Vec<String> {
    let name = entry.category.as_deref().filter(|name| **name != entry.display_name);
    let name = name.map_or_else(String::new, |name| format!(" ({})", safe(name)));
    vec![
        format!("{}{name}", safe(&entry.display_name)),
        safe(&entry.description),
        grouped(entry.flow_count),
        safe(&entry.popular_flows.join(", ")),
    ]
}

/// A time, or a dash where none is known.
fn milliseconds(time: Option<f64>) -> String {
    time.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()).map_or_else(|| "–".to_owned(), super::time)
}

fn line(entry: &ListEntry) -> String {
    match entry {
        ListEntry::Index(line) => safe(&line.0),
        ListEntry::Compact(entry) => [&entry.name, &entry.description, &entry.input_summary, &entry.tags.join(", ")]
            .map(|text| safe(text))
            .join("\t"),
        ListEntry::Brief(entry) => {
            [&entry.name, &entry.description, &entry.input_summary].map(|text| safe(text)).join("\t")
        }
        ListEntry::Shortened(entry) => [&entry.name, &entry.description].map(|text| safe(text)).join("\t"),
        ListEntry::Standard(entry) => safe(&entry.name),
        ListEntry::Detailed(entry) => safe(&entry.name),
        ListEntry::Contract(entry) => safe(&entry.name),
        ListEntry::Summary(entry) => safe(&entry.name),
        ListEntry::Full(entry) => safe(&entry.name),
        ListEntry::Hot(entry) => hot(entry).join("\t"),
        ListEntry::Category(entry) => category(entry).join("\t"),
    }
}

/// How many errors a flow has, behind its name; nothing where it has none.
fn broken(entry: &ListEntry, listing: &Listing, look: Look) -> String {
    let errors = entry.name().and_then(|name| listing.errors.get(name));
    errors.map(|number| look.paint(BAD, &format!("  ✗ {}", count(*number, "error", "errors")))).unwrap_or_default()
}

fn paragraph(entry: &ListEntry, listing: &Listing, look: Look) -> String {
    let text = match entry {
        ListEntry::Standard(entry) => standard(entry, look),
        ListEntry::Detailed(entry) => detailed(entry, look),
        ListEntry::Summary(entry) => summary(entry, look),
        ListEntry::Full(entry) => full(entry, look),
        ListEntry::Compact(_)
        | ListEntry::Brief(_)
        | ListEntry::Index(_)
        | ListEntry::Hot(_)
        | ListEntry::Category(_)
        | ListEntry::Contract(_)
        | ListEntry::Shortened(_) => line(entry) + "\n",
    };
    text.replacen('\n', &(broken(entry, listing, look) + "\n"), 1)
}

fn head(name: &str, version: &str, description: &str, look: Look) -> String {
    let mut text = format!("{}  {}\n", look.paint(NAME, &safe(name)), look.paint(FAINT, &safe(version)));
    if !description.is_empty() {
        text.push_str(&wrapped(description, 2, look));
    }
    text
}

fn rows(rows: Vec<(&str, String)>, look: Look) -> String {
    facts(rows.into_iter().map(|(name, value)| (name, safe(&value))).collect(), 2, look)
}

fn dates(created: Option<&str>, updated: Option<&str>) -> String {
    // The day is enough for people.
    let day = |date: &str| date.split('T').next().unwrap_or_default().to_owned();
    match (created.map(day), updated.map(day)) {
        (Some(created), Some(updated)) if created != updated => format!("created {created}, updated {updated}"),
        (Some(date), _) => format!("created {date}"),
        (None, Some(date)) => format!("updated {date}"),
        (None, None) => String::new(),
    }
}

fn standard(entry: &StandardEntry, look: Look) -> String {
    head(&entry.name, &entry.version, &entry.description, look)
        + &rows(
            vec![
                ("inputs", entry.input_summary.clone()),
                ("steps", entry.steps.join(" · ")),
                ("tags", entry.tags.join(", ")),
                ("dates", dates(entry.created.as_deref(), entry.updated.as_deref())),
            ],
            look,
        )
}

fn detailed(entry: &DetailedEntry, look: Look) -> String {
    let mut text = head(&entry.name, &entry.version, &entry.description, look)
        + &rows(
            vec![
                ("steps", entry.steps.join(" · ")),
                ("results", results(&entry.outputs)),
                ("tags", entry.tags.join(", ")),
                ("category", entry.category.clone().unwrap_or_default()),
                ("author", entry.author.clone().unwrap_or_default()),
                ("dates", dates(entry.created.as_deref(), entry.updated.as_deref())),
            ],
            look,
        );
    if let Some(inputs) = entry.inputs.as_ref().filter(|inputs| !inputs.is_empty()) {
        let inputs = inputs.iter().map(|(name, input)| {
            let needed = match (&input.default, input.required) {
                (Some(default), _) => format!("default {}", safe(&default.to_string())),
                (None, true) => "required".to_owned(),
                (None, false) if input.in_sets => "required, or from a set".to_owned(),
                (None, false) => "optional".to_owned(),
            };
            vec![safe(name), safe(&input.kind), needed, safe(&input.description)]
        });
        let inputs: Vec<_> = inputs.collect();
        text.push('\n');
        text.push_str(&table(&[whole("input"), whole("type"), words("needed"), prose("what for")], &inputs, 2, look));
    }
    text
}

/// The labels of results.
fn results(results: &Map<String, Value>) -> String {
    results.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn summary(entry: &SummaryEntry, look: Look) -> String {
    // As other modes write it: `topic (string, required)`.
    let terms = |terms: &String| format!("({}", terms.replacen(" (", ", ", 1));
    let params: Vec<String> = entry.params.iter().map(|(name, said)| format!("{name} {}", terms(said))).collect();
    let mut text = look.paint(NAME, &safe(&entry.name)) + "\n";
    text.push_str(&wrapped(&safe(&entry.description), 2, look));
    let average = entry.average_ms.map(|_| milliseconds(entry.average_ms)).unwrap_or_default();
    text + &rows(vec![("inputs", params.join(", ")), ("results", entry.returns.join(", ")), ("average", average)], look)
}

fn full(entry: &FullEntry, look: Look) -> String {
    let performance = &entry.performance;
    let rate = performance.success_rate.map(|rate| format!(", {rate} % successful")).unwrap_or_default();
    let parameters = if entry.parameters.is_null() { String::new() } else { format!("{:#}", entry.parameters) };
    let mut text = head(&entry.name, &entry.version, &entry.description, look)
        + &rows(
            vec![
                ("steps", entry.steps.join(" · ")),
                ("results", results(&entry.returns)),
                ("tags", entry.tags.join(", ")),
                ("category", entry.category.clone().unwrap_or_default()),
                ("examples", entry.examples.join(" · ")),
                (
                    "used",
                    format!(
                        "{}{rate}",
                        count(usize::try_from(performance.total_invocations).unwrap_or(usize::MAX), "time", "times")
                    ),
                ),
            ],
            look,
        );
    if !parameters.is_empty() {
        text.push_str("  inputs as JSON Schema\n");
        for line in parameters.lines() {
            let _ = writeln!(text, "    {}", safe(line));
        }
    }
    text
}

/// A value as a person writes it: text without quotation marks, where there is any.
pub(super) fn plain(value: &serde_json::Value) -> String {
    let text = text_or_json(value);
    if text.is_empty() { "\"\"".to_owned() } else { text.into_owned() }
}

/// That no flow fits the query, for whoever is about to read those that are shown all the same.
pub fn no_match(listing: &Listing) -> String {
    let Some(none) = &listing.page.no_match else { return String::new() };
    let shown = match (none.near, listing.page.returned) {
        (_, 0) => "",
        (true, _) => " The flows below come nearest.",
        (false, _) => " None comes near it either: the flows below are only the first ones.",
    };
    format!("No flow fits the query.{shown}\n")
}

/// What to know about a listing: how many there are, where they come from, what is missing, which
/// files could not be listed.
pub fn listing_notes(listing: &Listing, from: &str, look: Look) -> String {
    let page = &listing.page;
    let mut text = String::new();
    if look.terminal {
        text.push('\n');
    }
    text.push_str(&reasons(listing));
    let commit = listing.origin.commit.as_deref().map(|commit| format!(" at {}", shown(commit, 10)));
    let git_ref = listing.origin.git_ref.as_deref().map(|name| format!(" {}", shown(name, 100)));
    let (one, many) = match (page.mode, listing.selection.kind) {
        (Mode::Categories, _) => ("category", "categories"),
        (_, ListKind::Templates) => ("template", "templates"),
        (_, ListKind::Flows) => ("flow", "flows"),
    };
    // Flows without a category are a row of the table, and no category.
    let none = |entry: &&ListEntry| matches!(entry, ListEntry::Category(entry) if entry.category.is_none());
    let rows_of_none = page.entries.iter().filter(none).count();
    let all = count(page.total - rows_of_none, one, many);
    let flows =
        if page.returned == page.total { all } else { format!("{} of {all}", grouped(page.returned - rows_of_none)) };
    text.push_str(&look.paint(
        FAINT,
        &format!(
            "{flows} from {}{}{}{}",
            shown(from, 300),
            git_ref.unwrap_or_default(),
            commit.unwrap_or_default(),
            // Lines say no more than what a flow is for.
            match (page.mode, listing.selection.kind) {
                _ if !look.terminal || page.total == 0 => "",
                (Mode::Compact, ListKind::Flows) => " · `flowy show NAME` for inputs and steps",
                (Mode::Compact, ListKind::Templates) => " · `flowy show NAME` for variables and text",
                (Mode::Index, _) => " · ? marks what may be left out",
                _ => "",
            }
        ),
    ));
    text.push('\n');
    if let Some(none) = page.no_match.as_ref().filter(|none| !none.nearest.is_empty()) {
        let near: Vec<String> = none.nearest.iter().map(|term| quoted(term)).collect();
        let _ = writeln!(text, "The nearest words of this catalog: {}", near.join(", "));
    }
    let warn = |message: &str| super::warning(message, look);
    text.push_str(&origin_notes(&listing.origin, look));
    if page.total == 0
        && let Some(step) = listing.advice()
    {
        text.push_str(&super::hint(step.for_commands(), look));
    }
    if !page.unknown_names.is_empty() {
        let names: Vec<String> = page.unknown_names.iter().map(|name| quoted(name)).collect();
        text.push_str(&warn(&format!("no {one} goes by {}", names.join(", "))));
    }
    if let Some(not_read) = listing.not_read() {
        text.push_str(&warn(&not_read));
    }
    text.push_str(&problems(listing, look));
    text
}

/// What is to be known of where an answer comes from: a ref that was given in vain, a name that is spelt
/// otherwise, an older copy.
pub fn origin_notes(origin: &Origin, look: Look) -> String {
    let mut text = String::new();
    if let Some(ignored) = &origin.ignored_ref {
        text.push_str(&super::warning(&ignored.to_string(), look));
    }
    if let Some(inexact) = &origin.inexact_name {
        text.push_str(&super::warning(&inexact.to_string(), look));
    }
    if let Some(reason) = &origin.stale {
        let message = format!("this is an older copy, {} old: {}", age(origin.age_seconds), shown(reason, 300));
        text.push_str(&super::warning(&message, look));
    }
    text
}

/// Which flows are tools of their own; nothing where none is.
pub fn exposed(exposed: &Exposed, look: Look) -> String {
    if exposed.tools.is_empty() {
        return String::new();
    }
    let names = |flow: &ExposedFlow| format!("{} ({})", shown(&flow.tool, 200), shown(&flow.flow, 200));
    let tools: Vec<String> = exposed.tools.iter().map(|tool| names(&tool.flow)).collect();
    let what = count(tools.len(), "flow is a tool", "flows are tools");
    let own = if tools.len() == 1 { "of its own" } else { "of their own" };
    faint(&format!("{what} {own}: {}", tools.join(", ")), look)
}

/// What is wrong in files, and apart from it which tools are not there now.
fn problems(listing: &Listing, look: Look) -> String {
    let unavailable = |problem: &FileProblem| problem.code == Code::ToolUnavailable;
    let in_files = listing.problem_count.saturating_sub(listing.unavailable_count);
    let kinds = [
        (
            listing.unavailable_count,
            true,
            ("call of a tool that is unavailable now", "calls of tools that are unavailable now"),
            "`flowy servers list` shows how the servers stand",
        ),
        (
            in_files,
            false,
            ("error in the catalog's files", "errors in the catalog's files"),
            "`flowy validate` shows each at its place",
        ),
    ];
    let mut text = String::new();
    for (number, of_tools, (one, many), command) in kinds {
        if number == 0 {
            continue;
        }
        text.push_str(&super::warning(&format!("{}; {command}", count(number, one, many)), look));
        let mut named = 0;
        for problem in listing.problems.iter().filter(|problem| unavailable(problem) == of_tools) {
            let place = match (problem.line, problem.column) {
                (Some(line), Some(column)) => format!("{}:{line}:{column}", problem.file),
                _ => problem.file.clone(),
            };
            let head = format!("  {}:", look.paint(HEADING, &shown(&place, 300)));
            text.push_str(&super::hanging(&head, &format!(" {}", shown(&problem.message, 300)), 4, look));
            named += 1;
        }
        if number > named {
            let _ = writeln!(text, "  and {} more", grouped(number - named));
        }
    }
    text
}

/// Which words made each flow answer the query, for `--explain`.
fn reasons(listing: &Listing) -> String {
    let mut text = String::new();
    if !listing.page.reasons.is_empty() {
        text.push_str("How well each answers the query (to compare within this list), and the words that count:\n");
    }
    for reason in &listing.page.reasons {
        let words = reason
            .why
            .iter()
            .map(|why| format!("{} ({}) {:.2}", shown(&why.term, LONGEST), why.field.word(), why.contribution));
        let words: Vec<String> = words.collect();
        let _ = writeln!(text, "  {}  {:.3}: {}", safe(&reason.name), reason.score, words.join(", "));
    }
    text
}
