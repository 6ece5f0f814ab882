//! `twin-files`: files whose paths differ in case or normal form alone.

use std::collections::BTreeMap;

use crate::names::{CatalogPath, Few, same_file, shown};
use crate::validate::finding::of_file;
use crate::validate::{Check, Finding, Rule};

/// The rule. A computer whose file system ignores case or normal form has only one of them.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "twin-files",
    summary: "No two files have paths that differ only in case or Unicode form.",
    ..Rule::warning(Check::Catalog)
};

/// One finding for each group of such files, at the first of them.
pub fn twin_files<'p>(paths: impl Iterator<Item = &'p CatalogPath>) -> Vec<Finding> {
    let mut same: BTreeMap<String, Vec<&CatalogPath>> = BTreeMap::new();
    for path in paths {
        same.entry(same_file(path.as_str())).or_default().push(path);
    }
    let of_group = |paths: Vec<&CatalogPath>| {
        let (first, others) = paths.split_first().filter(|(_, others)| !others.is_empty())?;
        let others = Few::of(others.iter().map(|path| shown(path.as_str(), 200))).joined(" and ");
        let message = format!("the path differs only in case or in the Unicode form of its letters from {others}");
        let hint = "rename one of them: most Macs and Windows computers can hold only one".to_owned();
        Some(of_file(&RULE, (*first).clone(), message, hint))
    };
    same.into_values().filter_map(of_group).collect()
}
