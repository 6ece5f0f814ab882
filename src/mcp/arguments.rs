//! Checking arguments, and putting right what clients are known to get wrong.
//!
//! In this order: a JSON text where an object or a list is wanted becomes one; `snake_case` and
//! former names become the name; a top-level null or empty text is as good as absent; anything
//! left over is refused with the nearest name. What lies inside an object is never touched.

use serde_json::{Map, Number, Value, json};

use super::parameter::{Kind, Parameter, parameter_named};
use crate::app::{Detail, Error, ExposedFlow, read_values};
use crate::names::{few, nearest, nfc, quoted};

/// The most unknown arguments that are told of one call.
const MOST_UNKNOWN: usize = 20;

/// Arguments that fit their tool's table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arguments {
    values: Map<String, Value>,
}

impl Arguments {
    /// Checks what a client sent.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, with what would be right.
    pub(super) fn read(tool: &str, parameters: &'static [Parameter], sent: Map<String, Value>) -> Result<Self, Error> {
        let mut values = Map::new();
        let mut unknown: Vec<String> = Vec::new();
        let mut objects: Vec<String> = Vec::new();
        for (name, value) in sent {
            let Some(parameter) = parameter_named(parameters, &name) else {
                if !absent(&value) {
                    objects.extend(value.is_object().then(|| quoted(&name)));
                    unknown.push(name);
                }
                continue;
            };
            if absent(&value) {
                continue;
            }
            let value = parameter.put_right(value)?;
            match values.get(parameter.name) {
                Some(before) if *before != value => return Err(given_twice(parameter.name)),
                _ => {
                    values.insert(parameter.name.to_owned(), value);
                }
            }
        }
        if !unknown.is_empty() {
            let names = parameters.iter().filter(|parameter| parameter.listed).map(|parameter| parameter.name);
            let error = unknown_names(tool, names, &unknown);
            let Some(next) = error.next_step.as_ref().map(|next| next.for_tools().to_owned()) else {
                return Err(error);
            };
            if parameter_named(parameters, "initialVariables").is_none() || next.starts_with("did you mean") {
                return Err(error);
            }
            let how = match objects.first() {
                Some(object) => format!("give the values of the flow's inputs as initialVariables instead of {object}"),
                None => {
                    let values = few(unknown.iter().map(|name| format!("{}: …", quoted(name))));
                    format!("give values of the flow's inputs as initialVariables: {{{values}}}")
                }
            };
            return Err(error.next(format!("{how}; {next}")));
        }
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            if !values.contains_key(parameter.name) {
                return Err(refused(
                    parameter.name,
                    format!("`{}` is missing: {tool} can't do without it", parameter.name),
                    format!("give `{}`: {}", parameter.name, parameter.description),
                ));
            }
        }
        Ok(Self { values })
    }

    /// Reads what was sent to a flow that is a tool, as the arguments of `flows_execute`. Values are
    /// the flow's business; an input may be given by its own name where the schema calls it otherwise.
    ///
    /// # Errors
    /// `INVALID_REQUEST` for a name that the flow does not take, or one that is given twice.
    pub(super) fn of_flow(flow: &ExposedFlow, sent: Map<String, Value>) -> Result<Self, Error> {
        let mut variables = Map::new();
        let mut unknown: Vec<String> = Vec::new();
        for (sent_as, value) in sent {
            let normal = nfc(&sent_as);
            let found = flow.arguments.iter().find(|argument| argument.key == sent_as || argument.name == normal);
            let Some(argument) = found.filter(|_| !value.is_null()) else {
                if !absent(&value) {
                    unknown.push(sent_as);
                }
                continue;
            };
            match variables.get(&argument.name) {
                Some(before) if *before != value => return Err(given_twice(&argument.key)),
                _ => drop(variables.insert(argument.name.clone(), value)),
            }
        }
        if !unknown.is_empty() {
            let names = flow.arguments.iter().map(|argument| argument.key.as_str());
            return Err(unknown_names(&flow.tool, names, &unknown));
        }
        let mut values = Map::new();
        values.insert("flowName".to_owned(), json!(flow.flow));
        values.insert("initialVariables".to_owned(), Value::Object(variables));
        // Who calls a flow as a tool can't ask for more.
        values.insert("detail".to_owned(), json!(Detail::Full.word()));
        Ok(Self { values })
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(Value::as_str)
    }

    /// A text of one's own.
    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    /// A whole number.
    pub(super) fn count(&self, name: &str) -> Option<i64> {
        self.values.get(name).and_then(Value::as_i64)
    }

    /// A number with a fraction.
    pub(super) fn seconds(&self, name: &str) -> Option<f64> {
        self.values.get(name).and_then(Value::as_f64)
    }

    /// True or false.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.values.get(name).and_then(Value::as_bool)
    }

    /// A list of texts; empty when absent.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let items = self.values.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// An object; empty when absent.
    pub(super) fn values(&self, name: &str) -> Map<String, Value> {
        self.values.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// Whatever was given.
    pub(super) fn anything(&self, name: &str) -> Option<Value> {
        self.values.get(name).cloned()
    }

    /// The arguments given that are on their way out, each with what to use instead.
    pub(super) fn deprecated(&self, parameters: &'static [Parameter]) -> Vec<(&'static str, &'static str)> {
        let given = parameters.iter().filter(|parameter| self.values.contains_key(parameter.name));
        given.filter_map(|parameter| Some((parameter.name, parameter.replaced_by?))).collect()
    }
}

fn absent(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

fn refused(name: &str, message: impl Into<String>, next: impl Into<String>) -> Error {
    Error::invalid(message).next(next).detail("argument", json!(name))
}

fn given_twice(name: &str) -> Error {
    let message = format!("`{name}` is given twice, with different values");
    refused(name, message, format!("give `{name}` once"))
}

fn unknown_names<'n>(tool: &str, names: impl Iterator<Item = &'n str> + Clone, unknown: &[String]) -> Error {
    let (told, more) = unknown.split_at(unknown.len().min(MOST_UNKNOWN));
    let meant = told.iter().filter_map(|name| {
        nearest(name, names.clone(), 1).first().map(|near| format!("did you mean `{near}` by {}?", quoted(name)))
    });
    let meant: Vec<String> = meant.collect();
    let names = names.collect::<Vec<_>>().join(", ");
    let all = format!("{tool} takes {}", if names.is_empty() { "no arguments" } else { &names });
    let next = if meant.is_empty() { all } else { format!("{} {all}", meant.join(" ")) };
    let mut listed: Vec<String> = told.iter().map(|name| quoted(name)).collect();
    if !more.is_empty() {
        listed.push(format!("{} more", more.len()));
    }
    let arguments = if unknown.len() == 1 { "argument" } else { "arguments" };
    let message = format!("{tool} has no {arguments} {}", listed.join(", "));
    Error::invalid(message).next(next).detail("unknown", json!(told))
}

impl Parameter {
    /// The value in the kind that is wanted, where what was sent can only mean that.
    fn put_right(&self, value: Value) -> Result<Value, Error> {
        match self.kind {
            Kind::Text | Kind::File => match value {
                Value::String(_) => Ok(value),
                Value::Number(_) if self.kind == Kind::Text => Ok(Value::String(value.to_string())),
                Value::Object(_) if self.kind == Kind::File => Ok(Value::String(value.to_string())),
                other => Err(self.misfit(&other, "a text")),
            },
            Kind::Flag => match &value {
                Value::Bool(_) => Ok(value),
                Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
                Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
                _ => Err(self.misfit(&value, "true or false")),
            },
            Kind::Count(least, most) => {
                let wanted = || format!("a whole number from {least} to {most}");
                let whole = number(&value).and_then(|number| whole(&number));
                match whole {
                    Some(number) if (least..=most).contains(&number) => Ok(json!(number)),
                    Some(number) => Err(self.wrong(&format!("{number} is not allowed: it is {}", wanted()))),
                    None => Err(self.misfit(&value, &wanted())),
                }
            }
            Kind::Seconds(most) => {
                let allowed =
                    |number: &Number| number.as_f64().is_some_and(|seconds| (0.0..=f64::from(most)).contains(&seconds));
                match number(&value).filter(allowed) {
                    Some(number) => Ok(Value::Number(number)),
                    None => Err(self.misfit(&value, &format!("a number of seconds from 0 to {most}"))),
                }
            }
            Kind::Word(words) => match &value {
                Value::String(word) if words.contains(&word.as_str()) => Ok(value),
                Value::String(word) => Err(self.no_such_word(word, words)),
                _ => Err(self.misfit(&value, &format!("one of {}", words.join(", ")))),
            },
            Kind::Anything => Ok(value),
            Kind::Texts => self.list(value),
            Kind::Words(words) => {
                let list = self.list(value)?;
                let unknown = list.as_array().and_then(|items| {
                    items.iter().filter_map(Value::as_str).find(|item| !words.contains(item)).map(str::to_owned)
                });
                unknown.map_or(Ok(list), |word| Err(self.no_such_word(&word, words)))
            }
            Kind::Values => match value {
                Value::Object(_) => Ok(value),
                // PHP's object without members.
                Value::Array(items) if items.is_empty() => Ok(json!({})),
                // Some clients write objects as texts, and a few write such a text as a text once more.
                Value::String(text) => match read_values(&text).and_then(|value| match value {
                    Value::String(again) => read_values(&again),
                    once => Ok(once),
                }) {
                    Ok(Value::Null) => Ok(json!({})),
                    Ok(Value::Object(object)) => Ok(Value::Object(object)),
                    Ok(other) => Err(self.misfit(&other, "an object")),
                    Err(error) => Err(self.wrong(&format!("is a text that is not a JSON object: {error}"))),
                },
                other => Err(self.misfit(&other, "an object")),
            },
        }
    }

    /// A list of texts: as one, as a JSON text of one, or as its only item.
    fn list(&self, value: Value) -> Result<Value, Error> {
        let items = match value {
            Value::Array(items) => items,
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::Array(items)) => items,
                _ => vec![Value::String(text)],
            },
            other => return Err(self.misfit(&other, "a list of texts")),
        };
        let texts = items.into_iter().filter(|item| !absent(item)).map(|item| match item {
            Value::String(_) => Ok(item),
            Value::Number(number) => Ok(Value::String(number.to_string())),
            other => Err(self.misfit(&other, "a list of texts")),
        });
        texts.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn no_such_word(&self, word: &str, words: &[&str]) -> Error {
        let near = nearest(word, words.iter().copied(), 1);
        let next = match (self.elsewhere.iter().find(|(other, _)| *other == word), near.first()) {
            (Some((_, instead)), _) => (*instead).to_owned(),
            (None, Some(near)) => format!("did you mean \"{near}\"? the words are {}", words.join(", ")),
            (None, None) => format!("choose one of {}", words.join(", ")),
        };
        refused(self.name, format!("`{}` {} is not one of {}", self.name, quoted(word), words.join(", ")), next)
            .detail("allowed", json!(words))
    }

    fn misfit(&self, value: &Value, wanted: &str) -> Error {
        let is = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => quoted(text),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
        };
        self.wrong(&format!("is {is}, not {wanted}"))
    }

    fn wrong(&self, why: &str) -> Error {
        let example = match self.kind {
            Kind::Values if self.name == "templates" => " For example: {\"Facts.md\": \"…\"}",
            Kind::Values => " For example: {\"topic\": \"…\"}",
            Kind::Texts => " For example: [\"…\"]",
            _ => "",
        };
        refused(self.name, format!("`{}` {why}", self.name), format!("`{}`: {}{example}", self.name, self.description))
    }
}

/// A number, also as a text.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => match serde_json::from_str(text.trim()) {
            Ok(Value::Number(number)) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// A whole number, also as `5.0`; beyond 64 bits the nearest there is.
#[allow(clippy::cast_possible_truncation, reason = "only numbers that are whole and in bounds are cast")]
fn whole(number: &Number) -> Option<i64> {
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 || !float.is_finite() {
        return None;
    }
    Some(float.clamp(-9.0e15, 9.0e15) as i64)
}
