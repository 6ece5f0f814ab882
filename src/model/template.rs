//! Templates: texts with placeholders, kept beside the flows.

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
    /// The text.
    pub text: String,
    /// How the text spells its placeholders.
    pub syntax: Syntax,
    /// `variables`.
    pub variables: Vec<Declared>,
    /// `literal`: names that stay text where they stand in braces.
    pub literal: Vec<String>,
    /// `variableValueSets`.
    pub sets: Vec<VariableSet>,
}
