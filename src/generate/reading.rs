//! The JSON in what a model wrote: the whole, what stands in its one fence, or the one value in its words.

use serde_json::Value;

use crate::model::{Breach, Contract};

/// The longest text that is searched for JSON, in bytes.
const LONGEST: usize = 1 << 20;

/// What a model wrote, as what a contract asks for.
///
/// # Errors
/// In which ways it does not meet the contract.
pub(super) fn read(text: &str, contract: &Contract) -> Result<Value, Vec<Breach>> {
    let found = values(text);
    let wrapped = |value: &Value| {
        // Where servers give nothing but objects, a list or a text comes as `{"result": …}`.
        let fields = value.as_object().filter(|fields| fields.len() == 1 && !contract.takes_objects())?;
        fields.get("result").cloned()
    };
    let as_text = (found.is_empty() && !contract.takes_objects()).then(|| Value::String(text.trim().to_owned()));
    let candidates = found.iter().cloned().chain(found.iter().filter_map(wrapped)).chain(as_text);
    let mut told = None;
    for candidate in candidates {
        if echoes(&candidate, contract) {
            let message = "repeats the schema; it must be the data that the schema describes".to_owned();
            told.get_or_insert(vec![Breach { path: "output".to_owned(), message }]);
            continue;
        }
        let breaches = contract.breaches(&candidate);
        if breaches.is_empty() {
            return Ok(candidate);
        }
        told.get_or_insert(breaches);
    }
    Err(told.unwrap_or_else(|| {
        let message = "is no JSON; it must be one JSON value and nothing else".to_owned();
        vec![Breach { path: "output".to_owned(), message }]
    }))
}

/// The JSON values that a text may mean: one, as a rule; none where that is not clear.
fn values(text: &str) -> Vec<Value> {
    let text = text.trim();
    if text.len() > LONGEST {
        return Vec::new();
    }
    if let Ok(value) = serde_json::from_str(text) {
        return vec![value];
    }
    let fenced: Vec<Value> = fences(text).into_iter().filter_map(|inside| serde_json::from_str(inside).ok()).collect();
    match fenced.len() {
        0 => {}
        1 => return fenced,
        // Several: nobody knows which is meant.
        _ => return Vec::new(),
    }
    let alone = among_words(text);
    if alone.len() == 1 { alone } else { Vec::new() }
}

/// What stands between lines of backticks.
fn fences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```") {
        let Some((_, inside)) = after.split_once('\n') else { break };
        let Some((inside, behind)) = inside.split_once("```") else { break };
        found.push(inside.trim());
        rest = behind;
    }
    found
}

/// The objects and lists that stand among words, the outermost ones.
fn among_words(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut from = 0;
    // Every failed attempt costs a look at the rest; a handful is enough to know.
    let mut attempts = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(['{', '['])).map(|at| from + at) {
        attempts += 1;
        if attempts > 64 {
            return Vec::new();
        }
        let mut stream = serde_json::Deserializer::from_str(text.get(at..).unwrap_or_default()).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                from = at + stream.byte_offset().max(1);
                found.push(value);
            }
            _ => from = at + 1,
        }
    }
    found
}

/// Whether a value is the schema itself instead of data.
fn echoes(value: &Value, contract: &Contract) -> bool {
    let schema = contract.schema();
    let both = |key: &str| value.get(key).is_some() && value.get(key) == schema.get(key);
    value == schema || both("properties") || (value.get("$schema").is_some() && value.get("type") == schema.get("type"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contract() -> Contract {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
        Contract::compile(None, schema).unwrap()
    }

    #[test]
    fn json_is_read_where_it_is_clear_which_is_meant() {
        for fine in [
            r#"{"a": 1}"#,
            "```json\n{\"a\": 1}\n```",
            "Here you are:\n```\n{\"a\": 1}\n```\nAnything else?",
            "Sure! {\"a\": 1} That is it [really",
            " \n{\"a\":1}\n",
        ] {
            assert_eq!(read(fine, &contract()), Ok(json!({"a": 1})), "{fine}");
        }
        for unclear in
            ["```\n{\"a\": 1}\n```\nor\n```\n{\"a\": 2}\n```", "{\"a\": 1} or {\"a\": 2}", "no data", "{\"a\": 1"]
        {
            let breaches = read(unclear, &contract()).unwrap_err();
            assert!(breaches[0].message.starts_with("is no JSON"), "{unclear}: {breaches:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_its_place_and_an_echo_of_the_schema_is_a_breach() {
        assert_eq!(read(r#"{"a": "x"}"#, &contract()).unwrap_err()[0].path, "output.a");
        let open = Contract::compile(None, json!({"type": "object", "properties": {"a": {}}})).unwrap();
        for echo in [open.schema().to_string(), json!({"properties": {"a": {}}}).to_string()] {
            assert!(read(&echo, &open).unwrap_err()[0].message.starts_with("repeats the schema"), "{echo}");
        }
    }

    #[test]
    fn a_list_may_come_wrapped_and_a_text_as_it_is() {
        let list = Contract::compile(None, json!({"type": "array"})).unwrap();
        assert_eq!(read(r#"{"result": [1]}"#, &list), Ok(json!([1])));
        let text = Contract::compile(None, json!({"type": "string", "maxLength": 5})).unwrap();
        assert_eq!(read(" yes\n", &text), Ok(json!("yes")));
        assert!(read("much too long", &text).is_err());
    }
}
