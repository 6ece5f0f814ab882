//! Keeping a reply small: the longest texts keep their beginning, and say how to read the rest.

use serde_json::{Map, Value, json};

/// How many estimated tokens a reply may have unless the caller says otherwise.
pub const MAX_TOKENS: usize = 20_000;
/// How many characters a failure may have unless the caller says otherwise: some clients cut
/// error results near 11,000.
pub const FAILURE_CHARACTERS: usize = 10_000;
/// The largest message to a client, in bytes: some refuse results from 1 MiB on.
pub const LARGEST_FRAME: usize = 1_000_000;
/// What a message has around its result, in bytes; ids and names of it are short.
const AROUND: usize = 4_096;
/// The shortest beginning that a text keeps, in characters.
const SHORTEST: usize = 120;

/// Whether a reply can be sent: it travels twice in one message, as JSON and as a text of that JSON.
pub fn frame_fits(value: &Value) -> bool {
    let json = value.to_string();
    // In a text, quotation marks and backslashes take one byte more; nothing else is left to escape.
    let escapes = json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    json.len().saturating_mul(2).saturating_add(escapes).saturating_add(AROUND) <= LARGEST_FRAME
}

/// One long text of a reply, and how willingly it is cut.
struct Text {
    /// Where: keys and indexes from the root.
    path: Vec<Step>,
    /// Whether it is (part of) the final result, which is cut last.
    last: bool,
}

#[derive(Clone)]
enum Step {
    Key(String),
    Item(usize),
}

/// Cuts a reply until `fits` says it does. Values that steps saw go first, then outputs, then the
/// final result; each keeps its beginning, its whole length and the call that pages the rest.
pub fn fit(whole: Value, execution: &str, fits: &dyn Fn(&Value) -> bool) -> Value {
    if fits(&whole) {
        return whole;
    }
    let mut value = whole;
    mark(&mut value, execution);
    let mut longest = 65_536;
    while longest >= SHORTEST {
        for last in [false, true] {
            // The final result gives way only when everything else is short already.
            if last && longest > 4_096 && !only_final_is_long(&value, longest) {
                continue;
            }
            cut(&mut value, longest, last);
            if fits(&value) {
                return value;
            }
        }
        longest /= 2;
    }
    drop_steps(&mut value, fits);
    value
}

fn mark(value: &mut Value, execution: &str) {
    if let Value::Object(object) = value {
        object.insert("truncated".to_owned(), json!(true));
        if !execution.is_empty() {
            let how = format!(
                "texts were cut to fit; flows_status with executionId {execution} and nodeId (a step's id, or \"result\" for the final result) pages a whole text"
            );
            let key = if object.contains_key("code") { "hint" } else { "nextStep" };
            object.insert(key.to_owned(), json!(how));
        }
    }
}

fn only_final_is_long(value: &Value, longest: usize) -> bool {
    texts(value).iter().filter(|text| !text.last).all(|text| length(value, &text.path) <= longest)
}

fn cut(value: &mut Value, longest: usize, last: bool) {
    for text in texts(value).into_iter().filter(|text| text.last == last) {
        shorten(value, &text.path, longest);
    }
}

/// Every text of the parts of a reply that hold outputs and variables.
fn texts(value: &Value) -> Vec<Text> {
    let mut found = Vec::new();
    let Value::Object(object) = value else { return found };
    for key in ["intermediateResults", "partialResults", "steps"] {
        if let Some(part) = object.get(key) {
            collect(part, vec![Step::Key(key.to_owned())], false, &mut found);
        }
    }
    for key in ["finalResult", "results", "text"] {
        if let Some(part) = object.get(key) {
            collect(part, vec![Step::Key(key.to_owned())], true, &mut found);
        }
    }
    found
}

fn collect(value: &Value, path: Vec<Step>, last: bool, found: &mut Vec<Text>) {
    let deeper = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
    match value {
        Value::String(_) => found.push(Text { path, last }),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, deeper(Step::Item(index)), last, found);
            }
        }
        Value::Object(object) => {
            for (key, item) in object {
                collect(item, deeper(Step::Key(key.clone())), last, found);
            }
        }
        _ => {}
    }
}

fn reach<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    let mut here = value;
    for step in path {
        here = match step {
            Step::Key(key) => here.as_object_mut()?.get_mut(key)?,
            Step::Item(index) => here.as_array_mut()?.get_mut(*index)?,
        };
    }
    Some(here)
}

fn length(value: &Value, path: &[Step]) -> usize {
    let mut here = Some(value);
    for step in path {
        here = here.and_then(|here| match step {
            Step::Key(key) => here.get(key),
            Step::Item(index) => here.get(*index),
        });
    }
    here.and_then(Value::as_str).map_or(0, |text| text.chars().count())
}

fn shorten(value: &mut Value, path: &[Step], longest: usize) {
    // The step object that a text belongs to says that it was cut, and how long it was.
    let step = match path {
        [key @ Step::Key(_), item @ Step::Item(_), ..] => Some(vec![key.clone(), item.clone()]),
        _ => None,
    };
    let Some(Value::String(text)) = reach(value, path) else { return };
    let already = text.ends_with(']') && text.contains("… [cut: ");
    let count = text.chars().count();
    if count <= longest {
        return;
    }
    let whole = if already { whole_length(text).unwrap_or(count) } else { count };
    let kept: String = text.chars().take(longest.saturating_sub(40).max(SHORTEST / 2)).collect();
    *text = format!("{kept}… [cut: {whole} characters in all]");
    let output = matches!(path.last(), Some(Step::Key(key)) if key == "output");
    if let Some(step) = step
        && let Some(Value::Object(object)) = reach(value, &step)
    {
        note(object, output, whole);
    }
}

fn note(object: &mut Map<String, Value>, output: bool, whole: usize) {
    object.insert("truncated".to_owned(), json!(true));
    if output {
        object.insert("outputLength".to_owned(), json!(whole));
    }
}

fn whole_length(text: &str) -> Option<usize> {
    text.rsplit("[cut: ").next()?.split(' ').next()?.parse().ok()
}

/// The last resort for very many steps: the middle ones are named no more, only counted.
fn drop_steps(value: &mut Value, fits: &dyn Fn(&Value) -> bool) {
    for key in ["intermediateResults", "partialResults", "steps", "skipped", "failures", "mappings", "warnings"] {
        let mut dropped = 0_usize;
        while !fits(value) {
            let Some(items) = value.get_mut(key).and_then(Value::as_array_mut).filter(|items| items.len() > 2) else {
                break;
            };
            let keep = items.len() / 2;
            dropped += items.len() - keep;
            items.truncate(keep);
        }
        if dropped > 0
            && let Value::Object(object) = value
        {
            let left_out = object.entry("leftOut").or_insert_with(|| json!({}));
            if let Value::Object(left_out) = left_out {
                left_out.insert(key.to_owned(), json!(dropped));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(step: usize, last: usize) -> Value {
        json!({
            "finalResult": "f".repeat(last),
            "intermediateResults": [{"nodeId": "a", "inputVariables": {"x": "y".repeat(step)}, "output": "é".repeat(step)}],
            "status": "success",
        })
    }

    #[test]
    fn what_fits_is_left_alone() {
        let whole = reply(10, 10);
        assert_eq!(fit(whole.clone(), "id", &|value| value.to_string().len() < 10_000), whole);
    }

    #[test]
    fn the_final_result_is_cut_last_and_lengths_are_told() {
        let fitted = fit(reply(50_000, 3_000), "id_1", &|value| value.to_string().chars().count() <= 10_000);
        assert!(fitted.to_string().chars().count() <= 10_000);
        assert_eq!(fitted["finalResult"].as_str().map(str::len), Some(3_000));
        let step = &fitted["intermediateResults"][0];
        assert_eq!((step["truncated"].as_bool(), step["outputLength"].as_u64()), (Some(true), Some(50_000)));
        assert!(fitted["nextStep"].as_str().is_some_and(|how| how.contains("flows_status") && how.contains("id_1")));
    }

    #[test]
    fn a_long_final_result_keeps_its_beginning() {
        let fitted = fit(reply(10, 500_000), "id", &|value| value.to_string().chars().count() <= 10_000);
        let text = fitted["finalResult"].as_str().expect("text");
        assert!(
            text.starts_with("fff") && text.ends_with("[cut: 500000 characters in all]"),
            "{}",
            &text[text.len() - 60..]
        );
        assert!(fitted.to_string().chars().count() <= 10_000);
    }

    #[test]
    fn thousands_of_short_steps_fit_too() {
        let steps: Vec<Value> = (0..5_000).map(|n| json!({"nodeId": format!("n{n}"), "output": "x"})).collect();
        let fitted = fit(json!({"finalResult": "x", "intermediateResults": steps}), "id", &|value| {
            value.to_string().len() <= 10_000
        });
        assert!(fitted.to_string().len() <= 10_000);
        assert!(fitted["leftOut"]["intermediateResults"].as_u64().is_some_and(|n| n > 4_000));
    }
}
