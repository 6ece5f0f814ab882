//! What of a catalog a conversion has to look at: the files to convert, the flows that name them, and what all of
//! these name. Whatever the others are called, nothing of it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Contents, texts_of};
use crate::app::Error;
use crate::catalog::Desk;
use crate::names::{file_stem, folded};
use crate::source::Snapshot;

/// The names of one kind of thing: flows, or templates.
type Words = BTreeSet<String>;

/// What one file goes by, and what it names: of flows, and of templates.
#[derive(Default)]
struct Ties {
    goes_by: [Words; 2],
    names: [Words; 2],
}

/// The files among those of a catalog that a conversion has to look at.
///
/// # Errors
/// When the files can't be read.
pub(super) async fn around(contents: Contents, wanted: &BTreeMap<String, PathBuf>) -> Result<Contents, Error> {
    let snapshot = Snapshot::of_texts(texts_of(&contents), Vec::new());
    let desk = Desk::read(&snapshot, &BTreeMap::new()).await?;
    let mut files: BTreeMap<String, Ties> = BTreeMap::new();
    // A file that can't be read is known by its stem.
    for path in contents.keys() {
        let kind = usize::from(path.starts_with("templates/"));
        if let Some(words) = files.entry(path.clone()).or_default().goes_by.get_mut(kind) {
            words.insert(folded(file_stem(path)));
        }
    }
    for file in desk.flow_files() {
        let Ties { goes_by: [flows, _], names: [through, templates] } =
            files.entry(file.path().to_string()).or_default();
        for (flow, names) in file.flows() {
            let own = [Some(flow.name.as_str()), flow.given_name.as_deref(), flow.id.as_deref()];
            flows.extend(own.into_iter().flatten().map(folded));
            through.extend(names.flows.iter().map(|name| folded(name)));
            templates.extend(names.templates.iter().map(|name| folded(name)));
        }
    }
    for template in desk.templates() {
        let [_, templates] = &mut files.entry(template.file.to_string()).or_default().goes_by;
        templates.extend([&template.id, &template.title].into_iter().flatten().map(|name| folded(name)));
    }
    let among = |path: &String| path.starts_with("flows/") || path.starts_with("templates/");
    let mut kept: BTreeSet<String> =
        contents.keys().filter(|path| wanted.contains_key(*path) || !among(path)).cloned().collect();
    // A result may be called as its source is, with a number behind it.
    let of_wanted: [Words; 2] = [0, 1].map(|kind| {
        let ties = files.iter().filter(|(path, _)| wanted.contains_key(*path)).map(|(_, ties)| ties);
        ties.filter_map(|ties| ties.goes_by.get(kind)).flatten().map(|word| without_number(word)).collect()
    });
    let uses = |ties: &Ties| {
        let mut kinds = ties.names.iter().zip(&of_wanted);
        kinds.any(|(names, wanted)| names.iter().any(|name| wanted.contains(&without_number(name))))
    };
    kept.extend(files.iter().filter(|(_, ties)| uses(ties)).map(|(path, _)| path.clone()));
    let mut called: [BTreeMap<&String, Vec<&String>>; 2] = Default::default();
    for (path, ties) in &files {
        for (called, words) in called.iter_mut().zip(&ties.goes_by) {
            for word in words {
                called.entry(word).or_default().push(path);
            }
        }
    }
    let mut open: Vec<String> = kept.iter().cloned().collect();
    while let Some(ties) = open.pop().map(|path| files.get(&path)) {
        for (called, names) in called.iter_mut().zip(ties.into_iter().flat_map(|ties| &ties.names)) {
            // Where a name leads is followed once.
            let found = names.iter().filter_map(|name| called.remove(name)).flatten();
            open.extend(found.filter(|path| kept.insert((*path).clone())).cloned());
        }
    }
    Ok(contents.into_iter().filter(|(path, _)| kept.contains(path)).collect())
}

/// A name without a number that may have been put behind it.
fn without_number(word: &str) -> String {
    word.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | ' ')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(name: &str, data: &str) -> Vec<u8> {
        format!(r#"{{"metadata": {{"name": "{name}", "version": "1.0.0"}}, "nodes": [{data}], "edges": []}}"#)
            .into_bytes()
    }

    #[tokio::test]
    async fn only_what_names_the_files_and_what_these_name_is_looked_at() {
        let through = |name: &str| format!(r#"{{"id": "a", "type": "flow", "data": {{"flow": "{name}"}}}}"#);
        let filled =
            |name: &str| format!(r#"{{"id": "a", "type": "template", "data": {{"selectedTemplateId": "{name}"}}}}"#);
        let contents: Contents = [
            ("flows/Wanted.json", flow("Called", &format!("{}, {}", through("Inner"), filled("T one")))),
            ("flows/Inner.json", flow("Inner", &filled("deep"))),
            ("flows/Outer.json", flow("Outer", &through("called"))),
            ("flows/Beside.json", flow("Beside", &through("Other"))),
            ("flows/Other.json", flow("Other", &filled("far"))),
            ("templates/T_one.md", b"one".to_vec()),
            ("templates/deep.md", b"deep".to_vec()),
            ("templates/far.md", b"far".to_vec()),
            ("personas/p.md", b"you".to_vec()),
        ]
        .into_iter()
        .map(|(path, bytes)| (path.to_owned(), bytes))
        .collect();
        let wanted = [("flows/Wanted.json".to_owned(), PathBuf::new())].into();
        let kept: Vec<String> = around(contents, &wanted).await.expect("read").into_keys().collect();
        assert_eq!(
            kept,
            [
                "flows/Inner.json",
                "flows/Outer.json",
                "flows/Wanted.json",
                "personas/p.md",
                "templates/T_one.md",
                "templates/deep.md"
            ]
        );
    }
}
