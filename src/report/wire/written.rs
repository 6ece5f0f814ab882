//! A reply that is written as JSON, ready to travel both as JSON and within a text.
//!
//! A tool's result carries its JSON twice. Writing it once, and the entries of a page that is kept
//! not even once, is most of what a call costs.

use serde_json::Value;

use super::limit::{Travels, json_of};
use crate::discover::Page;
use crate::names::inside_json;

/// A JSON value, written.
#[derive(Debug, Clone)]
pub struct Written {
    plain: String,
    /// As it stands inside a JSON text, without the quotation marks around it.
    quoted: String,
}

impl Written {
    /// A value, written.
    pub fn of(value: &Value) -> Self {
        let plain = json_of(value);
        Self { quoted: inside_json(&plain), plain }
    }

    /// A page's entries with what stands before and behind them.
    pub(super) fn of_page(before: &str, page: &Page, behind: &str) -> Self {
        let entries = page.json();
        let plain = [before, &entries.plain, behind].concat();
        Self {
            plain,
            quoted: [&inside_json(before), &entries.quoted, &inside_json(behind)].map(String::as_str).concat(),
        }
    }

    /// The value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.plain).unwrap_or_default()
    }

    /// Adds it as JSON.
    pub fn put_plain(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.plain.as_bytes());
    }

    /// Adds it as it stands inside a JSON text, without the quotation marks around it.
    pub fn put_quoted(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.quoted.as_bytes());
    }

    /// How many characters the JSON has.
    pub fn characters(&self) -> usize {
        self.plain.chars().count()
    }

    /// How many bytes it takes in both forms together.
    pub fn len_twice(&self) -> usize {
        self.plain.len() + self.quoted.len()
    }

    /// Whether it can be sent as a tool's result.
    pub fn fits(&self) -> bool {
        self.len_twice() <= Travels::room()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_value() {
        let value = serde_json::json!({"text": "a \"quoted\" \\ line\nand \u{1f600}", "n": 1.50});
        let written = Written::of(&value);
        let (mut plain, mut quoted) = (Vec::new(), Vec::from(b"\"".as_slice()));
        written.put_plain(&mut plain);
        written.put_quoted(&mut quoted);
        quoted.push(b'"');
        assert_eq!(serde_json::from_slice::<Value>(&plain).unwrap(), value);
        let text: String = serde_json::from_slice(&quoted).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(written.value(), value);
        assert_eq!(written.characters(), value.to_string().chars().count());
        assert_eq!(written.len_twice(), plain.len() + quoted.len() - 2);
    }
}
