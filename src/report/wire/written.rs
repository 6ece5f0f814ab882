//! A reply that is written as JSON, ready to travel both as JSON and within a text.
//!
//! A tool's result carries its JSON twice. Writing it once, and the entries of a page that is kept
//! not even once, is most of what a call costs.

use std::sync::Arc;

use serde_json::Value;

use super::limit::{Travels, json_of};
use crate::discover::Page;
use crate::names::inside_json;

/// A JSON value, written.
#[derive(Debug, Clone)]
pub struct Written(Vec<WrittenPiece>);

#[derive(Debug, Clone)]
enum WrittenPiece {
    Own { plain: String, quoted: String },
    Page(Arc<Page>),
}

impl WrittenPiece {
    fn own(plain: String) -> Self {
        Self::Own { quoted: inside_json(&plain), plain }
    }

    fn plain(&self) -> &str {
        match self {
            Self::Own { plain, .. } => plain,
            Self::Page(page) => &page.json().plain,
        }
    }

    fn quoted(&self) -> &str {
        match self {
            Self::Own { quoted, .. } => quoted,
            Self::Page(page) => &page.json().quoted,
        }
    }
}

impl Written {
    /// A value, written.
    pub fn of(value: &Value) -> Self {
        Self(vec![WrittenPiece::own(json_of(value))])
    }

    /// A page's entries with what stands before and behind them.
    pub(super) fn of_page(before: &str, page: Arc<Page>, behind: &str) -> Self {
        Self(vec![WrittenPiece::own(before.to_owned()), WrittenPiece::Page(page), WrittenPiece::own(behind.to_owned())])
    }

    /// The value.
    pub fn value(&self) -> Value {
        let mut json = Vec::with_capacity(self.len_twice() / 2);
        self.put_plain(&mut json);
        serde_json::from_slice(&json).unwrap_or_default()
    }

    /// Whether it can be sent as a tool's result.
    pub fn fits(&self) -> bool {
        self.len_twice() <= Travels::room()
    }

    /// Adds it as JSON.
    pub fn put_plain(&self, bytes: &mut Vec<u8>) {
        self.0.iter().for_each(|piece| bytes.extend_from_slice(piece.plain().as_bytes()));
    }

    /// Adds it as it stands inside a JSON text, without the quotation marks around it.
    pub fn put_quoted(&self, bytes: &mut Vec<u8>) {
        self.0.iter().for_each(|piece| bytes.extend_from_slice(piece.quoted().as_bytes()));
    }

    /// How many characters the JSON has.
    pub fn characters(&self) -> usize {
        self.0.iter().map(|piece| piece.plain().chars().count()).sum()
    }

    /// How many bytes it takes in both forms together.
    pub fn len_twice(&self) -> usize {
        self.0.iter().map(|piece| piece.plain().len() + piece.quoted().len()).sum()
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
