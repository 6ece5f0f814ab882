//! Templates: texts with placeholders, kept beside the flows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::document::Pointer;
use crate::model::{Declared, VariableSet};
use crate::names::CatalogPath;

/// How a text spells its placeholders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// `{name}`.
    #[default]
    Single,
    /// `{{name}}` or `{{ name }}`: only in the old template shape.
    Double,
}

/// One template.
#[derive(Debug, Clone)]
pub struct Template {
    /// How it is called in results: the file's stem, or its title when the file holds several.
    pub name: String,
    /// The file it stands in.
    pub file: CatalogPath,
    /// The whole file, so that a finding in it can be placed and shown.
    pub file_text: Arc<str>,
    /// Where its text stands in that file.
    pub text_pointer: Pointer,
    /// Whether `text_pointer` is one text, so that a place within it can be shown.
    pub text_whole: bool,
    /// `id`.
    pub id: Option<String>,
    /// `title`.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where the text is.
    pub(super) text: TemplateText,
    /// How the text spells its placeholders.
    pub syntax: Syntax,
    /// `variables`.
    pub variables: Vec<Declared>,
    /// `literal`: names that stay text where they stand in braces.
    pub literal: Vec<String>,
    /// `variableValueSets`.
    pub sets: Vec<VariableSet>,
}

/// A template's text. Thousands of templates are in memory while flows are checked, so a text that stands in its file
/// is kept once: as a part of the file.
#[derive(Debug, Clone)]
pub(super) enum TemplateText {
    /// The bytes of the file that are the text.
    Part(Range<usize>),
    /// The bytes of the file that are the text as JSON writes it, quotation marks included.
    Written(Range<usize>),
    /// It stands nowhere as it is: it is put together, or it is written in an unusual way.
    Own(String),
}

/// How many bytes of a text are looked for, before all of it is compared.
const BEGINNING: usize = 64;

impl TemplateText {
    /// The text of a file in Markdown or in JSON.
    pub(super) fn of(text: String, file: &str, in_markdown: bool) -> Self {
        let place = |wanted: &str| {
            let begin = wanted.get(..wanted.floor_char_boundary(BEGINNING))?;
            let stands = |start: &usize| file.get(*start..).is_some_and(|rest| rest.starts_with(wanted));
            let start = file.match_indices(begin).map(|(start, _)| start).find(stands)?;
            Some(start..start + wanted.len())
        };
        let found = if in_markdown {
            place(&text).map(Self::Part)
        } else {
            serde_json::to_string(&text).ok().and_then(|written| place(&written)).map(Self::Written)
        };
        found.unwrap_or(Self::Own(text))
    }
}

impl Template {
    /// The text.
    pub fn text(&self) -> Cow<'_, str> {
        let part = |range: &Range<usize>| self.file_text.get(range.clone()).unwrap_or_default();
        match &self.text {
            TemplateText::Part(range) => Cow::Borrowed(part(range)),
            TemplateText::Written(range) => Cow::Owned(serde_json::from_str(part(range)).unwrap_or_default()),
            TemplateText::Own(text) => Cow::Borrowed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::wire::{parse, read_templates};

    fn read(path: &str, file: &str) -> Template {
        let document = parse(&CatalogPath::new(path).expect("fine"), file.as_bytes()).expect("read");
        read_templates(&document).templates.remove(0)
    }

    #[test]
    fn a_text_that_stands_in_its_file_is_kept_there_and_any_other_beside_it() {
        let long = format!("{}\u{e9}", "x".repeat(BEGINNING - 1));
        for text in ["a {x}\n\"b\" \\", "", "\u{e9}", &long] {
            let template = read("templates/a.json", &serde_json::json!({"title": text, "template": text}).to_string());
            assert!(matches!(template.text, TemplateText::Written(_)), "{text}");
            assert_eq!(template.text(), text);
        }
        let unusual = read("templates/a.json", r#"{"template": "caf\u00e9 \/ {x}"}"#);
        assert!(matches!(unusual.text, TemplateText::Own(_)));
        assert_eq!(unusual.text(), "caf\u{e9} / {x}");
        let markdown = read("templates/a.md", "---\ntitle: A\n---\nHello {x}\nand {y}\n");
        assert!(matches!(markdown.text, TemplateText::Part(_)));
        assert_eq!(markdown.text(), "Hello {x}\nand {y}");
    }
}
