//! Keeping a reply small: long texts keep their beginning, and say how to read the rest.
//!
//! What gives way, in this order, and only as far as it takes: the values that steps saw, down to
//! [`FLOOR`] characters each; what steps put out and failures say, down to the same; a final result
//! beyond [`FINAL`] characters. Where that is not enough, those values and then those outputs are
//! left out, the later steps are only counted, and last of all the final result comes down to
//! [`FLOOR`] too. Every cut is looked at once more as it will be sent, so a reply is within its limit
//! or has nothing left to give; then it says so.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::limit::{Limit, Size, json_of};

/// What was cut to fit the reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// How to read what was cut, where `nextStep` says something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// True when texts were cut to fit the reply.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
    /// Name of a list to how many of its entries were left out to fit the reply.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) left_out: BTreeMap<&'static str, usize>,
}

/// What was cut of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepCut {
    /// True when texts of this step were cut to fit the reply.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
    /// Length of the whole output in characters; where it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_length: Option<usize>,
}

/// The shortest beginning that a cut text keeps, in characters; with what is said behind it, about 120.
const FLOOR: usize = 80;
/// How much of the final result is kept as long as anything else can give way, in characters.
const FINAL: usize = 4_000;
/// What saying that a text was cut takes, at the most, in characters: a text that is longer than
/// its share by less than this is left alone.
const SAID: usize = 40;
/// What a cut adds to a reply, at the most: the words behind the text, and the marks at its step.
const MARKS: Size = Size { characters: 120, bytes: 280, tokens: 40 };

/// What of an answer gives way, always in the same order, and where that is said.
#[derive(Debug)]
pub(super) struct CutParts<'a> {
    pub(super) cut: &'a mut Cut,
    /// The call that comes next.
    pub(super) next_step: &'a mut Option<String>,
    /// What its steps saw and put out.
    pub(super) steps: Vec<StepPieces<'a>>,
    /// What failures and warnings say; names, ids and codes beside that are left alone.
    pub(super) messages: Vec<&'a mut String>,
    /// What all came to.
    pub(super) finals: Vec<CutWords<'a>>,
}

/// An answer whose texts and lists give way to a limit.
pub(super) trait Cuttable: Serialize {
    /// What of it gives way.
    fn parts(&mut self) -> CutParts<'_>;

    /// Leaves out the later entries of its lists, with [`shorten`]. Says whether that was enough.
    fn shorten_lists(&mut self, limit: &Limit) -> bool;
}

/// What is cut together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutPart {
    /// The values that steps saw.
    Seen,
    /// What steps put out, and what failures and warnings say.
    PutOut,
    /// What all came to.
    Final,
}

/// Something that holds texts.
#[derive(Debug)]
pub(super) enum CutWords<'a> {
    /// One text.
    Text(&'a mut String),
    /// A value with the texts in it.
    Value(&'a mut Value),
    /// Values by name.
    Values(&'a mut Map<String, Value>),
}

impl CutWords<'_> {
    /// Does something to every text; the longest one's whole length where any is cut.
    fn each(&mut self, act: &mut Act<'_>) -> Option<usize> {
        match self {
            Self::Text(text) => act(text),
            Self::Value(value) => texts(value, act),
            Self::Values(values) => values.values_mut().filter_map(|value| texts(value, act)).max(),
        }
    }

    /// Leaves the values out; says whether there were any. A text is what its step is about, and stays.
    fn leave_out(&mut self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Value(value) => !std::mem::take(*value).is_null(),
            Self::Values(values) => !std::mem::take(*values).is_empty(),
        }
    }

    /// Writes lists and objects as texts, which can be cut.
    fn into_texts(self) {
        let as_text = |value: &mut Value| {
            if value.is_object() || value.is_array() {
                *value = Value::String(value.to_string());
            }
        };
        match self {
            Self::Text(_) => {}
            Self::Value(value) => as_text(value),
            Self::Values(values) => values.values_mut().for_each(as_text),
        }
    }
}

/// Something of a step that can give way.
#[derive(Debug)]
pub(super) struct CutPiece<'a> {
    name: &'static str,
    part: CutPart,
    words: CutWords<'a>,
}

impl<'a> CutPiece<'a> {
    /// The field of this name.
    pub(super) fn new(name: &'static str, part: CutPart, words: CutWords<'a>) -> Self {
        Self { name, part, words }
    }
}

/// What can give way of one step, and where that is said.
#[derive(Debug)]
pub(super) struct StepPieces<'a> {
    pub(super) pieces: Vec<CutPiece<'a>>,
    pub(super) cut: &'a mut StepCut,
}

/// Cuts an answer until it is within its limit; `rest` is a sentence that says how the whole is had.
pub(super) fn fit<A: Cuttable>(mut answer: A, limit: &Limit, rest: &str) -> A {
    if limit.fits(&answer) {
        return answer;
    }
    let CutParts { cut, next_step, .. } = answer.parts();
    cut.truncated = true;
    // Where it is said already what comes next, this stands beside it.
    let place = if next_step.is_none() { next_step } else { &mut cut.hint };
    *place = Some(rest.to_owned());
    let ways: [fn(&mut A, &Limit) -> bool; 8] = [
        |answer, limit| squeeze(answer, CutPart::Seen, limit, FLOOR),
        |answer, limit| squeeze(answer, CutPart::PutOut, limit, FLOOR),
        |answer, limit| squeeze(answer, CutPart::Final, limit, FINAL),
        |answer, limit| leave_out(answer, CutPart::Seen, limit),
        |answer, limit| leave_out(answer, CutPart::PutOut, limit),
        A::shorten_lists,
        |answer, limit| squeeze(answer, CutPart::Final, limit, FLOOR),
        squeeze_as_text,
    ];
    if !ways.iter().any(|way| way(&mut answer, limit)) {
        confess(answer.parts().next_step);
    }
    answer
}

/// Reading the whole of an execution's texts.
pub(super) fn rest_of_execution(id: &str) -> String {
    format!(
        "texts were cut to fit; flows_status with executionId {id} and nodeId (a step's id, or \"result\" for the final result) pages a whole text"
    )
}

/// Nothing more can give way.
fn confess(next_step: &mut Option<String>) {
    const WHY: &str = "the limit is smaller than the shortest answer: give a larger maxTokens";
    *next_step = Some(match next_step.take() {
        Some(step) => format!("{step}; {WHY}"),
        None => WHY.to_owned(),
    });
}

/// What is done to a text: the whole length, in characters, where that cuts it.
type Act<'a> = dyn FnMut(&mut String) -> Option<usize> + 'a;

/// Does something to every text of a part, always in the same order, and marks the steps whose texts are cut.
fn each_text(answer: &mut impl Cuttable, part: CutPart, act: &mut Act<'_>) {
    let CutParts { steps, messages, finals, .. } = answer.parts();
    if part == CutPart::Final {
        for mut words in finals {
            words.each(act);
        }
        return;
    }
    for step in steps {
        for mut piece in step.pieces.into_iter().filter(|piece| piece.part == part) {
            let Some(whole) = piece.words.each(act) else { continue };
            step.cut.truncated = true;
            if part == CutPart::PutOut && matches!(&piece.words, CutWords::Value(value) if value.is_string()) {
                step.cut.output_length = Some(whole);
            }
        }
    }
    if part == CutPart::PutOut {
        for message in messages {
            act(message);
        }
    }
}

/// Every text within a value; the longest one's whole length where any is cut.
fn texts(value: &mut Value, act: &mut Act<'_>) -> Option<usize> {
    match value {
        Value::String(text) => act(text),
        Value::Array(items) => items.iter_mut().filter_map(|item| texts(item, act)).max(),
        Value::Object(object) => object.values_mut().filter_map(|item| texts(item, act)).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Cuts every text of a part to the same length: the largest that is within the limit, but no
/// shorter than `least` characters. Says whether that was enough.
fn squeeze(answer: &mut impl Cuttable, part: CutPart, limit: &Limit, least: usize) -> bool {
    let mut wholes: Vec<String> = Vec::new();
    each_text(answer, part, &mut |text| {
        wholes.push(std::mem::take(text));
        None
    });
    let without = limit.measure(&json_of(answer));
    // Where all else is too much already, nothing of these texts can help.
    let hopeless = !limit.holds(without);
    let mut kept = if hopeless { least } else { longest_fitting(&wholes, without, limit, least) };
    loop {
        let mut whole = wholes.iter();
        each_text(answer, part, &mut |text| {
            let whole = whole.next()?;
            let (cut, length) = beginning(whole, kept);
            *text = cut;
            length
        });
        let fits = !hopeless && limit.fits(answer);
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
pub(super) fn beginning(whole: &str, kept: usize) -> (String, Option<usize>) {
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

/// Empties a part in every step, and counts the steps that had it.
fn leave_out(answer: &mut impl Cuttable, part: CutPart, limit: &Limit) -> bool {
    let CutParts { cut, steps, .. } = answer.parts();
    for mut piece in steps.into_iter().flat_map(|step| step.pieces).filter(|piece| piece.part == part) {
        if piece.words.leave_out() {
            *cut.left_out.entry(piece.name).or_default() += 1;
        }
    }
    limit.fits(answer)
}

/// Leaves out the later entries of a very long list: they are only counted. Says whether that was enough.
pub(super) fn shorten<A: Cuttable, T: Serialize>(
    answer: &mut A,
    name: &'static str,
    list: fn(&mut A) -> Option<&mut Vec<T>>,
    limit: &Limit,
) -> bool {
    let Some(mut items) = list(answer).filter(|items| items.len() > 1).map(std::mem::take) else { return false };
    let all = items.len();
    let mut begun = limit.measure(&json_of(answer)).plus(MARKS);
    let fitting = items.iter().take_while(|item| {
        begun = begun.plus(limit.measure(&format!("{},", json_of(item))));
        limit.holds(begun)
    });
    let mut keep = fitting.count().max(1);
    loop {
        items.truncate(keep);
        answer.parts().cut.left_out.insert(name, all - keep);
        match list(answer) {
            Some(place) => *place = items,
            None => return false,
        }
        if limit.fits(answer) {
            return true;
        }
        if keep <= 1 {
            return false;
        }
        keep = shorter(keep).min(keep - 1);
        items = list(answer).map(std::mem::take).unwrap_or_default();
    }
}

/// The last to give way: a final result that is no text but a list or an object becomes one.
fn squeeze_as_text(answer: &mut impl Cuttable, limit: &Limit) -> bool {
    answer.parts().finals.into_iter().for_each(CutWords::into_texts);
    squeeze(answer, CutPart::Final, limit, FLOOR)
}

#[cfg(test)]
mod tests;
