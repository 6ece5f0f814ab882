//! Template files: the export shape, a single template, and the old sections shape.

use serde_json::{Map, Value};

use super::{Unread, UnreadKind, declared, is_markdown, said, said_or_number, text, texts, variable_sets};
use crate::document::{Document, Place, Pointer, kind_of};
use crate::model::template::TemplateText;
use crate::model::{Syntax, Template};

/// What a template file holds.
#[derive(Debug, Clone, Default)]
pub struct TemplateFile {
    /// Its templates, in file order.
    pub templates: Vec<Template>,
    /// What could not be read.
    pub unread: Vec<Unread>,
}

/// Reads every template of a file.
pub fn read_templates(document: &Document) -> TemplateFile {
    let mut file = TemplateFile::default();
    let root = Pointer::root();
    let Some(object) = document.value.as_object() else {
        file.unread.push(unknown_shape(root));
        return file;
    };
    if let Some(items) = object.get("templates").and_then(Value::as_array) {
        for (place, item) in items.iter().enumerate() {
            if let Some(template) = item.as_object()
                && let Some(read) = one(document, template, &root.key("templates").item(place), items.len() > 1)
            {
                file.templates.push(read);
            }
        }
    } else if object.contains_key("template") {
        file.templates.extend(one(document, object, &root, false));
    } else if let Some(results) = object.get("results").and_then(Value::as_array) {
        file.templates.push(sections(document, object, results));
    }
    if file.templates.is_empty() {
        let trouble = no_text(object, &root).or_else(|| misplaced(object));
        file.unread.push(trouble.unwrap_or_else(|| unknown_shape(root)));
    }
    file
}

/// A template whose text is there and is none, which says more than that no shape fits.
fn no_text(object: &Map<String, Value>, root: &Pointer) -> Option<Unread> {
    let here = || Some((root.key("template"), object.get("template")?));
    let among = || {
        let items = object.get("templates")?.as_array()?.iter().enumerate();
        let mut texts = items.filter_map(|(place, item)| {
            Some((root.key("templates").item(place).key("template"), item.as_object()?.get("template")?))
        });
        texts.next()
    };
    let (pointer, value) = here().or_else(among)?;
    if value.is_string() {
        return None;
    }
    let message = format!("`template` is {}, and must be one text", kind_of(value));
    Some(Unread { what: UnreadKind::UnknownShape, place: Place::value(pointer), message })
}

/// A flow that lies where templates are read.
fn misplaced(object: &Map<String, Value>) -> Option<Unread> {
    let is_flow = ["nodes", "flows"].iter().any(|key| object.get(*key).is_some_and(Value::is_array));
    let message = "not a template file: it is a flow".to_owned();
    is_flow.then(|| Unread { what: UnreadKind::Misplaced, place: Place::value(Pointer::root()), message })
}

fn unknown_shape(root: Pointer) -> Unread {
    let message = "not a template file: `templates`, `template` or `results` with a text is due".to_owned();
    Unread { what: UnreadKind::UnknownShape, place: Place::value(root), message }
}

fn one(document: &Document, template: &Map<String, Value>, base: &Pointer, one_of_several: bool) -> Option<Template> {
    let title = said(template, "title");
    let stem = document.path.stem().to_owned();
    Some(Template {
        name: if one_of_several { title.clone().unwrap_or(stem) } else { stem },
        file: document.path.clone(),
        file_text: document.text.clone(),
        text_pointer: base.key("template"),
        text_whole: true,
        id: said_or_number(template, "id"),
        title,
        description: said(template, "description"),
        text: held(document, text(template, "template")?),
        syntax: Syntax::Single,
        variables: declared(template, base),
        sets: variable_sets(template, base),
        literal: texts(template, "literal"),
    })
}

fn held(document: &Document, text: String) -> TemplateText {
    TemplateText::of(text, &document.text, is_markdown(document.path.as_str()))
}

fn sections(document: &Document, object: &Map<String, Value>, results: &[Value]) -> Template {
    let empty = Map::new();
    let metadata = object.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    let contents: Vec<&str> =
        results.iter().filter_map(|section| section.get("content").and_then(Value::as_str)).collect();
    let only = contents.len() == 1 && results.len() == 1;
    let pointer = Pointer::root().key("results");
    Template {
        name: document.path.stem().to_owned(),
        file: document.path.clone(),
        file_text: document.text.clone(),
        text_pointer: if only { pointer.item(0).key("content") } else { pointer },
        text_whole: only,
        id: None,
        title: said(metadata, "name"),
        description: said(metadata, "description"),
        text: held(document, contents.join("\n\n")),
        syntax: Syntax::Double,
        variables: declared(object, &Pointer::root()),
        sets: variable_sets(object, &Pointer::root()),
        literal: texts(object, "literal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::CatalogPath;

    fn read(text: &str) -> TemplateFile {
        let path = CatalogPath::new("templates/Tea.json").expect("fine");
        read_templates(&Document::parse(path, text.as_bytes()).expect("json"))
    }

    #[test]
    fn all_three_shapes_are_read() {
        let export = read(
            r#"{"templates":[{"id":"1","title":"A","template":"a {x}","variables":["x"],"variableValueSets":[{"name":"s","values":{"x":"1","y":null}}]},{"id":"2","title":"B","template":"b"}]}"#,
        );
        assert_eq!(export.templates.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(export.templates[0].sets[0].values.len(), 1);
        let single = read(r#"{"title":"Cup","template":"c","variables":["x"]}"#);
        assert_eq!((single.templates[0].name.as_str(), single.templates[0].title.as_deref()), ("Tea", Some("Cup")));
        let old = read(
            r#"{"metadata":{"name":"Old"},"variables":[{"name":"x","type":"string","required":false,"default":"y"}],"results":[{"section":"1","content":"one {{x}}"},{"section":"2","content":"two"}]}"#,
        );
        let old = &old.templates[0];
        assert_eq!((&*old.text(), old.syntax), ("one {{x}}\n\ntwo", Syntax::Double));
        assert_eq!(
            (old.variables[0].required, old.variables[0].default.as_ref().map(ToString::to_string)),
            (Some(false), Some("\"y\"".to_owned()))
        );
    }

    #[test]
    fn a_file_without_a_template_says_so() {
        for text in ["{}", "[]", r#"{"templates":[]}"#, r#"{"template":3}"#] {
            let file = read(text);
            assert!(file.templates.is_empty() && file.unread.len() == 1, "{text}");
        }
    }
}
