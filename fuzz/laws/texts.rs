//! Texts with placeholders.

use std::borrow::Cow;
use std::convert::Infallible;

use flowy::internals::model::Syntax;
use flowy::internals::render::{Filling, Stencil, fill, lookalikes, placeholders};
use serde_json::Value;

use super::parts;

/// The longest that a filled text of this law may be, in bytes.
const LIMIT: usize = 10_000;

/// A text, after a NUL a value that is put in, and after another NUL the arguments of a tool.
pub fn rendering(bytes: &[u8]) {
    let mut parts = parts(bytes).map(String::from_utf8_lossy);
    let mut part = || parts.next().unwrap_or_default().into_owned();
    let (text, value, arguments) = (part(), part(), part());
    for syntax in [Syntax::Single, Syntax::Double] {
        let found = placeholders(&text, syntax);
        let (mut end, mut due) = (0, String::new());
        for placeholder in &found {
            let range = placeholder.range.clone();
            assert!(range.start >= end && range.end <= text.len(), "in order, and none within another");
            let written = &text[range.clone()];
            assert!(written.starts_with('{') && written.ends_with('}') && !placeholder.name.is_empty());
            placeholder.is_code(&text);
            due.push_str(&text[end..range.start]);
            due.push_str(&value);
            end = range.end;
        }
        due.push_str(&text[end..]);
        assert_eq!(fill(&text, &found, usize::MAX, |_| None), Ok(text.clone()), "what nobody fills stays");
        match fill(&text, &found, LIMIT, |_| Some(Cow::Borrowed(value.as_str()))) {
            Ok(filled) => assert_eq!(filled, due, "a value is put in as it is, and never looked at again"),
            Err(_) => assert!(due.len() > LIMIT),
        }
    }
    for alike in lookalikes(&text) {
        assert!(text.get(alike.range.clone()).is_some(), "{alike:?}");
    }
    if let Ok(Value::Object(arguments)) = serde_json::from_str(&arguments) {
        for syntax in [Syntax::Single, Syntax::Double] {
            let stencil = Stencil::spelt(&arguments, syntax);
            let left = stencil.fill(|_, _| Ok::<_, Infallible>(Filling::Left)).unwrap();
            assert_eq!(left, arguments, "what nobody fills stays as it is written");
            let once = stencil.fill(|_, _| Ok::<_, Infallible>(Filling::Text(Cow::Borrowed(&value)))).unwrap();
            assert_eq!(once.len(), arguments.len());
            if stencil.holes().is_empty() {
                assert_eq!(once, arguments);
            }
        }
    }
}
