//! Reads the tests of a `tests/*.flowtest.json`.

use serde_json::{Map, Value};

use super::{said, text, texts};
use crate::document::{Document, Pointer};
use crate::model::{Expectation, Expected, FlowTest, Mock, Pattern};

/// Whether a path is that of a file of tests.
pub fn is_tests(path: &str) -> bool {
    const ENDING: &str = ".flowtest.json";
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let cut = name.len().saturating_sub(ENDING.len());
    cut > 0 && name.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(ENDING))
}

/// Whether a path of a catalog is that of a file of tests which is run with it.
pub fn is_among_tests(path: &str) -> bool {
    path.starts_with("tests/") && is_tests(path) && !path.split('/').any(|part| part.starts_with('.'))
}

/// The tests of a file: one, or a list of them. What is none, or names no flow, is left out: the schema says so.
pub fn read_tests(document: &Document) -> Vec<FlowTest> {
    match &document.value {
        Value::Array(items) => {
            let test = |(place, item)| read_test(item, Pointer::root().item(place));
            items.iter().enumerate().filter_map(test).collect()
        }
        one => read_test(one, Pointer::root()).into_iter().collect(),
    }
}

fn read_test(value: &Value, pointer: Pointer) -> Option<FlowTest> {
    let test = value.as_object()?;
    let object = |key: &str| test.get(key).and_then(Value::as_object);
    let mocks = object("mocks").into_iter().flatten();
    Some(FlowTest {
        name: said(test, "name"),
        flow: said(test, "flow")?,
        inputs: object("inputs").cloned().unwrap_or_default(),
        mocks: mocks.filter_map(|(id, mock)| Some((id.clone(), mock_of(mock.as_object()?)?))).collect(),
        guided: test.get("guided").and_then(Value::as_bool).unwrap_or(false),
        expected: object("expect").map(expected).unwrap_or_default(),
        pointer,
    })
}

fn mock_of(mock: &Map<String, Value>) -> Option<Mock> {
    let error = || text(mock, "error").map(Mock::Error);
    let json = || mock.get("json").cloned().map(Mock::Json);
    text(mock, "text").map(Mock::Text).or_else(json).or_else(error)
}

fn expected(expect: &Map<String, Value>) -> Expected {
    let by_name = |key: &str| {
        let named = expect.get(key).and_then(Value::as_object).into_iter().flatten();
        named.filter_map(|(name, value)| Some((name.clone(), expectation(value)?))).collect()
    };
    let list = |key: &str| expect.get(key).is_some_and(Value::is_array).then(|| texts(expect, key));
    Expected {
        status: text(expect, "status"),
        final_result: expect.get("finalResult").and_then(expectation),
        results: by_name("results"),
        steps: by_name("steps"),
        prompts: by_name("prompts"),
        missing: list("missing"),
        findings: list("findings"),
    }
}

fn expectation(value: &Value) -> Option<Expectation> {
    let one_or_more = |parts: &Map<String, Value>, key: &str| match parts.get(key) {
        Some(Value::String(one)) => vec![one.clone()],
        _ => texts(parts, key),
    };
    match value {
        Value::Null => Some(Expectation { nothing: true, ..Expectation::default() }),
        Value::String(exact) => Some(Expectation { exact: Some(exact.clone()), ..Expectation::default() }),
        Value::Object(parts) => {
            let fields = parts.get("fields").and_then(Value::as_object).into_iter().flatten();
            Some(Expectation {
                contains: one_or_more(parts, "contains"),
                matches: one_or_more(parts, "matches").iter().map(|pattern| Pattern::of(pattern)).collect(),
                fields: fields.map(|(path, value)| (path.clone(), value.clone())).collect(),
                error: text(parts, "error"),
                ..Expectation::default()
            })
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}
