//! JSON that a caller wrote by hand, read as values: strictly, and with no key twice.
//!
//! Where the text came from, and what the values are for, is not known here.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Document, Position, value_as_written};
use crate::names::{CatalogPath, quoted};

/// Why a text gives no values, in words that name the place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    /// It is not JSON.
    #[error("this is not JSON: {0}")]
    NotJson(String),
    /// A key stands twice in one object, so that one of the two would be lost without a word.
    #[error("line {}, column {}: {key} stands twice, first at line {}, column {}", again.line, again.column, first.line, first.column)]
    Twice {
        /// The key, in quotation marks.
        key: String,
        /// Where it stands first.
        first: Position,
        /// Where it stands again.
        again: Position,
    },
}

/// Reads a JSON text.
///
/// # Errors
/// What is not strict JSON, is nested deeper than files may be, or holds a key twice.
pub fn read_values(text: &str) -> Result<Value, ValuesError> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|cause| ValuesError::NotJson(cause.to_string()))?;
    let path = CatalogPath::new("values.json").map_err(|error| ValuesError::NotJson(error.to_string()))?;
    let document = Document::parse(path, text.as_bytes()).map_err(|problem| {
        let Position { line, column } = problem.position;
        ValuesError::NotJson(format!("{} at line {line} column {column}", problem.message))
    })?;
    match document.duplicates.iter().min_by_key(|duplicate| duplicate.again.start) {
        None => value_as_written(text).ok_or_else(|| ValuesError::NotJson("it can't be read".to_owned())),
        Some(duplicate) => Err(ValuesError::Twice {
            key: quoted(&duplicate.pointer.steps().last().unwrap_or_default()),
            first: Position::of(&document.text, duplicate.first.start),
            again: Position::of(&document.text, duplicate.again.start),
        }),
    }
}

/// What a value is, as a message says it.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_refused_at_its_place_at_any_depth() {
        let told = |text: &str| read_values(text).map_err(|error| error.to_string());
        assert_eq!(
            told("{\"a\": 1,\n  \"b\": 2,\n  \"a\": 3}"),
            Err("line 3, column 3: \"a\" stands twice, first at line 1, column 2".to_owned())
        );
        assert!(told("{\"a\": [{\"c\": 1, \"c\": 1}]}").unwrap_err().starts_with("line 1, column 17: \"c\""));
        assert!(told("{\"a\": {\"b\": 1}, \"c\": {\"b\": 2}, \"d\": 1.10}").is_ok());
        assert!(told("{\"a\": 1,}").unwrap_err().contains("not JSON"));
        assert_eq!(told("3").unwrap(), serde_json::json!(3));
    }
}
