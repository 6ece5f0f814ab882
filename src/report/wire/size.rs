//! Keeping a reply small: long texts keep their beginning, and say how to read the rest.
//!
//! What gives way, in this order, and only as far as it takes: the values that steps saw, down to
//! [`FLOOR`] characters each; what steps put out and failures say, down to the same; a final result
//! beyond [`FINAL`] characters. Where that is not enough, those values and then those outputs are
//! left out, the later steps are only counted, and last of all the final result comes down to
//! [`FLOOR`] too. Every cut is looked at once more as it will be sent, so a reply is within its limit
//! or has nothing left to give; then it says so.

use serde_json::{Map, Value, json};

use super::limit::{Limit, Size, json_of};

/// The shortest beginning that a cut text keeps, in characters; with what is said behind it, about 120.
const FLOOR: usize = 80;
/// How much of the final result is kept as long as anything else can give way, in characters.
const FINAL: usize = 4_000;
/// What saying that a text was cut takes, at the most, in characters: a text that is longer than
/// its share by less than this is left alone.
const SAID: usize = 40;
/// What a cut adds to a reply, at the most: the words behind the text, and the marks at its step.
const MARKS: Size = Size { characters: 120, bytes: 280, tokens: 40 };

/// Cuts a reply until it is within its limit; `rest` is a sentence that says how the whole is had.
pub fn fit(whole: Value, limit: &Limit, rest: &str) -> Value {
    let mut value = whole;
    if limit.fits(&value) {
        return value;
    }
    mark(&mut value, rest);
    let ways: [&dyn Fn(&mut Value) -> bool; 8] = [
        &|value| squeeze(value, Part::Seen, limit, FLOOR),
        &|value| squeeze(value, Part::PutOut, limit, FLOOR),
        &|value| squeeze(value, Part::Final, limit, FINAL),
        &|value| leave_out(value, "inputVariables", &json!({}), limit),
        &|value| leave_out(value, "output", &Value::Null, limit),
        &|value| shorten_lists(value, limit),
        &|value| squeeze(value, Part::Final, limit, FLOOR),
        &|value| squeeze_as_text(value, limit),
    ];
    if !ways.iter().any(|way| way(&mut value)) {
        confess(&mut value);
    }
    value
}

/// Reading the whole of an execution's texts.
pub(super) fn rest_of_execution(id: &str) -> String {
    format!(
        "texts were cut to fit; flows_status with executionId {id} and nodeId (a step's id, or \"result\" for the final result) pages a whole text"
    )
}

fn mark(value: &mut Value, rest: &str) {
    if let Value::Object(object) = value {
        object.insert("truncated".to_owned(), json!(true));
        // What comes next is said already where there is a next step; this is beside it.
        let key = if object.contains_key("code") || object.contains_key("nextStep") { "hint" } else { "nextStep" };
        object.insert(key.to_owned(), json!(rest));
    }
}

/// Nothing more can give way.
fn confess(value: &mut Value) {
    const WHY: &str = "the limit is smaller than the shortest answer: give a larger maxTokens";
    if let Value::Object(object) = value {
        let step = match object.get("nextStep").and_then(Value::as_str) {
            Some(step) => format!("{step}; {WHY}"),
            None => WHY.to_owned(),
        };
        object.insert("nextStep".to_owned(), json!(step));
    }
}

/// The lists of steps that replies have.
const STEPS: [&str; 3] = ["intermediateResults", "partialResults", "steps"];

/// What is cut together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The values that steps saw.
    Seen,
    /// What steps put out, and what failures and warnings say.
    PutOut,
    /// What all came to; also the text of a template that is shown.
    Final,
}

impl Part {
    fn of_step(self, key: &str) -> bool {
        match self {
            Self::Seen => matches!(key, "inputVariables" | "variableSets"),
            Self::PutOut => matches!(key, "output" | "text"),
            Self::Final => false,
        }
    }
}

/// What is done to a text: the whole length, in characters, where that cuts it.
type Act<'a> = dyn FnMut(&mut String) -> Option<usize> + 'a;

/// Does something to every text of a part, always in the same order, and marks the steps whose texts are cut.
fn each_text(value: &mut Value, part: Part, act: &mut Act<'_>) {
    let Value::Object(object) = value else { return };
    if part == Part::Final {
        for key in ["finalResult", "results", "text", "variableSets"] {
            if let Some(value) = object.get_mut(key) {
                texts(value, act);
            }
        }
        return;
    }
    for key in STEPS {
        let Some(Value::Array(steps)) = object.get_mut(key) else { continue };
        for step in steps.iter_mut().filter_map(Value::as_object_mut) {
            let cut =
                step.iter_mut().filter(|(key, _)| part.of_step(key)).filter_map(|(_, value)| texts(value, act)).max();
            if let Some(whole) = cut {
                step.insert("truncated".to_owned(), json!(true));
                if part == Part::PutOut && step.get("output").is_some_and(Value::is_string) {
                    step.insert("outputLength".to_owned(), json!(whole));
                }
            }
        }
    }
    if part == Part::PutOut {
        for key in ["failedAt", "failures", "warnings"] {
            if let Some(value) = object.get_mut(key) {
                messages(value, act);
            }
        }
    }
}

/// Every text within a value; the longest one's whole length where any is cut.
fn texts(value: &mut Value, act: &mut Act<'_>) -> Option<usize> {
    match value {
        Value::String(text) => act(text),
        Value::Array(items) => items.iter_mut().filter_map(|item| texts(item, act)).max(),
        Value::Object(object) => object.values_mut().filter_map(|item| texts(item, act)).max(),
        _ => None,
    }
}

/// Every message within a value: names, ids and codes beside it are left alone.
fn messages(value: &mut Value, act: &mut Act<'_>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| messages(item, act)),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value {
                    Value::String(text) if key == "message" => {
                        act(text);
                    }
                    other => messages(other, act),
                }
            }
        }
        _ => {}
    }
}

/// Cuts every text of a part to the same length: the largest that is within the limit, but no
/// shorter than `least` characters. Says whether that was enough.
fn squeeze(value: &mut Value, part: Part, limit: &Limit, least: usize) -> bool {
    let mut wholes: Vec<String> = Vec::new();
    each_text(value, part, &mut |text| {
        wholes.push(std::mem::take(text));
        None
    });
    let without = limit.measure(&json_of(value));
    // Where all else is too much already, nothing of these texts can help.
    let hopeless = !limit.holds(without);
    let mut kept = if hopeless { least } else { longest_fitting(&wholes, without, limit, least) };
    loop {
        let mut whole = wholes.iter();
        each_text(value, part, &mut |text| {
            let whole = whole.next()?;
            let (cut, length) = beginning(whole, kept);
            *text = cut;
            length
        });
        let fits = !hopeless && limit.fits(value);
        if fits || kept <= least {
            return fits;
        }
        // What was measured piece by piece can be a few tokens off.
        kept = shorter(kept).max(least);
    }
}

/// The steps between lengths: a quarter, so that little of a limit stays unused.
fn longer(kept: usize) -> usize {
    kept + kept.div_ceil(4)
}

fn shorter(kept: usize) -> usize {
    kept - kept / 5
}

/// The longest beginning that all these texts may keep beside what else there is.
///
/// Texts are measured from their beginnings on, once and no further than the limit reaches.
fn longest_fitting(wholes: &[String], without: Size, limit: &Limit, least: usize) -> usize {
    let mut open: Vec<&str> = wholes.iter().map(String::as_str).collect();
    let (mut begun, mut from, mut kept, mut best) = (without, 0, least, least);
    loop {
        let mut longer_than_that = Vec::with_capacity(open.len());
        let mut cuts = 0;
        for text in open {
            let (now, rest) = split(text, kept - from);
            let rest_is_short = split(rest, SAID).1.is_empty();
            let piece = if rest_is_short { text } else { now };
            begun = begun.plus(inner(piece, limit));
            if !limit.holds(begun) {
                return best;
            }
            if !rest_is_short {
                cuts += 1;
                longer_than_that.push(rest);
            }
        }
        let marks =
            Size { characters: MARKS.characters * cuts, bytes: MARKS.bytes * cuts, tokens: MARKS.tokens * cuts };
        if !limit.holds(begun.plus(marks)) {
            return best;
        }
        best = kept;
        if longer_than_that.is_empty() {
            return best;
        }
        open = longer_than_that;
        from = kept;
        kept = longer(kept);
    }
}

/// The size of a text within JSON, without its quotation marks.
fn inner(text: &str, limit: &Limit) -> Size {
    limit.measure(&crate::names::inside_json(text))
}

/// The first so many characters, and the others.
fn split(text: &str, characters: usize) -> (&str, &str) {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place);
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// A text's beginning with a word on its whole length, where it is longer.
fn beginning(whole: &str, kept: usize) -> (String, Option<usize>) {
    let (begun, rest) = split(whole, kept);
    if split(rest, SAID).1.is_empty() {
        return (whole.to_owned(), None);
    }
    let (begun, length) = match rest.rsplit_once("… [cut: ").and_then(|(_, said)| said.strip_suffix(SAID_BEHIND)) {
        // It was cut before; what it was before that is what counts.
        Some(length) => (begun, length.parse().unwrap_or(kept)),
        None => (begun, kept + rest.chars().count()),
    };
    (format!("{begun}… [cut: {length}{SAID_BEHIND}"), Some(length))
}

const SAID_BEHIND: &str = " characters in all]";

/// Empties something in every step, and counts the steps that had it.
fn leave_out(value: &mut Value, key: &str, empty: &Value, limit: &Limit) -> bool {
    let Value::Object(object) = value else { return false };
    let mut count = 0_usize;
    for list in STEPS {
        let steps = object.get_mut(list).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
        for there in steps.iter_mut().filter_map(|step| step.get_mut(key)).filter(|there| *there != empty) {
            empty.clone_into(there);
            count += 1;
        }
    }
    if count > 0 {
        left_out(object, key, count);
    }
    limit.fits(value)
}

fn left_out(object: &mut Map<String, Value>, what: &str, count: usize) {
    if let Value::Object(left_out) = object.entry("leftOut").or_insert_with(|| json!({})) {
        left_out.insert(what.to_owned(), json!(count));
    }
}

/// For very many entries: the later ones are named no more, only counted.
fn shorten_lists(value: &mut Value, limit: &Limit) -> bool {
    const LISTS: [&str; 14] = [
        "intermediateResults",
        "partialResults",
        "steps",
        "completedSteps",
        "skipped",
        "mappings",
        "warnings",
        "missing",
        "nodes",
        "edges",
        "findings",
        "usedBy",
        "inputs",
        "failures",
    ];
    for key in LISTS {
        let Some(items) = value.get_mut(key).and_then(Value::as_array_mut).filter(|items| items.len() > 1) else {
            continue;
        };
        let mut items = std::mem::take(items);
        let all = items.len();
        let mut begun = limit.measure(&json_of(value)).plus(MARKS);
        let mut keep = items.iter().take_while(|item| {
            begun = begun.plus(limit.measure(&format!("{item},")));
            limit.holds(begun)
        });
        let mut keep = keep.by_ref().count();
        loop {
            items.truncate(keep.max(1));
            if let Value::Object(object) = value {
                object.insert(key.to_owned(), Value::Array(items.clone()));
                left_out(object, key, all - items.len());
            }
            let fits = limit.fits(value);
            if fits {
                return true;
            }
            if keep <= 1 {
                break;
            }
            keep = shorter(keep.max(2)).min(keep - 1);
        }
    }
    false
}

/// The last to give way: a final result that is no text but a list or an object becomes one.
fn squeeze_as_text(value: &mut Value, limit: &Limit) -> bool {
    let as_text = |value: &mut Value| {
        if value.is_object() || value.is_array() {
            *value = Value::String(value.to_string());
        }
    };
    if let Some(last) = value.get_mut("finalResult") {
        as_text(last);
    }
    if let Some(Value::Object(results)) = value.get_mut("results") {
        results.values_mut().for_each(as_text);
    }
    squeeze(value, Part::Final, limit, FLOOR)
}

#[cfg(test)]
mod tests;
