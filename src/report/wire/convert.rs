//! What became of files that were converted.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Conversion;

/// What `flowy convert` wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversionAnswer {
    /// One entry for each flow and template.
    parts: Vec<ConvertedAnswer>,
    /// Files left out that no longer find what they name.
    broken: Vec<String>,
    /// What the results name and was not converted with them.
    left: Vec<String>,
    /// Sources that were removed.
    removed: Vec<String>,
}

/// One flow or template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConvertedAnswer {
    /// The file it came from.
    from: String,
    /// The file it is in now.
    to: String,
    /// The name that no file can have, or that was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed: Option<String>,
    /// What the new form has no place for.
    lost: Vec<String>,
}

/// The answer.
pub fn conversion(conversion: &Conversion) -> ConversionAnswer {
    let part = |part: &crate::app::ConvertedPart| ConvertedAnswer {
        from: part.from.clone(),
        to: part.to.clone(),
        renamed: part.renamed.clone(),
        lost: part.lost.clone(),
    };
    ConversionAnswer {
        parts: conversion.parts.iter().map(part).collect(),
        broken: conversion.broken.clone(),
        left: conversion.left.clone(),
        removed: conversion.removed.clone(),
    }
}
