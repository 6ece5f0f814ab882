//! Variables: who declares them, what they may hold, and how a value reads as text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::document::{Pointer, read_values};
use crate::names::{Few, quoted};

/// A variable that a node or a template declares for its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The name as written.
    pub name: String,
    /// `required`, where it is said.
    pub required: Option<bool>,
    /// The type, where it is said.
    pub kind: Option<ValueType>,
    /// The default, where there is one.
    pub default: Option<Arc<Value>>,
    /// The description, where there is one.
    pub description: Option<Arc<str>>,
    /// Where it is declared, in the file of the node or template.
    pub pointer: Pointer,
}

/// A variable that an input node declares.
#[derive(Debug, Clone, PartialEq)]
pub struct InputVariable {
    /// The name as written.
    pub name: String,
    /// The default, where there is one: a `value` that is not empty, or a `default`.
    pub default: Option<Arc<Value>>,
    /// Where it is declared.
    pub pointer: Pointer,
}

/// What a flow's `inputs` says of one variable; it wins over input nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Refinement {
    /// The name as written.
    pub name: String,
    /// The type, where it is said.
    pub kind: Option<ValueType>,
    /// What the variable is for.
    pub description: Option<String>,
    /// `required`, where it is said.
    pub required: Option<bool>,
    /// The default, where there is one (not null).
    pub default: Option<Arc<Value>>,
    /// `enum`: the only values allowed; empty when anything is.
    pub choices: Vec<Value>,
    /// Where it stands.
    pub pointer: Pointer,
}

impl Refinement {
    /// Why a value does not fit, in words that follow "the value"; none where it does.
    pub fn misfit(&self, value: &Value) -> Option<String> {
        if let Some(kind) = self.kind
            && !kind.fits(value)
        {
            return Some(format!("is {}, and its type is {kind}", quoted(&text_of(value))));
        }
        if !self.choices.is_empty() && !is_among(&self.choices, value, self.kind) {
            let choices = Few::told(&self.choices, |choice| quoted(&text_of(choice))).joined(", ");
            return Some(format!("is {}, and only {choices} are allowed", quoted(&text_of(value))));
        }
        None
    }
}

/// A named set of values that a caller may choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariableSet {
    /// Its name.
    pub name: String,
    /// Its values, in file order.
    pub values: Vec<(String, Value)>,
    /// Where it stands, in the file of the node or template.
    #[serde(skip)]
    pub pointer: Pointer,
}

impl VariableSet {
    /// The set, without where it stands: that only concerns who checks the file.
    #[must_use]
    pub fn without_place(&self) -> Self {
        Self { pointer: Pointer::root(), ..self.clone() }
    }
}

/// The types an input may be held to (those of JSON Schema).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueType {
    /// Any text; numbers and booleans are fine too.
    String,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// True or false.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl ValueType {
    /// Every type, with the names it goes by; the first is the one we write.
    pub const ALL: [(Self, &'static [&'static str]); 6] = [
        (Self::String, &["string", "str", "text"]),
        (Self::Number, &["number", "num", "float"]),
        (Self::Integer, &["integer", "int"]),
        (Self::Boolean, &["boolean", "bool"]),
        (Self::Array, &["array", "list"]),
        (Self::Object, &["object", "dict"]),
    ];

    /// Reads a type's name.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, names)| names.contains(&text)).map(|(kind, _)| *kind)
    }

    /// The type's name as JSON Schema has it.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(kind, _)| *kind == self)
            .and_then(|(_, names)| names.first().copied())
            .unwrap_or("string")
    }

    /// Whether a value may stand for this type: numbers and booleans for a text, and a text that
    /// reads as the number or boolean, or is the JSON of the list or object, for those.
    pub fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::String, Value::String(_) | Value::Number(_) | Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::Array, Value::Array(_))
            | (Self::Object, Value::Object(_)) => true,
            (Self::Integer, Value::Number(number)) => whole(&number.to_string()),
            (Self::Number, Value::String(text)) => is_number(text),
            (Self::Integer, Value::String(text)) => is_number(text) && whole(text.trim()),
            (Self::Boolean, Value::String(text)) => matches!(text.trim(), "true" | "false"),
            (Self::Array | Self::Object, Value::String(_)) => self.nested(value).is_some(),
            _ => false,
        }
    }

    /// The list or the object that a text is the JSON of, where this type is that: surfaces whose values are
    /// texts, and callers who write JSON as a text, mean it.
    pub fn nested(self, value: &Value) -> Option<Value> {
        let begins = match self {
            Self::Array => '[',
            Self::Object => '{',
            Self::String | Self::Number | Self::Integer | Self::Boolean => return None,
        };
        let text = value.as_str().filter(|text| text.trim_start().starts_with(begins))?;
        read_values(text).ok()
    }

    /// A value of this type where the value's text reads as one (the app writes every default as a
    /// text), and the text of a number or boolean that is to be one. What does not fit stays as it is.
    pub fn typed(self, value: Value) -> Value {
        match (self, &value) {
            (Self::Array | Self::Object, Value::String(_)) => self.nested(&value).unwrap_or(value),
            (Self::Number | Self::Integer | Self::Boolean, Value::String(text)) if self.fits(&value) => {
                serde_json::from_str(text.trim()).unwrap_or(value)
            }
            (Self::String, Value::Number(_) | Value::Bool(_)) => Value::String(value.to_string()),
            _ => value,
        }
    }

    /// A value of this type, to show what one looks like.
    pub fn sample(self) -> Value {
        match self {
            Self::String => json!("…"),
            Self::Number => json!(1.5),
            Self::Integer => json!(5),
            Self::Boolean => json!(true),
            Self::Array => json!(["…"]),
            Self::Object => json!({"key": "…"}),
        }
    }
}

/// Whether a value is one of the choices, compared as texts: the number 1 and the text "1" are one.
pub fn is_among(choices: &[Value], value: &Value, kind: Option<ValueType>) -> bool {
    let nested = kind.and_then(|kind| kind.nested(value));
    let text = text_of(nested.as_ref().unwrap_or(value));
    choices.iter().any(|choice| {
        let nested = kind.and_then(|kind| kind.nested(choice));
        text_of(nested.as_ref().unwrap_or(choice)) == text
    })
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn is_number(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text.trim()), Ok(Value::Number(_)))
}

/// Whether a JSON number has no fraction: `3`, `3.0`, `1e3` and `1.5e1` have none.
fn whole(number: &str) -> bool {
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let fraction = digits.split_once('.').map_or("", |(_, fraction)| fraction).trim_end_matches('0');
    let zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
    let before = digits.split('.').next().unwrap_or_default();
    let zeros = before.len() - before.trim_end_matches('0').len();
    zero || exponent.parse::<i64>().is_ok_and(|exponent| {
        let room = if fraction.is_empty() {
            -i64::try_from(zeros).unwrap_or(0)
        } else {
            i64::try_from(fraction.len()).unwrap_or(i64::MAX)
        };
        exponent >= room
    })
}

/// How a value reads in a text: a text raw, numbers as written, null as nothing, anything else
/// as compact JSON.
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// A value as a text: a text as it is, anything else, also null, as JSON.
pub fn text_or_json(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_that_reads_as_the_type_fits_it() {
        let both = |number: &str| [serde_json::from_str(number).expect("a number"), json!(number)];
        for (kind, fits, misfits) in [
            (ValueType::String, vec![json!("x"), json!(1), json!(true)], vec![json!([]), json!({})]),
            (
                ValueType::Number,
                vec![json!(1.5), json!("1.5"), json!("-2e3")],
                vec![json!("x"), json!(true), json!("")],
            ),
            (
                ValueType::Integer,
                ["3", "-3", "3.0", "1e3", "1.50E1", "100e-2", "0.0", "-0", "0e-9"]
                    .iter()
                    .flat_map(|n| both(n))
                    .collect(),
                ["1.5", "1e-1", "15e-1", "1.55e1", "0.1"]
                    .iter()
                    .flat_map(|n| both(n))
                    .chain([json!("x"), json!("")])
                    .collect(),
            ),
            (ValueType::Boolean, vec![json!(true), json!("false")], vec![json!("yes"), json!(1)]),
            (
                ValueType::Array,
                vec![json!([1]), json!("[1]"), json!(" [] ")],
                vec![json!("{}"), json!("a, b"), json!("[1"), json!("")],
            ),
            (
                ValueType::Object,
                vec![json!({}), json!("{}"), json!("\n{\"a\": 1.0}")],
                vec![json!("[1]"), json!("{a: 1}"), json!("{\"a\": 1, \"a\": 2}")],
            ),
        ] {
            for value in fits {
                assert!(kind.fits(&value), "{kind} {value}");
            }
            for value in misfits {
                assert!(!kind.fits(&value), "{kind} {value}");
            }
        }
    }

    #[test]
    fn a_text_that_reads_as_a_value_of_its_type_becomes_one() {
        for (kind, text, typed) in [
            (ValueType::Number, "80", "80"),
            (ValueType::Number, " 1.50 ", "1.50"),
            (ValueType::Integer, "3", "3"),
            (ValueType::Boolean, "true", "true"),
            (ValueType::Boolean, "yes", "\"yes\""),
            (ValueType::Number, "many", "\"many\""),
            (ValueType::String, "80", "\"80\""),
            (ValueType::Array, " [1.50] ", "[1.50]"),
            (ValueType::Object, "{\"k\": 1E3}", "{\"k\":1E3}"),
            (ValueType::Object, "[1]", "\"[1]\""),
            (ValueType::String, "{}", "\"{}\""),
        ] {
            assert_eq!(kind.typed(json!(text)).to_string(), typed, "{kind} {text}");
        }
    }

    #[test]
    fn values_read_as_people_expect() {
        let value: Value = serde_json::from_str(r#"{"tone":"dry","len":2.50}"#).expect("json");
        assert_eq!(text_of(&value), r#"{"tone":"dry","len":2.50}"#);
        assert_eq!(text_of(&json!(0)), "0");
        assert_eq!(text_of(&json!(false)), "false");
        assert_eq!(text_of(&json!("a\"b")), "a\"b");
    }
}
