//! `misplaced-file`: a file that lies where nothing is read, or has an ending of which nothing is read.

use std::collections::BTreeMap;

use crate::names::{CatalogPath, counted, shown};
use crate::validate::finding::of_file;
use crate::validate::{Check, Finding, Rule};

/// The longest path in a message, in characters.
const LONGEST: usize = 200;

pub(in crate::validate) const RULE: Rule = Rule {
    id: "misplaced-file",
    summary: "Every file that looks like a catalog file is in a folder that flowy reads.",
    ..Rule::warning(Check::Catalog)
};

/// Files that are not read, each with the path under which it would be: one finding for each folder and ending.
pub fn misplaced_files(files: &[(String, String)]) -> Vec<Finding> {
    let mut alike: BTreeMap<(&str, &str), Vec<&(String, String)>> = BTreeMap::new();
    for file in files {
        alike.entry((top(&file.0), ending(&file.0))).or_default().push(file);
    }
    alike.into_values().filter_map(|files| finding(&files)).collect()
}

fn finding(files: &[&(String, String)]) -> Option<Finding> {
    let ((path, meant), others) = files.split_first()?;
    let path_shown = shown(path, LONGEST);
    let message = match others.len() {
        0 => format!("{path_shown} is not read"),
        more => format!("{path_shown} and {} like it are not read", counted(more, "file", "files")),
    };
    let hint = if top(path) == top(meant) {
        let read = match top(meant) {
            "flows" => "*.flow.md and *.json are",
            "templates" => "*.md and *.json are",
            "personas" => "*.md is",
            "tests" => "*.flowtest.json is",
            _ => "*.json is",
        };
        format!("only {read} read there: write it as {}", shown(meant, LONGEST))
    } else {
        format!("move it to {}", shown(meant, LONGEST))
    };
    Some(of_file(&RULE, CatalogPath::new(path).ok()?, message, hint))
}

fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or_default()
}

fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}
