//! Numbers with an exponent, as they were written: reading JSON makes `1e+3` of `1E3`.
//!
//! Such a number is read as a marked text, and becomes a number again where values are handed on.

use serde_json::{Number, Value};

/// What stands before such a number while it is a text.
const MARK: &str = "\u{F8FE}number\u{F8FE}";

/// The JSON with every number that has an exponent as a marked text; `None` where none has one.
pub fn exponents_marked(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let (mut out, mut done, mut at, mut in_text) = (String::new(), 0, 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'-' | b'0'..=b'9' if !in_text => {
                let of_number = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = bytes.get(at..).unwrap_or_default().iter().take_while(of_number).count();
                let number = json.get(at..at + length).unwrap_or_default();
                if number.contains(['e', 'E']) && serde_json::from_str::<Number>(number).is_ok() {
                    out.push_str(json.get(done..at).unwrap_or_default());
                    out.push('"');
                    out.push_str(MARK);
                    out.push_str(number);
                    out.push('"');
                    done = at + length;
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    (done > 0).then(|| out + json.get(done..).unwrap_or_default())
}

/// Makes numbers of marked texts, as they were written.
pub fn exponents_back(value: &mut Value) {
    match value {
        Value::String(text) => {
            let number = text.strip_prefix(MARK).filter(|number| serde_json::from_str::<Number>(number).is_ok());
            if let Some(number) = number {
                *value = Value::Number(Number::from_string_unchecked(number.to_owned()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(exponents_back),
        Value::Object(members) => members.values_mut().for_each(exponents_back),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_everything_else_stays() {
        for json in ["{\"a\":[1E3,-2.50e-1,1e+3,0],\"t\":\"1E3 \\\" 2E4\",\"n\":1.10}", "1E400", "[\"\\\\\",1E3]"] {
            let marked = exponents_marked(json).expect("an exponent");
            let mut value: Value = serde_json::from_str(&marked).expect("JSON");
            exponents_back(&mut value);
            assert_eq!(value.to_string(), json);
        }
        for json in ["{\"a\":1.10,\"b\":\"1E3\"}", "[1E]", "1-e", "", "\"ends in \\"] {
            assert_eq!(exponents_marked(json), None, "{json}");
        }
    }
}
